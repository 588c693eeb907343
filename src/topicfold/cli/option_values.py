"""What the text of an option stands for: numbers, names, parameters, stop words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ..engine.small_files import read_text

__all__ = ["lines_from", "names_of", "number_of", "stop_words_from", "values_of"]


def names_of(value: str | None) -> list[str]:
    """The names of an option that takes several, separated by commas."""
    return [name.strip() for name in (value or "").split(",") if name.strip()]


def number_of(name: str, text: str) -> int | float:
    """The number that an option is set to."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(f"--{name.replace('_', '-')} {text}: expected a number") from None


def stop_words_from(value: str) -> Any:
    """The stop words of an option: languages with +words and -words, the words of a file, or None for 'none'."""
    from ..corpus.languages import language_named

    if value == "none":
        return None
    if language_named(value.split(",")[0]) is None and Path(value).is_file():
        return frozenset(read_text(value, "a list of stop words").split())
    return value


def lines_from(value: str | None) -> Any:
    """The lines of --drop-lines: 'repeated', or those of a file."""
    if value is None or value == "repeated":
        return value or ()
    return [line for line in read_text(value, "lines to leave out").splitlines() if line.strip()]


def values_of(parameters: tuple[str, ...]) -> dict[str, Any]:
    """NAME=VALUE pairs; a value is JSON (50, 0.1, true, [..]) or else a string."""
    values = {}
    for parameter in parameters:
        name, equals, value = parameter.partition("=")
        if not equals:
            raise click.UsageError(f"-p {parameter}: expected NAME=VALUE, such as n_topics=50")
        try:
            values[name] = json.loads(value)
        except (ValueError, RecursionError):  # not JSON, a number too long, nested too deeply
            values[name] = value
    return values
