"""HLTA: a hierarchy of topics from a latent tree (Liu, Zhang and Chen 2014; progressive EM: Chen et al. 2016).

Words that occur together are grouped into islands, each below a latent variable; latents that go together are grouped
into islands of the next level, and so on. Every state of a latent except its background is a topic. Between two changes
of the tree there are a few EM steps on the whole tree, so it is a usable model at any time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ...corpus.corpus import Corpus
from ...engine.blocks import single_threaded_libraries
from ...engine.checks import check_choice, check_number, check_whole, check_whole_numbers
from ...engine.distributed.cluster import warn_local_only
from ...engine.loop import Run, hold_interrupts
from ..inputs import CountsLike, RandomStateLike
from .fit_stages import grow, polish
from .hlta_learned import expected_state
from .latent_tree import (
    LatentTree,
    ordered_states,
    presence_table,
    state_marginals,
    with_rates,
    words_given_states,
)
from .latent_tree_model import COVERAGE, LatentTreeModel
from .tree_growth import learned_batch
from .tree_topics import topic_parents
from .word_choice import chosen_columns

__all__ = ["HLTA"]

_INFORMATION_DOCUMENTS = 5_000  # the information of words about topics is measured on this many


class HLTA(LatentTreeModel):
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
    topic_effective_ : sparse array of shape (n_topics, n_words)
        Discerning index of the effective words of each topic that are more likely in it.
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
    n_iter_ : int
        Number of passes.
    converged_ : bool
        Whether `tol` was reached within `max_iter` passes.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.
    wordless_ : ndarray of int of shape (n_wordless,)
        Rows of the training documents without a known word.
    n_batches_ : int
        Number of batches that `partial_fit` has learned from. Defined only after `partial_fit`.
    n_features_in_ : int
        Number of words.
    feature_names_in_ : ndarray of shape (n_words,)
        Column names. Defined only if X was a data frame.
    vocabulary_ : tuple of str or None
        The words, if X was a Corpus or texts.
    preprocessing_ : Preprocessing or None
        How texts are turned into words, if that is known.
    document_ids_ : sequence of str or None
        Ids of the training documents, if X was a Corpus or texts.
    document_titles_ : sequence of str or None
        Titles of the training documents, if X was a Corpus with titles.
    corpus_hash_ : str or None
        Hash of the training counts. It tells whether a corpus is the one that the model was fitted on.

    See Also
    --------
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
        """Check the parameters of the model; `fit` does so first.

        Raises
        ------
        InputError
            If the model cannot use a parameter. The message names it and what was expected.
        """
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
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        object
            The model itself, fitted.

        Raises
        ------
        InputError
            If a parameter or X cannot be used, for example if no word is left or there are too many words.
        """
        self.check_parameters()
        # counts on disk are used unchanged: float32, in which whole numbers are exact
        counts = self._fit_counts(X, np.float32 if isinstance(X, Corpus) and X.on_disk else np.float64)
        if self.emission == "counts":
            check_whole_numbers(counts, "emission='counts'")
        self.word_columns_, frequency = chosen_columns(counts, self.max_words, self.min_df)
        self.word_frequency_ = frequency.astype(np.float64)
        documents = self._documents(counts)
        warn_local_only("HLTA learns its tree from small batches, one after another: it runs on this machine")
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        checkpoint, resumed = self._open_checkpoint(expected_state(self), counts)
        if resumed is not None:  # with random_state=None every run draws another seed
            seed = resumed[1]["seed"]
        shuffled = np.random.RandomState(seed).permutation(documents.shape[0])
        with single_threaded_libraries():
            state, run = grow(self, documents, shuffled, seed, checkpoint, resumed)
            if run.finished:
                run = polish(self, documents, shuffled, seed, state, run.history, checkpoint, resumed)
            elif run.converged and checkpoint is not None:  # Ctrl-C in the last step of growing
                checkpoint.write(state, {"seed": seed, "grown": run.history, "history": []})
            with hold_interrupts():
                tree = LatentTree.from_arrays(state)
                as_grown = self.emission == "counts" and "batches" not in state
                self._keep(documents, shuffled, with_rates(tree, documents) if as_grown else tree, run)
        if checkpoint is not None and run.finished:
            checkpoint.remove()
        return self

    def partial_fit(self, X: CountsLike, y: Any = None) -> Self:
        """Learn from one more batch of a stream of documents, by stepwise EM.

        The first batch is fitted as by `fit` and determines the tree and its words; further batches change its
        probabilities. Batches are not kept: `doc_topic_` belongs to the last batch, and `history_` has the
        log-likelihood per document of each batch before the model learned from it.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        object
            The model itself, fitted.

        Raises
        ------
        InputError
            If X or a parameter cannot be used.
        """
        if not hasattr(self, "topic_word_"):
            self.fit(X)
            self.n_batches_, self.history_ = 1, self.history_[-1:]
            return self
        counts = self.word_counts(X, np.float64)
        self.word_frequency_ = self.word_frequency_ + np.bincount(counts.indices, minlength=counts.shape[1])
        documents, n_before = self._documents(counts), getattr(self, "n_batches_", 1)
        tree, value = learned_batch(self._tree(), documents, self.emission, self.smoothing, n_before, self.n_jobs)
        self._remember_documents(X, counts)
        self._keep(documents, np.arange(documents.shape[0]), tree, Run([*self.history_, value], False, True))
        self.n_batches_ = n_before + 1
        return self

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit the model and return P(topic|d) of the training documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Memberships, one row per document. Rows do not sum to one.
        """
        return self.fit(X).doc_topic_

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
