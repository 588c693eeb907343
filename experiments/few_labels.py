"""Shared by the experiments on document graphs: documents of a draw, features, and a linear SVM on few labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold.engine.blocks import single_threaded_libraries

from . import Method, make_estimator

__all__ = [
    "BESIDE_PCA",
    "LABEL_PROPAGATION",
    "RAW_WORDS",
    "SVM",
    "TFIDF_WORDS",
    "Documents",
    "check_size",
    "few_labels",
    "fitted",
    "labelled_rows",
    "on_graph",
    "remembered",
    "svm_accuracy",
]

ON_GRAPH = ("LTM", "LapPLSI", "DTM", "NCut")
RAW_WORDS, TFIDF_WORDS = "words, raw counts", "words, tf-idf"
LABEL_PROPAGATION = "label propagation"
BESIDE_PCA = " beside PCA"  # names of methods whose features are P(z|d) and the columns of PCA
SVM = {"svm C": [1, 10, 0.1, 100], "svm folds": 3}
_REMEMBERED = 12


@dataclass(frozen=True)
class Documents:
    """Counts and classes (0, 1, ...) of some documents; draws, graphs and results so far are kept in `cache`."""

    counts: sp.csr_array
    labels: np.ndarray
    cache: dict[Any, Any] = field(default_factory=dict)

    def part(self, rows: np.ndarray) -> Documents:
        """Some of the documents, over the words that they use."""
        counts = self.counts[rows]
        return Documents(counts[:, np.unique(counts.indices)], np.unique(self.labels[rows], return_inverse=True)[1])

    def graph(self, n_neighbors: int, **options: Any) -> sp.csr_array:
        """Nearest neighbours; unless options say otherwise the graph that all methods share, by cosine of tf-idf."""
        from topicfold.graph.build import knn_graph

        key = ("graph", n_neighbors, *sorted(options.items()))
        return remembered(self.cache, key, lambda: knn_graph(self.counts, n_neighbors, **options))


def remembered(cache: dict[Any, Any], key: Any, make: Callable[[], Any]) -> Any:
    """The value of a key, computed on first use; when the cache is full, the oldest value is dropped."""
    if key not in cache:
        value = make()
        while len(cache) >= _REMEMBERED:
            cache.pop(next(iter(cache)))
        cache[key] = value
    return cache[key]


def check_size(documents: Documents, protocol: Mapping[str, Any]) -> Documents:
    """The documents, after a check that their number and the number of words are those of the protocol."""
    expected = (protocol["documents"], protocol["words"])
    if documents.counts.shape != expected:
        raise ValueError(f"documents x words {documents.counts.shape}: expected the paper's data, {expected}")
    return documents


# ---- features and few labels ----------------------------------------------------------------------------------------


def on_graph(method: Method) -> bool:
    """Whether a method works on the graph of the documents."""
    return method.estimator in ON_GRAPH


def fitted(
    method: Method,
    documents: Documents,
    n_topics: int,
    seed: int,
    protocol: Mapping[str, Any],
    y: np.ndarray | None = None,
    graph: sp.csr_array | None = None,
) -> Any:
    """The method fitted to the documents, with their kNN graph (or another) and labels (-1: none) if it uses them."""
    model = make_estimator(method, n_topics, seed)
    if method.estimator == "GibbsLDA":
        model.set_params(max_iter=protocol["LDA sweeps"])
    with single_threaded_libraries(), warnings.catch_warnings():
        # the share of the largest cluster is one of the measures, so the warning is not needed
        warnings.filterwarnings("ignore", message="topic .* is the largest topic")
        if not on_graph(method):
            return model.fit(documents.counts)
        if method.parameters.get("graph_weight") == "auto" and graph is None:
            return model.fit(documents.counts, y)  # the model holds out text, so it must build a graph of words itself
        graph = documents.graph(method.parameters["n_neighbors"], **method.graph) if graph is None else graph
        return model.fit(documents.counts, y, graph=graph)


def labelled_rows(labels: np.ndarray, n_labelled: int, seed: int) -> np.ndarray:
    """Rows of `n_labelled` documents per class, or all but one of a smaller class; smaller sets are in larger ones."""
    order = np.random.default_rng([seed, 1]).permutation(len(labels))
    rows_by_class = [order[labels[order] == label] for label in np.unique(labels)]
    return np.concatenate([rows[: min(n_labelled, len(rows) - 1)] for rows in rows_by_class])


def few_labels(
    method: Method,
    documents: Documents,
    n_topics: int,
    seed: int,
    protocol: Mapping[str, Any],
    *,
    labelled: Sequence[int],
    label_edges: bool,
    graph: sp.csr_array | None = None,
) -> dict[int, float]:
    """Accuracy on all other documents, by the number of labels per class; the same labels for every method.

    With `label_edges` the labels are added to the graph, so a method on the graph is fitted again for each number of
    labels.
    """
    accuracy, features = {}, None
    for n_labelled in labelled:
        rows = labelled_rows(documents.labels, n_labelled, seed)
        y = np.full(len(documents.labels), -1)
        y[rows] = documents.labels[rows]
        if method.estimator is None and method.name in TRANSDUCTIONS:
            predicted = TRANSDUCTIONS[method.name](documents, y, graph)
            accuracy[n_labelled] = float((predicted == documents.labels)[y < 0].mean())
            continue
        if features is None or label_edges:
            known = y if label_edges else None
            features = _features(method, documents, n_topics, seed, protocol, known, graph)
        C = protocol.get("C with labels in the graph") if label_edges else None
        accuracy[n_labelled] = svm_accuracy(features, documents.labels, rows, protocol, C)
    return accuracy


def _majority(documents: Documents, y: np.ndarray, graph: sp.csr_array | None) -> np.ndarray:
    """The most common class of the documents without a label; the labels, balanced by class, do not reveal it."""
    return np.full(len(y), np.bincount(documents.labels[y < 0]).argmax())


def _label_propagation(documents: Documents, y: np.ndarray, graph: sp.csr_array | None) -> np.ndarray:
    from topicfold.baselines import LabelPropagation

    return (
        LabelPropagation().fit(documents.counts, y, graph=documents.graph(10) if graph is None else graph).transduction_
    )


TRANSDUCTIONS = {"majority": _majority, LABEL_PROPAGATION: _label_propagation}


def _features(
    method: Method,
    documents: Documents,
    n_topics: int,
    seed: int,
    protocol: Mapping[str, Any],
    y: np.ndarray | None,
    graph: sp.csr_array | None,
) -> Any:
    """Features for the SVM: rows scaled to length one, except for raw counts, which are not scaled."""
    from sklearn.preprocessing import normalize

    from topicfold.corpus.weighting import tfidf

    if method.name == RAW_WORDS:
        return documents.counts.astype(np.float64)
    if method.name == TFIDF_WORDS:
        return tfidf(documents.counts)
    model = fitted(method, documents, n_topics, seed, protocol, y, graph)
    rows = normalize(np.asarray(model.doc_topic_, dtype=np.float64))
    if not method.name.endswith(BESIDE_PCA):
        return rows
    beside = fitted(Method("PCA", "PCA"), documents, protocol["PCA columns"], seed, protocol)
    return np.hstack([rows, normalize(np.asarray(beside.doc_topic_, dtype=np.float64))])


def svm_accuracy(
    features: Any, labels: np.ndarray, labelled: np.ndarray, protocol: Mapping[str, Any], C: float | None = None
) -> float:
    """Accuracy of a linear SVM on the documents without a label.

    C, if it is not given, is chosen by cross-validation on the labelled ones, if there are enough.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.svm import LinearSVC

    dual = len(labelled) < features.shape[1]
    machine: Any = LinearSVC(C=protocol["svm C"][0] if C is None else C, dual=dual, random_state=0)
    n_folds = min(protocol["svm folds"], int(np.bincount(labels[labelled]).min()))
    if C is None and n_folds > 1:
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
        machine = GridSearchCV(machine, {"C": protocol["svm C"]}, cv=folds)
    others = np.delete(np.arange(len(labels)), labelled)
    with single_threaded_libraries(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(features[labelled], labels[labelled])
    return float((machine.predict(features[others]) == labels[others]).mean())
