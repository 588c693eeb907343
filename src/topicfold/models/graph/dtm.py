"""DTM: neighbours drawn together and all others pushed apart (Huh and Fienberg 2010).

Beside the likelihood stands the separation of the documents, with P_i the row P(z|d_i):

    Q2 = A / B,  A = sum_ij |P_i - P_j|^2 = 2 (N sum_i |P_i|^2 - |S|^2),  B = sum_ij W_ij |P_i - P_j|^2,  S = sum_i P_i

No weight ranks the two. A step renews P(w|z) as PLSA does, raises Q2 by one sweep over the documents, goes from there
towards what the words want until the log-likelihood is no lower than before, and is taken if Q2 is not lower either;
otherwise P(z|d) stays. So neither ever falls.

Where the paper is not followed. Its Theorem 2 does not hold for three or more topics (eq. 27 lacks a factor), so a
single update may lower Q2, and a sweep is checked (Algorithm 1, line 14, does not). `update="exact"` takes the best
P_i instead: with alpha = Q2 of the sweep's start, R = A - alpha B as a function of one row is

    2 c |P_i|^2 - 4 P_i . b + const,  c = N - 1 - alpha D_i,  b = S - P_i - alpha (W P)_i

so where c < 0 the best row is the projection of b / c on the simplex, and elsewhere a vertex of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ...engine.loop import State
from ...graph.build import laplacian
from ..em import EMStep, cell_probabilities, document_step, log_likelihood, log_prior, padded
from ..inputs import count_tags
from .fold_in_near import fold_in_near
from .graph_model import FLOOR, Documents, begin, completion_of_new, fit_on_graph, gather, topics_of_new
from .separation import separation, sweep_exact, sweep_paper

__all__ = ["DTM"]

_LEAST_GAMMA = 1e-3
_FLAT = 1e-12  # B below this share of A: neighbours are the same already
_NEW_WEIGHTS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
_SAMPLE = 1000  # documents


class DTM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Discriminative topic model: PLSA that draws neighbouring documents together and pushes all others apart.

    Parameters
    ----------
    n_topics : number of topics.
    n_neighbors, metric : the graph made where `fit` is given none: so many nearest documents by 'cosine' of tf-idf,
        'euclidean' distance of counts, or 'intersection' of tf-idf histograms; of embeddings by cosine or Euclidean.
    update : how a sweep raises the separation: 'paper' (eq. 18 and 19) or 'exact' (the best row of each document).
    gamma : length of the steps back towards the words, as a share of the way; a larger one favours the likelihood.
    init : the topics to begin with: 'nmf' (on tf-idf), 'kmeans' (on the vectors the graph is made of), 'spectral' (a
        normalised cut of the graph), 'random', an array of topics x words, or 'auto': 'kmeans' with embeddings, else
        as PLSA.
    smoothing, seed_words, seed_strength : as in PLSA.
    store_neighbors : keep what it takes to find neighbours of new documents (tf-idf or embeddings of the training
        documents); without it new documents are folded in by their words alone.
    max_iter, tol : EM stops after max_iter steps, or when log-likelihood a token and relative Q2 both rise by
        less than tol.
    dtype, random_state, n_jobs, verbose, checkpoint : as in PLSA.

    Attributes
    ----------
    topic_word_, doc_topic_, topic_weight_, word_frequency_ : as in PLSA; doc_topic_ is that of the graph fit.
    graph_ : the graph of the training documents.
    history_ : log-likelihood a token before each step.
    separation_ : Q2 before each step.
    neighbor_weight_ : new documents are drawn to their neighbours as in LTM; this is the weight at which the training
        documents come out most like doc_topic_.
    n_iter_, converged_, interrupted_ : as in PLSA.

    Examples
    --------
    >>> from topicfold import Corpus, DTM
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "cat dog mouse", "sun moon", "moon star sun", "star sun"])
    >>> model = DTM(n_topics=2, n_neighbors=2, random_state=0).fit(corpus)
    >>> model.doc_topic_.argmax(axis=1).tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    True
    """

    topic_word_: np.ndarray
    doc_topic_: np.ndarray
    topic_weight_: np.ndarray
    word_frequency_: np.ndarray
    history_: np.ndarray

    def __init__(
        self,
        n_topics: int = 20,
        *,
        n_neighbors: int = 10,
        metric: str = "cosine",
        update: str = "paper",
        gamma: float = 0.1,
        init: Any = "auto",
        smoothing: float = 0.0,
        seed_words: Mapping[int, Sequence[Any]] | Sequence[Sequence[Any]] | None = None,
        seed_strength: float = 0.1,
        store_neighbors: bool = True,
        max_iter: int = 100,
        tol: float = 1e-4,
        dtype: Any = "float32",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_topics = n_topics
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.update = update
        self.gamma = gamma
        self.init = init
        self.smoothing = smoothing
        self.seed_words = seed_words
        self.seed_strength = seed_strength
        self.store_neighbors = store_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, *, graph: Any = None, embeddings: Any = None) -> DTM:
        """Fit topics to documents x words on a graph of the documents.

        `y` holds labels where they are known (-1, None, NaN or '' where not): documents of one class are joined, those
        of two are parted. `graph` is a symmetric matrix of documents x documents; `embeddings`, a row a document, give
        a graph of nearest neighbours and a start. Without either the graph is made from the words.
        """
        if self.update not in ("paper", "exact"):
            raise ValueError(f"update={self.update!r}: expected 'paper' or 'exact'")
        if isinstance(self.gamma, bool) or not isinstance(self.gamma, int | float | np.number):
            raise ValueError(f"gamma={self.gamma!r}: expected a number")
        if not _LEAST_GAMMA <= self.gamma <= 1:
            raise ValueError(f"gamma={self.gamma!r}: expected a number from {_LEAST_GAMMA} to 1")
        documents = gather(self, X, y, graph, embeddings)
        state = fit_on_graph(self, documents, self._step, rises=True, begin=self._begin)
        self.separation_ = state["separation"]
        self.neighbor_weight_ = self._weight_for_new(documents)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, graph: Any = None, embeddings: Any = None) -> np.ndarray:
        """Fit, and return P(z|d) of the training documents."""
        return self.fit(X, y, graph=graph, embeddings=embeddings).doc_topic_

    def transform(self, X: Any, *, graph: Any = None, embeddings: Any = None) -> np.ndarray:
        """P(z|d) of new documents, one row each, whatever else is in the batch.

        Each is drawn to its neighbours among the training documents: those `graph` (new x training) names, the nearest
        by `embeddings` where the fit had embeddings, or the nearest by words. With store_neighbors=False, or where the
        fit had embeddings and none are given, it is folded in by its words alone.
        """
        check_is_fitted(self)
        return topics_of_new(self, X, graph, embeddings, self.neighbor_weight_)

    def score(self, X: Any, y: Any = None, *, graph: Any = None, embeddings: Any = None) -> float:
        """Mean log-likelihood a token by document completion: half of each document is seen, the rest is scored.

        Neighbours by words are those of the half that is seen. Whoever gives `graph` or `embeddings` answers for that:
        made from whole documents they have seen what is to be foretold (`metrics.split_tokens` shows the halves).
        """
        check_is_fitted(self)
        return completion_of_new(self, X, graph, embeddings, self.neighbor_weight_)

    def _begin(self, documents: Documents) -> State:
        # Neither of the two ever falls, so a fit that begins high in one has little room in the other: documents begin
        # alike, and what `init` finds shows in the topics alone.
        state = begin(self, documents)
        state["doc_topic"][:, : self.n_topics] = 1 / self.n_topics
        return state

    def _weight_for_new(self, documents: Documents) -> float:
        """The weight at which training documents, folded in as if they were new, are most like what they are."""
        graph = documents.graph
        assert graph is not None
        rows = np.unique(np.linspace(0, len(self.doc_topic_) - 1, _SAMPLE).astype(int))
        counts, near, goal = documents.counts[rows], sp.csr_array(graph[rows]), self.doc_topic_[rows]

        def error(weight: float) -> float:
            topics = (self.topic_word_, self.topic_weight_)
            found = fold_in_near(counts, *topics, near, self.doc_topic_, weight, n_jobs=self.n_jobs)
            return float(np.abs(found - goal).sum(dtype=np.float64))

        return min(_NEW_WEIGHTS, key=error)

    def _step(
        self, documents: Documents, prior: tuple[Any, ...], weight: float
    ) -> Callable[[State], tuple[float, bool]]:
        counts, n_topics, graph = documents.counts, self.n_topics, documents.graph
        assert graph is not None
        em = EMStep(counts, n_topics, self.n_jobs, self.smoothing, prior)
        n_tokens = max(float(counts.sum(dtype=np.float64)), 1e-300)
        shifts = laplacian(graph)
        parts = (graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data, graph.sum(axis=1))

        def swept(doc_topic: np.ndarray, alpha: float) -> np.ndarray:
            values = np.maximum(doc_topic[:, :n_topics].astype(np.float64), FLOOR)
            values /= values.sum(axis=1, keepdims=True)
            if self.update == "paper":
                by_topic = np.ascontiguousarray(values.T)
                sweep_paper(*parts, alpha, by_topic)
                values = by_topic.T
            else:
                sweep_exact(*parts, alpha, values)
            values = np.maximum(values, FLOOR)
            return padded(values / values.sum(axis=1, keepdims=True), counts.dtype)

        def renewed(
            doc_topic: np.ndarray, word_topic: np.ndarray, after_em: np.ndarray, pairs: float, near: float
        ) -> np.ndarray:
            """P(z|d) after the step: lower in neither the likelihood nor the separation, else as it was."""
            if pairs == 0:
                return after_em  # all documents are the same: there is nothing to keep apart
            if near <= _FLAT * pairs:
                new_pairs, new_near = separation(after_em, shifts)  # neighbours are the same: they may stay so
                return after_em if new_near <= _FLAT * new_pairs else doc_topic
            least = log_likelihood(counts, cell_probabilities(counts, doc_topic, word_topic, self.n_jobs))
            far = swept(doc_topic, pairs / near)
            towards, far_cells = document_step(counts, far, word_topic, self.n_jobs)
            found = far
            if log_likelihood(counts, far_cells) < least:
                # P(w|d) is linear in P(z|d), so points on the way cost no new products
                cells = cell_probabilities(counts, towards, word_topic, self.n_jobs)
                for share in np.minimum(np.arange(1, np.ceil(1 / self.gamma) + 1) * self.gamma, 1).tolist():
                    if log_likelihood(counts, (1 - share) * far_cells + share * cells) >= least:
                        found = (1 - share) * far + share * towards
                        break
                else:
                    return doc_topic
            new_pairs, new_near = separation(found, shifts)
            return found if new_pairs * near >= pairs * new_near else doc_topic

        def step(state: State) -> tuple[float, bool]:
            before = state["doc_topic"]
            penalty = log_prior(state["word_topic"][:, :n_topics], self.smoothing, prior)
            after_em = before.copy()
            objective = (em(after_em, state["word_topic"]) + penalty) / n_tokens
            pairs, near = separation(before, shifts)
            history = np.append(
                state.get("separation", np.empty(0)), pairs / max(near, _FLAT * pairs) if pairs > 0 else 0.0
            )
            values = np.append(state.get("objective", np.empty(0)), objective)
            state |= {"separation": history, "objective": values}
            state["doc_topic"] = renewed(before, state["word_topic"], after_em, pairs, near)
            return objective, self._settled(values, history)

        return step

    def _settled(self, objective: np.ndarray, separation: np.ndarray) -> bool:
        if self.tol == 0 or len(objective) < 2:
            return False
        rise = separation[-1] / separation[-2] - 1 if separation[-2] > 0 else np.inf
        return bool(objective[-1] - objective[-2] < self.tol and rise < self.tol)

    @property
    def components_(self) -> np.ndarray:
        """P(w|z), by scikit-learn's name."""
        return self.topic_word_

    @property
    def _n_features_out(self) -> int:
        return len(self.topic_word_)

    def __sklearn_tags__(self) -> Any:
        return count_tags(super().__sklearn_tags__())
