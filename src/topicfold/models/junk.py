"""Signs of uninformative topics: words that few documents repeat, near-duplicate documents, words that are everywhere.

The bounds were chosen with LDA on the corpora named in docs/results/junk.md; it lists what they mark on two others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import column_sums, summed
from ..engine.mapped import release
from ..topics.ranking import keyness, largest
from .word_ranking import presence_of_words

__all__ = ["BURSTY", "DUPLICATES", "VAGUE", "effective_documents", "junk_marks", "share_of_duplicates", "topic_marks"]

BURSTY = "words that few documents repeat"
DUPLICATES = "near-duplicate documents"
VAGUE = "words that are everywhere"

_FEWEST, _FEWEST_SHARE = 10, 0.2  # effective documents; in a small corpus, as a share of an average topic's
_SMALL = 0.3  # of an average topic's documents: a large topic may consist of a few long documents
_UNLIKE = 1.0  # divergence, in nats, of the best words by tokens and by documents
_BEST_WORDS = 20
_TWINS = 0.5  # share of a topic's documents that have a twin
_BEST_DOCUMENTS = 200
_MAINLY = 0.3  # share of a document from which on it is about a topic
_SAME_WORDS = 0.8  # share of the words of two documents that both have
_VAGUE = 0.3  # of the median keyness of the topics
_FEWEST_TOPICS = 5  # needed for a meaningful median
_KEY_WORDS = 10
_ROWS = 1 << 14


def topic_marks(model: Any, counts: sp.csr_array, doc_topic: np.ndarray) -> list[str]:
    """Why each topic of a fitted model may be junk, judged by its training documents; '' for most topics."""
    presence = presence_of_words(model)
    if presence is None or not len(doc_topic):
        return [""] * doc_topic.shape[1]
    evidence = column_sums(doc_topic), effective_documents(counts, doc_topic), share_of_duplicates(counts, doc_topic)
    marks = junk_marks(model.topic_word_, *presence, *evidence, len(doc_topic))
    return [marks.get(topic, "") for topic in range(doc_topic.shape[1])]


def effective_documents(counts: sp.csr_array, doc_topic: np.ndarray) -> np.ndarray:
    """The effective number of documents that the tokens of each topic come from.

    >>> effective_documents(sp.csr_array([[4], [4], [100]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).tolist()
    [2.0, 1.0]
    """
    lengths = np.asarray(summed(counts, 1), np.float64)
    total, squares = np.zeros(doc_topic.shape[1]), np.zeros(doc_topic.shape[1])
    for first in range(0, len(doc_topic), _ROWS):
        rows = doc_topic[first : first + _ROWS]
        tokens = rows * lengths[first : first + _ROWS, None]
        total += tokens.sum(axis=0)
        squares += (tokens**2).sum(axis=0)
        release(rows)
    return total**2 / np.maximum(squares, 1e-300)


def share_of_duplicates(counts: sp.csr_array, doc_topic: np.ndarray) -> np.ndarray:
    """The share of each topic's documents that have nearly the same words as another of them.

    >>> share_of_duplicates(sp.csr_array([[1, 1], [2, 1], [0, 3]]), np.ones((3, 1))).round(2).tolist()
    [0.67]
    """
    best: list[np.ndarray] = [np.empty(0, np.int64) for _ in range(doc_topic.shape[1])]
    for first in range(0, len(doc_topic), _ROWS):
        rows = doc_topic[first : first + _ROWS]
        for topic, column in enumerate(np.ascontiguousarray(rows.T)):
            seen = best[topic]
            values = np.concatenate([doc_topic[seen, topic], column])
            places = np.concatenate([seen, first + np.arange(len(column))])
            best[topic] = places[largest(values, _BEST_DOCUMENTS)]
        release(rows)
    about = [np.sort(rows[doc_topic[rows, topic] >= _MAINLY]) for topic, rows in enumerate(best)]
    return np.array([_share_with_a_twin(counts[rows]) if len(rows) > 1 else 0.0 for rows in about])


def _share_with_a_twin(counts: sp.csr_array) -> float:
    there = sp.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), counts.shape)
    sizes, both = np.diff(counts.indptr), (there @ there.T).toarray()
    np.fill_diagonal(both, 0)
    return float((both >= _SAME_WORDS * np.maximum(sizes[:, None] + sizes - both, 1)).any(axis=1).mean())


def junk_marks(
    topic_word: np.ndarray,
    presence: np.ndarray,
    overall: np.ndarray,
    documents: np.ndarray,
    effective: np.ndarray,
    duplicates: np.ndarray,
    n_documents: int,
) -> dict[int, str]:
    """Why topics may be junk, by topic number; most topics have no mark.

    `presence` and `overall` are the shares of the topics' documents and of all documents that contain each word;
    `documents` is the number of documents of each topic, the sum of P(z|d).
    """
    key = np.array([_mean_keyness(row, overall) for row in presence])
    typical = np.median(key) if len(key) >= _FEWEST_TOPICS else 0.0
    average = n_documents / len(topic_word)
    few = (effective < min(_FEWEST, _FEWEST_SHARE * average)) & (documents < _SMALL * average)
    marks = {}
    for topic in range(len(topic_word)):
        if few[topic] or _burstiness(topic_word[topic], presence[topic]) > _UNLIKE:
            marks[topic] = BURSTY
        elif duplicates[topic] >= _TWINS:
            marks[topic] = DUPLICATES
        elif key[topic] < _VAGUE * typical:
            marks[topic] = VAGUE
    return marks


def _mean_keyness(presence: np.ndarray, overall: np.ndarray) -> float:
    scores = keyness(presence, overall)
    best = scores[largest(scores, _KEY_WORDS)]
    return float(best[best > 0].mean()) if (best > 0).any() else 0.0


def _burstiness(topic_word: np.ndarray, presence: np.ndarray) -> float:
    """Kullback-Leibler divergence of the best words' shares of tokens from their shares of documents."""
    best = largest(topic_word, _BEST_WORDS)
    tokens, documents = topic_word[best].astype(np.float64), np.maximum(presence[best].astype(np.float64), 1e-12)
    tokens, documents = tokens / max(tokens.sum(), 1e-300), documents / documents.sum()
    some = tokens > 0
    return float((tokens[some] * np.log(tokens[some] / documents[some])).sum())
