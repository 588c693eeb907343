"""Base classes of the flat models that are fitted by EM: what all share, and what PLSA and LDA share beyond it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ...engine.arrays import aligned, normalise_rows, summed
from ...engine.checks import check_float_dtype, check_number, check_whole
from ...engine.loop import Run, State, step_size
from ...engine.mapped import is_mapped
from ...engine.stored import Stored
from ..estimator import Dtype, FlatTopicModel, StreamedTopicModel
from ..fit_loop import Fit, Stage, Step, run_fit
from ..inputs import CountsLike, RandomStateLike
from .number_of_topics import choose_number
from .plsa_kernels import SeedCounts, check_size, counts_of_seeds, padded, pooled_topic_weight, token_count
from .seed_words import SeedWords, guided_topics, seed_columns
from .starts import InitLike

__all__ = ["EMTopicModel", "MixtureModel"]


class EMTopicModel(FlatTopicModel):
    """Base class of flat topic models that are fitted by EM, with optional seed words.

    Attributes
    ----------
    n_topics_ : int
        The number of topics used.
    """

    _stored: ClassVar[Mapping[str, Stored]] = {"n_topics_": Stored(kind="int", low=1, may_be_missing=True)}

    n_topics: int | Literal["auto"]
    n_topics_: int
    init: Any
    max_iter: int
    tol: float
    seed_words: SeedWords | None
    seed_strength: float
    dtype: Dtype

    def _check_common_parameters(self) -> None:
        """Raise if a parameter that these models share is invalid."""
        if self.n_topics != "auto":
            check_whole("n_topics", self.n_topics, or_else=", or 'auto'")
        check_whole("max_iter", self.max_iter)
        check_number("tol", self.tol)
        check_number("seed_strength", self.seed_strength)
        check_float_dtype(self.dtype)

    def _choose_size(self, counts: sp.csr_array) -> None:
        """Set the number of topics of a fit; 'auto' is at least the number of given or guided topics."""
        if self.n_topics != "auto":
            self.n_topics_ = int(self.n_topics)
        elif not isinstance(self.init, str):
            self.n_topics_ = len(np.asarray(self.init))
        else:
            self.n_topics_ = max(choose_number(counts, self.n_jobs, self.verbose), guided_topics(self.seed_words))
        check_size(counts, self.n_topics_)

    def _sizes(self, counts: sp.csr_array) -> dict[str, int]:
        """The sizes of a fit's tables; `columns` are those of topics, padded."""
        n_documents, n_words = counts.shape
        columns = aligned(0, self.n_topics_, counts.dtype).shape[1]
        return {"documents": n_documents, "words": n_words, "topics": self.n_topics_, "columns": columns}

    def _seeds(self, counts: sp.csr_array) -> dict[int, np.ndarray]:
        """The columns of the seed words of each guided topic."""
        return seed_columns(self.seed_words, self.n_topics_, self.words(), counts.shape[1])

    def _seed_counts(self, counts: sp.csr_array) -> SeedCounts:
        strength = token_count(counts) / self.n_topics_ * self.seed_strength
        return counts_of_seeds(self._seeds(counts), strength, counts.dtype)

    def _keep_topics(self, counts: sp.csr_array, state: State) -> None:
        """Keep the topics, their weights and the word frequencies from the state of a finished fit."""
        self.topic_word_ = np.ascontiguousarray(normalise_rows(state["word_topic"][:, : self.n_topics_].T))
        self.topic_weight_ = pooled_topic_weight(counts, state["doc_topic"][:, : self.n_topics_])
        self.word_frequency_ = summed(counts, 0)


class MixtureModel(StreamedTopicModel, EMTopicModel):
    """Base class of flat topic models in which the topics of a document depend only on its own words."""

    _monotone = True  # whether no step lowers the objective

    init: InitLike
    n_init: int

    @abstractmethod
    def _start(self, counts: sp.csr_array, rng: np.random.RandomState) -> State:
        """The state to start from."""

    @abstractmethod
    def _state(self) -> Mapping[str, Stored]:
        """The arrays of a state."""

    @abstractmethod
    def _step(self, counts: sp.csr_array, seed_counts: SeedCounts) -> Step:
        """A function that updates the state and returns the objective before the step.

        On a cluster the state's tables of documents are those of the last `gather`.
        """

    @abstractmethod
    def _keep(self, counts: sp.csr_array, state: State) -> None:
        """Keep what was learned, except the documents and the run."""

    @abstractmethod
    def _move_topics(self, counts: sp.csr_array, share: float, frequency: np.ndarray) -> tuple[np.ndarray, float]:
        """P(z, w) moved towards that of a batch by a share, and the log-likelihood per token before.

        `frequency` counts the words of all batches, with this one.
        """

    def _fit(self, X: CountsLike, y: Any) -> None:
        counts = self._fit_counts(X, np.dtype(self.dtype))
        self._choose_size(counts)
        seed_counts = self._seed_counts(counts)

        def start(random_state: RandomStateLike) -> State:
            return self._start(counts, check_random_state(random_state))

        def stages(state: State) -> Iterator[Stage]:
            if is_mapped(counts.data):  # the state of a resumed fit too is kept in files
                state.update({name: _on_disk(table, counts.shape[0]) for name, table in state.items()})
            yield Stage(self._step(counts, seed_counts), self.max_iter, self.tol, self._monotone)

        def keep(state: State, run: Run) -> None:
            self._keep(counts, state)
            # Inferred as for new documents: EM's own P(z|d) lags behind when it stops early, and a classifier trained
            # on it would get different features for new documents.
            self.doc_topic_ = self._fold_in(counts)
            self._keep_documents(counts, self.doc_topic_)
            self._keep_run(run)

        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_init)
        run_fit(self, Fit((counts,), list(seeds), start, stages, keep, self._state(), self._sizes(counts)))

    def _learn_batch(self, counts: sp.csr_array, y: Any) -> None:
        if counts.nnz:
            n_before = getattr(self, "n_batches_", 1)
            frequency = summed(counts, 0) + self.word_frequency_
            joint, value = self._move_topics(counts, step_size(n_before), frequency)
            self.topic_word_ = np.ascontiguousarray(normalise_rows(joint).astype(counts.dtype))
            self.topic_weight_ = (joint.sum(axis=1) / joint.sum()).astype(counts.dtype)
            self.word_frequency_ = frequency
            self.n_batches_ = n_before + 1
            self.history_ = np.append(self.history_, value)
            self.n_iter_ = len(self.history_)
        self.doc_topic_ = self._fold_in(counts)
        self._keep_documents(counts, self.doc_topic_, add=True)


def _on_disk(table: np.ndarray, n_documents: int) -> np.ndarray:
    """A table of documents in a file; any other table unchanged."""
    if table.ndim != 2 or len(table) != n_documents or is_mapped(table):
        return table
    return padded(table, table.dtype, on_disk=True)
