"""Files of models, corpora and checkpoints: arrays and JSON in one .safetensors file. Loading executes no code.

A file is written completely or not at all: it is written next to its place and then moved there, so an interrupted or
failed write keeps the previous file. Every array and the JSON have a checksum (CRC-32), which is verified on reading:
it detects damage, not malice.
"""

from __future__ import annotations

import glob
import json
import math
import os
import platform
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from ..errors import FileError, InputError
from .arrays import checked_sparse
from .checks import is_whole
from .machine import is_running, lock_file, machine_memory
from .mapped import mapped_array, mapped_file, pieces

__all__ = [
    "ArrayInPieces",
    "array_checksum",
    "atomic_write",
    "check_writable",
    "errors_name_file",
    "from_arrays",
    "kind_of_file",
    "read_file",
    "remove_left_over",
    "to_arrays",
    "write_file",
    "written_by_one",
]

SCHEMA = 1  # increased when older versions of topicfold can no longer read the file
_SPARSE_PARTS = ("data", "indices", "indptr")
_HEADER, _HEADER_CHECKSUM = "topicfold", "topicfold-checksum"
_MOST_CHECKSUM = 0xFFFFFFFF
_KINDS = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")
_NAMES = ("F64", "F32", "F16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL")
_TYPES = {np.dtype(f"<{kind}"): name for kind, name in zip(_KINDS, _NAMES)}  # names of safetensors


@dataclass(frozen=True)
class ArrayInPieces:
    """An array that is too large for memory: it is written in pieces, in C order."""

    dtype: np.dtype
    shape: tuple[int, ...]
    pieces: Iterable[np.ndarray]


def write_file(path: str | Path, arrays: Mapping[str, np.ndarray | ArrayInPieces], metadata: Mapping[str, Any]) -> None:
    """Write arrays, and metadata that can be converted to JSON, to one file, completely or not at all."""
    made_by = {"schema": SCHEMA, "version": version("topicfold"), "libraries": _library_versions()}
    plain = {
        key: value if isinstance(value, ArrayInPieces) else ArrayInPieces(value.dtype, value.shape, pieces(value))
        for key, value in arrays.items()
    }
    unknown = [array.dtype for array in plain.values() if array.dtype.newbyteorder("<") not in _TYPES]
    if unknown:
        raise InputError(f"an array of type {unknown[0]} cannot be written to a file")
    with atomic_write(path) as temporary:
        try:
            _write_arrays(temporary, plain, {**made_by, **metadata})
        except OSError as error:  # a full disk, among others
            raise FileError(f"could not write {path}: {error}") from error


def _write_arrays(path: Path, arrays: Mapping[str, ArrayInPieces], metadata: Mapping[str, Any]) -> None:
    """The format of safetensors: the length of a header, the header in JSON, then the bytes of the arrays.

    The header contains checksums, which are known only at the end: space is reserved for it, and it is written last.
    """
    # the widest values first, so that each array starts at a multiple of its item size
    order = sorted(arrays, key=lambda key: (-arrays[key].dtype.itemsize, key))
    ends = np.cumsum([0, *(_bytes_of(arrays[key]) for key in order)]).tolist()
    entries = {
        key: {"dtype": _TYPES[arrays[key].dtype.newbyteorder("<")], "shape": arrays[key].shape, "data_offsets": place}
        for key, place in zip(order, pairwise(ends))
    }

    def header(checksums: Mapping[str, int]) -> bytes:
        text = json.dumps({"checksums": checksums, **metadata})
        about = {_HEADER: text, _HEADER_CHECKSUM: str(zlib.crc32(text.encode())).rjust(10)}
        return json.dumps({"__metadata__": about, **entries}).encode()

    room = -(-len(header(dict.fromkeys(order, _MOST_CHECKSUM))) // 8) * 8
    with open(path, "wb") as file:
        file.write(room.to_bytes(8, "little") + b" " * room)
        checksums = {key: _write_array(file, key, arrays[key]) for key in order}
        file.seek(8)
        file.write(header(checksums).ljust(room))


def _bytes_of(array: ArrayInPieces) -> int:
    return math.prod(array.shape) * array.dtype.itemsize


def _write_array(file: BinaryIO, key: str, array: ArrayInPieces) -> int:
    """Write an array and return its checksum."""
    little = array.dtype.newbyteorder("<")
    checksum, n_bytes = _checksum_of_kind(little, array.shape), 0
    for piece in array.pieces:
        raw = np.ascontiguousarray(piece, dtype=little).reshape(-1).view(np.uint8).data
        checksum = zlib.crc32(raw, checksum)
        n_bytes += file.write(raw)
    if n_bytes != _bytes_of(array):
        raise InputError(f"{key!r} has {n_bytes:,} bytes: expected {_bytes_of(array):,}")
    return checksum


def check_writable(path: str | Path) -> None:
    """Raise an error if a file cannot be written: no folder, no permission, or something else at its path.

    A FIFO, a device or a socket is refused too: a file would replace it for all programs that use it.
    """
    place = Path(os.path.realpath(path))
    if not place.parent.is_dir():
        raise FileError(f"{path}: the folder {Path(path).parent} does not exist: create it, or write somewhere else")
    if place.exists() and not place.is_file():
        kind = "a folder" if place.is_dir() else "not a regular file"
        raise FileError(f"{path} is {kind}: name a file to write")
    try:
        os.rmdir(_temporary_folder(place))  # of some file systems, permissions do not tell
    except OSError:
        raise FileError(f"{path}: the folder {Path(path).parent} is not writable") from None


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """A temporary file to write to, moved to `path` when the block succeeds and removed when it fails."""
    check_writable(path)
    path = Path(os.path.realpath(path))  # the target of a link is replaced, not the link
    remove_left_over(path)
    # in its own folder: some libraries, such as safetensors, create further temporary files next to it
    folder = _temporary_folder(path)
    temporary = folder / path.name
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        _replace(temporary, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _temporary_folder(path: Path) -> Path:
    """A new folder beside a file, of a name by which `remove_left_over` knows it."""
    return Path(tempfile.mkdtemp(prefix=f".{path.name}.{os.getpid()}.", suffix=".tmp", dir=path.parent))


def _replace(temporary: Path, path: Path) -> None:
    try:
        os.replace(temporary, path)
    except PermissionError as error:  # Windows cannot replace a file that is open or mapped, in any process
        raise FileError(f"{path} cannot be replaced while it is in use: write to another file") from error


def remove_left_over(path: Path) -> None:
    """Remove the files that a killed save to the same name has left, unless a process is still writing them."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        writer = leftover.name.removeprefix(f".{path.name}.").split(".")[0]
        if not (writer.isdecimal() and is_running(int(writer))):
            shutil.rmtree(leftover, ignore_errors=True)


@contextmanager
def written_by_one(path: str | Path) -> Iterator[None]:
    """Prevent other processes from writing to the same name at the same time, for files that take long to create.

    The system releases the lock when the process ends, however it ends.
    """
    check_writable(path)
    place = Path(os.path.realpath(path))
    lock = place.with_name(f".{place.name}.lock")
    while True:
        with open(lock, "ab") as file:
            if not lock_file(file):
                raise FileError(f"{path} is being written by another process: wait for it, or write to another file")
            # the process that had the lock before may have removed the file: then another one may lock a new file
            if not (lock.exists() and os.path.samestat(os.fstat(file.fileno()), lock.stat())):
                continue
            try:
                yield
            finally:
                _remove_locked(lock)
            return


def _remove_locked(lock: Path) -> None:
    try:
        lock.unlink(missing_ok=True)
    except PermissionError:  # Windows does not remove an open file; an unlocked file that is left does no harm
        return


def kind_of_file(path: str | Path) -> str:
    """The kind of a topicfold file: 'model', 'corpus', 'tree' or 'checkpoint'."""
    return str(_read(path, None)[1]["kind"])


def read_file(path: str | Path, *, kind: str, memory_map: bool = False) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read a file that `write_file` wrote; anything else raises a clear error.

    With `memory_map`, the arrays stay in the file, which must not change as long as they are used.
    """
    return _read(path, kind, memory_map)


def _read(path: str | Path, kind: str | None, memory_map: bool = False) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and metadata of a file; without a `kind`, only the metadata."""
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if not path.exists():
        raise FileError(f"no such file: {path}")
    if path.is_dir():
        raise FileError(f"{path} is a folder: expected a .safetensors file")
    if not path.is_file():  # reading a FIFO might block forever
        raise FileError(f"{path} is not a regular file: expected a .safetensors file")
    try:
        with safe_open(path, framework="np") as file:
            metadata = _metadata(path, file.metadata() or {})
            if kind is None:
                return {}, metadata
            if metadata["kind"] != kind:
                raise FileError(f"{path} contains a {metadata['kind']}: expected a {kind}")
            for key in file.keys():  # noqa: SIM118
                if file.get_slice(key).get_dtype() not in _NAMES:
                    raise FileError(f"{path} is damaged or not a topicfold file: {key!r:.60} has an unknown type")
            if memory_map:
                arrays = _mapped_arrays(path)
            else:
                _check_memory(path)
                arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise FileError(f"{path} is damaged or not a topicfold file: {error}") from None
    _verify(path, arrays, metadata["checksums"])
    return arrays, metadata


def _check_memory(path: Path) -> None:
    """Raise an error if a file is larger than the memory; a file of holes takes no space on the disk."""
    size, memory = path.stat().st_size, machine_memory()
    if size > memory:
        raise FileError(f"{path} has {size / 1e9:,.0f} GB: this machine has a memory of {memory / 1e9:,.0f} GB")


def _metadata(path: Path, about: Mapping[str, str]) -> dict[str, Any]:
    """The JSON of a file, whose checksum, schema and kind have been checked."""
    header = about.get(_HEADER)
    if header is None:
        raise FileError(f"{path} is a safetensors file, but not a topicfold file")
    if about.get(_HEADER_CHECKSUM, "").strip() != str(zlib.crc32(header.encode())):
        raise FileError(f"{path} is damaged: its header does not match its checksum")
    try:
        metadata = json.loads(header)
    except (ValueError, RecursionError) as error:  # not JSON, a number with thousands of digits, or too deep
        raise FileError(f"{path} is damaged or not a topicfold file: {error}") from None
    expected = {"schema": int, "version": str, "kind": str, "checksums": dict}
    for name, kind in expected.items():
        if not isinstance(metadata, dict) or not isinstance(metadata.get(name), kind):
            raise FileError(f"{path} is damaged or not a topicfold file: its header has no {name}")
    if metadata["schema"] > SCHEMA:
        raise FileError(
            f"{path} was written by topicfold {metadata['version']} (schema {metadata['schema']}), newer than "
            f"this one (schema {SCHEMA}): upgrade topicfold to read it"
        )
    return metadata


def _mapped_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file, mapped; safetensors has checked that the file is complete."""
    with open(path, "rb") as file:
        room = int.from_bytes(file.read(8), "little")
        entries = json.loads(file.read(room))
    opened = mapped_file(path)
    types = {name: dtype for dtype, name in _TYPES.items()}
    arrays = {}
    for key, entry in entries.items():
        if key == "__metadata__":
            continue
        dtype, start = types[entry["dtype"]], 8 + room + entry["data_offsets"][0]
        if start % dtype.itemsize:  # compiled code of other libraries may rely on it
            raise FileError(
                f"{path} is damaged or not a topicfold file: {key!r:.60} is at byte {start}, between values"
            )
        arrays[key] = mapped_array(opened, dtype, tuple(entry["shape"]), start)
    return arrays


def _checksum_of_kind(dtype: np.dtype, shape: tuple[int, ...]) -> int:
    return zlib.crc32(f"{dtype.str} {tuple(shape)}".encode())


def array_checksum(array: np.ndarray) -> int:
    """CRC-32 of an array: its type, its shape and its bytes."""
    checksum = _checksum_of_kind(array.dtype, array.shape)
    for piece in pieces(array):
        checksum = zlib.crc32(piece.view(np.uint8).data, checksum)
    return checksum


def _verify(path: Path, arrays: Mapping[str, np.ndarray], checksums: Mapping[str, int]) -> None:
    for name in sorted({*arrays, *checksums}):
        if name not in arrays or name not in checksums or array_checksum(arrays[name]) != checksums[name]:
            raise FileError(f"{path} is damaged: {name!r:.60} does not match its checksum")


@contextmanager
def errors_name_file(path: str | Path) -> Iterator[None]:
    """Turn an InputError about the contents of a file into a FileError that names it; any other error is a bug."""
    try:
        yield
    except InputError as error:
        raise FileError(f"{path} is damaged or not a topicfold file: {error}") from None


@cache
def _library_versions() -> dict[str, str]:
    """The versions of libraries: results have the same bits only with the same versions."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
    return {"python": platform.python_version(), **libraries}


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def to_arrays(values: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Split named values into arrays and JSON; many strings are stored as one array of bytes and their ends."""
    arrays: dict[str, np.ndarray] = {}
    plain: dict[str, Any] = {}
    for key, value in values.items():
        if sp.issparse(value):
            matrix = sp.csr_array(value)
            arrays.update({f"{key}.{part}": getattr(matrix, part) for part in _SPARSE_PARTS})
            # of more than 2^31 values, scipy's indices are int64, though no column is: files have them in int32
            arrays[f"{key}.indices"] = matrix.indices.astype(np.int32, copy=False)
            plain[key] = {"is": "sparse", "shape": list(matrix.shape)}
        elif hasattr(value, "raw") and hasattr(value, "ends"):  # strings that are already stored
            arrays[f"{key}.bytes"], arrays[f"{key}.ends"] = value.raw, value.ends
            plain[key] = {"is": "strings"}
        elif _is_strings(value):
            encoded = [text.encode("utf-8", "surrogatepass") for text in value]
            arrays[f"{key}.bytes"] = np.frombuffer(b"".join(encoded), np.uint8)
            arrays[f"{key}.ends"] = np.cumsum([len(text) for text in encoded], dtype=np.int64)
            plain[key] = {"is": "array of strings" if isinstance(value, np.ndarray) else "strings"}
        elif isinstance(value, np.ndarray):
            arrays[key] = value
            plain[key] = {"is": "array"}
        elif hasattr(value, "to_json"):  # an object with its own JSON form, by the name of its class
            plain[key] = {"is": type(value).__name__.lower(), "value": value.to_json()}
        elif isinstance(value, np.generic):
            plain[key] = {"is": "value", "value": value.item()}
        elif isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
            plain[key] = {"is": "value", "value": np.dtype(value).name}
        elif isinstance(value, Mapping):  # as pairs, because JSON would turn numeric keys into strings
            plain[key] = {"is": "mapping", "value": [[_plain(k), _plain(v)] for k, v in value.items()]}
        elif hasattr(value, "__array__"):
            arrays[key] = np.asarray(value)
            plain[key] = {"is": "array"}
        else:
            plain[key] = {"is": "value", "value": _plain(value)}
    try:
        json.dumps(plain)
    except TypeError as error:
        raise InputError(f"cannot be written to a file: {error}") from None
    return arrays, plain


def _plain(value: Any) -> Any:
    """The value as plain Python lists, strings and numbers."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def from_arrays(arrays: Mapping[str, np.ndarray], plain: Any, **makers: Callable[[Any], Any]) -> dict[str, Any]:
    """The values that `to_arrays` split; `makers` turn the JSON of objects back into objects, by class name.

    Makers named `sparse` and `strings` get the arrays of such a value, and what else is known about it. The JSON comes
    from a file: if it is not as `to_arrays` makes it, an InputError says what is wrong.
    """

    unused = set(arrays)

    def array(name: str) -> np.ndarray:
        if name not in arrays:
            raise InputError(f"it has no array {name!r:.60}")
        unused.discard(name)
        return arrays[name]

    make: dict[str, Callable[[Any], Any]] = {"sparse": _sparse, "strings": _strings, "mapping": _mapping, **makers}

    def value_of(key: str, entry: Any) -> Any:
        kind = entry.get("is") if isinstance(entry, Mapping) else None
        if kind == "array":
            return array(key)
        if kind == "sparse":
            return make["sparse"]((*(array(f"{key}.{part}") for part in _SPARSE_PARTS), _shape(entry)))
        if kind in ("strings", "array of strings"):
            raw, ends = array(f"{key}.bytes"), array(f"{key}.ends")
            if raw.dtype != np.uint8 or raw.ndim != 1 or ends.dtype != np.int64 or ends.ndim != 1:
                raise InputError(f"the strings of {key!r:.60} are not bytes and their ends")
            return make["strings"]((raw, ends)) if kind == "strings" else np.array(_strings((raw, ends)), dtype=object)
        if isinstance(kind, str) and "value" in entry and (kind in make or kind == "value"):
            return entry["value"] if kind == "value" else make[kind](entry["value"])
        raise InputError(f"its {key!r:.60} is {entry!r:.60}, which is unknown")

    if not isinstance(plain, Mapping):
        raise InputError("it has no values")
    values = {key: value_of(key, entry) for key, entry in plain.items()}
    if unused:
        raise InputError(f"it contains the array {min(unused)!r:.60}, which is unknown")
    return values


def _shape(entry: Mapping[str, Any]) -> tuple[int, int]:
    shape = entry.get("shape")
    if not (isinstance(shape, list) and len(shape) == 2 and all(is_whole(n) and 0 <= n < 2**63 for n in shape)):
        raise InputError(f"a sparse matrix of shape {shape!r:.60}: expected two whole numbers")
    return shape[0], shape[1]


def _sparse(parts: tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]) -> sp.csr_array:
    data, indices, indptr, shape = parts
    if not {indices.dtype, indptr.dtype} <= {np.dtype(np.int32), np.dtype(np.int64)}:
        raise InputError(f"a sparse matrix with indices of types {indices.dtype} and {indptr.dtype}: expected int32")
    try:
        return checked_sparse(sp.csr_array((data, indices, indptr), shape))
    except ValueError as error:  # scipy raises it if arrays do not fit each other
        raise InputError(str(error)) from None


def _strings(parts: tuple[np.ndarray, np.ndarray]) -> tuple[str, ...]:
    raw, ends = parts[0].tobytes(), parts[1].tolist()
    if [0, *ends] != sorted([0, *ends]) or (ends[-1] if ends else 0) != len(raw):
        raise InputError("it has strings that do not fit their bytes")
    try:
        return tuple(raw[start:end].decode("utf-8", "surrogatepass") for start, end in zip([0, *ends], ends))
    except UnicodeDecodeError as error:
        raise InputError(f"it has strings that are not UTF-8: {error}") from None


def _mapping(pairs: Any) -> dict[Any, Any]:
    for pair in pairs if isinstance(pairs, list) else [pairs]:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str | int | float | None)):
            raise InputError(f"an entry of a mapping is invalid: {pair!r:.60}")
    return dict(pairs)


def _is_strings(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "OU"
    return isinstance(value, tuple) and all(isinstance(item, str) for item in value)
