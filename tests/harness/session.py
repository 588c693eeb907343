"""Runs groups and says how they went."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from .cases import Case, Group, Outcome
from .failures import keep_failure
from .processes import check_single_threaded, run_alone, run_cases
from .table import Tally, commit

__all__ = ["GROUPS", "OWN", "prepared", "run_group", "run_one"]

GROUPS = ("readers", "files", "matrices", "kills", "determinism", "memory")
OWN = "endings"  # the group by which the harness itself is tested
_MOST_ALIKE = 2  # failures whose input is kept; others like them are only counted
_PER_SEED = 1_000_000  # numbers of cases


def prepared(name: str) -> tuple[Group, Callable[[int], Case]]:
    """A group, and what makes its cases, warmed up."""
    group: Group = import_module(f"{__package__}.{name}").GROUP
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make = group.prepare()
    check_single_threaded()
    return group, make


def _work_folder() -> Path:
    memory = Path("/dev/shm")  # files there cost no writing
    return Path(tempfile.mkdtemp(prefix="harness-", dir=memory if memory.is_dir() else None))


def run_group(name: str, n_cases: int | None, seed: int, out: Path, *, cut: bool = True) -> Tally:
    """Run the cases of a group, keep those that fail in `out`, and count."""
    group, make = prepared(name)
    first = seed * _PER_SEED
    numbers = range(first, first + (n_cases or group.n_cases))
    tally, folder = Tally(name, commit=commit()), _work_folder()
    seen: list[Outcome] = []
    started = time.monotonic()
    try:
        for outcome in run_cases(group, make, numbers, folder):
            tally.add(outcome)
            n_alike = sum(outcome.same_failure(other) for other in seen)
            if outcome.failed and n_alike < _MOST_ALIKE:
                seen.append(outcome)
                place = keep_failure(name, group, make, outcome, folder, out, cut=cut and n_alike == 0)
                print(f"{name} {outcome.number}: {outcome.kind}: {outcome.detail}; see {place}", file=sys.stderr)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tally.seconds = time.monotonic() - started
    return tally


def run_one(name: str, numbers: Sequence[int]) -> list[Outcome]:
    """Run single cases again, with all that they have to say."""
    group, make = prepared(name)
    folder = _work_folder()
    try:
        for number in numbers:
            print(f"{name} {number}: {make(number).about}")
        return [run_alone(group, make, number, folder, verbose=True) for number in numbers]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
