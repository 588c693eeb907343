"""Commands for people who judge topics: tasks, agreement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .messages import check_paths, corpus_name, say
from .options import file_options, known_options, read_as_fitted

__all__ = ["agreement", "tasks"]

_PAGE, _TABLE, _KEY = ".html", ".csv", ".key.json"


@click.command()
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path())
@file_options
@known_options
@click.option(
    "--out", default="tasks.html", show_default=True, help="Page to write; the table and the key go next to it."
)
@click.option("--kind", "kinds", default="intrusion,rating", show_default=True, help="Kinds of tasks, comma-separated.")
@click.option("--sample", type=int, help="Number of topics to draw at random.")
@click.option("--seed", default=0, show_default=True, help="Seed; the same seed gives the same tasks.")
@click.option("--tree", "tree_file", type=click.Path(), help="Edited topics of MODEL, written by `topicfold tree`.")
@click.option("--name", help="Name of the topics on the page; by default, the name of INPUT.")
def tasks(
    model: str,
    input: str,
    out: str,
    kinds: str,
    sample: int | None,
    seed: int,
    tree_file: str | None,
    name: str | None,
    **user_options: Any,
) -> None:
    """Write tasks in which people judge the topics of MODEL.

    In an intrusion task people find the word that does not belong; in a rating task they rate how well words go
    together. TASKS.html is a page that records answers in any browser, TASKS.csv has the same tasks as a table, and
    TASKS.key.json is the key for `topicfold agreement`: do not send it to the people who answer.
    """
    from ..analysis.judgement_tasks import judgement_tasks
    from ..engine.store import atomic_write
    from ..models.model_file import load
    from ..report.tasks_page import save_tasks_page
    from ..topics.tree import TopicTree

    if not out.endswith(_PAGE):
        raise click.UsageError(f"--out {out}: expected the name of a page, such as tasks.html")
    table, key = (out.removesuffix(_PAGE) + ending for ending in (_TABLE, _KEY))
    check_paths([model, input, tree_file], out, table, key)
    fitted = load(model)
    changed = None if tree_file is None else TopicTree.load(tree_file)
    corpus = read_as_fitted(fitted, model, input, user_options)
    topics = fitted.topic_tree(corpus)
    if changed is not None:
        topics = changed.replace_documents(topics)
    kind_list: Any = [kind.strip() for kind in kinds.split(",")]
    task_set = judgement_tasks(topics, corpus, kinds=kind_list, sample=sample, seed=seed)
    save_tasks_page(task_set, out, name or corpus_name(input))
    with atomic_write(table) as unfinished:
        Path(unfinished).write_text(task_set.to_csv(), encoding="utf-8", newline="")
    task_set.save_key(key)
    say(f"{len(task_set.tasks)} tasks on {len(task_set.names)} topics are in {out} and {table}; keep {key} to yourself")


@click.command()
@click.argument("key", type=click.Path())
@click.argument("answers", nargs=-1, required=True, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def agreement(key: str, answers: tuple[str, ...], as_json: bool) -> None:
    """Print how people judge topics. KEY comes from `topicfold tasks`, ANSWERS are the files that people sent.

    Prints how many intruders they found compared with chance, how they rate topics, whether they agree with each other
    (Krippendorff's alpha), and how far automatic measures agree with them (Spearman's correlation over topics).
    """
    from ..analysis.judgements import read_judgements

    judgements = read_judgements(key, answers)
    click.echo(judgements.to_json() if as_json else str(judgements))
