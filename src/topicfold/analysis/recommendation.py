"""The results of `select` as a table, and the recommended point.

The rule: held-out likelihood usually keeps rising with the number of topics, while fits to different documents agree
best if there are few. So the rule takes the point with the best balance of its stability and its share of the gain of
the best point over the unigram model, where numbers of topics near an end of the grid need more of both (`balances`).
Equal balances go to fewer topics. If there is no unigram model to compare with, or nothing is gained over it, it takes
the most stable point within one standard error of the best score and, among equally stable points, the one with the
fewest topics. The standard error is that of the difference from the best point over folds, so the difficulty of a fold
cancels out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any

import numpy as np

from ..engine.checks import is_number
from ..models.em.number_of_topics import SIZES, balances

__all__ = ["Selection", "SelectionRow", "beyond", "recommend"]

PER_TOKEN = "nats per token"
_LINE = 100


@dataclass(frozen=True)
class SelectionRow:
    """The measures of `select` at one point of the grid: means over folds and seeds.

    Errors are standard errors over folds. A value that was not measured is NaN.

    Attributes
    ----------
    model : str
        Name of the model.
    params : dict
        Its parameters.
    score : float
        Score on held-out documents, in the unit of the model.
    score_error : float
        Standard error of the score.
    behind : float
        Difference between the score of the best point and this score.
    behind_error : float
        Standard error of that difference, computed fold by fold.
    perplexity : float
        Perplexity, if the score is a log-likelihood per token.
    coherence : float
        NPMI of the best words, with each training document as one window.
    coherence_error : float
        Standard error of the coherence.
    diversity : float
        Share of distinct words among the best words of all topics.
    stability : float
        How well the fits agree about which documents belong together.
    topics : float
        Mean number of topics.
    seconds : float
        Median CPU time of a fit.
    failed : str or None
        The reason if the point failed and has no values.

    See Also
    --------
    Selection : The result that it is part of.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, select
    >>> corpus = Corpus.from_texts(["cat dog cat dog", "dog cat dog cat", "sun moon sun", "moon star sun star"] * 6)
    >>> result = select(PLSA(), corpus, {"n_topics": [1, 2]})
    >>> result.rows[0].params
    {'n_topics': 1}
    """

    model: str
    params: dict[str, Any]
    score: float = math.nan
    score_error: float = math.nan
    behind: float = math.nan
    behind_error: float = math.nan
    perplexity: float = math.nan
    coherence: float = math.nan
    coherence_error: float = math.nan
    diversity: float = math.nan
    stability: float = math.nan
    topics: float = math.nan
    seconds: float = math.nan
    failed: str | None = None


@dataclass(frozen=True, repr=False)
class Selection:
    """The points of a grid with their measures, and the recommended one; made by `select`.

    Attributes
    ----------
    rows : tuple of Row
        The points of the grid.
    chosen : int
        Row of the recommended point.
    reason : str
        Why it is recommended.
    unit : str
        Unit of the scores.
    n_splits : int
        Number of folds.
    n_seeds : int
        Number of fits per point and fold.
    baselines : tuple of Row
        The score without topics, that of the unigram model, if scores are log-likelihoods per token.
    at_edge : tuple of str
        Parameters that are at an end of the grid at the recommended point.
    interrupted : bool
        Whether Ctrl-C ended the work: then points whose fits are not complete are missing.

    See Also
    --------
    select : Makes it.
    SelectionRow : A point of the grid.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, select
    >>> corpus = Corpus.from_texts(["cat dog cat dog", "dog cat dog cat", "sun moon sun", "moon star sun star"] * 6)
    >>> result = select(PLSA(), corpus, {"n_topics": [1, 2]})
    >>> result.best
    {'n_topics': 2}
    """

    rows: tuple[SelectionRow, ...]
    chosen: int
    reason: str
    unit: str
    n_splits: int
    n_seeds: int
    baselines: tuple[SelectionRow, ...] = ()
    at_edge: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def best(self) -> dict[str, Any]:
        """The recommended parameters, as a dict of values by name."""
        return self.best_row.params

    @property
    def best_row(self) -> SelectionRow:
        """The recommended point, with its measures and the name of its model."""
        return self.rows[self.chosen]

    def __str__(self) -> str:
        sizes = [
            _number_of(len(self.rows), "point"),
            _number_of(self.n_splits, "fold"),
            _number_of(self.n_seeds, "seed"),
        ]
        head = f"{sizes[0]}, {sizes[1]} x {sizes[2]}; held-out score in {self.unit}"
        return "\n".join([head, *_table(self.rows, self.chosen, self.baselines), "", fill(self.reason, _LINE)])

    __repr__ = __str__

    def to_json(self) -> str:
        """Return everything as JSON.

        Returns
        -------
        str
            A JSON object; a value that was not measured is null.
        """
        rows = [{name: _plain(value) for name, value in asdict(row).items()} for row in self.rows]
        content = {"best": _plain(self.best), "model": self.best_row.model, "reason": self.reason, "unit": self.unit}
        return json.dumps(
            {**content, **self._more(), "n_splits": self.n_splits, "n_seeds": self.n_seeds, "rows": rows},
            ensure_ascii=False,
        )

    def _more(self) -> dict[str, Any]:
        scores = [{"model": row.model, "score": row.score, "score_error": row.score_error} for row in self.baselines]
        return {"at_edge": list(self.at_edge), "baselines": scores, "interrupted": self.interrupted}

    def table(self) -> Any:
        """Return the points as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row per point; parameters are columns.
        """
        import pandas as pd

        records = []
        for number, row in enumerate(self.rows):
            figures = asdict(row)
            records.append({"model": figures.pop("model"), **figures.pop("params"), **figures})
            records[-1]["recommended"] = number == self.chosen
        return pd.DataFrame.from_records(records)

    def plot(self) -> Any:
        """Draw score, coherence and stability as a matplotlib figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from ..plots.choosing import selection

        return selection(self)


def _mean_and_error(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def recommend(
    rows: Sequence[SelectionRow], first: int, baselines: Sequence[SelectionRow], unit: str
) -> tuple[int, str, tuple[str, ...]]:
    """The recommended row, the reason in one sentence, and its parameters that are at an edge of the grid.

    `first` is the row with the best score.
    """
    floor = max((row.score for row in baselines), default=math.inf)
    if len(rows) > 1 and rows[first].score > floor:
        chosen, reason = _balanced(rows, first, floor)
    else:
        chosen, reason = _most_stable(rows, first, unit)
    edges = _edges(rows, chosen)
    edge_text = " and ".join(
        f"the {'largest' if largest else 'smallest'} {name} tried ({_value_text(rows[chosen].params[name])})"
        for name, largest in edges.items()
    )
    remark = f"; this is {edge_text}, so widen the grid there" if edges else ""
    return chosen, reason + remark + ".", tuple(edges)


def beyond(rows: Sequence[SelectionRow], chosen: int) -> dict[str, Any]:
    """The values to try next: twice or half those at an edge; empty if a size cannot be changed further."""
    further = {}
    for name, largest in _edges(rows, chosen).items():
        value = rows[chosen].params[name]
        further[name] = 2 * value if largest else value // 2 if isinstance(value, int | np.integer) else value / 2
    points_tried = [row.params for row in rows if row.model == rows[chosen].model]
    return further if {**rows[chosen].params, **further} not in points_tried else {}


def _balanced(rows: Sequence[SelectionRow], first: int, floor: float) -> tuple[int, str]:
    """The row with the best balance of stability and gain, among those of the model with the best score."""
    best = rows[first]
    fitted = [number for number, row in enumerate(rows) if row.failed is None and row.model == best.model]
    gain = {number: (rows[number].score - floor) / (best.score - floor) for number in fitted}
    stabilities, topics = ([getattr(rows[number], name) for number in fitted] for name in ("stability", "topics"))
    values = balances(stabilities, list(gain.values()), topics).round(9)
    chosen = min(zip(-values, topics, fitted))[2]
    if len(gain) == 1:
        return chosen, f"{_named(rows, chosen)} has the best held-out score ({best.score:.4f} {PER_TOKEN})"
    stability = rows[chosen].stability
    if stability >= max(rows[number].stability for number in gain):
        reason = f"{_named(rows, chosen)} is the most stable ({stability:.2f}) and "
    else:
        reason = f"{_named(rows, chosen)} balances stability ({stability:.2f}) and prediction best: it "
    if chosen == first:
        return chosen, reason + "has the best held-out score"
    gained = f"reaches {gain[chosen]:.0%} of the best gain over the unigram model"
    return chosen, f"{reason}{gained}, that of {_named(rows, first)}"


def _most_stable(rows: Sequence[SelectionRow], first: int, unit: str) -> tuple[int, str]:
    close = [number for number, row in enumerate(rows) if row.behind <= row.behind_error or number == first]
    chosen = min(close, key=lambda number: (-round(rows[number].stability, 2), rows[number].topics, number))
    best = f"the best held-out score ({rows[first].score:.4f} {unit})"
    if len(rows) == 1:
        return chosen, f"{_named(rows, first)} is the only point"
    if len(close) == 1:
        return chosen, f"{_named(rows, first)} has {best}, more than one standard error ahead of every other point"
    stable = f"the most stable ({rows[chosen].stability:.2f})"
    which_score = f"the score of {_named(rows, first)}" if chosen != first else "which is its own"
    return chosen, (
        f"{_named(rows, chosen)} is {stable} of the {len(close)} points within one standard error of {best}, "
        f"{which_score}"
    )


def _named(rows: Sequence[SelectionRow], number: int) -> str:
    several = len({row.model for row in rows}) > 1
    return f"{rows[number].model} with " * several + _params_text(rows[number].params)


def _edges(rows: Sequence[SelectionRow], chosen: int) -> dict[str, bool]:
    """Numeric parameters that are at an end of the grid, and whether it is the upper end."""
    edges = {}
    for name, value in rows[chosen].params.items():
        # A point that failed is also a limit: there is nothing to try beyond it.
        values_tried = [row.params[name] for row in rows if row.model == rows[chosen].model]
        if not all(is_number(tried) for tried in values_tried) or len(set(values_tried)) < 2:
            continue
        # with fewer topics than the fewest of SIZES, fits agree because there is little to disagree on
        least = SIZES[0] if all(isinstance(tried, int | np.integer) for tried in values_tried) else 0
        if value == max(values_tried):
            edges[name] = True
        elif value == min(values_tried) and value > least:
            edges[name] = False
    return edges


def _number_of(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _params_text(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_value_text(value)}" for name, value in params.items())


def _value_text(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float | np.floating) else str(value)
    return text if len(text) <= 30 else text[:27] + "..."


def _plain(value: Any) -> Any:
    """A value for JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _table(rows: Sequence[SelectionRow], chosen: int, baselines: Sequence[SelectionRow] = ()) -> list[str]:
    """Lines of a table, aligned to the right, with the recommended row marked; baselines and failures follow."""
    names = list(dict.fromkeys(name for row in rows for name in row.params))
    several = len({row.model for row in rows}) > 1
    own_topics = any(row.failed is None and row.topics not in row.params.values() for row in rows)
    head = ["", *["model"] * several, *names, "score", "behind best", "perplexity", "coherence", "diversity"]
    head += ["stability", *["topics"] * own_topics, "CPU s"]
    lines, failures = [head], []
    for number, row in enumerate(rows):
        start = ["*" if number == chosen else "", *[row.model] * several]
        start += [_value_text(row.params[name]) if name in row.params else "" for name in names]
        if row.failed is not None:
            lines.append([*start, *["-"] * (len(head) - len(start))])
            failures.append(f"{_params_text(row.params)} failed: {row.failed}")
            continue
        behind = f"{row.behind:.4f} ± {row.behind_error:.4f}" if row.behind or row.behind_error else "0"
        figures = [f"{row.score:.4f} ± {row.score_error:.4f}", behind]
        figures += ["-" if math.isnan(row.perplexity) else f"{row.perplexity:,.0f}", f"{row.coherence:.3f}"]
        figures += [f"{row.diversity:.2f}", f"{row.stability:.2f}", *[f"{row.topics:.4g}"] * own_topics]
        lines.append([*start, *figures, f"{row.seconds:.2f}"])
    widths = [max(map(len, column)) for column in zip(*lines)]
    without = [f"{row.model}: {row.score:.4f} ± {row.score_error:.4f}, {row.perplexity:,.0f}" for row in baselines]
    below = [f"without topics (score, perplexity): {'; '.join(without)}"] if without else []
    return [*("  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines), *below, *failures]
