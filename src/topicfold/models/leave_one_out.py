"""Leave-one-out EM: collapsed variational Bayes of zero order (Asuncion, Welling, Smyth and Teh 2009).

A token's topic is inferred from the other tokens of its document, n_dk less its own share g_k, and from a prior:

    gamma_k  ~  (n_dk - g_k + base_k) P(w|k),   g_k ~ (n_dk + base_k) P(w|k)

Without the subtraction a token would vouch for itself, and a document of five words would be certain of its topics.
The paper keeps g of every cell; here it is worked out again from the tables of the last step, so that memory is that
of PLSA. That makes n_dk - g_k fall below zero in a few cells in a hundred, where it is taken as zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import csr_parts
from ..engine.blocks import map_blocks, row_blocks
from ..engine.jit import njit_fast
from ..engine.loop import State
from .em import GUARD, SMALLEST, Prior, RowGroups, padded, token_count

__all__ = ["LeaveOneOutStep", "fold_in_counts", "left_out_step"]

_VALUES_A_BLOCK = 1 << 16
_FOLD_IN_ITER = 100
_FOLD_IN_TOL = 1e-4  # of a document's tokens


# ---- kernels --------------------------------------------------------------------------------------------------------


@njit_fast
def left_out_rows(indptr, indices, data, first, last, doc_count, base, word_topic, word_sum, probability):
    """One step for documents first..last; the expected counts n_dk in doc_count are renewed in place.

    A = doc_count + base;  P = A @ word_topic.T;  g = A * word_topic / P
    a = max(doc_count - g, 0) + base;  Q = sum_k a * word_topic;  gamma = a * word_topic / Q
    doc_count' = sum over the cells of n gamma;  word_sum += n gamma
    probability = Q / (sum A - 1), what the other tokens say of this one; a cell with Q = 0 is left out, shown as 1.
    """
    n_topics = doc_count.shape[1]
    zero, one = doc_count.dtype.type(0), doc_count.dtype.type(1)
    smallest = doc_count.dtype.type(SMALLEST)
    size = n_topics + 2 * GUARD
    share = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    pseudo = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    gain = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    offset = indptr[first]
    left_out = 0
    for d in range(first, last):
        total = zero
        for k in range(n_topics):
            pseudo[k] = doc_count[d, k] + base[k]
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
            if q > smallest * smallest:
                ratio = data[cell] / q
                for k in range(n_topics):
                    value = ratio * share[k]
                    gain[k] += value
                    word_sum[w, k] += value
                probability[cell - offset] = min(q * others, one)
            else:
                probability[cell - offset] = one
                left_out += 1
        for k in range(n_topics):
            doc_count[d, k] = gain[k] if gain[k] > smallest else zero
    return left_out


@njit_fast
def fold_in_left_out_rows(indptr, indices, data, first, last, word_topic, base, doc_count, max_iter, tol):
    """The same step with P(w|z) fixed, until n_dk moves less than `tol` of the tokens; `base` has one row, or one each.

    Begins at base scaled to the document's tokens. A row without a usable word ends at zero.
    """
    n_topics = word_topic.shape[1]
    zero, one = doc_count.dtype.type(0), doc_count.dtype.type(1)
    smallest = doc_count.dtype.type(SMALLEST)
    size = n_topics + 2 * GUARD
    share = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    now = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    gain = np.empty(size, doc_count.dtype)[GUARD : GUARD + n_topics]
    for d in range(first, last):
        own = base[d if base.shape[0] > 1 else 0]
        length, total = zero, zero
        for cell in range(indptr[d], indptr[d + 1]):
            length += data[cell]
        for k in range(n_topics):
            total += own[k]
        for k in range(n_topics):
            now[k] = own[k] * (length / max(total, smallest))
        for _ in range(max_iter):
            for k in range(n_topics):
                gain[k] = zero
            for cell in range(indptr[d], indptr[d + 1]):
                w = indices[cell]
                p = zero
                for k in range(n_topics):
                    share[k] = (now[k] + own[k]) * word_topic[w, k]
                    p += share[k]
                q = zero
                if p > smallest * smallest:
                    scale = one / p
                    for k in range(n_topics):
                        rest = max(now[k] - share[k] * scale, zero) + own[k]
                        share[k] = rest * word_topic[w, k]
                        q += share[k]
                if q > smallest * smallest:
                    ratio = data[cell] / q
                    for k in range(n_topics):
                        gain[k] += ratio * share[k]
            change = zero
            for k in range(n_topics):
                change += abs(gain[k] - now[k])
                now[k] = gain[k] if gain[k] > smallest else zero
            if change < tol * length or length == zero:
                break
        for k in range(n_topics):
            doc_count[d, k] = now[k]


@njit_fast
def renew_words_from_counts(word_topic, word_sum, prior, smoothing, n_topics):
    """P(w|z) = word_sum + smoothing + prior, columns summing to one; word_sum is zero then. Returns tokens per topic.

    `prior` holds (word, topic, pseudo-count) of seed words. A topic without any mass keeps the words it has.
    """
    n_words = word_topic.shape[0]
    tokens = np.zeros(n_topics)
    totals = np.zeros(n_topics)
    for w in range(n_words):
        for k in range(n_topics):
            tokens[k] += word_sum[w, k]
            word_sum[w, k] += smoothing
    for i in range(len(prior[0])):
        word_sum[prior[0][i], prior[1][i]] += prior[2][i]
    for w in range(n_words):
        for k in range(n_topics):
            totals[k] += word_sum[w, k]
    for w in range(n_words):
        for k in range(n_topics):
            if totals[k] > 0:
                word_topic[w, k] = word_sum[w, k] / totals[k]
            word_sum[w, k] = 0
    return tokens


# ---- functions on whole matrices ------------------------------------------------------------------------------------


class LeaveOneOutStep:
    """One leave-one-out step over all documents.

    Called with (doc_count, word_topic, base), tables padded, base one pseudo-count per topic; renews both tables in
    place and returns the log-likelihood of each token given the others of its document, summed, and the tokens of
    each topic.
    """

    def __init__(self, counts: sp.csr_array, n_topics: int, n_jobs: int | None, smoothing: float, prior: Prior) -> None:
        self.rows = RowGroups(counts, n_topics, n_jobs)
        self.n_topics, self.smoothing, self.prior = n_topics, smoothing, prior
        self.left_out = 0

    def __call__(self, doc_count: np.ndarray, word_topic: np.ndarray, base: np.ndarray) -> tuple[float, np.ndarray]:
        parts = (self.rows.indptr, self.rows.indices, self.rows.data)
        wide = padded(base[None], doc_count.dtype)[0]

        def rows(first: int, last: int, word_sum: np.ndarray, probability: np.ndarray) -> int:
            left_out: int = left_out_rows(*parts, first, last, doc_count, wide, word_topic, word_sum, probability)
            return left_out

        log_likelihood, self.left_out, total = self.rows.pass_over(rows)
        tokens = renew_words_from_counts(word_topic, total, self.prior, self.smoothing, self.n_topics)
        return log_likelihood, tokens


def left_out_step(
    counts: sp.csr_array, n_topics: int, n_jobs: int | None, alpha: float, beta: float, prior: Prior
) -> Callable[[State], float]:
    """A step on a state's tables; it returns the objective per token before the step.

    The documents' prior is alpha tokens, which the topics share by their size in the last step.
    """
    step, n_tokens = LeaveOneOutStep(counts, n_topics, n_jobs, beta, prior), token_count(counts)

    def left_out(state: State) -> float:
        base = alpha * np.maximum(state["topic_share"], 1e-12)
        log_likelihood, tokens = step(state["doc_count"], state["word_topic"], base)
        state["topic_share"] = tokens / max(tokens.sum(), 1e-300)
        return log_likelihood / n_tokens

    return left_out


def fold_in_counts(
    counts: sp.csr_array, topic_word: np.ndarray, base: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """Expected counts n_dk of documents with P(w|z) fixed; `base` is one row of pseudo-counts, or one per document."""
    n_topics, dtype = len(topic_word), topic_word.dtype
    word_topic, wide = padded(topic_word.T, dtype), padded(np.atleast_2d(base), dtype)
    doc_count = np.zeros((counts.shape[0], word_topic.shape[1]), dtype)
    parts = csr_parts(counts)

    def block(rows: tuple[int, int]) -> None:
        fold_in_left_out_rows(*parts, *rows, word_topic, wide, doc_count, _FOLD_IN_ITER, _FOLD_IN_TOL)

    map_blocks(block, row_blocks(parts[0], max(1, counts.nnz // _VALUES_A_BLOCK)), n_jobs)
    return doc_count[:, :n_topics]
