"""topicfold finds what a collection of texts is about.

Names are loaded when they are first used, so that `import topicfold` costs nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .classify import TopicClassifier
    from .corpus import Corpus, Segments
    from .graph import knn_graph, label_graph, link_graph
    from .layout import document_positions
    from .models.dtm import DTM
    from .models.hlta import HLTA
    from .models.lapplsi import LapPLSI
    from .models.ldcc import LDCC
    from .models.ltm import LTM
    from .models.plsa import PLSA
    from .models.ttmm import TTMM
    from .over_time import drift, topics_over_time
    from .report import Report, build_report, read_names
    from .retrieval import search
    from .selection import select
    from .store import load, save
    from .text import Preprocessing
    from .topics import TopicTree, topic_tree

_HOME = {
    "Corpus": "corpus",
    "DTM": "models.dtm",
    "HLTA": "models.hlta",
    "LDCC": "models.ldcc",
    "LTM": "models.ltm",
    "LapPLSI": "models.lapplsi",
    "PLSA": "models.plsa",
    "Preprocessing": "text",
    "Report": "report",
    "Segments": "corpus",
    "TTMM": "models.ttmm",
    "TopicClassifier": "classify",
    "TopicTree": "topics",
    "build_report": "report",
    "document_positions": "layout",
    "drift": "over_time",
    "knn_graph": "graph",
    "label_graph": "graph",
    "link_graph": "graph",
    "load": "store",
    "read_names": "report",
    "save": "store",
    "search": "retrieval",
    "select": "selection",
    "topic_tree": "topics",
    "topics_over_time": "over_time",
}

__all__ = [
    "DTM",
    "HLTA",
    "LDCC",
    "LTM",
    "PLSA",
    "TTMM",
    "Corpus",
    "LapPLSI",
    "Preprocessing",
    "Report",
    "Segments",
    "TopicClassifier",
    "TopicTree",
    "build_report",
    "document_positions",
    "drift",
    "knn_graph",
    "label_graph",
    "link_graph",
    "load",
    "read_names",
    "save",
    "search",
    "select",
    "topic_tree",
    "topics_over_time",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("topicfold")
    if name not in _HOME:
        raise AttributeError(f"module 'topicfold' has no attribute {name!r}")
    value = getattr(import_module(f"topicfold.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
