"""Sums of rows by group against a loop."""

from __future__ import annotations

import numpy as np
import pytest

from topicfold.topics import shares
from topicfold.topics.shares import sums_by_group


@pytest.mark.parametrize("block", [1, 7, 1 << 16])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_as_a_loop(block, order, dtype, monkeypatch):
    monkeypatch.setattr(shares, "_ROWS", block)
    rng = np.random.default_rng(0)
    values = np.asarray(rng.random((50, 3)), dtype=dtype, order=order)
    rows = np.sort(rng.integers(0, 50, 80))  # some rows are in several groups, some in none
    groups = rng.integers(0, 4, 80)
    expected = np.zeros((5, 3))
    for row, group in zip(rows, groups, strict=True):
        expected[group] += values[row]
    assert np.array_equal(sums_by_group(values, rows, groups, 5), expected)


def test_no_rows():
    assert sums_by_group(np.zeros((0, 2)), np.zeros(0, int), np.zeros(0, int), 3).tolist() == [[0, 0]] * 3
