"""The nearest of many dense rows, cell by cell, against comparing each two of them."""

from __future__ import annotations

import numpy as np
import pytest

from topicfold.graph import cells
from topicfold.graph.cells import nearest_in_cells
from topicfold.graph.neighbors import nearest


@pytest.fixture(scope="module")
def mixes():
    return np.sqrt(np.random.default_rng(0).dirichlet(np.full(12, 0.15), 3000)).astype(np.float32)


def found(graph):
    return [set(graph.indices[start:stop]) for start, stop in zip(graph.indptr, graph.indptr[1:], strict=False)]


def test_few_rows_are_all_compared(mixes):
    ours, exact = nearest_in_cells(mixes, 8), nearest(mixes, mixes, 8, skip_self=True)
    np.testing.assert_array_equal(ours.indices, exact.indices)
    np.testing.assert_allclose(ours.data, exact.data, rtol=1e-6)


def test_of_many_rows_most_of_the_nearest_are_found(mixes, monkeypatch):
    monkeypatch.setattr(cells, "_COMPARED", 400)
    ours, exact = nearest_in_cells(mixes, 8), nearest(mixes, mixes, 8, skip_self=True)
    hits = sum(len(own & best) for own, best in zip(found(ours), found(exact), strict=True))
    assert 0.8 * exact.nnz < hits < exact.nnz
    assert all(d not in own for d, own in enumerate(found(ours)))
    dense = mixes / np.linalg.norm(mixes, axis=1, keepdims=True)
    rows = np.repeat(np.arange(len(mixes)), np.diff(ours.indptr))
    np.testing.assert_allclose(ours.data, (dense[rows] * dense[ours.indices]).sum(axis=1), rtol=1e-5)
    again = nearest_in_cells(mixes, 8)
    assert np.array_equal(ours.indices, again.indices)
    assert np.array_equal(ours.data, again.data)


def test_rows_just_alike_and_rows_of_nothing():
    rows = np.repeat(np.eye(3, 4, dtype=np.float32), [5, 4, 1], axis=0)
    rows = np.vstack([rows, np.zeros((2, 4), np.float32)])
    graph = nearest_in_cells(rows, 3)
    assert found(graph) == [
        {1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}, {0, 1, 2},
        {6, 7, 8}, {5, 7, 8}, {5, 6, 8}, {5, 6, 7},
        set(), set(), set(),
    ]  # fmt: skip


@pytest.mark.parametrize("n_rows", [1, 2])
def test_hardly_any_rows(n_rows):
    graph = nearest_in_cells(np.ones((n_rows, 2), np.float32), 5)
    assert graph.shape == (n_rows, n_rows)
    assert graph.nnz == n_rows * (n_rows - 1)
