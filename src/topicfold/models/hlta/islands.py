"""Islands by progressive EM (Chen et al. 2016): groups of binary variables that one binary latent explains.

An island grows by the variable closest to it until two latents explain its variables clearly better than one. Each
step estimates a few numbers on a table of three or four variables, which is counted by bit operations on columns with
64 documents per machine word, so no EM step goes over documents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...engine.jit import njit, njit_inline

__all__ = ["Island", "binary_information", "packed_columns", "progressive_islands"]

_N_STARTS = 5  # of EM, if it has more than one optimum
_EM_STEPS = 50
_EM_TOL = 0.01  # nats of all documents
_LEAST = 1e-4  # probabilities stay this far from 0 and 1
_ROWS_PER_BLOCK = 512  # of the mutual information of all pairs


class Island(NamedTuple):
    """Variables (columns, in the order they joined) below one latent Y; prior is P(Y), tables[i][s, x] = P(X_i=x|Y=s).

    States ascend by the expected sum of the variables' values, so state 0 is the background.
    """

    variables: np.ndarray
    prior: np.ndarray
    tables: tuple[np.ndarray, ...]


def packed_columns(presence: sp.csr_array) -> np.ndarray:
    """Columns as bits, 64 documents per machine word."""
    n_documents, n_variables = presence.shape
    columns = sp.csc_array(presence)
    bits = np.zeros((n_variables, -(-n_documents // 64)), np.uint64)
    set_bits(columns.indptr.astype(np.int64), columns.indices.astype(np.int32), bits)
    return bits


def binary_information(presence: sp.csr_array) -> np.ndarray:
    """Mutual information of all pairs of columns in nats, in single precision; zero on the diagonal."""
    n_documents, n_variables = presence.shape
    ones = sp.csr_array((np.ones(presence.nnz, np.float32), presence.indices, presence.indptr), presence.shape)
    columns = sp.csr_array(ones.T)
    single = np.bincount(presence.indices, minlength=n_variables).astype(np.float64)
    result = np.empty((n_variables, n_variables), np.float32)
    for first in range(0, n_variables, _ROWS_PER_BLOCK):
        rows = slice(first, first + _ROWS_PER_BLOCK)
        both = (columns[rows] @ ones).toarray().astype(np.float64)
        result[rows] = information_of_counts(both, single[rows, None], single[None], n_documents)
    np.fill_diagonal(result, 0)
    return result


def information_of_counts(both: np.ndarray, one: np.ndarray, other: np.ndarray, n: float) -> np.ndarray:
    """Mutual information of binary variables from how often both are 1, and each of them is, in n documents."""
    information = np.zeros(np.broadcast_shapes(both.shape, one.shape, other.shape))
    cells = ((both, one, other), (one - both, one, n - other), (other - both, n - one, other))
    for joint, first, second in (*cells, (n - one - other + both, n - one, n - other)):
        expected = first * second
        with np.errstate(divide="ignore", invalid="ignore"):
            term = joint * np.log(joint * n / expected)
        information += np.where((joint > 0) & (expected > 0), term, 0)
    return np.maximum(information / n, 0)


@njit
def set_bits(indptr, indices, bits):
    """Bit d of row v is 1 if document d is in column v of a CSC matrix."""
    for v in range(len(indptr) - 1):
        for cell in range(indptr[v], indptr[v + 1]):
            d = indices[cell]
            bits[v, d >> 6] |= np.uint64(1) << np.uint64(d & 63)


@njit
def count_table(bits, variables, n_documents):
    """How many documents have each pattern of a few variables; bit i of a pattern's number is variable i."""
    k = len(variables)
    table = np.zeros(1 << k)
    table[0] = n_documents
    for block in range(bits.shape[1]):
        for pattern in range(1, 1 << k):
            word = ~np.uint64(0)
            for i in range(k):
                if pattern >> i & 1:
                    word &= bits[variables[i], block]
            word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
            word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
            word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
            table[pattern] += (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
    for i in range(k):  # from "at least these" to "exactly these"
        for pattern in range(1 << k):
            if not pattern >> i & 1:
                table[pattern] -= table[pattern | 1 << i]
    return table


@njit_inline
def inside(p):
    """A probability that is neither 0 nor 1."""
    return min(max(p, _LEAST), 1 - _LEAST)


@njit_inline
def chance(p, present):
    """P(X=x) of a variable with P(X=1) = p."""
    return p if present else 1 - p


@njit
def fit_two_classes(table, starts, best):
    """EM of a latent class model with two classes on the patterns of three variables; its log-likelihood.

    starts[:, 0] and best[0] are P(Y=1); starts[:, 1 + 2i + y] and best[1 + 2i + y] are P(X_i=1|Y=y).
    """
    n = table.sum()
    best_value = -np.inf
    on = np.empty((3, 2))
    for start in range(len(starts)):
        p = starts[start, 0]
        for i in range(3):
            on[i, 0], on[i, 1] = starts[start, 1 + 2 * i], starts[start, 2 + 2 * i]
        last = -np.inf
        for step in range(_EM_STEPS):
            # expected counts, and the log-likelihood
            value, mass = 0.0, 0.0
            ones = np.zeros((3, 2))
            for pattern in range(8):
                a, b = 1 - p, p
                for i in range(3):
                    a *= chance(on[i, 0], pattern >> i & 1)
                    b *= chance(on[i, 1], pattern >> i & 1)
                value += table[pattern] * np.log(a + b)
                share = table[pattern] * b / (a + b)
                mass += share
                for i in range(3):
                    if pattern >> i & 1:
                        ones[i, 1] += share
                        ones[i, 0] += table[pattern] - share
            if value > best_value:
                best_value = value
                best[0] = p
                for i in range(3):
                    best[1 + 2 * i], best[2 + 2 * i] = on[i, 0], on[i, 1]
            if value - last < _EM_TOL and step > 2:
                break
            # new parameters
            last = value
            p = inside(mass / n)
            for i in range(3):
                on[i, 1] = inside(ones[i, 1] / mass)
                on[i, 0] = inside(ones[i, 0] / (n - mass))
    return best_value


@njit
def fit_variable(table, p, on_a, on_b, on_x):
    """P(X|Y) by EM on the patterns of A, B and X, all else fixed. There is one maximum, so one start is enough."""
    n = table.sum()
    share_x = (table[4] + table[5] + table[6] + table[7]) / n
    on_x[0] = inside(0.5 * share_x)
    on_x[1] = inside(0.7 * share_x + 0.3)
    last = -np.inf
    for _ in range(_EM_STEPS):
        value, mass, one, zero = 0.0, 0.0, 0.0, 0.0
        for pattern in range(8):
            a = (1 - p) * chance(on_a[0], pattern & 1) * chance(on_b[0], pattern & 2)
            b = p * chance(on_a[1], pattern & 1) * chance(on_b[1], pattern & 2)
            a *= chance(on_x[0], pattern & 4)
            b *= chance(on_x[1], pattern & 4)
            value += table[pattern] * np.log(a + b)
            share = table[pattern] * b / (a + b)
            mass += share
            if pattern & 4:
                one += share
                zero += table[pattern] - share
        if value - last < _EM_TOL:
            break
        last = value
        on_x[1] = inside(one / mass)
        on_x[0] = inside(zero / (n - mass))


@njit
def fit_split(table, p, on_a, on_b, starts, best):
    """P(Z|Y), P(W|Z) and P(X|Z) by EM on the patterns of A, B, W and X, all else fixed; A and B are below Y.

    starts and best contain P(Z=1|Y=0), P(Z=1|Y=1), P(W=1|Z=0), P(W=1|Z=1), P(X=1|Z=0), P(X=1|Z=1).
    """
    n = table.sum()
    above = np.empty((4, 2))  # P(Y=y) P(A, B | y)
    for pattern in range(4):
        above[pattern, 0] = (1 - p) * chance(on_a[0], pattern & 1)
        above[pattern, 0] *= chance(on_b[0], pattern & 2)
        above[pattern, 1] = p * chance(on_a[1], pattern & 1)
        above[pattern, 1] *= chance(on_b[1], pattern & 2)
    best_value = -np.inf
    for start in range(len(starts)):
        z0, z1, w0, w1, x0, x1 = starts[start]
        last = -np.inf
        for step in range(_EM_STEPS):
            # expected counts, and the log-likelihood
            value = 0.0
            y_one, z_one_y0, z_one_y1 = 0.0, 0.0, 0.0
            w_z0, w_z1, x_z0, x_z1 = 0.0, 0.0, 0.0, 0.0
            for pattern in range(16):
                b0 = chance(w0, pattern & 4) * chance(x0, pattern & 8)
                b1 = chance(w1, pattern & 4) * chance(x1, pattern & 8)
                a0, a1 = above[pattern & 3, 0], above[pattern & 3, 1]
                p00, p01, p10, p11 = a0 * (1 - z0) * b0, a0 * z0 * b1, a1 * (1 - z1) * b0, a1 * z1 * b1
                total = p00 + p01 + p10 + p11
                value += table[pattern] * np.log(total)
                scale = table[pattern] / total
                y_one += (p10 + p11) * scale
                z_one_y0 += p01 * scale
                z_one_y1 += p11 * scale
                one = (p01 + p11) * scale
                if pattern & 4:
                    w_z1 += one
                    w_z0 += table[pattern] - one
                if pattern & 8:
                    x_z1 += one
                    x_z0 += table[pattern] - one
            if value > best_value:
                best_value = value
                best[0], best[1], best[2], best[3], best[4], best[5] = z0, z1, w0, w1, x0, x1
            if value - last < _EM_TOL and step > 2:
                break
            # new parameters
            last = value
            z_one = z_one_y0 + z_one_y1
            z0 = inside(z_one_y0 / (n - y_one))
            z1 = inside(z_one_y1 / y_one)
            w1 = inside(w_z1 / z_one)
            w0 = inside(w_z0 / (n - z_one))
            x1 = inside(x_z1 / z_one)
            x0 = inside(x_z0 / (n - z_one))
    return best_value


@njit
def add_evidence(column, on_x, odds):
    """odds[d] += log P(x_d | Y=1) / P(x_d | Y=0); the sum of log P(x_d | Y=0)."""
    yes, no = np.log(on_x[1] / on_x[0]), np.log((1 - on_x[1]) / (1 - on_x[0]))
    n_ones = np.int64(0)
    for d in range(len(odds)):
        one = column[d >> 6] >> np.uint64(d & 63) & np.uint64(1)
        n_ones += np.int64(one)
        odds[d] += yes if one else no
    return n_ones * np.log(on_x[0]) + (len(odds) - n_ones) * np.log(1 - on_x[0])


@njit
def split_gain(column_w, column_x, odds, p, on_w, on_x, split):
    """Log-likelihood of all documents with W and X below their own latent, minus that with both below Y.

    odds[d] = log P(S_d|Y=1) / P(S_d|Y=0) of the island S, which includes W; split is like `best` of fit_split.
    """
    ratio = np.empty((4, 2))  # P(w, x | Y=y) below Z over P(w | Y=y)
    plain = np.empty((2, 2))  # P(x | Y=y)
    for y in range(2):
        plain[0, y], plain[1, y] = 1 - on_x[y], on_x[y]
        for pattern in range(4):
            b0 = chance(split[2], pattern & 1) * chance(split[4], pattern & 2)
            b1 = chance(split[3], pattern & 1) * chance(split[5], pattern & 2)
            below = (1 - split[y]) * b0 + split[y] * b1
            ratio[pattern, y] = below / chance(on_w[y], pattern & 1)
    gain = 0.0
    for d in range(len(odds)):
        w = np.int64(column_w[d >> 6] >> np.uint64(d & 63) & np.uint64(1))
        x = np.int64(column_x[d >> 6] >> np.uint64(d & 63) & np.uint64(1))
        one = p / (p + (1 - p) * np.exp(-odds[d])) if odds[d] > -700 else 0.0  # P(Y=1|S_d)
        with_split = (1 - one) * ratio[w + 2 * x, 0] + one * ratio[w + 2 * x, 1]
        gain += np.log(with_split / ((1 - one) * plain[x, 0] + one * plain[x, 1]))
    return gain


class _Builder:
    """The variables that are not yet in an island, and the steps that grow one."""

    def __init__(self, presence: sp.csr_array, delta: float, island_size: int, rng: np.random.RandomState) -> None:
        self.n_documents, n_variables = presence.shape
        self.bits = packed_columns(presence)
        self.information = binary_information(presence)
        self.delta, self.island_size, self.rng = delta, island_size, rng
        self.free = np.ones(n_variables, bool)
        self.on = np.zeros((n_variables, 2))  # P(X=1|Y=y) of those in an island
        share = np.bincount(presence.indices, minlength=n_variables) / self.n_documents
        self.share = np.clip(share, _LEAST, 1 - _LEAST)
        self.partner = self.information.argmax(axis=1)

    def closest_pair(self) -> tuple[int, int]:
        """The two free variables with the most mutual information."""
        free = np.flatnonzero(self.free)
        for v in free[~self.free[self.partner[free]] | (self.partner[free] == free)]:
            others = np.where(self.free, self.information[v], -1)
            others[v] = -1
            self.partner[v] = others.argmax()
        a = int(free[self.information[free, self.partner[free]].argmax()])
        return a, int(self.partner[a])

    def starts(self, variables: list[int]) -> np.ndarray:
        """Random tables in which a variable is more likely in state 1: columns P(1|0) and P(1|1) of each."""
        draws = self.rng.random_sample((_N_STARTS, len(variables), 2))
        share = self.share[variables]
        low = share * (0.1 + 0.8 * draws[:, :, 0])
        high = share + (1 - share) * (0.1 + 0.6 * draws[:, :, 1])
        return np.clip(np.stack([low, high], axis=2), _LEAST, 1 - _LEAST).reshape(_N_STARTS, -1)

    def class_model(self, three: list[int]) -> float:
        """Fit P(Y=1), which is returned, and P(X|Y) of three variables."""
        starts = np.hstack([0.3 + 0.4 * self.rng.random_sample((_N_STARTS, 1)), self.starts(three)])
        best = np.empty(7)
        fit_two_classes(count_table(self.bits, np.array(three), self.n_documents), starts, best)
        self.on[three] = best[1:].reshape(3, 2)
        return float(best[0])

    def grow(self) -> list[Island]:
        """One more island, or two if its test uses all remaining variables."""
        a, b = self.closest_pair()
        self.free[[a, b]] = False
        nearest = np.where(self.information[b] > self.information[a], b, a)  # of the island, for each variable
        c = self._closest(nearest)
        members = [a, b, c]
        self.free[c] = False
        p = self.class_model(members)
        odds = np.zeros(self.n_documents)
        for v in members:
            add_evidence(self.bits[v], self.on[v], odds)
        self._nearer(nearest, c)
        while self.free.any() and not (len(members) >= self.island_size and self.free.sum() >= 3):
            x = self._closest(nearest)
            w = int(nearest[x])
            split = self._split(members, w, x, p, odds)
            if split is not None:
                return self._close(members, w, x, p, split)
            add_evidence(self.bits[x], self.on[x], odds)
            members.append(x)
            self.free[x] = False
            self._nearer(nearest, x)
        return [self._island(members, p)]

    def _closest(self, nearest: np.ndarray) -> int:
        free = np.flatnonzero(self.free)
        return int(free[self.information[nearest[free], free].argmax()])

    def _nearer(self, nearest: np.ndarray, new: int) -> None:
        better = self.information[new] > self.information[nearest, np.arange(len(nearest))]
        nearest[better] = new

    def _split(self, members: list[int], w: int, x: int, p: float, odds: np.ndarray) -> np.ndarray | None:
        """Fit P(X|Y) and return None; or, if W and X fit better below their own latent, return its tables."""
        first, second = [v for v in members[:3] if v != w][:2]
        on = self.on
        fit_variable(
            count_table(self.bits, np.array([first, second, x]), self.n_documents), p, on[first], on[second], on[x]
        )
        bridge = self.rng.random_sample((_N_STARTS, 2)) * [0.3, 0.35] + [0.05, 0.6]
        split = np.empty(6)
        table = count_table(self.bits, np.array([first, second, w, x]), self.n_documents)
        fit_split(table, p, on[first], on[second], np.hstack([bridge, self.starts([w, x])]), split)
        gain = split_gain(self.bits[w], self.bits[x], odds, p, on[w], on[x], split)
        return split if gain - np.log(self.n_documents) > self.delta else None  # BIC with two more parameters

    def _close(self, members: list[int], w: int, x: int, p: float, split: np.ndarray) -> list[Island]:
        """The island without W. W and X go back, or form an island themselves if nothing else is left."""
        islands = [self._island([v for v in members if v != w], p)]
        if self.free.sum() > 1:
            self.free[w] = True
            return islands
        self.free[x] = False
        self.on[w], self.on[x] = split[2:4], split[4:6]
        return [*islands, self._island([w, x], (1 - p) * split[0] + p * split[1])]

    def _island(self, members: list[int], p: float) -> Island:
        """State 1 is the one in which its variables are more likely: otherwise upper levels would become dense."""
        on = self.on[members]
        if (on[:, 1] - on[:, 0]).sum() < 0:
            on, p = on[:, ::-1], 1 - p
        tables = tuple(np.array([[1 - off, off], [1 - one, one]]) for off, one in on)
        return Island(np.array(members), np.array([1 - p, p]), tables)


def progressive_islands(
    presence: sp.csr_array,
    *,
    delta: float,
    island_size: int,
    random_state: np.random.RandomState,
    report: Callable[[int, int], None] | None = None,
) -> list[Island]:
    """Group the columns of a matrix of zeros and ones into islands.

    `delta` is how much better two latents must be than one, in BIC, for an island to be closed; `island_size` is its
    maximum number of variables, as long as three others are left. `report(variables placed, islands)` is called after
    each island.
    """
    n_variables = presence.shape[1]
    builder = _Builder(presence, delta, island_size, random_state)
    islands: list[Island] = []
    while builder.free.sum() >= 3:
        islands += builder.grow()
        if report is not None:
            report(n_variables - int(builder.free.sum()), len(islands))
    left = np.flatnonzero(builder.free)
    if len(left) == 0:
        return islands
    if not islands:
        return [_tiny_island(presence, left)]
    return _with_leftovers(builder, islands, left)


def _tiny_island(presence: sp.csr_array, variables: np.ndarray) -> Island:
    """An island of one or two variables: the latent is the first of them with a little noise."""
    share = np.clip(presence[:, [int(variables[0])]].sum() / presence.shape[0], _LEAST, 1 - _LEAST)
    dense = presence[:, variables].toarray() > 0
    tables = []
    for column in range(len(variables)):
        one = [
            (dense[dense[:, 0] == state, column].sum() + 0.5) / ((dense[:, 0] == state).sum() + 1) for state in (0, 1)
        ]
        tables.append(np.array([[1 - one[0], one[0]], [1 - one[1], one[1]]]))
    return Island(variables, np.array([1 - share, share]), tuple(tables))


def _with_leftovers(builder: _Builder, islands: list[Island], left: np.ndarray) -> list[Island]:
    """One or two variables are too few for an island: each joins the island it shares most information with."""
    home = np.concatenate([np.full(len(island.variables), i) for i, island in enumerate(islands)])
    placed = np.concatenate([island.variables for island in islands])
    for x in left:
        i = int(home[builder.information[x, placed].argmax()])
        island = islands[i]
        first, second = island.variables[:2]
        on = [table[:, 1].copy() for table in island.tables[:2]]
        on_x = np.empty(2)
        table = count_table(builder.bits, np.array([first, second, x]), builder.n_documents)
        fit_variable(table, island.prior[1], on[0], on[1], on_x)
        new = np.array([[1 - on_x[0], on_x[0]], [1 - on_x[1], on_x[1]]])
        islands[i] = Island(np.append(island.variables, x), island.prior, (*island.tables, new))
    return islands
