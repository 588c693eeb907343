"""Check the docstrings of all public names by numpydoc's rules; `make lint` runs this script.

The rules are listed in pyproject.toml, [tool.numpydoc_validation]. In addition, every attribute that a class documents
must have a type and a description, and every attribute that a model stores must be documented, in the model or in one
of its base classes. What a class inherits is not documented again: a method without a docstring has that of its base.
"""

from __future__ import annotations

import ast
import inspect
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import topicfold
from topicfold.models import MODELS

ROOT = Path(__file__).parents[1]
MODEL_CLASSES = [topicfold.TopicModel, *(info.load() for info in MODELS.values())]
ROOMS = ("baselines", "datasets", "metrics", "plots")


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield every public class and function with the path from which it is imported."""
    for name in topicfold.__all__:
        if name not in ROOMS:
            yield f"topicfold.{name}", getattr(topicfold, name)
    for room in ROOMS:
        module = getattr(topicfold, room)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield f"topicfold.{room}.{name}", value


def documented_in(kind: type) -> set[str]:
    """Names of the parameters and attributes in the docstring of a class, without those of its base classes."""
    entries = NumpyDocString(inspect.cleandoc(vars(kind).get("__doc__") or ""))["Parameters"] + attributes_of(kind)
    return {name.strip("* ") for entry in entries for name in entry.name.split(",")}


def attributes_of(kind: type) -> list[Any]:
    """Attributes in the docstring of a class, each with its name, type and description."""
    text = inspect.cleandoc(vars(kind).get("__doc__") or "")
    return NumpyDocString(text)["Attributes"] if "Attributes\n---" in text else []


def public_methods(kind: type) -> Iterator[str]:
    """Yield the public methods and properties of a class and its private base classes that topicfold defines.

    Left out are those of public base classes, which are checked there, and those that have the docstring of a base.
    """
    public = {base for _, base in public_names() if inspect.isclass(base)} - {kind}
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        homes = [base for base in kind.__mro__ if name in vars(base)]
        if homes[0] in public or (len(homes) > 1 and not value.__doc__):
            continue
        for wrapped in ("fget", "func", "fn", "__func__"):  # properties, cached ones, scikit-learn's available_if
            value = getattr(value, wrapped, value)
        if not name.startswith("_") and isinstance(value, FunctionType) and value.__module__.startswith("topicfold."):
            yield name


def class_problems(kind: type) -> Iterator[str]:
    """Yield the problems with parameters and attributes in the docstring of a class.

    The fields of a result, which users read but do not pass, may be documented as attributes.
    """
    doc = NumpyDocString(inspect.cleandoc(kind.__doc__ or ""))
    inherited = [entry for base in kind.__mro__[1:] for entry in attributes_of(base)]
    for entry in doc["Attributes"]:
        if entry in inherited:
            yield f"AT03 Attribute {entry.name} is documented in a base class, in the same words"
        if not entry.type or not entry.desc:
            yield f"AT01 Attribute {entry.name} has no type or no description"
    parameters = set() if issubclass(kind, BaseException) else set(inspect.signature(kind).parameters)
    if parameters - documented_in(kind):
        yield f"PR01 Parameters {sorted(parameters - documented_in(kind))} not documented"
    if kind in MODEL_CLASSES:
        undocumented = set(kind.stored()).difference(*map(documented_in, kind.__mro__))
        if undocumented:
            yield f"AT02 Stored attributes {sorted(undocumented)} not documented"


def raised(function: Any) -> bool:
    """Whether the body of a function has a `raise` of its own."""
    for wrapped in ("fget", "func", "fn", "__func__"):
        function = getattr(function, wrapped, function)
    tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(function)))
    return any(isinstance(node, ast.Raise) for node in ast.walk(tree))


def problems() -> list[str]:
    """List everything that breaks a rule, one line per problem."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["numpydoc_validation"]
    checks, not_of_methods = set(settings["checks"]), set(settings["not_of_methods"])
    lines = []
    for path, value in public_names():
        is_class = inspect.isclass(value)
        home = f"{value.__module__}.{value.__qualname__}"  # a module may have the same path as a public name
        home_problems = [f"{code} {text}" for code, text in validate(home)["errors"] if code in checks]
        if is_class:
            home_problems = [line for line in home_problems if not line.startswith("PR01")] + list(
                class_problems(value)
            )
        elif raised(value) and not NumpyDocString(inspect.getdoc(value) or "")["Raises"]:
            home_problems.append("RS01 Raises an error that is not documented")
        lines += [f"{path}: {line}" for line in home_problems]
        for name in public_methods(value) if is_class else ():
            errors = validate(f"{home}.{name}")["errors"]
            method = inspect.getattr_static(value, name)
            if raised(method) and not NumpyDocString(inspect.getdoc(getattr(value, name)) or "")["Raises"]:
                lines.append(f"{path}.{name}: RS01 Raises an error that is not documented")
            lines += [f"{path}.{name}: {code} {text}" for code, text in errors if code in checks - not_of_methods]
    return lines


if __name__ == "__main__":
    all_problems = problems()
    print("\n".join(all_problems), file=sys.stderr)
    sys.exit(1 if all_problems else 0)
