"""What people's judgements say: intervals of shares and means, agreement between people, rank correlation.

Sources: Wilson, "Probable inference, the law of succession, and statistical inference" (1927); Krippendorff, "Computing
Krippendorff's alpha-reliability" (2011).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from ..engine.checks import check_choice

__all__ = ["Estimate", "krippendorff_alpha", "spearman", "wilson_interval"]

_NORMAL = 1.959963984540054  # quantile of .975
_DRAWS = 2000
_FEWEST = 3  # topics a correlation needs


class Estimate(NamedTuple):
    """A figure, its 95 % interval, and how many answers or topics it is of; NaN where there is none."""

    value: float
    low: float
    high: float
    n: int


def wilson_interval(total: float, n: int) -> Estimate:
    """The mean of n values between 0 and 1 that sum to `total`, with Wilson's 95 % interval.

    The interval is that of a share. No value between 0 and 1 varies more than one that is 0 or 1, so for the mean of
    others it is too wide rather than too narrow. It takes the values to be independent.

    >>> [round(figure, 3) for figure in wilson_interval(4, 5)]
    [0.8, 0.376, 0.964, 5]
    """
    if n == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    share, square = total / n, _NORMAL**2
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = _NORMAL / (1 + square / n) * np.sqrt(max(share * (1 - share), 0) / n + square / (4 * n * n))
    return Estimate(float(share), float(max(middle - half, 0)), float(min(middle + half, 1)), n)


def krippendorff_alpha(ratings: Any, level: Literal["nominal", "ordinal"] = "nominal") -> float:
    """Agreement of raters: 1 where they always agree, 0 where they agree as by chance; NaN where it is not defined.

    Parameters
    ----------
    ratings : array of shape (n_raters, n_units)
        NaN where a rater has not judged a unit. Units with fewer than two ratings do not count.
    level : {'nominal', 'ordinal'}, default='nominal'
        Whether values only differ, or have an order.

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, 2]]), 3)
    0.667
    """
    check_choice("level", level, ("nominal", "ordinal"))
    given = np.asarray(ratings, dtype=np.float64)
    if given.ndim != 2:
        raise ValueError(f"ratings have {given.ndim} dimension(s): expected a matrix, raters x units")
    values = np.unique(given[~np.isnan(given)])
    counts = (given[:, :, None] == values).sum(axis=0)  # units x values
    counts = counts[counts.sum(axis=1) > 1]
    weight = 1 / (counts.sum(axis=1) - 1)
    coincidence = (counts * weight[:, None]).T @ counts  # o_ck; a rating is no pair with itself
    coincidence[np.diag_indices(len(values))] -= weight @ counts
    margin = coincidence.sum(axis=1)  # n_c
    if level == "nominal":
        distance = 1.0 - np.eye(len(values))
    else:
        between = np.cumsum(margin)[None, :] - np.cumsum(margin)[:, None]  # from above c to k
        distance = (between + (margin[:, None] - margin[None, :]) / 2) ** 2
    expected = margin @ distance @ margin
    if not expected > 0:
        return float("nan")
    return float(1 - (margin.sum() - 1) * (coincidence * distance).sum() / expected)


def spearman(one: Any, other: Any, *, draws: int = _DRAWS) -> Estimate:
    """Spearman's rank correlation of two columns, with a bootstrap interval; pairs with a NaN are left out.

    >>> spearman([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 6, 5]).value  # doctest: +ELLIPSIS
    0.8857...
    """
    pairs = np.array([one, other], dtype=np.float64)
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    n = pairs.shape[1]
    if n < _FEWEST:
        return Estimate(np.nan, np.nan, np.nan, n)
    drawn = pairs[:, np.random.default_rng(0).integers(n, size=(draws, n))]
    found = _rank_correlations(drawn[0], drawn[1])
    found = found[~np.isnan(found)]
    low, high = np.quantile(found, [0.025, 0.975]) if len(found) else (np.nan, np.nan)
    return Estimate(float(_rank_correlations(pairs[[0]], pairs[[1]])[0]), float(low), float(high), n)


def _rank_correlations(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Row by row; NaN where a row does not vary."""
    from scipy.stats import rankdata

    ranks = [rankdata(rows, axis=1) for rows in (one, other)]
    first, second = (rows - rows.mean(axis=1, keepdims=True) for rows in ranks)
    scale = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    return np.where(scale > 0, (first * second).sum(axis=1) / np.where(scale > 0, scale, 1), np.nan)
