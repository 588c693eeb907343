"""How HLTA's tree is built: grown level by level with EM passes between the changes, then polished by EM alone.

Both are steps of `engine.loop.iterate`: they update a state of named arrays, the tree and the progress of its growth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ...engine.loop import State, step_size
from ...engine.progress import progress
from .islands import Island, progressive_islands
from .latent_tree import Inference, LatentTree, Sums, log_factorials, m_step, ordered_states, state_marginals
from .tree_building import bridged, relocated, stacked, without_empty

if TYPE_CHECKING:
    from .hlta import HLTA

__all__ = [
    "PASSES",
    "Growth",
    "Polish",
    "learned_batch",
    "level_sizes",
]

PASSES = 5  # of EM between two changes of the tree


class Growth:
    """A pass of EM and, after every few passes, a change of the tree: words move, or a level is added.

    Changes the state in place and returns the log-likelihood per document, and whether the tree is complete.
    """

    def __init__(self, model: HLTA, documents: sp.csr_array, seed: int) -> None:
        self.model, self.documents, self.seed = model, documents, seed
        self.mean = documents.mean(axis=0, dtype=np.float64)

    def start(self) -> State:
        """The first level, bridged."""
        islands = self.islands(self.documents, 1)
        tree = self.join(stacked(None, islands, self.documents.shape[1]))
        return {**tree.arrays(), "passes": np.zeros(1, np.int64), "rounds": np.zeros(1, np.int64)}

    def __call__(self, state: State) -> tuple[float, bool]:
        tree = LatentTree.from_arrays(state)
        sums, log_likelihood = Inference(tree).sums(self.documents, self.model.n_jobs)
        m_step(tree, sums, self.model.smoothing, self.mean)
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
        model, n_top, n_levels = self.model, int((tree.level == tree.level[-1]).sum()), int(tree.level[-1])
        tree = ordered_states(tree)
        if state["rounds"][0] < model.n_relocations and n_top > 1:
            state["rounds"] += 1
            moved, n_moved = relocated(tree, self.documents, n_levels, model.n_jobs)
            if n_moved:
                smaller = without_empty(moved)
                return smaller if smaller.n_latents == moved.n_latents else self.join(smaller)
        state["rounds"][:] = 0
        if n_levels == model.n_levels or n_top <= (model.top_size if model.n_levels is None else 2):
            return None
        islands = self.islands(self.project(tree), n_levels + 1)
        if len(islands) == n_top:
            return None
        return self.join(stacked(tree, islands, tree.n_words))

    def islands(self, data: sp.csr_array | tuple[np.ndarray, np.ndarray], level: int) -> list[Island]:
        """Islands of the words, or of the latents at the top."""
        model, rng = self.model, np.random.RandomState([self.seed, level])
        options: dict[str, Any] = {"delta": model.bic_threshold, "island_size": model.island_size, "random_state": rng}
        n_variables = data[0].shape[1] if isinstance(data, tuple) else data.shape[1]
        what = "words" if level == 1 else "topics"
        # the loop of EM already has a progress bar
        with progress(f"HLTA level {level}", n_variables, verbose=model.verbose if level == 1 else False) as move:

            def report(placed: int, n_islands: int) -> None:
                move(placed, f"{n_islands:,} islands of {placed:,} {what}")

            if model.method == "pem":
                return progressive_islands(data, report=report, **options)
            from .bridged_islands import bridged_islands

            if not isinstance(data, tuple):
                data = (data.toarray() > 0).astype(np.uint8), np.full(n_variables, 2)
            return bridged_islands(*data, report=report, **options)

    def project(self, tree: LatentTree) -> sp.csr_array | tuple[np.ndarray, np.ndarray]:
        """The most likely state of each top latent in each document, as the data of the next level."""
        top = np.flatnonzero(tree.level == tree.level[-1])
        states = Inference(tree).beliefs(self.documents, top, self.model.n_jobs).argmax(axis=2)
        if self.model.method == "pem":
            return sp.csr_array((states > 0).astype(np.float64))
        return states.astype(np.uint8), tree.n_states[top]

    def join(self, tree: LatentTree) -> LatentTree:
        top = np.flatnonzero(tree.level == tree.level[-1])
        return bridged(tree, Inference(tree).beliefs(self.documents, top, self.model.n_jobs))


class Polish:
    """EM on all documents with a fixed tree: a pass or, with many documents, a pass in small batches.

    Changes the state in place and returns the log-likelihood per document before each step.
    """

    def __init__(self, model: HLTA, documents: sp.csr_array, batches: list[slice]) -> None:
        self.model, self.documents, self.batches = model, documents, batches
        self.mean = documents.mean(axis=0, dtype=np.float64)
        self.constant = log_factorials(documents, model.emission).mean()

    def __call__(self, state: State) -> float:
        tree, model = LatentTree.from_arrays(state), self.model
        total = 0.0
        for batch in self.batches:
            documents = self.documents if len(self.batches) == 1 else self.documents[batch]
            sums, log_likelihood = Inference(tree, model.emission).sums(documents, model.n_jobs)
            total += float(log_likelihood.sum())
            if len(self.batches) > 1:
                sums = self.mixed(sums, documents.shape[0], state)
            m_step(tree, sums, model.smoothing, self.mean)
        state.update(tree.arrays())
        return total / self.documents.shape[0] - self.constant

    def mixed(self, sums: Sums, n_documents: int, state: State) -> Sums:
        """Stepwise EM: the sums of this batch, scaled to all documents, mixed with those of the batches before."""
        share = step_size(int(state["batches"][0])) if "word_sum" in state else 1.0
        scale = self.documents.shape[0] / n_documents
        new = {f"{name}_sum": part * scale for name, part in sums._asdict().items()}
        for name, part in new.items():
            state[name] = part if share == 1 else (1 - share) * state[name] + share * part
        state["batches"] += 1
        return Sums(*(state[name] for name in new))


def learned_batch(
    tree: LatentTree, documents: sp.csr_array, emission: str, smoothing: float, n_before: int, n_jobs: int | None
) -> tuple[LatentTree, float]:
    """The tree after a batch of a stream, with `n_before` batches before it, and the log-likelihood per document.

    The expected sums of earlier batches, per document, are those of the tree itself.
    """
    n_documents = max(documents.shape[0], 1)
    sums, log_likelihood = Inference(tree, emission).sums(documents, n_jobs)
    share, marginal = step_size(n_before), state_marginals(tree)
    above = np.zeros((tree.n_latents, tree.table.shape[1]))
    above[-1, 0] = 1
    above[:-1] = marginal[tree.parent[:-1]][:, : above.shape[1]]
    known = Sums(marginal[tree.word_parent] * tree.word_table, above[:, :, None] * tree.table, marginal)
    mean = (1 - share) * known.word.sum(axis=1) + share * documents.mean(axis=0, dtype=np.float64)
    mixed = Sums(*(n_documents * (1 - share) * old + share * new for old, new in zip(known, sums)))
    tree = LatentTree.from_arrays({name: array.copy() for name, array in tree.arrays().items()})
    m_step(tree, mixed, smoothing, mean)
    value = log_likelihood.sum() / n_documents - log_factorials(documents, emission).mean()
    return tree, float(value)


def level_sizes(state: State) -> str:
    """The number of latents of each level."""
    return "latents " + " + ".join(f"{n:,}" for n in np.bincount(state["level"])[1:])
