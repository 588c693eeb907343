"""Topic trees as pandas data frames: topics, documents, topics by group, topics over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpus.corpus import Corpus
from ..errors import InputError
from .copied import first_copies
from .shares import check_dates, chosen_period, dates_with_words, group_shares, shares_over_time
from .terms import in_one_line
from .typical import typical_documents
from .wordless import with_words

if TYPE_CHECKING:
    import pandas as pd

    from .tree import TopicTree

__all__ = ["document_table", "group_table", "largest_topics", "time_table", "topic_columns", "topic_table"]

_MEMBER = 0.5  # a document is in a topic above this membership, if documents are not mixtures of topics
_LABELS = "labels"


def _check_documents(tree: TopicTree, corpus: Corpus) -> None:
    if len(corpus) != len(tree.doc_topic):
        raise InputError(
            f"the tree has {len(tree.doc_topic):,} documents and the corpus {len(corpus):,}: make a tree of this "
            "corpus with model.topic_tree(corpus)"
        )


def topic_columns(tree: TopicTree, rows: np.ndarray) -> list[str]:
    """The names of topic columns: id and name, so that no two are the same."""
    return [f"{topic} {tree.name(topic)}" for topic in tree.ids[rows].tolist()]


def largest_topics(doc_topic: np.ndarray, n: int) -> np.ndarray:
    """The columns of the largest memberships of each document, the largest first; ties in column order."""
    return np.argsort(-doc_topic, axis=1, kind="stable")[:, :n]


def topic_table(tree: TopicTree, n_words: int, n_documents: int, corpus: Corpus | None) -> pd.DataFrame:
    """One row per topic; see `TopicTree.topic_table`."""
    import pandas as pd

    members, doc_topic = np.zeros(len(tree), int), with_words(tree)
    for level in np.unique(tree.level):
        rows = np.flatnonzero(tree.level == level)
        shares = doc_topic[:, rows]
        if tree.exclusive:
            topical = shares[shares.max(axis=1, initial=0) > 0]  # a document may have lost all its topics
            members[rows] = np.bincount(topical.argmax(axis=1), minlength=len(rows)) if len(topical) else 0
        else:
            members[rows] = (shares > _MEMBER).sum(axis=0)
    topics = tree.ids.tolist()
    first = first_copies(tree, corpus)
    typical = [typical_documents(tree, row, n_documents, first) for row in range(len(tree))]
    columns = {
        "topic": tree.ids,
        "name": [tree.name(topic) for topic in topics],
        **({"description": [tree.descriptions.get(topic, "") for topic in topics]} if tree.descriptions else {}),
        "parent": tree.parent,
        "level": tree.level,
        "size": tree.size,
        **({"mark": [tree.marks.get(topic, "") for topic in topics]} if tree.marks else {}),
        **({"stability": [tree.stability.get(topic, np.nan) for topic in topics]} if tree.stability else {}),
        **({"returns": [tree.returns.get(topic, np.nan) for topic in topics]} if tree.returns else {}),
        "n_documents": members,
        "words": [in_one_line(tree.terms(topic, n_words)) for topic in topics],
        "documents": [[tree.title(d) for d in rows.tolist()] for rows in typical],
    }
    return pd.DataFrame(columns).set_index("topic")


def document_table(tree: TopicTree, corpus: Corpus | None, n_topics: int) -> pd.DataFrame:
    """One row per document; see `TopicTree.document_table`."""
    import pandas as pd

    rows = np.flatnonzero(tree.at_lowest_level)
    doc_topic, ids = with_words(tree)[:, rows], tree.ids[rows]
    best = largest_topics(doc_topic, max(n_topics, 1))
    topical = doc_topic.max(axis=1, initial=0) > 0
    names = np.array([tree.name(topic) for topic in ids.tolist()], dtype=object)
    columns: dict[str, Any] = {"id": tree.document_ids}
    if tree.titles is not None:
        columns["title"] = tree.titles
    for place in range(best.shape[1]):
        suffix = "" if place == 0 else f"_{place + 1}"
        share = doc_topic[np.arange(len(best)), best[:, place]]
        columns[f"topic{suffix}"] = np.where(topical, ids[best[:, place]], -1)
        columns[f"name{suffix}"] = np.where(topical, names[best[:, place]], "")
        columns[f"probability{suffix}"] = share
    if corpus is not None:
        _check_documents(tree, corpus)
        if corpus.labels is not None:
            single = all(len(labels) <= 1 for labels in corpus.labels)
            columns[_LABELS] = corpus.label_array() if single else list(map(list, corpus.labels))
        if corpus.timestamps is not None:
            columns["timestamp"] = corpus.timestamps
        for name, values in corpus.metadata.items():
            columns[name if name not in columns else f"metadata_{name}"] = values
    return pd.DataFrame(columns).set_index("id")


def group_table(tree: TopicTree, corpus: Corpus, by: str) -> pd.DataFrame:
    """One row per label or value of a metadata column; see `TopicTree.group_table`."""
    _check_documents(tree, corpus)
    member, names = corpus.label_matrix() if by == _LABELS else corpus.group_matrix(by)
    rows = np.flatnonzero(tree.at_lowest_level)
    share, n_documents = group_shares(tree, member, rows)
    import pandas as pd

    table = pd.DataFrame(share, index=pd.Index(names, name=by), columns=topic_columns(tree, rows))
    table.insert(0, "n_documents", n_documents)
    return table


def time_table(tree: TopicTree, corpus: Corpus, by: str | None) -> pd.DataFrame:
    """One row per period; see `TopicTree.time_table`."""
    _check_documents(tree, corpus)
    timestamps = dates_with_words(tree, check_dates(corpus))
    rows = np.flatnonzero(tree.at_lowest_level)
    period = chosen_period(timestamps, by)
    periods, share, n_documents = shares_over_time(tree.doc_topic[:, rows], timestamps, period)
    import pandas as pd

    index = pd.Index(periods.astype(str), name=period)
    table = pd.DataFrame(share, index=index, columns=topic_columns(tree, rows))
    table.insert(0, "n_documents", n_documents)
    return table
