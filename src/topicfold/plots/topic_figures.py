"""Topics: their words, sizes, change over time, and a map of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpus.fields import is_missing
from ..errors import InputError
from ..topics.tree import TopicTree
from ..topics.wordless import with_words
from .style import COLOURS, PALE, SMALL, bare, cut, hide_rest, in_order, new_figure, tidy

if TYPE_CHECKING:
    from ..analysis.over_time import TopicsOverTime

__all__ = ["document_map", "over_time", "topic_sizes", "topic_words"]

_SHOWN_TOPICS = 12


def topic_words(tree: TopicTree, topics: Sequence[int] | None = None, n_words: int = 10) -> Any:
    """Draw the best words of topics as bars of P(w|z).

    Parameters
    ----------
    tree : TopicTree
        The topics.
    topics : sequence of int, default=None
        Ids of the topics to draw. None draws the twelve largest.
    n_words : int, default=10
        Number of words per topic; they are ranked by the score of the tree.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    InputError
        If there are no topics to draw, or `n_words` is less than 1.

    See Also
    --------
    topic_sizes : The sizes of topics.
    hierarchy : Topics as a tree.

    Examples
    --------
    >>> from topicfold import LDA, plots
    >>> tree = LDA(2, random_state=0).fit(["cat dog cat", "dog cat", "sun moon", "moon star sun"]).topic_tree()
    >>> len(plots.topic_words(tree).axes)
    2
    """
    if topics is None:
        topics = [topic for topic, _ in in_order(tree) if tree.level[tree.row(topic)] == 1]
        topics = sorted(topics, key=lambda topic: -tree.size[tree.row(topic)])[:_SHOWN_TOPICS]
    if len(topics) == 0 or n_words < 1:
        raise InputError(f"{len(topics)} topics and n_words={n_words}: expected at least one of each")
    n_columns = min(4, len(topics))
    n_rows = -(-len(topics) // n_columns)
    figure = new_figure(2.9 * n_columns, (0.19 * n_words + 0.75) * n_rows)
    panels = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True)
    for axes, topic in zip(panels.flat, topics):
        words = tree.words(topic, n_words)
        axes.barh(range(len(words)), [word.probability for word in words], color=COLOURS[0], height=0.75)
        axes.set_yticks(range(len(words)), [word.word for word in words], fontsize=SMALL, parse_math=False)
        axes.set_ylim(n_words - 0.4, -0.6)
        lines = [cut(tree.names[topic], 24)] if topic in tree.names else []
        lines.append(f"topic {topic}, {tree.size[tree.row(topic)]:.1%}")
        axes.set_title("\n".join(lines), loc="left", fontsize=SMALL, fontweight="bold", parse_math=False)
        axes.locator_params(axis="x", nbins=3)
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="x", labelsize=8)
        tidy(axes, "x")
    hide_rest(panels, len(topics))
    figure.supxlabel("P(word | topic)", fontsize=10)
    return figure


def topic_sizes(tree: TopicTree) -> Any:
    """Draw the share of documents in each topic as bars.

    The largest topics come first, and topics below another are drawn under it.

    Parameters
    ----------
    tree : TopicTree
        The topics.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    InputError
        If the tree has no topics.

    See Also
    --------
    topic_words : The best words of topics.
    over_time : Sizes of topics over time.

    Examples
    --------
    >>> from topicfold import LDA, plots
    >>> tree = LDA(2, random_state=0).fit(["cat dog cat", "dog cat", "sun moon", "moon star sun"]).topic_tree()
    >>> len(plots.topic_sizes(tree).axes)
    1
    """
    order = in_order(tree)
    if not order:
        raise InputError("the tree has no topics")
    sizes = [100 * float(tree.size[tree.row(topic)]) for topic, _ in order]
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
    """Draw the share of topics over time, one panel per topic, all on the same scale.

    Parameters
    ----------
    table : TopicsOverTime
        The result of `topics_over_time`.
    n_topics : int, default=12
        Number of topics to draw: those whose share changed most.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    See Also
    --------
    topicfold.topics_over_time : Computes the shares.
    topic_sizes : Sizes of topics in all documents.

    Examples
    --------
    >>> from topicfold import Corpus, LDA, plots, topics_over_time
    >>> texts = ["cat dog cat", "dog cat", "sun moon", "moon star sun"]
    >>> corpus = Corpus.from_texts(texts, timestamps=[2001, 2001, 2002, 2002])
    >>> table = topics_over_time(LDA(2, random_state=0).fit(corpus), corpus, "year")
    >>> len(plots.over_time(table).axes)
    2
    """
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
        tidy(axes)
    panels.flat[0].set_ylim(0, 105 * float(table.share[:, shown].max()))  # set once, because all panels share the scale
    hide_rest(panels, len(shown))
    figure.supylabel("share of documents, %", fontsize=SMALL + 1)
    return figure


def document_map(positions: np.ndarray, tree: TopicTree, labels: Sequence[Any] | None = None) -> Any:
    """Draw documents as dots on a map, coloured by topic or label.

    Each of the seven largest topics or labels has its own colour; all other documents are grey. In a hierarchy, the
    colours show topics of the highest level; if topics may have several parents (LDCC), those of the lowest level.

    Parameters
    ----------
    positions : ndarray of shape (n_documents, 2)
        Positions of the documents; see `document_positions`.
    tree : TopicTree
        The topics of the documents.
    labels : sequence, default=None
        Labels to colour by, one per document, or the `labels` of a Corpus. None colours by the largest topic.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    InputError
        If there is not one position per document.

    See Also
    --------
    topicfold.document_positions : Computes positions.
    topicfold.build_report : An interactive map.

    Examples
    --------
    >>> from topicfold import LDA, document_positions, plots
    >>> tree = LDA(2, random_state=0).fit(["cat dog cat", "dog cat", "sun moon", "moon star sun"]).topic_tree()
    >>> len(plots.document_map(document_positions(tree.doc_topic), tree).axes)
    1
    """
    positions = np.asarray(positions)
    if positions.shape != (len(tree.doc_topic), 2):
        raise InputError(f"positions have shape {positions.shape}: expected {(len(tree.doc_topic), 2)}")
    groups = _largest_topics(tree) if labels is None else _first_labels(labels, len(positions))
    names, counts = np.unique([name for name in groups if name is not None], return_counts=True)
    coloured = names[np.argsort(-counts, kind="stable")[: len(COLOURS)]].tolist()
    figure = new_figure(8.4, 6.0)
    axes = figure.subplots()
    members = {name: np.array([group == name for group in groups], bool) for name in coloured}
    uncoloured = ~np.any([*members.values(), np.zeros(len(positions), bool)], axis=0)
    style: dict[str, Any] = {
        "s": float(np.clip(20_000 / max(len(positions), 1), 4, 30)),
        "linewidths": 0,
        "rasterized": True,
    }
    dots = [axes.scatter(*positions[uncoloured].T, color=PALE, **style)]  # below the others
    dots += [
        axes.scatter(*positions[member].T, color=colour, **style) for member, colour in zip(members.values(), COLOURS)
    ]
    noun = "topic" if labels is None else "label"
    texts = [str(name) if labels is not None else cut(tree.name(int(name)), 36) for name in coloured]
    others = f"{len(names) - len(coloured)} other {noun}s" if len(names) > len(coloured) else f"no {noun}"
    entries = [*zip(dots[1:], texts), *([(dots[0], others)] if uncoloured.any() else [])]
    _legend(figure, entries)
    axes.set_aspect("equal")
    bare(axes, f"{len(positions):,} documents by {'largest topic' if labels is None else 'label'}")
    return figure


def _legend(figure: Any, entries: Sequence[tuple[Any, str]]) -> None:
    """A legend at the side, for any texts: matplotlib would leave out a text that begins with _."""
    handles, texts = [handle for handle, _ in entries], [text for _, text in entries]
    style: dict[str, Any] = {"loc": "outside right center", "frameon": False, "fontsize": SMALL, "markerscale": 3}
    legend = figure.legend(handles, list(map(str, range(len(texts)))), **style)
    for shown, text in zip(legend.get_texts(), texts):
        shown.set_parse_math(False)
        shown.set_text(text)


def _largest_topics(tree: TopicTree) -> list[int | None]:
    """The largest topic of each document, None if it has no topic: among word-topics, or on the highest level."""
    if len(tree) == 0:
        return [None] * len(tree.doc_topic)
    rows = np.flatnonzero(tree.level == (tree.level.max() if tree.edges is None else tree.level.min()))
    shares = with_words(tree)[:, rows]
    largest = tree.ids[rows][shares.argmax(axis=1)]
    return [int(topic) if share > 0 else None for topic, share in zip(largest, shares.max(axis=1))]


def _first_labels(labels: Sequence[Any], n_documents: int) -> list[str | None]:
    if len(labels) != n_documents:
        raise InputError(f"{len(labels)} labels for {n_documents} documents: expected one per document")
    firsts = [(value[0] if len(value) else None) if isinstance(value, list | tuple) else value for value in labels]
    return [None if is_missing(label) else str(label) for label in firsts]
