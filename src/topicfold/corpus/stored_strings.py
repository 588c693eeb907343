"""Texts, titles, ids and labels of a corpus that stay in its file until they are used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np

from ..engine.arrays import ascending
from ..engine.mapped import release
from ..errors import InputError

__all__ = ["StoredLabels", "StoredStrings"]

_BLOCK = 1 << 14  # strings that are read together


class StoredStrings(Sequence[str]):
    """A sequence of strings, stored as one array of bytes and the end of each string in it."""

    def __init__(self, raw: np.ndarray, ends: np.ndarray) -> None:
        starts = np.concatenate([[0], ends]).astype(np.int64)
        if not ascending(starts) or starts[-1] != len(raw):
            raise InputError("the ends of strings do not fit their bytes")
        self.raw, self._starts = raw, starts

    @property
    def ends(self) -> np.ndarray:
        """Where each string ends in the bytes."""
        return self._starts[1:]

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[str, ...]: ...
    def __getitem__(self, row: int | slice) -> str | tuple[str, ...]:
        if isinstance(row, slice):
            return tuple(self[number] for number in range(*row.indices(len(self))))
        row = range(len(self))[row]
        return self.raw[self._starts[row] : self._starts[row + 1]].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _BLOCK):
            starts = self._starts[first : first + _BLOCK + 1]
            block = self.raw[starts[0] : starts[-1]]
            raw = block.tobytes()
            release(block)
            places = (starts - starts[0]).tolist()
            for start, end in pairwise(places):
                yield raw[start:end].decode("utf-8", "surrogatepass")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StoredStrings):
            return np.array_equal(self._starts, other._starts) and np.array_equal(self.raw, other.raw)
        if isinstance(other, tuple | list):
            return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self):,} strings in a file>"


class StoredLabels(Sequence[tuple[str, ...]]):
    """The labels of each document, stored as one sequence of all labels and the number of labels per document."""

    def __init__(self, labels: StoredStrings, counts: np.ndarray) -> None:
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._names, self._codes = _coded(labels)
        self._flat = labels

    def flat(self) -> StoredStrings:
        """The labels of all documents, one after the other."""
        return self._flat

    def numbers(self) -> np.ndarray:
        """How many labels each document has."""
        return np.diff(self._starts)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, row: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[tuple[str, ...], ...]: ...
    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            return tuple(self[number] for number in range(*row.indices(len(self))))
        row = range(len(self))[row]
        return tuple(self._names[code] for code in self._codes[self._starts[row] : self._starts[row + 1]])

    def __repr__(self) -> str:
        return f"<labels of {len(self):,} documents>"


def _coded(labels: StoredStrings) -> tuple[list[str], np.ndarray]:
    """The distinct labels, and the index of each label among them: many documents often have the same label."""
    number: dict[str, int] = {}
    codes = np.fromiter((number.setdefault(label, len(number)) for label in labels), np.int32, len(labels))
    return list(number), codes
