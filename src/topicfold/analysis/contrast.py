"""The words that groups use for the same topic, by weighted log-odds with an informative Dirichlet prior.

The method is that of Monroe, Colaresi and Quinn (2008). With y_w the tokens of a word in a group, n those of all words,
and a prior of a_w = strength * share of the word in all groups together, the log-odds of a word are log((y_w + a_w) /
(n + a_0 - y_w - a_w)). The difference between two groups has a variance of about 1 / (y_w + a_w) + 1 / (y'_w + a_w);
divided by the square root of its variance, it is a z-score. Rare words have little weight, because the prior draws them
to the frequency in all groups.

Tokens of a topic in a group are expected numbers: the sum over its documents of x_dw P(z|d,w), with P(z|d,w) ~ P(z|d)
P(w|z). If documents are not mixtures of topics (HLTA), all tokens of a document count for a topic, weighted by its
membership.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..corpus.corpus import Corpus
from ..engine.arrays import summed
from ..engine.checks import check_number, check_whole
from ..errors import InputError
from ..models.estimator import TopicModel, tree_of
from ..topics.ranking import largest
from ..topics.tree import TopicTree
from .topic_tokens import TopicTokens, counts_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["OVERALL", "Contrast", "ContrastWord", "contrast", "log_odds"]

OVERALL = -1  # instead of a topic: all tokens, whatever their topic
_STRENGTH = 500.0
_MOST_GROUPS = 50
_LABELS = "labels"


class ContrastWord(NamedTuple):
    """A word that a group uses more often than the others.

    Attributes
    ----------
    topic : int
        Id of the topic; -1 for all tokens.
    name : str
        Name of the topic.
    group : str
        The group.
    word : str
        The word.
    tokens : float
        Expected number of tokens of the word in the group.
    tokens_elsewhere : float
        Expected number of tokens of the word in the other group, or in the rest.
    log_odds : float
        Log-odds ratio of the word in the group.
    z : float
        Its z-score: the log-odds ratio divided by its standard error.

    See Also
    --------
    Contrast : The result that it is part of.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, contrast
    >>> texts = ["tax cut cut", "tax relief", "tax rise rise", "tax burden rise"]
    >>> corpus = Corpus.from_texts(texts * 5, metadata={"party": ["left", "left", "right", "right"] * 5})
    >>> result = contrast(PLSA(1, random_state=0).fit(corpus), corpus, "party", strength=20)
    >>> result.words(0, "right", 1)[0].word
    'rise'
    """

    topic: int
    name: str
    group: str
    word: str
    tokens: float
    tokens_elsewhere: float
    log_odds: float
    z: float


@dataclass(frozen=True, eq=False)
class Contrast:
    """Words that distinguish groups of documents, per topic and overall; made by `contrast`.

    Attributes
    ----------
    by : str
        The metadata column, or 'labels'.
    groups : tuple of str
        The groups.
    topics : tuple of int
        -1, which means all tokens regardless of topic, then the ids of the topics.
    names : tuple of str
        Names of the topics.
    vocabulary : tuple of str
        The words.
    counts : ndarray of shape (n_topics + 1, n_groups, n_words)
        Expected number of tokens of each word in each topic and group.
    total : ndarray of shape (n_topics + 1, n_words)
        Expected number of tokens in all groups together. A document in two groups counts once.
    pair : bool
        Whether two groups are compared with each other. Otherwise each group is compared with the rest.
    strength : float
        Number of tokens of the prior.
    n_documents : tuple of int
        Number of documents of each group.
    n_left_out : int
        Number of documents without a group.

    See Also
    --------
    contrast : Makes one.
    topicfold.plots.contrast_words : Draws the words of a topic.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, contrast
    >>> texts = ["tax cut cut", "tax relief", "tax rise rise", "tax burden rise"]
    >>> corpus = Corpus.from_texts(texts * 5, metadata={"party": ["left", "left", "right", "right"] * 5})
    >>> result = contrast(PLSA(1, random_state=0).fit(corpus), corpus, "party", strength=20)
    >>> result.groups, result.n_documents
    (('left', 'right'), (10, 10))
    """

    by: str
    groups: tuple[str, ...]
    topics: tuple[int, ...]
    names: tuple[str, ...]
    vocabulary: tuple[str, ...]
    counts: np.ndarray
    total: np.ndarray
    pair: bool
    strength: float
    n_documents: tuple[int, ...]
    n_left_out: int

    def scores(self, topic: int, group: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Compute the scores of every word in a topic, for one group.

        Parameters
        ----------
        topic : int
            Id of the topic; -1 for all tokens.
        group : str
            The group.

        Returns
        -------
        group_counts : ndarray of shape (n_words,)
            Expected number of tokens in the group.
        other_counts : ndarray of shape (n_words,)
            Expected number of tokens in the other group, or in the rest.
        log_odds : ndarray of shape (n_words,)
            Log-odds ratios.
        z : ndarray of shape (n_words,)
            Z-scores.

        Raises
        ------
        InputError
            If there is no such topic or group.
        """
        row, column = self._row(topic), self._column(group)
        group_counts = self.counts[row, column].astype(np.float64)
        other_counts = self.counts[row, 1 - column] if self.pair else self.total[row] - group_counts
        other_counts = np.maximum(other_counts.astype(np.float64), 0)
        return group_counts, other_counts, *log_odds(group_counts, other_counts, self.total[row], self.strength)

    def words(self, topic: int = OVERALL, group: str | None = None, n: int = 10) -> list[ContrastWord]:
        """Return the words that a group uses more often than the others: those with the largest z-scores above 0.

        Parameters
        ----------
        topic : int, default=-1
            Id of the topic; -1 for all tokens.
        group : str or None, default=None
            The group. None uses the first.
        n : int, default=10
            Maximum number of words.

        Returns
        -------
        list of ContrastWord
            The words, the largest z-score first.
        """
        check_whole("n", n, 0)
        group = self.groups[0] if group is None else group
        group_counts, other_counts, ratio, z = self.scores(topic, group)
        name = self.names[self._row(topic)]
        return [
            ContrastWord(
                topic,
                name,
                group,
                self.vocabulary[w],
                *(float(values[w]) for values in (group_counts, other_counts, ratio, z)),
            )
            for w in largest(z, n).tolist()
            if z[w] > 0
        ]

    def top_words(self, n: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """Return the words with the largest z-scores of each topic and group, as arrays.

        Parameters
        ----------
        n : int, default=10
            Maximum number of words per topic and group.

        Returns
        -------
        columns : ndarray of int of shape (n_topics + 1, n_groups, n)
            Columns of the words; -1 if a group has fewer words.
        z : ndarray of shape (n_topics + 1, n_groups, n)
            Their z-scores; 0 if a group has fewer words.
        """
        check_whole("n", n)
        shape = (len(self.topics), len(self.groups), min(n, len(self.vocabulary)))
        columns, values = np.full(shape, -1, np.int32), np.zeros(shape, np.float32)
        for row, topic in enumerate(self.topics):
            for place, group in enumerate(self.groups):
                z = self.scores(topic, group)[3]
                best = largest(z, shape[2])
                best = best[z[best] > 0]
                columns[row, place, : len(best)], values[row, place, : len(best)] = best, z[best]
        return columns, values

    def rows(self, topics: Sequence[int] | None = None, n_words: int = 10) -> list[ContrastWord]:
        """Return the best words of all topics and groups as one list.

        Parameters
        ----------
        topics : sequence of int, default=None
            Ids of the topics; -1 for all tokens. None uses all.
        n_words : int, default=10
            Maximum number of words per topic and group.

        Returns
        -------
        list of ContrastWord
            The words, topic by topic and group by group.
        """
        topic_ids = self.topics if topics is None else topics
        return [word for topic in topic_ids for group in self.groups for word in self.words(topic, group, n_words)]

    def table(self, topics: Sequence[int] | None = None, n_words: int = 10) -> pd.DataFrame:
        """Return the best words of all topics and groups as a pandas data frame.

        Parameters
        ----------
        topics : sequence of int, default=None
            Ids of the topics; -1 for all tokens. None uses all.
        n_words : int, default=10
            Maximum number of words per topic and group.

        Returns
        -------
        pandas.DataFrame
            One row per word: topic (-1 for all tokens), name, group, word, tokens, log-odds and z-score.
        """
        import pandas as pd

        return pd.DataFrame(self.rows(topics, n_words), columns=list(ContrastWord._fields))

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, topics: Sequence[int] | None = None, n_words: int = 10) -> str:
        """Format the best words of all topics and groups as text.

        Parameters
        ----------
        topics : sequence of int, default=None
            Ids of the topics; -1 for all tokens. None uses all.
        n_words : int, default=10
            Maximum number of words per topic and group.

        Returns
        -------
        str
            A line about the documents, then one line of words with z-scores per topic and group.
        """
        sizes = ", ".join(f"{group} ({size:,} documents)" for group, size in zip(self.groups, self.n_documents))
        left_out = f"; {self.n_left_out:,} documents in none of them are left out" if self.n_left_out else ""
        lines = [f"{self.by}: {sizes}{left_out}"]
        width = max(map(len, self.groups))
        for topic in self.topics if topics is None else topics:
            name = self.names[self._row(topic)]
            lines += ["", name if topic == OVERALL else f"{topic}: {name}"]
            for group in self.groups:
                words = " ".join(f"{word.word} {word.z:.1f}" for word in self.words(topic, group, n_words))
                lines.append(f"  {group:<{width}}  {words}")
        return "\n".join(lines)

    def plot(self, topic: int = OVERALL, group: str | None = None, n_words: int = 15) -> Figure:
        """Draw the words of a topic by frequency and z-score, as a matplotlib figure.

        Parameters
        ----------
        topic : int, default=-1
            Id of the topic; -1 for all tokens.
        group : str or None, default=None
            The group. None uses the first.
        n_words : int, default=15
            Number of words per side that are listed.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from ..plots.contrast_figures import contrast_words

        return contrast_words(self, topic, group, n_words)

    def _row(self, topic: int) -> int:
        if topic not in self.topics:
            listed = ", ".join(map(str, self.topics[1:13])) + (", ..." if len(self.topics) > 13 else "")
            raise InputError(f"topic {topic} is not in this contrast: expected -1 (overall) or one of {listed}")
        return self.topics.index(topic)

    def _column(self, group: str) -> int:
        if group not in self.groups:
            raise InputError(f"there is no group {group!r}; the groups are {', '.join(self.groups)}")
        return self.groups.index(group)


def contrast(
    model: TopicModel | TopicTree,
    corpus: Corpus,
    by: str = _LABELS,
    *,
    groups: Sequence[str] | None = None,
    topics: Sequence[int] | None = None,
    strength: float = _STRENGTH,
) -> Contrast:
    """Compare the words that groups of documents use for the same topics, by weighted log-odds.

    Parameters
    ----------
    model : TopicModel or TopicTree
        A fitted model, or a tree of this corpus, for example with topics merged or renamed.
    corpus : Corpus
        The training documents, or others.
    by : str, default='labels'
        'labels', or the name of a metadata column whose values are the groups. A document with several labels is in
        several groups.
    groups : tuple of (str, str), default=None
        Two groups to compare with each other. None compares each group with the rest.
    topics : sequence of int, default=None
        Ids of the topics. None uses all of the lowest level.
    strength : float, default=500.0
        Number of tokens of the prior, distributed over the words as in all groups together. The larger it is, the more
        evidence a word needs.

    Returns
    -------
    Contrast
        Scores of all words per topic and group.

    Raises
    ------
    InputError
        If there is no such column or group, or there are fewer than two groups, or too many.

    See Also
    --------
    effects : How shares of topics depend on metadata.
    topicfold.plots.contrast_words : Draws the words of a topic.

    References
    ----------
    Monroe, B. L., Colaresi, M. P. and Quinn, K. M. (2008). Fightin' words: lexical feature selection and evaluation for
    identifying the content of political conflict. Political Analysis 16, 372-403. https://doi.org/10.1093/pan/mpn018

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, contrast
    >>> texts = ["tax cut cut", "tax relief", "tax rise rise", "tax burden rise"]
    >>> corpus = Corpus.from_texts(texts * 5, metadata={"party": ["left", "left", "right", "right"] * 5})
    >>> result = contrast(PLSA(1, random_state=0).fit(corpus), corpus, "party", groups=("left", "right"), strength=20)
    >>> [word.word for word in result.words(0, "right", 2)]
    ['rise', 'burden']
    """
    check_number("strength", strength, above=True)
    tree = tree_of(model, corpus)
    member, names = _groups(corpus, by, groups)
    rows = np.flatnonzero(tree.at_lowest_level) if topics is None else np.array([tree.row(t) for t in topics], int)
    counts, total = _tokens(tree, corpus, member, rows)
    left_out = np.diff(member.indptr) == 0
    ids = tree.ids[rows].tolist()
    return Contrast(
        by=by,
        groups=names,
        topics=(OVERALL, *ids),
        names=("all topics", *(tree.name(topic) for topic in ids)),
        vocabulary=tree.vocabulary,
        counts=counts,
        total=total,
        pair=groups is not None,
        strength=float(strength),
        n_documents=tuple(np.bincount(member.indices, minlength=len(names)).tolist()),
        n_left_out=int(left_out.sum()),
    )


def log_odds(
    group_counts: np.ndarray, other_counts: np.ndarray, prior: np.ndarray, strength: float
) -> tuple[np.ndarray, np.ndarray]:
    """The log-odds ratio of words and its z-score, with a prior of `strength` tokens distributed like `prior`.

    Words that occur nowhere have 0.

    >>> ratio, z = log_odds(np.array([8.0, 2.0]), np.array([2.0, 8.0]), np.array([1.0, 1.0]), 2.0)
    >>> ratio.round(2).tolist(), z.round(2).tolist()
    ([2.2, -2.2], [3.3, -3.3])
    """
    has_prior = prior > 0
    share = prior[has_prior] / max(float(prior.sum()), 1e-300)
    ratio, z = np.zeros(len(prior)), np.zeros(len(prior))
    logits, variance = [], np.zeros(int(has_prior.sum()))
    for counts in (group_counts[has_prior], other_counts[has_prior]):
        smoothed = counts + strength * share
        p = smoothed / smoothed.sum()
        logits.append(np.log(p / np.maximum(1 - p, 1e-12)))
        variance += 1 / smoothed
    ratio[has_prior] = logits[0] - logits[1]
    z[has_prior] = ratio[has_prior] / np.sqrt(variance)
    return ratio, z


def _groups(corpus: Corpus, by: str, groups: Sequence[str] | None) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Documents x groups as zeros and ones, and the names of the groups."""
    member, names = corpus.label_matrix() if by == _LABELS else corpus.group_matrix(by)
    if groups is None:
        if len(names) < 2:
            raise InputError(f"{by!r} has {len(names)} values in this corpus: expected at least two groups")
        if len(names) > _MOST_GROUPS:
            raise InputError(
                f"{by!r} has {len(names):,} values: expected at most {_MOST_GROUPS} groups; bin its values in "
                "another column, or choose two groups"
            )
        return member, names
    pair = [groups] if isinstance(groups, str) else list(map(str, groups))
    if len(set(pair)) != 2 or len(pair) != 2:
        raise InputError(f"groups={groups!r}: expected two different values of {by!r}")
    for name in pair:
        if name not in names:
            listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            raise InputError(f"{by!r} has no value {name!r}; it has {listed}")
    return sp.csr_array(member[:, [names.index(name) for name in pair]]), (pair[0], pair[1])


# ---- expected tokens ------------------------------------------------------------------------------------------------


def _tokens(tree: TopicTree, corpus: Corpus, member: sp.csr_array, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tokens of words overall and in the topics of `rows`: in each group, and in the documents of any group."""
    counts = counts_of(tree, corpus)
    n_groups = member.shape[1]
    grouped_rows = np.flatnonzero(np.diff(member.indptr))
    by_group = sp.csc_array(member)
    parts = [by_group.indices[first:last] for first, last in pairwise(by_group.indptr.tolist())]
    overlap = member.nnz > len(grouped_rows)
    group_tokens = np.zeros((len(rows) + 1, n_groups, counts.shape[1]), np.float32)
    total = np.zeros((len(rows) + 1, counts.shape[1]))
    group_tokens[0] = (member.T @ counts).toarray()
    total[0] = summed(counts[grouped_rows], 0)
    for level in np.unique(tree.level[rows]).tolist():
        tokens = TopicTokens(tree, counts, level)
        table_rows = np.flatnonzero(tree.level[rows] == level) + 1
        columns = np.searchsorted(tokens.rows, rows[table_rows - 1])
        for place, part in enumerate(parts):
            part_tokens = tokens.by_word(part)[:, columns].T
            group_tokens[table_rows, place] = part_tokens
            total[table_rows] += part_tokens
        if overlap:
            total[table_rows] = tokens.by_word(grouped_rows)[:, columns].T
    return group_tokens, total
