"""Nearest neighbours among many dense rows with few columns, such as topic mixtures, without comparing all pairs.

Rows are assigned to cells. A row is compared with the rows of its own cell and of the cells nearest to that one, so a
few of its nearest neighbours may be missed.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..engine.blocks import single_threaded_libraries
from .neighbors import rows_of_best
from .sparse_search import keep_best

__all__ = ["nearest_in_cells"]

_ROUNDS = 5  # rounds of moving each cell to the mean of its rows
_COMPARED = 16_000  # minimum number of rows that a row is compared with
_ROWS = 128  # rows that are compared at once
_LARGEST_PRODUCT = 1 << 24


def nearest_in_cells(rows: np.ndarray, n_neighbors: int) -> sp.csr_array:
    """For each row, the other rows with the highest cosine above zero, with the cosine; a few may be missed.

    Among equally near rows, the first come first. With 16,000 rows or fewer, all pairs are compared.

    >>> nearest_in_cells(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.1]], np.float32), 1).indices.tolist()
    [2, 2, 0]
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    vectors = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    n_rows, n_neighbors = len(vectors), min(n_neighbors, len(vectors) - 1)
    index = np.full((n_rows, n_neighbors), n_rows, np.int64)
    best = np.zeros((n_rows, n_neighbors), np.float32)
    with single_threaded_libraries():
        centres, cell_of = _cells(vectors)
        members = np.split(np.argsort(cell_of, kind="stable"), np.cumsum(np.bincount(cell_of, minlength=len(centres))))
        sizes = np.array([len(cell) for cell in members[:-1]])
        for cell in np.flatnonzero(sizes):
            near = np.argsort(-(centres @ centres[cell]), kind="stable")
            near = near[near != cell]
            n_near = np.searchsorted(np.cumsum(sizes[near]), _COMPARED - sizes[cell]) + 1
            others = np.sort(np.concatenate([members[other] for other in (cell, *near[:n_near])]))
            for start in range(0, sizes[cell], _ROWS):
                queries = members[cell][start : start + _ROWS]
                index[queries], best[queries] = _best_among(vectors, queries, others, n_neighbors)
    return rows_of_best(index, best, n_rows)


def _cells(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(centres, cell of each row), by k-means; the number of cells is about the square root of the number of rows."""
    n_cells = max(1, round(np.sqrt(len(vectors))))
    centres = vectors[np.arange(n_cells) * len(vectors) // n_cells]
    for _ in range(_ROUNDS):
        cell_of = _nearest_centre(vectors, centres)
        member = sp.csr_array((np.ones(len(vectors), np.float32), (cell_of, np.arange(len(vectors)))))
        sums = np.zeros_like(centres)
        sums[: member.shape[0]] = member @ vectors
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1), centres)
    return centres, _nearest_centre(vectors, centres)


def _nearest_centre(vectors: np.ndarray, centres: np.ndarray) -> np.ndarray:
    step = max(1, _LARGEST_PRODUCT // len(centres))
    nearest = [(vectors[start : start + step] @ centres.T).argmax(axis=1) for start in range(0, len(vectors), step)]
    return np.concatenate(nearest)


def _best_among(
    vectors: np.ndarray, queries: np.ndarray, others: np.ndarray, n_neighbors: int
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and cosines of the best rows for each of `queries`, which are among them; no row is its own neighbour."""
    scores = vectors[queries] @ vectors[others].T
    scores[np.arange(len(queries)), np.searchsorted(others, queries)] = -np.inf
    index = np.empty((len(queries), n_neighbors), np.int32)
    best = np.empty((len(queries), n_neighbors), np.float32)
    # the computed cosine of orthogonal rows may be a little above zero
    keep_best(scores, np.float32(16 * np.finfo(np.float32).eps), index, best)
    return np.append(others, len(vectors))[index], best
