"""Vectors of English words, which come with the package: texts about the same things get similar vectors.

The table has whole words, and pieces that other words are made of: "snapchat" is snap + ##cha + ##t. The vector of a
text is the sum of those of its words; a word that says little about what a text is about has a short vector. How the
table was made is written in vectors/NOTICE.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..engine.store import errors_name_file, from_arrays, read_file, to_arrays, write_file
from ..engine.stored import Stored, check_stored
from ..errors import InputError

if TYPE_CHECKING:
    from .corpus import Corpus

__all__ = ["ENGLISH", "WordVectors", "english_vectors", "plain_letters", "suit_word_vectors", "text_vectors"]

ENGLISH = "english"  # the name of the vectors, as a model of `embed`
_KIND = "word vectors"
_INSIDE = "##"  # begins a piece that stands inside a word
_LONGEST = 100  # characters of a word
_WORD = re.compile(r"[^\W_]+")
_MOST = 127  # of the numbers of a vector
_SHORT = 20  # tokens per document: longer ones gain nothing, and from 40 on they lose
_LEAST_KNOWN = 0.7  # share of the tokens that are whole words of the table: in other languages, fewer are
_FEWEST_DOCUMENTS = 100  # with fewer, too few can be held out to weigh the vectors against the words
_MOST_DOCUMENTS = 50_000  # with more, neighbours by vectors are approximate and need an extra
_STORED = {
    "pieces": Stored(("pieces",), "strings"),
    "vectors": Stored(("pieces", "numbers"), "int", low=-_MOST, high=_MOST, dtype="int8"),
    "scales": Stored(("pieces",), low=0, dtype="float32"),
}


@dataclass(frozen=True)
class WordVectors:
    """A table of words and pieces of words: whole numbers, each row with its scale."""

    pieces: tuple[str, ...]
    vectors: np.ndarray
    scales: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "_row_of", {piece: row for row, piece in enumerate(self.pieces)})
        object.__setattr__(self, "_longest", max(map(len, self.pieces), default=0))

    @classmethod
    def rounded(cls, pieces: Sequence[str], vectors: np.ndarray) -> WordVectors:
        """The table of some real vectors."""
        scales = (np.abs(vectors).max(axis=1) / _MOST).astype(np.float32)
        whole = np.rint(vectors / np.maximum(scales, 1e-30)[:, None])
        return cls(tuple(pieces), whole.clip(-_MOST, _MOST).astype(np.int8), scales)

    @classmethod
    def read(cls, path: str | Path) -> WordVectors:
        """The table in a file."""
        arrays, metadata = read_file(path, kind=_KIND)
        with errors_name_file(path):
            values = from_arrays(arrays, metadata.get("values"))
            check_stored(values, _STORED)
            if len(set(values["pieces"])) < len(values["pieces"]):
                raise InputError("it has a piece twice")
        return cls(**values)

    def save(self, path: str | Path) -> None:
        """Write the table to a file."""
        arrays, plain = to_arrays({"pieces": self.pieces, "vectors": self.vectors, "scales": self.scales})
        write_file(path, arrays, {"kind": _KIND, "values": plain})

    def rows_of(self, word: str) -> list[int]:
        """The rows of the longest pieces that make up a word in lower case, from the left; none if some part is not
        in the table."""
        row_of: dict[str, int] = self._row_of  # type: ignore[attr-defined]
        rows: list[int] = []
        start = 0
        while start < len(word) <= _LONGEST:
            prefix = _INSIDE if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):  # type: ignore[attr-defined]
                row = row_of.get(prefix + word[start:end])
                if row is not None:
                    rows.append(row)
                    start = end
                    break
            else:
                return []
        return rows

    def of_words(self, words: Iterable[str]) -> np.ndarray:
        """The vectors of words, in float32; of a word that is not in the table, zeros. An n-gram is several words."""
        rows, ends = list[int](), [0]
        for word in words:
            for part in _WORD.findall(plain_letters(word)):
                rows += self.rows_of(part)
            ends.append(len(rows))
        spelled = sp.csr_array(
            (self.scales[rows], np.array(rows, np.int32), np.array(ends)), (len(ends) - 1, len(self.pieces))
        )
        return np.asarray(spelled @ self.vectors.astype(np.float32), dtype=np.float32)

    def of_texts(self, texts: Iterable[str]) -> np.ndarray:
        """The vectors of texts, in float32 and of length one; of a text without a word of the table, zeros."""
        number: dict[str, int] = {}
        columns, ends = list[int](), [0]
        for text in texts:
            columns += [number.setdefault(word, len(number)) for word in _WORD.findall(plain_letters(text))]
            ends.append(len(columns))
        ones = np.ones(len(columns), np.float32)
        counts = sp.csr_array((ones, np.array(columns, np.int32), np.array(ends)), (len(ends) - 1, len(number)))
        return text_vectors(counts, self.of_words(number))


def text_vectors(counts: sp.csr_array, word_vectors: np.ndarray) -> np.ndarray:
    """The vectors of texts from their counts of words and the vectors of the words: sums, scaled to length one."""
    vectors = np.asarray(counts.astype(np.float32, copy=False) @ word_vectors, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def plain_letters(text: str) -> str:
    """The text in lower case, without accents."""
    text = text.lower()
    if text.isascii():
        return text
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if unicodedata.category(letter) != "Mn")


@cache
def english_vectors() -> WordVectors:
    """The table that comes with the package."""
    with resources.as_file(resources.files("topicfold.corpus") / "vectors" / f"{ENGLISH}.safetensors") as file:
        return WordVectors.read(file)


def suit_word_vectors(corpus: Corpus) -> bool:
    """Whether topics of a corpus gain from the vectors: it is made of short texts, and its words are English."""
    if corpus.preprocessing is None or corpus.vocabulary is None:
        return False
    if not _FEWEST_DOCUMENTS <= len(corpus) <= _MOST_DOCUMENTS:
        return False
    tokens = np.asarray(corpus.counts.sum(axis=0), dtype=np.float64).ravel()
    n_tokens = tokens.sum()
    if not 0 < n_tokens <= _SHORT * len(corpus):
        return False
    table = english_vectors()
    known = np.array([len(table.rows_of(plain_letters(word))) == 1 for word in corpus.vocabulary])
    return bool(tokens[known].sum() >= _LEAST_KNOWN * n_tokens)
