"""Where EM starts: P(z|d) and P(w|z) from clusters of documents, NMF or k-means on tf-idf, a random draw, or given.

The result of a fit depends on its start, so a start made from the data is worth its cost. Library calls run on one
thread: their sums would change with the number of threads.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ...corpus.weighting import tfidf
from ...engine.blocks import single_threaded_libraries
from ...engine.checks import check_choice
from ...engine.mapped import release
from ...errors import InputError
from .best_start import DEFAULT_PRIORS, StartPriors, best_topics
from .document_clusters import KMEANS_STARTS, even_shares, kmeans_clusters, positive_rows, spread, words_of
from .seed_words import with_seeds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "STARTS",
    "InitLike",
    "check_init",
    "given_topics",
    "start",
]

InitLike: TypeAlias = "Literal['auto', 'nmf', 'kmeans', 'random'] | ArrayLike"

STARTS = ("auto", "nmf", "kmeans", "random")
_KMEANS_ITER, _NMF_ITER = 10, 10  # on tf-idf
_SAMPLE, _SAMPLE_PER_TOPIC = 5000, 20  # documents that starts are computed from


def start(
    counts: sp.csr_array,
    n_topics: int,
    init: InitLike,
    rng: np.random.RandomState,
    seeds: Mapping[int, np.ndarray],
    *,
    seed_strength: float = 0.0,
    priors: StartPriors = DEFAULT_PRIORS,
    graph: sp.csr_array | None = None,
    vectors: np.ndarray | sp.csr_array | None = None,
    n_init: int = KMEANS_STARTS,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(doc_topic, topic_word) in float64, rows summing to one.

    `init` is a name from STARTS or an array of topics (n_topics x words). `seeds` maps topics to word columns: such a
    topic starts from the documents that contain these words, and `init` makes the others. `seed_strength`, `priors` and
    `graph` are for 'auto', see `best_topics`. If documents have `vectors`, 'kmeans' clusters those (the best of
    `n_init`), and each document starts in its cluster.
    """
    check_init(init, STARTS)
    if isinstance(init, str) and init == "auto":
        topic_word = best_topics(counts, n_topics, rng, seeds, seed_strength, priors, graph, n_jobs)
        return even_shares(counts.shape[0], n_topics), topic_word
    if not isinstance(init, str):
        doc_topic = even_shares(counts.shape[0], n_topics)
        topic_word = given_topics(init, n_topics, counts.shape[1])
    elif init == "kmeans" and vectors is not None:
        doc_topic, topic_word = _kmeans_on(vectors, counts, n_topics, rng, n_init)
    else:
        doc_topic, topic_word = {"nmf": _nmf, "kmeans": _kmeans, "random": _random}[init](counts, n_topics, rng)
    return with_seeds(counts, doc_topic, topic_word, seeds) if seeds else (doc_topic, topic_word)


def check_init(init: InitLike, names: Sequence[str]) -> None:
    """Raise unless a start is one of the names or an array."""
    if isinstance(init, str):
        check_choice("init", init, names, or_else=", or an array of topics x words")


def _random(counts: sp.csr_array, n_topics: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    return positive_rows(rng.random_sample((counts.shape[0], n_topics))), positive_rows(
        rng.random_sample((n_topics, counts.shape[1]))
    )


def _kmeans(counts: sp.csr_array, n_topics: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    seen = _sample(counts, n_topics, rng)
    if seen.shape[0] < n_topics:
        return _random(counts, n_topics, rng)
    vectors = tfidf(seen).astype(np.float32)
    cluster = kmeans_clusters(vectors, n_topics, rng, n_init=1, max_iter=_KMEANS_ITER)
    return even_shares(counts.shape[0], n_topics), words_of(seen, spread(np.eye(n_topics)[cluster]), counts)


def _kmeans_on(
    vectors: np.ndarray | sp.csr_array,
    counts: sp.csr_array,
    n_topics: int,
    rng: np.random.RandomState,
    n_init: int,
) -> tuple[np.ndarray, np.ndarray]:
    rows = _sampled(np.arange(vectors.shape[0]), n_topics, rng)
    cluster = kmeans_clusters(vectors, n_topics, rng, n_init=n_init, seen=vectors[rows])
    doc_topic = spread(np.eye(n_topics)[cluster])
    return doc_topic, words_of(counts, doc_topic, counts)


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
    return even_shares(counts.shape[0], n_topics), words_of(seen, spread(positive_rows(weights)), counts)


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
    return positive_rows(topic_word)
