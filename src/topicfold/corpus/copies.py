"""Copies: documents with the text of an earlier document, or with nearly the same words.

All near copies are found, without comparing all pairs. A document shares at least nine tenths of its tokens with a near
copy, so it shares one of its rarest tokens, if these are more than a tenth of them; the same holds for the copy. So a
document is compared only with earlier ones with which it shares a word that is among the rarest words of both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import canonical, csr_parts, summed
from ..engine.jit import njit
from ..engine.mapped import pieces

__all__ = ["Copies", "find_copies", "without_copies"]

FEWEST_WORDS = 15  # different words of a near copy: shorter documents are often forms with other numbers


class Copies(NamedTuple):
    """Which documents are copies of earlier ones; see `Corpus.copies`.

    Attributes
    ----------
    first : ndarray of int of shape (n_documents,)
        Row of the first document that each document is a copy of; its own row if it is no copy.
    n_exact : int
        Number of exact copies.
    n_near : int
        Number of near copies.

    See Also
    --------
    Corpus.unique : The corpus without copies.

    Examples
    --------
    >>> from topicfold import Corpus
    >>> copies = Corpus.from_texts(["red fish", "blue fish", "Red  fish"], keep_texts=True).copies
    >>> copies.first.tolist(), copies.n_exact, copies.n_near
    ([0, 1, 0], 1, 0)
    """

    first: np.ndarray
    n_exact: int
    n_near: int

    @property
    def rows(self) -> np.ndarray:
        """The rows of the documents that are no copies."""
        return np.flatnonzero(self.first == np.arange(len(self.first)))


def find_copies(counts: sp.csr_array, digests: np.ndarray) -> Copies:
    """The copies among documents with these counts; exact copies have the same digest, and it is not zero."""
    counts = canonical(counts)
    exact = _first_equal(digests)
    first = _first_near(counts, exact)
    itself = np.arange(len(exact))
    n_exact = int(np.count_nonzero(exact != itself))
    return Copies(first, n_exact, int(np.count_nonzero(first != itself)) - n_exact)


def without_copies(links: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Links between the documents that are no copies, by their new rows; those of a copy become links of its first.

    >>> without_copies(np.array([[0, 2], [1, 2], [3, 0]]), np.array([0, 1, 0, 3])).tolist()
    [[1, 0], [2, 0]]
    """
    moved = first[links]
    is_moved = (moved != links).any(axis=1)
    # a link that was moved may now be one within a group of copies, or the same as another
    _, earliest, pair = np.unique(moved, axis=0, return_index=True, return_inverse=True)
    repeated = (np.bincount(pair, is_moved) > 0)[pair]
    repeated[earliest] = False
    within = is_moved & (moved[:, 0] == moved[:, 1])
    new_row = np.cumsum(first == np.arange(len(first))) - 1
    return np.asarray(new_row[moved[~repeated & ~within]])


def _first_equal(digests: np.ndarray) -> np.ndarray:
    """The first row with the digest of each row; its own row if the digest is zero."""
    _, first, inverse = np.unique(digests, return_index=True, return_inverse=True)
    return np.where(digests == b"", np.arange(len(digests)), first[inverse])


def _first_near(counts: sp.csr_array, exact: np.ndarray) -> np.ndarray:
    """The first document that each one is an exact or near copy of."""
    indptr, indices, data = csr_parts(counts)
    n_words = counts.shape[1]
    frequency = sum((np.bincount(piece, minlength=n_words) for piece in pieces(indices)), np.zeros(n_words, np.int64))
    lengths = summed(counts, 1).astype(np.int64)
    lengths[(np.diff(indptr) < FEWEST_WORDS) | (exact != np.arange(len(exact)))] = 0
    # a document has no more of its words stored than tokens looked up
    n_entries = int(np.minimum(np.diff(indptr), lengths // 10 + 1)[lengths > 0].sum())
    first = np.arange(len(exact))
    link_near_copies(indptr, indices, data, lengths, np.argsort(frequency, kind="stable"), n_entries, first)
    return first[exact]


@njit
def link_near_copies(indptr, indices, data, lengths, by_rarity, n_entries, first):
    """Set first[d] to the earliest document that d is a near copy of, and that is no near copy itself.

    sum_w min(x[w], y[w]) >= 0.9 sum_w max(x[w], y[w]), in whole numbers; documents of length 0 are left out. by_rarity
    are the words, the rarest first; n_entries is room for the rarest words of all documents.
    """
    n_words = len(by_rarity)
    rarity = np.empty(n_words, np.int32)
    rarity[by_rarity] = np.arange(n_words)
    # entries are the rarest words of each document, the rarest first; those of the same word are a chain
    newest = np.full(n_words, -1, np.int64)
    entry_before = np.empty(n_entries, np.int64)
    entry_document = np.empty(n_entries, np.int64)
    entry_rarity = np.empty(n_entries, np.int32)
    entry_count = np.empty(n_entries, np.int32)
    entries_from = np.zeros(len(first) + 1, np.int64)
    compared_with = np.full(len(first), -1, np.int64)
    query = np.zeros(n_words, np.int64)  # counts by rarity
    for d in range(len(first)):
        entries_from[d + 1] = entries_from[d]
        length = lengths[d]
        if length == 0:
            continue
        rarities = np.sort(rarity[indices[indptr[d] : indptr[d + 1]]])
        for cell in range(indptr[d], indptr[d + 1]):
            query[rarity[indices[cell]]] = np.int64(data[cell])
        n_rare, tokens = 0, 0  # a near copy shares one of these words
        while n_rare < len(rarities) and tokens <= length // 10:
            tokens += query[rarities[n_rare]]
            n_rare += 1
        # look for the earliest document that is alike
        for place in range(n_rare):
            entry = newest[rarities[place]]
            while entry >= 0:
                other = entry_document[entry]
                entry = entry_before[entry]
                if other >= first[d] or compared_with[other] == d:
                    continue
                compared_with[other] = d
                needed = (9 * (length + lengths[other]) + 18) // 19
                allowed = length + lengths[other] - 2 * needed  # tokens that are not shared
                # first by their rarest words, which are seldom shared
                i, j, end = 0, entries_from[other], entries_from[other + 1]
                while allowed >= 0 and i < len(rarities) and j < end:
                    if rarities[i] == entry_rarity[j]:
                        allowed -= abs(query[rarities[i]] - entry_count[j])
                        i += 1
                        j += 1
                    elif rarities[i] < entry_rarity[j]:
                        allowed -= query[rarities[i]]
                        i += 1
                    else:
                        allowed -= entry_count[j]
                        j += 1
                if allowed < 0:
                    continue
                shared, left = np.int64(0), lengths[other]
                for cell in range(indptr[other], indptr[other + 1]):
                    count = np.int64(data[cell])
                    shared += min(query[rarity[indices[cell]]], count)
                    left -= count
                    if shared + left < needed:
                        break
                if shared >= needed:
                    first[d] = other
        # a document that is no near copy gets entries
        if first[d] == d:
            for place in range(n_rare):
                end = entries_from[d + 1]
                entry_document[end] = d
                entry_rarity[end] = rarities[place]
                entry_count[end] = query[rarities[place]]
                entry_before[end] = newest[rarities[place]]
                newest[rarities[place]] = end
                entries_from[d + 1] += 1
        for place in range(len(rarities)):
            query[rarities[place]] = 0
