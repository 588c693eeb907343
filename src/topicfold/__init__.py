"""topicfold finds what a collection of texts is about.

Names are loaded when they are first used, so that `import topicfold` costs nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .corpus import Corpus, Segments
    from .models.plsa import PLSA
    from .retrieval import search
    from .selection import select
    from .store import load, save
    from .text import Preprocessing
    from .topics import TopicTree, topic_tree

_HOME = {
    "Corpus": "corpus",
    "PLSA": "models.plsa",
    "Preprocessing": "text",
    "Segments": "corpus",
    "TopicTree": "topics",
    "load": "store",
    "save": "store",
    "search": "retrieval",
    "select": "selection",
    "topic_tree": "topics",
}

__all__ = [
    "PLSA",
    "Corpus",
    "Preprocessing",
    "Segments",
    "TopicTree",
    "load",
    "save",
    "search",
    "select",
    "topic_tree",
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
