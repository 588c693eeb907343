"""LTM: steps against a slow twin, the two solvers, and empty documents."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import DENSE, paper, random_graph, rows

import naive
from topicfold import LTM
from topicfold.graph.build import link_graph
from topicfold.models.graph import linear_system
from topicfold.models.graph.linear_system import GraphSystem

pytestmark = DENSE


@pytest.mark.parametrize("solver", ["direct", "cg"])
@pytest.mark.parametrize("weight", [0.5, 30.0])
def test_steps_of_ltm_are_the_formula(few, solver, weight):
    rng = np.random.default_rng(3)
    graph, start = random_graph(rng, 60, 0.1), rows(rng, 4, 30)
    doc_topic, topic_word, expected = np.full((60, 4), 0.25), start, []
    for _ in range(4):
        doc_topic, topic_word, objective = naive.ltm_step(few.toarray(), doc_topic, topic_word, graph, weight)
        expected.append(objective / few.sum())
    options = {"graph_weight": weight, "solver": solver, "init": start, "dtype": "float64", "max_iter": 4, "tol": 0}
    model = paper(LTM, 4, **options).fit(few, graph=sp.csr_array(graph))
    close = 1e-9 if solver == "direct" else 1e-4
    assert np.allclose(model.doc_topic_, doc_topic, atol=close)
    assert np.allclose(model.topic_word_, topic_word, atol=close)
    assert np.allclose(model.history_, expected, atol=close)


def test_equation_11_belongs_to_half_the_weight_of_equation_6():
    rng = np.random.default_rng(7)
    graph, doc_topic = random_graph(rng, 9, 0.5), rows(rng, 9, 4, 5.0)
    laplacian = np.diag(graph.sum(axis=1)) - graph

    def penalty_of_eq_6(values):
        divergence = (values[:, None] * np.log(values[:, None] / values[None])).sum(axis=2)
        return ((divergence + divergence.T) * graph).sum() / 2

    ratio = doc_topic[:, None] / doc_topic[None]
    term_of_eq_11 = 0.5 * ((np.log(ratio) + 1 - 1 / ratio) * graph[:, :, None]).sum(axis=1)
    step = 1e-6 * np.eye(36).reshape(36, 9, 4)
    slope = [(penalty_of_eq_6(doc_topic + one) - penalty_of_eq_6(doc_topic - one)) / 2e-6 for one in step]
    assert np.allclose(np.reshape(slope, (9, 4)), 2 * term_of_eq_11, atol=1e-6)
    # what `history_` shows
    assert np.isclose((doc_topic * (laplacian @ np.log(doc_topic))).sum(), penalty_of_eq_6(doc_topic))


@pytest.mark.parametrize("init", ["nmf", "random"])
def test_ltm_ends_better_than_it_began(few, init):
    history = paper(LTM, 4, init=init, dtype="float64").fit(few).history_
    assert history[-1] > history[0] + 0.01


@pytest.mark.parametrize("solver", ["direct", "cg"])
def test_an_empty_document_gets_the_mean_of_its_neighbours_in_ltm(few, solver):
    counts = sp.csr_array(sp.vstack([few, sp.csr_array((4, 30), dtype=int)]))
    links = [(60, 3), (60, 8), (60, 20), (62, 63), *zip(range(0, 40, 2), range(1, 40, 2))]
    graph = link_graph(links, 64, weights=[1.0, 2.0, 3.0] + [1.0] * (len(links) - 3))
    model = paper(LTM, solver=solver, dtype="float64").fit(counts, graph=graph)
    mean = np.array([1, 2, 3]) @ model.doc_topic_[[3, 8, 20]] / 6
    assert np.allclose(model.doc_topic_[60], mean, atol=1e-8 if solver == "direct" else 1e-3)
    assert not np.allclose(mean, model.topic_weight_, atol=1e-3)
    for nothing_known in (61, 62, 63):  # alone, and two empty ones joined to each other
        assert np.allclose(model.doc_topic_[nothing_known], model.topic_weight_)


def test_ltm_solvers_agree(sampled):
    fits = [paper(LTM, 4, solver=solver, max_iter=40).fit(sampled) for solver in ("direct", "cg")]
    assert np.allclose(fits[0].doc_topic_, fits[1].doc_topic_, atol=1e-4)


def test_ltm_chooses_its_solver_by_size_and_weight(monkeypatch, few, few_graph):
    def direct(weight):
        return GraphSystem(np.ones(60), few_graph, weight, np.zeros(60, bool), "auto", None).direct

    assert direct(100.0)
    assert not direct(10.0)
    monkeypatch.setattr(linear_system, "_DIRECT_DOCUMENTS", 59)
    assert not direct(100.0)
    auto, cg = (paper(LTM, 4, solver=solver, max_iter=5).fit(few) for solver in ("auto", "cg"))
    assert np.array_equal(auto.doc_topic_, cg.doc_topic_)
