"""Statistics of human judgements: intervals of shares and means, agreement of raters, rank correlation.

Sources: Wilson, "Probable inference, the law of succession, and statistical inference" (1927); Krippendorff, "Computing
Krippendorff's alpha-reliability" (2011).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from ..engine.checks import check_choice
from ..errors import InputError

__all__ = ["Estimate", "krippendorff_alpha", "spearman", "wilson_interval"]

_NORMAL = 1.959963984540054  # the 0.975 quantile of the normal distribution
_DRAWS = 2000
_FEWEST = 3  # minimum number of pairs for a correlation


class Estimate(NamedTuple):
    """An estimate with its 95 % interval; NaN if it is not defined.

    Attributes
    ----------
    value : float
        The estimate.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.
    n : int
        Number of answers or topics that it is based on.

    See Also
    --------
    wilson_interval : The mean of values between 0 and 1, with its interval.
    spearman : A rank correlation, with its interval.

    Examples
    --------
    >>> from topicfold.metrics import wilson_interval
    >>> wilson_interval(8, 10).value
    0.8
    """

    value: float
    low: float
    high: float
    n: int


def wilson_interval(total: float, n: int) -> Estimate:
    """Compute the mean of values between 0 and 1, with Wilson's 95 % interval.

    The interval is made for proportions, where each value is 0 or 1. Values in between vary less, so the interval of
    their mean is too wide rather than too narrow. The values are assumed to be independent.

    Parameters
    ----------
    total : float
        Sum of the values.
    n : int
        Number of values.

    Returns
    -------
    Estimate
        Mean, lower end, upper end and n.

    Raises
    ------
    InputError
        If the sum is below 0 or above n.

    See Also
    --------
    krippendorff_alpha : Agreement of raters.

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of the American
    Statistical Association 22, 209-212. https://doi.org/10.1080/01621459.1927.10502953

    Examples
    --------
    >>> from topicfold.metrics import wilson_interval
    >>> [round(figure, 3) for figure in wilson_interval(4, 5)]
    [0.8, 0.376, 0.964, 5]
    """
    if not 0 <= total <= n:
        raise InputError(f"total={total!r:.60} of n={n!r:.60} values: expected a sum from 0 to n")
    if n == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    share, square = total / n, _NORMAL**2
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = _NORMAL / (1 + square / n) * np.sqrt(max(share * (1 - share), 0) / n + square / (4 * n * n))
    return Estimate(float(share), float(max(middle - half, 0)), float(min(middle + half, 1)), n)


def krippendorff_alpha(ratings: Any, level: Literal["nominal", "ordinal"] = "nominal") -> float:
    """Compute Krippendorff's alpha, the agreement of raters corrected for chance.

    Parameters
    ----------
    ratings : array-like of shape (n_raters, n_units)
        The ratings; NaN if a rater has not judged a unit. Units with fewer than two ratings do not count.
    level : {'nominal', 'ordinal'}, default='nominal'
        Whether values can only be equal or different ('nominal'), or have an order ('ordinal').

    Returns
    -------
    float
        1 if raters always agree, 0 if they agree only by chance; NaN if it is not defined.

    Raises
    ------
    InputError
        If `ratings` is not a matrix.

    See Also
    --------
    wilson_interval : Interval of a share.
    topicfold.read_judgements : Evaluates the judgements of people.

    References
    ----------
    Krippendorff, K. (1970). Estimating the reliability, systematic error and random error of interval data. Educational
    and Psychological Measurement 30, 61-70. https://doi.org/10.1177/001316447003000105

    Examples
    --------
    >>> from topicfold.metrics import krippendorff_alpha
    >>> round(krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, 2]]), 3)
    0.667
    """
    check_choice("level", level, ("nominal", "ordinal"))
    matrix = np.asarray(ratings, dtype=np.float64)
    if matrix.ndim != 2:
        raise InputError(f"ratings have {matrix.ndim} dimension(s): expected a matrix, raters x units")
    values = np.unique(matrix[~np.isnan(matrix)])
    counts = (matrix[:, :, None] == values).sum(axis=0)  # units x values
    counts = counts[counts.sum(axis=1) > 1]
    weight = 1 / (counts.sum(axis=1) - 1)
    coincidence = (counts * weight[:, None]).T @ counts  # o_ck; a rating does not form a pair with itself
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
    """Compute Spearman's rank correlation of two columns, with a bootstrap interval.

    Parameters
    ----------
    one : array-like of shape (n_samples,)
        First column.
    other : array-like of shape (n_samples,)
        Second column. Pairs with a NaN are left out.
    draws : int, default=2000
        Number of bootstrap samples.

    Returns
    -------
    Estimate
        Spearman's correlation, lower and upper end of its 95 % interval, and number of pairs.

    See Also
    --------
    topicfold.read_judgements : Compares the judgements of people with measures.

    Examples
    --------
    >>> from topicfold.metrics import spearman
    >>> spearman([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 6, 5]).value  # doctest: +ELLIPSIS
    0.8857...
    """
    pairs = np.array([one, other], dtype=np.float64)
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    n = pairs.shape[1]
    if n < _FEWEST:
        return Estimate(np.nan, np.nan, np.nan, n)
    drawn = pairs[:, np.random.default_rng(0).integers(n, size=(draws, n))]
    correlations = _rank_correlations(drawn[0], drawn[1])
    correlations = correlations[~np.isnan(correlations)]
    low, high = np.quantile(correlations, [0.025, 0.975]) if len(correlations) else (np.nan, np.nan)
    return Estimate(float(_rank_correlations(pairs[[0]], pairs[[1]])[0]), float(low), float(high), n)


def _rank_correlations(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Rank correlations row by row; NaN if a row is constant."""
    from scipy.stats import rankdata

    ranks = [rankdata(rows, axis=1) for rows in (left, right)]
    first, second = (rows - rows.mean(axis=1, keepdims=True) for rows in ranks)
    scale = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    return np.where(scale > 0, (first * second).sum(axis=1) / np.where(scale > 0, scale, 1), np.nan)
