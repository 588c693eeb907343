"""Figures of the benchmark pages. They need matplotlib, which the extra `bench` brings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap

from .common import Row

__all__ = ["draw_ratios", "draw_scale"]

_RATIO = re.compile(r"([\d.]+)x$")
_GOAL = re.compile(r">= ([\d.]+)x$")


def draw_ratios(rows: Sequence[Row], path: Path) -> bool:
    """How many times as much the peer takes, one bar per row with such a goal, which is a line across its bar.

    False, and nothing is drawn, where there are fewer than two.
    """
    from topicfold.plots.style import COLOURS, new_figure, tidy

    ratios = []
    for row in rows:
        ratio, goal = _RATIO.match(row.ratio), _GOAL.match(row.goal)
        if ratio and goal and row.met is not None:
            ratios.append((row.name, float(ratio[1]), float(goal[1])))
    if len(ratios) < 2:
        return False
    figure = new_figure(11, 0.27 * len(ratios) + 1)
    axes = figure.subplots()
    for place, (_, ratio, goal) in enumerate(ratios):
        axes.barh(place, ratio, color=COLOURS[0 if ratio >= goal else 1], height=0.6)
        axes.plot([goal, goal], [place - 0.42, place + 0.42], color="#000000", linewidth=1.5)
        axes.text(1.05 * max(ratio, goal), place, f"{ratio:.3g}x", va="center", fontsize=8)
    axes.set_yticks(range(len(ratios)), [_short(name) for name, _, _ in ratios], fontsize=8)
    axes.set_ylim(len(ratios) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.set_xlim(min(0.8, *(ratio for _, ratio, _ in ratios)), 1.6 * max(ratio for _, ratio, _ in ratios))
    axes.set_title("What the peer takes, as a multiple of ours; the black line is the goal", loc="right", fontsize=9)
    tidy(axes, "x")
    figure.savefig(path, dpi=110)
    return True


def _short(name: str) -> str:
    """The name of a row without how often it was measured, on two lines if it is long."""
    return "\n".join(wrap(re.sub(r" \(\d+ (?:runs?|processes)\)$", "", name), 80))


def draw_scale(done: Mapping[tuple[str, int], Mapping[str, float]], path: Path) -> None:
    """CPU time and peak memory against the number of documents; crosses are peers."""
    from topicfold.plots.style import COLOURS, MARKERS, new_figure, tidy

    figure = new_figure(11, 4.6)
    panels = figure.subplots(1, 2)
    sizes: dict[str, list[int]] = {}
    for name, size in sorted(done, key=lambda cell: cell[1]):
        sizes.setdefault(name, []).append(size)
    ours = [name for name in sizes if len(sizes[name]) > 1]
    looks = {name: {"color": COLOURS[n % 7], "marker": MARKERS[n // 7], "markersize": 5} for n, name in enumerate(ours)}
    peers = [name for name in sizes if name not in looks]
    looks |= {name: {"color": "#000000", "marker": mark, "linestyle": ""} for name, mark in zip(peers, "x+1234")}
    for axes, measure, title in zip(panels, ("cpu", "peak"), ("CPU seconds of one thread", "peak memory, MB")):
        for name, look in looks.items():
            axes.plot(sizes[name], [done[name, size][measure] for size in sizes[name]], **look, label=name)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.set_xlabel("documents")
        axes.set_title(title, loc="left", fontsize=10)
        tidy(axes)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8, frameon=False)
    figure.savefig(path, dpi=110)
