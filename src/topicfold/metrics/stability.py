"""How different topics are, whether they come back with another seed, whether a chain mixes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

__all__ = ["agreement", "diversity", "effective_sample_size", "matched_similarity", "stability"]


def diversity(topics: Iterable[Sequence[Hashable]]) -> float:
    """Share of distinct words among the top words of all topics: 1 if no two topics share a word.

    >>> diversity([["ball", "team"], ["ball", "vote"]])
    0.75
    """
    words: list[Hashable] = []
    for topic in topics:
        if isinstance(topic, str):
            raise ValueError(f"a topic must be a list of words, got the single string {topic!r}")
        words.extend(topic)
    if not words:
        raise ValueError("topics hold no words, expected at least one")
    return len(set(words)) / len(words)


def matched_similarity(topic_word_a: Any, topic_word_b: Any) -> float:
    """Mean cosine similarity of the topics of two models, under the best one-to-one matching.

    max over one-to-one maps m: mean over k of cos(a_k, b_m(k)). With unequal numbers of topics, those left over are
    not counted. A topic of zeros has similarity 0 with any other.

    >>> round(matched_similarity([[1, 0], [0, 1]], [[0, 1], [1, 0]]), 6)
    1.0
    """
    return _matched(_unit_rows(topic_word_a, "topic_word_a"), _unit_rows(topic_word_b, "topic_word_b"))


def stability(topic_words: Iterable[Any]) -> float:
    """Mean of `matched_similarity` over all pairs of models: 1 if every fit found the same topics.

    >>> round(stability([[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[1, 0], [0, 1]]]), 6)
    1.0
    """
    models = [_unit_rows(topic_word, f"topic_words[{i}]") for i, topic_word in enumerate(topic_words)]
    if len(models) < 2:
        raise ValueError(f"stability needs at least two models, got {len(models)}")
    return float(np.mean([_matched(a, b) for a, b in combinations(models, 2)]))


def agreement(clusterings: Iterable[Any]) -> float:
    """Mean adjusted mutual information of all pairs of clusterings, each pair over the documents that both have.

    A clustering is the cluster of each document, -1 where it has none. 1 is full agreement, 0 that of chance.

    >>> agreement([[0, 0, 1, 1, -1], [1, 1, 0, 0, 0]])
    1.0
    """
    from sklearn.metrics import adjusted_mutual_info_score

    found = [np.asarray(clusters) for clusters in clusterings]
    if len(found) < 2:
        raise ValueError(f"agreement needs at least two clusterings, got {len(found)}")
    values = []
    for one, two in combinations(found, 2):
        if one.shape != two.shape or one.ndim != 1:
            raise ValueError(f"clusterings of shapes {one.shape} and {two.shape}: expected one cluster per document")
        both = (one >= 0) & (two >= 0)
        if both.any():
            values.append(adjusted_mutual_info_score(one[both], two[both]))
    if not values:
        raise ValueError("no two clusterings share a document")
    return float(np.mean(values))


def _matched(a: np.ndarray, b: np.ndarray) -> float:
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"models must share their words, got {a.shape[1]} and {b.shape[1]} columns")
    similarity = a @ b.T
    return float(similarity[linear_sum_assignment(similarity, maximize=True)].mean())


def _unit_rows(matrix: Any, name: str) -> np.ndarray:
    result = np.array(matrix, dtype=np.float64)
    if result.ndim != 2 or 0 in result.shape:
        raise ValueError(f"{name} must be a matrix, topics x words, not empty, got shape {result.shape}")
    if not np.isfinite(result).all():
        raise ValueError(f"{name} must be finite")
    norms = np.linalg.norm(result, axis=1, keepdims=True)
    return result / np.where(norms > 0, norms, 1.0)


def effective_sample_size(trace: Any) -> float:
    """How many independent draws the mean of a Markov chain is worth: n / (1 + 2 sum of autocorrelations).

    Autocorrelations are summed in pairs as long as the pairs are positive (Geyer 1992).

    >>> effective_sample_size([1.0, 2.0, 1.0, 2.0, 1.0, 2.0]) >= 6
    True
    >>> effective_sample_size(range(100)) < 5
    True
    """
    values = np.asarray(trace, dtype=np.float64)
    n = len(values)
    centred = values - values.mean() if n else values
    if n < 4 or np.abs(centred).max() <= 1e-12 * np.abs(values).max():
        return float(n)
    spectrum = np.fft.rfft(centred, 2 * n)
    correlation = np.fft.irfft(spectrum * spectrum.conj())[:n]
    correlation /= correlation[0]
    pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)
    ended = np.flatnonzero(pairs <= 0)
    total = 2 * pairs[: ended[0] if len(ended) else None].sum() - 1
    return float(n / max(total, 1 / n))
