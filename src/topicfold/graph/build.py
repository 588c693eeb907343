"""Graphs of documents: nearest neighbours, links, labels and constraints, each a symmetric CSR matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..corpus.corpus import Corpus
from ..corpus.weighting import lsi_vectors
from ..engine.arrays import canonical
from ..engine.blocks import single_threaded_libraries
from ..errors import InputError
from .check import check_graph, label_codes
from .neighbors import METRICS, check_finite, document_vectors, nearest

__all__ = ["LSI", "constrained_graph", "knn_graph", "label_graph", "laplacian", "link_graph", "spectral_vectors"]

LSI = "lsi"
_MOST_CLASSMATES = 50
_LSI_DIMENSIONS = 50
_DENSE_BELOW = 500  # documents: the eigenvectors of smaller graphs are computed directly


def knn_graph(
    X: Any,
    n_neighbors: int = 5,
    *,
    metric: str = "cosine",
    weighted: bool = False,
    weighting: str | None = "tfidf",
    exact: bool = False,
    n_jobs: int | None = None,
) -> sp.csr_array:
    """Build a graph that connects each document with its nearest neighbours.

    Two documents are connected if either is among the nearest neighbours of the other.

    Parameters
    ----------
    X : Corpus, sparse matrix or array of shape (n_documents, n_features)
        A Corpus, counts (a sparse matrix or whole numbers), or embeddings (a dense array of floats), whose rows are
        used unchanged.
    n_neighbors : int, default=5
        Number of neighbours per document.
    metric : {'cosine', 'euclidean', 'intersection', 'lsi'}, default='cosine'
        How neighbours are found: by the cosine of tf-idf vectors, the Euclidean distance of counts, or the intersection
        of tf-idf histograms. 'lsi' adds the neighbours by the cosine of LSI vectors to those by the cosine of tf-idf:
        texts without a word in common can be neighbours, too. With embeddings, by cosine or Euclidean distance.
    weighted : bool, default=False
        Whether the weight of an edge is the similarity of the two documents. Otherwise it is 1. With metric='lsi', the
        weights of neighbours of both kinds are added.
    weighting : {'tfidf'} or None, default='tfidf'
        How counts are turned into vectors. None uses the rows unchanged.
    exact : bool, default=False
        Whether to find the exact neighbours if there are more than 50,000 documents, which takes much longer.
        Otherwise, a few neighbours may be missed in such a corpus.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 uses all cores. The result does not depend on it.

    Returns
    -------
    sparse array of shape (n_documents, n_documents)
        Symmetric matrix of edge weights.

    Raises
    ------
    InputError
        If X contains negative counts or values that are not finite, or the parameters do not fit together.

    See Also
    --------
    link_graph : A graph from links between documents.
    label_graph : Adds labels to a graph.
    LTM : A model that uses a graph.

    Examples
    --------
    >>> from topicfold import Corpus, knn_graph
    >>> corpus = Corpus.from_texts(["cat dog", "dog cat cow", "sun moon", "moon star sun"])
    >>> print(knn_graph(corpus, n_neighbors=1).toarray())
    [[0. 1. 0. 0.]
     [1. 0. 0. 0.]
     [0. 0. 0. 1.]
     [0. 0. 1. 0.]]
    """
    if metric not in (*METRICS, LSI):
        raise InputError(f"metric={metric!r}: expected one of {', '.join((*METRICS, LSI))}")
    if weighting not in ("tfidf", None):
        raise InputError(f"weighting={weighting!r}: expected 'tfidf', or None to use the rows unchanged")
    if weighted and metric == "euclidean":
        raise InputError(
            "weighted=True needs a similarity: expected metric='cosine' or 'intersection', not 'euclidean'"
        )
    vectors = X.counts if isinstance(X, Corpus) else X if sp.issparse(X) else np.asarray(X)
    if not sp.issparse(vectors) and vectors.dtype.kind in "biu" and vectors.ndim == 2:
        vectors = sp.csr_array(vectors)
    if sp.issparse(vectors):
        vectors = canonical(vectors)
        if vectors.nnz and vectors.data.min() < 0:
            raise InputError(
                f"X contains {vectors.data.min():g}: counts cannot be negative; pass embeddings as a dense array"
            )
        check_finite(vectors, "X")
        if metric == LSI:
            latent = lsi_vectors(vectors, _LSI_DIMENSIONS, np.random.RandomState(0))
            by_words = knn_graph(
                vectors, n_neighbors, weighted=weighted, weighting=weighting, exact=exact, n_jobs=n_jobs
            )
            return canonical(by_words + knn_graph(latent, n_neighbors, weighted=weighted, exact=exact, n_jobs=n_jobs))
        vectors = document_vectors(vectors, metric) if weighting else vectors
    elif metric == LSI:
        raise InputError("metric='lsi' is for counts: expected a sparse matrix or whole numbers, got embeddings")
    directed = nearest(vectors, vectors, n_neighbors, metric=metric, skip_self=True, exact=exact, n_jobs=n_jobs)
    directed = directed.astype(np.float64)
    if not weighted:
        directed.data[:] = 1
    return canonical(directed.maximum(directed.T))


def link_graph(links: Any, n_documents: int, *, weights: Any = None) -> sp.csr_array:
    """Build a graph from links between documents, such as citations.

    Links count in both directions. Links from a document to itself are left out.

    Parameters
    ----------
    links : array-like of int of shape (n_links, 2)
        Rows of the two documents of each link, such as `corpus.links`.
    n_documents : int
        Number of documents.
    weights : array-like of shape (n_links,), default=None
        Non-negative weights of the links; the weight of an edge is their sum. None gives each edge the weight 1,
        however often two documents are linked.

    Returns
    -------
    sparse array of shape (n_documents, n_documents)
        Symmetric matrix of edge weights.

    Raises
    ------
    InputError
        If a link refers to a row that does not exist, or a weight is negative or not finite.

    See Also
    --------
    knn_graph : A graph of nearest neighbours.
    label_graph : Adds labels to a graph.
    LTM : A model that uses a graph.

    Examples
    --------
    >>> from topicfold import link_graph
    >>> print(link_graph([(0, 1), (1, 0), (2, 2)], n_documents=3).toarray())
    [[0. 1. 0.]
     [1. 0. 0.]
     [0. 0. 0.]]
    """
    pairs = _pairs(links, n_documents, "link")
    values = np.ones(len(pairs)) if weights is None else np.asarray(weights, np.float64)
    if values.shape != (len(pairs),):
        raise InputError(f"weights has shape {values.shape}: expected one weight for each of the {len(pairs)} links")
    if not np.isfinite(values).all() or (values < 0).any():
        bad = int(np.argmax(~(np.isfinite(values) & (values >= 0))))
        raise InputError(f"link {bad} has the weight {values[bad]:g}: expected a finite, non-negative number")
    graph = _joined(pairs, values, n_documents)
    if weights is None:
        graph.data[:] = 1
    return graph


def label_graph(graph: Any, y: Any) -> sp.csr_array:
    """Add labels to a graph: documents with the same label are connected, those with different labels are not.

    Each labelled document is connected with all others of its class, with weight 1. In a class of n > 51 labelled
    documents, it is connected with 50 of them, evenly spread, with weight (n - 1) / 50. This gives the same total
    weight without n^2 edges. An edge that is already in the graph keeps its weight if that is larger. Edges of
    unlabelled documents are kept.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n_documents, n_documents)
        Symmetric matrix of edge weights.
    y : array-like of shape (n_documents,)
        Labels, whole numbers or strings; -1, None, NaN or '' means unknown.

    Returns
    -------
    sparse array of shape (n_documents, n_documents)
        Symmetric matrix of edge weights.

    Raises
    ------
    InputError
        If the graph is not symmetric, or the number or type of labels is wrong.

    See Also
    --------
    knn_graph : A graph of nearest neighbours.
    link_graph : A graph from links between documents.

    Examples
    --------
    >>> from topicfold import label_graph, link_graph
    >>> print(label_graph(link_graph([(0, 1), (1, 2)], 3), [0, -1, 0]).toarray())
    [[0. 1. 1.]
     [1. 0. 1.]
     [1. 1. 0.]]
    """
    graph = check_graph(graph, graph.shape[0])
    codes = label_codes(y, graph.shape[0])
    edges = graph.tocoo()
    compatible = (codes[edges.row] < 0) | (codes[edges.col] < 0) | (codes[edges.row] == codes[edges.col])
    graph = sp.csr_array((edges.data[compatible], (edges.row[compatible], edges.col[compatible])), graph.shape)
    pairs, weights = [np.zeros((0, 2), np.int64)], [np.zeros(0)]
    for code in range(codes.max(initial=-1) + 1):
        members = np.flatnonzero(codes == code)
        n = len(members)
        if n - 1 <= _MOST_CLASSMATES:
            left, right = np.triu_indices(n, 1)
            weight = 1.0
        else:  # a ring: each is connected with the documents at these offsets before and after it
            offsets = np.linspace(1, (n - 1) // 2, _MOST_CLASSMATES // 2).round().astype(np.int64)
            left = np.repeat(np.arange(n), len(offsets))
            right = (left + np.tile(offsets, n)) % n
            weight = (n - 1) / _MOST_CLASSMATES
        pairs.append(np.stack([members[left], members[right]], axis=1))
        weights.append(np.full(len(left), weight))
    return canonical(graph.maximum(_joined(np.concatenate(pairs), np.concatenate(weights), graph.shape[0])))


def constrained_graph(graph: Any, must_link: Any = (), cannot_link: Any = ()) -> sp.csr_array:
    """The graph with edges for the pairs of rows in `must_link` and none for those in `cannot_link`.

    A new edge has weight 1; an edge that is already in the graph keeps its weight if that is larger.

    >>> print(constrained_graph(link_graph([(0, 1)], 3), must_link=[(1, 2)], cannot_link=[(0, 1)]).toarray())
    [[0. 0. 0.]
     [0. 0. 1.]
     [0. 1. 0.]]
    """
    n = graph.shape[0]
    must, cannot = _pairs(must_link, n, "must_link"), _pairs(cannot_link, n, "cannot_link")
    both = set(map(tuple, must.tolist())) & set(map(tuple, cannot.tolist()))
    if both:
        raise InputError(f"the pair {min(both)} is both in must_link and in cannot_link: expected it in only one")
    joined = check_graph(graph, n).maximum(link_graph(must, n))
    return canonical(joined - joined.multiply(link_graph(cannot, n)))


def laplacian(graph: Any) -> sp.csr_array:
    """D - W, with the degrees (sums of weights) D of the documents on the diagonal."""
    graph = sp.csr_array(graph).astype(np.float64)
    return sp.csr_array(sp.diags_array(np.asarray(graph.sum(axis=1))) - graph)


def _pairs(links: Any, n_documents: int, name: str) -> np.ndarray:
    """Pairs of rows as an n x 2 array, the smaller row first."""
    if links is None:
        raise InputError(f"there are no {name}s: read the corpus with links= to get them")
    pairs = np.asarray(links)
    if pairs.size == 0:
        return np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"{name} has shape {pairs.shape}: expected pairs of rows, n x 2")
    if pairs.dtype.kind not in "iuf" or (pairs.dtype.kind == "f" and not (pairs == np.floor(pairs)).all()):
        raise InputError(f"{name} contains values that are not row numbers: expected whole numbers, not ids")
    outside = ((pairs < 0) | (pairs >= n_documents)).any(axis=1)
    if outside.any():
        where = int(np.argmax(outside))
        a, b = pairs[where].tolist()
        raise InputError(f"{name} {where} connects rows {a:g} and {b:g}: expected rows 0 to {n_documents - 1}")
    return np.sort(pairs.astype(np.int64), axis=1)


def _joined(pairs: np.ndarray, weights: np.ndarray, n_documents: int) -> sp.csr_array:
    """A symmetric graph of pairs, with the weights of equal pairs summed and no edges from a document to itself."""
    pairs, weights = pairs[pairs[:, 0] != pairs[:, 1]], weights[pairs[:, 0] != pairs[:, 1]]
    rows = pairs.astype(np.int32 if n_documents < np.iinfo(np.int32).max else np.int64)  # scipy keeps this type
    half = sp.coo_array((weights, (rows[:, 0], rows[:, 1])), (n_documents, n_documents)).tocsr()
    return canonical(half + half.T)


def spectral_vectors(graph: sp.csr_array, n_vectors: int, rng: np.random.RandomState) -> np.ndarray:
    """Vectors of documents by the graph: leading eigenvectors of D^-1/2 W D^-1/2, rows scaled to length one.

    k-means on the rows cuts the graph (normalised cut; Ng, Jordan and Weiss 2001). The row of a document without
    neighbours is zero.
    """
    from scipy.sparse.linalg import eigsh

    if graph.nnz == 0:
        return np.zeros((graph.shape[0], n_vectors))
    degree = graph.sum(axis=1)
    scale = sp.diags_array(np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0))
    normalised = scale @ graph @ scale
    with single_threaded_libraries():
        if graph.shape[0] < _DENSE_BELOW or n_vectors >= graph.shape[0]:
            vectors = np.linalg.eigh(normalised.toarray())[1][:, -n_vectors:]
        else:
            vectors = eigsh(normalised, n_vectors, which="LA", v0=rng.uniform(-1, 1, graph.shape[0]))[1]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
