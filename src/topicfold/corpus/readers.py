"""Files to a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from .corpus import Corpus
from .fields import is_missing
from .formats import (
    FORMATS,
    TEXT_FORMATS,
    Record,
    _as_list,
    _csv_records,
    _file_lines,
    _folder_records,
    _jsonl_records,
    _lines,
    _parquet_records,
    _read_ldac,
    _read_mtx,
    _read_npz,
    _read_svmlight,
    _read_uci,
    _words,
    _words_beside,
    format_of,
)
from .preprocessing import Preprocessing

__all__ = ["COLUMNS", "corpus_from_records", "frame_records", "read", "records", "texts_with_ids"]

COLUMNS = ("id", "title", "labels", "links", "timestamp")  # what may be named beside the text


def read(
    path: str | Path,
    *,
    format: str | None = None,
    text: str = "text",
    id: str | None = None,
    title: str | None = None,
    labels: str | None = None,
    links: str | None = None,
    timestamp: str | None = None,
    separator: str | None = None,
    vocabulary: str | Path | list[str] | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    pattern: str = "*.txt",
    verbose: bool | None = None,
    **options: Any,
) -> Corpus:
    """Read a corpus; the format is told by the name unless `format` says it; '-' is standard input as JSONL.

    `text`, `id`, `title`, `labels`, `links` and `timestamp` name columns of CSV, TSV, JSONL and Parquet files. Without
    `id` a column of that name is used where there is one, else documents are numbered. `separator` splits labels and
    links written in one cell. In a folder the files that match `pattern` are documents, their path is the id, and
    `labels='folder'` takes the folder's name as label. `errors='replace'` accepts bytes that are not in `encoding`.
    Matrices take their words from `vocabulary`, a list or a file with one a line; without it from a file beside them:
    vocab.txt, or vocab.NAME.txt for UCI's docword.NAME.txt. `verbose` is as in the models: None shows progress on a
    terminal. Other options go to `Corpus.from_texts`; the fields of Preprocessing may be given one by one.
    """
    path = Path(path)
    format = "jsonl" if str(path) == "-" else format or format_of(path)
    if format not in FORMATS:
        raise ValueError(f"format={format!r}: expected one of {', '.join(FORMATS)}")
    if format == "safetensors":
        if options:
            raise ValueError(f"{path} is a saved corpus and is taken as it is: leave out {', '.join(options)}")
        return Corpus.load(path)
    names = [name for name in (text, id, title, labels, links, timestamp) if name]
    if format in TEXT_FORMATS:
        if format == "folder":
            labels = "folder" if labels else None
            id, title = "id", None
        return corpus_from_records(
            records(
                path,
                format=format,
                encoding=encoding,
                errors=errors,
                pattern=pattern,
                columns=names,
                verbose=verbose,
            ),
            text=text,
            id=id,
            title=title,
            labels=labels,
            links=links,
            timestamp=timestamp,
            separator=separator,
            vocabulary=_words(vocabulary, encoding) if isinstance(vocabulary, str | Path) else vocabulary,
            where=str(path),
            **options,
        )
    counts, found_labels = _READ_COUNTS[format](path)
    words = _words_beside(path, vocabulary, encoding)
    if words is not None and len(words) > counts.shape[1]:  # words that no document of a sparse file uses
        counts = sp.csr_array((counts.data, counts.indices, counts.indptr), (counts.shape[0], len(words)))
    return Corpus.from_counts(counts, words, labels=found_labels, **options)


def records(
    path: str | Path,
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    pattern: str = "*.txt",
    columns: Sequence[str] | None = None,
    verbose: bool | None = False,
) -> Iterator[Record]:
    """The records of a file or folder with texts, one at a time; '-' is standard input as JSONL.

    `columns` are those that are needed: others of a Parquet file are not read, and one that is missing is an error.
    """
    if str(path) == "-":
        import sys

        return _jsonl_records("standard input", _lines(sys.stdin.buffer, "standard input", encoding, errors))
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file or folder: {path}")
    format = format or format_of(path)
    if format == "folder":
        return _folder_records(path, pattern, encoding, errors)
    if format == "parquet":
        return _parquet_records(path, columns)
    if format not in ("csv", "tsv", "jsonl"):
        raise ValueError(f"{path}: a {format} file holds counts, not texts; expected {', '.join(TEXT_FORMATS)}")
    lines = _file_lines(path, encoding, errors, verbose)
    return _jsonl_records(str(path), lines) if format == "jsonl" else _csv_records(path, lines, format)


def corpus_from_records(
    source: Iterable[Record],
    *,
    text: str = "text",
    id: str | None = None,
    title: str | None = None,
    labels: str | None = None,
    links: str | None = None,
    timestamp: str | None = None,
    separator: str | None = None,
    where: str = "the records",
    **options: Any,
) -> Corpus:
    """A corpus from records that stream by; only the columns that are named are kept."""
    _check_options(options)
    columns: dict[str, list[Any]] = {
        name: [] for name, column in (("titles", title), ("labels", labels), ("timestamps", timestamp)) if column
    }
    named = {"titles": title, "labels": labels, "timestamps": timestamp}
    ids: list[Any] = []
    link_lists: list[tuple[Any, list[Any]]] = []

    def texts() -> Iterator[Any]:
        nonlocal id
        for number, record in enumerate(source):
            if number == 0:
                id = id or ("id" if "id" in record else None)
                for column in filter(None, (text, id, title, labels, links, timestamp)):
                    _cell(record, column, where)
            ids.append(_cell(record, id, where) if id else number)
            for name, values in columns.items():
                value = _cell(record, named[name], where)
                values.append(_split(value, separator) if name == "labels" else value)
            if links:
                link_lists.append((ids[-1], _split(_cell(record, links, where), separator) or []))
            yield _cell(record, text, where)

    pairs = ((source_id, target) for source_id, targets in link_lists for target in _as_list(targets))
    given: dict[str, Any] = {**columns, **_with_preprocessing(options)}
    return Corpus.from_texts(texts(), ids=ids, links=pairs if links else None, **given)


def texts_with_ids(
    source: Iterable[Record], text: str = "text", id: str | None = None, where: str = "the records"
) -> Iterator[tuple[str, str]]:
    """(id, text) of records that stream by; without a column of ids they are numbered, a missing text is empty."""
    for number, record in enumerate(source):
        if number == 0:
            id = id or ("id" if "id" in record else None)
        value = _cell(record, text, where)
        name = str(_cell(record, id, where)) if id else str(number)
        if not is_missing(value) and not isinstance(value, str):
            raise ValueError(f"{where}: the text of {name!r} is {value!r:.40}: expected a string")
        yield name, "" if is_missing(value) else value


def frame_records(frame: Any, columns: Sequence[str] | None = None) -> Iterator[Record]:
    """The rows of a pandas or polars frame as records, of some columns or of all."""
    if not hasattr(frame, "columns"):
        raise ValueError(f"{type(frame).__name__} is not a data frame: expected pandas or polars")
    names = [name for name in frame.columns if columns is None or name in columns]
    for name in columns or ():
        if name not in names:
            raise ValueError(f"the frame has no column {name!r}; its columns are: {', '.join(map(str, frame.columns))}")
    values = [frame[name].to_list() for name in names]
    return (dict(zip(map(str, names), row)) for row in zip(*values))


_PREPROCESSING_OPTIONS = ("token_pattern", "lowercase", "stop_words", "stemmer", "ngrams", "tokenizer")
_CORPUS_OPTIONS = (
    *("segments", "keep_texts", "vocabulary", "preprocessing"),
    *("min_df", "max_df", "max_words", "rank_by"),
)


def _check_options(options: Mapping[str, Any]) -> None:
    known = (*_CORPUS_OPTIONS, *_PREPROCESSING_OPTIONS)
    unknown = [name for name in options if name not in known]
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}; there are: {', '.join(known)}")


def _with_preprocessing(options: dict[str, Any]) -> dict[str, Any]:
    """Let the fields of Preprocessing be given one by one."""
    own = {name: options[name] for name in _PREPROCESSING_OPTIONS if name in options}
    rest = {name: value for name, value in options.items() if name not in own}
    if own and rest.get("preprocessing") is not None:
        raise ValueError(f"give either preprocessing= or {', '.join(own)}, not both")
    return {**rest, "preprocessing": Preprocessing(**own)} if own else rest


def _cell(record: Record, column: str | None, where: str) -> Any:
    try:
        return record[column]  # type: ignore[index]
    except KeyError:
        raise ValueError(f"{where} has no column {column!r}; its columns are: {', '.join(record)}") from None


def _split(value: Any, separator: str | None) -> Any:
    if separator and isinstance(value, str):
        return [part.strip() for part in value.split(separator) if part.strip()]
    return value


_READ_COUNTS: Mapping[str, Callable[[Path], tuple[sp.csr_array, Any]]] = {
    "mtx": _read_mtx,
    "npz": _read_npz,
    "svmlight": _read_svmlight,
    "ldac": _read_ldac,
    "uci": _read_uci,
}
