"""All pairs, to hold a search for neighbours against."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

# Few values and few columns: empty rows, equal rows and ties are common.
small_counts = hnp.arrays(np.int64, st.tuples(st.integers(1, 9), st.integers(1, 4)), elements=st.integers(0, 3))


def similarities(queries, base, metric):
    """All pairs, dense."""
    queries, base = np.asarray(queries, np.float64), np.asarray(base, np.float64)
    if metric == "intersection":
        return np.minimum(queries[:, None], base).sum(axis=2)
    if metric == "euclidean":
        return 1 / (1 + np.sqrt(((queries[:, None] - base) ** 2).sum(axis=2)))
    unit = [rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300) for rows in (queries, base)]
    return unit[0] @ unit[1].T


def assert_nearest(found, expected, n_neighbors, skip_self=False):
    """Each row has the best similarities there are, each at its own column; near ties may fall either way."""
    assert found.has_canonical_format
    assert found.shape == expected.shape
    for row in range(found.shape[0]):
        columns, values = found.indices[found.indptr[row] : found.indptr[row + 1]], found[[row]].data
        np.testing.assert_allclose(values, expected[row, columns], rtol=1e-5)
        others = np.delete(expected[row], row) if skip_self else expected[row]
        best = np.sort(others[others > 1e-12])[::-1][:n_neighbors]
        np.testing.assert_allclose(np.sort(values)[::-1], best, rtol=1e-5)
        assert not (skip_self and row in columns)


def same(a, b):
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("indptr", "indices", "data"))
