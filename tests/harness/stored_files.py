"""Whole files of every kind that topicfold writes: models, trees, corpora and checkpoints of every model."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from topicfold import Corpus
from topicfold.engine.loop import Checkpoint
from topicfold.engine.store import read_file

from .small_models import VARIANTS, fit_options, small_model

__all__ = ["StoredFile", "stored_files"]


class StoredFile(NamedTuple):
    """A file that is whole; `variant` is the model it is of, or how a corpus is read."""

    kind: str
    variant: str
    content: bytes
    arrays: dict[str, np.ndarray]
    metadata: dict[str, Any]


_write = Checkpoint.write


def _write_second(checkpoint: Checkpoint, state: Any, notes: dict[str, Any]) -> None:
    """Write a checkpoint after the second step, so that a fit which resumes there has some way to go."""
    if len(notes["history"]) <= 2:
        _write(checkpoint, state, notes)


def stored_files(folder: Path, corpus: Corpus) -> list[StoredFile]:
    """A model, a tree and a checkpoint of each variant, and the corpus several times."""
    files = []

    def keep(kind: str, variant: str, path: Path) -> None:
        files.append(StoredFile(kind, variant, path.read_bytes(), *read_file(path, kind=kind)))

    for variant in VARIANTS:
        checkpoint, path = folder / "checkpoint", folder / "file"
        model = small_model(variant, checkpoint=checkpoint)
        patched = {"write": _write_second, "is_due": lambda _: True, "remove": lambda _: None}
        with mock.patch.multiple(Checkpoint, **patched):
            model.fit(corpus, **fit_options(variant, len(corpus)))
        keep("checkpoint", variant, checkpoint)
        model.save(path)
        keep("model", variant, path)
        model.topic_tree(corpus).save(path)
        keep("tree", variant, path)
        checkpoint.unlink()
    corpus.save(path)
    for _ in range(3):  # as likely as a model
        for variant in ("in memory", "mapped"):
            keep("corpus", variant, path)
    return files
