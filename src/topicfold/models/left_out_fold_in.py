"""Topics of new documents by leave-one-out EM with P(w|z) fixed; its formulas are in leave_one_out.py."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import aligned, normalise_rows
from ..engine.jit import njit_fast
from ..engine.mapped import is_mapped
from .em import GUARD, SMALLEST, padded
from .leave_one_out import FOCUSED_TOKENS, LEAST_MAIN, DocumentPrior, MainTopic, MainTopicTables
from .row_groups import Cells, CountRows

__all__ = ["fold_in_counts", "fold_in_shares"]

_FOLD_IN_ITER = 100
_FOLD_IN_TOL = 1e-4  # of a document's tokens


@njit_fast
def fold_in_leave_one_out_rows(
    indptr, indices, data, first, last, word_topic, base, main, doc_count, max_iter, tol, with_prior
):
    """The same step with P(w|z) fixed, until n_dk changes by less than `tol` of the tokens.

    `base` has one row, or one per document.

    Starts from base scaled to the document's tokens. A row without a usable word ends at zero. `with_prior` returns
    A = n + base + focus r instead of n.
    """
    n_topics = word_topic.shape[1]
    focus, mixed, topic_share, word_mean, ratio = main
    zero, one = doc_count.dtype.type(0), doc_count.dtype.type(1)
    smallest = doc_count.dtype.type(SMALLEST)
    least, tokens = doc_count.dtype.type(LEAST_MAIN), doc_count.dtype.type(FOCUSED_TOKENS)
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
