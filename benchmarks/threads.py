"""Two threads beside one: wall time, so only on a quiet machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .common import Row, Setting, em_runner, note, seconds

_GOAL = 1.7
_MOST_OTHER_LOAD = 0.5  # cores kept busy by others
_WAIT_SECONDS = 60
_STEPS = 8


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    name = "PLSA iteration, K=100, two threads against one"
    if (os.cpu_count() or 1) < 2:
        yield Row(name, "", goal=f">= {_GOAL}x", remark="not measurable: one core")
        return
    runners = {n_jobs: em_runner(setting.corpus.counts, 100, "float32", n_jobs=n_jobs) for n_jobs in (1, 2)}

    def run(n_jobs: int) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
        step, state = runners[n_jobs]()
        step(*state)
        started = time.perf_counter()
        for _ in range(_STEPS):
            step(*state)
        return (time.perf_counter() - started) / _STEPS, state

    run(1)
    _wait_for_quiet(0 if setting.quick else _WAIT_SECONDS)
    repeats = setting.repeats(7)
    busy, own, wall = _busy_seconds(), time.process_time(), time.perf_counter()
    one, two = zip(*((run(1), run(2)) for _ in range(repeats)))
    own, wall = time.process_time() - own, time.perf_counter() - wall
    others = max(0.0, (_busy_seconds() - busy - own) / wall) if busy else 0.0
    same = all(np.array_equal(a, b) for _, state in two for a, b in zip(state, one[0][1]))
    yield Row("Same bits with one thread and two", "yes" if same else "no", goal="yes", met=same)
    fastest = [min(spent for spent, _ in runs) for runs in (two, one)]
    ratio = fastest[1] / fastest[0]
    load = f"load average {os.getloadavg()[0]:.2f}, cores kept busy by others {others:.2f}"
    name = f"{name} (wall time, fastest of {repeats})"
    quiet = others <= _MOST_OTHER_LOAD
    yield Row(
        name,
        seconds(fastest[0]),
        seconds(fastest[1]),
        f"{ratio:.2f}x",
        f">= {_GOAL}x",
        ratio >= _GOAL if quiet else None,
        "" if quiet else "not measurable: under load",
        f"Threads: {load}.",
    )


def _busy_seconds() -> float:
    """Seconds all cores together have worked, or were taken from this machine; 0 where that is not known."""
    try:
        fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    except OSError:
        return 0.0
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def _wait_for_quiet(patience: float) -> None:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        before = _busy_seconds()
        time.sleep(2)
        others = (_busy_seconds() - before) / 2
        if others <= _MOST_OTHER_LOAD / 2:
            return
        note(f"threads: others keep {others:.1f} cores busy, waiting")
