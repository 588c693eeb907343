"""Two models of one corpus side by side: which topics match, which split, which have no counterpart."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..topics import TopicTree

__all__ = ["comparison", "relations"]

_LINK = 0.05  # part of a topic's documents below which a link is not drawn
_MOST = 0.5  # part that makes a topic the other's
_SHOWN_WORDS = 10


def comparison(left: TopicTree, right: TopicTree) -> dict[str, Any]:
    """The lowest topics of two trees, and how the documents of each are shared out among those of the other."""
    rows = [np.flatnonzero(tree.level == tree.level.min()) for tree in (left, right)]
    shared = shared_documents(left.doc_topic[:, rows[0]], right.doc_topic[:, rows[1]])
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
                "name": right.name(int(right.ids[row])),
                "size": float(f"{right.size[row]:.4g}"),
                "words": [word.word for word in right.words(int(right.ids[row]), _SHOWN_WORDS)],
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


def shared_documents(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """S[a, b]: documents whose largest topic is a in the one model and b in the other; without any topic, none.

    >>> shared_documents(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[1.0, 0.0], [0.7, 0.3]])).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    some = (left.max(axis=1) > 0) & (right.max(axis=1) > 0)
    shared = np.zeros((left.shape[1], right.shape[1]))
    np.add.at(shared, (left[some].argmax(axis=1), right[some].argmax(axis=1)), 1)
    return shared


def relations(shared: np.ndarray) -> list[tuple[str, list[int], list[int]]]:
    """(kind, topics on the left, topics on the right), of each kind the largest first.

    Two topics match where more than half of the documents of each are in the other. A topic splits where more than half
    of the documents of two or more of the other model's are in it; the other way round topics merge. What is left of
    either side has no counterpart.

    >>> relations(np.array([[4, 0, 0], [0, 2, 2], [0, 0, 0]]))
    [('match', [0], [0]), ('split', [1], [1, 2]), ('alone', [2], [])]
    """
    of_left, of_right = _parts(shared)
    kinds: list[tuple[str, list[int], list[int]]] = []
    # of the documents of b most are in a, and of those of a most in b
    inside_left, inside_right = of_right > _MOST, of_left > _MOST
    done_left: set[int] = set()
    done_right: set[int] = set()
    for a in np.argsort(-shared.sum(axis=1), kind="stable").tolist():
        pieces = np.flatnonzero(inside_left[a]).tolist()
        if len(pieces) > 1:
            kinds.append(("split", [a], pieces))
            done_left.add(a)
            done_right.update(pieces)
    for b in np.argsort(-shared.sum(axis=0), kind="stable").tolist():
        pieces = [a for a in np.flatnonzero(inside_right[:, b]).tolist() if a not in done_left]
        if len(pieces) > 1 and b not in done_right:
            kinds.append(("merge", pieces, [b]))
            done_left.update(pieces)
            done_right.add(b)
    both = np.argwhere(inside_left & inside_right)
    for a, b in both[np.argsort(-shared[tuple(both.T)], kind="stable")].tolist():
        if a not in done_left and b not in done_right:
            kinds.append(("match", [a], [b]))
            done_left.add(a)
            done_right.add(b)
    kinds += [("alone", [a], []) for a in range(shared.shape[0]) if a not in done_left]
    kinds += [("alone", [], [b]) for b in range(shared.shape[1]) if b not in done_right]
    order = ("match", "split", "merge", "alone")
    return sorted(kinds, key=lambda kind: order.index(kind[0]))


def _parts(shared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the documents of a the part in b, and of those of b the part in a."""
    return (
        shared / np.maximum(shared.sum(axis=1, keepdims=True), 1),
        shared / np.maximum(shared.sum(axis=0, keepdims=True), 1),
    )
