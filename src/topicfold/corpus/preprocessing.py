"""From text to words: tokens, stop words, stems, n-grams."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from typing import Any

from ..engine.checks import is_whole
from ..errors import InputError
from .cleaning import Cleaner, repeated_lines
from .languages import language_named
from .stop_words import (
    parsed_stop_words,
    stop_word_languages,
    stop_words_of,
    usual_words,
    words_of_stop_words,
)
from .tokenizers import (
    check_tokenizer_name,
    has_unspaced,
    is_tokenizer_name,
    joined,
    marks,
    named_tokenizer,
    unit_places,
    units,
)

__all__ = ["Preprocessing", "split_segments", "stop_word_languages", "stop_words_of", "token_spans"]

AUTO, REPEATED = "auto", "repeated"  # settled with the texts of a corpus
TOKEN_PATTERN = r"\b[^\W\d_]\w+\b"  # two or more letters or digits, the first a letter
_SAMPLED = 2_000  # characters of a text of a sample
_LOOK_AHEAD = 8  # number of tokens of a custom tokenizer that are located together in the text
_REACH = 2_000  # characters within which a token is searched for: a match further away is another occurrence


@dataclass(frozen=True)
class Preprocessing:
    """How texts are turned into words: tokens, stop words, stems and n-grams.

    An object is immutable, equal settings compare as equal, and every model file stores them.

    Parameters
    ----------
    token_pattern : str
        Regular expression of a token. The default matches words of two or more letters or digits that start with a
        letter, and splits scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) into characters and
        pairs of adjacent characters.
    lowercase : bool, default=True
        Whether to convert texts to lower case first.
    stop_words : str, collection of str or None, default='english'
        Words to leave out. Languages of built-in lists, by name or ISO code: ``"german"``, ``"english,de"`` or
        ``["english", "german"]``, with ``"+said"`` to add a word and ``"-war"`` to keep one. A list that does not begin
        with a language, and any set, is a collection of words. None and ``"none"`` leave out nothing.
    stemmer : str or None, default=None
        Language of a Snowball stemmer. None does not stem. In a corpus, a stem is shown as its most frequent full form.
    ngrams : tuple of (int, int), default=(1, 1)
        Minimum and maximum number of words in an n-gram; (1, 2) gives single words and pairs.
    tokenizer : str or callable, default=None
        It replaces `token_pattern`: the name of a tokenizer ('characters', 'fugashi', 'kiwi', 'pythainlp', 'rjieba',
        'sudachi', 'spacy:MODEL'), or a custom function from a text to its tokens, of which files keep only the name.
    clean : bool, default=True
        Whether to remove what is not meant to be read: entities, tags, URLs, e-mail addresses, handles (@name), control
        characters, credits of news agencies, and the headers, quoted lines, signatures and encoded files of mails.
        Wrongly decoded characters are repaired.
    drop_lines : sequence of str or 'repeated', default=()
        Lines to leave out of every text, such as boilerplate; case and spacing do not matter. 'repeated': those that
        stand in many texts of the corpus that is made.

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
    stop_words: str | Collection[str] | None = "english"
    stemmer: str | None = None
    ngrams: tuple[int, int] = (1, 1)
    tokenizer: Callable[[str], Iterable[str]] | str | None = None
    clean: bool = True
    drop_lines: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.stop_words is not None and self.stop_words != AUTO:
            object.__setattr__(self, "stop_words", parsed_stop_words(self.stop_words))
        if not isinstance(self.stemmer, str | None):
            raise InputError(f"stemmer={self.stemmer!r:.60}: expected the language of a stemmer, such as 'english'")
        if self.stemmer is not None and self.stemmer != AUTO:
            object.__setattr__(self, "stemmer", language_named(self.stemmer) or self.stemmer)
            _snowball(self.stemmer)
        if isinstance(self.tokenizer, str):
            check_tokenizer_name(self.tokenizer, custom=True)
        elif self.tokenizer is not None and not callable(self.tokenizer):
            raise InputError(f"tokenizer={self.tokenizer!r:.60}: expected a name or a function from text to tokens")
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
        if self.drop_lines != REPEATED:
            if isinstance(self.drop_lines, str) or not all(isinstance(line, str) for line in self.drop_lines):
                raise InputError(f"drop_lines={self.drop_lines!r:.60}: expected a list of lines, or 'repeated'")
            object.__setattr__(self, "drop_lines", tuple(self.drop_lines))
        if not isinstance(self.clean, bool):
            raise InputError(f"clean={self.clean!r:.60}: expected True or False")

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
        return self._words_of_clean(self._cleaner().clean(text))

    def _words_of_clean(self, text: str) -> list[str]:
        """The words of a text that has been cleaned."""
        return self._ngrams([self._stem(token) for token in self._full_words(text)])

    def _full_words(self, text: str) -> list[str]:
        """The tokens that are no stop words. Pairs of characters are only among them if there are no n-grams."""
        return [token for token in self.tokens(text) if token not in self._stop_set]

    def _key(self, word: str) -> str:
        """What all forms of a word, or of an n-gram, have in common: the stems of its parts."""
        return " ".join(map(self._stem, word.split(" "))) if self.stemmer else word

    def _ngrams(self, words: Sequence[str]) -> list[str]:
        shortest, longest = self.ngrams
        if longest == 1:
            return list(words)
        join = joined if self._splits_scripts else " ".join
        return [
            join(words[start : start + size])
            for size in range(shortest, min(longest, len(words)) + 1)
            for start in range(len(words) - size + 1)
        ]

    @property
    def _splits_scripts(self) -> bool:
        """Whether scripts without spaces are split into characters."""
        return self.tokenizer is None and self.token_pattern == TOKEN_PATTERN

    @property
    def _has_tokenizer(self) -> bool:
        """Whether texts can be split: of a custom tokenizer, files keep only the name."""
        return not isinstance(self.tokenizer, str) or is_tokenizer_name(self.tokenizer)

    def _languages(self) -> frozenset[str]:
        """The languages of the stop words and the stemmer."""
        names = self.stop_words.split(",") if isinstance(self.stop_words, str) else []
        return frozenset([name for name in names if name[0] not in "+-"] + ([self.stemmer] if self.stemmer else []))

    def _settled(self, sample: Sequence[str]) -> Preprocessing:
        """These settings, with what depends on the texts of a corpus told from a sample of them."""
        if AUTO not in (self.stop_words, self.stemmer) and self.drop_lines != REPEATED:
            return self
        lines: Sequence[str] = () if self.drop_lines == REPEATED else self.drop_lines
        cleaner = Cleaner(lines, clean=self.clean)
        length = None if self.drop_lines == REPEATED else _SAMPLED  # languages are told by the beginning
        texts = [cleaner.clean(text[:length]) for text in sample]
        if self.drop_lines == REPEATED:
            lines = [line for line, _ in repeated_lines(texts)]
        stop_words, stemmer = usual_words(texts) if AUTO in (self.stop_words, self.stemmer) else (None, None)
        return replace(
            self,
            stop_words=stop_words if self.stop_words == AUTO else self.stop_words,
            stemmer=stemmer if self.stemmer == AUTO else self.stemmer,
            drop_lines=tuple(lines),
        )

    def _cleaner(self) -> Cleaner:
        """What cleans texts with these settings, and counts what it removes."""
        return Cleaner(self.drop_lines, clean=self.clean)

    @cached_property
    def tokens(self) -> Callable[[str], Iterable[str]]:
        """The function from a text (str) to its tokens (iterable of str), before stop words and stems."""
        if self.tokenizer is not None:
            tokenizer = self._callable_tokenizer()
            # without lowercase the text is passed on unchanged: it may already be a list of tokens
            return (lambda text: tokenizer(self._lowered(_composed(text)))) if self.lowercase else tokenizer
        find = re.compile(self.token_pattern).findall
        splits_scripts = self._splits_scripts
        find_any = _pattern_with_marks().findall if splits_scripts else find
        with_pairs = self.ngrams == (1, 1)

        def tokens(text: str) -> Iterable[str]:
            if text.isascii():
                return find(text.lower() if self.lowercase else text)
            text = self._lowered(_composed(text))
            return units(text, with_pairs) if splits_scripts and has_unspaced(text) else find_any(text)

        return tokens

    def _callable_tokenizer(self) -> Callable[[str], Iterable[str]]:
        if callable(self.tokenizer):
            return self.tokenizer
        name = str(self.tokenizer)
        if is_tokenizer_name(name):
            return named_tokenizer(name)
        raise InputError(
            f"this was made with the custom tokenizer {name}, and files keep only its name: pass it again, "
            f"load(path, tokenizer={name.rpartition(':')[2] or '...'})"
        )

    def _lowered(self, text: str) -> str:
        """The text in which tokens are searched for, in lower case if set; each character keeps its position."""
        # Python turns the Turkish capital I with a dot into two characters in lower case
        return text.replace("\u0130", "i").lower() if self.lowercase else text

    def _places(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Start and end of each token of a text that is already in lower case, if set, and the token."""
        if self._splits_scripts and has_unspaced(text):
            yield from unit_places(text)
            return
        if self.tokenizer is None:
            plain = self.token_pattern != TOKEN_PATTERN or text.isascii()
            pattern = re.compile(self.token_pattern) if plain else _pattern_with_marks()
            for match in pattern.finditer(text):
                start, end = match.span(pattern.groups)
                if start < end:  # a pattern may match the empty string
                    yield start, end, text[start:end]
            return
        for start, end in _places_of(list(filter(None, self._callable_tokenizer()(text))), text):
            yield start, end, text[start:end]

    @cached_property
    def _stop_set(self) -> frozenset[str]:
        if self.stop_words == AUTO:
            raise InputError("stop_words='auto' is told from the texts of a corpus: make one, or name a language")
        if self.stop_words is None:
            return frozenset()
        if isinstance(self.stop_words, str):
            return words_of_stop_words(self.stop_words)
        return frozenset(word.lower() if self.lowercase else word for word in self.stop_words)

    @cached_property
    def _stem(self) -> Callable[[str], str]:
        if self.stemmer == AUTO:
            raise InputError("stemmer='auto' is told from the texts of a corpus: make one, or name a language")
        return _snowball(self.stemmer).stemWord if self.stemmer else str

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values, for files.

        Returns
        -------
        dict
            The settings by name; a custom tokenizer is written as 'module:name'.
        """
        tokenizer = self.tokenizer
        if tokenizer is not None and not isinstance(tokenizer, str):
            kind = tokenizer if hasattr(tokenizer, "__qualname__") else type(tokenizer)
            module = getattr(kind, "__module__", None) or "builtins"
            tokenizer = f"{module}:{kind.__qualname__}"
        words = self.stop_words
        stop_words = words if words is None or isinstance(words, str) else sorted(words)
        return {
            "token_pattern": self.token_pattern,
            "lowercase": self.lowercase,
            "stop_words": stop_words,
            "stemmer": self.stemmer,
            "ngrams": list(self.ngrams),
            "tokenizer": tokenizer,
            "clean": self.clean,
            "drop_lines": list(self.drop_lines),
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Preprocessing:
        """Make an object from the values that `to_json` returned.

        Parameters
        ----------
        values : dict
            The settings by name. A custom tokenizer stays a name: nothing is imported.

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
        if not isinstance(values["clean"], bool) or not isinstance(values["drop_lines"], list):
            raise InputError(f"preprocessing={values!r:.60}: expected clean to be true or false, drop_lines a list")
        stop_words = values["stop_words"]
        return cls(**{**values, "stop_words": _as_set(stop_words) if isinstance(stop_words, list) else stop_words})

    def with_tokenizer(self, tokenizer: Callable[[str], Iterable[str]] | str) -> Preprocessing:
        """Return the same settings with another tokenizer, for example after a file has been loaded.

        Parameters
        ----------
        tokenizer : str or callable
            The name of a tokenizer, or a function from a text to its tokens.

        Returns
        -------
        Preprocessing
            The settings with this tokenizer.
        """
        return replace(self, tokenizer=tokenizer)


def _as_set(words: list[Any]) -> Any:
    """The words of a file as a set, which is never taken for a list of languages."""
    return frozenset(words) if all(isinstance(word, str) for word in words) else words


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
    return re.compile(rf"\b[^\W\d_][\w{marks()}]+")


def _snowball(language: str) -> Any:
    try:
        from Stemmer import Stemmer, algorithms
    except ImportError:  # a new Python, for which there is no wheel: the same stems in pure Python
        from snowballstemmer import algorithms
        from snowballstemmer import stemmer as Stemmer
    if language not in algorithms():
        raise InputError(f"no stemmer for {language!r}; available: {', '.join(sorted(algorithms()))}")
    return Stemmer(language)


def token_spans(text: str, preprocessing: Preprocessing) -> tuple[str, list[tuple[int, int, str]]]:
    """The text, and where in it each word comes from: (start, end, word), without stop words.

    The returned text is the given one in Unicode form NFC. Words are single words, whatever `ngrams` is, and single
    characters in scripts without spaces.

    >>> token_spans("The Cats!", Preprocessing(stemmer="english"))
    ('The Cats!', [(4, 8, 'cat')])
    """
    if preprocessing.tokenizer is None or preprocessing.lowercase:
        text = _composed(text)
    lowered = preprocessing._lowered(text)
    spans = []
    for start, end, token in preprocessing._places(lowered):
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
