"""Write constraints.txt: the versions in this environment of everything that topicfold and its extras need.

They are for all versions of Python but the newest, for which not all of them exist.

With these versions, results are promised to have the same bits, and CI installs them. Run the script in an environment
in which `make check` passes: `.venv/bin/python scripts/build_constraints.py`.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
# what `all` leaves out, too
LEFT_OUT = ("bench", "fastembed", "sudachi", "fugashi", "kiwi", "pythainlp", "rjieba", "spacy")
NEWEST = "3.15"
HEAD = """\
# Made by scripts/build_constraints.py from an environment in which all tests pass; do not edit.
# pip install -c constraints.txt "topicfold[all]" gives the bits of that environment, on the same kind of processor.
"""


def requirements() -> list[Requirement]:
    """The requirements in pyproject.toml, of the core and of the extras; topicfold itself is left out."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = list(project["dependencies"])
    for extra, needed in project["optional-dependencies"].items():
        lines += needed if extra not in LEFT_OUT else []
    requirement_list = [Requirement(line) for line in lines]
    wanted = (one for one in requirement_list if one.marker is None or one.marker.evaluate())
    return [one for one in wanted if one.name != "topicfold"]


def versions_of(requirements: list[Requirement]) -> dict[str, str]:
    """The installed versions of the requirements and of everything that they require in turn."""
    versions: dict[str, str] = {}
    done: set[tuple[str, str]] = set()
    waiting = [(one, extra) for one in requirements for extra in ("", *one.extras)]
    while waiting:
        one, extra = waiting.pop()
        name = canonicalize_name(one.name)
        if (name, extra) in done:
            continue
        done.add((name, extra))
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            raise SystemExit(f"{name} is not installed: pip install -e '.[check,map]' and the other extras") from None
        for line in requires(name) or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                waiting += [(needed, each) for each in ("", *needed.extras)]
    return versions


def main() -> None:
    """Write the file."""
    versions = versions_of(requirements())
    lines = [f'{name}=={versions[name]}; python_version < "{NEWEST}"' for name in sorted(versions)]
    (ROOT / "constraints.txt").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
