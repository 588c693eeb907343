from __future__ import annotations

import csv
import io
import sys

import pytest
from cli_cases import TEXTS, shown_on

from topicfold.cli import main


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
    with open(path, "w", encoding="utf-8", newline="") as file:
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
