"""DTM: neither likelihood nor separation ever falls."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import DENSE, paper, quiet

import naive
from topicfold import DTM
from topicfold.graph.build import knn_graph
from topicfold.metrics.completion import completion_log_likelihood, split_tokens

pytestmark = DENSE


@pytest.mark.parametrize("update", ["paper", "exact"])
@pytest.mark.parametrize("init", ["nmf", "kmeans", "random"])
@pytest.mark.parametrize("seed", range(3))
def test_neither_likelihood_nor_separation_of_dtm_falls(few, update, init, seed):
    options = {"update": update, "init": init, "random_state": seed, "dtype": "float64", "tol": 0}
    whole = paper(DTM, 4, max_iter=25, **options).fit(few)
    assert len(whole.separation_) == len(whole.history_) == 25
    assert np.diff(whole.history_).min() >= -1e-12
    assert (np.diff(whole.separation_) >= -1e-9 * whole.separation_[1:]).all()
    assert whole.separation_[-1] > 1.2 * whole.separation_[2]
    assert whole.history_[-1] > whole.history_[0] + 0.01
    part = paper(DTM, 4, max_iter=6, **options).fit(few)
    pairs, near = naive.separation(part.doc_topic_, part.graph_.toarray())
    assert np.isclose(whole.separation_[6], pairs / near, rtol=1e-9)
    log_likelihood = naive.plsa_step(few.toarray(), part.doc_topic_, part.topic_word_)[2]
    assert np.isclose(whole.history_[6], log_likelihood / few.sum(), atol=1e-10)


def test_dtm_with_smoothing_seed_words_and_weighted_edges(few):
    options = {"beta": 0.05, "seed_words": {0: [1, 2]}, "dtype": "float64", "tol": 0, "max_iter": 25}
    model = paper(DTM, 4, **options).fit(few, graph=knn_graph(few, 4, weighted=True))
    assert np.diff(model.history_).min() >= -1e-12
    assert (np.diff(model.separation_) >= -1e-9 * model.separation_[1:]).all()


@pytest.mark.parametrize("update", ["paper", "exact"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_separation_does_not_fall_where_neighbours_become_the_same(blocks, update, dtype):
    """Blocks that nothing joins: the distance of neighbours goes to 0, and what is shown must not."""
    model = paper(DTM, update=update, dtype=dtype, n_neighbors=3, max_iter=30, tol=0).fit(blocks[0])
    separated = model.separation_[2:]
    assert (np.minimum(separated, 1e9) == 1e9).all()


@pytest.mark.parametrize("update", ["paper", "exact"])
@pytest.mark.parametrize("n_topics", [3, 5, 7, 9, 10])
@pytest.mark.parametrize("n_documents", [20, 30, 57, 100])
def test_dtm_leaves_its_start_in_any_precision(sampled, update, n_topics, n_documents):
    """Documents begin alike, and the separation of such is a rounding error over another: nothing to hold on to."""
    counts = sampled[:n_documents]
    for weighted in (False, True):
        graph = knn_graph(counts, 5, weighted=weighted)
        model = paper(DTM, n_topics, update=update, dtype="float64", max_iter=5, tol=0).fit(counts, graph=graph)
        assert model.doc_topic_.std(axis=0).max() > 0.01


@pytest.mark.parametrize("update", ["paper", "exact"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dtm_on_a_complete_graph(update, dtype, sampled):
    model = paper(DTM, update=update, dtype=dtype, n_neighbors=50, max_iter=20).fit(sampled[:9])
    assert np.allclose(model.doc_topic_.sum(axis=1), 1, atol=1e-5)
    assert (np.diff(model.history_) >= -1e-6).all()


@pytest.mark.parametrize("seed", range(3))
def test_by_default_short_texts_are_predicted_better_than_by_word_frequencies(seed):
    rng = np.random.default_rng(seed)
    topics, own = rng.dirichlet(np.full(150, 0.3), 6), rng.integers(6, size=400)
    mixes = 0.9 * np.eye(6)[own] + 0.1 / 6
    counts = sp.csr_array(np.array([rng.multinomial(5, mix @ topics) for mix in mixes]))
    frequency, (_, unseen) = counts[:300].sum(axis=0), split_tokens(counts[300:])
    unigram = completion_log_likelihood(unseen, np.ones((100, 1)), (frequency / frequency.sum())[None], frequency)
    assert quiet(DTM, 6).fit(counts[:300]).score(counts[300:]) > unigram + 0.05
    if seed == 0:  # the paper's model does not
        assert paper(DTM, 6).fit(counts[:300]).score(counts[300:]) < unigram
