"""Tables of documents x topics on a graph, one block of rows at a time, without a full copy in float64."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import aligned, csr_parts, normalise_rows, padded
from ...engine.blocks import map_blocks
from ...engine.distributed.cluster import current_cluster, static
from ...engine.jit import njit
from .graph_data import FLOOR, MANY_DOCUMENTS

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


@njit
def averaged_rows(indptr, indices, weights, first, last, table, share, moved):
    """moved = (1 - share) table + share W table for documents first..last, where rows of W sum to one.

    A document without neighbours does not change.
    """
    n_topics = table.shape[1]
    rest, part = table.dtype.type(1.0 - share), moved.dtype.type(share)
    near = np.empty(n_topics, moved.dtype)
    for i in range(first, last):
        if indptr[i] == indptr[i + 1]:
            near[:] = table[i]
        else:
            near[:] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j, weight = indices[e], weights[e]
            for k in range(n_topics):
                near[k] += weight * table[j, k]
        for k in range(n_topics):
            moved[i, k] = rest * table[i, k] + part * near[k]


class Edges:
    """The edges of a graph, and computations with them on a table of documents x topics."""

    def __init__(self, graph: sp.csr_array, n_jobs: int | None) -> None:
        indptr, indices, data = csr_parts(graph)
        self.parts = indptr, indices, data.astype(np.float64, copy=False)
        self._static_parts = static(self.parts)
        self.degree = np.asarray(graph.sum(axis=1), np.float64)
        self.n_jobs = n_jobs

    def roughness(
        self, table: np.ndarray, n_topics: int, *, logs: bool = False, rows: Sequence[slice] | None = None
    ) -> float:
        """sum_k y_k' L y_k, or with `logs` sum_k y_k' L ln y_k, of a padded table, or the part of some of its rows."""

        def block(rows: slice) -> float:
            values = table[rows, :n_topics].astype(np.float64)
            differences = np.empty_like(values)
            laplacian_rows(*self.parts, rows.start, rows.stop, table, differences)
            if logs:
                np.log(np.maximum(values, FLOOR, out=values), out=values)
            return float(np.einsum("ik,ik->", values, differences))

        return sum(map_blocks(block, row_slices(len(table)) if rows is None else rows, self.n_jobs))

    def averaged(self, table: np.ndarray, share: float, times: int) -> np.ndarray:
        """The table after `times` moves of each row towards the mean of its neighbours."""
        indptr, indices, weights = self.parts
        means = weights * np.repeat(1 / np.where(self.degree > 0, self.degree, 1), np.diff(indptr))
        precision = np.dtype(np.float64) if len(table) <= MANY_DOCUMENTS else table.dtype
        means = means.astype(precision, copy=False)
        cluster, width = current_cluster(), table.shape[1]
        if cluster is not None and width > _COLUMNS_PER_TASK:  # a topic's moves do not depend on the other topics
            moved = aligned(len(table), width, precision)
            groups = [
                slice(first, min(first + _COLUMNS_PER_TASK, width)) for first in range(0, width, _COLUMNS_PER_TASK)
            ]
            moves = _Moves(*self._static_parts[:2], means, share, times, precision.str)
            columns = (np.ascontiguousarray(table[:, group]) for group in groups)
            for group, part in zip(groups, cluster.map(_averaged_columns, (moves,), columns)):
                moved[:, group] = part
            return moved if precision == table.dtype else padded(moved, table.dtype)
        now, moved = table, aligned(len(table), table.shape[1], precision)
        for done in range(times):
            if done == 1:  # from here on two tables alternate, neither of them the one given
                now, moved = moved, aligned(len(table), table.shape[1], precision)
            elif done > 1:
                now, moved = moved, now

            def block(rows: slice, now: np.ndarray = now, moved: np.ndarray = moved) -> None:
                averaged_rows(indptr, indices, means, rows.start, rows.stop, now, share, moved)

            map_blocks(block, row_slices(len(table)), self.n_jobs)
        return moved if precision == table.dtype else padded(moved, table.dtype)


class _Moves(NamedTuple):
    indptr: np.ndarray
    indices: np.ndarray
    means: np.ndarray  # weights of edges, of which those of a document sum to one
    share: float
    times: int
    precision: str


def _averaged_columns(moves: _Moves, columns: np.ndarray) -> np.ndarray:
    """Some columns of a table after `times` moves."""
    now = columns
    spare = [np.empty(columns.shape, moves.precision) for _ in range(min(moves.times, 2))]
    for done in range(moves.times):
        moved = spare[done % 2]
        averaged_rows(moves.indptr, moves.indices, moves.means, 0, len(columns), now, moves.share, moved)
        now = moved
    return now


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
