"""The page on which people answer tasks: one file that needs no network and does not hold the key."""

from __future__ import annotations

import json
from pathlib import Path

from ..analysis.judgement_tasks import ANSWERS, QUESTIONS, JudgementTasks
from ..store import replaced_when_whole
from .page import html_page, in_one_function, web_file

__all__ = ["save_tasks_page", "tasks_page"]


def tasks_page(tasks: JudgementTasks, name: str = "topics") -> str:
    """The page; it has the words of each task, and neither its topic nor its intruder."""
    data = {
        "id": tasks.id,
        "name": name,
        "questions": QUESTIONS,
        "answers": ANSWERS,
        "tasks": [{"kind": task.kind, "words": task.words} for task in tasks.tasks],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return html_page(
        "tasks.html", "tasks.css", [in_one_function([web_file("tasks.js")])], f"{name}: judge the topics", text
    )


def save_tasks_page(tasks: JudgementTasks, path: str | Path, name: str = "topics") -> None:
    """Write the page."""
    with replaced_when_whole(path) as unfinished:
        Path(unfinished).write_bytes(tasks_page(tasks, name).encode("utf-8", "replace"))
