"""Two models of one corpus side by side: which topics match, which split, which have no counterpart."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..topics.tree import TopicTree
from .document_table import shortened
from .sample import largest_topics

__all__ = ["comparison", "relations"]

_LINK = 0.05  # share of a topic's documents below which a link is not drawn
_MOST = 0.5  # share of its documents above which a topic counts as inside the other
_SHOWN_WORDS = 20  # the page shows which of them both topics have


def comparison(left: TopicTree, right: TopicTree) -> dict[str, Any]:
    """The topics of the lowest level of two trees, and how the documents of each are spread over those of the other."""
    rows = [np.flatnonzero(tree.at_lowest_level) for tree in (left, right)]
    shared = shared_documents(left, right)
    of_left, of_right = _parts(shared)
    links = [
        [
            int(left.ids[rows[0][a]]),
            int(right.ids[rows[1][b]]),
            round(float(of_left[a, b]), 3),
            round(float(of_right[a, b]), 3),
        ]
        for a, b in np.argwhere((of_left >= _LINK) | (of_right >= _LINK))
    ]
    kinds = relations(shared)
    return {
        "topics": [
            {
                "id": int(right.ids[row]),
                "name": shortened(right.name(int(right.ids[row]))),
                "words": [shortened(term) for term in right.terms(int(right.ids[row]), _SHOWN_WORDS)],
            }
            for row in rows[1]
        ],
        "links": links,
        "relations": [
            {
                "kind": kind,
                "left": [int(left.ids[rows[0][a]]) for a in some_left],
                "right": [int(right.ids[rows[1][b]]) for b in some_right],
            }
            for kind, some_left, some_right in kinds
        ],
    }


def shared_documents(left: TopicTree, right: TopicTree) -> np.ndarray:
    """S[a, b]: documents whose largest topic of the lowest level is the a-th in one model and the b-th in the other.

    Documents without a topic are left out.
    """
    rows = [np.flatnonzero(tree.at_lowest_level) for tree in (left, right)]
    main = [largest_topics(tree) for tree in (left, right)]
    in_both = (main[0] >= 0) & (main[1] >= 0)
    places = [np.searchsorted(lowest, topics[in_both]) for lowest, topics in zip(rows, main)]
    shape = len(rows[0]), len(rows[1])
    return np.bincount(places[0] * shape[1] + places[1], minlength=shape[0] * shape[1]).reshape(shape).astype(float)


def relations(shared: np.ndarray) -> list[tuple[str, list[int], list[int]]]:
    """(kind, topics on the left, topics on the right), the largest of each kind first.

    Two topics match if more than half of the documents of each are in the other. A topic splits if it has more than
    half of the documents of each of two or more topics of the other model; in the other direction, topics merge. If
    more than half of the documents of a remaining topic are in another one, it is 'inside' that topic; for a remaining
    topic on the right, the kind is 'holds'. All others are 'alone'.

    >>> relations(np.array([[4, 0, 0], [0, 2, 2], [0, 0, 0]]))
    [('match', [0], [0]), ('split', [1], [1, 2]), ('alone', [2], [])]
    """
    of_left, of_right = _parts(shared)
    inside_left, inside_right = of_right > _MOST, of_left > _MOST  # most of b's documents are in a; most of a's in b
    largest_left, largest_right = (np.argsort(-shared.sum(axis=side), kind="stable").tolist() for side in (1, 0))
    kinds: list[tuple[str, list[int], list[int]]] = []
    done_left: set[int] = set()
    done_right: set[int] = set()

    def add(kind: str, left: list[int], right: list[int]) -> None:
        kinds.append((kind, left, right))
        done_left.update(left)
        done_right.update(right)

    for a in largest_left:
        pieces = np.flatnonzero(inside_left[a]).tolist()
        if len(pieces) > 1:
            add("split", [a], pieces)
    for b in largest_right:
        pieces = [a for a in np.flatnonzero(inside_right[:, b]).tolist() if a not in done_left]
        if len(pieces) > 1 and b not in done_right:
            add("merge", pieces, [b])
    both = np.argwhere(inside_left & inside_right)
    for a, b in both[np.argsort(-shared[tuple(both.T)], kind="stable")].tolist():
        if a not in done_left and b not in done_right:
            add("match", [a], [b])
    one_sided = [("inside", [a], np.flatnonzero(inside_right[a]).tolist()) for a in largest_left if a not in done_left]
    one_sided += [
        ("holds", np.flatnonzero(inside_left[:, b]).tolist(), [b]) for b in largest_right if b not in done_right
    ]
    for kind, left, right in one_sided:
        if left and right:
            add(kind, left, right)
    kinds += [("alone", [a], []) for a in largest_left if a not in done_left]
    kinds += [("alone", [], [b]) for b in largest_right if b not in done_right]
    order = ("match", "split", "merge", "inside", "holds", "alone")
    return sorted(kinds, key=lambda kind: order.index(kind[0]))


def _parts(shared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share of a's documents that are in b, and the share of b's documents that are in a."""
    return (
        shared / np.maximum(shared.sum(axis=1, keepdims=True), 1),
        shared / np.maximum(shared.sum(axis=0, keepdims=True), 1),
    )
