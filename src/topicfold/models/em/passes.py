"""Passes over counts, one block of documents at a time: the input of the EM kernels.

Counts may be in memory or in a mapped file, as whole numbers or in the precision of the tables. A function that goes
over documents gets a block: its cells, and its rows of the tables of documents. The function must be importable, and
gets everything else it needs as `inputs`, an array or a named tuple, so that it can run in a thread here or on a
cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from ...engine.blocks import TableSum, map_blocks, row_blocks
from ...engine.distributed.array_files import read_rows, write_rows
from ...engine.distributed.cluster import Cluster, StaticArray, current_cluster, gather, in_memory
from ...engine.mapped import release, row_table

__all__ = ["Cells", "CountRows", "LoggedJob", "RowGroups", "logged_group"]

Cells: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]  # indptr, indices and data of a block
Tables: TypeAlias = tuple[np.ndarray, ...]  # rows belong to documents
# (inputs, cells, *rows of tables that are read, *rows of tables that are written)
BlockFunction: TypeAlias = Callable[..., None]
# (rows, bounds, inputs, rows of tables, table): adds to the table the sums over words of documents within the bounds
GroupFunction: TypeAlias = Callable[["CountRows", tuple[int, int], Any, Tables, np.ndarray], Any]

_VALUES_PER_BLOCK = 1 << 16  # cells between two returns to Python; their P(w|d) fit in the cache
# A group of rows has its own sums over words, as large as P(w|z), and adding them takes time: 16 groups instead of 4
# cost 5 % of a step if a group has 5 cells per word. So many groups are made only if they have more.
_GROUPS = ((16, 6), (64, 12))  # most groups, cells per word of each
_WORTH_SENDING = 1 << 19  # cells: fewer are processed faster here than sent to workers


class CountRows:
    """The rows of a matrix of counts, one block at a time, in one dtype."""

    def __init__(self, counts: sp.csr_array, dtype: np.dtype) -> None:
        self.indptr = counts.indptr.astype(np.int64)
        self.indices, self.data, self.dtype = counts.indices, counts.data, dtype
        self._lasting: tuple[Any, ...] | None = None

    @classmethod
    def of_parts(cls, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, dtype: str) -> CountRows:
        """The rows, rebuilt on a worker of a cluster."""
        rows = cls.__new__(cls)
        rows.indptr, rows.indices, rows.data, rows.dtype = indptr, indices, data, np.dtype(dtype)
        return rows

    def parts(self) -> tuple[Any, ...]:
        """The rows as they are sent to workers of a cluster."""
        if self._lasting is None:
            self._lasting = (*map(StaticArray, (self.indptr, self.indices, self.data)), self.dtype.str)
        return self._lasting

    def cells(self, first: int, last: int) -> Cells:
        """The cells of rows first..last, with their own indptr."""
        start, stop = int(self.indptr[first]), int(self.indptr[last])
        indices = self.indices[start:stop].astype(np.int32, copy=False)
        return self.indptr[first : last + 1] - start, indices, self.data[start:stop].astype(self.dtype, copy=False)

    def groups(self, n_words: int) -> list[tuple[int, int]]:
        """Groups of rows, each of which has its own table of words."""
        cells_per_word = int(self.indptr[-1]) // n_words
        return row_blocks(self.indptr, max(1, *(min(most, cells_per_word // cells) for most, cells in _GROUPS)))

    def blocks(self, first: int, last: int, values: int = _VALUES_PER_BLOCK) -> list[tuple[int, int]]:
        """Blocks of the rows first..last with about this many cells each."""
        n_blocks = -(-int(self.indptr[last] - self.indptr[first]) // values)
        return row_blocks(self.indptr, max(n_blocks, 1), first, last)

    def done(self, first: int, last: int, *tables: np.ndarray) -> None:
        """Rows first..last, and those of tables of documents, are not needed for a while."""
        cells = self._cells_of((first, last))
        release(self.indices[cells])
        release(self.data[cells])
        for table in tables:
            release(table[first:last])

    def cluster(self) -> Cluster | None:
        """The cluster that passes run on, if there is one and it is worth it."""
        return current_cluster() if int(self.indptr[-1]) >= _WORTH_SENDING else None

    def for_each_block(
        self,
        run: BlockFunction,
        inputs: Any,
        n_jobs: int | None,
        *,
        reads: Tables = (),
        writes: Tables = (),
        by_cell: Tables = (),
    ) -> None:
        """Call `run(inputs, cells, *rows of the tables)` for each block of rows.

        `reads` are tables of documents that it reads, `writes` those it fills, which contain zeros; `by_cell` are
        filled as well, and have one value per cell instead of one row per document.
        """
        blocks = row_blocks(self.indptr, max(1, int(self.indptr[-1]) // _VALUES_PER_BLOCK))
        cluster = self.cluster()
        if cluster is not None and len(blocks) > 1:
            kinds = tuple((table.dtype.str, table.shape[1:]) for table in writes), tuple(t.dtype.str for t in by_cell)
            results = cluster.map(_filled_block, (self.parts(), run, inputs, reads, kinds), blocks)
            for block, (rows, values) in zip(blocks, results):
                for table, filled in zip(writes, rows):
                    table[slice(*block)] = filled
                    release(table[slice(*block)])
                for table, filled in zip(by_cell, values):
                    table[self._cells_of(block)] = filled
            return
        local_inputs = in_memory(inputs)

        def one(block: tuple[int, int]) -> None:
            documents, cells = slice(*block), self._cells_of(block)
            tables = [*(table[documents] for table in (*reads, *writes)), *(table[cells] for table in by_cell)]
            run(local_inputs, self.cells(*block), *tables)
            self.done(*block, *reads, *writes)

        map_blocks(one, blocks, n_jobs)

    def _cells_of(self, block: tuple[int, int]) -> slice:
        return slice(int(self.indptr[block[0]]), int(self.indptr[block[1]]))


class RowGroups:
    """Passes over all documents in fixed groups of rows, each with its own sums over words.

    Which group a document is in depends only on the counts, and sums are added in a fixed tree. If rows stay, those of
    a table that a pass updates are left with the workers of a cluster until `gather` is called.
    """

    def __init__(
        self,
        counts: sp.csr_array,
        width: int,
        n_jobs: int | None,
        dtype: np.dtype,
        *,
        keep_rows_on_workers: bool = False,
    ) -> None:
        self.rows, self.n_jobs, self.keep_rows_on_workers = CountRows(counts, dtype), n_jobs, keep_rows_on_workers
        self.groups = self.rows.groups(counts.shape[1])
        self._shape = counts.shape[1], width
        self.sums = TableSum(lambda: row_table(*self._shape, dtype))

    def sum_over(
        self, run: GroupFunction, inputs: Any, *, reads: Tables = (), renews: Tables = ()
    ) -> tuple[list[Any], np.ndarray]:
        """What `run(rows, bounds, inputs, rows of the tables, table)` returns for each group, and the sum of tables.

        `reads` and `renews` are tables of documents, the latter changed in place. Pass the sum to `sums.give_back` when
        it is zero again.
        """
        cluster = self.rows.cluster()
        if cluster is not None and len(self.groups) > 1:
            return self._on_cluster(cluster, run, inputs, reads, renews)
        local_inputs = in_memory(inputs)

        def group(bounds: tuple[int, int], table: np.ndarray) -> Any:
            result = run(self.rows, bounds, local_inputs, tuple(t[slice(*bounds)] for t in (*reads, *renews)), table)
            self.rows.done(*bounds, *reads, *renews)
            return result

        return self.sums.over(group, self.groups, self.n_jobs)

    def _on_cluster(
        self, cluster: Cluster, run: GroupFunction, inputs: Any, reads: Tables, renews: Tables
    ) -> tuple[list[Any], np.ndarray]:
        rows_in_files = [cluster.rows_of(table, self.groups) for table in renews]
        items = [
            (bounds, [(rows.path(number), rows.path(number, after=1)) for rows in rows_in_files])
            for number, bounds in enumerate(self.groups)
        ]
        kinds = tuple((table.dtype.str, table.shape[1]) for table in renews)
        task = (self.rows.parts(), run, inputs, reads, kinds)
        results, cluster_total = cluster.sum_over(_group_on_worker, task, items, self._shape, self.rows.dtype)
        for rows in rows_in_files:
            rows.advance()
        if not self.keep_rows_on_workers:
            gather(renews, forget=True)
        total = self.sums.take()
        total[...] = cluster_total
        return results, total


class LoggedJob(NamedTuple):
    """What `logged_group` does with each block of documents.

    `run(inputs, cells, rows of tables, word_sum, probability)` adds to the sums over words, writes P(w|d) of each cell,
    and returns how many cells it left out and what is to be added to the log-likelihood.
    """

    run: Callable[[Any, Cells, Tables, np.ndarray, np.ndarray], tuple[int, float]]
    inputs: Any


def logged_group(
    rows: CountRows, bounds: tuple[int, int], job: LoggedJob, tables: Tables, word_sum: np.ndarray
) -> tuple[float, int]:
    """Do a job on a group of documents, block by block; the sum of n ln P and how many cells were left out."""
    blocks = rows.blocks(*bounds)
    most = max(int(rows.indptr[stop] - rows.indptr[begin]) for begin, stop in blocks)
    probability = np.empty(most, word_sum.dtype)
    log_likelihood, n_skipped = 0.0, 0
    for begin, stop in blocks:
        cells, block = rows.cells(begin, stop), slice(begin - bounds[0], stop - bounds[0])
        n_more, added = job.run(job.inputs, cells, tuple(table[block] for table in tables), word_sum, probability)
        logs = np.log(probability[: len(cells[2])])  # NumPy's log is ten times faster than a kernel's
        log_likelihood += added + float(np.add.reduce(logs * cells[2], dtype=np.float64))
        n_skipped += n_more
    return log_likelihood, n_skipped


# ---- on workers of a cluster ----------------------------------------------------------------------------------------


def _filled_block(
    parts: tuple[Any, ...],
    run: BlockFunction,
    inputs: Any,
    reads: Tables,
    kinds: tuple[Sequence[tuple[str, tuple[int, ...]]], Sequence[str]],
    block: tuple[int, int],
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The rows, and the values by cell, that a block fills."""
    cells = CountRows.of_parts(*parts).cells(*block)
    n_rows = block[1] - block[0]
    written = [_zeros(n_rows, shape, dtype) for dtype, shape in kinds[0]]
    by_cell = [_zeros(len(cells[2]), (), dtype) for dtype in kinds[1]]
    run(inputs, cells, *(table[slice(*block)] for table in reads), *written, *by_cell)
    return written, by_cell


def _zeros(n_rows: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return row_table(n_rows, shape[0], dtype) if shape else row_table(1, n_rows, dtype)[0]


def _group_on_worker(
    parts: tuple[Any, ...],
    run: GroupFunction,
    inputs: Any,
    reads: Tables,
    kinds: Sequence[tuple[str, int]],
    item: tuple[tuple[int, int], list[tuple[str, str]]],
    table: np.ndarray,
) -> Any:
    """Process a group whose updated rows are read from files and written to others."""
    bounds, files = item
    renewed = []
    for (before, _), (dtype, width) in zip(files, kinds):
        renewed.append(row_table(bounds[1] - bounds[0], width, dtype))
        read_rows(before, renewed[-1])
    rows = CountRows.of_parts(*parts)
    result = run(rows, bounds, inputs, (*(t[slice(*bounds)] for t in reads), *renewed), table)
    for (_, after), values in zip(files, renewed):
        write_rows(after, values)
    rows.done(*bounds, *reads)
    return result
