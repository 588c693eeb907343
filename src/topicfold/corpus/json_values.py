"""Records of a JSON file: the items of an array, or objects one after the other, read one at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import FileError
from .limits import ReadLimits

__all__ = ["json_records"]

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_LONGEST_WORD = 16  # characters, more than -Infinity and \ud83d\ude00 have: an error closer to the end may be cut text
_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "true or false", type(None): "null"}


def json_records(name: str, blocks: Iterable[str], limits: ReadLimits) -> Iterator[Mapping[str, Any]]:
    """The records of a JSON text: an array of objects or strings, objects one after the other, or one with a table.

    >>> list(json_records("a.json", ['[{"text": "cat"}, {"te', 'xt": "dog"}]'], ReadLimits()))
    [{'text': 'cat'}, {'text': 'dog'}]
    >>> list(json_records("a.json", ['{"page": 1, "data": [{"text": "cat"}]}'], ReadLimits()))
    [{'text': 'cat'}]
    """
    text = _JsonText(name, blocks, limits)
    first = text.next_character()
    if first == "[":
        yield from _as_records(name, _items(text))
    elif first == "{":
        yield from _objects(text)
    elif first:
        raise FileError(f"{name} is not JSON with texts: it begins with {first!r}; expected '[' or '{{'")
    else:
        raise FileError(f"{name} is empty: expected a JSON array")


class _JsonText:
    """A text that is read in blocks, with a position in it."""

    def __init__(self, name: str, blocks: Iterable[str], limits: ReadLimits) -> None:
        self.name, self.limits, self._blocks = name, limits, iter(blocks)
        self._text, self._position = "", 0
        self._line, self._n_before = 1, 0  # where the text in memory begins

    def next_character(self) -> str:
        """Go to the next character that is not white space; '' at the end."""
        while True:
            self._position = _SPACE.match(self._text, self._position).end()  # type: ignore[union-attr]
            if self._position < len(self._text):
                return self._text[self._position]
            if not self._read_more():
                return ""

    def skip(self) -> None:
        """Go past one character."""
        self._position += 1

    def value(self) -> Any:
        """Read one value and go past it; a number at the end of a block may be cut, but is an error in any case."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._position)
            except json.JSONDecodeError as error:
                unclosed = error.msg.startswith("Unterminated")
                if not unclosed and error.pos + _LONGEST_WORD <= len(self._text):
                    raise self.error(error.msg, error.pos) from None
                self._check_length(len(self._text), " (a quote that is not closed?)" if unclosed else "")
                if not self._read_more():
                    raise self.error(error.msg, error.pos) from None
            except (ValueError, RecursionError) as error:  # a number with thousands of digits, or nested too deeply
                raise self.error(str(error)) from None
            else:
                self._check_length(end)
                self._position = end
                return value

    def error(self, problem: str, position: int | None = None) -> FileError:
        """The error for a text that is not JSON at a position, by default the current one."""
        where = self._place(self._position if position is None else position)
        return FileError(f"{self.name} is not JSON in {where}: {problem}")

    def _place(self, position: int) -> str:
        line = self._line + self._text.count("\n", 0, position)
        return f"line {line:,}, at character {self._n_before + position + 1:,} of the file"

    def _check_length(self, end: int, hint: str = "") -> None:
        if end - self._position > self.limits.line:
            raise FileError(
                f"{self.name} has a value that is longer than {self.limits.line:,} characters in "
                f"{self._place(self._position)}{hint}; the limit 'line' can be raised"
            )

    def _read_more(self) -> bool:
        """Read at least as much again as is waiting, so that a long value is not parsed too often."""
        waiting = len(self._text) - self._position
        blocks, length = [self._text[self._position :]], 0
        while length <= waiting and (block := next(self._blocks, None)) is not None:
            blocks.append(block)
            length += len(block)
        if not length:
            return False
        self._line += self._text.count("\n", 0, self._position)
        self._n_before += self._position
        self._text, self._position = "".join(blocks), 0
        return True


def _items(text: _JsonText) -> Iterator[Any]:
    """The items of the array that begins here."""
    text.skip()
    following = text.next_character()
    while following != "]":
        yield text.value()
        following = text.next_character()
        if following not in (",", "]"):
            raise text.error(f"expected ',' or ']' after an item, not {following!r}" if following else "it ends early")
        if following == ",":
            text.skip()
            text.next_character()
    text.skip()
    if text.next_character():
        raise text.error("it goes on after the end of the array")


def _objects(text: _JsonText) -> Iterator[Mapping[str, Any]]:
    """Objects one after the other, as in JSONL; a single one must contain the table."""
    first = text.value()
    if not text.next_character():
        yield from _table_in(first, text.name)
        return
    yield first
    while text.next_character():
        value = text.value()
        if not isinstance(value, dict):
            raise text.error("expected a JSON object, as before")
        yield value


def _table_in(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The only list of objects in an object."""
    tables = [
        key
        for key, items in value.items()
        if isinstance(items, list) and items and all(isinstance(item, dict) for item in items)
    ]
    if len(tables) == 1:
        return value[tables[0]]
    keys = ", ".join(map(repr, tables or value))[:200]
    problem = f"with several arrays of objects ({keys})" if tables else f"without an array of objects; its keys: {keys}"
    raise FileError(f"{name} is a single JSON object {problem}: expected an array, [{{...}}, {{...}}]")


def _as_records(name: str, items: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Objects as they are, strings as texts; all items must be of the kind of the first, and a string may be null."""
    expected: type | None = None
    for number, item in enumerate(items, 1):
        expected = expected or (type(item) if isinstance(item, dict | str) else None)
        if expected is dict and isinstance(item, dict):
            yield item
        elif expected is str and (item is None or isinstance(item, str)):
            yield {"text": item}
        else:
            kind = _KINDS.get(type(item), "a number")
            like = "an object or a string" if expected is None else f"{_KINDS[expected]}, like the items before it"
            raise FileError(f"{name}, item {number:,} is {kind}: expected {like}")
