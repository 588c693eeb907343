"""Clusters of documents by their words, for EM to start from: k-means on LSI vectors, and Gibbs sampling.

LSI vectors may be averaged over a graph of documents, which removes what sets one text apart from similar ones. Gibbs
sampling improves given clusters under a mixture in which each document has one topic (Yin and Wang 2014).
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from ...corpus.weighting import lsi_vectors, unit_rows
from ...engine.arrays import csr_parts, normalise_rows, summed
from ...engine.blocks import single_threaded_libraries
from ...engine.jit import njit_fast

__all__ = [
    "KMEANS_STARTS",
    "averaged_over",
    "even_shares",
    "kmeans_clusters",
    "latent_vectors",
    "positive_rows",
    "sampled_clusters",
    "spread",
    "words_of",
]

_LEAST_DIMENSIONS, _MOST_DIMENSIONS, _MORE_THAN_TOPICS = 50, 200, 20
KMEANS_STARTS, _KMEANS_ITER = 3, 50
_IN_CLUSTER = 0.7  # of a document's weight; the rest is spread evenly, so that topics start close together
_CORPUS_SHARE = 0.1  # of the corpus in a topic's words at the start, so that every topic can use every word
_SWEEPS, _GREEDY_SWEEPS = 15, 3  # the last sweeps take the best cluster instead of drawing one
_DOCUMENT_PRIOR, _WORD_PRIOR = 1.0, 0.1
_MOST_OF_A_WORD = 50  # tokens of one word in one document; more tell nothing new about its cluster


def latent_vectors(
    sample: sp.csr_array, n_topics: int, rng: np.random.RandomState, counts: sp.csr_array | None = None
) -> np.ndarray:
    """LSI vectors for so many clusters of the documents in a sample, or of all `counts` in the space of the sample."""
    n_dimensions = max(_LEAST_DIMENSIONS, min(n_topics + _MORE_THAN_TOPICS, _MOST_DIMENSIONS))
    return lsi_vectors(sample, n_dimensions, rng, counts)


def averaged_over(graph: sp.csr_array, vectors: np.ndarray, times: int = 2) -> np.ndarray:
    """Vectors averaged over a graph several times, each edge divided by the root of its ends' degrees; unit rows.

    A document counts for itself like an edge of mean weight.
    """
    own = graph.data.mean() if graph.nnz else 1.0
    scale = 1 / np.sqrt(own + graph.sum(axis=1))
    mean = sp.diags_array(scale) @ (graph + own * sp.eye_array(graph.shape[0], format="csr")) @ sp.diags_array(scale)
    mean = sp.csr_array(mean).astype(np.float32)
    for _ in range(times):
        vectors = mean @ vectors
    return unit_rows(vectors)


def kmeans_clusters(
    vectors: np.ndarray | sp.csr_array,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    n_init: int = KMEANS_STARTS,
    max_iter: int = _KMEANS_ITER,
    seen: np.ndarray | sp.csr_array | None = None,
) -> np.ndarray:
    """The cluster of each vector, by k-means on all vectors or on those `seen`."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with single_threaded_libraries(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct documents than clusters: fine for a start
        kmeans = KMeans(n_clusters, n_init=n_init, max_iter=max_iter, random_state=rng)
        labels = kmeans.fit(vectors).labels_ if seen is None else kmeans.fit(seen).predict(vectors)
    return np.asarray(labels)


# ---- from clusters to topics ----------------------------------------------------------------------------------------


def even_shares(n_documents: int, n_topics: int) -> np.ndarray:
    """P(z|d) with the same share for each topic, which takes no memory."""
    return np.broadcast_to(1 / n_topics, (n_documents, n_topics))


def spread(doc_topic: np.ndarray) -> np.ndarray:
    """P(z|d) mixed with an even distribution."""
    return _IN_CLUSTER * doc_topic + (1 - _IN_CLUSTER) / doc_topic.shape[1]


def words_of(counts: sp.csr_array, doc_topic: np.ndarray, whole: sp.csr_array) -> np.ndarray:
    """P(w|z) of documents weighted by doc_topic, mixed with a little of the words of the whole corpus."""
    topic_word = positive_rows((counts.T @ doc_topic).T)
    corpus = summed(whole, 0) + 1e-12
    topic_word *= 1 - _CORPUS_SHARE
    topic_word += _CORPUS_SHARE * corpus / corpus.sum()
    return topic_word


def positive_rows(values: np.ndarray) -> np.ndarray:
    """Rows divided by their sums, in place if they are float64; a row of zeros becomes uniform."""
    values = np.asarray(values, dtype=np.float64)
    values[values.sum(axis=1) <= 0] = 1
    return normalise_rows(values, out=values)


# ---- Gibbs sampling -------------------------------------------------------------------------------------------------


@njit_fast
def resample_clusters(indptr, indices, data, uniform, greedy, cluster, documents, tokens, word_count, log_word, logs):
    """One sweep of collapsed Gibbs sampling: the cluster of each document given those of the others, in turn.

    log P(k)  =  log(documents_k + alpha) + sum_w sum_{i<n_w} log(word_count_wk + i + beta)
                 - n log(tokens_k + V beta + (n - 1) / 2)        nearly  sum_{i<n} log(tokens_k + V beta + i)

    The tables count the documents of each cluster. logs[i] = log(i + beta), log_word = logs[word_count].
    """
    n_words, n_clusters = word_count.shape
    score = np.empty(n_clusters, np.float32)
    for d in range(len(cluster)):
        length = 0
        for cell in range(indptr[d], indptr[d + 1]):
            length += data[cell]
        if length == 0:
            continue
        # without this document
        own = cluster[d]
        documents[own] -= 1
        tokens[own] -= length
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            word_count[w, own] -= data[cell]
            log_word[w, own] = logs[word_count[w, own]]
        for k in range(n_clusters):
            middle = np.float32(tokens[k] + n_words * _WORD_PRIOR + (length - 1) / 2)
            score[k] = np.log(np.float32(documents[k] + _DOCUMENT_PRIOR)) - length * np.log(middle)
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            for k in range(n_clusters):
                score[k] += log_word[w, k]
            for i in range(1, data[cell]):
                for k in range(n_clusters):
                    score[k] += logs[word_count[w, k] + i]
        # its new cluster
        own = np.argmax(score)
        if not greedy:
            most, total = score[own], np.float32(0)
            for k in range(n_clusters):
                score[k] = np.exp(score[k] - most)
                total += score[k]
            rest = uniform[d] * total
            for k in range(n_clusters):
                rest -= score[k]
                if rest < 0:
                    own = k
                    break
        cluster[d] = own
        documents[own] += 1
        tokens[own] += length
        for cell in range(indptr[d], indptr[d + 1]):
            w = indices[cell]
            word_count[w, own] += data[cell]
            log_word[w, own] = logs[word_count[w, own]]


def sampled_clusters(
    counts: sp.csr_array, cluster: np.ndarray, n_clusters: int, rng: np.random.RandomState
) -> np.ndarray:
    """Clusters of documents, from given ones, by a few sweeps of Gibbs sampling; the counts are whole numbers."""
    indptr, indices, data = csr_parts(counts)
    data = np.minimum(data, _MOST_OF_A_WORD).astype(np.int32)
    cluster = cluster.astype(np.int64)
    cut = sp.csr_array((data, indices, indptr), counts.shape)
    of_cluster = np.zeros((len(cluster), n_clusters), np.int32)
    of_cluster[np.arange(len(cluster)), cluster] = 1
    filled = np.diff(indptr) > 0
    documents = of_cluster[filled].sum(axis=0, dtype=np.int64)
    word_count = np.ascontiguousarray(cut.T @ of_cluster, dtype=np.int32)
    tokens = word_count.sum(axis=0, dtype=np.int64)
    logs = np.log(np.arange(cut.sum(axis=0).max(initial=0) + _MOST_OF_A_WORD + 1) + _WORD_PRIOR).astype(np.float32)
    tables = (cluster, documents, tokens, word_count, logs[word_count], logs)
    for sweep in range(_SWEEPS):
        greedy = sweep >= _SWEEPS - _GREEDY_SWEEPS
        resample_clusters(indptr, indices, data, rng.random_sample(len(cluster)), greedy, *tables)
    return cluster
