"""Dates as people write them, converted to UTC. A date that cannot be read is missing, and is counted.

Each value is read by its own form. Only two things are told from the whole column: whether the day or the month comes
first in dates such as 3/4/2004, and whether numbers are Unix times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

import numpy as np

from ..engine.warn import warn_user
from ..errors import InputError
from .date_words import FILLERS, MONTHS, WEEKDAYS, folded
from .fields import as_text, is_missing

__all__ = ["N_EXAMPLES", "DateNotes", "FailedValue", "as_timestamps", "failed_values", "read_dates"]

_FIRST_YEAR, _LAST_YEAR = 1000, 2999
_FIRST_SHORT_YEAR = 69  # 69 to 99 are 1969 to 1999, and 00 to 68 are 2000 to 2068
_LONGEST = 80  # characters of a date
_MOST_UNIX = 0.95  # share of the values that must look like Unix times
N_EXAMPLES = 3
_EPOCH = datetime(1970, 1, 1)

_YEAR = re.compile(r"(\d{4})(?:\.0+)?")  # pandas writes a year as 1998.0 if another year is missing
_YEAR_MONTH = re.compile(r"(\d{4})[-/](\d{1,2})")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2}))?")
_YEAR_FIRST = re.compile(r"(\d{4})\s*([/.-])\s*(\d{1,2})\s*\2\s*(\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})\s*([/.-])\s*(\d{1,2})\s*\2\s*(\d{4}|\d{2})")
_UNIX = re.compile(r"(\d{9,10})(?:\.\d+)?|(\d{12,13})(?:\.0+)?")  # seconds, or milliseconds
_TIME = re.compile(
    r"(?:[\s,]+|(?<=\d)T)?(?<![\d:.])(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?"
    r"(?:\s*([ap])\.?m\b\.?)?"
    r"(?:\s*(z|utc|gmt|[ecmp][sd]t|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)(?![\w:]))?",
    re.IGNORECASE,
)
_NORTH_AMERICA = {"e": 5, "c": 6, "m": 7, "p": 8}  # hours behind UTC in winter, as RFC 2822 has them
_COMMENT = re.compile(r"\s*\([^()]*\)\s*$")  # the name of the time zone in e-mails: +0200 (CEST)
_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_BETWEEN = re.compile(r"[\s,./'-]*")

Order = Literal["", "day first", "month first", "assumed day first", "mostly day first", "mostly month first"]


class FailedValue(NamedTuple):
    """A value that could not be read, and its row, counted from 1."""

    row: int
    value: str


class DateNotes(NamedTuple):
    """What happened when a column of dates was read.

    `order` is how numeric dates such as 3/4/2004 were read: "day first" or "month first" if other dates of the column
    say it, "mostly ..." if they contradict each other, "assumed day first" if none says it, and "" if there is none.
    """

    n_read: int = 0
    n_missing: int = 0  # empty cells
    n_failed: int = 0
    examples: tuple[FailedValue, ...] = ()  # the first that failed
    order: Order = ""
    date_format: str | None = None

    def summary(self) -> str:
        """What the user should know, in one line; '' if there is nothing to say.

        >>> read_dates(["2004-12-31", "soon"])[1].summary()
        "1 of 2 dates could not be read and is missing: 'soon' (row 2)"
        """
        parts = []
        if self.n_failed:
            wrong = failed_values(self.n_failed, self.n_read + self.n_failed, "dates could not be read", self.examples)
            expected = "" if self.date_format is None else f"; expected the format {self.date_format!r}"
            parts.append(wrong + expected)
        if self.order == "assumed day first":
            hint = "set a date format such as '%m/%d/%Y' if the month comes first"
            parts.append(f"no date tells whether the day or the month comes first: assumed day first; {hint}")
        elif self.order.startswith("mostly"):
            order = self.order.removeprefix("mostly ")
            parts.append(f"some dates have the day first, others the month: read as {order} where both are possible")
        return "; ".join(parts)


def failed_values(n_failed: int, n_values: int, problem: str, examples: Sequence[FailedValue]) -> str:
    """The sentence about values that are treated as missing."""
    some = ", ".join(f"{value!r:.40} (row {row:,})" for row, value in examples)
    verb = "is" if n_failed == 1 else "are"
    return f"{n_failed:,} of {n_values:,} {problem} and {verb} missing: {some}{', ...' * (n_failed > len(examples))}"


def as_timestamps(
    values: Iterable[Any] | None, date_format: str | None = None, strict: bool = False, ids: Sequence[str] = ()
) -> np.ndarray | None:
    """Dates as an array of datetime64[s], NaT if one is missing or cannot be read, with a warning; see `read_dates`."""
    if values is None:
        return None
    dates, notes = read_dates(values, date_format, strict, ids)
    if notes.summary():
        warn_user(notes.summary())
    return dates


def read_dates(
    values: Iterable[Any], date_format: str | None = None, strict: bool = False, ids: Sequence[str] = ()
) -> tuple[np.ndarray, DateNotes]:
    """Dates as an array of datetime64[s], and what could not be read, which is NaT or with `strict` an InputError.

    `date_format` is as for `datetime.strptime`; None reads each value by its own form. `ids` are for the error.

    >>> dates, notes = read_dates(["26-FEB-1987 15:01:01.79", "3 de mayo de 2011", "31/12/99", 1998, None])
    >>> dates.astype("datetime64[D]").astype(str).tolist()
    ['1987-02-26', '2011-05-03', '1999-12-31', '1998-01-01', 'NaT']
    >>> notes.order
    'day first'
    """
    if date_format is not None:
        _check_format(date_format)
    distinct: Sequence[Any]
    order: Order = ""
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        seconds = values.astype("datetime64[s]")
        distinct = seconds  # type: ignore[assignment]
        codes = np.where(np.isnat(seconds), -1, np.arange(len(seconds)))
        years = seconds.astype("datetime64[Y]").astype(np.int64) + 1970
        by_value = np.where((years >= _FIRST_YEAR) & (years <= _LAST_YEAR), seconds, np.datetime64("NaT", "s"))
    else:
        distinct, codes = _distinct(values)
        parsed, order = _parsed_values(distinct, np.bincount(codes[codes >= 0], minlength=len(distinct)), date_format)
        by_value = np.array(parsed, dtype="datetime64[s]")
    dates = np.append(by_value, np.datetime64("NaT", "s"))[codes]  # a missing value has the code -1
    present = codes >= 0
    failed = np.flatnonzero(present & np.isnat(dates))
    examples = tuple(FailedValue(row + 1, str(distinct[codes[row]])) for row in failed[:N_EXAMPLES].tolist())
    if strict and examples:
        raise _unreadable(examples[0], date_format, ids)
    n_present = int(present.sum())
    n_read, n_missing = n_present - len(failed), len(present) - n_present
    return dates, DateNotes(n_read, n_missing, len(failed), examples, order, date_format)


def _check_format(date_format: str) -> None:
    """Raise if nothing could ever be read with a format, or if it has no year."""
    try:
        text, text_of_next_year = (datetime(year, 1, 2, tzinfo=UTC).strftime(date_format) for year in (2000, 2001))
        is_usable = text != text_of_next_year
        if is_usable:
            datetime.strptime(text, date_format)
    except (ValueError, re.error, TypeError):
        is_usable = False
    if not is_usable:
        raise InputError(f"date_format={date_format!r}: expected a format with a year, such as '%d.%m.%Y'")


def _unreadable(failed: FailedValue, date_format: str | None, ids: Sequence[str]) -> InputError:
    number = str(failed.row - 1)
    id = ids[failed.row - 1] if len(ids) >= failed.row else number
    document = "" if id == number else f", document {id!r:.60}"  # documents without an id are numbered from 0
    expected = (
        "a year or a date such as 1998-03-25T10:00:00 or 25 March 1998; set date_format for other formats"
        if date_format is None
        else f"a date in the format {date_format!r}"
    )
    return InputError(
        f"timestamp {failed.value!r:.40} (row {failed.row:,}{document}): expected {expected}; "
        "without strict dates it counts as missing"
    )


def _distinct(values: Iterable[Any]) -> tuple[list[str | datetime], np.ndarray]:
    """The different values, as text or datetime, and for each row the place of its value, -1 if it is missing."""
    places: dict[str | datetime, int] = {}
    codes = []
    for value in values:
        value = value.strip() if isinstance(value, str) else None if is_missing(value) else _text_or_date(value)
        codes.append(places.setdefault(value, len(places)) if value else -1)
    return list(places), np.array(codes, dtype=np.int64)


def _text_or_date(value: Any) -> str | datetime:
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[s]")
    text = value.isoformat() if hasattr(value, "isoformat") else as_text(value).strip()
    if hasattr(value, "isoformat") or isinstance(value, np.datetime64):
        try:
            return datetime.fromisoformat(text)
        except ValueError:  # a time without a date, or a year with five digits
            pass
    return text


# ---- one value -------------------------------------------------------------------------------------------------------


class _Numeric(NamedTuple):
    """A date such as 3/4/2004, of which the day and the month are known only from other dates."""

    first: int
    second: int
    mark: str
    year: int
    clock: timedelta

    def read(self, month_first: bool) -> datetime | None:
        """The date; where only one order is possible, that one counts."""
        if max(self.first, self.second) > 12:
            month_first = self.second > 12
        month, day = (self.first, self.second) if month_first else (self.second, self.first)
        return _moment(self.year, month, day, self.clock)


def _parsed_values(
    distinct: Sequence[str | datetime], n_rows: np.ndarray, date_format: str | None
) -> tuple[list[datetime | None], Order]:
    """Each different value as a time in UTC, None if it is not a date, and the order of day and month."""
    if date_format is not None:
        return [_by_format(value, date_format) for value in distinct], ""
    unix = np.array([isinstance(value, str) and _UNIX.fullmatch(value) is not None for value in distinct], dtype=bool)
    reads_unix = bool(n_rows[unix].sum() >= _MOST_UNIX * n_rows.sum())
    parsed: list[datetime | None] = []
    numeric: dict[int, _Numeric] = {}
    for place, value in enumerate(distinct):
        if unix[place]:
            moment: datetime | _Numeric | None = _from_unix(str(value)) if reads_unix else _from_text(str(value))
        else:
            moment = _from_text(value) if isinstance(value, str) else _in_utc(value)
        if isinstance(moment, _Numeric):
            numeric[place], moment = moment, None
        parsed.append(moment)
    order = _order(numeric, n_rows)
    for place, date in numeric.items():
        parsed[place] = date.read(order.endswith("month first"))
    return parsed, order


def _order(numeric: Mapping[int, _Numeric], n_rows: np.ndarray) -> Order:
    """Whether the day or the month comes first, told from all numeric dates of a column."""
    day_first = month_first = either = 0
    for place, date in numeric.items():
        n = int(n_rows[place])
        day_first += n * (12 < date.first <= 31 and 1 <= date.second <= 12)
        month_first += n * (12 < date.second <= 31 and 1 <= date.first <= 12)
        either += n * (date.first != date.second and 1 <= min(date.first, date.second) <= max(date[:2]) <= 12)
    if day_first and month_first:
        return "" if not either else "mostly day first" if day_first >= month_first else "mostly month first"
    if day_first or month_first:
        return "day first" if day_first else "month first"
    with_dots = all(date.mark == "." for date in numeric.values())  # 3.4.2004 is the third of April everywhere
    return "" if not either else "day first" if with_dots else "assumed day first"


def _by_format(value: str | datetime, date_format: str) -> datetime | None:
    if isinstance(value, datetime):
        return _in_utc(value)
    try:
        return _in_utc(datetime.strptime(value, date_format))
    except ValueError:
        return None


def _in_utc(moment: datetime) -> datetime | None:
    """The time in UTC in whole seconds; None if its year is out of range."""
    if moment.tzinfo is not None and _FIRST_YEAR - 1 <= moment.year <= _LAST_YEAR + 1:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        return None
    return moment.replace(microsecond=0) if moment.microsecond else moment


def _from_unix(text: str) -> datetime:
    match = _UNIX.fullmatch(text)
    assert match is not None
    seconds, milliseconds = match.groups()
    return _EPOCH + timedelta(seconds=int(seconds) if seconds else int(milliseconds) // 1000)


def _from_text(text: str) -> datetime | _Numeric | None:
    if len(text) > _LONGEST:
        return None
    if text[4:5] == "-" or text[8:9] == "T":
        try:
            return _in_utc(datetime.fromisoformat(text))
        except ValueError:
            pass
    if match := _YEAR.fullmatch(text):
        return _moment(int(match[1]), 1, 1)
    if match := _YEAR_MONTH.fullmatch(text):
        return _moment(int(match[1]), int(match[2]), 1)
    if match := _COMPACT.fullmatch(text):
        year, month, day, *time = (int(part or 0) for part in match.groups())
        clock = _clock(*time)
        return None if clock is None else _moment(year, month, day, clock)
    rest, clock = _without_time(text)
    if clock is None:
        return None
    if match := _YEAR_FIRST.fullmatch(rest):
        return _moment(int(match[1]), int(match[3]), int(match[4]), clock)
    if match := _YEAR_LAST.fullmatch(rest):
        return _Numeric(int(match[1]), int(match[3]), match[2], _year(match[4]), clock)
    return _with_month_name(rest, clock)


def _moment(year: int, month: int, day: int, clock: timedelta = timedelta()) -> datetime | None:
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    try:
        return datetime(year, month, day) + clock
    except ValueError:
        return None


def _year(digits: str) -> int:
    """The year, also from its last two digits."""
    year = int(digits)
    return year if len(digits) == 4 else year + (1900 if year >= _FIRST_SHORT_YEAR else 2000)


def _clock(hours: int, minutes: int, seconds: int) -> timedelta | None:
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _without_time(text: str) -> tuple[str, timedelta | None]:
    """A text without its time of day, and the time in UTC: zero if the text has none, None if there is no such time."""
    match = _TIME.search(text)
    if match is None:
        return text, timedelta()
    hours, half, zone = int(match[1]), (match[4] or "").lower(), (match[5] or "").lower()
    rest = f"{text[: match.start()]} {_COMMENT.sub('', text[match.end() :])}".strip(" ,")
    if half and not 1 <= hours <= 12:
        return rest, None
    hours = hours % 12 + 12 * (half == "p") if half else hours
    clock = _clock(hours, int(match[2]), int(match[3] or 0))
    return rest, None if clock is None else clock - _offset(zone)


def _offset(zone: str) -> timedelta:
    """How much a time zone is ahead of UTC."""
    if zone[:1] in ("+", "-"):
        ahead = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:].lstrip(":") or 0))
        return ahead if zone[0] == "+" else -ahead
    if len(zone) == 3 and zone[0] in _NORTH_AMERICA:
        return timedelta(hours=(zone[1] == "d") - _NORTH_AMERICA[zone[0]])
    return timedelta()


def _with_month_name(text: str, clock: timedelta) -> datetime | None:
    """A date whose month is a word: 12. März 2004, Thu, 26 Feb 1987, March 25 1998, May 2004."""
    text = folded(text)
    tokens = _TOKEN.findall(text)
    words = [token for token in tokens if token.isalpha()]
    months = [word for word in words if word in MONTHS]
    if len(months) > 1:  # mar. 12 mai 2004
        months = [word for word in months if word not in WEEKDAYS]
    known = all(word in MONTHS or word in WEEKDAYS or word in FILLERS for word in words)
    if len(months) != 1 or not known or _BETWEEN.fullmatch(_TOKEN.sub("", text)) is None:
        return None
    numbers = [token for token in tokens if not token.isalpha()]
    n_before = sum(not token.isalpha() for token in tokens[: tokens.index(months[0])])
    lengths = [len(number) for number in numbers]
    if lengths == [4]:
        year, day = numbers[0], "1"
    elif len(numbers) != 2:
        return None
    elif lengths[0] == 4 and n_before == 1:
        year, day = numbers
    else:
        day, year = numbers
    if len(day) > 2 or len(year) not in (2, 4) or n_before > 1:
        return None
    return _moment(_year(year), MONTHS[months[0]], int(day), clock)
