"""How good is a model? Pure functions of arrays: they know nothing of any model.

Clusters against known classes (accuracy, purity; NMI and ARI are scikit-learn's own), overlapping clusters (pairwise
precision, recall and F, omega index), ranked documents (break-even), held-out text (document completion, perplexity),
topics (diversity, stability). Topic coherence is in `topicfold.coherence`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from .counts import canonical, csr_parts
from .jit import njit, njit_fast

__all__ = [
    "BACKGROUND_WEIGHT",
    "PairScores",
    "break_even",
    "clustering_accuracy",
    "completion_log_likelihood",
    "completion_log_likelihood_by_document",
    "diversity",
    "effective_sample_size",
    "log_likelihood",
    "matched_similarity",
    "omega_index",
    "pairwise_scores",
    "perplexity",
    "purity",
    "split_tokens",
    "stability",
]

# A share of the probability goes to a smoothed unigram model of the training text. A word that a model gives no
# probability would otherwise make its figure minus infinity, and each model's own smoothing would decide the ranking.
# The share is the same for every model, and small enough to cost a good model about 0.001 a token.
BACKGROUND_WEIGHT = 1e-3


# --- one cluster a document -------------------------------------------------------------------------------------------


def clustering_accuracy(labels: Iterable[Hashable], clusters: Iterable[Hashable]) -> float:
    """Share of documents whose cluster is matched to their class, under the best one-to-one matching.

    max over one-to-one maps m of clusters to classes: (1 / N) sum_d [m(cluster_d) = label_d]. Clusters beyond the
    number of classes are matched to nothing, and so are classes beyond the number of clusters.

    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 2])
    0.75
    """
    table = _contingency(labels, clusters)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def purity(labels: Iterable[Hashable], clusters: Iterable[Hashable]) -> float:
    """Share of documents that are in the commonest class of their cluster: (1 / N) sum_c max_l n(c, l).

    More clusters are never less pure, so compare at the same number of clusters only.

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
        raise ValueError(f"labels and clusters must be of one length, got {rows.size} and {columns.size}")
    if rows.size == 0:
        raise ValueError("labels and clusters are empty, expected at least one document")
    flat = np.bincount(rows * n_columns + columns, minlength=n_rows * n_columns)
    return flat.reshape(n_rows, n_columns)


def _codes(values: Iterable[Hashable], name: str) -> tuple[np.ndarray, int]:
    """Values numbered from 0 in order of appearance, and how many differ. Unlike np.unique: mixed types are fine."""
    seen: dict[Hashable, int] = {}
    items: Iterable[Hashable] = values.tolist() if isinstance(values, np.ndarray) else values
    try:
        codes = np.array([seen.setdefault(value, len(seen)) for value in items], np.int64)
    except TypeError:
        raise ValueError(f"{name} must be a flat list of hashable values, one a document") from None
    if any(isinstance(value, float) and math.isnan(value) for value in seen):
        raise ValueError(f"{name} must have a value for every document, got nan")
    return codes, len(seen)


# --- overlapping clusters ---------------------------------------------------------------------------------------------


class PairScores(NamedTuple):
    """Precision, recall and their harmonic mean over pairs of documents."""

    precision: float
    recall: float
    f: float


def pairwise_scores(truth: Any, found: Any) -> PairScores:
    """Precision, recall and F over pairs of documents; a pair is together if it shares at least one cluster.

    `truth` and `found` are 0-1 matrices, documents x clusters, dense or sparse; a document may be in several clusters
    or in none. precision = together in both / together in found, recall = together in both / together in truth,
    F = 2 precision recall / (precision + recall).

    Where there is nothing to divide by: if neither side puts a pair together they agree, and all three are 1; if
    one side does not, the undefined ratio is 0.

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
    """Agreement, corrected for chance, on how many clusters each pair of documents shares (Collins and Dent, 1988).

    (observed - expected) / (1 - expected), where observed is the share of pairs that share equally many clusters in
    both, and expected = sum_j P_truth(j) P_found(j) with P(j) the share of pairs that share j clusters. 1 is perfect,
    0 is chance; for clusterings without overlap it is the adjusted Rand index.

    Expected agreement is 1 only if all pairs share the same number of clusters on both sides; then they agree on
    every pair, and the index is 1.

    >>> omega_index([[1, 0], [1, 1], [0, 1]], [[1, 0], [1, 1], [0, 1]])
    1.0
    >>> omega_index([[1, 0], [1, 0], [0, 1], [0, 1]], [[1, 0], [0, 1], [1, 0], [0, 1]])
    -0.5
    """
    table = _common_clusters(truth, found)
    n_pairs = int(table.sum())
    observed = int(np.trace(table))
    # Python integers: the squares of pair counts pass 2**63 at about 80,000 documents.
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
        # Rows of a cluster are in rising order, so those after i are found by walking back from its end.
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
    """Square table of integers: entry (s, t) = pairs of documents that share s clusters in truth and t in found."""
    left, right = _membership(truth, "truth"), _membership(found, "found")
    if left.shape[0] != right.shape[0]:
        raise ValueError(f"truth and found must have one row a document, got {left.shape[0]} and {right.shape[0]} rows")
    n = left.shape[0]
    if n < 2:
        raise ValueError(f"pairs need at least two documents, got {n}")
    # Documents with the same clusters on both sides behave alike: pairs of kinds, weighted by size, are far fewer.
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
        raise ValueError(f"{name} must be a 0-1 matrix, documents x clusters, got {type(matrix).__name__}") from None
    if result.ndim != 2:
        raise ValueError(f"{name} must be a 0-1 matrix, documents x clusters, got {result.ndim} dimension(s)")
    result.sum_duplicates()
    result.eliminate_zeros()
    if result.nnz and not (result.data == 1).all():
        raise ValueError(f"{name} must hold only 0 and 1, got {result.data[result.data != 1][0]}")
    return result


# --- ranked documents -------------------------------------------------------------------------------------------------


def break_even(y: Any, scores: Any) -> float:
    """Precision where it equals recall: as many documents are taken, best scores first, as there are positive ones.

    `y` is true or 1 for the positive documents. Among equal scores at the end of the list any choice is as likely, and
    the value is the mean over them.

    >>> break_even([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.5
    """
    positive, values = np.asarray(y), np.asarray(scores, dtype=np.float64)
    if positive.ndim != 1 or positive.shape != values.shape:
        raise ValueError(f"y {positive.shape} and scores {values.shape} must be two lists of the same length")
    if not np.isin(positive, (0, 1)).all():
        raise ValueError("y must hold only 0 and 1")
    if np.isnan(values).any():
        raise ValueError("scores must be numbers, got nan")
    positive = positive.astype(bool)
    n_taken = int(positive.sum())
    if n_taken == 0:
        raise ValueError("y holds no positive document, so there is no recall")
    last = -np.sort(-values)[n_taken - 1]
    above, level = values > last, values == last
    found = positive[above].sum() + (n_taken - above.sum()) * positive[level].mean()
    return float(found / n_taken)


# --- document completion ----------------------------------------------------------------------------------------------

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31, _SHIFT_11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@njit
def _mix(z):
    """The output function of splitmix64: a bijection of 64-bit integers that scatters neighbours."""
    z = (z ^ (z >> _SHIFT_30)) * _MIX_1
    z = (z ^ (z >> _SHIFT_27)) * _MIX_2
    return z ^ (z >> _SHIFT_31)


@njit
def _draw_heldout(indptr, indices, counts, share, heldout):
    """heldout[e] = tokens of entry e kept back: floor(share n) of a document's n tokens, any set of them as likely.

    Knuth's selection sampling: the next token is kept back with probability (still wanted) / (still to come).
    """
    for d in range(indptr.size - 1):
        state = _GOLDEN
        to_come = 0
        for e in range(indptr[d], indptr[d + 1]):
            state = _mix((state ^ np.uint64(indices[e])) + _GOLDEN)
            state = _mix((state ^ np.uint64(counts[e])) + _GOLDEN)
            to_come += counts[e]
        wanted = int(np.floor(share * to_come + 1e-9))  # 10 tokens at a share of 1 - 0.9 are one token
        for e in range(indptr[d], indptr[d + 1]):
            kept = 0
            for _ in range(counts[e]):
                state += _GOLDEN
                uniform = np.float64(_mix(state) >> _SHIFT_11) * 2.0**-53
                if uniform * to_come < wanted:
                    kept += 1
                    wanted -= 1
                to_come -= 1
            heldout[e] = kept


def split_tokens(counts: Any, *, observed: float = 0.5) -> tuple[Any, Any]:
    """Split the tokens of each document in two halves, (observed, heldout), two matrices of the shape of `counts`.

    Of n tokens, floor(n / 2) are held out and the rest observed (or another share of them is `observed`). Which ones
    is drawn by a generator seeded by the document's own words and counts, so a document is always split in the same
    way, alone or in any batch. A document with fewer than two tokens is in neither half.

    >>> observed, heldout = split_tokens(sparse.csr_array([[3, 0, 2], [0, 1, 0]]))
    >>> (observed + heldout).toarray()
    array([[3, 0, 2],
           [0, 0, 0]])
    >>> observed.sum(axis=1), heldout.sum(axis=1)
    (array([3, 0]), array([2, 0]))
    """
    if not 0 < observed < 1:
        raise ValueError(f"observed={observed}: expected a share between 0 and 1")
    matrix = _counts(counts, "counts")
    whole = _whole(matrix, "counts")
    indptr, indices, _ = csr_parts(matrix)
    heldout = np.zeros_like(whole)
    _draw_heldout(indptr, indices, whole, 1 - observed, heldout)
    too_short = np.repeat(matrix.sum(axis=1) < 2, np.diff(indptr))
    seen = np.where(too_short, 0, whole - heldout)
    form = sparse.csr_array if isinstance(counts, sparse.sparray) else sparse.csr_matrix
    halves = []
    for data in (seen, heldout):
        half = form((data.astype(matrix.dtype), matrix.indices.copy(), matrix.indptr.copy()), shape=matrix.shape)
        half.eliminate_zeros()
        halves.append(half)
    return halves[0], halves[1]


@njit_fast
def _sum_log_probability(indptr, indices, counts, doc_topic, word_topic, background, share, total, skipped):
    """total_d = sum_w n_dw log((1 - share) sum_z doc_topic_dz word_topic_wz + share background_w), where above 0."""
    n_topics = doc_topic.shape[1]
    for d in range(indptr.size - 1):
        for e in range(indptr[d], indptr[d + 1]):
            w = indices[e]
            p = 0.0
            for z in range(n_topics):
                p += np.float64(doc_topic[d, z]) * np.float64(word_topic[w, z])
            p = (1.0 - share) * p + share * background[w]
            if p > 0.0:
                total[d] += counts[e] * math.log(p)
            else:
                skipped[d] += 1


def _log_probability(
    counts: sparse.csr_array, doc_topic: Any, topic_word: Any, background: np.ndarray, share: float
) -> tuple[np.ndarray, np.ndarray]:
    """Log probability of each document, and how many of its entries were skipped for having none."""
    theta = _probabilities(doc_topic, "doc_topic")
    phi = _probabilities(topic_word, "topic_word")
    if (theta.shape[0], phi.shape[1]) != counts.shape or theta.shape[1] != phi.shape[0]:
        raise ValueError(
            f"counts {counts.shape}, doc_topic {theta.shape} and topic_word {phi.shape} do not fit: expected "
            "documents x words, documents x topics and topics x words"
        )
    total = np.zeros(counts.shape[0])
    skipped = np.zeros(counts.shape[0], np.int64)
    data = counts.data.astype(np.float64)
    word_topic = np.ascontiguousarray(phi.T)  # the topics of a word side by side
    indptr, indices, _ = csr_parts(counts)
    _sum_log_probability(indptr, indices, data, theta, word_topic, background, share, total, skipped)
    return total, skipped


def completion_log_likelihood_by_document(
    heldout: Any, doc_topic: Any, topic_word: Any, word_frequency: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Log probability of the held-out tokens of each document, and how many there are: two arrays.

    The formula is that of `completion_log_likelihood`, before the mean is taken.

    >>> sums, tokens = completion_log_likelihood_by_document([[1, 1], [0, 0]], [[1.0], [1.0]], [[0.5, 0.5]], [5, 5])
    >>> sums.round(4), tokens
    (array([-1.3863,  0.    ]), array([2, 0]))
    """
    matrix = _counts(heldout, "heldout")
    frequency = np.asarray(word_frequency, dtype=np.float64)
    if frequency.shape != (matrix.shape[1],):
        raise ValueError(f"word_frequency must have one count a word, {matrix.shape[1]}, got shape {frequency.shape}")
    if not (np.isfinite(frequency).all() and (frequency >= 0).all()):
        raise ValueError("word_frequency must be finite and not negative")
    background = (frequency + 1) / (frequency.sum() + frequency.size)
    total, _ = _log_probability(matrix, doc_topic, topic_word, background, BACKGROUND_WEIGHT)
    tokens = np.zeros(matrix.shape[0], np.int64)
    np.add.at(tokens, np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), _whole(matrix, "heldout"))
    return total, tokens


def completion_log_likelihood(
    heldout: Any,
    doc_topic: Any,
    topic_word: Any,
    word_frequency: Any,
    *,
    per: Literal["token", "document"] = "token",
) -> float:
    """Mean natural logarithm of P(w|d) over held-out tokens: how well half a document foretells its other half.

    P(w|d) = (1 - B) sum_z P(z|d) P(w|z) + B (n_w + 1) / (sum_v n_v + M), with n_w the `word_frequency` of word w in
    the training text, M the number of words and B = BACKGROUND_WEIGHT. `doc_topic`, P(z|d), must come from the
    observed half alone (see `split_tokens`). With per="document" the sum is divided by the number of documents that
    have held-out tokens, not by the number of tokens.

    >>> round(completion_log_likelihood([[1, 1]], [[1.0]], [[0.5, 0.5]], [5, 5]), 4)
    -0.6931
    """
    if per not in ("token", "document"):
        raise ValueError(f"per must be 'token' or 'document', got {per!r}")
    total, tokens = completion_log_likelihood_by_document(heldout, doc_topic, topic_word, word_frequency)
    divisor = int(tokens.sum()) if per == "token" else int(np.count_nonzero(tokens))
    if divisor == 0:
        raise ValueError("no document has two or more tokens, so there is no held-out token to score")
    return float(total.sum() / divisor)


def log_likelihood(counts: Any, doc_topic: Any, topic_word: Any) -> tuple[float, int]:
    """sum over d and w of n_dw log(sum_z P(z|d) P(w|z)), and the number of entries left out of it.

    An entry of `counts` to which the model gives probability 0 is left out and counted, not minus infinity.

    >>> log_likelihood([[2, 1]], [[1.0]], [[1.0, 0.0]])
    (0.0, 1)
    """
    matrix = _counts(counts, "counts")
    total, skipped = _log_probability(matrix, doc_topic, topic_word, np.zeros(matrix.shape[1]), 0.0)
    return float(total.sum()), int(skipped.sum())


def perplexity(log_likelihood_per_token: float) -> float:
    """exp(-x) of a mean log-likelihood a token: as unsure as between this many equally likely words.

    >>> round(perplexity(-np.log(100)), 6)
    100.0
    """
    if math.isnan(log_likelihood_per_token):
        raise ValueError("log_likelihood_per_token must be a number, got nan")
    try:
        return math.exp(-log_likelihood_per_token)
    except OverflowError:
        return math.inf


def _counts(counts: Any, name: str) -> sparse.csr_array:
    """CSR with sorted, distinct, non-zero entries, checked; a copy if that takes any change."""
    matrix = sparse.csr_array(counts)
    if matrix.ndim != 2:
        raise ValueError(f"{name} must be a matrix, documents x words, got {matrix.ndim} dimension(s)")
    if matrix.dtype == bool:
        matrix = matrix.astype(np.int64)
    if matrix.nnz and not (np.isfinite(matrix.data).all() and matrix.data.min() >= 0):
        raise ValueError(f"{name} must be finite and not negative, got {matrix.data.min()}")
    return canonical(matrix)


def _whole(matrix: sparse.csr_array, name: str) -> np.ndarray:
    result = matrix.data.astype(np.int64)
    if not (result == matrix.data).all():
        raise ValueError(f"{name} must be whole numbers, got {matrix.data[result != matrix.data][0]}")
    return result


def _probabilities(matrix: Any, name: str) -> np.ndarray:
    """Dense float matrix with rows that sum to at most 1: more would make any text look likely."""
    result = np.asarray(matrix)
    if result.ndim != 2:
        raise ValueError(f"{name} must be a matrix, got {result.ndim} dimension(s)")
    if result.dtype not in (np.float32, np.float64):
        result = result.astype(np.float64)
    if not (np.isfinite(result).all() and (result >= 0).all()):
        raise ValueError(f"{name} must be finite and not negative")
    sums = result.sum(axis=1, dtype=np.float64)
    if (sums > 1.001).any():  # the slack is for float32
        row = int(sums.argmax())
        raise ValueError(f"rows of {name} must sum to 1, row {row} sums to {sums[row]:.6g}")
    return np.ascontiguousarray(result)


# --- topics -----------------------------------------------------------------------------------------------------------


def diversity(topics: Iterable[Sequence[Hashable]]) -> float:
    """Share of distinct words among the top words of all topics: 1 if no two topics share a word.

    >>> diversity([["ball", "team"], ["ball", "vote"]])
    0.75
    """
    words: list[Hashable] = []
    for topic in topics:
        if isinstance(topic, str):
            raise ValueError(f"a topic must be a list of words, got the single string {topic!r}")
        words.extend(topic)
    if not words:
        raise ValueError("topics hold no words, expected at least one")
    return len(set(words)) / len(words)


def matched_similarity(topic_word_a: Any, topic_word_b: Any) -> float:
    """Mean cosine similarity of the topics of two models, under the best one-to-one matching.

    max over one-to-one maps m: mean over k of cos(a_k, b_m(k)). With unequal numbers of topics, those left over are
    not counted. A topic of zeros has similarity 0 with any other.

    >>> round(matched_similarity([[1, 0], [0, 1]], [[0, 1], [1, 0]]), 6)
    1.0
    """
    return _matched(_unit_rows(topic_word_a, "topic_word_a"), _unit_rows(topic_word_b, "topic_word_b"))


def stability(topic_words: Iterable[Any]) -> float:
    """Mean of `matched_similarity` over all pairs of models: 1 if every fit found the same topics.

    >>> round(stability([[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[1, 0], [0, 1]]]), 6)
    1.0
    """
    models = [_unit_rows(topic_word, f"topic_words[{i}]") for i, topic_word in enumerate(topic_words)]
    if len(models) < 2:
        raise ValueError(f"stability needs at least two models, got {len(models)}")
    return float(np.mean([_matched(a, b) for a, b in combinations(models, 2)]))


def _matched(a: np.ndarray, b: np.ndarray) -> float:
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"models must share their words, got {a.shape[1]} and {b.shape[1]} columns")
    similarity = a @ b.T
    return float(similarity[linear_sum_assignment(similarity, maximize=True)].mean())


def _unit_rows(matrix: Any, name: str) -> np.ndarray:
    result = np.array(matrix, dtype=np.float64)
    if result.ndim != 2 or 0 in result.shape:
        raise ValueError(f"{name} must be a matrix, topics x words, not empty, got shape {result.shape}")
    if not np.isfinite(result).all():
        raise ValueError(f"{name} must be finite")
    norms = np.linalg.norm(result, axis=1, keepdims=True)
    return result / np.where(norms > 0, norms, 1.0)


# --- samples ----------------------------------------------------------------------------------------------------------


def effective_sample_size(trace: Any) -> float:
    """How many independent draws the mean of a Markov chain is worth: n / (1 + 2 sum of autocorrelations).

    Autocorrelations are summed in pairs as long as the pairs are positive (Geyer 1992).

    >>> effective_sample_size([1.0, 2.0, 1.0, 2.0, 1.0, 2.0]) >= 6
    True
    >>> effective_sample_size(range(100)) < 5
    True
    """
    values = np.asarray(trace, dtype=np.float64)
    n = len(values)
    centred = values - values.mean() if n else values
    if n < 4 or np.abs(centred).max() <= 1e-12 * np.abs(values).max():
        return float(n)
    spectrum = np.fft.rfft(centred, 2 * n)
    correlation = np.fft.irfft(spectrum * spectrum.conj())[:n]
    correlation /= correlation[0]
    pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)
    ended = np.flatnonzero(pairs <= 0)
    total = 2 * pairs[: ended[0] if len(ended) else None].sum() - 1
    return float(n / max(total, 1 / n))
