"""ITCC: its definition written out, fixed points, and tables whose clusters are obvious."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from coclustering_cases import random_counts
from sklearn.metrics import adjusted_rand_score

from topicfold.baselines.itcc import ITCC, Cells, block_sums, merged, move_one_by_one, nearest_clusters


def information(table):
    p = table / table.sum()
    return sum(
        p[i, j] * np.log(p[i, j] / (p[i].sum() * p[:, j].sum()))
        for i in range(p.shape[0])
        for j in range(p.shape[1])
        if p[i, j] > 0
    )


def information_lost(counts, rows, columns, n_rows, n_columns):
    blocks = np.zeros((n_rows, n_columns))
    for i, a in enumerate(rows):
        for j, b in enumerate(columns):
            blocks[a, b] += counts[i, j]
    return information(counts) - information(blocks)


def divergence_from_q(counts, rows, columns):
    """D(p || q) with q(x, y) = p(a, b) p(x|a) p(y|b), which the paper shows to be the information lost."""
    p = counts / counts.sum()
    total = 0.0
    for i, a in enumerate(rows):
        for j, b in enumerate(columns):
            if p[i, j] > 0:
                block = p[np.ix_(rows == a, columns == b)].sum()
                q = block * p[i].sum() / p[rows == a].sum() * p[:, j].sum() / p[:, columns == b].sum()
                total += p[i, j] * np.log(p[i, j] / q)
    return total


@pytest.mark.parametrize("seed", range(8))
def test_itcc_loses_what_its_definition_says(seed):
    counts = random_counts(seed=seed)
    model = ITCC(3, 2, n_init=1, random_state=seed).fit(counts)
    rows, columns = model.row_labels_, model.column_labels_
    assert model.information_loss_ == pytest.approx(information_lost(counts, rows, columns, 3, 2))
    assert model.information_loss_ == pytest.approx(divergence_from_q(counts, rows, columns))
    assert model.mutual_information_ == pytest.approx(information(counts))


@pytest.mark.parametrize("seed", range(8))
def test_itcc_ends_where_no_single_move_helps(seed):
    counts = random_counts(seed=seed)
    model = ITCC(3, 2, n_init=1, random_state=seed).fit(counts)
    for labels, size in ((model.row_labels_, 3), (model.column_labels_, 2)):
        for i, old in enumerate(labels.copy()):
            for new in range(size):
                labels[i] = new
                lost = information_lost(counts, model.row_labels_, model.column_labels_, 3, 2)
                assert lost >= model.information_loss_ - 1e-9
            labels[i] = old


def test_itcc_rows_go_to_the_nearest_prototype():
    rng = np.random.default_rng(0)
    counts = random_counts(mean=3.0)
    rows, columns = rng.integers(0, 3, 12), rng.integers(0, 4, 9)
    table = sp.coo_array(counts)
    profiles = merged(Cells(table.row, table.col, table.data), columns, 12, 4)
    p = counts / counts.sum()
    expected = []
    for own in p / p.sum(axis=1, keepdims=True):
        far = np.zeros(3)
        for a in range(3):
            for j, b in enumerate(columns):
                of_cluster = p[np.ix_(rows == a, columns == b)].sum() / p[rows == a].sum()
                q = of_cluster * p[:, j].sum() / p[:, columns == b].sum()
                far[a] += own[j] * np.log(own[j] / q) if own[j] > 0 else 0
        expected.append(int(far.argmin()))
    assert nearest_clusters(profiles, rows, 3).tolist() == expected
    assert expected != rows.tolist()


def test_itcc_single_moves_keep_the_blocks():
    rng = np.random.default_rng(1)
    profiles = rng.poisson(2.0, (30, 4)).astype(float) + np.eye(4)[np.arange(30) % 4]
    labels = rng.integers(0, 5, 30)
    before = labels.copy()
    blocks = block_sums(profiles, labels, 5)
    lost = [information_lost(profiles, labels, np.arange(4), 5, 4)]
    while move_one_by_one(profiles, labels, blocks):
        np.testing.assert_array_equal(blocks, block_sums(profiles, labels, 5))
        lost.append(information_lost(profiles, labels, np.arange(4), 5, 4))
    assert len(lost) > 1
    assert (np.diff(lost) < 0).all()
    assert (labels != before).any()


def checkerboard(seed):
    """Three kinds of documents by four kinds of words, told apart only by pairs: (counts, kinds)."""
    rng = np.random.default_rng(seed)
    level = np.array([[9, 1, 9, 1], [1, 9, 9, 1], [1, 1, 1, 9]])
    rows, columns = rng.permutation(np.repeat(np.arange(3), 8)), rng.permutation(np.repeat(np.arange(4), 6))
    return rng.poisson(level[np.ix_(rows, columns)]), rows, columns


@pytest.mark.parametrize("seed", range(20))
def test_itcc_finds_blocks(seed):
    counts, rows, columns = checkerboard(seed)
    model = ITCC(3, 4, random_state=seed).fit(counts)
    assert adjusted_rand_score(rows, model.row_labels_) == 1
    assert adjusted_rand_score(columns, model.column_labels_) == 1


def test_itcc_of_tables_without_noise():
    kinds = np.repeat([0, 1, 2], 4)
    counts = np.equal.outer(kinds, kinds).astype(int)
    assert ITCC(3, 3, random_state=0).fit(counts).information_loss_ == pytest.approx(0, abs=1e-12)
    one = ITCC(1, 1).fit(counts)
    assert one.information_loss_ == pytest.approx(information(counts)) == pytest.approx(np.log(3))
    assert not one.row_labels_.any()
    assert not one.column_labels_.any()
    finest = ITCC(12, 12, random_state=0).fit(random_counts(12, 12))
    assert finest.information_loss_ == pytest.approx(0, abs=1e-12)
    assert len(set(finest.row_labels_)) == len(set(finest.column_labels_)) == 12


def test_itcc_with_more_clusters_than_kinds_of_rows():
    kinds = np.repeat([0, 1], 6)
    counts = 5 * np.equal.outer(kinds, kinds)
    model = ITCC(5, 4, random_state=0).fit(counts)
    assert model.information_loss_ == pytest.approx(0, abs=1e-12)
    for a in range(5):
        assert len(set(kinds[model.row_labels_ == a])) <= 1
    assert model.rows_.shape == (20, 12)


def test_itcc_sees_proportions_only():
    counts = random_counts()
    model = ITCC(3, 2, random_state=0).fit(counts)
    halved = ITCC(3, 2, random_state=0).fit(counts / 1024)
    np.testing.assert_array_equal(halved.row_labels_, model.row_labels_)
    assert halved.information_loss_ == pytest.approx(model.information_loss_)


def test_itcc_biclusters_are_pairs_of_clusters():
    counts, _, _ = checkerboard(0)
    model = ITCC(3, 4, random_state=0).fit(counts)
    assert model.biclusters_[0].dtype == bool
    assert model.rows_.shape == (12, 24)
    assert model.columns_.shape == (12, 24)
    for a in range(3):
        for b in range(4):
            rows, columns = model.get_indices(4 * a + b)
            assert rows.tolist() == np.flatnonzero(model.row_labels_ == a).tolist()
            assert columns.tolist() == np.flatnonzero(model.column_labels_ == b).tolist()
    covered = sum(model.get_submatrix(i, counts).sum() for i in range(12))
    assert covered == counts.sum()
