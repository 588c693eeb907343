"""Files of fitted models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..corpus.preprocessing import Preprocessing
from ..store import damage_named, put_together, read_file, take_apart, write_file

if TYPE_CHECKING:
    from .base import TopicModel

__all__ = ["load", "save"]

# parameters in files of version 0.1.0
_RENAMED = {"HLTA": {"delta": "bic_threshold", "n_words": "max_words"}, "LDCC": {"eta": "smoothing"}}


def save(model: TopicModel, path: str | Path) -> None:
    """Write a fitted model: its class, parameters and everything it learned."""
    from . import MODELS

    name = type(model).__name__
    if name not in MODELS or type(model).__module__ != f"topicfold.models.{MODELS[name].module}":
        raise ValueError(f"{name} is not one of topicfold's models: {', '.join(MODELS)}")
    learned = {key: value for key, value in vars(model).items() if key.endswith("_") and not key.startswith("_")}
    if not learned:
        raise ValueError(f"this {name} is not fitted: there is nothing to save")
    # a generator cannot be written down, nor is one needed: what it was used for is done
    parameters = {
        key: None if isinstance(value, np.random.RandomState | np.random.Generator) else value
        for key, value in model.get_params(deep=False).items()
    }
    arrays, plain = take_apart({**{f"parameter:{k}": v for k, v in parameters.items()}, **learned})
    write_file(path, arrays, {"kind": "model", "class": name, "values": plain})


def load(path: str | Path, *, tokenizer: Callable[[str], Iterable[str]] | None = None) -> TopicModel:
    """Read a model that `save` wrote.

    A model fitted on text that a custom tokenizer cut asks for it again: `load(path, tokenizer=cut)`; without it
    everything works but raw text.
    """
    from . import MODELS

    arrays, metadata = read_file(path, kind="model")
    with damage_named(path):
        name = metadata["class"]
        if name not in MODELS:
            raise ValueError(f"it holds a {name!r:.60}, and the models are: {', '.join(MODELS)}")
        values = put_together(arrays, metadata["values"], preprocessing=Preprocessing.from_json)
        parameters = {key.removeprefix("parameter:"): values.pop(key) for key in list(values) if ":" in key}
        renamed = _RENAMED.get(name, {})
        model = MODELS[name].load()(**{renamed.get(key, key): value for key, value in parameters.items()})
        values.setdefault("document_titles_", None)  # files of version 0.1.0 have none
        for key, value in values.items():
            if not key.endswith("_") or key.startswith("_") or not key.isidentifier():
                raise ValueError(f"a model learns nothing called {key!r:.60}")
            setattr(model, key, value)
        _check_shapes(model)
        model._prepare()
    if tokenizer is not None and model.preprocessing_ is not None:
        model.preprocessing_ = model.preprocessing_.with_tokenizer(tokenizer)
    return model


def _check_shapes(model: TopicModel) -> None:
    """Raise when a model's arrays do not fit each other, or hold what no fit gives."""
    topics, documents = model.topic_word_, model.doc_topic_
    if topics.ndim != 2 or topics.shape[1] != model.n_features_in_ or documents.shape[1:] != topics.shape[:1]:
        raise ValueError(f"topics of shape {topics.shape} and documents of shape {documents.shape} do not fit")
    for words in (model.vocabulary_, getattr(model, "feature_names_in_", None)):
        if words is not None and len(words) != model.n_features_in_:
            raise ValueError(f"{len(words)} words for {model.n_features_in_} columns")
    if model.document_ids_ is not None and len(model.document_ids_) != len(documents):
        raise ValueError(f"{len(model.document_ids_)} ids for {len(documents)} documents")
    for array in (topics, documents):
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            raise ValueError("a probability is not a number")
