"""`topicfold tasks` and `topicfold agreement`."""

from __future__ import annotations

import csv
import json

import pytest

from topicfold import JudgementTasks

WORDS = ["ant bee cat dog eel fox", "sun moon star sky orbit comet"]


@pytest.fixture
def made(run, tmp_path):
    """Tasks on two topics: (folder, what was said)."""
    texts = tmp_path / "texts.csv"
    texts.write_text("text\n" + "\n".join(WORDS * 6) + "\n")
    assert run("fit", texts, "-p", "n_topics=2", "--out", tmp_path / "m.safetensors")[0] == 0
    code, out, err = run("tasks", tmp_path / "m.safetensors", texts, "--out", tmp_path / "t.html", "--seed", 3)
    assert (code, out) == (0, "")
    return tmp_path, err


def test_a_page_a_table_and_a_key_are_written_and_answers_read(run, made):
    folder, err = made
    assert f"4 tasks on 2 topics are in {folder / 't.html'} and {folder / 't.csv'}; keep {folder / 't.key.json'}" in err
    assert "texts: judge the topics" in (folder / "t.html").read_text()
    key = JudgementTasks.load_key(folder / "t.key.json")
    rows = list(csv.DictReader((folder / "t.csv").read_text().splitlines()))
    for name in ("ann", "bob"):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            table = csv.DictWriter(file, rows[0].keys())
            table.writeheader()
            for row, task in zip(rows, key.tasks):
                table.writerow({**row, "rater": name, "answer": task.intruder or 3})
    code, out, err = run("agreement", folder / "t.key.json", folder / "ann.csv", folder / "bob.csv")
    assert (code, err) == (0, "")
    assert "intruders found (chance 17 %): 100 %" in out
    assert "agreement between people (alpha): 1.00" in out
    code, out, _ = run("agreement", folder / "t.key.json", folder / "ann.csv", "--json")
    assert json.loads(out)["raters"] == ["ann"]


def test_one_kind_a_sample_and_a_changed_tree(run, made, tmp_path):
    folder, _ = made
    model, texts = folder / "m.safetensors", folder / "texts.csv"
    names = tmp_path / "names.json"
    names.write_text('{"0": "first", "1": "second"}')
    assert run("tree", model, "--edits", names, "--out", tmp_path / "tree.safetensors")[0] == 0
    options = ["--kind", "rating", "--sample", 1, "--tree", tmp_path / "tree.safetensors", "--out", tmp_path / "r.html"]
    code, _, err = run("tasks", model, texts, *options)
    assert code == 0, err
    key = JudgementTasks.load_key(tmp_path / "r.key.json")
    assert [task.kind for task in key.tasks] == ["rating"]
    assert set(key.names.values()) <= {"first", "second"}


def test_errors_are_one_line(run, made):
    folder, _ = made
    model, texts, key = folder / "m.safetensors", folder / "texts.csv", folder / "t.key.json"
    (folder / "none.csv").write_text("tasks,rater,task,answer\n")
    for words, said in (
        (["tasks", model, texts, "--out", folder / "t.pdf"], "expected the name of a page"),
        (["tasks", model, texts, "--out", folder / "t.html", "--kind", "guess"], "kinds='guess'"),
        (["tasks", model, texts, "--out", folder / "texts.html"], "is also an input or another output"),
        (["tasks", model, texts, "--out", folder / "no" / "t.html"], "no"),
        (["agreement", model, folder / "none.csv"], "is not UTF-8"),
        (["agreement", key, folder / "none.csv"], "none.csv contains no answers"),
        (["agreement", key, folder / "gone.csv"], "gone.csv"),
        (["agreement", key], "Missing argument"),
    ):
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        assert said in err
        assert len([line for line in err.splitlines() if not line.startswith("Try:")]) == 1, err
