"""One fit of `select`: fitted on some documents, and measured on the held-out ones."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from ..corpus.corpus import Corpus
from ..engine.arrays import canonical, normalise_rows
from ..engine.distributed.cluster import Cluster
from ..errors import InputError, TopicfoldError
from ..metrics.coherence import coherence
from ..metrics.completion import split_tokens
from ..metrics.stability import diversity
from ..models.em.number_of_topics import unigram_log_likelihood
from ..models.word_ranking import presence_of_words
from ..topics.ranking import keyness, relevance, top_word_columns

__all__ = ["Fit", "FitInput", "Measured", "fit_here", "fit_on_worker", "for_workers", "unigram_score"]

_TOP_WORDS = 10


class Fit(NamedTuple):
    """The measures of one fit."""

    score: float
    coherence: float
    diversity: float
    topics: int
    seconds: float


class Measured(NamedTuple):
    """A fit, or the reason why it failed; its topics, and the largest topic of each document."""

    fit: Fit | str
    topic_word: np.ndarray
    largest: np.ndarray | None  # None if documents have no largest topic


class FitInput(NamedTuple):
    """The input of a fit: documents, graph and embeddings."""

    documents: Any  # a Corpus, a matrix, or a data frame
    graph: sp.csr_array | None = None
    embeddings: np.ndarray | None = None

    def extras_for(self, rows: np.ndarray) -> dict[str, Any]:
        """The graph and the embeddings of some documents."""
        extras: dict[str, Any] = {}
        if self.graph is not None:
            places = np.flatnonzero(rows)
            extras["graph"] = self.graph[places][:, places]
        if self.embeddings is not None:
            extras["embeddings"] = self.embeddings[rows]
        return extras


def fit_here(model: BaseEstimator, fit_input: FitInput, held_out: np.ndarray, seed: int) -> Measured:
    """Fit a copy of the model to the documents not held out.

    Held-out documents are scored only by their words: edges and embeddings are computed from whole documents, including
    the words to predict.
    """
    from sklearn.base import clone

    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    training = _documents(fit_input.documents, ~held_out)
    try:
        started = time.thread_time()
        model.fit(training, **fit_input.extras_for(~held_out))
        seconds = time.thread_time() - started
        others = _documents(fit_input.documents, held_out)
        score = float(model.score(others))
        largest = _largest(model, training, others, held_out)
        if not math.isfinite(score):
            raise InputError(f"the score on held-out documents is {score}")
        topic_word = _topics(model)
        counts = _counts(training)
        words = _top_words(model, topic_word, counts)
        each = coherence(words, counts=counts)
        mean = float(each[np.isfinite(each)].mean()) if np.isfinite(each).any() else math.nan
        fit = Fit(score, mean, diversity(map(tuple, words)), len(topic_word), seconds)
        return Measured(fit, topic_word, largest)
    except TopicfoldError as error:
        return Measured(str(error), np.empty((0, 0)), None)


def unigram_score(documents: Any, held_out: np.ndarray) -> float:
    """Log-likelihood per token of one half of each held-out document, by the word frequencies of the others."""
    training, test = (_counts(_documents(documents, rows)) for rows in (~held_out, held_out))
    return unigram_log_likelihood(training, split_tokens(test)[1])


def for_workers(fit_input: FitInput, cluster: Cluster) -> tuple[Any, ...]:
    """The input of a fit in the form sent to workers: a corpus as a file, a matrix as arrays."""
    documents, graph, embeddings = fit_input
    if isinstance(documents, Corpus):
        path = cluster.new_path().with_suffix(".safetensors")
        documents.save(path)
        documents = str(path)
    return _sent_matrix(documents), _sent_matrix(graph), embeddings


def fit_on_worker(
    documents: Any, graph: Any, embeddings: Any, fold_of: np.ndarray, task: tuple[BaseEstimator, int, int]
) -> Measured:
    """`fit_here` on a worker, with the input that was sent."""
    model, fold, seed = task
    corpus = Corpus.load(documents) if isinstance(documents, str) else _received_matrix(documents)
    return fit_here(model, FitInput(corpus, _received_matrix(graph), embeddings), fold_of == fold, seed)


def _sent_matrix(matrix: Any) -> Any:
    return (matrix.data, matrix.indices, matrix.indptr, matrix.shape) if sp.issparse(matrix) else matrix


def _received_matrix(sent: Any) -> Any:
    return sp.csr_array(sent[:3], shape=sent[3]) if isinstance(sent, tuple) else sent


def _largest(model: Any, training: Any, others: Any, held_out: np.ndarray) -> np.ndarray | None:
    """The largest topic of each document, held out or not, if documents are mixtures of topics."""
    if not hasattr(model, "transform") or (not hasattr(model, "predict") and hasattr(model, "memberships")):
        return None  # documents are in several topics, or in none
    largest = np.empty(len(held_out), np.int32)
    shares = model.doc_topic_ if hasattr(model, "doc_topic_") else model.transform(training)
    largest[~held_out] = np.asarray(shares).argmax(axis=1)
    largest[held_out] = np.asarray(model.transform(others)).argmax(axis=1)
    return largest


def _counts(documents: Any) -> sp.csr_array:
    return canonical(documents.counts if isinstance(documents, Corpus) else documents)


def _documents(X: Any, mask: np.ndarray) -> Any:
    if isinstance(X, Corpus):
        return replace(X, texts=None).subset(mask)  # topics of these fits are not shown: no phrases have to be learned
    return X.iloc[mask] if hasattr(X, "iloc") else X[np.flatnonzero(mask)]


def _topics(model: BaseEstimator) -> np.ndarray:
    """P(w|z) of a fitted model; models of scikit-learn have `components_` instead, on any scale."""
    topic_word = getattr(model, "topic_word_", None)
    if topic_word is not None:
        return np.asarray(topic_word)
    topic_word = getattr(model, "components_", None)
    if topic_word is None or (np.asarray(topic_word) < 0).any():
        raise InputError(f"{type(model).__name__} has no topics: expected topic_word_, or non-negative components_")
    return normalise_rows(np.asarray(topic_word, dtype=np.float64))


def _top_words(model: BaseEstimator, topic_word: np.ndarray, counts: sp.csr_array) -> list[np.ndarray]:
    """The best columns of each topic: by keyness if the model knows its documents, otherwise by relevance."""
    presence = presence_of_words(model)
    if presence is None:
        scores = relevance(topic_word, np.asarray(counts.sum(axis=0), dtype=np.float64))
    else:
        scores = keyness(*presence)
    best = [top_word_columns(row, _TOP_WORDS) for row in scores]
    return [columns[np.isfinite(row[columns])] for columns, row in zip(best, scores)]
