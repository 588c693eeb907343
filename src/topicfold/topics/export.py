"""Topic trees as text, as HTML tables, and for other programs: JSON, the original HLTA program (Java), pyLDAvis."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpus.corpus import Corpus
from ..engine.arrays import normalise_rows
from ..errors import InputError
from .changes import grouped_to_show
from .ranking import RankBy
from .terms import in_one_line

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["hlta_json", "pyldavis_arguments", "tree_as_html", "tree_as_json", "tree_as_text"]

_PARTS = 6  # of a topic whose parts may be part of other topics too
_HTML_LINES = 100
_ABOVE_ZERO = 1e-9  # share of the word frequencies of the corpus mixed into a topic: pyLDAvis takes logarithms


def tree_as_text(tree: TopicTree, n_words: int, by: RankBy) -> str:
    """A table of topics, the largest first, with topics below another indented.

    Many topics without a hierarchy are listed in groups. If a topic may have several parents (LDCC), the parts of each
    topic with the largest weights are shown, with the weight instead of the size.
    """
    stable = f" {'stable':>7}" if tree.stability else ""
    lines = [f"{len(tree)} topics of {len(tree.doc_topic):,} documents", f"{'id':>5} {'size':>7}{stable}  words"]
    own, tree = set(tree.ids.tolist()), grouped_to_show(tree)
    for topic, depth, figure in _lines(tree):
        if topic not in own:
            lines.append(f"{'':>5} {figure:>7}{' ' * len(stable)}  {tree.name(topic)}")
            continue
        words = in_one_line(tree.terms(topic, n_words, by))
        name = f"[{tree.names[topic]}] " if topic in tree.names else ""
        mark = f"  ({tree.marks[topic]})" if topic in tree.marks else ""
        value = f"{tree.stability[topic]:.2f}" if topic in tree.stability else ""
        stable = f" {value:>7}" if tree.stability else ""
        lines.append(f"{topic:>5} {figure:>7}{stable}  {'  ' * depth}{name}{words}{mark}")
    return "\n".join(lines)


def tree_as_html(tree: TopicTree) -> str:
    """The first hundred lines of the same table, for a notebook."""
    n_topics, own, tree = len(tree), set(tree.ids.tolist()), grouped_to_show(tree)
    lines = list(_lines(tree))
    rows = []
    for topic, depth, figure in lines[:_HTML_LINES]:
        if topic not in own:
            cells = f'<td></td><td>{figure}</td><td style="text-align:left"><b>{escape(tree.name(topic))}</b></td>'
            rows.append(f"<tr>{cells}</tr>")
            continue
        name = f"<b>{escape(tree.names[topic])}</b> " if topic in tree.names else ""
        words = escape(in_one_line(tree.terms(topic)))
        mark = f" <i>({escape(tree.marks[topic])})</i>" if topic in tree.marks else ""
        css = f"text-align:left;padding-left:{0.5 + 1.5 * depth}em"
        rows.append(f'<tr><td>{topic}</td><td>{figure}</td><td style="{css}">{name}{words}{mark}</td></tr>')
    note = f"<p>and {len(lines) - len(rows):,} more</p>" if len(lines) > len(rows) else ""
    return (
        f"<table><caption>{n_topics} topics of {len(tree.doc_topic):,} documents</caption><thead>"
        '<tr><th>id</th><th>size</th><th style="text-align:left">words</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>{note}"
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


def tree_as_json(tree: TopicTree, n_words: int) -> str:
    """The topics as JSON: id, name, description, parent, level, size, and words with P(w|z) and score."""
    topics = [
        {
            "id": int(topic),
            "name": tree.names.get(int(topic)),
            "description": tree.descriptions.get(int(topic)),
            "parent": int(tree.parent[row]) if tree.parent[row] >= 0 else None,
            "level": int(tree.level[row]),
            "size": float(tree.size[row]),
            **({} if tree.edges is None else {"parts": tree.parts(int(topic))}),
            "words": [word._asdict() for word in tree.words(int(topic), n_words)],
        }
        for row, topic in enumerate(tree.ids)
    ]
    mapping = {str(old): new for old, new in tree.mapping.items()}
    return json.dumps({"documents": len(tree.doc_topic), "topics": topics, "mapping": mapping}, ensure_ascii=False)


def hlta_json(tree: TopicTree, n_words: int, least: float) -> tuple[str, str]:
    """nodes.json and topics.json: the nested nodes, and the documents of each topic, the best first."""
    place = {}
    for level in np.unique(tree.level):
        for number, topic in enumerate(tree.ids[tree.level == level].tolist(), start=1):
            place[topic] = f"Z{level}{number}"

    def node(topic: int) -> dict[str, Any]:
        row = tree.row(topic)
        data = {"name": place[topic], "level": int(tree.level[row]), "percentage": float(tree.size[row])}
        text = in_one_line(tree.terms(topic, n_words))
        return {"id": place[topic], "text": text, "data": data, "children": list(map(node, tree.children(topic)))}

    assigned = []
    for row, topic in enumerate(tree.ids.tolist()):
        shares = tree.doc_topic[:, row]
        members = np.flatnonzero(shares >= least)
        members = members[np.argsort(-shares[members], kind="stable")]
        documents = [[tree.document_ids[int(d)], round(float(shares[d]), 2)] for d in members]
        assigned.append({"topic": place[topic], "doc": documents})
    nodes = list(map(node, tree.children()))
    return json.dumps(nodes, ensure_ascii=False), json.dumps(assigned, ensure_ascii=False)


def pyldavis_arguments(tree: TopicTree, corpus: Corpus) -> dict[str, Any]:
    """The lowest level as the arguments of `pyLDAvis.prepare`; see `TopicTree.to_pyldavis`."""
    if not tree.exclusive:
        raise InputError(
            "pyLDAvis needs topics that sum to one in each document: here a document may be in any number of topics"
        )
    if corpus.ids != tree.document_ids:
        raise InputError("the corpus has other documents than the tree: expected the same ids in the same order")
    n_words = corpus.counts.shape[1]
    if corpus.vocabulary is None and n_words != len(tree.vocabulary):
        raise InputError(f"the corpus has {n_words} words: expected the {len(tree.vocabulary)} of the tree")
    column = {word: w for w, word in enumerate(corpus.vocabulary or tree.vocabulary)}
    frequency = np.asarray(corpus.counts.sum(axis=0), dtype=np.float64)
    shared = [w for w, word in enumerate(tree.vocabulary) if word in column and frequency[column[word]] > 0]
    counts = corpus.counts[:, [column[tree.vocabulary[w]] for w in shared]]
    lengths, frequency = (np.asarray(counts.sum(axis=axis), dtype=np.float64) for axis in (1, 0))
    topics = np.flatnonzero(tree.at_lowest_level & ((lengths > 0) @ (tree.doc_topic > 0)))
    doc_topic = tree.doc_topic[:, topics].astype(np.float64)
    shown = (lengths > 0) & (doc_topic.sum(axis=1) > 0)
    if not shown.any():
        raise InputError("no document has both words and topics of the tree: pyLDAvis has nothing to show")
    topic_word = normalise_rows(tree.topic_word[topics][:, shared].astype(np.float64))
    topic_word += _ABOVE_ZERO * frequency / frequency.sum()
    return {
        "topic_term_dists": normalise_rows(topic_word),
        "doc_topic_dists": normalise_rows(doc_topic[shown]),
        "doc_lengths": lengths[shown],
        "vocab": [tree.vocabulary[w] for w in shared],
        "term_frequency": frequency,
    }
