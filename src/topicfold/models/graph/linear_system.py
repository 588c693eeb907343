"""The linear system of LTM's M-step: (Omega + weight * L) y = target for all topics at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...engine.blocks import map_blocks
from ...engine.distributed.cluster import current_cluster, in_memory, static
from ...engine.jit import njit_fast
from ...errors import InputError
from ...graph.build import laplacian
from ..em.plsa_kernels import guarded
from .graph_data import MANY_DOCUMENTS

__all__ = []

_COLUMNS_PER_SOLVE = 32
_DIRECT_DOCUMENTS = MANY_DOCUMENTS  # above, the factors of a nearest-neighbour graph need more memory than the fit
# With more documents the columns do not fit in the cache in any case: they are kept in float32, and iterations stop
# once the solution follows the changes of EM to this accuracy.
_SHARE_LEFT, _SHARE_MOVED = 0.03, 0.1  # of the residual; of the changes in the first sweep, after which less is left
_MOST_SWEPT = 0.8  # share of the graph in the diagonal: below it few sweeps are needed, which read less memory
_DIRECT_WEIGHT = 100.0  # below it, conjugate gradients need few steps and are faster at any size
_DENSE, _MOST_DENSE = 0.9, 4000  # share of a triangle, columns
_CG_TOL = 1e-6
_CG_ITER = 1000


@njit_fast
def solve_lower(indptr, indices, lower, solution):
    """solution = L^-1 solution for the leading columns of L, which has ones on its diagonal, column by column."""
    width = solution.shape[1]
    for j in range(len(indptr) - 1):
        for e in range(indptr[j] + 1, indptr[j + 1]):
            i, value = indices[e], lower[e]
            for k in range(width):
                solution[i, k] -= value * solution[j, k]


@njit_fast
def solve_upper(indptr, indices, lower, pivots, solution):
    """solution = (D L')^-1 solution for the leading columns of L, from the last of them to the first."""
    width = solution.shape[1]
    for j in range(len(indptr) - 2, -1, -1):
        for k in range(width):
            solution[j, k] /= pivots[j]
        for e in range(indptr[j] + 1, indptr[j + 1]):
            i, value = indices[e], lower[e]
            for k in range(width):
                solution[j, k] -= value * solution[i, k]


@njit_fast
def conjugate_gradients(indptr, indices, weights, diagonal, target, solution, tol, share, max_iter):
    """Solve (diag(diagonal) - W) solution = target for all columns at once, from the solution given; steps taken.

    Preconditioned by the diagonal A; a column is done once r' A^-1 r <= tol^2 b' A^-1 b, with residual r and target b,
    so that short documents count as much as long ones, or r' A^-1 r <= share^2 times what it was at the beginning.
    """
    n, width = solution.shape
    residual = np.empty((n, width), solution.dtype)
    direction = np.empty((n, width), solution.dtype)
    image = np.empty((n, width), solution.dtype)
    goal = np.zeros(width)
    rho = np.zeros(width)
    # the residual at the beginning, and the goal of each column
    for i in range(n):
        for k in range(width):
            residual[i, k] = target[i, k] - diagonal[i] * solution[i, k]
        for e in range(indptr[i], indptr[i + 1]):
            j, weight = indices[e], weights[e]
            for k in range(width):
                residual[i, k] += weight * solution[j, k]
        for k in range(width):
            goal[k] += target[i, k] * target[i, k] / diagonal[i]
            direction[i, k] = residual[i, k] / diagonal[i]
            rho[k] += residual[i, k] * direction[i, k]
    for k in range(width):
        goal[k] = max(tol * tol * goal[k], share * share * rho[k])
    step = np.zeros(width)
    for iteration in range(max_iter):
        resting = True
        for k in range(width):
            if rho[k] > goal[k]:
                resting = False
        if resting:
            return iteration
        # the length of the step
        step[:] = 0.0
        for i in range(n):
            for k in range(width):
                image[i, k] = diagonal[i] * direction[i, k]
            for e in range(indptr[i], indptr[i + 1]):
                j, weight = indices[e], weights[e]
                for k in range(width):
                    image[i, k] -= weight * direction[j, k]
            for k in range(width):
                step[k] += direction[i, k] * image[i, k]
        for k in range(width):
            step[k] = rho[k] / step[k] if step[k] > 0 and rho[k] > goal[k] else 0.0
        # the step
        before = rho.copy()
        rho[:] = 0.0
        for i in range(n):
            for k in range(width):
                solution[i, k] += step[k] * direction[i, k]
                residual[i, k] -= step[k] * image[i, k]
                rho[k] += residual[i, k] * residual[i, k] / diagonal[i]
        # the next direction
        for k in range(width):
            before[k] = rho[k] / before[k] if before[k] > 0 else 0.0
        for i in range(n):
            for k in range(width):
                direction[i, k] = residual[i, k] / diagonal[i] + before[k] * direction[i, k]
    return max_iter


@njit_fast
def gauss_seidel(indptr, indices, weights, diagonal, target, solution, tol, share, max_iter):
    """Solve (diag(diagonal) - W) solution = target for all columns at once, from the solution given; sweeps taken.

    A sweep sets each row in turn to y_i = (target_i + sum_j W_ij y_j) / diagonal_i. Sweeps stop when the change of
    every column, m = sum_i diagonal_i (change of y_i)^2, is at most tol^2 sum_i diagonal_i y_i^2, or share^2 times its
    change in the first sweep.
    """
    n, width = solution.shape
    row = guarded(width, solution.dtype)
    goal, moved, size = np.zeros(width), np.zeros(width), np.zeros(width)
    for sweep in range(max_iter):
        moved[:] = 0.0
        size[:] = 0.0
        for i in range(n):
            for k in range(width):
                row[k] = target[i, k]
            for e in range(indptr[i], indptr[i + 1]):
                j, weight = indices[e], weights[e]
                for k in range(width):
                    row[k] += weight * solution[j, k]
            scale = 1 / diagonal[i]
            for k in range(width):
                value = row[k] * scale
                change = value - solution[i, k]
                solution[i, k] = value
                moved[k] += diagonal[i] * change * change
                size[k] += diagonal[i] * value * value
        resting = True
        for k in range(width):
            if sweep == 0:
                goal[k] = share * share * moved[k]
            if moved[k] > max(goal[k], tol * tol * size[k]):
                resting = False
        if resting:
            return sweep + 1
    return max_iter


class GraphSystem:
    """(Omega + weight * L) y = target, prepared to be solved repeatedly for all topics; BLAS should use one thread.

    `solve(target, guess)` returns y. Iterations start from the guess, as y changes little from one EM step to the next;
    with many documents they stop when they are accurate enough. Documents in components of the graph without any token
    would make the system singular: they get the target itself.
    """

    def __init__(
        self,
        lengths: np.ndarray,
        graph: sp.csr_array,
        weight: float,
        silent: np.ndarray,
        solver: str,
        n_jobs: Any,
        dtype: Any = np.float64,
    ) -> None:
        pays = weight >= _DIRECT_WEIGHT and len(lengths) <= _DIRECT_DOCUMENTS
        self.direct = solver == "direct" or (solver == "auto" and pays)
        self.n_jobs, self.dtype = n_jobs, dtype
        self._static_input: _Factors | _Iterations | None = None
        self.precision = np.dtype(np.float64)
        self.parts: tuple[np.ndarray, ...]
        omega = np.where(silent, 1.0, lengths)
        if self.direct:
            self._factorise(sp.csc_array(sp.diags_array(omega) + weight * laplacian(graph)))
        else:
            many = len(lengths) > MANY_DOCUMENTS
            self.share = _SHARE_LEFT if many else 0.0
            if many:
                self.precision = np.dtype(dtype)
            weights = (weight * graph.data).astype(self.precision)
            self.parts = (graph.indptr.astype(np.int64), graph.indices.astype(np.int32), weights)
            pull = weight * graph.sum(axis=1)
            self.diagonal = (omega + pull).astype(self.precision)
            weak = many and solver == "auto" and pull.sum() <= _MOST_SWEPT * (omega + pull).sum()
            self.sweeps = bool(weak)
            if weak:
                self.share = _SHARE_MOVED

    def solve(self, target: Callable[[slice], np.ndarray], guess: np.ndarray) -> np.ndarray:
        """y of every topic, one column each; columns are solved in groups of fixed size, one group per thread.

        `target` is a function that returns some columns: all at once would be a copy of the whole table.
        """
        solution = np.empty(guess.shape, self.precision)
        n_columns = guess.shape[1]
        groups = [
            slice(first, min(first + _COLUMNS_PER_SOLVE, n_columns))
            for first in range(0, n_columns, _COLUMNS_PER_SOLVE)
        ]

        def task(columns: slice) -> tuple[np.ndarray, ...]:
            if self.direct:
                return (np.ascontiguousarray(target(columns)[self.order], dtype=np.float64),)
            start = np.array(guess[:, columns], self.precision, order="C")
            return np.ascontiguousarray(target(columns), self.precision), start

        run: Callable[..., np.ndarray] = _solved_directly if self.direct else _iterated
        cluster = current_cluster()
        if cluster is not None and len(groups) > 1:
            for columns, part in zip(groups, cluster.map(run, (self._input(),), map(task, groups))):
                self._put(solution, columns, part)
            return solution
        inputs = in_memory(self._input())

        def group(columns: slice) -> None:
            self._put(solution, columns, run(inputs, task(columns)))

        map_blocks(group, groups, self.n_jobs)
        return solution

    def _put(self, solution: np.ndarray, columns: slice, part: np.ndarray) -> None:
        if self.direct:
            solution[self.order, columns] = part
        else:
            solution[:, columns] = part

    def _input(self) -> _Factors | _Iterations:
        """What each group of columns is solved with."""
        if self._static_input is None:
            if self.direct:
                self._static_input = static(_Factors(self.parts, self.pivots, self.tail_inverse))
            else:
                self._static_input = static(_Iterations(self.parts, self.diagonal, self.share, self.sweeps))
        return self._static_input

    def _factorise(self, matrix: sp.csc_array) -> None:
        from scipy.sparse.linalg import splu

        # SuperLU's default order (COLAMD) gives four times the fill. Without pivoting the factors of a symmetric
        # matrix are L and D L', and one of them is enough.
        options = {"SymmetricMode": True}
        try:
            factors = splu(sp.csc_matrix(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError:  # with such weights the lengths of documents are lost in rounding
            largest = float(abs(matrix.data).max())
            raise InputError(
                f"graph times graph_weight has a value of {largest:g}, too large to solve: scale it"
            ) from None
        lower, pivots = sp.csc_array(factors.L), factors.U.diagonal()
        lower.sort_indices()
        self.order = np.argsort(factors.perm_r)
        # The last columns are nearly dense and contain nearly all of the factor: their part is solved by its inverse.
        first = len(pivots) - _dense_tail(np.diff(lower.indptr))
        last = lower[first:, first:].toarray()
        # All entries and what they are multiplied by are non-negative: single precision costs only the last digits.
        self.tail_inverse = np.linalg.inv((last * pivots[first:]) @ last.T).astype(self.dtype)
        leading = lower[:, :first]
        self.parts = (leading.indptr.astype(np.int64), leading.indices.astype(np.int32), leading.data)
        self.pivots = pivots[:first]


class _Factors(NamedTuple):
    parts: tuple[np.ndarray, ...]  # indptr, indices and data of the leading columns of L
    pivots: np.ndarray  # of these columns
    tail_inverse: np.ndarray  # of the matrix that is left for the last columns


class _Iterations(NamedTuple):
    parts: tuple[np.ndarray, ...]  # indptr, indices and data of the weighted graph
    diagonal: np.ndarray
    share: float  # of the residual or of the first changes, at which iterations stop
    sweeps: bool


def _solved_directly(factors: _Factors, task: tuple[np.ndarray]) -> np.ndarray:
    """The columns of a solution by the factors, in the order of the factors."""
    (part,) = task
    solve_lower(*factors.parts, part)
    tail = part[len(factors.pivots) :]
    tail[:] = factors.tail_inverse @ tail.astype(factors.tail_inverse.dtype, copy=False)
    solve_upper(*factors.parts, factors.pivots, part)
    return part


def _iterated(inputs: _Iterations, task: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The columns of a solution by iterations from a guess."""
    goal, part = task
    iterations = gauss_seidel if inputs.sweeps else conjugate_gradients
    iterations(*inputs.parts, inputs.diagonal, goal, part, _CG_TOL, inputs.share, _CG_ITER)
    return part


def _dense_tail(column_counts: np.ndarray) -> int:
    """How many of the last columns of a lower triangle are nearly full."""
    size = np.arange(1, len(column_counts) + 1)
    density = np.cumsum(column_counts[::-1]) / (size * (size + 1) / 2)
    full = np.flatnonzero(density >= _DENSE)
    return min(int(full[-1]) + 1, _MOST_DENSE) if len(full) else 0
