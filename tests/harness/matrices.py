"""Crafted matrices, graphs, embeddings and labels, given to every model and to `Corpus.from_counts`."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold import Corpus
from topicfold.models import MODELS

from .cases import Case, Group, check_finite, each_of, generator
from .crafted import crafted_matrix, crafted_vectors, described
from .small_models import small_model

__all__ = ["GROUP"]

_N_DOCUMENTS, _N_WORDS = 20, 12
_LABELS: tuple[Any, ...] = ("a", "b", "", None, -1, 0, 1, 2.5, float("nan"), "-1", (1, 2), 10**20)
_GRAPH_MODELS = tuple(name for name, info in MODELS.items() if info.takes_graph)


def _good_counts() -> sp.csr_array:
    return sp.csr_array(np.random.default_rng(0).poisson(0.8, (_N_DOCUMENTS, _N_WORDS)))


def _answers_of(model: Any, counts: Any, **options: Any) -> None:
    """All that a model can tell of documents is finite."""

    def ask(name: str) -> Callable[[], None]:
        return lambda: check_finite(name, getattr(model, name)(counts, **options))

    each_of([ask(name) for name in ("transform", "score", "predict", "memberships") if hasattr(model, name)])


def _fit(model: Any, counts: Any, good: Any, **options: Any) -> None:
    """Fit a model and ask it about its own documents, and about documents that are in order, where they fit."""
    model.fit(counts, **options)
    check_finite("the fit", model.topic_word_, model.doc_topic_, model.history_)
    others = [lambda: _answers_of(model, counts)] if not options else []
    if model.n_features_in_ == _N_WORDS:
        others.append(lambda: _answers_of(model, good))
    each_of(others)


def _crafted_counts(rng: random.Random, models: dict[str, Any], good: Any) -> tuple[str, Callable[[], None]]:
    name = rng.choice(list(models))
    where = rng.choice(("fit", "fit", "new", "corpus"))
    if where == "new":
        X = crafted_matrix(rng, (rng.choice((1, 4)), _N_WORDS))
        return f"{name}, new documents: {described(X)}", lambda: _answers_of(models[name], X)
    X = crafted_matrix(rng)
    if where == "corpus":
        return f"Corpus.from_counts, then {name}: {described(X)}", lambda: _corpus_and_fit(X, name)
    model = (
        small_model(name, rng.choice((1, 2, 3)), dtype=rng.choice(("float32", "float64")))
        if ("dtype" in models[name].get_params(deep=False))
        else small_model(name, rng.choice((1, 2)))
    )
    return f"{model}.fit: {described(X)}", lambda: _fit(model, X, good)


def _corpus_and_fit(X: Any, name: str) -> None:
    corpus = Corpus.from_counts(X)
    check_finite("the corpus", corpus.counts.data)
    _fit(small_model(name, 2), corpus, corpus)


def _crafted_graph(rng: random.Random, models: dict[str, Any], good: Any) -> tuple[str, Callable[[], None]]:
    name = rng.choice(_GRAPH_MODELS)
    if rng.random() < 0.3:
        graph = crafted_matrix(rng, (3, _N_DOCUMENTS))
        return f"{name}, graph of new documents: {described(graph)}", lambda: _answers_of(
            models[name], good[:3], graph=graph
        )
    graph = crafted_matrix(rng, (_N_DOCUMENTS, _N_DOCUMENTS))
    if rng.random() < 0.5:
        graph = _symmetric(graph)
    weight = {"graph_weight": rng.choice((1.0, 1e-6, 1e6, "auto"))} if name != "DTM" else {}
    model = small_model(name, **weight)
    return f"{model}.fit, graph: {described(graph)}", lambda: _fit(model, good, good, graph=graph)


def _symmetric(graph: Any) -> Any:
    """The graph made symmetric, where it is in order; so that it comes further than the first check."""
    try:
        dense = np.asarray(
            graph.toarray() if sp.issparse(graph) and graph.format in ("lil", "dok") else graph, np.float64
        )
        return sp.csr_array(np.maximum(dense, dense.T))
    except (TypeError, ValueError, IndexError, OverflowError):
        return graph


def _crafted_embeddings(rng: random.Random, models: dict[str, Any], good: Any) -> tuple[str, Callable[[], None]]:
    name, vectors = rng.choice(_GRAPH_MODELS), crafted_vectors(rng, _N_DOCUMENTS)
    model = small_model(name, metric=rng.choice(("cosine", "euclidean", "intersection")))
    about = f"{model}.fit, embeddings: {described(vectors)}"

    def run() -> None:
        model.fit(good, embeddings=vectors)
        check_finite("the fit", model.topic_word_, model.doc_topic_)
        _answers_of(model, good, embeddings=vectors)

    return about, run


def _crafted_labels(rng: random.Random, models: dict[str, Any], good: Any) -> tuple[str, Callable[[], None]]:
    name = rng.choice((*_GRAPH_MODELS, "TTMM of labels"))
    few = rng.sample(_LABELS, rng.choice((1, 2, 4)))
    y = [rng.choice(few) for _ in range(_N_DOCUMENTS if rng.random() < 0.9 else 3)]
    labels: Any = y if rng.random() < 0.7 else np.array(y, dtype=object)
    return f"{name}.fit, y: {y}", lambda: _fit(small_model(name), good, good, y=labels)


def _case(models: dict[str, Any], good: Any, number: int) -> Case:
    rng = generator("matrices", number)
    craft = rng.choice((_crafted_counts,) * 6 + (_crafted_graph, _crafted_graph, _crafted_embeddings, _crafted_labels))
    about, run = craft(rng, models, good)

    def answer(_: Path) -> None:
        run()

    return Case(about, answer)


def _prepare() -> Callable[[int], Case]:
    good = _good_counts()
    models = {name: small_model(name).fit(good) for name in MODELS}
    for name, model in models.items():
        _answers_of(model, good)
        for kind in ("float32", "float64"):
            if "dtype" in model.get_params(deep=False):
                _fit(small_model(name, 2, dtype=kind), good, good)
    import pandas  # noqa: F401  so that no child has to import it

    return lambda number: _case(models, good, number)


GROUP = Group("crafted matrices, graphs, embeddings and labels", _prepare, n_cases=2000, batch=20, seconds=60)
