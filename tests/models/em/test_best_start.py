"""The default start of EM."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from topicfold.models.em import best_start
from topicfold.models.em.best_start import best_topics


def drawn(n_documents, n_tokens, n_words=150, seed=0):
    rng = np.random.default_rng(seed)
    subjects = rng.dirichlet(np.full(n_words, 0.05), 5)
    subject = rng.integers(5, size=n_documents)
    counts = np.array([rng.multinomial(n_tokens, subjects[s]) for s in subject], np.float32)
    return sp.csr_array(counts), subject


def clusters_by(counts, topic_word):
    return (counts @ np.log(topic_word.T + 1e-9)).argmax(axis=1)


@pytest.fixture
def trials(monkeypatch):
    """The numbers of starts that are tried out, one per call."""
    numbers = []
    best_of = best_start._Trial.best_of

    def counted(trial, starts):
        numbers.append(len(starts))
        return best_of(trial, starts)

    monkeypatch.setattr(best_start._Trial, "best_of", counted)
    return numbers


@pytest.mark.parametrize(("n_tokens", "expected"), [(6, [3]), (50, [])])
def test_starts_are_tried_out_on_short_documents_only(trials, n_tokens, expected):
    counts, subject = drawn(600, n_tokens)
    topic_word = best_topics(counts, 5, np.random.RandomState(0), {})
    assert trials == expected
    assert adjusted_rand_score(subject, clusters_by(counts, topic_word)) > 0.9


def test_weights_that_are_no_counts_have_a_start_too(trials):
    counts, subject = drawn(600, 50)
    weights = counts * 0.37
    topic_word = best_topics(weights, 5, np.random.RandomState(0), {})
    assert trials == []
    assert adjusted_rand_score(subject, clusters_by(weights, topic_word)) > 0.8


def test_the_start_that_predicts_held_out_halves_wins():
    counts, subject = drawn(600, 8)
    held_out = np.arange(0, 600, 10)
    training_rows = np.setdiff1d(np.arange(600), held_out)
    training, mixed = counts[training_rows], np.random.RandomState(0).permutation(subject[training_rows])
    starts = [best_start._start_of(training, cluster, 5, {}) for cluster in (mixed, subject[training_rows])]
    for order in (starts, starts[::-1]):
        trial = best_start._Trial(
            training, counts[held_out], best_start.DEFAULT_PRIORS, best_start.counts_of_seeds({}, 0.0, np.float32), 5, 1
        )
        assert adjusted_rand_score(subject, clusters_by(counts, trial.best_of(order))) > 0.9


def test_vectors_are_averaged_over_a_given_graph_of_all_documents(monkeypatch):
    monkeypatch.setattr(best_start, "_SAMPLE", 100)
    monkeypatch.setattr(best_start, "_SAMPLE_PER_TOPIC", 10)
    counts, subject = drawn(300, 6)
    graph = sp.csr_array((subject[:, None] == subject).astype(float) - np.eye(300))
    averaged, cluster = [], []
    averaged_over, kmeans_clusters = best_start.averaged_over, best_start.kmeans_clusters
    monkeypatch.setattr(best_start, "averaged_over", lambda *a: averaged.append(a[0]) or averaged_over(*a))
    monkeypatch.setattr(best_start, "kmeans_clusters", lambda *a: cluster.append(kmeans_clusters(*a)) or cluster[-1])
    best_topics(counts, 5, np.random.RandomState(0), {}, graph=graph)
    assert averaged == [graph]
    assert len(cluster[0]) == 100  # of the sample
    assert len(set(cluster[0].tolist())) == 5


def test_many_documents_are_sampled(monkeypatch):
    monkeypatch.setattr(best_start, "_SAMPLE", 200)
    monkeypatch.setattr(best_start, "_SAMPLE_PER_TOPIC", 10)
    sizes = []
    vectors_of = best_start.latent_vectors
    monkeypatch.setattr(
        best_start, "latent_vectors", lambda sample, *a: sizes.append(sample.shape[0]) or vectors_of(sample, *a)
    )
    counts, subject = drawn(3000, 6)
    topic_word = best_topics(counts, 5, np.random.RandomState(0), {})
    assert sizes == [180]  # a tenth of the sample is held out
    assert adjusted_rand_score(subject, clusters_by(counts, topic_word)) > 0.7


@pytest.mark.parametrize("n_documents", [1, 2, 3, 30])
def test_a_few_documents_have_a_start(n_documents):
    counts, _ = drawn(n_documents, 4)
    for n_topics in (1, 2, n_documents):
        topic_word = best_topics(counts, n_topics, np.random.RandomState(0), {})
        assert topic_word.shape == (n_topics, 150)
        assert np.allclose(topic_word.sum(axis=1), 1)


def test_the_number_of_threads_changes_nothing():
    counts, _ = drawn(900, 7)
    one, two = (best_topics(counts, 5, np.random.RandomState(0), {}, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert np.array_equal(one, two)
