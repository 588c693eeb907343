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
from ..errors import InputError

__all__ = ["Preprocessing", "split_segments", "stop_word_languages", "stop_words_of", "token_spans"]

TOKEN_PATTERN = r"\b[^\W\d_]\w+\b"  # two or more letters or digits, the first a letter
_LOOK_AHEAD = 8  # number of tokens of a custom tokenizer that are located together in the text
_REACH = 2_000  # characters within which a token is searched for: a match further away is another occurrence


def stop_word_languages() -> list[str]:
    """The languages that have a built-in stop word list.

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
        raise InputError(f"no stop words for {language!r}; available: {', '.join(stop_word_languages())}")
    file = resources.files("topicfold.corpus") / "stopwords" / f"{language}.txt"
    return frozenset(file.read_text(encoding="utf-8").split())


@dataclass(frozen=True)
class Preprocessing:
    """How texts are turned into words: tokens, stop words, stems and n-grams.

    An object is immutable, equal settings compare as equal, and every model file stores them.

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
        Minimum and maximum number of words in an n-gram; (1, 2) gives single words and pairs.
    tokenizer : callable, default=None
        Custom function from a text to its tokens. It replaces `token_pattern`; files keep only its name.

    Raises
    ------
    InputError
        If a value cannot be used: an unknown language, an invalid pattern, and so on.

    See Also
    --------
    Corpus.from_texts : Counts words; also takes these settings as parameters.

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
                raise InputError(f"stop_words={self.stop_words!r:.60}: expected strings")
            object.__setattr__(self, "stop_words", tuple(sorted(set(self.stop_words))))
        if isinstance(self.stop_words, str):
            stop_words_of(self.stop_words)
        if self.stemmer is not None:
            _snowball(self.stemmer)
        pair = self.ngrams if isinstance(self.ngrams, tuple | list) and len(self.ngrams) == 2 else (0, 0)
        shortest, longest = pair
        if not (is_whole(shortest) and is_whole(longest) and 1 <= shortest <= longest):
            raise InputError(f"ngrams={self.ngrams}: expected (shortest, longest) with 1 <= shortest <= longest")
        object.__setattr__(self, "ngrams", (int(shortest), int(longest)))
        if not isinstance(self.token_pattern, str):
            raise InputError(f"token_pattern={self.token_pattern!r:.60}: expected a string")
        try:
            groups = re.compile(self.token_pattern).groups
        except (re.error, OverflowError, RecursionError) as error:  # also repeated too often, nested too deeply
            raise InputError(f"token_pattern={self.token_pattern!r} is not a regular expression: {error}") from None
        if groups > 1:
            raise InputError(f"token_pattern={self.token_pattern!r} has {groups} groups: expected none or one")

    def __getstate__(self) -> dict[str, Any]:
        """Only the fields: compiled patterns and stemmers are created again when they are needed."""
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
            # without lowercase the text is passed on unchanged: it may already be a list of tokens
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
        raise InputError(
            f"this was made with the custom tokenizer {name}, and files keep only its name: pass it again, "
            f"load(path, tokenizer={name.rpartition(':')[2] or '...'})"
        )

    def _lowered(self, text: str) -> str:
        """The text in which tokens are searched for, in lower case if set; each character keeps its position."""
        # Python turns the Turkish capital I with a dot into two characters in lower case
        return text.replace("\u0130", "i").lower() if self.lowercase else text

    def _places(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of each token of a text that is already in lower case, if set."""
        if self.tokenizer is None:
            plain = self.token_pattern != TOKEN_PATTERN or text.isascii()
            pattern = re.compile(self.token_pattern) if plain else _pattern_with_marks()
            for match in pattern.finditer(text):
                start, end = match.span(pattern.groups)
                if start < end:  # a pattern may match the empty string
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
            The settings by name. A tokenizer stays a name: nothing is imported.

        Returns
        -------
        Preprocessing
            The same settings.

        Raises
        ------
        InputError
            If a value is missing or cannot be used.
        """
        if not isinstance(values, dict) or values.keys() != {field.name for field in fields(cls)}:
            raise InputError(f"preprocessing={values!r:.60}: expected {', '.join(field.name for field in fields(cls))}")
        if not isinstance(values["lowercase"], bool) or not isinstance(values["tokenizer"], str | None):
            raise InputError(f"preprocessing={values!r:.60}: expected lowercase to be true or false, tokenizer a name")
        stop_words = values["stop_words"]
        return cls(**{**values, "stop_words": tuple(stop_words) if isinstance(stop_words, list) else stop_words})

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
    """The text in Unicode normal form (NFC), since Unicode can write some characters in several ways."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _places_of(tokens: list[str], text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the tokens of a tokenizer, in order; skips tokens that are not in the text, such as lemmas."""
    end = 0
    for number, token in enumerate(tokens):
        start = end
        while start < len(text) and not text[start].isalnum() and text[start] != token[0]:
            start += 1
        if not text.startswith(token, start):  # the token does not follow directly
            start = _whole_word(text, token, end)
            following = (_whole_word(text, other, end) for other in tokens[number + 1 : number + _LOOK_AHEAD])
            if start < 0 or any(0 <= place < start for place in following):
                continue  # not found, or the next tokens come before the match, so it is another occurrence
        end = start + len(token)
        yield start, end


def _whole_word(text: str, token: str, start: int) -> int:
    """Next position of a token, or -1. An ASCII token must be a whole word; other scripts may not use spaces."""
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
    r"""TOKEN_PATTERN for every script: vowel signs and accents that are separate characters belong to the word.

    Python's \w does not match them, which would break words in Hindi, Thai or vocalised Arabic into pieces. ASCII texts
    use the simpler pattern, which is faster.
    """
    marks = [chr(code) for code in range(0x300, 0x11000) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    return re.compile(rf"\b[^\W\d_][\w{''.join(marks)}]+")


def _snowball(language: str) -> Any:
    import Stemmer

    if language not in Stemmer.algorithms():
        raise InputError(f"no stemmer for {language!r}; available: {', '.join(sorted(Stemmer.algorithms()))}")
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
    """The text, and where in it each word comes from: (start, end, word), without stop words.

    The returned text is the given one in Unicode form NFC. Words are single words, whatever `ngrams` is.

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


def split_segments(text: str | Sequence[str], split: str | Callable[[str], Sequence[str]]) -> list[str]:
    """Split a text into segments: 'paragraphs' (blank lines), 'sentences', 'given' (already a list), or a callable.

    >>> split_segments("One. Two!\\n\\nThree?", "paragraphs")
    ['One. Two!', 'Three?']
    >>> split_segments("One. Two!\\n\\nThree?", "sentences")
    ['One.', 'Two!', 'Three?']
    """
    if callable(split):
        return list(split(text))  # type: ignore[arg-type]
    if split == "given":
        if isinstance(text, str):
            raise InputError("segments='given': expected each text to be a list of segments, got one string")
        return list(text)
    if not isinstance(text, str):
        raise InputError(f"segments={split!r}: expected each text to be one string; use 'given' for lists of segments")
    pattern = {"paragraphs": r"\n\s*\n", "sentences": r"(?<=[.!?。！？])\s+|\n\s*\n|(?<=[。！？])"}.get(split)
    if pattern is None:
        raise InputError(
            f"segments={split!r}: expected 'paragraphs', 'sentences', 'given', a number of tokens, or a callable"
        )
    return [part for part in (part.strip() for part in re.split(pattern, text)) if part]


_RANKINGS = ("frequency", "tfidf")
