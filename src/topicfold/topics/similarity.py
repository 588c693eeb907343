"""Similarity of the topics of a tree by words and documents: for each pair, as a linkage and as clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..engine.blocks import single_threaded_libraries
from ..errors import InputError

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["check_flat", "topic_clusters", "topic_linkage", "topic_similarity"]


def topic_similarity(tree: TopicTree) -> np.ndarray:
    """Similarity of each pair of topics, from -1 to 1: the mean of their similarity by words and by documents.

    By words, it is the cosine of sqrt P(w|z) - sqrt P(w); by documents, the correlation of their memberships. What all
    topics have in common is subtracted: otherwise every topic would be most similar to the largest. If documents are
    not mixtures of topics, all topics give most words about the same probability, so only documents are used.
    """
    documents = _cosines(tree.doc_topic.T - tree.doc_topic.mean(axis=0)[:, None])
    if not tree.exclusive:
        return documents
    background = np.sqrt(tree.word_frequency / max(tree.word_frequency.sum(), 1e-300))
    return (_cosines(np.sqrt(tree.topic_word) - background) + documents) / 2


def _cosines(rows: np.ndarray) -> np.ndarray:
    unit = np.ascontiguousarray(rows, dtype=np.float64)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-300)
    with single_threaded_libraries():
        cosines = unit @ unit.T
    return np.clip((cosines + cosines.T) / 2, -1, 1)


def topic_linkage(tree: TopicTree) -> np.ndarray:
    """Average linkage of the topics of a flat tree, in the format of scipy's `linkage`; distance is 1 - similarity."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    check_flat(tree, "linkage")
    distance = 1 - topic_similarity(tree)
    np.fill_diagonal(distance, 0)
    return np.asarray(linkage(squareform(distance, checks=False), "average"))


def check_flat(tree: TopicTree, purpose: str) -> None:
    """Raise a ValueError if the tree has more than one level."""
    if tree.parent.max(initial=-1) >= 0 or tree.edges is not None:
        raise InputError(f"{purpose} needs a tree of one level: choose one with select_levels([1])")


def topic_clusters(tree: TopicTree, n_clusters: int) -> list[list[int]]:
    """The rows of the topics of each cluster; clusters are in the order of their first topics."""
    from scipy.cluster.hierarchy import cut_tree

    cluster = cut_tree(topic_linkage(tree), n_clusters=n_clusters).ravel()
    return [np.flatnonzero(cluster == number).tolist() for number in dict.fromkeys(cluster.tolist())]
