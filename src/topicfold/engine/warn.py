"""Warnings that point to the line of the user's code, from anywhere in the package."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

__all__ = ["warn_user"]

_PACKAGE = str(Path(__file__).parent.parent)
_WRAPPERS = ("sklearn", "threading.py", "concurrent", "contextlib.py", "functools.py")  # code between us and the user


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line on the stack that is neither in topicfold nor in a library that called it."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and _is_inside(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(path: str) -> bool:
    return path.startswith(_PACKAGE) or any(part in _WRAPPERS for part in Path(path).parts)
