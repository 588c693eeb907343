"""Arrays that lie in files: mapped into memory, looked at a block at a time, and let go of again.

Whatever works on rows a block at a time works on such arrays as on any others. `release` says that a block is done
with, so that the process holds a few blocks and not the whole; on arrays in memory it does nothing.
"""

from __future__ import annotations

import contextlib
import mmap
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["file_of", "is_mapped", "mapped_array", "mapped_file", "pieces", "place_of", "release", "row_table"]

_PIECE = 1 << 24  # bytes that are looked at together
_APART = 512  # bytes around a table: vector code may run another way where two arrays lie next to each other
_PATHS: weakref.WeakKeyDictionary[mmap.mmap, Path] = weakref.WeakKeyDictionary()


def mapped_file(path: Path) -> mmap.mmap:
    """A file that can be read as memory.

    Private: arrays that may be written to need no kernels of their own, and the file is not changed.
    """
    with path.open("rb") as file:
        opened = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    _PATHS[opened] = path.absolute()
    return opened


def place_of(array: np.ndarray) -> tuple[Path, int] | None:
    """The file with a name that an array lies in, and where in it; None for arrays in memory and nameless files."""
    file = file_of(array)
    path = None if file is None else _PATHS.get(file)
    if file is None or path is None:
        return None
    return path, array.ctypes.data - np.frombuffer(file, np.uint8).ctypes.data


def mapped_array(file: mmap.mmap, dtype: DTypeLike, shape: tuple[int, ...], offset: int = 0) -> np.ndarray:
    """An array over a part of a mapped file."""
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.zeros(shape, dtype)
    return np.frombuffer(file, dtype, count, offset).reshape(shape)


def file_of(array: np.ndarray) -> mmap.mmap | None:
    """The mapped file that an array lies in, if any."""
    base: Any = array
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return base if isinstance(base, mmap.mmap) else None


def is_mapped(array: np.ndarray) -> bool:
    """Whether an array lies in a file."""
    return file_of(array) is not None


def release(array: np.ndarray) -> None:
    """Give back the memory that an array of a mapped file takes; its values stay in the file and can be used again."""
    file = file_of(array)
    if file is None or array.nbytes == 0 or not hasattr(mmap, "MADV_DONTNEED"):
        return
    start = array.ctypes.data - np.frombuffer(file, np.uint8).ctypes.data
    first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE  # whole pages alone: others may be in use next door
    last = (start + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if last > first:
        with contextlib.suppress(OSError):  # advice that is not taken does no harm
            file.madvise(mmap.MADV_DONTNEED, first, last - first)


def pieces(array: np.ndarray) -> Iterator[np.ndarray]:
    """The values of an array in C order, some at a time; each piece is given back when the next is asked for."""
    flat = np.ascontiguousarray(array).reshape(-1)
    size = max(1, _PIECE // max(array.itemsize, 1))
    for first in range(0, len(flat), size):
        piece = flat[first : first + size]
        yield piece
        release(piece)


def row_table(n_rows: int, width: int, dtype: DTypeLike, *, on_disk: bool = False) -> np.ndarray:
    """Zeros of n_rows x width from a 64-byte boundary on; in memory, or in a temporary file.

    The file has no name, and is gone with the process.
    """
    size = n_rows * width * np.dtype(dtype).itemsize
    if on_disk and size > 0:
        with tempfile.TemporaryFile(prefix="topicfold-") as file:
            file.truncate(size)
            return mapped_array(mmap.mmap(file.fileno(), size), dtype, (n_rows, width))
    raw = np.zeros(size + 2 * _APART, np.uint8)
    offset = -raw.ctypes.data % 64 + _APART - 64
    return raw[offset : offset + size].view(dtype).reshape(n_rows, width)
