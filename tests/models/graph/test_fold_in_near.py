"""New documents drawn to their neighbours: the kernel against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import rows
from scipy.optimize import minimize

import naive
from topicfold.models.em.fold_in import fold_in, fold_in_near, fold_in_near_rows
from topicfold.models.em.plsa_kernels import padded

SHARE = np.array([0.1, 0.2, 0.3, 0.4])  # P(z)


def new_documents(rng, n=8):
    """Counts, topics, neighbours and their P(z|d); among the new an empty one and one without neighbours."""
    topic_word, theta = rows(rng, 4, 20, 0.3), rows(rng, 12, 4, 0.5)
    counts = rng.poisson(rows(rng, n, 4, 0.3) @ topic_word * 20).astype(float)
    counts[0] = 0
    neighbors = (rng.random((n, 12)) < 0.3) * rng.uniform(0.2, 2, (n, 12))
    neighbors[0, :2] = 1
    neighbors[1] = 0
    return counts, topic_word, sp.csr_array(neighbors), theta


def folded_far(counts, topic_word, neighbors, theta, weight, squared, base):
    """The kernel's fixed point, with more steps than `fold_in_near` takes; `base` are pseudo-counts of a prior."""
    parts = sp.csr_array(counts)
    result = np.zeros((len(counts), len(topic_word)))
    near = (base[None], weight * neighbors.sum(axis=1), weight * (neighbors @ theta), squared, 20_000, 1e-13)
    fold_in_near_rows(
        parts.indptr.astype(np.int64),
        parts.indices.astype(np.int32),
        parts.data,
        0,
        len(counts),
        padded(topic_word.T, float),
        result,
        len(topic_word),
        *near,
    )
    return result


@pytest.mark.parametrize("prior", [0.0, 2.0])
@pytest.mark.parametrize("weight", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("seed", range(3))
def test_fold_in_near_is_the_fixed_point_from_any_start(weight, seed, prior):
    rng = np.random.default_rng(seed)
    counts, topic_word, neighbors, theta = new_documents(rng)
    base = prior * SHARE
    found = folded_far(counts, topic_word, neighbors, theta, weight, False, base)
    toward, pull = weight * (neighbors @ theta) + base, weight * neighbors.sum(axis=1) + prior
    for d in range(len(counts)):
        for start in rows(rng, 3, 4):
            expected = naive.fold_in_near(counts[d], topic_word, toward[d], pull[d], start)
            assert np.allclose(found[d], expected, atol=1e-6)
    short = fold_in_near(sp.csr_array(counts), topic_word, SHARE, neighbors, theta, weight, prior=prior)
    assert np.allclose(short[pull > 0], found[pull > 0], atol=0.02)


@pytest.mark.parametrize("prior", [0.0, 2.0])
@pytest.mark.parametrize("weight", [0.1, 3.0, 1000.0])
@pytest.mark.parametrize("seed", range(3))
def test_squared_fold_in_near_is_the_maximum_on_the_simplex(weight, seed, prior):
    rng = np.random.default_rng(seed)
    counts, topic_word, neighbors, theta = new_documents(rng)
    base = prior * SHARE
    found = folded_far(counts, topic_word, neighbors, theta, weight, True, base)
    assert np.allclose(found.sum(axis=1), 1, atol=1e-10)
    for d in range(len(counts)):
        used = counts[d] > 0

        def height(y, d=d, used=used):
            distance = ((y - theta) ** 2).sum(axis=1)
            words = counts[d, used] @ np.log(y @ topic_word[:, used]) + base @ np.log(y)
            return words - weight * (neighbors[[d]] @ distance)[0]

        best = height(np.maximum(found[d], 1e-15))
        scale = counts[d].sum() + weight * neighbors[[d]].sum() + prior
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


@pytest.mark.parametrize("prior", [0.0, 2.0])
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fold_in_near_does_not_depend_on_the_batch(squared, dtype, prior):
    counts, topic_word, neighbors, theta = new_documents(np.random.default_rng(0), 30)
    counts[2], weight = 0, SHARE.astype(dtype)
    neighbors = sp.csr_array(sp.diags_array((np.arange(30) != 2) * 1.0) @ neighbors)
    neighbors.eliminate_zeros()
    matrix = sp.csr_array(counts).astype(dtype)
    options = {"squared": squared, "prior": prior}
    whole = fold_in_near(matrix, topic_word.astype(dtype), weight, neighbors, theta, 5.0, **options)
    assert whole.dtype == dtype
    assert np.allclose(whole[2], weight, rtol=0 if prior == 0 else 1e-6, atol=0)  # neither a word nor a neighbour
    near, pull = 5 * (neighbors[[0]] @ theta)[0], 5 * neighbors[[0]].sum()
    if prior == 0 or not squared:  # neighbours alone
        assert np.allclose(whole[0], (near + prior * SHARE) / (pull + prior), atol=1e-6)
    if prior == 0:  # words alone
        assert np.allclose(whole[1], fold_in(matrix, topic_word.astype(dtype), weight)[1], atol=1e-6)
    for some in ([4], [9, 4, 0], [29, 4]):
        part = fold_in_near(matrix[some], topic_word.astype(dtype), weight, neighbors[some], theta, 5.0, **options)
        assert np.array_equal(part[some.index(4)], whole[4])
