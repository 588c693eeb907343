"""Seed words: words that guide topics, as columns, and the start of a fit with such topics in their places."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import summed
from ...engine.blocks import single_threaded_libraries
from ...errors import InputError
from .document_clusters import positive_rows, words_of

__all__ = ["SeedWords", "guided_topics", "seed_columns", "with_seeds"]

SeedWords: TypeAlias = Mapping[int, Sequence[str | int]] | Sequence[Sequence[str | int]]


def seed_columns(
    seed_words: SeedWords | None,
    n_topics: int,
    vocabulary: Sequence[str] | None,
    n_words: int,
) -> dict[int, np.ndarray]:
    """Seed words as columns, topic by topic. A word is a string, if the vocabulary is known, or a column."""
    if not seed_words:
        return {}
    if isinstance(seed_words, str) or not isinstance(seed_words, Mapping | Sequence):
        raise InputError(f"seed_words={seed_words!r:.40}: expected lists of words, by topic")
    entries = seed_words.items() if isinstance(seed_words, Mapping) else enumerate(seed_words)
    column = {} if vocabulary is None else {word: index for index, word in enumerate(vocabulary)}

    def find(topic: int, word: str | int) -> int:
        if isinstance(word, str) and vocabulary is None:
            raise InputError(f"seed word {word!r}: X has no words; fit on a Corpus or texts, or give column numbers")
        number = column.get(word, -1) if isinstance(word, str) else int(word)
        if not 0 <= number < n_words:
            raise InputError(f"seed word {word!r} of topic {topic} is not in the vocabulary of {n_words:,} words")
        return number

    columns = {}
    for topic, words in entries:
        if not 0 <= int(topic) < n_topics:
            raise InputError(f"seed_words has a topic {topic}: expected 0 to {n_topics - 1} (n_topics={n_topics})")
        if isinstance(words, str):
            raise InputError(f"seed_words of topic {topic} is one string: expected a list of words")
        if not isinstance(words, Collection | np.ndarray):
            raise InputError(f"seed_words of topic {topic} is {words!r:.40}: expected a list of words")
        if len(words):
            columns[int(topic)] = np.unique([find(int(topic), word) for word in words])
    return columns


def guided_topics(seed_words: SeedWords | None) -> int:
    """The smallest number of topics that has all topics of the seed words."""
    if isinstance(seed_words, Mapping):
        return max((int(topic) + 1 for topic in seed_words), default=0)
    return len(seed_words or ())


def with_seeds(
    counts: sp.csr_array, doc_topic: np.ndarray, topic_word: np.ndarray, seeds: Mapping[int, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The start with seeded topics in their places; half of a document with seed words goes to their topics.

    A seeded topic starts with the words of the documents that contain its seed words, and replaces the topic of the
    start that is most similar to them. Next to such a topic it would keep little more than its seed words.
    """
    seeded, n_topics = sorted(seeds), len(topic_word)
    seed_tokens = np.stack([counts[:, seeds[topic]].sum(axis=1) for topic in seeded], axis=1).astype(np.float64)
    share = seed_tokens / np.maximum(seed_tokens.sum(axis=1, keepdims=True), 1e-300)
    around = words_of(counts, share, counts)
    taken, alike = _most_alike(around, topic_word, counts)
    order = np.empty(n_topics, int)  # the topic of the start that each one starts as
    order[seeded] = taken
    order[np.setdiff1d(np.arange(n_topics), seeded)] = np.setdiff1d(np.arange(n_topics), taken)
    doc_topic, topic_word = doc_topic[:, order], topic_word[order]
    topic_word[seeded] = (1 - alike)[:, None] * around + alike[:, None] * topic_word[seeded]
    doc_topic = doc_topic * (1 - 0.5 * share.sum(axis=1, keepdims=True))
    doc_topic[:, seeded] += 0.5 * share + 1e-3
    return positive_rows(doc_topic), topic_word


def _most_alike(around: np.ndarray, topic_word: np.ndarray, counts: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """For each row of words, a different topic that is similar to it, and its similarity, from 0 to 1."""
    from scipy.optimize import linear_sum_assignment

    frequency = summed(counts, 0)
    background = np.sqrt(frequency / max(frequency.sum(), 1e-300))
    units = []
    for words in (around, topic_word):
        rows = np.sqrt(words) - background  # what all topics share does not distinguish them
        units.append(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300))
    with single_threaded_libraries():
        cosine = np.maximum(units[0] @ units[1].T, 0)
    rows, taken = linear_sum_assignment(-cosine)
    return taken, cosine[rows, taken]
