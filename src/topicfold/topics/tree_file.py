"""Files of topic trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.arrays import ascending
from ..engine.checks import is_number, is_whole
from ..engine.store import errors_name_file, from_arrays, read_file, to_arrays, write_file
from ..engine.stored import MAX_PROBABILITY, Stored, check_stored
from ..errors import InputError
from .fit_summary import FitSummary
from .wording import Wording

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["read_tree", "write_tree"]

_EDGES = ("edges_above", "edges_below", "edges_weight")
_LARGEST_ID = 2**31
_STORED: Mapping[str, Stored] = {
    "topic_word": Stored(("topics", "words"), low=0, high=MAX_PROBABILITY),
    "doc_topic": Stored(("documents", "topics"), low=0, high=MAX_PROBABILITY),
    "ids": Stored(("topics",), "int", low=0, high=_LARGEST_ID),
    "parent": Stored(("topics",), "int", low=-1),
    "level": Stored(("topics",), "int", low=1, high=1000),
    "size": Stored(("topics",), low=0, high=MAX_PROBABILITY),
    "word_frequency": Stored(("words",), low=0),
    "vocabulary": Stored(("words",), "strings"),
    "document_ids": Stored(("documents",), "strings"),
    "titles": Stored(("documents",), "strings", optional=True),
    "word_score": Stored(("topics", "words"), "rows", optional=True),
    "word_presence": Stored(("topics", "words"), low=0, high=MAX_PROBABILITY, optional=True),
    "corpus_presence": Stored(("words",), low=0, high=MAX_PROBABILITY, optional=True),
    "wording": Stored(kind="object", optional=True, may_be_missing=True),
    "exclusive": Stored(kind="bool"),
    "wordless": Stored(("wordless",), "int", low=0),
    "typicality": Stored(("documents",), low=0, high=MAX_PROBABILITY, optional=True, may_be_missing=True),
    "segment_topic": Stored(("segments", "topics"), low=0, high=MAX_PROBABILITY, optional=True),
    "graph": Stored(("documents", "documents"), "sparse", low=0, optional=True),
    "level_names": Stored(kind="mapping"),
    "names": Stored(kind="mapping"),
    "descriptions": Stored(kind="mapping"),
    "marks": Stored(kind="mapping"),
    "stability": Stored(kind="mapping", may_be_missing=True),
    "returns": Stored(kind="mapping", may_be_missing=True),
    "mapping": Stored(kind="mapping"),
    "summary": Stored(kind="object", optional=True),
    **dict.fromkeys(_EDGES[:2], Stored(("edges",), "int", low=0, may_be_missing=True)),
    _EDGES[2]: Stored(("edges",), low=0, may_be_missing=True),
}


def write_tree(tree: TopicTree, path: str | Path) -> None:
    """Write a tree with all its data."""
    values = {field.name: getattr(tree, field.name) for field in fields(tree)}
    edges = values.pop("edges")
    if edges is not None:
        values |= dict(zip(_EDGES, edges))
    arrays, plain = to_arrays(values)
    write_file(path, arrays, {"kind": "tree", "values": plain})


def read_tree(path: str | Path) -> dict[str, Any]:
    """The attributes of a tree that `write_tree` wrote."""
    arrays, metadata = read_file(path, kind="tree")
    with errors_name_file(path):
        values = from_arrays(arrays, metadata.get("values"), fitsummary=FitSummary.from_json, wording=Wording.from_json)
        check_stored(values, _STORED)
        _check(values)
        parts = [values.pop(name) for name in _EDGES if name in values]
        if len(parts) not in (0, len(_EDGES)):
            raise InputError(f"it has {len(parts)} of {', '.join(_EDGES)}: expected all or none")
        values["edges"] = tuple(parts) or None
        return values


def _check(values: Mapping[str, Any]) -> None:
    """Raise an InputError if the values of a tree do not fit each other; each has been checked on its own."""
    ids = values["ids"].tolist()
    if len(set(ids)) < len(ids):
        raise InputError("an id occurs more than once")
    row = {topic: k for k, topic in enumerate(ids)} | {-1: -1}
    if not set(values["parent"].tolist()) <= set(row):
        raise InputError("the parent of a topic is not in the tree")
    above = np.array([row[topic] for topic in values["parent"].tolist()], np.int64)
    for _ in range(len(ids).bit_length()):  # doubles the distance each time, until all are at the top
        above = np.where(above >= 0, above[above], -1)
    if (above >= 0).any():
        raise InputError("a topic is its own ancestor")
    if not {*values.get(_EDGES[0], ()), *values.get(_EDGES[1], ())} <= set(ids):
        raise InputError("an edge refers to a topic that is not in the tree")
    if values.get("wording") is not None:
        values["wording"].check(*values["topic_word"].shape)
    rows = values["wordless"]
    if len(rows) and (rows.max() >= len(values["document_ids"]) or not ascending(rows, strictly=True)):
        raise InputError("its documents without words are not rows of the tree in their order")
    for name in ("level_names", "names", "descriptions", "marks", "stability", "returns", "mapping"):
        for key, value in values.get(name, {}).items():
            if not (is_whole(key) and 0 <= key <= _LARGEST_ID and _fits(name, value)):
                raise InputError(f"an entry of its {name} is invalid: {key!r:.40} -> {value!r:.40}")


def _fits(name: str, value: Any) -> bool:
    """Whether a value of a mapping is of the kind that the mapping has."""
    if name == "mapping":
        return value is None or is_whole(value)
    if name in ("stability", "returns"):
        return is_number(value) and 0 <= value <= MAX_PROBABILITY
    return isinstance(value, str)
