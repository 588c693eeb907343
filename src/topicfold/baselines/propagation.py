"""Label propagation on the graphs the models use: the baseline for few labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..corpus.weighting import inverse_document_frequency
from ..engine.blocks import single_threaded_libraries
from ..graph.build import knn_graph
from ..graph.check import GraphLike, check_graph, check_neighbors
from ..graph.neighbors import document_vectors, nearest
from ..graph.partial_labels import accuracy_of_known, class_codes
from ..models.inputs import CountsLike, CountsMixin

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["LabelPropagation", "spread"]


def spread(graph: sp.csr_array, start: np.ndarray, alpha: float) -> np.ndarray:
    """F = (1 - alpha) (I - alpha S)^-1 start, with S = D^-1/2 W D^-1/2; zero where no start value reaches."""
    from scipy.sparse.linalg import cg

    degree = graph.sum(axis=1)
    scale = sp.diags_array(np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0))
    system = sp.csr_array(sp.eye_array(graph.shape[0]) - alpha * (scale @ graph @ scale))
    with single_threaded_libraries():
        columns = [cg(system, (1 - alpha) * column, rtol=1e-8)[0] for column in start.T]
    return np.stack(columns, axis=1)


class LabelPropagation(CountsMixin, ClassifierMixin, BaseEstimator):
    """Local and global consistency (Zhou et al. 2004): labels spread over the graph of documents.

    Each class is then weighted so that its sum over the documents is its share of the labels (class mass normalisation,
    Zhu et al. 2003). Documents that no label reaches have the most frequent class of the labels.

    Parameters
    ----------
    n_neighbors, metric : of the graph, as in `knn_graph`; not used when a graph is given.
    alpha : how much a document listens to its neighbours, below 1; the rest is its own label.

    Labels are as in `TopicClassifier`: None, '', NaN and -1 are no label.

    Attributes
    ----------
    classes_ : the classes, sorted. graph_ : the graph. scores_ : documents x classes, F by class mass.
    transduction_ : the class of each training document, labelled or not.
    """

    def __init__(
        self, n_neighbors: int = 10, *, metric: str = "cosine", alpha: float = 0.99, n_jobs: int | None = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.alpha = alpha
        self.n_jobs = n_jobs

    def fit(
        self, X: CountsLike, y: ArrayLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> Self:
        """Spread the labels of y over `graph`, the nearest neighbours by `embeddings`, or those by the words of X."""
        if not 0 <= self.alpha < 1:
            raise ValueError(f"alpha={self.alpha!r}: expected a number from 0 to below 1")
        counts = self._fit_counts(X, np.float64)
        n_documents = counts.shape[0]
        self.classes_, codes = class_codes(y, n_documents)
        self.idf_ = inverse_document_frequency(counts)
        self.neighbors_from_ = "graph" if graph is not None else "words" if embeddings is None else "embeddings"
        if graph is not None:
            self.vectors_ = None
            self.graph_ = check_graph(graph, n_documents)
        else:
            self.vectors_ = self._vectors(counts, embeddings)
            self.graph_ = knn_graph(
                self.vectors_, self.n_neighbors, metric=self.metric, weighting=None, n_jobs=self.n_jobs
            )
        start = np.equal.outer(codes, np.arange(len(self.classes_))).astype(np.float64)
        reached = spread(self.graph_, start, self.alpha)
        self.scores_ = reached * start.sum(axis=0) / start.sum() / reached.sum(axis=0)
        self.majority_ = int(start.sum(axis=0).argmax())
        self.transduction_ = self._classes(self.scores_)
        return self

    def predict(
        self, X: CountsLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> np.ndarray:
        """The class of new documents, by the mean scores of the training documents nearest to each.

        A model fitted on a graph needs `graph` (new x training documents) here, one on embeddings `embeddings`.
        """
        check_is_fitted(self)
        given = "graph" if graph is not None else "words" if embeddings is None else "embeddings"
        if given != self.neighbors_from_:
            raise ValueError(f"fitted by {self.neighbors_from_}: cannot predict by {given}")
        counts = self.word_counts(X, np.float64)
        if graph is not None:
            near = check_neighbors(graph, counts.shape[0], len(self.scores_))
        else:
            vectors = self._vectors(counts, embeddings)
            near = nearest(vectors, self.vectors_, self.n_neighbors, metric=self.metric, n_jobs=self.n_jobs)
            near.data[:] = 1
        return self._classes(near @ self.scores_)

    def score(
        self, X: CountsLike, y: ArrayLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> float:
        """The share of documents put in their class, of those that have a label."""
        return accuracy_of_known(self.predict(X, graph=graph, embeddings=embeddings), y)

    def _vectors(self, counts: sp.csr_array, embeddings: ArrayLike | None) -> Any:
        if embeddings is None:
            return document_vectors(counts, self.metric, self.idf_)
        vectors = np.asarray(embeddings, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != counts.shape[0]:
            raise ValueError(f"embeddings of shape {vectors.shape}: expected one row per document ({counts.shape[0]})")
        return vectors

    def _classes(self, scores: np.ndarray) -> np.ndarray:
        found = scores.sum(axis=1) > 0
        return self.classes_[np.where(found, scores.argmax(axis=1), self.majority_)]
