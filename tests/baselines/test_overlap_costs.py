"""The costs of overlapping clusters and the prototypes that lower them, by their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from coclustering_cases import LOSSES, naive_divergence, random_counts

from topicfold.baselines.overlapping import _FLOOR, descend, fit_blocks, fit_prototypes, make_costs


def random_memberships(n, n_clusters, rng):
    memberships = rng.random((n, n_clusters)) < 0.4
    memberships[np.arange(n), rng.integers(0, n_clusters, n)] = True
    return memberships


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_costs_are_the_divergence(loss, seed):
    rng = np.random.default_rng(seed)
    counts = random_counts(seed=seed)
    prototypes = rng.gamma(0.5, 1.0, (9, 4)) + 0.01
    memberships = random_memberships(12, 4, rng)
    costs = make_costs(loss, sp.csr_array(counts.astype(float)), prototypes)
    of_rows = np.array([naive_divergence(loss, counts[i], prototypes @ memberships[i]) for i in range(12)])
    np.testing.assert_allclose(costs.divergences(memberships), of_rows)
    rows = np.array([3, 0, 7, 11, 5, 6])
    now, best, then = costs.flips(rows, memberships)
    left_out = of_rows[rows] - now
    for i, row in enumerate(rows):
        after = np.full(4, np.inf)
        for k in range(4):
            other = memberships[row].copy()
            other[k] ^= True
            if other.any():
                after[k] = naive_divergence(loss, counts[row], prototypes @ other) - left_out[i]
        if after.min() < now[i]:
            assert best[i] == after.argmin()
            assert then[i] == pytest.approx(after.min())
        else:
            assert then[i] >= now[i]
    singles = costs.singles()
    for i, k in np.ndindex(6, 4):
        expected = naive_divergence(loss, counts[rows[i]], prototypes[:, k])
        assert singles[rows[i], k] == pytest.approx(expected - left_out[i])


@pytest.mark.parametrize("loss", LOSSES)
def test_the_last_cluster_is_not_left(loss):
    counts = sp.csr_array(np.ones((3, 4)))
    memberships = np.eye(3, dtype=bool)
    costs = make_costs(loss, counts, np.full((4, 3), 50.0))  # far too much: no cluster at all would be nearer
    np.testing.assert_array_equal(descend(costs, memberships)[0], memberships)


def test_gaussian_prototypes_are_least_squares():
    rng = np.random.default_rng(0)
    counts = sp.csr_array(random_counts().astype(float))
    rows, columns = random_memberships(12, 3, rng), random_memberships(9, 2, rng)
    fitted, divergence = fit_prototypes("gaussian", counts, rows, np.zeros((9, 3)), 0)
    expected = np.linalg.lstsq(rows.astype(float), counts.toarray(), rcond=None)[0]
    np.testing.assert_allclose(fitted.T, expected, atol=1e-9)
    assert divergence == pytest.approx(naive_divergence("gaussian", counts.toarray(), rows @ expected))
    blocks, divergence = fit_blocks("gaussian", counts, rows, columns, np.zeros((3, 2)), 0)
    design = np.kron(rows, columns).astype(float)
    expected = np.linalg.lstsq(design, counts.toarray().ravel(), rcond=None)[0].reshape(3, 2)
    np.testing.assert_allclose(blocks, expected, atol=1e-9)
    assert divergence == pytest.approx(naive_divergence("gaussian", counts.toarray(), rows @ expected @ columns.T))


@pytest.mark.parametrize("seed", range(3))
def test_poisson_prototypes_are_the_best_above_the_floor(seed):
    rng = np.random.default_rng(seed)
    dense = random_counts(seed=seed).astype(float)
    counts = sp.csr_array(dense)
    rows, columns = random_memberships(12, 3, rng), random_memberships(9, 2, rng)
    history = []
    prototypes = np.ones((9, 3))
    for _ in range(300):
        prototypes, divergence = fit_prototypes("poisson", counts, rows, prototypes, 0)
        history.append(divergence)
    assert (np.diff(history) <= 1e-10).all()
    assert divergence == pytest.approx(naive_divergence("poisson", dense, rows @ prototypes.T))
    slope = (1 - dense / (rows @ prototypes.T)).T @ rows
    least = np.broadcast_to(_FLOOR * dense.mean(axis=0)[:, None], slope.shape)
    at_floor = prototypes <= 1.01 * least
    assert (prototypes >= least - 1e-15).all()
    np.testing.assert_allclose(slope[~at_floor], 0, atol=1e-3)
    assert (slope[at_floor] > -1e-3).all()
    blocks = np.ones((3, 2))
    for _ in range(300):
        blocks, divergence = fit_blocks("poisson", counts, rows, columns, blocks, 0)
    means = rows @ blocks @ columns.T
    assert divergence == pytest.approx(naive_divergence("poisson", dense, means))
    slope = rows.T @ (1 - dense / means) @ columns
    at_floor = blocks <= 1.01 * _FLOOR * dense.mean()
    np.testing.assert_allclose(slope[~at_floor], 0, atol=1e-3)
    assert (slope[at_floor] > -1e-3).all()
