"""topicfold finds what a collection of texts is about.

Names are loaded on first use, so that `import topicfold` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__
from .models import MODELS

if TYPE_CHECKING:  # what type checkers and editors see; a test compares it with the table below
    from . import baselines, datasets, metrics, plots
    from .analysis.classify import TopicClassifier
    from .analysis.contrast import Contrast, ContrastWord, contrast
    from .analysis.effects import Effects, effects
    from .analysis.embedding import embed
    from .analysis.endpoint import Endpoint
    from .analysis.judgement_tasks import JudgementTasks, judgement_tasks
    from .analysis.judgements import Judgements, read_judgements
    from .analysis.layout import document_positions
    from .analysis.name_command import NameCommand, naming_prompt
    from .analysis.over_time import Drift, TopicMove, TopicsOverTime, drift, topics_over_time
    from .analysis.recommendation import Selection, SelectionRow
    from .analysis.search import SearchHit, search
    from .analysis.selection import select
    from .analysis.zero_shot import ZeroShotClassifier
    from .corpus.corpus import Corpus, Segments
    from .corpus.limits import ReadLimits
    from .corpus.preprocessing import Preprocessing
    from .engine.distributed.cluster import on_cluster
    from .errors import FileError, InputError, MissingExtraError, ServiceError, TopicfoldError
    from .graph.build import knn_graph, label_graph, link_graph
    from .models.estimator import TopicModel
    from .models.graph.dtm import DTM
    from .models.graph.lapplsi import LapPLSI
    from .models.graph.ltm import LTM
    from .models.hlta.hlta import HLTA
    from .models.lda.lda import LDA
    from .models.ldcc.ldcc import LDCC
    from .models.model_file import load
    from .models.plsa.plsa import PLSA
    from .models.ttmm.ttmm import TTMM
    from .report import Report, build_report
    from .report.tasks_page import save_tasks_page
    from .topics.fit_summary import FitSummary
    from .topics.names import TopicToName
    from .topics.tree import TopicTree, TopicWord

_ROOMS = ("baselines", "datasets", "metrics", "plots")  # modules that are part of the public API
_HOME = {
    "Contrast": "analysis.contrast",
    "ContrastWord": "analysis.contrast",
    "Corpus": "corpus.corpus",
    "Drift": "analysis.over_time",
    "Effects": "analysis.effects",
    "Endpoint": "analysis.endpoint",
    "FileError": "errors",
    "FitSummary": "topics.fit_summary",
    "InputError": "errors",
    "JudgementTasks": "analysis.judgement_tasks",
    "Judgements": "analysis.judgements",
    "MissingExtraError": "errors",
    "NameCommand": "analysis.name_command",
    "Preprocessing": "corpus.preprocessing",
    "ReadLimits": "corpus.limits",
    "Report": "report.page",
    "SearchHit": "analysis.search",
    "Segments": "corpus.corpus",
    "Selection": "analysis.recommendation",
    "SelectionRow": "analysis.recommendation",
    "ServiceError": "errors",
    "TopicClassifier": "analysis.classify",
    "TopicModel": "models.estimator",
    "TopicMove": "analysis.over_time",
    "TopicToName": "topics.names",
    "TopicTree": "topics.tree",
    "TopicWord": "topics.tree",
    "TopicfoldError": "errors",
    "TopicsOverTime": "analysis.over_time",
    "ZeroShotClassifier": "analysis.zero_shot",
    "build_report": "report.contents",
    "contrast": "analysis.contrast",
    "document_positions": "analysis.layout",
    "drift": "analysis.over_time",
    "effects": "analysis.effects",
    "embed": "analysis.embedding",
    "judgement_tasks": "analysis.judgement_tasks",
    "knn_graph": "graph.build",
    "label_graph": "graph.build",
    "link_graph": "graph.build",
    "load": "models.model_file",
    "naming_prompt": "analysis.name_command",
    "on_cluster": "engine.distributed.cluster",
    "read_judgements": "analysis.judgements",
    "save_tasks_page": "report.tasks_page",
    "search": "analysis.search",
    "select": "analysis.selection",
    "topics_over_time": "analysis.over_time",
    **{name: f"models.{info.module}" for name, info in MODELS.items()},
}

__all__ = sorted([*_HOME, *_ROOMS])


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
