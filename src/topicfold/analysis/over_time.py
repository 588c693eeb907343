"""What moved between two slices of a corpus, and topics over time; for any model that gives memberships.

The report on TTMM (Keller and Bengio 2003, section 4.1) proposes to detect drift by the Kullback-Leibler divergence
between the distributions of two slices. A divergence alone says little, since two random halves differ too; so it comes
with a permutation test, and with the topics that make it up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..corpus.corpus import Corpus
from ..models.trees import topic_tree, transformed

__all__ = [
    "Drift",
    "Moved",
    "TopicsOverTime",
    "drift",
    "memberships",
    "readable_period",
    "shares_over_time",
    "topics_over_time",
]

_PERIODS = {"year": "Y", "month": "M", "week": "W", "day": "D"}
_SMALLEST = 1e-12
_SHOWN = 10


class Moved(NamedTuple):
    """A topic's share of the documents before and after, and its part of the divergence."""

    topic: int
    before: float
    after: float
    part: float


@dataclass(frozen=True)
class Drift:
    """How far two slices are apart, made by `drift`."""

    divergence: float  # KL(after || before), in nats
    p_value: float  # share of random splits of the same documents that are at least as far apart
    moved: tuple[Moved, ...]  # the topics, the largest part of the divergence first

    def __str__(self) -> str:
        lines = [
            f"divergence {self.divergence:.4f} nats, p = {self.p_value:.4g}",
            f"{'topic':>6} {'before':>8} {'after':>8} {'part':>9}",
        ]
        lines += [f"{m.topic:>6} {m.before:>8.2%} {m.after:>8.2%} {m.part:>9.4f}" for m in self.moved[:_SHOWN]]
        return "\n".join(lines)


def drift(
    model: Any, before: Any, after: Any, *, of: str = "topics", n_permutations: int = 999, random_state: Any = 0
) -> Drift:
    """How the mix of topics (or, `of='themes'`, of a TTMM's themes) moved from one slice of documents to another.

    The divergence is KL(after || before) = sum_k q_k log(q_k / p_k), with p and q the mean memberships of the slices.
    Its p-value is by permutation: documents are dealt to the two slices at random, n_permutations times.

    >>> from topicfold import Corpus, PLSA
    >>> corpus = Corpus.from_texts(["cat dog", "dog cat cat", "sun moon", "moon sun sun"] * 5)
    >>> model = PLSA(2, random_state=0).fit(corpus)
    >>> drift(model, ["cat dog"] * 10, ["sun moon"] * 10).p_value
    0.001
    """
    from sklearn.utils import check_random_state

    if n_permutations < 1:
        raise ValueError(f"n_permutations={n_permutations}: expected at least 1")
    slices = [memberships(model, X, of) for X in (before, after)]
    pooled = np.vstack(slices)
    n_before = len(slices[0])
    found = _divergence(slices[0].mean(axis=0), slices[1].mean(axis=0))
    rng = check_random_state(random_state)
    total, as_far = pooled.sum(axis=0), 1
    for _ in range(n_permutations):
        first = pooled[rng.permutation(len(pooled))[:n_before]].sum(axis=0)
        value = _divergence(first / n_before, (total - first) / (len(pooled) - n_before)).sum()
        as_far += bool(value >= found.sum() - 1e-15)
    p, q = slices[0].mean(axis=0), slices[1].mean(axis=0)
    order = np.argsort(-np.abs(found), kind="stable")
    moved = tuple(Moved(int(k), float(p[k]), float(q[k]), float(found[k])) for k in order)
    return Drift(float(found.sum()), as_far / (n_permutations + 1), moved)


def memberships(model: Any, X: Any, of: str = "topics") -> np.ndarray:
    """Topics or themes of documents, each row summing to one."""
    if of not in ("topics", "themes"):
        raise ValueError(f"of={of!r}: expected 'topics' or 'themes'")
    if of == "themes" and not hasattr(model, "features"):
        raise ValueError(f"{type(model).__name__} has no themes")
    values = transformed(model, X, "themes" if of == "themes" else "tokens").astype(np.float64)
    if len(values) == 0:
        raise ValueError("a slice has no documents")
    return values / np.maximum(values.sum(axis=1, keepdims=True), _SMALLEST)


def _divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The terms of KL(q || p), which sum to it."""
    p, q = np.maximum(p, _SMALLEST), np.maximum(q, _SMALLEST)
    p, q = p / p.sum(), q / q.sum()
    return q * np.log(q / p)


@dataclass(frozen=True)
class TopicsOverTime:
    """The share of each topic in each period, made by `topics_over_time`."""

    periods: np.ndarray  # datetime64, in order
    share: np.ndarray  # periods x topics; rows sum to one
    n_documents: np.ndarray  # in each period
    names: tuple[str, ...]  # of the topics

    def to_frame(self) -> Any:
        """A pandas data frame, periods x topics."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install 'topicfold[frame]'") from None
        return pd.DataFrame(self.share, index=pd.Index(self.periods.astype(str), name="period"), columns=self.names)

    def __str__(self) -> str:
        change = self.share[-1] - self.share[0]
        lines = [f"{len(self.periods)} periods, {self.periods[0]} to {self.periods[-1]}"]
        for k in np.argsort(-np.abs(change), kind="stable")[:_SHOWN]:
            lines.append(f"{self.share[0, k]:>7.2%} -> {self.share[-1, k]:>7.2%}  {self.names[k]}")
        return "\n".join(lines)

    def plot(self, n_topics: int = 12) -> Any:
        """Small multiples of the topics that moved most, as a matplotlib figure."""
        from ..plots.topic_figures import over_time

        return over_time(self, n_topics)


def topics_over_time(model: Any, corpus: Corpus, by: str = "year") -> TopicsOverTime:
    """The mean memberships of the documents of each year, month, week or day. Undated documents are left out."""
    if by not in _PERIODS:
        raise ValueError(f"by={by!r}: expected one of {', '.join(_PERIODS)}")
    if corpus.timestamps is None:
        raise ValueError("the corpus has no timestamps: name their column when reading, timestamp='...'")
    dated = ~np.isnat(corpus.timestamps)
    if not dated.any():
        raise ValueError("no document of the corpus has a date")
    tree = topic_tree(model, corpus)
    names = tuple(tree.name(int(topic)) for topic in tree.ids)
    return TopicsOverTime(*shares_over_time(tree.doc_topic, corpus.timestamps, by), names)


def shares_over_time(
    doc_topic: np.ndarray, timestamps: np.ndarray, by: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The periods, the mean memberships in each, and the number of its documents; undated documents are left out."""
    dated = ~np.isnat(timestamps)
    periods, where = np.unique(timestamps[dated].astype(f"datetime64[{_PERIODS[by]}]"), return_inverse=True)
    n_documents = np.bincount(where)
    share = np.zeros((len(periods), doc_topic.shape[1]))
    np.add.at(share, where, doc_topic[dated])
    return periods, share / n_documents[:, None], n_documents


def readable_period(timestamps: np.ndarray, fewest: int, most: int) -> str:
    """The longest of year, month, week and day that cuts the dates into `fewest` periods or more, but not too many.

    >>> readable_period(np.array(["2001-03", "2004-08", "2004-09"], "datetime64[s]"), fewest=3, most=100)
    'month'
    """
    dates = timestamps[~np.isnat(timestamps)]
    chosen, most_yet = "year", 0
    for by, unit in _PERIODS.items():
        n_periods = len(np.unique(dates.astype(f"datetime64[{unit}]")))
        if n_periods > most or most_yet >= fewest:
            break
        if n_periods > most_yet:  # else a shorter period tells no more
            chosen, most_yet = by, n_periods
    return chosen
