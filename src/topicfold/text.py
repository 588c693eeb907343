"""From text to words: tokens, stop words, stems, n-grams, and the choice of a vocabulary.

`Preprocessing.words` is the plain definition: what becomes of one text. `WordCounter` counts the words of many texts as
they stream by, with the same result, one dictionary look-up a token.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from importlib import resources
from itertools import repeat
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = [
    "Preprocessing",
    "WordCounter",
    "choose_words",
    "split_segments",
    "stop_word_languages",
    "stop_words_of",
    "token_spans",
    "token_stream",
]

TOKEN_PATTERN = r"\b[^\W\d_]\w+\b"  # two or more letters or digits, the first a letter
_LOOK_AHEAD = 8  # tokens of a tokenizer that are looked for together in a text
_REACH = 2_000  # characters within which a token is looked for: one further away is another
_FLUSH_TOKENS = 1 << 19  # tokens held as they come before they are summed up to counts
_CHUNK = 1 << 20  # stored values looked at together when a matrix is worked on in place


def stop_word_languages() -> list[str]:
    """The languages there is a stop word list for.

    >>> "english" in stop_word_languages()
    True
    """
    folder = resources.files("topicfold") / "stopwords"
    return sorted(entry.name[:-4] for entry in folder.iterdir() if entry.name.endswith(".txt"))


def stop_words_of(language: str) -> frozenset[str]:
    """The stop words of a language, from the lists that come with the package.

    >>> "the" in stop_words_of("english")
    True
    """
    if language not in stop_word_languages():
        raise ValueError(f"no stop words for {language!r}; there are lists for: {', '.join(stop_word_languages())}")
    file = resources.files("topicfold") / "stopwords" / f"{language}.txt"
    return frozenset(file.read_text(encoding="utf-8").split())


@dataclass(frozen=True)
class Preprocessing:
    """What turns a text into words. Frozen, comparable, and kept in every model file.

    `stop_words` is a language, a collection of words, or None. `stemmer` is a Snowball language. `ngrams=(1, 2)` gives
    single words and pairs. `tokenizer` is any callable from text to a list of words; it takes the place of
    `token_pattern`, and files keep only its import name.

    >>> Preprocessing(stop_words="english", stemmer="english").words("The cats were running, 3 times!")
    ['cat', 'run', 'time']
    >>> Preprocessing(ngrams=(1, 2)).words("new york city")
    ['new', 'york', 'city', 'new york', 'york city']
    """

    token_pattern: str = TOKEN_PATTERN
    lowercase: bool = True
    stop_words: str | tuple[str, ...] | None = "english"
    stemmer: str | None = None
    ngrams: tuple[int, int] = (1, 1)
    tokenizer: Callable[[str], Iterable[str]] | str | None = None

    def __post_init__(self) -> None:
        if self.stop_words is not None and not isinstance(self.stop_words, str):
            object.__setattr__(self, "stop_words", tuple(sorted(set(self.stop_words))))
        if isinstance(self.stop_words, str):
            stop_words_of(self.stop_words)
        if self.stemmer is not None:
            _snowball(self.stemmer)
        shortest, longest = self.ngrams
        if not 1 <= shortest <= longest:
            raise ValueError(f"ngrams={self.ngrams}: expected (shortest, longest) with 1 <= shortest <= longest")
        object.__setattr__(self, "ngrams", (int(shortest), int(longest)))
        try:
            groups = re.compile(self.token_pattern).groups
        except re.error as error:
            raise ValueError(f"token_pattern={self.token_pattern!r} is not a regular expression: {error}") from None
        if groups > 1:
            raise ValueError(f"token_pattern={self.token_pattern!r} has {groups} groups: expected none or one")

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: compiled patterns and stemmers are made anew where they are needed."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def words(self, text: str) -> list[str]:
        """The words of one text, in order; n-grams after the single words."""
        words = [self._stem(token) for token in self.tokens(text) if token not in self._stop_set]
        return _ngrams(words, self.ngrams)

    @cached_property
    def tokens(self) -> Callable[[str], Iterable[str]]:
        """From text to tokens, before stop words and stems."""
        if self.tokenizer is not None:
            tokenizer = self._callable_tokenizer()
            # what is not to be lowered is not touched at all: it may be tokens already
            return (lambda text: tokenizer(self._lowered(_composed(text)))) if self.lowercase else tokenizer
        find = re.compile(self.token_pattern).findall
        find_any = _pattern_with_marks().findall if self.token_pattern == TOKEN_PATTERN else find

        def tokens(text: str) -> list[str]:
            if text.isascii():
                return find(text.lower() if self.lowercase else text)
            return find_any(self._lowered(_composed(text)))

        return tokens

    def _callable_tokenizer(self) -> Callable[[str], Iterable[str]]:
        if callable(self.tokenizer):
            return self.tokenizer
        name = str(self.tokenizer)
        raise ValueError(
            f"this was made with the tokenizer {name}, and files keep only its name: pass it again, "
            f"load(path, tokenizer={name.rpartition(':')[2] or '...'})"
        )

    def _lowered(self, text: str) -> str:
        """The text as tokens are looked for in it; each character stays in its place."""
        # Python lowers the Turkish capital I with a dot to two characters
        return text.replace("\u0130", "i").lower() if self.lowercase else text

    def _places(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of each token of a text that is lowered already."""
        if self.tokenizer is None:
            plain = self.token_pattern != TOKEN_PATTERN or text.isascii()
            pattern = re.compile(self.token_pattern) if plain else _pattern_with_marks()
            for match in pattern.finditer(text):
                start, end = match.span(pattern.groups)
                if start < end:  # a pattern may match nothing
                    yield start, end
            return
        yield from _places_of(list(filter(None, self._callable_tokenizer()(text))), text)

    @cached_property
    def _stop_set(self) -> frozenset[str]:
        if self.stop_words is None:
            return frozenset()
        if isinstance(self.stop_words, str):
            return stop_words_of(self.stop_words)
        return frozenset(word.lower() if self.lowercase else word for word in self.stop_words)

    @cached_property
    def _stem(self) -> Callable[[str], str]:
        return _snowball(self.stemmer).stemWord if self.stemmer else str

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain values; a tokenizer is kept as 'module:name'."""
        tokenizer = self.tokenizer
        if tokenizer is not None and not isinstance(tokenizer, str):
            kind = tokenizer if hasattr(tokenizer, "__qualname__") else type(tokenizer)
            module = getattr(kind, "__module__", None) or "builtins"
            tokenizer = f"{module}:{kind.__qualname__}"
        stop_words = list(self.stop_words) if isinstance(self.stop_words, tuple) else self.stop_words
        return {
            "token_pattern": self.token_pattern,
            "lowercase": self.lowercase,
            "stop_words": stop_words,
            "stemmer": self.stemmer,
            "ngrams": list(self.ngrams),
            "tokenizer": tokenizer,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Preprocessing:
        """The inverse of `to_json`; nothing is imported for a tokenizer's name."""
        stop_words = values["stop_words"]
        if isinstance(stop_words, list):
            stop_words = tuple(stop_words)
        return cls(**{**values, "stop_words": stop_words, "ngrams": tuple(values["ngrams"])})

    def with_tokenizer(self, tokenizer: Callable[[str], Iterable[str]]) -> Preprocessing:
        """The same with the tokenizer given anew, after loading a file that knows only its name."""
        return replace(self, tokenizer=tokenizer)


def _composed(text: str) -> str:
    """One form of what Unicode can write in several ways (NFC)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _places_of(tokens: list[str], text: str) -> Iterator[tuple[int, int]]:
    """Start and end of what a tokenizer found, in order; it may give what is not in the text, such as a lemma."""
    end = 0
    for number, token in enumerate(tokens):
        start = end
        while start < len(text) and not text[start].isalnum() and text[start] != token[0]:
            start += 1
        if not text.startswith(token, start):  # it is not where the text goes on
            start = _whole_word(text, token, end)
            following = (_whole_word(text, other, end) for other in tokens[number + 1 : number + _LOOK_AHEAD])
            if start < 0 or any(0 <= place < start for place in following):
                continue  # nor is it the one further on, if those that follow stand before that
        end = start + len(token)
        yield start, end


def _whole_word(text: str, token: str, start: int) -> int:
    """The next place of a token, or -1; one in ASCII may be no part of a longer word, other scripts have no blanks."""
    stop = start + _REACH
    place = text.find(token, start, stop)
    while place >= 0 and token.isascii():
        before, after = text[place - 1 : place] if place else "", text[place + len(token) : place + len(token) + 1]
        if not (before.isalnum() and token[0].isalnum()) and not (after.isalnum() and token[-1].isalnum()):
            break
        place = text.find(token, place + 1, stop)
    return place


@cache
def _pattern_with_marks() -> re.Pattern[str]:
    r"""TOKEN_PATTERN for every script: vowel signs and accents that stand on their own belong to the word.

    Python's \w leaves them out, which would cut Hindi, Thai or vocalised Arabic to pieces. Texts in ASCII need not pay
    for the larger class.
    """
    marks = [chr(code) for code in range(0x300, 0x11000) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    return re.compile(rf"\b[^\W\d_][\w{''.join(marks)}]+")


def _snowball(language: str) -> Any:
    import Stemmer

    if language not in Stemmer.algorithms():
        raise ValueError(f"no stemmer for {language!r}; there are: {', '.join(sorted(Stemmer.algorithms()))}")
    return Stemmer.Stemmer(language)


def _ngrams(words: list[str], sizes: tuple[int, int]) -> list[str]:
    if sizes == (1, 1):
        return words
    return [
        " ".join(words[start : start + size])
        for size in range(sizes[0], sizes[1] + 1)
        for start in range(len(words) - size + 1)
    ]


class _WordColumns(dict[str, int]):
    """From token to column; a token met for the first time gets its column, or -1 when it is a stop word."""

    def __init__(self, preprocessing: Preprocessing, vocabulary: Sequence[str] | None) -> None:
        super().__init__()
        plain = preprocessing.ngrams == (1, 1)  # else tokens arrive here as finished n-grams
        self._stop = preprocessing._stop_set if plain else frozenset()
        self._stem = preprocessing._stem if plain and preprocessing.stemmer else None
        self._fixed = vocabulary is not None
        self.words: list[str] = list(vocabulary or ())
        self._column_of_word = {word: column for column, word in enumerate(self.words)} if self._stem else self
        if self._fixed and not self._stem:
            self.update((word, column) for column, word in enumerate(self.words))
            self.update((token, -1) for token in self._stop)

    def of(self, tokens: Iterable[str]) -> Iterator[int]:
        """The columns of tokens, -1 for those that have none."""
        if self._fixed and self._stem is None:  # all there is to know is known: no need to call __missing__
            return map(self.get, tokens, repeat(-1))
        return map(self.__getitem__, tokens)

    def __missing__(self, token: str) -> int:
        if token in self._stop:
            self[token] = -1
            return -1
        column = self.column_of(self._stem(token) if self._stem else token)
        if column >= 0:  # others are not remembered: a stream of new texts must not fill the memory
            self[token] = column
        return column

    def column_of(self, word: str) -> int:
        """The column of a word that is stopped and stemmed already, a new one where the vocabulary is open."""
        # `get` never calls __missing__, so this is safe where the two dictionaries are one
        column = self._column_of_word.get(word, -1)
        if column < 0 and not self._fixed:
            if not isinstance(word, str):
                raise ValueError(f"the tokenizer gave {word!r:.40}: expected strings")
            column = len(self.words)
            self.words.append(word)
            self._column_of_word[word] = column
        return column


class WordCounter:
    """Counts words as texts stream by. Memory is that of the counts and the vocabulary, plus a few megabytes.

    >>> counter = WordCounter(Preprocessing())
    >>> for text in ["red fish blue fish", "a fish"]:
    ...     counter.add(text)
    >>> counts, words = counter.finish()
    >>> counts.toarray().tolist(), words
    ([[1, 2, 1], [0, 1, 0]], ['red', 'fish', 'blue'])
    """

    def __init__(self, preprocessing: Preprocessing, vocabulary: Sequence[str] | None = None) -> None:
        if isinstance(vocabulary, str):
            raise ValueError("vocabulary is one string: expected a list of words")
        self._columns = _WordColumns(preprocessing, vocabulary)
        self._ngrams = preprocessing.ngrams
        self._tokens = preprocessing.tokens if preprocessing.ngrams == (1, 1) else preprocessing.words
        self._single_words = replace(preprocessing, ngrams=(1, 1)).words
        self._fixed_width = None if vocabulary is None else len(vocabulary)
        self._pending = array("i")
        self._pending_ends: list[int] = []
        # array.array grows by realloc, which moves pages instead of copying them: no second copy of the counts
        self._indices = array("i")
        self._data = array("i")
        self._indptr = array("q", [0])

    def add(self, text: str) -> None:
        """Count the words of one text as the next row."""
        self._pending.extend(self._columns.of(self._tokens(text)))
        self._end_row()

    def add_windows(self, text: str, size: int) -> int:
        """Count one text as rows of `size` tokens each, and return their number (at least one)."""
        words = self._single_words(text)
        starts = range(0, max(len(words), 1), size)
        for start in starts:
            window = _ngrams(words[start : start + size], self._ngrams)
            self._pending.extend(map(self._columns.column_of, window))
            self._end_row()
        return len(starts)

    def finish(self) -> tuple[sp.csr_array, list[str]]:
        """The counts (rows sorted by column) and the words, in the order they were first met."""
        self._flush()
        words = self._columns.words
        width = len(words) if self._fixed_width is None else self._fixed_width
        self._columns = _WordColumns(Preprocessing(stop_words=None), ())  # frees the token dictionary
        return _csr(np.asarray(self._data), np.asarray(self._indices), np.asarray(self._indptr), width), words

    def _end_row(self) -> None:
        self._pending_ends.append(len(self._pending))
        if len(self._pending) >= _FLUSH_TOKENS:
            self._flush()

    def _flush(self) -> None:
        if not self._pending_ends:
            return
        columns = np.asarray(self._pending)
        ends = np.concatenate([[0], self._pending_ends])
        known = columns >= 0
        indptr = np.concatenate([[0], np.cumsum(known)])[ends]
        columns = columns[known]
        width = max(1, int(columns.max(initial=0)) + 1)
        counts = sp.csr_array((np.ones(len(columns), np.int32), columns, indptr), (len(ends) - 1, width))
        counts.sum_duplicates()
        self._indptr.extend((counts.indptr[1:].astype(np.int64) + self._indptr[-1]).tolist())
        self._indices.frombytes(counts.indices.astype(np.int32, copy=False).tobytes())
        self._data.frombytes(counts.data.tobytes())
        self._pending, self._pending_ends = array("i"), []


def token_stream(
    texts: Iterable[str], vocabulary: Sequence[str], preprocessing: Preprocessing
) -> tuple[np.ndarray, np.ndarray]:
    """The texts as runs of word columns in order, for measures that look at windows: (columns, indptr).

    A token outside the vocabulary is -1 and keeps its place; n-grams have no place in a stream and are left out.

    >>> columns, indptr = token_stream(["a red red fish"], ["fish", "red"], Preprocessing())
    >>> columns.tolist(), indptr.tolist()
    ([1, 1, 0], [0, 3])
    """
    single = replace(preprocessing, ngrams=(1, 1))
    columns = _WordColumns(single, vocabulary)
    stream, ends = array("i"), array("q", [0])
    for text in texts:
        stream.extend(columns.of(single.tokens(text)))
        ends.append(len(stream))
    return np.asarray(stream), np.asarray(ends)


def token_spans(text: str, preprocessing: Preprocessing) -> tuple[str, list[tuple[int, int, str]]]:
    """The text as it is cut, and where in it each word came from: (start, end, word), stop words left out.

    The text is the one given but for its Unicode form (NFC). Words are single words, whatever the n-grams.

    >>> token_spans("The Cats!", Preprocessing(stemmer="english"))
    ('The Cats!', [(4, 8, 'cat')])
    """
    if preprocessing.tokenizer is None or preprocessing.lowercase:
        text = _composed(text)
    lowered = preprocessing._lowered(text)
    spans = []
    for start, end in preprocessing._places(lowered):
        token = lowered[start:end]
        if token not in preprocessing._stop_set:
            spans.append((start, end, preprocessing._stem(token)))
    return text, spans


def split_segments(text: str | Sequence[str], how: str | Callable[[str], Sequence[str]]) -> list[str]:
    """Cut a text into segments: 'paragraphs' (blank lines), 'sentences', 'given' (already a list), or a callable.

    >>> split_segments("One. Two!\\n\\nThree?", "paragraphs")
    ['One. Two!', 'Three?']
    >>> split_segments("One. Two!\\n\\nThree?", "sentences")
    ['One.', 'Two!', 'Three?']
    """
    if callable(how):
        return list(how(text))  # type: ignore[arg-type]
    if how == "given":
        if isinstance(text, str):
            raise ValueError("segments='given' expects each text to be a list of segments, not one string")
        return list(text)
    if not isinstance(text, str):
        raise ValueError(f"segments={how!r} expects each text to be one string; a list of segments is 'given'")
    pattern = {"paragraphs": r"\n\s*\n", "sentences": r"(?<=[.!?。！？])\s+|\n\s*\n|(?<=[。！？])"}.get(how)
    if pattern is None:
        raise ValueError(
            f"segments={how!r}: expected 'paragraphs', 'sentences', 'given', a number of tokens, or a callable"
        )
    return [part for part in (part.strip() for part in re.split(pattern, text)) if part]


def choose_words(
    counts: sp.csr_array,
    words: Sequence[str],
    *,
    min_df: int | float = 1,
    max_df: int | float = 1.0,
    max_words: int | None = None,
    rank_by: str = "frequency",
) -> tuple[sp.csr_array, list[str]]:
    """Keep the words that pass the filters, in alphabetical order. The arrays of `counts` are used up in place.

    A whole number is a number of documents, a fraction a share of them. `rank_by` says which words `max_words` keeps:
    the most frequent, or those with the highest mean tf-idf ('tfidf': length-normalised tf times ln(N / df)).
    """
    n_documents = counts.shape[0]
    if n_documents == 0:
        raise ValueError("the corpus is empty: there are no documents")
    if not words:
        raise ValueError("no words: the texts are empty, or hold nothing but stop words and what token_pattern skips")
    low, high = _documents("min_df", min_df, n_documents), _documents("max_df", max_df, n_documents)
    document_frequency = _column_sums(counts, "documents")
    rare, common = document_frequency < low, document_frequency > high
    kept = np.flatnonzero(~rare & ~common)
    if len(kept) == 0:
        raise ValueError(
            f"no word is left of {len(words):,}: min_df={min_df} took {int(rare.sum()):,} "
            f"and max_df={max_df} took {int((common & ~rare).sum()):,}; loosen the filter that took most"
        )
    if max_words is not None and max_words < 1:
        raise ValueError(f"max_words={max_words}: expected at least 1")
    if max_words is not None and max_words < len(kept):
        kept = _best(counts, words, kept, document_frequency, max_words, rank_by)
    elif rank_by not in _RANKINGS:
        raise ValueError(f"rank_by={rank_by!r}: expected one of {', '.join(_RANKINGS)}")
    kept = np.array(sorted(kept.tolist(), key=words.__getitem__), dtype=np.int64)
    new_column = np.full(len(words), -1, np.int32)
    new_column[kept] = np.arange(len(kept), dtype=np.int32)
    return _renumber_columns(counts, new_column, len(kept)), [words[column] for column in kept.tolist()]


_RANKINGS = ("frequency", "tfidf")


def _documents(name: str, value: int | float, n_documents: int) -> float:
    share = isinstance(value, float | np.floating)
    if isinstance(value, bool) or not (0 <= value <= 1 if share else value >= 0):
        raise ValueError(f"{name}={value}: expected a number of documents (1, 2, ...) or a share of them (0.0 to 1.0)")
    return float(value) * n_documents if share else value


def _best(
    counts: sp.csr_array, words: Sequence[str], kept: np.ndarray, df: np.ndarray, max_words: int, rank_by: str
) -> np.ndarray:
    if rank_by not in _RANKINGS:
        raise ValueError(f"rank_by={rank_by!r}: expected one of {', '.join(_RANKINGS)}")
    if rank_by == "frequency":
        value = _column_sums(counts, "tokens")
    else:
        value = _column_sums(counts, "shares") * np.log(counts.shape[0] / np.maximum(df, 1))
    # equal values are told apart by the word itself, so the choice does not depend on the order of the documents
    best = sorted(kept.tolist(), key=lambda column: (-value[column], words[column]))
    return np.array(best[:max_words], dtype=np.int64)


def _column_sums(counts: sp.csr_array, what: str) -> np.ndarray:
    """Per column: documents it is in, tokens, or the sum of its shares of the documents. A chunk at a time."""
    total = np.zeros(counts.shape[1])
    if what == "shares":
        filled = np.flatnonzero(np.diff(counts.indptr))
        lengths = np.ones(counts.shape[0])
        if len(filled):
            lengths[filled] = np.add.reduceat(counts.data, counts.indptr[filled])
    for start, stop in _chunks(counts.nnz):
        weights = np.ones(stop - start) if what == "documents" else counts.data[start:stop].astype(float)
        if what == "shares":
            rows = np.searchsorted(counts.indptr, np.arange(start, stop), side="right") - 1
            weights /= lengths[rows]
        total += np.bincount(counts.indices[start:stop], weights, minlength=len(total))
    return total


def _renumber_columns(counts: sp.csr_array, new_column: np.ndarray, width: int) -> sp.csr_array:
    """Give each column its new number and drop those numbered -1, in place: the kept values move up to the front."""
    indices, data, old_indptr = counts.indices, counts.data, counts.indptr
    indptr = np.zeros(len(old_indptr), np.int64)
    end = 0
    for start, stop in _chunks(len(data)):
        renumbered = new_column[indices[start:stop]]
        keep = renumbered >= 0
        kept_before = np.concatenate([[0], np.cumsum(keep)])
        first, last = np.searchsorted(old_indptr, [start, stop], side="left")
        last = len(old_indptr) if stop == len(data) else last
        indptr[first:last] = end + kept_before[old_indptr[first:last] - start]
        size = int(kept_before[-1])
        indices[end : end + size] = renumbered[keep]
        data[end : end + size] = data[start:stop][keep]
        end += size
    kept = _csr(data[:end], indices[:end], indptr, width)
    kept.sort_indices()
    if end < 0.35 * len(data):  # a small copy frees the large, unused tail
        kept = kept.copy()
    return kept


def _chunks(n: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n, _CHUNK):
        yield start, min(start + _CHUNK, n)


def _csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, width: int) -> sp.csr_array:
    if indptr[-1] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sp.csr_array((data, indices, indptr), (len(indptr) - 1, width), copy=False)
