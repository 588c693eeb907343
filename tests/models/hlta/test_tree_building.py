"""How a latent tree is built and changed: levels, bridges, relocations, and latents that go."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from latent_tree_cases import check_tree, mean_log_likelihood, single_level, two_levels

from topicfold.models.hlta import tree_building
from topicfold.models.hlta.islands import Island
from topicfold.models.hlta.latent_tree import Inference, LatentTree, m_step, sample_documents, state_marginals
from topicfold.models.hlta.tree_building import bridged, relocated, stacked, without_empty


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
        table = new.table[int(new.word_parent[2 * a]), : tree.n_states[b], : tree.n_states[a]]
        np.testing.assert_allclose(table, joint / joint.sum(axis=1, keepdims=True), atol=0.1)
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


# ---- relocation -----------------------------------------------------------------------------------------------------


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
    gains, candidates, tables = tree_building._move_options(children, tree.word_parent, beliefs, tree.n_states, None)
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


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("most", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_relocation_leaves_a_valid_tree(seed, most, level):
    documents = sample_documents(two_levels(seed, most), 300, "presence", np.random.RandomState(seed)).astype(float)
    tree = two_levels(seed + 10, most)
    before = {name: array.copy() for name, array in tree.arrays().items()}
    new, n_moved = relocated(tree, documents, level)
    assert n_moved > 0
    for name, array in before.items():
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
