"""PLSA: probabilistic latent semantic analysis (Hofmann 1999), the core of the graph models.

P(w|d) = sum_z P(z|d) P(w|z), fitted by EM; the kernels are in em.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...engine.arrays import normalise_rows
from ...engine.checks import check_whole
from ...engine.loop import BATCH_STEPS, Checkpoint, Resumed, Run, State, hold_interrupts, iterate, step_size
from ...engine.warn import warn_user
from ..base import Dtype, EMTopicModel
from ..em import EMStep, Prior, check_size, fold_in, padded, plain_step, seed_prior
from ..inputs import CountsLike, RandomStateLike, seen_words
from ..starts import STARTS, InitLike, SeedWords, check_init, start
from .tempering import tempered_step

__all__ = ["PLSA"]

_NEW_WORDS = 1e-3


class PLSA(EMTopicModel):
    """Probabilistic latent semantic analysis.

    Each document mixes topics, each topic is a distribution over words, and both are fitted by EM.

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics.
    init : {'auto', 'nmf', 'kmeans', 'random'} or array of shape (n_topics, n_words), default='auto'
        Where EM starts: 'nmf' or 'kmeans' on tf-idf, 'random', or topics that are given. 'auto' is 'nmf' up to 100
        topics and 'kmeans' above.
    n_init : int, default=1
        Number of starts; the fit with the highest likelihood is kept.
    max_iter : int, default=100
        Most steps of EM.
    tol : float, default=1e-4
        EM stops when the log-likelihood per token rises by less than this.
    tempered : bool, default=False
        Whether to lower the exponent of the E-step for as long as that helps on a tenth of the tokens, held out
        (Hofmann's TEM).
    smoothing : float, default=0.0
        Pseudo-count of every word in every topic; 0 is maximum likelihood.
    seed_words : dict of int to list, or list of lists, optional
        Words that guide topics, by topic: {0: ["price", "cost"]}, or a list for each of the first topics. Words are
        strings where X has words (texts, a Corpus or a data frame), else column numbers.
    seed_strength : float, default=0.1
        How strong the guide is: its pseudo-counts, as a share of the tokens of an average topic.
    dtype : {'float32', 'float64'}, default='float32'
        Precision of the tables.
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
        P(w|z); also as `components_`.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        P(z|d) of the training documents, the same as `transform` gives for them.
    topic_weight_ : ndarray of shape (n_topics,)
        P(z), the share of each topic in the corpus.
    word_frequency_ : ndarray of shape (n_words,)
        Tokens of each word in training.
    history_ : ndarray of shape (n_iter_,)
        Log-likelihood per token before each step, with the prior where there is one; held-out when tempered.
    n_iter_ : int
        Number of steps.
    converged_, interrupted_ : bool
        Whether `tol` was reached; whether Ctrl-C ended the fit.
    exponent_ : float
        Exponent of the E-step, 1 unless tempered.
    left_out_ : int
        Counts with P(w|d) = 0, which EM cannot use; 0 unless `init` has zeros.

    References
    ----------
    Hofmann, T. (1999). Probabilistic latent semantic indexing. SIGIR. https://doi.org/10.1145/312624.312649

    Examples
    --------
    >>> from topicfold import PLSA
    >>> texts = ["cat dog cat", "dog cat", "sun moon", "moon star sun"]
    >>> model = PLSA(n_topics=2, random_state=0).fit(texts)
    >>> topics = model.predict(["cat and dog", "sun and star"])
    >>> bool(topics[0] != topics[1])
    True
    """

    exponent_: float
    left_out_: int
    n_batches_: int

    def __init__(
        self,
        n_topics: int = 20,
        *,
        init: InitLike = "auto",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        tempered: bool = False,
        smoothing: float = 0.0,
        seed_words: SeedWords | None = None,
        seed_strength: float = 0.1,
        dtype: Dtype = "float32",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.tempered = tempered
        self.smoothing = smoothing
        self.seed_words = seed_words
        self.seed_strength = seed_strength
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def check_parameters(self) -> None:
        """Raise a ValueError that names a parameter which the model cannot use."""
        self._check_common_parameters()
        check_whole("n_init", self.n_init)
        check_init(self.init, STARTS)

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Fit topics to documents.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts
        y : ignored

        Returns
        -------
        self
        """
        self.check_parameters()
        counts = self._fit_counts(X, np.dtype(self.dtype))
        check_size(counts, self.n_topics)
        checkpoint, resumed = self._open_checkpoint(counts)
        best, run = self._best_of_starts(counts, checkpoint, resumed)
        if "best_score" in best:  # tempered: max_iter or Ctrl-C can end the search off its best point
            best = _take(best, "best_")
        with hold_interrupts():
            self._keep(counts, best, run)
        if checkpoint is not None and run.finished:
            checkpoint.remove()
        return self

    def partial_fit(self, X: CountsLike, y: Any = None) -> Self:
        """Learn from one more batch of a stream of documents, by stepwise EM; batches are not kept.

        The first batch is fitted as by `fit`; each further one moves the topics a little less. `doc_topic_` is that of
        the last batch, `history_` the log-likelihood per token of each batch before it was learned from. All batches
        must have the same words. `tempered` is not for streams.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts
        y : ignored

        Returns
        -------
        self
        """
        if self.tempered:
            raise ValueError("tempered=True needs all documents at once: use fit")
        if not hasattr(self, "topic_word_"):
            self.fit(X)
            self.n_batches_ = 1
            self.history_ = self.history_[-1:]
            return self
        counts = self.word_counts(X, self.topic_word_.dtype)
        if counts.nnz:
            self._learn_batch(counts)
        self._remember_documents(X)
        self.doc_topic_ = fold_in(counts, self.topic_word_, self.topic_weight_, n_jobs=self.n_jobs)
        return self

    def transform(self, X: CountsLike) -> np.ndarray:
        """P(z|d) of new documents, one row each, whatever else is in the batch.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
        """
        check_is_fitted(self)
        return self._fold_in(seen_words(self.word_counts(X, self.topic_word_.dtype), self.word_frequency_))

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit, and return P(z|d) of the training documents.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts
        y : ignored

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
        """
        return self.fit(X, y).doc_topic_

    def predict(self, X: CountsLike) -> np.ndarray:
        """The largest topic of each document.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts

        Returns
        -------
        ndarray of shape (n_documents,)
            Row of the topic in `topic_word_`.
        """
        return self.document_topics(X).argmax(axis=1)

    def fit_predict(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit, and return the largest topic of each training document.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts
        y : ignored

        Returns
        -------
        ndarray of shape (n_documents,)
        """
        return self.fit(X, y).doc_topic_.argmax(axis=1)

    def score(self, X: CountsLike, y: Any = None) -> float:
        """Mean log-likelihood per token by document completion: half of each document is seen, the rest is scored.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts
        y : ignored

        Returns
        -------
        float
            In nats per token.
        """
        check_is_fitted(self)
        return self._completion(X, self._fold_in)

    def _prepare(self) -> None:
        """Nothing to prepare: folding in uses the topics as they are."""

    def _fold_in(self, counts: sp.csr_array) -> np.ndarray:
        topics = (self.topic_word_, self.topic_weight_)
        return fold_in(counts, *topics, exponent=self.exponent_, n_jobs=self.n_jobs)

    def _learn_batch(self, counts: sp.csr_array) -> None:
        n_topics, lengths = self.n_topics, counts.sum(axis=1, dtype=np.float64)
        n_tokens, n_before = float(lengths.sum()), getattr(self, "n_batches_", 1)
        share = step_size(n_before)
        frequency = counts.sum(axis=0, dtype=np.float64) + self.word_frequency_
        # A little of the corpus in each topic: a word that no topic has had yet would be left out for ever.
        corpus = _NEW_WORDS * frequency / frequency.sum()
        weight = self.topic_weight_.astype(np.float64)
        before = (1 - share) * weight[:, None] * self.topic_word_ + share * self.smoothing / max(frequency.sum(), 1)
        step = EMStep(counts, n_topics, self.n_jobs, 0.0, seed_prior({}, 0.0, counts.dtype))
        doc = padded(fold_in(counts, self.topic_word_, self.topic_weight_, n_jobs=self.n_jobs), counts.dtype)
        topic_word, values = self.topic_word_, []
        for _ in range(BATCH_STEPS):
            word = padded(((1 - _NEW_WORDS) * topic_word + corpus).T, counts.dtype)
            values.append(step(doc, word) / n_tokens)
            # P(z, w) of the stream so far, moved towards that of the batch
            joint = before + share * (lengths @ doc[:, :n_topics] / n_tokens)[:, None] * word[:, :n_topics].T
            topic_word = normalise_rows(joint)
        self.topic_word_ = np.ascontiguousarray(topic_word.astype(counts.dtype))
        self.topic_weight_ = (joint.sum(axis=1) / joint.sum()).astype(counts.dtype)
        self.word_frequency_ = frequency
        self.n_batches_ = n_before + 1
        self.history_ = np.append(self.history_, values[0])
        self.n_iter_ = len(self.history_)

    def _best_of_starts(
        self, counts: sp.csr_array, checkpoint: Checkpoint | None, resumed: Resumed | None
    ) -> tuple[State, Run]:
        """Run EM from each start and keep the best; a checkpoint holds the run under way and the best before it."""
        prior = self._seed_prior(counts)
        best: tuple[State, Run] | None = None
        start_seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_init)
        for number, seed in enumerate(start_seeds):
            history: list[float] = []
            if resumed is not None and number < resumed[1]["start"]:
                continue
            if resumed is not None:
                state, notes = resumed
                history, resumed = notes["history"], None
                if number > 0:
                    best = (_take(state, "best."), Run(notes["best_history"], notes["best_converged"], True))
            else:
                state = self._start(counts, np.random.RandomState(seed))
            if best is not None:
                state.update({f"best.{name}": value for name, value in best[0].items()})
            notes = {"start": number}
            if best is not None:
                notes |= {"best_history": best[1].history, "best_converged": best[1].converged}
            run = iterate(
                self._step(counts, prior),
                state,
                max_iter=self.max_iter,
                tol=self.tol,
                title=f"PLSA, start {number + 1} of {self.n_init}" if self.n_init > 1 else "PLSA",
                verbose=self.verbose,
                checkpoint=checkpoint,
                notes=notes,
                history=history,
            )
            _take(state, "best.")
            if best is None or max(run.history, default=-np.inf) > max(best[1].history):
                best = (state, run)
            if not run.finished:
                best = (best[0], run._replace(history=best[1].history))
                break
        assert best is not None
        return best

    def _start(self, counts: sp.csr_array, rng: np.random.RandomState) -> State:
        doc_topic, topic_word = start(counts, self.n_topics, self.init, rng, self._seeds(counts))
        return {"doc_topic": padded(doc_topic, counts.dtype), "word_topic": padded(topic_word.T, counts.dtype)}

    def _step(self, counts: sp.csr_array, prior: Prior) -> Callable[[State], float | tuple[float, bool]]:
        if self.tempered:
            return tempered_step(counts, self.n_topics, self.n_jobs, self.smoothing, prior, self.tol)
        return plain_step(counts, self.n_topics, self.n_jobs, self.smoothing, prior)

    def _keep(self, counts: sp.csr_array, state: State, run: Run) -> None:
        self._keep_topics(counts, state)
        self._keep_run(run)
        self.exponent_ = float(state["exponent"]) if "exponent" in state else 1.0
        # Folded in like any document: EM's own P(z|d) lags behind when it stops early, and a classifier trained on it
        # would meet other features in new documents.
        self.doc_topic_ = self._fold_in(counts)
        self.left_out_ = int(state.get("left_out", 0))
        if self.left_out_:
            warn_user(
                f"{self.left_out_:,} counts of words that the start gave no probability are left out of the likelihood"
            )


def _take(state: State, prefix: str) -> State:
    """Remove the entries under a prefix and return them without it."""
    return {name.removeprefix(prefix): state.pop(name) for name in list(state) if name.startswith(prefix)}
