"""Which words HLTA puts into its tree."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...engine.mapped import pieces, release
from ...errors import InputError
from ..row_groups import CountRows

__all__ = ["chosen_columns", "tree_documents"]

_CELLS, _ROWS = 1 << 20, 1 << 16  # processed together
_MOST_WORDS = 30_000  # the mutual information of all pairs is kept: 4 bytes each


def chosen_columns(counts: sp.csr_array, max_words: int | None, min_df: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns of the tree, and the number of documents with each word of the corpus."""
    n_documents, n_words = counts.shape
    if counts.nnz == 0:
        raise InputError(f"all {n_documents} documents are empty: there are no words to fit")
    frequency = np.zeros(n_words, np.int64)
    for piece in pieces(counts.indices):
        frequency += np.bincount(piece, minlength=n_words)
    columns = np.flatnonzero(frequency >= min_df)
    if len(columns) == 0:
        raise InputError(
            f"min_df={min_df} leaves none of {n_words:,} words; the most frequent is in {frequency.max():,} "
            "documents: lower min_df"
        )
    if max_words is not None and max_words < len(columns):
        tfidf = _mean_shares(counts) * np.log(n_documents / np.maximum(frequency, 1))
        columns = np.sort(columns[np.argsort(-tfidf[columns], kind="stable")[:max_words]])
    if len(columns) > _MOST_WORDS:
        raise InputError(
            f"{len(columns):,} words are more than HLTA can compare ({_MOST_WORDS:,}): keep the best "
            "with max_words, such as max_words=10000, or leave out rare ones with min_df"
        )
    return columns, frequency


def _mean_shares(counts: sp.csr_array) -> np.ndarray:
    """The sum of each word's shares of the documents."""
    rows, total = CountRows(counts, np.dtype(np.float64)), np.zeros(counts.shape[1])
    for first, last in rows.blocks(0, counts.shape[0], _CELLS):
        indptr, indices, data = rows.cells(first, last)
        ends = np.concatenate([[0.0], np.cumsum(data)])
        lengths = np.diff(ends[indptr])
        total += np.bincount(indices, data / np.repeat(lengths, np.diff(indptr)), minlength=len(total))
        rows.done(first, last)
    return total


def tree_documents(counts: sp.csr_array, columns: np.ndarray, emission: str) -> sp.csr_array:
    """Only the words of the tree, as presence or counts."""
    parts = []
    for first in range(0, max(counts.shape[0], 1), _ROWS):
        part = sp.csr_array(counts[first : first + _ROWS][:, columns], dtype=np.float64)
        if emission == "presence":
            part.data = np.ones_like(part.data)
        parts.append(part)
        release(counts.indices)
        release(counts.data)
    return parts[0] if len(parts) == 1 else sp.csr_array(sp.vstack(parts, format="csr"))
