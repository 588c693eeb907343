"""The kernels of EM that the flat models share, against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from naive import fold_in as naive_fold_in
from naive import plsa_step
from topicfold import PLSA
from topicfold.metrics.completion import log_likelihood
from topicfold.models.em import fold_in, passes, plsa_kernels

NO_SEEDS: dict[int, np.ndarray] = {}


def random_start(counts, n_topics, seed=0):
    rng = np.random.default_rng(seed)
    doc_topic, topic_word = rng.random((counts.shape[0], n_topics)), rng.random((n_topics, counts.shape[1]))
    return doc_topic / doc_topic.sum(axis=1, keepdims=True), topic_word / topic_word.sum(axis=1, keepdims=True)


def kernel_step(counts, doc_topic, topic_word, smoothing=0.0, seeds=NO_SEEDS, strength=0.0, dtype="float64"):
    n_topics = len(topic_word)
    doc, word = plsa_kernels.padded(doc_topic, dtype), plsa_kernels.padded(topic_word.T, dtype)
    matrix = sp.csr_array(counts).astype(dtype)
    step = plsa_kernels.EMStep(matrix, n_topics, None, smoothing, plsa_kernels.counts_of_seeds(seeds, strength, dtype))
    value = step(doc, word)
    assert (doc[:, n_topics:] == 0).all()
    assert (word[:, n_topics:] == 0).all()
    return doc[:, :n_topics], word[:, :n_topics].T, value


small_counts = arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 7)), elements=st.integers(0, 4))


@settings(deadline=None, max_examples=60)
@given(small_counts, st.integers(1, 5), st.integers(0, 9), st.sampled_from([0.0, 0.3]))
def test_the_kernel_is_the_formula(counts, n_topics, seed, smoothing):
    doc_topic, topic_word = random_start(counts, n_topics, seed)
    expected = plsa_step(counts, doc_topic, topic_word, smoothing)
    found = kernel_step(counts, doc_topic, topic_word, smoothing)
    if counts.sum() + smoothing > 0:
        for ours, theirs in zip(found, expected):
            assert np.allclose(ours, theirs, atol=1e-12)


def test_the_kernel_is_the_formula_over_many_groups(sampled):
    counts = sampled.toarray()
    doc_topic, topic_word = random_start(counts, 5)
    assert (
        len(
            plsa_kernels.EMStep(
                sampled.astype(float), 5, None, 0.0, plsa_kernels.counts_of_seeds({}, 0, float)
            ).rows.groups
        )
        == 16
    )
    for ours, theirs in zip(kernel_step(counts, doc_topic, topic_word), plsa_step(counts, doc_topic, topic_word)):
        assert np.allclose(ours, theirs, rtol=1e-10)


def test_seed_words_are_pseudo_counts(sampled):
    counts = sampled.toarray()
    doc_topic, topic_word = random_start(counts, 3)
    prior = np.zeros((3, 30))
    prior[1, [4, 9]] = 5.0
    expected = plsa_step(counts, doc_topic, topic_word, prior=prior)
    found = kernel_step(counts, doc_topic, topic_word, seeds={1: np.array([4, 9])}, strength=10.0)
    for ours, theirs in zip(found, expected):
        assert np.allclose(ours, theirs, rtol=1e-10)


def test_a_tempered_step_is_the_formula(sampled):
    counts = sampled.toarray()
    doc_topic, topic_word = random_start(counts, 3)
    expected = plsa_step(counts, doc_topic, topic_word, exponent=0.7)
    found = kernel_step(counts, doc_topic**0.7, topic_word**0.7)
    for ours, theirs in zip(found[:2], expected[:2]):
        assert np.allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize("exponent", [1.0, 0.8])
def test_fold_in_is_the_formula(sampled, exponent):
    _, topic_word = random_start(sampled, 3)
    found = fold_in.fold_in(sampled[:20].astype(float), topic_word, np.ones(3) / 3, exponent=exponent)
    expected = naive_fold_in(sampled[:20].toarray(), topic_word, fold_in._FOLD_IN_ITER, exponent=exponent)
    assert np.abs(found - expected).max() < 0.005  # it stops when it moves by less than _FOLD_IN_TOL
    if exponent == 1:
        best = naive_fold_in(sampled[:20].toarray(), topic_word)
        values = [log_likelihood(sampled[:20], doc_topic, topic_word)[0] for doc_topic in (found, best)]
        assert abs(values[0] - values[1]) < 1e-4 * sampled[:20].sum()


def test_fold_in_gives_the_same_bits_over_many_blocks(sampled, monkeypatch):
    model = PLSA(3, random_state=0, verbose=False).fit(sampled)
    expected = model.transform(sampled)
    monkeypatch.setattr(passes, "_VALUES_PER_BLOCK", 300)
    for n_jobs in (1, 2, 4):
        assert np.array_equal(model.set_params(n_jobs=n_jobs).transform(sampled), expected)


def test_dead_cells_are_left_out_not_nan():
    doc_topic = np.array([[1.0, 0.0], [0.0, 1.0]])
    topic_word = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    doc, word, value = kernel_step(np.array([[2, 3, 0], [0, 1, 1]]), doc_topic, topic_word)
    assert np.isfinite(doc).all()
    assert np.isfinite(word).all()
    assert value == pytest.approx(2 * np.log(0.5))  # the cell (0, 1) has P = 0


def test_a_topic_without_mass_keeps_its_words():
    doc_topic, topic_word = np.array([[1.0, 0.0]]), np.array([[0.5, 0.5], [0.2, 0.8]])
    _, word, _ = kernel_step(np.array([[1, 3]]), doc_topic, topic_word)
    assert np.allclose(word, [[0.25, 0.75], [0.2, 0.8]])


@pytest.mark.parametrize("n_topics", [1, 3, 9])
def test_shared_kernels_are_their_formulas(sampled, n_topics):
    rng = np.random.default_rng(n_topics)
    counts = sp.csr_array(sp.vstack([sampled[:60], sp.csr_array((1, 30), dtype=int)])).astype(float)
    doc_topic = rng.dirichlet(np.ones(n_topics), 61)
    topic_word = rng.dirichlet(np.ones(30), n_topics)
    doc, word = plsa_kernels.padded(doc_topic, float), plsa_kernels.padded(topic_word.T, float)
    cells = plsa_kernels.cell_probabilities(counts, doc, word, None)
    coordinates = counts.tocoo()
    assert np.allclose(cells, (doc_topic @ topic_word)[coordinates.row, coordinates.col], rtol=1e-12)
    renewed, beside = plsa_kernels.document_step(counts, doc, word, None)
    expected, _, total = plsa_step(counts.toarray(), doc_topic, topic_word)
    assert np.allclose(renewed[:, :n_topics], expected, atol=1e-13)
    assert np.array_equal(renewed[:, n_topics:], np.zeros((61, renewed.shape[1] - n_topics)))
    assert np.array_equal(beside, cells)
    assert np.array_equal(doc[:, :n_topics], doc_topic)  # the step is not taken in place
    assert np.isclose(plsa_kernels.log_likelihood(counts, cells), total, rtol=1e-12)


def test_cells_without_probability_are_left_out_of_the_likelihood():
    counts = sp.csr_array(np.array([[2.0, 1.0]]))
    assert np.isclose(plsa_kernels.log_likelihood(counts, np.array([0.5, 0.0])), 2 * np.log(0.5))
