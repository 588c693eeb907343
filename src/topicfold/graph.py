"""Which documents belong together: graphs of nearest neighbours, links and labels.

A graph is no class: it is a symmetric CSR matrix of documents x documents, its values are the weights of the edges, and
its diagonal is empty. Graphs from several sources add up by plain arithmetic:

>>> import numpy as np
>>> words = knn_graph(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), n_neighbors=1)
>>> links = link_graph([(0, 2)], n_documents=3)
>>> print((0.5 * words + links).toarray())
[[0.  0.5 1. ]
 [0.5 0.  0.5]
 [1.  0.5 0. ]]

Sources: the graphs of LTM (Cai, Wang and He 2009) and DTM (Huh and Fienberg 2010).
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .blocks import single_threaded_libraries
from .corpus import Corpus, is_missing
from .counts import canonical
from .neighbors import check_finite, check_metric, document_vectors, nearest

__all__ = [
    "check_graph",
    "check_neighbors",
    "constrained_graph",
    "knn_graph",
    "label_codes",
    "label_graph",
    "laplacian",
    "link_graph",
    "read_graph",
    "spectral_vectors",
]

_MOST_CLASSMATES = 50
_DENSE_BELOW = 500  # documents: the eigenvectors of small graphs are found without iterations


def knn_graph(
    X: Any,
    n_neighbors: int = 5,
    *,
    metric: str = "cosine",
    weighted: bool = False,
    weighting: str | None = "tfidf",
    n_jobs: int | None = None,
) -> sp.csr_array:
    """Join two documents when either is among the nearest neighbours of the other.

    X is a Corpus or counts (sparse, or whole numbers), or a dense array of floats: embeddings, whose rows are taken as
    they are. Counts become `document_vectors`; with `weighting=None` their rows, too, are taken as they are. Edges
    weigh 1, or with `weighted` the similarity of the two documents.

    >>> from topicfold import Corpus
    >>> corpus = Corpus.from_texts(["cat dog", "dog cat cow", "sun moon", "moon star sun"])
    >>> print(knn_graph(corpus, n_neighbors=1).toarray())
    [[0. 1. 0. 0.]
     [1. 0. 0. 0.]
     [0. 0. 0. 1.]
     [0. 0. 1. 0.]]
    """
    check_metric(metric)
    if weighting not in ("tfidf", None):
        raise ValueError(f"weighting={weighting!r}: expected 'tfidf', or None to take the rows as they are")
    if weighted and metric == "euclidean":
        raise ValueError(
            "weighted=True needs a similarity: expected metric='cosine' or 'intersection', not 'euclidean'"
        )
    vectors = X.counts if isinstance(X, Corpus) else X if sp.issparse(X) else np.asarray(X)
    if not sp.issparse(vectors) and vectors.dtype.kind in "biu" and vectors.ndim == 2:
        vectors = sp.csr_array(vectors)
    if sp.issparse(vectors):
        vectors = canonical(vectors)
        if vectors.nnz and vectors.data.min() < 0:
            raise ValueError(f"X holds {vectors.data.min():g}: counts cannot be negative; embeddings are dense floats")
        check_finite(vectors, "X")
        vectors = document_vectors(vectors, metric) if weighting else vectors
    directed = nearest(vectors, vectors, n_neighbors, metric=metric, skip_self=True, n_jobs=n_jobs).astype(np.float64)
    if not weighted:
        directed.data[:] = 1
    return canonical(directed.maximum(directed.T))


# ---- graphs from what is known --------------------------------------------------------------------------------------


def link_graph(links: Any, n_documents: int, *, weights: Any = None) -> sp.csr_array:
    """Join the pairs of rows in `links` (n x 2), in both directions; links of a document to itself are left out.

    Edges weigh 1, however often a pair is linked; with `weights`, one a link, they weigh the sum.

    >>> print(link_graph([(0, 1), (1, 0), (2, 2)], n_documents=3).toarray())
    [[0. 1. 0.]
     [1. 0. 0.]
     [0. 0. 0.]]
    """
    pairs = _pairs(links, n_documents, "link")
    values = np.ones(len(pairs)) if weights is None else np.asarray(weights, np.float64)
    if values.shape != (len(pairs),):
        raise ValueError(f"weights has shape {values.shape}: expected one weight for each of the {len(pairs)} links")
    if not np.isfinite(values).all() or (values < 0).any():
        bad = int(np.argmax(~(np.isfinite(values) & (values >= 0))))
        raise ValueError(f"link {bad} has the weight {values[bad]:g}: expected a finite number, not negative")
    graph = _joined(pairs, values, n_documents)
    if weights is None:
        graph.data[:] = 1
    return graph


def label_graph(graph: Any, y: Any) -> sp.csr_array:
    """The graph with what is known of classes: labelled documents are joined within a class, never across classes.

    y: a label a document, see `label_codes`; edges of unlabelled documents stay as they are. Each labelled document is
    joined to all others of its class with weight 1. In a class of n > 51 labelled documents it is joined to 50 of
    them, evenly spread, with weight (n - 1) / 50 each: the same pull, without n^2 edges. An edge that the graph has
    already keeps its weight where that is more.

    >>> print(label_graph(link_graph([(0, 1), (1, 2)], 3), [0, -1, 0]).toarray())
    [[0. 1. 1.]
     [1. 0. 1.]
     [1. 1. 0.]]
    """
    graph = check_graph(graph, graph.shape[0])
    codes = label_codes(y, graph.shape[0])
    edges = graph.tocoo()
    kept = (codes[edges.row] < 0) | (codes[edges.col] < 0) | (codes[edges.row] == codes[edges.col])
    graph = sp.csr_array((edges.data[kept], (edges.row[kept], edges.col[kept])), graph.shape)
    pairs, weights = [np.zeros((0, 2), np.int64)], [np.zeros(0)]
    for code in range(codes.max(initial=-1) + 1):
        members = np.flatnonzero(codes == code)
        n = len(members)
        if n - 1 <= _MOST_CLASSMATES:
            left, right = np.triu_indices(n, 1)
            weight = 1.0
        else:  # a ring: each is joined to those so many places before and after it
            offsets = np.linspace(1, (n - 1) // 2, _MOST_CLASSMATES // 2).round().astype(np.int64)
            left = np.repeat(np.arange(n), len(offsets))
            right = (left + np.tile(offsets, n)) % n
            weight = (n - 1) / _MOST_CLASSMATES
        pairs.append(np.stack([members[left], members[right]], axis=1))
        weights.append(np.full(len(left), weight))
    return canonical(graph.maximum(_joined(np.concatenate(pairs), np.concatenate(weights), graph.shape[0])))


def label_codes(y: Any, n_documents: int) -> np.ndarray:
    """Labels as numbers 0, 1, ... in the order of their sorted values, -1 for the unlabelled.

    Unlabelled are -1, None, NaN, '' and '-1'.

    >>> label_codes(["b", None, "a", "b"], 4)
    array([ 1, -1,  0,  1])
    """
    labels = np.array(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n_documents,):
        raise ValueError(f"y has shape {labels.shape}: expected one label for each of the {n_documents} documents")
    values = labels.tolist()
    missing = np.array([is_missing(value) or value in (-1, "-1") for value in values], bool)
    given = [value for value, absent in zip(values, missing) if not absent]
    if any(isinstance(value, str) for value in given):
        given = [str(value) for value in given]
    for value in given:
        if isinstance(value, float | np.floating) and not float(value).is_integer():
            raise ValueError(f"y holds {value:g}: expected labels, which are whole numbers or strings")
    codes = np.full(n_documents, -1, np.int64)
    codes[~missing] = np.unique(np.array(given), return_inverse=True)[1] if given else 0
    return codes


def constrained_graph(graph: Any, must_link: Any = (), cannot_link: Any = ()) -> sp.csr_array:
    """The graph with edges for the pairs of rows in `must_link` and none for those in `cannot_link`.

    A new edge weighs 1; one that the graph has already keeps its weight where that is more.

    >>> print(constrained_graph(link_graph([(0, 1)], 3), must_link=[(1, 2)], cannot_link=[(0, 1)]).toarray())
    [[0. 0. 0.]
     [0. 0. 1.]
     [0. 1. 0.]]
    """
    n = graph.shape[0]
    must, cannot = _pairs(must_link, n, "must_link"), _pairs(cannot_link, n, "cannot_link")
    both = set(map(tuple, must.tolist())) & set(map(tuple, cannot.tolist()))
    if both:
        raise ValueError(f"the pair {min(both)} is in must_link and in cannot_link: expected it in one of them")
    joined = check_graph(graph, n).maximum(link_graph(must, n))
    return canonical(joined - joined.multiply(link_graph(cannot, n)))


def laplacian(graph: Any) -> sp.csr_array:
    """D - W, with the degrees (sums of weights) D of the documents on the diagonal."""
    graph = sp.csr_array(graph).astype(np.float64)
    return sp.csr_array(sp.diags_array(np.asarray(graph.sum(axis=1))) - graph)


def _pairs(links: Any, n_documents: int, name: str) -> np.ndarray:
    """Pairs of rows as an n x 2 array, the smaller row first."""
    if links is None:
        raise ValueError(f"there are no {name}s: a corpus has them when it is read with links=")
    pairs = np.asarray(links)
    if pairs.size == 0:
        return np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"{name} has shape {pairs.shape}: expected pairs of rows, n x 2")
    if pairs.dtype.kind not in "iuf" or (pairs.dtype.kind == "f" and not (pairs == np.floor(pairs)).all()):
        raise ValueError(f"{name} holds values that are no row numbers: expected whole numbers (read_graph knows ids)")
    outside = ((pairs < 0) | (pairs >= n_documents)).any(axis=1)
    if outside.any():
        where = int(np.argmax(outside))
        a, b = pairs[where].tolist()
        raise ValueError(f"{name} {where} joins rows {a:g} and {b:g}: expected rows 0 to {n_documents - 1}")
    return np.sort(pairs.astype(np.int64), axis=1)


def _joined(pairs: np.ndarray, weights: np.ndarray, n_documents: int) -> sp.csr_array:
    """A symmetric graph of pairs, the weights of one pair summed; none to itself."""
    pairs, weights = pairs[pairs[:, 0] != pairs[:, 1]], weights[pairs[:, 0] != pairs[:, 1]]
    half = sp.coo_array((weights, (pairs[:, 0], pairs[:, 1])), (n_documents, n_documents)).tocsr()
    return canonical(half + half.T)


# ---- graphs that are given ------------------------------------------------------------------------------------------


def check_graph(graph: Any, n_documents: int) -> sp.csr_array:
    """The graph as a symmetric CSR matrix in float64 without a diagonal, or a ValueError that says what is wrong."""
    hint = ""
    shape: tuple[int, ...] = getattr(graph, "shape", ())
    if len(shape) == 2 and shape[0] == n_documents != shape[1]:
        hint = "; cross-validation cannot slice a graph: give embeddings or no graph there"
    edges = _checked(graph, n_documents, n_documents, hint).tocoo()
    off = edges.row != edges.col
    graph = canonical(sp.csr_array((edges.data[off], (edges.row[off], edges.col[off])), edges.shape))
    difference = abs(graph - graph.T).tocoo()
    if difference.nnz == 0:
        return graph
    worst = int(np.argmax(difference.data))
    if difference.data[worst] > 1e-6 * graph.data.max():
        i, j = int(difference.row[worst]), int(difference.col[worst])
        raise ValueError(
            f"graph is not symmetric: [{i}, {j}] is {graph[i, j]:g} and [{j}, {i}] is {graph[j, i]:g}; "
            "expected the same, such as graph.maximum(graph.T)"
        )
    return canonical((graph + graph.T) * 0.5)


def check_neighbors(graph: Any, n_new: int, n_documents: int) -> sp.csr_array:
    """Edges from new documents to those of the fit as CSR in float64, or a ValueError that says what is wrong."""
    return _checked(graph, n_new, n_documents, ", new documents x documents of the fit")


def _checked(graph: Any, n_rows: int, n_columns: int, hint: str) -> sp.csr_array:
    try:
        matrix = graph if sp.issparse(graph) else np.asarray(graph)
    except ValueError:  # rows of different lengths
        matrix = np.empty(0)
    if matrix.ndim != 2:
        raise ValueError(
            f"graph is a {type(graph).__name__}: expected a matrix of {n_rows} x {n_columns} documents, such as "
            "knn_graph and link_graph make"
        )
    graph = matrix
    if graph.shape != (n_rows, n_columns):
        if graph.shape[1] in (2, 3) and graph.shape[0] != graph.shape[1] and not hint:
            hint = "; link_graph makes a graph of pairs"
        raise ValueError(f"graph has shape {graph.shape}: expected {(n_rows, n_columns)}{hint}")
    graph = canonical(graph)
    check_finite(graph, "graph")
    if graph.nnz and graph.data.min() < 0:
        raise ValueError(f"graph holds the weight {graph.data.min():g}: expected none below zero")
    return graph.astype(np.float64, copy=False)


def spectral_vectors(graph: sp.csr_array, n_vectors: int, rng: np.random.RandomState) -> np.ndarray:
    """Documents where the graph puts them: leading eigenvectors of D^-1/2 W D^-1/2, rows scaled to length one.

    k-means on the rows cuts the graph (normalised cut; Ng, Jordan and Weiss 2001). A document without neighbours is at
    zero.
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


def read_graph(path: str | Path, ids: Sequence[str] | None) -> sp.csr_array:
    """Read a graph of the documents with these ids, or of row numbers where `ids` is None.

    .npz: a matrix saved by scipy; where its two directions differ, the larger weight counts. .csv (commas), .tsv (tabs)
    and .txt (blanks): an edge a line, two ids and maybe a weight. The first line is left out as a header when both of
    its ids are unknown and those of the second line are not.
    """
    path = Path(path)
    if path.suffix == ".npz":
        graph = sp.csr_array(sp.load_npz(path))
        n_documents = graph.shape[0] if ids is None else len(ids)
        return check_graph(graph.maximum(graph.T) if graph.shape[0] == graph.shape[1] else graph, n_documents)
    if path.suffix not in (".csv", ".tsv", ".txt"):
        raise ValueError(f"{path}: expected a file that ends in .npz, .csv, .tsv or .txt")
    lines = _edge_lines(path)
    known = None if ids is None else {str(name): row for row, name in enumerate(ids)}
    if known is not None and ids is not None and len(known) < len(ids):
        raise ValueError("ids holds the same id twice: expected one id a document")

    def row_of(name: str) -> int | None:
        return known.get(name) if known is not None else int(name) if name.isdecimal() else None

    found = [(row_of(cells[0]), row_of(cells[1])) for _, cells in lines]
    if len(found) > 1 and found[0] == (None, None) and None not in found[1]:
        lines, found = lines[1:], found[1:]
    for (number, cells), pair in zip(lines, found):
        if None in pair:
            what = "a row number" if known is None else f"one of the ids of the {len(known)} documents"
            raise ValueError(f"{path}, line {number}: {cells[pair.index(None)]!r} is not {what}")
    weights = [_weight(cells[2], f"{path}, line {number}") for number, cells in lines if len(cells) > 2]
    pairs = np.array(found, np.int64).reshape(-1, 2)
    n_documents = len(ids) if ids is not None else int(pairs.max(initial=-1)) + 1
    return link_graph(pairs, n_documents, weights=weights or None)


def _edge_lines(path: Path) -> list[tuple[int, list[str]]]:
    """(line number, cells) of each line with something in it; all have two cells, or all three."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        if path.suffix == ".txt":
            rows = [line.split() for line in file]
        else:
            rows = [
                [cell.strip() for cell in row]
                for row in csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            ]
    lines = [(number, cells) for number, cells in enumerate(rows, 1) if any(cells)]
    for number, cells in lines:
        if len(cells) not in (2, 3) or len(cells) != len(lines[-1][1]):
            raise ValueError(
                f"{path}, line {number}: {len(cells)} columns; expected two ids, and a weight in all lines or none"
            )
    return lines


def _weight(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{where}: {text!r} is not a weight; expected a number") from None
