"""How much a file may ask for, so that a damaged or hostile one ends in an error and not in memory that runs out."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..engine.checks import check_number, check_whole, machine_memory

__all__ = ["ReadLimits"]


@dataclass(frozen=True)
class ReadLimits:
    """Limits on what `Corpus.read` accepts; an error names the limit that was exceeded.

    Parameters
    ----------
    line : int, default=67108864
        Maximum length of a line, cell or text, in bytes.
    columns : int, default=1000000
        Maximum number of columns of a CSV or TSV file.
    expansion : float, default=200
        Maximum number of bytes that one compressed byte may become, in files that grow beyond 64 MB.
    size : int, default=10000000
        Maximum number of rows or columns of a matrix.
    memory : int or None, default=None
        Maximum number of bytes of a matrix that has to be in memory as a whole. None is three quarters of the memory of
        the machine.

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
        """Return the number of bytes that a matrix may take.

        Returns
        -------
        int
            `memory`, or three quarters of the memory of the machine.
        """
        return 3 * machine_memory() // 4 if self.memory is None else self.memory
