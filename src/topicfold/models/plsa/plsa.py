"""PLSA: probabilistic latent semantic analysis (Hofmann 1999), the core of the graph models.

P(w|d) = sum_z P(z|d) P(w|z), fitted by EM; the kernels are in em/plsa_kernels.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import normalise_rows, summed
from ...engine.checks import check_number, check_whole
from ...engine.loop import BATCH_STEPS, State
from ...engine.mapped import is_mapped
from ...engine.stored import MAX_PROBABILITY, Stored
from ...engine.warn import warn_user
from ...errors import InputError
from ..em.em_model import MixtureModel
from ..em.fold_in import fold_in, fold_in_toward
from ..em.plsa_kernels import (
    EMStep,
    SeedCounts,
    counts_of_seeds,
    padded,
    plain_step,
    shrink,
    token_count,
)
from ..em.seed_words import SeedWords
from ..em.starts import STARTS, InitLike, check_init, start
from ..estimator import Dtype
from ..fit_loop import Step
from ..inputs import RandomStateLike
from .tempering import tempered_step, tempering_state

__all__ = ["PLSA"]

_NEW_WORDS = 1e-3


class PLSA(MixtureModel):
    """Probabilistic latent semantic analysis, fitted by EM.

    A document mixes topics, and a topic is a distribution over words. By default both are smoothed a little;
    alpha=0 and beta=0 is the maximum likelihood model of the paper.

    Parameters
    ----------
    n_topics : int or 'auto', default=20
        Number of topics. 'auto' tries 5, 10, 20, 40 and, if 40 is best, more on a sample of the documents; `n_topics_`
        is its choice.
    init : {'auto', 'nmf', 'kmeans', 'random'} or array of shape (n_topics, n_words), default='auto'
        Where EM starts: 'nmf' or 'kmeans' on tf-idf, 'random', or given topics. 'auto' starts from clusters of
        documents: of short ones, the best of several kinds after a few steps on a sample.
    n_init : int, default=1
        Number of starts. The fit with the highest likelihood is kept.
    max_iter : int, default=100
        Maximum number of EM steps.
    tol : float, default=1e-4
        EM stops when the log-likelihood per token rises by less than this.
    tempered : bool, default=False
        Whether to lower the exponent of the E-step for as long as that helps on a held-out tenth of the tokens
        (tempered EM, as Hofmann proposed).
    alpha : float, default=2.0
        Strength of the prior of P(z|d), in tokens per document, shared evenly by the topics. Without it, a short
        document is too certain of its topics.
    beta : float, default=0.05
        Pseudo-count of every word in every topic.
    seed_words : dict of int to list, list of lists or None, default=None
        Words that guide topics: a dict from topics to words, such as {0: ["price", "cost"]}, or one list for each of
        the first topics. Words are strings if X has words (texts, a Corpus or a data frame), otherwise column numbers.
    seed_strength : float, default=0.1
        Strength of the seed words: their pseudo-counts, as a share of the tokens of an average topic.
    dtype : {'float32', 'float64'}, default='float32'
        Precision of the tables.
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
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        P(z|d) of the training documents; `transform` gives the same for them.
    history_ : ndarray of shape (n_iter,)
        Log-likelihood per token before each step, including the prior if there is one. With tempered=True, the
        log-likelihood of the held-out tokens.
    exponent_ : float
        Exponent of the E-step; 1 unless tempered=True.
    n_skipped_ : int
        Number of counts with P(w|d) = 0, which EM cannot use; 0 unless `init` has zeros.

    See Also
    --------
    TopicModel : The attributes and methods that all models have.
    LDA : Topics with priors that are better for short documents; the default model.
    LapPLSI : PLSA with a graph of documents.
    TTMM : Documents with themes, themes with topics.

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

    _stored: ClassVar[Mapping[str, Stored]] = {
        "exponent_": Stored(low=0, high=1),
        "n_skipped_": Stored(kind="int", low=0),
    }

    exponent_: float
    n_skipped_: int

    def __init__(
        self,
        n_topics: int | Literal["auto"] = 20,
        *,
        init: InitLike = "auto",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        tempered: bool = False,
        alpha: float = 2.0,
        beta: float = 0.05,
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
        self.alpha = alpha
        self.beta = beta
        self.seed_words = seed_words
        self.seed_strength = seed_strength
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def check_parameters(self) -> None:
        self._check_common_parameters()
        check_number("alpha", self.alpha)
        check_number("beta", self.beta)
        check_whole("n_init", self.n_init)
        check_init(self.init, STARTS)

    def _fold_in(self, counts: sp.csr_array) -> np.ndarray:
        topics = (self.topic_word_, self.topic_weight_)
        if self.alpha == 0 or self.tempered:  # tempering regularises P(z|d) in its own way
            return fold_in(counts, *topics, exponent=self.exponent_, n_jobs=self.n_jobs)
        n_topics = len(self.topic_word_)
        even = np.broadcast_to(self.alpha / n_topics, (counts.shape[0], n_topics))
        pull = np.full(counts.shape[0], float(self.alpha))
        doc_topic = fold_in_toward(counts, *topics, even, pull, n_jobs=self.n_jobs)
        doc_topic[np.diff(counts.indptr) == 0] = self.topic_weight_
        return doc_topic

    def _start(self, counts: sp.csr_array, rng: np.random.RandomState) -> State:
        seeds, strength = self._seeds(counts), self.seed_strength
        doc_topic, topic_word = start(
            counts, self.n_topics_, self.init, rng, seeds, seed_strength=strength, n_jobs=self.n_jobs
        )
        state = {
            "doc_topic": padded(doc_topic, counts.dtype, on_disk=is_mapped(counts.data)),
            "word_topic": padded(topic_word.T, counts.dtype),
        }
        return state | (tempering_state(state) if self.tempered else {"n_skipped": np.array(0)})

    def _state(self) -> Mapping[str, Stored]:
        doc_topic = Stored(("documents", "columns"), low=0, high=MAX_PROBABILITY)
        word_topic = Stored(("words", "columns"), low=0, high=MAX_PROBABILITY)
        tables = {"doc_topic": doc_topic, "word_topic": word_topic}
        if not self.tempered:
            return tables | {"n_skipped": Stored((), "int", low=0)}
        exponent = Stored((), low=0, high=1)
        return {
            **tables,
            "exponent": exponent,
            "best_exponent": exponent,
            "best_score": Stored(()),
            "best_doc_topic": doc_topic,
            "best_word_topic": word_topic,
            "fruitless": Stored((), "int", low=0),
        }

    def _step(self, counts: sp.csr_array, seed_counts: SeedCounts) -> Step:
        if self.tempered:
            return tempered_step(counts, self.n_topics_, self.n_jobs, self.beta, seed_counts, self.tol)
        parameters = (self.n_topics_, self.n_jobs, self.beta, seed_counts, self.alpha)
        return plain_step(counts, *parameters, keep_rows_on_workers=True)

    def _keep(self, counts: sp.csr_array, state: State) -> None:
        if self.tempered:  # max_iter or Ctrl-C can end the search off its best point
            state = {name: state[f"best_{name}"] for name in ("doc_topic", "word_topic", "exponent")}
        self._keep_topics(counts, state)
        self.exponent_ = float(state["exponent"]) if self.tempered else 1.0
        self.n_skipped_ = int(state.get("n_skipped", 0))
        if self.n_skipped_:
            warn_user(
                f"{self.n_skipped_:,} counts are left out of the likelihood: `init` gives their words no probability"
            )

    def _check_stream(self) -> None:
        if self.tempered:
            raise InputError("tempered=True needs all documents at once: use fit")

    def _move_topics(self, counts: sp.csr_array, share: float, frequency: np.ndarray) -> tuple[np.ndarray, float]:
        n_topics, lengths, n_tokens = len(self.topic_word_), summed(counts, 1), token_count(counts)
        # A little of the corpus in each topic: otherwise a word that no topic has had yet would always be left out.
        corpus = _NEW_WORDS * frequency / frequency.sum()
        weight = self.topic_weight_.astype(np.float64)
        before = (1 - share) * weight[:, None] * self.topic_word_ + share * self.beta / max(frequency.sum(), 1)
        step = EMStep(counts, n_topics, self.n_jobs, 0.0, counts_of_seeds({}, 0.0, counts.dtype))
        doc = padded(self._fold_in(counts), counts.dtype)
        topic_word, values = self.topic_word_, []
        for _ in range(BATCH_STEPS):
            word = padded(((1 - _NEW_WORDS) * topic_word + corpus).T, counts.dtype)
            values.append(step(doc, word) / n_tokens)
            shrink(doc[:, :n_topics], lengths, self.alpha)
            # P(z, w) of the stream so far, moved towards that of the batch
            joint = before + share * (lengths @ doc[:, :n_topics] / n_tokens)[:, None] * word[:, :n_topics].T
            topic_word = normalise_rows(joint)
        return joint, values[0]
