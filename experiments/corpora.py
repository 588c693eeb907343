"""Benchmark corpora in a local folder: one declaration each, read by the same few functions.

The folder is `--data` on the command line, or the environment variable TOPICFOLD_DATA. Nothing is downloaded.
A corpus is a sub-folder that contains either counts.npz (a scipy CSR matrix, documents x words) with text files that
have one line per row or column, or docs.jsonl.gz with one document per line: id, text, labels, split, and more.

How texts become words is part of the protocol of an experiment. It is fixed here (PLAIN_TEXTS, ALL_WORDS), so that new
defaults of the package do not change the numbers of earlier runs.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from topicfold.corpus.corpus import Corpus
from topicfold.corpus.counting import WordCounter
from topicfold.corpus.preprocessing import Preprocessing

__all__ = [
    "ALL_WORDS",
    "BENCHMARKS",
    "PLAIN_TEXTS",
    "Benchmark",
    "count_words",
    "data_folder",
    "load_benchmark",
    "read_records",
    "strip_post",
]

VARIABLE = "TOPICFOLD_DATA"

PLAIN_TEXTS: Mapping[str, Any] = {"stop_words": "english", "clean": False}  # of Preprocessing: texts as they are
ALL_WORDS: Mapping[str, Any] = {"min_df": 1, "max_df": 1.0}


@dataclass(frozen=True)
class Benchmark:
    """The files of a corpus. Without `counts` the words are counted in the texts of `records`."""

    counts: str | None = None
    records: str | None = None  # JSONL, one document per line, in the order of the rows
    vocabulary: str | None = None  # one word per column
    labels: str | Mapping[str, str] | None = (
        None  # one label per row; of several files by name, the first is the default
    )
    unlabelled: str = ""  # the value that means "no label"
    table: str | None = None  # TSV with a header and one line per row: label and time by column name
    titles: str | None = None
    splits: str | None = None  # train or test, one per row
    links: str | None = None  # TSV of row pairs, or of ids
    times: str | None = None  # dates, one per row or, with `times_up_to`, one per row with a label up to that number
    times_up_to: int | None = None
    subsets: Mapping[str, str] = field(default_factory=dict)  # name: TSV with id and labels of the chosen documents
    posts: bool = False  # texts are news postings with headers, which `headers='strip'` removes


BENCHMARKS: dict[str, Benchmark] = {
    "20newsgroups_raw": Benchmark(records="docs.jsonl.gz", posts=True),
    "20newsgroups_bow": Benchmark("counts.npz", vocabulary="vocab.txt", labels="labels.txt", splits="split.txt"),
    "reuters21578_raw": Benchmark(records="docs.jsonl.gz"),
    "reuters21578_cai": Benchmark(
        "counts.npz", vocabulary="vocab_recovered.txt", labels="labels.txt", splits="split.txt"
    ),
    "tdt2_cai": Benchmark("counts.npz", labels="labels.txt", times="dates_top30.txt", times_up_to=30),
    "yahoo_kseries": Benchmark("counts.npz", labels={"k1a": "labels_k1a.txt", "k1b": "labels_k1b.txt"}),
    "yahoo_wap": Benchmark("counts.npz", labels="labels.txt"),
    "nips12": Benchmark(
        "counts.npz",
        records="docs_meta_abstracts.jsonl.gz",
        vocabulary="vocab.txt",
        labels="labels.txt",
        unlabelled="Uncategorised",
        links="citations.tsv",
    ),
    "nips12_raw": Benchmark(records="docs.jsonl.gz", unlabelled="Uncategorised"),
    "nips12_stream": Benchmark("counts.npz", vocabulary="vocab.txt"),
    "nips_2001_2002_labelled": Benchmark("counts.npz", vocabulary="vocab.txt", table="labels.tsv"),
    "jacm": Benchmark("counts.npz", records="docs.jsonl.gz", vocabulary="vocab.txt"),
    "wikipedia_schools2007": Benchmark(
        records="docs.jsonl.gz", links="links.tsv.gz", subsets={"ldcc": "ldcc_like_subset.tsv"}
    ),
    "cora": Benchmark("counts.npz", labels="labels.txt", links="links.tsv"),
    "citeseer": Benchmark("counts.npz", labels="labels.txt", unlabelled="-1", links="links.tsv"),
    "short_searchsnippets": Benchmark(records="docs.jsonl.gz"),
    "short_stackoverflow": Benchmark(records="docs.jsonl.gz"),
    "short_googlenews": Benchmark(records="docs.jsonl.gz"),
    "agnews": Benchmark(records="docs.jsonl.gz"),
    "noticias_es": Benchmark(records="docs.jsonl.gz"),
    "thucnews_zh": Benchmark(records="docs.jsonl.gz"),
    "cora_text": Benchmark("counts.npz", vocabulary="vocab.txt", titles="titles.txt", links="links.tsv"),
}


def data_folder(path: str | Path | None = None) -> Path:
    """The folder with the benchmark corpora: the argument or, without it, TOPICFOLD_DATA."""
    chosen = path or os.environ.get(VARIABLE)
    if not chosen:
        raise ValueError(f"where are the benchmark corpora? Pass --data FOLDER, or set {VARIABLE}")
    folder = Path(chosen)
    if not folder.is_dir():
        raise FileNotFoundError(f"the data folder does not exist: {folder}")
    return folder


def load_benchmark(
    name: str,
    folder: str | Path | None = None,
    *,
    split: str | None = None,
    labels: str | None = None,
    max_label: int | None = None,
    subset: str | None = None,
    headers: str = "keep",
    **options: Any,
) -> Corpus:
    """Load a benchmark corpus by the name of its folder.

    `split` keeps 'train' or 'test'; `labels` selects one of several label files; `max_label` keeps documents whose
    numeric label is at most this number; `subset` keeps a list of documents that comes with the corpus. When documents
    are left out, so are the words that only they have. `headers='strip'` removes headers, quotes and signatures from
    news postings. Other options go to `Corpus.from_texts` or `Corpus.from_counts`; for texts, also those of
    Preprocessing. Unless options say otherwise, texts are not cleaned, and all words but English stop words counted.
    """
    if name not in BENCHMARKS:
        raise ValueError(f"no benchmark corpus {name!r}; there are: {', '.join(BENCHMARKS)}")
    if headers not in ("keep", "strip"):
        raise ValueError(f"headers={headers!r}: expected 'keep' or 'strip'")
    benchmark = BENCHMARKS[name]
    if headers == "strip" and not benchmark.posts:
        raise ValueError(f"headers='strip': the texts of {name} are not news postings")
    home = data_folder(folder) / name
    counts = None if benchmark.counts is None else sp.csr_array(sp.load_npz(_existing(home / benchmark.counts)))
    columns = _columns(benchmark, home, None if counts is None else counts.shape[0], labels)
    keep = _requested_rows(benchmark, home, columns, split, max_label, subset)
    known: dict[str, Any] = {key: [values[row] for row in keep] for key, values in columns.items() if key != "split"}
    if benchmark.links:
        known["links"] = _links(home / benchmark.links, set(known["ids"]))
    texts: list[str] = known.pop("texts", [])
    if counts is None:
        return _from_texts(map(strip_post, texts) if headers == "strip" else texts, known, options)
    words = _lines(home / benchmark.vocabulary) if benchmark.vocabulary else None
    if len(keep) < counts.shape[0]:
        counts, words = _rows_and_their_words(counts, words, keep)
    kept_texts = tuple(texts) if options.pop("keep_texts", False) and texts else None
    return replace(Corpus.from_counts(counts, words, **known, **options), texts=kept_texts)


def strip_post(text: str) -> str:
    """Remove the header, quoted lines and the signature from a news posting.

    The header ends at the first blank line. Quotes are lines marked '>' or '|' and the line that says who is quoted.
    The signature is the text after a line of dashes or similar characters near the end.

    >>> strip_post("From: a\\nSubject: b\\n\\nJane writes:\\n> hello\\nHello yourself.\\n\\n--\\nBob")
    'Hello yourself.'
    """
    _, blank, body = text.partition("\n\n")
    lines = [line for line in (body if blank else text).split("\n") if not _QUOTE.search(line)]
    ruler = next((number for number in range(len(lines) - 1, 0, -1) if _RULER.fullmatch(lines[number])), None)
    if ruler is not None and len(lines) - ruler <= _LONGEST_SIGNATURE:
        lines = lines[:ruler]
    return "\n".join(lines).strip()


_QUOTE = re.compile(r"^\s*(\w{0,4}[>|]|:\s)|\b(writes|wrote|says|said):|\b[Ii]n article\b")
_RULER = re.compile(r"\s*[-_=*#~+]{2,}\s*")
_LONGEST_SIGNATURE = 12


def _from_texts(texts: Any, known: dict[str, Any], options: dict[str, Any]) -> Corpus:
    words = {key: options.pop(key) for key in list(options) if key in Preprocessing.__dataclass_fields__}
    preprocessing = options.pop("preprocessing", None) or Preprocessing(**{**PLAIN_TEXTS, **words})
    return Corpus.from_texts(texts, preprocessing=preprocessing, **{**ALL_WORDS, **known, **options})


def count_words(corpus: Corpus, texts: Iterable[str]) -> sp.csr_array:
    """Counts of the words of a corpus in other texts, however few of their words it has.

    `Corpus.vectorize` leaves out texts in another language, which it has to guess.
    """
    assert corpus.preprocessing is not None
    counter, cleaner = WordCounter(corpus.preprocessing, corpus.vocabulary), corpus.preprocessing._cleaner()
    for text in texts:
        counter.add(cleaner.clean(text))
    return counter.finish()[0]


def read_records(name: str, folder: str | Path | None = None) -> list[dict[str, Any]]:
    """The documents of a corpus as they are in its file docs.jsonl.gz."""
    return [json.loads(line) for line in _open(data_folder(folder) / name / "docs.jsonl.gz")]


def _rows_and_their_words(
    counts: sp.csr_array, words: list[str] | None, keep: np.ndarray
) -> tuple[sp.csr_array, list[str] | None]:
    """Some of the documents, with the columns that they use."""
    rows = counts[keep]
    used = np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]))
    return rows[:, used], None if words is None else [words[column] for column in used]


def _columns(benchmark: Benchmark, home: Path, n_rows: int | None, labels: str | None) -> dict[str, list[Any]]:
    """Data about the documents by argument of Corpus, one value per document; also 'split' and 'texts'."""
    columns: dict[str, list[Any]] = {}
    if benchmark.records:
        columns |= _record_columns(home / benchmark.records, benchmark.unlabelled)
    if benchmark.table:
        rows = _table(home / benchmark.table)
        columns |= {"labels": [row["category"] for row in rows], "timestamps": [row["year"] for row in rows]}
    columns.setdefault("ids", [str(row) for row in range(n_rows or 0)])
    file = _label_file(benchmark, home, labels)
    if file:
        columns["labels"] = [None if label == benchmark.unlabelled else label for label in _lines(home / file)]
    if benchmark.titles:
        columns["titles"] = _lines(home / benchmark.titles)
    if benchmark.splits:
        columns["split"] = _lines(home / benchmark.splits)
    if benchmark.times:
        dates = iter(_lines(home / benchmark.times))
        up_to = benchmark.times_up_to or np.inf
        columns["timestamps"] = [next(dates) if int(label) <= up_to else None for label in columns["labels"]]
    for key, values in columns.items():
        if len(values) != (n_rows or len(columns["ids"])):
            raise ValueError(f"{home}: {len(values):,} {key} for {n_rows or len(columns['ids']):,} documents")
    return columns


def _label_file(benchmark: Benchmark, home: Path, labels: str | None) -> str | None:
    files = benchmark.labels
    if files is None or isinstance(files, str):
        if labels is not None:
            raise ValueError(f"labels={labels!r}: {home.name} has only one kind of labels")
        return files
    if labels is not None and labels not in files:
        raise ValueError(f"labels={labels!r}: {home.name} has {', '.join(files)}")
    return files[labels or next(iter(files))]


def _record_columns(path: Path, unlabelled: str) -> dict[str, list[Any]]:
    rows = [json.loads(line) for line in _open(path)]
    columns: dict[str, list[Any]] = {"ids": [str(row["id"]) for row in rows], "texts": [row["text"] for row in rows]}
    if "title" in rows[0]:
        columns["titles"] = [row["title"] or "" for row in rows]
    if "labels" in rows[0]:
        columns["labels"] = [[label for label in _listed(row["labels"]) if label != unlabelled] for row in rows]
    if "split" in rows[0]:
        columns["split"] = [row["split"] for row in rows]
    time = next((key for key in ("date", "year") if key in rows[0]), None)
    if time:
        columns["timestamps"] = [_day(row[time]) for row in rows]
    return columns


def _listed(labels: Any) -> list[str]:
    return [labels] if isinstance(labels, str) else labels or []


_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


def _day(value: Any) -> str | None:
    """A year unchanged, and 26-FEB-1987 15:01:01.79 as 1987-02-26."""
    match = re.match(r"\s*(\d{1,2})-([A-Z]{3})-(\d{4})", str(value))
    if not match:
        return None if value is None else str(value)
    return f"{match[3]}-{_MONTHS.index(match[2]) + 1:02d}-{int(match[1]):02d}"


def _requested_rows(
    benchmark: Benchmark,
    home: Path,
    columns: dict[str, list[Any]],
    split: str | None,
    max_label: int | None,
    subset: str | None,
) -> np.ndarray:
    """The requested rows. A subset has its own labels, which replace the others."""
    keep = np.ones(len(columns["ids"]), bool)
    if split is not None:
        splits = sorted({value for value in columns.get("split", []) if value})
        if split not in splits:
            raise ValueError(f"split={split!r}: {home.name} has {', '.join(splits) or 'no split'}")
        keep &= np.array([value == split for value in columns["split"]])
    if max_label is not None:
        numbered = all(isinstance(label, str) and label.isdigit() for label in columns.get("labels", [None]))
        if not numbered:
            raise ValueError(f"max_label={max_label}: the labels of {home.name} are not numbers")
        keep &= np.array([int(label) <= max_label for label in columns["labels"]])
    if subset is not None:
        if subset not in benchmark.subsets:
            raise ValueError(f"subset={subset!r}: {home.name} has {', '.join(benchmark.subsets) or 'none'}")
        chosen = {row["id"]: row["labels"].split(",") for row in _table(home / benchmark.subsets[subset])}
        keep &= np.array([name in chosen for name in columns["ids"]])
        columns["labels"] = [chosen.get(name, []) for name in columns["ids"]]
    if not keep.any():
        raise ValueError(f"no document of {home.name} is left by split={split!r}, max_label={max_label}, {subset=}")
    return np.flatnonzero(keep)


def _links(path: Path, ids: set[str]) -> list[tuple[str, str]]:
    """Pairs of ids of which both documents are kept."""
    pairs = [tuple(line.rstrip("\n").split("\t")[:2]) for line in _open(path)]
    return [(source, target) for source, target in pairs if source in ids and target in ids]


def _table(path: Path) -> list[dict[str, str]]:
    lines = [line.split("\t") for line in _lines(path)]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def _lines(path: Path) -> list[str]:
    return [line.rstrip("\n") for line in _open(path)]


def _open(path: Path) -> Iterator[str]:
    _existing(path)
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        yield from file


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    return path
