"""Which documents a page shows: all, or if too many, the best of each topic and an even sample of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..topics.tree import TopicTree
from ..topics.typical import most_typical

__all__ = ["Sample", "chosen_documents", "largest_topics"]

_BEST = 40  # documents of each topic that are always shown
_COLUMNS = 16  # of the memberships, processed together: values of a column are not contiguous
_ROWS = 1 << 16


@dataclass(frozen=True)
class Sample:
    """The rows of the documents to show, in order, and how they were chosen."""

    rows: np.ndarray
    best: int = 0  # number of typical documents per topic; 0: all documents are shown
    n_best: int = 0  # documents that are among the best of some topic
    over: tuple[str, ...] = ()  # what the others are spread evenly over


def chosen_documents(
    tree: TopicTree, most: int, strata: Mapping[str, np.ndarray] | None = None, first: np.ndarray | None = None
) -> Sample:
    """At most `most` documents: all, or the best of each topic and an even sample of the others.

    With `first` (see `Corpus.copies`), the best of a topic are no copies of each other.

    The others are sorted by their largest topic, then by the values in `strata`, one value per document, then by their
    rows, and taken at equal distances. So each topic has its share of them, to within one document, and so has each
    value of the first stratum within a topic. Nothing is random.
    """
    n_documents = len(tree.doc_topic)
    if n_documents <= most:
        return Sample(np.arange(n_documents))
    strata = strata or {}
    n_best = max(1, min(_BEST, most // (2 * max(len(tree), 1))))
    # the best of every topic, then the second ...
    best = np.array(list(dict.fromkeys(_best_documents(tree, n_best, first).ravel().tolist()))[:most])
    others = np.setdiff1d(np.arange(n_documents), best)
    keys = [values[others] for values in strata.values()]
    order = others[np.lexsort((*keys[::-1], largest_topics(tree)[others]))]
    n_drawn = most - len(best)
    drawn = order[((np.arange(n_drawn) + 0.5) * len(order) / max(n_drawn, 1)).astype(np.int64)]
    return Sample(np.sort(np.concatenate([best, drawn])), n_best, len(best), ("topics", *strata))


def _best_documents(tree: TopicTree, n: int, first_copies: np.ndarray | None) -> np.ndarray:
    """The rows of the typical documents of each topic, n x topics; ties go to the first."""
    best_rows = []
    for first in range(0, len(tree), _COLUMNS):
        columns = np.ascontiguousarray(tree.doc_topic[:, first : first + _COLUMNS].T)
        best_rows += [most_typical(column, tree.typicality, n, first_copies) for column in columns]
    return np.stack(best_rows, axis=1)


def largest_topics(tree: TopicTree) -> np.ndarray:
    """The row of the largest topic of the lowest level for each document; -1 if it has no topic."""
    lowest = np.flatnonzero(tree.at_lowest_level)
    every = len(lowest) == len(tree)
    topics = np.empty(len(tree.doc_topic), np.int64)
    for start in range(0, len(topics), _ROWS):
        block = tree.doc_topic[start : start + _ROWS]
        block = block if every else block[:, lowest]
        topics[start : start + _ROWS] = np.where(block.max(axis=1) > 0, lowest[block.argmax(axis=1)], -1)
    return topics
