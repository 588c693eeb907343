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
    """Run the groups that are named, or all; 1 where a case failed."""
    os.environ.update(_ONE_THREAD)
    from .session import GROUPS, OWN, run_group, run_one
    from .table import table, write_page

    parser = argparse.ArgumentParser(prog="python -m tests.harness", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"groups: {', '.join(GROUPS)}; without, all")
    parser.add_argument("--cases", type=int, help="how many of each group; without, as many as it says itself")
    parser.add_argument("--seed", type=int, default=0, help="other seeds are other cases")
    parser.add_argument("--only", type=int, action="append", help="the number of a case to run again; repeatable")
    parser.add_argument("--out", help="folder for the input of cases that fail; without, a temporary one")
    parser.add_argument("--whole", action="store_true", help="keep that input as it is: do not cut it down")
    parser.add_argument("--write", metavar="FILE", help="also write a page of all groups run so far")
    parser.add_argument("--note", default="", help="what to say of the machine on that page, such as 'shared'")
    given = parser.parse_args(arguments)
    names = given.names or list(GROUPS)
    unknown = [name for name in names if name not in (*GROUPS, OWN)]
    if unknown or (given.only and len(names) > 1):
        parser.error(f"no such group: {unknown[0]}" if unknown else "--only goes with the name of one group")
    if given.only:
        outcomes = run_one(names[0], given.only)
        print("\n".join(f"{one.number}: {one.kind} {one.detail} {one.counted or ''}" for one in outcomes))
        return int(any(one.failed for one in outcomes))
    out = Path(given.out or tempfile.mkdtemp(prefix="harness-failures-"))
    tallies = [run_group(name, given.cases, given.seed, out, cut=not given.whole) for name in names]
    print(table(tallies))
    if given.write:
        command = " ".join(["python -m tests.harness", *(arguments if arguments is not None else sys.argv[1:])])
        write_page(Path(given.write), tallies, command, GROUPS, given.note)
    return int(any(tally.n_failures for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
