"""Latent class models with one or two latents: EM against enumeration, samples, and BIC."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from class_model_cases import N_VALUES, SECOND, sample_of, tiny

from topicfold.models.hlta import class_models


def enumerated(data, model):
    """Log-likelihood and the expected counts of P(Y), P(Z|Y) and the tables, document by document, state by state."""
    n_y, n_z = model.bridge.shape
    both, counts = np.full((n_y, n_z), class_models.SMOOTHING), np.full(model.tables.shape, class_models.SMOOTHING)
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
    return class_models.em_steps(*sample_of(data, N_VALUES)[1:], *model[:4], np.array(touched), n_steps, -np.inf)


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
        return class_models.SMOOTHING * sum(np.log(p).sum() for p in parts)

    values = [run(data, model, touched, 0) + penalty()]
    for _ in range(50):
        values.append(run(data, model, touched, 1) + penalty())
    assert values[-1] > values[0] + 1
    assert (np.diff(values) > -1e-9).all()


def test_steps_end_at_the_tolerance():
    data, model = tiny()
    value = class_models.em_steps(*sample_of(data, N_VALUES)[1:], *model[:4], np.ones(6, bool), 10_000, 1e-3)
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
    assert class_models.n_parameters(model, N_VALUES) == 1 + 4 + 2 + 4 + 3 + 3
    _, classes = tiny(n_z=1)
    assert class_models.n_parameters(classes, N_VALUES) == 1 + 2 * (1 + 2 + 1 + 1)
    score = class_models.bic(model._replace(log_likelihood=-100.0), sample_of(data, N_VALUES))
    assert score == pytest.approx(-100 - 17 / 2 * np.log(40))


@pytest.mark.parametrize(
    ("neighbours", "most"),
    [([2, 2], 2), ([2, 2, 2], 4), ([3, 2, 2], 4), ([2] * 9, class_models.MOST_STATES), ([2], 2), ([1], 2)],
)
def test_most_states(neighbours, most):
    assert class_models.most_states(np.array(neighbours)) == most
