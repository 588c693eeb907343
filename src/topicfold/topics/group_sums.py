"""Sums of the memberships of documents by group: by label, or by period."""

from __future__ import annotations

import numpy as np

from ..engine.jit import njit

__all__ = ["sums_by_group"]

_ROWS = 1 << 16  # rows of a block, which is copied only if its rows are not contiguous


@njit
def _add_rows(rows, groups, first, last, offset, values, total):
    """total[groups[i]] += values[rows[i] - offset] for i from first to last, one after the other."""
    for i in range(first, last):
        row, group = rows[i] - offset, groups[i]
        for k in range(values.shape[1]):
            total[group, k] += values[row, k]


def sums_by_group(values: np.ndarray, rows: np.ndarray, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """The sum of the rows of each group in float64, groups x columns: row rows[i] is in group groups[i].

    `rows` are in ascending order; a row may be in several groups, or in none.

    >>> sums_by_group(np.array([[1.0], [2.0], [4.0]]), np.array([0, 2, 2]), np.array([1, 0, 1]), 2).tolist()
    [[4.0], [5.0]]
    """
    rows, groups = rows.astype(np.int64, copy=False), groups.astype(np.int64, copy=False)
    total = np.zeros((n_groups, values.shape[1]))
    for start in range(0, len(values), _ROWS):
        block = np.ascontiguousarray(values[start : start + _ROWS])
        first, last = np.searchsorted(rows, [start, start + _ROWS]).tolist()
        _add_rows(rows, groups, first, last, start, block, total)
    return total
