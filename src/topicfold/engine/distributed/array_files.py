"""Arrays in files that the workers of a cluster read: a task gets the locations of its arrays, not their values."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import ServiceError
from ..mapped import mapped_array, mapped_file, place_of

__all__ = [
    "ArrayFile",
    "EvenArray",
    "changed_items",
    "opened",
    "read_rows",
    "stored_place",
    "write_array",
    "write_rows",
]

_BEFORE = 1 << 12  # bytes before and after the values, so that arrays of two files are never adjacent in memory


class ArrayFile(NamedTuple):
    """Where an array is stored, for any process that can read the file."""

    path: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    size: int  # of the whole file

    def open(self) -> np.ndarray:
        """The array, mapped; changes to it stay in this process."""
        try:
            file = mapped_file(Path(self.path))
        except (OSError, ValueError) as error:
            raise ServiceError(
                f"{_who()} cannot read {self.path} ({error}): the corpus and the folder of on_cluster must be where "
                "all workers can read and write"
            ) from None
        if len(file) != self.size:
            raise ServiceError(f"{_who()} sees another file at {self.path}: {len(file):,} bytes, not {self.size:,}")
        return mapped_array(file, self.dtype, self.shape, self.offset)


class EvenArray(NamedTuple):
    """An array that has the same value everywhere, and needs no memory."""

    value: Any
    shape: tuple[int, ...]

    def open(self) -> np.ndarray:
        """The original array."""
        return np.broadcast_to(self.value, self.shape)


def stored_place(array: np.ndarray) -> ArrayFile | None:
    """The location of an array that is mapped from a named file; None for any other array."""
    place = place_of(array)
    if place is None or not array.flags.c_contiguous:
        return None
    path, offset = place
    try:
        size = path.stat().st_size
    except OSError:  # deleted in the meantime: the data are still in memory
        return None
    return ArrayFile(str(path), array.dtype.str, array.shape, offset, size)


def write_array(path: Path, array: np.ndarray) -> ArrayFile:
    """Write an array to a new file."""
    if not array.flags.c_contiguous:
        raise TypeError(f"an array of shape {array.shape} is not contiguous: a kernel would be compiled again")
    space = bytes(_BEFORE)
    with path.open("wb") as file:
        file.write(space)
        file.write(array.reshape(-1).view(np.uint8).data)
        file.write(space)
    return ArrayFile(str(path), array.dtype.str, array.shape, _BEFORE, array.nbytes + 2 * _BEFORE)


def write_rows(path: str, rows: np.ndarray) -> None:
    """Write rows to a file, completely or not at all: a worker may be killed, and another may write the same rows."""
    try:
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data)
        os.replace(temporary, path)
    except OSError as error:
        raise ServiceError(f"{_who()} cannot write {path}: {error.strerror or error}") from None


def read_rows(path: str, rows: np.ndarray) -> None:
    """Read rows from a file into the given array."""
    flat = rows.reshape(-1).view(np.uint8)
    try:
        with open(path, "rb") as file:
            n_read = file.readinto(flat.data)
    except OSError as error:
        raise ServiceError(f"{_who()} cannot read {path}: {error.strerror or error}") from None
    if n_read != flat.nbytes:
        raise ServiceError(f"{path} has {n_read:,} bytes, not {flat.nbytes:,}")


def opened(value: Any) -> Any:
    """The value with files replaced by arrays, also within tuples."""
    if isinstance(value, ArrayFile | EvenArray):
        return value.open()
    return changed_items(opened, value)


def changed_items(change: Callable[[Any], Any], value: Any) -> Any:
    """A tuple or named tuple with `change` applied to its items; any other value as it is."""
    if type(value) is tuple:
        return tuple(map(change, value))
    return type(value)(*map(change, value)) if isinstance(value, tuple) and hasattr(value, "_fields") else value


def _who() -> str:
    import socket

    return f"the worker on {socket.gethostname()}"
