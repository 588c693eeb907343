"""The models, one line each. Model files, the command line and the tests of the common contract use this table."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import TopicModel

__all__ = ["MODELS", "ModelInfo"]


@dataclass(frozen=True)
class ModelInfo:
    """Where a model is defined, and what other code needs to know before importing it."""

    module: str
    name: str
    sizes: tuple[str, ...]  # the parameters that set numbers of topics; empty if the model finds the number
    mixture: bool = True  # topics are distributions over words, documents over topics
    takes_graph: bool = False
    steps: str = "max_iter"  # the parameter that sets the number of steps

    def load(self) -> type[TopicModel]:
        """The class; importing it brings in scikit-learn and numba."""
        model: type[TopicModel] = getattr(import_module(f"{__name__}.{self.module}"), self.name)
        return model

    @property
    def score_unit(self) -> str:
        """The unit of `score`; scores in different units are never compared."""
        return self.load().score_unit

    def make(self, n_topics: int, **parameters: Any) -> TopicModel:
        """An instance with this number of topics (and of themes, if the model has themes)."""
        return self.load()(**{**dict.fromkeys(self.sizes, n_topics), **parameters})


MODELS: dict[str, ModelInfo] = {
    "LDA": ModelInfo("lda.lda", "LDA", sizes=("n_topics",)),
    "PLSA": ModelInfo("plsa.plsa", "PLSA", sizes=("n_topics",)),
    "LapPLSI": ModelInfo("graph.lapplsi", "LapPLSI", sizes=("n_topics",), takes_graph=True),
    "LTM": ModelInfo("graph.ltm", "LTM", sizes=("n_topics",), takes_graph=True),
    "DTM": ModelInfo("graph.dtm", "DTM", sizes=("n_topics",), takes_graph=True),
    "TTMM": ModelInfo("ttmm.ttmm", "TTMM", sizes=("n_topics", "n_themes")),
    "LDCC": ModelInfo("ldcc.ldcc", "LDCC", sizes=("n_word_topics", "n_document_topics"), steps="n_sweeps"),
    "HLTA": ModelInfo("hlta.hlta", "HLTA", sizes=(), mixture=False),
}
