"""LapPLSI: its objective never falls."""

from __future__ import annotations

import numpy as np
import pytest
from graph_cases import DENSE, paper, random_graph

import naive
from topicfold import LapPLSI

pytestmark = DENSE


@pytest.mark.parametrize("weight", [1.0, 30.0])
@pytest.mark.parametrize("init", ["nmf", "kmeans", "random"])
def test_the_objective_of_lapplsi_never_falls(few, weight, init):
    graph = random_graph(np.random.default_rng(5), 60, 0.1)
    options = {"graph_weight": weight, "init": init, "dtype": "float64", "tol": 0}
    whole = paper(LapPLSI, 4, max_iter=25, **options).fit(few, graph=graph)
    assert np.diff(whole.history_).min() >= -1e-12
    assert whole.history_[-1] > whole.history_[0]
    for n_steps in (1, 2, 5, 12):
        part = paper(LapPLSI, 4, max_iter=n_steps, **options).fit(few, graph=graph)
        state = (part.doc_topic_, part.topic_word_)
        expected = naive.lapplsi_objective(few.toarray(), *state, graph, weight) / few.sum()
        assert np.isclose(whole.history_[n_steps], expected, atol=1e-10)


def test_the_objective_of_lapplsi_never_falls_with_smoothing_and_seed_words(few):
    options = {"beta": 0.05, "seed_words": {0: [1, 2], 2: [5]}, "dtype": "float64", "tol": 0, "max_iter": 30}
    assert np.diff(paper(LapPLSI, 4, graph_weight=5.0, **options).fit(few).history_).min() >= -1e-12
