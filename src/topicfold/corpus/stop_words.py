"""Stop words: the lists that come with the package, several at once, with words added and left in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from typing import Any

from ..errors import InputError
from .languages import LANGUAGES, guess_languages, language_named, nearest_name, scripts_of

__all__ = ["parsed_stop_words", "stop_word_languages", "stop_words_of", "usual_words", "words_of_stop_words"]

_FEWEST_DOCUMENTS = 5  # in a language, to use its stop words
_FEWEST_WORDS = 50  # of all texts, to tell their language
_LEAST_SHARE = 0.02  # of the documents, to use the stop words of a language
_LEAST_SHARED = 0.003  # of the documents in the largest language, for a word to be one of its words
_STEMMED = frozenset(("polish", "russian"))  # docs/results/stems.md; in others, stems gain little or nothing
_FIRST = 300  # characters by which the script of a few texts is told


@cache
def _listed() -> tuple[str, ...]:
    folder = resources.files("topicfold.corpus") / "stopwords"
    return tuple(sorted(entry.name[:-4] for entry in folder.iterdir() if entry.name.endswith(".txt")))


def stop_word_languages() -> list[str]:
    """The languages that have a built-in stop word list.

    >>> "english" in stop_word_languages()
    True
    """
    return list(_listed())


@cache
def stop_words_of(language: str) -> frozenset[str]:
    """The stop words of a language, from the lists that come with the package.

    >>> "the" in stop_words_of("english")
    True
    """
    name = language_named(language)
    if name not in _listed():
        raise InputError(_no_stop_words(language))
    file = resources.files("topicfold.corpus") / "stopwords" / f"{name}.txt"
    return frozenset(file.read_text(encoding="utf-8").split())


def _no_stop_words(language: str, hint: str = "") -> str:
    listed = nearest_name("" if language_named(language) else language, _listed())
    return f"no stop words for {language!r:.60}{hint}; {listed}"


def parsed_stop_words(stop_words: str | Iterable[str]) -> str | frozenset[str] | None:
    """Stop words in one form: a string with languages, +words and -words; a set of words; or None for 'none'.

    A string, and a list whose first entry is a language, names languages. A set is always a set of words.

    >>> parsed_stop_words(["de", "english", "-die", "+said"])
    'english,german,+said,-die'
    >>> sorted(parsed_stop_words(["red", "english"]))
    ['english', 'red']
    """
    if isinstance(stop_words, str):
        entries = stop_words.split(",")
        if stop_words.strip().lower() == "none":
            return None
    else:
        words = stop_words if isinstance(stop_words, Iterable) else [stop_words]
        entries = list(words)
        if not all(isinstance(word, str) for word in entries):
            raise InputError(f"stop_words={stop_words!r:.60}: expected strings")
        if isinstance(stop_words, set | frozenset) or not _names_languages(entries):
            return frozenset(entries)
        entries = [part for entry in entries for part in entry.split(",")]
    return _canonical([entry.strip() for entry in entries], stop_words)


def _names_languages(entries: list[str]) -> bool:
    """Whether a list is one of languages; ISO codes such as 'it' are also words, so all its entries must be alike."""
    if not entries:
        return False
    first = entries[0].split(",")[0].strip().lower()
    if first in LANGUAGES:
        return True
    return all(entry[:1] in ("+", "-") or language_named(entry.split(",")[0]) for entry in entries)


def _canonical(entries: list[str], stop_words: Any) -> str:
    languages = [entry for entry in entries if entry[:1] not in ("+", "-")]
    added = {entry[1:].lower() for entry in entries if entry.startswith("+")}
    left_in = {entry[1:].lower() for entry in entries if entry.startswith("-")}
    shown = f"stop_words={stop_words!r:.60}"
    if not languages or entries[0] not in languages:
        raise InputError(f"{shown}: expected a language first, then +words and -words, such as 'english,+said,-war'")
    for name in languages:
        if language_named(name) not in _listed():
            raise InputError(_no_stop_words(name, "" if len(entries) == 1 else " (write a word as +word or -word)"))
    both = added & left_in
    if both or "" in added | left_in:
        problem = f"both +{min(both)} and -{min(both)}" if both else "a sign without a word"
        raise InputError(f"{shown}: {problem}")
    names = sorted({language_named(name) or name for name in languages})
    return ",".join([*names, *(f"+{word}" for word in sorted(added)), *(f"-{word}" for word in sorted(left_in))])


@cache
def words_of_stop_words(canonical: str) -> frozenset[str]:
    """The words that the string of `parsed_stop_words` stands for."""
    entries = canonical.split(",")
    words: set[str] = set()
    for entry in entries:
        if entry[0] not in "+-":
            words |= stop_words_of(entry)
    words |= {entry[1:] for entry in entries if entry[0] == "+"}
    return frozenset(words - {entry[1:] for entry in entries if entry[0] == "-"})


def usual_words(texts: Sequence[str]) -> tuple[str | None, str | None]:
    """The stop words and the stemmer that serve texts.

    The stop words are those of their language, and of others in which at least 2 % of them are; English if the texts
    are too few to tell, None if their language has no list. A stop word of a smaller language that is a word of the
    largest one is left in: "war" is English, too. Only languages in which stems gave better topics have a stemmer.

    >>> usual_words(["Der Hund und die Katze sind im Garten und schlafen."] * 10), usual_words(["red fish"])
    (('german', None), ('english', None))
    """
    guesses = guess_languages(texts)
    documents = Counter(language for language in guesses if language is not None)
    if documents.total() < _FEWEST_DOCUMENTS or sum(len(text.split()) for text in texts) < _FEWEST_WORDS:
        scripts = scripts_of(" ".join(texts)[:_FIRST])
        return "english" if not scripts or "latin" in scripts else None, None
    largest = documents.most_common(1)[0][0]
    stemmer = largest if largest in _STEMMED else None
    least = max(_FEWEST_DOCUMENTS, _LEAST_SHARE * documents.total())
    names = [name for name, number in documents.items() if number >= least and name in _listed()]
    if not names:
        return None, stemmer
    signed = [f"-{word}" for word in _shared_words(texts, guesses, largest, names)]
    return _canonical([*names, *signed], names), stemmer


def _shared_words(
    texts: Sequence[str], guesses: Sequence[str | None], largest: str, names: Sequence[str]
) -> Iterable[str]:
    """Stop words of smaller languages that are words of the largest one: in its texts they are not much rarer."""
    others = frozenset[str]().union(*(stop_words_of(name) for name in names if name != largest))
    if largest in _listed():
        others -= stop_words_of(largest)
    others = frozenset(word for word in others if len(word) > 1)
    n_largest, n_other = Counter[str](), Counter[str]()  # documents with each word
    for text, language in zip(texts, guesses):
        counter = n_largest if language == largest else n_other
        counter.update(set(re.findall(r"\w+", text.lower())) & others)
    least = max(2, _LEAST_SHARED * guesses.count(largest))
    return sorted(word for word, number in n_largest.items() if number >= max(least, n_other[word] / 2))
