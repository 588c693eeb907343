"""EM on documents x words with P(w|d) = sum_z P(z|d) P(w|z): the kernels shared by PLSA and the models built on it.

The E-step is never stored: for each cell n(d,w) the kernel computes p = P(w|d), adds n/p P(w|z) to the document and
n/p P(z|d) to the word, and moves on; only the parameters need memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import aligned, padded, padded_width, summed
from ...engine.jit import njit_fast, njit_inline
from ...engine.loop import State
from ...engine.mapped import release
from ...errors import InputError
from .passes import Cells, CountRows, LoggedJob, RowGroups, logged_group

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
    "guarded",
    "log_likelihood",
    "log_prior",
    "padded",
    "plain_step",
    "pooled_topic_weight",
    "renew_words_from_counts",
    "row_sums",
    "shrink",
    "token_count",
]

SMALLEST = 1e-18  # smaller probabilities become 0: subnormal numbers make late iterations four times slower
# Values around the scratch arrays of a kernel. Vector code runs only if arrays are at least this far apart; with
# another array nearby, which is a matter of chance, the same loop would run value by value and round differently.
# Kernels in several files use it: their caches do not notice a change of it, or of `guarded`.
GUARD = 128
_ROWS_PER_SUM = 1 << 14
_VALUES_PER_BLOCK = 1 << 16


class SeedCounts(NamedTuple):
    """Pseudo-counts of seed words in P(w|z), one entry for each word of a topic."""

    words: np.ndarray
    topics: np.ndarray
    pseudo_counts: np.ndarray


# ---- kernels --------------------------------------------------------------------------------------------------------


@njit_inline
def guarded(size, dtype):
    """A scratch array of one row, far from any other array."""
    return np.empty(size + 2 * GUARD, dtype)[GUARD : GUARD + size]


@njit_inline
def word_probability(doc_topic, d, word_topic, w):
    """P(w|d) = sum_z P(z|d) P(w|z)."""
    p = doc_topic.dtype.type(0)
    for k in range(doc_topic.shape[1]):
        p += doc_topic[d, k] * word_topic[w, k]
    return p


@njit_inline
def weigh_gain(gain, doc_topic, d):
    """gain *= doc_topic[d], the tokens of each topic in the document; their sum."""
    total = doc_topic.dtype.type(0)
    for k in range(doc_topic.shape[1]):
        gain[k] *= doc_topic[d, k]
        total += gain[k]
    return total


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
    gain = guarded(n_topics, doc_topic.dtype)
    offset = indptr[first]
    n_skipped = 0
    for d in range(first, last):
        # what each word adds to the document's topics, and the document to the word's
        gain[:] = zero
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            p = word_probability(doc_topic, d, word_topic, w)
            if p > smallest * smallest:
                ratio = data[cell] / p
                for k in range(n_topics):
                    gain[k] += ratio * word_topic[w, k]
                    word_sum[w, k] += ratio * doc_topic[d, k]
                probability[cell - offset] = p
            else:
                probability[cell - offset] = 1
                n_skipped += 1
        # the document's new topics
        total = weigh_gain(gain, doc_topic, d)
        if total > 0:  # otherwise no usable word: the row does not change
            for k in range(n_topics):
                value = gain[k] / total
                doc_topic[d, k] = value if value > smallest else zero
    return n_skipped


@njit_inline
def topic_totals(word_sum, seed_counts, n_topics):
    """Add the pseudo-counts of seed words to word_sum; the totals of topics."""
    for i in range(len(seed_counts.words)):
        word_sum[seed_counts.words[i], seed_counts.topics[i]] += seed_counts.pseudo_counts[i]
    totals = np.zeros(n_topics)
    for w in range(len(word_sum)):
        for k in range(n_topics):
            totals[k] += word_sum[w, k]
    return totals


@njit_fast
def renew_words(word_topic, word_sum, seed_counts, beta, n_topics):
    """P(w|z) = word_topic * word_sum + beta + seed_counts, columns summing to one; in place. word_sum becomes zero.

    A topic without any mass keeps the words it has.
    """
    n_words = word_topic.shape[0]
    for w in range(n_words):
        for k in range(n_topics):
            word_sum[w, k] = word_topic[w, k] * word_sum[w, k] + beta
    totals = topic_totals(word_sum, seed_counts, n_topics)
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
def renew_words_from_counts(word_topic, word_sum, seed_counts, beta, n_topics):
    """P(w|z) = word_sum + beta + seed_counts, columns summing to one; word_sum becomes zero. Returns tokens per topic.

    A topic without any mass keeps the words it has.
    """
    n_words = word_topic.shape[0]
    tokens = np.zeros(n_topics)
    for w in range(n_words):
        for k in range(n_topics):
            tokens[k] += word_sum[w, k]
            word_sum[w, k] += beta
    totals = topic_totals(word_sum, seed_counts, n_topics)
    for w in range(n_words):
        for k in range(n_topics):
            if totals[k] > 0:
                word_topic[w, k] = word_sum[w, k] / totals[k]
            word_sum[w, k] = 0
    return tokens


@njit_fast
def probability_rows(indptr, indices, first, last, doc_topic, word_topic, probability):
    """P(w|d) = sum_z P(z|d) P(w|z) of each cell of documents first..last, in the order of the cells."""
    for d in range(first, last):
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            probability[cell] = word_probability(doc_topic, d, word_topic, w)


@njit_fast
def document_rows(indptr, indices, data, first, last, doc_topic, word_topic, probability, renewed):
    """The documents' half of an EM step: renewed = doc_topic * (n / P) @ word_topic, rows summing to one; also P.

    A row without a usable word does not change.
    """
    n_topics = doc_topic.shape[1]
    zero = doc_topic.dtype.type(0)
    smallest = doc_topic.dtype.type(SMALLEST)
    gain = guarded(n_topics, doc_topic.dtype)
    for d in range(first, last):
        gain[:] = zero
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            p = word_probability(doc_topic, d, word_topic, w)
            probability[cell] = p
            if p > smallest * smallest:
                ratio = data[cell] / p
                for k in range(n_topics):
                    gain[k] += ratio * word_topic[w, k]
        total = weigh_gain(gain, doc_topic, d)
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
            counts,
            padded_width(n_topics),
            n_jobs,
            seed_counts.pseudo_counts.dtype,
            keep_rows_on_workers=keep_rows_on_workers,
        )
        self.n_topics, self.beta, self.seed_counts, self.alpha = n_topics, beta, seed_counts, alpha
        self.n_skipped = 0

    def __call__(self, doc_topic: np.ndarray, word_topic: np.ndarray) -> float:
        job = LoggedJob(_em_block, _EMInput(word_topic, self.n_topics, self.alpha))
        group_results, total = self.rows.sum_over(logged_group, job, renews=(doc_topic,))
        renew_words(word_topic, total, self.seed_counts, self.beta, self.n_topics)
        self.rows.sums.give_back(total)
        self.n_skipped = sum(n_skipped for _, n_skipped in group_results)
        return sum(log_likelihood for log_likelihood, _ in group_results)


class _EMInput(NamedTuple):
    word_topic: np.ndarray
    n_topics: int
    alpha: float


def _em_block(
    inputs: _EMInput,
    cells: Cells,
    tables: tuple[np.ndarray, ...],
    word_sum: np.ndarray,
    probability: np.ndarray,
) -> tuple[int, float]:
    (doc_topic,) = tables
    real_topics, alpha = doc_topic[:, : inputs.n_topics], inputs.alpha  # without the padding
    penalty = alpha / inputs.n_topics * _log_sum(real_topics) if alpha > 0 else 0.0
    n_skipped = em_rows(*cells, 0, len(doc_topic), doc_topic, inputs.word_topic, word_sum, probability)
    shrink(real_topics, row_sums(cells), alpha)
    return n_skipped, penalty


def cell_probabilities(
    counts: sp.csr_array, doc_topic: np.ndarray, word_topic: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """P(w|d) of every cell of the counts, in their order; both tables padded."""
    probability = np.empty(counts.nnz, doc_topic.dtype)
    rows = CountRows(counts, doc_topic.dtype)
    rows.for_each_block(_probability_block, word_topic, n_jobs, reads=(doc_topic,), by_cell=(probability,))
    return probability


def _probability_block(word_topic: np.ndarray, cells: Cells, doc_topic: np.ndarray, probability: np.ndarray) -> None:
    probability_rows(*cells[:2], 0, len(doc_topic), doc_topic, word_topic, probability)


def document_step(
    counts: sp.csr_array, doc_topic: np.ndarray, word_topic: np.ndarray, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """P(z|d) after an EM step with P(w|z) fixed, and P(w|d) of the cells before it; tables padded."""
    probability = np.empty(counts.nnz, doc_topic.dtype)
    renewed = aligned(doc_topic.shape[0], doc_topic.shape[1], doc_topic.dtype)
    CountRows(counts, doc_topic.dtype).for_each_block(
        _document_block, word_topic, n_jobs, reads=(doc_topic,), writes=(renewed,), by_cell=(probability,)
    )
    return renewed, probability


def _document_block(
    word_topic: np.ndarray, cells: Cells, doc_topic: np.ndarray, renewed: np.ndarray, probability: np.ndarray
) -> None:
    document_rows(*cells, 0, len(doc_topic), doc_topic, word_topic, probability, renewed)


def log_likelihood(counts: sp.csr_array, probability: np.ndarray) -> float:
    """sum n ln P over the cells; those with P = 0 are left out, as in EM."""
    usable = np.where(probability > SMALLEST**2, probability, 1)
    total = 0.0
    for first in range(0, counts.nnz, _VALUES_PER_BLOCK):
        cells = slice(first, first + _VALUES_PER_BLOCK)
        total += float(np.add.reduce(np.log(usable[cells]) * counts.data[cells], dtype=np.float64))
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
    """The pseudo-counts of seed words; a topic's strength is shared by its words."""
    words = [columns for _, columns in sorted(seeds.items())]
    topics = [np.full(len(columns), topic) for topic, columns in sorted(seeds.items())]
    weights = [np.full(len(columns), strength / len(columns)) for columns in words]

    def joined(parts: list[np.ndarray], kind: DTypeLike) -> np.ndarray:
        return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)

    return SeedCounts(joined(words, np.int64), joined(topics, np.int64), joined(weights, dtype))


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
