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
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .blocks import map_blocks, single_threaded_libraries
from .corpus import Corpus, is_missing
from .counts import canonical, csr_parts
from .jit import njit
from .models.starts import inverse_document_frequency, tfidf

__all__ = [
    "METRICS",
    "check_graph",
    "check_neighbors",
    "constrained_graph",
    "document_vectors",
    "knn_graph",
    "label_codes",
    "label_graph",
    "laplacian",
    "link_graph",
    "nearest",
    "read_graph",
    "spectral_vectors",
]

METRICS = ("cosine", "intersection", "euclidean")
_ROWS_A_BLOCK = 512  # queries between two looks at the clock of Python
_SCORES_IN_CACHE = 1 << 17
_DENSE_ROWS = 128  # of one matrix product, always: how a cell is summed depends on the shape ...
_DENSE_COLUMNS = 64  # ... and, where columns do not come in whole tiles, on its place
_EXACT_DENSE = 50_000
_MOST_CLASSMATES = 50
_DENSE_BELOW = 500  # documents: the eigenvectors of small graphs are found without iterations

Scorer = Callable[[int, int, np.ndarray], None]  # scores of all documents for queries first..last, into an array


# ---- kernels --------------------------------------------------------------------------------------------------------


@njit
def _score_rows(indptr, indices, data, first, last, word_ptr, word_docs, word_data, begin, intersect, scores):
    """Scores of all documents for queries first..last, through an inverted index (documents and values of each word).

    scores = begin + queries @ base.T, or with `intersect` begin + sum_w min(query, base)
    """
    for d in range(first, last):
        row = scores[d - first]
        row[:] = begin
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            value = data[cell]
            if intersect:
                for p in range(word_ptr[w], word_ptr[w + 1]):
                    row[word_docs[p]] += min(value, word_data[p])
            else:
                for p in range(word_ptr[w], word_ptr[w + 1]):
                    row[word_docs[p]] += value * word_data[p]


@njit
def _keep_best(scores, least, index, best):
    """The columns with the highest scores above `least` of each row, in no order; of equal ones those to the left.

    index, best: columns and scores, as many as there is room for; a place that stays free holds (n_columns, least).
    """
    n_columns, room = scores.shape[1], index.shape[1]
    for r in range(index.shape[0]):
        row, columns, values = scores[r], index[r], best[r]
        columns[:] = n_columns
        values[:] = least
        bar = least  # the worst that is kept is in place 0 of a heap
        for start in range(0, n_columns, 64):
            stop = min(start + 64, n_columns)
            part = row[start:stop]
            if part.size == 64:  # a loop of known length runs in vector registers, and mostly finds nothing
                above = 0
                for j in range(64):
                    above += part[j] > bar
                if above == 0:
                    continue
            for j in range(start, stop):
                score = row[j]
                if not score > bar:
                    continue
                place = 0
                while True:
                    child = 2 * place + 1
                    if child >= room:
                        break
                    other = child + 1
                    if other < room and (
                        values[other] < values[child]
                        or (values[other] == values[child] and columns[other] > columns[child])
                    ):
                        child = other
                    if values[child] >= score:  # of equals the new one is the worst, being further right
                        break
                    columns[place] = columns[child]
                    values[place] = values[child]
                    place = child
                columns[place] = j
                values[place] = score
                bar = values[0]


# ---- nearest neighbours ---------------------------------------------------------------------------------------------


def document_vectors(counts: Any, metric: str = "cosine", idf: np.ndarray | None = None) -> sp.csr_array:
    """What `nearest` works on for counts, in float32.

    "cosine": ln(1 + n(d,w)) idf(w), rows of length one; "intersection": the same, rows summing to one (DTM, eq. 21);
    "euclidean": the counts as they are. `idf` may be that of other documents, as for documents that come later.
    """
    _check_metric(metric)
    counts = canonical(counts.counts if isinstance(counts, Corpus) else counts)
    if metric == "euclidean":
        return counts.astype(np.float32)
    if idf is None:
        idf = inverse_document_frequency(counts)
    elif len(idf) != counts.shape[1]:
        raise ValueError(f"idf has {len(idf)} values: expected one for each of the {counts.shape[1]} words")
    # With the logarithm of the counts more neighbours are of the same class on 20 Newsgroups, Reuters and TDT2
    damped = sp.csr_array((np.log1p(counts.data, dtype=np.float64), counts.indices, counts.indptr), counts.shape)
    vectors = tfidf(damped, idf)
    if metric == "intersection":
        sums = np.asarray(vectors.sum(axis=1))
        vectors.data /= np.repeat(np.maximum(sums, 1e-300), np.diff(vectors.indptr))
    return vectors.astype(np.float32)


def nearest(
    queries: Any,
    base: Any,
    n_neighbors: int,
    *,
    metric: str = "cosine",
    skip_self: bool = False,
    n_jobs: int | None = None,
) -> sp.csr_array:
    """The nearest documents of `base` for each query: queries x base, at most `n_neighbors` a row, columns in order.

    Both are sparse (see `document_vectors`) or both dense (embeddings). Values are similarities: the cosine, the
    intersection sum_w min(a, b), or 1 / (1 + distance) for "euclidean". For cosine and intersection only documents
    with a similarity above zero are neighbours. Of equally near documents the one with the smaller row comes first.
    With `skip_self` the queries are the base, and no row finds itself.

    The search is exact, and what a query finds depends neither on the other queries nor on the number of threads. One
    exception: the neighbours among more than 50,000 dense rows (`skip_self`) are pynndescent's, which are approximate.
    """
    _check_metric(metric)
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, int | np.integer) or n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors!r}: expected a whole number, 1 or more")
    dense = not sp.issparse(base)
    if sp.issparse(queries) is dense:
        raise ValueError("one of queries and base is sparse: expected both to be sparse, or both dense")
    if dense and metric == "intersection":
        raise ValueError("metric='intersection' is for counts: expected a sparse matrix, got a dense one")
    vectors = _vectors(queries, metric)
    base = vectors if queries is base else _vectors(base, metric)
    if vectors.shape[1] != base.shape[1] or (skip_self and vectors.shape != base.shape):
        expected = "the same shape, as skip_self is set" if skip_self else "the same number of columns"
        raise ValueError(f"queries have shape {vectors.shape}, base has {base.shape}: expected {expected}")
    vectors, base = (rows.astype(np.result_type(vectors, base), copy=False) for rows in (vectors, base))
    n_neighbors = min(n_neighbors, base.shape[0] - skip_self)
    if n_neighbors < 1 or vectors.shape[0] == 0:
        return sp.csr_array((vectors.shape[0], base.shape[0]), dtype=vectors.dtype)
    if dense and skip_self and base.shape[0] > _EXACT_DENSE:
        return _approximate(base, n_neighbors, metric)
    scorer = _dense_scorer if dense else _sparse_scorer
    index, best = _search(scorer(vectors, base, metric), vectors, base.shape[0], n_neighbors, metric, skip_self, n_jobs)
    if metric == "euclidean":  # the score was a.b - |b|^2 / 2
        best = 1 / (1 + np.sqrt(np.maximum(_squares(vectors)[:, None] - 2 * best, 0)))
    return _as_rows(index, best, base.shape[0])


def _sparse_scorer(queries: sp.csr_array, base: sp.csr_array, metric: str) -> Scorer:
    words = base.tocsc()
    parts, (word_ptr, word_docs, word_data) = csr_parts(queries), csr_parts(words)
    begin = -_squares(base) / 2 if metric == "euclidean" else np.zeros(base.shape[0], base.dtype)

    def score(first: int, last: int, scores: np.ndarray) -> None:
        # unsigned: an index that cannot be negative need not be looked at
        postings = word_ptr, word_docs.view(np.uint32), word_data
        _score_rows(*parts, first, last, *postings, begin, metric == "intersection", scores)

    return score


def _dense_scorer(queries: np.ndarray, base: np.ndarray, metric: str) -> Scorer:
    padded = np.pad(base, ((0, -len(base) % _DENSE_COLUMNS), (0, 0)))
    half_squares = _squares(base) / 2 if metric == "euclidean" else 0

    def score(first: int, last: int, scores: np.ndarray) -> None:
        block = np.zeros((len(scores), queries.shape[1]), queries.dtype)
        block[: last - first] = queries[first:last]
        np.matmul(block, padded.T, out=scores)
        scores[:, : len(base)] -= half_squares
        scores[:, len(base) :] = -np.inf

    return score


def _search(
    score: Scorer, queries: Any, n_base: int, n_neighbors: int, metric: str, skip_self: bool, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """(index, best): the documents with the highest scores of each query, in no order, as `_keep_best` leaves them."""
    n_queries, dtype = queries.shape[0], queries.dtype
    if sp.issparse(queries):
        step, width, zero = max(1, min(_DENSE_ROWS, _SCORES_IN_CACHE // n_base)), n_base, 0.0
    else:  # the cosine of orthogonal rows may come out a little above zero
        step, width, zero = _DENSE_ROWS, n_base + -n_base % _DENSE_COLUMNS, 16 * np.finfo(dtype).eps
    least = dtype.type(-np.inf if metric == "euclidean" else zero)
    index = np.empty((n_queries, n_neighbors), np.int32)
    best = np.empty((n_queries, n_neighbors), dtype)

    def run(start: int) -> None:
        scores = np.empty((step, width), dtype)
        stop = min(start + _ROWS_A_BLOCK, n_queries)
        for first in range(start, stop, step):
            last = min(first + step, stop)
            score(first, last, scores)
            if skip_self:
                scores[np.arange(last - first), np.arange(first, last)] = -np.inf
            _keep_best(scores, least, index[first:last], best[first:last])

    with single_threaded_libraries():
        map_blocks(run, range(0, n_queries, _ROWS_A_BLOCK), n_jobs)
    return index, best


def _as_rows(index: np.ndarray, best: np.ndarray, n_base: int) -> sp.csr_array:
    order = np.argsort(index, axis=1)
    index, best = np.take_along_axis(index, order, axis=1), np.take_along_axis(best, order, axis=1)
    found = index < n_base
    indptr = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
    return sp.csr_array((best[found], index[found], indptr), (len(index), n_base))


def _approximate(base: np.ndarray, n_neighbors: int, metric: str) -> sp.csr_array:
    try:
        NNDescent = import_module("pynndescent").NNDescent
    except ImportError as error:
        raise ImportError(
            f"the neighbours of more than {_EXACT_DENSE:,} dense rows need pynndescent: "
            "pip install 'topicfold[neighbors]'"
        ) from error
    # one thread: how it splits its work changes what it finds
    found = NNDescent(base, metric=metric, n_neighbors=n_neighbors + 1, random_state=0, n_jobs=1)
    index, distance = found.neighbor_graph
    best = 1 / (1 + distance) if metric == "euclidean" else 1 - distance
    no_neighbor = (index < 0) | (index == np.arange(len(base))[:, None]) | (best <= 0)
    if metric == "cosine":
        zero = _squares(base) == 0
        no_neighbor |= zero[:, None] | zero[index]
    index, best = np.where(no_neighbor, len(base), index), np.where(no_neighbor, 0, best)
    order = np.lexsort((index, -best))[:, :n_neighbors]
    return _as_rows(np.take_along_axis(index, order, axis=1), np.take_along_axis(best, order, axis=1), len(base))


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
    _check_metric(metric)
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
        _check_finite(vectors, "X")
        vectors = document_vectors(vectors, metric) if weighting else vectors
    directed = nearest(vectors, vectors, n_neighbors, metric=metric, skip_self=True, n_jobs=n_jobs).astype(np.float64)
    if not weighted:
        directed.data[:] = 1
    return canonical(directed.maximum(directed.T))


def _check_metric(metric: Any) -> None:
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r}: expected one of {', '.join(METRICS)}")


def _check_finite(matrix: Any, name: str) -> None:
    values = matrix.data if sp.issparse(matrix) else matrix
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} holds values of type {values.dtype}: expected numbers")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds NaN or infinite values: expected finite numbers")


def _vectors(rows: Any, metric: str) -> Any:
    """Rows to search in float32 or float64; of length one for the cosine, in float64 for exact euclidean distances."""
    sparse = sp.issparse(rows)
    rows = canonical(rows) if sparse else np.asarray(rows)
    if rows.ndim != 2:
        raise ValueError(f"X has {rows.ndim} dimensions: expected a row a document")
    _check_finite(rows, "X")
    narrow = metric != "euclidean" and np.can_cast(rows.dtype, np.float32)
    dtype = np.float32 if narrow else np.float64
    if metric != "cosine":
        return rows.astype(dtype, copy=False)
    lengths = np.sqrt(_squares(rows))
    lengths[lengths == 0] = 1
    if not sparse:
        return (rows / lengths[:, None]).astype(dtype)
    data = rows.data / np.repeat(lengths, np.diff(rows.indptr))
    return sp.csr_array((data.astype(dtype), rows.indices, rows.indptr), rows.shape)


def _squares(rows: Any) -> np.ndarray:
    """The squared length of each row, each summed on its own and in float64."""
    if not sp.issparse(rows):
        return np.array([np.dot(row, row) for row in map(np.float64, rows)])
    squares = rows.astype(np.float64)
    squares.data **= 2
    return np.asarray(squares.sum(axis=1))


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
    """Labels as numbers 0, 1, ... in the order of their sorted values, and -1 for what is unlabelled: -1, None, NaN.

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
    graph = sp.csr_array(graph)
    return sp.csr_array(sp.diags_array(np.asarray(graph.sum(axis=1))) - graph)


def _pairs(links: Any, n_documents: int, name: str) -> np.ndarray:
    """Pairs of rows as an n x 2 array, the smaller row first."""
    pairs = np.asarray(links)
    if pairs.size == 0:
        return np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"{name} has shape {pairs.shape}: expected pairs of rows, n x 2")
    if pairs.dtype.kind not in "iuf" or (pairs.dtype.kind == "f" and not (pairs == np.floor(pairs)).all()):
        raise ValueError(f"{name} holds values that are no row numbers: expected whole numbers")
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
    shape = getattr(graph, "shape", None) or np.shape(graph)
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
    graph = graph if sp.issparse(graph) else np.asarray(graph)
    if graph.shape != (n_rows, n_columns):
        raise ValueError(f"graph has shape {graph.shape}: expected {(n_rows, n_columns)}{hint}")
    graph = canonical(graph)
    _check_finite(graph, "graph")
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
