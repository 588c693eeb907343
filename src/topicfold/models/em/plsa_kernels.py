"""EM on documents x words with P(w|d) = sum_z P(z|d) P(w|z): the kernels shared by PLSA and the models built on it.

The E-step is never stored: for each cell n(d,w) the kernel computes p = P(w|d), adds n/p P(w|z) to the document and
n/p P(z|d) to the word, and moves on; only the parameters need memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import aligned, padded, padded_width, summed
from ...engine.jit import njit_fast
from ...engine.loop import State
from ...engine.mapped import is_mapped, release, row_table
from ...errors import InputError
from .passes import Cells, CountRows, RowGroups, logged_group

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "GUARD",
    "SMALLEST",
    "EMStep",
    "SeedCounts",
    "aligned",
    "cell_probabilities",
    "check_size",
    "counts_of_seeds",
    "document_step",
    "fold_in",
    "log_likelihood",
    "log_prior",
    "padded",
    "plain_step",
    "pooled_topic_weight",
    "row_sums",
    "shrink",
    "token_count",
]

SeedCounts: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]  # of P(w|z): words, topics, pseudo-counts

SMALLEST = 1e-18  # smaller probabilities become 0: subnormal numbers make late iterations four times slower
# Values around the scratch arrays of a kernel. Vector code runs only if arrays are at least this far apart; with
# another array nearby, which is a matter of chance, the same loop would run value by value and round differently.
GUARD = 128
_ROWS_PER_SUM = 1 << 14
_VALUES_PER_BLOCK = 1 << 16
FOLD_IN_ITER = 100
FOLD_IN_TOL = 1e-4


# ---- kernels --------------------------------------------------------------------------------------------------------


@njit_fast
def em_rows(indptr, indices, data, first, last, doc_topic, word_topic, word_sum, probability):
    """One EM step for documents first..last; P(z|d) is updated in place.

    P = doc_topic @ word_topic.T;  R = n / P
    word_sum += R.T @ doc_topic;  doc_topic' = doc_topic * (R @ word_topic), rows summing to one
    probability has P of each cell in order; a cell with P = 0 is left out, counted, and shown as 1.
    """
    n_topics = doc_topic.shape[1]
    zero = doc_topic.dtype.type(0)
    smallest = doc_topic.dtype.type(SMALLEST)
    gain = np.empty(n_topics + 2 * GUARD, doc_topic.dtype)[GUARD : GUARD + n_topics]
    offset = indptr[first]
    n_skipped = 0
    for d in range(first, last):
        gain[:] = zero
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            p = zero
            for k in range(n_topics):
                p += doc_topic[d, k] * word_topic[w, k]
            if p > smallest * smallest:
                ratio = data[cell] / p
                for k in range(n_topics):
                    gain[k] += ratio * word_topic[w, k]
                    word_sum[w, k] += ratio * doc_topic[d, k]
                probability[cell - offset] = p
            else:
                probability[cell - offset] = 1
                n_skipped += 1
        total = zero
        for k in range(n_topics):
            gain[k] *= doc_topic[d, k]
            total += gain[k]
        if total > 0:  # otherwise no usable word: the row does not change
            for k in range(n_topics):
                value = gain[k] / total
                doc_topic[d, k] = value if value > smallest else zero
    return n_skipped


@njit_fast
def renew_words(word_topic, word_sum, seed_counts, beta, n_topics):
    """P(w|z) = word_topic * word_sum + beta + seed_counts, columns summing to one; in place.

    `seed_counts` holds (word, topic, pseudo-count) of seed words. A topic without any mass keeps the words it has.
    """
    n_words = word_topic.shape[0]
    totals = np.zeros(n_topics)
    for w in range(n_words):
        for k in range(n_topics):
            word_sum[w, k] = word_topic[w, k] * word_sum[w, k] + beta
    for i in range(len(seed_counts[0])):
        word_sum[seed_counts[0][i], seed_counts[1][i]] += seed_counts[2][i]
    for w in range(n_words):
        for k in range(n_topics):
            totals[k] += word_sum[w, k]
    smallest = word_topic.dtype.type(SMALLEST)
    for k in range(n_topics):
        totals[k] = 1 / totals[k] if totals[k] > 0 else 0
    for w in range(n_words):
        for k in range(n_topics):
            if totals[k] > 0:
                value = word_sum[w, k] * totals[k]
                word_topic[w, k] = value if value > smallest else 0
            word_sum[w, k] = 0


@njit_fast
def fold_in_rows(indptr, indices, data, first, last, word_topic, doc_topic, n_topics, exponent, max_iter, tol):
    """P(z|d) of documents first..last with P(w|z) fixed, each from an even start until it moves less than `tol`.

    Repeat: doc_topic = doc_topic * (n / P) @ word_topic, the row summing to one; concave, so the start does not matter.
    With an exponent below one, word_topic is already raised to it. A row without a usable word is left at -1.

    This is all in one kernel: whether numba inlines another one depends on its cache, which would change the last bits.
    """
    width = word_topic.shape[1]
    zero = word_topic.dtype.type(0)
    now = np.empty(width + 2 * GUARD, word_topic.dtype)[GUARD : GUARD + width]
    gain = np.empty(width + 2 * GUARD, word_topic.dtype)[GUARD : GUARD + width]
    for d in range(first, last):
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
def probability_rows(indptr, indices, first, last, doc_topic, word_topic, probability):
    """P(w|d) = sum_z P(z|d) P(w|z) of each cell of documents first..last, in the order of the cells."""
    n_topics = doc_topic.shape[1]
    zero = doc_topic.dtype.type(0)
    for d in range(first, last):
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            p = zero
            for k in range(n_topics):
                p += doc_topic[d, k] * word_topic[w, k]
            probability[cell] = p


@njit_fast
def document_rows(indptr, indices, data, first, last, doc_topic, word_topic, probability, renewed):
    """The documents' half of an EM step: renewed = doc_topic * (n / P) @ word_topic, rows summing to one; also P.

    A row without a usable word does not change.
    """
    n_topics = doc_topic.shape[1]
    zero = doc_topic.dtype.type(0)
    smallest = doc_topic.dtype.type(SMALLEST)
    gain = np.empty(n_topics + 2 * GUARD, doc_topic.dtype)[GUARD : GUARD + n_topics]
    for d in range(first, last):
        gain[:] = zero
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            p = zero
            for k in range(n_topics):
                p += doc_topic[d, k] * word_topic[w, k]
            probability[cell] = p
            if p > smallest * smallest:
                ratio = data[cell] / p
                for k in range(n_topics):
                    gain[k] += ratio * word_topic[w, k]
        total = zero
        for k in range(n_topics):
            gain[k] *= doc_topic[d, k]
            total += gain[k]
        for k in range(n_topics):
            renewed[d, k] = gain[k] / total if total > 0 else doc_topic[d, k]


# ---- functions on whole matrices, shared with the models built on PLSA ----------------------------------------------


class EMStep:
    """One EM step over all documents.

    Called with (doc_topic, word_topic), both padded; updates them in place and returns the log-likelihood before the
    step. With `alpha` pseudo-tokens per document, shared evenly by the topics, the step is maximum a posteriori,
    and the log-density of P(z|d) is part of what it returns.
    """

    def __init__(
        self,
        counts: sp.csr_array,
        n_topics: int,
        n_jobs: int | None,
        beta: float,
        seed_counts: SeedCounts,
        alpha: float = 0.0,
        *,
        keep_rows_on_workers: bool = False,
    ) -> None:
        self.rows = RowGroups(
            counts, padded_width(n_topics), n_jobs, seed_counts[2].dtype, keep_rows_on_workers=keep_rows_on_workers
        )
        self.n_topics, self.beta, self.seed_counts, self.alpha = n_topics, beta, seed_counts, alpha
        self.n_skipped = 0

    def __call__(self, doc_topic: np.ndarray, word_topic: np.ndarray) -> float:
        shared = (_em_block, word_topic, self.n_topics, self.alpha)
        group_results, total = self.rows.sum_over(logged_group, shared, renews=(doc_topic,))
        renew_words(word_topic, total, self.seed_counts, self.beta, self.n_topics)
        self.rows.sums.give_back(total)
        self.n_skipped = sum(n_skipped for _, n_skipped in group_results)
        return sum(log_likelihood for log_likelihood, _ in group_results)


def _em_block(
    shared: tuple[np.ndarray, int, float],
    cells: Cells,
    tables: tuple[np.ndarray, ...],
    word_sum: np.ndarray,
    probability: np.ndarray,
) -> tuple[int, float]:
    (word_topic, n_topics, alpha), (doc,) = shared, tables
    penalty = alpha / n_topics * _log_sum(doc[:, :n_topics]) if alpha > 0 else 0.0
    n_skipped = em_rows(*cells, 0, len(doc), doc, word_topic, word_sum, probability)
    shrink(doc[:, :n_topics], row_sums(cells), alpha)
    return n_skipped, penalty


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

    shared = (word_topic, topic_weight, n_topics, exponent)
    CountRows(counts, topic_word.dtype).for_each_block(_fold_in_block, shared, n_jobs, writes=(doc_topic,))
    return doc_topic


def _fold_in_block(shared: tuple[np.ndarray, np.ndarray, int, float], cells: Cells, doc: np.ndarray) -> None:
    word_topic, topic_weight, n_topics, exponent = shared
    fold_in_rows(*cells, 0, len(doc), word_topic, doc, n_topics, exponent, FOLD_IN_ITER, FOLD_IN_TOL)
    doc[doc[:, 0] < 0] = topic_weight


def cell_probabilities(
    counts: sp.csr_array, doc_topic: np.ndarray, word_topic: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """P(w|d) of every cell of the counts, in their order; both tables padded."""
    probability = np.empty(counts.nnz, doc_topic.dtype)
    rows = CountRows(counts, doc_topic.dtype)
    rows.for_each_block(_probability_block, (word_topic,), n_jobs, reads=(doc_topic,), by_cell=(probability,))
    return probability


def _probability_block(shared: tuple[np.ndarray], cells: Cells, doc_topic: np.ndarray, probability: np.ndarray) -> None:
    probability_rows(*cells[:2], 0, len(doc_topic), doc_topic, shared[0], probability)


def document_step(
    counts: sp.csr_array, doc_topic: np.ndarray, word_topic: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """P(z|d) after an EM step with P(w|z) fixed, and P(w|d) of the cells before it; tables padded."""
    probability = np.empty(counts.nnz, doc_topic.dtype)
    renewed = aligned(doc_topic.shape[0], doc_topic.shape[1], doc_topic.dtype)
    CountRows(counts, doc_topic.dtype).for_each_block(
        _document_block, (word_topic,), n_jobs, reads=(doc_topic,), writes=(renewed,), by_cell=(probability,)
    )
    return renewed, probability


def _document_block(
    shared: tuple[np.ndarray], cells: Cells, doc_topic: np.ndarray, renewed: np.ndarray, probability: np.ndarray
) -> None:
    document_rows(*cells, 0, len(doc_topic), doc_topic, shared[0], probability, renewed)


def log_likelihood(counts: sp.csr_array, probability: np.ndarray) -> float:
    """sum n ln P over the cells; those with P = 0 are left out, as in EM."""
    usable = np.where(probability > SMALLEST**2, probability, 1)
    total = 0.0
    for first in range(0, counts.nnz, _VALUES_PER_BLOCK):
        here = slice(first, first + _VALUES_PER_BLOCK)
        total += float(np.add.reduce(np.log(usable[here]) * counts.data[here], dtype=np.float64))
    return total


# ---- small things shared by the models ------------------------------------------------------------------------------


def check_size(counts: sp.csr_array, n_topics: int) -> None:
    """Raise if there are more topics than documents or words, or no words at all."""
    n_documents, n_words = counts.shape
    if n_topics > min(n_documents, n_words):
        raise InputError(
            f"n_topics={n_topics} is more than there are documents or words "
            f"(n_samples={n_documents}, n_features={n_words}): choose at most {min(n_documents, n_words)}"
        )
    if counts.nnz == 0:
        raise InputError(f"all {n_documents} documents are empty: there are no words to fit")


def counts_of_seeds(seeds: Mapping[int, np.ndarray], strength: float, dtype: DTypeLike) -> SeedCounts:
    """Seed words as (words, topics, pseudo-counts); a topic's strength is shared by its words."""
    words = [columns for _, columns in sorted(seeds.items())]
    topics = [np.full(len(columns), topic) for topic, columns in sorted(seeds.items())]
    weights = [np.full(len(columns), strength / len(columns)) for columns in words]

    def joined(parts: list[np.ndarray], kind: DTypeLike) -> np.ndarray:
        return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)

    return joined(words, np.int64), joined(topics, np.int64), joined(weights, dtype)


def log_prior(word_topic: np.ndarray, beta: float, seed_counts: SeedCounts) -> float:
    """Log-density of P(w|z) under the pseudo-counts, up to a constant; EM maximises the likelihood plus this."""
    words, topics, weights = seed_counts
    total = 0.0
    if len(words):
        total += float((weights * np.log(np.maximum(word_topic[words, topics], SMALLEST))).sum(dtype=np.float64))
    if beta > 0:
        total += beta * float(np.log(np.maximum(word_topic, SMALLEST)).sum(dtype=np.float64))
    return total


def plain_step(
    counts: sp.csr_array,
    n_topics: int,
    n_jobs: int | None,
    beta: float,
    seed_counts: SeedCounts,
    alpha: float = 0.0,
    *,
    keep_rows_on_workers: bool = False,
) -> Callable[[State], float]:
    """A step of EM on the state's tables; it returns the objective per token before the step.

    `alpha` pseudo-tokens per document, shared evenly by the topics, make it maximum a posteriori. If rows stay
    on a cluster, the state's P(z|d) is that of the last `gather`.
    """
    step = EMStep(counts, n_topics, n_jobs, beta, seed_counts, alpha, keep_rows_on_workers=keep_rows_on_workers)
    n_tokens = token_count(counts)

    def plain(state: State) -> float:
        doc_topic, word_topic = state["doc_topic"], state["word_topic"]
        penalty = log_prior(word_topic[:, :n_topics], beta, seed_counts)
        objective = (step(doc_topic, word_topic) + penalty) / n_tokens
        state["n_skipped"] = np.array(step.n_skipped)
        return objective

    return plain


def row_sums(cells: Cells) -> np.ndarray:
    """Tokens of each document of a block."""
    ends = np.concatenate([[0.0], np.cumsum(cells[2], dtype=np.float64)])
    return ends[cells[0][1:]] - ends[cells[0][:-1]]


def _log_sum(doc_topic: np.ndarray) -> float:
    return float(np.log(np.maximum(doc_topic, SMALLEST)).sum(dtype=np.float64))


def shrink(doc_topic: np.ndarray, lengths: np.ndarray, alpha: float) -> None:
    """P(z|d) with `alpha` pseudo-tokens added to each document, shared evenly by the topics; in place."""
    if alpha > 0:
        tokens = lengths[:, None]
        doc_topic[:] = (tokens * doc_topic + alpha / doc_topic.shape[1]) / (tokens + alpha)


def token_count(counts: sp.csr_array) -> float:
    """The sum of all counts, to divide by; slightly above zero if there are none."""
    return max(float(summed(counts, 1).sum()), 1e-300)


def pooled_topic_weight(counts: sp.csr_array, doc_topic: np.ndarray) -> np.ndarray:
    """P(z): the mean of P(z|d), weighted by the lengths of documents."""
    lengths, sums = summed(counts, 1), []
    for first in range(0, len(doc_topic), _ROWS_PER_SUM):
        rows = doc_topic[first : first + _ROWS_PER_SUM]
        sums.append(lengths[first : first + _ROWS_PER_SUM] @ rows)
        release(rows)
    weight = np.sum(sums, axis=0)
    return (weight / weight.sum()).astype(counts.dtype)
