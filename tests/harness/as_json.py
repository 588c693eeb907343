"""Arrays, sparse matrices, data frames and lists as JSON, whatever state they are in, and back.

A case that fails is kept as JSON. So nothing here relies on the parts of a matrix fitting each other.
"""

from __future__ import annotations

import datetime
from base64 import b64decode, b64encode
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["from_json", "to_json"]

_PARTS = {"coo": ("row", "col", "data"), "lil": ("rows", "data"), "dia": ("offsets", "data")}
_FLAGS = ("has_sorted_indices", "has_canonical_format")


def to_json(value: Any) -> Any:
    """The value as JSON: what JSON knows as it is, anything else as an object with `is`."""
    if isinstance(value, np.generic):
        return {"is": "scalar", "of": _array(np.array([value]))}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if sp.issparse(value):  # a matrix in DOK format is a dict, too
        return _sparse(value)
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if isinstance(value, tuple):
        return {"is": "tuple", "items": [to_json(item) for item in value]}
    if isinstance(value, dict):
        return {"is": "dict", "items": [[to_json(key), to_json(item)] for key, item in value.items()]}
    if isinstance(value, complex):
        return {"is": "complex", "parts": [value.real, value.imag]}
    if isinstance(value, datetime.date):
        return {"is": "datetime" if isinstance(value, datetime.datetime) else "date", "text": value.isoformat()}
    if isinstance(value, np.ndarray):
        return _array(value)
    if type(value).__name__ == "DataFrame":
        return {"is": "frame", "columns": [[to_json(name), *_column(value.iloc[:, i])] for i, name in enumerate(value)]}
    raise TypeError(f"no JSON for {type(value).__name__}")


def _column(values: Any) -> tuple[str, Any]:
    """The type of a column of pandas and its values."""
    items = values.to_numpy() if isinstance(values.dtype, np.dtype) else values.tolist()
    return str(values.dtype), to_json(items)


def _array(value: np.ndarray) -> dict[str, Any]:
    about: dict[str, Any] = {"is": "matrix" if isinstance(value, np.matrix) else "array", "shape": list(value.shape)}
    if value.dtype == object:
        return {**about, "items": [to_json(item) for item in np.asarray(value).ravel().tolist()]}
    order = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "strided"
    if isinstance(value, np.memmap):
        order = "mapped"
    content = b64encode(np.ascontiguousarray(value).tobytes()).decode()
    return {**about, "dtype": value.dtype.str, "order": order, "bytes": content}


def _sparse(value: Any) -> dict[str, Any]:
    about = {"is": "sparse", "class": type(value).__name__, "shape": list(value.shape), "dtype": value.dtype.str}
    if value.format == "dok":
        return {**about, "items": [to_json([*key, item]) for key, item in value._dict.items()]}
    parts = _PARTS.get(value.format, ("indptr", "indices", "data"))
    # scipy computes these two when it is asked, which compiled code does with arrays that do not fit
    flags = {name: vars(value)[f"_{name}"] for name in _FLAGS if f"_{name}" in vars(value)}
    return {**about, "parts": {name: to_json(getattr(value, name)) for name in parts}, "flags": flags}


def from_json(value: Any) -> Any:
    """The value that `to_json` has described."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    return _MAKERS[value["is"]](value)


def _made_array(about: dict[str, Any]) -> np.ndarray:
    shape = tuple(about["shape"])
    if "items" in about:
        result = np.empty(shape, object)
        for place, item in enumerate(about["items"]):  # one by one: numpy would look into lists
            result.flat[place] = from_json(item)
        return np.asmatrix(result) if about["is"] == "matrix" else result
    dtype, order, content = np.dtype(about["dtype"]), about["order"], b64decode(about["bytes"])
    array = np.frombuffer(content, dtype).reshape(shape).copy()
    if order == "mapped" and array.size:
        import tempfile

        with tempfile.TemporaryFile() as file:
            file.write(content)
            file.flush()
            return np.memmap(file, dtype, "r", shape=shape)
    if order == "strided" and array.ndim == 2:
        return np.repeat(array[::-1], 2, axis=1)[::-1, ::2]
    array = np.asfortranarray(array) if order == "F" else array
    return np.asmatrix(array) if about["is"] == "matrix" else array


def _made_sparse(about: dict[str, Any]) -> Any:
    kind = getattr(sp, about["class"])
    if "items" in about:
        matrix = kind(tuple(about["shape"]), dtype=np.dtype(about["dtype"]))
        matrix._dict.update({(row, column): item for row, column, item in from_json(about["items"])})
        return matrix
    parts = {name: from_json(part) for name, part in about["parts"].items()}
    shape = tuple(about["shape"])
    blocks = {"blocksize": parts["data"].shape[1:]} if about["class"].startswith("bsr") else {}
    matrix = kind(shape, dtype=np.dtype(about["dtype"]), **blocks)
    if about["class"].startswith("coo"):
        matrix.coords, matrix.data = (parts["row"], parts["col"]), parts["data"]
    else:
        for name, part in parts.items():
            setattr(matrix, name, part)
    for name, flag in about["flags"].items():
        setattr(matrix, name, flag)
    return matrix


def _made_frame(about: dict[str, Any]) -> Any:
    import pandas as pd

    columns = [pd.Series(from_json(items), dtype=dtype) for _, dtype, items in about["columns"]]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame()
    frame.columns = [from_json(name) for name, _, _ in about["columns"]]
    return frame


_MAKERS = {
    "tuple": lambda about: tuple(from_json(about["items"])),
    "dict": lambda about: {from_json(key): from_json(item) for key, item in about["items"]},
    "complex": lambda about: complex(*about["parts"]),
    "date": lambda about: datetime.date.fromisoformat(about["text"]),
    "datetime": lambda about: datetime.datetime.fromisoformat(about["text"]),
    "scalar": lambda about: from_json(about["of"])[0],
    "array": _made_array,
    "matrix": _made_array,
    "sparse": _made_sparse,
    "frame": _made_frame,
}
