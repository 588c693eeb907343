"""Bridged-Islands: latent class models against enumeration, the UD-test, and islands of sampled data."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from topicfold.models.hlta import bridged_islands as bi
from topicfold.models.hlta.bridged_islands import (
    MOST_STATES,
    LatentClassModel,
    Sample,
    WorkingSet,
    bridged_islands,
    mutual_information,
)

N_VALUES = np.array([2, 3, 2, 2])
SECOND = np.array([False, False, True, True])


def sample_of(data, n_values=None):
    sample = Sample(np.zeros(len(data), np.int64), np.zeros((1, 0), np.uint8), np.ones(1), np.zeros(0, np.int64))
    for i, column in enumerate(data.T):
        sample = sample.add(column, 2 if n_values is None else n_values[i])
    return sample


def tiny(seed=0, n_y=2, n_z=3):
    """40 documents of four variables, the second with three values, and a random model of them."""
    rng = np.random.default_rng(seed)
    data = np.column_stack([rng.integers(0, v, 40) for v in N_VALUES]).astype(np.uint8)
    tables = np.zeros((4, MOST_STATES, 3))
    for i, v in enumerate(N_VALUES):
        tables[i, :, :v] = rng.dirichlet(np.ones(v), MOST_STATES)
    second = SECOND if n_z > 1 else np.zeros(4, bool)
    return data, LatentClassModel(second, rng.dirichlet(np.ones(n_y)), rng.dirichlet(np.ones(n_z), n_y), tables)


# ---- latent class models --------------------------------------------------------------------------------------------


def enumerated(data, model):
    """Log-likelihood and the expected counts of P(Y), P(Z|Y) and the tables, document by document, state by state."""
    n_y, n_z = model.bridge.shape
    both, counts = np.full((n_y, n_z), bi.SMOOTHING), np.full(model.tables.shape, bi.SMOOTHING)
    log_likelihood = 0.0
    for x in data:
        joint = {}
        for y, z in product(range(n_y), range(n_z)):
            p = model.prior[y] * model.bridge[y, z]
            for i, value in enumerate(x):
                p *= model.tables[i, z if model.second[i] else y, value]
            joint[y, z] = p
        total = sum(joint.values())
        log_likelihood += np.log(total)
        for (y, z), p in joint.items():
            both[y, z] += p / total
            for i, value in enumerate(x):
                counts[i, z if model.second[i] else y, value] += p / total
    return log_likelihood, both, counts


def run(data, model, touched, n_steps):
    return bi.em_steps(*sample_of(data, N_VALUES)[1:], *model[:4], np.array(touched), n_steps, -np.inf)


@pytest.mark.parametrize("n_z", [1, 3])
def test_kernel_is_enumeration(n_z):
    data, model = tiny(n_z=n_z)
    _, before = tiny(n_z=n_z)
    value, both, counts = enumerated(data, before)
    assert run(data, model, [True] * 6, 0) == pytest.approx(value, abs=1e-9)
    np.testing.assert_array_equal(model.tables, before.tables)  # no step, no change
    after = run(data, model, [True] * 6, 1)
    np.testing.assert_allclose(model.prior, both.sum(1) / both.sum())
    np.testing.assert_allclose(model.bridge, both / both.sum(1, keepdims=True))
    for i, v in enumerate(N_VALUES):
        part = counts[i, : n_z if model.second[i] else 2, :v]
        np.testing.assert_allclose(model.tables[i, : len(part), :v], part / part.sum(1, keepdims=True))
    assert after == pytest.approx(enumerated(data, model)[0], abs=1e-9)


def test_kernel_leaves_untouched_tables():
    data, model = tiny()
    _, before = tiny()
    _, both, counts = enumerated(data, before)
    run(data, model, [False, False, True, False, False, True], 1)
    for i in (0, 1, 3):
        np.testing.assert_array_equal(model.tables[i], before.tables[i])
    np.testing.assert_array_equal(model.prior, before.prior)
    np.testing.assert_allclose(model.bridge, both / both.sum(1, keepdims=True))
    part = counts[2, :3, :2]
    np.testing.assert_allclose(model.tables[2, :3, :2], part / part.sum(1, keepdims=True))


@pytest.mark.parametrize("touched", [[True] * 6, [False, False, True, True, False, True]])
def test_em_is_monotone(touched):
    """What EM raises is the likelihood times the prior that the smoothing stands for."""
    data, model = tiny(seed=1)

    def penalty():
        parts = [model.tables[i, : 3 if SECOND[i] else 2, :v] for i, v in enumerate(N_VALUES) if touched[i]]
        # the counts of P(Y, Z) are smoothed together: P(Y) has the weight of all states of Z
        parts += [model.prior] * 3 if touched[4] else []
        parts += [model.bridge]
        return bi.SMOOTHING * sum(np.log(p).sum() for p in parts)

    values = [run(data, model, touched, 0) + penalty()]
    for _ in range(50):
        values.append(run(data, model, touched, 1) + penalty())
    assert values[-1] > values[0] + 1
    assert (np.diff(values) > -1e-9).all()


def test_steps_end_at_the_tolerance():
    data, model = tiny()
    value = bi.em_steps(*sample_of(data, N_VALUES)[1:], *model[:4], np.ones(6, bool), 10_000, 1e-3)
    assert run(data, model, [True] * 6, 1) - value < 1e-3
    assert run(data, model, [True] * 6, 1000) > value + 1e-4  # it was not run to the end


# ---- samples and BIC ------------------------------------------------------------------------------------------------


def test_sample_has_the_distinct_rows():
    rng = np.random.default_rng(0)
    data = np.column_stack([rng.integers(0, v, 50) for v in (2, 3, 2)]).astype(np.uint8)
    sample = sample_of(data, [2, 3, 2])
    rows, counts = np.unique(data, axis=0, return_counts=True)
    order = np.lexsort(sample.rows.T[::-1])
    np.testing.assert_array_equal(sample.rows[order], rows)
    np.testing.assert_array_equal(sample.weights[order], counts)
    np.testing.assert_array_equal(sample.rows[sample.row], data)


def test_bic_counts_free_parameters():
    data, model = tiny()
    # P(Y) 1, P(Z|Y) 2 x 2, below Y 2 x 1 + 2 x 2, below Z 3 x 1 + 3 x 1
    assert bi.n_parameters(model, N_VALUES) == 1 + 4 + 2 + 4 + 3 + 3
    _, classes = tiny(n_z=1)
    assert bi.n_parameters(classes, N_VALUES) == 1 + 2 * (1 + 2 + 1 + 1)
    score = bi.bic(model._replace(log_likelihood=-100.0), sample_of(data, N_VALUES))
    assert score == pytest.approx(-100 - 17 / 2 * np.log(40))


@pytest.mark.parametrize(
    ("neighbours", "most"),
    [([2, 2], 2), ([2, 2, 2], 4), ([3, 2, 2], 4), ([2] * 9, bi.MOST_STATES), ([2], 2), ([1], 2)],
)
def test_most_states(neighbours, most):
    assert bi.most_states(np.array(neighbours)) == most


# ---- working sets ---------------------------------------------------------------------------------------------------


def working_set(data, n_values=None, seed=0):
    return WorkingSet(sample_of(data, n_values), np.random.RandomState(seed))


def islands_of(data, n_values=None, *, delta=3.0, island_size=15, seed=0, report=None):
    n_values = np.full(data.shape[1], 2) if n_values is None else n_values
    random_state = np.random.RandomState(seed)
    return bridged_islands(
        data, n_values, delta=delta, island_size=island_size, random_state=random_state, report=report
    )


def check_islands(islands, n_values):
    """Every variable once; tables of probabilities of the right shape; states in order."""
    assert sorted(v for island in islands for v in island.variables) == list(range(len(n_values)))
    for island in islands:
        n_states = len(island.prior)
        assert island.prior.sum() == pytest.approx(1)
        assert len(island.tables) == len(island.variables)
        for v, table in zip(island.variables, island.tables):
            assert table.shape == (n_states, n_values[v])
            assert (table > 0).all()
            np.testing.assert_allclose(table.sum(1), 1)
        expected = sum(table @ np.arange(table.shape[1]) for table in island.tables)
        assert (np.diff(expected) >= 0).all()


def groups(islands):
    return sorted(sorted(island.variables.tolist()) for island in islands)


def below(rng, latent, n_children, high=0.85, low=0.05):
    """Binary children that are on with probability `high` where the latent is 1, `low` where it is 0."""
    return (rng.random((len(latent), n_children)) < np.where(latent, high, low)[:, None]).astype(np.uint8)


def flat_tree(seed, sizes=(4, 5, 3, 4), n=2000, follow=0.7):
    """Data of a chain of binary latents, each with its own children."""
    rng = np.random.default_rng(seed)
    latent, parts = rng.random(n) < 0.4, []
    for size in sizes:
        parts.append(below(rng, latent, size))
        latent = np.where(rng.random(n) < follow, latent, rng.random(n) < 0.4)
    return np.hstack(parts)


def two_latents(rng, n=1500, sizes=(3, 3)):
    first = rng.random(n) < 0.4
    second = np.where(rng.random(n) < 0.5, first, rng.random(n) < 0.4)
    return np.hstack([below(rng, first, sizes[0]), below(rng, second, sizes[1])])


def test_mutual_information_is_the_naive_count(monkeypatch):
    rng = np.random.default_rng(0)
    data = np.column_stack([rng.integers(0, v, 60) for v in (2, 3, 4, 2, 1)]).astype(np.uint8)
    data[:, 3] = data[:, 0]
    monkeypatch.setattr(bi, "_DOCUMENTS_PER_BLOCK", 7)
    information = mutual_information(data)
    for i, j in product(range(5), repeat=2):
        expected = 0.0
        for a, b in product(range(4), repeat=2):
            p = np.mean((data[:, i] == a) & (data[:, j] == b))
            if p > 0:
                expected += p * np.log(p / (np.mean(data[:, i] == a) * np.mean(data[:, j] == b)))
        assert information[i, j] == pytest.approx(-1 if i == j else expected, abs=1e-12)


# ---- the UD-test ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_one_latent_passes(seed):
    rng = np.random.default_rng(seed)
    data = below(rng, rng.random(1500) < 0.4, 6)
    assert working_set(data, seed=seed).second_cluster([4, 5], 3.0) is None


@pytest.mark.parametrize("seed", range(5))
def test_two_latents_fail(seed):
    """As in a growing set: three siblings, one variable of the other latent, and then the second."""
    data = two_latents(np.random.default_rng(seed))[:, :5]
    assert working_set(data[:, :4], seed=seed).second_cluster([1, 3], 3.0) is None
    second = working_set(data, seed=seed).second_cluster([3, 4], 3.0)
    assert second.tolist() == [False, False, False, True, True]


@pytest.mark.parametrize("seed", range(3))
def test_siblings_follow_the_pair_that_fails(seed):
    data = two_latents(np.random.default_rng(seed), sizes=(5, 3))
    second = working_set(data, seed=seed).second_cluster([6, 7], 3.0)
    assert second.tolist() == [False] * 5 + [True] * 3


def test_delta_is_the_threshold():
    data = two_latents(np.random.default_rng(0))[:, :5]
    current = working_set(data)
    second = bi.fit_class_model(current.sample, [current.new_latent(current.class_model(2), [3, 4])])
    gain = current.bic(second) - current.bic(current.best_class_model())
    assert current.second_cluster([3, 4], gain - 1) is not None
    assert current.second_cluster([3, 4], gain + 1) is None


def test_relocation_leaves_what_belongs_to_the_first():
    data = two_latents(np.random.default_rng(1))
    current = working_set(data)
    model = bi.fit_class_model(current.sample, [current.new_latent(current.class_model(2), [3, 4])])
    assert model.second.tolist() == [False, False, False, True, True, False]
    moved = current.relocated(model)
    assert moved.second.tolist() == [False, False, False, True, True, True]
    assert current.bic(moved) > current.bic(model) + 1


def test_a_new_latent_finds_its_states():
    """Two variables of three values, which agree and depend on the rest by their first value alone."""
    rng = np.random.default_rng(0)
    first = rng.random(2000) < 0.5
    second = np.where(
        first, rng.choice([0, 1, 2], 2000, p=[0.2, 0.4, 0.4]), rng.choice([0, 1, 2], 2000, p=[0.6, 0.2, 0.2])
    )
    pair = [np.where(rng.random(2000) < 0.9, second, rng.integers(0, 3, 2000)).astype(np.uint8) for _ in range(2)]
    current = working_set(np.column_stack([below(rng, first, 3), *pair]), [2, 2, 2, 3, 3])
    assert current.new_latent(current.class_model(2), [3, 4]).bridge.shape == (2, 3)
    binary = working_set(two_latents(rng))
    assert binary.new_latent(binary.class_model(2), [4, 5]).bridge.shape == (2, 2)


def test_fitted_model_is_near_the_truth():
    rng = np.random.default_rng(0)
    latent = rng.random(5000) < 0.3
    (island,) = islands_of(below(rng, latent, 5))
    np.testing.assert_allclose(island.prior, [0.7, 0.3], atol=0.03)
    for table in island.tables:
        np.testing.assert_allclose(table[:, 1], [0.05, 0.85], atol=0.05)


def test_a_larger_set_starts_from_the_smaller():
    """With the last variable independent of Y, the old model explains the larger set as well as before."""
    data = two_latents(np.random.default_rng(0))
    small = working_set(data[:, :4])
    old = small.class_model(2)
    large = small.add(data[:, 4], 2)
    start = large._extended(old)
    share = data[:, 4].mean()
    alone = len(data) * (share * np.log(share) + (1 - share) * np.log(1 - share))
    value = bi.em_steps(*large.sample[1:], *start[:4], np.ones(7, bool), 0, 0.0)
    assert value == pytest.approx(old.log_likelihood + alone, abs=1e-3)
    assert large.class_model(2).log_likelihood >= value


@pytest.mark.parametrize("of_second", [False, True])
def test_split_state_keeps_probabilities(of_second):
    data, model = tiny()
    larger = working_set(data, N_VALUES)._split_state(model, of_second)
    assert larger.bridge.shape == ((2, 4) if of_second else (3, 3))
    assert larger.prior.sum() == pytest.approx(1)
    np.testing.assert_allclose(larger.bridge.sum(1), 1)
    children = model.second == of_second
    n_states = 4 if of_second else 3
    np.testing.assert_allclose(larger.tables[children, :n_states].sum(2), 1)
    np.testing.assert_array_equal(larger.tables[~children], model.tables[~children])


# ---- islands --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_islands_of_a_flat_tree(seed):
    islands = islands_of(flat_tree(seed), seed=seed)
    check_islands(islands, np.full(16, 2))
    assert groups(islands) == [[0, 1, 2, 3], [4, 5, 6, 7, 8], [9, 10, 11], [12, 13, 14, 15]]
    assert [len(island.prior) for island in islands] == [2] * 4


@pytest.mark.parametrize("seed", range(3))
def test_three_states_are_found(seed):
    """A latent with three clear states over seven variables, beside a binary one."""
    rng = np.random.default_rng(seed)
    n = 2000
    latent = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    on = np.array([[0.05] * 6 + [0.1], [0.9] * 3 + [0.1] * 3 + [0.8], [0.1] * 3 + [0.9] * 3 + [0.8]])
    first = (rng.random((n, 7)) < on[latent]).astype(np.uint8)
    second = below(rng, np.where(rng.random(n) < 0.4, latent > 0, rng.random(n) < 0.4), 4)
    islands = islands_of(np.hstack([first, second]), seed=seed)
    assert groups(islands) == [[0, 1, 2, 3, 4, 5, 6], [7, 8, 9, 10]]
    three = next(island for island in islands if 0 in island.variables)
    np.testing.assert_allclose(three.prior[0], 0.5, atol=0.05)
    np.testing.assert_allclose(np.sort(three.prior[1:]), [0.2, 0.3], atol=0.05)


@pytest.mark.parametrize("seed", range(3))
def test_variables_with_more_values(seed):
    """Values 0, 1, 2 as latents of a lower level have them, mixed with binary variables."""
    rng = np.random.default_rng(seed)
    n, n_values = 2000, np.array([3, 3, 2, 3, 2, 3, 3, 2])
    first = rng.integers(0, 3, n)
    second = np.where(rng.random(n) < 0.4, first, rng.integers(0, 3, n))
    columns = []
    for i, v in enumerate(n_values):
        latent = first if i < 4 else second
        columns.append(np.where(rng.random(n) < 0.85, np.minimum(latent, v - 1), rng.integers(0, v, n)))
    islands = islands_of(np.column_stack(columns).astype(np.uint8), n_values, seed=seed)
    check_islands(islands, n_values)
    assert groups(islands) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [len(island.prior) for island in islands] == [3, 3]


def test_which_cluster_becomes_the_island():
    information = np.full((6, 6), 0.1)
    information[4, 5] = information[5, 4] = 0.5
    variables = [2, 0, 1, 3, 4, 5]

    def cluster(second):
        return bi._island_cluster(variables, np.array(second, bool), information)

    assert cluster([1, 1, 0, 0, 0, 0]) == [2, 0]  # both seeds
    assert cluster([1, 0, 1, 0, 1, 1]) == [2, 1, 4, 5]  # the larger
    assert cluster([1, 0, 0, 0, 1, 1]) == [2, 4, 5]  # as large: the closer
    assert cluster([0, 1, 1, 1, 0, 0]) == [2, 4, 5]


def test_island_size_is_kept():
    rng = np.random.default_rng(0)
    data = below(rng, rng.random(800) < 0.4, 12)
    assert [len(island.variables) for island in islands_of(data, island_size=4)] == [4, 4, 4]
    assert [len(island.variables) for island in islands_of(data)] == [12]


def test_a_single_variable_left_joins_the_closest_island():
    rng = np.random.default_rng(0)
    latents = rng.random((3, 2000)) < 0.4
    clear = [below(rng, latent, 4, 1 - slip, slip) for latent, slip in zip(latents, (0.01, 0.03, 0.06))]
    weak = below(rng, latents[1], 1, 0.5, 0.3)
    islands = islands_of(np.hstack([*clear, weak]), island_size=4)
    assert groups(islands) == [[0, 1, 2, 3], [4, 5, 6, 7, 12], [8, 9, 10, 11]]
    check_islands(islands, np.full(13, 2))


@pytest.mark.parametrize("n_variables", [0, 1, 2, 3])
def test_few_variables(n_variables):
    data = flat_tree(0, n=100)[:, :n_variables]
    islands = islands_of(data)
    assert len(islands) == (n_variables > 0)
    check_islands(islands, np.full(n_variables, 2))


@pytest.mark.parametrize("n_values", [1, 2])
def test_constant_variables(n_values):
    """Words of no document, and variables that have one value only."""
    data = np.hstack([flat_tree(0, sizes=(4, 4), n=500), np.zeros((500, 3), np.uint8)])
    sizes = np.append(np.full(8, 2), [n_values] * 3)
    check_islands(islands_of(data, sizes), sizes)
    check_islands(islands_of(data[:, 8:], sizes[8:]), sizes[8:])
    check_islands(islands_of(1 - data[:, 8:], np.full(3, 2)), np.full(3, 2))


def test_duplicate_variables():
    data = flat_tree(0, sizes=(3, 3), n=500)
    data = np.hstack([data, data[:, [0, 0, 0, 5]]])
    islands = islands_of(data)
    check_islands(islands, np.full(10, 2))
    home = {v: number for number, island in enumerate(islands) for v in island.variables}
    assert len({home[v] for v in (0, 6, 7, 8)}) == 1
    assert home[5] == home[9]
    check_islands(islands_of(np.repeat(data[:, :1], 6, axis=1)), np.full(6, 2))


@pytest.mark.parametrize("n_documents", [1, 2, 5])
def test_few_documents(n_documents):
    check_islands(islands_of(flat_tree(0, n=n_documents)), np.full(16, 2))


def test_the_seed_decides():
    data = flat_tree(3, n=300)
    first, again = islands_of(data, seed=5), islands_of(data, seed=5)
    assert len(first) == len(again)
    for a, b in zip(first, again):
        np.testing.assert_array_equal(a.variables, b.variables)
        np.testing.assert_array_equal(a.prior, b.prior)
        for s, t in zip(a.tables, b.tables):
            np.testing.assert_array_equal(s, t)


def test_report_counts_variables_and_islands():
    seen = []
    islands = islands_of(flat_tree(0), report=lambda placed, made: seen.append((placed, made)))
    sizes = [len(island.variables) for island in islands]
    assert seen == list(zip(np.cumsum(sizes), range(1, len(sizes) + 1)))
