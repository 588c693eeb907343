"""LDCC: documents and segments, chains, checkpoints, clusters, and its tree of topics."""

from __future__ import annotations

import contextlib
import json
import signal
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from naive import ldcc_frozen
from topicfold import LDCC, Corpus, load, save, topic_tree
from topicfold.corpus.corpus import Segments
from topicfold.metrics.completion import completion_log_likelihood, perplexity, split_tokens
from topicfold.metrics.stability import effective_sample_size
from topicfold.models.ldcc import ldcc


def small(n_document_topics=2, n_word_topics=3, **parameters):
    options = {"n_sweeps": 30, "burn_in": 20, "lag": 3, "random_state": 0, "verbose": False, **parameters}
    return LDCC(n_document_topics, n_word_topics, **options)


@pytest.fixture(scope="module")
def segmented():
    """90 segments of 30 documents, in no order, of two kinds that mix three topics: (counts, documents, kind)."""
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(3), np.full(4, 0.25))
    kind = rng.integers(0, 2, 90)
    mixes = np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]])[kind]
    counts = np.array([rng.multinomial(rng.integers(8, 20), mix @ topics) for mix in mixes])
    counts[[4, 50]] = 0
    return sp.csr_array(counts), rng.permutation(np.repeat(np.arange(30), 3)), kind


@pytest.fixture(scope="module")
def fitted(segmented):
    counts, documents, _ = segmented
    return small(n_chains=3).fit(counts, documents=documents)


def assert_same(one, other):
    for name in ("topic_word_", "alpha_", "doc_topic_", "doc_cluster_", "segment_topic_", "segment_cluster_"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for name in ("chain_history_", "other_topic_word_", "other_alpha_", "effective_sample_size_"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


# ---- documents and segments -----------------------------------------------------------------------------------------


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
        here = documents == d
        topics = lengths[here] @ fitted.segment_topic_[here] / lengths[here].sum()
        clusters = fitted.segment_cluster_[here].sum(axis=0) + fitted.delta
        assert np.allclose(fitted.doc_topic_[d], topics, atol=1e-6)
        assert np.allclose(fitted.doc_cluster_[d], clusters / clusters.sum(), atol=1e-6)


def test_training_documents_as_new_ones(fitted, segmented):
    counts, documents, _ = segmented
    assert np.array_equal(fitted.transform_documents(counts, documents), fitted.doc_topic_)
    assert np.array_equal(fitted.transform_segments(counts, documents), fitted.segment_topic_)
    assert np.array_equal(fitted.predict_clusters(counts, documents=documents), fitted.doc_cluster_)
    again = small(n_chains=3).fit_transform(counts, documents=documents)
    assert np.array_equal(again, fitted.doc_topic_)


def test_the_order_of_documents_does_not_matter(fitted, segmented):
    counts, documents, _ = segmented
    order = np.argsort(documents, kind="stable")
    ordered = fitted.transform_documents(counts[order], documents[order])
    assert np.array_equal(ordered, fitted.transform_documents(counts, documents))
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
    together = fitted.transform_documents(counts, documents)
    clusters, segments = (
        fitted.predict_clusters(counts, documents=documents),
        fitted.transform_segments(counts, documents),
    )
    for d in range(30):
        here = np.flatnonzero(documents == d)
        alone = np.zeros(3, int)
        assert np.array_equal(fitted.transform_documents(counts[here], alone)[0], together[d])
        assert np.array_equal(fitted.predict_clusters(counts[here], documents=alone)[0], clusters[d])
        assert np.array_equal(fitted.transform_segments(counts[here], alone), segments[here])


def test_transform_has_a_row_a_row_and_segments_of_a_document_help_each_other(fitted, segmented):
    counts, documents, _ = segmented
    rows = fitted.transform(counts)
    assert rows.shape == (90, 3)
    assert np.array_equal(rows, fitted.transform_documents(counts, np.arange(90)))
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
    assert np.array_equal(fitted.transform_documents(counts, 2 * documents)[::2], fitted.doc_topic_)


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
        lambda: fitted.transform_documents(counts, documents),
        lambda: fitted.transform_segments(counts, documents),
        lambda: fitted.predict(counts, documents=documents),
        lambda: fitted.score(counts, documents=documents),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="documents: expected 90 whole numbers from 0"):
            call()


@pytest.mark.parametrize("kind", [list, tuple, np.uint8, np.int16])
def test_documents_of_other_types(fitted, segmented, kind):
    counts, documents, _ = segmented
    other = kind(documents.tolist()) if kind in (list, tuple) else documents.astype(kind)
    assert_same(small(n_chains=3).fit(counts, documents=other), fitted)


def as_corpus(counts, documents, n_documents, words=None, **options):
    """A corpus with segments; they are put in the order of their documents."""
    order = np.argsort(documents, kind="stable")
    counts, documents = sp.csr_array(counts)[order], documents[order]
    member = sp.csr_array(
        (np.ones(len(documents), int), (documents, np.arange(len(documents)))), (n_documents, len(documents))
    )
    words = tuple(words or [f"w{w:02d}" for w in range(counts.shape[1])])
    return Corpus(sp.csr_array(member @ counts), words, segments=Segments(counts, documents), **options)


@pytest.fixture(scope="module")
def corpus(segmented):
    return as_corpus(segmented[0], segmented[1], 30)


def test_a_corpus_with_segments_is_its_counts_and_documents(corpus):
    segments = corpus.segments
    model, other = small().fit(corpus), small().fit(segments.counts, documents=segments.documents)
    assert_same(model, other)
    assert np.array_equal(model.transform(corpus), other.transform_documents(segments.counts, segments.documents))
    assert np.array_equal(model.transform(corpus), model.doc_topic_)
    assert np.array_equal(model.transform_segments(corpus), model.segment_topic_)
    assert model.score(corpus) == other.score(segments.counts, documents=segments.documents)
    assert np.array_equal(model.predict(corpus), other.predict(segments.counts, documents=segments.documents))
    for call in (model.fit, model.predict, model.score, model.predict_clusters):
        with pytest.raises(ValueError, match="knows their documents itself"):
            call(corpus, documents=segments.documents)


def test_a_corpus_without_segments_has_a_segment_a_document(corpus):
    plain = Corpus.from_counts(corpus.counts, corpus.vocabulary)
    assert_same(small().fit(plain), small().fit(corpus.counts))


def test_a_corpus_of_texts_with_empty_ones():
    texts = ["", "cat dog cat\n\nsun moon sun", "dog cat\n\n\n\ncat dog", "", "sun moon\n\nmoon star sun", ""]
    made = Corpus.from_texts(texts * 4, segments="paragraphs")
    model = small(2, 2).fit(made)
    assert model.doc_topic_.shape == (24, 2)
    assert np.array_equal(model.transform(made), model.doc_topic_)
    assert np.allclose(model.transform(made)[[0, 3, 5]], model.topic_weight_)
    assert model.transform(["cat", "", "moon star"]).shape == (3, 2)


def test_a_last_document_without_segments_has_a_row(corpus, segmented):
    longer = as_corpus(segmented[0], segmented[1], 31)
    model = small().fit(longer)
    assert len(model.doc_topic_) == 31
    assert len(model.transform(longer)) == 31
    assert model.predict(longer).shape == (31, 2)


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


# ---- odd data -------------------------------------------------------------------------------------------------------


HOW = pytest.mark.parametrize("alpha", ["mle", "moments"])


def proper(model):
    assert np.isfinite(model.alpha_).all()
    assert (model.alpha_ > 0).all()
    for name in ("topic_word_", "doc_topic_", "doc_cluster_", "segment_topic_", "segment_cluster_", "history_"):
        assert np.isfinite(getattr(model, name)).all()
    return True


@HOW
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


@HOW
@pytest.mark.parametrize("n_topics", [3, 13])
def test_document_topics_that_die_out_keep_their_prior(alpha, n_topics):
    counts = np.random.default_rng(1).multinomial(15, np.full(16, 1 / 16), 14)
    model = small(20, n_topics, alpha=alpha, n_sweeps=60, burn_in=50).fit(counts, documents=np.zeros(14, int))
    assert proper(model)
    assert (model.alpha_ == 0.1).all(axis=1).any()
    tree = topic_tree(model)
    empty = [topic for topic in tree.ids[tree.level == 2].tolist() if not tree.parts(topic)]
    assert empty == []  # an even share is no less than chance


def test_one_document_topic_and_one_word_topic(segmented):
    counts, documents, _ = segmented
    model = small(1, 1, eta=1e-9).fit(counts, documents=documents)
    assert np.allclose(model.topic_word_[0], counts.sum(axis=0) / counts.sum(), atol=1e-6)
    assert np.allclose(model.doc_cluster_, 1)
    assert model.predict(counts, documents=documents).all()


def test_fractions_are_rounded_up_with_a_warning(segmented):
    counts, documents, _ = segmented
    with pytest.warns(UserWarning, match=r"X holds 0\.5, and a topic belongs to a whole token: values are rounded up"):
        model = small().fit(counts * 0.5, documents=documents)
    whole = sp.csr_array(np.ceil(counts.toarray() * 0.5))
    assert_same(model, small().fit(whole, documents=documents))


def test_fractions_as_new_documents_are_rounded_as_in_the_fit(segmented):
    counts, documents, _ = segmented
    with pytest.warns(UserWarning, match="rounded up"):
        model = small().fit(counts * 0.3, documents=documents)
    assert np.allclose(model.transform_documents(counts * 0.3, documents), model.doc_topic_, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value"),
    [("alpha", "mean"), ("eta", 0), ("delta", -1.0), ("burn_in", 30), ("lag", 0), ("n_chains", 0), ("n_chains", 1.5)]
    + [("n_document_topics", True), ("eta", np.inf), ("delta", np.nan), ("burn_in", -1)],
)
def test_bad_parameters_are_named(segmented, name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        small(**{name: value}).fit(segmented[0]) if "topics" not in name else LDCC(value).fit(segmented[0])


def test_an_unfitted_model_says_so(segmented):
    for call in (LDCC().predict, LDCC().transform, LDCC().transform_segments, LDCC().score, LDCC().predict_clusters):
        with pytest.raises(NotFittedError):
            call(segmented[0])
    with pytest.raises(NotFittedError):
        LDCC().word_clusters()


# ---- clusters and scores --------------------------------------------------------------------------------------------


def test_predict_takes_shares_of_a_tenth_or_the_largest(fitted, segmented):
    counts, documents, _ = segmented
    share = fitted.predict_clusters(counts, documents=documents)
    for threshold in (0.1, 0.4, 0.9, 1.1):
        found = fitted.predict(counts, documents=documents, threshold=threshold)
        for d in range(30):
            for k in range(2):
                assert found[d, k] == (share[d, k] >= threshold or share[d, k] == share[d].max())
    assert np.array_equal(
        fitted.predict(counts, documents=documents), fitted.predict(counts, documents=documents, threshold=0.1)
    )
    assert fitted.predict(counts, documents=documents, threshold=2).any(axis=1).all()
    assert 30 < fitted.predict(counts, documents=documents).sum() < 60


def test_word_clusters_are_by_the_share_of_a_topic_in_a_word(segmented):
    counts, documents, _ = segmented
    unused = sp.csr_array(sp.hstack([counts, sp.csr_array((90, 1), dtype=int)]))
    model = small(eta=0.5).fit(unused, documents=documents)
    for threshold in (0.02, 0.5, 0.99):
        found = model.word_clusters(threshold) if threshold != 0.5 else model.word_clusters()
        assert len(found) == 3
        for l in range(3):
            members = []
            for w in range(12):
                joint = [float(model.topic_weight_[t]) * float(model.topic_word_[t, w]) for t in range(3)]
                members += [w] if joint[l] / sum(joint) >= threshold else []
            assert found[l].tolist() == members
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
    model = small(2, 2, eta=1.0, n_sweeps=3, burn_in=1)
    monkeypatch.setattr(model, "_keep", lambda *_: None)
    model.fit(counts, documents=documents)
    model.topic_word_ = np.random.default_rng(0).dirichlet(np.ones(12), 2).astype(np.float32)
    model.alpha_, model.word_frequency_ = np.array([[0.3, 1.2], [0.9, 0.4]]), np.ones(12)
    model.topic_weight_ = np.full(2, 0.5)
    new = sp.csr_array(([1, 2, 1, 1], ([0, 0, 2, 2], [0, 3, 7, 3])), (3, 12))
    numbers = np.array([0, 1, 0])
    topics, clusters = ldcc_frozen([[0, 3, 3], [3, 7]], model.topic_word_.astype(float), model.alpha_, model.delta)
    found = model.transform_segments(new, numbers)
    assert np.abs(found[[0, 2]] - topics).max() < 0.01
    expected = clusters.sum(axis=0) + model.delta
    assert np.abs(model.predict_clusters(new, documents=numbers)[0] - expected / expected.sum()).max() < 0.01
    assert np.abs(model.transform_documents(new, numbers)[0] - (3 * topics[0] + 2 * topics[1]) / 5).max() < 0.01


def test_one_document_topic_and_one_segment_a_document_is_lda(sampled):
    from topicfold.baselines.lda import LDA

    train, test = sampled[:300], sampled[300:]
    ours, theirs = [], []
    for seed in range(3):
        model = LDCC(1, 4, n_sweeps=150, burn_in=100, lag=5, random_state=seed, verbose=False).fit(train)
        ours.append(perplexity(model.score(test)))
        theirs.append(perplexity(LDA(4, max_iter=150, random_state=seed).fit(train).score(test)))
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.02)


# ---- chains ---------------------------------------------------------------------------------------------------------


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
    state = ldcc.Sampler.state
    monkeypatch.setattr(
        ldcc.Sampler,
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
    update = ldcc.maximised_alpha
    monkeypatch.setattr(ldcc, "maximised_alpha", lambda *arguments: calls.append(0) or update(*arguments))
    small(burn_in=10, n_sweeps=40).fit(counts, documents=documents)
    assert len(calls) == 2
    calls.clear()
    model = small(burn_in=0, n_sweeps=8).fit(counts, documents=documents)
    assert calls == []
    assert (model.alpha_ == 0.1).all()


def test_topics_are_the_mean_of_the_samples(segmented, monkeypatch):
    counts, documents, _ = segmented
    seen = []
    add_words = ldcc.Sampler.add_words

    def note(self, state, total):
        before = total.copy()
        add_words(self, state, total)
        seen.append(total - before)

    monkeypatch.setattr(ldcc.Sampler, "add_words", note)
    model = small(burn_in=20, n_sweeps=31, lag=5).fit(counts, documents=documents)
    assert len(seen) == 3  # after sweeps 21, 26 and 31
    mean = np.mean(seen, axis=0).T + model.eta
    assert np.allclose(model.topic_word_, mean / mean.sum(axis=1, keepdims=True), atol=1e-6)


# ---- checkpoints and Ctrl-C -----------------------------------------------------------------------------------------


class Killed(BaseException):
    pass


@pytest.mark.parametrize("sweeps", [1, 7, 10, 11, 13, 16])
@pytest.mark.parametrize("n_chains", [1, 3])
def test_killed_and_resumed_ends_in_the_same_bits(segmented, tmp_path, monkeypatch, sweeps, n_chains):
    counts, documents, _ = segmented
    options = {"n_sweeps": 18, "burn_in": 10, "lag": 3, "n_chains": n_chains, "n_jobs": 2}
    whole = small(**options).fit(counts, documents=documents)
    path = tmp_path / "checkpoint"
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)
    write = ldcc.Checkpoint.write

    def write_and_die(self, state, notes, **options):
        write(self, state, notes, **options)
        if len(notes["history"]) == sweeps:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(ldcc.Checkpoint, "write", write_and_die)
        with pytest.raises(Killed):
            small(checkpoint=path, **options).fit(counts, documents=documents)
    resumed = small(checkpoint=path, **options).fit(counts, documents=documents)
    assert_same(resumed, whole)
    assert resumed.n_iter_ == 18
    assert not path.exists()


def test_a_checkpoint_of_other_documents_is_refused(segmented, tmp_path, monkeypatch):
    counts, documents, _ = segmented
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr(ldcc.Checkpoint, "remove", lambda self: None)
    small(checkpoint=tmp_path / "c").fit(counts, documents=documents)
    for other in (None, documents[::-1]):
        with pytest.raises(ValueError, match="belongs to another fit"):
            small(checkpoint=tmp_path / "c").fit(counts, documents=other)


def interrupted_at(sweep, monkeypatch, model, counts, documents):
    @contextlib.contextmanager
    def press(*_, **__):
        yield lambda to, note: signal.raise_signal(signal.SIGINT) if to == sweep else None

    with monkeypatch.context() as patched, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        patched.setattr("topicfold.engine.loop.progress", press)
        model.fit(counts, documents=documents)
    assert any("the model so far is kept" in str(warning.message) for warning in caught)
    return model


@pytest.mark.parametrize("sweep", [1, 6, 20, 21, 24])
def test_ctrl_c_keeps_a_model_and_resumes(segmented, tmp_path, monkeypatch, sweep):
    counts, documents, _ = segmented
    model = small(n_chains=2, checkpoint=tmp_path / "c")
    interrupted_at(sweep, monkeypatch, model, counts, documents)
    assert model.interrupted_
    assert not model.converged_
    assert model.n_iter_ == sweep == len(model.history_)
    assert proper(model)
    if sweep <= 21:  # one sample: topics are whole counts and eta
        n_tokens = model.topic_weight_.astype(float) * counts.sum()
        found = model.topic_word_ * (n_tokens + 12 * model.eta)[:, None] - model.eta
        assert np.allclose(found, found.round(), atol=1e-2)
        assert np.array_equal(found.round().sum(axis=0), counts.sum(axis=0))
    resumed = small(n_chains=2, checkpoint=tmp_path / "c").fit(counts, documents=documents)
    assert_same(resumed, small(n_chains=2).fit(counts, documents=documents))
    assert not resumed.interrupted_


# ---- the tree -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree(corpus):
    """Three document-topics, 4 to 6, over four word-topics."""
    return topic_tree(small(3, 4, n_sweeps=40).fit(corpus))


def edges_of(tree):
    return {(int(a), int(b)): float(w) for a, b, w in zip(*tree.edges)}


def test_edges_are_the_shares_of_alpha_above_chance(corpus):
    model = small(3, 4).fit(corpus)
    tree = topic_tree(model)
    share = model.alpha_ / model.alpha_.sum(axis=1, keepdims=True)
    edges = edges_of(tree)
    for k in range(3):
        for l in range(4):
            assert (4 + k, l) in edges or share[k, l] < 0.25 + 1e-9
            assert edges.get((4 + k, l), share[k, l]) == pytest.approx(share[k, l])
        below = tree.parts(4 + k)
        assert [weight for _, weight in below] == sorted((weight for _, weight in below), reverse=True)
        assert dict(below) == {l: weight for (above, l), weight in edges.items() if above == 4 + k}
        assert tree.parts(4 + k, 1) == below[:1]
        assert np.allclose(tree.topic_word[4 + k], share[k] @ model.topic_word_, atol=1e-6)
    assert tree.level.tolist() == [1] * 4 + [2] * 3
    assert tree.parts(0) == []
    assert np.allclose(tree.doc_topic, np.hstack([model.doc_topic_, model.doc_cluster_]))
    assert set(tree.parent[:4]) <= {4, 5, 6}
    assert (tree.parent[4:] == -1).all()


def test_a_word_topic_has_an_edge_from_its_parent(corpus):
    model = small(2, 4).fit(corpus)
    model.alpha_ = np.array([[1.0, 1.0, 0.1, 0.1], [0.1, 1.0, 1.0, 0.1]])  # the last is nowhere above chance
    tree = topic_tree(model)
    assert [(int(tree.parent[l]), l) in edges_of(tree) for l in range(4)] == [True] * 4


def check_edges(tree):
    ids = set(tree.ids.tolist())
    level = dict(zip(tree.ids.tolist(), tree.level.tolist()))
    edges = edges_of(tree)
    assert len(edges) == len(tree.edges[0])
    for above, below in edges:
        assert {above, below} <= ids
        assert (level[above], level[below]) == (2, 1)
    for topic in ids:
        assert 0 <= sum(weight for _, weight in tree.parts(topic)) <= 1 + 1e-6  # shares of a document-topic
    return True


def test_rename_keeps_the_edges(tree):
    renamed = tree.rename({4: "first", 0: "words"})
    assert check_edges(renamed)
    assert edges_of(renamed) == edges_of(tree)
    assert "[first]" in renamed.to_text()


def test_merged_word_topics_have_the_sum_of_their_edges(tree):
    merged, before = tree.merge([1, 3]), edges_of(tree)
    assert check_edges(merged)
    for k in (4, 5, 6):
        expected = before.get((k, 1), 0) + before.get((k, 3), 0)
        assert edges_of(merged).get((k, 1), 0) == pytest.approx(expected)
        assert edges_of(merged).get((k, 0)) == before.get((k, 0))
    assert merged.mapping[3] == 1


def test_merged_word_topics_have_the_sum_of_their_memberships(tree):
    merged = tree.merge([1, 3])
    assert np.allclose(merged.doc_topic[:, merged.level == 1].sum(axis=1), 1, atol=1e-5)


def test_merged_document_topics_have_shares_again(corpus):
    model = small(2, 3).fit(corpus)
    model.alpha_ = np.array([[8.0, 1.0, 1.0], [6.0, 4.0, 0.0001]])
    merged = topic_tree(model).merge([3, 4])
    assert check_edges(merged)
    assert 0.6 <= edges_of(merged)[3, 0] <= 0.8


def test_dropped_topics_take_their_edges_along(tree):
    for gone in (2, 5):
        dropped = tree.drop([gone])
        assert check_edges(dropped)
        assert edges_of(dropped) == {pair: weight for pair, weight in edges_of(tree).items() if gone not in pair}


def test_word_topics_of_a_dropped_document_topic_that_are_below_others_are_not_at_the_top(corpus):
    model = small(2, 2).fit(corpus)
    model.alpha_, model.cluster_weight_ = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([0.9, 0.1])
    dropped = topic_tree(model).drop([2])
    assert dict(dropped.parts(3)) == {0: 0.5, 1: 0.5}
    assert dropped.children() == [3]


def test_levels_alone(tree):
    words, documents = tree.at_levels([1]), tree.at_levels([2])
    assert (len(words), len(documents)) == (4, 3)
    assert edges_of(words) == edges_of(documents) == {}
    assert words.children() == sorted(range(4), key=lambda l: -tree.size[l])
    assert len(words.to_text().splitlines()) == 6
    assert edges_of(tree.at_levels([1, 2])) == edges_of(tree)


def test_text_shows_document_topics_with_their_word_topics(tree):
    lines = tree.to_text().splitlines()[2:]
    expected = []
    for k in tree.children():
        expected.append((k, f"{tree.size[k]:.1%}"))
        expected += [(l, f"{weight:.2f}") for l, weight in tree.parts(k, 6)]
    assert [(int(line.split()[0]), line.split()[1]) for line in lines] == expected
    assert set(tree.children()) == {4, 5, 6}
    best = tree.words(tree.parts(4)[0][0])[0].word
    assert best in tree.to_text()


def test_json_has_the_parts(tree):
    written = json.loads(tree.to_json())
    assert [topic["id"] for topic in written["topics"]] == list(range(7))
    for topic in written["topics"]:
        assert [tuple(part) for part in topic["parts"]] == tree.parts(topic["id"])
    assert json.loads(tree.merge([0, 1]).drop([4]).at_levels([1]).to_json())["topics"]


def test_saved_and_loaded_with_the_same_tree(corpus, tmp_path):
    model = small(3, 4, n_chains=2).fit(corpus)
    save(model, tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    assert_same(loaded, model)
    one, other = topic_tree(model), topic_tree(loaded)
    assert one.to_json() == other.to_json()
    assert edges_of(one) == edges_of(other)
    assert np.array_equal(one.doc_topic, other.doc_topic)
    assert loaded.score(corpus) == model.score(corpus)
    assert np.array_equal(loaded.predict(corpus), model.predict(corpus))


def test_the_tree_of_another_corpus_has_its_documents(corpus):
    model = small().fit(corpus)
    part = corpus.subset([5, 2, 9])
    tree = topic_tree(model, part)
    assert tree.document_ids == part.ids == ("5", "2", "9")
    assert np.array_equal(tree.doc_topic[:, :3], model.doc_topic_[[5, 2, 9]])
    assert np.array_equal(topic_tree(model, corpus).doc_topic, topic_tree(model).doc_topic)


def test_the_tree_of_a_model_of_rows_and_documents_has_an_id_a_document(segmented):
    counts, documents, _ = segmented
    words = [f"w{w}" for w in range(12)]
    for X in (counts, Corpus.from_counts(counts, words)):  # its ids are those of segments
        tree = topic_tree(small().fit(X, documents=documents))
        assert len(tree.document_ids) == len(tree.doc_topic) == 30
    tree = topic_tree(small().fit(counts, documents=documents))
    assert [name for name, _ in tree.documents(0, 3)] == [
        str(d) for d in np.argsort(-tree.doc_topic[:, 0], kind="stable")[:3]
    ]


# ---- effective sample size ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.5, 0.9])
def test_effective_sample_size_of_an_autoregression(correlation):
    n, found = 20_000, []
    for seed in range(8):
        noise = np.random.default_rng(seed).normal(size=n)
        values = np.zeros(n)
        for t in range(1, n):
            values[t] = correlation * values[t - 1] + noise[t]
        found.append(effective_sample_size(values))
    assert np.mean(found) == pytest.approx(n * (1 - correlation) / (1 + correlation), rel=0.1)


def test_effective_sample_size_does_not_depend_on_scale_or_level():
    values = np.random.default_rng(0).normal(size=500).cumsum()
    size = effective_sample_size(values)
    assert 1 <= size < 50
    assert effective_sample_size(1e6 * values - 3e7) == pytest.approx(size)
    assert effective_sample_size(values[::-1]) == pytest.approx(size)


@pytest.mark.parametrize(("trace", "expected"), [([], 0), ([1.0], 1), ([1.0, 2.0], 2), ([3.0] * 50, 50)])
def test_effective_sample_size_of_little(trace, expected):
    assert effective_sample_size(trace) == expected


def test_effective_sample_size_of_a_constant_that_is_not_a_binary_fraction():
    assert effective_sample_size([0.1] * 49) == 49
