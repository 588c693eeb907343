"""LTM, LapPLSI and DTM with a prior: leave-one-out EM on the graph, new documents, threads, and the weight chosen."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import ALL, BOTH, DENSE, MODELS, paper, quiet, random_graph, rows

import naive
from topicfold import DTM, LDA, LTM, PLSA, LapPLSI
from topicfold.graph.build import link_graph
from topicfold.models.em.fold_in import fold_in_near
from topicfold.models.em.leave_one_out import document_prior, fold_in_counts
from topicfold.models.graph.weight import WEIGHTS_WITH_PRIOR

pytestmark = DENSE

N_TITLES, N_TOPICS = 400, 8


def titles(seed):
    """Documents of five tokens and the topic of each: nearly all words are from one of eight topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(80, 0.1), N_TOPICS)
    own = rng.integers(N_TOPICS, size=N_TITLES)
    mixes = 0.9 * np.eye(N_TOPICS)[own] + 0.1 / N_TOPICS
    return sp.csr_array(np.array([rng.multinomial(5, mix @ topics) for mix in mixes])), own


def nearly_random_graph(own, seed):
    """1200 edges between random documents; a tenth of them is within a topic."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(len(own), size=(1200, 2))
    for number in range(120):
        pairs[number, 1] = rng.choice(np.flatnonzero(own == own[pairs[number, 0]]))
    return link_graph(pairs[pairs[:, 0] != pairs[:, 1]], len(own))


def misleading_graph(own, seed):
    """Edges between random documents of different topics."""
    pairs = np.random.default_rng(seed).integers(len(own), size=(1200, 2))
    return link_graph(pairs[own[pairs[:, 0]] != own[pairs[:, 1]]], len(own))


def largest_share(doc_topic):
    return np.bincount(doc_topic.argmax(axis=1)).max() / len(doc_topic)


def normalised(values):
    return values / values.sum(axis=1, keepdims=True)


# ---- the step -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["direct", "cg"])
@pytest.mark.parametrize("weight", [0.1, 3.0, 100.0])
@pytest.mark.parametrize(("prior", "smoothing", "focus"), [(1.0, 0.01, 3.0), (5.0, 0.0, 0.0), (0.2, 0.3, 10.0)])
def test_steps_of_ltm_with_a_prior_are_the_formula(few, solver, weight, prior, smoothing, focus):
    rng = np.random.default_rng(3)
    graph, start = random_graph(rng, 60, 0.1), rows(rng, 4, 30)
    doc_topic, topic_word, share, expected = np.full((60, 4), 0.25), start, np.full(4, 0.25), []
    for _ in range(5):
        state = (doc_topic, topic_word, share)
        doc_topic, topic_word, share, objective = naive.ltm_step_with_prior(
            few.toarray(), *state, graph, weight, prior, smoothing, focus
        )
        expected.append(objective / few.sum())
    options = {"alpha": prior, "beta": smoothing, "focus": focus, "graph_weight": weight, "solver": solver}
    model = quiet(LTM, 4, init=start, dtype="float64", max_iter=5, tol=0, **options).fit(few, graph=sp.csr_array(graph))
    close = 1e-9 if solver == "direct" else 1e-4
    assert np.allclose(model.doc_topic_, doc_topic, atol=close)
    assert np.allclose(model.topic_word_, topic_word, atol=close)
    assert np.allclose(model.history_, expected, atol=close)


@pytest.mark.parametrize("solver", ["direct", "cg"])
def test_an_empty_document_of_ltm_has_its_neighbours_and_the_prior(few, solver):
    counts = sp.csr_array(sp.vstack([few, sp.csr_array((2, 30), dtype=int)]))
    graph = link_graph([(60, 3), (60, 8), (1, 2)], 62, weights=[1.0, 3.0, 1.0])
    options = {
        "graph_weight": 2.0,
        "alpha": 4.0,
        "focus": 0,
        "solver": solver,
        "dtype": "float64",
        "max_iter": 200,
        "tol": 1e-9,
    }
    model = quiet(LTM, **options).fit(counts, graph=graph)
    near = 2 * (np.array([1, 3]) @ model.doc_topic_[[3, 8]])
    # the prior of a fit is shared by the topics' tokens, which at rest are all but their weights
    assert np.allclose(model.doc_topic_[60], (near + 4 * model.topic_weight_) / 12, atol=0.02)
    assert not np.allclose(model.doc_topic_[60], near / 8, atol=0.02)
    assert not np.allclose(model.doc_topic_[60], model.topic_weight_, atol=0.02)
    assert np.array_equal(model.doc_topic_[61], model.topic_weight_)


@BOTH
@pytest.mark.parametrize(("prior", "smoothing"), [(1.0, 0.01), (3.0, 0.2)])
def test_without_a_graph_the_steps_are_leave_one_out_em(model, few, prior, smoothing):
    counts, start = few.toarray(), rows(np.random.default_rng(1), 3, 30)
    doc_count, topic_word, share = np.tile(counts.sum(axis=1, keepdims=True) / 3, 3), start, np.full(3, 1 / 3)
    values = []
    for _ in range(6):
        base = prior * share
        doc_count, topic_word, value, tokens = naive.leave_one_out_step(counts, doc_count, topic_word, base, smoothing)
        share = tokens / tokens.sum()
        values.append(value / counts.sum())
    options = {"alpha": prior, "beta": smoothing, "init": start, "dtype": "float64", "max_iter": 6, "tol": 0}
    fitted = quiet(model, graph_weight=0, focus=0, **options).fit(few)
    assert np.allclose(fitted.topic_word_, topic_word, atol=1e-9)
    assert np.allclose(fitted.history_, values, atol=1e-9)
    assert np.allclose(fitted.topic_weight_, normalised(doc_count + prior * share).T @ counts.sum(axis=1) / few.sum())


@BOTH
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_without_a_graph_it_is_lda(model, dtype):
    counts, _ = titles(0)
    plain = quiet(model, N_TOPICS, graph_weight=0, focus=0, dtype=dtype).fit(counts[:300])
    other = quiet(LDA, N_TOPICS, focus=0, dtype=dtype).fit(counts[:300])
    assert np.allclose(plain.topic_word_, other.topic_word_, atol=1e-5 if dtype == "float32" else 1e-10)
    fitted = quiet(model, N_TOPICS, graph_weight=0, dtype=dtype).fit(counts[:300])
    other = quiet(LDA, N_TOPICS, dtype=dtype).fit(counts[:300])
    # the graph models carry P(z|d) from step to step, LDA counts; where a main topic changes they differ on the way
    assert np.abs(fitted.topic_word_ - other.topic_word_).mean() < 1e-3
    assert (fitted.doc_topic_.argmax(axis=1) == other.doc_topic_.argmax(axis=1)).mean() > 0.98
    assert np.isclose(fitted.score(counts[300:]), other.score(counts[300:]), atol=0.01)
    assert fitted.graph_ is None


@BOTH
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(3))
def test_very_short_documents_are_told_better_than_without_a_prior(model, dtype, seed):
    counts, _ = titles(seed)
    fitted = quiet(model, N_TOPICS, dtype=dtype, graph_weight=0).fit(counts[:300])
    in_paper = paper(model, N_TOPICS, dtype=dtype, graph_weight=0).fit(counts[:300])
    assert fitted.score(counts[300:]) > in_paper.score(counts[300:]) + 0.5
    assert fitted.doc_topic_.min() > 0  # five words never make certain
    assert in_paper.doc_topic_.min() == 0


@ALL
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("prior", [1e-6, 1.0, 1e6])
def test_rows_sum_to_one_with_any_prior(model, dtype, prior):
    counts, own = titles(0)
    counts = sp.csr_array(sp.vstack([sp.csr_array((2, 80), dtype=int), counts[2:]]))
    graph = nearly_random_graph(own[:300], 0)
    for weight in [{}] if model is DTM else [{"graph_weight": 0}, {"graph_weight": 1.0}, {"graph_weight": 1000.0}]:
        fitted = quiet(model, N_TOPICS, alpha=prior, dtype=dtype, max_iter=10, **weight).fit(counts[:300], graph=graph)
        for table in (fitted.doc_topic_, fitted.topic_word_, fitted.transform(counts[300:]), fitted.transform(counts)):
            assert table.dtype == dtype
            assert np.isfinite(table).all()
            assert (table >= 0).all()
            assert np.allclose(table.sum(axis=1), 1, atol=1e-4)
        assert np.isfinite(fitted.history_).all()


@pytest.mark.parametrize("update", ["paper", "exact"])
@pytest.mark.parametrize("prior", [0.3, 1.0, 10.0])
def test_neither_likelihood_nor_separation_of_dtm_falls_with_a_prior(few, update, prior):
    options = {"update": update, "alpha": prior, "dtype": "float64", "max_iter": 25, "tol": 0}
    model = quiet(DTM, 4, **options).fit(few)
    assert np.diff(model.history_).min() >= -1e-12
    assert (np.diff(model.separation_) >= -1e-9 * model.separation_[1:]).all()
    assert model.history_[-1] > model.history_[0] + 0.01
    if prior == 10.0:  # a weak prior hardly changes how even the documents are
        sharper = quiet(DTM, 4, **{**options, "alpha": 0.0}).fit(few)
        assert model.doc_topic_.max(axis=1).mean() < sharper.doc_topic_.max(axis=1).mean()


# ---- new documents --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("prior", "weight"), [(1.0, 1.0), (0.5, 20.0), (30.0, 0.1)])
def test_new_documents_of_ltm_have_prior_and_neighbours_as_pseudo_counts(sampled, dtype, prior, weight):
    train, new = sampled[:60], sampled[60:80].astype(dtype)
    fitted = quiet(LTM, 4, alpha=prior, graph_weight=weight, dtype=dtype).fit(train)
    neighbors = np.random.default_rng(0).random((20, 60)) * (np.random.default_rng(1).random((20, 60)) < 0.1)
    own = document_prior(prior, fitted.topic_weight_, 3.0)
    pull = weight * neighbors @ fitted.doc_topic_.astype(float)
    expected = normalised(fold_in_counts(new, fitted.topic_word_, own, pull=pull, with_prior=True))
    found = fitted.transform(new, graph=neighbors)
    assert found.dtype == dtype
    assert np.allclose(found, expected, atol=1e-5 if dtype == "float32" else 1e-12)
    for some in ([4], [9, 4, 0]):  # whatever else is in the batch
        assert np.array_equal(fitted.transform(new[some], graph=neighbors[some])[some.index(4)], found[4])


@pytest.mark.parametrize("model", [LapPLSI, DTM])
@pytest.mark.parametrize("prior", [0.5, 30.0])
def test_new_documents_of_lapplsi_and_dtm_have_a_prior(model, prior, sampled):
    train, new = sampled[:60], sampled[60:80].astype(float)
    fitted = quiet(model, 4, alpha=prior, dtype="float64").fit(train)
    weight = fitted.neighbor_weight_ if model is DTM else fitted.graph_weight_
    neighbors = sp.csr_array(np.random.default_rng(0).random((20, 60)) < 0.1).astype(float)
    topics = (fitted.topic_word_, fitted.topic_weight_, neighbors, fitted.doc_topic_, weight)
    if model is DTM:
        expected = fold_in_near(new, *topics, prior=prior)
    else:  # what its words say as LDA has it, and then the neighbours
        own = fold_in_counts(new, fitted.topic_word_, document_prior(prior, fitted.topic_weight_, 3.0), with_prior=True)
        expected = fold_in_near(sp.csr_array(new.shape), *topics, prior=own, squared=True)
        for row in range(20):  # the highest point of own ln y - weight sum_j |y - y_j|^2 on the simplex
            near = neighbors[[row], :].toarray()[0]

            def height(y, own=own[row], near=near):
                return own @ np.log(y) - weight * near @ ((y - fitted.doc_topic_) ** 2).sum(axis=1)

            for towards in np.eye(4):
                moved = 0.999 * expected[row] + 0.001 * towards
                assert height(expected[row]) >= height(moved) - 1e-9
    assert np.allclose(fitted.transform(new, graph=neighbors), expected, atol=1e-9)
    if model is DTM:
        without = fold_in_near(new, *topics)
        near = [np.abs(table - fitted.topic_weight_).sum() for table in (expected, without)]
        assert near[0] < near[1]


@ALL
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("store_neighbors", [True, False])
def test_an_empty_new_document_without_neighbours_gets_the_topics_weights(model, dtype, store_neighbors, few):
    fitted = quiet(model, dtype=dtype, store_neighbors=store_neighbors).fit(few)
    empty = np.zeros((2, 30), int)
    for found in (fitted.transform(empty), fitted.transform(empty, graph=np.zeros((2, 60)))):
        assert np.allclose(found, fitted.topic_weight_, atol=1e-6)
    neighbors = np.zeros((2, 60))
    neighbors[1, 7] = 1
    drawn = fitted.transform(empty, graph=neighbors)
    assert np.allclose(drawn[0], fitted.topic_weight_, atol=1e-6)
    apart = np.abs(fitted.doc_topic_[7] - fitted.topic_weight_).sum()
    assert np.abs(drawn[1] - fitted.doc_topic_[7]).sum() < apart


# ---- threads --------------------------------------------------------------------------------------------------------


@ALL
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_give_the_same_bits_with_a_prior(model, dtype, sampled):
    weights = [{}] if model is DTM else [{}, {"graph_weight": 0}, {"graph_weight": "auto"}, {"graph_weight": 100.0}]
    for more in weights:
        fits = [
            quiet(model, 12, alpha=2.0, dtype=dtype, max_iter=6, n_jobs=n_jobs, **more).fit(sampled[:300])
            for n_jobs in (1, 2, 4)
        ]
        for other in fits[1:]:
            assert np.array_equal(other.doc_topic_, fits[0].doc_topic_)
            assert np.array_equal(other.topic_word_, fits[0].topic_word_)
            assert np.array_equal(other.history_, fits[0].history_)
            assert np.array_equal(other.transform(sampled[300:]), fits[0].transform(sampled[300:]))
            assert other.score(sampled[300:]) == fits[0].score(sampled[300:])


# ---- the weight chosen ----------------------------------------------------------------------------------------------


@BOTH
def test_auto_may_choose_no_graph(model):
    counts, own = titles(3)
    graph = misleading_graph(own, 3)
    fitted = quiet(model, N_TOPICS, graph_weight="auto").fit(counts, graph=graph)
    plain = quiet(model, N_TOPICS, graph_weight=0).fit(counts)
    assert fitted.graph_weight_ == 0
    assert fitted.graph_weight_path_[0, 0] == 0
    assert len(fitted.graph_weight_path_) < len(WEIGHTS_WITH_PRIOR)  # stronger ones would only be worse
    if model is LTM:  # LapPLSI, where there is a graph, begins with a step of the documents
        assert np.array_equal(fitted.topic_word_, plain.topic_word_)
        assert np.array_equal(fitted.topic_weight_, plain.topic_weight_)
        assert np.array_equal(fitted.transform(counts), plain.transform(counts))
        assert fitted.score(counts) == plain.score(counts)
    assert np.allclose(fitted.topic_word_, plain.topic_word_, atol=0.02)
    assert (fitted.doc_topic_.argmax(axis=1) == plain.doc_topic_.argmax(axis=1)).mean() > 0.95
    assert np.array_equal(fitted.transform(counts, graph=np.ones((N_TITLES, N_TITLES))), fitted.transform(counts))


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_auto_draws_no_crowd_into_one_topic(model, seed):
    counts, own = titles(seed)
    graph = nearly_random_graph(own, seed)
    most = 1.5 * largest_share(quiet(model, N_TOPICS, graph_weight=0).fit(counts).doc_topic_) + 0.03
    fitted = quiet(model, N_TOPICS, graph_weight="auto").fit(counts, graph=graph)
    assert largest_share(fitted.doc_topic_) <= most
    assert largest_share(fitted.transform(counts)) <= most
    chosen = fitted.graph_weight_path_[fitted.graph_weight_path_[:, 0] == fitted.graph_weight_][0]
    assert chosen[2] <= 1.5 * fitted.graph_weight_path_[0, 2] + 0.03
    if seed == 0:  # and a strong weight does
        strong = quiet(model, N_TOPICS, graph_weight=30.0).fit(counts, graph=graph)
        assert largest_share(strong.doc_topic_) > most


@BOTH
def test_auto_takes_a_graph_that_tells_the_topics(model):
    counts, own = titles(0)
    within = [(i, int(j)) for i in range(N_TITLES) for j in np.flatnonzero(own == own[i])[:6] if i != j]
    fitted = quiet(model, N_TOPICS, graph_weight="auto").fit(counts, graph=link_graph(within, N_TITLES))
    assert fitted.graph_weight_ > 0
    assert fitted.graph_weight_path_[:, 1].max() > fitted.graph_weight_path_[0, 1]


# ---- bad values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [*MODELS, PLSA])
@pytest.mark.parametrize("name", ["alpha", "beta"])
@pytest.mark.parametrize("value", [-1, np.nan, np.inf, "1", None, True])
def test_a_bad_prior_is_named(model, name, value, few):
    with pytest.raises(ValueError, match=f"{name}={value!r}: expected"):
        quiet(model, **{name: value}).fit(few)
