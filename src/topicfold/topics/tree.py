"""TopicTree: the topics of any model as plain arrays, independent of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..corpus.corpus import Corpus, check_corpus
from ..errors import InputError
from .changes import (
    drop_repeated_words,
    drop_topics,
    group_topics,
    memberships_in,
    merge_rows,
    reduce_topics,
    select_levels,
)
from .copied import first_copies
from .edits import Edit, apply_edits, read_edits
from .export import hlta_json, pyldavis_arguments, tree_as_html, tree_as_json, tree_as_text
from .fit_summary import FitSummary
from .names import Namer, name_topics
from .ranking import RankBy, keyness, relevance, top_word_columns
from .similarity import topic_linkage
from .terms import default_names, terms
from .typical import typical_documents
from .wording import Wording
from .wordless import mean_membership

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TopicTree", "TopicWord"]

_SHOWN_WORDS = 10
_JSON_WORDS = 30
_RARE = 0.5  # a word belongs to a topic if it has at least this share of its probability in the corpus


class TopicWord(NamedTuple):
    """A word of a topic.

    Attributes
    ----------
    word : str
        The word.
    probability : float
        P(w|z), its probability in the topic.
    score : float
        The score by which it is ranked.

    See Also
    --------
    TopicTree.words : Returns the words of a topic.

    Examples
    --------
    >>> from topicfold import PLSA
    >>> tree = PLSA(1, random_state=0).fit(["cat dog cat", "cat cow cat"]).topic_tree()
    >>> tree.words(0, 1)[0].word
    'cat'
    """

    word: str
    probability: float
    score: float


@dataclass(frozen=True, repr=False, eq=False)
class TopicTree:
    """Topics with their sizes, words and documents; made by `model.topic_tree(corpus)`.

    A tree holds plain arrays and does not refer to the model. It cannot be changed: methods such as `rename`, `merge`
    and `group` return a new tree. A flat model gives a tree of one level.

    Attributes
    ----------
    ids : ndarray of int of shape (n_topics,)
        Ids of the topics. A topic keeps its id when the tree is changed.
    parent : ndarray of int of shape (n_topics,)
        Id of the parent topic; -1 at the top.
    level : ndarray of int of shape (n_topics,)
        Level of each topic; 1 is the lowest.
    size : ndarray of shape (n_topics,)
        Mean membership of the documents in each topic.
    topic_word : ndarray of shape (n_topics, n_words)
        P(w|z), the probability of each word in each topic.
    doc_topic : ndarray of shape (n_documents, n_topics)
        Membership of each document in each topic.
    word_frequency : ndarray of shape (n_words,)
        Number of tokens of each word in the training documents; for HLTA, number of documents with it.
    vocabulary : tuple of str
        The words of the columns.
    document_ids : sequence of str
        Ids of the documents.
    titles : sequence of str or None
        Titles of the documents.
    word_score : array or sparse array of shape (n_topics, n_words), or None
        Scores by which words are ranked; a sparse array has only the words of each topic. None ranks by keyness, or by
        relevance if `word_presence` is None.
    word_presence : ndarray of shape (n_topics, n_words), or None
        Share of the documents of each topic that contain each word.
    corpus_presence : ndarray of shape (n_words,), or None
        Share of all documents that contain each word.
    wording : Wording or None
        Which words are forms of one word, how the texts write them, and their phrases.
    exclusive : bool
        Whether the memberships of a document in the topics of one level sum to one.
    wordless : ndarray of int of shape (n_wordless,)
        Rows of the documents without a known word. Nothing says which topics they have, so models give them the
        memberships of the corpus as a whole; sizes, tables and the explorer leave them out. None for HLTA, which learns
        from absent words too.
    typicality : ndarray of shape (n_documents,), or None
        How near the words of each document are to the centres of its topics, from 0 to 1: the mean of the cosines of
        its tf-idf to the means of the topics' documents, weighted by its memberships, and reduced for documents that
        are shorter than the median. The documents that are listed for a topic have the highest product of membership
        and typicality; None (as for HLTA) lists them by membership alone.
    segment_topic : ndarray of shape (n_segments, n_topics), or None
        Membership of the segments of the corpus in each topic.
    graph : sparse array of shape (n_documents, n_documents), or None
        Graph of the documents that the model was fitted on.
    edges : tuple of three ndarray, or None
        Ids of parents, ids of children and weights, if a topic may have several parents (LDCC).
    level_names : mapping of int to str
        What a topic of each level is called, if not 'topic'.
    names : mapping of int to str
        Names that were given to topics.
    descriptions : mapping of int to str
        Descriptions that were given to topics.
    marks : mapping of int to str
        Marks of topics that may not be about a subject, with the reason.
    stability : mapping of int to float
        How well topics are found again on half of the documents, from 0 to 1: the mean share of documents in common
        with the most similar topic of each refit. Empty unless the model knows; see `TopicModel.measure_stability`.
    returns : mapping of int to float
        Share of these refits in which topics come back.
    mapping : mapping of int to int or None
        For each topic of the model, the topic of the tree that it is now part of; None if it was dropped.
    summary : FitSummary or None
        Summary of the fit of the model.

    See Also
    --------
    TopicModel.topic_tree : Makes a tree from a fitted model.
    build_report : An interactive page of the topics.
    topicfold.plots.hierarchy : The tree as a figure.

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
    wording: Wording | None = None
    exclusive: bool = True
    wordless: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    typicality: np.ndarray | None = None
    segment_topic: np.ndarray | None = None
    graph: sp.csr_array | None = None
    edges: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    level_names: Mapping[int, str] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    descriptions: Mapping[int, str] = field(default_factory=dict)
    marks: Mapping[int, str] = field(default_factory=dict)
    stability: Mapping[int, float] = field(default_factory=dict)
    returns: Mapping[int, float] = field(default_factory=dict)
    mapping: Mapping[int, int | None] = field(default_factory=dict)
    summary: FitSummary | None = None

    def __len__(self) -> int:
        return len(self.ids)

    # ---- reading ----------------------------------------------------------------------------------------------------

    def words(self, topic: int, n: int = _SHOWN_WORDS, by: RankBy = "score") -> list[TopicWord]:
        """Return the best words of a topic.

        Forms of one word, such as "award" and "awards", are one entry: the form that is ranked highest, with its own
        probability and score. Forms are known if the language of the texts is.

        Parameters
        ----------
        topic : int
            Id of the topic.
        n : int, default=10
            Maximum number of words.
        by : {'score', 'probability'}, default='score'
            What words are ranked by: the score of the tree (keyness for most models), or P(w|z).

        Returns
        -------
        list of TopicWord
            Tuples of word, probability and score, the best first.

        Raises
        ------
        InputError
            If there is no such topic, or `n` or `by` is not valid.
        """
        if n < 0 or by not in ("score", "probability"):
            raise InputError(f"words(n={n}, by={by!r}): expected n of 0 or more, and by 'score' or 'probability'")
        row = self.row(topic)
        scores = self.word_scores(row)
        ranked = self.topic_word[row] if by == "probability" else scores
        # ranked by P(w|z), words that are less likely in the topic than elsewhere count too, unless the tree has scores
        usable = self.word_frequency > 0 if by == "probability" and self.word_score is None else scores > -np.inf
        forms = {} if self.wording is None else self.wording.forms
        wanted = 2 * n if forms else n
        while True:
            order = top_word_columns(ranked, wanted)
            shown: dict[int, int] = {}  # by the first form
            for w in order.tolist():
                if self.topic_word[row, w] > 0 and usable[w]:
                    shown.setdefault(forms.get(w, w), w)
            if len(shown) >= n or wanted >= len(ranked):
                break
            wanted *= 2
        return [
            TopicWord(self.vocabulary[w], float(self.topic_word[row, w]), float(scores[w]))
            for w in list(shown.values())[:n]
        ]

    def terms(self, topic: int, n: int = _SHOWN_WORDS, by: RankBy = "score") -> list[str]:
        """Return the best words of a topic to be read: words that form a phrase in its documents are one term.

        "prime" and "minister" become "prime minister", at the place of the better one of the two, if at least half of
        the documents with the rarer word have the phrase, and a quarter of those with the other. No two terms have a
        word in common. Tables, figures and the explorer show terms; measures such as coherence are of `words`.

        Parameters
        ----------
        topic : int
            Id of the topic.
        n : int, default=10
            Maximum number of terms.
        by : {'score', 'probability'}, default='score'
            What words are ranked by; see `words`.

        Returns
        -------
        list of str
            The terms, the best first.
        """
        return terms(self, topic, n, by)

    def top_words(self, n: int = _SHOWN_WORDS, by: RankBy = "score") -> list[list[str]]:
        """Return the most descriptive words of every topic, as plain lists.

        Parameters
        ----------
        n : int, default=10
            Maximum number of words per topic.
        by : {'score', 'probability'}, default='score'
            What words are ranked by; see `words`.

        Returns
        -------
        list of list of str
            One list per topic, in the order of `ids`.
        """
        return [[word.word for word in self.words(topic, n, by)] for topic in self.ids.tolist()]

    def coherence(self, corpus: Corpus, measure: str = "c_npmi", n_words: int = 10) -> np.ndarray:
        """Compute how often the words of each topic occur together in the documents of a corpus.

        Parameters
        ----------
        corpus : Corpus
            The documents in which words are counted; each document is one window.
        measure : {'c_npmi', 'c_v', 'u_mass', 'u_mass_gensim'}, default='c_npmi'
            The measure; see `topicfold.metrics.coherence`, which also counts in windows of a text.
        n_words : int, default=10
            Number of words per topic.

        Returns
        -------
        ndarray of shape (n_topics,)
            One value per topic, in the order of `ids`; higher is better.
        """
        from ..metrics.coherence import coherence

        check_corpus(corpus)
        topics = [[self._columns[word] for word in words] for words in self.top_words(n_words)]
        return coherence(topics, counts=corpus.counts_over(self.vocabulary), measure=measure)

    def row(self, topic: int) -> int:
        """Return the row of a topic in the arrays.

        Parameters
        ----------
        topic : int
            Id of the topic.

        Returns
        -------
        int
            The row.

        Raises
        ------
        InputError
            If there is no such topic. The message says if it was merged or dropped.
        """
        rows = np.flatnonzero(self.ids == topic)
        if len(rows) == 0:
            became = self.mapping.get(topic, "unknown")
            hint = "" if became == "unknown" else " (it was dropped)" if became is None else f" (merged into {became})"
            raise InputError(f"there is no topic {topic}{hint}; the topics are {_listed(self.ids)}")
        return int(rows[0])

    @property
    def at_lowest_level(self) -> np.ndarray:
        """Which topics are on the lowest level, as an array of bool of shape (n_topics,)."""
        return self.level == min(self.level.tolist(), default=0)

    def size_of(self, topic: int) -> float:
        """Return the mean membership of the documents in a topic.

        Parameters
        ----------
        topic : int
            Id of the topic.

        Returns
        -------
        float
            A share of the documents.
        """
        return float(self.size[self.row(topic)])

    def title(self, document: int) -> str:
        """Return the title of a document.

        Parameters
        ----------
        document : int
            Row of the document.

        Returns
        -------
        str
            Its title, or its id if it has none.
        """
        return (self.titles[document] if self.titles else "") or self.document_ids[document]

    @property
    def score_name(self) -> str:
        """Name of the score by which words are ranked: 'keyness', 'relevance' or 'discerning index'."""
        if self.word_score is not None:
            return "discerning index"
        return "relevance" if self.word_presence is None else "keyness"

    def word_scores(self, row: int) -> np.ndarray:
        """Return the score of every word in a topic.

        Parameters
        ----------
        row : int
            Row of the topic.

        Returns
        -------
        ndarray of shape (n_words,)
            The scores; -inf for a word that does not belong to the topic.
        """
        if self.word_score is None:
            if self.word_presence is None or self.corpus_presence is None:
                scores = relevance(self.topic_word[[row]], self.word_frequency)[0]
            else:
                scores = keyness(self.word_presence[row], self.corpus_presence)
            overall = self.word_frequency / max(self.word_frequency.sum(), 1)
            # what smoothing alone put into a topic says nothing about it
            return np.where(self.topic_word[row] < _RARE * overall, -np.inf, scores)
        row_scores = self.word_score[[row]]
        if not sp.issparse(row_scores):
            return np.asarray(row_scores)[0]
        scores = row_scores.toarray()[0]
        return np.where(scores == 0, -np.inf, scores)

    def name(self, topic: int) -> str:
        """Return the name of a topic.

        Parameters
        ----------
        topic : int
            Id of the topic.

        Returns
        -------
        str
            The name that it was given, or else up to three of its best words and phrases, as the texts write them; more
            if another topic has the same three.
        """
        self.row(topic)
        return self.names.get(topic) or self._default_names[int(topic)]

    def documents(self, topic: int, n: int = 10, corpus: Corpus | None = None) -> list[tuple[str, float]]:
        """Return the typical documents of a topic.

        They have the highest product of membership and typicality, so a document of two words does not lead a topic
        because all of it is about that topic.

        Parameters
        ----------
        topic : int
            Id of the topic.
        n : int, default=10
            Maximum number of documents.
        corpus : Corpus or None, default=None
            The documents of the tree. If given, at most one of each group of copies is listed; see `Corpus.copies`.

        Returns
        -------
        list of (str, float)
            Id and membership of each document, the most typical first.
        """
        row = self.row(topic)
        documents = typical_documents(self, row, n, first_copies(self, corpus))
        wordless = np.isin(documents, self.wordless)
        memberships = np.where(wordless, 0, self.doc_topic[documents, row])
        return [(self.document_ids[d], share) for d, share in zip(documents.tolist(), memberships.tolist())]

    def topics_of(self, document: str | int, n: int | None = None) -> list[tuple[int, float]]:
        """Return the topics of a document.

        Parameters
        ----------
        document : str or int
            Id (str) or row (int) of the document.
        n : int or None, default=None
            Maximum number of topics. None returns all.

        Returns
        -------
        list of (int, float)
            Id and membership of each topic, the largest first.

        Raises
        ------
        InputError
            If there is no such document.
        """
        row = int(document) if isinstance(document, int | np.integer) else self._document_rows.get(document, -1)
        if not 0 <= row < len(self.doc_topic):
            raise InputError(f"there is no document {document!r} among {len(self.doc_topic):,}")
        shares = self.doc_topic[row]
        order = np.lexsort((self.ids, -shares))[:n]
        return [(int(self.ids[k]), float(shares[k])) for k in order]

    def children(self, topic: int = -1) -> list[int]:
        """Return the topics directly below a topic.

        Parameters
        ----------
        topic : int, default=-1
            Id of the topic; -1 returns the topics at the top.

        Returns
        -------
        list of int
            Ids of the topics, the largest first.
        """
        rows = np.flatnonzero(self.parent == topic)
        return [int(self.ids[row]) for row in rows[np.lexsort((self.ids[rows], -self.size[rows]))]]

    def parts(self, topic: int, n: int | None = None) -> list[tuple[int, float]]:
        """Return the topics below a topic with their weights, also if a topic may have several parents.

        Parameters
        ----------
        topic : int
            Id of the topic.
        n : int or None, default=None
            Maximum number of topics. None returns all.

        Returns
        -------
        list of (int, float)
            Id and weight of each topic below, the largest weight first.
        """
        self.row(topic)
        if self.edges is None:
            return [(child, 1.0) for child in self.children(topic)[:n]]
        above, below, weight = self.edges
        edges = np.flatnonzero(above == topic)
        edges = edges[np.lexsort((below[edges], -weight[edges]))][:n]
        return [(int(below[e]), float(weight[e])) for e in edges]

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return tree_as_html(self)

    def to_text(self, n_words: int = _SHOWN_WORDS, by: RankBy = "score") -> str:
        """Format the topics as a text table.

        The largest topics come first, and topics below another are indented. More than 12 topics without a hierarchy
        are listed in the groups of `group`, which have no ids here. If a topic may have several parents (LDCC), the
        parts of each topic with the largest weights are shown, with the weight instead of the size.

        Parameters
        ----------
        n_words : int, default=10
            Number of words per topic.
        by : {'score', 'probability'}, default='score'
            What words are ranked by.

        Returns
        -------
        str
            The table.
        """
        return tree_as_text(self, n_words, by)

    # ---- tables: pandas data frames ---------------------------------------------------------------------------------

    def topic_table(
        self, n_words: int = _SHOWN_WORDS, n_documents: int = 3, corpus: Corpus | None = None
    ) -> pd.DataFrame:
        """Return a pandas data frame with one row per topic.

        Columns are name, parent, level, size, number of documents, words and typical documents; description, mark,
        stability and returns, if known. A topic has the documents in which it is the largest of its level; for HLTA,
        those with a membership above one half.

        Parameters
        ----------
        n_words : int, default=10
            Number of words per topic.
        n_documents : int, default=3
            Number of typical documents per topic.
        corpus : Corpus or None, default=None
            The documents of the tree. If given, at most one of each group of copies is listed; see `Corpus.copies`.

        Returns
        -------
        pandas.DataFrame
            The table, indexed by topic.
        """
        from .tables import topic_table

        return topic_table(self, n_words, n_documents, corpus)

    def document_table(self, corpus: Corpus | None = None, n_topics: int = 3) -> pd.DataFrame:
        """Return a pandas data frame with one row per document.

        Columns are the title, the largest topic by id and name, its probability, and the next topics.

        Parameters
        ----------
        corpus : Corpus, default=None
            The documents of the tree; adds their labels, dates and metadata.
        n_topics : int, default=3
            Number of topics per document.

        Returns
        -------
        pandas.DataFrame
            The table, indexed by document.
        """
        from .tables import document_table

        return document_table(self, corpus, n_topics)

    def group_table(self, corpus: Corpus, by: str = "labels") -> pd.DataFrame:
        """Return a pandas data frame with the share of each topic in each group of documents.

        Parameters
        ----------
        corpus : Corpus
            The documents of the tree.
        by : str, default='labels'
            'labels', or the name of a metadata column whose values are the groups.

        Returns
        -------
        pandas.DataFrame
            The table of shares.
        """
        from .tables import group_table

        return group_table(self, corpus, by)

    def time_table(self, corpus: Corpus, by: str | None = None) -> pd.DataFrame:
        """Return a pandas data frame with the share of each topic in each period.

        Parameters
        ----------
        corpus : Corpus
            The documents of the tree, with timestamps.
        by : {'year', 'month', 'week', 'day'} or None, default=None
            The period. None chooses one that gives a readable number of periods.

        Returns
        -------
        pandas.DataFrame
            The table of shares.
        """
        from .tables import time_table

        return time_table(self, corpus, by)

    # ---- other programs and files -----------------------------------------------------------------------------------

    def to_json(self, n_words: int = _JSON_WORDS) -> str:
        """Return the topics as JSON.

        Parameters
        ----------
        n_words : int, default=30
            Number of words per topic.

        Returns
        -------
        str
            A JSON object with the number of documents, the mapping, and the topics: id, name, description, parent,
            level, size, and words with P(w|z) and score.
        """
        return tree_as_json(self, n_words)

    def to_hlta_json(self, n_words: int = 7, least: float = 0.5) -> tuple[str, str]:
        """Return the topics in the two JSON formats of the original HLTA program.

        Parameters
        ----------
        n_words : int, default=7
            Number of words per topic.
        least : float, default=0.5
            Minimum membership of the documents that are listed with a topic.

        Returns
        -------
        nodes : str
            Contents of nodes.json: nested nodes with id, words as text, level, size and children.
        topics : str
            Contents of topics.json: for each topic its documents, those with the highest membership first.
        """
        return hlta_json(self, n_words, least)

    def to_pyldavis(self, corpus: Corpus) -> dict[str, Any]:
        """Return the lowest level as arguments for pyLDAvis: `pyLDAvis.prepare(**tree.to_pyldavis(corpus))`.

        Words and documents without tokens, and topics without documents, are left out because pyLDAvis cannot show
        them. pyLDAvis numbers topics from 1, by size; with `sort_topics=False`, in the order of `ids`.

        Parameters
        ----------
        corpus : Corpus
            The documents of the tree.

        Returns
        -------
        dict
            The arguments by name.
        """
        return pyldavis_arguments(self, corpus)

    def save(self, path: str | Path) -> None:
        """Write the tree, including all changes, to one .safetensors file.

        Parameters
        ----------
        path : str or Path
            The file to write; `TopicTree.load` reads it.
        """
        from .tree_file import write_tree

        write_tree(self, path)

    @staticmethod
    def load(path: str | Path) -> TopicTree:
        """Read a tree that `save` wrote.

        Parameters
        ----------
        path : str or Path
            The .safetensors file.

        Returns
        -------
        TopicTree
            The tree.

        Raises
        ------
        InputError
            If the file is damaged or is not a topicfold tree.
        """
        from .tree_file import read_tree

        return TopicTree(**read_tree(path))

    # ---- changing: each returns a new tree --------------------------------------------------------------------------

    def rename(self, names: Mapping[int, str]) -> TopicTree:
        """Give names to topics.

        Parameters
        ----------
        names : mapping of int to str
            Names by topic id. An empty name removes the name of a topic.

        Returns
        -------
        TopicTree
            The tree with these names.
        """
        for topic in names:
            self.row(topic)
        all_names = {**self.names, **{int(topic): str(name or "") for topic, name in names.items()}}
        return replace(self, names={topic: name for topic, name in all_names.items() if name})

    def name_topics(
        self,
        by: Namer,
        *,
        corpus: Corpus | None = None,
        topics: Sequence[int] | None = None,
        n_words: int = _SHOWN_WORDS,
        n_documents: int = 3,
    ) -> TopicTree:
        """Name topics by a function, for example one that asks a language model.

        Parameters
        ----------
        by : callable
            Called once per topic with a `TopicToName`, for topics of higher levels first. It returns a name, or a tuple
            of a name and a description. Only one line of a name is kept, and the id is added if another topic of the
            level has the same name. If the answer is empty or None, the topic keeps its name.
        corpus : Corpus, default=None
            The documents of the tree. If it has texts, the function sees how the typical documents begin.
        topics : sequence of int, default=None
            Ids of the topics to name. None names all.
        n_words : int, default=10
            Number of words per topic that the function sees.
        n_documents : int, default=3
            Number of documents per topic that the function sees.

        Returns
        -------
        TopicTree
            The tree with these names.

        Raises
        ------
        InputError
            If the function returns something else, or the corpus is not that of the tree.

        Examples
        --------
        >>> from topicfold import Corpus, PLSA
        >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
        >>> tree = PLSA(2, random_state=0).fit(corpus).topic_tree(corpus)
        >>> tree.name_topics(lambda topic: f"about the {topic.words[0]}").name(0)
        'about the cat'
        """
        return name_topics(self, by, corpus, topics, n_words, n_documents)

    def merge(self, topics: Sequence[int], name: str | None = None) -> TopicTree:
        """Merge several topics of one level into one.

        Parameters
        ----------
        topics : sequence of int
            Ids of at least two topics. The merged topic keeps the first id; `mapping` maps the other ids to it.
        name : str or None, default=None
            Name of the merged topic.

        Returns
        -------
        TopicTree
            The changed tree.

        Raises
        ------
        InputError
            If there are fewer than two different topics, or they are on different levels.
        """
        rows = [self.row(topic) for topic in dict.fromkeys(topics)]
        if len(rows) < 2:
            raise InputError(f"merge({list(topics)}): expected at least two different topics")
        if len({int(self.level[row]) for row in rows}) > 1:
            raise InputError(f"merge({list(topics)}): the topics are on different levels of the tree")
        tree = merge_rows(self, [rows])
        return tree.rename({int(self.ids[rows[0]]): name}) if name else tree

    def drop(self, topics: int | Sequence[int]) -> TopicTree:
        """Remove topics; the memberships of documents in the other topics stay unchanged.

        Topics below a removed one move up to its parent or, if they are part of other topics (LDCC), to the one with
        the largest weight.

        Parameters
        ----------
        topics : int or sequence of int
            Ids of the topics to remove.

        Returns
        -------
        TopicTree
            The changed tree.
        """
        return drop_topics(self, [topics] if isinstance(topics, int) else topics)

    def reduce(self, n_topics: int) -> TopicTree:
        """Merge the most similar topics of a flat tree until `n_topics` are left, by Ward linkage.

        Topics are similar if the words of their documents are. A merged topic keeps the id of its largest
        part.

        Parameters
        ----------
        n_topics : int
            Number of topics to keep.

        Returns
        -------
        TopicTree
            The changed tree.
        """
        return reduce_topics(self, n_topics)

    def group(self, n_groups: Sequence[int] | None = None) -> TopicTree:
        """Add levels of groups of similar topics above a flat tree, by Ward linkage.

        Parameters
        ----------
        n_groups : sequence of int, default=None
            Number of groups of each level, such as [12, 4]. None adds one level, with a third as many groups as there
            are topics, but at most 10.

        Returns
        -------
        TopicTree
            The changed tree.
        """
        return group_topics(self, n_groups)

    def apply(self, edits: str | Path | Sequence[Edit]) -> TopicTree:
        """Apply the edits that a reader made in the explorer: topics renamed, merged, dropped and grouped.

        Parameters
        ----------
        edits : str, Path or sequence of mappings
            The file that the explorer downloaded, or a list such as
            `[{"merge": [3, 7]}, {"rename": 3, "name": "space"}, {"drop": [5]}, {"group": [3, 8], "name": "science"}]`.

        Returns
        -------
        TopicTree
            The changed tree.

        Raises
        ------
        InputError
            If an edit is invalid or names an unknown topic. The message gives its number.
        """
        return apply_edits(self, read_edits(edits) if isinstance(edits, str | Path) else edits)

    def linkage(self) -> np.ndarray:
        """Compute the Ward linkage of the topics of a flat tree, for a dendrogram.

        Returns
        -------
        ndarray of shape (n_topics - 1, 4)
            A linkage matrix in the format of `scipy.cluster.hierarchy.linkage`.
        """
        return topic_linkage(self)

    def select_levels(self, levels: Sequence[int]) -> TopicTree:
        """Keep the topics of some levels.

        Parameters
        ----------
        levels : sequence of int
            The levels to keep; 1 is the lowest.

        Returns
        -------
        TopicTree
            The changed tree. The parent of a topic is the nearest selected topic above it.

        Raises
        ------
        InputError
            If the tree does not have such a level.
        """
        return select_levels(self, levels)

    def drop_repeated_words(self, shown: int = _SHOWN_WORDS, least: int = 2) -> TopicTree:
        """Remove from each topic the words that the topic above it shows.

        Parameters
        ----------
        shown : int, default=10
            Number of words that a topic shows.
        least : int, default=2
            A topic keeps all its words if fewer than this would be left.

        Returns
        -------
        TopicTree
            The changed tree.
        """
        return drop_repeated_words(self, shown, least)

    def use_segments(self) -> TopicTree:
        """Put the segments of the corpus in the place of its documents.

        Returns
        -------
        TopicTree
            The tree of the segments, whose ids are their numbers.

        Raises
        ------
        InputError
            If the tree has no segments.
        """
        if self.segment_topic is None:
            raise InputError("the tree has no segments: make it with LDCC from a corpus with segments")
        segments = self.segment_topic
        ids = tuple(map(str, range(len(segments))))
        return replace(
            self,
            doc_topic=segments,
            document_ids=ids,
            titles=None,
            wordless=np.zeros(0, np.int64),
            typicality=None,
            segment_topic=None,
            graph=None,
        )

    def memberships_of(self, fresh: TopicTree) -> np.ndarray:
        """Compute the memberships of other documents in the topics of this tree.

        Use it for new documents after topics have been merged, dropped or grouped:
        `tree.memberships_of(model.topic_tree(new_corpus))`.

        Parameters
        ----------
        fresh : TopicTree
            An unchanged tree of the same model over the other documents.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            One row per document of `fresh`, one column per topic of this tree.
        """
        return memberships_in(self, fresh)

    def replace_documents(self, fresh: TopicTree) -> TopicTree:
        """Replace the documents by others, which are assigned to the topics of this tree.

        Parameters
        ----------
        fresh : TopicTree
            An unchanged tree of the same model over the other documents.

        Returns
        -------
        TopicTree
            The topics, names and groups of this tree with the documents of `fresh`.
        """
        doc_topic = memberships_in(self, fresh)
        segments = None if fresh.segment_topic is None else memberships_in(self, fresh.use_segments())
        return replace(
            self,
            doc_topic=doc_topic,
            size=mean_membership(doc_topic, fresh.wordless),
            document_ids=fresh.document_ids,
            titles=fresh.titles,
            wordless=fresh.wordless,
            typicality=fresh.typicality,
            segment_topic=segments,
            graph=fresh.graph,
        )

    def _stems_of(self, word: str) -> frozenset[str]:
        """What the forms of a word have in common: the first of them, and of an n-gram those of its parts."""
        forms = {} if self.wording is None else self.wording.forms
        columns = [self._columns.get(part, -1) for part in word.split(" ")]
        if max(columns) < 0:  # no n-gram of known words: "word 20", the name of a column
            return frozenset([word])
        return frozenset(
            part if w < 0 else self.vocabulary[forms.get(w, w)] for part, w in zip(word.split(" "), columns)
        )

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {word: w for w, word in enumerate(self.vocabulary)}

    @cached_property
    def _phrase_stems(self) -> list[frozenset[str]]:
        wording = self.wording or Wording()
        return [frozenset(self.vocabulary[wording.forms.get(w, w)] for w in columns) for columns in wording.columns]

    @cached_property
    def _default_names(self) -> dict[int, str]:
        return default_names(self)

    @cached_property
    def _document_rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.document_ids)}


def _listed(ids: np.ndarray) -> str:
    shown = ", ".join(map(str, ids[:12]))
    return shown if len(ids) <= 12 else f"{shown}, ... {ids[-1]}"
