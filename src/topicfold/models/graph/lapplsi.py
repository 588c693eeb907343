"""LapPLSI: PLSA with a Laplacian penalty on how P(z|d) differs between neighbours (Cai, Mei, Han and Zhai 2008).

The objective, with edges counted once, L = D - W and P_i the row P(z|d_i):

    log-likelihood - graph_weight * 1/2 sum_ij W_ij |P_i - P_j|^2 = log-likelihood - graph_weight * sum_k y_k' L y_k

(Papers differ by factors of two here; this is the convention of topicfold.) The M-step for P(z|d), with c_ik the tokens
of topic k in document i, is a sweep over the documents, each of which takes its best row given those of the others:

    P_i = argmax of sum_k c_ik ln P_ik - graph_weight * sum_j W_ij |P_i - P_j|^2 on the simplex

so the objective never falls, and a fit ends at a maximum of it. The paper moves all rows towards the mean of their
neighbours instead, for as long as the objective rises, which ends short of the maximum and takes longer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from ...engine.blocks import map_blocks
from ...engine.jit import njit, njit_inline
from ...engine.loop import State
from ..em.leave_one_out import LeaveOneOutStep, focus_of
from ..em.plsa_kernels import SeedCounts, document_step, plain_step, token_count
from ..em.seed_words import SeedWords
from ..estimator import Dtype
from ..fit_loop import Step
from ..inputs import RandomStateLike
from .graph_data import GraphData
from .graph_model import GraphInit, Metric
from .graph_start import start_tables
from .graph_tables import Edges, row_slices, scaled, write_rows
from .weighted_model import WeightedGraphModel

__all__ = ["LapPLSI"]

_NEWTON_STEPS = 60


@njit_inline
def drawn_share(b, gain, strength):
    """The y > 0 with 2 strength y^2 + b y - gain = 0, and the root sqrt(b^2 + 8 strength gain) of its formula."""
    root = np.sqrt(b * b + 8 * strength * gain)
    return (2 * gain / (b + root) if b > 0 else (root - b) / (4 * strength)), root


@njit
def drawn_rows(indptr, indices, weights, first, last, tokens, base, pull, before, rows):
    """Rows first..last of `rows`, one after another, become the y on the simplex with the largest

        sum_k (tokens_k + base_k) ln y_k - pull sum_j W_ij |y - y_j|^2

    where y_j is the row of j now. The rows of other documents may change at the same time: for these, |y - y_j|^2 is
    replaced by its upper bound 2 |y - m|^2 + 2 |y_j - m|^2, with m the middle of both rows `before`. With
    p = pull sum_j W_ij and t = pull sum_j W_ij y_j, y_k is the root of 2 p y_k^2 + (r - 2 t_k) y_k - c_k = 0, and r
    is the number with which they sum to one, found by Newton's method: the sum is convex in r.
    """
    n_topics = len(base)
    toward, gain = np.empty(n_topics), np.empty(n_topics)
    for i in range(first, last):
        # where the neighbours are, and how strongly they pull
        toward[:] = 0.0
        strength = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j, weight = indices[e], pull * weights[e]
            if first <= j < last:
                strength += weight
                for k in range(n_topics):
                    toward[k] += weight * rows[j, k]
            else:
                strength += 2 * weight
                for k in range(n_topics):
                    toward[k] += weight * (np.float64(before[i, k]) + before[j, k])
        total = 0.0
        for k in range(n_topics):
            gain[k] = max(tokens[i, k] + base[k], 0.0)
            total += gain[k]
        if strength == 0.0:
            for k in range(n_topics):
                rows[i, k] = gain[k] / total if total > 0 else rows[i, k]
            continue
        # the number r, from what it is for the row as it was
        r = total
        for k in range(n_topics):
            r += 2 * rows[i, k] * (toward[k] - strength * rows[i, k])
        for step in range(_NEWTON_STEPS):
            excess, slope = -1.0, 0.0
            for k in range(n_topics):
                y, root = drawn_share(r - 2 * toward[k], gain[k], strength)
                excess += y
                slope += y / root if root > 0 else 0.25 / strength
            if (step > 0 and excess <= 1e-14) or slope == 0:
                break
            r += excess / slope
        total = 0.0
        for k in range(n_topics):
            gain[k], _ = drawn_share(r - 2 * toward[k], gain[k], strength)
            total += gain[k]
        for k in range(n_topics):
            rows[i, k] = gain[k] / total


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
    metric : {'cosine', 'euclidean', 'intersection', 'lsi', 'word_vectors'}, default='cosine'
        Similarity by which neighbours are found: cosine of tf-idf, Euclidean distance of counts, intersection of tf-idf
        histograms, cosine of tf-idf and, as a second list, of LSI vectors, or cosine of sums of the vectors of English
        words that come with the package, which suits short texts: they then start from these vectors, too. With
        embeddings, cosine or Euclidean distance.
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
        counts, n_topics = data.counts, self.n_topics_
        n_tokens, lengths = token_count(counts), counts.sum(axis=1, dtype=np.float64)
        edges = None if data.graph is None or weight == 0 else Edges(data.graph, self.n_jobs)

        def draw(table: np.ndarray, tokens: np.ndarray, base: np.ndarray) -> None:
            """The M-step for P(z|d) in `table`, in place."""
            if edges is None:
                write_rows(table[:, :n_topics], tokens[:, :n_topics], base)
                return
            blocks = list(row_slices(len(table)))
            before = table if len(blocks) == 1 else table.copy()

            def block(rows: slice) -> None:
                drawn_rows(*edges.parts, rows.start, rows.stop, tokens, base, weight, before, table)

            map_blocks(block, blocks, self.n_jobs)

        def roughness(table: np.ndarray) -> float:
            return 0.0 if edges is None else weight * edges.roughness(table, n_topics)

        if self.alpha == 0:
            plain, none = plain_step(counts, n_topics, self.n_jobs, self.beta, seed_counts), np.zeros(n_topics)
            if edges is None:
                return plain

            def step(state: State) -> float:
                before, rough = state["doc_topic"].copy(), roughness(state["doc_topic"])
                objective = plain(state) - rough / n_tokens
                tokens = scaled(state["doc_topic"], lengths)
                state["doc_topic"][:] = before
                draw(state["doc_topic"], tokens, none)
                return objective

            return step
        leave_one_out = LeaveOneOutStep(counts, n_topics, self.n_jobs, self.beta, seed_counts)
        scale = lengths + self.alpha + focus_of(lengths, self._focus())

        def step_with_prior(state: State) -> float:
            rough = roughness(state["doc_topic"])
            log_likelihood, tokens, base = self._leave_one_out(leave_one_out, state, scale)
            draw(state["doc_topic"], tokens, base)
            return (log_likelihood - rough) / n_tokens

        return step_with_prior
