"""LDCC: latent Dirichlet co-clustering (Shafiei and Milios 2006): documents and words, paragraph by paragraph.

A document mixes document-topics; each of its segments has one, which says how the segment mixes word-topics; each token
has a word-topic. What sets document-topics apart is alpha, the prior of the mixes, a row for each, and it is learned.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...corpus.corpus import Corpus
from ...engine.arrays import content_hash
from ...engine.blocks import map_blocks, single_threaded_libraries
from ...engine.checks import check_whole_numbers
from ...engine.loop import Checkpoint, State, fingerprint, hold_interrupts, iterate
from ...metrics.completion import completion_log_likelihood, split_tokens
from ...metrics.stability import effective_sample_size
from ..em import check_size
from ..inputs import as_counts, count_tags, seen_words
from ..starts import start
from .sampler import Sampler, Tables, fold_in_segments, maximised_alpha, moment_alpha

if TYPE_CHECKING:
    from ...topics.tree import TopicTree

__all__ = ["ALPHAS", "LDCC"]

ALPHAS = ("mle", "moments")
INITS = ("data", "random")
_ALPHA_EVERY = 5  # sweeps of burn-in
_FIRST_ALPHA = 0.1
_NEW_BURN_IN, _NEW_SAMPLES = 20, 30  # sweeps over new documents


class _Step:
    """One sweep of every chain; renews the state in place and returns the joint log-likelihood a token, on average."""

    def __init__(self, model: LDCC, sampler: Sampler) -> None:
        self.model, self.sampler = model, sampler
        self.tables: dict[int, Tables] = {}

    def __call__(self, state: State) -> float:
        sweep = int(state["sweeps"][0])
        values = map_blocks(lambda chain: self.one(state, chain, sweep), range(self.model.n_chains), self.model.n_jobs)
        state["trace"][:, sweep] = values
        state["sweeps"] += 1
        return float(np.mean(values))

    def one(self, state: State, number: int, sweep: int) -> float:
        model, sampler = self.model, self.sampler
        chain = chain_of(state, number)
        if number not in self.tables:
            self.tables[number] = sampler.tables(chain)
        sampler.sweep(chain, self.tables[number])
        # samples come from one posterior: after burn-in alpha stays
        if sweep < model.burn_in and sweep % _ALPHA_EVERY == 0:
            found = sampler.segment_topics(chain), chain["cluster"], sampler.lengths
            update = maximised_alpha if model.alpha == "mle" else moment_alpha
            chain["alpha"][:] = update(chain["alpha"], *found)
            self.tables[number] = sampler.tables(chain)
        if sweep >= model.burn_in and (sweep - model.burn_in) % model.lag == 0:
            sampler.add_words(chain, chain["word_topic"])
        return sampler.log_likelihood(chain, self.tables[number]) / max(len(sampler.tokens), 1)


def chain_of(state: State, number: int) -> State:
    """The arrays of one chain, by their names in it."""
    prefix = f"{number}:"
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


class LDCC(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Latent Dirichlet co-clustering: document-topics over word-topics, for documents made of segments.

    Parameters
    ----------
    n_document_topics : number of document-topics, the kinds of segments there are.
    n_word_topics : number of word-topics.
    alpha : how the priors of the word-topics are learned: 'mle' (maximum likelihood by Minka's fixed point) or
        'moments' (as in the paper, which takes the noise of short segments for variety).
    eta, delta : pseudo-counts of a word in a word-topic, and of a document-topic in a document.
    init : where chains begin: 'data' (NMF on the segments) or 'random'.
    n_sweeps : sweeps of Gibbs sampling over all tokens and segments, `burn_in` of them, in which alpha is learned,
        before the first sample; samples are `lag` sweeps apart.
    n_chains : independent chains, in parallel. The topics are those of the chain with the highest joint likelihood;
        only what does not depend on the order of topics, such as `score`, is averaged over chains.
    random_state, n_jobs, verbose, checkpoint : as in PLSA.

    Attributes
    ----------
    topic_word_ : P(w | word-topic), also as components_. alpha_ : document-topics x word-topics.
    doc_topic_ : P(word-topic | d), so that doc_topic_ @ topic_word_ is P(w|d). doc_cluster_ : P(document-topic | d).
    segment_topic_, segment_cluster_ : the same of each segment. segment_documents_ : the document of each.
    topic_weight_ : share of all tokens. cluster_weight_ : share of all segments.
    history_ : joint log-likelihood a token after each sweep, of the chain that was kept; chain_history_ : of all.
    effective_sample_size_ : of the joint likelihood after burn-in, by chain.
    other_topic_word_, other_alpha_ : of the chains that were not kept.
    word_frequency_ : tokens of each word. n_iter_, converged_, interrupted_ : as in PLSA.

    Examples
    --------
    >>> from topicfold import Corpus, LDCC
    >>> texts = ["cat dog cat\\n\\nsun moon sun", "dog cat\\n\\ncat dog", "sun moon\\n\\nmoon star sun"] * 5
    >>> corpus = Corpus.from_texts(texts, segments="paragraphs")
    >>> model = LDCC(2, 2, n_sweeps=40, burn_in=20, lag=2, random_state=0).fit(corpus)
    >>> model.segment_cluster_.shape, model.doc_topic_.shape
    ((30, 2), (15, 2))
    >>> bool(model.predict(corpus)[0].all())  # the first document is in both clusters
    True
    """

    topic_word_: np.ndarray
    doc_topic_: np.ndarray
    history_: np.ndarray

    def __init__(
        self,
        n_document_topics: int = 20,
        n_word_topics: int = 50,
        *,
        alpha: str = "mle",
        eta: float = 0.01,
        delta: float = 0.1,
        init: str = "data",
        n_sweeps: int = 300,
        burn_in: int = 200,
        lag: int = 10,
        n_chains: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_document_topics = n_document_topics
        self.n_word_topics = n_word_topics
        self.alpha = alpha
        self.eta = eta
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

    def fit(self, X: Any, y: Any = None, *, documents: Any = None) -> LDCC:
        """Learn from segments x words. `documents` has the number of each row's document; without it a row is one.

        A Corpus brings its segments, where it has some. y is ignored.
        """
        self._check_parameters()
        counts = as_counts(self, X, reset=True, dtype=np.float64)
        if documents is not None:  # the ids of X are those of its rows
            self.document_ids_ = self.corpus_hash_ = None
        counts, documents = self._segments(X, counts, documents)
        check_size(counts, self.n_word_topics)
        fractions = counts.data[counts.data != np.floor(counts.data)]
        if len(fractions):
            message = f"X holds {fractions[0]:g}, and a topic belongs to a whole token: values are rounded up"
            warnings.warn(message, stacklevel=2)
            counts = whole_tokens(counts)
        sampler = Sampler(counts, documents, self.n_document_topics, self.n_word_topics, self.eta, self.delta)
        checkpoint = None
        if self.checkpoint is not None:
            checkpoint = Checkpoint(self.checkpoint, fingerprint(self, counts, documents))
        resumed = None if checkpoint is None else checkpoint.read()
        state, history = (self._start(sampler, counts), []) if resumed is None else (resumed[0], resumed[1]["history"])
        run = iterate(
            _Step(self, sampler),
            state,
            max_iter=self.n_sweeps,
            tol=0,
            title="LDCC",
            verbose=self.verbose,
            checkpoint=checkpoint,
            history=history,
        )
        with hold_interrupts():
            self._keep(counts, documents, sampler, state)
        self.interrupted_ = not run.finished
        self.converged_ = run.finished
        if checkpoint is not None and run.finished:
            checkpoint.remove()
        return self

    def transform(self, X: Any) -> np.ndarray:
        """P(word-topic | row), one row a row of X, whatever else is in the batch; of a Corpus, a row a document."""
        return self.transform_documents(X, None)

    def transform_documents(self, X: Any, documents: Any) -> np.ndarray:
        """P(word-topic | d), one row a document; `documents` has the number of each row's document."""
        counts, documents = self._new(X, documents)
        return self._of_documents(counts, documents)[0]

    def transform_segments(self, X: Any, documents: Any = None) -> np.ndarray:
        """P(word-topic | segment), one row a segment, in the order of X."""
        return self.segment_memberships(X, documents)[0]

    def segment_memberships(self, X: Any, documents: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """P(word-topic | segment) and P(document-topic | segment), one row a segment, in the order of X."""
        return self._of_segments(*self._new(X, documents))

    def fit_transform(self, X: Any, y: Any = None, *, documents: Any = None) -> np.ndarray:
        """Fit, and return the topics of the training documents."""
        return self.fit(X, documents=documents).doc_topic_

    def predict_clusters(self, X: Any, *, documents: Any = None) -> np.ndarray:
        """P(document-topic | d) of new documents."""
        counts, documents = self._new(X, documents)
        return self._of_documents(counts, documents)[1]

    def predict(self, X: Any, *, documents: Any = None, threshold: float = 0.1) -> np.ndarray:
        """Overlapping clusters, documents x document-topics: those with P(k|d) of at least `threshold`, or the largest.

        The paper does not say how topics of segments become clusters of documents, and recall hangs on it: a tenth of a
        document is our rule.
        """
        share = self.predict_clusters(X, documents=documents)
        return (share >= threshold) | (share == share.max(axis=1, keepdims=True))

    def word_clusters(self, threshold: float = 0.5) -> list[np.ndarray]:
        """The columns of each word-topic: words with P(l|w) of at least `threshold`, in several topics or in none."""
        check_is_fitted(self)
        joint = self.topic_word_.astype(np.float64) * self.topic_weight_[:, None]
        share = joint / np.maximum(joint.sum(axis=0), 1e-300)
        return [np.flatnonzero((row >= threshold) & (self.word_frequency_ > 0)) for row in share]

    def score(self, X: Any, y: Any = None, *, documents: Any = None) -> float:
        """Mean log-likelihood a token by completion of segments: half of each is seen, the rest is scored.

        Probabilities of words are averaged over chains.
        """
        check_is_fitted(self)
        check_whole_numbers(as_counts(self, X, reset=False, dtype=np.float64), "score (document completion)")
        counts, documents = self._new(X, documents)
        seen, held_out = split_tokens(counts)
        mixtures = [
            self._of_segments(sp.csr_array(seen), documents, topic_word, alpha)[0]
            for topic_word, alpha in self._chains()
        ]
        mixture = np.hstack(mixtures) / len(mixtures)
        topic_word = np.vstack([topic_word for topic_word, _ in self._chains()])
        return completion_log_likelihood(held_out, mixture, topic_word, self.word_frequency_)

    def topic_tree(self, corpus: Corpus | None = None) -> TopicTree:
        """Two levels: document-topics over word-topics, with what share of a document-topic each word-topic has."""
        from ...topics.levels import with_level_above
        from ..trees import flat_tree

        check_is_fitted(self)
        topics, clusters, ids, titles = self.doc_topic_, self.doc_cluster_, self.document_ids_, None
        if corpus is not None:
            titles = corpus.titles
            if corpus.ids != ids or content_hash(corpus.counts) != self.corpus_hash_:
                ids, (topics, clusters) = corpus.ids, self._of_documents(*self._new(corpus, None))
        return with_level_above(
            flat_tree(self, topics, ids, titles),
            numbers=np.arange(len(self.alpha_)),
            share=self.alpha_ / self.alpha_.sum(axis=1, keepdims=True),
            weight=self.cluster_weight_,
            membership=clusters,
            level_names=("word-topic", "document-topic"),
        )

    @property
    def components_(self) -> np.ndarray:
        """P(w | word-topic), by scikit-learn's name."""
        return self.topic_word_

    @property
    def _n_features_out(self) -> int:
        return len(self.topic_word_)

    def __sklearn_tags__(self) -> Any:
        return count_tags(super().__sklearn_tags__())

    # ---- fitting ----------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        least = {"n_document_topics": 1, "n_word_topics": 1, "n_sweeps": 1, "burn_in": 0, "lag": 1, "n_chains": 1}
        for name, smallest in least.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < smallest:
                raise ValueError(f"{name}={value!r}: expected a whole number, at least {smallest}")
        if self.burn_in >= self.n_sweeps:
            raise ValueError(f"burn_in={self.burn_in}: expected fewer than n_sweeps={self.n_sweeps}")
        for name in ("eta", "delta"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
                raise ValueError(f"{name}={value!r}: expected a number above zero")
        for name, choices in (("alpha", ALPHAS), ("init", INITS)):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}={getattr(self, name)!r}: expected one of {', '.join(choices)}")

    def _start(self, sampler: Sampler, counts: sp.csr_array) -> State:
        rng = check_random_state(self.random_state)
        state: State = {"sweeps": np.zeros(1, np.int64), "trace": np.zeros((self.n_chains, self.n_sweeps))}
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_chains).tolist()
        with single_threaded_libraries(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of k-means: fewer distinct segments than clusters
            draws = map_blocks(
                lambda seed: self._first_draw(sampler, counts, np.random.RandomState(seed)), seeds, self.n_jobs
            )
        for number, (seed, (topic, cluster)) in enumerate(zip(seeds, draws)):
            chain = sampler.state(
                topic, cluster, np.full((self.n_document_topics, self.n_word_topics), _FIRST_ALPHA), seed
            )
            chain["word_topic"] = np.zeros((counts.shape[1], self.n_word_topics), np.int64)
            state |= {f"{number}:{name}": array for name, array in chain.items()}
        return state

    def _first_draw(
        self, sampler: Sampler, counts: sp.csr_array, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """A topic of each token and a cluster of each segment to begin with."""
        n_topics, n_clusters, n_segments = self.n_word_topics, self.n_document_topics, counts.shape[0]
        if self.init == "random":
            return rng.randint(n_topics, size=len(sampler.tokens)), rng.randint(n_clusters, size=n_segments)
        topic_word = start(counts, n_topics, "auto", rng, {})[1]
        of_word = topic_word / np.maximum(topic_word.sum(axis=0), 1e-300)  # P(l|w), were topics equally likely
        segment_topic = (counts @ of_word.T + 1e-3) / (counts.sum(axis=1) + 1e-3 * n_topics)[:, None]
        cluster = _nearest_clusters(segment_topic, n_clusters, rng)
        segment = np.repeat(np.arange(n_segments), sampler.lengths)
        topic = np.empty(len(sampler.tokens), np.int64)
        word_topic = np.ascontiguousarray(topic_word.T)
        for first in range(0, len(topic), 1 << 16):
            part = slice(first, first + (1 << 16))
            upto = np.cumsum(segment_topic[segment[part]] * word_topic[sampler.tokens[part]], axis=1)
            drawn = rng.random_sample(len(upto)) * upto[:, -1]
            topic[part] = np.minimum((upto <= drawn[:, None]).sum(axis=1), n_topics - 1)
        return topic, cluster

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
            words = chain["word_topic"].T + self.eta * max(1, 1 + (n_sweeps - 1 - self.burn_in) // self.lag)
            learned.append((words / words.sum(axis=1, keepdims=True), chain["alpha"].copy()))
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
        self.cluster_weight_ = self.segment_cluster_.mean(axis=0)
        self.doc_topic_, self.doc_cluster_ = self._pooled(counts, documents, self.segment_topic_, self.segment_cluster_)

    # ---- documents --------------------------------------------------------------------------------------------------

    def _chains(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """P(w | word-topic) and alpha of every chain, the kept one first."""
        return [(self.topic_word_, self.alpha_), *zip(self.other_topic_word_, self.other_alpha_)]

    def _segments(self, X: Any, counts: sp.csr_array, documents: Any) -> tuple[sp.csr_array, np.ndarray]:
        """Segments, and the number of each one's document. `counts` is X, validated."""
        if isinstance(X, Corpus) and X.segments is not None:
            if documents is not None:
                raise ValueError("documents: a Corpus with segments knows their documents itself")
            missing = np.setdiff1d(np.arange(len(X)), X.segments.documents)  # an empty segment stands for none
            rows = sp.vstack([X.segments.counts, sp.csr_array((len(missing), X.counts.shape[1]), dtype=X.counts.dtype)])
            segments = as_counts(
                self, Corpus.from_counts(sp.csr_array(rows), X.vocabulary), reset=False, dtype=np.float64
            )
            return segments, np.concatenate([X.segments.documents, missing]).astype(np.int64)
        n_rows = counts.shape[0]
        if documents is None:
            return counts, np.arange(n_rows)
        numbers = np.asarray(documents)
        if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iu" or (n_rows and numbers.min() < 0):
            raise ValueError(f"documents: expected {n_rows} whole numbers from 0, the document of each row")
        return counts, numbers.astype(np.int64)

    def _new(self, X: Any, documents: Any) -> tuple[sp.csr_array, np.ndarray]:
        """Segments of new documents without words that training did not have, and their documents."""
        check_is_fitted(self)
        counts = as_counts(self, X, reset=False, dtype=np.float64)
        counts, documents = self._segments(X, counts, documents)
        return whole_tokens(seen_words(counts, self.word_frequency_)), documents

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
        order = np.argsort(documents, kind="stable")
        ends = np.searchsorted(documents[order], np.arange(documents.max(initial=-1) + 2))
        topics, clusters = fold_in_segments(
            counts[order], ends, topic_word, alpha, self.delta, _NEW_BURN_IN, _NEW_SAMPLES, self.n_jobs
        )
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        topics, clusters = topics[back].astype(np.float32), clusters[back].astype(np.float32)
        topics[np.diff(counts.indptr) == 0] = self.topic_weight_
        return topics, clusters

    def _of_documents(self, counts: sp.csr_array, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(l|d) and P(k|d)."""
        return self._pooled(counts, documents, *self._of_segments(counts, documents))

    def _pooled(
        self, counts: sp.csr_array, documents: np.ndarray, segment_topic: np.ndarray, segment_cluster: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of documents, from those of their segments: topics by tokens, clusters by segments and the prior."""
        n_documents, n_segments = int(documents.max(initial=-1)) + 1, len(documents)
        shape, rows = (n_documents, n_segments), np.arange(n_segments)
        tokens = sp.csr_array((counts.sum(axis=1), (documents, rows)), shape)
        topics, total = tokens @ segment_topic.astype(np.float64), tokens.sum(axis=1)
        topics = np.where(total[:, None] > 0, topics / np.maximum(total, 1)[:, None], self.topic_weight_)
        members = sp.csr_array((np.ones(n_segments), (documents, rows)), shape)
        clusters = members @ segment_cluster.astype(np.float64) + self.delta
        clusters /= clusters.sum(axis=1, keepdims=True)
        return (topics / topics.sum(axis=1, keepdims=True)).astype(np.float32), clusters.astype(np.float32)


def whole_tokens(counts: sp.csr_array) -> sp.csr_array:
    """Weights rounded up to whole tokens, which is what can have a topic; counts stay as they are."""
    return sp.csr_array((np.ceil(counts.data), counts.indices, counts.indptr), counts.shape)


def _nearest_clusters(segment_topic: np.ndarray, n_clusters: int, rng: np.random.RandomState) -> np.ndarray:
    """Segments that mix topics alike have one cluster."""
    from sklearn.cluster import KMeans

    if n_clusters >= len(segment_topic):
        return np.arange(len(segment_topic)) % n_clusters
    return KMeans(n_clusters, n_init=1, max_iter=20, random_state=rng).fit_predict(segment_topic)
