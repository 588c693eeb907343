from __future__ import annotations

import os
import subprocess
import sys

import pytest

from topicfold import FileError
from topicfold.cli import main
from topicfold.cli.app import cli


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
        (["fit", "{texts}", "--out", "m", "--min-df", "99"], "min_df=99 removed 6"),
        (["fit", "{texts}", "--out", "m", "--min-df", "few"], "--min-df few: expected a number"),
        (["fit", "{texts}", "--out", "m", "--encoding", "klingon"], "klingon"),
        (["fit", "{texts}", "--out", "m", "-p", "n_topics=2", "-p", "n_jobs=x"], "n_jobs='x'"),
        (["fit", "nothing", "--out", "m"], "no such file or folder: nothing"),
        (["fit", "{texts}", "--out", "m", "-p", "n_topics=9", "--debug-not"], "--debug-not"),
        (["fit", "{texts}", "--out", "m", "--model", "magic"], "no model 'magic'; the models are: lda, plsa"),
        (["fit", "{texts}"], "--out"),
        (["show", "{texts}"], "not a topicfold file"),
        (["show", "{model}", "--topic", "9"], "no topic 9"),
        (["search", "{model}", "{texts}", "zebra"], "no word of the query"),
        (["assign", "{model}", "{texts}", "--out", "x.doc"], "cannot write doc"),
        (["assign", "{model}", "{texts}", "--text", "body"], "no column 'body'"),
        (["assign", "{model}", "nothing.csv"], "no such file"),
        (["assign", "{model}", "{texts}", "--to", "parquet"], "cannot be written to stdout"),
        (["select", "{texts}", "-p", "n_topics=3"], "nothing to choose from"),
        (["reproduce"], "No such command 'reproduce'"),
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


@pytest.mark.parametrize("kind", [TypeError, KeyError, ValueError, IndexError, ImportError, AssertionError])
def test_a_mistake_of_ours_does_not_read_like_bad_input(kind, model, run, monkeypatch, tmp_path):
    def broken(*_, **__):
        raise kind("spam")

    monkeypatch.setattr("topicfold.topics.tree.TopicTree.to_text", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code, out, err = run("show", model)
    assert (code, out) == (70, "")
    (line,) = err.splitlines()
    (file,) = tmp_path.glob("topicfold-bug-*.txt")
    assert line.startswith(f"topicfold: this is a bug in topicfold: {kind.__name__}: ")
    assert f"the traceback is in {file}: please open an issue" in line
    assert "in broken\n    raise kind" in file.read_text(encoding="utf-8")
    with pytest.raises(kind, match="spam"):
        main(["show", str(model), "--debug"])


@pytest.mark.parametrize(
    ("error", "message"),
    [(OSError(28, "No space left on device"), "No space left"), (MemoryError(), "not enough memory")],
)
def test_what_the_system_cannot_do_is_no_bug(error, message, model, run, monkeypatch):
    def failing(*_, **__):
        raise error

    monkeypatch.setattr("topicfold.topics.tree.TopicTree.to_text", failing)
    code, out, err = run("show", model)
    assert (code, out) == (2, "")
    assert message in err
    assert "bug" not in err


def test_debug_shows_the_traceback():
    for words in (["--debug", "show", "nothing"], ["show", "nothing", "--debug"]):
        with pytest.raises(FileError):
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
        (["fit", "{texts}", "--out", "pipe"], "pipe is not a regular file"),
        (["explore", "{model}", "{texts}", "--out", "pipe"], "pipe is not a regular file"),
        (["assign", "{model}", "{texts}", "--out", "pipe.csv"], "pipe.csv is not a regular file"),
        (["fit", "{texts}", "--out", "."], ". is a folder"),
        (["fit", "{texts}", "--out", "m", "-p", "n_topics=0"], "n_topics=0"),
        (["fit", "{texts}", "--out", "m", "-p", "init=magic"], "init='magic'"),
        (["fit", "{texts}", "--out", "m", "--model", "ldcc", "-p", "n_sweeps=5"], "burn_in=200"),
        (["assign", "{model}", "{texts}", "--out", "x.doc"], "x.doc: cannot write doc"),
        (["select", "{texts}", "-p", "n_topics=[1,2]", "--plot", "x.doc"], "x.doc"),
        (["tree", "{model}", "--out", "{model}"], "write to another file"),
    ],
)
def test_a_page_with_no_place_is_said_before_the_work(words, message, model, texts, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for pipe in ("pipe", "pipe.csv"):
        os.mkfifo(pipe)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    code, out, err = run(*(word.format(texts=texts, model=model) for word in words))
    assert code == 2
    assert message in err
    assert sum(line.startswith("topicfold: ") for line in err.splitlines()) == 1
    assert out == ""
    assert "Corpus:" not in err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert all((tmp_path / pipe).is_fifo() for pipe in ("pipe", "pipe.csv"))
