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
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ...engine.blocks import single_threaded_libraries
from ...engine.loop import State
from ...graph.build import laplacian
from ..inputs import count_tags
from .graph_model import (
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
from .linear_system import GraphSystem
from .weight import choose_weight

__all__ = ["LTM"]


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
