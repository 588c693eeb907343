"""Checks of graphs, neighbours and labels that users bring."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from topicfold.graph.check import check_graph, check_neighbors, label_codes


def test_label_codes():
    expected = [1, -1, 0, 1]
    for y in (
        [7, -1, 3, 7],
        np.array([7, -1, 3, 7]),
        np.array([7, np.nan, 3, 7]),
        np.array([[7.0], [-1.0], [3.0], [7.0]]),
        ["b", None, "a", "b"],
        ["b", np.nan, "a", "b"],
        ["b", -1, "a", "b"],
        np.array(["b", "-1", "a", "b"]),
        [True, None, False, True],
        pd.Series(["b", None, "a", "b"]),
        pd.Series(["b", None, "a", "b"], dtype="category"),
        pd.Series([7, None, 3, 7], dtype="Int64"),
        pd.DataFrame({"y": [7, -1, 3, 7]}),
    ):
        codes = label_codes(y, 4)
        assert codes.tolist() == expected, y
        assert codes.dtype == np.int64
    assert label_codes(np.array([True, False]), 2).tolist() == [1, 0]
    assert label_codes([10, 9, "x"], 3).tolist() == [0, 1, 2]  # as strings
    assert label_codes([None, -1], 2).tolist() == [-1, -1]
    assert label_codes([], 0).tolist() == []


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2], r"y has shape \(2,\): expected one label for each of the 3 documents"),
        (np.ones((3, 2), int), r"y has shape \(3, 2\)"),
        ([0.5, 1.0, 2.0], r"y contains 0\.5: expected labels"),
        (np.array([1, np.inf, 2], np.float32), "y contains inf: expected labels"),
        (["a", (1, 2), ""], r"y contains \(1, 2\): expected labels"),
        (["a", 10**20, "b"], "y contains 100000000000000000000: expected labels"),
        ([1, date(2020, 1, 2), 3], r"y contains labels of several types \(date, int\)"),
    ],
)
def test_bad_labels(y, message):
    with pytest.raises(ValueError, match=message):
        label_codes(y, 3)


def test_check_graph_takes_what_scipy_takes():
    weights = np.array([[5.0, 1, 0], [1, 0, 2], [0, 2, 7]])
    expected = weights - np.diag(weights.diagonal())
    for given_graph in (
        weights,
        weights.astype(int),
        weights.tolist(),
        sp.coo_matrix(weights),
        sp.lil_array(weights),
        sp.dok_array(weights),
    ):
        found = check_graph(given_graph, 3)
        assert isinstance(found, sp.csr_array)
        assert found.dtype == np.float64
        assert (found.toarray() == expected).all()
        assert found.nnz == 4
    twice = sp.coo_array(([1, 1, 2.0], ([0, 0, 1], [1, 1, 0])), (3, 3))
    assert check_graph(twice, 3)[0, 1] == 2
    assert (check_graph(weights > 0, 3).toarray() == (expected > 0)).all()
    rounded = weights.copy()
    rounded[0, 1] *= 1 + 1e-9
    found = check_graph(rounded, 3)
    assert found[0, 1] == found[1, 0]
    assert check_graph(sp.csr_array((0, 0)), 0).shape == (0, 0)


@pytest.mark.parametrize(
    ("given_graph", "message"),
    [
        (np.zeros((2, 2)), r"graph has shape \(2, 2\): expected \(3, 3\)$"),
        (np.zeros((3, 5)), "cross-validation cannot split a graph: pass embeddings instead, or no graph"),
        (np.zeros(3), "graph is a ndarray: expected a matrix of 3 x 3 documents"),
        ([[0, np.nan, 0], [np.nan, 0, 0], [0, 0, 0]], "graph contains NaN or infinite values"),
        (sp.csr_array([[0, np.inf, 0], [np.inf, 0, 0], [0, 0, 0]]), "graph contains NaN or infinite values"),
        ([[0, -1, 0], [-1, 0, 0], [0, 0, 0]], "graph contains the weight -1: expected non-negative weights"),
        ([[0, 1e300, 0], [1e300, 0, 0], [0, 0, 0]], r"graph contains the weight 1e\+300: expected at most 1e\+12"),
        ([[0, 1, 0], [0.5, 0, 0], [0, 0, 0]], r"not symmetric: \[0, 1\] is 1 and \[1, 0\] is 0\.5"),
        (np.zeros((3, 3), complex) + 1j, "graph contains values of type complex128: expected numbers"),
    ],
)
def test_bad_graphs(given_graph, message):
    with pytest.raises(ValueError, match=message):
        check_graph(given_graph, 3)


def test_check_neighbors():
    edges = np.array([[1, 0, 2], [0, 0, 0.0]])
    assert (check_neighbors(edges, 2, 3).toarray() == edges).all()
    assert isinstance(check_neighbors(sp.coo_array(edges), 2, 3), sp.csr_array)
    with pytest.raises(ValueError, match=r"shape \(2, 3\): expected \(3, 3\), new documents x training documents"):
        check_neighbors(edges, 3, 3)
    with pytest.raises(ValueError, match="weight -1"):
        check_neighbors(-edges / 2, 2, 3)
