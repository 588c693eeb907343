"""Digests of documents: exact copies have the same one."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from itertools import pairwise, repeat

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import canonical

__all__ = ["DIGESTS", "count_digests", "text_digest", "text_digests"]

DIGESTS = np.dtype("S16")  # two texts with the same digest are the same, for all practical purposes


def text_digest(text: str) -> bytes:
    """A digest of a text that does not depend on case, white space or the normal form; zeros if the text is empty.

    >>> text_digest("Red  fish\\n") == text_digest("red fish"), text_digest("red fish") == text_digest("redfish")
    (True, False)
    """
    folded = " ".join(unicodedata.normalize("NFC", text).casefold().split())
    return _digest(folded.encode("utf-8", "surrogatepass"))


def text_digests(texts: Iterable[str]) -> np.ndarray:
    """The digest of each text."""
    return np.fromiter(map(text_digest, texts), DIGESTS)


def count_digests(counts: sp.csr_array, titles: Iterable[str] | None) -> np.ndarray:
    """A digest of the counts and title of each document; zeros if it has no words."""
    counts = canonical(counts)
    each_title = repeat("") if titles is None else titles
    rows = ((slice(*ends), title) for ends, title in zip(pairwise(counts.indptr.tolist()), each_title))
    return np.fromiter((_count_digest(counts.indices[row], counts.data[row], title) for row, title in rows), DIGESTS)


def _count_digest(columns: np.ndarray, values: np.ndarray, title: str) -> bytes:
    return _digest(columns.tobytes() + values.tobytes() + text_digest(title) if len(columns) else b"")


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGESTS.itemsize).digest() if content else bytes(DIGESTS.itemsize)
