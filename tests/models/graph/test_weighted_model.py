"""LTM and LapPLSI with a weight of 0: PLSA to the bit, where neither has a prior."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import BOTH, DENSE, EITHER, paper, rows

from topicfold import PLSA
from topicfold.models.graph import graph_model

pytestmark = DENSE


@BOTH
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("init", ["auto", "nmf", "random", "kmeans", "array"])
@pytest.mark.parametrize("more", [{}, {"beta": 0.1}, {"seed_words": {1: [3, 4]}}], ids=lambda more: str(*more))
def test_without_a_weight_it_is_plsa_to_the_bit(model, dtype, init, more, few, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("no graph is wanted")

    for name in ("nearest", "document_vectors", "connected", "NeighborIndex"):
        monkeypatch.setattr(graph_model, name, refuse)
    start = rows(np.random.default_rng(0), 3, 30) if init == "array" else init
    options = {"init": start, "dtype": dtype, "max_iter": 30, **more}
    expected = paper(PLSA, **options).fit(few)
    embeddings = np.random.default_rng(0).normal(size=(60, 2))
    for what in ({}, {"embeddings": embeddings}, {"graph": sp.csr_array((60, 60))}, {"y": np.arange(60) % 2}):
        found = paper(model, graph_weight=0, n_neighbors=100, **options).fit(few, **what)
        assert found.graph_ is None
        assert found.graph_weight_ == 0
        assert np.array_equal(found.topic_word_, expected.topic_word_)
        assert np.array_equal(found.doc_topic_, expected.doc_topic_)
        assert np.array_equal(found.topic_weight_, expected.topic_weight_)
        assert np.array_equal(found.history_, expected.history_)
        assert np.array_equal(found.transform(few[:7]), expected.transform(few[:7]))
        assert found.score(few) == expected.score(few)


@BOTH
@EITHER
def test_without_a_weight_no_word_of_the_graph(model, make):
    """One topic may well be nearly everything, and no graph has drawn it together."""
    counts = np.vstack([np.tile([3, 2, 1, 0], (19, 1)), [[0, 0, 0, 4]]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(model, 2, graph_weight=0).fit(counts)
