"""Words of small neighbourhoods on the map, shown when the reader zooms in."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..topics.ranking import keyness, largest, word_presence
from .document_table import shortened

__all__ = ["neighbourhood_words"]

_GRIDS = (12, 24, 48)  # cells along each side of the map, coarse to fine
_FEWEST = 8  # documents that a cell needs to get words
_WORDS = 2


def neighbourhood_words(counts: sp.csr_array, positions: np.ndarray, vocabulary: tuple[str, ...]) -> list[list[object]]:
    """[grid, x, y, words] of each cell of each grid: the words that are much more frequent in it than elsewhere.

    `counts` and `positions` are those of the documents on the map; x and y are the centre of the cell's documents, in
    the units of `positions`.
    """
    if not len(positions):
        return []
    presence = word_presence(counts)
    overall = np.asarray(presence.sum(axis=0)).ravel() / len(positions)
    low, high = positions.min(axis=0), positions.max(axis=0)
    labels: list[list[object]] = []
    for number, grid in enumerate(_GRIDS):
        steps = np.minimum((positions - low) / max(float((high - low).max()), 1e-12) * grid, grid - 1).astype(np.int64)
        _, cell_of, sizes = np.unique(steps @ [grid, 1], return_inverse=True, return_counts=True)
        member = sp.csr_array((np.ones(len(positions), np.float32), (cell_of, np.arange(len(positions)))))
        inside = sp.csr_array(member @ presence)
        middle = (member @ positions) / sizes[:, None]
        for cell in np.flatnonzero(sizes >= _FEWEST):
            entries = slice(inside.indptr[cell], inside.indptr[cell + 1])
            columns, documents = inside.indices[entries], inside.data[entries]
            scores = np.where(documents >= 3, keyness(documents / sizes[cell], overall[columns]), -np.inf)
            best = [column for column in largest(scores, _WORDS) if scores[column] > 0]
            if best:
                words = [shortened(vocabulary[columns[column]]) for column in best]
                x, y = middle[cell].round().astype(int).tolist()
                labels.append([number, x, y, *words])
    return labels
