"""Documents without a known word: nothing says which topics they have, so tables, sizes and lists leave them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["mean_membership", "with_words"]


def mean_membership(doc_topic: np.ndarray, wordless: np.ndarray) -> np.ndarray:
    """The mean membership of the documents with words in each topic; of all documents, if none has a word.

    >>> mean_membership(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([1])).tolist()
    [1.0, 0.0]
    """
    n_documents = len(doc_topic) - len(wordless)
    if n_documents == 0 or len(wordless) == 0:
        return doc_topic.mean(axis=0, dtype=np.float64)
    total = doc_topic.sum(axis=0, dtype=np.float64) - doc_topic[wordless].sum(axis=0, dtype=np.float64)
    return np.maximum(total, 0) / n_documents


def with_words(tree: TopicTree) -> np.ndarray:
    """The memberships of the documents, with zeros for those without a known word."""
    if not len(tree.wordless):
        return tree.doc_topic
    doc_topic = tree.doc_topic.copy()
    doc_topic[tree.wordless] = 0
    return doc_topic
