"""What LapPLSI, LTM and DTM share: documents that have neighbours in addition to their words.

A fit uses counts and a graph: a given one, or nearest neighbours by embeddings or tf-idf, plus edges of labels. New
documents are not in the graph. They are drawn to their neighbours among the training documents, whose P(z|d) is fixed,
so that one new document does not depend on another.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ...corpus.weighting import inverse_document_frequency
from ...engine.arrays import normalise_rows
from ...engine.blocks import single_threaded_libraries
from ...engine.checks import check_number, check_whole
from ...engine.loop import State, hold_interrupts, iterate
from ...engine.stored import Stored
from ...engine.warn import warn_user
from ...errors import InputError
from ...graph.build import label_graph
from ...graph.check import GraphLike, check_graph, check_neighbors, label_codes
from ...graph.neighbors import NeighborIndex, check_metric, document_vectors, nearest
from ..em.fold_in_toward import fold_in_near
from ..em.leave_one_out import DocumentPrior, LeaveOneOutStep, document_prior, fold_in_counts
from ..em.plsa_kernels import SeedCounts, check_size, fold_in
from ..em.starts import STARTS, check_init
from ..estimator import EMTopicModel
from ..inputs import CountsLike, seen_words
from .graph_data import (
    STORED,
    GraphData,
    GraphSource,
    Vectors,
    check_embeddings,
    check_neighbor_vectors,
    connected,
    expected_state,
    warn_if_one_topic_dominates,
    without_tokens,
)
from .graph_tables import mean_row, scaled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["GraphInit", "GraphTopicModel", "Metric", "Step", "Weight"]

Metric: TypeAlias = Literal["cosine", "euclidean", "intersection"]
GraphInit: TypeAlias = "Literal['auto', 'nmf', 'kmeans', 'spectral', 'random'] | ArrayLike"
Step: TypeAlias = Callable[[State], float | tuple[float, bool]]


class Weight(NamedTuple):
    """The weight of the graph, the path of the search for it, and whether Ctrl-C ended that search early."""

    value: float
    path: np.ndarray
    cut_short: bool


class GraphTopicModel(EMTopicModel):
    """Base class of the models with a graph of documents.

    Attributes
    ----------
    graph_ : sparse array of shape (n_documents, n_documents), or None
        The graph of the training documents, without the edges that labels add.
    """

    _monotone: ClassVar[bool] = True  # whether no step lowers the objective
    _squared_distances: ClassVar[bool] = False  # how new documents are drawn to their neighbours
    _uses_weight: ClassVar[bool] = True  # whether a weight balances the graph against the words
    _leaves_out: ClassVar[bool] = True  # whether the fit, with a prior, leaves each token out in turn

    _stored = STORED
    _state: ClassVar[Mapping[str, Stored]] = {}  # what the model has in a checkpoint in addition to its tables

    n_neighbors: int
    metric: Metric
    alpha: float
    beta: float
    init: GraphInit
    store_neighbors: bool

    neighbor_vectors_: Vectors | None
    neighbor_idf_: np.ndarray | None
    _neighbor_index: NeighborIndex | None
    neighbors_by_: Literal["embeddings", "words"] | None  # how new documents find neighbours, if they do

    # ---- what differs between the models ----------------------------------------------------------------------------

    @abstractmethod
    def _check_own_parameters(self) -> None:
        """Raise if a parameter of this model is invalid."""

    @abstractmethod
    def _focus(self) -> float:
        """Strength of a document's main topic in leave-one-out EM, in tokens."""

    @abstractmethod
    def _needs_graph(self) -> bool:
        """Whether the fit uses the graph; without one the model is PLSA."""

    @abstractmethod
    def _begin(self, data: GraphData) -> State:
        """P(z|d) and P(w|z) to start from."""

    @abstractmethod
    def _weight(self, data: GraphData, seed_counts: SeedCounts) -> Weight:
        """The weight of the graph in the fit."""

    @abstractmethod
    def _step(self, data: GraphData, seed_counts: SeedCounts, weight: float) -> Step:
        """A function that updates the state and returns the objective before the step."""

    @abstractmethod
    def _keep_own(self, data: GraphData, state: State) -> None:
        """Keep what the model learned in addition to its topics."""

    @abstractmethod
    def _weight_of_new(self) -> float:
        """How strongly new documents are drawn to their neighbours."""

    def check_parameters(self) -> None:
        """Check the parameters of the model; `fit` does so first.

        Raises
        ------
        InputError
            If the model cannot use a parameter. The message names it and what was expected.
        """
        self._check_own_parameters()
        self._check_common_parameters()
        check_number("alpha", self.alpha)
        check_number("beta", self.beta)
        check_whole("n_neighbors", self.n_neighbors)
        check_metric(self.metric)
        check_init(self.init, (*STARTS, "spectral"))

    # ---- for users --------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: CountsLike,
        y: ArrayLike | None = None,
        *,
        graph: GraphLike | None = None,
        embeddings: ArrayLike | None = None,
    ) -> Self:
        """Fit topics to documents and a graph of the documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : array-like of shape (n_documents,), default=None
            Labels of the documents; -1, None, NaN or '' means unknown. Documents with the same label are connected, and
            edges between documents with different labels are removed.
        graph : array or sparse matrix of shape (n_documents, n_documents), default=None
            Symmetric matrix of non-negative edge weights. None connects nearest neighbours.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents. They determine the nearest neighbours and the start.

        Returns
        -------
        object
            The model itself, fitted.

        Raises
        ------
        InputError
            If a parameter, X, the graph or the embeddings cannot be used, for example if the graph is not symmetric.
        """
        self.check_parameters()
        data = self._gather(X, y, graph, embeddings)
        with single_threaded_libraries():  # once for all steps: the search for libraries takes as long as a step
            self._run(data)
        return self

    def fit_transform(
        self,
        X: CountsLike,
        y: ArrayLike | None = None,
        *,
        graph: GraphLike | None = None,
        embeddings: ArrayLike | None = None,
    ) -> np.ndarray:
        """Fit the model and return P(z|d) of the training documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : array-like of shape (n_documents,), default=None
            Labels of the documents; -1, None, NaN or '' means unknown. Documents with the same label are connected, and
            edges between documents with different labels are removed.
        graph : array or sparse matrix of shape (n_documents, n_documents), default=None
            Symmetric matrix of non-negative edge weights. None connects nearest neighbours.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents. They determine the nearest neighbours and the start.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            The share of each topic, one row per document.
        """
        return self.fit(X, y, graph=graph, embeddings=embeddings).doc_topic_

    def fit_predict(
        self,
        X: CountsLike,
        y: ArrayLike | None = None,
        *,
        graph: GraphLike | None = None,
        embeddings: ArrayLike | None = None,
    ) -> np.ndarray:
        """Fit the model and return the largest topic of each training document.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : array-like of shape (n_documents,), default=None
            Labels of the documents; -1, None, NaN or '' means unknown. Documents with the same label are connected, and
            edges between documents with different labels are removed.
        graph : array or sparse matrix of shape (n_documents, n_documents), default=None
            Symmetric matrix of non-negative edge weights. None connects nearest neighbours.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents. They determine the nearest neighbours and the start.

        Returns
        -------
        ndarray of shape (n_documents,)
            Row of the topic in `topic_word_`.
        """
        return self.fit(X, y, graph=graph, embeddings=embeddings).doc_topic_.argmax(axis=1)

    def transform(
        self, X: CountsLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> np.ndarray:
        """Infer P(z|d) of new documents.

        The topics of a document are drawn towards those of its neighbours among the training documents. With
        store_neighbors=False, or if the model was fitted on embeddings and none are given, only its words are used.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        graph : array or sparse matrix of shape (n_documents, n_training_documents), default=None
            Edge weights between these documents and the training documents. None connects nearest neighbours, by
            embeddings if the model was fitted on embeddings, otherwise by words.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents, if the model was fitted on embeddings.

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
        counts = seen_words(self.word_counts(X, self.topic_word_.dtype), self.word_frequency_)
        return self._fold_in(counts, graph, embeddings)

    def predict(
        self, X: CountsLike, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> np.ndarray:
        """Predict the largest topic of each document.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        graph : array or sparse matrix of shape (n_documents, n_training_documents), default=None
            Edge weights between these documents and the training documents. None connects nearest neighbours, by
            embeddings if the model was fitted on embeddings, otherwise by words.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents, if the model was fitted on embeddings.

        Returns
        -------
        ndarray of shape (n_documents,)
            Row of the topic in `topic_word_`.
        """
        return np.asarray(self.transform(X, graph=graph, embeddings=embeddings)).argmax(axis=1)

    def score(
        self, X: CountsLike, y: Any = None, *, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> float:
        """Compute the mean log-likelihood per token by document completion.

        The topics of each document are inferred from half of its tokens, drawn at random; the other half is scored.
        Neighbours by words are found with the first half. A `graph` or `embeddings` made from whole documents contain
        information on the tokens to be predicted: make them from the first half that `metrics.split_tokens` returns.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.
        graph : array or sparse matrix of shape (n_documents, n_training_documents), default=None
            Edge weights between these documents and the training documents. None connects nearest neighbours.
        embeddings : array-like of shape (n_documents, n_features), default=None
            Vectors of the documents, if the model was fitted on embeddings.

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
        by_words = graph is None and embeddings is None
        return self._completion(X, lambda seen: self._fold_in(seen, graph, embeddings), in_blocks=by_words)

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def _gather(
        self, X: CountsLike, y: ArrayLike | None, graph: GraphLike | None, embeddings: ArrayLike | None
    ) -> GraphData:
        """Check the arguments of `fit`, make the graph if none is given, and keep what new documents will need."""
        counts = self._fit_counts(X, np.dtype(self.dtype))
        check_size(counts, self.n_topics)
        n_documents = counts.shape[0]
        labels = None if y is None else label_codes(y, n_documents)
        given = None if graph is None else check_graph(graph, n_documents)
        vectors: Vectors | None = None if embeddings is None else check_embeddings(embeddings, n_documents)
        self.graph_ = self.neighbor_vectors_ = self.neighbor_idf_ = self.neighbors_by_ = None
        if not self._needs_graph():
            return GraphData(counts, None, None, None)
        source: GraphSource = "embeddings" if vectors is not None else "words" if given is None else "graph"
        if vectors is None:
            vectors = document_vectors(counts, self.metric)
        if given is None:
            given = self._nearest_graph(vectors, source)
        self.graph_ = given  # not the edges that labels add: documents of a class would form a ring on a map
        labelled = labels is not None and (labels >= 0).any()
        joined = label_graph(given, labels) if labelled else given
        if self.store_neighbors:
            # New documents find neighbours by words even if a graph was given: with none they would do worse than PLSA.
            self.neighbors_by_ = "embeddings" if source == "embeddings" else "words"
            self.neighbor_vectors_ = vectors
            self.neighbor_idf_ = None if source == "embeddings" else inverse_document_frequency(counts)
        return GraphData(counts, joined, vectors, labels, source, given)

    def _nearest_graph(self, vectors: Vectors, source: GraphSource) -> sp.csr_array:
        metric = self._metric_of(source)
        return connected(nearest(vectors, vectors, self.n_neighbors, metric=metric, skip_self=True, n_jobs=self.n_jobs))

    def _metric_of(self, source: str) -> Metric:
        return "cosine" if source == "embeddings" and self.metric == "intersection" else self.metric

    def _run(self, data: GraphData) -> None:
        """Run the fit from start to end and keep the result."""
        counts, seed_counts = data.counts, self._seed_counts(data.counts)
        expected = expected_state(self._state, self._sizes(counts), getattr(self, "graph_weight", 0.0))
        checkpoint, resumed = self._open_checkpoint(expected, counts, *([] if data.graph is None else [data.graph]))
        cut_short = False
        if resumed is not None:
            state, history = resumed[0], resumed[1]["history"]
            data = self._without_graph(data, float(state["weight"]))
        else:
            weight, path, cut_short = self._weight(data, seed_counts)
            data = self._without_graph(data, weight)
            state, history = self._begin(data), []
            state |= {"weight": np.array(weight, np.float64), "weight_path": path}
        run = iterate(
            self._step(data, seed_counts, float(state["weight"])),
            state,
            max_iter=1 if cut_short else self.max_iter,
            tol=self.tol,
            title=type(self).__name__,
            verbose=self.verbose,
            checkpoint=checkpoint,
            history=history,
            monotone=self.alpha == 0 and (self._monotone or data.graph is None),
        )
        finished = run.finished and not cut_short
        with hold_interrupts():
            self._keep_topics(counts, state)
            self._keep_run(run._replace(finished=finished))
            self.doc_topic_ = self._final(data, state)
            self._keep_documents(counts, self.doc_topic_)
            if self.graph_ is not None:
                warn_if_one_topic_dominates(self.doc_topic_, float(state["weight"]))
        if checkpoint is not None and finished:
            checkpoint.remove()
        self._keep_own(data, state)
        self._prepare()

    def _without_graph(self, data: GraphData, weight: float) -> GraphData:
        """The data of the fit, without the graph if its chosen weight is 0."""
        if weight > 0 or not self._uses_weight or data.graph is None:
            return data
        self.graph_ = None
        return data._replace(graph=None)

    def _check_learned(self) -> None:
        check_neighbor_vectors(self.neighbors_by_, self.neighbor_vectors_, self.neighbor_idf_, self.n_features_in_)

    def _prepare(self) -> None:
        by, vectors = self.neighbors_by_, self.neighbor_vectors_
        self._neighbor_index = None if by is None else NeighborIndex(vectors, self._metric_of(by))

    def _final(self, data: GraphData, state: State) -> np.ndarray:
        if data.graph is None:
            doc_topic = state["doc_topic"][:, : self.n_topics]
            return self._fold_in_among(data.counts, self.topic_word_, self.topic_weight_, None, doc_topic, 0.0)
        doc_topic = normalise_rows(state["doc_topic"][:, : self.n_topics])
        doc_topic[without_tokens(data)] = self.topic_weight_
        return doc_topic

    def _leave_one_out(
        self, step: LeaveOneOutStep, state: State, scale: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """A leave-one-out step from the pseudo-counts P(z|d) * scale; P(z|d) itself does not change.

        Returns the log-likelihood, a padded table of n + focus r, and alpha m.
        """
        if "topic_share" not in state:
            state["topic_share"] = mean_row(state["doc_topic"], self.n_topics, scale)
        counts, prior = scaled(state["doc_topic"], scale), self._document_prior(state["topic_share"])
        log_likelihood, tokens = step(counts, state["word_topic"], prior, holds_prior=True)
        state["topic_share"] = tokens / max(tokens.sum(), 1e-300)
        return log_likelihood, counts, self.alpha * state["topic_share"]

    def _document_prior(self, topic_share: np.ndarray) -> DocumentPrior:
        return document_prior(self.alpha, topic_share, self._focus())

    # ---- new documents ----------------------------------------------------------------------------------------------

    def _fold_in(self, counts: sp.csr_array, graph: GraphLike | None, embeddings: ArrayLike | None) -> np.ndarray:
        weight, topics = self._weight_of_new(), (self.topic_word_, self.topic_weight_)
        neighbors = None if weight == 0 else self._neighbors_of(counts, graph, embeddings)
        return self._fold_in_among(counts, *topics, neighbors, self.doc_topic_, weight)

    def _fold_in_among(
        self,
        counts: sp.csr_array,
        topic_word: np.ndarray,
        topic_weight: np.ndarray,
        neighbors: sp.csr_array | None,
        doc_topic: np.ndarray,
        weight: float,
    ) -> np.ndarray:
        """P(z|d) of new documents with these topics, drawn to their neighbours (new x training) and their doc_topic."""
        if self.alpha > 0 and (neighbors is None or self._leaves_out):
            # each token is left out in turn; neighbours are pseudo-counts, like the prior, or are applied to the result
            pull = None
            if neighbors is not None and not self._squared_distances:
                pull = weight * (neighbors @ doc_topic.astype(np.float64))
            prior = self._document_prior(topic_weight)
            found = fold_in_counts(counts, topic_word, prior, self.n_jobs, pull=pull, with_prior=True)
            if neighbors is None or pull is not None:
                return normalise_rows(found, out=found)
            own: float | np.ndarray = found.astype(np.float64)
            counts = sp.csr_array(counts.shape, dtype=counts.dtype)  # the words have been used
        elif neighbors is None:
            return fold_in(counts, topic_word, topic_weight, n_jobs=self.n_jobs)
        else:
            own = self.alpha
        near = (neighbors, doc_topic, weight)
        squared, n_jobs = self._squared_distances, self.n_jobs
        return fold_in_near(counts, topic_word, topic_weight, *near, prior=own, squared=squared, n_jobs=n_jobs)

    def _neighbors_of(
        self, counts: sp.csr_array, graph: GraphLike | None, embeddings: ArrayLike | None
    ) -> sp.csr_array | None:
        """The neighbours of new documents in training (new x training), or None if only their words are used.

        `counts` are the visible words of the new documents; `graph` (new x training) and `embeddings` may be given.
        """
        name, n_new, by = type(self).__name__, counts.shape[0], self.neighbors_by_
        if graph is not None:
            return check_neighbors(graph, n_new, len(self.doc_topic_))
        if embeddings is not None and by != "embeddings":
            kept = "keeps no neighbours (store_neighbors=False)" if by is None else "was fitted without embeddings"
            raise InputError(f"this {name} {kept}: new documents need no embeddings")
        if by is None or self.neighbor_vectors_ is None or self._neighbor_index is None:
            return None
        if by == "embeddings":
            if embeddings is None:
                warn_user(
                    f"this {name} was fitted on embeddings, but the new documents have none: their topics are "
                    "inferred from their words alone"
                )
                return None
            vectors: Vectors = check_embeddings(embeddings, n_new, self.neighbor_vectors_.shape[1])
        else:
            vectors = document_vectors(counts, self.metric, idf=self.neighbor_idf_)
        near = self._neighbor_index.nearest(vectors, self.n_neighbors, n_jobs=self.n_jobs)
        near.data = np.ones(near.nnz)
        return near
