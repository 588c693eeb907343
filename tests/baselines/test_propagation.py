"""Label propagation: the dense solution, documents no label reaches, new documents, the ways to a graph."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
from topicfold import Corpus
from topicfold.baselines.propagation import LabelPropagation
from topicfold.corpus.weighting import inverse_document_frequency
from topicfold.graph.build import knn_graph
from topicfold.graph.neighbors import document_vectors, nearest

NAMES = np.array(["animals", "machines", "plants"])


def random_graph(n_documents, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n_documents, n_documents)) * (rng.random((n_documents, n_documents)) < 0.2), 1)
    return sp.csr_array(upper + upper.T)


def one_label_each(block):
    y = np.full(len(block), None, dtype=object)
    y[[np.flatnonzero(block == number)[0] for number in np.unique(block)]] = NAMES[: block.max() + 1]
    return y


def expected_failures(classifier):
    return {
        "check_classifiers_train": "by the cosine of two words three classes cannot be told apart",
        "check_classifiers_regression_target": "fractions are refused, in words of our own",
        "check_supervised_y_2d": "a column for y is taken without a warning",
    }


@parametrize_with_checks([LabelPropagation()], expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("default::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_scores_have_the_mass_of_the_labels():
    graph = random_graph(25, 0)
    y = np.full(25, -1)
    y[[0, 1, 2]] = [4, 4, 7]
    model = LabelPropagation().fit(sp.csr_array(np.ones((25, 1))), y, graph=graph)
    np.testing.assert_allclose(model.scores_.sum(axis=0), [2 / 3, 1 / 3])
    start = np.zeros((25, 2))
    start[[0, 1, 2], [0, 0, 1]] = 1
    reached = naive.spread_labels(graph, start, 0.99)
    expected = np.array([4, 7])[(reached / reached.sum(axis=0) * [2, 1]).argmax(axis=1)]
    assert model.transduction_.tolist() == expected.tolist()


def test_blocks_from_one_label_each(blocks):
    counts, block = blocks
    model = LabelPropagation(n_neighbors=3).fit(counts[::2], one_label_each(block[::2]))
    assert model.classes_.tolist() == NAMES.tolist()
    assert model.transduction_.tolist() == NAMES[block[::2]].tolist()
    assert model.predict(counts[1::2]).tolist() == NAMES[block[1::2]].tolist()
    assert model.score(counts, NAMES[block]) == 1
    assert (model.graph_ != knn_graph(counts[::2], 3)).nnz == 0


def test_documents_no_label_reaches_have_the_majority_class():
    graph = sp.csr_array(np.kron(np.eye(3), np.ones((2, 2))) - np.eye(6))
    counts = sp.csr_array(np.ones((6, 1)))
    model = LabelPropagation().fit(counts, ["a", None, "b", "b", None, None], graph=graph)
    assert model.transduction_.tolist() == ["a", "a", "b", "b", "b", "b"]
    assert not model.scores_[4:].any()
    near = sp.csr_array(np.array([[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0]]))
    assert model.predict(counts[:3], graph=near).tolist() == ["a", "b", "b"]


def test_new_documents_have_the_mean_of_their_neighbours():
    graph = random_graph(25, 1)
    y = np.full(25, -1)
    y[[0, 1, 2, 3]] = [0, 1, 0, 1]
    model = LabelPropagation().fit(sp.csr_array(np.ones((25, 1))), y, graph=graph)
    near = sp.random_array((8, 25), density=0.3, rng=np.random.default_rng(0), format="csr")
    expected = (near.toarray() @ model.scores_).argmax(axis=1)
    assert model.predict(sp.csr_array(np.ones((8, 1))), graph=near).tolist() == expected.tolist()


def test_embeddings(blocks):
    counts, block = blocks
    alike = sp.csr_array(np.ones(counts.shape, int))  # words that tell nothing
    corners = np.eye(3)[block] + np.random.default_rng(0).normal(0, 0.1, (30, 3))
    model = LabelPropagation(n_neighbors=3).fit(alike[::2], one_label_each(block[::2]), embeddings=corners[::2])
    assert model.transduction_.tolist() == NAMES[block[::2]].tolist()
    assert model.predict(alike[1::2], embeddings=corners[1::2]).tolist() == NAMES[block[1::2]].tolist()


def test_nearest_documents_by_words_count_alike(sampled):
    y = np.where(np.arange(300) < 60, np.arange(300) % 3, -1)
    model = LabelPropagation(n_neighbors=100).fit(sampled[:300], y)
    idf = inverse_document_frequency(sampled[:300])
    near = nearest(document_vectors(sampled[300:], idf=idf), document_vectors(sampled[:300]), 100)
    predicted = model.predict(sampled[300:])
    assert predicted.tolist() == ((near > 0) @ model.scores_).argmax(axis=1).tolist()
    assert predicted.tolist() != (near @ model.scores_).argmax(axis=1).tolist()


def test_a_prediction_does_not_depend_on_its_batch(sampled):
    y = np.where(np.arange(300) < 60, np.arange(300) % 3, -1)
    model = LabelPropagation().fit(sampled[:300], y)
    together = model.predict(sampled[300:])
    assert [model.predict(sampled[[row]])[0] for row in range(300, 320)] == together[:20].tolist()


def test_a_corpus_and_raw_texts():
    texts = ["cat dog cat", "dog cat", "cat dog dog", "sun moon", "moon star sun", "star moon"]
    corpus = Corpus.from_texts(texts, labels=["pet", None, None, "sky", None, None])
    model = LabelPropagation(n_neighbors=2).fit(corpus, corpus.label_array())
    assert model.transduction_.tolist() == ["pet"] * 3 + ["sky"] * 3
    assert model.predict(["star sun", "dog"]).tolist() == ["sky", "pet"]


def test_bad_input_is_refused(blocks):
    counts, block = blocks
    y = one_label_each(block)
    with pytest.raises(ValueError, match=r"neighbor_weight=1: expected"):
        LabelPropagation(neighbor_weight=1).fit(counts, y)
    with pytest.raises(ValueError, match="only one class"):
        LabelPropagation().fit(counts, ["a"] + [None] * 29)
    with pytest.raises(ValueError, match="graph"):
        LabelPropagation().fit(counts, y, graph=sp.csr_array((29, 29)))
    with pytest.raises(ValueError, match="one row per document"):
        LabelPropagation().fit(counts, y, embeddings=np.zeros((29, 2)))
    by_words = LabelPropagation().fit(counts, y)
    with pytest.raises(ValueError, match="fitted by words: cannot predict by graph"):
        by_words.predict(counts, graph=sp.csr_array((30, 30)))
    with pytest.raises(ValueError, match="fitted by graph: cannot predict by words"):
        LabelPropagation().fit(counts, y, graph=by_words.graph_).predict(counts)
