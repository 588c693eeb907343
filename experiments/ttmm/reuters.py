"""Reuters-21578 as the experiments read it: stories that have a body, with only the body as text."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from topicfold.corpus.corpus import Corpus

from ..corpora import load_benchmark

__all__ = ["CORPUS", "FOLDER", "SOURCE", "has_label", "read_stories"]

FOLDER = "reuters21578_raw"
CORPUS = {"corpus": "ModApte training stories"}
SOURCE = "M. Keller and S. Bengio, Textual Data Representation, IDIAP-RR 03-74, 2003"


def read_stories(folder: Path, split: str, documents: int | None = None, **options: Any) -> Corpus:
    """The stories of a ModApte split that have a body, or a fixed random draw of them; texts are kept."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* texts are empty")  # and left out
        stories = load_benchmark(FOLDER, folder, split=split, keep_texts=True, stop_words="english", **options)
    stories = stories.subset([row for row, text in enumerate(stories.texts or ()) if text.strip()])
    if documents is None or documents >= len(stories):
        return stories
    return stories.subset(np.sort(np.random.default_rng(0).permutation(len(stories))[:documents]))


def has_label(stories: Corpus, label: str) -> np.ndarray:
    """1 for the stories that have this label, otherwise 0; case does not matter."""
    return np.array([int(label.lower() in map(str.lower, labels)) for labels in stories.labels or ()])
