from __future__ import annotations

import sys

import pytest
from cli_cases import TEXTS, lines_of, shown_on

from topicfold import Corpus, load


def test_explore_texts(model, texts, explored):
    data, err = explored(model, texts, "--id", "name")
    assert "Report on texts: 2 topics, 6 documents" in err
    assert data["name"] == "texts"
    assert data["documents"]["id"] == list("abcdef")
    assert data["documents"]["text"] == TEXTS
    assert all(data["documents"]["marks"])
    data, _ = explored(model, texts, "--name", "Beasts <b>", "--documents", "3")
    assert data["name"] == "Beasts <b>"
    assert (data["corpus"]["documents"], data["corpus"]["shown"]) == (6, 3)


def test_explore_what_is_known_of_documents(model, explored):
    lines = lines_of(
        TEXTS, id=list("uvwxyz"), kind=["a;b", "b", "b", "c", "", "c"], when=[2001, 2002, 2003, 2004, 2005, None]
    )
    columns = ("--id", "id", "--title", "id", "--labels", "kind", "--separator", ";", "--timestamp", "when")
    data, _ = explored(model, "-", *columns, stdin=lines)
    assert data["name"] == "stdin"
    assert data["documents"]["title"] == list("uvwxyz")
    assert sorted(data["labels"]) == ["a", "b", "c"]
    assert data["time"]["periods"] == ["2001", "2002", "2003", "2004", "2005"]


@pytest.mark.parametrize("keep_texts", [True, False])
def test_explore_a_saved_corpus(model, explored, tmp_path, keep_texts):
    Corpus.from_texts(TEXTS, keep_texts=keep_texts, ids="abcdef").save(tmp_path / "c.v2.safetensors")
    data, _ = explored(model, tmp_path / "c.v2.safetensors")
    assert data["name"] == "c.v2"
    assert ("text" in data["documents"], "words" in data["documents"]) == (keep_texts, not keep_texts)


def test_explore_counts_alone(run, explored, tmp_path):
    counts = tmp_path / "docs.ldac"
    counts.write_text("2 0:3 1:1\n2 0:1 1:2\n2 2:2 3:1\n2 2:1 3:3\n")
    out = tmp_path / "m.safetensors"
    assert run("fit", counts, "--format", "ldac", "-p", "n_topics=2", "--out", out)[0] == 0
    data, _ = explored(out, counts, "--format", "ldac")
    assert {data["words"][int(word)] for word in data["documents"]["words"][0].split()[::3]} == {"word 0", "word 1"}
    (tmp_path / "t.csv").write_text("text\ncat\n")
    code, _, err = run("explore", out, tmp_path / "t.csv", "--out", tmp_path / "x.html")
    assert code == 2
    assert err.splitlines() == [f"topicfold: {out} was fitted on counts and cannot turn texts into words: give counts"]
    assert not (tmp_path / "x.html").exists()


@pytest.mark.filterwarnings("default:.* texts are empty:UserWarning")
@pytest.mark.parametrize("others", [["dog moon", "cat"], ["zebra gnu"], [""], ["", "cat", ""], ["sun"]])
def test_explore_other_documents(model, explored, others):
    data, _ = explored(model, "-", stdin=lines_of(others))
    assert data["documents"]["text"] == others
    assert data["corpus"]["documents"] == len(others)
    for text, shares in zip(others, data["documents"]["topics"]):
        sizes = [int(share) for share in shares.split()[1::2]]
        known = text in ("dog moon", "cat", "sun")  # a document without a known word is in no topic
        assert sum(sizes) == pytest.approx(1000 if known else 0, abs=2)
        assert text not in ("cat", "sun") or max(sizes) > 600
    sizes = [topic["size"] for topic in data["topics"]]
    with_words = [text for text in others if text not in ("", "zebra gnu")] or others
    assert sizes == pytest.approx(load(model).transform(with_words).mean(axis=0), abs=1e-3)


def test_explore_with_names(model, texts, explored, run, tmp_path):
    names = tmp_path / "names.json"
    names.write_text('{"1": "Beasts & more"}')
    data, _ = explored(model, texts, "--edits", names)
    assert [topic["name"] for topic in data["topics"]] == [None, "Beasts & more"]
    for content, message in [
        ('{"9": "x"}', "edit 1: there is no topic 9; the topics are 0, 1"),
        ("[]", "contains no edits"),
        ("", "is not JSON"),
    ]:
        names.write_text(content)
        code, _, err = run("explore", model, texts, "--edits", names, "--out", tmp_path / "x.html")
        assert (code, message in err, "Traceback" in err) == (2, True, False)
    assert run("explore", model, texts, "--edits", tmp_path / "none.json")[0] == 2
    assert not (tmp_path / "x.html").exists()


def test_explore_beside_another_model(model, texts, explored, run, tmp_path):
    other = tmp_path / "second.safetensors"
    assert (
        run("fit", texts, "--id", "name", "--model", "ttmm", "-p", "n_topics=2", "-p", "n_themes=2", "--out", other)[0]
        == 0
    )
    data, _ = explored(model, texts, "--id", "name", "--compare", other)
    assert (data["model"]["title"], data["model"]["name"]) == (model.stem, "LDA")
    assert (data["compare"]["model"]["title"], data["compare"]["model"]["name"]) == ("second", "TTMM")
    assert [relation["kind"] for relation in data["compare"]["relations"]] == ["match", "match"]
    code, _, err = run("explore", model, texts, "--compare", tmp_path / "no.safetensors", "--out", tmp_path / "x.html")
    assert (code, "no such file" in err) == (2, True)


def test_explore_paragraphs(explored, run, tmp_path):
    path, out = tmp_path / "texts.jsonl", tmp_path / "l.safetensors"
    path.write_text(lines_of(["cat dog fur cat.\n\nsun moon star sun", "sun star moon.\n\nthe of"] * 8))
    sizes = ("-p", "n_word_topics=2", "-p", "n_document_topics=2", "-p", "n_sweeps=40", "-p", "burn_in=20")
    fit = ("fit", path, "--model", "ldcc", "--segments", "paragraphs", *sizes, "--out", out)
    code, _, err = run(*fit, "--report", tmp_path / "fit.html")
    assert code == 0, err
    data, _ = explored(out, path, "--segments", "paragraphs")
    assert data["documents"]["parts"] == shown_on(tmp_path / "fit.html")["documents"]["parts"]
    starts = [[int(start) for start in parts.split()[::3]] for parts in data["documents"]["parts"]]
    assert starts == [[0, data["documents"]["text"][0].index("sun")], [0]] * 8
    whole, _ = explored(out, path)
    assert "parts" not in whole["documents"]
    Corpus.read(path).save(tmp_path / "c.safetensors")
    code, _, err = run("explore", out, tmp_path / "c.safetensors", "--segments", "5", "--out", tmp_path / "x.html")
    assert (code, "leave out segments" in err) == (2, True)


def test_explore_refuses_segments_for_a_model_of_documents(model, texts, run, tmp_path):
    code, _, err = run("explore", model, texts, "--segments", "paragraphs", "--out", tmp_path / "x.html")
    assert (code, "only ldcc assigns segments, not lda" in err) == (2, True)
    assert not (tmp_path / "x.html").exists()


def test_explore_says_which_extra_a_layout_needs(model, texts, run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    monkeypatch.setitem(sys.modules, "umap.umap_", None)
    code, _, err = run("explore", model, texts, "--layout", "umap", "--out", tmp_path / "x.html")
    assert (code, "topicfold[map]" in err) == (2, True)
    assert not (tmp_path / "x.html").exists()


def test_explore_no_documents_at_all(model, texts, run, tmp_path):
    code, _, err = run("explore", model, texts, "--documents", "0", "--out", tmp_path / "x.html")
    assert (code, "--documents" in err) == (2, True)
    code, _, err = run("explore", model, "-", "--out", tmp_path / "x.html")
    assert (code, "no documents" in err) == (2, True)


@pytest.mark.parametrize("name", [".hidden.csv", "v1.2-texts.csv", "plain"])
def test_a_page_is_never_without_a_name(name, model, explored, tmp_path):
    path = tmp_path / name
    path.write_text("text\ncat\n")
    data, _ = explored(model, path, "--format", "csv")
    assert data["name"] == {".hidden.csv": ".hidden", "v1.2-texts.csv": "v1.2-texts", "plain": "plain"}[name]


def test_a_folder_is_named_wherever_one_stands(model, explored, tmp_path, monkeypatch):
    (tmp_path / "my.texts" / "inside").mkdir(parents=True)
    (tmp_path / "my.texts" / "a.txt").write_text("cat dog")
    monkeypatch.chdir(tmp_path / "my.texts" / "inside")
    assert explored(model, "..")[0]["name"] == "my.texts"
