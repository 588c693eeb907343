"""Two models of one corpus side by side in a report."""

from __future__ import annotations

import numpy as np
import pytest
from report_cases import fitted

from topicfold import build_report
from topicfold.models import MODELS
from topicfold.report.comparison import relations


@pytest.mark.parametrize(
    ("shared", "expected"),
    [
        ([[5, 0], [0, 3]], [("match", [0], [0]), ("match", [1], [1])]),
        ([[4, 4, 0], [0, 0, 6]], [("match", [1], [2]), ("split", [0], [0, 1])]),
        ([[4, 0], [4, 0], [0, 6]], [("match", [2], [1]), ("merge", [0, 1], [0])]),
        ([[3, 3], [3, 3]], [("alone", [0], []), ("alone", [1], []), ("alone", [], [0]), ("alone", [], [1])]),
        ([[5, 0], [0, 0]], [("match", [0], [0]), ("alone", [1], []), ("alone", [], [1])]),
        ([[0]], [("alone", [0], []), ("alone", [], [0])]),
        ([[6, 5], [0, 0]], [("split", [0], [0, 1]), ("alone", [1], [])]),
    ],
)
def test_relations_of_planted_topics(shared, expected):
    assert relations(np.array(shared, float)) == expected


@pytest.mark.parametrize("seed", range(30))
def test_every_topic_has_one_place_that_its_documents_bear_out(seed):
    rng = np.random.default_rng(seed)
    shared = rng.integers(0, 9, rng.integers(1, 6, 2)) * (rng.random() < rng.random(1)) + rng.integers(0, 2, 1)
    shared = np.where(rng.random(shared.shape) < 0.5, shared, 0).astype(float)
    found = relations(shared)
    for side, size in enumerate(shared.shape):
        places = [(kind, topic) for kind, *sides in found for topic in sides[side]]
        assert {topic for _, topic in places} == set(range(size))
        alone = {topic for kind, topic in places if kind == "alone"}
        assert not alone & {topic for kind, topic in places if kind != "alone"}
        # what holds others may also be inside, split or merge
        own = [topic for kind, topic in places if kind != ("holds", "inside")[side]]
        assert len(own) == len(set(own))
    for kind, left, right in found:
        in_left = [[shared[a, b] > shared[:, b].sum() / 2 for b in right] for a in left]
        in_right = [[shared[a, b] > shared[a].sum() / 2 for b in right] for a in left]
        if kind in ("match", "split"):
            assert (len(left), len(right) > 1) == (1, kind == "split")
            assert np.all(in_left)
        if kind in ("match", "merge"):
            assert (len(right), len(left) > 1) == (1, kind == "merge")
            assert np.all(in_right)
        if kind in ("inside", "holds"):
            assert (len(left), len(right), bool(in_right[0][0]), bool(in_left[0][0])) == (
                *(1, 1, kind == "inside", kind == "holds"),
            ) or (in_right[0][0] and in_left[0][0])  # one that would match, had the other not split or merged
        if kind == "alone":
            assert len(left) + len(right) == 1


def test_a_model_beside_itself(any_model, corpus):
    found = build_report(any_model, corpus, compare=any_model, compare_name="again").data["compare"]
    tree = any_model.topic_tree(corpus)
    lowest = tree.ids[tree.level == tree.level.min()].tolist()
    largest = set(np.array(lowest)[tree.doc_topic[:, np.isin(tree.ids, lowest)].argmax(axis=1)].tolist())
    assert (found["model"]["title"], found["model"]["name"]) == ("again", type(any_model).__name__)
    assert [topic["id"] for topic in found["topics"]] == lowest
    matches = {relation["left"][0] for relation in found["relations"] if relation["kind"] == "match"}
    assert matches == largest
    assert all(relation["left"] == relation["right"] for relation in found["relations"] if relation["kind"] == "match")
    assert {relation["kind"] for relation in found["relations"]} <= {"match", "alone"}


@pytest.mark.parametrize("other", ["HLTA", "LDCC", "TTMM", "PLSA"])
def test_links_between_two_models_by_going_through_the_documents(other, model, corpus):
    second = fitted(MODELS[other], corpus, 2)
    left, right = model.topic_tree(corpus), second.topic_tree(corpus)
    found = build_report(model, corpus, compare=second).data["compare"]
    lowest = [row for row in range(len(right)) if right.level[row] == right.level.min()]
    pairs = []
    for d in range(36):
        a = max(range(3), key=lambda row, d=d: left.doc_topic[d, row])
        b = max(lowest, key=lambda row, d=d: right.doc_topic[d, row])
        if right.doc_topic[d, b] > 0:
            pairs.append((a, int(right.ids[b])))
    expected = {}
    for a, b in set(pairs):
        of_left = pairs.count((a, b)) / sum(pair[0] == a for pair in pairs)
        of_right = pairs.count((a, b)) / sum(pair[1] == b for pair in pairs)
        if max(of_left, of_right) >= 0.05:
            expected[a, b] = (round(of_left, 3), round(of_right, 3))
    assert {(a, b): (part, back) for a, b, part, back in found["links"]} == expected
    for topic in found["topics"]:
        assert topic["name"] == right.name(topic["id"])
        assert topic["words"] == right.terms(topic["id"], 20)
