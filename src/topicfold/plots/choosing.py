"""The figure of `select`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.checks import is_number
from .style import COLOURS, GREY, MARKERS, SMALL, new_figure, tidy

if TYPE_CHECKING:
    from ..analysis.recommendation import Selection, SelectionRow

__all__ = ["selection"]

_TOPICS = "number of topics"
_WIDE_RANGE = 10  # a parameter whose largest value is more than this many times its smallest gets a log axis


def selection(result: Selection) -> Any:
    """Draw held-out score, coherence and stability by the number of topics, with the recommended point marked.

    The first numeric parameter that varies is the horizontal axis, with one line per combination of the others. For
    models that choose the number of topics themselves, the axis is the number of topics found. Points that failed are
    left out.

    The error bar of a score is one standard error, over folds, of its difference from the best point: points whose bars
    reach the dotted line are within one standard error of the best score. The dashed line is the score without topics.

    Parameters
    ----------
    result : Selection
        The result of `select`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    See Also
    --------
    topicfold.select : Chooses the number of topics and other parameters.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, plots, select
    >>> corpus = Corpus.from_texts(["cat dog cat dog", "dog cat dog cat", "sun moon sun", "moon star sun star"] * 6)
    >>> len(plots.selection(select(PLSA(), corpus, {"n_topics": [1, 2]})).axes)
    3
    """
    rows = [row for row in result.rows if row.failed is None]
    figure = new_figure(6.4, 7.2)
    panels = figure.subplots(3, 1, sharex=True)
    name, place = _horizontal(rows)
    lines = _lines(rows, name)
    for (label, members), look in zip(lines.items(), _looks(len(lines))):
        members = sorted(members, key=place)
        x = [place(row) for row in members]
        look["linestyle"] = "" if _is_categorical(rows, name) else "-"
        style = {**look, "markersize": 5, "linewidth": 1.6, "capsize": 3, "elinewidth": 1.1, "label": label}
        panels[0].errorbar(x, [row.score for row in members], [row.behind_error for row in members], **style)
        panels[1].errorbar(x, [row.coherence for row in members], [row.coherence_error for row in members], **style)
        panels[2].errorbar(x, [row.stability for row in members], **style)
    panels[0].axhline(max(row.score for row in rows), color=GREY, linestyle=":", linewidth=1.4)
    if result.baselines:
        floor = max(row.score for row in result.baselines)
        panels[0].axhline(floor, color=GREY, linestyle="--", linewidth=1.2, gid="baseline")
    for axes, measure in zip(panels, ("score", "coherence", "stability")):
        tidy(axes)
        axes.margins(y=0.12)
        ring = {"markersize": 13, "markerfacecolor": "none", "markeredgecolor": "black", "markeredgewidth": 1.5}
        axes.plot(place(result.best_row), getattr(result.best_row, measure), "o", **ring, gid="recommended")
    panels[0].set_ylabel(f"held-out score\n({result.unit})")
    panels[1].set_ylabel("coherence\n(c_npmi)")
    panels[2].set_ylabel("stability\n(agreement of fits)")
    panels[2].set_xlabel(name)
    _set_ticks(panels[2], rows, place, name)
    _entitle(panels[0], result)
    if len(lines) > 1:
        handles = panels[2].get_legend_handles_labels()[0]
        figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=SMALL, frameon=False)
    figure.align_ylabels(panels)
    return figure


def _entitle(axes: Any, result: Selection) -> None:
    row = result.best_row
    several = len({row.model for row in result.rows}) > 1
    point = ", ".join([row.model] * several + [f"{name}={_short(value)}" for name, value in row.params.items()])
    axes.set_title(f"Recommended: {point} (ringed)", loc="left", fontsize=11, pad=22, parse_math=False)
    note = "Dotted: best score; bars: one standard error." + " Dashed: score without topics." * bool(result.baselines)
    place = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(note, (0, 1), (0, 8), **place, fontsize=SMALL, color=GREY)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value!s:.20}"


def _is_categorical(rows: Sequence[SelectionRow], name: str) -> bool:
    return name != _TOPICS and not all(is_number(row.params[name]) for row in rows)


def _varying(rows: Sequence[SelectionRow]) -> list[str]:
    """The parameters with more than one value, in the order of the grid."""
    names = dict.fromkeys(name for row in rows for name in row.params)
    return [name for name in names if len({_short(row.params.get(name)) for row in rows}) > 1]


def _horizontal(rows: Sequence[SelectionRow]) -> tuple[str, Callable[[SelectionRow], float]]:
    """The name of the horizontal axis, and a function from a row to its position on it."""
    if len({row.model for row in rows}) > 1:
        return _TOPICS, lambda row: row.topics
    names = [*_varying(rows), *rows[0].params]
    numeric = [name for name in names if not _is_categorical(rows, name)]
    if numeric:
        return numeric[0], lambda row: float(row.params[numeric[0]])
    values = list(dict.fromkeys(_short(row.params[names[0]]) for row in rows))
    return names[0], lambda row: float(values.index(_short(row.params[names[0]])))


def _lines(rows: Sequence[SelectionRow], name: str) -> dict[str, list[SelectionRow]]:
    """The rows of each line, by its label: the model, if there are several, and the other parameters that vary."""
    several = len({row.model for row in rows}) > 1
    lines: dict[str, list[SelectionRow]] = {}
    for row in rows:
        # The parameter that sets the number of topics has a different name in each model: it is the one equal to it.
        params = {other: value for other, value in row.params.items() if not (several and value == row.topics)}
        parts = [f"{other}={_short(params[other])}" for other in _varying(rows) if other in params and other != name]
        lines.setdefault(", ".join([row.model] * several + parts), []).append(row)
    return lines


def _looks(n_lines: int) -> list[dict[str, Any]]:
    """A colour and a marker for each line: distinct colours for a few lines, a scale from dark to light for more."""
    import matplotlib

    if n_lines <= len(COLOURS):
        return [{"color": colour, "marker": marker} for colour, marker in zip(COLOURS[:n_lines], MARKERS)]
    scale = matplotlib.colormaps["viridis"](np.linspace(0, 0.88, n_lines))
    return [{"color": tuple(colour), "marker": MARKERS[i % len(MARKERS)]} for i, colour in enumerate(scale)]


def _set_ticks(axes: Any, rows: Sequence[SelectionRow], place: Callable[[SelectionRow], float], name: str) -> None:
    """A log axis for a wide range, and ticks at the values tried if there is room for their labels."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    if _is_categorical(rows, name):
        texts = {place(row): _short(row.params[name]) for row in rows}
        axes.set_xticks(list(texts), list(texts.values()), parse_math=False)
        return
    values = np.unique([place(row) for row in rows])
    wide = values[0] > 0 and values[-1] / values[0] > _WIDE_RANGE
    if wide:
        axes.set_xscale("log")
    gaps = np.diff(np.log(values) if wide else values)
    if len(values) == 1 or gaps.min() > 0.05 * gaps.sum():
        axes.xaxis.set_major_locator(FixedLocator(values.tolist()))
        axes.xaxis.set_minor_locator(NullLocator())
    elif not wide:
        axes.xaxis.set_major_locator(MaxNLocator(integer=bool((values == values.round()).all())))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
