"""What LapPLSI and LTM share: a weight of the graph, given or chosen on held-out documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from ...engine.checks import check_number
from ...engine.loop import State
from ...engine.stored import Stored
from ..em.plsa_kernels import SeedCounts
from .graph_data import GraphData
from .graph_model import GraphTopicModel, Weight
from .weight import choose_weight

__all__ = ["WeightedGraphModel"]


class WeightedGraphModel(GraphTopicModel):
    """Base class of the graph models in which a weight balances the graph against the words.

    Attributes
    ----------
    graph_weight_ : float
        The weight used.
    graph_weight_path_ : ndarray of shape (n_weights, 4), or None
        With graph_weight='auto', one row per weight tried: the weight; the log-likelihood per token of the unseen
        halves of held-out documents, predicted from the largest topic of each; the share of the documents in the
        largest topic; and the accuracy on labels of held-out documents (NaN without labels).
    """

    _stored: ClassVar[Mapping[str, Stored]] = {
        "graph_weight_": Stored(low=0),
        "graph_weight_path_": Stored(("weights", "columns"), optional=True, allow_nan=True),
    }

    graph_weight: float | Literal["auto"]
    focus: float

    graph_weight_: float
    graph_weight_path_: np.ndarray | None

    def _focus(self) -> float:
        return float(self.focus)

    def _needs_graph(self) -> bool:
        return self.graph_weight != 0

    def _check_graph_weight(self) -> None:
        check_number("focus", self.focus)
        if self.graph_weight != "auto":
            check_number("graph_weight", self.graph_weight, or_else=", or 'auto'")

    def _weight(self, data: GraphData, seed_counts: SeedCounts) -> Weight:
        if self.graph_weight == "auto":
            return choose_weight(self, data, seed_counts)
        return Weight(float(self.graph_weight), np.empty(0), False)

    def _keep_own(self, data: GraphData, state: State) -> None:
        self.graph_weight_path_ = state["weight_path"] if self.graph_weight == "auto" else None
        self.graph_weight_ = float(state["weight"])

    def _weight_of_new(self) -> float:
        return self.graph_weight_
