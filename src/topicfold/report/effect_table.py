"""Effects of metadata for the explorer: contrasts of the values of each factor, curves along each number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analysis.effects import Effects
from .document_table import shortened
from .topic_table import as_number

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["effect_table"]

_POINTS = 40  # of a curve
_MOST_VALUES = 12  # of a factor that are compared with its first value
_DIGITS = 4


def effect_table(effects: Effects) -> dict[str, Any]:
    """{formula, about, contrasts, curves}.

    A contrast is {column, value, other, topics: [[id, estimate, low, high]]}, of a value of a factor minus its first
    value; a curve is {column, points, topics: [[id, [share, low, high] at each point]]}.
    """
    design = effects.design
    contrasts: list[dict[str, Any]] = []
    curves: list[dict[str, Any]] = []
    for column in design.frame.columns:
        if column in design.factors:
            first, *others = design.levels(column)[: _MOST_VALUES + 1]
            for value in others:
                estimates = effects.contrast(column, value, first)
                rows = zip(estimates["topic"], estimates["estimate"], estimates["low"], estimates["high"])
                topics = [[int(topic), *(as_number(number, _DIGITS) for number in numbers)] for topic, *numbers in rows]
                contrasts.append(
                    {"column": column, "value": shortened(str(value)), "other": shortened(str(first)), "topics": topics}
                )
        else:
            estimates = effects.predict(column, _POINTS)
            points = [as_number(point, 6) for point in estimates["value"].iloc[:_POINTS]]
            curves.append({"column": column, "points": points, "topics": _curves(estimates)})
    return {"formula": shortened(effects.formula), "about": str(effects), "contrasts": contrasts, "curves": curves}


def _curves(predicted: pd.DataFrame) -> list[list[Any]]:
    curves = []
    for topic, rows in predicted.groupby("topic", sort=False):
        points = rows[["share", "low", "high"]].to_numpy().tolist()
        curves.append([int(topic), [[as_number(number, _DIGITS) for number in point] for point in points]])
    return curves
