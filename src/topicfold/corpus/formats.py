"""The formats that are read: lines, records and matrices of counts."""

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

from ..engine.extras import import_extra
from ..engine.progress import progress
from .fields import is_missing

__all__ = ["FORMATS", "TEXT_FORMATS", "format_of"]

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
FORMATS = (*TEXT_FORMATS, "mtx", "ldac", "uci", "svmlight", "npz", "safetensors")


def _as_list(value: Any) -> list[Any]:
    if is_missing(value):
        return []
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


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
    arrow, parquet = (import_extra(name, "parquet", "reading Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    try:
        file = parquet.ParquetFile(path)
    except arrow.ArrowInvalid as error:
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
    """Blei's LDA-C: one line per document, 'number_of_terms term:count term:count ...'."""
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
