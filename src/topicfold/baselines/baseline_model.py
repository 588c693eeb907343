"""What the baselines share: the public methods of those with P(w|z), and the tf-idf of the training documents."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ..corpus.weighting import inverse_document_frequency, tfidf
from ..engine.loop import Run
from ..models.em.plsa_kernels import check_size
from ..models.estimator import FlatTopicModel
from ..models.inputs import CountsLike

__all__ = ["BaselineModel", "Ending", "training_tfidf"]


class Ending(NamedTuple):
    """How a fit ended."""

    n_iter: int
    converged: bool


class BaselineModel(FlatTopicModel):
    """Base class of the baselines with P(w|z). A concrete class learns the topics, and folds documents in."""

    labels_: np.ndarray

    @abstractmethod
    def _learn(self, counts: sp.csr_array) -> Ending:
        """Learn the topics: sets `topic_word_`, `doc_topic_`, `topic_weight_` and what `_fold_in` needs."""

    @abstractmethod
    def _fold_in(self, counts: sp.csr_array) -> np.ndarray:
        """P(z|d) of documents, each by itself."""

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
        ImportError
            If the model needs tomotopy (the extra topicfold[lda]) and it is not installed.
        """
        self.check_parameters()
        counts = self._fit_counts(X, np.float64)
        self.word_frequency_ = counts.sum(axis=0)
        ending = self._learn(counts)
        self.labels_ = self.doc_topic_.argmax(axis=1)
        self._keep_run(Run([], ending.converged, True))
        self.n_iter_ = ending.n_iter
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
        return self._fold_in(self.word_counts(X, np.float64))

    def predict(self, X: CountsLike) -> np.ndarray:
        """Predict the largest topic of each document.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents,)
            Row of the topic in `topic_word_`.
        """
        return self.document_topics(X).argmax(axis=1)

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
        return self._completion(X, self._fold_in)

    def _prepare(self) -> None:
        """Nothing to prepare."""


class _OnTfidf(Protocol):
    """A baseline that works on tf-idf."""

    n_topics: int
    idf_: np.ndarray


def training_tfidf(model: _OnTfidf, counts: sp.csr_array) -> sp.csr_array:
    """tf-idf of the training documents; the model remembers the idf, for new documents."""
    check_size(counts, model.n_topics)
    model.idf_ = inverse_document_frequency(counts)
    return tfidf(counts, model.idf_)
