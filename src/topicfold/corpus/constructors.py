"""The ways to make a corpus: from texts, counts, data frames and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import scipy.sparse as sp

from .counting import choose_words
from .dates import as_timestamps
from .fields import as_ids, as_labels, as_links, as_titles, checked_counts
from .metadata import as_metadata
from .preprocessing import TOKEN_PATTERN, Preprocessing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .building import HowSegments, RankWordsBy
    from .corpus import Corpus
    from .limits import ReadLimits

__all__ = ["CorpusConstructors"]


class CorpusConstructors:
    """The class methods of Corpus that make one."""

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
        vocabulary: Sequence[str] | None = None,
        segments: HowSegments = None,
        keep_texts: bool = False,
        preprocessing: Preprocessing | None = None,
        token_pattern: str = TOKEN_PATTERN,
        lowercase: bool = True,
        stop_words: str | Sequence[str] | None = "english",
        stemmer: str | None = None,
        ngrams: tuple[int, int] = (1, 1),
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_words: int | None = None,
        rank_by: RankWordsBy = "frequency",
    ) -> Corpus:
        """Count the words of texts.

        Parameters
        ----------
        texts : iterable of str
            The texts; a generator is read once. What is missing (None, NaN) is an empty text.
        ids : iterable, optional
            Ids of the documents; without them they are numbered.
        titles : iterable of str, optional
        labels : iterable, optional
            A label or a list of labels per document; None where it is not known.
        links : iterable of pairs, optional
            Pairs of ids: from, to.
        timestamps : iterable, optional
            Dates, years, or text in ISO 8601 or a few common forms.
        metadata : mapping of str to iterable, optional
            Further columns by name: numbers, categories or dates, one value per document.
        date_format : str, optional
            How dates are written, as in `datetime.strptime`.
        vocabulary : sequence of str, optional
            Count these words only; the filters below do not apply then.
        segments : {'paragraphs', 'sentences', 'given'}, int or callable, optional
            How texts are cut into segments: at blank lines, after sentences, into parts that are given (each text is
            then a list of strings), into runs of so many tokens, or by a function from text to parts.
        keep_texts : bool, default=False
            Whether to keep the texts, which the explorer shows.
        preprocessing : Preprocessing, optional
            How text becomes words, as a whole, in place of the next six.
        token_pattern : str
            Regular expression of a token; the default takes words of two or more letters or digits.
        lowercase : bool, default=True
            Whether to lower the text first.
        stop_words : str, sequence of str or None, default='english'
            Language of a list of stop words, the words, or None.
        stemmer : str, optional
            Language of a Snowball stemmer.
        ngrams : tuple of int, default=(1, 1)
            Shortest and longest run of words that counts as one.
        tokenizer : callable, optional
            Custom function from text to tokens, in place of `token_pattern`.
        min_df, max_df : int or float, default=1 and 1.0
            Leave out words in fewer, or more, documents: a number of documents, or as a float a share of them.
        max_words : int, optional
            Keep at most so many words.
        rank_by : {'frequency', 'tfidf'}, default='frequency'
            Which words `max_words` keeps.

        Returns
        -------
        Corpus
        """
        from .building import TextOptions, corpus_from_texts, preprocessing_from

        if isinstance(texts, str):
            raise ValueError("texts is one string: pass a list of texts, or Corpus.read(path) for a file")
        how = preprocessing_from(
            preprocessing,
            token_pattern=token_pattern,
            lowercase=lowercase,
            stop_words=stop_words,
            stemmer=stemmer,
            ngrams=ngrams,
            tokenizer=tokenizer,
        )
        options = TextOptions(how, vocabulary, segments, keep_texts, min_df, max_df, max_words, rank_by)
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
        """A corpus from a matrix of counts.

        Parameters
        ----------
        counts : array, sparse matrix or data frame of shape (n_documents, n_words)
            Whole numbers, zero or more. The columns of a data frame are the words.
        vocabulary : sequence of str, optional
            The words of the columns.
        ids, titles, labels, links, timestamps, metadata
            As in `from_texts`.
        min_df, max_df, max_words, rank_by
            As in `from_texts`.

        Returns
        -------
        Corpus

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
            raise ValueError("vocabulary is one string: expected a list of words")
        words = None if vocabulary is None else list(map(str, vocabulary))
        if words is not None and len(words) != matrix.shape[1]:
            raise ValueError(f"{len(words)} words for {matrix.shape[1]} columns: expected one per column")
        if (min_df, max_df, max_words) != (1, 1.0, None):
            numbered: Sequence[Any] = words or range(matrix.shape[1])
            matrix, chosen = choose_words(
                matrix.copy(), numbered, min_df=min_df, max_df=max_df, max_words=max_words, rank_by=rank_by
            )
            words = chosen if words is not None else None
        rows = as_ids(ids)
        from .corpus import Corpus

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
        text: str = "text",
        *,
        id: str | None = None,
        title: str | None = None,
        labels: str | None = None,
        links: str | None = None,
        timestamp: str | None = None,
        metadata: Sequence[str] = (),
        separator: str | None = None,
        date_format: str | None = None,
        vocabulary: Sequence[str] | None = None,
        segments: HowSegments = None,
        keep_texts: bool = False,
        preprocessing: Preprocessing | None = None,
        token_pattern: str = TOKEN_PATTERN,
        lowercase: bool = True,
        stop_words: str | Sequence[str] | None = "english",
        stemmer: str | None = None,
        ngrams: tuple[int, int] = (1, 1),
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_words: int | None = None,
        rank_by: RankWordsBy = "frequency",
    ) -> Corpus:
        """A corpus from a data frame of pandas, polars, pyarrow, or anything else that narwhals knows.

        Parameters
        ----------
        frame : data frame
            A DuckDB relation, or another frame that is not in memory, needs an `id`, by which its rows are put in
            order: they have none of their own.
        text : str, default='text'
            Column with the texts.
        id, title, labels, links, timestamp : str, optional
            Names of columns. Without `id` a column of that name is used where there is one; else documents are
            numbered.
        metadata : sequence of str, default=()
            Names of further columns to keep: numbers, categories, dates.
        separator : str, optional
            What separates several labels or links in one cell.
        date_format : str, optional
            How dates are written, as in `datetime.strptime`.
        vocabulary : sequence of str, optional
            Count these words only; the filters below do not apply then.
        segments, keep_texts, preprocessing, token_pattern, lowercase, stop_words, stemmer, ngrams, tokenizer
            How text becomes words; see `from_texts`.
        min_df, max_df, max_words, rank_by
            Which words are kept; see `from_texts`.

        Returns
        -------
        Corpus
        """
        from .building import TextOptions, preprocessing_from
        from .readers import Columns, corpus_from_records, frame_records

        how = preprocessing_from(
            preprocessing,
            token_pattern=token_pattern,
            lowercase=lowercase,
            stop_words=stop_words,
            stemmer=stemmer,
            ngrams=ngrams,
            tokenizer=tokenizer,
        )
        options = TextOptions(how, vocabulary, segments, keep_texts, min_df, max_df, max_words, rank_by)
        columns = Columns(text, id, title, labels, links, timestamp, tuple(metadata), separator, date_format)
        return corpus_from_records(frame_records(frame, columns), columns, options, where="the frame")

    @classmethod
    def read(
        cls,
        path: str | Path | Sequence[str | Path],
        *,
        format: str | None = None,
        text: str = "text",
        id: str | None = None,
        title: str | None = None,
        labels: str | None = None,
        links: str | None = None,
        timestamp: str | None = None,
        metadata: Sequence[str] = (),
        separator: str | None = None,
        date_format: str | None = None,
        encoding: str = "utf-8",
        errors: Literal["strict", "replace"] = "strict",
        pattern: str = "*.txt",
        vocabulary: str | Path | Sequence[str] | None = None,
        segments: HowSegments = None,
        keep_texts: bool = False,
        preprocessing: Preprocessing | None = None,
        token_pattern: str = TOKEN_PATTERN,
        lowercase: bool = True,
        stop_words: str | Sequence[str] | None = "english",
        stemmer: str | None = None,
        ngrams: tuple[int, int] = (1, 1),
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_words: int | None = None,
        rank_by: RankWordsBy = "frequency",
        limits: ReadLimits | None = None,
        n_jobs: int | None = None,
        on_disk: str | Path | None = None,
        verbose: bool | None = None,
    ) -> Corpus:
        """Read a corpus from files or a folder.

        Parameters
        ----------
        path : str, Path or sequence of them
            A folder of text files, CSV, TSV, JSONL (also gzipped), Parquet, Matrix Market, LDA-C, UCI bag of words,
            SVMlight, scipy's .npz, or a saved corpus (.safetensors); '-' is standard input as JSONL. Several files
            with texts, or a pattern such as 'reviews-*.csv.gz', are read as one corpus.
        format : str, optional
            The format, where the name does not tell: 'folder', 'csv', 'tsv', 'jsonl', 'parquet', 'mtx', 'ldac', 'uci',
            'svmlight', 'npz' or 'safetensors'.
        text : str, default='text'
            Column with the texts.
        id, title, labels, links, timestamp : str, optional
            Names of columns. Without `id` a column of that name is used where there is one; else documents are
            numbered.
        metadata : sequence of str, default=()
            Names of further columns to keep: numbers, categories, dates.
        separator : str, optional
            What separates several labels or links in one cell.
        date_format : str, optional
            How dates are written, as in `datetime.strptime`.
        encoding : str, default='utf-8'
        errors : {'strict', 'replace'}, default='strict'
            Whether bytes that are not in the encoding are an error or are replaced.
        pattern : str, default='*.txt'
            Files of a folder that are documents. Their path is the id; labels='folder' takes their folder as label.
        vocabulary : str, Path or sequence of str, optional
            The words, or a file with one per line: for texts, the words to count; for matrices, those of the columns,
            which are otherwise looked for in a file beside them (vocab.txt; vocab.NAME.txt for docword.NAME.txt).
        segments, keep_texts, preprocessing, token_pattern, lowercase, stop_words, stemmer, ngrams, tokenizer
            How text becomes words; see `from_texts`.
        min_df, max_df, max_words, rank_by
            Which words are kept; see `from_texts`.
        limits : ReadLimits, optional
            How much a file may ask for: the longest line, the most columns, and so on. What goes beyond is an error.
        n_jobs : int or None, default=None
            Number of processes that count the words of long inputs; -1 uses all cores. The corpus does not depend on
            it.
        on_disk : str or Path, optional
            A file to write the corpus to (.safetensors). Its counts and texts then stay there and are read as they are
            needed: for more documents than fit in memory.
        verbose : bool or None, default=None
            Whether to show progress; None shows it on a terminal.

        Returns
        -------
        Corpus
        """
        from .building import TextOptions, preprocessing_from
        from .limits import ReadLimits
        from .readers import Columns, FileOptions, read

        how = preprocessing_from(
            preprocessing,
            token_pattern=token_pattern,
            lowercase=lowercase,
            stop_words=stop_words,
            stemmer=stemmer,
            ngrams=ngrams,
            tokenizer=tokenizer,
        )
        options = TextOptions(how, None, segments, keep_texts, min_df, max_df, max_words, rank_by)
        columns = Columns(text, id, title, labels, links, timestamp, tuple(metadata), separator, date_format)
        file = FileOptions(format, encoding, errors, pattern, verbose, limits or ReadLimits(), n_jobs, on_disk)
        return read(path, columns, options, file, vocabulary)

    @classmethod
    def batches(cls, path: str | Path | Sequence[str | Path], size: int, **options: Any) -> Iterator[Corpus]:
        """Read texts as one corpus after the other, for `partial_fit`; each is forgotten when the next is asked for.

        Parameters
        ----------
        path : str, Path or sequence of them
            Files with texts, or a saved corpus; see `read`.
        size : int
            Documents of a batch.
        **options
            As for `read`. Without `vocabulary` the words are those of the first batch, and the filters of words apply
            to it alone.

        Yields
        ------
        Corpus

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
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        memory_map: bool | None = None,
    ) -> Corpus:
        """Read what `save` wrote.

        Parameters
        ----------
        path : str or Path
        tokenizer : callable, optional
            A corpus made with a custom tokenizer asks for it again.
        memory_map : bool or None, default=None
            Whether counts and texts stay in the file, which must not be changed meanwhile, and are read as they are
            needed. None does so with files of 256 MB or more.

        Returns
        -------
        Corpus
        """
        from .corpus_file import load_corpus

        return load_corpus(path, tokenizer=tokenizer, memory_map=memory_map)
