"""The course of a fit: convergence and traces of chains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..models.estimator import TopicModel
from .style import COLOURS, SMALL, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..models.ldcc.ldcc import LDCC

__all__ = ["convergence", "trace"]


def convergence(model: TopicModel) -> Figure:
    """Draw the objective before each step of a fit.

    Parameters
    ----------
    model : TopicModel
        A fitted model.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    InputError
        If the model is not fitted.

    See Also
    --------
    trace : The chains of a Gibbs sampler.
    topicfold.TopicModel.summary : The same numbers.

    Examples
    --------
    >>> from topicfold import LDA, plots
    >>> model = LDA(2, random_state=0).fit(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    >>> len(plots.convergence(model).axes)
    1
    """
    if not hasattr(model, "history_") or len(model.history_) == 0:
        raise InputError(f"this {type(model).__name__} has no history_: fit it first")
    summary = model.summary()
    history = summary.history
    figure = new_figure(6.4, 3.8)
    axes = figure.subplots()
    steps = np.arange(1, len(history) + 1)
    axes.plot(steps, history, color=COLOURS[0], linewidth=1.8, marker="o" if len(history) < 30 else "", markersize=4)
    axes.set_xlabel("iteration")
    axes.set_ylabel(f"objective ({summary.unit})")
    axes.set_title(f"{summary.name}: {len(history)} iterations, {summary.ending}", loc="left", fontsize=11)
    tidy(axes)
    return figure


def trace(model: LDCC) -> Figure:
    """Draw the joint log-likelihood of the chains of a Gibbs sampler after each sweep, with the end of burn-in.

    Parameters
    ----------
    model : LDCC
        A fitted model.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    InputError
        If the model is not a fitted LDCC.

    See Also
    --------
    convergence : The objective of an EM fit.
    topicfold.metrics.effective_sample_size : Number of independent draws that a chain is worth.

    Examples
    --------
    >>> from topicfold import LDCC, plots
    >>> texts = ["cat dog cat", "dog cat", "sun moon", "moon star sun"]
    >>> model = LDCC(2, 2, n_sweeps=20, burn_in=10, lag=2, random_state=0).fit(texts)
    >>> len(plots.trace(model).axes)
    1
    """
    chains = getattr(model, "chain_history_", None)
    if chains is None:
        raise InputError(f"this {type(model).__name__} has no chain_history_: trace is for a fitted LDCC")
    figure = new_figure(6.4, 3.8)
    axes = figure.subplots()
    for number, values in enumerate(chains):
        colour = COLOURS[number % len(COLOURS)]
        size = model.effective_sample_size_[number]
        axes.plot(np.arange(1, len(values) + 1), values, color=colour, linewidth=1.2, label=f"worth {size:.0f} draws")
    axes.axvline(model.burn_in + 0.5, color="0.6", linewidth=1, linestyle="--")
    axes.set_xlabel("sweep")
    axes.set_ylabel("joint log-likelihood (nats per token)")
    axes.set_title(f"{type(model).__name__}: {len(chains)} chains of {chains.shape[1]} sweeps", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=SMALL, loc="lower right")
    tidy(axes)
    return figure
