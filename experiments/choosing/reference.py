"""Articles of an encyclopaedia for schools, the external reference corpus for coherence."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from topicfold.corpus.counting import token_stream
from topicfold.corpus.preprocessing import Preprocessing

__all__ = ["REFERENCE", "reference_tokens"]

REFERENCE = "wikipedia_schools2007"


def reference_tokens(folder: Path, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The reference as a stream of these words, with -1 for other tokens, so windows are those of the full text."""
    return token_stream(_texts(folder), words, Preprocessing(stop_words=None, clean=False))


def _texts(folder: Path) -> Iterator[str]:
    path = folder / REFERENCE / "docs.jsonl.gz"
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"]
