"""LDA (Blei, Ng and Jordan 2003) fitted by tomotopy's collapsed Gibbs sampler; our own LDA is in models/lda.

The sampler gives the topics and the prior alpha; P(z|d), of training and new documents alike, is then found with the
topics fixed, as the mode of log P(d|theta) + sum_z alpha_z log theta_z. This is concave, so it needs no random numbers
and a document's answer depends on nothing but its words; a state of the sampler would be one noisy draw.
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
from .sampling import add_documents, node_words, sample, sampler_seed, tomotopy_for, whole_counts

__all__ = ["GibbsLDA"]


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


class GibbsLDA(FlatTopicModel):
    """Latent Dirichlet allocation by tomotopy's Gibbs sampler.

    Parameters
    ----------
    n_topics : number of topics.
    alpha, eta : priors of P(z|d) and P(w|z). Where `optimize_alpha`, alpha is only the start, one value for all topics.
    max_iter : sweeps over all tokens.
    optimize_alpha : fit one alpha per topic to the data, every ten sweeps.
    random_state, n_jobs : as in scikit-learn; n_jobs is for new documents, the sampler runs on one thread.

    Attributes
    ----------
    topic_word_, doc_topic_ : P(w|z), and P(z|d) of the training documents.
    labels_ : the largest topic of each training document.
    alpha_ : the prior of P(z|d), one value per topic.
    word_frequency_, document_ids_ : tokens of each word, and ids, in training.
    """

    _endings = ("sampling finished", "sampling finished")

    def __init__(
        self,
        n_topics: int = 20,
        *,
        alpha: float = 0.1,
        eta: float = 0.01,
        max_iter: int = 1000,
        optimize_alpha: bool = True,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.eta = eta
        self.max_iter = max_iter
        self.optimize_alpha = optimize_alpha
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Raise a ValueError that names a parameter which the model cannot use."""
        check_whole("n_topics", self.n_topics)  # tomotopy would end the process

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Fit topics to whole counts, documents x words, or a Corpus."""
        tomotopy = tomotopy_for("GibbsLDA")
        counts = whole_counts(self, X, reset=True)
        self.check_parameters()
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
        self.topic_weight_ = self.doc_topic_.mean(axis=0)
        self._keep_run(Run([], True, True))
        self.n_iter_ = self.max_iter
        return self

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit, and return P(z|d) of the training documents."""
        return self.fit(X, y).doc_topic_

    def transform(self, X: CountsLike) -> np.ndarray:
        """P(z|d) of new documents, one row each, whatever else is in the batch."""
        check_is_fitted(self)
        counts = whole_counts(self, X, reset=False)
        return fold_in_with_prior(counts, self.topic_word_, self.alpha_, self.n_jobs)

    def score(self, X: CountsLike, y: Any = None) -> float:
        """Mean log-likelihood per token by document completion: half of each document is seen, the rest is scored."""
        check_is_fitted(self)
        return self._completion(X, lambda seen: fold_in_with_prior(seen, self.topic_word_, self.alpha_, self.n_jobs))

    def _prepare(self) -> None:
        """Nothing to prepare."""
