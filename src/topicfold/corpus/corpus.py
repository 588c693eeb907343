"""Corpus: documents as counts of words, with what is known about them.

A corpus is frozen. `counts` is a CSR matrix of documents x words; everything else is optional and has one value per
row. In a corpus on disk, the counts are mapped from the file (whole numbers in float32), and texts are read from it
when they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import summed
from ..engine.mapped import is_mapped
from ..errors import InputError
from .columns import Columns
from .counting import choose_words, count_known_words
from .dates import as_timestamps
from .fields import as_ids, as_labels, as_links, as_titles, check_texts, check_unique, checked_counts
from .metadata import as_metadata, checked_metadata
from .preprocessing import TOKEN_PATTERN, Preprocessing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .building import Auto, RankWordsBy, Segmentation
    from .copies import Copies
    from .data_check import CorpusCheck
    from .limits import ReadLimits
    from .phrases import Phrases

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
class Corpus:
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
    notes : mapping, default={}
        What was noticed while the texts were read, which `check` reports: what cleaning removed, dates that could not
        be read, which columns were used.

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
    notes: Mapping[str, Any] = field(default_factory=dict)

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
        return {**self._values(), "metadata": dict(self.metadata)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, MappingProxyType(value) if name == "metadata" else value)

    def _values(self) -> dict[str, Any]:
        """The fields by name, without what is computed from them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # ---- making one --------------------------------------------------------------------------------------------------

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[Any],
        *,
        ids: Iterable[Any] | None = None,
        titles: Iterable[Any] | None = None,
        labels: Iterable[Any] | None = None,
        links: Iterable[tuple[Any, Any]] | None = None,
        timestamps: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        date_format: str | None = None,
        strict_dates: bool = False,
        vocabulary: Sequence[str] | None = None,
        segments: Segmentation = None,
        unique: bool = False,
        language: str | None = None,
        keep_texts: bool = False,
        preprocessing: Preprocessing | None = None,
        token_pattern: str = TOKEN_PATTERN,
        lowercase: bool = True,
        stop_words: str | Collection[str] | None = "auto",
        stemmer: str | None = "auto",
        ngrams: tuple[int, int] = (1, 1),
        tokenizer: Callable[[str], Iterable[str]] | str | None = None,
        clean: bool = True,
        drop_lines: Sequence[str] = (),
        min_df: int | float | Auto = "auto",
        max_df: int | float | Auto = "auto",
        max_words: int | None = None,
        rank_by: RankWordsBy = "frequency",
    ) -> Corpus:
        """Make a corpus from texts, by counting their words.

        Parameters
        ----------
        texts : iterable of str
            The texts; a generator is read once. A missing text (None, NaN) counts as empty.
        ids : iterable, default=None
            Ids of the documents. If None, the documents are numbered.
        titles : iterable of str, default=None
            Titles of the documents.
        labels : iterable, default=None
            One label or a list of labels per document; None for a document without a label.
        links : iterable of (id, id), default=None
            Links between documents, as pairs of ids: from, to.
        timestamps : iterable, default=None
            Dates of the documents: dates, years, or text in ISO 8601 or other common formats.
        metadata : mapping of str to iterable, default=None
            Further columns by name: numbers, categories or dates, one value per document.
        date_format : str or None, default=None
            Format of the dates, for `datetime.strptime`. None recognises common formats.
        strict_dates : bool, default=False
            Whether a date that cannot be read is an error. If False, it counts as missing, with a warning.
        vocabulary : sequence of str, default=None
            Words to count. If given, `min_df`, `max_df`, `max_words` and `rank_by` are ignored.
        segments : {'paragraphs', 'sentences', 'given'}, int or callable, default=None
            How texts are split into segments: 'paragraphs' at blank lines, 'sentences' after each sentence; 'given' if
            each text is already a list of str; an int for segments of that many tokens; or a function from a text to
            its parts. None makes no segments.
        unique : bool, default=False
            Whether to drop exact and near copies of earlier documents, before words are chosen; see `copies`.
        language : str or None, default=None
            Leave out documents that are clearly in another language than this ('german' or 'de').
        keep_texts : bool, default=False
            Whether to keep the texts, so that the explorer can show them.
        preprocessing : Preprocessing, default=None
            How texts are turned into words. It replaces the next eight parameters.
        token_pattern : str
            Regular expression of a token. The default matches words of two or more letters or digits that start with a
            letter.
        lowercase : bool, default=True
            Whether to convert texts to lower case first.
        stop_words : str, collection of str or None, default='auto'
            Words to leave out: languages of built-in lists, such as ``"german"`` or ``["en", "de", "+said", "-war"]``,
            a collection of words, or None; see `Preprocessing`.
            'auto': those of the languages of the texts.
        stemmer : str or None, default='auto'
            Language of a Snowball stemmer; a stem is shown as its most frequent full form. 'auto' stems texts in a
            language in which this was measured to give better topics: Russian and Polish. None does not stem.
        ngrams : tuple of (int, int), default=(1, 1)
            Minimum and maximum number of words in an n-gram; (1, 2) counts single words and pairs.
        tokenizer : str or callable, default=None
            It replaces `token_pattern`: the name of a tokenizer, such as 'sudachi' or 'spacy:ja_core_news_sm', or a
            custom function from a text to its tokens; see `Preprocessing`.
        clean : bool, default=True
            Whether to remove what is not meant to be read, such as tags, entities, URLs and the headers of mails.
        drop_lines : sequence of str or 'repeated', default=()
            Lines to leave out of every text; 'repeated': those that stand in many texts.
        min_df : int, float or 'auto', default='auto'
            Leave out words that occur in fewer documents than this: an int is a number of documents, a float a share.
            'auto': 5 from 1,000 documents on, 2 from 20 on, otherwise 1.
        max_df : int, float or 'auto', default='auto'
            Leave out words that occur in more documents than this: an int is a number of documents, a float a share.
            'auto': half of the documents from 20 on, otherwise all.
        max_words : int or None, default=None
            Maximum number of words to keep. None keeps all.
        rank_by : {'frequency', 'tfidf'}, default='frequency'
            Which words `max_words` keeps: the most frequent, or those with the highest mean tf-idf.

        Returns
        -------
        Corpus
            The documents.

        Raises
        ------
        InputError
            If a value cannot be used, such as an id that occurs twice, or no word is left. The message names the value.

        Examples
        --------
        >>> from topicfold import Corpus
        >>> Corpus.from_texts(["red fish", "blue fish"], ids=["a", "b"], stop_words=None)
        Corpus: 2 documents, 3 words, 4 tokens
        """
        from .building import TextOptions, corpus_from_texts, preprocessing_from

        check_texts(texts)
        preprocessing = preprocessing_from(
            preprocessing,
            token_pattern=token_pattern,
            lowercase=lowercase,
            stop_words=stop_words,
            stemmer=stemmer,
            ngrams=ngrams,
            tokenizer=tokenizer,
            clean=clean,
            drop_lines=drop_lines,
        )
        options = TextOptions(
            preprocessing, vocabulary, segments, keep_texts, min_df, max_df, max_words, rank_by, unique, language
        )
        return corpus_from_texts(
            texts,
            options,
            ids=ids,
            titles=titles,
            labels=labels,
            links=links,
            timestamps=timestamps,
            metadata=metadata,
            date_format=date_format,
            strict_dates=strict_dates,
        )

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike | sp.csr_array,
        vocabulary: Sequence[str] | None = None,
        *,
        ids: Iterable[Any] | None = None,
        titles: Iterable[Any] | None = None,
        labels: Iterable[Any] | None = None,
        links: Iterable[tuple[Any, Any]] | None = None,
        timestamps: Iterable[Any] | None = None,
        metadata: Mapping[str, Iterable[Any]] | None = None,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_words: int | None = None,
        rank_by: RankWordsBy = "frequency",
    ) -> Corpus:
        """Make a corpus from a matrix of counts.

        Parameters
        ----------
        counts : array, sparse matrix or data frame of shape (n_documents, n_words)
            Non-negative whole numbers. The column names of a data frame are the words.
        vocabulary : sequence of str or None, default=None
            The words of the columns.
        ids, titles, labels, links, timestamps, metadata : object
            What is known about the documents; see `from_texts`.
        min_df, max_df, max_words, rank_by : object
            Which words are kept; see `from_texts`. By default all.

        Returns
        -------
        Corpus
            The documents.

        Raises
        ------
        InputError
            If a value cannot be used, such as an id that occurs twice, or no word is left. The message names the value.

        Examples
        --------
        >>> from topicfold import Corpus
        >>> Corpus.from_counts([[2, 0], [1, 1]], ["fish", "tree"])
        Corpus: 2 documents, 2 words, 4 tokens
        """
        if vocabulary is None and hasattr(counts, "columns"):
            vocabulary = [str(name) for name in counts.columns]
        matrix = checked_counts(counts)
        if isinstance(vocabulary, str):
            raise InputError("vocabulary is one string: expected a list of words")
        words = None if vocabulary is None else list(map(str, vocabulary))
        if words is not None and len(words) != matrix.shape[1]:
            raise InputError(f"{len(words)} words for {matrix.shape[1]} columns: expected one per column")
        if (min_df, max_df, max_words) != (1, 1.0, None):
            numbered: Sequence[Any] = words or range(matrix.shape[1])
            matrix, chosen_words = choose_words(
                matrix.copy(), numbered, min_df=min_df, max_df=max_df, max_words=max_words, rank_by=rank_by
            )
            words = chosen_words if words is not None else None
        rows = as_ids(ids)
        return Corpus(
            matrix,
            None if words is None else tuple(words),
            rows,
            titles=as_titles(titles),
            labels=as_labels(labels),
            links=None if links is None else as_links(links, rows or tuple(map(str, range(matrix.shape[0])))),
            timestamps=as_timestamps(timestamps),
            metadata=as_metadata(metadata or {}),
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        text: str | Sequence[str] = "text",
        *,
        id: str | None = None,
        title: str | None = None,
        labels: str | None = None,
        links: str | None = None,
        timestamp: str | None = None,
        metadata: Sequence[str] = (),
        separator: str | None = None,
        date_format: str | None = None,
        strict_dates: bool = False,
        vocabulary: Sequence[str] | None = None,
        segments: Segmentation = None,
        unique: bool = False,
        language: str | None = None,
        keep_texts: bool = False,
        preprocessing: Preprocessing | None = None,
        token_pattern: str = TOKEN_PATTERN,
        lowercase: bool = True,
        stop_words: str | Collection[str] | None = "auto",
        stemmer: str | None = "auto",
        ngrams: tuple[int, int] = (1, 1),
        tokenizer: Callable[[str], Iterable[str]] | str | None = None,
        clean: bool = True,
        drop_lines: Sequence[str] = (),
        min_df: int | float | Auto = "auto",
        max_df: int | float | Auto = "auto",
        max_words: int | None = None,
        rank_by: RankWordsBy = "frequency",
    ) -> Corpus:
        """Make a corpus from a data frame of pandas, polars, pyarrow or any other library that narwhals supports.

        A Dataset of Hugging Face, and any object with ``__arrow_c_stream__``, is read by pyarrow (topicfold[parquet]).

        Parameters
        ----------
        frame : data frame
            One row per document. A frame that is not in memory, such as a DuckDB relation, requires `id`: its rows have
            no fixed order and are sorted by id.
        text : str or sequence of str, default='text'
            Name of the column with the texts, or names of several, such as ["title", "body"]. The texts of several
            columns are joined by a blank line; a missing one is left out.
        id : str or None, default=None
            Name of the column with the ids. None uses a column named 'id' if there is one, and otherwise numbers the
            documents.
        title : str or None, default=None
            Name of the column with the titles.
        labels : str or None, default=None
            Name of the column with the labels.
        links : str or None, default=None
            Name of the column with the ids of the documents that a document links to.
        timestamp : str or None, default=None
            Name of the column with the dates.
        metadata : sequence of str, default=()
            Names of further columns to keep: numbers, categories or dates.
        separator : str or None, default=None
            Text that separates several labels or links in one cell.
        date_format, strict_dates : object
            How dates are read; see `from_texts`.
        vocabulary : sequence of str, default=None
            Words to count. If given, `min_df`, `max_df`, `max_words` and `rank_by` are ignored.
        segments, unique, language, keep_texts : object
            What documents consist of, and which are kept; see `from_texts`.
        preprocessing, token_pattern, lowercase, stop_words, stemmer, ngrams, tokenizer, clean, drop_lines : object
            How texts are turned into words; see `from_texts`.
        min_df, max_df, max_words, rank_by : object
            Which words are kept; see `from_texts`. Counts that are read are not filtered by default.

        Returns
        -------
        Corpus
            The documents.

        Raises
        ------
        InputError
            If a value cannot be used, such as an id that occurs twice, or no word is left. The message names the value.

        Examples
        --------
        >>> import pandas as pd
        >>> from topicfold import Corpus
        >>> frame = pd.DataFrame({"review": ["red fish", "blue fish"], "stars": [5, 3]})
        >>> Corpus.from_frame(frame, text="review", metadata=["stars"])
        Corpus: 2 documents, 3 words, 4 tokens, metadata (stars)
        """
        from .building import TextOptions, preprocessing_from
        from .readers import as_names, as_text_columns, corpus_from_records, frame_records, with_index_as_id

        preprocessing = preprocessing_from(
            preprocessing,
            token_pattern=token_pattern,
            lowercase=lowercase,
            stop_words=stop_words,
            stemmer=stemmer,
            ngrams=ngrams,
            tokenizer=tokenizer,
            clean=clean,
            drop_lines=drop_lines,
        )
        options = TextOptions(
            preprocessing, vocabulary, segments, keep_texts, min_df, max_df, max_words, rank_by, unique, language
        )
        frame, id = with_index_as_id(frame, id)
        columns = Columns(as_text_columns(text), id, title, labels, links, timestamp, as_names(metadata), separator)
        columns = columns._replace(date_format=date_format, strict_dates=strict_dates)
        return corpus_from_records(frame_records(frame, columns), columns, options, where="the frame")

    @classmethod
    def read(
        cls,
        path: str | Path | Sequence[str | Path],
        *,
        format: str | None = None,
        text: str | Sequence[str] = "text",
        id: str | None = None,
        title: str | None = None,
        labels: str | None = None,
        links: str | None = None,
        timestamp: str | None = None,
        metadata: Sequence[str] = (),
        separator: str | None = None,
        date_format: str | None = None,
        strict_dates: bool = False,
        encoding: str = "utf-8",
        errors: Literal["strict", "replace"] = "strict",
        pattern: str = "*.txt",
        vocabulary: str | Path | Sequence[str] | None = None,
        segments: Segmentation = None,
        unique: bool = False,
        language: str | None = None,
        keep_texts: bool = False,
        preprocessing: Preprocessing | None = None,
        token_pattern: str = TOKEN_PATTERN,
        lowercase: bool = True,
        stop_words: str | Collection[str] | None = "auto",
        stemmer: str | None = "auto",
        ngrams: tuple[int, int] = (1, 1),
        tokenizer: Callable[[str], Iterable[str]] | str | None = None,
        clean: bool = True,
        drop_lines: Sequence[str] = (),
        min_df: int | float | Auto = "auto",
        max_df: int | float | Auto = "auto",
        max_words: int | None = None,
        rank_by: RankWordsBy = "frequency",
        limits: ReadLimits | None = None,
        n_jobs: int | None = None,
        on_disk: str | Path | None = None,
        verbose: bool | None = None,
    ) -> Corpus:
        r"""Read a corpus from files or a folder.

        Parameters
        ----------
        path : str, Path or sequence of them
            A folder or zip file of texts, a text file with one document per line, or a CSV, TSV, JSON, JSONL (also
            gzipped), spreadsheet, Parquet, Arrow, Matrix Market, LDA-C, UCI bag of words, SVMlight or scipy .npz file,
            or a saved corpus (.safetensors). '-' reads JSONL from standard input. Several files with texts, or a
            pattern such as ``reviews-*.csv.gz``, are read as one corpus.
        format : str or None, default=None
            Format of the files: 'folder', 'zip', 'lines', 'csv', 'tsv', 'json', 'jsonl', 'excel' (or 'excel:SHEET'),
            'parquet', 'arrow', 'mtx', 'ldac', 'uci', 'svmlight', 'npz' or 'safetensors'. None infers it from the file
            name.
        text, id, title, labels, links, timestamp, metadata, separator : object
            Names of columns, and what separates several labels or links in one cell; see `from_frame`.
        date_format, strict_dates : object
            How dates are read; see `from_texts`.
        encoding : str, default='utf-8'
            Encoding of text files.
        errors : {'strict', 'replace'}, default='strict'
            Whether bytes that are invalid in the encoding are an error or are replaced.
        pattern : str
            Which files in a folder or zip file are documents; ``*.txt`` by default. The path of a file is its id. With
            labels='folder', the name of its folder is its label.
        vocabulary : str, Path or sequence of str, default=None
            The words, or a file with one word per line. For texts, these are the words to count. For matrices, they are
            the words of the columns; None looks for a file next to the matrix (vocab.txt, or vocab.NAME.txt for
            docword.NAME.txt).
        segments, unique, language, keep_texts : object
            What documents consist of, and which are kept; see `from_texts`.
        preprocessing, token_pattern, lowercase, stop_words, stemmer, ngrams, tokenizer, clean, drop_lines : object
            How texts are turned into words; see `from_texts`.
        min_df, max_df, max_words, rank_by : object
            Which words are kept; see `from_texts`. Counts that are read are not filtered by default.
        limits : ReadLimits or None, default=None
            Limits on the size of lines, columns, matrices and so on. A file that exceeds them raises an error.
        n_jobs : int or None, default=None
            Number of processes that count words if the input is long. None means 1, and -1 uses all cores. The corpus
            does not depend on it.
        on_disk : str, Path or None, default=None
            A .safetensors file to write the corpus to. Counts and texts then stay in the file and are read when they
            are needed. Use it if the documents do not fit in memory.
        verbose : bool or None, default=None
            Whether to show progress. None shows it only on a terminal.

        Returns
        -------
        Corpus
            The documents.

        Raises
        ------
        InputError
            If a file is damaged or exceeds the limits, or a value in it cannot be used. The message names the file and,
            if possible, the line.
        FileNotFoundError
            If there is no such file.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from topicfold import Corpus
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "reviews.csv"
        ...     _ = file.write_text("id,text,stars\na,red fish,5\nb,blue fish,3\n")
        ...     Corpus.read(file, metadata=["stars"])
        Corpus: 2 documents, 3 words, 4 tokens, metadata (stars)
        """
        from .building import TextOptions, preprocessing_from
        from .limits import ReadLimits
        from .readers import FileOptions, as_names, as_text_columns, read

        preprocessing = preprocessing_from(
            preprocessing,
            token_pattern=token_pattern,
            lowercase=lowercase,
            stop_words=stop_words,
            stemmer=stemmer,
            ngrams=ngrams,
            tokenizer=tokenizer,
            clean=clean,
            drop_lines=drop_lines,
        )
        options = TextOptions(
            preprocessing, None, segments, keep_texts, min_df, max_df, max_words, rank_by, unique, language
        )
        columns = Columns(as_text_columns(text), id, title, labels, links, timestamp, as_names(metadata), separator)
        columns = columns._replace(date_format=date_format, strict_dates=strict_dates)
        file = FileOptions(format, encoding, errors, pattern, verbose, limits or ReadLimits(), n_jobs, on_disk)
        return read(path, columns, options, file, vocabulary)

    @classmethod
    def batches(cls, path: str | Path | Sequence[str | Path], size: int, **options: Any) -> Iterator[Corpus]:
        """Read texts in batches, each a corpus, for `partial_fit`.

        Only one batch is in memory at a time.

        Parameters
        ----------
        path : str, Path or sequence of them
            Files with texts, or a saved corpus, as in `read`.
        size : int
            Number of documents per batch.
        **options : dict
            Further parameters of `read`. Without `vocabulary`, the words are those of the first batch, and `min_df`,
            `max_df` and `max_words` apply only to that batch.

        Yields
        ------
        Corpus
            The next batch.

        Examples
        --------
        >>> from topicfold import PLSA, Corpus
        >>> from topicfold.datasets import load_demo
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     load_demo().subset(range(300)).save(f"{folder}/demo.safetensors")
        ...     [len(batch) for batch in Corpus.batches(f"{folder}/demo.safetensors", 200)]
        [200, 100]
        """
        from .readers import read_batches

        return read_batches(cls.read, path, size, options)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        tokenizer: Callable[[str], Iterable[str]] | str | None = None,
        memory_map: bool | None = None,
    ) -> Corpus:
        """Read a corpus that `save` wrote.

        Parameters
        ----------
        path : str or Path
            The .safetensors file.
        tokenizer : str or callable, default=None
            The custom tokenizer of a corpus that was made with one.
        memory_map : bool or None, default=None
            Whether counts and texts stay in the file and are read when they are needed; the file must not change in
            the meantime. None does so for files of 256 MB or more.

        Returns
        -------
        Corpus
            The documents.

        Raises
        ------
        InputError
            If the file is damaged or is not a topicfold corpus.
        """
        from .corpus_file import load_corpus

        return load_corpus(path, tokenizer=tokenizer, memory_map=memory_map)

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

    @cached_property
    def copies(self) -> Copies:
        """Which documents are copies of earlier ones; computed once.

        An exact copy has the same text as an earlier document, regardless of case and white space; in a corpus without
        texts, the same counts and title. A near copy and the document that it is a copy of have at least 15 different
        words each, and the sum over words of the smaller of their two counts is at least 0.9 of the sum of the larger
        ones. Each document is compared with the earlier ones that are no near copies, and is a copy of the first that
        is similar enough, so a copy of a copy need not be a copy. Empty documents are no copies.
        """
        from .copies import find_copies
        from .digests import count_digests, text_digests

        counts, texts = self.counts, self.texts
        return find_copies(counts, count_digests(counts, self.titles) if texts is None else text_digests(texts))

    def check(self) -> CorpusCheck:
        """Check the data: copies, languages, lengths, dates, columns, and what cleaning removed.

        Languages and repeated lines need the texts (`keep_texts=True`), and are told from a sample of 2,000 and 20,000.

        Returns
        -------
        CorpusCheck
            What was found; `print` shows it.

        Examples
        --------
        >>> from topicfold import Corpus
        >>> print(Corpus.from_texts(["Red fish", "red fish"], keep_texts=True).check())
        documents: 2, of which 1 exact copy
        tokens per document: 2 to 2, median 2
        languages: unknown 100.0%
        """
        return self._checked

    @cached_property
    def _phrases(self) -> Phrases | None:
        """The phrases of the texts, and how they write words; computed once. None without texts."""
        from .phrases import mine_phrases

        return mine_phrases(self)

    @cached_property
    def _checked(self) -> CorpusCheck:
        from .data_check import check_corpus_of

        return check_corpus_of(self)

    def unique(self) -> Corpus:
        """Drop the documents that are exact or near copies of earlier ones; see `copies`.

        Words stay as they are. To choose words without the copies, pass `unique=True` when the corpus is made.

        Returns
        -------
        Corpus
            The first document of each group of copies, in order. Links of a copy become links of the first.

        Examples
        --------
        >>> from topicfold import Corpus
        >>> Corpus.from_texts(["red fish", "tree", "Red fish"], keep_texts=True).unique().ids
        ('0', '1')
        """
        from .copies import without_copies

        if len(self.copies.rows) == len(self):
            return self
        corpus = self.subset(self.copies.rows)
        return corpus if self.links is None else replace(corpus, links=without_copies(self.links, self.copies.first))

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
        new = self._columns_among(words)
        shared = np.flatnonzero(new >= 0)
        ones = np.ones(len(shared), self.counts.dtype)
        return sp.csr_array(self.counts @ sp.csr_array((ones, (shared, new[shared])), (len(new), len(words))))

    def _columns_among(self, words: Sequence[str]) -> np.ndarray:
        """The place of each word of the vocabulary among other words, -1 if it is none of them.

        With a stemmer, forms of a word are the same: another corpus may show another one of them.
        """
        key = str if self.preprocessing is None else self.preprocessing._key
        place = {key(word): index for index, word in enumerate(words)}
        return np.array([place.get(key(word), -1) for word in self.vocabulary or ()], dtype=np.int64)

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
        return count_known_words(texts, self.preprocessing, self.vocabulary)

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
