"""Count texts in several processes. The result is the same as in one: words get columns in the order of the texts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import scipy.sparse as sp

from ..engine.blocks import n_threads
from ..errors import InputError
from .counting import WordCounter
from .preprocessing import Preprocessing, split_segments

__all__ = ["CountOptions", "Counted", "count_document", "counted_in_processes"]

_CHUNK = 1 << 21  # characters that a process counts at a time
_ALONE = 8  # up to this many chunks are counted in this process: starting others takes about a second


class CountOptions(NamedTuple):
    """How texts become counts."""

    preprocessing: Preprocessing
    vocabulary: Sequence[str] | None
    segments: Any  # see `Corpus.from_texts`


class Counted(NamedTuple):
    """Texts, their counts (rows x words), their words if no vocabulary is given, and the number of rows per text."""

    texts: Sequence[str | Sequence[str]]
    counts: sp.csr_array | None  # None: not counted yet
    words: list[str] | None
    n_rows: list[int]


def count_document(counter: WordCounter, text: str | Sequence[str], segments: Any) -> int:
    """Count one document as one row, or as one row per segment, and return the number of rows."""
    if segments is None:
        counter.add(text if isinstance(text, str) else "\n\n".join(text))
        return 1
    if isinstance(segments, int):
        if segments < 1:
            raise InputError(f"segments={segments}: expected at least one token per segment")
        return counter.add_windows(text if isinstance(text, str) else "\n\n".join(text), segments)
    given_none = segments == "given" and text == ""
    parts = [""] if given_none else split_segments(text, segments) or [""]
    for part in parts:
        counter.add(part)
    return len(parts)


def counted_in_processes(
    texts: Iterable[str | Sequence[str]], options: CountOptions, n_jobs: int | None
) -> Iterator[Counted]:
    """Yield the texts in chunks, in order; if there are many, they are counted in other processes."""
    chunks = _chunks(texts)
    n_processes = n_threads(n_jobs)
    if n_processes > 1:
        begun = list(islice(chunks, _ALONE + 1))
        if len(begun) > _ALONE:
            yield from _shared_out(chain(begun, chunks), options, n_processes)
            return
        chunks = iter(begun)
    for chunk in chunks:
        yield Counted(chunk, None, None, [])


def _chunks(texts: Iterable[str | Sequence[str]]) -> Iterator[list[str | Sequence[str]]]:
    chunk: list[str | Sequence[str]] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text) if isinstance(text, str) else sum(map(len, text))
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _shared_out(
    chunks: Iterator[list[str | Sequence[str]]], options: CountOptions, n_processes: int
) -> Iterator[Counted]:
    # joblib comes with scikit-learn: its processes do not run the user's script again, and accept any function
    from joblib.externals.loky import get_reusable_executor

    executor = get_reusable_executor(max_workers=n_processes)
    waiting: deque[tuple[list[str | Sequence[str]], Any]] = deque()
    try:
        for chunk in chunks:
            waiting.append((chunk, executor.submit(_count, chunk, options)))
            if len(waiting) > 2 * n_processes:
                yield _result(*waiting.popleft())
        while waiting:
            yield _result(*waiting.popleft())
    finally:
        for _, future in waiting:
            future.cancel()


def _result(chunk: list[str | Sequence[str]], future: Any) -> Counted:
    counts, words, n_rows = future.result()
    return Counted(chunk, counts, words, n_rows)


def _count(
    texts: Sequence[str | Sequence[str]], options: CountOptions
) -> tuple[sp.csr_array, list[str] | None, list[int]]:
    counter = WordCounter(options.preprocessing, options.vocabulary)
    n_rows = [count_document(counter, text, options.segments) for text in texts]
    counts, words = counter.finish()
    return counts, None if options.vocabulary is not None else words, n_rows
