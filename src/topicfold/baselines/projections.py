"""LSI and PCA: the leading singular vectors of tf-idf.

Library calls run on one thread, since their sums change with the number of threads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..corpus.weighting import tfidf
from ..engine.blocks import single_threaded_libraries
from ..errors import InputError
from ..models.inputs import CountsLike, CountsMixin, RandomStateLike, TopicNamesMixin
from .baseline_model import training_tfidf
from .kmeans import kmeans_on_rows

__all__ = ["LSI", "PCA"]


class Projection(CountsMixin, TopicNamesMixin, TransformerMixin, BaseEstimator, ABC):
    """Base class of LSI and PCA. A concrete class says how components are learned, and documents projected on them."""

    _clusters_directions: ClassVar[bool]  # whether coordinates are scaled to length one before they are clustered

    n_topics: int
    n_init: int
    random_state: RandomStateLike
    idf_: np.ndarray
    components_: np.ndarray

    @abstractmethod
    def _learn(self, vectors: sp.csr_array, rng: np.random.RandomState) -> None:
        """Learn `components_` from the tf-idf of the training documents."""

    @abstractmethod
    def _project(self, vectors: sp.csr_array) -> np.ndarray:
        """The coordinates of documents."""

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
        from sklearn.preprocessing import normalize

        rng = check_random_state(self.random_state)
        counts = self._fit_counts(X, np.float64)
        self.word_frequency_ = counts.sum(axis=0)
        vectors = training_tfidf(self, counts)
        with single_threaded_libraries():
            self._learn(vectors, rng)
        self.doc_topic_ = self._project(vectors)
        points = normalize(self.doc_topic_) if self._clusters_directions else self.doc_topic_
        self.labels_ = kmeans_on_rows(points, self.n_topics, self.n_init, 300, rng).labels_
        return self

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit the model and return the coordinates of the training documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Coordinates, one row per document.
        """
        return self.fit(X, y).doc_topic_

    def transform(self, X: CountsLike) -> np.ndarray:
        """Compute the coordinates of new documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Coordinates, one row per document. A row does not depend on the other documents.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        check_is_fitted(self)
        return self._project(tfidf(self.word_counts(X, np.float64), self.idf_))

    @property
    def _n_features_out(self) -> int:
        return self.n_topics


class LSI(Projection):
    """Latent semantic indexing: the leading singular vectors of tf-idf.

    There is no P(w|z). Coordinates have signs, so the largest says nothing; documents are clustered by k-means instead.

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics.
    n_init : int, default=10
        Number of starts of k-means.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_words)
        The singular vectors.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        Coordinates of the training documents.
    labels_ : ndarray of int of shape (n_documents,)
        Clusters of the training documents: k-means on the coordinates, scaled to length one.
    idf_ : ndarray of shape (n_words,)
        Inverse document frequencies.
    word_frequency_ : ndarray of shape (n_words,)
        Number of tokens of each word in the training documents.
    document_ids_ : sequence of str or None
        Ids of the training documents, if X was a Corpus or texts.

    See Also
    --------
    topicfold.baselines.PCA : The same around the mean document.
    topicfold.PLSA : The probabilistic version.

    References
    ----------
    Deerwester, S., Dumais, S. T., Furnas, G. W., Landauer, T. K. and Harshman, R. (1990). Indexing by latent semantic
    analysis. Journal of the American Society for Information Science 41, 391-407.
    https://doi.org/10.1002/(SICI)1097-4571(199009)41:6%3C391::AID-ASI1%3E3.0.CO;2-9

    Examples
    --------
    >>> from topicfold.baselines import LSI
    >>> model = LSI(2, random_state=0).fit([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]])
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, False, False]
    """

    _clusters_directions = True

    def __init__(self, n_topics: int = 20, *, n_init: int = 10, random_state: RandomStateLike = None) -> None:
        self.n_topics = n_topics
        self.n_init = n_init
        self.random_state = random_state

    def _learn(self, vectors: sp.csr_array, rng: np.random.RandomState) -> None:
        from sklearn.decomposition import TruncatedSVD

        if vectors.shape[1] < 2:
            raise InputError("X has one word: expected at least two, whose directions can be compared")
        self.components_ = TruncatedSVD(self.n_topics, n_iter=10, random_state=rng).fit(vectors).components_

    def _project(self, vectors: sp.csr_array) -> np.ndarray:
        return vectors @ self.components_.T


class PCA(Projection):
    """Principal components of tf-idf.

    There is no P(w|z). Coordinates have signs, so the largest says nothing; documents are clustered by k-means instead.

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics.
    n_init : int, default=10
        Number of starts of k-means.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_words)
        The principal components.
    mean_ : ndarray of shape (n_words,)
        The mean document.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        Coordinates of the training documents.
    labels_ : ndarray of int of shape (n_documents,)
        Clusters of the training documents: k-means on the coordinates.
    idf_ : ndarray of shape (n_words,)
        Inverse document frequencies.
    word_frequency_ : ndarray of shape (n_words,)
        Number of tokens of each word in the training documents.
    document_ids_ : sequence of str or None
        Ids of the training documents, if X was a Corpus or texts.

    See Also
    --------
    topicfold.baselines.LSI : The same around the origin.

    Examples
    --------
    >>> from topicfold.baselines import PCA
    >>> model = PCA(2, random_state=0).fit([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]])
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, False, False]
    """

    _clusters_directions = False

    def __init__(self, n_topics: int = 20, *, n_init: int = 10, random_state: RandomStateLike = None) -> None:
        self.n_topics = n_topics
        self.n_init = n_init
        self.random_state = random_state

    def _learn(self, vectors: sp.csr_array, rng: np.random.RandomState) -> None:
        from sklearn.decomposition import PCA as Kernel

        # the sparse solver needs fewer components than rows and columns, and rows that differ
        differ = (vectors.max(axis=0).toarray() != vectors.min(axis=0).toarray()).any()
        few = self.n_topics < min(vectors.shape) and differ
        kernel = Kernel(self.n_topics, svd_solver="arpack" if few else "full", random_state=rng)
        kernel.fit(vectors if few else vectors.toarray())
        self.components_, self.mean_ = kernel.components_, np.asarray(kernel.mean_).ravel()

    def _project(self, vectors: sp.csr_array) -> np.ndarray:
        return vectors @ self.components_.T - self.mean_ @ self.components_.T
