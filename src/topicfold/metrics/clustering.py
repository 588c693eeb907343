"""Agreement of clusters with classes, and of rankings with labels."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from ..engine.jit import njit
from ..errors import InputError

__all__ = ["PairScores", "break_even", "clustering_accuracy", "omega_index", "pairwise_scores", "purity"]


def clustering_accuracy(labels: Iterable[Hashable], clusters: Iterable[Hashable]) -> float:
    """Compute the share of documents whose cluster is matched to their class, under the best one-to-one matching.

    This is the maximum over one-to-one maps m from clusters to classes of (1 / N) sum_d [m(cluster_d) = label_d]. If
    there are more clusters than classes, or the other way round, the rest remains unmatched.

    Parameters
    ----------
    labels : iterable of hashable, of length n_documents
        The class of each document.
    clusters : iterable of hashable, of length n_documents
        The cluster of each document.

    Returns
    -------
    float
        A share from 0 to 1; higher is better.

    See Also
    --------
    purity : Several clusters may be matched to one class.
    omega_index : Agreement of clusterings that may overlap, corrected for chance.

    Examples
    --------
    >>> from topicfold.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 2])
    0.75
    """
    table = _contingency(labels, clusters)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def purity(labels: Iterable[Hashable], clusters: Iterable[Hashable]) -> float:
    """Compute the share of documents that are in the most frequent class of their cluster.

    This is (1 / N) sum_c max_l n(c, l). Splitting a cluster never lowers purity, so compare only clusterings with the
    same number of clusters.

    Parameters
    ----------
    labels : iterable of hashable, of length n_documents
        The class of each document.
    clusters : iterable of hashable, of length n_documents
        The cluster of each document.

    Returns
    -------
    float
        A share from 0 to 1; higher is better.

    See Also
    --------
    clustering_accuracy : Each cluster is matched to a different class.

    Examples
    --------
    >>> from topicfold.metrics import purity
    >>> purity(["a", "a", "b", "b"], [0, 0, 0, 1])
    0.75
    """
    table = _contingency(labels, clusters)
    return float(table.max(axis=0).sum() / table.sum())


def _contingency(labels: Iterable[Hashable], clusters: Iterable[Hashable]) -> np.ndarray:
    """Number of documents of each class (row) in each cluster (column)."""
    rows, n_rows = _codes(labels, "labels")
    columns, n_columns = _codes(clusters, "clusters")
    if rows.size != columns.size:
        raise InputError(f"labels and clusters must have the same length, got {rows.size} and {columns.size}")
    if rows.size == 0:
        raise InputError("labels and clusters are empty, expected at least one document")
    flat = np.bincount(rows * n_columns + columns, minlength=n_rows * n_columns)
    return flat.reshape(n_rows, n_columns)


def _codes(values: Iterable[Hashable], name: str) -> tuple[np.ndarray, int]:
    """Values numbered from 0 in order of appearance, and the number of distinct values; types may be mixed."""
    code_of: dict[Hashable, int] = {}
    items: Iterable[Hashable] = values.tolist() if isinstance(values, np.ndarray) else values
    try:
        codes = np.array([code_of.setdefault(value, len(code_of)) for value in items], np.int64)
    except TypeError:
        raise InputError(f"{name} must be a flat list of hashable values, one per document") from None
    if any(isinstance(value, float) and math.isnan(value) for value in code_of):
        raise InputError(f"{name} must have a value for every document, got nan")
    return codes, len(code_of)


class PairScores(NamedTuple):
    """Precision, recall and F over pairs of documents; made by `pairwise_scores`.

    Attributes
    ----------
    precision : float
        Of the pairs that are together in `found`, the share that are together in `truth`.
    recall : float
        Of the pairs that are together in `truth`, the share that are together in `found`.
    f : float
        Harmonic mean of precision and recall.

    See Also
    --------
    pairwise_scores : Computes them.

    Examples
    --------
    >>> from topicfold.metrics import pairwise_scores
    >>> pairwise_scores([[1], [1], [0]], [[1], [1], [0]]).f
    1.0
    """

    precision: float
    recall: float
    f: float


def pairwise_scores(truth: Any, found: Any) -> PairScores:
    """Compute precision, recall and F over pairs of documents, for clusters that may overlap.

    A pair is together if it shares at least one cluster. Precision is the number of pairs together in both, divided by
    the number together in `found`; recall divides by the number together in `truth`. If neither side puts any pair
    together, they agree and all three scores are 1. If only one side does, the undefined ratio is 0.

    Parameters
    ----------
    truth : array or sparse matrix of shape (n_documents, n_classes)
        1 if the document is in the class, else 0. A document may be in several classes, or in none.
    found : array or sparse matrix of shape (n_documents, n_clusters)
        1 if the document is in the cluster, else 0.

    Returns
    -------
    PairScores
        Precision, recall and F.

    See Also
    --------
    omega_index : Also counts how many clusters a pair shares, and corrects for chance.
    clustering_accuracy : For clusters without overlap.

    Examples
    --------
    >>> from topicfold.metrics import pairwise_scores
    >>> pairwise_scores([[1, 0], [1, 1], [0, 1]], [[1], [1], [1]])
    PairScores(precision=0.6666666666666666, recall=1.0, f=0.8)
    """
    table = _common_clusters(truth, found)
    both = int(table[1:, 1:].sum())
    in_truth, in_found = int(table[1:].sum()), int(table[:, 1:].sum())
    if in_truth == 0 and in_found == 0:
        return PairScores(1.0, 1.0, 1.0)
    precision = both / in_found if in_found else 0.0
    recall = both / in_truth if in_truth else 0.0
    return PairScores(precision, recall, 2 * both / (in_truth + in_found))


def omega_index(truth: Any, found: Any) -> float:
    """Compute the agreement, corrected for chance, on how many clusters each pair of documents shares.

    The index is (observed - expected) / (1 - expected). Observed is the proportion of pairs that share the same number
    of clusters on both sides; expected is sum_j P_truth(j) P_found(j), with P(j) the proportion of pairs that share j
    clusters. Without overlap it is the adjusted Rand index. If all pairs share the same number of clusters on both
    sides, it is 1.

    Parameters
    ----------
    truth : array or sparse matrix of shape (n_documents, n_classes)
        1 if the document is in the class, else 0. A document may be in several classes, or in none.
    found : array or sparse matrix of shape (n_documents, n_clusters)
        1 if the document is in the cluster, else 0.

    Returns
    -------
    float
        1 is perfect agreement, 0 the agreement expected by chance.

    See Also
    --------
    pairwise_scores : Precision, recall and F over pairs.
    agreement : Adjusted mutual information of several clusterings.

    References
    ----------
    Collins, L. M. and Dent, C. W. (1988). Omega: a general formulation of the Rand index of cluster recovery suitable
    for non-disjoint solutions. Multivariate Behavioral Research 23, 231-242. https://doi.org/10.1207/s15327906mbr2302_6

    Examples
    --------
    >>> from topicfold.metrics import omega_index
    >>> omega_index([[1, 0], [1, 1], [0, 1]], [[1, 0], [1, 1], [0, 1]])
    1.0
    >>> omega_index([[1, 0], [1, 0], [0, 1], [0, 1]], [[1, 0], [0, 1], [1, 0], [0, 1]])
    -0.5
    """
    table = _common_clusters(truth, found)
    n_pairs = int(table.sum())
    observed = int(np.trace(table))
    # Python integers: the squares of pair counts exceed 2**63 at about 80,000 documents.
    expected = sum(int(a) * int(b) for a, b in zip(table.sum(axis=1), table.sum(axis=0)))
    if expected == n_pairs**2:
        return 1.0
    return (observed * n_pairs - expected) / (n_pairs**2 - expected)


@njit
def _count_common(truth_ptr, truth_idx, truth_t_ptr, truth_t_idx, found_ptr, found_idx, found_t_ptr, found_t_idx, size):
    """table[s, t] = sum of size_i size_j over i < j with (T T')_ij = s, (F F')_ij = t, (s, t) != (0, 0)."""
    n = size.size
    most_truth = 0
    most_found = 0
    for i in range(n):
        most_truth = max(most_truth, truth_ptr[i + 1] - truth_ptr[i])
        most_found = max(most_found, found_ptr[i + 1] - found_ptr[i])
    side = max(most_truth, most_found) + 1
    table = np.zeros((side, side), np.int64)
    in_truth = np.zeros(n, np.int64)
    in_found = np.zeros(n, np.int64)
    touched = np.empty(n, np.int64)
    for i in range(n):
        n_touched = 0
        # Rows of a cluster are in ascending order, so those after i are found by going back from its end.
        for a in range(truth_ptr[i], truth_ptr[i + 1]):
            c = truth_idx[a]
            for b in range(truth_t_ptr[c + 1] - 1, truth_t_ptr[c] - 1, -1):
                j = truth_t_idx[b]
                if j <= i:
                    break
                if in_truth[j] == 0:
                    touched[n_touched] = j
                    n_touched += 1
                in_truth[j] += 1
        for a in range(found_ptr[i], found_ptr[i + 1]):
            c = found_idx[a]
            for b in range(found_t_ptr[c + 1] - 1, found_t_ptr[c] - 1, -1):
                j = found_t_idx[b]
                if j <= i:
                    break
                if in_truth[j] == 0 and in_found[j] == 0:
                    touched[n_touched] = j
                    n_touched += 1
                in_found[j] += 1
        for a in range(n_touched):
            j = touched[a]
            table[in_truth[j], in_found[j]] += size[i] * size[j]
            in_truth[j] = 0
            in_found[j] = 0
    return table


def _common_clusters(truth: Any, found: Any) -> np.ndarray:
    """Square table of integers: entry (s, t) is the number of pairs that share s clusters in truth and t in found."""
    left, right = _membership(truth, "truth"), _membership(found, "found")
    if left.shape[0] != right.shape[0]:
        raise InputError(f"truth and found must have one row per document, got {left.shape[0]} and {right.shape[0]}")
    n = left.shape[0]
    if n < 2:
        raise InputError(f"pairs need at least two documents, got {n}")
    # Documents with the same clusters on both sides are of one kind: pairs of kinds, weighted by size, are far fewer.
    kinds: dict[tuple[bytes, bytes], list[int]] = {}
    for d in range(n):
        in_left = left.indices[left.indptr[d] : left.indptr[d + 1]].tobytes()
        in_right = right.indices[right.indptr[d] : right.indptr[d + 1]].tobytes()
        kinds.setdefault((in_left, in_right), []).append(d)
    size = np.array([len(members) for members in kinds.values()], np.int64)
    first = np.array([members[0] for members in kinds.values()], np.int64)
    arguments: list[np.ndarray] = []
    for matrix in (left[first], right[first]):
        across = matrix.T.tocsr()
        across.sort_indices()
        arguments += [matrix.indptr, matrix.indices, across.indptr, across.indices]
    table = _count_common(*(a.astype(np.int64) for a in arguments), size)
    in_truth, in_found = np.diff(left.indptr)[first], np.diff(right.indptr)[first]
    np.add.at(table, (in_truth, in_found), size * (size - 1) // 2)  # pairs of one kind share all their clusters
    table[0, 0] += n * (n - 1) // 2 - int(table.sum())
    return table


def _membership(matrix: Any, name: str) -> sparse.csr_array:
    try:
        result = sparse.csr_array(matrix, copy=True)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a 0-1 matrix, documents x clusters, got {type(matrix).__name__}") from None
    if result.ndim != 2:
        raise InputError(f"{name} must be a 0-1 matrix, documents x clusters, got {result.ndim} dimension(s)")
    result.sum_duplicates()
    result.eliminate_zeros()
    if result.nnz and not (result.data == 1).all():
        raise InputError(f"{name} must contain only 0 and 1, got {result.data[result.data != 1][0]}")
    return result


def break_even(y: Any, scores: Any) -> float:
    """Compute the break-even point of a ranking: the precision where it equals recall.

    This is the precision of the n documents with the highest scores, where n is the number of positive documents. If
    several documents are tied for the last places, the value is the mean over all choices among them.

    Parameters
    ----------
    y : array-like of shape (n_documents,)
        True or 1 for positive documents.
    scores : array-like of shape (n_documents,)
        Scores of the documents; higher means more likely positive.

    Returns
    -------
    float
        A share from 0 to 1; higher is better.

    Raises
    ------
    InputError
        If `y` and `scores` do not match, or no document is positive.

    See Also
    --------
    pairwise_scores : Precision and recall of clusters.

    Examples
    --------
    >>> from topicfold.metrics import break_even
    >>> break_even([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.5
    """
    positive, values = np.asarray(y), np.asarray(scores, dtype=np.float64)
    if positive.ndim != 1 or positive.shape != values.shape:
        raise InputError(f"y {positive.shape} and scores {values.shape} must be two lists of the same length")
    if not np.isin(positive, (0, 1)).all():
        raise InputError("y must contain only 0 and 1")
    if np.isnan(values).any():
        raise InputError("scores must be numbers, got nan")
    positive = positive.astype(bool)
    n_taken = int(positive.sum())
    if n_taken == 0:
        raise InputError("y has no positive document, so recall is not defined")
    last = -np.sort(-values)[n_taken - 1]
    above, level = values > last, values == last
    hits = positive[above].sum() + (n_taken - above.sum()) * positive[level].mean()
    return float(hits / n_taken)


_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31, _SHIFT_11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
