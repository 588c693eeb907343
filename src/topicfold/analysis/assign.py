"""Topics of new documents, from file to file in batches, for more documents than fit in memory."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, Protocol

import numpy as np

from ..corpus.building import TextOptions, corpus_from_texts
from ..corpus.columns import Columns
from ..corpus.corpus import Corpus
from ..corpus.formats import TEXT_FORMATS, format_of
from ..corpus.limits import ReadLimits
from ..corpus.readers import FileOptions, as_text_columns, columns_as_fitted, records, texts_with_ids
from ..engine.checks import check_whole
from ..engine.csv_writer import CsvWriter
from ..engine.extras import import_extra
from ..engine.store import atomic_write, check_writable
from ..errors import InputError
from ..models import MODELS, info_of
from ..models.estimator import TopicModel
from ..topics.tables import topic_columns
from ..topics.tree import TopicTree
from .embedding import EmbeddingModel, encoder_of
from .embedding import embed as embed_texts

__all__ = ["assign_file", "check_assignment"]

_DIGITS = 6
_FIRST = ("id", "topic", "name", "probability")  # the first columns of each row


class _Assigned(NamedTuple):
    """Rows of the table: ids, the largest topic by number and name, its share, and the shares of all topics.

    A document without a known word has the topic -1, no name and a share of 0.
    """

    ids: Sequence[str]
    topic: Sequence[int]
    name: Sequence[str]
    probability: np.ndarray
    doc_topic: np.ndarray


class _Writer(Protocol):
    def write(self, rows: _Assigned) -> None: ...


def check_assignment(
    model: TopicModel, out: str | Path, to: str | None, batch: int, segments: str | int | None, source: str | Path
) -> str:
    """The output format, or an error: all checks that are possible before a document is read."""
    if segments is not None and not info_of(model).takes_segments:
        able = ", ".join(name for name, info in MODELS.items() if info.takes_segments)
        raise InputError(f"segments={segments!r}: only {able} assigns segments, not {type(model).__name__}")
    to = to or ("csv" if str(out) == "-" else Path(out).suffix.lstrip(".").lower())
    if to not in _WRITERS:
        raise InputError(f"{out}: cannot write {to or 'this'}; expected a name that ends in .csv, .jsonl or .parquet")
    if to == "parquet":
        import_extra("pyarrow", "parquet", "writing Parquet")
        if str(out) == "-":
            raise InputError("Parquet cannot be written to stdout: name a file")
    check_whole("batch", batch)
    if str(out) != "-":
        check_writable(out)
        if Path(out).exists() and str(source) != "-" and Path(out).samefile(source):
            raise InputError(f"{out} is also the input: write to another file")
    return to


def assign_file(
    model: TopicModel,
    source: str | Path,
    out: str | Path = "-",
    *,
    tree: TopicTree | None = None,
    to: Literal["csv", "jsonl", "parquet"] | None = None,
    batch: int = 1000,
    segments: str | int | None = None,
    embed: EmbeddingModel | None = None,
    text: str | Sequence[str] | None = None,
    id: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    errors: Literal["strict", "replace"] = "strict",
    pattern: str = "*.txt",
    limits: ReadLimits | None = None,
) -> int:
    """Write the topics of the documents in a file to a table: id, largest topic, its name and share, then all shares.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    source : str or Path
        Documents, in any format that `Corpus.read` reads; '-' is JSONL on standard input. Files of counts are read as a
        whole.
    out : str or Path, default='-'
        File to write; '-' is standard output.
    tree : TopicTree, optional
        A tree of this model, for example with topics merged, dropped, grouped or renamed; the shares are those of its
        topics.
    to : {'csv', 'jsonl', 'parquet'}, optional
        Output format, if it cannot be inferred from the name of `out`.
    batch : int, default=1000
        Number of documents per batch.
    segments : str or int, optional
        How texts are split into segments, for LDCC. Each segment then has a row, whose id is the id of the document and
        the number of the segment.
    embed : str, Path, callable, or object with a method `encode`, optional
        Embedding model, as in `topicfold.embed`, for topic models that were fitted on embeddings; it must be the one
        used for the fit. Without it, topics are inferred only from the words.
    text : str, sequence of str or None, default=None
        Name of the column with the texts, or names of several, as in `Corpus.read`. None reads those of the fit.
    id : str or None, default=None
        Name of the column with the ids. None reads that of the fit.
    format, encoding, errors, pattern, limits
        How `source` is read; see `Corpus.read`.

    Returns
    -------
    int
        Number of rows written.
    """
    to_format = check_assignment(model, out, to, batch, segments, source)
    encode = None if embed is None else _checked_encoder(model, embed, segments)
    model_tree = model.topic_tree()
    labels = model_tree if tree is None else tree
    lowest = np.flatnonzero(labels.at_lowest_level)
    n_rows = 0
    with ExitStack() as stack:
        # an error half-way keeps the previous file and does not leave one that looks complete
        options = FileOptions(format, encoding, errors, pattern, limits=limits or ReadLimits())
        named = {} if text is None else {"text": as_text_columns(text)}
        columns = columns_as_fitted(model.source_columns_, source, options, named | ({} if id is None else {"id": id}))
        batches = _batches(source, batch, columns, options)
        first = next(batches, None)  # before the header, so that an error in the first batch writes nothing
        target = out if str(out) == "-" else stack.enter_context(atomic_write(out))
        writer: _Writer = _WRITERS[to_format](stack, target, topic_columns(labels, lowest))
        names = [labels.name(topic) for topic in labels.ids[lowest].tolist()]
        for ids, documents in chain([first] if first else [], batches):
            ids, shares, wordless = _shares(model, tree, model_tree, ids, documents, segments, encode)
            best = shares.argmax(axis=1)
            topical = shares[np.arange(len(shares)), best]
            topical[wordless] = 0
            writer.write(
                _Assigned(
                    ids,
                    np.where(topical > 0, labels.ids[lowest][best], -1).tolist(),
                    [names[column] if share > 0 else "" for column, share in zip(best, topical)],
                    topical,
                    shares,
                )
            )
            n_rows += len(ids)
    return n_rows


def _shares(
    model: TopicModel,
    tree: TopicTree | None,
    model_tree: TopicTree,
    ids: list[str],
    documents: Corpus | list[str],
    segments: str | int | None,
    encode: EmbeddingModel | None,
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Ids of rows, memberships in the topics of the lowest level, and the rows without a known word.

    `model_tree` is the model's tree.
    """
    if encode is not None:  # embeddings tell the topics of a text without known words
        doc_topic = _by_embeddings(model, documents, encode)
        shares = doc_topic if tree is None else tree.memberships_of(replace(model_tree, doc_topic=doc_topic))
        return ids, shares, np.zeros(0, np.int64)
    if tree is None and segments is None:  # no tree of each batch is needed, and texts are counted once
        counts = model.word_counts(documents)
        doc_topic = np.asarray(model.document_topics(counts))
        shares = doc_topic[:, model_tree.at_lowest_level] if doc_topic.shape[1] == len(model_tree) else doc_topic
        return ids, shares, model.wordless_of(counts)
    if segments is not None:
        corpus = _in_segments(model, documents, segments)
        assert corpus.segments is not None
        numbers = corpus.segments.documents
        place = np.arange(len(numbers)) - np.searchsorted(numbers, numbers) + 1  # within its document
        ids = [f"{ids[document]}/{number}" for document, number in zip(numbers, place)]
        fresh = model.topic_tree(corpus)
        assert fresh.segment_topic is not None
        fresh = fresh.use_segments()
    else:
        fresh = model.topic_tree(documents if isinstance(documents, Corpus) else _corpus_of(model, documents, ids))
    shown = fresh if tree is None else tree
    doc_topic = fresh.doc_topic if tree is None else tree.memberships_of(fresh)
    return ids, doc_topic[:, shown.at_lowest_level], fresh.wordless


def _checked_encoder(model: Any, embed: EmbeddingModel, segments: str | int | None) -> EmbeddingModel:
    """The function that embeds texts, loaded once for all batches."""
    if not info_of(model).takes_graph or model.neighbors_by_ != "embeddings" or segments is not None:
        raise InputError(f"embed: this {type(model).__name__} was not fitted on embeddings")
    return encoder_of(embed)


def _by_embeddings(model: Any, documents: Corpus | list[str], encode: EmbeddingModel) -> np.ndarray:
    texts = documents.texts if isinstance(documents, Corpus) else documents
    if texts is None:
        raise InputError("embed: the input has counts: expected texts")
    if any(text.strip() for text in texts):
        vectors = embed_texts(texts, encode, verbose=False)
    else:  # a whole batch of empty texts: there is nothing to embed, and an empty text is a row of zeros
        vectors = np.zeros((len(texts), model.neighbor_vectors_.shape[1]), np.float32)
    return np.asarray(model.transform(documents, embeddings=vectors))


def _corpus_of(model: TopicModel, texts: list[str], ids: list[str]) -> Corpus:
    counts = model.word_counts(texts, np.int32)
    return Corpus(counts, None if model.words() is None else tuple(model.words() or ()), tuple(ids))


def _in_segments(model: TopicModel, documents: Corpus | list[str], segments: str | int) -> Corpus:
    if isinstance(documents, Corpus):
        raise InputError(f"segments={segments!r}: the file contains counts: expected texts, which can be split")
    if model.preprocessing_ is None:
        raise InputError("the model was fitted on counts and cannot turn texts into words: give counts")
    words = TextOptions(model.preprocessing_, model.words(), segments, as_fitted=True)
    return corpus_from_texts(documents, words)


def _batches(
    source: str | Path, size: int, columns: Columns, file: FileOptions
) -> Iterator[tuple[list[str], Corpus | list[str]]]:
    if str(source) != "-" and format_of(Path(source), file.format) not in TEXT_FORMATS:
        corpus = Corpus.read(source, format=file.format)
        yield list(corpus.ids), corpus
        return
    stream = texts_with_ids(records(source, file), columns.text, columns.id, where=str(source))
    while batch := list(islice(stream, size)):
        yield [name for name, _ in batch], [item for _, item in batch]


class _Csv:
    def __init__(self, stack: ExitStack, out: str | Path, columns: list[str]) -> None:
        self._rows = CsvWriter(_text_file(stack, out))
        self._rows.write([*_FIRST, *columns])

    def write(self, rows: _Assigned) -> None:
        for *first, share, shares in zip(*rows[:3], rows.probability.tolist(), rows.doc_topic.tolist()):
            self._rows.write([*first, *(f"{value:.{_DIGITS}g}" for value in (share, *shares))])


class _Jsonl:
    def __init__(self, stack: ExitStack, out: str | Path, columns: list[str]) -> None:
        self._file, self._columns = _text_file(stack, out), columns

    def write(self, rows: _Assigned) -> None:
        for *first, share, shares in zip(*rows[:3], rows.probability.tolist(), rows.doc_topic.tolist()):
            numbers = [float(f"{value:.{_DIGITS}g}") for value in (share, *shares)]
            line = {**dict(zip(_FIRST, [*first, numbers[0]])), "topics": dict(zip(self._columns, numbers[1:]))}
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")


class _Parquet:
    def __init__(self, stack: ExitStack, out: str | Path, columns: list[str]) -> None:
        self._arrow = pa = import_extra("pyarrow", "parquet", "writing Parquet")
        kinds = (pa.string(), pa.int64(), pa.string(), pa.float32())
        self._schema = pa.schema([*zip(_FIRST, kinds), *((name, pa.float32()) for name in columns)])
        parquet = import_extra("pyarrow.parquet", "parquet", "writing Parquet")
        self._writer = stack.enter_context(parquet.ParquetWriter(os.fspath(out), self._schema))

    def write(self, rows: _Assigned) -> None:
        columns = [*rows[:4], *rows.doc_topic.T]
        arrays = [self._arrow.array(column, field.type) for column, field in zip(columns, self._schema)]
        self._writer.write_table(self._arrow.table(arrays, schema=self._schema))


def _text_file(stack: ExitStack, out: str | Path) -> IO[str]:
    if str(out) == "-":
        return sys.stdout
    return stack.enter_context(open(out, "w", encoding="utf-8", newline=""))


_WRITERS: dict[str, type[_Csv] | type[_Jsonl] | type[_Parquet]] = {"csv": _Csv, "jsonl": _Jsonl, "parquet": _Parquet}
