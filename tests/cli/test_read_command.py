from __future__ import annotations

import json

import numpy as np
import pytest

from topicfold import LDA, Corpus, load


@pytest.fixture
def parts(tmp_path):
    rng = np.random.default_rng(0)
    halves = [["cat", "dog", "mouse", "bird", "fish"], ["sun", "moon", "star", "sky", "cloud"]]
    paths = []
    for number in range(3):
        lines = [
            json.dumps({"id": f"{number}-{row}", "text": " ".join(rng.choice(halves[row % 2], size=8))})
            for row in range(20)
        ]
        paths.append(tmp_path / f"part-{number}.jsonl")
        paths[-1].write_text("\n".join(lines))
    return paths


def test_files_are_read_into_one_corpus_that_other_commands_take(parts, tmp_path, run):
    corpus, model = tmp_path / "corpus.safetensors", tmp_path / "model.safetensors"
    code, out, err = run("read", *parts, "--out", corpus)
    assert (code, out) == (0, "")
    assert "Corpus: 60 documents, 10 words" in err
    assert f"the corpus is in {corpus}" in err
    found = Corpus.load(corpus)
    assert found.ids[::20] == ("0-0", "1-0", "2-0")
    assert set(found.texts[0].split()) <= {"cat", "dog", "mouse", "bird", "fish"}
    assert run("fit", corpus, "-p", "n_topics=2", "--out", model)[0] == 0
    code, out, _ = run("fit", tmp_path / "part-*.jsonl", "-p", "n_topics=2", "--out", tmp_path / "again.safetensors")
    assert code == 0
    assert np.array_equal(load(model).topic_word_, load(tmp_path / "again.safetensors").topic_word_)
    code, _, _ = run("read", tmp_path / "part-*.jsonl", "--no-texts", "--out", corpus)
    assert code == 0
    assert Corpus.load(corpus).texts is None


def test_what_read_cannot_do_is_said(parts, tmp_path, run):
    code, _, err = run("read", parts[0], "--out", parts[0])
    assert code == 2
    assert "is also an input or another output of this command" in err
    code, _, err = run("read", tmp_path / "none-*.csv", "--out", tmp_path / "c.safetensors")
    assert code == 2
    assert err.startswith("topicfold: no file matches")


@pytest.mark.parametrize("name", ["lda", "plsa", "ttmm", "hlta"])
def test_a_stream_is_learned_in_batches(parts, tmp_path, run, name):
    model = tmp_path / "model.safetensors"
    sizes = {"hlta": [], "ttmm": ["-p", "n_topics=2", "-p", "n_themes=2"]}.get(name, ["-p", "n_topics=2"])
    everything = "\n".join(path.read_text() for path in parts)
    code, out, err = run("fit", "-", "--model", name, *sizes, "--stream", 25, "--out", model, stdin=everything)
    assert code == 0, err
    assert "60 documents; the last batch had" in err
    assert "3 batches; the model is in" in err
    fitted = load(model)
    assert fitted.n_batches_ == 3
    assert len(fitted.doc_topic_) == 10
    assert "topics of 10 documents" in out


def test_batches_in_python_are_those_of_the_command_line(parts, tmp_path, run):
    run("fit", tmp_path / "part-*.jsonl", "-p", "n_topics=2", "--stream", 25, "--out", tmp_path / "m.safetensors")
    model = LDA(2, random_state=0)
    for batch in Corpus.batches(parts, 25):
        model.partial_fit(batch)
    assert np.array_equal(model.topic_word_, load(tmp_path / "m.safetensors").topic_word_)


def test_batches_without_ids_are_numbered_on(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "\n".join(f"word{number % 3} again" for number in range(5)))
    batches = list(Corpus.batches(path, 2, min_df=1))
    assert [batch.ids for batch in batches] == [("0", "1"), ("2", "3"), ("4",)]
    assert [batch.vocabulary for batch in batches] == [("word0", "word1")] * 3  # "again" is a stop word


def test_what_a_stream_cannot_have_is_said(parts, tmp_path, run):
    out = ("--stream", 25, "--out", tmp_path / "m.safetensors")
    code, _, err = run("fit", parts[0], "--model", "ltm", *out)
    assert code == 2
    assert "ltm needs all documents at once" in err
    code, _, err = run("fit", parts[0], "--report", tmp_path / "r.html", *out)
    assert code == 2
    assert "--report needs all documents, but --stream keeps none" in err
    code, _, err = run("fit", parts[0], "--stream", 0, "--out", tmp_path / "m.safetensors")
    assert code == 2
    with pytest.raises(ValueError, match="size=0: expected a whole number"):
        list(Corpus.batches(parts[0], 0))


def test_every_command_takes_a_corpus_on_disk(parts, tmp_path, run, monkeypatch):
    corpus, model = tmp_path / "corpus.safetensors", tmp_path / "model.safetensors"
    assert run("read", *parts, "--out", corpus)[0] == 0
    in_memory = {}
    for place in ("memory", "disk"):
        if place == "disk":
            monkeypatch.setattr("topicfold.corpus.corpus_file._LARGE", 1)
            assert Corpus.load(corpus).on_disk
        said = {}
        for name, words in {
            "fit": ["fit", corpus, "-p", "n_topics=2", "--out", model],
            "show": ["show", model],
            "search": ["search", model, corpus, "cat dog"],
            "score": ["score", model, corpus],
            "explore": ["explore", model, corpus, "--out", tmp_path / "page.html"],
            "select": ["select", corpus, "-p", "n_topics=[2,3]", "--splits", 2, "--seeds", 1, "--json"],
            "ltm": ["fit", corpus, "--model", "ltm", "-p", "n_topics=2", "--out", tmp_path / "ltm.safetensors"],
            "dtm": ["fit", corpus, "--model", "dtm", "-p", "n_topics=2", "--out", tmp_path / "dtm.safetensors"],
        }.items():
            code, out, err = run(*words)
            assert code == 0, err
            said[name] = out if name != "select" else [row.get("n_topics") for row in json.loads(out).get("rows", [])]
        page = (tmp_path / "page.html").read_text()
        assert "0-0" in page
        in_memory = in_memory or said
        assert said == in_memory
