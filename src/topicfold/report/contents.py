"""From topics and a corpus to a Report: plain values that say all the explorer shows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ..analysis.layout import document_positions
from ..corpus.corpus import Corpus
from ..engine.checks import check_whole
from ..metrics.coherence import coherence
from ..models.base import TopicModel
from ..topics.periods import readable_period, shares_over_time
from ..topics.ranking import relevance, top_word_columns
from ..topics.tree import TopicTree
from .comparison import comparison
from .document_table import FITTED_GRAPH, chosen_documents, document_graph, document_table, shortened
from .page import Report

__all__ = ["build_report", "read_names"]

MOST_DOCUMENTS = 20_000
_FORMAT = 1
_MOST_STEPS = 200  # of the plot of convergence
_WORDS = 30  # a topic shows at once ...
_WEIGHTS = tuple(step / 20 for step in range(21))  # ... for each weight of relevance that the slider has
_COHERENCE_WORDS = 10
_SIMILAR, _LABELS, _DOCUMENTS = 6, 8, 30
_TOPICS_AT_A_TIME = 256  # whose likeness to all others is worked out
_PLACES = 10_000  # steps of the map's scale


def build_report(
    topics: TopicModel | TopicTree,
    corpus: Corpus,
    *,
    name: str = "corpus",
    names: Mapping[int, str] | None = None,
    compare: TopicModel | TopicTree | None = None,
    model_name: str | None = None,
    compare_name: str | None = None,
    layout: Literal["neighbours", "umap"] = "neighbours",
    max_documents: int = MOST_DOCUMENTS,
) -> Report:
    """What the explorer shows of topics and the documents of a corpus.

    Parameters
    ----------
    topics : TopicModel or TopicTree
        A fitted model, whose tree of this corpus is shown; or a tree of it, say with topics merged or renamed.
    corpus : Corpus
        The documents of the fit, or others.
    name : str, default='corpus'
        What the corpus is called on the page.
    names : mapping of int to str, optional
        Names of topics by id.
    compare : TopicModel or TopicTree, optional
        Other topics of the same documents, to set beside.
    model_name, compare_name : str, optional
        What the two are called there.
    layout : {'neighbours', 'umap'}, default='neighbours'
        How documents find their places on the map; 'umap' is an extra.
    max_documents : int, default=20000
        Of more documents the best of each topic and a random part are shown; figures are still those of all.

    Returns
    -------
    Report
    """
    check_whole("max_documents", max_documents)
    tree = _tree_of(topics, corpus)
    if len(tree) == 0:
        raise ValueError("the tree has no topics: there is nothing to show")
    tree = tree.rename(names) if names else tree
    rows = chosen_documents(tree, max_documents)
    graph = document_graph(tree, corpus)
    counts = corpus.counts_over(tree.vocabulary)
    words: dict[str, int] = {}
    labels = _label_table(corpus)
    topic_list = _topics(tree, counts, rows, words, labels)
    shown_graph = None if graph is None else graph[1][rows][:, rows]
    documents = document_table(corpus, counts, tree, rows, shown_graph, words)
    fitted_on = shown_graph if graph is not None and graph[0] == FITTED_GRAPH else None  # links alone draw no map
    x, y = _places(document_positions(tree.doc_topic[rows], fitted_on, method=layout))
    if labels is not None:
        documents["labels"] = [" ".join(map(str, labels[1][row])) for row in rows]
    data = {
        "format": _FORMAT,
        "name": shortened(name),
        "corpus": _corpus_facts(corpus, len(rows), documents.pop("cut", None)),
        "model": _model_facts(tree, model_name),
        "exclusive": bool(tree.exclusive),
        "levels": {str(level): name for level, name in tree.level_names.items()},
        "score": "relevance" if tree.word_score is None else "discerning index",
        "words": [shortened(word) for word in words],
        "share": _word_shares(tree, words),
        "topics": topic_list,
        "labels": None if labels is None else [shortened(label) for label in labels[0]],
        "documents": {**documents, "x": x, "y": y},
        "graph": None if graph is None else graph[0],
        "time": _over_time(tree, corpus),
        "compare": None if compare is None else _compared(tree, _tree_of(compare, corpus), compare_name),
    }
    return Report(data)


def _tree_of(topics: TopicModel | TopicTree, corpus: Corpus) -> TopicTree:
    if not isinstance(topics, TopicTree):
        return topics.topic_tree(corpus)
    if len(topics.doc_topic) != len(corpus):
        raise ValueError(f"the tree has {len(topics.doc_topic):,} documents and the corpus {len(corpus):,}")
    if topics.document_ids != corpus.ids:
        raise ValueError("the corpus has other documents than the tree: expected the same ids in the same order")
    n_segments = None if corpus.segments is None else len(corpus.segments.documents)
    if topics.segment_topic is not None and n_segments is not None and len(topics.segment_topic) != n_segments:
        raise ValueError(f"the tree has {len(topics.segment_topic):,} segments and the corpus {n_segments:,}")
    return topics


def read_names(path: str | Path) -> dict[int, str]:
    """Names of topics from a file that the page downloaded: {"12": "name"}."""
    try:
        given = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} holds no names: {error}") from None
    if not isinstance(given, dict) or not all(key.isdecimal() and isinstance(given[key], str) for key in given):
        raise ValueError(f'{path} holds no names: expected {{"number of a topic": "name", ...}}')
    return {int(topic): name for topic, name in given.items()}


def _corpus_facts(corpus: Corpus, n_shown: int, cut: int | None) -> dict[str, Any]:
    return {
        "documents": len(corpus),
        "shown": n_shown,
        "words": corpus.counts.shape[1],
        "tokens": int(corpus.counts.sum()),
        "segments": None if corpus.segments is None else corpus.segments.counts.shape[0],
        "links": None if corpus.links is None else len(corpus.links),
        "cut": cut,
    }


def _model_facts(tree: TopicTree, title: str | None) -> dict[str, Any]:
    summary, n_topics = tree.summary, int(tree.at_lowest_level.sum())
    if summary is None:  # a tree that somebody made without a model
        return {
            "name": "",
            "title": title or f"{n_topics:,} topics",
            "settings": [],
            "steps": [],
            "unit": "",
            "iterations": 0,
            "ending": "",
        }
    history = summary.history
    steps = np.unique(np.linspace(0, len(history) - 1, min(_MOST_STEPS, len(history))).round().astype(int))
    return {
        "name": summary.name,
        "title": title or f"{summary.name}, {n_topics:,} topics",
        "settings": [[key, value] for key, value in summary.settings.items()],
        "steps": [[int(step) + 1, _number(history[step], 7)] for step in steps],
        "unit": summary.unit,
        "iterations": summary.n_iter,
        "ending": summary.ending,
    }


# ---- topics ---------------------------------------------------------------------------------------------------------


def _topics(
    tree: TopicTree, counts: sp.csr_array, rows: np.ndarray, words: dict[str, int], labelled: Labels | None
) -> list[dict[str, Any]]:
    coherent = _coherence(tree, counts)
    similar = _similar(tree)
    labels = None if labelled is None else _labels_of_topics(tree, *labelled)
    shown = tree.doc_topic[rows]
    topics = []
    for row, topic in enumerate(tree.ids.tolist()):
        best = np.argsort(-shown[:, row], kind="stable")[:_DOCUMENTS]
        topics.append(
            {
                "id": topic,
                "name": None if topic not in tree.names else shortened(tree.names[topic]),
                "parent": int(tree.parent[row]),
                "level": int(tree.level[row]),
                "size": _number(tree.size[row]),
                "coherence": _number(coherent[row], 3),
                "words": _topic_words(tree, row, words),
                "documents": [[int(d), _number(shown[d, row], 3)] for d in best if shown[d, row] > 0],
                "similar": similar[row],
                **({} if labels is None else {"labels": labels[row]}),
                **({} if tree.edges is None else {"parts": [[t, _number(w)] for t, w in tree.parts(topic)]}),
            }
        )
    return topics


def _topic_words(tree: TopicTree, row: int, words: dict[str, int]) -> list[list[float | None]]:
    """[word, P(w|z), score] of the words that are among the best for some weight of relevance, or have a score.

    The score stands only where the tree has one of its own; the page works out relevance as the slider moves.
    """
    found: dict[int, float | None] = {}
    if tree.word_score is not None:
        own = tree.word_scores(row)
        found = {int(w): _number(own[w]) for w in top_word_columns(own, _WORDS) if own[w] > -math.inf}
    logs, lifts = (relevance(tree.topic_word[[row]], tree.word_frequency, weight)[0] for weight in (1, 0))
    known = np.flatnonzero(logs > -math.inf)
    for weight in _WEIGHTS if len(known) else ():
        scores = weight * logs[known] + (1 - weight) * lifts[known]
        best = np.argpartition(-scores, min(_WORDS, len(scores) - 1))[:_WORDS]
        for w in known[best[np.lexsort((best, -scores[best]))]].tolist():
            found.setdefault(w, None)
    numbered = ((words.setdefault(tree.vocabulary[w], len(words)), w, score) for w, score in found.items())
    return [[number, _number(tree.topic_word[row, w]), score] for number, w, score in numbered]


def _word_shares(tree: TopicTree, words: dict[str, int]) -> list[float | None]:
    """P(w), which P(w|z) is set against: the share of all tokens, or where topics are no mixture, of the documents."""
    column = {word: w for w, word in enumerate(tree.vocabulary)}
    n_fitted = len(tree.doc_topic) if tree.summary is None else tree.summary.n_documents
    total = max(float(tree.word_frequency.sum()) if tree.exclusive else n_fitted, 1)
    return [_number(tree.word_frequency[column[word]] / total) for word in words]


def _coherence(tree: TopicTree, counts: sp.csr_array) -> np.ndarray:
    column = {word: w for w, word in enumerate(tree.vocabulary)}
    best = [[column[word.word] for word in tree.words(int(topic), _COHERENCE_WORDS)] for topic in tree.ids]
    return coherence(best, counts=counts, measure="c_npmi")


def _similar(tree: TopicTree) -> list[list[list[float | None]]]:
    """For each topic those of its level most like it: [id, similarity].

    By their words: the cosine of the square roots of P(w|z). Where topics are no mixture all of them give most words
    about the same probability: then by their documents, the correlation of the memberships.
    """
    if tree.exclusive:
        vectors = np.sqrt(tree.topic_word.astype(np.float64))
    else:
        vectors = (tree.doc_topic - tree.doc_topic.mean(axis=0)).T.astype(np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    found = []
    for first in range(0, len(tree), _TOPICS_AT_A_TIME):
        affinities = vectors[first : first + _TOPICS_AT_A_TIME] @ vectors.T
        for row, affinity in enumerate(affinities, first):
            others = np.flatnonzero((tree.level == tree.level[row]) & (tree.ids != tree.ids[row]))
            order = others[np.argsort(-affinity[others], kind="stable")[:_SIMILAR]]
            found.append([[int(tree.ids[k]), _number(affinity[k], 3)] for k in order])
    return found


Labels = tuple[list[str], list[list[int]]]


def _label_table(corpus: Corpus) -> Labels | None:
    """The labels, the most frequent first, and those of each document by number."""
    if corpus.labels is None:
        return None
    matrix, names = corpus.label_matrix()
    order = np.argsort(-np.asarray(matrix.sum(axis=0)).ravel(), kind="stable")
    number = {names[label]: place for place, label in enumerate(order.tolist())}
    return [names[label] for label in order], [[number[label] for label in dict.fromkeys(row)] for row in corpus.labels]


def _labels_of_topics(
    tree: TopicTree, names: list[str], of_document: list[list[int]]
) -> list[list[list[float | None]]]:
    """[label, share of the topic's documents, share of all documents], the most frequent in the topic first."""
    documents = np.repeat(np.arange(len(of_document)), [len(labels) for labels in of_document])
    labels = np.array([label for row in of_document for label in row], dtype=np.int64)
    overall = np.bincount(labels, minlength=len(names)) / len(of_document)
    found = []
    for row in range(len(tree)):
        membership = tree.doc_topic[:, row].astype(np.float64)
        share = np.bincount(labels, membership[documents], len(names)) / max(membership.sum(), 1e-300)
        order = np.argsort(-share, kind="stable")[:_LABELS]
        found.append([[int(k), _number(share[k], 3), _number(overall[k], 3)] for k in order if share[k] >= 0.005])
    return found


# ---- the rest -------------------------------------------------------------------------------------------------------


def _over_time(tree: TopicTree, corpus: Corpus) -> dict[str, Any] | None:
    """The share of each topic by year, month, week or day: the longest of these that gives enough periods."""
    if corpus.timestamps is None or np.isnat(corpus.timestamps).all():
        return None
    by = readable_period(corpus.timestamps)
    periods, share, n_documents = shares_over_time(tree.doc_topic, corpus.timestamps, by)
    if len(periods) < 2:
        return None
    return {
        "by": by,
        "periods": [str(period) for period in periods],
        "documents": n_documents.tolist(),
        "share": [[_number(value, 3) for value in column] for column in share.T],
    }


def _places(positions: np.ndarray) -> tuple[list[int], list[int]]:
    """Places on the map as whole numbers; both axes have one scale."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    scale = _PLACES / max(float((high - low).max()), 1e-12)
    scaled = ((positions - low) * scale).round().astype(int)
    return scaled[:, 0].tolist(), scaled[:, 1].tolist()


def _compared(tree: TopicTree, other: TopicTree, name: str | None) -> dict[str, Any]:
    return {"model": _model_facts(other, name), **comparison(tree, other)}


def _number(value: Any, digits: int = 4) -> float | None:
    """A number with so many digits, None for what is none."""
    number = float(value)
    return float(f"{number:.{digits}g}") if math.isfinite(number) else None
