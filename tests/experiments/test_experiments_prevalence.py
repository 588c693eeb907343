"""Metadata in the prior of LDA: the prototype against the package and against the truth, and the run on tiny corpora."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from experiment_runs import run_with_results

from experiments import load_experiment
from experiments.effects import metadata_corpora, prevalence, prevalence_lda, prevalence_page
from experiments.effects.prevalence_lda import Prior
from topicfold.models.best_start import best_start
from topicfold.models.leave_one_out import document_prior
from topicfold.models.left_out_fold_in import fold_in_shares

EXPERIMENT = load_experiment("effects-prevalence")
TINY = {"seeds": 2, "parts": 2, "inner parts": 3, "documents": None, "min_df": 2, "max_df": 0.9, "steps": 10}
TINY |= {"first steps": 5, "tried steps": 5, "strengths": (1.0, 3.0), "ridges": (1.0, 1e4), "resamples": 50}


def drawn(n_documents=300, n_tokens=40, effect=4.0, seed=0):
    """Documents of three topics with words of their own; x decides how much there is of the first."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, n_documents)
    shares = np.stack([np.exp(effect * x), np.full(n_documents, 2.0), np.full(n_documents, 2.0)], axis=1)
    theta = np.stack([rng.dirichlet(2 * row / row.sum()) for row in shares])
    words = np.kron(np.eye(3), np.full(8, 0.11)) + 0.005
    words /= words.sum(axis=1, keepdims=True)
    rows = [rng.multinomial(n_tokens, row) for row in theta @ words]
    return sp.csr_array(np.array(rows, np.float32)), (x[:, None] - x.mean()) / x.std(), x


def started(counts, n_topics=3):
    how = {"alpha": 1.0, "beta": 0.03, "focus": 3.0}
    return best_start(counts, n_topics, np.random.RandomState(0), seeds={}, n_jobs=1, **how)


@pytest.mark.parametrize("n_tokens", [12, 80])  # with a main topic, and without
def test_metadata_that_says_nothing_is_lda(n_tokens):
    counts, _, _ = drawn(n_tokens=n_tokens)
    state, nothing = started(counts), np.zeros((300, 1))
    # the prior's shares are those of the last step as long as they are fitted anew at each
    ours = theirs = state
    for _ in range(8):
        ours = prevalence_lda.steps(counts, ours, 1, Prior(2.0, 1.0), nothing)
        theirs = prevalence_lda.steps(counts, theirs, 1, Prior(2.0))
    assert np.allclose(ours["word_topic"], theirs["word_topic"], atol=2e-4)
    same = np.tile(theirs["topic_share"], (300, 1))
    package = fold_in_shares(
        counts, prevalence_lda.topics_of(theirs), document_prior(2.0, theirs["topic_share"], 3.0), 1
    )
    assert np.allclose(prevalence_lda.fold_in(counts, theirs, 2.0, same), package, atol=1e-4)


def test_steps_leave_the_state_alone():
    counts, design, _ = drawn()
    state = started(counts)
    before = {name: array.copy() for name, array in state.items()}
    prevalence_lda.steps(counts, state, 2, Prior(1.0, 1.0), design)
    prevalence_lda.steps(counts, state, 2, Prior(1.0))
    assert all(np.array_equal(state[name], before[name]) for name in before)


def test_the_regression_is_the_frequency_of_each_group():
    counts, x = np.array([[6.0, 2.0], [4.0, 4.0], [1.0, 7.0], [0.0, 8.0]]), np.array([0.0, 0.0, 1.0, 1.0])
    found = prevalence_lda.fit_coefficients(counts, x[:, None], 1e-9)
    assert np.allclose(
        prevalence_lda.shares_of(found, np.array([[0.0], [1.0]])), [[10 / 16, 6 / 16], [1 / 16, 15 / 16]], atol=1e-3
    )
    strong = prevalence_lda.fit_coefficients(counts, x[:, None], 1e9)
    assert np.allclose(prevalence_lda.shares_of(strong, x[:, None]), counts.sum(axis=0) / 32, atol=1e-3)


def test_an_empty_document_has_the_prior_of_its_metadata():
    counts, design, _ = drawn()
    state = prevalence_lda.steps(counts, started(counts), 20, Prior(2.0, 1.0), design)
    shares = prevalence_lda.shares_of(state["coefficients"], design)
    empty = sp.csr_array((300, counts.shape[1]), dtype=np.float32)
    assert np.allclose(prevalence_lda.fold_in(empty, state, 2.0, shares, focus=0.0), shares, atol=1e-5)
    first = np.argmax(np.ptp(shares, axis=0))  # the topic that x decides on
    assert shares[design[:, 0] > 0, first].mean() > shares[design[:, 0] < 0, first].mean() + 0.3
