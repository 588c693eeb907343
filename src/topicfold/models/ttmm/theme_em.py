"""EM of TTMM, whose formulas are in ttmm.py: kernels, the posterior of the themes, one step over all documents."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import csr_parts, normalise_rows
from ...engine.blocks import map_blocks, single_threaded_libraries
from ...engine.jit import njit, njit_fast
from ...engine.loop import BATCH_STEPS, State
from ..em import SMALLEST

__all__ = [
    "ThemeStep",
    "even_blocks",
    "learn_batch",
    "log_word_theme",
    "posterior",
    "score_rows",
    "token_topics",
    "used_themes",
]

_VALUES_A_BLOCK = 1 << 22  # of a words x themes or documents x themes table
# What a multiplication costs, in those of a dense product: of a sparse with a dense table, and of two sparse ones.
_SPARSE_PRICE, _TWO_SPARSE_PRICE = 3, 60


@njit_fast
def score_rows(indptr, indices, data, first, last, word_theme, scores):
    """scores = counts @ word_theme for documents first..last."""
    n_themes = word_theme.shape[1]
    for d in range(first, last):
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            n = data[cell]
            for j in range(n_themes):
                scores[d - first, j] += n * word_theme[w, j]


@njit
def used_themes(doc_theme, least):
    """The entries above `least` as the data, indices and indptr of a CSR matrix."""
    n_documents, n_themes = doc_theme.shape
    indptr = np.zeros(n_documents + 1, np.int64)
    for d in range(n_documents):
        used = 0
        for j in range(n_themes):
            used += doc_theme[d, j] > least
        indptr[d + 1] = indptr[d] + used
    data, indices = np.empty(indptr[-1], doc_theme.dtype), np.empty(indptr[-1], np.int32)
    for d in range(n_documents):
        place = indptr[d]
        for j in range(n_themes):
            if doc_theme[d, j] > least:
                data[place], indices[place] = doc_theme[d, j], j
                place += 1
    return data, indices, indptr


@njit_fast
def token_topics(indptr, indices, data, first, last, doc_theme, least, theme_topic, word_topic, out):
    """out[d,k] = sum_w n(d,w) sum_j P(j|d) P(k|w,j) / n(d), over the themes with P(j|d) > least."""
    n_themes, n_topics = theme_topic.shape
    share = np.empty(n_topics, word_topic.dtype)
    for d in range(first, last):
        for j in range(n_themes):
            if doc_theme[d, j] <= least:
                continue
            share[:] = 0
            for cell in range(indptr[d], indptr[d + 1]):
                w = indices[cell]
                p = word_topic.dtype.type(0)
                for k in range(n_topics):
                    p += theme_topic[j, k] * word_topic[w, k]
                if p > 0:
                    ratio = data[cell] / p
                    for k in range(n_topics):
                        share[k] += ratio * word_topic[w, k]
            for k in range(n_topics):
                out[d, k] += doc_theme[d, j] * theme_topic[j, k] * share[k]


class ThemeStep:
    """One EM step over all documents; renews the state in place and returns the objective per token before it.

    Words are gone through in blocks of fixed size, and sums over blocks are added in their order. To be called under
    `single_threaded_libraries`.
    """

    def __init__(
        self, counts: sp.csr_array, n_themes: int, smoothing: float, known: np.ndarray, n_jobs: int | None
    ) -> None:
        self.counts, self.smoothing, self.known, self.n_jobs = counts, smoothing, known, n_jobs
        self.by_word = sp.csr_array(counts.T)
        self.n_tokens = max(float(counts.sum(dtype=np.float64)), 1e-300)
        self.word_blocks = even_blocks(counts.shape[1], n_themes)
        self.word_theme = np.empty((counts.shape[1], n_themes), counts.dtype)  # log P(w|h)

    def __call__(self, state: State) -> float:
        prior = 0.0
        if self.smoothing > 0:
            prior = self.smoothing * float(np.log(np.maximum(state["word_topic"], SMALLEST)).sum(dtype=np.float64))
        sums, log_likelihood = self.expected(state)
        state["theme_weight"], state["theme_topic"], state["word_topic"] = sums
        state["word_topic"] += self.smoothing
        normalise_rows(state["theme_weight"][None], out=state["theme_weight"][None])
        normalise_rows(state["theme_topic"], out=state["theme_topic"])
        state["theme_topic"][state["theme_topic"] < SMALLEST] = 0  # subnormal numbers would slow down the products
        normalise_rows(state["word_topic"].T, out=state["word_topic"].T)
        return (log_likelihood + prior) / self.n_tokens

    def expected(self, state: State) -> tuple[tuple[np.ndarray, ...], float]:
        """Expected documents of each theme, tokens of each theme and topic, and of each word and topic; and log P."""
        log_word_theme(state, self.word_blocks, self.word_theme, self.n_jobs)
        weight = state["theme_weight"]
        doc_theme, log_likelihood = posterior(self.counts, self.word_theme, weight, self.known, self.n_jobs)
        return self._sums(state, doc_theme), float(log_likelihood.sum())

    def _sums(self, state: State, doc_theme: np.ndarray) -> tuple[np.ndarray, ...]:
        theme_topic, word_topic = state["theme_topic"], state["word_topic"]
        new_words = np.empty_like(word_topic)
        parts_of_themes = used_themes(doc_theme, doc_theme.dtype.type(1e-2 * np.finfo(doc_theme.dtype).eps))
        themes = sp.csr_array(parts_of_themes, doc_theme.shape)
        used = int(np.diff(self.counts.indptr) @ np.diff(themes.indptr))  # multiplications in counts.T @ themes
        hard = _TWO_SPARSE_PRICE * used < self.counts.nnz * doc_theme.shape[1]  # most documents have few themes
        sparse = _SPARSE_PRICE * used < self.word_theme.size  # and most words are used by few

        def block(rows: tuple[int, int]) -> np.ndarray:
            here = slice(*rows)
            logs, old = self.word_theme[here], word_topic[here]
            if sparse:
                ratio = self.by_word[here] @ themes
                word = np.repeat(np.arange(ratio.shape[0]), np.diff(ratio.indptr))
                ratio.data *= np.exp(-logs[word, ratio.indices])
            else:
                ratio = (self.by_word[here] @ themes).toarray() if hard else summed_rows(self.by_word, rows, doc_theme)
                inverse = np.negative(logs)
                ratio *= np.exp(inverse, out=inverse)
            new = np.asarray(ratio @ theme_topic)
            new_words[here] = np.multiply(new, old, out=new)
            return np.asarray(ratio.T @ old)

        parts = map_blocks(block, self.word_blocks, self.n_jobs)
        weight = doc_theme.sum(axis=0, dtype=np.float64).astype(doc_theme.dtype)
        return weight, theme_topic * np.sum(parts, axis=0), new_words


def learn_batch(step: ThemeStep, state: State, share: float, n_tokens_before: float) -> float:
    """Stepwise EM: move the state towards a batch by a share; the log-likelihood per token of the batch before."""
    tokens_of_theme = state["theme_weight"][:, None] * state["theme_topic"]  # documents of a stream are alike in length
    old = (state["theme_weight"], tokens_of_theme, state["word_topic"] * tokens_of_theme.sum(axis=0))
    smoothing = share * step.smoothing / (n_tokens_before + step.n_tokens)
    values = []
    for _ in range(BATCH_STEPS):
        with single_threaded_libraries():
            sums, log_likelihood = step.expected(state)
        values.append(log_likelihood / step.n_tokens)
        new = (sums[0] / max(sums[0].sum(), 1e-300), sums[1] / step.n_tokens, sums[2] / step.n_tokens)
        weight, theme_topic, word_topic = ((1 - share) * a + share * b for a, b in zip(old, new))
        word_topic += smoothing
        state["theme_weight"] = normalise_rows(weight[None])[0]
        state["theme_topic"] = normalise_rows(theme_topic)
        state["word_topic"] = np.ascontiguousarray(normalise_rows(word_topic.T).T)
    return values[0]


def posterior(
    counts: sp.csr_array,
    word_theme: np.ndarray,
    theme_weight: np.ndarray,
    known: np.ndarray | None = None,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """P(h|d) and log P(d), or log P(d, h) where the theme is `known` (-1: it is not)."""
    n_documents, n_themes = counts.shape[0], len(theme_weight)
    doc_theme = np.zeros((n_documents, n_themes), counts.dtype)
    log_likelihood = np.zeros(n_documents)
    log_weight = np.log(np.maximum(theme_weight, SMALLEST * SMALLEST))
    parts = csr_parts(counts)

    def block(rows: tuple[int, int]) -> None:
        first, last = rows
        scores = doc_theme[first:last]
        score_rows(*parts, first, last, word_theme, scores)
        scores += log_weight
        here = None if known is None else known[first:last]
        if here is not None and (here >= 0).any():
            labelled = np.flatnonzero(here >= 0)
            value = scores[labelled, here[labelled]].copy()
            scores[labelled] = -np.inf
            scores[labelled, here[labelled]] = value
        most = scores.max(axis=1, keepdims=True)
        scores -= most
        np.exp(scores, out=scores)
        total = scores.sum(axis=1, keepdims=True)
        scores /= total
        log_likelihood[first:last] = (most + np.log(total))[:, 0]

    map_blocks(block, even_blocks(n_documents, n_themes), n_jobs)
    return doc_theme, log_likelihood


def log_word_theme(state: State, blocks: list[tuple[int, int]], out: np.ndarray, n_jobs: int | None) -> None:
    """out = log(word_topic @ theme_topic.T), a block of words at a time."""
    mixing = np.ascontiguousarray(state["theme_topic"].T)

    def block(rows: tuple[int, int]) -> None:
        here = out[slice(*rows)]
        np.matmul(state["word_topic"][slice(*rows)], mixing, out=here)
        np.maximum(here, SMALLEST, out=here)
        np.log(here, out=here)

    map_blocks(block, blocks, n_jobs)


def summed_rows(by_word: sp.csr_array, rows: tuple[int, int], doc_theme: np.ndarray) -> np.ndarray:
    """counts.T[rows] @ doc_theme, dense."""
    out = np.zeros((rows[1] - rows[0], doc_theme.shape[1]), doc_theme.dtype)
    score_rows(*csr_parts(by_word), *rows, doc_theme, out)
    return out


def even_blocks(n_rows: int, width: int) -> list[tuple[int, int]]:
    size = max(1, _VALUES_A_BLOCK // max(width, 1))
    return [(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]
