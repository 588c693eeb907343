"""LDCC: documents and segments, clusters of documents and words, the score, new documents, and odd input."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from ldcc_cases import as_corpus, assert_same, proper, small
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from naive import ldcc_frozen
from topicfold import LDCC, Corpus
from topicfold.metrics.completion import completion_log_likelihood, perplexity, split_tokens
from topicfold.models.ldcc import ldcc

# ---- documents and segments ------------------------------------------------------------------------------------------


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
    whole = ldcc._pooled(counts, documents, *memberships, weight, 0.1)
    monkeypatch.setattr(ldcc, "_DOCUMENTS_PER_BLOCK", 4)
    for one, other in zip(whole, ldcc._pooled(counts, documents, *memberships, weight, 0.1), strict=True):
        assert np.array_equal(one, other)
    lengths = counts.sum(axis=1)
    for d in range(documents.max() + 1):
        rows = documents == d
        topics = lengths[rows] @ memberships[0][rows] / lengths[rows].sum() if lengths[rows].sum() else weight
        assert np.allclose(whole[0][d], topics)


# ---- clusters, the score, and the posterior of new documents ---------------------------------------------------------


def test_memberships_are_shares_of_at_least_the_threshold(fitted, segmented):
    counts, documents, _ = segmented
    share = fitted.document_clusters(counts, documents=documents)
    for threshold in (0.1, 0.4, 0.9, 1.1):
        members = fitted.memberships(counts, threshold, documents=documents)
        assert np.array_equal(members, share >= threshold)
    assert np.array_equal(fitted.memberships(counts, documents=documents), share >= 0.1)
    assert 30 < fitted.memberships(counts, documents=documents).sum() < 60
    exact = float(share[0, 0])
    assert fitted.memberships(counts, exact, documents=documents)[0, 0]


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


def test_memberships_are_averaged_over_matched_chains(fitted, segmented):
    counts, documents, _ = segmented
    one_chain, total = small(), np.zeros((90, 2))
    chains = [(fitted.topic_word_, fitted.alpha_), *zip(fitted.other_topic_word_, fitted.other_alpha_)]
    orders = [[0, 1], *fitted.other_order_]
    for (topic_word, alpha), order in zip(chains, orders):
        nothing = {"other_topic_word_": np.empty((0, 3, 12)), "other_alpha_": np.empty((0, 2, 3))}
        vars(one_chain).update(vars(fitted), topic_word_=topic_word, alpha_=alpha, **nothing)
        one_chain.other_order_ = np.empty((0, 2), int)
        total += one_chain.segment_memberships(counts, documents)[1][:, order] / 3
    assert np.allclose(fitted.segment_cluster_, total, atol=1e-6)
    assert np.allclose(fitted.segment_memberships(counts, documents)[1], total, atol=1e-6)


def test_clusters_are_matched_by_the_segments_they_share():
    rng = np.random.default_rng(0)
    clusters = rng.dirichlet(np.full(4, 0.3), 50)
    order = np.array([2, 0, 3, 1])
    others = 0.9 * clusters[:, np.argsort(order)] + 0.1 * rng.dirichlet(np.ones(4), 50)
    assert ldcc._matched(clusters, others).tolist() == order.tolist()
    best = max(permutations(range(4)), key=lambda one: (clusters * others[:, one]).sum())
    assert list(best) == order.tolist()


def test_frozen_sampling_converges_to_the_posterior(segmented, monkeypatch):
    counts, documents, _ = segmented
    monkeypatch.setattr(ldcc, "_NEW_SAMPLES", 300_000)
    model = small(2, 2, beta=1.0, n_sweeps=3, burn_in=1)
    monkeypatch.setattr(model, "_keep", lambda *_: None)
    model.fit(counts, documents=documents)
    model.topic_word_ = np.random.default_rng(0).dirichlet(np.ones(12), 2).astype(np.float32)
    model.alpha_, model.word_frequency_ = np.array([[0.3, 1.2], [0.9, 0.4]]), np.ones(12)
    model.topic_weight_ = np.full(2, 0.5)
    model.other_topic_word_, model.other_alpha_ = np.empty((0, 2, 12)), np.empty((0, 2, 2))
    model.other_order_ = np.empty((0, 2), int)
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


# ---- odd corpora, fractions, and what is refused ---------------------------------------------------------------------


BOTH_ALPHAS = pytest.mark.parametrize("alpha", ["mle", "moments"])


@BOTH_ALPHAS
@pytest.mark.parametrize("init", ["data", "random"])
def test_odd_corpora(alpha, init):
    rng = np.random.default_rng(0)
    one_word = np.eye(6, dtype=int)[rng.integers(0, 6, 40)]
    with_empty = np.where(rng.random((40, 1)) < 0.5, 0, rng.poisson(1.0, (40, 6)))
    long = rng.multinomial(2000, np.full(6, 1 / 6), 4)
    options = {"alpha": alpha, "init": init, "n_sweeps": 120, "burn_in": 110}
    for counts in (one_word, with_empty, long, np.tile([3, 2, 1, 0, 0, 0], (10, 1))):
        documents = np.arange(len(counts)) // 4
        assert proper(small(**options).fit(counts, documents=documents))
        assert proper(small(**options).fit(counts))
        assert proper(small(**options).fit(counts, documents=np.zeros(len(counts), int)))


@BOTH_ALPHAS
@pytest.mark.parametrize("n_topics", [3, 13])
def test_document_topics_that_die_out_keep_their_prior(alpha, n_topics):
    counts = np.random.default_rng(1).multinomial(15, np.full(16, 1 / 16), 14)
    model = small(20, n_topics, alpha=alpha, n_sweeps=60, burn_in=50).fit(counts, documents=np.zeros(14, int))
    assert proper(model)
    assert (model.alpha_ == 0.1).all(axis=1).any()
    tree = model.topic_tree()
    empty = [topic for topic in tree.ids[tree.level == 2].tolist() if not tree.parts(topic)]
    assert empty == []  # an even share is no less than chance


def test_one_document_topic_and_one_word_topic(segmented):
    counts, documents, _ = segmented
    model = small(1, 1, beta=1e-9).fit(counts, documents=documents)
    assert np.allclose(model.topic_word_[0], counts.sum(axis=0) / counts.sum(), atol=1e-6)
    assert np.allclose(model.doc_cluster_, 1)
    assert model.memberships(counts, documents=documents).all()


def test_fractions_are_rounded_up_with_a_warning(segmented):
    counts, documents, _ = segmented
    with pytest.warns(UserWarning, match=r"X holds 0\.5, but LDCC needs whole tokens: values are rounded up"):
        model = small().fit(counts * 0.5, documents=documents)
    whole = sp.csr_array(np.ceil(counts.toarray() * 0.5))
    assert_same(model, small().fit(whole, documents=documents))


def test_fractions_as_new_documents_are_rounded_as_in_the_fit(segmented):
    counts, documents, _ = segmented
    with pytest.warns(UserWarning, match="rounded up"):
        model = small().fit(counts * 0.3, documents=documents)
    assert np.allclose(model.transform(counts * 0.3, documents=documents), model.doc_topic_, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", "mean"),
        ("beta", 0),
        ("delta", -1.0),
        ("burn_in", 30),
        ("lag", 0),
        ("n_chains", 0),
        ("n_chains", 1.5),
    ]
    + [("n_document_topics", True), ("beta", np.inf), ("delta", np.nan), ("burn_in", -1)],
)
def test_bad_parameters_are_named(segmented, name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        small(**{name: value}).fit(segmented[0]) if "topics" not in name else LDCC(value).fit(segmented[0])


def test_an_unfitted_model_says_so(segmented):
    for name in ("memberships", "transform", "transform_segments", "score", "document_clusters"):
        with pytest.raises(NotFittedError):
            getattr(LDCC(), name)(segmented[0])
    with pytest.raises(NotFittedError):
        LDCC().word_clusters()


@pytest.mark.parametrize(
    "documents",
    [
        [0, 1],
        np.zeros((90, 1), int),
        np.zeros(90),
        np.full(90, -1),
        ["a"] * 90,
        np.zeros(90, bool),
        3,
        np.zeros(91, int),
    ],
    ids=["short", "two dimensions", "floats", "negative", "strings", "booleans", "a number", "long"],
)
def test_bad_documents_are_refused(fitted, segmented, documents):
    counts = segmented[0]
    calls = [
        lambda: small().fit(counts, documents=documents),
        lambda: fitted.transform(counts, documents=documents),
        lambda: fitted.transform_segments(counts, documents),
        lambda: fitted.memberships(counts, documents=documents),
        lambda: fitted.score(counts, documents=documents),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="documents: expected 90 whole numbers from 0"):
            call()


def test_more_tokens_than_memory_are_said():
    with pytest.raises(ValueError, match=r"LDCC samples each of 20,000,000,000 tokens.* GB of memory"):
        LDCC(2, 2, n_sweeps=4, burn_in=2, lag=1).fit(np.full((2, 10), 10**9))
    model = LDCC(2, 2, n_sweeps=4, burn_in=2, lag=1, random_state=0, verbose=False).fit(np.eye(4, dtype=int) + 1)
    with pytest.raises(ValueError, match="tokens"):
        model.transform(np.full((20, 4), 2 * 10**9))
