"""Values that are written to a temporary file as they are read, for corpora on disk."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.mapped import file_of, mapped_array
from .stored_strings import StoredLabels, StoredStrings

__all__ = ["LabelSpool", "Spool", "StringSpool", "trimmed"]

_WRITTEN_TOGETHER = 256  # strings


class Spool:
    """Numbers of one type in an unnamed temporary file, which is deleted when the process ends."""

    def __init__(self, dtype: Any, folder: Path) -> None:
        self._dtype = np.dtype(dtype)
        self._file = tempfile.TemporaryFile(prefix=".topicfold-", dir=folder)  # noqa: SIM115 (stays open while values are added)

    def __del__(self) -> None:
        self._file.close()  # if reading ended in an error

    def frombytes(self, raw: bytes) -> None:
        """Add numbers, as the bytes of an array."""
        self._file.write(raw)

    def array(self) -> np.ndarray:
        """All numbers, mapped; writing to the array writes to the file. To be called once, at the end."""
        self._file.flush()
        size = self._file.tell()
        if size == 0:
            return np.zeros(0, self._dtype)
        opened = mmap.mmap(self._file.fileno(), size)
        self._file.close()
        return mapped_array(opened, self._dtype, (size // self._dtype.itemsize,))


class StringSpool:
    """Strings, added one by one; `as_text` converts an appended value to a string."""

    def __init__(self, folder: Path, as_text: Callable[[Any], str] = str) -> None:
        self._as_text = as_text
        self._raw, self._ends, self._end = Spool(np.uint8, folder), Spool(np.int64, folder), 0
        self._waiting: list[bytes] = []

    def append(self, value: Any) -> None:
        """Add a string."""
        self._waiting.append(self._as_text(value).encode("utf-8", "surrogatepass"))
        if len(self._waiting) >= _WRITTEN_TOGETHER:
            self._write()

    def strings(self) -> StoredStrings:
        """All strings. To be called once, at the end."""
        self._write()
        return StoredStrings(self._raw.array(), self._ends.array())

    def _write(self) -> None:
        ends = np.cumsum(np.fromiter(map(len, self._waiting), np.int64, len(self._waiting))) + self._end
        self._raw.frombytes(b"".join(self._waiting))
        self._ends.frombytes(ends.tobytes())
        self._end = int(ends[-1]) if len(ends) else self._end
        self._waiting = []


class LabelSpool:
    """Labels of documents; `as_labels` converts an appended value to a tuple of strings."""

    def __init__(self, folder: Path, as_labels: Callable[[Any], Iterable[str]]) -> None:
        self._as_labels = as_labels
        self._flat, self._counts = StringSpool(folder), Spool(np.int64, folder)

    def append(self, value: Any) -> None:
        """Add the labels of the next document."""
        labels = tuple(self._as_labels(value))
        for label in labels:
            self._flat.append(label)
        self._counts.frombytes(len(labels).to_bytes(8, "little"))

    def labels(self) -> StoredLabels:
        """The labels of all documents. To be called once, at the end."""
        return StoredLabels(self._flat.strings(), self._counts.array())


def trimmed(array: np.ndarray, size: int) -> np.ndarray:
    """The first values of an array; if it is in a file, not as a view, which scipy would copy to save memory."""
    opened = file_of(array)
    if opened is None:
        return array[:size]
    offset = array.ctypes.data - np.frombuffer(opened, np.uint8).ctypes.data
    return mapped_array(opened, array.dtype, (size,), offset)
