from __future__ import annotations

import json

import numpy as np
import pytest

from topicfold import load

pytestmark = pytest.mark.filterwarnings("default:.* texts are empty:UserWarning")


def test_show(model, run):
    assert run("show", model)[1].startswith("2 topics of 6 documents")
    assert len(json.loads(run("show", model, "--json")[1])["topics"]) == 2
    code, out, _ = run("show", model, "--topic", "1", "--documents", "2")
    assert code == 0
    words, documents = out.strip().split("\n\n")
    assert len(words.splitlines()) == 3
    assert len(documents.splitlines()) == 2


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


def test_show_repeat_is_for_hierarchies(model, run):
    code, _, err = run("show", model, "--repeat")
    assert (code, "LDA does not leave out words" in err) == (2, True)
