"""Topics for the explorer: their words, coherence, documents and labels, and similar topics."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..corpus.corpus import Corpus
from ..engine.blocks import single_threaded_libraries
from ..metrics.coherence import coherence
from ..topics.ranking import largest, relevance, top_word_columns
from ..topics.shares import sums_by_group
from ..topics.terms import phrases_of, written
from ..topics.tree import TopicTree
from ..topics.typical import most_typical
from .document_table import shortened

__all__ = ["Labels", "as_number", "label_table", "topic_table", "word_shares"]

_WORDS = 30  # shown at once per topic ...
_WEIGHTS = tuple(step / 20 for step in range(21))  # ... for each relevance weight of the slider
_COHERENCE_WORDS = 10
_SIMILAR, _LABELS, _DOCUMENTS = 6, 8, 30
_LEAST_LABEL = 0.005  # share of a topic's documents
_BLOCK = 1 << 14  # words or documents of one product
_CELLS = 1 << 22  # labels x topics that are summed together


def topic_table(
    tree: TopicTree,
    counts: sp.csr_array,
    rows: np.ndarray,
    first: np.ndarray,
    words: dict[str, int],
    labelled: Labels | None,
) -> list[dict[str, Any]]:
    """What is shown of each topic; its words are added to `words`.

    `rows` are those of the documents on the page, and `first` says which of these each one is a copy of.
    """
    coherent = _coherence(tree, counts)
    similar = _similar(tree)
    labels = None if labelled is None else _labels_of_topics(tree, labelled)
    shown, unnamed = tree.doc_topic[rows], replace(tree, names={})
    typical = None if tree.typicality is None else tree.typicality[rows]
    topics = []
    for row, topic in enumerate(tree.ids.tolist()):
        best = most_typical(shown[:, row], typical, _DOCUMENTS, first)
        topics.append(
            {
                "id": topic,
                "name": None if topic not in tree.names else shortened(tree.names[topic]),
                "called": shortened(unnamed.name(topic)),
                "parent": int(tree.parent[row]),
                "level": int(tree.level[row]),
                "size": as_number(tree.size[row]),
                "coherence": as_number(coherent[row], 3),
                "words": _topic_words(tree, row, words),
                **_phrases(tree, row, topic),
                "documents": [[int(d), as_number(shown[d, row], 3)] for d in best if shown[d, row] > 0],
                "similar": similar[row],
                **({"description": shortened(tree.descriptions[topic])} if topic in tree.descriptions else {}),
                **({"mark": tree.marks[topic]} if topic in tree.marks else {}),
                **({"stability": _stability(tree, topic)} if topic in tree.stability else {}),
                **({} if labels is None else {"labels": labels[row]}),
                **({} if tree.edges is None else {"parts": [[t, as_number(w)] for t, w in tree.parts(topic)]}),
            }
        )
    return topics


def _stability(tree: TopicTree, topic: int) -> list[float | None]:
    """[mean share of documents in common with its best match in a refit, share of refits in which it comes back]."""
    return [as_number(tree.stability[topic], 3), as_number(tree.returns.get(topic, math.nan), 3)]


def as_number(value: Any, digits: int = 4) -> float | None:
    """A number rounded to this many digits; None if it is not a number."""
    number = float(value)
    return float(f"{number:.{digits}g}") if math.isfinite(number) else None


# ---- words ----------------------------------------------------------------------------------------------------------


def _topic_words(tree: TopicTree, row: int, words: dict[str, int]) -> list[list[float | None]]:
    """[word, P(w|z), score] of the words that are among the best for some weight of relevance, or have a score.

    The page computes relevance itself as the slider moves.
    """
    scores: dict[int, float | None] = {}
    if tree.score_name != "relevance":
        score = tree.word_scores(row)
        scores = {int(w): as_number(score[w]) for w in top_word_columns(score, _WORDS) if score[w] > -math.inf}
    logs, lifts = (relevance(tree.topic_word[[row]], tree.word_frequency, weight)[0] for weight in (1, 0))
    possible = np.flatnonzero(logs > -math.inf)
    for w in possible[_best_for_some_weight(logs[possible], lifts[possible])].tolist():
        scores.setdefault(w, None)
    numbered = ((words.setdefault(tree.vocabulary[w], len(words)), w, score) for w, score in scores.items())
    return [[number, as_number(tree.topic_word[row, w]), score] for number, w, score in numbered]


def _phrases(tree: TopicTree, row: int, topic: int) -> dict[str, list[list[Any]]]:
    """[text, stems] of the phrases that the best words of a topic form in its documents, if there are any."""
    best = [word.word for word in tree.words(topic, _WORDS)]
    phrases = [[shortened(text), sorted(stems)] for text, stems in phrases_of(tree, row, best)]
    return {"phrases": phrases} if phrases else {}


def written_words(tree: TopicTree, words: dict[str, int]) -> dict[str, str]:
    """How the texts write words of the page, by number, if not as the vocabulary does."""
    return {str(number): shortened(text) for word, number in words.items() if (text := written(tree, word)) != word}


def stems_of_words(tree: TopicTree, words: dict[str, int]) -> dict[str, list[str]]:
    """The stems of words of the page, by number, if not the word itself."""
    stems = ((number, word, tree._stems_of(word)) for word, number in words.items())
    return {str(number): sorted(of_word) for number, word, of_word in stems if of_word != {word}}


def _best_for_some_weight(logs: np.ndarray, lifts: np.ndarray) -> np.ndarray:
    """Places of the words with the highest weight * logs + (1 - weight) * lifts, the best for the first weight first.

    The best words for three of the weights give a lower bound on the score needed for any other weight, so few words
    have to be ranked.
    """

    def scores(weight: float, subset: np.ndarray | slice) -> np.ndarray:
        return np.asarray(weight * logs[subset] + (1 - weight) * lifts[subset])

    every = slice(None)
    leading = np.unique(np.concatenate([largest(scores(weight, every), _WORDS) for weight in (0.0, 0.5, 1.0)]))
    best_words: dict[int, None] = {}
    for weight in _WEIGHTS if len(leading) else ():
        bar = np.sort(scores(weight, leading))[-min(_WORDS, len(leading))]
        candidates = np.flatnonzero(scores(weight, every) >= bar)
        best = candidates[largest(scores(weight, candidates), _WORDS)]
        best_words |= dict.fromkeys(best.tolist())
    return np.array(list(best_words), dtype=np.int64)


def word_shares(tree: TopicTree, words: dict[str, int]) -> list[float | None]:
    """P(w), to compare P(w|z) with: the share of all tokens or, if topics are not a mixture, of the documents."""
    column = {word: w for w, word in enumerate(tree.vocabulary)}
    n_fitted = len(tree.doc_topic) if tree.summary is None else tree.summary.n_documents
    total = max(float(tree.word_frequency.sum()) if tree.exclusive else n_fitted, 1)
    return [as_number(tree.word_frequency[column[word]] / total) for word in words]


def _coherence(tree: TopicTree, counts: sp.csr_array) -> np.ndarray:
    column = {word: w for w, word in enumerate(tree.vocabulary)}
    best = [[column[word.word] for word in tree.words(int(topic), _COHERENCE_WORDS)] for topic in tree.ids]
    return coherence(best, counts=counts, measure="c_npmi")


# ---- similar topics -------------------------------------------------------------------------------------------------


def _similar(tree: TopicTree) -> list[list[list[float | None]]]:
    """For each topic, the most similar ones of its level: [id, similarity].

    Similarity by words is the cosine of the square roots of P(w|z). If topics are not a mixture, all of them give most
    words about the same probability: then similarity is by documents, as the correlation of the memberships.
    """
    affinity = _cosines(len(tree), _root_blocks(tree) if tree.exclusive else _centred_blocks(tree))
    similar = []
    for row in range(len(tree)):
        others = np.flatnonzero((tree.level == tree.level[row]) & (tree.ids != tree.ids[row]))
        order = largest(affinity[row, others], _SIMILAR)
        similar.append([[int(tree.ids[others[k]]), as_number(affinity[row, others[k]], 3)] for k in order])
    return similar


def _root_blocks(tree: TopicTree) -> Iterable[np.ndarray]:
    for start in range(0, tree.topic_word.shape[1], _BLOCK):
        yield np.sqrt(tree.topic_word[:, start : start + _BLOCK].astype(np.float64))


def _centred_blocks(tree: TopicTree) -> Iterable[np.ndarray]:
    mean = tree.doc_topic.mean(axis=0, dtype=np.float64)
    for start in range(0, len(tree.doc_topic), _BLOCK):
        yield (tree.doc_topic[start : start + _BLOCK] - mean).T


def _cosines(n_topics: int, blocks: Iterable[np.ndarray]) -> np.ndarray:
    """The cosine of every pair of topics, from blocks of the columns of their vectors."""
    products = np.zeros((n_topics, n_topics))
    with single_threaded_libraries():
        for block in blocks:
            products += block @ block.T
    lengths = np.maximum(np.sqrt(products.diagonal()), 1e-300)
    return products / lengths[:, None] / lengths


# ---- labels ---------------------------------------------------------------------------------------------------------


class Labels(NamedTuple):
    """The labels, the most frequent first, and the numbers of each document's labels, as runs of one array."""

    names: list[str]
    ends: np.ndarray  # of the run of each document, with a 0 before the first
    numbers: np.ndarray

    def first(self) -> np.ndarray:
        """The first label of each document, -1 if it has none."""
        labelled = np.diff(self.ends) > 0
        return np.where(labelled, self.numbers[np.where(labelled, self.ends[:-1], 0)] if labelled.any() else -1, -1)

    def of(self, row: int) -> str:
        """The labels of a document as the page reads them."""
        return " ".join(map(str, self.numbers[self.ends[row] : self.ends[row + 1]].tolist()))


def label_table(corpus: Corpus) -> Labels | None:
    """The labels of a corpus; None if it has none."""
    if corpus.labels is None:
        return None
    # most documents share their labels with others, so each set of labels is processed once
    kinds: dict[tuple[str, ...], int] = {}
    kind = np.fromiter((kinds.setdefault(labels, len(kinds)) for labels in corpus.labels), np.int64, len(corpus))
    distinct = [tuple(dict.fromkeys(labels)) for labels in kinds]
    times = np.bincount(kind, minlength=len(distinct)).tolist()
    frequency: dict[str, int] = {}
    for labels, n in zip(distinct, times):
        for label in labels:
            frequency[label] = frequency.get(label, 0) + n
    names = sorted(frequency, key=lambda label: (-frequency[label], label))
    number = {label: place for place, label in enumerate(names)}
    lengths = np.array([len(labels) for labels in distinct], np.int64)
    starts = np.cumsum(lengths) - lengths
    flat = np.array([number[label] for labels in distinct for label in labels], np.int64)
    ends = np.concatenate([[0], np.cumsum(lengths[kind])])
    places = np.repeat(starts[kind] - ends[:-1], lengths[kind]) + np.arange(ends[-1])
    return Labels(names, ends, flat[places])


def _labels_of_topics(tree: TopicTree, labels: Labels) -> list[list[list[float | None]]]:
    """[label, share of the topic's documents, share of all documents], the most frequent in the topic first."""
    n_labels, n_documents = len(labels.names), len(tree.doc_topic)
    documents = np.repeat(np.arange(n_documents), np.diff(labels.ends))
    has_words = ~np.isin(documents, tree.wordless)
    overall = np.bincount(labels.numbers[has_words], minlength=n_labels) / max(n_documents - len(tree.wordless), 1)
    step = max(1, _CELLS // max(n_labels, 1))
    topic_labels = []
    for first in range(0, len(tree), step):
        block = tree.doc_topic[:, first : first + step]
        shares = sums_by_group(block, documents, labels.numbers, n_labels)
        shares /= np.maximum(block.sum(axis=0, dtype=np.float64), 1e-300)
        for share in shares.T:
            order = [k for k in largest(share, _LABELS).tolist() if share[k] >= _LEAST_LABEL]
            topic_labels.append([[k, as_number(share[k], 3), as_number(overall[k], 3)] for k in order])
    return topic_labels
