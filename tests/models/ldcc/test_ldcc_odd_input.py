"""LDCC on odd corpora and fractions, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from ldcc_cases import assert_same, proper, small
from sklearn.exceptions import NotFittedError

from topicfold import LDCC, topic_tree

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
    tree = topic_tree(model)
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
