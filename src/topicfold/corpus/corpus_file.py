"""Files of corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import ascending
from ..engine.mapped import pieces, release
from ..engine.store import ArrayInPieces, errors_name_file, from_arrays, read_file, to_arrays, write_file
from ..engine.stored import SPARSE_TYPES, Stored, check_stored
from ..errors import InputError
from .columns import Columns
from .corpus import Corpus, Segments
from .data_check import check_notes
from .preprocessing import Preprocessing
from .stored_strings import StoredLabels, StoredStrings

__all__ = ["load_corpus", "save_corpus"]

_METADATA = "metadata:"
_STORED: Mapping[str, Stored] = {
    "counts": Stored(("documents", "words"), "sparse", low=0),
    "vocabulary": Stored(("words",), "strings", optional=True),
    "ids": Stored(("documents",), "strings"),
    "titles": Stored(("documents",), "strings", optional=True),
    "texts": Stored(("documents",), "strings", optional=True),
    "labels": Stored(("labels",), "strings", optional=True),
    "label_counts": Stored(("documents",), "int", low=0, may_be_missing=True),
    "links": Stored(("links", 2), "int", low=0, high="documents", optional=True),
    "timestamps": Stored(("documents",), "int", optional=True),
    "segments": Stored(("segments", "words"), "sparse", low=0, optional=True),
    "segment_documents": Stored(("segments",), "int", low=0, high="documents", may_be_missing=True),
    "preprocessing": Stored(kind="object", optional=True),
}

_MAPPED = ("counts", "vocabulary", "ids", "titles", "texts", "labels", "segments")
_LARGE = 1 << 28  # size in bytes from which the arrays stay in the file by default
_MOST_IN_FLOAT = 1 << 24  # whole numbers up to this are exact in float32
_VALUES = 1 << 21  # values that are checked together


def save_corpus(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus with all its data."""
    values = corpus._values()
    counts, notes = values.pop("counts"), dict(values.pop("notes"))
    if corpus.segments is not None:
        values["segments"] = corpus.segments.counts
        values["segment_documents"] = corpus.segments.documents
    if isinstance(corpus.labels, StoredLabels):
        values["labels"], values["label_counts"] = corpus.labels.flat(), corpus.labels.numbers()
    elif corpus.labels is not None:
        flat = tuple(label for labels in corpus.labels for label in labels)
        values["labels"] = flat
        values["label_counts"] = np.array([len(labels) for labels in corpus.labels], dtype=np.int64)
    if corpus.timestamps is not None:
        values["timestamps"] = corpus.timestamps.astype("datetime64[s]").astype(np.int64)
    for name, column in values.pop("metadata").items():
        values[f"{_METADATA}{name}"] = column.astype(np.int64) if column.dtype.kind == "M" else column
    arrays, plain = to_arrays(values)
    dates = [name for name, column in corpus.metadata.items() if column.dtype.kind == "M"]
    plain["counts"] = {"is": "sparse", "shape": list(counts.shape)}
    # scipy's indices are int64 after some operations, which a mapped file cannot have
    indices = counts.indices.astype(np.int32, copy=False)
    indptr = _narrowed(counts.indptr)
    parts = {**arrays, "counts.indptr": indptr, "counts.indices": indices, "counts.data": _data(counts)}
    write_file(path, parts, {"kind": "corpus", "values": plain, "dates": dates, "notes": notes})


def _narrowed(indptr: np.ndarray) -> np.ndarray:
    """The ends of rows with 32 bits if they fit: scipy would copy the indices, to give them the type of wider ends."""
    return indptr.astype(np.int32, copy=False) if indptr[-1] <= np.iinfo(np.int32).max else indptr


def _data(counts: sp.csr_array) -> np.ndarray | ArrayInPieces:
    """Counts in float32, as models use them, so that they can be mapped; unchanged if too large for float32."""
    most = max((int(piece.max()) for piece in pieces(counts.data)), default=0)
    if most > _MOST_IN_FLOAT:
        return np.asarray(counts.data)
    as_floats = (piece.astype(np.float32) for piece in pieces(counts.data))
    return ArrayInPieces(np.dtype(np.float32), counts.data.shape, as_floats)


def load_corpus(
    path: str | Path,
    *,
    tokenizer: Callable[[str], Iterable[str]] | str | None = None,
    memory_map: bool | None = None,
) -> Corpus:
    """Read a corpus that `save_corpus` wrote; a large one stays in its file."""
    if memory_map is None:
        memory_map = Path(path).is_file() and Path(path).stat().st_size >= _LARGE
    arrays, metadata = read_file(path, kind="corpus", memory_map=memory_map)
    with errors_name_file(path):
        makers: dict[str, Callable[[Any], Any]] = {"preprocessing": Preprocessing.from_json}
        if memory_map:
            makers |= {"strings": _strings, "sparse": _mapped_counts}
        values = from_arrays(arrays, metadata.get("values"), **makers)
        columns = {key.removeprefix(_METADATA): values.pop(key) for key in list(values) if key.startswith(_METADATA)}
        if memory_map:
            _check_mapped(values)
        else:
            check_stored(values, _STORED)
        for part, whole in (("label_counts", "labels"), ("segment_documents", "segments")):
            if (part in values) != (values[whole] is not None):
                raise InputError(f"it has only one of {whole} and {part}")
        for name, column in columns.items():
            if not isinstance(column, np.ndarray) or column.ndim != 1:
                raise InputError(f"its metadata column {name!r:.60} is not an array")
        for name in _date_columns(metadata, columns):
            columns[name] = columns[name].astype("datetime64[s]")
        values["metadata"] = columns
        if values["vocabulary"] is not None:
            values["vocabulary"] = tuple(values["vocabulary"])
        if values["segments"] is not None:
            values["segments"] = Segments(values["segments"], values.pop("segment_documents"))
        if values["labels"] is not None:
            values["labels"] = _labels(values["labels"], values.pop("label_counts"))
        if values["timestamps"] is not None:
            values["timestamps"] = values["timestamps"].astype("datetime64[s]")
        if tokenizer is not None and values["preprocessing"] is not None:
            values["preprocessing"] = values["preprocessing"].with_tokenizer(tokenizer)
        if not memory_map:
            values["counts"] = _in_memory(values["counts"])
        return Corpus(**values, notes=_notes(metadata))


def _notes(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    notes: Any = metadata.get("notes")
    check_notes(notes)
    if "columns" in notes:
        Columns.from_json(notes["columns"])
    return dict(notes)


def _check_mapped(values: Mapping[str, Any]) -> None:
    """As `check_stored`, without reading counts and strings, which were checked when they were opened."""
    for name in _MAPPED:
        value, kind = values.get(name), sp.csr_array if _STORED[name].kind == "sparse" else StoredStrings
        missing = value is None and name in values and _STORED[name].optional
        if not (missing or isinstance(value, kind)):
            raise InputError(f"it has no {name}")
    n_documents, n_words = values["counts"].shape
    sizes = {"documents": n_documents, "words": n_words}
    if values["segments"] is not None:
        sizes["segments"] = values["segments"].shape[0]
        if values["segments"].shape[1] != n_words:
            raise InputError(f"its segments have {values['segments'].shape[1]} words: expected {n_words}")
    check_stored(
        {name: value for name, value in values.items() if name not in _MAPPED},
        {name: stored for name, stored in _STORED.items() if name not in _MAPPED},
        sizes,
    )


def _date_columns(metadata: Mapping[str, Any], columns: Mapping[str, np.ndarray]) -> list[str]:
    """The names of metadata columns that are dates, stored as whole numbers."""
    names = metadata.get("dates")
    for name in names if isinstance(names, list) else [None]:
        if not isinstance(name, str) or name not in columns or columns[name].dtype != np.int64:
            raise InputError(f"its dates are {names!r:.60}: expected names of metadata columns")
    return names or []


def _labels(flat: Any, numbers: np.ndarray) -> Any:
    if sum(numbers.tolist()) != len(flat):  # as Python's numbers, whose sum does not overflow
        raise InputError(f"it has {len(flat)} labels: expected {sum(numbers.tolist())}")
    if isinstance(flat, StoredStrings):
        return StoredLabels(flat, numbers)
    ends = np.cumsum(numbers).tolist()
    return tuple(flat[start:end] for start, end in zip([0, *ends], ends))


def _strings(parts: tuple[np.ndarray, np.ndarray]) -> StoredStrings:
    return StoredStrings(*parts)


def _in_memory(counts: sp.csr_array) -> sp.csr_array:
    if counts.nnz and counts.data.min() < 0:
        raise InputError("it has negative counts")
    if counts.data.dtype.kind == "f":
        whole = counts.data.astype(np.int32)
        if not np.array_equal(whole, counts.data):
            raise InputError("it has counts that are not whole numbers")
        counts = sp.csr_array((whole, counts.indices, counts.indptr), counts.shape)
    return counts


def _mapped_counts(parts: tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]) -> sp.csr_array:
    """Counts that use the arrays of a file, after a check in pieces: later code relies on valid values."""
    data, indices, indptr, shape = parts
    types = indptr.dtype in (np.int32, np.int64) and indices.dtype == np.int32 and data.dtype in SPARSE_TYPES
    rises = indptr.ndim == 1 and len(indptr) == shape[0] + 1 and indptr[0] == 0 and ascending(indptr)
    if not (types and rises) or not data.shape == indices.shape == (int(indptr[-1]),):
        raise InputError("it has a matrix whose arrays do not fit each other")
    indptr = _narrowed(indptr)
    for first in range(0, len(data), _VALUES):
        # with the value before, so that the order is also checked between pieces
        columns, values = indices[max(first - 1, 0) : first + _VALUES], data[first : first + _VALUES]
        if int(columns.min()) < 0 or int(columns.max()) >= shape[1]:
            raise InputError(
                f"it has a matrix with columns {columns.min()} to {columns.max()}: expected 0 to {shape[1] - 1}"
            )
        if not (values.min() > 0 and np.isfinite(values).all() and np.array_equal(values, np.floor(values))):
            raise InputError("it has counts that are not whole numbers above zero")
        falls = np.flatnonzero(np.diff(columns) <= 0) + max(first - 1, 0) + 1
        if not np.array_equal(indptr[np.searchsorted(indptr, falls)], falls):  # only from one row to the next
            raise InputError("it has a matrix whose columns are not in order")
        release(columns)
        release(values)
    counts = sp.csr_array((data, indices, indptr), shape, copy=False)
    counts.has_canonical_format = True
    return counts
