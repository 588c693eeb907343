"""Labels that spread over a graph: the dense solution, the mass of a class, documents that no label reaches."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from topicfold.graph.label_spreading import propagated_classes, spread


def random_graph(n_documents, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n_documents, n_documents)) * (rng.random((n_documents, n_documents)) < 0.2), 1)
    return sp.csr_array(upper + upper.T)


@pytest.mark.parametrize("neighbor_weight", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("seed", range(3))
def test_spread_is_the_dense_solution(seed, neighbor_weight):
    graph = random_graph(25, seed)
    start = np.zeros((25, 2))
    start[[0, 1, 2], [0, 0, 1]] = 1
    expected = naive.spread_labels(graph, start, neighbor_weight)
    np.testing.assert_allclose(spread(graph, start, neighbor_weight), expected, atol=1e-7)


def test_classes_have_the_mass_of_their_labels():
    codes = np.full(25, -1)
    codes[[0, 1, 2]] = [0, 0, 1]
    reached = propagated_classes(random_graph(25, 0), codes, 2, 0.9)
    np.testing.assert_allclose(reached.sum(axis=0), [2 / 3, 1 / 3])


def test_nothing_reaches_documents_without_a_path_to_a_label():
    graph = sp.csr_array(np.kron(np.eye(3), np.ones((2, 2))) - np.eye(6))
    reached = propagated_classes(graph, np.array([0, -1, 1, -1, -1, -1]), 2, 0.9)
    assert not reached[4:].any()
    assert reached[:4].argmax(axis=1).tolist() == [0, 0, 1, 1]
