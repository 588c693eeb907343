"""Latent class models with one or two latents, for bridged islands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...engine.jit import njit

__all__ = []

MOST_STATES = 6  # of a latent, in addition to the bound of `most_states`
SMOOTHING = 0.01  # documents added to each cell of a table: no probability is 0
_EM_STEPS = 500
_EM_TOL = 0.001  # gain of a step in the log-likelihood of all documents
_DOCUMENTS_PER_BLOCK = 1 << 14


class Sample(NamedTuple):
    """Documents reduced to a few variables: the distinct rows, and how many documents have each."""

    row: np.ndarray  # of each document
    rows: np.ndarray  # distinct rows x variables
    weights: np.ndarray
    n_values: np.ndarray

    def add(self, column: np.ndarray, n_values: int) -> Sample:
        """The sample with one more variable."""
        cell = self.row * n_values + column
        counts = np.bincount(cell, minlength=len(self.rows) * n_values)
        cells = np.flatnonzero(counts)
        number = np.zeros(len(counts), np.int64)
        number[cells] = np.arange(len(cells))
        rows = np.column_stack([self.rows[cells // n_values], (cells % n_values).astype(np.uint8)])
        return Sample(number[cell], rows, counts[cells].astype(np.float64), np.append(self.n_values, n_values))


class Model(NamedTuple):
    """Y over its children; Z, a child of Y, over those that `second` marks.

    tables[i, s, x] = P(X_i=x | s), s a state of the latent above X_i: variables x MOST_STATES x values, some unused.
    """

    second: np.ndarray
    prior: np.ndarray  # P(Y)
    bridge: np.ndarray  # P(Z|Y)
    tables: np.ndarray
    log_likelihood: float = -np.inf


@njit
def em_steps(rows, weights, n_values, second, prior, bridge, tables, touched, n_steps, tol):
    """At most n_steps of EM in place, on the tables that are touched; the log-likelihood they end with.

    P(row) = sum_y P(y) prod_(i below Y) P(x_i|y) sum_z P(z|y) prod_(i below Z) P(x_i|z)
    touched: the tables of the variables, then P(Y), then P(Z|Y). Ends when a step gains less than tol.
    """
    n_rows, k = rows.shape
    n_y, n_z = bridge.shape
    fixed_y, fixed_z = np.ones((n_rows, n_y)), np.ones((n_rows, n_z))
    for i in range(k):
        if not touched[i]:
            for r in range(n_rows):
                if second[i]:
                    for z in range(n_z):
                        fixed_z[r, z] *= tables[i, z, rows[r, i]]
                else:
                    for y in range(n_y):
                        fixed_y[r, y] *= tables[i, y, rows[r, i]]
    moving = np.flatnonzero(touched[:k])
    given_y, given_z = np.empty(n_y), np.empty(n_z)
    in_y, in_z = np.empty(n_y), np.empty(n_z)
    both, counts = np.empty((n_y, n_z)), np.empty(tables.shape)
    last = -np.inf
    value = -np.inf
    for step in range(n_steps + 1):
        value = 0.0
        both[:] = SMOOTHING
        counts[:] = SMOOTHING
        for r in range(n_rows):
            given_y[:] = fixed_y[r]
            given_z[:] = fixed_z[r]
            for m in moving:
                if second[m]:
                    for z in range(n_z):
                        given_z[z] *= tables[m, z, rows[r, m]]
                else:
                    for y in range(n_y):
                        given_y[y] *= tables[m, y, rows[r, m]]
            total = 1e-300  # a nearly impossible row must not divide by 0
            for y in range(n_y):
                below = 0.0
                for z in range(n_z):
                    below += bridge[y, z] * given_z[z]
                given_y[y] *= prior[y]
                in_y[y] = given_y[y] * below
                total += in_y[y]
            value += weights[r] * np.log(total)
            scale = weights[r] / total
            in_z[:] = 0.0
            for y in range(n_y):
                in_y[y] *= scale
                for z in range(n_z):
                    part = scale * given_y[y] * bridge[y, z] * given_z[z]
                    both[y, z] += part
                    in_z[z] += part
            for m in moving:
                if second[m]:
                    for z in range(n_z):
                        counts[m, z, rows[r, m]] += in_z[z]
                else:
                    for y in range(n_y):
                        counts[m, y, rows[r, m]] += in_y[y]
        if step == n_steps or value - last < tol:
            break
        last = value
        if touched[k]:
            for y in range(n_y):
                prior[y] = both[y].sum() / both.sum()
        if touched[k + 1]:
            for y in range(n_y):
                bridge[y] = both[y] / both[y].sum()
        for m in moving:
            for s in range(n_z if second[m] else n_y):
                total = 0.0
                for x in range(n_values[m]):
                    total += counts[m, s, x]
                for x in range(n_values[m]):
                    tables[m, s, x] = counts[m, s, x] / total
    return value


def n_parameters(model: Model, n_values: np.ndarray) -> int:
    """Free probabilities: of P(Y), of P(Z|Y) and of each variable's table."""
    n_y, n_z = model.bridge.shape
    states = np.where(model.second, n_z, n_y)
    return int(n_y - 1 + n_y * (n_z - 1) + states @ (n_values - 1))


def bic(model: Model, sample: Sample) -> float:
    """Log-likelihood - parameters / 2 ln N."""
    return model.log_likelihood - n_parameters(model, sample.n_values) / 2 * np.log(len(sample.row))


def most_states(neighbours: np.ndarray) -> int:
    """The largest cardinality of a regular latent, prod|neighbour| / max|neighbour|, from 2 to MOST_STATES."""
    return int(np.clip(np.prod(neighbours.astype(np.float64)) / neighbours.max(), 2, MOST_STATES))


def _normalised(weights: np.ndarray) -> np.ndarray:
    return weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300)


def fit(sample: Sample, starts: list[Model], touched: np.ndarray | None = None) -> Model:
    """EM from several starts, the better half kept after 1, 2, 4 ... steps; of all tables or the `touched` ones."""
    if touched is None:
        touched = np.ones(len(sample.n_values) + 2, np.bool_)
    # the kernel works in place
    models = [m._replace(prior=m.prior.copy(), bridge=m.bridge.copy(), tables=m.tables.copy()) for m in starts]
    steps = 1
    while len(models) > 1:
        values = [em_steps(*sample[1:], *m[:4], touched, steps, 0.0) for m in models]
        models = [models[i] for i in np.argsort(values, kind="stable")[::-1][: len(models) // 2]]
        steps *= 2
    value = em_steps(*sample[1:], *models[0][:4], touched, _EM_STEPS, _EM_TOL)
    return models[0]._replace(log_likelihood=value)
