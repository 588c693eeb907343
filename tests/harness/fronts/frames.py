"""Crafted data frames of several libraries, given to `Corpus.from_frame`."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from typing import Any

from topicfold import Corpus

from ..as_json import from_json, to_json
from ..cases import Case, Draw, Front, Run, SilentChange, check_finite, each_of, generator

__all__ = ["FRONT"]

_TEXTS = ("The cat saw a dog.\n\nSun", "moon star sun dog", "", " ", "\0cat\ud800 dog", "東京 звезда", "cat " * 3000)
_DAY = datetime.date(2001, 2, 3)
# cells of a column, beside missing ones
_CELLS: dict[str, tuple[Any, ...]] = {
    "texts": _TEXTS,
    "names": ("a", "b", "a;b", "", "c", "x" * 300, "=1+1"),
    "days": ("2001-02-03", "1999", "", "17 May 2011", "31.12.2020", "99999-01-01", "never", "2020-01-01T10:00+02:00"),
    "dates": (_DAY, datetime.datetime(1970, 1, 1), datetime.datetime(2262, 4, 12), datetime.date(1, 1, 1)),
    "numbers": (0, 1, -1, 2**31, 2**53, 10**6),
    "reals": (0.0, -1.5, 1e300, float("nan"), float("inf"), 5e-324),
    "flags": (True, False),
    "lists": (["a", "b"], [], ["a", None], [1], "a", [["a"]]),
    "bytes": ("cat", 3, None, 1.5, ("x",), {"a": 1}, 10**30, 2j),
}
_TYPES = ("object", "object", "object", "category", "string", "Int64", "float64", "boolean", "datetime64[ns]")
_COLUMNS = ("id", "kind", "when", "refers", "size")
_STRANGE: tuple[Any, ...] = ("", 3, None, ("a", "b"), "tf_x", "text", "id", "kind")
_SPLITS = ("paragraphs", "sentences", 3)


def _column(name: Any, rng: random.Random, n_rows: int) -> dict[str, Any]:
    usual = {"text": "texts", "id": "names", "kind": "names", "when": "days", "refers": "names", "size": "numbers"}
    kind = usual.get(name, "bytes") if rng.random() < 0.6 else rng.choice(sorted(_CELLS))
    share = rng.choice((0, 0, 0.2, 1))
    cells = [None if rng.random() < share else rng.choice(_CELLS[kind]) for _ in range(n_rows)]
    if name == "id" and rng.random() < 0.7:
        cells = [f"d{row}" for row in range(n_rows)]
    return {"name": to_json(name), "type": rng.choice(_TYPES), "cells": to_json(cells)}


def _draw(number: int) -> Case:
    rng = generator("frames", number)
    n_rows = rng.choice((0, 1, 2, 5, 5, 5, 9))
    names = rng.sample(_COLUMNS, rng.choice((0, 1, 2, 3, 5)))
    if rng.random() < 0.15:  # most often one that another column has already
        names.append(rng.choice(_STRANGE))
    columns = [_column(name, rng, n_rows) for name in names]
    if rng.random() < 0.2:
        columns.append(_column("text", rng, n_rows))
    else:
        texts = [rng.choice(_TEXTS) for _ in range(n_rows)]
        columns.append({"name": "text", "type": "object", "cells": to_json(texts)})
    named = [column["name"] for column in columns if isinstance(column["name"], str)]
    options: dict[str, Any] = {"keep_texts": rng.random() < 0.5}
    for key in ("id", "title", "labels", "links", "timestamp"):
        if rng.random() < 0.25:
            options[key] = rng.choice(named * 5 + ["nowhere"])
    if rng.random() < 0.3:
        options["metadata"] = rng.sample(named, min(len(named), 2))
    if rng.random() < 0.2:
        options |= {"separator": ";", "segments": rng.choice(_SPLITS)}
    library = rng.choice(("pandas", "pandas", "pyarrow", "polars"))
    index = rng.random() < 0.1
    what = {"columns": columns, "library": library, "index": index, "options": options}
    about = [(column["name"], column["type"]) for column in columns]
    return Case(f"{library}, {n_rows} rows, columns {about}, {options}", what)


def _frame(columns: Sequence[dict[str, Any]], library: str, *, index: bool) -> Any:
    """The data frame; a column that a library has no such type for is of its own choice."""
    import pandas as pd

    made = []
    for column in columns:
        cells = from_json(column["cells"])
        try:
            made.append(pd.Series(cells, dtype=column["type"]))
        except Exception:  # of any kind, and of pandas: these cells have no such type
            made.append(pd.Series(cells, dtype=object))
    frame = pd.concat(made, axis=1)
    frame.columns = pd.Index([from_json(column["name"]) for column in columns], tupleize_cols=False)
    if index and len(frame):
        frame.index = pd.Index([0] * len(frame))
    if library == "pandas":
        return frame
    try:
        if library == "polars":
            import polars

            return polars.from_pandas(frame)
        import pyarrow

        return pyarrow.Table.from_pandas(frame)
    except Exception:  # likewise
        return frame


def _run(what: dict[str, Any]) -> None:
    frame = _frame(what["columns"], what["library"], index=what["index"])
    corpus = Corpus.from_frame(frame, **what["options"])
    if len(corpus) != len(frame) or len(set(corpus.ids)) != len(frame):
        raise SilentChange(f"{len(frame)} rows have become {len(corpus)} documents")
    check_finite("the corpus", corpus.counts.data)
    calls = [lambda: repr(corpus), lambda: corpus.subset(slice(0, 2))]
    each_of([*calls, *([corpus.label_matrix] if corpus.labels is not None else [])])


def _prepare() -> tuple[Draw, Run]:
    import pandas as pd

    Corpus.from_frame(pd.DataFrame({"text": ["cat sun", "dog"], "id": ["a", "b"]}), segments="sentences")
    return _draw, lambda what, _: _run(what)


FRONT = Front("crafted data frames", _prepare, n_cases=2000, batch=100)
