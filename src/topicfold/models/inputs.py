"""Converts what estimators accept as X to a CSR matrix of counts.

X can be a Corpus, a scipy matrix, an array, a data frame of counts, or texts: a list or a column of strings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from ..corpus.corpus import Corpus, check_corpus
from ..corpus.counting import count_known_words
from ..corpus.fields import as_frame, is_missing
from ..engine.arrays import canonical, checked_sparse, content_hash
from ..engine.mapped import is_mapped, pieces
from ..errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike
    from sklearn.utils import Tags

    from ..corpus.preprocessing import Preprocessing

__all__ = ["CountsLike", "CountsMixin", "RandomStateLike", "TopicNamesMixin", "as_texts", "seen_words"]

# A data frame or a column of texts may come from pandas, polars or pyarrow, none of which has to be installed.
CountsLike: TypeAlias = "Corpus | sp.csr_array | ArrayLike | Sequence[str] | Any"
_LEAST, _MOST = 1e-9, 1e12  # of a value: outside them, sums and products in single precision overflow or vanish
RandomStateLike: TypeAlias = "int | np.random.RandomState | None"


class NotNumbers(InputError, TypeError):
    """X has dates or other objects: an InputError, and the TypeError that scikit-learn requires."""


class CountsMixin:
    """For estimators that take documents as counts of words, in any supported form; see TopicModel."""

    n_features_in_: int
    vocabulary_: tuple[str, ...] | None
    preprocessing_: Preprocessing | None
    source_columns_: Mapping[str, Any] | None
    document_ids_: Sequence[str] | None
    document_titles_: Sequence[str] | None
    corpus_hash_: str | None
    wordless_: np.ndarray

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        if tags.transformer_tags is not None:
            tags.transformer_tags.preserves_dtype = []
        return tags

    def words(self) -> list[str] | None:
        """Return the words of the columns.

        Returns
        -------
        list of str or None
            The words, or None if the model was fitted on a matrix without words.
        """
        # Not in feature_names_in_: scikit-learn would warn for each plain matrix of counts that it has no names.
        names = self.vocabulary_ or getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _fit_counts(self, X: CountsLike, dtype: DTypeLike = np.float32) -> sp.csr_array:
        """Check the X of `fit`; keep its words, its preprocessing and its documents."""
        texts = None if isinstance(X, Corpus) else as_texts(X)
        corpus = X if texts is None else Corpus.from_texts(texts, keep_texts=True)
        if isinstance(corpus, Corpus):
            if len(corpus) == 0:
                raise InputError("the corpus is empty: there are no documents")
            vars(self).pop("feature_names_in_", None)  # of an earlier fit on a data frame
            self.n_features_in_ = corpus.counts.shape[1]
            self.vocabulary_, self.preprocessing_ = corpus.vocabulary, corpus.preprocessing
            self.source_columns_ = corpus.notes.get("columns")
            self._remember_documents(corpus, corpus.counts)
            return _in_range(corpus.counts, dtype)
        counts = self._validated(X, reset=True)
        self.preprocessing_ = self.vocabulary_ = self.source_columns_ = None
        counts = _in_range(counts, dtype)
        self._remember_documents(X, counts)
        return counts

    def word_counts(self, X: CountsLike, dtype: DTypeLike = np.float32) -> sp.csr_array:
        """Count the words of the fit in documents; the words of a Corpus are matched by name.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        dtype : dtype, default=numpy.float32
            Type of the counts.

        Returns
        -------
        sparse array of shape (n_documents, n_words)
            Counts over the words of the fit.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        texts = None if isinstance(X, Corpus) else as_texts(X)
        if isinstance(X, Corpus):
            counts = self._matched(X)
        elif texts is not None:
            counts = self._counted(texts)
        else:
            counts = self._validated(X, reset=False)
        return _in_range(counts, dtype)

    def _remember_documents(self, X: CountsLike, counts: sp.csr_array) -> None:
        """Keep the ids, titles and hash of X as those of the training documents, if it is a Corpus."""
        self.wordless_ = np.flatnonzero(np.diff(counts.indptr) == 0)
        for name in ("topic_stability_", "topic_returns_"):  # of earlier topics
            vars(self).pop(name, None)
        corpus = X if isinstance(X, Corpus) else None
        self.document_ids_ = None if corpus is None else corpus.ids
        self.document_titles_ = None if corpus is None else corpus.titles
        self.corpus_hash_ = None if corpus is None else content_hash(corpus.counts)

    def _is_fitted_on(self, corpus: Corpus) -> bool:
        check_corpus(corpus)
        return corpus.ids == self.document_ids_ and content_hash(corpus.counts) == self.corpus_hash_

    def _validated(self, X: CountsLike, *, reset: bool) -> sp.csr_array | np.ndarray:
        from sklearn.utils.validation import validate_data

        _check_frame(X)
        if sp.issparse(X):
            X = checked_sparse(X)
        elif isinstance(X, np.ndarray):
            X = np.asarray(X)  # an np.matrix is an array as well
            if X.dtype.kind in "mM":
                raise InputError(f"X is of type {X.dtype}: expected numbers")
        try:
            return validate_data(self, X, accept_sparse="csr", dtype="numeric", ensure_non_negative=True, reset=reset)
        except ValueError as error:  # messages of scikit-learn have several lines
            raise InputError(" ".join(str(error).split())) from None
        except TypeError as error:
            raise NotNumbers(f"X holds values that are not numbers: {' '.join(str(error).split())}") from None

    def _matched(self, corpus: Corpus) -> sp.csr_array:
        words = self.words()
        if words is None or corpus.vocabulary is None or list(corpus.vocabulary) == words:
            if corpus.counts.shape[1] != self.n_features_in_:
                raise InputError(
                    f"X has {corpus.counts.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input, and without words they cannot be matched"
                )
            return corpus.counts
        if not (corpus._columns_among(words) >= 0).any():
            raise InputError(
                f"the corpus and the model have no word in common: the corpus has "
                f"{', '.join(corpus.vocabulary[:3])} ..., the model {', '.join(words[:3])} ..."
            )
        return corpus.counts_over(words)

    def _counted(self, texts: Sequence[str]) -> sp.csr_array:
        words = self.words()
        if words is None or self.preprocessing_ is None:
            raise InputError(
                f"this {type(self).__name__} was fitted on a matrix without words and cannot turn texts into words: "
                "fit it on texts or a Corpus made from texts, or pass counts"
            )
        return count_known_words(texts, self.preprocessing_, words)


def _in_range(counts: sp.csr_array | np.ndarray, dtype: DTypeLike) -> sp.csr_array:
    """The counts in one form and of one type; a ValueError if sums of them would overflow or vanish."""
    if isinstance(counts, sp.csr_array) and is_mapped(counts.data):  # checked when the file was opened
        return counts.astype(dtype, copy=False)
    matrix = canonical(counts)
    if matrix.nnz:
        least, most = matrix.data.min(), matrix.data.max()
        if least < _LEAST or most > _MOST:
            value = least if least < _LEAST else most
            raise InputError(f"X holds {value:g}: expected counts or weights from {_LEAST:g} to {_MOST:g}; scale X")
    return matrix.astype(dtype, copy=False)


def seen_words(counts: sp.csr_array, word_frequency: np.ndarray) -> sp.csr_array:
    """The counts without words that were not in the training documents: their probability is only smoothing."""
    unseen = word_frequency == 0
    if not unseen.any() or not any(unseen[piece].any() for piece in pieces(counts.indices)):
        return counts
    known = counts.copy()
    known.data[unseen[known.indices]] = 0
    known.eliminate_zeros()
    return known


def as_texts(X: Any) -> list[str] | None:
    """X as a list of texts, if it is a list, an array or a column of strings, some of which may be missing."""
    if isinstance(X, str):
        raise InputError("X is one string: pass a list of texts")
    if isinstance(X, list | tuple):
        items: list[Any] = list(X)
        if not items:
            return []
    elif isinstance(X, np.ndarray):
        items = X.tolist() if X.ndim == 1 else []
    else:
        column = as_frame(X)
        items = column.to_list() if isinstance(column, nw.Series) else []
    if not any(isinstance(item, str) for item in items):
        return None
    if not all(isinstance(item, str) or is_missing(item) for item in items):
        return None
    return [item if isinstance(item, str) else "" for item in items]


def _check_frame(X: Any) -> None:
    """Raise if X is a data frame with text, or lists of words, of which a Corpus has to be made; the error says how."""
    if isinstance(X, list | tuple) and X and isinstance(X[0], list | tuple) and X[0] and isinstance(X[0][0], str):
        raise InputError("X is a list of lists of words: make a corpus of it with Corpus.from_texts(X)")
    frame = as_frame(X)
    if isinstance(frame, nw.LazyFrame):
        raise InputError(
            f"X is a {type(X).__name__}, whose rows have no order: "
            'make a corpus of it with Corpus.from_frame(X, text="...", id="...")'
        )
    if isinstance(frame, nw.DataFrame):
        texts = [name for name, kind in frame.schema.items() if kind in (nw.String, nw.Categorical, nw.Object)]
        if texts:
            longest = max(texts, key=lambda name: sum(len(str(value)) for value in frame[name].head(100).to_list()))
            raise InputError(
                f"X is a data frame with text in column {longest!r}: "
                f'make a corpus of it with Corpus.from_frame(X, text="{longest}")'
            )


class TopicNamesMixin(ClassNamePrefixFeaturesOutMixin):
    """Names of the columns of `transform`, for estimators that also take texts."""

    preprocessing_: Preprocessing | None

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of `transform`, such as lda0 and lda1.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X, which are only checked. A model that was fitted on texts ignores them: a column
            of texts is one column, and its words are many.

        Returns
        -------
        ndarray of str
            One name per column.
        """
        check_is_fitted(self)
        names: np.ndarray = super().get_feature_names_out(None if self.preprocessing_ is not None else input_features)
        return names
