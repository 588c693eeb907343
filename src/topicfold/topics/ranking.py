"""Scores of words that say what a topic is about, and the largest of many values."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

__all__ = [
    "RELEVANCE",
    "WINDOW",
    "RankBy",
    "keyness",
    "largest",
    "largest_different",
    "relevance",
    "top_word_columns",
    "word_presence",
]

RankBy: TypeAlias = Literal["score", "probability"]

WINDOW = 100  # tokens
RELEVANCE = 0.6  # weight of log P(w|z) against its lift: the words are far easier to interpret than by P(w|z) alone


def relevance(topic_word: np.ndarray, word_frequency: np.ndarray, weight: float = RELEVANCE) -> np.ndarray:
    """weight * log P(w|z) + (1 - weight) * log(P(w|z) / P(w)), after Sievert and Shirley (2014); -inf where P is 0.

    A word that is not in the corpus is also -inf: in a smoothed topic it has some probability, and an infinite lift.

    >>> relevance(np.array([[0.5, 0.5]]), np.array([9, 1])).round(2).tolist()
    [[-0.65, 0.23]]
    """
    occurs = word_frequency > 0
    overall = np.where(occurs, word_frequency, 1) / max(word_frequency.sum(), 1)
    with np.errstate(divide="ignore"):
        logs = np.log(topic_word.astype(np.float64))
    return np.where(occurs, logs - (1 - weight) * np.log(overall), -np.inf)


def word_presence(counts: sp.csr_array, lengths: np.ndarray | None = None) -> sp.csr_array:
    """How much of each document contains each of its words: 1, or less in a document that is longer than a window.

    A book contains most words, so that it does not say much that it has a word. In a document of L > 100 tokens, n of
    which are the word, it is 1 - (1 - 100 / L)^n: the share of windows of 100 tokens that have the word, if its tokens
    are at random places. `lengths` are the tokens of the documents, if `counts` has only some of their words.

    >>> word_presence(sp.csr_array([[3, 0, 1], [1, 399, 0]])).toarray().round(2).tolist()
    [[1.0, 0.0, 1.0], [0.25, 1.0, 0.0]]
    """
    if lengths is None:
        lengths = np.asarray(counts.sum(axis=1), np.float64).ravel()
    presence = np.ones(counts.nnz)
    length = np.repeat(lengths, np.diff(counts.indptr))
    cells = np.flatnonzero(length > WINDOW)
    presence[cells] = -np.expm1(counts.data[cells] * np.log1p(-WINDOW / length[cells]))
    return sp.csr_array((presence, counts.indices, counts.indptr), counts.shape)


def keyness(presence: np.ndarray, overall: np.ndarray) -> np.ndarray:
    """How much more often a word is in the documents of a topic than in all documents; below 0 if less often.

    With q the share of the documents of the topic that have the word, and p the share of all documents, it is
    q log(q / p) + (1 - q) log((1 - q) / (1 - p)): the information, in nats per document, that the topic gives about
    whether the word occurs. It is small for words that are frequent everywhere (q is close to p) and for words that are
    rare everywhere (q is small). A word that is in no document is -inf. For long documents see `word_presence`.

    >>> keyness(np.array([[0.5, 0.02, 0.3, 0.1]]), np.array([0.1, 0.001, 0.3, 0.2])).round(2).tolist()
    [[0.51, 0.04, 0.0, -0.04]]
    """
    q, p = (np.clip(np.asarray(share, np.float64), 1e-12, 1 - 1e-12) for share in (presence, overall))
    divergence = q * np.log(q / p) + (1 - q) * np.log((1 - q) / (1 - p))
    # with a single topic, all words are as frequent in it as in the corpus: then the most frequent come first
    scores = np.where(np.abs(q - p) < 1e-6, 0.0, np.copysign(divergence, q - p)) + 1e-9 * q
    return np.where(np.asarray(overall) > 0, scores, -np.inf)


def largest(values: np.ndarray, n: int) -> np.ndarray:
    """The positions of the n largest values, the largest first; ties in their order, NaN last.

    The same as the first n of `np.argsort(-values, kind="stable")`, without sorting the rest.

    >>> largest(np.array([2, 5, 1, 5, 2]), 3).tolist()
    [1, 3, 0]
    """
    below = -np.asarray(values, dtype=np.result_type(values, np.float32))
    if n <= 0 or n >= len(below):
        return np.argsort(below, kind="stable")[: max(n, 0)]
    bar = np.partition(below, n - 1)[n - 1]
    if np.isnan(bar):
        return np.argsort(below, kind="stable")[:n]
    better = np.flatnonzero(below < bar)
    equal = np.flatnonzero(below == bar)[: n - len(better)]
    return np.concatenate([better[np.argsort(below[better], kind="stable")], equal])


def largest_different(values: np.ndarray, n: int, first: np.ndarray | None) -> np.ndarray:
    """The positions of the n largest values, at most one of each group of copies; see `Corpus.copies`.

    >>> largest_different(np.array([2, 5, 1, 5, 2]), 3, np.array([0, 1, 2, 1, 4])).tolist()
    [1, 0, 4]
    """
    if first is None or n <= 0:
        return largest(values, n)
    wanted = n
    while True:
        order = largest(values, wanted)
        _, places = np.unique(first[order], return_index=True)
        if len(places) >= n or len(order) == len(values):
            return order[np.sort(places)[:n]]
        wanted *= 4


def top_word_columns(scores: np.ndarray, n: int) -> np.ndarray:
    """The columns with the highest scores, the best first; ties in the order of the columns."""
    return largest(np.asarray(scores, dtype=np.float64), n)
