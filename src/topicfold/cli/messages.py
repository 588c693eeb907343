"""Messages of commands, and checks of the paths they write to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ..errors import InputError

__all__ = ["BUG", "INTERRUPTED", "TERMINATED", "check_paths", "corpus_name", "say", "say_report"]

BUG = 70  # the exit code for an error inside a program (EX_SOFTWARE)
INTERRUPTED, TERMINATED = 130, 143  # the exit codes shells give a program that Ctrl-C or SIGTERM ended


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

    paths_in_use = [Path(path).resolve() for path in inputs if path is not None]
    for path in filter(None, outputs):
        check_writable(path)
        if Path(path).resolve() in paths_in_use:
            raise InputError(f"{path} is also an input or another output of this command: write to another file")
        paths_in_use.append(Path(path).resolve())
