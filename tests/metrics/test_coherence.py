"""Coherence against a slow twin: Python sets over explicit windows, and the formulas written out pair by pair."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from topicfold.metrics.coherence import MEASURES, coherence, window_counts

coherence_module = import_module("topicfold.metrics.coherence")  # its name in the package is the function's


def as_tokens(documents):
    lengths = [len(document) for document in documents]
    return (
        np.array([word for document in documents for word in document], dtype=np.int32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def naive_windows(documents, window):
    """Every window of every document as a set of words."""
    return [
        set(document[start : start + window])
        for document in documents
        for start in range(max(1, len(document) - window + 1))
    ]


def naive_counts(windows, words):
    return np.array([[sum(a in seen and b in seen for seen in windows) for b in words] for a in words])


def naive_npmi(a, b, windows):
    n = len(windows)
    p_a = sum(a in seen for seen in windows) / n
    p_b = sum(b in seen for seen in windows) / n
    p_ab = sum(a in seen and b in seen for seen in windows) / n
    if p_a == 0 or p_b == 0:
        return 0.0
    if p_ab == 1:
        return 1.0
    return math.log((p_ab + 1e-12) / (p_a * p_b)) / -math.log(p_ab + 1e-12)


def naive_coherence(topic, windows, measure):
    pairs = [(topic[m], topic[l]) for m in range(len(topic)) for l in range(m)]
    if not pairs:
        return math.nan
    if measure == "c_npmi":
        return sum(naive_npmi(a, b, windows) for a, b in pairs) / len(pairs)
    if measure == "c_v":
        vectors = [[naive_npmi(a, b, windows) for b in topic] for a in topic]
        whole = [sum(column) for column in zip(*vectors)]
        cosines = []
        for vector in vectors:
            norms = math.hypot(*vector) * math.hypot(*whole)
            cosines.append(sum(x * y for x, y in zip(vector, whole)) / norms if norms else 0.0)
        return sum(cosines) / len(cosines)
    terms = []
    for later, earlier in pairs:
        both = sum(later in seen and earlier in seen for seen in windows)
        alone = sum(earlier in seen for seen in windows)
        if alone == 0:
            terms.append(0.0)
        elif measure == "u_mass":
            terms.append(math.log((both + 1) / alone))
        else:
            terms.append(math.log((both / len(windows) + 1e-12) / (alone / len(windows))))
    return sum(terms) if measure == "u_mass" else sum(terms) / len(terms)


def random_documents(seed, n_documents=30, n_words=12, longest=40):
    rng = np.random.default_rng(seed)
    return [rng.integers(-1, n_words, rng.integers(0, longest)).tolist() for _ in range(n_documents)]


documents_strategy = st.lists(st.lists(st.integers(-1, 5), max_size=25), max_size=5)


@given(documents_strategy, st.integers(1, 30), st.lists(st.integers(0, 7), unique=True, max_size=8))
@settings(max_examples=300, deadline=None)
def test_window_counts_equal_explicit_windows(documents, window, words):
    windows = naive_windows(documents, window)
    n_windows, together = window_counts(as_tokens(documents), words, window)
    assert n_windows == len(windows)
    assert together.dtype == np.int64
    np.testing.assert_array_equal(together, naive_counts(windows, words).reshape(len(words), len(words)))


@pytest.mark.parametrize("window", [1, 2, 10, 110, 10**18])
def test_window_counts_on_longer_text(window):
    documents = random_documents(0, n_documents=8, n_words=40, longest=400)
    words = [3, 39, 0, 17, 8, 100, 10**15]
    n_windows, together = window_counts(as_tokens(documents), words, window)
    windows = naive_windows(documents, window)
    assert n_windows == len(windows)
    np.testing.assert_array_equal(together, naive_counts(windows, words))


def test_a_word_that_returns_before_it_left_is_not_lost():
    # The first 0 leaves the window while the second stands in it: all windows but the last hold 0.
    _, together = window_counts(as_tokens([[0, 1, 0, 2, 2, 2]]), [0, 1, 2], window=3)
    np.testing.assert_array_equal(together, [[3, 2, 2], [2, 2, 1], [2, 1, 3]])


def test_integer_types_of_tokens_do_not_matter():
    word_ids, indptr = as_tokens(random_documents(1))
    expected = window_counts((word_ids, indptr), [1, 2, 3], 5)[1]
    for type_ in (np.int16, np.int64):
        found = window_counts((word_ids.astype(type_), indptr.astype(np.int32)), np.array([1, 2, 3], np.uint8), 5)[1]
        np.testing.assert_array_equal(found, expected)


TOPICS = [[0, 1, 2], [5, 3, 11, 4, 8], [7], [], [20, 0, 1], [20, 21], [9, 10]]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("window", [None, 1, 4])
@pytest.mark.parametrize("measure", ["c_npmi", "c_v"])
def test_windowed_measures_equal_the_formulas(measure, window, seed):
    documents = random_documents(seed)
    windows = naive_windows(documents, window or {"c_npmi": 10, "c_v": 110}[measure])
    found = coherence(TOPICS, tokens=as_tokens(documents), measure=measure, window=window)
    np.testing.assert_allclose(found, [naive_coherence(t, windows, measure) for t in TOPICS], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("measure", list(MEASURES))
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_document_measures_equal_the_formulas(form, measure, seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.4, (25, 22))
    counts[:, 20:] = 0  # words in no document
    counts[4] = 0
    windows = [set(np.flatnonzero(row)) for row in counts]
    found = coherence(TOPICS, counts=form(counts), measure=measure)
    np.testing.assert_allclose(found, [naive_coherence(t, windows, measure) for t in TOPICS], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("measure", ["c_npmi", "c_v"])
def test_a_window_longer_than_any_document_equals_documents(measure):
    documents = random_documents(2)
    counts = np.zeros((len(documents), 12), int)
    for d, document in enumerate(documents):
        for word in document:
            if word >= 0:
                counts[d, word] += 1
    topics = [[0, 4, 2], [11, 3]]
    by_text = coherence(topics, tokens=as_tokens(documents), measure=measure, window=1000)
    np.testing.assert_array_equal(by_text, coherence(topics, counts=counts, measure=measure))


def test_stored_zeros_and_duplicates_do_not_count_and_input_is_kept():
    counts = sparse.csr_array((np.array([1, 1, 0, 2]), np.array([1, 1, 2, 0]), np.array([0, 3, 4])), shape=(2, 3))
    before = counts.copy()
    topics = [[0, 1], [1, 2]]
    for measure in MEASURES:
        found = coherence(topics, counts=counts, measure=measure)
        np.testing.assert_array_equal(found, coherence(topics, counts=counts.toarray(), measure=measure))
    np.testing.assert_array_equal(counts.indices, before.indices)
    np.testing.assert_array_equal(counts.data, before.data)


def test_limits_of_npmi():
    together = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]])
    always, apart, unseen = coherence([[0, 1], [0, 2], [0, 3]], counts=together, measure="c_npmi")
    assert always == pytest.approx(1)
    assert apart == pytest.approx(-1, abs=0.06)  # epsilon keeps it a little above -1
    assert unseen == 0
    assert coherence([[0, 1]], counts=np.ones((3, 2)), measure="c_npmi")[0] == 1
    assert coherence([[0, 1]], counts=np.ones((3, 2)), measure="c_v")[0] == pytest.approx(1)


def test_many_topics_are_counted_in_groups_with_the_same_result(monkeypatch):
    tokens = as_tokens(random_documents(3))
    expected = coherence(TOPICS, tokens=tokens)
    for most in (1, 4, 6):
        monkeypatch.setattr(coherence_module, "MAX_WORDS", most)
        np.testing.assert_array_equal(coherence(TOPICS, tokens=tokens), expected)


def test_topics_without_pairs_are_nan_and_no_topics_give_no_values():
    assert np.isnan(coherence([[0], []], counts=np.eye(2, dtype=int), measure="u_mass")).all()
    assert coherence([], counts=np.eye(2, dtype=int), measure="u_mass").shape == (0,)


COUNTS = np.eye(3, dtype=int)
TOKENS = as_tokens([[0, 1, 2]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts": COUNTS, "measure": "c_w"}, "u_mass.*got 'c_w'"),
        ({"tokens": TOKENS, "measure": "u_mass"}, "'u_mass' needs counts"),
        ({"measure": "c_v"}, "'c_v' needs counts or tokens"),
        ({"counts": COUNTS, "measure": "u_mass", "window": 3}, "window=3"),
        ({"counts": COUNTS, "measure": "c_v", "window": 3}, "window=3"),
        ({"tokens": TOKENS, "window": 0}, "window=0: expected a whole number, at least 1"),
        ({"tokens": TOKENS, "window": 2.5}, "window=2.5: expected a whole number, at least 1"),
        ({"tokens": TOKENS[0]}, "pair"),
        ({"tokens": (TOKENS[0], np.array([0, 2]))}, "number of tokens, 3"),
        ({"tokens": (TOKENS[0], np.array([0, 3, 2, 3]))}, "number of tokens, 3"),
        ({"tokens": (np.array([0.5]), np.array([0, 1]))}, "word_ids must be a 1-d array of int"),
        ({"tokens": (np.array([], int), np.array([0]))}, "at least one document"),
        ({"counts": -COUNTS}, "not negative"),
        ({"counts": COUNTS * np.nan}, "finite"),
        ({"counts": COUNTS[0]}, "1 dimension"),
        ({"topics": [[0, 3]], "counts": COUNTS}, "topic 0 has word id 3, expected ids from 0 to 2"),
        ({"topics": [[0, 1], [-1, 0]], "tokens": TOKENS}, "topic 1 has word id -1, expected ids 0 or more"),
        ({"topics": [[0, 0]], "tokens": TOKENS}, "topic 0 lists a word twice"),
        ({"topics": [["ball", "team"]], "tokens": TOKENS}, "topic 0 must be a list of integer word ids"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        coherence(**{"topics": [[0, 1]], **arguments})


@pytest.mark.parametrize("words", [[0, 0], [-1], [0.5], [[0, 1]]])
def test_bad_words_are_named(words):
    with pytest.raises(ValueError, match="word"):
        window_counts(TOKENS, words, 2)
