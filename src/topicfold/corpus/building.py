"""From texts to a corpus: the options, and the counting itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..engine.warn import warn_user
from ..errors import InputError
from .corpus import Corpus, Segments
from .counted_chunks import CountOptions, cleaned, count_document, counted_in_processes
from .counting import WordCounter, choose_rows, choose_words, usual_limits
from .dates import read_dates
from .digests import DIGESTS, text_digest
from .fields import as_ids, as_labels, as_links, as_titles, checked_text
from .languages import guess_languages, language_named
from .metadata import read_metadata
from .preprocessing import AUTO, Preprocessing
from .spool import LabelSpool, StringSpool
from .stored_strings import StoredLabels, StoredStrings
from .tokenizers import check_tokenizer_name

if TYPE_CHECKING:
    from .copies import Copies

__all__ = ["Auto", "RankWordsBy", "Segmentation", "TextOptions", "corpus_from_texts", "preprocessing_from"]

Segmentation: TypeAlias = str | int | Callable[[str], Sequence[str]] | None
RankWordsBy: TypeAlias = Literal["frequency", "tfidf"]
Auto: TypeAlias = Literal["auto"]


_SAMPLE = 2000  # texts by which languages and repeated lines are told
_SAMPLE_CHARACTERS = 1 << 21  # fewer texts of a stream, if they are long: they are in memory together
_TOLD = {"stop_words": AUTO, "stemmer": AUTO}  # from the texts of a corpus


@dataclass(frozen=True)
class TextOptions:
    """How texts become words, and which words are kept; see `Corpus.from_texts`."""

    preprocessing: Preprocessing
    vocabulary: Sequence[str] | None = None
    segments: Segmentation = None
    keep_texts: bool = False
    min_df: int | float | Auto = "auto"
    max_df: int | float | Auto = "auto"
    max_words: int | None = None
    rank_by: RankWordsBy = "frequency"
    unique: bool = False
    language: str | None = None  # documents in another one are left out
    as_fitted: bool = False  # the vocabulary is that of a model: see `WordCounter`

    def __post_init__(self) -> None:
        if self.language is not None:
            name = language_named(self.language) if isinstance(self.language, str) else None
            if name is None:
                raise InputError(f"language={self.language!r:.60}: expected a language, such as 'german' or 'de'")
            object.__setattr__(self, "language", name)

    def filter_words(self, counts: sp.csr_array, words: Sequence[str]) -> tuple[sp.csr_array, list[str]]:
        """The columns of the words that pass the filters; the arrays of `counts` are overwritten."""
        min_df = 1 if self.unique and self.min_df == 0 else self.min_df  # not the words of dropped copies alone
        return choose_words(
            counts, words, min_df=min_df, max_df=self.max_df, max_words=self.max_words, rank_by=self.rank_by
        )


def preprocessing_from(preprocessing: Preprocessing | None, **field_values: Any) -> Preprocessing:
    """The Preprocessing that was passed, or one made from its fields passed as parameters; not both."""
    defaults = {field.name: field.default for field in fields(Preprocessing)} | _TOLD
    changed = {name: value for name, value in field_values.items() if value != defaults[name]}
    if isinstance(changed.get("tokenizer"), str):  # one that files name has no function here
        check_tokenizer_name(changed["tokenizer"])
    if preprocessing is None:
        return Preprocessing(**{**_TOLD, **changed})
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
    strict_dates: bool = False,
    n_jobs: int | None = None,
    folder: Path | None = None,
) -> Corpus:
    """Count the words of texts, which are read once; ids, labels and so on may be filled in while they are read.

    With a `folder`, counts and texts are written to temporary files there, and stay there, as do values passed as
    spools.
    """
    if folder is not None and options.segments is not None:
        raise InputError("segments are kept in memory: set either segments or on_disk, not both")
    if not options.as_fitted:
        sample, texts = _sampled(texts)
        options = replace(options, preprocessing=options.preprocessing._settled(sample))
    counted = _count_texts(texts, options, n_jobs, folder)
    names = ids.strings() if isinstance(ids, StringSpool) else as_ids(ids)
    names = names or tuple(map(str, range(len(counted.segment_ends))))
    fields: dict[str, Any] = {
        "ids": names,
        "titles": titles.strings() if isinstance(titles, StringSpool) else as_titles(titles),
        "texts": counted.texts,
        "labels": labels.labels() if isinstance(labels, LabelSpool) else as_labels(labels),
    }
    notes = counted.notes
    if timestamps is not None:
        fields["timestamps"], date_notes = read_dates(timestamps, date_format, strict_dates, names)
        notes["dates"] = as_json(date_notes)
    columns, column_notes = read_metadata(metadata or {})
    notes |= {"columns_failed": {name: as_json(note) for name, note in column_notes.items()}} if column_notes else {}
    _warn_of_values(notes)
    documents = _Documents(counted.counts, None, fields, columns, as_links(links, names))
    if options.segments is not None:
        segments, summed = _segments_and_documents(counted.counts, counted.segment_ends)
        documents = documents._replace(counts=summed, segments=segments)
    documents = _chosen_documents(documents, counted, options, folder)
    return _corpus_of(documents, counted.words, options, notes)


class _Documents(NamedTuple):
    """Documents with what is known about them, of which some may be left out."""

    counts: sp.csr_array
    segments: Segments | None
    fields: dict[str, Any]
    metadata: dict[str, np.ndarray]
    links: np.ndarray | None

    def of_rows(self, rows: np.ndarray, folder: Path | None) -> _Documents:
        links = self.links
        if links is not None:
            new_row = np.full(self.counts.shape[0], -1)
            new_row[rows] = np.arange(len(rows))
            links = new_row[links]
            links = links[(links >= 0).all(axis=1)]
        return _Documents(
            choose_rows(self.counts, rows, folder),
            None if self.segments is None else _segments_of(self.segments, rows),
            {name: _chosen(values, rows, folder) for name, values in self.fields.items()},
            {name: _chosen(values, rows, folder) for name, values in self.metadata.items()},
            links,
        )


def _chosen_documents(
    documents: _Documents, counted: _CountedTexts, options: TextOptions, folder: Path | None
) -> _Documents:
    """The documents without those in another language, and without copies, if that is asked for."""
    digests, notes, n_documents = counted.digests, counted.notes, documents.counts.shape[0]
    if options.language is not None:
        rows = np.flatnonzero(np.array([language in (None, options.language) for language in counted.languages]))
        if len(rows) == 0:
            raise InputError(f"language={options.language!r}: none of {n_documents:,} documents is in this language")
        if len(rows) < n_documents:
            n_left_out = notes["left_out_by_language"] = n_documents - len(rows)
            warn_user(f"{n_left_out:,} of {n_documents:,} documents are in another language and are left out")
            documents, digests = documents.of_rows(rows, folder), digests[rows] if options.unique else digests
    copies = _found_copies(documents.counts, digests) if options.unique else None
    if copies is None:
        return documents
    notes["copies_left_out"] = {"exact": copies.n_exact, "near": copies.n_near}
    from .copies import without_copies

    links = None if documents.links is None else without_copies(documents.links, copies.first)
    return documents.of_rows(copies.rows, folder)._replace(links=links)


def _corpus_of(documents: _Documents, words: list[str], options: TextOptions, notes: dict[str, Any]) -> Corpus:
    """The corpus of the documents over the words that are chosen."""
    counts, segments = documents.counts, documents.segments
    if options.vocabulary is None:
        usual = dict(zip(("min_df", "max_df"), usual_limits(counts.shape[0])))
        limits = {"min_df": options.min_df, "max_df": options.max_df}
        chosen = {name: usual[name] if limit == "auto" else limit for name, limit in limits.items()}
        notes |= {name: limit.item() if isinstance(limit, np.generic) else limit for name, limit in chosen.items()}
    if options.vocabulary is None and segments is None:
        counts, words = options.filter_words(counts, words)
    elif options.vocabulary is None and segments is not None:
        column = {word: index for index, word in enumerate(words)}
        counts, words = options.filter_words(counts.copy(), words)
        segments = replace(segments, counts=segments.counts[:, [column[word] for word in words]])
    return Corpus(
        counts,
        tuple(words),
        links=documents.links,
        metadata=documents.metadata,
        segments=segments,
        preprocessing=options.preprocessing,
        notes=notes,
        **documents.fields,
    )


def _warn_of_values(notes: Mapping[str, Any]) -> None:
    """Say which dates and values of columns are missing because they could not be read."""
    for name, note in {"": notes.get("dates"), **notes.get("columns_failed", {})}.items():
        if note is not None and note["summary"]:
            warn_user(f"metadata {name!r}: {note['summary']}" if name else note["summary"])


def as_json(note: Any) -> dict[str, Any]:
    """Notes on a column, as plain values."""
    values = {name: list(map(list, value)) if name == "examples" else value for name, value in note._asdict().items()}
    return {**values, "summary": note.summary()}


def _sampled(texts: Iterable[Any]) -> tuple[list[str], Iterable[Any]]:
    """Some texts, and all: evenly spaced if they are at hand, otherwise the first."""
    if isinstance(texts, list | tuple):
        sample = list(texts[:: -(-len(texts) // _SAMPLE) or 1])
    else:
        sample, stream, n_characters = [], iter(texts), 0
        while len(sample) < _SAMPLE and n_characters < _SAMPLE_CHARACTERS and (first := list(islice(stream, 1))):
            sample += first
            n_characters += len(first[0]) if isinstance(first[0], str) else 0
        texts = chain(sample, stream)
    parts = (text if isinstance(text, list | tuple) else [text] for text in sample)
    return ["\n\n".join(map(str, part)) for part in parts if any(isinstance(text, str) for text in part)], texts


def _found_copies(counts: sp.csr_array, digests: np.ndarray) -> Copies | None:
    """The copies, and a message that says how many there are; None if there are none."""
    from .copies import find_copies  # numba, which takes long to import

    copies = find_copies(counts, digests)
    n_dropped = copies.n_exact + copies.n_near
    if n_dropped == 0:
        return None
    warn_user(
        f"{n_dropped:,} of {len(digests):,} documents are copies of earlier ones and are dropped: "
        f"{copies.n_exact:,} exact, {copies.n_near:,} near"
    )
    return copies


def _chosen(values: Any, rows: np.ndarray, folder: Path | None) -> Any:
    """The values of some documents; strings in a file stay in a file."""
    if values is None or isinstance(values, np.ndarray):
        return None if values is None else values[rows]
    if folder is None or not isinstance(values, StoredStrings | StoredLabels):
        return tuple(values[row] for row in rows.tolist())
    if isinstance(values, StoredLabels):
        labels = LabelSpool(folder, tuple)
        for row in rows.tolist():
            labels.append(values[row])
        return labels.labels()
    strings = StringSpool(folder)
    chosen = np.isin(np.arange(len(values)), rows).tolist()
    for text, is_chosen in zip(values, chosen):
        if is_chosen:
            strings.append(text)
    return strings.strings()


class _CountedTexts(NamedTuple):
    counts: sp.csr_array
    words: list[str]
    texts: Sequence[str] | None  # clean; None if they are not kept
    segment_ends: list[int]  # of the rows of each text
    digests: np.ndarray  # empty unless copies are left out
    languages: list[str | None]  # empty unless one is asked for
    notes: dict[str, Any]


def _count_texts(texts: Iterable[Any], options: TextOptions, n_jobs: int | None, folder: Path | None) -> _CountedTexts:
    """Clean and count all texts."""
    preprocessing = options.preprocessing
    count_options = CountOptions(preprocessing, options.vocabulary, options.segments, options.as_fitted)
    counter = WordCounter(preprocessing, options.vocabulary, folder, as_fitted=options.as_fitted)
    cleaner = preprocessing._cleaner()
    kept_texts: list[str] | StringSpool = [] if folder is None else StringSpool(folder)
    segment_ends, languages = list[int](), list[str | None]()
    digests = bytearray()
    n_empty = n_foreign = 0
    checked = (checked_text(text, number) for number, text in enumerate(texts))
    for chunk in counted_in_processes(checked, count_options, n_jobs):
        if chunk.counts is None:
            clean_texts = [cleaned(cleaner, text) for text in chunk.texts]
            n_rows = [count_document(counter, text, options.segments) for text in clean_texts]
        else:
            counter.add_counted(chunk.counts, chunk.words, chunk.forms)
            clean_texts, n_rows = list(chunk.texts), chunk.n_rows
            cleaner.add(chunk.cleaner)
            n_foreign += chunk.n_foreign
        for text, number in zip(clean_texts, n_rows):
            whole = text if isinstance(text, str) else "\n\n".join(text)
            n_empty += not whole.strip()
            segment_ends.append(number + (segment_ends[-1] if segment_ends else 0))
            if options.unique:
                digests += text_digest(whole)
            if options.language is not None:
                languages += guess_languages([whole])
            if options.keep_texts:
                kept_texts.append(whole)
    counts, words = counter.finish()
    if not segment_ends:
        raise InputError("the corpus is empty: there are no documents")
    if n_empty:
        of_all = f"{n_empty:,} of {len(segment_ends):,} texts"
        warn_user(f"{of_all} are empty: they keep their rows, but have no topic in tables")
    notes: dict[str, Any] = {"removed": dict(cleaner.removed), "texts_cleaned": dict(cleaner.texts)}
    if n_foreign + counter.n_foreign:
        notes["too_few_known_words"] = n_foreign + counter.n_foreign
    all_texts = kept_texts.strings() if isinstance(kept_texts, StringSpool) else tuple(kept_texts)
    every_digest = np.frombuffer(bytes(digests), DIGESTS)
    texts_if_kept = all_texts if options.keep_texts else None
    return _CountedTexts(counts, words, texts_if_kept, segment_ends, every_digest, languages, notes)


def _segments_and_documents(counts: sp.csr_array, ends: list[int]) -> tuple[Segments, sp.csr_array]:
    documents = np.repeat(np.arange(len(ends)), np.diff(np.concatenate([[0], ends])))
    member = sp.csr_array((np.ones(len(documents), np.int32), (documents, np.arange(len(documents)))))
    summed = sp.csr_array(member @ counts)
    summed.sort_indices()
    return Segments(counts, documents), summed


def _segments_of(segments: Segments, rows: np.ndarray) -> Segments:
    chosen = np.isin(segments.documents, rows)
    return Segments(segments.counts[chosen], np.searchsorted(rows, segments.documents[chosen]))
