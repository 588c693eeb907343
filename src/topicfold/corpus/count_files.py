"""Files of counts: Matrix Market, scipy's .npz, SVMlight, LDA-C and UCI bag of words."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import checked_sparse
from ..engine.npy_file import read_npy_header
from ..errors import FileError, InputError, TopicfoldError
from .byte_lines import Source, check_regular, file_lines, opened, reading
from .limits import ReadLimits

__all__ = ["read_counts", "read_npz"]

_BANNER = b"%%MatrixMarket"
_MTX_FIELDS = (b"integer", b"real", b"double", b"pattern")


def read_counts(path: Path, format: str, limits: ReadLimits) -> tuple[sp.csr_array, list[str] | None]:
    """The counts in a file, and its labels if the format has any."""
    check_regular(path)
    with reading(path):
        counts, labels = _READERS[format](path, limits)
        n_rows, n_columns = counts.shape
        _check_size(path, n_rows, n_columns, limits)
        return sp.csr_array(checked_sparse(counts)), labels


def _check_size(path: Path, n_rows: int, n_columns: int, limits: ReadLimits) -> None:
    if max(n_rows, n_columns) > limits.size:
        raise FileError(
            f"{path} has a matrix of {n_rows:,} x {n_columns:,}: expected at most {limits.size:,} rows and columns; "
            "the limit 'size' can be raised"
        )


def _check_memory(path: Path, n_bytes: int, limits: ReadLimits) -> None:
    if n_bytes > limits.most_memory():
        needed = min(n_bytes, 10**18)  # a header may declare any number
        raise FileError(
            f"{path} needs {needed / 1e9:,.1f} GB of memory: more than {limits.most_memory() / 1e9:,.1f} GB; the limit "
            "'memory' can be raised"
        )


def _parsed(path: Path, name: str, parse: Callable[[], Any]) -> Any:
    """Call the parser of a library, and turn any error it raises into a FileError that names the file."""
    try:
        return parse()
    except (OSError, MemoryError, TopicfoldError):
        raise
    except Exception as error:  # what numpy, scipy, zipfile and scikit-learn raise for a damaged file is not documented
        raise FileError(f"{path} is not a {name} file: {' '.join(str(error).split())[:200]}") from error


def _read_mtx(path: Path, limits: ReadLimits) -> tuple[sp.coo_array, None]:
    """Matrix Market, parsed here: some damaged files crash the reader of scipy."""
    with opened(path, limits) as (source, _):
        text = _whole(path, source, limits)
    banner, *_ = text.split(b"\n", 1)
    words = banner.lower().split()
    if not banner.startswith(_BANNER) or len(words) != 5:
        raise FileError(f"{path} is not a Matrix Market file: it does not begin with {_BANNER.decode()}")
    _, _, form, field, symmetry = words
    supported = (form in (b"coordinate", b"array"), field in _MTX_FIELDS, symmetry in (b"general", b"symmetric"))
    if not all(supported):
        kind = b" ".join(words[2:]).decode("ascii", "replace")
        raise FileError(f"{path} is a Matrix Market file of type {kind!r}: expected integer or real numbers")
    size_line = re.search(rb"^[ \t]*([0-9][0-9 \t]*)\r?$", text, re.MULTILINE)  # the first line that is not a comment
    sizes = [] if size_line is None else [int(size) for size in size_line[1].split()]
    if size_line is None or len(sizes) != (3 if form == b"coordinate" else 2):
        raise FileError(f"{path} is not a Matrix Market file: it does not give its size")
    _check_size(path, sizes[0], sizes[1], limits)
    _check_memory(path, 24 * (sizes[2] if form == b"coordinate" else sizes[0] * sizes[1]), limits)
    body = text[size_line.end() :]
    numbers = _parsed(path, "Matrix Market", lambda: np.loadtxt(io.BytesIO(body), comments="%", ndmin=2))
    if form == b"array":
        numbers = numbers.ravel()[:, None] if body.strip() else np.zeros((0, 1))
        order = np.arange(sizes[0] * sizes[1])
        places = np.stack([order % sizes[0], order // sizes[0]], axis=1) + 1 if symmetry == b"general" else None
        if places is None or len(numbers) != len(places):
            raise FileError(f"{path} is not a Matrix Market file: it has {len(numbers)} numbers")
        numbers = np.hstack([places, numbers])
    elif not body.strip():
        numbers = np.zeros((0, 2 + (field != b"pattern")))
    return _coordinates(path, numbers, sizes, field, symmetry), None


def _coordinates(path: Path, numbers: np.ndarray, sizes: list[int], field: bytes, symmetry: bytes) -> sp.coo_array:
    """Rows of (row, column, value), counted from one, as a matrix."""
    n_values = sizes[2] if len(sizes) == 3 else len(numbers)
    if numbers.shape != (n_values, 2 if field == b"pattern" else 3):
        raise FileError(f"{path} is not a Matrix Market file: it declares {n_values} values and has {len(numbers)}")
    places = numbers[:, :2]
    if n_values and not ((places >= 1) & (places <= sizes[:2]) & (places == np.floor(places))).all():
        raise FileError(f"{path} is not a Matrix Market file: an entry is outside {sizes[0]} x {sizes[1]}")
    values = np.ones(n_values) if field == b"pattern" else numbers[:, 2]
    if field == b"integer" and not (values == np.floor(values)).all():
        raise FileError(f"{path} declares integers but has a number with a decimal point")
    rows, columns = places[:, 0].astype(np.int64) - 1, places[:, 1].astype(np.int64) - 1
    if symmetry == b"symmetric":
        off = rows != columns
        rows, columns = np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]])
        values = np.concatenate([values, values[off]])
    return sp.coo_array((values, (rows, columns)), (sizes[0], sizes[1]))


def read_npz(path: Path, limits: ReadLimits) -> Any:
    """A sparse matrix that scipy saved."""

    def load() -> Any:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            unpacked, packed = sum(entry.file_size for entry in entries), sum(entry.compress_size for entry in entries)
            _check_memory(path, unpacked, limits)
            if unpacked > 1 << 26 and unpacked > limits.expansion * max(packed, 1):
                raise FileError(
                    f"{path} is more than {limits.expansion:g} times as large uncompressed; the limit 'expansion' can "
                    "be raised"
                )
            for entry in entries:  # numpy asks for as much memory as a header declares
                with archive.open(entry) as file:
                    if read_npy_header(file, entry.file_size) is None:
                        raise FileError(f"{path} is not a scipy sparse .npz file: {entry.filename} holds no array")
        return sp.load_npz(path)

    return _parsed(path, "scipy sparse .npz", load)


def _read_npz(path: Path, limits: ReadLimits) -> tuple[Any, None]:
    return read_npz(path, limits), None


def _read_svmlight(path: Path, limits: ReadLimits) -> tuple[Any, list[str]]:
    from sklearn.datasets import load_svmlight_file

    with opened(path, limits) as (source, _):
        text = _whole(path, source, limits)
    X, y = _parsed(path, "SVMlight", lambda: load_svmlight_file(io.BytesIO(text)))
    return X, [f"{label:g}" for label in y]


def _whole(path: Path, source: Source, limits: ReadLimits) -> bytes:
    blocks, length = [], 0
    while block := source.read(1 << 20):
        blocks.append(block)
        length += len(block)
        _check_memory(path, length, limits)
    return b"".join(blocks)


def _read_ldac(path: Path, limits: ReadLimits) -> tuple[sp.csr_array, None]:
    """Blei's LDA-C: one line per document, 'number_of_terms term:count term:count ...'."""
    indptr, indices, data = [0], [], []
    for number, line in enumerate(file_lines(path, "ascii", "strict", limits), 1):
        cells = line.split()
        try:
            pairs = [tuple(map(int, cell.split(":"))) for cell in cells[1:]]
            if cells and int(cells[0]) != len(pairs):
                raise InputError(f"it declares {cells[0]} terms and has {len(pairs)}")
            if any(not 0 <= term < limits.size for term, _ in pairs):
                raise InputError(f"a term is not a number from 0 to {limits.size:,}")
            if any(not 0 <= count < 2**31 for _, count in pairs):
                raise InputError("a count is not a number from 0 to 2**31")
            indices += [term for term, _ in pairs]
            data += [count for _, count in pairs]
        except ValueError as error:
            raise FileError(f"{path}, line {number} is not LDA-C ('N term:count ...'): {error}") from None
        indptr.append(len(indices))
    width = max(indices, default=-1) + 1
    return sp.csr_array((data, indices, indptr), (len(indptr) - 1, width)), None


def _read_uci(path: Path, limits: ReadLimits) -> tuple[sp.csr_array, None]:
    """UCI bag of words: three lines with D, W and NNZ, then lines 'document word count', counted from one."""
    with opened(path, limits) as (source, _):
        *sizes, body = (_whole(path, source, limits) + b"\n\n\n").split(b"\n", 3)
    try:
        n_documents, n_words, n_values = (int(size) for size in sizes)
        _check_size(path, n_documents, n_words, limits)
        triples = np.loadtxt(io.BytesIO(body), dtype=np.int64, ndmin=2) if body.strip() else np.zeros((0, 3), int)
        if triples.shape != (n_values, 3):
            raise InputError(f"it declares {n_values} lines of three numbers and has {triples.shape[0]}")
        if n_values and not (
            triples[:, :2].min() >= 1 and triples[:, 0].max() <= n_documents and triples[:, 1].max() <= n_words
        ):
            raise InputError(f"a document or word number is outside 1..{n_documents} or 1..{n_words}")
    except ValueError as error:
        raise FileError(f"{path} is not a UCI bag of words file: {error}") from None
    rows, columns, values = triples[:, 0] - 1, triples[:, 1] - 1, triples[:, 2]
    return sp.csr_array((values, (rows, columns)), (n_documents, n_words)), None


_READERS: dict[str, Callable[[Path, ReadLimits], tuple[Any, Any]]] = {
    "mtx": _read_mtx,
    "npz": _read_npz,
    "svmlight": _read_svmlight,
    "ldac": _read_ldac,
    "uci": _read_uci,
}
