"""LDA: latent Dirichlet allocation (Blei, Ng and Jordan 2003), by leave-one-out EM.

P(w|d) = sum_z P(z|d) P(w|z) with Dirichlet priors on both: alpha m_z pseudo-tokens of topic z in each document, m being
the topics' shares of the corpus, and beta pseudo-tokens of each word in each topic. The steps are in leave_one_out.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ...engine.arrays import normalise_rows, summed
from ...engine.checks import MAX_PARAMETER, check_number, check_whole
from ...engine.loop import BATCH_STEPS, State
from ...engine.stored import MAX_PROBABILITY, Stored
from ...errors import InputError
from ..em.best_start import StartPriors
from ..em.em_model import MixtureModel
from ..em.leave_one_out import (
    DocumentPrior,
    LeaveOneOutStep,
    document_prior,
    fold_in_counts,
    fold_in_shares,
    leave_one_out_step,
    state_from,
)
from ..em.plsa_kernels import SeedCounts, counts_of_seeds, padded, token_count
from ..em.seed_words import SeedWords
from ..em.starts import STARTS, InitLike, check_init, start
from ..estimator import Dtype
from ..fit_loop import Step
from ..inputs import CountsLike, RandomStateLike, seen_words
from .prior_choice import chosen_priors, first_priors

__all__ = ["LDA"]


class LDA(MixtureModel):
    """Latent Dirichlet allocation, fitted by leave-one-out EM.

    A document mixes topics, and a topic is a distribution over words; both have priors, so the model works for short
    documents and predicts unseen ones. This is the default model.

    Parameters
    ----------
    n_topics : int or 'auto', default=20
        Number of topics. 'auto' tries 5, 10, 20, 40 and, if 40 is best, more on a sample of the documents; `n_topics_`
        is its choice.
    alpha : float or 'auto', default=1.0
        Strength of the prior of P(z|d), in tokens per document; the topics share it in proportion to their size. 'auto'
        chooses it on held-out documents, which costs about two more fits.
    beta : float or 'auto', default=0.03
        Prior of P(w|z): pseudo-count of every word in every topic. 'auto' chooses it on held-out documents.
    focus : float, default=3.0
        Strength of the main topic of a document, in tokens: short documents are expected to be about one topic, long
        ones may mix several. 0 is plain LDA.
    init : {'auto', 'nmf', 'kmeans', 'random'} or array of shape (n_topics, n_words), default='auto'
        Where EM starts: 'nmf' or 'kmeans' on tf-idf, 'random', or given topics. 'auto' starts from clusters of
        documents: of short ones, the best of several kinds after a few steps on a sample.
    n_init : int, default=1
        Number of starts. The fit with the highest objective is kept.
    max_iter : int, default=100
        Maximum number of EM steps.
    tol : float, default=1e-4
        EM stops when the objective per token changes by less than this.
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
    alpha_ : float
        The value of `alpha` used.
    beta_ : float
        The value of `beta` used.
    prior_path_ : ndarray of shape (n_tried, 3), or None
        With 'auto', one row per pair of priors tried: alpha, beta, held-out log-likelihood per token.
    history_ : ndarray of shape (n_iter,)
        Log-likelihood of each token given the other tokens of its document, per token, before each step. It may fall.

    See Also
    --------
    TopicModel : The attributes and methods that all models have.
    PLSA : The simpler model without a shared prior.
    LTM : LDA that also uses a graph or embeddings of the documents.
    HLTA : A hierarchy of topics, whose number is learned.

    References
    ----------
    Blei, D. M., Ng, A. Y. and Jordan, M. I. (2003). Latent Dirichlet allocation. Journal of Machine Learning Research
    3, 993-1022. https://www.jmlr.org/papers/v3/blei03a.html

    Asuncion, A., Welling, M., Smyth, P. and Teh, Y. W. (2009). On smoothing and inference for topic models. UAI.
    https://arxiv.org/abs/1205.2662

    Examples
    --------
    >>> from topicfold import LDA
    >>> texts = ["cat dog cat", "dog cat", "sun moon", "moon star sun"]
    >>> model = LDA(n_topics=2, random_state=0).fit(texts)
    >>> topics = model.predict(["cat and dog", "sun and star"])
    >>> bool(topics[0] != topics[1])
    True
    """

    _monotone = False  # the objective leaves each token out, and not every EM step raises it

    _stored: ClassVar[Mapping[str, Stored]] = {
        "alpha_": Stored(low=0, high=MAX_PARAMETER),
        "beta_": Stored(low=0, high=MAX_PARAMETER),
        "prior_path_": Stored(("points", 3), optional=True),
    }

    alpha_: float
    beta_: float
    prior_path_: np.ndarray | None

    def __init__(
        self,
        n_topics: int | Literal["auto"] = 20,
        *,
        alpha: float | Literal["auto"] = 1.0,
        beta: float | Literal["auto"] = 0.03,
        focus: float = 3.0,
        init: InitLike = "auto",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        seed_words: SeedWords | None = None,
        seed_strength: float = 0.1,
        dtype: Dtype = "float32",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.beta = beta
        self.focus = focus
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.seed_words = seed_words
        self.seed_strength = seed_strength
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def check_parameters(self) -> None:
        self._check_common_parameters()
        check_whole("n_init", self.n_init)
        check_init(self.init, STARTS)
        for name in ("alpha", "beta"):
            if getattr(self, name) != "auto":
                check_number(name, getattr(self, name), above=True, or_else=", or 'auto'")
        check_number("focus", self.focus)

    def document_posterior(self, X: CountsLike) -> np.ndarray:
        """Compute an approximate posterior of the topics of each document, a Dirichlet distribution.

        Its mean is what `transform` returns. The inferred topics of tokens are treated as known, so the posterior is
        somewhat too narrow.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Parameters of the Dirichlet distribution of each document, above 0. They sum to the number of tokens of the
            document plus alpha plus focus.
        """
        check_is_fitted(self)
        counts = seen_words(self.word_counts(X, self.topic_word_.dtype), self.word_frequency_)
        return fold_in_counts(counts, self.topic_word_, self._document_prior(), self.n_jobs, with_prior=True)

    def _document_prior(self) -> DocumentPrior:
        return document_prior(self.alpha_, self.topic_weight_, float(self.focus))

    def _fold_in(self, counts: sp.csr_array) -> np.ndarray:
        return fold_in_shares(counts, self.topic_word_, self._document_prior(), self.n_jobs)

    def _start(self, counts: sp.csr_array, rng: np.random.RandomState) -> State:
        priors = chosen_priors(self, counts)
        # with the given priors, or the defaults: chosen priors should change the fit, but not its start
        shares = start(
            counts,
            self.n_topics_,
            self.init,
            rng,
            self._seeds(counts),
            seed_strength=self.seed_strength,
            priors=StartPriors(*first_priors(self), float(self.focus)),
            n_jobs=self.n_jobs,
        )
        return state_from(counts, *shares) | priors

    def _state(self) -> Mapping[str, Stored]:
        return {
            "doc_count": Stored(("documents", "columns"), low=0),
            "word_topic": Stored(("words", "columns"), low=0),
            "topic_share": Stored(("topics",), low=0, high=MAX_PROBABILITY),
            "alpha": Stored((), low=0, high=MAX_PARAMETER),
            "beta": Stored((), low=0, high=MAX_PARAMETER),
            "prior_path": Stored(("points", 3)),
        }

    def _step(self, counts: sp.csr_array, seed_counts: SeedCounts) -> Step:
        steps: dict[tuple[float, float], Step] = {}

        def step(state: State) -> float | tuple[float, bool]:
            priors = float(state["alpha"]), float(state["beta"])
            if priors not in steps:
                parameters = (self.n_topics_, self.n_jobs, *priors, float(self.focus), seed_counts)
                steps[priors] = leave_one_out_step(counts, *parameters, keep_rows_on_workers=True)
            return steps[priors](state)

        return step

    def _keep(self, counts: sp.csr_array, state: State) -> None:
        self.alpha_, self.beta_ = float(state["alpha"]), float(state["beta"])
        self.prior_path_ = state["prior_path"] if len(state["prior_path"]) else None
        self.topic_word_ = np.ascontiguousarray(normalise_rows(state["word_topic"][:, : self.n_topics_].T))
        self.topic_weight_ = state["topic_share"].astype(counts.dtype)
        self.word_frequency_ = summed(counts, 0)

    def _check_stream(self) -> None:
        if "auto" in (self.alpha, self.beta):
            raise InputError("'auto' needs all documents at once: give alpha and beta as numbers, or use fit")

    def _move_topics(self, counts: sp.csr_array, share: float, frequency: np.ndarray) -> tuple[np.ndarray, float]:
        n_topics, n_tokens = len(self.topic_word_), token_count(counts)
        every_word = self.beta_ / max(frequency.sum(), 1)
        before = (1 - share) * self.topic_weight_.astype(np.float64)[:, None] * self.topic_word_ + every_word
        step = LeaveOneOutStep(counts, n_topics, self.n_jobs, 0.0, counts_of_seeds({}, 0.0, counts.dtype))
        prior, topic_word, values = self._document_prior(), normalise_rows(before), []
        doc = padded(fold_in_counts(counts, self.topic_word_, prior, self.n_jobs), counts.dtype)
        for _ in range(BATCH_STEPS):
            word = padded(topic_word.T, counts.dtype)
            log_likelihood, tokens = step(doc, word, prior)
            values.append(log_likelihood / n_tokens)
            # P(z, w) of the stream so far, moved towards that of the batch
            joint = before + share * (tokens / n_tokens)[:, None] * word[:, :n_topics].T
            topic_word = normalise_rows(joint)
        return joint, values[0]
