"""PLSA: its objective never falls, restarts keep the best, checkpoints resume, streams end near a whole fit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from naive import plsa_step
from topicfold import PLSA
from topicfold.metrics.completion import log_likelihood
from topicfold.models.em import plsa_kernels
from topicfold.models.em.starts import STARTS, start

small_counts = arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 7)), elements=st.integers(0, 4))


@settings(deadline=None, max_examples=40)
@given(small_counts.filter(lambda counts: counts.sum() > 0), st.integers(1, 3), st.sampled_from(STARTS))
def test_any_counts_give_distributions_and_a_rising_likelihood(counts, n_topics, init):
    n_topics = min(n_topics, *counts.shape)
    model = PLSA(n_topics, init=init, dtype="float64", tol=0, max_iter=20, random_state=0, verbose=False).fit(counts)
    assert np.allclose(model.topic_word_.sum(axis=1), 1)
    assert np.allclose(model.doc_topic_.sum(axis=1), 1)
    assert (np.diff(model.history_) > -1e-10).all()
    assert np.allclose(model.transform(counts), model.doc_topic_)


@pytest.mark.parametrize("parameters", [{}, {"beta": 0.1}, {"seed_words": {1: [3, 4]}}, {"init": "random"}])
def test_the_objective_never_falls(sampled, parameters):
    model = PLSA(5, tol=0, max_iter=80, dtype="float64", random_state=0, verbose=False, **parameters).fit(sampled)
    assert (np.diff(model.history_) > -1e-12).all()


def test_history_is_the_likelihood_per_token(sampled):
    plain = {"alpha": 0, "beta": 0}
    model = PLSA(4, tol=0, max_iter=60, dtype="float64", random_state=0, verbose=False, **plain).fit(sampled)
    total, left_out = log_likelihood(sampled, model.doc_topic_, model.topic_word_)
    assert left_out == 0
    assert total / sampled.sum() >= model.history_[-1] - 1e-4
    assert total / sampled.sum() < model.history_[-1] + 0.05


def test_float32_agrees_with_float64(sampled):
    fits = [PLSA(4, tol=0, random_state=0, dtype=dtype, verbose=False).fit(sampled) for dtype in ("float32", "float64")]
    assert fits[0].topic_word_.dtype == np.float32
    assert fits[1].topic_word_.dtype == np.float64
    assert abs(fits[0].history_[-1] - fits[1].history_[-1]) < 1e-4


def test_given_topics_are_the_start(sampled):
    topics = np.random.default_rng(0).random((3, 30))
    model = PLSA(3, init=topics, max_iter=1, alpha=0, beta=0, verbose=False).fit(sampled)
    even = np.full((400, 3), 1 / 3)
    rows = topics / topics.sum(axis=1, keepdims=True)
    assert np.allclose(model.topic_word_, plsa_step(sampled.toarray(), even, rows)[1], atol=1e-6)
    for bad in (topics[:2], -topics, topics * 0):
        with pytest.raises(ValueError, match="init"):
            PLSA(3, init=bad).fit(sampled)


def test_restarts_keep_the_best(sampled):
    options = {"init": "random", "random_state": 3, "max_iter": 30, "tol": 0, "verbose": False}
    best = PLSA(4, n_init=5, **options).fit(sampled)
    seeds = np.random.RandomState(3).randint(np.iinfo(np.int32).max, size=5)
    singles = []
    for seed in seeds:
        given = PLSA(4, **options)
        doc_topic, topic_word = start(sampled.astype(np.float32), 4, "random", np.random.RandomState(seed), {})
        state = {
            "doc_topic": plsa_kernels.padded(doc_topic, np.float32),
            "word_topic": plsa_kernels.padded(topic_word.T, np.float32),
        }
        given._start = lambda *_, state=state: state
        singles.append(given.fit(sampled).history_[-1])
    assert best.history_[-1] == max(singles)
    assert len(set(singles)) > 1


def test_restarts_resume_from_a_checkpoint(sampled, tmp_path, monkeypatch):
    options = {"init": "random", "n_init": 3, "random_state": 3, "max_iter": 10, "tol": 0, "verbose": False}
    whole = PLSA(4, **options).fit(sampled)
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)
    calls = []

    class Killed(Exception):
        pass

    class Fragile(plsa_kernels.EMStep):
        def __call__(self, *arguments):
            calls.append(1)
            if len(calls) in (16, 17 + 9):  # in the second start, and, resumed, in the third
                raise Killed
            return super().__call__(*arguments)

    monkeypatch.setattr(plsa_kernels, "EMStep", Fragile)
    path = tmp_path / "checkpoint"
    for _ in range(2):
        with pytest.raises(Killed):
            PLSA(4, checkpoint=path, **options).fit(sampled)
    resumed = PLSA(4, checkpoint=path, **options).fit(sampled)
    assert np.array_equal(resumed.topic_word_, whole.topic_word_)
    assert np.array_equal(resumed.history_, whole.history_)
    assert len(calls) < 3 * 10 + 4


def test_counts_without_any_probability_are_reported(sampled):
    topics = np.ones((2, 30))
    topics[:, 3] = 0
    with pytest.warns(UserWarning, match="`init` gives their words no probability"):
        model = PLSA(2, init=topics, alpha=0, beta=0, verbose=False).fit(sampled)
    assert model.n_skipped_ == sampled[:, [3]].nnz


def test_a_stream_ends_near_the_batch_fit():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(200, 0.05), 8)
    counts = sp.csr_array(np.array([rng.multinomial(60, rng.dirichlet(np.full(8, 0.3)) @ topics) for _ in range(2000)]))
    whole = PLSA(8, random_state=0, verbose=False).fit(counts)
    stream = PLSA(8, random_state=0, verbose=False)
    for _ in range(3):
        for first in range(0, 2000, 250):
            stream.partial_fit(counts[first : first + 250])
    values = [log_likelihood(counts, model.transform(counts), model.topic_word_)[0] for model in (whole, stream)]
    assert values[1] > values[0] * 1.01  # both are negative
    assert stream.n_batches_ == 24
    assert len(stream.history_) == 24


def test_a_stream_learns_words_its_first_batch_did_not_have():
    first = np.array([[3, 2, 0, 0], [2, 3, 0, 0]] * 5)
    later = np.array([[0, 0, 3, 2], [0, 0, 2, 3]] * 5)
    model = PLSA(2, random_state=0, verbose=False).partial_fit(first)
    for _ in range(10):
        model.partial_fit(later)
    assert np.allclose(model.topic_word_.sum(axis=1), 1, atol=1e-5)
    assert model.topic_word_[:, 2:].sum() > 0.5
    assert np.array_equal(model.doc_topic_, model.transform(later))
    with pytest.raises(ValueError, match="needs all documents at once"):
        PLSA(2, tempered=True).partial_fit(first)


@pytest.mark.parametrize("prior", [0.5, 2.0, 20.0])
@pytest.mark.parametrize("smoothing", [0.0, 0.05])
def test_with_a_prior_the_posterior_never_falls(sampled, prior, smoothing):
    options = {"tol": 0, "max_iter": 40, "dtype": "float64", "random_state": 0, "init": "random"}
    model = PLSA(5, alpha=prior, beta=smoothing, **options).fit(sampled)
    assert (np.diff(model.history_) >= -1e-10).all()


def test_a_step_with_a_prior_is_the_formula(sampled):
    counts = sampled.toarray()
    topics = np.random.default_rng(0).dirichlet(np.ones(30), 3)
    model = PLSA(3, init=topics, max_iter=2, tol=0, alpha=4.0, beta=0.1, dtype="float64").fit(sampled)
    doc_topic, lengths = np.full((400, 3), 1 / 3), counts.sum(axis=1, keepdims=True)
    values = []
    for _ in range(2):
        penalty = 0.1 * np.log(topics).sum() + 4 / 3 * np.log(doc_topic).sum()
        doc_topic, topics, log_likelihood = plsa_step(counts, doc_topic, topics, 0.1)
        doc_topic = (lengths * doc_topic + 4 / 3) / (lengths + 4)
        values.append((log_likelihood + penalty) / counts.sum())
    assert np.allclose(model.topic_word_, topics)
    assert np.allclose(model.history_, values)


def test_new_documents_have_the_prior_of_the_fit(sampled):
    model = PLSA(4, alpha=6.0, random_state=0, dtype="float64").fit(sampled)
    found = model.transform(sampled[:20])
    counts = sampled[:20].toarray()
    step = plsa_step(counts, found, model.topic_word_)[0]
    lengths = counts.sum(axis=1, keepdims=True)
    assert np.allclose((lengths * step + 6 / 4) / (lengths + 6), found, atol=1e-3)
    assert found.min() > 6 / 4 / (lengths.max() + 6) - 1e-9


def test_short_texts_are_predicted_better_with_the_default_prior():
    rng = np.random.default_rng(0)
    subjects = rng.dirichlet(np.full(300, 0.1), 10)
    counts = sp.csr_array(np.array([rng.multinomial(5, subjects[rng.integers(10)]) for _ in range(1500)]))
    train, test = counts[:1200], counts[1200:]
    assert PLSA(10, random_state=0).fit(train).score(test) > PLSA(10, alpha=0, beta=0, random_state=0).fit(train).score(
        test
    )
