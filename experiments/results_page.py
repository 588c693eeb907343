"""The results of an experiment as one dictionary, and that as Markdown: ours, mean ± sd (n), beside the published."""

from __future__ import annotations

import argparse
import math
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from . import Experiment
from .corpora import data_folder

__all__ = ["in_cell", "machine", "markdown", "means_by_corpus", "setting_text", "summary", "write_page"]

_PACKAGES = ("topicfold", "numpy", "scipy", "scikit-learn", "numba", "tomotopy", "bertopic", "umap-learn", "hdbscan")


def summary(
    experiment: Experiment,
    protocol: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    command: str,
    last_run: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Everything a reader needs, as plain values: how it was made, the cells, and mean and sd by method and setting."""
    return {
        "name": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "command": command,
        "run": last_run,
        "protocol": dict(protocol),
        "results": _results(experiment, rows),
        "failures": [
            {key: row[key] for key in ("method", "setting", "seed", "error")}
            for row in rows
            if row["error"] is not None
        ],
        "cells": [dict(row) for row in rows],
    }


def _results(experiment: Experiment, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    results = []
    for setting in experiment.settings:
        for method in experiment.methods:
            mine = [
                row for row in rows if row["method"] == method.name and (method.once or row["setting"] == dict(setting))
            ]
            good = [row["measures"] for row in mine if row["error"] is None]
            measures = {}
            for name in experiment.measures:
                values = [figures[name] for figures in good if name in figures and math.isfinite(figures[name])]
                published = experiment.published.get((method.name, setting_text(setting), name))
                if values or published is not None:
                    measures[name] = {
                        "mean": fmean(values) if values else None,
                        "sd": stdev(values) if len(values) > 1 else None,
                        "n": len(values),
                        "published": published,
                    }
            failed = len(mine) - len(good)
            results.append({"method": method.name, "setting": dict(setting), "failed": failed, "measures": measures})
    return results


def setting_text(setting: Mapping[str, Any]) -> str:
    """A setting in one line, as the keys of `Experiment.published` have it.

    >>> setting_text({"n_topics": 20})
    'n_topics=20'
    """
    return ", ".join(f"{key}={value}" for key, value in setting.items())


def markdown(experiment: Experiment, results: Mapping[str, Any], figure: str = "") -> str:
    """The results as a page: how they were made, a figure, what follows from them, one table per setting, notes."""
    lines = [
        f"# {experiment.title}",
        "",
        *([experiment.about, ""] if experiment.about else []),
        f"Source: {experiment.source}",
        "",
        f"    {results['command']}",
        "",
        _when_and_where(results["run"]),
        "",
        "Numbers are ours: mean ± standard deviation (number of runs)"
        + (", then / and the published number, if there is one." if experiment.published else "."),
    ]
    if results["missing"]:
        lines += [
            "",
            f"**Not finished**: {results['missing']} runs are missing; numbers in parentheses count those there are.",
        ]
    if figure:
        lines += ["", figure]
    if experiment.extra is not None:
        lines += ["", *experiment.extra(results)]
    for setting in experiment.settings:
        lines += ["", f"## {setting_text(setting)}", "", *_table(experiment, results["results"], setting)]
    if results["failures"]:
        lines += ["", "## Failures", ""]
        lines += [
            f"- {row['method']}, {setting_text(row['setting']) or 'once'}, seed {row['seed']}: {row['error']}"
            for row in results["failures"]
        ]
    lines += ["", "## Protocol", ""]
    lines += [f"- {key}: {'all' if value is None else value}" for key, value in results["protocol"].items()]
    lines += [f"- {method.name}: {_described(method)}" for method in experiment.methods if method.estimator]
    if experiment.notes:
        lines += ["", "## Notes", "", *(f"- {note}" for note in experiment.notes.splitlines())]
    return "\n".join(lines) + "\n"


def _when_and_where(run: Mapping[str, Any] | None) -> str:
    if run is None:
        return "The run has not ended."
    parts = (value if key == "processor" else f"{key} {value}" for key, value in run["machine"].items())
    return f"Run on {run['date']}: {', '.join(parts)}."


def _described(method: Any) -> str:
    parameters = ", ".join(f"{key}={value!r}" for key, value in method.parameters.items())
    call = f"{method.estimator}({parameters})"
    if method.graph:
        call += f", knn_graph({', '.join(f'{key}={value!r}' for key, value in method.graph.items())})"
    return f"`{call}`" if "\\" in call else call  # a pattern would be read as Markdown


def _table(experiment: Experiment, results: Sequence[Mapping[str, Any]], setting: Mapping[str, Any]) -> list[str]:
    titles = [measure.title for measure in experiment.measures.values()]
    lines = [f"| method | {' | '.join(titles)} |", "|---" * (len(titles) + 1) + "|"]
    for row in results:
        if row["setting"] == dict(setting):
            cells = [_cell(row, name, measure.digits) for name, measure in experiment.measures.items()]
            lines.append(f"| {in_cell(row['method'])} | {' | '.join(cells)} |")
    return lines


def means_by_corpus(results: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, float]]:
    """The mean of each measure, by method and corpus."""
    return {
        (row["method"], row["setting"]["corpus"]): {name: one["mean"] for name, one in row["measures"].items()}
        for row in results["results"]
    }


def in_cell(text: str) -> str:
    """A text as a cell of a table has it."""
    return text.replace("|", "\\|")


def _cell(row: Mapping[str, Any], name: str, digits: int) -> str:
    figures = row["measures"].get(name)
    if figures is None or figures["n"] == 0:
        ours = "failed" if row["failed"] else "-"
    else:
        spread = "" if figures["sd"] is None else f" ± {figures['sd']:.{digits}f}"
        ours = f"{figures['mean']:.{digits}f}{spread} ({figures['n']})"
    published = None if figures is None else figures["published"]
    return ours if published is None else f"{ours} / {published:.{digits}f}"


def machine() -> dict[str, Any]:
    """The kind of machine and the versions; nothing that names it."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        **versions,
    }


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    if file.exists():
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def write_page(file: str, page: Callable[[Path], str], about: str | None) -> None:
    """The command of a page that is no Experiment: read --data and --out, and write the page to a file there."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--data", help="folder with the benchmark corpora; default: TOPICFOLD_DATA")
    parser.add_argument("--out", default="docs/results", help="folder for the page")
    options = parser.parse_args()
    Path(options.out, file).write_text(page(data_folder(options.data)), encoding="utf-8")
