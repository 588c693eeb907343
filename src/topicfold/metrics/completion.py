"""Document completion: half of each document is observed, and the score is the log-likelihood of the rest."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from scipy import sparse

from ..engine.arrays import canonical, csr_parts
from ..engine.jit import njit, njit_fast
from ..errors import InputError
from .clustering import _MIX_1, _MIX_2, _SHIFT_11, _SHIFT_27, _SHIFT_30, _SHIFT_31

__all__ = [
    "BACKGROUND_WEIGHT",
    "completion_log_likelihood",
    "completion_log_likelihood_by_document",
    "log_likelihood",
    "mean_by_token",
    "perplexity",
    "split_tokens",
]

# A share of the probability goes to a smoothed unigram model of the training text. Otherwise a word with probability 0
# in a model would make its score minus infinity, and the smoothing of each model would decide the ranking. The share is
# the same for every model, and small enough to cost a good model only about 0.001 per token.
BACKGROUND_WEIGHT = 1e-3
_MANY = 4096  # number of tokens of one word in one document
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit
def _mix(z):
    """The output function of splitmix64: a bijection of 64-bit integers that maps neighbours far apart."""
    z = (z ^ (z >> _SHIFT_30)) * _MIX_1
    z = (z ^ (z >> _SHIFT_27)) * _MIX_2
    return z ^ (z >> _SHIFT_31)


@njit
def _draw_heldout(indptr, indices, counts, share, heldout):
    """heldout[e] = held-out tokens of entry e: floor(share n) of the n tokens of a document, each set equally likely.

    Knuth's selection sampling: the next token is held out with probability (still wanted) / (still to come). The cost
    depends on cells, not tokens: if a count is above a few thousand, the number held out, which is hypergeometric, is
    drawn from a normal distribution.
    """
    for d in range(indptr.size - 1):
        state = _GOLDEN
        to_come = 0
        for e in range(indptr[d], indptr[d + 1]):
            state = _mix((state ^ np.uint64(indices[e])) + _GOLDEN)
            state = _mix((state ^ np.uint64(counts[e])) + _GOLDEN)
            to_come += counts[e]
        n_wanted = int(np.floor(share * to_come + 1e-9))  # a share of 1 - 0.9 of 10 tokens is one token
        for e in range(indptr[d], indptr[d + 1]):
            n_drawn = 0
            if counts[e] > _MANY:
                state += _GOLDEN
                first = (np.float64(_mix(state) >> _SHIFT_11) + 0.5) * 2.0**-53
                state += _GOLDEN
                second = np.float64(_mix(state) >> _SHIFT_11) * 2.0**-53
                normal = math.sqrt(-2 * math.log(first)) * math.cos(2 * math.pi * second)
                n, chance = np.float64(counts[e]), n_wanted / np.float64(to_come)
                spread = math.sqrt(n * chance * (1 - chance) * max(to_come - n, 0.0) / max(to_come - 1.0, 1.0))
                n_drawn = int(np.floor(n * chance + spread * normal + 0.5))
                n_drawn = min(max(n_drawn, 0, n_wanted - (to_come - counts[e])), n_wanted, counts[e])
                n_wanted -= n_drawn
                to_come -= counts[e]
                heldout[e] = n_drawn
                continue
            for _ in range(counts[e]):
                state += _GOLDEN
                uniform = np.float64(_mix(state) >> _SHIFT_11) * 2.0**-53
                if uniform * to_come < n_wanted:
                    n_drawn += 1
                    n_wanted -= 1
                to_come -= 1
            heldout[e] = n_drawn


def split_tokens(counts: Any, *, observed: float = 0.5) -> tuple[Any, Any]:
    """Split the tokens of each document at random into an observed and a held-out part.

    Of n tokens, floor(n / 2) are held out by default. The seed is computed from the words and counts of the document,
    so a document is always split in the same way, alone or in any batch. A document with fewer than two tokens is in
    neither part.

    Parameters
    ----------
    counts : array or sparse matrix of shape (n_documents, n_words)
        Number of tokens of each word in each document, as whole numbers.
    observed : float, default=0.5
        Share of the tokens to observe.

    Returns
    -------
    observed : sparse array of shape (n_documents, n_words)
        Counts of the observed tokens.
    heldout : sparse array of shape (n_documents, n_words)
        Counts of the held-out tokens.

    Raises
    ------
    InputError
        If `observed` is not between 0 and 1, or the counts are not whole numbers.

    See Also
    --------
    completion_log_likelihood : How well the observed part predicts the held-out part.

    Examples
    --------
    >>> from scipy import sparse
    >>> from topicfold.metrics import split_tokens
    >>> observed, heldout = split_tokens(sparse.csr_array([[3, 0, 2], [0, 1, 0]]))
    >>> (observed + heldout).toarray()
    array([[3, 0, 2],
           [0, 0, 0]])
    >>> observed.sum(axis=1), heldout.sum(axis=1)
    (array([3, 0]), array([2, 0]))
    """
    if not 0 < observed < 1:
        raise InputError(f"observed={observed}: expected a share between 0 and 1")
    matrix = _counts(counts, "counts")
    whole = _whole(matrix, "counts")
    indptr, indices, _ = csr_parts(matrix)
    heldout = np.zeros_like(whole)
    _draw_heldout(indptr, indices, whole, 1 - observed, heldout)
    too_short = np.repeat(matrix.sum(axis=1) < 2, np.diff(indptr))
    observed_counts = np.where(too_short, 0, whole - heldout)
    form = sparse.csr_array if isinstance(counts, sparse.sparray) else sparse.csr_matrix
    halves = []
    for data in (observed_counts, heldout):
        half = form((data.astype(matrix.dtype), matrix.indices.copy(), matrix.indptr.copy()), shape=matrix.shape)
        half.eliminate_zeros()
        halves.append(half)
    return halves[0], halves[1]


@njit_fast
def _sum_log_probability(indptr, indices, counts, doc_topic, word_topic, background, share, total, skipped):
    """total_d = sum_w n_dw log((1 - share) sum_z doc_topic_dz word_topic_wz + share background_w), if P is above 0."""
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
    """Log probability of each document, and the number of its entries skipped because they have probability 0."""
    theta = _probabilities(doc_topic, "doc_topic")
    phi = _probabilities(topic_word, "topic_word")
    if (theta.shape[0], phi.shape[1]) != counts.shape or theta.shape[1] != phi.shape[0]:
        raise InputError(
            f"counts {counts.shape}, doc_topic {theta.shape} and topic_word {phi.shape} do not fit: expected "
            "documents x words, documents x topics and topics x words"
        )
    total = np.zeros(counts.shape[0])
    skipped = np.zeros(counts.shape[0], np.int64)
    data = counts.data.astype(np.float64)
    word_topic = np.ascontiguousarray(phi.T)  # the topics of a word are contiguous
    indptr, indices, _ = csr_parts(counts)
    _sum_log_probability(indptr, indices, data, theta, word_topic, background, share, total, skipped)
    return total, skipped


def completion_log_likelihood_by_document(
    heldout: Any, doc_topic: Any, topic_word: Any, word_frequency: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the log-likelihood of the held-out tokens of each document, and their number.

    The formula is that of `completion_log_likelihood`, before the mean is taken.

    Parameters
    ----------
    heldout : array or sparse matrix of shape (n_documents, n_words)
        Counts of the held-out tokens; see `split_tokens`.
    doc_topic : array-like of shape (n_documents, n_topics)
        P(z|d), inferred from the observed tokens alone.
    topic_word : array-like of shape (n_topics, n_words)
        P(w|z).
    word_frequency : array-like of shape (n_words,)
        Number of tokens of each word in the training documents.

    Returns
    -------
    sums : ndarray of shape (n_documents,)
        Sum of log P(w|d) over the held-out tokens, in nats.
    tokens : ndarray of int of shape (n_documents,)
        Number of held-out tokens.

    Raises
    ------
    InputError
        If the shapes do not match, or a value is not a count or a probability.

    See Also
    --------
    completion_log_likelihood : The mean over all documents.
    split_tokens : Splits documents into observed and held-out tokens.

    Examples
    --------
    >>> from topicfold.metrics import completion_log_likelihood_by_document
    >>> sums, tokens = completion_log_likelihood_by_document([[1, 1], [0, 0]], [[1.0], [1.0]], [[0.5, 0.5]], [5, 5])
    >>> sums.round(4), tokens
    (array([-1.3863,  0.    ]), array([2, 0]))
    """
    matrix = _counts(heldout, "heldout")
    frequency = np.asarray(word_frequency, dtype=np.float64)
    if frequency.shape != (matrix.shape[1],):
        raise InputError(f"word_frequency must have one count per word, {matrix.shape[1]}, got shape {frequency.shape}")
    if not (np.isfinite(frequency).all() and (frequency >= 0).all()):
        raise InputError("word_frequency must be finite and not negative")
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
    """Compute the mean log P(w|d) of held-out tokens: how well half of a document predicts the other half.

    P(w|d) = (1 - B) sum_z P(z|d) P(w|z) + B (n_w + 1) / (sum_v n_v + M), with n_w the frequency of word w in the
    training text, M the number of words and B = BACKGROUND_WEIGHT. Without the background, a single unseen word would
    make the value minus infinity.

    Parameters
    ----------
    heldout : array or sparse matrix of shape (n_documents, n_words)
        Counts of the held-out tokens; see `split_tokens`.
    doc_topic : array-like of shape (n_documents, n_topics)
        P(z|d), inferred from the observed tokens alone.
    topic_word : array-like of shape (n_topics, n_words)
        P(w|z).
    word_frequency : array-like of shape (n_words,)
        Number of tokens of each word in the training documents.
    per : {'token', 'document'}, default='token'
        Whether to divide by the number of held-out tokens, or by the number of documents that have any.

    Returns
    -------
    float
        The mean in nats; higher is better.

    Raises
    ------
    InputError
        If the shapes do not match, a value is not a count or a probability, or `per` is unknown.

    See Also
    --------
    split_tokens : Splits documents into observed and held-out tokens.
    perplexity : Converts the mean to perplexity.

    References
    ----------
    Wallach, H. M., Murray, I., Salakhutdinov, R. and Mimno, D. (2009). Evaluation methods for topic models. ICML.
    https://doi.org/10.1145/1553374.1553515

    Examples
    --------
    >>> from topicfold.metrics import completion_log_likelihood
    >>> round(completion_log_likelihood([[1, 1]], [[1.0]], [[0.5, 0.5]], [5, 5]), 4)
    -0.6931
    """
    if per not in ("token", "document"):
        raise InputError(f"per must be 'token' or 'document', got {per!r}")
    total, tokens = completion_log_likelihood_by_document(heldout, doc_topic, topic_word, word_frequency)
    return mean_by_token(total, tokens if per == "token" else np.minimum(tokens, 1))


def mean_by_token(total: np.ndarray, tokens: np.ndarray) -> float:
    """The mean log probability of held-out tokens, from the sum and the number of tokens of each document.

    >>> mean_by_token(np.array([-2.0, -4.0]), np.array([1, 2]))
    -2.0
    """
    n_tokens = int(tokens.sum())
    if n_tokens == 0:
        raise InputError("no document has two or more tokens, so there is no held-out token to score")
    return float(total.sum() / n_tokens)


def log_likelihood(counts: Any, doc_topic: Any, topic_word: Any) -> tuple[float, int]:
    """Compute the log-likelihood of counts: the sum over d and w of n_dw log(sum_z P(z|d) P(w|z)).

    An entry to which the model gives probability 0 is left out and counted, so that the sum stays finite.

    Parameters
    ----------
    counts : array or sparse matrix of shape (n_documents, n_words)
        Number of tokens of each word in each document.
    doc_topic : array-like of shape (n_documents, n_topics)
        P(z|d).
    topic_word : array-like of shape (n_topics, n_words)
        P(w|z).

    Returns
    -------
    total : float
        The sum, in nats.
    left_out : int
        Number of entries of `counts` that were left out.

    See Also
    --------
    completion_log_likelihood : For held-out tokens.

    Examples
    --------
    >>> from topicfold.metrics import log_likelihood
    >>> log_likelihood([[2, 1]], [[1.0]], [[1.0, 0.0]])
    (0.0, 1)
    """
    matrix = _counts(counts, "counts")
    total, skipped = _log_probability(matrix, doc_topic, topic_word, np.zeros(matrix.shape[1]), 0.0)
    return float(total.sum()), int(skipped.sum())


def perplexity(log_likelihood_per_token: float) -> float:
    """Convert a mean log-likelihood per token to perplexity: exp(-x).

    A perplexity of 100 means as much uncertainty as a choice between 100 equally likely words.

    Parameters
    ----------
    log_likelihood_per_token : float
        Mean log-likelihood in nats per token, such as the `score` of a model.

    Returns
    -------
    float
        The perplexity; lower is better.

    Raises
    ------
    InputError
        If the log-likelihood is NaN.

    See Also
    --------
    completion_log_likelihood : The mean log-likelihood of held-out tokens.

    Examples
    --------
    >>> import math
    >>> from topicfold.metrics import perplexity
    >>> round(perplexity(-math.log(100)), 6)
    100.0
    """
    if math.isnan(log_likelihood_per_token):
        raise InputError("log_likelihood_per_token must be a number, got nan")
    try:
        return math.exp(-log_likelihood_per_token)
    except OverflowError:
        return math.inf


def _counts(counts: Any, name: str) -> sparse.csr_array:
    """Checked CSR matrix with sorted, distinct, non-zero entries; a copy if anything has to be changed."""
    matrix = sparse.csr_array(counts)
    if matrix.ndim != 2:
        raise InputError(f"{name} must be a matrix, documents x words, got {matrix.ndim} dimension(s)")
    if matrix.dtype == bool:
        matrix = matrix.astype(np.int64)
    if matrix.nnz and not (np.isfinite(matrix.data).all() and matrix.data.min() >= 0):
        raise InputError(f"{name} must be finite and not negative, got {matrix.data.min()}")
    return canonical(matrix)


def _whole(matrix: sparse.csr_array, name: str) -> np.ndarray:
    result = matrix.data.astype(np.int64)
    if not (result == matrix.data).all():
        raise InputError(f"{name} must be whole numbers, got {matrix.data[result != matrix.data][0]}")
    return result


def _probabilities(matrix: Any, name: str) -> np.ndarray:
    """Dense float matrix whose rows sum to at most 1: a larger sum would make any text look likely."""
    result = np.asarray(matrix)
    if result.ndim != 2:
        raise InputError(f"{name} must be a matrix, got {result.ndim} dimension(s)")
    if result.dtype not in (np.float32, np.float64):
        result = result.astype(np.float64)
    if not (np.isfinite(result).all() and (result >= 0).all()):
        raise InputError(f"{name} must be finite and not negative")
    sums = result.sum(axis=1, dtype=np.float64)
    if (sums > 1.001).any():  # the tolerance is for float32
        row = int(sums.argmax())
        raise InputError(f"rows of {name} must sum to 1, row {row} sums to {sums[row]:.6g}")
    return np.ascontiguousarray(result)
