"""HLTA: a hierarchy of topics from a latent tree (Liu, Zhang and Chen 2014; progressive EM: Chen et al. 2016).

Words that occur together are cut into islands, each below a latent variable; latents that go together are cut into
islands of the next level, and so on. Every state of a latent but its background is a topic. Between two changes of
the tree come a few steps of EM on the whole of it, so at any time it is a model that can be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...corpus.corpus import Corpus
from ...engine.blocks import single_threaded_libraries
from ...engine.checks import check_choice, check_number, check_whole, check_whole_numbers
from ...engine.loop import Run, hold_interrupts
from ...topics.tree import TopicTree
from ..base import TopicModel
from ..inputs import CountsLike, RandomStateLike
from .fit_stages import BATCH, grow, polish
from .hlta_learned import STORED, check_tree, expected_state
from .latent_tree import Inference, LatentTree, state_marginals
from .tree_growth import log_factorials, presence_table, with_rates
from .tree_topics import effective_word_scores, ordered_states, topic_parents
from .tree_words import sample_documents, words_given_states
from .word_choice import chosen_columns

__all__ = ["HLTA"]

COVERAGE = 0.95  # of what all words of a subtree tell, its effective words tell more
_INFORMATION_DOCUMENTS = 5_000  # what words tell about topics is measured on so many


class HLTA(TopicModel):
    """Hierarchical latent tree analysis: topics over topics, as many as the data have.

    The model looks at which words a document has, not at how often: counts become presence, unless emission='counts'.

    Parameters
    ----------
    n_levels : int or None, default=None
        Number of levels, fewer where two latents are left at the top. None adds levels until at most `top_size`
        latents are left. 1 is a flat model, whose topics are clusters of words.
    top_size : int, default=20
        Most latents at the top, where `n_levels` is None.
    island_size : int, default=15
        Most words (or topics of the level below) of an island when it is made; they move later.
    bic_threshold : float, default=3.0
        How much better, in BIC, two latents must explain an island than one before it is cut. Larger values give fewer
        and larger islands.
    method : {'pem', 'bi'}, default='pem'
        How islands are found: progressive EM (latents with two states), or bridged islands (as many states as pay off;
        the method of the 2014 paper, and far slower).
    emission : {'presence', 'counts'}, default='presence'
        What a topic says about a word: the probability that it is present, or a Poisson rate of its count, on a tree
        built by presence.
    max_words : int or None, default=None
        Number of words to choose: those with the highest mean tf-idf in at least `min_df` documents. None takes all.
    min_df : int, default=1
        Least number of documents with a word that the tree uses.
    n_relocations : int, default=2
        Rounds at each level in which words, or topics of the level below, move to the latent that explains them best.
    smoothing : float, default=1.0
        Pseudo-documents in each state of a latent.
    max_iter : int, default=50
        Most passes of EM once the tree stands.
    tol : float, default=0.01
        EM stops when the log-likelihood per document rises by less than this.
    batch_size : int, 'auto' or None, default='auto'
        Documents of a step of stepwise EM; 'auto' takes batches of 2,000 above 20,000 documents, None goes over all of
        them for each step.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same result in every run.
    n_jobs : int or None, default=None
        Number of threads; -1 uses all cores. The result does not depend on it.
    verbose : bool or None, default=None
        Whether to show progress; None shows it on a terminal.
    checkpoint : str, Path or None, default=None
        File from which a killed fit resumes.

    Attributes
    ----------
    topic_word_ : ndarray of shape (n_topics, n_words)
        P(w present | topic); also as `components_`.
    topic_weight_ : ndarray of shape (n_topics,)
        P(topic).
    topic_level_ : ndarray of shape (n_topics,)
        Level of each topic; 1 is next to the words.
    topic_parent_ : ndarray of shape (n_topics,)
        Row of the topic above, -1 at the top.
    topic_latent_, topic_state_ : ndarray of shape (n_topics,)
        Which state of which latent a topic is.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        P(topic | d) of the training documents; a document is in any number of topics.
    topic_effective_ : sparse array of shape (n_topics, n_words)
        Discerning index of each topic's effective words that are likelier in it.
    word_columns_ : ndarray
        The columns of X that are in the tree.
    word_parent_, word_table_ : ndarray
        Latent of each of these words, and P(w present | state), or the rate of w.
    latent_parent_, latent_level_, n_states_, latent_table_ : ndarray
        The tree: parent (-1 at the root; latents at the top hang from each other), level and number of states of each
        latent, and P(state | state of the parent); the prior of the root is in its first row.
    word_frequency_ : ndarray of shape (n_words,)
        Documents with each word.
    history_ : ndarray of shape (n_iter_,)
        Log-likelihood per document before each pass.
    n_iter_ : int
        Number of passes.
    converged_, interrupted_ : bool
        Whether `tol` was reached; whether Ctrl-C ended the fit.

    References
    ----------
    Liu, T., Zhang, N. L. and Chen, P. (2014). Hierarchical latent tree analysis for topic detection. ECML PKDD.
    https://doi.org/10.1007/978-3-662-44851-9_17

    Chen, P., Zhang, N. L., Poon, L. K. M. and Chen, Z. (2016). Progressive EM for latent tree models and hierarchical
    topic detection. AAAI.

    Examples
    --------
    >>> from topicfold import HLTA
    >>> import numpy as np
    >>> topic = np.repeat([[1, 0], [0, 1], [1, 1], [0, 0]], 20, axis=0)
    >>> model = HLTA(random_state=0).fit(topic.repeat(3, axis=1))
    >>> [sorted(words) for words in sorted(model.word_clusters())]
    [[0, 1, 2], [3, 4, 5]]
    """

    _stored = STORED
    score_unit = "nats per document"

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

    def __init__(
        self,
        n_levels: int | None = None,
        top_size: int = 20,
        island_size: int = 15,
        bic_threshold: float = 3.0,
        *,
        method: Literal["pem", "bi"] = "pem",
        emission: Literal["presence", "counts"] = "presence",
        max_words: int | None = None,
        min_df: int = 1,
        n_relocations: int = 2,
        smoothing: float = 1.0,
        max_iter: int = 50,
        tol: float = 0.01,
        batch_size: int | Literal["auto"] | None = "auto",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.n_levels = n_levels
        self.top_size = top_size
        self.island_size = island_size
        self.bic_threshold = bic_threshold
        self.method = method
        self.emission = emission
        self.max_words = max_words
        self.min_df = min_df
        self.n_relocations = n_relocations
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def check_parameters(self) -> None:
        """Raise a ValueError that names a parameter which the model cannot use."""
        for name, least in {"top_size": 1, "island_size": 3, "max_iter": 1, "n_relocations": 0, "min_df": 1}.items():
            check_whole(name, getattr(self, name), least)
        for name in ("n_levels", "max_words", "batch_size"):
            value = getattr(self, name)
            if value is not None and not (name == "batch_size" and value == "auto"):
                check_whole(name, value, or_else=", 'auto' or None" if name == "batch_size" else ", or None")
        for name in ("bic_threshold", "tol", "smoothing"):
            check_number(name, getattr(self, name))
        check_choice("method", self.method, ("pem", "bi"))
        check_choice("emission", self.emission, ("presence", "counts"))

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Learn the tree from documents.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts
        y : ignored

        Returns
        -------
        self
        """
        self.check_parameters()
        counts = self._fit_counts(X, np.float64)
        if self.emission == "counts":
            check_whole_numbers(counts, "emission='counts'")
        self.word_columns_, frequency = chosen_columns(counts, self.max_words, self.min_df)
        self.word_frequency_ = frequency.astype(np.float64)
        documents = self._documents(counts)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        checkpoint, resumed = self._open_checkpoint(expected_state(self), counts)
        if resumed is not None:  # with random_state=None every run draws another
            seed = resumed[1]["seed"]
        shuffled = np.random.RandomState(seed).permutation(documents.shape[0])
        with single_threaded_libraries():
            state, run = grow(self, documents, shuffled, seed, checkpoint, resumed)
            if run.finished:
                run = polish(self, documents, shuffled, seed, state, run.history, checkpoint, resumed)
            elif run.converged and checkpoint is not None:  # Ctrl-C in the last step of growing
                checkpoint.write(state, {"seed": seed, "grown": run.history, "history": []}, now=True)
            with hold_interrupts():
                tree = LatentTree.from_arrays(state)
                as_grown = self.emission == "counts" and "batches" not in state
                self._keep(documents, shuffled, with_rates(tree, documents) if as_grown else tree, run)
        if checkpoint is not None and run.finished:
            checkpoint.remove()
        return self

    def transform(self, X: CountsLike) -> np.ndarray:
        """P(topic | d) of every topic, one row per document; rows do not sum to one.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
        """
        check_is_fitted(self)
        return self._topics_of(self._documents(self.word_counts(X, np.float64)))

    def document_topics(self, X: CountsLike) -> np.ndarray:
        """P(topic | d) of documents, with the columns of `doc_topic_`; the same as `transform`."""
        return np.asarray(self.transform(X))

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit, and return P(topic | d) of the training documents, of shape (n_documents, n_topics)."""
        return self.fit(X).doc_topic_

    def memberships(self, X: CountsLike, threshold: float = 0.5) -> np.ndarray:
        """Which topics each document is in: those with P(topic | d) above `threshold`.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts
        threshold : float, default=0.5

        Returns
        -------
        ndarray of bool of shape (n_documents, n_topics)
        """
        return self.document_topics(X) > threshold

    def score(self, X: CountsLike, y: Any = None) -> float:
        """Mean log-likelihood per document, exactly.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts
        y : ignored

        Returns
        -------
        float
            In nats per document.
        """
        return float(self.log_likelihood(X).mean())

    def log_likelihood(self, X: CountsLike, *, words: np.ndarray | None = None) -> np.ndarray:
        """log P of each document over the words of the tree, in nats.

        `words` is a mask over the columns of X: the others are summed out, as if they were not known.
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
        """P(word is present | the words of d, or those of a mask over the columns), documents x columns of X.

        Of a word that was looked at, it is what its topics make of it. Words that are not in the tree have 0.
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
        """Documents drawn from the tree, documents x columns as X."""
        check_is_fitted(self)
        rng = check_random_state(random_state)
        drawn = sample_documents(self._tree(), n_documents, self.emission, rng)
        return sp.csr_array(
            (drawn.data, self.word_columns_[drawn.indices], drawn.indptr), (n_documents, self.n_features_in_)
        )

    def word_clusters(self) -> list[list[int]]:
        """The words of each latent next to them, by column: a partition of the words, the islands after all moves."""
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
        """The topics as a tree, each with its effective words by how well they discern it.

        Parameters
        ----------
        corpus : Corpus, optional
            The documents of the tree. Without it, or with the corpus of the fit, they are the training documents;
            another corpus is assigned to the topics first.
        levels : sequence of int, optional
            The levels to see, 1 next to the words.
        coverage : float, default=0.95
            How much of what all words below a latent tell about it its effective words tell; another value than the
            default needs the corpus.
        repeat : bool, default=False
            Whether a topic also shows words that the topic above it shows among its first ten.

        Returns
        -------
        TopicTree
        """
        check_is_fitted(self)
        known = corpus is None or self._is_fitted_on(corpus)
        doc_topic = self.doc_topic_ if known else self.document_topics(corpus)
        effective = self.topic_effective_
        if coverage != COVERAGE:
            if not 0 < coverage <= 1 or corpus is None:
                raise ValueError(f"coverage={coverage}: expected a share up to 1, and the corpus to measure it on")
            effective = self._effective(self._documents(self.word_counts(corpus)), coverage)
        tree = replace(
            self._one_level(doc_topic, corpus),
            parent=self.topic_parent_,
            level=self.topic_level_,
            word_score=effective,
            exclusive=False,
        )
        tree = tree if levels is None else tree.at_levels(levels)
        return tree if repeat else tree.without_repeated_words()

    def _n_outputs(self) -> int:
        return len(self.topic_word_)

    def _check_learned(self) -> None:
        check_tree(self.latent_parent_, self.n_states_, self.latent_table_, self.topic_latent_, self.topic_state_)

    def _prepare(self) -> None:
        """Nothing to prepare: new documents use the learned arrays as they are."""

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def _documents(self, counts: sp.csr_array) -> sp.csr_array:
        """The words of the tree alone, as presence or counts."""
        chosen = sp.csr_array(counts[:, self.word_columns_], dtype=np.float64)
        if self.emission == "presence":
            chosen.data = np.ones_like(chosen.data)
        return chosen

    def _keep(self, documents: sp.csr_array, shuffled: np.ndarray, tree: LatentTree, run: Run) -> None:
        tree = ordered_states(tree)
        self.word_parent_, self.word_table_ = tree.word_parent, tree.word_table
        self.latent_parent_, self.latent_level_ = tree.parent, tree.level
        self.n_states_, self.latent_table_ = tree.n_states, tree.table
        self.topic_latent_ = np.repeat(np.arange(tree.n_latents), tree.n_states - 1)
        self.topic_state_ = np.concatenate([np.arange(1, states) for states in tree.n_states])
        self.topic_level_ = tree.level[self.topic_latent_]
        self.topic_parent_ = topic_parents(tree, self.topic_latent_, self.topic_state_)
        self.topic_weight_ = state_marginals(tree)[self.topic_latent_, self.topic_state_].astype(np.float32)
        on = words_given_states(presence_table(tree, self.emission), self.n_jobs)
        self.topic_word_ = np.zeros((len(self.topic_latent_), self.n_features_in_), np.float32)
        self.topic_word_[:, self.word_columns_] = on[self.topic_latent_, self.topic_state_]
        sample = documents[np.sort(shuffled[:_INFORMATION_DOCUMENTS])]
        self.topic_effective_ = self._effective(sample, COVERAGE, on)
        self.doc_topic_ = self._topics_of(documents)
        self._keep_run(run)

    def _effective(self, documents: sp.csr_array, coverage: float, on: np.ndarray | None = None) -> sp.csr_array:
        tree = self._tree()
        if on is None:
            on = words_given_states(presence_table(tree, self.emission), self.n_jobs)
        topics = (self.topic_latent_, self.topic_state_, self.word_columns_, self.n_features_in_)
        return effective_word_scores(tree, on, documents, coverage, self.emission, *topics, self.n_jobs)

    def _topics_of(self, documents: sp.csr_array) -> np.ndarray:
        tree = self._tree()
        inference = Inference(tree, self.emission)
        if tree.table.shape[2] == 2:  # every latent has one topic, in the order of the latents
            return inference.beliefs(documents, np.arange(tree.n_latents), self.n_jobs, state=1)
        latents, place = np.unique(self.topic_latent_, return_inverse=True)
        result = np.empty((documents.shape[0], len(self.topic_latent_)), np.float32)
        for first in range(0, documents.shape[0], BATCH):
            rows = slice(first, first + BATCH)
            result[rows] = inference.beliefs(documents[rows], latents, self.n_jobs)[:, place, self.topic_state_]
        return result

    def _tree(self) -> LatentTree:
        latents = (self.latent_parent_, self.latent_level_, self.n_states_)
        return LatentTree(self.word_parent_, *latents, self.word_table_, self.latent_table_)

    def _seen(self, words: np.ndarray | None) -> np.ndarray | None:
        if words is None:
            return None
        words = np.asarray(words)
        if words.shape != (self.n_features_in_,) or words.dtype != bool:
            raise ValueError(f"words: expected a mask of {self.n_features_in_:,} booleans, one per column of X")
        return words[self.word_columns_]
