"""Graphs of neighbours, links, labels and constraints."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from neighbor_cases import assert_nearest, same, small_counts

from topicfold import Corpus
from topicfold.corpus.weighting import lsi_vectors
from topicfold.graph.build import constrained_graph, knn_graph, label_graph, laplacian, link_graph
from topicfold.graph.check import check_graph
from topicfold.graph.neighbors import METRICS, document_vectors, nearest


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


def test_lsi_adds_the_neighbours_by_lsi_vectors(blocks):
    counts, _ = blocks
    latent = lsi_vectors(counts, 50, np.random.RandomState(0))
    for weighted in (False, True):
        by_words, by_lsi = (knn_graph(X, 4, weighted=weighted) for X in (counts, latent))
        both = knn_graph(counts, 4, metric="lsi", weighted=weighted)
        assert np.array_equal(both.toarray(), (by_words + by_lsi).toarray())
        assert same(check_graph(both, 30), both)


def test_few_documents():
    for counts in ([[1, 2]], [[1, 2], [0, 0]], [[0, 0], [0, 0]]):
        assert knn_graph(sp.csr_array(counts), metric="lsi").shape == (len(counts), len(counts))
    assert knn_graph(sp.csr_array([[1, 2]])).shape == (1, 1)
    assert knn_graph(sp.csr_array([[1, 2]])).nnz == 0
    assert knn_graph(np.array([[0.5, 2.0]])).nnz == 0
    assert (knn_graph(sp.csr_array([[1, 2], [2, 1], [1, 1]]), 99).toarray() == 1 - np.eye(3)).all()
    assert knn_graph(sp.csr_array((3, 4))).nnz == 0


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (sp.eye_array(3), {"n_neighbors": 0}, "n_neighbors=0: expected a whole number, at least 1"),
        (sp.eye_array(3), {"n_neighbors": 2.5}, r"n_neighbors=2\.5: expected a whole number"),
        (sp.eye_array(3), {"n_neighbors": True}, "n_neighbors=True"),
        (sp.eye_array(3), {"metric": "jaccard"}, "'jaccard': expected one of cosine, intersection, euclidean, lsi"),
        (np.eye(3), {"metric": "lsi"}, "metric='lsi' is for counts"),
        (sp.eye_array(3), {"weighting": "bm25"}, "weighting='bm25': expected 'tfidf', or None"),
        (sp.eye_array(3), {"metric": "euclidean", "weighted": True}, "weighted=True needs a similarity"),
        (-sp.eye_array(3), {}, "X contains -1: counts cannot be negative"),
        (np.eye(3) * np.nan, {}, "X contains NaN or infinite values"),
        (sp.eye_array(3) * np.inf, {}, "X contains NaN or infinite values"),
        (np.ones(3), {}, "X has 1 dimensions: expected one row per document"),
        (np.array([["a", "b"]]), {}, "expected numbers"),
    ],
)
def test_bad_knn_graphs(X, options, message):
    with pytest.raises(ValueError, match=message):
        knn_graph(X, **options)


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
        ([(0, 1), (2, 3)], None, "link 1 connects rows 2 and 3: expected rows 0 to 2"),
        ([(0, -1)], None, "link 0 connects rows 0 and -1"),
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


def test_constrained_graph():
    weights = np.array([[0, 2, 0.5, 0], [2, 0, 1, 0], [0.5, 1, 0, 1], [0, 0, 1, 0]])
    found = constrained_graph(weights, must_link=[(1, 0), (0, 2), (3, 0)], cannot_link=[(2, 1), (1, 3)])
    assert found.toarray().tolist() == [[0, 2, 1, 1], [2, 0, 0, 0], [1, 0, 0, 1], [1, 0, 1, 0]]
    assert found.nnz == 8
    assert (constrained_graph(weights).toarray() == weights).all()
    with pytest.raises(ValueError, match=r"the pair \(0, 1\) is both in must_link and in cannot_link"):
        constrained_graph(weights, must_link=[(2, 3), (1, 0)], cannot_link=[(0, 1)])
    with pytest.raises(ValueError, match="cannot_link 0 connects rows 0 and 4: expected rows 0 to 3"):
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
