"""`topicfold explore FILE`: guess the columns of a table, fit the default model, and show its topics."""

from __future__ import annotations

import shlex
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .messages import say
from .options import errors_of, holds_texts, limits_of

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus
    from ..corpus.readers import FileOptions
    from ..models.base import TopicModel

__all__ = ["fitted_on", "open_in_browser"]

_MANY = 1000  # with this many documents or more, a word must be in 5 of them; with fewer, in 2
_ROWS = 500
_GUESSED = ("text", "id", "title", "labels", "timestamp")
_READING = {
    "format": "--format",
    "encoding": "--encoding",
    "replace_errors": "--replace-errors",
    "pattern": "--pattern",
    "limits": "--limit",
}


def fitted_on(path: str, given: dict[str, Any], n_topics: int) -> tuple[TopicModel, Corpus]:
    """Fit the default model to the texts in a file, print what was guessed, and return the model and the corpus."""
    from ..corpus.corpus import Corpus
    from ..corpus.readers import FileOptions, records
    from ..models.lda.lda import LDA

    file = FileOptions(given["format"], given["encoding"], errors_of(given), given["pattern"], limits=limits_of(given))
    columns = _columns(path, given, file)
    options: dict[str, Any] = {name: value for name, value in columns.items() if value is not None}
    fewest = None
    if holds_texts(path, given["format"]):
        # standard input can be read only once
        fewest = 2 if path == "-" or sum(1 for _ in records(path, file)) < _MANY else 5
        options |= {"keep_texts": True, "min_df": fewest, "max_df": 0.5, "errors": file.errors, "limits": file.limits}
        say(f"keeping words in at least {fewest} documents and at most half of all, without English stop words")
    corpus = Corpus.read(path, **options)
    say(str(corpus))
    model = LDA(n_topics, random_state=0, n_jobs=-1).fit(corpus)
    if fewest is not None and path != "-":
        say(f"To keep the model: {_fit_command(path, columns, fewest, n_topics)}")
    return model, corpus


def _columns(path: str, given: dict[str, Any], file: FileOptions) -> dict[str, Any]:
    """The options of the command line; if the file is a table, columns that are not named are guessed."""
    from ..corpus.formats import format_of
    from ..corpus.guessing import guess_columns
    from ..corpus.readers import records

    chosen = {**given, "metadata": given["metadata"].split(",") if given["metadata"] else None}
    if path == "-" or (given["format"] or format_of(Path(path))) not in ("csv", "tsv", "jsonl", "parquet"):
        return chosen
    guessed = guess_columns(list(islice(records(path, file), _ROWS)))
    source = click.get_current_context().get_parameter_source
    by_user = {name for name in _GUESSED if source(name) is click.core.ParameterSource.COMMANDLINE}
    used = {value for name, value in given.items() if name in by_user}
    said = [reason for reason in guessed.reasons if reason.partition(":")[0] not in by_user]
    say("guessed columns, " + "; ".join(said) + " (to choose others, use options such as --text)")
    for name in _GUESSED:
        column = getattr(guessed.columns, name)
        if name not in by_user and column not in used:
            chosen[name] = column
    taken = {chosen[name] for name in _GUESSED}
    chosen["metadata"] = chosen["metadata"] or [name for name in guessed.columns.metadata if name not in taken] or None
    return chosen


def _fit_command(path: str, columns: dict[str, Any], fewest: int, n_topics: int) -> str:
    """The command that fits the same model and keeps it: with the same columns, and how the user said to read them."""
    words = ["topicfold", "fit", path]
    for name in (*_GUESSED, "links", "metadata", "separator", "date_format"):
        if columns[name] is not None:
            value = ",".join(columns[name]) if name == "metadata" else columns[name]
            words += [f"--{name.replace('_', '-')}", value]
    context = click.get_current_context()
    for name, option in _READING.items():
        value = context.params[name]
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            words += [option] if value is True else [word for one in _each(value) for word in (option, one)]
    words += ["--model", "lda"] if columns["links"] is not None else []  # links alone would make it LTM
    words += ["--min-df", str(fewest), "--max-df", "0.5", "-p", f"n_topics={n_topics}"]
    return shlex.join([*words, "--out", f"{Path(path).stem}.safetensors"])


def _each(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def open_in_browser(page: str, wanted: bool | None) -> None:
    """Open the page if wanted; with None, only at a terminal."""
    if wanted or (wanted is None and sys.stderr.isatty()):
        import webbrowser

        webbrowser.open(Path(page).absolute().as_uri())
