"""Tokens of scripts without spaces, and tokenizers that files know by name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import TypeAlias

from ..engine.extras import import_extra
from ..errors import InputError
from .languages import nearest_name

__all__ = [
    "TOKENIZERS",
    "check_tokenizer_name",
    "has_unspaced",
    "is_tokenizer_name",
    "joined",
    "marks",
    "named_tokenizer",
    "unit_places",
    "units",
]

Tokenizer: TypeAlias = Callable[[str], Iterable[str]]

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HIRAGANA = "\u3041-\u3096\u309d-\u309f"
_CLUSTERS = (  # a letter with its vowel signs, tone marks and the letters below it
    "[\u0e40-\u0e44]?[\u0e01-\u0e2e][\u0e30-\u0e3a\u0e45\u0e47-\u0e4e]*",  # Thai
    "[\u0ec0-\u0ec4]?[\u0e81-\u0eae\u0edc-\u0edf][\u0eb0-\u0ebd\u0ec8-\u0ecd]*",  # Lao
    "[\u1000-\u102a\u103f](?:\u1039[\u1000-\u102a]|[\u102b-\u103e])*",  # Burmese
    "[\u1780-\u17b3](?:\u17d2[\u1780-\u17b3]|[\u17b4-\u17d1\u17d3\u17dd])*",  # Khmer
)
_UNSPACED = f"{_HAN}{_KATAKANA}{_HIRAGANA}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
has_unspaced = re.compile(f"[{_UNSPACED}]").search  # a scan that costs next to nothing
_has_hiragana = re.compile(f"[{_HIRAGANA}]").search


@cache
def marks() -> str:
    """Vowel signs and accents that are separate characters, for the inside of a character class."""
    return "".join(chr(code) for code in range(0x300, 0x11000) if unicodedata.category(chr(code)) in ("Mn", "Mc"))


@cache
def _pattern() -> re.Pattern[str]:
    """A unit, that is a character or cluster of a script without spaces; a word in katakana or in another script.

    Hiragana mostly writes grammar, and is left out.
    """
    unit = "|".join((f"[{_HAN}]", *_CLUSTERS))
    word = rf"(?<![^\W{_UNSPACED}])[^\W\d_{_UNSPACED}](?:(?![{_UNSPACED}])[\w{marks()}])+"
    return re.compile(f"(?P<unit>{unit})|[{_KATAKANA}]{{2,}}|{word}")


def unit_places(text: str) -> Iterator[tuple[int, int, str]]:
    """Start and end of each unit, and of each word between units, with its word.

    In Japanese, the word of a character is the pair that it begins or, at the end of a run, the one that it ends.

    >>> list(unit_places("手机ab")), list(unit_places("日本語の本"))
    ([(0, 1, '手'), (1, 2, '机'), (2, 4, 'ab')], [(0, 1, '日本'), (1, 2, '本語'), (2, 3, '本語')])
    """
    matches = list(_pattern().finditer(text))
    if not _has_hiragana(text):
        yield from ((*match.span(), match[0]) for match in matches)
        return
    for before, match, after in zip([None, *matches], matches, [*matches[1:], None]):
        if match["unit"] is None:
            yield *match.span(), match[0]
        elif after is not None and after["unit"] is not None and match.end() == after.start():
            yield *match.span(), match[0] + after[0]
        elif before is not None and before["unit"] is not None and before.end() == match.start():
            yield *match.span(), before[0] + match[0]


def units(text: str, pairs: bool = False) -> Iterator[str]:
    """The characters of scripts without spaces, and the words between them; pairs of characters stand between the two.

    With pairs, a text in Japanese has no single characters: a kanji by itself says little, and katakana writes words.

    >>> list(units("iphone手机壳", pairs=True)), list(units("日本語の本", pairs=True))
    (['iphone', '手', '手机', '机', '机壳', '壳'], ['日本', '本語'])
    """
    with_single = not (pairs and _has_hiragana(text))
    last, last_end = "", -1
    for match in _pattern().finditer(text):
        token = match[0]
        if match["unit"] is None:
            yield token
            continue
        if pairs and match.start() == last_end:
            yield last + token
        if with_single:
            yield token
        last, last_end = token, match.end()


def joined(words: Sequence[str]) -> str:
    """An n-gram: with spaces, except between two characters of scripts without spaces."""
    text = words[0]
    for last, word in pairwise(words):
        text += word if _is_unit(last) and _is_unit(word) else f" {word}"
    return text


@cache
def _is_unit(word: str) -> bool:
    match = None if word.isascii() else _pattern().fullmatch(word)
    return match is not None and match["unit"] is not None


# ---- tokenizers by name ----------------------------------------------------------------------------------------------


def _is_word(token: str) -> bool:
    """Whether a token counts as a word: two letters or more, the first a letter, or one character that is a word."""
    return token[:1].isalpha() and (len(token) > 1 or bool(has_unspaced(token)) or "\uac00" <= token <= "\ud7a3")


def _characters() -> Tokenizer:
    return units


def _sudachi() -> Tokenizer:
    """Japanese: nouns, verbs and adjectives, as they are in the text."""
    dictionary = import_extra("sudachipy.dictionary", "sudachi", "tokenizer='sudachi'")
    import_extra("sudachidict_core", "sudachi", "tokenizer='sudachi'")
    tokenizer = dictionary.Dictionary(dict="core").create()
    return lambda text: [
        token.surface()
        for part in _parts(text)
        for token in tokenizer.tokenize(part)
        if token.part_of_speech()[0] in _JAPANESE_PARTS and _is_word(token.surface())
    ]


def _fugashi() -> Tokenizer:
    """Japanese, by MeCab: nouns, verbs and adjectives, as they are in the text."""
    fugashi = import_extra("fugashi", "fugashi", "tokenizer='fugashi'")
    import_extra("unidic_lite", "fugashi", "tokenizer='fugashi'", package="unidic-lite")
    tagger = fugashi.Tagger()
    return lambda text: [
        word.surface for word in tagger(text) if word.feature.pos1 in _JAPANESE_PARTS and _is_word(word.surface)
    ]


def _kiwi() -> Tokenizer:
    """Korean: nouns, and words in other scripts."""
    kiwipiepy = import_extra("kiwipiepy", "kiwi", "tokenizer='kiwi'")
    kiwi = kiwipiepy.Kiwi(num_workers=1)
    return lambda text: [
        token.form for token in kiwi.tokenize(text) if token.tag in _KOREAN_TAGS and _is_word(token.form)
    ]


def _rjieba() -> Tokenizer:
    """Chinese: words of two characters and more."""
    rjieba = import_extra("rjieba", "rjieba", "tokenizer='rjieba'")
    return lambda text: [word for word in rjieba.cut(text) if len(word) > 1 and _is_word(word)]


def _pythainlp() -> Tokenizer:
    """Thai, by maximal matching with a dictionary."""
    tokenize = import_extra("pythainlp.tokenize", "pythainlp", "tokenizer='pythainlp'")
    return lambda text: list(filter(_is_word, tokenize.word_tokenize(text, keep_whitespace=False)))


def _spacy(model: str) -> Tokenizer:
    """The tokenizer of a spaCy model, or of a language such as 'de', without its punctuation and numbers."""
    name = f"spacy:{model}"
    spacy = import_extra("spacy", "spacy", f"tokenizer={name!r}")
    try:
        language = spacy.blank(model) if "_" not in model else spacy.load(model)
    except (OSError, ImportError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"tokenizer={name!r}: {reason:.200}; to install a model: python -m spacy download") from None
    return lambda text: [token.text for token in language.make_doc(text) if _is_word(token.text)]


TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "characters": _characters,
    "fugashi": _fugashi,
    "kiwi": _kiwi,
    "pythainlp": _pythainlp,
    "rjieba": _rjieba,
    "sudachi": _sudachi,
}
_SPACY = re.compile(r"spacy:([a-z]{2,3}|[a-z]{2,3}_[a-z]+_[a-z]+_(?:sm|md|lg|trf))")
_JAPANESE_PARTS = frozenset(("名詞", "動詞", "形容詞", "形状詞"))
_KOREAN_TAGS = frozenset(("NNG", "NNP", "XR", "SL", "SH"))
_SUDACHI_CHARACTERS = 10_000  # at most 49,149 bytes at a time


def _parts(text: str) -> Iterator[str]:
    return (text[start : start + _SUDACHI_CHARACTERS] for start in range(0, len(text), _SUDACHI_CHARACTERS))


def is_tokenizer_name(name: str) -> bool:
    """Whether this is the name of a tokenizer of the table; what a file names is never imported as a module."""
    return name in TOKENIZERS or _SPACY.fullmatch(name) is not None


def check_tokenizer_name(name: str, custom: bool = False) -> None:
    """Raise if the name is not of the table; `custom` allows 'module:function', as files name other tokenizers."""
    if is_tokenizer_name(name) or (custom and ":" in name and not name.startswith("spacy:")):
        return
    if name.startswith("spacy:"):
        raise InputError(f"tokenizer={name!r}: expected spacy:LANGUAGE or spacy:MODEL, such as spacy:ja_core_news_sm")
    names = [*TOKENIZERS, "spacy:MODEL"]
    raise InputError(f"unknown tokenizer {name!r:.60}; {nearest_name(name, names)}")


@cache
def named_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of this name."""
    match = _SPACY.fullmatch(name)
    return _spacy(match[1]) if match else TOKENIZERS[name]()
