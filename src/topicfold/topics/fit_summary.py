"""FitSummary: how a fit went, without a way back to the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from ..engine.stored import Stored, check_stored

__all__ = ["FitSummary"]

_STORED: Mapping[str, Stored] = {
    "name": Stored(kind="text"),
    "settings": Stored(kind="mapping"),
    "history": Stored(("steps",)),
    "unit": Stored(kind="text"),
    "n_iter": Stored(kind="whole", low=0),
    "ending": Stored(kind="text"),
    "n_documents": Stored(kind="whole", low=0),
}


@dataclass(frozen=True, eq=False)
class FitSummary:
    """What reports and the command line say about a fit; made by `model.summary()`.

    Attributes
    ----------
    name : str
        Name of the model.
    settings : mapping of str to str
        The parameters that change results, as text.
    history : ndarray of shape (n_iter,)
        The objective after (or, for EM, before) each step.
    unit : str
        What `score` counts in, such as 'nats per token'.
    n_iter : int
        Number of steps.
    ending : str
        'converged', 'stopped at max_iter', 'sampling finished' or 'interrupted'.
    n_documents : int
        Number of training documents.
    """

    name: str
    settings: Mapping[str, str]
    history: np.ndarray
    unit: str
    n_iter: int
    ending: str
    n_documents: int

    def __str__(self) -> str:
        return f"{self.name}: {self.n_iter:,} iterations ({self.ending})"

    def to_json(self) -> dict[str, Any]:
        """Plain values that `from_json` takes."""
        return {**asdict(self), "settings": dict(self.settings), "history": self.history.tolist()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The summary that `to_json` wrote; a ValueError where it holds anything else."""
        found = {**values, "history": np.asarray(values["history"], np.float64)}
        check_stored(found, _STORED)
        if not all(isinstance(text, str) for pair in found["settings"].items() for text in pair):
            raise ValueError("its settings are not all texts")
        return cls(**found)
