"""What a case is, and how it can end."""

from __future__ import annotations

import random
import re
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

__all__ = [
    "FAILURES",
    "Case",
    "Group",
    "LeftBehind",
    "Outcome",
    "SilentChange",
    "TimeUp",
    "check_finite",
    "each_of",
    "generator",
]

# "not finite" is an answer with NaN or infinity in it
FAILURES = ("unclear exception", "death", "time", "memory", "silent change", "left behind", "not finite")


class SilentChange(AssertionError):
    """An answer that is not the one that was asked for."""


class LeftBehind(AssertionError):
    """A file that should be gone."""


class NotFinite(AssertionError):
    """An answer with NaN or infinity in it."""


class TimeUp(BaseException):
    """A case has taken too long. Not an Exception, so that no handler takes it for an error of its own."""


@dataclass(frozen=True)
class Case:
    """Something to try: `run(folder)` returns what it counts on the way, if anything, or raises.

    `files` are written to the folder first. `damaged` names the one among them that is cut down where the case fails.
    """

    about: str
    run: Callable[[Path], dict[str, int] | None]
    files: dict[str, bytes] = field(default_factory=dict)
    damaged: str | None = None


@dataclass(frozen=True)
class Group:
    """Cases of one sort. `prepare` runs every operation once and returns what makes a case of its number."""

    about: str
    prepare: Callable[[], Callable[[int], Case]]
    n_cases: int = 1000  # unless told otherwise
    batch: int = 1  # cases a process; one that kills its process is told by running it alone
    seconds: float = 30.0  # for a case
    grace: float = 10.0  # seconds that a process has to say that its time is up, before it is killed
    n_bytes: int = 2 << 30  # that a process may ask for beyond what it begins with


@dataclass(frozen=True)
class Outcome:
    """How a case ended: 'answer', 'refused', or one of FAILURES."""

    number: int
    kind: str
    detail: str = ""
    seconds: float = 0.0
    counted: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def failed(self) -> bool:
        return self.kind in FAILURES

    def same_failure(self, other: Outcome) -> bool:
        """Whether two cases failed alike: in one way, with the same words to begin with and, if known, at one place."""
        return self.kind == other.kind and _gist(self.detail) == _gist(other.detail)


def _gist(detail: str) -> tuple[str, str]:
    words, _, place = detail.partition(" @ ")
    return re.sub(r"\d+", "N", words)[:30], place


def generator(group: str, number: int) -> random.Random:
    """Random numbers that depend on the group and the number of a case alone."""
    return random.Random(f"{group} {number}")


def ending(error: BaseException) -> tuple[str, str]:
    """The kind of ending that an exception is, and a line about it."""
    detail = f"{type(error).__name__}: {error}"
    where = f" @ {_innermost(error)}"
    if isinstance(error, TimeUp):
        return "time", "too slow" + where
    if isinstance(error, MemoryError):
        return "memory", detail + where
    if isinstance(error, SilentChange):
        return "silent change", str(error)
    if isinstance(error, LeftBehind):
        return "left behind", str(error)
    if isinstance(error, NotFinite):
        return "not finite", str(error)
    if isinstance(error, ValueError | OSError) and str(error) and "\n" not in str(error):
        return "refused", detail
    return "unclear exception", detail.replace("\n", "\\n")[:400] + where


def _innermost(error: BaseException) -> str:
    """The line of the package that an exception came from or through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "topicfold" in Path(frame.filename).parts]
    last = (ours or frames or [None])[-1]
    return "?" if last is None else f"{Path(last.filename).name}:{last.lineno}"


def check_finite(what: str, *values: Any) -> None:
    """Raise where an answer holds NaN or infinity."""
    for value in values:
        array = np.asarray(value)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise NotFinite(f"{what} holds {array[~np.isfinite(array)].flat[0]}")


def each_of(calls: Iterable[Callable[[], Any]]) -> None:
    """Make all calls, also after one that is refused; then raise the first refusal, if there was one."""
    first: Exception | None = None
    for call in calls:
        try:
            call()
        except (ValueError, OSError) as error:
            if ending(error)[0] != "refused":
                raise
            first = first or error
    if first is not None:
        raise first
