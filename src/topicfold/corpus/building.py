"""From texts to a corpus: the options, and the counting itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..engine.warn import warn_user
from ..errors import InputError
from .corpus import Corpus, Segments
from .counted_chunks import CountOptions, count_document, counted_in_processes
from .counting import WordCounter, choose_words
from .dates import as_timestamps
from .fields import as_ids, as_labels, as_links, as_titles, checked_text
from .metadata import as_metadata
from .preprocessing import Preprocessing
from .spool import LabelSpool, StringSpool

__all__ = ["RankWordsBy", "Segmentation", "TextOptions", "corpus_from_texts", "preprocessing_from"]

Segmentation: TypeAlias = str | int | Callable[[str], Sequence[str]] | None
RankWordsBy: TypeAlias = Literal["frequency", "tfidf"]


@dataclass(frozen=True)
class TextOptions:
    """How texts become words, and which words are kept; see `Corpus.from_texts`."""

    preprocessing: Preprocessing
    vocabulary: Sequence[str] | None = None
    segments: Segmentation = None
    keep_texts: bool = False
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_words: int | None = None
    rank_by: RankWordsBy = "frequency"

    def filter_words(self, counts: sp.csr_array, words: Sequence[str]) -> tuple[sp.csr_array, list[str]]:
        """The columns of the words that pass the filters; the arrays of `counts` are overwritten."""
        return choose_words(
            counts, words, min_df=self.min_df, max_df=self.max_df, max_words=self.max_words, rank_by=self.rank_by
        )


def preprocessing_from(preprocessing: Preprocessing | None, **field_values: Any) -> Preprocessing:
    """The Preprocessing that was passed, or one made from its fields passed as parameters; not both."""
    defaults = {field.name: field.default for field in fields(Preprocessing)}
    changed = {name: value for name, value in field_values.items() if value != defaults[name]}
    if preprocessing is None:
        return Preprocessing(**changed)
    if changed:
        raise InputError(f"pass either preprocessing= or {', '.join(changed)}, not both")
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
    n_jobs: int | None = None,
    folder: Path | None = None,
) -> Corpus:
    """Count the words of texts, which are read once; ids, labels and so on may be filled in while they are read.

    With a `folder`, counts and texts are written to temporary files there, and stay there, as do values passed as
    spools.
    """
    if folder is not None and options.segments is not None:
        raise InputError("segments are kept in memory: set either segments or on_disk, not both")
    counts, words, kept_texts, segment_ends = _count_texts(texts, options, n_jobs, folder)
    n_documents = len(segment_ends)
    parts = None
    if options.segments is not None:
        parts, counts = _segments_and_documents(counts, segment_ends)
    if options.vocabulary is None:
        if parts is None:
            counts, words = options.filter_words(counts, words)
        else:
            column = {word: index for index, word in enumerate(words)}
            counts, words = options.filter_words(counts.copy(), words)
            parts = replace(parts, counts=parts.counts[:, [column[word] for word in words]])
    rows = ids.strings() if isinstance(ids, StringSpool) else as_ids(ids)
    return Corpus(
        counts,
        tuple(words),
        rows,
        titles=titles.strings() if isinstance(titles, StringSpool) else as_titles(titles),
        texts=kept_texts,
        labels=labels.labels() if isinstance(labels, LabelSpool) else as_labels(labels),
        links=as_links(links, rows or tuple(map(str, range(n_documents)))),
        timestamps=as_timestamps(timestamps, date_format),
        metadata=as_metadata(metadata or {}),
        segments=parts,
        preprocessing=options.preprocessing,
    )


def _count_texts(
    texts: Iterable[Any], options: TextOptions, n_jobs: int | None, folder: Path | None
) -> tuple[sp.csr_array, list[str], Sequence[str] | None, list[int]]:
    """Counts of all texts, their words, the texts if they are kept, and the end of the rows of each text."""
    count_options = CountOptions(options.preprocessing, options.vocabulary, options.segments)
    counter = WordCounter(options.preprocessing, options.vocabulary, folder)
    kept_texts: list[str] | StringSpool = [] if folder is None else StringSpool(folder)
    segment_ends: list[int] = []
    n_empty = 0
    checked = (checked_text(text, number) for number, text in enumerate(texts))
    for chunk in counted_in_processes(checked, count_options, n_jobs):
        if chunk.counts is None:
            n_rows = [count_document(counter, text, options.segments) for text in chunk.texts]
        else:
            counter.add_counted(chunk.counts, chunk.words)
            n_rows = chunk.n_rows
        for text, number in zip(chunk.texts, n_rows):
            n_empty += not (text.strip() if isinstance(text, str) else any(part.strip() for part in text))
            segment_ends.append(number + (segment_ends[-1] if segment_ends else 0))
            if options.keep_texts:
                kept_texts.append(text if isinstance(text, str) else "\n\n".join(text))
    counts, words = counter.finish()
    if not segment_ends:
        raise InputError("the corpus is empty: there are no documents")
    if n_empty:
        of_all = f"{n_empty:,} of {len(segment_ends):,} texts"
        warn_user(f"{of_all} are empty: they keep their rows, but have no topic in tables")
    if not options.keep_texts:
        return counts, words, None, segment_ends
    all_texts = kept_texts.strings() if isinstance(kept_texts, StringSpool) else tuple(kept_texts)
    return counts, words, all_texts, segment_ends


def _segments_and_documents(counts: sp.csr_array, ends: list[int]) -> tuple[Segments, sp.csr_array]:
    documents = np.repeat(np.arange(len(ends)), np.diff(np.concatenate([[0], ends])))
    member = sp.csr_array((np.ones(len(documents), np.int32), (documents, np.arange(len(documents)))))
    summed = sp.csr_array(member @ counts)
    summed.sort_indices()
    return Segments(counts, documents), summed
