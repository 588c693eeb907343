"""Decorators for compiled kernels, with all numba flags in one place.

Kernels are serial and release the interpreter lock: `blocks.map_blocks` runs them in threads. `parallel=True` is not
used because it is slower on one thread and splits the work by the number of threads, which changes the results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from .machine import user_cache

__all__ = ["njit", "njit_fast", "njit_inline"]

# Sums may be reordered and fused, which lets inner loops use vector instructions. "nnan" and "ninf" are left out:
# with them the compiler may assume that no value is ever NaN or infinite and drop the checks that keep them out.
_FAST = {"nsz", "arcp", "contract", "afn", "reassoc"}


def _compiled(function: Callable[..., Any], **flags: Any) -> Callable[..., Any]:
    before = numba.config.CACHE_DIR  # set by NUMBA_CACHE_DIR, which has priority
    # in the cache folder of the user, not in the package folder, where it would remain after uninstalling
    numba.config.CACHE_DIR = before or str(user_cache("numba"))
    try:
        return numba.njit(nogil=True, cache=True, **flags)(function)
    except RuntimeError:  # there is no writable folder for the cache: compile again in each process
        return numba.njit(nogil=True, **flags)(function)
    finally:
        numba.config.CACHE_DIR = before


def njit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a serial kernel with strict floating point."""
    return _compiled(function)


def njit_fast(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a serial kernel whose sums may be reordered; NaN and infinity keep their meaning."""
    return _compiled(function, fastmath=_FAST)


def njit_inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a passage that several kernels share: it becomes a part of each of them, compiled with their flags.

    Whether numba inlines a call of another kernel depends on its cache, which would change the last bits; this does
    not. Keep the passage in the file of its kernels, because their cache does not notice a change in another file. In
    an inner loop, let it neither divide nor take arrays from a named tuple, and measure it: otherwise references to its
    arrays may be counted at each call, as an error (division by zero) may end it at any place.
    """
    return numba.njit(inline="always")(function)
