"""Corpora of any size for the subject `scale`: real paragraphs of the benchmark data, resampled.

A paragraph is a run of words of a text. The paragraphs into which the texts are divided come first, in random order;
when they are used up, further ones are drawn word by word from a passage three times as long, so that no two are the
same.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

__all__ = ["cached_paragraphs", "write_paragraphs"]

SOURCES = ("20newsgroups_raw", "reuters21578_raw", "nips12_raw", "wikipedia_schools2007", "sotu")
WORDS = 72  # in a paragraph; about 40 of them are not stop words
FIRST_DAY, DAYS = np.datetime64("2000-01-01"), 7_300


def write_paragraphs(path: Path, n_paragraphs: int, data: Path | None, seed: int = 0) -> None:
    """Write a CSV file of `n_paragraphs` documents: id, text, title, source, date."""
    texts = list(_texts(data))
    lengths = np.array([len(words) // WORDS for _, words in texts])
    text_of = np.repeat(np.arange(len(texts)), lengths)
    start = (np.arange(len(text_of)) - np.repeat(np.cumsum(lengths) - lengths, lengths)) * WORDS
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(text_of))
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "title", "source", "date"])
        for number in range(n_paragraphs):
            place = order[number % len(order)]
            source, words = texts[text_of[place]]
            first = start[place]
            chosen = words[first : first + WORDS]
            if number >= len(order):
                around = words[max(0, first - WORDS) : first + 2 * WORDS]
                chosen = [around[i] for i in rng.integers(len(around), size=WORDS)]
            day = FIRST_DAY + int(rng.integers(DAYS))
            rows.writerow([number, " ".join(chosen), " ".join(chosen[:8]), source, day])


def cached_paragraphs(folder: Path, n_paragraphs: int, data: Path | None) -> Path:
    """The file in the folder, written if it does not exist yet."""
    path = folder / f"paragraphs-{n_paragraphs}.csv"
    if not path.exists():
        part = path.with_suffix(".part")
        write_paragraphs(part, n_paragraphs, data)
        part.replace(path)
    return path


def _texts(data: Path | None) -> Iterator[tuple[str, list[str]]]:
    """(source, words) of every text that is long enough."""
    if data is None:
        from topicfold.datasets import load_demo

        yield from (("demo", words) for text in load_demo().texts or () if len(words := text.split()) >= WORDS)
        return
    for source in SOURCES:
        file = data / source / "docs.jsonl.gz"
        if file.exists():
            with gzip.open(file, "rt", encoding="utf-8") as lines:
                for line in lines:
                    words = json.loads(line)["text"].split()
                    if len(words) >= WORDS:
                        yield source, words
