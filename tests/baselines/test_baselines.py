"""Baselines: one shape for all, the block corpus recovered, the same seed the same result, no batch in transform."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from topicfold import Corpus, InputError, baselines
from topicfold.baselines import BASELINES
from topicfold.baselines.tomotopy_models import fold_in_with_prior
from topicfold.corpus.weighting import inverse_document_frequency, tfidf

QUICK = {"GibbsLDA": {"max_iter": 60, "alpha": 3.0}, "HLDA": {"max_iter": 60, "depth": 2, "gamma": 1.0}}
WITH_WORDS = ("GibbsLDA", "HLDA", "NMF", "KMeans")
WITH_TRANSFORM = tuple(name for name in BASELINES if name != "NCut")
ONE_EACH_ROW = ("GibbsLDA", "HLDA", "NMF", "KMeans", "NCut")


def block_counts(n_documents=20, n_words=8, seed=0):
    """Three blocks of documents, each with words of its own: (counts, block of each document)."""
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(3), n_documents)
    counts = np.zeros((3 * n_documents, 3 * n_words), int)
    for row, number in enumerate(block):
        counts[row, number * n_words : (number + 1) * n_words] = rng.integers(1, 5, n_words)
    return sp.csr_array(counts), block


def make(name, **parameters):
    return BASELINES[name].make(3, **{"random_state": 0, **QUICK.get(name, {}), **parameters})


@pytest.fixture(scope="module")
def fitted():
    counts, block = block_counts()
    words = [f"w{column:02d}" for column in range(counts.shape[1])]
    corpus = Corpus.from_counts(counts, words, ids=[f"d{row}" for row in range(len(block))])
    return corpus, block, {name: make(name).fit(corpus) for name in BASELINES}


def test_all_are_imported_from_the_package():
    classes = [name for name in baselines.__all__ if name not in ("BASELINES", "BaselineInfo")]
    assert set(BASELINES) < set(classes)
    assert all(getattr(baselines, name).__name__ == name for name in classes)
    with pytest.raises(AttributeError, match="no attribute 'LSA'"):
        _ = baselines.LSA


@pytest.mark.parametrize("name", BASELINES)
def test_shapes(fitted, name):
    corpus, _, models = fitted
    model = models[name]
    assert model.doc_topic_.shape[0] == len(model.labels_) == len(corpus)
    assert np.isfinite(model.doc_topic_).all()
    assert model.document_ids_ == corpus.ids
    np.testing.assert_array_equal(model.word_frequency_, corpus.counts.sum(axis=0))
    assert hasattr(model, "topic_word_") == (name in WITH_WORDS)
    assert hasattr(model, "transform") == (name in WITH_TRANSFORM)
    assert hasattr(model, "score") == (name in WITH_WORDS)
    if name != "HLDA":
        assert model.doc_topic_.shape[1] == 3


@pytest.mark.parametrize("name", ONE_EACH_ROW)
def test_rows_sum_to_one(fitted, name):
    model = fitted[2][name]
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1)
    assert (model.doc_topic_ >= 0).all()
    if name in WITH_WORDS:
        np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1)
        assert (model.topic_word_ >= 0).all()


@pytest.mark.parametrize("name", [name for name in BASELINES if name != "HLDA"])
def test_blocks_are_recovered(fitted, name):
    _, block, models = fitted
    assert adjusted_rand_score(block, models[name].labels_) == 1


def test_hlda_finds_blocks_as_paths():
    counts, block = block_counts()
    scores = [adjusted_rand_score(block, make("HLDA", random_state=seed).fit(counts).labels_) for seed in range(5)]
    assert np.median(scores) > 0.5


def test_hlda_is_a_tree(fitted):
    model = fitted[2]["HLDA"]
    assert (model.parent_ == -1).sum() == 1
    assert (model.level_[model.leaf_] == 1).all()
    assert (model.parent_[model.leaf_] == 0).all()
    np.testing.assert_allclose(model.node_word_.sum(axis=1), 1)


@pytest.mark.parametrize("name", WITH_WORDS)
def test_topic_tree_takes_them(fitted, name):
    corpus, _, models = fitted
    tree = models[name].topic_tree(corpus)
    assert len(tree) == len(models[name].topic_word_)


@pytest.mark.parametrize("name", BASELINES)
def test_same_seed_same_result(fitted, name):
    corpus, _, models = fitted
    again = clone(models[name]).fit(corpus)
    np.testing.assert_array_equal(again.doc_topic_, models[name].doc_topic_)
    np.testing.assert_array_equal(again.labels_, models[name].labels_)


@pytest.mark.parametrize("name", WITH_TRANSFORM)
def test_transform_does_not_depend_on_the_batch(fitted, name):
    corpus, _, models = fitted
    rng = np.random.default_rng(1)
    new = sp.csr_array(rng.poisson(0.4, (12, corpus.counts.shape[1])))
    whole = models[name].transform(new)
    assert np.isfinite(whole).all()
    one_by_one = np.vstack([models[name].transform(new[[row]]) for row in range(12)])
    np.testing.assert_array_equal(one_by_one, whole)
    np.testing.assert_array_equal(models[name].transform(new[::-1]), whole[::-1])


@pytest.mark.parametrize("name", WITH_TRANSFORM)
def test_new_documents_go_to_their_block(fitted, name):
    _, _, models = fitted
    counts, block = block_counts(n_documents=3, seed=9)
    topics = models[name].transform(counts)
    same = block[:, None] == block[None, :]
    unit = topics / np.linalg.norm(topics, axis=1, keepdims=True)
    if name == "HLDA":  # its sampler may join blocks; what is of one block must at least stay together
        assert (unit @ unit.T)[same].min() > 0.9
    else:
        assert (unit @ unit.T)[same].min() > (unit @ unit.T)[~same].max()


@pytest.mark.parametrize("name", ["GibbsLDA", "NMF"])
def test_score_is_better_than_the_unigram_model(fitted, name):
    _, _, models = fitted
    counts, _ = block_counts(n_documents=5, seed=3)
    frequency = models[name].word_frequency_
    unigram = (counts @ np.log(frequency / frequency.sum())).sum() / counts.sum()
    assert unigram + 0.5 < models[name].score(counts) < 0
    order = np.random.default_rng(0).permutation(counts.shape[0])
    assert models[name].score(counts[order]) == pytest.approx(models[name].score(counts))


@pytest.mark.parametrize("name", BASELINES)
def test_empty_documents_have_an_answer(name):
    counts, _ = block_counts()
    with_empty = sp.csr_array(sp.vstack([counts[:10], sp.csr_array((2, counts.shape[1]), dtype=int), counts[10:]]))
    model = make(name).fit(with_empty)
    assert len(model.labels_) == with_empty.shape[0]
    assert np.isfinite(model.doc_topic_).all()
    if name in ONE_EACH_ROW:
        np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1)


@pytest.mark.parametrize("name", [name for name in BASELINES if name != "HLDA"])
def test_more_topics_than_documents_is_an_error(name):
    with pytest.raises(ValueError, match="n_topics=3"):
        make(name).fit(sp.csr_array([[1, 0, 2], [0, 1, 1]]))


@pytest.mark.parametrize("n_topics", [0, -1])
def test_lda_without_topics_is_an_error(n_topics):
    with pytest.raises(ValueError, match=f"n_topics={n_topics}: expected a whole number, at least 1"):
        make("GibbsLDA").set_params(n_topics=n_topics).fit(block_counts()[0])


@pytest.mark.parametrize("depth", [1, 0])
def test_hlda_with_the_root_alone_is_an_error(depth):
    with pytest.raises(ValueError, match=f"depth={depth}: expected a whole number, at least 2"):
        make("HLDA", depth=depth).fit(block_counts()[0])


@pytest.mark.parametrize(("name", "parts"), [("GibbsLDA", {}), ("HLDA", {"depth": 3})])
def test_alpha_is_shared_by_topics_or_levels(name, parts):
    counts, _ = block_counts()
    by_default = make(name, alpha=None, **parts).fit(counts)
    np.testing.assert_array_equal(make(name, alpha=0.3, **parts).fit(counts).doc_topic_, by_default.doc_topic_)


@pytest.mark.parametrize("name", ["GibbsLDA", "HLDA"])
@pytest.mark.parametrize("prior", ["alpha", "beta"])
def test_priors_are_above_zero(name, prior):
    with pytest.raises(ValueError, match=f"{prior}=0: expected a number above zero"):
        make(name, **{prior: 0}).fit(block_counts()[0])


@pytest.mark.parametrize("name", ["GibbsLDA", "HLDA"])
def test_missing_tomotopy_says_how_to_get_it(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "tomotopy", None)
    with pytest.raises(ImportError, match=rf"{name} needs tomotopy: pip install 'topicfold\[lda\]'"):
        make(name).fit(block_counts()[0])


@pytest.mark.parametrize("name", ["GibbsLDA", "HLDA"])
def test_samplers_need_whole_counts(name):
    with pytest.raises(ValueError, match="whole counts"):
        make(name).fit(block_counts()[0] * 0.5)


def test_fold_in_with_prior_solves_its_equation():
    rng = np.random.default_rng(0)
    topic_word = rng.dirichlet(np.ones(12), 4)
    counts = sp.csr_array(rng.poisson(2.0, (5, 12)).astype(float))
    alpha = np.array([0.5, 0.1, 1.0, 0.3])
    theta = fold_in_with_prior(counts, topic_word, alpha)
    tokens = theta * ((counts.toarray() / (theta @ topic_word)) @ topic_word.T)
    expected = (alpha + tokens) / (alpha.sum() + counts.sum(axis=1)[:, None])
    np.testing.assert_allclose(theta, expected, atol=1e-4)
    empty = fold_in_with_prior(sp.csr_array((1, 12)), topic_word, alpha)
    np.testing.assert_allclose(empty[0], alpha / alpha.sum(), atol=1e-6)


def test_nmf_weights_are_the_nonnegative_least_squares(fitted):
    from scipy.optimize import nnls

    corpus, _, models = fitted
    model = models["NMF"]
    vectors = tfidf(corpus.counts)
    shares = model._shares(vectors)
    for row in (0, 30):
        weights = nnls(model.weights_.T, vectors[[row]].toarray()[0])[0] * (model.weights_ / model.idf_).sum(axis=1)
        np.testing.assert_allclose(shares[row], weights / weights.sum(), atol=1e-5)


def test_new_tfidf_is_that_of_training(fitted):
    counts = fitted[0].counts.astype(float)
    with_own_idf = tfidf(counts, inverse_document_frequency(counts))
    np.testing.assert_allclose(with_own_idf.toarray(), tfidf(counts).toarray())


def test_ncut_cuts_the_graph_it_is_given(fitted):
    corpus, block, _ = fitted
    other = np.arange(len(block)) % 3  # has nothing to do with the words
    graph = sp.csr_array(np.equal.outer(other, other).astype(float))
    assert adjusted_rand_score(other, make("NCut").fit(corpus, graph=graph).labels_) == 1
    with pytest.raises(ValueError, match="graph has shape"):
        make("NCut").fit(corpus, graph=graph[:5])


@pytest.mark.parametrize("X", [[[3]], [[1, 2], [0, 0]], [[0, 0, 0], [0, 3, 0], [0, 0, 0]]])
def test_one_document_with_words_is_no_tree(X):
    """It would end the process inside tomotopy."""
    with pytest.raises(InputError, match="X has one document with words: HLDA needs at least two"):
        baselines.HLDA(max_iter=2).fit(X)


@pytest.mark.parametrize("name", ["GibbsLDA", "HLDA"])
def test_more_tokens_than_memory_are_refused(name, monkeypatch):
    monkeypatch.setattr("topicfold.baselines.tomotopy_models.machine_memory", lambda: 1 << 30)
    with pytest.raises(InputError, match="X has 1,000,000,003 tokens"):
        getattr(baselines, name)(max_iter=2).fit([[10**9, 2], [0, 1]])


def test_rows_and_words_without_a_direction():
    same = np.tile([2, 1, 0, 3], (9, 1))
    assert np.allclose(baselines.PCA(2, random_state=0).fit(same).doc_topic_, 0)
    with pytest.raises(InputError, match="X has one word"):
        baselines.LSI(1).fit([[1], [2], [4]])
    one = np.zeros((3, 5), int)
    one[1, 2] = 3
    model = baselines.NMF(2, random_state=0).fit(one)
    assert np.isfinite(model.weights_).all()
    assert np.allclose(model.doc_topic_.sum(axis=1), 1)
