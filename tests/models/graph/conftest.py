"""A corpus small enough to look at all pairs, and its graph."""

from __future__ import annotations

import pytest

from topicfold.graph.build import knn_graph


@pytest.fixture(scope="module")
def few(sampled):
    return sampled[:60]


@pytest.fixture(scope="module")
def few_graph(few):
    return knn_graph(few, 4)
