"""What tests of the co-clusterings share."""

from __future__ import annotations

import numpy as np

LOSSES = ("poisson", "gaussian")


def random_counts(n_rows=12, n_columns=9, seed=0, mean=1.0):
    """Counts with no empty row or column."""
    counts = np.random.default_rng(seed).poisson(mean, (n_rows, n_columns))
    counts[np.arange(n_rows), np.arange(n_rows) % n_columns] += 1
    return counts


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
