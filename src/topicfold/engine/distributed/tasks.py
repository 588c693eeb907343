"""The tasks that workers of a cluster run."""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ServiceError
from ..blocks import TableSum, single_threaded_libraries
from ..mapped import row_table
from .array_files import opened

__all__ = ["add_up", "environment", "run_items", "run_sum", "tokens_seen"]

_PACKAGES = ("topicfold", "numpy", "scipy", "numba", "scikit-learn")


def environment() -> dict[str, str]:
    """What the last bits of results depend on: versions, and the kind of CPU."""
    from numba.core.codegen import get_host_cpu_features

    return {name: version(name) for name in _PACKAGES} | {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "CPU": f"{platform.machine()} {get_host_cpu_features()}",
    }


def tokens_seen(path: str) -> str | None:
    """What a worker reads in a file written by this machine, if it can also write to the same folder."""
    try:
        token = Path(path).read_text(encoding="ascii")
        test_file = Path(f"{path}-{threading.get_ident()}-{id(token)}")
        test_file.write_text(token, encoding="ascii", newline="\n")
        test_file.unlink()
    except OSError:
        return None
    return token


def run_items(version: str, function: Callable[..., Any], shared: Any, items: Sequence[Any]) -> list[Any]:
    """`function(*shared, item)` for each item."""
    _check_version(version)
    with _single_threaded():
        arrays = opened(shared)
        return [function(*arrays, opened(item)) for item in items]


def run_sum(
    version: str, function: Callable[..., Any], shared: Any, items: Sequence[Any], shape: tuple[int, int], dtype: str
) -> tuple[list[Any], np.ndarray]:
    """The results of `function(*shared, item, table)`, and the sum of their tables in the tree of `TableSum`."""
    _check_version(version)
    with _single_threaded():
        arrays = opened(shared)
        sums = TableSum(lambda: row_table(*shape, dtype))
        return sums.over(lambda item, table: function(*arrays, item, table), items)


def add_up(first: tuple[list[Any], np.ndarray], second: tuple[list[Any], np.ndarray]) -> tuple[list[Any], np.ndarray]:
    """The combined results of two branches of the tree."""
    return first[0] + second[0], first[1] + second[1]


@lru_cache(1)
def _own_version() -> str:
    return version("topicfold")


def _check_version(version: str) -> None:
    if _own_version() != version:
        raise ServiceError(
            f"a worker has topicfold {_own_version()}: expected {version}; install the same version everywhere"
        )


_lock = threading.Lock()
_running = 0
_limits = ExitStack()


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Limit libraries to one thread as long as any task runs: the first task to end must not lift the limit."""
    global _running
    with _lock:
        if _running == 0:
            _limits.enter_context(single_threaded_libraries())
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if _running == 0:
                _limits.close()
