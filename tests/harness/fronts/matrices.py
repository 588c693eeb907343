"""Crafted matrices, given to every model, every baseline and `Corpus.from_counts`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold import Corpus, baselines
from topicfold.baselines import BASELINES
from topicfold.models import MODELS

from ..as_json import from_json, to_json
from ..cases import Case, Draw, Front, Run, check_finite, check_shares, each_of, generator
from ..crafted import crafted_matrix, described
from ..small_models import small_model

__all__ = ["FRONT", "answers_of", "check_fit", "good_counts"]

_N_DOCUMENTS, _N_WORDS = 20, 12
_QUICK: dict[str, dict[str, Any]] = {
    "GibbsLDA": {"max_iter": 5},
    "HLDA": {"max_iter": 5, "depth": 2},
    "ITCC": {"n_row_clusters": 2, "n_column_clusters": 2},
    "MOC": {"n_clusters": 2},
    "MOCC": {"n_row_clusters": 2, "n_column_clusters": 2},
}
_BASELINES = (*BASELINES, "ITCC", "MOC", "MOCC")
_MIXTURES = tuple(name for name, info in MODELS.items() if info.mixture)
_ANSWERS = ("transform", "score", "predict", "memberships", "document_clusters", "topic_tree")


def good_counts() -> sp.csr_array:
    return sp.csr_array(np.random.default_rng(0).poisson(0.8, (_N_DOCUMENTS, _N_WORDS)))


def _make(name: str, size: int, parameters: dict[str, Any]) -> Any:
    if name in MODELS:
        return small_model(name, size, **parameters)
    quick = {"random_state": 0, **_QUICK.get(name, {})}
    return BASELINES[name].make(size, **quick) if name in BASELINES else getattr(baselines, name)(**quick)


def answers_of(model: Any, counts: Any, **options: Any) -> None:
    """What a model tells of documents is finite, and its shares are shares."""
    name = type(model).__name__

    def ask(method: str) -> None:
        answer = getattr(model, method)(counts, **options)
        if method == "topic_tree":
            return
        if method == "transform" and name in MODELS:
            check_shares(method, answer, sum_to_one=name in _MIXTURES)
        else:
            check_finite(method, answer)

    # a baseline has no tree of other documents
    methods = [method for method in _ANSWERS if hasattr(model, method) and method != "topic_tree"]
    each_of([lambda method=method: ask(method) for method in methods])


def check_fit(model: Any) -> None:
    """What a model has learned is finite, and its shares are shares."""
    name = type(model).__name__
    for attribute in ("topic_word_", "doc_topic_"):
        if hasattr(model, attribute) and name in MODELS:
            check_shares(attribute, getattr(model, attribute), sum_to_one=name in _MIXTURES)
    for attribute, value in vars(model).items():
        if attribute.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            check_finite(attribute, value[~np.isnan(value)] if attribute.endswith("_path_") else value)


def _draw(number: int) -> Case:
    rng = generator("matrices", number)
    name = rng.choice((*MODELS, *_BASELINES))
    where = rng.choice(("fit", "fit", "new", "corpus"))
    if where == "new":
        X = crafted_matrix(rng, (rng.choice((1, 4)), _N_WORDS))
        return Case(f"{name}, new documents: {described(X)}", {"name": name, "where": where, "X": to_json(X)})
    X, size, parameters = crafted_matrix(rng), rng.choice((1, 2, 3)), _parameters(name, rng)
    what = {"name": name, "where": where, "size": size, "parameters": parameters, "X": to_json(X)}
    return Case(f"{name}, {size} topics, {parameters}, {where}: {described(X)}", what)


def _parameters(name: str, rng: random.Random) -> dict[str, Any]:
    if name not in MODELS or "dtype" not in MODELS[name].parameters():
        return {}
    return {"dtype": rng.choice(("float32", "float64"))}


def _run(what: dict[str, Any], good: sp.csr_array, fitted: dict[str, Any]) -> None:
    name, X = what["name"], from_json(what["X"])
    if what["where"] == "new":
        answers_of(fitted[name], X)
        return
    if what["where"] == "corpus":
        X = Corpus.from_counts(X)
        check_finite("the corpus", X.counts.data)
    model = _make(name, what["size"], what["parameters"]).fit(X)
    check_fit(model)
    calls = [lambda: answers_of(model, X)]
    if model.n_features_in_ == _N_WORDS:
        calls.append(lambda: answers_of(model, good))
    if isinstance(X, Corpus) and hasattr(model, "topic_tree"):
        calls.append(lambda: model.topic_tree(X).to_json())
    each_of(calls)


def _prepare() -> tuple[Draw, Run]:
    good = good_counts()
    fitted = {name: _make(name, 3, {}).fit(good) for name in (*MODELS, *_BASELINES)}
    for name, model in fitted.items():
        answers_of(model, good)
        for kind in ("float32", "float64"):
            if name in MODELS and "dtype" in model.get_params(deep=False):
                answers_of(_make(name, 2, {"dtype": kind}).fit(good), good)
    import pandas  # noqa: F401  so that no child has to import it

    def run(what: dict[str, Any], _: Path) -> None:
        _run(what, good, fitted)

    return _draw, run


FRONT = Front("crafted matrices, for models and baselines", _prepare, n_cases=2000, batch=20, seconds=60)
