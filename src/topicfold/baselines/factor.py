"""Baselines on scikit-learn: NMF, LSI and PCA factor the tf-idf matrix, k-means and NCut cluster.

Library calls run on one thread, since their sums change with the number of threads.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..corpus.weighting import inverse_document_frequency, tfidf
from ..engine.arrays import normalise_rows
from ..engine.blocks import single_threaded_libraries
from ..engine.checks import check_whole
from ..engine.jit import njit
from ..engine.loop import Run
from ..graph.build import knn_graph, spectral_vectors
from ..graph.check import GraphLike, check_graph
from ..models.base import FlatTopicModel
from ..models.em import check_size
from ..models.inputs import CountsLike, CountsMixin, RandomStateLike

if TYPE_CHECKING:
    pass

__all__ = ["LSI", "NMF", "PCA", "KMeans", "NCut"]

_SWEEPS = 200
_SWEEP_TOL = 1e-6


@njit
def nonnegative_rows(gram, target, weights):
    """weights_d = argmin over w >= 0 of w G w / 2 - target_d w, by coordinate descent, each row until it stands still.

    scikit-learn's own transform starts and stops by the batch as a whole, so a document's answer would depend on it.
    """
    n_topics = gram.shape[0]
    for d in range(target.shape[0]):
        for _ in range(_SWEEPS):
            change = 0.0
            for k in range(n_topics):
                if gram[k, k] > 0:
                    slope = -target[d, k]
                    for j in range(n_topics):
                        slope += weights[d, j] * gram[j, k]
                    value = max(0.0, weights[d, k] - slope / gram[k, k])
                    change += abs(value - weights[d, k])
                    weights[d, k] = value
            if change < _SWEEP_TOL:
                break


class _OnTfidf(Protocol):
    """A baseline that works on tf-idf."""

    n_topics: int
    word_frequency_: np.ndarray
    idf_: np.ndarray

    def _fit_counts(self, X: CountsLike, dtype: Any = ...) -> sp.csr_array: ...

    def word_counts(self, X: CountsLike, dtype: Any = ...) -> sp.csr_array: ...


def counts_and_tfidf(model: _OnTfidf, X: CountsLike) -> tuple[sp.csr_array, sp.csr_array]:
    """Training counts and their tf-idf; the model remembers word frequencies and idf."""
    counts = model._fit_counts(X, np.float64)
    check_size(counts, model.n_topics)
    model.word_frequency_ = counts.sum(axis=0)
    model.idf_ = inverse_document_frequency(counts)
    return counts, tfidf(counts, model.idf_)


def tfidf_of_new(model: _OnTfidf, X: CountsLike) -> sp.csr_array:
    """tf-idf of new documents with the idf of training."""
    check_is_fitted(model)
    return tfidf(model.word_counts(X, np.float64), model.idf_)


def kmeans_on_rows(vectors: Any, n_clusters: int, n_init: int, max_iter: int, rng: np.random.RandomState) -> Any:
    """scikit-learn's k-means, fitted, the best of `n_init` starts."""
    from sklearn.cluster import KMeans as Kernel

    with single_threaded_libraries(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: some stay empty
        return Kernel(n_clusters, n_init=n_init, max_iter=max_iter, random_state=rng).fit(vectors)


class NMF(FlatTopicModel):
    """Non-negative matrix factorisation of tf-idf, squared error.

    `topic_word_` and `doc_topic_` undo the idf, so that they speak of tokens, and have rows summing to one: the
    reconstruction sum_z W_dz H_zw divided by idf_w is proportional to sum_z P(z|d) P(w|z). `weights_` is H as it is.
    A document in which no topic is found has the mean of the training documents.
    """

    idf_: np.ndarray

    def __init__(
        self, n_topics: int = 20, *, max_iter: int = 200, tol: float = 1e-4, random_state: RandomStateLike = None
    ) -> None:
        self.n_topics = n_topics
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise a ValueError that names a parameter which the model cannot use."""
        check_whole("n_topics", self.n_topics)

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Factor the tf-idf of documents x words, or of a Corpus."""
        self.check_parameters()
        from sklearn.decomposition import NMF as Kernel

        _, vectors = counts_and_tfidf(self, X)
        with single_threaded_libraries(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            kernel = Kernel(
                self.n_topics, init="nndsvda", max_iter=self.max_iter, tol=self.tol, random_state=self.random_state
            )
            kernel.fit(vectors)
        self.weights_ = kernel.components_
        tokens = self.weights_ / self.idf_
        mass = tokens.sum(axis=1, keepdims=True)
        even = np.full_like(tokens, 1 / tokens.shape[1])
        self.topic_word_ = np.where(mass > 0, tokens / np.where(mass > 0, mass, 1), even)
        shares = self._shares(vectors)
        found = shares.sum(axis=1) > 0
        self.topic_weight_ = shares[found].mean(axis=0) if found.any() else np.full(self.n_topics, 1 / self.n_topics)
        self.doc_topic_ = np.where(found[:, None], shares, self.topic_weight_)
        self.labels_ = self.doc_topic_.argmax(axis=1)
        self._keep_run(Run([], kernel.n_iter_ < self.max_iter, True))
        self.n_iter_ = kernel.n_iter_
        return self

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit, and return the shares of the topics in the training documents."""
        return self.fit(X, y).doc_topic_

    def transform(self, X: CountsLike) -> np.ndarray:
        """Shares of the topics in new documents, one row each, whatever else is in the batch."""
        return self._assign(tfidf_of_new(self, X))

    def score(self, X: CountsLike, y: Any = None) -> float:
        """Mean log-likelihood per token by document completion: half of each document is seen, the rest is scored."""
        check_is_fitted(self)
        return self._completion(X, lambda seen: self._assign(tfidf(seen, self.idf_)))

    def _prepare(self) -> None:
        """Nothing to prepare."""

    def _assign(self, vectors: sp.csr_array) -> np.ndarray:
        shares = self._shares(vectors)
        return np.where(shares.sum(axis=1, keepdims=True) > 0, shares, self.topic_weight_)

    def _shares(self, vectors: sp.csr_array) -> np.ndarray:
        """Weights times the tokens a topic stands for, rows summing to one; zeros where no topic is found."""
        weights = np.zeros((vectors.shape[0], self.n_topics))
        with single_threaded_libraries():
            gram = self.weights_ @ self.weights_.T
        nonnegative_rows(gram, vectors @ self.weights_.T, weights)
        shares = weights * (self.weights_ / self.idf_).sum(axis=1)
        return normalise_rows(shares)


class LSI(CountsMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Latent semantic indexing: the leading singular vectors of tf-idf.

    `doc_topic_` holds coordinates, with signs; their largest means nothing, so `labels_` come from k-means on them,
    scaled to length one. There is no P(w|z); the singular vectors are in `components_`.
    """

    def __init__(self, n_topics: int = 20, *, n_init: int = 10, random_state: RandomStateLike = None) -> None:
        self.n_topics = n_topics
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Factor the tf-idf of documents x words, or of a Corpus."""
        from sklearn.decomposition import TruncatedSVD
        from sklearn.preprocessing import normalize

        rng = check_random_state(self.random_state)
        _, vectors = counts_and_tfidf(self, X)
        with single_threaded_libraries():
            self.components_ = TruncatedSVD(self.n_topics, n_iter=10, random_state=rng).fit(vectors).components_
        self.doc_topic_ = vectors @ self.components_.T
        self.labels_ = kmeans_on_rows(normalize(self.doc_topic_), self.n_topics, self.n_init, 300, rng).labels_
        return self

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit, and return the coordinates of the training documents."""
        return self.fit(X, y).doc_topic_

    def transform(self, X: CountsLike) -> np.ndarray:
        """Coordinates of new documents, one row each, whatever else is in the batch."""
        return tfidf_of_new(self, X) @ self.components_.T

    @property
    def _n_features_out(self) -> int:
        return self.n_topics


class PCA(CountsMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components of tf-idf: as LSI, but around the mean document. `labels_` are k-means on coordinates."""

    def __init__(self, n_topics: int = 20, *, n_init: int = 10, random_state: RandomStateLike = None) -> None:
        self.n_topics = n_topics
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Find the components of the tf-idf of documents x words, or of a Corpus."""
        from sklearn.decomposition import PCA as Kernel

        rng = check_random_state(self.random_state)
        _, vectors = counts_and_tfidf(self, X)
        few = self.n_topics < min(vectors.shape)  # else the sparse solver has nothing to leave out
        with single_threaded_libraries():
            kernel = Kernel(self.n_topics, svd_solver="arpack" if few else "full", random_state=rng)
            kernel.fit(vectors if few else vectors.toarray())
        self.components_, self.mean_ = kernel.components_, np.asarray(kernel.mean_).ravel()
        self.doc_topic_ = vectors @ self.components_.T - self.mean_ @ self.components_.T
        self.labels_ = kmeans_on_rows(self.doc_topic_, self.n_topics, self.n_init, 300, rng).labels_
        return self

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit, and return the coordinates of the training documents."""
        return self.fit(X, y).doc_topic_

    def transform(self, X: CountsLike) -> np.ndarray:
        """Coordinates of new documents, one row each, whatever else is in the batch."""
        vectors = tfidf_of_new(self, X)
        return vectors @ self.components_.T - self.mean_ @ self.components_.T

    @property
    def _n_features_out(self) -> int:
        return self.n_topics


class KMeans(FlatTopicModel):
    """k-means on tf-idf rows of length one. A cluster is a topic: `topic_word_` are the words of its documents.

    `doc_topic_` has a single one in each row, at the document's cluster.
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
        """Raise a ValueError that names a parameter which the model cannot use."""
        check_whole("n_topics", self.n_topics)

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Cluster the tf-idf rows of documents x words, or of a Corpus."""
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
        """Fit, and return the clusters of the training documents."""
        return self.fit(X, y).doc_topic_

    def transform(self, X: CountsLike) -> np.ndarray:
        """The cluster with the nearest centre, as a row with a single one, whatever else is in the batch."""
        return self._nearest(tfidf_of_new(self, X))

    def score(self, X: CountsLike, y: Any = None) -> float:
        """Mean log-likelihood per token by document completion: half of each document is seen, the rest is scored."""
        check_is_fitted(self)
        return self._completion(X, lambda seen: self._nearest(tfidf(seen, self.idf_)))

    def _nearest(self, vectors: sp.csr_array) -> np.ndarray:
        nearness = vectors @ self.cluster_centers_.T - 0.5 * (self.cluster_centers_**2).sum(axis=1)
        return np.eye(self.n_topics)[nearness.argmax(axis=1)]

    def _prepare(self) -> None:
        """Nothing to prepare."""


class NCut(CountsMixin, ClusterMixin, BaseEstimator):
    """Normalised cut: spectral clustering of a graph of documents.

    Where `fit` is given no graph, each document is connected to its nearest by cosine of tf-idf, with that weight. The
    leading eigenvectors of D^-1/2 A D^-1/2, rows scaled to length one, are clustered by k-means (Ng, Jordan and Weiss
    2001). `doc_topic_` has a single one in each row. New documents are not in the graph: there is no transform.
    """

    def __init__(
        self, n_topics: int = 20, *, n_neighbors: int = 10, n_init: int = 10, random_state: RandomStateLike = None
    ) -> None:
        self.n_topics = n_topics
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: CountsLike, y: Any = None, *, graph: GraphLike | None = None) -> Self:
        """Cut the graph of documents x words, or of a Corpus; or `graph`, symmetric, documents x documents."""
        rng = check_random_state(self.random_state)
        counts, _ = counts_and_tfidf(self, X)
        if graph is None:
            graph = knn_graph(counts, self.n_neighbors, weighted=True)
        self.embedding_ = spectral_vectors(check_graph(graph, counts.shape[0]), self.n_topics, rng)
        kernel = kmeans_on_rows(self.embedding_, self.n_topics, self.n_init, 300, rng)
        self.labels_ = kernel.labels_.astype(np.int64)
        self.doc_topic_ = np.eye(self.n_topics)[self.labels_]
        return self
