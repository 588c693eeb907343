"""Metadata of the documents on the page: numbers and dates to filter by range, categories to filter by value."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..corpus.corpus import Corpus
from .document_table import shortened
from .topic_table import as_number

__all__ = ["metadata_table"]

_CATEGORIES = 200  # distinct values of a column to choose from; with more, the value is only shown with its document
_LONGEST = 200  # characters of a value


def metadata_table(corpus: Corpus, rows: np.ndarray) -> tuple[list[dict[str, Any]], dict[str, list[Any]]]:
    """Facts about the columns, {name, kind, names}, and their values by document, 'metadata0', 'metadata1' ...

    Missing values of the kinds 'number' and 'date' are None and ''. The values of a 'category' are positions in its
    names, the most frequent name first, and -1 if missing; a 'text' has too many distinct values for that.
    """
    facts, columns = [], {}
    for number, (name, values) in enumerate(corpus.metadata.items()):
        column = _column(values[rows])
        columns[f"metadata{number}"] = column.pop("values")
        facts.append({"name": shortened(name, _LONGEST), **column})
    return facts, columns


def _column(values: np.ndarray) -> dict[str, Any]:
    if values.dtype.kind == "M":
        return {
            "kind": "date",
            "values": ["" if np.isnat(date) else str(date.astype("datetime64[D]")) for date in values],
        }
    if values.dtype.kind in "iuf":
        return {"kind": "number", "values": [as_number(value, 6) for value in values.tolist()]}
    texts = [shortened(str(value), _LONGEST) for value in values.tolist()]
    frequency: dict[str, int] = {}
    for text in texts:
        if text:
            frequency[text] = frequency.get(text, 0) + 1
    if len(frequency) > min(_CATEGORIES, max(2, len(texts) // 2)):  # ids and notes are not categories
        return {"kind": "text", "values": texts}
    names = sorted(frequency, key=lambda text: (-frequency[text], text))
    number = {name: place for place, name in enumerate(names)} | {"": -1}
    return {"kind": "category", "names": names, "values": [number[text] for text in texts]}
