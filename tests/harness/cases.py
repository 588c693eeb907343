"""What a case is, and how it can end."""

from __future__ import annotations

import random
import re
import traceback
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

__all__ = [
    "FAILURES",
    "Case",
    "Draw",
    "Front",
    "LeftBehind",
    "Outcome",
    "Run",
    "SilentChange",
    "TimeUp",
    "check_finite",
    "check_shares",
    "each_of",
    "generator",
]

# "not finite" is an answer with NaN or infinity in it, "not shares" one with shares below 0 or another sum than 1
FAILURES = ("unclear exception", "death", "time", "memory", "silent change", "left behind", "not finite", "not shares")
_ROUNDING = 0.011  # of the sum of shares; files may be .01 off


class SilentChange(AssertionError):
    """An answer that is not the one that was asked for."""


class LeftBehind(AssertionError):
    """A file that should be gone."""


class NotFinite(AssertionError):
    """An answer with NaN or infinity in it."""


class NotShares(AssertionError):
    """An answer whose shares are negative, or do not sum to one."""


class TimeUp(BaseException):
    """A case has taken too long. Not an Exception, so that no handler takes it for an error of its own."""


@dataclass(frozen=True)
class Case:
    """Something to try, whole in itself: `what` is JSON, and `files` are in the folder in which it is run.

    `damaged` names the one among the files that is cut down where the case fails.
    """

    about: str
    what: Any = None
    files: dict[str, bytes] = field(default_factory=dict)
    damaged: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "files": {name: b64encode(content).decode() for name, content in self.files.items()}}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Case:
        files = {name: b64decode(content) for name, content in values["files"].items()}
        return cls(values["about"], values["what"], files, values["damaged"])


Draw: TypeAlias = Callable[[int], Case]  # the case of a number
Run: TypeAlias = Callable[[Any, Path], dict[str, int] | None]  # (what, folder): what it counts on the way, or it raises


@dataclass(frozen=True)
class Front:
    """Cases of one kind. `prepare` runs every operation once, so that it is compiled and imported."""

    about: str
    prepare: Callable[[], tuple[Draw, Run]]
    n_cases: int = 1000  # unless told otherwise
    batch: int = 1  # cases per process; one that ends its process is run again alone
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


def generator(front: str, number: int) -> random.Random:
    """Random numbers that depend on the front and the number of a case alone."""
    return random.Random(f"{front} {number}")


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
    if isinstance(error, NotShares):
        return "not shares", str(error)
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


def check_shares(what: str, rows: Any, *, sum_to_one: bool = True) -> None:
    """Raise where rows are not finite, hold a number below zero, or sum to neither one nor zero."""
    check_finite(what, rows)
    array = np.asarray(rows)
    if array.size and array.min() < 0:
        raise NotShares(f"{what} holds {array.min()}")
    sums = array.sum(axis=-1, dtype=np.float64)
    wrong = sums[(abs(sums - 1) > _ROUNDING) & (sums != 0)] if sum_to_one else sums[:0]
    if wrong.size:
        raise NotShares(f"{what} has a row that sums to {wrong.flat[0]}")


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
