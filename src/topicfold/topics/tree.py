"""TopicTree: what every model ends in, arrays without a way back to the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..corpus.corpus import Corpus
from .changes import at_levels, dropped, memberships_in, merged, without_repeated_words
from .display import tree_as_html, tree_as_text
from .edits import Edit, apply_edits, read_edits
from .export import hlta_json, pyldavis_arguments, tree_as_json
from .fit_summary import FitSummary
from .given_names import Namer, named
from .likeness import reduced, topic_linkage, with_groups
from .naming import default_names
from .ranking import RankBy, keyness, largest, relevance, top_word_columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TopicTree", "TopicWord"]

_SHOWN_WORDS = 10
_JSON_WORDS = 30
_RARE = 0.5  # of its probability in the corpus: a word below that is none of the topic's


class TopicWord(NamedTuple):
    """A word of a topic: P(w|z), and the score it is ranked by."""

    word: str
    probability: float
    score: float


@dataclass(frozen=True, repr=False, eq=False)
class TopicTree:
    """Topics with sizes, words and documents; made by `model.topic_tree(corpus)`.

    Attributes
    ----------
    ids : ndarray of shape (n_topics,)
        Ids of the topics, which no change of the tree changes.
    parent : ndarray of shape (n_topics,)
        Id of the topic above, -1 at the top.
    level : ndarray of shape (n_topics,)
        1 at the lowest level.
    size : ndarray of shape (n_topics,)
        Mean membership of the documents.
    topic_word : ndarray of shape (n_topics, n_words)
        P(w|z).
    doc_topic : ndarray of shape (n_documents, n_topics)
        Membership of the documents.
    word_frequency : ndarray of shape (n_words,)
        Tokens (for HLTA, documents) of each word in training.
    vocabulary : tuple of str
    document_ids : sequence of str
    titles : tuple of str, or None
        Titles of the documents.
    word_score : array of shape (n_topics, n_words), or None
        What words are ranked by; sparse: of a topic's own words. None: keyness, or where it is not known in how many
        documents words are, relevance.
    word_presence : ndarray of shape (n_topics, n_words), or None
        Share of each topic's documents that have each word.
    corpus_presence : ndarray of shape (n_words,), or None
        Share of all documents that have each word.
    exclusive : bool
        Whether the memberships of a document in the topics of one level sum to one.
    segment_topic : ndarray of shape (n_segments, n_topics), or None
        Membership of the segments of the corpus.
    graph : sparse array of shape (n_documents, n_documents), or None
        Graph of the documents that the model was fitted on.
    edges : tuple of three arrays, or None
        Ids above, ids below and weights, where a topic may be below several.
    level_names : mapping of int to str
        What a topic of a level is called, where it is not just 'topic'.
    names : mapping of int to str
        Names that topics were given.
    descriptions : mapping of int to str
        What topics are about, where somebody or something has said it.
    marks : mapping of int to str
        Why a topic may be junk, for the few that have a sign of it.
    mapping : mapping of int to int or None
        From the topics of the model to those of the tree; None: dropped.
    summary : FitSummary or None
        How the fit of the model went.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    >>> tree = PLSA(2, random_state=0).fit(corpus).topic_tree(corpus)
    >>> sorted(word.word for word in tree.words(tree.topics_of("0")[0][0], 2))
    ['cat', 'dog']
    >>> tree.rename({0: "first"}).name(0)
    'first'
    """

    ids: np.ndarray
    parent: np.ndarray
    level: np.ndarray
    size: np.ndarray
    topic_word: np.ndarray
    doc_topic: np.ndarray
    word_frequency: np.ndarray
    vocabulary: tuple[str, ...]
    document_ids: Sequence[str]
    titles: Sequence[str] | None = None
    word_score: Any = None
    word_presence: np.ndarray | None = None
    corpus_presence: np.ndarray | None = None
    exclusive: bool = True
    segment_topic: np.ndarray | None = None
    graph: sp.csr_array | None = None
    edges: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    level_names: Mapping[int, str] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    descriptions: Mapping[int, str] = field(default_factory=dict)
    marks: Mapping[int, str] = field(default_factory=dict)
    mapping: Mapping[int, int | None] = field(default_factory=dict)
    summary: FitSummary | None = None

    def __len__(self) -> int:
        return len(self.ids)

    # ---- looking ----------------------------------------------------------------------------------------------------

    def words(self, topic: int, n: int = _SHOWN_WORDS, by: RankBy = "score") -> list[TopicWord]:
        """The best words of a topic, ranked by its score (keyness, for most models) or by P(w|z)."""
        if n < 0 or by not in ("score", "probability"):
            raise ValueError(f"words(n={n}, by={by!r}): expected n of 0 or more, and by 'score' or 'probability'")
        row = self.row(topic)
        scores = self.word_scores(row)
        order = top_word_columns(self.topic_word[row] if by == "probability" else scores, n)
        # by P(w|z) also a word that is less likely in the topic than elsewhere, but none that is not the topic's own
        usable = self.word_frequency > 0 if by == "probability" and self.word_score is None else scores > -np.inf
        return [
            TopicWord(self.vocabulary[w], float(self.topic_word[row, w]), float(scores[w]))
            for w in order
            if self.topic_word[row, w] > 0 and usable[w]
        ]

    def row(self, topic: int) -> int:
        """The row of a topic in the arrays, by its id."""
        rows = np.flatnonzero(self.ids == topic)
        if len(rows) == 0:
            became = self.mapping.get(topic, "unknown")
            hint = "" if became == "unknown" else " (it was dropped)" if became is None else f" (merged into {became})"
            raise ValueError(f"there is no topic {topic}{hint}; the topics are {_listed(self.ids)}")
        return int(rows[0])

    @property
    def at_lowest_level(self) -> np.ndarray:
        """Which topics are at the lowest level, as a mask."""
        return self.level == min(self.level.tolist(), default=0)

    def size_of(self, topic: int) -> float:
        """The mean membership of the documents in a topic."""
        return float(self.size[self.row(topic)])

    def title(self, document: int) -> str:
        """What a document is called, by its row: its title, or where it has none, its id."""
        return (self.titles[document] if self.titles else "") or self.document_ids[document]

    @property
    def score_name(self) -> str:
        """What the score that words are ranked by is called."""
        if self.word_score is not None:
            return "discerning index"
        return "relevance" if self.word_presence is None else "keyness"

    def word_scores(self, row: int) -> np.ndarray:
        """The score of every word in the topic of a row; -inf where it is no word of the topic."""
        if self.word_score is None:
            if self.word_presence is None or self.corpus_presence is None:
                scores = relevance(self.topic_word[[row]], self.word_frequency)[0]
            else:
                scores = keyness(self.word_presence[row], self.corpus_presence)
            overall = self.word_frequency / max(self.word_frequency.sum(), 1)
            # what smoothing alone put into a topic says nothing about it
            return np.where(self.topic_word[row] < _RARE * overall, -np.inf, scores)
        picked = self.word_score[[row]]
        scores = picked.toarray()[0] if sp.issparse(picked) else np.asarray(picked)[0]
        return np.where(scores == 0, -np.inf, scores) if sp.issparse(picked) else scores

    def name(self, topic: int) -> str:
        """The name it was given, or its three best words, one of each stem; more where another has the same three."""
        self.row(topic)
        return self.names.get(topic) or " ".join(self._default_names[int(topic)])

    def documents(self, topic: int, n: int = 10) -> list[tuple[str, float]]:
        """The documents most in a topic: (id, membership)."""
        column = self.doc_topic[:, self.row(topic)]
        return [(self.document_ids[d], float(column[d])) for d in largest(column, n)]

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
        self.row(topic)
        if self.edges is None:
            return [(child, 1.0) for child in self.children(topic)[:n]]
        above, below, weight = self.edges
        here = np.flatnonzero(above == topic)
        here = here[np.lexsort((below[here], -weight[here]))][:n]
        return [(int(below[e]), float(weight[e])) for e in here]

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return tree_as_html(self)

    def to_text(self, n_words: int = _SHOWN_WORDS, by: RankBy = "score") -> str:
        """A table of topics, the largest first, those below one indented under it.

        Where a topic may be below several (LDCC), the heaviest below each are shown, with their weight for the size.
        """
        return tree_as_text(self, n_words, by)

    # ---- tables: pandas data frames ---------------------------------------------------------------------------------

    def topic_table(self, n_words: int = _SHOWN_WORDS, n_documents: int = 3) -> pd.DataFrame:
        """One row per topic: name, parent, level, size, number of documents, words and best documents.

        Where topics have descriptions, these too. The number of documents is that of those in which the topic is the
        largest of its level, or for memberships that are no mixture (HLTA), above one half.
        """
        from .tables import topic_table

        return topic_table(self, n_words, n_documents)

    def document_table(self, corpus: Corpus | None = None, n_topics: int = 3) -> pd.DataFrame:
        """One row per document: title, its largest topic by id and name, its probability, and the next ones.

        With the corpus of the tree's documents also their labels, dates and metadata.
        """
        from .tables import document_table

        return document_table(self, corpus, n_topics)

    def group_table(self, corpus: Corpus, by: str = "labels") -> pd.DataFrame:
        """The share of each topic in the documents of each label, or of each value of a metadata column."""
        from .tables import group_table

        return group_table(self, corpus, by)

    def time_table(self, corpus: Corpus, by: str | None = None) -> pd.DataFrame:
        """The share of each topic in each 'year', 'month', 'week' or 'day'; None chooses a readable period."""
        from .tables import time_table

        return time_table(self, corpus, by)

    # ---- other programs and files -----------------------------------------------------------------------------------

    def to_json(self, n_words: int = _JSON_WORDS) -> str:
        """The topics as JSON: id, name, description, parent, level, size, and words with P(w|z) and score."""
        return tree_as_json(self, n_words)

    def to_hlta_json(self, n_words: int = 7, least: float = 0.5) -> tuple[str, str]:
        """nodes.json and topics.json, in the form of the HLTA of its authors.

        The first is a list of nested nodes: id, words as text, level, size, children. The second has for each topic
        its documents with a membership of at least `least`, best first.
        """
        return hlta_json(self, n_words, least)

    def to_pyldavis(self, corpus: Corpus) -> dict[str, Any]:
        """The lowest level as the arguments of `pyLDAvis.prepare`: `prepare(**tree.to_pyldavis(corpus))`.

        `corpus` holds the tree's documents. What pyLDAvis cannot show is left out: words and documents without tokens,
        topics without documents. It numbers topics by size, from 1; with `sort_topics=False` in the order of `ids`.
        """
        return pyldavis_arguments(self, corpus)

    def save(self, path: str | Path) -> None:
        """Write the tree with all its changes to one .safetensors file; `TopicTree.load` reads it."""
        from .tree_file import save_tree

        save_tree(self, path)

    @staticmethod
    def load(path: str | Path) -> TopicTree:
        """Read a tree that `save` wrote."""
        from .tree_file import load_tree

        return load_tree(path)

    # ---- changing: each returns a new tree --------------------------------------------------------------------------

    def rename(self, names: Mapping[int, str]) -> TopicTree:
        """Give topics names; an empty name takes one away."""
        for topic in names:
            self.row(topic)
        given = {**self.names, **{int(topic): str(name or "") for topic, name in names.items()}}
        return replace(self, names={topic: name for topic, name in given.items() if name})

    def named(
        self,
        by: Namer,
        *,
        corpus: Corpus | None = None,
        topics: Sequence[int] | None = None,
        n_words: int = _SHOWN_WORDS,
        n_documents: int = 3,
    ) -> TopicTree:
        """Let a function name topics; it gets a `TopicToName` and returns a name, or a name and a description.

        Parameters
        ----------
        by : callable
            Called once per topic, those of higher levels first. What it returns is cut to one line, and the id is put
            behind a name that another topic of the level has. With an empty answer, or None, the topic stays as it is.
        corpus : Corpus, optional
            The tree's documents; with its texts the function sees how the best documents begin.
        topics : sequence of int, optional
            Topics to name; None names all.
        n_words, n_documents : int, default=10, 3
            How many words and documents of a topic the function sees.

        Examples
        --------
        >>> from topicfold import Corpus, PLSA
        >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
        >>> tree = PLSA(2, random_state=0).fit(corpus).topic_tree(corpus)
        >>> tree.named(lambda topic: f"about the {topic.words[0]}").name(0)
        'about the cat'
        """
        return named(self, by, corpus, topics, n_words, n_documents)

    def merge(self, topics: Sequence[int], name: str | None = None) -> TopicTree:
        """Make several topics of one level one. It keeps the id of the first; the others' ids lead to it."""
        rows = [self.row(topic) for topic in dict.fromkeys(topics)]
        if len(rows) < 2:
            raise ValueError(f"merge({list(topics)}): expected at least two different topics")
        if len({int(self.level[row]) for row in rows}) > 1:
            raise ValueError(f"merge({list(topics)}): the topics are on different levels of the tree")
        tree = merged(self, [rows])
        return tree.rename({int(self.ids[rows[0]]): name}) if name else tree

    def drop(self, topics: Sequence[int]) -> TopicTree:
        """Take topics out; those below go up one, or to the heaviest other they are part of. Memberships stay."""
        return dropped(self, topics)

    def reduce(self, n_topics: int) -> TopicTree:
        """Merge the most similar topics of a flat tree until `n_topics` are left, by average linkage.

        Topics are similar that have similar words and the same documents. The largest of those merged gives the id.
        """
        return reduced(self, n_topics)

    def grouped(self, n_groups: Sequence[int] | None = None) -> TopicTree:
        """Put levels of groups of similar topics above a flat tree, by average linkage.

        `n_groups` are the numbers of groups of the levels, such as [12, 4]; None takes a third of the level below for
        each, as long as two groups are left.
        """
        return with_groups(self, n_groups)

    def apply(self, edits: str | Path | Sequence[Edit]) -> TopicTree:
        """Rename, merge, drop and group topics as a reader of the explorer did.

        `edits` is the file that the page downloaded, or a list such as
        `[{"merge": [3, 7]}, {"rename": 3, "name": "space"}, {"drop": [5]}, {"group": [3, 8], "name": "science"}]`.
        """
        return apply_edits(self, read_edits(edits) if isinstance(edits, str | Path) else edits)

    def linkage(self) -> np.ndarray:
        """Which topics of a flat tree are merged at which distance, as scipy's `linkage` says it (for a dendrogram)."""
        return topic_linkage(self)

    def at_levels(self, levels: Sequence[int]) -> TopicTree:
        """The topics of some levels alone, 1 being the lowest; each hangs from the nearest of them above it."""
        return at_levels(self, levels)

    def without_repeated_words(self, shown: int = _SHOWN_WORDS, least: int = 2) -> TopicTree:
        """Take from a topic the words that the one above it shows, where at least so many are left."""
        return without_repeated_words(self, shown, least)

    def of_segments(self) -> TopicTree:
        """The tree of the segments of the corpus in the place of its documents; they have no ids but their number."""
        if self.segment_topic is None:
            raise ValueError("the tree has no segments: make it of a corpus with segments, by LDCC")
        segments = self.segment_topic
        ids = tuple(map(str, range(len(segments))))
        return replace(self, doc_topic=segments, document_ids=ids, titles=None, segment_topic=None, graph=None)

    def memberships_of(self, fresh: TopicTree) -> np.ndarray:
        """Memberships in this tree's topics of the documents of another tree that the same model gave.

        For documents that come later, when topics have been merged, dropped or grouped:
        `tree.memberships_of(model.topic_tree(new_corpus))`, with one column per topic of this tree.
        """
        return memberships_in(self, fresh)

    def with_documents_of(self, fresh: TopicTree) -> TopicTree:
        """This tree with the documents of another tree that the same model gave, assigned to its topics."""
        doc_topic = memberships_in(self, fresh)
        segments = None if fresh.segment_topic is None else memberships_in(self, fresh.of_segments())
        return replace(
            self,
            doc_topic=doc_topic,
            size=doc_topic.mean(axis=0, dtype=np.float64),
            document_ids=fresh.document_ids,
            titles=fresh.titles,
            segment_topic=segments,
            graph=fresh.graph,
        )

    @cached_property
    def _default_names(self) -> dict[int, tuple[str, ...]]:
        return default_names(self)

    @cached_property
    def _document_rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.document_ids)}


def _listed(ids: np.ndarray) -> str:
    shown = ", ".join(map(str, ids[:12]))
    return shown if len(ids) <= 12 else f"{shown}, ... {ids[-1]}"
