"""Commands that fit models: fit, select, demo."""

from __future__ import annotations

import json
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .cluster_options import cluster_options
from .default_vectors import no_embed_option, parameters_by_default
from .messages import INTERRUPTED, check_paths, corpus_name, save_figure, say, say_report
from .option_values import values_of
from .options import (
    GRAPH_MODELS,
    corpus_options,
    fit_input,
    graph_options,
    make_model,
    model_info,
    model_options,
    read_corpus,
    size_of_files,
)
from .signatures import default_model, listed_models, models_by_option
from .stability_option import measure_stability, stability_option
from .streaming import fit_stream

if TYPE_CHECKING:
    from ..models.estimator import TopicModel
    from ..topics.tree import TopicTree

__all__ = ["demo", "fit", "select"]

_MOST_SHOWN = 100  # topics of a hierarchy that fit prints
_MOST_TEXT = 200_000_000  # bytes of files, whose texts are kept during a fit although only names of topics use them
_STREAM_MODELS = listed_models(lambda info: info.streams)
_LABEL_MODELS = ", ".join(
    f"{name} with -p {info.labels}" if info.labels else name
    for name, info in models_by_option().items()
    if info.labels is not None
)


@click.command()
@click.argument("input", type=click.Path())
@corpus_options
@model_options
@cluster_options
@graph_options
@no_embed_option
@click.option(
    "--topics",
    "n_topics",
    type=click.IntRange(1),
    help="Number of topics: the same as -p n_topics=NUMBER. By default, most models choose it on a sample.",
)
@click.option("--out", required=True, type=click.Path(), help="Model file to write (.safetensors).")
@click.option(
    "--checkpoint", type=click.Path(), help="File for the state of the fit; if killed, the fit resumes from it."
)
@click.option("--corpus-out", type=click.Path(), help="Also save the corpus that was read.")
@click.option("--report", type=click.Path(), help="Also write a page to explore the topics (.html).")
@click.option(
    "--supervise",
    is_flag=True,
    help=f"Let the labels guide the fit; for {_LABEL_MODELS}. Without it, --labels are only shown and used for "
    "measures.",
)
@stability_option
@click.option(
    "--stream",
    type=click.IntRange(1),
    metavar="N",
    help="Learn in one pass, N documents at a time, for endless input. The words are those of the first N "
    f"documents, or of --vocabulary. For {_STREAM_MODELS}.",
)
def fit(
    input: str,
    model_name: str | None,
    parameters: tuple[str, ...],
    seed: int,
    jobs: int,
    n_topics: int | None,
    out: str,
    checkpoint: str | None,
    corpus_out: str | None,
    report: str | None,
    graphs: tuple[str, ...],
    embeddings: str | None,
    embed: str | None,
    no_embed: bool,
    supervise: bool,
    stability: int | None,
    stream: int | None,
    **user_options: Any,
) -> None:
    """Fit a model to INPUT, save it, and print its topics. `topicfold models` lists the models."""
    from ..models.em.number_of_topics import LEAST_DOCUMENTS
    from ..report import build_report

    vectors = _vectors_given(embeddings, embed)
    linked = model_name is None and user_options["links"] is not None and not graphs and not vectors
    if linked:
        graphs = ("links",)
        say(
            f"the documents are linked: fitting {default_model(on_graph=True)} with --graph links; "
            f"--model {default_model()} uses only words"
        )
    values = values_of(parameters)
    if n_topics is not None:
        values["n_topics"] = n_topics
    if no_embed and vectors:
        raise click.UsageError(f"--no-embed uses only words, and {vectors} more than words: give only one")
    named = bool(
        model_name or graphs or vectors or supervise or user_options["vocabulary"] or values.keys() - {"n_topics"}
    )
    model_name = model_name or default_model(bool(graphs or vectors or supervise))
    if n_topics is None and stream is None and model_info(model_name).sizes == ("n_topics",):
        values.setdefault("n_topics", "auto")
    model = make_model(model_name, values, seed, jobs)
    _check_fit(model, model_name, bool(graphs or vectors), supervise)
    if stream is not None:
        needing = {"--checkpoint": checkpoint, "--report": report, "--corpus-out": corpus_out, "--stability": stability}
        _check_stream(model_name, needing)
    check_paths([input, embeddings, *graphs], out, report, corpus_out, checkpoint)
    if stream is not None:
        fit_stream(model, input, user_options, stream, out)
        return
    needs_texts = report is not None or embed is not None
    # names of topics have phrases of the texts, but these may take more memory than all else
    keep_texts = needs_texts or size_of_files(input) <= _MOST_TEXT
    corpus = read_corpus(input, user_options, keep_texts=keep_texts, jobs=jobs)
    if corpus_out:
        (corpus if needs_texts else replace(corpus, texts=None)).save(corpus_out)
    if not named:
        model_name, by_default = parameters_by_default(corpus, no_embed)
        values |= by_default
        model = make_model(model_name, values, seed, jobs)
    if checkpoint:
        model.set_params(checkpoint=checkpoint)
    for setting, note in model_info(model_name).notes.items():
        if _has_setting(model, setting):
            say(f"{model_name} {note}")
    started = time.monotonic()
    inputs = fit_input(model, corpus, graphs, embeddings, supervise, embed, input)
    model.fit(corpus, **inputs)
    seconds = time.monotonic() - started
    model.save(out)
    if stability is not None and not model.interrupted_:
        measure_stability(model, corpus, stability, jobs, seconds, inputs)
        model.save(out)
    for name, value in _chosen_parameters(model).items():
        say(f"{name} {value:g} was chosen")
    if values.get("n_topics") == "auto" and len(corpus) >= LEAST_DOCUMENTS:
        fixed = {name: value for name, value in values.items() if name != "n_topics"}
        command = shlex.join(_same_input(click.get_current_context(), select, model_name, fixed))
        say(f"to compare numbers of topics: {command}")
    _show(model.topic_tree(corpus))
    summary = model.summary()
    say(f"{summary.n_iter:,} iterations in {seconds:.1f} s ({summary.ending}); the model is in {out}")
    if report:
        page = build_report(model, corpus, name=corpus_name(input))
        page.save(report)
        say_report(page, report)
    if model.interrupted_:
        sys.exit(INTERRUPTED)


def _vectors_given(embeddings: str | None, embed: str | None) -> str | None:
    """The option that provides embeddings, if any."""
    if embeddings is not None and embed is not None:
        raise click.UsageError("--embed computes embeddings and --embeddings reads them: give only one")
    return "--embeddings" if embeddings is not None else "--embed" if embed is not None else None


def _has_setting(model: TopicModel, setting: str) -> bool:
    name, _, value = setting.partition("=")
    return str(model.get_params()[name]) == value


def _chosen_parameters(model: TopicModel) -> dict[str, float]:
    """The numbers that a fit chose for parameters that are 'auto'."""
    automatic = [name for name, value in model.get_params().items() if isinstance(value, str) and value == "auto"]
    return {name: getattr(model, f"{name}_") for name in automatic if f"{name}_" in model.stored()}


def _check_stream(model_name: str, needing_documents: dict[str, Any]) -> None:
    if not model_info(model_name).streams:
        raise click.UsageError(f"--stream: {model_name} needs all documents at once; {_STREAM_MODELS} do not")
    for option, value in needing_documents.items():
        if value is not None:
            raise click.UsageError(f"{option} needs all documents, but --stream keeps none: leave one of them out")


def _check_fit(model: TopicModel, model_name: str, graph: bool, supervise: bool) -> None:
    info = model_info(model_name)
    if graph and not info.takes_graph:
        raise click.UsageError(
            f"{model_name} uses only words: --graph, --embeddings and --embed are for {GRAPH_MODELS}"
        )
    uses_labels = info.labels is not None and (not info.labels or _has_setting(model, info.labels))
    if supervise and not uses_labels:
        raise click.UsageError(f"--supervise: {model_name} does not use labels; it is for {_LABEL_MODELS}")
    if info.labels and uses_labels and not supervise:
        raise click.UsageError(f"-p {info.labels} needs labels: add --labels COLUMN --supervise")


def _show(tree: TopicTree) -> None:
    if len(tree) <= _MOST_SHOWN or tree.level.max() <= 2:
        click.echo(str(tree))
        return
    top = tree.level.max()
    click.echo(str(tree.select_levels([top - 1, top])))
    say(f"these are the two top levels of {len(tree):,} topics; topicfold show prints all, or those of --levels")


@click.command()
@click.argument("input", type=click.Path())
@corpus_options
@model_options
@cluster_options
@graph_options
@click.option("--splits", default=3, show_default=True, help="Number of folds; each is held out once.")
@click.option("--seeds", default=1, show_default=True, help="Number of fits per fold.")
@click.option("--extend", is_flag=True, help="Try values beyond the list while the recommended one is at its end.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--plot", type=click.Path(), help="Also draw the result to this file (.png, .svg, .pdf).")
@click.pass_context
def select(
    context: click.Context,
    /,
    input: str,
    model_name: str | None,
    parameters: tuple[str, ...],
    seed: int,
    jobs: int,
    graphs: tuple[str, ...],
    embeddings: str | None,
    embed: str | None,
    splits: int,
    seeds: int,
    extend: bool,
    as_json: bool,
    plot: str | None,
    **user_options: Any,
) -> None:
    """Choose parameters on held-out documents. -p n_topics=[10,20,50] tries each value.

    Without a list, it tries 5, 10, 20 and 40 topics, and twice the largest for as long as it is the recommended number.
    Last, it prints the command to fit the recommended model.
    """
    from math import prod

    from ..analysis.selection import select as choose
    from ..models.em.number_of_topics import SIZES

    values = values_of(parameters)
    grid = {name: value for name, value in values.items() if isinstance(value, list)}
    fixed = {name: value for name, value in values.items() if name not in grid}
    vectors = _vectors_given(embeddings, embed)
    model_name = model_name or default_model(bool(graphs or vectors))
    model = make_model(model_name, fixed, seed, 1)
    if not grid and ("n_topics" in fixed or "n_topics" not in model.get_params()):
        raise click.UsageError("nothing to choose from: give a list of values, such as -p 'n_topics=[10,20,50]'")
    _check_fit(model, model_name, bool(graphs or vectors), False)
    check_paths([input, embeddings, *graphs], plot)
    if plot:
        _check_plot(plot)
    corpus = read_corpus(input, user_options, keep_texts=embed is not None, jobs=jobs)
    fit_arguments = fit_input(model, corpus, graphs, embeddings, False, embed, input)
    n_points = prod(len(tried) for tried in grid.values()) if grid else len(SIZES)
    repeated = f" x {seeds} seeds" if seeds > 1 else ""
    more = "" if grid and not extend else ", more if the grid is extended"
    say(f"{n_points} points x {splits} folds{repeated}: {n_points * splits * seeds} fits{more}")
    repeats: dict[str, Any] = {"n_splits": splits, "n_seeds": seeds, "random_state": seed}
    result = choose(model, corpus, grid or None, extend=extend, n_jobs=jobs, **repeats, **fit_arguments)
    click.echo(result.to_json() if as_json else str(result))
    if plot:
        save_figure(result.plot(), plot)
    if not as_json:
        say(f"to fit it: {_fit_command(context, model_name, {**fixed, **result.best})}")
    if result.interrupted:
        sys.exit(INTERRUPTED)


def _fit_command(context: click.Context, model_name: str, values: dict[str, Any]) -> str:
    """The command that fits the recommended model, with the options that were given."""
    return shlex.join([*_same_input(context, fit, model_name, values), "--out", "model.safetensors"])


def _same_input(context: click.Context, command: click.Command, model_name: str, values: dict[str, Any]) -> list[str]:
    """Another command on the same input, with those of the options that it has too."""
    words = ["topicfold", str(command.name), str(context.params["input"]), "--model", model_name]
    options_of_command = {parameter.name for parameter in command.params}
    for option in context.command.params:
        name = str(option.name)
        set_by_user = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if not set_by_user or name not in options_of_command or name in ("input", "model_name", "parameters"):
            continue
        value = context.params[name]
        for item in value if isinstance(value, tuple) else [value]:
            words += [option.opts[0]] if item is True else [option.opts[0], str(item)]
    for name, value in values.items():
        words += ["-p", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return words


def _check_plot(path: str) -> None:
    from ..plots.style import new_figure

    endings = sorted(new_figure(1, 1).canvas.get_supported_filetypes())
    if Path(path).suffix.lstrip(".").lower() not in endings:
        raise click.UsageError(f"--plot {path}: expected a name that ends in .{', .'.join(endings)}")


@click.command()
@click.option("--out", default="topicfold-demo.safetensors", show_default=True, help="Model file to write.")
@click.option("--corpus-out", default="topicfold-demo-corpus.safetensors", show_default=True, help="Corpus to write.")
@click.option("--report", default="topicfold-demo.html", show_default=True, help="Page to write.")
def demo(out: str, corpus_out: str, report: str) -> None:
    """Fit models to the bundled corpus and write a page to explore it. The corpus is 4,096 Debian packages."""
    from ..datasets import load_demo
    from ..graph.build import link_graph
    from ..models.graph.ltm import LTM
    from ..models.lda.lda import LDA
    from ..report import build_report

    check_paths([], out, corpus_out, report)
    corpus = load_demo()
    say(f"{corpus}\n")
    say("Fitting LTM with 20 topics on words and dependencies, and LDA with 40 on words alone ...")
    assert corpus.links is not None
    model = LTM(20, random_state=0, n_jobs=-1).fit(corpus, graph=link_graph(corpus.links, len(corpus)))
    finer = LDA(40, random_state=0, n_jobs=-1).fit(corpus)
    tree = model.topic_tree(corpus)
    click.echo(str(tree))
    model.save(out)
    corpus.save(corpus_out)
    say("")
    page = build_report(
        tree,
        corpus,
        name="Debian packages",
        compare=finer,
        model_name="LTM with dependencies",
        compare_name="LDA, 40 topics",
    )
    page.save(report)
    say_report(page, report)
    say("What to look at first on the page:")
    say("  Map: choose Lasso, draw around a region, and read what it is about; the filter narrows every view.")
    say("  Groups: what sets one section of Debian apart from the others, topic by topic and word by word.")
    say("  Topics: Edit topics merges, drops and groups them; the file you download works with assign and explore.")
    say(f"\nThe model is in {Path(out).absolute()}. Try:")
    say(f"  topicfold show {out} --topic {tree.children()[0]}")
    say(f"  topicfold search {out} {corpus_out} 'play chess against the computer'")
