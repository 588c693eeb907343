"""Kernels of LDCC's Gibbs sampler."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...engine.jit import njit, njit_inline

__all__ = []

TABULATED = 128  # counts for which rising factorials are looked up
_RECORD_EVERY = 2  # samples of new documents: topics of their tokens change little between samples


class SegmentTokens(NamedTuple):
    """The tokens of a corpus, in the order of its segments."""

    tokens: np.ndarray  # the word of each
    ends: np.ndarray  # where the tokens of each segment end, after a first 0
    documents: np.ndarray  # of each segment
    start: np.ndarray  # where the list of topics of each word starts
    n_words: int


class Chain(NamedTuple):
    """What one chain has drawn, counts of it, and the random numbers to draw more; a sweep changes all but alpha."""

    topic: np.ndarray  # of each token, z
    document_topic: np.ndarray  # of each segment, y
    topic_total: np.ndarray  # n(l)
    size: np.ndarray  # of the list of topics of each word
    listed: np.ndarray  # the topics of each word, list after list
    listed_count: np.ndarray  # n(l,w) of these topics
    in_document: np.ndarray  # n(d,k), segments of each document by document-topic
    alpha: np.ndarray
    random: np.ndarray


class Tables(NamedTuple):
    """Logarithms of rising factorials of alpha: for counts up to a bound by topic, and for lengths of segments."""

    log_rising: np.ndarray  # topics x counts x document-topics
    log_rising_total: np.ndarray  # lengths x document-topics
    log_gamma: np.ndarray  # topics x document-topics


@njit
def next_uniform(random):
    """A number in [0, 1) by xorshift128+; the two words of its state are updated in place."""
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


@njit_inline
def count_topics(topic, first, last, in_segment, used, place):
    """Count the topics of the tokens first..last of a segment, and list those that occur; how many these are."""
    n_used = 0
    for i in range(first, last):
        l = topic[i]
        if in_segment[l] == 0:
            used[n_used] = l
            place[l] = n_used
            n_used += 1
        in_segment[l] += 1
    return n_used


@njit_inline
def add_log_rising(logs, in_segment, used, n_used, alpha, tables):
    """logs[k] += sum_l log rising(alpha[k,l], n(seg,l)) over the topics of a segment; the largest of them."""
    for u in range(n_used):
        l = used[u]
        n = in_segment[l]
        if n < tables.log_rising.shape[1]:
            for c in range(len(logs)):
                logs[c] += tables.log_rising[l, n, c]
        else:
            for c in range(len(logs)):
                logs[c] += math.lgamma(alpha[c, l] + n) - tables.log_gamma[l, c]
    top = logs[0]
    for c in range(1, len(logs)):
        top = max(top, logs[c])
    return top


@njit
def sweep_segments(segments, chain, tables, delta, beta):
    """Draw the topic of every token and, after the tokens of a segment, its document-topic, each given all others.

    P(z=l) ~ (alpha[y,l] + n(seg,l)) (n(l,w) + beta) / (n(l) + V beta), and P(y=k) ~ (delta + n(d,k)) times
    prod_l rising(alpha[k,l], n(seg,l)) / rising(sum_l alpha[k,l], n(seg)); counts exclude the one that is drawn.
    """
    tokens, ends, start, n_words = segments.tokens, segments.ends, segments.start, segments.n_words
    topic, topic_total, in_document = chain.topic, chain.topic_total, chain.in_document
    size, listed, count = chain.size, chain.listed, chain.listed_count
    alpha, random = chain.alpha, chain.random
    n_document_topics, n_topics = alpha.shape
    inverse = np.empty(n_topics)  # 1 / (n(l) + V beta)
    for l in range(n_topics):
        inverse[l] = 1.0 / (topic_total[l] + n_words * beta)
    in_segment = np.zeros(n_topics, np.int64)  # n(seg,l)
    used = np.empty(n_topics, np.int64)  # topics of the segment
    place = np.empty(n_topics, np.int64)  # of a topic in `used`
    weight = np.empty(n_topics)  # (alpha[y,l] + n(seg,l)) / (n(l) + V beta)
    upto = np.empty(n_topics)
    logs = np.empty(n_document_topics)
    for g in range(len(ends) - 1):
        first, last = ends[g], ends[g + 1]
        k = chain.document_topic[g]
        # the topics of the segment
        n_used = count_topics(topic, first, last, in_segment, used, place)
        prior_mass, segment_mass = 0.0, 0.0
        for l in range(n_topics):
            weight[l] = (alpha[k, l] + in_segment[l]) * inverse[l]
            prior_mass += alpha[k, l] * inverse[l]
        for u in range(n_used):
            segment_mass += in_segment[used[u]] * inverse[used[u]]
        for i in range(first, last):
            # the token without its topic
            w, old = tokens[i], topic[i]
            begin, length = start[w], size[w]
            prior_mass -= alpha[k, old] * inverse[old]
            segment_mass -= in_segment[old] * inverse[old]
            topic_total[old] -= 1
            in_segment[old] -= 1
            if in_segment[old] == 0:
                n_used -= 1
                moved = used[n_used]
                used[place[old]] = moved
                place[moved] = place[old]
            inverse[old] = 1.0 / (topic_total[old] + n_words * beta)
            prior_mass += alpha[k, old] * inverse[old]
            segment_mass += in_segment[old] * inverse[old]
            weight[old] = (alpha[k, old] + in_segment[old]) * inverse[old]
            word_mass = 0.0
            at_old = 0
            for j in range(length):
                l = listed[begin + j]
                if l == old:
                    count[begin + j] -= 1
                    at_old = j
                word_mass += count[begin + j] * weight[l]
                upto[j] = word_mass
            # a new topic: one of the word, one of the segment, or any
            drawn = next_uniform(random) * (word_mass + beta * (segment_mass + prior_mass))
            at = -1
            if drawn < word_mass:
                at = 0
                while upto[at] <= drawn:
                    at += 1
                new = np.int64(listed[begin + at])
            else:
                drawn = (drawn - word_mass) / beta
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
            # the list of the word
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
            # the token with its new topic
            topic[i] = new
            prior_mass -= alpha[k, new] * inverse[new]
            segment_mass -= in_segment[new] * inverse[new]
            topic_total[new] += 1
            if in_segment[new] == 0:
                used[n_used] = new
                place[new] = n_used
                n_used += 1
            in_segment[new] += 1
            inverse[new] = 1.0 / (topic_total[new] + n_words * beta)
            prior_mass += alpha[k, new] * inverse[new]
            segment_mass += in_segment[new] * inverse[new]
            weight[new] = (alpha[k, new] + in_segment[new]) * inverse[new]
        # the document-topic of the segment
        d = segments.documents[g]
        in_document[d, k] -= 1
        for c in range(n_document_topics):
            logs[c] = np.log(delta + in_document[d, c]) - tables.log_rising_total[last - first, c]
        top = add_log_rising(logs, in_segment, used, n_used, alpha, tables)
        for u in range(n_used):
            in_segment[used[u]] = 0
        total = 0.0
        for c in range(n_document_topics):
            total += np.exp(logs[c] - top)
            logs[c] = total
        drawn = next_uniform(random) * total
        k = 0
        while k < n_document_topics - 1 and logs[k] <= drawn:
            k += 1
        chain.document_topic[g] = k
        in_document[d, k] += 1


@njit
def prior_masses(words, word_topic, topic_alpha, mass):
    """mass[w, k] = sum_l topic_alpha[l, k] P(w|l) for some words, each summed on its own, in the order of topics."""
    for w in words:
        row = mass[w]
        row[:] = 0.0
        for l in range(len(topic_alpha)):
            p = word_topic[w, l]
            for k in range(len(row)):
                row[k] += topic_alpha[l, k] * p


@njit
def frozen_documents(
    tokens,
    ends,
    document_ends,
    word_topic,
    prior_mass,
    alpha,
    tables,
    log_delta,
    n_burn_in,
    n_samples,
    segment_topic,
    segment_cluster,
):
    """Gibbs sampling of documents with P(w|l) and alpha fixed, each from a seed computed from its words.

    P(z=l) ~ (alpha[y,l] + n(seg,l)) P(w|l), in two parts: n(seg,l) P(w|l) goes over the topics of the segment,
    alpha[y,l] P(w|l) has the sum prior_mass[w,y]. log_delta[n] = log(delta + n) of n other segments with a
    document-topic.

    segment_topic[s] and segment_cluster[s] are P(l|segment) and P(k|segment), the means over samples of
    (alpha[y,l] + n(seg,l)) / (sum_l alpha[y,l] + n(seg)) and of y=k. To reduce noise, not the draws are counted but the
    distributions they were drawn from: y by its conditional, z by the first part of its conditional (at every second
    sample) and, if it came from the second part, as drawn. The last column of prior_mass is sum_l P(w|l), by which
    topics are first drawn.
    """
    n_document_topics, n_topics = alpha.shape
    alpha_total = alpha.sum(axis=1)
    upto = np.empty(n_topics)
    chance = np.empty(n_document_topics)
    in_segment = np.zeros(n_topics, np.int64)  # n(seg,l)
    used = np.empty(n_topics, np.int64)  # topics of the segment
    place = np.empty(n_topics, np.int64)  # of a topic in `used`
    n_recorded = (n_samples - 1) // _RECORD_EVERY + 1
    random = np.empty(2, np.uint64)
    for d in range(len(document_ends) - 1):
        # the seed, from the words
        begin, end = document_ends[d], document_ends[d + 1]
        random[0], random[1] = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
        for g in range(begin, end):
            for i in range(ends[g], ends[g + 1]):
                random[0] = (random[0] ^ np.uint64(tokens[i] + 1)) * np.uint64(0x100000001B3)
                random[1] = random[1] ^ (random[0] << np.uint64(7)) ^ (random[0] >> np.uint64(9))
            random[0] += np.uint64(1)
        for _ in range(8):  # so that nearly identical documents do not start the same
            next_uniform(random)
        # the first draws
        offset = ends[begin]
        topic = np.empty(ends[end] - offset, np.int64)
        document_topic = np.zeros(end - begin, np.int64)
        in_document = np.zeros(n_document_topics, np.int64)
        topic_sum = np.zeros((end - begin, n_topics))
        document_topic_sum = np.zeros((end - begin, n_document_topics))
        for g in range(begin, end):
            k = min(np.int64(next_uniform(random) * n_document_topics), n_document_topics - 1)
            document_topic[g - begin] = k
            in_document[k] += 1
            for i in range(ends[g], ends[g + 1]):
                w = tokens[i]
                drawn = next_uniform(random) * prior_mass[w, n_document_topics]
                new = 0
                while new < n_topics - 1 and drawn >= word_topic[w, new]:
                    drawn -= word_topic[w, new]
                    new += 1
                topic[i - offset] = new
        for sweep in range(n_burn_in + n_samples):
            recorded = sweep >= n_burn_in and (sweep - n_burn_in) % _RECORD_EVERY == 0
            for g in range(begin, end):
                s = g - begin
                k = document_topic[s]
                n_tokens = ends[g + 1] - ends[g]
                per_token = 1.0 / (alpha_total[k] + n_tokens)
                n_used = count_topics(topic, ends[g] - offset, ends[g + 1] - offset, in_segment, used, place)
                for i in range(ends[g], ends[g + 1]):
                    w, old = tokens[i], topic[i - offset]
                    in_segment[old] -= 1
                    if in_segment[old] == 0:
                        n_used -= 1
                        moved = used[n_used]
                        used[place[old]] = moved
                        place[moved] = place[old]
                    mass = 0.0
                    for u in range(n_used):
                        mass += in_segment[used[u]] * word_topic[w, used[u]]
                        upto[u] = mass
                    total = mass + prior_mass[w, k]
                    if recorded and total > 0.0:
                        share = per_token / (total * n_recorded)
                        for u in range(n_used):
                            topic_sum[s, used[u]] += share * in_segment[used[u]] * word_topic[w, used[u]]
                    drawn = next_uniform(random) * total
                    new = old  # if rounding leaves nothing to draw
                    if drawn < mass:
                        u = 0
                        while upto[u] <= drawn:
                            u += 1
                        new = used[u]
                    else:
                        drawn -= mass
                        l = 0
                        while l + 4 <= n_topics:  # four at once: their sum does not wait for the previous ones
                            four = (alpha[k, l] * word_topic[w, l] + alpha[k, l + 1] * word_topic[w, l + 1]) + (
                                alpha[k, l + 2] * word_topic[w, l + 2] + alpha[k, l + 3] * word_topic[w, l + 3]
                            )
                            if drawn < four:
                                break
                            drawn -= four
                            l += 4
                        while l < n_topics:
                            drawn -= alpha[k, l] * word_topic[w, l]
                            if drawn < 0:
                                new = l
                                break
                            l += 1
                        if sweep >= n_burn_in:
                            topic_sum[s, new] += per_token / n_samples
                    if in_segment[new] == 0:
                        used[n_used] = new
                        place[new] = n_used
                        n_used += 1
                    in_segment[new] += 1
                    topic[i - offset] = new
                # the document-topic of the segment
                in_document[k] -= 1
                for c in range(n_document_topics):
                    chance[c] = log_delta[in_document[c]] - tables.log_rising_total[n_tokens, c]
                top = add_log_rising(chance, in_segment, used, n_used, alpha, tables)
                total = 0.0
                for c in range(n_document_topics):
                    chance[c] = np.exp(chance[c] - top)
                    total += chance[c]
                drawn = next_uniform(random) * total
                k = -1
                while k < n_document_topics - 1 and drawn >= 0:
                    k += 1
                    drawn -= chance[k]
                document_topic[s] = k
                in_document[k] += 1
                if sweep >= n_burn_in:
                    for c in range(n_document_topics):
                        document_topic_sum[s, c] += chance[c] / total / n_samples
                for u in range(n_used):
                    in_segment[used[u]] = 0
        # the means
        for g in range(begin, end):
            s, n_tokens = g - begin, ends[g + 1] - ends[g]
            for c in range(n_document_topics):
                share = document_topic_sum[s, c] / (alpha_total[c] + n_tokens)
                segment_cluster[g, c] = document_topic_sum[s, c]
                for l in range(n_topics):
                    topic_sum[s, l] += share * alpha[c, l]
            total = topic_sum[s].sum()  # not exactly one: y was counted as drawn above, by its conditional in this loop
            for l in range(n_topics):
                segment_topic[g, l] = topic_sum[s, l] / total


@njit
def count_segment_topics(ends, topic, n_topics, segment, listed, count):
    """Topics of each segment with their counts, one entry each; the number of entries."""
    in_segment = np.zeros(n_topics, np.int64)
    used, place = np.empty(n_topics, np.int64), np.empty(n_topics, np.int64)
    n_entries = 0
    for g in range(len(ends) - 1):
        n_used = count_topics(topic, ends[g], ends[g + 1], in_segment, used, place)
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
