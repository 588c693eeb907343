"""The steps of TTMM's EM against slow twins."""

from __future__ import annotations

import numpy as np
import pytest

from naive import plsa_step, ttmm_step
from topicfold.models.em import unigram_mixture
from topicfold.models.ttmm import theme_em


def random_state_of(n_themes, n_topics, n_words, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "theme_weight": rng.dirichlet(np.ones(n_themes)),
        "theme_topic": rng.dirichlet(np.ones(n_topics), n_themes),
        "word_topic": np.ascontiguousarray(rng.dirichlet(np.ones(n_words), n_topics).T),
    }


def unknown(counts):
    return np.full(counts.shape[0], -1)


@pytest.mark.parametrize("price", [0.0, 1e9], ids=["sparse", "dense"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("block", [30, 10**9])
def test_a_step_is_the_formula(themed, monkeypatch, price, smoothing, block):
    monkeypatch.setattr(theme_em, "_SPARSE_PRICE", price)
    monkeypatch.setattr(theme_em, "_CELLS_PER_BLOCK", block)
    monkeypatch.setattr(unigram_mixture, "_VALUES_PER_BLOCK", block)
    counts = themed[0][:15].astype(float)
    state = random_state_of(3, 4, 20)
    weight, theme_topic, topic_word, logs = ttmm_step(
        counts.toarray(), state["theme_weight"], state["theme_topic"], state["word_topic"].T, smoothing
    )
    step = theme_em.ThemeStep(counts, 3, smoothing, unknown(counts), 2)
    prior = smoothing * np.log(state["word_topic"]).sum()
    assert step(state) * counts.sum() == pytest.approx(logs.sum() + prior)
    assert np.allclose(state["theme_weight"], weight)
    assert np.allclose(state["theme_topic"], theme_topic)
    assert np.allclose(state["word_topic"].T, topic_word)


def test_themes_that_are_topics_are_a_mixture_of_multinomials(themed):
    """With P(t|h) the identity a theme is its topic: EM is that of a mixture of multinomials."""
    counts = themed[0].astype(float)
    state = random_state_of(3, 3, 20)
    state["theme_topic"] = np.eye(3)
    weight, words = state["theme_weight"].copy(), state["word_topic"].T.copy()
    step = theme_em.ThemeStep(counts, 3, 0.0, unknown(counts), None)
    for _ in range(5):
        step(state)
        logs = np.log(weight) + counts @ np.log(words).T
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        weight = posterior.mean(axis=0)
        words = posterior.T @ counts.toarray()
        words /= words.sum(axis=1, keepdims=True)
        assert np.allclose(state["theme_weight"], weight)
        assert np.allclose(state["word_topic"].T, words)
        assert np.allclose(state["theme_topic"], np.eye(3))


def test_a_theme_of_its_own_for_each_document_is_plsa(themed):
    counts = themed[0][:12].astype(float)
    state = random_state_of(12, 4, 20)
    doc_topic, topic_word = state["theme_topic"].copy(), state["word_topic"].T.copy()
    step = theme_em.ThemeStep(counts, 12, 0.0, np.arange(12), None)
    for _ in range(5):
        step(state)
        doc_topic, topic_word, _ = plsa_step(counts.toarray(), doc_topic, topic_word)
        assert np.abs(state["theme_topic"] - doc_topic).max() < 1e-10
        assert np.abs(state["word_topic"].T - topic_word).max() < 1e-10
