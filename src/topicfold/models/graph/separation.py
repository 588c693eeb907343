"""The separation of documents relative to that of neighbours (Q2 of DTM), and the sweeps that raise it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...engine.jit import njit
from .graph_data import FLOOR

__all__ = []

_SMALL_SCALE = 1e-100
_DAMPING = 0.5  # of the way to a vertex


@njit
def sweep_paper(indptr, indices, weights, degree, alpha, theta):
    """One update of every topic p in every document i, in this order (eq. 18 and 19); theta is topics x documents.

    beta = min((N theta_pi + alpha sum_j W_ij theta_pj) / (sum_j theta_pj + alpha D_i theta_pi), 1 / theta_pi)
    theta_pi' = beta theta_pi;  theta_ki' = (1 - beta theta_pi) / (1 - theta_pi) theta_ki for the other topics k

    The common factor of the other topics is not written to each: a document has one scale, theta_ki = raw_ki scale_i,
    so that a sweep costs topics x edges and not topics^2 x documents. Topic p stays within FLOOR .. 1 - FLOOR.
    """
    n_topics, n = theta.shape
    scale = np.ones(n)
    for p in range(n_topics):
        total = 0.0
        for i in range(n):
            total += theta[p, i] * scale[i]
        # topic p of each document, and by the scale its other topics
        for i in range(n):
            value = theta[p, i] * scale[i]
            if value >= 1 - FLOOR:
                continue
            near = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                near += weights[e] * theta[p, j] * scale[j]
            new = value * (n * value + alpha * near) / (total + alpha * degree[i] * value)
            new = min(max(new, FLOOR), 1 - FLOOR)
            total += new - value
            scale[i] *= (1 - new) / (1 - value)
            theta[p, i] = new / scale[i]
            if scale[i] < _SMALL_SCALE:
                for k in range(n_topics):
                    theta[k, i] *= scale[i]
                scale[i] = 1.0
    # the scales, written to every topic
    for k in range(n_topics):
        for i in range(n):
            theta[k, i] *= scale[i]


@njit
def sweep_exact(indptr, indices, weights, degree, alpha, theta):
    """Each document in turn gets a row that does not lower R = A - alpha B; theta is documents x topics.

    c = N - 1 - alpha D_i, b = S - theta_i - alpha (W theta)_i. If c < 0: the projection of b / c on the simplex with
    entries of at least FLOOR, which is the maximum. Otherwise R is convex and its maximum is a vertex v: a step of
    length t towards it changes R by t g + 2 c t^2 |v - theta_i|^2 with g = 4 (v - theta_i) . (c theta_i - b), and is
    long enough for R not to fall.
    """
    n, n_topics = theta.shape
    total = np.zeros(n_topics)
    for i in range(n):
        for k in range(n_topics):
            total[k] += theta[i, k]
    b = np.empty(n_topics)
    room = 1 - n_topics * FLOOR
    for i in range(n):
        # b and c of the document
        for k in range(n_topics):
            b[k] = total[k] - theta[i, k]
            total[k] = b[k]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            for k in range(n_topics):
                b[k] -= alpha * weights[e] * theta[j, k]
        c = n - 1 - alpha * degree[i]
        if c < 0:  # the maximum
            for k in range(n_topics):
                b[k] = b[k] / c - FLOOR
            ordered = np.sort(b)
            summed = 0.0
            shift = 0.0
            for rank in range(1, n_topics + 1):
                largest = ordered[n_topics - rank]
                if largest - (summed + largest - room) / rank <= 0:
                    break
                summed += largest
                shift = (summed - room) / rank
            for k in range(n_topics):
                theta[i, k] = FLOOR + max(b[k] - shift, 0.0)
        else:  # a step towards the best vertex
            vertex = 0
            for k in range(n_topics):
                if b[k] < b[vertex]:
                    vertex = k
            slope = 0.0
            distance = 0.0
            for k in range(n_topics):
                gap = FLOOR + (room if k == vertex else 0.0) - theta[i, k]
                slope += 4 * gap * (c * theta[i, k] - b[k])
                distance += gap * gap
            share = _DAMPING
            if slope < 0 and c * distance > 0:
                share = min(max(share, -slope / (2 * c * distance)), 1.0)
            for k in range(n_topics):
                theta[i, k] += share * (FLOOR + (room if k == vertex else 0.0) - theta[i, k])
        for k in range(n_topics):
            total[k] += theta[i, k]


def separation(doc_topic: np.ndarray, shifts: sp.csr_array) -> tuple[float, float]:
    """(A, B): sums of squared distances of all pairs of documents, and of neighbours, weighted by their edges.

    `shifts` is the Laplacian of the graph, D - W.
    """
    values = doc_topic.astype(np.float64)
    values = values - values[0]  # changes neither, and makes identical documents exactly 0
    total = values.sum(axis=0)
    pairs = 2 * (len(values) * float(np.einsum("ik,ik->", values, values)) - float(total @ total))
    near = 2 * float(np.einsum("ik,ik->", values, shifts @ values))
    return max(pairs, 0.0), max(near, 0.0)
