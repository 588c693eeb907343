"""Chains of LDCC's sampler: their starts, one sweep of all of them, and their state in a checkpoint."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ...engine.blocks import map_blocks, single_threaded_libraries
from ...engine.checks import MAX_PARAMETER
from ...engine.distributed.cluster import Cluster, current_cluster
from ...engine.loop import State
from ...engine.stored import Stored
from ...errors import InputError
from ..em.starts import start
from ..inputs import RandomStateLike
from .gibbs import Tables
from .sampler import Sampler, maximised_alpha, moment_alpha, topic_type

__all__ = ["Chains", "Schedule", "chain_of"]

_ALPHA_EVERY = 5  # sweeps of burn-in
_FIRST_ALPHA = 0.1
_SEGMENTS_PER_BLOCK = 1 << 14  # in which the topic mix of each segment is in memory
_TOKENS_PER_BLOCK = 1 << 12
_NMF_TOPICS = 100  # from more topics on, NMF would cost too much
_CLUSTERED_SEGMENTS = 50_000  # at most so many are clustered for a start

_CHAIN: Mapping[str, Stored] = {
    "topic": Stored(("tokens",), "int", low=0, high="topics"),
    "document_topic": Stored(("segments",), "int", low=0, high="document topics", dtype="int32"),
    "alpha": Stored(("document topics", "topics"), low=1e-9, high=MAX_PARAMETER, dtype="float64"),
    "random": Stored((2,), "int", dtype="uint64"),
    "topic_total": Stored(("topics",), "int", low=0, dtype="int64"),
    "size": Stored(("words",), "int", low=0, dtype="int32"),
    "listed": Stored(("listed topics",), "int", low=0, high="topics", dtype="int32"),
    "listed_count": Stored(("listed topics",), "int", low=0, dtype="int32"),
    "in_document": Stored(("documents", "document topics"), "int", low=0, dtype="int32"),
    "word_topic": Stored(("words", "topics"), "int", low=0, dtype="int64"),
}


class Schedule(NamedTuple):
    """What happens in the sweeps of a chain: alpha is learned in `burn_in`, then every `lag`-th one is a sample."""

    n_sweeps: int
    burn_in: int
    lag: int
    alpha: Literal["mle", "moments"]


class Chains:
    """Independent chains of one sampler, with one state for all: its arrays have the number of the chain in front."""

    def __init__(self, sampler: Sampler, schedule: Schedule, n_chains: int, n_jobs: int | None) -> None:
        self.sampler, self.schedule, self.n_chains, self.n_jobs = sampler, schedule, n_chains, n_jobs
        self._tables: dict[int, Tables] = {}

    def start(self, counts: sp.csr_array, init: Literal["data", "random"], random_state: RandomStateLike) -> State:
        """The state before the first sweep."""
        n_document_topics, n_topics = self.sampler.n_document_topics, self.sampler.n_topics
        rng = check_random_state(random_state)
        state: State = {
            "sweeps": np.zeros(1, np.int64),
            "trace": np.zeros((self.n_chains, self.schedule.n_sweeps)),
        }
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_chains).tolist()
        first_draw = _random_draw if init == "random" else _draw_from_data
        with single_threaded_libraries(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of k-means: fewer distinct segments than clusters
            draws = map_blocks(
                lambda seed: first_draw(self.sampler, counts, np.random.RandomState(seed)), seeds, self.n_jobs
            )
        for number, (seed, (topic, document_topic)) in enumerate(zip(seeds, draws)):
            chain = self.sampler.state(
                topic, document_topic, np.full((n_document_topics, n_topics), _FIRST_ALPHA), seed
            )
            chain["word_topic"] = np.zeros((counts.shape[1], n_topics), np.int64)
            state |= {f"{number}:{name}": array for name, array in chain.items()}
        return state

    def step(self, state: State) -> float:
        """Sweep over every chain, in place; the mean joint log-likelihood per token."""
        sweep = int(state["sweeps"][0])
        workers = current_cluster()
        if workers is not None and self.n_chains > 1:
            values = self._on_workers(workers, state, sweep)
        else:
            values = map_blocks(lambda number: self._one(state, number, sweep), range(self.n_chains), self.n_jobs)
        state["trace"][:, sweep] = values
        state["sweeps"] += 1
        return float(np.mean(values))

    def _one(self, state: State, number: int, sweep: int) -> float:
        """A sweep of one chain, in place."""
        chain = chain_of(state, number)
        tables = self._tables.get(number) or self.sampler.tables(chain)
        value, self._tables[number] = _swept(self.sampler, chain, tables, sweep, self.schedule)
        return value

    def _on_workers(self, workers: Cluster, state: State, sweep: int) -> list[float]:
        """A sweep on a cluster: it takes much longer than sending a chain there and back, so none stays on a worker."""
        chains = [chain_of(state, number) for number in range(self.n_chains)]
        shared = (self.sampler.parts(), tuple(chains[0]), sweep, self.schedule)
        values = []
        for chain, (value, arrays) in zip(
            chains, workers.map(_sent_chain, shared, [tuple(c.values()) for c in chains])
        ):
            for name, array in zip(chain, arrays):
                chain[name][...] = array
            values.append(value)
        return values

    def sizes(self) -> dict[str, int]:
        """The sizes of the arrays of a state."""
        sampler = self.sampler
        return {
            "chains": self.n_chains,
            "all steps": self.schedule.n_sweeps,
            "tokens": len(sampler.tokens),
            "segments": len(sampler.documents),
            "documents": sampler.n_documents,
            "words": sampler.n_words,
            "topics": sampler.n_topics,
            "document topics": sampler.n_document_topics,
            "listed topics": int(sampler.start[-1]),
        }

    def arrays(self) -> dict[str, Stored]:
        """The arrays of a state: the chains, their number of sweeps, and their likelihoods."""
        chain = {**_CHAIN, "topic": replace(_CHAIN["topic"], dtype=topic_type(self.sampler.n_topics).name)}
        return {
            "sweeps": Stored((1,), "int", low=0, dtype="int64"),
            "trace": Stored(("chains", "all steps"), dtype="float64"),
            **{f"{number}:{name}": stored for number in range(self.n_chains) for name, stored in chain.items()},
        }

    def check_state(self, values: Mapping[str, Any]) -> None:
        """Raise if the arrays of a checkpoint, each valid by itself, are inconsistent."""
        n_sweeps = int(values["sweeps"][0])
        if n_sweeps != len(values["notes.history"]):
            raise InputError(f"its sweeps are {n_sweeps}: expected {len(values['notes.history'])}")
        n_samples = len(range(self.schedule.burn_in, n_sweeps, self.schedule.lag))
        for number in range(self.n_chains):
            self.sampler.check_state(chain_of(dict(values), number), n_samples)


def chain_of(state: State, number: int) -> State:
    """The arrays of one chain, by their names in it."""
    prefix = f"{number}:"
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


def _swept(sampler: Sampler, chain: State, tables: Tables, sweep: int, schedule: Schedule) -> tuple[float, Tables]:
    """Draw all of a chain once, in place; its joint log-likelihood per token, and the tables of its alpha."""
    sampler.sweep(chain, tables)
    # samples come from one posterior: after burn-in alpha is fixed
    if sweep < schedule.burn_in and sweep % _ALPHA_EVERY == 0:
        update = maximised_alpha if schedule.alpha == "mle" else moment_alpha
        segment_topics = sampler.segment_topics(chain)
        chain["alpha"][:] = update(chain["alpha"], segment_topics, chain["document_topic"], sampler.lengths)
        tables = sampler.tables(chain)
    if sweep >= schedule.burn_in and (sweep - schedule.burn_in) % schedule.lag == 0:
        sampler.add_words(chain, chain["word_topic"])
    return sampler.log_likelihood(chain, tables) / max(len(sampler.tokens), 1), tables


def _sent_chain(
    parts: tuple[Any, ...],
    names: tuple[str, ...],
    sweep: int,
    schedule: Schedule,
    arrays: tuple[np.ndarray, ...],
) -> tuple[float, list[np.ndarray]]:
    """A sweep of one chain on a worker of a cluster: its value, and the chain after it."""
    # arrays sent with the task are read-only
    chain = {name: array if array.flags.writeable else array.copy() for name, array in zip(names, arrays)}
    sampler = Sampler.of_parts(*parts)
    value, _ = _swept(sampler, chain, sampler.tables(chain), sweep, schedule)
    return value, list(chain.values())


def _random_draw(sampler: Sampler, counts: sp.csr_array, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """A random topic of each token and a random document-topic of each segment."""
    topic = rng.randint(sampler.n_topics, size=len(sampler.tokens))
    return topic, rng.randint(sampler.n_document_topics, size=counts.shape[0])


def _draw_from_data(
    sampler: Sampler, counts: sp.csr_array, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """A topic of each token from NMF, and a document-topic of each segment from clusters of similar segments."""
    n_topics, n_segments = sampler.n_topics, counts.shape[0]
    topic_word = start(counts, n_topics, "nmf" if n_topics <= _NMF_TOPICS else "kmeans", rng, {})[1]
    # P(l|w), if topics were equally likely
    topic_of_word = np.ascontiguousarray((topic_word / np.maximum(topic_word.sum(axis=0), 1e-300)).T)

    def mixes(segments: sp.csr_array) -> np.ndarray:
        return (segments @ topic_of_word + 1e-3) / (segments.sum(axis=1) + 1e-3 * n_topics)[:, None]

    clusters = _StartClusters(mixes, counts, sampler.n_document_topics, rng)
    document_topic = np.empty(n_segments, np.int32)
    topic = np.empty(len(sampler.tokens), topic_type(n_topics))
    word_topic = np.ascontiguousarray(topic_word.T)
    for first in range(0, n_segments, _SEGMENTS_PER_BLOCK):
        rows = slice(first, min(first + _SEGMENTS_PER_BLOCK, n_segments))
        places = slice(sampler.ends[rows.start], sampler.ends[rows.stop])
        segment_topic = mixes(counts[rows])
        document_topic[rows] = clusters.nearest(segment_topic, first)
        segment = np.repeat(np.arange(len(segment_topic)), sampler.lengths[rows])
        topic[places] = _drawn(segment_topic, segment, word_topic, sampler.tokens[places], rng)
    return topic, document_topic


def _drawn(
    segment_topic: np.ndarray,
    segment: np.ndarray,
    word_topic: np.ndarray,
    tokens: np.ndarray,
    rng: np.random.RandomState,
) -> np.ndarray:
    """A topic of each token, drawn by P(l|segment) P(w|l)."""
    topic = np.empty(len(tokens), np.int64)
    for first in range(0, len(topic), _TOKENS_PER_BLOCK):
        part = slice(first, first + _TOKENS_PER_BLOCK)
        upto = np.cumsum(segment_topic[segment[part]] * word_topic[tokens[part]], axis=1)
        drawn = rng.random_sample(len(upto)) * upto[:, -1]
        topic[part] = np.minimum((upto <= drawn[:, None]).sum(axis=1), word_topic.shape[1] - 1)
    return topic


class _StartClusters:
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
        if n_segments <= _CLUSTERED_SEGMENTS:
            self.known = self.means.fit_predict(mixes(counts))
        else:
            self.means.fit(mixes(counts[np.linspace(0, n_segments - 1, _CLUSTERED_SEGMENTS).astype(np.int64)]))

    def nearest(self, segment_topic: np.ndarray, first: int) -> np.ndarray:
        """The clusters of some segments, the first of which has the number `first`."""
        if self.known is not None:
            return self.known[first : first + len(segment_topic)]
        if self.means is not None:
            return self.means.predict(segment_topic)
        return np.arange(first, first + len(segment_topic)) % self.n_clusters
