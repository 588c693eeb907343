"""Memory that a fit needs in addition to the corpus, each in a fresh process."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from .common import SEED, Row, Setting, added_memory, at_most, can_measure_memory, fresh, installed, megabytes, missing

_NAME = "Memory added by a fit, K=100"


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    import scipy.sparse as sp

    if not can_measure_memory():
        yield Row(_NAME, "", remark="needs Linux")
        return
    if not installed("enstop"):
        yield missing(_NAME, "enstop")
        return
    repeats = setting.repeats(3, 1)
    kinds = ("nmf", "random", "lda", "enstop")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "counts.npz")
        sp.save_npz(file, setting.corpus.counts.astype("float32"))
        added: dict[str, float] = {}
        for kind in kinds:
            added[kind] = median([fresh(fit_in_fresh_process, kind, str(file)) for _ in range(repeats)])
    lda = f"{_NAME}, LDA against PLSA, random start ({repeats} processes)"
    yield at_most(lda, added["lda"], added["random"], 1.6, megabytes, "<= 1.6x")
    for kind in ("nmf", "random"):
        row_name = f"{_NAME}, {kind} start, against enstop ({repeats} processes)"
        yield at_most(row_name, added[kind], added["enstop"], 1 / 8, megabytes, "<= 1/8")


def fit_in_fresh_process(kind: str, file: str) -> int:
    """Bytes added at the peak of a fit, after a fit to a small corpus for compilation and imports."""
    import numpy as np
    import scipy.sparse as sp

    counts = sp.load_npz(file)

    def fit(matrix: Any, n_topics: int) -> None:
        if kind == "enstop":
            from enstop.plsa import plsa_fit

            weights = np.ones(matrix.shape[0], np.float32)
            plsa_fit(matrix, n_topics, weights, n_iter=5, n_iter_per_test=100, random_state=SEED)
        else:
            from topicfold import LDA, PLSA

            settings = {"max_iter": 5, "tol": 0, "random_state": SEED, "verbose": False}
            model = LDA(n_topics, init="random", **settings) if kind == "lda" else PLSA(n_topics, init=kind, **settings)
            model.fit(matrix)

    fit(counts[:200], 3)
    return added_memory(lambda: fit(counts, 100))
