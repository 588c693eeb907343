"""Chains of LDCC's sampler: their starts, and one sweep of all of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ...engine.blocks import map_blocks, single_threaded_libraries
from ...engine.distributed.cluster import Cluster, current_cluster
from ...engine.loop import State
from ..starts import start
from .gibbs import Tables
from .sampler import Sampler, maximised_alpha, moment_alpha, topic_type

if TYPE_CHECKING:
    from .ldcc import LDCC

__all__ = ["ChainStep", "chain_of", "start_chains"]

_ALPHA_EVERY = 5  # sweeps of burn-in
_FIRST_ALPHA = 0.1
_SEGMENTS = 1 << 14  # per block in which the topic mix of each segment is in memory
_TOKENS = 1 << 12
_CLUSTERED = 50_000  # segments from which the first clusters are found


class ChainStep:
    """One sweep of every chain; updates the state in place and returns the mean joint log-likelihood per token."""

    def __init__(self, model: LDCC, sampler: Sampler) -> None:
        self.model, self.sampler = model, sampler
        self.tables: dict[int, Tables] = {}

    def __call__(self, state: State) -> float:
        sweep, n_chains = int(state["sweeps"][0]), self.model.n_chains
        cluster = current_cluster()
        if cluster is not None and n_chains > 1:
            values = self._on_cluster(cluster, state, sweep)
        else:
            values = map_blocks(lambda chain: self.one(state, chain, sweep), range(n_chains), self.model.n_jobs)
        state["trace"][:, sweep] = values
        state["sweeps"] += 1
        return float(np.mean(values))

    def one(self, state: State, number: int, sweep: int) -> float:
        """A sweep of one chain, in place."""
        chain = chain_of(state, number)
        tables = self.tables.get(number) or self.sampler.tables(chain)
        value, self.tables[number] = _swept(self.sampler, chain, tables, sweep, self._settings())
        return value

    def _settings(self) -> tuple[int, int, bool]:
        return self.model.burn_in, self.model.lag, self.model.alpha == "mle"

    def _on_cluster(self, cluster: Cluster, state: State, sweep: int) -> list[float]:
        """A sweep on a cluster: it takes much longer than sending a chain there and back, so none stays on a worker."""
        chains = [chain_of(state, number) for number in range(self.model.n_chains)]
        shared = (self.sampler.parts(), tuple(chains[0]), sweep, self._settings())
        values = []
        for chain, (value, arrays) in zip(
            chains, cluster.map(_sent_chain, shared, [tuple(c.values()) for c in chains])
        ):
            for name, array in zip(chain, arrays):
                chain[name][...] = array
            values.append(value)
        return values


def _sent_chain(
    parts: tuple[Any, ...],
    names: tuple[str, ...],
    sweep: int,
    settings: tuple[int, int, bool],
    arrays: tuple[np.ndarray, ...],
) -> tuple[float, list[np.ndarray]]:
    """A sweep of one chain on a worker of a cluster: its value, and the chain after it."""
    # arrays sent with the task are read-only
    chain = {name: array if array.flags.writeable else array.copy() for name, array in zip(names, arrays)}
    sampler = Sampler.of_parts(*parts)
    value, _ = _swept(sampler, chain, sampler.tables(chain), sweep, settings)
    return value, list(chain.values())


def _swept(
    sampler: Sampler, chain: State, tables: Tables, sweep: int, settings: tuple[int, int, bool]
) -> tuple[float, Tables]:
    """Draw all of a chain once, in place; its joint log-likelihood per token, and the tables of its alpha."""
    burn_in, lag, maximised = settings
    sampler.sweep(chain, tables)
    # samples come from one posterior: after burn-in alpha is fixed
    if sweep < burn_in and sweep % _ALPHA_EVERY == 0:
        found = sampler.segment_topics(chain), chain["document_topic"], sampler.lengths
        update = maximised_alpha if maximised else moment_alpha
        chain["alpha"][:] = update(chain["alpha"], *found)
        tables = sampler.tables(chain)
    if sweep >= burn_in and (sweep - burn_in) % lag == 0:
        sampler.add_words(chain, chain["word_topic"])
    return sampler.log_likelihood(chain, tables) / max(len(sampler.tokens), 1), tables


def chain_of(state: State, number: int) -> State:
    """The arrays of one chain, by their names in it."""
    prefix = f"{number}:"
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


def start_chains(model: LDCC, sampler: Sampler, counts: sp.csr_array) -> State:
    """The state of all chains before the first sweep."""
    rng = check_random_state(model.random_state)
    state: State = {"sweeps": np.zeros(1, np.int64), "trace": np.zeros((model.n_chains, model.n_sweeps))}
    seeds = rng.randint(np.iinfo(np.int32).max, size=model.n_chains).tolist()
    with single_threaded_libraries(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of k-means: fewer distinct segments than clusters
        draws = map_blocks(
            lambda seed: _first_draw(model, sampler, counts, np.random.RandomState(seed)), seeds, model.n_jobs
        )
    for number, (seed, (topic, cluster)) in enumerate(zip(seeds, draws)):
        alpha = np.full((model.n_document_topics, model.n_word_topics), _FIRST_ALPHA)
        chain = sampler.state(topic, cluster, alpha, seed)
        chain["word_topic"] = np.zeros((counts.shape[1], model.n_word_topics), np.int64)
        state |= {f"{number}:{name}": array for name, array in chain.items()}
    return state


def _first_draw(
    model: LDCC, sampler: Sampler, counts: sp.csr_array, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """The first topic of each token and the first cluster of each segment."""
    n_topics, n_clusters, n_segments = model.n_word_topics, model.n_document_topics, counts.shape[0]
    if model.init == "random":
        return rng.randint(n_topics, size=len(sampler.tokens)), rng.randint(n_clusters, size=n_segments)
    topic_word = start(counts, n_topics, "auto", rng, {})[1]
    # P(l|w), if topics were equally likely
    topic_of_word = np.ascontiguousarray((topic_word / np.maximum(topic_word.sum(axis=0), 1e-300)).T)

    def mixes(segments: sp.csr_array) -> np.ndarray:
        return (segments @ topic_of_word + 1e-3) / (segments.sum(axis=1) + 1e-3 * n_topics)[:, None]

    clusters = _Clusters(mixes, counts, n_clusters, rng)
    cluster = np.empty(n_segments, np.int32)
    topic = np.empty(len(sampler.tokens), topic_type(n_topics))
    word_topic = np.ascontiguousarray(topic_word.T)
    for first in range(0, n_segments, _SEGMENTS):
        rows = slice(first, min(first + _SEGMENTS, n_segments))
        segment_topic = mixes(counts[rows])
        cluster[rows] = clusters.nearest(segment_topic, first)
        tokens = sampler.tokens[sampler.ends[rows.start] : sampler.ends[rows.stop]]
        segment = np.repeat(np.arange(len(segment_topic)), sampler.lengths[rows])
        topic[sampler.ends[rows.start] : sampler.ends[rows.stop]] = _drawn(
            segment_topic, segment, word_topic, tokens, rng
        )
    return topic, cluster


def _drawn(
    segment_topic: np.ndarray,
    segment: np.ndarray,
    word_topic: np.ndarray,
    tokens: np.ndarray,
    rng: np.random.RandomState,
) -> np.ndarray:
    """A topic of each token, drawn by P(l|segment) P(w|l)."""
    topic = np.empty(len(tokens), np.int64)
    for first in range(0, len(topic), _TOKENS):
        part = slice(first, first + _TOKENS)
        upto = np.cumsum(segment_topic[segment[part]] * word_topic[tokens[part]], axis=1)
        drawn = rng.random_sample(len(upto)) * upto[:, -1]
        topic[part] = np.minimum((upto <= drawn[:, None]).sum(axis=1), word_topic.shape[1] - 1)
    return topic


class _Clusters:
    """Clusters of segments with similar topic mixes; with more than 50,000 segments, clusters of a sample of them."""

    def __init__(
        self,
        mixes: Callable[[sp.csr_array], np.ndarray],
        counts: sp.csr_array,
        n_clusters: int,
        rng: np.random.RandomState,
    ) -> None:
        from sklearn.cluster import KMeans

        n_segments = counts.shape[0]
        self.n_clusters = n_clusters
        self.means, self.known = None, None
        if n_clusters >= n_segments:
            return
        self.means = KMeans(n_clusters, n_init=1, max_iter=20, random_state=rng)
        if n_segments <= _CLUSTERED:
            self.known = self.means.fit_predict(mixes(counts))
        else:
            self.means.fit(mixes(counts[np.linspace(0, n_segments - 1, _CLUSTERED).astype(np.int64)]))

    def nearest(self, segment_topic: np.ndarray, first: int) -> np.ndarray:
        """The clusters of some segments, the first of which has the number `first`."""
        if self.known is not None:
            return self.known[first : first + len(segment_topic)]
        if self.means is not None:
            return self.means.predict(segment_topic)
        return np.arange(first, first + len(segment_topic)) % self.n_clusters
