"""Stability of topics: how often each comes back if the model is fitted again to half of the documents."""

from __future__ import annotations

import threading
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..corpus.corpus import Corpus
from ..engine.arrays import column_sums
from ..engine.blocks import map_blocks, single_threaded_libraries
from ..engine.checks import check_whole
from ..engine.progress import progress
from ..errors import InputError
from ..graph.check import check_graph
from .inputs import CountsLike, RandomStateLike, as_texts

if TYPE_CHECKING:
    from .estimator import TopicModel

__all__ = ["COMES_BACK", "best_matches", "shared_documents"]

COMES_BACK = 1 / 3  # of documents that either topic has, those that both have: half of each, if they are equally large
_ROWS = 1 << 14


def best_matches(
    model: TopicModel,
    X: CountsLike,
    y: Any,
    inputs: dict[str, Any],
    n_refits: int,
    random_state: RandomStateLike,
    n_jobs: int | None,
    verbose: bool | None,
) -> np.ndarray:
    """The best match of each topic in fits of copies to random halves of the documents, refits x topics.

    Two halves of one split follow each other.
    """
    check_whole("n_refits", n_refits)
    documents = _checked_documents(model, X)
    with_words = np.setdiff1d(np.arange(len(model.doc_topic_)), model._wordless(None, len(model.doc_topic_)))
    if len(with_words) < 4:
        raise InputError(
            f"stability needs at least 4 documents with words, to fit to half of them: got {len(with_words)}"
        )
    rng, tasks = check_random_state(random_state), []
    for number in range(n_refits):
        if number % 2 == 0:
            shuffled = rng.permutation(with_words)
        half = shuffled[: len(shuffled) // 2] if number % 2 == 0 else shuffled[len(shuffled) // 2 :]
        tasks.append((np.sort(half), int(rng.randint(np.iinfo(np.int32).max))))
    graph = inputs.get("graph", model.graph_)
    graph = None if graph is None else sp.csr_array(check_graph(graph, len(model.doc_topic_)))
    lock, n_done = threading.Lock(), 0

    def run(task: tuple[np.ndarray, int]) -> np.ndarray:
        nonlocal n_done
        rows, seed = task
        copy = clone(model).set_params(random_state=seed, n_jobs=1, verbose=False, checkpoint=None)
        extras: dict[str, Any] = {} if graph is None else {"graph": graph[rows][:, rows]}
        if inputs.get("embeddings") is not None:
            extras["embeddings"] = np.asarray(inputs["embeddings"])[rows]
        copy.fit(_rows_of(documents, rows), None if y is None else np.asarray(y)[rows], **extras)
        if copy.interrupted_:
            raise KeyboardInterrupt
        with lock:
            n_done += 1
            move(n_done)
        return shared_documents(model.doc_topic_[rows], copy.doc_topic_).max(axis=1)

    with single_threaded_libraries(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with progress("stability", n_refits, unit="fits", verbose=verbose) as move:
            return np.array(map_blocks(run, tasks, n_jobs))


def shared_documents(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """sum_d min(a_dk, b_dl) / sum_d max(a_dk, b_dl): of the documents that topic k or l has, the share that both have.

    >>> shared_documents(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [0.5, 0.5]])).round(2).tolist()
    [[0.67, 0.0], [0.25, 0.5]]
    """
    both = np.zeros((one.shape[1], other.shape[1]))
    for first in range(0, len(one), _ROWS):
        rows = other[first : first + _ROWS].astype(np.float64)
        for topic, shares in enumerate(one[first : first + _ROWS].T):
            both[topic] += np.minimum(shares[:, None], rows).sum(axis=0)
    either = column_sums(one)[:, None] + column_sums(other) - both
    return both / np.maximum(either, 1e-300)


def _checked_documents(model: TopicModel, X: CountsLike) -> Any:
    """The training documents, in a form of which rows can be taken."""
    texts = None if isinstance(X, Corpus) else as_texts(X)
    documents: Any = X if texts is None else Corpus.from_texts(texts)
    if not isinstance(documents, Corpus) and not hasattr(documents, "iloc"):
        documents = sp.csr_array(documents)
    n_documents = len(documents) if isinstance(documents, Corpus) else documents.shape[0]
    is_other = isinstance(documents, Corpus) and model.corpus_hash_ is not None and not model._is_fitted_on(documents)
    if n_documents != len(model.doc_topic_) or is_other:
        raise InputError(
            f"X has {n_documents:,} documents: expected the {len(model.doc_topic_):,} training documents, because "
            "stability compares fits to halves of them with the model"
        )
    return documents


def _rows_of(documents: Any, rows: np.ndarray) -> Any:
    if isinstance(documents, Corpus):
        return replace(documents, texts=None).subset(rows)  # topics of refits are not shown: no phrases to learn
    return documents.iloc[rows] if hasattr(documents, "iloc") else documents[rows]
