from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.neighbors import NearestNeighbors

from topicfold import Corpus
from topicfold.graph import neighbors
from topicfold.graph.build import constrained_graph, knn_graph, label_graph, laplacian, link_graph
from topicfold.graph.check import check_graph, check_neighbors, label_codes
from topicfold.graph.files import read_graph
from topicfold.graph.neighbors import METRICS, document_vectors, nearest

# Few values and few columns: empty rows, equal rows and ties are common.
small_counts = hnp.arrays(np.int64, st.tuples(st.integers(1, 9), st.integers(1, 4)), elements=st.integers(0, 3))


@pytest.fixture(scope="module")
def random_counts() -> sp.csr_array:
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.1, (1100, 60))
    counts[::50] = 0
    counts[1::50] = counts[3::50]
    return sp.csr_array(counts)


@pytest.fixture(scope="module")
def embeddings() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((700, 16)).astype(np.float32)


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


# ---- nearest --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=60, deadline=None)
@given(counts=small_counts, n_neighbors=st.integers(1, 10), skip_self=st.booleans())
def test_sparse_search_finds_what_all_pairs_show(metric, counts, n_neighbors, skip_self):
    rows = sp.csr_array(counts)
    expected = similarities(counts, counts, metric)
    assert_nearest(
        nearest(rows, rows, n_neighbors, metric=metric, skip_self=skip_self), expected, n_neighbors, skip_self
    )


@pytest.mark.parametrize("metric", ["intersection", "euclidean"])
@settings(max_examples=60, deadline=None)
@given(counts=small_counts, n_neighbors=st.integers(1, 10))
def test_of_equally_near_documents_the_first_is_taken(metric, counts, n_neighbors):
    rows = sp.csr_array(counts)  # whole numbers: equal similarities are equal to the last bit
    found = nearest(rows, rows, n_neighbors, metric=metric)
    expected = similarities(counts, counts, metric)
    for row in range(len(counts)):
        order = [column for column in np.lexsort((np.arange(len(counts)), -expected[row])) if expected[row, column] > 0]
        assert found[[row]].indices.tolist() == sorted(order[:n_neighbors])


def test_ties_among_many_equal_documents():
    rows = sp.csr_array(np.tile([1, 2, 0], (300, 1)))
    for metric in METRICS:
        found = nearest(rows, rows, 7, metric=metric, skip_self=True)
        assert found[[200]].indices.tolist() == [0, 1, 2, 3, 4, 5, 6]
        assert found[[3]].indices.tolist() == [0, 1, 2, 4, 5, 6, 7]
    found = nearest(np.tile([1.0, 2.0], (300, 1)), np.tile([1.0, 2.0], (300, 1)), 7, metric="euclidean")
    assert (found.indices.reshape(300, 7) == np.arange(7)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_dense_ties_and_places(metric, dtype):
    rng = np.random.default_rng(3)
    row, queries = rng.standard_normal(50).astype(dtype), rng.standard_normal((150, 50)).astype(dtype)
    queries[queries @ row < 0] *= -1
    found = nearest(queries, np.tile(row, (301, 1)), 4, metric=metric)  # matrix products sum the last columns otherwise
    assert (found.indices.reshape(150, 4) == np.arange(4)).all()
    found = nearest(np.tile(row, (150, 1)), queries, 150, metric=metric).toarray()  # and the last rows
    assert (found == found[0]).all()
    assert (found[0] > 0).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_orthogonal_rows_are_no_neighbours(dtype):
    rows = np.array([[1, -1], [-1, -1], [2, 1], [1, -2]], dtype)
    found = nearest(rows, rows, 3, skip_self=True).toarray()
    assert (found > 0).tolist() == (np.triu(rows @ rows.T > 0, 1) | np.tril(rows @ rows.T > 0, -1)).tolist()


def test_documents_without_a_common_word_can_be_the_nearest_in_distance():
    rows = sp.csr_array([[1, 0, 0], [0, 1, 0], [9, 0, 0], [0, 0, 0]])
    found = nearest(rows, rows, 1, metric="euclidean", skip_self=True)
    assert found.indices.tolist() == [3, 3, 0, 0]
    np.testing.assert_allclose(found.data, [0.5, 0.5, 1 / 9, 0.5])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_neighbors", [1, 10, 300])
def test_sparse_search_over_several_blocks(metric, n_neighbors, random_counts):
    vectors = document_vectors(random_counts, metric)
    part = vectors[:600]  # more than a block of queries
    found = nearest(part, vectors, n_neighbors, metric=metric)
    assert_nearest(found[:40], similarities(part[:40].toarray(), vectors.toarray(), metric), n_neighbors)
    assert same(nearest(part, vectors, n_neighbors, metric=metric, n_jobs=2), found)
    for rows in (slice(0, 1), slice(17, 90), slice(511, 514)):
        assert same(nearest(part[rows], vectors, n_neighbors, metric=metric), found[rows])


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dense_search(metric, dtype, embeddings):
    base = embeddings.astype(dtype)
    base[5] = 0
    found = nearest(base, base, 6, metric=metric, skip_self=True)
    assert_nearest(found, similarities(base, base, metric), 6, skip_self=True)
    assert found[[5]].nnz == (6 if metric == "euclidean" else 0)
    assert same(nearest(base, base, 6, metric=metric, skip_self=True, n_jobs=2), found)
    found = nearest(base, base, 6, metric=metric)
    for rows in (slice(0, 1), slice(17, 190), slice(511, 514)):
        assert same(nearest(base[rows], base, 6, metric=metric), found[rows])


@settings(max_examples=60, deadline=None)
@given(
    rows=hnp.arrays(np.float64, st.tuples(st.integers(1, 9), st.integers(1, 3)), elements=st.integers(-2, 2)),
    n_neighbors=st.integers(1, 10),
    metric=st.sampled_from(["cosine", "euclidean"]),
)
def test_dense_search_finds_what_all_pairs_show(rows, n_neighbors, metric):
    assert_nearest(nearest(rows, rows, n_neighbors, metric=metric), similarities(rows, rows, metric), n_neighbors)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_distances_are_scikit_learns(metric, random_counts):
    counts = random_counts[np.diff(random_counts.indptr) > 0]
    vectors = document_vectors(counts, metric)
    theirs = NearestNeighbors(n_neighbors=5, metric=metric, algorithm="brute").fit(vectors).kneighbors()[0]
    ours = nearest(vectors, vectors, 5, metric=metric, skip_self=True).data.reshape(-1, 5)
    ours = 1 - ours if metric == "cosine" else 1 / ours - 1
    np.testing.assert_allclose(np.sort(ours, axis=1), theirs, atol=1e-5)


@pytest.mark.slow  # pynndescent compiles itself in each process
def test_many_dense_rows_go_to_pynndescent(embeddings, monkeypatch):
    pytest.importorskip("pynndescent")
    expected = nearest(embeddings, embeddings, 5, skip_self=True)
    monkeypatch.setattr(neighbors, "_EXACT_DENSE", 100)
    found = nearest(embeddings, embeddings, 5, skip_self=True)
    assert (np.diff(found.indptr) <= 5).all()
    shared = found.multiply(expected != 0)
    assert shared.nnz > 0.9 * expected.nnz
    np.testing.assert_allclose(shared.data, expected.multiply(found != 0).data, rtol=1e-4)
    assert same(nearest(embeddings, embeddings, 5, skip_self=True, n_jobs=2), found)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_what_pynndescent_finds(metric, monkeypatch):
    rows = np.array([[1.0, 0], [1, 1], [1, 1], [0, 2], [-1, 0], [0, 0]])
    exact = nearest(rows, rows, 2, metric=metric, skip_self=True)

    class NNDescent:
        def __init__(self, data, metric, n_neighbors, random_state, n_jobs):
            unit = similarities(data, data, metric)
            distance = 1 - unit if metric == "cosine" else 1 / unit - 1
            if metric == "cosine":
                distance[5, 5] = 0  # two zero vectors count as equal there
            index = np.argsort(distance, axis=1, kind="stable")[:, :n_neighbors]
            self.neighbor_graph = index, np.take_along_axis(distance, index, axis=1)
            self.neighbor_graph[0][4, -1] = -1  # not found

    monkeypatch.setattr(neighbors, "_EXACT_DENSE", 5)
    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=NNDescent))
    found = nearest(rows, rows, 2, metric=metric, skip_self=True)
    assert found[[4]].nnz == (1 if metric == "euclidean" else 0)
    others = [0, 1, 2, 3, 5]
    np.testing.assert_array_equal(found.toarray()[others] > 0, exact.toarray()[others] > 0)
    np.testing.assert_allclose(found.toarray()[others], exact.toarray()[others], rtol=1e-6)
    assert same(nearest(rows[:3], rows, 2, metric=metric), nearest(rows, rows, 2, metric=metric)[:3])  # exact as ever


def test_pynndescent_missing(embeddings, monkeypatch):
    monkeypatch.setattr(neighbors, "_EXACT_DENSE", 100)
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(ImportError, match=r"100 dense rows need pynndescent: pip install 'topicfold\[neighbors\]'"):
        knn_graph(embeddings)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            (sp.eye_array(3), sp.eye_array(4), 1),
            {},
            r"shape \(3, 3\), base has \(4, 4\): expected the same number of col",
        ),
        ((np.eye(3), np.ones((4, 3)), 1), {"skip_self": True}, "expected the same shape, as skip_self is set"),
        ((np.eye(3), sp.eye_array(3), 1), {}, "both to be sparse, or both dense"),
        ((np.eye(3), np.eye(3), 1), {"metric": "intersection"}, "expected a sparse matrix, got a dense one"),
        ((np.eye(3), np.eye(3), 0), {}, "n_neighbors=0: expected a whole number, 1 or more"),
        ((np.ones(3), np.ones(3), 1), {}, "X has 1 dimensions"),
    ],
)
def test_bad_searches(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        nearest(*arguments, **options)


# ---- vectors and the graph of neighbours ----------------------------------------------------------------------------


def test_document_vectors():
    counts = np.array([[1, 2, 0], [0, 3, 1], [0, 0, 0], [0, 1, 0]])
    idf = np.log(5 / (1 + np.array([1, 3, 1]))) + 1e-3
    weighted = np.log1p(counts) * idf
    cosine = document_vectors(sp.csr_array(counts))
    assert cosine.dtype == np.float32
    np.testing.assert_allclose(
        cosine.toarray()[[0, 1, 3]],
        weighted[[0, 1, 3]] / np.linalg.norm(weighted[[0, 1, 3]], axis=1)[:, None],
        rtol=1e-6,
    )
    assert not cosine.toarray()[2].any()
    shares = document_vectors(sp.csr_array(counts), "intersection").toarray()
    np.testing.assert_allclose(
        shares[[0, 1, 3]], weighted[[0, 1, 3]] / weighted[[0, 1, 3]].sum(axis=1)[:, None], rtol=1e-6
    )
    assert (document_vectors(sp.csr_array(counts), "euclidean").toarray() == counts).all()
    others = document_vectors(sp.csr_array(counts), idf=np.array([1.0, 2.0, 0.0])).toarray()
    expected = np.array([np.log(2), 2 * np.log(3), 0])
    np.testing.assert_allclose(others[0], expected / np.linalg.norm(expected), rtol=1e-6)
    for metric in METRICS:  # whatever type the counts are in
        whole, floats = (document_vectors(sp.csr_array(counts.astype(dtype)), metric) for dtype in ("int32", "float32"))
        assert same(whole, floats)
    with pytest.raises(ValueError, match="idf has 2 values: expected one for each of the 3 words"):
        document_vectors(sp.csr_array(counts), idf=np.ones(2))


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=40, deadline=None)
@given(counts=small_counts, n_neighbors=st.integers(1, 10))
def test_knn_graph_joins_when_either_is_near(metric, counts, n_neighbors):
    vectors = document_vectors(sp.csr_array(counts), metric)
    directed = nearest(vectors, vectors, n_neighbors, metric=metric, skip_self=True).toarray()
    found = knn_graph(sp.csr_array(counts), n_neighbors, metric=metric)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.toarray(), (directed > 0) | (directed.T > 0))
    assert same(check_graph(found, len(counts)), found)
    if metric != "euclidean":
        weighted = knn_graph(sp.csr_array(counts), n_neighbors, metric=metric, weighted=True)
        np.testing.assert_array_equal(weighted.toarray(), np.maximum(directed, directed.T))


def test_knn_graph_inputs(blocks, embeddings):
    counts, block = blocks
    expected = knn_graph(counts)
    edges = expected.tocoo()
    assert (block[edges.row] == block[edges.col]).all()
    assert same(knn_graph(Corpus.from_counts(counts)), expected)
    assert same(knn_graph(counts.toarray()), expected)  # whole numbers are counts
    assert same(knn_graph(sp.coo_matrix(counts), n_jobs=2), expected)
    plain = knn_graph(counts, weighting=None, weighted=True)
    lengths = np.linalg.norm(counts.toarray(), axis=1, keepdims=True)
    assert_nearest(nearest(counts, counts, 5), (counts @ counts.T).toarray() / lengths / lengths.T, 5)
    assert plain.data.max() <= 1 + 1e-6
    near = nearest(embeddings, embeddings, 5, skip_self=True)
    assert same(knn_graph(embeddings, weighted=True), near.maximum(near.T).astype(float))
    assert knn_graph(embeddings, weighting=None).nnz == knn_graph(embeddings).nnz


def test_few_documents():
    assert knn_graph(sp.csr_array([[1, 2]])).shape == (1, 1)
    assert knn_graph(sp.csr_array([[1, 2]])).nnz == 0
    assert knn_graph(np.array([[0.5, 2.0]])).nnz == 0
    assert (knn_graph(sp.csr_array([[1, 2], [2, 1], [1, 1]]), 99).toarray() == 1 - np.eye(3)).all()
    assert knn_graph(sp.csr_array((3, 4))).nnz == 0


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (sp.eye_array(3), {"n_neighbors": 0}, "n_neighbors=0: expected a whole number, 1 or more"),
        (sp.eye_array(3), {"n_neighbors": 2.5}, r"n_neighbors=2\.5: expected a whole number"),
        (sp.eye_array(3), {"n_neighbors": True}, "n_neighbors=True"),
        (sp.eye_array(3), {"metric": "jaccard"}, "metric='jaccard': expected one of cosine, intersection, euclidean"),
        (sp.eye_array(3), {"weighting": "bm25"}, "weighting='bm25': expected 'tfidf', or None"),
        (sp.eye_array(3), {"metric": "euclidean", "weighted": True}, "weighted=True needs a similarity"),
        (-sp.eye_array(3), {}, "X holds -1: counts cannot be negative"),
        (np.eye(3) * np.nan, {}, "X holds NaN or infinite values"),
        (sp.eye_array(3) * np.inf, {}, "X holds NaN or infinite values"),
        (np.ones(3), {}, "X has 1 dimensions: expected a row a document"),
        (np.array([["a", "b"]]), {}, "expected numbers"),
    ],
)
def test_bad_knn_graphs(X, options, message):
    with pytest.raises(ValueError, match=message):
        knn_graph(X, **options)


# ---- links, labels, constraints -------------------------------------------------------------------------------------


def test_link_graph():
    links = [(0, 1), (1, 0), (0, 1), (2, 2), (3, 1)]
    assert link_graph(links, 4).toarray().tolist() == [[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]]
    weighted = link_graph(np.array(links), 4, weights=[1, 2, 0.5, 9, 0])
    assert weighted[0, 1] == weighted[1, 0] == 3.5
    assert weighted.nnz == 2
    assert link_graph([], 3).shape == (3, 3)
    assert same(link_graph(np.array(links, float), 4), link_graph(links, 4))


@pytest.mark.parametrize(
    ("links", "weights", "message"),
    [
        ([(0, 1), (2, 3)], None, "link 1 joins rows 2 and 3: expected rows 0 to 2"),
        ([(0, -1)], None, "link 0 joins rows 0 and -1"),
        ([(0, 1, 2)], None, r"link has shape \(1, 3\): expected pairs of rows, n x 2"),
        ([(0, 1.5)], None, "expected whole numbers"),
        ([("a", "b")], None, "expected whole numbers"),
        ([(0, 1)], [1, 2], "expected one weight for each of the 1 links"),
        ([(0, 1), (1, 2)], [1, -2], "link 1 has the weight -2"),
        ([(0, 1), (1, 2)], [1, np.nan], "link 1 has the weight nan"),
    ],
)
def test_bad_links(links, weights, message):
    with pytest.raises(ValueError, match=message):
        link_graph(links, 3, weights=weights)


def naive_label_graph(weights, y):
    weights = weights.copy()
    for i in range(len(y)):
        for j in range(len(y)):
            if i != j and y[i] >= 0 and y[j] >= 0:
                weights[i, j] = max(weights[i, j], 1) if y[i] == y[j] else 0
    return weights


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 9))
def test_label_graph_against_a_double_loop(data, n):
    weights = data.draw(hnp.arrays(np.float64, (n, n), elements=st.sampled_from([0, 0.5, 1, 3])))
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    y = data.draw(hnp.arrays(np.int64, n, elements=st.integers(-1, 2)))
    found = label_graph(sp.csr_array(weights), y)
    np.testing.assert_array_equal(found.toarray(), naive_label_graph(weights, y))
    assert found.has_canonical_format


@pytest.mark.parametrize("n", [50, 51, 52, 53, 100, 1001])
def test_large_classes_keep_their_pull_with_few_edges(n):
    y = np.concatenate([np.zeros(n), [1, 1, -1]]).astype(int)
    y = np.random.default_rng(0).permutation(y)
    found = label_graph(sp.csr_array((n + 3, n + 3)), y)
    degrees = found.sum(axis=1)
    np.testing.assert_allclose(degrees[y == 0], n - 1)
    assert degrees[y == 1].tolist() == [1, 1]
    assert degrees[y == -1] == 0
    assert (np.diff(found.indptr)[y == 0] == min(n - 1, 50)).all()
    assert same(check_graph(found, n + 3), found)
    assert sp.csgraph.connected_components(found)[0] == 3


def test_label_codes():
    expected = [1, -1, 0, 1]
    for y in (
        [7, -1, 3, 7],
        np.array([7, -1, 3, 7]),
        np.array([7, np.nan, 3, 7]),
        np.array([[7.0], [-1.0], [3.0], [7.0]]),
        ["b", None, "a", "b"],
        ["b", np.nan, "a", "b"],
        ["b", -1, "a", "b"],
        np.array(["b", "-1", "a", "b"]),
        [True, None, False, True],
        pd.Series(["b", None, "a", "b"]),
        pd.Series(["b", None, "a", "b"], dtype="category"),
        pd.Series([7, None, 3, 7], dtype="Int64"),
        pd.DataFrame({"y": [7, -1, 3, 7]}),
    ):
        codes = label_codes(y, 4)
        assert codes.tolist() == expected, y
        assert codes.dtype == np.int64
    assert label_codes(np.array([True, False]), 2).tolist() == [1, 0]
    assert label_codes([10, 9, "x"], 3).tolist() == [0, 1, 2]  # as strings
    assert label_codes([None, -1], 2).tolist() == [-1, -1]
    assert label_codes([], 0).tolist() == []


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2], r"y has shape \(2,\): expected one label for each of the 3 documents"),
        (np.ones((3, 2), int), r"y has shape \(3, 2\)"),
        ([0.5, 1.0, 2.0], r"y holds 0\.5: expected labels"),
        (np.array([1, np.inf, 2], np.float32), "y holds inf: expected labels"),
    ],
)
def test_bad_labels(y, message):
    with pytest.raises(ValueError, match=message):
        label_codes(y, 3)


def test_constrained_graph():
    weights = np.array([[0, 2, 0.5, 0], [2, 0, 1, 0], [0.5, 1, 0, 1], [0, 0, 1, 0]])
    found = constrained_graph(weights, must_link=[(1, 0), (0, 2), (3, 0)], cannot_link=[(2, 1), (1, 3)])
    assert found.toarray().tolist() == [[0, 2, 1, 1], [2, 0, 0, 0], [1, 0, 0, 1], [1, 0, 1, 0]]
    assert found.nnz == 8
    assert (constrained_graph(weights).toarray() == weights).all()
    with pytest.raises(ValueError, match=r"the pair \(0, 1\) is in must_link and in cannot_link"):
        constrained_graph(weights, must_link=[(2, 3), (1, 0)], cannot_link=[(0, 1)])
    with pytest.raises(ValueError, match="cannot_link 0 joins rows 0 and 4: expected rows 0 to 3"):
        constrained_graph(weights, cannot_link=[(0, 4)])


@settings(max_examples=30, deadline=None)
@given(counts=small_counts)
def test_laplacian(counts):
    weights = knn_graph(sp.csr_array(counts), 2, weighted=True)
    found = laplacian(weights)
    assert found.format == "csr"
    dense = weights.toarray()
    np.testing.assert_allclose(found.toarray(), np.diag(dense.sum(axis=1)) - dense)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-12)
    values = np.arange(len(counts)) ** 2.0
    pairs = ((values[:, None] - values) ** 2 * dense).sum() / 2
    np.testing.assert_allclose(values @ (found @ values), pairs, rtol=1e-9, atol=1e-9)


# ---- graphs that are given ------------------------------------------------------------------------------------------


def test_check_graph_takes_what_scipy_takes():
    weights = np.array([[5.0, 1, 0], [1, 0, 2], [0, 2, 7]])
    expected = weights - np.diag(weights.diagonal())
    for given_graph in (
        weights,
        weights.astype(int),
        weights.tolist(),
        sp.coo_matrix(weights),
        sp.lil_array(weights),
        sp.dok_array(weights),
    ):
        found = check_graph(given_graph, 3)
        assert isinstance(found, sp.csr_array)
        assert found.dtype == np.float64
        assert (found.toarray() == expected).all()
        assert found.nnz == 4
    twice = sp.coo_array(([1, 1, 2.0], ([0, 0, 1], [1, 1, 0])), (3, 3))
    assert check_graph(twice, 3)[0, 1] == 2
    assert (check_graph(weights > 0, 3).toarray() == (expected > 0)).all()
    rounded = weights.copy()
    rounded[0, 1] *= 1 + 1e-9
    found = check_graph(rounded, 3)
    assert found[0, 1] == found[1, 0]
    assert check_graph(sp.csr_array((0, 0)), 0).shape == (0, 0)


@pytest.mark.parametrize(
    ("given_graph", "message"),
    [
        (np.zeros((2, 2)), r"graph has shape \(2, 2\): expected \(3, 3\)$"),
        (np.zeros((3, 5)), "cross-validation cannot slice a graph: give embeddings or no graph there"),
        (np.zeros(3), "graph is a ndarray: expected a matrix of 3 x 3 documents"),
        ([[0, np.nan, 0], [np.nan, 0, 0], [0, 0, 0]], "graph holds NaN or infinite values"),
        (sp.csr_array([[0, np.inf, 0], [np.inf, 0, 0], [0, 0, 0]]), "graph holds NaN or infinite values"),
        ([[0, -1, 0], [-1, 0, 0], [0, 0, 0]], "graph holds the weight -1: expected none below zero"),
        ([[0, 1, 0], [0.5, 0, 0], [0, 0, 0]], r"not symmetric: \[0, 1\] is 1 and \[1, 0\] is 0\.5"),
        (np.zeros((3, 3), complex) + 1j, "graph holds values of type complex128: expected numbers"),
    ],
)
def test_bad_graphs(given_graph, message):
    with pytest.raises(ValueError, match=message):
        check_graph(given_graph, 3)


def test_check_neighbors():
    edges = np.array([[1, 0, 2], [0, 0, 0.0]])
    assert (check_neighbors(edges, 2, 3).toarray() == edges).all()
    assert isinstance(check_neighbors(sp.coo_array(edges), 2, 3), sp.csr_array)
    with pytest.raises(ValueError, match=r"shape \(2, 3\): expected \(3, 3\), new documents x documents of the fit"):
        check_neighbors(edges, 3, 3)
    with pytest.raises(ValueError, match="weight -1"):
        check_neighbors(-edges / 2, 2, 3)


IDS = ("a", "b b", "c")
EXPECTED = [[0, 1, 0], [1, 0, 2.5], [0, 2.5, 0]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.csv", "source,target,weight\na,b b,1\nc,b b,2.5\n"),
        ("g.csv", '\ufeffa,"b b",1\n\nc,b b,2\nb b,c,0.5\n'),
        ("g.tsv", "from\tto\tweight\r\na\tb b\t1\r\nc\tb b\t2.5\r\n"),
    ],
)
def test_read_edges(name, text, tmp_path):
    (tmp_path / name).write_bytes(text.encode())
    assert read_graph(tmp_path / name, IDS).toarray().tolist() == EXPECTED


def test_read_rows_and_plain_edges(tmp_path):
    file = tmp_path / "g.txt"
    file.write_text("from to\n0 1\n1 0\n3 1\n")
    assert read_graph(file, None).toarray().tolist() == link_graph([(0, 1), (1, 3)], 4).toarray().tolist()
    file.write_text("x y\n")
    assert read_graph(file, ["y", "z", "x"]).toarray().tolist() == link_graph([(0, 2)], 3).toarray().tolist()
    file.write_text("")
    assert read_graph(str(file), ["y", "z"]).nnz == 0


def test_read_matrix(tmp_path):
    directed = sp.csr_array(np.triu(EXPECTED))
    sp.save_npz(tmp_path / "g.npz", directed)
    assert read_graph(tmp_path / "g.npz", IDS).toarray().tolist() == EXPECTED
    assert read_graph(tmp_path / "g.npz", None).toarray().tolist() == EXPECTED
    with pytest.raises(ValueError, match=r"shape \(3, 3\): expected \(2, 2\)"):
        read_graph(tmp_path / "g.npz", ["a", "b"])


@pytest.mark.parametrize(
    ("name", "text", "ids", "message"),
    [
        ("g.csv", "a,c\na,z\n", IDS, "line 2: 'z' is not one of the ids of the 3 documents"),
        ("g.csv", "x,y\n", IDS, "line 1: 'x' is not one of the ids"),
        ("g.csv", "a,y\na,c\n", IDS, "line 1: 'y' is not one of the ids"),
        ("g.txt", "0 1\n1 -2\n", None, "line 2: '-2' is not a row number"),
        ("g.csv", "a,c,1\na,c\n", IDS, "line 1: 3 columns; expected two ids, and a weight in all lines or none"),
        ("g.csv", "a\n", IDS, "line 1: 1 columns"),
        ("g.csv", "a,c,much\n", IDS, "line 1: 'much' is not a weight; expected a number"),
        ("g.csv", "a,c,-1\n", IDS, "link 0 has the weight -1"),
        ("g.csv", "a,c\n", ["a", "a", "c"], "the same id twice"),
        ("g.jsonl", "", IDS, r"expected a file that ends in \.npz, \.csv, \.tsv or \.txt"),
    ],
)
def test_bad_files(name, text, ids, message, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_graph(tmp_path / name, ids)
