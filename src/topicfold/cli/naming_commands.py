"""The command `name`: a program names the topics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .messages import check_paths, say
from .options import file_options, known_options, read_as_fitted
from .topic_commands import load_tree

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus
    from ..topics.names import TopicToName
    from ..topics.tree import TopicTree

__all__ = ["name"]


@click.command()
@click.argument("model", type=click.Path())
@click.argument("input", required=False, type=click.Path())
@file_options
@known_options
@click.option(
    "--command", help="Program with its options. It reads a prompt from stdin and writes its answer to stdout."
)
@click.option("--tree", "tree_file", type=click.Path(), help="Edited topics of MODEL, written by `topicfold tree`.")
@click.option("--words", "n_words", default=10, show_default=True, help="Number of words per topic in the prompt.")
@click.option(
    "--documents", "n_documents", default=3, show_default=True, help="Number of documents per topic in the prompt."
)
@click.option("--timeout", default=120.0, show_default=True, help="Maximum number of seconds per topic.")
@click.option("--fresh", is_flag=True, help="Ask again even if there is a stored answer.")
@click.option("--dry-run", is_flag=True, help="Print the prompts and run nothing.")
@click.option(
    "--out",
    default="-",
    show_default=True,
    help="File to write: names as JSON, for --edits; or a tree with names and descriptions (.safetensors), for --tree.",
)
def name(
    model: str,
    input: str | None,
    command: str | None,
    tree_file: str | None,
    n_words: int,
    n_documents: int,
    timeout: float,
    fresh: bool,
    dry_run: bool,
    out: str,
    **user_options: Any,
) -> None:
    """Name the topics of MODEL with a program. It can be the client of a language model.

    The program is run once per topic, without a shell. The prompt has the words of the topic, the titles of its best
    documents and, if INPUT is given, the beginnings of their texts. Answers are stored in the user's cache folder:
    after an error, the same command continues where it stopped.
    """
    from ..analysis.name_command import NameCommand, naming_prompt
    from ..engine.progress import progress
    from ..topics.names import topics_to_name

    if command is None and not dry_run:
        raise click.UsageError("--command is missing: give a program, or --dry-run to see the prompts")
    if out != "-":
        check_paths([model, input, tree_file], out)
    by = None if command is None else NameCommand(command, timeout=timeout, fresh=fresh)
    topics, corpus = _topics_and_corpus(model, input, tree_file, user_options)
    if by is None or dry_run:
        for topic_to_name in topics_to_name(topics, corpus, None, n_words, n_documents):
            click.echo(naming_prompt(topic_to_name))
        return
    with progress(f"Naming {len(topics):,} topics", len(topics)) as move:
        done = 0

        def ask(topic_to_name: TopicToName) -> tuple[str, str]:
            nonlocal done
            answer = by(topic_to_name)
            done += 1
            move(done)
            return answer

        topics = topics.name_topics(ask, corpus=corpus, n_words=n_words, n_documents=n_documents)
    _write(topics, out)


def _topics_and_corpus(
    model: str, input: str | None, tree_file: str | None, user_options: dict[str, Any]
) -> tuple[TopicTree, Corpus | None]:
    from ..models.model_file import load
    from ..topics.tree import TopicTree

    changed = None if tree_file is None else TopicTree.load(tree_file)
    if input is None:
        return (load_tree(model) if changed is None else changed), None
    fitted = load(model)
    corpus = read_as_fitted(fitted, model, input, user_options)
    say(str(corpus))
    topics = fitted.topic_tree(corpus)
    return (topics if changed is None else changed.replace_documents(topics)), corpus


def _write(topics: TopicTree, out: str) -> None:
    from ..engine.store import atomic_write

    if out.endswith(".safetensors"):
        topics.save(out)
    else:
        ordered = {str(topic): topics.names[topic] for topic in sorted(topics.names)}
        text = json.dumps(ordered, ensure_ascii=False, indent=1)
        if out == "-":
            click.echo(text)
            return
        with atomic_write(out) as unfinished:
            Path(unfinished).write_text(text + "\n", encoding="utf-8", newline="\n")
    say(f"{len(topics.names):,} names are in {out}")
