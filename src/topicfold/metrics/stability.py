"""Diversity of topics, stability of topics over several fits, and effective sample size of Markov chains."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..errors import InputError

__all__ = ["agreement", "diversity", "effective_sample_size", "matched_similarity", "stability"]


def diversity(topics: Iterable[Sequence[Hashable]]) -> float:
    """Compute the share of distinct words among the top words of all topics.

    Parameters
    ----------
    topics : iterable of sequence
        The top words of each topic.

    Returns
    -------
    float
        1 if no two topics share a word.

    Raises
    ------
    InputError
        If there are no words, or a topic is a single string.

    See Also
    --------
    coherence : Whether the words of a topic occur together.
    stability : Whether several fits find the same topics.

    References
    ----------
    Dieng, A. B., Ruiz, F. J. R. and Blei, D. M. (2020). Topic modeling in embedding spaces. Transactions of the
    Association for Computational Linguistics 8, 439-453. https://doi.org/10.1162/tacl_a_00325

    Examples
    --------
    >>> from topicfold.metrics import diversity
    >>> diversity([["ball", "team"], ["ball", "vote"]])
    0.75
    """
    words: list[Hashable] = []
    for topic in topics:
        if isinstance(topic, str):
            raise InputError(f"a topic must be a list of words, got the single string {topic!r}")
        words.extend(topic)
    if not words:
        raise InputError("topics contain no words, expected at least one")
    return len(set(words)) / len(words)


def matched_similarity(topic_word_a: Any, topic_word_b: Any) -> float:
    """Compute the mean cosine similarity of the topics of two models, under the best one-to-one matching.

    This is the maximum over one-to-one maps m of the mean over k of cos(a_k, b_m(k)). If the models have different
    numbers of topics, unmatched topics are not counted. A topic of zeros has similarity 0 to any other.

    Parameters
    ----------
    topic_word_a : array-like of shape (n_topics_a, n_words)
        P(w|z) of the first model.
    topic_word_b : array-like of shape (n_topics_b, n_words)
        P(w|z) of the second model, over the same words.

    Returns
    -------
    float
        1 if both models have the same topics.

    Raises
    ------
    InputError
        If the models do not have the same number of words.

    See Also
    --------
    stability : The mean over all pairs of several models.

    Examples
    --------
    >>> from topicfold.metrics import matched_similarity
    >>> round(matched_similarity([[1, 0], [0, 1]], [[0, 1], [1, 0]]), 6)
    1.0
    """
    return _matched(_unit_rows(topic_word_a, "topic_word_a"), _unit_rows(topic_word_b, "topic_word_b"))


def stability(topic_words: Iterable[Any]) -> float:
    """Compute the mean of `matched_similarity` over all pairs of models.

    Parameters
    ----------
    topic_words : iterable of array-like of shape (n_topics, n_words)
        P(w|z) of at least two models over the same words, such as fits with different seeds.

    Returns
    -------
    float
        1 if every model has the same topics.

    Raises
    ------
    InputError
        If there are fewer than two models, or they do not have the same number of words.

    See Also
    --------
    matched_similarity : The similarity of two models.
    agreement : Whether several clusterings agree.

    Examples
    --------
    >>> from topicfold.metrics import stability
    >>> round(stability([[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[1, 0], [0, 1]]]), 6)
    1.0
    """
    models = [_unit_rows(topic_word, f"topic_words[{i}]") for i, topic_word in enumerate(topic_words)]
    if len(models) < 2:
        raise InputError(f"stability needs at least two models, got {len(models)}")
    return float(np.mean([_matched(a, b) for a, b in combinations(models, 2)]))


def agreement(clusterings: Iterable[Any]) -> float:
    """Compute the mean adjusted mutual information over all pairs of clusterings.

    Each pair is compared on the documents that have a cluster in both.

    Parameters
    ----------
    clusterings : iterable of array-like of int of shape (n_documents,)
        The cluster of each document in at least two clusterings; -1 for a document without one.

    Returns
    -------
    float
        1 is full agreement, 0 the agreement expected by chance.

    Raises
    ------
    InputError
        If there are fewer than two clusterings, their lengths differ, or no two have a document in common.

    See Also
    --------
    stability : Whether several models have the same topics.
    omega_index : Agreement of clusterings that may overlap.

    Examples
    --------
    >>> from topicfold.metrics import agreement
    >>> agreement([[0, 0, 1, 1, -1], [1, 1, 0, 0, 0]])
    1.0
    """
    from sklearn.metrics import adjusted_mutual_info_score

    label_arrays = [np.asarray(clusters) for clusters in clusterings]
    if len(label_arrays) < 2:
        raise InputError(f"agreement needs at least two clusterings, got {len(label_arrays)}")
    values = []
    for first, second in combinations(label_arrays, 2):
        if first.shape != second.shape or first.ndim != 1:
            raise InputError(
                f"clusterings of shapes {first.shape} and {second.shape}: expected one cluster per document"
            )
        both = (first >= 0) & (second >= 0)
        if both.any():
            values.append(adjusted_mutual_info_score(first[both], second[both]))
    if not values:
        raise InputError("no two clusterings have a document in common")
    return float(np.mean(values))


def _matched(a: np.ndarray, b: np.ndarray) -> float:
    if a.shape[1] != b.shape[1]:
        raise InputError(f"models must have the same words, got {a.shape[1]} and {b.shape[1]} columns")
    similarity = a @ b.T
    return float(similarity[linear_sum_assignment(similarity, maximize=True)].mean())


def _unit_rows(matrix: Any, name: str) -> np.ndarray:
    result = np.array(matrix, dtype=np.float64)
    if result.ndim != 2 or 0 in result.shape:
        raise InputError(f"{name} must be a non-empty matrix, topics x words, got shape {result.shape}")
    if not np.isfinite(result).all():
        raise InputError(f"{name} must be finite")
    norms = np.linalg.norm(result, axis=1, keepdims=True)
    return result / np.where(norms > 0, norms, 1.0)


def effective_sample_size(trace: Any) -> float:
    """Compute the number of independent draws that give a mean as precise as that of a Markov chain.

    This is n / (1 + 2 sum of autocorrelations). Autocorrelations are summed in pairs as long as the sum of a pair is
    positive.

    Parameters
    ----------
    trace : array-like of shape (n_samples,)
        Values of the chain, such as its log-likelihood after each sweep.

    Returns
    -------
    float
        The effective sample size.

    See Also
    --------
    topicfold.plots.trace : The chains of a sampler as a figure.

    References
    ----------
    Geyer, C. J. (1992). Practical Markov chain Monte Carlo. Statistical Science 7, 473-483.
    https://doi.org/10.1214/ss/1177011137

    Examples
    --------
    >>> from topicfold.metrics import effective_sample_size
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
