"""Checks of values that users pass, with consistent error messages."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError

__all__ = [
    "MAX_PARAMETER",
    "check_choice",
    "check_float_dtype",
    "check_number",
    "check_whole",
    "check_whole_numbers",
    "has_whole_numbers",
    "is_number",
    "is_whole",
]

MAX_PARAMETER = 1e12  # maximum of numeric parameters: squares of larger numbers could overflow in single precision


def check_whole(name: str, value: Any, least: int = 1, *, or_else: str = "") -> int:
    """The value as an int, or a ValueError that names it; `or_else` says what else is accepted.

    >>> check_whole("n_topics", 0)
    Traceback (most recent call last):
    topicfold.errors.InputError: n_topics=0: expected a whole number, at least 1
    """
    if not is_whole(value) or value < least:
        raise InputError(f"{name}={value!r:.60}: expected a whole number, at least {least}{or_else}")
    return int(value)


def check_number(
    name: str, value: Any, least: float = 0.0, most: float = np.inf, *, above: bool = False, or_else: str = ""
) -> float:
    """The value as a float between `least` and `most` (with `above`, larger than `least`), or a ValueError.

    >>> check_number("tol", -1)
    Traceback (most recent call last):
    topicfold.errors.InputError: tol=-1: expected a number, zero or more
    """
    inside = is_number(value) and (least < value if above else least <= value) and value <= min(most, MAX_PARAMETER)
    if not inside:
        low = f"{least:g}" if least else "zero"
        expected = f"from {low} to {most:g}" if most < np.inf else f"above {low}" if above else f"{low} or more"
        comma = "" if expected.startswith(("from", "above")) else ","
        limit = f", at most {MAX_PARAMETER:g}" if is_number(value) and MAX_PARAMETER < value <= most else ""
        raise InputError(f"{name}={value!r:.60}: expected a number{comma} {expected}{limit}{or_else}")
    return float(value)


def check_choice(name: str, value: Any, choices: Collection[str], *, or_else: str = "") -> None:
    """Raise a ValueError unless the value is one of the choices.

    >>> check_choice("init", "best", ("data", "random"))
    Traceback (most recent call last):
    topicfold.errors.InputError: init='best': expected one of data, random
    """
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name}={value!r:.60}: expected one of {', '.join(choices)}{or_else}")


def check_float_dtype(value: Any) -> np.dtype:
    """The dtype, which is single or double precision, or a ValueError.

    >>> check_float_dtype("float32")
    dtype('float32')
    """
    try:
        dtype = np.dtype(value)
    except (TypeError, ValueError):  # numpy raises them for what is no dtype
        dtype = None
    if dtype not in (np.dtype("float32"), np.dtype("float64")):
        raise InputError(f"dtype={value!r:.60}: expected 'float32' or 'float64'")
    return dtype


def is_number(value: Any) -> bool:
    """Whether a value is a real number; True and False do not count."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether a value is an integer; True and False do not count."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def has_whole_numbers(counts: sp.csr_array) -> bool:
    """Whether all values are whole numbers, so that they are counts of tokens."""
    return bool((counts.data == np.floor(counts.data)).all())


def check_whole_numbers(counts: sp.csr_array, purpose: str) -> None:
    """Raise a ValueError if a value is not a whole number: `purpose` needs counts of tokens."""
    if not has_whole_numbers(counts):
        value = counts.data[np.argmax(counts.data != np.floor(counts.data))]
        raise InputError(
            f"{purpose} needs whole counts, but X contains {value:g}: pass counts, not weights like tf-idf"
        )
