"""Topics in words that are read: lists of terms, in which a phrase is one term, and default names of a few terms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .ranking import RankBy, keyness

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["default_names", "in_one_line", "phrases_of", "same_stem", "terms", "written"]

_UNITS, _MOST_UNITS = 3, 6  # words and phrases of a default name; the second if others have the same
_MOST_WORDS = 4  # content words of a name with three units
_CANDIDATES = 30  # words of a topic
_OF_RAREST, _OF_COMMONEST = 0.5, 0.25  # share of the documents with a word of a phrase that have it, to be one term
_OF_FIRST, _OF_WORD, _OF_BEST_WORDS = 0.15, 0.5, 0.2  # share of the documents with a word that have the phrase
_BONUS = 1.5  # for a phrase of the best words
_TITLES = 2.0
_TAIL = 0.25  # of the first score: a third unit below it is left out
_ENDING = 3  # maximum number of letters after the common stem, which has at least four


def same_stem(one: str, other: str) -> bool:
    """Whether two words look like forms of the same word, in any language with suffixes.

    They share the first four letters or more, and at most three letters follow in each; shorter words may differ by an
    s. An n-gram counts as a form of each of its words, because it contains them.

    >>> [same_stem("team", "teams"), same_stem("israel", "israelis"), same_stem("new york", "york")]
    [True, True, True]
    >>> [same_stem("space", "spacecraft"), same_stem("car", "care"), same_stem("1992", "1993")]
    [False, False, False]
    """
    if " " in one or " " in other:
        return bool(set(one.split()) & set(other.split()))
    if not (one.isalpha() and other.isalpha()):
        return one == other
    short, long = sorted((one.lower(), other.lower()), key=len)
    if short == long or f"{short}s" == long:
        return True
    shared = next((place for place, letter in enumerate(short) if letter != long[place]), len(short))
    return shared >= 4 and len(long) - shared <= _ENDING


def in_one_line(terms: Iterable[str]) -> str:
    """Terms with spaces between them, or commas if a term has a space itself.

    >>> in_one_line(["cat", "dog"]), in_one_line(["New York", "dog"])
    ('cat dog', 'New York, dog')
    """
    listed = list(terms)
    return (", " if any(" " in term for term in listed) else " ").join(listed)


class Term(NamedTuple):
    """A word or phrase of a topic; `stems` are those of its content words."""

    text: str
    stems: frozenset[str]
    score: float
    share: float  # of the documents of the topic that have it


class _Candidates(NamedTuple):
    """What a default name is made of, the best first."""

    words: list[Term]
    phrases: Sequence[Term] = ()

    def stems(self) -> frozenset[str]:
        return frozenset(stem for word in self.words for stem in word.stems)


# ---- lists of terms --------------------------------------------------------------------------------------------------


def terms(tree: TopicTree, topic: int, n: int, by: RankBy = "score") -> list[str]:
    """The best words of a topic, those that form a phrase as one term; see `TopicTree.terms`."""
    words = [word.word for word in tree.words(topic, max(_CANDIDATES, n + _CANDIDATES // 2), by)]
    phrases = phrases_of(tree, tree.row(topic), words)
    listed, shown = list[str](), set[str]()
    for word in words:
        stems = tree._stems_of(word)
        options = [(text.lower(), parts) for text, parts in phrases if stems <= parts and shown.isdisjoint(parts)]
        text, parts = options[0] if options else (word, stems)
        if shown.isdisjoint(parts):
            listed.append(text)
            shown |= parts
    return listed[:n]


def phrases_of(tree: TopicTree, row: int, words: Sequence[str]) -> list[tuple[str, frozenset[str]]]:
    """The phrases that some words of a topic form in its documents, with their stems; the longest and best first.

    At least half of the documents with the rarest of these words have the phrase, and a quarter of those with the most
    common one. An n-gram of the vocabulary is a phrase of its words.
    """
    if tree.word_presence is None:
        return []
    share: dict[str, float] = {}
    for word in words:
        if len(stems := tree._stems_of(word)) == 1:
            share.setdefault(min(stems), float(tree.word_presence[row, tree._columns[word]]))
    found = [phrase for phrase in _phrases(tree, row) if phrase.stems <= share.keys()]
    scores = tree.word_scores(row)
    for word in words:
        if len(stems := tree._stems_of(word)) > 1 and stems <= share.keys():
            column = tree._columns[word]
            found.append(Term(word, stems, float(scores[column]), float(tree.word_presence[row, column])))
    bound = []
    for phrase in found:
        words_of = [share[stem] for stem in phrase.stems]
        if phrase.share >= max(_OF_RAREST * min(words_of), _OF_COMMONEST * max(words_of)):
            bound.append(phrase)
    bound.sort(key=lambda phrase: (-len(phrase.stems), -phrase.score, phrase.text))
    return [(phrase.text, phrase.stems) for phrase in bound]


def _phrases(tree: TopicTree, row: int) -> list[Term]:
    """The phrases that are more frequent in the documents of a topic than elsewhere."""
    wording = tree.wording
    if wording is None or wording.presence is None:
        return []
    scores, shares = keyness(wording.presence[row], wording.overall), wording.presence[row]
    stems = tree._phrase_stems
    return [Term(wording.phrases[p], stems[p], float(scores[p]), float(shares[p])) for p in np.flatnonzero(scores > 0)]


# ---- default names ---------------------------------------------------------------------------------------------------


def default_names(tree: TopicTree) -> dict[int, str]:
    """The default name of each topic: its best words and phrases, as the texts write them.

    These are at most three, or more if another topic of the level has the same; if that does not help, the id of the
    topic follows them.
    """
    names: dict[int, str] = {}
    for level in np.unique(tree.level).tolist():
        rows = np.flatnonzero(tree.level == level)
        candidates = dict(zip(tree.ids[rows].tolist(), _candidates(tree, rows)))
        length = dict.fromkeys(candidates, _UNITS)
        for _ in range(_UNITS, _MOST_UNITS):
            for topic in _alike({topic: _units(of_topic, length[topic]) for topic, of_topic in candidates.items()}):
                length[topic] += 1
        units = {topic: _units(of_topic, length[topic]) for topic, of_topic in candidates.items()}
        for topic in _alike(units):
            # three words and an id are clearer than six words that another topic has too
            names[topic] = f"{', '.join(_units(candidates[topic], _UNITS))} ({topic})"
        names = {topic: ", ".join(of_topic) for topic, of_topic in units.items()} | names
    return names


def _alike(names: dict[int, list[str]]) -> list[int]:
    """The topics that have the same words as another, in any order."""
    same: dict[frozenset[str], list[int]] = {}
    for topic, units in names.items():
        same.setdefault(frozenset(unit.casefold() for unit in units), []).append(topic)
    return [topic for topics in same.values() if len(topics) > 1 for topic in topics]


def _candidates(tree: TopicTree, rows: np.ndarray) -> list[_Candidates]:
    """The words and phrases of the topics of a level that may be in their names, the best first.

    A term counts for more if documents have it in their titles, and if no other topic of the level has it.
    """
    listed = [[word.word for word in tree.words(topic, _CANDIDATES)] for topic in tree.ids[rows].tolist()]
    presence, overall, wording = tree.word_presence, tree.corpus_presence, tree.wording
    if presence is None or overall is None or tree.word_score is not None:
        return [
            _Candidates([Term(written(tree, word), tree._stems_of(word), 1, 1) for word in words]) for words in listed
        ]
    used = np.array(sorted({tree._columns[word] for words in listed for word in words}), np.int64)
    shares = presence[rows][:, used]
    scores = _name_scores(shares, overall[used], _titles(tree, used))
    place = {tree.vocabulary[column]: number for number, column in enumerate(used.tolist())}
    candidates = []
    for words, share, score in zip(listed, shares.tolist(), scores.tolist()):
        at = [(word, place[word]) for word in words]
        terms = [Term(written(tree, word), tree._stems_of(word), score[w], share[w]) for word, w in at]
        candidates.append(_Candidates(sorted(terms, key=lambda term: -term.score)))
    if wording is None or wording.presence is None:
        return candidates
    titles = _titles(tree, len(tree.vocabulary) + np.arange(len(wording.phrases)))
    scores = _name_scores(wording.presence[rows], wording.overall, titles)
    return [
        words._replace(phrases=_name_phrases(tree, row, score, words))
        for row, score, words in zip(rows.tolist(), scores, candidates)
    ]


def _name_scores(presence: np.ndarray, overall: np.ndarray, titles: np.ndarray) -> np.ndarray:
    key = np.maximum(keyness(presence, overall), 0)
    only_here = np.sqrt(key / np.maximum(key.max(axis=0), 1e-300))
    return np.asarray(key * (1 + _TITLES * presence * titles) * only_here)


def _titles(tree: TopicTree, places: np.ndarray) -> np.ndarray:
    in_titles = None if tree.wording is None else tree.wording.in_titles
    return np.zeros(len(places)) if in_titles is None else in_titles[places]


def _name_phrases(tree: TopicTree, row: int, scores: np.ndarray, words: _Candidates) -> list[Term]:
    """The phrases of a topic, the best first; those of its best words count for more."""
    wording, best = tree.wording, words.stems()
    assert wording is not None
    assert wording.presence is not None
    phrases = []
    for p in np.flatnonzero(scores > 0).tolist():
        stems = tree._phrase_stems[p]
        score = float(scores[p]) * (_BONUS if stems <= best else 1.0)
        phrases.append(Term(wording.phrases[p], stems, score, float(wording.presence[row, p])))
    return sorted(phrases, key=lambda term: -term.score)


def _units(candidates: _Candidates, n_units: int) -> list[str]:
    """The best words and phrases without a common word; a word that is mostly part of a phrase becomes the phrase.

    More than the usual number of units, to differ from another name, may have any number of words.
    """
    units: list[Term] = []
    best, is_usual = candidates.stems(), n_units == _UNITS
    for term in _in_order(*candidates):
        room = _MOST_WORDS - sum(len(unit.stems) for unit in units) if is_usual or not units else len(best)
        is_weak = len(units) >= 2 and term.score < _TAIL * units[0].score
        if len(units) == n_units or room <= 0 or (is_usual and is_weak):
            break
        if _repeats(term, units):
            continue
        longer = (
            phrase
            for phrase in candidates.phrases
            if term.stems < phrase.stems
            and len(phrase.stems) <= room
            and phrase.share >= _least_part(phrase, bool(units), best) * term.share
            and not _repeats(phrase, units)
        )
        unit = next(longer, term)
        if len(unit.stems) <= room:
            units.append(unit)
    return [unit.text for unit in units]


def _in_order(words: list[Term], phrases: Sequence[Term]) -> list[Term]:
    """The best word, then words and phrases by their scores."""
    return words[:1] + sorted([*words[1:], *phrases], key=lambda term: -term.score)


def _least_part(phrase: Term, is_later: bool, best: frozenset[str]) -> float:
    """The least share of the documents with a word that have a phrase, for the phrase to stand for the word."""
    return _OF_FIRST if not is_later else _OF_BEST_WORDS if phrase.stems <= best else _OF_WORD


def _repeats(term: Term, units: list[Term]) -> bool:
    return any(_is_form(stem, other) for unit in units for other in unit.stems for stem in term.stems)


def _is_form(stem: str, other: str) -> bool:
    return stem == other if " " in stem + other else same_stem(stem, other)


def written(tree: TopicTree, word: str) -> str:
    """A word as the texts mostly write it."""
    wording = tree.wording
    if wording is None or not wording.written:
        return word
    if " " not in word:
        return wording.written.get(tree._columns[word], word)
    return " ".join(wording.written.get(tree._columns.get(part, -1), part) for part in word.split(" "))
