from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from naive import plsa_step, ttmm_step, ttmm_token_topics
from topicfold import TTMM, Corpus, topic_tree
from topicfold.models.ttmm import theme_em


@pytest.fixture(scope="module")
def themed():
    """60 documents of 3 themes that mix 4 topics over 20 words: (counts, theme)."""
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.full(20, 0.2), 4)
    mixes = np.array([[0.8, 0.2, 0, 0], [0, 0.2, 0.8, 0], [0.1, 0, 0.1, 0.8]])
    theme = rng.integers(0, 3, 60)
    return sp.csr_array(np.array([rng.multinomial(40, mixes[h] @ topics) for h in theme])), theme


def random_state_of(n_themes, n_topics, n_words, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "theme_weight": rng.dirichlet(np.ones(n_themes)),
        "theme_topic": rng.dirichlet(np.ones(n_topics), n_themes),
        "word_topic": np.ascontiguousarray(rng.dirichlet(np.ones(n_words), n_topics).T),
    }


def unknown(counts):
    return np.full(counts.shape[0], -1)


@pytest.mark.parametrize("price", [0.0, 1e9], ids=["sparse", "dense"])
@pytest.mark.parametrize("hard", [0.0, 1e9], ids=["hard", "soft"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("block", [30, 10**9])
def test_a_step_is_the_formula(themed, monkeypatch, price, hard, smoothing, block):
    monkeypatch.setattr(theme_em, "_SPARSE_PRICE", price)
    monkeypatch.setattr(theme_em, "_TWO_SPARSE_PRICE", hard)
    monkeypatch.setattr(theme_em, "_VALUES_A_BLOCK", block)
    counts = themed[0][:15].astype(float)
    state = random_state_of(3, 4, 20)
    weight, theme_topic, topic_word, logs = ttmm_step(
        counts.toarray(), state["theme_weight"], state["theme_topic"], state["word_topic"].T, smoothing
    )
    step = theme_em.ThemeStep(counts, 3, smoothing, unknown(counts), 2)
    prior = smoothing * np.log(state["word_topic"]).sum()
    assert step(state) * counts.sum() == pytest.approx(logs.sum() + prior)
    assert np.allclose(state["theme_weight"], weight)
    assert np.allclose(state["theme_topic"], theme_topic)
    assert np.allclose(state["word_topic"].T, topic_word)


def test_em_never_falls_without_smoothing(sampled):
    for init in ("data", "random"):
        model = TTMM(6, 4, init=init, smoothing=0, tol=0, dtype="float64", random_state=0, verbose=False).fit(sampled)
        assert (np.diff(model.history_) > -1e-12).all()


def test_the_objective_never_falls_with_smoothing(sampled):
    model = TTMM(6, 4, smoothing=0.1, tol=0, dtype="float64", random_state=0, verbose=False).fit(sampled)
    assert (np.diff(model.history_) > -1e-12).all()


@pytest.mark.parametrize(("n_themes", "n_topics"), [(1, 5), (5, 1)])
def test_one_theme_or_one_topic_is_the_unigram(sampled, n_themes, n_topics):
    model = TTMM(
        n_themes, n_topics, smoothing=0, tol=0, max_iter=200, dtype="float64", random_state=0, verbose=False
    ).fit(sampled)
    frequency = np.asarray(sampled.sum(axis=0)) / sampled.sum()
    unigram = (sampled @ np.log(np.maximum(frequency, 1e-300))).sum()
    assert model.log_likelihood(sampled).sum() == pytest.approx(unigram, rel=1e-6)


def test_themes_that_are_topics_are_a_mixture_of_multinomials(themed):
    """With P(t|h) the identity a theme is its topic: EM is that of a mixture of multinomials."""
    counts = themed[0].astype(float)
    state = random_state_of(3, 3, 20)
    state["theme_topic"] = np.eye(3)
    weight, words = state["theme_weight"].copy(), state["word_topic"].T.copy()
    step = theme_em.ThemeStep(counts, 3, 0.0, unknown(counts), None)
    for _ in range(5):
        step(state)
        logs = np.log(weight) + counts @ np.log(words).T
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        weight = posterior.mean(axis=0)
        words = posterior.T @ counts.toarray()
        words /= words.sum(axis=1, keepdims=True)
        assert np.allclose(state["theme_weight"], weight)
        assert np.allclose(state["word_topic"].T, words)
        assert np.allclose(state["theme_topic"], np.eye(3))


def test_a_theme_of_its_own_for_each_document_is_plsa(themed):
    counts = themed[0][:12].astype(float)
    state = random_state_of(12, 4, 20)
    doc_topic, topic_word = state["theme_topic"].copy(), state["word_topic"].T.copy()
    step = theme_em.ThemeStep(counts, 12, 0.0, np.arange(12), None)
    for _ in range(5):
        step(state)
        doc_topic, topic_word, _ = plsa_step(counts.toarray(), doc_topic, topic_word)
        assert np.abs(state["theme_topic"] - doc_topic).max() < 1e-10
        assert np.abs(state["word_topic"].T - topic_word).max() < 1e-10


def test_features(themed):
    counts, _ = themed
    model = TTMM(3, 4, dtype="float64", random_state=0, verbose=False).fit(counts)
    dense = counts.toarray()
    expected = ttmm_token_topics(dense, model.doc_theme_, model.theme_topic_, model.topic_word_)
    assert np.allclose(model.doc_topic_, expected, atol=2e-3)  # rare themes are left out of the sum
    assert np.array_equal(model.transform(counts), model.doc_topic_)
    themes = model.set_params(features="themes").transform(counts)
    assert np.array_equal(themes, model.doc_theme_)
    logs = dense @ np.log(model.topic_word_).T + np.log(model.theme_weight_ @ model.theme_topic_)
    assert np.allclose(model.set_params(features="log").transform(counts), logs / dense.sum(axis=1, keepdims=True))
    paper = np.exp(logs - logs.max(axis=1, keepdims=True))
    paper /= paper.sum(axis=1, keepdims=True)
    assert np.allclose(model.set_params(features="paper").transform(counts), paper)
    assert len(model.set_params(features="themes").get_feature_names_out()) == 3
    with pytest.raises(ValueError, match="features='words'"):
        TTMM(features="words").fit(counts)


def test_log_likelihood_is_exact(themed):
    counts, _ = themed
    model = TTMM(3, 4, dtype="float64", random_state=0, verbose=False).fit(counts)
    _, _, _, logs = ttmm_step(counts.toarray()[:5], model.theme_weight_, model.theme_topic_, model.topic_word_)
    assert np.allclose(model.log_likelihood(counts[:5]), logs)
    document = model.doc_theme_ @ model.theme_topic_ @ model.topic_word_
    assert np.allclose(document.sum(axis=1), 1)


def test_themes_are_found(themed):
    from sklearn.metrics import adjusted_rand_score

    counts, theme = themed
    model = TTMM(3, 4, random_state=0, verbose=False).fit(counts)
    assert adjusted_rand_score(theme, model.predict_theme(counts)) > 0.95
    assert model.n_themes_used_ == 3


def test_data_starts_leave_the_unigram_at_once_and_random_ones_sit_there(sampled):
    frequency = np.asarray(sampled.sum(axis=0)) / sampled.sum()
    unigram = float((sampled @ np.log(np.maximum(frequency, 1e-300))).sum() / sampled.sum())
    options = {"smoothing": 0, "tol": 0, "max_iter": 6, "random_state": 0, "verbose": False}
    assert TTMM(10, 4, **options).fit(sampled).history_[5] > unigram + 0.05
    assert TTMM(10, 4, init="random", **options).fit(sampled).history_[5] < unigram + 0.01


def test_held_out_documents_are_likelier_than_under_the_unigram(sampled):
    train, test = sampled[:300], sampled[300:]
    frequency = (np.asarray(train.sum(axis=0)) + 0.1) / (train.sum() + 3)
    unigram = float((test @ np.log(frequency)).sum())
    assert TTMM(10, 4, random_state=0, verbose=False).fit(train).log_likelihood(test).sum() > unigram


def test_the_lda_start(themed):
    pytest.importorskip("tomotopy")
    model = TTMM(3, 4, init="lda", random_state=0, verbose=False).fit(themed[0])
    assert np.allclose(model.topic_word_.sum(axis=1), 1, atol=1e-5)


def test_themes_as_classes(themed):
    counts, theme = themed
    names = np.array(["sea", "land", "air"], dtype=object)[theme]
    few = names.copy()
    few[10:] = None
    model = TTMM("labels", 4, random_state=0, verbose=False).fit(counts, few)
    assert model.classes_.tolist() == ["air", "land", "sea"]
    assert (model.predict(counts) == names).mean() > 0.9
    assert np.allclose(model.predict_proba(counts).sum(axis=1), 1, atol=1e-5)
    numbers = np.where(np.arange(60) < 10, theme, -1)
    assert (TTMM("labels", 4, random_state=0, verbose=False).fit(counts, numbers).predict(counts) == theme).mean() > 0.9
    assert not hasattr(TTMM(3, 4), "predict")
    for y, message in ((None, "needs labels"), ([-1] * 60, "no document has a label"), ([0, 1], "expected one label")):
        with pytest.raises(ValueError, match=message):
            TTMM("labels", 4).fit(counts, y)


def test_labels_are_not_used_before_a_classifier(themed):
    counts, theme = themed
    with_labels = TTMM(5, 4, random_state=0, verbose=False).fit(counts, theme)
    without = TTMM(5, 4, random_state=0, verbose=False).fit(counts)
    assert np.array_equal(with_labels.topic_word_, without.topic_word_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_themes": 0}, "n_themes=0"),
        ({"n_themes": "many"}, "n_themes='many'"),
        ({"n_themes": 61}, "n_themes=61 is more than there are documents"),
        ({"init": "magic"}, "init='magic'"),
    ],
)
def test_bad_parameters(themed, parameters, message):
    with pytest.raises(ValueError, match=message):
        TTMM(**{"n_themes": 3, "n_topics": 4, **parameters}).fit(themed[0])


def test_a_stream_ends_near_the_batch_fit():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(200, 0.05), 8)
    mixes = rng.dirichlet(np.full(8, 0.1), 12)
    counts = sp.csr_array(np.array([rng.multinomial(60, mixes[rng.integers(12)] @ topics) for _ in range(2000)]))
    options = {"n_themes": 12, "n_topics": 8, "random_state": 0, "verbose": False}
    whole = TTMM(**options).fit(counts)
    stream = TTMM(**options)
    for _ in range(3):
        for first in range(0, 2000, 250):
            stream.partial_fit(counts[first : first + 250])
    assert stream.n_batches_ == 24
    whole_value, stream_value = (float(model.log_likelihood(counts).mean()) for model in (whole, stream))
    assert stream_value > whole_value * 1.01  # both are negative
    assert stream.word_frequency_.sum() == pytest.approx(3 * counts.sum())


def test_a_stream_of_labelled_batches(themed):
    counts, theme = themed
    model = TTMM("labels", 4, random_state=0, verbose=False)
    model.partial_fit(counts[:30], theme[:30]).partial_fit(counts[30:], np.full(30, -1))
    assert (model.predict(counts) == theme).mean() > 0.9
    before = model.topic_word_.copy()
    model.partial_fit(sp.csr_array((2, 20), dtype=int), [0, -1])
    assert np.array_equal(model.topic_word_, before)
    with pytest.raises(ValueError, match="label 7 was not in the first batch"):
        model.partial_fit(counts[:2], [7, -1])


def test_trees_and_files_as_any_model(tmp_path):
    from topicfold import load, save, topic_tree

    corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon sun sun"] * 3)
    model = TTMM("labels", 2, random_state=0, verbose=False).fit(corpus, ["a", "a", "b", "b"] * 3)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.predict(["cat", "moon"]).tolist() == ["a", "b"]
    assert len(topic_tree(loaded, corpus)) == 2


def test_themes_over_topics_as_a_tree():
    texts = ["cat dog cat", "dog cat fur", "sun moon", "moon star sun", "sun cat star dog"] * 6
    corpus = Corpus.from_texts(texts)
    model = TTMM(n_themes=5, n_topics=3, random_state=0).fit(corpus)
    tree = model.theme_tree(corpus)
    used = np.flatnonzero(model.doc_theme_.sum(axis=0) >= 0.5)
    assert len(used) == model.n_themes_used_
    assert tree.ids.tolist() == [0, 1, 2, *(3 + used).tolist()]
    assert set(tree.children()) == set((3 + used).tolist())
    np.testing.assert_allclose(
        tree.size, np.r_[model.doc_topic_.mean(axis=0), model.doc_theme_[:, used].mean(axis=0)], rtol=1e-5
    )
    for theme in used:
        parts = dict(tree.parts(3 + int(theme)))
        expected = {k: share for k, share in enumerate(model.theme_topic_[theme]) if share > 1 / 3}
        assert expected.items() <= parts.items()
        row = tree._row(3 + int(theme))
        np.testing.assert_allclose(tree.topic_word[row], model.theme_topic_[theme] @ model.topic_word_, rtol=1e-5)
    for topic in range(3):  # each hangs from the theme that most of it is in
        weight = model.theme_weight_[used] * model.theme_topic_[used, topic]
        assert tree.parent[topic] == 3 + used[weight.argmax()]
    assert len(topic_tree(model, corpus)) == 3


@pytest.mark.parametrize("features", ["tokens", "themes", "log"])
def test_trees_of_other_documents_hold_topics_whatever_transform_gives(features):
    corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    model = TTMM(n_themes=3, n_topics=2, random_state=0, features=features).fit(corpus)
    other = corpus.subset([2, 0])
    np.testing.assert_allclose(topic_tree(model, other).doc_topic, model.doc_topic_[[2, 0]], rtol=1e-5)
    tree = model.theme_tree(other)
    used = tree.ids[2:] - 2
    np.testing.assert_allclose(tree.doc_topic[:, 2:], model.doc_theme_[[2, 0]][:, used], rtol=1e-4, atol=1e-6)


def test_themes_that_are_classes_have_their_names():
    corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    model = TTMM(n_themes="labels", n_topics=2, random_state=0).fit(corpus, ["pets", "pets", "sky", "sky"])
    assert dict(model.theme_tree(corpus).names) == {2: "pets", 3: "sky"}
