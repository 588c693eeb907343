"""PLSA: probabilistic latent semantic analysis (Hofmann 1999), the core of the graph models.

P(w|d) = sum_z P(z|d) P(w|z), fitted by EM; the kernels are in em.py.

Tempered EM (Hofmann's TEM) raises P(z|d) P(w|z) to a power below one in the E-step, lowered step by step as long as
that helps on tokens held out of the training documents. Powers can be taken beforehand, so it runs on the same kernel.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...engine.checks import check_whole_numbers
from ...engine.loop import BATCH_STEPS, Checkpoint, Run, State, fingerprint, hold_interrupts, iterate, step_size
from ...metrics.completion import completion_log_likelihood, split_tokens
from ..em import (
    EMStep,
    check_parameters,
    check_size,
    fold_in,
    keep_run,
    keep_topics,
    log_prior,
    normalised,
    padded,
    seed_prior,
)
from ..inputs import as_counts, count_tags, remember_documents, seen_words, vocabulary_of
from ..starts import seed_columns, start
from .tempering import _tempered_step

__all__ = ["PLSA"]

_NEW_WORDS = 1e-3


class PLSA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Probabilistic latent semantic analysis.

    Parameters
    ----------
    n_topics : number of topics.
    init : 'nmf' or 'kmeans' (on tf-idf), 'random', an array of topics x words, or 'auto': 'nmf' up to 100 topics,
        'kmeans' above.
    n_init : number of starts; the fit with the highest likelihood is kept.
    max_iter, tol : EM stops after max_iter steps, or when the log-likelihood a token rises by less than tol.
    tempered : lower the exponent of the E-step as long as that helps on a tenth of the tokens, held out (TEM).
    smoothing : pseudo-count of every word in every topic; 0 is maximum likelihood.
    seed_words : words that guide topics, {topic: [words]} or a list of lists; strings where X has words (a Corpus or
        a data frame), else columns.
    seed_strength : how strong the guide is: its pseudo-counts, as a share of an average topic's tokens.
    dtype : 'float32' or 'float64'.
    random_state, n_jobs : as in scikit-learn; the result does not depend on n_jobs.
    verbose : True shows progress, False does not, None does on a terminal.
    checkpoint : a file that a killed fit resumes from.

    Attributes
    ----------
    topic_word_ : P(w|z), topics x words; also as components_.
    doc_topic_ : P(z|d) of the training documents, the same as transform gives for them.
    topic_weight_ : P(z), the corpus's own mix of topics.
    word_frequency_ : tokens of each word in training.
    history_ : log-likelihood a token (with a prior: the objective a token) before each step; held-out when tempered.
    n_iter_, converged_, interrupted_ : steps taken; whether tol was reached; whether Ctrl-C ended it.
    exponent_ : exponent of the E-step, 1 unless tempered.
    left_out_ : counts with P(w|d) = 0, which EM cannot use; 0 unless init has zeros.

    Examples
    --------
    >>> from topicfold import Corpus, PLSA
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    >>> model = PLSA(n_topics=2, random_state=0).fit(corpus)
    >>> model.transform(["cat and dog", "sun and star"]).round(2).argmax(axis=1).tolist() in ([0, 1], [1, 0])
    True
    """

    topic_word_: np.ndarray
    doc_topic_: np.ndarray
    topic_weight_: np.ndarray
    word_frequency_: np.ndarray
    history_: np.ndarray

    def __init__(
        self,
        n_topics: int = 20,
        *,
        init: Any = "auto",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        tempered: bool = False,
        smoothing: float = 0.0,
        seed_words: Mapping[int, Sequence[Any]] | Sequence[Sequence[Any]] | None = None,
        seed_strength: float = 0.1,
        dtype: Any = "float32",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        checkpoint: Any = None,
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

    def fit(self, X: Any, y: Any = None) -> PLSA:
        """Fit topics to documents x words: a Corpus, a sparse or dense matrix, or a data frame."""
        dtype = check_parameters(self)
        counts = as_counts(self, X, reset=True, dtype=dtype)
        check_size(counts, self.n_topics)
        seeds = seed_columns(self.seed_words, self.n_topics, vocabulary_of(self), counts.shape[1])
        prior = seed_prior(seeds, float(counts.sum(dtype=np.float64)) / self.n_topics * self.seed_strength, dtype)
        checkpoint = None if self.checkpoint is None else Checkpoint(self.checkpoint, fingerprint(self, counts))
        best, run = self._best_of_starts(counts, seeds, prior, checkpoint)
        if "best_score" in best:  # tempered: max_iter or Ctrl-C can end the search off its best point
            best = _take(best, "best_")
        with hold_interrupts():
            self._keep(counts, best, run)
        if checkpoint is not None and run.finished:
            checkpoint.remove()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> PLSA:
        """Learn from one more batch of a stream of documents, by stepwise EM; batches are not kept.

        The first batch is fitted as by `fit`; each further one moves the topics a little less. `doc_topic_` is that of
        the last batch, `history_` the log-likelihood a token of each batch before it was learned from. All batches
        must have the same words. `tempered` is not for streams.
        """
        if self.tempered:
            raise ValueError("tempered=True needs all documents at once: use fit")
        if not hasattr(self, "topic_word_"):
            self.fit(X)
            self.n_batches_ = 1
            self.history_ = self.history_[-1:]
            return self
        counts = as_counts(self, X, reset=False, dtype=self.topic_word_.dtype)
        if counts.nnz:
            self._learn_batch(counts)
        remember_documents(self, X)
        self.doc_topic_ = fold_in(counts, self.topic_word_, self.topic_weight_, n_jobs=self.n_jobs)
        return self

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
            topic_word = normalised(joint)
        self.topic_word_ = np.ascontiguousarray(topic_word.astype(counts.dtype))
        self.topic_weight_ = (joint.sum(axis=1) / joint.sum()).astype(counts.dtype)
        self.word_frequency_ = frequency
        self.n_batches_ = n_before + 1
        self.history_ = np.append(self.history_, values[0])
        self.n_iter_ = len(self.history_)

    def transform(self, X: Any) -> np.ndarray:
        """P(z|d) of new documents, one row each, whatever else is in the batch; raw texts where words are known."""
        check_is_fitted(self)
        counts = as_counts(self, X, reset=False, dtype=self.topic_word_.dtype)
        counts = seen_words(counts, self.word_frequency_)
        return fold_in(counts, self.topic_word_, self.topic_weight_, exponent=self.exponent_, n_jobs=self.n_jobs)

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return P(z|d) of the training documents."""
        return self.fit(X, y).doc_topic_

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood a token by document completion: half of each document is seen, the rest is scored."""
        check_is_fitted(self)
        counts = as_counts(self, X, reset=False, dtype=self.topic_word_.dtype)
        check_whole_numbers(counts, "score (document completion)")
        seen, held_out = split_tokens(counts)
        seen = seen_words(seen, self.word_frequency_)
        doc_topic = fold_in(seen, self.topic_word_, self.topic_weight_, exponent=self.exponent_, n_jobs=self.n_jobs)
        return completion_log_likelihood(held_out, doc_topic, self.topic_word_, self.word_frequency_)

    @property
    def components_(self) -> np.ndarray:
        """P(w|z), by scikit-learn's name."""
        return self.topic_word_

    @property
    def _n_features_out(self) -> int:
        return len(self.topic_word_)

    def __sklearn_tags__(self) -> Any:
        return count_tags(super().__sklearn_tags__())

    def _best_of_starts(
        self, counts: sp.csr_array, seeds: dict[int, np.ndarray], prior: Any, checkpoint: Checkpoint | None
    ) -> tuple[State, Run]:
        """Run EM from each start and keep the best; a checkpoint holds the run under way and the best before it."""
        resumed = None if checkpoint is None else checkpoint.read()
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
                state = self._start(counts, seeds, np.random.RandomState(seed))
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

    def _start(self, counts: sp.csr_array, seeds: dict[int, np.ndarray], rng: np.random.RandomState) -> State:
        doc_topic, topic_word = start(counts, self.n_topics, self.init, rng, seeds)
        return {"doc_topic": padded(doc_topic, counts.dtype), "word_topic": padded(topic_word.T, counts.dtype)}

    def _step(self, counts: sp.csr_array, prior: tuple[Any, ...]) -> Callable[[State], Any]:
        if self.tempered:
            return _tempered_step(counts, self.n_topics, self.n_jobs, self.smoothing, prior, self.tol)
        step = EMStep(counts, self.n_topics, self.n_jobs, self.smoothing, prior)
        n_tokens = max(float(counts.sum(dtype=np.float64)), 1e-300)

        def plain(state: State) -> float:
            word_topic = state["word_topic"]
            penalty = log_prior(word_topic[:, : self.n_topics], self.smoothing, prior)
            objective = (step(state["doc_topic"], word_topic) + penalty) / n_tokens
            state["left_out"] = np.array(step.left_out)
            return objective

        return plain

    def _keep(self, counts: sp.csr_array, state: State, run: Run) -> None:
        keep_topics(self, counts, state)
        keep_run(self, run)
        self.exponent_ = float(state["exponent"]) if "exponent" in state else 1.0
        # Folded in like any document: EM's own P(z|d) lags behind when it stops early, and a classifier trained on it
        # would meet other features in new documents.
        self.doc_topic_ = fold_in(
            counts, self.topic_word_, self.topic_weight_, exponent=self.exponent_, n_jobs=self.n_jobs
        )
        self.left_out_ = int(state.get("left_out", 0))
        if self.left_out_:
            warnings.warn(
                f"{self.left_out_:,} counts of words that the start gave no probability are left out of the likelihood",
                stacklevel=3,
            )


def _take(state: State, prefix: str) -> State:
    """Remove the entries under a prefix and return them without it."""
    return {name.removeprefix(prefix): state.pop(name) for name in list(state) if name.startswith(prefix)}
