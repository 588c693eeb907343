"""Limits on the size of files, so that a damaged or hostile file raises an error instead of using up all memory."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..engine.checks import check_number, check_whole
from ..engine.machine import machine_memory

__all__ = ["ReadLimits"]


@dataclass(frozen=True)
class ReadLimits:
    """Limits on what `Corpus.read` accepts; an error names the limit that was exceeded.

    Parameters
    ----------
    line : int, default=67108864
        Maximum length of a line, cell or text, in bytes; for a value in a JSON file, in characters.
    columns : int, default=1000000
        Maximum number of columns of a CSV or TSV file, or of a sheet.
    expansion : float, default=200
        Maximum ratio of uncompressed to compressed size, for files of more than 64 MB when uncompressed; also of a zip
        file and a spreadsheet.
    size : int, default=10000000
        Maximum number of rows or columns of a matrix.
    memory : int or None, default=None
        Maximum number of bytes of a matrix that must be in memory as a whole, and of the process that reads a
        spreadsheet (not on Windows). None means three quarters of the memory of the machine.

    See Also
    --------
    Corpus.read : Reads files within these limits.

    Examples
    --------
    >>> from topicfold import ReadLimits
    >>> ReadLimits(line=1 << 20).columns
    1000000
    """

    line: int = 1 << 26
    columns: int = 1_000_000
    expansion: float = 200.0
    size: int = 10_000_000
    memory: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "expansion":
                check_number("expansion", value, above=True)
            elif value is not None or field.name != "memory":
                check_whole(field.name, value)

    def most_memory(self) -> int:
        """Return the number of bytes that a matrix or a spreadsheet may take.

        Returns
        -------
        int
            `memory`, or three quarters of the memory of the machine.
        """
        return 3 * machine_memory() // 4 if self.memory is None else self.memory
