"""`topicfold explore FILE`, without a model."""

from __future__ import annotations

import csv
import shlex
import webbrowser

import numpy as np
import pytest
from cli_cases import shown_on

from topicfold import LDA, Corpus, load

WORDS = [["cat", "dog", "cow", "horse", "paw", "fur"], ["sun", "moon", "star", "comet", "orbit", "sky"]]


@pytest.fixture
def reviews(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "my reviews.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["review_id", "headline", "body", "stars", "category", "date"])
        for d in range(60):
            text = " ".join(rng.choice(WORDS[d % 2], 12))
            writer.writerow([f"r{d}", f"Head {d}", text, 1 + d % 5, ["pets", "sky"][d % 2], f"2020-0{1 + d % 6}-01"])
    return path


def test_a_table_alone(run, reviews, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = run("explore", reviews, "--topics", 2, "--out", page, "--no-open")
    assert (code, out) == (0, ""), err
    assert "guessed columns, text: body" in err
    assert "labels: category (2 values)" in err
    data = shown_on(page)
    assert data["name"] == "my reviews"
    assert len(data["topics"]) == 2
    assert data["documents"]["title"][3] == "Head 3"
    assert data["documents"]["id"][3] == "r3"
    assert sorted(data["labels"]) == ["pets", "sky"]
    assert data["metadata"] == [{"name": "stars", "kind": "number"}]
    assert data["time"] is not None
    # the command it prints fits the same model
    words = printed_command(err)
    assert words[:3] == ["topicfold", "fit", str(reviews)]
    assert "--text body --id review_id --title headline --labels category --timestamp date --metadata stars" in (
        " ".join(words)
    )
    fitted_again(run, words, data, tmp_path)


def printed_command(err):
    (line,) = [line for line in err.splitlines() if line.startswith("To keep the model: ")]
    return shlex.split(line.removeprefix("To keep the model: "))


def fitted_again(run, words, data, tmp_path):
    """Run the printed command: its model has the topics of the page."""
    model = tmp_path / "kept.safetensors"
    code, _, err = run(*words[1:-1], model)
    assert code == 0, err
    kept = load(model)
    assert isinstance(kept, LDA)
    assert sorted(kept.vocabulary_) == sorted(data["words"])
    assert sorted(np.round(kept.doc_topic_.mean(axis=0), 3)) == pytest.approx(
        sorted(topic["size"] for topic in data["topics"]), abs=2e-3
    )


def test_the_printed_command_reads_the_file_in_the_same_way(run, reviews, tmp_path):
    names, *rows = reviews.read_text(encoding="utf-8").replace("Head", "Höhe").replace(",", ";").splitlines()
    file = tmp_path / "reviews.data"
    file.write_text("\n".join([f"{names};see", *(f"{row};r0|r1" for row in rows)]), encoding="latin-1")
    how = ["--format", "csv", "--encoding", "latin-1", "--replace-errors", "--limit", "line=9999"]
    page = tmp_path / "page.html"
    code, _, err = run("explore", file, *how, "--links", "see", "--separator", "|", "--topics", 2, "--out", page)
    assert code == 0, err
    words = printed_command(err)
    for option in ("--replace-errors", "--limit line=9999", "--links see", "--separator |", "--model lda"):
        assert option in " ".join(words)
    fitted_again(run, words, shown_on(page), tmp_path)


def test_options_win_over_guesses(run, reviews, tmp_path):
    page = tmp_path / "page.html"
    words = ("--text", "category", "--title", "body", "--metadata", "stars")
    code, _, err = run("explore", reviews, *words, "--topics", 1, "--out", page, "--no-open")
    assert code == 0, err
    assert "text: " not in err
    data = shown_on(page)
    assert data["documents"]["text"][3] == "sky"
    assert data["documents"]["title"][0].split()[0] in WORDS[0]


def test_the_browser_is_opened_where_it_is_asked_for(run, reviews, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    page = tmp_path / "page.html"
    assert run("explore", reviews, "--topics", 1, "--out", page)[0] == 0  # no terminal here
    assert opened == []
    assert run("explore", reviews, "--topics", 1, "--out", page, "--open")[0] == 0
    assert opened == [page.as_uri()]


def test_a_folder_and_a_saved_corpus(run, reviews, tmp_path):
    page, folder = tmp_path / "page.html", tmp_path / "texts"
    folder.mkdir()
    for d in range(6):
        (folder / f"{d}.txt").write_text(" ".join(WORDS[d % 2]))
    assert run("explore", folder, "--topics", 2, "--out", page)[0] == 0
    assert len(shown_on(page)["documents"]["id"]) == 6
    Corpus.from_texts([" ".join(words) for words in WORDS] * 3).save(tmp_path / "c.safetensors")
    assert run("explore", tmp_path / "c.safetensors", "--topics", 2, "--out", page)[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("{model}",), "is a model, not documents: give MODEL and INPUT"),
        (("{reviews}", "--edits", "{reviews}"), "--edits needs a saved model"),
        (("a", "b", "c"), "3 files: expected INPUT, or MODEL and INPUT"),
        (("{missing}",), "no such file"),
        (("{numbers}",), "no text column found among a, b"),
    ],
)
def test_bad_input(run, model, reviews, tmp_path, words, message):
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("a,b\n1,2\n3,4\n")
    places = {"model": model, "reviews": reviews, "missing": tmp_path / "none.csv", "numbers": numbers}
    code, _, err = run("explore", *(word.format(**places) for word in words), "--out", tmp_path / "x.html")
    assert code == 2
    assert message in err
    assert not (tmp_path / "x.html").exists()
