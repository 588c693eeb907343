"""Tf-idf weights of words, and vectors of documents by latent semantic indexing (LSI)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..engine.blocks import single_threaded_libraries
from ..engine.mapped import pieces

__all__ = ["inverse_document_frequency", "lsi_vectors", "tfidf", "unit_rows"]

_POWER_ITERATIONS = 3


def inverse_document_frequency(counts: sp.csr_array) -> np.ndarray:
    """ln((1 + N) / (1 + df)) + 0.001 of each word; the constant keeps words that are in every document above zero."""
    document_frequency = np.zeros(counts.shape[1], np.int64)
    for piece in pieces(counts.indices):
        document_frequency += np.bincount(piece, minlength=counts.shape[1])
    return np.log((1 + counts.shape[0]) / (1 + document_frequency)) + 1e-3


def tfidf(counts: sp.csr_array, idf: np.ndarray | None = None) -> sp.csr_array:
    """n(d,w) idf(w), rows scaled to length one; a row without words stays zero. `idf` may come from other documents."""
    idf = inverse_document_frequency(counts) if idf is None else idf
    weighted = sp.csr_array(
        (counts.data.astype(np.float64) * idf[counts.indices], counts.indices, counts.indptr), counts.shape
    )
    lengths = np.sqrt(weighted.multiply(weighted).sum(axis=1))
    weighted.data /= np.repeat(np.maximum(lengths, 1e-300), np.diff(weighted.indptr))
    return weighted


def lsi_vectors(
    sample: sp.csr_array, n_dimensions: int, rng: np.random.RandomState, counts: sp.csr_array | None = None
) -> np.ndarray:
    """LSI vectors of the documents in a sample, or of all `counts` in the space of the sample; rows of length one."""
    from sklearn.utils.extmath import randomized_svd

    idf = inverse_document_frequency(sample)
    weighted = tfidf(sample, idf).astype(np.float32)
    with single_threaded_libraries():
        left, scale, words = randomized_svd(
            weighted, min(n_dimensions, *sample.shape), n_iter=_POWER_ITERATIONS, random_state=rng
        )
    return unit_rows(left * scale if counts is None else tfidf(counts, idf).astype(np.float32) @ words.T)


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Rows of length one, in float32; a row of zeros stays zero."""
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return np.ascontiguousarray(vectors / lengths, dtype=np.float32)
