"""LDA on a graph, which the LTM paper names as future work, compared with LDA and with LTM as published.

Three kinds of graphs: nearest neighbours by words, nearest neighbours by sentence embeddings, and citations.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from topicfold.graph.build import link_graph
from topicfold.metrics.completion import perplexity

from .. import Experiment, Measure, Method, make_estimator
from ..corpora import load_benchmark
from ..dot_plots import Dots
from ..embeddings.embedding_graphs import Data
from ..embeddings.short_texts import draw
from .held_out_text import Texts, cut, nmi, read

__all__ = ["EXPERIMENTS"]

TEXT = ("short_searchsnippets", "short_stackoverflow", "20newsgroups_bow")
EMBEDDED = ("short_searchsnippets", "short_stackoverflow")
CITED = ("cora", "citeseer")
PUBLISHED = {"alpha": 0.0, "beta": 0.0, "graph_weight": 10.0}


class Corpora(NamedTuple):
    """Texts with their classes; texts with embeddings; and texts with citations."""

    texts: dict[str, Texts]
    embedded: dict[str, Data]
    cited: dict[str, tuple[Texts, sp.csr_array]]


def prepare(folder: Path, protocol: Mapping[str, Any]) -> Corpora:
    """All corpora."""
    n_documents = protocol["documents"]
    cited = {}
    for name in CITED:
        corpus = load_benchmark(name, folder)
        corpus = corpus.subset([bool(labels) for labels in corpus.labels or ()])
        if n_documents is not None:
            corpus = corpus.subset(slice(n_documents))
        cited[name] = Texts(corpus.counts, corpus.label_array()), link_graph(corpus.links, len(corpus))
    part = {"documents": n_documents or 6000, "test documents": min(n_documents or 1500, 1500), "min_df": 5}
    return Corpora(
        {name: read(name, folder, n_documents) for name in TEXT},
        {name: draw(name, folder, part) for name in EMBEDDED},
        cited,
    )


def measure(
    data: Corpora, method: Method, setting: Mapping[str, Any], seed: int, protocol: Mapping[str, Any]
) -> dict[str, float]:
    """Clusters of the training documents; perplexity of held-out documents, if there are any."""
    name, on_graph = setting["corpus"], method.estimator != "LDA"
    model = make_estimator(method, setting["n_topics"], seed)
    if setting["graph"] == "words":
        part = cut(data.texts[name], name, seed, protocol["training share"])
        labels = part.train_labels
        model.fit(part.train)
        measures = {"perplexity": perplexity(model.score(part.test))}
    elif setting["graph"] == "embeddings":
        texts = data.embedded[name]
        if texts.vectors is None:
            raise ImportError(texts.missing)
        labels = texts.train_labels
        model.fit(texts.train, **({"embeddings": texts.vectors.train} if on_graph else {}))
        observed = {"embeddings": texts.vectors.observed} if on_graph else {}
        measures = {"perplexity": perplexity(model.score(texts.test, **observed))}
    else:  # citations link all documents, so none are held out
        cited, links = data.cited[name]
        labels = cited.labels
        model.fit(cited.counts, **({"graph": links} if on_graph else {}))
        measures = {}
    assert labels is not None
    measures["nmi"] = nmi(labels, model.doc_topic_)
    measures["largest"] = float(np.bincount(model.doc_topic_.argmax(axis=1)).max() / len(model.doc_topic_))
    return measures | ({"weight": float(model.graph_weight_)} if on_graph else {})


ABOUT = """\
Does LDA improve when similar documents are encouraged to have similar topics? The neighbours come from shared words, \
from sentence embeddings, or from citations ("graph" in the headings). Texts: short_searchsnippets (search result \
snippets), short_stackoverflow (titles of questions), 20newsgroups_bow (posts of 20 Newsgroups), cora and citeseer \
(scientific papers with citations). NMI compares the topics with the classes (higher is better); test perplexity is \
that of held-out documents (lower is better); "largest topic" is the share of documents in the largest topic, and \
"weight" that of the graph."""
NOTES = """LTM as published: alpha 0, beta 0, weight 10 (the default of version 0.1.0).
With priors: the defaults of the package (alpha 1, beta 0.03, focus 3), and the weight chosen on held-out \
documents, or 10. LDA has the same priors and no graph.
Graphs are 5 nearest neighbours by words or by embeddings (all-MiniLM-L6-v2, 6,000 texts; for test texts only the \
embedding of the observed half is given), or citations, where no documents are held out and only clusters are \
compared.
The strength of the priors and how the weight is chosen were decided on other draws of the short texts and of 20 \
Newsgroups (see the notes of `priors`); results on the citations had been seen once before this run."""

EXPERIMENTS = (
    Experiment(
        name="manifold-lda",
        title="LDA on a graph of documents",
        source="Cai, Wang and He (2009), future work; no published numbers",
        about=ABOUT,
        data=(*TEXT, *CITED),
        methods=(
            Method("LDA", "LDA"),
            Method("LTM as published", "LTM", PUBLISHED),
            Method("LTM with priors", "LTM"),
            Method("LTM with priors, weight 10", "LTM", {"graph_weight": 10.0}),
            Method("LapPLSI with priors", "LapPLSI"),
        ),
        settings=(
            {"corpus": "short_searchsnippets", "graph": "words", "n_topics": 8},
            {"corpus": "short_stackoverflow", "graph": "words", "n_topics": 20},
            {"corpus": "20newsgroups_bow", "graph": "words", "n_topics": 20},
            {"corpus": "short_searchsnippets", "graph": "embeddings", "n_topics": 8},
            {"corpus": "short_stackoverflow", "graph": "embeddings", "n_topics": 20},
            {"corpus": "cora", "graph": "citations", "n_topics": 7},
            {"corpus": "citeseer", "graph": "citations", "n_topics": 6},
        ),
        measures={
            "perplexity": Measure("test perplexity", 0),
            "nmi": Measure("NMI"),
            "largest": Measure("largest topic", 2),
            "weight": Measure("weight", 2),
        },
        protocol={"seeds": 5, "documents": None, "training share": 0.8},
        quick={"seeds": 1, "documents": 600},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=Dots({"perplexity": "test perplexity", "nmi": "NMI"}),
    ),
)
