"""HLTA: a hierarchy of topics from a latent tree (Liu, Zhang and Chen 2014; progressive EM: Chen et al. 2016).

Words that occur together are cut into islands, each below a latent variable; latents that go together are cut into
islands of the next level, and so on. Every state of a latent but its background is a topic. Between two changes of
the tree come a few steps of EM on the whole of it, so at any time it is a model that can be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...engine.arrays import content_hash
from ...engine.blocks import single_threaded_libraries
from ...engine.checks import check_whole_numbers
from ...engine.loop import Checkpoint, Run, State, fingerprint, hold_interrupts, iterate
from ..inputs import as_counts, count_tags, vocabulary_of
from .latent_tree import Inference, LatentTree, state_marginals
from .tree_growth import PASSES, Growth, Polish, level_sizes, log_factorials, presence_table, with_rates
from .tree_topics import discerning_index, effective_words, ordered_states, topic_parents
from .tree_words import sample_documents, words_given_states

if TYPE_CHECKING:
    from ...corpus.corpus import Corpus
    from ...topics.tree import TopicTree

__all__ = ["EMISSIONS", "HLTA", "METHODS"]

METHODS = ("pem", "bi")
EMISSIONS = ("presence", "counts")
COVERAGE = 0.95  # of what all words of a subtree tell, its effective words tell more
_STRUCTURE_DOCUMENTS = 20_000  # the tree is built on at most so many, drawn at random
_INFORMATION_DOCUMENTS = 5_000  # and what words tell about topics is measured on so many
_BATCH = 2_000  # documents of a step of stepwise EM
_MOST_WORDS = 30_000  # the mutual information of all pairs is kept: 4 bytes each


class HLTA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Hierarchical latent tree analysis: topics over topics, as many as the data have.

    The model looks at which words a document has, not at how often: counts become presence, unless emission='counts'.

    Parameters
    ----------
    n_levels : number of levels, fewer where two latents are left at the top; None adds levels until at most `top_size`
        are. 1 is a flat model, whose topics are clusters of words.
    top_size : see n_levels.
    island_size : the most words (or topics of the level below) of an island when it is made; they move later.
    delta : how much better, in BIC, two latents must explain an island than one before it is cut. Larger values give
        fewer and larger islands.
    method : 'pem' (progressive EM, latents with two states) or 'bi' (bridged islands, as many states as pay off; the
        2014 paper's, and far slower).
    emission : 'presence', or 'counts': a word's count has a Poisson rate in each state, on a tree built by presence.
    n_words : choose so many words, those with the highest mean tf-idf in at least `min_df` documents; None takes all.
    min_df : see n_words; without n_words rarer words are left out as well.
    n_relocations : rounds at each level in which words, or topics of the level below, move to the latent that explains
        them best.
    smoothing : pseudo-documents in each state of a latent.
    max_iter, tol : EM once the tree stands ends after so many passes, or when log-likelihood a document rises by less.
    batch_size : documents of a step of stepwise EM; 'auto' takes batches of 2,000 above 20,000 documents; None goes
        over all of them for each step.
    random_state, n_jobs, verbose, checkpoint : as in PLSA.

    Attributes
    ----------
    topic_word_ : P(w present | topic), also as components_. topic_weight_ : P(topic).
    topic_level_ : 1 is next to the words. topic_parent_ : row of the topic above, -1 at the top.
    topic_latent_, topic_state_ : which state of which latent a topic is.
    doc_topic_ : P(topic | d) of the training documents; a document is in any number of topics.
    topic_effective_ : discerning index of each topic's effective words that are likelier in it, topics x words, sparse.
    word_columns_ : the columns of X that are in the tree. word_parent_ : their latents. word_table_ : P(w present |
        state), or the rate of w.
    latent_parent_ : -1 at the root; latents at the top hang from each other. latent_level_, n_states_,
    latent_table_ : P(state | state of the parent); the root's prior is in its first row.
    word_frequency_ : documents with each word. history_ : log-likelihood a document before each pass.
    n_iter_, converged_, interrupted_ : as in PLSA.

    Examples
    --------
    >>> from topicfold import HLTA
    >>> import numpy as np
    >>> topic = np.repeat([[1, 0], [0, 1], [1, 1], [0, 0]], 20, axis=0)
    >>> model = HLTA().fit(topic.repeat(3, axis=1))
    >>> [sorted(words) for words in sorted(model.word_clusters())]
    [[0, 1, 2], [3, 4, 5]]
    """

    topic_word_: np.ndarray
    doc_topic_: np.ndarray
    history_: np.ndarray

    def __init__(
        self,
        n_levels: int | None = None,
        top_size: int = 20,
        island_size: int = 15,
        delta: float = 3.0,
        *,
        method: str = "pem",
        emission: str = "presence",
        n_words: int | None = None,
        min_df: int = 1,
        n_relocations: int = 2,
        smoothing: float = 1.0,
        max_iter: int = 50,
        tol: float = 0.01,
        batch_size: int | str | None = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_levels = n_levels
        self.top_size = top_size
        self.island_size = island_size
        self.delta = delta
        self.method = method
        self.emission = emission
        self.n_words = n_words
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

    def fit(self, X: Any, y: Any = None) -> HLTA:
        """Learn the tree from documents x words; y is ignored."""
        self._check_parameters()
        counts = as_counts(self, X, reset=True, dtype=np.float64)
        if self.emission == "counts":
            check_whole_numbers(counts, "emission='counts'")
        self._choose_words(counts)
        documents = self._documents(counts)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        shuffled = np.random.RandomState(seed).permutation(documents.shape[0])
        checkpoint = None if self.checkpoint is None else Checkpoint(self.checkpoint, fingerprint(self, counts))
        resumed = None if checkpoint is None else checkpoint.read()
        with single_threaded_libraries():
            state, run = self._grow(documents, shuffled, seed, checkpoint, resumed)
            if run.finished:
                run = self._polish(documents, shuffled, state, run.history, checkpoint, resumed)
            elif run.converged and checkpoint is not None:  # Ctrl-C in the last step of growing
                checkpoint.write(state, {"grown": run.history, "history": []}, now=True)
            with hold_interrupts():
                tree = LatentTree.from_arrays(state)
                as_grown = self.emission == "counts" and "batches" not in state
                self._keep(documents, shuffled, with_rates(tree, documents) if as_grown else tree, run)
        if checkpoint is not None and run.finished:
            checkpoint.remove()
        return self

    def transform(self, X: Any) -> np.ndarray:
        """P(topic | d) of every topic, one row a document; rows do not sum to one."""
        check_is_fitted(self)
        return self._memberships(self._documents(as_counts(self, X, reset=False, dtype=np.float64)))

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return the memberships of the training documents."""
        return self.fit(X).doc_topic_

    def predict(self, X: Any) -> np.ndarray:
        """Which topics each document is in, documents x topics: those more likely than not."""
        return np.asarray(self.transform(X)) > 0.5

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood a document, exactly."""
        return float(self.log_likelihood(X).mean())

    def log_likelihood(self, X: Any, *, words: np.ndarray | None = None) -> np.ndarray:
        """log P of each document over the words of the tree, in nats.

        `words` is a mask over the columns of X: the others are summed out, as if they were not known.
        """
        check_is_fitted(self)
        documents = self._documents(as_counts(self, X, reset=False, dtype=np.float64))
        if self.emission == "counts":
            check_whole_numbers(documents, "the likelihood of counts")
        seen = self._seen(words)
        inference = Inference(self._tree(), self.emission, seen)
        visible = documents if seen is None else sp.csr_array(documents.multiply(seen[None]))
        return inference.log_likelihood(documents, self.n_jobs) - log_factorials(visible, self.emission)

    def word_probability(self, X: Any, *, words: np.ndarray | None = None) -> np.ndarray:
        """P(word is present | the words of d, or those of a mask over the columns), documents x columns of X.

        Of a word that was looked at, it is what its topics make of it. Words that are not in the tree have 0.
        """
        check_is_fitted(self)
        documents = self._documents(as_counts(self, X, reset=False, dtype=np.float64))
        tree = self._tree()
        first = np.unique(tree.word_parent)
        beliefs = Inference(tree, self.emission, self._seen(words)).beliefs(documents, first, self.n_jobs)
        home, table = np.searchsorted(first, tree.word_parent), presence_table(tree, self.emission).word_table
        result = np.zeros((documents.shape[0], self.n_features_in_), np.float32)
        for column, w in zip(self.word_columns_, range(tree.n_words)):
            result[:, column] = beliefs[:, home[w]] @ table[w].astype(np.float32)
        return result

    def sample(self, n_documents: int = 1, random_state: Any = None) -> sp.csr_array:
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
        """The topics as a tree: each with its effective words, by how well they discern it.

        `levels` are those to see, 1 next to the words. `coverage` is how much of what all words below a latent tell
        about it its effective words tell; another than 0.95 needs the corpus. With `repeat` a topic also shows words
        that the topic above it shows among its first ten.
        """
        from ...topics.tree import TopicTree

        check_is_fitted(self)
        doc_topic, document_ids, titles = self.doc_topic_, self.document_ids_, None
        if corpus is not None:
            titles = corpus.titles
            if corpus.ids != document_ids or content_hash(corpus.counts) != self.corpus_hash_:
                doc_topic, document_ids = np.asarray(self.transform(corpus)), corpus.ids
        effective = self.topic_effective_
        if coverage != COVERAGE:
            if not 0 < coverage <= 1 or corpus is None:
                raise ValueError(f"coverage={coverage}: expected a share up to 1, and the corpus to measure it on")
            effective = self._effective(self._documents(as_counts(self, corpus, reset=False)), coverage)
        ids = np.arange(len(self.topic_word_))
        tree = TopicTree(
            ids=ids,
            parent=self.topic_parent_,
            level=self.topic_level_,
            size=doc_topic.mean(axis=0, dtype=np.float64),
            topic_word=self.topic_word_,
            doc_topic=doc_topic,
            word_frequency=self.word_frequency_,
            vocabulary=tuple(vocabulary_of(self) or [f"word {column}" for column in range(self.n_features_in_)]),
            document_ids=document_ids or tuple(map(str, range(len(doc_topic)))),
            titles=titles,
            word_score=effective,
            exclusive=False,
            mapping={int(topic): int(topic) for topic in ids},
        )
        tree = tree if levels is None else tree.at_levels(levels)
        return tree if repeat else tree.without_repeated_words()

    @property
    def components_(self) -> np.ndarray:
        """P(w present | topic), by scikit-learn's name."""
        return self.topic_word_

    @property
    def _n_features_out(self) -> int:
        return len(self.topic_word_)

    def __sklearn_tags__(self) -> Any:
        return count_tags(super().__sklearn_tags__())

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        numbers = {"top_size": 1, "island_size": 3, "max_iter": 1, "n_relocations": 0, "min_df": 1}
        optional = {"n_levels": 1, "n_words": 1}
        given = {name: getattr(self, name) for name in (*numbers, *optional)}
        if self.batch_size != "auto":
            optional["batch_size"], given["batch_size"] = 1, self.batch_size
        for name, value in given.items():
            least = {**numbers, **optional}[name]
            if value is None and name in optional:
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                also = ", or None" if name in optional else ""
                raise ValueError(f"{name}={value!r}: expected a whole number, at least {least}{also}")
        for name in ("delta", "tol", "smoothing"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
                raise ValueError(f"{name}={value!r}: expected a number, zero or more")
        for name, choices in (("method", METHODS), ("emission", EMISSIONS)):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}={getattr(self, name)!r}: expected one of {', '.join(choices)}")

    def _choose_words(self, counts: sp.csr_array) -> None:
        """Set word_columns_ and word_frequency_."""
        n_documents, n_words = counts.shape
        if counts.nnz == 0:
            raise ValueError(f"all {n_documents} documents are empty: there is not one word to fit")
        frequency = np.bincount(counts.indices, minlength=n_words)
        columns = np.flatnonzero(frequency >= self.min_df)
        if len(columns) == 0:
            raise ValueError(
                f"min_df={self.min_df} leaves none of {n_words:,} words; the most frequent is in "
                f"{frequency.max():,} documents: lower min_df"
            )
        if self.n_words is not None and self.n_words < len(columns):
            shares = counts.data / np.repeat(counts.sum(axis=1), np.diff(counts.indptr))
            tfidf = np.bincount(counts.indices, shares, minlength=n_words)
            tfidf *= np.log(n_documents / np.maximum(frequency, 1))
            columns = np.sort(columns[np.argsort(-tfidf[columns], kind="stable")[: self.n_words]])
        if len(columns) > _MOST_WORDS:
            raise ValueError(
                f"{len(columns):,} words are more than HLTA compares with each other ({_MOST_WORDS:,}): choose the "
                "best with n_words, such as n_words=10000, or leave out rare ones with min_df"
            )
        self.word_columns_, self.word_frequency_ = columns, frequency.astype(np.float64)

    def _documents(self, counts: sp.csr_array) -> sp.csr_array:
        """The words of the tree alone, as presence or counts."""
        chosen = sp.csr_array(counts[:, self.word_columns_], dtype=np.float64)
        if self.emission == "presence":
            chosen.data = np.ones_like(chosen.data)
        return chosen

    def _grow(
        self, documents: sp.csr_array, shuffled: np.ndarray, seed: int, checkpoint: Checkpoint | None, resumed: Any
    ) -> tuple[State, Run]:
        """Build the tree on the documents, or a sample of them; or take up what was resumed."""
        if resumed is not None and resumed[1]["grown"] is not None:
            return resumed[0], Run(resumed[1]["grown"], False, True)
        sample = documents[np.sort(shuffled[:_STRUCTURE_DOCUMENTS])]
        sample.data = np.ones_like(sample.data)
        growth = Growth(self, sample, seed)
        if resumed is None:
            state, history = growth.start(), []
            if checkpoint is not None:
                checkpoint.write(state, {"grown": None, "history": []})
        else:
            state, history = resumed[0], resumed[1]["history"]
        a_level = PASSES * (1 + self.n_relocations)
        shrinking = np.log(max(len(self.word_columns_) / self.top_size, 2)) / np.log(5)  # a guess for the bar
        run = iterate(
            growth,
            state,
            max_iter=a_level * (self.n_levels or 64),
            expected=a_level * (self.n_levels or int(np.ceil(shrinking))),
            tol=0,
            title="HLTA tree",
            unit="nats a document",
            note=lambda: level_sizes(state),
            verbose=self.verbose,
            checkpoint=checkpoint,
            notes={"grown": None},
            history=history,
        )
        return state, run

    def _polish(
        self,
        documents: sp.csr_array,
        shuffled: np.ndarray,
        state: State,
        grown: list[float],
        checkpoint: Checkpoint | None,
        resumed: Any,
    ) -> Run:
        """EM on all documents; the history is that of the whole fit, or of counts where the tree grew on presence."""
        n_documents = documents.shape[0]
        size = self.batch_size
        if size == "auto":
            size = _BATCH if n_documents > _STRUCTURE_DOCUMENTS else None
        n_batches = 1 if size is None else -(-n_documents // int(size))
        ends = np.linspace(0, n_documents, n_batches + 1).astype(int)  # a few documents left over would weigh too much
        history: list[float] = []
        if "batches" in state:
            history = resumed[1]["history"]
        else:
            if self.emission == "counts":
                state.update(with_rates(LatentTree.from_arrays(state), documents).arrays())
            # what the tree was built on counts as batches that were seen
            state["batches"] = np.array([1 + min(_STRUCTURE_DOCUMENTS, n_documents) * n_batches // n_documents])
        run = iterate(
            Polish(self, documents if n_batches == 1 else documents[shuffled], list(starmap(slice, pairwise(ends)))),
            state,
            max_iter=self.max_iter,
            tol=self.tol,
            title="HLTA",
            unit="nats a document",
            note=lambda: level_sizes(state),
            verbose=self.verbose,
            checkpoint=checkpoint,
            notes={"grown": grown},
            history=history,
        )
        return run._replace(history=[*(grown if self.emission == "presence" else []), *run.history])

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
        self.doc_topic_ = self._memberships(documents)
        self.history_ = np.array(run.history)
        self.n_iter_ = len(run.history)
        self.converged_ = run.converged
        self.interrupted_ = not run.finished

    def _effective(self, documents: sp.csr_array, coverage: float, on: np.ndarray | None = None) -> sp.csr_array:
        """Discerning index of the effective words of each topic, where they are likelier in it than elsewhere."""
        tree = self._tree()
        if on is None:
            on = words_given_states(presence_table(tree, self.emission), self.n_jobs)
        bases = effective_words(tree, on, documents, coverage, self.emission, self.n_jobs)
        prior = state_marginals(tree)
        columns, values = [], []
        for z, s in zip(self.topic_latent_, self.topic_state_):
            share, p = prior[z, : tree.n_states[z]], on[z, : tree.n_states[z]][:, bases[z]].astype(np.float64)
            typical = p[s] >= share @ p  # a word may also discern a topic by not being in it
            typical |= not typical.any()
            columns.append(self.word_columns_[bases[z][typical]])
            # a stored zero would be no word of the topic
            values.append(np.maximum(discerning_index(p, share)[s, typical], np.finfo(np.float64).tiny))
        indptr = np.cumsum([0, *map(len, columns)])
        shape = (len(columns), self.n_features_in_)
        effective = sp.csr_array((np.concatenate(values), np.concatenate(columns), indptr), shape)
        effective.sort_indices()
        return effective

    def _memberships(self, documents: sp.csr_array) -> np.ndarray:
        tree = self._tree()
        inference = Inference(tree, self.emission)
        if tree.table.shape[2] == 2:  # every latent has one topic, in the order of the latents
            return inference.beliefs(documents, np.arange(tree.n_latents), self.n_jobs, state=1)
        latents, place = np.unique(self.topic_latent_, return_inverse=True)
        result = np.empty((documents.shape[0], len(self.topic_latent_)), np.float32)
        for first in range(0, documents.shape[0], _BATCH):
            rows = slice(first, first + _BATCH)
            result[rows] = inference.beliefs(documents[rows], latents, self.n_jobs)[:, place, self.topic_state_]
        return result

    def _tree(self) -> LatentTree:
        return LatentTree(
            self.word_parent_,
            self.latent_parent_,
            self.latent_level_,
            self.n_states_,
            self.word_table_,
            self.latent_table_,
        )

    def _seen(self, words: np.ndarray | None) -> np.ndarray | None:
        if words is None:
            return None
        words = np.asarray(words)
        if words.shape != (self.n_features_in_,) or words.dtype != bool:
            raise ValueError(f"words: expected a mask of {self.n_features_in_:,} booleans, one a column of X")
        return words[self.word_columns_]
