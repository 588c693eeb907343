"""Several text columns, dates that cannot be read, and guessed columns on the command line."""

from __future__ import annotations

import csv
import json
import shlex

import numpy as np
import pytest
from cli_cases import shown_on

from topicfold import Corpus

WORDS = [["cat", "dog", "cow", "horse", "paw", "fur"], ["sun", "moon", "star", "comet", "orbit", "sky"]]


@pytest.fixture
def table(tmp_path):
    """A function that writes a CSV file from functions that return the value of a row."""

    def write(n=60, **columns):
        rng = np.random.default_rng(0)
        path = tmp_path / "table.csv"
        columns = {"body": lambda d: " ".join(rng.choice(WORDS[d % 2], 12)), **columns}
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows([value(d) for value in columns.values()] for d in range(n))
        return path

    return write


def read_texts(run, tmp_path, *words):
    saved = tmp_path / "c.safetensors"
    code, _, err = run("read", *words, "--out", saved, "--jobs", 1)
    assert code == 0, err
    return Corpus.load(saved).texts


def test_several_text_columns(run, table, tmp_path):
    path = table(title=lambda d: f"Head {d}")
    joined = read_texts(run, tmp_path, path, "--text", "title, body")
    assert joined[3].startswith("Head 3\n\n")
    with_comma = table(**{"title": lambda d: f"Head {d}", "title,body": lambda d: f"exactly {d}"})
    assert read_texts(run, tmp_path, with_comma, "--text", "title,body")[3] == "exactly 3"  # the exact name wins
    code, _, err = run("read", path, "--text", "title,lead", "--out", tmp_path / "x")
    assert (code, "has no column 'lead'; its columns are: body, title" in err) == (2, True)
    code, _, err = run("read", path, "--text", "body,body", "--out", tmp_path / "x")
    assert (code, "the column 'body' is named twice" in err) == (2, True)
    code, _, err = run("read", path, "--text", ",", "--out", tmp_path / "x")
    assert (code, "expected the name of at least one column" in err) == (2, True)


def test_commands_that_read_documents_take_several_text_columns(run, table, tmp_path):
    path, model = table(title=lambda d: f"Head {d}"), tmp_path / "m.safetensors"
    code, _, err = run("fit", path, "--text", "title,body", "--topics", 2, "--out", model)
    assert code == 0, err
    code, out, err = run("assign", model, path, "--text", "title,body")
    assert code == 0, err
    assert len(out.splitlines()) == 61
    lines = "".join(json.dumps({"title": word, "body": None}) + "\n" for word in WORDS[0])
    code, out, err = run("assign", model, "-", "--text", "title,body", stdin=lines)
    assert code == 0, err
    assert "-1" not in out
    code, out, err = run("search", model, path, f"head {WORDS[0][0]}", "--text", "title,body")
    assert code == 0, err
    assert len(out.splitlines()) == 10
    code, _, err = run("fit", path, "--text", "title,body", "--topics", 2, "--stream", 20, "--out", model)
    assert code == 0, err


def test_a_model_remembers_its_columns(run, table, tmp_path):
    columns = {"headline": lambda d: f"Head {d}", "key": lambda d: f"r{d}", "stars": lambda d: d % 5}
    path, model = table(**columns), tmp_path / "m.safetensors"
    read_with = ("--text", "headline,body", "--title", "headline", "--id", "key", "--metadata", "stars")
    assert run("fit", path, *read_with, "--topics", 2, "--out", model)[0] == 0
    code, out, err = run("assign", model, path)
    assert code == 0, err
    assert out.splitlines()[4].startswith("r3,")
    commands = {
        "search": (WORDS[0][0],),
        "score": (),
        "effects": ("--formula", "~ stars"),
        "tasks": ("--out", tmp_path / "t.html"),
        "name": ("--dry-run",),
        "explore": ("--out", tmp_path / "p.html"),
    }
    for command, options in commands.items():
        code, _, err = run(command, model, path, *options)
        assert code == 0, f"{command}: {err}"
    shown = shown_on(tmp_path / "p.html")
    assert (shown["documents"]["id"][3], shown["documents"]["title"][3]) == ("r3", "Head 3")
    other = tmp_path / "other.csv"
    other.write_text("content,stars\n" + "\n".join(f"{word},3" for word in WORDS[0]), encoding="utf-8")
    for command in ("assign", "score", "explore"):
        code, _, err = run(command, model, other)
        assert (
            code,
            "no column 'headline', which had the texts in the fit; the columns are: content, stars" in err,
        ) == (2, True)
    code, out, err = run("assign", model, other, "--text", "content")
    assert (code, len(out.splitlines())) == (0, 1 + len(WORDS[0])), err


@pytest.mark.filterwarnings("default")
def test_dates_that_cannot_be_read_do_not_stop_a_run(run, table, tmp_path):
    path = table(when=lambda d: "n/a" if d == 16 else f"2001-01-{1 + d % 28:02d}", never=lambda d: "soon")
    saved = ("--text", "body", "--topics", 2, "--out", tmp_path / "m.safetensors")
    code, _, err = run("fit", path, "--timestamp", "when", *saved)
    assert code == 0, err
    assert "1 of 60 dates could not be read and is missing: 'n/a' (row 17)\n" in err
    code, _, err = run("fit", path, "--timestamp", "when", "--strict-dates", *saved)
    assert (code, "timestamp 'n/a' (row 17): expected a year or a date" in err) == (2, True)
    code, _, err = run("fit", path, "--timestamp", "never", "--report", tmp_path / "page.html", *saved)
    assert code == 0, err
    assert err.count("60 of 60 dates could not be read and are missing: 'soon' (row 1), 'soon' (row 2)") == 1
    code, _, err = run("fit", path, "--timestamp", "when", "--date-format", "%Q", *saved)
    assert (code, "date_format='%Q': expected a format" in err) == (2, True)


@pytest.mark.filterwarnings("default")
def test_explore_uses_a_date_column_of_which_a_part_fails(run, table, tmp_path):
    path = table(date=lambda d: ["n/a", f"{1 + d % 28}.1.2001", "2001-05-06"][min(d % 20, 2)])
    page = tmp_path / "page.html"
    code, _, err = run("explore", path, "--topics", 2, "--out", page)
    assert code == 0, err
    assert "timestamp: date (dates)" in err
    assert "3 of 60 dates could not be read and are missing: 'n/a' (row 1), 'n/a' (row 21), 'n/a' (row 41)" in err
    assert shown_on(page)["time"] is not None
    code, _, err = run("explore", path, "--topics", 2, "--strict-dates", "--out", page)
    assert (code, "timestamp 'n/a' (row 1): expected" in err) == (2, True)


def test_explore_says_why_a_column_is_not_used(run, table, tmp_path):
    path = table(
        **{"a, b": lambda d: d % 3, "kind": lambda d: d % 2, "date": lambda d: "", "author": lambda d: f"W {d}"}
    )
    page = tmp_path / "page.html"
    code, _, err = run("explore", path, "--topics", 2, "--strict-dates", "--out", page)
    assert code == 0, err
    assert (
        "columns that are not used: a, b (a name with a comma cannot be listed in --metadata), date (empty), "
        "author (60 different values)" in err
    )
    (line,) = [line for line in err.splitlines() if line.startswith("To keep the model: ")]
    words = shlex.split(line)
    assert "--strict-dates" in words
    assert words[words.index("--metadata") + 1] == "kind"


def test_explore_does_not_repeat_a_title_that_begins_the_text(run, table, tmp_path):
    path = table(title=lambda d: f"Head {d}", text=lambda d: f"Head {d} " + " ".join(WORDS[d % 2] * 3))
    page = tmp_path / "page.html"
    code, _, err = run("explore", path, "--topics", 2, "--out", page)
    assert code == 0, err
    assert "text: text (20 words on average, and it begins with the title); " in err


def test_named_text_columns_may_also_be_the_title(run, table, tmp_path):
    page = tmp_path / "page.html"
    path = table(title=lambda d: f"Head {d}")
    code, _, err = run("explore", path, "--text", "title,body", "--title", "title", "--topics", 2, "--out", page)
    assert code == 0, err
    documents = shown_on(page)["documents"]
    assert documents["title"][3] == "Head 3"
    assert documents["text"][3].split()[0] in WORDS[1]
