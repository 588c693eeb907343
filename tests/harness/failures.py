"""Cases that fail: each is kept in a file, as it was drawn and cut down to what still makes it fail.

Such a file is run again by `python -m tests.harness --again FILE`, on any version of the package. Moved to the folder
`found`, it is a test.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from .cases import Case, Front, Outcome, Run
from .processes import run_alone

__all__ = ["cut_down", "keep_failure", "kept_case"]

_TRIALS, _SECONDS = 400, 20.0  # most effort for one case


def keep_failure(name: str, front: Front, case: Case, outcome: Outcome, run: Run, folder: Path, out: Path) -> Path:
    """Write a case to a file and, cut down, to another one."""
    out.mkdir(parents=True, exist_ok=True)
    ending = {"kind": outcome.kind, "detail": outcome.detail}

    def write(case: Case, path: Path) -> Path:
        content: dict[str, Any] = {"front": name, "number": outcome.number, **ending, **case.to_json()}
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        return path

    place = write(case, out / f"{name}-{outcome.number}.json")
    if case.damaged is not None:
        smaller = cut_down(front, case, outcome, run, folder)
        place = write(smaller, out / f"{name}-{outcome.number}-cut.json")
    return place


def kept_case(path: Path) -> tuple[str, Case]:
    """The front and the case of a file."""
    values = json.loads(path.read_text(encoding="utf-8"))
    return values["front"], Case.from_json(values)


def cut_down(front: Front, case: Case, outcome: Outcome, run: Run, folder: Path) -> Case:
    """The case without the chunks of its damaged file that the failure does not need, found by leaving them out."""
    assert case.damaged is not None
    content = case.files[case.damaged]
    trials, until, size = 0, time.monotonic() + _SECONDS, max(len(content) // 2, 1)
    while size >= 1 and trials < _TRIALS and time.monotonic() < until:
        place, shortened = 0, False
        while place < len(content) and trials < _TRIALS and time.monotonic() < until:
            shorter = content[:place] + content[place + size :]
            trial = replace(case, files={**case.files, case.damaged: shorter})
            trials += 1
            if outcome.same_failure(run_alone(front, lambda _, trial=trial: trial, run, outcome.number, folder)):
                content, shortened = shorter, True
            else:
                place += size
        size = size // 2 if not shortened or size > len(content) else size
    return replace(case, files={**case.files, case.damaged: content})
