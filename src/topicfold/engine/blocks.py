"""The one place for parallelism: a map over fixed blocks of rows.

How rows are cut into blocks depends on the data only, never on the number of threads, and results come back in block
order. That is why one thread and four give the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import TypeVar

import numpy as np

__all__ = ["map_blocks", "n_threads", "row_blocks", "single_threaded_libraries"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads(n_jobs: int | None) -> int:
    """How many threads `n_jobs` asks for: None is one, -1 all cores, -2 all but one, as in scikit-learn.

    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r}: expected a number of threads, -1 for all cores, or None for one")
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


def row_blocks(indptr: np.ndarray, n_blocks: int, start: int = 0, stop: int | None = None) -> list[tuple[int, int]]:
    """Cut rows start..stop of a CSR matrix into at most `n_blocks` runs with about the same number of stored values.

    >>> row_blocks(np.array([0, 4, 5, 6, 8]), 2)
    [(0, 1), (1, 4)]
    """
    stop = len(indptr) - 1 if stop is None else stop
    goals = np.linspace(indptr[start], indptr[stop], n_blocks + 1)[1:-1]
    cuts = start + np.searchsorted(indptr[start : stop + 1], goals)
    bounds = np.unique(np.concatenate([[start], np.clip(cuts, start, stop), [stop]])).tolist()
    return list(pairwise(bounds))


@contextmanager
def single_threaded_libraries() -> Iterator[None]:
    """BLAS and OpenMP on one thread: their sums change with the number of threads."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
