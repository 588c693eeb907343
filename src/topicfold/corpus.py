"""Corpus: documents as counts of words, with what is known about them.

Frozen. `counts` is a CSR matrix of documents x words; everything else is optional and lies beside it, row by row.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .text import Preprocessing, WordCounter, choose_words, split_segments

__all__ = ["Corpus", "Segments", "is_missing"]

HowSegments = str | int | Callable[[str], Sequence[str]] | None


@dataclass(frozen=True, eq=False)
class Segments:
    """The parts documents are made of: counts (segments x words) and the document of each, in order."""

    counts: sp.csr_array
    documents: np.ndarray


@dataclass(frozen=True, repr=False, eq=False)
class Corpus:
    """Documents as counts of words; see `from_texts`, `from_counts`, `from_frame` and `read`.

    >>> corpus = Corpus.from_texts(["red fish", "blue fish", "green tree"], labels=["sea", "sea", "land"])
    >>> corpus
    Corpus: 3 documents, 5 words, 6 tokens, labels (2)
    >>> corpus.vocabulary
    ('blue', 'fish', 'green', 'red', 'tree')
    """

    counts: sp.csr_array
    vocabulary: tuple[str, ...] | None = None
    ids: tuple[str, ...] = ()
    titles: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None
    labels: tuple[tuple[str, ...], ...] | None = None  # none, one or many a document
    links: np.ndarray | None = None  # (n, 2) rows: from document, to document
    timestamps: np.ndarray | None = None  # datetime64
    segments: Segments | None = None
    preprocessing: Preprocessing | None = None

    def __post_init__(self) -> None:
        n_documents, n_words = self.counts.shape
        if not self.ids:
            object.__setattr__(self, "ids", tuple(map(str, range(n_documents))))
        for field in ("ids", "titles", "texts", "labels", "timestamps"):
            values = getattr(self, field)
            if values is not None and len(values) != n_documents:
                raise ValueError(f"{len(values)} {field} for {n_documents} documents: expected one a document")
        if self.vocabulary is not None and len(self.vocabulary) != n_words:
            raise ValueError(f"{len(self.vocabulary)} words for {n_words} columns: expected one a column")
        _check_unique("id", self.ids)
        if self.vocabulary is not None:
            _check_unique("word", self.vocabulary)
        if self.links is not None and self.links.size and not 0 <= self.links.min() <= self.links.max() < n_documents:
            raise ValueError(f"links name rows {self.links.min()}..{self.links.max()} of {n_documents} documents")

    # ---- making one -------------------------------------------------------------------------------------------------

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[Any],
        *,
        ids: Iterable[Any] | None = None,
        titles: Iterable[str] | None = None,
        labels: Iterable[Any] | None = None,
        links: Iterable[tuple[Any, Any]] | None = None,
        timestamps: Iterable[Any] | None = None,
        segments: HowSegments = None,
        keep_texts: bool = False,
        vocabulary: Sequence[str] | None = None,
        preprocessing: Preprocessing | None = None,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_words: int | None = None,
        rank_by: str = "frequency",
    ) -> Corpus:
        """Count the words of texts. `texts` may be a generator: it is read once and not kept unless asked.

        `segments` cuts each text into 'paragraphs', 'sentences', runs of a number of tokens, 'given' parts (each text
        a list of strings), or by a callable. `labels` holds a label or a list of labels a document (None: unknown).
        `links` are pairs of ids. With a `vocabulary` only its words are counted, and the filters do not apply.
        """
        if isinstance(texts, str):
            raise ValueError("texts is one string: pass a list of texts, or Corpus.read(path) for a file")
        preprocessing = preprocessing or Preprocessing()
        counter = WordCounter(preprocessing, vocabulary)
        kept: list[str] = []
        segment_ends: list[int] = []
        for text in texts:
            text = _checked_text(text, len(segment_ends))
            n_rows = _count_document(counter, text, segments)
            segment_ends.append(n_rows + (segment_ends[-1] if segment_ends else 0))
            if keep_texts:
                kept.append(text if isinstance(text, str) else "\n\n".join(text))
        counts, words = counter.finish()
        del counter
        if not segment_ends:
            raise ValueError("the corpus is empty: there are no documents")
        parts, counts = (None, counts) if segments is None else _segments_and_documents(counts, segment_ends)
        if vocabulary is None:
            if parts is not None:
                documents = counts.copy()
                chosen, chosen_words = choose_words(
                    documents, words, min_df=min_df, max_df=max_df, max_words=max_words, rank_by=rank_by
                )
                column = {word: index for index, word in enumerate(words)}
                parts = replace(parts, counts=parts.counts[:, [column[word] for word in chosen_words]])
                counts, words = chosen, chosen_words
            else:
                counts, words = choose_words(
                    counts, words, min_df=min_df, max_df=max_df, max_words=max_words, rank_by=rank_by
                )
        rows = _as_ids(ids)
        return cls(
            counts,
            tuple(words),
            rows,
            _as_titles(titles),
            tuple(kept) if keep_texts else None,
            _as_labels(labels),
            _as_links(links, rows or tuple(map(str, range(len(segment_ends))))),
            _as_timestamps(timestamps),
            parts,
            preprocessing,
        )

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        vocabulary: Sequence[str] | None = None,
        *,
        ids: Iterable[Any] | None = None,
        titles: Iterable[str] | None = None,
        labels: Iterable[Any] | None = None,
        links: Iterable[tuple[Any, Any]] | None = None,
        timestamps: Iterable[Any] | None = None,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_words: int | None = None,
        rank_by: str = "frequency",
    ) -> Corpus:
        """A corpus from a matrix of documents x words: whole, non-negative numbers, sparse or dense.

        >>> Corpus.from_counts([[2, 0], [1, 1]], ["fish", "tree"])
        Corpus: 2 documents, 2 words, 4 tokens
        """
        if vocabulary is None and hasattr(counts, "columns"):
            vocabulary = [str(name) for name in counts.columns]
        matrix = _checked_counts(counts)
        if isinstance(vocabulary, str):
            raise ValueError("vocabulary is one string: expected a list of words")
        words = None if vocabulary is None else list(map(str, vocabulary))
        if (min_df, max_df, max_words) != (1, 1.0, None):
            numbered = words or [f"{column:09d}" for column in range(matrix.shape[1])]
            matrix, chosen = choose_words(
                matrix.copy(), numbered, min_df=min_df, max_df=max_df, max_words=max_words, rank_by=rank_by
            )
            words = chosen if words is not None else None
        rows = _as_ids(ids)
        return cls(
            matrix,
            None if words is None else tuple(words),
            rows,
            titles=_as_titles(titles),
            labels=_as_labels(labels),
            links=_as_links(links, rows or tuple(map(str, range(matrix.shape[0])))),
            timestamps=_as_timestamps(timestamps),
        )

    @classmethod
    def from_frame(cls, frame: Any, text: str = "text", **columns_and_options: Any) -> Corpus:
        """A corpus from a pandas or polars data frame.

        `id`, `title`, `labels`, `links` and `timestamp` name columns; without `id` documents are numbered. The rest
        are options of `from_texts`.
        """
        from .readers import COLUMNS, corpus_from_records, frame_records

        names = [columns_and_options[key] for key in COLUMNS if columns_and_options.get(key)]
        records = frame_records(frame, [text, *names])
        return corpus_from_records(records, text=text, where="the frame", **columns_and_options)

    @classmethod
    def read(cls, path: str | Path, **options: Any) -> Corpus:
        """Read a folder of text files, CSV, TSV, JSONL, Parquet, Matrix Market, LDA-C, UCI, SVMlight, or .npz.

        Options are those of `readers.read`: the columns by name, and the options of `from_texts`.
        """
        from .readers import read

        return read(path, **options)

    # ---- using one --------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.counts.shape[0]

    def __repr__(self) -> str:
        parts = [f"{len(self):,} documents", f"{self.counts.shape[1]:,} words", f"{int(self.counts.sum()):,} tokens"]
        if self.labels is not None:
            parts.append(f"labels ({len({label for labels in self.labels for label in labels})})")
        if self.links is not None:
            parts.append(f"{len(self.links):,} links")
        if self.segments is not None:
            parts.append(f"{self.segments.counts.shape[0]:,} segments")
        parts += [name for name in ("timestamps", "texts") if getattr(self, name) is not None]
        return "Corpus: " + ", ".join(parts)

    def subset(self, rows: Any) -> Corpus:
        """The corpus of some documents, by row numbers or a mask; links among them stay.

        >>> Corpus.from_texts(["red fish", "tree", "blue fish"]).subset([0, 2]).ids
        ('0', '2')
        """
        rows = np.arange(len(self))[rows]
        new_row = np.full(len(self), -1)
        new_row[rows] = np.arange(len(rows))
        links = None
        if self.links is not None:
            links = new_row[self.links]
            links = links[(links >= 0).all(axis=1)]
        segments = None
        if self.segments is not None:
            new_document = new_row[self.segments.documents]
            order = np.argsort(new_document, kind="stable")[np.count_nonzero(new_document < 0) :]
            segments = Segments(self.segments.counts[order], new_document[order])

        def pick(values: Any) -> Any:
            return None if values is None else tuple(values[row] for row in rows)

        return replace(
            self,
            counts=self.counts[rows],
            ids=pick(self.ids),
            titles=pick(self.titles),
            texts=pick(self.texts),
            labels=pick(self.labels),
            links=links,
            timestamps=None if self.timestamps is None else self.timestamps[rows],
            segments=segments,
        )

    def label_array(self) -> np.ndarray:
        """One label a document as an array of strings; '' where there is none; an error where there are several.

        >>> Corpus.from_texts(["fish", "tree"], labels=["sea", None]).label_array().tolist()
        ['sea', '']
        """
        if self.labels is None:
            raise ValueError("this corpus has no labels")
        several = next((row for row, labels in enumerate(self.labels) if len(labels) > 1), None)
        if several is not None:
            raise ValueError(
                f"document {self.ids[several]!r} has {len(self.labels[several])} labels: "
                "one a document is needed here; use label_matrix() for many"
            )
        return np.array([labels[0] if labels else "" for labels in self.labels])

    def label_matrix(self) -> tuple[sp.csr_array, tuple[str, ...]]:
        """Labels as a 0-1 matrix of documents x labels, and the labels in alphabetical order."""
        if self.labels is None:
            raise ValueError("this corpus has no labels")
        names = sorted({label for labels in self.labels for label in labels})
        column = {name: index for index, name in enumerate(names)}
        indices = [column[label] for labels in self.labels for label in sorted(set(labels))]
        indptr = np.concatenate([[0], np.cumsum([len(set(labels)) for labels in self.labels])])
        return sp.csr_array((np.ones(len(indices), np.int8), indices, indptr), (len(self), len(names))), tuple(names)

    def vectorize(self, texts: Iterable[str]) -> sp.csr_array:
        """Counts of new texts over this corpus's words, with its own preprocessing."""
        if self.preprocessing is None or self.vocabulary is None:
            raise ValueError("this corpus was made from counts and does not know how text becomes words")
        if isinstance(texts, str):
            raise ValueError("texts is one string: pass a list of texts")
        counter = WordCounter(self.preprocessing, self.vocabulary)
        for text in texts:
            counter.add(text)
        return counter.finish()[0]

    def save(self, path: str | Path) -> None:
        """Write everything to one .safetensors file."""
        from .store import save_corpus

        save_corpus(self, path)

    @classmethod
    def load(cls, path: str | Path, *, tokenizer: Callable[[str], Iterable[str]] | None = None) -> Corpus:
        """Read what `save` wrote. A corpus made with a tokenizer of one's own asks for it again."""
        from .store import load_corpus

        return load_corpus(path, tokenizer=tokenizer)


def _count_document(counter: WordCounter, text: Any, segments: HowSegments) -> int:
    """Count one document as one row or as one row a segment; returns the number of rows."""
    if segments is None:
        counter.add(text if isinstance(text, str) else "\n\n".join(text))
        return 1
    if isinstance(segments, int):
        if segments < 1:
            raise ValueError(f"segments={segments}: expected at least one token a segment")
        return counter.add_windows(text if isinstance(text, str) else "\n\n".join(text), segments)
    given_none = segments == "given" and text == ""
    parts = [""] if given_none else split_segments(text, segments) or [""]
    for part in parts:
        counter.add(part)
    return len(parts)


def _segments_and_documents(counts: sp.csr_array, ends: list[int]) -> tuple[Segments, sp.csr_array]:
    documents = np.repeat(np.arange(len(ends)), np.diff(np.concatenate([[0], ends])))
    member = sp.csr_array((np.ones(len(documents), np.int32), (documents, np.arange(len(documents)))))
    summed = sp.csr_array(member @ counts)
    summed.sort_indices()
    return Segments(counts, documents), summed


def _check_unique(what: str, values: Sequence[str]) -> None:
    if len(set(values)) < len(values):
        seen: set[str] = set()
        for value in values:
            if value in seen:
                raise ValueError(f"the {what} {value!r} occurs more than once: expected each {what} once")
            seen.add(value)


def _checked_text(text: Any, number: int) -> str | Sequence[str]:
    if is_missing(text):
        return ""
    if isinstance(text, str) or (isinstance(text, list | tuple) and all(isinstance(part, str) for part in text)):
        return text
    raise ValueError(f"text {number} is {text!r:.40}: expected a string, or a list of strings")


def _as_text(value: Any) -> str:
    """A cell as text: a whole number that a gap in its column has turned to 2.0 is '2'."""
    return str(int(value)) if isinstance(value, float | np.floating) and float(value).is_integer() else str(value)


def _as_ids(ids: Iterable[Any] | None) -> tuple[str, ...]:
    def one(number: int, value: Any) -> str:
        if is_missing(value):
            raise ValueError(f"document {number} has no id: expected one a document, or none at all")
        return _as_text(value)

    return () if ids is None else tuple(one(number, value) for number, value in enumerate(ids))


def _as_titles(titles: Iterable[Any] | None) -> tuple[str, ...] | None:
    return None if titles is None else tuple("" if is_missing(title) else str(title) for title in titles)


def _as_labels(labels: Iterable[Any] | None) -> tuple[tuple[str, ...], ...] | None:
    if labels is None:
        return None
    shared: dict[str, str] = {}  # one string object a distinct label, however many documents carry it

    def one(value: Any) -> tuple[str, ...]:
        if is_missing(value):
            return ()
        if isinstance(value, Iterable) and not isinstance(value, str):
            return tuple(shared.setdefault(_as_text(item), _as_text(item)) for item in value if not is_missing(item))
        return (shared.setdefault(_as_text(value), _as_text(value)),)

    return tuple(one(value) for value in labels)


def is_missing(value: Any) -> bool:
    """None, an empty string, or what a data frame puts where there is nothing (NaN, NaT, NA)."""
    if value is None or isinstance(value, str):
        return not value
    if isinstance(value, list | tuple | np.ndarray):
        return False
    try:
        return bool(value != value)  # NaN and NaT are not themselves
    except TypeError:  # pandas.NA is neither
        return True


def _as_links(links: Iterable[tuple[Any, Any]] | None, ids: Sequence[str]) -> np.ndarray | None:
    if links is None:
        return None
    row = {name: index for index, name in enumerate(ids)}
    pairs, outside = [], 0
    for source, target in links:
        ends = (row.get(_as_text(source), -1), row.get(_as_text(target), -1))
        if min(ends) >= 0:
            pairs.append(ends)
        else:
            outside += 1
    if outside:
        warnings.warn(f"{outside:,} links lead to ids that are not in the corpus and are left out", stacklevel=3)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _as_timestamps(timestamps: Iterable[Any] | None) -> np.ndarray | None:
    if timestamps is None:
        return None
    if isinstance(timestamps, np.ndarray) and timestamps.dtype.kind == "M":
        return timestamps.astype("datetime64[s]")

    return np.array([_as_timestamp(value) for value in timestamps], dtype="datetime64[s]")


def _as_timestamp(value: Any) -> np.datetime64:
    """A moment in UTC from a date, a year, or text in ISO 8601."""
    if is_missing(value):
        return np.datetime64("NaT", "s")
    if isinstance(value, np.datetime64):
        return value.astype("datetime64[s]")
    text = value.isoformat() if hasattr(value, "isoformat") else _as_text(value).strip()
    try:
        if re.fullmatch(r"\d{4}(-\d{2})?", text):  # a year, or a month of it
            return np.datetime64(text, "s")
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"timestamp {value!r}: expected a year, or a date such as 1998-03-25T10:00:00") from None
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(moment, "s")


def _checked_counts(counts: Any) -> sp.csr_array:
    if not sp.issparse(counts):
        counts = np.asarray(counts)
        if counts.dtype.kind not in "biuf":
            raise ValueError(f"counts of type {counts.dtype}: expected numbers")
    matrix = sp.csr_array(counts)
    if matrix.ndim != 2 or matrix.shape[0] == 0 or matrix.shape[1] == 0:
        raise ValueError(f"counts of shape {matrix.shape}: expected documents x words, at least one of each")
    matrix.check_format(full_check=True)
    matrix = matrix.astype(np.int64) if matrix.dtype.kind in "biu" else matrix.astype(np.float64)
    matrix.sum_duplicates()
    values = matrix.data
    bad = ~np.isfinite(values) | (values < 0) | (values != np.floor(values))
    if bad.any():
        at = int(np.argmax(bad))
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise ValueError(
            f"counts[{row}, {int(matrix.indices[at])}] is {values[at]:g}: expected whole numbers, zero or more"
        )
    if values.size and values.max() > np.iinfo(np.int32).max:
        raise ValueError(f"a count of {values.max():g} is too large: expected less than 2**31")
    matrix = matrix.astype(np.int32)
    matrix.eliminate_zeros()
    return matrix
