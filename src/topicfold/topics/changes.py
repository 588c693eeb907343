"""Changes of topic trees: merge or drop topics, or keep some levels. Each function returns a new tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import normalise_rows
from ..errors import InputError
from .wordless import mean_membership

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = [
    "best_scores",
    "drop_repeated_words",
    "dropped",
    "memberships_in",
    "merged",
    "mixed",
    "select_levels",
    "together",
]


def together(memberships: np.ndarray, groups: Sequence[Sequence[int]], exclusive: bool) -> np.ndarray:
    """Memberships in groups of columns: their sum, or the largest if topics are not exclusive."""
    joined = np.empty((len(memberships), len(groups)), memberships.dtype)
    for column, members in enumerate(groups):
        some = memberships[:, list(members)]
        joined[:, column] = some.sum(axis=1) if exclusive else some.max(axis=1, initial=0)
    return joined


def merged(tree: TopicTree, groups: Sequence[Sequence[int]]) -> TopicTree:
    """The tree with each group of rows merged into one topic, which keeps the id of the first row of its group.

    Rows in no group stay. `mapping` maps the other ids of a group to the id that is kept.
    """
    single = set(range(len(tree))) - {row for rows in groups for row in rows}
    parts = sorted([*([row] for row in single), *groups], key=lambda rows: rows[0])
    member = np.zeros((len(parts), len(tree)))
    for number, rows in enumerate(parts):
        member[number, rows] = np.maximum(tree.size[rows], 1e-12)  # topics of size zero have equal weights
    weight = normalise_rows(member)
    kept = [rows[0] for rows in parts]
    becomes = {int(tree.ids[row]): int(tree.ids[rows[0]]) for rows in parts for row in rows[1:]}
    changed = {*becomes, *becomes.values()}  # marks and descriptions no longer apply to merged topics
    doc_topic = together(tree.doc_topic, parts, tree.exclusive)
    segments = None if tree.segment_topic is None else together(tree.segment_topic, parts, tree.exclusive)
    edges = tree.edges
    if edges is not None:  # the shares of a merged topic are weighted by its weight in the new topic
        factor = dict(zip(tree.ids.tolist(), weight.max(axis=0).tolist()))
        edges = (*edges[:2], edges[2] * [factor[topic] for topic in edges[0].tolist()])
        edges = _joined_edges(edges, becomes)
    return replace(
        tree,
        ids=tree.ids[kept],
        parent=np.array([becomes.get(int(above), int(above)) for above in tree.parent[kept]], dtype=np.int64),
        level=tree.level[kept],
        size=mean_membership(doc_topic, tree.wordless) if len(doc_topic) else tree.size[kept],
        topic_word=(weight @ tree.topic_word).astype(tree.topic_word.dtype),
        word_presence=mixed(tree.word_presence, weight),
        doc_topic=doc_topic,
        segment_topic=segments,
        word_score=None if tree.word_score is None else best_scores(tree.word_score, parts),
        names={topic: name for topic, name in tree.names.items() if topic not in becomes},
        descriptions={topic: text for topic, text in tree.descriptions.items() if topic not in changed},
        marks={topic: mark for topic, mark in tree.marks.items() if topic not in changed},
        edges=edges,
        mapping={old: None if new is None else becomes.get(new, new) for old, new in tree.mapping.items()},
    )


def mixed(rows: np.ndarray | None, weight: np.ndarray) -> np.ndarray | None:
    """Mixtures of the rows of topics, or None if there are no rows."""
    return None if rows is None else (weight @ rows).astype(rows.dtype)


def best_scores(scores: np.ndarray | sp.csr_array, groups: Sequence[Sequence[int]]) -> np.ndarray | sp.csr_array:
    """The highest score of each word among the topics of each group."""
    if sp.issparse(scores):
        return sp.csr_array(sp.vstack([sp.csr_array(scores[list(rows)].max(axis=0).reshape(1, -1)) for rows in groups]))
    return np.stack([scores[list(rows)].max(axis=0) for rows in groups])


def _joined_edges(
    edges: tuple[np.ndarray, np.ndarray, np.ndarray], becomes: Mapping[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges after topics were merged; the weights of equal edges are summed."""
    above, below, weight = edges
    pairs = np.array([[becomes.get(topic, topic) for topic in ends.tolist()] for ends in (above, below)], np.int64)
    pairs, place = np.unique(pairs.reshape(2, -1), axis=1, return_inverse=True)
    return pairs[0], pairs[1], np.bincount(place.ravel(), weight, minlength=pairs.shape[1])


def dropped(tree: TopicTree, topics: Sequence[int]) -> TopicTree:
    """The tree without some topics; topics below them move up, or to the other parent with the largest weight."""
    for topic in dict.fromkeys(topics):
        parent, above = tree.parent.copy(), int(tree.parent[tree.row(topic)])
        for row in np.flatnonzero(tree.parent == topic):
            parent[row] = _heaviest_above(tree, int(tree.ids[row]), besides=topic, otherwise=above)
        tree = _without(replace(tree, parent=parent), [topic])
    return tree


def _heaviest_above(tree: TopicTree, topic: int, besides: int, otherwise: int) -> int:
    if tree.edges is None:
        return otherwise
    above, below, weight = tree.edges
    others = np.flatnonzero((below == topic) & (above != besides))
    return int(above[others[weight[others].argmax()]]) if len(others) else otherwise


def select_levels(tree: TopicTree, levels: Sequence[int]) -> TopicTree:
    """Only the topics of some levels; the parent of a topic is the nearest kept topic above it."""
    unknown = sorted(set(levels) - set(tree.level.tolist()))
    if unknown or not len(levels):
        there = ", ".join(map(str, np.unique(tree.level)))
        raise InputError(f"levels={list(levels)}: expected levels of the tree, which has {there}")
    row = {int(topic): k for k, topic in enumerate(tree.ids)}
    keep = np.isin(tree.level, list(levels))
    parent = tree.parent.copy()
    for k in np.flatnonzero(keep):
        while parent[k] >= 0 and not keep[row[int(parent[k])]]:
            parent[k] = tree.parent[row[int(parent[k])]]
    changed = _without(replace(tree, parent=parent), tree.ids[~keep].tolist())
    flat = len(set(levels)) == 1
    return replace(changed, edges=None) if flat else changed


def drop_repeated_words(tree: TopicTree, shown: int, least: int) -> TopicTree:
    """The tree without the words of a topic that its parent shows, if at least `least` words are left."""
    if tree.word_score is None or not sp.issparse(tree.word_score):
        return tree
    changed, column = tree, {word: w for w, word in enumerate(tree.vocabulary)}
    for level in np.unique(tree.level)[-2::-1]:  # from the top: what a topic shows depends on what it lost
        scores = sp.csr_array(changed.word_score, copy=True)
        for row in np.flatnonzero((tree.level == level) & (tree.parent >= 0)):
            repeated = [column[word.word] for word in changed.words(int(tree.parent[row]), shown)]
            own = slice(scores.indptr[row], scores.indptr[row + 1])
            gone = np.isin(scores.indices[own], repeated)
            if (~gone).sum() >= least:
                scores.data[own][gone] = 0
        scores.eliminate_zeros()
        changed = replace(changed, word_score=scores)
    return changed


def _without(tree: TopicTree, gone: Sequence[int]) -> TopicTree:
    keep, lost = ~np.isin(tree.ids, gone), set(gone)
    edges = tree.edges
    if edges is not None:
        stay = ~np.isin(edges[0], gone) & ~np.isin(edges[1], gone)
        edges = (edges[0][stay], edges[1][stay], edges[2][stay])
    return replace(
        tree,
        ids=tree.ids[keep],
        parent=tree.parent[keep],
        level=tree.level[keep],
        size=tree.size[keep],
        topic_word=tree.topic_word[keep],
        word_presence=None if tree.word_presence is None else tree.word_presence[keep],
        doc_topic=tree.doc_topic[:, keep],
        segment_topic=None if tree.segment_topic is None else tree.segment_topic[:, keep],
        word_score=None if tree.word_score is None else tree.word_score[np.flatnonzero(keep)],
        names={topic: name for topic, name in tree.names.items() if topic not in lost},
        descriptions={topic: text for topic, text in tree.descriptions.items() if topic not in lost},
        marks={topic: mark for topic, mark in tree.marks.items() if topic not in lost},
        edges=edges,
        mapping={old: None if new in lost else new for old, new in tree.mapping.items()},
    )


def memberships_in(tree: TopicTree, fresh: TopicTree) -> np.ndarray:
    """Memberships of the documents of `fresh`, an unchanged tree of the same model, in the topics of a changed tree."""
    columns: list[list[int]] = [[] for _ in range(len(tree))]
    for column, topic in enumerate(fresh.ids.tolist()):
        became = tree.mapping.get(topic)
        if became is not None:
            columns[tree.row(became)].append(column)
    of_model = {new for new in tree.mapping.values() if new is not None}
    for row in np.argsort(tree.level, kind="stable"):  # groups follow the topics below them
        topic = int(tree.ids[row])
        if topic not in of_model:
            columns[row] = [column for child in tree.children(topic) for column in columns[tree.row(child)]]
    return together(fresh.doc_topic, columns, tree.exclusive)
