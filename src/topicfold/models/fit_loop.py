"""The fit of every model: from one or several starts or from a checkpoint, in one or several stages, until it is kept.

A model says what is different in a `Fit`; `run_fit` does the rest: it opens the checkpoint, resumes what an earlier,
killed run left in it, iterates, keeps the best start, keeps the model so far on Ctrl-C, and removes the checkpoint of a
finished fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..engine.blocks import single_threaded_libraries
from ..engine.loop import Checkpoint, ExpectedState, Resumed, Run, State, fingerprint, hold_interrupts, iterate
from ..engine.stored import Stored, check_stored
from ..errors import InputError

if TYPE_CHECKING:
    from .estimator import TopicModel
    from .inputs import RandomStateLike

__all__ = ["Fit", "Stage", "Step", "run_fit"]

Step: TypeAlias = Callable[[State], float | tuple[float, bool]]  # the objective before the step, and whether it is done

_BEST = "best."  # before the names of arrays in a checkpoint that belong to the best of the earlier starts


class Stage(NamedTuple):
    """A loop of a fit: its step, when it ends, and what the progress bar shows."""

    step: Step
    max_iter: int
    tol: float
    monotone: bool = True  # whether no step lowers the objective
    interrupted: bool = False  # Ctrl-C has ended its preparation: one step makes a model of what there is
    restarts_history: bool = False  # whether its objective cannot be compared with that of the stage before
    expected: int | None = None  # steps, if max_iter says nothing about them
    note: Callable[[], str] | None = None


@dataclass(frozen=True)
class Fit:
    """What a model gives to `run_fit`.

    `start` returns the state before the first step, and `stages` yields the loops that change it in place; what stands
    after a `yield` runs when that loop has ended. `keep` makes learned attributes of the state.
    """

    data: tuple[Any, ...]  # with the parameters, it tells fits apart: a checkpoint belongs to one
    random_states: Sequence[RandomStateLike]  # one for each start
    start: Callable[[RandomStateLike], State]
    stages: Callable[[State], Iterator[Stage]]
    keep: Callable[[State, Run], None]
    arrays: Mapping[str, Stored]  # of a state, as a checkpoint must have them
    sizes: Mapping[str, int]  # those of the arrays that are known before the fit
    check: Callable[[Mapping[str, Any]], None] | None = None  # raises if arrays of a checkpoint do not fit each other
    n_stages: int = 1


def run_fit(model: TopicModel, fit: Fit) -> None:
    """Fit a model, and keep what it learned."""
    checkpoint, resumed = None, None
    if model.checkpoint is not None:
        checkpoint = Checkpoint(model.checkpoint, fingerprint(model, *fit.data))
        resumed = checkpoint.read(_expected_state(fit))
    with single_threaded_libraries():  # once for all steps: the search for libraries takes as long as a step
        state, run = _best_of_starts(model, fit, checkpoint, resumed)
        with hold_interrupts():
            fit.keep(state, run)
    if checkpoint is not None and run.finished:
        checkpoint.remove()


def _expected_state(fit: Fit) -> ExpectedState:
    """The contents of a checkpoint: the state, earlier stages and, from the second start on, the best so far."""
    best = {
        "notes.best_history": Stored(("best steps",)),
        "notes.best_converged": Stored(kind="bool"),
        **{f"{_BEST}{name}": stored for name, stored in fit.arrays.items()},
    }
    declared = {
        "notes.start": Stored(kind="int", low=0, high=len(fit.random_states) - 1),
        "notes.stage": Stored(kind="int", low=0, high=fit.n_stages - 1),
        "notes.earlier": Stored(("earlier steps",)),
        **fit.arrays,
    }
    if len(fit.random_states) > 1:
        declared |= {name: replace(stored, may_be_missing=True) for name, stored in best.items()}

    def check(values: Mapping[str, Any]) -> None:
        if values["notes.start"] > 0:
            check_stored({name: value for name, value in values.items() if name in best}, best, fit.sizes)
            if not len(values["notes.best_history"]):
                raise InputError("its notes.best_history is empty")
        if fit.check is not None:
            fit.check(values)

    return ExpectedState(declared, fit.sizes, check)


def _best_of_starts(
    model: TopicModel, fit: Fit, checkpoint: Checkpoint | None, resumed: Resumed | None
) -> tuple[State, Run]:
    """Run from each start and keep the best; a checkpoint contains the current run and the best before it."""
    best: tuple[State, Run] | None = None
    name, n_starts = type(model).__name__, len(fit.random_states)
    for number, random_state in enumerate(fit.random_states):
        if resumed is not None and number < resumed[1]["start"]:
            continue
        if resumed is not None:
            (state, progress), resumed = resumed, None
            if number > 0:
                best = (_take_best(state), Run(progress["best_history"], progress["best_converged"], True))
        else:
            state, progress = fit.start(random_state), {"stage": 0, "earlier": [], "history": []}
        notes: dict[str, Any] = {"start": number}
        if best is not None:
            state.update({f"{_BEST}{name}": value for name, value in best[0].items()})
            notes |= {"best_history": best[1].history, "best_converged": best[1].converged}
        title = f"{name}, start {number + 1} of {n_starts}" if n_starts > 1 else name
        run = _run_stages(model, fit, state, progress, title, checkpoint, notes)
        _take_best(state)
        if best is None or max(run.history, default=-np.inf) > max(best[1].history):
            best = (state, run)
        if not run.finished:
            best = (best[0], run._replace(history=best[1].history))
            break
    assert best is not None
    return best


def _take_best(state: State) -> State:
    """Remove the arrays of the best start from a state and return them by their own names."""
    return {name.removeprefix(_BEST): state.pop(name) for name in list(state) if name.startswith(_BEST)}


def _run_stages(
    model: TopicModel,
    fit: Fit,
    state: State,
    progress: Mapping[str, Any],
    title: str,
    checkpoint: Checkpoint | None,
    notes: Mapping[str, Any],
) -> Run:
    """Run the stages that are left after `progress`, the notes of a checkpoint; the run of all of them."""
    earlier, history = list(progress["earlier"]), list(progress["history"])  # objectives before this stage, and in it
    if checkpoint is not None and checkpoint.is_due():  # the start took long
        checkpoint.write(state, {**notes, **{name: progress[name] for name in ("stage", "earlier", "history")}})
    for number, stage in enumerate(fit.stages(state)):
        if number < progress["stage"]:
            continue
        run = iterate(
            stage.step,
            state,
            max_iter=1 if stage.interrupted else stage.max_iter,
            tol=stage.tol,
            title=title,
            unit=model.score_unit,
            note=stage.note,
            expected=stage.expected,
            verbose=model.verbose,
            checkpoint=checkpoint,
            notes={**notes, "stage": number, "earlier": earlier},
            history=history,
            monotone=stage.monotone,
        )
        is_last, finished = number == fit.n_stages - 1, run.finished and not stage.interrupted
        shown = run.history if stage.restarts_history else [*earlier, *run.history]
        earlier, history = [*earlier, *run.history], []
        if is_last or not finished:
            break
    if checkpoint is not None and run.converged and not finished and not is_last:
        # Ctrl-C in the last step of a stage, after which `iterate` leaves no checkpoint
        checkpoint.write(state, {**notes, "stage": number + 1, "earlier": earlier, "history": []})
    return run._replace(history=shown, finished=finished)
