"""What 10 and 100 million documents would need on a cluster, worked out from measured steps.

A step of PLSA or LDA takes, on workers, time in proportion to the cells, to the bytes of rows that are read and
written, and to the tables of sums; on the client, time in proportion to a table. The parts are fitted to the smaller
sizes in docs/results/cluster.jsonl, and checked against the largest. `python -m benchmarks.cluster_plan` prints it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCUMENTS = (10_000_000, 100_000_000)
WORKERS = (4, 16, 64)
STEPS = 30
_GROUPS = 64  # the most that documents are cut into
_SCALE = Path("docs/results/scale.jsonl")
_NETWORK = 1e9  # bytes a second between machines, of 10 Gbit/s


def plan_lines(done: dict[str, Any]) -> list[str]:
    """The plan, as lines of Markdown."""
    lines = ["## What 10 and 100 million documents would need", ""]
    for model in ("PLSA", "LDA"):
        found = sorted(
            (cost for name, cost in done.items() if name.startswith(f"cost of {model} at")),
            key=lambda cost: cost["documents"],
        )
        if len(found) < 3:
            return [*lines, "Not run: needs the costs at three sizes."]
        lines += _of_model(model, found)
    lines += [
        (
            f"Paragraphs as in the benchmark, K=100, {STEPS} steps, workers with one thread; one that has four counts "
            f"as four. The network is taken to move {_NETWORK / 1e9:g} GB a second into each machine; the disk that "
            "all see has to keep up with the rows. Documents are cut into 64 groups: more than 64 threads would wait. "
            "Not in it: reading the corpus; the start, which the client makes from a sample; P(z|d) of the result, "
            "which comes back to the client once (40 GB at 100 million documents) and is in every checkpoint, so that "
            "with a checkpoint the client is the neck at such a size."
        ),
    ]
    return lines


def _of_model(model: str, found: list[dict[str, float]]) -> list[str]:
    per_document, fixed = _line(found[:-1], "workers")
    client = max(cost["client"] for cost in found)
    last = found[-1]
    expected = per_document * last["documents"] + fixed
    rows, table = last["rows"] / last["documents"], last["table"]
    last_pass = _last_pass(model, last)
    cells = last["cells"] / last["documents"] * 8  # bytes: a column and a value
    lines = [
        f"### {model}",
        "",
        (
            f"Workers' CPU per step: {per_document * 1e6:.2f} s per million documents and {fixed:.2f} s besides (from "
            f"{found[0]['documents']:,} and {found[-2]['documents']:,} documents). At {last['documents']:,} that makes "
            f"{expected:.2f} s; measured {last['workers']:.2f} s ({last['workers'] / expected - 1:+.0%}). The "
            f"last pass, in which documents are folded in, takes {last_pass * 1e6:.0f} s per million documents."
        ),
        "",
        (
            "| documents | workers | minutes | of a step: computing, network, client | memory of a worker | "
            "read and written by a worker per step | rows on the shared disk |"
        ),
        "|---|---|---|---|---|---|---|",
    ]
    for documents in DOCUMENTS:
        for workers in WORKERS:
            computing = (per_document * documents + fixed) / workers
            groups_each = _GROUPS / workers
            moved = 2 * rows * documents / workers + cells * documents / workers + table * (1 + min(groups_each, 2))
            network, step = moved / _NETWORK, client
            step += computing + network
            memory = last["peak"] + (rows + cells) * documents / _GROUPS  # what was measured, and a larger group
            minutes = (step * STEPS + last_pass * documents / workers) / 60
            lines.append(
                f"| {documents / 1e6:.0f} million | {workers} | {minutes:,.0f} | {computing:.0f} s, {network:.1f} s, "
                f"{client:.1f} s | {memory / 1e9:.1f} GB | {moved / 1e9:.1f} GB | {2 * rows * documents / 1e9:.0f} GB |"
            )
    least = (per_document * DOCUMENTS[-1]) / client
    lines += [
        "",
        (
            f"The client's {client:.2f} s per step do not depend on the documents: it would be the neck beyond "
            f"{least:,.0f} workers at {DOCUMENTS[-1] / 1e6:.0f} million documents, far behind the {_GROUPS} groups."
        ),
        "",
    ]
    return lines


def _last_pass(model: str, cost: dict[str, float]) -> float:
    """CPU seconds per document of what a fit does beside its steps, from a fit of as many in one process."""
    lines = _SCALE.read_text(encoding="utf-8").splitlines() if _SCALE.exists() else []
    fits = [row for row in map(json.loads, lines) if row["what"] == f"{model}, K=100"]
    seconds = [row["cpu"] for row in fits if row["size"] == cost["documents"]]
    return max(0.0, seconds[0] - STEPS * cost["in process"]) / cost["documents"] if seconds else 0.0


def _line(found: list[dict[str, float]], what: str) -> tuple[float, float]:
    """Slope by documents, and what is left at none."""
    small, large = found[0], found[-1]
    slope = (large[what] - small[what]) / (large["documents"] - small["documents"])
    return slope, max(0.0, small[what] - slope * small["documents"])


if __name__ == "__main__":
    log = Path("docs/results/cluster.jsonl").read_text(encoding="utf-8")
    print("\n".join(plan_lines(dict(json.loads(line) for line in log.splitlines()))))
