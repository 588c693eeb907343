"""What a fitted HLTA keeps, for its files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...engine.stored import SUM, Stored

__all__ = ["STORED", "check_tree"]

STORED: Mapping[str, Stored] = {
    "topic_level_": Stored(("topics",), "whole", low=1),
    "topic_parent_": Stored(("topics",), "whole", low=-1, high="topics"),
    "topic_state_": Stored(("topics",), "whole", low=0),
    "topic_effective_": Stored(("topics", "words"), "sparse"),
    "word_columns_": Stored(("chosen words",), "whole", low=0, high="words"),
    "n_states_": Stored(("latents",), "whole", low=2),
    "latent_parent_": Stored(("latents",), "whole", low=-1, high="latents"),
    "latent_level_": Stored(("latents",), "whole", low=1),
    "latent_table_": Stored(("latents", "states", "states"), low=0, high=SUM),
    "topic_latent_": Stored(("topics",), "whole", low=0, high="latents"),
    "word_parent_": Stored(("chosen words",), "whole", low=0, high="latents"),
    "word_table_": Stored(("chosen words", "states"), low=0),
    "n_batches_": Stored(kind="whole", low=1, new=True),
}


def check_tree(
    parent: np.ndarray, n_states: np.ndarray, table: np.ndarray, topic_latent: np.ndarray, topic_state: np.ndarray
) -> None:
    """Raise where the arrays are no tree: kernels go through latents in their order, from children to parents."""
    if parent[-1] != -1 or (parent[:-1] <= np.arange(len(parent) - 1)).any():
        raise ValueError("its latents are not in an order in which parents come after their children")
    if n_states.max() > table.shape[2] or (topic_state >= n_states[topic_latent]).any():
        raise ValueError("it has tables for fewer states than it says")
