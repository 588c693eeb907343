"""Segments and the documents they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ...corpus.corpus import Corpus
from ...engine.arrays import normalise_rows
from ...errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["document_numbers", "every_document_in_segments", "pooled", "whole_tokens"]

_DOCUMENTS = 1 << 14  # per block, whose memberships are in float64


def every_document_in_segments(corpus: Corpus) -> tuple[sp.csr_array, np.ndarray]:
    """The segments of a corpus and their documents; each document without one gets an empty segment at the end."""
    assert corpus.segments is not None
    missing = np.setdiff1d(np.arange(len(corpus)), corpus.segments.documents)
    empty = sp.csr_array((len(missing), corpus.counts.shape[1]), dtype=corpus.counts.dtype)
    documents = np.concatenate([corpus.segments.documents, missing]).astype(np.int64)
    return sp.csr_array(sp.vstack([corpus.segments.counts, empty])), documents


def document_numbers(documents: ArrayLike | None, n_rows: int) -> np.ndarray:
    """Check the document of each row; if None, each row is a document."""
    if documents is None:
        return np.arange(n_rows)
    numbers = np.asarray(documents)
    if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iu" or (n_rows and numbers.min() < 0):
        raise InputError(f"documents: expected {n_rows} whole numbers from 0, the document of each row")
    return numbers.astype(np.int64)


def pooled(
    counts: sp.csr_array,
    documents: np.ndarray,
    segment_topic: np.ndarray,
    segment_cluster: np.ndarray,
    topic_weight: np.ndarray,
    delta: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Memberships of documents from those of their segments: topics by tokens, clusters by segments and the prior."""
    n_documents = int(documents.max(initial=-1)) + 1
    lengths = counts.sum(axis=1)
    order = np.argsort(documents, kind="stable")
    doc_topic = np.empty((n_documents, segment_topic.shape[1]), np.float32)
    doc_cluster = np.empty((n_documents, segment_cluster.shape[1]), np.float32)
    for start in range(0, n_documents, _DOCUMENTS):
        stop = min(start + _DOCUMENTS, n_documents)
        first, last = np.searchsorted(documents, [start, stop], sorter=order)
        rows = order[first:last]
        shape, places = (stop - start, len(rows)), (documents[rows] - start, np.arange(len(rows)))
        tokens = sp.csr_array((lengths[rows], places), shape)
        topics, total = tokens @ segment_topic[rows].astype(np.float64), tokens.sum(axis=1)
        topics = np.where(total[:, None] > 0, topics / np.maximum(total, 1)[:, None], topic_weight)
        clusters = sp.csr_array((np.ones(len(rows)), places), shape) @ segment_cluster[rows].astype(np.float64) + delta
        doc_topic[start:stop] = normalise_rows(topics)
        doc_cluster[start:stop] = normalise_rows(clusters)
    return doc_topic, doc_cluster


def whole_tokens(counts: sp.csr_array) -> sp.csr_array:
    """Weights rounded up to whole tokens, as only a token can have a topic; whole counts do not change."""
    return sp.csr_array((np.ceil(counts.data), counts.indices, counts.indptr), counts.shape)
