"""The experiments on TTMM from end to end on a small invented Reuters, and the figures they draw."""

import gzip
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from experiment_runs import run_with_results

from experiments import load_experiment
from experiments.ttmm.reuters import has_label, read_stories

SMALL = {
    "ttmm-figure3": {"seeds": 1, "documents": 90},
    "ttmm-figure4": {"seeds": 1, "themes": 8, "topics": 4, "shares": [0.1, 0.2], "splits": 2, "svm C": [1, 10]},
    "ttmm-unlabelled": {
        "seeds": 1,
        "themes": 6,
        "topics": 4,
        "part": 0.5,
        "labelled": [20, 40],
        "splits": 2,
        "svm C": [1, 10],
    },
    "ttmm-retrieval": {"themes": 8, "topics": 4, "queries": 10},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Stories of four topics with words of their own; some have two labels, some no body, some no label."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("data")
    shared = [f"every{letter}" for letter in "abcdefghijklmnopqrst"]
    words = {name: [f"{name}{letter}" for letter in "abcdefghijklmno"] for name in ("earn", "grain", "crude", "ship")}
    stories = []
    for split, n_stories in (("train", 120), ("test", 60)):
        for number in range(n_stories):
            name = list(words)[number % 4]
            story = {"id": f"{split}{number}", "title": " ".join(rng.choice(words[name], 3)), "split": split}
            text = " ".join([*rng.choice(words[name], 12), *rng.choice(shared, 4)])
            labels = [name, "wheat"] if name == "grain" else [name]
            story |= {"text": "" if number % 30 == 29 else text, "labels": [] if number % 25 == 24 else labels}
            stories.append(story)
    (path / "reuters21578_raw").mkdir()
    lines = "".join(json.dumps(story) + "\n" for story in stories)
    (path / "reuters21578_raw" / "docs.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return path


def small_run(name, folder, out, **changes):
    experiment = load_experiment(name)
    if name == "ttmm-figure3":  # all kinds of rows, few of each
        kept = ("J=1,", "J=50, K=10", "J=10,", "J=900", "start, 1 ", "start, 20 ")
        changes["methods"] = tuple(m for m in experiment.methods if any(part in m.name for part in kept))
    small = replace(experiment, quick={**experiment.quick, **SMALL[name]}, **changes)
    text, results = run_with_results(name, small, data=folder, out=out, quick=True)
    assert results["failures"] == []
    assert str(folder) not in text
    return (
        text,
        {row["method"]: {key: value["mean"] for key, value in row["measures"].items()} for row in results["results"]},
        results,
    )


def is_png(path):
    return path.read_bytes().startswith(b"\x89PNG")


def test_stories_have_a_body_and_the_draw_is_fixed(folder):
    stories = read_stories(folder, "train")
    assert len(stories) == 116
    assert has_label(stories, "GRAIN").sum() == sum("grain" in labels for labels in stories.labels)
    few = read_stories(folder, "train", 40)
    assert few.ids == read_stories(folder, "train", 40).ids
    assert len(few) == 40


def test_figure3_shows_the_plateau_and_leaves_out_what_is_too_large(folder, tmp_path):
    text, found, _ = small_run("ttmm-figure3", folder, tmp_path)
    assert "(ttmm-figure3-quick.png)" in text
    assert is_png(tmp_path / "ttmm-figure3-quick.png")
    assert found["J=900, K=50"] == {}
    plateau = found["J=1, K=1 (unigram), smoothing 5"]["train"]
    assert found["random start, 1 iteration"]["train"] == pytest.approx(plateau, abs=0.01)
    assert found["data start, 1 iteration"]["train"] < plateau - 0.1
    assert found["J=50, K=10"]["validation"] < found["J=1, K=1 (unigram)"]["validation"]


def test_figure4_separates_topics_that_share_no_words(folder, tmp_path):
    _, found, results = small_run("ttmm-figure4", folder, tmp_path)
    assert is_png(tmp_path / "ttmm-figure4-quick.png")
    assert found["majority"]["GRAIN 0.2 F1"] == 0
    for method in ("words tf", "words tf-idf", "PLSA", "TTMM tokens, data start", "TTMM log, data start"):
        assert found[method]["EARN 0.2 accuracy"] > 90, method
    assert all("GRAIN 0.1 F1, sd over splits" in cell["measures"] for cell in results["cells"])


def test_unlabelled_gain_is_the_difference(folder, tmp_path):
    measures = load_experiment("ttmm-unlabelled").measures
    renamed = {key.replace("88", "20").replace("441", "40"): value for key, value in measures.items()}
    _, found, _ = small_run("ttmm-unlabelled", folder, tmp_path, measures=renamed)
    for row in found.values():
        assert len(row) == 12
        assert row["EARN 40 F1 gain"] == pytest.approx(row["EARN 40 F1 all"] - row["EARN 40 F1 part"])
    assert found["TTMM log, data start"]["GRAIN 40 F1 all"] > 80


def test_retrieval_finds_stories_of_the_same_label(folder, tmp_path):
    _, found, _ = small_run("ttmm-retrieval", folder, tmp_path)
    chance = found["any order"]["map"]
    assert 0.15 < chance < 0.35
    for method in ("words tf-idf", "LSI", "PLSA", "TTMM themes", "TTMM tokens"):
        assert found[method]["map"] > 2 * chance, method


def test_without_matplotlib_the_page_says_so(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    text, _, _ = small_run("ttmm-figure3", folder, tmp_path)
    assert "No figure: a plot needs matplotlib" in text
    assert not (tmp_path / "ttmm-figure3-quick.png").exists()
