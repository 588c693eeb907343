"""Names of topics that a function gives, such as one that asks a language model; for the default names see terms.py."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..corpus.corpus import Corpus
from ..engine.checks import check_whole
from ..engine.warn import warn_user
from ..errors import InputError
from .copied import first_copies
from .ranking import largest
from .similarity import topic_similarity
from .typical import typical_documents

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["Namer", "TopicToName", "as_one_line", "name_topics", "topics_to_name"]

_LONGEST_NAME, _LONGEST_DESCRIPTION, _START_OF_TEXT = 120, 400, 400  # characters
_NEAREST = 3


class TopicToName(NamedTuple):
    """What a naming function sees of a topic; see `TopicTree.name_topics`.

    Attributes
    ----------
    topic : int
        Id of the topic.
    words : tuple of str
        Its best words, the best first.
    documents : tuple of (str, str)
        Title (or id) and start of the text of its best documents. The text is '' if it is not known.
    nearest : tuple of str
        Names of the most similar topics of its level.
    parent : str or None
        Name of the topic above it.

    See Also
    --------
    TopicTree.name_topics : Names topics by a function.
    naming_prompt : A prompt for a language model.

    Examples
    --------
    >>> from topicfold import TopicToName
    >>> topic = TopicToName(3, ("orbit", "moon"), (("Apollo 11", "On 20 July"),), ("sea tide",), None)
    >>> topic.words[0]
    'orbit'
    """

    topic: int
    words: tuple[str, ...]
    documents: tuple[tuple[str, str], ...]
    nearest: tuple[str, ...]
    parent: str | None


Namer: TypeAlias = "Callable[[TopicToName], str | tuple[str, str] | None]"


def name_topics(
    tree: TopicTree, by: Namer, corpus: Corpus | None, topics: Sequence[int] | None, n_words: int, n_documents: int
) -> TopicTree:
    """The tree with names by a function; see `TopicTree.name_topics`."""
    names, descriptions = dict(tree.names), dict(tree.descriptions)
    new: set[int] = set()
    empty: list[int] = []
    for topic_to_name in topics_to_name(tree, corpus, topics, n_words, n_documents):
        above = int(tree.parent[tree.row(topic_to_name.topic)])
        try:
            answer = by(topic_to_name._replace(parent=names.get(above, topic_to_name.parent)))
        except Exception as error:  # whatever the user's function raises
            error.add_note(f"while naming topic {topic_to_name.topic}")
            raise
        name, description = _checked(answer, topic_to_name.topic)
        if not name:
            empty.append(topic_to_name.topic)
            continue
        new.add(topic_to_name.topic)
        names[topic_to_name.topic] = name
        descriptions.pop(topic_to_name.topic, None)  # it belonged to another name
        if description:
            descriptions[topic_to_name.topic] = description
    if empty:
        shown = ", ".join(map(str, empty[:10])) + (", ..." if len(empty) > 10 else "")
        warn_user(f"{len(empty)} of the topics got no name and stay unchanged: {shown}")
    return replace(tree, names=_unique(tree, names, new), descriptions=descriptions)


def topics_to_name(
    tree: TopicTree, corpus: Corpus | None, topics: Sequence[int] | None, n_words: int, n_documents: int
) -> list[TopicToName]:
    """What is known of each topic to name, those of higher levels first."""
    check_whole("n_words", n_words)
    check_whole("n_documents", n_documents, 0)
    first = first_copies(tree, corpus)
    rows = range(len(tree)) if topics is None else [tree.row(topic) for topic in dict.fromkeys(topics)]
    similarity = topic_similarity(tree) if len(tree.doc_topic) else np.eye(len(tree))
    texts = None if corpus is None else corpus.texts
    described = []
    for row in sorted(rows, key=lambda row: -tree.level[row]):
        topic, above = int(tree.ids[row]), int(tree.parent[row])
        typical = typical_documents(tree, row, n_documents, first)
        best = [d for d in typical[~np.isin(typical, tree.wordless)].tolist() if tree.doc_topic[d, row] > 0]
        others = np.flatnonzero((tree.level == tree.level[row]) & (tree.ids != topic))
        near = others[largest(similarity[row, others], _NEAREST)]
        described.append(
            TopicToName(
                topic=topic,
                words=tuple(tree.terms(topic, n_words)),
                documents=tuple((tree.title(d), "" if texts is None else _start(texts[d])) for d in best),
                nearest=tuple(tree.name(other) for other in tree.ids[near].tolist()),
                parent=tree.name(above) if above >= 0 else None,
            )
        )
    return described


def _start(text: str) -> str:
    return as_one_line(text[: 2 * _START_OF_TEXT], _START_OF_TEXT)


def as_one_line(text: str, most: int) -> str:
    """Text without line breaks and control characters, cut to at most `most` characters.

    >>> as_one_line("  Web\\n servers\\x07 ", 40), as_one_line("a long name", 7)
    ('Web servers', 'a long…')
    """
    printable = "".join(
        " " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs")
    )
    line = " ".join(printable.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _checked(answer: object, topic: int) -> tuple[str, str]:
    """Name and description from an answer; of a name with several lines, the first that is not empty."""
    parts = ("", "") if answer is None else (answer, "") if isinstance(answer, str) else answer
    if not isinstance(parts, tuple | list) or len(parts) != 2 or not all(isinstance(part, str) for part in parts):
        raise InputError(
            f"topic {topic}: got the name {answer!r:.60}: expected a string, or a tuple of a name and a description"
        )
    lines = [line for line in parts[0].splitlines() if as_one_line(line, _LONGEST_NAME)]
    return as_one_line(lines[0] if lines else "", _LONGEST_NAME), as_one_line(parts[1], _LONGEST_DESCRIPTION)


def _unique(tree: TopicTree, names: dict[int, str], new: set[int]) -> dict[int, str]:
    """The names, with the id added to each new name that another topic of the level already has."""
    level = dict(zip(tree.ids.tolist(), tree.level.tolist()))
    names_in_use = {(level[topic], name.casefold()) for topic, name in names.items() if topic not in new}
    result = dict(names)
    for topic in sorted(new):
        while (level[topic], result[topic].casefold()) in names_in_use:
            result[topic] += f" ({topic})"
        names_in_use.add((level[topic], result[topic].casefold()))
    return result
