"""The command line. Each command parses, calls one function, and prints: data to stdout, messages to stderr."""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import click

from .options import (
    corpus_options,
    file_options,
    graph_input,
    holds_texts,
    known_options,
    make_model,
    model_options,
    number_of,
    options_as_fitted,
    read_corpus,
    say,
    segments_of,
    takes_graph,
    values_of,
)

__all__ = ["cli", "main"]

_MOST_SHOWN = 100  # topics of a hierarchy that fit prints
_INTERRUPTED = 130  # the exit code shells give a program that Ctrl-C ended


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: errors are one line on stderr and exit code 2, unless --debug asks for the traceback."""
    words = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in words  # anywhere, not only before the command
    words = [word for word in words if word != "--debug"]
    if hasattr(sys.stdout, "reconfigure") and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8")  # data is the same on every machine
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: say(f"topicfold: {message}")
            sys.exit(cli.main(words, prog_name="topicfold", standalone_mode=False) or 0)
    except click.exceptions.Abort:
        _fail("interrupted", _INTERRUPTED)
    except BrokenPipeError:  # the reader of our output, such as head, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except click.UsageError as error:
        hint = f"\nTry: {error.ctx.command_path} --help" if error.ctx else ""
        _fail(error.format_message() + hint, 2)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except Exception as error:
        if debug:
            raise
        expected = isinstance(error, ValueError | OSError | ImportError | TypeError)
        _fail(f"{error}" if expected and str(error) else f"{type(error).__name__}: {error} (--debug says more)", 2)


def _fail(message: str, code: int) -> None:
    click.echo(f"topicfold: {message}", err=True)
    sys.exit(code)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="topicfold")
@click.option("--debug", is_flag=True, help="Show the traceback of an error; may stand anywhere.")
def cli(debug: bool) -> None:
    """Find what a collection of texts is about.

    INPUT is a folder of text files, CSV, TSV, JSONL (also .gz), Parquet, Matrix Market, LDA-C, UCI bag of words,
    SVMlight, scipy .npz, or a corpus saved as .safetensors; '-' is JSONL on stdin.
    """


# ---- commands -------------------------------------------------------------------------------------------------------


@cli.command()
@click.argument("input")
@corpus_options
@model_options
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="Model file to write (.safetensors).")
@click.option("--checkpoint", type=click.Path(dir_okay=False), help="File a killed fit resumes from.")
@click.option("--corpus-out", type=click.Path(dir_okay=False), help="Also save the corpus that was read.")
@click.option("--report", type=click.Path(dir_okay=False), help="Also write a page to explore the topics (.html).")
@click.option(
    "--graph",
    "graphs",
    multiple=True,
    metavar="knn|links|FILE",
    help="Graph of the documents: nearest neighbours (by words, or --embeddings), the links of the corpus, or a file "
    "with an edge a line (two ids and maybe a weight; .csv, .tsv, .txt) or a scipy matrix (.npz). Repeated, they add "
    "up. For lapplsi, ltm and dtm; without it, nearest neighbours.",
)
@click.option(
    "--embeddings", type=click.Path(exists=True, dir_okay=False), help="Vectors of the documents, a row each (.npy)."
)
def fit(
    input: str,
    model_name: str,
    parameters: tuple[str, ...],
    seed: int,
    jobs: int,
    out: str,
    checkpoint: str | None,
    corpus_out: str | None,
    report: str | None,
    graphs: tuple[str, ...],
    embeddings: str | None,
    **given: Any,
) -> None:
    """Fit a model to INPUT, save it, and print its topics.

    lapplsi, ltm and dtm work on a graph of the documents, and use --labels: documents of one class are joined, those of
    two are parted, those without a label are left as they are.
    """
    from ..models.model_file import save
    from ..models.trees import topic_tree
    from ..report import build_report

    model = make_model(model_name, values_of(parameters), seed, jobs)
    if checkpoint:
        model.set_params(checkpoint=checkpoint)
    if (graphs or embeddings) and not takes_graph(model):
        raise click.UsageError(f"{model_name} works on words alone: --graph and --embeddings are for lapplsi, ltm, dtm")
    _check_places([input, embeddings, *graphs], out, report, corpus_out, checkpoint)
    use_labels = given["labels"] is not None
    corpus = read_corpus(input, given, keep_texts=report is not None)
    if corpus_out:
        corpus.save(corpus_out)
    if getattr(model, "emission", None) == "presence":
        say(f"{model_name} looks at which words a document has, not how often; -p emission=counts changes that")
    started = time.monotonic()
    model.fit(corpus, **(graph_input(model, corpus, graphs, embeddings, use_labels) if takes_graph(model) else {}))
    save(model, out)
    if getattr(model, "graph_weight", None) == "auto":
        say(f"graph_weight {model.graph_weight_:g} was chosen")
    tree = topic_tree(model, corpus)
    if len(tree) > _MOST_SHOWN and tree.level.max() > 2:
        top = tree.level.max()
        click.echo(str(tree.at_levels([top - 1, top])))
        say(f"the two upper levels of {len(tree):,} topics; topicfold show prints all, or those of --levels")
    else:
        click.echo(str(tree))
    ending = "interrupted" if model.interrupted_ else "converged" if model.converged_ else "stopped at max_iter"
    say(f"{model.n_iter_} iterations in {time.monotonic() - started:.1f} s ({ending}); the model is in {out}")
    if report:
        _write_report(build_report(model, corpus, name=_corpus_name(input)), report)
    if model.interrupted_:
        sys.exit(_INTERRUPTED)


@cli.command()
@click.argument("model", type=click.Path())
@click.option("--words", default=10, show_default=True, help="Words a topic.")
@click.option("--by", type=click.Choice(["score", "probability"]), default="score", show_default=True)
@click.option("--topic", type=int, help="One topic: its words with P(w|z), and its documents.")
@click.option("--documents", default=10, show_default=True, help="Documents of a topic.")
@click.option("--levels", metavar="N[,N]", help="Only these levels of a hierarchy; 1 is the lowest.")
@click.option("--repeat", is_flag=True, help="In a hierarchy, also show words that the topic above shows.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--hlta-json", metavar="NAME", help="Write NAME.nodes.json and NAME.topics.json as the HLTA in Java does."
)
def show(
    model: str,
    words: int,
    by: Any,
    topic: int | None,
    documents: int,
    levels: str | None,
    repeat: bool,
    as_json: bool,
    hlta_json: str | None,
) -> None:
    """Print the topics of a saved MODEL."""
    from ..models.model_file import load
    from ..models.trees import topic_tree

    fitted = load(model)
    if repeat and type(fitted).__name__ != "HLTA":
        raise click.UsageError(f"--repeat: {type(fitted).__name__} leaves out no words; it is for hlta")
    tree = fitted.topic_tree(repeat=True) if repeat else topic_tree(fitted)
    if levels:
        tree = tree.at_levels([int(number_of("levels", level)) for level in levels.split(",")])
    if hlta_json:
        for name, content in zip(("nodes", "topics"), tree.to_hlta_json()):
            Path(f"{hlta_json}.{name}.json").write_text(content, encoding="utf-8")
        say(f"{hlta_json}.nodes.json and {hlta_json}.topics.json are written")
    elif as_json:
        click.echo(tree.to_json(words))
    elif topic is None:
        click.echo(tree.to_text(words, by))
    else:
        click.echo("\n".join(f"{word.probability:.4f}  {word.word}" for word in tree.words(topic, words, by)))
        click.echo("")
        click.echo("\n".join(f"{share:.4f}  {name}" for name, share in tree.documents(topic, documents)))


@cli.command()
@click.argument("model", type=click.Path())
@click.argument("input")
@file_options
@known_options
@click.option(
    "--segments", metavar="HOW", help="Cut texts as for the fit ('paragraphs', 'sentences', a number); for ldcc."
)
@click.option("--out", default="topics.html", show_default=True, type=click.Path(dir_okay=False), help="Page to write.")
@click.option("--name", help="Name of the corpus on the page; without it, that of INPUT.")
@click.option("--names", type=click.Path(exists=True, dir_okay=False), help="Names of topics that the page downloaded.")
@click.option("--compare", "other", type=click.Path(), help="Second model of the same documents, to set beside.")
@click.option("--layout", type=click.Choice(["neighbours", "umap"]), default="neighbours", show_default=True)
@click.option(
    "--documents", type=click.IntRange(1), default=20_000, show_default=True, help="Documents on the page at most."
)
def explore(
    model: str,
    input: str,
    replace_errors: bool,
    segments: str | None,
    out: str,
    name: str | None,
    names: str | None,
    other: str | None,
    layout: str,
    documents: int,
    **given: Any,
) -> None:
    """Write a page to explore the topics of MODEL and the documents of INPUT: one file, for any browser.

    Texts become words as they did for the fit.
    """
    from ..corpus.corpus import Corpus
    from ..models.model_file import load
    from ..report import build_report, read_names

    fitted = load(model)
    if segments is not None and not hasattr(fitted, "segment_memberships"):
        raise click.UsageError(
            f"--segments {segments}: {type(fitted).__name__} knows documents alone; LDCC knows segments"
        )
    if segments is None and hasattr(fitted, "segment_memberships") and holds_texts(input, given["format"]):
        say("without --segments each text is one segment: give what was given to fit")
    second = None if other is None else load(other)
    _check_places([model, input, other, names], out)
    errors = "replace" if replace_errors else "strict"
    corpus = Corpus.read(input, errors=errors, **options_as_fitted(fitted, model, input, given, segments))
    say(str(corpus))
    report = build_report(
        fitted,
        corpus,
        name=name or _corpus_name(input),
        names=None if names is None else read_names(names),
        compare=second,
        model_name=None if other is None else Path(model).stem,
        compare_name=None if other is None else Path(other).stem,
        layout=layout,
        max_documents=documents,
    )
    _write_report(report, out)


@cli.command()
@click.argument("model", type=click.Path())
@click.argument("input")
@file_options
@click.option("--out", default="-", show_default=True, help="File to write: .csv, .jsonl or .parquet; '-' is stdout.")
@click.option("--to", type=click.Choice(["csv", "jsonl", "parquet"]), help="Format, where --out does not tell.")
@click.option("--batch", default=1000, show_default=True, help="Documents in memory at a time.")
@click.option(
    "--segments", metavar="HOW", help="A row a segment ('paragraphs', 'sentences', a number of words); for ldcc."
)
def assign(
    model: str,
    input: str,
    out: str,
    to: str | None,
    batch: int,
    segments: str | None,
    replace_errors: bool,
    **given: Any,
) -> None:
    """Write the topics of each document of INPUT ('-': JSONL on stdin), as a table of documents x topics."""
    from ..analysis.assign import assign_file
    from ..models.model_file import load

    errors = "replace" if replace_errors else "strict"
    how = segments_of(segments)
    n_documents = assign_file(load(model), input, out, to=to, batch=batch, segments=how, errors=errors, **given)
    say(f"{n_documents:,} documents assigned")


@cli.command()
@click.argument("model", type=click.Path())
@click.argument("query")
@click.option("-n", default=10, show_default=True, help="Documents to show.")
def search(model: str, query: str, n: int) -> None:
    """Rank the documents of the fit by how much their topics are like those of QUERY ('-': from stdin)."""
    from ..analysis.search import search as find
    from ..models.model_file import load

    text = sys.stdin.read() if query == "-" else query
    for hit in find(load(model), text, n):
        click.echo(f"{hit.similarity:.4f}  {hit.id}")


@cli.command()
@click.argument("model", type=click.Path())
@click.argument("input")
@file_options
def score(model: str, input: str, replace_errors: bool, **given: Any) -> None:
    """Log-likelihood a token and perplexity of INPUT by document completion: half of each text foretells the rest.

    Texts become words as they did for the fit.
    """
    from ..corpus.corpus import Corpus
    from ..metrics.completion import perplexity
    from ..models.model_file import load

    fitted = load(model)
    errors = "replace" if replace_errors else "strict"
    value = fitted.score(Corpus.read(input, errors=errors, **options_as_fitted(fitted, model, input, given)))
    click.echo(f"log-likelihood a token  {value:.4f}")
    click.echo(f"perplexity              {perplexity(value):.1f}")


@cli.command()
@click.argument("input")
@corpus_options
@model_options
@click.option("--splits", default=3, show_default=True, help="Parts the documents are cut into.")
@click.option("--seeds", default=2, show_default=True, help="Fits of each part.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--plot", type=click.Path(dir_okay=False), help="Also draw the figures to this file (.png, .svg, .pdf).")
def select(
    input: str,
    model_name: str,
    parameters: tuple[str, ...],
    seed: int,
    jobs: int,
    splits: int,
    seeds: int,
    as_json: bool,
    plot: str | None,
    **given: Any,
) -> None:
    """Choose sizes and weights on held-out documents: -p n_topics=[10,20,50] tries each value of a list."""
    from ..analysis.selection import select as choose

    values = values_of(parameters)
    grid = {name: value for name, value in values.items() if isinstance(value, list)}
    if not grid:
        raise click.UsageError("nothing to choose from: give a list of values, such as -p 'n_topics=[10,20,50]'")
    model = make_model(model_name, {name: value for name, value in values.items() if name not in grid}, seed, 1)
    corpus = read_corpus(input, given)
    result = choose(model, corpus, grid, n_splits=splits, n_seeds=seeds, random_state=seed, n_jobs=jobs)
    click.echo(result.to_json() if as_json else str(result))
    if plot:
        result.plot().savefig(plot)
        say(f"the figures are in {plot}")


@cli.command()
@click.argument("name", required=False)
@click.option("--data", help="Folder with the benchmark corpora; else the environment variable TOPICFOLD_DATA.")
@click.option("--out", default="results", show_default=True, help="Folder for the results; a killed run resumes there.")
@click.option("--quick", is_flag=True, help="A small version that takes minutes.")
@click.option("--jobs", type=int, default=1, show_default=True)
def reproduce(name: str | None, data: str | None, out: str, quick: bool, jobs: int) -> None:
    """Run the experiment NAME and print our numbers beside the published ones; without NAME, list experiments."""
    from experiments import EXPERIMENTS
    from experiments.runner import run

    if name is None:
        click.echo("\n".join(EXPERIMENTS))
        return
    click.echo(run(name, data=data, out=out, quick=quick, n_jobs=jobs))


@cli.command()
@click.option("--out", default="topicfold-demo.safetensors", show_default=True, help="Model file to write.")
@click.option("--report", default="topicfold-demo.html", show_default=True, help="Page to write.")
def demo(out: str, report: str) -> None:
    """Fit the bundled corpus of Debian packages, print its topics, and write a page to explore them."""
    from ..datasets import load_demo
    from ..models.model_file import save
    from ..models.plsa.plsa import PLSA
    from ..models.trees import topic_tree
    from ..report import build_report

    _check_places([], out, report)
    corpus = load_demo()
    say(f"{corpus}\n")
    model = PLSA(20, smoothing=0.01, random_state=0, n_jobs=-1).fit(corpus)
    tree = topic_tree(model, corpus)
    click.echo(str(tree))
    save(model, out)
    topic = tree.children()[0]
    say("")
    _write_report(build_report(model, corpus, name="Debian packages"), report)
    say(f"\nThe model is in {Path(out).absolute()}. Try:")
    say(f"  topicfold show {out} --topic {topic}")
    say(f"  topicfold search {out} 'play chess against the computer'")


def _corpus_name(path: str) -> str:
    if path == "-":
        return "stdin"
    place = Path(path).resolve()
    return (
        (place.name if place.is_dir() else place.name.removesuffix(".gz").rpartition(".")[0]) or place.name or "corpus"
    )


def _write_report(report: Any, path: str) -> None:
    report.save(path)
    say(f"{report}; open it in a browser: {Path(path).absolute().as_uri()}")


def _check_places(inputs: list[str | None], *outputs: str | None) -> None:
    """What is written has a place of its own; said before the work, not after it."""
    taken = [Path(path).resolve() for path in inputs if path is not None]
    for path in filter(None, outputs):
        if not Path(path).absolute().parent.is_dir():
            raise FileNotFoundError(
                f"the folder {Path(path).parent} does not exist: create it, or write somewhere else"
            )
        if Path(path).resolve() in taken:
            raise ValueError(f"{path} is used for something else here too: write to another file")
        taken.append(Path(path).resolve())
