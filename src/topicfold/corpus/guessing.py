"""Guess the text, id, title, label and date columns of a table from their values and names.

Guesses are made from the first rows, and then checked against all rows: a guessed column that could not be read is left
out. Each column that is not used has a reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ..errors import InputError
from .columns import Columns
from .date_words import folded
from .dates import DateNotes, read_dates
from .fields import as_text, is_missing
from .formats import Record
from .metadata import MOSTLY, may_be_date

__all__ = ["GuessedColumns", "checked_guess", "guess_columns"]

_ROWS = 500  # number of rows that are used
_NAMES = {  # the most telling names first: English, German, French, Spanish, Italian, Portuguese, Chinese
    "text": ("text", "body", "content", "review", "abstract", "description", "message", "comment", "tweet", "answer",
             "post", "document", "inhalt", "antwort", "beschreibung", "nachricht", "kommentar", "texte", "contenu",
             "message", "commentaire", "texto", "contenido", "cuerpo", "mensaje", "comentario", "testo", "contenuto",
             "commento", "conteudo", "正文", "内容", "文本", "评论"),
    "id": ("id", "key", "uuid", "doi", "url", "identifier"),
    "title": ("title", "headline", "subject", "heading", "summary", "titel", "uberschrift", "schlagzeile", "betreff",
              "titre", "titulo", "titular", "asunto", "titolo", "assunto", "标题", "题目", "name"),
    "labels": ("label", "labels", "category", "categories", "class", "section", "genre", "topic", "type", "tag",
               "tags", "kategorie", "klasse", "rubrik", "ressort", "thema", "categorie", "rubrique", "classe",
               "etiquette", "categoria", "seccion", "etiqueta", "etichetta", "secao", "类别", "分类", "标签"),
    "timestamp": ("date", "timestamp", "time", "datetime", "created", "published", "posted", "sent", "updated",
                  "year", "day", "month", "datum", "zeit", "zeitpunkt", "veroffentlicht", "erstellt", "jahr", "annee",
                  "heure", "publie", "fecha", "hora", "publicado", "ano", "data", "ora", "anno", "日期", "时间",
                  "发布时间", "年份"),
}  # fmt: skip
_MOST_LABELS = 60
_MOST_VALUES = 30  # distinct values of a text column that is kept as metadata
_TEXT_PART = 0.2  # a column named like a text column has at least this part of the words of the longest column
_NOT_METADATA = ("", "index", "unnamed: 0", "id")  # numbers of rows
_UNNAMED = 99  # the rank of a column whose name is not one of the usual names
_LEAST_DATES = 0.5  # share of the values of a date column that can be read
_UNTITLED = "name"  # a column with this name titles a document, but may be the name of a person: it is not modelled
_LONGEST_DATE = 8  # words
_LAST_YEAR = 2200
_ROLES = ("text", "id", "title", "labels", "links", "timestamp", "metadata")


class GuessedColumns(NamedTuple):
    """The columns of a table: those that were given, and guesses for the others."""

    columns: Columns
    roles: tuple[str, ...]  # that were guessed
    reasons: Mapping[str, str]  # of the guesses, by column
    names: tuple[str, ...]  # of all columns
    rejected: Mapping[str, str] = {}  # why a column was not chosen, by column
    dates: DateNotes | None = None  # how the values of a guessed date column could be read, in all rows

    @property
    def used(self) -> dict[str, str]:
        """What each column that is used is used for, and why.

        >>> rows = [{"text": f"a text about thing {n}", "stars": n % 5} for n in range(20)]
        >>> guess_columns(rows).used
        {'text': 'text (5 words on average)', 'stars': 'metadata (numbers)'}
        """
        uses: dict[str, list[str]] = {}
        for role in _ROLES:
            for name in self.of_role(role):
                uses.setdefault(name, []).append(role)
        return {
            name: f"{' and '.join(roles)} ({self.reasons.get(name, 'named by the user')})"
            for name, roles in uses.items()
        }

    @property
    def unused(self) -> dict[str, str]:
        """The columns that are not used, with the reason."""
        used_names = self.columns.names()
        unused_names = [name for name in self.names if name.strip() and name not in used_names]
        return {name: self.rejected.get(name, "not asked for") for name in unused_names}

    def of_role(self, role: str) -> tuple[str, ...]:
        """The columns with a role."""
        names = self.columns.text_names() if role == "text" else getattr(self.columns, role)
        return names if isinstance(names, tuple) else (names,) if names else ()


class _Column:
    """What the first values of a column say about it."""

    def __init__(self, name: str, values: Sequence[Any]) -> None:
        self.name = name
        self.values = values
        present = [value for value in values if not is_missing(value)]
        self.holds_lists = any(isinstance(value, list | tuple) for value in present)
        self.holds_objects = any(isinstance(value, dict) for value in present)
        self.parts = [as_text(part) for value in present for part in (value if self.holds_lists else [value])]
        self.filled = [as_text(value).strip() for value in present]
        self.filled = [value for value in self.filled if value]
        self.n = len(values)
        self.distinct = len(set(self.parts if self.holds_lists else self.filled))
        self.words = sum(len(value.split()) for value in self.filled) / max(len(self.filled), 1)
        n_numbers = sum(map(_is_number, self.filled))
        self.is_number = n_numbers >= MOSTLY * len(self.filled) > 0
        self.may_hold_dates = sum(map(may_be_date, present)) >= MOSTLY * len(present) > 0

    def rank(self, role: str) -> int:
        """The place of the column's name, or of its first or last part, among the names of the role."""
        split = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.name)  # reviewTime
        parts = re.split(r"[\W_]+", folded(split.strip()))
        places = [_NAMES[role].index(part) for part in (parts[-1], parts[0]) if part in _NAMES[role]]
        return min(places, default=_UNNAMED)

    def dates(self, date_format: str | None) -> DateNotes:
        """What can be read as a date."""
        if self.holds_lists or self.holds_objects or self.words > _LONGEST_DATE:
            return DateNotes(n_failed=len(self.filled))
        return read_dates(self.values, date_format)[1]

    def holds_dates(self, date_format: str | None = None) -> bool:
        """Whether the values are dates: nearly all of them, or if the name says so, half of them.

        Numbers are dates only if the name says so: years, or seconds since 1970.
        """
        has_telling_name = self.rank("timestamp") < _UNNAMED
        if date_format is None and self.is_number:
            years = [value for value in self.filled if re.fullmatch(r"\d{4}(\.0+)?", value)]
            out_of_range = sum(float(value) > _LAST_YEAR for value in years)
            if not has_telling_name or out_of_range > (1 - MOSTLY) * len(self.filled):
                return False
        elif date_format is None and not has_telling_name and not self.may_hold_dates:
            return False
        notes = self.dates(date_format)
        least = _LEAST_DATES if has_telling_name and not self.is_number else MOSTLY
        return notes.n_read >= least * (notes.n_read + notes.n_failed) > 0

    def why_no_metadata(self) -> str | None:
        """Why the column is no metadata, or None if it has a few values, or numbers, one per document."""
        few = min(_MOST_VALUES, len(self.filled) // 2)
        if self.holds_lists or self.holds_objects:
            return "its values are lists" if self.holds_lists else "its values are objects"
        if self.name.strip().lower() in _NOT_METADATA:
            return "numbers of rows"
        if self.distinct < 2:
            return "all values are the same"
        return None if self.is_number or self.distinct <= few else f"{self.distinct:,} different values"


def guess_columns(
    records: Iterable[Record], fixed: Columns | None = None, roles: Collection[str] = ()
) -> GuessedColumns:
    """Guess the columns of a table from its first rows; `fixed` are those of the `roles` that are not to be guessed.

    >>> rows = [{"review_id": str(n), "body": f"a long text about thing {n}", "stars": n % 5} for n in range(20)]
    >>> guessed = guess_columns(rows)
    >>> guessed.columns.text, guessed.columns.id, guessed.columns.metadata
    ('body', 'review_id', ('stars',))
    """
    rows = list(islice(records, _ROWS))
    if not rows:
        raise InputError("the file has no documents: expected a table with a column of texts")
    guess = _Guess(rows, fixed or Columns(), roles)
    guess.text()
    guess.timestamp()
    guess.id()
    guess.title()
    guess.labels()
    guess.metadata()
    return GuessedColumns(
        guess.columns, tuple(role for role in _ROLES if role in guess.roles), guess.reasons, guess.names, guess.rejected
    )


class _Guess:
    """Guesses one role after the other; a column that is taken is no candidate for the next role."""

    def __init__(self, rows: Sequence[Record], fixed: Columns, fixed_roles: Collection[str]) -> None:
        self.rows, self.columns, self.fixed_roles = rows, fixed, fixed_roles
        self.names = tuple(dict.fromkeys(name for row in rows for name in row))
        self.roles: set[str] = set()
        self.reasons: dict[str, str] = {}
        self.rejected: dict[str, str] = {}
        fixed_names = {fixed.links}
        for role in fixed_roles:
            value = getattr(fixed, role)
            fixed_names |= set(value) if isinstance(value, tuple) else {value}
        columns = [_Column(name, [row.get(name) for row in rows]) for name in self.names]
        self.candidates = [column for column in columns if column.name not in fixed_names]

    def take(self, role: str, column: _Column, why: str) -> None:
        taken: dict[str, Any] = {role: column.name}
        self.columns = self.columns._replace(**taken)
        self.reasons[column.name] = why
        self.roles.add(role)
        self.candidates.remove(column)

    def take_best(self, role: str, fits: Sequence[_Column], why: str) -> None:
        """Take the column with the most telling name."""
        if fits and role not in self.fixed_roles:
            best = min(fits, key=lambda column: column.rank(role))
            self.take(role, best, why.format(best))

    def text(self) -> None:
        if "text" not in self.fixed_roles:
            column = _text_column(self.candidates)
            self.take("text", column, f"{column.words:.0f} words on average")
        self.rejected |= {column.name: "empty" for column in self.candidates if not column.filled}
        self.candidates = [column for column in self.candidates if column.filled]

    def timestamp(self) -> None:
        if "timestamp" in self.fixed_roles:
            return
        form = self.columns.date_format
        notes = {column.name: column.dates(form) for column in self.candidates}
        dated = [column for column in self.candidates if column.holds_dates(form)]
        if dated:
            best = min(dated, key=lambda column: (column.rank("timestamp"), -notes[column.name].n_read))
            self.take("timestamp", best, "dates" if form is None else f"dates in the format {form}")
            self.rejected |= {column.name: f"dates, but {best.name} is the date" for column in dated}
        for column in self.candidates:
            if column not in dated and column.rank("timestamp") < _UNNAMED and notes[column.name].n_failed:
                self.rejected[column.name] = _too_few_dates(notes[column.name])

    def id(self) -> None:
        fits = [c for c in self.single() if c.rank("id") < _UNNAMED and c.distinct == len(c.filled) == c.n]
        self.take_best("id", fits, "all different")

    def title(self) -> None:
        titled = [c for c in self.single() if c.rank("title") < _UNNAMED and not c.is_number]
        self.take_best("title", [c for c in titled if c.distinct > len(c.filled) / 2], "by its name")
        if {"text", "title"} <= self.roles:
            self.join_title()

    def join_title(self) -> None:
        """Title and text are modelled together, unless the text repeats the title."""
        title, text = str(self.columns.title), str(self.columns.text)
        is_name = folded(title).split("_")[-1] == _UNTITLED or title.lower().startswith(_UNTITLED)
        pairs = [(row.get(title), row.get(text)) for row in self.rows]
        filled = [(str(head), str(body)) for head, body in pairs if not (is_missing(head) or is_missing(body))]
        n_repeated = sum(
            _words_only(body[: 2 * len(head) + 100]).startswith(_words_only(head)) for head, body in filled
        )
        if n_repeated > len(filled) / 2:
            self.reasons[text] += ", and it begins with the title"
        elif filled and not is_name and "," not in title + text:  # a name with a comma cannot be listed
            self.columns = self.columns._replace(text=(title, text))

    def labels(self) -> None:
        labels = [c for c in self.candidates if c.rank("labels") < _UNNAMED and not c.holds_objects]
        few = [c for c in labels if 2 <= c.distinct <= min(_MOST_LABELS, len(c.filled) // 2)]
        self.take_best("labels", few, "{0.distinct} values")

    def metadata(self) -> None:
        if "metadata" in self.fixed_roles:
            return
        names = []
        for column in self.candidates:
            why = column.why_no_metadata()
            if why is not None:
                self.rejected.setdefault(column.name, why)
                continue
            names.append(column.name)
            self.reasons[column.name] = "numbers" if column.is_number else f"{column.distinct} values"
        self.columns = self.columns._replace(metadata=tuple(names))
        self.roles |= {"metadata"} if names else set()

    def single(self) -> list[_Column]:
        """The candidates with one value per document."""
        return [column for column in self.candidates if not (column.holds_lists or column.holds_objects)]


def checked_guess(guessed: GuessedColumns, records: Iterable[Record]) -> GuessedColumns:
    """The guess without the columns that cannot be used in all rows.

    `guess_columns` has looked only at the first rows. A column of dates is used if at least half of them can be read.
    """
    columns = guessed.columns
    roles = {name: role for role in guessed.roles if role != "text" for name in guessed.of_role(role)}
    failed: dict[str, str] = {}
    ids: set[str] = set()
    dates: list[Any] = []
    for record in records:
        for name, role in roles.items():
            why = None if name in failed else _problem(record, name, role, ids)
            if why is not None:
                failed[name] = why
            elif role == "timestamp" and name not in failed:
                dates.append(record[name])
    notes = None
    if "timestamp" in guessed.roles and columns.timestamp not in failed:
        notes = read_dates(dates, columns.date_format)[1]
        if notes.n_read < _LEAST_DATES * (notes.n_read + notes.n_failed):
            failed[str(columns.timestamp)] = _too_few_dates(notes)
            notes = None
    rejected = {**guessed.rejected, **failed}
    return _without(guessed, failed)._replace(rejected=rejected, dates=notes)


def _without(guessed: GuessedColumns, failed: Collection[str]) -> GuessedColumns:
    """The guess without some columns; a title that fails is no part of the text, either."""
    columns = guessed.columns
    for role in guessed.roles:
        if role not in ("text", "metadata") and getattr(columns, role) in failed:
            none: dict[str, Any] = {role: None}
            columns = columns._replace(**none)
    if "text" in guessed.roles:
        texts = tuple(name for name in columns.text_names() if name not in failed)
        columns = columns._replace(text=texts if len(texts) > 1 else texts[0])
    if "metadata" in guessed.roles:
        columns = columns._replace(metadata=tuple(name for name in columns.metadata if name not in failed))
    roles = tuple(role for role in guessed.roles if getattr(columns, role))
    return guessed._replace(columns=columns, roles=roles)


def _too_few_dates(notes: DateNotes) -> str:
    n_values = notes.n_read + notes.n_failed
    some = f": {notes.examples[0].value!r:.40} (row {notes.examples[0].row:,}) is none" if notes.examples else ""
    return f"{notes.n_read:,} of {n_values:,} values are dates{some}"


def _problem(record: Record, name: str, role: str, ids: set[str]) -> str | None:
    """Why the value of a row cannot be used for a role, or None if it can; collects the ids."""
    if name not in record:
        return "missing in some rows"
    value = record[name]
    if role == "id":
        text = "" if is_missing(value) else as_text(value).strip()
        problem = "a value is missing" if not text else f"{text!r:.40} occurs more than once" if text in ids else None
        ids.add(text)
        return problem
    if role in ("metadata", "title") and isinstance(value, list | tuple | dict):
        return "a value is not single"
    return None


def _words_only(text: str) -> str:
    return " ".join(re.findall(r"\w+", folded(text)))


def _text_column(columns: list[_Column]) -> _Column:
    """The column with the most words among those named like a text column, or among all if none is."""
    texts = [column for column in columns if column.filled and not column.is_number and not column.holds_dates()]
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
