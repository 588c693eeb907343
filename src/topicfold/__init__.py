"""topicfold finds what a collection of texts is about.

Names are loaded when they are first used, so that `import topicfold` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import baselines, datasets, metrics, plots
    from .analysis.classify import TopicClassifier
    from .analysis.contrast import Contrast, contrast
    from .analysis.embedding import embed
    from .analysis.layout import document_positions
    from .analysis.over_time import drift, topics_over_time
    from .analysis.search import search
    from .analysis.selection import select
    from .corpus.corpus import Corpus, Segments
    from .corpus.limits import ReadLimits
    from .corpus.preprocessing import Preprocessing
    from .engine.array_files import ClusterError
    from .engine.cluster import on_cluster
    from .graph.build import knn_graph, label_graph, link_graph
    from .models.base import TopicModel, topic_tree
    from .models.graph.dtm import DTM
    from .models.graph.lapplsi import LapPLSI
    from .models.graph.ltm import LTM
    from .models.hlta.hlta import HLTA
    from .models.lda.lda import LDA
    from .models.ldcc.ldcc import LDCC
    from .models.model_file import load, save
    from .models.plsa.plsa import PLSA
    from .models.ttmm.ttmm import TTMM
    from .report import Report, build_report, read_names
    from .topics.fit_summary import FitSummary
    from .topics.tree import TopicTree

_ROOMS = ("baselines", "datasets", "metrics", "plots")  # modules that users look into
_HOME = {
    "ClusterError": "engine.array_files",
    "Contrast": "analysis.contrast",
    "Corpus": "corpus.corpus",
    "DTM": "models.graph.dtm",
    "FitSummary": "topics.fit_summary",
    "HLTA": "models.hlta.hlta",
    "LDA": "models.lda.lda",
    "LDCC": "models.ldcc.ldcc",
    "LTM": "models.graph.ltm",
    "LapPLSI": "models.graph.lapplsi",
    "PLSA": "models.plsa.plsa",
    "Preprocessing": "corpus.preprocessing",
    "ReadLimits": "corpus.limits",
    "Report": "report.page",
    "Segments": "corpus.corpus",
    "TTMM": "models.ttmm.ttmm",
    "TopicClassifier": "analysis.classify",
    "TopicModel": "models.base",
    "TopicTree": "topics.tree",
    "build_report": "report.contents",
    "contrast": "analysis.contrast",
    "document_positions": "analysis.layout",
    "drift": "analysis.over_time",
    "embed": "analysis.embedding",
    "knn_graph": "graph.build",
    "label_graph": "graph.build",
    "link_graph": "graph.build",
    "load": "models.model_file",
    "on_cluster": "engine.cluster",
    "read_names": "report.contents",
    "save": "models.model_file",
    "search": "analysis.search",
    "select": "analysis.selection",
    "topic_tree": "models.base",
    "topics_over_time": "analysis.over_time",
}

__all__ = [
    "DTM",
    "HLTA",
    "LDA",
    "LDCC",
    "LTM",
    "PLSA",
    "TTMM",
    "ClusterError",
    "Contrast",
    "Corpus",
    "FitSummary",
    "LapPLSI",
    "Preprocessing",
    "ReadLimits",
    "Report",
    "Segments",
    "TopicClassifier",
    "TopicModel",
    "TopicTree",
    "baselines",
    "build_report",
    "contrast",
    "datasets",
    "document_positions",
    "drift",
    "embed",
    "knn_graph",
    "label_graph",
    "link_graph",
    "load",
    "metrics",
    "on_cluster",
    "plots",
    "read_names",
    "save",
    "search",
    "select",
    "topic_tree",
    "topics_over_time",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"topicfold.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'topicfold' has no attribute {name!r}")
    value = getattr(import_module(f"topicfold.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__all__", "__doc__", "__name__", "__version__"])
