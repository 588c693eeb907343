"""Matrices that no sensible program makes, of sensible size."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["crafted_matrix", "crafted_vectors", "described"]

_ROWS, _COLUMNS = (1, 2, 3, 5, 9, 20), (1, 2, 3, 6, 12)
_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
          "longdouble", "bool", "complex128", "object", "U8", "datetime64[s]", ">f8", ">i4")  # fmt: skip
_VALUES = (np.nan, np.inf, -np.inf, -1, -1e-9, 0.5, 5e-324, 1e-310, 1e-45, 1e-9, 1e12, 1e13, 1e30, 1e38, 1e300, 2.0**31,
           2.0**53, 2.0**63, 200, 70000, 3e9)  # fmt: skip
_FORMS = ("dense", "fortran", "strided", "mapped", "list", "matrix", "csr", "csr", "csr", "csc", "csc", "coo", "coo",
          "bsr", "lil", "dok", "dia", "1-d", "3-d", "frame")  # fmt: skip

_PARTS = {"coo": ("row", "col", "data"), "lil": ("rows", "data"), "dia": ("offsets", "data"), "dok": ("_dict",)}


def crafted_matrix(rng: random.Random, shape: tuple[int, int] | None = None) -> Any:
    """Counts with strange values, of a strange type, in a strange form; now and then, each alone or all at once."""
    n_rows, n_columns = shape or (rng.choice(_ROWS), rng.choice(_COLUMNS))
    seeded = np.random.default_rng(rng.randrange(2**32))
    counts = seeded.poisson(rng.choice((0.1, 0.8, 3)), (n_rows, n_columns)).astype(np.float64)
    if rng.random() < 0.3 and counts.size:
        _empty_some(counts, rng)
    if rng.random() < 0.4 and counts.size:
        places = seeded.integers(counts.size, size=rng.choice((1, 1, 3, counts.size)))
        counts.flat[places] = rng.choice(_VALUES)
    kind = rng.choice(_TYPES) if rng.random() < 0.4 else rng.choice(("int64", "int32", "float64", "float32"))
    with np.errstate(all="ignore"):
        try:
            values = counts.astype(kind)
        except (TypeError, ValueError):
            values = counts
    return _in_form(values, rng.choice(_FORMS), rng)


def _empty_some(counts: np.ndarray, rng: random.Random) -> None:
    how = rng.randrange(4)
    if how == 0:
        counts[rng.randrange(len(counts))] = 0
    elif how == 1:
        counts[:, rng.randrange(counts.shape[1])] = 0
    elif how == 2:
        counts[:] = 0
    else:
        counts[1:] = 0


def _in_form(values: np.ndarray, form: str, rng: random.Random) -> Any:
    plain: dict[str, Callable[[], Any]] = {
        "dense": lambda: values,
        "fortran": lambda: np.asfortranarray(values),
        "strided": lambda: np.repeat(values, 2, axis=1)[::-1, ::2],
        "mapped": lambda: _mapped(values),
        "list": values.tolist,
        "matrix": lambda: np.asmatrix(values),
        "1-d": values.ravel,
        "3-d": lambda: values[None],
        "frame": lambda: _frame(values),
    }
    if form in plain:
        return plain[form]()
    old = rng.random() < 0.3
    try:
        coo = sp.coo_matrix(values) if old else sp.coo_array(values)
        matrix = coo.asformat(form)
    except (TypeError, ValueError):  # a type that scipy has no matrix of
        return values
    return _hurt(matrix, rng) if rng.random() < 0.6 else matrix


def _mapped(values: np.ndarray) -> np.ndarray:
    if values.dtype == object or not values.size:
        return values
    with tempfile.TemporaryFile() as file:
        file.write(np.ascontiguousarray(values).tobytes())
        file.flush()
        return np.memmap(file, values.dtype, "r", shape=values.shape)


def _frame(values: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(values, columns=[f"w{column}" for column in range(values.shape[1])])


def _hurt(matrix: Any, rng: random.Random) -> Any:
    """Arrays of a sparse matrix put out of order, or replaced by ones that do not fit."""
    if matrix.format in ("csr", "csc", "bsr"):
        change = rng.choice((_reversed, _doubled, _with_zeros, _bad_part, _bad_part, _bad_part, _another_index_type))
        return change(matrix, rng)
    if matrix.format == "coo":
        name = rng.choice(("row", "col", "data"))
        _set(matrix, name, _bad_array(getattr(matrix, name), rng))
    elif matrix.format == "lil" and matrix.shape[0]:
        place = rng.randrange(matrix.shape[0])
        matrix.rows[place] = rng.choice(([], [0], [99], [-1], [0, 0], ["x"]))
    elif matrix.format == "dia" and len(matrix.offsets):
        matrix.offsets = _bad_array(matrix.offsets, rng)
    elif matrix.format == "dok":
        matrix._dict[rng.choice(((99, 0), (-1, 0), (0, 0)))] = rng.choice((1, np.nan, -1))
    return matrix


def _set(matrix: Any, name: str, value: np.ndarray) -> None:
    if name == "data" or matrix.format != "coo":
        setattr(matrix, name, value)
    else:
        matrix.coords = (value, matrix.col) if name == "row" else (matrix.row, value)


def _reversed(matrix: Any, rng: random.Random) -> Any:
    for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:]):
        matrix.indices[start:end] = matrix.indices[start:end][::-1].copy()
        matrix.data[start:end] = matrix.data[start:end][::-1].copy()
    if rng.random() < 0.5:
        matrix.has_sorted_indices = False
        matrix.has_canonical_format = False
    return matrix


def _doubled(matrix: Any, rng: random.Random) -> Any:
    data, indices = np.repeat(matrix.data, 2, axis=0), np.repeat(matrix.indices, 2)
    return type(matrix)((data, indices, matrix.indptr * 2), matrix.shape)


def _with_zeros(matrix: Any, rng: random.Random) -> Any:
    if len(matrix.data):
        matrix.data[rng.randrange(len(matrix.data))] = 0
    return matrix


def _bad_part(matrix: Any, rng: random.Random) -> Any:
    name = rng.choice(("indptr", "indptr", "indices", "indices", "data"))
    setattr(matrix, name, _bad_array(getattr(matrix, name), rng))
    return matrix


def _another_index_type(matrix: Any, rng: random.Random) -> Any:
    kind = rng.choice(("int64", "uint64", "uint32", "int8", "float64", "bool"))
    matrix.indices = matrix.indices.astype(kind)
    if rng.random() < 0.5:
        matrix.indptr = matrix.indptr.astype(kind)
    return matrix


def _bad_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    wrong = array.copy()
    how = rng.randrange(6)
    if how < 3 and wrong.size:
        value = rng.choice((-1, 99, 0, 127, 2**31 - 1 if wrong.dtype.itemsize > 2 else 1))
        with np.errstate(all="ignore"):
            wrong.flat[rng.randrange(wrong.size)] = np.array(value).astype(wrong.dtype)  # -1 may be a large number
        return wrong
    if how == 3:
        return wrong[:-1]
    if how == 4:
        return wrong[::-1].copy()
    return np.concatenate([wrong, wrong[-1:]])


def crafted_vectors(rng: random.Random, n_rows: int) -> Any:
    """Embeddings, most of them for so many documents."""
    rows = n_rows if rng.random() < 0.9 else rng.choice(_ROWS)
    vectors = np.random.default_rng(rng.randrange(2**32)).normal(size=(rows, rng.choice((0, 1, 2, 4, 40))))
    if rng.random() < 0.6 and vectors.size:
        size = rng.choice((1, 3, vectors.size))
        vectors.flat[np.random.default_rng(rng.randrange(2**32)).integers(vectors.size, size=size)] = rng.choice(
            (np.nan, np.inf, 0.0, 1e14, 1e16, 1e38, 1e300, 1e-40, 5e-324)
        )
    if rng.random() < 0.2:
        vectors[:] = rng.choice((0.0, 1.0, 1e-30))
    kind = rng.choice(("float64", "float64", "float32", "float16", "int8", "object", "complex128"))
    with np.errstate(all="ignore"):
        try:
            changed = vectors.astype(kind)
        except (TypeError, ValueError):
            changed = vectors
    return rng.choice((changed, changed, changed, changed.tolist(), sp.csr_array(vectors), np.asfortranarray(changed)))


def described(value: Any) -> str:
    """A value in one line, as far as it is needed to make it again."""
    if sp.issparse(value):
        names = _PARTS.get(value.format, ("indptr", "indices", "data"))
        parts = [f"{name}={_short(getattr(value, name))}" for name in names]
        return f"{type(value).__name__} {value.shape} {value.dtype} {' '.join(parts)}"
    return f"{type(value).__name__} {_short(value)}"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape} {value.tolist()}"[:400]
    return " ".join(repr(value).split())[:400]
