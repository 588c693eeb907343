"""The two stages of an HLTA fit: the tree is built on a sample of the documents, then EM runs on all of them."""

from __future__ import annotations

from itertools import pairwise, starmap
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ...engine.loop import Checkpoint, Resumed, Run, State, iterate
from .latent_tree import LatentTree, with_rates
from .tree_growth import PASSES, Growth, Polish, level_sizes

if TYPE_CHECKING:
    from .hlta import HLTA

__all__ = ["BATCH", "grow", "polish"]

BATCH = 2_000  # documents per step of stepwise EM
_STRUCTURE_DOCUMENTS = 20_000  # the tree is built on at most this many, drawn at random


def grow(
    model: HLTA,
    documents: sp.csr_array,
    shuffled: np.ndarray,
    seed: int,
    checkpoint: Checkpoint | None,
    resumed: Resumed | None,
) -> tuple[State, Run]:
    """Build the tree on the documents or a sample of them, or continue a resumed fit."""
    if resumed is not None and resumed[1]["grown"] is not None:
        return resumed[0], Run(resumed[1]["grown"], False, True)
    sample = documents[np.sort(shuffled[:_STRUCTURE_DOCUMENTS])]
    sample.data = np.ones_like(sample.data)
    growth = Growth(model, sample, seed)
    if resumed is None:
        state, history = growth.start(), []
        if checkpoint is not None and checkpoint.is_due():
            checkpoint.write(state, {"seed": seed, "grown": None, "history": []})
    else:
        state, history = resumed[0], resumed[1]["history"]
    a_level = PASSES * (1 + model.n_relocations)
    shrinking = np.log(max(len(model.word_columns_) / model.top_size, 2)) / np.log(5)  # a guess for the progress bar
    run = iterate(
        growth,
        state,
        max_iter=a_level * (model.n_levels or 64),
        expected=a_level * (model.n_levels or int(np.ceil(shrinking))),
        tol=0,
        title="HLTA tree",
        unit="nats per document",
        note=lambda: level_sizes(state),
        verbose=model.verbose,
        checkpoint=checkpoint,
        notes={"seed": seed, "grown": None},
        history=history,
    )
    return state, run


def polish(
    model: HLTA,
    documents: sp.csr_array,
    shuffled: np.ndarray,
    seed: int,
    state: State,
    grown: list[float],
    checkpoint: Checkpoint | None,
    resumed: Resumed | None,
) -> Run:
    """EM on all documents; the history is that of the whole fit, or only of this stage with emission='counts'."""
    n_documents = documents.shape[0]
    size = model.batch_size
    if size == "auto":
        size = BATCH if n_documents > _STRUCTURE_DOCUMENTS else None
    n_batches = 1 if size is None else -(-n_documents // int(size))
    ends = np.linspace(0, n_documents, n_batches + 1).astype(int)  # a small last batch would weigh too much
    history: list[float] = []
    if "batches" in state:
        assert resumed is not None
        history = resumed[1]["history"]
    else:
        if model.emission == "counts":
            state.update(with_rates(LatentTree.from_arrays(state), documents).arrays())
        # the documents that the tree was built on count as seen batches
        state["batches"] = np.array([1 + min(_STRUCTURE_DOCUMENTS, n_documents) * n_batches // n_documents])
    run = iterate(
        Polish(model, documents if n_batches == 1 else documents[shuffled], list(starmap(slice, pairwise(ends)))),
        state,
        max_iter=model.max_iter,
        tol=model.tol,
        title="HLTA",
        unit="nats per document",
        note=lambda: level_sizes(state),
        verbose=model.verbose,
        checkpoint=checkpoint,
        notes={"seed": seed, "grown": grown},
        history=history,
    )
    return run._replace(history=[*(grown if model.emission == "presence" else []), *run.history])
