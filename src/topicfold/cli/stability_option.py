"""The option --stability of commands that fit or show a model: refits, at a cost that is said first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .messages import say

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus
    from ..models.estimator import TopicModel

__all__ = ["measure_stability", "stability_option"]

_SELDOM = 0.5  # share of the refits
_SHOWN = 12

stability_option = click.option(
    "--stability",
    type=click.IntRange(1),
    metavar="N",
    help="Also measure how often each topic comes back in N fits to half of the documents each, such as 5. This takes "
    "about N/2 times as long as the fit.",
)


def measure_stability(
    model: TopicModel,
    corpus: Corpus,
    n_refits: int,
    n_jobs: int | None,
    seconds: float | None = None,
    inputs: dict[str, Any] | None = None,
) -> None:
    """Measure the stability of the topics of a model; say what it costs and which topics seldom came back."""
    times = f"about {n_refits / 2:g} times as long as the fit"
    cost = times if seconds is None else f"{times}, {n_refits / 2 * seconds:,.0f} s"
    say(f"stability: {n_refits} fits to half of the documents each; this takes {cost}")
    model.measure_stability(corpus, n_refits=n_refits, n_jobs=n_jobs, **(inputs or {}))
    seldom = [str(topic) for topic, share in enumerate(model.topic_returns_.tolist()) if share < _SELDOM]
    if seldom:
        more = f" and {len(seldom) - _SHOWN} more" if len(seldom) > _SHOWN else ""
        say(f"topics that came back in fewer than half of these fits: {', '.join(seldom[:_SHOWN])}{more}")
    else:
        say("every topic came back in at least half of these fits")
