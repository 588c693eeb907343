"""How topics are put into words: forms of one word, words as the texts write them, and phrases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..corpus.phrases import Phrases
from ..engine.checks import is_number, is_whole
from ..errors import InputError
from .ranking import largest, word_presence

__all__ = ["Wording"]

_BEST_WORDS = 60  # of a topic: a phrase with none of them cannot become a part of a name
_LEAST_SHARE, _FEWEST = 0.02, 3.0  # of the documents of a topic, and documents, that have one of its phrases
_MOST_WORDS = 4  # of a phrase


@dataclass(frozen=True, eq=False)
class Wording:
    """What the texts of the fit tell about words, apart from their counts.

    Attributes
    ----------
    forms : mapping of int to int
        Columns of words that have the stem of an earlier one ("awards" of "award"), with the first of these columns.
    written : mapping of int to str
        Words that are mostly written in another way than in the vocabulary ("NASA"), by column.
    phrases : tuple of str
        Phrases as they are mostly written.
    columns : tuple of tuple of int
        The columns of the content words of each phrase.
    presence : ndarray of shape (n_topics, n_phrases), or None
        Share of the documents of each topic that contain each phrase, 0 if few do; None without phrases.
    overall : ndarray of shape (n_phrases,)
        Share of all documents that contain each phrase.
    in_titles : ndarray of shape (n_words + n_phrases,), or None
        Share of the documents with a word, then with a phrase, that have it in the title; None without texts.
    """

    forms: Mapping[int, int] = field(default_factory=dict)
    written: Mapping[int, str] = field(default_factory=dict)
    phrases: tuple[str, ...] = ()
    columns: tuple[tuple[int, ...], ...] = ()
    presence: np.ndarray | None = None
    overall: np.ndarray = field(default_factory=lambda: np.zeros(0))
    in_titles: np.ndarray | None = None

    @classmethod
    def of_words(cls, forms: Mapping[int, int], mined: Phrases | None, vocabulary: Sequence[str]) -> Self:
        """The wording of the words alone, without phrases."""
        if mined is None:
            return cls(forms)
        written = {w: text for w, (text, word) in enumerate(zip(mined.written, vocabulary)) if text != word}
        return cls(forms, written, in_titles=mined.in_titles[: len(vocabulary)])

    def with_phrases(self, mined: Phrases, counts: sp.csr_array, doc_topic: np.ndarray, scores: np.ndarray) -> Wording:
        """The wording with the phrases that topics may show, given the scores of words in topics."""
        lengths = np.asarray(counts[mined.rows].sum(axis=1), np.float64).ravel()
        shares = doc_topic[mined.rows].astype(np.float64)
        sizes = np.maximum(shares.sum(axis=0), 1e-12)
        has_phrase = sp.csr_array(
            (np.ones(mined.counts.nnz), mined.counts.indices, mined.counts.indptr), mined.counts.shape
        )
        documents = np.asarray((has_phrase.T @ shares).T)
        expected = np.asarray((word_presence(mined.counts, lengths).T @ shares).T)
        presence, overall = expected / sizes[:, None], expected.sum(axis=0) / sizes.sum()
        telling = np.zeros_like(presence, bool)
        for row, score in enumerate(scores):
            best = set(largest(score, _BEST_WORDS).tolist())
            telling[row] = [not best.isdisjoint(columns) for columns in mined.columns]
        frequent = (documents >= _FEWEST) & (documents >= _LEAST_SHARE * sizes[:, None])
        useful = telling & frequent & (presence > overall)
        kept = np.flatnonzero(useful.any(axis=0))
        if not len(kept):
            return self
        n_words = counts.shape[1]
        return replace(
            self,
            phrases=tuple(mined.phrases[p] for p in kept.tolist()),
            columns=tuple(mined.columns[p] for p in kept.tolist()),
            presence=np.where(useful, np.minimum(presence, 1), 0)[:, kept].astype(np.float32),
            overall=np.minimum(overall[kept], 1),
            in_titles=mined.in_titles[np.concatenate([np.arange(n_words), n_words + kept])],
        )

    def mixed(self, weight: np.ndarray) -> Wording:
        """The wording of mixtures of the topics."""
        return self if self.presence is None else replace(self, presence=(weight @ self.presence).astype(np.float32))

    def of_topics(self, rows: np.ndarray) -> Wording:
        """The wording of some of the topics."""
        return self if self.presence is None else replace(self, presence=self.presence[rows])

    # ---- files ------------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The values as plain lists, for files."""
        presence = None if self.presence is None else [[float(f"{q:.5g}") for q in row] for row in self.presence]
        return {
            "forms": [list(pair) for pair in self.forms.items()],
            "written": [list(pair) for pair in self.written.items()],
            "phrases": list(self.phrases),
            "columns": [list(columns) for columns in self.columns],
            "presence": presence,
            "overall": self.overall.tolist(),
            "in_titles": None if self.in_titles is None else [round(float(share), 4) for share in self.in_titles],
        }

    @classmethod
    def from_json(cls, values: Any) -> Self:
        """The wording from the values that `to_json` returned; an InputError if they are damaged."""
        names = ("forms", "written", "phrases", "columns", "presence", "overall", "in_titles")
        if not isinstance(values, dict) or values.keys() != set(names):
            raise InputError(f"its wording is not as expected: {', '.join(names)}")
        presence, in_titles = values["presence"], values["in_titles"]
        return cls(
            forms=_pairs(values["forms"], is_whole, "forms"),
            written=_pairs(values["written"], lambda text: isinstance(text, str), "written words"),
            phrases=tuple(_list(values["phrases"], lambda text: isinstance(text, str), "phrases")),
            columns=tuple(tuple(_list(columns, is_whole, "columns")) for columns in _list(values["columns"])),
            presence=None if presence is None else _table(presence),
            overall=_shares(values["overall"]),
            in_titles=None if in_titles is None else _shares(in_titles),
        )

    def check(self, n_topics: int, n_words: int) -> None:
        """Raise an InputError if the values are not those of so many topics and words."""
        n_phrases = len(self.phrases)
        used = [*self.forms, *self.forms.values(), *self.written, *(w for columns in self.columns for w in columns)]
        if not all(0 <= column < n_words for column in used):
            raise InputError(f"its wording has columns beyond its {n_words} words")
        if len(self.columns) != n_phrases or not all(1 <= len(columns) <= _MOST_WORDS for columns in self.columns):
            raise InputError("its phrases and their words do not match")
        if self.presence is None:
            shapes_match = n_phrases == 0
        else:
            shapes_match = self.presence.shape == (n_topics, n_phrases)
        if not shapes_match or len(self.overall) != n_phrases:
            raise InputError("its phrases are not those of its topics")
        if self.in_titles is not None and len(self.in_titles) != n_words + n_phrases:
            raise InputError("its shares of titles are not those of its words and phrases")


def _list(values: Any, fits: Any = None, name: str = "lists") -> list[Any]:
    if not isinstance(values, list) or (fits is not None and not all(fits(value) for value in values)):
        raise InputError(f"its wording has {name} that are not valid: {values!r:.40}")
    return values


def _pairs(values: Any, fits: Any, name: str) -> dict[int, Any]:
    pairs = _list(values, lambda pair: isinstance(pair, list) and len(pair) == 2, name)
    if not all(is_whole(column) and fits(value) for column, value in pairs):
        raise InputError(f"its wording has {name} that are not valid: {values!r:.40}")
    return {int(column): value for column, value in pairs}


def _shares(values: Any) -> np.ndarray:
    return np.array(_list(values, lambda share: is_number(share) and 0 <= share <= 1, "shares"), np.float64)


def _table(rows: Any) -> np.ndarray:
    shares = [_shares(row) for row in _list(rows)]
    if len({len(row) for row in shares}) != 1:
        raise InputError("the phrases of its topics are not equally many: its wording is damaged")
    return np.array(shares, np.float32)
