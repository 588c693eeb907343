"""Tf-idf weights of words."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..engine.mapped import pieces

__all__ = ["inverse_document_frequency", "tfidf"]


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
