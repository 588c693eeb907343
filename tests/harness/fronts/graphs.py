"""Crafted graphs, embeddings and labels, given to the models that learn from them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold.models import MODELS

from ..as_json import from_json, to_json
from ..cases import Case, Draw, Front, Run, each_of, generator
from ..crafted import crafted_matrix, crafted_vectors, described
from ..small_models import small_model
from .matrices import answers_of, check_fit, good_counts

__all__ = ["FRONT"]

_LABELS: tuple[Any, ...] = ("a", "b", "", None, -1, 0, 1, 2.5, float("nan"), "-1", (1, 2), 10**20)
_GRAPH_MODELS = tuple(name for name, info in MODELS.items() if info.takes_graph)
_N_NEW = 3


def _symmetric(graph: Any) -> Any:
    """The graph made symmetric where it is in order, so that it comes further than the first check."""
    if sp.issparse(graph) and graph.format not in ("lil", "dok"):  # its parts may not fit: scipy would read beyond them
        return graph
    try:
        dense = np.asarray(graph.toarray() if sp.issparse(graph) else graph, np.float64)
        return sp.csr_array(np.maximum(dense, dense.T))
    except (TypeError, ValueError, IndexError, OverflowError):
        return graph


def _given(kind: str, rng: random.Random, n_documents: int) -> Any:
    if kind == "graph":
        graph = crafted_matrix(rng, (n_documents, good_counts().shape[0]))
        return _symmetric(graph) if rng.random() < 0.5 else graph
    if kind == "embeddings":
        return crafted_vectors(rng, n_documents)
    few = rng.sample(_LABELS, rng.choice((1, 2, 4)))
    labels = [rng.choice(few) for _ in range(n_documents if rng.random() < 0.9 else 3)]
    if rng.random() < 0.7:
        return labels
    column = np.empty(len(labels), object)
    column[:] = labels
    return column


def _parameters(name: str, kind: str, rng: random.Random) -> dict[str, Any]:
    if kind == "graph" and name != "DTM":
        return {"graph_weight": rng.choice((1.0, 1e-6, 1e6, "auto"))}
    return {"metric": rng.choice(("cosine", "euclidean", "intersection"))} if kind == "embeddings" else {}


def _draw(number: int) -> Case:
    rng = generator("graphs", number)
    kind = rng.choice(("graph", "graph", "embeddings", "y"))
    name = rng.choice((*_GRAPH_MODELS, "TTMM of labels") if kind == "y" else _GRAPH_MODELS)
    new = kind != "y" and rng.random() < 0.3
    value = _given(kind, rng, _N_NEW if new else good_counts().shape[0])
    parameters = {} if new else _parameters(name, kind, rng)
    what = {"name": name, "new": new, "kind": kind, "parameters": parameters, "value": to_json(value)}
    return Case(f"{name}, {kind}{' of new documents' if new else ''}, {parameters}: {described(value)}", what)


def _run(what: dict[str, Any], fitted: dict[str, dict[str, Any]]) -> None:
    name, good, kind, value = what["name"], good_counts(), what["kind"], from_json(what["value"])
    if what["new"]:
        answers_of(fitted[kind][name], good[:_N_NEW], **{kind: value})
        return
    model = small_model(name, **what["parameters"]).fit(good, **{kind: value})
    check_fit(model)
    given = [lambda: answers_of(model, good, embeddings=value)] if kind == "embeddings" else []
    each_of([*given, lambda: answers_of(model, good)])


def _prepare() -> tuple[Draw, Run]:
    good = good_counts()
    size = good.shape[0]
    vectors = np.random.default_rng(0).normal(size=(size, 4))
    ring = sp.csr_array(np.roll(np.eye(size), 1, 0) + np.roll(np.eye(size), -1, 0))
    fitted = {
        "graph": {name: small_model(name).fit(good, graph=ring) for name in _GRAPH_MODELS},
        "embeddings": {name: small_model(name).fit(good, embeddings=vectors) for name in _GRAPH_MODELS},
    }
    for name in _GRAPH_MODELS:
        answers_of(fitted["graph"][name], good[:_N_NEW], graph=ring[:_N_NEW])
        answers_of(fitted["embeddings"][name], good[:_N_NEW], embeddings=vectors[:_N_NEW])
    small_model("TTMM of labels").fit(good, y=["a", "b"] * (size // 2))
    import pandas  # noqa: F401  so that no child has to import it

    return _draw, lambda what, _: _run(what, fitted)


FRONT = Front("crafted graphs, embeddings and labels", _prepare, n_cases=2000, batch=20, seconds=60)
