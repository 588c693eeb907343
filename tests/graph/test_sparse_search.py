"""The approximate search among many sparse rows: beside its twin, and beside the exact search."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbor_cases import same, small_counts

import naive
from topicfold import LTM, knn_graph
from topicfold.datasets import load_demo
from topicfold.graph import neighbors, sparse_search
from topicfold.graph.neighbors import NeighborIndex, document_vectors, nearest
from topicfold.graph.sparse_search import InvertedIndex, likely_best

SIMILARITIES = ("cosine", "intersection")


@pytest.fixture
def from_ten(monkeypatch):
    """More than ten documents are many."""
    monkeypatch.setattr(neighbors, "_MOST_EXACT", 10)


def overlap(found, expected):
    """The share of the expected neighbours that were found."""
    return ((found != 0).multiply(expected != 0)).nnz / expected.nnz


@pytest.mark.parametrize("intersect", [False, True])
@settings(max_examples=100, deadline=None)
@given(
    counts=small_counts,
    n_neighbors=st.integers(1, 5),
    share=st.sampled_from([0.3, 0.5, 0.75, 1.0]),
    n_candidates=st.integers(1, 9),
    skip_self=st.booleans(),
)
def test_it_finds_what_its_twin_finds(intersect, counts, n_neighbors, share, n_candidates, skip_self):
    rows = sp.csr_array(counts.astype(np.float64))  # whole numbers: equal scores are equal to the last bit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_search, "SHARE_OF_INTERSECTION" if intersect else "SHARE", share)
        patch.setattr(sparse_search, "CANDIDATES", 0)
        patch.setattr(sparse_search, "FEWEST_CANDIDATES", n_candidates)
        found, best = likely_best(InvertedIndex.of(rows), rows, n_neighbors, intersect, skip_self, None)
    for row in range(len(counts)):
        skip = row if skip_self else None
        base = counts.astype(np.float64)
        expected, scores = naive.likely_nearest(base[row], base, n_neighbors, share, n_candidates, intersect, skip)
        there = found[row] < len(counts)
        order = np.lexsort((found[row][there], -best[row][there]))
        assert found[row][there][order].tolist() == expected
        assert best[row][there][order].tolist() == scores


@pytest.mark.parametrize("metric", SIMILARITIES)
def test_with_all_words_and_many_candidates_it_is_exact_to_the_bit(metric, random_counts, from_ten, monkeypatch):
    vectors = document_vectors(random_counts, metric)
    monkeypatch.setattr(sparse_search, "SHARE", 1.0)
    monkeypatch.setattr(sparse_search, "SHARE_OF_INTERSECTION", 1.0)
    monkeypatch.setattr(sparse_search, "FEWEST_CANDIDATES", vectors.shape[0])
    for skip_self in (False, True):
        how = {"metric": metric, "skip_self": skip_self}
        assert same(nearest(vectors, vectors, 5, **how), nearest(vectors, vectors, 5, exact=True, **how))


@pytest.mark.parametrize("metric", SIMILARITIES)
def test_threads_and_other_queries_change_nothing(metric, random_counts, from_ten):
    vectors = document_vectors(random_counts, metric)
    found = nearest(vectors, vectors, 5, metric=metric)
    for n_jobs in (2, 4):
        assert same(nearest(vectors, vectors, 5, metric=metric, n_jobs=n_jobs), found)
    index = NeighborIndex(vectors, metric)
    for rows in (slice(0, 1), slice(17, 90), slice(511, 514), slice(1000, 1100)):
        assert same(index.nearest(vectors[rows], 5), found[rows])
    without = nearest(vectors, vectors, 5, metric=metric, skip_self=True)
    assert same(nearest(vectors, vectors, 5, metric=metric, skip_self=True, n_jobs=3), without)
    assert not without.diagonal().any()


@pytest.mark.parametrize("metric", SIMILARITIES)
def test_nearly_all_neighbours_are_found(metric, from_ten):
    vectors = document_vectors(load_demo().counts, metric)
    before = vectors.copy()
    exact = nearest(vectors, vectors, 5, metric=metric, skip_self=True, exact=True)
    found = nearest(vectors, vectors, 5, metric=metric, skip_self=True)
    assert same(vectors, before)
    assert 0.9 < overlap(found, exact) < 1
    both = found.multiply(exact != 0)
    assert np.array_equal(both.data, exact.multiply(found != 0).data)  # their similarities are exact
    index = NeighborIndex(vectors[:3000], metric)
    exact, found = (index.nearest(vectors[3000:], 5, exact=exact) for exact in (True, False))
    assert 0.9 < overlap(found, exact) < 1


def test_euclidean_distances_few_documents_and_exact_graphs_are_exact(random_counts, from_ten, monkeypatch):
    def refused(*arguments):
        raise AssertionError("an approximate search")

    monkeypatch.setattr(neighbors, "likely_best", refused)
    counts = random_counts[:200]
    nearest(counts, counts, 3, metric="euclidean")
    nearest(counts, counts[:10], 3)
    exact = knn_graph(counts, 3, exact=True)
    with pytest.raises(AssertionError, match="approximate"):
        knn_graph(counts, 3)
    monkeypatch.setattr(neighbors, "_MOST_EXACT", 200)
    assert same(knn_graph(counts, 3), exact)


def test_exact_neighbours_of_many_dense_rows_need_no_extra(embeddings, monkeypatch):
    expected = nearest(embeddings, embeddings, 5, skip_self=True)
    monkeypatch.setattr(neighbors, "_MOST_EXACT", 100)
    assert same(nearest(embeddings, embeddings, 5, skip_self=True, exact=True), expected)


def test_rows_and_words_that_find_nothing(from_ten):
    base = sp.csr_array(np.vstack([np.eye(3, 5), np.tile([1, 1, 0, 0, 0], (20, 1)), np.zeros((2, 5))]))
    queries = sp.csr_array([[0.0, 0, 0, 2, 0], [0, 0, 0, 0, 0], [0, 0, 1, 9, 0], [-1, 0, 3, 0, 0]])
    found = NeighborIndex(base).nearest(queries, 4)
    assert np.diff(found.indptr).tolist() == [0, 0, 1, 1]
    assert found.indices.tolist() == [2, 2]
    np.testing.assert_allclose(found.data, [1 / np.sqrt(82), 3 / np.sqrt(10)], rtol=1e-6)


def test_a_fit_on_approximate_neighbours_transforms_alike(from_ten):
    corpus = load_demo()
    settings = {"n_topics": 5, "graph_weight": 1.0, "max_iter": 3, "random_state": 0, "init": "random"}
    model, other = (LTM(n_jobs=n_jobs, **settings).fit(corpus) for n_jobs in (None, 2))
    assert np.array_equal(model.doc_topic_, other.doc_topic_)
    part = corpus.counts[:50]
    assert np.array_equal(model.transform(part), np.vstack([model.transform(part[:7]), model.transform(part[7:])]))
