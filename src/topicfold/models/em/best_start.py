"""Where EM starts by default: from the best of three kinds of document clusters, made from the data.

    lsi     k-means on LSI vectors
    glsi    k-means on LSI vectors that are averaged over similar documents, or over a given graph
    gibbs   the clusters of glsi, improved by Gibbs sampling with one topic per document

Which is best depends on the corpus. It shows after a few steps of leave-one-out EM on a sample, by how well halves of
documents that were held out are predicted from the other halves: by all topics of a document, and by its largest topic
alone. Longer documents are not tried out: there the three differ little, and a trial costs as much as the fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import normalise_rows, summed
from ...engine.loop import State
from ...engine.mapped import release
from ...graph.build import knn_graph
from ...metrics.completion import completion_log_likelihood_by_document, split_tokens
from .document_clusters import averaged_over, kmeans_clusters, latent_vectors, positive_rows, sampled_clusters, spread
from .leave_one_out import document_prior, fold_in_shares, leave_one_out_step, state_from
from .plsa_kernels import SeedCounts, counts_of_seeds, token_count
from .seed_words import with_seeds

__all__ = ["DEFAULT_PRIORS", "StartPriors", "best_topics"]

_SAMPLE, _SAMPLE_PER_TOPIC = 10_000, 25  # documents that starts are made from and tried on
_HELD_OUT_SHARE, _MOST_HELD_OUT, _LEAST_HELD_OUT = 0.1, 1_000, 20
_LONG = 35  # tokens per document, from which on starts are not tried out
_NEIGHBORS = 5
_FIRST_STEPS, _LAST_STEPS, _FINALISTS = 5, 10, 2
_EVERY_WORD = 0.05  # pseudo-count of every word in a cluster
_CORPUS_TOKENS = 20.0  # pseudo-tokens of the corpus in the words of a largest topic
_CORPUS_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of tokens that the largest topic does not explain; the best counts


class StartPriors(NamedTuple):
    """The priors of the leave-one-out EM that starts are tried with."""

    alpha: float = 1.0
    beta: float = 0.03
    focus: float = 3.0


DEFAULT_PRIORS = StartPriors()


def best_topics(
    counts: sp.csr_array,
    n_topics: int,
    rng: np.random.RandomState,
    seeds: Mapping[int, np.ndarray],
    seed_strength: float = 0.0,
    priors: StartPriors = DEFAULT_PRIORS,
    graph: sp.csr_array | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """P(w|z) that a fit starts from, with even P(z|d): the best of those tried on a sample of the documents.

    `seeds` are the columns of seed words by topic, `seed_strength` is their share of a topic. Vectors are averaged over
    the `graph`, if there is one, otherwise over the nearest documents by words.
    """
    rows = np.flatnonzero(np.diff(counts.indptr))
    most = max(_SAMPLE, _SAMPLE_PER_TOPIC * n_topics)
    if len(rows) > most:
        rows = np.sort(rng.choice(rows, most, replace=False))
    sample = counts[rows]
    release(counts.indices)
    release(counts.data)
    whole_numbers = bool((sample.data == np.floor(sample.data)).all())
    held_out = _held_out(sample, rng) if whole_numbers else np.empty(0, int)
    training_rows = np.setdiff1d(np.arange(len(rows)), held_out)
    training = sample[training_rows]
    if n_topics == 1 or len(training_rows) < n_topics:
        return positive_rows(rng.random_sample((n_topics, counts.shape[1])))
    if graph is None:
        vectors = latent_vectors(training, n_topics, rng)
        averaged = averaged_over(knn_graph(training, _NEIGHBORS, n_jobs=n_jobs), vectors)
    else:
        everywhere = latent_vectors(training, n_topics, rng, counts)
        vectors, averaged = everywhere[rows[training_rows]], averaged_over(graph, everywhere)[rows[training_rows]]
    clusters = [kmeans_clusters(averaged, n_topics, rng)]
    if whole_numbers:
        clusters.append(sampled_clusters(training, clusters[0], n_topics, rng))
    if not len(held_out):
        return _start_of(training, clusters[-1], n_topics, seeds)[1]
    clusters.append(kmeans_clusters(vectors, n_topics, rng))
    starts = [_start_of(training, cluster, n_topics, seeds) for cluster in clusters]
    seed_counts = counts_of_seeds(seeds, token_count(training) / n_topics * seed_strength, counts.dtype)
    return _Trial(training, sample[held_out], priors, seed_counts, n_topics, n_jobs).best_of(starts)


def _held_out(sample: sp.csr_array, rng: np.random.RandomState) -> np.ndarray:
    """Rows that starts are compared on; none if the documents are long, or too few."""
    n_documents = sample.shape[0]
    n_held_out = min(round(_HELD_OUT_SHARE * n_documents), _MOST_HELD_OUT)
    if n_held_out < _LEAST_HELD_OUT or token_count(sample) >= _LONG * n_documents:
        return np.empty(0, int)
    rows = rng.choice(n_documents, n_held_out, replace=False)
    return np.sort(rows)


def _start_of(
    counts: sp.csr_array, cluster: np.ndarray, n_topics: int, seeds: Mapping[int, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """P(z|d) and P(w|z) of clusters of documents."""
    member = np.eye(n_topics)[cluster]
    doc_topic, topic_word = spread(member), normalise_rows((counts.T @ member).T + _EVERY_WORD)
    return with_seeds(counts, doc_topic, topic_word, seeds) if seeds else (doc_topic, topic_word)


class _Trial:
    """Compares starts after a few steps of leave-one-out EM, by how well they predict halves of other documents."""

    def __init__(
        self,
        training: sp.csr_array,
        held_out: sp.csr_array,
        priors: StartPriors,
        seed_counts: SeedCounts,
        n_topics: int,
        n_jobs: int | None,
    ) -> None:
        self.training, self.priors, self.n_topics, self.n_jobs = training, priors, n_topics, n_jobs
        self.step = leave_one_out_step(training, n_topics, n_jobs, *priors, seed_counts)
        self.seen, self.hidden = split_tokens(held_out)
        self.frequency = summed(training, 0)

    def best_of(self, starts: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """P(w|z) of the best start, after the steps it was tried with."""
        states = [state_from(self.training, *start) for start in starts]
        for n_steps, n_next in ((_FIRST_STEPS, _FINALISTS), (_LAST_STEPS, 1)):
            for state in states:
                for _ in range(n_steps):
                    self.step(state)
            states = sorted(states, key=self._score, reverse=True)[:n_next]
        return normalise_rows(states[0]["word_topic"][:, : self.n_topics].T.astype(np.float64))

    def _score(self, state: State) -> float:
        """Log-likelihood of the hidden tokens: by all topics of a document, plus by its largest topic alone."""
        topic_word = np.ascontiguousarray(normalise_rows(state["word_topic"][:, : self.n_topics].T))
        prior = document_prior(self.priors.alpha, state["topic_share"], self.priors.focus)
        doc_topic = fold_in_shares(self.seen, topic_word, prior, self.n_jobs)
        by_all = completion_log_likelihood_by_document(self.hidden, doc_topic, topic_word, self.frequency)[0].sum()
        # the words of the training documents that have the same largest topic, mixed with those of the corpus
        corpus = self.frequency / self.frequency.sum()
        member = np.eye(self.n_topics)[state["doc_count"][:, : self.n_topics].argmax(axis=1)]
        cluster_word = normalise_rows((self.training.T @ member).T + _CORPUS_TOKENS * corpus)
        largest = np.repeat(doc_topic.argmax(axis=1), np.diff(self.hidden.indptr))
        anywhere = np.maximum(corpus[self.hidden.indices], 1e-12)
        cluster = cluster_word[largest, self.hidden.indices]
        by_largest = (self.hidden.data @ np.log((1 - e) * cluster + e * anywhere) for e in _CORPUS_SHARES)
        return float(by_all + max(by_largest))
