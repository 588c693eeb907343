"""LTM, LapPLSI and DTM: kernels against slow twins, what they promise, and the edges of what they are given."""

from __future__ import annotations

import contextlib
import itertools
import signal
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.metrics import adjusted_rand_score

import naive
from topicfold import DTM, LTM, PLSA, LapPLSI, load, save
from topicfold.graph.build import knn_graph, label_graph, laplacian, link_graph
from topicfold.graph.neighbors import document_vectors, nearest
from topicfold.metrics.completion import split_tokens
from topicfold.models import em
from topicfold.models.graph import dtm, ltm
from topicfold.models.graph import graph_model as on_graph
from topicfold.models.graph import weight as graph_weight
from topicfold.models.graph.fold_in_near import fold_in_near, fold_in_near_rows
from topicfold.models.graph.graph_model import FLOOR
from topicfold.models.graph.linear_system import GraphSystem
from topicfold.models.graph.separation import separation, sweep_exact, sweep_paper
from topicfold.models.graph.weight import WEIGHTS, _best

MODELS = (LTM, LapPLSI, DTM)
WEIGHTED = (LTM, LapPLSI)
ALL = pytest.mark.parametrize("model", MODELS)
BOTH = pytest.mark.parametrize("model", WEIGHTED)
pytestmark = pytest.mark.filterwarnings("ignore:topic .* is the largest topic:UserWarning")  # tiny graphs are dense


def quiet(model, n_topics=3, **parameters):
    return model(n_topics, **{"random_state": 0, "verbose": False, **parameters})


def random_graph(rng, n, density=0.4, weighted=True):
    """A dense symmetric graph, some documents of it isolated."""
    values = np.triu((rng.random((n, n)) < density) * (rng.uniform(0.1, 3, (n, n)) if weighted else 1.0), 1)
    alone = rng.random(n) < 0.15
    values[alone] = 0
    values[:, alone] = 0
    return values + values.T


def parts_of(graph):
    graph = sp.csr_array(graph)
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data, graph.sum(axis=1)


def rows(rng, n, n_topics, concentration=1.0):
    return rng.dirichlet(np.full(n_topics, concentration), n)


@pytest.fixture(scope="module")
def few(sampled):
    return sampled[:60]


@pytest.fixture(scope="module")
def few_graph(few):
    return knn_graph(few, 4)


# ---- kernels and their twins ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["direct", "cg"])
@pytest.mark.parametrize("weight", [0.01, 10.0, 1000.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_system_is_solved(solver, weight, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    graph = random_graph(rng, n)
    lengths = rng.integers(1, 50, n).astype(float)
    target = lengths[:, None] * rows(rng, n, 40)  # more columns than a group holds
    matrix = np.diag(lengths) + weight * (np.diag(graph.sum(axis=1)) - graph)
    expected = np.linalg.solve(matrix, target)
    system = GraphSystem(lengths, sp.csr_array(graph), weight, np.zeros(n, bool), solver, None)
    found = system.solve(target, rows(rng, n, 40))
    assert np.allclose(found, expected, atol=1e-10 if solver == "direct" else 1e-3)
    scale = np.sqrt(np.diag(matrix))[:, None]
    assert np.linalg.norm((matrix @ found - target) / scale) <= 1.1e-6 * np.linalg.norm(target / scale)


def test_conjugate_gradients_rest_at_the_solution_and_stop_in_time():
    rng = np.random.default_rng(0)
    graph = sp.csr_array(random_graph(rng, 30))
    diagonal = rng.integers(1, 50, 30) + graph.sum(axis=1)
    goal = rng.random((30, 3))
    solution = np.linalg.solve(np.diag(diagonal) - graph.toarray(), goal)
    parts = (*parts_of(graph)[:3], diagonal, goal)
    found = solution.copy()
    assert ltm.conjugate_gradients(*parts, found, 1e-6, 100) == 0
    assert np.array_equal(found, solution)
    found = np.zeros((30, 3))
    assert 0 < ltm.conjugate_gradients(*parts, found, 1e-12, 1000) < 100
    assert np.allclose(found, solution, rtol=1e-10)
    assert ltm.conjugate_gradients(*parts, np.zeros((30, 3)), 1e-12, 2) == 2


def test_a_component_without_tokens_gets_the_target():
    graph = np.zeros((4, 4))
    graph[0, 1] = graph[1, 0] = graph[2, 3] = graph[3, 2] = 1.0
    lengths = np.array([4.0, 0, 0, 0])
    silent = np.array([False, False, True, True])
    target = np.array([[2.0, 2], [0, 0], [0.3, 0.7], [0.3, 0.7]])
    for solver in ("direct", "cg"):
        found = GraphSystem(lengths, sp.csr_array(graph), 10.0, silent, solver, None).solve(target, target)
        assert np.allclose(found, [[0.5, 0.5], [0.5, 0.5], [0.3, 0.7], [0.3, 0.7]], atol=1e-5)


@pytest.mark.parametrize("n_topics", [1, 3, 9])
def test_shared_kernels_are_their_formulas(few, n_topics):
    rng = np.random.default_rng(n_topics)
    counts = sp.csr_array(sp.vstack([few, sp.csr_array((1, 30), dtype=int)])).astype(float)
    doc_topic, topic_word = rows(rng, 61, n_topics), rows(rng, n_topics, 30)
    doc, word = em.padded(doc_topic, float), em.padded(topic_word.T, float)
    cells = em.cell_probabilities(counts, doc, word, None)
    coordinates = counts.tocoo()
    assert np.allclose(cells, (doc_topic @ topic_word)[coordinates.row, coordinates.col], rtol=1e-12)
    renewed, beside = em.document_step(counts, doc, word, None)
    expected, _, log_likelihood = naive.plsa_step(counts.toarray(), doc_topic, topic_word)
    assert np.allclose(renewed[:, :n_topics], expected, atol=1e-13)
    assert np.array_equal(renewed[:, n_topics:], np.zeros((61, renewed.shape[1] - n_topics)))
    assert np.array_equal(beside, cells)
    assert np.array_equal(doc[:, :n_topics], doc_topic)  # the step is not taken in place
    assert np.isclose(em.log_likelihood(counts, cells), log_likelihood, rtol=1e-12)


def test_cells_without_probability_are_left_out_of_the_likelihood():
    counts = sp.csr_array(np.array([[2.0, 1.0]]))
    assert np.isclose(em.log_likelihood(counts, np.array([0.5, 0.0])), 2 * np.log(0.5))


def new_documents(rng, n=8):
    """Counts, topics, neighbours and their P(z|d); among the new an empty one and one without neighbours."""
    topic_word, theta = rows(rng, 4, 20, 0.3), rows(rng, 12, 4, 0.5)
    counts = rng.poisson(rows(rng, n, 4, 0.3) @ topic_word * 20).astype(float)
    counts[0] = 0
    neighbors = (rng.random((n, 12)) < 0.3) * rng.uniform(0.2, 2, (n, 12))
    neighbors[0, :2] = 1
    neighbors[1] = 0
    return counts, topic_word, sp.csr_array(neighbors), theta


def folded_far(counts, topic_word, neighbors, theta, weight, squared):
    """The kernel's fixed point, with more steps than `fold_in_near` takes."""
    parts = sp.csr_array(counts)
    result = np.zeros((len(counts), len(topic_word)))
    near = (weight * neighbors.sum(axis=1), weight * (neighbors @ theta), squared, 20_000, 1e-13)
    fold_in_near_rows(
        parts.indptr.astype(np.int64),
        parts.indices.astype(np.int32),
        parts.data,
        0,
        len(counts),
        em.padded(topic_word.T, float),
        result,
        len(topic_word),
        *near,
    )
    return result


@pytest.mark.parametrize("weight", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("seed", range(3))
def test_fold_in_near_is_the_fixed_point_from_any_start(weight, seed):
    rng = np.random.default_rng(seed)
    counts, topic_word, neighbors, theta = new_documents(rng)
    found = folded_far(counts, topic_word, neighbors, theta, weight, False)
    toward, pull = weight * (neighbors @ theta), weight * neighbors.sum(axis=1)
    for d in range(len(counts)):
        for start in rows(rng, 3, 4):
            expected = naive.fold_in_near(counts[d], topic_word, toward[d], pull[d], start)
            assert np.allclose(found[d], expected, atol=1e-6)
    short = fold_in_near(sp.csr_array(counts), topic_word, np.full(4, 0.25), neighbors, theta, weight)
    assert np.allclose(short[neighbors.sum(axis=1) > 0], found[neighbors.sum(axis=1) > 0], atol=0.02)


@pytest.mark.parametrize("weight", [0.1, 3.0, 1000.0])
@pytest.mark.parametrize("seed", range(3))
def test_squared_fold_in_near_is_the_maximum_on_the_simplex(weight, seed):
    rng = np.random.default_rng(seed)
    counts, topic_word, neighbors, theta = new_documents(rng)
    found = folded_far(counts, topic_word, neighbors, theta, weight, True)
    assert np.allclose(found.sum(axis=1), 1, atol=1e-10)
    for d in range(len(counts)):
        used = counts[d] > 0

        def height(y, d=d, used=used):
            distance = ((y - theta) ** 2).sum(axis=1)
            return counts[d, used] @ np.log(y @ topic_word[:, used]) - weight * (neighbors[[d]] @ distance)[0]

        best = height(np.maximum(found[d], 1e-15))
        scale = counts[d].sum() + weight * neighbors[[d]].sum()
        for start in rows(rng, 2, 4):
            solved = minimize(
                lambda y, height=height, scale=scale: -height(y) / scale,
                start,
                method="SLSQP",
                bounds=[(1e-12, 1)] * 4,
                constraints={"type": "eq", "fun": lambda y: y.sum() - 1},
                options={"ftol": 1e-14, "maxiter": 500},
            ).x
            assert best >= height(np.maximum(solved, 1e-15) / solved.sum()) - 1e-9 * scale
            assert np.allclose(found[d], solved, atol=2e-3)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fold_in_near_does_not_depend_on_the_batch(squared, dtype):
    counts, topic_word, neighbors, theta = new_documents(np.random.default_rng(0), 30)
    counts[2], weight = 0, np.array([0.1, 0.2, 0.3, 0.4], dtype)
    neighbors = sp.csr_array(sp.diags_array((np.arange(30) != 2) * 1.0) @ neighbors)
    neighbors.eliminate_zeros()
    matrix = sp.csr_array(counts).astype(dtype)
    options = {"squared": squared}
    whole = fold_in_near(matrix, topic_word.astype(dtype), weight, neighbors, theta, 5.0, **options)
    assert whole.dtype == dtype
    assert np.array_equal(whole[2], weight)  # neither a word nor a neighbour
    assert np.allclose(whole[0], neighbors[[0]] @ theta / neighbors[[0]].sum(), atol=1e-6)  # neighbours alone
    plain = em.fold_in(matrix, topic_word.astype(dtype), weight)
    assert np.allclose(whole[1], plain[1], atol=1e-6)  # words alone
    for some in ([4], [9, 4, 0], [29, 4]):
        part = fold_in_near(matrix[some], topic_word.astype(dtype), weight, neighbors[some], theta, 5.0, **options)
        assert np.array_equal(part[some.index(4)], whole[4])


@pytest.mark.parametrize("solver", ["direct", "cg"])
@pytest.mark.parametrize("weight", [0.5, 30.0])
def test_steps_of_ltm_are_the_formula(few, solver, weight):
    rng = np.random.default_rng(3)
    graph, start = random_graph(rng, 60, 0.1), rows(rng, 4, 30)
    doc_topic, topic_word, expected = np.full((60, 4), 0.25), start, []
    for _ in range(4):
        doc_topic, topic_word, objective = naive.ltm_step(few.toarray(), doc_topic, topic_word, graph, weight)
        expected.append(objective / few.sum())
    options = {"graph_weight": weight, "solver": solver, "init": start, "dtype": "float64", "max_iter": 4, "tol": 0}
    model = quiet(LTM, 4, **options).fit(few, graph=sp.csr_array(graph))
    close = 1e-9 if solver == "direct" else 1e-4
    assert np.allclose(model.doc_topic_, doc_topic, atol=close)
    assert np.allclose(model.topic_word_, topic_word, atol=close)
    assert np.allclose(model.history_, expected, atol=close)


@pytest.mark.parametrize("seed", range(5))
def test_separation_is_the_double_loop(seed):
    rng = np.random.default_rng(seed)
    theta, graph = rows(rng, 15, 4, 0.2), random_graph(rng, 15)
    assert np.allclose(separation(theta, laplacian(graph)), naive.separation(theta, graph), rtol=1e-10)
    even = np.full((15, 3), 1 / 3)
    assert np.allclose(separation(even, laplacian(graph)), 0, atol=1e-12)


def extreme_rows(rng, n, n_topics):
    """Rows of the floored simplex, some of them at its corners or next to them."""
    theta = rows(rng, n, n_topics, rng.choice([0.05, 0.5, 5.0]))
    corners = np.eye(n_topics)[rng.integers(n_topics, size=n)]
    kind = rng.random(n)
    theta[kind < 0.3] = corners[kind < 0.3]
    near = kind > 0.8
    theta[near] = 0.999999 * corners[near] + 1e-6 * theta[near]
    theta = FLOOR + (1 - n_topics * FLOOR) * theta
    return theta / theta.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_topics", [2, 3, 10, 30])
@pytest.mark.parametrize("seed", range(3))
def test_a_sweep_as_in_the_paper_is_its_formula(n_topics, seed):
    rng = np.random.default_rng(seed)
    theta, graph = rows(rng, 12, n_topics), random_graph(rng, 12)
    pairs, near = naive.separation(theta, graph)
    by_topic = np.ascontiguousarray(theta.T)
    sweep_paper(*parts_of(graph), pairs / near, by_topic)
    assert np.allclose(by_topic.T, naive.dtm_sweep(theta, graph, pairs / near), rtol=0, atol=1e-12)
    assert np.allclose(by_topic.sum(axis=0), 1, atol=1e-12)


@pytest.mark.parametrize("n_topics", [3, 10, 30])
@pytest.mark.parametrize("seed", range(5))
def test_a_sweep_as_in_the_paper_holds_near_0_and_1(n_topics, seed):
    rng = np.random.default_rng(seed)
    theta, graph = extreme_rows(rng, 12, n_topics), random_graph(rng, 12)
    alpha = 3.0
    by_topic = np.ascontiguousarray(theta.T)
    sweep_paper(*parts_of(graph), alpha, by_topic)
    # 1 - p of a p next to 1 has few digits left, and all other topics hang on it
    assert np.allclose(by_topic.T, naive.dtm_sweep(theta, graph, alpha), rtol=0, atol=1e-9)
    assert np.isfinite(by_topic).all()
    assert by_topic.min() >= 0


def height(theta, graph, alpha):
    pairs, near = naive.separation(theta, graph)
    return pairs - alpha * near


def exact_states(theta, graph, alpha):
    """The table before and after each document of a sweep: documents go in order, and those to come are as before."""
    swept = theta.copy()
    sweep_exact(*parts_of(graph), alpha, swept)
    return [np.concatenate([swept[:i], theta[i:]]) for i in range(len(theta) + 1)]


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.integers(2, 12), st.integers(2, 9), st.integers(0, 10_000), st.booleans(), st.sampled_from([0.2, 0.6, 1.0]))
def test_no_document_of_an_exact_sweep_lowers_the_height(n_topics, n, seed, weighted, density):
    rng = np.random.default_rng(seed)
    theta, graph = extreme_rows(rng, n, n_topics), random_graph(rng, n, density, weighted)
    pairs, near = naive.separation(theta, graph)
    assume(near > dtm._FLAT * pairs)
    alpha = pairs / near
    states = exact_states(theta, graph, alpha)
    heights = [height(state, graph, alpha) for state in states]
    assert np.diff(heights).min() >= -1e-10 * pairs
    assert np.allclose(states[-1].sum(axis=1), 1, atol=1e-10)
    assert states[-1].min() >= FLOOR * (1 - 1e-9)
    after = naive.separation(states[-1], graph)
    assert after[0] * near >= pairs * after[1] - 1e-10 * pairs * near


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.integers(2, 8), st.integers(2, 8), st.integers(0, 10_000))
def test_where_the_height_is_concave_the_row_is_the_best(n_topics, n, seed):
    rng = np.random.default_rng(seed)
    theta, graph = extreme_rows(rng, n, n_topics), random_graph(rng, n, 0.5)
    graph[-1, 0] = graph[0, -1] = 10.0
    pairs, near = naive.separation(theta, graph)
    assume(near > dtm._FLAT * pairs)
    alpha = pairs / near
    assume(n - 1 - alpha * graph[-1].sum() < -1e-6)
    found = exact_states(theta, graph, alpha)[-1]
    best = height(found, graph, alpha)
    for row in np.concatenate([rows(rng, 60, n_topics, 0.3), 0.99 * found[-1] + 0.01 * rows(rng, 60, n_topics, 0.3)]):
        other = found.copy()
        other[-1] = FLOOR + (1 - n_topics * FLOOR) * row
        other[-1] /= other[-1].sum()
        assert height(other, graph, alpha) <= best + 1e-10 * pairs


@pytest.mark.parametrize("n", [2, 3, 7])
def test_an_exact_sweep_where_all_are_joined_alike(n):
    """A complete graph has the same separation whatever the documents: c is a rounding error on either side of 0."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        theta, graph = rows(rng, n, 4), rng.uniform(0.1, 3) * (1 - np.eye(n))
        pairs, near = separation(theta, laplacian(graph))
        for alpha in (pairs / near, pairs / near * (1 + 1e-15), 1 / graph[0, 1]):
            final = exact_states(theta, graph, alpha)[-1]
            assert np.allclose(final.sum(axis=1), 1, atol=1e-9)
            assert final.min() >= FLOOR * (1 - 1e-9)


def test_an_exact_sweep_where_the_height_is_all_but_linear():
    """c just below 0: what is projected is far away, and the row still sums to one and is the best corner."""
    rng = np.random.default_rng(0)
    theta, graph = rows(rng, 6, 3), random_graph(rng, 6, 1.0)
    graph[0, 1:] = graph[1:, 0] = np.linspace(0.5, 1.5, 5)
    for below in (1e-4, 1e-8, 1e-12, 1e-15):
        alpha = 5 / graph[0].sum() * (1 + below)
        if 5 - alpha * graph[0].sum() >= 0:
            continue
        states = exact_states(theta, graph, alpha)
        assert np.isclose(states[1][0].sum(), 1, atol=1e-9)
        assert height(states[1], graph, alpha) >= height(states[0], graph, alpha) - 1e-10


def test_a_single_update_of_the_paper_can_lower_the_separation_and_an_exact_one_does_not():
    """Theorem 2 of the paper does not hold for three topics."""
    lowered = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        theta, graph = rows(rng, 6, 3), random_graph(rng, 6, 0.5, weighted=False)
        pairs, near = naive.separation(theta, graph)
        if near == 0:
            continue
        before = pairs / near
        for i, p in itertools.product(range(6), range(3)):
            pairs_after, near_after = naive.separation(naive.dtm_update(theta, graph, before, i, p), graph)
            lowered += pairs_after / near_after < before * (1 - 1e-6)
        for state in exact_states(theta, graph, before):
            pairs_after, near_after = naive.separation(state, graph)
            assert pairs_after >= before * near_after * (1 - 1e-10)
    assert lowered > 0


# ---- a weight of 0 is PLSA ------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("init", ["auto", "nmf", "random", "kmeans", "array"])
@pytest.mark.parametrize("more", [{}, {"smoothing": 0.1}, {"seed_words": {1: [3, 4]}}], ids=lambda more: str(*more))
def test_without_a_weight_it_is_plsa_to_the_bit(model, dtype, init, more, few, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("no graph is wanted")

    for name in ("nearest", "document_vectors", "joined"):
        monkeypatch.setattr(on_graph, name, refuse)
    start = rows(np.random.default_rng(0), 3, 30) if init == "array" else init
    options = {"init": start, "dtype": dtype, "max_iter": 30, **more}
    expected = quiet(PLSA, **options).fit(few)
    embeddings = np.random.default_rng(0).normal(size=(60, 2))
    for what in ({}, {"embeddings": embeddings}, {"graph": sp.csr_array((60, 60))}, {"y": np.arange(60) % 2}):
        found = quiet(model, graph_weight=0, n_neighbors=100, **options).fit(few, **what)
        assert found.graph_ is None
        assert found.graph_weight_ == 0
        assert np.array_equal(found.topic_word_, expected.topic_word_)
        assert np.array_equal(found.doc_topic_, expected.doc_topic_)
        assert np.array_equal(found.topic_weight_, expected.topic_weight_)
        assert np.array_equal(found.history_, expected.history_)
        assert np.array_equal(found.transform(few[:7]), expected.transform(few[:7]))
        assert found.score(few) == expected.score(few)


@BOTH
def test_without_a_weight_no_word_of_the_graph(model):
    """One topic may well be nearly everything, and no graph has drawn it together."""
    counts = np.vstack([np.tile([3, 2, 1, 0], (19, 1)), [[0, 0, 0, 4]]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet(model, 2, graph_weight=0).fit(counts)


# ---- what the fits promise ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1.0, 30.0])
@pytest.mark.parametrize("init", ["nmf", "kmeans", "random"])
def test_the_objective_of_lapplsi_never_falls(few, weight, init):
    graph = random_graph(np.random.default_rng(5), 60, 0.1)
    options = {"graph_weight": weight, "init": init, "dtype": "float64", "tol": 0}
    whole = quiet(LapPLSI, 4, max_iter=25, **options).fit(few, graph=graph)
    assert np.diff(whole.history_).min() >= -1e-12
    assert whole.history_[-1] > whole.history_[0]
    for n_steps in (1, 2, 5, 12):
        part = quiet(LapPLSI, 4, max_iter=n_steps, **options).fit(few, graph=graph)
        state = (part.doc_topic_, part.topic_word_)
        expected = naive.lapplsi_objective(few.toarray(), *state, graph, weight) / few.sum()
        assert np.isclose(whole.history_[n_steps], expected, atol=1e-10)


def test_the_objective_of_lapplsi_never_falls_with_a_prior(few):
    options = {"smoothing": 0.05, "seed_words": {0: [1, 2], 2: [5]}, "dtype": "float64", "tol": 0, "max_iter": 30}
    assert np.diff(quiet(LapPLSI, 4, graph_weight=5.0, **options).fit(few).history_).min() >= -1e-12


@pytest.mark.parametrize("update", ["paper", "exact"])
@pytest.mark.parametrize("init", ["nmf", "kmeans", "random"])
@pytest.mark.parametrize("seed", range(3))
def test_neither_likelihood_nor_separation_of_dtm_falls(few, update, init, seed):
    options = {"update": update, "init": init, "random_state": seed, "dtype": "float64", "tol": 0}
    whole = quiet(DTM, 4, max_iter=25, **options).fit(few)
    assert len(whole.separation_) == len(whole.history_) == 25
    assert np.diff(whole.history_).min() >= -1e-12
    assert (np.diff(whole.separation_) >= -1e-9 * whole.separation_[1:]).all()
    assert whole.separation_[-1] > 1.2 * whole.separation_[2]
    assert whole.history_[-1] > whole.history_[0] + 0.01
    part = quiet(DTM, 4, max_iter=6, **options).fit(few)
    pairs, near = naive.separation(part.doc_topic_, part.graph_.toarray())
    assert np.isclose(whole.separation_[6], pairs / near, rtol=1e-9)
    log_likelihood = naive.plsa_step(few.toarray(), part.doc_topic_, part.topic_word_)[2]
    assert np.isclose(whole.history_[6], log_likelihood / few.sum(), atol=1e-10)


def test_dtm_with_a_prior_and_weighted_edges(few):
    options = {"smoothing": 0.05, "seed_words": {0: [1, 2]}, "dtype": "float64", "tol": 0, "max_iter": 25}
    model = quiet(DTM, 4, **options).fit(few, graph=knn_graph(few, 4, weighted=True))
    assert np.diff(model.history_).min() >= -1e-12
    assert (np.diff(model.separation_) >= -1e-9 * model.separation_[1:]).all()


@pytest.mark.parametrize("update", ["paper", "exact"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_separation_does_not_fall_where_neighbours_become_the_same(blocks, update, dtype):
    """Blocks that nothing joins: the distance of neighbours goes to 0, and what is shown must not."""
    model = quiet(DTM, update=update, dtype=dtype, n_neighbors=3, max_iter=30, tol=0).fit(blocks[0])
    separated = model.separation_[2:]
    assert (np.minimum(separated, 1e9) == 1e9).all()


@pytest.mark.parametrize("update", ["paper", "exact"])
@pytest.mark.parametrize("n_topics", [3, 5, 7, 9, 10])
@pytest.mark.parametrize("n_documents", [20, 30, 57, 100])
def test_dtm_leaves_its_start_in_any_precision(sampled, update, n_topics, n_documents):
    """Documents begin alike, and the separation of such is a rounding error over another: nothing to hold on to."""
    counts = sampled[:n_documents]
    for weighted in (False, True):
        graph = knn_graph(counts, 5, weighted=weighted)
        model = quiet(DTM, n_topics, update=update, dtype="float64", max_iter=5, tol=0).fit(counts, graph=graph)
        assert model.doc_topic_.std(axis=0).max() > 0.01


@pytest.mark.parametrize("init", ["nmf", "random"])
def test_ltm_ends_better_than_it_began(few, init):
    history = quiet(LTM, 4, init=init, dtype="float64").fit(few).history_
    assert history[-1] > history[0] + 0.01


# ---- corners of graphs and corpora ----------------------------------------------------------------------------------


@ALL
def test_a_graph_without_edges_is_plsa_without_a_fold_in(model, few):
    start = rows(np.random.default_rng(1), 3, 30)
    doc_topic, topic_word, values = np.full((60, 3), 1 / 3), start, []
    if model is LapPLSI:  # which begins with a step of the documents
        doc_topic = naive.plsa_step(few.toarray(), doc_topic, topic_word)[0]
    for _ in range(6):
        doc_topic, topic_word, value = naive.plsa_step(few.toarray(), doc_topic, topic_word)
        values.append(value / few.sum())
    fitted = quiet(model, init=start, max_iter=6, tol=0, dtype="float64").fit(few, graph=sp.csr_array((60, 60)))
    assert np.allclose(fitted.doc_topic_, doc_topic, atol=1e-9)
    assert np.allclose(fitted.topic_word_, topic_word, atol=1e-9)
    assert np.allclose(fitted.history_, values, atol=1e-9)


@pytest.mark.parametrize("solver", ["direct", "cg"])
def test_an_empty_document_gets_the_mean_of_its_neighbours_in_ltm(few, solver):
    counts = sp.csr_array(sp.vstack([few, sp.csr_array((4, 30), dtype=int)]))
    links = [(60, 3), (60, 8), (60, 20), (62, 63), *zip(range(0, 40, 2), range(1, 40, 2))]
    graph = link_graph(links, 64, weights=[1.0, 2.0, 3.0] + [1.0] * (len(links) - 3))
    model = quiet(LTM, solver=solver, dtype="float64").fit(counts, graph=graph)
    mean = np.array([1, 2, 3]) @ model.doc_topic_[[3, 8, 20]] / 6
    assert np.allclose(model.doc_topic_[60], mean, atol=1e-8 if solver == "direct" else 1e-3)
    assert not np.allclose(mean, model.topic_weight_, atol=1e-3)
    for nothing_known in (61, 62, 63):  # alone, and two empty ones joined to each other
        assert np.allclose(model.doc_topic_[nothing_known], model.topic_weight_)


@ALL
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_empty_documents_with_and_without_neighbours(model, dtype, few):
    counts = sp.csr_array(sp.vstack([few, sp.csr_array((3, 30), dtype=int)]))
    fitted = quiet(model, dtype=dtype).fit(counts, graph=link_graph([(60, 3), (61, 62), (1, 2), (2, 3)], 63))
    assert fitted.doc_topic_.dtype == dtype
    assert np.isfinite(fitted.doc_topic_).all()
    assert np.allclose(fitted.doc_topic_.sum(axis=1), 1, atol=1e-5)
    assert np.allclose(fitted.doc_topic_[61:], fitted.topic_weight_)
    by_words = quiet(model, dtype=dtype).fit(counts)
    assert by_words.graph_[[60]].nnz == 0
    assert np.allclose(by_words.doc_topic_[60:], by_words.topic_weight_)


@ALL
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_two_and_three_documents(model, dtype):
    one = quiet(model, 1, dtype=dtype).fit(np.array([[3, 1, 0]]))
    assert one.graph_.shape == (1, 1)
    assert np.allclose(one.topic_word_, [[0.75, 0.25, 0]])
    assert np.allclose(one.transform(np.array([[1, 0, 0], [0, 0, 0]])), 1)
    for counts in ([[3, 1, 0], [0, 1, 2]], [[3, 0, 0], [0, 0, 2]], [[3, 1, 0], [0, 1, 2], [1, 1, 1]]):
        two = quiet(model, 2, dtype=dtype, max_iter=30).fit(np.array(counts))
        for table in (two.doc_topic_, two.topic_word_, two.transform(np.array(counts))):
            assert np.isfinite(table).all()
            assert np.allclose(table.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("update", ["paper", "exact"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dtm_on_a_complete_graph(update, dtype, sampled):
    model = quiet(DTM, update=update, dtype=dtype, n_neighbors=50, max_iter=20).fit(sampled[:9])
    assert np.allclose(model.doc_topic_.sum(axis=1), 1, atol=1e-5)
    assert (np.diff(model.history_) >= -1e-6).all()


@ALL
def test_more_neighbours_than_documents(model, few):
    many, all_of_them = (quiet(model, n_neighbors=k, max_iter=5).fit(few[:20]) for k in (10**6, 19))
    assert np.array_equal(many.graph_.toarray(), all_of_them.graph_.toarray())
    assert np.array_equal(many.doc_topic_, all_of_them.doc_topic_)
    assert np.isfinite(many.transform(few[20:])).all()


@ALL
def test_weights_of_edges_count(model, few, few_graph):
    plain = quiet(model, dtype="float64", max_iter=10).fit(few, graph=few_graph)
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.1, 5, few_graph.shape)
    weighted = sp.csr_array(few_graph.multiply(weights + weights.T))
    other = quiet(model, dtype="float64", max_iter=10).fit(few, graph=weighted)
    assert not np.allclose(plain.doc_topic_, other.doc_topic_, atol=1e-3)
    if model is not DTM:  # twice the weight of all edges is twice the graph_weight; DTM's ratio does not change at all
        twice = quiet(model, dtype="float64", max_iter=10).fit(few, graph=2 * few_graph)
        half = quiet(model, dtype="float64", max_iter=10)
        half.graph_weight *= 2
        assert np.allclose(half.fit(few, graph=few_graph).doc_topic_, twice.doc_topic_, atol=1e-8)


def test_ltm_solvers_agree(sampled):
    fits = [quiet(LTM, 4, solver=solver, max_iter=40).fit(sampled) for solver in ("direct", "cg")]
    assert np.allclose(fits[0].doc_topic_, fits[1].doc_topic_, atol=1e-4)


def test_ltm_chooses_its_solver_by_size_and_weight(monkeypatch, few, few_graph):
    def direct(weight):
        return GraphSystem(np.ones(60), few_graph, weight, np.zeros(60, bool), "auto", None).direct

    assert direct(100.0)
    assert not direct(10.0)
    monkeypatch.setattr(ltm, "_DIRECT_DOCUMENTS", 59)
    assert not direct(100.0)
    auto, cg = (quiet(LTM, 4, solver=solver, max_iter=5).fit(few) for solver in ("auto", "cg"))
    assert np.array_equal(auto.doc_topic_, cg.doc_topic_)


@ALL
@pytest.mark.parametrize("metric", ["euclidean", "intersection"])
def test_other_metrics(model, metric, blocks):
    counts, block = blocks
    fitted = quiet(model, metric=metric).fit(counts)
    assert np.array_equal(fitted.graph_.toarray(), knn_graph(counts, fitted.n_neighbors, metric=metric).toarray())
    assert adjusted_rand_score(block, fitted.doc_topic_.argmax(axis=1)) == 1
    assert adjusted_rand_score(block, fitted.transform(counts).argmax(axis=1)) == 1
    embeddings = np.eye(3)[block] + np.random.default_rng(0).normal(0, 0.05, (30, 3))
    by_vectors = quiet(model, metric=metric).fit(counts, embeddings=embeddings)
    assert adjusted_rand_score(block, by_vectors.transform(counts, embeddings=embeddings).argmax(axis=1)) == 1


@ALL
def test_the_graph_is_that_of_knn_graph(model, few):
    fitted = quiet(model, n_neighbors=3, max_iter=2).fit(few)
    assert np.array_equal(fitted.graph_.toarray(), knn_graph(few, 3).toarray())
    embeddings = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)
    fitted.fit(few, embeddings=embeddings)
    assert np.array_equal(fitted.graph_.toarray(), knn_graph(embeddings, 3).toarray())


@ALL
def test_the_topic_that_swallows_the_documents_is_named(model, sampled):
    counts = sp.csr_array(np.vstack([np.tile([0, 3, 2, 1], (29, 1)), [[4, 0, 0, 0]]]))
    with pytest.warns(UserWarning, match="is the largest topic of 97% of the documents") as caught:
        fitted = quiet(model, 2, random_state=1).fit(counts)
    topic = np.bincount(fitted.doc_topic_.argmax(axis=1)).argmax()
    assert str(caught[0].message).startswith(f"topic {topic} is")
    assert caught[0].filename == __file__
    if model is LTM:
        with pytest.warns(UserWarning, match="graph_weight=1e\\+06 may be too strong"):
            quiet(model, 4, graph_weight=1e6).fit(sampled)


# ---- what is refused ------------------------------------------------------------------------------------------------

ASYMMETRIC = np.zeros((60, 60))
ASYMMETRIC[0, 1] = 1
NEGATIVE = np.zeros((60, 60))
NEGATIVE[0, 1] = NEGATIVE[1, 0] = -1


@ALL
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"graph": np.zeros((59, 59))}, r"graph has shape \(59, 59\)"),
        ({"graph": np.zeros((60, 59))}, r"graph has shape \(60, 59\)"),
        ({"graph": NEGATIVE}, "graph holds the weight -1"),
        ({"graph": np.where(NEGATIVE, np.nan, 0)}, "graph holds NaN"),
        ({"graph": ASYMMETRIC}, r"graph is not symmetric: \[0, 1\] is 1"),
        ({"embeddings": np.zeros((59, 3))}, r"embeddings have shape \(59, 3\): expected one row for each of 60"),
        ({"embeddings": np.zeros(60)}, r"embeddings have shape \(60,\)"),
        ({"embeddings": np.zeros((60, 0))}, r"embeddings have shape \(60, 0\)"),
        ({"embeddings": np.full((60, 2), np.nan)}, "embeddings hold NaN"),
        ({"embeddings": np.full((60, 2), np.inf)}, "embeddings hold NaN, infinity or values beyond"),
        ({"y": np.zeros(59, int)}, r"y has shape \(59,\)"),
        ({"y": np.full(60, 0.5)}, "y holds 0.5"),
    ],
)
def test_bad_graphs_embeddings_and_labels(model, given, message, few):
    with pytest.raises(ValueError, match=message):
        quiet(model).fit(few, **given)


@pytest.mark.parametrize(
    ("model", "name", "values"),
    [
        *[(model, "n_neighbors", (0, -1, 2.0, True, "5", None)) for model in MODELS],
        *[(model, "metric", ("cosmic", None)) for model in MODELS],
        *[(model, "graph_weight", (-1, np.nan, np.inf, "magic", None, True)) for model in WEIGHTED],
        (LTM, "solver", ("magic", None)),
        (DTM, "update", ("magic", None)),
        (DTM, "gamma", (0, -0.1, 1.5, np.nan, "0.1", None)),
    ],
)
def test_bad_parameters(model, name, values, few):
    for value in values:
        with pytest.raises(ValueError, match=f"{name}={value!r}: expected"):
            quiet(model).set_params(**{name: value}).fit(few)


@ALL
def test_bad_graphs_and_embeddings_of_new_documents(model, few):
    fitted = quiet(model, max_iter=3).fit(few)
    for call in (fitted.transform, fitted.score):
        with pytest.raises(ValueError, match=r"graph has shape \(2, 59\): expected \(2, 60\), new documents x"):
            call(few[:2], graph=np.zeros((2, 59)))
        with pytest.raises(ValueError, match="graph holds the weight -1"):
            call(few[:2], graph=NEGATIVE[:2])
        with pytest.raises(ValueError, match=f"this {model.__name__} was fitted without embeddings"):
            call(few[:2], embeddings=np.zeros((2, 3)))
    fitted.fit(few, embeddings=np.random.default_rng(0).normal(size=(60, 3)))
    with pytest.raises(ValueError, match="embeddings have 4 columns: those of the fit had 3"):
        fitted.transform(few[:2], embeddings=np.zeros((2, 4)))
    with pytest.raises(ValueError, match="expected one row for each of 2"):
        fitted.transform(few[:2], embeddings=np.zeros((3, 3)))


# ---- labels ---------------------------------------------------------------------------------------------------------


@ALL
def test_no_label_at_all_is_no_y(model, few):
    plain = quiet(model, max_iter=8).fit(few)
    for y in (np.full(60, -1), [None] * 60, np.full(60, np.nan), np.array(["-1"] * 60)):
        labelled = quiet(model, max_iter=8).fit(few, y)
        assert np.array_equal(labelled.doc_topic_, plain.doc_topic_)
        assert np.array_equal(labelled.topic_word_, plain.topic_word_)
        assert np.array_equal(labelled.graph_.toarray(), plain.graph_.toarray())


@ALL
def test_labels_change_the_graph(model, few, few_graph):
    labels = np.full(60, -1)
    labels[:12] = np.arange(12) % 3
    expected = label_graph(few_graph, labels).toarray()
    assert not np.array_equal(expected, few_graph.toarray())
    names = np.array([None, "ant", "bee", "cow"], object)[labels + 1]
    fits = [quiet(model, n_neighbors=4, max_iter=8).fit(few, y) for y in (labels, names, list(names), labels + 0.0)]
    fits.append(quiet(model, n_neighbors=4, max_iter=8).fit(few, labels, graph=few_graph))
    for fitted in fits:
        assert np.array_equal(fitted.graph_.toarray(), expected)
    for fitted in fits[1:4]:
        assert np.array_equal(fitted.doc_topic_, fits[0].doc_topic_)
    assert not np.allclose(fits[0].doc_topic_, quiet(model, n_neighbors=4, max_iter=8).fit(few).doc_topic_, atol=1e-3)


# ---- new documents --------------------------------------------------------------------------------------------------


def folded(fitted, counts, neighbors):
    weight = fitted.neighbor_weight_ if isinstance(fitted, DTM) else fitted.graph_weight_
    topics = (fitted.topic_word_, fitted.topic_weight_)
    counts = sp.csr_array(counts).astype(fitted.topic_word_.dtype)
    return fold_in_near(counts, *topics, neighbors, fitted.doc_topic_, weight, squared=isinstance(fitted, LapPLSI))


def plainly(fitted, counts):
    return em.fold_in(sp.csr_array(counts).astype(np.float32), fitted.topic_word_, fitted.topic_weight_)


@ALL
def test_new_documents_are_drawn_to_their_neighbours_by_words(model, sampled):
    train, new = sampled[:60], sampled[60:90]
    fitted = quiet(model, n_neighbors=4).fit(train)
    base = document_vectors(train).toarray().astype(float)
    alike = document_vectors(new, idf=fitted.neighbor_idf_).toarray().astype(float) @ base.T
    neighbors = np.zeros((30, 60))
    np.put_along_axis(neighbors, np.argsort(-alike, axis=1)[:, :4], 1.0, axis=1)
    found = fitted.transform(new)
    assert np.array_equal(found, folded(fitted, new, sp.csr_array(neighbors)))
    assert np.array_equal(found, fitted.transform(new, graph=neighbors))
    assert not np.allclose(found, plainly(fitted, new), atol=0.01)


@ALL
def test_without_stored_neighbours_words_alone_count(model, sampled):
    train, new = sampled[:60], sampled[60:90]
    kept, dropped = quiet(model).fit(train), quiet(model, store_neighbors=False).fit(train)
    assert dropped.neighbor_vectors_ is None
    assert dropped.neighbor_idf_ is None
    assert np.array_equal(dropped.doc_topic_, kept.doc_topic_)
    assert np.array_equal(dropped.transform(new), plainly(dropped, new))
    assert np.array_equal(dropped.transform(new, graph=np.ones((30, 60))), kept.transform(new, graph=np.ones((30, 60))))


@ALL
def test_what_is_stored_does_not_change_the_fit(model, blocks):
    counts = blocks[0]
    embeddings = np.random.default_rng(0).normal(size=(30, 4))
    kept = quiet(model, max_iter=4, tol=0).fit(counts, embeddings=embeddings)
    dropped = quiet(model, max_iter=4, tol=0, store_neighbors=False).fit(counts, embeddings=embeddings)
    assert np.array_equal(kept.topic_word_, dropped.topic_word_)
    assert np.array_equal(kept.doc_topic_, dropped.doc_topic_)
    with pytest.raises(ValueError, match="keeps no neighbours"):
        dropped.transform(counts, embeddings=embeddings)


@ALL
def test_new_documents_of_a_users_graph_have_neighbours_by_words_or_bring_them(model, few, few_graph):
    fitted = quiet(model).fit(few, graph=few_graph)
    vectors = document_vectors(few[:5], idf=fitted.neighbor_idf_)
    near = nearest(vectors, document_vectors(few), fitted.n_neighbors)
    near.data[:] = 1
    assert np.array_equal(fitted.transform(few[:5]), folded(fitted, few[:5], near))
    dropped = quiet(model, store_neighbors=False).fit(few, graph=few_graph)
    assert np.array_equal(dropped.transform(few[:5]), plainly(dropped, few[:5]))
    neighbors = np.zeros((5, 60))
    neighbors[np.arange(5), [9, 30, 2, 55, 41]] = [1, 2, 0.5, 1, 4]
    assert np.array_equal(fitted.transform(few[:5], graph=neighbors), folded(fitted, few[:5], sp.csr_array(neighbors)))
    assert np.isfinite(fitted.score(few[:5], graph=neighbors))


@ALL
def test_new_documents_with_embeddings(model, sampled):
    rng = np.random.default_rng(0)
    train, new, vectors, new_vectors = sampled[:60], sampled[60:80], rng.normal(size=(60, 4)), rng.normal(size=(20, 4))
    fitted = quiet(model, n_neighbors=3).fit(train, embeddings=vectors)
    alike = (new_vectors / np.linalg.norm(new_vectors, axis=1, keepdims=True)) @ (
        vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    ).T
    neighbors = np.zeros((20, 60))
    np.put_along_axis(neighbors, np.argsort(-alike, axis=1)[:, :3], 1.0, axis=1)
    found = fitted.transform(new, embeddings=new_vectors)
    assert np.array_equal(found, folded(fitted, new, sp.csr_array(neighbors)))
    with pytest.warns(UserWarning, match="fitted on embeddings and the new documents bring none"):
        assert np.array_equal(fitted.transform(new), plainly(fitted, new))
    assert fitted.score(new, embeddings=new_vectors) < 0


@ALL
def test_score_seeks_neighbours_of_the_observed_half_only(model, sampled, monkeypatch):
    train, new = sampled[:60], sampled[60:90]
    fitted = quiet(model).fit(train)
    asked, seek = [], on_graph.nearest

    def spy(queries, *arguments, **options):
        asked.append(queries)
        return seek(queries, *arguments, **options)

    monkeypatch.setattr(on_graph, "nearest", spy)
    fitted.score(new)
    seen, _ = split_tokens(new)
    assert len(asked) == 1
    assert np.array_equal(asked[0].toarray(), document_vectors(seen, idf=fitted.neighbor_idf_).toarray())


@ALL
def test_embeddings_find_what_words_do_not_tell(model):
    rng = np.random.default_rng(0)
    block = np.repeat([0, 1, 2], 15)
    counts = rng.multinomial(20, np.full(12, 1 / 12), 45)
    embeddings = 4 * np.eye(3, 6)[block] + rng.normal(0, 0.3, (45, 6))
    fitted = quiet(model).fit(counts, embeddings=embeddings)
    assert adjusted_rand_score(block, fitted.doc_topic_.argmax(axis=1)) == 1
    assert adjusted_rand_score(block, PLSA(3, random_state=0).fit(counts).doc_topic_.argmax(axis=1)) < 0.5


@ALL
@pytest.mark.parametrize("by", ["words", "embeddings", "graph", "dropped"])
def test_saved_and_loaded(model, by, few, few_graph, tmp_path):
    embeddings = np.random.default_rng(0).normal(size=(60, 4))
    fits = {"embeddings": {"embeddings": embeddings}, "graph": {"graph": few_graph}}
    calls = {"embeddings": {"embeddings": embeddings[:9] + 0.1}, "graph": {"graph": few_graph[:9]}}
    fitted = quiet(model, store_neighbors=by != "dropped").fit(few, **fits.get(by, {}))
    save(fitted, tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    assert set(vars(loaded)) == set(vars(fitted))
    assert np.array_equal(loaded.graph_.toarray(), fitted.graph_.toarray())
    new = few[:9] + few[1:10]
    assert np.array_equal(loaded.transform(new, **calls.get(by, {})), fitted.transform(new, **calls.get(by, {})))


@ALL
def test_a_second_fit_leaves_nothing_of_the_first(model, few, few_graph, sampled):
    fresh = quiet(model, max_iter=6).fit(sampled[100:140])
    used = quiet(model, max_iter=6)
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
def test_what_is_given_is_not_changed(model, few, few_graph):
    graph, embeddings = few_graph.copy(), np.random.default_rng(0).normal(size=(60, 4))
    vectors, labels = embeddings.copy(), np.arange(60) % 4
    quiet(model, max_iter=3).fit(few, labels, graph=graph, embeddings=embeddings)
    assert np.array_equal(graph.toarray(), few_graph.toarray())
    assert np.array_equal(embeddings, vectors)
    assert np.array_equal(labels, np.arange(60) % 4)


# ---- the weight, chosen ---------------------------------------------------------------------------------------------


def path_of(likelihood, share, auc, accuracy=np.nan):
    n = len(likelihood)
    return np.column_stack([WEIGHTS[:n], likelihood, share, auc, np.full(n, accuracy)])


def test_the_weight_that_foretells_best_is_taken():
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 0.01, (3, 50)) + np.array([[-3.0], [-2.0], [-2.5]])
    assert _best(path_of([-3, -2, -2.5], [0.4, 0.4, 0.4], [0.9, 0.5, 0.9]), scores, 4) == 1


def test_a_weight_that_draws_everything_together_is_not_taken():
    scores = np.array([[-3.0], [-2.0], [-1.0]]) + np.zeros((3, 50))
    path = path_of([-3, -2, -1], [0.4, 0.95, 0.951], [0.9, 0.9, 0.9])
    assert _best(path, scores, 4) == 1  # 3 / 4 + 0.2
    assert _best(path, scores, 5) == 0
    path[:, 2] = 1
    with pytest.warns(UserWarning, match="the weakest is taken"):
        assert _best(path, scores, 5) == 0


def test_edges_and_labels_decide_between_weights_within_an_error():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 1, 50)
    scores = np.array([-2 + 0 * noise, -2.01 + noise - noise.mean(), -9 + noise])
    likelihood, share = [-2, -2.01, -9], [0.3, 0.3, 0.3]
    assert _best(path_of(likelihood, share, [0.6, 0.7, 0.99]), scores, 4) == 1
    assert _best(path_of(likelihood, share, [0.7, 0.6, 0.99]), scores, 4) == 0
    path = path_of(likelihood, share, [0.7, 0.69, 0.99])
    path[:, 4] = [0.5, 0.9, 1.0]
    assert _best(path, scores, 4) == 1
    path = path_of(likelihood, share, [np.nan, np.nan, np.nan])  # no edge held out
    assert _best(path, scores, 4) == 0


def test_labels_are_held_out_by_class():
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 2, -1, -1])
    shown, hidden = graph_weight._split_labels(labels, np.random.RandomState(0))
    assert np.bincount(shown[shown >= 0]).tolist() == [2, 2, 1]
    assert np.bincount(hidden[hidden >= 0]).tolist() == [2, 1]
    assert np.array_equal(np.maximum(shown, hidden), labels)
    doc_topic = np.eye(3)[[0, 0, 0, 0, 1, 1, 1, 2, 0, 0]]
    assert graph_weight._label_accuracy(doc_topic, shown, hidden) == 1
    assert graph_weight._label_accuracy(doc_topic[::-1], shown, hidden) < 1
    assert np.isnan(graph_weight._label_accuracy(doc_topic, None, None))


def test_edges_are_held_out(few_graph):
    kept, edges = graph_weight._split_edges(few_graph, np.random.RandomState(0))
    assert 0 < len(edges) < 0.2 * few_graph.nnz / 2
    held_out = link_graph(edges, 60)
    assert np.array_equal((kept + held_out).toarray(), few_graph.toarray())
    block = np.repeat([0, 1], 30)
    assert graph_weight._edge_auc(np.eye(2)[block], np.array([[0, 1], [40, 41]]), np.array([[0, 40], [3, 55]])) == 1
    assert np.isnan(graph_weight._edge_auc(np.eye(2)[block], edges[:0], edges[:0]))


@BOTH
def test_auto_takes_one_of_the_weights(model, sampled):
    fits = [quiet(model, 4, graph_weight="auto", max_iter=8, n_jobs=n_jobs).fit(sampled[:120]) for n_jobs in (1, 2)]
    first, other = fits
    assert first.graph_weight_ in WEIGHTS
    assert first.graph_weight_path_.shape == (len(WEIGHTS), 5)
    assert np.array_equal(first.graph_weight_path_[:, 0], WEIGHTS)
    assert (first.graph_weight_path_[:, 1] < 0).all()
    assert ((first.graph_weight_path_[:, 2:4] > 0) & (first.graph_weight_path_[:, 2:4] <= 1)).all()
    assert np.isnan(first.graph_weight_path_[:, 4]).all()
    assert np.array_equal(first.graph_weight_path_, other.graph_weight_path_, equal_nan=True)
    assert np.array_equal(first.doc_topic_, other.doc_topic_)
    given = quiet(model, 4, graph_weight=first.graph_weight_, max_iter=8).fit(sampled[:120])
    assert np.array_equal(given.doc_topic_, first.doc_topic_)  # choosing leaves no trace in the fit
    assert np.array_equal(given.topic_word_, first.topic_word_)
    assert given.graph_weight_path_ is None


@BOTH
def test_auto_looks_at_the_seen_half_only(model, few, monkeypatch):
    asked = []
    vectors_of = graph_weight.document_vectors

    def spy(counts, *arguments, **options):
        asked.append(counts)
        return vectors_of(counts, *arguments, **options)

    monkeypatch.setattr(graph_weight, "document_vectors", spy)
    quiet(model, graph_weight="auto", max_iter=2).fit(few)
    assert asked
    for counts in asked:  # of the graph and of the start
        assert np.array_equal(counts.toarray(), split_tokens(few)[0].toarray())


@BOTH
def test_auto_with_labels_a_graph_and_embeddings(model, few, few_graph):
    labels = np.where(np.arange(60) < 30, np.arange(60) % 3, -1)
    embeddings = np.random.default_rng(0).normal(size=(60, 4))
    for more in ({}, {"graph": few_graph}, {"embeddings": embeddings}):
        fitted = quiet(model, graph_weight="auto", max_iter=2).fit(few, labels, **more)
        assert fitted.graph_weight_ in WEIGHTS
        accuracy = fitted.graph_weight_path_[:, 4]
        assert ((accuracy >= 0) & (accuracy <= 1)).all()


@BOTH
def test_auto_hides_the_labels_it_is_judged_by(model, few, monkeypatch):
    shown = []
    joined = graph_weight.label_graph

    def spy(graph, labels):
        shown.append((graph, labels))
        return joined(graph, labels)

    monkeypatch.setattr(graph_weight, "label_graph", spy)
    labels = np.where(np.arange(60) < 30, np.arange(60) % 3, -1)
    plain = knn_graph(few, 5)
    quiet(model, graph_weight="auto", max_iter=2).fit(few, labels, graph=plain)
    assert len(shown) == 1
    assert np.array_equal(shown[0][0].toarray(), plain.toarray())
    assert (shown[0][1] >= 0).sum() == 15


@BOTH
def test_auto_in_the_corners(model):
    one_token_each = np.eye(4, dtype=int)[[0, 1, 2, 3, 0, 1, 2, 3]]
    assert quiet(model, 2, graph_weight="auto", max_iter=3).fit(one_token_each).graph_weight_ in WEIGHTS
    few = np.array([[3, 1, 0], [0, 1, 2], [1, 1, 1]])
    assert quiet(model, 2, graph_weight="auto", max_iter=3).fit(few).graph_weight_ in WEIGHTS
    no_edges = quiet(model, 2, graph_weight="auto", max_iter=3).fit(few, graph=np.zeros((3, 3)))
    assert np.isnan(no_edges.graph_weight_path_[:, 3]).all()


@BOTH
def test_auto_refuses_fractions(model, few):
    with pytest.raises(ValueError, match=r"graph_weight='auto' .*whole counts"):
        quiet(model, graph_weight="auto").fit(few * 0.5)


@BOTH
def test_a_resumed_fit_keeps_its_weight(model, few, tmp_path, monkeypatch):
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)
    options = {"graph_weight": "auto", "max_iter": 8, "tol": 0}
    whole = quiet(model, **options).fit(few)
    module = f"topicfold.models.graph.{model.__name__.lower()}"
    written, calls = on_graph.Checkpoint.write, []

    def killed(self, *arguments, **more):
        written(self, *arguments, **more)
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr("topicfold.engine.loop.Checkpoint.write", killed)
        with pytest.raises(RuntimeError, match="killed"):
            quiet(model, checkpoint=tmp_path / "c", **options).fit(few)

    def refuse(*_, **__):
        raise AssertionError("the weight was chosen already")

    monkeypatch.setattr(f"{module}.choose_weight", refuse)
    resumed = quiet(model, checkpoint=tmp_path / "c", **options).fit(few)
    assert resumed.graph_weight_ == whole.graph_weight_
    assert np.array_equal(resumed.doc_topic_, whole.doc_topic_)
    assert np.array_equal(resumed.topic_word_, whole.topic_word_)
    assert np.array_equal(resumed.history_, whole.history_)


@ALL
def test_a_checkpoint_of_another_graph_is_refused(model, few, few_graph, tmp_path, monkeypatch):
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr("topicfold.engine.loop.Checkpoint.remove", lambda self: None)
    options = {"checkpoint": tmp_path / "c", "max_iter": 4, "tol": 0}
    quiet(model, **options).fit(few, graph=few_graph)
    with pytest.raises(ValueError, match="belongs to another fit"):
        quiet(model, **options).fit(few, graph=2 * few_graph)


@ALL
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_give_the_same_bits_with_a_graph_and_embeddings(model, dtype, few):
    embeddings = np.random.default_rng(0).normal(size=(60, 4))
    fits = [
        quiet(model, 40, dtype=dtype, max_iter=4, n_jobs=n_jobs).fit(np.tile(few.toarray(), 2), embeddings=embeddings)
        for n_jobs in (1, 3)
    ]
    assert np.array_equal(fits[0].doc_topic_, fits[1].doc_topic_)
    assert np.array_equal(fits[0].topic_word_, fits[1].topic_word_)
    assert fits[0].doc_topic_.dtype == dtype


# ---- a start from the graph -----------------------------------------------------------------------------------------


@ALL
def test_a_spectral_start_cuts_the_graph(model):
    rng = np.random.default_rng(0)
    block = np.repeat([0, 1, 2], 15)
    counts = rng.multinomial(20, np.full(12, 1 / 12), 45)
    graph = (block[:, None] == block) * 1.0
    graph[0, 44] = graph[44, 0] = graph[14, 15] = graph[15, 14] = 1.0
    fitted = quiet(model, init="spectral").fit(counts, graph=graph)
    assert adjusted_rand_score(block, fitted.doc_topic_.argmax(axis=1)) == 1
    again = quiet(model, init="spectral", n_jobs=2).fit(counts, graph=graph)
    assert np.array_equal(again.doc_topic_, fitted.doc_topic_)


@ALL
@pytest.mark.parametrize("dense_below", [10, 500])
def test_a_spectral_start_on_graphs_with_little_to_cut(model, dense_below, few, monkeypatch):
    monkeypatch.setattr("topicfold.graph.build._DENSE_BELOW", dense_below)
    for links in ([(0, 1)], [(i, i + 1) for i in range(0, 60, 2)], [(0, i) for i in range(1, 60)], []):
        fitted = quiet(model, 4, init="spectral", max_iter=3).fit(few, graph=link_graph(links, 60))
        assert np.allclose(fitted.doc_topic_.sum(axis=1), 1, atol=1e-5)


@BOTH
def test_a_spectral_start_needs_a_graph(model, few):
    with pytest.raises(ValueError, match="init='spectral' cuts the graph, and with graph_weight=0 there is none"):
        quiet(model, graph_weight=0, init="spectral").fit(few)


@BOTH
def test_ctrl_c_while_the_weight_is_chosen_keeps_the_best_so_far(model, few, monkeypatch):
    @contextlib.contextmanager
    def press_at_the_second_weight(*_, **__):
        yield lambda to, note: signal.raise_signal(signal.SIGINT) if to == 2 else None

    monkeypatch.setattr(graph_weight, "progress", press_at_the_second_weight)
    with pytest.warns(UserWarning, match="choosing graph_weight: interrupted after 2 of 7 weights"):
        fitted = quiet(model, graph_weight="auto").fit(few)
    assert fitted.interrupted_
    assert fitted.n_iter_ == 1
    assert fitted.graph_weight_ in WEIGHTS[:2]
    assert len(fitted.graph_weight_path_) == 2
    assert np.isfinite(fitted.transform(few)).all()


def test_no_fair_weight_is_said():
    path = np.array([[1.0, -5, 0.9, 0.5, np.nan], [3.0, -4, 0.95, 0.6, np.nan]])
    with pytest.warns(UserWarning, match="every graph_weight draws 90% of the documents or more into one topic"):
        assert _best(path, np.array([[-5.0, -5], [-4, -4]]), 10) == 0


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([(0, 1), (1, 2), (3, 4)], r"graph has shape \(3, 2\): expected \(60, 60\); link_graph makes a graph of pairs"),
        ("knn", "graph is a str: expected a matrix of 60 x 60 documents"),
        ({0: [1]}, "graph is a dict: expected a matrix"),
        ([[1], [2, 3]], "graph is a list: expected a matrix"),
    ],
)
def test_a_graph_in_another_form_is_told_apart(few, graph, message):
    with pytest.raises(ValueError, match=message):
        quiet(LTM).fit(few, graph=graph)


def test_all_names_of_starts_are_listed(few):
    with pytest.raises(
        ValueError, match="init='svd': expected one of auto, nmf, kmeans, random, spectral, or an array"
    ):
        quiet(LTM, init="svd").fit(few)
    with pytest.raises(ValueError, match="with graph_weight=0 there is none"):
        quiet(LTM, init="spectral", graph_weight=0).fit(few)


def test_documents_without_a_largest_topic_swallow_nothing():
    even = np.tile([[3, 3, 3, 3]], (10, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet(LTM, 2, n_neighbors=2, init=np.full((2, 4), 0.25)).fit(even)
