"""Citations, text neighbours, or both as the graph of a model, on Cora and Citeseer. Our own comparison."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold.baselines import LSI
from topicfold.baselines.kmeans import kmeans_on_rows

from . import WITH_PRIORS, WITHOUT_PRIORS, Experiment, Measure, Method
from .corpora import load_benchmark
from .few_labels import LABEL_PROPAGATION, SVM, TFIDF_WORDS, Documents, few_labels, fitted, on_graph, remembered
from .grids import draw_curves, looks, paired_lines
from .ltm.clusters import cluster_measures

__all__ = ["EXPERIMENTS"]

CORPORA = ("cora", "citeseer")
GRAPHS = ("text", "links", "both", "weighted")
AVERAGED_LSI = "k-means on averaged LSI"


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, tuple[Documents, sp.csr_array]]:
    """The labelled documents of each corpus, and the graph of their citations."""
    from topicfold.graph.build import link_graph

    by_corpus = {}
    for name in CORPORA:
        corpus = load_benchmark(name, folder)
        known = np.flatnonzero([bool(labels) for labels in corpus.labels or ()])
        corpus = corpus.subset(known) if len(known) < len(corpus) else corpus
        documents = Documents(corpus.counts, np.unique(corpus.label_array(), return_inverse=True)[1])
        by_corpus[name] = documents, link_graph(corpus.links, len(corpus))
    return by_corpus


def measure(
    data: Mapping[str, tuple[Documents, sp.csr_array]],
    method: Method,
    setting: Mapping[str, Any],
    seed: int,
    protocol: Mapping[str, Any],
) -> dict[str, float]:
    """Clusters, one per class, and accuracy from a few labels: with one topic per class, and with more topics."""
    documents, links = data[setting["corpus"]]
    n_classes = len(np.unique(documents.labels))
    name, _, kind = method.name.partition(", on ")
    graph = _graph(documents, links, kind, protocol["neighbours"]) if kind else None
    plain = Method(name, method.estimator, method.parameters)
    measures: dict[str, float] = {}
    if method.estimator is not None:
        model = fitted(plain, documents, n_classes, seed, protocol, graph=graph)
        measures |= cluster_measures(documents.labels, getattr(model, "labels_", model.doc_topic_.argmax(axis=1)))
    elif name == "majority":
        measures |= cluster_measures(documents.labels, np.zeros(len(documents.labels), int))
    elif name == AVERAGED_LSI and graph is not None:
        clusters = averaged_lsi_clusters(documents.counts, graph, n_classes, seed, protocol)
        measures |= cluster_measures(documents.labels, clusters)
    if method.estimator in ("NCut", "KMeans") or name == AVERAGED_LSI:
        return measures
    options: dict[str, Any] = {"labelled": [protocol["labelled"]], "label_edges": on_graph(method), "graph": graph}
    sizes = {"few": n_classes, "few, more topics": protocol["topics"]} if method.estimator else {"few": n_classes}
    for key, n_topics in sizes.items():
        measures[key] = few_labels(plain, documents, n_topics, seed, protocol, **options)[protocol["labelled"]]
    return measures


def _graph(documents: Documents, links: sp.csr_array, kind: str, n_neighbors: int) -> sp.csr_array:
    """Citations, text neighbours, the sum of the two, or the sum with text edges weighted by their cosine."""
    from topicfold.graph.build import knn_graph

    def add() -> sp.csr_array:
        text = (
            documents.graph(n_neighbors) if kind == "both" else knn_graph(documents.counts, n_neighbors, weighted=True)
        )
        return sp.csr_array(text + links)

    if kind in ("text", "links"):
        return links if kind == "links" else documents.graph(n_neighbors)
    return remembered(documents.cache, kind, add)


def averaged_lsi_clusters(
    counts: sp.csr_array, graph: sp.csr_array, n_clusters: int, seed: int, protocol: Mapping[str, Any]
) -> np.ndarray:
    """k-means on LSI vectors, each replaced several times by the mean of itself and its neighbours; no topic model."""
    vectors = LSI(protocol["LSI dimensions"], random_state=seed).fit(counts).doc_topic_
    mean = sp.diags_array(1 / (1 + graph.sum(axis=1))) @ (graph + sp.eye_array(graph.shape[0], format="csr"))
    for _ in range(protocol["averaged"]):
        vectors = mean @ vectors
    return np.asarray(kmeans_on_rows(vectors, n_clusters, 10, 300, np.random.RandomState(seed)).labels_)


def extra(results: Mapping[str, Any]) -> list[str]:
    """Both graphs together against each one alone, for each corpus."""
    titles = {name: measure.title for name, measure in MEASURES.items() if name != "largest"}
    claim = "the expectation that both graphs are better than one"
    lines: list[str] = []
    for name in CORPORA:
        lines += [*([""] if lines else []), f"## Paired differences, {name}", ""]
        lines += paired_lines(results, PAIRS, titles, claim=claim, settings=[{"corpus": name}])
    return lines


def figure(results: Mapping[str, Any], path: Path) -> None:
    """NMI, and accuracy from a few labels, with each graph."""
    from topicfold.plots.style import GREY

    means = {
        (row["setting"]["corpus"], row["method"], key): value["mean"]
        for row in results["results"]
        for key, value in row["measures"].items()
        if value["n"]
    }
    shown = looks(("LTM", "DTM", "NCut", LABEL_PROPAGATION))
    panels = []
    for key in ("nmi", "few"):
        for name in CORPORA:
            curves = []
            for method, look in shown.items():
                known = [kind for kind in GRAPHS if (name, f"{method}, on {kind}", key) in means]
                y = [means[name, f"{method}, on {kind}", key] for kind in known]
                curves.append({**look, "x": [GRAPHS.index(kind) for kind in known], "y": y})
            for method, style in (("PLSA", "-."), ("k-means", ":"), (TFIDF_WORDS, "--")):
                y = [means[name, method, key]] * 2 if (name, method, key) in means else []
                curves.append(
                    {"label": method, "color": GREY, "linestyle": style, "x": [0, len(GRAPHS) - 1][: len(y)], "y": y}
                )
            panels.append((f"{name.capitalize()}: {MEASURES[key].title}", "graph", curves))
    draw_curves(path, panels, "", ticks=GRAPHS)


MEASURES = {
    "nmi": Measure("NMI"),
    "accuracy": Measure("clustering accuracy"),
    "largest": Measure("largest cluster"),
    "few": Measure("5 labels"),
    "few, more topics": Measure("5 labels, 50 topics"),
}
PAIRS = tuple(
    (f"{method}, on {both}", f"{method}, on {alone}")
    for method in ("LTM", "DTM", "NCut", LABEL_PROPAGATION)
    for both in ("both", "weighted")
    for alone in ("links", "text")
)

ABOUT = """\
Should a model that uses a graph of documents get citations, nearest neighbours by text, or both? The documents are \
the scientific papers of Cora (machine learning) and Citeseer (computer science), each with a class. NMI and \
clustering accuracy compare clusters with the classes; "largest cluster" is the share of documents in the largest \
cluster; "5 labels" is the accuracy of a classifier trained on five labelled papers per class. Higher is better, \
except for the largest cluster, which only warns when nearly everything ends up in one."""
NOTES = """\
This is our own comparison; there are no published numbers for these models. Documents are papers: words (present or \
not), class, and citations between papers, taken as undirected. Citeseer's 15 documents without words or class are \
left out.
The text graph links each document to its 5 nearest by cosine of tf-idf. "Both" is the sum of the two graphs, in which \
an edge of either kind has weight 1. LTM has weight 10; weight, neighbours and the sum were fixed before any result \
was seen. "Weighted" is the sum in which a text edge has its cosine as weight (mostly .1 to .5). It was added after a \
first run in which the plain sum was worse than citations alone on Cora: there are twice as many text edges, and fewer \
of them are right.
NMI, clustering accuracy and largest cluster: as many topics as classes, no labels.
5 labels: a linear SVM on P(z|d) from 5 labels per class, with C chosen by cross-validation on these; LTM and DTM have \
the labels in their graph. Once with as many topics as classes, and once with 50. Label propagation and tf-idf words \
do not use topics.
The documents are the same in every run; only labels and starts differ. LTM, DTM and PLSA start from NMF on tf-idf. \
"With priors" are the defaults of the package: the start is made from LSI vectors averaged over the graph, and the \
weight is chosen on held-out documents.
k-means on averaged LSI uses no topic model: the LSI vectors of tf-idf, not scaled to length one, are replaced four \
times by the mean of a document and its neighbours.
"""

TOPICS = {"init": "nmf", **WITHOUT_PRIORS}
DEFAULTS = (("LTM", "links"), ("LTM", "both"), ("LapPLSI", "links"))  # start and weight as chosen by the package

EXPERIMENTS = (
    Experiment(
        name="links",
        title="Citations as the graph: Cora and Citeseer",
        source="none; our own comparison",
        about=ABOUT,
        data=CORPORA,
        methods=(
            Method("PLSA", "PLSA", TOPICS),
            Method("LDA", "GibbsLDA"),
            *(Method(f"LTM, on {kind}", "LTM", {"graph_weight": 10.0, **TOPICS}) for kind in GRAPHS),
            *(Method(f"{name} with priors, on {kind}", name, WITH_PRIORS) for name, kind in DEFAULTS),
            *(Method(f"DTM, on {kind}", "DTM", TOPICS) for kind in GRAPHS),
            *(Method(f"NCut, on {kind}", "NCut") for kind in GRAPHS),
            *(Method(f"{LABEL_PROPAGATION}, on {kind}") for kind in GRAPHS),
            *(Method(f"{AVERAGED_LSI}, on {kind}") for kind in GRAPHS),
            Method("k-means", "KMeans"),
            Method(TFIDF_WORDS),
            Method("majority"),
        ),
        settings=tuple({"corpus": name} for name in CORPORA),
        measures=MEASURES,
        protocol={
            "seeds": 10,
            "neighbours": 5,
            "labelled": 5,
            "topics": 50,
            "LDA sweeps": 500,
            "LSI dimensions": 50,
            "averaged": 4,
            **SVM,
        },
        quick={"seeds": 1, "LDA sweeps": 50},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=figure,
        extra=extra,
    ),
)
