"""HLTA on odd corpora, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hlta_cases import METHODS, check_model, small
from latent_tree_cases import EMISSIONS


@METHODS
@EMISSIONS
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize(
    "X",
    {
        "one word": np.array([[1], [0], [3]]),
        "one word everywhere": np.ones((4, 1), int),
        "two words": np.array([[1, 0], [0, 1], [2, 2], [0, 0]]),
        "three words": np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1], [2, 0, 5]]),
        "constant words": np.hstack([np.ones((30, 2), int), np.random.default_rng(0).integers(0, 2, (30, 4))]),
        "only constant words": np.ones((40, 7), int),
        "duplicate words": np.repeat(np.random.default_rng(1).integers(0, 3, (40, 2)), 4, axis=1),
        "words in no document": np.hstack([np.zeros((30, 2), int), np.random.default_rng(2).integers(0, 2, (30, 5))]),
        "empty documents": np.vstack([np.random.default_rng(3).integers(0, 2, (20, 6)), np.zeros((20, 6), int)]),
        "one document": np.array([[1, 2, 0, 1, 4, 1]]),
        "two documents": np.array([[1, 2, 0, 1, 4, 1], [0, 0, 3, 1, 0, 1]]),
        "equal documents": np.tile([1, 0, 2, 1, 1, 0], (25, 1)),
        "one word per document": np.eye(12, dtype=int),
        "all words but one": 1 - np.eye(12, dtype=int),
        "large counts": np.random.default_rng(4).integers(0, 2, (30, 8)) * 30_000,
    }.items(),
    ids=lambda item: item[0],
)
def test_odd_corpora(X, method, emission, smoothing):
    X = X[1]
    model = small(method=method, emission=emission, smoothing=smoothing, max_iter=10, n_levels=2).fit(X)
    check_model(model)
    assert np.isfinite(model.score(X))
    assert model.word_columns_.tolist() == np.flatnonzero(X.sum(axis=0)).tolist()
    assert np.isfinite(model.log_likelihood(np.zeros_like(X))).all()
    assert model.transform(np.zeros_like(X)).shape == (len(X), len(model.topic_word_))
    assert np.isfinite(model.transform(np.ones_like(X))).all()
    assert model.sample(3, random_state=0).shape == (3, X.shape[1])
    tree = model.topic_tree()
    assert len(tree) == len(model.topic_word_)
    assert smoothing == 0 or all(tree.words(int(topic)) for topic in tree.ids)
    assert np.allclose(model.doc_topic_, model.transform(X))


@pytest.mark.parametrize("words", [np.ones(3, bool), np.ones(24), [0, 1], "all"])
def test_a_mask_that_is_none_is_refused(deep, known, words):
    with pytest.raises(ValueError, match="words: expected a mask of 24 booleans"):
        deep["presence"].log_likelihood(known[:3], words=words)


def test_counts_refuse_fractions(known):
    with pytest.raises(ValueError, match=r"emission='counts' needs whole counts, but X contains 0\.5"):
        small(emission="counts").fit(known[:50] * 0.5)
    model = small(emission="counts", max_iter=2).fit(known[:50])
    with pytest.raises(ValueError, match=r"whole counts, but X contains 0\.5"):
        model.score(known[:50] * 0.5)


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "n_levels": [0, -1, 1.5, True, "2"],
        "top_size": [0, None, 2.0],
        "island_size": [2, None, "15"],
        "bic_threshold": [-1, np.nan, np.inf, "3", None],
        "method": ["PEM", None, 1],
        "emission": ["binary", None],
        "max_words": [0, 2.5, "all"],
        "min_df": [0, 0.5, None],
        "n_relocations": [-1, None, 1.5],
        "smoothing": [-0.1, np.nan, None, "1"],
        "max_iter": [0, None, 2.5],
        "tol": [-1, np.nan, None],
        "batch_size": [0, -5, "all", 2.5, True],
        "n_jobs": [0, "two", 1.5],
    }.items(),
)
def test_bad_parameters_are_named(name, values, sampled):
    for value in values:
        with pytest.raises(ValueError, match=name):
            small(**{name: value}).fit(sampled)
