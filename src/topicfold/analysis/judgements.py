"""The answers of human raters: how many intruders they find, how they rate topics, and whether they agree."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..engine.small_files import read_text
from ..errors import FileError, InputError
from ..metrics.judging import Estimate, krippendorff_alpha, spearman, wilson_interval
from .judgement_tasks import ANSWERS, QUESTIONS, JudgementTasks, Kind, Task

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Answer", "Correlation", "Judged", "Judgements", "TopicJudged", "read_answers", "read_judgements"]

_COLUMNS = ("tasks", "rater", "task", "answer")
_DRAWS = 1000
_LONGEST = 40  # maximum number of characters of a value in an error message


class Answer(NamedTuple):
    """The answer of a person to a task, by its number; 0 if the words are not known."""

    rater: str
    task: int
    value: int


class Judged(NamedTuple):
    """The answers to all tasks of a kind.

    Attributes
    ----------
    kind : {'intrusion', 'rating'}
        The kind of the tasks.
    mean : Estimate
        Share of intruders found, or mean rating.
    unknown : int
        Number of answers that the words are not known.
    alpha : Estimate
        Krippendorff's alpha of the words chosen (nominal), or of the ratings (ordinal).
    """

    kind: Kind
    mean: Estimate
    unknown: int
    alpha: Estimate


class TopicJudged(NamedTuple):
    """The answers to the tasks of a topic.

    Attributes
    ----------
    topic : int
        Id of the topic.
    name : str
        Its name.
    intrusion : Estimate
        Share of people who found the intruder.
    rating : Estimate
        Mean rating.
    """

    topic: int
    name: str
    intrusion: Estimate
    rating: Estimate


class Correlation(NamedTuple):
    """Spearman's correlation of a judgement with a measure, over topics.

    Attributes
    ----------
    kind : {'intrusion', 'rating'}
        The kind of the tasks.
    measure : str
        Name of the measure.
    rho : Estimate
        The correlation.
    """

    kind: Kind
    measure: str
    rho: Estimate


@dataclass(frozen=True)
class Judgements:
    """How people judge topics; made by `read_judgements`.

    Attributes
    ----------
    raters : tuple of str
        The people.
    chance : float
        Share of intruders that guessing would find.
    kinds : tuple of Judged
        The answers of each kind of task.
    topics : tuple of TopicJudged
        The answers for each topic, those with the best judgements first.
    correlations : tuple of Correlation
        Correlations of the judgements with automatic measures.

    See Also
    --------
    read_judgements : Makes one.

    Examples
    --------
    >>> from topicfold import Judgements
    >>> Judgements(("ann",), 1 / 6, (), (), ()).raters
    ('ann',)
    """

    raters: tuple[str, ...]
    chance: float
    kinds: tuple[Judged, ...]
    topics: tuple[TopicJudged, ...]
    correlations: tuple[Correlation, ...]

    def to_json(self) -> str:
        """Return all results as JSON.

        Returns
        -------
        str
            A JSON object; a value that is not defined is null.
        """
        return json.dumps(_plain(self), ensure_ascii=False)

    def topic_table(self) -> pd.DataFrame:
        """Return the results for each topic as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row per topic: share of intruders found, mean rating, their intervals and numbers of answers.
        """
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for judged in self.topics:
            row: dict[str, Any] = {"topic": judged.topic, "name": judged.name}
            for kind in (kind_judged.kind for kind_judged in self.kinds):
                value, low, high, n = getattr(judged, kind)
                row |= {kind: value, f"{kind}_low": low, f"{kind}_high": high, f"{kind}_answers": n}
            rows.append(row)
        return pd.DataFrame(rows).set_index("topic")

    def __str__(self) -> str:
        people = f"{len(self.raters)} {'person' if len(self.raters) == 1 else 'people'}"
        lines = [f"{people}, {len(self.topics)} topics; 95 % intervals", ""]
        for judged in self.kinds:
            figure = _percent if judged.kind == "intrusion" else _decimal
            result = (
                f"intruders found (chance {_percent(self.chance)})"
                if judged.kind == "intrusion"
                else "mean rating (1 to 3)"
            )
            unknown = f", {judged.unknown} more did not know the words" if judged.unknown else ""
            lines.append(f"{result}: {_shown(judged.mean, figure)}, {judged.mean.n} answers{unknown}")
            lines.append(f"  agreement between people (alpha): {_shown(judged.alpha, _decimal)}")
        kinds = [judged.kind for judged in self.kinds]
        titles = {"intrusion": "intruder found", "rating": "rating"}
        figures: dict[Kind, Callable[[float], str]] = {"intrusion": _percent, "rating": _decimal}
        rows = [["topic", *(titles[kind] for kind in kinds), "name"]]
        rows += [
            [str(judged.topic), *(_shown(getattr(judged, kind), figures[kind]) for kind in kinds), judged.name]
            for judged in self.topics
        ]
        lines += ["", *_aligned(rows)]
        rows = [["Spearman's correlation with", *(titles[kind] for kind in kinds)]]
        for measure in dict.fromkeys(pair.measure for pair in self.correlations):
            rho = {pair.kind: pair.rho for pair in self.correlations if pair.measure == measure}
            rows.append([measure, *(_shown(rho[kind], _decimal) if kind in rho else "" for kind in kinds)])
        return "\n".join([*lines, "", *_aligned(rows)])

    __repr__ = __str__


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def _decimal(value: float) -> str:
    return f"{value:.2f}"


def _shown(estimate: Estimate, figure: Callable[[float], str]) -> str:
    if math.isnan(estimate.value):
        return "-"
    interval = "" if math.isnan(estimate.low) else f" ({figure(estimate.low)} to {figure(estimate.high)})"
    return f"{figure(estimate.value)}{interval}"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def _plain(value: Any) -> Any:
    if isinstance(value, Judgements):
        return {name: _plain(part) for name, part in vars(value).items()}
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def read_judgements(key: JudgementTasks | str | Path, answers: Sequence[str | Path]) -> Judgements:
    r"""Read the answers of raters, and compare them with chance, with each other and with automatic measures.

    Parameters
    ----------
    key : JudgementTasks, str or Path
        The tasks, or the file with their key.
    answers : sequence of str or Path
        CSV files with the columns tasks, rater, task and answer: downloaded from the page, or the table of the tasks
        with the answers filled in. A file may contain several raters, but each rater must be in only one file. Empty
        answers are left out; the answer 0 means that the words are not known.

    Returns
    -------
    Judgements
        Results for each kind of task and each topic.

    Raises
    ------
    InputError
        If a file is not such a table or belongs to other tasks, or a person answers a task twice.

    See Also
    --------
    judgement_tasks : Makes tasks.
    topicfold.metrics.krippendorff_alpha : Agreement of raters.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from topicfold import Corpus, PLSA, judgement_tasks, read_judgements
    >>> corpus = Corpus.from_texts(["ant bee cat dog eel", "bee ant eel dog cat", "sun moon star sky orbit"] * 3)
    >>> tasks = judgement_tasks(PLSA(2, random_state=0).fit(corpus).topic_tree(corpus), corpus, kinds=["rating"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "ann.csv"
    ...     _ = file.write_text(f"tasks,rater,task,answer\n{tasks.id},ann,1,3\n{tasks.id},ann,2,1\n")
    ...     read_judgements(tasks, [file]).kinds[0].mean.value
    2.0
    """
    tasks = key if isinstance(key, JudgementTasks) else JudgementTasks.load_key(key)
    answer_list = read_answers(tasks, answers)
    raters = tuple(dict.fromkeys(answer.rater for answer in answer_list))
    table = np.full((len(raters), len(tasks.tasks)), np.nan)
    for answer in answer_list:
        table[raters.index(answer.rater), answer.task - 1] = answer.value
    kinds = [kind for kind in QUESTIONS if any(task.kind == kind for task in tasks.tasks)]
    judged = tuple(_judged(tasks.tasks, table, kind) for kind in kinds)
    topics = _topics(tasks, table)
    sizes = [len(task.words) for task in tasks.tasks if task.kind == "intrusion"]
    chance = float(np.mean([1 / size for size in sizes])) if sizes else math.nan
    return Judgements(raters, chance, judged, topics, _correlations(tasks, topics, kinds))


def _judged(tasks: Sequence[Task], table: np.ndarray, kind: Kind) -> Judged:
    columns = [number for number, task in enumerate(tasks) if task.kind == kind]
    known_answers = np.where(table[:, columns] > 0, table[:, columns], np.nan)
    level: Any = "nominal" if kind == "intrusion" else "ordinal"
    alpha, rng = krippendorff_alpha(known_answers, level), np.random.default_rng(0)
    drawn = rng.integers(len(columns), size=(_DRAWS if not math.isnan(alpha) else 0, len(columns)))
    alphas = np.array([krippendorff_alpha(known_answers[:, resample], level) for resample in drawn])
    alphas = alphas[~np.isnan(alphas)]
    low, high = np.quantile(alphas, [0.025, 0.975]).tolist() if len(alphas) else (math.nan, math.nan)
    mean = _mean([(tasks[number], table[:, number]) for number in columns], kind)
    unknown = int((table[:, columns] == 0).sum())
    return Judged(kind, mean, unknown, Estimate(alpha, low, high, len(columns)))


def _mean(answered: Sequence[tuple[Task, np.ndarray]], kind: Kind) -> Estimate:
    """The share of intruders found, or the mean rating, whose interval is computed on a scale from 0 to 1."""
    n = sum(int((values > 0).sum()) for _, values in answered)
    if kind == "intrusion":
        return wilson_interval(sum(int((values == task.intruder).sum()) for task, values in answered), n)
    span = len(ANSWERS) - 1
    interval = wilson_interval(sum(float((values[values > 0] - 1).sum()) for _, values in answered) / span, n)
    return Estimate(1 + span * interval.value, 1 + span * interval.low, 1 + span * interval.high, n)


def _topics(tasks: JudgementTasks, table: np.ndarray) -> tuple[TopicJudged, ...]:
    results = []
    for topic, name in tasks.names.items():
        means = {
            kind: _mean([(task, table[:, k]) for k, task in enumerate(tasks.tasks) if task[:2] == (kind, topic)], kind)
            for kind in QUESTIONS
        }
        results.append(TopicJudged(topic, name, **means))

    def merit(judged: TopicJudged) -> tuple[float, float, int]:
        return (*(-np.nan_to_num(mean.value) for mean in (judged.intrusion, judged.rating)), judged.topic)

    return tuple(sorted(results, key=merit))


def _correlations(
    tasks: JudgementTasks, topics: Sequence[TopicJudged], kinds: Sequence[Kind]
) -> tuple[Correlation, ...]:
    measures: dict[str, list[float]] = {
        name: [values.get(judged.topic, math.nan) for judged in topics] for name, values in tasks.measures.items()
    }
    correlations = [
        Correlation(kind, name, spearman([getattr(judged, kind).value for judged in topics], values))
        for name, values in measures.items()
        for kind in kinds
    ]
    if len(kinds) > 1:
        rating = [judged.rating.value for judged in topics]
        correlations.append(
            Correlation("intrusion", "mean rating", spearman([judged.intrusion.value for judged in topics], rating))
        )
    return tuple(correlations)


# ---- files of answers -----------------------------------------------------------------------------------------------


def read_answers(tasks: JudgementTasks, paths: Sequence[str | Path]) -> list[Answer]:
    """The answers in CSV files, checked against the tasks; see `read_judgements`."""
    if isinstance(paths, str | Path):
        raise InputError(f"answers={str(paths)!r}: expected a list of files")
    place: dict[str, str | Path] = {}
    all_answers: list[Answer] = []
    for path in paths:
        file_answers = _answers_in(tasks, path)
        if not file_answers:
            raise InputError(f"{path} contains no answers")
        for rater in dict.fromkeys(answer.rater for answer in file_answers):
            if rater in place:
                raise InputError(
                    f"{rater!r:.{_LONGEST}} is in {place[rater]} and in {path}: expected one file per person"
                )
            place[rater] = path
        all_answers += file_answers
    if not all_answers:
        raise InputError("there are no answers: expected at least one file of answers")
    return all_answers


def _answers_in(tasks: JudgementTasks, path: str | Path) -> list[Answer]:
    answers_by_task: dict[tuple[str, int], Answer] = {}
    try:
        text = read_text(path, f"a CSV file with the columns {', '.join(_COLUMNS)}")
        table = csv.reader(io.StringIO(text, newline=""), delimiter=";" if ";" in text.partition("\n")[0] else ",")
        header = [name.strip() for name in next(table, [])]
        for name in _COLUMNS:
            if header.count(name) != 1:
                raise FileError(f"{path} has no column {name!r}: expected the columns {', '.join(_COLUMNS)}")
        columns = [header.index(name) for name in _COLUMNS]
        for row in table:
            cells = [row[column].strip() if column < len(row) else "" for column in columns]
            if not cells[-1]:
                continue
            where = f"{path}, line {table.line_num}"
            answer = _checked(tasks, cells, where)
            if answer[:2] in answers_by_task:
                raise FileError(f"{where}: {answer.rater!r:.{_LONGEST}} answers task {answer.task} twice")
            answers_by_task[answer[:2]] = answer
    except csv.Error as error:
        raise FileError(f"{path} is not a CSV file: {error}") from None
    return list(answers_by_task.values())


def _checked(tasks: JudgementTasks, cells: Sequence[str], where: str) -> Answer:
    of_tasks, rater, number, value = cells
    if of_tasks != tasks.id:
        raise FileError(f"{where}: the answer is to tasks {of_tasks!r:.{_LONGEST}}, but the key is for {tasks.id!r}")
    if not rater:
        raise FileError(f"{where}: the answer has no name in the column rater")
    if not _is_whole(number, 1, len(tasks.tasks)):
        raise FileError(f"{where}: there is no task {number!r:.{_LONGEST}} among {len(tasks.tasks)}")
    most = tasks.tasks[int(number) - 1].n_answers
    if not _is_whole(value, 0, most):
        raise FileError(f"{where}: answer {value!r:.{_LONGEST}} to task {number}: expected a number from 0 to {most}")
    return Answer(rater, int(number), int(value))


def _is_whole(text: str, low: int, high: int) -> bool:
    return text.isdecimal() and len(text) < 10 and low <= int(text) <= high
