"""Label propagation: the labels of a few documents spread over a graph (Zhou et al. 2003, Zhu et al. 2003)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..engine.blocks import single_threaded_libraries

__all__ = ["propagated_classes", "spread"]


def propagated_classes(graph: sp.csr_array, codes: np.ndarray, n_classes: int, neighbor_weight: float) -> np.ndarray:
    """How much of each class reaches each document; every class has at least one label in `codes` (-1: no label).

    Class mass normalisation: the sum of a class over the documents is its share of the labels. A document that no
    label reaches has a row of zeros.

    >>> chain = sp.csr_array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> propagated_classes(chain, np.array([0, -1, 1, -1]), 2, 0.5).argmax(axis=1)
    array([0, 0, 1, 1])
    """
    start = np.equal.outer(codes, np.arange(n_classes)).astype(np.float64)
    reached = spread(graph, start, neighbor_weight)
    return reached * (start.sum(axis=0) / start.sum() / reached.sum(axis=0))


def spread(graph: sp.csr_array, start: np.ndarray, neighbor_weight: float) -> np.ndarray:
    """F = (1 - a) (I - a S)^-1 start, S = D^-1/2 W D^-1/2, a the weight; zero where no start value reaches a row."""
    from scipy.sparse.linalg import cg

    degree = graph.sum(axis=1)
    scale = sp.diags_array(np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0))
    system = sp.csr_array(sp.eye_array(graph.shape[0]) - neighbor_weight * (scale @ graph @ scale))
    with single_threaded_libraries():
        columns = [cg(system, (1 - neighbor_weight) * column, rtol=1e-8)[0] for column in start.T]
    return np.stack(columns, axis=1)
