"""Groups of documents under one model: how large each topic is in each group, and which words the group uses for it."""

from __future__ import annotations

from typing import Any

from ..analysis.contrast import contrast
from ..corpus.corpus import Corpus
from ..topics.shares import group_shares
from ..topics.tree import TopicTree
from .document_table import shortened
from .topic_table import as_number

__all__ = ["group_tables"]

_MOST_COLUMNS = 6
_MOST_GROUPS = 40
_MOST_CELLS = 40_000_000  # topics x groups x words
_WORDS = 8
_LEAST_Z = 3.0  # among thousands of words, some exceed 2 by chance


def group_tables(tree: TopicTree, corpus: Corpus, words: dict[str, int]) -> list[dict[str, Any]]:
    """For labels and each column with a few values: {by, values, documents, share, words}.

    `share` is topics x groups. `words` is [topics + 1][groups] lists of [word, z], the first for all topics together;
    topics above the lowest level have none. They are added to the argument `words`.
    """
    columns = ["labels"] * (corpus.labels is not None) + [
        name for name, values in corpus.metadata.items() if values.dtype.kind in "Oiu"
    ]
    tables: list[dict[str, Any]] = []
    for by in columns:
        member, names = corpus.label_matrix() if by == "labels" else corpus.group_matrix(by)
        cells = (len(tree) + 1) * len(names) * len(tree.vocabulary)
        if 2 <= len(names) <= _MOST_GROUPS and cells <= _MOST_CELLS and len(tables) < _MOST_COLUMNS:
            share, n_documents = group_shares(tree, member, slice(None))
            tables.append(
                {
                    "by": shortened(by),
                    "values": [shortened(name) for name in names],
                    "documents": n_documents.tolist(),
                    "share": [[as_number(value, 3) for value in column] for column in share.T],
                    "words": _words(tree, corpus, by, words),
                }
            )
    return tables


def _words(tree: TopicTree, corpus: Corpus, by: str, words: dict[str, int]) -> list[list[list[list[float | None]]]]:
    spoken = contrast(tree, corpus, by)
    columns, scores = spoken.top_words(_WORDS)
    lists = {
        topic: [
            [
                [words.setdefault(tree.vocabulary[w], len(words)), as_number(z, 3)]
                for w, z in zip(columns[row, group].tolist(), scores[row, group].tolist())
                if w >= 0 and z >= _LEAST_Z
            ]
            for group in range(len(spoken.groups))
        ]
        for row, topic in enumerate(spoken.topics)
    }
    none: list[list[list[float | None]]] = [[] for _ in spoken.groups]
    return [lists.get(topic, none) for topic in (-1, *tree.ids.tolist())]
