"""Diversity and stability of topics."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from topicfold.metrics.stability import diversity, matched_similarity, stability


def test_diversity():
    assert diversity([["a", "b"], ["c"]]) == 1
    assert diversity([["a", "b"]] * 4) == 1 / 4
    assert diversity(iter([[1, 2], [2, 3]])) == 3 / 4
    with pytest.raises(ValueError, match="no words"):
        diversity([[], []])
    with pytest.raises(ValueError, match="'ball'"):
        diversity(["ball", "team"])


def test_matched_similarity_equals_the_best_of_all_matchings():
    rng = np.random.default_rng(1)
    a, b = rng.dirichlet(np.full(20, 0.1), 3), rng.dirichlet(np.full(20, 0.1), 5)
    cosine = (a @ b.T) / np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
    best = max(np.mean([cosine[k, m] for k, m in enumerate(chosen)]) for chosen in permutations(range(5), 3))
    assert matched_similarity(a, b) == pytest.approx(best)
    assert matched_similarity(b, a) == pytest.approx(best)
    assert matched_similarity(a, 7 * a[[2, 0, 1]]) == pytest.approx(1)
    assert matched_similarity(np.zeros((2, 3)), np.eye(3)) == 0


def test_stability_is_the_mean_over_pairs():
    rng = np.random.default_rng(2)
    models = [rng.dirichlet(np.ones(8), 4) for _ in range(3)]
    expected = np.mean([matched_similarity(a, b) for a, b in combinations(models, 2)])
    assert stability(models) == pytest.approx(expected)
    assert stability([models[0], models[0][::-1]]) == pytest.approx(1)


def test_bad_topics_are_named():
    with pytest.raises(ValueError, match="at least two models, got 1"):
        stability([np.eye(2)])
    with pytest.raises(ValueError, match="got 2 and 3 columns"):
        matched_similarity(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="topic_word_b must be finite"):
        matched_similarity(np.eye(2), np.nan * np.eye(2))
    with pytest.raises(ValueError, match=r"topic_words\[1\] must be a non-empty matrix"):
        stability([np.eye(2), np.ones(2)])
