"""Files with an array or some JSON changed, and right checksums."""

from __future__ import annotations

import copy
import json
import random
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from safetensors.numpy import save

from topicfold.engine.store import array_checksum

__all__ = ["change_json", "changed_array", "rewritten"]

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 5, 10**9, 2**31, 2**63, 10**30, 0.5, -0.5, 1e300, float("nan"), float("inf"), "",
    "much", "words", "embeddings", "sparse", "array", "strings", "mapping", "value", "../x", "\ud800", "x" * 5000, [],
    [1], ["a"], {}, {"a": 1}, [[1, 2]], {"is": "value", "value": 3}, {"is": "array"}, {"is": "sparse", "shape": [2, 2]},
)  # fmt: skip
_TYPES = (
    "float32",
    "float64",
    "float16",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
)
_NUMBERS = (0, 1, -1, 2, 7, 100, 2**31 - 1, -(2**31), 2**40, 2**63 - 1, -(2**63))
_REALS = (0.0, -1.0, 1.0, 1e-45, 1e30, 1e38, -1e38, float("nan"), float("inf"), 0.5, 2.0)


def changed_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """An array of another type or shape, or with other numbers."""
    with np.errstate(all="ignore"):
        return _ARRAY_CHANGES[rng.randrange(len(_ARRAY_CHANGES))](array, rng)


def _one_number(array: np.ndarray, rng: random.Random) -> np.ndarray:
    result = array.copy()
    if result.size:
        result.flat[rng.randrange(result.size)] = _number(array, rng)
    return result


def _all_numbers(array: np.ndarray, rng: random.Random) -> np.ndarray:
    return np.full(array.shape, _number(array, rng), array.dtype)


def _number(array: np.ndarray, rng: random.Random) -> Any:
    if array.dtype.kind == "f":
        return array.dtype.type(rng.choice(_REALS))
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        return min(max(rng.choice(_NUMBERS), int(limits.min)), int(limits.max))
    return rng.random() < 0.5 if array.dtype.kind == "b" else rng.choice((b"csr", b"csc", b"coo", b"x"))


def _another_length(array: np.ndarray, rng: random.Random) -> np.ndarray:
    if array.ndim == 0:
        return np.array([array, array])
    axis = rng.randrange(array.ndim)
    keep = [np.arange(size) for size in array.shape]
    some = rng.choice((keep[axis][:-1], keep[axis][1:], keep[axis][:1], keep[axis][:0], np.repeat(keep[axis], 2)))
    return np.take(array, some, axis)


def _another_shape(array: np.ndarray, rng: random.Random) -> np.ndarray:
    return rng.choice((array.ravel(), array[None], array.T, array.reshape(array.shape + (1,)), array.ravel()[:1]))


def _another_order(array: np.ndarray, rng: random.Random) -> np.ndarray:
    flat = array.ravel().copy()
    np.random.default_rng(rng.randrange(2**32)).shuffle(flat)
    return flat.reshape(array.shape)


def _another_type(array: np.ndarray, rng: random.Random) -> np.ndarray:
    return array.astype(rng.choice(_TYPES)) if array.dtype.kind in "biuf" else array.astype("U8")


def _number_of_another_type(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """Both at once: what one check lets pass may hide what another one looks for."""
    changed = _another_type(array, rng)
    return changed if changed.dtype.kind == "U" else rng.choice((_one_number, _several_numbers))(changed, rng)


def _several_numbers(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """Numbers one after the other, such as ends whose differences overflow."""
    result = array.copy()
    if result.size and array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        start = rng.randrange(result.size)
        wild = (limits.max, limits.min, -1 if limits.min else 0, limits.max // 2, limits.max // 2 + 1)
        for place in range(start, min(start + rng.choice((2, 3, 4, 8)), result.size)):
            result.flat[place] = rng.choice(wild)
    return result


def _shifted(array: np.ndarray, rng: random.Random) -> np.ndarray:
    if array.dtype.kind not in "iuf":
        return array[None]
    return (array + np.array(rng.choice((-1, 1, 10, 1000))).astype(array.dtype)).astype(array.dtype)


def _random_bytes(array: np.ndarray, rng: random.Random) -> np.ndarray:
    return np.frombuffer(rng.randbytes(array.nbytes), array.dtype if array.dtype != bool else np.uint8).reshape(
        array.shape
    )


_ARRAY_CHANGES: tuple[Callable[[np.ndarray, random.Random], np.ndarray], ...] = (
    _one_number, _one_number, _one_number, _all_numbers, _another_length, _another_shape, _another_order,
    _another_type, _number_of_another_type, _number_of_another_type, _several_numbers, _shifted, _random_bytes,
)  # fmt: skip


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where values stand in JSON, as keys to follow."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [] if not at else [at]
    for key, item in inside:
        found += _places(item, (*at, key))
    return found


def change_json(content: Any, rng: random.Random) -> str:
    """Remove or replace a value in JSON, an object or a list that is not empty; what was done."""
    places = [place for place in _places(content) if place[0] not in ("libraries", "checksums", "version")]
    *way, last = rng.choice(places)
    holder = content
    for key in way:
        holder = holder[key]
    if rng.random() < 0.15:
        del holder[last]
        return f"without {[*way, last]}"
    holder[last] = rng.choice(_VALUES)
    return f"{[*way, last]} is {holder[last]!r:.60}"


def rewritten(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, Any], rng: random.Random) -> tuple[bytes, str]:
    """A file with one to three changes and right checksums, and what the changes are."""
    changed, plain = dict(arrays), copy.deepcopy(dict(metadata))
    plain.pop("checksums", None)
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        how = rng.random()
        key = rng.choice(sorted(changed)) if changed else ""
        if how < 0.35 or not changed:
            done.append(change_json(plain, rng))
        elif how < 0.4:
            del changed[key]
            done.append(f"no array {key}")
        elif how < 0.42:
            changed["padding"] = np.zeros(rng.choice((0, 1, 1000)))
            done.append("an array more")
        elif how < 0.46:
            other = rng.choice(sorted(changed))
            changed[key] = changed[other]
            done.append(f"{other} in place of {key}")
        else:
            before, changed[key] = changed[key], changed_array(changed[key], rng)
            now = changed[key]
            done.append(f"{key} {before.dtype} {before.shape} is {now.dtype} {now.shape} {now.ravel()[:6].tolist()}")
    rows = {key: np.ascontiguousarray(array).reshape(array.shape) for key, array in changed.items()}
    plain["checksums"] = {key: array_checksum(array) for key, array in rows.items()}
    text = json.dumps(plain)
    return save(rows, {"topicfold": text, "topicfold-checksum": str(zlib.crc32(text.encode()))}), "; ".join(done)
