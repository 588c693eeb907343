"""Marks of topics that a reader should know about: markup, boilerplate, another language, repeated texts, and more.

The bounds were chosen with LDA on the corpora named in docs/results/junk.md, which lists what they mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..corpus.languages import guess_languages
from ..engine.arrays import column_sums, summed
from ..engine.mapped import release
from ..topics.ranking import keyness, largest
from .word_ranking import presence_of_words

__all__ = [
    "BOILERPLATE",
    "BURSTY",
    "LANGUAGE",
    "MARKUP",
    "REPEATED",
    "VAGUE",
    "effective_documents",
    "even_words",
    "foreign_languages",
    "share_of_duplicates",
    "topic_marks",
]

BURSTY = "few documents: a few long ones repeat its words"
MARKUP = "markup: tags and entities instead of words"
LANGUAGE = "another language: {}"
REPEATED = "repeated texts: most of its documents have a near twin"
BOILERPLATE = "boilerplate: the same phrases in most of its documents"
VAGUE = "vague: its words are about as frequent elsewhere"

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
_TAGS = frozenset(
    ("lt", "gt", "amp", "quot", "nbsp", "apos", "href", "http", "https", "www", "li", "ul", "ol", "td", "tr", "br")
    + ("img", "src", "h1", "h2", "h3", "tbody", "colspan", "nofollow")
)
_FEWEST_TAGS = 3  # among the key words
_LANGUAGE_WORDS = 60  # of a topic: two lists, which must be in the same language
_CORPUS_WORDS = 200
_PHRASE_WORDS = 30  # key words that may be part of phrases
_IN_MOST = 0.5  # of the documents of the topic
_EVENLY = 1.08  # times as many documents have the word as if its tokens fell on documents at random
_FEWEST_EVEN = 4
_SHORT = 15  # tokens: a few words in common make short documents of one story no forms


def topic_marks(model: Any, counts: sp.csr_array, doc_topic: np.ndarray) -> list[str]:
    """Why each topic of a fitted model may be of no use, judged by its training documents; '' for most topics."""
    presence = presence_of_words(model)
    if presence is None or not len(doc_topic):
        return [""] * doc_topic.shape[1]
    shares, overall = presence
    best, key = zip(*(_key_words(row, overall) for row in shares))
    words, n_documents = model.words(), column_sums(doc_topic)
    few = _led_by_few(model.topic_word_, shares, effective_documents(counts, doc_topic), n_documents, len(doc_topic))
    tags = _tags(best, words)
    languages = foreign_languages(model.topic_word_, model.word_frequency_, words)
    repeated = share_of_duplicates(counts, doc_topic) >= _TWINS
    even = even_words(counts, doc_topic, shares, best) >= _FEWEST_EVEN
    vague = np.array(key) < _VAGUE * (np.median(key) if len(key) >= _FEWEST_TOPICS else 0.0)
    signs = (
        (few, BURSTY),
        (tags >= _FEWEST_TAGS, MARKUP),
        (languages != "", LANGUAGE),
        (repeated, REPEATED),
        (even, BOILERPLATE),
        (vague, VAGUE),
    )
    return [
        next((mark.format(languages[topic].capitalize()) for shown, mark in signs if shown[topic]), "")
        for topic in range(len(shares))
    ]


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


def _led_by_few(
    topic_word: np.ndarray, presence: np.ndarray, effective: np.ndarray, documents: np.ndarray, n_documents: int
) -> np.ndarray:
    """Whether a small topic has most of its tokens from few documents, or best words that few documents repeat."""
    average = n_documents / len(topic_word)
    few = (effective < min(_FEWEST, _FEWEST_SHARE * average)) & (documents < _SMALL * average)
    return few | np.array([_burstiness(*rows) > _UNLIKE for rows in zip(topic_word, presence)])


def _key_words(presence: np.ndarray, overall: np.ndarray) -> tuple[np.ndarray, float]:
    """The key words of a topic, the best first, and the mean keyness of the first ten of them."""
    scores = keyness(presence, overall)
    best = largest(scores, _PHRASE_WORDS)
    first = scores[best[:_KEY_WORDS]]
    return best, float(first[first > 0].mean()) if (first > 0).any() else 0.0


def _tags(best: Sequence[np.ndarray], words: list[str] | None) -> np.ndarray:
    """How many of the first ten key words of each topic are names of tags or entities."""
    if words is None:
        return np.zeros(len(best), int)
    return np.array([sum(words[w].lower() in _TAGS for w in row[:_KEY_WORDS].tolist()) for row in best])


def foreign_languages(topic_word: np.ndarray, word_frequency: np.ndarray, words: list[str] | None) -> np.ndarray:
    """The language of each topic whose words are in another one than the words of the corpus; '' for the others."""
    none = np.full(len(topic_word), "", dtype=object)
    if words is None:
        return none
    usual = [words[w] for w in largest(word_frequency, _CORPUS_WORDS) if word_frequency[w] > 0]
    main, *parts = guess_languages([" ".join(usual), *(" ".join(usual[part::2]) for part in (0, 1))])
    if main is None or set(parts) - {main, None}:  # several languages: none is another one
        return none
    overall = word_frequency / max(word_frequency.sum(), 1)
    for topic, row in enumerate(topic_word):
        best = [words[w] for w in largest(row, _LANGUAGE_WORDS) if row[w] > overall[w]]  # the others are smoothing
        first, second = guess_languages([" ".join(best[0::2]), " ".join(best[1::2])])
        if first == second not in (None, main):
            none[topic] = first
    return none


def even_words(
    counts: sp.csr_array, doc_topic: np.ndarray, presence: np.ndarray, best: Sequence[np.ndarray]
) -> np.ndarray:
    """How many of the `best` words of each topic are in most of its documents, and spread more evenly than by chance.

    If n tokens of a word fell on each document at random, a share of 1 - exp(-n) of the documents would have it. Words
    about a subject are repeated, so fewer documents have them; the words of a form or a signature are in each document
    once, so more have them. Topics of short documents have none.
    """
    columns = np.unique(np.concatenate(best))
    tokens, lengths = np.zeros((len(columns), len(presence))), summed(counts, 1)
    total, length = np.zeros(len(presence)), np.zeros(len(presence))
    for first in range(0, len(doc_topic), _ROWS):
        rows = doc_topic[first : first + _ROWS].astype(np.float64)
        tokens += counts[first : first + _ROWS][:, columns].T @ rows
        length += (rows * lengths[first : first + _ROWS, None]).sum(axis=0)
        total += rows.sum(axis=0)
        for array in (counts.indices, counts.data, doc_topic[first : first + _ROWS]):
            release(array)
    tokens /= np.maximum(total, 1e-300)
    at_random = 1 - np.exp(-tokens).T
    found = np.zeros(len(presence), int)
    for topic, words in enumerate(best):
        share, expected = presence[topic, words], at_random[topic, np.searchsorted(columns, words)]
        if length[topic] >= _SHORT * total[topic]:
            found[topic] = ((share >= _IN_MOST) & (share > _EVENLY * expected)).sum()
    return found


def _burstiness(topic_word: np.ndarray, presence: np.ndarray) -> float:
    """Kullback-Leibler divergence of the best words' shares of tokens from their shares of documents."""
    best = largest(topic_word, _BEST_WORDS)
    tokens, documents = topic_word[best].astype(np.float64), np.maximum(presence[best].astype(np.float64), 1e-12)
    tokens, documents = tokens / max(tokens.sum(), 1e-300), documents / documents.sum()
    some = tokens > 0
    return float((tokens[some] * np.log(tokens[some] / documents[some])).sum())
