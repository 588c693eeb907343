"""Years, months, weeks and days: the share of topics in each, and which of them reads well."""

from __future__ import annotations

import numpy as np

from ..corpus.corpus import Corpus
from ..engine.checks import check_choice
from .group_sums import sums_by_group

__all__ = ["PERIODS", "check_dates", "chosen_period", "readable_period", "shares_over_time"]

PERIODS = {"year": "Y", "month": "M", "week": "W", "day": "D"}
_FEWEST, _MOST = 6, 400  # periods that still read as a curve


def check_dates(corpus: Corpus) -> np.ndarray:
    """The timestamps of a corpus, some of them known, or a ValueError that says what to do."""
    if corpus.timestamps is None:
        raise ValueError("the corpus has no timestamps: name their column when reading, timestamp='...'")
    if np.isnat(corpus.timestamps).all():
        raise ValueError("no document of the corpus has a date")
    return corpus.timestamps


def chosen_period(timestamps: np.ndarray, by: str | None) -> str:
    """The period asked for, checked, or where none is, a readable one."""
    if by is None:
        return readable_period(timestamps)
    check_choice("by", by, tuple(PERIODS))
    return by


def readable_period(timestamps: np.ndarray, fewest: int = _FEWEST, most: int = _MOST) -> str:
    """The longest of year, month, week and day that cuts the dates into `fewest` periods or more, but not too many.

    >>> readable_period(np.array(["2001-03", "2004-08", "2004-09"], "datetime64[s]"), fewest=3, most=100)
    'month'
    """
    dates = timestamps[~np.isnat(timestamps)]
    chosen, most_yet = "year", 0
    for by, unit in PERIODS.items():
        n_periods = len(np.unique(dates.astype(f"datetime64[{unit}]")))
        if n_periods > most or most_yet >= fewest:
            break
        if n_periods > most_yet:  # else a shorter period tells no more
            chosen, most_yet = by, n_periods
    return chosen


def shares_over_time(
    doc_topic: np.ndarray, timestamps: np.ndarray, by: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The periods, the mean memberships in each, and the number of its documents; undated documents are left out."""
    dated = np.flatnonzero(~np.isnat(timestamps))
    periods, where = np.unique(timestamps[dated].astype(f"datetime64[{PERIODS[by]}]"), return_inverse=True)
    n_documents = np.bincount(where)
    share = sums_by_group(doc_topic, dated, where, len(periods))
    return periods, share / n_documents[:, None], n_documents
