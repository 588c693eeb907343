"""Label propagation on the graphs that the models use: the baseline for few labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..corpus.weighting import inverse_document_frequency
from ..errors import InputError
from ..graph.build import knn_graph
from ..graph.check import GraphLike, check_graph, check_neighbors
from ..graph.label_spreading import propagated_classes
from ..graph.neighbors import document_vectors, nearest
from ..graph.partial_labels import accuracy_of_known, class_codes
from ..models.inputs import CountsLike, CountsMixin

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import ArrayLike

__all__ = ["LabelPropagation"]


class LabelPropagation(CountsMixin, ClassifierMixin, BaseEstimator):
    """Label propagation: labels spread over a graph of documents (local and global consistency).

    Each class is weighted so that its sum over the documents is its share of the labels (class mass normalisation).
    Documents that no label reaches get the most frequent class.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbours per document in the graph that is built if `fit` gets none.
    metric : str, default='cosine'
        Similarity for that graph; see `knn_graph`.
    neighbor_weight : float, default=0.99
        Weight of the neighbours of a document, from 0 to below 1. The rest is the weight of its own label.
    n_jobs : int or None, default=None
        Number of threads for the search of neighbours. None means 1, and -1 uses all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    graph_ : csr_array of shape (n_documents, n_documents)
        The graph.
    scores_ : ndarray of shape (n_documents, n_classes)
        Scores that reached each training document, weighted by class.
    transduction_ : ndarray of shape (n_documents,)
        The class of each training document, labelled or not.

    See Also
    --------
    topicfold.TopicClassifier : A classifier on the topics of a model.
    topicfold.DTM : Topics from a graph and a few labels.

    References
    ----------
    Zhou, D., Bousquet, O., Lal, T. N., Weston, J. and Schölkopf, B. (2003). Learning with local and global consistency.
    NIPS.

    Zhu, X., Ghahramani, Z. and Lafferty, J. (2003). Semi-supervised learning using Gaussian fields and harmonic
    functions. ICML.

    Examples
    --------
    >>> from topicfold.baselines import LabelPropagation
    >>> counts = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]]
    >>> LabelPropagation(n_neighbors=1).fit(counts, ["a", None, "b", None]).transduction_.tolist()
    ['a', 'a', 'b', 'b']
    """

    def __init__(
        self, n_neighbors: int = 10, *, metric: str = "cosine", neighbor_weight: float = 0.99, n_jobs: int | None = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.neighbor_weight = neighbor_weight
        self.n_jobs = n_jobs

    def fit(
        self, X: CountsLike, y: ArrayLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> Self:
        """Spread labels over the graph.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : array-like of shape (n_documents,)
            Labels. None, '', NaN and -1 mean that a document has none.
        graph : array or sparse matrix of shape (n_documents, n_documents), default=None
            Symmetric matrix of non-negative edge weights. None connects nearest neighbours.
        embeddings : array of shape (n_documents, n_dimensions), default=None
            Vectors by which to find nearest neighbours. None finds them by words.

        Returns
        -------
        object
            The estimator itself, fitted.

        Raises
        ------
        InputError
            If X, the labels, the graph or `neighbor_weight` cannot be used.
        """
        if not 0 <= self.neighbor_weight < 1:
            raise InputError(f"neighbor_weight={self.neighbor_weight!r}: expected a number from 0 to below 1")
        counts = self._fit_counts(X, np.float64)
        n_documents = counts.shape[0]
        self.classes_, codes = class_codes(y, n_documents)
        self.idf_ = inverse_document_frequency(counts)
        self.neighbors_from_ = _neighbors_from(graph, embeddings)
        if graph is not None:
            self.vectors_ = None
            self.graph_ = check_graph(graph, n_documents)
        else:
            self.vectors_ = self._vectors(counts, embeddings)
            self.graph_ = knn_graph(
                self.vectors_, self.n_neighbors, metric=self.metric, weighting=None, n_jobs=self.n_jobs
            )
        self.scores_ = propagated_classes(self.graph_, codes, len(self.classes_), self.neighbor_weight)
        self.majority_ = int(np.bincount(codes[codes >= 0]).argmax())
        self.transduction_ = self._classes(self.scores_)
        return self

    def predict(
        self, X: CountsLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> np.ndarray:
        """Predict the class of new documents, by the mean scores of the training documents nearest to each.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        graph : array or sparse matrix of shape (n_documents, n_training_documents), default=None
            Edges from these documents to the training documents. Needed if the model was fitted on a graph.
        embeddings : array of shape (n_documents, n_dimensions), default=None
            Vectors of these documents. Needed if the model was fitted on embeddings.

        Returns
        -------
        ndarray of shape (n_documents,)
            The classes.

        Raises
        ------
        InputError
            If X does not match the fit, or neighbours are given in another way than for the fit.
        """
        check_is_fitted(self)
        neighbors_from = _neighbors_from(graph, embeddings)
        if neighbors_from != self.neighbors_from_:
            raise InputError(f"fitted by {self.neighbors_from_}: cannot predict by {neighbors_from}")
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
        """Compute the accuracy over the documents that have a label.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : array-like of shape (n_documents,)
            True labels. None, '', NaN and -1 mean that a document has none.
        graph : array or sparse matrix of shape (n_documents, n_training_documents), default=None
            Edges from these documents to the training documents. Needed if the model was fitted on a graph.
        embeddings : array of shape (n_documents, n_dimensions), default=None
            Vectors of these documents. Needed if the model was fitted on embeddings.

        Returns
        -------
        float
            The fraction of labelled documents whose class is predicted.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        return accuracy_of_known(self.predict(X, graph=graph, embeddings=embeddings), y)

    def _vectors(self, counts: sp.csr_array, embeddings: ArrayLike | None) -> Any:
        if embeddings is None:
            return document_vectors(counts, self.metric, self.idf_)
        vectors = np.asarray(embeddings, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != counts.shape[0]:
            raise InputError(f"embeddings of shape {vectors.shape}: expected one row per document ({counts.shape[0]})")
        return vectors

    def _classes(self, scores: np.ndarray) -> np.ndarray:
        reached = scores.sum(axis=1) > 0
        return self.classes_[np.where(reached, scores.argmax(axis=1), self.majority_)]


def _neighbors_from(graph: GraphLike | None, embeddings: ArrayLike | None) -> str:
    return "graph" if graph is not None else "words" if embeddings is None else "embeddings"
