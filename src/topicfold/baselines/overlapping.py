"""Clusters that overlap: MOC of documents (Banerjee et al. 2005), MOCC of documents and words (Shafiei, Milios 2006).

A document's expected counts are the sum of the prototypes of all the clusters it is in: X ~ Z A with Z of zeros and
ones, and X ~ Z A W' where words are in clusters too. How far X is from that is a Bregman divergence. Prototypes are
kept as words x clusters here: a document reads the row of each of its words.
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
from .factor import kmeans_on_rows
from .itcc import ITCC, check_clusters, check_loop, not_empty
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
    """Raise when a parameter that MOC and MOCC share is not what it should be."""
    check_loop(model.n_init, model.max_iter)
    check_choice("loss", model.loss, LOSSES)
    check_number("tol", model.tol)


def memberships_with_empty(memberships: np.ndarray, where: np.ndarray, n: int) -> np.ndarray:
    """Memberships of all n rows: those that are empty are in the largest cluster."""
    result = one_each(np.full(n, memberships.sum(axis=0).argmax()), memberships.shape[1])
    result[where] = memberships
    return result


class Run(NamedTuple):
    """Where one start has led. MOC has no memberships of columns."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    history: list[float]


class MOC(CountsMixin, BaseEstimator):
    """Model-based overlapping clustering: a document is the sum of the prototypes of the clusters it is in.

    Memberships and prototypes are fitted in turn. A document joins or leaves clusters one at a time, from those it is
    in and from its best single one, and keeps the better end; the divergence never rises. Starts are k-means on tf-idf;
    the best of several is kept. A cluster that loses its last document begins again from the one that fits worst.

    A membership is whole, so a long document tends to be in more clusters: where length should not tell, scale the
    documents to one length first (X need not be whole numbers).

    Every document is in at least one cluster. Those without words say nothing, and are in the largest.

    Parameters
    ----------
    n_clusters : how many clusters.
    loss : 'poisson', the I-divergence, for counts, with prototypes that have at least a hundredth of each word's mean;
        'gaussian', the squared error.
    n_init : how many starts. max_iter : at most so many iterations of each.
    tol : stop when an iteration lowers the divergence by no more than this part of it.

    Attributes
    ----------
    memberships_ : documents x clusters, booleans. prototypes_ : clusters x words, expected counts.
    divergence_ : between the documents that are not empty and the sums of their prototypes.
    history_ : the divergence after each iteration of the start that was kept; n_iter_ : their number.
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
        """Cluster the rows of documents x words, or of a Corpus."""
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
    """Model-based overlapping co-clustering: the clusters of documents and those of words both overlap.

    As MOC, but the expected count of a word in a document is the sum over the clusters of both: X ~ Z A W'. Documents,
    words and blocks are fitted in turn, and the divergence never rises. Starts are ITCC's clusters; the best of several
    is kept. A cluster that loses its last member begins again from the row or column that fits worst.

    Every document and every word is in at least one cluster. Empty ones say nothing, and are in the largest.

    Parameters
    ----------
    n_row_clusters, n_column_clusters : how many clusters of documents and of words.
    loss, n_init, max_iter, tol : as in MOC, but a start takes longer. A Poisson block has at least a hundredth of the
        mean count.

    Attributes
    ----------
    row_memberships_ : documents x row clusters. column_memberships_ : words x column clusters. Both booleans.
    blocks_ : row clusters x column clusters, what the pair adds to an expected count.
    rows_, columns_ : biclusters x documents and biclusters x words, booleans. Bicluster a * n_column_clusters + b is
        row cluster a with column cluster b.
    divergence_ : between the counts and their expectation, over the documents and words that are not empty.
    history_ : the divergence after each iteration of the start that was kept; n_iter_ : their number.
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
        """Co-cluster documents x words, or a Corpus."""
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
        """Blocks of clusters with no member, which nothing depends on: the means of the row or column fitted worst."""
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
