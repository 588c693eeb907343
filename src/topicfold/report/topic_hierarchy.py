"""Which topics belong together: flat topics merged two by two, with the name of each fork and their similarity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..engine.arrays import normalise_rows
from ..topics.changes import UNGROUPED, best_scores, number_of_groups
from ..topics.similarity import linkage_of, topic_similarity
from ..topics.tree import TopicTree
from .document_table import shortened
from .topic_table import as_number

__all__ = ["topic_hierarchy"]

_MOST_TOPICS = 150  # a drawing with more is not readable


def topic_hierarchy(tree: TopicTree) -> dict[str, Any] | None:
    """Forks of flat topics, most similar first, their order, and similarity in hundredths; None if not applicable.

    `groups` is the number of groups that the list of topics shows; 0 if the topics are too few for groups.

    A fork is [one, other, distance, name]: numbers below the number of topics are rows of topics, others are earlier
    forks. Its name is that of both together.
    """
    n_topics = len(tree)
    if not tree.exclusive or tree.edges is not None or tree.parent.max(initial=-1) >= 0:
        return None
    if not 3 <= n_topics <= _MOST_TOPICS:
        return None
    from scipy.cluster.hierarchy import leaves_list, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    likeness = topic_similarity(tree)
    distance = 1 - likeness
    np.fill_diagonal(distance, 0)
    linkage = optimal_leaf_ordering(linkage_of(likeness), squareform(distance, checks=False))
    members: list[list[int]] = [[row] for row in range(n_topics)]
    forks = []
    for one, other, height, _ in linkage.tolist():
        members.append([*members[int(one)], *members[int(other)]])
        forks.append([int(one), int(other), as_number(height, 3), _name(tree, members[-1])])
    return {
        "forks": forks,
        "groups": number_of_groups(n_topics) if n_topics > UNGROUPED else 0,
        "order": leaves_list(linkage).tolist(),
        "likeness": (100 * likeness).round().astype(int).tolist(),
    }


def _name(tree: TopicTree, rows: list[int]) -> str:
    """The default name that several topics would have together."""
    if len(rows) == len(tree):
        return ""  # no words set all topics together apart
    # only these: a merged tree would include all other topics and all documents, again for each fork
    weight = normalise_rows(np.maximum(tree.size[rows], 1e-12)[None])
    together = replace(
        tree,
        ids=tree.ids[rows[:1]],
        parent=tree.parent[rows[:1]],
        level=tree.level[rows[:1]],
        names={},
        topic_word=weight @ tree.topic_word[rows],
        word_presence=None if tree.word_presence is None else weight @ tree.word_presence[rows],
        word_score=None if tree.word_score is None else best_scores(tree.word_score, [rows]),
        wording=None if tree.wording is None else tree.wording.of_topics(np.array(rows)).mixed(weight),
    )
    return shortened(together.name(int(tree.ids[rows[0]])))
