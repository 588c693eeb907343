"""Commands about the metadata of documents: effects, contrast."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..engine.csv_writer import CsvWriter
from .messages import check_paths, save_figure, say
from .options import file_options, holds_texts, known_options, read_as_fitted

if TYPE_CHECKING:
    import pandas as pd

    from ..analysis.effects import Effects
    from ..corpus.corpus import Corpus
    from ..topics.tree import TopicTree

__all__ = ["contrast", "effects"]


def _tree_and_corpus(
    model: str, path: str, tree_file: str | None, columns: Iterable[str], user_options: dict[str, Any]
) -> tuple[TopicTree, Corpus]:
    """The topics of a model over the documents of a file, whose columns are read as metadata."""
    from ..models.model_file import load
    from ..topics.tree import TopicTree

    fitted = load(model)
    changed = None if tree_file is None else TopicTree.load(tree_file)
    named = [name.strip() for name in (user_options.pop("metadata", None) or "").split(",") if name.strip()]
    if holds_texts(path, user_options["format"]):
        named = list(dict.fromkeys([*named, *columns]))
    user_options["metadata"] = ",".join(named) or None
    corpus = read_as_fitted(fitted, model, path, user_options)
    say(str(corpus))
    topics = fitted.topic_tree(corpus)
    return topics if changed is None else changed.replace_documents(topics), corpus


def _write_rows(fields: Sequence[str], rows: Iterable[Sequence[Any]], out: str) -> None:
    """Write a table as CSV."""
    text = io.StringIO()
    writer = CsvWriter(text)
    writer.write(fields)
    for row in rows:
        writer.write([f"{value:.6g}" if isinstance(value, float) else value for value in row])
    if out == "-":
        click.echo(text.getvalue(), nl=False)
    else:
        Path(out).write_text(text.getvalue(), encoding="utf-8", newline="")
        say(f"the table is in {out}")


@click.command()
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path())
@click.option("--by", required=True, metavar="COLUMN", help="Column whose values are the groups, or 'labels'.")
@click.option("--groups", metavar="A,B", help="Two values to compare; by default, each is compared with the rest.")
@click.option("--topic", "topics", type=int, multiple=True, help="Id of a topic, or -1 for all tokens; repeatable.")
@click.option(
    "--words", type=click.IntRange(1), default=10, show_default=True, help="Number of words per topic and group."
)
@click.option("--tree", "tree_file", type=click.Path(), help="Edited topics of MODEL, written by `topicfold tree`.")
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
    **user_options: Any,
) -> None:
    """Print the words that set groups of documents apart. They are listed per topic of MODEL, with z-scores.

    Words are scored by log-odds with an informative prior, per topic and overall.
    """
    from ..analysis.contrast import OVERALL, ContrastWord
    from ..analysis.contrast import contrast as contrasted

    if as_json and out is not None:
        raise click.UsageError("--json prints JSON and --out writes CSV: give only one")
    check_paths([model, input, tree_file], None if out == "-" else out)
    tree, corpus = _tree_and_corpus(model, input, tree_file, [] if by == "labels" else [by], user_options)
    pair = None if groups is None else [name.strip() for name in groups.split(",")]
    topic_ids = [topic for topic in topics if topic != OVERALL]
    result = contrasted(tree, corpus, by, groups=pair, topics=topic_ids if topics else None)
    shown = topics or result.topics
    if out is not None:
        _write_rows(ContrastWord._fields, result.rows(shown, words), out)
    elif as_json:
        rows = [word._asdict() for word in result.rows(shown, words)]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        click.echo(result.to_text(shown, words))


@click.command()
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path())
@click.option(
    "--formula", required=True, help="Columns that the shares of topics depend on, such as '~ party + bs(year, df=5)'."
)
@click.option(
    "--cluster", metavar="COLUMN", help="Column of clusters, such as authors, whose documents are not independent."
)
@click.option("--contrast", "difference", metavar="'COLUMN: A - B'", help="Compare two values of a column.")
@click.option("--along", metavar="COLUMN", help="Predict shares along a column.")
@click.option("--by", metavar="COLUMN", help="With --along, predict for each value of this column.")
@click.option("--topic", "topics", type=int, multiple=True, help="Id of a topic; repeatable.")
@click.option("--tree", "tree_file", type=click.Path(), help="Edited topics of MODEL, written by `topicfold tree`.")
@click.option(
    "--plot", metavar="FILE", type=click.Path(), help="Draw the contrast, or the curves of --along (.png, .pdf, .svg)."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--out", metavar="FILE", help="Write the table as CSV; '-' is stdout.")
@file_options
@known_options
def effects(
    model: str,
    input: str,
    formula: str,
    cluster: str | None,
    difference: str | None,
    along: str | None,
    by: str | None,
    topics: tuple[int, ...],
    tree_file: str | None,
    plot: str | None,
    as_json: bool,
    out: str | None,
    **user_options: Any,
) -> None:
    """Print how topic shares depend on columns of INPUT. The estimates have 95 % intervals.

    Columns of the formula are read as metadata; 'labels' and 'date' are the columns of --labels and --timestamp.
    """
    from ..analysis.effects import effects as estimated
    from ..analysis.formula import formula_columns

    if difference is not None and along is not None:
        raise click.UsageError("--contrast and --along each print a table: give only one")
    if as_json and out is not None:
        raise click.UsageError("--json prints JSON and --out writes CSV: give only one")
    if by is not None and along is None:
        raise click.UsageError("--by needs --along")
    if plot is not None and difference is None and along is None:
        raise click.UsageError("--plot draws a contrast or curves: give --contrast or --along")
    compared = None if difference is None else _difference(difference)
    check_paths([model, input, tree_file], plot, None if out == "-" else out)
    role_columns = {"labels": user_options["labels"], "date": user_options["timestamp"]}
    columns = [*formula_columns(formula), *([cluster] if cluster else [])]
    other_columns = [name for name in columns if not role_columns.get(name)]
    tree, corpus = _tree_and_corpus(model, input, tree_file, other_columns, user_options)
    result = estimated(tree, corpus, formula, cluster=cluster, topics=topics or None)
    say(str(result))
    table = _effect_table(result, compared, along, by)
    if plot is not None:
        _draw_effects(table, plot, along is not None)
    if out is not None:
        _write_rows(table.columns.tolist(), table.itertuples(index=False), out)
    elif as_json:
        click.echo(table.to_json(orient="records", indent=1, force_ascii=False))
    else:
        click.echo(_as_text(table))


def _difference(text: str) -> tuple[str, str, str]:
    """COLUMN, A and B of 'COLUMN: A - B'."""
    column, colon, values = text.partition(":")
    value, dash, other = values.partition(" - ")
    parts = (column.strip(), value.strip(), other.strip())
    if not (colon and dash and all(parts)):
        raise click.UsageError(f"--contrast {text!r}: expected 'COLUMN: A - B', such as 'party: left - right'")
    return parts


def _effect_table(
    result: Effects, compared: tuple[str, str, str] | None, along: str | None, by: str | None
) -> pd.DataFrame:
    if compared is not None:
        return result.contrast(*compared)
    return result.table() if along is None else result.predict(along, by=by)


def _draw_effects(table: pd.DataFrame, path: str, curves: bool) -> None:
    from ..plots import effect_curves, effect_sizes

    save_figure((effect_curves if curves else effect_sizes)(table), path)
    say(f"the figure is in {path}")


def _as_text(table: pd.DataFrame) -> str:
    """A table to read: shares in percent, long names cut."""
    shares = [name for name in ("estimate", "share", "std_error", "low", "high") if name in table]
    shown = table.copy()
    for name in shares:
        shown[name] = [f"{value:.2%}" for value in table[name]]
    if "p" in table:
        shown["p"] = [f"{value:.3f}" if value >= 0.001 else "<.001" for value in table["p"]]
    shown["name"] = [name if len(name) <= 40 else name[:39] + "…" for name in table["name"]]
    return str(shown.to_string(index=False))
