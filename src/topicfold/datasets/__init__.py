"""The bundled demo corpus."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from ..corpus.corpus import Corpus
from ..corpus.metadata import as_metadata

__all__ = ["load_demo"]


def load_demo(**options: Any) -> Corpus:
    """Load the bundled demo corpus: about 4,000 Debian packages.

    A document is the synopsis and description of a package. The corpus keeps the texts. Labels are sections, links are
    dependencies, and metadata are the role of a package (program, plugin, shared library and so on), its interface
    (graphical, commandline and so on) and the number of packages in the corpus that it depends on. See DEMO_CORPUS.md
    for sources and licences.

    Parameters
    ----------
    **options : dict
        Parameters of `Corpus.read` to change. By default, words in fewer than 5 descriptions or in more than a fifth of
        them are left out. `labels='tags'` uses the debtags of a package as its labels, usually several.

    Returns
    -------
    Corpus
        The documents.

    See Also
    --------
    topicfold.Corpus.read : Reads your own documents.

    Examples
    --------
    >>> from topicfold.datasets import load_demo
    >>> corpus = load_demo()
    >>> len(corpus) > 3500, len(corpus.labels), corpus.links is not None
    (True, 4096, True)
    """
    file = resources.files(__name__) / "debian_packages.jsonl.gz"
    defaults: dict[str, Any] = {
        "title": "title",
        "labels": "label",
        "links": "links",
        "keep_texts": True,
        "min_df": 5,
        "max_df": 0.2,
    }
    with resources.as_file(file) as path:
        corpus = Corpus.read(path, **{**defaults, **options})
        return corpus if "metadata" in options else replace(corpus, metadata=_metadata(path))


def _metadata(path: Path) -> dict[str, Any]:
    """Metadata from the debtags of packages; a value is missing if a package has none or several."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        packages = [json.loads(line) for line in lines]

    def tagged(package: dict[str, Any], facet: str) -> str:
        values = [tag.partition("::")[2] for tag in package["tags"] if tag.startswith(f"{facet}::")]
        return values[0] if len(values) == 1 else ""

    columns = {facet: [tagged(package, facet) for package in packages] for facet in ("role", "interface")}
    return as_metadata({**columns, "dependencies": [len(package["links"]) for package in packages]})
