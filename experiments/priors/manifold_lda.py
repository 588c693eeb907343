"""LDA on a graph: what the LTM paper names as its future work, against LDA and against LTM as published.

Three kinds of graphs: nearest neighbours by words, nearest neighbours by sentence embeddings, and citations.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold.graph.build import link_graph
from topicfold.metrics.completion import perplexity

from .. import Experiment, Measure, Method, make_estimator
from ..corpora import load_benchmark
from .held_out_text import Texts, cut, nmi, read

__all__ = ["EXPERIMENTS"]

TEXT = ("short_searchsnippets", "short_stackoverflow", "20newsgroups_bow")
CITED = ("cora", "citeseer")
PUBLISHED = {"prior": 0.0, "smoothing": 0.0, "graph_weight": 10.0}


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, tuple[Texts, sp.csr_array | None]]:
    """Texts with their classes, and the citations of those that have some."""
    found: dict[str, tuple[Texts, sp.csr_array | None]] = {}
    for name in TEXT:
        found[name] = read(name, folder, protocol["documents"]), None
    for name in CITED:
        corpus = load_benchmark(name, folder)
        corpus = corpus.subset([bool(labels) for labels in corpus.labels or ()])
        if protocol["documents"] is not None:
            corpus = corpus.subset(slice(protocol["documents"]))
        found[name] = Texts(corpus.counts, corpus.label_array()), link_graph(corpus.links, len(corpus))
    return found


def measure(
    data: Mapping[str, tuple[Texts, sp.csr_array | None]],
    method: Method,
    setting: Mapping[str, Any],
    seed: int,
    protocol: Mapping[str, Any],
) -> dict[str, float]:
    """Clusters of the training documents; perplexity of held-out documents where the graph is made of words."""
    texts, links = data[setting["corpus"]]
    assert texts.labels is not None
    model = make_estimator(method, setting["n_topics"], seed, published=False)
    if links is None:
        part = cut(texts, setting["corpus"], seed, protocol["training share"])
        assert part.train_labels is not None
        model.fit(part.train)
        found = {"perplexity": perplexity(model.score(part.test)), "nmi": nmi(part.train_labels, model.doc_topic_)}
    else:  # citations are of all documents: the words of a tenth of the tokens are not held out, so no perplexity
        graph = {} if method.estimator == "LDA" else {"graph": links}
        model.fit(texts.counts, **graph)
        found = {"nmi": nmi(texts.labels, model.doc_topic_)}
    weight = getattr(model, "graph_weight_", np.nan)
    return found if np.isnan(weight) else {**found, "weight": float(weight)}


NOTES = """LTM as published: prior 0, smoothing 0, weight 10 (the default of version 0.1.0).
LTM with priors: prior 1, smoothing 0.01; weight 1, or chosen by itself on held-out tokens and edges.
Graphs are nearest neighbours by words (5), or citations, where documents are not held out and only clusters are \
compared.
The prior's strength and the default weight were settled on the first two corpora (see the notes of `priors`)."""

EXPERIMENTS = (
    Experiment(
        name="manifold-lda",
        title="LDA on a graph of documents",
        source="Cai, Wang and He (2009), future work; no published numbers",
        data=(*TEXT, *CITED),
        methods=(
            Method("LDA", "LDA"),
            Method("LTM as published", "LTM", PUBLISHED),
            Method("LTM with priors", "LTM"),
            Method("LTM with priors, automatic weight", "LTM", {"graph_weight": "auto"}),
            Method("LapPLSI with priors", "LapPLSI"),
        ),
        settings=(
            {"corpus": "short_searchsnippets", "n_topics": 8},
            {"corpus": "short_stackoverflow", "n_topics": 20},
            {"corpus": "20newsgroups_bow", "n_topics": 20},
            {"corpus": "cora", "n_topics": 7},
            {"corpus": "citeseer", "n_topics": 6},
        ),
        measures={
            "perplexity": Measure("test perplexity", 0),
            "nmi": Measure("NMI"),
            "weight": Measure("weight", 1),
        },
        protocol={"seeds": 5, "documents": None, "training share": 0.8},
        quick={"seeds": 1, "documents": 600},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
    ),
)
