"""Checks of graphs and labels that a user passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..corpus.fields import is_missing
from ..engine.arrays import canonical
from ..engine.checks import MAX_PARAMETER
from ..errors import InputError
from .neighbors import check_finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["GraphLike", "check_graph", "check_neighbors", "label_codes"]

GraphLike: TypeAlias = "ArrayLike | sp.csr_array"  # symmetric, documents x documents


def label_codes(y: ArrayLike, n_documents: int) -> np.ndarray:
    """Labels as numbers 0, 1, ... in the order of their sorted values; -1 for unlabelled documents.

    The values -1, None, NaN, '' and '-1' mean that there is no label.

    >>> label_codes(["b", None, "a", "b"], 4)
    array([ 1, -1,  0,  1])
    """
    labels = np.array(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n_documents,):
        raise InputError(f"y has shape {labels.shape}: expected one label for each of the {n_documents} documents")
    values = labels.tolist()
    for value in values:
        _check_label(value)
    missing = np.array([is_missing(value) or value in (-1, "-1") for value in values], bool)
    present = [value for value, absent in zip(values, missing) if not absent]
    if any(isinstance(value, str) for value in present):
        present = [str(value) for value in present]
    codes = np.full(n_documents, -1, np.int64)
    try:
        codes[~missing] = np.unique(np.array(present), return_inverse=True)[1] if present else 0
    except TypeError:  # they cannot be sorted
        kinds = ", ".join(sorted({type(value).__name__ for value in present}))
        raise InputError(f"y contains labels of several types ({kinds}): expected whole numbers or strings") from None
    return codes


def _check_label(value: Any) -> None:
    """Raise a ValueError if a value cannot be a label: a fraction, several values, or a number beyond 64 bits."""
    if isinstance(value, float):
        fits = np.isnan(value) or value.is_integer()
    elif isinstance(value, int):
        fits = -(2**63) <= value < 2**63
    else:
        fits = not isinstance(value, list | tuple | dict | set | np.ndarray)
    if not fits:
        raise InputError(f"y contains {value!r:.40}: expected labels, whole numbers or strings")


def check_graph(graph: GraphLike, n_documents: int) -> sp.csr_array:
    """The graph as a symmetric CSR matrix in float64 without a diagonal, or a ValueError that says what is wrong."""
    hint = ""
    shape: tuple[int, ...] = getattr(graph, "shape", ())
    if len(shape) == 2 and shape[0] == n_documents != shape[1]:
        hint = "; cross-validation cannot split a graph: pass embeddings instead, or no graph"
    edges = _checked(graph, n_documents, n_documents, hint).tocoo()
    off = edges.row != edges.col
    checked = canonical(sp.csr_array((edges.data[off], (edges.row[off], edges.col[off])), edges.shape))
    difference = abs(checked - checked.T).tocoo()
    if difference.nnz == 0:
        return checked
    worst = int(np.argmax(difference.data))
    if difference.data[worst] > 1e-6 * checked.data.max():
        i, j = int(difference.row[worst]), int(difference.col[worst])
        raise InputError(
            f"graph is not symmetric: [{i}, {j}] is {checked[i, j]:g} and [{j}, {i}] is {checked[j, i]:g}; "
            "expected equal weights; graph.maximum(graph.T) makes it symmetric"
        )
    return canonical((checked + checked.T) * 0.5)


def check_neighbors(graph: GraphLike, n_new: int, n_documents: int) -> sp.csr_array:
    """Edges from new documents to training documents as CSR in float64, or a ValueError that says what is wrong."""
    return _checked(graph, n_new, n_documents, ", new documents x training documents")


def _checked(graph: GraphLike, n_rows: int, n_columns: int, hint: str) -> sp.csr_array:
    matrix: Any
    try:
        matrix = graph if sp.issparse(graph) else np.asarray(graph)
    except ValueError:  # rows of different lengths
        matrix = np.empty(0)
    if matrix.ndim != 2:
        raise InputError(
            f"graph is a {type(graph).__name__}: expected a matrix of {n_rows} x {n_columns} documents, as returned by "
            "knn_graph and link_graph"
        )
    if matrix.shape != (n_rows, n_columns):
        if matrix.shape[1] in (2, 3) and matrix.shape[0] != matrix.shape[1] and not hint:
            hint = "; link_graph makes a graph from pairs"
        raise InputError(f"graph has shape {matrix.shape}: expected {(n_rows, n_columns)}{hint}")
    checked = canonical(matrix)
    check_finite(checked, "graph")
    if checked.nnz and checked.data.min() < 0:
        raise InputError(f"graph contains the weight {checked.data.min():g}: expected non-negative weights")
    if checked.nnz and checked.data.max() > MAX_PARAMETER:
        raise InputError(f"graph contains the weight {checked.data.max():g}: expected at most {MAX_PARAMETER:g}")
    return checked.astype(np.float64, copy=False)
