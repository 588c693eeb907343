"""Checks of the contents of files: each model declares its learned values once, and one function checks them.

Learned arrays are passed to compiled kernels, which follow an index wherever it points. So the values of a file are not
used before their types, shapes and ranges have been checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from .arrays import checked_sparse
from .checks import is_number, is_whole

__all__ = ["MAX_PROBABILITY", "SPARSE_TYPES", "Stored", "check_stored", "distributions", "number_array"]

Kind: TypeAlias = Literal["float", "int", "bool", "string", "strings", "labels", "sparse", "rows", "mapping", "object"]
Bound: TypeAlias = float | str | None  # a number, or the name of a size: then values must be below that size

MAX_PROBABILITY = 1.001  # maximum of values that sum to one, with a tolerance for rounding
SPARSE_TYPES = tuple(np.dtype(name) for name in ("float32", "float64", "int32", "int64"))  # of values that we write
_ROUNDING = 0.01  # of a sum of probabilities
_LARGEST = 2**63  # whole numbers in JSON have no limit, those in arrays have
_DTYPE_KINDS = {"float": "f", "rows": "f", "int": "iu"}
_NUMBERS = {"float": "real numbers", "rows": "real numbers", "int": "whole numbers"}


@dataclass(frozen=True)
class Stored:
    """Declaration of a learned value: an array if it has a shape of named sizes or numbers, otherwise a single value.

    "rows" means an array or a sparse matrix. `low` and `high` bound the values; a `high` that is the name of a size is
    exclusive, for indices into something of that size. Real numbers must be finite unless `allow_nan` is set. An
    `optional` value may be None; one that `may_be_missing` need not be there at all. If `dtype` is set, no other dtype
    is accepted. Rows that are distributions `sum_to_one`, or to zero.
    """

    shape: tuple[str | int, ...] | None = None
    kind: Kind = "float"
    low: float | None = None
    high: Bound = None
    optional: bool = False
    may_be_missing: bool = False
    allow_nan: bool = False
    dtype: str | None = None
    sum_to_one: bool = False


def distributions(*shape: str) -> Stored:
    """The declaration of an array whose rows are distributions."""
    return Stored(shape, low=0, high=MAX_PROBABILITY, sum_to_one=True)


def check_stored(
    values: Mapping[str, Any], declared: Mapping[str, Stored], known_sizes: Mapping[str, int] | None = None
) -> None:
    """Raise an InputError that names the first value that is missing, unknown, or not as declared.

    A size is defined by the first array that has it, in the order of the declarations, unless it is in `known_sizes`.
    """
    for name in values:
        if name not in declared:
            raise InputError(f"it contains {name!r:.60}, which is unknown")
    for name, stored in declared.items():
        if name not in values and not stored.may_be_missing:
            raise InputError(f"it has no {name}")
    sizes = dict(known_sizes or {})
    for name, stored in declared.items():
        if name not in values:
            continue
        value = values[name]
        if value is None:
            if not stored.optional:
                raise InputError(f"its {name} is empty")
            continue
        problem = _problem(value, stored, sizes)
        if problem:
            raise InputError(f"its {name} {problem}")


def number_array(name: str, numbers: list[Any]) -> np.ndarray:
    """Numbers from the JSON of a file as an array, or an InputError."""
    try:
        return np.asarray(numbers, np.float64)
    except (TypeError, ValueError, OverflowError):  # not numbers, lists of different lengths, or too large
        raise InputError(f"its {name} is not an array of real numbers") from None


def _problem(value: Any, stored: Stored, sizes: dict[str, int]) -> str:
    """What is wrong with a value, or an empty string."""
    if stored.kind == "object":  # an object of a class with `to_json`
        return "" if hasattr(value, "to_json") else f"is {value!r:.40}: expected an object"
    if stored.kind == "mapping":
        return "" if isinstance(value, Mapping) else f"is {value!r:.40}: expected a mapping"
    if stored.kind == "sparse" or (stored.kind == "rows" and sp.issparse(value)):
        if not sp.issparse(value):
            return "is not a sparse matrix"
        if value.dtype not in SPARSE_TYPES:
            return f"is of type {value.dtype}: expected float32, float64, int32 or int64"
        return _wrong_shape(checked_sparse(value).shape, stored, sizes) or _out_of_range(value.data, stored, sizes)
    if stored.kind in ("strings", "labels"):
        values = list(value) if isinstance(value, tuple | np.ndarray) else None
        if values is None or (stored.kind == "strings" and not all(isinstance(item, str) for item in values)):
            return "is not a list of strings"
        return _wrong_shape((len(values),), stored, sizes)
    if stored.shape is None:
        return _wrong_single(value, stored, sizes)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in _DTYPE_KINDS[stored.kind]:
        return f"is not an array of {_NUMBERS[stored.kind]}"
    if value.dtype == np.float16 or (stored.dtype is not None and value.dtype != stored.dtype):
        return f"is of type {value.dtype}: expected {stored.dtype or 'float32 or float64'}"
    if value.dtype.kind == "u" and stored.dtype is None:  # differences wrap, and kernels turn uint64 into a float
        return f"is of type {value.dtype}: expected signed numbers"
    return _wrong_shape(value.shape, stored, sizes) or _out_of_range(value, stored, sizes) or _wrong_sums(value, stored)


def _wrong_single(value: Any, stored: Stored, sizes: dict[str, int]) -> str:
    if stored.kind == "bool":
        return "" if isinstance(value, bool) else f"is {value!r:.40}: expected true or false"
    if stored.kind == "string":
        return "" if isinstance(value, str) else f"is {value!r:.40}: expected a string"
    whole = is_whole(value) or (is_number(value) and float(value).is_integer())
    if not (whole if stored.kind == "int" else is_number(value)) or (whole and abs(value) >= _LARGEST):
        return f"is {value!r:.40}: expected a {_NUMBERS[stored.kind].removesuffix('s')}"
    return _out_of_range(np.asarray(value, np.float64), stored, sizes)


def _wrong_shape(shape: tuple[int, ...], stored: Stored, sizes: dict[str, int]) -> str:
    assert stored.shape is not None
    expected = tuple(sizes.get(size, -1) if isinstance(size, str) else size for size in stored.shape)
    actual = dict(zip(stored.shape, shape))  # a name that occurs twice has one size
    fits = len(shape) == len(expected) and all(e in (-1, s) for s, e in zip(shape, expected))
    if not fits or any(actual[name] != size for name, size in zip(stored.shape, shape)):
        expected_text = " x ".join(str(size) if e == -1 else f"{e} ({size})" for size, e in zip(stored.shape, expected))
        return f"has shape {shape}: expected {expected_text}"
    sizes.update({name: size for name, size in actual.items() if isinstance(name, str)})
    return ""


def _out_of_range(values: np.ndarray, stored: Stored, sizes: dict[str, int]) -> str:
    if not values.size:
        return ""
    if values.dtype.kind == "f":
        if stored.allow_nan:
            values = values[~np.isnan(values)]
        if not np.isfinite(values).all():
            return "contains NaN or infinity"
        if not values.size:
            return ""
    least, most = values.min(), values.max()
    if stored.low is not None and least < stored.low:
        return f"contains {least:g}: expected at least {stored.low:g}"
    if isinstance(stored.high, str):
        if stored.high not in sizes:
            return f"counts {stored.high}, which are missing"
        if most >= sizes[stored.high]:
            return f"contains {most:g}: expected less than {sizes[stored.high]} ({stored.high})"
    elif stored.high is not None and most > stored.high:
        return f"contains {most:g}: expected at most {stored.high:g}"
    return ""


def _wrong_sums(values: np.ndarray, stored: Stored) -> str:
    if not stored.sum_to_one or not values.size:
        return ""
    sums = values.sum(axis=-1, dtype=np.float64)
    wrong = sums[(np.abs(sums - 1) > _ROUNDING) & (sums != 0)]
    return f"has probabilities that sum to {wrong[0]:g}: expected 1" if len(wrong) else ""
