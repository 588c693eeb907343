"""Sparse and dense arrays in standard form: CSR with sorted columns, rows that sum to one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from .mapped import is_mapped, pieces, release, row_table

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "aligned",
    "ascending",
    "canonical",
    "checked_sparse",
    "column_sums",
    "content_hash",
    "csr_parts",
    "normalise_rows",
    "padded",
    "padded_width",
    "summed",
    "with_small_indices",
]

_LANES = 8  # rows are padded to a multiple of this number, the values in a vector register
_ROWS_PER_SUM = 1 << 14


def ascending(numbers: np.ndarray, *, strictly: bool = False) -> bool:
    """Whether no number is below the one before it; `strictly`, whether each is above it.

    Numbers are compared: differences of unsigned numbers are never negative, and those of large numbers overflow.

    >>> ascending(np.array([0, 2, 2])), ascending(np.array([0, 2, 2]), strictly=True)
    (True, False)
    """
    before, after = numbers[:-1], numbers[1:]
    return bool((after > before if strictly else after >= before).all())


def checked_sparse(matrix: Any) -> Any:
    """The sparse matrix in its original format, or a ValueError if its arrays do not fit each other.

    scipy checks little of its input, and its compiled code follows indices wherever they point: even a conversion to
    CSR can crash. So the arrays are checked first, in the format in which they were passed.
    """
    if matrix.ndim != 2:
        raise InputError(f"a sparse matrix of shape {matrix.shape}: expected two dimensions")
    if matrix.format in ("lil", "dok", "dia"):
        try:
            matrix = _as_coo(matrix)
        except (OverflowError, TypeError) as error:
            raise InputError(
                f"a sparse matrix ({matrix.format.upper()}) with a value that does not fit: {error}"
            ) from None
    n_rows, n_columns = matrix.shape
    if matrix.data.dtype.kind not in "biuf":
        raise InputError(f"a sparse matrix of type {matrix.data.dtype}: expected numbers")
    if matrix.format == "coo":
        rows, columns = matrix.row, matrix.col
        if not len(rows) == len(columns) == len(matrix.data):
            raise InputError(
                f"a sparse matrix with {len(rows)} row indices, {len(columns)} column indices and {len(matrix.data)} "
                "values: expected the same number of each"
            )
        _check_indices(rows, n_rows)
        _check_indices(columns, n_columns)
        return matrix
    blocks = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    if 0 in blocks:
        raise InputError(f"a sparse matrix with blocks of shape {tuple(blocks)}: expected at least one row and column")
    major, minor = n_rows // blocks[0], n_columns // blocks[1]
    if matrix.format == "csc":
        major, minor = n_columns, n_rows
    indptr, indices, n_values = matrix.indptr, matrix.indices, len(matrix.data)
    if matrix.format == "bsr" and matrix.data.shape[1:] != tuple(blocks):
        raise InputError(f"a sparse matrix with blocks of shape {matrix.data.shape[1:]}: expected {tuple(blocks)}")
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu" or len(indptr) != major + 1:
        raise InputError(f"a sparse matrix with indptr of shape {indptr.shape}: expected {major + 1} whole numbers")
    if indptr[0] != 0 or not ascending(indptr) or int(indptr[-1]) > min(len(indices), n_values):
        raise InputError("a sparse matrix whose indptr does not increase from 0 to the number of its values")
    _check_indices(indices[: int(indptr[-1])], minor)
    return matrix


def _check_indices(indices: np.ndarray, size: int) -> None:
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise InputError(f"a sparse matrix with indices of type {indices.dtype}: expected whole numbers")
    if len(indices) and not (int(indices.min()) >= 0 and int(indices.max()) < size):
        raise InputError(
            f"a sparse matrix with indices from {indices.min()} to {indices.max()}: expected 0 to {size - 1}"
        )


def _as_coo(matrix: Any) -> Any:
    """Matrices in LIL, DOK or DIA format as COO, without the compiled conversions of scipy."""
    if matrix.format == "lil":
        lengths = [len(row) for row in matrix.rows]
        if lengths != [len(values) for values in matrix.data] or len(lengths) != matrix.shape[0]:
            raise InputError("a sparse matrix (LIL) with different numbers of columns and values")
        rows = np.repeat(np.arange(len(lengths)), lengths)
        columns = np.array([column for row in matrix.rows for column in row], np.int64)
        values = np.array([value for row in matrix.data for value in row], matrix.dtype)
        _check_indices(columns, matrix.shape[1])
        return sp.coo_array((values, (rows, columns)), matrix.shape)
    if matrix.format == "dia":
        offsets, diagonals = np.asarray(matrix.offsets), np.asarray(matrix.data)
        if offsets.ndim != 1 or diagonals.ndim != 2 or len(offsets) != len(diagonals):
            raise InputError("a sparse matrix (DIA) with different numbers of diagonals and offsets")
        columns = np.broadcast_to(np.arange(diagonals.shape[1]), diagonals.shape)
        rows = columns - offsets[:, None]
        inside = (rows >= 0) & (rows < matrix.shape[0]) & (columns < matrix.shape[1])
        return sp.coo_array((diagonals[inside], (rows[inside], columns[inside])), matrix.shape)
    return sp.coo_array(matrix)


def canonical(counts: Any, dtype: Any = None) -> sp.csr_array:
    """CSR with sorted columns, duplicates summed and no stored zeros; a new matrix unless it already is."""
    result = with_small_indices(sp.csr_array(checked_sparse(counts) if sp.issparse(counts) else counts))
    if not result.has_canonical_format or (result.data == 0).any():
        # small integers could overflow when duplicates are summed
        result = result.astype(np.int64) if result.dtype.kind in "iu" else result.copy()
        result.sum_duplicates()
        result.eliminate_zeros()
    return result if dtype is None else result.astype(dtype, copy=False)


def with_small_indices(matrix: sp.csr_array) -> sp.csr_array:
    """The matrix with indices in int32 where they fit: half the memory, and scikit-learn accepts no others.

    Indices become int64 when scipy slices a matrix, or when only one of its two index arrays is of that type.
    """
    if matrix.indices.dtype == np.int32 or max(*matrix.shape, matrix.nnz) >= np.iinfo(np.int32).max:
        return matrix
    parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    return sp.csr_array(parts, matrix.shape)


def csr_parts(counts: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(indptr, indices, data) with one pair of index types, so that a kernel is compiled once."""
    return counts.indptr.astype(np.int64), counts.indices.astype(np.int32, copy=False), counts.data


def content_hash(counts: sp.csr_array) -> str:
    """A hash of a matrix of counts: the same for the same documents in the same order with the same columns."""
    digest = hashlib.blake2b(repr(counts.shape).encode(), digest_size=16)
    for part in csr_parts(counts):
        for piece in pieces(part):  # counts in a file are floats, but the hash must be the same
            digest.update((piece.astype(np.int32) if piece.dtype.kind == "f" else piece).data)
    return digest.hexdigest()


def summed(counts: sp.csr_array, axis: int) -> np.ndarray:
    """Sums of columns (axis 0) or rows (axis 1) in float64; counts in a file are read in blocks of rows."""
    if not is_mapped(counts.data):
        return np.asarray(counts.sum(axis=axis, dtype=np.float64))
    total, sums = np.zeros(counts.shape[1]), []
    for first in range(0, counts.shape[0], _ROWS_PER_SUM):
        last = min(first + _ROWS_PER_SUM, counts.shape[0])
        cells = slice(int(counts.indptr[first]), int(counts.indptr[last]))
        indices, data = counts.indices[cells], counts.data[cells]
        if axis == 0:
            total += np.bincount(indices, data, minlength=len(total))
        else:
            ends = np.concatenate([[0.0], np.cumsum(data, dtype=np.float64)])
            sums.append(np.diff(ends[counts.indptr[first : last + 1] - cells.start]))
        release(indices)
        release(data)
    return total if axis == 0 else np.concatenate(sums)


def column_sums(table: np.ndarray) -> np.ndarray:
    """Sums of the columns of a dense table in float64; a table in a file is read in blocks of rows."""
    total = np.zeros(table.shape[1])
    for first in range(0, len(table), _ROWS_PER_SUM):
        rows = table[first : first + _ROWS_PER_SUM]
        total += rows.sum(axis=0, dtype=np.float64)
        release(rows)
    return total


def normalise_rows(rows: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Rows divided by their sums; a row of zeros stays. Pass `out=rows` to work in place.

    Sums are in float64: in float32, those of a million words are a per cent off.

    >>> normalise_rows(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    sums = rows.sum(axis=1, keepdims=True, dtype=np.float64)
    return np.divide(rows, np.where(sums > 0, sums, 1).astype(rows.dtype), out=out)


def aligned(n_rows: int, n_topics: int, dtype: DTypeLike, *, on_disk: bool = False) -> np.ndarray:
    """Zeros of n_rows x n_topics, columns padded to whole vector registers, starting at a 64-byte boundary."""
    return row_table(n_rows, padded_width(n_topics), dtype, on_disk=on_disk)


def padded_width(n_topics: int) -> int:
    """Number of columns of a table whose rows are padded to whole vector registers."""
    return -(-n_topics // _LANES) * _LANES


def padded(values: np.ndarray, dtype: DTypeLike, *, on_disk: bool = False) -> np.ndarray:
    """A copy in an aligned, padded array."""
    result = aligned(values.shape[0], values.shape[1], dtype, on_disk=on_disk)
    for first in range(0, len(result), _ROWS_PER_SUM):
        rows = result[first : first + _ROWS_PER_SUM]
        rows[:, : values.shape[1]] = values[first : first + _ROWS_PER_SUM]
        release(rows)
    return result
