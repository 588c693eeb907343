"""Count texts in several processes. The result is the same as in one: words get columns in the order of the texts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..engine.blocks import n_threads
from ..errors import InputError
from .cleaning import Cleaner
from .counting import WordCounter
from .preprocessing import Preprocessing, split_segments

__all__ = ["CountOptions", "Counted", "Text", "cleaned", "count_document", "counted_in_processes"]

_CHUNK = 1 << 21  # characters that a process counts at a time
_ALONE = 8  # up to this many chunks are counted in this process: starting others takes about a second


Text: TypeAlias = str | Sequence[str]


class CountOptions(NamedTuple):
    """How texts become counts."""

    preprocessing: Preprocessing
    vocabulary: Sequence[str] | None
    segments: Any  # see `Corpus.from_texts`
    as_fitted: bool = False  # the vocabulary is that of a model: see `WordCounter`


class Counted(NamedTuple):
    """Clean texts, their counts (rows x words), their words without a given vocabulary, and numbers of rows."""

    texts: Sequence[Text]
    counts: sp.csr_array | None  # None: not counted yet, and not clean
    words: list[str] | None
    n_rows: list[int]
    cleaner: Cleaner | None = None  # what was removed
    n_foreign: int = 0
    forms: tuple[list[str], np.ndarray] | None = None  # of words with stems, and how often each occurs


def cleaned(cleaner: Cleaner, text: Text) -> Text:
    """The text, or each of its parts, without what is not meant to be read."""
    return cleaner.clean(text) if isinstance(text, str) else [cleaner.clean(part) for part in text]


def count_document(counter: WordCounter, text: Text, segments: Any) -> int:
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


def counted_in_processes(texts: Iterable[Text], options: CountOptions, n_jobs: int | None) -> Iterator[Counted]:
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


def _chunks(texts: Iterable[Text]) -> Iterator[list[Text]]:
    chunk: list[Text] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text) if isinstance(text, str) else sum(map(len, text))
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _shared_out(chunks: Iterator[list[Text]], options: CountOptions, n_processes: int) -> Iterator[Counted]:
    # joblib comes with scikit-learn: its processes do not run the user's script again, and accept any function
    from joblib.externals.loky import get_reusable_executor

    executor = get_reusable_executor(max_workers=n_processes)
    waiting: deque[tuple[list[Text], Any]] = deque()
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


def _result(chunk: list[Text], future: Any) -> Counted:
    changed, *counted = future.result()
    for place, text in changed.items():
        chunk[place] = text
    return Counted(chunk, *counted)


def _count(
    texts: Sequence[Text], options: CountOptions
) -> tuple[dict[int, Text], sp.csr_array, list[str] | None, list[int], Cleaner, int, Any]:
    """The texts that cleaning changes, by their place, and what `Counted` holds besides texts."""
    counter = WordCounter(options.preprocessing, options.vocabulary, as_fitted=options.as_fitted)
    cleaner = options.preprocessing._cleaner()
    clean_texts = [cleaned(cleaner, text) for text in texts]
    n_rows = [count_document(counter, text, options.segments) for text in clean_texts]
    forms = counter.forms()
    counts, words = counter.finish()
    changed = {place: text for place, text in enumerate(clean_texts) if text != texts[place]}
    return changed, counts, None if options.vocabulary is not None else words, n_rows, cleaner, counter.n_foreign, forms
