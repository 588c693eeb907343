"""Search among sparse rows through an inverted index: among all rows that share a word, or only the likeliest ones.

The approximate search looks up a query only by its rarest words, which together make up a given share of its score with
itself. The rows found in this way are scored by these words, which gives candidates; the candidates are scored in full,
and the best are kept. The rows that are found have their exact score, to the bit. Rows that share only frequent words
with the query may be missed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..engine.arrays import csr_parts
from ..engine.distributed.cluster import map_anywhere
from ..engine.jit import njit, njit_inline

__all__ = ["InvertedIndex", "keep_best", "likely_best", "query_blocks", "score_rows"]

SHARE, SHARE_OF_INTERSECTION = 0.75, 0.8  # of its score with itself; see docs/models/graph-models.md for the effect
CANDIDATES, FEWEST_CANDIDATES = 10, 50  # candidates scored in full: per requested neighbour, and at least
_ROWS_PER_BLOCK = 512  # queries per call of a kernel


# ---- kernels --------------------------------------------------------------------------------------------------------


@njit
def score_rows(indptr, indices, data, first, last, word_ptr, word_docs, word_data, begin, intersect, scores):
    """Scores of all documents for queries first..last, by an inverted index (documents and values of each word).

    scores = begin + queries @ base.T, or with `intersect` begin + sum_w min(query, base)
    """
    for d in range(first, last):
        row = scores[d - first]
        row[:] = begin
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            value = data[cell]
            if intersect:
                for p in range(word_ptr[w], word_ptr[w + 1]):
                    row[word_docs[p]] += min(value, word_data[p])
            else:
                for p in range(word_ptr[w], word_ptr[w + 1]):
                    row[word_docs[p]] += value * word_data[p]


@njit_inline
def replace_worst(columns, values, column, score):
    """Put a column in the place of the worst in a heap; among ties, the one further right is worse."""
    room = len(values)
    place = 0
    while True:
        child = 2 * place + 1
        if child >= room:
            break
        other = child + 1
        if other < room and (
            values[other] < values[child] or (values[other] == values[child] and columns[other] > columns[child])
        ):
            child = other
        if values[child] >= score and (values[child] > score or columns[child] < column):
            break
        columns[place] = columns[child]
        values[place] = values[child]
        place = child
    columns[place] = column
    values[place] = score


@njit
def keep_best(scores, least, index, best):
    """The columns with the highest scores above `least` of each row, in no order; among ties, the leftmost are kept.

    index, best: columns and scores, as many as there is room for; a free place contains (n_columns, least).
    """
    n_columns = scores.shape[1]
    for r in range(index.shape[0]):
        row, columns, values = scores[r], index[r], best[r]
        columns[:] = n_columns
        values[:] = least
        bar = least  # the worst kept score, which is at place 0 of a heap
        for start in range(0, n_columns, 64):
            stop = min(start + 64, n_columns)
            part = row[start:stop]
            if part.size == 64:  # a loop of known length can be vectorised, and mostly finds nothing
                above = 0
                for j in range(64):
                    above += part[j] > bar
                if above == 0:
                    continue
            for j in range(start, stop):
                score = row[j]
                if not score > bar:
                    continue
                replace_worst(columns, values, j, score)
                bar = values[0]


@njit
def find_candidates(
    indptr, ranks, data, rarest, word_ptr, word_docs, word_data, skip, intersect, share, scores, met, values, candidates
):
    """The documents with the best scores by only the rarest words of each query, in no order; among ties, the first.

    Words are ranked by the number of documents that have them (rarest first), and are in that order in a query (ranks).
    With looked_up the first words that make up `share` of the score of the query with itself,
    scores = queries[:, looked_up] @ base[:, looked_up].T, or sum_w min(query, base). Only documents with one of these
    words count, and not document skip + r for query r. A free place contains n_documents.

    scores: n_documents values of -inf, which are restored at the end; met, values: room for n_documents + 1 values, and
    for as many as there are candidates.
    """
    n_documents = len(scores)
    nothing = scores.dtype.type(-np.inf)
    for r in range(candidates.shape[0]):
        # the score of the query with itself
        goal = 0.0
        for cell in range(indptr[r], indptr[r + 1]):
            w = rarest[ranks[cell]]
            if word_ptr[w + 1] > word_ptr[w]:
                goal += np.float64(data[cell]) * (1.0 if intersect else np.float64(data[cell]))
        goal *= share
        # the scores by its rarest words
        reached = 0.0
        n_met = 0
        for cell in range(indptr[r], indptr[r + 1]):
            w = rarest[ranks[cell]]
            if word_ptr[w + 1] == word_ptr[w]:
                continue
            if reached >= goal:
                break
            value = data[cell]
            reached += np.float64(value) * (1.0 if intersect else np.float64(value))
            for p in range(word_ptr[w], word_ptr[w + 1]):
                document = word_docs[p]
                before = scores[document]
                more = min(value, word_data[p]) if intersect else value * word_data[p]
                met[n_met] = document
                n_met += before == nothing  # without a branch, which could not be predicted
                scores[document] = more if before == nothing else before + more
        # the best of them
        heap = candidates[r]
        heap[:] = n_documents
        values[:] = nothing
        bar = nothing
        for i in range(n_met):
            document = met[i]
            score = scores[document]
            scores[document] = nothing
            if score < bar or document == skip + r:
                continue
            if score == bar and document > heap[0]:
                continue
            replace_worst(heap, values, document, score)
            bar = values[0]


@njit
def score_candidates(
    indptr, indices, data, first, last, base_ptr, base_words, base_data, intersect, candidates, query, scores
):
    """Scores of the candidates of queries first..last, -inf at a place without one.

    scores[r, c] = queries[r] @ base[candidates[r, c]], or with `intersect` sum_w min(query, base); words are summed in
    the order of their columns, as `score_rows` does. query: zeros for all words, which are restored at the end.
    """
    n_documents = len(base_ptr) - 1
    for d in range(first, last):
        row = scores[d - first]
        for cell in range(indptr[d], indptr[d + 1]):
            query[indices[cell]] = data[cell]
        for c in range(candidates.shape[1]):
            document = candidates[d - first, c]
            if document == n_documents:
                row[c] = -np.inf
                continue
            score = row.dtype.type(0)
            for cell in range(base_ptr[document], base_ptr[document + 1]):
                value = query[base_words[cell]]
                score += min(value, base_data[cell]) if intersect else value * base_data[cell]
            row[c] = score
        for cell in range(indptr[d], indptr[d + 1]):
            query[indices[cell]] = 0


# ---- approximate search ---------------------------------------------------------------------------------------------


class InvertedIndex(NamedTuple):
    """Rows of documents, the documents of each word, and the words from the rarest to the most frequent."""

    rows: tuple[np.ndarray, np.ndarray, np.ndarray]  # indptr, words, values
    postings: tuple[np.ndarray, np.ndarray, np.ndarray]  # indptr, documents, values
    rarest: np.ndarray

    @classmethod
    def of(cls, vectors: sp.csr_array) -> InvertedIndex:
        """The index of rows in canonical form."""
        word_ptr, word_docs, word_data = csr_parts(vectors.tocsc())
        rarest = np.argsort(np.diff(word_ptr), kind="stable").astype(np.int32)
        # unsigned: no check for negative indices is needed
        return cls(csr_parts(vectors), (word_ptr, word_docs.view(np.uint32), word_data), rarest)


def likely_best(
    index: InvertedIndex, queries: sp.csr_array, n_neighbors: int, intersect: bool, skip_self: bool, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """(index, best): documents with high scores above 0 for each query, in no order; a free place is n_documents, 0."""
    n_documents, n_words = len(index.rows[0]) - 1, len(index.rarest)
    rank = np.empty(n_words, np.int32)
    rank[index.rarest] = np.arange(n_words, dtype=np.int32)
    n_candidates = min(max(CANDIDATES * n_neighbors, FEWEST_CANDIDATES), n_documents)
    search = _LikelySearch(index, rank, csr_parts(queries), n_candidates, n_neighbors, intersect, skip_self)
    results = list(map_anywhere(_likely_block, (search,), query_blocks(queries.shape[0]), n_jobs))
    return np.concatenate([documents for documents, _ in results]), np.concatenate([best for _, best in results])


class _LikelySearch(NamedTuple):
    base: InvertedIndex
    rank: np.ndarray  # of each word, from the rarest
    queries: tuple[np.ndarray, np.ndarray, np.ndarray]  # indptr, words, values
    n_candidates: int
    n_neighbors: int
    intersect: bool
    skip_self: bool


def _likely_block(search: _LikelySearch, block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """`likely_best` for some of the queries."""
    (first, last), base, (indptr, indices, data) = block, search.base, search.queries
    n_documents, n_words, n_rows, dtype = len(base.rows[0]) - 1, len(base.rarest), last - first, data.dtype
    cells = slice(int(indptr[first]), int(indptr[last]))
    parts = (data[cells].copy(), search.rank[indices[cells]], indptr[first : last + 1] - cells.start)
    by_rank = sp.csr_array(parts, (n_rows, n_words))
    by_rank.has_sorted_indices = False
    by_rank.sort_indices()
    candidates = np.empty((n_rows, search.n_candidates), np.int32)
    scores = np.full(n_documents, -np.inf, dtype)
    scratch = (scores, np.empty(n_documents + 1, np.int32), np.empty(search.n_candidates, dtype))
    skip = first if search.skip_self else -n_rows  # the document that the first query is
    share = SHARE_OF_INTERSECTION if search.intersect else SHARE
    options = (skip, search.intersect, share)
    find_candidates(*csr_parts(by_rank), base.rarest, *base.postings, *options, *scratch, candidates)
    candidates.sort(axis=1)  # so that the first of equally good ones is kept
    scores = np.empty((n_rows, search.n_candidates), dtype)
    rows = (*search.queries, first, last)
    score_candidates(*rows, *base.rows, search.intersect, candidates, np.zeros(n_words, dtype), scores)
    places, best = np.empty((n_rows, search.n_neighbors), np.int32), np.empty((n_rows, search.n_neighbors), dtype)
    keep_best(scores, dtype.type(0), places, best)
    free = np.full((n_rows, 1), n_documents, np.int32)
    return np.take_along_axis(np.hstack([candidates, free]), places, axis=1), best


def query_blocks(n_queries: int) -> list[tuple[int, int]]:
    """Blocks of queries of a fixed size."""
    return [(first, min(first + _ROWS_PER_BLOCK, n_queries)) for first in range(0, n_queries, _ROWS_PER_BLOCK)]
