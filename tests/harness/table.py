"""What came of the fronts, as a table, and as a page that is put together from runs of single fronts."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .cases import FAILURES, Outcome

__all__ = ["Tally", "commit", "table", "write_page"]


@dataclass
class Tally:
    """The outcomes of a front."""

    name: str
    kinds: Counter[str] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    commit: str = ""

    def add(self, outcome: Outcome) -> None:
        self.kinds[outcome.kind] += 1
        self.counted.update(outcome.counted)

    @property
    def n_failures(self) -> int:
        return sum(self.kinds[kind] for kind in FAILURES)

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "seconds": round(self.seconds)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Tally:
        kinds, counted = Counter(values["kinds"]), Counter(values["counted"])
        return cls(values["name"], kinds, counted, values["seconds"], values["commit"])


def table(tallies: Sequence[Tally]) -> str:
    """A table in Markdown, one line per front, and below it what the fronts have counted beside."""
    titles = ("front", "cases", "answers", "refused", *FAILURES, "seconds")
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


def write_page(path: Path, tallies: Sequence[Tally], command: str, order: Sequence[str], note: str = "") -> None:
    """Write the page of all fronts that have been run, each as it went the last time.

    The runs are kept beside the page, one line of JSON per front; `order` is that of the fronts, `note` is said of
    the machine.
    """
    from experiments.results_page import machine

    kept = path.with_suffix(".jsonl")
    runs = {}
    if kept.exists():
        runs = {run["name"]: run for run in map(json.loads, kept.read_text(encoding="utf-8").splitlines())}
    about: dict[str, Any] = {"command": command, "date": datetime.now(UTC).date().isoformat()}
    about["machine"] = {**machine(), **({"note": note} if note else {})}
    runs |= {tally.name: {**tally.to_json(), **about} for tally in tallies}
    ordered = [runs[name] for name in (*order, *sorted(set(runs) - set(order))) if name in runs]
    kept.write_text("".join(json.dumps(run) + "\n" for run in ordered), encoding="utf-8")
    picture = path.with_suffix(".png")
    _draw(ordered, picture)
    path.write_text(_page(ordered, picture.name), encoding="utf-8")


def _draw(runs: Sequence[Mapping[str, Any]], path: Path) -> None:
    """How the cases of each front ended, as shares."""
    from topicfold.plots.style import COLOURS, PALE, new_figure, tidy

    colours = {"answer": COLOURS[0], "refused": PALE, **dict.fromkeys(FAILURES, COLOURS[1])}
    figure = new_figure(8, 0.34 * len(runs) + 1.1)
    axes = figure.subplots()
    for place, run in enumerate(runs):
        total, left = sum(run["kinds"].values()), 0.0
        for kind, colour in colours.items():
            share = 100 * run["kinds"].get(kind, 0) / total
            axes.barh(place, share, left=left, color=colour, height=0.65)
            left += share
    axes.set_yticks(range(len(runs)), [f"{run['name']}, {sum(run['kinds'].values()):,} cases" for run in runs])
    axes.invert_yaxis()
    axes.set_xlabel("% of cases; blue: an answer, grey: refused with one line, orange: a failure")
    tidy(axes, "x")
    figure.savefig(path, dpi=110)


def commit() -> str:
    """The commit that is checked out, with a plus where files differ from it."""
    git = ["git", "describe", "--always", "--exclude=*", "--dirty=+"]
    done = subprocess.run(git, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


_MEANING = """\
Cases are made from numbers and run in processes forked from a warm one, within limits of time and memory; a case that
ends its process is run again alone. Each ends in an answer, is refused (a ValueError or OSError of one line), or fails
in one of the ways of the other columns."""


def _page(runs: Sequence[Mapping[str, Any]], picture: str) -> str:
    """The table as a page, with the commands, the dates, the commits and the kind of machine."""
    about = runs[-1]["machine"]
    kind = f"{about['cores']} cores of {about['processor']}, " + ", ".join(
        value if key == "note" else f"{key} {value}"
        for key, value in about.items()
        if key in ("note", "Python", "numpy", "scipy", "scikit-learn", "numba")
    )
    dates, commits = (" and ".join(sorted({run[key] for run in runs})) for key in ("date", "commit"))
    parts = [
        "# What was tried to break it",
        "\n".join(f"    {command}" for command in dict.fromkeys(run["command"] for run in runs)),
        f"Run on {dates} at commit {commits}: {kind}.",
        _MEANING,
        f"![How the cases of each front ended]({picture})",
        table([Tally.from_json(run) for run in runs]),
    ]
    return "\n\n".join(parts) + "\n"
