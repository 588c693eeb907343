"""Likelihood of documents made of segments, under LDCC with fixed topics: left to right, and by the harmonic mean.

With one document-topic and one segment per document, LDCC is LDA: both are measured by the same code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from topicfold.corpus.corpus import Corpus
from topicfold.engine.jit import njit
from topicfold.metrics.completion import BACKGROUND_WEIGHT

from .segmented_data import segments_of

__all__ = [
    "SegmentModel",
    "draw_states",
    "harmonic_means",
    "left_to_right_log_likelihood",
    "left_to_right_segments",
    "segment_model",
    "word_likelihood",
]


class SegmentModel(NamedTuple):
    """P(w|l), a row of alpha for each document-topic, delta, and whether a document is one segment."""

    topic_word: np.ndarray
    alpha: np.ndarray
    delta: float
    whole: bool


def segment_model(model: Any) -> SegmentModel:
    """The model of a fitted LDCC or LDA; P(w|l) includes the same share of background as the scores."""
    frequency = np.asarray(model.word_frequency_, np.float64)
    background = (frequency + 1) / (frequency.sum() + len(frequency))
    topic_word = (1 - BACKGROUND_WEIGHT) * model.topic_word_.astype(np.float64) + BACKGROUND_WEIGHT * background
    if model.alpha_.ndim == 1:
        return SegmentModel(topic_word, model.alpha_[None], 1.0, whole=True)
    return SegmentModel(topic_word, model.alpha_, model.delta, whole=model.n_document_topics == 1)


def _documents(corpus: Corpus, whole: bool, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each document: its tokens, in random order within a segment, and where the segments end."""
    counts = corpus.counts if whole else segments_of(corpus).counts
    owner = np.arange(len(corpus)) if whole else segments_of(corpus).documents
    tokens: list[list[np.ndarray]] = [[] for _ in range(len(corpus))]
    for row, document in enumerate(owner):
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        columns = np.repeat(counts.indices[cells], counts.data[cells].astype(int)).astype(np.int64)
        tokens[document].append(rng.permutation(columns))
    return [
        (np.concatenate([*parts, np.zeros(0, np.int64)]), np.cumsum([len(part) for part in parts], dtype=np.int64))
        for parts in tokens
    ]


# ---- left to right --------------------------------------------------------------------------------------------------


@njit
def left_to_right_segments(tokens, ends, word_topic, alpha, delta, n_particles, n_moves, uniform):
    """log P(w_1 ... w_n) ~ sum_i log mean_r P(w_i | state of particle r for the tokens before), without bias in P.

    A particle has a word-topic for each token of the current segment, with counts n_l, and a document-topic for each
    earlier segment, with counts m_k. The document-topic of the current segment is summed out:
    P(k) ~ (delta + m_k) prod_l rising(alpha_kl, n_l) / rising(A_k, n), P(l|k) = (alpha_kl + n_l) / (A_k + n).
    Particles are then resampled by how well they predicted w_i, and its topic is drawn. `n_moves` tokens of the segment
    get a new topic given the others and a k, which is drawn for this purpose and then discarded.
    """
    n_clusters, n_topics = alpha.shape
    alpha_total = alpha.sum(axis=1)
    used, total, begin = 0, 0.0, 0
    before = np.zeros((n_particles, n_clusters))
    topic = np.zeros((n_particles, len(tokens)), np.int64)
    mixed = np.zeros((n_particles, n_topics))
    share = np.zeros(n_clusters)
    source = np.zeros(n_particles, np.int64)
    cumulated = np.empty(max(n_topics, n_particles, n_clusters))
    for end in ends:
        counts = np.zeros((n_particles, n_topics))
        log_cluster = np.log(before + delta)
        for i in range(begin, end):
            n, word, mass = i - begin, tokens[i], 0.0
            for r in range(n_particles):
                share[:] = np.exp(log_cluster[r] - log_cluster[r].max())
                share /= share.sum() * (alpha_total + n)
                scale = share.sum()
                for l in range(n_topics):
                    mixed[r, l] = counts[r, l] * scale
                for k in range(n_clusters):
                    for l in range(n_topics):
                        mixed[r, l] += share[k] * alpha[k, l]
                for l in range(n_topics):
                    mixed[r, l] *= word_topic[word, l]
                    mass += mixed[r, l]
                cumulated[r] = mass
            total += np.log(mass / n_particles)
            r = 0
            for s in range(n_particles):
                while r < n_particles - 1 and cumulated[r] < (s + uniform[used]) * mass / n_particles:
                    r += 1
                source[s] = r
            used += 1
            counts, before, log_cluster, mixed = counts[source], before[source], log_cluster[source], mixed[source]
            topic[:, begin:i] = topic[source, begin:i]
            for r in range(n_particles):
                mass = 0.0
                for l in range(n_topics):
                    mass += mixed[r, l]
                    cumulated[l] = mass
                new = min(np.searchsorted(cumulated[:n_topics], uniform[used] * mass), n_topics - 1)
                used += 1
                topic[r, i] = new
                log_cluster[r] += np.log((alpha[:, new] + counts[r, new]) / (alpha_total + n))
                counts[r, new] += 1.0
                k = 0
                if n_clusters > 1:
                    cumulated[:n_clusters] = np.cumsum(np.exp(log_cluster[r] - log_cluster[r].max()))
                    drawn = uniform[used] * cumulated[n_clusters - 1]
                    k = min(np.searchsorted(cumulated[:n_clusters], drawn), n_clusters - 1)
                used += 1
                for step in range(min(n + 1, n_moves)):
                    place = begin + (step if n < n_moves else int(uniform[used] * (n + 1)))
                    old = topic[r, place]
                    counts[r, old] -= 1.0
                    mass = 0.0
                    for l in range(n_topics):
                        mass += word_topic[tokens[place], l] * (alpha[k, l] + counts[r, l])
                        cumulated[l] = mass
                    new = min(np.searchsorted(cumulated[:n_topics], uniform[used + 1] * mass), n_topics - 1)
                    used += 2
                    if new != old:
                        for c in range(n_clusters):
                            log_cluster[r, c] += np.log(
                                (alpha[c, new] + counts[r, new]) / (alpha[c, old] + counts[r, old])
                            )
                    topic[r, place] = new
                    counts[r, new] += 1.0
        for r in range(n_particles):
            cumulated[:n_clusters] = np.cumsum(np.exp(log_cluster[r] - log_cluster[r].max()))
            drawn = uniform[used] * cumulated[n_clusters - 1]
            used += 1
            before[r, min(np.searchsorted(cumulated[:n_clusters], drawn), n_clusters - 1)] += 1.0
        begin = end
    return total


def left_to_right_log_likelihood(model: SegmentModel, corpus: Corpus, seed: int, protocol: Mapping[str, Any]) -> float:
    """Nats per token of the documents, each by `left_to_right_segments`."""
    rng = np.random.default_rng([seed, 2])
    n_particles, n_moves = protocol["particles"], protocol["moves"]
    word_topic = np.ascontiguousarray(model.topic_word.T)
    total, n_tokens = 0.0, 0
    for tokens, ends in _documents(corpus, model.whole, rng):
        uniform = rng.random(len(tokens) * (1 + 2 * n_particles * (n_moves + 1)) + len(ends) * n_particles)
        total += left_to_right_segments(
            tokens, ends, word_topic, model.alpha, model.delta, n_particles, n_moves, uniform
        )
        n_tokens += len(tokens)
    return total / n_tokens


# ---- the harmonic mean ----------------------------------------------------------------------------------------------


@njit
def draw_states(tokens, ends, word_topic, alpha, delta, topic, cluster, n_sweeps, uniform):
    """Sweeps of Gibbs sampling over one document: P(z=l) ~ (alpha_kl + n_l) P(w|l), P(y=k) as in left to right.

    `topic` and `cluster` are the state, updated in place; `uniform` contains a number for each draw.
    """
    n_clusters, n_topics = alpha.shape
    alpha_total = alpha.sum(axis=1)
    cumulated = np.empty(max(n_topics, n_clusters))
    in_document = np.zeros(n_clusters)
    for k in cluster:
        in_document[k] += 1.0
    used = 0
    for _ in range(n_sweeps):
        begin = 0
        for s in range(len(ends)):
            counts = np.zeros(n_topics)
            for i in range(begin, ends[s]):
                counts[topic[i]] += 1.0
            for i in range(begin, ends[s]):
                counts[topic[i]] -= 1.0
                mass = 0.0
                for l in range(n_topics):
                    mass += (alpha[cluster[s], l] + counts[l]) * word_topic[tokens[i], l]
                    cumulated[l] = mass
                topic[i] = min(np.searchsorted(cumulated[:n_topics], uniform[used] * mass), n_topics - 1)
                used += 1
                counts[topic[i]] += 1.0
            in_document[cluster[s]] -= 1.0
            log_chance = np.log(in_document + delta)
            earlier = np.zeros(n_topics)
            for i in range(begin, ends[s]):
                l = topic[i]
                for k in range(n_clusters):
                    log_chance[k] += np.log((alpha[k, l] + earlier[l]) / (alpha_total[k] + i - begin))
                earlier[l] += 1.0
            cumulated[:n_clusters] = np.cumsum(np.exp(log_chance - log_chance.max()))
            drawn = uniform[used] * cumulated[n_clusters - 1]
            used += 1
            cluster[s] = min(np.searchsorted(cumulated[:n_clusters], drawn), n_clusters - 1)
            in_document[cluster[s]] += 1.0
            begin = ends[s]


def word_likelihood(tokens: np.ndarray, topic: np.ndarray, shape: tuple[int, int], beta: float) -> float:
    """log P(w|z) of the paper's eq. 6, with the topics integrated out; `shape` is topics x words."""
    counts = np.bincount(topic * shape[1] + tokens, minlength=shape[0] * shape[1]).reshape(shape)
    prior = shape[1] * beta
    by_topic = (gammaln(counts + beta) - gammaln(beta)).sum(axis=1) - gammaln(counts.sum(axis=1) + prior)
    return float(by_topic.sum() + shape[0] * gammaln(prior))


def harmonic_means(
    model: SegmentModel, corpus: Corpus, beta: float, seed: int, protocol: Mapping[str, Any]
) -> tuple[float, float]:
    """Nats per token by the harmonic mean of P(w|z) over states of the test documents, drawn with fixed topics.

    In the first, P(w|z) is eq. 6 of the test documents alone; in the second, it uses the fixed topics.
    """
    rng = np.random.default_rng([seed, 4])
    word_topic = np.ascontiguousarray(model.topic_word.T)
    documents = _documents(corpus, model.whole, rng)
    n_clusters, n_topics = model.alpha.shape
    states = [(rng.integers(n_topics, size=len(w)), rng.integers(n_clusters, size=len(e))) for w, e in documents]
    tokens = np.concatenate([w for w, _ in documents])
    by_themselves, fixed = [], []
    for sample in range(protocol["harmonic samples"]):
        n_sweeps = protocol["harmonic burn-in"] if sample == 0 else protocol["harmonic lag"]
        for (words, ends), (topic, cluster) in zip(documents, states):
            uniform = rng.random(n_sweeps * (len(words) + len(ends)))
            draw_states(words, ends, word_topic, model.alpha, model.delta, topic, cluster, n_sweeps, uniform)
        topic = np.concatenate([topic for topic, _ in states])
        by_themselves.append(word_likelihood(tokens, topic, model.topic_word.shape, beta))
        fixed.append(float(np.log(word_topic[tokens, topic]).sum()))
    first, second = (-logsumexp(-np.array(logs), b=1 / len(logs)) / len(tokens) for logs in (by_themselves, fixed))
    return float(first), float(second)
