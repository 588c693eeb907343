"""Phrases of a corpus, such as "prime minister", and how its words are written ("NASA", "Boston").

A phrase is two to four words that stand next to each other far more often than their frequencies say, with at most two
stop words inside ("Lord of the Rings"). Both are learned from the texts, and only topics' names and lists of words use
them: counts and models know single words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from .preprocessing import TOKEN_PATTERN, Preprocessing, _composed
from .tokenizers import marks

if TYPE_CHECKING:
    from .corpus import Corpus

__all__ = ["Phrases", "forms_of_words", "mine_phrases"]

_MOST_CHARACTERS = 4_000_000  # of the texts that are read; of more, documents spread evenly over the corpus
_LONGEST = 4  # words of a phrase
_FEWEST = 5  # occurrences, or more in a large corpus: a twelfth of the root of the number of documents
_TOGETHER, _TOGETHER_WITH_STOP_WORDS = 0.30, 0.45  # normalised pointwise mutual information
_ERRORS = 2.5  # standard errors above what the frequencies of the parts say
_PART = 0.75  # share of the occurrences with one word before or after, from which on a phrase is a part of a longer one
_CAPITALISED = 0.6  # share of the occurrences of a phrase with stop words
_LEAD = 12  # words of a text that stand for its title, if there is none
_LONG_LINE, _REPEATED_LINE = 15, 4  # characters, documents: signatures and other boilerplate
_BREAK = "."
_ASCII_BREAKS = str.maketrans(dict.fromkeys("!\"#$%&()*+,./:;<=>?@[\\]^`{|}~'", "."))
_PARAGRAPH = re.compile(r"\n\s*\n")


class Phrases(NamedTuple):
    """How the words of a corpus are written, and its phrases."""

    written: tuple[str, ...]  # each word of the vocabulary as it is mostly written
    phrases: tuple[str, ...]  # as they are mostly written
    columns: tuple[tuple[int, ...], ...]  # of the content words of each phrase
    n_documents: int  # of the corpus
    rows: np.ndarray  # of the documents that were read
    counts: sp.csr_array  # of the phrases in these documents
    in_titles: np.ndarray  # share of the documents with a word, then with a phrase, that have it in the title


def mine_phrases(corpus: Corpus) -> Phrases | None:
    """The phrases of a corpus; None if its texts are not known, or not split at spaces and punctuation.

    >>> from topicfold import Corpus
    >>> places = "Peru Cuba Mali Chad Oman Togo Fiji Iran Iraq Laos".split()
    >>> texts = [f"The prime minister of {place} waits." for place in places]
    >>> mined = mine_phrases(Corpus.from_texts(texts, keep_texts=True))
    >>> mined.phrases, mined.written[:3]
    (('prime minister',), ('Chad', 'Cuba', 'Fiji'))
    """
    preprocessing, vocabulary = corpus.preprocessing, corpus.vocabulary
    if corpus.texts is None or preprocessing is None or vocabulary is None or not len(corpus):
        return None
    if preprocessing.tokenizer is not None or preprocessing.token_pattern != TOKEN_PATTERN:
        return None
    rows, texts = _texts_read(corpus.texts)
    stream = _stream(texts, preprocessing, vocabulary)
    least = max(_FEWEST, round(np.sqrt(len(corpus)) / 12))
    grams = _grams(stream, least) if preprocessing.ngrams == (1, 1) else []
    phrases = _named(stream, _complete(stream, _bound(stream, grams)))
    counts = _counts(phrases, stream, len(rows))
    titles = None if corpus.titles is None else [corpus.titles[row] for row in rows.tolist()]
    leads = _leads(titles, stream, preprocessing, vocabulary)
    n_documents = (
        np.bincount(corpus.counts[rows].indices, minlength=len(vocabulary)),
        np.bincount(counts.indices, minlength=len(phrases)),
    )
    in_titles = _in_titles(leads, phrases, counts, len(vocabulary)) / np.maximum(np.concatenate(n_documents), 1)
    return Phrases(
        written=_written(stream, vocabulary),
        phrases=tuple(phrase.text for phrase in phrases),
        columns=tuple(phrase.columns for phrase in phrases),
        n_documents=len(corpus),
        rows=rows,
        counts=counts,
        in_titles=np.minimum(in_titles, 1),
    )


def forms_of_words(vocabulary: Sequence[str], preprocessing: Preprocessing | None) -> dict[int, int]:
    """For each word that has the stem of an earlier one, the column of the first: "awards" is a form of "award".

    Without a language of a Snowball stemmer, no forms are known.

    >>> forms_of_words(["award", "awards", "best"], Preprocessing(stop_words="english"))
    {1: 0}
    """
    languages = sorted(preprocessing._languages()) if preprocessing is not None else []
    stems = [stem for stem in map(_stem_function, languages) if stem is not None]
    if not stems:
        return {}
    first: dict[tuple[str, ...], int] = {}
    forms = {}
    for column, word in enumerate(vocabulary):
        # of several languages, all have to agree: it is not known which one a word is of
        key = tuple(" ".join(map(stem, word.lower().split(" "))) for stem in stems)
        if first.setdefault(key, column) != column:
            forms[column] = first[key]
    return forms


def _stem_function(language: str) -> Callable[[str], str] | None:
    try:
        return Preprocessing(stop_words=None, stemmer=language)._stem
    except InputError:  # no stemmer for this language
        return None


# ---- texts as one stream of words ------------------------------------------------------------------------------------


class _Stream(NamedTuple):
    """All texts as one stream of tokens, with a break between two of them."""

    surfaces: list[str]  # the distinct tokens as they are written
    codes: np.ndarray  # of each of them: its column, from n_words on a stop word, or -1
    surface: np.ndarray  # of each token, its number among them
    code: np.ndarray  # of each token
    document: np.ndarray  # of each token, counted from 0
    n_words: int

    def is_content(self, codes: np.ndarray) -> np.ndarray:
        return (codes >= 0) & (codes < self.n_words)


def _texts_read(texts: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """The rows of the documents that are read and their texts: at most so many characters, and no text twice."""
    n = len(texts)
    probe = np.unique(np.linspace(0, n - 1, min(n, 500)).astype(np.int64))
    typical = max(float(np.mean([len(texts[row]) for row in probe.tolist()])), 1.0)
    n_read = int(min(n, max(_MOST_CHARACTERS / typical, 1)))
    rows, kept, seen = [], list[str](), set[str]()
    for row in np.unique(np.linspace(0, n - 1, n_read).astype(np.int64)).tolist():
        text = texts[row]
        if text not in seen:
            seen.add(text)
            rows.append(row)
            kept.append(text)
    return np.array(rows, np.int64), _without_repeated_lines(kept)


def _without_repeated_lines(texts: list[str]) -> list[str]:
    """The texts without long lines that stand in several of them, except as the first line: signatures and quotes."""
    lines_of = [text.split("\n") if "\n" in text else None for text in texts]
    times = Counter(
        line
        for lines in lines_of
        if lines is not None
        for line in {line for line in lines[1:] if len(line) >= _LONG_LINE}
    )
    repeated = {line for line, number in times.items() if number >= _REPEATED_LINE}
    if not repeated:
        return texts
    return [
        text if lines is None else "\n".join([lines[0], *("\n" if line in repeated else line for line in lines[1:])])
        for text, lines in zip(texts, lines_of)
    ]


def _stream(texts: list[str], preprocessing: Preprocessing, vocabulary: Sequence[str]) -> _Stream:
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    surface, lengths = list[np.ndarray](), []
    for text in texts:
        tokens = _tokens(text)
        surface.append(np.fromiter(map(numbers.__getitem__, tokens), np.int32, len(tokens)))
        lengths.append(len(tokens))
    codes = _codes(list(numbers), preprocessing, vocabulary)
    tokens_of_all = np.concatenate(surface)
    document = np.repeat(np.arange(len(texts), dtype=np.int32), lengths)
    return _Stream(list(numbers), codes, tokens_of_all, codes[tokens_of_all], document, len(vocabulary))


def _tokens(text: str) -> list[str]:
    """The words of a text as they are written, and a dot at each break. The second part of a hyphened word begins with
    the hyphen.

    >>> _tokens("Bell's X-ray -- is\\n\\nnew, too")
    ['Bell', 'X', '-ray', '.', 'is', '.', 'new', '.', 'too', '.']
    """
    text = _PARAGRAPH.sub(" . ", _composed(text).replace("’", "'").replace("'s ", " "))
    if text.isascii():
        text = text.translate(_ASCII_BREAKS).replace(".", " . ")
    else:
        text = _breaks().sub(" . ", text)
    if "-" in text:
        text = text.replace("--", " . ").replace("- ", " . ").replace("-", " -")
    return [*text.split(), _BREAK]


@cache
def _breaks() -> re.Pattern[str]:
    return re.compile(rf"[^\w\s{marks()}-]")


def _codes(surfaces: list[str], preprocessing: Preprocessing, vocabulary: Sequence[str]) -> np.ndarray:
    key = preprocessing._key
    column = {key(word): w for w, word in enumerate(vocabulary)} if preprocessing.stemmer else {}
    column |= {word: w for w, word in enumerate(vocabulary)}
    stop_words = {word: number for number, word in enumerate(sorted(preprocessing._stop_set), start=len(vocabulary))}
    known, stemmed = {**column, **stop_words}, bool(preprocessing.stemmer)
    codes = np.full(len(surfaces), -1, np.int32)
    for number, token in enumerate(surfaces):
        word = preprocessing._lowered(token.lstrip("-"))
        code = known.get(word, -1)
        codes[number] = column.get(key(word), -1) if stemmed and code < 0 else code
    return codes


# ---- n-grams ---------------------------------------------------------------------------------------------------------


class _Grams(NamedTuple):
    """The n-grams of one length that are frequent enough: of each position the number of the one there, or -1."""

    number: np.ndarray  # by position
    times: np.ndarray  # by number
    place: np.ndarray  # by number, a position


def _grams(stream: _Stream, least: int) -> list[_Grams]:
    """Frequent n-grams of 1 to 4 words that begin with a content word, none over a break."""
    code = stream.code.astype(np.int64)
    content = stream.is_content(code)
    times = np.bincount(code[content], minlength=stream.n_words)
    place = np.zeros(stream.n_words, np.int64)
    place[code[content]] = np.flatnonzero(content)
    grams = [_Grams(np.where(content, code, -1), times, place)]
    n_codes = int(code.max(initial=0)) + 1
    for length in range(2, _LONGEST + 1):
        before = grams[-1].number
        starts = np.flatnonzero(before[: len(before) - length + 1] >= 0)
        starts = starts[code[starts + length - 1] >= 0]
        _, first, inverse, times = np.unique(
            before[starts] * n_codes + code[starts + length - 1],
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        frequent = times >= least
        renumbered = np.where(frequent, np.cumsum(frequent) - 1, -1)
        number = np.full(len(before), -1, np.int64)
        number[starts] = renumbered[inverse.ravel()]
        grams.append(_Grams(number, times[frequent], starts[first[frequent]]))
    return grams


class _Phrase(NamedTuple):
    columns: tuple[int, ...]  # of its content words
    places: np.ndarray  # where it begins
    length: int
    text: str


def _bound(stream: _Stream, grams: list[_Grams]) -> list[_Phrase]:
    """The n-grams whose words belong together: they begin and end with a content word, and repeat none."""
    n_tokens = max(int((stream.code >= 0).sum()), 2)
    phrases = []
    for length in range(2, len(grams) + 1):
        own = grams[length - 1]
        order = np.flatnonzero(own.number >= 0)
        order = order[np.argsort(own.number[order], kind="stable")]
        ends = np.concatenate([[0], np.cumsum(own.times)])
        for number, (times, place) in enumerate(zip(own.times.tolist(), own.place.tolist())):
            codes = stream.code[place : place + length]
            content = stream.is_content(codes)
            columns = tuple(codes[content].tolist())
            if not (content[0] and content[-1]) or len(set(columns)) < len(columns):
                continue
            expected = max(_expected(grams, place, content, split, n_tokens) for split in range(1, length))
            bond = np.log(times / expected) / -np.log(times / n_tokens)
            least = _TOGETHER if content.all() else _TOGETHER_WITH_STOP_WORDS
            if bond >= least and (times - expected) / np.sqrt(times) >= _ERRORS:
                phrases.append(_Phrase(columns, order[ends[number] : ends[number + 1]], length, ""))
    return phrases


def _expected(grams: list[_Grams], place: int, content: np.ndarray, split: int, n_tokens: int) -> float:
    """How often two parts of an n-gram would meet by chance; stop words between them belong to neither."""
    left = int(np.flatnonzero(content[:split])[-1]) + 1
    right = split + int(np.flatnonzero(content[split:])[0])
    left_times = grams[left - 1].times[grams[left - 1].number[place]]
    end = grams[len(content) - right - 1]
    return float(left_times) * float(end.times[end.number[place + right]]) / n_tokens


def _complete(stream: _Stream, phrases: list[_Phrase]) -> list[_Phrase]:
    """The phrases that are not nearly always part of a longer one; with stop words only those that are names."""
    capital = np.array([token.lstrip("-")[:1].isupper() for token in stream.surfaces], bool)
    kept = []
    for phrase in phrases:
        last = phrase.places + phrase.length - 1
        if phrase.length > len(phrase.columns):
            is_name = capital[stream.surface[phrase.places]] & capital[stream.surface[last]]
            if is_name.mean() < _CAPITALISED:
                continue
        before = stream.code[np.maximum(phrase.places - 1, 0)]
        after = stream.code[np.minimum(last + 1, len(stream.code) - 1)]
        sides = [codes[stream.is_content(codes)] for codes in (before, after)]
        if all(len(side) == 0 or np.bincount(side).max() < _PART * len(phrase.places) for side in sides):
            kept.append(phrase)
    return kept


# ---- how words are written, and where they stand ---------------------------------------------------------------------


def _follows_break(stream: _Stream, places: np.ndarray) -> np.ndarray:
    """Whether a token begins a sentence, where every word has a capital letter."""
    return (places == 0) | (stream.code[np.maximum(places - 1, 0)] < 0)


def _named(stream: _Stream, phrases: list[_Phrase]) -> list[_Phrase]:
    """The phrases as they are mostly written."""
    named = []
    for phrase in phrases:
        inside = phrase.places[~_follows_break(stream, phrase.places)]
        places = (inside if len(inside) else phrase.places)[:500]
        forms = Counter(map(tuple, stream.surface[places[:, None] + np.arange(phrase.length)].tolist()))
        tokens = [stream.surfaces[number] for number in forms.most_common(1)[0][0]]
        text = "".join(token if token[0] in "-" else f" {token}" for token in tokens).lstrip(" -")
        named.append(phrase._replace(text=text))
    return named


def _written(stream: _Stream, vocabulary: Sequence[str]) -> tuple[str, ...]:
    """Each word of the vocabulary in its most frequent form inside of sentences."""
    places = np.flatnonzero(stream.is_content(stream.code))
    inside = places[~_follows_break(stream, places)]
    times = np.bincount(stream.surface[inside], minlength=len(stream.surfaces))
    written = list(vocabulary)
    for number in np.argsort(times, kind="stable").tolist():  # the most frequent form of a word is the last one
        if times[number]:
            written[stream.codes[number]] = stream.surfaces[number].lstrip("-")
    return tuple(written)


def _counts(phrases: list[_Phrase], stream: _Stream, n_documents: int) -> sp.csr_array:
    """How often each document has each phrase."""
    sizes = [len(phrase.places) for phrase in phrases]
    places = np.concatenate([phrase.places for phrase in phrases]) if phrases else np.zeros(0, np.int64)
    cells = np.ones(len(places), np.float32), (stream.document[places], np.repeat(np.arange(len(phrases)), sizes))
    counts = sp.csr_array(cells, shape=(n_documents, len(phrases)))
    counts.sum_duplicates()
    return counts


def _in_titles(leads: list[frozenset[int]], phrases: list[_Phrase], counts: sp.csr_array, n_words: int) -> np.ndarray:
    """The number of documents that have each word, then each phrase, in their title."""
    inside = Counter(column for lead in leads for column in lead)
    times = np.array([inside[column] for column in range(n_words)] + [0] * len(phrases), np.float64)
    columns = [frozenset(phrase.columns) for phrase in phrases]
    for lead, first, last in zip(leads, counts.indptr.tolist(), counts.indptr[1:].tolist()):
        for phrase in counts.indices[first:last].tolist() if len(lead) > 1 else ():
            times[n_words + phrase] += columns[phrase] <= lead
    return times


def _leads(
    titles: list[str] | None, stream: _Stream, preprocessing: Preprocessing, vocabulary: Sequence[str]
) -> list[frozenset[int]]:
    """The columns of the words in the title of each document, or among its first words; no title counts twice."""
    if titles is not None:
        titles = [title if is_new else "" for title, is_new in zip(titles, _is_new(titles))]
        stream = _stream(titles, preprocessing, vocabulary)
    starts = np.flatnonzero(np.diff(stream.document, prepend=-1))
    ends = [*starts[1:].tolist(), len(stream.code)]
    if titles is None:
        ends = [min(end, start + _LEAD) for start, end in zip(starts.tolist(), ends)]
    leads = (stream.code[start:end] for start, end in zip(starts.tolist(), ends))
    return [frozenset(codes[stream.is_content(codes)].tolist()) for codes in leads]


def _is_new(titles: list[str]) -> Iterator[bool]:
    seen = set[str]()
    for title in titles:
        yield title not in seen
        seen.add(title)
