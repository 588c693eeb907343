"""The effective sample size of a chain."""

from __future__ import annotations

import numpy as np
import pytest

from topicfold.metrics.stability import effective_sample_size


@pytest.mark.parametrize("correlation", [-0.5, 0.0, 0.5, 0.9])
def test_effective_sample_size_of_an_autoregression(correlation):
    n, found = 20_000, []
    for seed in range(8):
        noise = np.random.default_rng(seed).normal(size=n)
        values = np.zeros(n)
        for t in range(1, n):
            values[t] = correlation * values[t - 1] + noise[t]
        found.append(effective_sample_size(values))
    assert np.mean(found) == pytest.approx(n * (1 - correlation) / (1 + correlation), rel=0.1)


def test_effective_sample_size_does_not_depend_on_scale_or_level():
    values = np.random.default_rng(0).normal(size=500).cumsum()
    size = effective_sample_size(values)
    assert 1 <= size < 50
    assert effective_sample_size(1e6 * values - 3e7) == pytest.approx(size)
    assert effective_sample_size(values[::-1]) == pytest.approx(size)


@pytest.mark.parametrize(("trace", "expected"), [([], 0), ([1.0], 1), ([1.0, 2.0], 2), ([3.0] * 50, 50)])
def test_effective_sample_size_of_little(trace, expected):
    assert effective_sample_size(trace) == expected


def test_effective_sample_size_of_a_constant_that_is_not_a_binary_fraction():
    assert effective_sample_size([0.1] * 49) == 49
