"""The weight of the graph, chosen: graph_weight="auto" of LTM and LapPLSI."""

from __future__ import annotations

import contextlib
import signal

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import BOTH, DENSE, EITHER, paper, quiet

import naive
from topicfold import LTM
from topicfold.corpus.weighting import inverse_document_frequency
from topicfold.engine.loop import Checkpoint
from topicfold.graph.build import knn_graph, label_graph
from topicfold.graph.neighbors import document_vectors
from topicfold.metrics.completion import split_tokens
from topicfold.models.graph import graph_model
from topicfold.models.graph import weight as graph_weight
from topicfold.models.graph.weight import WEIGHTS, WEIGHTS_WITH_PRIOR, _behind, _best

pytestmark = DENSE


TRIED = {paper: WEIGHTS, quiet: WEIGHTS_WITH_PRIOR}


def path_of(likelihood, accuracy=np.nan, share=0.4):
    n = len(likelihood)
    return np.column_stack([WEIGHTS[:n], likelihood, np.full(n, share), np.full(n, accuracy)])


def test_the_middle_of_the_weights_that_predict_as_well_as_the_best_is_taken():
    noise = np.random.default_rng(0).normal(0, 0.1, 50)
    noise -= noise.mean()
    clear = np.array([-3.0 + noise, -2 + 0 * noise, -2.5 + noise])
    assert _best(path_of([-3, -2, -2.5]), clear, 0.95) == 1
    level = np.array([-3.0 + noise, -2.001 + noise, -2 + 0 * noise, -2.001 - noise, -3 + noise])
    assert _best(path_of(level.mean(axis=1)), level, 0.95) == 2
    assert _best(path_of(level[:3].mean(axis=1)), level[:3], 0.95) == 2  # of two, the stronger
    same = np.full((3, 50), -2.0)
    assert _best(path_of([-2, -2, -2]), same, 0.95) == 1
    with_none = path_of([-2, -2, -2])
    with_none[0, 0] = 0
    assert _best(with_none, same, 0.95) == 0  # no graph, if it is as good


def sized(model):
    """The model with its number of topics chosen, as in a fit."""
    model.n_topics_ = model.n_topics
    return model


def test_a_weight_that_draws_everything_together_is_not_taken():
    scores = np.array([[-3.0], [-2.0], [-1.0]]) + np.zeros((3, 50))
    path = path_of([-3, -2, -1], share=[0.4, 0.95, 0.951])
    of_four, of_five = (graph_weight._most_share(path, sized(paper(LTM, n_topics))) for n_topics in (4, 5))
    assert (of_four, of_five) == (0.95, 0.8)  # 3 / n_topics + 0.2
    assert _best(path, scores, of_four) == 1
    assert _best(path, scores, of_five) == 0
    path[:, 2] = 1
    with pytest.warns(UserWarning, match="every graph_weight puts at least 100% of the documents in one topic"):
        assert _best(path, scores, of_five) == 0


def test_with_a_prior_no_weight_may_draw_much_more_together_than_no_graph():
    scores = np.array([[-3.0], [-2.0], [-1.0]]) + np.zeros((3, 50))
    path = path_of([-3, -2, -1], share=[0.2, 0.33, 0.331])
    for n_topics in (2, 50):
        most = graph_weight._most_share(path, sized(quiet(LTM, n_topics)))
        assert np.isclose(most, 1.5 * 0.2 + 0.03)
        assert _best(path, scores, most + 1e-12) == 1
    path[:, 2] = 1
    assert _best(path, scores, graph_weight._most_share(path, sized(quiet(LTM)))) == 2  # one topic is everything anyway


def test_how_far_a_weight_is_behind_is_counted_in_standard_errors():
    scores = np.array([[-1.0, -1, -1, -1], [-1, -3, -1, -3]])
    np.testing.assert_allclose(_behind(scores), [0, 4 / (1 * 2)])  # the difference of a document is 1 +- 1
    assert _behind(np.array([[-1.0, -1], [-2, -2], [-1, -1]])).tolist() == [0, np.inf, 0]


def test_labels_decide_between_weights_within_an_error():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 1, 50)
    scores = np.array([-2.01 + noise - noise.mean(), -2 + 0 * noise, -9 + noise])
    likelihood = [-2.01, -2, -9]
    assert _best(path_of(likelihood), scores, 0.95) == 1
    assert _best(path_of(likelihood, [0.6, 0.7, 0.99]), scores, 0.95) == 1
    assert _best(path_of(likelihood, [0.7, 0.6, 0.99]), scores, 0.95) == 0
    with_none = path_of(likelihood, [0.7, 0.6, 0.99])
    with_none[:, 0] = WEIGHTS_WITH_PRIOR[:3]
    assert _best(with_none, scores, 0.95, guided=True) == 1  # not weight 0
    assert _best(with_none[:1], scores[:1], 0.95, guided=True) == 0  # the only one tried


def test_unseen_tokens_are_predicted_by_the_largest_topic_and_the_corpus():
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(0.5, (30, 12)).astype(np.float32))
    unseen = sp.csr_array(rng.poisson(0.5, (7, 12)).astype(np.float32))
    largest, predicted = rng.integers(0, 3, 30), rng.integers(0, 4, 7)  # topic 3 is the largest of no document
    found = graph_weight._by_largest_topic(counts, largest, unseen, predicted, 4)
    expected = naive.log_likelihood_by_largest_topic(counts.toarray(), largest, unseen.toarray(), predicted)
    np.testing.assert_allclose(found, expected)
    assert (found < 0).any()


def test_labels_of_held_out_documents_are_those_of_the_nearest_class_mean():
    labels, hidden = np.array([0, 0, 1, -1]), np.array([0, 1, -1])
    topics = np.eye(3)[[0, 0, 1, 2]]
    assert graph_weight._labels_predicted(topics, labels, np.eye(3)[[0, 1, 2]], hidden) == (2, 2)
    assert graph_weight._labels_predicted(topics, labels, np.eye(3)[[1, 1, 2]], hidden) == (1, 2)
    assert graph_weight._labels_predicted(topics, None, topics, None) == (0, 0)
    assert graph_weight._labels_predicted(topics, labels, topics[:3], np.full(3, -1)) == (0, 0)


def test_different_documents_are_held_out_each_time_and_fewer_times_if_there_are_many(sampled, monkeypatch):
    counts, model = sampled[:100].astype(np.float32), quiet(LTM, 4)
    data = model._gather(counts, None, None, None)
    splits = graph_weight._splits(model, data, np.random.RandomState(0))
    fitted = [split.part.counts.toarray() for split in splits]
    order = np.random.RandomState(0).permutation(100)
    for number, part in enumerate(fitted):
        out = order[20 * number : 20 * number + 20]
        assert np.array_equal(part, counts[np.setdiff1d(np.arange(100), out)].toarray())
    assert len(splits) == 4
    monkeypatch.setattr(graph_weight, "_FITTED_IN_ALL", 170)  # two times 80
    assert len(graph_weight._splits(model, data, np.random.RandomState(0))) == 2
    monkeypatch.setattr(graph_weight, "_FITTED_IN_ALL", 10)
    assert len(graph_weight._splits(model, data, np.random.RandomState(0))) == 1


@pytest.mark.parametrize("source", ["words", "graph", "embeddings"])
def test_held_out_documents_are_in_nothing_that_is_fitted(source, sampled):
    counts, rng = sampled[:100].astype(np.float32), np.random.default_rng(0)
    labels = np.where(np.arange(100) % 4, np.arange(100) % 3, -1)
    more = {"graph": {"graph": knn_graph(sampled[:100], 3)}, "embeddings": {"embeddings": rng.normal(size=(100, 4))}}
    model = quiet(LTM, 4)
    data = model._gather(counts, labels, **{"graph": None, "embeddings": None, **more.get(source, {})})
    order = np.random.RandomState(0).permutation(100)
    split = graph_weight._split(model, data, order, 20)
    out = np.sort(order[:20])
    kept = np.setdiff1d(np.arange(100), out)
    assert np.array_equal(split.part.counts.toarray(), counts[kept].toarray())
    assert np.array_equal(split.part.labels, labels[kept])
    assert np.array_equal(split.labels, labels[out])
    seen, unseen = split_tokens(counts[out])
    assert np.array_equal(split.seen.toarray(), seen.toarray())
    assert np.array_equal(split.unseen.toarray(), unseen.toarray())
    assert split.part.graph.shape == (80, 80)
    assert split.neighbors.shape == (20, 80)
    unlabelled = data.unlabelled.toarray()
    assert np.array_equal(split.part.unlabelled.toarray(), unlabelled[np.ix_(kept, kept)])
    assert np.array_equal(split.part.graph.toarray(), label_graph(split.part.unlabelled, labels[kept]).toarray())
    if source == "words":  # neighbours by what is seen of a document
        base = document_vectors(counts[kept]).toarray()
        new = document_vectors(seen, idf=inverse_document_frequency(counts[kept])).toarray()
        nearest = np.argsort(-(new @ base.T), axis=1, kind="stable")[:, : model.n_neighbors]
        for row, columns in enumerate(nearest):
            assert split.neighbors[[row], :].toarray()[0, columns].sum() >= model.n_neighbors - 1  # but for ties
    else:
        assert np.array_equal(split.neighbors.toarray(), unlabelled[np.ix_(out, kept)])


@pytest.mark.parametrize("source", ["words", "graph", "embeddings"])
def test_of_many_documents_a_sample_is_fitted(source, sampled, monkeypatch):
    monkeypatch.setattr(graph_weight, "_MOST_FITTED", 40)
    counts, rng = sampled[:100].astype(np.float32), np.random.default_rng(0)
    more = {"graph": {"graph": knn_graph(sampled[:100], 3)}, "embeddings": {"embeddings": rng.normal(size=(100, 4))}}
    model = quiet(LTM, 4, n_neighbors=3)
    data = model._gather(counts, None, **{"graph": None, "embeddings": None, **more.get(source, {})})
    order = np.random.RandomState(0).permutation(100)
    split = graph_weight._split(model, data, order, 20)
    out, kept = np.sort(order[:20]), np.sort(order[20:60])
    assert np.array_equal(split.part.counts.toarray(), counts[kept].toarray())
    assert split.part.vectors.shape[0] == 40
    assert split.neighbors.shape == (20, 40)
    if source == "graph":  # the edges between them, which weigh as much as all did
        whole = data.graph.toarray()
        missing = whole[kept].sum() / whole[np.ix_(kept, kept)].sum()
        np.testing.assert_allclose(split.part.graph.toarray(), missing * whole[np.ix_(kept, kept)])
        np.testing.assert_allclose(split.neighbors.toarray(), missing * whole[np.ix_(out, kept)])
    else:
        vectors = document_vectors(counts[kept]) if source == "words" else data.vectors[kept]
        expected = knn_graph(vectors, 3, weighting=None).toarray()
        assert np.array_equal(split.part.graph.toarray(), expected)
        assert (np.diff(split.neighbors.indptr) == 3).mean() > 0.9
    chosen = [quiet(LTM, 4, graph_weight="auto", n_jobs=jobs, max_iter=3).fit(sampled[:100]) for jobs in (1, 2)]
    assert np.array_equal(chosen[0].graph_weight_path_, chosen[1].graph_weight_path_, equal_nan=True)


@BOTH
@EITHER
def test_auto_takes_one_of_the_weights(model, make, sampled):
    fits = [make(model, 4, graph_weight="auto", max_iter=8, n_jobs=n_jobs).fit(sampled[:120]) for n_jobs in (1, 2)]
    first, other = fits
    n_tried = len(first.graph_weight_path_)
    assert first.graph_weight_ in TRIED[make]
    assert first.graph_weight_path_.shape[1] == 4
    assert np.array_equal(first.graph_weight_path_[:, 0], TRIED[make][:n_tried])
    assert (first.graph_weight_path_[:, 1] < 0).all()
    assert ((first.graph_weight_path_[:, 2] > 0) & (first.graph_weight_path_[:, 2] <= 1)).all()
    assert np.isnan(first.graph_weight_path_[:, 3]).all()
    assert np.array_equal(first.graph_weight_path_, other.graph_weight_path_, equal_nan=True)
    assert np.array_equal(first.doc_topic_, other.doc_topic_)
    given = make(model, 4, graph_weight=first.graph_weight_, max_iter=8).fit(sampled[:120])
    assert given.graph_weight_path_ is None
    assert np.array_equal(given.doc_topic_, first.doc_topic_)  # choosing leaves no trace in the fit
    assert np.array_equal(given.topic_word_, first.topic_word_)


@BOTH
@EITHER
def test_auto_with_labels_a_graph_and_embeddings(model, make, few, few_graph):
    labels = np.where(np.arange(60) < 30, np.arange(60) % 3, -1)
    embeddings = np.random.default_rng(0).normal(size=(60, 4))
    for more in ({}, {"graph": few_graph}, {"embeddings": embeddings}):
        fitted = make(model, graph_weight="auto", max_iter=2).fit(few, labels, **more)
        assert fitted.graph_weight_ in TRIED[make]
        accuracy = fitted.graph_weight_path_[:, 3]
        assert ((accuracy >= 0) & (accuracy <= 1)).all()


@BOTH
@EITHER
def test_auto_in_the_corners(model, make):
    one_token_each = np.eye(4, dtype=int)[[0, 1, 2, 3, 0, 1, 2, 3]]
    assert make(model, 2, graph_weight="auto", max_iter=3).fit(one_token_each).graph_weight_ == 1
    few = np.array([[3, 1, 0], [0, 1, 2], [1, 1, 1]])
    assert make(model, 2, graph_weight="auto", max_iter=3).fit(few).graph_weight_ in TRIED[make]
    no_edges = make(model, 2, graph_weight="auto", max_iter=3).fit(few, graph=np.zeros((3, 3)))
    assert no_edges.graph_weight_ in TRIED[make]


@BOTH
@EITHER
def test_fractions_cannot_be_held_out_and_the_weight_is_one(model, make, few):
    fitted = make(model, graph_weight="auto", max_iter=3).fit(few * 0.5)
    assert fitted.graph_weight_ == 1
    assert len(fitted.graph_weight_path_) == 0
    given = make(model, graph_weight=1.0, max_iter=3).fit(few * 0.5)
    assert np.array_equal(fitted.doc_topic_, given.doc_topic_)


@BOTH
@EITHER
def test_a_resumed_fit_keeps_its_weight(model, make, few, tmp_path, monkeypatch):
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)
    options = {"graph_weight": "auto", "max_iter": 8, "tol": 0}
    whole = make(model, **options).fit(few)
    written, calls = Checkpoint.write, []

    def killed(self, *arguments, **more):
        written(self, *arguments, **more)
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr("topicfold.engine.loop.Checkpoint.write", killed)
        with pytest.raises(RuntimeError, match="killed"):
            make(model, checkpoint=tmp_path / "c", **options).fit(few)

    def refuse(*_, **__):
        raise AssertionError("the weight was chosen already")

    monkeypatch.setattr("topicfold.models.graph.weighted_model.choose_weight", refuse)
    resumed = make(model, checkpoint=tmp_path / "c", **options).fit(few)
    assert resumed.graph_weight_ == whole.graph_weight_
    assert np.array_equal(resumed.doc_topic_, whole.doc_topic_)
    assert np.array_equal(resumed.topic_word_, whole.topic_word_)
    assert np.array_equal(resumed.history_, whole.history_)


@BOTH
@EITHER
def test_ctrl_c_while_the_weight_is_chosen_keeps_the_best_so_far(model, make, few, monkeypatch):
    @contextlib.contextmanager
    def press_at_the_second_weight(*_, **__):
        yield lambda to, note: signal.raise_signal(signal.SIGINT) if to == 2 else None

    monkeypatch.setattr(graph_weight, "progress", press_at_the_second_weight)
    n_weights = len(TRIED[make])
    with pytest.warns(UserWarning, match=f"choosing graph_weight: interrupted after 2 of {n_weights} weights"):
        fitted = make(model, graph_weight="auto").fit(few)
    assert fitted.interrupted_
    assert fitted.n_iter_ == 1
    assert fitted.graph_weight_ in TRIED[make][:2]
    assert len(fitted.graph_weight_path_) == 2
    assert np.isfinite(fitted.transform(few)).all()


@BOTH
@EITHER
def test_weights_beyond_one_that_is_far_behind_are_not_tried(model, make, few, monkeypatch):
    behind = iter([0, 3.9, 4.1])
    monkeypatch.setattr(graph_weight, "_behind", lambda scores: np.append(np.zeros(len(scores) - 1), next(behind, 0)))
    fitted = make(model, graph_weight="auto", max_iter=2).fit(few)
    assert len(fitted.graph_weight_path_) == 3


@BOTH
@pytest.mark.parametrize("init", ["auto", "kmeans"])
def test_with_the_weight_0_chosen_embeddings_are_not_used(model, init, few, monkeypatch):
    none = graph_model.Weight(0.0, np.zeros((1, 4)), False)
    monkeypatch.setattr("topicfold.models.graph.weighted_model.choose_weight", lambda *_: none)
    embeddings = np.random.default_rng(0).normal(size=(60, 4))
    chosen = quiet(model, graph_weight="auto", init=init, max_iter=3).fit(few, embeddings=embeddings)
    given = quiet(model, graph_weight=0, init=init, max_iter=3).fit(few)
    assert np.array_equal(chosen.topic_word_, given.topic_word_)
    assert np.array_equal(chosen.doc_topic_, given.doc_topic_)
