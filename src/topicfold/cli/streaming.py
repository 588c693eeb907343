"""`fit --stream`: a model learns from batches of documents as they arrive."""

from __future__ import annotations

from typing import Any

import click

from ..errors import InputError
from .messages import say
from .options import reading_options

__all__ = ["fit_stream"]


def fit_stream(model: Any, path: str, user_options: dict[str, Any], size: int, out: str) -> None:
    """Learn from batches of `size` documents, and save the model at the end."""
    from ..corpus.corpus import Corpus

    n_documents, n_batches = 0, 0
    for batch in Corpus.batches(path, size, **reading_options(path, user_options)):
        model.partial_fit(batch)
        n_documents, n_batches = n_documents + len(batch), n_batches + 1
        say(f"{n_documents:,} documents; the last batch had {model.history_[-1]:.4f} {model.score_unit}")
        if model.interrupted_:
            break
    if n_batches == 0:
        raise InputError(f"{path} has no documents")
    model.save(out)
    click.echo(str(model.topic_tree()))
    say(f"{n_batches:,} batches; the model is in {out}")
