"""What the baselines share: the public methods of those with P(w|z), and the tf-idf of the training documents."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

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
    """Base class of the baselines with P(w|z). A concrete class learns the topics and folds documents in."""

    labels_: np.ndarray

    @abstractmethod
    def _learn(self, counts: sp.csr_array) -> Ending:
        """Learn the topics: sets `topic_word_`, `doc_topic_`, `topic_weight_` and what `_fold_in` needs."""

    def _fit(self, X: CountsLike, y: Any) -> None:
        counts = self._fit_counts(X, np.float64)
        self.word_frequency_ = counts.sum(axis=0)
        ending = self._learn(counts)
        self.labels_ = self.doc_topic_.argmax(axis=1)
        self._keep_run(Run([], ending.converged, True))
        self.n_iter_ = ending.n_iter


class _OnTfidf(Protocol):
    """A baseline that works on tf-idf."""

    n_topics: int
    idf_: np.ndarray


def training_tfidf(model: _OnTfidf, counts: sp.csr_array) -> sp.csr_array:
    """tf-idf of the training documents; the model remembers the idf, for new documents."""
    check_size(counts, model.n_topics)
    model.idf_ = inverse_document_frequency(counts)
    return tfidf(counts, model.idf_)
