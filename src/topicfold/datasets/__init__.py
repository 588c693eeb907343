"""The bundled demo corpus."""

from __future__ import annotations

from importlib import resources
from typing import Any

from ..corpus.corpus import Corpus

__all__ = ["load_demo"]


def load_demo(**options: Any) -> Corpus:
    """About 4,000 Debian packages: synopsis, description, section, dependencies. See DEMO_CORPUS.md.

    Texts are kept; the section is the label (`labels='tags'` takes the many debtags instead); links are dependencies.
    Options are those of `Corpus.read`; words in fewer than 5 or more than a fifth of the descriptions are left out.

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
        return Corpus.read(path, **{**defaults, **options})
