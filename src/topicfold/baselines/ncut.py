"""Normalised cut of a graph of documents."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from ..graph.build import knn_graph, spectral_vectors
from ..graph.check import GraphLike, check_graph
from ..models.em.plsa_kernels import check_size
from ..models.inputs import CountsLike, CountsMixin, RandomStateLike
from .kmeans import kmeans_on_rows

__all__ = ["NCut"]


class NCut(CountsMixin, ClusterMixin, BaseEstimator):
    """Normalised cut: spectral clustering of a graph of documents.

    The leading eigenvectors of D^-1/2 A D^-1/2, with rows scaled to length one, are clustered by k-means. New documents
    are not in the graph, so there is no `transform`.

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics.
    n_neighbors : int, default=10
        Number of neighbours per document in the graph that is built if `fit` gets none. Its weights are cosines of
        tf-idf.
    n_init : int, default=10
        Number of starts of k-means.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.

    Attributes
    ----------
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        The cluster of each training document, as a row with a single 1.
    labels_ : ndarray of int of shape (n_documents,)
        The cluster of each training document.
    embedding_ : ndarray of shape (n_documents, n_topics)
        The eigenvectors.
    word_frequency_ : ndarray of shape (n_words,)
        Number of tokens of each word in the training documents.

    See Also
    --------
    topicfold.baselines.KMeans : Clustering without a graph.
    topicfold.knn_graph : Builds a graph of nearest neighbours.

    References
    ----------
    Shi, J. and Malik, J. (2000). Normalized cuts and image segmentation. IEEE Transactions on Pattern Analysis and
    Machine Intelligence 22, 888-905. https://doi.org/10.1109/34.868688

    Ng, A. Y., Jordan, M. I. and Weiss, Y. (2001). On spectral clustering: analysis and an algorithm. NIPS.

    Examples
    --------
    >>> from topicfold.baselines import NCut
    >>> model = NCut(2, n_neighbors=1, random_state=0).fit([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]])
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, False, False]
    """

    def __init__(
        self, n_topics: int = 20, *, n_neighbors: int = 10, n_init: int = 10, random_state: RandomStateLike = None
    ) -> None:
        self.n_topics = n_topics
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: CountsLike, y: Any = None, *, graph: GraphLike | None = None) -> Self:
        """Cluster documents by a graph.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.
        graph : array or sparse matrix of shape (n_documents, n_documents), default=None
            Symmetric matrix of non-negative edge weights. None connects nearest neighbours.

        Returns
        -------
        object
            The model itself, fitted.

        Raises
        ------
        InputError
            If X or a parameter cannot be used.
        """
        rng = check_random_state(self.random_state)
        counts = self._fit_counts(X, np.float64)
        check_size(counts, self.n_topics)
        self.word_frequency_ = counts.sum(axis=0)
        if graph is None:
            graph = knn_graph(counts, self.n_neighbors, weighted=True)
        self.embedding_ = spectral_vectors(check_graph(graph, counts.shape[0]), self.n_topics, rng)
        kernel = kmeans_on_rows(self.embedding_, self.n_topics, self.n_init, 300, rng)
        self.labels_ = kernel.labels_.astype(np.int64)
        self.doc_topic_ = np.eye(self.n_topics)[self.labels_]
        return self
