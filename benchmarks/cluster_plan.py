"""What 10 and 100 million documents would need on a cluster, estimated from measured steps.

On workers, the time of a step of PLSA or LDA is proportional to the cells, to the bytes of rows that are read and
written, and to the tables of sums; on the client, to the size of a table. The parts are fitted to the smaller sizes in
docs/results/cluster.jsonl, and checked with the largest. `python -m benchmarks.cluster_plan` prints the plan.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCUMENTS = (10_000_000, 100_000_000)
WORKERS = (4, 16, 64)
STEPS = 30
_GROUPS = 64  # the largest number of groups of documents
_SCALE = Path("docs/results/scale.jsonl")
_NETWORK = 1e9  # bytes per second between machines, on 10 Gbit/s


def plan_lines(done: dict[str, Any]) -> list[str]:
    """The plan, as lines of Markdown."""
    lines = ["## What 10 and 100 million documents would need", ""]
    for model in ("PLSA", "LDA"):
        costs = sorted(
            (cost for name, cost in done.items() if name.startswith(f"cost of {model} at")),
            key=lambda cost: cost["documents"],
        )
        if len(costs) < 3:
            return [*lines, "Not run: needs the costs for three sizes."]
        lines += _of_model(model, costs)
    lines += [
        (
            f"Paragraphs as in the benchmark, K=100, {STEPS} steps, workers with one thread; a worker with four "
            f"threads counts as four. The network is assumed to move {_NETWORK / 1e9:g} GB per second into each "
            "machine; the shared disk has to keep up with the rows. Documents are divided into 64 groups: with more "
            "than 64 threads, some would be idle. Not included: reading the corpus; the start, which the client "
            "computes from a sample; and P(z|d) of the result, which is returned to the client once (40 GB for 100 "
            "million documents) and is in every checkpoint, so that with checkpoints the client is the "
            "bottleneck at such a size."
        ),
    ]
    return lines


def _of_model(model: str, costs: list[dict[str, float]]) -> list[str]:
    per_document, fixed = _line(costs[:-1], "workers")
    client = max(cost["client"] for cost in costs)
    last = costs[-1]
    expected = per_document * last["documents"] + fixed
    rows, table = last["rows"] / last["documents"], last["table"]
    last_pass = _last_pass(model, last)
    cells = last["cells"] / last["documents"] * 8  # bytes: a column and a value
    lines = [
        f"### {model}",
        "",
        (
            f"CPU time of the workers per step: {per_document * 1e6:.2f} s per million documents plus {fixed:.2f} s "
            f"(from {costs[0]['documents']:,} and {costs[-2]['documents']:,} documents). For {last['documents']:,} "
            f"this predicts {expected:.2f} s; measured {last['workers']:.2f} s "
            f"({last['workers'] / expected - 1:+.0%}). The last pass, in which documents are folded in, takes "
            f"{last_pass * 1e6:.0f} s per million documents."
        ),
        "",
        (
            "| documents | workers | minutes | one step: computing, network, client | memory per worker | "
            "read and written per worker and step | rows on the shared disk |"
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
            memory = last["peak"] + (rows + cells) * documents / _GROUPS  # the measured peak, plus a larger group
            minutes = (step * STEPS + last_pass * documents / workers) / 60
            lines.append(
                f"| {documents / 1e6:.0f} million | {workers} | {minutes:,.0f} | {computing:.0f} s, {network:.1f} s, "
                f"{client:.1f} s | {memory / 1e9:.1f} GB | {moved / 1e9:.1f} GB | {2 * rows * documents / 1e9:.0f} GB |"
            )
    least = (per_document * DOCUMENTS[-1]) / client
    lines += [
        "",
        (
            f"The client takes {client:.2f} s per step, whatever the number of documents: for "
            f"{DOCUMENTS[-1] / 1e6:.0f} million documents it would be the bottleneck beyond {least:,.0f} workers, far "
            f"more than the {_GROUPS} groups."
        ),
        "",
    ]
    return lines


def _last_pass(model: str, cost: dict[str, float]) -> float:
    """CPU seconds per document of a fit outside its steps, from a fit to as many documents in one process."""
    lines = _SCALE.read_text(encoding="utf-8").splitlines() if _SCALE.exists() else []
    fits = [row for row in map(json.loads, lines) if row.get("what") == f"{model}, K=100"]
    seconds = [row["cpu"] for row in fits if row["size"] == cost["documents"]]
    return max(0.0, seconds[0] - STEPS * cost["in process"]) / cost["documents"] if seconds else 0.0


def _line(costs: list[dict[str, float]], what: str) -> tuple[float, float]:
    """Slope per document, and the intercept."""
    small, large = costs[0], costs[-1]
    slope = (large[what] - small[what]) / (large["documents"] - small["documents"])
    return slope, max(0.0, small[what] - slope * small["documents"])


if __name__ == "__main__":
    log = Path("docs/results/cluster.jsonl").read_text(encoding="utf-8")
    print("\n".join(plan_lines(dict(json.loads(line) for line in log.splitlines()))))
