"""Typical documents of topics: those that lists show, the same everywhere.

By membership alone, a document of two words can lead its topic. So memberships are weighted by how near the words of a
document are to the centres of its topics, and less if it is short for this corpus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..corpus.weighting import inverse_document_frequency, tfidf
from ..engine.arrays import summed
from ..engine.blocks import each_block, row_blocks
from ..engine.mapped import release
from .ranking import largest_different

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["most_typical", "typical_documents", "typicality"]

_TOPICS_AT_ONCE = 32
_CELLS_AT_ONCE = 1 << 20
_LEAST = 1e-6  # of a document without words: its membership, from its neighbours, still orders it


def typicality(counts: sp.csr_array, doc_topic: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """How near each document is to the centres of its topics, from 0 to 1, in single precision.

    It is the mean of cos(x_d, c_z), weighted by P(z|d), with x_d the tf-idf of the document and c_z = sum_d P(z|d) x_d
    the centre of a topic; times n / m for a document of n tokens, if that is less than the median m. It needs no more
    than memberships, so it is the same for every model whose memberships sum to one. In others (HLTA), a document may
    be a full member of a topic that few of its words are about, so one number per document does not say enough.

    >>> typicality(sp.csr_array([[2, 2, 0], [1, 0, 1], [0, 0, 0]]), np.ones((3, 1))).astype(float).round(2).tolist()
    [0.76, 0.5, 0.0]
    """
    idf, fits = inverse_document_frequency(counts), np.zeros(len(doc_topic))
    blocks = row_blocks(counts.indptr, -(-counts.nnz // _CELLS_AT_ONCE) or 1) if len(doc_topic) else []

    def run(first_topic: int) -> np.ndarray:
        topics = slice(first_topic, first_topic + _TOPICS_AT_ONCE)
        centres = np.zeros((counts.shape[1], len(range(doc_topic.shape[1])[topics])))
        for first, last in blocks:
            centres += tfidf(counts[first:last], idf).T @ doc_topic[first:last, topics].astype(np.float64)
            _release(counts, doc_topic)
        centres /= np.maximum(np.linalg.norm(centres, axis=0), 1e-300)
        cosines = np.zeros(len(doc_topic))
        for first, last in blocks:
            products = (tfidf(counts[first:last], idf) @ centres) * doc_topic[first:last, topics]
            cosines[first:last] = products.sum(axis=1)
            _release(counts, doc_topic)
        return cosines

    for cosines in each_block(run, range(0, doc_topic.shape[1], _TOPICS_AT_ONCE), n_jobs):
        fits += cosines
    for first, last in blocks:
        fits[first:last] /= np.maximum(doc_topic[first:last].sum(axis=1, dtype=np.float64), 1e-300)
    lengths = summed(counts, 1)
    median = np.median(lengths[lengths > 0]) if lengths.any() else 1.0
    return np.minimum(fits * np.minimum(lengths / median, 1), 1).astype(np.float32)


def _release(counts: sp.csr_array, doc_topic: np.ndarray) -> None:
    for array in (counts.indices, counts.data, doc_topic):
        release(array)


def most_typical(
    memberships: np.ndarray, typical: np.ndarray | None, n: int, first_copies: np.ndarray | None
) -> np.ndarray:
    """The rows of the n documents that are most typical of a topic, at most one of each group of copies.

    They have the highest product of membership and typicality; the highest membership, if `typical` is None.

    >>> most_typical(np.array([0.99, 0.9, 0.4]), np.array([0.1, 0.5, 0.6]), 2, None).tolist()
    [1, 2]
    """
    scores = memberships if typical is None else memberships * np.maximum(typical, _LEAST)
    return largest_different(scores, n, first_copies)


def typical_documents(tree: TopicTree, row: int, n: int, first_copies: np.ndarray | None) -> np.ndarray:
    """The rows of the n documents that are most typical of the topic in a row of the tree."""
    memberships = tree.doc_topic[:, row].copy()
    memberships[tree.wordless] = 0
    return most_typical(memberships, tree.typicality, n, first_copies)
