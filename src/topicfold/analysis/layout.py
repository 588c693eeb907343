"""Positions of documents on a map: near documents with the same topics, apart from the others.

The map starts from the leading eigenvectors of a graph of neighbours. Then neighbours attract each other, and randomly
drawn documents repel each other, as in LargeVis (Tang et al. 2016) and UMAP (McInnes et al. 2018). Only neighbourhoods
have a meaning; the axes and the distance between two distant groups do not.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import csr_parts
from ..engine.blocks import single_threaded_libraries
from ..engine.extras import import_extra
from ..engine.jit import njit
from ..errors import InputError
from ..graph.check import check_graph
from ..graph.neighbors import check_finite, nearest

__all__ = ["METHODS", "document_positions"]

METHODS = ("neighbours", "umap")
_N_NEIGHBORS = 18
_NOISE = 3e-3  # length of the noise added to a row: identical documents would all have the same few neighbours
_NO_TOPIC = 0.01  # extra membership of all documents, so that documents without any topic are similar to each other
_BLOCK = 8  # vectors that are iterated to find two: with more, the leading ones converge sooner
_ITERATIONS = 40
_BETWEEN = 0.05  # weight of the memberships relative to the graph: keeps its unconnected parts in position
_BEGIN_WIDTH = 10.0
_ROUNDS = 700
_RATE = 1.0
_DRAWN = 20  # number of documents that repel a document in each round
_FIRST_PUSH = 0.1  # repulsion at the start, as a share of the full one reached half way: groups can then pass others
_SOFT = 0.1  # keeps the repulsion of two documents at the same position finite
_WITHIN = 98  # percentage of the documents that are between -1 and 1


@njit
def _move(indptr, indices, pull, offsets, rate, push, positions):
    """Move the documents in turn, each towards its neighbours j and away from k = i + offset, counted in a ring.

    y_i += rate (sum_j pull_ij 2 (y_j - y_i) / (1 + d_ij^2) + push sum_k 2 (y_i - y_k) / ((0.1 + d_ik^2) (1 + d_ik^2)))

    These are the gradients of log(1 / (1 + d^2)) and of log(1 - 1 / (1 + d^2)).
    """
    n_documents = len(positions)
    for i in range(n_documents):
        x, y = positions[i, 0], positions[i, 1]
        step_x, step_y = 0.0, 0.0
        for cell in range(indptr[i], indptr[i + 1]):
            j = indices[cell]
            to_x, to_y = positions[j, 0] - x, positions[j, 1] - y
            force = 2.0 * pull[cell] / (1.0 + to_x * to_x + to_y * to_y)
            step_x += force * to_x
            step_y += force * to_y
        for offset in offsets:
            k = i + offset
            if k >= n_documents:
                k -= n_documents
            from_x, from_y = x - positions[k, 0], y - positions[k, 1]
            square = from_x * from_x + from_y * from_y
            force = 2.0 * push / ((_SOFT + square) * (1.0 + square))
            step_x += force * from_x
            step_y += force * from_y
        positions[i, 0] = x + rate * step_x
        positions[i, 1] = y + rate * step_y


def document_positions(
    doc_topic: Any, graph: Any = None, *, method: str = "neighbours", random_state: Any = 0
) -> np.ndarray:
    """Place documents on a map, so that similar documents are close to each other.

    Parameters
    ----------
    doc_topic : array-like of shape (n_documents, n_topics)
        Memberships in topics. Rows need not sum to one.
    graph : array or sparse matrix of shape (n_documents, n_documents), default=None
        Graph of the documents, for example from `knn_graph` or `link_graph`; edges connect neighbours. A document
        without an edge, and every document if this is None, has as neighbours the 18 documents with the highest cosine
        between square roots of memberships. With more than 50,000 documents, they are found by pynndescent (the extra
        topicfold[neighbors]).
    method : {'neighbours', 'umap'}, default='neighbours'
        Layout algorithm. 'umap' uses umap-learn (the extra topicfold[map]).
    random_state : int, RandomState instance or None, default=0
        Seed of the random numbers. The same seed gives the same bits.

    Returns
    -------
    ndarray of float32 of shape (n_documents, 2)
        Positions, centred and with the same scale on both axes; nearly all are between -1 and 1.

    Raises
    ------
    InputError
        If `doc_topic` is not a matrix of non-negative numbers, or the method is unknown.

    See Also
    --------
    topicfold.plots.document_map : Draws the map.
    build_report : An interactive map.

    References
    ----------
    McInnes, L., Healy, J., Saul, N. and Großberger, L. (2018). UMAP: uniform manifold approximation and projection.
    Journal of Open Source Software 3(29), 861. https://doi.org/10.21105/joss.00861

    Examples
    --------
    >>> import numpy as np
    >>> from topicfold import document_positions
    >>> positions = document_positions(np.repeat(np.eye(3), 20, axis=0))
    >>> positions.shape, positions.dtype.name, bool(abs(positions).max() < 1.5)
    ((60, 2), 'float32', True)
    """
    from sklearn.utils import check_random_state

    if method not in METHODS:
        raise InputError(f"method={method!r}: expected one of {', '.join(METHODS)}")
    random = check_random_state(random_state)
    vectors = _vectors(doc_topic, random)
    if len(vectors) < 2:
        return np.zeros((len(vectors), 2), np.float32)
    pull = _pulls(vectors, graph)
    start = _start(pull, vectors, random)
    if method == "umap":
        return _scaled(_moved_by_umap(pull, start, random) if pull.nnz else start)
    return _scaled(_moved(pull, start, random))


def _moved(pull: sp.csr_array, start: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """Positions after all rounds. Documents are in shuffled order, so those at fixed offsets are as good as random.

    All documents share the random offsets of a round, which is many times cheaper than separate draws.
    """
    order = random.permutation(len(start))
    parts = csr_parts(sp.csr_array(pull[order][:, order]))
    positions = start[order]
    for progress in np.arange(_ROUNDS) / _ROUNDS:
        offsets = random.randint(1, len(start), size=_DRAWN)
        push = _FIRST_PUSH ** max(1 - 2 * progress, 0)
        _move(*parts, offsets, _RATE * (1 - progress), push, positions)
    moved = np.empty_like(positions)
    moved[order] = positions
    return moved


def _vectors(doc_topic: Any, random: np.random.RandomState) -> np.ndarray:
    """Square roots of memberships as rows of length one, with a little noise."""
    rows = np.asarray(doc_topic)
    if rows.ndim != 2:
        raise InputError(f"doc_topic has {rows.ndim} dimensions: expected documents x topics")
    check_finite(rows, "doc_topic")
    if rows.size and rows.min() < 0:
        raise InputError(f"doc_topic contains {rows.min():g}: expected non-negative memberships")
    rows = rows.astype(np.float64)
    rows /= max(rows.sum(axis=1).max(initial=0), 1e-300)  # memberships may have any scale
    vectors = np.column_stack([np.sqrt(rows), np.full(len(rows), _NO_TOPIC)])
    vectors += _NOISE / np.sqrt(vectors.shape[1]) * random.standard_normal(vectors.shape)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def _pulls(vectors: np.ndarray, graph: Any) -> sp.csr_array:
    """How much each neighbour attracts a document: rows sum to one, so the number of neighbours does not matter."""
    if graph is None:
        rank_weights = _by_rank(nearest(vectors, vectors, _N_NEIGHBORS, skip_self=True))
        edges = sp.csr_array(rank_weights + rank_weights.T)
    else:
        edges = check_graph(graph, len(vectors))
        alone = np.flatnonzero(np.diff(edges.indptr) == 0)
        if len(alone):
            edges = sp.csr_array(edges + _neighbors_of(alone, vectors))
    shares = sp.csr_array(edges, dtype=np.float64, copy=True)
    shares.data /= np.repeat(np.asarray(edges.sum(axis=1)), np.diff(edges.indptr))
    return shares


def _by_rank(cosines: sp.csr_array) -> sp.csr_array:
    """Neighbours weighted by rank, from 1 for the nearest down in equal steps.

    Cosines are all near one; weights that fall with the distance would tear groups around identical documents apart.
    """
    count = np.diff(cosines.indptr)
    rows = np.repeat(np.arange(len(count)), count)
    weights = np.empty(cosines.nnz)
    rank = np.arange(cosines.nnz) - np.repeat(cosines.indptr[:-1], count)
    weights[np.lexsort((-cosines.data, rows))] = 1 - rank / (_N_NEIGHBORS + 1)
    return sp.csr_array((weights, cosines.indices, cosines.indptr), cosines.shape)


def _neighbors_of(alone: np.ndarray, vectors: np.ndarray) -> sp.csr_array:
    """Edges from some documents to their nearest neighbours by memberships, in the rows of those documents."""
    neighbors = nearest(vectors[alone], vectors, _N_NEIGHBORS + 1).tocoo()
    rows = alone[neighbors.row]
    other = rows != neighbors.col
    shape = (len(vectors), len(vectors))
    return _by_rank(sp.csr_array((neighbors.data[other], (rows[other], neighbors.col[other])), shape))


def _start(pull: sp.csr_array, vectors: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """Positions by the two leading eigenvectors of the normalised graph after the trivial one, found by iteration.

    Weights by memberships, V V^T for the rows V, are added to those of the graph, so that its unconnected parts are
    placed by their topics. Each axis uses ranks: eigenvectors tend to put one group far away from the rest.

    The iterations start from waves over the topics and keep their signs, so that a few documents more or less do not
    flip the map.
    """
    graph = sp.csr_array(pull + pull.T)
    features = np.maximum(vectors, 0).astype(np.float64)
    n_topics = vectors.shape[1]
    with single_threaded_libraries():
        block = features @ np.cos(np.pi / n_topics * np.outer(np.arange(n_topics) + 0.5, np.arange(1, _BLOCK + 1)))
        block += _NOISE * random.standard_normal(block.shape)  # there may be fewer topics than columns
        features *= np.sqrt(_BETWEEN * max(graph.sum(), 1) / (features.sum(axis=0) ** 2).sum())
        degree = np.asarray(graph.sum(axis=1)) + features @ features.sum(axis=0)
        scale = 1 / np.sqrt(degree)[:, None]
        features *= scale
        trivial = np.sqrt(degree / degree.sum())
        for _ in range(_ITERATIONS):
            block -= np.outer(trivial, trivial @ block)
            basis, triangle = np.linalg.qr(block)
            basis *= np.where(np.diagonal(triangle) < 0, -1, 1)  # otherwise the sign would depend on the first document
            # adding 1 to the diagonal leaves no negative eigenvalue, whose vector would grow as well
            block = basis + scale * (graph @ (scale * basis)) + features @ (features.T @ basis)
        turn = np.linalg.eigh(basis.T @ block)[1][:, :-3:-1]
        leading = basis @ (turn * np.where((turn**3).sum(axis=0) < 0, -1, 1))
    ranks = np.argsort(np.argsort(scale * leading, axis=0, kind="stable"), axis=0)
    return _BEGIN_WIDTH * (ranks / len(ranks) - 0.5) + random.standard_normal(ranks.shape)


def _moved_by_umap(pull: sp.csr_array, start: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImportWarning)  # umap warns that tensorflow is not installed
        umap = import_extra("umap.umap_", "map", "method='umap'", package="umap-learn")
    strongest = pull.max(axis=1).toarray().ravel()
    graph = sp.csr_array(pull, copy=True)
    graph.data /= np.repeat(strongest, np.diff(pull.indptr))  # the nearest neighbour has weight 1, as in umap's graphs
    a, b = umap.find_ab_params(spread=1.0, min_dist=0.1)
    return umap.simplicial_set_embedding(
        data=None,
        graph=sp.coo_matrix(graph.maximum(graph.T)),
        n_components=2,
        initial_alpha=1.0,
        a=a,
        b=b,
        gamma=1.0,
        negative_sample_rate=5,
        n_epochs=None,
        init=start,
        random_state=random,
        metric="euclidean",
        metric_kwds={},
        densmap=False,
        densmap_kwds={},
        output_dens=False,
    )[0].astype(np.float64)


def _scaled(positions: np.ndarray) -> np.ndarray:
    """Centred positions, nearly all between -1 and 1."""
    positions = positions - positions.mean(axis=0)
    reach = np.percentile(np.abs(positions).max(axis=1), _WITHIN)
    return (positions / max(reach, 1e-12)).astype(np.float32)
