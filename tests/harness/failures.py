"""Cases that fail: their input is kept, and cut down to what still makes them fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from .cases import Case, Group, Outcome
from .processes import run_alone, write_files

__all__ = ["cut_down", "keep_failure"]

_TRIALS, _SECONDS = 400, 20.0  # most effort for one case


def keep_failure(
    name: str, group: Group, make: Callable[[int], Case], outcome: Outcome, folder: Path, out: Path, cut: bool
) -> Path:
    """Write what a case was given to a folder of its own, whole and, unless `cut` is False, cut down."""
    case = make(outcome.number)
    place = out / f"{name}-{outcome.number}"
    place.mkdir(parents=True, exist_ok=True)
    again = f"python -m tests.harness {name} --only {outcome.number}"
    (place / "about.txt").write_text(f"{outcome.kind}: {outcome.detail}\n{case.about}\n{again}\n", encoding="utf-8")
    write_files({f"input/{file}": content for file, content in case.files.items()}, place)
    if cut and case.damaged is not None:
        smaller = cut_down(group, case, outcome, folder)
        write_files({f"cut-down/{file}": content for file, content in (case.files | smaller).items()}, place)
    return place


def cut_down(group: Group, case: Case, outcome: Outcome, folder: Path) -> dict[str, bytes]:
    """The damaged file without chunks that the failure does not need, found by leaving out ever smaller ones."""
    assert case.damaged is not None
    content = case.files[case.damaged]
    trials, until, size = 0, time.monotonic() + _SECONDS, max(len(content) // 2, 1)
    while size >= 1 and trials < _TRIALS and time.monotonic() < until:
        place, found = 0, False
        while place < len(content) and trials < _TRIALS and time.monotonic() < until:
            shorter = content[:place] + content[place + size :]
            trial = replace(case, files={**case.files, case.damaged: shorter})
            trials += 1
            if outcome.same_failure(run_alone(group, lambda _, trial=trial: trial, outcome.number, folder)):
                content, found = shorter, True
            else:
                place += size
        size = size // 2 if not found or size > len(content) else size
    return {case.damaged: content}
