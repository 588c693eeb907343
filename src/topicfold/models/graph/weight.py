"""The weight of the graph, chosen on held-out documents: `graph_weight="auto"` of LTM and LapPLSI.

Some of the documents are held out, four times over. Weights are tried from weak to strong; each fit to the other
documents continues from the last. Each time, the topics of the held-out documents are inferred from half of their
tokens and from their neighbours, and the other half is predicted from the largest topic of a document alone: from the
words of the fitted documents with the same largest topic, mixed with those of the corpus. This compares the clusters
that the weights lead to. All topics of a document together predict its words better, but they hide what a strong
weight does to the clusters.

The best weight predicts best among those that do not put many more documents into one topic than the first weight
does. Weights within one standard error of it count as equally good. If there are labels, the one that predicts the
labels of held-out documents best is chosen. Otherwise it is no graph (weight 0, tried first if there is a prior), if
that is as good, or else the middle one: the score of a single weight is noisy, and both ends of the range were worse
for clusters. With labels, weight 0 is not chosen. Weights beyond one that is far behind the best are not tried.

With a large corpus, documents are held out fewer times, and the fits of the search use 100,000 documents, with
neighbours searched again among them. With a given graph, they use the edges between these documents, with larger
weights to make up for the missing edges.

Documents are held out, not tokens of each: topics learned from half of each title are so poor that any graph helps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ...corpus.weighting import inverse_document_frequency
from ...engine.arrays import normalise_rows, summed
from ...engine.checks import has_whole_numbers
from ...engine.loop import State, hold_interrupts
from ...engine.progress import progress
from ...engine.warn import warn_user
from ...graph.build import label_graph
from ...graph.neighbors import NeighborIndex, document_vectors
from ...metrics.completion import split_tokens
from ..em.plsa_kernels import SeedCounts, pooled_topic_weight
from .graph_data import GraphData, Vectors
from .graph_model import GraphTopicModel, Weight

__all__ = ["WEIGHTS", "WEIGHTS_WITH_PRIOR", "choose_weight"]

WEIGHTS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
WEIGHTS_WITH_PRIOR = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_PLAIN = 1.0  # if nothing can be held out
_FIRST_STEPS, _STEPS = 12, 3  # EM steps at the first weight and, from there, at each further one
_HELD_OUT, _MOST_HELD_OUT = 0.2, 2_000  # share of the documents, number of them
_SPLITS, _FITTED_IN_ALL = 4, 40_000  # times that documents are held out: fewer if the fits would have more documents
_MOST_FITTED = 100_000  # of the others: the search takes some hundred steps
_FAR_BEHIND = 4.0  # standard errors
_SWALLOWED = 1.5, 0.03  # limit of the largest topic: times its share without a graph, plus this


class _Split(NamedTuple):
    """Documents to fit, and held-out ones: their seen tokens, their neighbours among the others, and unseen tokens."""

    part: GraphData
    seen: sp.csr_array
    unseen: sp.csr_array
    neighbors: sp.csr_array
    labels: np.ndarray | None  # of the held-out documents


class _Tried(NamedTuple):
    """What one weight leads to in one split."""

    scores: np.ndarray  # log-likelihood of the unseen tokens of each held-out document
    share: float  # of the largest topic
    right: int  # held-out labels predicted
    known: int  # held-out labels


def choose_weight(model: GraphTopicModel, documents: GraphData, seed_counts: SeedCounts) -> Weight:
    """The weight, and one row per weight tried: weight, log-likelihood per token, largest share, label accuracy.

    Ctrl-C ends the search after the current weight, and the best so far is used; the last value says so.
    """
    undecided = Weight(_PLAIN, np.empty((0, 4)), False)
    if not has_whole_numbers(documents.counts):
        return undecided
    rng = np.random.RandomState(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))
    weights = WEIGHTS_WITH_PRIOR if model.alpha > 0 else WEIGHTS
    splits = _splits(model, documents, rng)
    n_tokens = sum(split.unseen.sum() for split in splits)
    if splits[0].part.counts.shape[0] < model.n_topics_ or n_tokens == 0:  # too few to hold any out
        return undecided
    # each has its own start: one made from all documents knows the held-out ones, which favoured the first weights
    states = [model._begin(split.part) for split in splits]
    rows: list[list[float]] = []
    scores: list[np.ndarray] = []
    title = f"{type(model).__name__}, choosing graph_weight"
    bar = progress(title, len(weights), unit="weights", verbose=model.verbose)
    with hold_interrupts() as interrupted, bar as move:
        for number, weight in enumerate(weights):
            n_steps = _STEPS if number else _FIRST_STEPS
            tried = [_try(model, *run, seed_counts, weight, n_steps) for run in zip(splits, states, strict=True)]
            scores.append(np.concatenate([one.scores for one in tried]))
            share, known = np.mean([one.share for one in tried]), sum(one.known for one in tried)
            accuracy = sum(one.right for one in tried) / known if known else np.nan
            rows.append([weight, scores[-1].sum() / n_tokens, float(share), accuracy])
            move(number + 1, f"{weight:g}: {rows[-1][1]:.4f} nats per token")
            if interrupted:
                warn_user(f"{title}: interrupted after {number + 1} of {len(weights)} weights")
                break
            if _behind(np.array(scores))[-1] > _FAR_BEHIND:
                break
    path = np.array(rows)
    guided = documents.labels is not None and bool((documents.labels >= 0).any())
    best = _best(path, np.array(scores), _most_share(path, model), guided)
    return Weight(float(path[best, 0]), path, bool(interrupted))


def _splits(model: GraphTopicModel, documents: GraphData, rng: np.random.RandomState) -> list[_Split]:
    """Different documents held out each time."""
    n_documents = documents.counts.shape[0]
    n_held_out = min(round(_HELD_OUT * n_documents), _MOST_HELD_OUT)
    n_splits = min(max(_FITTED_IN_ALL // max(n_documents - n_held_out, 1), 1), _SPLITS)
    order = rng.permutation(n_documents)
    return [_split(model, documents, np.roll(order, -number * n_held_out), n_held_out) for number in range(n_splits)]


def _split(model: GraphTopicModel, documents: GraphData, order: np.ndarray, n_held_out: int) -> _Split:
    """The first documents in this order are held out, and the next ones fitted."""
    counts, vectors, labels = documents.counts, documents.vectors, documents.labels
    graph = documents.graph if documents.unlabelled is None else documents.unlabelled
    assert vectors is not None
    assert graph is not None  # a weight is chosen only if there is a graph
    held_out, fitted = np.sort(order[:n_held_out]), np.sort(order[n_held_out : n_held_out + _MOST_FITTED])
    sampled = len(fitted) < counts.shape[0] - n_held_out
    seen, unseen = split_tokens(counts[held_out])
    seen, training = sp.csr_array(seen).astype(counts.dtype), counts[fitted]
    inner, neighbors = graph[fitted][:, fitted], graph[held_out][:, fitted]
    if documents.source == "words":  # neighbours by the words of the seen half
        metric = model._metric_of(documents.source)
        vectors = document_vectors(training, metric)
        new: Vectors = document_vectors(seen, metric, idf=inverse_document_frequency(training))
    else:
        vectors, new = vectors[fitted], vectors[held_out]
    if documents.source == "words" or (sampled and documents.source == "embeddings"):
        index = NeighborIndex(vectors, model._metric_of(documents.source))
        neighbors = index.nearest(new, model.n_neighbors, n_jobs=model.n_jobs)
        neighbors.data = np.ones(neighbors.nnz)
    if sampled and documents.source != "graph":  # few of a document's nearest are in the sample: search again
        inner = model._nearest_graph(training, vectors, documents.source)
    elif sampled:  # scale the remaining edges, so that a given graph draws a document as strongly as before
        missing = graph[fitted].sum() / max(inner.sum(), 1e-300)
        inner, neighbors = inner * missing, neighbors * missing
    known = None if labels is None else labels[fitted]
    joined = inner if known is None or not (known >= 0).any() else label_graph(inner, known)
    part = documents._replace(counts=training, graph=joined, vectors=vectors, labels=known, unlabelled=inner)
    return _Split(part, seen, unseen, neighbors, None if labels is None else labels[held_out])


def _try(
    model: GraphTopicModel, split: _Split, state: State, seed_counts: SeedCounts, weight: float, n_steps: int
) -> _Tried:
    """Continue the fit of a split with this weight, and predict the unseen half of its held-out documents."""
    step = model._step(split.part, seed_counts, weight)
    for _ in range(n_steps):
        step(state)
    doc_topic, topic_word = _tables(state, model.n_topics_)
    inferred = _folded_in(model, split, doc_topic, topic_word, weight)
    largest = doc_topic.argmax(axis=1)
    scores = _by_largest_topic(split.part.counts, largest, split.unseen, inferred.argmax(axis=1), model.n_topics_)
    share = np.bincount(largest).max() / len(largest)
    return _Tried(scores, share, *_labels_predicted(doc_topic, split.part.labels, inferred, split.labels))


def _tables(state: State, n_topics: int) -> tuple[np.ndarray, np.ndarray]:
    """P(z|d) and P(w|z) in float64."""
    doc_topic = state["doc_topic"][:, :n_topics].astype(np.float64)
    topic_word = state["word_topic"][:, :n_topics].T.astype(np.float64)
    return normalise_rows(doc_topic), normalise_rows(topic_word)


def _folded_in(
    model: GraphTopicModel, split: _Split, doc_topic: np.ndarray, topic_word: np.ndarray, weight: float
) -> np.ndarray:
    """P(z|d) of the held-out documents from their seen tokens."""
    dtype = split.part.counts.dtype
    topics = topic_word.astype(dtype), pooled_topic_weight(split.part.counts, doc_topic)
    neighbors = split.neighbors if weight > 0 else None
    return normalise_rows(model._fold_in_among(split.seen, *topics, neighbors, doc_topic, weight).astype(np.float64))


def _by_largest_topic(
    counts: sp.csr_array, largest: np.ndarray, unseen: sp.csr_array, predicted: np.ndarray, n_topics: int
) -> np.ndarray:
    """Log-likelihood of the unseen tokens of each document: half by its largest topic, half by the corpus.

    sum_w n_dw ln(P(w|fitted documents whose largest topic is that of d) / 2 + P(w) / 2), with P(w) of the corpus.
    """
    member = sp.csr_array((np.ones(len(largest)), (largest, np.arange(len(largest)))), shape=(n_topics, len(largest)))
    cluster_word = normalise_rows((member @ counts).toarray())
    frequency = summed(counts, 0)
    corpus_word = (frequency + 1) / (frequency.sum() + len(frequency))
    document = np.repeat(np.arange(unseen.shape[0]), np.diff(unseen.indptr))
    word = unseen.indices
    probability = (cluster_word[predicted[document], word] + corpus_word[word]) / 2
    return np.bincount(document, unseen.data * np.log(probability), minlength=unseen.shape[0])


def _behind(scores: np.ndarray) -> np.ndarray:
    """How many standard errors each weight is behind the best; `scores` are of documents, one row per weight."""
    difference = scores[scores.sum(axis=1).argmax()] - scores
    total, error = difference.sum(axis=1), difference.std(axis=1) * np.sqrt(scores.shape[1])
    return np.divide(total, error, out=np.where(total > 0, np.inf, 0.0), where=error > 0)


def _most_share(path: np.ndarray, model: GraphTopicModel) -> float:
    """The maximum share of the largest topic, above which the graph draws too much together."""
    if model.alpha > 0:
        factor, more = _SWALLOWED
        return float(factor * path[0, 2] + more)
    return 3 / model.n_topics_ + 0.2


def _best(path: np.ndarray, scores: np.ndarray, most_share: float, guided: bool = False) -> int:
    """The row to choose; `scores` are log-likelihoods of documents, one row per weight.

    If labels have `guided` the graph, weight 0 is not chosen.
    """
    fair = np.flatnonzero((path[:, 2] <= most_share) & ((path[:, 0] > 0) | (not guided) | (len(path) == 1)))
    if not len(fair):
        share = path[:, 2].min()
        warn_user(
            f"every graph_weight puts at least {share:.0%} of the documents in one topic: the smallest weight is used"
        )
        return 0
    close = fair[_behind(scores[fair]) <= 1]
    if not np.isnan(path[close, 3]).all():
        return int(close[np.nanargmax(path[close, 3])])
    return int(close[0] if path[close[0], 0] == 0 else close[len(close) // 2])


def _labels_predicted(
    doc_topic: np.ndarray, labels: np.ndarray | None, inferred: np.ndarray, hidden: np.ndarray | None
) -> tuple[int, int]:
    """How many held-out documents have the label of the nearest class mean, and how many have a label."""
    if labels is None or hidden is None or not (labels >= 0).any() or not (hidden >= 0).any():
        return 0, 0
    classes = np.unique(labels[labels >= 0])
    means = np.stack([doc_topic[labels == label].mean(axis=0) for label in classes])
    rows = np.flatnonzero(hidden >= 0)
    distance = ((inferred[rows, None] - means) ** 2).sum(axis=2)
    return int((classes[distance.argmin(axis=1)] == hidden[rows]).sum()), len(rows)
