"""Figures with matplotlib (an extra). Each function returns a Figure; nothing is shown, and no global state is touched.

Save one with `figure.savefig("name.png")`; a notebook shows it when it is the last line of a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .corpus import is_missing
from .plot_hierarchy import hierarchy
from .plot_parts import COLOURS, GREY, MARKERS, PALE, SMALL, bare, cut, in_order, new_figure, tidy
from .topics import TopicTree

if TYPE_CHECKING:
    from .over_time import TopicsOverTime
    from .selection import Row, Selection

__all__ = [
    "convergence",
    "document_map",
    "hierarchy",
    "over_time",
    "selection",
    "topic_sizes",
    "topic_words",
    "trace",
]

_SHOWN_TOPICS = 12
_TOPICS = "number of topics"
_WIDE_RANGE = 10  # a parameter whose largest value is more than this many times its smallest gets a log axis


# ---- choosing a model -----------------------------------------------------------------------------------------------


def selection(result: Selection) -> Any:
    """Held-out score, coherence and stability against the size, the recommended point marked.

    The first numeric parameter that varies is the horizontal axis, and every combination of the others is a line.
    Between models with sizes of their own the axis is the number of topics found. Points that failed are left out.

    The bar of a point is one standard error of its difference to the best point over folds: the bars that reach the
    dotted line are within one standard error of the best score.
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
    for axes, measure in zip(panels, ("score", "coherence", "stability")):
        tidy(axes)
        axes.margins(y=0.12)
        ring = {"markersize": 13, "markerfacecolor": "none", "markeredgecolor": "black", "markeredgewidth": 1.5}
        axes.plot(place(result.best_row), getattr(result.best_row, measure), "o", **ring, gid="recommended")
    panels[0].set_ylabel(f"held-out score\n({result.unit})")
    panels[1].set_ylabel("coherence\n(c_npmi)")
    panels[2].set_ylabel("stability\n(cosine of matched topics)")
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
    note = "Dotted: the best score. A bar that reaches it is within one standard error."
    place = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(note, (0, 1), (0, 8), **place, fontsize=SMALL, color=GREY)


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value!s:.20}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _is_categorical(rows: Sequence[Row], name: str) -> bool:
    return name != _TOPICS and not all(_is_number(row.params[name]) for row in rows)


def _varying(rows: Sequence[Row]) -> list[str]:
    """The parameters with more than one value, in the order of the grid."""
    names = dict.fromkeys(name for row in rows for name in row.params)
    return [name for name in names if len({_short(row.params.get(name)) for row in rows}) > 1]


def _horizontal(rows: Sequence[Row]) -> tuple[str, Callable[[Row], float]]:
    """The name of the horizontal axis, and where on it a row stands."""
    if len({row.model for row in rows}) > 1:
        return _TOPICS, lambda row: row.topics
    names = [*_varying(rows), *rows[0].params]
    numeric = [name for name in names if not _is_categorical(rows, name)]
    if numeric:
        return numeric[0], lambda row: float(row.params[numeric[0]])
    values = list(dict.fromkeys(_short(row.params[names[0]]) for row in rows))
    return names[0], lambda row: float(values.index(_short(row.params[names[0]])))


def _lines(rows: Sequence[Row], name: str) -> dict[str, list[Row]]:
    """The rows of each line, by its label: the model, where there are several, and the other parameters that vary."""
    several = len({row.model for row in rows}) > 1
    lines: dict[str, list[Row]] = {}
    for row in rows:
        # Between models the parameter that sets the number of topics has no common name: it is the one that equals it.
        own = {other: value for other, value in row.params.items() if not (several and value == row.topics)}
        parts = [f"{other}={_short(own[other])}" for other in _varying(rows) if other in own and other != name]
        lines.setdefault(", ".join([row.model] * several + parts), []).append(row)
    return lines


def _looks(n_lines: int) -> list[dict[str, Any]]:
    """A colour and a marker a line: distinct colours for a few, a scale from dark to light for more."""
    import matplotlib

    if n_lines <= len(COLOURS):
        return [{"color": colour, "marker": marker} for colour, marker in zip(COLOURS[:n_lines], MARKERS)]
    scale = matplotlib.colormaps["viridis"](np.linspace(0, 0.88, n_lines))
    return [{"color": tuple(colour), "marker": MARKERS[i % len(MARKERS)]} for i, colour in enumerate(scale)]


def _set_ticks(axes: Any, rows: Sequence[Row], place: Callable[[Row], float], name: str) -> None:
    """A log axis for a wide range; ticks at the values tried, where their labels have room."""
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


# ---- a fitted model -------------------------------------------------------------------------------------------------


def convergence(model: Any) -> Any:
    """The objective before each step of a fit."""
    from .selection import score_unit

    history = getattr(model, "history_", None)
    if history is None or len(history) == 0:
        raise ValueError(f"this {type(model).__name__} has no history_: fit it first")
    figure = new_figure(6.4, 3.8)
    axes = figure.subplots()
    steps = np.arange(1, len(history) + 1)
    axes.plot(steps, history, color=COLOURS[0], linewidth=1.8, marker="o" if len(history) < 30 else "", markersize=4)
    axes.set_xlabel("iteration")
    axes.set_ylabel(f"objective ({score_unit(model)})")
    converged = getattr(model, "converged_", None)
    ending = {None: "", True: ", converged", False: ", not converged"}[None if converged is None else bool(converged)]
    axes.set_title(f"{type(model).__name__}: {len(history)} iterations{ending}", loc="left", fontsize=11)
    tidy(axes)
    return figure


def trace(model: Any) -> Any:
    """The joint log-likelihood of a sampler's chains by sweep, with the end of burn-in."""
    chains = getattr(model, "chain_history_", None)
    if chains is None:
        raise ValueError(f"this {type(model).__name__} has no chain_history_: trace is for a fitted LDCC")
    figure = new_figure(6.4, 3.8)
    axes = figure.subplots()
    for number, values in enumerate(chains):
        colour = COLOURS[number % len(COLOURS)]
        size = model.effective_sample_size_[number]
        axes.plot(np.arange(1, len(values) + 1), values, color=colour, linewidth=1.2, label=f"worth {size:.0f} draws")
    axes.axvline(model.burn_in + 0.5, color="0.6", linewidth=1, linestyle="--")
    axes.set_xlabel("sweep")
    axes.set_ylabel("joint log-likelihood (nats a token)")
    axes.set_title(f"{type(model).__name__}: {len(chains)} chains of {chains.shape[1]} sweeps", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=SMALL, loc="lower right")
    tidy(axes)
    return figure


# ---- topics ---------------------------------------------------------------------------------------------------------


def topic_words(tree: TopicTree, topics: Sequence[int] | None = None, n_words: int = 10) -> Any:
    """The best words of topics as bars of P(w|z), ranked by the tree's score; without `topics`, the largest twelve."""
    if topics is None:
        topics = [topic for topic, _ in in_order(tree) if tree.level[tree._row(topic)] == 1]
        topics = sorted(topics, key=lambda topic: -tree.size[tree._row(topic)])[:_SHOWN_TOPICS]
    if len(topics) == 0 or n_words < 1:
        raise ValueError(f"{len(topics)} topics and n_words={n_words}: expected at least one of each")
    n_columns = min(4, len(topics))
    n_rows = -(-len(topics) // n_columns)
    figure = new_figure(2.9 * n_columns, (0.19 * n_words + 0.75) * n_rows)
    panels = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True).ravel()
    for axes, topic in zip(panels, topics):
        words = tree.words(topic, n_words)
        axes.barh(range(len(words)), [word.probability for word in words], color=COLOURS[0], height=0.75)
        axes.set_yticks(range(len(words)), [word.word for word in words], fontsize=SMALL, parse_math=False)
        axes.set_ylim(n_words - 0.4, -0.6)
        lines = [cut(tree.names[topic], 24)] if topic in tree.names else []
        lines.append(f"topic {topic}, {tree.size[tree._row(topic)]:.1%}")
        axes.set_title("\n".join(lines), loc="left", fontsize=SMALL, fontweight="bold", parse_math=False)
        axes.locator_params(axis="x", nbins=3)
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="x", labelsize=8)
        tidy(axes, "x")
    for axes in panels[len(topics) :]:
        axes.set_visible(False)
    figure.supxlabel("P(word | topic)", fontsize=10)
    return figure


def topic_sizes(tree: TopicTree) -> Any:
    """The share of documents in each topic as bars, the largest first; topics below another stand under it."""
    order = in_order(tree)
    if not order:
        raise ValueError("the tree has no topics")
    sizes = [100 * float(tree.size[tree._row(topic)]) for topic, _ in order]
    labels = ["    " * depth + f"{topic}: {cut(tree.name(topic), 40)}" for topic, depth in order]
    figure = new_figure(7.0, 0.23 * len(order) + 0.9)
    axes = figure.subplots()
    colours = [COLOURS[depth % len(COLOURS)] for _, depth in order]
    axes.barh(range(len(order)), sizes, color=colours, height=0.75)
    axes.set_yticks(range(len(order)), labels, fontsize=SMALL, parse_math=False)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    for place, size in enumerate(sizes):
        axes.annotate(f"{size:.1f}", (size, place), (3, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_xlabel(f"share of {len(tree.doc_topic):,} documents (%)")
    axes.margins(x=0.08)
    tidy(axes, "x")
    return figure


def over_time(table: TopicsOverTime, n_topics: int = _SHOWN_TOPICS) -> Any:
    """The share of documents over time, a panel for each of the topics that moved most, all on one scale."""
    spread = table.share.max(axis=0) - table.share.min(axis=0)
    shown = np.argsort(-spread, kind="stable")[:n_topics]
    n_columns = min(3, len(shown))
    n_rows = -(-len(shown) // n_columns)
    figure = new_figure(3.2 * n_columns, 1.9 * n_rows)
    panels = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
    for axes, topic in zip(panels.flat, shown):
        axes.plot(table.periods, 100 * table.share[:, topic], color=COLOURS[0], marker="o", markersize=3)
        axes.set_title(cut(table.names[topic].replace("$", r"\$"), 34), fontsize=SMALL, loc="left")
        axes.tick_params(axis="x", rotation=45, labelsize=SMALL)
        axes.set_ylim(bottom=0)
        tidy(axes)
    for axes in panels.flat[len(shown) :]:
        axes.set_visible(False)
    figure.supylabel("share of documents, %", fontsize=SMALL + 1)
    return figure


# ---- maps -----------------------------------------------------------------------------------------------------------


def document_map(positions: np.ndarray, tree: TopicTree, labels: Sequence[Any] | None = None) -> Any:
    """Documents at their positions (see `document_positions`), coloured by their largest topic.

    In a hierarchy it is one of the highest level, as in the explorer; where topics have parts (LDCC), one of these.

    With `labels`, one a document or the `labels` of a Corpus, they are coloured by label. The seven largest topics or
    labels have a colour each; all others are grey, as are documents without any.
    """
    positions = np.asarray(positions)
    if positions.shape != (len(tree.doc_topic), 2):
        raise ValueError(f"positions have shape {positions.shape}: expected {(len(tree.doc_topic), 2)}")
    groups = _largest_topics(tree) if labels is None else _first_labels(labels, len(positions))
    names, counts = np.unique([name for name in groups if name is not None], return_counts=True)
    coloured = names[np.argsort(-counts, kind="stable")[: len(COLOURS)]].tolist()
    figure = new_figure(8.4, 6.0)
    axes = figure.subplots()
    members = {name: np.array([group == name for group in groups], bool) for name in coloured}
    rest = ~np.any([*members.values(), np.zeros(len(positions), bool)], axis=0)
    look = {"s": float(np.clip(20_000 / max(len(positions), 1), 4, 30)), "linewidths": 0, "rasterized": True}
    dots = [axes.scatter(*positions[rest].T, color=PALE, **look)]  # below the others
    dots += [axes.scatter(*positions[own].T, color=colour, **look) for own, colour in zip(members.values(), COLOURS)]
    what = "topic" if labels is None else "label"
    texts = [str(name) if labels is not None else cut(tree.name(int(name)), 36) for name in coloured]
    others = f"{len(names) - len(coloured)} other {what}s" if len(names) > len(coloured) else f"no {what}"
    entries = [*zip(dots[1:], texts), *([(dots[0], others)] if rest.any() else [])]
    _legend(figure, entries)
    axes.set_aspect("equal")
    bare(axes, f"{len(positions):,} documents by {'largest topic' if labels is None else 'label'}")
    return figure


def _legend(figure: Any, entries: Sequence[tuple[Any, str]]) -> None:
    """A legend at the side whose texts may be anything: matplotlib would leave out one that begins with _."""
    handles, texts = [handle for handle, _ in entries], [text for _, text in entries]
    look = {"loc": "outside right center", "frameon": False, "fontsize": SMALL, "markerscale": 3}
    legend = figure.legend(handles, list(map(str, range(len(texts)))), **look)
    for shown, text in zip(legend.get_texts(), texts):
        shown.set_parse_math(False)
        shown.set_text(text)


def _largest_topics(tree: TopicTree) -> list[int | None]:
    """The largest topic of each document, None where it is in none: of word-topics, or of the highest level."""
    if len(tree) == 0:
        return [None] * len(tree.doc_topic)
    rows = np.flatnonzero(tree.level == (tree.level.max() if tree.edges is None else tree.level.min()))
    shares = tree.doc_topic[:, rows]
    largest = tree.ids[rows][shares.argmax(axis=1)]
    return [int(topic) if share > 0 else None for topic, share in zip(largest, shares.max(axis=1))]


def _first_labels(labels: Sequence[Any], n_documents: int) -> list[str | None]:
    if len(labels) != n_documents:
        raise ValueError(f"{len(labels)} labels for {n_documents} documents: expected one a document")
    firsts = [(own[0] if len(own) else None) if isinstance(own, list | tuple) else own for own in labels]
    return [None if is_missing(label) else str(label) for label in firsts]
