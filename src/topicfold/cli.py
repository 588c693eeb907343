"""The command line. Each command parses, calls one function, and prints: data to stdout, messages to stderr."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

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
            warnings.showwarning = lambda message, *_, **__: _say(f"topicfold: {message}")
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


def _say(message: str) -> None:
    click.echo(message, err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="topicfold")
@click.option("--debug", is_flag=True, help="Show the traceback of an error; may stand anywhere.")
def cli(debug: bool) -> None:
    """Find what a collection of texts is about.

    INPUT is a folder of text files, CSV, TSV, JSONL (also .gz), Parquet, Matrix Market, LDA-C, UCI bag of words,
    SVMlight, scipy .npz, or a corpus saved as .safetensors; '-' is JSONL on stdin.
    """


# ---- options shared by commands -------------------------------------------------------------------------------------


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


_file_options = _options(
    click.option("--format", help="Format of INPUT, where its name does not tell."),
    click.option("--text", default="text", show_default=True, help="Column with the text."),
    click.option("--id", help="Column with the id."),
    click.option("--encoding", default="utf-8", show_default=True),
    click.option("--replace-errors", is_flag=True, help="Accept bytes that are not in the encoding."),
    click.option("--pattern", default="*.txt", show_default=True, help="Files of a folder that are documents."),
)

_corpus_options = _options(
    _file_options,
    click.option("--title", help="Column with the title."),
    click.option("--labels", help="Column with the label or labels; for a folder, 'folder'."),
    click.option("--links", help="Column with the ids of linked documents."),
    click.option("--timestamp", help="Column with the date."),
    click.option("--separator", help="What separates several labels or links in one cell."),
    click.option("--vocabulary", help="File with the words, one a line."),
    click.option(
        "--segments", metavar="HOW", help="Cut texts ('paragraphs', 'sentences', a number of words); for ldcc."
    ),
    click.option("--stop-words", default="english", show_default=True, help="Language, file, or 'none'."),
    click.option("--stem", metavar="LANGUAGE", help="Stem words (Snowball)."),
    click.option("--ngrams", type=int, default=1, show_default=True, help="Count runs of up to so many words."),
    click.option("--min-df", default="1", show_default=True, help="Leave out words in fewer documents (5, or 0.01)."),
    click.option("--max-df", default="1.0", show_default=True, help="Leave out words in more documents (0.5, or 900)."),
    click.option("--max-words", type=int, help="Keep at most so many words."),
    click.option("--rank-by", type=click.Choice(["frequency", "tfidf"]), default="frequency", show_default=True),
)

_model_options = _options(
    click.option("--model", "model_name", default="plsa", show_default=True, help="Name of the model."),
    click.option("-p", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of the model; repeatable."),
    click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same result."),
    click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1 is all. No effect on results."),
)


def _read(path: str, given: dict[str, Any]) -> Any:
    """Read a corpus with the options of the command line that belong to it."""
    from .corpus import Corpus

    errors = "replace" if given.pop("replace_errors") else "strict"
    preprocessing = {
        "stop_words": _stop_words(given.pop("stop_words")),
        "stemmer": given.pop("stem"),
        "ngrams": (1, given.pop("ngrams")),
    }
    filters = {name: _number(name, given.pop(name)) for name in ("min_df", "max_df")}
    filters |= {name: given.pop(name) for name in ("max_words", "rank_by")}
    defaults = {"min_df": 1, "max_df": 1.0, "max_words": None, "rank_by": "frequency"}
    segments = _segments(given.pop("segments"))
    options = {name: value for name, value in given.items() if value is not None}
    options |= {name: value for name, value in filters.items() if value != defaults[name]}
    if _holds_texts(path, options.get("format")):
        options |= preprocessing | ({} if segments is None else {"segments": segments})
    elif segments is not None:
        raise click.UsageError(f"--segments {segments}: {path} holds counts, not texts that could be cut")
    corpus = Corpus.read(path, errors=errors, **options)
    _say(str(corpus))
    return corpus


def _segments(given: str | None) -> str | int | None:
    return int(given) if given is not None and given.isdigit() else given


def _stop_words(given: str) -> Any:
    from .text import stop_word_languages

    if given == "none":
        return None
    if given not in stop_word_languages() and Path(given).is_file():
        return tuple(Path(given).read_text(encoding="utf-8").split())
    return given


def _holds_texts(path: str, format: str | None) -> bool:
    from .readers import TEXT_FORMATS, format_of

    return path == "-" or (format or format_of(Path(path))) in TEXT_FORMATS


def _number(name: str, text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(f"--{name.replace('_', '-')} {text}: expected a number") from None


def _values(parameters: tuple[str, ...]) -> dict[str, Any]:
    """NAME=VALUE pairs; a value is JSON (50, 0.1, true, [..]) or else a string."""
    values = {}
    for parameter in parameters:
        name, equals, value = parameter.partition("=")
        if not equals:
            raise click.UsageError(f"-p {parameter}: expected NAME=VALUE, such as n_topics=50")
        try:
            values[name] = json.loads(value)
        except json.JSONDecodeError:
            values[name] = value
    return values


def _make(model_name: str, values: dict[str, Any], seed: int, jobs: int) -> Any:
    from .models import MODELS

    by_lower = {name.lower(): info for name, info in MODELS.items()}
    if model_name.lower() not in by_lower:
        raise click.UsageError(f"there is no model {model_name!r}; the models are: {', '.join(by_lower)}")
    model = by_lower[model_name.lower()].load()(random_state=seed, n_jobs=jobs)
    unknown = [name for name in values if name not in model.get_params()]
    if unknown:
        known = ", ".join(sorted(model.get_params()))
        raise click.UsageError(f"{model_name} has no parameter {unknown[0]!r}; its parameters are: {known}")
    return model.set_params(**values)


def _takes_graph(model: Any) -> bool:
    from .models import MODELS

    return MODELS[type(model).__name__].takes_graph


def _graph_input(
    model: Any, corpus: Any, graphs: tuple[str, ...], embeddings: str | None, use_labels: bool
) -> dict[str, Any]:
    """What a graph model is fitted on beside the counts."""
    from .graph import knn_graph, link_graph, read_graph

    vectors = None if embeddings is None else _vectors(embeddings)

    def named(name: str) -> Any:
        if name == "knn":
            rows, metric = (corpus, model.metric) if vectors is None else (vectors, "cosine")
            found = knn_graph(rows, model.n_neighbors, metric=metric, n_jobs=model.n_jobs)
        elif name == "links":
            if corpus.links is None:
                raise click.UsageError("--graph links: the corpus has no links; --links names the column that has them")
            found = link_graph(corpus.links, len(corpus))
        else:
            if not Path(name).exists():
                raise click.UsageError(f"--graph {name}: there is no such file; or give 'knn' or 'links'")
            found = read_graph(name, corpus.ids)
        _say(f"graph {name}: {found.nnz // 2:,} edges")
        return found

    given: dict[str, Any] = {} if vectors is None else {"embeddings": vectors}
    if graphs and graphs != ("knn",):  # which is what the model makes itself
        given["graph"] = sum(map(named, graphs[1:]), start=named(graphs[0]))
    if use_labels:
        given["y"] = corpus.label_array()
        _say(f"labels of {(given['y'] != '').sum():,} documents join the graph")
    return given


def _vectors(path: str) -> Any:
    import numpy as np

    try:
        vectors = np.load(path)
    except (ValueError, OSError, EOFError):
        vectors = None
    if getattr(vectors, "ndim", 0) != 2:
        raise ValueError(f"{path}: expected a .npy file with a matrix, a row a document")
    return vectors


# ---- commands -------------------------------------------------------------------------------------------------------


@cli.command()
@click.argument("input")
@_corpus_options
@_model_options
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="Model file to write (.safetensors).")
@click.option("--checkpoint", type=click.Path(dir_okay=False), help="File a killed fit resumes from.")
@click.option("--corpus-out", type=click.Path(dir_okay=False), help="Also save the corpus that was read.")
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
    graphs: tuple[str, ...],
    embeddings: str | None,
    **given: Any,
) -> None:
    """Fit a model to INPUT, save it, and print its topics.

    lapplsi, ltm and dtm work on a graph of the documents, and use --labels: documents of one class are joined, those of
    two are parted, those without a label are left as they are.
    """
    from .store import save
    from .topics import topic_tree

    model = _make(model_name, _values(parameters), seed, jobs)
    if checkpoint:
        model.set_params(checkpoint=checkpoint)
    if (graphs or embeddings) and not _takes_graph(model):
        raise click.UsageError(f"{model_name} works on words alone: --graph and --embeddings are for lapplsi, ltm, dtm")
    if not Path(out).absolute().parent.is_dir():  # said before the work, not after it
        raise FileNotFoundError(f"the folder {Path(out).parent} does not exist: create it, or write somewhere else")
    use_labels = given["labels"] is not None
    corpus = _read(input, given)
    if corpus_out:
        corpus.save(corpus_out)
    if getattr(model, "emission", None) == "presence":
        _say(f"{model_name} looks at which words a document has, not how often; -p emission=counts changes that")
    started = time.monotonic()
    model.fit(corpus, **(_graph_input(model, corpus, graphs, embeddings, use_labels) if _takes_graph(model) else {}))
    save(model, out)
    if getattr(model, "graph_weight", None) == "auto":
        _say(f"graph_weight {model.graph_weight_:g} was chosen")
    tree = topic_tree(model, corpus)
    if len(tree) > _MOST_SHOWN and tree.level.max() > 2:
        top = tree.level.max()
        click.echo(str(tree.at_levels([top - 1, top])))
        _say(f"the two upper levels of {len(tree):,} topics; topicfold show prints all, or those of --levels")
    else:
        click.echo(str(tree))
    ending = "interrupted" if model.interrupted_ else "converged" if model.converged_ else "stopped at max_iter"
    _say(f"{model.n_iter_} iterations in {time.monotonic() - started:.1f} s ({ending}); the model is in {out}")
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
    from .store import load
    from .topics import topic_tree

    fitted = load(model)
    tree = fitted.topic_tree(repeat=True) if repeat and hasattr(fitted, "topic_tree") else topic_tree(fitted)
    if levels:
        tree = tree.at_levels([int(_number("levels", level)) for level in levels.split(",")])
    if hlta_json:
        for name, content in zip(("nodes", "topics"), tree.to_hlta_json()):
            Path(f"{hlta_json}.{name}.json").write_text(content, encoding="utf-8")
        _say(f"{hlta_json}.nodes.json and {hlta_json}.topics.json are written")
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
@_file_options
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
    from .assign import assign_file
    from .store import load

    errors = "replace" if replace_errors else "strict"
    how = _segments(segments)
    n_documents = assign_file(load(model), input, out, to=to, batch=batch, segments=how, errors=errors, **given)
    _say(f"{n_documents:,} documents assigned")


@cli.command()
@click.argument("model", type=click.Path())
@click.argument("query")
@click.option("-n", default=10, show_default=True, help="Documents to show.")
def search(model: str, query: str, n: int) -> None:
    """Rank the documents of the fit by how much their topics are like those of QUERY ('-': from stdin)."""
    from .retrieval import search as find
    from .store import load

    text = sys.stdin.read() if query == "-" else query
    for hit in find(load(model), text, n):
        click.echo(f"{hit.similarity:.4f}  {hit.id}")


@cli.command()
@click.argument("model", type=click.Path())
@click.argument("input")
@_file_options
def score(model: str, input: str, replace_errors: bool, **given: Any) -> None:
    """Log-likelihood a token and perplexity of INPUT by document completion: half of each text foretells the rest.

    Texts become words as they did for the fit.
    """
    from .corpus import Corpus
    from .counts import vocabulary_of
    from .metrics import perplexity
    from .store import load

    fitted = load(model)
    if _holds_texts(input, given["format"]):
        if fitted.preprocessing_ is None:
            raise ValueError(f"{model} was fitted on counts and does not know how text becomes words: score counts")
        given |= {"vocabulary": vocabulary_of(fitted), "preprocessing": fitted.preprocessing_}
    value = fitted.score(Corpus.read(input, errors="replace" if replace_errors else "strict", **given))
    click.echo(f"log-likelihood a token  {value:.4f}")
    click.echo(f"perplexity              {perplexity(value):.1f}")


@cli.command()
@click.argument("input")
@_corpus_options
@_model_options
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
    from .selection import select as choose

    values = _values(parameters)
    grid = {name: value for name, value in values.items() if isinstance(value, list)}
    if not grid:
        raise click.UsageError("nothing to choose from: give a list of values, such as -p 'n_topics=[10,20,50]'")
    model = _make(model_name, {name: value for name, value in values.items() if name not in grid}, seed, 1)
    corpus = _read(input, given)
    result = choose(model, corpus, grid, n_splits=splits, n_seeds=seeds, random_state=seed, n_jobs=jobs)
    click.echo(result.to_json() if as_json else str(result))
    if plot:
        result.plot().savefig(plot)
        _say(f"the figures are in {plot}")


@cli.command()
@click.argument("name", required=False)
@click.option("--data", help="Folder with the benchmark corpora; else the environment variable TOPICFOLD_DATA.")
@click.option("--out", default="results", show_default=True, help="Folder for the results; a killed run resumes there.")
@click.option("--quick", is_flag=True, help="A small version that takes minutes.")
@click.option("--jobs", type=int, default=1, show_default=True)
def reproduce(name: str | None, data: str | None, out: str, quick: bool, jobs: int) -> None:
    """Run the experiment NAME and print our numbers beside the published ones; without NAME, list experiments."""
    from .experiments import EXPERIMENTS
    from .experiments.runner import run

    if name is None:
        click.echo("\n".join(EXPERIMENTS))
        return
    click.echo(run(name, data=data, out=out, quick=quick, n_jobs=jobs))


@cli.command()
@click.option("--out", default="topicfold-demo.safetensors", show_default=True, help="Model file to write.")
def demo(out: str) -> None:
    """Fit the bundled corpus of Debian packages, print its topics, and say what to try next."""
    from .datasets import load_demo
    from .models.plsa import PLSA
    from .store import save
    from .topics import topic_tree

    corpus = load_demo()
    _say(f"{corpus}\n")
    model = PLSA(20, smoothing=0.01, random_state=0, n_jobs=-1).fit(corpus)
    tree = topic_tree(model, corpus)
    click.echo(str(tree))
    save(model, out)
    topic = tree.children()[0]
    _say(f"\nThe model is in {Path(out).absolute()}. Try:")
    _say(f"  topicfold show {out} --topic {topic}")
    _say(f"  topicfold search {out} 'play chess against the computer'")
