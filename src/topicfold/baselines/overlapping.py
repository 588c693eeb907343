"""Clusters that overlap: MOC of documents (Banerjee et al. 2005), MOCC of documents and words (Shafiei, Milios 2006).

The expected counts of a document are the sum of the prototypes of all its clusters: X ~ Z A with Z of zeros and ones,
and X ~ Z A W' if words are in clusters too. The distance of X from that is a Bregman divergence. Here prototypes are
stored as words x clusters: a document reads the row of each of its words.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.utils import check_random_state

from ..corpus.weighting import tfidf
from ..engine.blocks import single_threaded_libraries
from ..engine.checks import check_choice, check_number
from ..models.inputs import CountsLike, CountsMixin, RandomStateLike
from .itcc import ITCC, check_clusters, check_loop, not_empty
from .kmeans import kmeans_on_rows
from .overlap_costs import (
    LOSSES,
    finished,
    fit_blocks,
    fit_prototypes,
    floor,
    make_costs,
    one_each,
    per_member,
    update_memberships,
    worst_rows,
)

__all__ = ["MOC", "MOCC"]


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
