"""The separation of DTM and its sweeps against slow twins, and what the exact sweep promises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from graph_cases import parts_of, random_graph, rows
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
from topicfold.graph.build import laplacian
from topicfold.models.graph import dtm
from topicfold.models.graph.graph_data import FLOOR
from topicfold.models.graph.separation import separation, sweep_exact, sweep_paper


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
