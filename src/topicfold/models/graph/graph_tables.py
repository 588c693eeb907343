"""Tables of documents x topics on a graph, one block of rows at a time, without a full copy in float64."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import aligned, csr_parts, normalise_rows
from ...engine.blocks import map_blocks
from ...engine.jit import njit
from .graph_data import FLOOR

__all__ = ["Edges", "mean_row", "row_slices", "scaled", "write_rows"]

_ROWS_PER_BLOCK = 1 << 14
_COLUMNS_PER_TASK = 16


@njit
def laplacian_rows(indptr, indices, weights, first, last, table, differences):
    """differences = (D - W) table for documents first..last, summed in float64."""
    n_topics = differences.shape[1]
    for i in range(first, last):
        row = differences[i - first]
        row[:] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j, weight = indices[e], weights[e]
            for k in range(n_topics):
                row[k] += weight * (np.float64(table[i, k]) - np.float64(table[j, k]))


class Edges:
    """The edges of a graph, and computations with them on a table of documents x topics."""

    def __init__(self, graph: sp.csr_array, n_jobs: int | None) -> None:
        indptr, indices, data = csr_parts(graph)
        self.parts = indptr, indices, data.astype(np.float64, copy=False)
        self.degree = np.asarray(graph.sum(axis=1), np.float64)
        self.n_jobs = n_jobs

    def roughness(self, table: np.ndarray, n_topics: int, *, logs: bool = False) -> float:
        """sum_k y_k' L y_k, or with `logs` sum_k y_k' L ln y_k, of a padded table."""

        def block(rows: slice) -> float:
            values = table[rows, :n_topics].astype(np.float64)
            differences = np.empty_like(values)
            laplacian_rows(*self.parts, rows.start, rows.stop, table, differences)
            if logs:
                np.log(np.maximum(values, FLOOR, out=values), out=values)
            return float(np.einsum("ik,ik->", values, differences))

        return sum(map_blocks(block, row_slices(len(table)), self.n_jobs))


def row_slices(n_rows: int) -> Iterator[slice]:
    """Blocks of rows of a fixed size."""
    return (slice(first, min(first + _ROWS_PER_BLOCK, n_rows)) for first in range(0, n_rows, _ROWS_PER_BLOCK))


def scaled(table: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Rows times numbers: a new table, aligned and padded as the one given."""
    result = aligned(len(table), table.shape[1], table.dtype)
    for rows in row_slices(len(table)):
        np.multiply(table[rows], scale[rows, None], out=result[rows], casting="same_kind")
    return result


def write_rows(table: np.ndarray, values: np.ndarray, base: np.ndarray | float = 0.0, least: float = 0.0) -> None:
    """Write values + base to the table, none below `least` and rows summing to one, computed in float64."""
    for rows in row_slices(len(table)):
        sums = values[rows] + np.asarray(base, np.float64)
        table[rows] = normalise_rows(np.maximum(sums, least, out=sums))


def mean_row(table: np.ndarray, n_topics: int, scale: np.ndarray) -> np.ndarray:
    """The mean of the rows of table * scale, each scaled to sum to one."""
    total = np.zeros(n_topics)
    for rows in row_slices(len(table)):
        total += normalise_rows(table[rows, :n_topics].astype(np.float64) * scale[rows, None]).sum(axis=0)
    return total / len(table)
