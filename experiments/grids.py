"""Tables and figures that several experiments share: means, paired differences with intervals, and curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from .few_labels import RAW_WORDS, TFIDF_WORDS
from .results_page import setting_text

__all__ = ["averages", "draw_curves", "interval", "looks", "paired", "paired_lines", "points"]


def averages(results: Mapping[str, Any], measures: Iterable[str]) -> dict[str, dict[str, float]]:
    """The mean of each measure over the settings, by method; left out if a setting does not have it."""
    by_method: dict[str, dict[str, float]] = {}
    for method in dict.fromkeys(row["method"] for row in results["results"]):
        rows = [row["measures"] for row in results["results"] if row["method"] == method]
        for name in measures:
            means = [row.get(name, {}).get("mean") for row in rows]
            if None not in means:
                by_method.setdefault(method, {})[name] = fmean(means)
    return by_method


def paired(
    results: Mapping[str, Any], first: str, second: str, measure: str, *, by_setting: bool, settings: Sequence[Any]
) -> list[float]:
    """first - second in each draw that both have. A draw is a seed, or with `by_setting` a seed in a setting."""
    values: dict[str, dict[Any, float]] = {first: {}, second: {}}
    for cell in results["cells"]:
        if cell["method"] in values and measure in cell["measures"] and cell["setting"] in settings:
            values[cell["method"]][setting_text(cell["setting"]), cell["seed"]] = cell["measures"][measure]
    draws: dict[Any, list[float]] = {}
    for key in values[first].keys() & values[second].keys():
        draw = key if by_setting else key[1]
        draws.setdefault(draw, []).append(values[first][key] - values[second][key])
    return [fmean(differences) for _, differences in sorted(draws.items())]


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """The 95 % confidence interval of the mean (Student's t)."""
    from scipy.stats import t

    if len(differences) < 2:
        return -np.inf, np.inf
    half = float(t.ppf(0.975, len(differences) - 1) * np.std(differences, ddof=1) / np.sqrt(len(differences)))
    return fmean(differences) - half, fmean(differences) + half


def paired_lines(
    results: Mapping[str, Any],
    pairs: Sequence[tuple[str, str]],
    measures: Mapping[str, str],
    *,
    claim: str = "",
    lower_is_better: bool = False,
    by_setting: bool = False,
    settings: Sequence[Mapping[str, Any]] | None = None,
) -> list[str]:
    """A table of paired differences with 95 % intervals; `measures` maps names to titles.

    A `claim`, such as "the order in the paper", says that the first of each pair is better. With a claim, two sentences
    below the table list the pairs that contradict it and those that are undecided.
    """
    lines = [f"| difference (95 % interval) | draws | {' | '.join(measures.values())} |"]
    lines += ["|---" * (len(measures) + 2) + "|"]
    against: list[str] = []
    undecided: list[str] = []
    judged = False
    every = [row["setting"] for row in results["results"]] if settings is None else settings
    for first, second in pairs:
        cells, n_draws = [], 0
        for measure, title in measures.items():
            differences = paired(results, first, second, measure, by_setting=by_setting, settings=every)
            if not differences:
                cells.append("-")
                continue
            low, high = interval(differences)
            n_draws = max(n_draws, len(differences))
            cells.append(
                f"{fmean(differences):+.3f}" + (f" ({low:+.3f} to {high:+.3f})" if len(differences) > 1 else "")
            )
            worse, better = (low > 0, high < 0) if lower_is_better else (high < 0, low > 0)
            judged = judged or len(differences) > 1
            if not better:
                (against if worse else undecided).append(f"{first} over {second} ({title})")
        lines.append(f"| {first} - {second} | {n_draws} | {' | '.join(cells)} |")
    if claim and judged:
        lines += ["", f"Contrary to {claim} (the interval is on the other side of 0): {_listed(against)}."]
        lines += ["", f"Undecided about {claim} (the interval contains 0): {_listed(undecided)}."]
    return lines


def _listed(pairs: Sequence[str]) -> str:
    return "; ".join(pairs) if pairs else "nothing"


def draw_curves(
    path: Path,
    panels: Sequence[tuple[str, str, Sequence[Mapping[str, Any]]]],
    y_title: str,
    *,
    columns: int = 2,
    log: Sequence[str] = (),
    ticks: Sequence[str] = (),
) -> None:
    """Draw panels of (title, x title, curves); x is logarithmic if the x title is in `log`, and rows share a y scale.

    `ticks` are names for x = 0, 1, ... A curve has x, y, a label, and its style. One legend is below the panels.
    """
    from topicfold.plots.style import new_figure, tidy

    n_rows = -(-len(panels) // columns)
    picture = new_figure(4.6 * columns, 3.4 * n_rows + 0.8)
    grid = picture.subplots(n_rows, columns, squeeze=False, sharey="row")
    handles: dict[str, Any] = {}
    for axes, (title, x_title, curves) in zip(grid.flat, panels):
        for curve in curves:
            look = {"linewidth": 1.6, "markersize": 5, **curve}
            x, y = look.pop("x"), look.pop("y")
            if len(x):
                handles.setdefault(look["label"], axes.plot(x, y, **look)[0])
        tried = sorted({value for curve in curves for value in curve["x"]})
        if x_title in log:
            axes.set_xscale("log")
            axes.minorticks_off()
        axes.set_xticks(tried, [ticks[value] if ticks else f"{value:g}" for value in tried])
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
        axes.set_xlabel(x_title)
        tidy(axes)
    for axes in grid[:, 0]:
        axes.set_ylabel(y_title)
    longest = max(map(len, handles), default=1)
    n_columns = min(len(handles), max(1, int(4.6 * columns / (0.08 * longest + 0.6))))  # what has room, in inches
    picture.legend(handles=[*handles.values()], loc="outside lower center", ncols=n_columns, fontsize=9, frameon=False)
    picture.savefig(path, dpi=160)


def looks(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A colour and a marker for each of up to seven methods; words and the majority are grey lines without markers."""
    from topicfold.plots.style import COLOURS, GREY, MARKERS

    plain = [name for name in dict.fromkeys(names) if name not in (RAW_WORDS, TFIDF_WORDS, "majority")]
    coloured: dict[str, dict[str, Any]] = {
        name: {"label": name, "color": colour, "marker": marker}
        for name, colour, marker in zip(plain, COLOURS, MARKERS)
    }
    lines = {RAW_WORDS: ":", TFIDF_WORDS: "--", "majority": "-."}
    grey = {name: {"label": name, "color": GREY, "linestyle": lines[name]} for name in lines if name in names}
    return coloured | grey


def points(results: Mapping[str, Any], method: str, key: str, measure: str) -> dict[str, list[float]]:
    """x: the values of a key of the settings; y: the mean of the measure, where there is one."""
    rows = [row for row in results["results"] if row["method"] == method and row["measures"].get(measure, {}).get("n")]
    return {"x": [row["setting"][key] for row in rows], "y": [row["measures"][measure]["mean"] for row in rows]}
