"""`topicfold explore FILE`, without a model."""

from __future__ import annotations

import csv
import json
import os
import shlex
import threading
import webbrowser

import numpy as np
import pytest
from cli_cases import shown_on

from topicfold import LDA, LTM, Corpus, load
from topicfold.models.em import number_of_topics

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
    assert "guessed columns, text: headline, body (12 words on average)" in err
    assert "labels: category (2 values)" in err
    data = shown_on(page)
    assert data["name"] == "my reviews"
    assert len(data["topics"]) == 2
    assert data["documents"]["title"][3] == "Head 3"
    assert "Head" not in data["documents"]["text"][3]  # the title is above it
    assert data["documents"]["id"][3] == "r3"
    assert sorted(data["labels"]) == ["pets", "sky"]
    assert data["metadata"] == [{"name": "stars", "kind": "number"}]
    assert data["time"] is not None
    # the command it prints fits the same model
    words = printed_command(err)
    assert words[:3] == ["topicfold", "fit", str(reviews)]
    assert (
        "--text headline,body --id review_id --title headline --labels category --timestamp date --metadata stars"
        in (" ".join(words))
    )
    fitted_again(run, words, data, tmp_path)


def printed_command(err):
    (line,) = [line for line in err.splitlines() if line.startswith("To keep the model: ")]
    return shlex.split(line.removeprefix("To keep the model: "))


def test_without_a_number_of_topics_one_is_chosen(run, reviews, tmp_path, monkeypatch):
    monkeypatch.setattr(number_of_topics, "_best_balanced", lambda sample, fold_of, sizes, most, n_jobs, verbose: 3)
    page = tmp_path / "page.html"
    code, _, err = run("explore", reviews, "--out", page)
    assert code == 0, err
    assert len(shown_on(page)["topics"]) == 3
    assert printed_command(err)[-4:-2] == ["--topics", "3"]
    assert "3 topics were chosen (--topics sets their number)" in err
    (line,) = [line for line in err.splitlines() if line.startswith("To compare numbers of topics: ")]
    command = shlex.split(line.partition(": ")[2])
    assert command[:3] == ["topicfold", "select", str(reviews)]
    assert command[command.index("--text") + 1] == "headline,body"
    assert "--topics" not in command


def fitted_again(run, words, data, tmp_path):
    """Run the printed command: its model has the topics of the page."""
    model = tmp_path / "kept.safetensors"
    code, _, err = run(*words[1:-1], model)
    assert code == 0, err
    kept = load(model)
    assert isinstance(kept, LTM if "ltm" in words else LDA)
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


@pytest.fixture
def table(tmp_path):
    """A function that writes rows of a table: texts about two subjects, and other columns by name."""

    def write(name="table.jsonl", n=60, **columns):
        rng = np.random.default_rng(0)
        path = tmp_path / name
        rows = [
            {
                "body": "the " + " ".join(rng.choice(WORDS[d % 2], 12)),
                **{key: value(d) for key, value in columns.items()},
            }
            for d in range(n)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("id", lambda d: f"r{min(d, 598)}", "id ('r598' occurs more than once)"),
        ("id", lambda d: f"r{d}" if d < 550 else None, "id (a value is missing)"),
        (
            "date",
            lambda d: "2001-02-03" if d < 250 else None if d < 300 else "n/a",
            "date (250 of 550 values are dates: 'n/a' (row 301) is none)",
        ),
        ("kind", lambda d: d % 2 if d < 550 else [1], "kind (a value is not single)"),
    ],
)
def test_a_guess_that_fails_further_down_is_left_out(run, table, tmp_path, column, value, said):
    code, _, err = run("explore", table(n=600, **{column: value}), "--topics", 2, "--out", tmp_path / "page.html")
    assert code == 0, err
    assert f"columns that are not used: {said}" in err
    assert column not in printed_command(err)
    fitted_again(run, printed_command(err), shown_on(tmp_path / "page.html"), tmp_path)


def test_dates_lists_of_labels_and_an_index_column(run, table, tmp_path):
    path = table(
        **{"": lambda d: d, "tags": lambda d: ["a", "b"][: 1 + d % 2], "When it was": lambda d: "x"},
        reviewTime=lambda d: f"{1 + d % 28}/01/2020 10:30",
        summary=lambda d: f"Head {d}",
        author=lambda d: f"Writer {d}",
    )
    page = tmp_path / "page.html"
    code, _, err = run("explore", path, "--topics", 2, "--out", page)
    assert code == 0, err
    assert "timestamp: reviewTime (dates)" in err
    assert "labels: tags (2 values)" in err
    assert "columns that are not used: When it was (all values are the same), author (60 different values)" in err
    data = shown_on(page)
    assert data["documents"]["title"][3] == "Head 3"
    assert data["labels"] == ["a", "b"]
    assert data["time"] is not None
    fitted_again(run, printed_command(err), data, tmp_path)


def test_the_language_of_stop_words_is_guessed(run, tmp_path):
    path = tmp_path / "umfrage.csv"
    texts = [f"das ist nicht die {word} und wir haben es auch" for word in WORDS[0] + WORDS[1]] * 4
    path.write_text("Antwort\n" + "\n".join(texts), encoding="utf-8")
    page = tmp_path / "page.html"
    code, _, err = run("explore", path, "--topics", 2, "--out", page)
    assert code == 0, err
    assert "without stop words (german)" in err
    assert set(shown_on(page)["words"]) == {*WORDS[0], *WORDS[1]}
    assert "--stop-words" not in printed_command(err)  # fit finds the same
    fitted_again(run, printed_command(err), shown_on(page), tmp_path)
    code, _, err = run("explore", path, "--topics", 2, "--stop-words", "none", "--out", page)
    assert "with all stop words" in err
    fitted_again(run, printed_command(err), shown_on(page), tmp_path)


def test_a_tokenizer_is_part_of_the_command_to_keep_the_model(run, tmp_path):
    path, page = tmp_path / "zh.csv", tmp_path / "page.html"
    path.write_text("text\n" + "\n".join(["北京 大学", "上海 大学", "股票 市场", "市场 股票"] * 10), encoding="utf-8")
    code, _, err = run("explore", path, "--topics", 2, "--tokenizer", "characters", "--out", page)
    assert code == 0, err
    assert "--tokenizer characters" in " ".join(printed_command(err))
    fitted_again(run, printed_command(err), shown_on(page), tmp_path)


def test_few_documents_and_several_files(run, table, tmp_path):
    table("part1.jsonl", n=6)
    table("part2.jsonl", n=7)
    page = tmp_path / "page.html"
    code, _, err = run("explore", tmp_path / "part*.jsonl", "--out", page)
    assert code == 0, err
    assert len(shown_on(page)["topics"]) == 2  # not the 20 that nobody asked for
    assert shown_on(page)["corpus"]["documents"] == 13


def test_an_id_column_that_is_none_and_a_formula(run, table, tmp_path):
    path = table(id=lambda d: d % 7, category=lambda d: "ab"[d % 2], date=lambda d: f"2020-01-{1 + d % 28:02d}")
    page = tmp_path / "page.html"
    code, _, err = run("explore", path, "--topics", 2, "--effects", "~ category + date", "--out", page)
    assert code == 0, err
    data = shown_on(page)
    assert data["documents"]["id"][:3] == ["0", "1", "2"]  # numbers: the column id has values twice
    assert sorted(data["labels"]) == ["a", "b"]
    assert data["effects"] is not None
    fitted_again(run, printed_command(err), data, tmp_path)
    code, _, err = run("explore", path, "--topics", 2, "--metadata", "id, category", "--out", page)
    assert code == 0, err
    assert [column["name"] for column in shown_on(page)["metadata"]] == ["id", "category"]


def test_odd_names_of_files(run, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table("-dash.jsonl")
    code, _, err = run("explore", "--topics", 2, "--out", "page.html", "--", "-dash.jsonl")
    assert code == 0, err
    assert printed_command(err)[2:4] == ["./-dash.jsonl", "--text"]
    assert printed_command(err)[-1] == "dash.safetensors"
    code, _, err = run("explore", "./*dash.json?", "--topics", 2, "--out", "page.html")
    assert printed_command(err)[-1] == "dash.json.safetensors"  # the pattern is no ending that is known


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read_once_without_a_guess(run, table, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = table().read_bytes()
    writer = threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True)
    writer.start()
    code, _, err = run(
        "explore", pipe, "--format", "jsonl", "--text", "body", "--topics", 2, "--out", tmp_path / "x.html"
    )
    writer.join()
    assert code == 0, err
    assert "guessed" not in err


def test_a_guess_can_be_switched_off(run, reviews, tmp_path):
    page = tmp_path / "page.html"
    off = ("--id", "", "--metadata", "", "--labels", "stars")
    code, _, err = run("explore", reviews, *off, "--topics", 2, "--out", page)
    assert code == 0, err
    assert "id:" not in err
    assert "metadata" not in err
    data = shown_on(page)
    assert data["documents"]["id"][0] == "0"
    assert data["metadata"] == []
    assert sorted(data["labels"]) == list("12345")


def test_a_model_remembers_its_columns(run, reviews, tmp_path):
    model, page = tmp_path / "m.safetensors", tmp_path / "page.html"
    assert run("fit", reviews, "--text", "body", "--title", "headline", "--topics", 2, "--out", model)[0] == 0
    code, _, err = run("explore", model, reviews, "--out", page)
    assert code == 0, err
    assert "guessed" not in err  # the model remembers its columns
    assert shown_on(page)["documents"]["title"][3] == "Head 3"
    code, _, err = run("explore", reviews, model, "--out", page)
    assert (code, "MODEL comes first" in err) == (2, True)
    code, _, err = run("explore", model, reviews, "--stop-words", "none", "--out", page)
    assert (code, "--stop-words is for a new fit" in err) == (2, True)
    code, _, err = run("explore", model, reviews, "--tokenizer", "characters", "--out", page)
    assert (code, "--tokenizer is for a new fit" in err) == (2, True)


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
