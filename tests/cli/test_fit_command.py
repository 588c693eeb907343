from __future__ import annotations

import json
import shlex
import signal
import warnings
from pathlib import Path

import numpy as np
import pytest
from cli_cases import TEXTS, shown_on

from topicfold import Corpus, load
from topicfold.cli.options import size_of_files
from topicfold.models.em import number_of_topics


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


def test_several_languages_of_stop_words(run, texts, tmp_path):
    out = tmp_path / "m"
    assert run("fit", texts, "-p", "n_topics=2", "--stop-words", "de,english,+cat", "--out", out)[0] == 0
    assert "cat" not in load(out).vocabulary_
    assert load(out).preprocessing_.stop_words == "english,german,+cat"
    code, _, err = run("fit", texts, "--stop-words", "english,cat", "--out", out)
    assert (code, "no stop words for 'cat' (write a word as +word or -word)" in err) == (2, True)


def test_a_file_of_words_may_begin_with_a_language(run, texts, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("danish cat", encoding="utf-8")
    assert run("fit", texts, "-p", "n_topics=2", "--stop-words", words, "--out", tmp_path / "m")[0] == 0
    assert "cat" not in load(tmp_path / "m").vocabulary_


def test_a_tokenizer_by_name_is_stored(run, tmp_path):
    path, out = tmp_path / "zh.csv", tmp_path / "m"
    path.write_text("text\n" + "\n".join(["北京大学", "上海大学", "股票 市场", "市场 股票"] * 3), encoding="utf-8")
    assert run("fit", path, "-p", "n_topics=2", "--tokenizer", "characters", "--out", out)[0] == 0
    assert load(out).preprocessing_.tokenizer == "characters"
    assert "北京" not in load(out).vocabulary_
    code, stdout, _ = run("assign", out, path)
    assert (code, len(stdout.splitlines())) == (0, 13)
    assert run("fit", path, "-p", "n_topics=2", "--out", out)[0] == 0
    assert "北京" in load(out).vocabulary_


def test_an_unknown_tokenizer_is_named(run, texts, tmp_path):
    code, _, err = run("fit", texts, "--tokenizer", "kiwy", "--out", tmp_path / "m")
    assert (code, "unknown tokenizer 'kiwy'; did you mean 'kiwi'?" in err) == (2, True)
    code, _, err = run("fit", texts, "--tokenizer", "os:system", "--out", tmp_path / "m")
    assert (code, "unknown tokenizer 'os:system'" in err) == (2, True)


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_sigterm_are_said_and_the_model_kept(run, texts, tmp_path, monkeypatch, number, exit_code):
    from topicfold.engine import loop as fitting

    def press(history, tol, rises):
        signal.raise_signal(number)
        return False

    monkeypatch.setattr(fitting, "_settled", press)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code, _, err = run("fit", texts, "-p", "n_topics=2", "-p", "tol=0", "--out", tmp_path / "m")
    assert code == exit_code
    assert "topicfold: LDA: interrupted after 1" in err
    assert "(interrupted)" in err
    assert load(tmp_path / "m").interrupted_
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_ctrl_c_says_which_files_are_written(run, texts, tmp_path, monkeypatch):
    import topicfold.report

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(topicfold.report, "build_report", interrupted)
    model, corpus, page = (str(tmp_path / name) for name in ("m", "c", "p.html"))
    (tmp_path / "p.html").write_text("an old page")
    code, _, err = run("fit", texts, "-p", "n_topics=2", "--out", model, "--corpus-out", corpus, "--report", page)
    assert code == 130
    assert f"topicfold: interrupted: {model}, {corpus} are written; {page} is not written" in err
    monkeypatch.setattr(Corpus, "read", interrupted)
    code, _, err = run("fit", texts, "-p", "n_topics=2", "--out", model)
    assert (code, err.strip()) == (130, f"topicfold: interrupted: {model} is not written")


def test_sigterm_before_a_fit_is_an_end_too(run, texts, tmp_path, monkeypatch):
    def end(*_, **__):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("topicfold.corpus.readers.corpus_from_texts", end)
    code, _, err = run("fit", texts, "-p", "n_topics=2", "--out", tmp_path / "m")
    assert (code, err.strip()) == (143, f"topicfold: terminated: {tmp_path / 'm'} is not written")
    assert not (tmp_path / "m").exists()


def test_limits_of_files(run, texts, tmp_path):
    code, _, err = run("fit", texts, "--out", tmp_path / "m", "--limit", "line=5")
    assert code == 2
    assert "texts.csv, line 1 is longer than 5 bytes; the limit 'line' can be raised" in err
    for limit in ("lines=5", "line=x", "line", "line=0"):
        code, _, err = run("fit", texts, "--out", tmp_path / "m", "--limit", limit)
        assert (code, err.count("\n") <= 2) == (2, True)


def test_fit_without_a_number_of_topics_chooses_one(texts, run, tmp_path, monkeypatch):
    words = ("fit", texts, "--id", "name", "-p", "max_iter=5", "--out", tmp_path / "m.safetensors")
    code, out, err = run(*words)
    assert code == 0, err
    assert out.startswith("2 topics of 6 documents")
    assert "n_topics 2 was chosen" in err
    assert "to compare" not in err  # six documents are too few to compare numbers on
    monkeypatch.setattr(number_of_topics, "LEAST_DOCUMENTS", 6)
    code, _, err = run(*words)
    assert code == 0, err
    (line,) = [line for line in err.splitlines() if line.startswith("to compare numbers of topics: ")]
    command = shlex.split(line.partition(": ")[2])
    assert command == ["topicfold", "select", str(texts), "--model", "lda", "--id", "name", "-p", "max_iter=5"]
    code, _, err = run(*command[1:], "-p", "n_topics=[1,2]", "--splits", "2", "--json")
    assert code == 0, err
    assert "2 points x 2 folds: 4 fits" in err
    assert "was chosen" not in run(*words, "-p", "n_topics=2")[2]


def test_select(texts, run, tmp_path):
    words = ("select", texts, "-p", "n_topics=[1,2]", "--splits", "2", "--seeds", "1")
    code, out, err = run(*words, "--plot", tmp_path / "s.png")
    assert code == 0, err
    assert "n_topics" in out
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    assert "best" in json.loads(run(*words, "--json")[1])


def test_a_figure_is_written_completely_or_not_at_all(texts, run, tmp_path, monkeypatch):
    def fail(self, path, **options):
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    (tmp_path / "s.svg").write_text("old")
    words = ("-p", "n_topics=[1,2]", "--splits", "2", "--seeds", "1", "--plot", tmp_path / "s.svg")
    code, _, err = run("select", texts, *words)
    assert code == 2
    assert "No space left" in err
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "s."))] == ["s.svg"]
    assert (tmp_path / "s.svg").read_text() == "old"


def test_select_ends_with_the_command_that_fits(texts, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ("-p", "n_topics=[1,2]", "-p", "beta=0.5", "--model", "plsa", "--min-df", "1", "--seed", "3")
    code, _, err = run("select", texts, *options, "--splits", "2", "--seeds", "1", "--extend")
    assert code == 0, err
    said = err.splitlines()[-1]
    assert said.startswith("to fit it: topicfold fit ")
    command = shlex.split(said.removeprefix("to fit it: topicfold "))
    assert command[-4:] == ["-p", "beta=0.5", "--out", "model.safetensors"] or "n_topics=2" in command
    assert "--splits" not in command
    code, _, err = run(*command)
    assert code == 0, err
    fitted = load(tmp_path / "model.safetensors")
    assert (fitted.beta, fitted.random_state) == (0.5, 3)


def test_select_with_nothing_to_choose_from(texts, run):
    code, _, err = run("select", texts, "-p", "n_topics=5")
    assert code == 2
    assert "nothing to choose from" in err
    code, _, err = run("select", texts, "--model", "hlta")
    assert code == 2
    assert "nothing to choose from" in err


def test_demo(run, tmp_path):
    page = tmp_path / "demo.html"
    places = ("--out", tmp_path / "demo.safetensors", "--corpus-out", tmp_path / "c.safetensors", "--report", page)
    code, out, err = run("demo", *places)
    assert code == 0, err
    assert f"4,096 documents; open it in a browser: {page.as_uri()}" in err
    assert shown_on(page)["name"] == "Debian packages"
    assert "20 topics of 4,096 documents" in out
    assert str(tmp_path / "demo.safetensors") in err
    assert load(tmp_path / "demo.safetensors").topic_word_.shape[0] == 20
    assert len(Corpus.load(tmp_path / "c.safetensors")) == 4096


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
    model, err = fitted("dtm", "--graph", "links", "--labels", "label", "--supervise")
    assert "graph links: 2 edges" in err
    assert "labels of 3 documents supervise the fit" in err
    assert model.graph_.toarray().tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    model, _ = fitted("lapplsi", "--graph", "links", "--graph", tmp_path / "edges.csv", "-p", "graph_weight=1")
    assert model.graph_.toarray()[2:, 2:].tolist() == [[0, 3.5], [3.5, 0]]
    model, _ = fitted("ltm", "--embeddings", tmp_path / "e.npy", "--graph", "knn", "-p", "graph_weight=1")
    assert model.neighbors_by_ == "embeddings"
    assert model.graph_.toarray()[0].tolist() == [0, 1, 0, 0]

    def refused(*words):
        code, _, err = run("fit", table, *columns, "--model", *words)
        assert code == 2
        return err

    plain = ("fit", table, "--graph", "knn", "-p", "n_topics=2", "-p", "n_neighbors=1", "--out", tmp_path / "m")
    code, _, err = run(*plain, "--model", "lda", "-p", "n_init=1")
    assert code == 2
    assert run(*plain)[0] == 0  # with a graph the model is ltm unless another is named
    assert type(load(tmp_path / "m")).__name__ == "LTM"
    code, _, err = run("fit", table, "--graph", "knn", "--model", "plsa", "-p", "n_topics=2", "--out", tmp_path / "m")
    assert code == 2
    assert "plsa uses only words" in err
    assert "no such file" in refused("ltm", "--graph", tmp_path / "no.csv").lower()
    np.save(tmp_path / "short.npy", np.ones((3, 2)))
    assert "expected one row for each of 4 documents" in refused("ltm", "--embeddings", tmp_path / "short.npy")
    code, _, err = run("fit", table, "-p", "n_topics=2", "--model", "ltm", "--graph", "links", "--out", tmp_path / "m")
    assert code == 2
    assert "the corpus has no links" in err


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


def labelled(tmp_path):
    rows = [("a", "cat dog pet", "x"), ("b", "sun star cat", "x"), ("c", "sun moon", "y"), ("d", "moon star", "")]
    table = tmp_path / "t.csv"
    table.write_text("id,text,label\n" + "".join(f"{','.join(row)}\n" for row in rows))
    return table


def test_labels_supervise_only_when_asked(run, tmp_path):
    table, out = labelled(tmp_path), tmp_path / "m"
    words = ("fit", table, "--labels", "label", "--model", "ltm", "-p", "n_topics=2", "-p", "n_neighbors=1")
    words += ("-p", "graph_weight=1")
    code, _, err = run(*words, "--out", out)
    assert code == 0, err
    assert "labels (2)" in err
    assert "supervise the fit" not in err
    plain = load(out).doc_topic_
    assert run(*words, "--supervise", "--out", out)[0] == 0
    assert not np.array_equal(load(out).doc_topic_, plain)


def test_themes_are_labels_on_the_command_line(run, tmp_path):
    table, out = labelled(tmp_path), tmp_path / "m"
    words = ("fit", table, "--labels", "label", "--model", "ttmm", "-p", "n_topics=2", "-p", "n_themes=labels")
    code, _, err = run(*words, "--out", out)
    assert (code, "--supervise" in err) == (2, True)
    assert "Corpus:" not in err
    assert run(*words, "--supervise", "--out", out)[0] == 0
    assert load(out).classes_.tolist() == ["x", "y"]


def test_supervision_that_cannot_be_is_said_in_the_words_of_the_command_line(run, tmp_path):
    table, out = labelled(tmp_path), tmp_path / "m"
    (tmp_path / "several.csv").write_text("text,label\ncat dog,a;b\nsun moon,b\n")
    several = ("fit", tmp_path / "several.csv", "--labels", "label", "--separator", ";", "--supervise")
    for words, message in [
        ((*several, "--model", "ltm", "-p", "n_topics=2"), "--supervise needs one label per document"),
        (("fit", table, "--supervise", "--model", "ltm", "-p", "n_topics=2"), "--labels names the column"),
        (("fit", table, "--supervise", "--labels", "label", "--model", "plsa"), "plsa does not use labels"),
    ]:
        code, _, err = run(*words, "--out", out)
        assert code == 2
        assert message in err
        assert "label_matrix" not in err


def test_metadata_and_dates_on_the_command_line(run, tmp_path):
    (tmp_path / "t.csv").write_text("text,when,party,year\ncat dog,03.05.1999,left,1999\nsun cat,04.06.2001,,2001\n")
    columns = ("--timestamp", "when", "--date-format", "%d.%m.%Y", "--metadata", "party,year")
    saved = ("-p", "n_topics=1", "--out", tmp_path / "m", "--corpus-out", tmp_path / "c.safetensors")
    code, _, err = run("fit", tmp_path / "t.csv", *columns, *saved)
    assert code == 0, err
    corpus = Corpus.load(tmp_path / "c.safetensors")
    assert corpus.timestamps.astype("datetime64[D]").astype(str).tolist() == ["1999-05-03", "2001-06-04"]
    assert {name: values.tolist() for name, values in corpus.metadata.items()} == {
        "party": ["left", ""],
        "year": [1999, 2001],
    }
    code, _, err = run("fit", tmp_path / "t.csv", "--timestamp", "party", "--strict-dates", *saved)
    assert (code, "timestamp 'left' (row 1): expected" in err) == (2, True)


def test_warnings_are_messages(run, tmp_path):
    (tmp_path / "t.csv").write_text("id,text,links\na,cat dog,b;c\nb,dog cat,a;c\nc,,a;b\n")
    words = ("fit", tmp_path / "t.csv", "--links", "links", "-p", "n_topics=1", "--out", tmp_path / "m")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code, _, err = run(*words)
    assert code == 0
    assert "topicfold: 1 of 3 texts are empty" in err
    assert "3 of 3 links point to ids that are not in the corpus" in err
    assert "separator" in err


def test_without_a_model_links_make_a_graph(run, tmp_path):
    table, out = tmp_path / "t.csv", tmp_path / "m"
    rows = [f"{number},{'cat dog cow' if number % 2 else 'sun moon star'},{(number + 2) % 12}" for number in range(12)]
    table.write_text("id,text,cites\n" + "\n".join(rows) + "\n")
    words = ("fit", table, "--links", "cites", "-p", "n_topics=2", "--out", out)
    code, _, err = run(*words)
    assert code == 0, err
    assert "fitting ltm with --graph links" in err
    assert type(load(out)).__name__ == "LTM"
    code, _, err = run(*words, "--model", "lda")
    assert (code, type(load(out)).__name__, "ltm" in err) == (0, "LDA", False)


def test_stability_says_its_cost_first_and_stays_in_the_model(run, texts, tmp_path):
    model, page, later = tmp_path / "m.safetensors", tmp_path / "page.html", tmp_path / "later.html"
    code, out, err = run("fit", texts, "-p", "n_topics=2", "--stability", "2", "--out", model, "--report", page)
    assert code == 0, err
    cost = err.index("stability: 2 fits to half of the documents each; this takes about 1 times as long as the fit")
    assert cost < err.index("of these fits")
    assert "stable" in out.splitlines()[1]
    kept = load(model).topic_stability_
    shown = [topic["stability"][0] for topic in shown_on(page)["topics"]]
    assert shown == pytest.approx(kept.tolist(), abs=1e-3)
    code, _, err = run("explore", model, texts, "--stability", "3", "--out", later)
    assert (code, "about 1.5 times as long as the fit" in err) == (0, True), err
    assert all("stability" in topic for topic in shown_on(later)["topics"])


def test_stability_needs_all_documents(run, texts, tmp_path):
    code, _, err = run("fit", texts, "--stream", "3", "--stability", "2", "--out", tmp_path / "m")
    assert (code, "--stability needs all documents" in err) == (2, True)


def test_phrases_are_learned_from_texts_that_fit_in_memory(run, tmp_path, monkeypatch):
    places = ["Peru", "Cuba", "Mali", "Chad", "Oman", "Togo", "Iran", "Iraq"]
    texts = [f"The prime minister of {place} waits" for place in places]
    texts += [f"A football coach in {place} runs" for place in places]
    texts = [f"{text} {word}" for text in texts for word in ("again", "today", "tonight")]
    file, folder = tmp_path / "news.csv", tmp_path / "news"
    file.write_text("text\n" + "\n".join(texts), encoding="utf-8")
    folder.mkdir()
    (folder / "all.txt").write_text("\n".join(texts), encoding="utf-8")
    for most, expected in ((10**6, True), (100, False)):
        monkeypatch.setattr("topicfold.cli.fit_commands._MOST_TEXT", most)
        code, shown, err = run("fit", file, "--topics", "2", "--no-embed", "--out", tmp_path / "m.safetensors")
        assert code == 0, err
        assert ("prime minister" in shown) == expected
    assert size_of_files(str(folder)) == len("\n".join(texts))
    assert size_of_files("-") == 0
