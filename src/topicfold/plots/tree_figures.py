"""The figure of a hierarchy: an indented tree, or two columns if a topic may have several parents."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..topics.terms import in_one_line
from ..topics.tree import TopicTree
from .style import COLOURS, GREY, PALE, SMALL, bare, cut, in_order, new_figure

__all__ = ["hierarchy"]

_SHOWN_LINES = 100
_ROUNDS = 12  # rounds of sorting the two columns, each by the other


def hierarchy(tree: TopicTree, n_words: int = 5) -> Any:
    """Draw topics as a tree, one line per topic, with dots whose area shows the share of the documents.

    If a topic may have several parents (LDCC), the figure has two columns connected by lines whose width shows the
    weight, ordered so that few lines cross. In a tree with more than 100 topics, only the upper levels are drawn; on a
    level with more than 100 topics, only the largest. The title says so.

    Parameters
    ----------
    tree : TopicTree
        The topics.
    n_words : int, default=5
        Number of words per topic.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    InputError
        If the tree has no topics, or `n_words` is less than 1.

    See Also
    --------
    topicfold.TopicTree.group : Adds levels above flat topics.
    topic_sizes : The sizes of topics as bars.

    Examples
    --------
    >>> from topicfold import LDA, plots
    >>> tree = LDA(2, random_state=0).fit(["cat dog cat", "dog cat", "sun moon", "moon star sun"]).topic_tree()
    >>> len(plots.hierarchy(tree).axes)
    1
    """
    if len(tree) == 0 or n_words < 1:
        raise InputError(f"{len(tree)} topics and n_words={n_words}: expected at least one of each")
    return _indented(tree, n_words) if tree.edges is None else _two_columns(tree, n_words)


def _indented(tree: TopicTree, n_words: int) -> Any:
    shown, title = _upper_levels(tree)
    order = in_order(shown)
    place = {topic: (depth, line) for line, (topic, depth) in enumerate(order)}
    deepest = max(depth for _, depth in order)
    figure = new_figure(5.2 + 0.35 * deepest, 0.21 * len(order) + 0.6)
    axes = figure.subplots()
    for topic, (depth, line) in place.items():
        above = int(shown.parent[shown.row(topic)])
        if above >= 0:
            x, top = place[above]
            axes.plot([x, x, depth], [top, line, line], color=PALE, linewidth=1, zorder=1, gid=f"{above}-{topic}")
        _mark(axes, shown, topic, depth, line, COLOURS[depth % len(COLOURS)], n_words)
    axes.set_xlim(-0.5, deepest + 5.2 / 0.35)  # steps to the right have the same width in each tree; room for words
    axes.set_ylim(len(order) - 0.4, -0.6)
    bare(axes, title)
    return figure


def _upper_levels(tree: TopicTree) -> tuple[TopicTree, str]:
    """The part of a tree that there is room for, and the title that says what was left out."""
    if len(tree) <= _SHOWN_LINES:
        return tree, f"{len(tree)} topics of {len(tree.doc_topic):,} documents"
    levels = np.unique(tree.level)
    few = [level for level in levels if (tree.level >= level).sum() <= _SHOWN_LINES] or [levels[-1]]
    upper = tree.select_levels([level for level in levels.tolist() if level >= few[0]])
    levels_shown = f"level {few[0]}" if few[0] == levels[-1] else f"levels {levels[-1]} to {few[0]}"
    if len(upper) <= _SHOWN_LINES:
        return upper, f"{len(upper)} of {len(tree)} topics: only {levels_shown}"
    smallest = upper.ids[np.argsort(-upper.size, kind="stable")[_SHOWN_LINES:]]
    return upper.drop(smallest.tolist()), f"{_SHOWN_LINES} of {len(tree)} topics: the largest of {levels_shown}"


def _two_columns(tree: TopicTree, n_words: int) -> Any:
    left = tree.children()[:_SHOWN_LINES]
    weights = {(topic, part): weight for topic in left for part, weight in tree.parts(topic)}
    parts = sorted({part for _, part in weights}, key=lambda part: -tree.size[tree.row(part)])[:_SHOWN_LINES]
    n_lines, heaviest = max(len(left), len(parts)), max(weights.values(), default=1.0)
    left, parts = _side_by_side(left, parts, weights)
    at_left, at_right = (
        dict(zip(column, (np.arange(len(column)) + 0.5) * n_lines / max(len(column), 1))) for column in (left, parts)
    )
    figure = new_figure(11, 0.23 * n_lines + 0.8)
    axes = figure.subplots()
    for number, (topic, line) in enumerate(at_left.items()):
        colour = COLOURS[number % len(COLOURS)]
        _mark(axes, tree, topic, 0, line, colour, n_words, side=-1)
        for part in at_right:
            if weight := weights.get((topic, part), 0.0):
                style: dict[str, Any] = {
                    "color": colour,
                    "alpha": 0.45,
                    "linewidth": 6 * weight / heaviest,
                    "solid_capstyle": "butt",
                    "zorder": 1,
                }
                axes.plot([0, 1], [line, at_right[part]], **style, gid=f"{topic}-{part}")
    for part, line in at_right.items():
        _mark(axes, tree, part, 1, line, GREY, n_words)
    axes.set_xlim(-1.7, 2.7)
    axes.set_ylim(n_lines, 0)
    shown = len(at_left) + len(at_right)
    count_text = f"{len(tree)} topics" if shown == len(tree) else f"{shown} of {len(tree)} topics: the largest"
    bare(axes, f"{count_text}. The width of a line shows the share of the right topic in the left one")
    return figure


def _side_by_side(
    left: list[int], right: list[int], weights: dict[tuple[int, int], float]
) -> tuple[list[int], list[int]]:
    """Both columns, ordered so that few lines cross."""
    table = np.array([[weights.get((topic, part), 0.0) for part in right] for topic in left])
    rows, columns = _by_shared_columns(table), np.arange(len(right))
    for _ in range(_ROUNDS):
        columns = columns[_by_mean_place(table[np.ix_(rows, columns)].T)]
        rows = rows[_by_mean_place(table[np.ix_(rows, columns)])]
    return [left[row] for row in rows], [right[column] for column in columns]


def _by_shared_columns(weight: np.ndarray) -> np.ndarray:
    """The order of the rows on the first axis of correspondence analysis: rows that share columns are close."""
    if min(weight.shape) < 2:
        return np.arange(len(weight))
    total = np.maximum(weight.sum(axis=1), 1e-12)
    scaled = weight / np.sqrt(np.outer(total, np.maximum(weight.sum(axis=0), 1e-12)))
    place = np.linalg.svd(scaled, full_matrices=False)[0][:, 1] / np.sqrt(total)
    return np.argsort(np.round(place if place[0] < 0 else -place, 9), kind="stable")  # the first row in the upper half


def _by_mean_place(weight: np.ndarray) -> np.ndarray:
    """The order of the rows by the mean position of their columns; a row without weight keeps its position."""
    n_rows, n_columns = weight.shape
    total = weight.sum(axis=1)
    mean = weight @ ((np.arange(n_columns) + 0.5) / max(n_columns, 1)) / np.where(total > 0, total, 1)
    return np.argsort(np.where(total > 0, mean, (np.arange(n_rows) + 0.5) / n_rows), kind="stable")


def _mark(axes: Any, tree: TopicTree, topic: int, x: float, y: float, colour: str, n_words: int, side: int = 1) -> None:
    """The dot of a topic, whose area shows its share, with its words and share next to it."""
    share = float(tree.size[tree.row(topic)])
    axes.scatter(x, y, s=8 + 150 * share, color=colour, linewidths=0, zorder=2)
    words = tree.names.get(topic) or in_one_line(tree.terms(topic, n_words))
    text = f"{cut(words, 56)}  {share:.1%}"
    style: dict[str, Any] = {
        "va": "center",
        "ha": "left" if side > 0 else "right",
        "fontsize": SMALL,
        "parse_math": False,
    }
    axes.annotate(text, (x, y), (side * (5 + 5 * share), 0), textcoords="offset points", **style)
