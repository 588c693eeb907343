"""Records of spreadsheets (.xlsx, .xls, .xlsb, .ods), which a process of its own reads."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any, TypeAlias

from ..engine.warn import warn_user
from ..errors import FileError
from .limits import ReadLimits
from .zip_files import check_expansion, opened_zip

__all__ = ["sheet_records"]

Row: TypeAlias = tuple[int, list[str]]  # its number, counted from 1, and the texts of its cells
_PROGRAM = Path(__file__).with_name("sheet_rows.py")
_N_ABOVE = 20  # rows among which the names of the columns are looked for


def sheet_records(path: Path, sheet: str | None, limits: ReadLimits) -> Iterator[Mapping[str, Any]]:
    """The rows of a sheet as records of texts; without its name, those of the first sheet with a table."""
    if zipfile.is_zipfile(path):
        with opened_zip(path) as archive:
            check_expansion(path, archive.infolist(), limits)
    messages = _messages(path, sheet, limits)
    about = next(messages)
    where = f"{path}, sheet {about['sheet']!r}"
    if about["others"]:
        others = ", ".join(map(repr, about["others"]))[:200]
        example = f"excel:{about['others'][0]}"
        warn_user(f"{where} is read, and not {others}; choose another sheet with format={example!r}")
    above = list(islice(messages, _N_ABOVE))
    if not above:
        raise FileError(f"{where} has only errors or formulas without values in its cells: expected names of columns")
    place = _header_place(above)
    number, header = above[place]
    if place:
        warn_user(f"{where}: the names of the columns are taken from row {number}; what is above is left out")
    n_merged = sum(last > number for _, last in about["merged"])
    if n_merged:
        cells = "merged cell spans" if n_merged == 1 else "merged cells span"
        warn_user(f"{where}: {n_merged:,} {cells} several rows; only the first row of each has its value")
    names = _column_names(header, about["first_column"], where, limits)
    for _, cells in chain(above[place + 1 :], messages):
        yield dict(zip(names, cells))


def _header_place(rows: Sequence[Row]) -> int:
    """Which row has the names of the columns: the first with more than half as many cells as the fullest one.

    A title, notes, or a row of merged headings above the names have fewer.
    """
    n_cells = [sum(map(bool, cells)) for _, cells in rows]
    return next(place for place, number in enumerate(n_cells) if 2 * number > max(n_cells))


def _column_names(header: Sequence[str], first_column: int, where: str, limits: ReadLimits) -> list[str]:
    """The names of the columns; one without a name is called by its letters, such as 'column C'."""
    if len(header) > limits.columns:
        raise FileError(
            f"{where} has {len(header):,} columns: more than {limits.columns:,}; the limit 'columns' can be raised"
        )
    names = [" ".join(name.split()) or f"column {_letters(first_column + k)}" for k, name in enumerate(header)]
    if len(set(names)) < len(names):
        twice = next(name for name, number in Counter(names).items() if number > 1)
        raise FileError(f"{where} has more than one column {twice!r:.60}")
    return names


def _letters(column: int) -> str:
    """The letters of a column, counted from 0.

    >>> [_letters(0), _letters(25), _letters(26), _letters(16_383)]
    ['A', 'Z', 'AA', 'XFD']
    """
    before, last = divmod(column, 26)
    return (_letters(before - 1) if before else "") + chr(ord("A") + last)


def _messages(path: Path, sheet: str | None, limits: ReadLimits) -> Iterator[Any]:
    """What `sheet_rows.py` says about a file, or a FileError with the problem."""
    import python_calamine

    environment = {**os.environ, "PYTHONPATH": str(Path(python_calamine.__file__).parent.parent)}
    memory = limits.most_memory()
    command = [sys.executable, "-S", "-P", str(_PROGRAM), str(path.absolute()), str(memory)]
    command += [] if sheet is None else [sheet]
    with Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env=environment) as program:
        try:
            for line in program.stdout or ():
                message = json.loads(line)
                if isinstance(message, dict) and "problem" in message:
                    raise FileError(f"{path} {message['problem']}{_hint(path)}")
                if isinstance(message, dict) and "bug" in message:
                    raise RuntimeError(f"{_PROGRAM.name} has failed: {message['bug']}")
                yield message
            code = program.wait()
        finally:
            program.kill()  # unless it has ended: the reader may have enough, or be interrupted
    if code:
        raise FileError(
            f"{path} is damaged, or needs more than {memory / 1e9:,.1f} GB of memory; the limit 'memory' can be raised"
        )


def _hint(path: Path) -> str:
    """What to do about a file that only its name calls a spreadsheet, as some programs write them."""
    with open(path, "rb") as file:
        is_markup = file.read(1000).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    return "; it is HTML or XML: open it in a spreadsheet program and save it as .xlsx" if is_markup else ""
