"""Bytes of a file to lines of text: compressed or not, in any encoding, within limits."""

from __future__ import annotations

import codecs
import gzip
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from ..engine.progress import progress
from ..errors import FileError, InputError
from .limits import ReadLimits

__all__ = [
    "FREE_EXPANSION",
    "check_encoding",
    "check_regular",
    "decoded",
    "file_blocks",
    "file_lines",
    "opened",
    "reading",
    "text_lines",
]

_BLOCK = 1 << 20
FREE_EXPANSION = 1 << 26  # uncompressed size in bytes up to which the limit on expansion does not apply


class Source(Protocol):
    """An object with a `read` method."""

    def read(self, size: int = -1, /) -> bytes: ...


def check_regular(path: Path, *, streaming: bool = False) -> None:
    """Raise a FileError if a path is neither a file nor a folder: opening it might block forever.

    `streaming` allows a FIFO, which is read once from beginning to end.
    """
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or (streaming and stat.S_ISFIFO(mode)):
        return
    kind = "a FIFO" if stat.S_ISFIFO(mode) else "a device or socket"
    hint = ": set the format, or read it from standard input, '-'" if stat.S_ISFIFO(mode) else ": expected a file"
    raise FileError(f"{path} is {kind}{hint}")


@contextmanager
def reading(name: str | Path) -> Iterator[None]:
    """Turn the errors that a damaged file causes into a FileError that names the file."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FileError(f"{name} is not a complete gzip file: {error}") from None
    except UnicodeDecodeError as error:
        raise FileError(f"{name} is not {error.encoding}: {error.reason} at byte {error.start + 1}") from None
    except MemoryError:
        raise FileError(f"{name} needs more memory than is available") from None


class _Unpacked:
    """A gzip file whose uncompressed size is limited."""

    def __init__(self, packed: BinaryIO, name: str, limits: ReadLimits) -> None:
        self.packed, self.name, self.limits = packed, name, limits
        self.file, self.total = gzip.GzipFile(fileobj=packed), 0

    def read(self, size: int = -1, /) -> bytes:
        if size >= 0:
            return self._block(size)
        blocks = []
        while block := self._block(_BLOCK):
            blocks.append(block)
        return b"".join(blocks)

    def _block(self, size: int) -> bytes:
        block = self.file.read(size)
        self.total += len(block)
        if self.total > FREE_EXPANSION and self.total > self.limits.expansion * max(self.packed.tell(), 1):
            raise FileError(
                f"{self.name} is more than {self.limits.expansion:g} times as large uncompressed; the limit "
                "'expansion' can be raised"
            )
        return block


@contextmanager
def opened(path: Path, limits: ReadLimits, *, streaming: bool = False) -> Iterator[tuple[Source, BinaryIO]]:
    """A file to read from, decompressed if needed, and the file on disk."""
    check_regular(path, streaming=streaming)
    with reading(path), open(path, "rb") as file:
        packed = path.suffix.lower() == ".gz"
        yield (_Unpacked(file, str(path), limits) if packed else file), file


def file_lines(
    path: Path,
    encoding: str,
    errors: str,
    limits: ReadLimits,
    verbose: bool | None = False,
    *,
    streaming: bool = False,
) -> Iterator[str]:
    """The lines of a file, including their line ends."""
    bar = progress(f"Reading {path.name}", path.stat().st_size, unit="MB", verbose=verbose)
    with opened(path, limits, streaming=streaming) as (source, file), bar as move:
        for number, line in enumerate(text_lines(source, str(path), encoding, errors, limits)):
            if number % 256 == 0 and not streaming:
                move(file.tell())
            yield line


def file_blocks(
    path: Path,
    encoding: str,
    errors: str,
    limits: ReadLimits,
    verbose: bool | None = False,
    *,
    streaming: bool = False,
) -> Iterator[str]:
    """The text of a file in blocks, without the byte order mark at the beginning; for text that is not in lines."""
    check_encoding(encoding, errors)
    decoder: Any = codecs.getincrementaldecoder(encoding)(errors)
    bar = progress(f"Reading {path.name}", path.stat().st_size, unit="MB", verbose=verbose)
    with opened(path, limits, streaming=streaming) as (source, file), bar as move:
        begun, n_bytes, done = False, 0, False
        while not done:
            raw = source.read(_BLOCK)
            n_bytes, done = n_bytes + len(raw), not raw
            try:
                text = decoder.decode(raw, final=done)
            except UnicodeDecodeError as error:
                position = n_bytes - len(error.object) + error.start + 1
                raise _not_encoded(str(path), encoding, error, position) from None
            if not streaming:
                move(file.tell())
            yield text if begun else text.removeprefix("\ufeff")
            begun = begun or bool(text)


def text_lines(source: Source, name: str, encoding: str, errors: str, limits: ReadLimits) -> Iterator[str]:
    """The decoded lines of a source, without the byte order mark at the beginning."""
    check_encoding(encoding, errors)
    if len("\n".encode(encoding)) > 1:  # UTF-16 and UTF-32 cannot be split into lines before they are decoded
        yield from _wide_lines(source, name, encoding, errors, limits)
        return
    for number, raw in enumerate(_raw_lines(source, name, limits), 1):
        line = decoded(raw, f"{name}, line {number}", encoding, errors)
        yield line.removeprefix("\ufeff") if number == 1 else line


def _raw_lines(source: Source, name: str, limits: ReadLimits) -> Iterator[bytes]:
    begun: list[bytes] = []  # parts of a line whose end has not been read yet
    length, number = 0, 0
    while block := source.read(_BLOCK):
        first, *more = block.split(b"\n")
        begun.append(first)
        length += len(first)
        _check_length(length, name, number + 1, limits)
        if more:
            *whole, last = more
            yield b"".join(begun) + b"\n"
            for line in whole:
                yield line + b"\n"
            begun, length, number = [last], len(last), number + len(more)
    last_line = b"".join(begun)
    if last_line:
        yield last_line


def _wide_lines(source: Source, name: str, encoding: str, errors: str, limits: ReadLimits) -> Iterator[str]:
    decoder: Any = codecs.getincrementaldecoder(encoding)(errors)
    begun, number, done = "", 0, False
    while not done:
        block = source.read(_BLOCK)
        done = not block
        try:
            begun += decoder.decode(block, final=done)
        except UnicodeDecodeError as error:
            raise FileError(f"{name} is not {encoding} after line {number}: {error.reason}") from None
        *whole, begun = begun.split("\n")
        for line in whole:
            yield (line.removeprefix("\ufeff") if number == 0 else line) + "\n"
            number += 1
        _check_length(len(begun), name, number + 1, limits)
    if begun:
        yield begun.removeprefix("\ufeff") if number == 0 else begun


def _check_length(length: int, name: str, number: int, limits: ReadLimits) -> None:
    if length > limits.line:
        raise FileError(f"{name}, line {number} is longer than {limits.line:,} bytes; the limit 'line' can be raised")


def check_encoding(encoding: str, errors: str) -> None:
    """Raise an InputError if Python does not know an encoding of texts, or how to treat errors."""
    try:
        is_text_encoding = codecs.lookup(encoding)._is_text_encoding
    except (LookupError, TypeError, ValueError):
        is_text_encoding = False
    if not is_text_encoding:
        raise InputError(f"encoding={encoding!r} is not a text encoding")
    try:
        codecs.lookup_error(errors)
    except (LookupError, TypeError, ValueError):
        raise InputError(f"errors={errors!r}: expected 'strict', 'replace' or 'ignore'") from None


def decoded(raw: bytes, where: str, encoding: str, errors: str) -> str:
    """Bytes as text, or an error that says where they are invalid in the encoding."""
    try:
        return raw.decode(encoding, errors)
    except UnicodeDecodeError as error:
        raise _not_encoded(where, encoding, error, error.start + 1) from None


def _not_encoded(where: str, encoding: str, error: UnicodeDecodeError, position: int) -> FileError:
    return FileError(
        f"{where} is not {encoding}: byte 0x{error.object[error.start]:02x} at position {position}; "
        "set the encoding, or replace such bytes with errors='replace' (--replace-errors)"
    )
