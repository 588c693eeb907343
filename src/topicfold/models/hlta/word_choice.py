"""Which words HLTA puts into its tree."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

__all__ = ["chosen_columns"]

_MOST_WORDS = 30_000  # the mutual information of all pairs is kept: 4 bytes each


def chosen_columns(counts: sp.csr_array, max_words: int | None, min_df: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns of the tree, and the number of documents with each word of the corpus."""
    n_documents, n_words = counts.shape
    if counts.nnz == 0:
        raise ValueError(f"all {n_documents} documents are empty: there is not one word to fit")
    frequency = np.bincount(counts.indices, minlength=n_words)
    columns = np.flatnonzero(frequency >= min_df)
    if len(columns) == 0:
        raise ValueError(
            f"min_df={min_df} leaves none of {n_words:,} words; the most frequent is in {frequency.max():,} "
            "documents: lower min_df"
        )
    if max_words is not None and max_words < len(columns):
        shares = counts.data / np.repeat(counts.sum(axis=1), np.diff(counts.indptr))
        tfidf = np.bincount(counts.indices, shares, minlength=n_words)
        tfidf *= np.log(n_documents / np.maximum(frequency, 1))
        columns = np.sort(columns[np.argsort(-tfidf[columns], kind="stable")[:max_words]])
    if len(columns) > _MOST_WORDS:
        raise ValueError(
            f"{len(columns):,} words are more than HLTA compares with each other ({_MOST_WORDS:,}): choose the best "
            "with max_words, such as max_words=10000, or leave out rare ones with min_df"
        )
    return columns, frequency
