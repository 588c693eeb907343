"""Tables as CSV in which no cell is a formula to a spreadsheet."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any, Protocol

__all__ = ["CsvWriter", "text_cell"]

_FORMULA = re.compile(r"\s*[=+\-@]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class _Writable(Protocol):
    def write(self, text: str, /) -> Any: ...


def text_cell(text: str) -> str:
    """A text as a cell: one that a spreadsheet would take for a formula gets an apostrophe in front.

    >>> text_cell("=cmd|' /C calc'!A0"), text_cell("-5"), text_cell("a=b")
    ("'=cmd|' /C calc'!A0", '-5', 'a=b')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


class CsvWriter:
    """Writes rows to a file; texts are guarded as by `text_cell`, numbers are written as they are."""

    def __init__(self, file: _Writable) -> None:
        self._rows = csv.writer(file, lineterminator="\n")

    def write(self, row: Iterable[Any]) -> None:
        """Write a row."""
        self._rows.writerow([text_cell(cell) if isinstance(cell, str) else cell for cell in row])
