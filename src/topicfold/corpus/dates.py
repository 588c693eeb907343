"""Dates in common formats, converted to UTC."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import InputError
from .fields import as_text, is_missing

__all__ = ["as_timestamp", "as_timestamps"]

_MISSING = np.datetime64("NaT", "s")
# Month names are English, as in news archives: 26-FEB-1987 15:01:01.79, 26 Feb 1987, February 26, 1987
_FORMATS = (
    "%d-%b-%Y",
    "%d-%b-%Y %H:%M:%S",
    "%d %b %Y",
    "%d %b %Y %H:%M:%S",
    "%d %B %Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M:%S",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S",
)


def as_timestamps(values: Iterable[Any] | None, date_format: str | None = None) -> np.ndarray | None:
    """Dates as an array of datetime64[s], NaT if one is missing; `date_format` is as for `datetime.strptime`."""
    if values is None:
        return None
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return values.astype("datetime64[s]")
    return np.array([as_timestamp(value, date_format) for value in values], dtype="datetime64[s]")


def as_timestamp(value: Any, date_format: str | None = None) -> np.datetime64:
    """A time in UTC from a date, a year, or text in ISO 8601 or one of a few other common formats.

    >>> as_timestamp("26-FEB-1987 15:01:01.79"), as_timestamp(1998)
    (np.datetime64('1987-02-26T15:01:01'), np.datetime64('1998-01-01T00:00:00'))
    """
    if is_missing(value):
        return _MISSING
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[s]")
    text = value.isoformat() if hasattr(value, "isoformat") else as_text(value).strip()
    try:
        moment = _parsed(text) if date_format is None else datetime.strptime(text, date_format)
    except ValueError:
        expected = (
            "a year or a date such as 1998-03-25T10:00:00 or 25-MAR-1998; set date_format for other formats"
            if date_format is None
            else f"a date in the format {date_format!r}"
        )
        raise InputError(f"timestamp {value!r}: expected {expected}") from None
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(moment, "s")


@lru_cache(1 << 12)  # many documents have the same date
def _parsed(text: str) -> datetime:
    if re.fullmatch(r"\d{4}", text):
        return datetime(int(text), 1, 1)
    if re.fullmatch(r"\d{4}-\d{2}", text):
        return datetime(int(text[:4]), int(text[5:]), 1)
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    plain = re.sub(r"(\d:\d{2}:\d{2})\.\d+", r"\1", text)  # fractions of a second are not kept
    for form in _FORMATS:
        try:
            return datetime.strptime(plain, form)
        except ValueError:
            continue
    raise InputError(text)
