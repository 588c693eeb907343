"""HLTA: a hierarchy of topics from a latent tree (Liu, Zhang and Chen 2014; progressive EM: Chen et al. 2016).

Words that occur together are cut into islands, each below a latent variable; latents that go together are cut into
islands of the next level, and so on. Every state of a latent but its background is a topic. Between two changes of
the tree come a few steps of EM on the whole of it, so at any time it is a model that can be used.
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
from ...engine.cluster import say_here
from ...engine.loop import Run, hold_interrupts
from ..inputs import CountsLike, RandomStateLike
from .fit_stages import grow, polish
from .hlta_learned import expected_state
from .latent_tree import LatentTree, state_marginals
from .latent_tree_model import COVERAGE, LatentTreeModel
from .tree_growth import learned_batch, presence_table, with_rates
from .tree_topics import ordered_states, topic_parents
from .tree_words import words_given_states
from .word_choice import chosen_columns

__all__ = ["HLTA"]

_INFORMATION_DOCUMENTS = 5_000  # what words tell about topics is measured on so many


class HLTA(LatentTreeModel):
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
        # counts on disk stay as they are: float32, in which whole numbers are exact
        counts = self._fit_counts(X, np.float32 if isinstance(X, Corpus) and X.on_disk else np.float64)
        if self.emission == "counts":
            check_whole_numbers(counts, "emission='counts'")
        self.word_columns_, frequency = chosen_columns(counts, self.max_words, self.min_df)
        self.word_frequency_ = frequency.astype(np.float64)
        documents = self._documents(counts)
        say_here("HLTA learns its tree from small batches, one after the other,")
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
                checkpoint.write(state, {"seed": seed, "grown": run.history, "history": []})
            with hold_interrupts():
                tree = LatentTree.from_arrays(state)
                as_grown = self.emission == "counts" and "batches" not in state
                self._keep(documents, shuffled, with_rates(tree, documents) if as_grown else tree, run)
        if checkpoint is not None and run.finished:
            checkpoint.remove()
        return self

    def partial_fit(self, X: CountsLike, y: Any = None) -> Self:
        """Learn from one more batch of a stream of documents, by stepwise EM; batches are not kept.

        The first batch is fitted as by `fit` and settles the tree and its words; further ones move its probabilities.
        `doc_topic_` is that of the last batch, `history_` its log-likelihood per document before it was learned from.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts
        y : ignored

        Returns
        -------
        self
        """
        if not hasattr(self, "topic_word_"):
            self.fit(X)
            self.n_batches_, self.history_ = 1, self.history_[-1:]
            return self
        counts = self.word_counts(X, np.float64)
        self.word_frequency_ = self.word_frequency_ + np.bincount(counts.indices, minlength=counts.shape[1])
        documents, n_before = self._documents(counts), getattr(self, "n_batches_", 1)
        tree, value = learned_batch(self._tree(), documents, self.emission, self.smoothing, n_before, self.n_jobs)
        self._remember_documents(X)
        self._keep(documents, np.arange(documents.shape[0]), tree, Run([*self.history_, value], False, True))
        self.n_batches_ = n_before + 1
        return self

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit, and return P(topic | d) of the training documents, of shape (n_documents, n_topics)."""
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
