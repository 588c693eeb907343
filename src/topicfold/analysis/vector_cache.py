"""A cache of vectors in a folder: one file per batch of texts, in which each vector has the digest of its text.

A file is written completely or not at all and never changed, so a kill loses one batch at most, and two processes may
use the cache at the same time. A damaged file costs its own vectors, which are computed again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..engine.store import errors_name_file, read_file, write_file
from ..engine.stored import Stored, check_stored
from ..engine.warn import warn_user
from ..errors import FileError, InputError

__all__ = ["VectorCache", "text_digests"]

_KIND = "embeddings"
_BYTES = 16  # of a digest
_STORED = {
    "digests": Stored(("texts", _BYTES), "int", dtype="uint8"),
    "vectors": Stored(("texts", "numbers"), dtype="float32"),
}


class VectorCache:
    """The vectors of texts by one model, in a folder that is created with the first batch."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._vectors: dict[bytes, np.ndarray] = {}
        for file in sorted(folder.glob("*.safetensors")):
            try:
                digests, vectors = _read(file)
            except FileError as error:
                if not file.exists():  # the whole cache is being deleted
                    continue
                warn_user(f"{error}: its vectors are computed again; if you see this twice, delete the file")
                continue
            self._vectors.update(zip(digests, vectors))
        sizes = sorted({len(vector) for vector in self._vectors.values()})
        if len(sizes) > 1:
            raise FileError(f"{folder} has vectors of length {sizes[0]} and {sizes[1]}: delete this folder")

    @property
    def n_features(self) -> int | None:
        """The length of the vectors; None as long as there are none."""
        return next((len(vector) for vector in self._vectors.values()), None)

    def get(self, digest: bytes) -> np.ndarray | None:
        """The vector of a text, if it is there."""
        return self._vectors.get(digest)

    def add(self, digests: Sequence[bytes], vectors: np.ndarray) -> None:
        """Keep the vectors of a batch of texts."""
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"cache: {self._folder} cannot be made: {error.strerror or error}") from None
        name = hashlib.blake2b(b"".join(digests), digest_size=_BYTES).hexdigest()
        arrays = {"digests": np.frombuffer(b"".join(digests), np.uint8).reshape(-1, _BYTES), "vectors": vectors}
        write_file(self._folder / f"{name}.safetensors", arrays, {"kind": _KIND})
        self._vectors.update(zip(digests, vectors))


def text_digests(texts: Sequence[str]) -> list[bytes]:
    """A digest of each text: two texts with the same digest are the same, for all practical purposes."""
    return [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest() for text in texts]


def _read(file: Path) -> tuple[list[bytes], np.ndarray]:
    arrays, _ = read_file(file, kind=_KIND)
    with errors_name_file(file):
        check_stored(arrays, _STORED)
        if arrays["vectors"].shape[1] == 0:
            raise InputError("it has vectors without numbers")
    return [digest.tobytes() for digest in arrays["digests"]], arrays["vectors"]
