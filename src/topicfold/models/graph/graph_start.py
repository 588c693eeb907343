"""Where the graph models start: like PLSA and LDA, from clusters of vectors, from a cut of the graph, or from labels.

With as many topics as there are classes among the labels, the topics start at the classes, in the order of the classes:
labels are spread over the graph, and a few rounds of k-means then move the classes to where documents gather. Label
propagation alone is a poor start with two labels per class; k-means alone forgets what twenty labels say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ...engine.blocks import single_threaded_libraries
from ...engine.loop import State
from ...errors import InputError
from ...graph.build import spectral_vectors
from ...graph.label_spreading import propagated_classes
from ..em.best_start import StartPriors
from ..em.document_clusters import averaged_over, latent_vectors, spread, words_of
from ..em.plsa_kernels import padded
from ..em.starts import start
from .graph_data import GraphData

if TYPE_CHECKING:
    from .graph_model import GraphTopicModel

__all__ = ["start_tables"]

_SPECTRAL_STARTS = 10
_SMOOTHINGS = 4
_LABEL_WEIGHT = 0.99  # of the neighbours in label propagation, as in its baseline
_LABEL_ROUNDS = 3  # of k-means after label propagation
_SAMPLE = 5_000  # documents that word vectors are computed from


def start_tables(model: GraphTopicModel, data: GraphData) -> State:
    """P(z|d) and P(w|z) to start from, as set by `init`."""
    # the seed is drawn as in the first start of PLSA
    seed = check_random_state(model.random_state).randint(np.iinfo(np.int32).max, size=1)[0]
    counts, rng = data.counts, np.random.RandomState(seed)
    init: Any = model.init
    n_classes = _number_of_classes(data)
    if isinstance(init, str) and init == "auto" and model.seed_words is None and model.n_topics_ == n_classes > 1:
        return _tables(counts, *_classes_as_topics(data, model.n_topics_, rng))
    options: dict[str, Any] = {"vectors": data.vectors}
    if isinstance(init, str) and init == "auto":
        if data.source == "embeddings":
            init = "kmeans"
            if model.alpha > 0 and data.graph is not None:
                assert isinstance(data.vectors, np.ndarray)
                options = {"vectors": _smoothed(data.vectors, data.graph)}
        else:  # links and labels say more about which documents belong together than neighbours by words
            options = {"graph": data.graph if data.source == "graph" or n_classes else None}
            if model.alpha > 0:
                options["priors"] = StartPriors(model.alpha, model.beta, model._focus())
    if isinstance(init, str) and init == "spectral":
        if data.graph is None:
            raise InputError("init='spectral' needs a graph, but with graph_weight=0 there is none")
        options = {"vectors": spectral_vectors(data.graph, model.n_topics_, rng), "n_init": _SPECTRAL_STARTS}
        init = "kmeans"
    options |= {"seed_strength": model.seed_strength, "n_jobs": model.n_jobs}
    return _tables(counts, *start(counts, model.n_topics_, init, rng, model._seeds(counts), **options))


def _tables(counts: sp.csr_array, doc_topic: np.ndarray, topic_word: np.ndarray) -> State:
    return {"doc_topic": padded(doc_topic, counts.dtype), "word_topic": padded(topic_word.T, counts.dtype)}


def _number_of_classes(data: GraphData) -> int:
    """Number of classes among the labels of a fit on a graph."""
    return 0 if data.graph is None or data.labels is None else len(np.unique(data.labels[data.labels >= 0]))


def _classes_as_topics(data: GraphData, n_topics: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """P(z|d) and P(w|z) of one cluster per class; labelled documents are in the cluster of their class."""
    assert data.graph is not None
    assert data.labels is not None
    known = data.labels >= 0
    codes = np.unique(data.labels[known], return_inverse=True)[1]
    labels = np.full(len(known), -1)
    labels[known] = codes
    member = propagated_classes(data.graph, labels, n_topics, _LABEL_WEIGHT)
    member /= np.maximum(member.sum(axis=1, keepdims=True), 1e-300)
    vectors = _vectors(data, n_topics, rng)
    with single_threaded_libraries():
        for _ in range(_LABEL_ROUNDS):
            centres = member.T @ vectors
            centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
            cluster = (vectors @ centres.T).argmax(axis=1)
            cluster[known] = codes
            member = np.eye(n_topics)[cluster]
    doc_topic = spread(member)
    return doc_topic, words_of(data.counts, doc_topic, data.counts)


def _vectors(data: GraphData, n_topics: int, rng: np.random.RandomState) -> np.ndarray:
    """Vectors of the documents, averaged over the graph with its labels: embeddings, or LSI vectors of their words."""
    assert data.graph is not None
    if data.source == "embeddings":
        assert isinstance(data.vectors, np.ndarray)
        return _smoothed(data.vectors, data.graph)
    rows = np.flatnonzero(np.diff(data.counts.indptr))
    if len(rows) > _SAMPLE:
        rows = np.sort(rng.choice(rows, _SAMPLE, replace=False))
    return averaged_over(data.graph, latent_vectors(data.counts[rows], n_topics, rng, data.counts))


def _smoothed(vectors: np.ndarray, graph: sp.csr_array) -> np.ndarray:
    """Each vector replaced by the mean of itself and its neighbours, a few times; rows of length one.

    The mean over neighbours of neighbours removes what sets one text apart from similar ones.
    """
    mean = sp.diags_array(1 / (1 + graph.sum(axis=1))) @ (graph + sp.eye_array(graph.shape[0], format="csr"))
    for _ in range(_SMOOTHINGS):
        vectors = mean @ vectors
    return (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)).astype(np.float32)
