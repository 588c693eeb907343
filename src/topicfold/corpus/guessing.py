"""Guess the text, id, title, label and date columns of a table from their names and values, and the language.

Guesses are made from the first rows, and then checked against all rows: a guessed column that could not be read is left
out, with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import islice
from typing import Any, NamedTuple

from .dates import as_timestamp
from .fields import as_text, is_missing
from .formats import Record
from .preprocessing import stop_word_languages, stop_words_of
from .readers import Columns

__all__ = ["GuessedColumns", "checked_guess", "guess_columns", "guess_language"]

_ROWS = 500  # number of rows that are used
_NAMES = {  # the most telling names first
    "text": ("text", "body", "content", "review", "abstract", "description", "message", "comment", "tweet", "answer",
             "post", "document"),
    "id": ("id", "key", "uuid", "doi", "url", "identifier"),
    "title": ("title", "headline", "subject", "heading", "summary", "name"),
    "labels": ("label", "labels", "category", "categories", "class", "section", "genre", "topic", "type", "tag",
               "tags"),
    "timestamp": ("date", "timestamp", "time", "datetime", "created", "published", "year", "day", "month"),
}  # fmt: skip
_DATE_FORMATS = [f"%{first}{mark}%{second}{mark}%Y" for mark in "/.-" for first, second in ("dm", "md")]
_TIMES = ("", " %H:%M", " %H:%M:%S")
_MOST_LABELS = 60
_MOST_VALUES = 30  # distinct values of a text column that is kept as metadata
_TEXT_PART = 0.2  # a column named like a text column has at least this part of the words of the longest column
_LEAST_STOP_WORDS = 0.15  # share of a text's words that are stop words of its language
_INDEX = ("", "index", "unnamed: 0")  # names of the column that pandas writes for its index


class GuessedColumns(NamedTuple):
    """The guessed columns, one line per column with the reason, and the columns that are not used."""

    columns: Columns
    reasons: tuple[str, ...]
    unused: tuple[str, ...]


class _Column:
    """What the first values of a column say about it."""

    def __init__(self, name: str, values: Sequence[Any]) -> None:
        self.name = name
        present = [value for value in values if not is_missing(value)]
        self.holds_dates = bool(present) and all(isinstance(value, date) for value in present)
        self.holds_lists = any(isinstance(value, list | tuple) for value in present)
        self.holds_objects = any(isinstance(value, dict) for value in present)
        self.parts = [as_text(part) for value in present for part in (value if self.holds_lists else [value])]
        self.known = [as_text(value).strip() for value in present]
        self.known = [value for value in self.known if value]
        self.n = len(values)
        self.distinct = len(set(self.parts if self.holds_lists else self.known))
        self.words = sum(len(value.split()) for value in self.known) / max(len(self.known), 1)
        self.is_number = bool(self.known) and all(_is_number(value) for value in self.known)

    def rank(self, role: str) -> int | None:
        """The place of the column's name, or of its first or last part, among the names of the role; None if absent."""
        split = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.name)  # reviewTime
        parts = re.split(r"[\W_]+", split.strip().lower())
        places = [_NAMES[role].index(part) for part in (parts[-1], parts[0]) if part in _NAMES[role]]
        return min(places, default=None)

    def date_format(self) -> str | None:
        """'' if nearly all values are dates as they are, their format if a single one fits all, otherwise None."""
        if self.is_number:
            years = all(len(value) == 4 and 1000 <= float(value) <= 2200 for value in self.known)
            return "" if years else None
        if not self.known:
            return None
        if self.holds_dates or sum(_is_date(value, None) for value in self.known) >= 0.95 * len(self.known):
            return ""
        forms = [form + time for form in _DATE_FORMATS for time in _TIMES]
        fitting = [form for form in forms if all(_is_date(value, form) for value in self.known)]
        return fitting[0] if len(fitting) == 1 else None

    def is_metadata(self) -> bool:
        """Whether the column has a few values, or numbers, one per document."""
        if self.holds_lists or self.holds_objects or self.name.strip().lower() in _INDEX:
            return False
        if self.is_number:
            return self.distinct > 1
        return 2 <= self.distinct <= min(_MOST_VALUES, len(self.known) // 2)


def guess_columns(records: Iterable[Record]) -> GuessedColumns:
    """Guess the columns of a table from its first rows.

    >>> rows = [{"review_id": str(n), "body": f"a long text about thing {n}", "stars": n % 5} for n in range(20)]
    >>> guessed = guess_columns(rows)
    >>> guessed.columns.text, guessed.columns.id, guessed.columns.metadata
    ('body', 'review_id', ('stars',))
    """
    rows = list(islice(records, _ROWS))
    if not rows:
        raise ValueError("the file has no documents: expected a table with a column of texts")
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_Column(name, [row.get(name) for row in rows]) for name in names]
    text = _text_column(columns)
    left = [column for column in columns if column is not text and column.known]
    found: dict[str, str] = {}
    reasons = [f"text: {text.name} ({text.words:.0f} words on average)"]

    def take(role: str, fits: list[_Column], why: str) -> None:
        best = min(fits, key=lambda column: column.rank(role) or 0, default=None)
        if best is not None:
            found[role] = best.name
            reasons.append(f"{role}: {best.name} ({why.format(best.distinct)})")
            left.remove(best)

    form = None
    dated = [column for column in left if column.holds_dates or column.rank("timestamp") is not None]
    dated = [column for column in dated if column.date_format() is not None]
    if dated:
        first = min(dated, key=lambda column: column.rank("timestamp") or 0)
        form = first.date_format() or None
        take("timestamp", [first], f"dates in the format {form}" if form else "dates")
    simple = [column for column in left if not (column.holds_lists or column.holds_objects)]
    take("id", [c for c in simple if c.rank("id") is not None and c.distinct == len(c.known) == c.n], "all different")
    simple = [column for column in simple if column in left]
    titled = [c for c in simple if c.rank("title") is not None and not c.is_number and c.distinct > len(c.known) / 2]
    take("title", titled, "by its name")
    labels = [c for c in left if c.rank("labels") is not None and not c.holds_objects]
    take("labels", [c for c in labels if 2 <= c.distinct <= min(_MOST_LABELS, len(c.known) // 2)], "{} values")
    metadata = tuple(column.name for column in left if column.is_metadata())
    if metadata:
        reasons.append(f"metadata: {', '.join(metadata)}")
    unused = tuple(column.name for column in left if column.name not in metadata and column.name.strip())
    columns_found = Columns(text=text.name, metadata=metadata, date_format=form, **found)
    return GuessedColumns(columns_found, tuple(reasons), unused)


def checked_guess(guessed: GuessedColumns, records: Iterable[Record]) -> tuple[GuessedColumns, int]:
    """The guess without the columns that cannot be used in some row, and the number of rows.

    `guess_columns` has looked at the first rows alone.
    """
    columns = guessed.columns
    ids: set[str] = set()
    wrong: dict[str, str] = {}
    n_rows = 0
    for record in records:
        n_rows += 1
        if columns.id is not None and "id" not in wrong:
            value = record.get(columns.id)
            name = "" if is_missing(value) else as_text(value).strip()
            if not name or name in ids:
                wrong["id"] = f"{name!r:.40} occurs more than once" if name else "a value is missing"
            ids.add(name)
        if columns.timestamp is not None and "timestamp" not in wrong:
            value = record.get(columns.timestamp)
            if not is_missing(value) and not _is_date(value, columns.date_format):
                wrong["timestamp"] = f"{value!r:.40} is not such a date"
        for name in columns.metadata:
            if name not in wrong and isinstance(record.get(name), list | tuple | dict):
                wrong[name] = "a value is not single"
    if not wrong:
        return guessed, n_rows
    dropped = {getattr(columns, role) if role in ("id", "timestamp") else role: why for role, why in wrong.items()}
    kept = columns._replace(metadata=tuple(name for name in columns.metadata if name not in wrong))
    kept = kept._replace(id=None) if "id" in wrong else kept
    kept = kept._replace(timestamp=None, date_format=None) if "timestamp" in wrong else kept
    reasons = [reason for reason in guessed.reasons if reason.partition(":")[0] not in (*wrong, "metadata")]
    reasons += [f"metadata: {', '.join(kept.metadata)}"] if kept.metadata else []
    unused = (*guessed.unused, *(f"{name} ({why})" for name, why in dropped.items()))
    return GuessedColumns(kept, tuple(reasons), unused), n_rows


def guess_language(texts: Iterable[str]) -> str | None:
    """The language whose stop words are the largest part of the texts, of those with a list; None if none is.

    >>> guess_language(["the cat is on the mat", "not a dog"]), guess_language(["der Hund und die Katze sind da"])
    ('english', 'german')
    """
    words = Counter(word for text in islice(texts, _ROWS) for word in re.findall(r"\w+", text.lower()))
    share = {
        language: sum(words[word] for word in stop_words_of(language)) / max(words.total(), 1)
        for language in stop_word_languages()
    }
    best = max(share, key=lambda language: share[language])
    return best if share[best] >= _LEAST_STOP_WORDS else None


def _text_column(columns: list[_Column]) -> _Column:
    """The column with the most words among those named like a text column, or among all if none is."""
    texts = [column for column in columns if column.known and not column.is_number and column.date_format() is None]
    texts = [column for column in texts if not column.holds_objects]
    if not texts:
        listed = ", ".join(f"{column.name:.40}" for column in columns[:8])
        raise ValueError(f"no text column found among {listed}: name it with --text")
    least = max(2, _TEXT_PART * max(column.words for column in texts))
    named = [column for column in texts if column.rank("text") is not None and column.words >= least]
    return max(named or texts, key=lambda column: column.words)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_date(value: Any, form: str | None) -> bool:
    try:
        as_timestamp(value, form)
    except ValueError:
        return False
    return True
