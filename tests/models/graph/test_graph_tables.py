"""Tables of documents x topics, a block of rows at a time, beside whole ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import random_graph, rows

from topicfold.engine.arrays import padded
from topicfold.graph.build import laplacian
from topicfold.models.graph import graph_tables
from topicfold.models.graph.graph_data import FLOOR
from topicfold.models.graph.graph_tables import Edges, mean_row, row_slices, scaled, write_rows

N, TOPICS = 37, 5


@pytest.fixture(params=[10, 1 << 14])
def blocks(request, monkeypatch):
    """Blocks of a few rows, or one block."""
    monkeypatch.setattr(graph_tables, "_ROWS_PER_BLOCK", request.param)


@pytest.fixture
def graph():
    weights = random_graph(np.random.default_rng(0), N)
    weights[4] = weights[:, 4] = 0  # a document without neighbours
    return sp.csr_array(weights)


@pytest.fixture
def table():
    return padded(rows(np.random.default_rng(1), N, TOPICS), np.float32)


def test_slices_cover_every_row_once(blocks):
    assert np.concatenate([np.arange(N)[rows] for rows in row_slices(N)]).tolist() == list(range(N))
    assert list(row_slices(0)) == []


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_roughness_is_that_of_the_laplacian(blocks, graph, table, n_jobs):
    table[3, 1] = 0
    edges, values = Edges(graph, n_jobs), table[:, :TOPICS].astype(np.float64)
    shifts = laplacian(graph)
    assert np.isclose(edges.roughness(table, TOPICS), (values * (shifts @ values)).sum(), rtol=1e-12)
    logs = np.log(np.maximum(values, FLOOR))
    assert np.isclose(edges.roughness(table, TOPICS, logs=True), (values * (shifts @ logs)).sum(), rtol=1e-12)
    assert edges.roughness(table, TOPICS) == Edges(graph, 4).roughness(table, TOPICS)


def test_rows_are_scaled_written_and_averaged(blocks, table):
    numbers = np.arange(1, N + 1) / 3
    values = table[:, :TOPICS].astype(np.float64) * numbers[:, None]
    found = scaled(table, numbers)
    assert np.array_equal(found[:, :TOPICS], values.astype(np.float32))
    assert found.shape == table.shape
    share = values / values.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mean_row(table, TOPICS, numbers), share.mean(axis=0), rtol=1e-12)
    base = np.arange(TOPICS) - 1.0
    write_rows(table[:, :TOPICS], found[:, :TOPICS], base, FLOOR)
    expected = np.maximum(found[:, :TOPICS] + base, FLOOR)
    np.testing.assert_allclose(table[:, :TOPICS], expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)
    assert not table[:, TOPICS:].any()
