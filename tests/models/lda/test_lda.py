"""LDA: what it adds to the contract of all models."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import LDA, PLSA
from topicfold.metrics import perplexity
from topicfold.metrics.completion import completion_log_likelihood, split_tokens
from topicfold.models.em.leave_one_out import focus_of


@pytest.fixture(scope="module")
def titles():
    """3,000 titles of five words on eight subjects over 400 words."""
    rng = np.random.default_rng(0)
    subjects = rng.dirichlet(np.full(400, 0.05), 8)
    subject = rng.integers(8, size=3000)
    return sp.csr_array(np.array([rng.multinomial(5, subjects[s]) for s in subject])), subject


def unigram(train, test):
    frequency = np.asarray(train.sum(axis=0), dtype=float)
    ones = np.ones((test.shape[0], 1))
    held_out = split_tokens(test)[1]
    return perplexity(completion_log_likelihood(held_out, ones, (frequency / frequency.sum())[None], frequency))


def test_short_texts_are_predicted_better_than_by_word_frequencies(titles):
    counts, _ = titles
    train, test = counts[:2400], counts[2400:]
    found = perplexity(LDA(8, random_state=0).fit(train).score(test))
    assert found < 0.6 * unigram(train, test)
    assert found < 0.85 * perplexity(PLSA(8, random_state=0, beta=0).fit(train).score(test))


def test_the_posterior_is_a_dirichlet_with_the_mean_that_transform_gives(sampled):
    model = LDA(4, random_state=0).fit(sampled)
    posterior = model.document_posterior(sampled)
    assert (posterior > 0).all()
    lengths = sampled.sum(axis=1)
    assert posterior.sum(axis=1) == pytest.approx(lengths + model.alpha_ + focus_of(lengths, 3.0), rel=1e-3)
    assert posterior / posterior.sum(axis=1, keepdims=True) == pytest.approx(model.transform(sampled), abs=1e-6)
    empty = model.document_posterior(sp.csr_array((1, 30), dtype=int))
    assert empty[0] == pytest.approx((model.alpha_ + 3) * model.topic_weight_, rel=1e-4)


def test_a_main_topic_helps_titles(titles):
    counts, _ = titles
    train, test = counts[:2400], counts[2400:]
    plain, focused = (LDA(8, focus=focus, random_state=0).fit(train) for focus in (0.0, 3.0))
    assert perplexity(focused.score(test)) < perplexity(plain.score(test))
    assert focused.doc_topic_.max(axis=1).mean() > plain.doc_topic_.max(axis=1).mean()


def test_the_prior_of_documents_follows_the_sizes_of_topics(titles):
    counts, subject = titles
    uneven = counts[np.flatnonzero((subject == 0) | (np.arange(3000) % 8 == 0))]
    model = LDA(4, random_state=0).fit(uneven)
    assert model.topic_weight_.max() > 2 * model.topic_weight_.min()
    assert model.transform(sp.csr_array((1, 400), dtype=int))[0] == pytest.approx(model.topic_weight_, abs=1e-5)


def test_automatic_priors_are_chosen_on_held_out_documents(titles):
    counts, _ = titles
    train, test = counts[:2400], counts[2400:]
    plain = LDA(8, random_state=0).fit(train)
    auto = LDA(8, alpha="auto", beta="auto", random_state=0).fit(train)
    assert (plain.alpha_, plain.beta_, plain.prior_path_) == (1.0, 0.03, None)
    assert auto.prior_path_.shape[1] == 3
    assert auto.prior_path_[0, :2].tolist() == [1.0, 0.03]
    assert [auto.alpha_, auto.beta_] in auto.prior_path_[:, :2].tolist()
    assert perplexity(auto.score(test)) < 1.005 * perplexity(plain.score(test))
    fixed = LDA(8, alpha=2.0, beta="auto", random_state=0).fit(train)
    assert fixed.alpha_ == 2.0
    assert set(fixed.prior_path_[:, 0]) == {2.0}


def test_starts_are_tried_on_a_part_of_many_documents(titles, monkeypatch):
    monkeypatch.setattr("topicfold.models.em.best_start._SAMPLE", 500)
    counts, subject = titles
    first, again = (LDA(8, random_state=0, n_jobs=n_jobs).fit(counts) for n_jobs in (1, 2))
    assert np.array_equal(first.topic_word_, again.topic_word_)
    found = first.doc_topic_.argmax(axis=1)
    from sklearn.metrics import normalized_mutual_info_score

    assert normalized_mutual_info_score(subject, found) > 0.6


def test_streams_of_batches(titles):
    counts, _ = titles
    whole = LDA(8, random_state=0).fit(counts[:2400])
    stream = LDA(8, random_state=0)
    for first in range(0, 2400, 600):
        stream.partial_fit(counts[first : first + 600])
    assert stream.n_batches_ == 4
    assert stream.doc_topic_.shape == (600, 8)
    assert perplexity(stream.score(counts[2400:])) < 1.25 * perplexity(whole.score(counts[2400:]))
    with pytest.raises(ValueError, match="'auto' needs all documents"):
        LDA(8, alpha="auto").partial_fit(counts)


@pytest.mark.parametrize(
    ("name", "value"), [("alpha", 0), ("alpha", "much"), ("beta", -1), ("beta", np.nan), ("focus", -1)]
)
def test_bad_priors_are_named(sampled, name, value):
    with pytest.raises(ValueError, match=name):
        LDA(3, **{name: value}).fit(sampled)


def test_restarts_keep_the_best(sampled):
    best = LDA(4, init="random", n_init=4, random_state=0).fit(sampled)
    ones = [LDA(4, init="random", random_state=seed).fit(sampled).history_.max() for seed in range(3)]
    assert best.history_.max() >= np.median(ones) - 1e-3
