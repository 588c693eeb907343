"""Latent trees that tests of HLTA share, and what holds for every tree."""

from __future__ import annotations

import numpy as np
import pytest

from topicfold.models.hlta.latent_tree import Inference, LatentTree

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


def mean_log_likelihood(tree, documents, emission="presence"):
    return Inference(tree, emission).log_likelihood(documents).mean()
