"""Print the lowest versions that pyproject.toml allows, as constraints for pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path


def lowest(requirements: list[str]) -> list[str]:
    """`name==version` for each requirement with a lower bound.

    >>> lowest(["numpy>=1.26", "topicfold[all]", "PyStemmer>=2.2.0.3; python_version < '3.15'"])
    ['numpy==1.26', 'PyStemmer==2.2.0.3']
    """
    matches = (re.match(r"([A-Za-z0-9_.-]+)>=([0-9.]+)", requirement) for requirement in requirements)
    return [f"{match[1]}=={match[2]}" for match in matches if match]


def main() -> None:
    """Print the requirements of the core and of the extras that users install; test tools may have newer versions."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    print("\n".join(lowest([*project["dependencies"], *(item for name in USED for item in extras[name])])))


USED = ("parquet", "plots", "lda", "neighbors", "embed", "effects", "dask")

if __name__ == "__main__":
    main()
