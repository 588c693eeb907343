"""HLTA's likelihoods, memberships and samples against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hlta_cases import METHODS, check_model, same, small
from latent_tree_cases import EMISSIONS

import naive
from topicfold.models.hlta.latent_tree import state_marginals


@METHODS
@EMISSIONS
def test_likelihood_is_enumeration(method, emission, multi_state):
    X = multi_state.toarray()[:300]
    X = np.insert(X, 2, 0, axis=1)  # a word that no document has
    if emission == "counts":
        X *= np.random.default_rng(0).integers(1, 4, X.shape)
    model = small(method=method, emission=emission, n_levels=1, max_iter=8).fit(X)
    check_model(model)
    tree, new = model._tree(), X[[0, 5, 9, 20, 33]]
    new[0] = 0
    expected = naive.tree_enumeration(tree, new[:, model.word_columns_], emission)
    np.testing.assert_allclose(model.log_likelihood(new), expected[0], rtol=1e-8)
    assert model.score(new) == pytest.approx(expected[0].mean())
    probability = model.transform(new)
    np.testing.assert_allclose(probability, expected[1][:, model.topic_latent_, model.topic_state_], atol=1e-5)
    assert np.array_equal(model.memberships(new), probability >= 0.5)
    mask = np.random.default_rng(1).random(X.shape[1]) < 0.5
    seen = naive.tree_enumeration(tree, new[:, model.word_columns_], emission, mask[model.word_columns_])
    np.testing.assert_allclose(model.log_likelihood(new, words=mask), seen[0], rtol=1e-8)
    none = np.zeros(X.shape[1], bool)
    np.testing.assert_allclose(model.log_likelihood(new, words=none), 0, atol=1e-12)
    np.testing.assert_allclose(model.log_likelihood(new, words=~none), model.log_likelihood(new))
    # P(a word | the words seen) is a ratio of two likelihoods where the word was not looked at
    present = model.word_probability(new, words=mask)
    assert present.shape == new.shape
    assert (present[:, 2] == 0).all()
    for column in model.word_columns_[~mask[model.word_columns_]]:
        absent, also = new.copy(), mask.copy()
        absent[:, column], also[column] = 0, True
        ratio = np.exp(model.log_likelihood(absent, words=also) - model.log_likelihood(new, words=mask))
        np.testing.assert_allclose(present[:, column], 1 - ratio, atol=1e-5)
    assert not np.allclose(model.word_probability(new)[:, 0], present[:, 0])


@EMISSIONS
def test_memberships_are_probabilities_of_at_least_the_threshold(deep, known, emission):
    model, probability = deep[emission], deep[emission].transform(known[600:700])
    for threshold in (0.02, 0.5, 0.98):
        member = model.memberships(known[600:700], threshold)
        assert member.dtype == bool
        assert np.array_equal(member, probability >= threshold)
        assert member.any()
        assert not member.all()
    exact = float(probability[0, 0])
    assert model.memberships(known[600:700], exact)[0, 0]
    assert not model.memberships(known[600:700], np.nextafter(np.float32(exact), np.float32(2)))[0, 0]


def test_likelihoods_of_all_documents_sum_to_one(multi_state):
    model = small(n_levels=1, max_iter=4).fit(multi_state)
    everything = (np.arange(1 << 12)[:, None] >> np.arange(12)) & 1
    assert np.exp(model.log_likelihood(everything)).sum() == pytest.approx(1)
    seen = np.arange(12) < 3
    assert np.exp(model.log_likelihood(everything[:8], words=seen)).sum() == pytest.approx(1)


def test_presence_does_not_look_at_how_often(known):
    counts = known[:300].copy()
    counts.data = np.arange(1, 1 + len(counts.data))
    same(small(max_iter=3).fit(known[:300]), small(max_iter=3).fit(counts))
    same(small(max_iter=3).fit(known[:300]), small(max_iter=3).fit(counts * 0.25))


@METHODS
@EMISSIONS
def test_samples_are_as_the_model_says(method, emission, multi_state):
    X = multi_state * (1 if emission == "presence" else 2)
    model = small(method=method, emission=emission, n_levels=2, max_iter=5, min_df=2).fit(X)
    drawn = model.sample(15_000, random_state=0)
    assert drawn.shape == (15_000, 12)
    tree = model._tree()
    expected = (state_marginals(tree)[tree.word_parent] * tree.word_table).sum(axis=1)
    np.testing.assert_allclose(drawn.mean(axis=0)[model.word_columns_], expected, atol=0.04)
    assert (model.sample(50, random_state=3) != model.sample(50, random_state=3)).nnz == 0
    # memberships of drawn documents are on average the topics' weights
    np.testing.assert_allclose(model.transform(drawn).mean(axis=0), model.topic_weight_, atol=0.03)
    # P(w | topic) among drawn documents, each counted by its membership
    shares = model.transform(drawn).T @ (drawn > 0).toarray() / model.transform(drawn).sum(axis=0)[:, None]
    often = model.topic_weight_ > 0.03
    np.testing.assert_allclose(shares[often], model.topic_word_[often], atol=0.07)
