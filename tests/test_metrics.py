"""Metrics against brute force over permutations, pairs and tokens, and the invariants each must keep."""

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
from topicfold.metrics.completion import (
    BACKGROUND_WEIGHT,
    completion_log_likelihood,
    completion_log_likelihood_by_document,
    log_likelihood,
    perplexity,
    split_tokens,
)
from topicfold.metrics.stability import diversity, matched_similarity, stability

# --- one cluster a document -------------------------------------------------------------------------------------------

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


# --- overlapping clusters ---------------------------------------------------------------------------------------------


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
        (np.eye(3), np.eye(2), "got 3 and 2 rows"),
        (np.eye(1), np.eye(1), "at least two documents, got 1"),
        (np.eye(2), 0.5 * np.eye(2), "found must hold only 0 and 1, got 0.5"),
        (np.nan * np.eye(2), np.eye(2), "truth must hold only 0 and 1, got nan"),
        ([0, 1], np.eye(2), "truth must be a 0-1 matrix"),
        (np.eye(2), "ab", "found must be a 0-1 matrix"),
    ],
)
def test_bad_memberships_are_named(score, truth, found, message):
    with pytest.raises(ValueError, match=message):
        score(truth, found)


# --- document completion ----------------------------------------------------------------------------------------------

small_counts = hnp.arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 8)), elements=st.integers(0, 4))


@given(small_counts)
@settings(max_examples=200, deadline=None)
def test_split_is_exactly_in_half(counts):
    observed, heldout = (half.toarray() for half in split_tokens(sparse.csr_array(counts)))
    n = counts.sum(axis=1)
    assert (observed >= 0).all()
    assert (heldout >= 0).all()
    np.testing.assert_array_equal(observed + heldout, np.where(n[:, None] < 2, 0, counts))
    np.testing.assert_array_equal(heldout.sum(axis=1), np.where(n < 2, 0, n // 2))


@given(small_counts, st.randoms())
@settings(deadline=None)
def test_split_depends_on_nothing_but_the_document(counts, random):
    order = list(range(len(counts)))
    random.shuffle(order)
    heldout = split_tokens(sparse.csr_array(counts))[1].toarray()
    shuffled = split_tokens(sparse.csr_array(counts[order]))[1].toarray()
    np.testing.assert_array_equal(shuffled, heldout[order])
    for row, expected in zip(counts, heldout):
        np.testing.assert_array_equal(split_tokens(sparse.csr_array(row[None]))[1].toarray()[0], expected)


def test_split_ignores_order_duplicates_stored_zeros_and_types():
    plain = sparse.csr_matrix(np.array([[3, 0, 2, 5], [0, 1, 0, 0]]))
    messy = sparse.csr_matrix(
        (np.array([5, 2, 1, 0, 2, 1]), np.array([3, 2, 0, 1, 0, 1]), np.array([0, 5, 6])), shape=(2, 4)
    )
    before = messy.indices.copy(), messy.data.copy()
    expected = [half.toarray() for half in split_tokens(plain)]
    for other in (messy, plain.astype(np.float32), plain.astype(np.uint8), sparse.coo_array(plain), plain.toarray()):
        for half, want in zip(split_tokens(other), expected):
            np.testing.assert_array_equal(half.toarray(), want)
    np.testing.assert_array_equal(messy.indices, before[0])
    np.testing.assert_array_equal(messy.data, before[1])
    tiny = sparse.csr_array((np.array([200, 200], np.uint8), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    assert split_tokens(tiny)[1].sum() == 200


def test_split_keeps_kind_and_dtype():
    for form in (sparse.csr_matrix, sparse.csr_array):
        for half in split_tokens(form(np.array([[2, 1]], dtype=np.float32))):
            assert type(half) is form
            assert half.dtype == np.float32
            assert half.shape == (1, 2)


def test_split_holds_out_every_token_equally_often():
    # Documents that differ only in a marker word of one token: their seeds differ, so their splits are draws.
    n, half = 4000, 5
    counts = sparse.hstack([np.ones((n, 9), int), sparse.eye_array(n, dtype=int)]).tocsr()
    heldout = split_tokens(counts)[1]
    assert (heldout.sum(axis=1) == half).all()
    share = heldout[:, :9].toarray().mean(axis=0)
    np.testing.assert_allclose(share, 0.5, atol=5 * 0.5 / math.sqrt(n))
    pair = (heldout[:, [0]].toarray() * heldout[:, [8]].toarray()).mean()
    assert pair == pytest.approx(half / 10 * (half - 1) / 9, abs=5 * 0.5 / math.sqrt(n))


def test_split_is_seeded_by_counts_as_well_as_words():
    n = 200  # documents of the same 20 words; only the count of the last, drawn last, differs
    counts = np.ones((n, 20), int)
    counts[:, -1] = np.arange(1, n + 1)
    heldout = split_tokens(sparse.csr_array(counts))[1].toarray()
    assert len(np.unique(heldout[:, :-1], axis=0)) > 0.95 * n


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.array([[0.5, 2]]), "whole numbers, got 0.5"),
        (np.array([[-1, 2]]), "not negative, got -1"),
        (np.array([[np.nan, 2]]), "finite"),
        (np.array([1, 2]), "1 dimension"),
    ],
)
def test_split_names_bad_counts(counts, message):
    with pytest.raises(ValueError, match=message):
        split_tokens(counts)


@pytest.fixture
def model():
    rng = np.random.default_rng(5)
    heldout = rng.poisson(0.5, (7, 11))
    heldout[2] = 0
    doc_topic, topic_word = rng.dirichlet(np.ones(3), 7), rng.dirichlet(np.full(11, 0.2), 3)
    return heldout, doc_topic, topic_word, rng.integers(0, 50, 11)


def test_completion_equals_its_formula(model):
    heldout, doc_topic, topic_word, frequency = model
    background = (frequency + 1) / (frequency.sum() + 11)
    log_p = np.log((1 - BACKGROUND_WEIGHT) * doc_topic @ topic_word + BACKGROUND_WEIGHT * background)
    sums, tokens = completion_log_likelihood_by_document(sparse.csr_array(heldout), doc_topic, topic_word, frequency)
    np.testing.assert_allclose(sums, (heldout * log_p).sum(axis=1))
    np.testing.assert_array_equal(tokens, heldout.sum(axis=1))
    arguments = sparse.csr_matrix(heldout), doc_topic, topic_word, frequency
    assert completion_log_likelihood(*arguments) == pytest.approx((heldout * log_p).sum() / heldout.sum())
    per_document = completion_log_likelihood(*arguments, per="document")
    assert per_document == pytest.approx((heldout * log_p).sum() / (heldout.sum(axis=1) > 0).sum())


def test_completion_takes_float32_and_any_layout(model):
    heldout, doc_topic, topic_word, frequency = model
    expected = completion_log_likelihood(heldout, doc_topic, topic_word, frequency)
    found = completion_log_likelihood(
        heldout.astype(np.float32), np.asfortranarray(doc_topic, np.float32), topic_word.astype(np.float32), frequency
    )
    assert found == pytest.approx(expected, abs=1e-5)


def test_completion_of_a_word_without_probability_is_finite():
    found = completion_log_likelihood([[0, 1]], [[1.0]], [[1.0, 0.0]], [10, 0])
    assert found == pytest.approx(math.log(BACKGROUND_WEIGHT / 12))


def test_completion_is_best_at_the_truth():
    truth = np.array([[0.5, 0.3, 0.2]])
    heldout = [[500, 300, 200]]
    best = completion_log_likelihood(heldout, [[1.0]], truth, [5, 3, 2])
    for other in ([[0.4, 0.4, 0.2]], [[0.2, 0.3, 0.5]]):
        assert completion_log_likelihood(heldout, [[1.0]], other, [5, 3, 2]) < best


def test_log_likelihood_skips_and_counts_cells_without_probability(model):
    counts, doc_topic, topic_word, _ = model
    total, skipped = log_likelihood(sparse.csr_array(counts), doc_topic, topic_word)
    assert total == pytest.approx((counts * np.log(doc_topic @ topic_word)).sum())
    assert skipped == 0
    topic_word = topic_word.copy()
    topic_word[:, 4] = 0
    p = np.delete(doc_topic @ topic_word, 4, axis=1)
    total, skipped = log_likelihood(counts, doc_topic, topic_word)
    assert total == pytest.approx((np.delete(counts, 4, axis=1) * np.log(p)).sum())
    assert skipped == np.count_nonzero(counts[:, 4]) > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heldout": np.zeros((2, 3), int)}, "no document has two or more tokens"),
        ({"heldout": -np.ones((2, 3))}, "heldout must be finite and not negative"),
        ({"heldout": np.full((2, 3), 0.5)}, "heldout must be whole numbers, got 0.5"),
        ({"doc_topic": np.full((3, 1), 1.0)}, r"do not fit"),
        ({"doc_topic": np.full((2, 1), 1.5)}, "rows of doc_topic must sum to 1, row 0 sums to 1.5"),
        ({"doc_topic": np.full((2, 1), np.nan)}, "doc_topic must be finite"),
        ({"doc_topic": np.ones(2)}, "doc_topic must be a matrix"),
        ({"topic_word": np.full((2, 3), 0.3)}, "do not fit"),
        ({"topic_word": np.array([[-0.5, 0.5, 0.5]])}, "topic_word must be finite and not negative"),
        ({"word_frequency": [1, 2]}, "one count a word, 3"),
        ({"word_frequency": [1, 2, -1]}, "word_frequency must be finite and not negative"),
        ({"per": "word"}, "got 'word'"),
    ],
)
def test_completion_names_bad_input(change, message):
    good = {
        "heldout": np.ones((2, 3), int),
        "doc_topic": np.ones((2, 1)),
        "topic_word": np.full((1, 3), 1 / 3),
        "word_frequency": [1, 2, 3],
    }
    with pytest.raises(ValueError, match=message):
        completion_log_likelihood(**{**good, **change})


def test_perplexity_of_a_uniform_model_is_the_number_of_words():
    n_words = 50
    value = completion_log_likelihood(
        np.ones((2, n_words), int), np.ones((2, 1)), np.full((1, n_words), 1 / n_words), np.ones(n_words)
    )
    assert perplexity(value) == pytest.approx(n_words)
    assert perplexity(0.0) == 1
    assert perplexity(-1e6) == math.inf
    with pytest.raises(ValueError, match="nan"):
        perplexity(math.nan)


# --- topics -----------------------------------------------------------------------------------------------------------


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
    with pytest.raises(ValueError, match=r"topic_words\[1\] must be a matrix"):
        stability([np.eye(2), np.ones(2)])


# ---- ranked documents -----------------------------------------------------------------------------------------------


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
