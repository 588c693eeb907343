"""Nearest neighbours beside all pairs, and the vectors they are found by."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from neighbor_cases import assert_nearest, same, similarities, small_counts
from sklearn.neighbors import NearestNeighbors

from topicfold.graph import neighbors
from topicfold.graph.build import knn_graph
from topicfold.graph.neighbors import METRICS, NeighborIndex, document_vectors, nearest


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
    monkeypatch.setattr(neighbors, "_MOST_EXACT", 100)
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

    monkeypatch.setattr(neighbors, "_MOST_EXACT", 5)
    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=NNDescent))
    found = nearest(rows, rows, 2, metric=metric, skip_self=True)
    assert found[[4]].nnz == (1 if metric == "euclidean" else 0)
    others = [0, 1, 2, 3, 5]
    np.testing.assert_array_equal(found.toarray()[others] > 0, exact.toarray()[others] > 0)
    np.testing.assert_allclose(found.toarray()[others], exact.toarray()[others], rtol=1e-6)
    assert same(nearest(rows[:3], rows, 2, metric=metric), nearest(rows, rows, 2, metric=metric)[:3])  # exact as ever


def test_pynndescent_missing(embeddings, monkeypatch):
    monkeypatch.setattr(neighbors, "_MOST_EXACT", 100)
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(ImportError, match=r"100 dense rows needs pynndescent: pip install 'topicfold\[neighbors\]'"):
        knn_graph(embeddings)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            (sp.eye_array(3), sp.eye_array(4), 1),
            {},
            r"shape \(3, 3\), base has \(4, 4\): expected the same number of col",
        ),
        ((np.eye(3), np.ones((4, 3)), 1), {"skip_self": True}, "expected the same shape with skip_self"),
        ((np.eye(3), sp.eye_array(3), 1), {}, "both sparse or both dense"),
        ((np.eye(3), np.eye(3), 1), {"metric": "intersection"}, "expected a sparse matrix, got a dense one"),
        ((np.eye(3), np.eye(3), 0), {}, "n_neighbors=0: expected a whole number, at least 1"),
        ((np.ones(3), np.ones(3), 1), {}, "X has 1 dimensions"),
    ],
)
def test_bad_searches(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        nearest(*arguments, **options)


@pytest.mark.parametrize("metric", METRICS)
def test_an_index_finds_what_a_single_search_finds(metric, random_counts, embeddings):
    vectors = document_vectors(random_counts, metric)
    bases = [vectors] if metric == "intersection" else [vectors, embeddings]
    for base in bases:
        index = NeighborIndex(base[:600], metric)
        for queries in (base[600:], base[650:651], base[:0]):
            assert same(index.nearest(queries, 4), nearest(queries, base[:600], 4, metric=metric))
            assert same(index.nearest(queries, 4, n_jobs=2), index.nearest(queries, 4))
    with pytest.raises(ValueError, match="expected the same number of columns"):
        index.nearest(bases[-1][:3, :5], 4)
    with pytest.raises(ValueError, match="expected both sparse or both dense"):
        index.nearest(embeddings if sp.issparse(bases[-1]) else vectors, 4)
    with pytest.raises(ValueError, match="n_neighbors=0: expected a whole number, at least 1"):
        index.nearest(bases[-1], 0)


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
