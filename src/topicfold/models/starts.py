"""Where EM begins: P(z|d) and P(w|z) from a random draw, k-means or NMF on tf-idf, or topics that are given.

Where a fit ends depends on where it begins, so a start made from the data is worth its price. Library calls run on one
thread: their sums would change with the number of threads.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..blocks import single_threaded_libraries

__all__ = ["STARTS", "seed_columns", "start", "tfidf"]

STARTS = ("nmf", "kmeans", "random")
_OWN_CLUSTER = 0.7  # of a document's weight; the rest is spread evenly, so that no topic starts at zero
_KMEANS_ITER = 10
_NMF_ITER = 10
_NMF_DOCUMENTS = 5000
_NMF_DOCUMENTS_A_TOPIC = 20
_SMOOTHING = 0.1  # of a topic's words at the start are the corpus's, so that every topic can use every word


def start(
    counts: sp.csr_array, n_topics: int, init: Any, rng: np.random.RandomState, seeds: Mapping[int, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """(doc_topic, topic_word) in float64, rows summing to one.

    `init` is a name from STARTS or an array of topics (n_topics x words). `seeds` maps topics to word columns: such a
    topic starts from the documents that hold these words, and `init` makes the others.
    """
    if not isinstance(init, str):
        doc_topic, topic_word = _given(counts, n_topics, init)
    elif init not in STARTS:
        raise ValueError(f"init={init!r}: expected one of {', '.join(STARTS)}, or an array of topics x words")
    else:
        free = n_topics - len(seeds)
        make = {"kmeans": _kmeans, "nmf": _nmf, "random": _random}[init]
        doc_topic, topic_word = make(counts, free, rng) if free else _nothing(counts)
    return _with_seeds(counts, doc_topic, topic_word, n_topics, seeds) if seeds else (doc_topic, topic_word)


def tfidf(counts: sp.csr_array) -> sp.csr_array:
    """tf-idf with rows of length one: n(d,w) ln(N / df(w)), the idf at least a little above zero."""
    document_frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log((1 + counts.shape[0]) / (1 + document_frequency)) + 1e-3
    weighted = sp.csr_array(
        (counts.data.astype(np.float64) * idf[counts.indices], counts.indices, counts.indptr), counts.shape
    )
    lengths = np.sqrt(weighted.multiply(weighted).sum(axis=1))
    weighted.data /= np.repeat(np.maximum(lengths, 1e-300), np.diff(weighted.indptr))
    return weighted


def seed_columns(
    seed_words: Mapping[int, Sequence[Any]] | Sequence[Sequence[Any]] | None,
    n_topics: int,
    vocabulary: Sequence[str] | None,
    n_words: int,
) -> dict[int, np.ndarray]:
    """Seed words as columns, topic by topic. A word is a string, where the vocabulary is known, or a column."""
    if not seed_words:
        return {}
    entries = seed_words.items() if isinstance(seed_words, Mapping) else enumerate(seed_words)
    column = {} if vocabulary is None else {word: index for index, word in enumerate(vocabulary)}

    def find(topic: int, word: Any) -> int:
        if isinstance(word, str) and vocabulary is None:
            raise ValueError(f"seed word {word!r}: X has no words to find it in; fit on a Corpus, or give columns")
        found = column.get(word, -1) if isinstance(word, str) else int(word)
        if not 0 <= found < n_words:
            raise ValueError(f"seed word {word!r} of topic {topic} is not in the vocabulary of {n_words:,} words")
        return found

    columns = {}
    for topic, words in entries:
        if not 0 <= int(topic) < n_topics:
            raise ValueError(f"seed_words has a topic {topic}: expected 0 to {n_topics - 1} (n_topics={n_topics})")
        if isinstance(words, str):
            raise ValueError(f"seed_words of topic {topic} is one string: expected a list of words")
        if len(words):
            columns[int(topic)] = np.unique([find(int(topic), word) for word in words])
    return columns


def _nothing(counts: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((counts.shape[0], 0)), np.zeros((0, counts.shape[1]))


def _random(counts: sp.csr_array, n_topics: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    return _rows(rng.random_sample((counts.shape[0], n_topics))), _rows(rng.random_sample((n_topics, counts.shape[1])))


def _kmeans(counts: sp.csr_array, n_topics: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    vectors = tfidf(counts)
    filled = np.diff(counts.indptr) > 0
    if filled.sum() < n_topics:
        return _random(counts, n_topics, rng)
    with single_threaded_libraries(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct documents than clusters: fine for a start
        kmeans = KMeans(n_topics, n_init=1, max_iter=_KMEANS_ITER, random_state=rng)
        found = kmeans.fit_predict(vectors[filled])
    cluster = np.zeros(counts.shape[0], int)
    cluster[filled] = found
    doc_topic = np.full((counts.shape[0], n_topics), (1 - _OWN_CLUSTER) / n_topics)
    doc_topic[np.arange(len(cluster)), cluster] += _OWN_CLUSTER
    return doc_topic, _words_of(counts, doc_topic)


def _nmf(counts: sp.csr_array, n_topics: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.decomposition import NMF
    from sklearn.exceptions import ConvergenceWarning

    # a sample is enough to find where topics lie, and keeps the price of the start below that of the fit
    n_sample = max(_NMF_DOCUMENTS, _NMF_DOCUMENTS_A_TOPIC * n_topics)
    if n_sample < counts.shape[0]:
        counts_seen = counts[np.sort(rng.choice(counts.shape[0], n_sample, replace=False))]
    else:
        counts_seen = counts
    quiet = np.errstate(invalid="ignore")  # an exact factorisation leaves an error of 0 that may come out below it
    with single_threaded_libraries(), warnings.catch_warnings(), quiet:
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start need not be converged
        nmf = NMF(n_topics, init="nndsvda", max_iter=_NMF_ITER, tol=0, random_state=rng)
        weights = nmf.fit_transform(tfidf(counts_seen).astype(np.float32))
    sample_topic = _OWN_CLUSTER * _rows(weights) + (1 - _OWN_CLUSTER) / n_topics
    return np.full((counts.shape[0], n_topics), 1 / n_topics), _words_of(counts_seen, sample_topic, counts)


def _given(counts: sp.csr_array, n_topics: int, topics: Any) -> tuple[np.ndarray, np.ndarray]:
    topic_word = np.array(topics, dtype=np.float64)
    expected = (n_topics, counts.shape[1])
    if topic_word.shape != expected:
        raise ValueError(f"init has shape {topic_word.shape}: expected topics x words, {expected}")
    if not np.isfinite(topic_word).all() or (topic_word < 0).any() or (topic_word.sum(axis=1) <= 0).any():
        raise ValueError("init must hold finite numbers, none negative, and no row of zeros")
    return np.full((counts.shape[0], n_topics), 1 / n_topics), _rows(topic_word)


def _with_seeds(
    counts: sp.csr_array,
    doc_free: np.ndarray,
    free: np.ndarray,
    n_topics: int,
    seeds: Mapping[int, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Put the seeded topics in their places; half of a document that holds seed words goes to their topics."""
    seeded = sorted(seeds)
    others = [topic for topic in range(n_topics) if topic not in seeds] if len(free) < n_topics else range(n_topics)
    doc_topic, topic_word = np.zeros((counts.shape[0], n_topics)), np.zeros((n_topics, counts.shape[1]))
    doc_topic[:, others], topic_word[others] = doc_free, free
    seed_tokens = np.stack([counts[:, seeds[topic]].sum(axis=1) for topic in seeded], axis=1).astype(np.float64)
    share = seed_tokens / np.maximum(seed_tokens.sum(axis=1, keepdims=True), 1e-300)
    topic_word[seeded] = _words_of(counts, seed_tokens)
    doc_topic *= 1 - 0.5 * share.sum(axis=1, keepdims=True)
    doc_topic[:, seeded] += 0.5 * share + 1e-3
    return _rows(doc_topic), topic_word


def _words_of(counts: sp.csr_array, doc_topic: np.ndarray, corpus_counts: sp.csr_array | None = None) -> np.ndarray:
    """P(w|z) of documents shared out by doc_topic, mixed with a little of the whole corpus's words."""
    topic_word = _rows((counts.T @ doc_topic).T)
    whole = counts if corpus_counts is None else corpus_counts
    corpus = np.asarray(whole.sum(axis=0), dtype=np.float64) + 1e-12
    return (1 - _SMOOTHING) * topic_word + _SMOOTHING * corpus / corpus.sum()


def _rows(values: np.ndarray) -> np.ndarray:
    """Rows divided by their sums; a row of zeros becomes even."""
    values = np.asarray(values, dtype=np.float64)
    sums = values.sum(axis=1, keepdims=True)
    return np.where(sums > 0, values / np.where(sums > 0, sums, 1), 1 / max(values.shape[1], 1))
