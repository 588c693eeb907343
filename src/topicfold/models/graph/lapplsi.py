"""LapPLSI: PLSA with a Laplacian penalty on how P(z|d) differs between neighbours (Cai, Mei, Han and Zhai 2008).

The objective, with edges counted once, L = D - W and P_i the row P(z|d_i):

    log-likelihood - graph_weight * 1/2 sum_ij W_ij |P_i - P_j|^2 = log-likelihood - graph_weight * sum_k y_k' L y_k

(Papers differ by factors of two here; this is the convention of topicfold.) A step is PLSA's, after which rows move
towards the mean of their neighbours, P_i <- (1 - g) P_i + g sum_j W_ij P_j / D_i, as long as the objective rises: twice
as many moves each time it has risen, half as many and then a smaller g (0.1 at first) where it has not. The objective
never falls: where no point on that way is better than where the step began, P(z|d) stays.
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
from ..em import cell_probabilities, document_step, log_likelihood, padded
from ..inputs import count_tags
from .graph_model import Documents, begin, completion_of_new, fit_on_graph, gather, plain_step, topics_of_new
from .weight import choose_weight

__all__ = ["LapPLSI"]

_MOVE = 0.1  # g, the share of the neighbours' mean in a move
_HALVINGS = 3
_MOVES = 100
_MOST_TIMES = 64


class LapPLSI(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Laplacian PLSI: PLSA in which neighbouring documents have similar topics, by squared distance.

    Parameters
    ----------
    n_topics : number of topics.
    graph_weight : how strongly neighbours draw on a document; 0 is PLSA, 'auto' chooses among 1, 3, 10, ... 1000 on
        tokens and edges held out, at the price of a few fits.
    n_neighbors, metric : the graph made where `fit` is given none: so many nearest documents by 'cosine' of tf-idf,
        'euclidean' distance of counts, or 'intersection' of tf-idf histograms; of embeddings by cosine or Euclidean.
    init : 'nmf' (on tf-idf), 'kmeans' (on the vectors the graph is made of), 'spectral' (a normalised cut of the
        graph), 'random', an array of topics x words, or 'auto': 'kmeans' with embeddings, else as PLSA.
    smoothing, seed_words, seed_strength : as in PLSA.
    store_neighbors : keep what it takes to find neighbours of new documents (tf-idf or embeddings of the training
        documents); without it new documents are folded in by their words alone.
    max_iter, tol : EM stops after max_iter steps, or when the objective a token rises by less than tol.
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
    >>> from topicfold import Corpus, LapPLSI
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "cat dog mouse", "sun moon", "moon star sun", "star sun"])
    >>> model = LapPLSI(n_topics=2, n_neighbors=2, random_state=0).fit(corpus)
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
        graph_weight: float | str = 100.0,
        n_neighbors: int = 5,
        metric: str = "cosine",
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

    def fit(self, X: Any, y: Any = None, *, graph: Any = None, embeddings: Any = None) -> LapPLSI:
        """Fit topics to documents x words on a graph of the documents.

        `y` holds labels where they are known (-1, None, NaN or '' where not): documents of one class are joined, those
        of two are parted. `graph` is a symmetric matrix of documents x documents; `embeddings`, a row a document, give
        a graph of nearest neighbours and a start. Without either the graph is made from the words.
        """
        documents = gather(self, X, y, graph, embeddings, wanted=self.graph_weight != 0)

        def choose(prior: tuple[Any, ...]) -> tuple[float, np.ndarray, bool]:
            return choose_weight(self, documents, prior, self._begin, self._step)

        how = {"choose": choose} if self.graph_weight == "auto" else {"weight": self.graph_weight}
        state = fit_on_graph(self, documents, self._step, rises=True, begin=self._begin, **how)
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
        return topics_of_new(self, X, graph, embeddings, self.graph_weight_, squared=True)

    def score(self, X: Any, y: Any = None, *, graph: Any = None, embeddings: Any = None) -> float:
        """Mean log-likelihood a token by document completion: half of each document is seen, the rest is scored.

        Neighbours by words are those of the half that is seen. Whoever gives `graph` or `embeddings` answers for that:
        made from whole documents they have seen what is to be foretold (`metrics.split_tokens` shows the halves).
        """
        check_is_fitted(self)
        return completion_of_new(self, X, graph, embeddings, self.graph_weight_, squared=True)

    def _begin(self, documents: Documents) -> State:
        state = begin(self, documents)
        if documents.graph is not None:
            # Documents that begin alike are a saddle that a strong weight would never leave.
            tables = (state["doc_topic"], state["word_topic"])
            state["doc_topic"], _ = document_step(documents.counts, *tables, self.n_jobs)
        return state

    def _step(self, documents: Documents, prior: tuple[Any, ...], weight: float) -> Callable[[State], float]:
        counts = documents.counts
        n_tokens, plain = max(float(counts.sum(dtype=np.float64)), 1e-300), plain_step(self, counts, prior)

        if documents.graph is None or weight == 0:
            return plain
        shifts = laplacian(documents.graph)
        degree = documents.graph.sum(axis=1)
        mean = sp.diags_array(1 / np.where(degree > 0, degree, 1)) @ documents.graph
        alone = degree == 0

        def objective(doc_topic: np.ndarray, word_topic: np.ndarray) -> float:
            probability = cell_probabilities(counts, doc_topic, word_topic, self.n_jobs)
            return log_likelihood(counts, probability) - weight * _roughness(shifts, doc_topic)

        def averaged(doc_topic: np.ndarray, share: float, times: int) -> np.ndarray:
            moved = doc_topic
            for _ in range(times):
                near = mean @ moved
                near[alone] = moved[alone]
                moved = (1 - share) * moved + share * near
            return padded(moved, doc_topic.dtype)

        def smooth(state: State) -> float:
            before, word_topic = state["doc_topic"].copy(), state["word_topic"]
            rough = weight * _roughness(shifts, before)
            value = plain(state) - rough / n_tokens
            best, share, times = state["doc_topic"], _MOVE, 1
            height = objective(best, word_topic)
            for _ in range(_MOVES):
                moved = averaged(best, share, times)  # a look at the objective is dear, a move is not
                if (higher := objective(moved, word_topic)) > height:
                    best, height, times = moved, higher, min(2 * times, _MOST_TIMES)
                elif times > 1:
                    times //= 2
                elif share > _MOVE / 2**_HALVINGS:
                    share /= 2
                else:
                    break
            if height >= objective(before, word_topic):
                state["doc_topic"] = best
            else:
                state["doc_topic"] = before
            return value

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


def _roughness(shifts: sp.csr_array, doc_topic: np.ndarray) -> float:
    """sum_k y_k' L y_k."""
    values = doc_topic.astype(np.float64)
    return float(np.einsum("ik,ik->", values, shifts @ values))
