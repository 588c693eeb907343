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
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import aligned, normalise_rows, padded_width
from ...engine.blocks import map_blocks
from ...engine.jit import njit_fast
from ...engine.loop import State
from ...engine.mapped import is_mapped
from .passes import Cells, CountRows, RowGroups, logged_group
from .plsa_kernels import GUARD, SMALLEST, SeedCounts, padded, token_count

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
]

_VALUES_PER_BLOCK = 1 << 16
_LEAST_MAIN = 1e-4  # a smaller probability of being a document's main topic counts as 0
_LEAST_RATIO, _MOST_RATIO = 1e-5, 5e4  # a product of sixty of them still fits in a float64
_FOLD_IN_ITER = 100
_FOLD_IN_TOL = 1e-4  # of a document's tokens
FOCUSED_TOKENS = 30  # up to this many tokens focus is full; from twice as many on there is none


class DocumentPrior(NamedTuple):
    """Prior of the topics of a document, in tokens."""

    base: np.ndarray  # of each topic: alpha m
    focus: float = 0.0  # of the main topic


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


@njit_fast
def leave_one_out_rows(
    indptr, indices, data, first, last, doc_count, base, main, word_topic, word_sum, probability, holds_prior
):
    """One step for documents first..last; the expected counts n_dk in doc_count are updated in place.

    main = (focus, mixed, m, P(w), f / P(w));  focus = focus_of(tokens of the document)
    r = m * prod over the cells of (f / P(w))^n, summing to one, small values 0
    A = doc_count + base + focus r;  P = A @ word_topic.T;  g = A * word_topic / P
    a = max(doc_count - g, 0) + base + focus r', r' = r / f(w), summing to one;  Q = sum_k a * word_topic
    gamma = a * word_topic / Q;  doc_count' = sum over the cells of n gamma;  word_sum += n gamma
    probability = Q / (sum A - 1), that of this token given the others; a cell with Q = 0 is left out, shown as 1.
    If doc_count `holds_prior`, the input is A and the output is doc_count' + focus r.
    """
    n_topics = doc_count.shape[1]
    focus, mixed, topic_share, word_mean, ratio = main
    zero, one = doc_count.dtype.type(0), doc_count.dtype.type(1)
    smallest = doc_count.dtype.type(SMALLEST)
    least, tokens = doc_count.dtype.type(_LEAST_MAIN), doc_count.dtype.type(FOCUSED_TOKENS)
    size = n_topics + 2 * GUARD
    share = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    pseudo = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    gain = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    main_topic = np.zeros(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    product = np.empty(size, np.float64)[GUARD : GUARD + n_topics]
    others_main = np.empty(n_topics, doc_count.dtype)
    possible = np.empty(n_topics, np.int64)
    offset = indptr[first]
    n_skipped = 0
    for d in range(first, last):
        length = zero
        for cell in range(indptr[d], indptr[d + 1]):
            length += data[cell]
        strength = focus * min(max(one + one - length / tokens, zero), one)
        n_possible = 0
        if strength > 0:
            for k in range(n_topics):
                product[k] = topic_share[k]
            for cell in range(indptr[d], indptr[d + 1]):
                w, n = indices[cell], data[cell]
                while n >= 1:
                    for k in range(n_topics):
                        product[k] *= ratio[w, k]
                    n -= 1
                if n > 0:
                    for k in range(n_topics):
                        product[k] *= ratio[w, k] ** n
            summed = 0.0
            for k in range(n_topics):
                summed += product[k]
            scaled = 1 / max(summed, 1e-300)
            for k in range(n_topics):
                main_topic[k] = product[k] * scaled
                if main_topic[k] > least:
                    possible[n_possible] = k
                    n_possible += 1
                else:
                    main_topic[k] = zero
        total = zero
        for k in range(n_topics):
            if holds_prior:
                doc_count[d, k] = max(doc_count[d, k] - base[k] - strength * main_topic[k], zero)
            pseudo[k] = doc_count[d, k] + base[k] + strength * main_topic[k]
            total += pseudo[k]
            gain[k] = zero
        others = one / max(total - one, smallest)
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            p = zero
            for k in range(n_topics):
                share[k] = pseudo[k] * word_topic[w, k]
                p += share[k]
            q = zero
            if p > smallest * smallest:
                scale = one / p
                for k in range(n_topics):
                    rest = max(doc_count[d, k] - share[k] * scale, zero) + base[k]
                    share[k] = rest * word_topic[w, k]
                    q += share[k]
                rest = zero
                for i in range(n_possible):
                    k = possible[i]
                    others_main[i] = main_topic[k] / ((one - mixed) * word_topic[w, k] + mixed * word_mean[w])
                    rest += others_main[i]
                if rest > 0:
                    scale = strength / rest
                    for i in range(n_possible):
                        k = possible[i]
                        value = scale * others_main[i] * word_topic[w, k]
                        share[k] += value
                        q += value
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
        for k in range(n_topics):
            value = gain[k] + strength * main_topic[k] if holds_prior else gain[k]
            doc_count[d, k] = value if value > smallest else zero
    return n_skipped


@njit_fast
def renew_words_from_counts(word_topic, word_sum, seed_counts, beta, n_topics):
    """P(w|z) = word_sum + beta + seed_counts, columns summing to one; word_sum becomes zero. Returns tokens per topic.

    `seed_counts` holds (word, topic, pseudo-count) of seed words. A topic without any mass keeps the words it has.
    """
    n_words = word_topic.shape[0]
    tokens = np.zeros(n_topics)
    totals = np.zeros(n_topics)
    for w in range(n_words):
        for k in range(n_topics):
            tokens[k] += word_sum[w, k]
            word_sum[w, k] += beta
    for i in range(len(seed_counts[0])):
        word_sum[seed_counts[0][i], seed_counts[1][i]] += seed_counts[2][i]
    for w in range(n_words):
        for k in range(n_topics):
            totals[k] += word_sum[w, k]
    for w in range(n_words):
        for k in range(n_topics):
            if totals[k] > 0:
                word_topic[w, k] = word_sum[w, k] / totals[k]
            word_sum[w, k] = 0
    return tokens


@njit_fast
def fold_in_leave_one_out_rows(
    indptr, indices, data, first, last, word_topic, base, main, doc_count, max_iter, tol, with_prior
):
    """The step of leave_one_out_rows with P(w|z) fixed, until n_dk changes by less than `tol` of the tokens.

    `base` has one row, or one per document.

    Starts from base scaled to the document's tokens. A row without a usable word ends at zero. `with_prior` returns
    A = n + base + focus r instead of n.
    """
    n_topics = word_topic.shape[1]
    focus, mixed, topic_share, word_mean, ratio = main
    zero, one = doc_count.dtype.type(0), doc_count.dtype.type(1)
    smallest = doc_count.dtype.type(SMALLEST)
    least, tokens = doc_count.dtype.type(_LEAST_MAIN), doc_count.dtype.type(FOCUSED_TOKENS)
    size = n_topics + 2 * GUARD
    share = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    now = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    gain = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    prior = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    main_topic = np.zeros(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    product = np.empty(size, np.float64)[GUARD : GUARD + n_topics]
    others_main = np.empty(n_topics, doc_count.dtype)
    possible = np.empty(n_topics, np.int64)
    for d in range(first, last):
        own = base[d if base.shape[0] > 1 else 0]
        length, total = zero, zero
        for cell in range(indptr[d], indptr[d + 1]):
            length += data[cell]
        strength = focus * min(max(one + one - length / tokens, zero), one)
        n_possible = 0
        if strength > 0:
            for k in range(n_topics):
                product[k] = topic_share[k]
            for cell in range(indptr[d], indptr[d + 1]):
                w, n = indices[cell], data[cell]
                while n >= 1:
                    for k in range(n_topics):
                        product[k] *= ratio[w, k]
                    n -= 1
                if n > 0:
                    for k in range(n_topics):
                        product[k] *= ratio[w, k] ** n
            summed = 0.0
            for k in range(n_topics):
                summed += product[k]
            scaled = 1 / max(summed, 1e-300)
            for k in range(n_topics):
                main_topic[k] = product[k] * scaled
                if main_topic[k] > least:
                    possible[n_possible] = k
                    n_possible += 1
                else:
                    main_topic[k] = zero
        for k in range(n_topics):
            prior[k] = own[k] + strength * main_topic[k]
            total += prior[k]
        for k in range(n_topics):
            now[k] = prior[k] * (length / max(total, smallest))
        for _ in range(max_iter):
            for k in range(n_topics):
                gain[k] = zero
            for cell in range(indptr[d], indptr[d + 1]):
                w = indices[cell]
                p = zero
                for k in range(n_topics):
                    share[k] = (now[k] + prior[k]) * word_topic[w, k]
                    p += share[k]
                q = zero
                if p > smallest * smallest:
                    scale = one / p
                    for k in range(n_topics):
                        rest = max(now[k] - share[k] * scale, zero) + own[k]
                        share[k] = rest * word_topic[w, k]
                        q += share[k]
                    rest = zero
                    for i in range(n_possible):
                        k = possible[i]
                        others_main[i] = main_topic[k] / ((one - mixed) * word_topic[w, k] + mixed * word_mean[w])
                        rest += others_main[i]
                    if rest > 0:
                        scale = strength / rest
                        for i in range(n_possible):
                            k = possible[i]
                            value = scale * others_main[i] * word_topic[w, k]
                            share[k] += value
                            q += value
                if q > smallest * smallest:
                    scale = data[cell] / q
                    for k in range(n_topics):
                        gain[k] += scale * share[k]
            change = zero
            for k in range(n_topics):
                change += abs(gain[k] - now[k])
                now[k] = gain[k] if gain[k] > smallest else zero
            if change < tol * length or length == zero:
                break
        for k in range(n_topics):
            doc_count[d, k] = now[k] + prior[k] if with_prior else now[k]


# ---- functions on whole matrices ------------------------------------------------------------------------------------


MainTopic: TypeAlias = tuple[float, float, np.ndarray, np.ndarray, np.ndarray]


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
        dtype = seed_counts[2].dtype
        self.rows = RowGroups(counts, padded_width(n_topics), n_jobs, dtype, keep_rows_on_workers=keep_rows_on_workers)
        self.n_topics, self.beta, self.seed_counts = n_topics, beta, seed_counts
        self.tables = MainTopicTables(counts.shape[1], n_topics, dtype, n_jobs)
        self.n_skipped = 0

    def __call__(
        self, doc_count: np.ndarray, word_topic: np.ndarray, prior: DocumentPrior, holds_prior: bool = False
    ) -> tuple[float, np.ndarray]:
        base, main = padded(prior.base[None], doc_count.dtype)[0], self.tables.of(word_topic, prior)
        shared = (_leave_one_out_block, base, main, word_topic, holds_prior)
        group_results, total = self.rows.sum_over(logged_group, shared, renews=(doc_count,))
        tokens = renew_words_from_counts(word_topic, total, self.seed_counts, self.beta, self.n_topics)
        self.rows.sums.give_back(total)
        self.n_skipped = sum(n_skipped for _, n_skipped in group_results)
        return sum(log_likelihood for log_likelihood, _ in group_results), tokens


def _leave_one_out_block(
    shared: tuple[np.ndarray, MainTopic, np.ndarray, bool],
    cells: Cells,
    tables: tuple[np.ndarray, ...],
    word_sum: np.ndarray,
    probability: np.ndarray,
) -> tuple[int, float]:
    (base, main, word_topic, holds_prior), (doc_count,) = shared, tables
    n_documents = len(doc_count)
    words = (word_topic, word_sum, probability)
    return leave_one_out_rows(*cells, 0, n_documents, doc_count, base, main, *words, holds_prior), 0.0


class MainTopicTables:
    """What the kernels need of each word to find the main topic of a document; computed again for each P(w|z)."""

    def __init__(self, n_words: int, n_topics: int, dtype: np.dtype, n_jobs: int | None) -> None:
        self.shape, self.n_jobs = (n_words, n_topics), n_jobs
        self.word_mean = np.ones(1, dtype)
        self.ratio = aligned(1, n_topics, dtype)

    def of(self, word_topic: np.ndarray, prior: DocumentPrior) -> MainTopic:
        """(focus, mixed, m, P(w), f / P(w)) as `leave_one_out_rows` takes them; empty if focus is 0."""
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
        return dtype.type(prior.focus), dtype.type(mixed), wide, self.word_mean, self.ratio


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
    shared = (word_topic, base, main, n_topics, with_prior, shares)
    CountRows(counts, dtype).for_each_block(_folded_in_block, shared, n_jobs, reads=reads, writes=(doc_count,))
    return doc_count[:, :n_topics]


def _folded_in_block(
    shared: tuple[np.ndarray, np.ndarray, MainTopic, int, bool, bool], cells: Cells, *tables: np.ndarray
) -> None:
    """Fill the last of the tables; the one before it, if any, has the pseudo-counts of neighbours."""
    (word_topic, base, main, n_topics, with_prior, shares), doc = shared, tables[-1]
    if len(tables) > 1:
        base = padded(base + tables[0], doc.dtype)
    fold_in_leave_one_out_rows(
        *cells, 0, len(doc), word_topic, base, main, doc, _FOLD_IN_ITER, _FOLD_IN_TOL, with_prior
    )
    if shares:
        own = doc[:, :n_topics]
        normalise_rows(own, out=own)
