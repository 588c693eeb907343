"""Matrices in .npy files, whose header is checked before memory is asked for."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError

import numpy as np

from ..errors import FileError

__all__ = ["read_npy"]

# numpy evaluates the header as a literal of Python
_BAD_HEADER = (ValueError, KeyError, SyntaxError, TokenError, TypeError, RecursionError, MemoryError, OverflowError)


def read_npy(path: str | Path) -> np.ndarray:
    """Read a matrix of finite numbers from a .npy file."""
    expected = f"{path}: expected a .npy file with a matrix of numbers, one row per document"
    if not Path(path).exists():
        raise FileError(f"no such file: {path}")
    if not Path(path).is_file():  # opening a FIFO might wait forever
        raise FileError(f"{expected}; it is not a regular file")
    with open(path, "rb") as file:
        try:
            version = np.lib.format.read_magic(file)
            read_header = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}[version[0]]
            shape, by_columns, dtype = read_header(file)
        except _BAD_HEADER:
            raise FileError(expected) from None
        n_bytes = Path(path).stat().st_size - file.tell()
        if len(shape) != 2 or dtype.kind not in "fiub" or dtype.hasobject:
            raise FileError(f"{expected}; it has an array of type {dtype} with {len(shape)} dimensions")
        if min(shape) < 0 or shape[0] * shape[1] * dtype.itemsize != n_bytes:
            raise FileError(f"{expected}; its size is not that of {shape[0]} x {shape[1]} numbers")
        values = np.fromfile(file, dtype)
    matrix = values.reshape(shape, order="F" if by_columns else "C")
    if dtype.kind == "f" and not np.isfinite(matrix).all():
        raise FileError(f"{path} holds NaN or infinite numbers: expected finite ones")
    return matrix
