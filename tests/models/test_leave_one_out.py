"""Leave-one-out EM against its formula, and against the published form that keeps every responsibility."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from naive import left_out_step, stored_cvb0
from topicfold import LDA
from topicfold.metrics import perplexity
from topicfold.metrics.completion import completion_log_likelihood, split_tokens
from topicfold.models.em import padded, seed_prior
from topicfold.models.leave_one_out import LeaveOneOutStep, fold_in_counts


def random_tables(counts, n_topics, seed=0):
    rng = np.random.default_rng(seed)
    doc_count = rng.dirichlet(np.ones(n_topics), counts.shape[0]) * counts.sum(axis=1, keepdims=True)
    return doc_count, rng.dirichlet(np.ones(counts.shape[1]), n_topics), rng.random(n_topics) + 0.5


def kernel_step(counts, doc_count, topic_word, base, smoothing=0.0, seeds=None, strength=0.0):
    n_topics = len(topic_word)
    doc, word = padded(doc_count, "float64"), padded(topic_word.T, "float64")
    prior = seed_prior(seeds or {}, strength, "float64")
    step = LeaveOneOutStep(sp.csr_array(counts).astype(float), n_topics, None, smoothing, prior)
    value, tokens = step(doc, word, base)
    assert (doc[:, n_topics:] == 0).all()
    assert (word[:, n_topics:] == 0).all()
    return doc[:, :n_topics], word[:, :n_topics].T, value, tokens


small_counts = arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(2, 7)), elements=st.integers(0, 4))


@settings(deadline=None, max_examples=60)
@given(small_counts, st.integers(2, 5), st.integers(0, 9), st.sampled_from([0.01, 0.3]))
def test_the_kernel_is_the_formula(counts, n_topics, seed, smoothing):
    tables = random_tables(counts, n_topics, seed)
    for ours, theirs in zip(kernel_step(counts, *tables, smoothing), left_out_step(counts, *tables, smoothing)):
        assert np.allclose(ours, theirs, atol=1e-10)


def test_the_kernel_is_the_formula_over_many_groups(sampled):
    counts = sampled.toarray()
    tables = random_tables(counts, 5)
    for ours, theirs in zip(kernel_step(counts, *tables, 0.1), left_out_step(counts, *tables, 0.1)):
        assert np.allclose(ours, theirs, rtol=1e-9)


def test_seed_words_are_pseudo_counts(sampled):
    counts = sampled.toarray()
    tables = random_tables(counts, 3)
    guided = kernel_step(counts, *tables, 0.1, {1: np.array([4, 9])}, 10.0)[1]
    _, _, _, tokens = left_out_step(counts, *tables)
    plain = left_out_step(counts, *tables, 0.1)[1]
    joint = plain * (tokens + 3.0)[:, None]
    joint[1, [4, 9]] += 5
    assert np.allclose(guided, joint / joint.sum(axis=1, keepdims=True))


def test_folding_in_stands_still_where_the_step_does(sampled):
    rng = np.random.default_rng(0)
    counts, topic_word, base = sampled[:50].astype(float), rng.dirichlet(np.full(30, 0.3), 4), np.full(4, 0.25)
    found = fold_in_counts(counts, topic_word, base)
    again = left_out_step(counts.toarray(), found, topic_word, base)[0]
    assert np.abs(again - found).max() < 0.05
    assert np.allclose(found.sum(axis=1), counts.sum(axis=1))
    own = fold_in_counts(counts, topic_word, np.tile(base, (50, 1)))
    assert np.array_equal(own, found)
    assert np.array_equal(fold_in_counts(sp.csr_array((1, 30)), topic_word, base), np.zeros((1, 4)))


def test_it_is_as_good_as_with_every_responsibility_kept():
    """Short documents, where it matters most: perplexity within a percent of the published form's."""
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.full(200, 0.05), 5)
    counts = np.array([rng.multinomial(6, topics[rng.integers(5)]) for _ in range(1500)])
    train, test = counts[:1200], sp.csr_array(counts[1200:])
    start = rng.dirichlet(np.ones(200), 5) * 0.5 + topics * 0.5
    model = LDA(5, init=start, beta=0.05, max_iter=40, tol=0, random_state=0).fit(train)
    topic_word, share = stored_cvb0(train, start, 1.0, 0.05, 40)
    seen, held_out = split_tokens(test)
    doc_topic = fold_in_counts(sp.csr_array(seen).astype(float), topic_word, share) + share
    doc_topic /= doc_topic.sum(axis=1, keepdims=True)
    stored = perplexity(completion_log_likelihood(held_out, doc_topic, topic_word, model.word_frequency_))
    assert perplexity(model.score(test)) == pytest.approx(stored, rel=0.01)


def test_a_token_does_not_vouch_for_itself():
    """Without leaving it out, a document of one word would be sure of its topic."""
    topic_word = np.array([[0.6, 0.4], [0.4, 0.6]])
    found = fold_in_counts(sp.csr_array([[1.0, 0.0]]), topic_word, np.array([0.5, 0.5]))
    assert found[0] == pytest.approx([0.6, 0.4], abs=0.05)  # its own share is worked out again, so not to the digit
