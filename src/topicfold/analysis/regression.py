"""Least-squares regression of shares of topics on a design, with robust errors pooled over the posterior of the shares.

With P = (X'X)^-1 X', the coefficients of a topic are P y. If y is drawn from its posterior (mean m, variance v), the
expected covariance within a draw is robust(m - X P m) + P diag(v) P', and that between draws P diag(v) P'; their sum,
by the method of composition, is robust(m - X P m) + 2 P diag(v) P'. No draws are needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.blocks import single_threaded_libraries

__all__ = ["Regression", "regress"]

_ALONE = 1e-8  # a document with a leverage above 1 minus this determines a coefficient alone


class Regression(NamedTuple):
    """Coefficients (terms x topics), their covariances (topics x terms x terms), and degrees of freedom."""

    coefficients: np.ndarray
    covariances: np.ndarray
    df: float


def regress(
    design: np.ndarray, share: np.ndarray, variance: np.ndarray, clusters: np.ndarray | None = None
) -> Regression:
    """Regress each column of `share` (documents x topics) on the design by least squares.

    Standard errors are robust to heteroscedasticity (HC2). With `clusters`, the number of the cluster of each document,
    counted from 0, they are robust to dependence within clusters: CR1, with the factor G / (G - 1) * (n - 1) / (n - p)
    and G - 1 degrees of freedom.
    """
    n_documents, n_terms = design.shape
    with single_threaded_libraries():
        # by QR, which is more accurate than the inverse of X'X
        q, r = np.linalg.qr(design)
        solved = np.linalg.solve(r, np.eye(n_terms))
        coefficients = solved @ (q.T @ share)
        residuals = share - design @ coefficients
        covariances = np.empty((share.shape[1], n_terms, n_terms))
        if clusters is None:
            meats = _independent(q, residuals, n_documents - n_terms)
            df = float(n_documents - n_terms)
        else:
            meats = _clustered(q, residuals, clusters, n_terms)
            df = float(clusters.max())
        for topic, meat in enumerate(meats):
            meat = meat + 2 * (q.T * variance[:, topic]) @ q
            covariances[topic] = solved @ meat @ solved.T
    return Regression(coefficients, covariances, df)


def _independent(q: np.ndarray, residuals: np.ndarray, df: int) -> list[np.ndarray]:
    """q' diag(e^2 / (1 - h)) q of each topic, with h the leverage."""
    free = 1 - np.einsum("ij,ij->i", q, q)
    alone = free < _ALONE
    squares = residuals**2
    overall = squares.sum(axis=0) / df
    weights = np.where(alone[:, None], overall, squares / np.where(alone, 1, free)[:, None])
    return [(q.T * weights[:, topic]) @ q for topic in range(residuals.shape[1])]


def _clustered(q: np.ndarray, residuals: np.ndarray, clusters: np.ndarray, n_terms: int) -> list[np.ndarray]:
    """Sum over clusters of s s', with s the sum of q e over the documents of a cluster, corrected for few clusters."""
    n_documents, n_clusters = len(q), int(clusters.max()) + 1
    scale = n_clusters / (n_clusters - 1) * (n_documents - 1) / (n_documents - n_terms)
    order = np.argsort(clusters, kind="stable")
    starts = np.searchsorted(clusters[order], np.arange(n_clusters))
    meats = []
    for topic in range(residuals.shape[1]):
        scores = np.add.reduceat((q * residuals[:, [topic]])[order], starts, axis=0)
        meats.append(scale * scores.T @ scores)
    return meats
