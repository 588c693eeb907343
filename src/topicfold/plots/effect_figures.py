"""Effects of metadata on topics: intervals of one effect for all topics, and curves along a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .style import COLOURS, GREY, SMALL, cut, hide_rest, new_figure, tidy

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["effect_curves", "effect_sizes"]

_SHOWN_TOPICS = 12


def effect_sizes(table: pd.DataFrame) -> Any:
    """Draw the effect on each topic with its interval, the largest at the top.

    Intervals that contain 0 are grey.

    Parameters
    ----------
    table : pandas.DataFrame
        The result of `Effects.contrast`, or the rows of one term of `Effects.table`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    InputError
        If the table has several terms.

    See Also
    --------
    effect_curves : Shares along a column.
    topicfold.effects : Estimates effects.

    Examples
    --------
    >>> from topicfold import Corpus, LDA, effects, plots
    >>> texts = ["cat dog cow", "dog cow cat", "sun moon star", "moon star sun"] * 10
    >>> corpus = Corpus.from_texts(texts, metadata={"place": ["farm", "farm", "sky", "sky"] * 10})
    >>> result = effects(LDA(2, random_state=0).fit(corpus), corpus, "~ place")
    >>> len(plots.effect_sizes(result.contrast("place", "farm", "sky")).axes)
    1
    """
    terms = table["term"].unique().tolist()
    if len(terms) != 1:
        raise InputError(f"the table has {len(terms)} terms: expected the rows of one term, table[table.term == ...]")
    table = table.sort_values("estimate", ascending=False, kind="stable")
    places = np.arange(len(table))
    sure = ((table["low"] > 0) | (table["high"] < 0)).to_numpy()
    figure = new_figure(7.2, 0.25 * len(table) + 1.1)
    axes = figure.subplots()
    axes.axvline(0, color=GREY, linewidth=1)
    low, high, middle = (100 * table[name].to_numpy() for name in ("low", "high", "estimate"))
    for place, is_sure in zip(places, sure):
        colour = GREY if not is_sure else COLOURS[0] if middle[place] > 0 else COLOURS[1]
        axes.plot([low[place], high[place]], [place, place], color=colour, linewidth=1.6)
        axes.plot(middle[place], place, "o", color=colour, markersize=5)
    labels = [f"{topic}: {cut(name, 40)}" for topic, name in zip(table["topic"], table["name"])]
    axes.set_yticks(places, labels, fontsize=SMALL, parse_math=False)
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("difference in the share of the topic (percentage points)")
    axes.set_title(str(terms[0]), loc="left", fontsize=10, parse_math=False)
    tidy(axes, "x")
    return figure


def effect_curves(table: pd.DataFrame, topics: Sequence[int] | None = None, n_topics: int = _SHOWN_TOPICS) -> Any:
    """Draw predicted shares of topics with their intervals as bands, one panel per topic.

    Parameters
    ----------
    table : pandas.DataFrame
        The result of `Effects.predict`.
    topics : sequence of int, default=None
        Ids of the topics to draw. None draws those that change most in relation to the width of their bands.
    n_topics : int, default=12
        Maximum number of topics, if `topics` is None.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    InputError
        If a topic is not in the table.

    See Also
    --------
    effect_sizes : One effect on each topic.
    topicfold.effects : Estimates effects.

    Examples
    --------
    >>> from topicfold import Corpus, LDA, effects, plots
    >>> texts = ["cat dog cow", "dog cow cat", "sun moon star", "moon star sun"] * 10
    >>> corpus = Corpus.from_texts(texts, metadata={"year": [2001, 2002, 2003, 2004] * 10})
    >>> result = effects(LDA(2, random_state=0).fit(corpus), corpus, "~ year")
    >>> len(plots.effect_curves(result.predict("year")).axes)
    2
    """
    ids = table["topic"].unique().tolist()
    if topics is None:
        moves = {
            topic: float(np.ptp(rows["share"]) / max(float((rows["high"] - rows["low"]).mean()), 1e-12))
            for topic, rows in table.groupby("topic", sort=False)
        }
        topics = sorted(ids, key=lambda topic: -moves[topic])[:n_topics]
    missing = [topic for topic in topics if topic not in ids]
    if missing or not topics:
        raise InputError(f"topics={list(topics)}: expected topics of the table, {', '.join(map(str, ids[:12]))}")
    n_columns = min(4, len(topics))
    n_rows = -(-len(topics) // n_columns)
    figure = new_figure(2.9 * n_columns + 0.4, 2.1 * n_rows + 0.5)
    panels = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True)
    groups = table["group"].unique().tolist() if "group" in table else [None]
    for axes, topic in zip(panels.flat, topics):
        rows = table[table["topic"] == topic]
        for group, colour in zip(groups, _colours(len(groups))):
            _curve(axes, rows if group is None else rows[rows["group"] == group], colour)
        axes.axhline(0, color=GREY, linewidth=0.6)
        axes.set_title(f"{topic}: {cut(rows['name'].iloc[0], 26)}", loc="left", fontsize=SMALL, parse_math=False)
        axes.tick_params(labelsize=8)
        tidy(axes)
    hide_rest(panels, len(topics))
    if len(groups) > 1:
        handles = [panels[0, 0].lines[place] for place in range(len(groups))]
        legend = figure.legend(
            handles, list(map(str, range(len(groups)))), loc="outside upper center", ncols=4, frameon=False
        )
        for text, group in zip(legend.get_texts(), groups):
            text.set_parse_math(False)
            text.set_text(str(group))
    figure.supxlabel(str(table.attrs.get("along", "value")), fontsize=10)
    figure.supylabel("share of the topic (%)", fontsize=10)
    return figure


def _colours(n: int) -> list[str]:
    return [COLOURS[place % len(COLOURS)] for place in range(n)]


def _curve(axes: Any, rows: pd.DataFrame, colour: str) -> None:
    """A line with its band, or points with their intervals if the values are categories."""
    share, low, high = (100 * rows[name].to_numpy() for name in ("share", "low", "high"))
    if rows["value"].dtype.kind in "if":
        axes.plot(rows["value"], share, color=colour, linewidth=1.4)
        axes.fill_between(rows["value"], low, high, color=colour, alpha=0.2, linewidth=0)
    else:
        reach = [share - low, high - share]
        axes.errorbar(rows["value"].astype(str), share, reach, fmt="o", color=colour, markersize=4, capsize=2)
