"""The commands about texts before any model: check and read."""

from __future__ import annotations

import json
from typing import Any

import click

from .messages import check_paths, say
from .options import corpus_options, file_options, known_options, read_corpus, rows_options, words_options
from .quick_exploration import read_with_guesses

__all__ = ["check", "read"]


@click.command()
@click.argument("input", metavar="INPUT", type=click.Path())
@file_options
@known_options
@words_options
@rows_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(input: str, as_json: bool, **user_options: Any) -> None:
    """Check a file before anything is fitted: rows, copies, languages, dates, columns, what cleaning removes.

    Columns that no option names are guessed, as in `topicfold explore INPUT`.
    """
    check_paths([input], None)
    corpus, _ = read_with_guesses(input, user_options)
    data_check = corpus.check()
    click.echo(json.dumps(data_check.to_json(), ensure_ascii=False, indent=1) if as_json else str(data_check))


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", type=click.Path())
@corpus_options
@click.option("--out", required=True, type=click.Path(), help="Corpus file to write (.safetensors).")
@click.option("--no-texts", is_flag=True, help="Keep only counts; the explorer then shows words instead of texts.")
@click.option(
    "--jobs", type=int, default=-1, show_default=True, help="Processes; -1 uses all cores. No effect on results."
)
def read(inputs: tuple[str, ...], out: str, no_texts: bool, jobs: int, **user_options: Any) -> None:
    """Read texts into one corpus file. INPUT can be files, a folder or a pattern ('reviews-*.csv.gz').

    Other commands take the file as INPUT. A large file is read piece by piece, so that a fit needs little memory
    regardless of the number of documents.
    """
    check_paths(inputs, out)
    read_corpus(inputs, user_options, keep_texts=not no_texts, jobs=jobs, on_disk=out)
    say(f"the corpus is in {out}")
