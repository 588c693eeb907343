"""LDCC's clusters of documents and words, its score, and the posterior of new documents."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from ldcc_cases import small

from naive import ldcc_frozen
from topicfold import LDCC
from topicfold.metrics.completion import completion_log_likelihood, perplexity, split_tokens
from topicfold.models.ldcc import ldcc


def test_memberships_are_shares_of_a_tenth_or_the_largest(fitted, segmented):
    counts, documents, _ = segmented
    share = fitted.document_clusters(counts, documents=documents)
    for threshold in (0.1, 0.4, 0.9, 1.1):
        members = fitted.memberships(counts, documents=documents, threshold=threshold)
        for d in range(30):
            for k in range(2):
                assert members[d, k] == (share[d, k] >= threshold or share[d, k] == share[d].max())
    assert np.array_equal(
        fitted.memberships(counts, documents=documents), fitted.memberships(counts, documents=documents, threshold=0.1)
    )
    assert fitted.memberships(counts, documents=documents, threshold=2).any(axis=1).all()
    assert 30 < fitted.memberships(counts, documents=documents).sum() < 60


def test_word_clusters_are_by_the_share_of_a_topic_in_a_word(segmented):
    counts, documents, _ = segmented
    unused = sp.csr_array(sp.hstack([counts, sp.csr_array((90, 1), dtype=int)]))
    model = small(beta=0.5).fit(unused, documents=documents)
    for threshold in (0.02, 0.5, 0.99):
        clusters = model.word_clusters(threshold) if threshold != 0.5 else model.word_clusters()
        assert len(clusters) == 3
        for l in range(3):
            members = []
            for w in range(12):
                joint = [float(model.topic_weight_[t]) * float(model.topic_word_[t, w]) for t in range(3)]
                members += [w] if joint[l] / sum(joint) >= threshold else []
            assert clusters[l].tolist() == members
    assert sum(map(len, model.word_clusters(0.02))) > 12
    assert sum(map(len, model.word_clusters(0.99))) < 12


def test_score_averages_the_probabilities_of_all_chains(fitted, segmented):
    counts, documents, _ = segmented
    seen, held_out = split_tokens(counts)
    one_chain = small()
    chains = [(fitted.topic_word_, fitted.alpha_), *zip(fitted.other_topic_word_, fitted.other_alpha_)]
    probability = np.zeros(counts.shape)
    for topic_word, alpha in chains:
        vars(one_chain).update(vars(fitted), n_chains=1, topic_word_=topic_word, alpha_=alpha)
        probability += one_chain.transform_segments(seen, documents) @ topic_word / 3
    frequency = fitted.word_frequency_
    background = (frequency + 1) / (frequency + 1).sum()
    logs = np.log(0.999 * probability + 0.001 * background)
    expected = (held_out.toarray() * logs).sum() / held_out.sum()
    assert fitted.score(counts, documents=documents) == pytest.approx(expected, abs=1e-6)
    single = completion_log_likelihood(
        held_out, fitted.transform_segments(seen, documents), fitted.topic_word_, frequency
    )
    assert abs(single - expected) > 1e-6


def test_frozen_sampling_converges_to_the_posterior(segmented, monkeypatch):
    counts, documents, _ = segmented
    monkeypatch.setattr(ldcc, "_NEW_SAMPLES", 300_000)
    model = small(2, 2, beta=1.0, n_sweeps=3, burn_in=1)
    monkeypatch.setattr(model, "_keep", lambda *_: None)
    model.fit(counts, documents=documents)
    model.topic_word_ = np.random.default_rng(0).dirichlet(np.ones(12), 2).astype(np.float32)
    model.alpha_, model.word_frequency_ = np.array([[0.3, 1.2], [0.9, 0.4]]), np.ones(12)
    model.topic_weight_ = np.full(2, 0.5)
    new = sp.csr_array(([1, 2, 1, 1], ([0, 0, 2, 2], [0, 3, 7, 3])), (3, 12))
    numbers = np.array([0, 1, 0])
    topics, clusters = ldcc_frozen([[0, 3, 3], [3, 7]], model.topic_word_.astype(float), model.alpha_, model.delta)
    segment_topic = model.transform_segments(new, numbers)
    assert np.abs(segment_topic[[0, 2]] - topics).max() < 0.01
    expected = clusters.sum(axis=0) + model.delta
    assert np.abs(model.document_clusters(new, documents=numbers)[0] - expected / expected.sum()).max() < 0.01
    assert np.abs(model.transform(new, documents=numbers)[0] - (3 * topics[0] + 2 * topics[1]) / 5).max() < 0.01


def test_one_document_topic_and_one_segment_per_document_is_lda(sampled):
    from topicfold.baselines import GibbsLDA

    train, test = sampled[:300], sampled[300:]
    ours, theirs = [], []
    for seed in range(3):
        model = LDCC(1, 4, n_sweeps=150, burn_in=100, lag=5, random_state=seed, verbose=False).fit(train)
        ours.append(perplexity(model.score(test)))
        theirs.append(perplexity(GibbsLDA(4, max_iter=150, random_state=seed).fit(train).score(test)))
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.02)
