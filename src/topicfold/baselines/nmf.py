"""NMF of the tf-idf matrix.

Library calls run on one thread, since their sums change with the number of threads.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..corpus.weighting import tfidf
from ..engine.arrays import normalise_rows
from ..engine.blocks import single_threaded_libraries
from ..engine.checks import check_whole
from ..engine.jit import njit
from ..engine.loop import Run
from ..models.base import FlatTopicModel
from ..models.inputs import CountsLike, RandomStateLike
from .tfidf_rows import counts_and_tfidf, tfidf_of_new

__all__ = ["NMF"]

_SWEEPS = 200
_SWEEP_TOL = 1e-6


@njit
def nonnegative_rows(gram, target, weights):
    """weights_d = argmin over w >= 0 of w G w / 2 - target_d w, by coordinate descent until a row no longer changes.

    scikit-learn's transform starts and stops by the whole batch, so the result for a document would depend on others.
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
    topicfold.baselines.LSI : A factorisation with signs.

    References
    ----------
    Lee, D. D. and Seung, H. S. (1999). Learning the parts of objects by non-negative matrix factorization. Nature 401,
    788-791. https://doi.org/10.1038/44565

    Examples
    --------
    >>> from topicfold.baselines import NMF
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

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
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

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        check_is_fitted(self)
        return self._completion(X, lambda seen: self._assign(tfidf(seen, self.idf_)))

    def _prepare(self) -> None:
        """Nothing to prepare."""

    def _assign(self, vectors: sp.csr_array) -> np.ndarray:
        shares = self._shares(vectors)
        return np.where(shares.sum(axis=1, keepdims=True) > 0, shares, self.topic_weight_)

    def _shares(self, vectors: sp.csr_array) -> np.ndarray:
        """Weights times the tokens a topic stands for, rows summing to one; zeros if no topic is found."""
        weights = np.zeros((vectors.shape[0], self.n_topics))
        with single_threaded_libraries():
            gram = self.weights_ @ self.weights_.T
        nonnegative_rows(gram, vectors @ self.weights_.T, weights)
        shares = weights * (self.weights_ / self.idf_).sum(axis=1)
        return normalise_rows(shares)
