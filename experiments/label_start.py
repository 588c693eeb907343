"""Topics that start at the classes of a few labels: LTM and DTM with as many topics as classes. Our own comparison."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from topicfold.baselines import LabelPropagation
from topicfold.corpus.weighting import tfidf
from topicfold.engine.blocks import single_threaded_libraries

from . import Experiment, Measure, Method, make_estimator
from .dot_plots import Dots
from .dtm.few_label_curves import prepare_yahoo
from .few_labels import LABEL_PROPAGATION, TFIDF_WORDS, Documents, labelled_rows, remembered
from .links import prepare as prepare_links

__all__ = ["EXPERIMENTS", "measure_labels"]

CORPORA = ("cora", "citeseer", "yahoo")
LARGEST, MACHINE, CHOSEN = "largest topic", "SVM", "SVM, C chosen"
PENALTIES = (0.1, 1.0, 10.0, 100.0)


def prepare(folder: Path, protocol: Mapping[str, Any]) -> dict[str, tuple[Documents, sp.csr_array]]:
    """Cora and Citeseer with their citations, Yahoo! News with its nearest neighbours by words."""
    news = prepare_yahoo(folder, {"min_df": 3, "documents": 1389, "words": 8182})
    return {**prepare_links(folder, {}), "yahoo": (news, news.graph(protocol["neighbours"]))}


def measure(
    data: Mapping[str, tuple[Documents, sp.csr_array]],
    method: Method,
    setting: Mapping[str, Any],
    seed: int,
    protocol: Mapping[str, Any],
) -> dict[str, float]:
    """Accuracy on the documents without a label, by the number of labels per class."""
    documents, graph = data[setting["corpus"]]
    return {str(n): measure_labels(documents, graph, method, seed, n) for n in protocol["labelled"]}


def measure_labels(documents: Documents, graph: sp.csr_array, method: Method, seed: int, n_labelled: int) -> float:
    """Accuracy of a method; fits are shared by the methods that differ only in how the class is read off."""
    rows = labelled_rows(documents.labels, n_labelled, seed)
    y = np.full(len(documents.labels), -1)
    y[rows] = documents.labels[rows]
    _, _, reading = method.name.rpartition(": ")
    if method.name == LABEL_PROPAGATION:
        predicted = LabelPropagation().fit(documents.counts, y, graph=graph).transduction_
    elif method.name == TFIDF_WORDS:
        predicted = _by_machine(tfidf(documents.counts), y, MACHINE)
    else:
        key = (method.estimator, str(method.parameters), seed, n_labelled)
        doc_topic = remembered(documents.cache, key, lambda: _doc_topic(documents, graph, method, seed, y))
        predicted = doc_topic.argmax(axis=1) if reading == LARGEST else _by_machine(normalize(doc_topic), y, reading)
    return float((predicted == documents.labels)[y < 0].mean())


def _doc_topic(documents: Documents, graph: sp.csr_array, method: Method, seed: int, y: np.ndarray) -> np.ndarray:
    model = make_estimator(method, len(np.unique(documents.labels)), seed)
    with single_threaded_libraries():
        return np.asarray(model.fit(documents.counts, y, graph=graph).doc_topic_, np.float64)


def _by_machine(features: Any, y: np.ndarray, reading: str) -> np.ndarray:
    machine: Any = LinearSVC(dual=False)
    known = y >= 0
    if reading == CHOSEN:
        machine = GridSearchCV(machine, {"C": PENALTIES}, cv=min(3, int(np.bincount(y[known]).min())))
    with single_threaded_libraries():
        return machine.fit(features[known], y[known]).predict(features)


def _methods(name: str) -> list[Method]:
    starts = {"NMF start": {"init": "nmf"}, "label start": {}}
    return [
        *(Method(f"{name}, {start}: {MACHINE}", name, parameters) for start, parameters in starts.items()),
        *(Method(f"{name}, label start: {reading}", name) for reading in (CHOSEN, LARGEST)),
    ]


ABOUT = """\
A few documents per class have a label. LTM and DTM get as many topics as there are classes, and the labels. At their \
defaults, each topic then starts at a class ("label start"). The class of a document is its largest topic, or a linear \
SVM on the topics decides, with C=1 or with a C chosen by cross-validation on the labelled documents. The columns give \
the accuracy on the other documents by the number of labels per class; higher is better."""
NOTES = """\
Our own comparison, without published numbers. Documents: papers of Cora and Citeseer with their citations \
as the graph, and entertainment news of Yahoo! with their 5 nearest neighbours by words. Labels are drawn by the seed, \
the same for every method.
"Label start": label propagation on the graph, then three rounds of k-means on LSI vectors averaged over it. These \
were settled on search snippets, 20 Newsgroups and TDT2, with classes visible; the corpora here had no part in it, but \
earlier results on them are known.
C chosen: from 0.1, 1, 10 and 100, with 3 folds or as many as there are labels per class.
Where a class of Yahoo! News has fewer documents than labels are asked for, one document is kept for the test.
"""

EXPERIMENTS = (
    Experiment(
        name="label-start",
        title="Topics that start at classes",
        source="none; our own comparison",
        about=ABOUT,
        data=("cora", "citeseer", "yahoo_kseries"),
        methods=(*_methods("LTM"), *_methods("DTM"), Method(LABEL_PROPAGATION), Method(TFIDF_WORDS)),
        settings=tuple({"corpus": name} for name in CORPORA),
        measures={str(n): Measure(f"{n} labels") for n in (2, 6, 20)},
        protocol={"seeds": 3, "neighbours": 5, "labelled": [2, 6, 20]},
        quick={"seeds": 1, "labelled": [6]},
        prepare=prepare,
        measure=measure,
        notes=NOTES,
        figure=Dots({"6": "accuracy, 6 labels"}),
    ),
)
