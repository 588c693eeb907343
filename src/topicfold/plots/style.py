"""Common parts of all figures: colours, an empty figure, axes, the order of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ..engine.extras import import_extra
from ..topics.tree import TopicTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "GREY", "MARKERS", "PALE", "SMALL", "bare", "cut", "hide_rest", "in_order", "new_figure", "tidy"]

# Okabe and Ito (2008): distinct with any kind of colour vision, and in grey. Without yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = "osD^vPX"
GREY = "#6e6e6e"
PALE = "#c8c8c8"
SMALL = 9


def new_figure(width: float, height: float) -> Figure:
    """An empty figure; width and height are in inches."""
    module = import_extra("matplotlib.figure", "plots", "a plot")
    figure: Figure = module.Figure(figsize=(width, height), dpi=120, layout="constrained")
    return figure


def tidy(axes: Axes, grid: Literal["both", "x", "y"] = "both") -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, color="#e3e3e3", linewidth=0.8)
    axes.set_axisbelow(True)


def hide_rest(panels: np.ndarray, n_used: int) -> None:
    """Hide the unused panels of a grid with a shared horizontal axis; the panels above them get the axis labels."""
    for axes in panels.flat[n_used:]:
        axes.set_visible(False)
    for axes in panels.flat[max(n_used - panels.shape[1], 0) : n_used]:
        axes.tick_params(axis="x", labelbottom=True)


def bare(axes: Axes, title: str) -> None:
    axes.set_axis_off()
    axes.set_title(title, loc="left", fontsize=10)


def in_order(tree: TopicTree) -> list[tuple[int, int]]:
    """(topic, depth), the largest first, each followed by the topics below it."""
    order: list[tuple[int, int]] = []
    waiting = [(topic, 0) for topic in reversed(tree.children())]
    while waiting:
        topic, depth = waiting.pop()
        order.append((topic, depth))
        waiting += [(child, depth + 1) for child in reversed(tree.children(topic))]
    return order


def cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
