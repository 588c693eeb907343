"""ITCC, MOC and MOCC: their definitions written out, fixed points, and tables whose clusters are obvious."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from topicfold import Corpus
from topicfold.baselines.itcc import ITCC, Cells, block_sums, merged, move_one_by_one, nearest_clusters
from topicfold.baselines.overlap_costs import _FLOOR, descend, fit_blocks, fit_prototypes, make_costs
from topicfold.baselines.overlapping import MOC, MOCC

LOSSES = ("poisson", "gaussian")
EXACT = {"tol": 0, "max_iter": 2000}
MODELS = [ITCC(2, 2), MOC(2), MOC(2, loss="gaussian"), MOCC(2, 2), MOCC(2, 2, loss="gaussian")]
NAMES = [f"{type(model).__name__}-{getattr(model, 'loss', 'information')}" for model in MODELS]


def random_counts(n_rows=12, n_columns=9, seed=0, mean=1.0):
    """Counts with no empty row or column."""
    counts = np.random.default_rng(seed).poisson(mean, (n_rows, n_columns))
    counts[np.arange(n_rows), np.arange(n_rows) % n_columns] += 1
    return counts


def clusters_of(model):
    """Whatever says which document and which word is where."""
    if isinstance(model, MOC):
        return model.memberships_, model.prototypes_
    return model.rows_, model.columns_


# the definitions


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


def naive_divergence(loss, counts, means):
    total = 0.0
    for x, m in zip(np.ravel(counts), np.ravel(means)):
        if loss == "gaussian":
            total += (x - m) ** 2
        elif x > 0:
            total += np.inf if m <= 0 else x * np.log(x / m) - x + m
        else:
            total += m
    return total


def flipped_memberships(memberships):
    """Every table of memberships that differs in one place, and leaves no row without a cluster."""
    for i, k in np.ndindex(memberships.shape):
        other = memberships.copy()
        other[i, k] ^= True
        if other[i].any():
            yield other


# all three


@parametrize_with_checks([ITCC(2, 2, n_init=1), MOC(2, n_init=1), MOCC(2, 2, n_init=1)])
@pytest.mark.filterwarnings("default::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
@pytest.mark.parametrize("seed", range(6))
def test_the_objective_never_rises(model, seed):
    fitted = clone(model).set_params(random_state=seed).fit(random_counts(seed=seed))
    assert fitted.n_iter_ == len(fitted.history_) > 0
    assert (np.diff(fitted.history_) <= 1e-9 * fitted.history_[0]).all()


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_same_seed_same_result_whatever_the_form_of_the_counts(model):
    counts = random_counts()
    first = clone(model).set_params(random_state=3).fit(counts)
    words = [f"w{j}" for j in range(counts.shape[1])]
    for form in (sp.csr_array(counts), sp.csc_array(counts), Corpus.from_counts(sp.csr_array(counts), words)):
        again = clone(first).fit(form)
        assert again.history_ == first.history_
        for ours, theirs in zip(clusters_of(again), clusters_of(first)):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_more_starts_are_no_worse(model):
    counts = random_counts(20, 15, seed=4)
    one, many = (clone(model).set_params(random_state=0, n_init=n).fit(counts).history_[-1] for n in (1, 20))
    assert many <= one


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_empty_documents_and_words_change_nothing(model):
    counts = random_counts()
    wide = np.zeros((15, 11), int)
    kept = np.array([0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13]), np.array([0, 2, 3, 4, 5, 6, 8, 9, 10])
    wide[np.ix_(*kept)] = counts
    without = clone(model).set_params(random_state=0).fit(counts)
    fitted = clone(model).set_params(random_state=0).fit(wide)
    np.testing.assert_allclose(fitted.history_, without.history_)
    if isinstance(model, MOC):
        parts = [(fitted.memberships_.T, without.memberships_.T, kept[0])]
    else:
        parts = [(fitted.rows_, without.rows_, kept[0]), (fitted.columns_, without.columns_, kept[1])]
    for ours, theirs, where in parts:
        np.testing.assert_array_equal(ours[:, where], theirs)
        empty = np.setdiff1d(np.arange(ours.shape[1]), where)
        largest = theirs.sum(axis=1) == theirs.sum(axis=1).max()
        assert (ours[:, empty].any(axis=1) <= largest).all()
        assert ours[:, empty].any(axis=0).all()


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_nothing_at_all_is_an_error(model):
    with pytest.raises(ValueError, match="all 5 documents are empty"):
        clone(model).fit(np.zeros((5, 4)))
    with pytest.raises(ValueError, match="Negative values"):
        clone(model).fit(-random_counts())


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ITCC(7, 2), r"n_row_clusters=7 is more than there are documents that are not empty \(n_samples=6\)"),
        (ITCC(2, 5), r"n_column_clusters=5 is more than there are words that are not empty \(n_features=4\)"),
        (MOC(7), r"n_clusters=7 is more than there are documents .*: choose at most 6"),
        (MOCC(7, 2), r"n_row_clusters=7 is more than"),
        (MOCC(2, 5), r"n_column_clusters=5 is more than"),
        (ITCC(0, 2), r"n_row_clusters=0: expected a whole number, at least 1"),
        (ITCC(2, 1.5), r"n_column_clusters=1.5: expected a whole number"),
        (MOC(True), r"n_clusters=True: expected a whole number"),
        (MOCC(2, "3"), r"n_column_clusters='3': expected a whole number"),
        (ITCC(2, 2, n_init=0), r"n_init=0: expected a whole number, at least 1"),
        (MOC(2, max_iter=0), r"max_iter=0: expected a whole number, at least 1"),
        (MOC(2, loss="cosine"), r"loss='cosine': expected one of poisson, gaussian"),
        (MOCC(2, 2, tol=-1), r"tol=-1: expected a number, at least 0"),
        (MOC(2, tol=float("nan")), r"tol=nan: expected a number"),
    ],
)
def test_bad_parameters_are_named(model, message):
    counts = random_counts(7, 5) + 1
    counts[2] = counts[:, 1] = 0
    with pytest.raises(ValueError, match=message):
        model.fit(counts)


# ITCC


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


# MOC and MOCC


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
