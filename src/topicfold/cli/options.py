"""Options that several commands share, and the corpus, model and graph that they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click

from ..errors import InputError
from ..models import ModelInfo, info_of
from .messages import say
from .option_values import lines_from, names_of, number_of, stop_words_from
from .shell_completion import (
    complete_graph,
    complete_model,
    complete_parameter,
    complete_stop_words,
    complete_tokenizer,
)
from .signatures import default_model, listed_models, models_by_option

if TYPE_CHECKING:
    import numpy as np
    import scipy.sparse as sp

    from ..corpus.corpus import Corpus
    from ..corpus.limits import ReadLimits
    from ..models.estimator import TopicModel

__all__ = [
    "GRAPH_MODELS",
    "SEGMENT_MODELS",
    "corpus_options",
    "edits_option",
    "embedded_texts",
    "file_options",
    "fit_input",
    "graph_options",
    "known_options",
    "limits_of",
    "make_model",
    "model_info",
    "model_options",
    "read_as_fitted",
    "read_corpus",
    "reading_options",
    "rows_options",
    "say_what_is_read",
    "segments_of",
    "set_on_command_line",
    "size_of_files",
    "text_columns",
    "words_of",
    "words_options",
]

Errors: TypeAlias = Literal["strict", "replace"]
GRAPH_MODELS = listed_models(lambda info: info.takes_graph)
SEGMENT_MODELS = listed_models(lambda info: info.takes_segments)
DEFAULT_EMBEDDING = "english"  # as in analysis/embedding.py, which is not loaded for --help


def _options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


file_options = _options(
    click.option(
        "--format", help="Format of INPUT, if the file name does not show it; excel:SHEET names a sheet of a file."
    ),
    click.option(
        "--text",
        metavar="NAME[,NAME]",
        help="Column with the text, or several. The default is text; with MODEL, that of the fit.",
    ),
    click.option("--id", help="Column with the id."),
    click.option("--encoding", default="utf-8", show_default=True, help="Encoding of text files."),
    click.option("--replace-errors", is_flag=True, help="Replace bytes that are invalid in the encoding."),
    click.option(
        "--pattern", default="*.txt", show_default=True, help="Pattern of the documents in a folder or zip file."
    ),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=NUMBER",
        help="Limit on files: line (bytes), columns, expansion, size (rows) or memory (bytes); repeatable.",
    ),
)

edits_option = click.option(
    "--edits",
    type=click.Path(exists=True, dir_okay=False),
    help="Edits of topics, downloaded from the explorer, or names of topics, written by `topicfold name`.",
)

known_options = _options(
    click.option("--title", help="Column with the title."),
    click.option("--labels", help="Column with the label or labels; for a folder or zip file, 'folder'."),
    click.option("--links", help="Column with the ids of linked documents."),
    click.option("--timestamp", help="Column with the date."),
    click.option("--metadata", metavar="NAME[,NAME]", help="Further columns to keep: numbers, categories, dates."),
    click.option("--separator", help="Text that separates several labels or links in one cell."),
    click.option("--date-format", metavar="FORMAT", help="Format of the dates, such as '%d.%m.%Y'."),
    click.option(
        "--strict-dates", is_flag=True, help="Stop at a date that cannot be read, which otherwise is missing."
    ),
)

words_options = _options(
    click.option(
        "--stop-words",
        default="auto",
        show_default=True,
        shell_complete=complete_stop_words,
        help="Languages ('german', 'en,de,+said,-war'), 'auto' for those of the texts, a file with one word per line, "
        "or 'none'.",
    ),
    click.option(
        "--tokenizer",
        metavar="NAME",
        shell_complete=complete_tokenizer,
        help="Tokenizer: characters, fugashi, kiwi, pythainlp, rjieba, sudachi or spacy:MODEL; each needs its extra.",
    ),
    click.option(
        "--stem",
        metavar="LANGUAGE",
        default="auto",
        show_default=True,
        help="Language of a Snowball stemmer, 'auto' (Russian and Polish texts), or 'none'.",
    ),
    click.option("--no-clean", is_flag=True, help="Keep tags, entities, URLs, mail headers and the like in the texts."),
    click.option(
        "--drop-lines",
        metavar="repeated|FILE",
        help="Leave out lines: those that stand in many texts, or those of a file.",
    ),
)

rows_options = _options(
    click.option("--unique", is_flag=True, help="Drop exact and near copies of earlier documents."),
    click.option("--language", metavar="LANGUAGE", help="Leave out documents that are clearly in another language."),
)

corpus_options = _options(
    file_options,
    known_options,
    rows_options,
    click.option("--vocabulary", type=click.Path(), help="File with the words, one per line."),
    click.option(
        "--segments",
        metavar="HOW",
        help=f"Split texts ('paragraphs', 'sentences', a number of words); for {SEGMENT_MODELS}.",
    ),
    words_options,
    click.option("--ngrams", type=int, default=1, show_default=True, help="Also count runs of up to this many words."),
    click.option(
        "--min-df",
        default="auto",
        show_default=True,
        help="Leave out words in fewer documents than this (5 or 0.01); auto: 5 from 1,000 documents on, otherwise 2.",
    ),
    click.option(
        "--max-df",
        default="auto",
        show_default=True,
        help="Leave out words in more documents than this (0.5 or 900); auto: half of the documents.",
    ),
    click.option("--max-words", type=int, help="Maximum number of words to keep."),
    click.option(
        "--rank-by",
        type=click.Choice(["frequency", "tfidf"]),
        default="frequency",
        show_default=True,
        help="Which words --max-words keeps.",
    ),
)

model_options = _options(
    click.option(
        "--model",
        "model_name",
        shell_complete=complete_model,
        help=f"Name of the model: {listed_models(lambda info: True)}. The default is {default_model()}; with --graph, "
        f"--embeddings or --links, {default_model(on_graph=True)}.",
    ),
    click.option(
        "-p",
        "parameters",
        multiple=True,
        metavar="NAME=VALUE",
        shell_complete=complete_parameter,
        help="A parameter of the model; repeatable. `topicfold models NAME` lists them.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed; the same seed gives the same result."),
    click.option(
        "--jobs", type=int, default=-1, show_default=True, help="Threads; -1 uses all cores. No effect on results."
    ),
)

graph_options = _options(
    click.option(
        "--graph",
        "graphs",
        multiple=True,
        metavar="knn|links|FILE",
        shell_complete=complete_graph,
        help="Graph of the documents: nearest neighbours (by words, or --embeddings), the links of the corpus, or a "
        "file with one edge per line (two ids and an optional weight; .csv, .tsv, .txt) or a scipy matrix (.npz). "
        f"If repeated, the graphs are added up. For {GRAPH_MODELS}; the default is nearest neighbours.",
    ),
    click.option(
        "--embeddings",
        type=click.Path(exists=True, dir_okay=False),
        help="Vectors of the documents, one row per document (.npy).",
    ),
    click.option(
        "--embed",
        is_flag=False,
        flag_value=DEFAULT_EMBEDDING,
        metavar="[MODEL]",
        help=f"Embed the texts with this model: {DEFAULT_EMBEDDING} (the default, which comes with the package), a "
        "folder, a name, or an address such as http://localhost:11434/v1#MODEL. Other vectors than the default's are "
        "saved next to INPUT. A model that is not on disk is downloaded from the Hugging Face Hub.",
    ),
)


def set_on_command_line(name: str) -> bool:
    """Whether an option of the command was given by the user."""
    return click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def limits_of(user_options: dict[str, Any]) -> ReadLimits:
    """The limits on what a file may contain and use."""
    from ..corpus.limits import ReadLimits

    limit_names = {field.name for field in fields(ReadLimits)}
    values: dict[str, Any] = {}
    for limit in user_options.pop("limits"):
        name, _, value = limit.partition("=")
        if name not in limit_names:
            raise click.UsageError(
                f"--limit {limit}: expected NAME=NUMBER, with one of {', '.join(sorted(limit_names))}"
            )
        values[name] = number_of("limit", value)
    return ReadLimits(**values)


def errors_of(user_options: dict[str, Any]) -> Errors:
    """What to do with bytes that are invalid in the encoding."""
    return "replace" if user_options.pop("replace_errors") else "strict"


def text_columns(
    path: str | Sequence[str], user_options: Mapping[str, Any], errors: Errors, limits: ReadLimits
) -> str | tuple[str, ...]:
    """The columns that --text names: several, unless a column of the file has a comma in its name."""
    from ..corpus.readers import FileOptions, as_text_columns, files_of, records

    text, format = user_options["text"] or "text", user_options["format"]
    if not isinstance(text, str) or "," not in text:
        return text
    first = files_of(path)[0]
    if holds_texts(path, format) and first.is_file():  # a pipe, like standard input, can be read only once
        file = FileOptions(format, user_options["encoding"], errors, user_options["pattern"], limits=limits)
        if text in next(records(first, file), {}):
            return text
    return as_text_columns(names_of(text))


def _column_options(user_options: Mapping[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in user_options.items() if value is not None}
    if isinstance(options.get("metadata"), str):
        options["metadata"] = names_of(options["metadata"])
    return options


def size_of_files(path: str) -> int:
    """The size of files in bytes, or of those in a folder; 0 of standard input, whose size is not known."""
    from ..corpus.readers import files_of

    files = (file for entry in files_of(path) for file in (entry.rglob("*") if entry.is_dir() else [entry]))
    return sum(file.stat().st_size for file in files if file.is_file())


def read_corpus(
    path: str | Sequence[str],
    user_options: dict[str, Any],
    keep_texts: bool = False,
    jobs: int | None = None,
    on_disk: str | None = None,
) -> Corpus:
    """Read a corpus with the options of the command line that belong to it."""
    from ..corpus.corpus import Corpus

    keep_texts = keep_texts and holds_texts(path, user_options["format"])
    corpus = Corpus.read(
        path, n_jobs=jobs, on_disk=on_disk, keep_texts=keep_texts, **reading_options(path, user_options)
    )
    say_what_is_read(corpus)
    return corpus


def say_what_is_read(corpus: Corpus, *, check: bool = False) -> None:
    """Say what is in a corpus, which words were chosen, and what was removed from the texts or, by a check, more."""
    from ..corpus.data_check import cleaning_summary

    say(str(corpus))
    words, notes = corpus.preprocessing, corpus.notes
    if words is not None and "min_df" in notes:
        without = "with all stop words" if words.stop_words is None else "without the stop words of a list"
        without = f"without stop words ({words.stop_words})" if isinstance(words.stop_words, str) else without
        say(f"words in at least {_documents(notes['min_df'])}, at most {_documents(notes['max_df'])}, {without}")
    if check and corpus.texts is not None:
        lines = corpus.check().short_lines()
    else:
        lines = [cleaning_summary(notes.get("removed", {}))]
    for line in filter(None, lines):
        say(line)


def _documents(limit: float) -> str:
    """A limit on the number of documents of a word; a float is a share."""
    return f"{limit:.0%} of the documents" if isinstance(limit, float) else f"{limit:,} document{'s' * (limit != 1)}"


def reading_options(path: str | Sequence[str], user_options: dict[str, Any]) -> dict[str, Any]:
    """The options of the command line that belong to `Corpus.read`; they are taken out of `user_options`."""
    errors, limits = errors_of(user_options), limits_of(user_options)
    user_options["text"] = text_columns(path, user_options, errors, limits)
    return {
        "errors": errors,
        "limits": limits,
        "ngrams": (1, user_options.pop("ngrams")),
        "min_df": limit_of("min_df", user_options.pop("min_df")),
        "max_df": limit_of("max_df", user_options.pop("max_df")),
        **words_of(user_options),
        "segments": segments_of(user_options.pop("segments")),
        **_column_options(user_options),
    }


def words_of(user_options: dict[str, Any]) -> dict[str, Any]:
    """The options of the command line on how texts become words, taken out of `user_options`."""
    stemmer = user_options.pop("stem")
    return {
        "stemmer": None if stemmer == "none" else stemmer,
        "stop_words": stop_words_from(user_options.pop("stop_words")),
        "tokenizer": user_options.pop("tokenizer"),
        "clean": not user_options.pop("no_clean"),
        "drop_lines": lines_from(user_options.pop("drop_lines")),
    }


def limit_of(name: str, value: str) -> int | float | Literal["auto"]:
    """A number of documents, a share of them, or 'auto'."""
    return "auto" if value == "auto" else number_of(name, value)


def read_as_fitted(
    fitted: TopicModel, model: str, path: str, user_options: dict[str, Any], segments: str | None = None
) -> Corpus:
    """Read documents with the words, the preprocessing and the columns of a fitted model."""
    from ..corpus.building import TextOptions
    from ..corpus.corpus import Corpus
    from ..corpus.readers import FileOptions, columns_as_fitted, read

    errors, limits = errors_of(user_options), limits_of(user_options)
    rows = {"unique": user_options.pop("unique", False), "language": user_options.pop("language", None)}
    named = _column_options(user_options)
    if "text" in named:
        named["text"] = text_columns(path, user_options, errors, limits)
    knows_segments = info_of(fitted).takes_segments
    if segments is not None and not knows_segments:
        able, name = SEGMENT_MODELS, type(fitted).__name__.lower()
        raise click.UsageError(f"--segments {segments}: only {able} assigns segments, not {name}")
    format, encoding, pattern = (user_options[name] for name in ("format", "encoding", "pattern"))
    if not holds_texts(path, format):
        return Corpus.read(path, errors=errors, limits=limits, segments=segments_of(segments), **rows, **named)
    if fitted.preprocessing_ is None:
        raise InputError(f"{model} was fitted on counts and cannot turn texts into words: give counts")
    if segments is None and knows_segments:
        say("without --segments each text is one segment: give the same --segments as for fit")
    words = TextOptions(
        fitted.preprocessing_, fitted.words(), segments_of(segments), keep_texts=True, as_fitted=True, **rows
    )
    file = FileOptions(format, encoding, errors, pattern, limits=limits)
    return read(path, columns_as_fitted(fitted.source_columns_, path, file, named), words, file, fitted.words())


def segments_of(value: str | None) -> str | int | None:
    """How to split texts: a name, or a number of words per segment."""
    return int(value) if value is not None and value.isdigit() else value


def holds_texts(path: str | Sequence[str], format: str | None) -> bool:
    """Whether files contain texts, not counts."""
    from ..corpus.formats import TEXT_FORMATS, format_of
    from ..corpus.readers import files_of

    first = files_of(path)[0]
    return str(first) == "-" or format_of(first, format) in TEXT_FORMATS


def model_info(model_name: str) -> ModelInfo:
    """What the model of this name can do; names are the same in upper and lower case."""
    models = models_by_option()
    if model_name.lower() not in models:
        raise click.UsageError(f"there is no model {model_name!r}; the models are: {', '.join(models)}")
    return models[model_name.lower()]


def make_model(model_name: str, values: Mapping[str, Any], seed: int, jobs: int) -> TopicModel:
    """Make the model of this name; its parameters are checked before anything is read."""
    model = model_info(model_name).load()(random_state=seed, n_jobs=jobs)
    unknown = [name for name in values if name not in model.get_params()]
    if unknown:
        parameter_names = ", ".join(sorted(model.get_params()))
        raise click.UsageError(f"{model_name} has no parameter {unknown[0]!r}; its parameters are: {parameter_names}")
    model.set_params(**values)
    model.check_parameters()
    return model


def fit_input(
    model: TopicModel,
    corpus: Corpus,
    graphs: tuple[str, ...],
    embeddings: str | None,
    supervise: bool,
    embed: str | None = None,
    beside: str = "-",
) -> dict[str, Any]:
    """What `fit` gets besides the counts: labels, a graph, embeddings; new embeddings are saved next to `beside`."""
    from ..engine.npy_file import read_npy

    fit_arguments: dict[str, Any] = {}
    if supervise:
        fit_arguments["y"] = _labels(corpus)
        say(f"labels of {(fit_arguments['y'] != '').sum():,} documents supervise the fit")
    if not info_of(model).takes_graph:
        return fit_arguments
    vectors = None if embeddings is None else read_npy(embeddings)
    if embed is not None:
        vectors = embedded_texts(corpus, embed, beside)
    if vectors is not None:
        fit_arguments["embeddings"] = vectors
    if graphs and graphs != ("knn",):  # a graph that the model builds itself
        matrices = [_named_graph(name, model, corpus, vectors) for name in graphs]
        fit_arguments["graph"] = sum(matrices[1:], start=matrices[0])
    return fit_arguments


def _named_graph(name: str, model: TopicModel, corpus: Corpus, vectors: np.ndarray | None) -> sp.csr_array:
    from ..graph.build import knn_graph, link_graph
    from ..graph.files import read_graph

    if name == "knn":
        parameters = model.get_params()
        rows, metric = (corpus, parameters["metric"]) if vectors is None else (vectors, "cosine")
        graph = knn_graph(rows, parameters["n_neighbors"], metric=metric, n_jobs=model.n_jobs)
    elif name == "links":
        if corpus.links is None:
            raise click.UsageError("--graph links: the corpus has no links; --links names the column that has them")
        graph = link_graph(corpus.links, len(corpus))
    else:
        if not Path(name).exists():
            raise click.UsageError(f"--graph {name}: there is no such file; or give 'knn' or 'links'")
        graph = read_graph(name, corpus.ids)
    say(f"graph {name}: {graph.nnz // 2:,} edges")
    return graph


def _labels(corpus: Corpus) -> np.ndarray:
    if corpus.labels is None:
        raise click.UsageError("--supervise: the corpus has no labels; --labels names the column that has them")
    several = next((row for row, labels in enumerate(corpus.labels) if len(labels) > 1), None)
    if several is not None:
        raise click.UsageError(
            f"--supervise needs one label per document, but {corpus.ids[several]!r} has {len(corpus.labels[several])}: "
            "name a column with one label, or leave --supervise out"
        )
    return corpus.label_array()


def embedded_texts(corpus: Corpus, model: str, beside: str) -> np.ndarray:
    """Vectors of the texts of a corpus, saved next to the file it was read from, if there is one."""
    from ..analysis.embedding import embed

    if corpus.texts is None:
        raise click.UsageError(f"--embed: {beside} has no texts; give texts, or a corpus that was read with its texts")
    path = Path(beside)
    folder = path.parent if path.exists() else None
    vectors = embed(corpus, model, cache=folder)
    where = "" if folder is None or model == DEFAULT_EMBEDDING else f", kept in {folder}"
    say(f"{len(vectors):,} texts embedded by {model}: {vectors.shape[1]} numbers each{where}")
    return vectors
