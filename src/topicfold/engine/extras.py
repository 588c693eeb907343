"""Optional packages: imported where they are used; if one is missing, the error names its extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import MissingExtraError

__all__ = ["import_extra"]


def import_extra(module: str, extra: str, purpose: str, package: str | None = None) -> Any:
    """Import a module of an optional package, or raise a MissingExtraError that names the extra.

    >>> import_extra("no_such_package", "map", "the layout")
    Traceback (most recent call last):
    topicfold.errors.MissingExtraError: the layout needs no_such_package: pip install 'topicfold[map]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        requirement = package or module.partition(".")[0]
        raise MissingExtraError(f"{purpose} needs {requirement}: pip install 'topicfold[{extra}]'") from error
