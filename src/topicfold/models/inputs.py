"""What every model takes as X, made into one thing: a CSR matrix of counts in the model's dtype.

A Corpus, a scipy matrix, an array, a data frame, or, where the model knows its preprocessing, raw texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..corpus.corpus import Corpus
from ..corpus.counting import WordCounter
from ..corpus.fields import is_missing
from ..engine.arrays import canonical, content_hash

__all__ = ["as_counts", "count_tags", "remember_documents", "seen_words", "vocabulary_of"]


def as_counts(model: Any, X: Any, *, reset: bool, dtype: Any = np.float32) -> sp.csr_array:
    """Validate X for a model and return it as CSR: columns in order, no duplicates, values in `dtype`.

    With `reset` (in fit) the model remembers the number of words and, where they are known, the words themselves
    (`vocabulary_`), how text became words (`preprocessing_`) and the documents' ids. Without it X must fit what
    is remembered; a Corpus with another vocabulary is matched word by word.
    """
    texts = None if isinstance(X, Corpus) else _as_texts(X)
    if isinstance(X, Corpus):
        counts = _remember(model, X) if reset else _matched(model, X)
    elif texts is not None:
        if reset:
            raise ValueError("X is a list of texts: fit takes counts, such as fit(Corpus.from_texts(texts))")
        counts = _count_texts(model, texts)
    else:
        from sklearn.utils.validation import validate_data

        counts = validate_data(model, X, accept_sparse="csr", dtype="numeric", ensure_non_negative=True, reset=reset)
        if reset:
            model.preprocessing_ = model.document_ids_ = model.vocabulary_ = model.corpus_hash_ = None
    return canonical(counts, dtype)


def seen_words(counts: sp.csr_array, word_frequency: np.ndarray) -> sp.csr_array:
    """The counts without words that training did not have: smoothing gives them some probability, but no meaning."""
    unseen = word_frequency == 0
    if not unseen.any() or not unseen[counts.indices].any():
        return counts
    known = counts.copy()
    known.data[unseen[known.indices]] = 0
    known.eliminate_zeros()
    return known


def vocabulary_of(model: Any) -> list[str] | None:
    """The words of a fitted model's columns, or None when it was fitted on a bare matrix."""
    names = model.vocabulary_ or getattr(model, "feature_names_in_", None)  # of a Corpus, or of a data frame
    return None if names is None else list(names)


def remember_documents(model: Any, X: Any) -> None:
    """The model's own documents are now those of X: their ids and contents, where it is a Corpus."""
    known = isinstance(X, Corpus)
    model.document_ids_ = X.ids if known else None
    model.corpus_hash_ = content_hash(X.counts) if known else None


def _remember(model: Any, corpus: Corpus) -> sp.csr_array:
    if corpus.counts.shape[0] == 0:
        raise ValueError("the corpus is empty: there are no documents")
    vars(model).pop("feature_names_in_", None)  # of an earlier fit on a data frame
    model.n_features_in_ = corpus.counts.shape[1]
    # Not in feature_names_in_: scikit-learn would warn at each plain matrix of counts that it has no names.
    model.vocabulary_ = corpus.vocabulary
    model.preprocessing_ = corpus.preprocessing
    remember_documents(model, corpus)
    return corpus.counts


def _matched(model: Any, corpus: Corpus) -> sp.csr_array:
    words = vocabulary_of(model)
    if words is None or corpus.vocabulary is None or list(corpus.vocabulary) == words:
        if corpus.counts.shape[1] != model.n_features_in_:
            raise ValueError(
                f"X has {corpus.counts.shape[1]} features, but {type(model).__name__} is expecting "
                f"{model.n_features_in_} features as input, and without words they cannot be matched"
            )
        return corpus.counts
    column = {word: index for index, word in enumerate(words)}
    new = np.array([column.get(word, -1) for word in corpus.vocabulary])
    if (new < 0).all():
        raise ValueError(
            f"the corpus and the model have no word in common: the corpus has {', '.join(corpus.vocabulary[:3])} ..., "
            f"the model {', '.join(words[:3])} ..."
        )
    known = np.flatnonzero(new >= 0)
    picker = sp.csr_array((np.ones(len(known), corpus.counts.dtype), (known, new[known])), (len(new), len(words)))
    return sp.csr_array(corpus.counts @ picker)


def _as_texts(X: Any) -> list[str] | None:
    """X as a list of texts where it is one: a list, an array or a column of strings, some of them missing."""
    if isinstance(X, str):
        raise ValueError("X is one string: pass a list of texts")
    if getattr(X, "ndim", 1) != 1 or sp.issparse(X):
        return None
    items = X if isinstance(X, list | tuple) else X.tolist() if hasattr(X, "tolist") else None
    if not items or not any(isinstance(item, str) for item in items):
        return None
    if not all(isinstance(item, str) or is_missing(item) for item in items):
        return None
    return [item if isinstance(item, str) else "" for item in items]


def _count_texts(model: Any, texts: list[str]) -> sp.csr_array:
    words = vocabulary_of(model)
    if words is None or model.preprocessing_ is None:
        raise ValueError(
            f"this {type(model).__name__} was fitted on a bare matrix and does not know how text becomes words: "
            "fit it on a Corpus made from texts, or pass counts"
        )
    counter = WordCounter(model.preprocessing_, words)
    for text in texts:
        counter.add(text)
    return counter.finish()[0]


def count_tags(tags: Any) -> Any:
    """scikit-learn's tags of an estimator that takes counts: sparse or dense, never negative; its own dtype."""
    tags.input_tags.sparse = True
    tags.input_tags.positive_only = True
    if tags.transformer_tags is not None:
        tags.transformer_tags.preserves_dtype = []
    return tags
