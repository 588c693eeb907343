"""Small files of text or JSON that a user names: regular files in UTF-8, read whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import FileError

__all__ = ["read_json", "read_text"]

_MOST = 1 << 28  # bytes


def read_text(path: str | Path, expected: str) -> str:
    """The text of a file, without a byte order mark, or a FileError that says what was expected."""
    path = Path(path)
    if not path.exists():
        raise FileError(f"no such file: {path}")
    if not path.is_file():  # opening a FIFO might block forever
        raise FileError(f"{path} is not a regular file: expected {expected}")
    if path.stat().st_size > _MOST:
        raise FileError(f"{path} has {path.stat().st_size / 1e6:,.0f} MB: expected {expected}")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not UTF-8 (byte {error.start + 1}): expected {expected}") from None


def read_json(path: str | Path, expected: str) -> Any:
    """The JSON in a file, or a FileError that says what was expected."""
    text = read_text(path, expected)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # not JSON, a number with thousands of digits, or too deep
        raise FileError(f"{path} is not JSON ({error}): expected {expected}") from None
