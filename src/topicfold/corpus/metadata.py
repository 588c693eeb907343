"""Metadata columns of documents: numbers, categories and dates, as arrays."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from ..engine.warn import warn_user
from ..errors import InputError
from .dates import N_EXAMPLES, FailedValue, failed_values, read_dates
from .fields import as_text, is_missing

__all__ = ["MOSTLY", "MetadataNotes", "as_metadata", "checked_metadata", "may_be_date", "read_metadata"]

MOSTLY = 0.95  # share of the values of a column that are numbers, or dates, so that the others count as missing

_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|[+-]?\.\d+")  # 007 is a code, not a number
_FOUR_DIGIT_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")  # without it, 1.2.03 is more likely a number of a version
_LARGEST_WHOLE = 2**53


class MetadataNotes(NamedTuple):
    """A metadata column in which some values are not of its kind, and are missing."""

    kind: Literal["numbers", "dates"]
    n_read: int
    n_failed: int
    examples: tuple[FailedValue, ...]  # the first that failed

    def summary(self) -> str:
        """What the user should know, in one line."""
        return failed_values(self.n_failed, self.n_read + self.n_failed, f"values are not {self.kind}", self.examples)


def as_metadata(columns: Mapping[str, Iterable[Any]]) -> dict[str, np.ndarray]:
    """Each column as numbers, dates or text, with a warning about values that are missing; see `read_metadata`."""
    arrays, notes = read_metadata(columns)
    for name, note in notes.items():
        warn_user(f"metadata {name!r}: {note.summary()}")
    return arrays


def read_metadata(columns: Mapping[str, Iterable[Any]]) -> tuple[dict[str, np.ndarray], dict[str, MetadataNotes]]:
    """Each column as whole numbers, numbers, dates or text: the first type that fits at least 95 % of its values.

    Numbers and dates may be written as text, as in CSV. A missing value is NaN, NaT or '', and so is a value such as
    'n/a' among numbers or dates: the second value has notes on these. A value with a digit that is not a number, such
    as 007 or 12a, says that the column has codes, and they stay text.

    >>> columns, _ = read_metadata({"year": ["1999", "2001"], "score": ["1.5", ""], "party": ["left", None]})
    >>> {name: values.tolist() for name, values in columns.items()}
    {'year': [1999, 2001], 'score': [1.5, nan], 'party': ['left', '']}
    """
    arrays, notes = {}, {}
    for name, values in columns.items():
        arrays[str(name)], note = _column(str(name), values)
        if note is not None and note.n_failed:
            notes[str(name)] = note
    return arrays, notes


def checked_metadata(columns: Mapping[str, np.ndarray], n_documents: int) -> Mapping[str, np.ndarray]:
    """The columns, read-only, or a ValueError if one does not have one value per document."""
    for name, values in columns.items():
        if len(values) != n_documents:
            raise InputError(f"metadata {name!r} has {len(values)} values: expected {n_documents}, one per document")
    return MappingProxyType(dict(columns))


def _column(name: str, raw_values: Iterable[Any]) -> tuple[np.ndarray, MetadataNotes | None]:
    if isinstance(raw_values, np.ndarray) and raw_values.dtype.kind == "M":
        return raw_values.astype("datetime64[s]"), None
    values = [None if is_missing(value) else value for value in raw_values]
    present = [value for value in values if value is not None]
    for value in present:
        if isinstance(value, list | tuple | dict | np.ndarray):
            raise InputError(f"metadata {name!r} contains {value!r:.40}: expected one value per document")
    others = [value for value in present if not _is_number(value)]
    if len(present) - len(others) >= MOSTLY * len(present) > 0 and not any(map(_has_digit, others)):
        return _numbers(values)
    if present and sum(map(may_be_date, present)) >= MOSTLY * len(present):
        dates, read = read_dates(values)
        if read.n_read >= MOSTLY * len(present):
            return dates, MetadataNotes("dates", read.n_read, read.n_failed, read.examples)
    return np.array(["" if value is None else as_text(value) for value in values], dtype=object), None


def _numbers(values: list[Any]) -> tuple[np.ndarray, MetadataNotes]:
    numbers = [float(value) if value is not None and _is_number(value) else float("nan") for value in values]
    failed = [row for row, value in enumerate(values) if value is not None and math.isnan(numbers[row])]
    examples = tuple(FailedValue(row + 1, as_text(values[row])) for row in failed[:N_EXAMPLES])
    n_read = len(values) - sum(map(math.isnan, numbers))
    whole = n_read == len(values) and all(n.is_integer() and abs(n) < _LARGEST_WHOLE for n in numbers)
    return np.array(numbers, dtype=np.int64 if whole else np.float64), MetadataNotes(
        "numbers", n_read, len(failed), examples
    )


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None and math.isfinite(float(value))
    if isinstance(value, int) and not -sys.float_info.max <= value <= sys.float_info.max:
        return False  # a number with hundreds of digits is a code
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _has_digit(value: Any) -> bool:
    return any(character.isdigit() for character in as_text(value))


def may_be_date(value: Any) -> bool:
    """Whether a value is a date, or text with a year of four digits in it."""
    return hasattr(value, "isoformat") or (isinstance(value, str) and _FOUR_DIGIT_YEAR.search(value) is not None)
