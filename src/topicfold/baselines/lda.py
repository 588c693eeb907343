"""LDA: latent Dirichlet allocation (Blei, Ng and Jordan 2003), fitted by tomotopy's collapsed Gibbs sampler.

The sampler gives the topics and the prior alpha; P(z|d), of training and new documents alike, is then found with the
topics fixed, as the mode of log P(d|theta) + sum_z alpha_z log theta_z. This is concave, so it needs no random numbers
and a document's answer depends on nothing but its words; a state of the sampler would be one noisy draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..metrics.completion import completion_log_likelihood, split_tokens
from ..models.em import check_size, fold_in
from ..models.inputs import count_tags
from .sampling import add_documents, node_words, sample, sampler_seed, tomotopy_for, whole_counts

__all__ = ["LDA"]


def fold_in_with_prior(
    counts: sp.csr_array, topic_word: np.ndarray, alpha: np.ndarray, n_jobs: int | None = None
) -> np.ndarray:
    """P(z|d) with theta_z proportional to alpha_z plus the tokens of topic z, P(w|z) fixed.

    The prior is put as words: topic z has a word of its own, and every document holds it alpha_z times.
    """
    n_documents, n_topics = counts.shape[0], len(alpha)
    cells = (np.tile(alpha, n_documents), np.tile(np.arange(n_topics), n_documents))
    own_words = sp.csr_array((*cells, np.arange(n_documents + 1) * n_topics), (n_documents, n_topics))
    with_prior = sp.csr_array(sp.hstack([counts, own_words], format="csr"))
    return fold_in(with_prior, np.hstack([topic_word, np.eye(n_topics)]), alpha / alpha.sum(), n_jobs=n_jobs)


class LDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Latent Dirichlet allocation by Gibbs sampling.

    Parameters
    ----------
    n_topics : number of topics.
    alpha, eta : priors of P(z|d) and P(w|z). Where `optimize_alpha`, alpha is only the start, one value for all topics.
    max_iter : sweeps over all tokens.
    optimize_alpha : fit one alpha a topic to the data, every ten sweeps.
    random_state, n_jobs : as in scikit-learn; n_jobs is for new documents, the sampler runs on one thread.

    Attributes
    ----------
    topic_word_, doc_topic_ : P(w|z), and P(z|d) of the training documents.
    labels_ : the largest topic of each training document.
    alpha_ : the prior of P(z|d), one value a topic.
    word_frequency_, document_ids_ : tokens of each word, and ids, in training.
    """

    score_unit = "nats a token"  # so that `select` may rank it with the models

    def __init__(
        self,
        n_topics: int = 20,
        *,
        alpha: float = 0.1,
        eta: float = 0.01,
        max_iter: int = 1000,
        optimize_alpha: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.eta = eta
        self.max_iter = max_iter
        self.optimize_alpha = optimize_alpha
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> LDA:
        """Fit topics to whole counts, documents x words, or a Corpus."""
        tomotopy = tomotopy_for("LDA")
        counts = whole_counts(self, X, reset=True)
        if self.n_topics < 1:  # tomotopy would end the process
            raise ValueError(f"n_topics={self.n_topics!r}: expected a whole number, at least 1")
        check_size(counts, self.n_topics)
        seed = sampler_seed(self.random_state)
        sampler = tomotopy.LDAModel(k=self.n_topics, alpha=self.alpha, eta=self.eta, seed=seed)
        sampler.optim_interval = 10 if self.optimize_alpha else 0
        add_documents(sampler, counts)
        sample(sampler, self.max_iter)
        self.alpha_ = np.broadcast_to(np.asarray(sampler.alpha, dtype=np.float64), (self.n_topics,)).copy()
        self.topic_word_ = node_words(sampler, range(self.n_topics), counts.shape[1])
        self.doc_topic_ = fold_in_with_prior(counts, self.topic_word_, self.alpha_, self.n_jobs)
        self.labels_ = self.doc_topic_.argmax(axis=1)
        self.word_frequency_ = counts.sum(axis=0)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return P(z|d) of the training documents."""
        return self.fit(X, y).doc_topic_

    def transform(self, X: Any) -> np.ndarray:
        """P(z|d) of new documents, one row each, whatever else is in the batch."""
        check_is_fitted(self)
        counts = whole_counts(self, X, reset=False)
        return fold_in_with_prior(counts, self.topic_word_, self.alpha_, self.n_jobs)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood a token by document completion: half of each document is seen, the rest is scored."""
        check_is_fitted(self)
        seen, held_out = split_tokens(whole_counts(self, X, reset=False))
        doc_topic = fold_in_with_prior(seen, self.topic_word_, self.alpha_, self.n_jobs)
        return completion_log_likelihood(held_out, doc_topic, self.topic_word_, self.word_frequency_)

    @property
    def components_(self) -> np.ndarray:
        """P(w|z), by scikit-learn's name."""
        return self.topic_word_

    @property
    def _n_features_out(self) -> int:
        return len(self.topic_word_)

    def __sklearn_tags__(self) -> Any:
        return count_tags(super().__sklearn_tags__())
