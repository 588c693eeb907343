"""Columns of a table, guessed."""

from __future__ import annotations

import json
from datetime import date

import pytest

from topicfold.corpus.columns import Columns
from topicfold.corpus.dates import FailedValue
from topicfold.corpus.guessing import checked_guess, guess_columns

TEXT = "a sentence with quite a few words about thing"


def rows(n=40, **columns):
    return [{name: values(d) if callable(values) else values[d] for name, values in columns.items()} for d in range(n)]


def test_a_table_of_reviews():
    table = rows(
        review_id=lambda d: f"r{d}",
        product_title=lambda d: f"Thing number {d}",
        body=lambda d: f"{TEXT} {d}",
        stars=lambda d: str(1 + d % 5),
        country=lambda d: "DE" if d % 3 else "FR",
        created_at=lambda d: f"2021-0{1 + d % 9}-11",
        category=lambda d: ["toys", "food", ""][d % 3],
        note=lambda d: f"note {d}",
    )
    guessed = guess_columns(table)
    columns = guessed.columns
    assert columns.text == ("product_title", "body")
    assert columns.id == "review_id"
    assert columns.title == "product_title"
    assert columns.labels == "category"
    assert columns.timestamp == "created_at"
    assert columns.metadata == ("stars", "country")
    assert guessed.used == {
        "product_title": "text and title (by its name)",
        "body": "text (10 words on average)",
        "review_id": "id (all different)",
        "category": "labels (2 values)",
        "created_at": "timestamp (dates)",
        "stars": "metadata (numbers)",
        "country": "metadata (2 values)",
    }
    assert guessed.unused == {"note": "40 different values"}
    assert json.loads(json.dumps([guessed.used, guessed.unused])) == [guessed.used, guessed.unused]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (rows(a=lambda d: d, b=lambda d: f"{TEXT} {d}"), {"text": "b", "metadata": ("a",)}),
        (rows(text=lambda d: TEXT, long=lambda d: f"{TEXT} {TEXT}"), {"text": "text"}),  # the name says it
        (rows(text=lambda d: "x", long=lambda d: f"{TEXT} {d}"), {"text": "long"}),  # but one word is no text
        (rows(text=lambda d: TEXT, year=lambda d: 1990 + d % 7), {"timestamp": "year"}),
        (rows(text=lambda d: TEXT, year=lambda d: d % 3), {"timestamp": None, "metadata": ("year",)}),  # no years
        (rows(text=lambda d: TEXT, id=lambda d: d % 3), {"id": None}),  # not all different
        (rows(text=lambda d: TEXT, label=lambda d: f"l{d}"), {"labels": None}),  # each its own
        (rows(text=lambda d: TEXT, date=lambda d: "soon"), {"timestamp": None}),
    ],
)
def test_names_and_values(table, expected):
    columns = guess_columns(table).columns
    assert {name: getattr(columns, name) for name in expected} == expected


def test_tables_without_texts():
    with pytest.raises(ValueError, match="no text column found among a, b: name it with --text"):
        guess_columns(rows(a=lambda d: d, b=lambda d: "2001-02-03"))
    with pytest.raises(ValueError, match="no documents"):
        guess_columns([])


def test_given_columns_are_not_guessed_for_anything_else():
    table = rows(
        body=lambda d: f"{TEXT} {d}",
        born=lambda d: date(2001, 1, 1 + d % 28),
        date=lambda d: date(2002, 1, 1 + d % 28),
        category=lambda d: ["toys", "food"][d % 2],
        kind=lambda d: d % 3,
        **{"a, b": lambda d: d % 2, "id": lambda d: d % 2},
    )
    guessed = guess_columns(table)
    assert guessed.columns.timestamp == "date"  # the name says it, although both are dates
    assert guessed.columns.labels == "category"
    assert guessed.columns.metadata == ("kind", "a, b")
    assert guessed.unused == {"born": "dates, but date is the date", "id": "numbers of rows"}
    guessed = guess_columns(table, Columns(labels="kind", id=None), ["labels", "id"])
    assert guessed.columns.labels == "kind"
    assert guessed.columns.metadata == ("category", "a, b")
    assert "labels" not in guessed.roles
    assert guessed.used["kind"] == "labels (named by the user)"


def test_a_date_format_that_is_given_decides():
    table = rows(text=lambda d: TEXT, when=lambda d: f"0{1 + d % 9}/0{1 + d % 9}/2020")
    assert guess_columns(table).columns.timestamp == "when"
    columns = guess_columns(table, Columns(date_format="%d/%m/%Y")).columns
    assert (columns.timestamp, columns.date_format) == ("when", "%d/%m/%Y")


def test_keys_that_are_missing_in_some_rows():
    table = rows(text=lambda d: TEXT, stars=lambda d: d % 5, title=lambda d: f"head {d}")
    del table[7]["stars"]
    guessed = checked_guess(guess_columns(table), table)
    assert guessed.columns.metadata == ()
    assert guessed.columns.title == "title"
    assert guessed.unused == {"stars": "missing in some rows"}


STAMP = "2020-01-{:02d}T10:00:00"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"posted": lambda d: STAMP.format(1 + d % 28)}, "posted"),
        ({"x1": lambda d: STAMP.format(1 + d % 28)}, "x1"),  # the values say it
        ({"x1": lambda d: "12. März 2004" if d % 2 else "3/4/2005"}, "x1"),
        ({"x1": lambda d: "n/a" if d % 7 == 0 else STAMP.format(1 + d % 28)}, None),
        ({"date": lambda d: "n/a" if d % 7 == 0 else STAMP.format(1 + d % 28)}, "date"),
        ({"date": lambda d: "n/a" if d % 3 else STAMP.format(1 + d % 28)}, None),
        ({"x1": lambda d: STAMP.format(1), "Datum": lambda d: "1.2.2003"}, "Datum"),  # the telling name wins
        ({"x1": lambda d: STAMP.format(1), "x2": lambda d: STAMP.format(1) if d else "?"}, "x1"),  # more are read
        ({"x2": lambda d: STAMP.format(1) if d else "?", "x1": lambda d: STAMP.format(1)}, "x1"),
        ({"count": lambda d: 1990 + d % 7}, None),  # years need a telling name
        ({"Jahr": lambda d: 1990 + d % 7}, "Jahr"),
        ({"jahr": lambda d: 1990.0 + d % 7 if d % 2 else None}, "jahr"),
        ({"code": lambda d: 1600000000 + d}, None),  # so do seconds since 1970
        ({"created_utc": lambda d: 1600000000 + d}, "created_utc"),
        ({"version": lambda d: f"{1 + d % 3}.2.03"}, None),
        ({"fecha": lambda d: f"{1 + d % 28} de mayo de 2011"}, "fecha"),
        ({"année": lambda d: "" if d else "1999"}, "année"),
        ({"date": lambda d: ""}, None),
        ({"when": lambda d: date(2001, 1, 1 + d % 28)}, "when"),
    ],
)
def test_dates_are_recognised_by_what_is_in_the_column(table, expected):
    table = rows(**{"text": lambda d: f"{TEXT} {d}", **table})
    guessed = checked_guess(guess_columns(table), table)
    assert guessed.columns.timestamp == expected
    assert guessed.columns.text == "text"
    assert set(guessed.used) | set(guessed.unused) == set(table[0])


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("Titel", "Inhalt", "Kategorie"), ("Titel", "Inhalt", "Kategorie")),
        (("titre", "texte", "catégorie"), ("titre", "texte", "catégorie")),
        (("título", "contenido", "categoría"), ("título", "contenido", "categoría")),
        (("titolo", "testo", "etichetta"), ("titolo", "testo", "etichetta")),
        (("título", "conteúdo", "seção"), ("título", "conteúdo", "seção")),
        (("标题", "内容", "类别"), ("标题", "内容", "类别")),
    ],
)
def test_names_in_other_languages(names, expected):
    title, text, label = names
    table = rows(**{title: lambda d: f"Head {d}", text: lambda d: f"{TEXT} {d}", label: lambda d: "ab"[d % 2]})
    columns = guess_columns(table).columns
    assert (columns.title, columns.text, columns.labels) == (expected[0], expected[:2], expected[2])


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"title": lambda d: f"Head {d}"}, ("title", "body")),
        ({"title": lambda d: f"{TEXT} {d}"[:12] + ("" if d % 5 else "!")}, "body"),  # the text begins with the title
        ({"title": lambda d: f"  {TEXT.upper()},"}, "body"),
        ({"name": lambda d: f"Person {d}"}, "body"),  # names of people are no text
        ({"head, title": lambda d: f"Head {d}"}, "body"),  # --text could not list it
        ({"title": lambda d: None}, "body"),
        ({"title": lambda d: [f"Head {d}"]}, "body"),
    ],
)
def test_a_title_is_modelled_unless_the_text_repeats_it(table, expected):
    table = rows(body=lambda d: f"{d} {TEXT}" if expected != "body" else f"{TEXT} {d}", **table)
    assert guess_columns(table).columns.text == expected
    named = guess_columns(table, Columns(text="body"), ["text"])
    assert named.columns.text == "body"


def test_a_title_that_fails_further_down_is_not_modelled_either():
    table = rows(700, body=lambda d: f"{TEXT} {d}", title=lambda d: f"Head {d}")
    del table[600]["title"]
    guessed = checked_guess(guess_columns(table), table)
    assert (guessed.columns.text, guessed.columns.title) == ("body", None)
    assert guessed.unused == {"title": "missing in some rows"}


def test_dates_that_fail_are_counted_in_all_rows():
    table = rows(700, text=lambda d: f"{TEXT} {d}", date=lambda d: STAMP.format(1) if d != 600 else "31.02.2004")
    guessed = checked_guess(guess_columns(table), table)
    assert guessed.columns.timestamp == "date"
    assert (guessed.dates.n_read, guessed.dates.n_failed) == (699, 1)
    assert guessed.dates.examples == (FailedValue(601, "31.02.2004"),)


def test_every_column_that_is_not_used_has_a_reason():
    table = rows(
        text=lambda d: f"{TEXT} {d}",
        id=lambda d: d // 2,
        date=lambda d: "soon",
        empty=lambda d: None,
        same=lambda d: "x",
        tags_of_all=lambda d: {"a": d},
        lists=lambda d: ["a", "b"],
        author=lambda d: f"Writer {d}",
        stars=lambda d: "n/a" if d == 0 else d,
    )
    guessed = guess_columns(table)
    assert guessed.columns.metadata == ("stars",)
    assert guessed.unused == {
        "id": "numbers of rows",
        "date": "0 of 40 values are dates: 'soon' (row 1) is none",
        "empty": "empty",
        "same": "all values are the same",
        "tags_of_all": "its values are objects",
        "lists": "its values are lists",
        "author": "40 different values",
    }
