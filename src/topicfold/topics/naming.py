"""Names of topics that nobody has named: a few of their best words, one of each stem, and never the same name twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["default_names", "same_stem"]

_WORDS, _MOST = 3, 6
_CANDIDATES = 20
_ENDING = 3  # letters that forms of a word may differ in, after a stem of four


def same_stem(one: str, other: str) -> bool:
    """Whether two words look like forms of one word, in any language that puts its endings last.

    The beginning they share has four letters or more and leaves each an ending of up to three; shorter words may
    differ by an s. An n-gram is like each of its words, which it already says.

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


def default_names(tree: TopicTree) -> dict[int, tuple[str, ...]]:
    """The words that a topic is called by where it has no name, by topic.

    Three words, or where another topic of the level has the same three, as many more as tell them apart; where that
    does not help, the topic's id stands behind them.
    """
    level = dict(zip(tree.ids.tolist(), tree.level.tolist()))
    candidates = {topic: _of_different_stems(tree, topic) for topic in tree.ids.tolist()}
    length = dict.fromkeys(candidates, _WORDS)
    for _ in range(_WORDS, _MOST):
        for topic in _alike({topic: words[: length[topic]] for topic, words in candidates.items()}, level):
            length[topic] += 1
    chosen = {topic: words[: length[topic]] for topic, words in candidates.items()}
    for topic in _alike(chosen, level):
        # three words and an id say more than six words that another topic has too
        chosen[topic] = (*chosen[topic][:_WORDS], f"({topic})")
    return chosen


def _of_different_stems(tree: TopicTree, topic: int) -> tuple[str, ...]:
    kept: list[str] = []
    for found in tree.words(topic, _CANDIDATES):
        if len(kept) < _MOST and not any(same_stem(found.word, word) for word in kept):
            kept.append(found.word)
    return tuple(kept)


def _alike(names: dict[int, tuple[str, ...]], level: dict[int, int]) -> list[int]:
    """The topics that have the words of another of their level, in whatever order."""
    same: dict[tuple[int, frozenset[str]], list[int]] = {}
    for topic, words in names.items():
        same.setdefault((level[topic], frozenset(words)), []).append(topic)
    return [topic for topics in same.values() if len(topics) > 1 for topic in topics]
