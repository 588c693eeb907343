"""Rows that are normalised sum to one, whatever they hold."""

from __future__ import annotations

import numpy as np
import pytest

from topicfold.engine.arrays import normalise_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_sum_to_one_also_below_the_normal_numbers(dtype):
    least = np.nextafter(dtype(0), dtype(1))
    rows = np.array([[least] * 8, [1.0] * 8, [0.0] * 8, [1e30] * 8, [100 * np.finfo(dtype).tiny] * 8], dtype)
    assert normalise_rows(rows).sum(axis=1).tolist() == pytest.approx([1, 1, 0, 1, 1])
