"""HLTA: the fitted model and its topic tree. What holds for every model is in test_models.py."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import operator
import signal
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import naive
import topicfold
from test_latent_tree import check_tree, known_tree
from topicfold import HLTA, Corpus, load, save
from topicfold.engine import loop as fitting
from topicfold.models.hlta import hlta
from topicfold.models.hlta.latent_tree import state_marginals
from topicfold.models.hlta.tree_growth import presence_table
from topicfold.models.hlta.tree_words import sample_documents, words_given_states
from topicfold.topics.tree import TopicTree

METHODS = pytest.mark.parametrize("method", ["pem", "bi"])
EMISSIONS = pytest.mark.parametrize("emission", ["presence", "counts"])
LEARNED = [
    "topic_word_",
    "doc_topic_",
    "history_",
    "topic_weight_",
    "topic_level_",
    "topic_parent_",
    "latent_parent_",
    "latent_level_",
    "n_states_",
    "word_parent_",
    "word_table_",
    "latent_table_",
]


def small(**parameters):
    return HLTA(**{"verbose": False, **parameters})


def check_model(model):
    """The tree is valid and what is learned agrees with it."""
    check_tree(model._tree(), emission=model.emission)
    n_topics = int((model.n_states_ - 1).sum())
    assert len(model.topic_word_) == len(model.topic_level_) == len(model.topic_parent_) == n_topics
    assert (model.topic_state_ > 0).all()
    assert np.array_equal(model.topic_level_, model.latent_level_[model.topic_latent_])
    marginal = state_marginals(model._tree())
    np.testing.assert_allclose(model.topic_weight_, marginal[model.topic_latent_, model.topic_state_], rtol=1e-5)
    for k, above in enumerate(model.topic_parent_):
        if above >= 0:
            assert model.topic_latent_[above] == model.latent_parent_[model.topic_latent_[k]]
            assert model.topic_level_[above] > model.topic_level_[k]
        else:
            assert model.topic_level_[k] == model.topic_level_.max()
    outside = np.setdiff1d(np.arange(model.n_features_in_), model.word_columns_)
    assert (model.topic_word_[:, outside] == 0).all()
    for array in (model.topic_word_, model.doc_topic_):
        assert np.isfinite(array).all()
        assert ((array >= 0) & (array <= 1 + 1e-5)).all()
    clusters = model.word_clusters()
    assert sorted(functools.reduce(operator.iadd, clusters, [])) == model.word_columns_.tolist()
    effective = model.topic_effective_
    assert effective.shape == model.topic_word_.shape
    assert (np.diff(effective.indptr) > 0).all()
    assert (effective.data > 0).all()


def same(one, other):
    for name in LEARNED:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.topic_effective_ != other.topic_effective_).nnz == 0


@pytest.fixture(scope="module")
def known():
    """3,000 documents of a tree of two levels: two topics, each of three, each of four words."""
    return sample_documents(known_tree(), 3000, "presence", np.random.RandomState(0))


@pytest.fixture(scope="module")
def deep(known):
    """A model of three levels over the known tree with presence, and one of counts."""
    counts = known.copy()
    counts.data = counts.data * (1 + np.arange(len(counts.data)) % 3)
    return {
        emission: small(n_levels=3, emission=emission, max_iter=5).fit(counts[:600])
        for emission in ("presence", "counts")
    }


@pytest.fixture(scope="module")
def corpus(known):
    words = [f"{name}{i}" for name in ("cat", "dog", "fox", "sun", "sea", "sky") for i in range(4)]
    texts = [" ".join(words[w] for w in known.indices[a:b]) for a, b in zip(known.indptr[:400], known.indptr[1:])]
    texts = [text for text in texts if text]
    return Corpus.from_texts(texts, ids=[f"d{i}" for i in range(len(texts))])


@pytest.fixture(scope="module")
def multi_state():
    """Three groups of four words, each of a latent with three states that often agrees with the others."""
    rng = np.random.default_rng(0)
    shares = np.array([[0.03, 0.03, 0.03, 0.03], [0.9, 0.85, 0.1, 0.4], [0.4, 0.9, 0.9, 0.85]])
    state = rng.integers(0, 3, (900, 3))
    state[:300] = state[:300, :1]
    return sp.csr_array((rng.random((900, 12)) < np.hstack([shares[column] for column in state.T])).astype(int))


# ---- structure ------------------------------------------------------------------------------------------------------


@METHODS
@pytest.mark.parametrize("seed", range(4))
def test_a_known_tree_is_recovered(method, seed):
    n = 2500 if method == "pem" else 1200
    documents = sample_documents(known_tree(), n, "presence", np.random.RandomState(seed))
    model = small(n_levels=2, method=method, random_state=seed, max_iter=10).fit(documents)
    check_model(model)
    assert sorted(model.word_clusters()) == np.arange(24).reshape(6, 4).tolist()
    assert set(model.latent_level_) == {1, 2}
    above = {int(model.latent_parent_[model.word_parent_[4 * i]]) for i in range(3)}
    beyond = {int(model.latent_parent_[model.word_parent_[4 * i]]) for i in range(3, 6)}
    assert len(above) == len(beyond) == 1
    assert above != beyond
    flat = small(n_levels=1, method=method, random_state=seed, max_iter=10).fit(documents)
    assert flat.score(documents) < model.score(documents) + 0.05
    truth = known_tree()
    exact = hlta.Inference(truth).log_likelihood(documents.astype(float)).mean()
    assert abs(model.score(documents) - exact) < 0.15
    first = np.array([model.word_parent_[4 * i] for i in range(6)])
    found = model.word_table_[np.arange(24)]
    np.testing.assert_allclose(found, np.tile([0.05, 0.8], (24, 1)), atol=0.12)
    np.testing.assert_allclose(state_marginals(model._tree())[first, 1], state_marginals(truth)[0, 1], atol=0.1)


@pytest.mark.parametrize("n_levels", [1, 2, 3])
def test_levels_are_as_many_as_asked(known, n_levels):
    model = small(n_levels=n_levels, max_iter=3).fit(known)
    check_model(model)
    n_top = (model.latent_level_ == model.latent_level_.max()).sum()
    assert model.latent_level_.max() == n_levels or (model.latent_level_.max() < n_levels and n_top <= 2)
    assert sorted(model.word_clusters()) == np.arange(24).reshape(6, 4).tolist()
    if n_levels == 1:
        assert (model.topic_parent_ == -1).all()


def test_levels_are_added_until_the_top_is_small(known):
    assert small(max_iter=3).fit(known).latent_level_.max() == 1
    for top_size in (1, 2, 5):
        model = small(top_size=top_size, max_iter=3).fit(known)
        check_model(model)
        assert (model.latent_level_ == model.latent_level_.max()).sum() <= top_size
    assert model.latent_level_.max() == 2


@METHODS
@EMISSIONS
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize(
    "X",
    {
        "one word": np.array([[1], [0], [3]]),
        "one word everywhere": np.ones((4, 1), int),
        "two words": np.array([[1, 0], [0, 1], [2, 2], [0, 0]]),
        "three words": np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1], [2, 0, 5]]),
        "constant words": np.hstack([np.ones((30, 2), int), np.random.default_rng(0).integers(0, 2, (30, 4))]),
        "only constant words": np.ones((40, 7), int),
        "duplicate words": np.repeat(np.random.default_rng(1).integers(0, 3, (40, 2)), 4, axis=1),
        "words in no document": np.hstack([np.zeros((30, 2), int), np.random.default_rng(2).integers(0, 2, (30, 5))]),
        "empty documents": np.vstack([np.random.default_rng(3).integers(0, 2, (20, 6)), np.zeros((20, 6), int)]),
        "one document": np.array([[1, 2, 0, 1, 4, 1]]),
        "two documents": np.array([[1, 2, 0, 1, 4, 1], [0, 0, 3, 1, 0, 1]]),
        "equal documents": np.tile([1, 0, 2, 1, 1, 0], (25, 1)),
        "a word a document": np.eye(12, dtype=int),
        "all words but one": 1 - np.eye(12, dtype=int),
        "large counts": np.random.default_rng(4).integers(0, 2, (30, 8)) * 30_000,
    }.items(),
    ids=lambda item: item[0],
)
def test_odd_corpora(X, method, emission, smoothing):
    X = X[1]
    model = small(method=method, emission=emission, smoothing=smoothing, max_iter=10, n_levels=2).fit(X)
    check_model(model)
    assert np.isfinite(model.score(X))
    assert model.word_columns_.tolist() == np.flatnonzero(X.sum(axis=0)).tolist()
    assert np.isfinite(model.log_likelihood(np.zeros_like(X))).all()
    assert model.transform(np.zeros_like(X)).shape == (len(X), len(model.topic_word_))
    assert np.isfinite(model.transform(np.ones_like(X))).all()
    assert model.sample(3, random_state=0).shape == (3, X.shape[1])
    tree = model.topic_tree()
    assert len(tree) == len(model.topic_word_)
    assert smoothing == 0 or all(tree.words(int(topic)) for topic in tree.ids)
    assert np.allclose(model.doc_topic_, model.transform(X))


def test_duplicate_words_are_in_one_cluster():
    columns = np.repeat(np.random.default_rng(1).integers(0, 2, (200, 4)), 4, axis=1)
    assert sorted(small().fit(columns).word_clusters()) == np.arange(16).reshape(4, 4).tolist()


# ---- likelihood -----------------------------------------------------------------------------------------------------


@METHODS
@EMISSIONS
def test_likelihood_is_enumeration(method, emission, multi_state):
    X = multi_state.toarray()[:300]
    X = np.insert(X, 2, 0, axis=1)  # a word that no document has
    if emission == "counts":
        X *= np.random.default_rng(0).integers(1, 4, X.shape)
    model = small(method=method, emission=emission, n_levels=1, max_iter=8).fit(X)
    check_model(model)
    tree, new = model._tree(), X[[0, 5, 9, 20, 33]]
    new[0] = 0
    expected = naive.tree_enumeration(tree, new[:, model.word_columns_], emission)
    np.testing.assert_allclose(model.log_likelihood(new), expected[0], rtol=1e-8)
    assert model.score(new) == pytest.approx(expected[0].mean())
    found = model.transform(new)
    np.testing.assert_allclose(found, expected[1][:, model.topic_latent_, model.topic_state_], atol=1e-5)
    assert np.array_equal(model.predict(new), found > 0.5)
    mask = np.random.default_rng(1).random(X.shape[1]) < 0.5
    seen = naive.tree_enumeration(tree, new[:, model.word_columns_], emission, mask[model.word_columns_])
    np.testing.assert_allclose(model.log_likelihood(new, words=mask), seen[0], rtol=1e-8)
    none = np.zeros(X.shape[1], bool)
    np.testing.assert_allclose(model.log_likelihood(new, words=none), 0, atol=1e-12)
    np.testing.assert_allclose(model.log_likelihood(new, words=~none), model.log_likelihood(new))
    # P(a word | the words seen) is a ratio of two likelihoods where the word was not looked at
    present = model.word_probability(new, words=mask)
    assert present.shape == new.shape
    assert (present[:, 2] == 0).all()
    for column in model.word_columns_[~mask[model.word_columns_]]:
        absent, also = new.copy(), mask.copy()
        absent[:, column], also[column] = 0, True
        ratio = np.exp(model.log_likelihood(absent, words=also) - model.log_likelihood(new, words=mask))
        np.testing.assert_allclose(present[:, column], 1 - ratio, atol=1e-5)
    assert not np.allclose(model.word_probability(new)[:, 0], present[:, 0])


def test_likelihoods_of_all_documents_sum_to_one(multi_state):
    model = small(n_levels=1, max_iter=4).fit(multi_state)
    everything = (np.arange(1 << 12)[:, None] >> np.arange(12)) & 1
    assert np.exp(model.log_likelihood(everything)).sum() == pytest.approx(1)
    seen = np.arange(12) < 3
    assert np.exp(model.log_likelihood(everything[:8], words=seen)).sum() == pytest.approx(1)


@pytest.mark.parametrize("words", [np.ones(3, bool), np.ones(24), [0, 1], "all"])
def test_a_mask_that_is_none_is_refused(deep, known, words):
    with pytest.raises(ValueError, match="words: expected a mask of 24 booleans"):
        deep["presence"].log_likelihood(known[:3], words=words)


def test_presence_does_not_look_at_how_often(known):
    counts = known[:300].copy()
    counts.data = np.arange(1, 1 + len(counts.data))
    same(small(max_iter=3).fit(known[:300]), small(max_iter=3).fit(counts))
    same(small(max_iter=3).fit(known[:300]), small(max_iter=3).fit(counts * 0.25))


def test_counts_refuse_fractions(known):
    with pytest.raises(ValueError, match=r"emission='counts' needs whole counts, and X holds 0\.5"):
        small(emission="counts").fit(known[:50] * 0.5)
    model = small(emission="counts", max_iter=2).fit(known[:50])
    with pytest.raises(ValueError, match=r"whole counts, and X holds 0\.5"):
        model.score(known[:50] * 0.5)


@METHODS
@EMISSIONS
def test_samples_are_as_the_model_says(method, emission, multi_state):
    X = multi_state * (1 if emission == "presence" else 2)
    model = small(method=method, emission=emission, n_levels=2, max_iter=5, min_df=2).fit(X)
    drawn = model.sample(15_000, random_state=0)
    assert drawn.shape == (15_000, 12)
    tree = model._tree()
    expected = (state_marginals(tree)[tree.word_parent] * tree.word_table).sum(axis=1)
    np.testing.assert_allclose(drawn.mean(axis=0)[model.word_columns_], expected, atol=0.04)
    assert (model.sample(50, random_state=3) != model.sample(50, random_state=3)).nnz == 0
    # memberships of drawn documents are on average the topics' weights
    np.testing.assert_allclose(model.transform(drawn).mean(axis=0), model.topic_weight_, atol=0.03)
    # P(w | topic) among drawn documents, each counted by its membership
    shares = model.transform(drawn).T @ (drawn > 0).toarray() / model.transform(drawn).sum(axis=0)[:, None]
    often = model.topic_weight_ > 0.03
    np.testing.assert_allclose(shares[often], model.topic_word_[often], atol=0.07)


# ---- fitting --------------------------------------------------------------------------------------------------------


@METHODS
@EMISSIONS
def test_em_never_falls_without_smoothing(method, emission, multi_state):
    X = multi_state * (1 if emission == "presence" else 3)
    model = small(method=method, emission=emission, smoothing=0.0, n_levels=1, n_relocations=0, tol=0, max_iter=30)
    history = model.fit(X).history_
    assert (np.diff(history) > -1e-9 * abs(history[0])).all()
    assert history[-1] <= model.score(X) + 1e-9
    assert model.n_iter_ == len(history)


def test_history_is_the_likelihood_before_each_pass(known):
    model = small(max_iter=4, tol=0).fit(known[:400])
    more = small(max_iter=5, tol=0).fit(known[:400])
    assert more.n_iter_ == model.n_iter_ + 1
    assert more.history_[-1] == pytest.approx(model.score(known[:400]))
    counted = small(max_iter=4, tol=0, emission="counts").fit(known[:400])
    assert len(counted.history_) == 4
    more = small(max_iter=5, tol=0, emission="counts").fit(known[:400])
    assert more.history_[-1] == pytest.approx(counted.score(known[:400]))


@EMISSIONS
def test_stepwise_em_ends_near_em(known, emission):
    options = {"emission": emission, "max_iter": 15, "tol": 0}
    whole = small(batch_size=None, **options).fit(known)
    steps = small(batch_size=500, **options).fit(known)
    assert abs(steps.score(known) - whole.score(known)) < 0.01
    np.testing.assert_allclose(steps.topic_weight_, whole.topic_weight_, atol=0.03)
    assert np.array_equal(small(batch_size=3000, **options).fit(known).topic_word_, whole.topic_word_)


@pytest.mark.parametrize("batch_size", [2999, 1499, 1000])
def test_a_last_batch_of_a_few_documents_counts_for_a_few(known, batch_size):
    """One document must not weigh as much as the batches before it."""
    options = {"max_iter": 3, "tol": 0}
    whole = small(batch_size=None, **options).fit(known)
    steps = small(batch_size=batch_size, **options).fit(known)
    assert abs(steps.score(known) - whole.score(known)) < 0.03


@pytest.mark.parametrize("batch_size", [None, 500])
def test_em_goes_on_where_the_tree_was_built_on_a_sample(known, monkeypatch, batch_size):
    """The likelihoods of the sample and of all documents are not one history: the first pass over all of them may be
    lower than the last over the sample, and is no sign that EM has converged."""
    monkeypatch.setattr(hlta, "_STRUCTURE_DOCUMENTS", 300)
    model = small(batch_size=batch_size, tol=1e-6, max_iter=6).fit(known)
    grown = small(batch_size=batch_size, tol=1e-6, max_iter=1).fit(known)
    check_model(model)
    assert model.n_iter_ > grown.n_iter_, "EM on all documents stopped after one pass"
    assert model.score(known) > grown.score(known)


@METHODS
@pytest.mark.parametrize("options", [{}, {"emission": "counts"}, {"batch_size": 70}], ids=str)
def test_threads_give_the_same_bits(method, options, known):
    options = {"method": method, "n_levels": 2, "max_iter": 4, **options}
    counts = known[:300] * 2
    fits = [small(n_jobs=n_jobs, **options).fit(counts) for n_jobs in (1, 2, 4)]
    for other in fits[1:]:
        same(fits[0], other)
        assert np.array_equal(fits[0].log_likelihood(counts), other.log_likelihood(counts))
        assert np.array_equal(fits[0].word_probability(counts), other.word_probability(counts))


class Killed(Exception):
    pass


def killed_after(monkeypatch, n_writes):
    """Every step writes a checkpoint, and the fit dies after so many."""
    written, calls = fitting.Checkpoint.write, []

    def write(self, *arguments, **options):
        written(self, *arguments, **options)
        calls.append(1)
        if len(calls) == n_writes:
            raise Killed

    monkeypatch.setattr(fitting, "CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr(fitting.Checkpoint, "write", write)


@METHODS
@pytest.mark.parametrize(
    "options", [{}, {"emission": "counts"}, {"batch_size": 70}, {"emission": "counts", "batch_size": 70}], ids=str
)
def test_killed_anywhere_and_resumed_ends_in_the_same_bits(method, options, known, tmp_path, monkeypatch):
    counts = known[:300].copy()
    counts.data = 1 + np.arange(len(counts.data)) % 3
    options = {"method": method, "n_levels": 2, "max_iter": 6, "tol": 0, **options}
    whole = small(**options).fit(counts)
    with monkeypatch.context() as patch:
        killed_after(patch, 10_000)
        same(whole, small(checkpoint=tmp_path / "all", **options).fit(counts))
    grown = len(small(**{**options, "emission": "presence"}).fit(counts).history_) - 6
    for n_writes in (1, 5, 6, 9, grown, grown + 2, grown + 4):
        path = tmp_path / f"checkpoint{n_writes}"
        with monkeypatch.context() as patch:
            killed_after(patch, n_writes)
            with pytest.raises(Killed):
                small(checkpoint=path, **options).fit(counts)
        assert path.exists()
        same(whole, small(checkpoint=path, **options).fit(counts))
        assert not path.exists()


@contextlib.contextmanager
def press(step):
    """Ctrl-C in a step of the loop."""
    before = fitting.progress

    @contextlib.contextmanager
    def progress(*_, **__):
        yield lambda to, note: signal.raise_signal(signal.SIGINT) if to == step else None

    fitting.progress = progress
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    finally:
        fitting.progress = before
    assert any("the model so far is kept" in str(warning.message) for warning in caught)


@METHODS
@EMISSIONS
@pytest.mark.parametrize("step", [1, 5, 7])
def test_ctrl_c_while_growing_keeps_a_usable_model(method, emission, step, known, tmp_path):
    counts = known[:400] * 4
    options = {"method": method, "emission": emission, "n_levels": 2, "max_iter": 20}
    with press(step):
        model = small(checkpoint=tmp_path / "c", **options).fit(counts)
    assert model.interrupted_
    check_model(model)
    assert (tmp_path / "c").exists()
    # the tables are those of the emission: what the model expects of a word is about what the documents have
    tree = model._tree()
    expected = (state_marginals(tree)[tree.word_parent] * tree.word_table).sum(axis=1)
    mean = counts.mean(axis=0) if emission == "counts" else (counts > 0).mean(axis=0)
    np.testing.assert_allclose(expected, mean[model.word_columns_], rtol=0.2)
    assert len(model.topic_tree()) == len(model.topic_word_)
    resumed = small(checkpoint=tmp_path / "c", **options).fit(counts)
    same(resumed, small(**options).fit(counts))
    assert not resumed.interrupted_


def test_ctrl_c_in_the_last_step_of_growing_leaves_a_checkpoint(known, tmp_path):
    options = {"n_levels": 1, "n_relocations": 0, "max_iter": 5, "tol": 0}
    whole = small(**options).fit(known[:300])
    with press(whole.n_iter_ - 5):
        model = small(checkpoint=tmp_path / "c", **options).fit(known[:300])
    assert model.interrupted_
    assert (tmp_path / "c").exists(), "the tree that was grown is lost"
    same(small(checkpoint=tmp_path / "c", **options).fit(known[:300]), whole)


def test_ctrl_c_in_the_polish_and_resume(known, tmp_path):
    options = {"emission": "counts", "n_levels": 1, "max_iter": 12, "tol": 0}
    with press(9):
        model = small(checkpoint=tmp_path / "c", **options).fit(known[:300])
    assert model.interrupted_
    same(small(checkpoint=tmp_path / "c", **options).fit(known[:300]), small(**options).fit(known[:300]))


def test_seeds(known):
    one, again = small(random_state=3, max_iter=3).fit(known[:300]), small(random_state=3, max_iter=3).fit(known[:300])
    same(one, again)
    state = np.random.RandomState(0)
    small(random_state=state, max_iter=1).fit(known[:100])


@pytest.mark.parametrize("n_relocations", [0, 1, 4])
def test_relocations(known, n_relocations):
    model = small(n_relocations=n_relocations, n_levels=2, max_iter=3).fit(known[:500])
    check_model(model)


# ---- choosing words -------------------------------------------------------------------------------------------------


def chosen_words(counts, n_words, min_df):
    """By mean length-normalised tf x idf, word by word."""
    frequency = (counts > 0).sum(axis=0)
    score = np.zeros(counts.shape[1])
    for row in counts:
        if row.sum() > 0:
            score += row / row.sum()
    score *= np.log(len(counts) / np.maximum(frequency, 1))
    candidates = [w for w in range(counts.shape[1]) if frequency[w] >= min_df]
    return sorted(sorted(candidates, key=lambda w: -score[w])[:n_words])


@pytest.mark.parametrize("scale", [1, 0.0001])
@pytest.mark.parametrize(("n_words", "min_df"), [(5, 1), (12, 30), (3, 60), (100, 1), (1, 1), (20, 80)])
def test_words_are_chosen_by_tf_idf(sampled, n_words, min_df, scale):
    # how long a document is does not matter, be it in tokens or in parts of one
    counts = sampled.toarray() * np.random.default_rng(0).integers(1, 50, (400, 1)) * scale
    counts[7] = 0
    expected = chosen_words(counts, n_words, min_df)
    model = small(n_words=n_words, min_df=min_df, max_iter=1, n_relocations=0).fit(counts)
    assert model.word_columns_.tolist() == expected
    assert np.array_equal(model.word_frequency_, (counts > 0).sum(axis=0))
    assert model.transform(counts).shape[0] == 400
    check_model(model)
    other = counts.copy()
    other[:, np.setdiff1d(np.arange(30), expected)] += 1  # words out of the tree say nothing
    assert np.array_equal(model.transform(other), model.transform(counts))
    assert np.array_equal(model.log_likelihood(other), model.log_likelihood(counts))


def test_min_df_alone_and_too_high(sampled):
    frequency = (sampled > 0).sum(axis=0)
    model = small(min_df=50, max_iter=1).fit(sampled)
    assert model.word_columns_.tolist() == np.flatnonzero(frequency >= 50).tolist()
    with pytest.raises(ValueError, match=rf"min_df=401 .*the most frequent is in {frequency.max()} documents: lower"):
        small(min_df=401).fit(sampled)


def test_too_many_words_are_refused(sampled, monkeypatch):
    monkeypatch.setattr(hlta, "_MOST_WORDS", 20)
    with pytest.raises(ValueError, match="choose the best with n_words"):
        small().fit(sampled)
    assert len(small(n_words=20, max_iter=1).fit(sampled).word_columns_) == 20


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "n_levels": [0, -1, 1.5, True, "2"],
        "top_size": [0, None, 2.0],
        "island_size": [2, None, "15"],
        "delta": [-1, np.nan, np.inf, "3", None],
        "method": ["PEM", None, 1],
        "emission": ["binary", None],
        "n_words": [0, 2.5, "all"],
        "min_df": [0, 0.5, None],
        "n_relocations": [-1, None, 1.5],
        "smoothing": [-0.1, np.nan, None, "1"],
        "max_iter": [0, None, 2.5],
        "tol": [-1, np.nan, None],
        "batch_size": [0, -5, "all", 2.5, True],
        "n_jobs": [0, "two", 1.5],
    }.items(),
)
def test_bad_parameters_are_named(name, values, sampled):
    for value in values:
        with pytest.raises(ValueError, match=name):
            small(**{name: value}).fit(sampled)


# ---- topics ---------------------------------------------------------------------------------------------------------


def words_of(tree, topic, n=1000):
    return [word.word for word in tree.words(int(topic), n)]


@EMISSIONS
def test_topics_have_effective_words_by_discerning_index(deep, emission):
    model = deep[emission]
    check_model(model)
    tree = model.topic_tree(repeat=True)
    presence = presence_table(model._tree(), emission)
    on, marginal = words_given_states(presence), state_marginals(presence)
    for k in range(len(tree)):
        z, s = model.topic_latent_[k], model.topic_state_[k]
        shown = tree.words(k, 1000)
        index = [naive.discerning_index(on[z].astype(float), marginal[z], s, int(word.word[5:])) for word in shown]
        np.testing.assert_allclose([word.score for word in shown], index, atol=1e-7)
        assert all(a >= b - 1e-12 for a, b in itertools.pairwise(index))
        for word in shown:
            assert word.probability == pytest.approx(on[z, s, int(word.word[5:])], rel=1e-5)
    assert np.allclose(tree.size, model.doc_topic_.mean(axis=0), atol=1e-6)


def subtree_words(model, z):
    own = set(model.word_columns_[model.word_parent_ == z].tolist())
    for child in np.flatnonzero(model.latent_parent_ == z):
        if model.latent_level_[child] < model.latent_level_[z]:
            own |= subtree_words(model, child)
    return own


@EMISSIONS
def test_words_of_a_topic_are_below_it_and_more_coverage_shows_more(deep, emission, known):
    model = deep[emission]
    corpus = Corpus(known[:600].astype(np.int32), vocabulary=tuple(f"word {w}" for w in range(24)))
    trees = {c: model.topic_tree(corpus, coverage=c, repeat=True) for c in (0.2, 0.7, 0.95, 1.0)}
    for k in range(len(model.topic_word_)):
        below = {f"word {w}" for w in subtree_words(model, int(model.topic_latent_[k]))}
        shown = [set(words_of(tree, k)) for tree in trees.values()]
        assert all(words <= below for words in shown)
        assert all(few <= more for few, more in itertools.pairwise(shown))
        assert shown[0]
    assert sum(len(words_of(trees[0.2], k)) for k in range(len(trees[0.2]))) < trees[1.0].word_score.nnz
    for coverage in (0, -1, 1.5, np.nan):
        with pytest.raises(ValueError, match="coverage="):
            model.topic_tree(corpus, coverage=coverage)
    with pytest.raises(ValueError, match="corpus to measure it on"):
        model.topic_tree(coverage=0.5)


@EMISSIONS
def test_levels_and_parents(deep, emission):
    model = deep[emission]
    tree = model.topic_tree(repeat=True)
    assert set(tree.level) == set(range(1, tree.level.max() + 1))
    assert tree.level.max() > 1
    assert np.array_equal(tree.parent, model.topic_parent_)
    for topic in tree.ids.tolist():
        for child in tree.children(topic):
            assert tree.level[child] < tree.level[topic]
    for levels in ([1], [tree.level.max()], [1, tree.level.max()]):
        part = model.topic_tree(levels=levels, repeat=True)
        assert set(part.level) == set(levels)
        assert part.ids.tolist() == [k for k in tree.ids.tolist() if tree.level[k] in levels]
        for row, topic in enumerate(part.ids.tolist()):
            above = int(tree.parent[topic])
            while above >= 0 and tree.level[above] not in levels:
                above = int(tree.parent[above])
            assert part.parent[row] == above
            assert words_of(part, topic) == words_of(tree, topic)
        assert len(part.to_text().splitlines()) == 2 + len(part)
    for levels in ([], [9], [1, 0]):
        with pytest.raises(ValueError, match="levels="):
            model.topic_tree(levels=levels)


def three_levels():
    """Topic 2 above 1 above 0, each with all of thirty words, ranked alike."""
    scores = np.tile(np.arange(30, 0, -1.0), (3, 1))
    return TopicTree(
        ids=np.arange(3),
        parent=np.array([1, 2, -1]),
        level=np.array([1, 2, 3]),
        size=np.ones(3),
        topic_word=np.full((3, 30), 0.5),
        doc_topic=np.ones((2, 3)),
        word_frequency=np.ones(30),
        vocabulary=tuple(f"w{i}" for i in range(30)),
        document_ids=("a", "b"),
        word_score=sp.csr_array(scores),
        exclusive=False,
    )


def check_no_repeats(tree, shown=10, least=2):
    """What a topic shows its parent does not show, but where too few words would be left."""
    for row, topic in enumerate(tree.ids.tolist()):
        if tree.parent[row] >= 0:
            above = set(words_of(tree, tree.parent[row], shown))
            own = words_of(tree, topic)
            repeated = [word for word in own if word in above]
            assert not repeated or len(own) - len(repeated) < least, (topic, own, above)


def test_a_topic_does_not_repeat_what_the_one_above_shows():
    tree = three_levels().without_repeated_words()
    assert words_of(tree, 2, 10) == [f"w{i}" for i in range(10)]
    assert words_of(tree, 1, 10) == [f"w{i}" for i in range(10, 20)]
    check_no_repeats(tree)  # topic 1 shows w10 to w19 now, so topic 0 must not
    few = three_levels().without_repeated_words(shown=29)
    assert len(words_of(few, 1)) == 30  # one word would be left


@EMISSIONS
def test_no_repeats_by_default(deep, emission):
    model = deep[emission]
    check_no_repeats(model.topic_tree())
    check_no_repeats(model.topic_tree(levels=[1, int(model.topic_level_.max())]))
    full, short = model.topic_tree(repeat=True), model.topic_tree()
    for topic in full.ids.tolist():
        assert set(words_of(short, topic)) <= set(words_of(full, topic))
        assert words_of(short, topic)
    assert np.array_equal(full.topic_word, short.topic_word)


@pytest.mark.parametrize("least", [0.5, 0.9])
def test_hlta_json(deep, least):
    tree = deep["presence"].topic_tree()
    nodes, topics = (json.loads(text) for text in tree.to_hlta_json(n_words=5, least=least))
    found = []

    def visit(node, level):
        assert node["data"]["level"] < level
        assert node["data"]["name"] == node["id"]
        found.append(node)
        for child in node["children"]:
            visit(child, node["data"]["level"])

    for node in nodes:
        visit(node, 99)
    assert len(found) == len(tree) == len({node["id"] for node in found})
    assert {entry["topic"] for entry in topics} == {node["id"] for node in found}
    assert len(topics) == len(tree)
    by_text = {" ".join(words_of(tree, topic, 5)): topic for topic in tree.ids.tolist()}
    documents = {entry["topic"]: entry["doc"] for entry in topics}
    for node in found:
        topic = by_text[node["text"]]
        assert node["data"]["percentage"] == pytest.approx(tree.size[topic])
        assert [child["text"] for child in node["children"]] == [
            " ".join(words_of(tree, child, 5)) for child in tree.children(topic)
        ]
        members = np.flatnonzero(tree.doc_topic[:, topic] >= least)
        assert {name for name, _ in documents[node["id"]]} == {tree.document_ids[d] for d in members}
        shares = [share for _, share in documents[node["id"]]]
        assert shares == sorted(shares, reverse=True)


@METHODS
@EMISSIONS
def test_saved_and_loaded_has_the_same_topics(corpus, tmp_path, method, emission):
    model = small(method=method, emission=emission, n_levels=2, max_iter=3).fit(corpus)
    save(model, tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    same(model, loaded)
    assert loaded.topic_tree().to_json() == model.topic_tree().to_json()
    assert loaded.topic_tree(corpus).to_hlta_json() == model.topic_tree(corpus).to_hlta_json()
    assert str(loaded.topic_tree(levels=[2])) == str(model.topic_tree(levels=[2]))
    assert loaded.word_clusters() == model.word_clusters()
    drawn = loaded.sample(20, random_state=1)
    assert (drawn != model.sample(20, random_state=1)).nnz == 0
    some = corpus.counts[:9]
    assert np.array_equal(loaded.log_likelihood(some), model.log_likelihood(some))
    coverage = loaded.topic_tree(corpus, coverage=0.5).to_json()
    assert coverage == model.topic_tree(corpus, coverage=0.5).to_json()


def test_topic_tree_search_and_other_documents(corpus):
    model = small(n_levels=2, max_iter=5).fit(corpus)
    tree = topicfold.topic_tree(model, corpus)
    assert str(tree) == str(model.topic_tree())
    assert tree.document_ids == corpus.ids
    assert str(topicfold.topic_tree(model)) == str(tree)
    cats = {"cat0", "cat1", "cat2", "cat3"}
    assert sum(set(words_of(model.topic_tree(repeat=True), k)) <= cats for k in range(len(tree))) >= 1
    text = {id: set() for id in corpus.ids}
    for d, id in enumerate(corpus.ids):
        text[id] = {corpus.vocabulary[w] for w in corpus.counts[[d]].indices}
    hits = topicfold.search(model, "cat0 cat1 cat2 cat3", n=5)
    assert len(hits) == 5
    assert all(len(text[hit.id] & cats) >= 2 for hit in hits)
    other = Corpus.from_texts(["cat0 cat1 cat2 zebra", "sun0 sun1 sun2"], ids=["x", "y"])
    small_tree = model.topic_tree(other)
    assert small_tree.document_ids == ("x", "y")
    assert np.array_equal(small_tree.doc_topic, model.transform(other))
    assert small_tree.topics_of("x")[0] != small_tree.topics_of("y")[0]
    dropped = tree.drop([int(tree.children()[0])])
    assert len(dropped) == len(tree) - 1
    first = [int(k) for k in tree.ids[tree.level == 1][:2]]
    merged = tree.merge(first)
    assert len(merged) == len(tree) - 1
    assert set(words_of(merged, first[0])) == set(words_of(tree, first[0])) | set(words_of(tree, first[1]))


def test_select_ranks_parameters(corpus):
    grid = {"delta": [3.0, 500.0]}
    found = topicfold.select(small(max_iter=2), corpus, grid, n_splits=2, n_seeds=1)
    assert found.unit == "nats a document"
    assert found.best in ({"delta": 3.0}, {"delta": 500.0})
    assert all(np.isfinite(row.score) and row.failed is None for row in found.rows)
    assert np.isnan(found.rows[0].perplexity)


def test_topics_of_latents_with_several_states(multi_state):
    model = small(method="bi", n_levels=2, max_iter=10).fit(multi_state)
    check_model(model)
    assert sorted(model.word_clusters()) == np.arange(12).reshape(3, 4).tolist()
    first = np.flatnonzero(model.latent_level_ == 1)
    assert (model.n_states_[first] == 3).all()
    assert set(model.topic_level_) == {1, 2}
    tree = model.topic_tree(repeat=True)
    assert len(tree) == (model.n_states_ - 1).sum()
    for z in first:
        rows = np.flatnonzero(model.topic_latent_ == z)
        columns = model.word_columns_[model.word_parent_ == z]
        mean = model.topic_word_[rows][:, columns].sum(axis=1)
        assert mean[0] < mean[1]  # states ascend by the words they have
        assert len({tuple(words_of(tree, k)) for k in rows}) == 2  # one base, ranked for each of them
        total = model.doc_topic_[:, rows].sum(axis=1)
        assert (total <= 1 + 1e-5).all()
        assert total.min() < 0.5 < total.max()
    for k in np.flatnonzero(model.topic_level_ == 1):  # the topic above is the one this topic's documents are most in
        y = model.latent_parent_[model.topic_latent_[k]]
        rows = np.flatnonzero(model.topic_latent_ == y)
        together = model.doc_topic_[:, k] @ model.doc_topic_[:, rows]
        best = np.sort(together)
        if len(rows) == 1 or best[-1] > 1.2 * best[-2]:
            assert model.topic_parent_[k] == rows[together.argmax()]
