"""The supported file formats, and the records of those that contain texts."""

from __future__ import annotations

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from ..engine.extras import import_extra
from ..errors import FileError, InputError
from .byte_lines import check_encoding, check_regular, decoded, file_lines
from .fields import is_missing
from .limits import ReadLimits

__all__ = ["FORMATS", "SUFFIXES", "TEXT_FORMATS", "format_of"]

Record = Mapping[str, Any]
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".txt": "lines",
    ".zip": "zip",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".mtx": "mtx",
    ".ldac": "ldac",
    ".lda-c": "ldac",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
    ".safetensors": "safetensors",
}
_BY_PANDAS = (".orc", ".dta", ".sav")
_ARROW_ROWS = 2048  # rows that are turned into Python objects at a time
_DELIMITERS = (",", ";", "\t", "|")
TEXT_FORMATS = ("folder", "zip", "lines", "csv", "tsv", "json", "jsonl", "excel", "parquet", "arrow")
FORMATS = (*TEXT_FORMATS, "mtx", "ldac", "uci", "svmlight", "npz", "safetensors")


def _as_list(value: Any) -> list[Any]:
    if is_missing(value):
        return []
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def format_of(path: Path, format: str | None = None) -> str:
    """The format that was set, without the sheet of "excel:SHEET"; or what the name tells.

    The name is that of a folder, has a known ending, or is UCI's docword.NAME.txt.
    """
    if format is not None:
        return "excel" if format.startswith("excel:") else format
    if not path.exists():
        raise FileError(f"no such file or folder: {path}")
    if path.is_dir():
        return "folder"
    name = path.name.lower().removesuffix(".gz")
    if name.startswith("docword."):
        return "uci"
    suffix = Path(name).suffix
    if suffix in _BY_PANDAS:
        raise FileError(f"{path}: read it with pandas, and pass the data frame to Corpus.from_frame")
    if suffix not in SUFFIXES:
        raise FileError(
            f"{path}: cannot infer the format from the name; expected a folder, a name that ends in "
            f"{', '.join(SUFFIXES)} (also .gz), docword.NAME.txt, or format="
        )
    return SUFFIXES[suffix]


def _jsonl_records(name: str, lines: Iterable[str]) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:  # also a number with thousands of digits
                raise FileError(f"{name}, line {number} is not JSON: {error}") from None
            if not isinstance(record, dict):
                hint = "; format='json' reads an array" if isinstance(record, list) else ""
                raise FileError(f"{name}, line {number} is not a JSON object: expected {{...}} on each line{hint}")
            yield record


def _delimiter(head: str, row: str) -> str:
    """A comma, unless the names of the columns have none: many spreadsheets write semicolons or tabs instead.

    A name of a single column may have a semicolon, too; then the first row has none.
    """
    unquoted = re.sub(r'"[^"]*"', "", head)
    delimiter = "," if "," in unquoted else max(_DELIMITERS, key=unquoted.count)
    unfinished = row.count('"') % 2 == 1  # a cell with a line break: the row goes on below
    return delimiter if delimiter in row or unfinished or not row else ","


def _csv_records(path: Path, lines: Iterable[str], format: str, limits: ReadLimits) -> Iterator[Record]:
    csv.field_size_limit(limits.line)  # a document is often longer than the 128 kB the module allows
    lines = iter(lines)
    head, first = next(lines, ""), next(lines, "")
    # strict: otherwise a quote that is never closed would turn the rest of the file into one cell
    delimiter = "\t" if format == "tsv" else _delimiter(head, first)
    rows = csv.reader(chain([head, first] if first else [head], lines), delimiter=delimiter, strict=True)
    try:
        names = next(rows, None)
        if not names:
            raise FileError(f"{path} is empty: expected a first line with the names of the columns")
        if len(names) > limits.columns:
            raise FileError(
                f"{path} has {len(names):,} columns: more than {limits.columns:,}; the limit 'columns' can be raised"
            )
        if len(set(names)) < len(names):
            twice = next(name for name, number in Counter(names).items() if number > 1)
            raise FileError(f"{path} has more than one column {twice!r:.60}")
        for row in rows:
            if row and len(row) != len(names):
                raise FileError(f"{path}, line {rows.line_num} has {len(row)} cells: expected {len(names)}")
            if row:
                yield dict(zip(names, row))
    except csv.Error as error:
        hint = " (a quote that is not closed?)" if "end of data" in str(error) or "limit" in str(error) else ""
        raise FileError(f"{path}, line {rows.line_num} is not {format.upper()}: {error}{hint}") from None


def _parquet_records(path: Path, columns: Sequence[str] | None) -> Iterator[Record]:
    arrow, parquet = (import_extra(name, "parquet", "reading Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    try:
        file = parquet.ParquetFile(path)
    except (arrow.ArrowException, OSError) as error:
        raise FileError(f"{path} is not a Parquet file: {' '.join(str(error).split())[:200]}") from None
    with file:
        names = _columns_to_read(path, file.schema_arrow.names, columns)
        try:
            for batch in file.iter_batches(batch_size=_ARROW_ROWS, columns=names):
                rows = batch.to_pylist()
                yield from rows
        except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:  # also dates that Python has not
            raise FileError(f"{path} is damaged: {' '.join(str(error).split())[:200]}") from None


def _arrow_records(path: Path, columns: Sequence[str] | None) -> Iterator[Record]:
    """The rows of an Arrow file, also called Feather, or of an Arrow stream, as Hugging Face keeps datasets on disk."""
    arrow = import_extra("pyarrow", "parquet", "reading Arrow")
    with open(path, "rb") as file:
        is_file = file.read(6) == b"ARROW1"
    try:
        with arrow.OSFile(os.fspath(path)) as source:
            reader = arrow.ipc.open_file(source) if is_file else arrow.ipc.open_stream(source)
            names = _columns_to_read(path, reader.schema.names, columns)
            batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
            for batch in batches:
                selected = batch.select(names)
                selected.validate(full=True)  # otherwise, damaged offsets would be followed out of the file
                for first in range(0, len(selected), _ARROW_ROWS):
                    yield from selected.slice(first, _ARROW_ROWS).to_pylist()
    except (InputError, FileError):
        raise
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise FileError(f"{path} is not an Arrow file, or damaged: {' '.join(str(error).split())[:200]}") from None


def _columns_to_read(path: Path, names: Sequence[str], columns: Sequence[str] | None) -> list[str]:
    """The names in `columns`, which a file must have, and its id."""
    if len(set(names)) < len(names):
        twice = next(name for name, number in Counter(names).items() if number > 1)
        raise FileError(f"{path} has more than one column {twice!r:.60}")
    for name in columns or ():
        if name not in names:
            raise InputError(f"{path} has no column {name!r}; its columns are: {', '.join(names)}")
    return list(names) if columns is None else [name for name in names if name in columns or name == "id"]


def _line_records(lines: Iterable[str]) -> Iterator[Record]:
    """One document per line that is not blank; its id is the number of the line."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield {"id": number, "text": line.rstrip("\r\n")}


def _folder_records(path: Path, pattern: str, encoding: str, errors: str, limits: ReadLimits) -> Iterator[Record]:
    def refused(error: OSError) -> None:
        raise error  # os.walk would skip a folder that it may not read

    check_encoding(encoding, errors)
    if path.is_file():
        yield _file_record(path, path.as_posix(), encoding, errors, limits)
        return
    any_file = False
    for folder, subfolders, names in os.walk(path, onerror=refused):
        subfolders.sort()
        for file in sorted(Path(folder, name) for name in names if Path(name).match(pattern)):
            any_file = True
            yield _file_record(file, file.relative_to(path).as_posix(), encoding, errors, limits)
    if not any_file:
        raise FileError(f"{path} has no file that matches {pattern!r}; pattern='*' reads all files")


def _file_record(path: Path, id: str, encoding: str, errors: str, limits: ReadLimits) -> Record:
    """A file as one document."""
    check_regular(path)
    if path.stat().st_size > limits.line:
        raise FileError(f"{path} is longer than {limits.line:,} bytes; the limit 'line' can be raised")
    text = decoded(path.read_bytes(), str(path), encoding, errors).removeprefix("\ufeff")
    return {"id": id, "text": text, "folder": path.parent.name}


def _words(path: str | Path, encoding: str, limits: ReadLimits) -> list[str]:
    words = [line.rstrip("\r\n") for line in file_lines(Path(path), encoding, "strict", limits)]
    return words[:-1] if words and words[-1] == "" else words


def _words_beside(path: Path, vocabulary: Any, encoding: str, limits: ReadLimits) -> list[str] | None:
    if isinstance(vocabulary, str | Path):
        return _words(vocabulary, encoding, limits)
    if vocabulary is not None:
        return list(vocabulary)
    name = path.name.removesuffix(".gz")
    candidates = [path.with_name("vocab.txt"), path.with_name(Path(name).stem + ".vocab")]
    if name.startswith("docword."):
        candidates.insert(0, path.with_name("vocab." + name.removeprefix("docword.")))
    return next((_words(candidate, encoding, limits) for candidate in candidates if candidate.exists()), None)
