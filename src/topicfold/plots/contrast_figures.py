"""The words that groups use for a topic, by frequency and z-score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.checks import check_whole
from ..errors import InputError
from ..topics.ranking import largest
from .style import COLOURS, PALE, SMALL, cut, new_figure, tidy

if TYPE_CHECKING:
    from ..analysis.contrast import Contrast

__all__ = ["contrast_words"]

_SURE = 1.96
_FEWEST = 0.5  # minimum number of tokens of a word that is drawn
_LETTER, _LINE = 0.0125, 0.026  # width and height of a letter of a label, as a share of the axes


def contrast_words(contrast: Contrast, topic: int = -1, group: str | None = None, n_words: int = 15) -> Any:
    """Draw the words of a topic as dots: z-score of one group against frequency on a log scale.

    Words that the group uses more are above 0, in the first colour; words that it uses less are below, in the second.
    Words with an expected number of less than half a token in the topic are not drawn.

    Parameters
    ----------
    contrast : Contrast
        The result of `contrast`.
    topic : int, default=-1
        Id of the topic; -1 for all tokens.
    group : str or None, default=None
        The group. None uses the first.
    n_words : int, default=15
        Number of words per side that are listed on the right, and labelled in the plot if there is room.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    InputError
        If the topic has no tokens in these groups.

    See Also
    --------
    topicfold.contrast : Computes the scores.
    effect_sizes : Effects of metadata on topics.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, contrast, plots
    >>> texts = ["tax cut cut", "tax relief", "tax rise rise", "tax burden rise"]
    >>> corpus = Corpus.from_texts(texts * 5, metadata={"party": ["left", "left", "right", "right"] * 5})
    >>> result = contrast(PLSA(1, random_state=0).fit(corpus), corpus, "party", groups=("left", "right"))
    >>> len(plots.contrast_words(result, 0, "right").axes)
    2
    """
    check_whole("n_words", n_words)
    group = contrast.groups[0] if group is None else group
    group_counts, other_counts, _, z = contrast.scores(topic, group)
    tokens = group_counts + other_counts
    frequent = np.flatnonzero(tokens >= _FEWEST)
    if len(frequent) == 0:
        raise InputError(f"topic {topic} has no tokens in these groups")
    figure = new_figure(8.0, 5.6)
    axes, lists = figure.subplots(1, 2, width_ratios=(3.2, 1), sharey=False)
    axes.axhspan(-_SURE, _SURE, color="#f2f2f2", linewidth=0)
    sides = [(frequent[z[frequent] > _SURE], COLOURS[0]), (frequent[z[frequent] < -_SURE], COLOURS[1])]
    sides.append((frequent[np.abs(z[frequent]) <= _SURE], PALE))
    for words, colour in sides:
        axes.scatter(tokens[words], z[words], s=9, color=colour, linewidths=0, rasterized=len(frequent) > 2000)
    best = [words[largest(np.abs(z[words]), n_words)] for words, _ in sides[:2]]
    axes.set_xscale("log")
    axes.margins(x=0.14)
    named = np.concatenate(best)
    for w in named[_with_room(axes, tokens[named], z[named], [contrast.vocabulary[w] for w in named])]:
        at, colour = (float(tokens[w]), float(z[w])), COLOURS[0 if z[w] > 0 else 1]
        text = contrast.vocabulary[w]
        axes.annotate(text, at, (3, 1), textcoords="offset points", fontsize=8, color=colour, parse_math=False)
    other = contrast.groups[1 - contrast.groups.index(group)] if contrast.pair else "the rest"
    axes.set_xlabel("tokens in the topic, all groups" if topic != -1 else "tokens, all groups")
    axes.set_ylabel("z-score of the log-odds ratio")
    name = contrast.names[contrast.topics.index(topic)]
    title = f"{cut(group, 24)} vs {cut(other, 24)}: {cut(name, 36)}"
    axes.set_title(title, loc="left", fontsize=10, parse_math=False)
    tidy(axes)
    _list_words(lists, contrast, best, z, (group, other))
    return figure


def _with_room(axes: Any, x: np.ndarray, y: np.ndarray, texts: list[str]) -> list[int]:
    """Which labels have room next to those of words further out, the furthest first."""
    low, high = np.log(axes.get_xlim())
    bottom, top = axes.get_ylim()
    left, base = (np.log(x) - low) / (high - low), (y - bottom) / (top - bottom)
    placed: list[int] = []
    for i in np.argsort(-np.abs(y), kind="stable").tolist():
        apart = [
            abs(base[i] - base[j]) > _LINE
            or left[i] > left[j] + _LETTER * (len(texts[j]) + 1)
            or left[j] > left[i] + _LETTER * (len(texts[i]) + 1)
            for j in placed
        ]
        if all(apart):
            placed.append(i)
    return placed


def _list_words(axes: Any, contrast: Contrast, best: list[np.ndarray], z: np.ndarray, titles: tuple[str, str]) -> None:
    """The words of both sides below each other, with their z-scores."""
    axes.set_axis_off()
    n_lines = max(sum(map(len, best)) + 3, 12)
    line = 0
    for words, title, colour in zip(best, titles, COLOURS):
        axes.text(0, 1 - line / n_lines, cut(title, 20), fontsize=SMALL, fontweight="bold", color=colour, va="top")
        axes.texts[-1].set_parse_math(False)
        for w in words:
            line += 1
            axes.text(0, 1 - line / n_lines, cut(contrast.vocabulary[w], 22), fontsize=8, va="top", parse_math=False)
            axes.text(1, 1 - line / n_lines, f"{z[w]:.1f}", fontsize=8, va="top", ha="right", color=colour)
        line += 2
