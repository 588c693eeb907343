"""Corpus: documents as counts of words, with what is known about them.

Frozen. `counts` is a CSR matrix of documents x words; everything else is optional and lies beside it, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .counting import WordCounter, choose_words
from .fields import (
    _as_ids,
    _as_labels,
    _as_links,
    _as_timestamps,
    _as_titles,
    _check_unique,
    _checked_counts,
    _checked_text,
)
from .preprocessing import Preprocessing, split_segments

__all__ = ["Corpus", "Segments"]

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
        from .corpus_file import save_corpus

        save_corpus(self, path)

    @classmethod
    def load(cls, path: str | Path, *, tokenizer: Callable[[str], Iterable[str]] | None = None) -> Corpus:
        """Read what `save` wrote. A corpus made with a tokenizer of one's own asks for it again."""
        from .corpus_file import load_corpus

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
