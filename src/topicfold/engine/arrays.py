"""Sparse and dense arrays in one form: CSR with columns in order, rows that sum to one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["aligned", "canonical", "content_hash", "csr_parts", "normalise_rows", "padded"]

_LANES = 8  # values of a vector register that rows are padded to


def canonical(counts: Any, dtype: Any = None) -> sp.csr_array:
    """CSR with columns in order, duplicates summed and no stored zeros; a new matrix unless it is so already."""
    result = sp.csr_array(counts)
    # scipy does not look at the indices it is given, and a kernel would write wherever they point
    result.check_format(full_check=True)
    if result.indices.dtype == np.int64 and max(*result.shape, result.nnz) < np.iinfo(np.int32).max:
        # slicing may widen indices, and scikit-learn refuses wide ones
        parts = (result.data, result.indices.astype(np.int32), result.indptr.astype(np.int32))
        result = sp.csr_array(parts, result.shape)
    if not result.has_canonical_format or (result.data == 0).any():
        # small integers could overflow where duplicates are summed
        result = result.astype(np.int64) if result.dtype.kind in "iu" else result.copy()
        result.sum_duplicates()
        result.eliminate_zeros()
    return result if dtype is None else result.astype(dtype, copy=False)


def csr_parts(counts: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(indptr, indices, data) with one pair of index types, so that a kernel is compiled once."""
    return counts.indptr.astype(np.int64), counts.indices.astype(np.int32, copy=False), counts.data


def content_hash(counts: sp.csr_array) -> str:
    """A hash of a matrix of counts: the same for the same documents in the same order over the same columns."""
    digest = hashlib.blake2b(repr(counts.shape).encode(), digest_size=16)
    for part in csr_parts(counts):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def normalise_rows(rows: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Rows divided by their sums; a row of zeros stays. Pass `out=rows` to work in place.

    >>> normalise_rows(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    return np.divide(rows, np.maximum(rows.sum(axis=1, keepdims=True), np.finfo(rows.dtype).tiny), out=out)


def aligned(n_rows: int, n_topics: int, dtype: DTypeLike) -> np.ndarray:
    """Zeros of n_rows x n_topics, columns padded to whole vector registers, starting at a 64-byte boundary."""
    width = -(-n_topics // _LANES) * _LANES
    size = n_rows * width * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    offset = -raw.ctypes.data % 64
    return raw[offset : offset + size].view(dtype).reshape(n_rows, width)


def padded(values: np.ndarray, dtype: DTypeLike) -> np.ndarray:
    """A copy in an aligned, padded array."""
    result = aligned(values.shape[0], values.shape[1], dtype)
    result[:, : values.shape[1]] = values
    return result
