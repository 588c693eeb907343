"""What `select` measured, as a table, and which point it recommends; the rule is in selection.py."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any

import numpy as np

from ..engine.checks import is_number
from ..engine.extras import import_extra

__all__ = ["Row", "Selection"]

PER_TOKEN = "nats per token"
_LINE = 100


@dataclass(frozen=True)
class Row:
    """What was measured at one point of the grid: means over folds and seeds; errors are standard errors over folds."""

    model: str
    params: dict[str, Any]
    score: float = math.nan  # on held-out documents, in the model's unit
    score_error: float = math.nan
    behind: float = math.nan  # how much lower than the best point's score
    behind_error: float = math.nan  # of that difference, fold by fold
    perplexity: float = math.nan  # only where the score is a token's log-likelihood
    coherence: float = math.nan  # c_npmi of the best words, a training document being a window
    coherence_error: float = math.nan
    diversity: float = math.nan
    stability: float = math.nan  # similarity of matched topics between fits
    topics: float = math.nan  # how many the fits have
    seconds: float = math.nan  # CPU time of a fit, the median
    failed: str | None = None  # why there are no figures


@dataclass(frozen=True, repr=False)
class Selection:
    """The points of a grid with what was measured, and which one is recommended. Made by `select`."""

    rows: tuple[Row, ...]
    chosen: int  # row of the recommended point
    reason: str
    unit: str
    n_splits: int
    n_seeds: int

    @property
    def best(self) -> dict[str, Any]:
        """The recommended parameters."""
        return self.best_row.params

    @property
    def best_row(self) -> Row:
        """The recommended point with its figures, and the name of its model."""
        return self.rows[self.chosen]

    def __str__(self) -> str:
        counted = [_counted(len(self.rows), "point"), _counted(self.n_splits, "fold"), _counted(self.n_seeds, "seed")]
        head = f"{counted[0]}, {counted[1]} x {counted[2]}; held-out score in {self.unit}"
        return "\n".join([head, *_table(self.rows, self.chosen), "", fill(self.reason, _LINE)])

    __repr__ = __str__

    def to_json(self) -> str:
        """Everything as JSON; a figure that does not exist is null."""
        rows = [{name: _plain(value) for name, value in asdict(row).items()} for row in self.rows]
        content = {"best": _plain(self.best), "model": self.best_row.model, "reason": self.reason, "unit": self.unit}
        return json.dumps(
            {**content, "n_splits": self.n_splits, "n_seeds": self.n_seeds, "rows": rows}, ensure_ascii=False
        )

    def to_frame(self) -> Any:
        """The points as a pandas data frame, one row each; parameters are columns."""
        pd = import_extra("pandas", "frame", "to_frame")
        records = []
        for number, row in enumerate(self.rows):
            figures = asdict(row)
            records.append({"model": figures.pop("model"), **figures.pop("params"), **figures})
            records[-1]["recommended"] = number == self.chosen
        return pd.DataFrame.from_records(records)

    def plot(self) -> Any:
        """Score, coherence and stability as a matplotlib figure."""
        from ..plots.choosing import selection

        return selection(self)


def _mean_and_error(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def _recommend(rows: list[Row], first: int, unit: str) -> tuple[int, str]:
    """The row to take, and why, in one sentence."""
    close = [number for number, row in enumerate(rows) if row.behind <= row.behind_error or number == first]
    chosen = min(close, key=lambda number: (-round(rows[number].stability, 2), rows[number].topics, number))
    several = len({row.model for row in rows}) > 1

    def said(number: int) -> str:
        return f"{rows[number].model} with " * several + _said(rows[number].params)

    best = f"the best held-out score ({rows[first].score:.4f} {unit})"
    if len(close) == 1:
        reason = f"{said(first)} has {best}, more than one standard error ahead of every other point"
        reason = reason if len(rows) > 1 else f"{said(first)} is the only point"
    else:
        stable = f"the most stable ({rows[chosen].stability:.2f})"
        whose = f"which {said(first)} has" if chosen != first else "which it has itself"
        reason = f"{said(chosen)} is {stable} of the {len(close)} points within one standard error of {best}, {whose}"
    return chosen, reason + _edge(rows, first) + "."


def _edge(rows: list[Row], first: int) -> str:
    """A remark where the best score lies at an end of the grid, so that a better one may lie beyond; else nothing."""
    ends = []
    for name, value in rows[first].params.items():
        # A point that failed is a limit too: there is nothing to try beyond it.
        tried = [row.params[name] for row in rows if row.model == rows[first].model]
        if not all(is_number(one) for one in tried) or len(set(tried)) < 2:
            continue
        least = 1 if all(isinstance(one, int | np.integer) for one in tried) else 0
        if value == max(tried):
            ends.append(f"the largest {name} tried ({_said_value(value)})")
        elif value == min(tried) and value > least:
            ends.append(f"the smallest {name} tried ({_said_value(value)})")
    return f"; the best score lies at {' and '.join(ends)}, so widen the grid there" if ends else ""


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _said(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_said_value(value)}" for name, value in params.items())


def _said_value(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float | np.floating) else str(value)
    return text if len(text) <= 30 else text[:27] + "..."


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _table(rows: Sequence[Row], chosen: int) -> list[str]:
    """Lines of a table, columns to the right, the recommended row marked; failures stand below it."""
    names = list(dict.fromkeys(name for row in rows for name in row.params))
    several = len({row.model for row in rows}) > 1
    own_topics = any(row.failed is None and row.topics not in row.params.values() for row in rows)
    head = ["", *["model"] * several, *names, "score", "behind best", "perplexity", "coherence", "diversity"]
    head += ["stability", *["topics"] * own_topics, "CPU s"]
    lines, failures = [head], []
    for number, row in enumerate(rows):
        start = ["*" if number == chosen else "", *[row.model] * several]
        start += [_said_value(row.params[name]) if name in row.params else "" for name in names]
        if row.failed is not None:
            lines.append([*start, *["-"] * (len(head) - len(start))])
            failures.append(f"{_said(row.params)} failed: {row.failed}")
            continue
        behind = f"{row.behind:.4f} ± {row.behind_error:.4f}" if row.behind or row.behind_error else "0"
        figures = [f"{row.score:.4f} ± {row.score_error:.4f}", behind]
        figures += ["-" if math.isnan(row.perplexity) else f"{row.perplexity:,.0f}", f"{row.coherence:.3f}"]
        figures += [f"{row.diversity:.2f}", f"{row.stability:.2f}", *[f"{row.topics:.4g}"] * own_topics]
        lines.append([*start, *figures, f"{row.seconds:.2f}"])
    widths = [max(map(len, column)) for column in zip(*lines)]
    return [*("  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines), *failures]
