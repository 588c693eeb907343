"""Nearest neighbours by the cosine of tf-idf: exact search against scikit-learn, approximate against exact search."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from .common import (
    PLAIN_TEXTS,
    Row,
    Setting,
    added_memory,
    alternating,
    at_least,
    at_most,
    can_measure_memory,
    cpu,
    fresh,
    megabytes,
    seconds,
)
from .paragraphs import cached_paragraphs

_NEIGHBORS = 10
_PARAGRAPHS, _QUICK_PARAGRAPHS = 100_000, 60_000  # more than the limit of the exact search
_FEW = 5  # neighbours of a paragraph, as in graph models
_RECALL = 0.93


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    import scipy.sparse as sp

    from topicfold.graph.neighbors import document_vectors

    vectors = document_vectors(setting.corpus.counts)
    _check_same(ours(vectors), scikit_learn(vectors))
    repeats = setting.repeats(5)
    mine, peer = alternating(
        lambda: cpu(lambda: ours(vectors)), lambda: cpu(lambda: scikit_learn(vectors)), repeats=repeats
    )
    yield from _approximate(setting)
    name = f"{_NEIGHBORS} nearest neighbours of each document, against scikit-learn's NearestNeighbors (brute)"
    yield at_least(f"{name}, same distances ({repeats} runs)", mine, peer, 5, seconds)
    if not can_measure_memory():
        yield Row(f"Memory added by the {name}", "", remark="needs Linux")
        return
    repeats = setting.repeats(3, 1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "vectors.npz")
        sp.save_npz(file, vectors)
        mine, peer = (
            median([fresh(memory_in_fresh_process, kind, str(file)) for _ in range(repeats)])
            for kind in ("ours", "scikit_learn")
        )
    yield at_most(f"Memory added by the {name} ({repeats} processes)", mine, peer, 1 / 4, megabytes, "<= 1/4")


def _approximate(setting: Setting) -> Iterator[Row]:
    """Time and recall of the approximate search among many paragraphs, compared with the exact one."""
    from topicfold import Corpus
    from topicfold.graph.neighbors import document_vectors, nearest

    n_paragraphs = _QUICK_PARAGRAPHS if setting.quick else _PARAGRAPHS
    folder = Path(tempfile.gettempdir(), "topicfold-paragraphs")
    folder.mkdir(exist_ok=True)
    file = cached_paragraphs(folder, n_paragraphs, setting.file.parents[1] if setting.file else None)
    vectors = document_vectors(Corpus.read(file, text="text", min_df=5, max_df=0.5, **PLAIN_TEXTS))
    graphs: dict[bool, Any] = {}

    def search(exact: bool) -> None:
        graphs[exact] = nearest(vectors, vectors, _FEW, skip_self=True, exact=exact)

    repeats = setting.repeats(3, 1)
    mine, exact = alternating(lambda: cpu(lambda: search(False)), lambda: cpu(lambda: search(True)), repeats=repeats)
    name = f"{_FEW} nearest of {n_paragraphs:,} paragraphs, approximate against exact"
    yield at_least(f"{name} ({repeats} runs)", mine, exact, 1.8, seconds)
    recall = (graphs[False] != 0).multiply(graphs[True] != 0).nnz / graphs[True].nnz
    yield Row(
        f"Recall: share of the exact neighbours found, {name}",
        f"{recall:.3f}",
        "1",
        "",
        f">= {_RECALL}",
        recall >= _RECALL,
    )


def ours(vectors: Any) -> Any:
    """Similarities, at most ten per row."""
    from topicfold.graph.neighbors import nearest

    return nearest(vectors, vectors, _NEIGHBORS, skip_self=True)


def scikit_learn(vectors: Any) -> Any:
    """(distances, rows), nearest first."""
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=_NEIGHBORS, metric="cosine", algorithm="brute").fit(vectors).kneighbors()


def memory_in_fresh_process(kind: str, file: str) -> int:
    """Bytes added at the peak of a search, after a search among a few documents for compilation and imports."""
    import scipy.sparse as sp

    vectors = sp.csr_array(sp.load_npz(file))
    search = {"ours": ours, "scikit_learn": scikit_learn}[kind]
    search(vectors[:200])
    return added_memory(lambda: search(vectors))


def _check_same(similarities: Any, peer: Any) -> None:
    """Check that our similarities are one minus the peer's distances; we leave out pairs without a common word."""
    import numpy as np

    best = np.zeros_like(peer[0])
    for row in range(similarities.shape[0]):
        values = np.sort(similarities.data[similarities.indptr[row] : similarities.indptr[row + 1]])[::-1]
        best[row, : len(values)] = values
    if np.abs(1 - best - peer[0]).max() > 1e-5:
        raise AssertionError("nearest and NearestNeighbors do not find the same distances")
