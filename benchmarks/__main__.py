"""Run the benchmarks and print one table: name, ours, peer, ratio, goal, met."""

from __future__ import annotations

import argparse
import os
import platform
import time
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .common import Row, Setting, note
from .figures import draw_ratios

SUBJECTS = (
    "plsa",
    "memory",
    "threads",
    "coherence",
    "counting",
    "startup",
    "reading",
    "lda",
    "ttmm",
    "neighbours",
    "graph",
    "hlta",
    "ldcc",
    "explorer",
    "scale",
)
_PACKAGES = ("topicfold", "numpy", "scipy", "scikit-learn", "numba", "gensim", "enstop", "tomotopy")
_HEAD = ("name", "ours", "peer", "ratio", "goal", "met?")


def main() -> None:
    """Parse, measure, print, and write where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with benchmark corpora; else TOPICFOLD_DATA")
    parser.add_argument("--out", type=Path, help="Markdown file to write the table to")
    parser.add_argument("--only", action="append", choices=SUBJECTS, metavar="NAME", help=", ".join(SUBJECTS))
    parser.add_argument("--quick", action="store_true", help="less data, fewer repetitions: three minutes at most")
    arguments = parser.parse_args()
    data = arguments.data or (Path(os.environ["TOPICFOLD_DATA"]) if os.environ.get("TOPICFOLD_DATA") else None)
    setting = Setting(data, arguments.quick)

    started = time.monotonic()
    load_before = os.getloadavg()
    rows: list[Row] = []
    for subject in arguments.only or SUBJECTS:
        note(f"{subject} ...")
        for row in import_module(f"benchmarks.{subject}").rows(setting):
            note("  " + " | ".join(_cells(row)))
            rows.append(row)
    minutes = (time.monotonic() - started) / 60
    facts = [
        f"Corpus: {setting.name}: {setting.size}.",
        "CPU time of one core unless a row says otherwise; ours and the peer's in turns in one run, medians.",
        f"{date.today().isoformat()}, {minutes:.0f} minutes. {_machine()}.",
        f"Load average (1, 5 and 15 minutes) before {_loads(load_before)}, after {_loads(os.getloadavg())}.",
        f"{platform.python_implementation()} {platform.python_version()}, {_versions()}.",
    ]
    table = "\n".join([_table(rows), "", *(f"- {row.detail}" for row in rows if row.detail)]).rstrip()
    print(*facts, "", table, sep="\n")
    if arguments.out:
        command = "TOPICFOLD_DATA=... make bench" if data else "make bench"
        if arguments.quick or arguments.only:
            command = "python -m benchmarks" + " --quick" * arguments.quick
            command += "".join(f" --only {name}" for name in arguments.only or ())
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        picture = arguments.out.with_suffix(".png")
        drawn = [f"![Ratios]({picture.name})", ""] if draw_ratios(rows, picture) else []
        head = ["# Benchmarks", "", f"Made by `{command}`; do not edit.", *(f"- {fact}" for fact in facts), ""]
        arguments.out.write_text("\n".join([*head, *drawn, table]) + "\n", encoding="utf-8")


def _cells(row: Row) -> list[str]:
    met = row.remark or {True: "yes", False: "NO", None: ""}[row.met]
    return [row.name, row.ours, row.peer, row.ratio, row.goal, met]


def _table(rows: list[Row]) -> str:
    lines = [list(_HEAD), *map(_cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines)


def _machine() -> str:
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        found = [
            line
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ]
        model = found[0].partition(":")[2].strip() if found else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def _loads(loads: tuple[float, float, float]) -> str:
    return ", ".join(f"{load:.2f}" for load in loads)


def _versions() -> str:
    found = []
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    return ", ".join(found)


if __name__ == "__main__":
    main()
