"""LDA whose document prior depends on metadata: alpha_d = A softmax(b + x_d B), by leave-one-out EM.

The kernels are those of the package, called for one document at a time, each with its own prior. Every few steps b and
B are fitted again by a ridge multinomial regression of the documents' expected topic counts on their metadata x. If x
carries no information, softmax(b) is the share of each topic in the corpus, and the model is LDA.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from topicfold.engine.arrays import normalise_rows, padded
from topicfold.engine.blocks import single_threaded_libraries
from topicfold.engine.jit import njit_fast
from topicfold.engine.loop import State
from topicfold.models.em.leave_one_out import (
    MainTopic,
    MainTopicTables,
    document_prior,
    fold_in_leave_one_out_rows,
    leave_one_out_rows,
    leave_one_out_step,
)
from topicfold.models.em.plsa_kernels import aligned, counts_of_seeds, renew_words_from_counts

__all__ = ["BETA", "FOCUS", "Prior", "fit_coefficients", "fold_in", "shares_of", "steps", "topics_of"]

BETA, FOCUS = 0.03, 3.0  # the defaults of LDA
REFIT = 5  # steps between two fits of the coefficients
_LEAST = 1e-12
_FOLD_IN_ITER, _FOLD_IN_TOL = 100, 1e-4  # as in the package
_REGRESSION_ITER = 25  # each regression starts from the last one


class Prior(NamedTuple):
    """The strength A of the document prior in tokens and, with metadata, the ridge on its coefficients."""

    strength: float
    ridge: float | None = None


@njit_fast
def _left_out_each(indptr, indices, data, doc_count, base, share, main, word_topic, word_sum, probability):
    """`leave_one_out_rows` with a prior for each document: base_d = A m_d, m_d = share_d."""
    for d in range(len(doc_count)):
        doc_main = MainTopic(main.focus, main.mixed, share[d], main.word_mean, main.ratio)
        leave_one_out_rows(
            indptr, indices, data, d, d + 1, doc_count, base[d], doc_main, word_topic, word_sum, probability, False
        )


@njit_fast
def _fold_in_each(indptr, indices, data, word_topic, base, share, main, doc_count, max_iter, tol):
    """`fold_in_leave_one_out_rows` with a prior for each document; computes n + base + focus r."""
    for d in range(len(doc_count)):
        doc_main = MainTopic(main.focus, main.mixed, share[d], main.word_mean, main.ratio)
        bounds = indptr[d : d + 2]
        fold_in_leave_one_out_rows(
            bounds,
            indices,
            data,
            0,
            1,
            word_topic,
            base[d : d + 1],
            doc_main,
            doc_count[d : d + 1],
            max_iter,
            tol,
            True,
        )


# ---- the regression -------------------------------------------------------------------------------------------------


def shares_of(coefficients: np.ndarray, design: np.ndarray) -> np.ndarray:
    """m_d = softmax(b + x_d B); the first row of the coefficients is b."""
    return np.asarray(softmax(coefficients[0] + design @ coefficients[1:], axis=1))


def fit_coefficients(
    topic_counts: np.ndarray, design: np.ndarray, ridge: float, start: np.ndarray | None = None
) -> np.ndarray:
    """The b and B with the largest sum_dk n_dk ln m_dk - ridge / 2 |B|^2; b is free."""
    total = topic_counts.sum()
    shape = (design.shape[1] + 1, topic_counts.shape[1])
    lengths = topic_counts.sum(axis=1)[:, None]
    if start is None:
        start = np.zeros(shape)
        start[0] = np.log(np.maximum(topic_counts.sum(axis=0) / total, _LEAST))

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        b, slopes = flat[: shape[1]], flat[shape[1] :].reshape(design.shape[1], shape[1])
        logs = log_softmax(b + design @ slopes, axis=1)
        residual = lengths * np.exp(logs) - topic_counts
        value = ridge / 2 * (slopes**2).sum() - (topic_counts * logs).sum()
        gradient = np.concatenate([residual.sum(axis=0), (design.T @ residual + ridge * slopes).ravel()])
        return value / total, gradient / total

    with single_threaded_libraries():
        optimum = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": _REGRESSION_ITER})
    return np.asarray(optimum.x).reshape(shape)


# ---- EM -------------------------------------------------------------------------------------------------------------


def steps(
    counts: sp.csr_array,
    state: State,
    n_steps: int,
    prior: Prior,
    design: np.ndarray | None = None,
    focus: float = FOCUS,
) -> State:
    """The state (doc_count, word_topic, topic_share) after `n_steps` steps; with a design also its coefficients.

    The given state is not changed.
    """
    state = {name: array.copy() for name, array in state.items()}
    n_topics = len(state["topic_share"])
    if design is None:
        step = leave_one_out_step(
            counts, n_topics, 1, prior.strength, BETA, focus, counts_of_seeds({}, 0.0, counts.dtype)
        )
        for _ in range(n_steps):
            step(state)
        return state
    assert prior.ridge is not None
    doc_count, word_topic = padded(state["doc_count"], counts.dtype), padded(state["word_topic"], counts.dtype)
    tables = MainTopicTables(counts.shape[1], n_topics, counts.dtype, 1)
    word_sum = aligned(counts.shape[1], n_topics, counts.dtype)
    probability = np.empty(np.diff(counts.indptr).max(), counts.dtype)  # of the longest document
    coefficients, no_seeds = state.get("coefficients"), counts_of_seeds({}, 0.0, counts.dtype)
    for number in range(n_steps):
        if number % REFIT == 0:
            expected = doc_count[:, :n_topics].astype(np.float64)
            coefficients = fit_coefficients(expected, design, prior.ridge, coefficients)
            share, base = _prior_tables(shares_of(coefficients, design), prior.strength, counts.dtype)
        main = tables.of(word_topic, document_prior(prior.strength, state["topic_share"], focus))
        cells = (counts.indptr, counts.indices, counts.data)
        _left_out_each(*cells, doc_count, base, share, main, word_topic, word_sum, probability)
        tokens = renew_words_from_counts(word_topic, word_sum, no_seeds, BETA, n_topics)
        state["topic_share"] = tokens / tokens.sum()
    return state | {"doc_count": doc_count, "word_topic": word_topic, "coefficients": np.asarray(coefficients)}


def topics_of(state: State) -> np.ndarray:
    """P(w|z) of a state."""
    return np.ascontiguousarray(normalise_rows(state["word_topic"][:, : len(state["topic_share"])].T))


def fold_in(
    counts: sp.csr_array, state: State, strength: float, shares: np.ndarray, focus: float = FOCUS
) -> np.ndarray:
    """P(z|d) of documents with P(w|z) fixed, each with its own prior `strength` x `shares`."""
    n_topics, dtype = len(state["topic_share"]), state["word_topic"].dtype
    word_topic = padded(topics_of(state).T, dtype)
    tables = MainTopicTables(counts.shape[1], n_topics, dtype, 1)
    main = tables.of(word_topic, document_prior(strength, state["topic_share"], focus))
    share, base = _prior_tables(shares, strength, dtype)
    doc_count = aligned(counts.shape[0], n_topics, dtype)
    cells = (counts.indptr, counts.indices, counts.data.astype(dtype))
    _fold_in_each(*cells, word_topic, base, share, main, doc_count, _FOLD_IN_ITER, _FOLD_IN_TOL)
    return np.asarray(normalise_rows(doc_count[:, :n_topics].astype(np.float64)))


def _prior_tables(shares: np.ndarray, strength: float, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    shares = np.maximum(shares, _LEAST)
    return padded(shares, np.float64), padded(strength * shares, dtype)
