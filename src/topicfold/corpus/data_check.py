"""What a corpus is made of, and what is wrong with it: the data check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InputError
from .cleaning import KINDS, repeated_lines
from .languages import guess_languages, main_script

if TYPE_CHECKING:
    from .corpus import Corpus

__all__ = ["CorpusCheck", "check_corpus_of", "check_notes", "cleaning_summary"]

_SAMPLE, _SAMPLE_OF_LINES = 2_000, 20_000  # documents whose language and script, or lines, are looked at
_MOST_EXAMPLES = 3
_SHOWN_LINES = _SHOWN_SHARES = 5
_SHOWN_COLUMNS = 30
_LONGEST_ENTRY, _SHOWN_OF_LINE = 80, 40  # characters


class CorpusCheck(NamedTuple):
    """What a corpus is made of, and what is wrong with it; see `Corpus.check`.

    Attributes
    ----------
    n_documents : int
        Number of documents.
    n_empty : int or None
        Number of empty texts; None if the corpus has no texts.
    n_wordless : int
        Number of documents without any word of the vocabulary, empty ones included.
    n_exact_copies, n_near_copies : int
        Number of documents that are copies of earlier ones; see `Corpus.copies`.
    languages : dict of str to int
        Number of documents in each language, the most frequent first; 'unknown' where a text does not tell.
    scripts : dict of str to int
        Number of documents mainly in each script.
    other_language : tuple of str
        Ids of some documents that are clearly in another language than most.
    n_sampled : int
        Number of documents whose language and script were looked at.
    tokens : dict of str to int
        Shortest, median and longest document, in tokens of the vocabulary.
    repeated_lines : tuple of (str, int)
        Lines that stand in many documents, with the number of documents.
    removed, texts_cleaned : dict of str to int
        How often cleaning removed something, and from how many texts, by kind.
    notes : dict
        What was noticed while the corpus was read: columns, values that could not be read, documents left out.

    See Also
    --------
    Corpus.copies : Which documents are copies.

    Examples
    --------
    >>> from topicfold import Corpus
    >>> check = Corpus.from_texts(["<b>Red</b> fish", "red fish", "Blue tree"], keep_texts=True).check()
    >>> check.n_exact_copies, check.removed
    (1, {'tags': 2})
    """

    n_documents: int
    n_empty: int | None
    n_wordless: int
    n_exact_copies: int
    n_near_copies: int
    languages: dict[str, int]
    scripts: dict[str, int]
    other_language: tuple[str, ...]
    n_sampled: int
    tokens: dict[str, int]
    repeated_lines: tuple[tuple[str, int], ...]
    removed: dict[str, int]
    texts_cleaned: dict[str, int]
    notes: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the check as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return self._asdict()

    def parts(self) -> list[tuple[str, str]]:
        """Return what there is to say, as titles with a text each.

        Returns
        -------
        list of (str, str)
            The parts that `print` shows, without those that have nothing to say.
        """
        lengths = self.tokens
        used, unused = self.notes.get("columns_used", {}), self.notes.get("columns_unused", {})
        lines = [f"{_short(line)} ({number:,})" for line, number in self.repeated_lines[:_SHOWN_LINES]]
        parts = {
            "documents": self._documents(),
            "tokens per document": f"{lengths['shortest']:,} to {lengths['longest']:,}, median {lengths['median']:,}",
            "languages": self._shares(self.languages, self.other_language),
            "scripts": self._shares(self.scripts) if len(self.scripts) > 1 else "",
            "columns": _listed([f"{name}: {why}" for name, why in used.items()], _SHOWN_COLUMNS),
            "columns not used": _listed([f"{name}: {why}" for name, why in unused.items()], _SHOWN_COLUMNS),
            "dates": _dates(self.notes),
            "other values": "; ".join(_failed_values(self.notes)),
            "cleaning removed": _removed(self.removed),
            "left out": _left_out(self.notes),
            "lines in many documents": "; ".join(lines),
        }
        return [(title, text) for title, text in parts.items() if text]

    def short_lines(self) -> list[str]:
        """Return at most three lines: documents and copies, languages, and what cleaning removed or could remove.

        Returns
        -------
        list of str
            The lines.
        """
        parts = dict(self.parts())
        lines = [f"documents: {parts['documents']}"]
        if "languages" in parts:
            lines.append(f"languages: {parts['languages']}")
        texts = [cleaning_summary(self.removed)] if self.removed else []
        if self.repeated_lines:
            line, number = self.repeated_lines[0]
            n_lines = len(self.repeated_lines)
            stand = "1 line stands" if n_lines == 1 else f"{n_lines:,} lines stand"
            example = f"{line[:_SHOWN_OF_LINE]!r} in {number:,}"
            texts.append(f"{stand} in many documents, such as {example} (--drop-lines repeated)")
        return [*lines, "; ".join(texts)] if texts else lines

    def __str__(self) -> str:
        return "\n".join(f"{title}: {text}" for title, text in self.parts())

    def _documents(self) -> str:
        copies = {"exact": self.n_exact_copies, "near": self.n_near_copies}
        problems = {"empty": self.n_empty or 0, "without a known word": self.n_wordless - (self.n_empty or 0)}
        problems |= {f"{kind} {'copy' if number == 1 else 'copies'}": number for kind, number in copies.items()}
        parts = [f"{number:,} {what}" for what, number in problems.items() if number > 0]
        return f"{self.n_documents:,}" + (f", of which {', '.join(parts)}" if parts else ", no copies")

    def _shares(self, numbers: Mapping[str, int], examples: Sequence[str] = ()) -> str:
        """Shares of the sampled documents, largest first."""
        shares = {name: number / self.n_sampled for name, number in numbers.items()}
        parts = [f"{name} {share:.1%}" if share >= 0.0005 else f"{name} <0.1%" for name, share in shares.items()]
        such_as = f"; in another language than most: {', '.join(map(_short, examples))}" if examples else ""
        sample = f", of {self.n_sampled:,} documents" if parts and self.n_sampled < self.n_documents else ""
        return _listed(parts, _SHOWN_SHARES) + such_as + sample


def _listed(parts: Sequence[str], most: int) -> str:
    more = f" and {len(parts) - most:,} more" if len(parts) > most else ""
    return ", ".join(map(_short, parts[:most])) + more


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_ENTRY else f"{text[: _LONGEST_ENTRY - 1]}…"


def cleaning_summary(removed: Mapping[str, int]) -> str:
    """What cleaning removed, in one line; '' if it was nothing."""
    parts = _removed(removed)
    return f"cleaning removed {parts} (clean=False, --no-clean: texts as they are)" if parts else ""


def _removed(removed: Mapping[str, int]) -> str:
    return ", ".join(f"{removed[kind]:,} {kind}" for kind in KINDS if removed.get(kind))


def check_corpus_of(corpus: Corpus) -> CorpusCheck:
    """The data check of a corpus."""
    texts = corpus.texts
    rows = _spread(len(corpus), _SAMPLE)
    sample = [] if texts is None else [texts[row] for row in rows]
    lines = () if texts is None else repeated_lines(texts[row] for row in _spread(len(corpus), _SAMPLE_OF_LINES))
    languages = [language or "unknown" for language in guess_languages(sample)]
    numbers = dict(Counter(languages).most_common())
    main = next((name for name in numbers if name != "unknown"), "unknown")
    others = [corpus.ids[row] for row, language in zip(rows, languages) if language not in (main, "unknown")]
    lengths = np.asarray(corpus.counts.sum(axis=1)).ravel()
    notes = dict(corpus.notes)
    return CorpusCheck(
        n_documents=len(corpus),
        n_empty=None if texts is None else sum(not text.strip() for text in texts),
        n_wordless=int((np.diff(corpus.counts.indptr) == 0).sum()),
        n_exact_copies=corpus.copies.n_exact,
        n_near_copies=corpus.copies.n_near,
        languages=numbers,
        scripts=dict(Counter(main_script(text[:300]) or "none" for text in sample).most_common()),
        other_language=tuple(others[:_MOST_EXAMPLES]),
        n_sampled=len(sample),
        tokens={
            "shortest": int(lengths.min()),
            "median": int(np.median(lengths)),
            "longest": int(lengths.max()),
        },
        repeated_lines=tuple(lines),
        removed=notes.pop("removed", {}),
        texts_cleaned=notes.pop("texts_cleaned", {}),
        notes=notes,
    )


def _spread(n_documents: int, most: int) -> list[int]:
    """At most so many rows, evenly spaced."""
    return list(range(0, n_documents, -(-n_documents // most)))


def _dates(notes: Mapping[str, Any]) -> str:
    dates = notes.get("dates")
    if dates is None:
        return ""
    details = f"; {dates['summary']}" if dates["summary"] else ""
    return f"{dates['n_read']:,} read, {dates['n_missing']:,} missing{details}"


def _failed_values(notes: Mapping[str, Any]) -> list[str]:
    """What is to be said of values of metadata columns that could not be read."""
    return [f"{name}: {note['summary']}" for name, note in notes.get("columns_failed", {}).items() if note["summary"]]


def _left_out(notes: Mapping[str, Any]) -> str:
    parts = []
    if "left_out_by_language" in notes:
        parts.append(f"{notes['left_out_by_language']:,} documents in another language")
    if "copies_left_out" in notes:
        copies = notes["copies_left_out"]
        parts.append(f"{copies['exact']:,} exact and {copies['near']:,} near copies")
    if "too_few_known_words" in notes:
        parts.append(f"{notes['too_few_known_words']:,} texts in another language, of which too few words are known")
    return ", ".join(parts)


# ---- notes of a file -------------------------------------------------------------------------------------------------

_COUNTS = {"": int}  # what stands under any name
_WORDS = {"": str}
_SUMMARY = {"n_read": int, "n_failed": int, "summary": str}
_NOTES: dict[str, Any] = {
    "removed": _COUNTS,
    "texts_cleaned": _COUNTS,
    "dates": {**_SUMMARY, "n_missing": int},
    "columns_failed": {"": _SUMMARY},
    "columns_used": _WORDS,
    "columns_unused": _WORDS,
    "copies_left_out": {"exact": int, "near": int},
    "left_out_by_language": int,
    "too_few_known_words": int,
    "min_df": int | float,
    "max_df": int | float,
}


def check_notes(notes: Any) -> None:
    """Raise an InputError if the notes of a file are not what a corpus notes."""
    if not isinstance(notes, dict):
        raise InputError("it has no notes")
    for name, note in notes.items():
        if name in _NOTES and not _is_like(note, _NOTES[name]):
            raise InputError(f"its notes on {name} are {note!r:.60}")


def _is_like(value: Any, kind: Any) -> bool:
    if not isinstance(kind, dict):
        return isinstance(value, kind) and not isinstance(value, bool)
    if not isinstance(value, dict):
        return False
    if "" in kind:
        return all(_is_like(each, kind[""]) for each in value.values())
    return kind.keys() <= value.keys() and all(_is_like(value[name], kind[name]) for name in kind)
