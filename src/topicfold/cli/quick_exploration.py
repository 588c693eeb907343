"""`topicfold explore FILE`: guess the columns of a table, fit the default model, and show its topics."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .messages import say
from .option_values import names_of, stop_words_from
from .options import errors_of, holds_texts, limits_of
from .signatures import default_model

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus
    from ..corpus.readers import FileOptions
    from ..models.estimator import TopicModel

__all__ = ["fit_default_model", "open_in_browser", "with_guessed_columns"]

_MANY = 1000  # with at least so many documents, a word has to be in 5 of them, otherwise in 2
_FEW = 20  # with fewer documents, a word may be in all of them
_PER_TOPIC = 5  # documents; fewer topics than asked for by default if there are not enough
_GUESSED = ("text", "id", "title", "labels", "timestamp", "metadata")
_COLUMNS = (*_GUESSED, "links", "separator", "date_format")
_READING = {
    "format": "--format",
    "encoding": "--encoding",
    "replace_errors": "--replace-errors",
    "pattern": "--pattern",
    "limits": "--limit",
}


def fit_default_model(path: str, user_options: dict[str, Any], n_topics: int) -> tuple[TopicModel, Corpus]:
    """The default model of the texts in a file, and the corpus; says what was guessed."""
    from ..corpus.corpus import Corpus
    from ..corpus.readers import FileOptions
    from ..models import DEFAULT_MODEL, MODELS

    stop_words = user_options.pop("stop_words")
    file = FileOptions(
        user_options["format"],
        user_options["encoding"],
        errors_of(user_options),
        user_options["pattern"],
        limits=limits_of(user_options),
    )
    columns, n_documents = guessed_columns(path, user_options, file)
    options: dict[str, Any] = {name: value for name, value in columns.items() if value is not None}
    words = None
    if holds_texts(path, user_options["format"]):
        words = _chosen_words(path, file, columns["text"], n_documents, stop_words)
        options |= {"keep_texts": True, "errors": file.errors, "limits": file.limits}
        options |= {"min_df": words.min_df, "max_df": words.max_df, "stop_words": stop_words_from(words.stop_words)}
    corpus = Corpus.read(path, **options)
    say(str(corpus))
    if not _set_on_command_line("n_topics"):
        n_topics = max(2, min(n_topics, len(corpus) // _PER_TOPIC))
    model = MODELS[DEFAULT_MODEL].make(n_topics, random_state=0, n_jobs=-1).fit(corpus)
    if words is not None and n_documents is not None:
        say(f"To keep the model: {_fit_command(path, columns, words, n_topics)}")
    return model, corpus


def guessed_columns(path: str, user_options: dict[str, Any], file: FileOptions) -> tuple[dict[str, Any], int | None]:
    """The options of the command line, with a guess for each column it does not name, if the file is a table.

    The second value is the number of documents, if they were counted.
    """
    from ..corpus.formats import format_of
    from ..corpus.guessing import checked_guess, guess_columns
    from ..corpus.readers import Columns, files_of

    named = names_of(user_options["metadata"])
    options = {**user_options, "metadata": named or None}
    files = [] if path == "-" else files_of(path)
    # a pipe, like standard input, can be read only once
    can_be_reread = all(entry.is_dir() or entry.is_file() for entry in files)
    if not files or not holds_texts(path, user_options["format"]) or not can_be_reread:
        return options, None
    if (user_options["format"] or format_of(files[0])) == "folder":
        return options, sum(1 for _ in _records(files, file))
    roles = [name for name in _GUESSED if _set_on_command_line(name)]
    columns = {name: user_options[name] or None for name in (*_GUESSED[1:-1], "links", "separator", "date_format")}
    named_columns = Columns(text=user_options["text"], **columns, metadata=tuple(named))
    guessed, n_documents = checked_guess(
        guess_columns(_records(files, file), named_columns, roles), _records(files, file)
    )
    final_columns = guessed.columns
    if "metadata" not in roles:  # columns of a formula, which may also be labels or dates
        formula = [name for name in named if name in guessed.names or name not in ("labels", "date")]
        final_columns = final_columns._replace(metadata=tuple(dict.fromkeys([*formula, *final_columns.metadata])))
    options |= {name: getattr(final_columns, name) for name in _COLUMNS}
    options["metadata"] = list(final_columns.metadata) or None
    if options["id"] is None and "id" in guessed.names:
        options["id"] = ""  # None would read the column that is called id
    if guessed.reasons:
        reasons = "; ".join(f"{role}: {why}" for role, why in guessed.reasons.items())
        say(f"guessed columns, {reasons} (to choose others, use options such as --text; --id '' for none)")
    unused = guessed._replace(columns=final_columns).unused()
    if unused:
        say("columns that are not used: " + ", ".join(unused))
    return options, n_documents


def _set_on_command_line(name: str) -> bool:
    return click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def _records(files: list[Path], file: FileOptions) -> Iterator[Any]:
    from ..corpus.readers import records

    return chain.from_iterable(records(path, file) for path in files)


class _Words(NamedTuple):
    """Which words are left out, as the options of `topicfold fit` say it."""

    min_df: int
    max_df: float
    stop_words: str


def _chosen_words(path: str, file: FileOptions, text: str, n_documents: int | None, stop_words: str | None) -> _Words:
    """Leave out rare and frequent words, and the stop words that were asked for, or those of the texts' language."""
    from ..corpus.fields import as_text, is_missing
    from ..corpus.guessing import guess_language
    from ..corpus.readers import files_of

    fewest = 5 if n_documents is not None and n_documents >= _MANY else 2
    most = 1.0 if n_documents is not None and n_documents < _FEW else 0.5
    hint = ""
    if stop_words is None and n_documents is not None:  # what can be read only once was not counted
        values = (record.get(text) for record in _records(files_of(path), file))
        stop_words = guess_language("" if is_missing(value) else as_text(value) for value in values) or "none"
        hint = " (guessed; to choose others, use --stop-words)"
    stop_words = stop_words or "english"
    often = "" if most == 1 else " and in at most half of them"
    without = "with all stop words" if stop_words == "none" else f"without stop words ({stop_words})"
    say(f"words in at least {fewest} documents{often}, {without}{hint}")
    return _Words(fewest, most, stop_words)


def with_guessed_columns(path: str, user_options: dict[str, Any]) -> dict[str, Any]:
    """The options with guessed columns, if the file is a table without the column `text` and none was named."""
    from ..corpus.readers import FileOptions, files_of

    if path == "-" or _set_on_command_line("text") or not holds_texts(path, user_options["format"]):
        return user_options
    options = dict(user_options)
    file = FileOptions(
        options["format"], options["encoding"], errors_of(options), options["pattern"], limits=limits_of(options)
    )
    first: Any = next(_records(files_of(path)[:1], file), {})
    if user_options["text"] in first:
        return user_options
    columns, _ = guessed_columns(path, options, file)
    return {**user_options, **{name: columns[name] for name in _COLUMNS}}


def _fit_command(path: str, columns: dict[str, Any], filters: _Words, n_topics: int) -> str:
    """The command that fits the same model and keeps it: with the same columns, and how the user said to read them."""
    words = ["topicfold", "fit", f"./{path}" if path.startswith("-") else path]
    for name in _COLUMNS:
        if columns[name] is not None and (name, columns[name]) != ("text", "text"):
            value = ",".join(columns[name]) if name == "metadata" else columns[name]
            words += [f"--{name.replace('_', '-')}", value]
    context = click.get_current_context()
    for name, option in _READING.items():
        value = context.params[name]
        if _set_on_command_line(name):
            each = (value,) if isinstance(value, str) else value
            words += [option] if value is True else [word for item in each for word in (option, item)]
    words += ["--model", default_model()] if columns["links"] is not None else []  # links alone would choose another
    words += ["--min-df", str(filters.min_df)]
    words += [] if filters.max_df == 1 else ["--max-df", str(filters.max_df)]
    words += [] if filters.stop_words == "english" else ["--stop-words", filters.stop_words]
    words += ["--topics", str(n_topics), "--out", f"{_stem(path)}.safetensors"]
    return shlex.join(words)


def _stem(path: str) -> str:
    """A name for the model of a file, or of files that match a pattern."""
    name = re.sub(r"(\.(csv|tsv|jsonl|ndjson|parquet|gz))+$", "", Path(path).resolve().name)
    return re.sub(r"[*?\[\]]", "", name).strip("-_. ") or "model"


def open_in_browser(page: str, open_page: bool | None) -> None:
    """Open the page if `open_page` is set; with None, only at a terminal."""
    if open_page or (open_page is None and sys.stderr.isatty()):
        import webbrowser

        webbrowser.open(Path(page).absolute().as_uri())
