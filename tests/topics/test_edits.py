"""Edits that a reader makes on the page, done to a tree: by the cases that the page's scripts are tested with, too."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from topicfold import PLSA, Corpus, InputError, TopicTree
from topicfold.topics.edits import read_edits

CASES = json.loads(Path(__file__).with_name("edit_cases.json").read_text(encoding="utf-8"))

THEMES = ["cat dog paw fur", "sun moon star comet", "bread cheese soup spoon", "oak pine birch fir"]


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    return Corpus.from_texts([" ".join(rng.choice(THEMES[d % 4].split(), 12)) for d in range(40)])


@pytest.fixture(scope="module")
def model(corpus):
    return PLSA(4, random_state=0).fit(corpus)


@pytest.fixture(scope="module")
def tree(model, corpus):
    return model.topic_tree(corpus)


def tree_of(name):
    """A tree of the cases."""
    described = CASES["trees"][name]
    topics, parts = described["topics"], described.get("parts")
    doc_topic = np.array(described["documents"]) / 100
    n_words = len(described["vocabulary"])
    return TopicTree(
        ids=np.array([topic["id"] for topic in topics]),
        parent=np.array([topic["parent"] for topic in topics]),
        level=np.array([topic["level"] for topic in topics]),
        size=doc_topic.mean(axis=0),
        topic_word=np.array([topic["words"] for topic in topics]) / 100,
        doc_topic=doc_topic,
        word_frequency=np.full(n_words, 1 / n_words),
        vocabulary=tuple(described["vocabulary"]),
        document_ids=[f"d{d}" for d in range(len(doc_topic))],
        exclusive=described["exclusive"],
        edges=None if parts is None else tuple(np.array(column) for column in zip(*parts, strict=True)),
        names={topic["id"]: topic["name"] for topic in topics if topic["name"]},
        mapping={topic["id"]: topic["id"] for topic in topics},
    )


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["title"])
def test_edits(case):
    tree = tree_of(case["tree"])
    edited, expected = tree.apply(case["edits"]), case["topics"]
    for name, values in {"id": edited.ids, "parent": edited.parent, "level": edited.level}.items():
        assert values.tolist() == [topic[name] for topic in expected]
    assert edited.names == {topic["id"]: topic["name"] for topic in expected if topic["name"]}
    for row, topic in enumerate(expected):
        words = np.array(topic["words"]) / 100 if "words" in topic else tree.topic_word[tree.row(topic["id"])]
        assert edited.topic_word[row] == pytest.approx(words, abs=1e-5)
        parts = [] if edited.edges is None else edited.parts(topic["id"])
        assert parts == [(part, pytest.approx(weight, abs=1e-5)) for part, weight in topic.get("parts", [])]
    assert edited.doc_topic == pytest.approx(np.array(case["documents"]) / 100)
    assert edited.size == pytest.approx(edited.doc_topic.mean(axis=0))
    gone = {str(topic): successor for topic, successor in edited.mapping.items() if topic != successor}
    assert gone == case["gone"]


@pytest.mark.parametrize("case", CASES["errors"], ids=lambda case: json.dumps(case["edits"]))
def test_bad_edits(case):
    with pytest.raises(InputError, match=re.escape(case["error"])):
        tree_of(case["tree"]).apply(case["edits"])


def test_new_documents_are_assigned_to_edited_topics(model, tree):
    edited = tree.apply([{"merge": [0, 1]}, {"group": [0, 2], "name": "pair"}])
    fresh = model.topic_tree(Corpus.from_texts(["cat dog", "sun moon", "bread soup", "oak fir"]))
    shares = edited.memberships_of(fresh)
    original = fresh.doc_topic
    assert np.allclose(shares[:, edited.row(0)], original[:, 0] + original[:, 1])
    assert np.allclose(shares[:, edited.row(5)], original[:, :3].sum(axis=1))


def test_files_of_edits_and_of_names(tree, tmp_path):
    path = tmp_path / "edits.json"
    edits = [{"merge": [0, 1], "name": "both"}, {"drop": [2]}]
    path.write_text(json.dumps({"format": "topicfold edits 1", "edits": edits}))
    assert read_edits(path) == edits
    assert tree.apply(path).name(0) == tree.apply(str(path)).name(0) == "both"
    path.write_text('{"1": "first", "3": "third"}')
    assert tree.apply(path).names == {1: "first", 3: "third"}


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "nonsense",
        '{"format": "topicfold edits 9", "edits": []}',
        '{"a": "b"}',
        '{"-1": "a"}',
        '{"1": 2}',
        "[" * 10_000,
    ],
)
def test_files_that_hold_no_edits(content, tmp_path):
    (tmp_path / "e.json").write_text(content)
    with pytest.raises(ValueError, match=r"e\.json (contains no edits|is not JSON)"):
        read_edits(tmp_path / "e.json")
