"""Clusters that overlap: MOC of documents (Banerjee et al. 2005), MOCC of documents and words (Shafiei, Milios 2006).

The expected counts of a document are the sum of the prototypes of all its clusters: X ~ Z A with Z of zeros and ones,
and X ~ Z A W' if words are in clusters too. The distance of X from that is a Bregman divergence. Here prototypes are
stored as words x clusters: a document reads the row of each of its words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.utils import check_random_state

from ..corpus.weighting import tfidf
from ..engine.arrays import csr_parts
from ..engine.blocks import single_threaded_libraries
from ..engine.checks import check_choice, check_number
from ..engine.jit import njit, njit_fast
from ..models.inputs import CountsLike, CountsMixin, RandomStateLike
from .itcc import ITCC, check_clusters, check_loop, not_empty
from .kmeans import kmeans_on_rows

__all__ = ["MOC", "MOCC"]


# ---- costs of memberships, and how to lower them --------------------------------------------------------------------

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
            remaining = 1 - bound[other] / total
            bound[other] = total * np.log(remaining) + mass[other] if len(inside) > 1 and remaining > 0 else -np.inf
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
    current, cost = descend(costs, memberships)
    fresh, fresh_cost = descend(costs, one_each(costs.singles().argmin(axis=1), memberships.shape[1]))
    better = fresh_cost < cost - _TOL * np.maximum(1, np.abs(cost))
    return np.where(better[:, None], fresh, current)


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


# ---- the estimators -------------------------------------------------------------------------------------------------


def check_parameters(model: MOC | MOCC) -> None:
    """Raise if a parameter that MOC and MOCC share is invalid."""
    check_loop(model.n_init, model.max_iter)
    check_choice("loss", model.loss, LOSSES)
    check_number("tol", model.tol)


def memberships_with_empty(memberships: np.ndarray, where: np.ndarray, n: int) -> np.ndarray:
    """Memberships of all n rows: empty rows are put into the largest cluster."""
    result = one_each(np.full(n, memberships.sum(axis=0).argmax()), memberships.shape[1])
    result[where] = memberships
    return result


class Run(NamedTuple):
    """The result of one start. MOC has no memberships of columns."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    history: list[float]


class MOC(CountsMixin, BaseEstimator):
    """Model-based overlapping clustering: a document is the sum of the prototypes of its clusters.

    Memberships and prototypes are fitted in turn. A document joins or leaves clusters one at a time, starting from its
    present clusters and from its best single cluster, and keeps the better outcome; the divergence never rises. Starts
    are k-means on tf-idf, and the best of several is kept. A cluster that loses its last document starts again from the
    document that fits worst.

    A document is in a cluster or it is not, so long documents tend to be in more clusters. If length should not matter,
    scale the documents to the same length first (X need not be whole numbers).

    Every document is in at least one cluster. Documents without words are put into the largest.

    Parameters
    ----------
    n_clusters : int, default=20
        Number of clusters.
    loss : {'poisson', 'gaussian'}, default='poisson'
        'poisson' is the I-divergence, for counts; each prototype has at least a hundredth of each word's mean.
        'gaussian' is the squared error.
    n_init : int, default=5
        Number of starts.
    max_iter : int, default=100
        Maximum number of iterations per start.
    tol : float, default=1e-4
        A start ends when an iteration lowers the divergence by no more than this fraction.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.

    Attributes
    ----------
    memberships_ : ndarray of bool of shape (n_documents, n_clusters)
        The clusters of each document.
    prototypes_ : ndarray of shape (n_clusters, n_words)
        What each cluster adds to the expected counts of its documents.
    divergence_ : float
        Divergence between the documents that are not empty and the sums of their prototypes.
    history_ : list of float
        The divergence after each iteration of the start that was kept.
    n_iter_ : int
        Number of iterations of that start.

    See Also
    --------
    topicfold.baselines.MOCC : Clusters words as well.
    topicfold.LDCC : Overlapping clusters by a topic model.

    References
    ----------
    Banerjee, A., Krumpelman, C., Ghosh, J., Basu, S. and Mooney, R. J. (2005). Model-based overlapping clustering. KDD.
    https://doi.org/10.1145/1081870.1081932

    Examples
    --------
    >>> from topicfold.baselines import MOC
    >>> model = MOC(2, random_state=0).fit([[4, 4, 0, 0], [5, 4, 0, 0], [0, 0, 4, 4], [0, 0, 4, 5], [4, 4, 4, 4]])
    >>> model.memberships_.sum(axis=1).tolist()  # the last document is in both clusters
    [1, 1, 1, 1, 2]
    """

    def __init__(
        self,
        n_clusters: int = 20,
        *,
        loss: str = "poisson",
        n_init: int = 5,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: RandomStateLike = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.loss = loss
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Cluster documents.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the estimator works in scikit-learn pipelines.

        Returns
        -------
        object
            The estimator itself, fitted.

        Raises
        ------
        InputError
            If X or a parameter cannot be used.
        """
        counts = self._fit_counts(X, np.float64)
        check_parameters(self)
        rows, _ = not_empty(counts)
        check_clusters("n_clusters", self.n_clusters, len(rows), "documents", "n_samples")
        rng = check_random_state(self.random_state)
        with single_threaded_libraries():
            runs = [self._run(counts[rows], rng) for _ in range(self.n_init)]
        best = min(runs, key=lambda run: run.history[-1])
        self.memberships_ = memberships_with_empty(best.rows, rows, counts.shape[0])
        self.prototypes_ = best.values.T
        self.history_, self.n_iter_, self.divergence_ = best.history, len(best.history), best.history[-1]
        return self

    def _run(self, counts: sp.csr_array, rng: np.random.RandomState) -> Run:
        labels = kmeans_on_rows(tfidf(counts), self.n_clusters, 1, 100, rng).labels_
        memberships = one_each(labels, self.n_clusters)
        least = floor(self.loss, counts.mean(axis=0)[:, None])
        sums = counts.T @ memberships.astype(np.float64)
        prototypes = np.maximum(per_member(sums, memberships.sum(axis=0)), least)
        history: list[float] = []
        while not finished(history, self.max_iter, self.tol):
            costs = make_costs(self.loss, counts, prototypes)
            empty = np.flatnonzero(~memberships.any(axis=0))
            if len(empty):
                worst = worst_rows(costs, memberships, len(empty))
                prototypes[:, empty] = np.maximum(counts[worst].toarray().T, least)
                costs = make_costs(self.loss, counts, prototypes)
            memberships = update_memberships(costs, memberships)
            prototypes, divergence = fit_prototypes(self.loss, counts, memberships, prototypes, self.tol)
            history.append(divergence)
        return Run(memberships, np.empty((0, 0), bool), prototypes, history)


class MOCC(CountsMixin, BiclusterMixin, BaseEstimator):
    """Model-based overlapping co-clustering: clusters of documents overlap, and so do clusters of words.

    The expected count of a word in a document is the sum over all pairs of their clusters: X ~ Z A W'. Documents, words
    and blocks are fitted in turn, and the divergence never rises. Starts are ITCC's clusters, and the best of several
    is kept. A cluster that loses its last member starts again from the row or column that fits worst.

    Every document and every word is in at least one cluster. Empty ones are put into the largest.

    Parameters
    ----------
    n_row_clusters : int, default=20
        Number of clusters of documents.
    n_column_clusters : int, default=50
        Number of clusters of words.
    loss : {'poisson', 'gaussian'}, default='poisson'
        'poisson' is the I-divergence, for counts; each block has at least a hundredth of the mean count. 'gaussian' is
        the squared error.
    n_init : int, default=1
        Number of starts. A start takes longer than one of MOC.
    max_iter : int, default=100
        Maximum number of iterations per start.
    tol : float, default=1e-4
        A start ends when an iteration lowers the divergence by no more than this fraction.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.

    Attributes
    ----------
    row_memberships_ : ndarray of bool of shape (n_documents, n_row_clusters)
        The clusters of each document.
    column_memberships_ : ndarray of bool of shape (n_words, n_column_clusters)
        The clusters of each word.
    blocks_ : ndarray of shape (n_row_clusters, n_column_clusters)
        What each pair of clusters adds to an expected count.
    rows_ : ndarray of bool of shape (n_biclusters, n_documents)
        The documents of each bicluster. Bicluster `a * n_column_clusters + b` is row cluster a with column cluster b.
    columns_ : ndarray of bool of shape (n_biclusters, n_words)
        The words of each bicluster.
    divergence_ : float
        Divergence between the counts and their expectation, over the documents and words that are not empty.
    history_ : list of float
        The divergence after each iteration of the start that was kept.
    n_iter_ : int
        Number of iterations of that start.

    See Also
    --------
    topicfold.baselines.MOC : Clusters only documents.
    topicfold.baselines.ITCC : Co-clustering without overlap.

    References
    ----------
    Shafiei, M. M. and Milios, E. E. (2006). Model-based overlapping co-clustering. Fourth Workshop on Text Mining, SIAM
    International Conference on Data Mining.

    Examples
    --------
    >>> from topicfold.baselines import MOCC
    >>> model = MOCC(2, 2, random_state=0).fit([[4, 4, 0, 0], [5, 4, 0, 0], [0, 0, 4, 4], [0, 0, 4, 5], [4, 4, 4, 4]])
    >>> model.row_memberships_.shape, model.column_memberships_.shape
    ((5, 2), (4, 2))
    """

    def __init__(
        self,
        n_row_clusters: int = 20,
        n_column_clusters: int = 50,
        *,
        loss: str = "poisson",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: RandomStateLike = None,
    ) -> None:
        self.n_row_clusters = n_row_clusters
        self.n_column_clusters = n_column_clusters
        self.loss = loss
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: CountsLike, y: Any = None) -> Self:
        """Cluster documents and words.

        Parameters
        ----------
        X : Corpus, matrix, data frame or list of str
            Documents: a Corpus, counts of shape (n_documents, n_words), or texts.
        y : object, default=None
            Ignored; accepted so that the estimator works in scikit-learn pipelines.

        Returns
        -------
        object
            The estimator itself, fitted.

        Raises
        ------
        InputError
            If X or a parameter cannot be used.
        """
        counts = self._fit_counts(X, np.float64)
        check_parameters(self)
        rows, columns = not_empty(counts)
        check_clusters("n_row_clusters", self.n_row_clusters, len(rows), "documents", "n_samples")
        check_clusters("n_column_clusters", self.n_column_clusters, len(columns), "words", "n_features")
        table = counts[rows][:, columns]
        rng = check_random_state(self.random_state)
        with single_threaded_libraries():
            runs = [self._run(table, sp.csr_array(table.T), rng) for _ in range(self.n_init)]
        best = min(runs, key=lambda run: run.history[-1])
        self.row_memberships_ = memberships_with_empty(best.rows, rows, counts.shape[0])
        self.column_memberships_ = memberships_with_empty(best.columns, columns, counts.shape[1])
        self.blocks_ = best.values
        self.rows_ = np.repeat(self.row_memberships_.T, self.n_column_clusters, axis=0)
        self.columns_ = np.tile(self.column_memberships_.T, (self.n_row_clusters, 1))
        self.history_, self.n_iter_, self.divergence_ = best.history, len(best.history), best.history[-1]
        return self

    def _run(self, counts: sp.csr_array, flipped: sp.csr_array, rng: np.random.RandomState) -> Run:
        start = ITCC(self.n_row_clusters, self.n_column_clusters, n_init=1, random_state=rng).fit(counts)
        rows = one_each(start.row_labels_, self.n_row_clusters)
        columns = one_each(start.column_labels_, self.n_column_clusters)
        sums = (counts.T @ rows.astype(np.float64)).T @ columns
        blocks = per_member(sums, np.outer(rows.sum(axis=0), columns.sum(axis=0)))
        blocks = np.maximum(blocks, floor(self.loss, counts.mean()))
        history: list[float] = []
        while not finished(history, self.max_iter, self.tol):
            self._revive(counts, flipped, rows, columns, blocks)
            rows = update_memberships(make_costs(self.loss, counts, columns @ blocks.T), rows)
            columns = update_memberships(make_costs(self.loss, flipped, rows @ blocks), columns)
            blocks, divergence = fit_blocks(self.loss, counts, rows, columns, blocks, self.tol)
            history.append(divergence)
        return Run(rows, columns, blocks, history)

    def _revive(
        self, counts: sp.csr_array, flipped: sp.csr_array, rows: np.ndarray, columns: np.ndarray, blocks: np.ndarray
    ) -> None:
        """Blocks of clusters without members, which affect nothing: the means of the row or column that fits worst."""
        least = floor(self.loss, counts.mean())
        empty = np.flatnonzero(~rows.any(axis=0))
        if len(empty):
            worst = worst_rows(make_costs(self.loss, counts, columns @ blocks.T), rows, len(empty))
            means = per_member(counts[worst] @ columns.astype(np.float64), columns.sum(axis=0))
            blocks[empty] = np.maximum(means, least)
        empty = np.flatnonzero(~columns.any(axis=0))
        if len(empty):
            worst = worst_rows(make_costs(self.loss, flipped, rows @ blocks), columns, len(empty))
            means = per_member(flipped[worst] @ rows.astype(np.float64), rows.sum(axis=0))
            blocks[:, empty] = np.maximum(means, least).T
