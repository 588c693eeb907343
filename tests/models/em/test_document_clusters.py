"""Clusters of documents that EM starts from."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

import naive
from topicfold.models.em import document_clusters
from topicfold.models.em.document_clusters import averaged_over, kmeans_clusters, latent_vectors, sampled_clusters


@pytest.fixture(scope="module")
def titles():
    """400 titles of six words on five subjects over 120 words, and their subjects."""
    rng = np.random.default_rng(3)
    subjects = rng.dirichlet(np.full(120, 0.08), 5)
    subject = rng.integers(5, size=400)
    return sp.csr_array(np.array([rng.multinomial(6, subjects[s]) for s in subject])), subject


@pytest.mark.parametrize("sweeps", [(1, 0), (2, 0), (4, 2)])
def test_sampling_is_that_of_the_slow_twin(titles, monkeypatch, sweeps):
    counts, _ = titles
    counts = sp.vstack([counts[:40], sp.csr_array((1, 120), dtype=int)], format="csr")  # the last one is empty
    n_sweeps, n_greedy = sweeps
    monkeypatch.setattr(document_clusters, "_SWEEPS", n_sweeps)
    monkeypatch.setattr(document_clusters, "_GREEDY_SWEEPS", n_greedy)
    first = np.random.RandomState(1).randint(4, size=41)
    sampled = sampled_clusters(counts, first, 4, np.random.RandomState(5))
    rng, expected = np.random.RandomState(5), first
    for sweep in range(n_sweeps):
        greedy = sweep >= n_sweeps - n_greedy
        expected = naive.resampled_clusters(counts, expected, 4, rng.random_sample(41), greedy)
    assert np.array_equal(sampled, expected)
    assert sampled[40] == first[40]


def test_sampling_finds_subjects_that_its_start_missed(titles):
    counts, subject = titles
    first = np.where(
        np.random.RandomState(0).random_sample(400) < 0.5, subject, np.random.RandomState(1).randint(5, size=400)
    )
    assert adjusted_rand_score(subject, first) < 0.4
    assert adjusted_rand_score(subject, sampled_clusters(counts, first, 5, np.random.RandomState(0))) > 0.9


def test_vectors_of_all_documents_are_those_of_the_sample(titles):
    counts, _ = titles
    rng = np.random.RandomState
    alone, among_all = latent_vectors(counts, 5, rng(0)), latent_vectors(counts, 5, rng(0), counts)
    assert (alone * among_all).sum(axis=1).min() > 0.99  # the last dimensions are approximate
    assert np.allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-5)


def test_averages_over_a_graph_are_those_of_the_dense_formula():
    rng = np.random.default_rng(0)
    graph = np.triu(rng.random((12, 12)) < 0.3, 1).astype(float)
    graph[5] = graph[:, 5] = 0  # a document without neighbours keeps its vector
    graph += graph.T
    vectors = rng.normal(size=(12, 4))
    scale = np.diag(1 / np.sqrt(1 + graph.sum(axis=1)))
    mean = scale @ (graph + np.eye(12)) @ scale
    expected = mean @ mean @ vectors
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    averaged = averaged_over(sp.csr_array(graph), vectors)
    assert np.allclose(averaged, expected, atol=1e-5)
    assert np.allclose(averaged_over(sp.csr_array(7 * graph), vectors), averaged, atol=1e-5)
    assert np.allclose(averaged[5], vectors[5] / np.linalg.norm(vectors[5]), atol=1e-5)


def test_clusters_of_a_part_are_those_of_the_nearest_centres():
    vectors = np.array([[0.0, 0], [0.1, 0], [5, 5], [5.1, 5], [0, 0.1], [5, 5.1]], np.float32)
    cluster = kmeans_clusters(vectors, 2, np.random.RandomState(0), seen=vectors[:4])
    assert adjusted_rand_score([0, 0, 1, 1, 0, 1], cluster) == 1
