"""Damage to bytes, as disks, transfers, editors and attackers do it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

__all__ = ["CHECKSUM_TELLS", "damaged"]

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_NUMBERS = (
    b"0", b"-1", b"1", b"2", b"99", b"-99999", b"2147483647", b"2147483648", b"4294967296", b"10000000", b"9999999",
    b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"1e400", b"1e308", b"-0", b"0.5",
    b"1e-320", b"nan", b"NaN", b"inf", b"-Infinity", b"1_000", b"0x10", b"", b"1" * 400, b"1" * 5000, b"+3",
    b"\xd9\xa3",
)  # fmt: skip
_PIECES = (
    b"\0", b"\n", b"\r", b"\r\n", b"\x85", b'"', b"'", b",", b"\t", b":", b" ", b"{", b"}", b"[" * 200, b"]", b"\\",
    b"\\u0000", b"\\ud800", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff", b"\x80", b"\xed\xa0\x80", b"null",
    b"true", b"%", b"#", b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\xe2\x80\xa8", b"\xf0\x9f\x92\xa9", b"A" * 3000,
)  # fmt: skip


def _flip(content: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        place = rng.randrange(len(content) * 8)
        content[place // 8] ^= 1 << (place % 8)


def _truncate(content: bytearray, rng: random.Random) -> None:
    del content[rng.randrange(len(content)) :]


def _overwrite(content: bytearray, rng: random.Random) -> None:
    start, end = _span(content, rng)
    content[start:end] = rng.choice((rng.randbytes(end - start), bytes(end - start), b"\xff" * (end - start)))


def _insert(content: bytearray, rng: random.Random) -> None:
    place = rng.randrange(len(content) + 1)
    content[place:place] = rng.choice(_PIECES) if rng.random() < 0.7 else rng.randbytes(rng.choice((1, 2, 16)))


def _delete(content: bytearray, rng: random.Random) -> None:
    start, end = _span(content, rng)
    del content[start:end]


def _repeat(content: bytearray, rng: random.Random) -> None:
    start, end = _span(content, rng)
    content[end:end] = content[start:end] * rng.choice((1, 1, 3, 20))


def _exchange(content: bytearray, rng: random.Random) -> None:
    start, end = _span(content, rng)
    content.extend(content[start:end])
    del content[start:end]


def _replace_number(content: bytearray, rng: random.Random) -> None:
    found = list(_NUMBER.finditer(content[: 1 << 16]))
    if found:
        start, end = rng.choice(found).span()
        content[start:end] = rng.choice(_NUMBERS)


def _span(content: bytearray, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(content))
    return start, min(len(content), start + rng.choice((1, 1, 2, 4, 8, 32, 128)))


_CHANGES: tuple[Callable[[bytearray, random.Random], None], ...] = (
    _flip, _flip, _truncate, _overwrite, _insert, _insert, _delete, _repeat, _exchange, _replace_number,
    _replace_number,
)  # fmt: skip
# after which a checksum over the whole has to be wrong; a repeated gzip file, for one, is a good gzip file
CHECKSUM_TELLS = frozenset({"flip", "truncate", "overwrite"})


def damaged(content: bytes, rng: random.Random) -> tuple[bytes, list[str]]:
    """The content after a few random changes, and what they were."""
    changed, done = bytearray(content), []
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        change = rng.choice(_CHANGES)
        if changed:
            change(changed, rng)
            done.append(change.__name__[1:])
    return bytes(changed), done
