"""A corpus with all that a corpus can hold."""

from __future__ import annotations

from topicfold import Corpus

TEXTS = ["cat dog.\n\nsun", "moon sun", "", "dog dog"]


def full():
    return Corpus.from_texts(
        TEXTS,
        ids=["a", "b", "c", "d"],
        titles=["A", None, "C", "D"],
        labels=[["x", "y"], "x", None, []],
        links=[("a", "b"), ("b", "d")],
        timestamps=["2001-02-03", 1999, None, "2020-01-01 10:00"],
        segments="paragraphs",
        keep_texts=True,
    )
