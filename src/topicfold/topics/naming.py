"""Default names of topics: a few of their best words with different stems, and never the same name twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["default_names", "same_stem"]

_WORDS, _MOST = 3, 6
_CANDIDATES = 20
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


def default_names(tree: TopicTree) -> dict[int, tuple[str, ...]]:
    """The words of the default name of each topic, by topic.

    These are three words, or more if another topic of the level has the same three; if that does not help, the id of
    the topic follows the three words.
    """
    level = dict(zip(tree.ids.tolist(), tree.level.tolist()))
    candidates = {topic: _of_different_stems(tree, topic) for topic in tree.ids.tolist()}
    length = dict.fromkeys(candidates, _WORDS)
    for _ in range(_WORDS, _MOST):
        for topic in _alike({topic: words[: length[topic]] for topic, words in candidates.items()}, level):
            length[topic] += 1
    chosen = {topic: words[: length[topic]] for topic, words in candidates.items()}
    for topic in _alike(chosen, level):
        # three words and an id are clearer than six words that another topic has too
        chosen[topic] = (*chosen[topic][:_WORDS], f"({topic})")
    return chosen


def _of_different_stems(tree: TopicTree, topic: int) -> tuple[str, ...]:
    kept: list[str] = []
    for found in tree.words(topic, _CANDIDATES):
        if len(kept) < _MOST and not any(same_stem(found.word, word) for word in kept):
            kept.append(found.word)
    return tuple(kept)


def _alike(names: dict[int, tuple[str, ...]], level: dict[int, int]) -> list[int]:
    """The topics that have the same words as another topic of their level, in any order."""
    same: dict[tuple[int, frozenset[str]], list[int]] = {}
    for topic, words in names.items():
        same.setdefault((level[topic], frozenset(words)), []).append(topic)
    return [topic for topics in same.values() if len(topics) > 1 for topic in topics]
