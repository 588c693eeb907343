from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest

from topicfold import Corpus, load
from topicfold.cli.commands import cli, main

TEXTS = ["cat dog cow", "dog cow cat", "cow cat", "sun moon star", "moon star sun", "star sun"]


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process: (exit code, stdout, stderr)."""

    def command(*words, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return command


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "text"])
        writer.writerows(zip("abcdef", TEXTS))
    return path


@pytest.fixture
def model(tmp_path, texts, run):
    path = tmp_path / "m.safetensors"
    code, out, err = run("fit", texts, "--id", "name", "-p", "n_topics=2", "--out", path)
    assert code == 0, err
    assert out.startswith("2 topics of 6 documents")
    assert "Corpus: 6 documents" in err
    assert str(path) in err
    return path


def shown_on(page):
    """The report in a page."""
    source = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="report">(.*?)</script>', source, re.DOTALL)[1])


def test_fit_passes_parameters_and_options(tmp_path, texts, run):
    out = tmp_path / "m.safetensors"
    code, _, err = run(
        *("fit", texts, "--stem", "english", "--stop-words", "none", "--min-df", "2", "--ngrams", "2", "--out", out),
        *("-p", "n_topics=2", "-p", "dtype=float64", "-p", "tol=0", "-p", "max_iter=7", "-p", "init=random"),
        *("--seed", "5", "--corpus-out", tmp_path / "c.safetensors"),
    )
    assert code == 0, err
    fitted = load(out)
    assert (fitted.dtype, fitted.n_iter_, fitted.random_state, fitted.init) == ("float64", 7, 5, "random")
    assert fitted.preprocessing_.stemmer == "english"
    assert fitted.preprocessing_.stop_words is None
    assert "cow cat" in fitted.vocabulary_ or "dog cow" in fitted.vocabulary_
    assert len(Corpus.load(tmp_path / "c.safetensors")) == 6


def test_show(model, run):
    assert run("show", model)[1].startswith("2 topics of 6 documents")
    assert len(json.loads(run("show", model, "--json")[1])["topics"]) == 2
    code, out, _ = run("show", model, "--topic", "1", "--documents", "2")
    assert code == 0
    words, documents = out.strip().split("\n\n")
    assert len(words.splitlines()) == 3
    assert len(documents.splitlines()) == 2


def test_search_and_score(model, texts, run):
    code, out, _ = run("search", model, "moon", "-n", "3")
    assert code == 0
    assert {line.split()[1] for line in out.splitlines()} == set("def")
    assert run("search", model, "-", stdin="moon")[0] == 0
    code, out, _ = run("score", model, texts, "--id", "name")
    assert code == 0
    assert "perplexity" in out


@pytest.mark.parametrize("batch", [1, 4, 100])
def test_assign_streams_to_every_format(model, texts, run, tmp_path, batch):
    expected = load(model).transform(TEXTS)
    code, out, err = run("assign", model, texts, "--id", "name", "--batch", batch)
    assert code == 0, err
    rows = list(csv.reader(out.splitlines()))
    assert rows[0] == ["id", "plsa0", "plsa1"]
    assert [row[0] for row in rows[1:]] == list("abcdef")
    assert np.allclose(np.array([row[1:] for row in rows[1:]], float), expected, atol=1e-5)
    run("assign", model, texts, "--batch", batch, "--out", tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == list("012345")
    assert np.allclose([line["topics"] for line in lines], expected, atol=1e-5)
    parquet = pytest.importorskip("pyarrow.parquet")
    run("assign", model, texts, "--batch", batch, "--out", tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet")
    assert np.allclose(table.column("plsa1").to_numpy(), expected[:, 1], atol=1e-6)


def test_assign_reads_stdin_and_counts(model, run, tmp_path):
    code, out, _ = run("assign", model, "-", stdin='{"text": "cat"}\n{"text": null}\n')
    assert code == 0
    assert len(out.splitlines()) == 3
    Corpus.from_texts(TEXTS).save(tmp_path / "c.safetensors")
    assert run("assign", model, tmp_path / "c.safetensors")[0] == 0


def test_assign_never_overwrites_its_input_nor_leaves_half_a_file(model, run, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "cat"}\n' * 3 + "oops\n")
    before = path.read_text()
    code, _, err = run("assign", model, path, "--out", path)
    assert (code, path.read_text()) == (2, before)
    assert "is the input too" in err
    (tmp_path / "out.csv").write_text("old")
    assert run("assign", model, path, "--out", tmp_path / "out.csv", "--batch", "1")[0] == 2
    assert (tmp_path / "out.csv").read_text() == "old"
    (tmp_path / "empty.jsonl").touch()
    assert run("assign", model, tmp_path / "empty.jsonl", "--out", tmp_path / "out.csv")[0] == 0
    assert (tmp_path / "out.csv").read_text() == "id,plsa0,plsa1\n"


def test_fit_reads_stdin(run, tmp_path):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    code, _, err = run("fit", "-", "-p", "n_topics=2", "--out", tmp_path / "m", stdin=lines)
    assert code == 0, err


def test_a_file_called_like_a_language_is_no_stop_list(run, texts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "english").write_text("cat")
    (tmp_path / "mine.txt").write_text("cat dog")
    run("fit", texts, "-p", "n_topics=2", "--out", "m")
    assert "cat" in load("m").vocabulary_
    run("fit", texts, "-p", "n_topics=2", "--stop-words", "mine.txt", "--out", "m")
    assert "cat" not in load("m").vocabulary_


def test_ctrl_c_is_said_and_the_model_kept(run, texts, tmp_path, monkeypatch):
    from topicfold.engine import loop as fitting

    def press(history, tol, rises):
        signal.raise_signal(signal.SIGINT)
        return False

    monkeypatch.setattr(fitting, "_settled", press)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code, _, err = run("fit", texts, "-p", "n_topics=2", "-p", "tol=0", "--out", tmp_path / "m")
    assert code == 130
    assert "topicfold: PLSA: interrupted after 1" in err
    assert "(interrupted)" in err
    assert load(tmp_path / "m").interrupted_


def test_select(texts, run, tmp_path):
    words = ("select", texts, "-p", "n_topics=[1,2]", "--splits", "2", "--seeds", "1")
    code, out, err = run(*words, "--plot", tmp_path / "s.png")
    assert code == 0, err
    assert "n_topics" in out
    assert (tmp_path / "s.png").stat().st_size > 1000
    assert "best" in json.loads(run(*words, "--json")[1])


def test_demo(run, tmp_path):
    page = tmp_path / "demo.html"
    code, out, err = run("demo", "--out", tmp_path / "demo.safetensors", "--report", page)
    assert code == 0, err
    assert f"4,096 documents; open it in a browser: {page.as_uri()}" in err
    assert shown_on(page)["name"] == "Debian packages"
    assert "20 topics of 4,096 documents" in out
    assert str(tmp_path / "demo.safetensors") in err
    assert load(tmp_path / "demo.safetensors").topic_word_.shape[0] == 20


def test_reproduce_lists_experiments_and_names_missing_data(run, tmp_path, monkeypatch):
    monkeypatch.delenv("TOPICFOLD_DATA", raising=False)
    code, out, _ = run("reproduce")
    assert code == 0
    assert "flat-20newsgroups" in out
    code, _, err = run("reproduce", "flat-20newsgroups", "--out", tmp_path)
    assert code == 2
    assert "TOPICFOLD_DATA" in err
    code, _, err = run("reproduce", "flat-20newsgroups", "--data", tmp_path, "--out", tmp_path)
    assert code == 2
    assert "20newsgroups_raw" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "nothing.csv", "--out", "m"], "no such file or folder: nothing.csv"),
        (["fit", "{texts}", "--out", "no/such/folder/m"], "does not exist"),
        (["fit", "{texts}", "--text", "body", "--out", "m"], "no column 'body'; its columns are: name, text"),
        (["fit", "{texts}", "--out", "m", "-p", "n_topics"], "expected NAME=VALUE"),
        (["fit", "{texts}", "--out", "m", "-p", "topics=3"], "no parameter 'topics'; its parameters are"),
        (["fit", "{texts}", "--out", "m", "-p", "n_topics=50"], "n_topics=50 is more than"),
        (["fit", "{texts}", "--out", "m", "-p", "n_topics=few"], "n_topics='few'"),
        (["fit", "{texts}", "--out", "m", "--min-df", "99"], "min_df=99 took 6"),
        (["fit", "{texts}", "--out", "m", "--min-df", "few"], "--min-df few: expected a number"),
        (["fit", "{texts}", "--out", "m", "--encoding", "klingon"], "klingon"),
        (["fit", "{texts}", "--out", "m", "-p", "n_topics=2", "-p", "n_jobs=x"], "n_jobs='x'"),
        (["fit", "nothing", "--out", "m"], "no such file or folder: nothing"),
        (["fit", "{texts}", "--out", "m", "-p", "n_topics=9", "--debug-not"], "--debug-not"),
        (["fit", "{texts}", "--out", "m", "--model", "magic"], "no model 'magic'; the models are: plsa"),
        (["fit", "{texts}"], "--out"),
        (["show", "{texts}"], "not a topicfold file"),
        (["show", "{model}", "--topic", "9"], "no topic 9"),
        (["search", "{model}", "zebra"], "no word of the query"),
        (["assign", "{model}", "{texts}", "--out", "x.doc"], "cannot write doc"),
        (["assign", "{model}", "{texts}", "--text", "body"], "no column 'body'"),
        (["assign", "{model}", "nothing.csv"], "no such file"),
        (["assign", "{model}", "{texts}", "--to", "parquet"], "cannot be written to stdout"),
        (["select", "{texts}", "-p", "n_topics=3"], "nothing to choose from"),
        (["reproduce", "magic"], "magic"),
        (["dance"], "No such command 'dance'"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(words, message, model, texts, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*(word.format(texts=texts, model=model) for word in words))
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert out == ""
    assert sum(line.startswith("topicfold: ") for line in err.splitlines()) == 1


def test_debug_shows_the_traceback():
    for words in (["--debug", "show", "nothing"], ["show", "nothing", "--debug"]):
        with pytest.raises(FileNotFoundError):
            main(words)


def test_a_closed_pipe_is_no_error(model):
    code = "import sys; from topicfold.cli import main; main(['show', sys.argv[1], '--words', '1000'])"
    process = subprocess.Popen([sys.executable, "-c", code, str(model)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait()


def test_every_option_has_a_help_text():
    for name, command in cli.commands.items():
        assert command.help, name


def test_fit_on_a_graph(run, tmp_path):
    rows = [
        ("a", "cat dog pet", "b", "x"),
        ("b", "dog cat", "", "x"),
        ("c", "sun moon", "d", "y"),
        ("d", "moon star", "", ""),
    ]
    table = tmp_path / "t.csv"
    table.write_text("id,text,links,label\n" + "".join(f"{','.join(row)}\n" for row in rows))
    (tmp_path / "edges.csv").write_text("a,b,1\nc,d,2.5\n")
    np.save(tmp_path / "e.npy", np.array([[1.0, 0], [0.9, 0.1], [0, 1], [0.1, 1]]))
    columns = ("--id", "id", "--links", "links", "-p", "n_topics=2", "-p", "n_neighbors=1", "--out", tmp_path / "m")

    def fitted(*words):
        code, _, err = run("fit", table, *columns, "--model", *words)
        assert code == 0, err
        return load(tmp_path / "m"), err

    model, _ = fitted("ltm")
    assert model.neighbors_by_ == "words"
    model, err = fitted("dtm", "--graph", "links", "--labels", "label")
    assert "graph links: 2 edges" in err
    assert "labels of 3 documents join the graph" in err
    assert model.graph_.toarray().tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    model, _ = fitted("lapplsi", "--graph", "links", "--graph", tmp_path / "edges.csv")
    assert model.graph_.toarray()[2:, 2:].tolist() == [[0, 3.5], [3.5, 0]]
    model, _ = fitted("ltm", "--embeddings", tmp_path / "e.npy", "--graph", "knn")
    assert model.neighbors_by_ == "embeddings"
    assert model.graph_.toarray()[0].tolist() == [0, 1, 0, 0]

    def refused(*words):
        code, _, err = run("fit", table, *columns, "--model", *words)
        assert code == 2
        return err

    code, _, err = run("fit", table, "--graph", "knn", "-p", "n_topics=2", "--out", tmp_path / "m")
    assert code == 2
    assert "plsa works on words alone" in err
    assert "no such file" in refused("ltm", "--graph", tmp_path / "no.csv").lower()
    np.save(tmp_path / "short.npy", np.ones((3, 2)))
    assert "expected one row for each of 4 documents" in refused("ltm", "--embeddings", tmp_path / "short.npy")
    code, _, err = run("fit", table, "-p", "n_topics=2", "--model", "ltm", "--graph", "links", "--out", tmp_path / "m")
    assert code == 2
    assert "the corpus has no links" in err


@pytest.fixture
def hierarchy(tmp_path, run):
    """A model of two levels, from words that come in pairs of pairs."""
    rng = np.random.default_rng(0)
    upper = rng.random((600, 3)) < 0.4
    lower = np.repeat(upper, 3, axis=1) & (rng.random((600, 9)) < 0.8)
    present = np.repeat(lower, 4, axis=1) & (rng.random((600, 36)) < 0.8)
    path = tmp_path / "texts.jsonl"
    texts = [" ".join(f"word{w}" for w in np.flatnonzero(row)) for row in present]
    path.write_text("\n".join(json.dumps({"text": text}) for text in texts))
    out = tmp_path / "h.safetensors"
    code, printed, err = run("fit", path, "--model", "hlta", "-p", "n_levels=2", "--out", out)
    assert code == 0, err
    assert "which words a document has, not how often" in err
    assert printed.splitlines()[1].split() == ["id", "size", "words"]
    return out


def test_show_levels_of_a_hierarchy(hierarchy, run):
    tree = load(hierarchy).topic_tree()
    upper = int((tree.level == 2).sum())
    assert run("show", hierarchy, "--levels", "2")[1].startswith(f"{upper} topics")
    assert run("show", hierarchy, "--levels", "1,2")[1] == run("show", hierarchy)[1]
    assert len(run("show", hierarchy, "--repeat", "--words", "99")[1]) > len(run("show", hierarchy, "--words", "99")[1])
    for bad in ("3", "0", "x"):
        code, _, err = run("show", hierarchy, "--levels", bad)
        assert (code, "levels" in err) == (2, True)


def test_show_writes_the_json_of_the_java(hierarchy, run, tmp_path):
    assert run("show", hierarchy, "--hlta-json", tmp_path / "x")[0] == 0
    nodes = json.loads((tmp_path / "x.nodes.json").read_text())
    topics = json.loads((tmp_path / "x.topics.json").read_text())
    assert {node["data"]["level"] for node in nodes} == {2}
    assert len(topics) == len(load(hierarchy).topic_word_)


def test_paragraphs_on_the_command_line(tmp_path, run):
    rng = np.random.default_rng(0)
    kinds = [["cat", "dog", "fur"], ["sun", "moon", "star"]]
    path, out = tmp_path / "texts.jsonl", tmp_path / "l.safetensors"
    rows = [
        {"id": f"d{i}", "text": "\n\n".join(" ".join(rng.choice(kinds[k], 8)) for k in rng.integers(0, 2, 3))}
        for i in range(20)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    sizes = ("-p", "n_word_topics=2", "-p", "n_document_topics=2", "-p", "n_sweeps=40", "-p", "burn_in=20")
    code, printed, err = run(
        "fit", path, "--id", "id", "--model", "ldcc", "--segments", "paragraphs", *sizes, "--out", out
    )
    assert code == 0, err
    assert "60 segments" in err
    assert printed.startswith("4 topics of 20 documents")
    assert len(run("assign", out, path, "--id", "id")[1].splitlines()) == 21
    lines = run("assign", out, path, "--id", "id", "--segments", "paragraphs")[1].splitlines()
    assert [line.split(",")[0] for line in lines[1:5]] == ["d0/1", "d0/2", "d0/3", "d1/1"]
    shares = np.array([line.split(",")[1:] for line in lines[1:]], float)
    assert (shares.max(axis=1) > 0.9).mean() > 0.9  # a paragraph is about one thing


def test_segments_where_there_are_none(model, texts, run, tmp_path):
    code, _, err = run("assign", model, texts, "--segments", "paragraphs")
    assert (code, "LDCC knows segments" in err) == (2, True)
    Corpus.from_texts(TEXTS).save(tmp_path / "c.safetensors")
    code, _, err = run("fit", tmp_path / "c.safetensors", "--segments", "5", "--out", tmp_path / "x.safetensors")
    assert (code, "holds counts" in err) == (2, True)


# ---- the explorer ---------------------------------------------------------------------------------------------------


@pytest.fixture
def explored(run, tmp_path):
    """Run explore and give what the page shows, and what was said."""

    def command(model, *words, stdin=""):
        page = tmp_path / "page.html"
        code, out, err = run("explore", model, *words, "--out", page, stdin=stdin)
        assert code == 0, err
        assert out == ""
        assert f"open it in a browser: {page.as_uri()}" in err
        return shown_on(page), err

    return command


def lines_of(texts, **columns):
    rows = [{"text": text, **{name: values[d] for name, values in columns.items()}} for d, text in enumerate(texts)]
    return "".join(json.dumps(row) + "\n" for row in rows)


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
    assert err.splitlines() == [
        f"topicfold: {out} was fitted on counts and does not know how text becomes words: give counts"
    ]
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize("others", [["dog moon", "cat"], ["zebra gnu"], [""], ["", "cat", ""], ["sun"]])
def test_explore_other_documents(model, explored, others):
    data, _ = explored(model, "-", stdin=lines_of(others))
    assert data["documents"]["text"] == others
    assert data["corpus"]["documents"] == len(others)
    for text, shares in zip(others, data["documents"]["topics"]):
        sizes = [int(share) for share in shares.split()[1::2]]
        assert sum(sizes) == pytest.approx(1000, abs=2)
        assert text not in ("cat", "sun") or len(sizes) == 1
    sizes = [topic["size"] for topic in data["topics"]]
    assert sizes == pytest.approx(load(model).transform(others).mean(axis=0), abs=1e-3)


def test_explore_with_names(model, texts, explored, run, tmp_path):
    names = tmp_path / "names.json"
    names.write_text('{"1": "Beasts & more"}')
    data, _ = explored(model, texts, "--names", names)
    assert [topic["name"] for topic in data["topics"]] == [None, "Beasts & more"]
    for content, message in [
        ('{"9": "x"}', "no topic 9; the topics are 0, 1"),
        ("[]", "holds no names"),
        ("", "holds"),
    ]:
        names.write_text(content)
        code, _, err = run("explore", model, texts, "--names", names, "--out", tmp_path / "x.html")
        assert (code, message in err, "Traceback" in err) == (2, True, False)
    assert run("explore", model, texts, "--names", tmp_path / "none.json")[0] == 2
    assert not (tmp_path / "x.html").exists()


def test_explore_beside_another_model(model, texts, explored, run, tmp_path):
    other = tmp_path / "second.safetensors"
    assert (
        run("fit", texts, "--id", "name", "--model", "ttmm", "-p", "n_topics=2", "-p", "n_themes=2", "--out", other)[0]
        == 0
    )
    data, _ = explored(model, texts, "--id", "name", "--compare", other)
    assert (data["model"]["title"], data["model"]["name"]) == (model.stem, "PLSA")
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
    assert (code, "holds counts" in err) == (2, True)


def test_show_repeat_is_for_hierarchies(model, run):
    code, _, err = run("show", model, "--repeat")
    assert (code, "PLSA leaves out no words" in err) == (2, True)


def test_explore_refuses_segments_for_a_model_of_documents(model, texts, run, tmp_path):
    code, _, err = run("explore", model, texts, "--segments", "paragraphs", "--out", tmp_path / "x.html")
    assert (code, "PLSA knows documents alone" in err) == (2, True)
    assert not (tmp_path / "x.html").exists()


def test_explore_says_which_extra_a_layout_needs(model, texts, run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    monkeypatch.setitem(sys.modules, "umap.umap_", None)
    code, _, err = run("explore", model, texts, "--layout", "umap", "--out", tmp_path / "x.html")
    assert (code, "topicfold[map]" in err) == (2, True)
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["explore", "{model}", "{texts}", "--out", "no/x.html"], "the folder no does not exist"),
        (["explore", "{model}", "{texts}", "--out", "{texts}"], "write to another file"),
        (["explore", "{model}", "{texts}", "--out", "{model}"], "write to another file"),
        (["explore", "{model}", "{texts}", "--layout", "tsne"], "tsne"),
        (["explore", "{model}", "{texts}", "--documents", "few"], "few"),
        (["explore", "{model}", "nothing.csv"], "no such file or folder: nothing.csv"),
        (["explore", "nothing", "{texts}"], "no such file: nothing"),
        (["explore", "{texts}", "{texts}"], "not a topicfold file"),
        (["explore", "{model}", "{texts}", "--text", "body"], "no column 'body'"),
        (["fit", "{texts}", "--out", "m", "--report", "no/x.html"], "the folder no does not exist"),
        (["fit", "{texts}", "--out", "m", "--report", "m"], "write to another file"),
        (["fit", "{texts}", "--out", "m", "--report", "{texts}"], "write to another file"),
        (["demo", "--out", "m", "--report", "no/x.html"], "the folder no does not exist"),
    ],
)
def test_a_page_with_no_place_is_said_before_the_work(words, message, model, texts, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    code, out, err = run(*(word.format(texts=texts, model=model) for word in words))
    assert code == 2
    assert message in err
    assert sum(line.startswith("topicfold: ") for line in err.splitlines()) == 1
    assert out == ""
    assert "Corpus:" not in err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_explore_no_documents_at_all(model, texts, run, tmp_path):
    code, _, err = run("explore", model, texts, "--documents", "0", "--out", tmp_path / "x.html")
    assert (code, "--documents" in err) == (2, True)
    code, _, err = run("explore", model, "-", "--out", tmp_path / "x.html")
    assert (code, "no documents" in err) == (2, True)


def test_fit_writes_a_page(texts, run, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = run("fit", texts, "--id", "name", "-p", "n_topics=2", "--out", tmp_path / "m", "--report", page)
    assert code == 0, err
    assert out.startswith("2 topics of 6 documents")
    assert f"open it in a browser: {page.as_uri()}" in err
    assert shown_on(page)["documents"]["text"] == TEXTS
    assert load(tmp_path / "m").topic_word_.shape[0] == 2
    again = tmp_path / "again.html"
    assert run("explore", tmp_path / "m", texts, "--id", "name", "--out", again)[0] == 0
    assert again.read_bytes() == page.read_bytes()


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
