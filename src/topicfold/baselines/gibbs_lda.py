"""LDA (Blei, Ng and Jordan 2003) fitted by tomotopy's collapsed Gibbs sampler; topicfold's own LDA is in models/lda.

The sampler provides the topics and the prior alpha. P(z|d), of training and new documents alike, is then found with the
topics fixed, as the mode of log P(d|theta) + sum_z alpha_z log theta_z. This is concave, so it needs no random numbers
and the result for a document depends only on its words; a state of the sampler would be one noisy draw.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ..engine.checks import check_whole
from ..engine.loop import Run
from ..models.base import FlatTopicModel
from ..models.em import check_size, fold_in
from ..models.inputs import CountsLike, RandomStateLike
from .sampling import (
    add_documents,
    alpha_per_part,
    check_priors,
    node_words,
    sample,
    sampler_seed,
    tomotopy_for,
    whole_counts,
)

__all__ = ["GibbsLDA"]


def fold_in_with_prior(
    counts: sp.csr_array, topic_word: np.ndarray, alpha: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """P(z|d) with theta_z proportional to alpha_z plus the tokens of topic z, P(w|z) fixed.

    The prior is expressed as words: topic z has an extra word, which every document contains alpha_z times.
    """
    n_documents, n_topics = counts.shape[0], len(alpha)
    cells = (np.tile(alpha, n_documents), np.tile(np.arange(n_topics), n_documents))
    own_words = sp.csr_array((*cells, np.arange(n_documents + 1) * n_topics), (n_documents, n_topics))
    with_prior = sp.csr_array(sp.hstack([counts, own_words], format="csr"))
    return fold_in(with_prior, np.hstack([topic_word, np.eye(n_topics)]), alpha / alpha.sum(), n_jobs=n_jobs)


class GibbsLDA(FlatTopicModel):
    """Latent Dirichlet allocation by the Gibbs sampler of tomotopy (the extra topicfold[lda]).

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics.
    alpha : float or None, default=None
        Strength of the prior of P(z|d), in tokens per document; the topics share it equally. None is 0.1 tokens per
        topic. With `optimize_alpha`, the value to start from.
    beta : float, default=0.01
        Prior of P(w|z): pseudo-count of every word in every topic.
    max_iter : int, default=1000
        Number of sweeps over all tokens.
    optimize_alpha : bool, default=True
        Whether to fit one alpha per topic to the data, every ten sweeps.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.
    n_jobs : int or None, default=None
        Number of threads for new documents. None means 1, and -1 uses all cores. The sampler itself runs on one thread.

    Attributes
    ----------
    topic_word_ : ndarray of shape (n_topics, n_words)
        P(w|z), the probability of each word in each topic. Also available as `components_`.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        P(z|d) of the training documents.
    labels_ : ndarray of int of shape (n_documents,)
        The largest topic of each training document.
    alpha_ : ndarray of shape (n_topics,)
        Prior of P(z|d): the tokens that each topic has in advance in each document.
    topic_weight_ : ndarray of shape (n_topics,)
        Mean of `doc_topic_`.
    word_frequency_ : ndarray of shape (n_words,)
        Number of tokens of each word in the training documents.
    document_ids_ : sequence of str or None
        Ids of the training documents, if X was a Corpus or texts.

    See Also
    --------
    topicfold.LDA : The same model by leave-one-out EM.
    topicfold.baselines.HLDA : A tree of topics by Gibbs sampling.

    References
    ----------
    Griffiths, T. L. and Steyvers, M. (2004). Finding scientific topics. PNAS 101, 5228-5235.
    https://doi.org/10.1073/pnas.0307752101

    Examples
    --------
    >>> from topicfold.baselines import GibbsLDA
    >>> model = GibbsLDA(2, max_iter=50, random_state=0).fit([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]])
    >>> model.topic_word_.shape
    (2, 4)
    """

    _endings = ("sampling finished", "sampling finished")

    def __init__(
        self,
        n_topics: int = 20,
        *,
        alpha: float | None = None,
        beta: float = 0.01,
        max_iter: int = 1000,
        optimize_alpha: bool = True,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.beta = beta
        self.max_iter = max_iter
        self.optimize_alpha = optimize_alpha
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Check the parameters of the model; `fit` does so first.

        Raises
        ------
        InputError
            If the model cannot use a parameter. The message names it and what was expected.
        """
        check_whole("n_topics", self.n_topics)  # otherwise tomotopy ends the process
        check_priors(self.alpha, self.beta)

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
        ImportError
            If tomotopy is not installed.
        """
        tomotopy = tomotopy_for("GibbsLDA")
        counts = whole_counts(self, X, reset=True)
        self.check_parameters()
        check_size(counts, self.n_topics)
        alpha = alpha_per_part(self.alpha, self.n_topics)
        seed = sampler_seed(self.random_state)
        sampler = tomotopy.LDAModel(k=self.n_topics, alpha=alpha, eta=self.beta, seed=seed)
        sampler.optim_interval = 10 if self.optimize_alpha else 0
        add_documents(sampler, counts)
        sample(sampler, self.max_iter)
        self.alpha_ = np.broadcast_to(np.asarray(sampler.alpha, dtype=np.float64), (self.n_topics,)).copy()
        self.topic_word_ = node_words(sampler, range(self.n_topics), counts.shape[1])
        self.doc_topic_ = fold_in_with_prior(counts, self.topic_word_, self.alpha_, self.n_jobs)
        self.labels_ = self.doc_topic_.argmax(axis=1)
        self.word_frequency_ = counts.sum(axis=0)
        self.topic_weight_ = self.doc_topic_.mean(axis=0)
        self._keep_run(Run([], True, True))
        self.n_iter_ = self.max_iter
        return self

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit the model and return P(z|d) of the training documents.

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
        """Infer P(z|d) of new documents.

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
        check_is_fitted(self)
        counts = whole_counts(self, X, reset=False)
        return fold_in_with_prior(counts, self.topic_word_, self.alpha_, self.n_jobs)

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
        return self._completion(X, lambda seen: fold_in_with_prior(seen, self.topic_word_, self.alpha_, self.n_jobs))

    def _prepare(self) -> None:
        """Nothing to prepare."""
