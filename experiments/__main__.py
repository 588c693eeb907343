"""`python -m experiments NAME --data FOLDER`: run an experiment, and print our numbers and the published ones."""

from __future__ import annotations

import argparse
import sys

from . import EXPERIMENTS
from .runner import run


def main(arguments: list[str] | None = None) -> int:
    """Run the named experiment, or list all experiments."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("name", nargs="?", help="the experiment; without it, all are listed")
    parser.add_argument("--data", help="folder with the benchmark corpora; default: TOPICFOLD_DATA")
    parser.add_argument("--out", default="docs/results", help="folder for the results; an interrupted run resumes")
    parser.add_argument("--quick", action="store_true", help="a small version that takes minutes")
    parser.add_argument("--jobs", type=int, default=1, help="number of cells to run in parallel processes")
    parser.add_argument("--so-far", action="store_true", help="run nothing; write the page of finished cells")
    options = parser.parse_args(arguments)
    if options.name is None:
        print("\n".join(EXPERIMENTS))
        return 0
    try:
        run_options = {"quick": options.quick, "n_jobs": options.jobs, "so_far": options.so_far}
        print(run(options.name, data=options.data, out=options.out, **run_options))
    except (ValueError, OSError, ImportError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
