"""Metadata columns of documents: numbers, categories and dates, as arrays."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import InputError
from .dates import as_timestamp
from .fields import as_text, is_missing

__all__ = ["as_metadata", "checked_metadata"]

_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|[+-]?\.\d+")  # 007 is a code, not a number
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")
_LARGEST_WHOLE = 2**53


def as_metadata(columns: Mapping[str, Iterable[Any]]) -> dict[str, np.ndarray]:
    """Each column as whole numbers, numbers, dates or text: the first type that fits all its values.

    Numbers and dates may be written as text, as in CSV. A missing value is NaN, NaT or ''.

    >>> columns = as_metadata({"year": ["1999", "2001"], "score": ["1.5", ""], "party": ["left", None]})
    >>> {name: values.tolist() for name, values in columns.items()}
    {'year': [1999, 2001], 'score': [1.5, nan], 'party': ['left', '']}
    """
    return {str(name): _column(str(name), values) for name, values in columns.items()}


def checked_metadata(columns: Mapping[str, np.ndarray], n_documents: int) -> Mapping[str, np.ndarray]:
    """The columns, read-only, or a ValueError if one does not have one value per document."""
    for name, values in columns.items():
        if len(values) != n_documents:
            raise InputError(f"metadata {name!r} has {len(values)} values: expected {n_documents}, one per document")
    return MappingProxyType(dict(columns))


def _column(name: str, raw_values: Iterable[Any]) -> np.ndarray:
    if isinstance(raw_values, np.ndarray) and raw_values.dtype.kind == "M":
        return raw_values.astype("datetime64[s]")
    values = [None if is_missing(value) else value for value in raw_values]
    present = [value for value in values if value is not None]
    if present and all(map(_is_number, present)):
        numbers = [float("nan") if value is None else float(value) for value in values]
        whole = len(present) == len(values) and all(n.is_integer() and abs(n) < _LARGEST_WHOLE for n in numbers)
        return np.array(numbers, dtype=np.int64 if whole else np.float64)
    if present and all(map(_is_date, present)):
        try:
            return np.array([as_timestamp(value) for value in values], dtype="datetime64[s]")
        except ValueError:
            pass  # 1999-99-99 looks like a date but is not: then the column is text
    for value in present:
        if isinstance(value, list | tuple | dict | np.ndarray):
            raise InputError(f"metadata {name!r} contains {value!r:.40}: expected one value per document")
    return np.array(["" if value is None else as_text(value) for value in values], dtype=object)


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None and math.isfinite(float(value))
    if isinstance(value, int) and not -sys.float_info.max <= value <= sys.float_info.max:
        return False  # a number with hundreds of digits is a code
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _is_date(value: Any) -> bool:
    return hasattr(value, "isoformat") or (isinstance(value, str) and _DATE.fullmatch(value.strip()) is not None)
