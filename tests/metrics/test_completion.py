"""Document completion: how tokens are split, and likelihoods beside their formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from topicfold.metrics.completion import (
    BACKGROUND_WEIGHT,
    completion_log_likelihood,
    completion_log_likelihood_by_document,
    log_likelihood,
    perplexity,
    split_tokens,
)

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
        ({"word_frequency": [1, 2]}, "one count per word, 3"),
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


def test_large_counts_cost_no_more_than_small_ones():
    """A count of a thousand million is split at once, to about the share that is asked for."""
    counts = sparse.csr_array(np.array([[10**9, 3, 0], [5000, 10**9, 10**9], [10**4, 0, 10**4]]))
    for observed in (0.5, 0.9):
        seen, held_out = split_tokens(counts, observed=observed)
        assert np.array_equal((seen + held_out).toarray(), counts.toarray())
        total = counts.sum(axis=1)
        assert np.array_equal(held_out.sum(axis=1), np.floor((1 - observed) * total + 1e-9).astype(int))
        share = held_out.toarray()[2] / np.maximum(counts.toarray()[2], 1)
        assert share[[0, 2]] == pytest.approx([1 - observed] * 2, abs=0.05)
    again = split_tokens(counts[[1]])[1].toarray()[0]
    assert np.array_equal(again, split_tokens(counts)[1].toarray()[1])  # whatever else is in the batch
