"""The data of a fit on a graph, and checks of what users pass to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ...engine.checks import MAX_PARAMETER
from ...engine.stored import MAX_PROBABILITY, Stored
from ...engine.warn import warn_user
from ...errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "FLOOR",
    "MANY_DOCUMENTS",
    "STORED",
    "GraphData",
    "GraphSource",
    "Vectors",
    "check_embeddings",
    "check_neighbor_vectors",
    "connected",
    "state_arrays",
    "warn_if_one_topic_dominates",
    "without_tokens",
]

GraphSource: TypeAlias = Literal["embeddings", "words", "graph"]
Vectors: TypeAlias = np.ndarray | sp.csr_array

FLOOR = 1e-12  # of P(z|d) in a graph model: a zero could never grow again, and its logarithm is needed
# With more documents, tables are processed in their own precision, and only as accurately as EM needs.
MANY_DOCUMENTS = 10_000
_SWALLOWED = 0.9  # of the documents in one topic: the graph has drawn everything together
_MOST = 1e15  # of an embedding: its square still fits in a float32


# What the graph models keep, in addition to what all models keep.
STORED: Mapping[str, Stored] = {
    "graph_": Stored(("documents", "documents"), "sparse", low=0, optional=True),
    "neighbor_vectors_": Stored(("documents", "features"), "rows", optional=True),
    "neighbor_idf_": Stored(("words",), low=0, optional=True),
    "neighbors_by_": Stored(kind="string", optional=True),
    "word_vectors_": Stored(("words", "numbers"), optional=True),
}


def state_arrays(graph_weight: float | Literal["auto"]) -> dict[str, Stored]:
    """The arrays of a state: its tables, the weight of the graph, and the weights tried if it is chosen."""
    return {
        "doc_topic": Stored(("documents", "columns"), low=0, high=MAX_PROBABILITY),
        "word_topic": Stored(("words", "columns"), low=0),
        "topic_share": Stored(("topics",), low=0, high=MAX_PROBABILITY, may_be_missing=True),
        "n_skipped": Stored((), "int", low=0, may_be_missing=True),
        "weight": Stored((), low=0, high=MAX_PARAMETER),
        "weight_path": Stored(("weights", 4), allow_nan=True) if graph_weight == "auto" else Stored((0,)),
    }


class GraphData(NamedTuple):
    """The documents of a fit: counts, the graph, and the vectors that neighbours are found by."""

    counts: sp.csr_array
    graph: sp.csr_array | None  # None: a fit without a graph
    vectors: Vectors | None
    labels: np.ndarray | None
    source: GraphSource = "words"  # what the graph is made from; "graph": it was given
    unlabelled: sp.csr_array | None = None  # the graph without the edges of labels


def connected(near: sp.csr_array) -> sp.csr_array:
    """Documents are connected, with weight 1, if either is among the nearest of the other; `near` is overwritten."""
    near.data = np.ones(near.nnz)
    return sp.csr_array(near.maximum(near.T))


def without_tokens(data: GraphData) -> np.ndarray:
    """Which documents are empty and connected, if at all, only to empty ones: nothing is known about them."""
    empty = np.diff(data.counts.indptr) == 0
    if data.graph is None or not empty.any():
        return empty
    n_components, component = connected_components(data.graph, directed=False)
    filled = np.bincount(component, ~empty, minlength=n_components) > 0
    return ~filled[component]


def check_embeddings(embeddings: ArrayLike, n_documents: int, n_features: int | None = None) -> np.ndarray:
    """Vectors of documents in float32, one row each; a ValueError says what is wrong with them."""
    if sp.issparse(embeddings):
        raise InputError("embeddings are a sparse matrix: expected a dense array, one row per document")
    try:
        values = np.asarray(embeddings)
        values = values if values.dtype.kind == "c" else values.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("embeddings are not numbers: expected an array, one row per document") from None
    if values.dtype.kind == "c":
        raise InputError(f"embeddings are of type {values.dtype}: expected real numbers")
    if values.ndim != 2 or len(values) != n_documents or values.shape[1] == 0:
        raise InputError(f"embeddings have shape {values.shape}: expected one row for each of {n_documents} documents")
    if n_features is not None and values.shape[1] != n_features:
        raise InputError(f"embeddings have {values.shape[1]} columns: expected {n_features}, as in the fit")
    if not (np.abs(values) < _MOST).all():
        raise InputError(f"embeddings hold NaN, infinity or values beyond {_MOST:g}")
    return np.ascontiguousarray(values, dtype=np.float32)


def check_neighbor_vectors(
    by: str | None, vectors: Vectors | None, by_words: tuple[np.ndarray | None, np.ndarray | None], n_words: int
) -> None:
    """Raise if a loaded model lacks what it needs to find the neighbours of new documents.

    `by_words` are the inverse document frequencies and the vectors of words: neighbours by words need one of them.
    """
    idf, word_vectors = by_words
    if by == "words" and word_vectors is not None:
        fits = isinstance(vectors, np.ndarray) and word_vectors.shape == (n_words, vectors.shape[1])
    elif by == "words":
        fits = sp.issparse(vectors) and vectors is not None and vectors.shape[1] == n_words and idf is not None
    else:
        fits = by is None or (by == "embeddings" and isinstance(vectors, np.ndarray))
    if not fits:
        raise InputError("its neighbors_by_, neighbor_vectors_, neighbor_idf_ and word_vectors_ do not match")


def warn_if_one_topic_dominates(doc_topic: np.ndarray, weight: float) -> None:
    """Warn if one topic has nearly all documents of a fit on a graph with this weight."""
    n_documents, n_topics = doc_topic.shape
    if n_topics == 1 or n_documents < 2 * n_topics:
        return
    clear = doc_topic.max(axis=1) > 1.0001 / n_topics  # documents that have a largest topic at all
    sizes = np.bincount(doc_topic.argmax(axis=1)[clear], minlength=n_topics)
    share = sizes.max() / n_documents
    if share >= _SWALLOWED:
        advice = f"graph_weight={weight:g} may be too strong" if weight else "the graph may be too dense"
        warn_user(
            f"topic {sizes.argmax()} is the largest topic of {share:.0%} of the documents: {advice}, or nearly "
            "all documents are about the same thing"
        )
