"""HLTA: a hierarchy of topics from a latent tree (Liu, Zhang and Chen 2014; progressive EM: Chen et al. 2016).

Words that occur together are grouped into islands, each below a latent variable; latents that go together are grouped
into islands of the next level, and so on. Every state of a latent except its background is a topic. Between two changes
of the tree there are a few EM steps on the whole tree, so it is a usable model at any time. The tree is built on a
sample of the documents if there are many; then EM runs on all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, starmap
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...corpus.corpus import Corpus
from ...engine.checks import check_choice, check_number, check_whole, check_whole_numbers
from ...engine.distributed.cluster import warn_local_only
from ...engine.loop import Run, State, step_size
from ...engine.mapped import pieces, release
from ...engine.stored import MAX_PROBABILITY, Stored
from ...errors import InputError
from ...topics.tree import TopicTree
from ..em.passes import CountRows
from ..estimator import StreamedTopicModel
from ..fit_loop import Fit, Stage, run_fit
from ..inputs import CountsLike, RandomStateLike
from .latent_tree import (
    Inference,
    LatentTree,
    Sums,
    log_factorials,
    m_step,
    ordered_states,
    presence_table,
    sample_documents,
    state_marginals,
    with_rates,
    words_given_states,
)
from .tree_building import PASSES, Growth, GrowthSettings
from .tree_topics import (
    TopicStates,
    best_words,
    effective_word_scores,
    effective_words,
    topic_parents,
    topic_probabilities,
)

__all__ = ["HLTA"]

_COVERAGE = 0.95  # effective words carry more than this share of the information of all words of a subtree
_INFORMATION_DOCUMENTS = 5_000  # the information of words about latents is measured on this many
_COUNTED_DOCUMENTS = 20_000  # and that of words about topics on this many
_MOST_TOPIC_WORDS = 50  # that a topic shows
_STRUCTURE_DOCUMENTS = 20_000  # the tree is built on at most this many, drawn at random
_BATCH_DOCUMENTS = 2_000  # per step of stepwise EM
_CELLS_PER_BLOCK, _ROWS_PER_BLOCK = 1 << 20, 1 << 16  # of counts that are processed together
_MOST_WORDS = 30_000  # the mutual information of all pairs is kept: 4 bytes each
_MOST_LEVELS = 64


# The contents of a checkpoint: a latent tree, and the progress of its growth or of EM on batches.
_STATE: Mapping[str, Stored] = {
    "seed": Stored((1,), "int", low=0, high=2**31, dtype="int64"),
    "parent": Stored(("latents",), "int", low=-1, high="latents", dtype="int64"),
    "level": Stored(("latents",), "int", low=1, high=_MOST_LEVELS, dtype="int64"),
    "n_states": Stored(("latents",), "int", low=2, dtype="int64"),
    "table": Stored(("latents", "states", "states"), low=0, high=MAX_PROBABILITY, dtype="float64"),
    "word_parent": Stored(("chosen words",), "int", low=0, high="latents", dtype="int64"),
    "word_table": Stored(("chosen words", "states"), low=0, dtype="float64"),
    "passes": Stored((1,), "int", low=0, dtype="int64"),
    "rounds": Stored((1,), "int", low=0, dtype="int64"),
    "batches": Stored((1,), "int", low=1, dtype="int64", may_be_missing=True),
    "word_sum": Stored(("chosen words", "states"), low=0, dtype="float64", may_be_missing=True),
    "pair_sum": Stored(("latents", "states", "states"), low=0, dtype="float64", may_be_missing=True),
    "state_sum": Stored(("latents", "states"), low=0, dtype="float64", may_be_missing=True),
}


def _check_tree(
    parent: np.ndarray, n_states: np.ndarray, table: np.ndarray, topic_latent: np.ndarray, topic_state: np.ndarray
) -> None:
    """Raise if the arrays are not a tree: kernels go through latents in order, from children to parents."""
    if parent[-1] != -1 or (parent[:-1] <= np.arange(len(parent) - 1)).any():
        raise InputError("its latents are not ordered with parents after their children")
    if n_states.max() > table.shape[2] or (topic_state >= n_states[topic_latent]).any():
        raise InputError("its tables have fewer states than its n_states")
    of_parent = np.append(n_states[parent[:-1]], 1)
    used = np.arange(table.shape[1]) < of_parent[:, None]
    if (np.abs(table.sum(axis=2) - 1)[used] > MAX_PROBABILITY - 1).any():
        raise InputError("the probabilities of its states do not sum to one")


def _check_state(values: Mapping[str, Any]) -> None:
    """Raise if the arrays of a checkpoint, each valid by itself, are inconsistent."""
    none = np.empty(0, np.int64)
    _check_tree(values["parent"], values["n_states"], values["table"], none, none)
    level, parent = values["level"], values["parent"]
    if (level[parent[:-1]] < level[:-1]).any() or (level[values["word_parent"]] != 1).any():
        raise InputError("its levels do not rise from the words to the root")
    sums = {"word_sum", "pair_sum", "state_sum"}
    if sums & set(values) and not (sums | {"batches"}) <= set(values):
        raise InputError("it has only some of the sums over batches")
    if "batches" in values and values["notes.stage"] == 0:
        raise InputError("it has batches, but its tree is still growing")


def _chosen_columns(counts: sp.csr_array, max_words: int | None, min_df: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns of the tree, and the number of documents with each word of the corpus."""
    n_documents, n_words = counts.shape
    if counts.nnz == 0:
        raise InputError(f"all {n_documents} documents are empty: there are no words to fit")
    frequency = np.zeros(n_words, np.int64)
    for piece in pieces(counts.indices):
        frequency += np.bincount(piece, minlength=n_words)
    columns = np.flatnonzero(frequency >= min_df)
    if len(columns) == 0:
        raise InputError(
            f"min_df={min_df} leaves none of {n_words:,} words; the most frequent is in {frequency.max():,} "
            "documents: lower min_df"
        )
    if max_words is not None and max_words < len(columns):
        tfidf = _sum_of_shares(counts) * np.log(n_documents / np.maximum(frequency, 1))
        columns = np.sort(columns[np.argsort(-tfidf[columns], kind="stable")[:max_words]])
    if len(columns) > _MOST_WORDS:
        raise InputError(
            f"{len(columns):,} words are more than HLTA can compare ({_MOST_WORDS:,}): keep the best "
            "with max_words, such as max_words=10000, or leave out rare ones with min_df"
        )
    return columns, frequency


def _sum_of_shares(counts: sp.csr_array) -> np.ndarray:
    """The sum of each word's shares of the documents."""
    rows, total = CountRows(counts, np.dtype(np.float64)), np.zeros(counts.shape[1])
    for first, last in rows.blocks(0, counts.shape[0], _CELLS_PER_BLOCK):
        indptr, indices, data = rows.cells(first, last)
        ends = np.concatenate([[0.0], np.cumsum(data)])
        lengths = np.diff(ends[indptr])
        total += np.bincount(indices, data / np.repeat(lengths, np.diff(indptr)), minlength=len(total))
        rows.done(first, last)
    return total


def _tree_documents(counts: sp.csr_array, columns: np.ndarray, emission: str) -> sp.csr_array:
    """Only the words of the tree, as presence or counts."""
    parts = []
    for first in range(0, max(counts.shape[0], 1), _ROWS_PER_BLOCK):
        part = sp.csr_array(counts[first : first + _ROWS_PER_BLOCK][:, columns], dtype=np.float64)
        if emission == "presence":
            part.data = np.ones_like(part.data)
        parts.append(part)
        release(counts.indices)
        release(counts.data)
    return parts[0] if len(parts) == 1 else sp.csr_array(sp.vstack(parts, format="csr"))


def _shuffled(state: State, n_documents: int) -> np.ndarray:
    """The numbers of the documents in the random order of a fit."""
    return np.random.RandomState(int(state["seed"][0])).permutation(n_documents)


class _Polish:
    """EM on all documents with a fixed tree: a pass or, with many documents, a pass in small batches.

    Changes the state in place and returns the log-likelihood per document before each step.
    """

    def __init__(self, model: HLTA, documents: sp.csr_array, batches: list[slice]) -> None:
        self.model, self.documents, self.batches = model, documents, batches
        self.mean = documents.mean(axis=0, dtype=np.float64)
        self.constant = log_factorials(documents, model.emission).mean()

    def __call__(self, state: State) -> float:
        tree, model = LatentTree.from_arrays(state), self.model
        total = 0.0
        for batch in self.batches:
            documents = self.documents if len(self.batches) == 1 else self.documents[batch]
            sums, log_likelihood = Inference(tree, model.emission).sums(documents, model.n_jobs)
            total += float(log_likelihood.sum())
            if len(self.batches) > 1:
                sums = self.mixed(sums, documents.shape[0], state)
            m_step(tree, sums, model.smoothing, self.mean)
        state.update(tree.arrays())
        return total / self.documents.shape[0] - self.constant

    def mixed(self, sums: Sums, n_documents: int, state: State) -> Sums:
        """Stepwise EM: the sums of this batch, scaled to all documents, mixed with those of the batches before."""
        share = step_size(int(state["batches"][0])) if "word_sum" in state else 1.0
        scale = self.documents.shape[0] / n_documents
        new = {f"{name}_sum": part * scale for name, part in sums._asdict().items()}
        for name, part in new.items():
            state[name] = part if share == 1 else (1 - share) * state[name] + share * part
        state["batches"] += 1
        return Sums(*(state[name] for name in new))


def _learned_batch(
    tree: LatentTree, documents: sp.csr_array, emission: str, smoothing: float, n_before: int, n_jobs: int | None
) -> tuple[LatentTree, float]:
    """The tree after a batch of a stream, with `n_before` batches before it, and the log-likelihood per document.

    The expected sums of earlier batches, per document, are those of the tree itself.
    """
    n_documents = max(documents.shape[0], 1)
    sums, log_likelihood = Inference(tree, emission).sums(documents, n_jobs)
    share, marginal = step_size(n_before), state_marginals(tree)
    above = np.zeros((tree.n_latents, tree.table.shape[1]))
    above[-1, 0] = 1
    above[:-1] = marginal[tree.parent[:-1]][:, : above.shape[1]]
    known = Sums(marginal[tree.word_parent] * tree.word_table, above[:, :, None] * tree.table, marginal)
    mean = (1 - share) * known.word.sum(axis=1) + share * documents.mean(axis=0, dtype=np.float64)
    mixed = Sums(*(n_documents * (1 - share) * old + share * new for old, new in zip(known, sums)))
    tree = LatentTree.from_arrays({name: array.copy() for name, array in tree.arrays().items()})
    m_step(tree, mixed, smoothing, mean)
    value = log_likelihood.sum() / n_documents - log_factorials(documents, emission).mean()
    return tree, float(value)


def _level_sizes(state: State) -> str:
    """The number of latents of each level."""
    return "latents " + " + ".join(f"{n:,}" for n in np.bincount(state["level"])[1:])


class HLTA(StreamedTopicModel):
    """Hierarchical latent tree analysis: a hierarchy of topics, whose number is learned.

    The model uses which words a document contains, not how often: counts become presence, unless emission='counts'. A
    document can be in any number of topics.

    Parameters
    ----------
    n_levels : int or None, default=None
        Number of levels; there are fewer if only two latents are left at the top. None adds levels until at most
        `top_size` latents are left. 1 gives a flat model, whose topics are clusters of words.
    top_size : int, default=20
        Maximum number of latents at the top, if `n_levels` is None.
    island_size : int, default=15
        Maximum number of words (or of topics of the level below) in an island when it is built. Words may move later.
    bic_threshold : float, default=3.0
        An island is split if two latents explain it better than one by more than this, in BIC. Larger values give fewer
        and larger islands.
    method : {'pem', 'bi'}, default='pem'
        How islands are found: 'pem' is progressive EM, whose latents have two states; 'bi' is bridged islands, whose
        latents have as many states as BIC supports (the method of the 2014 paper, far slower).
    emission : {'presence', 'counts'}, default='presence'
        How a topic models a word: by the probability that it is present, or by the Poisson rate of its count. The tree
        is built from presence in both cases.
    max_words : int or None, default=None
        Number of words to use: those with the highest mean tf-idf in at least `min_df` documents. None uses all.
    min_df : int, default=1
        Minimum number of documents that contain a word of the tree.
    n_relocations : int, default=2
        Number of rounds per level in which words, or topics of the level below, move to the latent that explains them
        best.
    smoothing : float, default=1.0
        Number of pseudo-documents in each state of a latent.
    max_iter : int, default=50
        Maximum number of EM passes after the tree is built.
    tol : float, default=0.01
        EM stops when the log-likelihood per document rises by less than this.
    batch_size : int, 'auto' or None, default='auto'
        Number of documents per step of stepwise EM. 'auto' uses batches of 2,000 if there are more than 20,000
        documents; None uses all documents in each step.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 uses all cores. The result does not depend on it.
    verbose : bool or None, default=None
        Whether to show progress. None shows it only on a terminal.
    checkpoint : str, Path or None, default=None
        File that keeps the state of the fit. A fit that was killed resumes from it; a finished fit removes it.

    Attributes
    ----------
    topic_word_ : ndarray of shape (n_topics, n_words)
        P(w present|topic), the probability of each word in documents of each topic. Also available as `components_`.
    topic_weight_ : ndarray of shape (n_topics,)
        P(topic), the share of the documents that are in each topic.
    topic_level_ : ndarray of shape (n_topics,)
        Level of each topic; 1 is next to the words.
    topic_parent_ : ndarray of shape (n_topics,)
        Row of the topic above; -1 at the top.
    topic_latent_ : ndarray of shape (n_topics,)
        The latent that each topic is a state of.
    topic_state_ : ndarray of shape (n_topics,)
        The state of that latent.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        P(topic|d) of the training documents. Rows do not sum to one.
    topic_information_ : sparse array of shape (n_topics, n_words)
        How much each of the best 50 words of a topic tells about whether a document is in it, in nats.
    topic_effective_ : sparse array of shape (n_topics, n_words)
        Discerning index of the effective words of each topic that are more likely in it: the fewest words below its
        latent that carry 95 % of the information that all of them have about it.
    word_columns_ : ndarray of shape (n_tree_words,)
        The columns of X that are in the tree.
    word_parent_ : ndarray of shape (n_tree_words,)
        Latent above each of these words.
    word_table_ : ndarray of shape (n_tree_words, n_states)
        P(w present|state) of these words, or with emission='counts' their rates.
    latent_parent_ : ndarray of shape (n_latents,)
        Parent of each latent; -1 at the root. The latents at the top are connected with each other.
    latent_level_ : ndarray of shape (n_latents,)
        Level of each latent.
    n_states_ : ndarray of shape (n_latents,)
        Number of states of each latent.
    latent_table_ : ndarray of shape (n_latents, n_states, n_states)
        P(state|state of the parent). The prior of the root is in its first row.
    word_frequency_ : ndarray of shape (n_words,)
        Number of training documents that contain each word.
    history_ : ndarray of shape (n_iter,)
        Log-likelihood per document before each pass.

    See Also
    --------
    TopicModel : The attributes and methods that all models have.
    LDA : Flat topics.
    TopicTree.group : Adds levels above the topics of a flat model.
    topicfold.plots.hierarchy : The hierarchy as a figure.

    References
    ----------
    Liu, T., Zhang, N. L. and Chen, P. (2014). Hierarchical latent tree analysis for topic detection. ECML PKDD.
    https://doi.org/10.1007/978-3-662-44851-9_17

    Chen, P., Zhang, N. L., Poon, L. K. M. and Chen, Z. (2016). Progressive EM for latent tree models and hierarchical
    topic detection. AAAI. https://doi.org/10.1609/aaai.v30i1.10196

    Examples
    --------
    >>> from topicfold import HLTA
    >>> import numpy as np
    >>> topic = np.repeat([[1, 0], [0, 1], [1, 1], [0, 0]], 20, axis=0)
    >>> model = HLTA(random_state=0).fit(topic.repeat(3, axis=1))
    >>> [sorted(words) for words in sorted(model.word_clusters())]
    [[0, 1, 2], [3, 4, 5]]
    """

    _stored: ClassVar[Mapping[str, Stored]] = {
        # probabilities, but not distributions: a word is present in several topics, and so is a document
        "topic_word_": Stored(("topics", "words"), low=0, high=MAX_PROBABILITY),
        "doc_topic_": Stored(("documents", "topics"), low=0, high=MAX_PROBABILITY),
        "topic_weight_": Stored(("topics",), low=0, high=MAX_PROBABILITY),
        "topic_level_": Stored(("topics",), "int", low=1),
        "topic_parent_": Stored(("topics",), "int", low=-1, high="topics"),
        "topic_state_": Stored(("topics",), "int", low=0),
        "topic_information_": Stored(("topics", "words"), "sparse"),
        "topic_effective_": Stored(("topics", "words"), "sparse"),
        "word_columns_": Stored(("chosen words",), "int", low=0, high="words"),
        "n_states_": Stored(("latents",), "int", low=2),
        "latent_parent_": Stored(("latents",), "int", low=-1, high="latents"),
        "latent_level_": Stored(("latents",), "int", low=1),
        "latent_table_": Stored(("latents", "states", "states"), low=0, high=MAX_PROBABILITY),
        "topic_latent_": Stored(("topics",), "int", low=0, high="latents"),
        "word_parent_": Stored(("chosen words",), "int", low=0, high="latents"),
        "word_table_": Stored(("chosen words", "states"), low=0),
    }
    score_unit = "nats per document"
    overlapping = True
    _uses_absent_words = True

    topic_level_: np.ndarray
    topic_parent_: np.ndarray
    topic_latent_: np.ndarray
    topic_state_: np.ndarray
    topic_information_: sp.csr_array
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
        parents = np.unique(tree.word_parent)
        beliefs = Inference(tree, self.emission, self._seen(words)).beliefs(documents, parents, self.n_jobs)
        home, table = np.searchsorted(parents, tree.word_parent), presence_table(tree, self.emission).word_table
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
        return self._in_columns(sample_documents(self._tree(), n_documents, self.emission, rng))

    def word_clusters(self) -> list[list[int]]:
        """Return the words below each latent of the lowest level: a partition of the words of the tree.

        Returns
        -------
        list of list of int
            Columns of X, one list per latent.
        """
        check_is_fitted(self)
        return [self.word_columns_[self.word_parent_ == z].tolist() for z in np.unique(self.word_parent_)]

    def topic_tree(
        self,
        corpus: Corpus | None = None,
        *,
        levels: Sequence[int] | None = None,
        repeat: bool = False,
    ) -> TopicTree:
        """Return the topics as a TopicTree; the words of a topic are ranked by how much they tell about it.

        Parameters
        ----------
        corpus : Corpus, default=None
            The documents of the tree. None, or the corpus of the fit, gives the training documents; another corpus is
            assigned to the topics first.
        levels : sequence of int, default=None
            The levels to include; 1 is next to the words. None includes all.
        repeat : bool, default=False
            Whether a topic also shows words that are among the first ten of the topic above it.

        Returns
        -------
        TopicTree
            The topics with their words and documents.
        """
        check_is_fitted(self)
        known = corpus is None or self._is_fitted_on(corpus)
        doc_topic = self.doc_topic_ if known else self.document_topics(corpus)
        tree = replace(
            self._one_level(doc_topic, corpus),
            parent=self.topic_parent_,
            level=self.topic_level_,
            word_score=self.topic_information_,
            exclusive=False,
        )
        tree = tree if levels is None else tree.select_levels(levels)
        return tree if repeat else tree.drop_repeated_words()

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def _fit(self, X: CountsLike, y: Any) -> None:
        # counts on disk are used unchanged: float32, in which whole numbers are exact
        counts = self._fit_counts(X, np.float32 if isinstance(X, Corpus) and X.on_disk else np.float64)
        if self.emission == "counts":
            check_whole_numbers(counts, "emission='counts'")
        self.word_columns_, frequency = _chosen_columns(counts, self.max_words, self.min_df)
        self.word_frequency_ = frequency.astype(np.float64)
        documents = self._documents(counts)
        warn_local_only("HLTA learns its tree from small batches, one after another: it runs on this machine")

        def start(random_state: RandomStateLike) -> State:
            seed = {"seed": check_random_state(random_state).randint(np.iinfo(np.int32).max, size=1, dtype=np.int64)}
            return self._growth(documents, seed).start() | seed

        def stages(state: State) -> Iterator[Stage]:
            yield self._growing(documents, state)
            yield self._polishing(documents, state)

        def keep(state: State, run: Run) -> None:
            tree = LatentTree.from_arrays(state)
            as_grown = self.emission == "counts" and "batches" not in state
            self._keep(
                documents, _shuffled(state, documents.shape[0]), with_rates(tree, documents) if as_grown else tree
            )
            self._keep_run(run)

        sizes = {"chosen words": len(self.word_columns_)}
        run_fit(self, Fit((counts,), [self.random_state], start, stages, keep, _STATE, sizes, _check_state, n_stages=2))

    def _growth(self, documents: sp.csr_array, state: State) -> Growth:
        """The steps that build the tree, on the documents or a sample of them."""
        sample = documents[np.sort(_shuffled(state, documents.shape[0])[:_STRUCTURE_DOCUMENTS])]
        sample.data = np.ones_like(sample.data)
        settings = GrowthSettings(**{name: getattr(self, name) for name in GrowthSettings._fields})
        return Growth(settings, sample, int(state["seed"][0]))

    def _growing(self, documents: sp.csr_array, state: State) -> Stage:
        """The stage that builds the tree."""
        steps_per_level = PASSES * (1 + self.n_relocations)
        # a guess for the progress bar
        n_levels = int(np.ceil(np.log(max(len(self.word_columns_) / self.top_size, 2)) / np.log(5)))
        return Stage(
            self._growth(documents, state),
            max_iter=steps_per_level * (self.n_levels or _MOST_LEVELS),
            tol=0,
            expected=steps_per_level * (self.n_levels or n_levels),
            note=lambda: f"growing, {_level_sizes(state)}",
        )

    def _polishing(self, documents: sp.csr_array, state: State) -> Stage:
        """EM on all documents; with emission='counts', its likelihood is not that of the growing tree."""
        n_documents, size = documents.shape[0], self.batch_size
        if size == "auto":
            size = _BATCH_DOCUMENTS if n_documents > _STRUCTURE_DOCUMENTS else None
        n_batches = 1 if size is None else -(-n_documents // int(size))
        ends = np.linspace(0, n_documents, n_batches + 1).astype(int)  # a small last batch would weigh too much
        if "batches" not in state:
            if self.emission == "counts":
                state.update(with_rates(LatentTree.from_arrays(state), documents).arrays())
            # the documents that the tree was built on count as seen batches
            state["batches"] = np.array([1 + min(_STRUCTURE_DOCUMENTS, n_documents) * n_batches // n_documents])
        shuffled = documents if n_batches == 1 else documents[_shuffled(state, n_documents)]
        return Stage(
            _Polish(self, shuffled, list(starmap(slice, pairwise(ends)))),
            self.max_iter,
            self.tol,
            restarts_history=self.emission == "counts",
            note=lambda: _level_sizes(state),
        )

    def _check_stream(self) -> None:
        """Batches can be learned with any parameters."""

    def _learn_batch(self, counts: sp.csr_array, y: Any) -> None:
        self.word_frequency_ = self.word_frequency_ + np.bincount(counts.indices, minlength=counts.shape[1])
        documents, n_before = self._documents(counts), getattr(self, "n_batches_", 1)
        tree, value = _learned_batch(self._tree(), documents, self.emission, self.smoothing, n_before, self.n_jobs)
        self._keep(documents, np.arange(documents.shape[0]), tree)
        self._keep_run(Run([*self.history_, value], False, True))
        self.n_batches_ = n_before + 1

    def _keep(self, documents: sp.csr_array, shuffled: np.ndarray, tree: LatentTree) -> None:
        tree = ordered_states(tree)
        self.word_parent_, self.word_table_ = tree.word_parent, tree.word_table
        self.latent_parent_, self.latent_level_ = tree.parent, tree.level
        self.n_states_, self.latent_table_ = tree.n_states, tree.table
        topics = TopicStates.of(tree)
        self.topic_latent_, self.topic_state_ = topics
        self.topic_level_ = tree.level[self.topic_latent_]
        self.topic_parent_ = topic_parents(tree, topics)
        self.topic_weight_ = state_marginals(tree)[self.topic_latent_, self.topic_state_].astype(np.float32)
        on = words_given_states(presence_table(tree, self.emission), self.n_jobs)
        self.topic_word_ = np.zeros((len(self.topic_latent_), self.n_features_in_), np.float32)
        self.topic_word_[:, self.word_columns_] = on[self.topic_latent_, self.topic_state_]
        sample = documents[np.sort(shuffled[:_INFORMATION_DOCUMENTS])]
        self.topic_effective_ = self._effective(sample, on)
        self.doc_topic_ = self._topics_of(documents)
        counted = np.sort(shuffled[:_COUNTED_DOCUMENTS])
        best = best_words(documents[counted], self.doc_topic_[counted], _MOST_TOPIC_WORDS)
        self.topic_information_ = self._in_columns(best)

    # ---- documents --------------------------------------------------------------------------------------------------

    def _document_topics(self, X: CountsLike) -> np.ndarray:
        return self._topics_of(self._documents(self.word_counts(X, np.float64)))

    def _score(self, X: CountsLike) -> float:
        return float(self.log_likelihood(X).mean())

    def _check_learned(self) -> None:
        _check_tree(self.latent_parent_, self.n_states_, self.latent_table_, self.topic_latent_, self.topic_state_)

    def _documents(self, counts: sp.csr_array) -> sp.csr_array:
        return _tree_documents(counts, self.word_columns_, self.emission)

    def _effective(self, documents: sp.csr_array, on: np.ndarray) -> sp.csr_array:
        tree = self._tree()
        bases = effective_words(tree, on, documents, _COVERAGE, self.emission, self.n_jobs)
        topics = TopicStates(self.topic_latent_, self.topic_state_)
        return self._in_columns(effective_word_scores(tree, topics, bases, on))

    def _in_columns(self, words: sp.csr_array) -> sp.csr_array:
        """The matrix with the columns of X instead of those of the tree."""
        shape = (words.shape[0], self.n_features_in_)
        return sp.csr_array((words.data, self.word_columns_[words.indices], words.indptr), shape)

    def _topics_of(self, documents: sp.csr_array) -> np.ndarray:
        topics = TopicStates(self.topic_latent_, self.topic_state_)
        return topic_probabilities(self._tree(), topics, documents, self.emission, self.n_jobs)

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
