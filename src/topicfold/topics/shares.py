"""Shares of topics in groups of documents and in periods (years, months, weeks and days)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpus.corpus import Corpus, check_corpus
from ..engine.checks import check_choice
from ..engine.jit import njit
from ..errors import InputError

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = [
    "PERIODS",
    "check_dates",
    "chosen_period",
    "dates_with_words",
    "group_shares",
    "readable_period",
    "shares_over_time",
    "sums_by_group",
]

PERIODS = {"year": "Y", "month": "M", "week": "W", "day": "D"}
_FEWEST, _MOST = 6, 400  # number of periods that makes a readable curve
_ROWS = 1 << 16  # rows of a block, which is copied only if its rows are not contiguous


@njit
def _add_rows(rows, groups, first, last, offset, values, total):
    """total[groups[i]] += values[rows[i] - offset] for i from first to last, one after the other."""
    for i in range(first, last):
        row, group = rows[i] - offset, groups[i]
        for k in range(values.shape[1]):
            total[group, k] += values[row, k]


def sums_by_group(values: np.ndarray, rows: np.ndarray, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """The sum of the rows of each group in float64, groups x columns: row rows[i] is in group groups[i].

    `rows` are in ascending order; a row may be in several groups, or in none.

    >>> sums_by_group(np.array([[1.0], [2.0], [4.0]]), np.array([0, 2, 2]), np.array([1, 0, 1]), 2).tolist()
    [[4.0], [5.0]]
    """
    rows, groups = rows.astype(np.int64, copy=False), groups.astype(np.int64, copy=False)
    total = np.zeros((n_groups, values.shape[1]))
    for start in range(0, len(values), _ROWS):
        block = np.ascontiguousarray(values[start : start + _ROWS])
        first, last = np.searchsorted(rows, [start, start + _ROWS]).tolist()
        _add_rows(rows, groups, first, last, start, block, total)
    return total


def group_shares(tree: TopicTree, member: Any, rows: np.ndarray | slice) -> tuple[np.ndarray, np.ndarray]:
    """Mean memberships by group, and the number of documents with words in each; `member` is documents x groups."""
    without = member[tree.wordless]
    n_documents = np.asarray(member.sum(axis=0)).ravel() - np.asarray(without.sum(axis=0)).ravel()
    sums = member.T @ tree.doc_topic[:, rows].astype(np.float64)
    sums = sums - without.T @ tree.doc_topic[tree.wordless][:, rows].astype(np.float64)
    return np.maximum(sums, 0) / np.maximum(n_documents, 1)[:, None], n_documents


def check_dates(corpus: Corpus) -> np.ndarray:
    """The timestamps of a corpus, or a ValueError if there are none."""
    check_corpus(corpus)
    if corpus.timestamps is None:
        raise InputError("the corpus has no timestamps: name the column when reading, timestamp='...'")
    if np.isnat(corpus.timestamps).all():
        raise InputError("no document of the corpus has a date")
    return corpus.timestamps


def chosen_period(timestamps: np.ndarray, by: str | None) -> str:
    """The requested period, checked, or a readable one if `by` is None."""
    if by is None:
        return readable_period(timestamps)
    check_choice("by", by, tuple(PERIODS))
    return by


def readable_period(timestamps: np.ndarray, fewest: int = _FEWEST, most: int = _MOST) -> str:
    """The longest of year, month, week and day that gives at least `fewest` periods, if `most` allows it.

    >>> readable_period(np.array(["2001-03", "2004-08", "2004-09"], "datetime64[s]"), fewest=3, most=100)
    'month'
    """
    dates = timestamps[~np.isnat(timestamps)]
    longest, most_yet = "year", 0
    for by, unit in PERIODS.items():
        n_periods = len(np.unique(dates.astype(f"datetime64[{unit}]")))
        if n_periods > most or most_yet >= fewest:
            break
        if n_periods > most_yet:  # otherwise a shorter period adds nothing
            longest, most_yet = by, n_periods
    return longest


def shares_over_time(
    doc_topic: np.ndarray, timestamps: np.ndarray, by: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The periods, the mean memberships in each, and its number of documents; undated documents are left out."""
    dated = np.flatnonzero(~np.isnat(timestamps))
    periods, period_of = np.unique(timestamps[dated].astype(f"datetime64[{PERIODS[by]}]"), return_inverse=True)
    n_documents = np.bincount(period_of)
    share = sums_by_group(doc_topic, dated, period_of, len(periods))
    return periods, share / n_documents[:, None], n_documents


def dates_with_words(tree: TopicTree, timestamps: np.ndarray) -> np.ndarray:
    """The dates of the documents, without those of documents that have no known word."""
    timestamps = timestamps.copy()
    timestamps[tree.wordless] = np.datetime64("NaT")
    return timestamps
