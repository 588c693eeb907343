"""Runs an experiment cell by cell. Each finished cell is one line of JSON on disk at once, so a killed run resumes.

A cell is identified by its method with parameters, setting, seed and the protocol: change any of them and it is run
again. After the cells of a run, a line says when and on what machine it ended, so that a page drawn again later still
says when its numbers were measured.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from topicfold.engine.blocks import n_threads
from topicfold.engine.progress import progress

from . import Experiment, Method, load_experiment
from .corpora import data_folder
from .results_page import machine, markdown, setting_text, summary

__all__ = ["Cell", "cells_of", "measure", "run"]

Protocol = Mapping[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One fit: a method, a setting, a seed."""

    method: Method
    setting: Mapping[str, Any]
    seed: int
    key: str


def run(
    name: str,
    data: str | Path | None = None,
    out: str | Path = "docs/results",
    *,
    quick: bool = False,
    n_jobs: int = 1,
    so_far: bool = False,
    verbose: bool | None = None,
) -> str:
    """Run what is missing of an experiment, write OUT/NAME.jsonl, .md (and .png), and return the Markdown.

    `quick` runs a smaller protocol, into files of their own (NAME-quick). `n_jobs` cells run at a time, in processes.
    With `so_far` nothing is run, and the page is of the cells there are.
    """
    results = measure(name, data, out, quick=quick, n_jobs=n_jobs, so_far=so_far, verbose=verbose)
    experiment, page = load_experiment(name), Path(out) / f"{_stem(name, quick)}.md"
    text = markdown(experiment, results, _draw(experiment, results, page.with_suffix(".png")))
    page.write_text(text, encoding="utf-8")
    return text


def _stem(name: str, quick: bool) -> str:
    return f"{name}-quick" if quick else name


def measure(
    name: str,
    data: str | Path | None = None,
    out: str | Path = "docs/results",
    *,
    quick: bool = False,
    n_jobs: int = 1,
    so_far: bool = False,
    verbose: bool | None = None,
) -> dict[str, Any]:
    """Run what is missing of an experiment, write its cells to OUT/NAME.jsonl, and return all results."""
    experiment = load_experiment(name)
    out = Path(out)
    protocol = {**experiment.protocol, **(experiment.quick if quick else {})}
    cells = cells_of(experiment, protocol)
    out.mkdir(parents=True, exist_ok=True)
    log = out / f"{_stem(name, quick)}.jsonl"
    finished, last_run = _read(log)
    missing = [cell for cell in cells if finished.get(cell.key, {"error": "not run"})["error"] is not None]
    if not so_far:
        learned = False
        with _progress(experiment.title, len(cells), len(cells) - len(missing), verbose) as show:
            for row in _run_cells(experiment, protocol, missing, data_folder(data), n_jobs):
                _append(log, row)
                finished[row["key"]] = row
                show(row)
                learned = learned or row["error"] is None
        if learned:
            last_run = {
                "date": datetime.now(UTC).date().isoformat(),
                "machine": {**machine(), "cells at a time": n_jobs},
            }
            _append(log, {"run": last_run})
    rows = [finished[cell.key] for cell in cells if cell.key in finished]
    command = f"python -m experiments {name} --data DATA --out {'OUT' if out.is_absolute() else out.as_posix()}"
    results = summary(experiment, protocol, rows, command + (" --quick" if quick else ""), last_run)
    return {**results, "missing": len(cells) - len(rows)}


def _draw(experiment: Experiment, results: Mapping[str, Any], path: Path) -> str:
    """The line of the page for the figure: the picture, or why there is none; empty if none was drawn."""
    if experiment.figure is None:
        return ""
    fresh = path.with_name(f"new-{path.name}")
    try:
        experiment.figure(results, fresh)
    except ImportError as problem:
        return f"No figure: {problem}"
    if not fresh.exists():
        return ""
    fresh.replace(path)
    return f"![{experiment.title}]({path.name})"


def cells_of(experiment: Experiment, protocol: Protocol) -> list[Cell]:
    """The cells in the order they are run: all methods with the first seed, then with the next."""
    shared = {name: value for name, value in protocol.items() if name != "seeds"}  # more seeds may be added later

    def cell(method: Method, setting: Mapping[str, Any], seed: int) -> Cell:
        what = [experiment.name, method.name, method.estimator, method.parameters, setting, seed, shared]
        what += [method.graph] if method.graph else []
        text = json.dumps(what, sort_keys=True, default=dict)
        return Cell(method, setting, seed, hashlib.blake2b(text.encode(), digest_size=12).hexdigest())

    once = [cell(method, {}, 0) for method in experiment.methods if method.once]
    return once + [
        cell(method, setting, seed)
        for seed in range(protocol["seeds"])
        for setting in experiment.settings
        for method in experiment.methods
        if not method.once
    ]


# ---- running --------------------------------------------------------------------------------------------------------


def _run_cells(
    experiment: Experiment, protocol: Protocol, cells: list[Cell], folder: Path, n_jobs: int
) -> Iterator[Row]:
    """Rows of the cells as they are finished. Data that cannot be read ends the run; a method that fails does not."""
    if not cells:
        return
    prepared = experiment.prepare(folder, protocol)
    if n_jobs == 1:
        for cell in cells:
            yield _run_cell(experiment, protocol, prepared, cell, folder)
        return
    # new processes, not forks: a fork of a process with threads may hang
    context, shared = get_context("spawn"), (experiment, protocol, prepared)
    with ProcessPoolExecutor(n_threads(n_jobs), context, initializer=_share, initargs=shared) as pool:
        futures = [pool.submit(_run_shared, cell, folder) for cell in cells]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_shared: list[Any] = []  # in a worker process: experiment, protocol, prepared data


def _share(*values: Any) -> None:
    _shared[:] = values


def _run_shared(cell: Cell, folder: Path) -> Row:
    experiment, protocol, prepared = _shared
    return _run_cell(experiment, protocol, prepared, cell, folder)


def _run_cell(experiment: Experiment, protocol: Protocol, prepared: Any, cell: Cell, folder: Path) -> Row:
    started = time.monotonic()
    measures: dict[str, float] = {}
    error = None
    try:
        with warnings.catch_warnings():
            # a fit ended by Ctrl-C keeps what it has and only warns: here that is not a result
            warnings.filterwarnings("error", message=".*interrupted after")
            figures = experiment.measure(prepared, cell.method, cell.setting, cell.seed, protocol)
            measures = {key: float(value) for key, value in figures.items()}
    except Exception as problem:
        if "interrupted after" in str(problem):
            raise KeyboardInterrupt from problem
        error = f"{type(problem).__name__}: {problem}".replace(str(folder), "DATA")
    return {
        "key": cell.key,
        "method": cell.method.name,
        "setting": dict(cell.setting),
        "seed": cell.seed,
        "measures": measures,
        "error": error,
        "wall_seconds": round(time.monotonic() - started, 2),
    }


# ---- the log --------------------------------------------------------------------------------------------------------


def _read(log: Path) -> tuple[dict[str, Row], dict[str, Any] | None]:
    """Rows by key, the last one for each, and the date and machine of the last run that ended.

    A line cut short by a kill is not a row.
    """
    rows: dict[str, Row] = {}
    last_run = None
    if log.exists():
        for line in log.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
                if "run" in row:
                    last_run = row["run"]
                else:
                    rows[row["key"]] = row
            except (ValueError, KeyError, TypeError):
                continue
    return rows, last_run


def _append(log: Path, row: Row) -> None:
    cut_short = log.exists() and log.stat().st_size > 0 and not log.read_bytes().endswith(b"\n")
    with open(log, "a", encoding="utf-8") as file:
        file.write(("\n" if cut_short else "") + json.dumps(row) + "\n")


@contextmanager
def _progress(title: str, total: int, done: int, verbose: bool | None) -> Iterator[Callable[[Row], None]]:
    """A bar over the cells on stderr, on a terminal or when asked; to be called with each row."""
    with progress(title, total, done=done, unit="cells", verbose=verbose) as move:

        def show(row: Row) -> None:
            nonlocal done
            done += 1
            move(done, note=f"{row['method']} {setting_text(row['setting'])} seed {row['seed']}")

        yield show
