"""Words of a latent tree: P(w|state) of every latent, and documents drawn from it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...engine.blocks import map_blocks
from ...engine.jit import njit
from .latent_tree import _TINY, LatentTree, state_marginals

__all__ = ["sample_documents", "words_given_states"]


@njit
def spread_rows(first, last, parent, table, upward, word_parent, word_table, result):
    """result[z - first, s, w] = E[word w | latent z is in state s] for latents first..last.

    From z up to the root by P(parent|latent), then down to everything else by P(latent|parent).
    """
    n_latents, most = upward.shape[0], upward.shape[1]
    given = np.empty((n_latents, most, most))  # P(latent = t | z = s)
    done = np.zeros(n_latents, np.bool_)
    for z in range(first, last):
        done[:] = False
        given[z] = 0.0
        for s in range(most):
            given[z, s, s] = 1.0
        done[z] = True
        y = z
        while parent[y] >= 0:
            for s in range(most):
                for t in range(most):
                    value = 0.0
                    for r in range(most):
                        value += given[y, s, r] * upward[y, r, t]
                    given[parent[y], s, t] = value
            y = parent[y]
            done[y] = True
        for y in range(n_latents - 1, -1, -1):
            if not done[y]:
                for s in range(most):
                    for t in range(most):
                        value = 0.0
                        for r in range(most):
                            value += given[parent[y], s, r] * table[y, r, t]
                        given[y, s, t] = value
        for w in range(len(word_parent)):
            for s in range(most):
                value = 0.0
                for t in range(most):
                    value += given[word_parent[w], s, t] * word_table[w, t]
                result[z - first, s, w] = value


def words_given_states(tree: LatentTree, n_jobs: int | None = None) -> np.ndarray:
    """E[word | state], latents x states x words: P(word present | state), or its rate. In single precision."""
    marginal = state_marginals(tree)
    upward = np.zeros_like(tree.table)  # P(parent's state | state)
    above = marginal[tree.parent[:-1]]
    joint = above[:, :, None] * tree.table[:-1]
    upward[:-1] = np.swapaxes(joint / np.maximum(marginal[:-1, None, :], _TINY), 1, 2)
    result = np.empty((tree.n_latents, tree.table.shape[2], tree.n_words), np.float32)

    def block(first: int) -> None:
        last = min(first + 64, tree.n_latents)
        spread_rows(first, last, tree.parent, tree.table, upward, tree.word_parent, tree.word_table, result[first:last])

    map_blocks(block, range(0, tree.n_latents, 64), n_jobs)
    return result


def sample_documents(tree: LatentTree, n: int, emission: str, rng: np.random.RandomState) -> sp.csr_array:
    """Documents drawn from the tree, from the root down; words in columns."""
    states = np.zeros((n, tree.n_latents), np.int64)
    for z in range(tree.n_latents - 1, -1, -1):
        above = np.zeros(n, np.int64) if tree.parent[z] < 0 else states[:, tree.parent[z]]
        upto = np.cumsum(tree.table[z], axis=1)
        drawn = (rng.random_sample(n)[:, None] >= upto[above]).sum(axis=1)
        states[:, z] = np.minimum(drawn, tree.n_states[z] - 1)
    columns = []
    for w in range(tree.n_words):  # one column at a time: documents x words would be large
        expected = tree.word_table[w][states[:, tree.word_parent[w]]]
        drawn = rng.random_sample(n) < expected if emission == "presence" else rng.poisson(expected)
        columns.append(sp.csc_array(drawn.astype(np.int64)[:, None]))
    return sp.csr_array(sp.hstack(columns, format="csr"))
