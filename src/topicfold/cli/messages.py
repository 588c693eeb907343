"""Messages of commands, and the files they write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "BUG",
    "INTERRUPTED",
    "TERMINATED",
    "check_paths",
    "corpus_name",
    "save_figure",
    "say",
    "say_report",
    "what_is_written",
]

BUG = 70  # the exit code for an error inside a program (EX_SOFTWARE)
INTERRUPTED, TERMINATED = 130, 143  # the exit codes shells give a program that Ctrl-C or SIGTERM ended


_outputs: dict[str, tuple[int, ...] | None] = {}  # the files this command writes, as they were before


def say(message: str) -> None:
    """Print a message to stderr, apart from the data."""
    click.echo(message, err=True)


def say_report(report: object, path: str) -> None:
    """Print where a page was written, as an address to open."""
    say(f"{report}; open it in a browser: {Path(path).absolute().as_uri()}")


def corpus_name(path: str) -> str:
    """Name of a corpus: that of its file or folder, without the extension."""
    if path == "-":
        return "stdin"
    place = Path(path).resolve()
    name = place.name if place.is_dir() else place.name.removesuffix(".gz").rpartition(".")[0]
    return name or place.name or "corpus"


def check_paths(inputs: Sequence[str | None], *outputs: str | None) -> None:
    """Raise if an output cannot be written, or would overwrite an input or another output.

    This is checked before the work starts, so that no result is lost.
    """
    from ..engine.store import check_writable

    _outputs.clear()
    paths_in_use = [Path(path).resolve() for path in inputs if path is not None]
    for path in filter(None, outputs):
        check_writable(path)
        if Path(path).resolve() in paths_in_use:
            raise InputError(f"{path} is also an input or another output of this command: write to another file")
        paths_in_use.append(Path(path).resolve())
        _outputs[path] = _state(path)


def save_figure(figure: Figure, path: str) -> None:
    """Write a figure of matplotlib, completely or not at all."""
    from ..engine.store import atomic_write

    with atomic_write(path) as unfinished:
        figure.savefig(unfinished)


def what_is_written() -> str:
    """Which files of an interrupted command are written; empty if it has not come so far as to check them."""
    written = [path for path, before in _outputs.items() if _state(path) not in (before, None)]
    missing = [path for path in _outputs if path not in written]
    return "; ".join(
        f"{', '.join(paths)} {'is' if len(paths) == 1 else 'are'} {what}"
        for paths, what in ((written, "written"), (missing, "not written"))
        if paths
    )


def _state(path: str) -> tuple[int, ...] | None:
    """What changes when a file is written; None if there is no file."""
    try:
        about = Path(path).stat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns, about.st_size
