"""What a fitted HLTA keeps, for its files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.loop import ExpectedState
from ...engine.stored import MAX_PROBABILITY, Stored
from ...errors import InputError

if TYPE_CHECKING:
    from .hlta import HLTA

__all__ = ["STORED", "check_tree", "expected_state"]

STORED: Mapping[str, Stored] = {
    "topic_level_": Stored(("topics",), "int", low=1),
    "topic_parent_": Stored(("topics",), "int", low=-1, high="topics"),
    "topic_state_": Stored(("topics",), "int", low=0),
    "topic_effective_": Stored(("topics", "words"), "sparse"),
    "word_columns_": Stored(("chosen words",), "int", low=0, high="words"),
    "n_states_": Stored(("latents",), "int", low=2),
    "latent_parent_": Stored(("latents",), "int", low=-1, high="latents"),
    "latent_level_": Stored(("latents",), "int", low=1),
    "latent_table_": Stored(("latents", "states", "states"), low=0, high=MAX_PROBABILITY),
    "topic_latent_": Stored(("topics",), "int", low=0, high="latents"),
    "word_parent_": Stored(("chosen words",), "int", low=0, high="latents"),
    "word_table_": Stored(("chosen words", "states"), low=0),
    "n_batches_": Stored(kind="int", low=1, may_be_missing=True),
}


_MOST_LEVELS = 64
# The contents of a checkpoint: a latent tree, and the progress of its growth or of EM on batches.
_STATE: Mapping[str, Stored] = {
    "notes.seed": Stored(kind="int", low=0, high=2**31),
    "notes.grown": Stored(("steps of growth",), optional=True),
    "parent": Stored(("latents",), "int", low=-1, high="latents", dtype="int64"),
    "level": Stored(("latents",), "int", low=1, high=_MOST_LEVELS, dtype="int64"),
    "n_states": Stored(("latents",), "int", low=2, dtype="int64"),
    "table": Stored(("latents", "states", "states"), low=0, high=MAX_PROBABILITY, dtype="float64"),
    "word_parent": Stored(("chosen words",), "int", low=0, high="latents", dtype="int64"),
    "word_table": Stored(("chosen words", "states"), low=0, dtype="float64"),
    "passes": Stored((1,), "int", low=0, dtype="int64"),
    "rounds": Stored((1,), "int", low=0, dtype="int64"),
    "batches": Stored((1,), "int", low=1, dtype="int64", may_be_missing=True),
    "word_sum": Stored(("chosen words", "states"), low=0, dtype="float64", may_be_missing=True),
    "pair_sum": Stored(("latents", "states", "states"), low=0, dtype="float64", may_be_missing=True),
    "state_sum": Stored(("latents", "states"), low=0, dtype="float64", may_be_missing=True),
}


def expected_state(model: HLTA) -> ExpectedState:
    """The contents of a checkpoint of the fit."""

    def fits(values: Mapping[str, Any]) -> None:
        none = np.empty(0, np.int64)
        check_tree(values["parent"], values["n_states"], values["table"], none, none)
        level, parent = values["level"], values["parent"]
        if (level[parent[:-1]] < level[:-1]).any() or (level[values["word_parent"]] != 1).any():
            raise InputError("its levels do not rise from the words to the root")
        sums = {"word_sum", "pair_sum", "state_sum"}
        if sums & set(values) and not (sums | {"batches"}) <= set(values):
            raise InputError("it has only some of the sums over batches")

    return ExpectedState(_STATE, {"chosen words": len(model.word_columns_)}, fits)


def check_tree(
    parent: np.ndarray, n_states: np.ndarray, table: np.ndarray, topic_latent: np.ndarray, topic_state: np.ndarray
) -> None:
    """Raise if the arrays are not a tree: kernels go through latents in order, from children to parents."""
    if parent[-1] != -1 or (parent[:-1] <= np.arange(len(parent) - 1)).any():
        raise InputError("its latents are not ordered with parents after their children")
    if n_states.max() > table.shape[2] or (topic_state >= n_states[topic_latent]).any():
        raise InputError("its tables have fewer states than its n_states")
    of_parent = np.append(n_states[parent[:-1]], 1)
    used = np.arange(table.shape[1]) < of_parent[:, None]
    if (np.abs(table.sum(axis=2) - 1)[used] > MAX_PROBABILITY - 1).any():
        raise InputError("the probabilities of its states do not sum to one")
