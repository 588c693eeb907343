"""Passes over counts, a block of documents at a time: what the kernels of EM are given.

Counts may lie in memory or in a mapped file, as whole numbers or in the precision of the tables. A kernel sees a block:
its cells, and the rows of the tables of documents that belong to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import aligned
from ..engine.blocks import TableSum, map_blocks, row_blocks
from ..engine.mapped import release

__all__ = ["Cells", "CountRows", "RowGroups"]

Cells: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]  # indptr, indices and data of a block
# goes over a block of documents, adds to the sums over words, writes P(w|d) of each cell, and returns how many cells it
# left out and what is to be added to the log-likelihood
RowsKernel: TypeAlias = Callable[[Cells, slice, np.ndarray, np.ndarray], tuple[int, float]]

_VALUES_A_BLOCK = 1 << 16  # cells between two looks at the clock of Python; their P(w|d) fit in the cache
# A group of rows has its own sums over words, as large as P(w|z), and adding them takes a while: 16 groups instead of 4
# cost 5 % of a step where a group has 5 cells per word. So many groups are made only where they have more.
_GROUPS = ((16, 6), (64, 12))  # most groups, cells per word of each


class CountRows:
    """The rows of a matrix of counts, a block at a time, in one dtype."""

    def __init__(self, counts: sp.csr_array, dtype: np.dtype) -> None:
        self.indptr = counts.indptr.astype(np.int64)
        self.indices, self.data, self.dtype = counts.indices, counts.data, dtype

    def cells(self, first: int, last: int) -> Cells:
        """The cells of rows first..last, with an indptr of their own."""
        start, stop = int(self.indptr[first]), int(self.indptr[last])
        indices = self.indices[start:stop].astype(np.int32, copy=False)
        return self.indptr[first : last + 1] - start, indices, self.data[start:stop].astype(self.dtype, copy=False)

    def groups(self, n_words: int) -> list[tuple[int, int]]:
        """Groups of rows, each of which has a table of words of its own."""
        cells_per_word = int(self.indptr[-1]) // n_words
        return row_blocks(self.indptr, max(1, *(min(most, cells_per_word // cells) for most, cells in _GROUPS)))

    def blocks(self, first: int, last: int, values: int = _VALUES_A_BLOCK) -> list[tuple[int, int]]:
        """Blocks of the rows first..last with about so many cells each."""
        n_blocks = -(-int(self.indptr[last] - self.indptr[first]) // values)
        return row_blocks(self.indptr, max(n_blocks, 1), first, last)

    def done(self, first: int, last: int, *tables: np.ndarray) -> None:
        """Rows first..last, and those of tables of documents, are not needed for a while."""
        here = slice(int(self.indptr[first]), int(self.indptr[last]))
        release(self.indices[here])
        release(self.data[here])
        for table in tables:
            release(table[first:last])

    def for_each_block(self, run: Callable[[Cells, slice], None], n_jobs: int | None, *tables: np.ndarray) -> None:
        """Call `run(cells, rows)` for each block of rows; `tables` are those of documents that it looks at."""

        def block(rows: tuple[int, int]) -> None:
            run(self.cells(*rows), slice(*rows))
            self.done(*rows, *tables)

        map_blocks(block, row_blocks(self.indptr, max(1, int(self.indptr[-1]) // _VALUES_A_BLOCK)), n_jobs)


class RowGroups:
    """Passes over all documents in fixed groups of rows, each with its own sums over words.

    Which group a document is in depends on the counts alone, and sums are added in a fixed tree.
    """

    def __init__(self, counts: sp.csr_array, n_topics: int, n_jobs: int | None, dtype: np.dtype) -> None:
        self.rows, self.n_jobs = CountRows(counts, dtype), n_jobs
        self.groups = self.rows.groups(counts.shape[1])
        self.sums = TableSum(lambda: aligned(counts.shape[1], n_topics, dtype))

    def pass_over(self, rows: RowsKernel, *tables: np.ndarray) -> tuple[float, int, np.ndarray]:
        """Sum of n ln P over the cells, the number of cells left out, and the sums over words of all groups.

        `tables` are those of documents that `rows` looks at. Hand the sums to `sums.give_back` when they are zero.
        """

        def group(bounds: tuple[int, int], word_sum: np.ndarray) -> tuple[float, int]:
            found = self._group(*bounds, rows, word_sum)
            self.rows.done(*bounds, *tables)
            return found

        found, total = self.sums.over(group, self.groups, self.n_jobs)
        return sum(log for log, _ in found), sum(left_out for _, left_out in found), total

    def _group(self, first: int, last: int, rows: RowsKernel, word_sum: np.ndarray) -> tuple[float, int]:
        indptr, blocks = self.rows.indptr, self.rows.blocks(first, last)
        most = max(int(indptr[stop] - indptr[begin]) for begin, stop in blocks)
        probability = np.empty(most, word_sum.dtype)
        log_likelihood, left_out = 0.0, 0
        for begin, stop in blocks:
            cells = self.rows.cells(begin, stop)
            n_left_out, more = rows(cells, slice(begin, stop), word_sum, probability)
            logs = np.log(probability[: len(cells[2])])  # NumPy's log is ten times faster than a kernel's
            log_likelihood += more + float(np.add.reduce(logs * cells[2], dtype=np.float64))
            left_out += n_left_out
        return log_likelihood, left_out
