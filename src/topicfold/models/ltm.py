"""LTM: topics that are alike where documents are neighbours (Cai, Wang and He 2009).

The M-step for P(z|d) of all documents at once, y_k being the column of topic k and n_i the length of document i:

    (Omega + graph_weight * L) y_k = c_k,  Omega = diag(n_i),  L = D - W,  c_ik = sum_w n(i,w) P(z_k|i,w)     (eq. 15)

The matrix stays the same through the whole fit: it is factorised once, or, where the factors would not fit, solved by
conjugate gradients from the last solution.

The paper's eq. 11 is off by a factor of 2, so eq. 15 belongs to its objective (eq. 6) with half the weight:
log-likelihood - graph_weight / 2 * sum_k y_k' L ln y_k, which is what `history_` shows. It is a linearisation: the
objective may fall a little late in a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..blocks import map_blocks, single_threaded_libraries
from ..counts import count_tags
from ..fitting import State
from ..graph import laplacian
from ..jit import njit_fast
from .graph_weight import choose_weight
from .on_graph import (
    FLOOR,
    Documents,
    begin,
    completion_of_new,
    fit_on_graph,
    gather,
    plain_step,
    topics_of_new,
    without_tokens,
)

__all__ = ["LTM"]

_COLUMNS_A_SOLVE = 32
_DIRECT_DOCUMENTS = 10_000  # above, the factors of a nearest-neighbour graph outgrow the fit
_DIRECT_WEIGHT = 100.0  # below, conjugate gradients need few steps and are faster at any size
_DENSE, _MOST_DENSE = 0.9, 4000  # share of a triangle, columns
_CG_TOL = 1e-6
_CG_ITER = 1000


# ---- kernels --------------------------------------------------------------------------------------------------------


@njit_fast
def solve_lower(indptr, indices, lower, solution):
    """solution = L^-1 solution for the leading columns of L, which has ones on its diagonal, column by column."""
    width = solution.shape[1]
    for j in range(len(indptr) - 1):
        for e in range(indptr[j] + 1, indptr[j + 1]):
            i, value = indices[e], lower[e]
            for k in range(width):
                solution[i, k] -= value * solution[j, k]


@njit_fast
def solve_upper(indptr, indices, lower, pivots, solution):
    """solution = (D L')^-1 solution for the leading columns of L, from the last of them to the first."""
    width = solution.shape[1]
    for j in range(len(indptr) - 2, -1, -1):
        for k in range(width):
            solution[j, k] /= pivots[j]
        for e in range(indptr[j] + 1, indptr[j + 1]):
            i, value = indices[e], lower[e]
            for k in range(width):
                solution[j, k] -= value * solution[i, k]


@njit_fast
def conjugate_gradients(indptr, indices, weights, diagonal, target, solution, tol, max_iter):
    """Solve (diag(diagonal) - W) solution = target for all columns at once, from the solution given; steps taken.

    Preconditioned by the diagonal A; a column rests once r' A^-1 r <= tol^2 b' A^-1 b for its residual r and target b,
    so that short documents count as much as long ones.
    """
    n, width = solution.shape
    residual = np.empty((n, width))
    direction = np.empty((n, width))
    image = np.empty((n, width))
    goal = np.zeros(width)
    rho = np.zeros(width)
    for i in range(n):
        for k in range(width):
            residual[i, k] = target[i, k] - diagonal[i] * solution[i, k]
        for e in range(indptr[i], indptr[i + 1]):
            j, weight = indices[e], weights[e]
            for k in range(width):
                residual[i, k] += weight * solution[j, k]
        for k in range(width):
            goal[k] += target[i, k] * target[i, k] / diagonal[i]
            direction[i, k] = residual[i, k] / diagonal[i]
            rho[k] += residual[i, k] * direction[i, k]
    step = np.zeros(width)
    for iteration in range(max_iter):
        resting = True
        for k in range(width):
            if rho[k] > tol * tol * goal[k]:
                resting = False
        if resting:
            return iteration
        step[:] = 0.0
        for i in range(n):
            for k in range(width):
                image[i, k] = diagonal[i] * direction[i, k]
            for e in range(indptr[i], indptr[i + 1]):
                j, weight = indices[e], weights[e]
                for k in range(width):
                    image[i, k] -= weight * direction[j, k]
            for k in range(width):
                step[k] += direction[i, k] * image[i, k]
        for k in range(width):
            step[k] = rho[k] / step[k] if step[k] > 0 and rho[k] > tol * tol * goal[k] else 0.0
        before = rho.copy()
        rho[:] = 0.0
        for i in range(n):
            for k in range(width):
                solution[i, k] += step[k] * direction[i, k]
                residual[i, k] -= step[k] * image[i, k]
                rho[k] += residual[i, k] * residual[i, k] / diagonal[i]
        for k in range(width):
            before[k] = rho[k] / before[k] if before[k] > 0 else 0.0
        for i in range(n):
            for k in range(width):
                direction[i, k] = residual[i, k] / diagonal[i] + before[k] * direction[i, k]
    return max_iter


# ---- the linear system ----------------------------------------------------------------------------------------------


class GraphSystem:
    """(Omega + weight * L) y = target, ready to be solved again and again for all topics; BLAS should have one thread.

    `solve(target, guess)` returns y; the guess helps conjugate gradients alone. Documents in components of the graph
    without any token would make the system singular: they get the target itself.
    """

    def __init__(
        self,
        lengths: np.ndarray,
        graph: sp.csr_array,
        weight: float,
        silent: np.ndarray,
        solver: str,
        n_jobs: Any,
        dtype: Any = np.float64,
    ) -> None:
        pays = weight >= _DIRECT_WEIGHT and len(lengths) <= _DIRECT_DOCUMENTS
        self.direct = solver == "direct" or (solver == "auto" and pays)
        self.n_jobs, self.dtype = n_jobs, dtype
        self.parts: tuple[np.ndarray, ...]
        omega = np.where(silent, 1.0, lengths)
        if self.direct:
            self._factorise(sp.csc_array(sp.diags_array(omega) + weight * laplacian(graph)))
        else:
            self.parts = (graph.indptr.astype(np.int64), graph.indices.astype(np.int32), weight * graph.data)
            self.diagonal = omega + weight * graph.sum(axis=1)

    def solve(self, target: np.ndarray, guess: np.ndarray) -> np.ndarray:
        """y of every topic, a column each, in float64; columns go in groups of fixed size, one a thread."""
        solution = np.empty(target.shape)

        def group(first: int) -> None:
            here = slice(first, first + _COLUMNS_A_SOLVE)
            if self.direct:
                part = np.ascontiguousarray(target[self.order, here], dtype=np.float64)
                solve_lower(*self.parts, part)
                tail = part[len(self.pivots) :]
                tail[:] = self.tail_inverse @ tail.astype(self.tail_inverse.dtype, copy=False)
                solve_upper(*self.parts, self.pivots, part)
                solution[self.order, here] = part
            else:
                part = np.ascontiguousarray(guess[:, here], dtype=np.float64)
                goal = np.ascontiguousarray(target[:, here], dtype=np.float64)
                conjugate_gradients(*self.parts, self.diagonal, goal, part, _CG_TOL, _CG_ITER)
                solution[:, here] = part

        map_blocks(group, range(0, target.shape[1], _COLUMNS_A_SOLVE), self.n_jobs)
        return solution

    def _factorise(self, matrix: sp.csc_array) -> None:
        from scipy.sparse.linalg import splu

        # SuperLU's own choice of order (COLAMD) gives four times the fill. Without pivoting the factors of a symmetric
        # matrix are L and D L', and one of them is enough.
        options = {"SymmetricMode": True}
        factors = splu(sp.csc_matrix(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        lower, pivots = sp.csc_array(factors.L), factors.U.diagonal()
        lower.sort_indices()
        self.order = np.argsort(factors.perm_r)
        # The last columns are all but dense, and hold nearly all of the factor: their part is solved by its inverse.
        first = len(pivots) - _dense_tail(np.diff(lower.indptr))
        last = lower[first:, first:].toarray()
        # No entry is negative, nor is what it is multiplied with: single precision costs nothing but the last digits.
        self.tail_inverse = np.linalg.inv((last * pivots[first:]) @ last.T).astype(self.dtype)
        leading = lower[:, :first]
        self.parts = (leading.indptr.astype(np.int64), leading.indices.astype(np.int32), leading.data)
        self.pivots = pivots[:first]


def _dense_tail(column_counts: np.ndarray) -> int:
    """How many of the last columns of a lower triangle are nearly full."""
    size = np.arange(1, len(column_counts) + 1)
    density = np.cumsum(column_counts[::-1]) / (size * (size + 1) / 2)
    full = np.flatnonzero(density >= _DENSE)
    return min(int(full[-1]) + 1, _MOST_DENSE) if len(full) else 0


# ---- the model ------------------------------------------------------------------------------------------------------


class LTM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Locally-consistent topic model: PLSA in which neighbouring documents have similar topics.

    Parameters
    ----------
    n_topics : number of topics.
    graph_weight : how strongly neighbours draw on a document, in tokens an edge: at 1000 five neighbours outweigh a
        document of 100 tokens fifty to one, which is right for some corpora and joins everything in others. 0 is PLSA,
        'auto' chooses among 1, 3, 10, ... 1000 on tokens and edges held out, at the price of a few fits.
    n_neighbors, metric : the graph made where `fit` is given none: so many nearest documents by 'cosine' of tf-idf,
        'euclidean' distance of counts, or 'intersection' of tf-idf histograms; of embeddings by cosine or Euclidean.
    solver : 'direct' (factorise once), 'cg' (conjugate gradients), or 'auto': direct for a weight
        of 100 and more on up to 10,000 documents.
    init : 'nmf' (on tf-idf), 'kmeans' (on the vectors the graph is made of), 'spectral' (a normalised cut of the
        graph), 'random', an array of topics x words, or 'auto': 'kmeans' with embeddings, else as PLSA.
    smoothing, seed_words, seed_strength : as in PLSA.
    store_neighbors : keep what it takes to find neighbours of new documents (tf-idf or embeddings of the training
        documents); without it new documents are folded in by their words alone.
    max_iter, tol : EM stops after max_iter steps, or when the objective a token moves by less than tol.
    dtype, random_state, n_jobs, verbose, checkpoint : as in PLSA.

    Attributes
    ----------
    topic_word_, doc_topic_, topic_weight_, word_frequency_ : as in PLSA; doc_topic_ is that of the graph fit.
    graph_ : the graph of the training documents, None when graph_weight is 0.
    graph_weight_ : the weight used.
    graph_weight_path_ : with 'auto', a row for each weight tried: weight, held-out log-likelihood a token, share of
        the largest topic, AUC of held-out edges, accuracy on held-out labels (NaN without labels).
    history_ : the objective a token before each step: log-likelihood less the graph's part.
    n_iter_, converged_, interrupted_ : as in PLSA.

    Examples
    --------
    >>> from topicfold import Corpus, LTM
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "cat dog mouse", "sun moon", "moon star sun", "star sun"])
    >>> model = LTM(n_topics=2, n_neighbors=2, random_state=0).fit(corpus)
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
        graph_weight: float | str = 10.0,
        n_neighbors: int = 5,
        metric: str = "cosine",
        solver: str = "auto",
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
        self.graph_weight = graph_weight
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.solver = solver
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

    def fit(self, X: Any, y: Any = None, *, graph: Any = None, embeddings: Any = None) -> LTM:
        """Fit topics to documents x words on a graph of the documents.

        `y` holds labels where they are known (-1, None, NaN or '' where not): documents of one class are joined, those
        of two are parted. `graph` is a symmetric matrix of documents x documents; `embeddings`, a row a document, give
        a graph of nearest neighbours and a start. Without either the graph is made from the words.
        """
        if self.solver not in ("auto", "direct", "cg"):
            raise ValueError(f"solver={self.solver!r}: expected 'auto', 'direct' or 'cg'")
        documents = gather(self, X, y, graph, embeddings, wanted=self.graph_weight != 0)
        start = partial(begin, self)

        def choose(prior: tuple[Any, ...]) -> tuple[float, np.ndarray, bool]:
            return choose_weight(self, documents, prior, start, self._step)

        how = {"choose": choose} if self.graph_weight == "auto" else {"weight": self.graph_weight}
        with single_threaded_libraries():  # once for all steps: it looks for libraries, which takes as long as a step
            state = fit_on_graph(self, documents, self._step, rises=documents.graph is None, begin=start, **how)
        self.graph_weight_path_ = state["weight_path"] if self.graph_weight == "auto" else None
        self.graph_weight_ = float(state["weight"])
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
        return topics_of_new(self, X, graph, embeddings, self.graph_weight_)

    def score(self, X: Any, y: Any = None, *, graph: Any = None, embeddings: Any = None) -> float:
        """Mean log-likelihood a token by document completion: half of each document is seen, the rest is scored.

        Neighbours by words are those of the half that is seen. Whoever gives `graph` or `embeddings` answers for that:
        made from whole documents they have seen what is to be foretold (`metrics.split_tokens` shows the halves).
        """
        check_is_fitted(self)
        return completion_of_new(self, X, graph, embeddings, self.graph_weight_)

    def _step(self, documents: Documents, prior: tuple[Any, ...], weight: float) -> Callable[[State], float]:
        counts, n_topics = documents.counts, self.n_topics
        n_tokens, plain = max(float(counts.sum(dtype=np.float64)), 1e-300), plain_step(self, counts, prior)
        lengths = counts.sum(axis=1, dtype=np.float64)

        if documents.graph is None or weight == 0:
            return plain
        silent = without_tokens(documents)
        system = GraphSystem(lengths, documents.graph, weight, silent, self.solver, self.n_jobs, counts.dtype)
        shifts = laplacian(documents.graph)
        scale = np.where(silent, 1.0, lengths)[:, None]

        def smooth(state: State) -> float:
            doc_topic = state["doc_topic"][:, :n_topics]  # a view: what is written to it is in the state
            before = doc_topic.astype(np.float64)
            roughness = float(np.einsum("ik,ik->", before, shifts @ np.log(np.maximum(before, FLOOR))))
            objective = plain(state) - weight / 2 * roughness / n_tokens
            solution = system.solve(scale * doc_topic, before)
            np.maximum(solution, FLOOR, out=solution)
            doc_topic[:] = solution / solution.sum(axis=1, keepdims=True)
            return objective

        return smooth

    @property
    def components_(self) -> np.ndarray:
        """P(w|z), by scikit-learn's name."""
        return self.topic_word_

    @property
    def _n_features_out(self) -> int:
        return len(self.topic_word_)

    def __sklearn_tags__(self) -> Any:
        return count_tags(super().__sklearn_tags__())
