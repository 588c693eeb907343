"""Topics above topics: the document-topics of LDCC and the themes of TTMM as a level above a flat tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from .changes import mixed
from .tree import TopicTree
from .wordless import mean_membership

__all__ = ["add_level_above"]


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
        word_presence=mixed(tree.word_presence, np.vstack([np.eye(n_topics), share])),
        doc_topic=np.hstack([tree.doc_topic, membership]),
        segment_topic=segment_topic,
        edges=(ids[upper], lower, share[upper, lower]),
        level_names=dict(enumerate(level_names, start=1)),
        names={} if names is None else {int(topic): str(name) for topic, name in zip(ids, names)},
        mapping={int(topic): int(topic) for topic in [*tree.ids, *ids]},
    )
