"""Latent trees: inference against enumeration and a dense pass, marginals, samples, the order of states, and EM."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
import scipy.sparse as sp
from latent_tree_cases import (
    EMISSIONS,
    check_tree,
    known_tree,
    mean_log_likelihood,
    random_documents,
    random_tree,
    two_levels,
)

import naive
from topicfold.models.hlta.latent_tree import (
    Inference,
    LatentTree,
    Sums,
    m_step,
    ordered_states,
    sample_documents,
    state_marginals,
    words_given_states,
)
from topicfold.models.hlta.tree_topics import words_below


def log_factorials(documents):
    return np.array([sum(np.log(naive.factorial(int(n))) for n in row) for row in documents])


@EMISSIONS
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("most", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_inference_is_enumeration(seed, most, masked, emission):
    tree = random_tree(seed, 4, 7, most, emission)
    check_tree(tree, emission=emission)
    documents = random_documents(seed, 6, tree.n_words, emission)
    words = np.random.default_rng(seed).random(tree.n_words) < 0.5 if masked else None
    log_likelihood, beliefs, evidence, word, pair, state = naive.tree_enumeration(tree, documents, emission, words)
    inference = Inference(tree, emission, words)
    sums, inferred = inference.sums(sp.csr_array(documents))
    if emission == "counts":
        inferred = inferred - log_factorials(documents if words is None else documents * words)
    np.testing.assert_allclose(inferred, log_likelihood, rtol=1e-10)
    np.testing.assert_allclose(sums.word, word, atol=1e-10)
    np.testing.assert_allclose(sums.pair, pair, atol=1e-10)
    np.testing.assert_allclose(sums.state, state, atol=1e-10)
    some = np.array([tree.n_latents - 1, 0, 2])
    np.testing.assert_allclose(inference.beliefs(sp.csr_array(documents), some), beliefs[:, some], atol=1e-6)
    ones = inference.beliefs(sp.csr_array(documents), some, state=1)
    np.testing.assert_allclose(ones, beliefs[:, some, 1], atol=1e-6)
    told = inference.beliefs(sp.csr_array(documents), some, evidence=True)
    for i, z in enumerate(some):  # what stands in states that are not there is of no meaning
        states = tree.n_states[z]
        np.testing.assert_allclose(told[:, i, :states], evidence[:, z, :states], rtol=1e-5, atol=1e-7)


@EMISSIONS
@pytest.mark.parametrize("seed", range(2))
def test_active_latents_are_the_dense_pass(seed, emission):
    tree = random_tree(seed, 40, 90, 3, emission)
    documents = random_documents(seed, 25, tree.n_words, emission, share=0.04)
    documents[1] = 1  # all words
    log_likelihood, *expected = naive.tree_pass(tree, documents, emission)
    sums, inferred = Inference(tree, emission).sums(sp.csr_array(documents))
    np.testing.assert_allclose(inferred, log_likelihood, atol=1e-9)
    for name, value in zip(("word", "pair", "state"), expected):
        np.testing.assert_allclose(getattr(sums, name), value, atol=1e-9)
    # a document has the same beliefs alone and among others
    together = Inference(tree, emission).beliefs(sp.csr_array(documents), np.arange(tree.n_latents))
    alone = Inference(tree, emission).beliefs(sp.csr_array(documents[[7]]), np.arange(tree.n_latents))
    assert np.array_equal(together[7], alone[0])
    np.testing.assert_allclose(together.sum(axis=2), 1, atol=1e-5)
    np.testing.assert_allclose(together.sum(axis=0), sums.state, atol=1e-4)


def test_a_single_latent_and_documents_without_words():
    tree = LatentTree(
        np.zeros(2, int), np.array([-1]), np.ones(1, int), np.array([2]), np.array([[0.1, 0.6], [0.2, 0.7]]),
        np.array([[[0.7, 0.3], [0, 0]]]),
    )  # fmt: skip
    empty = sp.csr_array((3, 2))
    sums, log_likelihood = Inference(tree).sums(empty)
    np.testing.assert_allclose(log_likelihood, np.log(0.7 * 0.9 * 0.8 + 0.3 * 0.4 * 0.3))
    np.testing.assert_allclose(sums.state.sum(), 3)
    assert (sums.word == 0).all()
    unseen = Inference(tree, words=np.zeros(2, bool))
    assert np.allclose(unseen.log_likelihood(sp.csr_array(np.eye(2))), 0)
    np.testing.assert_allclose(unseen.beliefs(sp.csr_array(np.eye(2)), np.array([0]))[:, 0], [[0.7, 0.3]] * 2)


@EMISSIONS
def test_tables_with_zeros_and_ones_stay_finite(emission):
    tree = known_tree(high=1.0, low=0.0)
    tree.table[0] = [[1, 0], [0, 1]]
    documents = sp.csr_array(np.random.default_rng(0).integers(0, 2, (30, tree.n_words)) * 50.0)
    if emission == "presence":
        documents.data[:] = 1
    sums, log_likelihood = Inference(tree, emission).sums(documents)
    assert np.isfinite(log_likelihood).all()
    for part in sums:
        assert np.isfinite(part).all()
    np.testing.assert_allclose(sums.state.sum(axis=1), 30)


@EMISSIONS
@pytest.mark.parametrize("n_documents", [1, 5, 700])
def test_threads_give_the_same_bits(emission, n_documents):
    tree = random_tree(0, 30, 60, 3, emission)
    documents = sp.csr_array(random_documents(0, n_documents, tree.n_words, emission))
    results = [Inference(tree, emission).sums(documents, n_jobs) for n_jobs in (1, 2, 4)]
    for sums, log_likelihood in results[1:]:
        assert np.array_equal(log_likelihood, results[0][1])
        for one, other in zip(sums, results[0][0]):
            assert np.array_equal(one, other)


def test_state_marginals_and_words_given_states():
    for seed in range(4):
        tree = random_tree(seed, 4, 7)
        joint = np.zeros((tree.n_latents, 3, tree.n_words))
        marginal = np.zeros((tree.n_latents, 3))
        for states in product(*map(range, tree.n_states)):
            p = 1.0
            for z, s in enumerate(states):
                p *= tree.table[z, states[tree.parent[z]] if tree.parent[z] >= 0 else 0, s]
            for z, s in enumerate(states):
                marginal[z, s] += p
                for w in range(tree.n_words):
                    joint[z, s, w] += p * tree.word_table[w, states[tree.word_parent[w]]]
        np.testing.assert_allclose(state_marginals(tree), marginal, atol=1e-12)
        words = words_given_states(tree)
        for z in range(tree.n_latents):
            for s in range(tree.n_states[z]):
                np.testing.assert_allclose(words[z, s], joint[z, s] / marginal[z, s], rtol=1e-5)


def test_words_given_states_over_several_blocks():
    tree = random_tree(3, 150, 200, 3)
    one, three = words_given_states(tree, 1), words_given_states(tree, 3)
    assert np.array_equal(one, three)
    marginal = state_marginals(tree)
    share = marginal[tree.word_parent, :] * tree.word_table
    for z in range(tree.n_latents):
        known = slice(tree.n_states[z])
        np.testing.assert_allclose(marginal[z, known] @ one[z, known], share.sum(axis=1), rtol=1e-4)


@EMISSIONS
def test_samples_have_the_marginals_of_the_tree(emission):
    tree = random_tree(1, 5, 8, 3, emission)
    documents = sample_documents(tree, 20_000, emission, np.random.RandomState(0))
    assert documents.shape == (20_000, tree.n_words)
    marginal = state_marginals(tree)[tree.word_parent]
    np.testing.assert_allclose(documents.mean(axis=0), (marginal * tree.word_table).sum(axis=1), atol=0.03)
    # a pair of words, by all states of the latents they hang from
    on = words_given_states(tree).astype(float)
    for v, w in combinations(range(tree.n_words), 2):
        expected = (state_marginals(tree)[tree.word_parent[v]] * tree.word_table[v]) @ on[tree.word_parent[v], :, w]
        mean_product = (documents[:, [v]] * documents[:, [w]]).sum() / 20_000
        assert mean_product == pytest.approx(expected, abs=0.12 if emission == "counts" else 0.02)
    again = sample_documents(tree, 20_000, emission, np.random.RandomState(0))
    assert np.array_equal(again.data, documents.data)
    if emission == "presence":
        assert set(documents.data) <= {0, 1}


@pytest.mark.parametrize("seed", range(4))
def test_ordered_states_are_the_same_model_in_another_order(seed):
    tree = two_levels(seed)
    documents = sp.csr_array(random_documents(seed, 30, 16))
    new = ordered_states(tree)
    check_tree(new)
    np.testing.assert_allclose(Inference(new).log_likelihood(documents), Inference(tree).log_likelihood(documents))
    below = words_below(new)
    on = words_given_states(new)
    for z in range(new.n_latents):
        expected = on[z, : new.n_states[z]][:, below[z]].sum(axis=1)
        assert (np.diff(expected) >= -1e-5).all()
    again = ordered_states(new)
    assert np.array_equal(again.table, new.table)


# ---- EM -------------------------------------------------------------------------------------------------------------


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
