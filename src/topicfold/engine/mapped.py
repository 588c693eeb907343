"""Arrays in files that are mapped into memory, used block by block, and released again.

Code that works on blocks of rows works on such arrays as on any others. `release` marks a block as done, so that the
process keeps only a few blocks in memory; on arrays in memory it does nothing.
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

_PIECE = 1 << 24  # bytes that are processed together
_APART = 512  # bytes around a table: vector code may take another path if two arrays are adjacent in memory
_PATHS: weakref.WeakKeyDictionary[mmap.mmap, Path] = weakref.WeakKeyDictionary()


def mapped_file(path: Path) -> mmap.mmap:
    """A file that can be read as memory.

    The mapping is private: its arrays are writable, so they need no separate kernels, and the file does not change.
    """
    with path.open("rb") as file:
        opened = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    _PATHS[opened] = path.absolute()
    return opened


def place_of(array: np.ndarray) -> tuple[Path, int] | None:
    """The named file that contains an array, and its offset; None for arrays in memory and in unnamed files."""
    file = file_of(array)
    path = None if file is None else _PATHS.get(file)
    if file is None or path is None:
        return None
    return path, array.ctypes.data - np.frombuffer(file, np.uint8).ctypes.data


def mapped_array(file: mmap.mmap, dtype: DTypeLike, shape: tuple[int, ...], offset: int = 0) -> np.ndarray:
    """An array that uses a part of a mapped file."""
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.zeros(shape, dtype)
    return np.frombuffer(file, dtype, count, offset).reshape(shape)


def file_of(array: np.ndarray) -> mmap.mmap | None:
    """The mapped file that contains an array, if any."""
    base: Any = array
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return base if isinstance(base, mmap.mmap) else None


def is_mapped(array: np.ndarray) -> bool:
    """Whether an array is mapped from a file."""
    return file_of(array) is not None


def release(array: np.ndarray) -> None:
    """Release the memory of an array of a mapped file; its values stay in the file and can be used again."""
    file = file_of(array)
    if file is None or array.nbytes == 0 or not hasattr(mmap, "MADV_DONTNEED"):
        return
    start = array.ctypes.data - np.frombuffer(file, np.uint8).ctypes.data
    first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE  # only whole pages: others may be used by adjacent arrays
    last = (start + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if last > first:
        with contextlib.suppress(OSError):  # it is only advice: failing does no harm
            file.madvise(mmap.MADV_DONTNEED, first, last - first)


def pieces(array: np.ndarray) -> Iterator[np.ndarray]:
    """The values of an array in C order, in pieces; each piece is released when the next is requested."""
    flat = np.ascontiguousarray(array).reshape(-1)
    size = max(1, _PIECE // max(array.itemsize, 1))
    for first in range(0, len(flat), size):
        piece = flat[first : first + size]
        yield piece
        release(piece)


def row_table(n_rows: int, width: int, dtype: DTypeLike, *, on_disk: bool = False) -> np.ndarray:
    """Zeros of n_rows x width that start at a 64-byte boundary; in memory, or in a temporary file.

    The file has no name, and is deleted when the process ends.
    """
    size = n_rows * width * np.dtype(dtype).itemsize
    if on_disk and size > 0:
        with tempfile.TemporaryFile(prefix="topicfold-") as file:
            file.truncate(size)
            return mapped_array(mmap.mmap(file.fileno(), size), dtype, (n_rows, width))
    raw = np.zeros(size + 2 * _APART, np.uint8)
    offset = -raw.ctypes.data % 64 + _APART - 64
    return raw[offset : offset + size].view(dtype).reshape(n_rows, width)
