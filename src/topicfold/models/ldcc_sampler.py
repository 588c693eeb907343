"""Collapsed Gibbs sampling for LDCC: a word-topic of every token, a document-topic of every segment.

The conditional of a token's topic is cut in three parts, as in SparseLDA (Yao, Mimno and McCallum 2009): what the word
is known for, what the segment has already, and the rest, which is rarely drawn. The first goes over the topics the word
has, the second over those of the segment; neither goes over all topics.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma, gammaln

from ..counts import csr_parts
from ..fitting import State
from ..jit import njit

__all__ = ["Sampler", "fold_in_segments", "maximised_alpha", "moment_alpha", "random_state"]

_LEAST_ALPHA = 1e-4
_TABULATED = 128  # counts for which rising factorials are looked up


@njit
def next_uniform(random):
    """A number in [0, 1) by xorshift128+; the two words of its state are renewed in place."""
    a, b = random[0], random[1]
    random[0] = b
    a ^= a << np.uint64(23)
    a = a ^ b ^ (a >> np.uint64(18)) ^ (b >> np.uint64(5))
    random[1] = a
    return np.float64((a + b) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit
def fill_word_lists(tokens, topic, start, size, listed, count):
    """The topics of each word with their counts, as runs of `listed` and `count` from start[w], size[w] long."""
    for i in range(len(tokens)):
        w = tokens[i]
        place = start[w]
        end = start[w] + size[w]
        while place < end and listed[place] != topic[i]:
            place += 1
        if place == end:
            listed[place] = topic[i]
            count[place] = 0
            size[w] += 1
        count[place] += 1


@njit
def sweep_segments(
    tokens,
    ends,
    document,
    topic,
    cluster,
    topic_total,
    start,
    size,
    listed,
    count,
    document_cluster,
    alpha,
    log_rising,
    log_rising_total,
    log_gamma,
    delta,
    eta,
    n_words,
    random,
):
    """Draw the topic of every token, and after those of a segment its document-topic, each given all others.

    P(z=l) is as (alpha[y,l] + n(seg,l)) (n(l,w) + eta) / (n(l) + V eta), P(y=k) as (delta + n(d,k)) times
    prod_l rising(alpha[k,l], n(seg,l)) / rising(sum_l alpha[k,l], n(seg)); counts are without the one that is drawn.
    """
    n_clusters, n_topics = alpha.shape
    inverse = np.empty(n_topics)  # 1 / (n(l) + V eta)
    for l in range(n_topics):
        inverse[l] = 1.0 / (topic_total[l] + n_words * eta)
    in_segment = np.zeros(n_topics, np.int64)
    used = np.empty(n_topics, np.int64)  # topics of the segment
    place = np.empty(n_topics, np.int64)  # of a topic in `used`
    weight = np.empty(n_topics)  # (alpha[y,l] + n(seg,l)) / (n(l) + V eta)
    upto = np.empty(n_topics)
    logs = np.empty(n_clusters)
    for g in range(len(ends) - 1):
        first, last = ends[g], ends[g + 1]
        k = cluster[g]
        n_used = 0
        for i in range(first, last):
            l = topic[i]
            if in_segment[l] == 0:
                used[n_used] = l
                place[l] = n_used
                n_used += 1
            in_segment[l] += 1
        prior_mass, segment_mass = 0.0, 0.0
        for l in range(n_topics):
            weight[l] = (alpha[k, l] + in_segment[l]) * inverse[l]
            prior_mass += alpha[k, l] * inverse[l]
        for u in range(n_used):
            segment_mass += in_segment[used[u]] * inverse[used[u]]
        for i in range(first, last):
            w, old = tokens[i], topic[i]
            begin, length = start[w], size[w]
            prior_mass -= alpha[k, old] * inverse[old]
            segment_mass -= in_segment[old] * inverse[old]
            topic_total[old] -= 1
            in_segment[old] -= 1
            inverse[old] = 1.0 / (topic_total[old] + n_words * eta)
            prior_mass += alpha[k, old] * inverse[old]
            segment_mass += in_segment[old] * inverse[old]
            weight[old] = (alpha[k, old] + in_segment[old]) * inverse[old]
            if in_segment[old] == 0:
                n_used -= 1
                moved = used[n_used]
                used[place[old]] = moved
                place[moved] = place[old]
            word_mass = 0.0
            at_old = 0
            for j in range(length):
                l = listed[begin + j]
                if l == old:
                    count[begin + j] -= 1
                    at_old = j
                word_mass += count[begin + j] * weight[l]
                upto[j] = word_mass
            drawn = next_uniform(random) * (word_mass + eta * (segment_mass + prior_mass))
            at = -1
            if drawn < word_mass:
                at = 0
                while upto[at] <= drawn:
                    at += 1
                new = np.int64(listed[begin + at])
            else:
                drawn = (drawn - word_mass) / eta
                new = np.int64(-1)
                if drawn < segment_mass:
                    for u in range(n_used):
                        drawn -= in_segment[used[u]] * inverse[used[u]]
                        if drawn < 0:
                            new = used[u]
                            break
                else:
                    drawn -= segment_mass
                    for l in range(n_topics):
                        drawn -= alpha[k, l] * inverse[l]
                        if drawn < 0:
                            new = np.int64(l)
                            break
                if new < 0:  # by rounding
                    new = np.int64(old)
                for j in range(length):
                    if listed[begin + j] == new:
                        at = j
                        break
            if count[begin + at_old] == 0 and at != at_old:
                length -= 1
                listed[begin + at_old] = listed[begin + length]
                count[begin + at_old] = count[begin + length]
                if at == length:
                    at = at_old
            if at < 0:
                at = length
                length += 1
                listed[begin + at] = new
                count[begin + at] = 0
            size[w] = length
            count[begin + at] += 1
            topic[i] = new
            prior_mass -= alpha[k, new] * inverse[new]
            segment_mass -= in_segment[new] * inverse[new]
            if in_segment[new] == 0:
                used[n_used] = new
                place[new] = n_used
                n_used += 1
            topic_total[new] += 1
            in_segment[new] += 1
            inverse[new] = 1.0 / (topic_total[new] + n_words * eta)
            prior_mass += alpha[k, new] * inverse[new]
            segment_mass += in_segment[new] * inverse[new]
            weight[new] = (alpha[k, new] + in_segment[new]) * inverse[new]
        d = document[g]
        document_cluster[d, k] -= 1
        for c in range(n_clusters):
            logs[c] = np.log(delta + document_cluster[d, c]) - log_rising_total[last - first, c]
        for u in range(n_used):
            l = used[u]
            n = in_segment[l]
            if n < log_rising.shape[1]:
                for c in range(n_clusters):
                    logs[c] += log_rising[l, n, c]
            else:
                for c in range(n_clusters):
                    logs[c] += math.lgamma(alpha[c, l] + n) - log_gamma[l, c]
            in_segment[l] = 0
        top = logs[0]
        for c in range(1, n_clusters):
            top = max(top, logs[c])
        total = 0.0
        for c in range(n_clusters):
            total += np.exp(logs[c] - top)
            logs[c] = total
        drawn = next_uniform(random) * total
        k = 0
        while k < n_clusters - 1 and logs[k] <= drawn:
            k += 1
        cluster[g] = k
        document_cluster[d, k] += 1


@njit
def frozen_documents(
    tokens,
    ends,
    document_ends,
    word_topic,
    alpha,
    log_rising,
    log_rising_total,
    log_gamma,
    delta,
    n_burn_in,
    n_samples,
    first_document,
    last_document,
    segment_topic,
    segment_cluster,
):
    """Gibbs sampling of documents first..last with P(w|l) and alpha as they are, from a seed made of their own words.

    segment_topic[s] and segment_cluster[s] are P(l|segment) and P(k|segment), averaged over samples; given the topics
    of a segment's tokens both are taken as expectations over its document-topic.
    """
    n_clusters, n_topics = alpha.shape
    alpha_total = alpha.sum(axis=1)
    upto = np.empty(n_topics)
    chance = np.empty(n_clusters)
    random = np.empty(2, np.uint64)
    for d in range(first_document, last_document):
        begin, end = document_ends[d], document_ends[d + 1]
        random[0], random[1] = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
        for g in range(begin, end):
            for i in range(ends[g], ends[g + 1]):
                random[0] = (random[0] ^ np.uint64(tokens[i] + 1)) * np.uint64(0x100000001B3)
                random[1] = random[1] ^ (random[0] << np.uint64(7)) ^ (random[0] >> np.uint64(9))
            random[0] += np.uint64(1)
        for _ in range(8):  # so that documents that are nearly alike do not begin alike
            next_uniform(random)
        n_tokens = ends[end] - ends[begin]
        offset = ends[begin]
        topic = np.empty(n_tokens, np.int64)
        counts = np.zeros((end - begin, n_topics), np.int64)
        cluster = np.zeros(end - begin, np.int64)
        in_document = np.zeros(n_clusters)
        for g in range(begin, end):
            k = min(np.int64(next_uniform(random) * n_clusters), n_clusters - 1)
            cluster[g - begin] = k
            in_document[k] += 1
            for i in range(ends[g], ends[g + 1]):
                total = 0.0
                for l in range(n_topics):
                    total += word_topic[tokens[i], l]
                    upto[l] = total
                drawn = next_uniform(random) * total
                new = 0
                while new < n_topics - 1 and upto[new] <= drawn:
                    new += 1
                topic[i - offset] = new
                counts[g - begin, new] += 1
        for sweep in range(n_burn_in + n_samples):
            for g in range(begin, end):
                s = g - begin
                here = counts[s]
                k = cluster[s]
                for i in range(ends[g], ends[g + 1]):
                    w = tokens[i]
                    here[topic[i - offset]] -= 1
                    total = 0.0
                    for l in range(n_topics):
                        total += (alpha[k, l] + here[l]) * word_topic[w, l]
                        upto[l] = total
                    drawn = next_uniform(random) * total
                    new = 0
                    while new < n_topics - 1 and upto[new] <= drawn:
                        new += 1
                    topic[i - offset] = new
                    here[new] += 1
                in_document[k] -= 1
                for c in range(n_clusters):
                    chance[c] = np.log(delta + in_document[c]) - log_rising_total[ends[g + 1] - ends[g], c]
                for l in range(n_topics):
                    n = here[l]
                    if n == 0:
                        continue
                    if n < log_rising.shape[1]:
                        for c in range(n_clusters):
                            chance[c] += log_rising[l, n, c]
                    else:
                        for c in range(n_clusters):
                            chance[c] += math.lgamma(alpha[c, l] + n) - log_gamma[l, c]
                top = chance[0]
                for c in range(1, n_clusters):
                    top = max(top, chance[c])
                total = 0.0
                for c in range(n_clusters):
                    chance[c] = np.exp(chance[c] - top)
                    total += chance[c]
                drawn = next_uniform(random) * total
                k = -1
                while k < n_clusters - 1 and drawn >= 0:
                    k += 1
                    drawn -= chance[k]
                cluster[s] = k
                in_document[k] += 1
                if sweep >= n_burn_in:
                    n_here = ends[g + 1] - ends[g]
                    for c in range(n_clusters):
                        share = chance[c] / total / n_samples
                        segment_cluster[g, c] += share
                        for l in range(n_topics):
                            segment_topic[g, l] += share * (alpha[c, l] + here[l]) / (alpha_total[c] + n_here)


@njit
def count_segment_topics(ends, topic, n_topics, segment, listed, count):
    """Topics of each segment with their counts, one entry each; the number of entries."""
    in_segment = np.zeros(n_topics, np.int64)
    used = np.empty(n_topics, np.int64)
    n_entries = 0
    for g in range(len(ends) - 1):
        n_used = 0
        for i in range(ends[g], ends[g + 1]):
            l = topic[i]
            if in_segment[l] == 0:
                used[n_used] = l
                n_used += 1
            in_segment[l] += 1
        for u in range(n_used):
            segment[n_entries], listed[n_entries], count[n_entries] = g, used[u], in_segment[used[u]]
            in_segment[used[u]] = 0
            n_entries += 1
    return n_entries


@njit
def add_word_counts(start, size, listed, count, total):
    """total[w, l] += n(l, w)."""
    for w in range(len(size)):
        for place in range(start[w], start[w] + size[w]):
            total[w, listed[place]] += count[place]


class Tables:
    """Logarithms of rising factorials of alpha: of counts up to a bound by topic, and of lengths of segments."""

    def __init__(self, alpha: np.ndarray, longest: int) -> None:
        n = np.arange(min(longest, _TABULATED) + 1)
        self.log_gamma = np.ascontiguousarray(gammaln(alpha.T))
        rising = gammaln(alpha.T[:, None, :] + n[None, :, None]) - self.log_gamma[:, None, :]
        self.log_rising = np.ascontiguousarray(rising)  # topics x counts x clusters
        total = alpha.sum(axis=1)
        lengths = np.arange(longest + 1)[:, None]
        self.log_rising_total = np.ascontiguousarray(gammaln(total + lengths) - gammaln(total))


class Sampler:
    """The tokens of a corpus, in the order of its segments, and sweeps over the state of a chain."""

    def __init__(
        self, counts: sp.csr_array, documents: np.ndarray, n_clusters: int, n_topics: int, eta: float, delta: float
    ) -> None:
        indptr, indices, data = csr_parts(counts)
        times = data.astype(np.int64)
        self.tokens = np.repeat(indices, times)
        self.ends = np.concatenate([[0], np.cumsum(times)])[indptr]
        self.documents = documents.astype(np.int64)
        self.n_documents = int(documents.max()) + 1
        self.n_words, self.n_clusters, self.n_topics = counts.shape[1], n_clusters, n_topics
        self.eta, self.delta = eta, delta
        frequency = np.bincount(self.tokens, minlength=self.n_words)
        self.start = np.concatenate([[0], np.cumsum(np.minimum(frequency, n_topics))])
        self.lengths = np.diff(self.ends)
        self.longest = int(self.lengths.max())

    def state(self, topic: np.ndarray, cluster: np.ndarray, alpha: np.ndarray, seed: int) -> State:
        """The state of a chain from a topic of each token and a cluster of each segment."""
        state: State = {
            "topic": topic.astype(np.int32),
            "cluster": cluster.astype(np.int32),
            "alpha": np.array(alpha, dtype=np.float64),
            "random": random_state(seed),
            "topic_total": np.bincount(topic, minlength=self.n_topics).astype(np.int64),
            "size": np.zeros(self.n_words, np.int32),
            "listed": np.zeros(self.start[-1], np.int32),
            "count": np.zeros(self.start[-1], np.int32),
            "document_cluster": np.zeros((self.n_documents, self.n_clusters), np.int64),
        }
        fill_word_lists(self.tokens, state["topic"], self.start, state["size"], state["listed"], state["count"])
        np.add.at(state["document_cluster"], (self.documents, cluster), 1)
        return state

    def sweep(self, state: State, tables: Tables) -> None:
        """Draw every topic and every cluster once. `tables` are those of the state's alpha."""
        sweep_segments(
            self.tokens,
            self.ends,
            self.documents,
            state["topic"],
            state["cluster"],
            state["topic_total"],
            self.start,
            state["size"],
            state["listed"],
            state["count"],
            state["document_cluster"],
            state["alpha"],
            tables.log_rising,
            tables.log_rising_total,
            tables.log_gamma,
            self.delta,
            self.eta,
            self.n_words,
            state["random"],
        )

    def tables(self, state: State) -> Tables:
        """Of the state's alpha."""
        return Tables(state["alpha"], self.longest)

    def segment_topics(self, state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(segment, topic, count) of every topic that a segment has."""
        parts = tuple(np.empty(len(self.tokens), np.int64) for _ in range(3))
        n_entries = count_segment_topics(self.ends, state["topic"], self.n_topics, *parts)
        return parts[0][:n_entries], parts[1][:n_entries], parts[2][:n_entries]

    def add_words(self, state: State, total: np.ndarray) -> None:
        """total[w, l] += n(l, w)."""
        add_word_counts(self.start, state["size"], state["listed"], state["count"], total)

    def log_likelihood(self, state: State, tables: Tables) -> float:
        """log P(words, topics, clusters | alpha, eta, delta), with all distributions integrated out."""
        eta, delta, alpha = self.eta, self.delta, state["alpha"]
        used = state["count"][_list_places(self.start, state["size"])]
        words = float((gammaln(used + eta) - gammaln(eta)).sum())
        words -= float((gammaln(state["topic_total"] + self.n_words * eta) - gammaln(self.n_words * eta)).sum())
        segment, topic, count = self.segment_topics(state)
        cluster = state["cluster"][segment]
        few = count < tables.log_rising.shape[1]
        topics = float(tables.log_rising[topic[few], count[few], cluster[few]].sum())
        many = alpha[cluster[~few], topic[~few]]
        topics += float((gammaln(many + count[~few]) - gammaln(many)).sum())
        topics -= float(tables.log_rising_total[self.lengths, state["cluster"]].sum())
        in_document = state["document_cluster"]
        clusters = float((gammaln(in_document + delta) - gammaln(delta)).sum())
        prior = self.n_clusters * delta
        clusters -= float((gammaln(in_document.sum(axis=1) + prior) - gammaln(prior)).sum())
        return words + topics + clusters


def random_state(seed: int) -> np.ndarray:
    """Two words for `next_uniform`, neither of them zero."""
    return np.random.SeedSequence(seed).generate_state(2, np.uint64) | np.uint64(1)


def _list_places(start: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Places in the lists of topics that are in use."""
    ends = np.cumsum(size)
    return np.arange(ends[-1]) + np.repeat(start[:-1] - (ends - size), size)


# ---- alpha ----------------------------------------------------------------------------------------------------------


def maximised_alpha(
    alpha: np.ndarray,
    segment_topics: tuple[np.ndarray, np.ndarray, np.ndarray],
    cluster: np.ndarray,
    lengths: np.ndarray,
    n_steps: int = 5,
    tol: float = 0.0,
) -> np.ndarray:
    """Steps towards the alpha under which the segments' topics are likeliest (the fixed point of Minka 2000).

    Equal counts are taken together (Wallach 2008). A cluster with fewer than two segments keeps its row.
    """
    n_clusters, n_topics = alpha.shape
    segment, topic, count = segment_topics
    longest = int(lengths.max()) + 1
    code, times = np.unique((cluster[segment] * n_topics + topic) * longest + count, return_counts=True)
    cell, count = np.divmod(code, longest)
    by_length, n_segments = np.unique(cluster * longest + lengths, return_counts=True)
    owner, length = np.divmod(by_length, longest)
    known = np.bincount(cluster, minlength=n_clusters) >= 2
    known &= np.bincount(owner, n_segments * length, minlength=n_clusters) > 0
    new = alpha.copy()
    for _ in range(n_steps):
        flat, total = new.ravel(), new.sum(axis=1)
        gained = np.bincount(cell, times * (digamma(count + flat[cell]) - digamma(flat[cell])), minlength=new.size)
        bound = np.bincount(
            owner, n_segments * (digamma(length + total[owner]) - digamma(total[owner])), minlength=n_clusters
        )
        ratio = gained.reshape(new.shape) / np.maximum(bound, 1e-300)[:, None]
        before, new = new, np.where(known[:, None], np.maximum(new * ratio, _LEAST_ALPHA), new)
        if np.abs(new - before).max() < tol * before.max():
            break
    return new


def moment_alpha(
    alpha: np.ndarray,
    segment_topics: tuple[np.ndarray, np.ndarray, np.ndarray],
    cluster: np.ndarray,
    lengths: np.ndarray,
) -> np.ndarray:
    """Alpha from means and variances of the segments' shares of topics, as in the paper (its eq. 4, after Minka 2000).

    The noise of few tokens counts as variance, so that large alphas come out too small. A cluster with fewer than two
    segments, or all alike, keeps its row.
    """
    n_clusters, n_topics = alpha.shape
    segment, topic, count = segment_topics
    cell = cluster[segment] * n_topics + topic
    share = count / lengths[segment]
    n_segments = np.bincount(cluster[lengths > 0], minlength=n_clusters)
    divisor = np.maximum(n_segments, 1)[:, None]
    mean = np.bincount(cell, share, minlength=alpha.size).reshape(alpha.shape) / divisor
    variance = np.bincount(cell, share**2, minlength=alpha.size).reshape(alpha.shape) / divisor - mean**2
    new = alpha.copy()
    for k in np.flatnonzero(n_segments >= 2):
        varies = variance[k] > 1e-12
        m = mean[k, varies] * (1 - mean[k, varies]) / variance[k, varies] - 1
        m = m[m > 1e-9][: n_topics - 1]  # one token a segment leaves nothing but rounding
        if len(m):
            new[k] = np.maximum(np.exp(np.log(m).mean()) * mean[k], _LEAST_ALPHA)
    return new


# ---- new documents --------------------------------------------------------------------------------------------------


def fold_in_segments(
    counts: sp.csr_array,
    document_ends: np.ndarray,
    topic_word: np.ndarray,
    alpha: np.ndarray,
    delta: float,
    n_burn_in: int,
    n_samples: int,
    n_jobs: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """P(l|segment) and P(k|segment) by Gibbs sampling with frozen topics; segments of a document are neighbours."""
    from ..blocks import map_blocks, row_blocks

    indptr, indices, data = csr_parts(counts)
    times = data.astype(np.int64)
    tokens = np.repeat(indices, times)
    ends = np.concatenate([[0], np.cumsum(times)])[indptr]
    longest = int(np.diff(ends).max(initial=0))
    tables = Tables(alpha.astype(np.float64), longest)
    word_topic = np.ascontiguousarray(topic_word.T, dtype=np.float64)
    segment_topic = np.zeros((counts.shape[0], alpha.shape[1]))
    segment_cluster = np.zeros((counts.shape[0], alpha.shape[0]))

    def block(rows: tuple[int, int]) -> Any:
        frozen_documents(
            tokens,
            ends,
            document_ends,
            word_topic,
            alpha.astype(np.float64),
            tables.log_rising,
            tables.log_rising_total,
            tables.log_gamma,
            delta,
            n_burn_in,
            n_samples,
            *rows,
            segment_topic,
            segment_cluster,
        )

    n_blocks = max(8, len(tokens) // (1 << 14))
    map_blocks(block, row_blocks(ends[document_ends], n_blocks), n_jobs)
    return segment_topic, segment_cluster
