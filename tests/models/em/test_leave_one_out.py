"""Leave-one-out EM against its formula, and against the published form that keeps every responsibility."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from naive import leave_one_out_step, main_topic, stored_cvb0
from topicfold import LDA
from topicfold.metrics import perplexity
from topicfold.metrics.completion import completion_log_likelihood, split_tokens
from topicfold.models.em.leave_one_out import DocumentPrior, LeaveOneOutStep, focus_of, fold_in_counts
from topicfold.models.em.plsa_kernels import counts_of_seeds, padded


def random_tables(counts, n_topics, seed=0):
    rng = np.random.default_rng(seed)
    doc_count = rng.dirichlet(np.ones(n_topics), counts.shape[0]) * counts.sum(axis=1, keepdims=True)
    return doc_count, rng.dirichlet(np.ones(counts.shape[1]), n_topics), rng.random(n_topics) + 0.5


def kernel_step(counts, doc_count, topic_word, base, smoothing=0.0, focus=0.0, seeds=None, strength=0.0):
    n_topics = len(topic_word)
    doc, word = padded(doc_count, "float64"), padded(topic_word.T, "float64")
    prior = counts_of_seeds(seeds or {}, strength, "float64")
    step = LeaveOneOutStep(sp.csr_array(counts).astype(float), n_topics, None, smoothing, prior)
    value, tokens = step(doc, word, DocumentPrior(base, focus))
    assert (doc[:, n_topics:] == 0).all()
    assert (word[:, n_topics:] == 0).all()
    return doc[:, :n_topics], word[:, :n_topics].T, value, tokens


FOCUS = st.sampled_from([0.0, 0.5, 3.0, 40.0])
small_counts = arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(2, 7)), elements=st.integers(0, 4))


@settings(deadline=None, max_examples=60)
@given(small_counts, st.integers(2, 5), st.integers(0, 9), st.sampled_from([0.01, 0.3]), FOCUS)
def test_the_kernel_is_the_formula(counts, n_topics, seed, smoothing, focus):
    arguments = (counts, *random_tables(counts, n_topics, seed), smoothing, focus)
    for ours, theirs in zip(kernel_step(*arguments), leave_one_out_step(*arguments)):
        assert np.allclose(ours, theirs, atol=1e-10)


@pytest.mark.parametrize("focus", [0.0, 3.0])
@pytest.mark.parametrize("times", [1, 2])  # documents of 20 tokens and of 40, where focus fades
def test_the_kernel_is_the_formula_over_many_groups(sampled, focus, times):
    counts = times * sampled.toarray()
    arguments = (counts, *random_tables(counts, 5), 0.1, focus)
    for ours, theirs in zip(kernel_step(*arguments), leave_one_out_step(*arguments)):
        assert np.allclose(ours, theirs, rtol=1e-9)


def test_weights_that_are_no_whole_numbers_count_as_powers():
    rng = np.random.default_rng(2)
    counts = rng.random((8, 6)) * 3 * (rng.random((8, 6)) < 0.7)
    arguments = (counts, *random_tables(counts, 3), 0.1, 3.0)
    for ours, theirs in zip(kernel_step(*arguments), leave_one_out_step(*arguments)):
        assert np.allclose(ours, theirs, rtol=1e-9)


def test_focus_fades_in_long_documents():
    assert focus_of(np.array([0, 5, 30, 45, 60, 1000]), 4.0).tolist() == [4, 4, 4, 2, 0, 0]
    counts = np.full((1, 6), 10)  # sixty tokens
    tables = random_tables(counts, 3)
    with_focus, without = (kernel_step(counts, *tables, 0.1, focus) for focus in (3.0, 0.0))
    assert all(np.array_equal(one, other) for one, other in zip(with_focus, without))


def test_focus_puts_a_short_document_into_one_topic():
    """Two words of one topic and one that is at home in another: with focus all three lean to the first."""
    topic_word = np.array([[0.45, 0.45, 0.1], [0.05, 0.05, 0.9]])
    document, share = sp.csr_array([[1.0, 1.0, 1.0]]), np.array([0.5, 0.5])
    found = [fold_in_counts(document, topic_word, DocumentPrior(share, focus))[0, 0] for focus in (0.0, 3.0, 30.0)]
    assert found[0] < found[1] < found[2]
    assert found[2] > 2.5


def test_seed_words_are_pseudo_counts(sampled):
    counts = sampled.toarray()
    tables = random_tables(counts, 3)
    guided = kernel_step(counts, *tables, 0.1, 0.0, {1: np.array([4, 9])}, 10.0)[1]
    _, _, _, tokens = leave_one_out_step(counts, *tables)
    plain = leave_one_out_step(counts, *tables, 0.1)[1]
    joint = plain * (tokens + 3.0)[:, None]
    joint[1, [4, 9]] += 5
    assert np.allclose(guided, joint / joint.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("focus", [0.0, 3.0])
def test_folding_in_stands_still_where_the_step_does(sampled, focus):
    rng = np.random.default_rng(0)
    counts, topic_word = sampled[:50].astype(float), rng.dirichlet(np.full(30, 0.3), 4)
    prior = DocumentPrior(np.full(4, 0.25), focus)
    found = fold_in_counts(counts, topic_word, prior)
    again = leave_one_out_step(counts.toarray(), found, topic_word, prior.base, focus=focus)[0]
    assert np.abs(again - found).max() < 0.05
    assert np.allclose(found.sum(axis=1), counts.sum(axis=1))
    pulled = fold_in_counts(counts, topic_word, prior, pull=np.zeros((50, 4)))
    assert np.array_equal(pulled, found)
    empty = sp.csr_array((1, 30))
    assert np.array_equal(fold_in_counts(empty, topic_word, prior), np.zeros((1, 4)))
    whole = fold_in_counts(counts, topic_word, prior, with_prior=True)
    strength, main = zip(*(main_topic(row, topic_word, prior.base, focus)[:2] for row in counts.toarray()))
    assert np.allclose(whole, found + prior.base + np.array(strength)[:, None] * np.array(main))
    assert np.allclose(fold_in_counts(empty, topic_word, prior, with_prior=True), np.full((1, 4), (1 + focus) / 4))


def test_it_is_as_good_as_with_every_responsibility_kept():
    """Short documents, where it matters most: perplexity within a percent of the published form's."""
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.full(200, 0.05), 5)
    counts = np.array([rng.multinomial(6, topics[rng.integers(5)]) for _ in range(1500)])
    train, test = counts[:1200], sp.csr_array(counts[1200:])
    start = rng.dirichlet(np.ones(200), 5) * 0.5 + topics * 0.5
    model = LDA(5, init=start, beta=0.05, focus=0, max_iter=40, tol=0, random_state=0).fit(train)
    topic_word, share = stored_cvb0(train, start, 1.0, 0.05, 40)
    seen, held_out = split_tokens(test)
    doc_topic = fold_in_counts(sp.csr_array(seen).astype(float), topic_word, DocumentPrior(share), with_prior=True)
    doc_topic /= doc_topic.sum(axis=1, keepdims=True)
    stored = perplexity(completion_log_likelihood(held_out, doc_topic, topic_word, model.word_frequency_))
    assert perplexity(model.score(test)) == pytest.approx(stored, rel=0.01)


def test_a_token_does_not_vouch_for_itself():
    """Without leaving it out, a document of one word would be sure of its topic."""
    topic_word = np.array([[0.6, 0.4], [0.4, 0.6]])
    found = fold_in_counts(sp.csr_array([[1.0, 0.0]]), topic_word, DocumentPrior(np.array([0.5, 0.5])))
    assert found[0] == pytest.approx([0.6, 0.4], abs=0.05)  # its own share is worked out again, so not to the digit
