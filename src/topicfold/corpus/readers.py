"""Read a corpus from files or a data frame."""

from __future__ import annotations

import glob
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from inspect import signature
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import scipy.sparse as sp

from ..engine.checks import check_choice, check_whole
from ..engine.store import written_by_one
from ..errors import FileError, InputError
from .building import TextOptions, corpus_from_texts, preprocessing_from
from .byte_lines import check_regular, file_lines, reading, text_lines
from .corpus import Corpus
from .count_files import read_counts
from .fields import as_frame, as_id, as_label_tuple, as_text, as_title, is_missing
from .formats import (
    FORMATS,
    TEXT_FORMATS,
    Record,
    _as_list,
    _csv_records,
    _folder_records,
    _jsonl_records,
    _parquet_records,
    _words,
    _words_beside,
    format_of,
)
from .limits import ReadLimits
from .preprocessing import Preprocessing
from .spool import LabelSpool, StringSpool

__all__ = [
    "Columns",
    "FileOptions",
    "corpus_from_records",
    "files_of",
    "frame_records",
    "read",
    "records",
    "texts_with_ids",
]


class Columns(NamedTuple):
    """The columns of a file or frame that are read, by name."""

    text: str = "text"
    id: str | None = None
    title: str | None = None
    labels: str | None = None
    links: str | None = None
    timestamp: str | None = None
    metadata: tuple[str, ...] = ()
    separator: str | None = None  # what separates several labels or links in one cell
    date_format: str | None = None

    def names(self) -> list[str]:
        """All columns that are set."""
        single = (self.text, self.id, self.title, self.labels, self.links, self.timestamp)
        for name in (*single, *self.metadata):
            if not isinstance(name, Hashable):
                raise InputError(f"{name!r:.60} is not the name of a column: expected one name")
        return list(dict.fromkeys([*filter(None, single), *self.metadata]))


class FileOptions(NamedTuple):
    """How a file is read."""

    format: str | None = None
    encoding: str = "utf-8"
    errors: str = "strict"
    pattern: str = "*.txt"
    verbose: bool | None = False
    limits: ReadLimits = ReadLimits()
    n_jobs: int | None = None
    on_disk: str | Path | None = None


def read(
    path: str | Path | Sequence[str | Path],
    columns: Columns,
    options: TextOptions,
    file: FileOptions,
    vocabulary: str | Path | Sequence[str] | None,
) -> Corpus:
    """Read a corpus; see `Corpus.read`."""
    paths = files_of(path)
    first, where = paths[0], name_of(paths)
    format = "jsonl" if str(first) == "-" else file.format or format_of(first)
    check_choice("format", format, FORMATS)
    if format in TEXT_FORMATS:
        words = _words(vocabulary, file.encoding, file.limits) if isinstance(vocabulary, str | Path) else vocabulary
        if format == "folder":
            if columns.labels not in (None, "folder"):
                raise InputError(f"labels={columns.labels!r}: for a folder of texts, expected labels='folder'")
            columns = columns._replace(text="text", id="id", title=None)
        source = chain.from_iterable(records(each, file, columns.names()) for each in paths)
        options = replace(options, vocabulary=words)
        if file.on_disk is None:
            return corpus_from_records(source, columns, options, where, n_jobs=file.n_jobs)
        return _read_onto_disk(source, columns, options, where, file.n_jobs, Path(file.on_disk))
    if len(paths) > 1 or file.on_disk is not None:
        source_kind = f"{len(paths)} files" if len(paths) > 1 else "on_disk"
        raise InputError(f"{where}: {source_kind} with format {format!r}: expected texts ({', '.join(TEXT_FORMATS)})")
    if format == "safetensors":
        _check_unset(first, "a saved corpus and is loaded unchanged", columns, options, vocabulary)
        return Corpus.load(first)
    filters = ("min_df", "max_df", "max_words", "rank_by")
    _check_unset(first, "a matrix of counts, not of texts", columns, options, None, besides=filters)
    with reading(first):
        counts, found_labels = read_counts(first, format, file.limits)
        words = _words_beside(first, vocabulary, file.encoding, file.limits)
        if words is not None and len(words) > counts.shape[1]:  # words that occur in no document of a sparse file
            counts = sp.csr_array((counts.data, counts.indices, counts.indptr), (counts.shape[0], len(words)))
        filter_values: dict[str, Any] = {name: getattr(options, name) for name in filters}
        return Corpus.from_counts(counts, words, labels=found_labels, **filter_values)


def _read_onto_disk(
    source: Iterable[Record], columns: Columns, options: TextOptions, where: str, n_jobs: int | None, file: Path
) -> Corpus:
    """Read texts into a file that is then mapped; temporary files are in the same folder."""
    with written_by_one(file):
        corpus = corpus_from_records(source, columns, options, where, n_jobs=n_jobs, folder=file.absolute().parent)
        corpus.save(file)
    return Corpus.load(file, memory_map=True)


def read_batches(
    read_one: Callable[..., Corpus], path: str | Path | Sequence[str | Path], size: int, options: Mapping[str, Any]
) -> Iterator[Corpus]:
    """Yield corpora of `size` documents each; `read_one` is `Corpus.read`, whose parameters are the options."""
    check_whole("size", size)
    bound = signature(read_one).bind(path, **options)
    bound.apply_defaults()
    settings = bound.arguments
    paths = files_of(path)
    format = "jsonl" if str(paths[0]) == "-" else settings["format"] or format_of(paths[0])
    if format not in TEXT_FORMATS:
        corpus = read_one(path, **options)
        yield from (corpus.subset(slice(first, first + size)) for first in range(0, len(corpus), size))
        return
    limits, vocabulary = settings["limits"] or ReadLimits(), settings["vocabulary"]
    file = FileOptions(
        settings["format"], settings["encoding"], settings["errors"], settings["pattern"], settings["verbose"], limits
    )
    if isinstance(vocabulary, str | Path):
        vocabulary = _words(vocabulary, settings["encoding"], limits)
    source = chain.from_iterable(records(each, file) for each in paths)
    number = 0
    while batch := list(islice(source, size)):
        corpus = _corpus_of_batch(batch, settings, vocabulary, number, name_of(paths), folder=format == "folder")
        vocabulary, number = corpus.vocabulary, number + len(batch)
        yield corpus


def _corpus_of_batch(
    batch: list[Record], settings: Mapping[str, Any], vocabulary: Any, number: int, where: str, *, folder: bool
) -> Corpus:
    single = {name: settings[name] for name in ("text", "id", "title", "labels", "links", "timestamp")}
    columns = Columns(**single, metadata=as_names(settings["metadata"]), separator=settings["separator"])
    columns = columns._replace(date_format=settings["date_format"])
    if folder:
        columns = columns._replace(text="text", id="id", title=None)
    elif columns.id is None and "id" not in batch[0]:  # numbering continues from batch to batch
        batch = [{**record, "id": number + place} for place, record in enumerate(batch)]
    words = {name: settings[name] for name in [field.name for field in fields(Preprocessing)]}
    preprocessing = preprocessing_from(settings["preprocessing"], **words)
    filters = {name: settings[name] for name in ("segments", "keep_texts", "min_df", "max_df", "max_words", "rank_by")}
    return corpus_from_records(batch, columns, TextOptions(preprocessing, vocabulary, **filters), where)


def files_of(path: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files of a path: one, several, or all that match a pattern, sorted by name."""
    if not isinstance(path, str | Path):
        paths = [file for entry in path for file in files_of(entry)]
        if not paths:
            raise InputError("the list of files is empty: expected at least one")
        return paths
    if str(path) == "-" or Path(path).exists() or not glob.has_magic(str(path)):
        return [Path(path)]
    matches = sorted(glob.glob(str(path), recursive=True))
    if not matches:
        raise FileError(f"no file matches {path}")
    return [Path(file) for file in matches]


def name_of(paths: Sequence[Path]) -> str:
    """The name of the files in messages."""
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1:,} more"


def _check_unset(
    path: Path, kind: str, columns: Columns, options: TextOptions, vocabulary: Any, besides: Sequence[str] = ()
) -> None:
    """Raise a ValueError if an option is set that does not apply to a file."""
    set_here = [name for name, value in columns._asdict().items() if value != Columns._field_defaults[name]]
    plain = TextOptions(Preprocessing())
    for field in fields(options):
        if field.name not in besides and getattr(options, field.name) != getattr(plain, field.name):
            set_here.append(field.name)
    if vocabulary is not None:
        set_here.append("vocabulary")
    if set_here:
        raise InputError(f"{path} is {kind}: leave out {', '.join(set_here)}")


def records(path: str | Path, file: FileOptions, columns: Sequence[str] | None = None) -> Iterator[Record]:
    """The records of a file or folder with texts, one by one; '-' is standard input as JSONL.

    `columns` are the columns that are needed: only these are read from a Parquet file, and a missing one is an error.
    """
    if str(path) == "-":
        import sys

        name = "standard input"
        lines = text_lines(sys.stdin.buffer, name, file.encoding, file.errors, file.limits)
        return _jsonl_records(name, lines)
    path = Path(path)
    if not path.exists():
        raise FileError(f"no such file or folder: {path}")
    format = file.format or format_of(path)
    streaming = file.format is not None and format in ("csv", "tsv", "jsonl")  # a FIFO is allowed if the format is set
    check_regular(path, streaming=streaming)
    if format == "folder":
        return _folder_records(path, file.pattern, file.encoding, file.errors, file.limits)
    if format == "parquet":
        return _parquet_records(path, columns)
    if format not in ("csv", "tsv", "jsonl"):
        raise FileError(f"{path}: a {format} file contains counts, not texts; expected {', '.join(TEXT_FORMATS)}")
    lines = file_lines(path, file.encoding, file.errors, file.limits, file.verbose, streaming=streaming)
    return _jsonl_records(str(path), lines) if format == "jsonl" else _csv_records(path, lines, format, file.limits)


def corpus_from_records(
    source: Iterable[Record],
    columns: Columns,
    options: TextOptions,
    where: str = "the records",
    *,
    n_jobs: int | None = None,
    folder: Path | None = None,
) -> Corpus:
    """A corpus from a stream of records; only the columns in `columns` are kept.

    With a `folder`, the data are written to temporary files there.
    """
    named = {"titles": columns.title, "labels": columns.labels, "timestamps": columns.timestamp}
    field_values: dict[str, Any] = {name: [] for name, column in named.items() if column}
    metadata: dict[str, list[Any]] = {name: [] for name in columns.metadata}
    ids: Any = []
    if folder is not None:
        ids = StringSpool(folder, as_id)
        field_values |= {"titles": StringSpool(folder, as_title)} if "titles" in field_values else {}
        field_values |= {"labels": LabelSpool(folder, as_label_tuple)} if "labels" in field_values else {}
    link_lists: list[tuple[Any, list[Any]]] = []

    def texts() -> Iterator[Any]:
        id = columns.id
        for number, record in enumerate(source):
            if number == 0:
                id = "id" if id is None and "id" in record else id or None  # '' means that documents have no id
                for column in columns.names():
                    _cell(record, column, where)
            document_id = _cell(record, id, where) if id else number
            ids.append(document_id)
            for name, values in field_values.items():
                value = _cell(record, named[name], where)
                values.append(_split(value, columns.separator) if name == "labels" else value)
            for name, values in metadata.items():
                values.append(_cell(record, name, where))
            if columns.links:
                targets = _split(_cell(record, columns.links, where), columns.separator)
                link_lists.append((document_id, [] if is_missing(targets) else targets))
            yield _cell(record, columns.text, where)

    pairs = ((source_id, target) for source_id, targets in link_lists for target in _as_list(targets))
    return corpus_from_texts(
        texts(),
        options,
        ids=ids,
        links=pairs if columns.links else None,
        metadata=metadata,
        date_format=columns.date_format,
        n_jobs=n_jobs,
        folder=folder,
        **field_values,
    )


def texts_with_ids(
    source: Iterable[Record], text: str = "text", id: str | None = None, where: str = "the records"
) -> Iterator[tuple[str, str]]:
    """(id, text) of each record; without an id column the records are numbered, and a missing text is empty."""
    for number, record in enumerate(source):
        if number == 0:
            id = "id" if id is None and "id" in record else id or None
        value = _cell(record, text, where)
        name = str(_cell(record, id, where)) if id else str(number)
        if not is_missing(value) and not isinstance(value, str):
            raise FileError(f"{where}: the text of {name!r} is {value!r:.40}: expected a string")
        yield name, "" if is_missing(value) else value


def as_names(columns: str | Sequence[str]) -> tuple[str, ...]:
    """Names of columns, of which one may be given as a string."""
    return (columns,) if isinstance(columns, str) else tuple(columns)


_INDEX = "index of the frame"


def with_index_as_id(frame: Any, id: str | None) -> tuple[Any, str | None]:
    """The frame and its id column: without one, the index of a pandas frame, if it says more than a row number."""
    index: Any = getattr(frame, "index", None)
    if id is not None or type(frame).__module__.split(".")[0] != "pandas" or "id" in frame.columns:
        return frame, id
    numbered = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    if numbered or index.nlevels > 1 or index.hasnans:
        return frame, id
    ids = index.map(as_text)
    return (frame.assign(**{_INDEX: ids}), _INDEX) if ids.is_unique else (frame, id)


def frame_records(frame: Any, columns: Columns) -> Iterator[Record]:
    """The rows of a data frame as records with the columns in `columns`."""
    table = as_frame(frame)
    if not isinstance(table, nw.DataFrame | nw.LazyFrame):
        raise InputError(f"{type(frame).__name__} is not a data frame: expected pandas, polars, pyarrow or DuckDB")
    available = table.collect_schema().names()
    names = columns.names()
    for name in names:
        if name not in available:
            raise InputError(f"the frame has no column {name!r}; its columns are: {', '.join(map(str, available))}")
    if columns.id is None and "id" in available:
        names.append("id")
    if isinstance(table, nw.LazyFrame):
        if columns.id is None:
            raise InputError(f'the rows of a {type(frame).__name__} have no order: name the id column with id="..."')
        table = table.select(names).collect().sort(columns.id)
    values = [table.get_column(name).to_list() for name in names]
    return (dict(zip(names, row)) for row in zip(*values))


def _cell(record: Record, column: str | None, where: str) -> Any:
    try:
        return record[column]  # type: ignore[index]
    except KeyError:
        names = " ".join(", ".join(record).split())  # a name may contain line breaks
        raise InputError(f"{where} has no column {column!r}; its columns are: {names}") from None


def _split(value: Any, separator: str | None) -> Any:
    if separator and isinstance(value, str):
        return [part.strip() for part in value.split(separator) if part.strip()]
    return value
