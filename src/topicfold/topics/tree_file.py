"""Files of topic trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..store import damage_named, put_together, read_file, take_apart, write_file
from .fit_summary import FitSummary
from .tree import TopicTree

__all__ = ["load_tree", "save_tree"]

_EDGES = ("edges_above", "edges_below", "edges_weight")


def save_tree(tree: TopicTree, path: str | Path) -> None:
    """Write a tree with everything it holds."""
    values = {name: value for name, value in vars(tree).items() if not name.startswith("_")}
    edges = values.pop("edges")
    if edges is not None:
        values |= dict(zip(_EDGES, edges))
    arrays, plain = take_apart(values)
    write_file(path, arrays, {"kind": "tree", "values": plain})


def load_tree(path: str | Path) -> TopicTree:
    """Read a tree that `save_tree` wrote."""
    arrays, metadata = read_file(path, kind="tree")
    with damage_named(path):
        values = put_together(arrays, metadata["values"], fitsummary=FitSummary.from_json)
        if _EDGES[0] in values:
            values["edges"] = tuple(values.pop(name) for name in _EDGES)
        tree = TopicTree(**values)
        _check(tree)
    return tree


def _check(tree: TopicTree) -> None:
    """Raise when the arrays of a tree do not fit each other."""
    n_topics, n_words = tree.topic_word.shape
    expected: dict[str, tuple[Any, tuple[int, ...]]] = {
        "parent": (tree.parent, (n_topics,)),
        "level": (tree.level, (n_topics,)),
        "size": (tree.size, (n_topics,)),
        "ids": (tree.ids, (n_topics,)),
        "doc_topic": (tree.doc_topic, (len(tree.document_ids), n_topics)),
        "word_frequency": (tree.word_frequency, (n_words,)),
        "vocabulary": (np.empty(len(tree.vocabulary)), (n_words,)),
    }
    if tree.word_score is not None:
        expected["word_score"] = (tree.word_score, (n_topics, n_words))
    if tree.segment_topic is not None:
        expected["segment_topic"] = (tree.segment_topic, (len(tree.segment_topic), n_topics))
    for name, (array, shape) in expected.items():
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}: expected {shape}")
    if not set(tree.parent.tolist()) <= {-1, *tree.ids.tolist()}:
        raise ValueError("a topic hangs from one that is not in the tree")
