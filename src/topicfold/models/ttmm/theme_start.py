"""Where TTMM starts: topics as of other EM models, or given ones; themes from clusters of documents or classes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from ...engine.blocks import single_threaded_libraries
from ..em.fold_in import fold_in
from ..em.starts import given_topics, start

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["start_themes", "start_topics"]

_SAMPLE, _SAMPLE_PER_THEME = 50_000, 100  # documents that clusters are found among
_EVERY_WORD = 0.01  # share of a topic spread over all words, so that every theme can use every word


def start_topics(
    counts: sp.csr_array,
    n_topics: int,
    topics: ArrayLike | None,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """P(w|t) and P(t|d): of the default start of EM, or of given topics."""
    if topics is None:
        topic_word = start(counts, n_topics, "auto", rng, {}, n_jobs=n_jobs)[1]
    else:
        topic_word = given_topics(topics, n_topics, counts.shape[1])
    topic_weight = np.full(n_topics, 1 / n_topics, counts.dtype)
    doc_topic = fold_in(counts, topic_word.astype(counts.dtype), topic_weight, n_jobs=n_jobs)
    spread = (1 - _EVERY_WORD) * topic_word + _EVERY_WORD / counts.shape[1]
    return spread, doc_topic


def start_themes(doc_topic: np.ndarray, n_themes: int, known: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """P(t|h): the mean P(t|d) of each class, or of clusters of documents."""
    from sklearn.cluster import KMeans

    if (known >= 0).any():
        themes = np.stack([doc_topic[known == theme].mean(axis=0, dtype=np.float64) for theme in range(n_themes)])
        overall = doc_topic.mean(axis=0, dtype=np.float64)
    else:
        most = max(_SAMPLE, _SAMPLE_PER_THEME * n_themes)
        if len(doc_topic) > most:
            doc_topic = doc_topic[np.sort(rng.choice(len(doc_topic), most, replace=False))]
        doc_topic = doc_topic.astype(np.float64)
        overall = doc_topic.mean(axis=0)
        with single_threaded_libraries(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct documents than themes
            themes = KMeans(n_themes, n_init=1, max_iter=10, random_state=rng).fit(doc_topic).cluster_centers_
    return 0.95 * np.maximum(themes, 0) + 0.05 * overall
