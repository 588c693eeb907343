"""Commands about documents: assign, search, score."""

from __future__ import annotations

import sys
from typing import Any, Literal

import click

from .cluster_options import cluster_options
from .messages import say
from .options import (
    DEFAULT_EMBEDDING,
    SEGMENT_MODELS,
    edits_option,
    errors_of,
    file_options,
    known_options,
    limits_of,
    read_as_fitted,
    segments_of,
    text_columns,
)

__all__ = ["assign", "score", "search"]


@click.command()
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path())
@file_options
@cluster_options
@click.option("--out", default="-", show_default=True, help="File to write: .csv, .jsonl or .parquet; '-' is stdout.")
@click.option(
    "--to", type=click.Choice(["csv", "jsonl", "parquet"]), help="Format of --out, if its name does not show it."
)
@click.option("--tree", "tree_file", type=click.Path(), help="Edited topics of MODEL, written by `topicfold tree`.")
@edits_option
@click.option("--batch", default=1000, show_default=True, help="Number of documents in memory at once.")
@click.option(
    "--segments",
    metavar="HOW",
    help=f"One row per segment ('paragraphs', 'sentences' or a number of words); for {SEGMENT_MODELS}.",
)
@click.option(
    "--embed",
    is_flag=False,
    flag_value=DEFAULT_EMBEDDING,
    metavar="[MODEL]",
    help="Embed the texts with the embedding model that was used for the fit; for models fitted on embeddings.",
)
def assign(
    model: str,
    input: str,
    out: str,
    to: Literal["csv", "jsonl", "parquet"] | None,
    tree_file: str | None,
    edits: str | None,
    batch: int,
    segments: str | None,
    embed: str | None,
    **user_options: Any,
) -> None:
    """Write the topics of each document of INPUT as a table.

    Columns: id, largest topic, its name and probability, then one column per topic.
    """
    from ..analysis.assign import assign_file
    from ..models.model_file import load
    from ..topics.tree import TopicTree

    errors, limits = errors_of(user_options), limits_of(user_options)
    texts = None if user_options["text"] is None else text_columns(input, user_options, errors, limits)
    user_options |= {"errors": errors, "limits": limits, "text": texts}
    fitted = load(model)
    tree = None if tree_file is None else TopicTree.load(tree_file)
    if edits is not None:
        tree = (tree or fitted.topic_tree()).apply(edits)
    n_rows = assign_file(
        fitted, input, out, tree=tree, to=to, batch=batch, segments=segments_of(segments), embed=embed, **user_options
    )
    say(f"{n_rows:,} {'documents' if segments is None else 'segments'} assigned")


@click.command()
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path())
@click.argument("query")
@file_options
@known_options
@click.option("-n", default=10, show_default=True, help="Number of documents to show.")
def search(model: str, input: str, query: str, n: int, **user_options: Any) -> None:
    """Find documents of INPUT by words or topics. They contain the words of QUERY, or are about the same topics.

    Prints score, id, title and the words found. Documents that contain all words come first. '-' as QUERY reads stdin.
    """
    from ..analysis.search import search as find
    from ..models.model_file import load

    if "-" == input == query:
        raise click.UsageError("INPUT and QUERY cannot both come from stdin")
    text = sys.stdin.read() if query == "-" else query
    fitted = load(model)
    corpus = read_as_fitted(fitted, model, input, user_options)
    for hit in find(fitted, corpus, text, n):
        title = f"  {hit.title}" if hit.title != hit.id else ""
        click.echo(f"{hit.score:.4f}  {hit.id}{title}" + (f"  ({', '.join(hit.words)})" if hit.words else ""))


@click.command()
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path())
@file_options
@cluster_options
@click.option(
    "--segments",
    metavar="HOW",
    help=f"Split texts as for the fit ('paragraphs', 'sentences', a number); for {SEGMENT_MODELS}.",
)
def score(model: str, input: str, segments: str | None, **user_options: Any) -> None:
    """Print the held-out log-likelihood of INPUT. Also prints the perplexity, if the likelihood is per token.

    Half of the tokens of each text, drawn at random, predict the rest; for HLTA it is the exact log-likelihood per
    document. Texts are split into words as for the fit.
    """
    from ..metrics.completion import perplexity
    from ..models.model_file import load

    fitted = load(model)
    value = fitted.score(read_as_fitted(fitted, model, input, user_options, segments))
    per = fitted.score_unit.removeprefix("nats ")
    rows = [(f"log-likelihood {per}", f"{value:.4f}")]
    if per == "per token":
        rows.append(("perplexity", f"{perplexity(value):.1f}"))
    width = max(len(name) for name, _ in rows)
    click.echo("\n".join(f"{name:<{width}}  {figure}" for name, figure in rows))
