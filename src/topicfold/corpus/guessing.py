"""Guess the text, id, title, label and date columns of a table from their names and values, and the language.

Guesses are made from the first rows, and then checked against all rows: a guessed column that could not be read is left
out, with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from itertools import islice
from typing import Any, NamedTuple

from ..errors import InputError
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
_NOT_METADATA = ("", "index", "unnamed: 0", "id")  # numbers of rows
_UNNAMED = 99  # the rank of a column whose name is not one of the usual names
_FEWEST_WORDS = 50  # to tell a language by


class GuessedColumns(NamedTuple):
    """The columns of a table: those that were given, and guesses for the others."""

    columns: Columns
    reasons: Mapping[str, str]  # of the guesses, by role
    names: tuple[str, ...]  # of all columns
    failed: Mapping[str, str] = {}  # guessed columns that cannot be used, with the reason

    def unused(self) -> list[str]:
        """The columns that are not used, with the reason if a guess failed."""
        used_names = self.columns.names()
        unused_names = [name for name in self.names if name.strip() and name not in used_names]
        return [f"{name} ({self.failed[name]})" if name in self.failed else name for name in unused_names]


class _Column:
    """What the first values of a column say about it."""

    def __init__(self, name: str, values: Sequence[Any]) -> None:
        self.name = name
        present = [value for value in values if not is_missing(value)]
        self.holds_dates = bool(present) and all(isinstance(value, date) for value in present)
        self.holds_lists = any(isinstance(value, list | tuple) for value in present)
        self.holds_objects = any(isinstance(value, dict) for value in present)
        self.parts = [as_text(part) for value in present for part in (value if self.holds_lists else [value])]
        self.filled = [as_text(value).strip() for value in present]
        self.filled = [value for value in self.filled if value]
        self.n = len(values)
        self.distinct = len(set(self.parts if self.holds_lists else self.filled))
        self.words = sum(len(value.split()) for value in self.filled) / max(len(self.filled), 1)
        self.is_number = bool(self.filled) and all(_is_number(value) for value in self.filled)

    def rank(self, role: str) -> int:
        """The place of the column's name, or of its first or last part, among the names of the role."""
        split = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.name)  # reviewTime
        parts = re.split(r"[\W_]+", split.strip().lower())
        places = [_NAMES[role].index(part) for part in (parts[-1], parts[0]) if part in _NAMES[role]]
        return min(places, default=_UNNAMED)

    def date_format(self, fixed_format: str | None = None) -> str | None:
        """'' if nearly all values are dates as they are, their format if a single one fits all, otherwise None.

        If there is a `fixed_format`, only that is tried.
        """
        if fixed_format is not None:
            return fixed_format if self.filled and all(_is_date(value, fixed_format) for value in self.filled) else None
        if self.is_number:
            years = all(len(value) == 4 and 1000 <= float(value) <= 2200 for value in self.filled)
            return "" if years else None
        if not self.filled:
            return None
        if self.holds_dates or sum(_is_date(value, None) for value in self.filled) >= 0.95 * len(self.filled):
            return ""
        forms = [form + time for form in _DATE_FORMATS for time in _TIMES]
        fitting = [form for form in forms if all(_is_date(value, form) for value in self.filled)]
        return fitting[0] if len(fitting) == 1 else None

    def is_metadata(self) -> bool:
        """Whether the column has a few values, or numbers, one per document."""
        if self.holds_lists or self.holds_objects or self.name.strip().lower() in _NOT_METADATA or "," in self.name:
            return False  # names with a comma cannot be listed on the command line
        if self.is_number:
            return self.distinct > 1
        return 2 <= self.distinct <= min(_MOST_VALUES, len(self.filled) // 2)


def guess_columns(
    records: Iterable[Record], fixed: Columns | None = None, roles: Collection[str] = ()
) -> GuessedColumns:
    """Guess the columns of a table from its first rows; `fixed` are those of the `roles` that are not to be guessed.

    >>> rows = [{"review_id": str(n), "body": f"a long text about thing {n}", "stars": n % 5} for n in range(20)]
    >>> guessed = guess_columns(rows)
    >>> guessed.columns.text, guessed.columns.id, guessed.columns.metadata
    ('body', 'review_id', ('stars',))
    """
    fixed = fixed or Columns()
    rows = list(islice(records, _ROWS))
    if not rows:
        raise InputError("the file has no documents: expected a table with a column of texts")
    names = list(dict.fromkeys(name for row in rows for name in row))
    named = {fixed.links, *(getattr(fixed, role) for role in roles if role != "metadata")}
    named |= set(fixed.metadata) if "metadata" in roles else set()
    candidates = [_Column(name, [row.get(name) for row in rows]) for name in names if name not in named]
    guess: dict[str, Any] = {}
    reasons: dict[str, str] = {}

    def take(role: str, fits: list[_Column], why: str) -> None:
        if fits and role not in roles:
            best = min(fits, key=lambda column: column.rank(role))
            guess[role], reasons[role] = best.name, f"{best.name} ({why.format(best)})"
            candidates.remove(best)

    if "text" not in roles:
        text = _text_column(candidates)
        guess["text"], reasons["text"] = text.name, f"{text.name} ({text.words:.0f} words on average)"
        candidates.remove(text)
    candidates = [column for column in candidates if column.filled]
    form = fixed.date_format
    dated = [c for c in candidates if c.holds_dates or c.rank("timestamp") < _UNNAMED or form is not None]
    dated = sorted((c for c in dated if c.date_format(form) is not None), key=lambda column: column.rank("timestamp"))
    if dated and "timestamp" not in roles:
        form = dated[0].date_format(form) or None
        take("timestamp", dated[:1], f"dates in the format {form}" if form else "dates")
    single = [c for c in candidates if not (c.holds_lists or c.holds_objects)]
    take("id", [c for c in single if c.rank("id") < _UNNAMED and c.distinct == len(c.filled) == c.n], "all different")
    titled = [c for c in single if c in candidates and c.rank("title") < _UNNAMED and not c.is_number]
    take("title", [c for c in titled if c.distinct > len(c.filled) / 2], "by its name")
    labels = [c for c in candidates if c.rank("labels") < _UNNAMED and not c.holds_objects]
    few = [c for c in labels if 2 <= c.distinct <= min(_MOST_LABELS, len(c.filled) // 2)]
    take("labels", few, "{0.distinct} values")
    if "metadata" not in roles:
        guess["metadata"] = tuple(column.name for column in candidates if column.is_metadata())
        if guess["metadata"]:
            reasons["metadata"] = ", ".join(guess["metadata"])
    return GuessedColumns(fixed._replace(**guess, date_format=form), reasons, tuple(names))


def checked_guess(guessed: GuessedColumns, records: Iterable[Record]) -> tuple[GuessedColumns, int]:
    """The guess without the columns that cannot be used in some row, and the number of rows.

    `guess_columns` has looked only at the first rows.
    """
    columns, failed = guessed.columns, dict(guessed.failed)
    roles = {getattr(columns, role): role for role in guessed.reasons if role not in ("text", "metadata")}
    roles |= dict.fromkeys(columns.metadata if "metadata" in guessed.reasons else (), "metadata")
    ids: set[str] = set()
    n_rows = 0
    for record in records:
        n_rows += 1
        for name, role in roles.items():
            why = None if name in failed else _problem(record, name, role, columns.date_format, ids)
            if why is not None:
                failed[name] = why
    if not failed:
        return guessed, n_rows
    usable = columns._replace(metadata=tuple(name for name in columns.metadata if name not in failed))
    reasons = dict(guessed.reasons)
    for name, role in roles.items():
        if name in failed and role != "metadata":
            none: dict[str, Any] = {role: None}
            usable = usable._replace(**none)
            del reasons[role]
    reasons |= {"metadata": ", ".join(usable.metadata)} if "metadata" in reasons else {}
    return GuessedColumns(usable, {role: why for role, why in reasons.items() if why}, guessed.names, failed), n_rows


def _problem(record: Record, name: str, role: str, form: str | None, ids: set[str]) -> str | None:
    """Why the value of a row cannot be used for a role, or None if it can; collects the ids."""
    if name not in record:
        return "missing in some rows"
    value = record[name]
    if role == "id":
        text = "" if is_missing(value) else as_text(value).strip()
        problem = "a value is missing" if not text else f"{text!r:.40} occurs more than once" if text in ids else None
        ids.add(text)
        return problem
    if role == "timestamp" and not is_missing(value) and not _is_date(value, form):
        return f"{value!r:.40} is not such a date"
    if role in ("metadata", "title") and isinstance(value, list | tuple | dict):
        return "a value is not single"
    return None


def guess_language(texts: Iterable[str]) -> str | None:
    """The language whose stop words are the largest part of the texts, of those with a list; None if none is.

    >>> guess_language(["the cat is on the mat"] * 10), guess_language(["der Hund und die Katze sind da"] * 10)
    ('english', 'german')
    """
    words = Counter(word for text in islice(texts, _ROWS) for word in re.findall(r"\w+", text.lower()))
    share = {
        language: sum(words[word] for word in stop_words_of(language)) / max(words.total(), 1)
        for language in stop_word_languages()
    }
    best = max(share, key=lambda language: share[language])
    return best if share[best] >= _LEAST_STOP_WORDS and words.total() >= _FEWEST_WORDS else None


def _text_column(columns: list[_Column]) -> _Column:
    """The column with the most words among those named like a text column, or among all if none is."""
    texts = [column for column in columns if column.filled and not column.is_number and column.date_format() is None]
    texts = [column for column in texts if not column.holds_objects]
    if not texts:
        listed = ", ".join(f"{column.name:.40}" for column in columns[:8])
        raise InputError(f"no text column found among {listed}: name it with --text")
    least = max(2, _TEXT_PART * max(column.words for column in texts))
    named = [column for column in texts if column.rank("text") < _UNNAMED and column.words >= least]
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
