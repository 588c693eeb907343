"""The models, one line each: where a model is defined and what it can do.

Model files, commands, analysis and the tests of the common contract ask this table, never for a class, a name or an
attribute of a model.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimator import TopicModel

__all__ = ["DEFAULT_GRAPH_MODEL", "DEFAULT_MODEL", "MODELS", "ModelInfo", "info_of"]


@dataclass(frozen=True)
class ModelInfo:
    """Where a model is defined, and what it can do.

    The fields are what is needed before the model is imported, such as for help texts; the defaults are those of a
    model with flat topics. The contract compares the fields with the class. A setting is NAME=VALUE.
    """

    module: str
    name: str
    sizes: tuple[str, ...] = ("n_topics",)  # the parameters that set numbers of topics; empty if the model finds it
    mixture: bool = True  # topics are distributions over words, documents over topics
    takes_graph: bool = False  # fit and transform take a graph or embeddings of the documents
    takes_segments: bool = False  # documents are split into segments, which have topics of their own
    streams: bool = False  # partial_fit learns from batches
    samples: bool = False  # by Gibbs sampling: a number of sweeps instead of convergence
    labels: str | None = None  # the setting with which the fit uses y; '' if it always does, None if it never does
    notes: Mapping[str, str] = field(default_factory=dict)  # by setting: what to tell a user who fits with it
    quick: Mapping[str, Any] = field(default_factory=dict)  # parameters with which a small corpus is fitted in a moment

    def load(self) -> type[TopicModel]:
        """The class; importing it brings in scikit-learn and numba."""
        model: type[TopicModel] = getattr(import_module(f"{__name__}.{self.module}"), self.name)
        return model

    @property
    def steps(self) -> str:
        """The parameter that sets the number of steps."""
        return "n_sweeps" if self.samples else "max_iter"

    @property
    def has_themes(self) -> bool:
        """Whether documents also have themes, which are mixtures of topics."""
        return "n_themes" in self.sizes

    @property
    def score_unit(self) -> str:
        """The unit of `score`; scores in different units are never compared."""
        return self.load().score_unit

    @property
    def predicts(self) -> bool:
        """Whether a document has one largest topic, which `predict` returns; `memberships` gives several."""
        return not self.load().overlapping

    @property
    def hides_words(self) -> bool:
        """Whether a topic leaves out the words that the topic above shows, unless topic_tree(repeat=True) asks."""
        return "repeat" in inspect.signature(self.load().topic_tree).parameters

    @property
    def selects_words(self) -> bool:
        """Whether a fit may use only some of the words, whose columns are then in `word_columns_`."""
        return "word_columns_" in self.load().stored()

    def parameters(self) -> dict[str, Any]:
        """The parameters with their defaults."""
        return self.load()().get_params(deep=False)

    def make(self, n_topics: int, **parameters: Any) -> TopicModel:
        """An instance with this number of topics (and of themes, if the model has themes)."""
        return self.load()(**{**dict.fromkeys(self.sizes, n_topics), **parameters})

    def make_small(self, n_topics: int = 3, *, n_steps: int | None = None, **parameters: Any) -> TopicModel:
        """An instance for tests: quick, silent, always with the same seed, and with a limit on the steps."""
        steps = {} if n_steps is None else {self.steps: n_steps}
        return self.make(n_topics, **{"random_state": 0, "verbose": False, **self.quick, **steps, **parameters})


DEFAULT_MODEL, DEFAULT_GRAPH_MODEL = "LDA", "LTM"

_PRESENCE = "uses which words a document has, not how often; -p emission=counts changes that"
_MODELS = (
    ModelInfo("lda.lda", "LDA", streams=True),
    ModelInfo("plsa.plsa", "PLSA", streams=True),
    ModelInfo("graph.lapplsi", "LapPLSI", takes_graph=True, labels=""),
    ModelInfo("graph.ltm", "LTM", takes_graph=True, labels=""),
    ModelInfo("graph.dtm", "DTM", takes_graph=True, labels=""),
    ModelInfo("ttmm.ttmm", "TTMM", sizes=("n_topics", "n_themes"), streams=True, labels="n_themes=labels"),
    ModelInfo(
        "ldcc.ldcc",
        "LDCC",
        sizes=("n_word_topics", "n_document_topics"),
        takes_segments=True,
        samples=True,
        quick={"n_sweeps": 60, "burn_in": 2, "lag": 1},
    ),
    ModelInfo(
        "hlta.hlta",
        "HLTA",
        sizes=(),
        mixture=False,
        streams=True,
        notes={"emission=presence": _PRESENCE},
        quick={"n_levels": 2, "top_size": 2},
    ),
)
MODELS: dict[str, ModelInfo] = {info.name: info for info in _MODELS}


def info_of(model: object) -> ModelInfo:
    """What a model can do: as the first of its classes in the table, or else as a model with flat topics."""
    bases = type(model).__mro__
    return next(
        (MODELS[base.__name__] for base in bases if base.__name__ in MODELS), ModelInfo("estimator", "TopicModel")
    )
