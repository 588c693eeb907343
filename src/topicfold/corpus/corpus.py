"""Corpus: documents as counts of words, with what is known about them.

A corpus is frozen. `counts` is a CSR matrix of documents x words; everything else is optional and has one value per
row. In a corpus on disk, the counts are mapped from the file (whole numbers in float32), and texts are read from it
when they are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import summed
from ..engine.mapped import is_mapped
from ..errors import InputError
from .constructors import CorpusConstructors
from .counting import WordCounter
from .fields import check_unique
from .metadata import checked_metadata
from .preprocessing import Preprocessing

__all__ = ["Corpus", "Segments", "check_corpus"]


@dataclass(frozen=True, eq=False)
class Segments:
    """The segments that documents are made of, such as paragraphs.

    Parameters
    ----------
    counts : sparse array of shape (n_segments, n_words)
        Number of tokens of each word in each segment.
    documents : ndarray of int of shape (n_segments,)
        Row of the document of each segment, in ascending order.

    See Also
    --------
    Corpus : Documents, with segments if texts are split into them.
    LDCC : The model that uses segments.

    Examples
    --------
    >>> from topicfold import Corpus
    >>> corpus = Corpus.from_texts(["red fish. blue fish.", "green tree."], segments="sentences")
    >>> corpus.segments.documents.tolist()
    [0, 0, 1]
    """

    counts: sp.csr_array
    documents: np.ndarray


@dataclass(frozen=True, repr=False, eq=False)
class Corpus(CorpusConstructors):
    """Documents as counts of words, with what is known about them.

    Make one with `from_texts`, `from_frame`, `from_counts` or `read`. A corpus cannot be changed.

    Parameters
    ----------
    counts : sparse array of shape (n_documents, n_words)
        Number of tokens of each word in each document.
    vocabulary : tuple of str or None, default=None
        The words of the columns.
    ids : sequence of str, default=()
        Ids of the documents, all different. If empty, the documents are numbered.
    titles : sequence of str or None, default=None
        Titles of the documents.
    texts : sequence of str or None, default=None
        Texts of the documents.
    labels : sequence of tuple of str or None, default=None
        The labels of each document: none, one or several.
    links : ndarray of int of shape (n_links, 2), or None, default=None
        For each link, the row of the document it comes from and of the one it points to.
    timestamps : ndarray of datetime64 of shape (n_documents,), or None, default=None
        Dates of the documents.
    metadata : mapping of str to ndarray of shape (n_documents,), default={}
        Further columns by name.
    segments : Segments or None, default=None
        The segments of the documents.
    preprocessing : Preprocessing or None, default=None
        How texts are turned into words, if that is known.

    See Also
    --------
    Preprocessing : How texts are turned into words.
    build_report : An interactive page of a corpus and its topics.
    topicfold.datasets.load_demo : A corpus to try things on.

    Examples
    --------
    >>> from topicfold import Corpus
    >>> corpus = Corpus.from_texts(["red fish", "blue fish", "green tree"], labels=["sea", "sea", "land"])
    >>> corpus
    Corpus: 3 documents, 5 words, 6 tokens, labels (2)
    >>> corpus.vocabulary
    ('blue', 'fish', 'green', 'red', 'tree')
    """

    counts: sp.csr_array
    vocabulary: tuple[str, ...] | None = None
    ids: Sequence[str] = ()
    titles: Sequence[str] | None = None
    texts: Sequence[str] | None = None
    labels: Sequence[tuple[str, ...]] | None = None  # none, one or many per document
    links: np.ndarray | None = None  # (n, 2) rows: from document, to document
    timestamps: np.ndarray | None = None  # datetime64
    metadata: Mapping[str, np.ndarray] = field(default_factory=dict)  # further columns, by name
    segments: Segments | None = None
    preprocessing: Preprocessing | None = None

    def __post_init__(self) -> None:
        n_documents, n_words = self.counts.shape
        if len(self.ids):
            check_unique("id", self.ids)
        else:
            object.__setattr__(self, "ids", tuple(map(str, range(n_documents))))
        for name in ("ids", "titles", "texts", "labels", "timestamps"):
            values = getattr(self, name)
            if values is not None and len(values) != n_documents:
                raise InputError(f"{len(values)} {name} for {n_documents} documents: expected one per document")
        object.__setattr__(self, "metadata", checked_metadata(self.metadata, n_documents))
        if self.vocabulary is not None and len(self.vocabulary) != n_words:
            raise InputError(f"{len(self.vocabulary)} words for {n_words} columns: expected one per column")
        if self.vocabulary is not None:
            check_unique("word", self.vocabulary)
        if self.links is not None and self.links.size and not 0 <= self.links.min() <= self.links.max() < n_documents:
            raise InputError(
                f"links use rows {self.links.min()}..{self.links.max()}: expected rows 0 to {n_documents - 1}"
            )

    # A corpus is pickled for other processes, and the read-only view of the metadata cannot be pickled.
    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "metadata": dict(self.metadata)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, MappingProxyType(value) if name == "metadata" else value)

    # ---- using one --------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.counts.shape[0]

    @property
    def on_disk(self) -> bool:
        """Whether the counts stay in a file, because the corpus was read with `on_disk` or loaded with `memory_map`."""
        return is_mapped(self.counts.data)

    def __repr__(self) -> str:
        parts = [
            f"{len(self):,} documents",
            f"{self.counts.shape[1]:,} words",
            f"{int(summed(self.counts, 1).sum()):,} tokens",
        ]
        if self.labels is not None:
            parts.append(f"labels ({len({label for labels in self.labels for label in labels})})")
        if self.links is not None:
            parts.append(f"{len(self.links):,} links")
        if self.segments is not None:
            parts.append(f"{self.segments.counts.shape[0]:,} segments")
        parts += [name for name in ("timestamps", "texts") if getattr(self, name) is not None]
        if self.metadata:
            parts.append(f"metadata ({', '.join(self.metadata)})")
        return "Corpus: " + ", ".join([*parts, *(["on disk"] if self.on_disk else [])])

    def subset(self, rows: Any) -> Corpus:
        """Select some documents.

        Parameters
        ----------
        rows : sequence of int, slice or mask
            The documents to select: row numbers, a slice, or one bool per document.

        Returns
        -------
        Corpus
            The selected documents, with the links between them.

        Examples
        --------
        >>> from topicfold import Corpus
        >>> Corpus.from_texts(["red fish", "tree", "blue fish"]).subset([0, 2]).ids
        ('0', '2')
        """
        rows = np.arange(len(self))[rows]
        new_row = np.full(len(self), -1)
        new_row[rows] = np.arange(len(rows))
        links = None
        if self.links is not None:
            links = new_row[self.links]
            links = links[(links >= 0).all(axis=1)]
        segments = None
        if self.segments is not None:
            new_document = new_row[self.segments.documents]
            order = np.argsort(new_document, kind="stable")[np.count_nonzero(new_document < 0) :]
            segments = Segments(self.segments.counts[order], new_document[order])

        def pick(values: Any) -> Any:
            return None if values is None else tuple(values[row] for row in rows)

        return replace(
            self,
            counts=self.counts[rows],
            ids=pick(self.ids),
            titles=pick(self.titles),
            texts=pick(self.texts),
            labels=pick(self.labels),
            links=links,
            timestamps=None if self.timestamps is None else self.timestamps[rows],
            metadata={name: values[rows] for name, values in self.metadata.items()},
            segments=segments,
        )

    def label_array(self) -> np.ndarray:
        """Return one label per document.

        Returns
        -------
        ndarray of str of shape (n_documents,)
            The labels; '' for a document without a label.

        Raises
        ------
        InputError
            If the corpus has no labels, or a document has several.

        Examples
        --------
        >>> from topicfold import Corpus
        >>> Corpus.from_texts(["fish", "tree"], labels=["sea", None]).label_array().tolist()
        ['sea', '']
        """
        if self.labels is None:
            raise InputError("this corpus has no labels")
        several = next((row for row, labels in enumerate(self.labels) if len(labels) > 1), None)
        if several is not None:
            raise InputError(
                f"document {self.ids[several]!r} has {len(self.labels[several])} labels: "
                "expected at most one per document; use label_matrix() for several"
            )
        return np.array([labels[0] if labels else "" for labels in self.labels])

    def label_matrix(self) -> tuple[sp.csr_array, tuple[str, ...]]:
        """Return the labels as a matrix of zeros and ones, for documents with several labels.

        Returns
        -------
        matrix : sparse array of shape (n_documents, n_labels)
            1 if the document has the label.
        labels : tuple of str
            The labels of the columns, in alphabetical order.

        Raises
        ------
        InputError
            If the corpus has no labels.
        """
        if self.labels is None:
            raise InputError("this corpus has no labels")
        names = sorted({label for labels in self.labels for label in labels})
        column = {name: index for index, name in enumerate(names)}
        indices = [column[label] for labels in self.labels for label in sorted(set(labels))]
        indptr = np.concatenate([[0], np.cumsum([len(set(labels)) for labels in self.labels])])
        return sp.csr_array((np.ones(len(indices), np.int8), indices, indptr), (len(self), len(names))), tuple(names)

    def group_matrix(self, column: str) -> tuple[sp.csr_array, tuple[str, ...]]:
        """Return a metadata column as a matrix of zeros and ones.

        Parameters
        ----------
        column : str
            Name of the metadata column.

        Returns
        -------
        matrix : sparse array of shape (n_documents, n_values)
            1 if the document has the value; a row of zeros if the value is missing.
        values : tuple of str
            The values of the columns, in order.

        Raises
        ------
        InputError
            If the corpus has no such metadata column.

        Examples
        --------
        >>> from topicfold import Corpus
        >>> corpus = Corpus.from_texts(["fish", "tree", "fish"], metadata={"year": [1999, 2001, 1999]})
        >>> matrix, years = corpus.group_matrix("year")
        >>> matrix.sum(axis=0).tolist(), years
        ([2, 1], ('1999', '2001'))
        """
        if column not in self.metadata:
            columns = ", ".join(self.metadata) or "none: name the columns to keep when reading, metadata=[...]"
            raise InputError(f"the corpus has no metadata column {column!r}; it has {columns}")
        values = self.metadata[column]
        kind = values.dtype.kind
        missing = values == "" if kind == "O" else np.isnat(values) if kind == "M" else values != values
        names, place = np.unique(values[~missing], return_inverse=True)
        rows = np.flatnonzero(~missing)
        matrix = sp.csr_array((np.ones(len(rows), np.int64), (rows, place)), (len(self), len(names)))
        return matrix, tuple(map(str, names))

    def counts_over(self, words: Sequence[str] | None) -> sp.csr_array:
        """Return the counts with other words as columns.

        Parameters
        ----------
        words : sequence of str or None
            The words of the columns. None, or a corpus without words, returns the counts unchanged.

        Returns
        -------
        sparse array of shape (n_documents, n_words)
            The counts. A word that is not in the corpus gets a column of zeros.
        """
        if words is None or self.vocabulary is None or self.vocabulary == tuple(words):
            return self.counts
        column = {word: index for index, word in enumerate(words)}
        new = np.array([column.get(word, -1) for word in self.vocabulary])
        shared = np.flatnonzero(new >= 0)
        ones = np.ones(len(shared), self.counts.dtype)
        return sp.csr_array(self.counts @ sp.csr_array((ones, (shared, new[shared])), (len(new), len(words))))

    def vectorize(self, texts: Iterable[str]) -> sp.csr_array:
        """Count the words of this corpus in new texts, with the preprocessing of the corpus.

        Parameters
        ----------
        texts : iterable of str
            The texts.

        Returns
        -------
        sparse array of shape (n_texts, n_words)
            The counts.

        Raises
        ------
        InputError
            If the corpus was made from counts, so that its preprocessing is unknown.
        """
        if self.preprocessing is None or self.vocabulary is None:
            raise InputError("this corpus was made from counts and cannot turn texts into words")
        if isinstance(texts, str):
            raise InputError("texts is one string: pass a list of texts")
        counter = WordCounter(self.preprocessing, self.vocabulary)
        for text in texts:
            counter.add(text)
        return counter.finish()[0]

    def save(self, path: str | Path) -> None:
        """Write the corpus to one .safetensors file.

        Parameters
        ----------
        path : str or Path
            The file to write; `Corpus.load` reads it.
        """
        from .corpus_file import save_corpus

        save_corpus(self, path)


def check_corpus(corpus: Any) -> None:
    """Raise if something else was passed where a corpus is needed; the error says how to make one."""
    if isinstance(corpus, Corpus):
        return
    maker = "Corpus.from_texts(texts)" if isinstance(corpus, list | tuple) else "Corpus.from_texts or Corpus.from_frame"
    raise InputError(f"corpus is of type {type(corpus).__name__}: expected a Corpus; make one with {maker}")
