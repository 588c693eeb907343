"""TopicTree: what every model ends in, arrays without a way back to the model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..corpus.corpus import Corpus
from .ranking import relevance, top_word_columns

__all__ = ["TopicTree", "TopicWord"]

RankBy = Literal["score", "probability"]
_SHOWN_WORDS = 10
_SHOWN_PARTS = 6
_JSON_WORDS = 30
_HTML_LINES = 100
_ABOVE_ZERO = 1e-9  # share of the corpus's own words in a topic for pyLDAvis, which takes the logarithm of each


class TopicWord(NamedTuple):
    """A word of a topic: P(w|z), and the score it is ranked by."""

    word: str
    probability: float
    score: float


@dataclass(frozen=True, repr=False, eq=False)
class TopicTree:
    """Topics with sizes, words and documents. Made by `topic_tree(model, corpus)`.

    >>> from topicfold import Corpus, PLSA
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    >>> from topicfold import topic_tree
    >>> tree = topic_tree(PLSA(2, random_state=0).fit(corpus), corpus)
    >>> sorted(word.word for word in tree.words(tree.topics_of("0")[0][0], 2))
    ['cat', 'dog']
    >>> tree.rename({0: "first"}).name(0)
    'first'
    """

    ids: np.ndarray  # of the topics; they never change
    parent: np.ndarray  # id of the topic above, -1 at the top
    level: np.ndarray  # 1 for leaves
    size: np.ndarray  # share of the documents
    topic_word: np.ndarray  # P(w|topic), topics x words
    doc_topic: np.ndarray  # membership, documents x topics
    word_frequency: np.ndarray  # tokens (or documents) of each word in the corpus
    vocabulary: tuple[str, ...]
    document_ids: tuple[str, ...]
    titles: tuple[str, ...] | None = None
    word_score: Any = None  # topics x words, what words are ranked by, sparse: of a topic's words; None: relevance
    exclusive: bool = True  # the memberships of a document in the topics of a level sum to one
    edges: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # ids above and below, weights: more than a tree
    level_names: Mapping[int, str] = field(default_factory=dict)  # what a topic of a level is called, if not a topic
    names: Mapping[int, str] = field(default_factory=dict)
    mapping: Mapping[int, int | None] = field(default_factory=dict)  # from the model's topics to these; None: dropped

    def __len__(self) -> int:
        return len(self.ids)

    # ---- looking ----------------------------------------------------------------------------------------------------

    def words(self, topic: int, n: int = _SHOWN_WORDS, by: RankBy = "score") -> list[TopicWord]:
        """The best words of a topic, ranked by its score (relevance, for most models) or by P(w|z)."""
        if n < 0 or by not in ("score", "probability"):
            raise ValueError(f"words(n={n}, by={by!r}): expected n of 0 or more, and by 'score' or 'probability'")
        row = self._row(topic)
        scores = self._scores(row)
        order = top_word_columns(self.topic_word[row] if by == "probability" else scores, n)
        return [
            TopicWord(self.vocabulary[w], float(self.topic_word[row, w]), float(scores[w]))
            for w in order
            if self.topic_word[row, w] > 0 and scores[w] > -np.inf
        ]

    def name(self, topic: int) -> str:
        """The name it was given, or its three best words."""
        return self.names.get(topic) or " ".join(word.word for word in self.words(topic, 3))

    def documents(self, topic: int, n: int = 10) -> list[tuple[str, float]]:
        """The documents most in a topic: (id, membership)."""
        column = self.doc_topic[:, self._row(topic)]
        order = np.lexsort((np.arange(len(column)), -column))[:n]
        return [(self.document_ids[d], float(column[d])) for d in order]

    def topics_of(self, document: str | int, n: int | None = None) -> list[tuple[int, float]]:
        """The topics of a document, by its id (a string) or row (a number): (topic, membership), the largest first."""
        row = int(document) if isinstance(document, int | np.integer) else self._document_rows.get(document, -1)
        if not 0 <= row < len(self.doc_topic):
            raise ValueError(f"there is no document {document!r} among {len(self.doc_topic):,}")
        shares = self.doc_topic[row]
        order = np.lexsort((self.ids, -shares))[:n]
        return [(int(self.ids[k]), float(shares[k])) for k in order]

    def children(self, topic: int = -1) -> list[int]:
        """The topics below one, the largest first; -1 asks for the top."""
        rows = np.flatnonzero(self.parent == topic)
        return [int(self.ids[row]) for row in rows[np.lexsort((self.ids[rows], -self.size[rows]))]]

    def parts(self, topic: int, n: int | None = None) -> list[tuple[int, float]]:
        """The topics below one where a topic may be below several: (topic, weight), the heaviest first."""
        self._row(topic)
        if self.edges is None:
            return [(child, 1.0) for child in self.children(topic)[:n]]
        above, below, weight = self.edges
        here = np.flatnonzero(above == topic)
        here = here[np.lexsort((below[here], -weight[here]))][:n]
        return [(int(below[e]), float(weight[e])) for e in here]

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def to_text(self, n_words: int = _SHOWN_WORDS, by: RankBy = "score") -> str:
        """A table of topics, the largest first, those below one indented under it.

        Where a topic may be below several (LDCC), the heaviest below each are shown, with their weight for the size.
        """
        n_documents = len(self.doc_topic)
        lines = [f"{len(self)} topics of {n_documents:,} documents", f"{'id':>5} {'size':>7}  words"]

        def add_line(topic: int, depth: int, figure: str) -> None:
            words = " ".join(word.word for word in self.words(topic, n_words, by))
            name = f"[{self.names[topic]}] " if topic in self.names else ""
            lines.append(f"{topic:>5} {figure}  {'  ' * depth}{name}{words}")

        def add(topic: int, depth: int) -> None:
            add_line(topic, depth, f"{self.size[self._row(topic)]:>7.1%}")
            for child in self.children(topic):
                add(child, depth + 1)

        def add_parts(topic: int) -> None:
            add_line(topic, 0, f"{self.size[self._row(topic)]:>7.1%}")
            for part, weight in self.parts(topic, _SHOWN_PARTS):
                add_line(part, 1, f"{weight:>7.2f}")

        for topic in self.children():
            add(topic, 0) if self.edges is None else add_parts(topic)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The table of `to_text` for a notebook, its first hundred lines."""
        lines = []
        waiting = [(topic, 0, f"{self.size[self._row(topic)]:.1%}") for topic in self.children()[::-1]]
        while waiting:
            topic, depth, figure = waiting.pop()
            lines.append((topic, depth, figure))
            if self.edges is None:
                below = [(child, f"{self.size[self._row(child)]:.1%}") for child in self.children(topic)]
            else:
                below = [(part, f"{weight:.2f}") for part, weight in self.parts(topic, _SHOWN_PARTS) if depth == 0]
            waiting += [(child, depth + 1, figure) for child, figure in below[::-1]]
        rows = []
        for topic, depth, figure in lines[:_HTML_LINES]:
            name = f"<b>{escape(self.names[topic])}</b> " if topic in self.names else ""
            words = escape(" ".join(word.word for word in self.words(topic)))
            look = f"text-align:left;padding-left:{0.5 + 1.5 * depth}em"
            rows.append(f'<tr><td>{topic}</td><td>{figure}</td><td style="{look}">{name}{words}</td></tr>')
        more = f"<p>and {len(lines) - len(rows):,} more</p>" if len(lines) > len(rows) else ""
        return (
            f"<table><caption>{len(self)} topics of {len(self.doc_topic):,} documents</caption><thead>"
            '<tr><th>id</th><th>size</th><th style="text-align:left">words</th></tr></thead>'
            f"<tbody>{''.join(rows)}</tbody></table>{more}"
        )

    def to_json(self, n_words: int = _JSON_WORDS) -> str:
        """The topics as JSON: id, name, parent, level, size, and words with P(w|z) and score."""
        topics = [
            {
                "id": int(topic),
                "name": self.names.get(int(topic)),
                "parent": int(self.parent[row]) if self.parent[row] >= 0 else None,
                "level": int(self.level[row]),
                "size": float(self.size[row]),
                **({} if self.edges is None else {"parts": self.parts(int(topic))}),
                "words": [word._asdict() for word in self.words(int(topic), n_words)],
            }
            for row, topic in enumerate(self.ids)
        ]
        mapping = {str(old): new for old, new in self.mapping.items()}
        return json.dumps({"documents": len(self.doc_topic), "topics": topics, "mapping": mapping}, ensure_ascii=False)

    def to_hlta_json(self, n_words: int = 7, least: float = 0.5) -> tuple[str, str]:
        """The tree in the form of the authors' HLTA, for what reads their nodes.json and topics.json.

        The first is a list of nodes in each other: id, words as text, level, size, children. The second has for each
        topic its documents with a membership of at least `least`, best first.
        """
        place = {}
        for level in np.unique(self.level):
            for number, topic in enumerate(self.ids[self.level == level].tolist(), start=1):
                place[topic] = f"Z{level}{number}"

        def node(topic: int) -> dict[str, Any]:
            row = self._row(topic)
            data = {"name": place[topic], "level": int(self.level[row]), "percentage": float(self.size[row])}
            text = " ".join(word.word for word in self.words(topic, n_words))
            return {"id": place[topic], "text": text, "data": data, "children": list(map(node, self.children(topic)))}

        assigned = []
        for row, topic in enumerate(self.ids.tolist()):
            shares = self.doc_topic[:, row]
            members = np.flatnonzero(shares >= least)
            members = members[np.argsort(-shares[members], kind="stable")]
            found = [[self.document_ids[d], round(float(shares[d]), 2)] for d in members]
            assigned.append({"topic": place[topic], "doc": found})
        nodes = list(map(node, self.children()))
        return json.dumps(nodes, ensure_ascii=False), json.dumps(assigned, ensure_ascii=False)

    def to_pyldavis(self, corpus: Corpus) -> dict[str, Any]:
        """The lowest level as the arguments of `pyLDAvis.prepare`: `prepare(**tree.to_pyldavis(corpus))`.

        `corpus` holds the tree's documents. What pyLDAvis cannot show is left out: words and documents without tokens,
        topics without documents. It numbers topics by size, from 1; with `sort_topics=False` in the order of `ids`.
        """
        if not self.exclusive:
            raise ValueError(
                "pyLDAvis shows mixtures, where a document's topics sum to one: here it may be in any number of topics"
            )
        if corpus.ids != self.document_ids:
            raise ValueError("the corpus has other documents than the tree: expected the same ids in the same order")
        n_words = corpus.counts.shape[1]
        if corpus.vocabulary is None and n_words != len(self.vocabulary):
            raise ValueError(f"the corpus has {n_words} words: expected the {len(self.vocabulary)} of the tree")
        column = {word: w for w, word in enumerate(corpus.vocabulary or self.vocabulary)}
        frequency = np.asarray(corpus.counts.sum(axis=0), dtype=np.float64)
        known = [w for w, word in enumerate(self.vocabulary) if word in column and frequency[column[word]] > 0]
        counts = corpus.counts[:, [column[self.vocabulary[w]] for w in known]]
        lengths, frequency = (np.asarray(counts.sum(axis=axis), dtype=np.float64) for axis in (1, 0))
        lowest = self.level == min(self.level.tolist(), default=0)
        topics = np.flatnonzero(lowest & ((lengths > 0) @ (self.doc_topic > 0)))
        doc_topic = self.doc_topic[:, topics].astype(np.float64)
        shown = (lengths > 0) & (doc_topic.sum(axis=1) > 0)
        if not shown.any():
            raise ValueError("no document has both words and topics of the tree: there is nothing to show")
        topic_word = self.topic_word[topics][:, known].astype(np.float64)
        topic_word = topic_word / np.maximum(topic_word.sum(axis=1, keepdims=True), 1e-300)
        topic_word += _ABOVE_ZERO * frequency / frequency.sum()
        return {
            "topic_term_dists": topic_word / topic_word.sum(axis=1, keepdims=True),
            "doc_topic_dists": doc_topic[shown] / doc_topic[shown].sum(axis=1, keepdims=True),
            "doc_lengths": lengths[shown],
            "vocab": [self.vocabulary[w] for w in known],
            "term_frequency": frequency,
        }

    def to_frame(self, n_words: int = _SHOWN_WORDS) -> Any:
        """The topics as a pandas data frame, one row each."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install 'topicfold[frame]'") from None
        columns = {
            "topic": self.ids,
            "name": [self.name(int(topic)) for topic in self.ids],
            "parent": self.parent,
            "level": self.level,
            "size": self.size,
            "words": [" ".join(word.word for word in self.words(int(topic), n_words)) for topic in self.ids],
        }
        return pd.DataFrame(columns).set_index("topic")

    # ---- changing: each returns a new tree --------------------------------------------------------------------------

    def rename(self, names: Mapping[int, str]) -> TopicTree:
        """Give topics names; an empty name takes one away."""
        for topic in names:
            self._row(topic)
        merged = {**self.names, **{int(topic): str(name or "") for topic, name in names.items()}}
        return replace(self, names={topic: name for topic, name in merged.items() if name})

    def merge(self, topics: Sequence[int], name: str | None = None) -> TopicTree:
        """Make several topics of one level one. It keeps the id of the first; the others' ids lead to it."""
        rows = [self._row(topic) for topic in dict.fromkeys(topics)]
        if len(rows) < 2:
            raise ValueError(f"merge({list(topics)}): expected at least two different topics")
        if len({int(self.level[row]) for row in rows}) > 1:
            raise ValueError(f"merge({list(topics)}): the topics are on different levels of the tree")
        first, keep_id = rows[0], int(self.ids[rows[0]])
        gone = [int(self.ids[row]) for row in rows[1:]]
        weight = (
            self.size[rows] / self.size[rows].sum() if self.size[rows].sum() > 0 else np.full(len(rows), 1 / len(rows))
        )
        topic_word, doc_topic, size = self.topic_word.copy(), self.doc_topic.copy(), self.size.copy()
        topic_word[first] = weight @ self.topic_word[rows]
        both = self.doc_topic[:, rows]
        doc_topic[:, first] = both.sum(axis=1) if self.exclusive else both.max(axis=1)
        size[first] = size[rows].sum() if self.exclusive else doc_topic[:, first].mean()
        word_score = self.word_score
        if word_score is not None:
            word_score = sp.lil_array(word_score) if sp.issparse(word_score) else word_score.copy()
            word_score[[first]] = np.max(_dense(self.word_score, rows), axis=0, keepdims=True)
            word_score = sp.csr_array(word_score) if sp.issparse(word_score) else word_score
        parent = np.where(np.isin(self.parent, gone), keep_id, self.parent)
        names = {**self.names, keep_id: name} if name else dict(self.names)
        edges = self.edges
        if edges is not None:  # shares of a topic that has become part of another count for as much as it does
            factor = dict(zip(self.ids[rows].tolist(), weight))
            edges = (*edges[:2], edges[2] * [factor.get(topic, 1.0) for topic in edges[0].tolist()])
        changed = replace(
            self,
            edges=edges,
            topic_word=topic_word,
            doc_topic=doc_topic,
            size=size,
            word_score=word_score,
            parent=parent,
            names=names,
        )
        return changed._without(gone, keep_id)

    def drop(self, topics: Sequence[int]) -> TopicTree:
        """Take topics out; those below go up one, or to the heaviest other they are part of. Memberships stay."""
        tree = self
        for topic in dict.fromkeys(topics):
            parent, above = tree.parent.copy(), int(tree.parent[tree._row(topic)])
            for row in np.flatnonzero(tree.parent == topic):
                parent[row] = tree._heaviest_above(int(tree.ids[row]), besides=topic, otherwise=above)
            tree = replace(tree, parent=parent)._without([topic], None)
        return tree

    def _heaviest_above(self, topic: int, besides: int, otherwise: int) -> int:
        if self.edges is None:
            return otherwise
        above, below, weight = self.edges
        others = np.flatnonzero((below == topic) & (above != besides))
        return int(above[others[weight[others].argmax()]]) if len(others) else otherwise

    def at_levels(self, levels: Sequence[int]) -> TopicTree:
        """The topics of some levels alone, 1 being the lowest; each hangs from the nearest of them above it."""
        unknown = sorted(set(levels) - set(self.level.tolist()))
        if unknown or not len(levels):
            there = ", ".join(map(str, np.unique(self.level)))
            raise ValueError(f"levels={list(levels)}: the tree has levels {there}")
        row = {int(topic): k for k, topic in enumerate(self.ids)}
        keep = np.isin(self.level, list(levels))
        parent = self.parent.copy()
        for k in np.flatnonzero(keep):
            while parent[k] >= 0 and not keep[row[int(parent[k])]]:
                parent[k] = self.parent[row[int(parent[k])]]
        return replace(self, parent=parent)._without(self.ids[~keep].tolist(), None)

    def without_repeated_words(self, shown: int = _SHOWN_WORDS, least: int = 2) -> TopicTree:
        """Take from a topic the words that the one above it shows, where at least so many are left."""
        if self.word_score is None or not sp.issparse(self.word_score):
            return self
        tree, column = self, {word: w for w, word in enumerate(self.vocabulary)}
        for level in np.unique(self.level)[-2::-1]:  # from above: what a topic shows depends on what it lost itself
            scores = sp.csr_array(tree.word_score, copy=True)
            for row in np.flatnonzero((self.level == level) & (self.parent >= 0)):
                repeated = [column[word.word] for word in tree.words(int(self.parent[row]), shown)]
                own = slice(scores.indptr[row], scores.indptr[row + 1])
                gone = np.isin(scores.indices[own], repeated)
                if (~gone).sum() >= least:
                    scores.data[own][gone] = 0
            scores.eliminate_zeros()
            tree = replace(tree, word_score=scores)
        return tree

    def _without(self, gone: Sequence[int], becomes: int | None) -> TopicTree:
        keep, dropped = ~np.isin(self.ids, gone), set(gone)
        mapping = {old: becomes if new in dropped else new for old, new in self.mapping.items()}
        return replace(
            self,
            ids=self.ids[keep],
            parent=self.parent[keep],
            level=self.level[keep],
            size=self.size[keep],
            topic_word=self.topic_word[keep],
            doc_topic=self.doc_topic[:, keep],
            word_score=None if self.word_score is None else self.word_score[np.flatnonzero(keep)],
            names={topic: name for topic, name in self.names.items() if topic not in dropped},
            edges=self._edges_without(gone, becomes),
            mapping=mapping,
        )

    def _edges_without(self, gone: Sequence[int], becomes: int | None) -> Any:
        """The edges after topics are dropped, or have become another, which then has the sum of theirs."""
        if self.edges is None:
            return None
        above, below, weight = self.edges
        if becomes is None:
            keep = ~np.isin(above, gone) & ~np.isin(below, gone)
            return above[keep], below[keep], weight[keep]
        pairs = np.stack([np.where(np.isin(ends, gone), becomes, ends) for ends in (above, below)])
        pairs, place = np.unique(pairs, axis=1, return_inverse=True)
        return pairs[0], pairs[1], np.bincount(place.ravel(), weight)

    def _row(self, topic: int) -> int:
        rows = np.flatnonzero(self.ids == topic)
        if len(rows) == 0:
            became = self.mapping.get(topic, "unknown")
            hint = "" if became == "unknown" else " (it was dropped)" if became is None else f" (merged into {became})"
            raise ValueError(f"there is no topic {topic}{hint}; the topics are {_listed(self.ids)}")
        return int(rows[0])

    @cached_property
    def _document_rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.document_ids)}

    def _scores(self, row: int) -> np.ndarray:
        if self.word_score is None:
            return relevance(self.topic_word[[row]], self.word_frequency)[0]
        scores = _dense(self.word_score, [row])[0]
        return np.where(scores == 0, -np.inf, scores) if sp.issparse(self.word_score) else scores


def _dense(matrix: Any, rows: Sequence[int]) -> np.ndarray:
    picked = matrix[list(rows)]
    return picked.toarray() if sp.issparse(picked) else np.asarray(picked)


def _listed(ids: np.ndarray) -> str:
    shown = ", ".join(map(str, ids[:12]))
    return shown if len(ids) <= 12 else f"{shown}, ... {ids[-1]}"
