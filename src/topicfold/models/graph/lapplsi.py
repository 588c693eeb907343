"""LapPLSI: PLSA with a Laplacian penalty on how P(z|d) differs between neighbours (Cai, Mei, Han and Zhai 2008).

The objective, with edges counted once, L = D - W and P_i the row P(z|d_i):

    log-likelihood - graph_weight * 1/2 sum_ij W_ij |P_i - P_j|^2 = log-likelihood - graph_weight * sum_k y_k' L y_k

(Papers differ by factors of two here; this is the convention of topicfold.) A step is PLSA's, after which rows move
towards the mean of their neighbours, P_i <- (1 - g) P_i + g sum_j W_ij P_j / D_i, as long as the objective rises: twice
as many moves each time it has risen, half as many and then a smaller g (0.1 at first) if it has not. The objective
never falls: if no point on this path is better than the start of the step, P(z|d) does not change.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import scipy.sparse as sp

from ...engine.loop import State
from ..em.leave_one_out import LeaveOneOutStep, focus_of
from ..em.plsa_kernels import (
    SeedCounts,
    cell_probabilities,
    document_step,
    log_likelihood,
    padded,
    plain_step,
    token_count,
)
from ..em.seed_words import SeedWords
from ..estimator import Dtype
from ..fit_loop import Step
from ..inputs import RandomStateLike
from .graph_data import FLOOR, MANY_DOCUMENTS, GraphData
from .graph_model import GraphInit, Metric
from .graph_start import start_tables
from .graph_tables import Edges, row_slices, write_rows
from .weighted_model import WeightedGraphModel

__all__ = ["LapPLSI"]

_MOVE, _HALVINGS = 0.1, 3  # g, the share of the neighbours' mean in a move
# With a prior, where the objective may fall, many documents move further at once, and the objective is computed on some
# of them: moving all documents costs as much as computing it.
_LONG_MOVE, _LONG_HALVINGS, _BLOCKS_TO_SEE = 0.4, 3, 6
_MOVES = 100
_MOST_TIMES = 64


class LapPLSI(WeightedGraphModel):
    """Laplacian PLSI: topics with a penalty on squared distances between neighbouring documents.

    Neighbours come from the words, from embeddings, from labels, or from a given graph such as citations.

    Parameters
    ----------
    n_topics : int or 'auto', default=20
        Number of topics. 'auto' tries 5, 10, 20, 40 and, if 40 is best, more on a sample of the documents; `n_topics_`
        is its choice.
    graph_weight : float or 'auto', default='auto'
        Weight of the squared distances between the topics of neighbours. 0 is LDA or, without a prior, PLSA. 'auto'
        chooses the weight with which the largest topics of held-out documents predict their words best, from 0, 0.03,
        0.1, ... 100 (without a prior 1, 3, ... 1000). This costs two to five more fits, fewer with many documents. If
        X has fractions such as tf-idf, nothing can be held out and the weight is 1.
    n_neighbors : int, default=5
        Number of neighbours per document in the graph that is built if `fit` gets none. Among more than 50,000
        documents the neighbours are approximate; `knn_graph` with `exact=True` finds the exact ones.
    metric : {'cosine', 'euclidean', 'intersection', 'word_vectors'}, default='cosine'
        Similarity by which neighbours are found: cosine of tf-idf, Euclidean distance of counts, intersection of tf-idf
        histograms, or cosine of sums of the vectors of English words that come with the package, which suits short
        texts: they then start from these vectors, too. With embeddings, cosine or Euclidean distance.
    init : {'auto', 'nmf', 'kmeans', 'spectral', 'random'} or array of shape (n_topics, n_words), default='auto'
        Where the fit starts: 'nmf' (on tf-idf), 'kmeans' (on the vectors the graph is built from), 'spectral' (a
        normalised cut of the graph), 'random', or given topics. With embeddings, 'auto' is k-means on embeddings that
        are averaged over neighbourhoods (without a prior, as they are); without them, the best of several kinds of
        clusters of documents, made from their words and from a given graph.
    alpha : float, default=1.0
        Strength of the prior of P(z|d), in tokens per document, shared by the topics in proportion to their size.
        Above 0, the topic of each token is inferred from the other tokens of its document and from its neighbours.
        alpha=0 with beta=0 is the model of the paper.
    beta : float, default=0.03
        Pseudo-count of every word in every topic.
    focus : float, default=3.0
        Strength of the main topic of a document, in tokens: short documents are expected to be about one topic, long
        ones may mix several. Used only with a prior.
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
        EM stops when the objective per token rises by less than this.
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
        The objective per token before each step: log-likelihood minus the penalty of the graph.

    See Also
    --------
    TopicModel : The attributes and methods that all models have.
    LTM : The same idea with divergences instead of squared distances.
    DTM : Also pushes documents that are not neighbours apart.
    knn_graph : Builds a graph of nearest neighbours.

    References
    ----------
    Cai, D., Mei, Q., Han, J. and Zhai, C. (2008). Modeling hidden topics on document manifold. CIKM.
    https://doi.org/10.1145/1458082.1458202

    Examples
    --------
    >>> from topicfold import LapPLSI
    >>> texts = ["cat dog cat", "dog cat", "cat dog mouse", "sun moon", "moon star sun", "star sun"]
    >>> topics = LapPLSI(n_topics=2, n_neighbors=2, random_state=0).fit_predict(texts)
    >>> (topics == topics[0]).tolist()
    [True, True, True, False, False, False]
    """

    _squared_distances = True

    def __init__(
        self,
        n_topics: int | Literal["auto"] = 20,
        *,
        graph_weight: float | Literal["auto"] = "auto",
        n_neighbors: int = 5,
        metric: Metric = "cosine",
        init: GraphInit = "auto",
        alpha: float = 1.0,
        beta: float = 0.03,
        focus: float = 3.0,
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
        self.graph_weight = graph_weight
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.init = init
        self.alpha = alpha
        self.beta = beta
        self.focus = focus
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
        self._check_graph_weight()

    def _begin(self, data: GraphData) -> State:
        state = start_tables(self, data)
        if data.graph is not None:
            # Identical documents at the start are a saddle point that a strong weight would never leave.
            tables = (state["doc_topic"], state["word_topic"])
            state["doc_topic"], _ = document_step(data.counts, *tables, self.n_jobs)
        return state

    def _step(self, data: GraphData, seed_counts: SeedCounts, weight: float) -> Step:
        counts = data.counts
        n_tokens = token_count(counts)
        if self.alpha > 0:
            plain = self._leave_one_out_step(data, seed_counts)
        else:
            plain = plain_step(counts, self.n_topics_, self.n_jobs, self.beta, seed_counts)

        if data.graph is None or weight == 0:
            return plain
        edges, n_topics = Edges(data.graph, self.n_jobs), self.n_topics_
        first_share, halvings, seen, seen_counts = _MOVE, _HALVINGS, list(row_slices(counts.shape[0])), counts
        if self.alpha > 0 and counts.shape[0] > MANY_DOCUMENTS:
            first_share, halvings, seen = _LONG_MOVE, _LONG_HALVINGS, seen[:: max(1, len(seen) // _BLOCKS_TO_SEE)]
            seen_counts = sp.csr_array(sp.vstack([counts[rows] for rows in seen], format="csr"))

        def objective(doc_topic: np.ndarray, word_topic: np.ndarray, shares: np.ndarray) -> float:
            table = doc_topic
            if seen_counts is not counts:
                table = padded(np.concatenate([doc_topic[rows] for rows in seen]), doc_topic.dtype)
            probability = cell_probabilities(seen_counts, table, word_topic, self.n_jobs)
            roughness = edges.roughness(doc_topic, n_topics, rows=seen)
            height = log_likelihood(seen_counts, probability) - weight * roughness
            if self.alpha > 0:
                logs = np.zeros(n_topics)
                for rows in seen:
                    logs += np.log(np.maximum(doc_topic[rows, :n_topics], FLOOR)).sum(axis=0, dtype=np.float64)
                height += self.alpha * float(logs @ shares)
            return height

        def smooth(state: State) -> float:
            before, word_topic = state["doc_topic"].copy(), state["word_topic"]
            rough = weight * edges.roughness(before, n_topics)
            value = plain(state) - rough / n_tokens
            best, share, times = state["doc_topic"], first_share, 1
            shares = state.get("topic_share", np.full(n_topics, 1 / n_topics))
            height = objective(best, word_topic, shares)
            for _ in range(_MOVES):
                moved = edges.averaged(best, share, times)  # computing the objective is expensive, a move is not
                if (higher := objective(moved, word_topic, shares)) > height:
                    best, height, times = moved, higher, min(2 * times, _MOST_TIMES)
                elif times > 1:
                    times //= 2
                elif share > first_share / 2**halvings:
                    share /= 2
                else:
                    break
            # leave-one-out EM does not maximise this objective, so a lower value does not speak against its step
            if self.alpha > 0 or height >= objective(before, word_topic, shares):
                state["doc_topic"] = best
            else:
                state["doc_topic"] = before
            return value

        return smooth

    def _leave_one_out_step(self, data: GraphData, seed_counts: SeedCounts) -> Callable[[State], float]:
        """Leave-one-out EM with the prior, before the documents are drawn to each other."""
        counts, n_topics = data.counts, self.n_topics_
        n_tokens, lengths = token_count(counts), counts.sum(axis=1, dtype=np.float64)
        step = LeaveOneOutStep(counts, n_topics, self.n_jobs, self.beta, seed_counts)
        scale = lengths + self.alpha + focus_of(lengths, self._focus())

        def step_with_prior(state: State) -> float:
            log_likelihood, tokens, base = self._leave_one_out(step, state, scale)
            write_rows(state["doc_topic"][:, :n_topics], tokens[:, :n_topics], base)
            return log_likelihood / n_tokens

        return step_with_prior
