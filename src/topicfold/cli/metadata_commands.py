"""Commands about what is known of documents: contrast."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .messages import check_places, say
from .options import file_options, holds_texts, known_options, read_as_fitted

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus
    from ..topics.tree import TopicTree

__all__ = ["contrast"]


def _tree_and_corpus(
    model: str, path: str, tree_file: str | None, columns: Iterable[str], given: dict[str, Any]
) -> tuple[TopicTree, Corpus]:
    """The topics of a model over the documents of a file, whose columns are read as metadata."""
    from ..models.model_file import load
    from ..topics.tree import TopicTree

    fitted = load(model)
    changed = None if tree_file is None else TopicTree.load(tree_file)
    named = [name.strip() for name in (given.pop("metadata", None) or "").split(",") if name.strip()]
    if holds_texts(path, given["format"]):
        named = list(dict.fromkeys([*named, *columns]))
    given["metadata"] = ",".join(named) or None
    corpus = read_as_fitted(fitted, model, path, given)
    say(str(corpus))
    topics = fitted.topic_tree(corpus)
    return topics if changed is None else changed.with_documents_of(topics), corpus


def _write_rows(fields: Sequence[str], rows: Iterable[Sequence[Any]], out: str) -> None:
    """A table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    for row in rows:
        writer.writerow([f"{value:.6g}" if isinstance(value, float) else value for value in row])
    if out == "-":
        click.echo(text.getvalue(), nl=False)
    else:
        Path(out).write_text(text.getvalue(), encoding="utf-8", newline="")
        say(f"the table is in {out}")


@click.command()
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path())
@click.option("--by", required=True, metavar="COLUMN", help="Column whose values are the groups, or 'labels'.")
@click.option("--groups", metavar="A,B", help="Two values to compare; without it, each against the rest.")
@click.option("--topic", "topics", type=int, multiple=True, help="One topic; repeatable. -1 is all tokens together.")
@click.option("--words", type=click.IntRange(1), default=10, show_default=True, help="Words per topic and group.")
@click.option("--tree", "tree_file", type=click.Path(), help="Changed topics of MODEL that `topicfold tree` wrote.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--out", metavar="FILE", help="Write the words as CSV; '-' is stdout.")
@file_options
@known_options
def contrast(
    model: str,
    input: str,
    by: str,
    groups: str | None,
    topics: tuple[int, ...],
    words: int,
    tree_file: str | None,
    as_json: bool,
    out: str | None,
    **given: Any,
) -> None:
    """Print how groups of the documents of INPUT speak of the topics of MODEL: words with z-scores.

    By log-odds with an informative prior, per topic and overall.
    """
    from ..analysis.contrast import OVERALL, ContrastWord
    from ..analysis.contrast import contrast as contrasted

    if as_json and out is not None:
        raise click.UsageError("--json prints JSON and --out writes CSV: give one of them")
    check_places([model, input, tree_file], None if out == "-" else out)
    tree, corpus = _tree_and_corpus(model, input, tree_file, [] if by == "labels" else [by], given)
    pair = None if groups is None else [name.strip() for name in groups.split(",")]
    wanted = [topic for topic in topics if topic != OVERALL]
    found = contrasted(tree, corpus, by, groups=pair, topics=wanted if topics else None)
    shown = topics or found.topics
    if out is not None:
        _write_rows(ContrastWord._fields, found.rows(shown, words), out)
    elif as_json:
        rows = [word._asdict() for word in found.rows(shown, words)]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        click.echo(found.to_text(shown, words))
