"""Leave-one-out EM: collapsed variational Bayes of zero order (Asuncion, Welling, Smyth and Teh 2009).

A token's topic is inferred from the other tokens of its document, n_dk less its own share g_k, and from a prior:

    gamma_k  ~  (n_dk - g_k + alpha m_k + focus r_dk) P(w|k),   g_k ~ (n_dk + alpha m_k + focus r_dk) P(w|k)

Without the subtraction a token would support itself, and a document of five words would be certain of its topics.
The paper keeps g of every cell; here it is computed again from the tables of the last step, so that memory is that
of PLSA. As a result n_dk - g_k falls below zero in a few per cent of the cells, where it is set to zero.

The prior has two parts. alpha tokens are shared by the topics as in the whole corpus (m). `focus` tokens belong to the
document's main topic, which is not known; r is its posterior when every token is of the main topic, or with
probability alpha / (alpha + focus) of the corpus as a whole:

    r_dk  ~  m_k prod_w f_k(w)^n(d,w),   f_k(w) = (focus P(w|k) + alpha P(w)) / (focus + alpha)

A token is also left out of r: its own factor is divided out. This models that short documents are mostly about one
thing. Long ones are free to mix: beyond 30 tokens focus fades, and from 60 tokens on there is none (it changed their
topics little, and computing r takes as long as a step of PLSA). With focus = 0 the model is LDA.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import aligned, normalise_rows, padded_width, summed
from ...engine.blocks import map_blocks
from ...engine.jit import njit_fast, njit_inline
from ...engine.loop import State
from ...engine.mapped import is_mapped, release
from .passes import Cells, CountRows, LoggedJob, RowGroups, logged_group
from .plsa_kernels import SMALLEST, SeedCounts, guarded, padded, renew_words_from_counts, token_count

__all__ = [
    "DocumentPrior",
    "LeaveOneOutStep",
    "MainTopic",
    "MainTopicTables",
    "document_prior",
    "focus_of",
    "fold_in_counts",
    "fold_in_shares",
    "leave_one_out_step",
    "state_from",
]

_VALUES_PER_BLOCK = 1 << 16
_LEAST_MAIN = 1e-4  # a smaller probability of being a document's main topic counts as 0
_LEAST_RATIO, _MOST_RATIO = 1e-5, 5e4  # a product of sixty of them still fits in a float64
_ROWS = 1 << 14  # documents that are started together
_FOLD_IN_ITER = 100
_FOLD_IN_TOL = 1e-4  # of a document's tokens
FOCUSED_TOKENS = 30  # up to this many tokens focus is full; from twice as many on there is none


class DocumentPrior(NamedTuple):
    """Prior of the topics of a document, in tokens."""

    base: np.ndarray  # of each topic: alpha m
    focus: float = 0.0  # of the main topic


class MainTopic(NamedTuple):
    """What the kernels need to find the main topic of a document; the tables are empty if there is no focus."""

    focus: float  # tokens of the main topic in a short document
    mixed: float  # alpha / (alpha + focus)
    topic_share: np.ndarray  # of each topic: m
    word_mean: np.ndarray  # of each word: P(w)
    ratio: np.ndarray  # words x topics: f / P(w)


def focus_of(lengths: np.ndarray, focus: float) -> np.ndarray:
    """Tokens of the main topic in documents of these lengths."""
    return focus * np.clip(2 - lengths / FOCUSED_TOKENS, 0, 1)


def document_prior(alpha: float, topic_share: np.ndarray, focus: float = 0.0) -> DocumentPrior:
    """The prior with alpha tokens, shared by the topics as in the corpus, and `focus` tokens of the main topic."""
    return DocumentPrior(alpha * np.maximum(topic_share.astype(np.float64), 1e-12), focus)


# ---- kernels --------------------------------------------------------------------------------------------------------


@njit_fast
def main_topic_rows(first, last, word_topic, share, mixed, word_mean, ratio):
    """word_mean = P(w) = word_topic @ share;  ratio = f_k(w) / P(w) = (1 - mixed) word_topic / P(w) + mixed."""
    n_topics = word_topic.shape[1]
    smallest = word_topic.dtype.type(SMALLEST)
    for w in range(first, last):
        mean = word_topic.dtype.type(0)
        for k in range(n_topics):
            mean += word_topic[w, k] * share[k]
        mean = max(mean, smallest)
        word_mean[w] = mean
        scale = (1 - mixed) / mean
        for k in range(n_topics):
            ratio[w, k] = min(max(word_topic[w, k] * scale + mixed, _LEAST_RATIO), _MOST_RATIO)


@njit_inline
def token_count_of(indptr, data, d):
    """The tokens of document d."""
    length = data.dtype.type(0)
    for cell in range(indptr[d], indptr[d + 1]):
        length += data[cell]
    return length


@njit_inline
def main_topic_products(indptr, indices, data, d, topic_share, ratio, product):
    """product = m * prod over the cells of document d of (f / P(w))^n; the sum."""
    for k in range(len(product)):
        product[k] = topic_share[k]
    for cell in range(indptr[d], indptr[d + 1]):
        w, n = indices[cell], data[cell]
        while n >= 1:
            for k in range(len(product)):
                product[k] *= ratio[w, k]
            n -= 1
        if n > 0:
            for k in range(len(product)):
                product[k] *= ratio[w, k] ** n
    summed = 0.0
    for k in range(len(product)):
        summed += product[k]
    return summed


@njit_inline
def possible_main_topics(product, scale, main_topic, possible):
    """main_topic = r = scale product, small values 0; lists the others in possible. Returns how many these are."""
    least = main_topic.dtype.type(_LEAST_MAIN)
    n_possible = 0
    for k in range(len(main_topic)):
        main_topic[k] = product[k] * scale
        if main_topic[k] > least:
            possible[n_possible] = k
            n_possible += 1
        else:
            main_topic[k] = main_topic.dtype.type(0)
    return n_possible


# The posterior of the main topic without a token is written out in both kernels: a division may raise an error, and in
# a passage that does so references to its arrays are counted for each cell, which costs up to a third of the time.


@njit_inline
def topics_of_word(pseudo, word_topic, w, share):
    """share = A * word_topic of word w; the sum P."""
    p = share.dtype.type(0)
    for k in range(word_topic.shape[1]):
        share[k] = pseudo[k] * word_topic[w, k]
        p += share[k]
    return p


@njit_inline
def leave_out_share(count, base, word_topic, w, scale, share):
    """share = (max(count - g, 0) + base) * word_topic, where g = scale share is a token's own part; the sum."""
    zero = share.dtype.type(0)
    q = zero
    for k in range(word_topic.shape[1]):
        rest = max(count[k] - share[k] * scale, zero) + base[k]
        share[k] = rest * word_topic[w, k]
        q += share[k]
    return q


@njit_inline
def add_main_topic(q, scale, others_main, possible, n_possible, word_topic, w, share):
    """share += scale others_main * word_topic for the possible topics; the sum, with q."""
    for i in range(n_possible):
        k = possible[i]
        value = scale * others_main[i] * word_topic[w, k]
        share[k] += value
        q += value
    return q


@njit_fast
def leave_one_out_rows(
    indptr, indices, data, first, last, doc_count, base, main, word_topic, word_sum, probability, holds_prior
):
    """One step for documents first..last; the expected counts n_dk in doc_count are updated in place.

    focus = main.focus if the document is short, less if it is longer: focus_of(tokens of the document)
    r = m * prod over the cells of (f / P(w))^n, summing to one, small values 0
    A = doc_count + base + focus r;  P = A @ word_topic.T;  g = A * word_topic / P
    a = max(doc_count - g, 0) + base + focus r', r' = r / f(w), summing to one;  Q = sum_k a * word_topic
    gamma = a * word_topic / Q;  doc_count' = sum over the cells of n gamma;  word_sum += n gamma
    probability = Q / (sum A - 1), that of this token given the others; a cell with Q = 0 is left out, shown as 1.
    If doc_count `holds_prior`, the input is A and the output is doc_count' + focus r.
    """
    n_topics, dtype = doc_count.shape[1], doc_count.dtype
    focus, mixed, topic_share, word_mean, ratio = main
    zero, one, smallest, tokens = dtype.type(0), dtype.type(1), dtype.type(SMALLEST), dtype.type(FOCUSED_TOKENS)
    share, pseudo, gain = guarded(n_topics, dtype), guarded(n_topics, dtype), guarded(n_topics, dtype)
    main_topic, product = guarded(n_topics, dtype), guarded(n_topics, np.float64)
    others_main, possible = np.empty(n_topics, dtype), np.empty(n_topics, np.int64)
    main_topic[:] = zero
    offset = indptr[first]
    n_skipped = 0
    for d in range(first, last):
        # the main topic
        length = token_count_of(indptr, data, d)
        strength = focus * min(max(one + one - length / tokens, zero), one)
        n_possible = 0
        if strength > 0:
            summed = main_topic_products(indptr, indices, data, d, topic_share, ratio, product)
            n_possible = possible_main_topics(product, 1 / max(summed, 1e-300), main_topic, possible)
        # the counts of the last step, with the prior
        count = doc_count[d]
        total = zero
        for k in range(n_topics):
            if holds_prior:
                count[k] = max(count[k] - base[k] - strength * main_topic[k], zero)
            pseudo[k] = count[k] + base[k] + strength * main_topic[k]
            total += pseudo[k]
            gain[k] = zero
        others = one / max(total - one, smallest)
        # the topics of each word, given the other words
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            p = topics_of_word(pseudo, word_topic, w, share)
            q = zero
            if p > smallest * smallest:
                q = leave_out_share(count, base, word_topic, w, one / p, share)
                rest = zero
                for i in range(n_possible):
                    k = possible[i]
                    others_main[i] = main_topic[k] / ((one - mixed) * word_topic[w, k] + mixed * word_mean[w])
                    rest += others_main[i]
                if rest > 0:
                    q = add_main_topic(q, strength / rest, others_main, possible, n_possible, word_topic, w, share)
            if q > smallest * smallest:
                scale = data[cell] / q
                for k in range(n_topics):
                    value = scale * share[k]
                    gain[k] += value
                    word_sum[w, k] += value
                probability[cell - offset] = min(q * others, one)
            else:
                probability[cell - offset] = one
                n_skipped += 1
        # the new counts
        for k in range(n_topics):
            value = gain[k] + strength * main_topic[k] if holds_prior else gain[k]
            count[k] = value if value > smallest else zero
    return n_skipped


@njit_fast
def fold_in_leave_one_out_rows(
    indptr, indices, data, first, last, word_topic, base, main, doc_count, max_iter, tol, with_prior
):
    """The step of leave_one_out_rows with P(w|z) fixed, until n_dk changes by less than `tol` of the tokens.

    `base` has one row, or one per document. Starts from base scaled to the document's tokens. A row without a usable
    word ends at zero. `with_prior` returns A = n + base + focus r instead of n.
    """
    n_topics, dtype = word_topic.shape[1], doc_count.dtype
    focus, mixed, topic_share, word_mean, ratio = main
    zero, one, smallest, tokens = dtype.type(0), dtype.type(1), dtype.type(SMALLEST), dtype.type(FOCUSED_TOKENS)
    share, pseudo, gain = guarded(n_topics, dtype), guarded(n_topics, dtype), guarded(n_topics, dtype)
    count, prior = guarded(n_topics, dtype), guarded(n_topics, dtype)
    main_topic, product = guarded(n_topics, dtype), guarded(n_topics, np.float64)
    others_main, possible = np.empty(n_topics, dtype), np.empty(n_topics, np.int64)
    main_topic[:] = zero
    for d in range(first, last):
        # the prior, with the main topic
        doc_base = base[d if base.shape[0] > 1 else 0]
        length = token_count_of(indptr, data, d)
        strength = focus * min(max(one + one - length / tokens, zero), one)
        n_possible = 0
        if strength > 0:
            summed = main_topic_products(indptr, indices, data, d, topic_share, ratio, product)
            n_possible = possible_main_topics(product, 1 / max(summed, 1e-300), main_topic, possible)
        total = zero
        for k in range(n_topics):
            prior[k] = doc_base[k] + strength * main_topic[k]
            total += prior[k]
        for k in range(n_topics):
            count[k] = prior[k] * (length / max(total, smallest))
        for _ in range(max_iter):
            # the counts of the last step, with the prior
            for k in range(n_topics):
                pseudo[k] = count[k] + prior[k]
                gain[k] = zero
            # the topics of each word, given the other words
            for cell in range(indptr[d], indptr[d + 1]):
                w = indices[cell]
                p = topics_of_word(pseudo, word_topic, w, share)
                q = zero
                if p > smallest * smallest:
                    q = leave_out_share(count, doc_base, word_topic, w, one / p, share)
                    rest = zero
                    for i in range(n_possible):
                        k = possible[i]
                        others_main[i] = main_topic[k] / ((one - mixed) * word_topic[w, k] + mixed * word_mean[w])
                        rest += others_main[i]
                    if rest > 0:
                        q = add_main_topic(q, strength / rest, others_main, possible, n_possible, word_topic, w, share)
                if q > smallest * smallest:
                    scale = data[cell] / q
                    for k in range(n_topics):
                        gain[k] += scale * share[k]
            # the new counts
            change = zero
            for k in range(n_topics):
                change += abs(gain[k] - count[k])
                count[k] = gain[k] if gain[k] > smallest else zero
            if change < tol * length or length == zero:
                break
        for k in range(n_topics):
            doc_count[d, k] = count[k] + prior[k] if with_prior else count[k]


# ---- functions on whole matrices ------------------------------------------------------------------------------------


class LeaveOneOutStep:
    """One leave-one-out step over all documents.

    Called with (doc_count, word_topic, prior), tables padded; updates both tables in place and returns the
    log-likelihood of each token given the others of its document, summed, and the tokens of each topic.
    `holds_prior` means that doc_count are pseudo-counts that include the prior.
    """

    def __init__(
        self,
        counts: sp.csr_array,
        n_topics: int,
        n_jobs: int | None,
        beta: float,
        seed_counts: SeedCounts,
        *,
        keep_rows_on_workers: bool = False,
    ) -> None:
        dtype = seed_counts.pseudo_counts.dtype
        self.rows = RowGroups(counts, padded_width(n_topics), n_jobs, dtype, keep_rows_on_workers=keep_rows_on_workers)
        self.n_topics, self.beta, self.seed_counts = n_topics, beta, seed_counts
        self.tables = MainTopicTables(counts.shape[1], n_topics, dtype, n_jobs)
        self.n_skipped = 0

    def __call__(
        self, doc_count: np.ndarray, word_topic: np.ndarray, prior: DocumentPrior, holds_prior: bool = False
    ) -> tuple[float, np.ndarray]:
        base, main = padded(prior.base[None], doc_count.dtype)[0], self.tables.of(word_topic, prior)
        job = LoggedJob(_leave_one_out_block, _StepInput(base, main, word_topic, holds_prior))
        group_results, total = self.rows.sum_over(logged_group, job, renews=(doc_count,))
        tokens = renew_words_from_counts(word_topic, total, self.seed_counts, self.beta, self.n_topics)
        self.rows.sums.give_back(total)
        self.n_skipped = sum(n_skipped for _, n_skipped in group_results)
        return sum(log_likelihood for log_likelihood, _ in group_results), tokens


class _StepInput(NamedTuple):
    base: np.ndarray
    main: MainTopic
    word_topic: np.ndarray
    holds_prior: bool


def _leave_one_out_block(
    inputs: _StepInput,
    cells: Cells,
    tables: tuple[np.ndarray, ...],
    word_sum: np.ndarray,
    probability: np.ndarray,
) -> tuple[int, float]:
    (doc_count,) = tables
    rows, words = (0, len(doc_count), doc_count), (inputs.word_topic, word_sum, probability)
    return leave_one_out_rows(*cells, *rows, inputs.base, inputs.main, *words, inputs.holds_prior), 0.0


class MainTopicTables:
    """What the kernels need of each word to find the main topic of a document; computed again for each P(w|z)."""

    def __init__(self, n_words: int, n_topics: int, dtype: np.dtype, n_jobs: int | None) -> None:
        self.shape, self.n_jobs = (n_words, n_topics), n_jobs
        self.word_mean = np.ones(1, dtype)
        self.ratio = aligned(1, n_topics, dtype)

    def of(self, word_topic: np.ndarray, prior: DocumentPrior) -> MainTopic:
        """The tables for this P(w|z) and prior."""
        (n_words, n_topics), dtype = self.shape, word_topic.dtype
        alpha = prior.base.sum()
        share = prior.base / alpha
        wide = padded(share[None], np.float64)[0]
        mixed = alpha / (alpha + prior.focus)
        if prior.focus > 0:
            if len(self.word_mean) != n_words:
                self.word_mean, self.ratio = np.empty(n_words, dtype), aligned(n_words, n_topics, dtype)
            size = max(1, _VALUES_PER_BLOCK // word_topic.shape[1])

            def block(first: int) -> None:
                last = min(first + size, n_words)
                main_topic_rows(first, last, word_topic, wide, dtype.type(mixed), self.word_mean, self.ratio)

            map_blocks(block, range(0, n_words, size), self.n_jobs)
        return MainTopic(dtype.type(prior.focus), dtype.type(mixed), wide, self.word_mean, self.ratio)


def leave_one_out_step(
    counts: sp.csr_array,
    n_topics: int,
    n_jobs: int | None,
    alpha: float,
    beta: float,
    focus: float,
    seed_counts: SeedCounts,
    *,
    keep_rows_on_workers: bool = False,
) -> Callable[[State], float]:
    """A step on a state's tables; it returns the objective per token before the step.

    The prior of a document is alpha tokens, which the topics share by their size in the last step, and `focus` tokens
    of the main topic. If rows stay on a cluster, the state's counts are those of the last `gather`.
    """
    step = LeaveOneOutStep(counts, n_topics, n_jobs, beta, seed_counts, keep_rows_on_workers=keep_rows_on_workers)
    n_tokens = token_count(counts)

    def step_of_state(state: State) -> float:
        prior = document_prior(alpha, state["topic_share"], focus)
        log_likelihood, tokens = step(state["doc_count"], state["word_topic"], prior)
        state["topic_share"] = tokens / max(tokens.sum(), 1e-300)
        return log_likelihood / n_tokens

    return step_of_state


def state_from(counts: sp.csr_array, doc_topic: np.ndarray, topic_word: np.ndarray) -> State:
    """The tables of a fit that starts from P(z|d) and P(w|z)."""
    lengths, on_disk = summed(counts, 1), is_mapped(counts.data)
    doc_count = aligned(counts.shape[0], len(topic_word), counts.dtype, on_disk=on_disk)
    for first in range(0, len(doc_count), _ROWS):
        rows = slice(first, first + _ROWS)
        doc_count[rows, : len(topic_word)] = lengths[rows, None] * doc_topic[rows]
        release(doc_count[rows])
    return {
        "doc_count": doc_count,
        "word_topic": padded(topic_word.T, counts.dtype),
        "topic_share": np.full(len(topic_word), 1 / len(topic_word)),
    }


# ---- new documents --------------------------------------------------------------------------------------------------


def fold_in_counts(
    counts: sp.csr_array,
    topic_word: np.ndarray,
    prior: DocumentPrior,
    n_jobs: int | None = None,
    *,
    pull: np.ndarray | None = None,
    with_prior: bool = False,
) -> np.ndarray:
    """Expected counts n_dk of documents with P(w|z) fixed, or pseudo-counts that include the prior.

    `pull` has further pseudo-counts for each document, those of its neighbours, and is part of its prior.
    """
    return _folded_in(counts, topic_word, prior, n_jobs, pull, with_prior, shares=False)


def fold_in_shares(
    counts: sp.csr_array, topic_word: np.ndarray, prior: DocumentPrior, n_jobs: int | None = None
) -> np.ndarray:
    """P(z|d) of documents with P(w|z) fixed: pseudo-counts that include the prior, rows summing to one."""
    return _folded_in(counts, topic_word, prior, n_jobs, None, True, shares=True)


def _folded_in(
    counts: sp.csr_array,
    topic_word: np.ndarray,
    prior: DocumentPrior,
    n_jobs: int | None,
    pull: np.ndarray | None,
    with_prior: bool,
    *,
    shares: bool,
) -> np.ndarray:
    n_topics, dtype = len(topic_word), topic_word.dtype
    word_topic = padded(topic_word.T, dtype)
    main = MainTopicTables(topic_word.shape[1], n_topics, dtype, n_jobs).of(word_topic, prior)
    doc_count = aligned(counts.shape[0], n_topics, dtype, on_disk=is_mapped(counts.data))
    base, reads = (padded(np.atleast_2d(prior.base), dtype), ()) if pull is None else (prior.base, (pull,))
    inputs = _FoldInInput(word_topic, base, main, n_topics, with_prior, shares)
    CountRows(counts, dtype).for_each_block(_folded_in_block, inputs, n_jobs, reads=reads, writes=(doc_count,))
    return doc_count[:, :n_topics]


class _FoldInInput(NamedTuple):
    word_topic: np.ndarray
    base: np.ndarray
    main: MainTopic
    n_topics: int
    with_prior: bool
    shares: bool


def _folded_in_block(inputs: _FoldInInput, cells: Cells, *tables: np.ndarray) -> None:
    """Fill the last of the tables; the one before it, if any, has the pseudo-counts of neighbours."""
    base, doc_count = inputs.base, tables[-1]
    if len(tables) > 1:
        base = padded(base + tables[0], doc_count.dtype)
    topics, limits = (inputs.word_topic, base, inputs.main), (_FOLD_IN_ITER, _FOLD_IN_TOL)
    fold_in_leave_one_out_rows(*cells, 0, len(doc_count), *topics, doc_count, *limits, inputs.with_prior)
    if inputs.shares:
        real_topics = doc_count[:, : inputs.n_topics]  # without the padding
        normalise_rows(real_topics, out=real_topics)
