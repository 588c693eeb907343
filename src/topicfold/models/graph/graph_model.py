"""What LapPLSI, LTM and DTM share: documents that have neighbours in addition to their words.

A fit uses counts and a graph: a given one, or nearest neighbours by embeddings or tf-idf, plus edges of labels. New
documents are not in the graph. They are drawn to their neighbours among the training documents, whose P(z|d) is fixed,
so that one new document does not depend on another.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
import scipy.sparse as sp

from ...corpus.weighting import inverse_document_frequency
from ...corpus.word_vectors import english_vectors, text_vectors
from ...engine.arrays import normalise_rows
from ...engine.checks import check_choice, check_number, check_whole
from ...engine.loop import Run, State
from ...engine.stored import Stored
from ...engine.warn import warn_user
from ...errors import InputError
from ...graph.build import LSI, knn_graph, label_graph
from ...graph.check import GraphLike, check_graph, check_neighbors, label_codes
from ...graph.neighbors import METRICS, NeighborIndex, document_vectors, nearest
from ..em.em_model import EMTopicModel
from ..em.fold_in import fold_in, fold_in_near
from ..em.leave_one_out import DocumentPrior, LeaveOneOutStep, document_prior, fold_in_counts
from ..em.plsa_kernels import SeedCounts
from ..em.starts import STARTS, check_init
from ..fit_loop import Fit, Stage, Step, run_fit
from ..inputs import CountsLike, RandomStateLike
from .graph_data import (
    STORED,
    GraphData,
    GraphSource,
    Vectors,
    check_embeddings,
    check_neighbor_vectors,
    connected,
    state_arrays,
    warn_if_one_topic_dominates,
    without_tokens,
)
from .graph_tables import mean_row, scaled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["WORD_VECTORS", "GraphInit", "GraphTopicModel", "Metric", "Weight"]

Metric: TypeAlias = Literal["cosine", "euclidean", "intersection", "lsi", "word_vectors"]
WORD_VECTORS: Literal["word_vectors"] = "word_vectors"
GraphInit: TypeAlias = "Literal['auto', 'nmf', 'kmeans', 'spectral', 'random'] | ArrayLike"


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
        Graph of the training documents, without the edges that labels add. None if `graph_weight` is 0.
    neighbors_by_ : {'words', 'embeddings'} or None
        How new documents find their neighbours; None if they have none.
    neighbor_vectors_ : array or sparse array of shape (n_documents, n_features), or None
        Vectors of the training documents in which neighbours are searched.
    neighbor_idf_ : ndarray of shape (n_words,), or None
        Inverse document frequencies that turn new counts into such vectors.
    word_vectors_ : ndarray of shape (n_words, n_features), or None
        With metric='word_vectors', the vectors of the words, which turn new counts into such vectors.
    """

    _monotone: ClassVar[bool] = True  # whether no step lowers the objective
    _squared_distances: ClassVar[bool] = False  # how new documents are drawn to their neighbours
    _uses_weight: ClassVar[bool] = True  # whether a weight balances the graph against the words
    _leaves_out: ClassVar[bool] = True  # whether the fit, with a prior, leaves each token out in turn

    _stored: ClassVar[Mapping[str, Stored]] = STORED
    _own_arrays: ClassVar[Mapping[str, Stored]] = {}  # what a state of the model has in addition to its tables

    n_neighbors: int
    metric: Metric
    alpha: float
    beta: float
    init: GraphInit
    store_neighbors: bool

    neighbor_vectors_: Vectors | None
    neighbor_idf_: np.ndarray | None
    word_vectors_: np.ndarray | None = None
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
        self._check_own_parameters()
        self._check_common_parameters()
        check_number("alpha", self.alpha)
        check_number("beta", self.beta)
        check_whole("n_neighbors", self.n_neighbors)
        check_choice("metric", self.metric, (*METRICS, LSI, WORD_VECTORS))
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
            edges between documents with different labels are removed. With init='auto' and as many topics as there are
            classes, each topic starts at a class, in sorted order: `predict` then returns the number of the class.
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
        self._fit(X, y, graph, embeddings)
        return self

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
        return self.document_topics(X, graph=graph, embeddings=embeddings)

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def _gather(
        self, X: CountsLike, y: ArrayLike | None, graph: GraphLike | None, embeddings: ArrayLike | None
    ) -> GraphData:
        """Check the arguments of `fit`, make the graph if none is given, and keep what new documents will need."""
        counts = self._fit_counts(X, np.dtype(self.dtype))
        self._choose_size(counts)
        n_documents = counts.shape[0]
        labels = None if y is None else label_codes(y, n_documents)
        base_graph = None if graph is None else check_graph(graph, n_documents)
        vectors: Vectors | None = None if embeddings is None else check_embeddings(embeddings, n_documents)
        self.graph_ = self.neighbor_vectors_ = self.neighbor_idf_ = self.neighbors_by_ = self.word_vectors_ = None
        if not self._needs_graph():
            return GraphData(counts, None, None, None)
        by: Literal["embeddings", "words"] = "words" if vectors is None else "embeddings"
        if vectors is None:
            if self.metric == WORD_VECTORS:
                self.word_vectors_ = self._vectors_of_words()
            vectors = self._vectors_by_words(counts)
        source: GraphSource = "embeddings" if isinstance(vectors, np.ndarray) else "words"
        source = source if base_graph is None or by == "embeddings" else "graph"
        if base_graph is None:
            base_graph = self._nearest_graph(counts, vectors, source)
        self.graph_ = base_graph  # not the edges that labels add: documents of a class would form a ring on a map
        labelled = labels is not None and (labels >= 0).any()
        joined = label_graph(base_graph, labels) if labelled else base_graph
        if self.store_neighbors:
            # New documents find neighbours by words even if a graph was given: with none they would do worse than PLSA.
            self.neighbors_by_ = by
            self.neighbor_vectors_ = vectors
            self.neighbor_idf_ = inverse_document_frequency(counts) if sp.issparse(vectors) else None
        return GraphData(counts, joined, vectors, labels, source, base_graph)

    def _nearest_graph(self, counts: sp.csr_array, vectors: Vectors, source: GraphSource) -> sp.csr_array:
        if self.metric == LSI and source == "words":
            return knn_graph(counts, self.n_neighbors, metric=LSI, n_jobs=self.n_jobs)
        metric = self._metric_of(source)
        return connected(nearest(vectors, vectors, self.n_neighbors, metric=metric, skip_self=True, n_jobs=self.n_jobs))

    def _metric_of(self, source: str) -> str:
        """The metric by which neighbours are found in vectors from this source."""
        dense_only_by_cosine = self.metric == "intersection" and source == "embeddings"
        return "cosine" if dense_only_by_cosine or self.metric in (LSI, WORD_VECTORS) else self.metric

    def _vectors_of_words(self) -> np.ndarray:
        """The vectors of the words of the fit, of the English ones that come with the package."""
        words = self.words()
        if words is None:
            raise InputError(f"metric={WORD_VECTORS!r} needs words: fit a Corpus, texts or a data frame of counts")
        vectors = english_vectors().of_words(words)
        if not vectors.any():
            raise InputError(f"metric={WORD_VECTORS!r}: none of the words, such as {words[0]!r:.40}, has a vector")
        return vectors

    def _vectors_by_words(self, counts: sp.csr_array) -> Vectors:
        """The vectors of documents by which neighbours are found, if there are no embeddings."""
        if self.word_vectors_ is not None:
            return text_vectors(counts, self.word_vectors_)
        return document_vectors(counts, self._metric_of("words"), idf=self.neighbor_idf_)

    def _fit(self, X: CountsLike, y: Any, graph: GraphLike | None = None, embeddings: ArrayLike | None = None) -> None:
        data = self._gather(X, y, graph, embeddings)
        seed_counts, chosen_early = self._seed_counts(data.counts), False

        def start(random_state: RandomStateLike) -> State:
            nonlocal chosen_early
            weight, path, chosen_early = self._weight(data, seed_counts)
            state = self._begin(self._without_graph(data, weight))
            return state | {"weight": np.array(weight, np.float64), "weight_path": path}

        def stages(state: State) -> Iterator[Stage]:
            weight = float(state["weight"])
            used = self._without_graph(data, weight)
            monotone = self.alpha == 0 and (self._monotone or used.graph is None)
            step = self._step(used, seed_counts, weight)
            yield Stage(step, self.max_iter, self.tol, monotone, interrupted=chosen_early)

        def keep(state: State, run: Run) -> None:
            used = self._without_graph(data, float(state["weight"]))
            self._keep_topics(used.counts, state)
            self._keep_run(run)
            self.doc_topic_ = self._final(used, state)
            self._keep_documents(used.counts, self.doc_topic_)
            if self.graph_ is not None:
                warn_if_one_topic_dominates(self.doc_topic_, float(state["weight"]))
            self._keep_own(used, state)
            self._prepare()

        fit = Fit(
            data=(data.counts,) if data.graph is None else (data.counts, data.graph),
            random_states=[self.random_state],
            start=start,
            stages=stages,
            keep=keep,
            arrays={**state_arrays(getattr(self, "graph_weight", 0.0)), **self._own_arrays},
            sizes=self._sizes(data.counts),
            check=self._check_weight,
        )
        run_fit(self, fit)

    def _check_weight(self, values: Mapping[str, Any]) -> None:
        """Raise if a checkpoint has another weight than the parameter says."""
        graph_weight = getattr(self, "graph_weight", 0.0)
        if graph_weight != "auto" and values["weight"] != graph_weight:
            raise InputError(f"its weight is {float(values['weight']):g}: expected {graph_weight:g}")

    def _without_graph(self, data: GraphData, weight: float) -> GraphData:
        """The data of the fit, without the graph and the embeddings if the chosen weight is 0."""
        if weight > 0 or not self._uses_weight or data.graph is None:
            return data
        self.graph_ = None
        return data._replace(graph=None, vectors=None, source="words")

    def _check_learned(self) -> None:
        if not self.doc_topic_.any(axis=1).all():  # a neighbour without topics would draw a new document to nothing
            raise InputError("it has documents without topics")
        by_words = (self.neighbor_idf_, self.word_vectors_)
        check_neighbor_vectors(self.neighbors_by_, self.neighbor_vectors_, by_words, self.n_features_in_)

    def _prepare(self) -> None:
        by, vectors = self.neighbors_by_, self.neighbor_vectors_
        self._neighbor_index = None if by is None else NeighborIndex(vectors, self._metric_of(by))

    def _final(self, data: GraphData, state: State) -> np.ndarray:
        if data.graph is None:
            doc_topic = state["doc_topic"][:, : self.n_topics_]
            return self._fold_in_among(data.counts, self.topic_word_, self.topic_weight_, None, doc_topic, 0.0)
        doc_topic = normalise_rows(state["doc_topic"][:, : self.n_topics_])
        doc_topic[without_tokens(data)] = self.topic_weight_
        return doc_topic

    def _leave_one_out(
        self, step: LeaveOneOutStep, state: State, scale: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """A leave-one-out step from the pseudo-counts P(z|d) * scale; P(z|d) itself does not change.

        Returns the log-likelihood, a padded table of n + focus r, and alpha m.
        """
        if "topic_share" not in state:
            state["topic_share"] = mean_row(state["doc_topic"], self.n_topics_, scale)
        counts, prior = scaled(state["doc_topic"], scale), self._document_prior(state["topic_share"])
        log_likelihood, tokens = step(counts, state["word_topic"], prior, holds_prior=True)
        state["topic_share"] = tokens / max(tokens.sum(), 1e-300)
        return log_likelihood, counts, self.alpha * state["topic_share"]

    def _document_prior(self, topic_share: np.ndarray) -> DocumentPrior:
        return document_prior(self.alpha, topic_share, self._focus())

    # ---- new documents ----------------------------------------------------------------------------------------------

    def _fold_in(
        self, counts: sp.csr_array, graph: GraphLike | None = None, embeddings: ArrayLike | None = None
    ) -> np.ndarray:
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
            pseudo_counts = fold_in_counts(counts, topic_word, prior, self.n_jobs, pull=pull, with_prior=True)
            if neighbors is None or pull is not None:
                return normalise_rows(pseudo_counts, out=pseudo_counts)
            own_prior: float | np.ndarray = pseudo_counts.astype(np.float64)
            counts = sp.csr_array(counts.shape, dtype=counts.dtype)  # the words have been used
        elif neighbors is None:
            return fold_in(counts, topic_word, topic_weight, n_jobs=self.n_jobs)
        else:
            own_prior = self.alpha
        near = (neighbors, doc_topic, weight)
        squared, n_jobs = self._squared_distances, self.n_jobs
        return fold_in_near(counts, topic_word, topic_weight, *near, prior=own_prior, squared=squared, n_jobs=n_jobs)

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
            reason = "keeps no neighbours (store_neighbors=False)" if by is None else "was fitted without embeddings"
            raise InputError(f"this {name} {reason}: new documents need no embeddings")
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
            vectors = self._vectors_by_words(counts)
        near = self._neighbor_index.nearest(vectors, self.n_neighbors, n_jobs=self.n_jobs)
        near.data = np.ones(near.nnz)
        return near
