"""Collapsed Gibbs sampling for LDCC: a word-topic of every token, a document-topic of every segment.

The conditional of a token's topic is split into three parts, as in SparseLDA (Yao, Mimno and McCallum 2009): by the
topics of the word, by the topics already in the segment, and the rest, which is rarely drawn. The first part goes over
the topics of the word, the second over those of the segment; neither goes over all topics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma, gammaln

from ...engine.blocks import row_blocks
from ...engine.distributed.cluster import StaticArray, map_anywhere
from ...engine.loop import State
from ...engine.machine import machine_memory
from ...errors import InputError
from .gibbs import (
    TABULATED,
    Chain,
    SegmentTokens,
    Tables,
    add_word_counts,
    count_segment_topics,
    fill_word_lists,
    frozen_documents,
    prior_masses,
    sweep_segments,
)

__all__ = [
    "Sampler",
    "fold_in_segments",
    "maximised_alpha",
    "moment_alpha",
    "random_state",
    "rising_tables",
    "topic_type",
]

_LEAST_ALPHA = 1e-4
_BYTES_PER_TOKEN = 12
_ARRAYS = ("tokens", "ends", "documents", "start", "lengths")
_SEGMENTS_PER_BLOCK = 1 << 16  # where arrays have one entry per cell


def rising_tables(alpha: np.ndarray, longest: int) -> Tables:
    """The tables of alpha for segments of up to `longest` tokens."""
    n = np.arange(min(longest, TABULATED) + 1)
    log_gamma = np.ascontiguousarray(gammaln(alpha.T))
    rising = gammaln(alpha.T[:, None, :] + n[None, :, None]) - log_gamma[:, None, :]
    total = alpha.sum(axis=1)
    rising_total = gammaln(total + np.arange(longest + 1)[:, None]) - gammaln(total)
    return Tables(np.ascontiguousarray(rising), np.ascontiguousarray(rising_total), log_gamma)


def check_tokens(counts: sp.csr_array, n_document_topics: int) -> None:
    """Raise if tokens, each with its own topic, and tables as long as a segment would not fit into memory."""
    lengths = counts.sum(axis=1, dtype=np.float64)
    n_tokens, longest = float(lengths.sum()), float(lengths.max(initial=0))
    needed = n_tokens * _BYTES_PER_TOKEN + longest * n_document_topics * 8
    if needed > machine_memory() / 2:
        raise InputError(
            f"LDCC samples each of {n_tokens:,.0f} tokens, {longest:,.0f} of them in one segment, and would need "
            f"{needed / 1e9:,.0f} GB of memory: more than half of this machine's {machine_memory() / 1e9:,.0f} GB"
        )


def tokens_of(counts: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The word of each token in the order of segments, and where the tokens of each segment end, after a first 0."""
    tokens = np.empty(int(counts.data.sum(dtype=np.float64)), np.int32)
    ends = np.zeros(counts.shape[0] + 1, np.int64)
    for start in range(0, counts.shape[0], _SEGMENTS_PER_BLOCK):
        stop = min(start + _SEGMENTS_PER_BLOCK, counts.shape[0])
        indptr = counts.indptr[start : stop + 1].astype(np.int64)
        cells = slice(indptr[0], indptr[-1])
        times = counts.data[cells].astype(np.int64)
        ends[start + 1 : stop + 1] = ends[start] + np.concatenate([[0], np.cumsum(times)])[indptr[1:] - indptr[0]]
        tokens[ends[start] : ends[stop]] = np.repeat(counts.indices[cells], times)
    return tokens, ends


def topic_type(n_topics: int) -> np.dtype:
    """The smallest type for the topic of a token: there are as many as tokens."""
    return np.dtype(np.int16 if n_topics <= np.iinfo(np.int16).max else np.int32)


class Sampler:
    """The tokens of a corpus, in the order of its segments, and sweeps over the state of a chain."""

    def __init__(
        self,
        counts: sp.csr_array,
        documents: np.ndarray,
        n_document_topics: int,
        n_topics: int,
        beta: float,
        delta: float,
    ) -> None:
        check_tokens(counts, n_document_topics)
        self.tokens, self.ends = tokens_of(counts)
        self.documents = documents.astype(np.int64)
        self.n_documents = int(documents.max()) + 1
        self.n_words, self.n_document_topics, self.n_topics = counts.shape[1], n_document_topics, n_topics
        self.beta, self.delta = float(beta), float(delta)
        frequency = np.bincount(self.tokens, minlength=self.n_words)
        self.start = np.concatenate([[0], np.cumsum(np.minimum(frequency, n_topics))])
        self.lengths = np.diff(self.ends)
        self.longest = int(self.lengths.max())
        self._lasting: tuple[Any, ...] | None = None

    @classmethod
    def of_parts(cls, numbers: Mapping[str, Any], *arrays: np.ndarray) -> Sampler:
        """The sampler, rebuilt on a worker of a cluster."""
        sampler = cls.__new__(cls)
        sampler.__dict__.update(numbers, **dict(zip(_ARRAYS, arrays)))
        return sampler

    def parts(self) -> tuple[Any, ...]:
        """The sampler as it is sent to workers of a cluster."""
        if self._lasting is None:
            numbers = {name: value for name, value in vars(self).items() if name not in (*_ARRAYS, "_lasting")}
            self._lasting = (numbers, *(StaticArray(getattr(self, name)) for name in _ARRAYS))
        return self._lasting

    def state(self, topic: np.ndarray, document_topic: np.ndarray, alpha: np.ndarray, seed: int) -> State:
        """The state of a chain from the topic of each token and the document-topic of each segment."""
        state: State = {
            "topic": topic.astype(topic_type(self.n_topics), copy=False),
            "document_topic": document_topic.astype(np.int32),
            "alpha": np.array(alpha, dtype=np.float64),
            "random": random_state(seed),
            "topic_total": np.bincount(topic, minlength=self.n_topics).astype(np.int64),
            "size": np.zeros(self.n_words, np.int32),
            "listed": np.zeros(self.start[-1], np.int32),
            "listed_count": np.zeros(self.start[-1], np.int32),
            "in_document": np.zeros((self.n_documents, self.n_document_topics), np.int32),
        }
        fill_word_lists(self.tokens, state["topic"], self.start, state["size"], state["listed"], state["listed_count"])
        np.add.at(state["in_document"], (self.documents, document_topic), 1)
        return state

    def check_state(self, state: State, n_samples: int) -> None:
        """Raise if the counts of a chain are not those of its topics, document-topics and samples.

        Lists may be in any order.
        """
        counted = self.state(state["topic"], state["document_topic"], state["alpha"], 0)
        for name in ("topic_total", "size", "in_document"):
            if not np.array_equal(counted[name], state[name]):
                raise InputError(f"its {name} does not match its topics and document-topics")
        used = _list_places(self.start, state["size"])
        word = np.repeat(np.arange(self.n_words), state["size"])
        lists = [
            chain["listed_count"][used][np.lexsort((chain["listed"][used], word))].tolist()
            + np.sort(word * self.n_topics + chain["listed"][used]).tolist()
            for chain in (counted, state)
        ]
        if lists[0] != lists[1]:
            raise InputError("its lists of topics do not match its tokens")
        frequency = np.bincount(self.tokens, minlength=self.n_words)
        if not np.array_equal(state["word_topic"].sum(axis=1), n_samples * frequency):
            raise InputError(f"its word_topic does not match {n_samples} samples")

    def sweep(self, state: State, tables: Tables) -> None:
        """Draw every topic and every document-topic once. `tables` are those of the state's alpha."""
        segments = SegmentTokens(self.tokens, self.ends, self.documents, self.start, self.n_words)
        chain = Chain(**{name: state[name] for name in Chain._fields})
        sweep_segments(segments, chain, tables, self.delta, self.beta)

    def tables(self, state: State) -> Tables:
        """The tables of the state's alpha."""
        return rising_tables(state["alpha"], self.longest)

    def segment_topics(self, state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(segment, topic, count) of every topic that a segment has."""
        parts = tuple(np.empty(len(self.tokens), np.int32) for _ in range(3))
        n_entries = count_segment_topics(self.ends, state["topic"], self.n_topics, *parts)
        return parts[0][:n_entries], parts[1][:n_entries], parts[2][:n_entries]

    def add_words(self, state: State, total: np.ndarray) -> None:
        """total[w, l] += n(l, w)."""
        add_word_counts(self.start, state["size"], state["listed"], state["listed_count"], total)

    def log_likelihood(self, state: State, tables: Tables) -> float:
        """log P(words, topics, document-topics | alpha, beta, delta), with all distributions integrated out."""
        beta, delta, alpha = self.beta, self.delta, state["alpha"]
        used = state["listed_count"][_list_places(self.start, state["size"])]
        words = float((gammaln(used + beta) - gammaln(beta)).sum())
        words -= float((gammaln(state["topic_total"] + self.n_words * beta) - gammaln(self.n_words * beta)).sum())
        segment, topic, count = self.segment_topics(state)
        document_topic = state["document_topic"][segment]
        few = count < tables.log_rising.shape[1]
        topics = float(tables.log_rising[topic[few], count[few], document_topic[few]].sum())
        many = alpha[document_topic[~few], topic[~few]]
        topics += float((gammaln(many + count[~few]) - gammaln(many)).sum())
        topics -= float(tables.log_rising_total[self.lengths, state["document_topic"]].sum())
        in_document = state["in_document"]
        times = np.bincount(in_document.ravel())  # few distinct counts, most of them frequent
        document_topics = float((times * (gammaln(np.arange(len(times)) + delta) - gammaln(delta))).sum())
        prior = self.n_document_topics * delta
        document_topics -= float((gammaln(in_document.sum(axis=1) + prior) - gammaln(prior)).sum())
        return words + topics + document_topics


def random_state(seed: int) -> np.ndarray:
    """Two words for `next_uniform`, neither of them zero."""
    return np.random.SeedSequence(seed).generate_state(2, np.uint64) | np.uint64(1)


def _list_places(start: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The used places in the lists of topics."""
    ends = np.cumsum(size)
    return np.arange(ends[-1]) + np.repeat(start[:-1] - (ends - size), size)


def maximised_alpha(
    alpha: np.ndarray,
    segment_topics: tuple[np.ndarray, np.ndarray, np.ndarray],
    document_topic: np.ndarray,
    lengths: np.ndarray,
    n_steps: int = 5,
    tol: float = 0.0,
) -> np.ndarray:
    """Steps towards the alpha under which the topics of segments are most likely (the fixed point of Minka 2000).

    Equal counts are grouped (Wallach 2008). A document-topic with fewer than two segments keeps its row.
    """
    n_document_topics, n_topics = alpha.shape
    segment, topic, count = segment_topics
    longest = int(lengths.max()) + 1
    code, times = np.unique(
        (document_topic[segment] * np.int64(n_topics) + topic) * longest + count, return_counts=True
    )
    cell, count = np.divmod(code, longest)
    by_length, n_segments = np.unique(document_topic * np.int64(longest) + lengths, return_counts=True)
    owner, length = np.divmod(by_length, longest)
    known = np.bincount(document_topic, minlength=n_document_topics) >= 2
    known &= np.bincount(owner, n_segments * length, minlength=n_document_topics) > 0
    new = alpha.copy()
    for _ in range(n_steps):
        flat, total = new.ravel(), new.sum(axis=1)
        gained = np.bincount(cell, times * (digamma(count + flat[cell]) - digamma(flat[cell])), minlength=new.size)
        bound = np.bincount(
            owner, n_segments * (digamma(length + total[owner]) - digamma(total[owner])), minlength=n_document_topics
        )
        ratio = gained.reshape(new.shape) / np.maximum(bound, 1e-300)[:, None]
        before, new = new, np.where(known[:, None], np.maximum(new * ratio, _LEAST_ALPHA), new)
        if np.abs(new - before).max() < tol * before.max():
            break
    return new


def moment_alpha(
    alpha: np.ndarray,
    segment_topics: tuple[np.ndarray, np.ndarray, np.ndarray],
    document_topic: np.ndarray,
    lengths: np.ndarray,
) -> np.ndarray:
    """Alpha from means and variances of the segments' shares of topics, as in the paper (its eq. 4, after Minka 2000).

    The noise of few tokens counts as variance, so large alphas are estimated too small. A document-topic
    with fewer than two segments, or with identical ones, keeps its row.
    """
    n_document_topics, n_topics = alpha.shape
    segment, topic, count = segment_topics
    cell = document_topic[segment] * n_topics + topic
    share = count / lengths[segment]
    n_segments = np.bincount(document_topic[lengths > 0], minlength=n_document_topics)
    divisor = np.maximum(n_segments, 1)[:, None]
    mean = np.bincount(cell, share, minlength=alpha.size).reshape(alpha.shape) / divisor
    variance = np.bincount(cell, share**2, minlength=alpha.size).reshape(alpha.shape) / divisor - mean**2
    new = alpha.copy()
    for k in np.flatnonzero(n_segments >= 2):
        varies = variance[k] > 1e-12
        m = mean[k, varies] * (1 - mean[k, varies]) / variance[k, varies] - 1
        m = m[m > 1e-9][: n_topics - 1]  # with one token per segment, only rounding is left
        if len(m):
            new[k] = np.maximum(np.exp(np.log(m).mean()) * mean[k], _LEAST_ALPHA)
    return new


def fold_in_segments(
    counts: sp.csr_array,
    documents: np.ndarray,
    topic_word: np.ndarray,
    alpha: np.ndarray,
    delta: float,
    n_burn_in: int,
    n_samples: int,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """P(l|segment) and P(k|segment) in float32, by Gibbs sampling with fixed topics; `documents` is per segment."""
    check_tokens(counts, len(alpha))
    order = np.argsort(documents, kind="stable")
    document_ends = np.searchsorted(documents, np.arange(documents.max(initial=-1) + 2), sorter=order)
    tokens, ends = tokens_of(counts if (order[1:] > order[:-1]).all() else counts[order])
    alpha = np.ascontiguousarray(alpha, dtype=np.float64)
    tables = rising_tables(alpha, int(np.diff(ends).max(initial=0)))
    word_topic = np.ascontiguousarray(topic_word.T)
    prior_mass = np.zeros((len(word_topic), len(alpha) + 1))  # the last: if topics were equally likely
    priors = np.column_stack([alpha.T, np.ones(alpha.shape[1])])
    prior_masses(np.flatnonzero(np.bincount(tokens)), word_topic, priors, prior_mass)
    log_delta = np.log(delta + np.arange(np.diff(document_ends).max(initial=0) + 1))
    segment_topic = np.zeros((len(order), alpha.shape[1]), np.float32)
    segment_cluster = np.zeros((len(order), len(alpha)), np.float32)
    blocks = row_blocks(ends[document_ends], max(8, len(tokens) // (1 << 14)))
    topics = (word_topic, prior_mass, alpha, tables, log_delta)
    job = _FrozenJob(tokens, ends, document_ends, *topics, n_burn_in, n_samples)
    for (first, last), shares in zip(blocks, map_anywhere(_frozen_block, (job,), blocks, n_jobs)):
        rows = order[document_ends[first] : document_ends[last]]
        segment_topic[rows], segment_cluster[rows] = shares
    return segment_topic, segment_cluster


class _FrozenJob(NamedTuple):
    tokens: np.ndarray
    ends: np.ndarray  # where the tokens of each segment end, after a first 0
    document_ends: np.ndarray  # where the segments of each document end, after a first 0
    word_topic: np.ndarray
    prior_mass: np.ndarray
    alpha: np.ndarray
    tables: Tables
    log_delta: np.ndarray
    n_burn_in: int
    n_samples: int


def _frozen_block(job: _FrozenJob, block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """P(l|segment) and P(k|segment) of the segments of some documents, one after the other."""
    segments = job.document_ends[block[0] : block[1] + 1]  # where those of each document end
    first, last = segments[0], segments[-1]
    segment_topic = np.zeros((last - first, job.alpha.shape[1]), np.float32)
    segment_cluster = np.zeros((last - first, len(job.alpha)), np.float32)
    frozen_documents(
        job.tokens,
        job.ends[first : last + 1],
        segments - first,
        job.word_topic,
        job.prior_mass,
        job.alpha,
        job.tables,
        job.log_delta,
        job.n_burn_in,
        job.n_samples,
        segment_topic,
        segment_cluster,
    )
    return segment_topic, segment_cluster
