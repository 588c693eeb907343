"""How strongly the graph should count, chosen without labels: `graph_weight="auto"` of LTM and LapPLSI.

Half of each document's tokens and a tenth of the edges are held out. Weights are tried from weak to strong, each fit
going on from the last, as long as the held-out tokens do not suffer. The best predicts them best, among those that do
not draw many more documents into one topic than no graph does; among weights within one standard error of it the one
whose topics predict the held-out edges (and the labels of half of the labelled documents, where there are labels) best
is taken. With a prior, no graph at all is the first weight tried.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score
from sklearn.utils import check_random_state

from ...engine.arrays import normalise_rows
from ...engine.checks import check_whole_numbers
from ...engine.loop import State, hold_interrupts
from ...engine.progress import progress
from ...engine.warn import warn_user
from ...graph.build import label_graph
from ...graph.neighbors import document_vectors
from ...metrics.completion import completion_log_likelihood_by_document, split_tokens
from ..em import Prior
from .graph_data import GraphData, Vectors
from .graph_model import GraphTopicModel, Weight

__all__ = ["WEIGHTS", "choose_weight"]

WEIGHTS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
WEIGHTS_WITH_PRIOR = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_WORSE = 0.05  # nats per token below the best: stronger weights would only be worse
_SWALLOWED = 1.5, 0.03  # of the largest topic's share without a graph, and beyond it
_FIRST_STEPS, _STEPS = 30, 10  # EM steps at the first weight and, from there, at each further one
_HELD_OUT_EDGES = 0.1
_MOST_PAIRS = 20_000


def choose_weight(model: GraphTopicModel, documents: GraphData, prior: Prior) -> Weight:
    """The weight, and a row for each one tried: weight, log-likelihood per token, largest share, AUC, label accuracy.

    Ctrl-C ends the search after the weight at hand, and the best so far is taken; the last value says so.
    """
    check_whole_numbers(documents.counts, "graph_weight='auto' (held-out tokens)")
    rng = np.random.RandomState(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))
    seen, held_out = split_tokens(documents.counts)
    seen = sp.csr_array(seen).astype(documents.counts.dtype)
    shown, hidden = _split_labels(documents.labels, rng)
    vectors = document_vectors(seen, model.metric) if documents.source == "words" else documents.vectors
    assert vectors is not None  # a weight is chosen only where there is a graph
    graph, edges = _split_edges(_graph_of(model, documents, vectors, shown), rng)
    part = documents._replace(counts=seen, graph=graph, vectors=vectors, labels=shown)
    others = rng.randint(seen.shape[0], size=edges.shape)
    state = model._begin(part)
    frequency = seen.sum(axis=0, dtype=np.float64)
    rows, scores = [], []
    title = f"{type(model).__name__}, choosing graph_weight"
    weights = WEIGHTS_WITH_PRIOR if model.prior > 0 else WEIGHTS
    bar = progress(title, len(weights), unit="weights", verbose=model.verbose)
    with hold_interrupts() as interrupted, bar as move:
        for number, weight in enumerate(weights):
            step = model._step(part, prior, weight)
            for _ in range(_STEPS if number else _FIRST_STEPS):
                step(state)
            doc_topic, topic_word = _tables(state, model.n_topics)
            sums, tokens = completion_log_likelihood_by_document(held_out, doc_topic, topic_word, frequency)
            share = np.bincount(doc_topic.argmax(axis=1), minlength=model.n_topics).max() / len(doc_topic)
            judged = [_edge_auc(doc_topic, edges, others), _label_accuracy(doc_topic, shown, hidden)]
            rows.append([weight, sums.sum() / max(tokens.sum(), 1), share, *judged])
            scores.append(sums)
            move(number + 1, f"{weight:g}: {rows[-1][1]:.4f} nats per token")
            if interrupted:
                warn_user(f"{title}: interrupted after {number + 1} of {len(weights)} weights")
                break
            if model.prior > 0 and rows[-1][1] < max(row[1] for row in rows) - _WORSE:
                break
    path = np.array(rows)
    most = _most_share(path, model)
    return Weight(float(path[_best(path, np.array(scores), most), 0]), path, bool(interrupted))


def _most_share(path: np.ndarray, model: GraphTopicModel) -> float:
    """How large the largest topic may become before the graph has drawn too much together."""
    if model.prior > 0:
        factor, more = _SWALLOWED
        return float(factor * path[0, 2] + more)
    return 3 / model.n_topics + 0.2


def _tables(state: State, n_topics: int) -> tuple[np.ndarray, np.ndarray]:
    """P(z|d) and P(w|z) in float64."""
    doc_topic = state["doc_topic"][:, :n_topics].astype(np.float64)
    topic_word = state["word_topic"][:, :n_topics].T.astype(np.float64)
    return normalise_rows(doc_topic), normalise_rows(topic_word)


def _best(path: np.ndarray, scores: np.ndarray, most_share: float) -> int:
    """The row to take; `scores` are log-likelihoods of documents, one row per weight."""
    fair = np.flatnonzero(path[:, 2] <= most_share)
    if not len(fair):
        share = path[:, 2].min()
        warn_user(f"every graph_weight draws {share:.0%} of the documents or more into one topic: the weakest is taken")
        return 0
    best = fair[scores[fair].sum(axis=1).argmax()]
    behind = scores[best] - scores[fair]
    error = behind.std(axis=1) * np.sqrt(scores.shape[1])
    close = fair[behind.sum(axis=1) <= error]
    return int(close[np.nansum(path[close, 3:], axis=1).argmax()])


def _graph_of(
    model: GraphTopicModel, documents: GraphData, vectors: Vectors, labels: np.ndarray | None
) -> sp.csr_array:
    """The graph as it would be if only the seen tokens and the shown labels were known."""
    graph = documents.graph
    if documents.source == "words":
        graph = model._nearest_graph(vectors, "words")
    elif documents.unlabelled is not None:
        graph = documents.unlabelled
    assert graph is not None
    return graph if labels is None else label_graph(graph, labels)


def _split_edges(graph: sp.csr_array, rng: np.random.RandomState) -> tuple[sp.csr_array, np.ndarray]:
    """The graph without a tenth of its edges, and these, as rows (i, j)."""
    upper = sp.coo_array(sp.triu(graph, k=1))
    held_out = rng.random_sample(upper.nnz) < _HELD_OUT_EDGES
    ends = np.stack([upper.coords[0], upper.coords[1]], axis=1)
    kept = sp.coo_array((upper.data[~held_out], tuple(ends[~held_out].T)), graph.shape)
    edges = ends[held_out]
    if len(edges) > _MOST_PAIRS:
        edges = edges[rng.choice(len(edges), _MOST_PAIRS, replace=False)]
    return sp.csr_array(kept + kept.T), edges


def _edge_auc(doc_topic: np.ndarray, edges: np.ndarray, others: np.ndarray) -> float:
    """How often a held-out edge connects documents more alike (cosine) than a random pair."""
    if not len(edges):
        return float("nan")
    unit = doc_topic / np.linalg.norm(doc_topic, axis=1, keepdims=True)
    alike = [np.einsum("ik,ik->i", unit[pairs[:, 0]], unit[pairs[:, 1]]) for pairs in (edges, others)]
    return float(roc_auc_score(np.repeat([1, 0], len(edges)), np.concatenate(alike)))


def _split_labels(labels: np.ndarray | None, rng: np.random.RandomState) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Labels with half of each class taken out, and those taken out; -1 where there is none."""
    if labels is None or not (labels >= 0).any():
        return None, None
    shown, hidden = np.full_like(labels, -1), np.full_like(labels, -1)
    for label in np.unique(labels[labels >= 0]):
        rows = rng.permutation(np.flatnonzero(labels == label))
        half = -(-len(rows) // 2)
        shown[rows[:half]], hidden[rows[half:]] = label, label
    return shown, hidden


def _label_accuracy(doc_topic: np.ndarray, shown: np.ndarray | None, hidden: np.ndarray | None) -> float:
    """Share of hidden labels that are those of the nearest class mean."""
    if shown is None or hidden is None or not (hidden >= 0).any():
        return float("nan")
    classes = np.unique(shown[shown >= 0])
    means = np.stack([doc_topic[shown == label].mean(axis=0) for label in classes])
    rows = np.flatnonzero(hidden >= 0)
    distance = ((doc_topic[rows, None] - means) ** 2).sum(axis=2)
    return float((classes[distance.argmin(axis=1)] == hidden[rows]).mean())
