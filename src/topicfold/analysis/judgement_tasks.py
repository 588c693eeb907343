"""Tasks for people who judge topics: find the word that does not belong, and rate how well words go together.

Word intrusion is that of Chang et al., "Reading tea leaves: how humans interpret topic models" (2009); ratings on three
points are those of Newman et al., "Automatic evaluation of topic coherence" (2010).
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..corpus.corpus import Corpus
from ..engine.checks import check_choice, check_whole, is_whole
from ..engine.csv_writer import CsvWriter
from ..engine.small_files import read_json
from ..engine.store import atomic_write
from ..engine.warn import warn_user
from ..errors import FileError, InputError
from ..metrics.coherence import MEASURES, coherence
from ..topics.terms import same_stem
from ..topics.tree import TopicTree

__all__ = ["ANSWERS", "QUESTIONS", "JudgementTasks", "Kind", "Task", "judgement_tasks"]

Kind: TypeAlias = Literal["intrusion", "rating"]
QUESTIONS: Mapping[Kind, str] = {
    "intrusion": "Which word does not belong with the others?",
    "rating": "How well do these words go together, as one topic?",
}
ANSWERS: Sequence[str] = ("Not related", "Somewhat related", "Very related")  # to the second question: 1, 2, 3
_FORMAT = "topicfold tasks 1"
_OWN_WORDS, _RATED_WORDS = 5, 10
_NOT_OWN = 50  # the best words of a topic that cannot be its intruders
_FOREIGN = 0.1  # maximum P(w|z) of an intruder, as a share of its highest P(w|z) in any topic
_MEASURED_WORDS = 10


class Task(NamedTuple):
    """One question to a person.

    Attributes
    ----------
    kind : {'intrusion', 'rating'}
        The kind of the task.
    topic : int
        Id of the topic.
    words : tuple of str
        The words that are shown.
    intruder : int
        Position of the word that does not belong, counted from 1; 0 in a rating task.
    """

    kind: Kind
    topic: int
    words: tuple[str, ...]
    intruder: int

    @property
    def n_answers(self) -> int:
        """The highest number that is an answer: the number of words, or of points on the rating scale."""
        return len(self.words) if self.kind == "intrusion" else len(ANSWERS)


@dataclass(frozen=True)
class JudgementTasks:
    """Tasks for human raters, with their key; made by `judgement_tasks`.

    The key contains the topics of the tasks, the positions of the intruders, and automatic measures of the topics.

    Attributes
    ----------
    tasks : tuple of Task
        The tasks in the order in which people see them. Their numbers count from 1.
    names : mapping of int to str
        Names of the topics.
    measures : mapping of str to mapping of int to float
        Automatic measures: for each name of a measure, its value for each topic.

    See Also
    --------
    judgement_tasks : Makes tasks.
    save_tasks_page : Writes a page on which people answer.
    read_judgements : Evaluates the answers.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, judgement_tasks
    >>> corpus = Corpus.from_texts(["ant bee cat dog eel", "bee ant eel dog cat", "sun moon star sky orbit"] * 3)
    >>> tasks = judgement_tasks(PLSA(2, random_state=0).fit(corpus).topic_tree(corpus), corpus)
    >>> tasks.to_csv().splitlines()[0]
    'tasks,task,question,word 1,word 2,word 3,word 4,word 5,word 6,rater,answer'
    """

    tasks: tuple[Task, ...]
    names: Mapping[int, str]
    measures: Mapping[str, Mapping[int, float]]

    @property
    def id(self) -> str:
        """Id of this set of tasks: a hash of them, which is part of every answer."""
        shown = json.dumps([[task.kind, task.words] for task in self.tasks])
        return hashlib.blake2b(shown.encode(), digest_size=6).hexdigest()

    def to_csv(self) -> str:
        """Return the tasks as a CSV table to fill in, without the key.

        Returns
        -------
        str
            The table, with empty columns for the rater and the answer.
        """
        file = io.StringIO()
        most = max((len(task.words) for task in self.tasks), default=0)
        table = CsvWriter(file)
        table.write(["tasks", "task", "question", *(f"word {w + 1}" for w in range(most)), "rater", "answer"])
        for number, task in enumerate(self.tasks, start=1):
            blank = [""] * (most - len(task.words))
            table.write([self.id, number, QUESTIONS[task.kind], *task.words, *blank, "", ""])
        return file.getvalue()

    def save_key(self, path: str | Path) -> None:
        """Write the key to a file; people who answer should not see it.

        Parameters
        ----------
        path : str or Path
            The file to write; `load_key` reads it.
        """
        key = {
            "format": _FORMAT,
            "id": self.id,
            "tasks": [task._asdict() for task in self.tasks],
            "names": {str(topic): name for topic, name in self.names.items()},
            "measures": {
                name: {str(topic): value if math.isfinite(value) else None for topic, value in values.items()}
                for name, values in self.measures.items()
            },
        }
        with atomic_write(path) as unfinished:
            Path(unfinished).write_text(json.dumps(key, indent=1), encoding="utf-8", newline="\n")

    @staticmethod
    def load_key(path: str | Path) -> JudgementTasks:
        """Read a key that `save_key` wrote.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        JudgementTasks
            The tasks with their key.

        Raises
        ------
        FileError
            If the file is damaged or is not a key.
        """
        expected = "the .key.json file written with the tasks"
        key = read_json(path, expected)
        if not isinstance(key, dict) or key.get("format") != _FORMAT:
            raise FileError(f"{path} is not a key of tasks: expected {expected}")
        try:
            tasks = tuple(_checked_task(task) for task in key["tasks"])
            names = {int(topic): str(name) for topic, name in key["names"].items()}
            measures = {
                str(name): {int(topic): math.nan if value is None else float(value) for topic, value in values.items()}
                for name, values in key["measures"].items()
            }
            number = key["id"]
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:  # other types in the JSON
            raise FileError(f"{path} is damaged: {error}") from None
        result = JudgementTasks(tasks, names, measures)
        if result.id != number or not {task.topic for task in tasks} <= set(names):
            raise FileError(f"{path} is damaged: its parts do not fit together")
        return result


def _checked_task(entry: Mapping[str, Any]) -> Task:
    task = Task(entry["kind"], entry["topic"], tuple(entry["words"]), entry["intruder"])
    place = is_whole(task.intruder) and (
        1 <= task.intruder <= len(task.words) if task.kind == "intrusion" else task.intruder == 0
    )
    if task.kind not in QUESTIONS or not is_whole(task.topic) or not all(isinstance(w, str) for w in task.words):
        raise InputError(f"a task is not valid: {entry!r:.60}")
    if not place:
        raise InputError(f"the position of an intruder is not valid: {task.intruder!r:.20}")
    return task


def judgement_tasks(
    tree: TopicTree,
    corpus: Corpus,
    *,
    kinds: Sequence[Kind] = ("intrusion", "rating"),
    topics: Sequence[int] | None = None,
    sample: int | None = None,
    seed: int = 0,
) -> JudgementTasks:
    """Make tasks in which people judge the topics of a tree.

    An intrusion task shows the five best words of a topic and an intruder in random order. The intruder is among the
    five best words of another topic of the level and has a low probability in this one. A rating task shows the ten
    best words of a topic in order. Intrusion tasks come first, because the lists of the rating tasks would give
    intruders away.

    Parameters
    ----------
    tree : TopicTree
        The topics.
    corpus : Corpus
        Documents on which the automatic measures, such as coherence, are computed.
    kinds : sequence of {'intrusion', 'rating'}, default=('intrusion', 'rating')
        The kinds of tasks.
    topics : sequence of int, default=None
        Ids of the topics to judge. None uses those of the lowest level.
    sample : int or None, default=None
        Number of topics to draw at random. None uses all.
    seed : int, default=0
        Seed of the random numbers. The same seed gives the same tasks.

    Returns
    -------
    JudgementTasks
        The tasks with their key.

    Raises
    ------
    InputError
        If no task can be made, because topics have too few words.

    See Also
    --------
    save_tasks_page : Writes a page on which people answer.
    read_judgements : Evaluates the answers.

    References
    ----------
    Chang, J., Boyd-Graber, J., Gerrish, S., Wang, C. and Blei, D. M. (2009). Reading tea leaves: how humans interpret
    topic models. NIPS.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA, judgement_tasks
    >>> corpus = Corpus.from_texts(["ant bee cat dog eel", "bee ant eel dog cat", "sun moon star sky orbit"] * 3)
    >>> tasks = judgement_tasks(PLSA(2, random_state=0).fit(corpus).topic_tree(corpus), corpus)
    >>> [task.kind for task in tasks.tasks], len(tasks.tasks[0].words)
    (['intrusion', 'intrusion', 'rating', 'rating'], 6)
    """
    for kind in kinds:
        check_choice("kinds", kind, tuple(QUESTIONS))
    check_whole("seed", seed, 0)
    topics_to_judge = tree.ids[tree.at_lowest_level].tolist() if topics is None else list(dict.fromkeys(topics))
    rng = np.random.default_rng(seed)
    if sample is not None and check_whole("sample", sample) < len(topics_to_judge):
        topics_to_judge = sorted(rng.choice(topics_to_judge, sample, replace=False).tolist())
    tasks: list[Task] = []
    for kind in (kind for kind in QUESTIONS if kind in kinds):
        made_tasks = [_intrusion(tree, t, seed) if kind == "intrusion" else _rating(tree, t) for t in topics_to_judge]
        few = [topic for topic, task in zip(topics_to_judge, made_tasks) if task is None]
        if few:
            warn_user(f"{len(few)} topics have too few words for {kind} tasks and are left out: {str(few[:10])[1:-1]}")
        tasks += [task for k in rng.permutation(len(made_tasks)) if (task := made_tasks[k]) is not None]
    if not tasks:
        raise InputError("no task can be made: the topics have too few words, or no kind of task is given")
    judged_topics = sorted({task.topic for task in tasks})
    names = {topic: tree.name(topic) for topic in judged_topics}
    return JudgementTasks(tuple(tasks), names, _measures(tree, corpus, judged_topics))


def _rating(tree: TopicTree, topic: int) -> Task | None:
    words = tuple(word.word for word in tree.words(topic, _RATED_WORDS))
    return Task("rating", topic, words, 0) if len(words) > 1 else None


def _intrusion(tree: TopicTree, topic: int, seed: int) -> Task | None:
    """The five best words and an intruder, in an order that depends only on the seed and the topic."""
    best_words = [word.word for word in tree.words(topic, _OWN_WORDS)]
    candidates = _intruders(tree, topic, best_words)
    if len(best_words) < _OWN_WORDS or not candidates:
        return None
    rng = np.random.default_rng([seed, topic])
    intruder = candidates[rng.integers(len(candidates))]
    words = [*best_words, intruder]
    shown = [words[place] for place in rng.permutation(len(words))]
    return Task("intrusion", topic, tuple(shown), shown.index(intruder) + 1)


def _intruders(tree: TopicTree, topic: int, best_words: list[str]) -> list[str]:
    """Best words of other topics of the level that are unlikely in this one; if there are none, the least likely."""
    row = tree.row(topic)
    level = np.flatnonzero(tree.level == tree.level[row])
    near = {word.word for word in tree.words(topic, _NOT_OWN)}
    column = {word: w for w, word in enumerate(tree.vocabulary)}
    foreign: dict[str, float] = {}
    for other in tree.ids[level].tolist():
        for word in (scored_word.word for scored_word in tree.words(other, _OWN_WORDS)):
            if word not in near and not any(same_stem(word, best_word) for best_word in best_words):
                most = max(float(tree.topic_word[level, column[word]].max()), 1e-300)
                foreign[word] = float(tree.topic_word[row, column[word]]) / most
    allowed = max(_FOREIGN, min(foreign.values(), default=0.0))
    return [word for word, share in foreign.items() if share <= allowed]


def _measures(tree: TopicTree, corpus: Corpus, topics: Sequence[int]) -> dict[str, dict[int, float]]:
    """Size, mean score of the best words, and coherence of the topics, with each document as one window."""
    counts = corpus.counts_over(tree.vocabulary)
    column = {word: w for w, word in enumerate(tree.vocabulary)}
    best = {topic: tree.words(topic, _MEASURED_WORDS) for topic in topics}
    measures = {
        "size": {topic: tree.size_of(topic) for topic in topics},
        tree.score_name: {topic: float(np.mean([word.score for word in best[topic]])) for topic in topics},
    }
    listed = [[column[word.word] for word in best[topic]] for topic in topics]
    for measure in MEASURES:
        measures[measure] = dict(zip(topics, coherence(listed, counts=counts, measure=measure).tolist()))
    return measures
