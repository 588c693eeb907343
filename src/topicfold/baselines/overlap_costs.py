"""Costs of overlapping clusters and how to lower them, for MOC and MOCC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import csr_parts
from ..engine.jit import njit, njit_fast

__all__ = ["LOSSES"]

LOSSES = ("poisson", "gaussian")
# The minimum of a word in a Poisson prototype, as a share of its mean in the corpus. With zero, no document with the
# word could ever join: each would stay where it started.
_FLOOR = 0.01
_STEPS = 20  # EM steps on Poisson prototypes before memberships are updated again
_TOL = 1e-10  # a cost that falls by a smaller share may be rounding


@njit
def cell_means(indptr, indices, prototypes, memberships):
    """m_dw = sum_k z_dk a_kw at the non-zero cells."""
    means = np.zeros(len(indices))
    for row in range(len(memberships)):
        for cluster in range(memberships.shape[1]):
            if memberships[row, cluster]:
                for at in range(indptr[row], indptr[row + 1]):
                    means[at] += prototypes[indices[at], cluster]
    return means


@njit_fast
def poisson_flips(rows, indptr, indices, data, prototypes, mass, memberships):
    """For each of `rows`: c_d = sum_w m_dw - x_dw log m_dw, the best cluster to join or leave, and c_d after that.

    By Jensen's inequality sum_w x_dw log(1 + a_kw / m_dw) <= N log(1 + sum_w x_dw a_kw / (N m_dw)), N = sum_w x_dw,
    and likewise with minus signs. Clusters are tried in the order of that bound until no other can be better: this
    saves most logarithms. A row never leaves its last cluster. No row may be empty.
    """
    n_clusters = prototypes.shape[1]
    costs, lowest, best = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows), np.int64)
    for i in range(len(rows)):
        member = memberships[rows[i]]
        inside = np.flatnonzero(member)
        first, end = indptr[rows[i]], indptr[rows[i] + 1]
        means = np.zeros(end - first)
        bound = np.zeros(n_clusters)
        total = 0.0
        for at in range(first, end):
            word = prototypes[indices[at]]
            mean = 0.0
            for other in inside:
                mean += word[other]
            means[at - first] = mean
            total += data[at]
            costs[i] -= data[at] * np.log(mean)
            weight = data[at] / mean
            for cluster in range(n_clusters):
                bound[cluster] += weight * word[cluster]
        for cluster in range(n_clusters):
            if not member[cluster]:
                bound[cluster] = total * np.log(1 + bound[cluster] / total) - mass[cluster]
        for other in inside:
            costs[i] += mass[other]
            rest = 1 - bound[other] / total
            bound[other] = total * np.log(rest) + mass[other] if len(inside) > 1 and rest > 0 else -np.inf
        gain = 0.0
        for _ in range(n_clusters):
            chosen = bound.argmax()
            if bound[chosen] <= gain:
                break
            bound[chosen] = -np.inf
            leaves = member[chosen]
            change = mass[chosen] if leaves else -mass[chosen]
            for at in range(first, end):
                after = 0.0 if leaves else means[at - first] + prototypes[indices[at], chosen]
                if leaves:  # summed again: a difference would lose small values
                    for other in inside:
                        if other != chosen:
                            after += prototypes[indices[at], other]
                change += data[at] * np.log(after / means[at - first])
            if change > gain:
                gain, best[i] = change, chosen
        lowest[i] = costs[i] - gain
    return costs, best, lowest


class Costs(Protocol):
    """The cost of each row given its clusters and the prototypes, without terms that do not depend on memberships."""

    def singles(self) -> np.ndarray:
        """Rows x clusters: the cost in that cluster alone."""

    def flips(self, rows: np.ndarray, memberships: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The current cost of `rows`, the cluster to join or leave that lowers it most, and the cost after that."""

    def divergences(self, memberships: np.ndarray) -> np.ndarray:
        """The whole divergence of each row."""


class PoissonCosts:
    """The I-divergence x log(x / m) - x + m, a Poisson likelihood. For zero cells it is the sum of m alone."""

    def __init__(self, counts: sp.csr_array, prototypes: np.ndarray) -> None:
        self.counts = counts
        self.parts = csr_parts(counts)
        self.prototypes = np.ascontiguousarray(prototypes)
        self.mass = self.prototypes.sum(axis=0)

    def singles(self) -> np.ndarray:
        """Rows x clusters: the cost in that cluster alone."""
        return self.mass - self.counts @ np.log(np.where(self.prototypes > 0, self.prototypes, 1))

    def flips(self, rows: np.ndarray, memberships: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The current cost of `rows`, the cluster to join or leave that lowers it most, and the cost after that."""
        return poisson_flips(rows, *self.parts, self.prototypes, self.mass, memberships)

    def divergences(self, memberships: np.ndarray) -> np.ndarray:
        """The whole divergence of each row."""
        indptr, indices, data = self.parts
        means = cell_means(indptr, indices, self.prototypes, memberships)
        cells = sp.csr_array((data * np.log(data / means) - data, indices, indptr), self.counts.shape)
        return cells.sum(axis=1) + memberships @ self.mass


class GaussianCosts:
    """The squared error (x - m)^2, a Gaussian likelihood: |x|^2 - 2 z A x + z A A' z."""

    def __init__(self, counts: sp.csr_array, prototypes: np.ndarray) -> None:
        self.squares = (counts * counts).sum(axis=1)
        self.target = counts @ prototypes
        self.gram = prototypes.T @ prototypes

    def singles(self) -> np.ndarray:
        """Rows x clusters: the cost in that cluster alone."""
        return self.gram.diagonal() - 2 * self.target

    def flips(self, rows: np.ndarray, memberships: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The current cost of `rows`, the cluster to join or leave that lowers it most, and the cost after that."""
        member = memberships[rows].astype(np.float64)
        overlap = member @ self.gram
        costs = (member * (overlap - 2 * self.target[rows])).sum(axis=1)
        change = (1 - 2 * member) * 2 * (overlap - self.target[rows]) + self.gram.diagonal()
        change[(member == 1) & (member.sum(axis=1, keepdims=True) == 1)] = np.inf
        return costs, change.argmin(axis=1), costs + change.min(axis=1)

    def divergences(self, memberships: np.ndarray) -> np.ndarray:
        """The whole divergence of each row."""
        return self.squares + self.flips(np.arange(len(memberships)), memberships)[0]


def make_costs(loss: str, counts: sp.csr_array, prototypes: np.ndarray) -> Costs:
    """The costs of a loss."""
    return PoissonCosts(counts, prototypes) if loss == "poisson" else GaussianCosts(counts, prototypes)


def descend(costs: Costs, memberships: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row joins or leaves the cluster that lowers its cost most, until none does; returns (memberships, costs).

    No row leaves its last cluster.
    """
    memberships = memberships.copy()
    result = np.zeros(len(memberships))
    rows = np.arange(len(memberships))
    while len(rows):
        now, best, then = costs.flips(rows, memberships)
        lower = then < now - _TOL * np.maximum(1, np.abs(now))
        result[rows] = now
        rows, best = rows[lower], best[lower]
        memberships[rows, best] ^= True
    return memberships, result


def update_memberships(costs: Costs, memberships: np.ndarray) -> np.ndarray:
    """For each row, the better of two descents: from its current clusters, and from its best single cluster."""
    kept, cost = descend(costs, memberships)
    fresh, fresh_cost = descend(costs, one_each(costs.singles().argmin(axis=1), memberships.shape[1]))
    better = fresh_cost < cost - _TOL * np.maximum(1, np.abs(cost))
    return np.where(better[:, None], fresh, kept)


def one_each(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Memberships of rows that are in one cluster each."""
    return np.equal.outer(labels, np.arange(n_clusters))


def per_member(sums: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Sums divided by numbers of members; zero if there are none."""
    return sums / np.where(members > 0, members, 1)


def floor(loss: str, mean: Any) -> Any:
    """The minimum of a prototype for something with this mean over the corpus."""
    return _FLOOR * mean if loss == "poisson" else -np.inf


def inverse(gram: np.ndarray) -> np.ndarray:
    """The pseudo-inverse, as there is no inverse if two clusters have the same members."""
    return np.linalg.pinv(gram, rcond=1e-10, hermitian=True)


def worst_rows(costs: Costs, memberships: np.ndarray, n: int) -> np.ndarray:
    """The n rows that fit worst."""
    return np.argsort(-costs.divergences(memberships), kind="stable")[:n]


def finished(history: list[float], max_iter: int, tol: float) -> bool:
    """Whether there were enough iterations, or the last one lowered the divergence by at most a share `tol`."""
    if len(history) < 2:
        return len(history) == max_iter
    return len(history) == max_iter or history[-2] - history[-1] <= tol * history[-1]


def em_steps(
    step: Callable[[np.ndarray], np.ndarray], divergence: Callable[[np.ndarray], float], values: np.ndarray, tol: float
) -> tuple[np.ndarray, float]:
    """Repeat an EM step until the divergence falls by less than a share `tol`; returns (values, divergence)."""
    before = divergence(values)
    for _ in range(_STEPS):
        values = step(values)
        after = divergence(values)
        if before - after <= tol * after:
            return values, after
        before = after
    return values, before


def ratios(counts: sp.csr_array, prototypes: np.ndarray, memberships: np.ndarray) -> sp.csr_array:
    """x_dw / m_dw at the non-zero cells."""
    indptr, indices, data = csr_parts(counts)
    means = cell_means(indptr, indices, np.ascontiguousarray(prototypes), memberships)
    return sp.csr_array((data / means, indices, indptr), counts.shape)


def fit_prototypes(
    loss: str, counts: sp.csr_array, memberships: np.ndarray, prototypes: np.ndarray, tol: float
) -> tuple[np.ndarray, float]:
    """MOC's A given Z, as words x clusters, and the divergence; a cluster with no member keeps what it has.

    Gaussian: least squares. Poisson: the EM step a_kw <- a_kw sum_d z_dk (x_dw / m_dw) / sum_d z_dk, but not below
    the floor.
    """
    in_cluster = memberships.astype(np.float64)
    members = in_cluster.sum(axis=0)

    def divergence(values: np.ndarray) -> float:
        return float(make_costs(loss, counts, values).divergences(memberships).sum())

    if loss == "gaussian":
        fitted = (counts.T @ in_cluster) @ inverse(in_cluster.T @ in_cluster)
        fitted = np.where(members > 0, fitted, prototypes)
        return fitted, divergence(fitted)
    least = floor(loss, counts.mean(axis=0)[:, None])

    def step(values: np.ndarray) -> np.ndarray:
        sums = values * (ratios(counts, values, memberships).T @ in_cluster)
        return np.where(members > 0, np.maximum(per_member(sums, members), least), values)

    return em_steps(step, divergence, prototypes, tol)


def fit_blocks(
    loss: str, counts: sp.csr_array, rows: np.ndarray, columns: np.ndarray, blocks: np.ndarray, tol: float
) -> tuple[np.ndarray, float]:
    """MOCC's A given Z and W, row clusters x column clusters, and the divergence; as `fit_prototypes`."""
    in_row, in_column = rows.astype(np.float64), columns.astype(np.float64)
    members = np.outer(in_row.sum(axis=0), in_column.sum(axis=0))

    def divergence(values: np.ndarray) -> float:
        return float(make_costs(loss, counts, in_column @ values.T).divergences(rows).sum())

    if loss == "gaussian":
        sums = (counts.T @ in_row).T @ in_column
        fitted = inverse(in_row.T @ in_row) @ sums @ inverse(in_column.T @ in_column)
        fitted = np.where(members > 0, fitted, blocks)
        return fitted, divergence(fitted)
    least = floor(loss, counts.mean())

    def step(values: np.ndarray) -> np.ndarray:
        shares = (ratios(counts, in_column @ values.T, rows).T @ in_row).T @ in_column
        return np.where(members > 0, np.maximum(per_member(values * shares, members), least), values)

    return em_steps(step, divergence, blocks, tol)
