"""The tree that HLTA finds: known trees, the number of levels, duplicate words, and relocations."""

from __future__ import annotations

import numpy as np
import pytest
from hlta_cases import METHODS, check_model, small
from latent_tree_cases import known_tree

from topicfold.models.hlta.latent_tree import Inference, sample_documents, state_marginals


@METHODS
@pytest.mark.parametrize("seed", range(4))
def test_a_known_tree_is_recovered(method, seed):
    n = 2500 if method == "pem" else 1200
    documents = sample_documents(known_tree(), n, "presence", np.random.RandomState(seed))
    model = small(n_levels=2, method=method, random_state=seed, max_iter=10).fit(documents)
    check_model(model)
    assert sorted(model.word_clusters()) == np.arange(24).reshape(6, 4).tolist()
    assert set(model.latent_level_) == {1, 2}
    above = {int(model.latent_parent_[model.word_parent_[4 * i]]) for i in range(3)}
    beyond = {int(model.latent_parent_[model.word_parent_[4 * i]]) for i in range(3, 6)}
    assert len(above) == len(beyond) == 1
    assert above != beyond
    flat = small(n_levels=1, method=method, random_state=seed, max_iter=10).fit(documents)
    assert flat.score(documents) < model.score(documents) + 0.05
    truth = known_tree()
    exact = Inference(truth).log_likelihood(documents.astype(float)).mean()
    assert abs(model.score(documents) - exact) < 0.15
    first = np.array([model.word_parent_[4 * i] for i in range(6)])
    table = model.word_table_[np.arange(24)]
    np.testing.assert_allclose(table, np.tile([0.05, 0.8], (24, 1)), atol=0.12)
    np.testing.assert_allclose(state_marginals(model._tree())[first, 1], state_marginals(truth)[0, 1], atol=0.1)


@pytest.mark.parametrize("n_levels", [1, 2, 3])
def test_levels_are_as_many_as_asked(known, n_levels):
    model = small(n_levels=n_levels, max_iter=3).fit(known)
    check_model(model)
    n_top = (model.latent_level_ == model.latent_level_.max()).sum()
    assert model.latent_level_.max() == n_levels or (model.latent_level_.max() < n_levels and n_top <= 2)
    assert sorted(model.word_clusters()) == np.arange(24).reshape(6, 4).tolist()
    if n_levels == 1:
        assert (model.topic_parent_ == -1).all()


def test_levels_are_added_until_the_top_is_small(known):
    assert small(max_iter=3).fit(known).latent_level_.max() == 1
    for top_size in (1, 2, 5):
        model = small(top_size=top_size, max_iter=3).fit(known)
        check_model(model)
        assert (model.latent_level_ == model.latent_level_.max()).sum() <= top_size
    assert model.latent_level_.max() == 2


def test_duplicate_words_are_in_one_cluster():
    columns = np.repeat(np.random.default_rng(1).integers(0, 2, (200, 4)), 4, axis=1)
    assert sorted(small().fit(columns).word_clusters()) == np.arange(16).reshape(4, 4).tolist()


@pytest.mark.parametrize("n_relocations", [0, 1, 4])
def test_relocations(known, n_relocations):
    model = small(n_relocations=n_relocations, n_levels=2, max_iter=3).fit(known[:500])
    check_model(model)
