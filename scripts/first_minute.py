"""From `pip install` to the first topics, in an empty environment: how large it gets, and what takes time.

`python scripts/first_minute.py [--write docs/results/first-minute.md]` creates the environment in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROCESSES = 7
# Prints the CPU seconds of each stage of a process that fits a model twice. The second fit loads and compiles nothing.
STAGES = """
import json, os, sys

def spent():
    times = os.times()
    return times.user + times.system

started = spent()
from topicfold.models import MODELS
model = MODELS[sys.argv[1]].load()
imported = spent()
from topicfold.datasets import load_demo
corpus = load_demo()
read = spent()
model(20, max_iter=5, tol=0, random_state=0, verbose=False).fit(corpus)
first = spent()
model(20, max_iter=5, tol=0, random_state=0, verbose=False).fit(corpus)
second = spent()
print(json.dumps({"import": imported - started, "corpus": read - imported, "first fit": first - read,
                  "second fit": second - first}))
"""
ROWS = (
    ("import", "import of the model"),
    ("corpus", "demo corpus, from text to counts"),
    ("first fit", "first fit (K=20, 5 steps)"),
    ("second fit", "second fit"),
    ("beyond", "first beyond second: kernels, late imports"),
)


def main() -> None:
    """Measure, print the page, and write it if a file is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE", help="Markdown page to write")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        text, sizes = page(Path(place))
    print(text)
    if given.write:
        picture = given.write.with_suffix(".png")
        draw(sizes, picture)
        text += f"\n\n![Size of each package]({picture.name})"
        given.write.write_text(text + "\n", encoding="utf-8", newline="\n")


def draw(sizes: Counter[str], path: Path) -> None:
    """Bars of the packages of at least 1 MB; needs matplotlib."""
    from topicfold.plots.style import COLOURS, new_figure, tidy

    large = [(name, size / 1e6) for name, size in sizes.most_common() if size >= 1e6]
    figure = new_figure(8, 0.24 * len(large) + 0.8)
    axes = figure.subplots()
    axes.barh([name for name, _ in large], [size for _, size in large], color=COLOURS[0])
    axes.invert_yaxis()
    axes.set_xlabel("MB")
    tidy(axes, "x")
    figure.savefig(path, dpi=110)


def page(place: Path) -> tuple[str, Counter[str]]:
    """All measurements as a page, and the bytes of each package."""
    subprocess.run([sys.executable, "-m", "build", "-q", "--wheel", "--outdir", place, ROOT], check=True)
    (wheel,) = place.glob("*.whl")
    made = seconds(lambda: venv.create(place / "env", with_pip=True))
    python = place / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel]
    installed = seconds(lambda: subprocess.run(install, check=True))
    sizes = package_sizes(python)
    environment = {**os.environ, "XDG_CACHE_HOME": str(place / "cache"), "NUMBA_CACHE_DIR": ""}
    environment.pop("PYTHONPATH", None)
    fits = {name: [stages(python, name, environment) for _ in range(PROCESSES)] for name in ("LDA", "PLSA")}
    demo = [python, "-m", "topicfold", "demo"]
    shown = seconds(lambda: subprocess.run(demo, check=True, capture_output=True, cwd=place, env=environment))
    pip = f"`pip install` {installed:.0f} s (it depends on the network)"
    small = [size for size in sizes.values() if size < 1e6]
    lines = [
        "# The first minute",
        "",
        "Made by `python scripts/first_minute.py --write docs/results/first-minute.md`; do not edit.",
        f"- Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores, {_load()}.",
        f"- Wall time: venv {made:.0f} s, {pip}, demo {shown:.0f} s.",
        "- All other times are CPU seconds. The first process compiles the kernels; later ones load them from the",
        f"  cache, and the minimum of {PROCESSES - 1} is shown.",
        "",
        "| stage | LDA, first process | LDA, later | PLSA, first process | PLSA, later |",
        "|---|---|---|---|---|",
        *(f"| {title} | {' | '.join(cells(fits, key))} |" for key, title in ROWS),
        "",
        f"The environment has {sum(sizes.values()) / 1e6:,.0f} MB:",
        "",
        "| package | MB |",
        "|---|---|",
        *(f"| {name} | {size / 1e6:,.1f} |" for name, size in sizes.most_common() if size >= 1e6),
        f"| {len(small)} others | {sum(small) / 1e6:,.1f} |",
    ]
    return "\n".join(lines), sizes


def seconds(work: Callable[[], Any]) -> float:
    """Wall-clock seconds that a function takes."""
    started = time.monotonic()
    work()
    return time.monotonic() - started


def _load() -> str:
    return f"load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"


def cells(fits: dict[str, list[dict[str, float]]], key: str) -> list[str]:
    """Seconds of the first process and of the fastest later one, for each model."""
    found = []
    for runs in fits.values():
        best = {stage: min(run[stage] for run in runs[1:]) for stage in runs[0]}
        for times in (runs[0], best):
            found.append(times["first fit"] - times["second fit"] if key == "beyond" else times[key])
    return [f"{value:.2f}" for value in found]


def package_sizes(python: Path) -> Counter[str]:
    """Bytes of every installed package."""
    where = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    sizes: Counter[str] = Counter()
    for found in distributions(path=[where]):
        files = [Path(str(file.locate())) for file in found.files or []]
        sizes[found.name] += sum(file.stat().st_size for file in files if file.is_file())
    return sizes


def stages(python: Path, model: str, environment: dict[str, Any]) -> dict[str, float]:
    """CPU seconds of each stage of one process."""
    ran = subprocess.run([python, "-c", STAGES, model], check=True, capture_output=True, text=True, env=environment)
    found: dict[str, float] = json.loads(ran.stdout)
    return found


if __name__ == "__main__":
    main()
