"""Topics of a latent tree: which words describe a state of a latent (Liu et al. 2014, section 4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...engine.blocks import map_blocks
from ...engine.mapped import release, row_table
from ...topics.ranking import top_word_columns
from .latent_tree import Inference, LatentTree, state_marginals

__all__ = [
    "TopicStates",
    "best_words",
    "discerning_index",
    "effective_word_scores",
    "effective_words",
    "subtree",
    "topic_parents",
    "topic_probabilities",
    "words_below",
]

_TINY = 1e-300
_DOCUMENTS_PER_BLOCK = 1 << 13  # whose topics are inferred at once
_TOPICS_AT_ONCE = 64
_LARGE_TABLE = 1 << 28  # bytes; a larger table is kept in a file


class TopicStates(NamedTuple):
    """Topics as states of latents; state 0 is the background and no topic."""

    latent: np.ndarray
    state: np.ndarray

    @classmethod
    def of(cls, tree: LatentTree) -> TopicStates:
        """All topics of a tree."""
        latent = np.repeat(np.arange(tree.n_latents), tree.n_states - 1)
        return cls(latent, np.concatenate([np.arange(1, n_states) for n_states in tree.n_states]))


def words_below(tree: LatentTree) -> list[np.ndarray]:
    """The words in the subtree of each latent: its semantic base."""
    below: list[list[int]] = [[] for _ in range(tree.n_latents)]
    for w, z in enumerate(tree.word_parent.tolist()):
        below[z].append(w)
    for z in range(tree.n_latents - 1):
        y = tree.parent[z]
        if tree.level[y] > tree.level[z]:
            below[y] += below[z]
    return [np.array(sorted(words), dtype=np.int64) for words in below]


def subtree(tree: LatentTree, root: int, prior: np.ndarray, words: np.ndarray) -> LatentTree:
    """A latent, which becomes the root, and the latents below it, with their words."""
    inside = np.zeros(tree.n_latents, bool)
    inside[root] = True
    for z in range(root - 1, -1, -1):
        inside[z] = inside[tree.parent[z]] and tree.level[tree.parent[z]] > tree.level[z]
    latents = np.flatnonzero(inside)
    number = np.append(np.cumsum(inside) - 1, -1)
    table = tree.table[latents]
    table[-1] = 0
    table[-1, 0] = prior
    return LatentTree(
        word_parent=number[tree.word_parent[words]],
        parent=np.append(number[tree.parent[latents[:-1]]], -1),
        level=tree.level[latents],
        n_states=tree.n_states[latents],
        word_table=tree.word_table[words],
        table=table,
    )


def discerning_index(on: np.ndarray, share: np.ndarray) -> np.ndarray:
    """I(W; [Z=s]) of words and states: how well a word distinguishes state s from all others.

    on[s, w] = P(w|Z=s), share[s] = P(Z=s).
    """
    overall = share @ on
    rest = 1 - share
    other = np.clip((overall - share[:, None] * on) / np.maximum(rest, _TINY)[:, None], 0, 1)
    of_state = share[:, None] * _divergence(on, overall)
    return np.maximum(of_state + rest[:, None] * _divergence(other, overall), 0)


def best_words(documents: sp.csr_array, doc_topic: np.ndarray, n_words: int) -> sp.csr_array:
    """I(W; [topic]) of the words that tell most about whether a document is in a topic, topics x words.

    It is counted in the documents, each with its P(topic|d), so a topic may have words that are far from it in the
    tree. Only words that are more frequent in the topic than elsewhere count, and only as far as BIC supports that they
    are; if there is none, all words count.
    """
    n_documents = max(documents.shape[0], 1)
    least = np.log(n_documents) / (2 * n_documents)  # one parameter
    present = sp.csr_array((np.ones(documents.nnz), documents.indices, documents.indptr), documents.shape)
    overall = np.asarray(present.sum(axis=0)).ravel() / n_documents
    size = doc_topic.sum(axis=0, dtype=np.float64)
    columns, values = [], []
    for k in range(doc_topic.shape[1]):
        if k % _TOPICS_AT_ONCE == 0:
            of_block = present.T @ doc_topic[:, k : k + _TOPICS_AT_ONCE].astype(np.float64)
        with_word = of_block[:, k % _TOPICS_AT_ONCE]
        share = np.clip(size[k] / n_documents, _TINY, 1 - 1e-12)
        on = with_word / max(size[k], _TINY)
        off = np.clip((overall - share * on) / (1 - share), 0, 1)
        information = discerning_index(np.stack([off, on]), np.array([1 - share, share]))[1]
        typical = (on > off) & (information > least)
        typical |= not typical.any()
        best = top_word_columns(np.where(typical, information, -1.0), n_words)
        best = best[typical[best]]
        columns.append(np.sort(best))
        # a stored zero would not be a word of the topic
        values.append(np.maximum(information[columns[-1]], np.finfo(np.float64).tiny))
    indptr = np.cumsum([0, *map(len, columns)])
    return sp.csr_array((np.concatenate(values), np.concatenate(columns), indptr), (len(columns), documents.shape[1]))


def _divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Kullback-Leibler divergence of two biased coins, in nats."""
    on = p * np.log(np.maximum(p, _TINY) / np.maximum(q, _TINY))
    return on + (1 - p) * np.log(np.maximum(1 - p, _TINY) / np.maximum(1 - q, _TINY))


def effective_words(
    tree: LatentTree,
    on: np.ndarray,
    documents: sp.csr_array,
    coverage: float,
    emission: str,
    n_jobs: int | None = None,
) -> list[np.ndarray]:
    """The effective semantic base of each latent: the fewest words that carry enough information about it.

    Words are taken in the order of I(Z; W), as many as needed for more than `coverage` of I(Z; all its words), which is
    H(Z) minus the mean over documents of H(Z | words). Their number is found by bisection: a further word can lower the
    information only if the documents do not follow the tree. on[z, s, w] = P(w|z=s).
    """
    prior = state_marginals(tree)
    columns = sp.csc_array(documents)

    def base(z: int) -> np.ndarray:
        words = below[z]
        p = on[z][:, words].astype(np.float64)
        information = prior[z] @ _divergence(p, prior[z] @ p)
        words = words[np.argsort(-information, kind="stable")]
        if len(words) < 2:
            return words
        subtree_information = _SubtreeInformation(subtree(tree, z, prior[z], words), columns[:, words], emission)
        goal = coverage * subtree_information(len(words))
        few, enough = 0, len(words)  # `few` words do not reach the goal, `enough` do
        while enough - few > 1:
            middle = (few + enough) // 2
            few, enough = (few, middle) if subtree_information(middle) > goal else (middle, enough)
        return words[:enough]

    below = words_below(tree)
    return map_blocks(base, range(tree.n_latents), n_jobs)


class _SubtreeInformation:
    """The information that the first n words have about the root of a tree, in nats, as a function of n."""

    def __init__(self, tree: LatentTree, columns: sp.csc_array, emission: str) -> None:
        self.tree, self.columns, self.emission = tree, columns, emission

    def __call__(self, n_words: int) -> float:
        tree, n_documents = self.tree, self.columns.shape[0]
        rows = sp.csr_array(self.columns[:, :n_words])
        used = np.flatnonzero(np.diff(rows.indptr))
        # documents without any of these words are identical: one represents them
        indptr = np.append(rows.indptr[used], [rows.nnz, rows.nnz])
        documents = sp.csr_array((rows.data, rows.indices, indptr), (len(used) + 1, tree.n_words))
        weight = np.append(np.ones(len(used)), n_documents - len(used)) / n_documents
        inference = Inference(tree, self.emission, np.arange(tree.n_words) < n_words)
        belief = inference.beliefs(documents, np.array([tree.n_latents - 1]))[:, 0].astype(np.float64)
        return float(_entropy(tree.table[-1, 0]) - weight @ _entropy(belief))


def _entropy(p: np.ndarray) -> np.ndarray:
    return -(p * np.log(np.maximum(p, _TINY))).sum(axis=-1)


def topic_parents(tree: LatentTree, topics: TopicStates) -> np.ndarray:
    """For each topic, the row of the topic above it, -1 at the top.

    If the latent above has several states in addition to the background, it is the most likely one given the topic.
    """
    prior = state_marginals(tree)
    row = {(int(z), int(s)): k for k, (z, s) in enumerate(zip(*topics))}
    parents = np.full(len(row), -1)
    for k, (z, s) in enumerate(zip(*topics)):
        y = tree.parent[z]
        if y >= 0 and tree.level[y] > tree.level[z]:
            joint = prior[y] * tree.table[z][:, s]
            parents[k] = row[int(y), 1 + int(np.argmax(joint[1 : tree.n_states[y]]))]
    return parents


def effective_word_scores(
    tree: LatentTree, topics: TopicStates, bases: list[np.ndarray], on: np.ndarray
) -> sp.csr_array:
    """Discerning index of the effective words of each topic that are more likely in it than elsewhere, topics x words.

    bases[z] are the effective words of latent z, on[z, s, w] = P(w|z=s).
    """
    prior = state_marginals(tree)
    columns, values = [], []
    for z, s in zip(*topics):
        share, p = prior[z, : tree.n_states[z]], on[z, : tree.n_states[z]][:, bases[z]].astype(np.float64)
        typical = p[s] >= share @ p  # a word can also discern a topic by its absence
        typical |= not typical.any()
        columns.append(bases[z][typical])
        # a stored zero would not be a word of the topic
        values.append(np.maximum(discerning_index(p, share)[s, typical], np.finfo(np.float64).tiny))
    indptr = np.cumsum([0, *map(len, columns)])
    shape = (len(columns), tree.n_words)
    effective = sp.csr_array((np.concatenate(values), np.concatenate(columns), indptr), shape)
    effective.sort_indices()
    return effective


def topic_probabilities(
    tree: LatentTree, topics: TopicStates, documents: sp.csr_array, emission: str, n_jobs: int | None
) -> np.ndarray:
    """P(topic | d), documents x topics, in a file if it is large."""
    inference, n_documents, n_topics = Inference(tree, emission), documents.shape[0], len(topics.latent)
    result = row_table(n_documents, n_topics, np.float32, on_disk=4 * n_documents * n_topics > _LARGE_TABLE)
    latents, place = np.unique(topics.latent, return_inverse=True)
    for first in range(0, n_documents, _DOCUMENTS_PER_BLOCK):
        rows = slice(first, first + _DOCUMENTS_PER_BLOCK)
        if tree.table.shape[2] == 2:  # every latent has one topic, in the order of the latents
            result[rows] = inference.beliefs(documents[rows], np.arange(tree.n_latents), n_jobs, state=1)
        else:
            result[rows] = inference.beliefs(documents[rows], latents, n_jobs)[:, place, topics.state]
        release(result[rows])
    return result
