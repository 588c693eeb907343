"""Columns of a table, guessed."""

from __future__ import annotations

from datetime import date

import pytest

from topicfold.corpus.guessing import checked_guess, guess_columns
from topicfold.corpus.readers import Columns

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
    assert columns.text == "body"
    assert columns.id == "review_id"
    assert columns.title == "product_title"
    assert columns.labels == "category"
    assert columns.timestamp == "created_at"
    assert columns.metadata == ("stars", "country")
    assert guessed.reasons["text"] == "body (10 words on average)"
    assert guessed.unused() == ["note"]


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
    assert guessed.columns.metadata == ("kind",)
    assert guessed.unused() == ["born", "a, b", "id"]
    guessed = guess_columns(table, Columns(labels="kind", id=None), ["labels", "id"])
    assert guessed.columns.labels == "kind"
    assert guessed.columns.metadata == ("category",)
    assert "labels" not in guessed.reasons


def test_a_date_format_that_is_given_decides():
    table = rows(text=lambda d: TEXT, when=lambda d: f"0{1 + d % 9}/0{1 + d % 9}/2020")
    assert guess_columns(table).columns.timestamp is None  # day and month cannot be told apart
    columns = guess_columns(table, Columns(date_format="%d/%m/%Y")).columns
    assert (columns.timestamp, columns.date_format) == ("when", "%d/%m/%Y")


def test_keys_that_are_missing_in_some_rows():
    table = rows(text=lambda d: TEXT, stars=lambda d: d % 5, title=lambda d: f"head {d}")
    del table[7]["stars"]
    guessed, n_rows = checked_guess(guess_columns(table), table)
    assert n_rows == 40
    assert guessed.columns.metadata == ()
    assert guessed.columns.title == "title"
    assert guessed.unused() == ["stars (missing in some rows)"]
