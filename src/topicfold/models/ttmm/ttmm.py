"""TTMM: the theme topic mixture model (Keller and Bengio 2003), by exact EM.

A document has one theme h of J, a theme mixes topics t of K, a topic is a distribution over words:
P(d) = sum_h P(h) prod_w (sum_t P(t|h) P(w|t))^n(d,w).

The E-step is one product of the counts with log P(w|h). All that the M-step needs from the documents is how often each
theme used each word; the rest is one PLSA step on that table, with themes in place of documents.

Themes that start all alike stay alike for hundreds of steps (the flat part of Fig. 3 in the report is this saddle
point), so the default start is made from the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...corpus.corpus import Corpus
from ...engine.arrays import column_sums, normalise_rows, summed
from ...engine.checks import check_choice, check_float_dtype, check_number, check_whole
from ...engine.loop import Run, State
from ...engine.stored import MAX_PROBABILITY, Stored, distributions
from ...errors import InputError
from ...topics.changes import add_level_above
from ...topics.tree import TopicTree
from ..em.plsa_kernels import check_size
from ..em.starts import check_init
from ..estimator import Dtype, StreamedTopicModel
from ..fit_loop import Fit, Stage, run_fit
from ..inputs import CountsLike, RandomStateLike, seen_words
from .theme_em import ThemeStep, learn_batch
from .theme_features import one_topic_features, theme_codes, themes_of, token_shares
from .theme_start import start_themes, start_topics

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["FEATURES", "TTMM"]

Features: TypeAlias = Literal["tokens", "paper", "log", "themes"]

FEATURES = ("tokens", "paper", "log", "themes")
LABELS = "labels"
_LEAST_USED = 0.5  # documents of a theme that is in use


def _themes_are_classes(model: TTMM) -> bool:
    if model.n_themes != LABELS:
        raise AttributeError("the themes are not classes: create the model with n_themes='labels'")
    return True


class TTMM(StreamedTopicModel):
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
        Where EM starts: 'data' (topics start as those of LDA, themes from k-means on their P(z|d)), 'random' (nearly
        even tables, the start used in the report), or given topics, such as those of another model.
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
    doc_theme_ : ndarray of shape (n_documents, n_themes)
        P(h|d), the probability of each theme for each training document.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        Share of the tokens of each training document that each topic generated.
    n_themes_ : int
        Number of themes.
    n_themes_used_ : int
        Number of themes with at least half a document.
    classes_ : ndarray of shape (n_themes,)
        The labels. Defined only with n_themes='labels'.
    history_ : ndarray of shape (n_iter,)
        Log-likelihood per token before each step, including the prior if there is one.

    See Also
    --------
    TopicModel : The attributes and methods that all models have.
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

    _stored: ClassVar[Mapping[str, Stored]] = {
        "theme_weight_": distributions("themes"),
        "theme_topic_": distributions("themes", "topics"),
        "doc_theme_": distributions("documents", "themes"),
        "n_themes_": Stored(kind="int", low=1),
        "n_themes_used_": Stored(kind="int", low=0),
        "classes_": Stored(("themes",), "labels", may_be_missing=True),
    }

    theme_weight_: np.ndarray
    theme_topic_: np.ndarray
    doc_theme_: np.ndarray
    n_themes_: int
    n_themes_used_: int

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
        if self.n_themes != LABELS:
            check_whole("n_themes", self.n_themes, or_else=", or 'labels'")
        check_whole("n_topics", self.n_topics)
        check_whole("max_iter", self.max_iter)
        check_number("tol", self.tol)
        check_number("beta", self.beta)
        check_choice("features", self.features, FEATURES)
        check_init(self.init, ("data", "random"))
        check_float_dtype(self.dtype)

    def transform(self, X: CountsLike) -> np.ndarray:
        """Compute the features of new documents, as set by `features`.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_topics) or (n_documents, n_themes)
            One row per document. The columns are themes with features='themes', otherwise topics.
        """
        return self._features(self._known_words(X), self.features)

    def log_likelihood(self, X: CountsLike) -> np.ndarray:
        """Compute the exact log P(d) of each document.

        It does not include the number of possible orders of the words.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents,)
            Log-likelihood of each document, in nats.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        check_is_fitted(self)
        return self._doc_theme(self.word_counts(X, self.topic_word_.dtype))[1]

    def document_themes(self, X: CountsLike) -> np.ndarray:
        """Infer P(h|d) of documents, regardless of `features`.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_themes)
            The probability of each theme, one row per document.
        """
        return self._doc_theme(self._known_words(X))[0]

    def predict_theme(self, X: CountsLike) -> np.ndarray:
        """Predict the most probable theme of each document.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents,)
            Number of the theme.
        """
        return self.document_themes(X).argmax(axis=1)

    @available_if(_themes_are_classes)
    def predict_proba(self, X: CountsLike) -> np.ndarray:
        """Predict the probability of each class; only with n_themes='labels'.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.

        Returns
        -------
        ndarray of shape (n_documents, n_themes)
            P(class|d), with the columns in the order of `classes_`.
        """
        return self.document_themes(X)

    def topic_tree(self, corpus: Corpus | None = None) -> TopicTree:
        """Return the topics as a TopicTree of two levels: themes over topics, weighted by P(t|h).

        Themes with less than half a document are left out. `topic_tree(corpus).select_levels([1])` gives the topics
        alone.

        Parameters
        ----------
        corpus : Corpus, default=None
            The documents of the tree. None, or the corpus of the fit, gives the training documents; another corpus is
            assigned to the topics first.

        Returns
        -------
        TopicTree
            Themes and topics with their words and documents.
        """
        check_is_fitted(self)
        doc_topic, doc_theme = self.doc_topic_, self.doc_theme_
        if corpus is not None and not self._is_fitted_on(corpus):
            counts = self._known_words(corpus)
            doc_theme = self._doc_theme(counts)[0]
            doc_topic = self._features(counts, "tokens", doc_theme)
        n_documents = column_sums(self.doc_theme_)
        used = np.flatnonzero(n_documents >= min(_LEAST_USED, n_documents.max()))  # at least one, after a small batch
        return add_level_above(
            self._one_level(doc_topic, corpus),
            numbers=used,
            share=self.theme_topic_[used].astype(np.float64),
            weight=self.theme_weight_[used],
            membership=doc_theme[:, used],
            level_names=("topic", "theme"),
            names=None if not hasattr(self, "classes_") else self.classes_[used],
        )

    def _fit(self, X: CountsLike, y: Any) -> None:
        counts = self._fit_counts(X, np.dtype(self.dtype))
        check_size(counts, self.n_topics)
        known = self._known_themes(counts.shape[0], y)

        def start(random_state: RandomStateLike) -> State:
            return self._start(counts, known, check_random_state(random_state))

        def stages(state: State) -> Iterator[Stage]:
            yield Stage(ThemeStep(counts, self.n_themes_, self.beta, known, self.n_jobs), self.max_iter, self.tol)

        def keep(state: State, run: Run) -> None:
            self._keep(counts, state)
            self._keep_documents(counts, self.doc_topic_)
            self._keep_run(run)

        arrays = {
            "theme_weight": Stored(("themes",), low=0, high=MAX_PROBABILITY),
            "theme_topic": Stored(("themes", "topics"), low=0, high=MAX_PROBABILITY),
            "word_topic": Stored(("words", "topics"), low=0, high=MAX_PROBABILITY),
        }

        def check(values: Mapping[str, Any]) -> None:
            empty = [name for name in arrays if not values[name].any()]
            if empty:
                raise InputError(f"its {empty[0]} contains only zeros")

        sizes = {"themes": self.n_themes_, "topics": self.n_topics, "words": counts.shape[1]}
        run_fit(self, Fit((counts, known), [self.random_state], start, stages, keep, arrays, sizes, check))

    def _check_stream(self) -> None:
        """Batches can be learned with any parameters."""

    def _learn_batch(self, counts: sp.csr_array, y: Any) -> None:
        known = self._known_themes(counts.shape[0], y, settle=False)
        if counts.nnz == 0:  # nothing to learn from
            self.doc_theme_ = self._doc_theme(counts)[0]
            self.doc_topic_ = self._features(counts, "tokens", self.doc_theme_)
            return
        state = {
            "theme_weight": self.theme_weight_,
            "theme_topic": self.theme_topic_,
            "word_topic": np.ascontiguousarray(self.topic_word_.T),
        }
        frequency = self.word_frequency_ + summed(counts, 0)
        step = ThemeStep(counts, self.n_themes_, self.beta, known, self.n_jobs)
        log_likelihood = learn_batch(step, state, float(self.word_frequency_.sum()))
        self._keep(counts, state)
        self._keep_run(Run([*self.history_, log_likelihood], False, True))
        self._keep_documents(counts, self.doc_topic_, add=True)
        self.word_frequency_ = frequency
        self.n_batches_ = getattr(self, "n_batches_", 1) + 1

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

    def _start(self, counts: sp.csr_array, known: np.ndarray, rng: np.random.RandomState) -> State:
        n_themes, n_topics, dtype = self.n_themes_, self.n_topics, counts.dtype
        if isinstance(self.init, str) and self.init == "random":
            theme_topic = 1 + 0.1 * rng.random_sample((n_themes, n_topics))
            word_topic = 1 + 0.1 * rng.random_sample((counts.shape[1], n_topics))
        else:
            topics = None if isinstance(self.init, str) else self.init
            topic_word, doc_topic = start_topics(counts, n_topics, topics, rng, self.n_jobs)
            theme_topic, word_topic = start_themes(doc_topic, n_themes, known, rng), topic_word.T.copy()
        return {
            "theme_weight": np.full(n_themes, 1 / n_themes, dtype),
            "theme_topic": normalise_rows(theme_topic).astype(dtype),
            "word_topic": normalise_rows(word_topic.T).T.astype(dtype),
        }

    def _keep(self, counts: sp.csr_array, state: State) -> None:
        self.theme_weight_ = state["theme_weight"]
        self.theme_topic_ = np.ascontiguousarray(state["theme_topic"])
        self.topic_word_ = np.ascontiguousarray(state["word_topic"].T)
        weight = self.theme_weight_ @ self.theme_topic_
        self.topic_weight_ = weight / weight.sum()
        self.word_frequency_ = summed(counts, 0)
        self.doc_theme_ = self._doc_theme(counts)[0]
        self.doc_topic_ = self._features(counts, "tokens", self.doc_theme_)
        self.n_themes_used_ = int((column_sums(self.doc_theme_) >= _LEAST_USED).sum())

    def _document_topics(self, X: CountsLike) -> np.ndarray:
        return self._features(self._known_words(X), "tokens")

    def _training_output(self, X: CountsLike) -> np.ndarray:
        return self.doc_topic_ if self.features == "tokens" else self.transform(X)

    def _main_shares(self, X: CountsLike | None, **inputs: Any) -> np.ndarray:
        if self.n_themes == LABELS:
            return self.doc_theme_ if X is None else self.document_themes(X, **inputs)
        return super()._main_shares(X, **inputs)

    def _score(self, X: CountsLike) -> float:
        return self._completion(X, lambda seen: normalise_rows(self._doc_theme(seen)[0] @ self.theme_topic_))

    def _n_outputs(self) -> int:
        return self.n_themes_ if self.features == "themes" else len(self.topic_word_)

    def _check_learned(self) -> None:
        if self.n_themes_ != len(self.theme_weight_):
            raise InputError(f"it has {len(self.theme_weight_)} themes: expected n_themes_={self.n_themes_}")
        if self.n_themes == LABELS and not hasattr(self, "classes_"):
            raise InputError("it has no classes_")

    def _known_words(self, X: CountsLike) -> sp.csr_array:
        check_is_fitted(self)
        return seen_words(self.word_counts(X, self.topic_word_.dtype), self.word_frequency_)

    def _doc_theme(self, counts: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
        """P(h|d) and log P(d) under the fitted model."""
        return themes_of(counts, self.theme_weight_, self.theme_topic_, self.topic_word_, self.n_jobs)

    def _features(self, counts: sp.csr_array, features: Features, doc_theme: np.ndarray | None = None) -> np.ndarray:
        if features in ("paper", "log"):
            tables = (self.theme_weight_, self.theme_topic_, self.topic_word_)
            return one_topic_features(counts, *tables, logs=features == "log")
        doc_theme = self._doc_theme(counts)[0] if doc_theme is None else doc_theme
        if features == "themes":
            return doc_theme
        return token_shares(counts, doc_theme, self.theme_topic_, self.topic_word_, self.topic_weight_, self.n_jobs)
