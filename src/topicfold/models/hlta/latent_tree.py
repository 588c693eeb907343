"""A tree of latent variables over words: exact inference, EM, and the words and documents it expects (Liu et al. 2014).

The parent of every word is a latent, and so is that of every latent except the root. For a document, only latents above
one of its words are visited (the active ones). All others send up the same message for every document, and what EM
needs of them follows from the sums of their parents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from ...engine.arrays import csr_parts
from ...engine.blocks import map_blocks, row_blocks
from ...engine.distributed.cluster import map_anywhere
from ...engine.jit import njit, njit_inline

__all__ = [
    "Inference",
    "LatentTree",
    "Sums",
    "log_factorials",
    "m_step",
    "ordered_states",
    "presence_table",
    "sample_documents",
    "state_marginals",
    "with_rates",
    "words_given_states",
]

_Parts: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]  # of a CSR matrix

_TINY = 1e-300
_VALUES_PER_BLOCK = 1 << 17  # stored counts
_NO_ROWS = np.empty((0, 0, 0), np.float32)
_FEWEST_BLOCKS = 8  # so that small corpora use several threads too
_LATENTS_PER_BLOCK = 64  # whose words are computed together


@dataclass
class LatentTree:
    """The tree and its tables. Latents are ordered so that parents come after their children; the root is last.

    `word_table` is P(word present | state of its parent), or the rate of the word's count. `table` is P(state | state
    of the parent), the root's prior in its first row. Both are padded with zeros to the largest number of states.
    """

    word_parent: np.ndarray
    parent: np.ndarray  # of latents; -1 for the root
    level: np.ndarray  # of latents, 1 above the words
    n_states: np.ndarray
    word_table: np.ndarray  # words x states
    table: np.ndarray  # latents x parent's states x states

    @property
    def n_words(self) -> int:
        return len(self.word_parent)

    @property
    def n_latents(self) -> int:
        return len(self.parent)

    @property
    def n_parent_states(self) -> np.ndarray:
        """Rows of each latent's table that are in use."""
        return np.append(self.n_states[self.parent[:-1]], 1)

    def arrays(self) -> dict[str, np.ndarray]:
        """The tree as named arrays, for a checkpoint."""
        return dict(vars(self))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> LatentTree:
        """The tree with these `arrays`."""
        return cls(**{name: arrays[name] for name in cls.__dataclass_fields__})


class _Tables(NamedTuple):
    """What `posterior_rows` needs of a tree, in the order of its arguments."""

    word_parent: np.ndarray
    parent: np.ndarray
    n_states: np.ndarray
    table: np.ndarray
    log_odds: np.ndarray  # words x states: log P(present|s) - log P(absent|s)
    empty_self: np.ndarray  # latents x states: log P(no word below z|s)
    empty_message: np.ndarray  # latents x parent's states: log P(no word below z|q)
    conditional: np.ndarray  # latents x parent's states x states: P(s|q, no word below z)


class Sums(NamedTuple):
    """What EM needs of the documents."""

    word: np.ndarray  # words x states: sum of n(d, w) P(parent's state | d)
    pair: np.ndarray  # latents x parent's states x states: expected documents
    state: np.ndarray  # latents x states: expected documents


@njit_inline
def largest(logs, z, n_states):
    """The largest of the logarithms of a latent's states."""
    top = -np.inf
    for s in range(n_states[z]):
        top = max(top, logs[z, s])
    return top


@njit
def empty_messages(parent, n_states, table, log_self, log_message, conditional):
    """The messages of latents when no word below them is present. `log_self` comes with the messages of their words.

    log_self[z, s] += log messages of the latents below z; log_message[z, q] = log sum_s P(z=s|q) exp(log_self[z, s])
    conditional[z, q, s] = P(z=s | parent's state q, nothing below)
    """
    for z in range(len(parent) - 1):
        y = parent[z]
        top = largest(log_self, z, n_states)
        for q in range(n_states[y]):
            total = 0.0
            for s in range(n_states[z]):
                conditional[z, q, s] = table[z, q, s] * np.exp(log_self[z, s] - top)
                total += conditional[z, q, s]
            total = max(total, _TINY)
            for s in range(n_states[z]):
                conditional[z, q, s] /= total
            log_message[z, q] = top + np.log(total)
            log_self[y, q] += log_message[z, q]


@njit
def posterior_rows(
    indptr,
    indices,
    data,
    first,
    last,
    word_parent,
    parent,
    n_states,
    table,
    log_odds,
    empty_self,
    empty_message,
    conditional,
    word_sum,
    pair_sum,
    active_parent_sum,
    log_likelihood,
    beliefs,
    evidence,
):
    """Posteriors of documents first..last from the active latents.

    word_sum[w, s] += n(d,w) P(parent(w)=s|d); pair_sum[z, q, s] += P(parent=q, z=s|d) and
    active_parent_sum[z, q] += P(parent=q|d) if z is active. Of all latents, if they have rows:
    beliefs[d - first, z, s] = P(z=s|d), evidence[d - first, z, s] = P(words below z|z=s) over its maximum. If
    beliefs have room for only one latent, it is the root, and nothing is sent down or summed.
    """
    n_latents, most = empty_self.shape
    root = n_latents - 1
    marked = np.zeros(n_latents, np.bool_)
    active = np.empty(n_latents, np.int64)
    log_self = np.empty((n_latents, most))
    below = np.empty((n_latents, most, most))  # P(z=s | parent's state, evidence below z)
    belief = np.empty((n_latents, most))
    for d in range(first, last):
        # the active latents, and what their words say about them
        count = 0
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            z = word_parent[w]
            while z >= 0 and not marked[z]:
                marked[z] = True
                active[count] = z
                count += 1
                for s in range(n_states[z]):
                    log_self[z, s] = empty_self[z, s]
                z = parent[z]
            y = word_parent[w]
            for s in range(n_states[y]):
                log_self[y, s] += data[cell] * log_odds[w, s]
        if not marked[root]:
            marked[root] = True
            active[count] = root
            count += 1
            for s in range(n_states[root]):
                log_self[root, s] = empty_self[root, s]
        # up: the messages of latents to their parents
        order = np.sort(active[:count])
        for a in range(count - 1):
            z = order[a]
            y = parent[z]
            top = largest(log_self, z, n_states)
            for s in range(n_states[z]):
                belief[z, s] = np.exp(log_self[z, s] - top)
            for q in range(n_states[y]):
                total = 0.0
                for s in range(n_states[z]):
                    below[z, q, s] = table[z, q, s] * belief[z, s]
                    total += below[z, q, s]
                total = max(total, _TINY)
                for s in range(n_states[z]):
                    below[z, q, s] /= total
                log_self[y, q] += top + np.log(total) - empty_message[z, q]
        # at the root: its belief, and the likelihood of the document
        top = largest(log_self, root, n_states)
        total = 0.0
        for s in range(n_states[root]):
            belief[root, s] = table[root, 0, s] * np.exp(log_self[root, s] - top)
            total += belief[root, s]
        log_likelihood[d] = top + np.log(total)
        for s in range(n_states[root]):
            belief[root, s] /= total
            pair_sum[root, 0, s] += belief[root, s]
        # down: the beliefs about latents, and the sums of EM
        if beliefs.shape[1] == 1:
            for s in range(n_states[root]):
                beliefs[d - first, 0, s] = belief[root, s]
            for a in range(count):
                marked[order[a]] = False
            continue
        for a in range(count - 2, -1, -1):
            z = order[a]
            y = parent[z]
            for s in range(n_states[z]):
                belief[z, s] = 0.0
            for q in range(n_states[y]):
                active_parent_sum[z, q] += belief[y, q]
                for s in range(n_states[z]):
                    joint = belief[y, q] * below[z, q, s]
                    pair_sum[z, q, s] += joint
                    belief[z, s] += joint
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            y = word_parent[w]
            for s in range(n_states[y]):
                word_sum[w, s] += data[cell] * belief[y, s]
        # what is asked for of all latents, active or not
        if len(beliefs) > 0:
            for z in range(n_latents - 1, -1, -1):
                if not marked[z]:
                    for s in range(n_states[z]):
                        belief[z, s] = 0.0
                        for q in range(n_states[parent[z]]):
                            belief[z, s] += belief[parent[z], q] * conditional[z, q, s]
                for s in range(n_states[z]):
                    beliefs[d - first, z, s] = belief[z, s]
        if len(evidence) > 0:
            for z in range(n_latents):
                top = -np.inf
                for s in range(n_states[z]):
                    top = max(top, log_self[z, s] if marked[z] else empty_self[z, s])
                for s in range(n_states[z]):
                    evidence[d - first, z, s] = np.exp((log_self[z, s] if marked[z] else empty_self[z, s]) - top)
        for a in range(count):
            marked[order[a]] = False


@njit
def complete_sums(parent, n_states, conditional, pair_sum, active_parent_sum, state_sum):
    """Add to pair_sum the documents in which a latent was not active, from the root down; state_sum is its marginal."""
    n_latents = len(parent)
    for s in range(n_states[n_latents - 1]):
        state_sum[n_latents - 1, s] = pair_sum[n_latents - 1, 0, s]
    for z in range(n_latents - 2, -1, -1):
        y = parent[z]
        for q in range(n_states[y]):
            rest = max(state_sum[y, q] - active_parent_sum[z, q], 0.0)
            for s in range(n_states[z]):
                pair_sum[z, q, s] += rest * conditional[z, q, s]
                state_sum[z, s] += pair_sum[z, q, s]


class Inference:
    """Passes over documents with one set of tables.

    `words` is a mask: the others are summed out, as if it were unknown whether they are present.
    """

    def __init__(self, tree: LatentTree, emission: str = "presence", words: np.ndarray | None = None) -> None:
        self.tree = tree
        known = np.arange(tree.word_table.shape[1]) < tree.n_states[tree.word_parent][:, None]
        table = np.where(known, tree.word_table, 0.5)
        if emission == "presence":
            log_off = np.log(np.maximum(1 - table, _TINY))
            log_on = np.log(np.maximum(table, _TINY))
        else:  # Poisson: log P(n|s) = n log rate - rate - log n!
            log_off = -table
            log_on = np.log(np.maximum(table, _TINY)) - table
        hidden = ~known if words is None else ~known | ~words[:, None]
        log_off[hidden] = log_on[hidden] = 0.0
        empty_self = np.zeros((tree.n_latents, table.shape[1]))
        np.add.at(empty_self, tree.word_parent, log_off)
        empty_message, conditional = np.zeros_like(empty_self), np.zeros_like(tree.table)
        empty_messages(tree.parent, tree.n_states, tree.table, empty_self, empty_message, conditional)
        shape = (tree.word_parent, tree.parent, tree.n_states, tree.table)
        self._tables = _Tables(*shape, log_on - log_off, empty_self, empty_message, conditional)

    def sums(self, documents: sp.csr_array, n_jobs: int | None = None) -> tuple[Sums, np.ndarray]:
        """The expected counts of EM, and the log-likelihood of each document."""
        tables, parts = self._tables, csr_parts(documents)
        log_likelihood = np.empty(documents.shape[0])

        def block(rows: tuple[int, int]) -> tuple[np.ndarray, ...]:
            return _posterior(tables, parts, rows, log_likelihood)

        results = map_blocks(block, _blocks_of(documents), n_jobs)
        word, pair, active_parent = results[0]
        for result in results[1:]:
            for total, part in zip((word, pair, active_parent), result):
                total += part
        state = np.zeros_like(tables.empty_self)
        complete_sums(tables.parent, tables.n_states, tables.conditional, pair, active_parent, state)
        return Sums(word, pair, state), log_likelihood

    def log_likelihood(self, documents: sp.csr_array, n_jobs: int | None = None) -> np.ndarray:
        """log P of each document."""
        inputs = (self._tables, csr_parts(documents))
        return np.concatenate(list(map_anywhere(_log_likelihood_block, inputs, _blocks_of(documents), n_jobs)))

    def beliefs(
        self,
        documents: sp.csr_array,
        latents: np.ndarray,
        n_jobs: int | None = None,
        *,
        state: int | None = None,
        evidence: bool = False,
    ) -> np.ndarray:
        """P(state | document) of some latents, documents x latents x states, in single precision; or of one state.

        With `evidence` it is P(the words below a latent | its state) instead, over its maximum.
        """
        n_documents, (n_latents, most) = documents.shape[0], self._tables.empty_self.shape
        result = np.empty((n_documents, len(latents), *((most,) if state is None else ())), np.float32)
        root_alone = latents.tolist() == [n_latents - 1] and not evidence
        size = max(1, _VALUES_PER_BLOCK // (1 if root_alone else n_latents))
        blocks = [(first, min(first + size, n_documents)) for first in range(0, n_documents, size)]
        job = _BeliefsJob(self._tables, csr_parts(documents), latents, state, evidence, root_alone)
        for rows, beliefs in zip(blocks, map_anywhere(_beliefs_block, (job,), blocks, n_jobs)):
            result[slice(*rows)] = beliefs
        return result


def _blocks_of(documents: sp.csr_array) -> list[tuple[int, int]]:
    return row_blocks(documents.indptr, max(_FEWEST_BLOCKS, -(-documents.nnz // _VALUES_PER_BLOCK)))


def _posterior(
    tables: _Tables,
    parts: _Parts,
    rows: tuple[int, int],
    log_likelihood: np.ndarray,
    beliefs: np.ndarray = _NO_ROWS,
    evidence: np.ndarray = _NO_ROWS,
) -> tuple[np.ndarray, ...]:
    """The sums of some rows of documents, as computed by `posterior_rows`."""
    sums = (np.zeros_like(tables.log_odds), np.zeros_like(tables.table), np.zeros_like(tables.empty_self))
    posterior_rows(*parts, *rows, *tables, *sums, log_likelihood, beliefs, evidence)
    return sums


def _log_likelihood_block(tables: _Tables, parts: _Parts, rows: tuple[int, int]) -> np.ndarray:
    log_likelihood = np.empty(len(parts[0]) - 1)
    _posterior(tables, parts, rows, log_likelihood)
    return log_likelihood[slice(*rows)]


class _BeliefsJob(NamedTuple):
    tables: _Tables
    parts: _Parts  # of the documents
    latents: np.ndarray
    state: int | None
    evidence: bool
    root_alone: bool


def _beliefs_block(job: _BeliefsJob, rows: tuple[int, int]) -> np.ndarray:
    """`Inference.beliefs` of some rows."""
    n_latents, most = job.tables.empty_self.shape
    by_latent = np.zeros((rows[1] - rows[0], 1 if job.root_alone else n_latents, most), np.float32)
    outputs = (_NO_ROWS, by_latent) if job.evidence else (by_latent, _NO_ROWS)
    _posterior(job.tables, job.parts, rows, np.empty(len(job.parts[0]) - 1), *outputs)
    chosen = by_latent if job.root_alone else by_latent[:, job.latents]
    return chosen if job.state is None else chosen[:, :, job.state]


def m_step(tree: LatentTree, sums: Sums, smoothing: float, mean: np.ndarray) -> None:
    """New tables, in place. Each state gets `smoothing` pseudo-documents, which have each word as often as on average
    (`mean`) and the states of a latent equally often."""
    most = tree.word_table.shape[1]
    known = np.arange(most) < tree.n_states[tree.word_parent][:, None]
    totals = sums.state[tree.word_parent] + smoothing
    tree.word_table = np.where(known, (sums.word + smoothing * mean[:, None]) / np.maximum(totals, _TINY), 0.0)
    cells = sums.pair + smoothing / tree.n_states[:, None, None]
    cells[np.arange(most) >= tree.n_states[:, None, None] + np.zeros((1, most, 1), int)] = 0
    cells[np.arange(most) >= tree.n_parent_states[:, None]] = 0
    rows = cells.sum(axis=2, keepdims=True)
    tree.table = np.where(rows > 0, cells / np.maximum(rows, _TINY), tree.table)


def state_marginals(tree: LatentTree) -> np.ndarray:
    """P(state) of each latent, latents x states."""
    marginal = np.zeros((tree.n_latents, tree.table.shape[2]))
    marginal[-1] = tree.table[-1, 0]
    for z in range(tree.n_latents - 2, -1, -1):
        marginal[z] = marginal[tree.parent[z]] @ tree.table[z]
    return marginal


def ordered_states(tree: LatentTree) -> LatentTree:
    """The tree with states sorted by the expected number of words below their latent: state 0 is the background."""
    tree = replace(tree, table=tree.table.copy(), word_table=tree.word_table.copy())
    n_latents, most = tree.n_latents, tree.table.shape[2]
    expected = np.zeros((n_latents, most))
    np.add.at(expected, tree.word_parent, tree.word_table)
    order = np.tile(np.arange(most), (n_latents, 1))
    for z in range(n_latents):
        states = tree.n_states[z]
        order[z, :states] = np.argsort(expected[z, :states], kind="stable")
        expected[z] = expected[z, order[z]]
        tree.table[z] = tree.table[z][:, order[z]]
        y = tree.parent[z]
        if y >= 0 and tree.level[y] > tree.level[z]:  # latents connected at the top are not below each other
            expected[y] += tree.table[z] @ expected[z]
    for z in range(n_latents - 1):
        tree.table[z] = tree.table[z][order[tree.parent[z]]]
    tree.word_table = np.take_along_axis(tree.word_table, order[tree.word_parent], axis=1)
    return tree


def presence_table(tree: LatentTree, emission: str) -> LatentTree:
    """The tree with P(present | state) instead of rates."""
    if emission == "presence":
        return tree
    arrays = {**tree.arrays(), "word_table": -np.expm1(-tree.word_table)}
    return LatentTree.from_arrays(arrays)


def with_rates(tree: LatentTree, documents: sp.csr_array) -> LatentTree:
    """The tree with rates instead of P(present | state): those of a Poisson variable, scaled to the mean count."""
    rates = -np.log1p(-np.minimum(tree.word_table, 1 - 1e-6))
    expected = (state_marginals(tree)[tree.word_parent] * rates).sum(axis=1)
    mean = documents.mean(axis=0, dtype=np.float64)
    scale = mean / np.maximum(expected, _TINY)
    return LatentTree.from_arrays({**tree.arrays(), "word_table": rates * scale[:, None]})


def log_factorials(documents: sp.csr_array, emission: str) -> np.ndarray:
    """Sum of log n! of each document, which the likelihood of counts is divided by."""
    if emission == "presence":
        return np.zeros(documents.shape[0])
    logs = sp.csr_array((gammaln(documents.data + 1), documents.indices, documents.indptr), documents.shape)
    return np.asarray(logs.sum(axis=1))


@njit
def spread_rows(first, last, parent, table, upward, word_parent, word_table, result):
    """result[z - first, s, w] = E[word w | latent z is in state s] for latents first..last.

    From z up to the root by P(parent|latent), then down to everything else by P(latent|parent).
    """
    n_latents, most = upward.shape[0], upward.shape[1]
    conditional = np.empty((n_latents, most, most))  # P(latent = t | z = s)
    done = np.zeros(n_latents, np.bool_)
    for z in range(first, last):
        done[:] = False
        conditional[z] = 0.0
        for s in range(most):
            conditional[z, s, s] = 1.0
        done[z] = True
        # up to the root
        y = z
        while parent[y] >= 0:
            for s in range(most):
                for t in range(most):
                    value = 0.0
                    for r in range(most):
                        value += conditional[y, s, r] * upward[y, r, t]
                    conditional[parent[y], s, t] = value
            y = parent[y]
            done[y] = True
        # down to the other latents
        for y in range(n_latents - 1, -1, -1):
            if not done[y]:
                for s in range(most):
                    for t in range(most):
                        value = 0.0
                        for r in range(most):
                            value += conditional[parent[y], s, r] * table[y, r, t]
                        conditional[y, s, t] = value
        # the words
        for w in range(len(word_parent)):
            for s in range(most):
                value = 0.0
                for t in range(most):
                    value += conditional[word_parent[w], s, t] * word_table[w, t]
                result[z - first, s, w] = value


def words_given_states(tree: LatentTree, n_jobs: int | None = None) -> np.ndarray:
    """E[word | state], latents x states x words: P(word present | state), or its rate. In single precision."""
    marginal = state_marginals(tree)
    upward = np.zeros_like(tree.table)  # P(parent's state | state)
    above = marginal[tree.parent[:-1]]
    joint = above[:, :, None] * tree.table[:-1]
    upward[:-1] = np.swapaxes(joint / np.maximum(marginal[:-1, None, :], _TINY), 1, 2)
    result = np.empty((tree.n_latents, tree.table.shape[2], tree.n_words), np.float32)

    def block(first: int) -> None:
        last = min(first + _LATENTS_PER_BLOCK, tree.n_latents)
        spread_rows(first, last, tree.parent, tree.table, upward, tree.word_parent, tree.word_table, result[first:last])

    map_blocks(block, range(0, tree.n_latents, _LATENTS_PER_BLOCK), n_jobs)
    return result


def sample_documents(tree: LatentTree, n: int, emission: str, rng: np.random.RandomState) -> sp.csr_array:
    """Documents drawn from the tree, from the root down; words in columns."""
    states = np.zeros((n, tree.n_latents), np.int64)
    for z in range(tree.n_latents - 1, -1, -1):
        above = np.zeros(n, np.int64) if tree.parent[z] < 0 else states[:, tree.parent[z]]
        upto = np.cumsum(tree.table[z], axis=1)
        drawn = (rng.random_sample(n)[:, None] >= upto[above]).sum(axis=1)
        states[:, z] = np.minimum(drawn, tree.n_states[z] - 1)
    columns = []
    for w in range(tree.n_words):  # one column at a time: documents x words would be large
        expected = tree.word_table[w][states[:, tree.word_parent[w]]]
        drawn = rng.random_sample(n) < expected if emission == "presence" else rng.poisson(expected)
        columns.append(sp.csc_array(drawn.astype(np.int64)[:, None]))
    return sp.csr_array(sp.hstack(columns, format="csr"))
