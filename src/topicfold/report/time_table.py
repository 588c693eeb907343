"""Topics over time for the explorer: their shares, and the largest rise of each, with the words that rose with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..corpus.corpus import Corpus
from ..topics.ranking import keyness, largest, word_presence
from ..topics.shares import PERIODS, dates_with_words, readable_period, shares_over_time
from ..topics.tree import TopicTree
from .document_table import shortened
from .topic_table import as_number

__all__ = ["largest_rises", "rising_words", "time_table"]

_MOST_PERIODS = 400
_MOST_SHARES = 400_000  # topics x periods on the page
_DOCUMENTS = 10  # per period on average, for periods shorter than the readable ones
_EVENTS = 40  # topics whose rise is listed
_ERRORS = 4.0  # standard errors that a notable rise exceeds ...
_PART = 0.25  # ... and part of the topic's overall share
_WORDS = 5
_PRIOR = 5.0  # documents of the topic as a whole that are added to those of a period
_FEWEST = 2.0  # documents of the topic in the period that have the word, weighted by membership


def time_table(tree: TopicTree, corpus: Corpus, counts: sp.csr_array) -> dict[str, Any] | None:
    """The share of each topic by period, and the rises; None if the documents span fewer than two periods.

    The page first shows readable periods. If there are enough documents, it gets the shares by month or day, which it
    can combine into longer periods. `counts` are over the words of the tree.
    """
    if corpus.timestamps is None:
        return None
    timestamps = dates_with_words(tree, corpus.timestamps)
    if np.isnat(timestamps).all():
        return None
    shown = readable_period(timestamps)
    by = _shortest_period(timestamps, shown, len(tree))
    periods, share, n_documents = shares_over_time(tree.doc_topic, timestamps, by)
    if len(periods) < 2:
        return None
    return {
        "by": by,
        "shown": shown,
        "periods": [str(period) for period in periods],
        "documents": n_documents.tolist(),
        "share": [[as_number(value, 3) for value in column] for column in share.T],
        "rises": _rises(tree, timestamps, shown, counts),
    }


def _shortest_period(timestamps: np.ndarray, shown: str, n_topics: int) -> str:
    """Day or month if the page has room for all periods and they have enough documents, otherwise `shown`."""
    dates = timestamps[~np.isnat(timestamps)]
    most = min(_MOST_PERIODS, _MOST_SHARES // n_topics, len(dates) // _DOCUMENTS)
    n_periods = {by: len(np.unique(dates.astype(f"datetime64[{PERIODS[by]}]"))) for by in ("day", "month", shown)}
    return next((by for by in ("day", "month") if n_periods[shown] < n_periods[by] <= most), shown)


def _rises(tree: TopicTree, timestamps: np.ndarray, by: str, counts: sp.csr_array) -> list[dict[str, Any]]:
    """The notable rises of the topics that the page shows over time, the largest first."""
    periods, share, n_documents = shares_over_time(tree.doc_topic, timestamps, by)
    if len(periods) < 2:
        return []
    shown = tree.at_lowest_level if tree.edges is not None else tree.level == tree.level.max()
    period, rise, notable = largest_rises(share, n_documents)
    rising = np.flatnonzero(shown & notable)
    rising = rising[largest(rise[rising], _EVENTS)]
    if not len(rising):
        return []
    dates = timestamps.astype(periods.dtype)
    present = word_presence(counts)
    rises = []
    for row in rising.tolist():
        documents = np.flatnonzero(dates == periods[period[row]])
        words = rising_words(present, tree.doc_topic[:, row].astype(np.float64), documents)
        rises.append(
            {
                "topic": int(tree.ids[row]),
                "period": str(periods[period[row]]),
                "rise": as_number(rise[row], 3),
                "words": [shortened(tree.vocabulary[w]) for w in words],
            }
        )
    return rises


def largest_rises(share: np.ndarray, n_documents: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each topic, the period of its largest rise over the period before, the rise, and whether it is notable.

    Periods with less than a tenth of the documents of the median period are skipped. With n documents in a period
    and m in the median one, a share is moved towards the topic's overall share before shares are compared, to
    overall + n / (n + m) * (share - overall): the fewer documents, the less it counts. The rise that is returned is
    that of the original shares. It is notable if it exceeds four standard errors of the difference, with
    overall * (1 - overall) as the variance of a membership, and also a quarter of the overall share.

    >>> share = np.array([[0.2, 0.8], [0.3, 0.7], [1.0, 0.0], [0.6, 0.4]])
    >>> period, rise, notable = largest_rises(share, np.array([100, 100, 1, 100]))
    >>> period.tolist(), rise.round(1).tolist(), notable.tolist()
    ([3, 1], [0.3, -0.1], [True, False])
    """
    usual = np.median(n_documents)
    telling = np.flatnonzero(n_documents >= usual / 10)
    overall = np.clip(n_documents @ share / n_documents.sum(), 0, 1)
    share, n = share[telling], n_documents[telling]
    if len(telling) < 2:
        return np.zeros(len(overall), np.int64), np.zeros(len(overall)), np.zeros(len(overall), bool)
    smoothed = overall + (n / (n + usual))[:, None] * (share - overall)
    after = np.diff(smoothed, axis=0).argmax(axis=0) + 1
    topics = np.arange(len(overall))
    rise = share[after, topics] - share[after - 1, topics]
    error = np.sqrt(overall * (1 - overall) * (1 / n[after] + 1 / n[after - 1]))
    return telling[after], rise, (rise > _ERRORS * error) & (rise > _PART * overall)


def rising_words(present: sp.csr_array, membership: np.ndarray, rows: np.ndarray) -> list[int]:
    """The columns of the words that are more frequent in some documents of a topic than in all of them, best first.

    Frequency is the share of the documents that have the word, weighted by membership in the topic. `present` says how
    much of each document contains each word.
    """
    overall = present.T @ membership / max(membership.sum(), 1e-300)
    weights = membership[rows]
    frequency = present[rows].T @ weights
    scores = keyness((frequency + _PRIOR * overall) / (weights.sum() + _PRIOR), overall)
    scores[frequency < _FEWEST] = -np.inf
    return [int(w) for w in largest(scores, _WORDS) if scores[w] > 1e-6]
