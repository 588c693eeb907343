"""Dates in many forms: what is read, what is missing, and what is told from the whole column."""

from __future__ import annotations

import random
import warnings
from datetime import date, datetime, timedelta, timezone

import numpy as np
import pytest

from topicfold import Corpus
from topicfold.corpus.dates import DateNotes, FailedValue, as_timestamps, read_dates
from topicfold.errors import InputError

MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
}
MONTH_NAMES = {language: names.split() for language, names in MONTHS.items()}
FORMS = ["{month} {d}, {y}", "{d}. {month} {y}", "{d} {month} {y}", "{d} de {month} de {y}", "{d}-{month}-{y}"]
SHORT = {"en": 3, "de": 3, "ru": 3}  # letters of the short names, where all have as many


def days(values, **options):
    return read_dates(values, **options)[0].astype("datetime64[D]").astype(str).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2004-12-31T10:00:00.25+02:00", "2004-12-31T08:00:00"),
        ("2004-12-31 10:00:00 UTC", "2004-12-31T10:00:00"),
        ("2004-12-31 10:00 +0530", "2004-12-31T04:30:00"),
        ("20041231", "2004-12-31T00:00:00"),
        ("20041231101112", "2004-12-31T10:11:12"),
        ("2004/12/31 7:05", "2004-12-31T07:05:00"),
        ("2004.1.5", "2004-01-05T00:00:00"),
        ("2004-W10-3", "2004-03-03T00:00:00"),
        (" 1998.0 ", "1998-01-01T00:00:00"),
        ("31.12.99", "1999-12-31T00:00:00"),
        ("31.12.69", "1969-12-31T00:00:00"),
        ("31.12.68", "2068-12-31T00:00:00"),
        ("12. 3. 2004", "2004-03-12T00:00:00"),
        ("25/3/04 5:30 PM", "2004-03-25T17:30:00"),
        ("3/25/2004, 12:15 a.m.", "2004-03-25T00:15:00"),
        ("Thu, 26 Feb 1987 15:01:01 +0200 (CEST)", "1987-02-26T13:01:01"),
        ("Tue, 8 Mar 99 23:00:00 EST", "1999-03-09T04:00:00"),
        ("Wed Aug 27 13:08:45 +0000 2008", "2008-08-27T13:08:45"),  # tweets
        ("Sept. 5th, 2001", "2001-09-05T00:00:00"),
        ("26feb1987", "1987-02-26T00:00:00"),
        ("Freitag, 12. März 2004, 14:30 Uhr", "2004-03-12T14:30:00"),
        ("domingo, 3 de mayo de 2011", "2011-05-03T00:00:00"),
        ("le 1er août 2003", "2003-08-01T00:00:00"),
        ("mar. 12 mai 2004", "2004-05-12T00:00:00"),  # mardi, not mars
        ("1º de maio de 2011", "2011-05-01T00:00:00"),
        ("3 марта 2004 г.", "2004-03-03T00:00:00"),
        ("May 2004", "2004-05-01T00:00:00"),
        ("2004 Mar 5", "2004-03-05T00:00:00"),
    ],
)
def test_one_date(text, expected):
    assert str(read_dates([text])[0][0]) == expected


@pytest.mark.parametrize(
    "text",
    ["n/a", "-", "soon", "31.02.2004", "13/13/2004", "0/1/2004", "1/1/2004 25:00", "1/1/2004 13:00 PM", "0999-01-01"]
    + ["3001", "3001-01-01", "12345", "1.5", "May 12", "about 3 May 2004", "3 May or 4 June 2004", "2004-13-01"]
    + ["3 May 2004; 5", "1/2-2004", "x" * 10**6, "12:30", "1 2 3 May 2004", "2004-01-01T10:00+99:99"],
)
def test_no_date(text):
    dates, notes = read_dates([text, None, "", " "])
    assert np.isnat(dates).all()
    assert notes._replace(order="") == DateNotes(0, 3, 1, (FailedValue(1, text),))


def test_dates_numbers_and_missing_values_of_all_kinds():
    pandas = pytest.importorskip("pandas")
    zone = timezone(timedelta(hours=2))
    values = [
        date(2001, 2, 3),
        datetime(2001, 2, 3, 1, tzinfo=zone),
        np.datetime64("2001-02-03"),
        pandas.Timestamp("2001-02-03 10:00"),
        2001.0,
        20010203,
        None,
        float("nan"),
        pandas.NaT,
        pandas.NA,
        np.datetime64("NaT"),
    ]
    expected = ["2001-02-03", "2001-02-02", "2001-02-03", "2001-02-03", "2001-01-01", "2001-02-03", *["NaT"] * 5]
    assert days(values) == expected
    array = np.array(["2001-02-03", "NaT", "0999-01-01", "3000-01-01"], dtype="datetime64[D]")
    assert days(array) == ["2001-02-03", "NaT", "NaT", "NaT"]
    assert read_dates(array)[1].examples[0] == FailedValue(3, "0999-01-01T00:00:00")
    assert as_timestamps(None) is None
    assert len(as_timestamps([])) == 0


@pytest.mark.parametrize(
    ("values", "order", "expected"),
    [
        (["3/4/2004", "13/4/2004"], "day first", "2004-04-03"),
        (["3/4/2004", "4/13/2004"], "month first", "2004-03-04"),
        (["3/4/2004", "4/13/2004", "13/4/2004", "14/4/2004"], "mostly day first", "2004-04-03"),
        (["3/4/2004", "4/13/2004", "4/14/2004", "14/4/2004"], "mostly month first", "2004-03-04"),
        (["3/4/2004", "4/13/2004", "4/13/2004", "14/4/2004"], "mostly month first", "2004-03-04"),  # rows count
        (["3/4/2004", "5/4/2004"], "assumed day first", "2004-04-03"),
        (["3-4-2004"], "assumed day first", "2004-04-03"),
        (["3.4.2004"], "day first", "2004-04-03"),
        (["3.4.2004", "4.13.2004"], "month first", "2004-03-04"),
        (["3/3/2004"], "", "2004-03-03"),
        (["13/4/2004", "4/13/2004"], "", "2004-04-13"),
    ],
)
def test_the_order_of_day_and_month_is_told_from_all_values(values, order, expected):
    dates, notes = read_dates(values)
    assert (str(dates[0].astype("datetime64[D]")), notes.order, notes.n_failed) == (expected, order, 0)
    said = notes.summary()
    assert bool(said) == order.startswith(("assumed", "mostly"))
    assert order.removeprefix("mostly ").removeprefix("assumed ") in said or not said


def test_unix_times_are_read_if_the_column_has_nothing_else():
    seconds = [str(1600000000 + d) for d in range(40)]
    assert str(read_dates(seconds)[0][1]) == "2020-09-13T12:26:41"
    assert str(read_dates([int(text) * 1000 + 999 for text in seconds])[0][1]) == "2020-09-13T12:26:41"
    assert str(read_dates([1600000000.5])[0][0]) == "2020-09-13T12:26:40"
    assert read_dates([*seconds, "n/a", None])[1].n_read == 40
    dates, notes = read_dates([*seconds[:10], *["2020-01-01"] * 30])
    assert notes.n_failed == 10
    assert np.isnat(dates[:10]).all()


# ---- against a slow twin that tries each form on each value ----------------------------------------------------------


def naive_date(text, month_first):
    """The date of a text by trying all forms, one after the other."""
    candidates = []
    for names in MONTH_NAMES.values():
        for number, name in enumerate(names, 1):
            for form in FORMS:
                for day in range(1, 32):
                    start = form.format(month=name, d=day, y="")
                    if text.startswith(start):
                        candidates.append((text[len(start) :], number, day))
    for year, month, day in candidates:
        if year.isdigit() and len(year) == 4:
            return datetime(int(year), month, day)
    numeric = "%m{0}%d{0}" if month_first else "%d{0}%m{0}"
    forms = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y/%m/%d", "%Y%m%d", "%Y", "%a, %d %b %Y %H:%M:%S"]
    forms += [numeric.format(mark) + year + time for mark in "/.-" for year in ("%Y", "%y") for time in ("", " %H:%M")]
    for form in forms:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None


def written(rng, moment, month_first):
    """A date in one of many forms."""
    language = rng.choice(list(MONTH_NAMES))
    names = {"month": MONTH_NAMES[language][moment.month - 1], "d": moment.day, "y": moment.year}
    mark = rng.choice("/.-")
    numeric = (f"%m{mark}%d{mark}" if month_first else f"%d{mark}%m{mark}") + rng.choice(["%Y", "%y"])
    forms = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y/%m/%d", "%Y%m%d", "%a, %d %b %Y %H:%M:%S", numeric]
    forms += [numeric, f"{numeric} %H:%M", None, None]
    form = rng.choice(forms)
    return rng.choice(FORMS).format(**names) if form is None else moment.strftime(form)


@pytest.mark.parametrize("seed", range(6))
def test_mixed_columns_against_a_slow_twin(seed):
    rng = random.Random(seed)
    month_first = bool(seed % 2)
    texts, truth = [], []
    for _ in range(300):
        moment = datetime(1969, 1, 1) + timedelta(minutes=rng.randrange(52_000_000))
        if rng.random() < 0.1:
            texts.append(rng.choice(["n/a", "unknown", "-", "32.01.2004", "2004-02-30", "1/1/1/2004", "00/00/0000"]))
            truth.append(None)
        else:
            texts.append(written(rng, moment, month_first))
            truth.append(moment.date())
    dates, notes = read_dates(texts)
    read = [None if np.isnat(value) else value.item() for value in dates]
    assert [None if moment is None else moment.date() for moment in read] == truth
    assert read == [naive_date(text, month_first) for text in texts]
    assert notes.order == ("month first" if month_first else "day first")
    assert notes.n_failed == truth.count(None)
    assert notes.n_read == len(truth) - truth.count(None)


@pytest.mark.parametrize("language", MONTH_NAMES)
def test_every_month_of_every_language(language):
    names = MONTH_NAMES[language]
    names += [name[: SHORT[language]] for name in names] if language in SHORT else []
    texts = [form.format(month=month, d=17, y=2004) for month in names for form in FORMS]
    expected = [f"2004-{1 + place % 12:02d}-17" for place in range(len(names)) for _ in FORMS]
    assert days(texts) == expected
    assert days([text.upper() for text in texts]) == expected


# ---- what is said ----------------------------------------------------------------------------------------------------


def test_what_failed_is_counted_and_said_once():
    values = ["2004-01-01", "n/a", None, "soon", "n/a", "31.02.2004"]
    with pytest.warns(UserWarning, match="dates") as caught:
        corpus = Corpus.from_texts(["cat dog"] * 6, timestamps=values)
    assert [str(warning.message) for warning in caught] == [
        "4 of 5 dates could not be read and are missing: 'n/a' (row 2), 'soon' (row 4), 'n/a' (row 5), ..."
    ]
    assert caught[0].filename == __file__
    assert np.isnat(corpus.timestamps).tolist() == [False, True, True, True, True, True]
    with pytest.warns(UserWarning, match="^no date tells .*: assumed day first; set a date format such as '%m/%d/%Y'"):
        Corpus.from_texts(["cat"], timestamps=["1/2/2003"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Corpus.from_texts(["cat"], timestamps=["1/2/2003"], date_format="%m/%d/%Y")


def test_strict_dates_name_the_row_and_the_document(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,text,when\na,cat,2001-01-01\nb,dog,\nc,cow,12/12/20045\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"^timestamp '12/12/20045' \(row 3, document 'c'\): expected .* date_format"):
        Corpus.read(path, timestamp="when", strict_dates=True)
    with pytest.raises(InputError, match=r"row 3, document 'c'\): expected a date in the format '%Y-%m-%d'; without"):
        next(Corpus.batches(path, 10, timestamp="when", date_format="%Y-%m-%d", strict_dates=True))
    with pytest.warns(UserWarning, match="1 of 2 dates"):
        assert np.isnat(Corpus.read(path, timestamp="when").timestamps).tolist() == [False, True, True]


@pytest.mark.parametrize("date_format", ["%Q", "%", "%Y %Y", "", 7, "soon", "%d.%m."])
def test_formats_that_are_none(date_format):
    with pytest.raises(InputError, match=r"^date_format=.*: expected a format with a year, such as"):
        read_dates(["2001"], date_format)


def test_a_format_reads_text_and_leaves_dates_alone():
    assert days(["03.04.99", date(2001, 5, 4), "4/5/99", None], date_format="%d.%m.%y") == [
        *["1999-04-03", "2001-05-04"],
        *["NaT", "NaT"],
    ]
    assert days(["1998-03-25 +0200"], date_format="%Y-%m-%d %z") == ["1998-03-24"]


def test_the_year_counts_in_utc():
    values = [
        "1000-01-01T00:00:00+05:00",
        "2999-12-31T23:00:00-05:00",
        "0001-01-01T00:00:00+14:00",
        "2000-01-01T01:00:00+02:00",
    ]
    assert read_dates(values)[0].astype(str).tolist() == ["NaT", "NaT", "NaT", "1999-12-31T23:00:00"]
