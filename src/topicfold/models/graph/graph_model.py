"""What LapPLSI, LTM and DTM share: documents with neighbours beside their words.

A fit works on counts and a graph: a user's own, nearest neighbours of embeddings or of tf-idf, and edges of labels.
New documents are not in the graph. They are drawn to the training documents that are their neighbours, whose P(z|d)
stands still, so that one new document does not depend on another.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from ...corpus.weighting import inverse_document_frequency
from ...engine.checks import check_whole_numbers
from ...engine.loop import Checkpoint, State, fingerprint, hold_interrupts, iterate
from ...graph.build import label_graph, spectral_vectors
from ...graph.check import check_graph, check_neighbors, label_codes
from ...graph.neighbors import document_vectors, nearest
from ...metrics.completion import completion_log_likelihood, split_tokens
from ..em import (
    EMStep,
    check_parameters,
    check_size,
    fold_in,
    keep_run,
    keep_topics,
    log_prior,
    normalised,
    padded,
    seed_prior,
)
from ..inputs import as_counts, seen_words, vocabulary_of
from ..starts import STARTS, seed_columns, start
from .fold_in_near import fold_in_near

__all__ = [
    "FLOOR",
    "Documents",
    "begin",
    "completion_of_new",
    "fit_on_graph",
    "gather",
    "joined",
    "plain_step",
    "topics_of_new",
    "without_tokens",
]

FLOOR = 1e-12  # P(z|d) of a graph model: a zero could never grow again, and its logarithm is asked for
_SWALLOWED = 0.9  # of the documents in one topic: the graph has drawn everything together
_SPECTRAL_STARTS = 10
_MOST = 1e15  # of an embedding: its square is a float32 still


class Documents(NamedTuple):
    """What a fit works on. `vectors` are embeddings, or what stands for the documents where neighbours are sought."""

    counts: sp.csr_array
    graph: sp.csr_array | None
    vectors: Any
    labels: np.ndarray | None
    by: str | None = None  # what the graph is made of: "embeddings", "words", or given as it is: "graph"
    unlabelled: sp.csr_array | None = None  # the graph without the edges of labels


def gather(model: Any, X: Any, y: Any, graph: Any, embeddings: Any, *, wanted: bool = True) -> Documents:
    """Check what `fit` is given, make the graph where none is, and note in the model what new documents will need.

    `wanted` is False for a weight of 0: no graph is made, and the model is plain PLSA.
    """
    dtype = check_parameters(model)
    _check_neighbor_parameters(model)
    counts = as_counts(model, X, reset=True, dtype=dtype)
    check_size(counts, model.n_topics)
    n_documents = counts.shape[0]
    labels = None if y is None else label_codes(y, n_documents)
    given = None if graph is None else check_graph(graph, n_documents)
    vectors = None if embeddings is None else _check_embeddings(embeddings, n_documents)
    model.graph_ = model.neighbor_vectors_ = model.neighbor_idf_ = None
    model.neighbors_by_ = None  # how new documents find neighbours: by "embeddings", by "words", or not at all
    if not wanted:
        return Documents(counts, None, None, None)
    by = "embeddings" if vectors is not None else "words" if given is None else "graph"
    if vectors is None:
        vectors = document_vectors(counts, model.metric)
    if given is None:
        near = nearest(
            vectors, vectors, model.n_neighbors, metric=_metric(model, by), skip_self=True, n_jobs=model.n_jobs
        )
        given = joined(near)
    model.graph_ = given
    if labels is not None and (labels >= 0).any():
        model.graph_ = label_graph(given, labels)
    if model.store_neighbors:
        # On a graph of the user's own new documents still have words: without neighbours they would do worse than PLSA.
        model.neighbors_by_ = "embeddings" if by == "embeddings" else "words"
        model.neighbor_vectors_ = vectors
        model.neighbor_idf_ = None if by == "embeddings" else inverse_document_frequency(counts)
    return Documents(counts, model.graph_, vectors, labels, by, given)


def joined(near: sp.csr_array) -> sp.csr_array:
    """Documents are joined, with weight 1, if either is among the nearest of the other; `near` is used up."""
    near.data = np.ones(near.nnz)
    return sp.csr_array(near.maximum(near.T))


def fit_on_graph(
    model: Any,
    documents: Documents,
    make_step: Callable[[Documents, tuple[Any, ...], float], Callable[[State], Any]],
    *,
    rises: bool,
    begin: Callable[[Documents], State],
    weight: Any = 0.0,
    choose: Callable[[tuple[Any, ...]], tuple[float, np.ndarray, bool]] | None = None,
) -> State:
    """Run a model's steps from its start to the end and keep the result; the final state.

    `make_step(documents, prior, weight)` returns the step, `begin(documents)` the state to start from. Where `choose`
    is given it returns the weight, what it was chosen by, and whether Ctrl-C cut that short: then one step is made.
    """
    counts = documents.counts
    prior = seed_prior(_seeds(model, documents), _seed_strength(model, counts), counts.dtype)
    checkpoint = None
    if model.checkpoint is not None:
        data = [counts, *([] if documents.graph is None else [documents.graph])]
        checkpoint = Checkpoint(model.checkpoint, fingerprint(model, *data))
    resumed = None if checkpoint is None else checkpoint.read()
    cut_short = False
    if resumed is not None:
        state, notes = resumed
        history = notes["history"]
    else:
        state, history, path = begin(documents), [], np.empty(0)
        if choose is not None:
            weight, path, cut_short = choose(prior)
        state |= {"weight": np.array(weight, np.float64), "weight_path": path}
    run = iterate(
        make_step(documents, prior, float(state["weight"])),
        state,
        max_iter=1 if cut_short else model.max_iter,
        tol=model.tol,
        title=type(model).__name__,
        verbose=model.verbose,
        checkpoint=checkpoint,
        history=history,
        rises=rises,
    )
    with hold_interrupts():
        keep_topics(model, counts, state)
        keep_run(model, run._replace(finished=run.finished and not cut_short))
        model.doc_topic_ = _final(model, documents, state)
        _warn_when_swallowed(model, float(state["weight"]))
    if checkpoint is not None and run.finished and not cut_short:
        checkpoint.remove()
    return state


def _seeds(model: Any, documents: Documents) -> dict[int, np.ndarray]:
    return seed_columns(model.seed_words, model.n_topics, vocabulary_of(model), documents.counts.shape[1])


def _seed_strength(model: Any, counts: sp.csr_array) -> float:
    return float(counts.sum(dtype=np.float64)) / model.n_topics * model.seed_strength


def begin(model: Any, documents: Documents) -> State:
    """P(z|d) and P(w|z) to begin with, as `init` says."""
    # the seed is drawn as PLSA draws that of its first start
    seed = check_random_state(model.random_state).randint(np.iinfo(np.int32).max, size=1)[0]
    init = model.init
    if isinstance(init, str) and init not in (*STARTS, "spectral"):
        raise ValueError(f"init={init!r}: expected one of {', '.join(STARTS)}, spectral, or an array of topics x words")
    if isinstance(init, str) and init == "auto" and documents.by == "embeddings":
        init = "kmeans"
    counts, rng = documents.counts, np.random.RandomState(seed)
    how = {"vectors": documents.vectors}
    if isinstance(init, str) and init == "spectral":
        if documents.graph is None:
            raise ValueError("init='spectral' cuts the graph, and with graph_weight=0 there is none")
        how = {"vectors": spectral_vectors(documents.graph, model.n_topics, rng), "n_init": _SPECTRAL_STARTS}
        init = "kmeans"
    doc_topic, topic_word = start(counts, model.n_topics, init, rng, _seeds(model, documents), **how)
    return {"doc_topic": padded(doc_topic, counts.dtype), "word_topic": padded(topic_word.T, counts.dtype)}


def plain_step(model: Any, counts: sp.csr_array, prior: tuple[Any, ...]) -> Callable[[State], float]:
    """An EM step without a graph; it returns the objective a token before the step."""
    em = EMStep(counts, model.n_topics, model.n_jobs, model.smoothing, prior)
    n_tokens = max(float(counts.sum(dtype=np.float64)), 1e-300)

    def step(state: State) -> float:
        word_topic = state["word_topic"]
        penalty = log_prior(word_topic[:, : model.n_topics], model.smoothing, prior)
        return (em(state["doc_topic"], word_topic) + penalty) / n_tokens

    return step


def _final(model: Any, documents: Documents, state: State) -> np.ndarray:
    if documents.graph is None:
        return fold_in(documents.counts, model.topic_word_, model.topic_weight_, n_jobs=model.n_jobs)
    doc_topic = normalised(state["doc_topic"][:, : model.n_topics])
    doc_topic[without_tokens(documents)] = model.topic_weight_
    return doc_topic


def without_tokens(documents: Documents) -> np.ndarray:
    """Which documents are empty and joined to empty ones only, if to any: nothing is known of them."""
    empty = np.diff(documents.counts.indptr) == 0
    if documents.graph is None or not empty.any():
        return empty
    n_components, component = connected_components(documents.graph, directed=False)
    filled = np.bincount(component, ~empty, minlength=n_components) > 0
    return ~filled[component]


def _warn_when_swallowed(model: Any, weight: float) -> None:
    n_documents, n_topics = model.doc_topic_.shape
    if model.graph_ is None or n_topics == 1 or n_documents < 2 * n_topics:
        return
    clear = model.doc_topic_.max(axis=1) > 1.0001 / n_topics  # documents that have a largest topic at all
    sizes = np.bincount(model.doc_topic_.argmax(axis=1)[clear], minlength=n_topics)
    share = sizes.max() / n_documents
    if share >= _SWALLOWED:
        advice = f"graph_weight={weight:g} may be too strong" if weight else "the graph may be too dense"
        warnings.warn(
            f"topic {sizes.argmax()} is the largest topic of {share:.0%} of the documents: {advice}, or one class is "
            "nearly everything",
            stacklevel=4,
        )


def topics_of_new(
    model: Any, X: Any, graph: Any, embeddings: Any, weight: float, *, squared: bool = False
) -> np.ndarray:
    """P(z|d) of new documents, drawn to their neighbours in training with this weight."""
    counts = as_counts(model, X, reset=False, dtype=model.topic_word_.dtype)
    return _fold_in_new(model, seen_words(counts, model.word_frequency_), graph, embeddings, weight, squared)


def completion_of_new(
    model: Any, X: Any, graph: Any, embeddings: Any, weight: float, *, squared: bool = False
) -> float:
    """Mean log-likelihood a token of the half of new documents that is not seen."""
    counts = as_counts(model, X, reset=False, dtype=model.topic_word_.dtype)
    check_whole_numbers(counts, "score (document completion)")
    seen, held_out = split_tokens(counts)
    seen = seen_words(seen, model.word_frequency_)
    doc_topic = _fold_in_new(model, seen, graph, embeddings, weight, squared)
    return completion_log_likelihood(held_out, doc_topic, model.topic_word_, model.word_frequency_)


def _fold_in_new(
    model: Any, counts: sp.csr_array, graph: Any, embeddings: Any, weight: float, squared: bool
) -> np.ndarray:
    topics = (model.topic_word_, model.topic_weight_)
    neighbors = None if weight == 0 else neighbors_of(model, counts, graph, embeddings)
    if neighbors is None:
        return fold_in(counts, *topics, n_jobs=model.n_jobs)
    near = (neighbors, model.doc_topic_, weight)
    return fold_in_near(counts, *topics, *near, squared=squared, n_jobs=model.n_jobs)


def neighbors_of(model: Any, counts: sp.csr_array, graph: Any, embeddings: Any) -> sp.csr_array | None:
    """The neighbours of new documents in training (new x training), or None where they are folded in plainly.

    `counts` are all that may be seen of the new documents, `graph` (new x training) and `embeddings` what they bring.
    """
    name, n_new, by = type(model).__name__, counts.shape[0], model.neighbors_by_
    if graph is not None:
        return check_neighbors(graph, n_new, len(model.doc_topic_))
    if embeddings is not None and by != "embeddings":
        kept = "keeps no neighbours (store_neighbors=False)" if by is None else "was fitted without embeddings"
        raise ValueError(f"this {name} {kept}: new documents need no embeddings")
    if by == "embeddings":
        if embeddings is None:
            warnings.warn(
                f"this {name} was fitted on embeddings and the new documents bring none: they are folded in by their "
                "words alone",
                stacklevel=6,  # the caller of transform, behind scikit-learn's wrapper of it
            )
            return None
        vectors = _check_embeddings(embeddings, n_new, model.neighbor_vectors_.shape[1])
    elif by == "words":
        vectors = document_vectors(counts, model.metric, idf=model.neighbor_idf_)
    else:
        return None
    near = nearest(vectors, model.neighbor_vectors_, model.n_neighbors, metric=_metric(model, by), n_jobs=model.n_jobs)
    near.data = np.ones(near.nnz)
    return near


def _warn_plain(reason: str) -> None:
    warnings.warn(f"{reason}: they are folded in by their words alone", stacklevel=5)


def _metric(model: Any, by: str) -> str:
    return "cosine" if by == "embeddings" and model.metric == "intersection" else model.metric


def _check_neighbor_parameters(model: Any) -> None:
    value = model.n_neighbors
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"n_neighbors={value!r}: expected a whole number, at least 1")
    weight = getattr(model, "graph_weight", 0)
    number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
    if not (number and 0 <= weight < np.inf) and not (isinstance(weight, str) and weight == "auto"):
        raise ValueError(f"graph_weight={weight!r}: expected a number, zero or more, or 'auto'")


def _check_embeddings(embeddings: Any, n_documents: int, n_features: int | None = None) -> np.ndarray:
    if sp.issparse(embeddings):
        raise ValueError("embeddings are a sparse matrix: expected a dense array, a row a document")
    values = np.asarray(embeddings, dtype=np.float64)
    if values.ndim != 2 or len(values) != n_documents or values.shape[1] == 0:
        raise ValueError(f"embeddings have shape {values.shape}: expected one row for each of {n_documents} documents")
    if n_features is not None and values.shape[1] != n_features:
        raise ValueError(f"embeddings have {values.shape[1]} columns: those of the fit had {n_features}")
    if not (np.abs(values) < _MOST).all():
        raise ValueError(f"embeddings hold NaN, infinity or values beyond {_MOST:g}")
    return np.ascontiguousarray(values, dtype=np.float32)
