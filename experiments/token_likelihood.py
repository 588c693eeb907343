"""Likelihood of documents as sequences of tokens: left to right for LDA, exactly for HLDA; and as sets of words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.ndimage import gaussian_filter1d
from scipy.special import logsumexp

from topicfold.engine.jit import njit
from topicfold.metrics.completion import BACKGROUND_WEIGHT

__all__ = [
    "TokenModel",
    "hlda_model",
    "lda_log_likelihood",
    "lda_model",
    "left_to_right",
    "log_distinct",
    "log_length",
    "presence_given_share",
]


# ---- sequences of tokens --------------------------------------------------------------------------------------------


@njit
def left_to_right(tokens, word_topic, alpha, n_particles, n_moves, uniform):
    """log P(w_1 ... w_n) ~ sum_i log mean_r sum_z P(w_i|z) (alpha_z + n_rz) / (sum alpha + i - 1), without bias in P.

    n_rz counts the topics that particle r has for the tokens before i. Particles are then resampled by how well they
    predicted w_i, its topic is drawn, and `n_moves` tokens get a new topic given the others. `uniform` contains
    random numbers: one per token, and two for each draw of a topic.
    """
    n_topics, used = len(alpha), 0
    counts = np.zeros((n_particles, n_topics)) + alpha
    topic = np.zeros((n_particles, len(tokens)), np.int64)
    source = np.zeros(n_particles, np.int64)
    cumulated = np.empty(max(n_topics, n_particles))
    total = 0.0
    for i in range(len(tokens)):
        mass = 0.0
        for r in range(n_particles):
            for z in range(n_topics):
                mass += word_topic[tokens[i], z] * counts[r, z]
            cumulated[r] = mass
        total += np.log(mass / n_particles / (alpha.sum() + i))
        r = 0
        for k in range(n_particles):
            while r < n_particles - 1 and cumulated[r] < (k + uniform[used]) * mass / n_particles:
                r += 1
            source[k] = r
        used += 1
        counts, topic = counts[source], topic[source]
        for r in range(n_particles):
            for step in range(min(i, n_moves) + 1):
                place = i
                if step > 0:
                    place = step - 1 if i <= n_moves else int(uniform[used] * (i + 1))
                    counts[r, topic[r, place]] -= 1.0
                mass = 0.0
                for z in range(n_topics):
                    mass += word_topic[tokens[place], z] * counts[r, z]
                    cumulated[z] = mass
                drawn = uniform[used + 1] * mass
                used += 2
                z = 0
                while z < n_topics - 1 and cumulated[z] < drawn:
                    z += 1
                topic[r, place] = z
                counts[r, z] += 1.0
    return total


def lda_log_likelihood(
    counts: sp.csr_array, topic_word: np.ndarray, alpha: np.ndarray, *, n_particles: int, n_moves: int, seed: int
) -> np.ndarray:
    """log P of the tokens of each document, in a random order, by `left_to_right`."""
    rng = np.random.default_rng([seed, 2])
    word_topic = np.ascontiguousarray(topic_word.T, np.float64)
    likelihoods = np.zeros(counts.shape[0])
    for row in range(len(likelihoods)):
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        tokens = rng.permutation(np.repeat(counts.indices[cells], counts.data[cells].astype(int))).astype(np.int64)
        uniform = rng.random(len(tokens) * (1 + 2 * n_particles * (n_moves + 1)))
        likelihoods[row] = left_to_right(tokens, word_topic, alpha, n_particles, n_moves, uniform)
    return likelihoods


class TokenModel(NamedTuple):
    """log P of the token sequence of each document, P(w|d) given observed words, and P(w) of new documents."""

    log_likelihood: Callable[[sp.csr_array], np.ndarray]
    word_share: Callable[[sp.csr_array], np.ndarray]
    prior: tuple[np.ndarray, np.ndarray]  # weights of rows, and the rows


def lda_model(topic_word: np.ndarray, alpha: np.ndarray, seed: int, protocol: Mapping[str, Any]) -> TokenModel:
    """LDA with these topics; the protocol gives the numbers of particles, moves and prior draws."""
    from topicfold.baselines.tomotopy_models import fold_in_with_prior

    def log_likelihood(counts: sp.csr_array) -> np.ndarray:
        sizes = {"n_particles": protocol["particles"], "n_moves": protocol["moves"]}
        return lda_log_likelihood(counts, topic_word, alpha, **sizes, seed=seed)

    def word_share(seen: sp.csr_array) -> np.ndarray:
        return fold_in_with_prior(seen, topic_word, alpha, 1) @ topic_word

    drawn = np.random.default_rng([seed, 3]).dirichlet(alpha, protocol["prior draws"])
    return TokenModel(log_likelihood, word_share, (np.full(len(drawn), 1 / len(drawn)), drawn @ topic_word))


def hlda_model(model: Any) -> TokenModel:
    """HLDA: a document has one path, and its levels are mixed as in the training documents of the path."""

    def log_likelihood(counts: sp.csr_array) -> np.ndarray:
        return logsumexp(counts @ np.log(model.topic_word_).T + np.log(model.path_share_), axis=1)

    prior = (model.path_share_, model.topic_word_)
    return TokenModel(log_likelihood, lambda seen: model.transform(seen) @ model.topic_word_, prior)


# ---- sets of words --------------------------------------------------------------------------------------------------


def log_length(train: sp.csr_array, test: sp.csr_array) -> np.ndarray:
    """log P(n) of the number of words in test documents, from the training histogram, smoothed by a Gaussian."""
    lengths, n_words = np.diff(train.indptr), train.shape[1]
    spread = np.subtract(*np.percentile(lengths, [75, 25])) / 1.34
    width = max(0.9 * min(np.std(lengths), spread or np.inf) * len(lengths) ** -0.2, 0.5)
    share = np.bincount(lengths, minlength=n_words + 1) / len(lengths)
    smooth = gaussian_filter1d(share, width, mode="reflect")
    mixed = (1 - BACKGROUND_WEIGHT) * smooth + BACKGROUND_WEIGHT / (n_words + 1)
    return np.log(mixed)[np.diff(test.indptr)]


def log_distinct(weights: np.ndarray, shares: np.ndarray, most: int) -> np.ndarray:
    """log P(n tokens are n different words) for n = 0 ... `most`: the mean over rows of P(w) of n! e_n(P).

    With one more word of probability p, the chance q_n that n tokens differ is q_n + n p q_(n-1).
    """
    different = np.zeros((len(shares), most + 1))
    different[:, 0] = 1.0
    for column in shares.T:
        different[:, 1:] += np.arange(1, most + 1) * column[:, None] * different[:, :-1]
    return np.log(np.maximum(weights @ different, 1e-300))


def presence_given_share(share: np.ndarray, seen: np.ndarray, n_seen: np.ndarray) -> np.ndarray:
    """P(word present) = 1 - exp(-c P(w|d)); c makes the expected number of present words, among those seen, right."""
    among = np.maximum(share[:, seen], 1e-300)
    scale = n_seen / among.sum(axis=1)
    expected = np.minimum(n_seen, 0.99 * among.shape[1])
    for _ in range(50):  # Newton's steps on a concave function, from below: they never pass the root
        absent = np.exp(-scale[:, None] * among)
        scale = scale + (expected - (1 - absent).sum(axis=1)) / (among * absent).sum(axis=1)
    return -np.expm1(-scale[:, None] * share)
