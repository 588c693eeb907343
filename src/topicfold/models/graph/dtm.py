"""DTM: neighbours drawn together and all others pushed apart (Huh and Fienberg 2010).

In addition to the likelihood, it maximises the separation of the documents, with P_i the row P(z|d_i):

    Q2 = A / B,  A = sum_ij |P_i - P_j|^2 = 2 (N sum_i |P_i|^2 - |S|^2),  B = sum_ij W_ij |P_i - P_j|^2,  S = sum_i P_i

No weight trades one off against the other. A step updates P(w|z) as PLSA does, raises Q2 by one sweep over the
documents, and moves from there towards the P(z|d) that fits the words until the log-likelihood is no lower than before.
The step is accepted if Q2 is not lower either; otherwise P(z|d) does not change. So neither ever falls.

Deviations from the paper. Its Theorem 2 does not hold for three or more topics (eq. 27 lacks a factor), so a single
update may lower Q2; therefore each sweep is checked, which Algorithm 1, line 14, does not do. `update="exact"` takes
the best P_i instead: with alpha = Q2 at the start of the sweep, R = A - alpha B as a function of one row is

    2 c |P_i|^2 - 4 P_i . b + const,  c = N - 1 - alpha D_i,  b = S - P_i - alpha (W P)_i

so if c < 0 the best row is the projection of b / c on the simplex, and otherwise a vertex of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import normalise_rows
from ...engine.checks import check_choice, check_number
from ...engine.distributed.cluster import warn_local_only
from ...engine.loop import State
from ...engine.stored import Stored
from ...graph.build import laplacian
from ..em.fold_in import fold_in_near
from ..em.plsa_kernels import (
    EMStep,
    SeedCounts,
    cell_probabilities,
    document_step,
    log_likelihood,
    log_prior,
    padded,
    shrink,
    token_count,
)
from ..em.seed_words import SeedWords
from ..estimator import Dtype
from ..fit_loop import Step
from ..inputs import RandomStateLike
from .graph_data import FLOOR, GraphData
from .graph_model import GraphInit, GraphTopicModel, Metric, Weight
from .graph_start import start_tables
from .separation import separation, sweep_exact, sweep_paper

__all__ = ["DTM"]

_LEAST_GAMMA = 1e-3
_FLAT = 1e-12  # B below this share of A: neighbours are already identical
_NEW_WEIGHTS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
_SAMPLE = 1000  # documents


class DTM(GraphTopicModel):
    """Discriminative topic model: neighbouring documents are drawn together, all others pushed apart.

    Neighbours come from the words, from embeddings, from labels, or from a given graph such as citations.

    Parameters
    ----------
    n_topics : int or 'auto', default=20
        Number of topics. 'auto' tries 5, 10, 20, 40 and, if 40 is best, more on a sample of the documents; `n_topics_`
        is its choice.
    n_neighbors : int, default=10
        Number of neighbours per document in the graph that is built if `fit` gets none. Among more than 50,000
        documents the neighbours are approximate; `knn_graph` with `exact=True` finds the exact ones.
    metric : {'cosine', 'euclidean', 'intersection', 'lsi', 'word_vectors'}, default='cosine'
        Similarity by which neighbours are found: cosine of tf-idf, Euclidean distance of counts, intersection of tf-idf
        histograms, cosine of tf-idf and, as a second list, of LSI vectors, or cosine of sums of the vectors of English
        words that come with the package, which suits short texts: they then start from these vectors, too. With
        embeddings, cosine or Euclidean distance.
    update : {'paper', 'exact'}, default='paper'
        How a sweep raises the separation of the documents: by equations 18 and 19 of the paper, or by the best row for
        each document.
    gamma : float, default=0.1
        Length of the steps back towards the words, as a share of the way. Larger values favour the likelihood.
    init : {'auto', 'nmf', 'kmeans', 'spectral', 'random'} or array of shape (n_topics, n_words), default='auto'
        Where the topics start: 'nmf' (on tf-idf), 'kmeans' (on the vectors the graph is built from), 'spectral' (a
        normalised cut of the graph), 'random', or given topics. With embeddings, 'auto' is k-means on embeddings that
        are averaged over neighbourhoods (without a prior, as they are); without them, the best of several kinds of
        clusters of documents, made from their words and from a given graph.
    alpha : float, default=1.0
        Strength of the prior of P(z|d), in tokens per document. It applies to new documents, and to the point that the
        steps back towards the words lead to. alpha=0 with beta=0 is the model of the paper.
    beta : float, default=0.01
        Pseudo-count of every word in every topic.
    seed_words : dict of int to list, list of lists or None, default=None
        Words that guide topics: a dict from topics to words, such as {0: ["price", "cost"]}, or one list for each of
        the first topics. Words are strings if X has words (texts, a Corpus or a data frame), otherwise column numbers.
    seed_strength : float, default=0.1
        Strength of the seed words: their pseudo-counts, as a share of the tokens of an average topic.
    store_neighbors : bool, default=True
        Whether to keep what is needed to find the neighbours of new documents (tf-idf or embeddings of the training
        documents). If False, new documents are folded in by their words alone.
    max_iter : int, default=100
        Maximum number of EM steps.
    tol : float, default=1e-4
        EM stops when the log-likelihood per token and the relative separation both rise by less than this.
    dtype : {'float32', 'float64'}, default='float32'
        Precision of the tables.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 uses all cores. The result does not depend on it.
    verbose : bool or None, default=None
        Whether to show progress. None shows it only on a terminal.
    checkpoint : str, Path or None, default=None
        File that keeps the state of the fit. A fit that was killed resumes from it; a finished fit removes it.

    Attributes
    ----------
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        P(z|d) of the training documents, as fitted on the graph.
    history_ : ndarray of shape (n_iter,)
        Log-likelihood per token before each step.
    separation_ : ndarray of shape (n_iter,)
        Separation of the documents (Q2 in the paper) before each step.
    neighbor_weight_ : float
        How strongly new documents are drawn towards their neighbours, in tokens per edge: the weight at which the
        training documents come out closest to `doc_topic_`.

    See Also
    --------
    TopicModel : The attributes and methods that all models have.
    LTM : Draws neighbours together without pushing others apart.
    LapPLSI : Neighbours with a penalty on squared distances.
    label_graph : Adds labels to a graph.

    References
    ----------
    Huh, S. and Fienberg, S. E. (2010). Discriminative topic modeling based on manifold learning. KDD.
    https://doi.org/10.1145/1835804.1835888

    Examples
    --------
    >>> from topicfold import DTM
    >>> texts = ["cat dog cat", "dog cat", "cat dog mouse", "sun moon", "moon star sun", "star sun"]
    >>> topics = DTM(n_topics=2, n_neighbors=2, random_state=0).fit_predict(texts)
    >>> (topics == topics[0]).tolist()
    [True, True, True, False, False, False]
    """

    _uses_weight = False
    _leaves_out = False

    _stored: ClassVar[Mapping[str, Stored]] = {
        "separation_": Stored(("steps",)),
        "neighbor_weight_": Stored(low=0),
    }
    _own_arrays: ClassVar[Mapping[str, Stored]] = {
        "separation": Stored(("steps",), low=0),
        "objective": Stored(("steps",)),
    }

    separation_: np.ndarray
    neighbor_weight_: float

    def __init__(
        self,
        n_topics: int | Literal["auto"] = 20,
        *,
        n_neighbors: int = 10,
        metric: Metric = "cosine",
        update: Literal["paper", "exact"] = "paper",
        gamma: float = 0.1,
        init: GraphInit = "auto",
        alpha: float = 1.0,
        beta: float = 0.01,
        seed_words: SeedWords | None = None,
        seed_strength: float = 0.1,
        store_neighbors: bool = True,
        max_iter: int = 100,
        tol: float = 1e-4,
        dtype: Dtype = "float32",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.update = update
        self.gamma = gamma
        self.init = init
        self.alpha = alpha
        self.beta = beta
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

    def _check_own_parameters(self) -> None:
        check_choice("update", self.update, ("paper", "exact"))
        check_number("gamma", self.gamma, _LEAST_GAMMA, 1)

    def _focus(self) -> float:
        return 0.0

    def _needs_graph(self) -> bool:
        return True

    def _begin(self, data: GraphData) -> State:
        # Neither objective ever falls, so a fit that starts high in one has little room in the other: documents start
        # identical, and `init` affects only the topics. Documents that start at the classes of labels never move.
        state = start_tables(self, data)
        state["doc_topic"][:, : self.n_topics_] = 1 / self.n_topics_
        return state | {"separation": np.empty(0), "objective": np.empty(0)}

    def _weight(self, data: GraphData, seed_counts: SeedCounts) -> Weight:
        return Weight(0.0, np.empty(0), False)  # no weight trades likelihood off against separation

    def _keep_own(self, data: GraphData, state: State) -> None:
        self.separation_ = state["separation"]
        self.neighbor_weight_ = self._weight_for_new(data)

    def _weight_of_new(self) -> float:
        return self.neighbor_weight_

    def _weight_for_new(self, data: GraphData) -> float:
        """The weight at which training documents, inferred as if they were new, are closest to `doc_topic_`."""
        graph = data.graph
        assert graph is not None
        rows = np.unique(np.linspace(0, len(self.doc_topic_) - 1, _SAMPLE).astype(int))
        counts, near, goal = data.counts[rows], sp.csr_array(graph[rows]), self.doc_topic_[rows]

        def error(weight: float) -> float:
            topics = (self.topic_word_, self.topic_weight_)
            inferred = fold_in_near(
                counts, *topics, near, self.doc_topic_, weight, prior=self.alpha, n_jobs=self.n_jobs
            )
            return float(np.abs(inferred - goal).sum(dtype=np.float64))

        return min(_NEW_WEIGHTS, key=error)

    def _step(self, data: GraphData, seed_counts: SeedCounts, weight: float) -> Step:
        counts, n_topics, graph = data.counts, self.n_topics_, data.graph
        assert graph is not None
        warn_local_only("DTM's sweeps process one document after another: it runs on this machine")
        em = EMStep(counts, n_topics, self.n_jobs, self.beta, seed_counts)
        n_tokens, lengths = token_count(counts), counts.sum(axis=1, dtype=np.float64)
        shifts = laplacian(graph)
        parts = (graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data, graph.sum(axis=1))

        def swept(doc_topic: np.ndarray, ratio: float) -> np.ndarray:
            values = np.maximum(doc_topic[:, :n_topics].astype(np.float64), FLOOR)
            normalise_rows(values, out=values)
            if self.update == "paper":
                by_topic = np.ascontiguousarray(values.T)
                sweep_paper(*parts, ratio, by_topic)
                values = by_topic.T
            else:
                sweep_exact(*parts, ratio, values)
            values = np.maximum(values, FLOOR)
            return padded(normalise_rows(values), counts.dtype)

        def renewed(
            doc_topic: np.ndarray, word_topic: np.ndarray, after_em: np.ndarray, pairs: float, near: float
        ) -> np.ndarray:
            """P(z|d) after the step if neither likelihood nor separation is lower, otherwise as before."""
            if pairs == 0:
                return after_em  # all documents are identical: there is nothing to separate
            if near <= _FLAT * pairs:
                new_pairs, new_near = separation(after_em, shifts)  # neighbours are identical: they may stay so
                return after_em if new_near <= _FLAT * new_pairs else doc_topic
            least = log_likelihood(counts, cell_probabilities(counts, doc_topic, word_topic, self.n_jobs))
            far = swept(doc_topic, pairs / near)
            towards, far_cells = document_step(counts, far, word_topic, self.n_jobs)
            shrink(towards[:, :n_topics], lengths, self.alpha)
            moved = far
            if log_likelihood(counts, far_cells) < least:
                # P(w|d) is linear in P(z|d), so points on the path need no new products
                cells = cell_probabilities(counts, towards, word_topic, self.n_jobs)
                for share in np.minimum(np.arange(1, np.ceil(1 / self.gamma) + 1) * self.gamma, 1).tolist():
                    if log_likelihood(counts, (1 - share) * far_cells + share * cells) >= least:
                        moved = (1 - share) * far + share * towards
                        break
                else:
                    return doc_topic
            new_pairs, new_near = separation(moved, shifts)
            return moved if new_pairs * near >= pairs * new_near else doc_topic

        def step(state: State) -> tuple[float, bool]:
            before = state["doc_topic"]
            penalty = log_prior(state["word_topic"][:, :n_topics], self.beta, seed_counts)
            after_em = before.copy()
            objective = (em(after_em, state["word_topic"]) + penalty) / n_tokens
            shrink(after_em[:, :n_topics], lengths, self.alpha)
            pairs, near = separation(before, shifts)
            ratio = pairs / max(near, _FLAT * pairs) if pairs > 0 else 0.0
            history = np.append(state["separation"], ratio)
            values = np.append(state["objective"], objective)
            state |= {"separation": history, "objective": values}
            state["doc_topic"] = renewed(before, state["word_topic"], after_em, pairs, near)
            return objective, self._settled(values, history)

        return step

    def _settled(self, objective: np.ndarray, separation: np.ndarray) -> bool:
        if self.tol == 0 or len(objective) < 2:
            return False
        rise = separation[-1] / separation[-2] - 1 if separation[-2] > 0 else np.inf
        return bool(objective[-1] - objective[-2] < self.tol and rise < self.tol)
