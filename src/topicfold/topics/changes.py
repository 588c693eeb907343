"""Changes of topic trees: merge, drop and group topics, select or add levels. Each function returns a new tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import normalise_rows
from ..engine.checks import check_whole
from ..errors import InputError
from .similarity import check_flat, topic_clusters
from .wordless import mean_membership

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = [
    "UNGROUPED",
    "add_group_levels",
    "add_level_above",
    "best_scores",
    "drop_repeated_words",
    "drop_topics",
    "group_topics",
    "grouped_to_show",
    "memberships_in",
    "merge_rows",
    "number_of_groups",
    "reduce_topics",
    "select_levels",
]

UNGROUPED = 12  # topics that a reader takes in without groups
_TOPICS_PER_GROUP, _MOST_GROUPS = 3, 10  # on average, if the number of groups is not given


# ---- several topics in one ------------------------------------------------------------------------------------------


def _combine_rows(
    tree: TopicTree, groups: Sequence[Sequence[int]], ids: np.ndarray, parent: np.ndarray, level: np.ndarray
) -> TopicTree:
    """The tree with one row per group of its rows, which combines their words and documents."""
    weight = _weights(tree, groups)
    doc_topic = _join_memberships(tree.doc_topic, groups, tree.exclusive)
    segments = tree.segment_topic
    return replace(
        tree,
        ids=ids,
        parent=parent,
        level=level,
        size=mean_membership(doc_topic, tree.wordless) if len(doc_topic) else tree.size[[rows[0] for rows in groups]],
        topic_word=(weight @ tree.topic_word).astype(tree.topic_word.dtype),
        word_presence=_mix_rows(tree.word_presence, weight),
        wording=None if tree.wording is None else tree.wording.mixed(weight),
        doc_topic=doc_topic,
        segment_topic=None if segments is None else _join_memberships(segments, groups, tree.exclusive),
        word_score=None if tree.word_score is None else best_scores(tree.word_score, groups),
    )


def _weights(tree: TopicTree, groups: Sequence[Sequence[int]]) -> np.ndarray:
    """The weight of each row of the tree in each group, by the sizes of the topics; groups x topics."""
    member = np.zeros((len(groups), len(tree)))
    for number, rows in enumerate(groups):
        member[number, rows] = np.maximum(tree.size[rows], 1e-12)  # topics of size zero have equal weights
    return normalise_rows(member)


def _join_memberships(memberships: np.ndarray, groups: Sequence[Sequence[int]], exclusive: bool) -> np.ndarray:
    """Memberships in groups of columns: their sum, or the largest if topics are not exclusive."""
    joined = np.empty((len(memberships), len(groups)), memberships.dtype)
    for column, members in enumerate(groups):
        columns = memberships[:, list(members)]
        joined[:, column] = columns.sum(axis=1) if exclusive else columns.max(axis=1, initial=0)
    return joined


def _mix_rows(rows: np.ndarray | None, weight: np.ndarray) -> np.ndarray | None:
    """Mixtures of the rows of topics, or None if there are no rows."""
    return None if rows is None else (weight @ rows).astype(rows.dtype)


def best_scores(scores: np.ndarray | sp.csr_array, groups: Sequence[Sequence[int]]) -> np.ndarray | sp.csr_array:
    """The highest score of each word among the topics of each group."""
    if sp.issparse(scores):
        return sp.csr_array(sp.vstack([sp.csr_array(scores[list(rows)].max(axis=0).reshape(1, -1)) for rows in groups]))
    return np.stack([scores[list(rows)].max(axis=0) for rows in groups])


# ---- fewer topics ---------------------------------------------------------------------------------------------------


def merge_rows(tree: TopicTree, groups: Sequence[Sequence[int]]) -> TopicTree:
    """The tree with each group of rows merged into one topic, which keeps the id of the first row of its group.

    Rows in no group stay. `mapping` maps the other ids of a group to the id that is kept.
    """
    single = set(range(len(tree))) - {row for rows in groups for row in rows}
    parts = sorted([*([row] for row in single), *groups], key=lambda rows: rows[0])
    first = [rows[0] for rows in parts]
    becomes = {int(tree.ids[row]): int(tree.ids[rows[0]]) for rows in parts for row in rows[1:]}
    changed = {*becomes, *becomes.values()}  # marks, descriptions and stability no longer apply to merged topics
    edges = tree.edges
    if edges is not None:  # the shares of a merged topic are weighted by its weight in the new topic
        factor = dict(zip(tree.ids.tolist(), _weights(tree, parts).max(axis=0).tolist()))
        above, below, weight = edges
        edges = _joined_edges((above, below, weight * [factor[topic] for topic in above.tolist()]), becomes)
    parent = np.array([becomes.get(int(above), int(above)) for above in tree.parent[first]], dtype=np.int64)
    return replace(
        _combine_rows(tree, parts, tree.ids[first], parent, tree.level[first]),
        names={topic: name for topic, name in tree.names.items() if topic not in becomes},
        descriptions={topic: text for topic, text in tree.descriptions.items() if topic not in changed},
        marks={topic: mark for topic, mark in tree.marks.items() if topic not in changed},
        stability={topic: value for topic, value in tree.stability.items() if topic not in changed},
        returns={topic: value for topic, value in tree.returns.items() if topic not in changed},
        edges=edges,
        mapping={old: None if new is None else becomes.get(new, new) for old, new in tree.mapping.items()},
    )


def _joined_edges(
    edges: tuple[np.ndarray, np.ndarray, np.ndarray], becomes: Mapping[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges after topics were merged; the weights of equal edges are summed."""
    above, below, weight = edges
    pairs = np.array([[becomes.get(topic, topic) for topic in ends.tolist()] for ends in (above, below)], np.int64)
    pairs, place = np.unique(pairs.reshape(2, -1), axis=1, return_inverse=True)
    return pairs[0], pairs[1], np.bincount(place.ravel(), weight, minlength=pairs.shape[1])


def reduce_topics(tree: TopicTree, n_topics: int) -> TopicTree:
    """The tree with the most similar topics merged until `n_topics` are left."""
    check_flat(tree, "reduce")
    check_whole("n_topics", n_topics)
    if n_topics > len(tree):
        raise InputError(f"reduce({n_topics}): the tree has only {len(tree)} topics")
    if n_topics == len(tree):
        return tree
    # the merged topic gets the id of the largest topic of its cluster
    return merge_rows(tree, [sorted(rows, key=lambda row: -tree.size[row]) for rows in topic_clusters(tree, n_topics)])


def drop_topics(tree: TopicTree, topics: Sequence[int]) -> TopicTree:
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
    """Only the topics of some levels; the parent of a topic is the nearest selected topic above it."""
    unknown = sorted(set(levels) - set(tree.level.tolist()))
    if unknown or not len(levels):
        tree_levels = ", ".join(map(str, np.unique(tree.level)))
        raise InputError(f"levels={list(levels)}: expected levels of the tree, which has {tree_levels}")
    row = {int(topic): k for k, topic in enumerate(tree.ids)}
    selected = np.isin(tree.level, list(levels))
    parent = tree.parent.copy()
    for k in np.flatnonzero(selected):
        while parent[k] >= 0 and not selected[row[int(parent[k])]]:
            parent[k] = tree.parent[row[int(parent[k])]]
    changed = _without(replace(tree, parent=parent), tree.ids[~selected].tolist())
    flat = len(set(levels)) == 1
    return replace(changed, edges=None) if flat else changed


def _without(tree: TopicTree, topics: Sequence[int]) -> TopicTree:
    stays, lost = ~np.isin(tree.ids, topics), set(topics)
    edges = tree.edges
    if edges is not None:
        above, below, weight = edges
        both = ~np.isin(above, topics) & ~np.isin(below, topics)
        edges = (above[both], below[both], weight[both])
    return replace(
        tree,
        ids=tree.ids[stays],
        parent=tree.parent[stays],
        level=tree.level[stays],
        size=tree.size[stays],
        topic_word=tree.topic_word[stays],
        word_presence=None if tree.word_presence is None else tree.word_presence[stays],
        wording=None if tree.wording is None else tree.wording.of_topics(stays),
        doc_topic=tree.doc_topic[:, stays],
        segment_topic=None if tree.segment_topic is None else tree.segment_topic[:, stays],
        word_score=None if tree.word_score is None else tree.word_score[np.flatnonzero(stays)],
        names={topic: name for topic, name in tree.names.items() if topic not in lost},
        descriptions={topic: text for topic, text in tree.descriptions.items() if topic not in lost},
        marks={topic: mark for topic, mark in tree.marks.items() if topic not in lost},
        stability={topic: value for topic, value in tree.stability.items() if topic not in lost},
        returns={topic: value for topic, value in tree.returns.items() if topic not in lost},
        edges=edges,
        mapping={old: None if new in lost else new for old, new in tree.mapping.items()},
    )


def drop_repeated_words(tree: TopicTree, shown: int, least: int) -> TopicTree:
    """The tree without the words of a topic that its parent shows, if at least `least` words are left."""
    if tree.word_score is None or not sp.issparse(tree.word_score):
        return tree
    changed, column = tree, {word: w for w, word in enumerate(tree.vocabulary)}
    for level in np.unique(tree.level)[-2::-1]:  # from the top: what a topic shows depends on what it lost
        scores = sp.csr_array(changed.word_score, copy=True)
        for row in np.flatnonzero((tree.level == level) & (tree.parent >= 0)):
            shown_above = [column[word.word] for word in changed.words(int(tree.parent[row]), shown)]
            cells = slice(scores.indptr[row], scores.indptr[row + 1])
            repeated = np.isin(scores.indices[cells], shown_above)
            if (~repeated).sum() >= least:
                scores.data[cells][repeated] = 0
        scores.eliminate_zeros()
        changed = replace(changed, word_score=scores)
    return changed


# ---- levels above ---------------------------------------------------------------------------------------------------


def number_of_groups(n_topics: int) -> int:
    """The number of groups of so many topics, if none is given: 5 to 10, or fewer if there are at most 12 topics."""
    return min(_MOST_GROUPS, -(-n_topics // _TOPICS_PER_GROUP))


def grouped_to_show(tree: TopicTree) -> TopicTree:
    """The tree as it is listed: with groups above the topics, if it is flat and has many."""
    flat = tree.exclusive and tree.edges is None and tree.parent.max(initial=-1) < 0
    return group_topics(tree, None) if flat and len(tree) > UNGROUPED else tree


def group_topics(tree: TopicTree, sizes: Sequence[int] | None) -> TopicTree:
    """The tree with levels of groups of similar topics above it; `sizes` are the numbers of groups."""
    check_flat(tree, "group")
    n_topics = len(tree)
    if sizes is None:
        sizes = [number_of_groups(n_topics)]
    sizes = sorted((check_whole("a number of groups", size) for size in sizes), reverse=True)
    if not sizes or sizes[0] >= n_topics or len(set(sizes)) < len(sizes):
        raise InputError(f"group({sizes}): expected different numbers of groups, fewer than the {n_topics} topics")
    below = [[row] for row in range(n_topics)]  # the topics of each node of the level below
    parent, members = np.full(n_topics, -1), below.copy()
    next_id = max([*tree.ids.tolist(), *tree.mapping]) + 1
    ids = tree.ids.tolist()
    first = 0
    for size in sizes:
        groups = topic_clusters(tree, size)
        new = list(range(next_id, next_id + len(groups)))
        group_of_row = {row: number for number, rows in enumerate(groups) for row in rows}
        for place, rows in enumerate(below):
            parent[first + place] = new[group_of_row[rows[0]]]
        first, next_id, below = first + len(below), next_id + len(groups), groups
        ids, members = [*ids, *new], [*members, *groups]
        parent = np.concatenate([parent, np.full(len(groups), -1)])
    return add_group_levels(tree, np.array(ids), parent, members, sizes)


def add_group_levels(
    tree: TopicTree, ids: np.ndarray, parent: np.ndarray, members: Sequence[Sequence[int]], sizes: Sequence[int]
) -> TopicTree:
    """The flat tree with levels of groups above it; `members` are the rows of each topic and each group."""
    level = np.repeat(np.arange(1, len(sizes) + 2), [len(tree), *sizes])
    level_names = {1: "topic", **dict.fromkeys(range(2, len(sizes) + 2), "group")}
    return replace(_combine_rows(tree, members, ids, parent, level), level_names=level_names)


def add_level_above(
    tree: TopicTree,
    *,
    numbers: np.ndarray,
    share: np.ndarray,
    weight: np.ndarray,
    membership: np.ndarray,
    level_names: tuple[str, str],
    names: Iterable[object] | None = None,
    segment_topic: np.ndarray | None = None,
) -> TopicTree:
    """A flat tree with a level above it. The new topics have ids after those of the tree, in the order of `numbers`.

    `share` has the share of each topic of the tree in each new topic, rows summing to one; topics with more than an
    equal share are parts of the new topic. The parent of a topic is the new topic that has most of it, by `weight`.
    `membership` is documents x new topics; `segment_topic` is segments x topics of both levels, in the order of ids.
    """
    n_topics = len(tree)
    ids = n_topics + numbers
    parent = (share * weight[:, None]).argmax(axis=0)
    joined = share > (1 - 1e-6) / n_topics
    joined[parent, np.arange(n_topics)] = True
    upper, lower = np.nonzero(joined)
    return replace(
        tree,
        ids=np.concatenate([tree.ids, ids]),
        parent=np.concatenate([ids[parent], np.full(len(ids), -1)]),
        level=np.repeat([1, 2], [n_topics, len(ids)]),
        size=np.concatenate([tree.size, mean_membership(membership, tree.wordless)]),
        topic_word=np.vstack([tree.topic_word, (share @ tree.topic_word).astype(tree.topic_word.dtype)]),
        word_presence=_mix_rows(tree.word_presence, np.vstack([np.eye(n_topics), share])),
        wording=None if tree.wording is None else tree.wording.mixed(np.vstack([np.eye(n_topics), share])),
        doc_topic=np.hstack([tree.doc_topic, membership]),
        segment_topic=segment_topic,
        edges=(ids[upper], lower, share[upper, lower]),
        level_names=dict(enumerate(level_names, start=1)),
        names={} if names is None else {int(topic): str(name) for topic, name in zip(ids, names)},
        mapping={int(topic): int(topic) for topic in [*tree.ids, *ids]},
    )


# ---- other documents -------------------------------------------------------------------------------------------------


def memberships_in(tree: TopicTree, fresh: TopicTree) -> np.ndarray:
    """Memberships of the documents of `fresh`, an unchanged tree of the same model, in the topics of a changed tree."""
    columns: list[list[int]] = [[] for _ in range(len(tree))]
    for column, topic in enumerate(fresh.ids.tolist()):
        became = tree.mapping.get(topic)
        if became is not None:
            columns[tree.row(became)].append(column)
    model_topics = {new for new in tree.mapping.values() if new is not None}
    for row in np.argsort(tree.level, kind="stable"):  # groups follow the topics below them
        topic = int(tree.ids[row])
        if topic not in model_topics:
            columns[row] = [column for child in tree.children(topic) for column in columns[tree.row(child)]]
    return _join_memberships(fresh.doc_topic, columns, tree.exclusive)
