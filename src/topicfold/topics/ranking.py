"""Which words say what a topic is about."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

__all__ = ["RELEVANCE", "RankBy", "relevance", "top_word_columns"]

RankBy: TypeAlias = Literal["score", "probability"]

RELEVANCE = 0.6  # weight of log P(w|z) against its lift over the corpus: reads far better than P(w|z) alone


def relevance(topic_word: np.ndarray, word_frequency: np.ndarray, weight: float = RELEVANCE) -> np.ndarray:
    """weight * log P(w|z) + (1 - weight) * log(P(w|z) / P(w)), after Sievert and Shirley (2014); -inf where P is 0.

    A word the corpus does not have is -inf too: in a smoothed topic it has some probability, and no end of lift.

    >>> relevance(np.array([[0.5, 0.5]]), np.array([9, 1])).round(2).tolist()
    [[-0.65, 0.23]]
    """
    known = word_frequency > 0
    overall = np.where(known, word_frequency, 1) / max(word_frequency.sum(), 1)
    with np.errstate(divide="ignore"):
        logs = np.log(topic_word.astype(np.float64))
    return np.where(known, logs - (1 - weight) * np.log(overall), -np.inf)


def top_word_columns(scores: np.ndarray, n: int) -> np.ndarray:
    """The columns with the highest scores, best first; equal ones in the order of the columns."""
    return np.lexsort((np.arange(len(scores)), -np.asarray(scores, dtype=np.float64)))[:n]
