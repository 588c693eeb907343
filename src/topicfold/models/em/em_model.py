"""What PLSA and LDA share: EM from one or several starts, inference from words alone, and streams of batches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...engine.loop import Checkpoint, ExpectedState, Resumed, Run, State, hold_interrupts, iterate
from ...engine.mapped import is_mapped
from ...engine.stored import Stored, check_stored
from ...errors import InputError
from ..estimator import EMTopicModel
from ..inputs import CountsLike, seen_words
from .plsa_kernels import SeedCounts, check_size, padded
from .starts import InitLike

__all__ = ["MixtureModel", "Step", "take_entries"]

Step: TypeAlias = Callable[[State], float | tuple[float, bool]]


class MixtureModel(EMTopicModel):
    """Base class of flat topic models in which the topics of a document depend only on its own words."""

    _monotone: ClassVar[bool] = True  # whether no step lowers the objective

    _stored: ClassVar[Mapping[str, Stored]] = {"n_batches_": Stored(kind="int", low=1, may_be_missing=True)}

    init: InitLike
    n_init: int

    n_batches_: int

    # ---- what differs between the models ----------------------------------------------------------------------------

    @abstractmethod
    def _start(self, counts: sp.csr_array, rng: np.random.RandomState) -> State:
        """The tables to start from."""

    @abstractmethod
    def _step(self, counts: sp.csr_array, seed_counts: SeedCounts) -> Step:
        """A function that updates the state and returns the objective before the step.

        On a cluster the state's tables of documents are those of the last `gather`.
        """

    @abstractmethod
    def _keep(self, counts: sp.csr_array, state: State, run: Run) -> None:
        """Keep what was learned, except the run."""

    @abstractmethod
    def _fold_in(self, counts: sp.csr_array) -> np.ndarray:
        """P(z|d) of documents with the topics fixed."""

    @abstractmethod
    def _check_stream(self) -> None:
        """Raise if a parameter needs all documents at once."""

    @abstractmethod
    def _state(self) -> Mapping[str, Stored]:
        """The arrays of a running fit, after a step."""

    @abstractmethod
    def _learn_batch(self, counts: sp.csr_array) -> None:
        """Move the topics towards those of a batch."""

    # ---- for users --------------------------------------------------------------------------------------------------

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Fit topics to documents.

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
            If a parameter or X cannot be used, for example if there are more topics than documents or words.
        """
        self.check_parameters()
        counts = self._fit_counts(X, np.dtype(self.dtype))
        return self._fit_to_counts(counts)

    def _fit_to_counts(self, counts: sp.csr_array) -> Self:
        """Fit topics to counts that another model has already checked, in the precision of the tables."""
        if not hasattr(self, "n_features_in_"):
            self.n_features_in_, self.vocabulary_ = counts.shape[1], None
        check_size(counts, self.n_topics)
        checkpoint, resumed = self._open_checkpoint(self._expected_state(counts), counts)
        best, run = self._best_of_starts(counts, checkpoint, resumed)
        with hold_interrupts():
            self._keep(counts, best, run)
            self._keep_run(run)
        if checkpoint is not None and run.finished:
            checkpoint.remove()
        return self

    def partial_fit(self, X: CountsLike, y: Any = None) -> Self:
        """Learn from one more batch of a stream of documents, by stepwise EM.

        The first batch is fitted as by `fit`; each further batch moves the topics a little less. Batches are not kept:
        `doc_topic_` belongs to the last batch, and `history_` has the log-likelihood per token of each batch before
        the model learned from it. All batches must have the same words.

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
        self._check_stream()
        if not hasattr(self, "topic_word_"):
            self.fit(X)
            self.n_batches_ = 1
            self.history_ = self.history_[-1:]
            return self
        counts = self.word_counts(X, self.topic_word_.dtype)
        if counts.nnz:
            self._learn_batch(counts)
        self._remember_documents(X, counts)
        self.doc_topic_ = self._fold_in(counts)
        self._keep_documents(counts, self.doc_topic_, add=True)
        return self

    def transform(self, X: CountsLike) -> np.ndarray:
        """Infer P(z|d) of new documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            The share of each topic, one row per document. A row does not depend on the other documents.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        check_is_fitted(self)
        return self._fold_in(seen_words(self.word_counts(X, self.topic_word_.dtype), self.word_frequency_))

    def fit_transform(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit the model and return P(z|d) of the training documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            The share of each topic, one row per document.
        """
        return self.fit(X, y).doc_topic_

    def predict(self, X: CountsLike) -> np.ndarray:
        """Predict the largest topic of each document.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents,)
            Row of the topic in `topic_word_`.
        """
        return self.document_topics(X).argmax(axis=1)

    def fit_predict(self, X: CountsLike, y: Any = None) -> np.ndarray:
        """Fit the model and return the largest topic of each training document.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.

        Returns
        -------
        ndarray of shape (n_documents,)
            Row of the topic in `topic_word_`.
        """
        return self.fit(X, y).doc_topic_.argmax(axis=1)

    def score(self, X: CountsLike, y: Any = None) -> float:
        """Compute the mean log-likelihood per token by document completion.

        The topics of each document are inferred from half of its tokens, drawn at random; the other half is scored.

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
        return self._completion(X, self._fold_in)

    def _prepare(self) -> None:
        """Nothing to prepare: inference uses the topics unchanged."""

    def _expected_state(self, counts: sp.csr_array) -> ExpectedState:
        """The contents of a checkpoint: the state and, from the second start on, also the best so far."""
        state, sizes = self._state(), self._sizes(counts)
        best = {
            "notes.best_history": Stored(("best steps",)),
            "notes.best_converged": Stored(kind="bool"),
            **{f"best.{name}": stored for name, stored in state.items()},
        }
        start = {"notes.start": Stored(kind="int", low=0, high=self.n_init - 1)}
        declared = {**start, **state, **{name: replace(stored, may_be_missing=True) for name, stored in best.items()}}

        def fits(values: Mapping[str, Any]) -> None:
            if values["notes.start"] > 0:
                check_stored({name: value for name, value in values.items() if name in best}, best, sizes)
                if not len(values["notes.best_history"]):
                    raise InputError("its notes.best_history is empty")

        return ExpectedState(declared, sizes, fits)

    def _best_of_starts(
        self, counts: sp.csr_array, checkpoint: Checkpoint | None, resumed: Resumed | None
    ) -> tuple[State, Run]:
        """Run EM from each start and keep the best; a checkpoint contains the current run and the best before it."""
        seed_counts, name = self._seed_counts(counts), type(self).__name__
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
                    best = (take_entries(state, "best."), Run(notes["best_history"], notes["best_converged"], True))
                if is_mapped(counts.data):  # like a state that was started here
                    state = {name: _on_disk(table, counts.shape[0]) for name, table in state.items()}
            else:
                state = self._start(counts, np.random.RandomState(seed))
            if best is not None:
                state.update({f"best.{name}": value for name, value in best[0].items()})
            notes = {"start": number}
            if best is not None:
                notes |= {"best_history": best[1].history, "best_converged": best[1].converged}
            run = iterate(
                self._step(counts, seed_counts),
                state,
                max_iter=self.max_iter,
                tol=self.tol,
                title=f"{name}, start {number + 1} of {self.n_init}" if self.n_init > 1 else name,
                verbose=self.verbose,
                checkpoint=checkpoint,
                notes=notes,
                history=history,
                monotone=self._monotone,
            )
            take_entries(state, "best.")
            if best is None or max(run.history, default=-np.inf) > max(best[1].history):
                best = (state, run)
            if not run.finished:
                best = (best[0], run._replace(history=best[1].history))
                break
        assert best is not None
        return best


def _on_disk(table: np.ndarray, n_documents: int) -> np.ndarray:
    """A table of documents in a file; any other table unchanged."""
    return padded(table, table.dtype, on_disk=True) if table.ndim == 2 and len(table) == n_documents else table


def take_entries(state: State, prefix: str) -> State:
    """Remove the entries under a prefix and return them without it."""
    return {name.removeprefix(prefix): state.pop(name) for name in list(state) if name.startswith(prefix)}
