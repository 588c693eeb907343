"""ITCC: information-theoretic co-clustering of documents and words (Dhillon, Mallela and Modha 2003)."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.utils import check_random_state

from ..engine.blocks import single_threaded_libraries
from ..engine.checks import check_whole
from ..engine.jit import njit
from ..errors import InputError
from ..models.inputs import CountsLike, CountsMixin, RandomStateLike

__all__ = ["ITCC"]

_BACKGROUND = 0.1  # share of the corpus in a seed's distribution, so that no document is infinitely far from it
_IMPOSSIBLE = -1e300  # stands for log 0: finite, so that 0 log 0 is 0
_TOL = 1e-12  # a smaller gain, in nats per token, may be rounding


class Cells(NamedTuple):
    """The non-zero cells of a table: the row, the column and the value of each."""

    row: np.ndarray
    column: np.ndarray
    value: np.ndarray

    def flipped(self) -> Cells:
        """The same table with rows and columns exchanged."""
        return Cells(self.column, self.row, self.value)


class Run(NamedTuple):
    """The result of one start."""

    row_labels: np.ndarray
    column_labels: np.ndarray
    history: list[float]


@njit
def move_one_by_one(profiles, labels, blocks):
    """Move each row to the cluster where sum_ab n_ab log n_ab - sum_a n_a log n_a gains most; returns how many moved.

    `profiles` are rows x column clusters, `blocks` row clusters x column clusters (n_ab). `labels` and `blocks` are
    changed in place, so that each row sees the moves of the rows before it.
    """
    n_rows, width = profiles.shape
    n_clusters = len(blocks)
    smallest = _TOL * blocks.sum()
    moved = 0
    for row in range(n_rows):
        old = labels[row]
        mass = profiles[row].sum()
        best, best_gain, leaving = old, 0.0, 0.0
        for step in range(n_clusters + 1):  # first what leaving gains, then what joining each cluster gains
            cluster = old if step == 0 else step - 1
            if step > 0 and cluster == old:
                continue
            sign = -1.0 if step == 0 else 1.0
            gain = 0.0
            before = 0.0
            for column in range(width):
                value = blocks[cluster, column]
                before += value
                if profiles[row, column] > 0:
                    if value > 0:
                        gain -= value * np.log(value)
                    value += sign * profiles[row, column]
                    if value > 0:
                        gain += value * np.log(value)
            if before > 0:
                gain += before * np.log(before)
            after = before + sign * mass
            if after > 0:
                gain -= after * np.log(after)
            if step == 0:
                leaving = gain
            elif leaving + gain > max(best_gain, smallest):
                best, best_gain = cluster, leaving + gain
        if best != old:
            for column in range(width):
                blocks[old, column] = max(0.0, blocks[old, column] - profiles[row, column])
                blocks[best, column] += profiles[row, column]
            labels[row] = best
            moved += 1
    return moved


def mutual_information(table: np.ndarray, row_mass: np.ndarray, column_mass: np.ndarray, total: float) -> float:
    """I = sum p log(p / (p_row p_column)) over the non-zero cells, given with the masses of row and column."""
    return float((table * np.log(table * total / (row_mass * column_mass))).sum() / total)


def merged(cells: Cells, column_labels: np.ndarray, n_rows: int, n_clusters: int) -> np.ndarray:
    """Rows x column clusters: the columns of a cluster added up."""
    where = cells.row * n_clusters + column_labels[cells.column]
    return np.bincount(where, cells.value, n_rows * n_clusters).reshape(n_rows, n_clusters)


def block_sums(profiles: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Row clusters x column clusters: the rows of a cluster added up."""
    members = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), (n_clusters, len(labels)))
    return members @ profiles


def preserved_information(blocks: np.ndarray) -> float:
    """The mutual information of row clusters and column clusters."""
    rows, columns = np.nonzero(blocks)
    row_mass, column_mass = blocks.sum(axis=1), blocks.sum(axis=0)
    return mutual_information(blocks[rows, columns], row_mass[rows], column_mass[columns], float(blocks.sum()))


def nearest_clusters(profiles: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Each row's cluster of least divergence D(p(Y|row) || q(Y|cluster)); a tie keeps its current cluster.

    Only the part sum_b p(b|row) log p(b|cluster) of the divergence, over column clusters b, depends on the cluster.
    """
    blocks = block_sums(profiles, labels, n_clusters)
    mass = blocks.sum(axis=1, keepdims=True)
    shares = blocks / np.where(mass > 0, mass, 1)
    logs = np.where(shares > 0, np.log(np.where(shares > 0, shares, 1)), _IMPOSSIBLE)
    nearness = (profiles / profiles.sum(axis=1, keepdims=True)) @ logs.T
    best = nearness.argmax(axis=1)
    rows = np.arange(len(labels))
    return np.where(nearness[rows, best] > nearness[rows, labels] + _TOL, best, labels)


def spread_labels(profiles: sp.csr_array, n_clusters: int, rng: np.random.RandomState) -> np.ndarray:
    """Labels by the nearest of distant seed rows: each is drawn by mass times divergence from those before it."""
    mass = profiles.sum(axis=1)
    shares = sp.csr_array(sp.diags_array(1 / mass) @ profiles)
    background = profiles.sum(axis=0) / mass.sum()
    logs = shares.copy()
    logs.data = shares.data * np.log(shares.data)
    entropy = logs.sum(axis=1)
    occurs = background > 0

    def divergences(seed: int) -> np.ndarray:
        mixed = (1 - _BACKGROUND) * shares[[seed]].toarray()[0] + _BACKGROUND * background
        return np.maximum(entropy - shares @ np.log(np.where(occurs, mixed, 1)), 0)

    labels = np.zeros(len(mass), np.int64)
    nearest = divergences(rng.choice(len(mass), p=mass / mass.sum()))
    for cluster in range(1, n_clusters):
        weight = mass * nearest if nearest.any() else mass
        distance = divergences(rng.choice(len(mass), p=weight / weight.sum()))
        labels[distance < nearest] = cluster
        nearest = np.minimum(nearest, distance)
    return labels


def check_clusters(name: str, value: Any, available: int, of: str, count_name: str) -> None:
    """Raise unless `value` is a whole number from 1 to `available`, the number of rows or columns to be clustered."""
    check_whole(name, value)
    if value > available:
        raise InputError(
            f"{name}={value} is more than there are {of} that are not empty "
            f"({count_name}={available}): choose at most {available}"
        )


def check_loop(n_init: int, max_iter: int) -> None:
    """Raise unless the numbers of starts and of iterations are whole and at least one."""
    check_whole("n_init", n_init)
    check_whole("max_iter", max_iter)


def not_empty(counts: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the non-empty rows and columns; an error if there are none."""
    rows, columns = np.flatnonzero(counts.sum(axis=1)), np.flatnonzero(counts.sum(axis=0))
    if len(rows) == 0:
        raise InputError(f"all {counts.shape[0]} documents are empty: there are no words to fit")
    return rows, columns


def with_empty(labels: np.ndarray, where: np.ndarray, n: int) -> np.ndarray:
    """Labels of all n rows: empty rows are put into the largest cluster."""
    result = np.full(n, np.bincount(labels).argmax(), np.int64)
    result[where] = labels
    return result


class ITCC(CountsMixin, BiclusterMixin, BaseEstimator):
    """Information-theoretic co-clustering: each document and each word is in one cluster.

    X is read as a table of joint frequencies of documents and words. The clusters are chosen to lose as little as
    possible of the mutual information I(X; Y). All documents, then all words, move to the cluster of least divergence,
    until nothing changes; then single ones move if that lowers the loss, until none does. The loss never rises. The
    best of several starts is kept.

    A cluster can stay empty if there are fewer distinct rows than clusters. Documents and words without counts are put
    into the largest cluster.

    Parameters
    ----------
    n_row_clusters : int, default=20
        Number of clusters of documents.
    n_column_clusters : int, default=50
        Number of clusters of words.
    n_init : int, default=5
        Number of starts.
    max_iter : int, default=500
        Maximum number of iterations per start.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers. Pass an int to get the same result in every run.

    Attributes
    ----------
    row_labels_ : ndarray of int of shape (n_documents,)
        The cluster of each document.
    column_labels_ : ndarray of int of shape (n_words,)
        The cluster of each word.
    rows_ : ndarray of bool of shape (n_biclusters, n_documents)
        The documents of each bicluster. Bicluster `a * n_column_clusters + b` is row cluster a with column cluster b.
    columns_ : ndarray of bool of shape (n_biclusters, n_words)
        The words of each bicluster.
    information_loss_ : float
        I(X; Y) minus the mutual information of the clusters, in nats.
    mutual_information_ : float
        I(X; Y), in nats.
    history_ : list of float
        The loss after each iteration of the start that was kept.
    n_iter_ : int
        Number of iterations of that start.

    See Also
    --------
    topicfold.LDCC : Overlapping clusters of documents and words, paragraph by paragraph.
    topicfold.baselines.MOCC : Co-clustering in which clusters overlap.

    References
    ----------
    Dhillon, I. S., Mallela, S. and Modha, D. S. (2003). Information-theoretic co-clustering. KDD.
    https://doi.org/10.1145/956750.956764

    Examples
    --------
    >>> from topicfold.baselines import ITCC
    >>> model = ITCC(2, 2, random_state=0).fit([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]])
    >>> (model.row_labels_ == model.row_labels_[0]).tolist()
    [True, True, False, False]
    """

    def __init__(
        self,
        n_row_clusters: int = 20,
        n_column_clusters: int = 50,
        *,
        n_init: int = 5,
        max_iter: int = 500,
        random_state: RandomStateLike = None,
    ) -> None:
        self.n_row_clusters = n_row_clusters
        self.n_column_clusters = n_column_clusters
        self.n_init = n_init
        self.max_iter = max_iter
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
        check_loop(self.n_init, self.max_iter)
        rows, columns = not_empty(counts)
        check_clusters("n_row_clusters", self.n_row_clusters, len(rows), "documents", "n_samples")
        check_clusters("n_column_clusters", self.n_column_clusters, len(columns), "words", "n_features")
        table = counts[rows][:, columns].tocoo()
        cells = Cells(table.row.astype(np.int64), table.col.astype(np.int64), table.data)
        row_mass, column_mass = table.sum(axis=1), table.sum(axis=0)
        self.mutual_information_ = mutual_information(
            cells.value, row_mass[cells.row], column_mass[cells.column], float(table.sum())
        )
        rng = check_random_state(self.random_state)
        with single_threaded_libraries():
            runs = [self._run(cells, sp.csr_array(table), rng) for _ in range(self.n_init)]
        best = min(runs, key=lambda run: run.history[-1])
        self.history_, self.n_iter_ = best.history, len(best.history)
        self.information_loss_ = best.history[-1]
        self.row_labels_ = with_empty(best.row_labels, rows, counts.shape[0])
        self.column_labels_ = with_empty(best.column_labels, columns, counts.shape[1])
        self.rows_ = np.repeat(
            np.equal.outer(np.arange(self.n_row_clusters), self.row_labels_), self.n_column_clusters, axis=0
        )
        self.columns_ = np.tile(
            np.equal.outer(np.arange(self.n_column_clusters), self.column_labels_), (self.n_row_clusters, 1)
        )
        return self

    def _run(self, cells: Cells, table: sp.csr_array, rng: np.random.RandomState) -> Run:
        """Descend from one start, which spreads the documents over clusters first, then the words by those clusters."""
        n_rows, n_columns = table.shape
        size = (self.n_row_clusters, self.n_column_clusters)
        rows = spread_labels(table, size[0], rng)
        columns = spread_labels(sp.csr_array(merged(cells.flipped(), rows, n_columns, size[0])), size[1], rng)
        history: list[float] = []
        for _ in range(self.max_iter):
            profiles = merged(cells, columns, n_rows, size[1])
            new_rows = nearest_clusters(profiles, rows, size[0])
            profiles = merged(cells.flipped(), new_rows, n_columns, size[0])
            new_columns = nearest_clusters(profiles, columns, size[1])
            moved = bool((new_rows != rows).any() or (new_columns != columns).any())
            rows, columns = new_rows, new_columns
            if not moved:
                profiles = merged(cells, columns, n_rows, size[1])
                moved = move_one_by_one(profiles, rows, block_sums(profiles, rows, size[0])) > 0
                profiles = merged(cells.flipped(), rows, n_columns, size[0])
                moved = move_one_by_one(profiles, columns, block_sums(profiles, columns, size[1])) > 0 or moved
            blocks = block_sums(merged(cells, columns, n_rows, size[1]), rows, size[0])
            history.append(max(0.0, self.mutual_information_ - preserved_information(blocks)))
            if not moved:
                break
        return Run(rows, columns, history)
