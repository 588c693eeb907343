"""Read a corpus from files or a data frame."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import scipy.sparse as sp

from ..engine.checks import check_choice, check_whole
from ..engine.store import written_by_one
from ..engine.warn import warn_user
from ..errors import FileError, InputError
from .building import TextOptions, corpus_from_texts, preprocessing_from
from .byte_lines import check_regular, file_blocks, file_lines, reading, text_lines
from .columns import Columns
from .corpus import Corpus
from .count_files import read_counts
from .fields import as_frame, as_id, as_label_tuple, as_text, as_title, is_missing
from .formats import (
    FORMATS,
    TEXT_FORMATS,
    Record,
    _arrow_records,
    _as_list,
    _csv_records,
    _folder_records,
    _jsonl_records,
    _line_records,
    _parquet_records,
    _words,
    _words_beside,
    format_of,
)
from .json_values import json_records
from .limits import ReadLimits
from .preprocessing import Preprocessing
from .spool import LabelSpool, StringSpool
from .spreadsheets import sheet_records
from .zip_files import zip_records

__all__ = [
    "FileOptions",
    "as_names",
    "as_text_columns",
    "corpus_from_records",
    "files_of",
    "frame_records",
    "joined_text",
    "read",
    "records",
    "texts_with_ids",
]

_PLAIN_TEXT = ("lines", "csv", "tsv", "json", "jsonl")


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
    format = "jsonl" if str(first) == "-" else format_of(first, file.format)
    check_choice("format", format, FORMATS)
    if format in TEXT_FORMATS:
        words = _words(vocabulary, file.encoding, file.limits) if isinstance(vocabulary, str | Path) else vocabulary
        if format in ("folder", "zip"):
            if columns.labels not in (None, "folder"):
                raise InputError(f"labels={columns.labels!r}: for a folder of texts, expected labels='folder'")
            columns = columns._replace(text="text", id="id", title=None)
        if format == "lines" and len(paths) > 1 and file.format is None:
            warn_user(
                f"{where}: each line is read as a document; format='folder' reads each file as one, and format='lines' "
                "each line without this warning"
            )
        source = _records_of_files(paths, file, columns.names())
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
        chosen = {name: getattr(options, name) for name in filters}  # 'auto' is for texts: counts stay as they are
        filter_values: dict[str, Any] = {name: value for name, value in chosen.items() if value != "auto"}
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
    if settings["unique"] or settings["language"] is not None:
        name = "unique=True" if settings["unique"] else f"language={settings['language']!r:.60}"
        raise InputError(f"{name}: a batch is too small to tell; read the files with on_disk= first")
    if settings["on_disk"] is not None:
        raise InputError("on_disk: batches are in memory, one at a time; read the files into a corpus on disk instead")
    paths = files_of(path)
    format = "jsonl" if str(paths[0]) == "-" else format_of(paths[0], settings["format"])
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
    words = {name: settings[name] for name in [field.name for field in fields(Preprocessing)]}
    preprocessing: Any = preprocessing_from(settings["preprocessing"], **words)
    source = _records_of_files(paths, file, None)
    if format in ("folder", "zip"):
        settings |= {"text": "text", "id": "id", "title": None}
    number = 0
    while batch := list(islice(source, size)):
        of_words = TextOptions(preprocessing, vocabulary, **{name: settings[name] for name in _OF_BATCH})
        corpus = _corpus_of_batch(batch, settings, of_words, number, name_of(paths))
        # later batches have the words of the first one, told from its texts where they are 'auto'
        vocabulary, preprocessing, number = corpus.vocabulary, corpus.preprocessing, number + len(batch)
        yield corpus


_OF_BATCH = ("segments", "keep_texts", "min_df", "max_df", "max_words", "rank_by")


def _corpus_of_batch(
    batch: list[Record], settings: Mapping[str, Any], options: TextOptions, number: int, where: str
) -> Corpus:
    single = {name: settings[name] for name in ("id", "title", "labels", "links", "timestamp")}
    columns = Columns(
        as_text_columns(settings["text"]),
        **single,
        metadata=as_names(settings["metadata"]),
        separator=settings["separator"],
    )
    columns = columns._replace(date_format=settings["date_format"], strict_dates=settings["strict_dates"])
    if columns.id is None and "id" not in batch[0]:  # numbering continues from batch to batch
        batch = [{**record, "id": number + place} for place, record in enumerate(batch)]
    return corpus_from_records(batch, columns, options, where)


def columns_as_fitted(
    fitted: Mapping[str, Any] | None, path: str | Path, file: FileOptions, named: Mapping[str, Any]
) -> Columns:
    """The columns that are `named`, and for the others those of a fit, as far as the file has them."""
    names = None  # of a pipe, like standard input, which can be read only once
    first = Path() if str(path) == "-" else files_of(path)[0]
    if first.is_file() and format_of(first, file.format) in TEXT_FORMATS:
        names = list(next(records(first, file), {}))
    return Columns.as_fitted(fitted, names, {name: named[name] for name in Columns._fields if name in named})


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
    plain = TextOptions(preprocessing_from(None))
    for field in fields(options):
        if field.name not in besides and getattr(options, field.name) != getattr(plain, field.name):
            set_here.append(field.name)
    if vocabulary is not None:
        set_here.append("vocabulary")
    if set_here:
        raise InputError(f"{path} is {kind}: leave out {', '.join(set_here)}")


def records(path: str | Path, file: FileOptions, columns: Sequence[str] | None = None) -> Iterator[Record]:
    """The records of a file or folder with texts, one by one; '-' is standard input as JSONL.

    `columns` are the columns that are needed: only these are read from a Parquet or Arrow file, and a missing one is an
    error.
    """
    if str(path) == "-":
        import sys

        name = "standard input"
        lines = text_lines(sys.stdin.buffer, name, file.encoding, file.errors, file.limits)
        return _jsonl_records(name, lines)
    path = Path(path)
    if not path.exists():
        raise FileError(f"no such file or folder: {path}")
    format = format_of(path, file.format)
    streaming = file.format is not None and format in _PLAIN_TEXT  # a FIFO is allowed if the format is set
    check_regular(path, streaming=streaming)
    texts = (file.encoding, file.errors, file.limits)
    if format in _PLAIN_TEXT:
        return _text_records(path, format, texts, file.verbose, streaming=streaming)
    if format == "folder":
        return _folder_records(path, file.pattern, *texts)
    if format == "zip":
        return zip_records(path, file.pattern, *texts)
    if format == "excel":
        return sheet_records(path, (file.format or "").partition(":")[2] or None, file.limits)
    if format in ("parquet", "arrow"):
        return _parquet_records(path, columns) if format == "parquet" else _arrow_records(path, columns)
    raise FileError(f"{path}: a {format} file contains counts, not texts; expected {', '.join(TEXT_FORMATS)}")


def _text_records(
    path: Path, format: str, texts: tuple[str, str, ReadLimits], verbose: bool | None, *, streaming: bool
) -> Iterator[Record]:
    """The records of a file of plain text, which may be compressed."""
    *_, limits = texts
    if format == "json":
        return json_records(str(path), file_blocks(path, *texts, verbose, streaming=streaming), limits)
    lines = file_lines(path, *texts, verbose, streaming=streaming)
    if format == "lines":
        return _line_records(lines)
    return _jsonl_records(str(path), lines) if format == "jsonl" else _csv_records(path, lines, format, limits)


def _records_of_files(paths: Sequence[Path], file: FileOptions, columns: Sequence[str] | None) -> Iterator[Record]:
    """The records of all files; an id that is only unique in its file begins with the name of the file."""
    for path in paths:
        of_file = len(paths) > 1 and str(path) != "-" and format_of(path, file.format) in ("lines", "zip")
        for record in records(path, file, columns):
            yield {**record, "id": f"{path.name}:{record['id']}"} if of_file else record


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
    all_names: list[str] = []

    def texts() -> Iterator[Any]:
        id = columns.id
        for number, record in enumerate(source):
            if number == 0:
                id = "id" if id is None and "id" in record else id or None  # '' means that documents have no id
                all_names.extend(map(str, record))
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
            yield _text_cell(record, columns.text, where)

    pairs = ((source_id, target) for source_id, targets in link_lists for target in _as_list(targets))
    corpus = corpus_from_texts(
        texts(),
        options,
        ids=ids,
        links=pairs if columns.links else None,
        metadata=metadata,
        date_format=columns.date_format,
        strict_dates=columns.strict_dates,
        n_jobs=n_jobs,
        folder=folder,
        **field_values,
    )
    used = {name: role for role, name in columns.roles()}
    unused = {name: "not named" for name in all_names if name not in used and name != "id"}
    return replace(
        corpus, notes={**corpus.notes, "columns": columns.to_json(), "columns_used": used, "columns_unused": unused}
    )


def texts_with_ids(
    source: Iterable[Record], text: str | tuple[str, ...] = "text", id: str | None = None, where: str = "the records"
) -> Iterator[tuple[str, str]]:
    """(id, text) of each record; without an id column the records are numbered, and a missing text is empty."""
    for number, record in enumerate(source):
        if number == 0:
            id = "id" if id is None and "id" in record else id or None
        value = _text_cell(record, text, where)
        name = str(_cell(record, id, where)) if id else str(number)
        if not is_missing(value) and not isinstance(value, str):
            raise FileError(f"{where}: the text of {name!r} is {value!r:.40}: expected a string")
        yield name, "" if is_missing(value) else value


def as_text_columns(text: str | Sequence[str]) -> str | tuple[str, ...]:
    """The column or columns with texts; those of a list are checked."""
    if not isinstance(text, list | tuple):
        return text  # type: ignore[return-value]
    if not text:
        raise InputError("text=[]: expected the name of at least one column")
    twice = next((name for place, name in enumerate(text) if name in text[:place]), None)
    if twice is not None:
        raise InputError(f"text={list(text)!r:.80}: the column {twice!r:.40} is named twice; name it once")
    return tuple(text) if len(text) > 1 else text[0]


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


def _text_cell(record: Record, text: str | tuple[str, ...], where: str) -> Any:
    """The text of a record; several columns are joined by a blank line, without those that are missing."""
    if not isinstance(text, tuple):
        return _cell(record, text, where)
    return joined_text(text, [_cell(record, name, where) for name in text], where)


def joined_text(names: Sequence[str], parts: Sequence[Any], where: str = "the records") -> str:
    """Several texts of one document as one, with a blank line between them.

    >>> joined_text(["title", "lead", "body"], ["Fish", None, "Red and blue."])
    'Fish\\n\\nRed and blue.'
    """
    for name, part in zip(names, parts):
        if not isinstance(part, str | int | float) and not is_missing(part):
            expected = "text; only a single text column may contain lists" if isinstance(part, list | tuple) else "text"
            raise InputError(f"{where}: the column {name!r} contains {part!r:.40}: expected {expected}")
    texts = ["" if is_missing(part) else as_text(part) for part in parts]
    return "\n\n".join(text for text in texts if text.strip())


def _split(value: Any, separator: str | None) -> Any:
    if separator and isinstance(value, str):
        return [part.strip() for part in value.split(separator) if part.strip()]
    return value
