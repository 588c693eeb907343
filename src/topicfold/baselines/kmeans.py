"""k-means on tf-idf.

Library calls run on one thread, since their sums change with the number of threads.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..corpus.weighting import tfidf
from ..engine.blocks import single_threaded_libraries
from ..engine.checks import check_whole
from ..models.inputs import RandomStateLike
from .baseline_model import BaselineModel, Ending, training_tfidf

__all__ = ["KMeans", "kmeans_on_rows"]


def kmeans_on_rows(vectors: Any, n_clusters: int, n_init: int, max_iter: int, rng: np.random.RandomState) -> Any:
    """Fit scikit-learn's k-means and keep the best of `n_init` starts."""
    from sklearn.cluster import KMeans as Kernel

    with single_threaded_libraries(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: some stay empty
        return Kernel(n_clusters, n_init=n_init, max_iter=max_iter, random_state=rng).fit(vectors)


class KMeans(BaselineModel):
    """Clustering by k-means on the tf-idf of documents, scaled to length one; each cluster is a topic.

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics.
    n_init : int, default=3
        Number of starts.
    max_iter : int, default=100
        Maximum number of iterations.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.

    Attributes
    ----------
    topic_word_ : ndarray of shape (n_topics, n_words)
        P(w|z): the words of the documents of each cluster. Also available as `components_`.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        The cluster of each training document, as a row with a single 1.
    topic_weight_ : ndarray of shape (n_topics,)
        Share of the documents in each cluster.
    labels_ : ndarray of int of shape (n_documents,)
        The cluster of each training document.
    cluster_centers_ : ndarray of shape (n_topics, n_words)
        Centres of the clusters.
    idf_ : ndarray of shape (n_words,)
        Inverse document frequencies.

    See Also
    --------
    topicfold.TopicModel : The attributes and methods that all models have.
    topicfold.baselines.NCut : Clustering of a graph of documents.
    topicfold.LDA : Documents that mix topics.

    Examples
    --------
    >>> from topicfold.baselines import KMeans
    >>> model = KMeans(2, random_state=0).fit([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]])
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, False, False]
    """

    idf_: np.ndarray

    def __init__(
        self, n_topics: int = 20, *, n_init: int = 3, max_iter: int = 100, random_state: RandomStateLike = None
    ) -> None:
        self.n_topics = n_topics
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def check_parameters(self) -> None:
        check_whole("n_topics", self.n_topics)

    def _learn(self, counts: sp.csr_array) -> Ending:
        vectors = training_tfidf(self, counts)
        rng = check_random_state(self.random_state)
        kernel = kmeans_on_rows(vectors, self.n_topics, self.n_init, self.max_iter, rng)
        self.cluster_centers_ = kernel.cluster_centers_
        self.doc_topic_ = np.eye(self.n_topics)[kernel.labels_]
        words = (counts.T @ self.doc_topic_).T
        mass = words.sum(axis=1, keepdims=True)
        corpus = self.word_frequency_ / self.word_frequency_.sum()
        self.topic_word_ = np.where(mass > 0, words / np.where(mass > 0, mass, 1), corpus)
        self.topic_weight_ = self.doc_topic_.mean(axis=0)
        return Ending(kernel.n_iter_, kernel.n_iter_ < self.max_iter)

    def _fold_in(self, counts: sp.csr_array) -> np.ndarray:
        vectors = tfidf(counts, self.idf_)
        nearness = vectors @ self.cluster_centers_.T - 0.5 * (self.cluster_centers_**2).sum(axis=1)
        return np.eye(self.n_topics)[nearness.argmax(axis=1)]
