"""Three corpora with metadata: blog posts by rating and day, speeches by party and year, news by place and day."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from topicfold.corpus.corpus import Corpus

from ..corpora import ALL_WORDS, PLAIN_TEXTS

__all__ = ["READERS", "WithMetadata", "design_of"]

PIECE = 200  # words in a piece of a speech
KNOTS = 6  # of a cubic spline: seven columns
LEAST_DOCUMENTS = 20  # a level of a factor with fewer training documents has no column


class WithMetadata(NamedTuple):
    """Counts, and the metadata of each document by name: a number, a level, or a list of levels.

    Documents of one group (pieces of one speech) are never divided between training and test. `designs` maps the name
    of a design to its columns: a plain design, and one with finer metadata.
    """

    counts: sp.csr_array
    columns: Mapping[str, Sequence[Any]]
    groups: np.ndarray
    designs: Mapping[str, tuple[str, ...]]


def read_poliblog(folder: Path) -> WithMetadata:
    """Posts of six blogs, with the blog's rating and the day, or with blog and day."""
    home = folder / "poliblog5k"
    with _opened(home / "meta.tsv") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in ("rating", "blog")}
    columns["day"] = [float(row["day"]) for row in rows]
    counts = sp.csr_array(sp.load_npz(home / "counts.npz"))
    designs = {"plain": ("rating", "day"), "finer": ("blog", "day")}
    return WithMetadata(counts, columns, np.arange(len(rows)), designs)


def read_sotu(folder: Path) -> WithMetadata:
    """Pieces of about 200 words of the speeches, with party and year, or with president and year."""
    texts, groups = [], []
    columns: dict[str, list[Any]] = {"party": [], "president": [], "year": []}
    for number, speech in enumerate(_records(folder / "sotu" / "docs.jsonl.gz")):
        words = speech["text"].split()
        for piece in np.array_split(np.array(words, dtype=object), max(round(len(words) / PIECE), 1)):
            texts.append(" ".join(piece))
            groups.append(number)
            for name in columns:
                columns[name].append(float(speech["year"]) if name == "year" else speech[name])
    designs = {"plain": ("party", "year"), "finer": ("president", "year")}
    return WithMetadata(_counted(texts), columns, np.array(groups), designs)


def read_reuters(folder: Path) -> WithMetadata:
    """Stories with a body, with places and day, or with their topic codes as well."""
    rows = [row for row in _records(folder / "reuters21578_raw" / "docs.jsonl.gz") if row["text"].strip()]
    columns = {
        "places": [row["places"] for row in rows],
        "codes": [row["labels"] for row in rows],
        "day": [float(datetime.strptime(row["date"].split()[0], "%d-%b-%Y").toordinal()) for row in rows],
    }
    designs = {"plain": ("places", "day"), "finer": ("places", "codes", "day")}
    return WithMetadata(_counted([row["text"] for row in rows]), columns, np.arange(len(rows)), designs)


READERS: Mapping[str, Callable[[Path], WithMetadata]] = {
    "poliblog5k": read_poliblog,
    "sotu": read_sotu,
    "reuters21578_raw": read_reuters,
}


def design_of(corpus: WithMetadata, design: str, train: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The design of some documents: a dummy for each level, a spline of each number, scaled on the training part."""
    from sklearn.preprocessing import SplineTransformer

    parts = []
    for name in corpus.designs[design]:
        values = corpus.columns[name]
        if isinstance(values[0], float):
            number = np.array(values)[:, None]
            spline = SplineTransformer(KNOTS, knots="quantile", extrapolation="constant", include_bias=False)
            parts.append(spline.fit(number[train]).transform(number))
        else:
            parts.append(_dummies(values, train))
    table = np.hstack(parts)
    spread = table[train].std(axis=0)
    table = table[:, spread > 0]
    return np.asarray((table[rows] - table[train].mean(axis=0)) / spread[spread > 0])


def _dummies(values: Sequence[Any], train: np.ndarray) -> np.ndarray:
    listed = [[value] if isinstance(value, str) else value for value in values]
    levels = sorted({level for levels in listed for level in levels})
    place = {level: column for column, level in enumerate(levels)}
    table = np.zeros((len(listed), len(levels)))
    for row, row_levels in enumerate(listed):
        table[row, [place[level] for level in row_levels]] = 1
    return table[:, table[train].sum(axis=0) >= min(LEAST_DOCUMENTS, len(train) / 10)]


def _counted(texts: list[str]) -> sp.csr_array:
    return Corpus.from_texts(texts, **PLAIN_TEXTS, **ALL_WORDS).counts


def _records(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _opened(path: Path) -> Any:
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    return open(path, encoding="utf-8", newline="")
