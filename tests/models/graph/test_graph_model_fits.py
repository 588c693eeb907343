"""Fits of LTM, LapPLSI and DTM: corners of graphs and corpora, labels, embeddings, starts, and repeated fits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import ALL, DENSE, EITHER, paper, rows
from sklearn.metrics import adjusted_rand_score

import naive
from topicfold import DTM, LTM, PLSA, LapPLSI
from topicfold.graph.build import knn_graph, label_graph, link_graph

pytestmark = DENSE


@ALL
def test_a_graph_without_edges_is_plsa_without_a_fold_in(model, few):
    start = rows(np.random.default_rng(1), 3, 30)
    doc_topic, topic_word, values = np.full((60, 3), 1 / 3), start, []
    if model is LapPLSI:  # which begins with a step of the documents
        doc_topic = naive.plsa_step(few.toarray(), doc_topic, topic_word)[0]
    for _ in range(6):
        doc_topic, topic_word, value = naive.plsa_step(few.toarray(), doc_topic, topic_word)
        values.append(value / few.sum())
    fitted = paper(model, init=start, max_iter=6, tol=0, dtype="float64").fit(few, graph=sp.csr_array((60, 60)))
    assert np.allclose(fitted.doc_topic_, doc_topic, atol=1e-9)
    assert np.allclose(fitted.topic_word_, topic_word, atol=1e-9)
    assert np.allclose(fitted.history_, values, atol=1e-9)


@ALL
@EITHER
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_empty_documents_with_and_without_neighbours(model, make, dtype, few):
    counts = sp.csr_array(sp.vstack([few, sp.csr_array((3, 30), dtype=int)]))
    fitted = make(model, dtype=dtype).fit(counts, graph=link_graph([(60, 3), (61, 62), (1, 2), (2, 3)], 63))
    assert fitted.doc_topic_.dtype == dtype
    assert np.isfinite(fitted.doc_topic_).all()
    assert np.allclose(fitted.doc_topic_.sum(axis=1), 1, atol=1e-5)
    assert np.allclose(fitted.doc_topic_[61:], fitted.topic_weight_)
    by_words = make(model, dtype=dtype).fit(counts)
    assert by_words.graph_[[60]].nnz == 0
    assert np.allclose(by_words.doc_topic_[60:], by_words.topic_weight_)


@ALL
@EITHER
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_two_and_three_documents(model, make, dtype):
    one = make(model, 1, dtype=dtype).fit(np.array([[3, 1, 0]]))
    assert one.graph_.shape == (1, 1)
    assert np.allclose(one.topic_word_, (np.array([[3, 1, 0]]) + one.beta) / (4 + 3 * one.beta))
    assert np.allclose(one.transform(np.array([[1, 0, 0], [0, 0, 0]])), 1)
    for counts in ([[3, 1, 0], [0, 1, 2]], [[3, 0, 0], [0, 0, 2]], [[3, 1, 0], [0, 1, 2], [1, 1, 1]]):
        two = make(model, 2, dtype=dtype, max_iter=30).fit(np.array(counts))
        for table in (two.doc_topic_, two.topic_word_, two.transform(np.array(counts))):
            assert np.isfinite(table).all()
            assert np.allclose(table.sum(axis=1), 1, atol=1e-5)


@ALL
@EITHER
def test_more_neighbours_than_documents(model, make, few):
    many, all_of_them = (make(model, n_neighbors=k, max_iter=5).fit(few[:20]) for k in (10**6, 19))
    assert np.array_equal(many.graph_.toarray(), all_of_them.graph_.toarray())
    assert np.array_equal(many.doc_topic_, all_of_them.doc_topic_)
    assert np.isfinite(many.transform(few[20:])).all()


@ALL
@EITHER
def test_weights_of_edges_count(model, make, few, few_graph):
    plain = make(model, dtype="float64", max_iter=10).fit(few, graph=few_graph)
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.1, 5, few_graph.shape)
    weighted = sp.csr_array(few_graph.multiply(weights + weights.T))
    other = make(model, dtype="float64", max_iter=10).fit(few, graph=weighted)
    assert not np.allclose(plain.doc_topic_, other.doc_topic_, atol=1e-3)
    if model is not DTM:  # twice the weight of all edges is twice the graph_weight; DTM's ratio does not change at all
        twice = make(model, dtype="float64", max_iter=10).fit(few, graph=2 * few_graph)
        half = make(model, dtype="float64", max_iter=10)
        half.graph_weight *= 2
        assert np.allclose(half.fit(few, graph=few_graph).doc_topic_, twice.doc_topic_, atol=1e-8)


@ALL
@EITHER
@pytest.mark.parametrize("metric", ["euclidean", "intersection", "lsi"])
def test_other_metrics(model, make, metric, blocks):
    counts, block = blocks
    fitted = make(model, metric=metric).fit(counts)
    assert np.array_equal(fitted.graph_.toarray(), knn_graph(counts, fitted.n_neighbors, metric=metric).toarray())
    assert adjusted_rand_score(block, fitted.doc_topic_.argmax(axis=1)) == 1
    assert adjusted_rand_score(block, fitted.transform(counts).argmax(axis=1)) == 1
    embeddings = np.eye(3)[block] + np.random.default_rng(0).normal(0, 0.05, (30, 3))
    by_vectors = make(model, metric=metric).fit(counts, embeddings=embeddings)
    assert adjusted_rand_score(block, by_vectors.transform(counts, embeddings=embeddings).argmax(axis=1)) == 1


@ALL
@EITHER
def test_the_graph_is_that_of_knn_graph(model, make, few):
    fitted = make(model, n_neighbors=3, max_iter=2).fit(few)
    assert np.array_equal(fitted.graph_.toarray(), knn_graph(few, 3).toarray())
    embeddings = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)
    fitted.fit(few, embeddings=embeddings)
    assert np.array_equal(fitted.graph_.toarray(), knn_graph(embeddings, 3).toarray())


@ALL
@EITHER
def test_the_topic_that_swallows_the_documents_is_named(model, make, sampled):
    counts = sp.csr_array(np.vstack([np.tile([0, 3, 2, 1], (29, 1)), [[4, 0, 0, 0]]]))
    with pytest.warns(UserWarning, match="is the largest topic of 97% of the documents") as caught:
        fitted = make(model, 2, random_state=1).fit(counts)
    topic = np.bincount(fitted.doc_topic_.argmax(axis=1)).argmax()
    assert str(caught[0].message).startswith(f"topic {topic} is")
    assert caught[0].filename == __file__
    if model is LTM:
        with pytest.warns(UserWarning, match="graph_weight=1e\\+06 may be too strong"):
            make(model, 4, graph_weight=1e6).fit(sampled)


@ALL
@EITHER
def test_no_label_at_all_is_no_y(model, make, few):
    plain = make(model, max_iter=8).fit(few)
    for y in (np.full(60, -1), [None] * 60, np.full(60, np.nan), np.array(["-1"] * 60), [""] * 60):
        labelled = make(model, max_iter=8).fit(few, y)
        assert np.array_equal(labelled.doc_topic_, plain.doc_topic_)
        assert np.array_equal(labelled.topic_word_, plain.topic_word_)
        assert np.array_equal(labelled.graph_.toarray(), plain.graph_.toarray())


@ALL
@EITHER
def test_labels_change_the_graph(model, make, few, few_graph):
    labels = np.full(60, -1)
    labels[:12] = np.arange(12) % 3
    expected = label_graph(few_graph, labels).toarray()
    assert not np.array_equal(expected, few_graph.toarray())
    names = np.array([None, "ant", "bee", "cow"], object)[labels + 1]
    fits = [make(model, n_neighbors=4, max_iter=8).fit(few, y) for y in (labels, names, list(names), labels + 0.0)]
    fits.append(make(model, n_neighbors=4, max_iter=8).fit(few, labels, graph=few_graph))
    for fitted in fits:
        assert np.array_equal(fitted.graph_.toarray(), few_graph.toarray())  # that of neighbours alone is kept
    assert np.array_equal(fits[0]._gather(few, labels, None, None).graph.toarray(), expected)
    assert not np.array_equal(fits[0].doc_topic_, make(model, n_neighbors=4, max_iter=8).fit(few).doc_topic_)
    for fitted in fits[1:4]:
        assert np.array_equal(fitted.doc_topic_, fits[0].doc_topic_)
    assert not np.allclose(fits[0].doc_topic_, make(model, n_neighbors=4, max_iter=8).fit(few).doc_topic_, atol=1e-3)


@ALL
@EITHER
def test_embeddings_find_what_words_do_not_tell(model, make):
    rng = np.random.default_rng(0)
    block = np.repeat([0, 1, 2], 15)
    counts = rng.multinomial(20, np.full(12, 1 / 12), 45)
    embeddings = 4 * np.eye(3, 6)[block] + rng.normal(0, 0.3, (45, 6))
    fitted = make(model).fit(counts, embeddings=embeddings)
    assert adjusted_rand_score(block, fitted.doc_topic_.argmax(axis=1)) == 1
    assert adjusted_rand_score(block, PLSA(3, random_state=0).fit(counts).doc_topic_.argmax(axis=1)) < 0.5


@ALL
@EITHER
def test_a_second_fit_leaves_nothing_of_the_first(model, make, few, few_graph, sampled):
    fresh = make(model, max_iter=6).fit(sampled[100:140])
    used = make(model, max_iter=6)
    firsts = [{"embeddings": np.random.default_rng(0).normal(size=(60, 4))}, {"graph": few_graph}, {"y": np.arange(60)}]
    for first in firsts:
        used.fit(few, **first).fit(sampled[100:140])
        assert set(vars(used)) == set(vars(fresh))
        assert np.array_equal(used.doc_topic_, fresh.doc_topic_)
        assert np.array_equal(used.history_, fresh.history_)
        assert np.array_equal(used.transform(few), fresh.transform(few))
    used.fit(few, graph=few_graph)
    assert used.neighbors_by_ == "words"
    assert used.neighbor_vectors_.shape == few.shape


@ALL
@EITHER
def test_what_is_given_is_not_changed(model, make, few, few_graph):
    graph, embeddings = few_graph.copy(), np.random.default_rng(0).normal(size=(60, 4))
    vectors, labels = embeddings.copy(), np.arange(60) % 4
    make(model, max_iter=3).fit(few, labels, graph=graph, embeddings=embeddings)
    assert np.array_equal(graph.toarray(), few_graph.toarray())
    assert np.array_equal(embeddings, vectors)
    assert np.array_equal(labels, np.arange(60) % 4)


@ALL
@EITHER
def test_a_checkpoint_of_another_graph_is_refused(model, make, few, few_graph, tmp_path, monkeypatch):
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr("topicfold.engine.loop.Checkpoint.remove", lambda self: None)
    options = {"checkpoint": tmp_path / "c", "max_iter": 4, "tol": 0}
    make(model, **options).fit(few, graph=few_graph)
    with pytest.raises(ValueError, match="belongs to another fit"):
        make(model, **options).fit(few, graph=2 * few_graph)


@ALL
@EITHER
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_give_the_same_bits_with_a_graph_and_embeddings(model, make, dtype, few):
    embeddings = np.random.default_rng(0).normal(size=(60, 4))
    fits = [
        make(model, 40, dtype=dtype, max_iter=4, n_jobs=n_jobs).fit(np.tile(few.toarray(), 2), embeddings=embeddings)
        for n_jobs in (1, 3)
    ]
    assert np.array_equal(fits[0].doc_topic_, fits[1].doc_topic_)
    assert np.array_equal(fits[0].topic_word_, fits[1].topic_word_)
    assert fits[0].doc_topic_.dtype == dtype


@ALL
@EITHER
def test_a_spectral_start_cuts_the_graph(model, make):
    rng = np.random.default_rng(0)
    block = np.repeat([0, 1, 2], 15)
    counts = rng.multinomial(20, np.full(12, 1 / 12), 45)
    graph = (block[:, None] == block) * 1.0
    graph[0, 44] = graph[44, 0] = graph[14, 15] = graph[15, 14] = 1.0
    strong = {"graph_weight": 10.0} if model is LTM else {}  # the words say nothing
    fitted = make(model, init="spectral", **strong).fit(counts, graph=graph)
    assert adjusted_rand_score(block, fitted.doc_topic_.argmax(axis=1)) == 1
    again = make(model, init="spectral", n_jobs=2, **strong).fit(counts, graph=graph)
    assert np.array_equal(again.doc_topic_, fitted.doc_topic_)


@ALL
@EITHER
@pytest.mark.parametrize("dense_below", [10, 500])
def test_a_spectral_start_on_graphs_with_little_to_cut(model, make, dense_below, few, monkeypatch):
    monkeypatch.setattr("topicfold.graph.build._DENSE_BELOW", dense_below)
    for links in ([(0, 1)], [(i, i + 1) for i in range(0, 60, 2)], [(0, i) for i in range(1, 60)], []):
        fitted = make(model, 4, init="spectral", max_iter=3).fit(few, graph=link_graph(links, 60))
        assert np.allclose(fitted.doc_topic_.sum(axis=1), 1, atol=1e-5)


@EITHER
def test_documents_without_a_largest_topic_swallow_nothing(make):
    even = np.tile([[3, 3, 3, 3]], (10, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(LTM, 2, n_neighbors=2, init=np.full((2, 4), 0.25)).fit(even)
