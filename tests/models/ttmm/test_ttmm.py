"""TTMM: its objective never falls, exact likelihoods, features, starts, and streams."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from naive import ttmm_step, ttmm_token_topics
from topicfold import TTMM
from topicfold.baselines import GibbsLDA


def test_em_never_falls_without_smoothing(sampled):
    for init in ("data", "random"):
        model = TTMM(6, 4, init=init, beta=0, tol=0, dtype="float64", random_state=0, verbose=False).fit(sampled)
        assert (np.diff(model.history_) > -1e-12).all()


def test_the_objective_never_falls_with_smoothing(sampled):
    model = TTMM(6, 4, beta=0.1, tol=0, dtype="float64", random_state=0, verbose=False).fit(sampled)
    assert (np.diff(model.history_) > -1e-12).all()


@pytest.mark.parametrize(("n_themes", "n_topics"), [(1, 5), (5, 1)])
def test_one_theme_or_one_topic_is_the_unigram(sampled, n_themes, n_topics):
    model = TTMM(n_themes, n_topics, beta=0, tol=0, max_iter=200, dtype="float64", random_state=0, verbose=False).fit(
        sampled
    )
    frequency = np.asarray(sampled.sum(axis=0)) / sampled.sum()
    unigram = (sampled @ np.log(np.maximum(frequency, 1e-300))).sum()
    assert model.log_likelihood(sampled).sum() == pytest.approx(unigram, rel=1e-6)


def test_features(themed):
    counts, _ = themed
    model = TTMM(3, 4, dtype="float64", random_state=0, verbose=False).fit(counts)
    dense = counts.toarray()
    expected = ttmm_token_topics(dense, model.doc_theme_, model.theme_topic_, model.topic_word_)
    assert np.allclose(model.doc_topic_, expected, atol=2e-3)  # rare themes are left out of the sum
    assert np.array_equal(model.transform(counts), model.doc_topic_)
    themes = model.set_params(features="themes").transform(counts)
    assert np.array_equal(themes, model.doc_theme_)
    assert np.array_equal(model.document_themes(counts), model.doc_theme_)
    assert np.array_equal(model.document_topics(counts), model.doc_topic_)
    logs = dense @ np.log(model.topic_word_).T + np.log(model.theme_weight_ @ model.theme_topic_)
    assert np.allclose(model.set_params(features="log").transform(counts), logs / dense.sum(axis=1, keepdims=True))
    paper = np.exp(logs - logs.max(axis=1, keepdims=True))
    paper /= paper.sum(axis=1, keepdims=True)
    assert np.allclose(model.set_params(features="paper").transform(counts), paper)
    assert len(model.set_params(features="themes").get_feature_names_out()) == 3
    with pytest.raises(ValueError, match="features='words'"):
        TTMM(features="words").fit(counts)


def test_log_likelihood_is_exact(themed):
    counts, _ = themed
    model = TTMM(3, 4, dtype="float64", random_state=0, verbose=False).fit(counts)
    _, _, _, logs = ttmm_step(counts.toarray()[:5], model.theme_weight_, model.theme_topic_, model.topic_word_)
    assert np.allclose(model.log_likelihood(counts[:5]), logs)
    document = model.doc_theme_ @ model.theme_topic_ @ model.topic_word_
    assert np.allclose(document.sum(axis=1), 1)


def test_themes_are_found(themed):
    counts, theme = themed
    model = TTMM(3, 4, random_state=0, verbose=False).fit(counts)
    assert adjusted_rand_score(theme, model.predict_theme(counts)) > 0.95
    assert model.n_themes_used_ == 3


def test_data_starts_leave_the_unigram_at_once_and_random_ones_sit_there(sampled):
    frequency = np.asarray(sampled.sum(axis=0)) / sampled.sum()
    unigram = float((sampled @ np.log(np.maximum(frequency, 1e-300))).sum() / sampled.sum())
    options = {"beta": 0, "tol": 0, "max_iter": 6, "random_state": 0, "verbose": False}
    assert TTMM(10, 4, **options).fit(sampled).history_[5] > unigram + 0.05
    assert TTMM(10, 4, init="random", **options).fit(sampled).history_[5] < unigram + 0.01


def test_held_out_documents_are_likelier_than_under_the_unigram(sampled):
    train, test = sampled[:300], sampled[300:]
    frequency = (np.asarray(train.sum(axis=0)) + 0.1) / (train.sum() + 3)
    unigram = float((test @ np.log(frequency)).sum())
    assert TTMM(10, 4, random_state=0, verbose=False).fit(train).log_likelihood(test).sum() > unigram


def test_topics_of_lda_as_the_start(themed):
    pytest.importorskip("tomotopy")
    counts, _ = themed
    topics = GibbsLDA(4, max_iter=200, random_state=0).fit(counts).topic_word_
    options = {"random_state": 0, "dtype": "float64", "verbose": False}
    model = TTMM(3, 4, init=topics, **options).fit(counts)
    assert np.allclose(model.topic_word_.sum(axis=1), 1, atol=1e-5)
    begun = TTMM(3, 4, init=topics, max_iter=1, beta=0, **options).fit(counts)  # not far from where it started
    assert adjusted_rand_score(topics.argmax(axis=0), begun.topic_word_.argmax(axis=0)) > 0.9
    for bad in (topics[:3], topics[:, 1:], -topics, topics * 0):
        with pytest.raises(ValueError, match="init"):
            TTMM(3, 4, init=bad).fit(counts)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_themes": 0}, "n_themes=0"),
        ({"n_themes": "many"}, "n_themes='many'"),
        ({"n_themes": 61}, "n_themes=61 is more than there are documents"),
        ({"init": "magic"}, "init='magic'"),
        ({"init": "lda"}, "init='lda': expected one of data, random, or an array of topics x words"),
    ],
)
def test_bad_parameters(themed, parameters, message):
    with pytest.raises(ValueError, match=message):
        TTMM(**{"n_themes": 3, "n_topics": 4, **parameters}).fit(themed[0])


def test_a_stream_ends_near_the_batch_fit():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(200, 0.05), 8)
    mixes = rng.dirichlet(np.full(8, 0.1), 12)
    counts = sp.csr_array(np.array([rng.multinomial(60, mixes[rng.integers(12)] @ topics) for _ in range(2000)]))
    options = {"n_themes": 12, "n_topics": 8, "random_state": 0, "verbose": False}
    whole = TTMM(**options).fit(counts)
    stream = TTMM(**options)
    for _ in range(3):
        for first in range(0, 2000, 250):
            stream.partial_fit(counts[first : first + 250])
    assert stream.n_batches_ == 24
    whole_value, stream_value = (float(model.log_likelihood(counts).mean()) for model in (whole, stream))
    assert stream_value > whole_value * 1.01  # both are negative
    assert stream.word_frequency_.sum() == pytest.approx(3 * counts.sum())


def test_small_batches_do_not_forget_the_themes_of_earlier_ones():
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(300, 0.03), 20)
    mixes = rng.dirichlet(np.full(20, 0.1), 60)
    counts = sp.csr_array(np.array([rng.multinomial(30, mixes[rng.integers(60)] @ topics) for _ in range(3000)]))
    options = {"n_themes": 60, "n_topics": 20, "random_state": 0, "verbose": False}
    whole = TTMM(**options).fit(counts)
    reached = []
    for size in (20, 100):
        stream = TTMM(**options).partial_fit(counts[:1000])
        for first in range(1000, 3000, size):
            stream.partial_fit(counts[first : first + size])
        reached.append(float(stream.log_likelihood(counts).mean() / whole.log_likelihood(counts).mean()))
    assert max(reached) < 1.012
    assert reached[0] == pytest.approx(reached[1], abs=1e-3)  # the size of the batches hardly matters
