"""What commands are given: options that several share, and the corpus, model and graph that options name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

__all__ = [
    "corpus_options",
    "file_options",
    "graph_input",
    "holds_texts",
    "known_options",
    "make_model",
    "model_options",
    "number_of",
    "options_as_fitted",
    "read_corpus",
    "say",
    "segments_of",
    "takes_graph",
    "values_of",
]


def say(message: str) -> None:
    """A message to the person, not part of the data."""
    click.echo(message, err=True)


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


file_options = _options(
    click.option("--format", help="Format of INPUT, where its name does not tell."),
    click.option("--text", default="text", show_default=True, help="Column with the text."),
    click.option("--id", help="Column with the id."),
    click.option("--encoding", default="utf-8", show_default=True),
    click.option("--replace-errors", is_flag=True, help="Accept bytes that are not in the encoding."),
    click.option("--pattern", default="*.txt", show_default=True, help="Files of a folder that are documents."),
)

known_options = _options(
    click.option("--title", help="Column with the title."),
    click.option("--labels", help="Column with the label or labels; for a folder, 'folder'."),
    click.option("--links", help="Column with the ids of linked documents."),
    click.option("--timestamp", help="Column with the date."),
    click.option("--separator", help="What separates several labels or links in one cell."),
)

corpus_options = _options(
    file_options,
    known_options,
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

model_options = _options(
    click.option("--model", "model_name", default="plsa", show_default=True, help="Name of the model."),
    click.option("-p", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of the model; repeatable."),
    click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same result."),
    click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1 is all. No effect on results."),
)


def read_corpus(path: str, given: dict[str, Any], keep_texts: bool = False) -> Any:
    """Read a corpus with the options of the command line that belong to it."""
    from ..corpus.corpus import Corpus

    errors = "replace" if given.pop("replace_errors") else "strict"
    preprocessing = {
        "stop_words": _stop_words(given.pop("stop_words")),
        "stemmer": given.pop("stem"),
        "ngrams": (1, given.pop("ngrams")),
    }
    filters = {name: number_of(name, given.pop(name)) for name in ("min_df", "max_df")}
    filters |= {name: given.pop(name) for name in ("max_words", "rank_by")}
    defaults = {"min_df": 1, "max_df": 1.0, "max_words": None, "rank_by": "frequency"}
    segments = segments_of(given.pop("segments"))
    options = {name: value for name, value in given.items() if value is not None}
    options |= {name: value for name, value in filters.items() if value != defaults[name]}
    if holds_texts(path, options.get("format")):
        options |= preprocessing | ({} if segments is None else {"segments": segments})
        options |= {"keep_texts": True} if keep_texts else {}
    elif segments is not None:
        raise click.UsageError(f"--segments {segments}: {path} holds counts, not texts that could be cut")
    corpus = Corpus.read(path, errors=errors, **options)
    say(str(corpus))
    return corpus


def options_as_fitted(
    fitted: Any, model: str, path: str, given: dict[str, Any], segments: str | None = None
) -> dict[str, Any]:
    """Options to read documents by, with words as they were for the fit."""
    from ..models.inputs import vocabulary_of

    options = {name: value for name, value in given.items() if value is not None}
    if not holds_texts(path, options.get("format")):
        if segments is not None:
            raise click.UsageError(f"--segments {segments}: {path} holds counts, not texts that could be cut")
        return options
    if fitted.preprocessing_ is None:
        raise ValueError(f"{model} was fitted on counts and does not know how text becomes words: give counts")
    options |= {"vocabulary": vocabulary_of(fitted), "preprocessing": fitted.preprocessing_, "keep_texts": True}
    return options | ({} if segments is None else {"segments": segments_of(segments)})


def segments_of(given: str | None) -> str | int | None:
    return int(given) if given is not None and given.isdigit() else given


def _stop_words(given: str) -> Any:
    from ..corpus.preprocessing import stop_word_languages

    if given == "none":
        return None
    if given not in stop_word_languages() and Path(given).is_file():
        return tuple(Path(given).read_text(encoding="utf-8").split())
    return given


def holds_texts(path: str, format: str | None) -> bool:
    """Whether a file holds texts, not counts."""
    from ..corpus.formats import TEXT_FORMATS, format_of

    return path == "-" or (format or format_of(Path(path))) in TEXT_FORMATS


def number_of(name: str, text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(f"--{name.replace('_', '-')} {text}: expected a number") from None


def values_of(parameters: tuple[str, ...]) -> dict[str, Any]:
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


def make_model(model_name: str, values: dict[str, Any], seed: int, jobs: int) -> Any:
    from ..models import MODELS

    by_lower = {name.lower(): info for name, info in MODELS.items()}
    if model_name.lower() not in by_lower:
        raise click.UsageError(f"there is no model {model_name!r}; the models are: {', '.join(by_lower)}")
    model = by_lower[model_name.lower()].load()(random_state=seed, n_jobs=jobs)
    unknown = [name for name in values if name not in model.get_params()]
    if unknown:
        known = ", ".join(sorted(model.get_params()))
        raise click.UsageError(f"{model_name} has no parameter {unknown[0]!r}; its parameters are: {known}")
    return model.set_params(**values)


def takes_graph(model: Any) -> bool:
    from ..models import MODELS

    return MODELS[type(model).__name__].takes_graph


def graph_input(
    model: Any, corpus: Any, graphs: tuple[str, ...], embeddings: str | None, use_labels: bool
) -> dict[str, Any]:
    """What a graph model is fitted on beside the counts."""
    from ..graph.build import knn_graph, link_graph
    from ..graph.files import read_graph

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
        say(f"graph {name}: {found.nnz // 2:,} edges")
        return found

    given: dict[str, Any] = {} if vectors is None else {"embeddings": vectors}
    if graphs and graphs != ("knn",):  # which is what the model makes itself
        given["graph"] = sum(map(named, graphs[1:]), start=named(graphs[0]))
    if use_labels:
        given["y"] = corpus.label_array()
        say(f"labels of {(given['y'] != '').sum():,} documents join the graph")
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
