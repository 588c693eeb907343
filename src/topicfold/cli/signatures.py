"""The models and their parameters, read from the source code so that nothing heavy is imported."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..models import DEFAULT_GRAPH_MODEL, DEFAULT_MODEL, MODELS, ModelInfo

__all__ = ["Parameter", "Signature", "default_model", "listed_models", "models_by_option", "signature_of"]


class Parameter(NamedTuple):
    """A parameter of a model: its name, type, default and the first sentence about it."""

    name: str
    type: str
    default: str
    summary: str

    @property
    def choices(self) -> list[str]:
        """The strings that it accepts.

        >>> Parameter("init", "{'nmf', 'random'} or array", "'nmf'", "").choices
        ['nmf', 'random']
        """
        named = re.findall(r"'([^']+)'", self.type)
        return named or (["true", "false"] if self.type.partition(" ")[0] == "bool" else [])


class Signature(NamedTuple):
    """A model: the name of its class, the first line of its documentation, its parameters."""

    name: str
    summary: str
    parameters: list[Parameter]


def models_by_option() -> dict[str, ModelInfo]:
    """The models by their names on the command line.

    >>> list(models_by_option())[:3]
    ['lda', 'plsa', 'lapplsi']
    """
    return {name.lower(): info for name, info in MODELS.items()}


def default_model(on_graph: bool = False) -> str:
    """The model that is fitted if none is named.

    >>> default_model(), default_model(on_graph=True)
    ('lda', 'ltm')
    """
    return (DEFAULT_GRAPH_MODEL if on_graph else DEFAULT_MODEL).lower()


def listed_models(able: Callable[[ModelInfo], bool]) -> str:
    """The models that can do something, for a sentence.

    >>> listed_models(lambda info: info.takes_graph)
    'lapplsi, ltm and dtm'
    """
    *names, last = [name for name, info in models_by_option().items() if able(info)]
    return f"{', '.join(names)} and {last}" if names else last


@cache
def signature_of(model_name: str) -> Signature:
    """The signature of a model, by its name in upper or lower case; KeyError if there is no such model.

    >>> signature_of("ttmm").parameters[1]
    Parameter(name='n_topics', type='int', default='20', summary='Number of topics.')
    """
    info = models_by_option()[model_name.lower()]
    spec = find_spec(f"topicfold.models.{info.module}")
    assert spec is not None
    assert spec.origin is not None
    source = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    class_node = next(node for node in source.body if isinstance(node, ast.ClassDef) and node.name == info.name)
    text = inspect.cleandoc(ast.get_docstring(class_node) or "")
    about = _documented(text)
    nothing = ("", "")
    parameters = [
        Parameter(name, about.get(name, nothing)[0], default, about.get(name, nothing)[1])
        for name, default in _defaults(class_node).items()
    ]
    return Signature(info.name, text.partition("\n\n")[0].replace("\n", " "), parameters)


def _defaults(class_node: ast.ClassDef) -> dict[str, str]:
    """The parameters of __init__ with their defaults, as written in the source."""
    init = next(node for node in class_node.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    arguments = init.args
    names = [argument.arg for argument in arguments.args[1:]]
    defaults = [ast.unparse(value) for value in arguments.defaults]
    positional = dict.fromkeys(names, "") | dict(zip(names[::-1], defaults[::-1]))
    keywords = {
        argument.arg: ast.unparse(value)
        for argument, value in zip(arguments.kwonlyargs, arguments.kw_defaults)
        if value is not None
    }
    return positional | keywords


def _documented(text: str) -> dict[str, tuple[str, str]]:
    """Type and first sentence of each parameter in the Parameters section of a numpydoc text."""
    lines = text.splitlines()
    if "Parameters" not in lines:
        return {}
    start = lines.index("Parameters") + 2
    ends = (row for row in range(start, len(lines)) if lines[row] and set(lines[row]) == {"-"})
    documented: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    kind, words = "", [""]
    for line in [*lines[start : next(ends, len(lines) + 1) - 1], "end"]:
        if line.startswith(" "):
            words.append(line.strip())
        elif line:
            documented |= dict.fromkeys(names, (kind, _first_sentence(" ".join(words).strip())))
            written, _, kind = line.partition(" : ")
            names, kind, words = written.split(", "), re.sub(r", (default=.*|optional)$", "", kind), []
    return documented


def _first_sentence(text: str) -> str:
    """The text up to the first full stop that ends a sentence.

    >>> _first_sentence("One of 0, 0.03, ... 100. Then more.")
    'One of 0, 0.03, ... 100.'
    """
    return re.split(r"(?<=[A-Za-z0-9)'`\]]\.)(?<!eq\.)\s+(?=[A-Z0-9'`])", text, maxsplit=1)[0]
