"""Figures of tables: one dot per method, with its spread, in a panel per measure and setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from .results_page import setting_text

__all__ = ["Dots", "DotsOverCorpora"]

_COLUMNS = 3


@dataclass(frozen=True)
class Dots:
    """A figure of some measures, by name and title: panels are settings, or measures where there is one setting.

    A bar is the standard deviation, or the `interval` between two other measures; a diamond is the published number.
    Measures in `log` have a logarithmic axis, and a line marks the `target` of a measure. Methods in `left_out` are in
    the tables alone: they lie so far off that the others could not be told apart. It is a class, not a closure, because
    an experiment is sent to other processes.
    """

    measures: Mapping[str, str]
    log: tuple[str, ...] = ()
    target: Mapping[str, float] = field(default_factory=dict)
    interval: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    def __call__(self, results: Mapping[str, Any], path: Path) -> None:
        settings = _settings(results)
        drawn = {
            (name, setting): points
            for name in self.measures
            for setting in settings
            if (points := _points(results, name, setting, self.interval.get(name)))
        }
        methods = [
            method
            for method in dict.fromkeys(row["method"] for row in results["results"])
            if method not in self.left_out and any(method in points for points in drawn.values())
        ]
        if not drawn:  # a run that has only begun
            return
        columns = len(settings) if 2 <= len(settings) <= 4 else min(_COLUMNS, len(drawn))
        figure, grid = _grid(len(drawn), len(methods), columns)
        for number, (axes, ((name, setting), points)) in enumerate(zip(grid.flat, drawn.items())):
            _draw_points(axes, points, methods)
            _name_rows(axes, methods, shown=number % grid.shape[1] == 0)
            if name in self.log:
                _log_axis(axes)
            if name in self.target:
                axes.axvline(self.target[name], color="#000000", linewidth=0.8, linestyle="--")
            title = self.measures[name]
            where = setting.replace(", ", "\n") if len(settings) > 1 else ""
            axes.set_title(f"{title}\n{where}".rstrip(), loc="left", fontsize=9)
        _say(figure, _key(drawn, bool(self.interval)))
        figure.savefig(path, dpi=110)


@dataclass(frozen=True)
class DotsOverCorpora:
    """A figure with a panel per measure: a small dot per corpus, a large one for their mean."""

    measures: Mapping[str, str]

    def __call__(self, results: Mapping[str, Any], path: Path) -> None:
        names = list(dict.fromkeys(row["method"] for row in results["results"]))
        figure, grid = _grid(len(self.measures), len(names), len(self.measures))
        for number, (axes, (measure, title)) in enumerate(zip(grid.flat, self.measures.items())):
            for place, name in enumerate(names):
                values = [
                    row["measures"][measure]["mean"]
                    for row in results["results"]
                    if row["method"] == name and row["measures"].get(measure, {}).get("n")
                ]
                if values:
                    axes.plot(values, [place] * len(values), "o", color="#b0b0b0", markersize=4)
                    axes.plot([fmean(values)], [place], "o", color="#0072B2", markersize=8)
            axes.set_title(title, loc="left", fontsize=9)
            _name_rows(axes, names, shown=number == 0)
        _say(figure, "large dot: mean over the corpora; small dot: one corpus")
        figure.savefig(path, dpi=110)


class Point(NamedTuple):
    """What is drawn of one method in one panel."""

    mean: float
    low: float
    high: float
    published: float | None


def _settings(results: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(setting_text(row["setting"]) for row in results["results"]))


def _points(results: Mapping[str, Any], name: str, setting: str, bounds: tuple[str, str] | None) -> dict[str, Point]:
    points = {}
    for row in results["results"]:
        figures = row["measures"].get(name)
        if setting_text(row["setting"]) != setting or figures is None or not figures["n"]:
            continue
        low, high = figures["mean"] - (figures["sd"] or 0), figures["mean"] + (figures["sd"] or 0)
        if bounds is not None and all(bound in row["measures"] for bound in bounds):
            low, high = (row["measures"][bound]["mean"] for bound in bounds)
        points[row["method"]] = Point(figures["mean"], low, high, figures["published"])
    return points


def _grid(n_panels: int, n_rows: int, n_columns: int) -> tuple[Any, Any]:
    from topicfold.plots.style import new_figure

    lines = -(-n_panels // n_columns)
    figure = new_figure(2.7 * n_columns + 2, lines * (0.22 * n_rows + 1.1))
    grid = figure.subplots(lines, n_columns, squeeze=False)
    for axes in grid.flat[n_panels:]:
        axes.set_visible(False)
    return figure, grid


def _key(drawn: Mapping[Any, Mapping[str, Point]], intervals: bool) -> str:
    text = "dot: our mean; line: " + ("95 % interval" if intervals else "± one standard deviation")
    published = any(point.published is not None for points in drawn.values() for point in points.values())
    return text + ("; open diamond: published number" if published else "")


def _say(figure: Any, text: str) -> None:
    figure.supxlabel(text, fontsize=9, color="#444444")


def _draw_points(axes: Any, points: Mapping[str, Point], methods: Sequence[str]) -> None:
    for place, method in enumerate(methods):
        if method not in points:
            continue
        point = points[method]
        axes.plot([point.low, point.high], [place, place], color="#9a9a9a", linewidth=1.5, zorder=2)
        axes.plot([point.mean], [place], "o", color="#0072B2", markersize=6, zorder=3)
        if point.published is not None:
            axes.plot([point.published], [place], "D", color="#D55E00", markersize=6, fillstyle="none", zorder=3)


def _name_rows(axes: Any, names: Sequence[str], shown: bool) -> None:
    from topicfold.plots.style import tidy

    axes.set_yticks(range(len(names)), names if shown else [""] * len(names), fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="x", labelsize=8)
    axes.tick_params(axis="y", length=0)
    tidy(axes)


def _log_axis(axes: Any) -> None:
    """A logarithmic axis whose ticks are plain numbers, few enough to be read."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high > 30 * low else (1.0, 2.0, 4.0, 7.0)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
