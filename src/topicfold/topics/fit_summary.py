"""FitSummary: how a fit went, independent of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from ..engine.stored import Stored, check_stored, number_array
from ..errors import InputError

__all__ = ["FitSummary"]

_STORED: Mapping[str, Stored] = {
    "name": Stored(kind="string"),
    "settings": Stored(kind="mapping"),
    "history": Stored(("steps",)),
    "unit": Stored(kind="string"),
    "n_iter": Stored(kind="int", low=0),
    "ending": Stored(kind="string"),
    "n_documents": Stored(kind="int", low=0),
}


@dataclass(frozen=True, eq=False)
class FitSummary:
    """Summary of a fit; made by `model.summary()`.

    Attributes
    ----------
    name : str
        Name of the model.
    settings : mapping of str to str
        The parameters that change results, as text.
    history : ndarray of shape (n_iter,)
        The objective after each step; for EM, before each step.
    unit : str
        Unit of `score`, such as 'nats per token'.
    n_iter : int
        Number of steps.
    ending : str
        How the fit ended: 'converged', 'stopped at max_iter', 'sampling finished' or 'interrupted'.
    n_documents : int
        Number of training documents.

    See Also
    --------
    TopicModel.summary : Makes one.
    topicfold.plots.convergence : The history as a figure.

    Examples
    --------
    >>> from topicfold import LDA
    >>> model = LDA(n_topics=2, random_state=0).fit(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    >>> summary = model.summary()
    >>> summary.name, summary.unit
    ('LDA', 'nats per token')
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
        """Return the summary as plain values, for files.

        Returns
        -------
        dict
            The attributes by name.
        """
        return {**asdict(self), "settings": dict(self.settings), "history": self.history.tolist()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Make a summary from the values that `to_json` returned.

        Parameters
        ----------
        values : mapping
            The attributes by name.

        Returns
        -------
        FitSummary
            The same summary.

        Raises
        ------
        InputError
            If a value is missing or of the wrong type.
        """
        if not isinstance(values, Mapping) or not isinstance(values.get("history"), list):
            raise InputError("its summary has no history")
        attributes = {**values, "history": number_array("history", values["history"])}
        check_stored(attributes, _STORED)
        if not all(isinstance(text, str) for pair in attributes["settings"].items() for text in pair):
            raise InputError("its settings are not all strings")
        return cls(**attributes)
