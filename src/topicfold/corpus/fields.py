"""What is known of documents beside their words, checked: ids, titles, labels, links, timestamps."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["is_missing"]


def _check_unique(what: str, values: Sequence[str]) -> None:
    if len(set(values)) < len(values):
        seen: set[str] = set()
        for value in values:
            if value in seen:
                raise ValueError(f"the {what} {value!r} occurs more than once: expected each {what} once")
            seen.add(value)


def _checked_text(text: Any, number: int) -> str | Sequence[str]:
    if is_missing(text):
        return ""
    if isinstance(text, str) or (isinstance(text, list | tuple) and all(isinstance(part, str) for part in text)):
        return text
    raise ValueError(f"text {number} is {text!r:.40}: expected a string, or a list of strings")


def _as_text(value: Any) -> str:
    """A cell as text: a whole number that a gap in its column has turned to 2.0 is '2'."""
    return str(int(value)) if isinstance(value, float | np.floating) and float(value).is_integer() else str(value)


def _as_ids(ids: Iterable[Any] | None) -> tuple[str, ...]:
    def one(number: int, value: Any) -> str:
        if is_missing(value):
            raise ValueError(f"document {number} has no id: expected one a document, or none at all")
        return _as_text(value)

    return () if ids is None else tuple(one(number, value) for number, value in enumerate(ids))


def _as_titles(titles: Iterable[Any] | None) -> tuple[str, ...] | None:
    return None if titles is None else tuple("" if is_missing(title) else str(title) for title in titles)


def _as_labels(labels: Iterable[Any] | None) -> tuple[tuple[str, ...], ...] | None:
    if labels is None:
        return None
    shared: dict[str, str] = {}  # one string object a distinct label, however many documents carry it

    def one(value: Any) -> tuple[str, ...]:
        if is_missing(value):
            return ()
        if isinstance(value, Iterable) and not isinstance(value, str):
            return tuple(shared.setdefault(_as_text(item), _as_text(item)) for item in value if not is_missing(item))
        return (shared.setdefault(_as_text(value), _as_text(value)),)

    return tuple(one(value) for value in labels)


def is_missing(value: Any) -> bool:
    """None, an empty string, or what a data frame puts where there is nothing (NaN, NaT, NA)."""
    if value is None or isinstance(value, str):
        return not value
    if isinstance(value, list | tuple | np.ndarray):
        return False
    try:
        return bool(value != value)  # NaN and NaT are not themselves
    except TypeError:  # pandas.NA is neither
        return True


def _as_links(links: Iterable[tuple[Any, Any]] | None, ids: Sequence[str]) -> np.ndarray | None:
    if links is None:
        return None
    row = {name: index for index, name in enumerate(ids)}
    pairs, outside = [], 0
    for source, target in links:
        ends = (row.get(_as_text(source), -1), row.get(_as_text(target), -1))
        if min(ends) >= 0:
            pairs.append(ends)
        else:
            outside += 1
    if outside:
        warnings.warn(f"{outside:,} links lead to ids that are not in the corpus and are left out", stacklevel=3)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _as_timestamps(timestamps: Iterable[Any] | None) -> np.ndarray | None:
    if timestamps is None:
        return None
    if isinstance(timestamps, np.ndarray) and timestamps.dtype.kind == "M":
        return timestamps.astype("datetime64[s]")

    return np.array([_as_timestamp(value) for value in timestamps], dtype="datetime64[s]")


def _as_timestamp(value: Any) -> np.datetime64:
    """A moment in UTC from a date, a year, or text in ISO 8601."""
    if is_missing(value):
        return np.datetime64("NaT", "s")
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[s]")
    text = value.isoformat() if hasattr(value, "isoformat") else _as_text(value).strip()
    try:
        if re.fullmatch(r"\d{4}(-\d{2})?", text):  # a year, or a month of it
            return np.datetime64(text, "s")
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"timestamp {value!r}: expected a year, or a date such as 1998-03-25T10:00:00") from None
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(moment, "s")


def _checked_counts(counts: Any) -> sp.csr_array:
    if not sp.issparse(counts):
        counts = np.asarray(counts)
        if counts.dtype.kind not in "biuf":
            raise ValueError(f"counts of type {counts.dtype}: expected numbers")
    matrix = sp.csr_array(counts)
    if matrix.ndim != 2 or matrix.shape[0] == 0 or matrix.shape[1] == 0:
        raise ValueError(f"counts of shape {matrix.shape}: expected documents x words, at least one of each")
    matrix.check_format(full_check=True)
    matrix = matrix.astype(np.int64) if matrix.dtype.kind in "biu" else matrix.astype(np.float64)
    matrix.sum_duplicates()
    values = matrix.data
    bad = ~np.isfinite(values) | (values < 0) | (values != np.floor(values))
    if bad.any():
        at = int(np.argmax(bad))
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise ValueError(
            f"counts[{row}, {int(matrix.indices[at])}] is {values[at]:g}: expected whole numbers, zero or more"
        )
    if values.size and values.max() > np.iinfo(np.int32).max:
        raise ValueError(f"a count of {values.max():g} is too large: expected less than 2**31")
    matrix = matrix.astype(np.int32)
    matrix.eliminate_zeros()
    return matrix
