"""From words to a matrix of counts, and which words to keep."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ..engine.blocks import row_blocks
from ..engine.checks import is_whole
from ..engine.mapped import is_mapped, release
from ..errors import InputError
from .languages import guess_languages
from .preprocessing import _RANKINGS, Preprocessing
from .spool import Spool, trimmed

__all__ = ["WordCounter", "choose_rows", "choose_words", "count_known_words", "token_stream", "usual_limits"]

_FLUSH_TOKENS = 1 << 19  # number of tokens that are collected before they are summed to counts
_STOP = -2  # the column of stop words; that of unknown words is -1
_WELL_KNOWN = 0.5  # share of the words of a text that a model knows, from which on its language does not matter
_FEW, _MANY = 20, 1000  # documents; between them, a word has to be in 2 documents, with more in 5
_CHUNK = 1 << 20  # stored values that are processed together when a matrix is changed in place


class _WordColumns(dict[str, int]):
    """Maps tokens to columns; a new token gets the next column, a stop word -2, and an unknown one -1."""

    def __init__(self, preprocessing: Preprocessing, vocabulary: Sequence[str] | None) -> None:
        super().__init__()
        plain = preprocessing.ngrams == (1, 1)  # otherwise tokens arrive here as complete n-grams
        self._stop = preprocessing._stop_set if plain else frozenset()
        self._fixed = vocabulary is not None
        self.words: list[str] = list(vocabulary or ())
        self._key = preprocessing._key if self._fixed and preprocessing.stemmer else None
        self._column_of_word: dict[str, int] = self
        if self._key is not None:
            self._column_of_word = {self._key(word): column for column, word in reversed([*enumerate(self.words)])}
        elif self._fixed:
            self.update((word, column) for column, word in enumerate(self.words))
            self.update((token, _STOP) for token in self._stop)

    def of(self, tokens: Iterable[str]) -> Iterator[int]:
        """The columns of tokens, -1 for those without one."""
        if self._fixed and self._key is None:  # all tokens are known: no need to call __missing__
            return map(self.get, tokens, repeat(-1))
        return map(self.__getitem__, tokens)

    def __missing__(self, token: str) -> int:
        if token in self._stop:
            self[token] = _STOP
            return _STOP
        column = self.column_of(token)
        if column >= 0:  # unknown tokens are not stored: a stream of new texts must not fill the memory
            self[token] = column
        return column

    def column_of(self, word: str) -> int:
        """The column of a word that is no stop word; a new column if the vocabulary is not fixed."""
        # `get` never calls __missing__, so this is safe even if both dictionaries are the same object
        column = self._column_of_word.get(self._key(word) if self._key else word, -1)
        if column < 0 and not self._fixed:
            if not isinstance(word, str):
                raise InputError(f"the tokenizer returned {word!r:.40}: expected strings")
            column = len(self.words)
            self.words.append(word)
            self._column_of_word[word] = column
        return column

    def columns_of(self, words: Sequence[str]) -> np.ndarray:
        """`column_of` each word; most are known, and are looked up without a function call for each."""
        columns = np.fromiter(map(self._column_of_word.get, words, repeat(-1)), np.int32, len(words))
        for place in np.flatnonzero(columns < 0).tolist():
            columns[place] = self.column_of(words[place])
        return columns


class _Forms:
    """Forms of words with the same stem: they share a column, and the most frequent one is its word."""

    def __init__(self, key: Callable[[str], str]) -> None:
        self._key = key
        self._column_of_key: dict[str, int] = {}
        self._column = array("i")  # of each form
        self._n_tokens = np.zeros(0, np.int64)

    def columns(self, forms: np.ndarray, words: Sequence[str], n_tokens: np.ndarray | None = None) -> np.ndarray:
        """The columns of forms, given by their places in `words`; `n_tokens` are how often they occur, once if None."""
        for word in words[len(self._column) :]:
            self._column.append(self._column_of_key.setdefault(self._key(word), len(self._column_of_key)))
        self._n_tokens = np.append(self._n_tokens, np.zeros(len(words) - len(self._n_tokens), np.int64))
        self._n_tokens += np.bincount(forms, n_tokens, len(words)).astype(np.int64)
        return np.asarray(self._column, dtype=np.int32)[forms]

    def totals(self) -> np.ndarray:
        """How often each form occurs."""
        return self._n_tokens

    def words(self, words: Sequence[str]) -> list[str]:
        """The most frequent form of each column; of equally frequent ones, the first."""
        column = np.asarray(self._column)
        order = np.lexsort((-self._n_tokens, column))
        _, first = np.unique(column[order], return_index=True)
        return [words[form] for form in order[first].tolist()]


class WordCounter:
    """Counts the words of a stream of texts. It needs memory for the counts and the vocabulary, and a few megabytes.

    >>> counter = WordCounter(Preprocessing())
    >>> for text in ["red fish blue fish", "a fish"]:
    ...     counter.add(text)
    >>> counts, words = counter.finish()
    >>> counts.toarray().tolist(), words
    ([[1, 2, 1], [0, 1, 0]], ['red', 'fish', 'blue'])
    """

    def __init__(
        self,
        preprocessing: Preprocessing,
        vocabulary: Sequence[str] | None = None,
        folder: Path | None = None,
        *,
        as_fitted: bool = False,
    ) -> None:
        """With a `folder`, the counts are written to unnamed files there and mapped into memory.

        `as_fitted`: the vocabulary is that of a model. A text of which it knows fewer than half of the words, and which
        is in another language than its stop words and stems, gets an empty row: nothing can be said about it.
        """
        if isinstance(vocabulary, str):
            raise InputError("vocabulary is one string: expected a list of words")
        self._columns = _WordColumns(preprocessing, vocabulary)
        self._ngrams = preprocessing._ngrams
        self._tokens = preprocessing.tokens if preprocessing.ngrams == (1, 1) else self._full_ngrams
        self._full_words = preprocessing._full_words
        self._forms = _Forms(preprocessing._key) if preprocessing.stemmer and vocabulary is None else None
        # most n-grams of any text are unknown, so their share says nothing
        self._as_fitted = as_fitted and preprocessing.ngrams == (1, 1)
        self._languages = preprocessing._languages()
        self.n_foreign = 0  # texts of which too little is known
        self._fixed_width = None if vocabulary is None else len(vocabulary)
        self._pending = array("i")
        self._pending_ends: list[int] = []
        # array.array grows by realloc, which can move pages instead of copying them: no second copy of the counts
        self._indices: array[int] | Spool = array("i") if folder is None else Spool(np.int32, folder)
        self._data: array[int] | Spool = array("i") if folder is None else Spool(np.int32, folder)
        self._indptr = array("q", [0])

    def add(self, text: str) -> None:
        """Count the words of one clean text as the next row."""
        columns = self._columns.of(self._tokens(text))
        if self._as_fitted:
            known = array("i", columns)
            if self._is_foreign(text, known):
                self.n_foreign += 1
                known = array("i")
            self._pending.extend(known)
        else:
            self._pending.extend(columns)
        self._end_row()

    def _full_ngrams(self, text: str) -> list[str]:
        return self._ngrams(self._full_words(text))

    def _is_foreign(self, text: str, columns: array[int]) -> bool:
        n_unknown = columns.count(-1)
        n_words = len(columns) - columns.count(_STOP)
        is_known, is_empty = n_unknown <= (1 - _WELL_KNOWN) * n_words, n_unknown == n_words
        if is_known or is_empty or not self._languages:
            return False
        (language,) = guess_languages([text])
        return language is not None and language not in self._languages

    def add_windows(self, text: str, size: int) -> int:
        """Count one text as rows of `size` tokens each, and return their number (at least one)."""
        words = self._full_words(text)
        starts = range(0, max(len(words), 1), size)
        for start in starts:
            window = self._ngrams(words[start : start + size])
            self._pending.extend(map(self._columns.column_of, window))
            self._end_row()
        return len(starts)

    def finish(self) -> tuple[sp.csr_array, list[str]]:
        """The counts (rows sorted by column) and the words, in order of their first occurrence."""
        self._flush()
        words = self._columns.words if self._forms is None else self._forms.words(self._columns.words)
        width = len(words) if self._fixed_width is None else self._fixed_width
        self._columns = _WordColumns(Preprocessing(stop_words=None), ())  # frees the token dictionary
        parts = (self._data, self._indices)
        data, indices = (part.array() if isinstance(part, Spool) else np.asarray(part) for part in parts)
        return _csr(data, indices, np.asarray(self._indptr), width), words

    def forms(self) -> tuple[list[str], np.ndarray] | None:
        """The forms of words and how often they occur, if words have stems; `finish` forgets them."""
        self._flush()
        return None if self._forms is None else (self._columns.words, self._forms.totals())

    def add_counted(
        self,
        counts: sp.csr_array,
        words: Sequence[str] | None,
        forms: tuple[Sequence[str], np.ndarray] | None = None,
    ) -> None:
        """Add rows that were counted elsewhere, with their own words, and forms, or those of the fixed vocabulary."""
        self._flush()
        indices = counts.indices
        if words is not None and forms is not None and self._forms is not None:
            self._forms.columns(self._columns.columns_of(forms[0]), self._columns.words, forms[1])
            none = np.zeros(len(words), np.int64)  # they were among the forms
            indices = self._forms.columns(self._columns.columns_of(words), self._columns.words, none)[indices]
        elif words is not None:
            indices = self._columns.columns_of(words)[indices]
        self._keep(counts.data, indices, counts.indptr)

    def _keep(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> None:
        self._indptr.extend((indptr[1:].astype(np.int64) + self._indptr[-1]).tolist())
        self._indices.frombytes(indices.astype(np.int32, copy=False).tobytes())
        self._data.frombytes(data.astype(np.int32, copy=False).tobytes())

    def _end_row(self) -> None:
        self._pending_ends.append(len(self._pending))
        if len(self._pending) >= _FLUSH_TOKENS:
            self._flush()

    def _flush(self) -> None:
        if not self._pending_ends:
            return
        columns = np.asarray(self._pending)
        ends = np.concatenate([[0], self._pending_ends])
        has_column = columns >= 0
        indptr = np.concatenate([[0], np.cumsum(has_column)])[ends]
        columns = columns[has_column]
        if self._forms is not None:
            columns = self._forms.columns(columns, self._columns.words)
        width = max(1, int(columns.max(initial=0)) + 1)
        counts = sp.csr_array((np.ones(len(columns), np.int32), columns, indptr), (len(ends) - 1, width))
        counts.sum_duplicates()
        self._keep(counts.data, counts.indices, counts.indptr)
        self._pending, self._pending_ends = array("i"), []


def count_known_words(
    texts: Iterable[str], preprocessing: Preprocessing, vocabulary: Sequence[str], *, as_fitted: bool = True
) -> sp.csr_array:
    """Counts of the words of a model in new texts, which are cleaned first."""
    counter, cleaner = WordCounter(preprocessing, vocabulary, as_fitted=as_fitted), preprocessing._cleaner()
    for text in texts:
        counter.add(cleaner.clean(text))
    return counter.finish()[0]


def token_stream(
    texts: Iterable[str], vocabulary: Sequence[str], preprocessing: Preprocessing
) -> tuple[np.ndarray, np.ndarray]:
    """The texts as sequences of word columns, for measures that use windows: (columns, indptr).

    A token outside the vocabulary is -1 and keeps its position; n-grams have no single position and are left out.

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
    return np.maximum(np.asarray(stream), -1), np.asarray(ends)


def choose_words(
    counts: sp.csr_array,
    words: Sequence[str],
    *,
    min_df: int | float | str = 1,
    max_df: int | float | str = 1.0,
    max_words: int | None = None,
    rank_by: str = "frequency",
) -> tuple[sp.csr_array, list[str]]:
    """Keep the words that pass the filters, in alphabetical order. The arrays of `counts` are overwritten.

    An int is a number of documents, a float a share of them, and 'auto' what `usual_limits` says, unless no word would
    be left. `rank_by` sets which words `max_words` keeps: the most
    frequent, or those with the highest mean tf-idf ('tfidf': length-normalised tf times ln(N / df)).
    """
    n_documents = counts.shape[0]
    if n_documents == 0:
        raise InputError("the corpus is empty: there are no documents")
    if not words:
        raise InputError("no words: the texts are empty, or contain only stop words and text that token_pattern skips")
    document_frequency = _column_sums(counts, "documents")
    columns, rare, common = _within(min_df, max_df, document_frequency, n_documents)
    if len(columns) == 0 and "auto" in (min_df, max_df):
        fallback = (1 if min_df == "auto" else min_df, 1.0 if max_df == "auto" else max_df)
        columns, rare, common = _within(*fallback, document_frequency, n_documents)
    if len(columns) == 0:
        raise InputError(
            f"none of {len(words):,} words is left: min_df={min_df} removed {int(rare.sum()):,} "
            f"and max_df={max_df} removed {int((common & ~rare).sum()):,}; relax the filter that removed more"
        )
    if max_words is not None and max_words < 1:
        raise InputError(f"max_words={max_words}: expected at least 1")
    if max_words is not None and max_words < len(columns):
        columns = _best(counts, words, columns, document_frequency, max_words, rank_by)
    elif rank_by not in _RANKINGS:
        raise InputError(f"rank_by={rank_by!r}: expected one of {', '.join(_RANKINGS)}")
    columns = np.array(sorted(columns.tolist(), key=words.__getitem__), dtype=np.int64)
    new_column = np.full(len(words), -1, np.int32)
    new_column[columns] = np.arange(len(columns), dtype=np.int32)
    return _renumber_columns(counts, new_column, len(columns)), [words[column] for column in columns.tolist()]


def usual_limits(n_documents: int) -> tuple[int, float]:
    """The `min_df` and `max_df` that serve topics in most corpora of a size.

    >>> usual_limits(10), usual_limits(500), usual_limits(5000)
    ((1, 1.0), (2, 0.5), (5, 0.5))
    """
    if n_documents < _FEW:
        return 1, 1.0
    return (5 if n_documents >= _MANY else 2), 0.5


def _within(
    min_df: int | float | str, max_df: int | float | str, document_frequency: np.ndarray, n_documents: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The columns of the words within the limits, and which words are too rare and too common."""
    usual = usual_limits(n_documents)
    low = _documents("min_df", usual[0] if min_df == "auto" else min_df, n_documents)
    high = _documents("max_df", usual[1] if max_df == "auto" else max_df, n_documents)
    rare, common = document_frequency < low, document_frequency > high
    return np.flatnonzero(~rare & ~common), rare, common


def choose_rows(counts: sp.csr_array, rows: np.ndarray, folder: Path | None = None) -> sp.csr_array:
    """Some rows of the counts, in ascending order; with a `folder`, they are written to unnamed files there."""
    if folder is None:
        return sp.csr_array(counts[rows])
    data, indices = Spool(np.int32, folder), Spool(np.int32, folder)
    for first, last in row_blocks(counts.indptr, -(-counts.nnz // _CHUNK)):
        cells = slice(int(counts.indptr[first]), int(counts.indptr[last]))
        chosen = np.repeat(np.isin(np.arange(first, last), rows), np.diff(counts.indptr[first : last + 1]))
        for spool, values in ((data, counts.data[cells]), (indices, counts.indices[cells])):
            spool.frombytes(values[chosen].tobytes())
            release(values)
    indptr = np.concatenate([[0], np.cumsum(np.diff(counts.indptr)[rows])])
    return _csr(data.array(), indices.array(), indptr, counts.shape[1])


def _documents(name: str, value: int | float | str, n_documents: int) -> float:
    share = isinstance(value, float | np.floating)
    number = share or (is_whole(value) and not isinstance(value, bool))
    if isinstance(value, str) or not number or not (0 <= value <= 1 if share else value >= 0):
        expected = "a number of documents (1, 2, ...), a share of them (0.0 to 1.0) or 'auto'"
        raise InputError(f"{name}={value!r}: expected {expected}")
    return float(value) * n_documents if share else value


def _best(
    counts: sp.csr_array, words: Sequence[str], columns: np.ndarray, df: np.ndarray, max_words: int, rank_by: str
) -> np.ndarray:
    if rank_by not in _RANKINGS:
        raise InputError(f"rank_by={rank_by!r}: expected one of {', '.join(_RANKINGS)}")
    if rank_by == "frequency":
        value = _column_sums(counts, "tokens")
    else:
        value = _column_sums(counts, "shares") * np.log(counts.shape[0] / np.maximum(df, 1))
    # ties are broken by the word itself, so the choice does not depend on the order of the documents
    best = sorted(columns.tolist(), key=lambda column: (-value[column], words[column]))
    return np.array(best[:max_words], dtype=np.int64)


def _column_sums(counts: sp.csr_array, quantity: str) -> np.ndarray:
    """Per column: number of documents, number of tokens, or sum of its shares in the documents. Works in chunks."""
    total = np.zeros(counts.shape[1])
    if quantity == "shares":
        filled = np.flatnonzero(np.diff(counts.indptr))
        lengths = np.ones(counts.shape[0])
        if len(filled):
            lengths[filled] = np.add.reduceat(counts.data, counts.indptr[filled])
    for start, stop in _chunks(counts.nnz):
        weights = np.ones(stop - start) if quantity == "documents" else counts.data[start:stop].astype(float)
        if quantity == "shares":
            rows = np.searchsorted(counts.indptr, np.arange(start, stop), side="right") - 1
            weights /= lengths[rows]
        total += np.bincount(counts.indices[start:stop], weights, minlength=len(total))
        release(counts.indices[start:stop])
        release(counts.data[start:stop])
    return total


def _renumber_columns(counts: sp.csr_array, new_column: np.ndarray, width: int) -> sp.csr_array:
    """Give each column its new number and drop those numbered -1, in place: the kept values move to the front."""
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
        release(indices[end : end + size])
        release(data[end : end + size])
        end += size
    result = _csr(trimmed(data, end), trimmed(indices, end), indptr, width)
    _sort_rows(result)
    if end < 0.35 * len(data) and not is_mapped(data):  # a small copy frees the large, unused tail
        result = result.copy()
    return result


def _sort_rows(counts: sp.csr_array) -> None:
    """Sort the columns of each row in place; if they are in a file, in blocks of rows."""
    if not is_mapped(counts.data):
        counts.sort_indices()
        return
    for first, last in row_blocks(counts.indptr, -(-counts.nnz // _CHUNK)):
        cells = slice(int(counts.indptr[first]), int(counts.indptr[last]))
        data, indices = counts.data[cells], counts.indices[cells]
        rows = sp.csr_array(
            (data.copy(), indices.copy(), counts.indptr[first : last + 1] - cells.start),
            (last - first, counts.shape[1]),
        )
        rows.sort_indices()
        data[:], indices[:] = rows.data, rows.indices
        release(data)
        release(indices)
    counts.has_canonical_format = True


def _chunks(n: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n, _CHUNK):
        yield start, min(start + _CHUNK, n)


def _csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, width: int) -> sp.csr_array:
    if indptr[-1] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sp.csr_array((data, indices, indptr), (len(indptr) - 1, width), copy=False)
