"""P(z|d) of documents that are also drawn to a prior or to their neighbours, in addition to their words."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...engine.jit import njit_fast
from ...engine.mapped import is_mapped, row_table
from .passes import Cells, CountRows
from .plsa_kernels import FOLD_IN_ITER, FOLD_IN_TOL, GUARD, SMALLEST, padded

__all__ = ["fold_in_near", "fold_in_toward"]

_HALVINGS = 50


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
    zero = word_topic.dtype.type(0)
    now = np.empty(width + 2 * GUARD, word_topic.dtype)[GUARD : GUARD + width]
    gain = np.empty(width + 2 * GUARD, word_topic.dtype)[GUARD : GUARD + width]
    for d in range(first, last):
        own = prior[d if prior.shape[0] > 1 else 0]
        now[:] = zero
        now[:n_topics] = 1 / n_topics
        for _ in range(max_iter):
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
            total = 0.0
            for k in range(n_topics):
                gain[k] = gain[k] * now[k] + own[k]
                total += gain[k]
            if not total + pull[d] > 0:
                doc_topic[d, :n_topics] = -1
                break
            low, high = total - 2 * pull[d], total + 2 * pull[d]
            if squared and pull[d] > 0:
                for _ in range(_HALVINGS):
                    middle = (low + high) / 2
                    row_sum = 0.0
                    for k in range(n_topics):
                        b = middle - 2 * toward[d, k]
                        root = np.sqrt(b * b + 8 * pull[d] * gain[k])
                        row_sum += 2 * gain[k] / (b + root) if b > 0 else (root - b) / (4 * pull[d])
                    if row_sum > 1:
                        low = middle
                    else:
                        high = middle
            change = 0.0
            for k in range(n_topics):
                if squared and pull[d] > 0:
                    b = high - 2 * toward[d, k]
                    root = np.sqrt(b * b + 8 * pull[d] * gain[k])
                    value = 2 * gain[k] / (b + root) if b > 0 else (root - b) / (4 * pull[d])
                else:
                    value = (gain[k] + toward[d, k]) / (total + pull[d])
                change += abs(value - doc_topic[d, k])
                doc_topic[d, k] = value if value > SMALLEST else 0
                now[k] = doc_topic[d, k]
            if change < tol:
                break


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
    shared = (word_topic, topic_weight, base if not each else None, n_topics, squared)
    CountRows(counts, topic_word.dtype).for_each_block(
        _toward_block, shared, n_jobs, reads=(pull, toward, *each), writes=(result,)
    )
    return result


def _toward_block(
    shared: tuple[np.ndarray, np.ndarray, np.ndarray | None, int, bool],
    cells: Cells,
    pull: np.ndarray,
    toward: np.ndarray,
    *tables: np.ndarray,
) -> None:
    """Fill the last of the tables; the one before it, if any, has a prior for each document."""
    (word_topic, topic_weight, base, n_topics, squared), doc = shared, tables[-1]
    near = (tables[0] if base is None else base, pull, toward, squared, FOLD_IN_ITER, FOLD_IN_TOL)
    fold_in_near_rows(*cells, 0, len(doc), word_topic, doc, n_topics, *near)
    doc[doc[:, 0] < 0] = topic_weight


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
