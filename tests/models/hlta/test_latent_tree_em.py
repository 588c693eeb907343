"""EM on latent trees: it never falls, and its steps are expected counts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from latent_tree_cases import EMISSIONS, check_tree, known_tree, mean_log_likelihood, random_documents, random_tree

import naive
from topicfold.models.hlta.latent_tree import Inference, Sums, m_step
from topicfold.models.hlta.tree_words import sample_documents


@EMISSIONS
@pytest.mark.parametrize("seed", range(3))
def test_em_never_falls_without_smoothing(seed, emission):
    tree = random_tree(seed, 6, 14, 3, emission)
    documents = sp.csr_array(random_documents(seed, 60, tree.n_words, emission))
    history = []
    for _ in range(40):
        sums, log_likelihood = Inference(tree, emission).sums(documents)
        history.append(log_likelihood.sum())
        m_step(tree, sums, 0.0, documents.mean(axis=0))
        check_tree(tree, emission=emission)
    assert (np.diff(history) > -1e-8 * abs(history[0])).all()
    assert history[-1] > history[0] + 1


@EMISSIONS
def test_the_penalised_objective_never_falls_with_smoothing(emission):
    """Pseudo-documents are a prior: likelihood and prior together rise."""
    tree = random_tree(0, 6, 14, 3, emission)
    documents = sp.csr_array(random_documents(0, 60, tree.n_words, emission))
    mean, smoothing = documents.mean(axis=0), 0.7
    history = []
    for _ in range(25):
        sums, log_likelihood = Inference(tree, emission).sums(documents)
        known = np.arange(3) < tree.n_states[tree.word_parent][:, None]
        on = np.where(known, tree.word_table, 0.5)
        prior = mean[:, None] * np.log(on)
        prior += (1 - mean[:, None]) * np.log(1 - on) if emission == "presence" else -on
        used = tree.table[tree.table > 0]
        weight = np.broadcast_to(1 / tree.n_states[:, None, None], tree.table.shape)[tree.table > 0]
        history.append(log_likelihood.sum() + smoothing * (prior[known].sum() + weight @ np.log(used)))
        m_step(tree, sums, smoothing, mean)
        check_tree(tree, emission=emission)
    assert (np.diff(history) > -1e-8 * abs(history[0])).all()


def test_m_step_is_expected_counts():
    tree = random_tree(2, 4, 6, 3)
    documents = random_documents(2, 9, tree.n_words)
    _, _, _, word, pair, state = naive.tree_enumeration(tree, documents)
    mean, smoothing = documents.mean(axis=0), 0.5
    before = tree.word_parent.copy(), tree.parent.copy()
    m_step(tree, Sums(word.copy(), pair.copy(), state.copy()), smoothing, mean)
    for w in range(tree.n_words):
        y = tree.word_parent[w]
        for s in range(tree.n_states[y]):
            expected = (word[w, s] + smoothing * mean[w]) / (state[y, s] + smoothing)
            assert tree.word_table[w, s] == pytest.approx(expected)
    for z in range(tree.n_latents):
        rows = 1 if tree.parent[z] < 0 else tree.n_states[tree.parent[z]]
        for q in range(rows):
            cells = pair[z, q, : tree.n_states[z]] + smoothing / tree.n_states[z]
            np.testing.assert_allclose(tree.table[z, q, : tree.n_states[z]], cells / cells.sum())
    check_tree(tree)
    assert np.array_equal(before[0], tree.word_parent)
    assert np.array_equal(before[1], tree.parent)


def test_em_finds_the_tables_that_drew_the_documents():
    true = known_tree()
    documents = sample_documents(true, 4000, "presence", np.random.RandomState(0))
    tree = known_tree(high=0.6, low=0.2)
    for _ in range(60):
        m_step(tree, Inference(tree).sums(documents)[0], 0.0, documents.mean(axis=0))
    np.testing.assert_allclose(tree.word_table, true.word_table, atol=0.07)
    assert mean_log_likelihood(tree, documents) > mean_log_likelihood(true, documents)
