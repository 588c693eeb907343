"""Small data and small models that the fronts share."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicfold import Corpus
from topicfold.models import MODELS
from topicfold.models.estimator import TopicModel

__all__ = ["VARIANTS", "fit_options", "small_corpus", "small_model"]

# every model, and two that learn from more than words
VARIANTS = (*MODELS, "LTM on embeddings", "TTMM of labels")


def small_corpus(n_documents: int = 90) -> Corpus:
    """Texts on six themes with a paragraph beside the theme; enough words for a tree of several topics."""
    rng = np.random.default_rng(0)
    themes = ["cat dog cow hen", "sun moon star sky", "bread cheese apple salt", "red blue green grey",
              "run walk jump swim", "iron gold tin lead"]  # fmt: skip
    words = np.array([theme.split() for theme in themes])
    texts = [
        " ".join(rng.choice(words[number % len(words)], 8)) + "\n\n" + " ".join(rng.choice(words.ravel(), 3))
        for number in range(n_documents)
    ]
    more: dict[str, Any] = {
        "titles": [f"Title {number}" for number in range(n_documents)],
        "labels": ["abc"[number % 3] for number in range(n_documents)],
        "timestamps": [2000 + number % 7 for number in range(n_documents)],
        "links": [(number, number // 2) for number in range(1, n_documents)],
        "metadata": {"size": range(n_documents), "day": ["2020-01-02"] * n_documents},
    }
    return Corpus.from_texts(texts, segments="paragraphs", keep_texts=True, **more)


def small_model(variant: str, n_topics: int = 3, steps: int = 5, **parameters: Any) -> TopicModel:
    """A model that is fitted in a moment; a variant is a name of MODELS and maybe what else it learns from."""
    info = MODELS[variant.split()[0]]
    options: dict[str, Any] = {info.steps: steps}
    if info.steps == "n_sweeps":
        options |= {"burn_in": steps // 2, "lag": 1, "n_chains": 2}
    if "graph_weight" in info.parameters():
        options["graph_weight"] = 1.0
    if variant == "TTMM of labels":
        options["n_themes"] = "labels"
    if "tol" in info.parameters():
        options["tol"] = 0.0
    return info.make(n_topics, **{"random_state": 0, "verbose": False, **options, **parameters})


def fit_options(variant: str, n_documents: int) -> dict[str, Any]:
    """What `fit` is given beside the counts."""
    if variant == "LTM on embeddings":
        return {"embeddings": np.random.default_rng(0).normal(size=(n_documents, 4))}
    return {"y": ["abc"[number % 3] for number in range(n_documents)]} if variant == "TTMM of labels" else {}
