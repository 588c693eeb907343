"""LTM: neighbouring documents have similar topics (Cai, Wang and He 2009).

The M-step for P(z|d) of all documents at once, y_k being the column of topic k and n_i the length of document i:

    (Omega + graph_weight * L) y_k = c_k,  Omega = diag(n_i),  L = D - W,  c_ik = sum_w n(i,w) P(z_k|i,w)     (eq. 15)

The matrix is the same during the whole fit: it is factorised once or, if the factors would not fit into memory, solved
by conjugate gradients from the last solution; with many documents and a weak graph, by Gauss-Seidel sweeps.

The paper's eq. 11 is off by a factor of 2, so eq. 15 belongs to its objective (eq. 6) with half the weight:
log-likelihood - graph_weight / 2 * sum_k y_k' L ln y_k, which is what `history_` shows. It is a linearisation: the
objective may fall a little late in a fit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from ...engine.checks import check_choice
from ...engine.loop import State
from ..em.leave_one_out import LeaveOneOutStep, focus_of
from ..em.plsa_kernels import SeedCounts, plain_step, token_count
from ..em.seed_words import SeedWords
from ..estimator import Dtype
from ..fit_loop import Step
from ..inputs import RandomStateLike
from .graph_data import FLOOR, GraphData, without_tokens
from .graph_model import GraphInit, Metric
from .graph_start import start_tables
from .graph_tables import Edges, write_rows
from .linear_system import GraphSystem
from .weighted_model import WeightedGraphModel

__all__ = ["LTM"]


class LTM(WeightedGraphModel):
    """Locally-consistent topic model: neighbouring documents have similar topics.

    Neighbours come from the words, from embeddings, from labels, or from a given graph such as citations.

    Parameters
    ----------
    n_topics : int or 'auto', default=20
        Number of topics. 'auto' tries 5, 10, 20, 40 and, if 40 is best, more on a sample of the documents; `n_topics_`
        is its choice.
    graph_weight : float or 'auto', default='auto'
        How strongly neighbours influence a document, in tokens per edge: at 1000, five neighbours outweigh a document
        of 100 tokens fifty to one. 0 is LDA or, without a prior, PLSA. 'auto' chooses the weight with which the largest
        topics of held-out documents predict their words best, from 0, 0.03, 0.1, ... 100 (without a prior 1, 3, ...
        1000). This costs two to five more fits, fewer with many documents. If X has fractions such as tf-idf, nothing
        can be held out and the weight is 1.
    n_neighbors : int, default=5
        Number of neighbours per document in the graph that is built if `fit` gets none. Among more than 50,000
        documents the neighbours are approximate; `knn_graph` with `exact=True` finds the exact ones.
    metric : {'cosine', 'euclidean', 'intersection', 'lsi', 'word_vectors'}, default='cosine'
        Similarity by which neighbours are found: cosine of tf-idf, Euclidean distance of counts, intersection of tf-idf
        histograms, cosine of tf-idf and, as a second list, of LSI vectors, or cosine of sums of the vectors of English
        words that come with the package, which suits short texts: they then start from these vectors, too. With
        embeddings, cosine or Euclidean distance.
    solver : {'auto', 'direct', 'cg'}, default='auto'
        How the linear system of each step is solved: 'direct' factorises it once, 'cg' uses conjugate gradients. 'auto'
        is 'direct' for weights of 100 or more on up to 10,000 documents, and Gauss-Seidel sweeps for weak graphs of
        more documents.
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
        EM stops when the objective per token changes by less than this.
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
    LapPLSI : The same idea with squared distances between neighbours.
    DTM : Also pushes documents that are not neighbours apart.
    knn_graph : Builds a graph of nearest neighbours.

    References
    ----------
    Cai, D., Wang, X. and He, X. (2009). Probabilistic dyadic data analysis with local and global consistency. ICML.
    https://doi.org/10.1145/1553374.1553388

    Examples
    --------
    >>> from topicfold import LTM
    >>> texts = ["cat dog cat", "dog cat", "cat dog mouse", "sun moon", "moon star sun", "star sun"]
    >>> topics = LTM(n_topics=2, n_neighbors=2, random_state=0).fit_predict(texts)
    >>> (topics == topics[0]).tolist()
    [True, True, True, False, False, False]
    """

    _monotone = False  # each step is a linearisation

    def __init__(
        self,
        n_topics: int | Literal["auto"] = 20,
        *,
        graph_weight: float | Literal["auto"] = "auto",
        n_neighbors: int = 5,
        metric: Metric = "cosine",
        solver: Literal["auto", "direct", "cg"] = "auto",
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
        self.solver = solver
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
        check_choice("solver", self.solver, ("auto", "direct", "cg"))
        self._check_graph_weight()

    def _begin(self, data: GraphData) -> State:
        return start_tables(self, data)

    def _step(self, data: GraphData, seed_counts: SeedCounts, weight: float) -> Step:
        if self.alpha > 0:
            return self._step_with_prior(data, seed_counts, weight)
        counts, n_topics = data.counts, self.n_topics_
        n_tokens, plain = token_count(counts), plain_step(counts, n_topics, self.n_jobs, self.beta, seed_counts)
        lengths = counts.sum(axis=1, dtype=np.float64)

        if data.graph is None or weight == 0:
            return plain
        no_evidence = without_tokens(data)
        system = GraphSystem(lengths, data.graph, weight, no_evidence, self.solver, self.n_jobs, counts.dtype)
        edges = Edges(data.graph, self.n_jobs)
        scale = np.where(no_evidence, 1.0, lengths)[:, None]

        def smooth(state: State) -> float:
            doc_topic = state["doc_topic"][:, :n_topics]  # a view: what is written to it is in the state
            before = doc_topic.copy()
            roughness = edges.roughness(state["doc_topic"], n_topics, logs=True)
            objective = plain(state) - weight / 2 * roughness / n_tokens
            write_rows(doc_topic, system.solve(lambda topics: scale * doc_topic[:, topics], before), least=FLOOR)
            return objective

        return smooth

    def _step_with_prior(self, data: GraphData, seed_counts: SeedCounts, weight: float) -> Step:
        """Leave-one-out EM on the graph, with the prior (alpha, focus, m, r) of leave_one_out.py and degrees deg:

            (Omega + alpha + focus + weight L) y_k = n_k + alpha m_k + focus r_k
            A = y (Omega + alpha + focus + weight deg)

        The pseudo-counts A replace n + alpha m + focus r there.
        """
        counts, n_topics = data.counts, self.n_topics_
        n_tokens, lengths = token_count(counts), counts.sum(axis=1, dtype=np.float64)
        strength = self.alpha + focus_of(lengths, self._focus())
        step = LeaveOneOutStep(counts, n_topics, self.n_jobs, self.beta, seed_counts)
        graph = data.graph if weight > 0 else None
        system, edges, scale = None, None, lengths + strength
        if graph is not None:
            no_row = np.zeros(len(lengths), bool)
            system = GraphSystem(lengths + strength, graph, weight, no_row, self.solver, self.n_jobs, counts.dtype)
            edges = Edges(graph, self.n_jobs)
            scale = lengths + strength + weight * edges.degree

        def step_with_prior(state: State) -> float:
            doc_topic = state["doc_topic"][:, :n_topics]  # a view: what is written to it is in the state
            log_likelihood, tokens, base = self._leave_one_out(step, state, scale)
            if system is None or edges is None:
                write_rows(doc_topic, tokens[:, :n_topics], base)
                return log_likelihood / n_tokens
            roughness = edges.roughness(state["doc_topic"], n_topics, logs=True)
            solution = system.solve(lambda topics: tokens[:, topics] + base[topics], doc_topic)
            write_rows(doc_topic, solution, least=FLOOR)
            return (log_likelihood - weight / 2 * roughness) / n_tokens

        return step_with_prior
