"""Cases that end in every way there is, by which the harness itself is tested."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..cases import Case, Draw, Front, LeftBehind, Run, SilentChange, check_finite, check_shares

__all__ = ["ENDINGS", "FRONT"]


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
    (lambda: check_shares("it", [[0.5, 0.5], [0.0, 0.0]]), "answer"),
    (lambda: check_shares("it", [[1.5, -0.5]]), "not shares"),
    (lambda: check_shares("it", [[0.5, 0.4]]), "not shares"),
    (lambda: 2, "answer"),
)


def _draw(number: int) -> Case:
    if number == len(ENDINGS):
        return Case("a file to be cut down", number, {"file": b"a" * 300 + b"bad" + b"b" * 300}, "file")
    return Case(ENDINGS[number][1], number)


def _run(number: int, folder: Path) -> None:
    if number < len(ENDINGS):
        ENDINGS[number][0]()
    elif b"bad" in (folder / "file").read_bytes():
        raise KeyError("bad")


def _prepare() -> tuple[Draw, Run]:
    return _draw, _run


FRONT = Front("all endings", _prepare, n_cases=len(ENDINGS) + 1, batch=5, seconds=0.5, grace=0.5)
