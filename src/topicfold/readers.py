"""Files to a Corpus. Formats with text stream record by record; formats with counts are read whole.

A record is a mapping from column names to values. Lines are decoded one by one, so that a broken one can be named.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from .corpus import Corpus, is_missing
from .progress import progress
from .text import Preprocessing

__all__ = [
    "COLUMNS",
    "FORMATS",
    "TEXT_FORMATS",
    "corpus_from_records",
    "format_of",
    "frame_records",
    "read",
    "records",
    "texts_with_ids",
]

Record = Mapping[str, Any]

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".mtx": "mtx",
    ".ldac": "ldac",
    ".lda-c": "ldac",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
    ".safetensors": "safetensors",
}
TEXT_FORMATS = ("folder", "csv", "tsv", "jsonl", "parquet")
COLUMNS = ("id", "title", "labels", "links", "timestamp")  # what may be named beside the text
FORMATS = (*TEXT_FORMATS, "mtx", "ldac", "uci", "svmlight", "npz", "safetensors")


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


def _as_list(value: Any) -> list[Any]:
    if is_missing(value):
        return []
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


# ---- text formats ---------------------------------------------------------------------------------------------------


def format_of(path: Path) -> str:
    """The format a name tells: a folder, a known ending, or UCI's docword.NAME.txt."""
    if not path.exists():
        raise FileNotFoundError(f"no such file or folder: {path}")
    if path.is_dir():
        return "folder"
    name = path.name.lower().removesuffix(".gz")
    if name.startswith("docword."):
        return "uci"
    suffix = Path(name).suffix
    if suffix not in _SUFFIXES:
        raise ValueError(
            f"{path}: cannot tell the format from the name; expected a folder, a name that ends in "
            f"{', '.join(_SUFFIXES)} (also .gz), docword.NAME.txt, or format="
        )
    return _SUFFIXES[suffix]


def _open(path: Path) -> BinaryIO:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else open(path, "rb")  # type: ignore[return-value]


def _file_lines(path: Path, encoding: str, errors: str, verbose: bool | None = False) -> Iterator[str]:
    codecs.lookup(encoding)
    bar = progress(f"Reading {path.name}", path.stat().st_size, unit="MB", verbose=verbose)
    with open(path, "rb") as file, bar as move:
        unpacked = gzip.GzipFile(fileobj=file) if path.suffix.lower() == ".gz" else file
        for number, line in enumerate(_lines(unpacked, str(path), encoding, errors)):
            if number % 256 == 0:
                move(file.tell())
            yield line


def _lines(file: Any, name: str, encoding: str, errors: str) -> Iterator[str]:
    if len("\n".encode(encoding)) > 1:  # UTF-16 and UTF-32 cannot be cut into lines before they are decoded
        yield from codecs.getreader(encoding)(file, errors)
        return
    try:
        for number, raw in enumerate(file, 1):
            line = _decode(raw, f"{name}, line {number}", encoding, errors)
            yield line.removeprefix("\ufeff") if number == 1 else line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name} is not a whole gzip file: {error}") from None


def _decode(raw: bytes, where: str, encoding: str, errors: str) -> str:
    try:
        return raw.decode(encoding, errors)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{where} is not {encoding}: byte 0x{raw[error.start]:02x} at position {error.start + 1}; "
            "name the encoding, or replace such bytes with errors='replace' (--replace-errors)"
        ) from None


def _jsonl_records(name: str, lines: Iterable[str]) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                record = json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                raise ValueError(f"{name}, line {number} is not JSON: {error}") from None
            if not isinstance(record, dict):
                raise ValueError(f"{name}, line {number} is not a JSON object: expected {{...}} on each line")
            yield record


def _csv_records(path: Path, lines: Iterable[str], format: str) -> Iterator[Record]:
    csv.field_size_limit(2**31 - 1)  # a document is often longer than the 128 kB the module allows
    # strict: else a quote that is never closed would swallow the rest of the file as one cell
    rows = csv.reader(lines, delimiter="\t" if format == "tsv" else ",", strict=True)
    try:
        names = next(rows, None)
        if names is None:
            raise ValueError(f"{path} is empty: expected a first line with the names of the columns")
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"{path} has more than one column {twice!r}")
        for row in rows:
            if row and len(row) != len(names):
                raise ValueError(f"{path}, line {rows.line_num} has {len(row)} cells: expected {len(names)}")
            if row:
                yield dict(zip(names, row))
    except csv.Error as error:
        hint = " (a quote that is not closed?)" if "end of data" in str(error) else ""
        raise ValueError(f"{path}, line {rows.line_num} is not {format.upper()}: {error}{hint}") from None


def _parquet_records(path: Path, columns: Sequence[str] | None) -> Iterator[Record]:
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise ImportError("reading Parquet needs pyarrow: pip install 'topicfold[parquet]'") from None
    try:
        file = ParquetFile(path)
    except ArrowInvalid as error:
        raise ValueError(f"{path} is not a Parquet file: {error}") from None
    with file:
        names = file.schema_arrow.names
        wanted = names if columns is None else [name for name in names if name in columns or name == "id"]
        for name in columns or ():
            if name not in names:
                raise ValueError(f"{path} has no column {name!r}; its columns are: {', '.join(names)}")
        for batch in file.iter_batches(batch_size=2048, columns=wanted):
            yield from batch.to_pylist()


def _folder_records(path: Path, pattern: str, encoding: str, errors: str) -> Iterator[Record]:
    def refused(error: OSError) -> None:
        raise error  # os.walk would pass over a folder it may not read

    found = False
    for folder, subfolders, names in os.walk(path, onerror=refused):
        subfolders.sort()
        for file in sorted(Path(folder, name) for name in names if Path(name).match(pattern)):
            found = True
            text = _decode(file.read_bytes(), str(file), encoding, errors).removeprefix("\ufeff")
            yield {"id": file.relative_to(path).as_posix(), "text": text, "folder": file.parent.name}
    if not found:
        raise ValueError(f"{path} has no file that matches {pattern!r}; pattern='*' takes all files")


# ---- formats with counts --------------------------------------------------------------------------------------------


def _words(path: str | Path, encoding: str) -> list[str]:
    words = [line.rstrip("\r\n") for line in _file_lines(Path(path), encoding, "strict")]
    return words[:-1] if words and words[-1] == "" else words


def _words_beside(path: Path, vocabulary: Any, encoding: str) -> list[str] | None:
    if isinstance(vocabulary, str | Path):
        return _words(vocabulary, encoding)
    if vocabulary is not None:
        return list(vocabulary)
    name = path.name.removesuffix(".gz")
    candidates = [path.with_name("vocab.txt"), path.with_name(Path(name).stem + ".vocab")]
    if name.startswith("docword."):
        candidates.insert(0, path.with_name("vocab." + name.removeprefix("docword.")))
    return next((_words(candidate, encoding) for candidate in candidates if candidate.exists()), None)


def _read_mtx(path: Path) -> tuple[sp.csr_array, None]:
    from scipy.io import mmread

    with _open(path) as file:
        return sp.csr_array(_parsed(path, "Matrix Market", lambda: mmread(file))), None


def _read_npz(path: Path) -> tuple[sp.csr_array, None]:
    return sp.csr_array(_parsed(path, "scipy sparse .npz", lambda: sp.load_npz(path))), None


def _read_svmlight(path: Path) -> tuple[sp.csr_array, list[str]]:
    from sklearn.datasets import load_svmlight_file

    X, y = _parsed(path, "SVMlight", lambda: load_svmlight_file(str(path)))
    return sp.csr_array(X), [f"{label:g}" for label in y]


def _parsed(path: Path, name: str, parse: Callable[[], Any]) -> Any:
    """Call a library's parser, whose errors come in many kinds, and name the file in the one we raise."""
    try:
        return parse()
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"{path} is not a {name} file: {error}") from error


def _read_ldac(path: Path) -> tuple[sp.csr_array, None]:
    """Blei's LDA-C: a line a document, 'number_of_terms term:count term:count ...'."""
    indptr, indices, data = [0], [], []
    for number, line in enumerate(_file_lines(path, "ascii", "strict"), 1):
        cells = line.split()
        try:
            pairs = [tuple(map(int, cell.split(":"))) for cell in cells[1:]]
            if cells and int(cells[0]) != len(pairs):
                raise ValueError(f"it announces {cells[0]} terms and has {len(pairs)}")
            if any(term < 0 for term, _ in pairs):
                raise ValueError("a term has a negative number")
            indices += [term for term, _ in pairs]
            data += [count for _, count in pairs]
        except ValueError as error:
            raise ValueError(f"{path}, line {number} is not LDA-C ('N term:count ...'): {error}") from None
        indptr.append(len(indices))
    width = max(indices, default=-1) + 1
    return sp.csr_array((data, indices, indptr), (len(indptr) - 1, width)), None


def _read_uci(path: Path) -> tuple[sp.csr_array, None]:
    """UCI bag of words: three lines with D, W and NNZ, then lines 'document word count', counted from one."""
    with _open(path) as file:
        try:
            n_documents, n_words, n_values = (int(file.readline()) for _ in range(3))
            rest = file.read()
            triples = np.loadtxt(io.BytesIO(rest), dtype=np.int64, ndmin=2) if rest.strip() else np.zeros((0, 3), int)
            if triples.shape != (n_values, 3):
                raise ValueError(f"it announces {n_values} lines of three numbers and has {triples.shape[0]}")
            if n_values and not (
                triples[:, :2].min() >= 1 and triples[:, 0].max() <= n_documents and triples[:, 1].max() <= n_words
            ):
                raise ValueError(f"a document or word number is outside 1..{n_documents} or 1..{n_words}")
        except ValueError as error:
            raise ValueError(f"{path} is not a UCI bag of words file: {error}") from None
    rows, columns, values = triples[:, 0] - 1, triples[:, 1] - 1, triples[:, 2]
    return sp.csr_array((values, (rows, columns)), (n_documents, n_words)), None


_READ_COUNTS: Mapping[str, Callable[[Path], tuple[sp.csr_array, Any]]] = {
    "mtx": _read_mtx,
    "npz": _read_npz,
    "svmlight": _read_svmlight,
    "ldac": _read_ldac,
    "uci": _read_uci,
}
