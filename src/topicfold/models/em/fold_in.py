"""P(z|d) of new documents with P(w|z) fixed: by their words alone, or drawn to a prior or their neighbours as well."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...engine.jit import njit_fast, njit_inline
from ...engine.mapped import is_mapped, row_table
from .passes import Cells, CountRows
from .plsa_kernels import SMALLEST, guarded, padded

__all__ = ["fold_in", "fold_in_near", "fold_in_toward"]

_FOLD_IN_ITER = 100
_FOLD_IN_TOL = 1e-4
_HALVINGS = 50


# ---- kernels --------------------------------------------------------------------------------------------------------


@njit_inline
def start_evenly(now, n_topics):
    """The same share for every topic, and zero in the padding."""
    now[:] = now.dtype.type(0)
    now[:n_topics] = 1 / n_topics


@njit_inline
def gain_of_words(indptr, indices, data, d, now, word_topic, gain):
    """gain = (n / P) @ word_topic over the cells of document d where P = word_topic @ now is above 0."""
    width, zero = word_topic.shape[1], now.dtype.type(0)
    gain[:] = zero
    for cell in range(indptr[d], indptr[d + 1]):
        w = indices[cell]
        p = zero
        for k in range(width):
            p += now[k] * word_topic[w, k]
        if p > 0:
            ratio = data[cell] / p
            for k in range(width):
                gain[k] += ratio * word_topic[w, k]


@njit_inline
def drawn_share(m, gain, toward, pull):
    """The y > 0 with 2 pull y^2 + (m - 2 toward) y - gain = 0."""
    b = m - 2 * toward
    root = np.sqrt(b * b + 8 * pull * gain)
    return 2 * gain / (b + root) if b > 0 else (root - b) / (4 * pull)


@njit_fast
def fold_in_rows(indptr, indices, data, first, last, word_topic, doc_topic, n_topics, exponent, max_iter, tol):
    """P(z|d) of documents first..last with P(w|z) fixed, each from an even start until it moves less than `tol`.

    Repeat: doc_topic = doc_topic * (n / P) @ word_topic, the row summing to one; concave, so the start does not matter.
    With an exponent below one, word_topic is already raised to it. A row without a usable word is left at -1.
    """
    width = word_topic.shape[1]
    now, gain = guarded(width, word_topic.dtype), guarded(width, word_topic.dtype)
    for d in range(first, last):
        start_evenly(now, n_topics)
        for _ in range(max_iter):
            gain_of_words(indptr, indices, data, d, now, word_topic, gain)
            total = 0.0
            for k in range(n_topics):
                gain[k] *= now[k]
                total += gain[k]
            if not total > 0:
                doc_topic[d, :n_topics] = -1
                break
            change = 0.0
            for k in range(n_topics):
                value = gain[k] / total
                change += abs(value - doc_topic[d, k])
                doc_topic[d, k] = value if value > SMALLEST else 0
                now[k] = doc_topic[d, k] if exponent == 1 else doc_topic[d, k] ** exponent
            if change < tol:
                break


@njit_fast
def fold_in_near_rows(
    indptr, indices, data, first, last, word_topic, doc_topic, n_topics, prior, pull, toward, squared, max_iter, tol
):
    """P(z|d) of documents first..last with P(w|z) fixed, drawn to their neighbours; stops at a change below `tol`.

    `prior` has one row of pseudo-counts, or one each.

    With c = y * (n / P) @ word_topic + prior, toward = weight * sum_j W_j P(z|j) and pull = weight * sum_j W_j, repeat
      y = (c + toward) / (sum c + pull)                                        or, if distances are `squared`,
      y = argmax of sum_k c_k ln y_k - weight * sum_j W_j |y - P(z|j)|^2 with y on the simplex:
          2 pull y_k^2 + (m - 2 toward_k) y_k - c_k = 0 with the m that makes y sum to one, found by halving.
    Both are concave, so the start does not matter. A row with neither a usable word nor a neighbour is left at -1.
    """
    width = word_topic.shape[1]
    now, gain = guarded(width, word_topic.dtype), guarded(width, word_topic.dtype)
    for d in range(first, last):
        doc_prior = prior[d if prior.shape[0] > 1 else 0]
        start_evenly(now, n_topics)
        for _ in range(max_iter):
            # tokens of each topic: from the words and the prior
            gain_of_words(indptr, indices, data, d, now, word_topic, gain)
            total = 0.0
            for k in range(n_topics):
                gain[k] = gain[k] * now[k] + doc_prior[k]
                total += gain[k]
            if not total + pull[d] > 0:
                doc_topic[d, :n_topics] = -1
                break
            # the m at which y sums to one
            low, high = total - 2 * pull[d], total + 2 * pull[d]
            if squared and pull[d] > 0:
                for _ in range(_HALVINGS):
                    middle = (low + high) / 2
                    row_sum = 0.0
                    for k in range(n_topics):
                        row_sum += drawn_share(middle, gain[k], toward[d, k], pull[d])
                    if row_sum > 1:
                        low = middle
                    else:
                        high = middle
            # the new shares
            change = 0.0
            for k in range(n_topics):
                if squared and pull[d] > 0:
                    value = drawn_share(high, gain[k], toward[d, k], pull[d])
                else:
                    value = (gain[k] + toward[d, k]) / (total + pull[d])
                change += abs(value - doc_topic[d, k])
                doc_topic[d, k] = value if value > SMALLEST else 0
                now[k] = doc_topic[d, k]
            if change < tol:
                break


# ---- functions on whole matrices ------------------------------------------------------------------------------------


def fold_in(
    counts: sp.csr_array,
    topic_word: np.ndarray,
    topic_weight: np.ndarray,
    *,
    exponent: float = 1.0,
    n_jobs: int | None = None,
) -> np.ndarray:
    """P(z|d) of new documents with P(w|z) fixed; `topic_weight` if no word is known."""
    n_topics = len(topic_word)
    word_topic = padded(topic_word.T if exponent == 1 else topic_word.T**exponent, topic_word.dtype)
    doc_topic = row_table(counts.shape[0], n_topics, topic_word.dtype, on_disk=is_mapped(counts.data))

    inputs = _FoldInInput(word_topic, topic_weight, n_topics, exponent)
    CountRows(counts, topic_word.dtype).for_each_block(_fold_in_block, inputs, n_jobs, writes=(doc_topic,))
    return doc_topic


class _FoldInInput(NamedTuple):
    word_topic: np.ndarray
    topic_weight: np.ndarray
    n_topics: int
    exponent: float


def _fold_in_block(inputs: _FoldInInput, cells: Cells, doc_topic: np.ndarray) -> None:
    limits = (_FOLD_IN_ITER, _FOLD_IN_TOL)
    fold_in_rows(*cells, 0, len(doc_topic), inputs.word_topic, doc_topic, inputs.n_topics, inputs.exponent, *limits)
    doc_topic[doc_topic[:, 0] < 0] = inputs.topic_weight


def fold_in_toward(
    counts: sp.csr_array,
    topic_word: np.ndarray,
    topic_weight: np.ndarray,
    toward: np.ndarray,
    pull: np.ndarray,
    *,
    prior: float | np.ndarray = 0.0,
    squared: bool = False,
    n_jobs: int | None = None,
) -> np.ndarray:
    """P(z|d) with P(w|z) fixed, drawn `toward` (documents x topics, rows sum to `pull`) and by a prior.

    The prior is a number of tokens per document, which the topics share by their weight, or pseudo-counts (documents x
    topics).
    """
    n_topics = len(topic_word)
    base = prior if isinstance(prior, np.ndarray) else prior * topic_weight[None].astype(np.float64)
    word_topic = padded(topic_word.T, topic_word.dtype)
    result = row_table(counts.shape[0], n_topics, topic_word.dtype, on_disk=is_mapped(counts.data))

    each = () if len(base) == 1 else (base,)
    inputs = _TowardInput(word_topic, topic_weight, base if not each else None, n_topics, squared)
    CountRows(counts, topic_word.dtype).for_each_block(
        _toward_block, inputs, n_jobs, reads=(pull, toward, *each), writes=(result,)
    )
    return result


class _TowardInput(NamedTuple):
    word_topic: np.ndarray
    topic_weight: np.ndarray
    prior: np.ndarray | None  # pseudo-counts of all documents; None if each has its own
    n_topics: int
    squared: bool


def _toward_block(
    inputs: _TowardInput,
    cells: Cells,
    pull: np.ndarray,
    toward: np.ndarray,
    *tables: np.ndarray,
) -> None:
    """Fill the last of the tables; the one before it, if any, has a prior for each document."""
    prior, doc_topic = tables[0] if inputs.prior is None else inputs.prior, tables[-1]
    near = (prior, pull, toward, inputs.squared, _FOLD_IN_ITER, _FOLD_IN_TOL)
    fold_in_near_rows(*cells, 0, len(doc_topic), inputs.word_topic, doc_topic, inputs.n_topics, *near)
    doc_topic[doc_topic[:, 0] < 0] = inputs.topic_weight


def fold_in_near(
    counts: sp.csr_array,
    topic_word: np.ndarray,
    topic_weight: np.ndarray,
    neighbors: sp.csr_array,
    doc_topic: np.ndarray,
    weight: float,
    *,
    prior: float | np.ndarray = 0.0,
    squared: bool = False,
    n_jobs: int | None = None,
) -> np.ndarray:
    """P(z|d) of new documents drawn to that of their neighbours in training, `neighbors` being new x training."""
    pull = weight * neighbors.sum(axis=1)
    toward = weight * (neighbors @ doc_topic.astype(np.float64))
    return fold_in_toward(counts, topic_word, topic_weight, toward, pull, prior=prior, squared=squared, n_jobs=n_jobs)
