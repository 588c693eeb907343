"""TTMM: the theme topic mixture model (Keller and Bengio 2003), by exact EM.

A document has one theme h of J, a theme mixes topics t of K, a topic is a distribution over words:
P(d) = sum_h P(h) prod_w (sum_t P(t|h) P(w|t))^n(d,w).

The E-step is one product of the counts with log P(w|h). All that the M-step needs from the documents is how often each
theme used each word; the rest is one PLSA step on that table, with themes in place of documents.

Themes that start all alike stay alike for hundreds of steps (the flat part of Fig. 3 in the report is this saddle
point), so the default start is made from the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ...engine.arrays import column_sums, normalise_rows, summed
from ...engine.blocks import single_threaded_libraries
from ...engine.checks import check_choice, check_float_dtype, check_number, check_whole
from ...engine.loop import ExpectedState, Run, State, hold_interrupts, iterate, step_size
from ...engine.stored import MAX_PROBABILITY, Stored
from ...errors import InputError
from ..em.plsa_kernels import check_size
from ..em.starts import check_init
from ..estimator import Dtype
from ..inputs import CountsLike, RandomStateLike
from .theme_em import ThemeStep, learn_batch
from .theme_features import theme_codes
from .theme_model import LABELS, LEAST_USED, Features, ThemeModel
from .theme_start import start_themes, start_topics

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["FEATURES", "TTMM"]

FEATURES = ("tokens", "paper", "log", "themes")


class TTMM(ThemeModel):
    """Theme topic mixture model: each document has one theme, each theme mixes topics.

    Themes are clusters of documents, topics are distributions over words. With n_themes='labels' the themes are the
    classes of y, and the model is a semi-supervised classifier.

    Parameters
    ----------
    n_themes : int or 'labels', default=50
        Number of themes. 'labels' takes the classes of y as themes; -1, None, NaN or '' means unlabelled. With a
        number, y is not used, so that the model can be followed by a classifier in a pipeline.
    n_topics : int, default=20
        Number of topics.
    init : {'data', 'random'} or array of shape (n_topics, n_words), default='data'
        Where EM starts: 'data' (topics from a short PLSA, themes from k-means on its P(z|d)), 'random' (nearly even
        tables, the start used in the report), or given topics, such as those of another model.
    features : {'tokens', 'paper', 'log', 'themes'}, default='tokens'
        What `transform` returns. 'tokens' is the share of the tokens of a document that each topic generated; 'paper'
        is equation 8 of the report, one topic for all words, with values close to 0 or 1; 'log' is its logarithm per
        token, which is not a distribution; 'themes' is P(h|d).
    beta : float, default=0.1
        Pseudo-count of every word in every topic, so that their sum grows with `n_topics`. 0 is maximum likelihood.
    max_iter : int, default=100
        Maximum number of EM steps.
    tol : float, default=1e-4
        EM stops when the log-likelihood per token rises by less than this.
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
    theme_weight_ : ndarray of shape (n_themes,)
        P(h), the share of each theme in the documents.
    theme_topic_ : ndarray of shape (n_themes, n_topics)
        P(t|h), the share of each topic in each theme.
    topic_word_ : ndarray of shape (n_topics, n_words)
        P(w|t), the probability of each word in each topic. Also available as `components_`.
    doc_theme_ : ndarray of shape (n_documents, n_themes)
        P(h|d), the probability of each theme for each training document.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        Share of the tokens of each training document that each topic generated.
    topic_weight_ : ndarray of shape (n_topics,)
        P(t), the share of each topic in the corpus.
    word_frequency_ : ndarray of shape (n_words,)
        Number of tokens of each word in the training documents.
    n_themes_ : int
        Number of themes.
    n_themes_used_ : int
        Number of themes with at least half a document.
    classes_ : ndarray of shape (n_themes,)
        The labels. Defined only with n_themes='labels'.
    history_ : ndarray of shape (n_iter,)
        Log-likelihood per token before each step, including the prior if there is one.
    n_iter_ : int
        Number of steps.
    converged_ : bool
        Whether `tol` was reached within `max_iter` steps.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early.
    wordless_ : ndarray of int of shape (n_wordless,)
        Rows of the training documents without a known word.
    n_batches_ : int
        Number of batches that `partial_fit` has learned from. Defined only after `partial_fit`.
    word_documents_ : ndarray of shape (n_topics, n_words)
        Expected number of documents of each topic that contain each word; the words of a topic are ranked by it.
    topic_documents_ : ndarray of shape (n_topics,)
        Expected number of documents of each topic: the sum of P(z|d) over the training documents.
    topic_marks_ : tuple of str of length n_topics
        Why a topic may be junk, or '' if there is no sign of it.
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
    PLSA : Each document has its own mixture of topics.
    TopicClassifier : A classifier on the topics of any model.
    LDCC : Document-topics over word-topics, for documents made of segments.

    References
    ----------
    Keller, M. and Bengio, S. (2003). Textual data representation. IDIAP-RR 03-74.

    Keller, M. and Bengio, S. (2004). Theme topic mixture model: a graphical model for document representation.
    IDIAP-RR 04-05.

    Examples
    --------
    >>> from topicfold import TTMM
    >>> texts = ["cat dog cat", "dog cat", "sun moon", "moon star sun"]
    >>> model = TTMM(n_themes=2, n_topics=2, random_state=0).fit(texts)
    >>> themes = model.predict_theme(["cat dog", "moon sun"])
    >>> bool(themes[0] != themes[1])
    True
    """

    def __init__(
        self,
        n_themes: int | Literal["labels"] = 50,
        n_topics: int = 20,
        *,
        init: Literal["data", "random"] | ArrayLike = "data",
        features: Features = "tokens",
        beta: float = 0.1,
        max_iter: int = 100,
        tol: float = 1e-4,
        dtype: Dtype = "float32",
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.n_themes = n_themes
        self.n_topics = n_topics
        self.init = init
        self.features = features
        self.beta = beta
        self.max_iter = max_iter
        self.tol = tol
        self.dtype = dtype
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
        if self.n_themes != LABELS:
            check_whole("n_themes", self.n_themes, or_else=", or 'labels'")
        check_whole("n_topics", self.n_topics)
        check_whole("max_iter", self.max_iter)
        check_number("tol", self.tol)
        check_number("beta", self.beta)
        check_choice("features", self.features, FEATURES)
        check_init(self.init, ("data", "random"))
        check_float_dtype(self.dtype)

    def fit(self, X: CountsLike, y: ArrayLike | None = None) -> Self:
        """Fit themes and topics to documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : array-like of shape (n_documents,), default=None
            Labels, used only with n_themes='labels': the classes are the themes.

        Returns
        -------
        object
            The model itself, fitted.

        Raises
        ------
        InputError
            If a parameter or X cannot be used, for example if there are more themes than documents.
        """
        self.check_parameters()
        counts = self._fit_counts(X, np.dtype(self.dtype))
        check_size(counts, self.n_topics)
        known = self._known_themes(counts.shape[0], y)
        checkpoint, resumed = self._open_checkpoint(self._expected_state(counts), counts, known)
        if resumed is None:
            state, history = self._start(counts, known), []
        else:
            state, history = resumed[0], resumed[1]["history"]
        with single_threaded_libraries():
            run = iterate(
                ThemeStep(counts, self.n_themes_, self.beta, known, self.n_jobs),
                state,
                max_iter=self.max_iter,
                tol=self.tol,
                title="TTMM",
                verbose=self.verbose,
                checkpoint=checkpoint,
                history=history,
            )
        with hold_interrupts():
            self._keep(counts, state, run)
            self._keep_documents(counts, self.doc_topic_)
        if checkpoint is not None and run.finished:
            checkpoint.remove()
        return self

    def partial_fit(self, X: CountsLike, y: ArrayLike | None = None) -> Self:
        """Learn from one more batch of a stream of documents, by stepwise EM.

        The first batch is fitted as by `fit`; with n_themes='labels' it also determines the classes. Batches are not
        kept: `doc_topic_` and `doc_theme_` belong to the last batch, and `history_` has the log-likelihood per token
        of each batch before the model learned from it.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : array-like of shape (n_documents,), default=None
            Labels, used only with n_themes='labels'.

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
            self.fit(X, y)
            self.n_batches_ = 1
            self.history_ = self.history_[-1:]
            return self
        counts = self.word_counts(X, self.topic_word_.dtype)
        known = self._known_themes(counts.shape[0], y, settle=False)
        self._remember_documents(X, counts)
        if counts.nnz == 0:  # nothing to learn from
            self.doc_theme_ = self._doc_theme(counts)[0]
            self.doc_topic_ = self._features(counts, "tokens", self.doc_theme_)
            return self
        state = {
            "theme_weight": self.theme_weight_,
            "theme_topic": self.theme_topic_,
            "word_topic": np.ascontiguousarray(self.topic_word_.T),
        }
        n_before = getattr(self, "n_batches_", 1)
        frequency = self.word_frequency_ + summed(counts, 0)
        step = ThemeStep(counts, self.n_themes_, self.beta, known, self.n_jobs)
        log_likelihood = learn_batch(step, state, step_size(n_before), self.word_frequency_.sum())
        self._keep(counts, state, Run([*self.history_, log_likelihood], False, True))
        self._keep_documents(counts, self.doc_topic_, add=True)
        self.word_frequency_ = frequency
        self.n_batches_ = n_before + 1
        return self

    def fit_transform(self, X: CountsLike, y: ArrayLike | None = None) -> np.ndarray:
        """Fit the model and return the features of the training documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : array-like of shape (n_documents,), default=None
            Labels, used only with n_themes='labels': the classes are the themes.

        Returns
        -------
        ndarray of shape (n_documents, n_topics) or (n_documents, n_themes)
            One row per document. The columns are themes with features='themes', otherwise topics.
        """
        self.fit(X, y)
        return self.doc_topic_ if self.features == "tokens" else self.transform(X)

    def fit_predict(self, X: CountsLike, y: ArrayLike | None = None) -> np.ndarray:
        """Fit the model and predict the training documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : array-like of shape (n_documents,), default=None
            Labels, used only with n_themes='labels': the classes are the themes.

        Returns
        -------
        ndarray of shape (n_documents,)
            The largest topic of each document, or with n_themes='labels' its most probable class.
        """
        return self.fit(X, y).predict(X)

    def _known_themes(self, n_documents: int, y: ArrayLike | None, settle: bool = True) -> np.ndarray:
        """The theme of each document if it is known, else -1; with `settle`, classes_ and n_themes_ are set."""
        if settle:
            self.__dict__.pop("classes_", None)
        if self.n_themes == LABELS:
            self.classes_, known = theme_codes(y, n_documents, None if settle else self.classes_)
            self.n_themes_ = len(self.classes_)
            return known
        self.n_themes_ = int(self.n_themes)
        if settle and self.n_themes_ > n_documents:
            raise InputError(
                f"n_themes={self.n_themes} is more than there are documents (n_samples={n_documents}): a theme needs "
                "a document"
            )
        return np.full(n_documents, -1)

    def _expected_state(self, counts: sp.csr_array) -> ExpectedState:
        declared = {
            "theme_weight": Stored(("themes",), low=0, high=MAX_PROBABILITY),
            "theme_topic": Stored(("themes", "topics"), low=0, high=MAX_PROBABILITY),
            "word_topic": Stored(("words", "topics"), low=0, high=MAX_PROBABILITY),
        }
        sizes = {"themes": self.n_themes_, "topics": self.n_topics, "words": counts.shape[1]}

        def fits(values: Mapping[str, Any]) -> None:
            empty = [name for name in declared if not values[name].any()]
            if empty:
                raise InputError(f"its {empty[0]} contains only zeros")

        return ExpectedState(declared, sizes, fits)

    def _start(self, counts: sp.csr_array, known: np.ndarray) -> State:
        rng = check_random_state(self.random_state)
        n_themes, n_topics, dtype = self.n_themes_, self.n_topics, counts.dtype
        if isinstance(self.init, str) and self.init == "random":
            theme_topic = 1 + 0.1 * rng.random_sample((n_themes, n_topics))
            word_topic = 1 + 0.1 * rng.random_sample((counts.shape[1], n_topics))
        else:
            given = None if isinstance(self.init, str) else self.init
            topic_word, doc_topic = start_topics(counts, n_topics, given, rng, self.n_jobs)
            theme_topic, word_topic = start_themes(doc_topic, n_themes, known, rng), topic_word.T.copy()
        return {
            "theme_weight": np.full(n_themes, 1 / n_themes, dtype),
            "theme_topic": normalise_rows(theme_topic).astype(dtype),
            "word_topic": normalise_rows(word_topic.T).T.astype(dtype),
        }

    def _keep(self, counts: sp.csr_array, state: State, run: Run) -> None:
        self.theme_weight_ = state["theme_weight"]
        self.theme_topic_ = np.ascontiguousarray(state["theme_topic"])
        self.topic_word_ = np.ascontiguousarray(state["word_topic"].T)
        weight = self.theme_weight_ @ self.theme_topic_
        self.topic_weight_ = weight / weight.sum()
        self.word_frequency_ = summed(counts, 0)
        self.doc_theme_ = self._doc_theme(counts)[0]
        self.doc_topic_ = self._features(counts, "tokens", self.doc_theme_)
        self.n_themes_used_ = int((column_sums(self.doc_theme_) >= LEAST_USED).sum())
        self._keep_run(run)
