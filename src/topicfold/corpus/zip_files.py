"""Zip archives within limits: texts in a zip file, and what a spreadsheet, which is one, declares."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import FileError, TopicfoldError
from .byte_lines import FREE_EXPANSION, check_encoding, decoded
from .limits import ReadLimits

__all__ = ["check_expansion", "opened_zip", "zip_records"]

# what zipfile raises for a damaged archive
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, RuntimeError, ValueError)
_ENCRYPTED = 1  # a bit of the flags of a member


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip archive; what its damage raises is turned into a FileError."""
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            yield archive
    except TopicfoldError:
        raise
    except _DAMAGE as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the system's: it may not be read, for example
        raise FileError(f"{path} is not a complete zip file: {' '.join(str(error).split())[:200]}") from None
    except MemoryError:
        raise FileError(f"{path} needs more memory than is available") from None


def check_expansion(path: Path, members: Sequence[zipfile.ZipInfo], limits: ReadLimits) -> None:
    """Raise a FileError if members of an archive declare to be much larger than the archive."""
    size = sum(member.file_size for member in members)
    if size > FREE_EXPANSION and size > limits.expansion * path.stat().st_size:
        raise FileError(
            f"{path} is more than {limits.expansion:g} times as large uncompressed; the limit 'expansion' can be raised"
        )


def zip_records(
    path: Path, pattern: str, encoding: str, errors: str, limits: ReadLimits
) -> Iterator[Mapping[str, Any]]:
    """The texts in a zip archive, sorted by name; nothing is written to disk."""
    check_encoding(encoding, errors)
    with opened_zip(path) as archive:
        files = [member for member in archive.infolist() if not member.filename.endswith("/")]
        members = _texts_in(files, pattern)
        if not members:
            contents = f"; it contains {files[0].filename!r:.100}" if files else ""
            raise FileError(f"{path} has no file that matches {pattern!r}{contents}; pattern='*' reads all files")
        check_expansion(path, members, limits)
        for member in members:
            where = f"{path}/{' '.join(member.filename.split())}"
            if member.flag_bits & _ENCRYPTED:
                raise FileError(f"{where} is encrypted: expected a zip file without a password")
            if member.file_size > limits.line:
                raise FileError(f"{where} is longer than {limits.line:,} bytes; the limit 'line' can be raised")
            text = decoded(archive.read(member), where, encoding, errors).removeprefix("\ufeff")
            folder = PurePosixPath(member.filename).parent.name or path.stem
            yield {"id": member.filename, "text": text, "folder": folder}


def _texts_in(files: Sequence[zipfile.ZipInfo], pattern: str) -> list[zipfile.ZipInfo]:
    """The files that match a pattern, sorted by name, without what macOS adds for each file."""
    texts = []
    for member in files:
        path = PurePosixPath(member.filename)
        of_macos = "__MACOSX" in path.parts or path.name.startswith("._")
        if not of_macos and PurePosixPath(path.name).match(pattern):
            texts.append(member)
    return sorted(texts, key=lambda member: member.filename)
