"""Priors of LDA chosen on held-out documents: alpha='auto', beta='auto'.

A tenth of the documents is held out. The first point is a fit to the others with the default priors; then one prior at
a time is moved up and down as long as this predicts the halves of the held-out documents better. Each point continues
for a few steps from the end of the last one. A point must be better by more than a standard error, or the defaults are
kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import normalise_rows
from ...engine.checks import check_whole_numbers
from ...engine.distributed.cluster import gather
from ...engine.loop import State
from ...metrics.completion import completion_log_likelihood_by_document, split_tokens
from ..em.leave_one_out import document_prior, fold_in_counts, state_from
from ..em.starts import start

if TYPE_CHECKING:
    from .lda import LDA

__all__ = ["DEFAULT_ALPHA", "DEFAULT_BETA", "chosen_priors", "first_priors"]

DEFAULT_ALPHA, DEFAULT_BETA = 1.0, 0.03
_FACTOR = 3.0
_RANGE = {"alpha": (0.1, 30.0), "beta": (0.001, 0.3)}
_FIRST_STEPS, _STEPS = 40, 10
_MOST_HELD_OUT = 2_000  # documents


def first_priors(model: LDA) -> tuple[float, float]:
    """alpha and beta as given, or the defaults that a search starts from."""
    alpha = DEFAULT_ALPHA if model.alpha == "auto" else float(model.alpha)
    return alpha, DEFAULT_BETA if model.beta == "auto" else float(model.beta)


def chosen_priors(model: LDA, counts: sp.csr_array) -> State:
    """alpha and beta as given or chosen, and the values tried."""
    alpha, beta = first_priors(model)
    free = [name for name in ("alpha", "beta") if getattr(model, name) == "auto"]
    path = np.empty((0, 3))
    if free:
        check_whole_numbers(counts, f"{free[0]}='auto' (held-out tokens)")
        best, path = _search(model, counts, {"alpha": alpha, "beta": beta}, free)
        alpha, beta = best["alpha"], best["beta"]
    return {"alpha": np.array(alpha), "beta": np.array(beta), "prior_path": path}


def _search(
    model: LDA, counts: sp.csr_array, priors: dict[str, float], free: list[str]
) -> tuple[dict[str, float], np.ndarray]:
    rng = np.random.RandomState(0)  # a separate generator: the fit draws the same numbers as without a search
    order = rng.permutation(counts.shape[0])
    n_held_out = min(max(counts.shape[0] // 10, 1), _MOST_HELD_OUT)
    seen, held_out = split_tokens(counts[np.sort(order[:n_held_out])])
    training = counts[np.sort(order[n_held_out:])]
    if held_out.nnz == 0 or training.shape[0] < model.n_topics_:
        return priors, np.empty((0, 3))
    seed_counts = model._seed_counts(counts)
    state = state_from(training, *start(training, model.n_topics_, "auto", rng, model._seeds(counts)))
    frequency = training.sum(axis=0, dtype=np.float64)
    step = model._step(training, seed_counts)

    def tried(state: State, point: dict[str, float], n_steps: int) -> tuple[State, np.ndarray]:
        state = {name: array.copy() for name, array in state.items()}
        state |= {name: np.array(value) for name, value in point.items()}
        for _ in range(n_steps):
            step(state)
        gather(tuple(state.values()), forget=True)
        return state, _by_document(model, state, sp.csr_array(seen).astype(counts.dtype), held_out, frequency)

    state, scores = tried(state, priors, _FIRST_STEPS)
    rows = [[priors["alpha"], priors["beta"], scores.sum() / held_out.sum()]]
    for name in free:
        for factor in (_FACTOR, 1 / _FACTOR):
            moved = False
            while True:
                value = priors[name] * factor
                low, high = _RANGE[name]
                if not low <= value <= high:
                    break
                new_state, new_scores = tried(state, {**priors, name: value}, _STEPS)
                rows.append([*({**priors, name: value}).values(), new_scores.sum() / held_out.sum()])
                # the last point continues too: otherwise a longer fit would look like a better prior
                state, scores = tried(state, priors, _STEPS)
                gain = new_scores - scores
                if gain.sum() <= gain.std() * np.sqrt(len(gain)):
                    break
                priors, state, scores, moved = {**priors, name: value}, new_state, new_scores, True
            if moved:
                break
    return priors, np.array(rows)


def _by_document(
    model: LDA, state: State, seen: sp.csr_array, held_out: sp.csr_array, frequency: np.ndarray
) -> np.ndarray:
    topic_word = np.ascontiguousarray(normalise_rows(state["word_topic"][:, : model.n_topics_].T))
    prior = document_prior(float(state["alpha"]), state["topic_share"], float(model.focus))
    doc_topic = normalise_rows(fold_in_counts(seen, topic_word, prior, model.n_jobs, with_prior=True))
    return completion_log_likelihood_by_document(held_out, doc_topic, topic_word, frequency)[0]
