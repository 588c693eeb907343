"""TTMM: the theme topic mixture model (Keller and Bengio 2003), by exact EM.

A document has one theme h of J, a theme mixes topics t of K, a topic is a distribution over words:
P(d) = sum_h P(h) prod_w (sum_t P(t|h) P(w|t))^n(d,w).

The E-step is one product of the counts with log P(w|h). All that the M-step needs of the documents is how often each
theme used each word; what follows is one PLSA step on that table, themes in the place of documents.

Themes that start all alike stay alike for hundreds of steps (the flat stretch in the report's Fig. 3 is that saddle),
so the default start is made from the data.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...engine.arrays import csr_parts
from ...engine.blocks import map_blocks, row_blocks, single_threaded_libraries
from ...engine.checks import check_whole_numbers
from ...engine.loop import BATCH_STEPS, Checkpoint, Run, State, fingerprint, hold_interrupts, iterate, step_size
from ...metrics.completion import completion_log_likelihood, split_tokens
from ..em import SMALLEST, check_parameters, check_size
from ..inputs import as_counts, count_tags, remember_documents, seen_words
from .theme_em import ThemeStep, even_blocks, log_word_theme, normalise, posterior, token_topics

if TYPE_CHECKING:
    from ...corpus.corpus import Corpus
    from ...topics.tree import TopicTree

__all__ = ["FEATURES", "TTMM"]

FEATURES = ("tokens", "paper", "log", "themes")
_START_ITER = 20  # steps of PLSA that topics start from
_LEAST_THEME = 1e-4  # themes below it do not change a document's topics in the fourth decimal
_LEAST_USED = 0.5  # documents of a theme that is in use
_LABELS = "labels"


def _themes_are_classes(model: Any) -> bool:
    if model.n_themes != _LABELS:
        raise AttributeError("the themes are not classes: make the model with n_themes='labels'")
    return True


class TTMM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Theme topic mixture model: each document has a theme, each theme a mix of topics.

    Parameters
    ----------
    n_themes : number of themes, or 'labels': the classes of y are the themes, and -1 or None is unlabelled. With a
        number y is not used, so that the model can stand before a classifier in a pipeline.
    n_topics : number of topics.
    init : 'data' (topics from a short PLSA, themes from k-means on its P(z|d)), 'lda' (topics from LDA, an extra, and
        as slow as LDA itself), or 'random' (nearly even tables, as in the report).
    features : what transform gives. 'tokens': the share of a document's tokens that each topic made; 'paper': the
        report's eq. 8, one topic for all words, close to 0 or 1; 'log': its logarithm a token, not a distribution;
        'themes': P(h|d).
    smoothing : pseudo-count of every word in every topic, so that their sum grows with n_topics; 0 is maximum
        likelihood.
    max_iter, tol, dtype, random_state, n_jobs, verbose, checkpoint : as in PLSA.

    Attributes
    ----------
    theme_weight_ : P(h). theme_topic_ : P(t|h). topic_word_ : P(w|t), also as components_.
    doc_theme_ : P(h|d) of the training documents. doc_topic_ : their topics, as 'tokens'.
    topic_weight_ : P(t). word_frequency_ : tokens of each word in training.
    n_themes_ : number of themes. n_themes_used_ : those with at least half a document.
    classes_ : the labels, when the themes are classes.
    history_, n_iter_, converged_, interrupted_ : as in PLSA.

    Examples
    --------
    >>> from topicfold import Corpus, TTMM
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    >>> model = TTMM(n_themes=2, n_topics=2, random_state=0).fit(corpus)
    >>> bool(model.predict_theme(["cat dog"])[0] == model.predict_theme(corpus)[0])
    True
    """

    theme_weight_: np.ndarray
    theme_topic_: np.ndarray
    topic_word_: np.ndarray
    doc_theme_: np.ndarray
    doc_topic_: np.ndarray
    word_frequency_: np.ndarray
    history_: np.ndarray

    def __init__(
        self,
        n_themes: int | str = 50,
        n_topics: int = 20,
        *,
        init: str = "data",
        features: str = "tokens",
        smoothing: float = 0.1,
        max_iter: int = 100,
        tol: float = 1e-4,
        dtype: Any = "float32",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_themes = n_themes
        self.n_topics = n_topics
        self.init = init
        self.features = features
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None) -> TTMM:
        """Fit themes and topics to documents x words; with n_themes='labels' the classes of y are the themes."""
        dtype = check_parameters(self)
        if self.features not in FEATURES:
            raise ValueError(f"features={self.features!r}: expected one of {', '.join(FEATURES)}")
        counts = as_counts(self, X, reset=True, dtype=dtype)
        check_size(counts, self.n_topics)
        known = self._known_themes(counts.shape[0], y)
        checkpoint = None if self.checkpoint is None else Checkpoint(self.checkpoint, fingerprint(self, counts, known))
        resumed = None if checkpoint is None else checkpoint.read()
        if resumed is None:
            state, history = self._start(counts, known), []
        else:
            state, history = resumed[0], resumed[1]["history"]
        with single_threaded_libraries():
            run = iterate(
                ThemeStep(counts, self.n_themes_, self.smoothing, known, self.n_jobs),
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
        if checkpoint is not None and run.finished:
            checkpoint.remove()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> TTMM:
        """Learn from one more batch of a stream of documents, by stepwise EM; batches are not kept.

        The first batch is fitted as by `fit` and settles the classes, where themes are classes. `doc_topic_` and
        `doc_theme_` are those of the last batch, `history_` its log-likelihood a token before it was learned from.
        """
        if not hasattr(self, "topic_word_"):
            self.fit(X, y)
            self.n_batches_ = 1
            self.history_ = self.history_[-1:]
            return self
        counts = self._counts(X)
        known = self._known_themes(counts.shape[0], y, settle=False)
        if counts.nnz == 0:
            return self
        state = {
            "theme_weight": self.theme_weight_,
            "theme_topic": self.theme_topic_,
            "word_topic": np.ascontiguousarray(self.topic_word_.T),
        }
        n_before = getattr(self, "n_batches_", 1)
        frequency = self.word_frequency_ + counts.sum(axis=0, dtype=np.float64)
        log_likelihood = self._learn_batch(counts, known, state, step_size(n_before))
        self._keep(counts, state, Run([*self.history_, log_likelihood], False, True))
        self.word_frequency_ = frequency
        self.n_batches_ = n_before + 1
        remember_documents(self, X)
        return self

    def _learn_batch(self, counts: sp.csr_array, known: np.ndarray, state: State, share: float) -> float:
        """Move the state towards the batch by a share; the log-likelihood a token before."""
        step = ThemeStep(counts, self.n_themes_, self.smoothing, known, self.n_jobs)
        tokens_of_theme = self.theme_weight_[:, None] * self.theme_topic_  # documents of a stream are alike in length
        old = (self.theme_weight_, tokens_of_theme, state["word_topic"] * tokens_of_theme.sum(axis=0))
        smoothing = share * self.smoothing / (self.word_frequency_.sum() + step.n_tokens)
        values = []
        for _ in range(BATCH_STEPS):
            with single_threaded_libraries():
                sums, log_likelihood = step.expected(state)
            values.append(log_likelihood / step.n_tokens)
            new = (sums[0] / max(sums[0].sum(), 1e-300), sums[1] / step.n_tokens, sums[2] / step.n_tokens)
            weight, theme_topic, word_topic = ((1 - share) * a + share * b for a, b in zip(old, new))
            word_topic += smoothing
            state["theme_weight"] = normalise(weight[None])[0]
            state["theme_topic"] = normalise(theme_topic)
            state["word_topic"] = np.ascontiguousarray(normalise(word_topic.T).T)
        return values[0]

    def transform(self, X: Any) -> np.ndarray:
        """The features of new documents, one row each, whatever else is in the batch."""
        check_is_fitted(self)
        return self._features(seen_words(self._counts(X), self.word_frequency_), self.features)

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return the features of the training documents."""
        self.fit(X, y)
        return self.doc_topic_ if self.features == "tokens" else self.transform(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood a token by document completion: half of each document is seen, the rest is scored."""
        check_is_fitted(self)
        counts = self._counts(X)
        check_whole_numbers(counts, "score (document completion)")
        seen, held_out = split_tokens(counts)
        mixture = normalise(self._doc_theme(seen_words(seen, self.word_frequency_))[0] @ self.theme_topic_)
        return completion_log_likelihood(held_out, mixture, self.topic_word_, self.word_frequency_)

    def log_likelihood(self, X: Any) -> np.ndarray:
        """log P(d) of each document, exactly, in nats; without the count of orders its words could stand in."""
        check_is_fitted(self)
        return self._doc_theme(self._counts(X))[1]

    def predict_theme(self, X: Any) -> np.ndarray:
        """The most probable theme of each document, by number."""
        check_is_fitted(self)
        return self._doc_theme(self._counts(X))[0].argmax(axis=1)

    @available_if(_themes_are_classes)
    def predict_proba(self, X: Any) -> np.ndarray:
        """P(class|d), columns in the order of classes_; only with n_themes='labels'."""
        check_is_fitted(self)
        return self._doc_theme(self._counts(X))[0]

    @available_if(_themes_are_classes)
    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each document; only with n_themes='labels'."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def theme_tree(self, corpus: Corpus | None = None) -> TopicTree:
        """Themes over topics with P(t|h) as the weights between them, as the explorer shows them.

        Themes of less than half a document are left out. `topic_tree(model, corpus)` gives the topics alone.
        """
        from ...topics.levels import with_level_above
        from ..trees import topic_tree

        tree = topic_tree(self, corpus)  # checks that it is fitted
        known = tree.doc_topic is self.doc_topic_
        doc_theme = self.doc_theme_ if known else self._doc_theme(self._counts(corpus))[0]
        used = np.flatnonzero(self.doc_theme_.sum(axis=0, dtype=np.float64) >= _LEAST_USED)
        return with_level_above(
            tree,
            numbers=used,
            share=self.theme_topic_[used].astype(np.float64),
            weight=self.theme_weight_[used],
            membership=doc_theme[:, used],
            level_names=("topic", "theme"),
            names=None if not hasattr(self, "classes_") else self.classes_[used],
        )

    @property
    def components_(self) -> np.ndarray:
        """P(w|t), by scikit-learn's name."""
        return self.topic_word_

    @property
    def _n_features_out(self) -> int:
        return self.n_themes_ if self.features == "themes" else len(self.topic_word_)

    def __sklearn_tags__(self) -> Any:
        return count_tags(super().__sklearn_tags__())

    def _counts(self, X: Any) -> sp.csr_array:
        return as_counts(self, X, reset=False, dtype=self.topic_word_.dtype)

    def _doc_theme(self, counts: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
        """P(h|d) and log P(d) under the fitted model."""
        n_words = self.topic_word_.shape[1]
        word_theme = np.empty((n_words, self.n_themes_), self.topic_word_.dtype)
        state = {"word_topic": self.topic_word_.T, "theme_topic": self.theme_topic_}
        with single_threaded_libraries():
            log_word_theme(state, even_blocks(n_words, self.n_themes_), word_theme, self.n_jobs)
            return posterior(counts, word_theme, self.theme_weight_, n_jobs=self.n_jobs)

    def _features(self, counts: sp.csr_array, features: str, doc_theme: np.ndarray | None = None) -> np.ndarray:
        if features in ("tokens", "themes"):
            doc_theme = self._doc_theme(counts)[0] if doc_theme is None else doc_theme
            return doc_theme if features == "themes" else self._token_shares(counts, doc_theme)
        # eq. 8: P(t=k, d) = prod_w P(w|t=k)^n(d,w) sum_j P(h=j) P(t=k|h=j)
        logs = counts @ np.log(np.maximum(self.topic_word_.T, SMALLEST))
        logs += np.log(np.maximum(self.theme_weight_ @ self.theme_topic_, SMALLEST))
        if features == "log":
            return logs / np.maximum(counts.sum(axis=1), 1)[:, None]
        return normalise(np.exp(logs - logs.max(axis=1, keepdims=True)))

    def _token_shares(self, counts: sp.csr_array, doc_theme: np.ndarray) -> np.ndarray:
        parts, dtype = csr_parts(counts), self.topic_word_.dtype
        shares = np.zeros((counts.shape[0], len(self.topic_word_)), dtype)
        word_topic = np.ascontiguousarray(self.topic_word_.T)

        def block(rows: tuple[int, int]) -> None:
            token_topics(*parts, *rows, doc_theme, dtype.type(_LEAST_THEME), self.theme_topic_, word_topic, shares)

        map_blocks(block, row_blocks(parts[0], max(1, counts.nnz // (1 << 16))), self.n_jobs)
        empty = shares.sum(axis=1) <= 0
        shares[empty] = self.topic_weight_
        return normalise(shares)

    def _known_themes(self, n_documents: int, y: Any, settle: bool = True) -> np.ndarray:
        """The theme of each document where it is known, else -1; to `settle` is to set classes_ and n_themes_."""
        if settle:
            self.__dict__.pop("classes_", None)
        if self.n_themes != _LABELS:
            if isinstance(self.n_themes, bool | str) or int(self.n_themes) != self.n_themes or self.n_themes < 1:
                raise ValueError(f"n_themes={self.n_themes!r}: expected a whole number, at least 1, or 'labels'")
            if settle and self.n_themes > n_documents:
                raise ValueError(
                    f"n_themes={self.n_themes} is more than there are documents (n_samples={n_documents}): a theme "
                    "needs a document"
                )
            self.n_themes_ = int(self.n_themes)
            return np.full(n_documents, -1)
        if y is None:
            raise ValueError("n_themes='labels' needs labels: fit(X, y), with -1 or None where there is none")
        labels = np.asarray(y, dtype=object)
        if labels.shape != (n_documents,):
            raise ValueError(f"y has shape {labels.shape}: expected one label a document ({n_documents})")
        unknown = np.array([label is None or label != label or label == -1 for label in labels], dtype=bool)
        given = np.array(labels[~unknown].tolist())
        if settle:
            if len(given) == 0:
                raise ValueError("no document has a label")
            self.classes_ = np.unique(given)
            self.n_themes_ = len(self.classes_)
        known = np.full(n_documents, -1)
        if len(given):
            codes = np.minimum(np.searchsorted(self.classes_, given), self.n_themes_ - 1)
            if (self.classes_[codes] != given).any():
                other = given[self.classes_[codes] != given][0]
                raise ValueError(f"label {other.item()!r} was not in the first batch, which settles the classes")
            known[~unknown] = codes
        return known

    def _start(self, counts: sp.csr_array, known: np.ndarray) -> State:
        rng = check_random_state(self.random_state)
        n_themes, n_topics, dtype = self.n_themes_, self.n_topics, counts.dtype
        if self.init == "random":
            theme_topic = 1 + 0.1 * rng.random_sample((n_themes, n_topics))
            word_topic = 1 + 0.1 * rng.random_sample((counts.shape[1], n_topics))
        elif self.init in ("data", "lda"):
            topic_word, doc_topic = _start_topics(counts, n_topics, self.init, rng, self.n_jobs)
            theme_topic, word_topic = _start_themes(doc_topic, n_themes, known, rng), topic_word.T.copy()
        else:
            raise ValueError(f"init={self.init!r}: expected 'data', 'lda' or 'random'")
        return {
            "theme_weight": np.full(n_themes, 1 / n_themes, dtype),
            "theme_topic": normalise(theme_topic).astype(dtype),
            "word_topic": normalise(word_topic.T).T.astype(dtype),
        }

    def _keep(self, counts: sp.csr_array, state: State, run: Run) -> None:
        self.theme_weight_ = state["theme_weight"]
        self.theme_topic_ = np.ascontiguousarray(state["theme_topic"])
        self.topic_word_ = np.ascontiguousarray(state["word_topic"].T)
        weight = self.theme_weight_ @ self.theme_topic_
        self.topic_weight_ = weight / weight.sum()
        self.word_frequency_ = counts.sum(axis=0, dtype=np.float64)
        self.doc_theme_ = self._doc_theme(counts)[0]
        self.doc_topic_ = self._features(counts, "tokens", self.doc_theme_)
        self.n_themes_used_ = int((self.doc_theme_.sum(axis=0, dtype=np.float64) >= _LEAST_USED).sum())
        self.history_ = np.array(run.history)
        self.n_iter_ = len(run.history)
        self.converged_ = run.converged
        self.interrupted_ = not run.finished


def _start_topics(
    counts: sp.csr_array, n_topics: int, init: str, rng: np.random.RandomState, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """P(w|t) and P(t|d) of a simpler model: a short PLSA, or a whole LDA."""
    seed = rng.randint(np.iinfo(np.int32).max)
    if init == "lda":
        from ...baselines.lda import LDA

        model = LDA(n_topics, random_state=seed).fit(counts.astype(np.int64))
    else:
        from ..plsa.plsa import PLSA

        model = PLSA(
            n_topics,
            smoothing=0.01,
            max_iter=_START_ITER,
            random_state=seed,
            n_jobs=n_jobs,
            verbose=False,
            dtype=counts.dtype,
        ).fit(counts)
    uneven = 0.01 / counts.shape[1]  # so that no theme starts unable to use a word
    return (1 - 0.01) * model.topic_word_.astype(np.float64) + uneven, model.doc_topic_.astype(np.float64)


def _start_themes(doc_topic: np.ndarray, n_themes: int, known: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """P(t|h): the mean P(t|d) of each class, or of clusters of documents."""
    from sklearn.cluster import KMeans

    overall = doc_topic.mean(axis=0)
    if (known >= 0).any():
        themes = np.stack([doc_topic[known == theme].mean(axis=0) for theme in range(n_themes)])
    else:
        with single_threaded_libraries(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct documents than themes
            themes = KMeans(n_themes, n_init=1, max_iter=10, random_state=rng).fit(doc_topic).cluster_centers_
    return 0.95 * np.maximum(themes, 0) + 0.05 * overall
