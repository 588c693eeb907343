"""LapPLSI: steps against a slow twin; the objective never falls, and a fit ends where exact optimisation does."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import DENSE, paper, random_graph, rows
from scipy.optimize import minimize
from scipy.special import softmax

import naive
from topicfold import LapPLSI
from topicfold.models.graph import graph_tables

pytestmark = DENSE


@pytest.mark.parametrize("weight", [0.01, 0.5, 30.0, 1e5])
def test_steps_of_lapplsi_are_the_formula(few, weight):
    rng = np.random.default_rng(3)
    graph, start = random_graph(rng, 60, 0.1), rows(rng, 4, 30)
    counts = few.toarray()
    doc_topic, topic_word = np.full((60, 4), 0.25), start
    doc_topic = naive.plsa_step(counts, doc_topic, topic_word)[0]  # as in every fit on a graph
    for _ in range(4):
        doc_topic, topic_word = naive.lapplsi_step(counts, doc_topic, topic_word, graph, weight)
    options = {"graph_weight": weight, "init": start, "dtype": "float64", "max_iter": 4, "tol": 0}
    model = paper(LapPLSI, 4, **options).fit(few, graph=sp.csr_array(graph))
    assert np.allclose(model.doc_topic_, doc_topic, atol=1e-9)
    assert np.allclose(model.topic_word_, topic_word, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_in_several_blocks_end_at_the_same_optimum(few, dtype, monkeypatch):
    graph = random_graph(np.random.default_rng(5), 60, 0.1)
    options = {"graph_weight": 3.0, "dtype": dtype, "tol": 0, "max_iter": 300}
    together = paper(LapPLSI, 4, **options).fit(few, graph=graph)
    monkeypatch.setattr(graph_tables, "_ROWS_PER_BLOCK", 7)
    apart = [paper(LapPLSI, 4, n_jobs=n_jobs, **options).fit(few, graph=graph) for n_jobs in (1, 3)]
    assert np.array_equal(apart[0].doc_topic_, apart[1].doc_topic_)
    assert np.diff(apart[0].history_).min() >= (-1e-12 if dtype == "float64" else -1e-5)
    assert apart[0].history_[-1] == pytest.approx(together.history_[-1], abs=1e-4)
    assert np.allclose(apart[0].doc_topic_, together.doc_topic_, atol=0.02)


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


@pytest.mark.parametrize("weight", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_fit_ends_at_an_optimum(weight, seed):
    rng = np.random.default_rng(seed)
    counts, graph = rng.poisson(2.0, (8, 6)), random_graph(rng, 8, 0.4)
    options = {"graph_weight": weight, "init": "random", "random_state": seed, "dtype": "float64", "tol": 0}
    model = paper(LapPLSI, 2, max_iter=3000, **options).fit(counts, graph=graph)

    def reached(values):
        tables = softmax(values[:16].reshape(8, 2), axis=1), softmax(values[16:].reshape(2, 6), axis=1)
        return naive.lapplsi_objective(counts, *tables, graph, weight)

    start = np.log(np.maximum(np.concatenate([model.doc_topic_.ravel(), model.topic_word_.ravel()]), 1e-12))
    best = minimize(lambda values: -reached(values), start, method="BFGS")
    assert reached(start) > -best.fun - 0.02
