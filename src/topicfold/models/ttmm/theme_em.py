"""EM of TTMM, whose formulas are in ttmm.py: kernels, one step over all documents, and steps of a stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import normalise_rows, summed
from ...engine.blocks import map_blocks, single_threaded_libraries
from ...engine.jit import njit_fast
from ...engine.loop import BATCH_STEPS, State
from ...engine.mapped import row_table
from ..em.passes import CountRows, RowGroups
from ..em.plsa_kernels import SMALLEST
from ..em.unigram_mixture import LogClasses, classes_of_block, even_blocks, log_weights

__all__ = ["ThemeStep", "learn_batch", "log_word_theme", "token_topics", "used_themes"]

_CELLS_PER_BLOCK = 1 << 15  # of documents whose P(h|d) is in memory at once
_SPARSE_PRICE = 3  # cost of a multiplication in a sparse product, relative to one in a dense product


@njit_fast
def used_themes(indptr, indices, data, first, last, doc_theme, least, word_used):
    """word_used += counts.T @ doc_theme over documents first..last, where doc_theme > least."""
    n_themes = doc_theme.shape[1]
    used = np.empty(n_themes, np.int64)
    for d in range(first, last):
        n_used = 0
        for j in range(n_themes):
            if doc_theme[d, j] > least:
                used[n_used] = j
                n_used += 1
        if 4 * n_used > n_themes:  # a loop over all runs in vector registers
            for cell in range(indptr[d], indptr[d + 1]):
                w, n = indices[cell], data[cell]
                for j in range(n_themes):
                    word_used[w, j] += n * doc_theme[d, j]
        else:
            for cell in range(indptr[d], indptr[d + 1]):
                w, n = indices[cell], data[cell]
                for i in range(n_used):
                    word_used[w, used[i]] += n * doc_theme[d, used[i]]


@njit_fast
def token_topics(indptr, indices, data, first, last, doc_theme, least, theme_topic, word_topic, out):
    """out[d,k] = sum_w n(d,w) sum_j P(j|d) P(k|w,j) / n(d), over the themes with P(j|d) > least."""
    n_themes, n_topics = theme_topic.shape
    share = np.empty(n_topics, word_topic.dtype)
    for d in range(first, last):
        for j in range(n_themes):
            if doc_theme[d, j] <= least:
                continue
            # as `gain_of_words` of em/fold_in.py; a passage of another file would not be noticed by the cache
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
    """One EM step over all documents; updates the state in place and returns the objective per token before it.

    Documents are processed in groups of rows, each with its own table of words x themes, which are added in a fixed
    tree; P(h|d) is in memory for one block of documents at a time. Call it under `single_threaded_libraries`.
    """

    def __init__(self, counts: sp.csr_array, n_themes: int, beta: float, known: np.ndarray, n_jobs: int | None) -> None:
        self.beta, self.known, self.n_jobs = beta, known, n_jobs
        self.rows = RowGroups(counts, n_themes, n_jobs, counts.dtype)
        shape = (counts.shape[1], n_themes)
        self.n_tokens = max(float(summed(counts, 1).sum()), 1e-300)
        self.word_blocks = even_blocks(*shape)
        self.word_theme = row_table(*shape, counts.dtype)  # log P(w|h)

    def __call__(self, state: State) -> float:
        log_prior = 0.0
        if self.beta > 0:
            log_prior = self.beta * float(np.log(np.maximum(state["word_topic"], SMALLEST)).sum(dtype=np.float64))
        sums, log_likelihood = self.expected(state)
        state["theme_weight"], state["theme_topic"], state["word_topic"] = sums
        state["word_topic"] += self.beta
        normalise_rows(state["theme_weight"][None], out=state["theme_weight"][None])
        normalise_rows(state["theme_topic"], out=state["theme_topic"])
        state["theme_topic"][state["theme_topic"] < SMALLEST] = 0  # subnormal numbers would slow down the products
        normalise_rows(state["word_topic"].T, out=state["word_topic"].T)
        return (log_likelihood + log_prior) / self.n_tokens

    def expected(self, state: State) -> tuple[tuple[np.ndarray, ...], float]:
        """Expected documents of each theme, tokens of each theme and topic, and of each word and topic; and log P."""
        log_word_theme(state, self.word_blocks, self.word_theme, self.n_jobs)
        themes = LogClasses(self.word_theme, log_weights(state["theme_weight"]))
        group_results, word_used = self.rows.sum_over(_themes_of_group, themes, reads=(self.known,))
        sums = self._sums(state, word_used)
        word_used[:] = 0
        self.rows.sums.give_back(word_used)
        weight = np.sum([weight for weight, _ in group_results], axis=0).astype(self.word_theme.dtype)
        return (weight, *sums), sum(log_likelihood for _, log_likelihood in group_results)

    def _sums(self, state: State, word_used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Tokens of each theme and topic, and of each word and topic, from how often each theme used each word."""
        theme_topic, word_topic = state["theme_topic"], state["word_topic"]
        new_words = np.empty_like(word_topic)
        sparse = _SPARSE_PRICE * np.count_nonzero(word_used) < word_used.size  # most words are used by few themes

        def block(rows: tuple[int, int]) -> np.ndarray:
            words = slice(*rows)
            logs, old = self.word_theme[words], word_topic[words]
            if sparse:
                ratio: Any = sp.csr_array(word_used[words])
                word = np.repeat(np.arange(ratio.shape[0]), np.diff(ratio.indptr))
                ratio.data *= np.exp(-logs[word, ratio.indices])
            else:
                ratio = word_used[words]
                inverse = np.negative(logs)
                ratio *= np.exp(inverse, out=inverse)
            new = np.asarray(ratio @ theme_topic)
            new_words[words] = np.multiply(new, old, out=new)
            return np.asarray(ratio.T @ old)

        parts = map_blocks(block, self.word_blocks, self.n_jobs)
        return theme_topic * np.sum(parts, axis=0), new_words


def _themes_of_group(
    rows: CountRows,
    bounds: tuple[int, int],
    themes: LogClasses,
    tables: tuple[np.ndarray, ...],
    word_used: np.ndarray,
) -> tuple[np.ndarray, float]:
    """How many documents of a group are expected to have each theme, and log P; word_used += counts.T @ P(h|d)."""
    (known,) = tables
    n_themes, dtype = len(themes.weight), themes.word.dtype
    least = dtype.type(1e-2 * np.finfo(dtype).eps)
    weight, log_likelihood = np.zeros(n_themes), 0.0
    for first, last in rows.blocks(*bounds, _CELLS_PER_BLOCK):
        cells, doc_theme = rows.cells(first, last), np.zeros((last - first, n_themes), dtype)
        known_themes = known[first - bounds[0] : last - bounds[0]]
        logs = classes_of_block(cells, themes, known_themes, doc_theme)
        used_themes(*cells, 0, len(doc_theme), doc_theme, least, word_used)
        weight += doc_theme.sum(axis=0, dtype=np.float64)
        log_likelihood += float(logs.sum())
    return weight, log_likelihood


def learn_batch(step: ThemeStep, state: State, n_tokens_before: float) -> float:
    """Move the state towards a batch by its share of the tokens so far; returns the log-likelihood per token before.

    After one pass over a corpus all of its documents count alike. The larger shares of stepwise EM, which forget the
    first batches, ended with themes of the last ones: there are too many of them for a batch to have documents of each.
    """
    share = step.n_tokens / (n_tokens_before + step.n_tokens)
    tokens_of_theme = state["theme_weight"][:, None] * state["theme_topic"]  # assumes similar lengths
    old = (state["theme_weight"], tokens_of_theme, state["word_topic"] * tokens_of_theme.sum(axis=0))
    every_word = share * step.beta / (n_tokens_before + step.n_tokens)
    values = []
    for _ in range(BATCH_STEPS):
        with single_threaded_libraries():
            sums, log_likelihood = step.expected(state)
        values.append(log_likelihood / step.n_tokens)
        new = (sums[0] / max(sums[0].sum(), 1e-300), sums[1] / step.n_tokens, sums[2] / step.n_tokens)
        weight, theme_topic, word_topic = ((1 - share) * a + share * b for a, b in zip(old, new))
        word_topic += every_word
        state["theme_weight"] = normalise_rows(weight[None])[0]
        state["theme_topic"] = normalise_rows(theme_topic)
        state["word_topic"] = np.ascontiguousarray(normalise_rows(word_topic.T).T)
    return values[0]


def log_word_theme(state: State, blocks: list[tuple[int, int]], out: np.ndarray, n_jobs: int | None) -> None:
    """out = log(word_topic @ theme_topic.T), one block of words at a time."""
    mixing = np.ascontiguousarray(state["theme_topic"].T)

    def block(rows: tuple[int, int]) -> None:
        logs = out[slice(*rows)]
        np.matmul(state["word_topic"][slice(*rows)], mixing, out=logs)
        np.maximum(logs, SMALLEST, out=logs)
        np.log(logs, out=logs)

    map_blocks(block, blocks, n_jobs)
