"""Commands about topics: show, tree, explore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from .default_vectors import no_embed_option
from .messages import check_paths, corpus_name, say, say_report
from .option_values import names_of, number_of
from .options import (
    SEGMENT_MODELS,
    edits_option,
    file_options,
    known_options,
    read_as_fitted,
    rows_options,
    say_what_is_read,
    set_on_command_line,
    words_options,
)
from .quick_exploration import fit_default_model, open_in_browser, with_guessed_columns
from .stability_option import measure_stability, stability_option

if TYPE_CHECKING:
    from ..topics.ranking import RankBy
    from ..topics.tree import TopicTree

__all__ = ["explore", "load_tree", "show", "tree"]


@click.command()
@click.argument("model", type=click.Path())
@click.option("--words", default=10, show_default=True, help="Number of words per topic.")
@click.option(
    "--by",
    type=click.Choice(["score", "probability"]),
    default="score",
    show_default=True,
    help="How words are ranked.",
)
@click.option(
    "--topic",
    type=int,
    help="Print one topic: its words with P(w|z), and its typical documents with their shares of it.",
)
@click.option("--documents", default=10, show_default=True, help="Number of documents to print with --topic.")
@click.option("--levels", metavar="N[,N]", help="Only these levels of a hierarchy; 1 is the lowest.")
@click.option("--repeat", is_flag=True, help="In a hierarchy, also show words that the topic above shows.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--hlta-json",
    metavar="NAME",
    help="Also write NAME.nodes.json and NAME.topics.json, as the original HLTA program does.",
)
def show(
    model: str,
    words: int,
    by: RankBy,
    topic: int | None,
    documents: int,
    levels: str | None,
    repeat: bool,
    as_json: bool,
    hlta_json: str | None,
) -> None:
    """Print the topics of a saved MODEL or tree. `topicfold tree` writes trees."""
    topics = load_tree(model, repeat)
    if levels:
        topics = topics.select_levels(_numbers("levels", levels))
    if hlta_json:
        for name, content in zip(("nodes", "topics"), topics.to_hlta_json()):
            Path(f"{hlta_json}.{name}.json").write_text(content, encoding="utf-8", newline="\n")
        say(f"{hlta_json}.nodes.json and {hlta_json}.topics.json have been written")
    elif as_json:
        click.echo(topics.to_json(words))
    elif topic is None:
        click.echo(topics.to_text(words, by))
    else:
        click.echo("\n".join(f"{word.probability:.4f}  {word.word}" for word in topics.words(topic, words, by)))
        click.echo("")
        for name, share in topics.documents(topic, documents):
            title = topics.title(topics.document_ids.index(name))
            click.echo(f"{share:.4f}  {name}" + (f"  {title}" if title != name else ""))


def load_tree(path: str, repeat: bool = False) -> TopicTree:
    """The topics of a model file or a tree file."""
    from ..engine.store import kind_of_file
    from ..models import info_of
    from ..models.model_file import load
    from ..topics.tree import TopicTree

    if kind_of_file(path) == "tree":
        if repeat:
            raise click.UsageError("--repeat needs the model: a saved tree has only the words it shows")
        return TopicTree.load(path)
    fitted = load(path)
    if repeat and not info_of(fitted).hides_words:
        raise click.UsageError(f"--repeat is for hierarchies: {type(fitted).__name__} does not leave out words")
    options: dict[str, Any] = {"repeat": True} if repeat else {}
    return fitted.topic_tree(**options)


def _numbers(name: str, text: str) -> list[int]:
    return [int(number_of(name, part)) for part in text.split(",")]


@click.command()
@click.argument("model", type=click.Path())
@click.option("--out", required=True, type=click.Path(), help="Tree file to write (.safetensors).")
@click.option("--levels", metavar="N[,N]", help="Only these levels of a hierarchy; 1 is the lowest.")
@click.option("--merge", "merges", multiple=True, metavar="N,N[,N]", help="Merge these topics into one; repeatable.")
@click.option("--drop", "drops", metavar="N[,N]", help="Remove these topics.")
@click.option("--reduce", "n_topics", type=int, help="Merge the most similar topics until this many are left.")
@click.option("--group", "groups", metavar="N[,N]", help="Add levels with these numbers of groups of similar topics.")
@edits_option
def tree(
    model: str,
    out: str,
    levels: str | None,
    merges: tuple[str, ...],
    drops: str | None,
    n_topics: int | None,
    groups: str | None,
    edits: str | None,
) -> None:
    """Edit the topics of MODEL and save them as a tree. MODEL can be a tree; show, explore and assign take trees.

    Changes are made in the order in which the options are listed here.
    """
    check_paths([model, edits], out)
    topics = load_tree(model)
    if levels:
        topics = topics.select_levels(_numbers("levels", levels))
    for merge in merges:
        topics = topics.merge(_numbers("merge", merge))
    if drops:
        topics = topics.drop(_numbers("drop", drops))
    if n_topics is not None:
        topics = topics.reduce(n_topics)
    if groups:
        topics = topics.group(_numbers("group", groups))
    if edits:
        topics = topics.apply(edits)
    topics.save(out)
    click.echo(str(topics))
    say(f"the tree is in {out}")


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="[MODEL] INPUT")
@file_options
@known_options
@click.option(
    "--segments",
    metavar="HOW",
    help=f"Split texts as for the fit ('paragraphs', 'sentences', a number); for {SEGMENT_MODELS}.",
)
@click.option("--out", default="topics.html", show_default=True, type=click.Path(), help="Page to write.")
@click.option(
    "--topics",
    "n_topics",
    type=click.IntRange(1),
    help="Number of topics to fit if there is no MODEL. By default, the fit chooses it on a sample.",
)
@words_options
@rows_options
@no_embed_option
@click.option(
    "--open/--no-open",
    "open_page",
    default=None,
    help="Open the page in the browser; by default only at a terminal and without MODEL.",
)
@click.option("--tree", "tree_file", type=click.Path(), help="Edited topics of MODEL, written by `topicfold tree`.")
@click.option("--name", help="Name of the corpus on the page; by default, the name of INPUT.")
@edits_option
@stability_option
@click.option("--effects", metavar="FORMULA", help="Show effects of columns, such as '~ party + year'.")
@click.option("--compare", "other", type=click.Path(), help="Second model of the same documents to compare with.")
@click.option(
    "--layout",
    type=click.Choice(["neighbours", "umap"]),
    default="neighbours",
    show_default=True,
    help="How documents are placed on the map; umap needs topicfold[map].",
)
@click.option(
    "--documents",
    type=click.IntRange(1),
    default=200_000,
    show_default=True,
    help="Maximum number of documents on the page.",
)
@click.option(
    "--texts-mb",
    type=click.FloatRange(0),
    default=36.0,
    show_default=True,
    help="Maximum megabytes of text on the page, before compression; above it, the longest texts are cut.",
)
def explore(
    paths: tuple[str, ...],
    n_topics: int | None,
    no_embed: bool,
    open_page: bool | None,
    segments: str | None,
    out: str,
    tree_file: str | None,
    name: str | None,
    edits: str | None,
    stability: int | None,
    effects: str | None,
    other: str | None,
    layout: Literal["neighbours", "umap"],
    documents: int,
    texts_mb: float,
    **user_options: Any,
) -> None:
    """Write a page to explore topics and documents. It is one HTML file.

    It shows the topics of MODEL and the documents of INPUT, split into words as for the fit. Without MODEL, the command
    guesses the columns of INPUT, fits the default model, and opens the page: topicfold explore reviews.csv
    """
    from ..models.model_file import load
    from ..report import build_report
    from ..topics.tree import TopicTree

    if len(paths) > 2:
        raise click.UsageError(f"{len(paths)} files: expected INPUT, or MODEL and INPUT")
    model, input = paths if len(paths) == 2 else (None, paths[0])
    if model is not None and Path(input).suffix == ".safetensors" and Path(model).suffix != ".safetensors":
        raise click.UsageError(f"MODEL comes first: topicfold explore {input} {model}")
    check_paths([model, input, other, edits, tree_file], out)
    if effects is not None:
        user_options["metadata"] = _with_columns(user_options, effects)
    second = None if other is None else load(other)
    changed = None if tree_file is None else TopicTree.load(tree_file)
    if model is None:
        _check_alone(input, segments=segments, tree=tree_file, edits=edits)
        fitted, corpus = fit_default_model(input, user_options, n_topics, no_embed)
    else:
        for parameter in ("stop_words", "tokenizer", "stem", "no_clean", "drop_lines"):
            user_options.pop(parameter)
            if set_on_command_line(parameter):
                option = f"--{parameter.replace('_', '-')}"
                raise click.UsageError(f"{option} is for a new fit: MODEL turns texts into words as for its own fit")
        fitted = load(model)
        if fitted.source_columns_ is None:
            user_options = with_guessed_columns(input, user_options)
        corpus = read_as_fitted(fitted, model, input, user_options, segments)
        say_what_is_read(corpus, check=True)
    if stability is not None:
        measure_stability(fitted, corpus, stability, -1)
    topics = fitted.topic_tree(corpus)
    if changed is not None:
        topics = changed.replace_documents(topics)
    page = build_report(
        topics,
        corpus,
        name=name or corpus_name(input),
        edits=edits,
        effects=effects,
        compare=second,
        model_name=None if other is None or model is None else Path(model).stem,
        compare_name=None if other is None else Path(other).stem,
        layout=layout,
        max_documents=documents,
        texts_mb=texts_mb,
    )
    page.save(out)
    say_report(page, out)
    open_in_browser(out, False if open_page is None and model is not None else open_page)


def _check_alone(input: str, **model_options: str | None) -> None:
    """Raise if INPUT is a model, or if an option needs a model."""
    from ..engine.store import kind_of_file

    if Path(input).suffix == ".safetensors" and Path(input).is_file() and kind_of_file(input) != "corpus":
        raise click.UsageError(f"{input} is a {kind_of_file(input)}, not documents: give MODEL and INPUT")
    for name, value in model_options.items():
        if value is not None:
            raise click.UsageError(f"--{name} needs a saved model: give MODEL and INPUT")


def _with_columns(user_options: dict[str, Any], formula: str) -> str | None:
    """The columns to keep, including those that the formula uses."""
    from ..analysis.formula import formula_columns

    role_columns = {"labels": user_options["labels"], "date": user_options["timestamp"]}
    metadata_columns = names_of(user_options["metadata"])
    metadata_columns += [name for name in formula_columns(formula) if not role_columns.get(name)]
    return ",".join(dict.fromkeys(metadata_columns)) or None
