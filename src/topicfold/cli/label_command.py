"""The command `label`: labels documents from descriptions of the labels."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from ..engine.csv_writer import CsvWriter
from ..engine.small_files import read_json
from .messages import check_paths, corpus_name, say, say_report
from .options import DEFAULT_EMBEDDING, corpus_options, embedded_texts, read_corpus

if TYPE_CHECKING:
    import numpy as np

__all__ = ["label"]

_COLUMNS = ("id", "label", "probability", "runner_up", "runner_up_probability")


@click.command()
@click.argument("input", type=click.Path())
@click.argument("descriptions", type=click.Path(exists=True, dir_okay=False))
@corpus_options
@click.option("--free-topics", default=0, show_default=True, help="Number of topics for documents that no label fits.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed; the same seed gives the same result.")
@click.option(
    "--embed",
    is_flag=False,
    flag_value=DEFAULT_EMBEDDING,
    metavar="[MODEL]",
    help="Also compare texts and descriptions by their embeddings from this model, a folder or a name (default "
    f"{DEFAULT_EMBEDDING}). The vectors of the texts are saved next to INPUT.",
)
@click.option("--out", default="-", show_default=True, help="CSV file to write; '-' is stdout.")
@click.option("--report", type=click.Path(), help="Also write a page to explore the labels as topics (.html).")
def label(
    input: str,
    descriptions: str,
    free_topics: int,
    seed: int,
    embed: str | None,
    out: str,
    report: str | None,
    **user_options: Any,
) -> None:
    """Label the documents of INPUT by DESCRIPTIONS of the labels.

    DESCRIPTIONS is a JSON file: {"sport": "football, tennis and other sports", ...}, or a list of labels that need no
    description. Columns: id, label, its probability, the second most likely label and its probability. The label is
    empty if the document has no known word or, with --free-topics, if no label fits.
    """
    from ..analysis.embedding import embed as embed_texts
    from ..analysis.zero_shot import ZeroShotClassifier, described_labels

    labels = described_labels(read_json(descriptions, '{"label": "its description"}'))
    check_paths([input, descriptions], None if out == "-" else out, report)
    corpus = read_corpus(input, user_options, keep_texts=True)
    vectors: dict[str, Any] = {}
    if embed is not None:
        vectors["embeddings"] = embedded_texts(corpus, embed, input)
        vectors["label_embeddings"] = embed_texts(list(labels.values()), embed, verbose=False)
    model = ZeroShotClassifier(labels, n_free_topics=free_topics, random_state=seed).fit(corpus, **vectors)
    tree = model.topic_tree(corpus)
    _write(out, corpus.ids, model.classes_, model.doc_class_, set(tree.wordless.tolist()))
    say(str(tree))
    if report:
        from ..report import build_report

        page = build_report(tree, corpus, name=corpus_name(input))
        page.save(report)
        say_report(page, report)


def _write(out: str, ids: Any, classes: np.ndarray, probability: np.ndarray, wordless: set[int]) -> None:
    from ..engine.store import atomic_write

    order = (-probability).argsort(axis=1, kind="stable")[:, :2]
    with ExitStack() as stack:
        if out == "-":
            file = sys.stdout
        else:
            place = stack.enter_context(atomic_write(out))
            file = stack.enter_context(open(place, "w", encoding="utf-8", newline=""))
        rows = CsvWriter(file)
        rows.write(_COLUMNS)
        for row, (name, (first, second), shares) in enumerate(zip(ids, order.tolist(), probability)):
            if row in wordless:
                rows.write([name, "", 0, "", 0])
                continue
            rows.write([name, classes[first], f"{shares[first]:.4f}", classes[second], f"{shares[second]:.4f}"])
