"""The linear system of LTM: both solvers against a dense solution."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import parts_of, random_graph, rows

from topicfold.models.graph import linear_system
from topicfold.models.graph.linear_system import GraphSystem, conjugate_gradients, gauss_seidel


@pytest.mark.parametrize("solver", ["direct", "cg"])
@pytest.mark.parametrize("weight", [0.01, 10.0, 1000.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_system_is_solved(solver, weight, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    graph = random_graph(rng, n)
    lengths = rng.integers(1, 50, n).astype(float)
    target = lengths[:, None] * rows(rng, n, 40)  # more columns than a group holds
    matrix = np.diag(lengths) + weight * (np.diag(graph.sum(axis=1)) - graph)
    expected = np.linalg.solve(matrix, target)
    system = GraphSystem(lengths, sp.csr_array(graph), weight, np.zeros(n, bool), solver, None)
    found = system.solve(lambda here: target[:, here], rows(rng, n, 40))
    assert np.allclose(found, expected, atol=1e-10 if solver == "direct" else 1e-3)
    scale = np.sqrt(np.diag(matrix))[:, None]
    assert np.linalg.norm((matrix @ found - target) / scale) <= 1.1e-6 * np.linalg.norm(target / scale)


def test_conjugate_gradients_rest_at_the_solution_and_stop_in_time():
    rng = np.random.default_rng(0)
    graph = sp.csr_array(random_graph(rng, 30))
    diagonal = rng.integers(1, 50, 30) + graph.sum(axis=1)
    goal = rng.random((30, 3))
    solution = np.linalg.solve(np.diag(diagonal) - graph.toarray(), goal)
    parts = (*parts_of(graph)[:3], diagonal, goal)
    found = solution.copy()
    assert conjugate_gradients(*parts, found, 1e-6, 0.0, 100) == 0
    assert np.array_equal(found, solution)
    found = np.zeros((30, 3))
    assert 0 < conjugate_gradients(*parts, found, 1e-12, 0.0, 1000) < 100
    assert np.allclose(found, solution, rtol=1e-10)
    assert conjugate_gradients(*parts, np.zeros((30, 3)), 1e-12, 0.0, 2) == 2


def test_a_component_without_tokens_gets_the_target():
    graph = np.zeros((4, 4))
    graph[0, 1] = graph[1, 0] = graph[2, 3] = graph[3, 2] = 1.0
    lengths = np.array([4.0, 0, 0, 0])
    silent = np.array([False, False, True, True])
    target = np.array([[2.0, 2], [0, 0], [0.3, 0.7], [0.3, 0.7]])
    for solver in ("direct", "cg"):
        found = GraphSystem(lengths, sp.csr_array(graph), 10.0, silent, solver, None).solve(
            lambda here: target[:, here], target
        )
        assert np.allclose(found, [[0.5, 0.5], [0.5, 0.5], [0.3, 0.7], [0.3, 0.7]], atol=1e-5)


def test_weights_that_drown_the_documents_are_refused():
    graph = sp.csr_array(np.array([[0.0, 1e30], [1e30, 0.0]]))
    with pytest.raises(ValueError, match=r"graph times graph_weight has a value of 1e\+31, too large to solve"):
        GraphSystem(np.array([3.0, 4.0]), graph, 10.0, np.zeros(2, bool), "direct", None)


@pytest.mark.parametrize("solver", ["auto", "cg"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_among_many_documents_a_share_of_what_was_wrong_is_left(dtype, solver, monkeypatch):
    monkeypatch.setattr(linear_system, "MANY_DOCUMENTS", 30)
    rng = np.random.default_rng(0)
    n, weight = 40, 0.5
    graph, lengths = random_graph(rng, n), rng.integers(1, 50, n).astype(float)
    target, guess = lengths[:, None] * rows(rng, n, 40), rows(rng, n, 40)
    matrix = np.diag(lengths) + weight * (np.diag(graph.sum(axis=1)) - graph)
    systems = [
        GraphSystem(lengths, sp.csr_array(graph), weight, np.zeros(n, bool), solver, jobs, dtype) for jobs in (1, 2)
    ]
    found, other = (system.solve(lambda here: target[:, here], guess) for system in systems)
    assert systems[0].sweeps is (solver == "auto")
    assert found.dtype == dtype
    assert np.array_equal(found, other)

    def wrong(solution):
        return np.linalg.norm((matrix @ solution - target) / np.sqrt(np.diag(matrix))[:, None], axis=0)

    assert (wrong(found) <= (0.1 if solver == "auto" else 0.0303) * wrong(guess)).all()
    for _ in range(8):  # step by step of EM the rest goes, too
        found = systems[0].solve(lambda here: target[:, here], found)
    assert np.allclose(found, np.linalg.solve(matrix, target), atol=1e-5)


def test_strong_graphs_are_not_swept(monkeypatch):
    monkeypatch.setattr(linear_system, "MANY_DOCUMENTS", 30)
    graph = sp.csr_array(random_graph(np.random.default_rng(0), 40))
    system = GraphSystem(np.ones(40), graph, 50.0, np.zeros(40, bool), "auto", None)
    assert not system.sweeps


def test_sweeps_go_row_by_row_until_little_moves():
    rng = np.random.default_rng(0)
    graph = random_graph(rng, 30)
    diagonal, goal = rng.integers(1, 50, 30) + graph.sum(axis=1), rng.random((30, 3))
    parts = (*parts_of(graph)[:3], diagonal, goal)
    found, expected = np.zeros((30, 3)), np.zeros((30, 3))
    assert gauss_seidel(*parts, found, 0.0, 0.0, 2) == 2
    for _ in range(2):
        for i in range(30):
            expected[i] = (goal[i] + graph[i] @ expected) / diagonal[i]
    assert np.allclose(found, expected, rtol=1e-12)
    solution = np.linalg.solve(np.diag(diagonal) - graph, goal)
    assert gauss_seidel(*parts, found, 1e-12, 0.0, 1000) < 200
    assert np.allclose(found, solution, rtol=1e-9)
    assert gauss_seidel(*parts, found, 1e-6, 0.0, 1000) == 1
