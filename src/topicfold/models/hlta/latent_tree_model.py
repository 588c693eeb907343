"""Results of a fitted HLTA for documents; it is fitted in hlta.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...corpus.corpus import Corpus
from ...engine.checks import check_whole_numbers
from ...errors import InputError
from ...topics.tree import TopicTree
from ..base import TopicModel
from ..inputs import CountsLike, RandomStateLike
from .hlta_learned import STORED, check_tree
from .latent_tree import (
    Inference,
    LatentTree,
    log_factorials,
    presence_table,
    sample_documents,
    words_given_states,
)
from .tree_topics import effective_word_scores, topics_of
from .word_choice import tree_documents

__all__ = ["COVERAGE", "LatentTreeModel"]

COVERAGE = 0.95  # effective words carry more than this share of the information of all words of a subtree


class LatentTreeModel(TopicModel):
    """Base class of HLTA: topics as states of the latents of a tree."""

    _stored = STORED
    score_unit = "nats per document"
    _uses_absent_words = True

    topic_level_: np.ndarray
    topic_parent_: np.ndarray
    topic_latent_: np.ndarray
    topic_state_: np.ndarray
    topic_effective_: sp.csr_array
    word_columns_: np.ndarray
    word_parent_: np.ndarray
    word_table_: np.ndarray
    latent_parent_: np.ndarray
    latent_level_: np.ndarray
    latent_table_: np.ndarray
    n_states_: np.ndarray
    emission: Literal["presence", "counts"]

    def transform(self, X: CountsLike) -> np.ndarray:
        """Infer P(topic|d) of new documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Memberships, one row per document. Rows do not sum to one.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        check_is_fitted(self)
        return self._topics_of(self._documents(self.word_counts(X, np.float64)))

    def document_topics(self, X: CountsLike) -> np.ndarray:
        """Infer P(topic|d) of documents, with the columns of `doc_topic_`; the same as `transform`.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Memberships, one row per document. Rows do not sum to one.
        """
        return np.asarray(self.transform(X))

    def memberships(self, X: CountsLike, threshold: float = 0.5) -> np.ndarray:
        """Assign documents to topics.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        threshold : float, default=0.5
            A document is in the topics with P(topic|d) above this.

        Returns
        -------
        ndarray of bool of shape (n_documents, n_topics)
            Whether each document is in each topic.
        """
        return self.document_topics(X) > threshold

    def score(self, X: CountsLike, y: Any = None) -> float:
        """Compute the exact mean log-likelihood per document.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        float
            The mean in nats per document; higher is better.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        return float(self.log_likelihood(X).mean())

    def log_likelihood(self, X: CountsLike, *, words: np.ndarray | None = None) -> np.ndarray:
        """Compute the exact log P of each document over the words of the tree.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        words : ndarray of bool of shape (n_words,), default=None
            The columns of X to use; the other words are summed out, as if they were unknown. None uses all.

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
        documents = self._documents(self.word_counts(X, np.float64))
        if self.emission == "counts":
            check_whole_numbers(documents, "the likelihood of counts")
        seen = self._seen(words)
        inference = Inference(self._tree(), self.emission, seen)
        visible = documents if seen is None else sp.csr_array(documents.multiply(seen[None]))
        return inference.log_likelihood(documents, self.n_jobs) - log_factorials(visible, self.emission)

    def word_probability(self, X: CountsLike, *, words: np.ndarray | None = None) -> np.ndarray:
        """Predict the probability that each word is present, given the words of each document.

        For a word that was used, this is the probability that its topics give it.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        words : ndarray of bool of shape (n_words,), default=None
            The columns of X to use. None uses all.

        Returns
        -------
        ndarray of shape (n_documents, n_words)
            Probabilities; 0 for words that are not in the tree.
        """
        check_is_fitted(self)
        documents = self._documents(self.word_counts(X, np.float64))
        tree = self._tree()
        first = np.unique(tree.word_parent)
        beliefs = Inference(tree, self.emission, self._seen(words)).beliefs(documents, first, self.n_jobs)
        home, table = np.searchsorted(first, tree.word_parent), presence_table(tree, self.emission).word_table
        result = np.zeros((documents.shape[0], self.n_features_in_), np.float32)
        for column, w in zip(self.word_columns_, range(tree.n_words)):
            result[:, column] = beliefs[:, home[w]] @ table[w].astype(np.float32)
        return result

    def sample(self, n_documents: int = 1, random_state: RandomStateLike = None) -> sp.csr_array:
        """Draw documents from the tree.

        Parameters
        ----------
        n_documents : int, default=1
            Number of documents to draw.
        random_state : int, RandomState instance or None, default=None
            Seed of the random numbers. Pass an int to get the same documents in every run.

        Returns
        -------
        sparse array of shape (n_documents, n_words)
            The documents, with the columns of X in the fit.
        """
        check_is_fitted(self)
        rng = check_random_state(random_state)
        drawn = sample_documents(self._tree(), n_documents, self.emission, rng)
        return sp.csr_array(
            (drawn.data, self.word_columns_[drawn.indices], drawn.indptr), (n_documents, self.n_features_in_)
        )

    def word_clusters(self) -> list[list[int]]:
        """Return the words below each latent of the lowest level: a partition of the words of the tree.

        Returns
        -------
        list of list of int
            Columns of X, one list per latent.
        """
        check_is_fitted(self)
        first = np.unique(self.word_parent_)
        return [self.word_columns_[self.word_parent_ == z].tolist() for z in first]

    def topic_tree(
        self,
        corpus: Corpus | None = None,
        *,
        levels: Sequence[int] | None = None,
        coverage: float = COVERAGE,
        repeat: bool = False,
    ) -> TopicTree:
        """Return the topics as a TopicTree; each topic has its effective words, ranked by how well they discern it.

        Parameters
        ----------
        corpus : Corpus, default=None
            The documents of the tree. None, or the corpus of the fit, gives the training documents; another corpus is
            assigned to the topics first.
        levels : sequence of int, default=None
            The levels to include; 1 is next to the words. None includes all.
        coverage : float, default=0.95
            Effective words are the fewest that carry this share of the information that all words below a latent have
            about it. A value other than the default needs the corpus.
        repeat : bool, default=False
            Whether a topic also shows words that are among the first ten of the topic above it.

        Returns
        -------
        TopicTree
            The topics with their words and documents.

        Raises
        ------
        InputError
            If `coverage` is not a share, or is given without a corpus.
        """
        check_is_fitted(self)
        known = corpus is None or self._is_fitted_on(corpus)
        doc_topic = self.doc_topic_ if known else self.document_topics(corpus)
        effective = self.topic_effective_
        if coverage != COVERAGE:
            if not 0 < coverage <= 1 or corpus is None:
                raise InputError(f"coverage={coverage}: expected a share up to 1, and a corpus to measure it on")
            effective = self._effective(self._documents(self.word_counts(corpus)), coverage)
        tree = replace(
            self._one_level(doc_topic, corpus),
            parent=self.topic_parent_,
            level=self.topic_level_,
            word_score=effective,
            exclusive=False,
        )
        tree = tree if levels is None else tree.select_levels(levels)
        return tree if repeat else tree.drop_repeated_words()

    def _n_outputs(self) -> int:
        return len(self.topic_word_)

    def _check_learned(self) -> None:
        check_tree(self.latent_parent_, self.n_states_, self.latent_table_, self.topic_latent_, self.topic_state_)

    def _prepare(self) -> None:
        """Nothing to prepare: inference uses the learned arrays unchanged."""

    def _documents(self, counts: sp.csr_array) -> sp.csr_array:
        return tree_documents(counts, self.word_columns_, self.emission)

    def _effective(self, documents: sp.csr_array, coverage: float, on: np.ndarray | None = None) -> sp.csr_array:
        tree = self._tree()
        if on is None:
            on = words_given_states(presence_table(tree, self.emission), self.n_jobs)
        topics = (self.topic_latent_, self.topic_state_, self.word_columns_, self.n_features_in_)
        return effective_word_scores(tree, on, documents, coverage, self.emission, *topics, self.n_jobs)

    def _topics_of(self, documents: sp.csr_array) -> np.ndarray:
        return topics_of(self._tree(), self.emission, documents, self.topic_latent_, self.topic_state_, self.n_jobs)

    def _tree(self) -> LatentTree:
        latents = (self.latent_parent_, self.latent_level_, self.n_states_)
        return LatentTree(self.word_parent_, *latents, self.word_table_, self.latent_table_)

    def _seen(self, words: np.ndarray | None) -> np.ndarray | None:
        if words is None:
            return None
        words = np.asarray(words)
        if words.shape != (self.n_features_in_,) or words.dtype != bool:
            raise InputError(f"words: expected a mask of {self.n_features_in_:,} booleans, one per column of X")
        return words[self.word_columns_]
