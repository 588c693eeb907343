"""Runs fronts and says how they went."""

from __future__ import annotations

import pkgutil
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from . import fronts
from .cases import Draw, Front, Outcome, Run
from .failures import keep_failure, kept_case
from .processes import check_single_threaded, run_alone, run_cases
from .table import Tally, commit

__all__ = ["FRONTS", "OWN", "prepared", "run_again", "run_front", "run_one"]

OWN = "endings"  # the front by which the harness itself is tested
FRONTS = tuple(sorted(module.name for module in pkgutil.iter_modules(fronts.__path__) if module.name != OWN))
_MOST_ALIKE = 2  # failures that are kept; others like them are only counted
_PER_SEED = 1_000_000  # numbers of cases


def prepared(name: str) -> tuple[Front, Draw, Run]:
    """A front, warmed up: what draws its cases and what runs them."""
    front: Front = import_module(f"{fronts.__name__}.{name}").FRONT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        draw, run = front.prepare()
    check_single_threaded()
    return front, draw, run


@contextmanager
def _work_folder() -> Iterator[Path]:
    memory = Path("/dev/shm")  # files there cost no writing
    folder = Path(tempfile.mkdtemp(prefix="harness-", dir=memory if memory.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_front(name: str, n_cases: int | None, seed: int, out: Path) -> Tally:
    """Run cases of a front, keep those that fail in `out`, and count."""
    front, draw, run = prepared(name)
    first = seed * _PER_SEED
    numbers = range(first, first + (n_cases or front.n_cases))
    tally, failures = Tally(name, commit=commit()), list[Outcome]()
    started = time.monotonic()
    with _work_folder() as folder:
        for outcome in run_cases(front, draw, run, numbers, folder):
            tally.add(outcome)
            n_alike = sum(outcome.same_failure(other) for other in failures)
            if outcome.failed and n_alike < _MOST_ALIKE:
                failures.append(outcome)
                place = keep_failure(name, front, draw(outcome.number), outcome, run, folder, out)
                print(f"{name} {outcome.number}: {outcome.kind}: {outcome.detail}; see {place}", file=sys.stderr)
    tally.seconds = time.monotonic() - started
    return tally


def run_one(name: str, numbers: Sequence[int]) -> list[Outcome]:
    """Run single cases again, with all that they have to say."""
    front, draw, run = prepared(name)
    for number in numbers:
        print(f"{name} {number}: {draw(number).about}")
    with _work_folder() as folder:
        return [run_alone(front, draw, run, number, folder, verbose=True) for number in numbers]


def run_again(paths: Sequence[Path]) -> list[Outcome]:
    """Run the cases of files again, in the order of their fronts."""
    cases = sorted((kept_case(path) for path in paths), key=lambda kept: kept[0])
    outcomes, ready = [], dict[str, tuple[Front, Draw, Run]]()
    with _work_folder() as folder:
        for number, (name, case) in enumerate(cases):
            if name not in ready:
                ready[name] = prepared(name)
            front, _, run = ready[name]
            outcomes.append(run_alone(front, lambda _, case=case: case, run, number, folder))
    return outcomes
