"""LDCC's chains: the best is kept, alpha is learned in burn-in, topics are means of samples."""

from __future__ import annotations

import numpy as np
import pytest
from ldcc_cases import assert_same, small

from topicfold.metrics.stability import effective_sample_size
from topicfold.models.ldcc import chains
from topicfold.models.ldcc.sampler import Sampler


def test_chains_give_the_same_bits_for_any_number_of_threads(fitted, segmented):
    counts, documents, _ = segmented
    for n_jobs in (1, 2, 4):
        other = small(n_chains=3, n_jobs=n_jobs).fit(counts, documents=documents)
        assert_same(other, fitted)
        assert other.score(counts, documents=documents) == fitted.score(counts, documents=documents)


@pytest.mark.parametrize("init", ["data", "random"])
def test_chains_differ_and_the_best_is_kept(segmented, init):
    counts, documents, _ = segmented
    model = small(n_chains=4, init=init).fit(counts, documents=documents)
    assert model.chain_history_.shape == (4, 30)
    assert len({tuple(trace) for trace in model.chain_history_}) == 4
    means = model.chain_history_[:, 20:].mean(axis=1)
    assert np.array_equal(model.history_, model.chain_history_[means.argmax()])
    assert model.effective_sample_size_.shape == (4,)
    assert model.effective_sample_size_[2] == effective_sample_size(model.chain_history_[2, 20:])
    assert model.other_topic_word_.shape == (3, 3, 12)
    for topic_word, alpha in zip(model.other_topic_word_, model.other_alpha_):
        assert not np.array_equal(topic_word, model.topic_word_)
        assert not np.array_equal(alpha, model.alpha_)


@pytest.mark.parametrize("init", ["data", "random"])
def test_chains_begin_with_segments_in_every_cluster(segmented, monkeypatch, init):
    counts, documents, _ = segmented
    begun = []
    state = Sampler.state
    monkeypatch.setattr(
        Sampler,
        "state",
        lambda self, topic, cluster, *rest: begun.append(cluster) or state(self, topic, cluster, *rest),
    )
    small(3, 3, init=init).fit(counts, documents=documents)
    assert len(begun) == 1
    assert set(begun[0]) == {0, 1, 2}


def test_the_first_chain_is_the_same_however_many_there_are(segmented):
    counts, documents, _ = segmented
    one, more = (small(n_chains=n).fit(counts, documents=documents) for n in (1, 3))
    assert np.array_equal(one.chain_history_[0], more.chain_history_[0])


def test_alpha_is_learned_in_burn_in_alone(segmented, monkeypatch):
    counts, documents, _ = segmented
    calls = []
    update = chains.maximised_alpha
    monkeypatch.setattr(chains, "maximised_alpha", lambda *arguments: calls.append(0) or update(*arguments))
    small(burn_in=10, n_sweeps=40).fit(counts, documents=documents)
    assert len(calls) == 2
    calls.clear()
    model = small(burn_in=0, n_sweeps=8).fit(counts, documents=documents)
    assert calls == []
    assert (model.alpha_ == 0.1).all()


def test_topics_are_the_mean_of_the_samples(segmented, monkeypatch):
    counts, documents, _ = segmented
    seen = []
    add_words = Sampler.add_words

    def note(self, state, total):
        before = total.copy()
        add_words(self, state, total)
        seen.append(total - before)

    monkeypatch.setattr(Sampler, "add_words", note)
    model = small(burn_in=20, n_sweeps=31, lag=5).fit(counts, documents=documents)
    assert len(seen) == 3  # after sweeps 21, 26 and 31
    mean = np.mean(seen, axis=0).T + model.beta
    assert np.allclose(model.topic_word_, mean / mean.sum(axis=1, keepdims=True), atol=1e-6)
