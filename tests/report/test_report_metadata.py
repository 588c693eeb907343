"""Metadata columns as the page gets them."""

from __future__ import annotations

import numpy as np

from topicfold import Corpus
from topicfold.report.metadata_table import metadata_table


def corpus_with(**metadata):
    return Corpus.from_texts(["cat dog"] * len(next(iter(metadata.values()))), metadata=metadata)


def test_kinds_of_columns():
    corpus = corpus_with(
        stars=[1, 2, 2, 5],
        score=[1.5, None, 2.25, 3],
        place=["a", "b", "", "b"],
        day=["2001-02-03", "", "2001-02-04", "1999-01-01"],
        note=["w", "x", "y", "z"],
    )
    facts, columns = metadata_table(corpus, np.array([3, 1, 2]))
    table = {fact.pop("name"): fact | {"values": values} for fact, values in zip(facts, columns.values())}
    assert table == {
        "stars": {"kind": "number", "values": [5.0, 2.0, 2.0]},
        "score": {"kind": "number", "values": [3.0, None, 2.25]},
        "place": {"kind": "category", "names": ["b"], "values": [0, 0, -1]},
        "day": {"kind": "date", "values": ["1999-01-01", "", "2001-02-04"]},
        "note": {"kind": "text", "values": ["z", "x", "y"]},
    }


def test_long_values_are_cut():
    (column,), _ = metadata_table(corpus_with(note=["x" * 1000, "y" * 1000]), np.arange(2))
    assert {len(name) for name in column["names"]} == {200}
