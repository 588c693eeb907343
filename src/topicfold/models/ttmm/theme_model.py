"""Results of a fitted TTMM for documents; it is fitted in ttmm.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...corpus.corpus import Corpus
from ...engine.arrays import normalise_rows
from ...engine.stored import MAX_PROBABILITY, Stored
from ...errors import InputError
from ...topics.changes import add_level_above
from ...topics.tree import TopicTree
from ..estimator import TopicModel
from ..inputs import CountsLike, seen_words
from .theme_features import one_topic_features, themes_of, token_shares

__all__ = ["LABELS", "LEAST_USED", "Features", "ThemeModel"]

Features: TypeAlias = Literal["tokens", "paper", "log", "themes"]

LEAST_USED = 0.5  # documents of a theme that is in use
LABELS = "labels"


def _themes_are_classes(model: ThemeModel) -> bool:
    if model.n_themes != LABELS:
        raise AttributeError("the themes are not classes: create the model with n_themes='labels'")
    return True


class ThemeModel(TopicModel):
    """Base class of TTMM: themes and topics of documents."""

    _stored: ClassVar[Mapping[str, Stored]] = {
        "theme_weight_": Stored(("themes",), low=0, high=MAX_PROBABILITY),
        "theme_topic_": Stored(("themes", "topics"), low=0, high=MAX_PROBABILITY),
        "doc_theme_": Stored(("documents", "themes"), low=0, high=MAX_PROBABILITY),
        "n_themes_": Stored(kind="int", low=1),
        "n_themes_used_": Stored(kind="int", low=0),
        "classes_": Stored(("themes",), "labels", may_be_missing=True),
        "n_batches_": Stored(kind="int", low=1, may_be_missing=True),
    }

    n_themes: int | Literal["labels"]
    features: Features

    theme_weight_: np.ndarray
    theme_topic_: np.ndarray
    doc_theme_: np.ndarray
    n_themes_: int
    n_themes_used_: int
    classes_: np.ndarray
    n_batches_: int

    def transform(self, X: CountsLike) -> np.ndarray:
        """Compute the features of new documents, as set by `features`.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_topics) or (n_documents, n_themes)
            One row per document. The columns are themes with features='themes', otherwise topics. A row does not depend
            on the other documents.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        return self._features(self._known_words(X), self.features)

    def document_topics(self, X: CountsLike) -> np.ndarray:
        """Infer the share of each topic in the tokens of documents, regardless of `features`.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            The share of each topic, one row per document.
        """
        return self._features(self._known_words(X), "tokens")

    def score(self, X: CountsLike, y: Any = None) -> float:
        """Compute the mean log-likelihood per token by document completion.

        The theme of each document is inferred from half of its tokens, drawn at random; the other half is scored.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        float
            The mean in nats per token; higher is better.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        check_is_fitted(self)
        return self._completion(X, lambda seen: normalise_rows(self._doc_theme(seen)[0] @ self.theme_topic_))

    def log_likelihood(self, X: CountsLike) -> np.ndarray:
        """Compute the exact log P(d) of each document.

        It does not include the number of possible orders of the words.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents,)
            Log-likelihood of each document, in nats.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        check_is_fitted(self)
        return self._doc_theme(self.word_counts(X, self.topic_word_.dtype))[1]

    def document_themes(self, X: CountsLike) -> np.ndarray:
        """Infer P(h|d) of documents, regardless of `features`.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_themes)
            The probability of each theme, one row per document.
        """
        return self._doc_theme(self._known_words(X))[0]

    def predict_theme(self, X: CountsLike) -> np.ndarray:
        """Predict the most probable theme of each document.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents,)
            Number of the theme.
        """
        return self.document_themes(X).argmax(axis=1)

    @available_if(_themes_are_classes)
    def predict_proba(self, X: CountsLike) -> np.ndarray:
        """Predict the probability of each class; only with n_themes='labels'.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_themes)
            P(class|d), with the columns in the order of `classes_`.
        """
        return self.document_themes(X)

    def predict(self, X: CountsLike) -> np.ndarray:
        """Predict the largest topic of each document, or with n_themes='labels' its most probable class.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents,)
            Row of the topic in `topic_word_`, or the class.
        """
        if self.n_themes == LABELS:
            return self.classes_[self.document_themes(X).argmax(axis=1)]
        return self.document_topics(X).argmax(axis=1)

    def topic_tree(self, corpus: Corpus | None = None) -> TopicTree:
        """Return the topics as a TopicTree of two levels: themes over topics, weighted by P(t|h).

        Themes with less than half a document are left out. `topic_tree(corpus).select_levels([1])` gives the topics
        alone.

        Parameters
        ----------
        corpus : Corpus, default=None
            The documents of the tree. None, or the corpus of the fit, gives the training documents; another corpus is
            assigned to the topics first.

        Returns
        -------
        TopicTree
            Themes and topics with their words and documents.
        """
        check_is_fitted(self)
        doc_topic, doc_theme = self.doc_topic_, self.doc_theme_
        if corpus is not None and not self._is_fitted_on(corpus):
            counts = self._known_words(corpus)
            doc_theme = self._doc_theme(counts)[0]
            doc_topic = self._features(counts, "tokens", doc_theme)
        used = np.flatnonzero(self.doc_theme_.sum(axis=0, dtype=np.float64) >= LEAST_USED)
        return add_level_above(
            self._one_level(doc_topic, corpus),
            numbers=used,
            share=self.theme_topic_[used].astype(np.float64),
            weight=self.theme_weight_[used],
            membership=doc_theme[:, used],
            level_names=("topic", "theme"),
            names=None if not hasattr(self, "classes_") else self.classes_[used],
        )

    def _n_outputs(self) -> int:
        return self.n_themes_ if self.features == "themes" else len(self.topic_word_)

    def _check_learned(self) -> None:
        if self.n_themes_ != len(self.theme_weight_):
            raise InputError(f"it has {len(self.theme_weight_)} themes: expected n_themes_={self.n_themes_}")
        if self.n_themes == LABELS and not hasattr(self, "classes_"):
            raise InputError("it has no classes_")

    def _prepare(self) -> None:
        """Nothing to prepare: inference uses the learned arrays unchanged."""

    def _known_words(self, X: CountsLike) -> sp.csr_array:
        check_is_fitted(self)
        return seen_words(self.word_counts(X, self.topic_word_.dtype), self.word_frequency_)

    def _doc_theme(self, counts: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
        """P(h|d) and log P(d) under the fitted model."""
        return themes_of(counts, self.theme_weight_, self.theme_topic_, self.topic_word_, self.n_jobs)

    def _features(self, counts: sp.csr_array, features: Features, doc_theme: np.ndarray | None = None) -> np.ndarray:
        if features in ("paper", "log"):
            tables = (self.theme_weight_, self.theme_topic_, self.topic_word_)
            return one_topic_features(counts, *tables, logs=features == "log")
        doc_theme = self._doc_theme(counts)[0] if doc_theme is None else doc_theme
        if features == "themes":
            return doc_theme
        return token_shares(counts, doc_theme, self.theme_topic_, self.topic_word_, self.topic_weight_, self.n_jobs)
