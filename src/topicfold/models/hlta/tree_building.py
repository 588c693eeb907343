"""Growing a latent tree: islands form a level, a level is connected to a tree, and words and latents move to where they
fit best. Between two of these changes there are a few EM passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...engine.blocks import map_blocks
from ...engine.jit import njit_fast
from ...engine.loop import State
from ...engine.progress import progress
from .islands import Island, progressive_islands
from .latent_tree import Inference, LatentTree, m_step, ordered_states, state_marginals

__all__ = ["PASSES", "Growth", "GrowthSettings", "bridged", "relocated", "stacked", "without_empty"]

PASSES = 5  # of EM between two changes of the tree

_CANDIDATES = 4  # latents that a child can move to, by mutual information
_MOVE_STEPS = 3  # of EM for the table of a moved child
_LEAST_GAIN = 1.0  # nats of all documents
_APART = 1e9  # added to the gain of a child that is less likely in its parent's topics: it moves first
_CHILDREN_PER_BLOCK = 128
_TINY = 1e-300


def stacked(below: LatentTree | None, islands: Sequence[Island], n_words: int) -> LatentTree:
    """A level of latents, one for each island, over the words (`below` is None) or the top of a tree.

    The new latents are not connected yet: their parent is the last of them, whose state is independent of theirs.
    """
    n_new = len(islands)
    states = np.array([len(island.prior) for island in islands])
    if below is None:
        below = LatentTree(
            word_parent=np.full(n_words, -1),
            parent=np.empty(0, np.int64),
            level=np.empty(0, np.int64),
            n_states=np.empty(0, np.int64),
            word_table=np.zeros((n_words, 1)),
            table=np.zeros((0, 1, 1)),
        )
    n_old = below.n_latents
    most = max(int(states.max()), below.table.shape[2])
    word_parent, word_table = below.word_parent.copy(), _padded(below.word_table, (n_words, most))
    parent = np.concatenate([below.parent, np.full(n_new, n_old + n_new - 1)])
    table = _padded(below.table, (n_old + n_new, most, most))
    for i, island in enumerate(islands):
        table[n_old + i, :, : states[i]] = island.prior
        for variable, probabilities in zip(island.variables, island.tables):
            if n_old == 0:
                word_parent[variable] = i
                word_table[variable, : states[i]] = probabilities[:, 1]
            else:
                latent = np.flatnonzero(below.level == below.level[-1])[variable]
                parent[latent] = n_old + i
                table[latent] = _padded(probabilities, (most, most))
    parent[-1] = -1
    level = np.concatenate([below.level, np.full(n_new, 1 + (below.level[-1] if n_old else 0))])
    n_states = np.concatenate([below.n_states, states]).astype(np.int64)
    tree = LatentTree(word_parent.astype(np.int64), parent.astype(np.int64), level, n_states, word_table, table)
    return _only_used_rows(tree)


def bridged(tree: LatentTree, beliefs: np.ndarray) -> LatentTree:
    """Connect the top latents by the spanning tree with the most mutual information (Chow and Liu 1968).

    `beliefs` are P(state|d) of the top latents, documents x latents x states; joint probabilities are estimated from
    their products.
    """
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    top = np.flatnonzero(tree.level == tree.level[-1])
    n_top, most = len(top), beliefs.shape[2]
    if n_top == 1:
        return tree
    n_documents = len(beliefs)
    flat = np.ascontiguousarray(beliefs.reshape(n_documents, -1), dtype=np.float32)
    joint = (flat.T @ flat).reshape(n_top, most, n_top, most).swapaxes(1, 2) / n_documents  # a, b, s, t
    single = beliefs.mean(axis=0, dtype=np.float64)
    information = _information(joint, single, single)
    np.fill_diagonal(information, 0)
    # the minimum spanning tree of distances that fall with information; none may be 0, which would mean no edge
    distance = 1 + information.max() - information
    np.fill_diagonal(distance, 0)
    spanning = minimum_spanning_tree(sp.csr_array(distance))
    root = int(information.sum(axis=1).argmax())
    order, above = breadth_first_order(spanning, root, directed=False)
    place = np.empty(n_top, np.int64)  # parents after children: the root, found first, is last
    place[order[::-1]] = top[0] + np.arange(n_top)
    moved = np.concatenate([np.arange(top[0]), place, [-1]])  # from old numbers to new; -1 stays
    new = replace(tree, parent=tree.parent.copy(), n_states=tree.n_states.copy(), table=tree.table.copy())
    new.parent[: top[0]] = moved[tree.parent[: top[0]]]
    new.word_parent = moved[tree.word_parent]
    for i, z in enumerate(place):
        new.n_states[z] = tree.n_states[top[i]]
        if i == root:
            new.parent[z] = -1
            new.table[z] = single[i]
        else:
            new.parent[z] = place[above[i]]
            cells = joint[above[i], i].astype(np.float64) + single[i] / n_documents
            new.table[z] = cells / np.maximum(cells.sum(axis=1, keepdims=True), _TINY)
    return _only_used_rows(new)


def _information(joint: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Mutual information of pairs from joint[a, b, s, t] = P(a=s, b=t), one[a, s] and other[b, t]."""
    result = np.zeros(joint.shape[:2])
    for s in range(joint.shape[2]):
        for t in range(joint.shape[3]):
            both = joint[:, :, s, t].astype(np.float64)
            expected = one[:, None, s] * other[None, :, t]
            result += both * np.log(np.maximum(both, _TINY) / np.maximum(expected, _TINY))
    return np.maximum(result, 0)


@njit_fast
def move_gains(n_children, home, n_states, tables, evidence, beliefs, parent_states, candidates, trial, gains):
    """How much log-likelihood each child would gain below latents other than its parent, if only this child moves.

    home[i] is the parent of child i, candidates[i] are other latents. evidence[i, s, d] = P(what is below child i in d
    | its state s), beliefs[y, q, d] = P(y=q|d). The child's own part in the belief of its parent is removed first.
    trial[i, c, q, s] is a first guess of P(child's state | state of candidate c) and is improved by a few EM steps.
    """
    most, n = beliefs.shape[1], beliefs.shape[2]
    without = np.empty((most, n))  # P(parent's state | d without the child)
    total = np.empty(n)
    table = np.empty((most, evidence.shape[1]))
    expected = np.empty_like(table)
    for i in range(n_children):
        # the belief about its parent without the child
        y = home[i]
        total[:] = 0.0
        for q in range(parent_states[y]):
            without[q] = 0.0
            for s in range(n_states[i]):
                p = tables[i, q, s]
                for d in range(n):
                    without[q, d] += p * evidence[i, s, d]
            for d in range(n):
                without[q, d] = beliefs[y, q, d] / max(without[q, d], _TINY)
                total[d] += without[q, d]
        for q in range(parent_states[y]):
            for d in range(n):
                without[q, d] /= total[d]
        # the log-likelihood below its parent (c = -1) and below each candidate
        stay = 0.0
        for c in range(-1, candidates.shape[1]):
            y = home[i] if c < 0 else candidates[i, c]
            for q in range(parent_states[y]):
                for s in range(n_states[i]):
                    table[q, s] = tables[i, q, s] if c < 0 else trial[i, c, q, s]
            value = 0.0
            for step in range(_MOVE_STEPS):
                total[:] = 0.0
                for q in range(parent_states[y]):
                    for s in range(n_states[i]):
                        p = table[q, s]
                        if c < 0:
                            for d in range(n):
                                total[d] += without[q, d] * (p * evidence[i, s, d])
                        else:
                            for d in range(n):
                                total[d] += beliefs[y, q, d] * (p * evidence[i, s, d])
                # the log-likelihood
                if step == _MOVE_STEPS - 1:
                    for start in range(0, n, 16):  # one logarithm for sixteen factors
                        product = 1.0
                        for d in range(start, min(start + 16, n)):
                            product *= total[d]
                        value += np.log(max(product, _TINY))
                    break
                # a step of EM
                for d in range(n):
                    total[d] = 1 / max(total[d], _TINY)
                for q in range(parent_states[y]):
                    row = 0.0
                    for s in range(n_states[i]):
                        mass = 0.0
                        if c < 0:
                            for d in range(n):
                                mass += without[q, d] * (evidence[i, s, d] * total[d])
                        else:
                            for d in range(n):
                                mass += beliefs[y, q, d] * (evidence[i, s, d] * total[d])
                        expected[q, s] = mass * table[q, s] + 0.5
                        row += expected[q, s]
                    for s in range(n_states[i]):
                        table[q, s] = expected[q, s] / row
            if c < 0:
                stay = value
            else:
                gains[i, c] = value - stay
                for q in range(parent_states[y]):
                    for s in range(n_states[i]):
                        trial[i, c, q, s] = table[q, s]


class _Words:
    """The children of level 1, which are binary and observed."""

    def __init__(self, tree: LatentTree, documents: sp.csr_array) -> None:
        columns = sp.csc_array(documents)
        shape = columns.shape[::-1]
        self.by_word = sp.csr_array((np.ones(columns.nnz, np.float32), columns.indices, columns.indptr), shape)
        self.parent = tree.word_parent
        self.n_states = np.full(tree.n_words, 2)
        self.tables = np.stack([1 - tree.word_table, tree.word_table], axis=2)

    def evidence(self, block: np.ndarray) -> np.ndarray:
        """P(d | state) of a block of children: 1 for the observed state; children x states x documents."""
        present = self.by_word[block].toarray()
        return np.stack([1 - present, present], axis=1)

    def joint(self, block: np.ndarray, beliefs: np.ndarray) -> np.ndarray:
        """Expected documents with each state of a child and of a parent (the columns of `beliefs`)."""
        present = np.asarray(self.by_word[block] @ beliefs)
        return np.stack([beliefs.sum(axis=0) - present, present], axis=1)


class _Latents:
    """The children of a higher level: the latents one level below, whose beliefs are known."""

    def __init__(self, tree: LatentTree, latents: np.ndarray, evidence: np.ndarray, beliefs: np.ndarray) -> None:
        self._evidence = evidence.transpose(1, 2, 0)
        self._beliefs = beliefs
        self.parent = tree.parent[latents]
        self.n_states = tree.n_states[latents]
        self.tables = tree.table[latents]

    def evidence(self, block: np.ndarray) -> np.ndarray:
        """As of _Words."""
        return np.ascontiguousarray(self._evidence[block])

    def joint(self, block: np.ndarray, beliefs: np.ndarray) -> np.ndarray:
        """As of _Words."""
        of_children = self._beliefs[:, block].reshape(len(beliefs), -1)
        return (of_children.T @ beliefs).reshape(len(block), -1, beliefs.shape[1])


def relocated(
    tree: LatentTree, documents: sp.csr_array, level: int, n_jobs: int | None = None
) -> tuple[LatentTree, int]:
    """The tree with words, or latents, moved to the latents of a level that explain them best, and how many moved.

    A child belongs to a latent in whose topics it is more likely than in the background; the states of all latents must
    be in order. A gain is exact except for what the child tells about its new parent by way of its old one. In one
    round a latent gives children or takes them, never both, since gains are computed with all others in their places;
    single children move only after that. Latents that are left with nothing below them stay until `without_empty`
    removes them.
    """
    parents, below = np.flatnonzero(tree.level == level), np.flatnonzero(tree.level == level - 1)
    inference = Inference(tree)
    beliefs = inference.beliefs(documents, np.concatenate([parents, below]), n_jobs)
    children: _Words | _Latents = _Words(tree, documents)
    if level > 1:
        evidence = inference.beliefs(documents, below, n_jobs, evidence=True)
        children = _Latents(tree, below, evidence, beliefs[:, len(parents) :])
    beliefs = np.ascontiguousarray(beliefs[:, : len(parents)])
    home = np.searchsorted(parents, children.parent)
    moves = _move_options(children, home, beliefs, tree.n_states[parents], n_jobs)
    new_home, choice = _chosen_moves(moves, home, len(parents))
    moved = np.flatnonzero(new_home != home)
    new_parent, new_tables = parents[new_home[moved]], moves.tables[moved, choice[moved]]
    if level == 1:
        word_parent, word_table = tree.word_parent.copy(), tree.word_table.copy()
        word_parent[moved], word_table[moved] = new_parent, new_tables[:, :, 1]
        return replace(tree, word_parent=word_parent, word_table=word_table), len(moved)
    parent, table = tree.parent.copy(), tree.table.copy()
    parent[below[moved]], table[below[moved]] = new_parent, new_tables
    return replace(tree, parent=parent, table=table), len(moved)


class _MoveOptions(NamedTuple):
    """The most promising parents of each child."""

    gains: np.ndarray  # children x candidates: of log-likelihood; -inf if the child does not belong there
    candidates: np.ndarray  # children x candidates: numbers of parents
    tables: np.ndarray  # children x candidates x parent's states x states: P(child's state | parent's state)


def _chosen_moves(moves: _MoveOptions, home: np.ndarray, n_parents: int) -> tuple[np.ndarray, np.ndarray]:
    """The new parent of each child, and which of its candidates that is."""
    gains, candidates = moves.gains, moves.candidates
    new_home, choice = home.copy(), np.zeros(len(home), np.int64)
    size = np.bincount(home, minlength=n_parents)
    gave, took = np.zeros(n_parents, bool), np.zeros(n_parents, bool)

    def go(i: int, c: int) -> None:
        size[new_home[i]] -= 1
        new_home[i], choice[i] = candidates[i, c], c
        size[new_home[i]] += 1

    best_first = np.argsort(-gains, axis=None, kind="stable")[: int((gains > _LEAST_GAIN).sum())]
    for i, c in zip(*np.unravel_index(best_first, gains.shape)):
        to = candidates[i, c]
        if new_home[i] == home[i] and not took[home[i]] and not gave[to]:
            gave[home[i]] = took[to] = True
            go(i, c)
    for y in np.flatnonzero(size == 1):  # one child is not an island: it goes where it fits best
        i = int(np.flatnonzero(new_home == y)[0])
        c = int(np.argmax(np.where(size[candidates[i]] > 1, gains[i], -np.inf)))
        if size[candidates[i, c]] > 1 and gains[i, c] > -np.inf:
            go(i, c)
    return new_home, choice


def _move_options(
    children: _Words | _Latents,
    home: np.ndarray,
    beliefs: np.ndarray,
    parent_states: np.ndarray,
    n_jobs: int | None,
) -> _MoveOptions:
    """Where each child could move, how much it would gain there, and its tables."""
    n_documents, n_parents, most = beliefs.shape
    n_children, n_candidates = len(home), min(_CANDIDATES, n_parents)
    by_state = np.ascontiguousarray(beliefs.transpose(1, 2, 0))
    flat = beliefs.reshape(n_documents, -1)
    single = beliefs.mean(axis=0, dtype=np.float64)
    gains = np.empty((n_children, n_candidates))
    apart, fitting = np.zeros(n_children, bool), np.zeros((n_children, n_candidates), bool)
    candidates = np.empty((n_children, n_candidates), np.int64)
    tables = np.zeros((n_children, n_candidates, most, children.tables.shape[2]))

    def block(first: int) -> None:
        rows = slice(first, min(first + _CHILDREN_PER_BLOCK, n_children))
        block_children = np.arange(rows.start, rows.stop)
        joint = children.joint(block_children, flat).reshape(len(block_children), -1, n_parents, most)
        joint = joint.swapaxes(1, 2) / n_documents
        states = joint[:, 0].sum(axis=2, dtype=np.float64)
        information = _information(joint, states, single)
        # less of the child in the background of the parent than elsewhere: it is part of the parent's topics
        activity = np.arange(joint.shape[2])
        below_average = joint[:, :, :, 0] @ activity <= (states @ activity)[:, None] * single[:, 0]
        information = np.where(below_average, information, -1)
        at_home = np.arange(len(block_children)), home[rows]
        apart[rows] = ~below_average[at_home]
        information[at_home] = -2  # staying is not a move
        fitting[rows] = -np.sort(-information, axis=1)[:, :n_candidates] >= 0
        candidates[rows] = np.argsort(-information, axis=1, kind="stable")[:, :n_candidates]
        cells = np.take_along_axis(joint, candidates[rows][:, :, None, None], axis=1).swapaxes(2, 3).astype(np.float64)
        known = np.arange(cells.shape[3]) < children.n_states[rows][:, None, None, None]
        cells = np.where(known, np.maximum(cells, 0) + 0.5 / n_documents, 0)
        tables[rows] = cells / cells.sum(axis=3, keepdims=True)
        move_gains(
            len(block_children),
            home[rows],
            children.n_states[rows],
            children.tables[rows],
            children.evidence(block_children),
            by_state,
            parent_states,
            candidates[rows],
            tables[rows],
            gains[rows],
        )

    map_blocks(block, range(0, n_children, _CHILDREN_PER_BLOCK), n_jobs)
    known = np.arange(most) < parent_states[candidates][:, :, None]
    tables *= known[:, :, :, None]
    gains[apart] += _APART
    gains[~fitting] = -np.inf
    return _MoveOptions(gains, candidates, tables)


def without_empty(tree: LatentTree) -> LatentTree:
    """The tree without latents that have nothing below them; a latent with a single latent below is replaced by it.

    Top latents that are removed may have connected others: if one of them is removed, the top is left unconnected, to
    be bridged again.
    """
    parent, table, level = tree.parent.copy(), tree.table.copy(), tree.level
    top_level = level[-1]
    keep = np.ones(tree.n_latents, bool)
    for z in range(tree.n_latents):
        below = np.flatnonzero((parent == z) & keep & (level < level[z]))
        n_below = len(below) + int((tree.word_parent == z).sum())
        if n_below == 0:
            keep[z] = False
        elif n_below == 1 and len(below) == 1 and level[z] < top_level:
            table[below[0]] = table[z] @ table[below[0]]
            parent[below[0]] = parent[z]
            keep[z] = False
    if keep.all():
        return tree
    if not keep[level == top_level].all():
        marginal = state_marginals(tree)
        tops = np.flatnonzero(keep & (level == top_level))
        parent[tops] = tops[-1]
        table[tops] = marginal[tops][:, None]
        parent[tops[-1]] = -1
    number = np.append(np.cumsum(keep) - 1, -1)
    latents = np.flatnonzero(keep)
    tree = replace(
        tree,
        word_parent=number[tree.word_parent],
        parent=number[parent[latents]],
        level=level[latents],
        n_states=tree.n_states[latents],
        table=table[latents],
    )
    return _only_used_rows(tree)


def _only_used_rows(tree: LatentTree) -> LatentTree:
    """Set the rows of tables that belong to no state of the parent to zero."""
    used = np.arange(tree.table.shape[1]) < tree.n_parent_states[:, None]
    tree.table = np.where(used[:, :, None], tree.table, 0.0)
    return tree


def _padded(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    result = np.zeros(shape)
    result[tuple(slice(size) for size in array.shape)] = array
    return result


class GrowthSettings(NamedTuple):
    """The parameters of HLTA that decide how its tree grows."""

    n_levels: int | None
    top_size: int
    island_size: int
    bic_threshold: float
    method: str
    n_relocations: int
    smoothing: float
    n_jobs: int | None
    verbose: bool | None


class Growth:
    """A pass of EM and, after every few passes, a change of the tree: words move, or a level is added.

    Changes the state in place and returns the log-likelihood per document, and whether the tree is complete.
    """

    def __init__(self, settings: GrowthSettings, documents: sp.csr_array, seed: int) -> None:
        self.settings, self.documents, self.seed = settings, documents, seed
        self.mean = documents.mean(axis=0, dtype=np.float64)

    def start(self) -> State:
        """The first level, bridged."""
        islands = self.islands(self.documents, 1)
        tree = self.join(stacked(None, islands, self.documents.shape[1]))
        return {**tree.arrays(), "passes": np.zeros(1, np.int64), "rounds": np.zeros(1, np.int64)}

    def __call__(self, state: State) -> tuple[float, bool]:
        tree = LatentTree.from_arrays(state)
        sums, log_likelihood = Inference(tree).sums(self.documents, self.settings.n_jobs)
        m_step(tree, sums, self.settings.smoothing, self.mean)
        state["passes"] += 1
        done = False
        if state["passes"][0] == PASSES:
            changed = self.change(tree, state)
            tree, done = (tree, True) if changed is None else (changed, False)
            state["passes"][:] = 0
        state.update(tree.arrays())
        return float(log_likelihood.mean()), done

    def change(self, tree: LatentTree, state: State) -> LatentTree | None:
        """The tree after the next change, or None if there is none left to make."""
        settings, n_top, n_levels = self.settings, int((tree.level == tree.level[-1]).sum()), int(tree.level[-1])
        tree = ordered_states(tree)
        if state["rounds"][0] < settings.n_relocations and n_top > 1:
            state["rounds"] += 1
            moved, n_moved = relocated(tree, self.documents, n_levels, settings.n_jobs)
            if n_moved:
                smaller = without_empty(moved)
                return smaller if smaller.n_latents == moved.n_latents else self.join(smaller)
        state["rounds"][:] = 0
        if n_levels == settings.n_levels or n_top <= (settings.top_size if settings.n_levels is None else 2):
            return None
        islands = self.islands(self.project(tree), n_levels + 1)
        if len(islands) == n_top:
            return None
        return self.join(stacked(tree, islands, tree.n_words))

    def islands(self, data: sp.csr_array | tuple[np.ndarray, np.ndarray], level: int) -> list[Island]:
        """Islands of the words, or of the latents at the top."""
        settings, rng = self.settings, np.random.RandomState([self.seed, level])
        options: dict[str, Any] = {"delta": settings.bic_threshold, "island_size": settings.island_size}
        options["random_state"] = rng
        n_variables = data[0].shape[1] if isinstance(data, tuple) else data.shape[1]
        what = "words" if level == 1 else "topics"
        # the loop of EM already has a progress bar
        with progress(f"HLTA level {level}", n_variables, verbose=settings.verbose if level == 1 else False) as move:

            def report(placed: int, n_islands: int) -> None:
                move(placed, f"{n_islands:,} islands of {placed:,} {what}")

            if settings.method == "pem":
                return progressive_islands(data, report=report, **options)
            from .bridged_islands import bridged_islands

            if not isinstance(data, tuple):
                data = (data.toarray() > 0).astype(np.uint8), np.full(n_variables, 2)
            return bridged_islands(*data, report=report, **options)

    def project(self, tree: LatentTree) -> sp.csr_array | tuple[np.ndarray, np.ndarray]:
        """The most likely state of each top latent in each document, as the data of the next level."""
        top = np.flatnonzero(tree.level == tree.level[-1])
        states = Inference(tree).beliefs(self.documents, top, self.settings.n_jobs).argmax(axis=2)
        if self.settings.method == "pem":
            return sp.csr_array((states > 0).astype(np.float64))
        return states.astype(np.uint8), tree.n_states[top]

    def join(self, tree: LatentTree) -> LatentTree:
        top = np.flatnonzero(tree.level == tree.level[-1])
        return bridged(tree, Inference(tree).beliefs(self.documents, top, self.settings.n_jobs))
