"""Drift between two sets of documents, and topics over time; for any model with memberships.

The report on TTMM (Keller and Bengio 2003, section 4.1) proposes to detect drift by the Kullback-Leibler divergence
between the distributions of two sets. A divergence alone says little, because two random halves also differ; so it is
reported with a permutation test and the contribution of each topic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ..corpus.corpus import Corpus
from ..engine.arrays import normalise_rows
from ..engine.checks import check_choice, check_whole
from ..errors import InputError
from ..models import info_of
from ..models.estimator import TopicModel, check_model, tree_of
from ..models.inputs import CountsLike, RandomStateLike
from ..topics.shares import check_dates, chosen_period, dates_with_words, shares_over_time
from ..topics.tree import TopicTree

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Drift", "TopicMove", "TopicsOverTime", "drift", "memberships", "topics_over_time"]

_SMALLEST = 1e-12
_SHOWN = 10


class TopicMove(NamedTuple):
    """A topic that `drift` compared.

    Attributes
    ----------
    topic : int
        Number of the topic or theme.
    before : float
        Its share in the first set of documents.
    after : float
        Its share in the second set of documents.
    part : float
        Its contribution to the divergence.

    See Also
    --------
    Drift : The result that it is part of.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, drift
    >>> corpus = Corpus.from_texts(["cat dog", "dog cat cat", "sun moon", "moon sun sun"] * 5)
    >>> result = drift(PLSA(2, random_state=0).fit(corpus), ["cat dog"] * 10, ["sun moon"] * 10)
    >>> move = result.moved[0]
    >>> move.after > move.before
    True
    """

    topic: int
    before: float
    after: float
    part: float


@dataclass(frozen=True)
class Drift:
    """How much the topics of two sets of documents differ; made by `drift`.

    Attributes
    ----------
    divergence : float
        KL(after || before), in nats.
    p_value : float
        Share of random splits of the same documents with at least as large a divergence.
    moved : tuple of TopicMove
        The topics, those with the largest contribution to the divergence first.

    See Also
    --------
    drift : Makes it.
    TopicMove : What it says of a topic.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, drift
    >>> corpus = Corpus.from_texts(["cat dog", "dog cat cat", "sun moon", "moon sun sun"] * 5)
    >>> result = drift(PLSA(2, random_state=0).fit(corpus), ["cat dog"] * 10, ["sun moon"] * 10)
    >>> result.p_value < 0.01
    True
    """

    divergence: float
    p_value: float
    moved: tuple[TopicMove, ...]

    def __str__(self) -> str:
        lines = [
            f"divergence {self.divergence:.4f} nats, p = {self.p_value:.4g}",
            f"{'topic':>6} {'before':>8} {'after':>8} {'part':>9}",
        ]
        lines += [f"{m.topic:>6} {m.before:>8.2%} {m.after:>8.2%} {m.part:>9.4f}" for m in self.moved[:_SHOWN]]
        return "\n".join(lines)


def drift(
    model: TopicModel,
    before: CountsLike,
    after: CountsLike,
    *,
    of: Literal["topics", "themes"] = "topics",
    n_permutations: int = 999,
    random_state: RandomStateLike = 0,
) -> Drift:
    """Measure how the mix of topics changed from one set of documents to another, with a permutation test.

    The divergence is KL(after || before) = sum_k q_k log(q_k / p_k), with p and q the mean memberships of the two sets.
    For the p-value, the documents are split at random into two sets of the same sizes, `n_permutations` times.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    before : Corpus, matrix, data frame or list of str
        The first set of documents.
    after : Corpus, matrix, data frame or list of str
        The second set of documents.
    of : {'topics', 'themes'}, default='topics'
        What to compare; 'themes' is for TTMM.
    n_permutations : int, default=999
        Number of random splits.
    random_state : int, RandomState instance or None, default=0
        Seed of the random splits.

    Returns
    -------
    Drift
        Divergence, p-value and the change of each topic.

    Raises
    ------
    InputError
        If a set has no documents, or the model has no themes.

    See Also
    --------
    topics_over_time : Shares of topics in each period.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, drift
    >>> corpus = Corpus.from_texts(["cat dog", "dog cat cat", "sun moon", "moon sun sun"] * 5)
    >>> model = PLSA(2, random_state=0).fit(corpus)
    >>> drift(model, ["cat dog"] * 10, ["sun moon"] * 10).p_value
    0.001
    """
    from sklearn.utils import check_random_state

    check_whole("n_permutations", n_permutations)
    slices = [memberships(model, X, of) for X in (before, after)]
    pooled = np.vstack(slices)
    n_before = len(slices[0])
    divergence = _divergence(slices[0].mean(axis=0), slices[1].mean(axis=0))
    rng = check_random_state(random_state)
    total, as_far = pooled.sum(axis=0), 1
    for _ in range(n_permutations):
        first = pooled[rng.permutation(len(pooled))[:n_before]].sum(axis=0)
        value = _divergence(first / n_before, (total - first) / (len(pooled) - n_before)).sum()
        as_far += bool(value >= divergence.sum() - 1e-15)
    p, q = slices[0].mean(axis=0), slices[1].mean(axis=0)
    order = np.argsort(-np.abs(divergence), kind="stable")
    moved = tuple(TopicMove(int(k), float(p[k]), float(q[k]), float(divergence[k])) for k in order)
    return Drift(float(divergence.sum()), as_far / (n_permutations + 1), moved)


def memberships(model: TopicModel, X: CountsLike, of: str = "topics") -> np.ndarray:
    """Topics or themes of documents, each row summing to one."""
    check_model(model)
    check_choice("of", of, ("topics", "themes"))
    if of == "themes" and not info_of(model).has_themes:
        raise InputError(f"{type(model).__name__} has no themes")
    values = getattr(model, f"document_{of}")(X).astype(np.float64)
    if len(values) == 0:
        raise InputError("one of the two sets has no documents")
    return normalise_rows(values)


def _divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The terms of KL(q || p), which sum to it."""
    p, q = np.maximum(p, _SMALLEST), np.maximum(q, _SMALLEST)
    p, q = p / p.sum(), q / q.sum()
    return q * np.log(q / p)


@dataclass(frozen=True)
class TopicsOverTime:
    """The share of each topic in each period; made by `topics_over_time`.

    Attributes
    ----------
    periods : ndarray of datetime64 of shape (n_periods,)
        The periods, in order.
    share : ndarray of shape (n_periods, n_topics)
        The share of each topic in each period. Rows sum to one.
    n_documents : ndarray of int of shape (n_periods,)
        Number of documents in each period.
    names : tuple of str
        Names of the topics.

    See Also
    --------
    topics_over_time : Makes it.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, topics_over_time
    >>> corpus = Corpus.from_texts(["cat dog", "dog cat", "sun moon", "moon sun"], timestamps=[2001, 2001, 2002, 2002])
    >>> result = topics_over_time(PLSA(2, random_state=0).fit(corpus), corpus, "year")
    >>> result.n_documents.tolist()
    [2, 2]
    """

    periods: np.ndarray
    share: np.ndarray
    n_documents: np.ndarray
    names: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """Return the shares as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row per period, one column per topic.
        """
        import pandas as pd

        return pd.DataFrame(self.share, index=pd.Index(self.periods.astype(str), name="period"), columns=self.names)

    def __str__(self) -> str:
        change = self.share[-1] - self.share[0]
        lines = [f"{len(self.periods)} periods, {self.periods[0]} to {self.periods[-1]}"]
        for k in np.argsort(-np.abs(change), kind="stable")[:_SHOWN]:
            lines.append(f"{self.share[0, k]:>7.2%} -> {self.share[-1, k]:>7.2%}  {self.names[k]}")
        return "\n".join(lines)

    def plot(self, n_topics: int = 12) -> Figure:
        """Draw the topics that changed most as a matplotlib figure.

        Parameters
        ----------
        n_topics : int, default=12
            Number of topics to draw.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from ..plots.topic_figures import over_time

        return over_time(self, n_topics)


def topics_over_time(model: TopicModel | TopicTree, corpus: Corpus, by: str | None = None) -> TopicsOverTime:
    """Compute the share of each topic in each period.

    Documents without a date are left out.

    Parameters
    ----------
    model : TopicModel or TopicTree
        A fitted model, or a tree over the documents of the corpus. In a hierarchy, the lowest level is used.
    corpus : Corpus
        Documents with timestamps.
    by : {'year', 'month', 'week', 'day'} or None, default=None
        The period. None chooses the longest one that gives a readable number of periods.

    Returns
    -------
    TopicsOverTime
        Periods and shares.

    Raises
    ------
    InputError
        If the corpus has no timestamps.

    See Also
    --------
    drift : Tests whether two sets of documents differ.
    topicfold.plots.over_time : Draws the shares.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, topics_over_time
    >>> corpus = Corpus.from_texts(["cat dog", "dog cat", "sun moon", "moon sun"], timestamps=[2001, 2001, 2002, 2002])
    >>> topics_over_time(PLSA(2, random_state=0).fit(corpus), corpus, "year").share.shape
    (2, 2)
    """
    timestamps = check_dates(corpus)
    by = chosen_period(timestamps, by)
    tree = tree_of(model, corpus)
    rows = np.flatnonzero(tree.at_lowest_level)
    names = tuple(tree.name(topic) for topic in tree.ids[rows].tolist())
    return TopicsOverTime(*shares_over_time(tree.doc_topic[:, rows], dates_with_words(tree, timestamps), by), names)
