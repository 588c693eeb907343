"""`python -m tests.harness NAME --cases N --seed S`: try to break the package, and print how that went."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

# Libraries are kept from starting threads, which would not survive a fork.
_ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the fronts that are named, or all; 1 where a case failed."""
    os.environ.update(_ONE_THREAD)
    from .session import FRONTS, OWN, run_again, run_front, run_one
    from .table import table, write_page

    words = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="python -m tests.harness", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"fronts: {', '.join(FRONTS)}; without, all")
    parser.add_argument("--cases", type=int, help="how many of each front; without, as many as it says itself")
    parser.add_argument("--seed", type=int, default=0, help="other seeds are other cases")
    parser.add_argument("--only", type=int, action="append", help="the number of a case to run again; repeatable")
    parser.add_argument("--again", type=Path, action="append", help="the file of a failure to run again; repeatable")
    parser.add_argument("--out", help="folder for the files of cases that fail; without, a temporary one")
    parser.add_argument("--write", metavar="FILE", help="also write a page of all fronts run so far")
    parser.add_argument("--note", default="", help="what to say of the machine on that page, such as 'shared'")
    options = parser.parse_args(words)
    names = options.names or list(FRONTS)
    unknown = [name for name in names if name not in (*FRONTS, OWN)]
    if unknown or (options.only and len(names) > 1):
        parser.error(f"no such front: {unknown[0]}" if unknown else "--only goes with the name of one front")
    if options.only or options.again:
        outcomes = run_one(names[0], options.only) if options.only else run_again(options.again)
        print("\n".join(f"{one.number}: {one.kind} {one.detail} {one.counted or ''}" for one in outcomes))
        return int(any(one.failed for one in outcomes))
    out = Path(options.out or tempfile.mkdtemp(prefix="harness-failures-"))
    tallies = [run_front(name, options.cases, options.seed, out) for name in names]
    print(table(tallies))
    if options.write:
        write_page(Path(options.write), tallies, " ".join(["python -m tests.harness", *words]), FRONTS, options.note)
    return int(any(tally.n_failures for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
