"""LDCC's documents and segments: rows, corpora, orders, and new documents."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from ldcc_cases import as_corpus, assert_same, small
from sklearn.metrics import adjusted_rand_score

from topicfold import LDCC, Corpus
from topicfold.models.ldcc import chains, gibbs, sampler, segments


def test_shapes_and_sums(fitted, segmented):
    counts, documents, _ = segmented
    shapes = {"topic_word_": (3, 12), "alpha_": (2, 3), "doc_topic_": (30, 3), "doc_cluster_": (30, 2)}
    shapes |= {"segment_topic_": (90, 3), "segment_cluster_": (90, 2), "topic_weight_": (3,), "cluster_weight_": (2,)}
    for name, shape in shapes.items():
        values = getattr(fitted, name)
        assert values.shape == shape
        if name != "alpha_":
            assert np.allclose(values.sum(axis=-1), 1, atol=1e-5)
    assert np.array_equal(fitted.segment_documents_, documents)
    assert np.array_equal(fitted.word_frequency_, counts.sum(axis=0))
    assert np.array_equal(fitted.history_, fitted.chain_history_[fitted.chain_history_[:, 20:].mean(axis=1).argmax()])


def test_kinds_of_segments_are_found():
    agreement = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        prior = np.full((3, 10), 0.01)
        for k in range(3):
            prior[k, 3 * k : 3 * k + 4] = 2.0  # two kinds have a topic in common
        topics, kind = rng.dirichlet(np.full(200, 0.05), 10), rng.integers(0, 3, 250)
        counts = np.array([rng.multinomial(25, rng.dirichlet(prior[k]) @ topics) for k in kind])
        model = small(3, 10, n_sweeps=150, burn_in=120, random_state=seed).fit(counts, documents=np.arange(250) // 5)
        agreement.append(adjusted_rand_score(kind, model.segment_cluster_.argmax(axis=1)))
    assert min(agreement) > 0.9


def test_documents_are_the_sums_of_their_segments(fitted, segmented):
    counts, documents, _ = segmented
    lengths = counts.sum(axis=1)
    for d in range(30):
        rows = documents == d
        topics = lengths[rows] @ fitted.segment_topic_[rows] / lengths[rows].sum()
        clusters = fitted.segment_cluster_[rows].sum(axis=0) + fitted.delta
        assert np.allclose(fitted.doc_topic_[d], topics, atol=1e-6)
        assert np.allclose(fitted.doc_cluster_[d], clusters / clusters.sum(), atol=1e-6)


def test_training_documents_as_new_ones(fitted, segmented):
    counts, documents, _ = segmented
    assert np.array_equal(fitted.transform(counts, documents=documents), fitted.doc_topic_)
    assert np.array_equal(fitted.transform_segments(counts, documents), fitted.segment_topic_)
    assert np.array_equal(fitted.document_clusters(counts, documents=documents), fitted.doc_cluster_)
    again = small(n_chains=3).fit_transform(counts, documents=documents)
    assert np.array_equal(again, fitted.doc_topic_)


def test_the_order_of_documents_does_not_matter(fitted, segmented):
    counts, documents, _ = segmented
    order = np.argsort(documents, kind="stable")
    ordered = fitted.transform(counts[order], documents=documents[order])
    assert np.array_equal(ordered, fitted.transform(counts, documents=documents))
    segments = fitted.transform_segments(counts, documents)
    assert np.array_equal(fitted.transform_segments(counts[order], documents[order]), segments[order])


def test_memberships_of_segments(fitted, segmented):
    counts, documents, _ = segmented
    topics, clusters = fitted.segment_memberships(counts, documents)
    assert np.array_equal(topics, fitted.transform_segments(counts, documents))
    assert np.array_equal(topics, fitted.segment_topic_)
    assert np.array_equal(clusters, fitted.segment_cluster_)
    assert clusters.shape == (90, len(fitted.alpha_))
    assert np.allclose(topics.sum(axis=1), 1, atol=1e-5)
    assert np.allclose(clusters.sum(axis=1), 1, atol=1e-5)
    order = np.argsort(documents, kind="stable")
    for part, ordered in zip((topics, clusters), fitted.segment_memberships(counts[order], documents[order])):
        assert np.array_equal(ordered, part[order])


def test_a_batch_is_its_documents_one_at_a_time(fitted, segmented):
    counts, documents, _ = segmented
    together = fitted.transform(counts, documents=documents)
    clusters, segments = (
        fitted.document_clusters(counts, documents=documents),
        fitted.transform_segments(counts, documents),
    )
    for d in range(30):
        rows = np.flatnonzero(documents == d)
        alone = np.zeros(3, int)
        assert np.array_equal(fitted.transform(counts[rows], documents=alone)[0], together[d])
        assert np.array_equal(fitted.document_clusters(counts[rows], documents=alone)[0], clusters[d])
        assert np.array_equal(fitted.transform_segments(counts[rows], alone), segments[rows])


def test_transform_has_a_row_per_row_and_segments_of_a_document_help_each_other(fitted, segmented):
    counts, documents, _ = segmented
    rows = fitted.transform(counts)
    assert rows.shape == (90, 3)
    assert np.array_equal(rows, fitted.transform(counts, documents=np.arange(90)))
    assert np.array_equal(rows, fitted.transform_segments(counts))
    assert not np.array_equal(rows, fitted.transform_segments(counts, documents))


def test_a_single_document_of_many_segments(segmented):
    counts = segmented[0]
    model = small().fit(counts, documents=np.zeros(90, int))
    assert model.doc_topic_.shape == (1, 3)
    assert np.allclose(model.doc_topic_ @ model.topic_word_, counts.sum(axis=0) / counts.sum(), atol=0.02)
    assert np.isfinite(model.score(counts, documents=np.zeros(90, int)))


def test_gaps_are_documents_without_words(fitted, segmented):
    counts, documents, _ = segmented
    model = small().fit(counts, documents=2 * documents)
    whole = small().fit(counts, documents=documents)
    assert model.doc_topic_.shape == (59, 3)
    assert np.array_equal(model.topic_word_, whole.topic_word_)
    assert np.array_equal(model.doc_topic_[::2], whole.doc_topic_)
    assert np.allclose(model.doc_topic_[1::2], model.topic_weight_)
    assert np.allclose(model.doc_cluster_[1::2], 0.5)
    assert np.array_equal(fitted.transform(counts, documents=2 * documents)[::2], fitted.doc_topic_)


@pytest.mark.parametrize("kind", [list, tuple, np.uint8, np.int16])
def test_documents_of_other_types(fitted, segmented, kind):
    counts, documents, _ = segmented
    other = kind(documents.tolist()) if kind in (list, tuple) else documents.astype(kind)
    assert_same(small(n_chains=3).fit(counts, documents=other), fitted)


def test_a_corpus_with_segments_is_its_counts_and_documents(corpus):
    segments = corpus.segments
    model, other = small().fit(corpus), small().fit(segments.counts, documents=segments.documents)
    assert_same(model, other)
    assert np.array_equal(model.transform(corpus), other.transform(segments.counts, documents=segments.documents))
    assert np.array_equal(model.transform(corpus), model.doc_topic_)
    assert np.array_equal(model.transform_segments(corpus), model.segment_topic_)
    assert model.score(corpus) == other.score(segments.counts, documents=segments.documents)
    assert np.array_equal(model.memberships(corpus), other.memberships(segments.counts, documents=segments.documents))
    for call in (model.fit, model.memberships, model.score, model.document_clusters):
        with pytest.raises(ValueError, match="has the document of each"):
            call(corpus, documents=segments.documents)


def test_a_corpus_without_segments_has_one_segment_per_document(corpus):
    plain = Corpus.from_counts(corpus.counts, corpus.vocabulary)
    assert_same(small().fit(plain), small().fit(corpus.counts))


def test_a_corpus_of_texts_with_empty_ones():
    texts = ["", "cat dog cat\n\nsun moon sun", "dog cat\n\n\n\ncat dog", "", "sun moon\n\nmoon star sun", ""]
    with pytest.warns(UserWarning, match="12 of 24 texts are empty"):
        made = Corpus.from_texts(texts * 4, segments="paragraphs")
    model = small(2, 2).fit(made)
    assert model.doc_topic_.shape == (24, 2)
    assert np.array_equal(model.transform(made), model.doc_topic_)
    assert np.allclose(model.transform(made)[[0, 3, 5]], model.topic_weight_)
    assert model.transform(["cat", "", "moon star"]).shape == (3, 2)


def test_a_list_of_texts_has_one_segment_per_text():
    texts = ["cat dog cat fur", "sun moon sun star", "dog cat", "moon star sun"] * 4
    assert_same(small(2, 2).fit(texts), small(2, 2).fit(Corpus.from_texts(texts)))


def test_a_last_document_without_segments_has_a_row(corpus, segmented):
    longer = as_corpus(segmented[0], segmented[1], 31)
    model = small().fit(longer)
    assert len(model.doc_topic_) == 31
    assert len(model.transform(longer)) == 31
    assert model.memberships(longer).shape == (31, 2)


def test_another_vocabulary_is_matched_word_by_word(corpus, segmented):
    model = small().fit(corpus)
    order = np.random.default_rng(3).permutation(12)
    counts = sp.csr_array(sp.hstack([corpus.segments.counts[:, order], sp.csr_array(np.full((90, 1), 5))]))
    words = [corpus.vocabulary[w] for w in order] + ["unheard"]
    other = as_corpus(counts, corpus.segments.documents, 30, words)
    assert np.array_equal(model.transform(other), model.doc_topic_)
    assert np.array_equal(model.transform_segments(other), model.segment_topic_)
    strange = as_corpus(counts, corpus.segments.documents, 30, [f"x{w}" for w in range(13)])
    with pytest.raises(ValueError, match="no word in common"):
        model.transform(strange)


def test_documents_pooled_in_blocks(monkeypatch):
    """Documents are pooled some at a time, whatever the order of their segments."""
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(0.5, (40, 6)).astype(float))
    documents = rng.integers(0, 15, 40)
    memberships = rng.dirichlet(np.ones(3), 40).astype(np.float32), rng.dirichlet(np.ones(2), 40).astype(np.float32)
    weight = np.full(3, 1 / 3)
    whole = segments.pooled(counts, documents, *memberships, weight, 0.1)
    monkeypatch.setattr(segments, "_DOCUMENTS", 4)
    for one, other in zip(whole, segments.pooled(counts, documents, *memberships, weight, 0.1), strict=True):
        assert np.array_equal(one, other)
    lengths = counts.sum(axis=1)
    for d in range(documents.max() + 1):
        rows = documents == d
        topics = lengths[rows] @ memberships[0][rows] / lengths[rows].sum() if lengths[rows].sum() else weight
        assert np.allclose(whole[0][d], topics)


def test_tokens_and_first_topics_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.7, (50, 12))

    def fit():
        return LDCC(3, 4, n_sweeps=6, burn_in=3, lag=1, random_state=0).fit(X, documents=np.arange(50) // 2)

    whole = fit()
    monkeypatch.setattr(chains, "_SEGMENTS", 7)
    monkeypatch.setattr(chains, "_TOKENS", 5)
    monkeypatch.setattr(sampler, "_SEGMENTS", 9)
    again = fit()
    assert np.array_equal(whole.topic_word_, again.topic_word_)
    assert np.array_equal(whole.doc_topic_, again.doc_topic_)
    monkeypatch.setattr(chains, "_CLUSTERED", 20)  # clusters to begin with from a part of the segments
    assert fit().topic_word_.shape == whole.topic_word_.shape


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_the_prior_do_not_depend_on_the_other_words(dtype):
    rng = np.random.default_rng(0)
    word_topic, topic_alpha = rng.random((9, 5)).astype(dtype), rng.random((5, 3))
    mass = np.zeros((9, 3))
    gibbs.prior_masses(np.array([1, 4, 8]), word_topic, topic_alpha, mass)
    assert np.allclose(mass[[1, 4, 8]], word_topic[[1, 4, 8]] @ topic_alpha)
    assert not mass[[0, 2, 3, 5, 6, 7]].any()
    alone = np.zeros((9, 3))
    gibbs.prior_masses(np.array([4]), word_topic, topic_alpha, alone)
    assert np.array_equal(alone[4], mass[4])
