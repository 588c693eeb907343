"""From text to words: tokens, stop words, stems, n-grams."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from importlib import resources
from typing import Any

from ..engine.checks import is_whole

__all__ = ["Preprocessing", "split_segments", "stop_word_languages", "stop_words_of", "token_spans"]

TOKEN_PATTERN = r"\b[^\W\d_]\w+\b"  # two or more letters or digits, the first a letter
_LOOK_AHEAD = 8  # tokens of a tokenizer that are looked for together in a text
_REACH = 2_000  # characters within which a token is looked for: one further away is another


def stop_word_languages() -> list[str]:
    """The languages there is a stop word list for.

    >>> "english" in stop_word_languages()
    True
    """
    folder = resources.files("topicfold.corpus") / "stopwords"
    return sorted(entry.name[:-4] for entry in folder.iterdir() if entry.name.endswith(".txt"))


def stop_words_of(language: str) -> frozenset[str]:
    """The stop words of a language, from the lists that come with the package.

    >>> "the" in stop_words_of("english")
    True
    """
    if language not in stop_word_languages():
        raise ValueError(f"no stop words for {language!r}; available: {', '.join(stop_word_languages())}")
    file = resources.files("topicfold.corpus") / "stopwords" / f"{language}.txt"
    return frozenset(file.read_text(encoding="utf-8").split())


@dataclass(frozen=True)
class Preprocessing:
    """How texts are turned into words: tokens, stop words, stems and n-grams.

    It cannot be changed, two equal ones compare as equal, and every model file keeps it.

    Parameters
    ----------
    token_pattern : str
        Regular expression of a token. The default matches words of two or more letters or digits that start with a
        letter.
    lowercase : bool, default=True
        Whether to convert texts to lower case first.
    stop_words : str, sequence of str or None, default='english'
        Words to leave out: the language of a built-in list, the words themselves, or None.
    stemmer : str or None, default=None
        Language of a Snowball stemmer. None does not stem.
    ngrams : tuple of (int, int), default=(1, 1)
        Shortest and longest run of words that counts as a word; (1, 2) gives single words and pairs.
    tokenizer : callable, default=None
        Custom function from a text to its tokens. It takes the place of `token_pattern`; files keep only its name.

    Raises
    ------
    ValueError
        If a value cannot be used: an unknown language, an invalid pattern, and so on.

    See Also
    --------
    Corpus.from_texts : Counts words; takes these settings as parameters too.

    Examples
    --------
    >>> from topicfold import Preprocessing
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
            if not isinstance(self.stop_words, Iterable) or not all(isinstance(word, str) for word in self.stop_words):
                raise ValueError(f"stop_words={self.stop_words!r:.60}: expected words, which are strings")
            object.__setattr__(self, "stop_words", tuple(sorted(set(self.stop_words))))
        if isinstance(self.stop_words, str):
            stop_words_of(self.stop_words)
        if self.stemmer is not None:
            _snowball(self.stemmer)
        shortest, longest = self.ngrams
        if not (is_whole(shortest) and is_whole(longest) and 1 <= shortest <= longest):
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
        """Turn one text into words.

        Parameters
        ----------
        text : str
            The text.

        Returns
        -------
        list of str
            The words in order, followed by the n-grams.
        """
        words = [self._stem(token) for token in self.tokens(text) if token not in self._stop_set]
        return _ngrams(words, self.ngrams)

    @cached_property
    def tokens(self) -> Callable[[str], Iterable[str]]:
        """The function from a text (str) to its tokens (iterable of str), before stop words and stems."""
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
        """Return the settings as plain values, for files.

        Returns
        -------
        dict
            The settings by name; a tokenizer is written as 'module:name'.
        """
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
        """Make an object from the values that `to_json` returned.

        Parameters
        ----------
        values : dict
            The settings by name. A tokenizer stays a name: nothing is imported for it.

        Returns
        -------
        Preprocessing
            The same settings.
        """
        stop_words = values["stop_words"]
        if isinstance(stop_words, list):
            stop_words = tuple(stop_words)
        return cls(**{**values, "stop_words": stop_words, "ngrams": tuple(values["ngrams"])})

    def with_tokenizer(self, tokenizer: Callable[[str], Iterable[str]]) -> Preprocessing:
        """Return the same settings with another tokenizer, for example after a file has been loaded.

        Parameters
        ----------
        tokenizer : callable
            Function from a text to its tokens.

        Returns
        -------
        Preprocessing
            The settings with this tokenizer.
        """
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
        raise ValueError(f"no stemmer for {language!r}; available: {', '.join(sorted(Stemmer.algorithms()))}")
    return Stemmer.Stemmer(language)


def _ngrams(words: list[str], sizes: tuple[int, int]) -> list[str]:
    if sizes == (1, 1):
        return words
    return [
        " ".join(words[start : start + size])
        for size in range(sizes[0], min(sizes[1], len(words)) + 1)
        for start in range(len(words) - size + 1)
    ]


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


_RANKINGS = ("frequency", "tfidf")
