"""Cases that end in every way there is, by which the harness itself is tested."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .cases import Case, Group, LeftBehind, SilentChange, check_finite

__all__ = ["ENDINGS", "GROUP"]


def _raise(error: BaseException) -> None:
    raise error


def _swallow_and_wait() -> None:
    """What takes every exception for its own is stopped all the same."""
    try:
        time.sleep(60)
    except Exception:
        time.sleep(60)


def _wait_deaf() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(60)


# what is done, and the kind of outcome that it has to be
ENDINGS: tuple[tuple[Callable[[], Any], str], ...] = (
    (lambda: 1, "answer"),
    (lambda: _raise(ValueError("not so")), "refused"),
    (lambda: Path("/no/such/file").read_bytes(), "refused"),
    (lambda: _raise(ValueError("")), "unclear exception"),
    (lambda: _raise(ValueError("two\nlines")), "unclear exception"),
    (lambda: _raise(KeyError("x")), "unclear exception"),
    (lambda: _raise(SystemExit(0)), "unclear exception"),
    (lambda: ctypes.string_at(0), "death"),
    (lambda: os.abort(), "death"),
    (lambda: os._exit(0), "death"),
    (_swallow_and_wait, "time"),
    (_wait_deaf, "time"),
    (lambda: bytearray(1 << 33), "memory"),
    (lambda: _raise(SilentChange("other bits")), "silent change"),
    (lambda: _raise(LeftBehind("a file")), "left behind"),
    (lambda: check_finite("it", float("nan")), "not finite"),
    (lambda: 2, "answer"),
)


def _read_damaged(folder: Path) -> None:
    if b"bad" in (folder / "file").read_bytes():
        raise KeyError("bad")


def _case(number: int) -> Case:
    if number == len(ENDINGS):
        return Case("a file to be cut down", _read_damaged, {"file": b"a" * 300 + b"bad" + b"b" * 300}, "file")
    work, kind = ENDINGS[number % len(ENDINGS)]

    def run(_: Path) -> None:
        work()

    return Case(kind, run)


def _prepare() -> Callable[[int], Case]:
    return _case


GROUP = Group("all endings", _prepare, n_cases=len(ENDINGS) + 1, batch=5, seconds=0.5, grace=0.5)
