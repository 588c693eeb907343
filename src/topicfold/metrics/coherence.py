"""Topic coherence: do the best words of a topic occur together in real text?

Every measure needs only two counts: how many windows of text contain a word, and how many contain a pair of words.
`window_counts` computes both exactly, in one pass over the corpus; the measures are short formulas based on them.

Sources: u_mass from Mimno et al., "Optimizing semantic coherence in topic models" (2011), in the form of
Liu, Zhang and Chen (2014), formula 4; c_npmi and c_v from Röder, Both and Hinneburg, "Exploring the space of topic
coherence measures" (2015).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..engine.arrays import ascending, canonical
from ..engine.blocks import row_blocks
from ..engine.checks import check_whole
from ..engine.distributed.cluster import current_cluster, map_anywhere
from ..engine.jit import njit
from ..errors import InputError

__all__ = ["MEASURES", "coherence", "window_counts"]

EPSILON = 1e-12  # added to joint probabilities, so that a pair that never occurs together has a logarithm
# Topics are counted together up to this number of distinct words: the table of pairs is then 128 MB.
MAX_WORDS = 4096
_BLOCKS_ON_CLUSTER = 16  # each has a table of pairs

Tokens = tuple[np.ndarray, np.ndarray]


@njit
def _count_windows(word_ids, indptr, slot_of, window, table):
    """table[a, b] + table[b, a] = windows with both words a and b (slots); table[a, a] = windows with a.

    A token at position p of a document with T windows is in windows max(0, p - window + 1) to min(p, T - 1). For each
    word in the window, the time since which it has been present is stored. When a word leaves, the time it has spent
    together with each word still present is added to that pair, so work is done once per departure, not per window.
    Returns the number of windows.
    """
    n_slots = table.shape[0]
    longest = 0
    for d in range(indptr.size - 1):
        longest = max(longest, indptr[d + 1] - indptr[d])
    slots = np.empty(longest, np.int64)  # the relevant tokens of one document ...
    places = np.empty(longest, np.int64)  # ... and their positions
    entered = np.zeros(n_slots, np.int64)
    last = np.full(n_slots, -1, np.int64)  # latest token of a present word; -1 if absent
    present = np.empty(n_slots, np.int64)
    rank = np.zeros(n_slots, np.int64)  # position of a present word in `present`
    total = 0
    for d in range(indptr.size - 1):
        start, length = indptr[d], indptr[d + 1] - indptr[d]
        n_windows = max(1, length - window + 1)
        total += n_windows
        n = 0
        for p in range(length):
            word = word_ids[start + p]
            if 0 <= word < slot_of.size and slot_of[word] >= 0:
                slots[n] = slot_of[word]
                places[n] = p
                n += 1
        n_present = 0
        oldest = 0
        for i in range(n + 1):
            # Token i enters at this time; one more iteration at the end empties the window.
            now = max(0, places[i] - window + 1) if i < n else n_windows + window
            while oldest < i and places[oldest] + 1 <= now:
                a = slots[oldest]
                if last[a] == oldest:  # otherwise the word is in the window a second time, and stays
                    time = min(places[oldest] + 1, n_windows)
                    last[a] = -1
                    n_present -= 1
                    moved = present[n_present]
                    present[rank[a]] = moved
                    rank[moved] = rank[a]
                    table[a, a] += time - entered[a]
                    for j in range(n_present):
                        b = present[j]
                        table[a, b] += time - max(entered[a], entered[b])
                oldest += 1
            if i < n:
                a = slots[i]
                if last[a] < 0:
                    entered[a] = now
                    present[n_present] = a
                    rank[a] = n_present
                    n_present += 1
                last[a] = i
    return total


def _windows_of_block(
    word_ids: np.ndarray, indptr: np.ndarray, slot_of: np.ndarray, window: int, size: int, block: tuple[int, int]
) -> tuple[int, np.ndarray]:
    first, last = block
    table = np.zeros((size, size), np.int64)
    ends = indptr[first : last + 1]
    tokens = word_ids[ends[0] : ends[-1]]
    return int(_count_windows(tokens, ends - ends[0], slot_of, window, table)), table


def window_counts(tokens: Tokens, words: Sequence[int] | np.ndarray, window: int) -> tuple[int, np.ndarray]:
    """Count in how many sliding windows pairs of words occur together.

    A document of n tokens has n - window + 1 windows, or one if it is not longer than the window. The counts are exact.

    Parameters
    ----------
    tokens : tuple of (word_ids, indptr)
        Two arrays of int: the word ids of all documents in reading order, and where each document starts, so that
        document d is word_ids[indptr[d]:indptr[d + 1]]. An id of -1 is a token outside the vocabulary; it still counts
        as a token of the window.
    words : sequence of int
        Ids of the words to count.
    window : int
        Length of the window, in tokens.

    Returns
    -------
    n_windows : int
        Number of windows.
    together : ndarray of int of shape (n_words, n_words)
        Entry (i, j) is the number of windows that contain words[i] and words[j]; entry (i, i) is the number of windows
        that contain words[i].

    Raises
    ------
    InputError
        If words are not distinct ids, or the tokens are not valid.

    See Also
    --------
    coherence : Measures that use these counts.

    Examples
    --------
    >>> import numpy as np
    >>> from topicfold.metrics import window_counts
    >>> n_windows, together = window_counts((np.array([0, 1, 0, 2]), np.array([0, 4])), [0, 1, 2], window=2)
    >>> n_windows
    3
    >>> together
    array([[3, 2, 1],
           [2, 2, 0],
           [1, 0, 1]])
    """
    word_ids, indptr = _check_tokens(tokens)
    window = check_whole("window", window)
    ids = np.asarray(words)
    if ids.size == 0:
        ids = ids.astype(np.int64)
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise InputError(f"words must be a list of integer word ids, got shape {ids.shape}, type {ids.dtype}")
    if ids.size and int(ids.min()) < 0:
        raise InputError(f"word ids must be 0 or more, got {ids.min()}")
    if np.unique(ids).size != ids.size:
        raise InputError("words must be distinct, got a repeated word id")
    # Ids larger than any in the text are in no window and need no slot: a huge id must not lead to a huge table.
    in_text = ids <= (int(word_ids.max()) if word_ids.size else -1)
    slot_of = np.full(int(ids[in_text].max()) + 1 if in_text.any() else 0, -1, np.int32)
    slot_of[ids[in_text]] = np.flatnonzero(in_text)
    table = np.zeros((ids.size, ids.size), np.int64)
    # A window longer than the longest document has the same effect as one of that length: no overflow in the kernel.
    window = min(window, max(1, int(np.diff(indptr).max(initial=0))))
    n_windows = 0
    blocks = row_blocks(indptr, _BLOCKS_ON_CLUSTER) if current_cluster() else [(0, len(indptr) - 1)]
    for count, part in map_anywhere(_windows_of_block, (word_ids, indptr, slot_of, window, len(table)), blocks, None):
        n_windows += count
        table += part
    frequency = table.diagonal().copy()
    table += table.T.copy()
    np.fill_diagonal(table, frequency)
    return n_windows, table


def _u_mass(together: np.ndarray, n_windows: int) -> float:
    later, earlier = np.tril_indices(len(together), -1)
    # An earlier word that is in no document would mean division by zero: with 1 instead, the pair adds log(1 / 1) = 0.
    frequency = np.maximum(together.diagonal(), 1)
    return float(np.log((together[later, earlier] + 1) / frequency[earlier]).sum())


def _u_mass_gensim(together: np.ndarray, n_windows: int) -> float:
    later, earlier = np.tril_indices(len(together), -1)
    frequency = together.diagonal()[earlier]
    joint = together[later, earlier] / n_windows + EPSILON
    return float(np.where(frequency > 0, np.log(joint * n_windows / np.maximum(frequency, 1)), 0.0).mean())


def _npmi(together: np.ndarray, n_windows: int) -> np.ndarray:
    """log((p_ij + eps) / (p_i p_j)) / -log(p_ij + eps); 0 if i or j is in no window, 1 if both are in every window."""
    p = np.maximum(together.diagonal(), 1) / n_windows
    joint = together / n_windows + EPSILON
    always = together == n_windows  # would be 0 / 0; words that only occur together have NPMI 1
    scale = np.where(always, 1.0, -np.log(joint))
    npmi = np.where(always, 1.0, np.log(joint / np.outer(p, p)) / scale)
    occurs = together.diagonal() > 0
    return np.where(np.outer(occurs, occurs), npmi, 0.0)


def _c_npmi(together: np.ndarray, n_windows: int) -> float:
    return float(_npmi(together, n_windows)[np.tril_indices(len(together), -1)].mean())


def _c_v(together: np.ndarray, n_windows: int) -> float:
    context = _npmi(together, n_windows)  # row i: the context vector of word i
    whole = context.sum(axis=0)
    length = np.linalg.norm(context, axis=1) * np.linalg.norm(whole)
    return float(np.where(length > 0, context @ whole / np.where(length > 0, length, 1.0), 0.0).mean())


# name: (formula, default window; None means that each document is one window, whatever the order of its words)
MEASURES: dict[str, tuple[Callable[[np.ndarray, int], float], int | None]] = {
    "u_mass": (_u_mass, None),
    "u_mass_gensim": (_u_mass_gensim, None),
    "c_npmi": (_c_npmi, 10),
    "c_v": (_c_v, 110),
}


def coherence(
    topics: Iterable[Sequence[int] | np.ndarray],
    *,
    counts: Any = None,
    tokens: Tokens | None = None,
    measure: str = "c_npmi",
    window: int | None = None,
    skip_unseen: bool = False,
) -> np.ndarray:
    """Compute the coherence of each topic: whether its words occur together.

    With D(.) the number of documents that contain the words, N the number of documents and P(.) the share of windows
    that contain the words, over all pairs of a word w_m with a word w_l listed before it:

    - "u_mass": sum of log((D(w_m, w_l) + 1) / D(w_l)). It is a sum: compare only topics with the same number of words.
    - "u_mass_gensim": mean of log((D(w_m, w_l) / N + 1e-12) / (D(w_l) / N)).
    - "c_npmi": mean of NPMI = log((P(w_m, w_l) + 1e-12) / (P(w_m) P(w_l))) / -log(P(w_m, w_l) + 1e-12), window 10.
    - "c_v": each word gets the vector of its NPMI with every word of the topic, including itself; the measure is the
      mean cosine of these vectors with their sum, window 110.

    If a formula is not defined: a topic with fewer than two words is NaN; a pair adds 0 if the word in the denominator
    is in no window; two words that are both in every window have NPMI 1; a vector of zeros has cosine 0.

    Windows are counted exactly. gensim 4.4 drops a word from its counts when one of two equal tokens leaves the window,
    so its counts are too low and its c_npmi and c_v differ.

    Parameters
    ----------
    topics : iterable of sequence of int
        Word ids of each topic (columns of `counts`), the best first.
    counts : array or sparse matrix of shape (n_documents, n_words), default=None
        Number of tokens of each word in each document. Required by 'u_mass' and 'u_mass_gensim'.
    tokens : tuple of (word_ids, indptr), default=None
        The ordered text, in the format of `window_counts`, for 'c_npmi' and 'c_v'. None uses each document of `counts`
        as one window.
    measure : {'u_mass', 'u_mass_gensim', 'c_npmi', 'c_v'}, default='c_npmi'
        The measure.
    window : int or None, default=None
        Length of the window, in tokens. None means 10 for 'c_npmi' and 110 for 'c_v'.
    skip_unseen : bool, default=False
        Whether to leave out the words of a topic that no window contains. Use it with an external reference corpus,
        which may lack some names and word forms.

    Returns
    -------
    ndarray of shape (n_topics,)
        Coherence of each topic; higher is better.

    Raises
    ------
    InputError
        If the measure is unknown, or the counts or tokens that it needs are missing.

    See Also
    --------
    diversity : Whether topics have different words.
    window_counts : The counts behind 'c_npmi' and 'c_v'.

    References
    ----------
    Mimno, D., Wallach, H. M., Talley, E., Leenders, M. and McCallum, A. (2011). Optimizing semantic coherence in topic
    models. EMNLP. https://aclanthology.org/D11-1024

    Röder, M., Both, A. and Hinneburg, A. (2015). Exploring the space of topic coherence measures. WSDM.
    https://doi.org/10.1145/2684822.2685324

    Examples
    --------
    >>> import numpy as np
    >>> from topicfold.metrics import coherence
    >>> counts = np.array([[1, 1, 0], [2, 1, 0], [0, 0, 1], [1, 0, 1]])
    >>> coherence([[0, 1], [0, 2]], counts=counts, measure="u_mass").round(3)
    array([ 0.   , -0.405])
    >>> coherence([[0, 1], [0, 2]], counts=counts, measure="c_npmi").round(3)
    array([ 0.415, -0.292])
    >>> coherence([[0, 1, 7]], tokens=([0, 1, 2], [0, 3]), skip_unseen=True)
    array([1.])
    """
    if measure not in MEASURES:
        raise InputError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
    formula, default_window = MEASURES[measure]
    if window is not None and (tokens is None or default_window is None):
        raise InputError(f"window={window!r} needs the ordered text: pass tokens, and measure c_npmi or c_v")
    n_words: int | None = None
    if tokens is not None and default_window is not None:
        text, width = _check_tokens(tokens), check_whole("window", default_window if window is None else window)
    elif counts is None:
        raise InputError(f"measure {measure!r} needs counts{'' if default_window is None else ' or tokens'}, got none")
    else:
        text, n_words = _documents_as_windows(counts)
        width = max(1, int(np.diff(text[1]).max(initial=0)))
    if len(text[1]) < 2:
        raise InputError("coherence needs at least one document, got 0")

    checked = [_check_topic(topic, t, n_words) for t, topic in enumerate(topics)]
    result = np.full(len(checked), np.nan)
    for group in _groups([t for t, topic in enumerate(checked) if topic.size > 1], checked):
        words = np.unique(np.concatenate([checked[t] for t in group]))
        n_windows, together = window_counts(text, words, width)
        for t in group:
            slots = np.searchsorted(words, checked[t])
            if skip_unseen:
                slots = slots[together.diagonal()[slots] > 0]
                if len(slots) < 2:
                    continue
            result[t] = formula(together[np.ix_(slots, slots)], n_windows)
    return result


def _groups(numbers: list[int], topics: list[np.ndarray]) -> Iterator[list[int]]:
    """Groups of topics with at most MAX_WORDS distinct words; each needs one pass over the text. Mostly one group."""
    group: list[int] = []
    words: set[int] = set()
    for t in numbers:
        topic_words = set(topics[t].tolist())
        if group and len(words | topic_words) > MAX_WORDS:
            yield group
            group, words = [], set()
        group.append(t)
        words |= topic_words
    if group:
        yield group


def _documents_as_windows(counts: Any) -> tuple[Tokens, int]:
    """Each document as a text that contains each of its words once, and the number of words."""
    matrix = sparse.csr_array(counts)
    if matrix.ndim != 2:
        raise InputError(f"counts must be a matrix, documents x words, got {matrix.ndim} dimension(s)")
    if matrix.nnz and not (np.isfinite(matrix.data).all() and matrix.data.min() >= 0):
        raise InputError("counts must be finite and not negative")
    matrix = canonical(matrix)
    return (matrix.indices, matrix.indptr.astype(np.int64)), matrix.shape[1]


def _check_tokens(tokens: Tokens) -> Tokens:
    if not isinstance(tokens, tuple | list) or len(tokens) != 2:
        raise InputError(f"tokens must be a pair (word_ids, indptr), got {type(tokens).__name__}")
    word_ids, indptr = np.asarray(tokens[0]), np.asarray(tokens[1])
    for name, array in (("word_ids", word_ids), ("indptr", indptr)):
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise InputError(f"tokens: {name} must be a 1-d array of int, got shape {array.shape}, type {array.dtype}")
    if indptr.size == 0 or indptr[0] != 0 or indptr[-1] != word_ids.size or not ascending(indptr):
        raise InputError(f"tokens: indptr must increase from 0 to the number of tokens, {word_ids.size}")
    # At most two integer types, so that the kernel is compiled (and cached) at most twice.
    word_ids = np.ascontiguousarray(word_ids, np.int32 if word_ids.dtype == np.int32 else np.int64)
    return word_ids, np.ascontiguousarray(indptr, np.int64)


def _check_topic(topic: Sequence[int] | np.ndarray, number: int, n_words: int | None) -> np.ndarray:
    words = np.asarray(topic)
    if words.size == 0:
        return np.empty(0, np.int64)
    if words.ndim != 1 or words.dtype.kind not in "iu":
        raise InputError(f"topic {number} must be a list of integer word ids, got {topic!r:.80}")
    if int(words.min()) < 0 or (n_words is not None and int(words.max()) >= n_words):
        expected = "0 or more" if n_words is None else f"from 0 to {n_words - 1}"
        bad = words.min() if int(words.min()) < 0 else words.max()
        raise InputError(f"topic {number} has word id {bad}, expected ids {expected}")
    if np.unique(words).size != words.size:
        raise InputError(f"topic {number} lists a word twice: {words.tolist()}")
    return words.astype(np.int64)
