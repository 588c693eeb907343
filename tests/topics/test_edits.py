"""Edits that a reader makes on the page: done to a tree they are what its own methods do, one after the other."""

from __future__ import annotations

import json

import numpy as np
import pytest

from topicfold import HLTA, PLSA, Corpus
from topicfold.topics.edits import read_edits

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


def test_edits_are_done_in_order(tree):
    edits = [{"merge": [2, 0]}, {"rename": 2, "name": "two"}, {"drop": [3]}, {"merge": [2, 1], "name": "all"}]
    expected = tree.merge([2, 0]).rename({2: "two"}).drop([3]).merge([2, 1], "all")
    edited = tree.apply(edits)
    assert edited.ids.tolist() == expected.ids.tolist() == [2]
    assert np.array_equal(edited.doc_topic, expected.doc_topic)
    assert np.array_equal(edited.topic_word, expected.topic_word)
    assert edited.name(2) == "all"
    assert edited.mapping == {0: 2, 1: 2, 2: 2, 3: None}


def test_groups_are_a_level_above_and_the_rest_is_one_group(tree):
    edited = tree.apply([{"group": [0, 1], "name": "first"}, {"merge": [0, 2]}, {"rename": 4, "name": "the rest"}])
    assert edited.level.tolist() == [1, 1, 1, 2, 2]
    assert {edited.name(4), edited.name(5)} == {"the rest", "first"}
    assert edited.children(5) == sorted([0, 1], key=lambda topic: -edited.size_of(topic))
    assert edited.children(4) == [3]
    assert np.allclose(edited.doc_topic[:, edited.row(5)], edited.doc_topic[:, :2].sum(axis=1))
    assert np.allclose(edited.topic_word.sum(axis=1), 1, atol=1e-5)


def test_a_topic_is_in_the_group_it_was_put_in_last_and_a_dropped_group_frees_its_topics(tree):
    edits = [{"group": [0, 1], "name": "a"}, {"group": [1, 2], "name": "b"}]
    edited = tree.apply(edits)
    assert [edited.children(group) for group in (4, 5)] == [[3], [0]]
    assert sorted(edited.children(6)) == [1, 2]
    freed = tree.apply([*edits, {"drop": [6]}])
    assert sorted(freed.children(4)) == [1, 2, 3]
    assert tree.apply([*edits, {"drop": [5, 6]}]).ids.tolist() == tree.ids.tolist()


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
    with pytest.raises(ValueError, match=r"e\.json contains no edits"):
        read_edits(tmp_path / "e.json")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"merge": [0]}, "edit 1: merge.*at least two"),
        ({"merge": [0, 9]}, "edit 1: there is no topic 9"),
        ({"drop": 3}, "edit 1: drop has 3: expected a list of topic ids"),
        ({"drop": [True]}, "expected a list of topic ids"),
        ({"rename": [1], "name": "x"}, "expected the id of a topic"),
        ({"rename": 1}, "rename has the name None"),
        ({"rename": 1, "name": 7}, "expected a string"),
        ({"rename": 1, "merge": [1, 2], "name": ""}, "is not an edit"),
        ({"split": 3}, "is not an edit"),
        ("drop", "is not an edit"),
        ({"group": [0, 7], "name": "g"}, "there is no topic 7"),
    ],
)
def test_bad_edits(tree, edit, message):
    with pytest.raises(ValueError, match=message):
        tree.apply([edit])


def test_a_hierarchy_takes_no_groups(corpus):
    tree = HLTA(2, 2, 3, random_state=0).fit(corpus).topic_tree(corpus)
    with pytest.raises(ValueError, match="edit 1: group needs a tree of one level"):
        tree.apply([{"group": [int(tree.ids[0])], "name": "g"}])
