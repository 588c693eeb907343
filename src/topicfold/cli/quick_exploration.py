"""`topicfold explore FILE`: guess the columns of a table, fit the default model, and show its topics."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .default_vectors import parameters_by_default
from .messages import say
from .option_values import names_of
from .options import (
    errors_of,
    holds_texts,
    limits_of,
    make_model,
    say_what_is_read,
    set_on_command_line,
    text_columns,
    words_of,
)

if TYPE_CHECKING:
    from ..corpus.columns import Columns
    from ..corpus.corpus import Corpus
    from ..corpus.guessing import GuessedColumns
    from ..corpus.readers import FileOptions
    from ..models.estimator import TopicModel

__all__ = ["fit_default_model", "open_in_browser", "read_with_guesses", "with_guessed_columns"]

_GUESSED = ("text", "id", "title", "labels", "timestamp", "metadata")
_COLUMNS = (*_GUESSED, "links", "separator", "date_format", "strict_dates")
_READING = {
    "format": "--format",
    "encoding": "--encoding",
    "replace_errors": "--replace-errors",
    "pattern": "--pattern",
    "limits": "--limit",
    "stop_words": "--stop-words",
    "tokenizer": "--tokenizer",
    "stem": "--stem",
    "no_clean": "--no-clean",
    "drop_lines": "--drop-lines",
    "unique": "--unique",
    "language": "--language",
}


def fit_default_model(
    path: str, user_options: dict[str, Any], n_topics: int | None, no_embed: bool
) -> tuple[TopicModel, Corpus]:
    """The default model of the texts in a file, and the corpus; says what was guessed."""
    from ..models.em.number_of_topics import LEAST_DOCUMENTS

    corpus, columns = read_with_guesses(path, user_options)
    say_what_is_read(corpus, check=True)
    model_name, by_default = parameters_by_default(corpus, no_embed)
    size = "auto" if n_topics is None else n_topics
    model = make_model(model_name, {"n_topics": size, **by_default}, seed=0, jobs=-1).fit(corpus)
    chosen = len(model.topic_word_)
    options = ["--model", model_name]
    options += [word for name, value in by_default.items() for word in ("-p", f"{name}={value}")]
    if n_topics is None:
        say(f"{chosen} topic{'s were' if chosen > 1 else ' was'} chosen (--topics sets their number)")
    if n_topics is None and columns is not None and len(corpus) >= LEAST_DOCUMENTS:
        say(f"To compare numbers of topics: {_command('select', path, columns, options)}")
    if columns is not None:
        options += ["--topics", str(chosen), "--out", f"{_stem(path)}.safetensors"]
        say(f"To keep the model: {_command('fit', path, columns, options)}")
    return model, corpus


def read_with_guesses(path: str, user_options: dict[str, Any]) -> tuple[Corpus, dict[str, Any] | None]:
    """The corpus of a file, with its texts, and the options on columns if they were guessed; says what was guessed."""
    from ..corpus.corpus import Corpus
    from ..corpus.readers import FileOptions

    errors, limits = errors_of(user_options), limits_of(user_options)
    file = FileOptions(user_options["format"], user_options["encoding"], errors, user_options["pattern"], limits=limits)
    words = words_of(user_options)
    user_options["text"] = text_columns(path, user_options, errors, limits)
    columns, guessed = guessed_columns(path, user_options, file)
    options: dict[str, Any] = {name: value for name, value in columns.items() if value is not None}
    if holds_texts(path, user_options["format"]):
        options |= {"keep_texts": True, "errors": errors, "limits": limits, **words}
    corpus = Corpus.read(path, **options)
    if guessed is None:
        return corpus, None
    notes = {**corpus.notes, "columns_used": guessed.used, "columns_unused": guessed.unused}
    return replace(corpus, notes=notes), columns


def guessed_columns(
    path: str, user_options: dict[str, Any], file: FileOptions
) -> tuple[dict[str, Any], GuessedColumns | None]:
    """The options of the command line, with a guess for each column it does not name, if the file is a table.

    The second value is the guess, if there is one.
    """
    from ..corpus.columns import Columns
    from ..corpus.formats import format_of
    from ..corpus.guessing import checked_guess, guess_columns
    from ..corpus.readers import files_of

    named = names_of(user_options["metadata"])
    options = {**user_options, "metadata": named or None}
    files = [] if path == "-" else files_of(path)
    # a pipe, like standard input, can be read only once
    can_be_reread = all(entry.is_dir() or entry.is_file() for entry in files)
    if not files or not holds_texts(path, user_options["format"]) or not can_be_reread:
        return options, None
    if format_of(files[0], user_options["format"]) == "folder":
        return options, None
    roles = [name for name in _GUESSED if set_on_command_line(name)]
    columns: dict[str, Any] = {
        name: user_options[name] or None for name in (*_GUESSED[1:-1], "links", "separator", "date_format")
    }
    named_columns = Columns(user_options["text"], **columns, metadata=tuple(named))
    named_columns = named_columns._replace(strict_dates=user_options["strict_dates"])
    guessed = checked_guess(guess_columns(_records(files, file), named_columns, roles), _records(files, file))
    guessed = _without_commas(guessed)
    final_columns = guessed.columns
    if "metadata" not in roles:  # columns of a formula, which may also be labels or dates
        formula = [name for name in named if name in guessed.names or name not in ("labels", "date")]
        final_columns = final_columns._replace(metadata=tuple(dict.fromkeys([*formula, *final_columns.metadata])))
    options |= {name: getattr(final_columns, name) for name in _COLUMNS}
    options["metadata"] = list(final_columns.metadata) or None
    if options["id"] is None and "id" in guessed.names:
        options["id"] = ""  # None would read the column that is called id
    _say_guess(guessed, final_columns)
    return options, guessed._replace(columns=final_columns)


def _without_commas(guessed: GuessedColumns) -> GuessedColumns:
    """The guess without metadata columns that --metadata cannot list."""
    columns = guessed.columns
    unlisted = [name for name in columns.metadata if "," in name and "metadata" in guessed.roles]
    rejected = dict.fromkeys(unlisted, "a name with a comma cannot be listed in --metadata")
    listed = tuple(name for name in columns.metadata if name not in unlisted)
    roles = tuple(role for role in guessed.roles if role != "metadata" or listed)
    return guessed._replace(
        columns=columns._replace(metadata=listed), roles=roles, rejected={**guessed.rejected, **rejected}
    )


def _say_guess(guessed: GuessedColumns, final_columns: Columns) -> None:
    guesses = []
    for role in guessed.roles:
        names = guessed.of_role(role)
        why = "" if role == "metadata" else f" ({guessed.reasons[names[-1]]})"
        guesses.append(f"{role}: {', '.join(names)}{why}")
    if guesses:
        say(f"guessed columns, {'; '.join(guesses)} (to choose others, use options such as --text; --id '' for none)")
    unused = guessed._replace(columns=final_columns).unused
    if unused:
        say("columns that are not used: " + ", ".join(f"{name} ({why})" for name, why in unused.items()))


def _records(files: list[Path], file: FileOptions) -> Iterator[Any]:
    from ..corpus.readers import records

    return chain.from_iterable(records(path, file) for path in files)


def with_guessed_columns(path: str, user_options: dict[str, Any]) -> dict[str, Any]:
    """The options with guessed columns, if the file is a table without the column `text` and none was named."""
    from ..corpus.readers import FileOptions, files_of

    if path == "-" or set_on_command_line("text") or not holds_texts(path, user_options["format"]):
        return user_options
    options = dict(user_options)
    file = FileOptions(
        options["format"], options["encoding"], errors_of(options), options["pattern"], limits=limits_of(options)
    )
    first: Any = next(_records(files_of(path)[:1], file), {})
    if "text" in first:
        return user_options
    columns, _ = guessed_columns(path, options, file)
    return {**user_options, **{name: columns[name] for name in _COLUMNS}}


def _command(command: str, path: str, columns: dict[str, Any], options: list[str]) -> str:
    """A command that reads the same documents: with the same columns, and how the user said to read them."""
    words = ["topicfold", command, f"./{path}" if path.startswith("-") else path]
    for name in _COLUMNS:
        value, option = columns[name], f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif value not in (None, False) and (name, value) != ("text", "text"):
            words += [option, ",".join(value) if isinstance(value, list | tuple) else value]
    context = click.get_current_context()
    for name, option in _READING.items():
        value = context.params[name]
        if set_on_command_line(name):
            each = (value,) if isinstance(value, str) else value
            words += [option] if value is True else [word for item in each for word in (option, item)]
    words += options
    return shlex.join(words)


def _stem(path: str) -> str:
    """A name for the model of a file, or of files that match a pattern."""
    from ..corpus.formats import SUFFIXES

    name = Path(path).resolve().name.removesuffix(".gz")
    name = name.removesuffix(Path(name).suffix) if Path(name).suffix in SUFFIXES else name
    return re.sub(r"[*?\[\]]", "", name).strip("-_. ") or "model"


def open_in_browser(page: str, open_page: bool | None) -> None:
    """Open the page if `open_page` is set; with None, only at a terminal."""
    if open_page or (open_page is None and sys.stderr.isatty()):
        import webbrowser

        webbrowser.open(Path(page).absolute().as_uri())
