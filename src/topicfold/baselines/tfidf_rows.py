"""What the baselines on tf-idf share: their training matrix, and new documents with the idf of training."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ..corpus.weighting import inverse_document_frequency, tfidf
from ..models.em import check_size
from ..models.inputs import CountsLike

__all__ = ["counts_and_tfidf", "tfidf_of_new"]


class _OnTfidf(Protocol):
    """A baseline that works on tf-idf."""

    n_topics: int
    word_frequency_: np.ndarray
    idf_: np.ndarray

    def _fit_counts(self, X: CountsLike, dtype: Any = ...) -> sp.csr_array: ...

    def word_counts(self, X: CountsLike, dtype: Any = ...) -> sp.csr_array: ...


def counts_and_tfidf(model: _OnTfidf, X: CountsLike) -> tuple[sp.csr_array, sp.csr_array]:
    """Training counts and their tf-idf; the model remembers word frequencies and idf."""
    counts = model._fit_counts(X, np.float64)
    check_size(counts, model.n_topics)
    model.word_frequency_ = counts.sum(axis=0)
    model.idf_ = inverse_document_frequency(counts)
    return counts, tfidf(counts, model.idf_)


def tfidf_of_new(model: _OnTfidf, X: CountsLike) -> sp.csr_array:
    """tf-idf of new documents with the idf of training."""
    check_is_fitted(model)
    return tfidf(model.word_counts(X, np.float64), model.idf_)
