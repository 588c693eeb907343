"""Edits of topics: apply to a tree what a reader renamed, merged, dropped and grouped in the explorer.

An edit is one of these, and a list of edits is applied in order:

    {"rename": 3, "name": "space"}              an empty name removes the name
    {"merge": [3, 7], "name": "space"}          the name is optional; the merged topic keeps the first id
    {"drop": [5]}                               if 5 is a group, its topics are no longer in a group
    {"group": [3, 8], "name": "science"}        adds a level of groups above a flat tree; the rest are "other topics"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.small_files import read_json
from ..errors import FileError, InputError
from .changes import add_group_levels
from .similarity import check_flat

if TYPE_CHECKING:
    from .tree import TopicTree

__all__ = ["Edit", "apply_edits", "read_edits"]

Edit = Mapping[str, Any]
_FORMAT = "topicfold edits 1"
_KINDS = ("rename", "merge", "drop", "group")
_REST = "other topics"


def read_edits(path: str | Path) -> list[dict[str, Any]]:
    """Read the edits in a file from the explorer; a file of only names, {"12": "name"}, is accepted too.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    list of dict
        The edits, in the order in which they were made.
    """
    expected = f'{{"format": "{_FORMAT}", "edits": [...]}}'
    contents = read_json(path, expected)
    if isinstance(contents, dict) and contents.get("format") == _FORMAT and isinstance(contents.get("edits"), list):
        try:
            return [dict(_checked(edit)) for edit in contents["edits"]]
        except InputError as error:
            raise FileError(f"{path} contains no edits: {error}") from None
    if isinstance(contents, dict) and all(key.isdecimal() and isinstance(contents[key], str) for key in contents):
        return [{"rename": int(topic), "name": name} for topic, name in contents.items()]
    raise FileError(f"{path} contains no edits: expected {expected}")


def apply_edits(tree: TopicTree, edits: Sequence[Edit]) -> TopicTree:
    """The tree after the edits. Groups are added above the topics at the end, when all topics are known."""
    rest_group = max([*tree.ids.tolist(), *tree.mapping], default=-1) + 1  # id of the group of all other topics
    group_of: dict[int, int] = {}  # topic: id of its group
    group_names = {rest_group: _REST}  # and of each new group
    for number, edit in enumerate(edits, 1):
        try:
            _checked(edit)
            kind = next(kind for kind in _KINDS if kind in edit)
            topics, name = edit[kind], edit.get("name") or ""
            groups = set(group_names) if len(group_names) > 1 else set()
            if kind == "rename" and topics in groups:
                group_names[topics] = name
            elif kind == "rename":
                tree = tree.rename({topics: name})
            elif kind == "merge":
                tree = tree.merge(topics, name or None)
            elif kind == "drop":
                tree = tree.drop([topic for topic in topics if topic not in groups])
                group_of = {topic: group for topic, group in group_of.items() if group not in topics}
            else:
                check_flat(tree, "group")
                new = rest_group + len(group_names)
                group_names[new] = name
                group_of |= {int(tree.ids[tree.row(topic)]): new for topic in topics}
        except InputError as error:
            raise InputError(f"edit {number}: {error}") from None
    remaining = set(tree.ids.tolist())
    group_of = {topic: group for topic, group in group_of.items() if topic in remaining}
    return _with_named_groups(tree, group_of, group_names, rest_group) if group_of else tree


def _checked(edit: Any) -> Edit:
    if not isinstance(edit, Mapping) or len([kind for kind in _KINDS if kind in edit]) != 1:
        raise InputError(f"{edit!r:.60} is not an edit: expected one of {', '.join(_KINDS)}")
    kind = next(kind for kind in _KINDS if kind in edit)
    name = edit.get("name")
    if not (name is None or isinstance(name, str)) or (kind == "rename" and name is None):
        raise InputError(f"{kind} has the name {name!r:.60}: expected a string")
    topics = edit[kind] if isinstance(edit[kind], list | tuple) else [edit[kind]]
    if (kind == "rename") == isinstance(edit[kind], list | tuple) or not all(_is_id(topic) for topic in topics):
        expected = "the id of a topic" if kind == "rename" else "a list of topic ids"
        raise InputError(f"{kind} has {edit[kind]!r:.60}: expected {expected}")
    return edit


def _is_id(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _with_named_groups(
    tree: TopicTree, group_of: Mapping[int, int], group_names: Mapping[int, str], rest_group: int
) -> TopicTree:
    """The flat tree with one level of groups above it; topics in no group are in the group `rest_group`."""
    group = np.array([group_of.get(topic, rest_group) for topic in tree.ids.tolist()])
    ids = np.unique(group)
    parent = np.concatenate([group, np.full(len(ids), -1)])
    members = [[row] for row in range(len(tree))] + [np.flatnonzero(group == number).tolist() for number in ids]
    grouped = add_group_levels(tree, np.concatenate([tree.ids, ids]), parent, members, [len(ids)])
    return grouped.rename({number: group_names[number] for number in ids.tolist() if group_names[number]})
