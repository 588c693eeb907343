"""Guess the text, id, title, label and date columns of a table from their names and values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from .dates import as_timestamp
from .fields import as_text, is_missing
from .formats import Record
from .readers import Columns

__all__ = ["GuessedColumns", "guess_columns"]

_ROWS = 500  # number of rows that are used
_NAMES = {
    "text": ("text", "body", "content", "review", "abstract", "description", "message", "comment", "tweet", "document"),
    "id": ("id", "key", "uuid", "doi", "url", "identifier"),
    "title": ("title", "headline", "subject", "name", "heading"),
    "labels": ("label", "labels", "category", "categories", "class", "section", "genre", "topic", "type", "tag"),
    "timestamp": ("date", "timestamp", "time", "datetime", "created", "published", "year", "day", "month"),
}
_MOST_LABELS = 60
_MOST_VALUES = 30  # distinct values of a text column that is kept as metadata


class GuessedColumns(NamedTuple):
    """The guessed columns, and one line per column with the reason."""

    columns: Columns
    reasons: tuple[str, ...]


class _Column:
    """What the first values of a column say about it."""

    def __init__(self, name: str, values: Sequence[Any]) -> None:
        self.name = name
        self.known = [as_text(value).strip() for value in values if not is_missing(value)]
        self.known = [value for value in self.known if value]
        self.n = len(values)
        self.distinct = len(set(self.known))
        self.words = sum(len(value.split()) for value in self.known) / max(len(self.known), 1)
        self.is_number = bool(self.known) and all(_is_number(value) for value in self.known)

    def is_named(self, role: str) -> bool:
        """Whether the column name, or its first or last part, is one of the usual names for the role."""
        parts = self.name.lower().replace("-", "_").replace(" ", "_").split("_")
        return parts[-1] in _NAMES[role] or parts[0] in _NAMES[role]

    def is_date(self) -> bool:
        """Whether nearly all values are dates or years."""
        if self.is_number:
            return all(len(value) == 4 and 1000 <= float(value) <= 2200 for value in self.known) and bool(self.known)
        return bool(self.known) and sum(map(_is_date, self.known)) >= 0.95 * len(self.known)


def guess_columns(records: Sequence[Record]) -> GuessedColumns:
    """Guess the columns of a table from its first rows.

    >>> rows = [{"review_id": str(n), "body": f"a long text about thing {n}", "stars": n % 5} for n in range(20)]
    >>> guessed = guess_columns(rows)
    >>> guessed.columns.text, guessed.columns.id, guessed.columns.metadata
    ('body', 'review_id', ('stars',))
    """
    rows = list(islice(records, _ROWS))
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: _Column(name, [row.get(name) for row in rows]) for name in names}
    if not columns:
        raise ValueError("the file has no columns: expected a table with a column of texts")
    text = _text_column(list(columns.values()))
    left = [column for column in columns.values() if column is not text and column.known]
    found: dict[str, str] = {}
    reasons = [f"text: {text.name} ({text.words:.0f} words on average)"]

    def take(role: str, fits: list[_Column], why: str) -> None:
        if fits:
            found[role] = fits[0].name
            reasons.append(f"{role}: {fits[0].name} ({why})")
            left.remove(fits[0])

    take("timestamp", [column for column in left if column.is_named("timestamp") and column.is_date()], "dates")
    take("id", [c for c in left if c.is_named("id") and c.distinct == len(c.known) == c.n], "all different")
    titled = [c for c in left if c.is_named("title") and not c.is_number and c.distinct > len(c.known) / 2]
    take("title", titled, "by its name")
    labels = [c for c in left if c.is_named("labels") and 2 <= c.distinct <= min(_MOST_LABELS, len(c.known) // 2)]
    take("labels", labels, f"{labels[0].distinct} values" if labels else "")
    metadata = tuple(c.name for c in left if _is_metadata(c))
    if metadata:
        reasons.append(f"metadata: {', '.join(metadata)}")
    return GuessedColumns(Columns(text=text.name, metadata=metadata, **found), tuple(reasons))


def _text_column(columns: list[_Column]) -> _Column:
    """The column with the most words among those named like a text column, or among all if none is."""
    texts = [column for column in columns if column.known and not column.is_number and not column.is_date()]
    if not texts:
        listed = ", ".join(column.name for column in columns[:8])
        raise ValueError(f"no text column found among {listed}: name it with --text")
    named = [column for column in texts if column.is_named("text") and column.words >= 2]
    return max(named or texts, key=lambda column: column.words)


def _is_metadata(column: _Column) -> bool:
    if column.is_number:
        return column.distinct > 1
    return 2 <= column.distinct <= min(_MOST_VALUES, len(column.known) // 2)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_date(text: str) -> bool:
    try:
        as_timestamp(text)
    except ValueError:
        return False
    return True
