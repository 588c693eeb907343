"""The number of documents of a topic that contain each word, by which the words of topics are ranked.

A document counts once for each of its words, however often it repeats them, weighted by its share of the topic. So a
word that a few documents repeat a hundred times is not ranked first, as it would be by P(w|z). A document of more than
100 tokens counts by how much of it contains the word; see `topics.ranking.word_presence`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..engine.blocks import map_blocks, row_blocks
from ..engine.jit import njit
from ..engine.mapped import pieces, release
from ..topics.ranking import word_presence

__all__ = ["presence_of_words", "word_documents", "wordless_rows"]

_TOPICS_AT_ONCE = 32
_CELLS_AT_ONCE = 1 << 20


@njit
def _add(indptr, indices, presence, shares, table):
    """Add to the rows of its words how much of each document contains them, times its share in the topics."""
    n_topics = shares.shape[1]
    for d in range(indptr.size - 1):
        for cell in range(indptr[d] - indptr[0], indptr[d + 1] - indptr[0]):
            word, weight = indices[cell], presence[cell]
            for k in range(n_topics):
                table[word, k] += weight * shares[d, k]


def word_documents(counts: sp.csr_array, doc_topic: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Sum of P(z|d) over the documents that contain each word, topics x words, in single precision.

    Long documents count by the share of their windows that contain the word; see `word_presence`.

    Every sum is in the order of the documents, so that the number of threads does not affect it.

    >>> word_documents(sp.csr_array([[3, 0], [1, 1]]), np.array([[0.75, 0.25], [0.5, 0.5]])).tolist()
    [[1.25, 0.5], [0.75, 0.5]]
    """
    (n_documents, n_words), n_topics = counts.shape, doc_topic.shape[1]
    expected = np.empty((n_topics, n_words), np.float32)
    blocks = row_blocks(counts.indptr, -(-counts.nnz // _CELLS_AT_ONCE) or 1) if n_documents else []

    def run(first_topic: int) -> None:
        topics = slice(first_topic, min(first_topic + _TOPICS_AT_ONCE, n_topics))
        table = np.zeros((n_words, topics.stop - topics.start))
        for first, last in blocks:
            rows, ends = doc_topic[first:last], counts.indptr[first : last + 1].astype(np.int64)
            indices, data = (values[ends[0] : ends[-1]] for values in (counts.indices, counts.data))
            presence = word_presence(sp.csr_array((data, indices, ends - ends[0]), (last - first, n_words))).data
            shares = np.ascontiguousarray(rows[:, topics], np.float64)
            _add(ends, indices.astype(np.int32, copy=False), presence, shares, table)
            release(indices)
            release(data)
            release(rows)
        expected[topics] = table.T

    map_blocks(run, range(0, n_topics, _TOPICS_AT_ONCE), n_jobs)
    return expected


def presence_of_words(model: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """The share of each topic's documents, and of all documents, that contain each word; None if unknown.

    HLTA ranks words differently and does not keep them.
    """
    if not (hasattr(model, "word_documents_") and hasattr(model, "topic_documents_")):
        return None
    words, topics = model.word_documents_, model.topic_documents_
    share = words / np.maximum(topics, 1e-12)[:, None].astype(words.dtype)
    overall = words.sum(axis=0, dtype=np.float64) / max(topics.sum(), 1e-12)
    return np.minimum(share, 1), np.minimum(overall, 1)


def wordless_rows(counts: sp.csr_array, word_frequency: np.ndarray) -> np.ndarray:
    """The rows without a word, or with only words that were not in the training documents.

    >>> wordless_rows(sp.csr_array([[1, 0], [0, 0], [0, 2]]), np.array([3, 0])).tolist()
    [1, 2]
    """
    unseen = word_frequency == 0
    if unseen.any() and any(unseen[piece].any() for piece in pieces(counts.indices)):
        known = sp.csr_array((~unseen[counts.indices], counts.indices, counts.indptr), shape=counts.shape)
        return np.flatnonzero(np.asarray(known.sum(axis=1)).ravel() == 0)
    return np.flatnonzero(np.diff(counts.indptr) == 0)
