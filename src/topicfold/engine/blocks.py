"""Parallelism, as a map over fixed blocks of rows.

How rows are split into blocks depends only on the data, never on the number of threads. Results are returned in block
order, and sums are added in a tree that is fixed by the number of blocks. So one thread and sixteen give the same bits.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import TypeVar

import numpy as np

from ..errors import InputError

__all__ = ["TableSum", "each_block", "map_blocks", "n_threads", "row_blocks", "single_threaded_libraries"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads(n_jobs: int | None) -> int:
    """The number of threads for `n_jobs`: None means one, -1 all cores, -2 all but one, as in scikit-learn.

    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise InputError(f"n_jobs={n_jobs!r}: expected a number of threads, -1 for all cores, or None for one")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def map_blocks(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None) -> list[Result]:
    """Apply a function to each item, in threads, and return the results in the order of the items.

    >>> map_blocks(lambda block: sum(block), [(1, 2), (3, 4)], n_jobs=2)
    [3, 7]
    """
    items = list(items)
    threads = min(n_threads(n_jobs), len(items))
    if threads <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


def each_block(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Iterator[Result]:
    """The same as `map_blocks`, but yields the results one by one: at most one per thread is computed in advance.

    >>> list(each_block(lambda block: sum(block), [(1, 2), (3, 4)], n_jobs=2))
    [3, 7]
    """
    items = list(items)
    threads = min(n_threads(n_jobs), len(items))
    if threads <= 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def row_blocks(indptr: np.ndarray, n_blocks: int, start: int = 0, stop: int | None = None) -> list[tuple[int, int]]:
    """Split rows start..stop of a CSR matrix into at most `n_blocks` blocks with about equal numbers of stored values.

    >>> row_blocks(np.array([0, 4, 5, 6, 8]), 2)
    [(0, 1), (1, 4)]
    """
    stop = len(indptr) - 1 if stop is None else stop
    goals = np.linspace(indptr[start], indptr[stop], n_blocks + 1)[1:-1]
    cuts = start + np.searchsorted(indptr[start : stop + 1], goals)
    bounds = np.unique(np.concatenate([[start], np.clip(cuts, start, stop), [stop]])).tolist()
    return list(pairwise(bounds))


class TableSum:
    """Adds up the tables of blocks, one per block, in a tree that depends only on the number of blocks.

    Tables are created when threads need them and are reused: memory grows with the threads, not with the blocks.

    >>> sums = TableSum(lambda: np.zeros(2))
    >>> def fill(item, table):
    ...     table += item
    >>> _, total = sums.over(fill, [1, 2, 3], n_jobs=2)
    >>> total.tolist()
    [6.0, 6.0]
    """

    def __init__(self, make: Callable[[], np.ndarray]) -> None:
        self._make = make
        self._free: list[np.ndarray] = []
        self._lock = threading.Lock()

    def over(
        self, fill: Callable[[Item, np.ndarray], Result], items: Sequence[Item], n_jobs: int | None = None
    ) -> tuple[list[Result], np.ndarray]:
        """Call `fill(item, table)`, which adds to a table of zeros, for each item; return results and sum of tables.

        Pass the sum to `give_back` when it is zero again.
        """
        sizes = [len(items)]  # sizes of the levels of the tree
        while sizes[-1] > 1:
            sizes.append((sizes[-1] + 1) // 2)
        waiting: dict[tuple[int, int], np.ndarray] = {}  # sums whose neighbour is not complete yet, by level and place

        def run(number: int) -> Result:
            table = self.take()
            result = fill(items[number], table)
            place = number
            for level, size in enumerate(sizes[:-1]):
                other = place ^ 1
                if other < size:
                    with self._lock:
                        neighbour = waiting.pop((level, other), None)
                        if neighbour is None:
                            waiting[level, place] = table
                            return result
                    table += neighbour  # the sum of two is the same in either order
                    neighbour[...] = 0
                    self.give_back(neighbour)
                place //= 2
            waiting[len(sizes) - 1, 0] = table
            return result

        results = map_blocks(run, range(len(items)), n_jobs)
        return results, waiting[len(sizes) - 1, 0]

    def take(self) -> np.ndarray:
        """A table of zeros."""
        with self._lock:
            if self._free:
                return self._free.pop()
        return self._make()

    def give_back(self, table: np.ndarray) -> None:
        """Accept a table of zeros for reuse."""
        with self._lock:
            self._free.append(table)


@contextmanager
def single_threaded_libraries() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread: their sums change with the number of threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
