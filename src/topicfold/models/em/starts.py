"""Where EM starts: P(z|d) and P(w|z) from a random draw, k-means or NMF on tf-idf, or given topics.

The result of a fit depends on its start, so a start made from the data is worth its cost. Library calls run on one
thread: their sums would change with the number of threads.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ...corpus.weighting import tfidf
from ...engine.arrays import normalise_rows, summed
from ...engine.blocks import single_threaded_libraries
from ...engine.checks import check_choice
from ...engine.mapped import release
from ...errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "STARTS",
    "InitLike",
    "SeedWords",
    "check_init",
    "clusters_of",
    "given_topics",
    "seed_columns",
    "start",
    "with_seeds",
]

InitLike: TypeAlias = "Literal['auto', 'nmf', 'kmeans', 'random'] | ArrayLike"
SeedWords: TypeAlias = Mapping[int, Sequence[str | int]] | Sequence[Sequence[str | int]]

STARTS = ("auto", "nmf", "kmeans", "random")
_OWN_TOPICS = 0.7  # of a document's weight; the rest is spread evenly, so that topics start close together
_KMEANS_ITER = 10
_KMEANS_STARTS, _KMEANS_VECTORS_ITER = 3, 50  # on given vectors of the documents, where the clusters matter more
_NMF_ITER = 10
_NMF_TOPICS = 100
_SAMPLE, _SAMPLE_PER_TOPIC = 5000, 20  # documents that starts are computed from
_SMOOTHING = 0.1  # share of the corpus in a topic's words at the start, so that every topic can use every word


def start(
    counts: sp.csr_array,
    n_topics: int,
    init: InitLike,
    rng: np.random.RandomState,
    seeds: Mapping[int, np.ndarray],
    vectors: np.ndarray | sp.csr_array | None = None,
    n_init: int = _KMEANS_STARTS,
) -> tuple[np.ndarray, np.ndarray]:
    """(doc_topic, topic_word) in float64, rows summing to one.

    `init` is a name from STARTS or an array of topics (n_topics x words). `seeds` maps topics to word columns: such a
    topic starts from the documents that contain these words, and `init` makes the others. If documents have `vectors`,
    k-means clusters those (the best of `n_init`), and each document starts in its cluster.
    """
    if not isinstance(init, str):
        doc_topic = _even(counts.shape[0], n_topics)
        topic_word = given_topics(init, n_topics, counts.shape[1])
    else:
        check_init(init, STARTS)
        make = {"auto": _auto, "nmf": _nmf, "kmeans": _kmeans, "random": _random}[init]
        if init == "kmeans" and vectors is not None:
            doc_topic, topic_word = _kmeans_on(vectors, counts, n_topics, rng, n_init)
        else:
            doc_topic, topic_word = make(counts, n_topics, rng)
    return with_seeds(counts, doc_topic, topic_word, seeds) if seeds else (doc_topic, topic_word)


def check_init(init: InitLike, names: Sequence[str]) -> None:
    """Raise unless a start is one of the names or an array."""
    if isinstance(init, str):
        check_choice("init", init, names, or_else=", or an array of topics x words")


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


def _random(counts: sp.csr_array, n_topics: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    return _rows(rng.random_sample((counts.shape[0], n_topics))), _rows(rng.random_sample((n_topics, counts.shape[1])))


def _kmeans(counts: sp.csr_array, n_topics: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    seen = _sample(counts, n_topics, rng)
    if seen.shape[0] < n_topics:
        return _random(counts, n_topics, rng)
    vectors = tfidf(seen).astype(np.float32)
    cluster = _clusters(vectors, vectors, n_topics, rng, n_init=1, max_iter=_KMEANS_ITER)
    return _even(counts.shape[0], n_topics), _words_of(seen, _spread(np.eye(n_topics)[cluster]), counts)


def _kmeans_on(
    vectors: np.ndarray | sp.csr_array,
    counts: sp.csr_array,
    n_topics: int,
    rng: np.random.RandomState,
    n_init: int,
) -> tuple[np.ndarray, np.ndarray]:
    rows = _sampled(np.arange(vectors.shape[0]), n_topics, rng)
    cluster = _clusters(vectors[rows], vectors, n_topics, rng, n_init=n_init, max_iter=_KMEANS_VECTORS_ITER)
    doc_topic = _spread(np.eye(n_topics)[cluster])
    return doc_topic, _words_of(counts, doc_topic, counts)


def clusters_of(
    doc_topic: np.ndarray, counts: sp.csr_array, n_topics: int, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """P(z|d) and P(w|z) of clusters of documents with similar topics, by k-means from one start."""
    vectors = np.ascontiguousarray(doc_topic, dtype=np.float32)
    cluster = _clusters(vectors, vectors, n_topics, rng, n_init=1, max_iter=_KMEANS_ITER)
    doc_topic = _spread(np.eye(n_topics)[cluster])
    return doc_topic, _words_of(counts, doc_topic, counts)


def _clusters(
    seen: np.ndarray | sp.csr_array,
    vectors: np.ndarray | sp.csr_array,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_init: int,
    max_iter: int,
) -> np.ndarray:
    """The cluster of each vector, by k-means on the vectors in `seen`."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with single_threaded_libraries(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct documents than clusters: fine for a start
        kmeans = KMeans(n_clusters, n_init=n_init, max_iter=max_iter, random_state=rng).fit(seen)
        labels = kmeans.labels_ if seen is vectors else kmeans.predict(vectors)
    return np.asarray(labels)


def _nmf(counts: sp.csr_array, n_topics: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.decomposition import NMF
    from sklearn.exceptions import ConvergenceWarning

    seen = _sample(counts, n_topics, rng)
    if seen.shape[0] < n_topics:
        return _random(counts, n_topics, rng)
    quiet = np.errstate(invalid="ignore")  # the error of an exact factorisation is 0, but may be computed as negative
    with single_threaded_libraries(), warnings.catch_warnings(), quiet:
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start need not be converged
        nmf = NMF(n_topics, init="nndsvda", max_iter=_NMF_ITER, tol=0, random_state=rng)
        weights = nmf.fit_transform(tfidf(seen).astype(np.float32))
    return _even(counts.shape[0], n_topics), _words_of(seen, _spread(_rows(weights)), counts)


def _auto(counts: sp.csr_array, n_topics: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    # NMF is a better start, but its cost grows with the square of the number of topics
    return (_nmf if n_topics <= _NMF_TOPICS else _kmeans)(counts, n_topics, rng)


def _sample(counts: sp.csr_array, n_topics: int, rng: np.random.RandomState) -> sp.csr_array:
    """A sample of documents with words, large enough to find topics: a start must not take longer than the fit."""
    sample = counts[_sampled(np.flatnonzero(np.diff(counts.indptr)), n_topics, rng)]
    release(counts.indices)
    release(counts.data)
    return sample


def _sampled(rows: np.ndarray, n_topics: int, rng: np.random.RandomState) -> np.ndarray:
    most = max(_SAMPLE, _SAMPLE_PER_TOPIC * n_topics)
    return np.sort(rng.choice(rows, most, replace=False)) if most < len(rows) else rows


def given_topics(topics: ArrayLike, n_topics: int, n_words: int) -> np.ndarray:
    """Check topics that a user gives as a start; rows sum to one."""
    topic_word = np.array(topics, dtype=np.float64)
    if topic_word.shape != (n_topics, n_words):
        raise InputError(f"init has shape {topic_word.shape}: expected topics x words, {(n_topics, n_words)}")
    if not np.isfinite(topic_word).all() or (topic_word < 0).any() or (topic_word.sum(axis=1) <= 0).any():
        raise InputError("init must contain finite, non-negative numbers and no row of zeros")
    return _rows(topic_word)


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
    around = _words_of(counts, share, counts)
    taken, alike = _most_alike(around, topic_word, counts)
    order = np.empty(n_topics, int)  # the topic of the start that each one starts as
    order[seeded] = taken
    order[np.setdiff1d(np.arange(n_topics), seeded)] = np.setdiff1d(np.arange(n_topics), taken)
    doc_topic, topic_word = doc_topic[:, order], topic_word[order]
    topic_word[seeded] = (1 - alike)[:, None] * around + alike[:, None] * topic_word[seeded]
    doc_topic = doc_topic * (1 - 0.5 * share.sum(axis=1, keepdims=True))
    doc_topic[:, seeded] += 0.5 * share + 1e-3
    return _rows(doc_topic), topic_word


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


def _even(n_documents: int, n_topics: int) -> np.ndarray:
    return np.broadcast_to(1 / n_topics, (n_documents, n_topics))  # takes no memory


def _spread(doc_topic: np.ndarray) -> np.ndarray:
    return _OWN_TOPICS * doc_topic + (1 - _OWN_TOPICS) / doc_topic.shape[1]


def _words_of(counts: sp.csr_array, doc_topic: np.ndarray, whole: sp.csr_array) -> np.ndarray:
    """P(w|z) of documents weighted by doc_topic, mixed with a little of the words of the whole corpus."""
    topic_word = _rows((counts.T @ doc_topic).T)
    corpus = summed(whole, 0) + 1e-12
    topic_word *= 1 - _SMOOTHING
    topic_word += _SMOOTHING * corpus / corpus.sum()
    return topic_word


def _rows(values: np.ndarray) -> np.ndarray:
    """Rows divided by their sums, in place if they are float64; a row of zeros becomes uniform."""
    values = np.asarray(values, dtype=np.float64)
    values[values.sum(axis=1) <= 0] = 1
    return normalise_rows(values, out=values)
