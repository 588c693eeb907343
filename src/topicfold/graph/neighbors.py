"""The nearest neighbours of documents: by an inverted index for sparse rows, by matrix products for dense vectors.

With many documents, the search is approximate unless `exact` is set. The neighbours of one document depend neither on
the other queries nor on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..corpus.corpus import Corpus
from ..corpus.weighting import inverse_document_frequency, tfidf
from ..engine.arrays import canonical, csr_parts
from ..engine.blocks import single_threaded_libraries
from ..engine.checks import check_whole
from ..engine.distributed.cluster import map_anywhere
from ..engine.extras import import_extra
from ..errors import InputError
from .sparse_search import InvertedIndex, keep_best, likely_best, query_blocks, score_rows

__all__ = ["METRICS", "NeighborIndex", "check_finite", "check_metric", "document_vectors", "nearest", "rows_of_best"]

METRICS = ("cosine", "intersection", "euclidean")
_SCORES_IN_CACHE = 1 << 17
_DENSE_ROWS = 128  # rows of each matrix product, always: how a cell is summed depends on the shape ...
_DENSE_COLUMNS = 64  # ... and on its position, if columns are not in whole tiles
_MOST_EXACT = 50_000  # with more documents, neighbours are approximate unless `exact` is set

Rows: TypeAlias = np.ndarray | sp.csr_array


# ---- nearest neighbours ---------------------------------------------------------------------------------------------


def document_vectors(counts: Any, metric: str = "cosine", idf: np.ndarray | None = None) -> sp.csr_array:
    """Turn counts into the vectors that `nearest` uses, in float32.

    "cosine": ln(1 + n(d,w)) idf(w), rows of length one; "intersection": the same, rows summing to one (DTM, eq. 21);
    "euclidean": the counts unchanged. `idf` may come from other documents, for example the training documents.
    """
    check_metric(metric)
    counts = canonical(counts.counts if isinstance(counts, Corpus) else counts)
    if metric == "euclidean":
        return counts.astype(np.float32)
    if idf is None:
        idf = inverse_document_frequency(counts)
    elif len(idf) != counts.shape[1]:
        raise InputError(f"idf has {len(idf)} values: expected one for each of the {counts.shape[1]} words")
    # With the logarithm of the counts, more neighbours have the same class on 20 Newsgroups, Reuters and TDT2
    damped = sp.csr_array((np.log1p(counts.data, dtype=np.float64), counts.indices, counts.indptr), counts.shape)
    vectors = tfidf(damped, idf)
    if metric == "intersection":
        sums = np.asarray(vectors.sum(axis=1))
        vectors.data /= np.repeat(np.maximum(sums, 1e-300), np.diff(vectors.indptr))
    return vectors.astype(np.float32)


def nearest(
    queries: Rows,
    base: Rows,
    n_neighbors: int,
    *,
    metric: str = "cosine",
    skip_self: bool = False,
    exact: bool = False,
    n_jobs: int | None = None,
) -> sp.csr_array:
    """The nearest documents of `base` for each query; see `NeighborIndex.nearest`.

    Queries and base are both sparse (see `document_vectors`) or both dense (embeddings). With `skip_self`, the queries
    are the base, and no row is its own neighbour. With `exact`, or a base of at most 50,000 rows, the neighbours are
    exact. Otherwise they are approximate for sparse rows, except by Euclidean distance, and for dense rows with
    `skip_self`, which requires pynndescent.
    """
    _check_kinds(sp.issparse(queries), sp.issparse(base), metric)
    vectors = _vectors(queries, metric)
    base = vectors if queries is base else _vectors(base, metric)
    if skip_self and vectors.shape != base.shape:
        raise InputError(
            f"queries have shape {vectors.shape}, base has {base.shape}: expected the same shape with skip_self"
        )
    check_whole("n_neighbors", n_neighbors)
    if skip_self and not exact and not sp.issparse(base) and base.shape[0] > _MOST_EXACT:
        return _approximate(base, n_neighbors, metric)
    vectors, base = (rows.astype(np.result_type(vectors, base), copy=False) for rows in (vectors, base))
    return NeighborIndex._of_vectors(base, metric)._search(vectors, n_neighbors, skip_self, exact, n_jobs)


class NeighborIndex:
    """Index of documents for repeated searches of nearest neighbours.

    Parameters
    ----------
    base : sparse or dense array of shape (n_documents, n_features)
        The documents to search: sparse, as returned by `document_vectors`, or dense embeddings.
    metric : {'cosine', 'intersection', 'euclidean'}, default='cosine'
    """

    def __init__(self, base: Rows, metric: str = "cosine") -> None:
        check_metric(metric)
        self._index(_vectors(base, metric), metric)

    @classmethod
    def _of_vectors(cls, vectors: Rows, metric: str) -> NeighborIndex:
        """An index of vectors that are already checked and scaled."""
        index = cls.__new__(cls)
        index._index(vectors, metric)
        return index

    def _index(self, vectors: Any, metric: str) -> None:
        self._metric, self._shape, self._dtype = metric, vectors.shape, vectors.dtype
        self._half_squares = _squares(vectors) / 2 if metric == "euclidean" else None
        self._inverted = self._padded = None
        if sp.issparse(vectors):
            self._inverted = InvertedIndex.of(vectors)
        else:
            self._padded = np.pad(vectors.astype(np.float64), ((0, -len(vectors) % _DENSE_COLUMNS), (0, 0)))

    def nearest(
        self, queries: Rows, n_neighbors: int, *, exact: bool = False, n_jobs: int | None = None
    ) -> sp.csr_array:
        """The nearest documents for each query: queries x documents, at most `n_neighbors` per row.

        Values are similarities: the cosine, the intersection sum_w min(a, b), or 1 / (1 + distance) for 'euclidean'.
        For cosine and intersection, only documents with a similarity above zero are neighbours. Among equally near
        documents, the one with the smaller row comes first. The neighbours of a query depend neither on the other
        queries nor on the number of threads.

        With more than 50,000 sparse rows, a few neighbours may be missed unless `exact` is set: a query is looked up by
        its rarest words, which have three quarters of its weight, and the best rows found in this way (10 per
        neighbour, at least 50) are compared in full. By Euclidean distance, and among dense rows, the search is always
        exact.
        """
        _check_kinds(sp.issparse(queries), self._inverted is not None, self._metric)
        check_whole("n_neighbors", n_neighbors)
        vectors = _vectors(queries, self._metric).astype(self._dtype, copy=False)
        return self._search(vectors, n_neighbors, False, exact, n_jobs)

    def _search(self, vectors: Any, n_neighbors: int, skip_self: bool, exact: bool, n_jobs: int | None) -> sp.csr_array:
        (n_base, n_features), metric = self._shape, self._metric
        if vectors.shape[1] != n_features:
            raise InputError(
                f"queries have shape {vectors.shape}, base has {self._shape}: expected the same number of columns"
            )
        n_neighbors = min(n_neighbors, n_base - skip_self)
        if n_neighbors < 1 or vectors.shape[0] == 0:
            return sp.csr_array((vectors.shape[0], n_base), dtype=vectors.dtype)
        if self._inverted is not None and metric != "euclidean" and not exact and n_base > _MOST_EXACT:
            intersect = metric == "intersection"
            candidates = likely_best(self._inverted, vectors, n_neighbors, intersect, skip_self, n_jobs)
            return rows_of_best(*candidates, n_base)
        index, best = self._best(vectors, n_neighbors, skip_self, n_jobs)
        if metric == "euclidean":  # the score was a.b - |b|^2 / 2
            best = 1 / (1 + np.sqrt(np.maximum(_squares(vectors)[:, None] - 2 * best, 0)))
        return rows_of_best(index, best, n_base)

    def _best(
        self, queries: Any, n_neighbors: int, skip_self: bool, n_jobs: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        n_base, dtype = self._shape[0], queries.dtype
        # the computed cosine of orthogonal dense rows may be a little above zero
        zero = 0.0 if self._inverted is not None else 16 * np.finfo(dtype).eps
        least = dtype.type(-np.inf if self._metric == "euclidean" else zero)
        run: Callable[..., tuple[np.ndarray, np.ndarray]]
        search: _SparseSearch | _DenseSearch
        if self._inverted is not None:
            begin = np.zeros(n_base, self._dtype) if self._half_squares is None else -self._half_squares
            run, intersect, parts = _best_of_sparse, self._metric == "intersection", csr_parts(queries)
            search = _SparseSearch(self._inverted.postings, begin, parts, intersect, least, n_neighbors, skip_self)
        else:
            assert self._padded is not None
            run, rows = _best_of_dense, np.ascontiguousarray(queries)
            search = _DenseSearch(self._padded, self._half_squares, rows, n_base, least, n_neighbors, skip_self)
        with single_threaded_libraries():
            results = list(map_anywhere(run, (search,), query_blocks(queries.shape[0]), n_jobs))
        return np.concatenate([index for index, _ in results]), np.concatenate([best for _, best in results])


def _check_kinds(sparse_queries: bool, sparse_base: bool, metric: str) -> None:
    check_metric(metric)
    if sparse_queries is not sparse_base:
        raise InputError("only one of queries and base is sparse: expected both sparse or both dense")
    if not sparse_base and metric == "intersection":
        raise InputError("metric='intersection' is for counts: expected a sparse matrix, got a dense one")


class _SparseSearch(NamedTuple):
    postings: tuple[np.ndarray, ...]  # the documents of each word: indptr, documents, values
    begin: np.ndarray  # a score of each document to start with
    queries: tuple[np.ndarray, ...]  # indptr, words, values
    intersect: bool
    least: np.generic
    n_neighbors: int
    skip_self: bool


class _DenseSearch(NamedTuple):
    base: np.ndarray  # rows padded to whole tiles
    half_squares: np.ndarray | None
    queries: np.ndarray
    n_base: int
    least: np.generic
    n_neighbors: int
    skip_self: bool


def _best_of_sparse(search: _SparseSearch, rows: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """(index, best): the documents with the highest scores for some queries, in no order; see `keep_best`."""
    n_base, dtype = len(search.begin), search.begin.dtype
    step = max(1, min(_DENSE_ROWS, _SCORES_IN_CACHE // n_base))
    scores = np.empty((step, n_base), dtype)
    index, best = _places(rows, search.n_neighbors, dtype)
    for first in range(*rows, step):
        last = min(first + step, rows[1])
        score_rows(*search.queries, first, last, *search.postings, search.begin, search.intersect, scores)
        _keep(scores, first, last, rows[0], search.skip_self, search.least, index, best)
    return index, best


def _best_of_dense(search: _DenseSearch, rows: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The same as `_best_of_sparse` for dense rows.

    Products are in double precision: in single precision, on some processors (Haswell, Zen), OpenBLAS sums a cell in an
    order that depends on its position, so the neighbours of a document would depend on its batch.
    """
    base, queries, n_base = search.base, search.queries, search.n_base
    products, scores = (np.empty((_DENSE_ROWS, len(base)), dtype) for dtype in (np.float64, queries.dtype))
    index, best = _places(rows, search.n_neighbors, queries.dtype)
    for first in range(*rows, _DENSE_ROWS):
        last = min(first + _DENSE_ROWS, rows[1])
        block = np.zeros((_DENSE_ROWS, queries.shape[1]))
        block[: last - first] = queries[first:last]
        scores[:] = np.matmul(block, base.T, out=products)
        scores[:, :n_base] -= 0 if search.half_squares is None else search.half_squares
        scores[:, n_base:] = -np.inf
        _keep(scores, first, last, rows[0], search.skip_self, search.least, index, best)
    return index, best


def _places(rows: tuple[int, int], n_neighbors: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    shape = (rows[1] - rows[0], n_neighbors)
    return np.empty(shape, np.int32), np.empty(shape, dtype)


def _keep(
    scores: np.ndarray,
    first: int,
    last: int,
    begin: int,
    skip_self: bool,
    least: np.generic,
    index: np.ndarray,
    best: np.ndarray,
) -> None:
    if skip_self:
        scores[np.arange(last - first), np.arange(first, last)] = -np.inf
    block = slice(first - begin, last - begin)
    keep_best(scores, least, index[block], best[block])


def rows_of_best(index: np.ndarray, best: np.ndarray, n_base: int) -> sp.csr_array:
    """The best columns and values of each row as a sparse matrix; column n_base means no neighbour."""
    order = np.argsort(index, axis=1)
    index, best = np.take_along_axis(index, order, axis=1), np.take_along_axis(best, order, axis=1)
    is_neighbor = index < n_base
    indptr = np.concatenate([[0], np.cumsum(is_neighbor.sum(axis=1))])
    return sp.csr_array((best[is_neighbor], index[is_neighbor], indptr), (len(index), n_base))


def _approximate(base: np.ndarray, n_neighbors: int, metric: str) -> sp.csr_array:
    purpose = f"a neighbour graph of more than {_MOST_EXACT:,} dense rows"
    NNDescent = import_extra("pynndescent", "neighbors", purpose).NNDescent
    # one thread: the result depends on how the work is split
    descent = NNDescent(base, metric=metric, n_neighbors=n_neighbors + 1, random_state=0, n_jobs=1)
    index, distance = descent.neighbor_graph
    best = 1 / (1 + distance) if metric == "euclidean" else 1 - distance
    no_neighbor = (index < 0) | (index == np.arange(len(base))[:, None]) | (best <= 0)
    if metric == "cosine":
        zero = _squares(base) == 0
        no_neighbor |= zero[:, None] | zero[index]
    index, best = np.where(no_neighbor, len(base), index), np.where(no_neighbor, 0, best)
    order = np.lexsort((index, -best))[:, :n_neighbors]
    return rows_of_best(np.take_along_axis(index, order, axis=1), np.take_along_axis(best, order, axis=1), len(base))


def check_metric(metric: Any) -> None:
    if metric not in METRICS:
        raise InputError(f"metric={metric!r}: expected one of {', '.join(METRICS)}")


def check_finite(matrix: Any, name: str) -> None:
    values = matrix.data if sp.issparse(matrix) else matrix
    if values.dtype.kind not in "biuf":
        raise InputError(f"{name} contains values of type {values.dtype}: expected numbers")
    if not np.isfinite(values).all():
        raise InputError(f"{name} contains NaN or infinite values: expected finite numbers")


def _vectors(rows: Any, metric: str) -> Any:
    """Rows for the search in float32 or float64: of length one for cosine, in float64 for Euclidean distances."""
    sparse = sp.issparse(rows)
    rows = canonical(rows) if sparse else np.asarray(rows)
    if rows.ndim != 2:
        raise InputError(f"X has {rows.ndim} dimensions: expected one row per document")
    check_finite(rows, "X")
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
    """The squared length of each row, each row summed separately and in float64."""
    if not sp.issparse(rows):
        return np.array([np.dot(row, row) for row in map(np.float64, rows)])
    squares = rows.astype(np.float64)
    squares.data = squares.data**2
    return np.asarray(squares.sum(axis=1))
