"""Topics of new documents, file to file, a batch at a time: documents may be many more than fit in memory."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..corpus.corpus import Corpus
from ..corpus.formats import TEXT_FORMATS, format_of
from ..corpus.readers import read, records, texts_with_ids
from ..models.inputs import vocabulary_of
from ..store import replaced_when_whole

__all__ = ["assign_file"]

_DIGITS = 6


class _Writer(Protocol):
    def write(self, ids: list[str], doc_topic: np.ndarray) -> None: ...


def assign_file(
    model: Any,
    source: str | Path,
    out: str | Path = "-",
    *,
    to: str | None = None,
    batch: int = 1000,
    segments: str | int | None = None,
    text: str = "text",
    id: str | None = None,
    **reading: Any,
) -> int:
    """Write P(z|d) of each document of a file to CSV, JSONL or Parquet; returns their number.

    `to` names the format where the name of `out` does not; '-' is stdin (JSONL) or stdout (CSV). With `segments` texts
    are cut and each segment has a row, its id that of the document and its number. The rest are options of
    `readers.records`. A file with counts is read whole.
    """
    if segments is not None and not hasattr(model, "transform_segments"):
        raise ValueError(f"segments={segments!r}: {type(model).__name__} knows documents alone; LDCC knows segments")
    to = to or ("csv" if str(out) == "-" else Path(out).suffix.lstrip(".").lower())
    if to not in _WRITERS:
        raise ValueError(f"{out}: cannot write {to or 'this'}; expected a name that ends in .csv, .jsonl or .parquet")
    if batch < 1:
        raise ValueError(f"batch={batch}: expected at least 1")
    if str(out) != "-" and Path(out).exists() and str(source) != "-" and Path(out).samefile(source):
        raise ValueError(f"{out} is the input too: write to another file")
    names = [str(name) for name in model.get_feature_names_out()]
    n_documents = 0
    with ExitStack() as stack:
        # an error half-way leaves what was there before, not a file that looks complete
        batches = _batches(source, batch, text, id, reading)
        first = next(batches, None)  # before the heading, so that an error in the first batch writes nothing
        target = out if str(out) == "-" else stack.enter_context(replaced_when_whole(out))
        writer: _Writer = _WRITERS[to](stack, target, names)
        for ids, documents in chain([first] if first else [], batches):
            if segments is None:
                writer.write(ids, np.asarray(model.transform(documents)))
            else:
                writer.write(*_segment_rows(model, ids, documents, segments))
            n_documents += len(ids)
    return n_documents


def _segment_rows(model: Any, ids: list[str], texts: Any, how: str | int) -> tuple[list[str], np.ndarray]:
    if not isinstance(texts, list):
        raise ValueError(f"segments={how!r}: the file holds counts, not texts that could be cut")
    options = {"preprocessing": model.preprocessing_, "vocabulary": vocabulary_of(model)}
    corpus = Corpus.from_texts(texts, segments=how, **options)
    documents = corpus.segments.documents  # type: ignore[union-attr]
    first = np.searchsorted(documents, documents)  # of each segment's document
    names = [f"{ids[d]}/{number}" for d, number in zip(documents, np.arange(len(documents)) - first + 1)]
    return names, np.asarray(model.transform_segments(corpus))


def _batches(
    source: str | Path, size: int, text: str, id: str | None, reading: dict[str, Any]
) -> Iterator[tuple[list[str], Any]]:
    if str(source) != "-" and (reading.get("format") or format_of(Path(source))) not in TEXT_FORMATS:
        corpus = read(source, format=reading.get("format"))
        yield list(corpus.ids), corpus
        return
    stream = texts_with_ids(records(source, **reading), text, id, where=str(source))
    while batch := list(islice(stream, size)):
        yield [name for name, _ in batch], [item for _, item in batch]


class _Csv:
    def __init__(self, stack: ExitStack, out: str | Path, names: list[str]) -> None:
        self._rows = csv.writer(_text_file(stack, out), lineterminator="\n")
        self._rows.writerow(["id", *names])

    def write(self, ids: list[str], doc_topic: np.ndarray) -> None:
        for name, row in zip(ids, doc_topic.tolist()):
            self._rows.writerow([name, *(f"{value:.{_DIGITS}g}" for value in row)])


class _Jsonl:
    def __init__(self, stack: ExitStack, out: str | Path, names: list[str]) -> None:
        self._file = _text_file(stack, out)

    def write(self, ids: list[str], doc_topic: np.ndarray) -> None:
        for name, row in zip(ids, doc_topic.tolist()):
            line = {"id": name, "topics": [float(f"{value:.{_DIGITS}g}") for value in row]}
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")


class _Parquet:
    def __init__(self, stack: ExitStack, out: str | Path, names: list[str]) -> None:
        try:
            import pyarrow as pa
            from pyarrow.parquet import ParquetWriter
        except ImportError:
            raise ImportError("writing Parquet needs pyarrow: pip install 'topicfold[parquet]'") from None
        if str(out) == "-":
            raise ValueError("Parquet cannot be written to stdout: name a file")
        self._names = names
        self._schema = pa.schema([("id", pa.string()), *((name, pa.float32()) for name in names)])
        self._writer = stack.enter_context(ParquetWriter(os.fspath(out), self._schema))

    def write(self, ids: list[str], doc_topic: np.ndarray) -> None:
        import pyarrow as pa

        columns = [pa.array(ids), *(pa.array(column, pa.float32()) for column in doc_topic.T)]
        self._writer.write_table(pa.table(columns, schema=self._schema))


def _text_file(stack: ExitStack, out: str | Path) -> Any:
    if str(out) == "-":
        return sys.stdout
    return stack.enter_context(open(out, "w", encoding="utf-8", newline=""))


_WRITERS: dict[str, Any] = {"csv": _Csv, "jsonl": _Jsonl, "parquet": _Parquet}
