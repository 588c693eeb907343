"""Topic trees as text for a terminal and as an HTML table for a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from .ranking import RankBy

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["tree_as_html", "tree_as_text"]

_PARTS = 6
_HTML_LINES = 100


def tree_as_text(tree: TopicTree, n_words: int, by: RankBy) -> str:
    """A table of topics, the largest first, with topics below another indented.

    If a topic may have several parents (LDCC), the parts of each topic with the largest weights are shown, with the
    weight instead of the size.
    """
    lines = [f"{len(tree)} topics of {len(tree.doc_topic):,} documents", f"{'id':>5} {'size':>7}  words"]
    for topic, depth, figure in _lines(tree):
        words = " ".join(word.word for word in tree.words(topic, n_words, by))
        name = f"[{tree.names[topic]}] " if topic in tree.names else ""
        mark = f"  ({tree.marks[topic]})" if topic in tree.marks else ""
        lines.append(f"{topic:>5} {figure:>7}  {'  ' * depth}{name}{words}{mark}")
    return "\n".join(lines)


def tree_as_html(tree: TopicTree) -> str:
    """The first hundred lines of the same table, for a notebook."""
    lines = list(_lines(tree))
    rows = []
    for topic, depth, figure in lines[:_HTML_LINES]:
        name = f"<b>{escape(tree.names[topic])}</b> " if topic in tree.names else ""
        words = escape(" ".join(word.word for word in tree.words(topic)))
        mark = f" <i>({escape(tree.marks[topic])})</i>" if topic in tree.marks else ""
        look = f"text-align:left;padding-left:{0.5 + 1.5 * depth}em"
        rows.append(f'<tr><td>{topic}</td><td>{figure}</td><td style="{look}">{name}{words}{mark}</td></tr>')
    more = f"<p>and {len(lines) - len(rows):,} more</p>" if len(lines) > len(rows) else ""
    return (
        f"<table><caption>{len(tree)} topics of {len(tree.doc_topic):,} documents</caption><thead>"
        '<tr><th>id</th><th>size</th><th style="text-align:left">words</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>{more}"
    )


def _lines(tree: TopicTree) -> Iterator[tuple[int, int, str]]:
    """(topic, depth, size or weight) from the top down."""
    waiting = [(topic, 0, f"{tree.size_of(topic):.1%}") for topic in tree.children()[::-1]]
    while waiting:
        topic, depth, figure = waiting.pop()
        yield topic, depth, figure
        if tree.edges is None:
            below = [(child, f"{tree.size_of(child):.1%}") for child in tree.children(topic)]
        else:
            below = [(part, f"{weight:.2f}") for part, weight in tree.parts(topic, _PARTS) if depth == 0]
        waiting += [(child, depth + 1, shown) for child, shown in below[::-1]]
