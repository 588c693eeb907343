"""Where the graph models start: like PLSA and LDA, from clusters of vectors, or from a cut of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ...engine.loop import State
from ...errors import InputError
from ...graph.build import spectral_vectors
from ..em.best_start import StartPriors
from ..em.plsa_kernels import padded
from ..em.starts import start
from .graph_data import GraphData

if TYPE_CHECKING:
    from .graph_model import GraphTopicModel

__all__ = ["start_tables"]

_SPECTRAL_STARTS = 10
_SMOOTHINGS = 4


def start_tables(model: GraphTopicModel, data: GraphData) -> State:
    """P(z|d) and P(w|z) to start from, as set by `init`."""
    # the seed is drawn as in the first start of PLSA
    seed = check_random_state(model.random_state).randint(np.iinfo(np.int32).max, size=1)[0]
    counts, rng = data.counts, np.random.RandomState(seed)
    init: Any = model.init
    options: dict[str, Any] = {"vectors": data.vectors}
    if isinstance(init, str) and init == "auto":
        if data.source == "embeddings":
            init = "kmeans"
            if model.alpha > 0 and data.graph is not None:
                assert isinstance(data.vectors, np.ndarray)
                options = {"vectors": _smoothed(data.vectors, data.graph)}
        else:  # links and labels say more about which documents belong together than neighbours by words
            labelled = data.labels is not None and bool((data.labels >= 0).any())
            options = {"graph": data.graph if data.source == "graph" or labelled else None}
            if model.alpha > 0:
                options["priors"] = StartPriors(model.alpha, model.beta, model._focus())
    if isinstance(init, str) and init == "spectral":
        if data.graph is None:
            raise InputError("init='spectral' needs a graph, but with graph_weight=0 there is none")
        options = {"vectors": spectral_vectors(data.graph, model.n_topics, rng), "n_init": _SPECTRAL_STARTS}
        init = "kmeans"
    options |= {"seed_strength": model.seed_strength, "n_jobs": model.n_jobs}
    doc_topic, topic_word = start(counts, model.n_topics, init, rng, model._seeds(counts), **options)
    return {"doc_topic": padded(doc_topic, counts.dtype), "word_topic": padded(topic_word.T, counts.dtype)}


def _smoothed(vectors: np.ndarray, graph: sp.csr_array) -> np.ndarray:
    """Each vector replaced by the mean of itself and its neighbours, a few times; rows of length one.

    The mean over neighbours of neighbours removes what sets one text apart from similar ones.
    """
    mean = sp.diags_array(1 / (1 + graph.sum(axis=1))) @ (graph + sp.eye_array(graph.shape[0], format="csr"))
    for _ in range(_SMOOTHINGS):
        vectors = mean @ vectors
    return (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)).astype(np.float32)
