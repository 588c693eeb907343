"""Matrices in .npy files, whose header is checked before memory is asked for."""

from __future__ import annotations

import math
from pathlib import Path
from tokenize import TokenError
from typing import IO

import numpy as np

from ..errors import FileError

__all__ = ["read_npy", "read_npy_header"]

# numpy evaluates the header as a literal of Python
_BAD_HEADER = (ValueError, KeyError, SyntaxError, TokenError, TypeError, RecursionError, MemoryError, OverflowError)


def read_npy_header(file: IO[bytes], n_bytes: int) -> tuple[tuple[int, ...], bool, np.dtype] | None:
    """Shape, order (by columns) and type of an array in a file of so many bytes.

    None if there is no such array, or if the file does not have the bytes that the array would take.
    """
    try:
        version = np.lib.format.read_magic(file)
        read_header = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}[version[0]]
        shape, by_columns, dtype = read_header(file)
    except _BAD_HEADER:
        return None
    size = math.prod(shape) * dtype.itemsize
    return None if min(shape, default=0) < 0 or size != n_bytes - file.tell() else (shape, by_columns, dtype)


def read_npy(path: str | Path) -> np.ndarray:
    """Read a matrix of finite numbers from a .npy file."""
    expected = f"{path}: expected a .npy file with a matrix of numbers, one row per document"
    if not Path(path).exists():
        raise FileError(f"no such file: {path}")
    if not Path(path).is_file():  # opening a FIFO might wait forever
        raise FileError(f"{expected}; it is not a regular file")
    with open(path, "rb") as file:
        header = read_npy_header(file, Path(path).stat().st_size)
        if header is None:
            raise FileError(f"{expected}; it does not begin as one, or does not have the size that it declares")
        shape, by_columns, dtype = header
        if len(shape) != 2 or dtype.kind not in "fiub":
            raise FileError(f"{expected}; it has an array of type {dtype} with {len(shape)} dimensions")
        values = np.fromfile(file, dtype)
    matrix = values.reshape(shape, order="F" if by_columns else "C")
    if dtype.kind == "f" and not np.isfinite(matrix).all():
        raise FileError(f"{path} holds NaN or infinite numbers: expected finite ones")
    return matrix
