"""Tempered EM (Hofmann's TEM): EM regularised as far as held-out tokens show that it helps.

It raises P(z|d) P(w|z) to a power below one in the E-step, lowered step by step for as long as that helps on tokens
held out of the training documents. Powers can be computed beforehand, so it uses the kernel of plain EM.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from ...engine.arrays import normalise_rows
from ...engine.checks import check_whole_numbers
from ...engine.loop import State
from ...errors import InputError
from ...metrics.completion import completion_log_likelihood, split_tokens
from ..em.plsa_kernels import EMStep, SeedCounts

__all__ = ["tempered_step", "tempering_state"]

_NO_SCORE = -1e300  # of held-out tokens, before the first step
_TEMPER = 0.9  # factor of the exponent when the held-out tokens stop improving
_TEMPER_PATIENCE = 3  # lowerings without a gain
_TEMPER_HELD_OUT = 0.1  # of the tokens


def tempering_state(tables: State) -> State:
    """What a tempered fit has in its state in addition to the tables that it starts from."""
    return {
        "exponent": np.array(1.0),
        "best_exponent": np.array(1.0),
        "best_score": np.array(_NO_SCORE),
        "best_doc_topic": tables["doc_topic"].copy(),
        "best_word_topic": tables["word_topic"].copy(),
        "fruitless": np.array(0),
    }


def tempered_step(
    counts: sp.csr_array, n_topics: int, n_jobs: int | None, beta: float, seed_counts: SeedCounts, tol: float
) -> Callable[[State], tuple[float, bool]]:
    """Steps of tempered EM: (held-out log-likelihood per token, done).

    As long as the held-out tokens improve, continue; otherwise go back to the best parameters and lower the exponent;
    stop when three lower exponents in a row bring no improvement.
    """
    check_whole_numbers(counts, "tempered=True")
    seen, held_out = split_tokens(counts, observed=1 - _TEMPER_HELD_OUT)
    if held_out.nnz == 0:
        raise InputError("tempered=True holds out a tenth of each document's tokens, but no document has ten tokens")
    step = EMStep(seen, n_topics, n_jobs, beta, seed_counts)
    word_frequency = seen.sum(axis=0, dtype=np.float64)

    def tempered(state: State) -> tuple[float, bool]:
        doc_topic, word_topic = state["doc_topic"], state["word_topic"]
        if state["exponent"] != 1:
            doc_topic **= state["exponent"]
            word_topic **= state["exponent"]
        step(doc_topic, word_topic)
        doc_topic[:], word_topic[:] = normalise_rows(doc_topic), normalise_rows(word_topic.T).T  # rows no token touched
        topics = np.ascontiguousarray(word_topic[:, :n_topics].T)
        score = completion_log_likelihood(held_out, doc_topic[:, :n_topics], topics, word_frequency)
        if score > state["best_score"] + tol:
            state |= {"best_score": np.array(score), "fruitless": np.array(0)}
            state["best_exponent"] = state["exponent"].copy()
            state["best_doc_topic"][:], state["best_word_topic"][:] = doc_topic, word_topic
            return score, False
        doc_topic[:], word_topic[:] = state["best_doc_topic"], state["best_word_topic"]
        if state["fruitless"] == _TEMPER_PATIENCE:
            state["exponent"] = state["best_exponent"]
            return float(state["best_score"]), True
        state |= {"exponent": state["exponent"] * _TEMPER, "fruitless": state["fruitless"] + 1}
        return float(state["best_score"]), False

    return tempered
