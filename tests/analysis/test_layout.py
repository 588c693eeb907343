"""Positions on a map: the kernel is its formula, groups stay together, and nothing odd ends in NaN."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import document_positions, knn_graph, link_graph
from topicfold.analysis.layout import _move, _pulls, _start, _vectors
from topicfold.engine.arrays import csr_parts
from topicfold.engine.blocks import single_threaded_libraries


def planted(n_groups=6, size=40, seed=0):
    """Documents mostly of one topic each: (memberships, group)."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), size)
    memberships = np.array([rng.dirichlet(np.where(np.arange(n_groups) == own, 12.0, 0.3)) for own in group])
    return memberships, group


def same_group(positions, group, n_neighbors=5):
    """The share of the nearest on the map that are of the same group."""
    distance = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1)[:, :n_neighbors]
    return (group[near] == group[:, None]).mean()


def check(positions, n_documents):
    assert positions.shape == (n_documents, 2)
    assert positions.dtype == np.float32
    assert np.isfinite(positions).all()


# ---- the kernel -----------------------------------------------------------------------------------------------------


def naive_move(pull, offsets, rate, push, positions):
    """One round with dense rows: attraction to the neighbours, push by those drawn, document after document."""
    positions = positions.copy()
    for i in range(len(positions)):
        to = positions - positions[i]
        square = (to**2).sum(axis=1)
        step = (pull[i] * 2 / (1 + square)) @ to
        for k in (i + np.asarray(offsets)) % len(positions):
            step -= push * 2 * to[k] / ((0.1 + square[k]) * (1 + square[k]))
        positions[i] += rate * step
    return positions


def test_the_kernel_is_its_twin():
    rng = np.random.default_rng(0)
    pull = np.where(rng.random((30, 30)) < 0.2, rng.random((30, 30)), 0)
    positions = rng.normal(0, 2, (30, 2))
    expected = positions.copy()
    for rate, push in ((0.4, 0.1), (0.2, 0.7), (0.05, 1.0)):
        offsets = rng.integers(1, 30, 4)
        expected = naive_move(pull, offsets, rate, push, expected)
        _move(*csr_parts(sp.csr_array(pull)), offsets, rate, push, positions)
    np.testing.assert_allclose(positions, expected, rtol=1e-10)


def test_the_forces_are_gradients():
    def objective(distance_to_neighbor, distance_to_drawn):
        near = 1 / (1 + distance_to_neighbor**2)
        return np.log(near) + np.log(1 - 1 / (1 + distance_to_drawn**2))

    place, neighbor, drawn, step = np.array([0.0, 0.0]), np.array([1.5, 0.0]), np.array([0.0, 40.0]), 1e-5
    positions = np.array([place, neighbor, drawn])
    pull = sp.csr_array(([1.0], ([0], [1])), (3, 3))
    _move(*csr_parts(pull), np.array([2]), 1.0, 1.0, positions)
    for axis, shift in enumerate(step * np.eye(2)):
        values = [objective(np.linalg.norm(neighbor - at), np.linalg.norm(drawn - at)) for at in (-shift, shift)]
        # what keeps the push finite is nothing to a distance of 40
        assert positions[0, axis] == pytest.approx((values[1] - values[0]) / (2 * step), rel=1e-3)


def test_nearer_neighbours_draw_harder_by_their_rank():
    vectors = _vectors(np.random.default_rng(0).dirichlet(np.full(5, 0.4), 40), np.random.RandomState(0))
    cosine = vectors.astype(float) @ vectors.T.astype(float)
    np.fill_diagonal(cosine, -1)
    expected = np.zeros((40, 40))
    for i, row in enumerate(cosine):
        for rank, j in enumerate(np.argsort(-row)[:18]):
            expected[i, j] += 1 - rank / 19
            expected[j, i] += 1 - rank / 19
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(_pulls(vectors, None).toarray(), expected, rtol=1e-12)


# ---- maps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_groups_stay_together(seed):
    memberships, group = planted(seed=seed)
    positions = document_positions(memberships, random_state=seed)
    check(positions, len(group))
    assert same_group(positions, group) > 0.95
    assert (np.abs(positions).max(axis=1) <= 1).mean() > 0.95
    assert np.abs(positions).max() < 2
    np.testing.assert_allclose(positions.mean(axis=0), 0, atol=1e-5)


def test_same_seed_same_bits():
    memberships, _ = planted()
    first = document_positions(memberships, random_state=3)
    with single_threaded_libraries():
        assert np.array_equal(document_positions(memberships, random_state=3), first)
    assert not np.array_equal(document_positions(memberships, random_state=4), first)


def mixtures(n_documents=600, n_topics=10, seed=0):
    """Documents of several topics each, in no clear groups."""
    return np.random.default_rng(seed).dirichlet(np.full(n_topics, 0.15), n_documents)


def kept(memberships, positions, n_neighbors=15):
    """How far neighbours on the map are neighbours by memberships (Venna and Kaski 2001)."""
    from sklearn.manifold import trustworthiness

    return trustworthiness(np.sqrt(memberships), positions, n_neighbors=n_neighbors, metric="cosine")


def test_neighbours_on_the_map_are_neighbours_by_memberships():
    memberships = mixtures()
    assert kept(memberships, document_positions(memberships)) > 0.965
    assert kept(memberships, document_positions(memberships, knn_graph(np.sqrt(memberships), 15))) > 0.96


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_few_documents_less_do_not_turn_the_map_over(seed):
    rng = np.random.default_rng(0)
    places, topics = rng.random((400, 2)), rng.random((12, 2))  # topics in a plane, documents among them
    memberships = np.exp(-((places[:, None] - topics) ** 2).sum(axis=2) / 0.03)
    stay = np.sort(np.random.default_rng(seed).permutation(400)[:390])
    before, after = document_positions(memberships)[stay], document_positions(memberships[stay], random_state=seed)
    for axis in (0, 1):
        assert np.corrcoef(before[:, axis], after[:, axis])[0, 1] > 0.9


def test_a_graph_decides_who_is_near():
    memberships, group = planted(3, 30)
    other = np.tile(np.arange(3), 30)  # groups across those of the memberships
    graph = knn_graph(np.eye(3)[other] + np.random.default_rng(0).normal(0, 0.05, (90, 3)), 8)
    positions = document_positions(memberships, graph)
    assert same_group(positions, other) > 0.95
    assert same_group(positions, group) < 0.6


def test_documents_without_an_edge_stand_by_their_memberships():
    memberships, group = planted(4, 30)
    joined = np.arange(120) % 2 == 0
    graph = knn_graph(memberships, 6).toarray() * np.outer(joined, joined)
    positions = document_positions(memberships, graph)
    assert same_group(positions, group) > 0.95
    pull = _pulls(_vectors(memberships, np.random.RandomState(0)), graph)
    assert (np.diff(pull.indptr)[~joined] == 18).all()
    assert pull.diagonal().max() == 0
    np.testing.assert_allclose(pull.sum(axis=1), 1)


def test_weights_count_relative_to_each_other():
    memberships, _ = planted()
    graph = knn_graph(memberships, 5, weighted=True)
    np.testing.assert_allclose(
        document_positions(memberships, graph), document_positions(memberships, 1024 * graph), rtol=1e-4, atol=1e-5
    )


def test_the_start_is_near_the_eigenvectors():
    """Along a ring the two leading eigenvectors are a circle, in the order of the ring."""
    n = 60
    ring = link_graph([(i, (i + step) % n) for i in range(n) for step in range(1, 9)], n)
    vectors = _vectors(np.ones((n, 1)), np.random.RandomState(0))
    start = _start(_pulls(vectors, ring), vectors, np.random.RandomState(0))
    angle = np.unwrap(np.arctan2(*(start - start.mean(axis=0)).T))
    assert abs(angle[-1] - angle[0]) == pytest.approx(2 * np.pi, rel=0.15)


def test_unconnected_parts_have_places_of_their_own():
    n_parts, size = 20, 5
    pairs = [(size * p + i, size * p + j) for p in range(n_parts) for i in range(size) for j in range(i)]
    graph, part = link_graph(pairs, n_parts * size), np.repeat(np.arange(n_parts), size)
    alike = np.full((n_parts * size, 4), 0.25)
    positions = document_positions(alike, graph)
    check(positions, n_parts * size)
    assert same_group(positions, part, size - 1) > 0.9


# ---- odd input ------------------------------------------------------------------------------------------------------

HOLES = np.vstack([np.zeros((15, 4)), np.repeat(np.eye(4), 10, axis=0)])


@pytest.mark.parametrize("graph", ["none", "empty", "one edge"])
@pytest.mark.parametrize(
    "memberships",
    [
        np.ones((1, 3)),
        np.eye(2),
        np.eye(3),
        np.array([[0.5, 0.5], [0.5, 0.5]]),
        np.full((40, 5), 0.2),
        np.zeros((25, 4)),
        HOLES,
        50 * HOLES,
        1e-12 * HOLES,
        np.ones((30, 1)),
        np.random.default_rng(0).random((30, 6)),
        np.eye(30),
        np.eye(4)[[0, 1, 2, 3, 0]].astype(np.float32),
        np.array([[1, 0], [0, 1], [1, 1]]),
    ],
)
def test_odd_memberships_and_graphs(memberships, graph):
    n = len(memberships)
    edges = {"none": None, "empty": sp.csr_array((n, n)), "one edge": link_graph([(0, n - 1)], n)}[graph]
    positions = document_positions(memberships, edges)
    check(positions, n)
    assert np.abs(positions).max() < 3
    assert len(np.unique(positions, axis=0)) == n
    if n > 2:
        assert (np.ptp(positions, axis=0) > 0.1).all()


def test_no_documents():
    check(document_positions(np.zeros((0, 3))), 0)


def test_documents_without_a_topic_are_together():
    without = np.arange(len(HOLES)) < 15
    assert same_group(document_positions(HOLES), without) > 0.95


@pytest.mark.parametrize(
    ("memberships", "options", "message"),
    [
        (np.eye(3), {"method": "tsne"}, "method='tsne': expected one of neighbours, umap"),
        (np.ones(3), {}, "doc_topic has 1 dimensions"),
        (np.array([[np.nan, 1.0]]), {}, "doc_topic contains NaN"),
        (np.array([[1.5, -0.5]]), {}, "doc_topic contains -0.5"),
        (np.eye(3), {"graph": np.zeros((2, 2))}, r"graph has shape \(2, 2\)"),
        (np.eye(2), {"graph": np.array([[0, 1], [0, 0]])}, "graph is not symmetric"),
    ],
)
def test_bad_arguments(memberships, options, message):
    with pytest.raises(ValueError, match=message):
        document_positions(memberships, **options)


# ---- umap -----------------------------------------------------------------------------------------------------------


def test_umap_says_which_extra_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "umap.umap_", None)
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match=r"pip install 'topicfold\[map\]'"):
        document_positions(np.eye(3), method="umap")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_neighbours_are_kept_at_least_as_by_umap():
    umap = pytest.importorskip("umap")
    memberships = mixtures(1500, seed=1)
    peer = umap.UMAP(metric="cosine", random_state=0, n_jobs=1).fit_transform(np.sqrt(memberships))
    ours = document_positions(memberships)
    for n_neighbors in (5, 15, 30):
        assert kept(memberships, ours, n_neighbors) >= kept(memberships, peer, n_neighbors)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ImportWarning")
def test_umap():
    pytest.importorskip("umap")
    memberships, group = planted(3, 30)
    positions = document_positions(memberships, method="umap")
    check(positions, 90)
    assert same_group(positions, group) > 0.95
    assert np.array_equal(document_positions(memberships, method="umap"), positions)
    for few in (1, 2, 3):
        check(document_positions(np.eye(3)[:few], method="umap"), few)
