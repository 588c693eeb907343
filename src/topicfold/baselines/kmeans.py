"""k-means on tf-idf.

Library calls run on one thread, since their sums change with the number of threads.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..corpus.weighting import tfidf
from ..engine.blocks import single_threaded_libraries
from ..engine.checks import check_whole
from ..engine.loop import Run
from ..models.base import FlatTopicModel
from ..models.inputs import CountsLike, RandomStateLike
from .tfidf_rows import counts_and_tfidf, tfidf_of_new

__all__ = ["KMeans", "kmeans_on_rows"]


def kmeans_on_rows(vectors: Any, n_clusters: int, n_init: int, max_iter: int, rng: np.random.RandomState) -> Any:
    """Fit scikit-learn's k-means and keep the best of `n_init` starts."""
    from sklearn.cluster import KMeans as Kernel

    with single_threaded_libraries(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: some stay empty
        return Kernel(n_clusters, n_init=n_init, max_iter=max_iter, random_state=rng).fit(vectors)


class KMeans(FlatTopicModel):
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
    word_frequency_ : ndarray of shape (n_words,)
        Number of tokens of each word in the training documents.
    document_ids_ : sequence of str or None
        Ids of the training documents, if X was a Corpus or texts.

    See Also
    --------
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
        """Check the parameters of the model; `fit` does so first.

        Raises
        ------
        InputError
            If the model cannot use a parameter. The message names it and what was expected.
        """
        check_whole("n_topics", self.n_topics)

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Fit the model to documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        object
            The model itself, fitted.

        Raises
        ------
        InputError
            If X or a parameter cannot be used.
        """
        self.check_parameters()
        counts, vectors = counts_and_tfidf(self, X)
        rng = check_random_state(self.random_state)
        kernel = kmeans_on_rows(vectors, self.n_topics, self.n_init, self.max_iter, rng)
        self.cluster_centers_, self.labels_ = kernel.cluster_centers_, kernel.labels_.astype(np.int64)
        self.doc_topic_ = np.eye(self.n_topics)[self.labels_]
        words = (counts.T @ self.doc_topic_).T
        mass = words.sum(axis=1, keepdims=True)
        corpus = self.word_frequency_ / self.word_frequency_.sum()
        self.topic_word_ = np.where(mass > 0, words / np.where(mass > 0, mass, 1), corpus)
        self.topic_weight_ = self.doc_topic_.mean(axis=0)
        self._keep_run(Run([], kernel.n_iter_ < self.max_iter, True))
        self.n_iter_ = kernel.n_iter_
        return self

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit the model and return the clusters of the training documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            One row per document, with a 1 at its cluster.
        """
        return self.fit(X, y).doc_topic_

    def transform(self, X: CountsLike) -> np.ndarray:
        """Find the cluster with the nearest centre for new documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            One row per document, with a 1 at its cluster. A row does not depend on the other documents.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        return self._nearest(tfidf_of_new(self, X))

    def score(self, X: CountsLike, y: Any = None) -> float:
        """Compute the mean log-likelihood per token by document completion.

        The topics of each document are inferred from half of its tokens, drawn at random; the other half is scored.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        float
            The mean in nats per token; higher is better.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        check_is_fitted(self)
        return self._completion(X, lambda seen: self._nearest(tfidf(seen, self.idf_)))

    def _nearest(self, vectors: sp.csr_array) -> np.ndarray:
        nearness = vectors @ self.cluster_centers_.T - 0.5 * (self.cluster_centers_**2).sum(axis=1)
        return np.eye(self.n_topics)[nearness.argmax(axis=1)]

    def _prepare(self) -> None:
        """Nothing to prepare."""
