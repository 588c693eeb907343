"""Peak memory of reading a large JSONL file, against the size of its counts, words and ids."""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .common import (
    ALL_WORDS,
    PLAIN_TEXTS,
    SEED,
    Row,
    Setting,
    can_measure_memory,
    fresh,
    megabytes,
    note,
    resident,
    seconds,
)

_ALLOWANCE = 300e6
_FULL, _QUICK = 10**9, 10**8
_NEW_WORD = 0.4  # chance that a word that occurs once is changed in a copy: the vocabulary grows, as in real text
_LEFT_OUT = 0.2  # chance that a line is left out of a copy
_WORD = re.compile(r"\w+")


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    if not can_measure_memory():
        yield Row("Peak memory of Corpus.read", "", remark="needs Linux")
        return
    size = _QUICK if setting.quick else _FULL
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "texts.jsonl")
        write_texts(setting.raw_texts, file, size)
        note(f"reading: wrote {file.stat().st_size / 1e6:,.0f} MB")
        usage = fresh(read_in_fresh_process, str(file))
    budget = usage["counts"] + usage["vocabulary"] + usage["ids"] + _ALLOWANCE
    parts = ", ".join(f"{part} {megabytes(usage[part])}" for part in ("counts", "vocabulary", "ids"))
    name = f"Peak memory of Corpus.read, {size / 1e9:g} GB JSONL, against counts + words + ids + 300 MB"
    detail = (
        f"Corpus.read: {usage['documents']:,} documents, {usage['words']:,} words, {usage['nonzeros']:,} non-zeros; "
        f"{parts} (strings, list, dictionary), all before pruning; {megabytes(usage['before'])} in use before reading."
    )
    peak = usage["peak"]
    yield Row(name, megabytes(peak), megabytes(budget), f"{peak / budget:.2f}x", "<= 1x", peak <= budget, detail=detail)
    yield Row(
        f"Corpus.read of the same file, {size / 1e6 / usage['cpu']:.0f} MB/s",
        seconds(usage["cpu"]),
        goal="for reference",
    )


def write_texts(texts: list[str], file: Path, size: int) -> None:
    """Write real texts repeatedly: each copy leaves out some lines and changes the spelling of some rare words."""
    word_counts = Counter(word for text in texts for word in _WORD.findall(text))
    once = {word for word, n in word_counts.items() if n == 1 and word.isalpha()}
    pieces = [[_at_words(line, once) for line in text.split("\n")] for text in texts]
    draw = random.Random(SEED)
    written = copy = 0
    with file.open("w", encoding="utf-8") as lines:
        while written < size:
            for number, document in enumerate(pieces):
                ending = _letters(copy)
                varied = [_varied(line, ending, draw) for line in document if copy == 0 or draw.random() > _LEFT_OUT]
                record = {"id": f"{copy}/{number}", "text": "\n".join(varied)}
                written += lines.write(json.dumps(record, ensure_ascii=False) + "\n")
                if written >= size:
                    break
            copy += 1


def _at_words(line: str, words: set[str]) -> list[str]:
    """The line split before and after the wanted words, which are then at odd positions."""
    cuts = [place for match in _WORD.finditer(line) if match[0] in words for place in match.span()]
    return [line[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(line)])]


def _varied(pieces: list[str], ending: str, draw: random.Random) -> str:
    if len(pieces) == 1:
        return pieces[0]
    return "".join(
        piece + ending if place % 2 and draw.random() < _NEW_WORD else piece for place, piece in enumerate(pieces)
    )


def _letters(number: int) -> str:
    """An empty string for 0, then a, b, ..."""
    letters = ""
    while number:
        number, digit = divmod(number - 1, 26)
        letters = chr(97 + digit) + letters
    return letters


def read_in_fresh_process(file: str) -> dict[str, float]:
    """Peak memory of reading, and the sizes of the result; all words are kept, so these are sizes before pruning."""
    import time

    from topicfold import Corpus

    before = resident("VmRSS")
    started = time.process_time()
    corpus = Corpus.read(file, **PLAIN_TEXTS, **ALL_WORDS)
    spent = time.process_time() - started
    peak = resident("VmHWM")
    words, ids = corpus.vocabulary or (), corpus.ids
    return {
        "peak": peak,
        "before": before,
        "cpu": spent,
        "documents": len(corpus),
        "words": len(words),
        "nonzeros": int(corpus.counts.nnz),
        "counts": 8 * int(corpus.counts.nnz),
        "vocabulary": sum(map(sys.getsizeof, words)) + sys.getsizeof(list(words)) + sys.getsizeof(dict.fromkeys(words)),
        "ids": sum(map(sys.getsizeof, ids)) + sys.getsizeof(list(ids)),
    }
