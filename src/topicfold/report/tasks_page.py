"""The page on which people answer tasks: one file that needs no network and does not contain the key."""

from __future__ import annotations

import json
from pathlib import Path

from ..analysis.judgement_tasks import ANSWERS, QUESTIONS, JudgementTasks
from ..engine.store import atomic_write
from .page import html_page
from .web_files import joined_scripts

__all__ = ["save_tasks_page", "tasks_page"]


def tasks_page(tasks: JudgementTasks, name: str = "topics") -> str:
    """The page; it contains the words of each task, but neither its topic nor its intruder."""
    data = {
        "id": tasks.id,
        "name": name,
        "questions": QUESTIONS,
        "answers": ANSWERS,
        "tasks": [{"kind": task.kind, "words": task.words} for task in tasks.tasks],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return html_page(
        "tasks.html",
        "tasks.css",
        [joined_scripts("tasks.js")],
        f"{name}: judge the topics",
        text,
    )


def save_tasks_page(tasks: JudgementTasks, path: str | Path, name: str = "topics") -> None:
    """Write a page on which people answer tasks.

    The page is one HTML file that needs no network. It does not contain the key.

    Parameters
    ----------
    tasks : JudgementTasks
        The tasks.
    path : str or Path
        The .html file to write.
    name : str, default='topics'
        Name of the topics on the page.

    See Also
    --------
    judgement_tasks : Makes tasks.
    read_judgements : Evaluates the answers that the page downloads.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from topicfold import Corpus, PLSA, judgement_tasks, save_tasks_page
    >>> corpus = Corpus.from_texts(["ant bee cat dog eel", "bee ant eel dog cat", "sun moon star sky orbit"] * 3)
    >>> tasks = judgement_tasks(PLSA(2, random_state=0).fit(corpus).topic_tree(corpus), corpus)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_tasks_page(tasks, f"{folder}/tasks.html", "animals and planets")
    ...     "animals and planets" in Path(f"{folder}/tasks.html").read_text(encoding="utf-8")
    True
    """
    with atomic_write(path) as unfinished:
        Path(unfinished).write_bytes(tasks_page(tasks, name).encode("utf-8", "replace"))
