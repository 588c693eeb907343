"""What came of the groups, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from .cases import FAILURES, Outcome

__all__ = ["Tally", "page", "table"]


@dataclass
class Tally:
    """The outcomes of a group."""

    name: str
    kinds: Counter[str] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def add(self, outcome: Outcome) -> None:
        self.kinds[outcome.kind] += 1
        self.counted.update(outcome.counted)

    @property
    def n_failures(self) -> int:
        return sum(self.kinds[kind] for kind in FAILURES)


def table(tallies: Sequence[Tally]) -> str:
    """A table in Markdown, one line a group, and below it what the groups have counted beside."""
    titles = ("group", "cases", "answers", "refused", *FAILURES, "seconds")
    lines = ["| " + " | ".join(titles) + " |", "|---" + "|---:" * (len(titles) - 1) + "|"]
    for tally in tallies:
        kinds = [tally.kinds[kind] for kind in ("answer", "refused", *FAILURES)]
        cells = [tally.name, *(f"{number:,}" for number in (tally.kinds.total(), *kinds)), f"{tally.seconds:.0f}"]
        lines.append("| " + " | ".join(cells) + " |")
    notes = [
        f"- {tally.name}: " + "; ".join(f"{what}: {number:,}" for what, number in sorted(tally.counted.items()))
        for tally in tallies
        if tally.counted
    ]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def page(tallies: Sequence[Tally], command: str) -> str:
    """The table as a page, with the command, the date and the kind of machine."""
    from experiments.results_page import machine

    kind = ", ".join(f"{key} {value}" if key != "processor" else value for key, value in machine().items())
    meaning = (
        "Each case runs in a process of its own, with limits on time and memory. It ends in an answer, is refused (a "
        "ValueError or OSError with one line), or fails in one of the ways of the other columns."
    )
    date = datetime.now(UTC).date().isoformat()
    return f"# What was tried to break it\n\n    {command}\n\nRun on {date}: {kind}.\n\n{meaning}\n\n{table(tallies)}\n"
