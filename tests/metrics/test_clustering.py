"""Measures of clusters, disjoint or overlapping, and of ranked documents, beside their definitions."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from topicfold.metrics.clustering import break_even, clustering_accuracy, omega_index, pairwise_scores, purity

pairs_of_labels = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abcde")), min_size=1, max_size=20)


@given(pairs_of_labels)
@settings(deadline=None)
def test_accuracy_equals_the_best_of_all_matchings(pairs):
    labels, clusters = zip(*pairs)
    classes, groups = sorted(set(labels)), sorted(set(clusters))
    classes += [None] * (len(groups) - len(classes))  # a cluster may be matched to nothing
    best = max(
        sum(dict(zip(groups, chosen))[c] == l for l, c in pairs) for chosen in permutations(classes, len(groups))
    )
    assert clustering_accuracy(labels, clusters) == pytest.approx(best / len(pairs))


@given(pairs_of_labels)
@settings(deadline=None)
def test_purity_equals_its_formula_and_bounds_accuracy(pairs):
    labels, clusters = zip(*pairs)
    commonest = 0
    for cluster in set(clusters):
        inside = [l for l, c in pairs if c == cluster]
        commonest += max(inside.count(l) for l in inside)
    assert purity(labels, clusters) == pytest.approx(commonest / len(pairs))
    assert clustering_accuracy(labels, clusters) <= purity(labels, clusters) + 1e-12


def test_names_of_clusters_do_not_matter_and_may_be_of_mixed_types():
    labels = np.array([0, 0, 1, 1, 2])
    assert clustering_accuracy(labels, [("x", 1), ("x", 1), None, None, "z"]) == 1
    assert purity(labels, [("x", 1), ("x", 1), None, None, "z"]) == 1
    assert purity(labels, np.arange(5)) == 1
    assert clustering_accuracy(labels, np.arange(5)) == 3 / 5


@pytest.mark.parametrize("score", [clustering_accuracy, purity])
@pytest.mark.parametrize(
    ("labels", "clusters", "message"),
    [
        ([0, 1], [0], "got 2 and 1"),
        ([], [], "empty"),
        ([0, math.nan], [0, 1], "labels .* nan"),
        ([0, 1], np.eye(2), "clusters must be a flat list"),
    ],
)
def test_bad_labels_are_named(score, labels, clusters, message):
    with pytest.raises(ValueError, match=message):
        score(labels, clusters)


@st.composite
def two_memberships(draw):
    n = draw(st.integers(2, 9))
    return tuple(draw(hnp.arrays(np.int64, (n, draw(st.integers(1, 4))), elements=st.integers(0, 1))) for _ in range(2))


def naive_common(matrix):
    return [int(a @ b) for a, b in combinations(matrix, 2)]


def naive_omega(truth, found):
    in_truth, in_found = naive_common(truth), naive_common(found)
    n = len(in_truth)
    observed = sum(s == t for s, t in zip(in_truth, in_found)) / n
    expected = sum(in_truth.count(j) * in_found.count(j) for j in set(in_truth)) / n**2
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


@given(two_memberships())
@settings(max_examples=200, deadline=None)
def test_pairwise_and_omega_equal_a_walk_over_all_pairs(matrices):
    truth, found = matrices
    in_truth, in_found = ([s > 0 for s in naive_common(m)] for m in matrices)
    both = sum(a and b for a, b in zip(in_truth, in_found))
    precision, recall, f = pairwise_scores(sparse.csr_array(truth), found.astype(bool))
    if not any(in_truth) and not any(in_found):
        assert (precision, recall, f) == (1, 1, 1)
    else:
        assert precision == (both / sum(in_found) if any(in_found) else 0)
        assert recall == (both / sum(in_truth) if any(in_truth) else 0)
        assert f == pytest.approx(2 * precision * recall / (precision + recall) if both else 0)
    assert omega_index(truth, sparse.csr_matrix(found)) == pytest.approx(naive_omega(truth, found))
    assert omega_index(found, truth) == pytest.approx(omega_index(truth, found))
    assert omega_index(truth, truth) == 1
    assert pairwise_scores(found, truth) == (recall, precision, f)


def test_omega_without_overlap_is_the_adjusted_rand_index():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 300)
    clusters = np.where(rng.random(300) < 0.6, labels, rng.integers(0, 7, 300))
    found = omega_index(np.eye(5)[labels], np.eye(7)[clusters])
    assert found == pytest.approx(adjusted_rand_score(labels, clusters))


def test_pair_counts_are_exact_for_many_documents():
    n = 200_000  # 2e10 pairs: squares of pair counts do not fit 64 bits, and N x N would not fit memory
    truth = sparse.csr_array((np.ones(n, bool), (np.arange(n), np.arange(n) % 4)), shape=(n, 4))
    assert omega_index(truth, truth) == 1
    one_cluster = np.ones((n, 1), bool)
    size = n // 4
    together, pairs = 4 * (size * (size - 1) // 2), n * (n - 1) // 2
    assert pairwise_scores(truth, one_cluster).precision == together / pairs
    assert omega_index(truth, one_cluster) == 0


def test_all_pairs_alike_on_both_sides_is_perfect_omega():
    assert omega_index(np.ones((4, 2)), np.ones((4, 2))) == 1
    assert omega_index(np.zeros((4, 2)), np.eye(4)) == 1  # no pair shares a cluster on either side
    assert omega_index(np.ones((4, 1)), np.ones((4, 2))) == 0  # every pair differs, as chance would have it


@pytest.mark.parametrize("score", [pairwise_scores, omega_index])
@pytest.mark.parametrize(
    ("truth", "found", "message"),
    [
        (np.eye(3), np.eye(2), "one row per document, got 3 and 2"),
        (np.eye(1), np.eye(1), "at least two documents, got 1"),
        (np.eye(2), 0.5 * np.eye(2), "found must contain only 0 and 1, got 0.5"),
        (np.nan * np.eye(2), np.eye(2), "truth must contain only 0 and 1, got nan"),
        ([0, 1], np.eye(2), "truth must be a 0-1 matrix"),
        (np.eye(2), "ab", "found must be a 0-1 matrix"),
    ],
)
def test_bad_memberships_are_named(score, truth, found, message):
    with pytest.raises(ValueError, match=message):
        score(truth, found)


def test_break_even_is_precision_and_recall_where_they_meet():
    from sklearn.metrics import precision_recall_curve

    rng = np.random.default_rng(0)
    for _ in range(20):
        y = rng.random(60) < 0.3
        scores = rng.normal(size=60) + y
        precision, recall, _ = precision_recall_curve(y, scores)
        meet = np.flatnonzero(np.isclose(precision, recall) & (recall > 0))
        assert break_even(y, scores) == pytest.approx(precision[meet].max() if len(meet) else 0.0)
    assert break_even([0, 1, 1], [0.1, 0.2, 0.3]) == 1
    assert break_even([1, 0, 0], [0.1, 0.2, 0.3]) == 0


def test_break_even_of_equal_scores_is_the_mean_over_choices():
    assert break_even([1, 0, 0, 0], [0, 0, 0, 0]) == 0.25
    assert break_even([1, 1, 0, 0], [9, 1, 1, 1]) == pytest.approx((1 + 1 / 3) / 2)


@pytest.mark.parametrize(
    ("y", "scores", "message"),
    [
        ([0, 0], [1, 2], "no positive"),
        ([0, 2], [1, 2], "only 0 and 1"),
        ([0, 1], [1, 2, 3], "same length"),
        ([0, 1], [1, np.nan], "nan"),
    ],
)
def test_break_even_says_what_is_wrong(y, scores, message):
    with pytest.raises(ValueError, match=message):
        break_even(y, scores)
