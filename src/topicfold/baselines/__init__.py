"""The methods ours are compared with, one line each, in the one shape of a model: fit, doc_topic_, labels_."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

__all__ = ["BASELINES", "BaselineInfo"]


@dataclass(frozen=True)
class BaselineInfo:
    """Where a baseline lives, and the parameter that sets its number of topics (None: it finds its own)."""

    module: str
    name: str
    size: str | None = "n_topics"

    def load(self) -> type:
        """The class; importing it brings in scikit-learn or tomotopy."""
        return getattr(import_module(f"{__name__}.{self.module}"), self.name)

    def make(self, n_topics: int, **parameters: Any) -> Any:
        """An instance with so many topics."""
        size = {} if self.size is None else {self.size: n_topics}
        return self.load()(**size, **parameters)


BASELINES: dict[str, BaselineInfo] = {
    "GibbsLDA": BaselineInfo("gibbs_lda", "GibbsLDA"),
    "HLDA": BaselineInfo("hlda", "HLDA", size=None),
    "NMF": BaselineInfo("factor", "NMF"),
    "LSI": BaselineInfo("factor", "LSI"),
    "PCA": BaselineInfo("factor", "PCA"),
    "KMeans": BaselineInfo("factor", "KMeans"),
    "NCut": BaselineInfo("factor", "NCut"),
}
