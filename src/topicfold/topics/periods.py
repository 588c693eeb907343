"""Periods (years, months, weeks and days): the shares of topics in each, and the choice of a readable period."""

from __future__ import annotations

import numpy as np

from ..corpus.corpus import Corpus, check_corpus
from ..engine.checks import check_choice
from ..errors import InputError
from .group_sums import sums_by_group

__all__ = ["PERIODS", "check_dates", "chosen_period", "readable_period", "shares_over_time"]

PERIODS = {"year": "Y", "month": "M", "week": "W", "day": "D"}
_FEWEST, _MOST = 6, 400  # number of periods that makes a readable curve


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
    chosen, most_yet = "year", 0
    for by, unit in PERIODS.items():
        n_periods = len(np.unique(dates.astype(f"datetime64[{unit}]")))
        if n_periods > most or most_yet >= fewest:
            break
        if n_periods > most_yet:  # otherwise a shorter period adds nothing
            chosen, most_yet = by, n_periods
    return chosen


def shares_over_time(
    doc_topic: np.ndarray, timestamps: np.ndarray, by: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The periods, the mean memberships in each, and its number of documents; undated documents are left out."""
    dated = np.flatnonzero(~np.isnat(timestamps))
    periods, where = np.unique(timestamps[dated].astype(f"datetime64[{PERIODS[by]}]"), return_inverse=True)
    n_documents = np.bincount(where)
    share = sums_by_group(doc_topic, dated, where, len(periods))
    return periods, share / n_documents[:, None], n_documents
