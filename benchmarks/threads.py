"""Two threads against one: wall time, so only on an idle machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from topicfold.engine.arrays import padded

from .common import Row, Setting, em_runner, note, seconds

_GOAL = 1.7
_MOST_OTHER_LOAD = 0.5  # cores used by other processes
_WAIT_SECONDS = 60
_STEPS = 8


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    for model in ("PLSA", "LDA"):
        name = f"{model} iteration, K=100, two threads against one"
        if (os.cpu_count() or 1) < 2:
            yield Row(name, "", goal=f">= {_GOAL}x", remark="not measurable: one core")
        else:
            yield from _of_model(model, name, setting)


def _of_model(model: str, name: str, setting: Setting) -> Iterator[Row]:
    runners = {n_jobs: _runner(model, setting.corpus.counts, n_jobs) for n_jobs in (1, 2)}

    def run(n_jobs: int) -> tuple[float, float, list[np.ndarray]]:
        step, state = runners[n_jobs]()
        step()
        started, own_cpu = time.perf_counter(), time.process_time()
        for _ in range(_STEPS):
            step()
        return (time.perf_counter() - started) / _STEPS, (time.process_time() - own_cpu) / _STEPS, state

    run(1)
    _wait_for_quiet(0 if setting.quick else _WAIT_SECONDS)
    repeats = setting.repeats(12)
    busy, own_cpu, wall = _busy_seconds(), time.process_time(), time.perf_counter()
    one, two = zip(*((run(1), run(2)) for _ in range(repeats)))
    own_cpu, wall = time.process_time() - own_cpu, time.perf_counter() - wall
    others = max(0.0, (_busy_seconds() - busy - own_cpu) / wall) if busy else 0.0
    same = all(np.array_equal(a, b) for _, _, state in two for a, b in zip(state, one[0][2]))
    yield Row(f"{model}: identical results with one thread and with two", "yes" if same else "no", goal="yes", met=same)
    fastest = [min(spent for spent, _, _ in runs) for runs in (two, one)]
    ratio = fastest[1] / fastest[0]
    each = ", ".join(f"{a[0] / b[0]:.2f}" for a, b in zip(one, two))
    more = median(b[1] for b in two) / median(a[1] for a in one)
    quiet = others <= _MOST_OTHER_LOAD
    yield Row(
        f"{name} (wall time, fastest of {repeats})",
        seconds(fastest[0]),
        seconds(fastest[1]),
        f"{ratio:.2f}x",
        f">= {_GOAL}x",
        ratio >= _GOAL if quiet else None,
        "" if quiet else "not measurable: machine busy",
        f"Threads, {model}: speed-up in each run {each}; two threads take {more:.2f} times the CPU seconds of one, so "
        f"memory, not idle cores, limits them to {2 / more:.2f}x; load average {os.getloadavg()[0]:.2f}, cores used by "
        f"other processes {others:.2f}.",
    )


def _runner(model: str, counts: Any, n_jobs: int) -> Callable[[], tuple[Callable[[], Any], list[np.ndarray]]]:
    """A function that returns a new (step, tables) from the same start."""
    if model == "PLSA":
        make = em_runner(counts, 100, "float32", n_jobs=n_jobs)

        def plsa() -> tuple[Callable[[], Any], list[np.ndarray]]:
            step, state = make()
            return lambda: step(*state), list(state)

        return plsa
    from topicfold import LDA
    from topicfold.models.em.plsa_kernels import counts_of_seeds

    counts = counts.astype(np.float32)
    estimator = LDA(100, init="random", random_state=0, n_jobs=n_jobs)
    estimator.n_features_in_, estimator.vocabulary_ = counts.shape[1], None
    begin = estimator._start(counts, np.random.RandomState(0))
    step = estimator._step(counts, counts_of_seeds({}, 0.0, counts.dtype))

    def lda() -> tuple[Callable[[], Any], list[np.ndarray]]:
        state = {key: padded(table, table.dtype) if table.ndim == 2 else table for key, table in begin.items()}
        return lambda: step(state), [state["doc_count"], state["word_topic"]]

    return lda


def _busy_seconds() -> float:
    """Busy seconds of all cores together, with those taken by the host; 0 if that is not known."""
    try:
        fields = [int(field) for field in Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0].split()[1:9]]
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
        note(f"threads: other processes use {others:.1f} cores, waiting")
