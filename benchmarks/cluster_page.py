"""The page of `benchmarks.cluster`."""

from __future__ import annotations

from datetime import date
from typing import Any


def page(done: dict[str, Any], large: int) -> str:
    """All figures as Markdown."""
    from .__main__ import _machine, _versions
    from .cluster_plan import plan_lines

    lines = [
        "# A cluster",
        "",
        "Made by `python -m benchmarks.cluster --data DATA --folder FOLDER`; do not edit.",
        f"- {date.today().isoformat()}. {_machine()}. {_versions()}. Scheduler and workers on this machine.",
        "",
        "## The same bits",
        "",
        (
            "Against one process: topics, documents' topics, history, transform and score of each model (2 steps "
            "from a random start), and 5 neighbours of each document."
        ),
        "",
        *_bits_lines(done, large),
        "",
        "## Workers and clients that die",
        "",
        *_death_lines(done),
        "",
        "## What it costs",
        "",
        *_cost_lines(done),
        "",
        *plan_lines(done),
    ]
    return "\n".join(lines) + "\n"


def _bits_lines(done: dict[str, Any], large: int) -> list[str]:
    rows = {name: found for name, found in done.items() if name.startswith("bits of")}
    if not rows:
        return ["Not run."]
    columns = list(next(iter(rows.values())))
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for name, found in rows.items():
        what = name.removeprefix("bits of ").replace(str(large), f"{large:,} paragraphs")
        lines.append(f"| {what} | " + " | ".join("same" if found[column] else "DIFFERENT" for column in columns) + " |")
    return lines


def _death_lines(done: dict[str, Any]) -> list[str]:
    lines = []
    if found := done.get("workers killed"):
        lines.append(
            f"- A worker killed (SIGKILL) at a random moment of a fit of LDA on 20 Newsgroups: {found['fits']} fits, "
            f"{found['killed']} kills, the same bits {found['same']} times."
        )
    if found := done.get("worker added"):
        lines.append(
            f"- A third worker joins in mid-fit: {found['fits']} fits, it was there before the end of {found['joined']}"
            f", the same bits {found['same']} times."
        )
    if found := done.get("clients killed"):
        lines.append(
            f"- The client killed at a random moment and started again: {found['fits']} fits, {found['killed']} kills, "
            f"{found['with a checkpoint']} of them with a checkpoint to resume from, the same bits {found['same']} "
            "times."
        )
    return lines or ["Not run."]


def _cost_lines(done: dict[str, Any]) -> list[str]:
    lines = [
        (
            "A step at K=100 (TTMM: 200 themes), two workers with one thread each; CPU seconds. Files: what the client "
            "writes for workers. Rows: P(z|d), which workers read from files and write to others. Tables: sums over "
            "words that are added on workers, each as large as P(w|z). Memory: a worker's peak above what it has "
            "when idle."
        ),
        "",
        (
            "| | documents | in process | client + workers | ratio | wall: here, cluster | tasks | files MB | rows MB "
            "| tables | worker's peak MB, in tables |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, found in done.items():
        if not name.startswith("cost of"):
            continue
        model = name.removeprefix("cost of ").partition(" ")[0]
        total = found["client"] + found["workers"]
        lines.append(
            f"| {model} | {found['documents']:,} | {found['in process']:.2f} | {found['client']:.2f} + "
            f"{found['workers']:.2f} | {total / found['in process']:.2f}x | {found['in process, wall']:.2f}, "
            f"{found['wall']:.2f} | {found['tasks']:.0f} | {found['files'] / 1e6:.0f} | {found['rows'] / 1e6:.0f} | "
            f"{found['tables']:.0f} x {found['table'] / 1e6:.0f} MB | {found['peak'] / 1e6:.0f}, "
            f"{found['peak'] / found['table']:.1f} |"
        )
    if found := done.get("one task"):
        lines += [
            "",
            (
                f"A task that does nothing: {found['client and scheduler'] * 1e3:.2f} ms of client and scheduler, "
                f"{found['workers'] * 1e3:.2f} ms of workers (CPU)."
            ),
        ]
    return lines
