from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from naive import fold_in as naive_fold_in
from naive import plsa_step
from topicfold import PLSA, Corpus
from topicfold.metrics.completion import log_likelihood
from topicfold.models import em
from topicfold.models.plsa import plsa, tempering
from topicfold.models.starts import STARTS, start

NO_SEEDS: dict[int, np.ndarray] = {}


def random_start(counts, n_topics, seed=0):
    rng = np.random.default_rng(seed)
    doc_topic, topic_word = rng.random((counts.shape[0], n_topics)), rng.random((n_topics, counts.shape[1]))
    return doc_topic / doc_topic.sum(axis=1, keepdims=True), topic_word / topic_word.sum(axis=1, keepdims=True)


def kernel_step(counts, doc_topic, topic_word, smoothing=0.0, seeds=NO_SEEDS, strength=0.0, dtype="float64"):
    n_topics = len(topic_word)
    doc, word = em.padded(doc_topic, dtype), em.padded(topic_word.T, dtype)
    matrix = sp.csr_array(counts).astype(dtype)
    step = em.EMStep(matrix, n_topics, None, smoothing, em.seed_prior(seeds, strength, dtype))
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
    assert len(em.EMStep(sampled.astype(float), 5, None, 0.0, em.seed_prior({}, 0, float)).groups) == 4
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
    found = em.fold_in(sampled[:20].astype(float), topic_word, np.ones(3) / 3, exponent=exponent)
    expected = naive_fold_in(sampled[:20].toarray(), topic_word, em.FOLD_IN_ITER, exponent=exponent)
    assert np.abs(found - expected).max() < 0.005  # it stops when it moves by less than FOLD_IN_TOL
    if exponent == 1:
        best = naive_fold_in(sampled[:20].toarray(), topic_word)
        values = [log_likelihood(sampled[:20], doc_topic, topic_word)[0] for doc_topic in (found, best)]
        assert abs(values[0] - values[1]) < 1e-4 * sampled[:20].sum()


@settings(deadline=None, max_examples=40)
@given(small_counts.filter(lambda counts: counts.sum() > 0), st.integers(1, 3), st.sampled_from(STARTS))
def test_any_counts_give_distributions_and_a_rising_likelihood(counts, n_topics, init):
    n_topics = min(n_topics, *counts.shape)
    model = PLSA(n_topics, init=init, dtype="float64", tol=0, max_iter=20, random_state=0, verbose=False).fit(counts)
    assert np.allclose(model.topic_word_.sum(axis=1), 1)
    assert np.allclose(model.doc_topic_.sum(axis=1), 1)
    assert (np.diff(model.history_) > -1e-10).all()
    assert np.allclose(model.transform(counts), model.doc_topic_)


@pytest.mark.parametrize("parameters", [{}, {"smoothing": 0.1}, {"seed_words": {1: [3, 4]}}, {"init": "random"}])
def test_the_objective_never_falls(sampled, parameters):
    model = PLSA(5, tol=0, max_iter=80, dtype="float64", random_state=0, verbose=False, **parameters).fit(sampled)
    assert (np.diff(model.history_) > -1e-12).all()


def test_history_is_the_likelihood_a_token(sampled):
    model = PLSA(4, tol=0, max_iter=60, dtype="float64", random_state=0, verbose=False).fit(sampled)
    total, left_out = log_likelihood(sampled, model.doc_topic_, model.topic_word_)
    assert left_out == 0
    assert total / sampled.sum() >= model.history_[-1] - 1e-4
    assert total / sampled.sum() < model.history_[-1] + 0.05


def test_float32_agrees_with_float64(sampled):
    fits = [PLSA(4, tol=0, random_state=0, dtype=dtype, verbose=False).fit(sampled) for dtype in ("float32", "float64")]
    assert fits[0].topic_word_.dtype == np.float32
    assert fits[1].topic_word_.dtype == np.float64
    assert abs(fits[0].history_[-1] - fits[1].history_[-1]) < 1e-4


@pytest.mark.parametrize("init", STARTS)
def test_starts_are_distributions_and_follow_the_seed(sampled, init):
    draws = [start(sampled, 6, init, np.random.RandomState(seed), {}) for seed in (0, 0)]
    for doc_topic, topic_word in draws:
        assert np.allclose(doc_topic.sum(axis=1), 1)
        assert np.allclose(topic_word.sum(axis=1), 1)
        assert (topic_word > 0).all()
    assert np.array_equal(draws[0][1], draws[1][1])


def test_given_topics_are_the_start(sampled):
    topics = np.random.default_rng(0).random((3, 30))
    model = PLSA(3, init=topics, max_iter=1, verbose=False).fit(sampled)
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
        state = PLSA(4, **options)._start(sampled.astype(np.float32), {}, np.random.RandomState(seed))
        given = PLSA(4, **options)
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

    class Fragile(em.EMStep):
        def __call__(self, *arguments):
            calls.append(1)
            if len(calls) in (16, 17 + 9):  # in the second start, and, resumed, in the third
                raise Killed
            return super().__call__(*arguments)

    monkeypatch.setattr(plsa, "EMStep", Fragile)
    path = tmp_path / "checkpoint"
    for _ in range(2):
        with pytest.raises(Killed):
            PLSA(4, checkpoint=path, **options).fit(sampled)
    resumed = PLSA(4, checkpoint=path, **options).fit(sampled)
    assert np.array_equal(resumed.topic_word_, whole.topic_word_)
    assert np.array_equal(resumed.history_, whole.history_)
    assert len(calls) < 3 * 10 + 4


def overfitting_corpus():
    rng = np.random.default_rng(5)
    topics = rng.dirichlet(np.full(300, 0.05), 5)
    mixes = rng.dirichlet(np.full(5, 0.3), 300)
    return sp.csr_array(np.array([rng.multinomial(30, mix @ topics) for mix in mixes]))


def test_tempering_helps_held_out_documents():
    counts = overfitting_corpus()
    options = {"n_topics": 20, "random_state": 0, "verbose": False}
    plain = PLSA(**options).fit(counts[:240])
    tempered = PLSA(tempered=True, **options).fit(counts[:240])
    assert tempered.score(counts[240:]) > plain.score(counts[240:]) + 0.05
    assert 0 < tempered.exponent_ <= 1
    assert (np.diff(tempered.history_) >= 0).all()
    with pytest.raises(ValueError, match="whole counts"):
        PLSA(2, tempered=True).fit(counts * 0.5)


def test_tempering_with_documents_too_short_to_split():
    counts = sp.csr_array(sp.vstack([overfitting_corpus()[:60], sp.csr_array((2, 300), dtype=int)]))
    model = PLSA(10, tempered=True, random_state=0, verbose=False).fit(counts)
    assert np.allclose(model.doc_topic_.sum(axis=1), 1, atol=1e-5)
    with pytest.raises(ValueError, match="no document has ten"):
        PLSA(2, tempered=True).fit(np.ones((5, 4)))


def test_tempering_resumes_in_the_same_bits(tmp_path, monkeypatch):
    counts = overfitting_corpus()
    options = {"n_topics": 20, "random_state": 0, "tempered": True, "max_iter": 12, "verbose": False}
    whole = PLSA(**options).fit(counts)
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)

    class Killed(Exception):
        pass

    real, calls = tempering.completion_log_likelihood, []

    def fragile(*arguments):
        calls.append(1)
        if len(calls) == 7:
            raise Killed
        return real(*arguments)

    monkeypatch.setattr(tempering, "completion_log_likelihood", fragile)
    with pytest.raises(Killed):
        PLSA(checkpoint=tmp_path / "c", **options).fit(counts)
    resumed = PLSA(checkpoint=tmp_path / "c", **options).fit(counts)
    assert np.array_equal(resumed.topic_word_, whole.topic_word_)
    assert resumed.exponent_ == whole.exponent_


def test_seed_words_guide_a_topic():
    animals, sky = ["cat dog cow", "dog cow cat cat", "cow dog"], ["sun moon star", "moon star", "sun sun moon"]
    corpus = Corpus.from_texts((animals + sky) * 5)
    for seed in range(5):
        model = PLSA(2, seed_words={1: ["cat"], 0: ["moon"]}, random_state=seed, verbose=False).fit(corpus)
        assert model.topic_word_[1, corpus.vocabulary.index("cow")] > 0.1
        assert model.topic_word_[0, corpus.vocabulary.index("star")] > 0.1
    as_lists = PLSA(2, seed_words=[["moon"], ["cat"]], random_state=0, verbose=False).fit(corpus)
    assert as_lists.topic_word_[1, corpus.vocabulary.index("cow")] > 0.1


@pytest.mark.parametrize(
    ("seed_words", "message"),
    [
        ({5: ["cat"]}, "topic 5"),
        ({0: ["unicorn"]}, "'unicorn' of topic 0 is not in the vocabulary"),
        ({0: "cat"}, "one string"),
        ({0: [99]}, "99"),
    ],
)
def test_bad_seed_words_are_named(seed_words, message):
    corpus = Corpus.from_texts(["cat dog", "sun moon", "cat sun"])
    with pytest.raises(ValueError, match=message):
        PLSA(2, seed_words=seed_words).fit(corpus)
    with pytest.raises(ValueError, match="no words to find it in"):
        PLSA(2, seed_words={0: ["cat"]}).fit(corpus.counts)


def test_fold_in_gives_the_same_bits_over_many_blocks(sampled, monkeypatch):
    model = PLSA(3, random_state=0, verbose=False).fit(sampled)
    expected = model.transform(sampled)
    monkeypatch.setattr(em, "_VALUES_A_BLOCK", 300)
    for n_jobs in (1, 2, 4):
        assert np.array_equal(model.set_params(n_jobs=n_jobs).transform(sampled), expected)


def test_counts_without_any_probability_are_reported(sampled):
    topics = np.ones((2, 30))
    topics[:, 3] = 0
    with pytest.warns(UserWarning, match="no probability"):
        model = PLSA(2, init=topics, verbose=False).fit(sampled)
    assert model.left_out_ == sampled[:, [3]].nnz


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
