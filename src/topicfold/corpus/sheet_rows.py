"""Write the rows of a spreadsheet's sheet to standard output, as lines of JSON: a program that `spreadsheets` starts.

It has a process of its own because python-calamine holds a sheet as a rectangle of cells: a single cell in the last row
and column, in a file of a few kB, asks for hundreds of GB, and Rust ends a process that does not get them. It imports
nothing of topicfold, to start quickly.
"""

from __future__ import annotations

import datetime
import json
import signal
import sys
import traceback
from collections.abc import Iterator
from typing import Any

__all__ = ["main", "messages"]

_LARGEST_WHOLE = 2**53
_MOST_ROWS = 1 << 20  # of any spreadsheet program


class _Unusable(Exception):
    """A file without the rows that were asked for; the message says why."""


def messages(path: str, sheet_name: str | None) -> Iterator[Any]:
    """What is to know about the sheet, and then its rows that are not empty, each with its number and its cells."""
    workbook = _opened(path)
    name, *others = [sheet_name] if sheet_name is not None else _with_table(workbook)
    if name not in workbook.sheet_names:
        raise _Unusable(f"has no sheet {name!r}; its sheets are: {', '.join(workbook.sheet_names)}")
    sheet = workbook.get_sheet_by_name(name)
    if sheet.start is None or sheet.height < 2:
        raise _Unusable(f"has no table in the sheet {name!r}: expected names of columns, and rows below them")
    if sheet.end[0] >= _MOST_ROWS:
        raise _Unusable(f"has a cell in row {sheet.end[0] + 1:,} of {name!r}: expected at most {_MOST_ROWS:,} rows")
    merged = [(first[0] + 1, last[0] + 1) for first, last in sheet.merged_cell_ranges or () if first[0] < last[0]]
    yield {"sheet": name, "others": others, "first_column": sheet.start[1], "merged": merged}
    for number, row in enumerate(sheet.iter_rows(), 1):
        if row.count("") < len(row):
            yield number, [_as_text(value) for value in row]


def _opened(path: str) -> Any:
    """The workbook in a file, whose name may have the ending of another format, as some programs give them."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        return CalamineWorkbook.from_path(path)
    except PasswordError:
        raise
    except CalamineError as error:
        with open(path, "rb") as file:
            try:
                return CalamineWorkbook.from_filelike(file)
            except CalamineError:
                raise error from None


def _visible(workbook: Any) -> list[str]:
    """The names of the sheets with cells that are not hidden; of all sheets, if these are hidden."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    names = [
        sheet.name
        for sheet in workbook.sheets_metadata
        if sheet.typ == SheetTypeEnum.WorkSheet and sheet.visible == SheetVisibleEnum.Visible
    ]
    return names or workbook.sheet_names


def _with_table(workbook: Any) -> list[str]:
    """The first sheet with at least two rows and two columns, or else with two rows; then others that may have them."""
    names = _visible(workbook)
    narrow: list[str] = []
    for place, name in enumerate(names):
        sheet = workbook.get_sheet_by_name(name)
        if sheet.start is not None and sheet.height > 1:
            if sheet.width > 1:
                return [name, *narrow, *names[place + 1 :]]
            narrow.append(name)
    if not narrow:
        raise _Unusable("has no sheet with a table: expected names of columns, and rows below them")
    return narrow


def _as_text(value: Any) -> str:
    """A cell as text, as in a CSV file: 3.0 is '3', and a date without a time is 2004-12-31."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_WHOLE:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def _limit_memory(n_bytes: int) -> None:
    """Let no request for memory succeed beyond a limit, where the system can do this."""
    try:
        import resource
    except ImportError:  # Windows, which refuses what it does not have
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limits = [limit for limit in (n_bytes, soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))


def _problem(error: BaseException) -> str | None:
    """Why a file cannot be read, as the end of a sentence that begins with its name; None for a bug of ours."""
    from python_calamine import CalamineError, PasswordError

    message = " ".join(str(error).split())[:300]
    if isinstance(error, _Unusable):
        return message
    if isinstance(error, MemoryError):
        return "needs more memory than the limit 'memory' allows"
    if isinstance(error, PasswordError):
        return "is encrypted: save it without a password"
    is_panic = type(error).__module__ == "pyo3_runtime"  # of Rust, which is not an Exception
    if is_panic or isinstance(error, CalamineError | OSError | ValueError | OverflowError):
        return f"is not a spreadsheet that can be read: {message}"
    return None


def main(path: str, memory: str, sheet_name: str | None = None) -> None:
    """Write the messages; an error is the last one."""
    _limit_memory(int(memory))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that reads this
    try:
        for message in messages(path, sheet_name):
            sys.stdout.write(json.dumps(message) + "\n")
    except BaseException as error:
        problem = _problem(error)
        last = {"bug": traceback.format_exc()} if problem is None else {"problem": problem}
        sys.stdout.write(json.dumps(last) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
