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
    """Non-negative matrix factorisation of tf-idf, by squared error.

    `topic_word_` and `doc_topic_` undo the idf, so that they describe tokens, and their rows sum to one: the
    reconstruction sum_z W_dz H_zw divided by idf_w is proportional to sum_z P(z|d) P(w|z).

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics.
    max_iter : int, default=200
        Maximum number of iterations.
    tol : float, default=1e-4
        Tolerance at which the iterations stop.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.

    Attributes
    ----------
    topic_word_ : ndarray of shape (n_topics, n_words)
        P(w|z), the probability of each word in each topic. Also available as `components_`.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        P(z|d) of the training documents. A document without any topic has `topic_weight_`.
    topic_weight_ : ndarray of shape (n_topics,)
        Mean share of each topic.
    weights_ : ndarray of shape (n_topics, n_words)
        The factor H, before the idf is undone.
    labels_ : ndarray of int of shape (n_documents,)
        The largest topic of each training document.
    idf_ : ndarray of shape (n_words,)
        Inverse document frequencies.
    word_frequency_ : ndarray of shape (n_words,)
        Number of tokens of each word in the training documents.
    document_ids_ : sequence of str or None
        Ids of the training documents, if X was a Corpus or texts.

    See Also
    --------
    topicfold.PLSA : The factorisation that fits counts rather than tf-idf.
    topicfold.baselines.factor.LSI : A factorisation with signs.

    References
    ----------
    Lee, D. D. and Seung, H. S. (1999). Learning the parts of objects by non-negative matrix factorization. Nature 401,
    788-791. https://doi.org/10.1038/44565

    Examples
    --------
    >>> from topicfold.baselines.factor import NMF
    >>> model = NMF(2, random_state=0).fit([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]])
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, False, False]
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
        """Check the parameters of the model; `fit` does so first.

        Raises
        ------
        ValueError
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
        """
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
        """Fit the model and return the topics of the training documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            The share of each topic, one row per document.
        """
        return self.fit(X, y).doc_topic_

    def transform(self, X: CountsLike) -> np.ndarray:
        """Infer the topics of new documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            The share of each topic, one row per document. A row does not depend on the other documents.
        """
        return self._assign(tfidf_of_new(self, X))

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
        """
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
    topicfold.baselines.factor.PCA : The same around the mean document.
    topicfold.PLSA : The probabilistic version.

    References
    ----------
    Deerwester, S., Dumais, S. T., Furnas, G. W., Landauer, T. K. and Harshman, R. (1990). Indexing by latent semantic
    analysis. Journal of the American Society for Information Science 41, 391-407.
    https://doi.org/10.1002/(SICI)1097-4571(199009)41:6%3C391::AID-ASI1%3E3.0.CO;2-9

    Examples
    --------
    >>> from topicfold.baselines.factor import LSI
    >>> model = LSI(2, random_state=0).fit([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]])
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, False, False]
    """

    def __init__(self, n_topics: int = 20, *, n_init: int = 10, random_state: RandomStateLike = None) -> None:
        self.n_topics = n_topics
        self.n_init = n_init
        self.random_state = random_state

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
        """
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
        """
        return tfidf_of_new(self, X) @ self.components_.T

    @property
    def _n_features_out(self) -> int:
        return self.n_topics


class PCA(CountsMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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
    topicfold.baselines.factor.LSI : The same around the origin.

    Examples
    --------
    >>> from topicfold.baselines.factor import PCA
    >>> model = PCA(2, random_state=0).fit([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]])
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, False, False]
    """

    def __init__(self, n_topics: int = 20, *, n_init: int = 10, random_state: RandomStateLike = None) -> None:
        self.n_topics = n_topics
        self.n_init = n_init
        self.random_state = random_state

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
        """
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
        """
        vectors = tfidf_of_new(self, X)
        return vectors @ self.components_.T - self.mean_ @ self.components_.T

    @property
    def _n_features_out(self) -> int:
        return self.n_topics


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
    topicfold.baselines.factor.NCut : Clustering of a graph of documents.
    topicfold.LDA : Documents that mix topics.

    Examples
    --------
    >>> from topicfold.baselines.factor import KMeans
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
        ValueError
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
        """
        check_is_fitted(self)
        return self._completion(X, lambda seen: self._nearest(tfidf(seen, self.idf_)))

    def _nearest(self, vectors: sp.csr_array) -> np.ndarray:
        nearness = vectors @ self.cluster_centers_.T - 0.5 * (self.cluster_centers_**2).sum(axis=1)
        return np.eye(self.n_topics)[nearness.argmax(axis=1)]

    def _prepare(self) -> None:
        """Nothing to prepare."""


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

    See Also
    --------
    topicfold.baselines.factor.KMeans : Clustering without a graph.
    topicfold.knn_graph : Builds a graph of nearest neighbours.

    References
    ----------
    Shi, J. and Malik, J. (2000). Normalized cuts and image segmentation. IEEE Transactions on Pattern Analysis and
    Machine Intelligence 22, 888-905. https://doi.org/10.1109/34.868688

    Ng, A. Y., Jordan, M. I. and Weiss, Y. (2001). On spectral clustering: analysis and an algorithm. NIPS.

    Examples
    --------
    >>> from topicfold.baselines.factor import NCut
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
        """
        rng = check_random_state(self.random_state)
        counts, _ = counts_and_tfidf(self, X)
        if graph is None:
            graph = knn_graph(counts, self.n_neighbors, weighted=True)
        self.embedding_ = spectral_vectors(check_graph(graph, counts.shape[0]), self.n_topics, rng)
        kernel = kmeans_on_rows(self.embedding_, self.n_topics, self.n_init, 300, rng)
        self.labels_ = kernel.labels_.astype(np.int64)
        self.doc_topic_ = np.eye(self.n_topics)[self.labels_]
        return self
