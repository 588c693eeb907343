"""Similarity of the topics of a tree by the words of their documents: for each pair, as a linkage and as clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.arrays import normalise_rows
from ..engine.blocks import single_threaded_libraries
from ..errors import InputError

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["check_flat", "linkage_of", "topic_clusters", "topic_linkage", "topic_similarity"]

_BLOCK = 1 << 14  # documents of one product


def topic_similarity(tree: TopicTree) -> np.ndarray:
    """Similarity of each pair of topics, from -1 to 1: how similar the words of their documents are.

    The words of a topic's documents are those of all topics that these documents mix, weighted by how much documents
    share of both: sum_d P(z|d) P(y|d), rows normalised, times P(w|y). The similarity is the cosine of their square
    roots minus sqrt P(w). What all topics have in common is subtracted: otherwise every topic would be most similar to
    the largest. If documents are not mixtures of topics, all topics give most words about the same probability, so the
    similarity is the correlation of their memberships.
    """
    if not tree.exclusive:
        return _cosines(tree.doc_topic.T - tree.doc_topic.mean(axis=0)[:, None])
    background = np.sqrt(tree.word_frequency / max(tree.word_frequency.sum(), 1e-300))
    shared = 1e-12 * np.eye(len(tree))  # a topic without documents has its own words
    with single_threaded_libraries():
        for start in range(0, len(tree.doc_topic), _BLOCK):
            block = np.asarray(tree.doc_topic[start : start + _BLOCK], dtype=np.float64)
            shared += block.T @ block
        words = normalise_rows(shared) @ tree.topic_word
    return _cosines(np.sqrt(words) - background)


def _cosines(rows: np.ndarray) -> np.ndarray:
    unit = np.ascontiguousarray(rows, dtype=np.float64)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-300)
    with single_threaded_libraries():
        cosines = unit @ unit.T
    return np.clip((cosines + cosines.T) / 2, -1, 1)


def topic_linkage(tree: TopicTree) -> np.ndarray:
    """Ward linkage of the topics of a flat tree, in the format of scipy's `linkage`; see `linkage_of`."""
    check_flat(tree, "linkage")
    return linkage_of(topic_similarity(tree))


def linkage_of(similarity: np.ndarray) -> np.ndarray:
    """Ward linkage of rows of length one with these cosines; their distance is sqrt(2 - 2 cosine)."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    distance = np.sqrt(np.maximum(2 - 2 * similarity, 0))
    np.fill_diagonal(distance, 0)
    return np.asarray(linkage(squareform(distance, checks=False), "ward"))


def check_flat(tree: TopicTree, purpose: str) -> None:
    """Raise a ValueError if the tree has more than one level."""
    if tree.parent.max(initial=-1) >= 0 or tree.edges is not None:
        raise InputError(f"{purpose} needs a tree of one level: choose one with select_levels([1])")


def topic_clusters(tree: TopicTree, n_clusters: int) -> list[list[int]]:
    """The rows of the topics of each cluster; clusters are in the order of their first topics."""
    from scipy.cluster.hierarchy import cut_tree

    cluster = cut_tree(topic_linkage(tree), n_clusters=n_clusters).ravel()
    return [np.flatnonzero(cluster == number).tolist() for number in dict.fromkeys(cluster.tolist())]
