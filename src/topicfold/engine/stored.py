"""What a file of ours may hold: each model declares its learned values once, and one checker reads the declaration.

Learned arrays go to compiled kernels, which follow an index wherever it points. What a file says is therefore not
believed before its type, its shape and its range have been looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from .arrays import checked_sparse
from .checks import is_number

__all__ = ["SUM", "Stored", "check_stored"]

Kind: TypeAlias = Literal[
    "real", "whole", "yes or no", "text", "texts", "labels", "sparse", "rows", "mapping", "object"
]
Bound: TypeAlias = float | str | None  # a number, or the name of a size, which the values stay below

SUM = 1.001  # the most of a share of one, rounding allowed for
_KINDS = {"real": "f", "rows": "f", "whole": "iu"}


@dataclass(frozen=True)
class Stored:
    """A learned value: an array where there is a shape of named sizes or numbers, else a single value.

    "rows" are an array or a sparse matrix. `low` and `high` bound the values; a `high` that names a size is exclusive,
    for indices into something of that size. Real numbers are finite unless `gaps` are allowed. An `optional` value may
    be None; one that is `new` may be missing altogether, in files of older versions. A `dtype` is the only one taken.
    """

    shape: tuple[str | int, ...] | None = None
    kind: Kind = "real"
    low: float | None = None
    high: Bound = None
    optional: bool = False
    new: bool = False
    gaps: bool = False
    dtype: str | None = None


def check_stored(
    values: Mapping[str, Any], declared: Mapping[str, Stored], known: Mapping[str, int] | None = None
) -> None:
    """Raise a ValueError that names the first value which is missing, unknown, or not as declared.

    A size is that of the first array that has it, in the order of the declarations, unless it is `known` beforehand.
    """
    for name in values:
        if name not in declared:
            raise ValueError(f"it holds {name!r:.60}, which is not known here")
    for name, stored in declared.items():
        if name not in values and not stored.new:
            raise ValueError(f"it has no {name}")
    sizes = dict(known or {})
    for name, stored in declared.items():
        if name not in values:
            continue
        value = values[name]
        if value is None:
            if not stored.optional:
                raise ValueError(f"its {name} is empty")
            continue
        problem = _problem(value, stored, sizes)
        if problem:
            raise ValueError(f"its {name} {problem}")


def _problem(value: Any, stored: Stored, sizes: dict[str, int]) -> str:
    """What is wrong with a value, or nothing."""
    if stored.kind == "object":  # of a class with a form of its own in JSON
        return "" if hasattr(value, "to_json") else f"is {value!r:.40}: expected an object"
    if stored.kind == "mapping":
        return "" if isinstance(value, Mapping) else f"is {value!r:.40}: expected a mapping"
    if stored.kind == "sparse" or (stored.kind == "rows" and sp.issparse(value)):
        if not sp.issparse(value):
            return "is not a sparse matrix"
        return _wrong_shape(checked_sparse(value).shape, stored, sizes) or _out_of_range(value.data, stored, sizes)
    if stored.kind in ("texts", "labels"):
        values = list(value) if isinstance(value, tuple | np.ndarray) else None
        if values is None or (stored.kind == "texts" and not all(isinstance(item, str) for item in values)):
            return "is not a row of texts"
        return _wrong_shape((len(values),), stored, sizes)
    if stored.shape is None:
        return _wrong_single(value, stored, sizes)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in _KINDS[stored.kind]:
        return f"is not an array of {stored.kind} numbers"
    if value.dtype == np.float16 or (stored.dtype is not None and value.dtype != stored.dtype):
        return f"is of type {value.dtype}: expected {stored.dtype or 'float32 or float64'}"
    return _wrong_shape(value.shape, stored, sizes) or _out_of_range(value, stored, sizes)


def _wrong_single(value: Any, stored: Stored, sizes: dict[str, int]) -> str:
    if stored.kind == "yes or no":
        return "" if isinstance(value, bool) else f"is {value!r:.40}: expected true or false"
    if stored.kind == "text":
        return "" if isinstance(value, str) else f"is {value!r:.40}: expected a text"
    if not is_number(value) or (stored.kind == "whole" and int(value) != value):
        return f"is {value!r:.40}: expected a {stored.kind} number"
    return _out_of_range(np.asarray(value, np.float64), stored, sizes)


def _wrong_shape(shape: tuple[int, ...], stored: Stored, sizes: dict[str, int]) -> str:
    assert stored.shape is not None
    expected = tuple(sizes.get(size, -1) if isinstance(size, str) else size for size in stored.shape)
    found = dict(zip(stored.shape, shape))  # a name that comes twice has one size
    fits = len(shape) == len(expected) and all(e in (-1, s) for s, e in zip(shape, expected))
    if not fits or any(found[name] != size for name, size in zip(stored.shape, shape)):
        wanted = " x ".join(str(size) if e == -1 else f"{e} ({size})" for size, e in zip(stored.shape, expected))
        return f"has shape {shape}: expected {wanted}"
    sizes.update({name: size for name, size in found.items() if isinstance(name, str)})
    return ""


def _out_of_range(values: np.ndarray, stored: Stored, sizes: dict[str, int]) -> str:
    if not values.size:
        return ""
    if values.dtype.kind == "f":
        if stored.gaps:
            values = values[~np.isnan(values)]
        if not np.isfinite(values).all():
            return "holds what is not a number"
        if not values.size:
            return ""
    least, most = values.min(), values.max()
    if stored.low is not None and least < stored.low:
        return f"holds {least:g}: expected at least {stored.low:g}"
    if isinstance(stored.high, str):
        if most >= sizes[stored.high]:
            return f"holds {most:g}: expected less than {sizes[stored.high]} ({stored.high})"
    elif stored.high is not None and most > stored.high:
        return f"holds {most:g}: expected at most {stored.high:g}"
    return ""
