"""Intervals, Krippendorff's alpha and rank correlation against published figures, scipy and slow twins."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import binomtest, spearmanr

from topicfold.metrics import krippendorff_alpha, spearman, wilson_interval

_ = np.nan
# Krippendorff (2011), section C and following: four observers, twelve units
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]


def slow_alpha(ratings, level):
    """1 - observed / expected disagreement, pair by pair."""
    units = [[v for v in unit if not np.isnan(v)] for unit in np.transpose(ratings)]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [v for unit in units for v in unit]

    def distance(a, b):
        if level == "nominal":
            return float(a != b)
        low, high = min(a, b), max(a, b)
        between = sum(low <= v <= high for v in pooled)
        return (between - (pooled.count(a) + pooled.count(b)) / 2) ** 2

    observed = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)) / len(pooled)
    expected = sum(distance(a, b) for a, b in permutations(pooled, 2)) / (len(pooled) * (len(pooled) - 1))
    return 1 - observed / expected


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_alpha_is_the_published_one(level, published):
    assert krippendorff_alpha(PUBLISHED, level) == pytest.approx(published, abs=0.0005)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_that_of_the_slow_twin(level, seed):
    rng = np.random.default_rng(seed)
    ratings = np.where(rng.random((4, 15)) < 0.3, np.nan, rng.integers(1, 5, (4, 15)))
    assert krippendorff_alpha(ratings, level) == pytest.approx(slow_alpha(ratings, level))


def test_alpha_at_its_ends():
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]]) == 1
    assert krippendorff_alpha([[1, 2], [2, 1]]) < 0
    for undefined in ([[1, 2, 3]], [[1, 1], [1, 1]], [[1, _], [_, 2]], [[_, _]], np.empty((2, 0))):
        assert np.isnan(krippendorff_alpha(undefined))
    with pytest.raises(ValueError, match="level='interval'"):
        krippendorff_alpha(PUBLISHED, "interval")
    with pytest.raises(ValueError, match="1 dimension"):
        krippendorff_alpha([1, 2])


@pytest.mark.parametrize(("total", "n"), [(9, 5), (-1, 5), (float("nan"), 5), (0, -1)])
def test_a_total_outside_of_its_range_is_refused(total, n):
    with pytest.raises(ValueError, match=r"^total=.* of n=.* values: expected a sum from 0 to n"):
        wilson_interval(total, n)


@pytest.mark.parametrize(("found", "n"), [(0, 5), (4, 5), (5, 5), (37, 120)])
def test_intervals_of_shares_are_wilsons(found, n):
    expected = binomtest(found, n).proportion_ci(method="wilson")
    value, low, high, count = wilson_interval(found, n)
    assert (value, count) == (found / n, n)
    assert (low, high) == pytest.approx((expected.low, expected.high))
    assert np.isnan(wilson_interval(0, 0).value)


def test_intervals_of_bounded_means_cover_them():
    rng = np.random.default_rng(0)
    covered = 0
    for _draw in range(400):
        values = rng.choice([0, 0.5, 1], 12, p=[0.2, 0.5, 0.3])
        found = wilson_interval(values.sum(), 12)
        covered += found.low <= 0.55 <= found.high
    assert covered >= 0.95 * 400  # they are rather too wide


def test_rank_correlation_is_scipys_and_leaves_out_gaps():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 6, 40).astype(float)
    other = one + rng.normal(0, 2, 40).round()
    found = spearman([*one, _, 3], [*other, 1, _])
    assert found.value == pytest.approx(spearmanr(one, other).statistic)
    assert found.n == 40
    assert found.low < found.value < found.high
    drawn = np.random.default_rng(0).integers(40, size=(2000, 40))
    twin = [spearmanr(one[rows], other[rows]).statistic for rows in drawn[:2000]]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(twin, [0.025, 0.975])))


def test_rank_correlations_that_are_not_defined():
    assert np.isnan(spearman([1, 2], [1, 2]).value)
    constant = spearman([1, 2, 3, 4], [2, 2, 2, 2])
    assert np.isnan(constant.value)
    assert np.isnan(constant.low)
