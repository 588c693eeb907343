"""Expected tokens of topics: x_dw P(z|d,w), summed by word over documents, or by document over words.

P(z|d,w) ~ P(z|d) P(w|z) among the topics of one level. If documents are not mixtures of topics (HLTA), all tokens of a
document count for a topic, weighted by its membership.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..corpus.corpus import Corpus
from ..engine.jit import njit
from ..errors import InputError
from ..topics.tree import TopicTree

__all__ = ["TopicTokens", "counts_of"]

_LOST = 1e-3  # if the memberships of a document sum to less than 1 by more than this, topics were dropped


@njit
def _add_by_word(rows, indptr, indices, data, doc_topic, word_topic, table):
    """table[w] += x_dw P(z|d) P(w|z) / sum_z P(z|d) P(w|z) for d in rows; a cell with sum 0 is left out."""
    n_topics = word_topic.shape[1]
    share = np.empty(n_topics)
    for d in rows:
        for cell in range(indptr[d], indptr[d + 1]):
            w, total = indices[cell], 0.0
            for k in range(n_topics):
                share[k] = doc_topic[d, k] * word_topic[w, k]
                total += share[k]
            if total > 0:
                scale = data[cell] / total
                for k in range(n_topics):
                    table[w, k] += scale * share[k]


@njit
def _add_by_document(rows, indptr, indices, data, doc_topic, word_topic, table):
    """table[i] += x_dw P(z|d) P(w|z) / sum_z P(z|d) P(w|z) for d = rows[i]; a cell with sum 0 is left out."""
    n_topics = word_topic.shape[1]
    share = np.empty(n_topics)
    for i in range(rows.size):
        d = rows[i]
        for cell in range(indptr[d], indptr[d + 1]):
            w, total = indices[cell], 0.0
            for k in range(n_topics):
                share[k] = doc_topic[d, k] * word_topic[w, k]
                total += share[k]
            if total > 0:
                scale = data[cell] / total
                for k in range(n_topics):
                    table[i, k] += scale * share[k]


def counts_of(tree: TopicTree, corpus: Corpus) -> sp.csr_array:
    """The counts of a corpus with the words of a tree as columns, or a ValueError if the words do not fit."""
    counts = corpus.counts_over(tree.vocabulary)
    if counts.shape[1] != len(tree.vocabulary):
        raise InputError(f"the corpus has {counts.shape[1]:,} words: expected the {len(tree.vocabulary):,} of the tree")
    return counts


class TopicTokens:
    """Expected tokens in the topics of one level; `rows` are the rows of these topics in the tree."""

    def __init__(self, tree: TopicTree, counts: sp.csr_array, level: int) -> None:
        self.rows = np.flatnonzero(tree.level == level)
        self._counts, self._mixture = counts, tree.exclusive
        self._doc_topic = np.ascontiguousarray(tree.doc_topic[:, self.rows])
        self._word_topic = np.ascontiguousarray(tree.topic_word[self.rows].T, np.float64)
        dropped_share = 1 - self._doc_topic.sum(axis=1)
        if tree.exclusive and dropped_share.max(initial=0) > _LOST:
            # topics were dropped: an extra topic with the word frequencies of the corpus gets their tokens
            overall = tree.word_frequency / max(tree.word_frequency.sum(), 1)
            self._doc_topic = np.column_stack([self._doc_topic, np.maximum(dropped_share, 0)])
            self._word_topic = np.column_stack([self._word_topic, overall])

    def by_word(self, documents: np.ndarray) -> np.ndarray:
        """Words x topics, summed over documents."""
        if not self._mixture:
            weights = self._doc_topic[documents].astype(np.float64)
            return np.asarray(self._counts[documents].T @ weights)
        table = np.zeros(self._word_topic.shape)
        _add_by_word(documents, *self._cells(), self._doc_topic, self._word_topic, table)
        return table[:, : len(self.rows)]

    def by_document(self, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Documents x topics, summed over words; and the tokens of each document, including those of dropped topics."""
        table = np.zeros((len(documents), self._word_topic.shape[1]))
        _add_by_document(documents, *self._cells(), self._doc_topic, self._word_topic, table)
        return table[:, : len(self.rows)], table.sum(axis=1)

    def _cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._counts.indptr, self._counts.indices, self._counts.data
