"""LDCC: latent Dirichlet co-clustering (Shafiei and Milios 2006): documents and words, paragraph by paragraph.

A document mixes document-topics; each of its segments has one, which determines how the segment mixes word-topics; each
token has a word-topic. Document-topics differ in alpha, the prior of these mixtures, which has one row per
document-topic and is learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ...corpus.corpus import Corpus
from ...engine.arrays import normalise_rows
from ...engine.checks import check_choice, check_number, check_whole, check_whole_numbers
from ...engine.distributed.cluster import warn_local_only
from ...engine.loop import Run, State
from ...engine.stored import Stored, distributions
from ...engine.warn import warn_user
from ...errors import InputError
from ...metrics.completion import completion_log_likelihood, split_tokens
from ...metrics.stability import effective_sample_size
from ...topics.changes import add_level_above
from ...topics.tree import TopicTree
from ...topics.typical import typicality
from ..em.plsa_kernels import check_size
from ..estimator import TopicModel
from ..fit_loop import Fit, Stage, run_fit
from ..inputs import CountsLike, RandomStateLike, seen_words
from .chains import Chains, Schedule, chain_of
from .sampler import Sampler, fold_in_segments

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["LDCC"]

_NEW_BURN_IN, _NEW_SAMPLES = 4, 24  # sweeps over new documents
_DOCUMENTS_PER_BLOCK = 1 << 14  # whose shares are in float64 at once


def _every_document_in_segments(corpus: Corpus) -> tuple[sp.csr_array, np.ndarray]:
    """The segments of a corpus and their documents; each document without one gets an empty segment at the end."""
    assert corpus.segments is not None
    missing = np.setdiff1d(np.arange(len(corpus)), corpus.segments.documents)
    empty = sp.csr_array((len(missing), corpus.counts.shape[1]), dtype=corpus.counts.dtype)
    documents = np.concatenate([corpus.segments.documents, missing]).astype(np.int64)
    return sp.csr_array(sp.vstack([corpus.segments.counts, empty])), documents


def _document_numbers(documents: ArrayLike | None, n_rows: int) -> np.ndarray:
    """Check the document of each row; if None, each row is a document."""
    if documents is None:
        return np.arange(n_rows)
    numbers = np.asarray(documents)
    if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iu" or (n_rows and numbers.min() < 0):
        raise InputError(f"documents: expected {n_rows} whole numbers from 0, the document of each row")
    return numbers.astype(np.int64)


def _pooled(
    counts: sp.csr_array,
    documents: np.ndarray,
    segment_topic: np.ndarray,
    segment_cluster: np.ndarray,
    topic_weight: np.ndarray,
    delta: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Memberships of documents from those of their segments: topics by tokens, clusters by segments and the prior."""
    n_documents = int(documents.max(initial=-1)) + 1
    lengths = counts.sum(axis=1)
    order = np.argsort(documents, kind="stable")
    doc_topic = np.empty((n_documents, segment_topic.shape[1]), np.float32)
    doc_cluster = np.empty((n_documents, segment_cluster.shape[1]), np.float32)
    for start in range(0, n_documents, _DOCUMENTS_PER_BLOCK):
        stop = min(start + _DOCUMENTS_PER_BLOCK, n_documents)
        first, last = np.searchsorted(documents, [start, stop], sorter=order)
        rows = order[first:last]
        shape, places = (stop - start, len(rows)), (documents[rows] - start, np.arange(len(rows)))
        tokens = sp.csr_array((lengths[rows], places), shape)
        topics, total = tokens @ segment_topic[rows].astype(np.float64), tokens.sum(axis=1)
        topics = np.where(total[:, None] > 0, topics / np.maximum(total, 1)[:, None], topic_weight)
        clusters = sp.csr_array((np.ones(len(rows)), places), shape) @ segment_cluster[rows].astype(np.float64) + delta
        doc_topic[start:stop] = normalise_rows(topics)
        doc_cluster[start:stop] = normalise_rows(clusters)
    return doc_topic, doc_cluster


def _matched(clusters: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each cluster, the one of another chain that it shares most segments with; each is matched once."""
    from scipy.optimize import linear_sum_assignment

    together = clusters.T.astype(np.float64) @ others
    return np.asarray(linear_sum_assignment(together, maximize=True)[1])


def _averaged(clusters: list[np.ndarray], orders: np.ndarray) -> np.ndarray:
    """Memberships averaged over chains, the clusters of all but the first in these orders."""
    total = clusters[0].astype(np.float64)
    for other, order in zip(clusters[1:], orders, strict=True):
        total += other[:, order]
    return (total / len(clusters)).astype(np.float32)


def _whole_tokens(counts: sp.csr_array) -> sp.csr_array:
    """Weights rounded up to whole tokens, as only a token can have a topic; whole counts do not change."""
    return sp.csr_array((np.ceil(counts.data), counts.indices, counts.indptr), counts.shape)


class LDCC(TopicModel):
    r"""Latent Dirichlet co-clustering: document-topics over word-topics, for documents made of segments.

    Each segment, such as a paragraph, has one document-topic, which determines how the segment mixes word-topics. So a
    document can be in several clusters. The model is fitted by Gibbs sampling.

    Parameters
    ----------
    n_document_topics : int, default=20
        Number of document-topics, the clusters of segments.
    n_word_topics : int, default=50
        Number of word-topics.
    alpha : {'mle', 'moments'}, default='mle'
        How the priors of the word-topics are learned: by maximum likelihood (Minka's fixed point), or by moments. The
        paper uses moments, which mistake the noise of short segments for variation.
    beta : float, default=0.01
        Pseudo-count of every word in every word-topic.
    delta : float, default=0.1
        Pseudo-count of each document-topic in each document.
    init : {'data', 'random'}, default='data'
        Where the chains start: from NMF on the segments, or at random.
    n_sweeps : int, default=300
        Number of sweeps of Gibbs sampling over all tokens and segments.
    burn_in : int, default=200
        Number of sweeps before the first sample. The priors are learned in them.
    lag : int, default=10
        Number of sweeps from one sample to the next.
    n_chains : int, default=1
        Number of independent chains, sampled in parallel. The topics come from the chain with the highest joint
        likelihood. `score` is averaged over the chains, and so are the memberships of document-topics: those of the
        other chains are matched with those of the first by the segments they share.
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
    topic_word_ : ndarray of shape (n_word_topics, n_words)
        P(w|word-topic), the probability of each word in each word-topic. Also available as `components_`.
    alpha_ : ndarray of shape (n_document_topics, n_word_topics)
        Priors of the word-topics in the segments of each document-topic.
    doc_topic_ : ndarray of shape (n_documents, n_word_topics)
        P(word-topic|d) of the training documents; `doc_topic_ @ topic_word_` is P(w|d).
    doc_cluster_ : ndarray of shape (n_documents, n_document_topics)
        P(document-topic|d) of the training documents.
    segment_topic_ : ndarray of shape (n_segments, n_word_topics)
        P(word-topic|s) of the training segments.
    segment_cluster_ : ndarray of shape (n_segments, n_document_topics)
        P(document-topic|s) of the training segments.
    segment_documents_ : ndarray of shape (n_segments,)
        Number of the document of each segment.
    cluster_weight_ : ndarray of shape (n_document_topics,)
        Share of each document-topic in the segments.
    history_ : ndarray of shape (n_iter,)
        Joint log-likelihood per token after each sweep, of the chain that was kept.
    chain_history_ : ndarray of shape (n_chains, n_iter)
        Joint log-likelihood per token after each sweep, of all chains.
    effective_sample_size_ : ndarray of shape (n_chains,)
        Effective sample size of the joint likelihood after burn-in.
    other_topic_word_ : ndarray of shape (n_chains - 1, n_word_topics, n_words)
        Topics of the chains that were not kept.
    other_alpha_ : ndarray of shape (n_chains - 1, n_document_topics, n_word_topics)
        Priors of the chains that were not kept.
    other_order_ : ndarray of shape (n_chains - 1, n_document_topics)
        For each document-topic, the number of the one in each other chain that it is matched with.
    word_documents_ : ndarray of shape (n_word_topics, n_words)
        Expected number of segments of each word-topic that contain each word; the words of a topic are ranked by it.
    topic_documents_ : ndarray of shape (n_word_topics,)
        Expected number of segments of each word-topic.

    See Also
    --------
    TopicModel : The attributes and methods that all models have.
    TTMM : One theme per document, fitted by EM.
    LDA : Flat topics without segments.
    topicfold.plots.trace : The joint likelihood of the chains as a figure.

    References
    ----------
    Shafiei, M. M. and Milios, E. E. (2006). Latent Dirichlet co-clustering. ICDM. https://doi.org/10.1109/ICDM.2006.94

    Examples
    --------
    >>> from topicfold import Corpus, LDCC
    >>> texts = ["cat dog cat\n\nsun moon sun", "dog cat\n\ncat dog", "sun moon\n\nmoon star sun"] * 5
    >>> corpus = Corpus.from_texts(texts, segments="paragraphs")
    >>> model = LDCC(2, 2, n_sweeps=40, burn_in=20, lag=2, random_state=0).fit(corpus)
    >>> model.segment_cluster_.shape, model.doc_topic_.shape
    ((30, 2), (15, 2))
    >>> bool(model.memberships(corpus)[0].all())  # the first document is in both clusters
    True
    """

    overlapping = True
    membership_threshold = 0.1
    _endings = ("sampling finished", "sampling finished")

    _stored: ClassVar[Mapping[str, Stored]] = {
        "alpha_": Stored(("document topics", "topics"), low=0),
        "doc_cluster_": distributions("documents", "document topics"),
        "cluster_weight_": distributions("document topics"),
        "segment_documents_": Stored(("segments",), "int", low=0, high="documents"),
        "segment_topic_": distributions("segments", "topics"),
        "segment_cluster_": distributions("segments", "document topics"),
        "chain_history_": Stored(("chains", "steps")),
        "effective_sample_size_": Stored(("chains",), allow_nan=True),
        "other_topic_word_": distributions("other chains", "topics", "words"),
        "other_alpha_": Stored(("other chains", "document topics", "topics"), low=0),
        "other_order_": Stored(("other chains", "document topics"), "int", low=0, high="document topics"),
    }

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
    other_order_: np.ndarray

    def __init__(
        self,
        n_document_topics: int = 20,
        n_word_topics: int = 50,
        *,
        alpha: Literal["mle", "moments"] = "mle",
        beta: float = 0.01,
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
        self.beta = beta
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
        least = {"n_document_topics": 1, "n_word_topics": 1, "n_sweeps": 1, "burn_in": 0, "lag": 1, "n_chains": 1}
        for name, smallest in least.items():
            check_whole(name, getattr(self, name), smallest)
        if self.burn_in >= self.n_sweeps:
            raise InputError(f"burn_in={self.burn_in}: expected fewer than n_sweeps={self.n_sweeps}")
        for name in ("beta", "delta"):
            check_number(name, getattr(self, name), above=True)
        check_choice("alpha", self.alpha, ("mle", "moments"))
        check_choice("init", self.init, ("data", "random"))

    def fit(self, X: CountsLike, y: Any = None, *, documents: ArrayLike | None = None) -> Self:
        """Fit document-topics and word-topics to segments.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, whose segments are used, or counts or texts with one segment per row.
        y : object, default=None
            Ignored; accepted so that the model works in scikit-learn pipelines.
        documents : array-like of int of shape (n_segments,), default=None
            Number of the document that each row belongs to. None treats each row as one document.

        Returns
        -------
        object
            The model itself, fitted.

        Raises
        ------
        InputError
            If a parameter, X or `documents` cannot be used.
        """
        self.check_parameters()
        self._fit(X, y, documents)
        return self

    def transform(self, X: CountsLike, *, documents: ArrayLike | None = None) -> np.ndarray:
        """Infer P(word-topic|d) of new documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, whose segments are used, or counts or texts with one segment per row.
        documents : array-like of int of shape (n_segments,), default=None
            Number of the document that each row belongs to. None treats each row as one document.

        Returns
        -------
        ndarray of shape (n_documents, n_word_topics)
            The share of each word-topic, one row per document. A row does not depend on the other documents.

        Raises
        ------
        InputError
            If X does not match the model: another number of columns, no word in common, or values that are not counts.
        """
        return self.document_topics(X, documents=documents)

    def transform_segments(self, X: CountsLike, documents: ArrayLike | None = None) -> np.ndarray:
        """Infer P(word-topic|s) of segments.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, whose segments are used, or counts or texts with one segment per row.
        documents : array-like of int of shape (n_segments,), default=None
            Number of the document that each row belongs to. None treats each row as one document.

        Returns
        -------
        ndarray of shape (n_segments, n_word_topics)
            The share of each word-topic, one row per segment, in the order of X.
        """
        return self._in_chain(*self._new(X, documents), *self._chains()[0])[0]

    def segment_memberships(self, X: CountsLike, documents: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Infer the word-topics and document-topics of segments.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, whose segments are used, or counts or texts with one segment per row.
        documents : array-like of int of shape (n_segments,), default=None
            Number of the document that each row belongs to. None treats each row as one document.

        Returns
        -------
        word_topics : ndarray of shape (n_segments, n_word_topics)
            P(word-topic|s), one row per segment.
        document_topics : ndarray of shape (n_segments, n_document_topics)
            P(document-topic|s), one row per segment.
        """
        return self._of_segments(*self._new(X, documents))

    def document_clusters(self, X: CountsLike, *, documents: ArrayLike | None = None) -> np.ndarray:
        """Infer P(document-topic|d) of documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, whose segments are used, or counts or texts with one segment per row.
        documents : array-like of int of shape (n_segments,), default=None
            Number of the document that each row belongs to. None treats each row as one document.

        Returns
        -------
        ndarray of shape (n_documents, n_document_topics)
            The share of each document-topic, one row per document.
        """
        counts, numbers = self._new(X, documents)
        of_segments = self._of_segments(counts, numbers)
        return _pooled(counts, numbers, *of_segments, self.topic_weight_, self.delta)[1]

    def word_clusters(self, threshold: float = 0.5) -> list[np.ndarray]:
        """Assign words to overlapping clusters.

        Parameters
        ----------
        threshold : float, default=0.5
            Smallest P(word-topic|w) of a member.

        Returns
        -------
        list of ndarray
            The columns of the words of each word-topic. A word may be in several clusters, or in none.
        """
        check_is_fitted(self)
        joint = self.topic_word_.astype(np.float64) * self.topic_weight_[:, None]
        share = joint / np.maximum(joint.sum(axis=0), 1e-300)
        return [np.flatnonzero((row >= threshold) & (self.word_frequency_ > 0)) for row in share]

    def topic_tree(self, corpus: Corpus | None = None) -> TopicTree:
        """Return the topics as a TopicTree of two levels: document-topics over word-topics.

        A word-topic may be part of several document-topics; the weight is its share in each.

        Parameters
        ----------
        corpus : Corpus, default=None
            The documents of the tree. None, or the corpus of the fit, gives the training documents; another corpus is
            assigned to the topics first. If it has segments, the tree also contains their topics.

        Returns
        -------
        TopicTree
            Document-topics and word-topics with their words and documents.
        """
        check_is_fitted(self)
        topics, clusters, segments = self.doc_topic_, self.doc_cluster_, None
        if corpus is not None and (not self._is_fitted_on(corpus) or corpus.segments is not None):
            counts, numbers = self._new(corpus, None)
            of_segments = self._of_segments(counts, numbers)
            topics, clusters = _pooled(counts, numbers, *of_segments, self.topic_weight_, self.delta)
            # documents without a segment have an empty one at the end
            segments = None if corpus.segments is None else np.hstack(of_segments)[: len(corpus.segments.documents)]
        return add_level_above(
            self._one_level(topics, corpus),
            numbers=np.arange(len(self.alpha_)),
            share=self.alpha_ / self.alpha_.sum(axis=1, keepdims=True),
            weight=self.cluster_weight_,
            membership=clusters,
            level_names=("word-topic", "document-topic"),
            segment_topic=segments,
        )

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def _fit(self, X: CountsLike, y: Any, documents: ArrayLike | None = None) -> None:
        counts = self._fit_counts(X, np.float64)
        if documents is not None:  # the ids of X are those of its rows
            self.document_ids_ = self.document_titles_ = self.corpus_hash_ = None
        counts, numbers = self._segments(X, counts, documents)
        check_size(counts, self.n_word_topics)
        fractions = counts.data[counts.data != np.floor(counts.data)]
        if len(fractions):
            warn_user(f"X holds {fractions[0]:g}, but LDCC needs whole tokens: values are rounded up")
            counts = _whole_tokens(counts)
        if self.n_chains == 1:
            warn_local_only("LDCC has only one chain, whose draws depend on each other: it runs on this machine")
        sampler = Sampler(counts, numbers, self.n_document_topics, self.n_word_topics, self.beta, self.delta)
        schedule = Schedule(self.n_sweeps, self.burn_in, self.lag, self.alpha)
        chains = Chains(sampler, schedule, self.n_chains, self.n_jobs)

        def start(random_state: RandomStateLike) -> State:
            return chains.start(counts, self.init, random_state)

        def stages(state: State) -> Iterator[Stage]:
            yield Stage(chains.step, self.n_sweeps, tol=0)

        def keep(state: State, run: Run) -> None:
            self._keep(counts, numbers, sampler, state, run)

        identity, expected = (counts, numbers), (chains.arrays(), chains.sizes(), chains.check_state)
        run_fit(self, Fit(identity, [self.random_state], start, stages, keep, *expected))

    def _keep(self, counts: sp.csr_array, documents: np.ndarray, sampler: Sampler, state: State, run: Run) -> None:
        """Keep what the best chain learned, and the words and alpha of the others."""
        n_sweeps = int(state["sweeps"][0])
        trace = state["trace"][:, :n_sweeps]
        after = trace[:, min(self.burn_in, n_sweeps - 1) :]
        best = int(after.mean(axis=1).argmax())
        learned = []
        for number in range(self.n_chains):
            chain = chain_of(state, number)
            if n_sweeps <= self.burn_in:  # interrupted before the first sample
                sampler.add_words(chain, chain["word_topic"])
            words = chain["word_topic"].T + self.beta * max(1, 1 + (n_sweeps - 1 - self.burn_in) // self.lag)
            learned.append((normalise_rows(words), chain["alpha"].copy()))
        self.topic_word_, self.alpha_ = learned[best][0].astype(np.float32), learned[best][1]
        others = [pair for number, pair in enumerate(learned) if number != best]
        shape = (len(others), *self.topic_word_.shape)
        self.other_topic_word_ = np.array([words for words, _ in others], dtype=np.float32).reshape(shape)
        self.other_alpha_ = np.array([alpha for _, alpha in others]).reshape(len(others), *self.alpha_.shape)
        self.word_frequency_ = counts.sum(axis=0, dtype=np.float64)
        self.chain_history_ = trace.copy()
        self.effective_sample_size_ = np.array([effective_sample_size(values) for values in after])
        tokens = chain_of(state, best)["topic_total"]
        self.topic_weight_ = (tokens / tokens.sum()).astype(np.float32)
        self.segment_documents_ = documents
        memberships = [self._in_chain(counts, documents, *chain) for chain in self._chains()]
        clusters = [of_chain for _, of_chain in memberships]
        self.other_order_ = np.array([_matched(clusters[0], other) for other in clusters[1:]], dtype=np.int64)
        self.other_order_ = self.other_order_.reshape(len(others), self.n_document_topics)
        self.segment_topic_, self.segment_cluster_ = memberships[0][0], _averaged(clusters, self.other_order_)
        self._keep_documents(counts, self.segment_topic_)  # each segment counts as a document
        self.cluster_weight_ = self.segment_cluster_.mean(axis=0)
        of_segments = (self.segment_topic_, self.segment_cluster_)
        self.doc_topic_, self.doc_cluster_ = _pooled(counts, documents, *of_segments, self.topic_weight_, self.delta)
        segments = (np.ones(len(documents)), (documents, np.arange(len(documents))))
        whole = sp.csr_array(segments, (len(self.doc_topic_), len(documents))) @ counts
        self.typicality_ = typicality(whole, self.doc_topic_, self.n_jobs)
        self._keep_run(Run(trace[best].tolist(), converged=run.finished, finished=run.finished))

    def _check_learned(self) -> None:
        if any((alpha.sum(axis=1) == 0).any() for _, alpha in self._chains()):
            raise InputError("it has document-topics without any alpha above zero")
        if (np.sort(self.other_order_, axis=1) != np.arange(len(self.alpha_))).any():
            raise InputError("its other_order_ does not match every document-topic once")

    # ---- documents --------------------------------------------------------------------------------------------------

    def _document_topics(self, X: CountsLike, documents: ArrayLike | None = None) -> np.ndarray:
        counts, numbers = self._new(X, documents)
        of_segments = self._in_chain(counts, numbers, *self._chains()[0])
        return _pooled(counts, numbers, *of_segments, self.topic_weight_, self.delta)[0]

    def _main_shares(self, X: CountsLike | None, **inputs: Any) -> np.ndarray:
        return self.doc_cluster_ if X is None else self.document_clusters(X, **inputs)

    def _score(self, X: CountsLike, documents: ArrayLike | None = None) -> float:
        check_whole_numbers(self.word_counts(X, np.float64), "score (document completion)")
        counts, numbers = self._new(X, documents)
        seen, held_out = split_tokens(counts)
        mixtures = [
            self._in_chain(sp.csr_array(seen), numbers, topic_word, alpha)[0] for topic_word, alpha in self._chains()
        ]
        mixture = np.hstack(mixtures) / len(mixtures)
        topic_word = np.vstack([topic_word for topic_word, _ in self._chains()])
        return completion_log_likelihood(held_out, mixture, topic_word, self.word_frequency_)

    def _chains(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """P(w | word-topic) and alpha of every chain, the kept one first."""
        return [(self.topic_word_, self.alpha_), *zip(self.other_topic_word_, self.other_alpha_)]

    def _segments(
        self, X: CountsLike, counts: sp.csr_array, documents: ArrayLike | None
    ) -> tuple[sp.csr_array, np.ndarray]:
        """Segments, and the number of each one's document. `counts` is X, validated."""
        if isinstance(X, Corpus) and X.segments is not None:
            if documents is not None:
                raise InputError("documents: expected None, as a Corpus with segments has the document of each segment")
            segments, numbers = _every_document_in_segments(X)
            return self.word_counts(Corpus.from_counts(segments, X.vocabulary), np.float64), numbers
        return counts, _document_numbers(documents, counts.shape[0])

    def _new(self, X: CountsLike, documents: ArrayLike | None) -> tuple[sp.csr_array, np.ndarray]:
        """Segments of new documents, without words that were not in training, and their documents."""
        check_is_fitted(self)
        counts = self.word_counts(X, np.float64)
        counts, numbers = self._segments(X, counts, documents)
        return _whole_tokens(seen_words(counts, self.word_frequency_)), numbers

    def _of_segments(self, counts: sp.csr_array, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(l|segment) of the kept chain, and P(k|segment) averaged over the chains."""
        memberships = [self._in_chain(counts, documents, *chain) for chain in self._chains()]
        return memberships[0][0], _averaged([clusters for _, clusters in memberships], self.other_order_)

    def _in_chain(
        self, counts: sp.csr_array, documents: np.ndarray, topic_word: np.ndarray, alpha: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """P(l|segment) and P(k|segment), by Gibbs sampling with the topics of a chain.

        A segment without words gets the mix of the corpus.
        """
        topics, clusters = fold_in_segments(
            counts, documents, topic_word, alpha, self.delta, _NEW_BURN_IN, _NEW_SAMPLES, self.n_jobs
        )
        topics[np.diff(counts.indptr) == 0] = self.topic_weight_
        return topics, clusters
