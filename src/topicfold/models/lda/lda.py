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
from ...engine.checks import MOST, check_number, check_whole
from ...engine.loop import BATCH_STEPS, Run, State, step_size
from ...engine.stored import SUM, Stored
from ..base import Dtype
from ..best_start import best_start, state_from
from ..em import Prior, padded, seed_prior, token_count
from ..inputs import CountsLike, RandomStateLike, seen_words
from ..leave_one_out import DocumentPrior, LeaveOneOutStep, document_prior, left_out_step
from ..left_out_fold_in import fold_in_counts, fold_in_shares
from ..mixture import MixtureModel, Step
from ..starts import STARTS, InitLike, SeedWords, check_init, start
from .prior_choice import chosen_priors, first_priors

__all__ = ["LDA"]


class LDA(MixtureModel):
    """Latent Dirichlet allocation: topics with priors that hold up on short documents and unseen ones.

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics.
    alpha : float or 'auto', default=1.0
        Strength of the prior of P(z|d), in tokens per document; the topics share it by their size in the corpus. 'auto'
        chooses it, and 'auto' as beta does the same, on documents held out of the training documents, at the price of
        about two more fits.
    beta : float or 'auto', default=0.03
        Prior of P(w|z), in tokens of every word in every topic.
    focus : float, default=3.0
        Strength of a document's main topic, in tokens: short documents are expected to be about one thing, while long
        ones are free to mix. 0 is plain LDA.
    init : {'auto', 'nmf', 'kmeans', 'random'} or array of shape (n_topics, n_words), default='auto'
        Where EM starts: 'nmf' or 'kmeans' on tf-idf, 'random', or topics that are given. 'auto' tries 'nmf', 'kmeans'
        and clusters of documents made from either, and keeps the best after a few steps.
    n_init : int, default=1
        Number of starts; the fit with the highest objective is kept.
    max_iter : int, default=100
        Most steps of EM.
    tol : float, default=1e-4
        EM stops when the objective per token moves by less than this.
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
    alpha_, beta_ : float
        The priors used.
    prior_path_ : ndarray of shape (n_tried, 3), or None
        With 'auto', what was tried: alpha, beta, held-out log-likelihood per token.
    word_frequency_ : ndarray of shape (n_words,)
        Tokens of each word in training.
    history_ : ndarray of shape (n_iter_,)
        Log-likelihood per token of each token given the others of its document, before each step. It need not rise.
    n_iter_ : int
        Number of steps.
    converged_, interrupted_ : bool
        Whether `tol` was reached; whether Ctrl-C ended the fit.

    References
    ----------
    Blei, D. M., Ng, A. Y. and Jordan, M. I. (2003). Latent Dirichlet allocation. JMLR 3, 993-1022.

    Asuncion, A., Welling, M., Smyth, P. and Teh, Y. W. (2009). On smoothing and inference for topic models. UAI.

    Examples
    --------
    >>> from topicfold import LDA
    >>> texts = ["cat dog cat", "dog cat", "sun moon", "moon star sun"]
    >>> model = LDA(n_topics=2, random_state=0).fit(texts)
    >>> topics = model.predict(["cat and dog", "sun and star"])
    >>> bool(topics[0] != topics[1])
    True
    """

    _rises = False  # the objective leaves each token out, and EM does not climb it step by step

    _stored: ClassVar[Mapping[str, Stored]] = {
        "alpha_": Stored(low=0, high=MOST),
        "beta_": Stored(low=0, high=MOST),
        "prior_path_": Stored(("points", 3), optional=True),
    }

    alpha_: float
    beta_: float
    prior_path_: np.ndarray | None

    def __init__(
        self,
        n_topics: int = 20,
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
        """Raise a ValueError that names a parameter which the model cannot use."""
        self._check_common_parameters()
        check_whole("n_init", self.n_init)
        check_init(self.init, STARTS)
        for name in ("alpha", "beta"):
            if getattr(self, name) != "auto":
                check_number(name, getattr(self, name), above=True, or_else=", or 'auto'")
        check_number("focus", self.focus)

    def document_posterior(self, X: CountsLike) -> np.ndarray:
        """Parameters of an approximate posterior of each document's topics, a Dirichlet distribution.

        Its mean is what `transform` gives. It holds each token's topic for known once it is inferred, so it is a
        little too sure of itself.

        Parameters
        ----------
        X : Corpus, matrix of documents x words, data frame of counts, or list of texts

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Pseudo-counts, above zero; their sum is the document's tokens plus alpha plus focus.
        """
        check_is_fitted(self)
        counts = seen_words(self.word_counts(X, self.topic_word_.dtype), self.word_frequency_)
        return fold_in_counts(counts, self.topic_word_, self._document_prior(), self.n_jobs, with_prior=True)

    def _document_prior(self) -> DocumentPrior:
        return document_prior(self.alpha_, self.topic_weight_, float(self.focus))

    def _fold_in(self, counts: sp.csr_array) -> np.ndarray:
        return fold_in_shares(counts, self.topic_word_, self._document_prior(), self.n_jobs)

    def _check_stream(self) -> None:
        if "auto" in (self.alpha, self.beta):
            raise ValueError("'auto' needs all documents at once: give alpha and beta as numbers, or use fit")

    def _learn_batch(self, counts: sp.csr_array) -> None:
        n_topics, n_before = self.n_topics, getattr(self, "n_batches_", 1)
        share, n_tokens = step_size(n_before), token_count(counts)
        frequency = summed(counts, 0) + self.word_frequency_
        smoothing = self.beta_ / max(frequency.sum(), 1)
        before = (1 - share) * self.topic_weight_.astype(np.float64)[:, None] * self.topic_word_ + smoothing
        step = LeaveOneOutStep(counts, n_topics, self.n_jobs, 0.0, seed_prior({}, 0.0, counts.dtype))
        prior, topic_word, values = self._document_prior(), normalise_rows(before), []
        doc = padded(fold_in_counts(counts, self.topic_word_, prior, self.n_jobs), counts.dtype)
        for _ in range(BATCH_STEPS):
            word = padded(topic_word.T, counts.dtype)
            log_likelihood, tokens = step(doc, word, prior)
            values.append(log_likelihood / n_tokens)
            # P(z, w) of the stream so far, moved towards that of the batch
            joint = before + share * (tokens / n_tokens)[:, None] * word[:, :n_topics].T
            topic_word = normalise_rows(joint)
        self.topic_word_ = np.ascontiguousarray(topic_word.astype(counts.dtype))
        self.topic_weight_ = (joint.sum(axis=1) / joint.sum()).astype(counts.dtype)
        self.word_frequency_ = frequency
        self.n_batches_ = n_before + 1
        self.history_ = np.append(self.history_, values[0])
        self.n_iter_ = len(self.history_)

    def _start(self, counts: sp.csr_array, rng: np.random.RandomState) -> State:
        priors = chosen_priors(self, counts)
        seeds = self._seeds(counts)
        if isinstance(self.init, str) and self.init == "auto" and self.n_topics > 1:
            # with the priors that are given, or the defaults: chosen ones are to change the fit, not its start as well
            alpha, beta = first_priors(self)
            how = {"alpha": alpha, "beta": beta, "focus": float(self.focus), "seed_strength": self.seed_strength}
            return best_start(counts, self.n_topics, rng, seeds=seeds, n_jobs=self.n_jobs, **how) | priors
        return state_from(counts, *start(counts, self.n_topics, self.init, rng, seeds)) | priors

    def _state(self) -> Mapping[str, Stored]:
        return {
            "doc_count": Stored(("documents", "columns"), low=0),
            "word_topic": Stored(("words", "columns"), low=0),
            "topic_share": Stored(("topics",), low=0, high=SUM),
            "alpha": Stored((), low=0, high=MOST),
            "beta": Stored((), low=0, high=MOST),
            "prior_path": Stored(("points", 3)),
        }

    def _step(self, counts: sp.csr_array, prior: Prior) -> Step:
        steps: dict[tuple[float, float], Step] = {}

        def step(state: State) -> float | tuple[float, bool]:
            priors = float(state["alpha"]), float(state["beta"])
            if priors not in steps:
                how = (self.n_topics, self.n_jobs, *priors, float(self.focus), prior)
                steps[priors] = left_out_step(counts, *how, rows_stay=True)
            return steps[priors](state)

        return step

    def _keep(self, counts: sp.csr_array, state: State, run: Run) -> None:
        self.alpha_, self.beta_ = float(state["alpha"]), float(state["beta"])
        self.prior_path_ = state["prior_path"] if len(state["prior_path"]) else None
        self.topic_word_ = np.ascontiguousarray(normalise_rows(state["word_topic"][:, : self.n_topics].T))
        self.topic_weight_ = state["topic_share"].astype(counts.dtype)
        self.word_frequency_ = summed(counts, 0)
        self.doc_topic_ = self._fold_in(counts)
        self._keep_documents(counts, self.doc_topic_)
