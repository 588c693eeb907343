"""Latent trees: inference against enumeration and a dense pass, EM, sampling, islands, and changes of a tree."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from topicfold.models.hlta import islands, tree_building
from topicfold.models.hlta.islands import Island, binary_information, count_table, packed_columns, progressive_islands
from topicfold.models.hlta.latent_tree import Inference, LatentTree, Sums, m_step, state_marginals
from topicfold.models.hlta.tree_building import bridged, relocated, stacked, without_empty
from topicfold.models.hlta.tree_topics import (
    discerning_index,
    effective_words,
    ordered_states,
    subtree,
    topic_parents,
    words_below,
)
from topicfold.models.hlta.tree_words import sample_documents, words_given_states

EMISSIONS = pytest.mark.parametrize("emission", ["presence", "counts"])


def check_tree(tree, *, emission="presence", full=True):
    """Parents after their children, one root, which is last; tables normalised, and zero where there is no state.
    `full`: every latent has something below it."""
    n, most = tree.n_latents, tree.table.shape[2]
    assert tree.parent[-1] == -1
    assert (tree.parent[:-1] > np.arange(n - 1)).all()
    assert (tree.parent[:-1] < n).all()
    assert ((tree.word_parent >= 0) & (tree.word_parent < n)).all()
    above = tree.level[tree.parent[:-1]]
    assert ((above > tree.level[:-1]) | ((above == tree.level[:-1]) & (above == tree.level[-1]))).all()
    assert (np.diff(tree.level) >= 0).all()
    assert tree.table.shape == (n, most, most)
    assert tree.word_table.shape == (tree.n_words, most)
    for z in range(n):
        rows = 1 if tree.parent[z] < 0 else tree.n_states[tree.parent[z]]
        used = tree.table[z, :rows, : tree.n_states[z]]
        np.testing.assert_allclose(used.sum(axis=1), 1, atol=1e-6)
        assert (used >= 0).all()
        assert tree.table[z].sum() == pytest.approx(used.sum())
    for w in range(tree.n_words):
        states = tree.n_states[tree.word_parent[w]]
        assert (tree.word_table[w, :states] >= 0).all()
        assert emission == "counts" or (tree.word_table[w] <= 1 + 1e-12).all()
        assert (tree.word_table[w, states:] == 0).all()
    if full:
        below = {int(y) for z, y in enumerate(tree.parent) if y >= 0 and tree.level[y] > tree.level[z]}
        assert below | set(tree.word_parent.tolist()) == set(range(n))


def random_tree(seed, n_latents=4, n_words=7, most=3, emission="presence"):
    """Any tree: levels are heights, latents have 2 to `most` states, each without a latent below has a word."""
    rng = np.random.default_rng(seed)
    parent = np.array([*(rng.integers(z + 1, min(z + 4, n_latents)) for z in range(n_latents - 1)), -1])
    level = np.ones(n_latents, np.int64)
    for z in range(n_latents - 1):
        level[parent[z]] = max(level[parent[z]], level[z] + 1)
    order = np.argsort(level, kind="stable")
    place = np.append(np.argsort(order), -1)
    parent, level = place[parent[order]], level[order]
    leaves = np.setdiff1d(np.arange(n_latents), parent)
    word_parent = np.concatenate([leaves, rng.integers(0, n_latents, max(0, n_words - len(leaves)))])
    n_states = rng.integers(2, most + 1, n_latents)
    n_states[0] = most
    table = np.zeros((n_latents, most, most))
    for z in range(n_latents):
        rows = 1 if parent[z] < 0 else n_states[parent[z]]
        table[z, :rows, : n_states[z]] = rng.dirichlet(np.ones(n_states[z]), rows)
    word_table = rng.uniform(0.05, 0.95, (len(word_parent), most)) * (1 if emission == "presence" else 3)
    word_table[np.arange(most) >= n_states[word_parent][:, None]] = 0
    return LatentTree(word_parent, parent, level, n_states, word_table, table)


def random_documents(seed, n, n_words, emission="presence", share=0.4):
    rng = np.random.default_rng(seed)
    present = rng.random((n, n_words)) < share
    present[0] = False  # an empty document
    return (present * (1 if emission == "presence" else rng.integers(1, 4, present.shape))).astype(float)


def known_tree(n_top=2, n_middle=3, n_words=4, high=0.8, low=0.05):
    """Two levels of binary latents, those at the top in a chain, with words that tell their latents apart."""
    n_first = n_top * n_middle
    parent = np.concatenate([n_first + np.arange(n_first) // n_middle, n_first + 1 + np.arange(n_top)])
    parent[-1] = -1
    table = np.empty((n_first + n_top, 2, 2))
    table[:n_first] = [[0.92, 0.08], [0.25, 0.75]]
    table[n_first:] = [[0.75, 0.25], [0.4, 0.6]]
    table[-1] = [[0.65, 0.35], [0, 0]]
    word_parent = np.repeat(np.arange(n_first), n_words)
    word_table = np.tile([low, high], (len(word_parent), 1))
    return LatentTree(
        word_parent, parent, np.repeat([1, 2], [n_first, n_top]), np.full(n_first + n_top, 2), word_table, table
    )


def single_level(seed, n_latents=4, n_children=4, joined=True):
    """A flat tree of binary latents that hang from the last, or are independent of each other."""
    rng = np.random.default_rng(seed)
    parent = np.full(n_latents, n_latents - 1)
    parent[-1] = -1
    table = np.empty((n_latents, 2, 2))
    for z in range(n_latents):
        one = rng.uniform(0.2, 0.8, 2) if joined else np.full(2, rng.uniform(0.3, 0.7))
        table[z] = np.stack([1 - one, one], axis=1)
    table[-1, 1] = 0
    word_parent = np.repeat(np.arange(n_latents), n_children)
    word_table = np.stack([rng.uniform(0.05, 0.3, len(word_parent)), rng.uniform(0.5, 0.9, len(word_parent))], axis=1)
    return LatentTree(word_parent, parent, np.ones(n_latents, int), np.full(n_latents, 2), word_table, table)


def log_factorials(documents):
    return np.array([sum(np.log(naive.factorial(int(n))) for n in row) for row in documents])


def mean_log_likelihood(tree, documents, emission="presence"):
    return Inference(tree, emission).log_likelihood(documents).mean()


# ---- inference ------------------------------------------------------------------------------------------------------


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
    sums, found = inference.sums(sp.csr_array(documents))
    if emission == "counts":
        found = found - log_factorials(documents if words is None else documents * words)
    np.testing.assert_allclose(found, log_likelihood, rtol=1e-10)
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
    sums, found = Inference(tree, emission).sums(sp.csr_array(documents))
    np.testing.assert_allclose(found, log_likelihood, atol=1e-9)
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
        found = words_given_states(tree)
        for z in range(tree.n_latents):
            for s in range(tree.n_states[z]):
                np.testing.assert_allclose(found[z, s], joint[z, s] / marginal[z, s], rtol=1e-5)


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
        found = (documents[:, [v]] * documents[:, [w]]).sum() / 20_000
        assert found == pytest.approx(expected, abs=0.12 if emission == "counts" else 0.02)
    again = sample_documents(tree, 20_000, emission, np.random.RandomState(0))
    assert np.array_equal(again.data, documents.data)
    if emission == "presence":
        assert set(documents.data) <= {0, 1}


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


# ---- islands --------------------------------------------------------------------------------------------------------


def dense(seed, n, k, share=0.3):
    rng = np.random.default_rng(seed)
    columns = (rng.random((n, k)) < share).astype(int)
    columns[:, 1] |= columns[:, 0]
    columns[:, -1] = columns[:, 2]  # a duplicate
    return columns


@pytest.mark.parametrize("n_documents", [1, 2, 63, 64, 65, 200])
def test_tables_of_patterns_are_counts(n_documents):
    columns = dense(n_documents, n_documents, 7)
    bits = packed_columns(sp.csr_array(columns))
    for variables in ([0], [3, 1], [0, 1, 2], [6, 2, 4], [5, 0, 6, 3]):
        expected = naive.pattern_counts(columns[:, variables])
        assert np.array_equal(count_table(bits, np.array(variables), n_documents), expected)


@pytest.mark.parametrize("n_documents", [1, 2, 80])
def test_mutual_information_of_all_pairs(n_documents, monkeypatch):
    monkeypatch.setattr(islands, "_BLOCK", 3)
    columns = np.hstack([dense(5, n_documents, 6), np.ones((n_documents, 1), int), np.zeros((n_documents, 1), int)])
    found = binary_information(sp.csr_array(columns.astype(float)))
    for v, w in product(range(8), repeat=2):
        expected = 0 if v == w else naive.mutual_information(columns[:, v], columns[:, w])
        assert found[v, w] == pytest.approx(expected, abs=1e-6)
    assert np.array_equal(found, found.T)


def pattern_likelihood(table, probability):
    return sum(n * np.log(probability(p)) for p, n in enumerate(table) if n)


def on_off(on, bit):
    return on if bit else 1 - on


def class_probability(p, on):
    """P of a pattern under a latent class model with two states; on[i] = P(1|0), P(1|1)."""

    def probability(pattern):
        both = [1 - p, p]
        for i, pair in enumerate(on):
            both = [value * on_off(pair[y], pattern >> i & 1) for y, value in enumerate(both)]
        return sum(both)

    return probability


def split_probability(p, on_a, on_b, split):
    def probability(pattern):
        total = 0.0
        for y, z in product(range(2), repeat=2):
            value = (p if y else 1 - p) * on_off(on_a[y], pattern & 1) * on_off(on_b[y], pattern >> 1 & 1)
            value *= on_off(split[y], z)
            value *= on_off(split[2 + z], pattern >> 2 & 1) * on_off(split[4 + z], pattern >> 3 & 1)
            total += value
        return total

    return probability


def random_starts(rng, n, k, first):
    return np.hstack([first, rng.uniform(0.1, 0.9, (n, k))])


def test_the_class_model_has_the_likelihood_it_says_and_a_maximum():
    rng = np.random.default_rng(0)
    latent = rng.random(900) < 0.4
    columns = rng.random((900, 3)) < np.where(latent[:, None], [0.8, 0.7, 0.9], [0.1, 0.2, 0.15])
    table = naive.pattern_counts(columns)
    best = np.empty(7)
    value = islands.fit_class_model(table, random_starts(rng, 8, 6, rng.uniform(0.3, 0.7, (8, 1))), best)
    found = best[1:].reshape(3, 2)
    assert value == pytest.approx(pattern_likelihood(table, class_probability(best[0], found)))
    truth = class_probability(0.4, [(0.1, 0.8), (0.2, 0.7), (0.15, 0.9)])
    assert value > pattern_likelihood(table, truth)
    # with three binary variables the model can be read off the table: it is saturated
    saturated = sum(n * np.log(n / 900) for n in table)
    assert saturated - 0.5 < value <= saturated + 1e-9


def test_a_variable_is_fitted_to_its_maximum():
    rng = np.random.default_rng(1)
    latent = rng.random(700) < 0.3
    columns = rng.random((700, 3)) < np.where(latent[:, None], [0.8, 0.7, 0.6], [0.1, 0.2, 0.05])
    table = naive.pattern_counts(columns)
    on_a, on_b, on_x = np.array([0.1, 0.8]), np.array([0.2, 0.7]), np.empty(2)
    islands.fit_variable(table, 0.3, on_a, on_b, on_x)

    def value(x):
        return pattern_likelihood(table, class_probability(0.3, [on_a, on_b, x]))

    grid = np.linspace(0.01, 0.99, 60)
    best = max(value((a, b)) for a in grid for b in grid)
    assert value(on_x) > best - 0.1


def test_a_split_has_the_likelihood_it_says_and_beats_what_drew_the_data():
    rng = np.random.default_rng(2)
    y = rng.random(1500) < 0.4
    z = rng.random(1500) < np.where(y, 0.7, 0.2)
    columns = rng.random((1500, 4)) < np.where(
        np.stack([y, y, z, z], axis=1), [0.8, 0.7, 0.8, 0.9], [0.1, 0.1, 0.05, 0.1]
    )
    table = naive.pattern_counts(columns)
    on_a, on_b, split = np.array([0.1, 0.8]), np.array([0.1, 0.7]), np.empty(6)
    starts = random_starts(rng, 6, 4, rng.uniform([0.1, 0.6], [0.4, 0.9], (6, 2)))
    value = islands.fit_split(table, 0.4, on_a, on_b, starts, split)
    assert value == pytest.approx(pattern_likelihood(table, split_probability(0.4, on_a, on_b, split)))
    truth = pattern_likelihood(table, split_probability(0.4, on_a, on_b, [0.2, 0.7, 0.05, 0.8, 0.1, 0.9]))
    assert value > truth - 0.1
    assert value > islands.fit_split(table, 0.4, on_a, on_b, starts[:1] * 0 + 0.5, np.empty(6))


def test_the_gain_of_a_split_is_the_difference_of_two_likelihoods():
    rng = np.random.default_rng(3)
    columns = dense(3, 130, 5)
    bits = packed_columns(sp.csr_array(columns))
    p, on = 0.35, rng.uniform(0.1, 0.9, (5, 2))  # variables 0..3 are the island, 3 is W, 4 is X
    split = rng.uniform(0.1, 0.9, 6)
    odds = np.zeros(130)
    zero = sum(islands.add_evidence(bits[v], on[v], odds) for v in range(4))
    plain = [np.prod([on_off(on[v], row[v]) for v in range(4)], axis=0) for row in columns]
    np.testing.assert_allclose(odds, [np.log(pair[1] / pair[0]) for pair in plain])
    assert zero == pytest.approx(sum(np.log(pair[0]) for pair in plain))
    expected = 0.0
    for row in columns:
        one, two = np.array([1 - p, p]), np.array([1 - p, p])
        for v in range(5):
            one = one * on_off(on[v], row[v])
        for v in range(3):
            two = two * on_off(on[v], row[v])
        pairs = [on_off(split[2 + z], row[3]) * on_off(split[4 + z], row[4]) for z in range(2)]
        two = two * [(1 - split[y]) * pairs[0] + split[y] * pairs[1] for y in range(2)]
        expected += np.log(two.sum()) - np.log(one.sum())
    assert islands.split_gain(bits[3], bits[4], odds, p, on[3], on[4], split) == pytest.approx(expected)


def test_kernels_of_islands_bear_any_table():
    """Few patterns, huge counts: no division by zero, no NaN."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        three, four = np.zeros(8), np.zeros(16)
        for table in (three, four):
            some = rng.choice(len(table), rng.integers(1, len(table) + 1), replace=False)
            table[some] = rng.integers(1, 10 ** rng.integers(1, 7), len(some))
        best, on_x, split = np.empty(7), np.empty(2), np.empty(6)
        extreme = rng.choice([1e-4, 0.5, 1 - 1e-4], (3, 7))
        assert np.isfinite(islands.fit_class_model(three, extreme, best))
        islands.fit_variable(three, best[0], best[1:3], best[3:5], on_x)
        assert np.isfinite(islands.fit_split(four, best[0], best[1:3], best[3:5], extreme[:, :6], split))
        for values in (best, on_x, split):
            assert ((values >= 1e-4 - 1e-12) & (values <= 1 - 1e-4 + 1e-12)).all()


def islands_of(presence, seed=0, **options):
    return progressive_islands(
        sp.csr_array(presence).astype(float),
        **{"delta": 3.0, "island_size": 15, **options},
        random_state=np.random.RandomState(seed),
    )


def check_islands(found, n_variables):
    assert sorted(v for island in found for v in island.variables) == list(range(n_variables))
    for island in found:
        assert island.prior.sum() == pytest.approx(1)
        assert len(island.tables) == len(island.variables)
        ones = 0.0
        for table in island.tables:
            assert table.shape == (2, 2)
            np.testing.assert_allclose(table.sum(axis=1), 1)
            assert ((table >= 0) & (table <= 1)).all()
            ones += table[1, 1] - table[0, 1]
        assert ones >= -1e-9


@pytest.mark.parametrize("seed", range(5))
def test_islands_of_a_known_tree(seed):
    tree = known_tree()
    documents = sample_documents(tree, 2500, "presence", np.random.RandomState(seed))
    calls = []
    found = progressive_islands(
        documents,
        delta=3.0,
        island_size=15,
        random_state=np.random.RandomState(seed),
        report=lambda placed, n: calls.append((placed, n)),
    )
    check_islands(found, 24)
    assert sorted(sorted(island.variables.tolist()) for island in found) == np.arange(24).reshape(6, 4).tolist()
    assert all(a[0] < b[0] for a, b in pairwise(calls))
    assert calls[-1][1] >= len(found) - 1
    share = {i: island.prior[1] for i, island in enumerate(found)}
    assert all(abs(share[i] - state_marginals(tree)[0, 1]) < 0.1 for i in share)


@pytest.mark.parametrize("n_variables", range(1, 8))
@pytest.mark.parametrize("kind", ["random", "constant", "duplicate", "absent", "equal", "one", "two"])
def test_islands_of_odd_data(n_variables, kind):
    columns = np.random.default_rng(n_variables).integers(0, 2, (40, n_variables))
    if kind == "constant":
        columns[:, n_variables // 2 :] = 1
    elif kind == "duplicate":
        columns[:] = columns[:, :1]
    elif kind == "absent":
        columns[:, 0] = 0
    elif kind == "equal":
        columns[:] = columns[0]
    elif kind in ("one", "two"):
        columns = columns[: 1 + (kind == "two")]
    found = islands_of(columns)
    check_islands(found, n_variables)
    assert n_variables == 1 or all(len(island.variables) > 1 for island in found)


def test_island_size_and_delta():
    columns = np.repeat(np.random.default_rng(0).integers(0, 2, (300, 1)), 20, axis=1)
    columns = columns ^ (np.random.default_rng(1).random(columns.shape) < 0.1)  # one latent, twenty children
    assert [len(island.variables) for island in islands_of(columns, island_size=30)] == [20]
    small = islands_of(columns, island_size=5)
    check_islands(small, 20)
    assert max(len(island.variables) for island in small) <= 5 + 2  # one or two that are left over join another
    tree = known_tree()
    documents = sample_documents(tree, 800, "presence", np.random.RandomState(0))
    assert len(islands_of(documents, delta=500.0, island_size=30)) < len(islands_of(documents, delta=3.0))


# ---- building a tree ------------------------------------------------------------------------------------------------


def test_stacked_levels_are_a_valid_tree():
    rng = np.random.default_rng(0)

    def island(variables, n_states, n_values):
        tables = tuple(rng.dirichlet(np.ones(n_values[v]), n_states) for v in variables)
        return Island(np.array(variables), rng.dirichlet(np.ones(n_states)), tables)

    words = np.full(7, 2)
    first = [island([0, 3], 2, words), island([1, 2, 6], 3, words), island([4, 5], 2, words)]
    tree = stacked(None, first, 7)
    check_tree(tree)
    assert tree.word_parent.tolist() == [0, 1, 1, 0, 2, 2, 1]
    for z, below in enumerate(first):
        np.testing.assert_allclose(state_marginals(tree)[z, : len(below.prior)], below.prior)
        for v, table in zip(below.variables, below.tables):
            np.testing.assert_allclose(tree.word_table[v, : len(below.prior)], table[:, 1])
    second = [island([2, 0], 2, tree.n_states), island([1], 4, tree.n_states)]
    taller = stacked(tree, second, 7)
    check_tree(taller)
    assert taller.level.tolist() == [1, 1, 1, 2, 2]
    assert taller.parent.tolist() == [3, 4, 3, 4, -1]
    np.testing.assert_allclose(taller.table[0, :2, :2], second[0].tables[1])
    np.testing.assert_allclose(taller.table[1, :4, :3], second[1].tables[0])
    np.testing.assert_allclose(state_marginals(taller)[3, :2], second[0].prior)
    assert taller.word_table.shape == (7, 4)


@pytest.mark.parametrize("n_top", [1, 2, 4, 5])
@pytest.mark.parametrize("seed", range(3))
def test_bridges_are_the_spanning_tree_of_most_information(n_top, seed):
    rng = np.random.default_rng(seed)
    words = np.full(2 * n_top, 2)
    tree = stacked(
        None,
        [
            Island(np.array([2 * i, 2 * i + 1]), rng.dirichlet(np.ones(2 + i % 2)), tuple(
                rng.dirichlet(np.ones(2), 2 + i % 2) for _ in range(2)))
            for i in range(n_top)
        ],
        len(words),
    )  # fmt: skip
    most = tree.table.shape[2]
    beliefs = np.zeros((60, n_top, most))
    shared = rng.random((60, 1))
    for i in range(n_top):
        states = tree.n_states[i]
        drawn = rng.dirichlet(np.full(states, 0.5), 60)
        drawn[:, 0] += 2 * shared[:, 0] * rng.random()
        beliefs[:, i, :states] = drawn / drawn.sum(axis=1, keepdims=True)
    new = bridged(tree, beliefs.astype(np.float32))
    check_tree(new)

    def information(a, b):
        joint = np.mean([np.outer(row[a], row[b]) for row in beliefs], axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nansum(joint * np.log(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0))))

    old = [int(np.flatnonzero(new.word_parent == new.word_parent[2 * i])[0]) // 2 for i in range(n_top)]
    number = {int(new.word_parent[2 * i]): i for i in range(n_top)}
    assert old == list(range(n_top))
    edges = [(number[z], number[int(y)]) for z, y in enumerate(new.parent) if y >= 0]
    pairs = list(combinations(range(n_top), 2))
    best = max(
        sum(information(*pair) for pair in chosen)
        for chosen in combinations(pairs, n_top - 1)
        if connected(chosen, n_top)
    )
    assert sum(information(*edge) for edge in edges) == pytest.approx(best, rel=1e-4, abs=1e-7)
    for a, b in edges:  # the tables are the common distribution, nearly
        joint = np.mean([np.outer(row[b], row[a]) for row in beliefs], axis=0)[: tree.n_states[b], : tree.n_states[a]]
        found = new.table[int(new.word_parent[2 * a]), : tree.n_states[b], : tree.n_states[a]]
        np.testing.assert_allclose(found, joint / joint.sum(axis=1, keepdims=True), atol=0.1)
    if n_top > 1:
        root = number[new.n_latents - 1]
        np.testing.assert_allclose(new.table[-1, 0], beliefs[:, root].mean(axis=0), atol=1e-6)


def connected(edges, n):
    reached, grown = {0}, True
    while grown:
        more = {b for a, b in edges if a in reached} | {a for a, b in edges if b in reached}
        grown = not more <= reached
        reached |= more
    return len(reached) == n


def stay_table(tree, documents, w):
    """P(w | parent) after the steps of EM that a word takes below its parent before gains are compared."""
    others = np.arange(tree.n_words) != w
    y = tree.word_parent[w]
    without = Inference(tree, words=others).beliefs(documents, np.array([y]))[:, 0].astype(float)
    present = documents[:, [int(w)]].toarray()[:, 0] > 0
    table = tree.word_table[w].copy()
    for _ in range(tree_building._MOVE_STEPS - 1):
        joint = without * np.where(present[:, None], table, 1 - table)
        share = joint / joint.sum(axis=1, keepdims=True)
        table = (share[present].sum(axis=0) + 0.5) / (share.sum(axis=0) + 1)
    return table


@pytest.mark.parametrize("seed", range(3))
def test_gains_are_true_changes_of_likelihood_between_unrelated_latents(seed):
    tree = single_level(seed, joined=False)
    tree.word_parent[[0, 5]] = [2, 3]  # in the wrong places
    rng = np.random.RandomState(seed)
    right = single_level(seed, joined=False)
    documents = sample_documents(right, 400, "presence", rng).astype(float)
    children = tree_building._Words(tree, documents)
    parents = np.arange(4)
    beliefs = Inference(tree).beliefs(documents, parents)
    gains, candidates, tables = tree_building._gains(children, tree.word_parent, beliefs, tree.n_states, None)
    assert (gains[candidates == tree.word_parent[:, None]] == -np.inf).all()
    present = documents.toarray() > 0
    in_background = (beliefs[:, :, 0].T.astype(float) @ present) / beliefs[:, :, 0].sum(axis=0, dtype=float)[:, None]
    strange = in_background > present.mean(axis=0)  # likelier in the background: not a word of the latent's topic
    compared = 0
    for w in range(tree.n_words):
        stay = LatentTree.from_arrays({**tree.arrays(), "word_table": tree.word_table.copy()})
        stay.word_table[w] = stay_table(tree, documents, w)
        assert len(set(candidates[w])) == 4
        for c, y in enumerate(candidates[w]):
            if y == tree.word_parent[w]:
                continue
            assert np.isfinite(gains[w, c]) == (not strange[y, w])
            moved = LatentTree.from_arrays(
                {**tree.arrays(), "word_parent": tree.word_parent.copy(), "word_table": tree.word_table.copy()}
            )
            moved.word_parent[w], moved.word_table[w] = y, tables[w, c, :, 1]
            change = Inference(moved).log_likelihood(documents).sum() - Inference(stay).log_likelihood(documents).sum()
            if not strange[y, w] and not strange[tree.word_parent[w], w]:
                assert gains[w, c] == pytest.approx(change, abs=1e-3)
                compared += 1
            elif not strange[y, w]:  # a word that does not belong where it is has more to gain
                assert gains[w, c] > change
    assert compared > 10


@pytest.mark.parametrize("seed", range(3))
def test_words_go_home(seed):
    right = single_level(seed, 5, 5)
    documents = sample_documents(right, 1500, "presence", np.random.RandomState(seed)).astype(float)
    tree = single_level(seed, 5, 5)
    tree.word_parent[[0, 6, 12]] = [2, 4, 0]
    for _ in range(10):
        m_step(tree, Inference(tree).sums(documents)[0], 1.0, documents.mean(axis=0))
    before = mean_log_likelihood(tree, documents)
    new, n_moved = relocated(tree, documents, 1)
    check_tree(without_empty(new))
    assert n_moved >= 1
    assert n_moved == (new.word_parent != tree.word_parent).sum()
    assert mean_log_likelihood(new, documents) > before
    for _ in range(3):
        m_step(new, Inference(new).sums(documents)[0], 1.0, documents.mean(axis=0))
        new = without_empty(relocated(new, documents, 1)[0])
        check_tree(new)
    assert np.array_equal(new.word_parent, right.word_parent)


def two_levels(seed, most=3):
    """Four latents with words, three above them in a chain, of 2 to `most` states."""
    rng = np.random.default_rng(seed)
    n_states = np.array([2, most, 2, 2, most, 2, most])
    parent = np.array([4, 4, 5, 6, 5, 6, -1])
    table = np.zeros((7, most, most))
    for z in range(7):
        rows = 1 if parent[z] < 0 else n_states[parent[z]]
        table[z, :rows, : n_states[z]] = rng.dirichlet(np.full(n_states[z], 0.5), rows)
    word_parent = np.repeat(np.arange(4), 4)
    word_table = rng.uniform(0.05, 0.95, (16, most))
    word_table[np.arange(most) >= n_states[word_parent][:, None]] = 0
    return LatentTree(word_parent, parent, np.array([1, 1, 1, 1, 2, 2, 2]), n_states, word_table, table)


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("most", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_relocation_leaves_a_valid_tree(seed, most, level):
    documents = sample_documents(two_levels(seed, most), 300, "presence", np.random.RandomState(seed)).astype(float)
    tree = two_levels(seed + 10, most)
    kept = {name: array.copy() for name, array in tree.arrays().items()}
    new, n_moved = relocated(tree, documents, level)
    assert n_moved > 0
    for name, array in kept.items():
        assert np.array_equal(array, getattr(tree, name)), f"{name} was changed in place"
    check_tree(new, full=False)
    smaller = without_empty(new)
    check_tree(smaller)
    top = np.flatnonzero(smaller.level == smaller.level[-1])
    joined = bridged(smaller, Inference(smaller).beliefs(documents, top))
    check_tree(joined)
    assert np.isfinite(Inference(joined).log_likelihood(documents)).all()
    for n_jobs in (2, 4):
        again, n_again = relocated(tree, documents, level, n_jobs)
        assert n_again == n_moved
        assert np.array_equal(again.table, new.table)
        assert np.array_equal(again.word_table, new.word_table)


def test_one_child_is_no_island():
    right = single_level(0, 3, 5, joined=False)
    documents = sample_documents(right, 800, "presence", np.random.RandomState(0)).astype(float)
    tree = single_level(0, 4, 4, joined=False)
    tree.word_parent = np.append(np.repeat([0, 1, 2], 5)[:14], 3)  # the last word alone below a latent of its own
    tree.word_table = np.vstack([right.word_table[:14], [[0.1, 0.9]]])
    new, _ = relocated(tree, documents, 1)
    assert (new.word_parent == 3).sum() == 0
    smaller = without_empty(new)
    check_tree(smaller)
    assert smaller.n_latents == 3


def test_empty_latents_go_and_single_ones_make_way():
    # words 0 1 | 2 3 | 4 5 below latents 0, 1, 2; these below 3 (of 0), 4 (of 1 and 2), 5 (of none); the top is 6
    rng = np.random.default_rng(0)
    table = rng.dirichlet([1, 1], (7, 2))
    table[6, 1] = 0
    tree = LatentTree(
        np.repeat([0, 1, 2], 2),
        np.array([3, 4, 4, 6, 6, 6, -1]),
        np.array([1, 1, 1, 2, 2, 2, 3]),
        np.full(7, 2),
        rng.random((6, 2)),
        table,
    )
    documents = sp.csr_array(rng.integers(0, 2, (40, 6)).astype(float))
    smaller = without_empty(tree)
    check_tree(smaller)
    assert smaller.parent.tolist() == [4, 3, 3, 4, -1]
    assert smaller.level.tolist() == [1, 1, 1, 2, 3]
    np.testing.assert_allclose(
        Inference(smaller).log_likelihood(documents), Inference(tree).log_likelihood(documents), rtol=1e-10
    )
    np.testing.assert_allclose(state_marginals(smaller)[:3], state_marginals(tree)[:3])
    assert without_empty(smaller) is smaller


def test_an_empty_root_at_the_top_goes():
    tree = single_level(1, 4, 3)
    tree.word_parent[tree.word_parent == 3] = 1
    smaller = without_empty(tree)
    check_tree(smaller)
    assert smaller.n_latents == 3
    np.testing.assert_allclose(state_marginals(smaller), state_marginals(tree)[:3])


# ---- topics of a tree -----------------------------------------------------------------------------------------------


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


def test_words_below_and_subtree():
    tree = two_levels(0)
    below = words_below(tree)
    assert [words.tolist() for words in below[:4]] == np.arange(16).reshape(4, 4).tolist()
    assert below[4].tolist() == list(range(8))  # latents beside each other at the top are not below each other
    assert below[5].tolist() == list(range(8, 12))
    assert below[6].tolist() == list(range(12, 16))
    documents = random_documents(0, 5, 16)
    for z in (1, 4, 5):
        part = subtree(tree, z, state_marginals(tree)[z], below[z])
        check_tree(part)
        seen = np.isin(np.arange(16), below[z])
        np.testing.assert_allclose(
            Inference(part).log_likelihood(sp.csr_array(documents[:, below[z]])),
            Inference(tree, words=seen).log_likelihood(sp.csr_array(documents)),
            rtol=1e-9,
        )


def test_discerning_index_is_its_definition():
    rng = np.random.default_rng(0)
    for n_states in (2, 3, 5):
        on, share = rng.random((n_states, 6)), rng.dirichlet(np.ones(n_states))
        on[:, 0] = 0.3  # tells nothing
        on[:, 1] = 0
        on[:, 2] = 1
        on[0, 3], on[1:, 3] = 1, 0
        found = discerning_index(on, share)
        for s, w in product(range(n_states), range(6)):
            assert found[s, w] == pytest.approx(naive.discerning_index(on, share, s, w), abs=1e-12)
    assert discerning_index(np.array([[0.1], [0.9]]), np.array([0.0, 1.0])) == pytest.approx(0)


def told_by_first_words(tree, on, documents, emission):
    """For each latent its words by I(Z; W), and what the first 0, 1, 2 ... of them tell."""
    below, marginal = words_below(tree), state_marginals(tree)
    result = []
    for z in range(tree.n_latents):
        known = slice(tree.n_states[z])
        information = []
        for w in below[z]:
            p, share = on[z, known, w].astype(float), marginal[z, known]
            q = share @ p
            information.append(share @ (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))))
        words = below[z][np.argsort(-np.array(information), kind="stable")]
        told = [naive.information_told(tree, z, words[:n], documents, emission) for n in range(len(words) + 1)]
        result.append((words, np.array(told)))
    return result


@EMISSIONS
@pytest.mark.parametrize("seed", range(2))
def test_information_rises_to_all_and_effective_words_are_the_fewest(seed, emission):
    tree = random_tree(seed, 4, 9, 3, emission)
    documents = sample_documents(tree, 40, emission, np.random.RandomState(seed)).toarray().astype(float)
    on = words_given_states(LatentTree.from_arrays({**tree.arrays(), "word_table": presence(tree, emission)}))
    expected = told_by_first_words(tree, on, documents, emission)
    assert all(told[0] == pytest.approx(0, abs=1e-9) for _, told in expected)
    sizes = []
    for coverage in (0.3, 0.6, 0.95, 1.0):
        found = effective_words(tree, on, sp.csr_array(documents), coverage, emission)
        for z, (words, told) in enumerate(expected):
            assert np.array_equal(found[z], words[: len(found[z])])
            enough = np.flatnonzero(told[1:] > coverage * told[-1] + 1e-6)
            assert len(found[z]) == (1 + enough[0] if len(enough) else len(words)), (z, coverage, told)
        sizes.append([len(words) for words in found])
    assert (np.diff(sizes, axis=0) >= 0).all()


def presence(tree, emission):
    return tree.word_table if emission == "presence" else -np.expm1(-tree.word_table)


def test_topic_parents_are_the_likeliest_above():
    tree = two_levels(2)
    latent = np.repeat(np.arange(7), tree.n_states - 1)
    state = np.concatenate([np.arange(1, n) for n in tree.n_states])
    parents = topic_parents(tree, latent, state)
    marginal = state_marginals(tree)
    for k, (z, s) in enumerate(zip(latent, state)):
        if tree.level[z] == 2:
            assert parents[k] == -1
            continue
        assert latent[parents[k]] == tree.parent[z]
        y = tree.parent[z]
        joint = {t: marginal[y, t] * tree.table[z, t, s] for t in range(1, tree.n_states[y])}
        assert state[parents[k]] == max(joint, key=joint.get)
