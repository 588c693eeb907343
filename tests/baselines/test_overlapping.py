"""MOC and MOCC: fixed points, and tables whose overlapping clusters are obvious."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from coclustering_cases import LOSSES, naive_divergence, random_counts

from topicfold.baselines import MOC, MOCC

EXACT = {"tol": 0, "max_iter": 2000}


def flipped_memberships(memberships):
    """Every table of memberships that differs in one place, and leaves no row without a cluster."""
    for i, k in np.ndindex(memberships.shape):
        other = memberships.copy()
        other[i, k] ^= True
        if other[i].any():
            yield other


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_moc_ends_where_no_membership_helps(loss, seed):
    counts = random_counts(seed=seed)
    model = MOC(3, loss=loss, n_init=1, random_state=seed, **EXACT).fit(counts)
    found = naive_divergence(loss, counts, model.memberships_ @ model.prototypes_)
    assert model.divergence_ == model.history_[-1] == pytest.approx(found)
    assert model.memberships_.dtype == bool
    assert model.memberships_.any(axis=1).all()
    for other in flipped_memberships(model.memberships_):
        assert naive_divergence(loss, counts, other @ model.prototypes_) >= found - 1e-6


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_mocc_ends_where_no_membership_helps(loss, seed):
    counts = random_counts(seed=seed)
    model = MOCC(3, 2, loss=loss, n_init=1, random_state=seed, **EXACT).fit(counts)
    rows, columns = model.row_memberships_, model.column_memberships_
    found = naive_divergence(loss, counts, rows @ model.blocks_ @ columns.T)
    assert model.divergence_ == model.history_[-1] == pytest.approx(found)
    assert rows.any(axis=1).all()
    assert columns.any(axis=1).all()
    for other in flipped_memberships(rows):
        assert naive_divergence(loss, counts, other @ model.blocks_ @ columns.T) >= found - 1e-6
    for other in flipped_memberships(columns):
        assert naive_divergence(loss, counts, rows @ model.blocks_ @ other.T) >= found - 1e-6


def overlapping_kinds(n_each, rng):
    """Memberships in three clusters: `n_each` rows in each alone, half as many in 0 and 1, and in 1 and 2."""
    alone = np.repeat(np.eye(3, dtype=bool), n_each, axis=0)
    both = np.repeat(np.array([[1, 1, 0], [0, 1, 1]], bool), n_each // 2, axis=0)
    return rng.permutation(np.vstack([alone, both]))


def same_up_to_order(found, true):
    return any((found[:, list(order)] == true).all() for order in permutations(range(true.shape[1])))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(15))
def test_moc_finds_overlapping_blocks(loss, seed):
    rng = np.random.default_rng(seed)
    true = overlapping_kinds(10, rng)
    prototypes = 8 * np.repeat(np.eye(3), 6, axis=1) + 0.1
    model = MOC(3, loss=loss, random_state=seed).fit(rng.poisson(true @ prototypes))
    assert same_up_to_order(model.memberships_, true)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(15))
def test_mocc_finds_overlapping_blocks(loss, seed):
    rng = np.random.default_rng(seed)
    rows, columns = overlapping_kinds(10, rng), overlapping_kinds(8, rng)
    means = rows @ (8 * np.eye(3) + 0.1) @ columns.T
    model = MOCC(3, 3, loss=loss, n_init=5, random_state=seed).fit(rng.poisson(means))
    assert same_up_to_order(model.row_memberships_, rows)
    assert same_up_to_order(model.column_memberships_, columns)


def test_mocc_biclusters_are_pairs_of_clusters():
    model = MOCC(3, 2, random_state=0).fit(random_counts())
    assert model.rows_.shape == (6, 12)
    assert model.columns_.shape == (6, 9)
    assert model.rows_.dtype == model.columns_.dtype == bool
    for a in range(3):
        for b in range(2):
            rows, columns = model.get_indices(2 * a + b)
            assert rows.tolist() == np.flatnonzero(model.row_memberships_[:, a]).tolist()
            assert columns.tolist() == np.flatnonzero(model.column_memberships_[:, b]).tolist()


@pytest.mark.parametrize("loss", LOSSES)
def test_one_cluster_is_the_mean(loss):
    counts = random_counts()
    moc = MOC(1, loss=loss).fit(counts)
    assert moc.memberships_.all()
    np.testing.assert_allclose(moc.prototypes_[0], counts.mean(axis=0))
    mocc = MOCC(1, 1, loss=loss).fit(counts)
    assert mocc.rows_.all()
    assert mocc.columns_.all()
    np.testing.assert_allclose(mocc.blocks_, counts.mean())


@pytest.mark.parametrize("loss", LOSSES)
def test_clusters_that_begin_empty_are_filled(loss):
    counts = np.array([[1, 1, 0], [2, 2, 0], [4, 4, 0], [9, 9, 1]] * 3)  # by tf-idf's angles there are two kinds
    moc = MOC(4, loss=loss, random_state=0, n_init=1, **EXACT).fit(counts)
    assert moc.memberships_.any(axis=0).all()
    assert np.isfinite(moc.prototypes_).all()
    alike = np.ones((6, 4), int) * np.array([[1], [2], [4], [1], [2], [4]])  # one kind of row for ITCC, the start
    mocc = MOCC(3, 2, loss=loss, random_state=0, n_init=1, **EXACT).fit(alike)
    assert mocc.row_memberships_.any(axis=0).all()
    assert mocc.divergence_ < MOCC(1, 1, loss=loss).fit(alike).divergence_ / 2
