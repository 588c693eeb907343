"""Files of fitted models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..corpus.columns import Columns
from ..corpus.preprocessing import Preprocessing
from ..engine.store import errors_name_file, from_arrays, read_file, to_arrays, write_file
from ..engine.stored import check_stored
from ..errors import InputError
from ..topics.wording import Wording

if TYPE_CHECKING:
    from .estimator import TopicModel

__all__ = ["load", "write_model"]


def write_model(model: TopicModel, path: str | Path) -> None:
    """Write a fitted model to one .safetensors file: its class, parameters and everything it learned."""
    from . import MODELS

    name = type(model).__name__
    if name not in MODELS or type(model).__module__ != f"topicfold.models.{MODELS[name].module}":
        raise InputError(f"{name} is not one of topicfold's models: {', '.join(MODELS)}")
    learned = {key: value for key, value in vars(model).items() if key.endswith("_") and not key.startswith("_")}
    if not learned:
        raise InputError(f"this {name} is not fitted: there is nothing to save")
    # a generator cannot be saved, and is no longer needed after the fit
    parameters = {
        key: None if isinstance(value, np.random.RandomState | np.random.Generator) else value
        for key, value in model.get_params(deep=False).items()
    }
    arrays, plain = to_arrays({**{f"parameter:{k}": v for k, v in parameters.items()}, **learned})
    write_file(path, arrays, {"kind": "model", "class": name, "values": plain})


def load(path: str | Path, *, tokenizer: Callable[[str], Iterable[str]] | str | None = None) -> TopicModel:
    """Read a model that `TopicModel.save` wrote.

    Parameters
    ----------
    path : str or Path
        The .safetensors file.
    tokenizer : str or callable, default=None
        The custom tokenizer, if the model was fitted on texts with one. Without it, everything works except raw texts.

    Returns
    -------
    TopicModel
        The fitted model.

    Raises
    ------
    FileError
        If the file is missing or damaged, or is not a model of topicfold.

    See Also
    --------
    TopicModel.save : Writes a model.
    Corpus.load : Reads a corpus.
    TopicTree.load : Reads a tree of topics.

    Examples
    --------
    >>> import tempfile
    >>> from topicfold import LDA, load
    >>> model = LDA(n_topics=2, random_state=0).fit(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.safetensors")
    ...     same = load(f"{folder}/model.safetensors")
    >>> bool((same.topic_word_ == model.topic_word_).all())
    True
    """
    from . import MODELS

    arrays, metadata = read_file(path, kind="model")
    with errors_name_file(path):
        name = metadata.get("class")
        if not isinstance(name, str) or name not in MODELS:
            raise InputError(f"it contains a {name!r:.60}: expected one of {', '.join(MODELS)}")
        values = from_arrays(
            arrays, metadata.get("values"), preprocessing=Preprocessing.from_json, wording=Wording.from_json
        )
        parameters = {key.removeprefix("parameter:"): values.pop(key) for key in list(values) if ":" in key}
        kind = MODELS[name].load()
        unknown = parameters.keys() - kind().get_params(deep=False)
        if unknown:
            raise InputError(f"it contains a parameter {min(unknown)!r:.60}, which is unknown")
        model = kind(**parameters)
        model.check_parameters()
        check_stored(values, type(model).stored())
        if values["topic_word_"].shape[1] != values["n_features_in_"]:
            raise InputError(f"topics of {values['topic_word_'].shape[1]} words for {values['n_features_in_']} columns")
        if values.get("wording_") is not None:
            values["wording_"].check(*values["topic_word_"].shape)
        if values["source_columns_"] is not None:
            Columns.from_json(values["source_columns_"])
        for key, value in values.items():
            setattr(model, key, value)
        model._check_learned()
        model._prepare()
    if tokenizer is not None and model.preprocessing_ is not None:
        model.preprocessing_ = model.preprocessing_.with_tokenizer(tokenizer)
    return model
