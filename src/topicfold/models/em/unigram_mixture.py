"""The mixture of unigrams: each document has one class h, and P(d) = sum_h P(h) prod_w P(w|h)^n(d,w).

TTMM's themes are such classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import csr_parts
from ...engine.jit import njit_fast
from ...engine.mapped import is_mapped, row_table
from .passes import Cells, CountRows
from .plsa_kernels import SMALLEST

__all__ = [
    "LogClasses",
    "classes_of_block",
    "even_blocks",
    "log_weights",
    "posterior",
    "score_rows",
    "words_of_classes",
]

_VALUES_PER_BLOCK = 1 << 22  # of a words x classes table
_LARGE = 1 << 28  # bytes of a table of documents x classes that is kept in a file


class LogClasses(NamedTuple):
    """The classes of a mixture of unigrams, as logarithms."""

    word: np.ndarray  # words x classes: log P(w|h)
    weight: np.ndarray  # log P(h)


@njit_fast
def score_rows(indptr, indices, data, first, last, word_class, scores):
    """scores = counts @ word_class for documents first..last."""
    n_classes = word_class.shape[1]
    for d in range(first, last):
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            n = data[cell]
            for j in range(n_classes):
                scores[d - first, j] += n * word_class[w, j]


def posterior(
    counts: sp.csr_array,
    word_class: np.ndarray,
    class_weight: np.ndarray,
    known: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """P(h|d) and log P(d), or log P(d, h) if the class is `known` (-1: it is not)."""
    n_documents, n_classes = counts.shape[0], len(class_weight)
    large = n_documents * n_classes * word_class.dtype.itemsize > _LARGE
    doc_class = row_table(n_documents, n_classes, word_class.dtype, on_disk=large or is_mapped(counts.data))
    log_likelihood = np.zeros(n_documents)
    CountRows(counts, word_class.dtype).for_each_block(
        _posterior_block,
        LogClasses(word_class, log_weights(class_weight)),
        n_jobs,
        reads=() if known is None else (known,),
        writes=(doc_class, log_likelihood),
    )
    return doc_class, log_likelihood


def _posterior_block(classes: LogClasses, cells: Cells, *tables: np.ndarray) -> None:
    """Fill the last two of the tables; the one before them, if any, has the known classes."""
    *known, doc_class, log_likelihood = tables
    log_likelihood[:] = classes_of_block(cells, classes, known[0] if known else None, doc_class)


def log_weights(class_weight: np.ndarray) -> np.ndarray:
    """log P(h), with a very small value for a class without weight."""
    return np.log(np.maximum(class_weight, SMALLEST * SMALLEST))


def classes_of_block(cells: Cells, classes: LogClasses, known: np.ndarray | None, scores: np.ndarray) -> np.ndarray:
    """P(h|d) of a block of documents, written to `scores`, which contain zeros; returns log P(d)."""
    score_rows(*cells, 0, len(scores), classes.word, scores)
    scores += classes.weight
    if known is not None and (known >= 0).any():
        labelled = np.flatnonzero(known >= 0)
        value = scores[labelled, known[labelled]].copy()
        scores[labelled] = -np.inf
        scores[labelled, known[labelled]] = value
    most = scores.max(axis=1, keepdims=True)
    scores -= most
    np.exp(scores, out=scores)
    total = scores.sum(axis=1, keepdims=True)
    scores /= total
    return np.asarray((most + np.log(total))[:, 0])


def words_of_classes(by_word: sp.csr_array, doc_class: np.ndarray) -> np.ndarray:
    """counts.T @ doc_class, dense: how often the documents of each class are expected to have each word."""
    sums = np.zeros((by_word.shape[0], doc_class.shape[1]), doc_class.dtype)
    for first, last in even_blocks(*sums.shape):
        score_rows(*csr_parts(by_word), first, last, doc_class, sums[first:last])
    return sums


def even_blocks(n_rows: int, width: int) -> list[tuple[int, int]]:
    """Blocks of rows of a table of this width, for work that needs memory of their size."""
    size = max(1, _VALUES_PER_BLOCK // max(width, 1))
    return [(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]
