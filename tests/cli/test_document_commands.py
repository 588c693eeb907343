from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from cli_cases import TEXTS, lines_of, shown_on

from topicfold import Corpus, TopicTree, load


def test_search_and_score(model, texts, run):
    code, out, _ = run("search", model, texts, "moon", "--id", "name", "-n", "3")
    assert code == 0
    assert [line.split()[1:] for line in out.splitlines()] == [["d", "(moon)"], ["e", "(moon)"], ["f"]]
    assert run("search", model, texts, "-", stdin="moon")[0] == 0
    code, _, err = run("search", model, "-", "-", stdin="moon")
    assert (code, "cannot both" in err) == (2, True)
    code, out, _ = run("search", model, texts, "moon", "--id", "name", "--title", "text", "-n", "1")
    assert out.split(maxsplit=2)[2].strip() == "sun moon star  (moon)"
    code, out, _ = run("score", model, texts, "--id", "name")
    assert code == 0
    assert [line.split("  ")[0] for line in out.splitlines()] == ["log-likelihood per token", "perplexity"]


@pytest.mark.parametrize("batch", [1, 4, 100])
def test_assign_streams_to_every_format(model, texts, run, tmp_path, batch):
    expected = load(model).transform(TEXTS)
    code, out, err = run("assign", model, texts, "--id", "name", "--batch", batch)
    assert code == 0, err
    rows = list(csv.reader(out.splitlines()))
    tree = load(model).topic_tree()
    columns = [f"{topic} {tree.name(topic)}" for topic in (0, 1)]
    assert rows[0] == ["id", "topic", "name", "probability", *columns]
    assert [row[0] for row in rows[1:]] == list("abcdef")
    assert [int(row[1]) for row in rows[1:]] == expected.argmax(axis=1).tolist()
    assert [row[2] for row in rows[1:]] == [tree.name(int(topic)) for topic in expected.argmax(axis=1)]
    assert np.allclose(np.array([row[3] for row in rows[1:]], float), expected.max(axis=1), atol=1e-5)
    assert np.allclose(np.array([row[4:] for row in rows[1:]], float), expected, atol=1e-5)
    run("assign", model, texts, "--batch", batch, "--out", tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == list("abcdef")  # the id column of the fit
    assert [line["topic"] for line in lines] == expected.argmax(axis=1).tolist()
    assert np.allclose([list(line["topics"].values()) for line in lines], expected, atol=1e-5)
    assert list(lines[0]["topics"]) == columns
    parquet = pytest.importorskip("pyarrow.parquet")
    run("assign", model, texts, "--batch", batch, "--out", tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet")
    assert np.allclose(table.column(columns[1]).to_numpy(), expected[:, 1], atol=1e-6)
    assert table.column("topic").to_pylist() == expected.argmax(axis=1).tolist()


def test_assign_reads_stdin_and_counts(model, run, tmp_path):
    code, out, _ = run("assign", model, "-", stdin='{"text": "cat"}\n{"text": null}\n{"text": "xyzzy"}\n')
    assert code == 0
    _, cat, *wordless = csv.reader(out.splitlines())
    assert int(cat[1]) in (0, 1)
    assert [row[1:4] for row in wordless] == [["-1", "", "0"]] * 2  # the shares that follow are those of the corpus
    assert np.array([row[4:] for row in wordless], float).sum(axis=1) == pytest.approx([1, 1], abs=1e-5)
    Corpus.from_texts(TEXTS).save(tmp_path / "c.safetensors")
    assert run("assign", model, tmp_path / "c.safetensors")[0] == 0


def test_assign_never_overwrites_its_input_nor_leaves_half_a_file(model, run, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "cat"}\n' * 3 + "oops\n")
    before = path.read_text()
    code, _, err = run("assign", model, path, "--out", path)
    assert (code, path.read_text()) == (2, before)
    assert "is also the input" in err
    (tmp_path / "out.csv").write_text("old")
    assert run("assign", model, path, "--out", tmp_path / "out.csv", "--batch", "1")[0] == 2
    assert (tmp_path / "out.csv").read_text() == "old"
    (tmp_path / "empty.jsonl").touch()
    assert run("assign", model, tmp_path / "empty.jsonl", "--out", tmp_path / "out.csv")[0] == 0
    assert (tmp_path / "out.csv").read_text().startswith('id,topic,name,probability,"0 ')
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1


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
    rows = list(csv.reader(run("assign", out, path, "--id", "id", "--segments", "paragraphs")[1].splitlines()))
    assert [row[0] for row in rows[1:5]] == ["d0/1", "d0/2", "d0/3", "d1/1"]
    shares = np.array([row[4:] for row in rows[1:]], float)
    code, out, _ = run("score", out, path, "--id", "id", "--segments", "paragraphs")
    assert (code, "log-likelihood per token" in out) == (0, True)
    assert (shares.max(axis=1) > 0.9).mean() > 0.9  # a paragraph is about one thing


def test_segments_where_there_are_none(model, texts, run, tmp_path):
    code, _, err = run("assign", model, texts, "--segments", "paragraphs")
    assert (code, "only LDCC assigns segments" in err) == (2, True)
    Corpus.from_texts(TEXTS).save(tmp_path / "c.safetensors")
    code, _, err = run("fit", tmp_path / "c.safetensors", "--segments", "5", "--out", tmp_path / "x.safetensors")
    assert (code, "leave out segments" in err) == (2, True)


def test_a_hierarchy_is_scored_per_document(run, tmp_path, texts):
    out = tmp_path / "h.safetensors"
    assert run("fit", texts, "--id", "name", "--model", "hlta", "--out", out)[0] == 0
    code, printed, _ = run("score", out, texts, "--id", "name")
    assert code == 0
    assert printed.startswith("log-likelihood per document  -")
    assert "perplexity" not in printed


def test_a_changed_tree_is_shown_explored_and_assigned(model, texts, run, tmp_path):
    names, tree = tmp_path / "names.json", tmp_path / "t.safetensors"
    names.write_text('{"0": "all"}')
    code, out, err = run("tree", model, "--merge", "0,1", "--edits", names, "--out", tree)
    assert code == 0, err
    assert "[all]" in out
    assert run("show", tree)[1] == out
    assert TopicTree.load(tree).mapping == {0: 0, 1: 0}
    code, out, _ = run("assign", model, texts, "--id", "name", "--tree", tree)
    assert out.splitlines()[0] == "id,topic,name,probability,0 all"
    assert all(line.split(",")[1:] == ["0", "all", "1", "1"] for line in out.splitlines()[1:])
    page = tmp_path / "p.html"
    assert run("explore", model, texts, "--id", "name", "--tree", tree, "--out", page)[0] == 0
    assert [topic["name"] for topic in shown_on(page)["topics"]] == ["all"]
    code, _, err = run("assign", model, texts, "--tree", model)
    assert (code, "contains a model: expected a tree" in err) == (2, True)


def test_topics_are_reduced_and_grouped_on_the_command_line(run, tmp_path):
    words = [f"word{number}" for number in range(30)]
    rng = np.random.default_rng(0)
    lines = lines_of([" ".join(rng.choice(words[5 * (d % 6) : 5 * (d % 6) + 5], 12)) for d in range(60)])
    (tmp_path / "t.jsonl").write_text(lines)
    assert run("fit", tmp_path / "t.jsonl", "-p", "n_topics=6", "--out", tmp_path / "m")[0] == 0
    code, out, err = run("tree", tmp_path / "m", "--reduce", "5", "--group", "2", "--out", tmp_path / "t.safetensors")
    assert code == 0, err
    assert out.startswith("7 topics of 60 documents")
    rows = run("assign", tmp_path / "m", tmp_path / "t.jsonl", "--tree", tmp_path / "t.safetensors")[1].splitlines()
    assert len(next(csv.reader(rows))) == 4 + 5
