"""NMF of the tf-idf matrix.

Library calls run on one thread, since their sums change with the number of threads.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from ..corpus.weighting import tfidf
from ..engine.arrays import normalise_rows
from ..engine.blocks import single_threaded_libraries
from ..engine.checks import check_whole
from ..engine.jit import njit
from ..models.inputs import RandomStateLike
from .baseline_model import BaselineModel, Ending, training_tfidf

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


class NMF(BaselineModel):
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

    See Also
    --------
    topicfold.TopicModel : The attributes and methods that all models have.
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
        check_whole("n_topics", self.n_topics)

    def _learn(self, counts: sp.csr_array) -> Ending:
        from sklearn.decomposition import NMF as Kernel

        vectors = training_tfidf(self, counts)
        with single_threaded_libraries(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            parameters = {"max_iter": self.max_iter, "tol": self.tol, "random_state": self.random_state}
            with np.errstate(invalid="ignore"):  # the start divides by the length of a component, which may be zero
                kernel = Kernel(self.n_topics, init="nndsvda", **parameters).fit(vectors)
            if not np.isfinite(kernel.components_).all():
                kernel = Kernel(self.n_topics, init="random", **parameters).fit(vectors)
        self.weights_ = kernel.components_
        tokens = self.weights_ / self.idf_
        mass = tokens.sum(axis=1, keepdims=True)
        even = np.full_like(tokens, 1 / tokens.shape[1])
        self.topic_word_ = np.where(mass > 0, tokens / np.where(mass > 0, mass, 1), even)
        shares = self._shares(vectors)
        topical = shares.sum(axis=1) > 0
        even_shares = np.full(self.n_topics, 1 / self.n_topics)
        self.topic_weight_ = shares[topical].mean(axis=0) if topical.any() else even_shares
        self.doc_topic_ = np.where(topical[:, None], shares, self.topic_weight_)
        return Ending(kernel.n_iter_, kernel.n_iter_ < self.max_iter)

    def _fold_in(self, counts: sp.csr_array) -> np.ndarray:
        shares = self._shares(tfidf(counts, self.idf_))
        return np.where(shares.sum(axis=1, keepdims=True) > 0, shares, self.topic_weight_)

    def _shares(self, vectors: sp.csr_array) -> np.ndarray:
        """Weights times the tokens a topic stands for, rows summing to one; zeros if no topic is found."""
        weights = np.zeros((vectors.shape[0], self.n_topics))
        with single_threaded_libraries():
            gram = self.weights_ @ self.weights_.T
        nonnegative_rows(gram, vectors @ self.weights_.T, weights)
        shares = weights * (self.weights_ / self.idf_).sum(axis=1)
        return normalise_rows(shares)
