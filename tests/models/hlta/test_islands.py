"""Islands by progressive EM: tables of patterns, the kernels' likelihoods, and the islands found."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp
from latent_tree_cases import known_tree

import naive
from topicfold.models.hlta import islands
from topicfold.models.hlta.islands import binary_information, count_table, packed_columns, progressive_islands
from topicfold.models.hlta.latent_tree import sample_documents, state_marginals


def dense(seed, n, k, share=0.3):
    rng = np.random.default_rng(seed)
    columns = (rng.random((n, k)) < share).astype(int)
    columns[:, 1] |= columns[:, 0]
    columns[:, -1] = columns[:, 2]  # a duplicate
    return columns


@pytest.mark.parametrize("n_documents", [1, 2, 63, 64, 65, 200])
def test_tables_of_patterns_are_counts(n_documents):
    columns = dense(n_documents, n_documents, 7)
    bits = packed_columns(sp.csr_array(columns))
    for variables in ([0], [3, 1], [0, 1, 2], [6, 2, 4], [5, 0, 6, 3]):
        expected = naive.pattern_counts(columns[:, variables])
        assert np.array_equal(count_table(bits, np.array(variables), n_documents), expected)


@pytest.mark.parametrize("n_documents", [1, 2, 80])
def test_mutual_information_of_all_pairs(n_documents, monkeypatch):
    monkeypatch.setattr(islands, "_ROWS_PER_BLOCK", 3)
    columns = np.hstack([dense(5, n_documents, 6), np.ones((n_documents, 1), int), np.zeros((n_documents, 1), int)])
    information = binary_information(sp.csr_array(columns.astype(float)))
    for v, w in product(range(8), repeat=2):
        expected = 0 if v == w else naive.mutual_information(columns[:, v], columns[:, w])
        assert information[v, w] == pytest.approx(expected, abs=1e-6)
    assert np.array_equal(information, information.T)


# ---- kernels --------------------------------------------------------------------------------------------------------


def pattern_likelihood(table, probability):
    return sum(n * np.log(probability(p)) for p, n in enumerate(table) if n)


def on_off(on, bit):
    return on if bit else 1 - on


def class_probability(p, on):
    """P of a pattern under a latent class model with two states; on[i] = P(1|0), P(1|1)."""

    def probability(pattern):
        both = [1 - p, p]
        for i, pair in enumerate(on):
            both = [value * on_off(pair[y], pattern >> i & 1) for y, value in enumerate(both)]
        return sum(both)

    return probability


def split_probability(p, on_a, on_b, split):
    def probability(pattern):
        total = 0.0
        for y, z in product(range(2), repeat=2):
            value = (p if y else 1 - p) * on_off(on_a[y], pattern & 1) * on_off(on_b[y], pattern >> 1 & 1)
            value *= on_off(split[y], z)
            value *= on_off(split[2 + z], pattern >> 2 & 1) * on_off(split[4 + z], pattern >> 3 & 1)
            total += value
        return total

    return probability


def random_starts(rng, n, k, first):
    return np.hstack([first, rng.uniform(0.1, 0.9, (n, k))])


def test_the_class_model_has_the_likelihood_it_says_and_a_maximum():
    rng = np.random.default_rng(0)
    latent = rng.random(900) < 0.4
    columns = rng.random((900, 3)) < np.where(latent[:, None], [0.8, 0.7, 0.9], [0.1, 0.2, 0.15])
    table = naive.pattern_counts(columns)
    best = np.empty(7)
    value = islands.fit_two_classes(table, random_starts(rng, 8, 6, rng.uniform(0.3, 0.7, (8, 1))), best)
    on = best[1:].reshape(3, 2)
    assert value == pytest.approx(pattern_likelihood(table, class_probability(best[0], on)))
    truth = class_probability(0.4, [(0.1, 0.8), (0.2, 0.7), (0.15, 0.9)])
    assert value > pattern_likelihood(table, truth)
    # with three binary variables the model can be read off the table: it is saturated
    saturated = sum(n * np.log(n / 900) for n in table)
    assert saturated - 0.5 < value <= saturated + 1e-9


def test_a_variable_is_fitted_to_its_maximum():
    rng = np.random.default_rng(1)
    latent = rng.random(700) < 0.3
    columns = rng.random((700, 3)) < np.where(latent[:, None], [0.8, 0.7, 0.6], [0.1, 0.2, 0.05])
    table = naive.pattern_counts(columns)
    on_a, on_b, on_x = np.array([0.1, 0.8]), np.array([0.2, 0.7]), np.empty(2)
    islands.fit_variable(table, 0.3, on_a, on_b, on_x)

    def value(x):
        return pattern_likelihood(table, class_probability(0.3, [on_a, on_b, x]))

    grid = np.linspace(0.01, 0.99, 60)
    best = max(value((a, b)) for a in grid for b in grid)
    assert value(on_x) > best - 0.1


def test_a_split_has_the_likelihood_it_says_and_beats_what_drew_the_data():
    rng = np.random.default_rng(2)
    y = rng.random(1500) < 0.4
    z = rng.random(1500) < np.where(y, 0.7, 0.2)
    columns = rng.random((1500, 4)) < np.where(
        np.stack([y, y, z, z], axis=1), [0.8, 0.7, 0.8, 0.9], [0.1, 0.1, 0.05, 0.1]
    )
    table = naive.pattern_counts(columns)
    on_a, on_b, split = np.array([0.1, 0.8]), np.array([0.1, 0.7]), np.empty(6)
    starts = random_starts(rng, 6, 4, rng.uniform([0.1, 0.6], [0.4, 0.9], (6, 2)))
    value = islands.fit_split(table, 0.4, on_a, on_b, starts, split)
    assert value == pytest.approx(pattern_likelihood(table, split_probability(0.4, on_a, on_b, split)))
    truth = pattern_likelihood(table, split_probability(0.4, on_a, on_b, [0.2, 0.7, 0.05, 0.8, 0.1, 0.9]))
    assert value > truth - 0.1
    assert value > islands.fit_split(table, 0.4, on_a, on_b, starts[:1] * 0 + 0.5, np.empty(6))


def test_the_gain_of_a_split_is_the_difference_of_two_likelihoods():
    rng = np.random.default_rng(3)
    columns = dense(3, 130, 5)
    bits = packed_columns(sp.csr_array(columns))
    p, on = 0.35, rng.uniform(0.1, 0.9, (5, 2))  # variables 0..3 are the island, 3 is W, 4 is X
    split = rng.uniform(0.1, 0.9, 6)
    odds = np.zeros(130)
    zero = sum(islands.add_evidence(bits[v], on[v], odds) for v in range(4))
    plain = [np.prod([on_off(on[v], row[v]) for v in range(4)], axis=0) for row in columns]
    np.testing.assert_allclose(odds, [np.log(pair[1] / pair[0]) for pair in plain])
    assert zero == pytest.approx(sum(np.log(pair[0]) for pair in plain))
    expected = 0.0
    for row in columns:
        one, two = np.array([1 - p, p]), np.array([1 - p, p])
        for v in range(5):
            one = one * on_off(on[v], row[v])
        for v in range(3):
            two = two * on_off(on[v], row[v])
        pairs = [on_off(split[2 + z], row[3]) * on_off(split[4 + z], row[4]) for z in range(2)]
        two = two * [(1 - split[y]) * pairs[0] + split[y] * pairs[1] for y in range(2)]
        expected += np.log(two.sum()) - np.log(one.sum())
    assert islands.split_gain(bits[3], bits[4], odds, p, on[3], on[4], split) == pytest.approx(expected)


def test_kernels_of_islands_bear_any_table():
    """Few patterns, huge counts: no division by zero, no NaN."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        three, four = np.zeros(8), np.zeros(16)
        for table in (three, four):
            some = rng.choice(len(table), rng.integers(1, len(table) + 1), replace=False)
            table[some] = rng.integers(1, 10 ** rng.integers(1, 7), len(some))
        best, on_x, split = np.empty(7), np.empty(2), np.empty(6)
        extreme = rng.choice([1e-4, 0.5, 1 - 1e-4], (3, 7))
        assert np.isfinite(islands.fit_two_classes(three, extreme, best))
        islands.fit_variable(three, best[0], best[1:3], best[3:5], on_x)
        assert np.isfinite(islands.fit_split(four, best[0], best[1:3], best[3:5], extreme[:, :6], split))
        for values in (best, on_x, split):
            assert ((values >= 1e-4 - 1e-12) & (values <= 1 - 1e-4 + 1e-12)).all()


# ---- islands --------------------------------------------------------------------------------------------------------


def islands_of(presence, seed=0, **options):
    return progressive_islands(
        sp.csr_array(presence).astype(float),
        **{"delta": 3.0, "island_size": 15, **options},
        random_state=np.random.RandomState(seed),
    )


def check_islands(all_islands, n_variables):
    assert sorted(v for island in all_islands for v in island.variables) == list(range(n_variables))
    for island in all_islands:
        assert island.prior.sum() == pytest.approx(1)
        assert len(island.tables) == len(island.variables)
        ones = 0.0
        for table in island.tables:
            assert table.shape == (2, 2)
            np.testing.assert_allclose(table.sum(axis=1), 1)
            assert ((table >= 0) & (table <= 1)).all()
            ones += table[1, 1] - table[0, 1]
        assert ones >= -1e-9


@pytest.mark.parametrize("seed", range(5))
def test_islands_of_a_known_tree(seed):
    tree = known_tree()
    documents = sample_documents(tree, 2500, "presence", np.random.RandomState(seed))
    calls = []
    grown = progressive_islands(
        documents,
        delta=3.0,
        island_size=15,
        random_state=np.random.RandomState(seed),
        report=lambda placed, n: calls.append((placed, n)),
    )
    check_islands(grown, 24)
    assert sorted(sorted(island.variables.tolist()) for island in grown) == np.arange(24).reshape(6, 4).tolist()
    assert all(a[0] < b[0] for a, b in pairwise(calls))
    assert calls[-1][1] >= len(grown) - 1
    share = {i: island.prior[1] for i, island in enumerate(grown)}
    assert all(abs(share[i] - state_marginals(tree)[0, 1]) < 0.1 for i in share)


@pytest.mark.parametrize("n_variables", range(1, 8))
@pytest.mark.parametrize("kind", ["random", "constant", "duplicate", "absent", "equal", "one", "two"])
def test_islands_of_odd_data(n_variables, kind):
    columns = np.random.default_rng(n_variables).integers(0, 2, (40, n_variables))
    if kind == "constant":
        columns[:, n_variables // 2 :] = 1
    elif kind == "duplicate":
        columns[:] = columns[:, :1]
    elif kind == "absent":
        columns[:, 0] = 0
    elif kind == "equal":
        columns[:] = columns[0]
    elif kind in ("one", "two"):
        columns = columns[: 1 + (kind == "two")]
    grown = islands_of(columns)
    check_islands(grown, n_variables)
    assert n_variables == 1 or all(len(island.variables) > 1 for island in grown)


def test_island_size_and_delta():
    columns = np.repeat(np.random.default_rng(0).integers(0, 2, (300, 1)), 20, axis=1)
    columns = columns ^ (np.random.default_rng(1).random(columns.shape) < 0.1)  # one latent, twenty children
    assert [len(island.variables) for island in islands_of(columns, island_size=30)] == [20]
    small = islands_of(columns, island_size=5)
    check_islands(small, 20)
    assert max(len(island.variables) for island in small) <= 5 + 2  # one or two that are left over join another
    tree = known_tree()
    documents = sample_documents(tree, 800, "presence", np.random.RandomState(0))
    assert len(islands_of(documents, delta=500.0, island_size=30)) < len(islands_of(documents, delta=3.0))
