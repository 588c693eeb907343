"""The loop of all iterative models: progress, stopping, checkpoints, and Ctrl-C, which keeps the model so far.

A model passes a state (named arrays, changed in place) and a step. The state is complete: a fit that is resumed from a
checkpoint continues with the same bits.
"""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..errors import FileError, InputError
from .distributed.cluster import gather
from .mapped import pieces
from .progress import progress
from .store import check_writable, read_file, remove_left_over, write_file
from .stored import Stored, check_stored, number_array
from .warn import warn_user

__all__ = [
    "BATCH_STEPS",
    "Checkpoint",
    "ExpectedState",
    "Resumed",
    "Run",
    "State",
    "fingerprint",
    "hold_interrupts",
    "iterate",
    "step_size",
]

State: TypeAlias = dict[str, np.ndarray]
Resumed: TypeAlias = tuple[State, dict[str, Any]]  # the content of a checkpoint: the state and notes
_STEP_POWER = 0.6  # stepwise EM converges for values between 0.5 and 1
BATCH_STEPS = 10  # EM steps per batch; with only one, a single pass over a stream ends 4 % short
CHECKPOINT_SECONDS = 30.0  # minimum time between two checkpoints


class Run(NamedTuple):
    """The course of a loop. `finished` is False if Ctrl-C ended it."""

    history: list[float]
    converged: bool
    finished: bool


class ExpectedState(NamedTuple):
    """The expected content of a checkpoint, checked before kernels use it: arrays, and notes declared as "notes.NAME".

    `sizes` are those that the fit knows; `fits` raises an InputError if values do not fit each other.
    """

    declared: Mapping[str, Stored]
    sizes: Mapping[str, int]
    fits: Callable[[Mapping[str, Any]], None] | None = None

    def check(self, state: State, notes: Any) -> None:
        """Raise an InputError if the state or the notes are not as expected."""
        if not isinstance(notes, Mapping):
            raise InputError("it has no notes")
        values: dict[str, Any] = dict(state)
        for name, value in notes.items():
            values[f"notes.{name}"] = number_array(name, value) if isinstance(value, list) else value
        check_stored(values, {"notes.history": Stored(("steps",)), **self.declared}, self.sizes)
        if self.fits is not None:
            self.fits(values)


class Checkpoint:
    """A file to resume a killed fit from. It belongs to one fit, identified by a fingerprint of data and parameters."""

    def __init__(self, path: str | Path, fingerprint: str) -> None:
        self.path = Path(path)
        check_writable(path)  # raises an error before the work, not after it
        self.fingerprint = fingerprint
        self._last = time.monotonic()

    def read(self, expected: ExpectedState | None = None) -> Resumed | None:
        """The state and notes that were written last, checked if `expected` is given, or None if there is no file."""
        if not self.path.exists():
            return None
        state, metadata = read_file(self.path, kind="checkpoint")
        if metadata.get("fingerprint") != self.fingerprint:
            raise FileError(
                f"the checkpoint {self.path} belongs to another fit (other data or parameters): "
                "delete it, or name another file"
            )
        notes = metadata.get("notes")
        if expected is not None:
            try:
                expected.check(state, notes)
            except InputError as error:
                raise FileError(
                    f"the checkpoint {self.path} is not a state of this fit: {error}; delete it, or name another file"
                ) from None
        return state, notes or {}

    def is_due(self) -> bool:
        """Whether enough time has passed since the last checkpoint."""
        return time.monotonic() - self._last >= CHECKPOINT_SECONDS

    def write(self, state: State, notes: dict[str, Any]) -> None:
        """Write the state. If that fails, for example because the disk is full, warn and continue the fit."""
        try:
            write_file(self.path, state, {"kind": "checkpoint", "fingerprint": self.fingerprint, "notes": notes})
        except OSError as error:
            warn_user(f"the checkpoint could not be written; the fit continues: {error}")
        self._last = time.monotonic()

    def remove(self) -> None:
        """Remove the checkpoint after the fit, so that a later fit starts anew, and files left by killed fits."""
        self.path.unlink(missing_ok=True)
        remove_left_over(Path(os.path.realpath(self.path)))


class HasParameters(Protocol):
    """An estimator in the style of scikit-learn."""

    def get_params(self) -> dict[str, Any]: ...


def fingerprint(model: HasParameters, *data: Any) -> str:
    """A hash of the class and parameters of a model and of the data, without what does not change the result."""
    digest = hashlib.blake2b(digest_size=16)
    free = ("n_jobs", "verbose", "checkpoint")
    parameters = {key: value for key, value in sorted(model.get_params().items()) if key not in free}
    digest.update(type(model).__name__.encode())
    for key, value in parameters.items():
        digest.update(key.encode())
        _feed(digest, value)
    for item in data:
        _feed(digest, item)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    if sp.issparse(value):
        matrix = sp.csr_array(value)
        for part in (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False), matrix.data):
            for piece in pieces(part):
                digest.update(piece.data)
    elif isinstance(value, np.random.RandomState):
        digest.update(repr(value.get_state()).encode())
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype} {value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    else:
        digest.update(repr(value).encode())


def iterate(
    step: Callable[[State], float | tuple[float, bool]],
    state: State,
    *,
    max_iter: int,
    tol: float,
    title: str,
    unit: str = "nats per token",
    note: Callable[[], str] | None = None,
    expected: int | None = None,
    verbose: bool | None = None,
    checkpoint: Checkpoint | None = None,
    notes: dict[str, Any] | None = None,
    history: list[float] | None = None,
    monotone: bool = True,
) -> Run:
    """Call `step(state)` until the objective it returns rises by less than `tol`, or `max_iter` times.

    If the objective need not rise (`monotone=False`), stop when it changes by less than `tol` in either direction. A
    step may return (objective, done) to decide itself when to stop. `history` has the objectives of a resumed fit;
    `notes` are also written to the checkpoint; `note` gives more text for the progress bar, whose length is `expected`
    steps if max_iter says nothing about it. On Ctrl-C, the current step is finished and the loop ends.
    """
    history = list(history or [])
    converged = False
    bar = progress(title, expected or max_iter, done=len(history), verbose=verbose)
    with hold_interrupts() as interrupted, bar as move:
        while len(history) < max_iter and not converged and not interrupted:
            outcome = step(state)
            objective, done = outcome if isinstance(outcome, tuple) else (outcome, None)
            if not np.isfinite(objective):
                raise InputError(
                    f"{title}: the objective became {objective} in step {len(history) + 1}: values or parameters are "
                    "too large or too small"
                )
            history.append(float(objective))
            converged = _settled(history, tol, monotone) if done is None else done
            move(len(history), f"{objective:.4f} {unit}" + (f", {note()}" if note else ""))
            if checkpoint is not None and not converged and (interrupted or checkpoint.is_due()):
                gather(tuple(state.values()))
                checkpoint.write(state, {**(notes or {}), "history": history})
        gather(tuple(state.values()), forget=True)
    if interrupted:
        warn_user(f"{title}: interrupted after {len(history)} of {max_iter} iterations; the model so far is kept")
    return Run(history, converged, not interrupted)


def step_size(n_batches: int) -> float:
    """Weight of the next batch in stepwise EM (Cappé and Moulines 2009) after `n_batches` others; it decreases.

    >>> step_size(0), step_size(3) < step_size(1)
    (1.0, True)
    """
    return float((n_batches + 1) ** -_STEP_POWER)


@contextmanager
def hold_interrupts() -> Iterator[list[bool]]:
    """Yield a list that fills when Ctrl-C is pressed, so that steps are completed; a second Ctrl-C interrupts at once.

    This works only in the main thread; in other threads, and if Ctrl-C is ignored anyway, the list stays empty.
    """
    pressed: list[bool] = []
    on_main_thread = threading.current_thread() is threading.main_thread()
    if not on_main_thread or signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None):
        yield pressed
        return

    def note(*_: Any) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(True)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _settled(history: list[float], tol: float, monotone: bool) -> bool:
    if tol == 0 or len(history) < 2:
        return False
    change = history[-1] - history[-2]
    return (change if monotone else abs(change)) < tol
