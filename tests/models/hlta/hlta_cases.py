"""Models of HLTA as tests make and compare them."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest
from latent_tree_cases import check_tree

from topicfold import HLTA
from topicfold.models.hlta.latent_tree import state_marginals

METHODS = pytest.mark.parametrize("method", ["pem", "bi"])
LEARNED = [
    "topic_word_",
    "doc_topic_",
    "history_",
    "topic_weight_",
    "topic_level_",
    "topic_parent_",
    "latent_parent_",
    "latent_level_",
    "n_states_",
    "word_parent_",
    "word_table_",
    "latent_table_",
]


def small(**parameters):
    return HLTA(**{"random_state": 0, "verbose": False, **parameters})


def check_model(model):
    """The tree is valid and what is learned agrees with it."""
    check_tree(model._tree(), emission=model.emission)
    n_topics = int((model.n_states_ - 1).sum())
    assert len(model.topic_word_) == len(model.topic_level_) == len(model.topic_parent_) == n_topics
    assert (model.topic_state_ > 0).all()
    assert np.array_equal(model.topic_level_, model.latent_level_[model.topic_latent_])
    marginal = state_marginals(model._tree())
    np.testing.assert_allclose(model.topic_weight_, marginal[model.topic_latent_, model.topic_state_], rtol=1e-5)
    for k, above in enumerate(model.topic_parent_):
        if above >= 0:
            assert model.topic_latent_[above] == model.latent_parent_[model.topic_latent_[k]]
            assert model.topic_level_[above] > model.topic_level_[k]
        else:
            assert model.topic_level_[k] == model.topic_level_.max()
    outside = np.setdiff1d(np.arange(model.n_features_in_), model.word_columns_)
    assert (model.topic_word_[:, outside] == 0).all()
    for array in (model.topic_word_, model.doc_topic_):
        assert np.isfinite(array).all()
        assert ((array >= 0) & (array <= 1 + 1e-5)).all()
    clusters = model.word_clusters()
    assert sorted(functools.reduce(operator.iadd, clusters, [])) == model.word_columns_.tolist()
    for words in (model.topic_effective_, model.topic_information_):
        assert words.shape == model.topic_word_.shape
        assert (np.diff(words.indptr) > 0).all()
        assert (words.data > 0).all()


def same(one, other):
    for name in LEARNED:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.topic_effective_ != other.topic_effective_).nnz == 0
    assert (one.topic_information_ != other.topic_information_).nnz == 0


def words_of(tree, topic, n=1000):
    return [word.word for word in tree.words(int(topic), n)]
