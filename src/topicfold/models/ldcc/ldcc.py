"""LDCC: latent Dirichlet co-clustering (Shafiei and Milios 2006): documents and words, paragraph by paragraph.

A document mixes document-topics; each of its segments has one, which says how the segment mixes word-topics; each token
has a word-topic. What sets document-topics apart is alpha, the prior of the mixes, a row for each, and it is learned.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ...corpus.corpus import Corpus
from ...engine.arrays import normalise_rows
from ...engine.checks import check_choice, check_number, check_whole, check_whole_numbers
from ...engine.cluster import say_here
from ...engine.loop import State, hold_interrupts, iterate
from ...engine.warn import warn_user
from ...metrics.completion import completion_log_likelihood, split_tokens
from ...metrics.stability import effective_sample_size
from ...topics.levels import with_level_above
from ...topics.tree import TopicTree
from ..base import TopicModel
from ..em import check_size
from ..inputs import CountsLike, RandomStateLike, seen_words
from .chains import ChainStep, chain_of, start_chains
from .ldcc_learned import STORED, expected_state
from .sampler import Sampler, fold_in_segments
from .segments import document_numbers, every_document_in_segments, pooled, whole_tokens

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["LDCC"]

_NEW_BURN_IN, _NEW_SAMPLES = 4, 24  # sweeps over new documents


class LDCC(TopicModel):
    """Latent Dirichlet co-clustering: document-topics over word-topics, for documents made of segments.

    Parameters
    ----------
    n_document_topics : int, default=20
        Number of document-topics, the kinds of segments there are.
    n_word_topics : int, default=50
        Number of word-topics.
    alpha : {'mle', 'moments'}, default='mle'
        How the priors of the word-topics are learned: by maximum likelihood (Minka's fixed point), or by moments as in
        the paper, which takes the noise of short segments for variety.
    smoothing : float, default=0.01
        Pseudo-count of each word in each word-topic.
    delta : float, default=0.1
        Pseudo-count of each document-topic in each document.
    init : {'data', 'random'}, default='data'
        Where chains begin: from NMF on the segments, or at random.
    n_sweeps : int, default=300
        Sweeps of Gibbs sampling over all tokens and segments.
    burn_in : int, default=200
        Sweeps before the first sample, in which alpha is learned.
    lag : int, default=10
        Sweeps from one sample to the next.
    n_chains : int, default=1
        Independent chains, sampled in parallel. The topics are those of the chain with the highest joint likelihood;
        only what does not depend on the order of topics, such as `score`, is averaged over chains.
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
    topic_word_ : ndarray of shape (n_word_topics, n_words)
        P(w | word-topic); also as `components_`.
    alpha_ : ndarray of shape (n_document_topics, n_word_topics)
        Prior of the word-topics in segments of each document-topic.
    doc_topic_ : ndarray of shape (n_documents, n_word_topics)
        P(word-topic | d), so that `doc_topic_ @ topic_word_` is P(w|d).
    doc_cluster_ : ndarray of shape (n_documents, n_document_topics)
        P(document-topic | d).
    segment_topic_, segment_cluster_ : ndarray of shape (n_segments, ...)
        The same for each segment.
    segment_documents_ : ndarray of shape (n_segments,)
        The document of each segment.
    topic_weight_ : ndarray of shape (n_word_topics,)
        Share of all tokens.
    cluster_weight_ : ndarray of shape (n_document_topics,)
        Share of all segments.
    history_ : ndarray of shape (n_iter_,)
        Joint log-likelihood per token after each sweep, of the chain that was kept.
    chain_history_ : ndarray of shape (n_chains, n_iter_)
        The same for all chains.
    effective_sample_size_ : ndarray of shape (n_chains,)
        Of the joint likelihood after burn-in.
    other_topic_word_, other_alpha_ : ndarray
        Topics and priors of the chains that were not kept.
    word_frequency_ : ndarray of shape (n_words,)
        Tokens of each word in training.
    n_iter_ : int
        Number of sweeps.
    converged_, interrupted_ : bool
        Whether all sweeps were made; whether Ctrl-C ended the fit.

    References
    ----------
    Shafiei, M. M. and Milios, E. E. (2006). Latent Dirichlet co-clustering. ICDM. https://doi.org/10.1109/ICDM.2006.94

    Examples
    --------
    >>> from topicfold import Corpus, LDCC
    >>> texts = ["cat dog cat\\n\\nsun moon sun", "dog cat\\n\\ncat dog", "sun moon\\n\\nmoon star sun"] * 5
    >>> corpus = Corpus.from_texts(texts, segments="paragraphs")
    >>> model = LDCC(2, 2, n_sweeps=40, burn_in=20, lag=2, random_state=0).fit(corpus)
    >>> model.segment_cluster_.shape, model.doc_topic_.shape
    ((30, 2), (15, 2))
    >>> bool(model.memberships(corpus)[0].all())  # the first document is in both clusters
    True
    """

    _endings = ("sampling finished", "sampling finished")

    _stored = STORED

    alpha_: np.ndarray
    doc_cluster_: np.ndarray
    segment_topic_: np.ndarray
    segment_cluster_: np.ndarray
    segment_documents_: np.ndarray
    cluster_weight_: np.ndarray
    chain_history_: np.ndarray
    effective_sample_size_: np.ndarray
    other_topic_word_: np.ndarray
    other_alpha_: np.ndarray

    def __init__(
        self,
        n_document_topics: int = 20,
        n_word_topics: int = 50,
        *,
        alpha: Literal["mle", "moments"] = "mle",
        smoothing: float = 0.01,
        delta: float = 0.1,
        init: Literal["data", "random"] = "data",
        n_sweeps: int = 300,
        burn_in: int = 200,
        lag: int = 10,
        n_chains: int = 1,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.n_document_topics = n_document_topics
        self.n_word_topics = n_word_topics
        self.alpha = alpha
        self.smoothing = smoothing
        self.delta = delta
        self.init = init
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.lag = lag
        self.n_chains = n_chains
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.checkpoint = checkpoint

    def check_parameters(self) -> None:
        """Raise a ValueError that names a parameter which the model cannot use."""
        least = {"n_document_topics": 1, "n_word_topics": 1, "n_sweeps": 1, "burn_in": 0, "lag": 1, "n_chains": 1}
        for name, smallest in least.items():
            check_whole(name, getattr(self, name), smallest)
        if self.burn_in >= self.n_sweeps:
            raise ValueError(f"burn_in={self.burn_in}: expected fewer than n_sweeps={self.n_sweeps}")
        for name in ("smoothing", "delta"):
            check_number(name, getattr(self, name), above=True)
        check_choice("alpha", self.alpha, ("mle", "moments"))
        check_choice("init", self.init, ("data", "random"))

    def fit(self, X: CountsLike, y: Any = None, *, documents: ArrayLike | None = None) -> Self:
        """Learn from segments.

        Parameters
        ----------
        X : Corpus, matrix of segments x words, data frame of counts, or list of texts
            A Corpus with segments brings them along; otherwise each row is one segment.
        y : ignored
        documents : array-like of int of shape (n_segments,), optional
            Number of the document of each row; without it each row is one document.

        Returns
        -------
        self
        """
        self.check_parameters()
        counts = self._fit_counts(X, np.float64)
        if documents is not None:  # the ids of X are those of its rows
            self.document_ids_ = self.document_titles_ = self.corpus_hash_ = None
        counts, numbers = self._segments(X, counts, documents)
        check_size(counts, self.n_word_topics)
        fractions = counts.data[counts.data != np.floor(counts.data)]
        if len(fractions):
            warn_user(f"X holds {fractions[0]:g}, and a topic belongs to a whole token: values are rounded up")
            counts = whole_tokens(counts)
        sampler = Sampler(counts, numbers, self.n_document_topics, self.n_word_topics, self.smoothing, self.delta)
        checkpoint, resumed = self._open_checkpoint(expected_state(self, sampler), counts, numbers)
        if self.n_chains == 1:
            say_here("LDCC has one chain, whose draws depend on each other: it runs")
        if resumed is None:
            state, history = start_chains(self, sampler, counts), []
        else:
            state, history = resumed[0], resumed[1]["history"]
        run = iterate(
            ChainStep(self, sampler),
            state,
            max_iter=self.n_sweeps,
            tol=0,
            title="LDCC",
            verbose=self.verbose,
            checkpoint=checkpoint,
            history=history,
        )
        with hold_interrupts():
            self._keep(counts, numbers, sampler, state)
        self.interrupted_ = not run.finished
        self.converged_ = run.finished
        if checkpoint is not None and run.finished:
            checkpoint.remove()
        return self

    def transform(self, X: CountsLike, *, documents: ArrayLike | None = None) -> np.ndarray:
        """P(word-topic | d), one row per document, whatever else is in the batch.

        Parameters
        ----------
        X : Corpus, matrix of segments x words, data frame of counts, or list of texts
            A Corpus with segments brings them along; otherwise each row is one segment.
        documents : array-like of int of shape (n_segments,), optional
            Number of the document of each row; without it each row is one document.

        Returns
        -------
        ndarray of shape (n_documents, n_word_topics)
        """
        return self._of_documents(*self._new(X, documents))[0]

    def document_topics(self, X: CountsLike) -> np.ndarray:
        """P(word-topic | d) of documents, with the columns of `doc_topic_`; the same as `transform`."""
        return np.asarray(self.transform(X))

    def transform_segments(self, X: CountsLike, documents: ArrayLike | None = None) -> np.ndarray:
        """P(word-topic | segment), one row per segment, in the order of X; see `segment_memberships`."""
        return self.segment_memberships(X, documents)[0]

    def segment_memberships(self, X: CountsLike, documents: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """P(word-topic | segment) and P(document-topic | segment), one row per segment; see `transform`.

        Returns
        -------
        word_topics : ndarray of shape (n_segments, n_word_topics)
        document_topics : ndarray of shape (n_segments, n_document_topics)
        """
        return self._of_segments(*self._new(X, documents))

    def fit_transform(self, X: CountsLike, y: Any = None, *, documents: ArrayLike | None = None) -> np.ndarray:
        """Fit, and return P(word-topic | d) of the training documents; see `fit` for the parameters.

        Returns
        -------
        ndarray of shape (n_documents, n_word_topics)
        """
        return self.fit(X, documents=documents).doc_topic_

    def predict_clusters(self, X: CountsLike, *, documents: ArrayLike | None = None) -> np.ndarray:
        """P(document-topic | d) of new documents, of shape (n_documents, n_document_topics); see `transform`."""
        return self._of_documents(*self._new(X, documents))[1]

    def memberships(self, X: CountsLike, threshold: float = 0.1, *, documents: ArrayLike | None = None) -> np.ndarray:
        """Overlapping clusters of documents: the document-topics with P(k|d) of at least `threshold`, or the largest.

        The paper does not say how topics of segments become clusters of documents, and recall depends on it: a tenth of
        a document is our rule.

        Parameters
        ----------
        X : Corpus, matrix of segments x words, data frame of counts, or list of texts
            A Corpus with segments brings them along; otherwise each row is one segment.
        threshold : float, default=0.1
            Least P(document-topic | d) of a member.
        documents : array-like of int of shape (n_segments,), optional
            Number of the document of each row; without it each row is one document.

        Returns
        -------
        ndarray of bool of shape (n_documents, n_document_topics)
        """
        share = self.predict_clusters(X, documents=documents)
        return (share >= threshold) | (share == share.max(axis=1, keepdims=True))

    def word_clusters(self, threshold: float = 0.5) -> list[np.ndarray]:
        """The columns of each word-topic: words with P(l|w) of at least `threshold`, in several topics or in none."""
        check_is_fitted(self)
        joint = self.topic_word_.astype(np.float64) * self.topic_weight_[:, None]
        share = joint / np.maximum(joint.sum(axis=0), 1e-300)
        return [np.flatnonzero((row >= threshold) & (self.word_frequency_ > 0)) for row in share]

    def score(self, X: CountsLike, y: Any = None, *, documents: ArrayLike | None = None) -> float:
        """Mean log-likelihood per token by completion of segments: half of each is seen, the rest is scored.

        Probabilities of words are averaged over chains. See `transform` for the parameters.

        Returns
        -------
        float
            In nats per token.
        """
        check_is_fitted(self)
        check_whole_numbers(self.word_counts(X, np.float64), "score (document completion)")
        counts, numbers = self._new(X, documents)
        seen, held_out = split_tokens(counts)
        mixtures = [
            self._of_segments(sp.csr_array(seen), numbers, topic_word, alpha)[0] for topic_word, alpha in self._chains()
        ]
        mixture = np.hstack(mixtures) / len(mixtures)
        topic_word = np.vstack([topic_word for topic_word, _ in self._chains()])
        return completion_log_likelihood(held_out, mixture, topic_word, self.word_frequency_)

    def topic_tree(self, corpus: Corpus | None = None) -> TopicTree:
        """Two levels: document-topics over word-topics, with the share of each word-topic in each document-topic.

        Parameters
        ----------
        corpus : Corpus, optional
            The documents of the tree. Without it, or with the corpus of the fit, they are the training documents;
            another corpus is assigned to the topics first. With segments, the tree holds their topics too.

        Returns
        -------
        TopicTree
        """
        check_is_fitted(self)
        topics, clusters, segments = self.doc_topic_, self.doc_cluster_, None
        if corpus is not None and (corpus.segments is not None or not self._is_fitted_on(corpus)):
            counts, numbers = self._new(corpus, None)
            of_segments = self._of_segments(counts, numbers)
            topics, clusters = pooled(counts, numbers, *of_segments, self.topic_weight_, self.delta)
            # documents without a segment have an empty one at the end
            segments = None if corpus.segments is None else np.hstack(of_segments)[: len(corpus.segments.documents)]
        return with_level_above(
            self._one_level(topics, corpus),
            numbers=np.arange(len(self.alpha_)),
            share=self.alpha_ / self.alpha_.sum(axis=1, keepdims=True),
            weight=self.cluster_weight_,
            membership=clusters,
            level_names=("word-topic", "document-topic"),
            segment_topic=segments,
        )

    def _n_outputs(self) -> int:
        return len(self.topic_word_)

    def _prepare(self) -> None:
        """Nothing to prepare."""

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def _keep(self, counts: sp.csr_array, documents: np.ndarray, sampler: Sampler, state: State) -> None:
        n_sweeps = int(state["sweeps"][0])
        trace = state["trace"][:, :n_sweeps]
        after = trace[:, min(self.burn_in, n_sweeps - 1) :]
        best = int(after.mean(axis=1).argmax())
        learned = []
        for number in range(self.n_chains):
            chain = chain_of(state, number)
            if n_sweeps <= self.burn_in:  # interrupted before the first sample
                sampler.add_words(chain, chain["word_topic"])
            words = chain["word_topic"].T + self.smoothing * max(1, 1 + (n_sweeps - 1 - self.burn_in) // self.lag)
            learned.append((normalise_rows(words), chain["alpha"].copy()))
        self.topic_word_, self.alpha_ = learned[best][0].astype(np.float32), learned[best][1]
        others = [pair for number, pair in enumerate(learned) if number != best]
        shape = (len(others), *self.topic_word_.shape)
        self.other_topic_word_ = np.array([words for words, _ in others], dtype=np.float32).reshape(shape)
        self.other_alpha_ = np.array([alpha for _, alpha in others]).reshape(len(others), *self.alpha_.shape)
        self.word_frequency_ = counts.sum(axis=0, dtype=np.float64)
        self.history_, self.chain_history_ = trace[best].copy(), trace.copy()
        self.effective_sample_size_ = np.array([effective_sample_size(values) for values in after])
        self.n_iter_ = n_sweeps
        tokens = chain_of(state, best)["topic_total"]
        self.topic_weight_ = (tokens / tokens.sum()).astype(np.float32)
        self.segment_documents_ = documents
        self.segment_topic_, self.segment_cluster_ = self._of_segments(counts, documents)
        self._keep_documents(counts, self.segment_topic_)  # each segment counts as a document
        self.cluster_weight_ = self.segment_cluster_.mean(axis=0)
        of_segments = (self.segment_topic_, self.segment_cluster_)
        self.doc_topic_, self.doc_cluster_ = pooled(counts, documents, *of_segments, self.topic_weight_, self.delta)

    # ---- documents --------------------------------------------------------------------------------------------------

    def _chains(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """P(w | word-topic) and alpha of every chain, the kept one first."""
        return [(self.topic_word_, self.alpha_), *zip(self.other_topic_word_, self.other_alpha_)]

    def _segments(
        self, X: CountsLike, counts: sp.csr_array, documents: ArrayLike | None
    ) -> tuple[sp.csr_array, np.ndarray]:
        """Segments, and the number of each one's document. `counts` is X, validated."""
        if isinstance(X, Corpus) and X.segments is not None:
            if documents is not None:
                raise ValueError("documents: a Corpus with segments knows their documents itself")
            segments, numbers = every_document_in_segments(X)
            return self.word_counts(Corpus.from_counts(segments, X.vocabulary), np.float64), numbers
        return counts, document_numbers(documents, counts.shape[0])

    def _new(self, X: CountsLike, documents: ArrayLike | None) -> tuple[sp.csr_array, np.ndarray]:
        """Segments of new documents without words that training did not have, and their documents."""
        check_is_fitted(self)
        counts = self.word_counts(X, np.float64)
        counts, numbers = self._segments(X, counts, documents)
        return whole_tokens(seen_words(counts, self.word_frequency_)), numbers

    def _of_segments(
        self,
        counts: sp.csr_array,
        documents: np.ndarray,
        topic_word: np.ndarray | None = None,
        alpha: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """P(l|segment) and P(k|segment), by Gibbs sampling with the topics of a chain, the kept one if none is given.

        A segment without words has the mix of the corpus.
        """
        if topic_word is None or alpha is None:
            topic_word, alpha = self.topic_word_, self.alpha_
        topics, clusters = fold_in_segments(
            counts, documents, topic_word, alpha, self.delta, _NEW_BURN_IN, _NEW_SAMPLES, self.n_jobs
        )
        topics[np.diff(counts.indptr) == 0] = self.topic_weight_
        return topics, clusters

    def _of_documents(self, counts: sp.csr_array, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(l|d) and P(k|d)."""
        return pooled(counts, documents, *self._of_segments(counts, documents), self.topic_weight_, self.delta)
