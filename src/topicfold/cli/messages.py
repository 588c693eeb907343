"""What commands say to people, and checks of the places they write to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

__all__ = ["INTERRUPTED", "TERMINATED", "check_places", "corpus_name", "say", "say_report"]

INTERRUPTED, TERMINATED = 130, 143  # the exit codes shells give a program that Ctrl-C or SIGTERM ended


def say(message: str) -> None:
    """A message to the person, not part of the data."""
    click.echo(message, err=True)


def say_report(report: object, path: str) -> None:
    """Where a page was written, as an address to open."""
    say(f"{report}; open it in a browser: {Path(path).absolute().as_uri()}")


def corpus_name(path: str) -> str:
    """What a corpus is called: its file or folder, without the ending."""
    if path == "-":
        return "stdin"
    place = Path(path).resolve()
    name = place.name if place.is_dir() else place.name.removesuffix(".gz").rpartition(".")[0]
    return name or place.name or "corpus"


def check_places(inputs: Sequence[str | None], *outputs: str | None) -> None:
    """Raise where something could not be written, or is to be written over an input or another output.

    It is said before the work, not after it.
    """
    from ..store import check_writable

    taken = [Path(path).resolve() for path in inputs if path is not None]
    for path in filter(None, outputs):
        check_writable(path)
        if Path(path).resolve() in taken:
            raise ValueError(f"{path} is also used for something else here: write to another file")
        taken.append(Path(path).resolve())
