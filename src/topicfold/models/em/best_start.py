"""Where leave-one-out EM starts: from NMF or k-means, or from clusters of documents made from them.

Clusters suit short texts, which are about one thing each: started from topics, EM ends with several topics in a title.
Each start uses other documents, so several starts find different topics. Which one is better shows after a few steps,
by how well tokens are predicted from the other tokens of their document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import aligned, normalise_rows, summed
from ...engine.loop import State
from ...engine.mapped import is_mapped, release
from .leave_one_out import document_prior, leave_one_out_step
from .plsa_kernels import counts_of_seeds, padded, token_count
from .starts import clusters_of, start, with_seeds
from .unigram_mixture import clustered

__all__ = ["best_start", "state_from"]

_TRIAL_STEPS, _FINALISTS = 5, 2
_SAMPLE, _SAMPLE_PER_TOPIC, _SAMPLE_TOKENS = 5_000, 50, 300_000  # documents and tokens that starts are tried on
# By the number of topics: the cost of NMF grows with its square.
_INITS = ((50, ("nmf", "kmeans", "nmf", "nmf")), (200, ("nmf", "kmeans")), (float("inf"), ("kmeans", "kmeans")))
_ROWS = 1 << 14  # documents that are started together


def state_from(counts: sp.csr_array, doc_topic: np.ndarray, topic_word: np.ndarray) -> State:
    """The tables of a fit that starts from P(z|d) and P(w|z)."""
    lengths, on_disk = summed(counts, 1), is_mapped(counts.data)
    doc_count = aligned(counts.shape[0], len(topic_word), counts.dtype, on_disk=on_disk)
    for first in range(0, len(doc_count), _ROWS):
        rows = slice(first, first + _ROWS)
        doc_count[rows, : len(topic_word)] = lengths[rows, None] * doc_topic[rows]
        release(doc_count[rows])
    return {
        "doc_count": doc_count,
        "word_topic": padded(topic_word.T, counts.dtype),
        "topic_share": np.full(len(topic_word), 1 / len(topic_word)),
    }


def best_start(
    counts: sp.csr_array,
    n_topics: int,
    rng: np.random.RandomState,
    *,
    alpha: float,
    beta: float,
    focus: float,
    seeds: Mapping[int, np.ndarray],
    seed_strength: float = 0.0,
    n_jobs: int | None = None,
) -> State:
    """The best of several starts for leave-one-out EM: NMF and k-means, each unchanged and as clusters of documents.

    They are compared after a few steps on at most a few thousand documents: some of the candidates continue after five,
    the best of them is chosen after fifteen. `seeds` are the columns of seed words by topic, `seed_strength` is their
    share of a topic.
    """
    mean_length = max(token_count(counts) / counts.shape[0], 1.0)
    most = max(_SAMPLE, _SAMPLE_PER_TOPIC * n_topics, round(_SAMPLE_TOKENS / mean_length))
    part = counts
    if counts.shape[0] > most:
        part = counts[np.sort(rng.choice(counts.shape[0], most, replace=False))]
    seed_words = counts_of_seeds(seeds, token_count(part) / n_topics * seed_strength, counts.dtype)
    step = leave_one_out_step(part, n_topics, n_jobs, alpha, beta, focus, seed_words)

    def tried(doc_topic: np.ndarray, topic_word: np.ndarray) -> tuple[float, State]:
        state = state_from(part, doc_topic, topic_word)
        return _after(state, step, _TRIAL_STEPS), state

    first, *more = next(inits for most, inits in _INITS if n_topics <= most)
    topics = start(part, n_topics, first, rng, seeds)
    candidates = [tried(*topics), tried(*clustered(part, topics[1], n_jobs))]
    if candidates[1][0] > candidates[0][0]:  # clusters are better: short documents, where other samples may help
        for init in more:
            topics = start(part, n_topics, init, rng, seeds)
            candidates.append(tried(*clustered(part, topics[1], n_jobs)))
        # and once more, from documents that have become similar
        leader = max(candidates, key=_value)[1]
        doc_topic = leader["doc_count"][:, :n_topics] + document_prior(alpha, leader["topic_share"]).base
        topics = clusters_of(normalise_rows(doc_topic), part, n_topics, rng)
        topics = with_seeds(part, *topics, seeds) if seeds else topics
        candidates.append(tried(*clustered(part, topics[1], n_jobs)))
    finalists = sorted(candidates, key=_value, reverse=True)[:_FINALISTS]
    finalists = [(_after(state, step, 2 * _TRIAL_STEPS), state) for _, state in finalists]
    best = max(finalists, key=_value)[1]
    if part is counts:
        return best
    even = np.broadcast_to(1 / n_topics, (counts.shape[0], n_topics))
    topic_word = normalise_rows(best["word_topic"][:, :n_topics].T.astype(np.float64))
    return state_from(counts, even, topic_word) | {"topic_share": best["topic_share"]}


def _value(candidate: tuple[float, State]) -> float:
    return candidate[0]


def _after(state: State, step: Callable[[State], float], n_steps: int) -> float:
    for _ in range(n_steps):
        value = step(state)
    return value
