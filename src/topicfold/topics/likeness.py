"""Similarity of the topics of a tree by words and documents, used to merge topics and to add levels of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..engine.arrays import normalise_rows
from ..engine.blocks import single_threaded_libraries
from ..engine.checks import check_whole
from ..errors import InputError
from .changes import best_scores, merged, mixed, together
from .wordless import mean_membership

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["check_flat", "reduced", "topic_likeness", "topic_linkage", "with_groups", "with_rows"]

_GROUP_OF = 3  # mean number of topics per group, if the number of groups is not given


def topic_likeness(tree: TopicTree) -> np.ndarray:
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
        alike = unit @ unit.T
    return np.clip((alike + alike.T) / 2, -1, 1)


def topic_linkage(tree: TopicTree) -> np.ndarray:
    """Average linkage of the topics of a flat tree, in the format of scipy's `linkage`; distance is 1 - similarity."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    check_flat(tree, "linkage")
    distance = 1 - topic_likeness(tree)
    np.fill_diagonal(distance, 0)
    return np.asarray(linkage(squareform(distance, checks=False), "average"))


def check_flat(tree: TopicTree, what: str) -> None:
    """Raise a ValueError if the tree has more than one level."""
    if tree.parent.max(initial=-1) >= 0 or tree.edges is not None:
        raise InputError(f"{what} needs a tree of one level: choose one with select_levels([1])")


def _clusters(tree: TopicTree, n_clusters: int) -> list[list[int]]:
    """The rows of the topics of each cluster; clusters are in the order of their first topics."""
    from scipy.cluster.hierarchy import cut_tree

    cluster = cut_tree(topic_linkage(tree), n_clusters=n_clusters).ravel()
    return [np.flatnonzero(cluster == number).tolist() for number in dict.fromkeys(cluster.tolist())]


def reduced(tree: TopicTree, n_topics: int) -> TopicTree:
    """The tree with the most similar topics merged until `n_topics` are left."""
    check_flat(tree, "reduce")
    check_whole("n_topics", n_topics)
    if n_topics > len(tree):
        raise InputError(f"reduce({n_topics}): the tree has only {len(tree)} topics")
    if n_topics == len(tree):
        return tree
    # the merged topic gets the id of the largest topic of its cluster
    return merged(tree, [sorted(rows, key=lambda row: -tree.size[row]) for rows in _clusters(tree, n_topics)])


def with_groups(tree: TopicTree, sizes: Sequence[int] | None) -> TopicTree:
    """The tree with levels of groups of similar topics above it; `sizes` are the numbers of groups."""
    check_flat(tree, "group")
    n_topics = len(tree)
    if sizes is None:
        sizes, n_groups = [], n_topics
        while (n_groups := round(n_groups / _GROUP_OF)) >= 2:
            sizes.append(n_groups)
    sizes = sorted((check_whole("a number of groups", size) for size in sizes), reverse=True)
    if not sizes or sizes[0] >= n_topics or len(set(sizes)) < len(sizes):
        raise InputError(f"group({sizes}): expected different numbers of groups, fewer than the {n_topics} topics")
    below = [[row] for row in range(n_topics)]  # the topics of each node of the level below
    parent, members = np.full(n_topics, -1), below.copy()
    next_id = max([*tree.ids.tolist(), *tree.mapping]) + 1
    ids = tree.ids.tolist()
    first = 0
    for size in sizes:
        groups = _clusters(tree, size)
        new = list(range(next_id, next_id + len(groups)))
        of_topic = {row: number for number, rows in enumerate(groups) for row in rows}
        for place, rows in enumerate(below):
            parent[first + place] = new[of_topic[rows[0]]]
        first, next_id, below = first + len(below), next_id + len(groups), groups
        ids, members = [*ids, *new], [*members, *groups]
        parent = np.concatenate([parent, np.full(len(groups), -1)])
    return with_rows(tree, np.array(ids), parent, members, sizes)


def with_rows(
    tree: TopicTree, ids: np.ndarray, parent: np.ndarray, members: list[list[int]], sizes: Sequence[int]
) -> TopicTree:
    """The tree with one row for each list of its rows, which combines their words and documents."""
    member = np.zeros((len(members), len(tree)))
    for row, rows in enumerate(members):
        member[row, rows] = 1
    weight = normalise_rows(member * np.maximum(tree.size, 1e-12))
    doc_topic = together(tree.doc_topic, members, tree.exclusive)
    word_score = None if tree.word_score is None else best_scores(tree.word_score, members)
    return replace(
        tree,
        ids=ids,
        parent=parent,
        level=np.repeat(np.arange(1, len(sizes) + 2), [len(tree), *sizes]),
        size=mean_membership(doc_topic, tree.wordless),
        topic_word=(weight @ tree.topic_word).astype(tree.topic_word.dtype),
        word_presence=mixed(tree.word_presence, weight),
        doc_topic=doc_topic,
        segment_topic=None if tree.segment_topic is None else together(tree.segment_topic, members, tree.exclusive),
        word_score=word_score,
        level_names={1: "topic", **dict.fromkeys(range(2, len(sizes) + 2), "group")},
    )
