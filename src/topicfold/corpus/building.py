"""From texts to a corpus: what may be set about it, in one place, and the counting itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..engine.warn import warn_user
from .corpus import Corpus, Segments
from .counting import WordCounter, choose_words
from .dates import as_timestamps
from .fields import as_ids, as_labels, as_links, as_titles, checked_text
from .metadata import as_metadata
from .preprocessing import Preprocessing, split_segments

__all__ = ["HowSegments", "RankWordsBy", "TextOptions", "corpus_from_texts", "preprocessing_from"]

HowSegments: TypeAlias = str | int | Callable[[str], Sequence[str]] | None
RankWordsBy: TypeAlias = Literal["frequency", "tfidf"]


@dataclass(frozen=True)
class TextOptions:
    """How texts become words, and which words are kept; see `Corpus.from_texts`."""

    preprocessing: Preprocessing
    vocabulary: Sequence[str] | None = None
    segments: HowSegments = None
    keep_texts: bool = False
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_words: int | None = None
    rank_by: RankWordsBy = "frequency"

    def chosen(self, counts: sp.csr_array, words: Sequence[str]) -> tuple[sp.csr_array, list[str]]:
        """The columns of the words that pass the filters; `counts` is used up."""
        return choose_words(
            counts, words, min_df=self.min_df, max_df=self.max_df, max_words=self.max_words, rank_by=self.rank_by
        )


def preprocessing_from(preprocessing: Preprocessing | None, **given: Any) -> Preprocessing:
    """A Preprocessing from its fields given one by one, or the one that is given as a whole; not both."""
    defaults = {field.name: field.default for field in fields(Preprocessing)}
    own = {name: value for name, value in given.items() if value != defaults[name]}
    if preprocessing is None:
        return Preprocessing(**own)
    if own:
        raise ValueError(f"give either preprocessing= or {', '.join(own)}, not both")
    return preprocessing


def corpus_from_texts(
    texts: Iterable[Any],
    options: TextOptions,
    *,
    ids: Iterable[Any] | None = None,
    titles: Iterable[Any] | None = None,
    labels: Iterable[Any] | None = None,
    links: Iterable[tuple[Any, Any]] | None = None,
    timestamps: Iterable[Any] | None = None,
    metadata: Mapping[str, Iterable[Any]] | None = None,
    date_format: str | None = None,
) -> Corpus:
    """Count the words of texts, which are read once; what is known beside them may grow while they are."""
    counter = WordCounter(options.preprocessing, options.vocabulary)
    kept: list[str] = []
    segment_ends: list[int] = []
    n_empty = 0
    for text in texts:
        text = checked_text(text, len(segment_ends))
        n_empty += not (text.strip() if isinstance(text, str) else any(part.strip() for part in text))
        n_rows = _count_document(counter, text, options.segments)
        segment_ends.append(n_rows + (segment_ends[-1] if segment_ends else 0))
        if options.keep_texts:
            kept.append(text if isinstance(text, str) else "\n\n".join(text))
    n_documents = len(segment_ends)
    counts, words = counter.finish()
    del counter
    if not n_documents:
        raise ValueError("the corpus is empty: there are no documents")
    if n_empty:
        warn_user(f"{n_empty:,} of {n_documents:,} texts are empty")
    parts = None
    if options.segments is not None:
        parts, counts = _segments_and_documents(counts, segment_ends)
    if options.vocabulary is None:
        if parts is None:
            counts, words = options.chosen(counts, words)
        else:
            column = {word: index for index, word in enumerate(words)}
            counts, words = options.chosen(counts.copy(), words)
            parts = replace(parts, counts=parts.counts[:, [column[word] for word in words]])
    rows = as_ids(ids)
    return Corpus(
        counts,
        tuple(words),
        rows,
        titles=as_titles(titles),
        texts=tuple(kept) if options.keep_texts else None,
        labels=as_labels(labels),
        links=as_links(links, rows or tuple(map(str, range(n_documents)))),
        timestamps=as_timestamps(timestamps, date_format),
        metadata=as_metadata(metadata or {}),
        segments=parts,
        preprocessing=options.preprocessing,
    )


def _count_document(counter: WordCounter, text: str | Sequence[str], segments: HowSegments) -> int:
    """Count one document as one row, or as one row per segment; returns the number of rows."""
    if segments is None:
        counter.add(text if isinstance(text, str) else "\n\n".join(text))
        return 1
    if isinstance(segments, int):
        if segments < 1:
            raise ValueError(f"segments={segments}: expected at least one token per segment")
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
