"""The sampler of LDCC against its definition: conditionals, posterior, Geweke's test, alpha, new documents."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.special import gammaln

from naive import ldcc_conditional, ldcc_frozen, ldcc_log_joint, ldcc_moment_alpha
from topicfold.engine.jit import njit
from topicfold.metrics.stability import effective_sample_size
from topicfold.models.ldcc.gibbs import Chain, SegmentTokens, next_uniform, prior_masses, sweep_segments
from topicfold.models.ldcc.sampler import Sampler, fold_in_segments, maximised_alpha, moment_alpha, rising_tables

_CELLS = 48  # an outcome whose chance is spread in parts of less than a cell could be overlooked


def tiny_sampler(n_topics=3, n_segments=3):
    """Three tokens in two segments of one document, an empty segment in another, and a word that nobody uses."""
    counts = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]])[:n_segments]
    return Sampler(sp.csr_array(counts), np.array([0, 0, 1])[:n_segments], 2, n_topics, 0.4, 0.7)


def tiny_alpha(n_topics=3, n_document_topics=2):
    return np.random.default_rng(5).uniform(0.3, 1.5, (n_document_topics, n_topics))


def log_joint(sampler, topic, document_topic, alpha):
    about = (alpha, sampler.beta, sampler.delta, sampler.n_words)
    return ldcc_log_joint(sampler.tokens, sampler.ends, sampler.documents, topic, document_topic, *about)


def check_counts(sampler, state):
    """Every count is that of the topics and document-topics."""
    topic, document_topic = state["topic"], state["document_topic"]
    assert topic.min(initial=0) >= 0
    assert topic.max(initial=0) < sampler.n_topics
    assert np.array_equal(state["topic_total"], np.bincount(topic, minlength=sampler.n_topics))
    expected = np.zeros((sampler.n_words, sampler.n_topics), int)
    np.add.at(expected, (sampler.tokens, topic), 1)
    for w in range(sampler.n_words):
        first, size = sampler.start[w], state["size"][w]
        assert first + size <= sampler.start[w + 1]
        listed, count = state["listed"][first : first + size], state["listed_count"][first : first + size]
        assert len(set(listed)) == size
        assert (count > 0).all()
        assert np.array_equal(np.bincount(listed, count, minlength=sampler.n_topics), expected[w])
    total = np.zeros_like(expected)
    sampler.add_words(state, total)
    assert np.array_equal(total, expected)
    in_document = np.zeros((sampler.n_documents, sampler.n_document_topics), int)
    np.add.at(in_document, (sampler.documents, document_topic), 1)
    assert np.array_equal(state["in_document"], in_document)


# ---- conditional probabilities --------------------------------------------------------------------------------------


@njit
def step_back(random):
    """Undo one call of next_uniform."""
    b, new = random[0], random[1]
    x = new ^ b ^ (b >> np.uint64(5))
    t = x ^ (x >> np.uint64(18)) ^ (x >> np.uint64(36)) ^ (x >> np.uint64(54))
    random[0] = t ^ (t << np.uint64(23)) ^ (t << np.uint64(46))
    random[1] = b


@njit
def set_uniform(random, value, n_before, filler):
    """A state after which the draw number n_before is value / 2**53; those before it depend on `filler`."""
    random[0] = filler
    random[1] = (np.uint64(value) << np.uint64(11)) - filler
    for _ in range(n_before + 1):
        step_back(random)


@njit
def drawn_value(value, draw, is_segment, number, segments, chain, tables, delta, beta):
    """What a sweep draws at number `draw` from the uniform value / 2**53 when all draws before it change nothing."""
    topic, document_topic = chain.topic, chain.document_topic
    random = np.empty(2, np.uint64)
    filler = np.uint64(0x9E3779B97F4A7C15)
    for _ in range(10_000_000):
        filler = filler * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        set_uniform(random, value, draw, filler)
        new = Chain(
            topic.copy(),
            document_topic.copy(),
            chain.topic_total.copy(),
            chain.size.copy(),
            chain.listed.copy(),
            chain.listed_count.copy(),
            chain.in_document.copy(),
            chain.alpha,
            random,
        )
        sweep_segments(segments, new, tables, delta, beta)
        same = True
        for j in range(draw):
            if is_segment[j]:
                same &= new.document_topic[number[j]] == document_topic[number[j]]
            else:
                same &= new.topic[number[j]] == topic[number[j]]
        if same:
            return new.document_topic[number[draw]] if is_segment[draw] else new.topic[number[draw]]
    return -1


@njit
def measured_chances(n_values, n_cells, draw, is_segment, number, segments, chain, tables, delta, beta):
    """How much of [0, 1) leads to each value: the places where the value changes are found by halving."""
    chance = np.zeros(n_values)
    whole = 1 << 53
    runs = np.empty((200, 4), np.int64)  # still to look at: from, to, value at both
    before, value_before = 0, -1
    for cell in range(n_cells + 1):
        place = min(whole // n_cells * cell, whole - 1)
        value = drawn_value(place, draw, is_segment, number, segments, chain, tables, delta, beta)
        n_runs = 0
        if cell > 0:
            runs[0, 0], runs[0, 1], runs[0, 2], runs[0, 3] = before, place, value_before, value
            n_runs = 1
        while n_runs:
            n_runs -= 1
            low, high, at_low, at_high = runs[n_runs]
            if at_low == at_high or high - low <= 16:
                chance[at_low] += (high - low) / whole
                continue
            middle = (low + high) // 2
            at_middle = drawn_value(middle, draw, is_segment, number, segments, chain, tables, delta, beta)
            runs[n_runs, 1], runs[n_runs, 3] = middle, at_middle
            runs[n_runs + 1, 0], runs[n_runs + 1, 1] = middle, high
            runs[n_runs + 1, 2], runs[n_runs + 1, 3] = at_middle, at_high
            n_runs += 2
        before, value_before = place, value
    return chance


def items_of(sampler):
    """What a sweep draws, in its order: (whether it is a document-topic, number of the segment or token)."""
    items = []
    for g in range(len(sampler.lengths)):
        items += [(False, i) for i in range(sampler.ends[g], sampler.ends[g + 1])] + [(True, g)]
    return np.array([kind for kind, _ in items]), np.array([number for _, number in items])


def measured(sampler, state, draw, n_cells=_CELLS):
    """The chances of what the compiled sweep draws at number `draw`, given the state."""
    tables = sampler.tables(state)
    is_segment, number = items_of(sampler)
    return measured_chances(
        sampler.n_document_topics if is_segment[draw] else sampler.n_topics,
        n_cells,
        draw,
        is_segment,
        number,
        SegmentTokens(sampler.tokens, sampler.ends, sampler.documents, sampler.start, sampler.n_words),
        Chain(**{name: state[name] for name in Chain._fields}),
        tables,
        sampler.delta,
        sampler.beta,
    )


def expected_chances(sampler, state, draw):
    is_segment, number = items_of(sampler)
    topic, document_topic = state["topic"].copy(), state["document_topic"].copy()
    values, n_values = (document_topic, sampler.n_document_topics) if is_segment[draw] else (topic, sampler.n_topics)
    joint = lambda: log_joint(sampler, topic, document_topic, state["alpha"])  # noqa: E731
    return ldcc_conditional(values, number[draw], n_values, joint)


def test_the_uniform_can_be_set():
    random = np.empty(2, np.uint64)
    for n_before in (0, 1, 5):
        set_uniform(random, 123456789 << 20, n_before, np.uint64(77))
        drawn = [next_uniform(random) for _ in range(n_before + 1)]
        assert drawn[-1] == (123456789 << 20) / 2**53


def test_uniforms_are_uniform_and_independent():
    random = np.array([3, 5], np.uint64)
    values = np.array([next_uniform(random) for _ in range(20_000)])[100:]
    assert 0 <= values.min() <= values.max() < 1
    assert stats.kstest(values, "uniform").pvalue > 1e-3
    pairs = np.histogram2d(values[:-1], values[1:], bins=8, range=[[0, 1], [0, 1]])[0]
    assert stats.chisquare(pairs.ravel()).pvalue > 1e-3


def test_every_conditional_of_every_state_is_the_naive_one():
    sampler, alpha = tiny_sampler(n_segments=2), tiny_alpha()
    for topic in product(range(3), repeat=3):
        for document_topic in product(range(2), repeat=2):
            state = sampler.state(np.array(topic), np.array(document_topic), alpha, 0)
            for draw in range(5):
                chances, expected = measured(sampler, state, draw), expected_chances(sampler, state, draw)
                assert np.abs(chances - expected).max() < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_conditionals_of_larger_states(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.9, (5, 6))
    counts[0] *= seed % 2  # the first draw is the document-topic of an empty segment, or a topic
    sampler = Sampler(sp.csr_array(counts), np.array([0, 1, 0, 2, 1]), 3, 5, 0.3, 0.5)
    topic, document_topic = rng.integers(0, 5, len(sampler.tokens)), rng.integers(0, 3, 5)
    state = sampler.state(topic, document_topic, rng.uniform(0.2, 2, (3, 5)), 0)
    for draw in (0, 1, 2):
        chances = measured(sampler, state, draw, n_cells=512)
        assert np.abs(chances - expected_chances(sampler, state, draw)).max() < 1e-12


@pytest.mark.parametrize("length", [127, 128, 129, 200])
def test_the_cluster_of_a_segment_with_more_tokens_of_a_topic_than_are_tabulated(length):
    sampler = Sampler(sp.csr_array(np.array([[length, 0]])), np.array([0]), 3, 2, 0.01, 0.5)
    # the second topic is all but impossible, so that no token changes on the way to the draw of the document-topic
    alpha = np.array([[1.5, 0.01], [1.2, 0.3], [2.0, 0.05]])
    state = sampler.state(np.zeros(length, int), np.array([0]), alpha, 0)
    chances, expected = measured(sampler, state, length), expected_chances(sampler, state, length)
    assert np.ptp(expected) > 0.01
    assert np.abs(chances - expected).max() < 1e-12


# ---- the joint distribution -----------------------------------------------------------------------------------------


def random_sampler(seed=0, n_segments=40, n_topics=6, n_document_topics=3, n_words=15, rate=0.7, **parameters):
    """A corpus with empty segments, and a state drawn anyhow."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rate, (n_segments, n_words))
    counts[::7] = 0
    documents = rng.integers(0, max(n_segments // 4, 1), n_segments)
    priors = {"beta": 0.05, "delta": 0.2, **parameters}
    sampler = Sampler(sp.csr_array(counts), documents, n_document_topics, n_topics, **priors)
    topic, document_topic = (
        rng.integers(0, n_topics, len(sampler.tokens)),
        rng.integers(0, n_document_topics, n_segments),
    )
    return sampler, sampler.state(topic, document_topic, rng.uniform(0.05, 1, (n_document_topics, n_topics)), seed)


@pytest.mark.parametrize("rate", [0.05, 0.7, 40.0])
def test_counts_stay_consistent_after_every_sweep(rate):
    sampler, state = random_sampler(rate=rate)
    tables = sampler.tables(state)
    check_counts(sampler, state)
    moved = np.zeros(len(sampler.tokens), bool)
    for _ in range(25):
        before = state["topic"].copy()
        sampler.sweep(state, tables)
        check_counts(sampler, state)
        moved |= before != state["topic"]
    assert moved.mean() > 0.3


@pytest.mark.parametrize("rate", [0.7, 60.0])
def test_the_joint_likelihood_is_the_product_of_its_draws(rate):
    sampler, state = random_sampler(rate=rate, n_segments=10, n_topics=2 if rate > 1 else 6)
    if rate > 1:
        assert sampler.segment_topics(state)[2].max() > 128
    for _ in range(3):
        expected = log_joint(sampler, state["topic"], state["document_topic"], state["alpha"])
        assert sampler.log_likelihood(state, sampler.tables(state)) == pytest.approx(expected, rel=1e-12)
        assert sampler.log_likelihood(state, sampler.tables(state)) == pytest.approx(expected, rel=1e-12)
        sampler.sweep(state, sampler.tables(state))


def test_long_run_frequencies_are_the_posterior():
    sampler, alpha = tiny_sampler(2), tiny_alpha(2)
    topics, document_topics = list(product(range(2), repeat=3)), list(product(range(2), repeat=3))
    logs = []
    for topic in topics:
        for document_topic in document_topics:
            state = sampler.state(np.array(topic), np.array(document_topic), alpha, 0)
            logs.append(sampler.log_likelihood(state, sampler.tables(state)))
    posterior = np.exp(np.array(logs) - max(logs))
    posterior /= posterior.sum()
    tables, power = sampler.tables(state), 2 ** np.arange(6)[::-1]
    seen = np.zeros(64, int)
    for sweep in range(80_000):
        sampler.sweep(state, tables)
        if sweep % 8 == 7:
            seen[np.concatenate([state["topic"], state["document_topic"]]) @ power] += 1
    assert (posterior * seen.sum()).min() > 5
    assert stats.chisquare(seen, posterior * seen.sum()).pvalue > 1e-3


# Geweke (2004): drawing words, topics and document-topics from the prior, or by turns words given topics and topics
# given words, must give the same distribution.


def drawn_from_prior(sampler, alpha, rng):
    document_topic = np.empty(len(sampler.lengths), int)
    topic = np.empty(sampler.ends[-1], int)
    for d in range(sampler.n_documents):
        segments = sampler.documents == d
        document_topic[segments] = rng.choice(
            len(alpha), segments.sum(), p=rng.dirichlet(np.full(len(alpha), sampler.delta))
        )
    for g, k in enumerate(document_topic):
        topic[sampler.ends[g] : sampler.ends[g + 1]] = rng.choice(
            alpha.shape[1], sampler.lengths[g], p=rng.dirichlet(alpha[k])
        )
    return topic, document_topic


def drawn_words(sampler, topic, rng):
    """A sampler of the same form whose words are drawn given their topics."""
    words = rng.dirichlet(np.full(sampler.n_words, sampler.beta), sampler.n_topics)
    upto = words.cumsum(axis=1)[topic]
    sampler.tokens = (upto[:, :-1] <= rng.random(len(topic))[:, None]).sum(axis=1).astype(np.int32)
    frequency = np.bincount(sampler.tokens, minlength=sampler.n_words)
    sampler.start = np.concatenate([[0], np.cumsum(np.minimum(frequency, sampler.n_topics))])
    return sampler


def statistics(sampler, topic, document_topic):
    in_topic = np.bincount(topic, minlength=sampler.n_topics)
    same_word = np.bincount(topic * sampler.n_words + sampler.tokens)
    frequency = np.bincount(sampler.tokens, minlength=sampler.n_words)
    segment = np.repeat(np.arange(len(sampler.lengths)), sampler.lengths)
    in_segment = np.bincount(segment * sampler.n_topics + topic)
    in_document = np.bincount(sampler.documents * sampler.n_document_topics + document_topic)
    squares = [(counts**2).sum() for counts in (in_topic, same_word, frequency, in_segment, in_document)]
    return [*squares, in_topic[0], (document_topic == 0).sum(), (topic * document_topic[segment]).sum()]


def test_geweke_joint_distribution():
    counts = sp.csr_array(np.array([[2, 1, 0, 1], [1, 1, 0, 0], [0, 3, 0, 0], [0, 0, 0, 0], [1, 0, 1, 0]]))
    sampler = Sampler(counts, np.array([0, 1, 0, 1, 1]), 2, 3, 0.5, 0.6)
    alpha = np.array([[0.4, 0.9, 0.2], [1.5, 0.3, 0.8]])
    rng = np.random.default_rng(0)
    prior, by_turns = [], []
    for _ in range(6000):
        topic, document_topic = drawn_from_prior(sampler, alpha, rng)
        prior.append(statistics(drawn_words(sampler, topic, rng), topic, document_topic))
    tables, random = rising_tables(alpha, sampler.longest), np.array([11, 13], np.uint64)
    for _ in range(12_000):
        state = drawn_words(sampler, topic, rng).state(topic, document_topic, alpha, 0)
        state["random"] = random
        sampler.sweep(state, tables)
        topic, document_topic = state["topic"].astype(int), state["document_topic"].astype(int)
        by_turns.append(statistics(sampler, topic, document_topic))
    prior, by_turns = np.array(prior, float), np.array(by_turns, float)
    for one, other in zip(prior.T, by_turns.T):
        error = np.hypot(one.std() / len(one) ** 0.5, other.std() / effective_sample_size(other) ** 0.5)
        assert abs(one.mean() - other.mean()) < 3.5 * error


# ---- alpha ----------------------------------------------------------------------------------------------------------


def entries(counts):
    """Segments x topics as (segment, topic, count)."""
    segment, topic = np.nonzero(counts)
    return segment, topic, counts[segment, topic]


def log_likelihood_of_alpha(alpha, counts, document_topic):
    rows = alpha[document_topic]
    total = rows.sum(axis=1)
    each = (gammaln(rows + counts) - gammaln(rows)).sum(axis=1) - gammaln(total + counts.sum(axis=1)) + gammaln(total)
    return each.sum()


def drawn_counts(alpha, n_segments, rng, shortest=10, longest=30):
    document_topic = np.repeat(np.arange(len(alpha)), n_segments)
    counts = np.array(
        [rng.multinomial(rng.integers(shortest, longest + 1), rng.dirichlet(alpha[k])) for k in document_topic]
    )
    return counts, document_topic


@pytest.mark.parametrize("total", [1, 5, 50])
def test_alpha_is_recovered(total):
    rng = np.random.default_rng(total)
    alpha = total * rng.dirichlet(np.full(10, 2.0), 3)
    document_topic = np.repeat(np.arange(3), 20_000)
    shares = rng.standard_gamma(alpha[document_topic])
    counts = rng.multinomial(rng.integers(10, 31, len(document_topic)), shares / shares.sum(axis=1, keepdims=True))
    learned = maximised_alpha(np.full((3, 10), 0.1), entries(counts), document_topic, counts.sum(axis=1), 1000, 1e-5)
    assert np.allclose(learned.sum(axis=1), total, rtol=0.1)
    assert np.allclose(learned, alpha, rtol=0.1, atol=0.002 * total)


def test_steps_of_alpha_never_lower_the_likelihood_and_end_at_its_maximum():
    rng = np.random.default_rng(1)
    counts, document_topic = drawn_counts(rng.uniform(0.2, 3, (2, 4)), 150, rng)
    known, lengths = entries(counts), counts.sum(axis=1)
    for start in (1e-3, 0.1, 30.0):
        alpha, likelihood = np.full((2, 4), start), -np.inf
        for _ in range(30):
            alpha = maximised_alpha(alpha, known, document_topic, lengths, 1)
            now = log_likelihood_of_alpha(alpha, counts, document_topic)
            assert now >= likelihood - 1e-9 * abs(now)
            likelihood = now
    alpha = maximised_alpha(alpha, known, document_topic, lengths, 20_000, 1e-12)
    for cell in np.ndindex(alpha.shape):
        step = np.zeros_like(alpha)
        step[cell] = 1e-5 * alpha[cell]
        slope = log_likelihood_of_alpha(alpha + step, counts, document_topic)
        slope -= log_likelihood_of_alpha(alpha - step, counts, document_topic)
        assert abs(slope) / 2e-5 < 1e-2  # of the likelihood by log alpha; 150 segments each


def test_moment_alpha_is_the_formula():
    rng = np.random.default_rng(2)
    counts, document_topic = drawn_counts(rng.uniform(0.5, 3, (3, 4)), 30, rng)
    learned = moment_alpha(np.full((3, 4), 0.1), entries(counts), document_topic, counts.sum(axis=1))
    for k in range(3):
        assert np.allclose(learned[k], ldcc_moment_alpha(counts[document_topic == k]), rtol=1e-9)
    # by hand: shares .5/.5, 1/0, .5/.5 and 0/1 have mean .5 and variance .125, so m = .25 / .125 - 1
    counts = np.array([[1, 1], [2, 0], [3, 3], [0, 5]])
    assert np.allclose(moment_alpha(np.ones((1, 2)), entries(counts), np.zeros(4, int), counts.sum(axis=1)), 0.5)


def test_moments_underestimate_a_large_alpha_and_likelihood_does_not():
    rng = np.random.default_rng(3)
    counts, document_topic = drawn_counts(np.full((1, 5), 10.0), 4000, rng, 30, 30)
    about = entries(counts), document_topic, counts.sum(axis=1)
    assert moment_alpha(np.ones((1, 5)), *about).sum() < 25
    assert maximised_alpha(np.ones((1, 5)), *about, 1000, 1e-6).sum() == pytest.approx(50, rel=0.1)


BOTH_UPDATES = pytest.mark.parametrize("update", [maximised_alpha, moment_alpha])


@BOTH_UPDATES
def test_rows_without_data_stay(update):
    counts = np.array([[2, 1, 0], [1, 3, 1], [0, 2, 2], [4, 0, 0], [0, 0, 0], [0, 0, 0]])
    document_topic = np.array([0, 0, 0, 1, 2, 2])  # one segment, empty segments, and none at all
    alpha = np.random.default_rng(0).uniform(0.1, 1, (4, 3))
    updated = update(alpha.copy(), entries(counts), document_topic, counts.sum(axis=1))
    assert np.array_equal(updated[1:], alpha[1:])
    assert not np.array_equal(updated[0], alpha[0])


@BOTH_UPDATES
@pytest.mark.parametrize(
    "counts",
    [
        np.tile([3, 2, 0], (20, 1)),  # all alike: likelihood has no finite maximum
        np.eye(3, dtype=int)[np.arange(20) % 3],  # one token each: the scale is unknown
        50 * np.eye(3, dtype=int)[np.arange(20) % 3],  # one topic each: the maximum is at zero
        np.tile([0, 0, 4], (20, 1)),
        np.eye(3, dtype=int)[np.zeros(20, int)],
        np.array([[1000, 0, 1]] * 19 + [[0, 2000, 0]]),
    ],
    ids=["alike", "single", "pure", "one topic", "one word", "long"],
)
def test_alpha_stays_a_proper_prior(update, counts):
    alpha = np.full((1, 3), 0.1)
    for _ in range(300):
        alpha = update(alpha, entries(counts), np.zeros(len(counts), int), counts.sum(axis=1))
        assert np.isfinite(alpha).all()
        assert (alpha > 0).all()
    assert alpha.max() < 1e6


@pytest.mark.parametrize("n_segments", range(4, 60, 5))
def test_segments_of_one_token_tell_moments_nothing_of_the_scale(n_segments):
    counts = np.eye(3, dtype=int)[np.random.default_rng(n_segments).integers(0, 3, n_segments)]
    about = entries(counts), np.zeros(n_segments, int), np.ones(n_segments, int)
    assert np.array_equal(moment_alpha(np.full((1, 3), 0.1), *about), np.full((1, 3), 0.1))


# ---- new documents --------------------------------------------------------------------------------------------------


def test_new_documents_have_their_enumerated_posterior():
    rng = np.random.default_rng(4)
    topic_word, alpha = rng.dirichlet(np.ones(4), 2), np.array([[0.2, 1.4], [1.1, 0.3]])
    counts = sp.csr_array(np.array([[1, 0, 2, 0], [0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [3, 0, 0, 0]]))
    documents = np.array([0, 0, 0, 2, 2])  # the second document has no segments
    topics, clusters = fold_in_segments(counts, documents, topic_word, alpha, 0.4, 50, 1_000_000, 1)
    segments = [[w for w in range(4) for _ in range(row[w])] for row in counts.toarray().astype(int)]
    for first, last in ((0, 3), (3, 5)):
        expected = ldcc_frozen(segments[first:last], topic_word, alpha, 0.4)
        assert np.abs(topics[first:last] - expected[0]).max() < 0.005
        assert np.abs(clusters[first:last] - expected[1]).max() < 0.005
    assert np.abs(clusters - 0.5).max() > 0.05


def test_new_segments_longer_than_the_tables():
    alpha = np.array([[30.0, 10.0], [10.0, 30.0]])
    topic_word = np.array([[1.0, 0.0], [0.0, 1.0]])  # topics are known, so document-topics have a closed form
    counts = np.array([[210, 190]])
    topics, clusters = fold_in_segments(sp.csr_array(counts), np.array([0]), topic_word, alpha, 0.3, 5, 1000, 1)
    logs = [log_likelihood_of_alpha(alpha[[k]], counts, np.array([0])) for k in range(2)]
    expected = np.exp(logs - np.logaddexp(*logs))
    assert np.abs(expected[0] - 0.5) > 0.05
    assert np.allclose(clusters, expected)
    assert np.allclose(topics, expected @ (alpha + counts) / 440, atol=2e-3)  # what the prior gives is drawn


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_the_prior_do_not_depend_on_the_other_words(dtype):
    rng = np.random.default_rng(0)
    word_topic, topic_alpha = rng.random((9, 5)).astype(dtype), rng.random((5, 3))
    mass = np.zeros((9, 3))
    prior_masses(np.array([1, 4, 8]), word_topic, topic_alpha, mass)
    assert np.allclose(mass[[1, 4, 8]], word_topic[[1, 4, 8]] @ topic_alpha)
    assert not mass[[0, 2, 3, 5, 6, 7]].any()
    alone = np.zeros((9, 3))
    prior_masses(np.array([4]), word_topic, topic_alpha, alone)
    assert np.array_equal(alone[4], mass[4])
