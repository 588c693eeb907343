"""From topics and a corpus to a Report: plain values with everything that the explorer shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ..analysis.effects import Effects
from ..analysis.effects import effects as estimated_effects
from ..analysis.layout import document_positions
from ..corpus.corpus import Corpus
from ..engine.checks import check_number, check_whole
from ..errors import InputError
from ..models.estimator import TopicModel, tree_of
from ..topics.edits import Edit, read_edits
from ..topics.tree import TopicTree
from ..topics.wordless import with_words
from .comparison import comparison
from .document_table import (
    FITTED_GRAPH,
    MOST_COMPARED,
    document_graph,
    document_table,
    nearest_different,
    shortened,
)
from .effect_table import effect_table
from .group_tables import group_tables
from .map_words import neighbourhood_words
from .metadata_table import metadata_table
from .page import Report
from .sample import Sample, chosen_documents
from .time_table import time_table
from .topic_hierarchy import topic_hierarchy
from .topic_table import (
    Labels,
    as_number,
    label_table,
    stems_of_words,
    topic_table,
    word_shares,
    written_words,
)

__all__ = ["build_report"]

MOST_DOCUMENTS = 200_000
_FORMAT = 1
_MOST_STEPS = 200  # of the plot of convergence
_GRAPH_ON_MAP = 0.5  # weight of a fitted graph on the map, relative to that of neighbours by topic
_PLACES = 10_000  # steps of the map's scale


def build_report(
    topics: TopicModel | TopicTree,
    corpus: Corpus,
    *,
    name: str = "corpus",
    names: Mapping[int, str] | None = None,
    edits: str | Path | Sequence[Edit] | None = None,
    effects: Effects | str | None = None,
    compare: TopicModel | TopicTree | None = None,
    model_name: str | None = None,
    compare_name: str | None = None,
    layout: Literal["neighbours", "umap"] = "neighbours",
    max_documents: int = MOST_DOCUMENTS,
    texts_mb: float = 36.0,
) -> Report:
    """Build the explorer: an interactive page of topics and documents.

    Parameters
    ----------
    topics : TopicModel or TopicTree
        A fitted model, or a tree of this corpus, for example with topics merged or renamed.
    corpus : Corpus
        The documents of the fit, or others. Keep titles and texts to read them on the page.
    name : str, default='corpus'
        Name of the corpus on the page.
    names : mapping of int to str, default=None
        Names of topics by id.
    edits : str, Path or sequence of mappings, default=None
        Edits that a reader made on an earlier page (topics renamed, merged, dropped or grouped): the file downloaded
        from the page, or a list; see `TopicTree.apply`. Edits on the new page are added to them.
    effects : Effects or str, default=None
        Effects of metadata to show: the result of `effects`, or a formula such as '~ party + year'.
    compare : TopicModel or TopicTree, default=None
        Other topics of the same documents to compare with.
    model_name : str or None, default=None
        Name of the topics in the comparison.
    compare_name : str or None, default=None
        Name of the other topics in the comparison.
    layout : {'neighbours', 'umap'}, default='neighbours'
        How documents are placed on the map. 'umap' needs the extra topicfold[map].
    max_documents : int, default=200000
        Maximum number of documents on the page. If there are more, it shows a sample: the typical documents of each
        topic, and others spread evenly over topics, labels and dates. Numbers are still those of all documents, except
        on the map and with a filter.
    texts_mb : float, default=36.0
        Maximum megabytes of text on the page, in UTF-8 and before compression, which leaves 0.5 to 0.6 of it. If
        there is more, the longest texts are cut, but to no less than 200 bytes, and the page says so.

    Returns
    -------
    Report
        The page; `save` writes it to a file.

    Raises
    ------
    InputError
        If the topics are not of this corpus, or an edit or formula cannot be used.

    See Also
    --------
    TopicTree : Topics to print, change and save.
    topicfold.plots.document_map : A static map.

    Examples
    --------
    >>> from topicfold import Corpus, LDA, build_report
    >>> corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"], keep_texts=True)
    >>> build_report(LDA(2, random_state=0).fit(corpus), corpus, name="pets")
    Report on pets: 2 topics, 4 documents
    """
    check_whole("max_documents", max_documents)
    check_number("texts_mb", texts_mb)
    tree = tree_of(topics, corpus)
    if len(tree) == 0:
        raise InputError("the tree has no topics: there is nothing to show")
    tree = tree.rename(names) if names else tree
    edit_list = read_edits(edits) if isinstance(edits, str | Path) else [dict(edit) for edit in edits or ()]
    tree = tree.apply(edit_list)
    if len(tree) == 0:
        raise InputError("the edits drop every topic: there is nothing to show")
    tree = replace(tree, doc_topic=with_words(tree))  # documents without words are in no topic on the page
    labels = label_table(corpus)
    sample = chosen_documents(tree, max_documents, _strata(corpus, labels), corpus.copies.first)
    rows = sample.rows
    first = _first_shown(corpus.copies.first[rows])
    graph = document_graph(tree, corpus)
    counts = corpus.counts_over(tree.vocabulary)
    words: dict[str, int] = {}
    topic_list = topic_table(tree, counts, rows, first, words, labels)
    groups = group_tables(tree, corpus, words)
    shown_graph = None if graph is None else graph[1][rows][:, rows]
    alike = nearest_different(tree.doc_topic[rows], first)
    documents = document_table(corpus, counts, tree, rows, first, alike, shown_graph, words, round(1e6 * texts_mb))
    fitted_on = shown_graph if graph is not None and graph[0] == FITTED_GRAPH else None  # links alone draw no map
    places = _places(document_positions(tree.doc_topic[rows], _map_graph(alike, fitted_on, first), method=layout))
    x, y = places.T.tolist()
    if labels is not None:
        documents["labels"] = [labels.of(row) for row in rows]
    metadata, columns = metadata_table(corpus, rows)
    data = {
        "format": _FORMAT,
        "name": shortened(name),
        "corpus": _corpus_facts(corpus, sample, documents.pop("cut", None)),
        "no_texts": documents.pop("no_texts", None),
        "model": _model_facts(tree, model_name),
        "exclusive": bool(tree.exclusive),
        "levels": {str(level): name for level, name in tree.level_names.items()},
        "score": tree.score_name,
        "words": [shortened(word) for word in words],
        "written": written_words(tree, words),
        "stems": stems_of_words(tree, words),
        "share": word_shares(tree, words),
        "topics": topic_list,
        "labels": None if labels is None else [shortened(label) for label in labels.names],
        "documents": {**documents, **columns, "x": x, "y": y},
        "metadata": metadata,
        "neighbourhoods": neighbourhood_words(counts[rows], places, tree.vocabulary),
        "hierarchy": topic_hierarchy(tree),
        "graph": None if graph is None else graph[0],
        "time": time_table(tree, corpus, counts),
        "edits": edit_list,
        "next_id": max([*tree.ids.tolist(), *tree.mapping]) + 1,
        "groups": groups,
        "effects": None if effects is None else effect_table(_estimated(effects, tree, corpus)),
        "compare": None if compare is None else _compared(tree, tree_of(compare, corpus), compare_name),
    }
    return Report(data)


def _strata(corpus: Corpus, labels: Labels | None) -> dict[str, np.ndarray]:
    """What a sample of the documents is spread over, in addition to topics."""
    strata: dict[str, np.ndarray] = {}
    if labels is not None:
        strata["labels"] = labels.first()
    if corpus.timestamps is not None:
        strata["dates"] = corpus.timestamps
    return strata


def _corpus_facts(corpus: Corpus, sample: Sample, cut: int | None) -> dict[str, Any]:
    sample_facts = {"best": sample.best, "in_best": sample.n_best, "over": list(sample.over)}
    return {
        "documents": len(corpus),
        "shown": len(sample.rows),
        "sample": sample_facts if sample.best else None,
        "words": corpus.counts.shape[1],
        "tokens": int(corpus.counts.sum()),
        "segments": None if corpus.segments is None else corpus.segments.counts.shape[0],
        "links": None if corpus.links is None else len(corpus.links),
        "cut": cut,
        "copies": corpus.copies.n_exact + corpus.copies.n_near,
        "check": [list(part) for part in corpus.check().parts()],
    }


def _model_facts(tree: TopicTree, title: str | None) -> dict[str, Any]:
    summary, n_topics = tree.summary, int(tree.at_lowest_level.sum())
    if summary is None:  # a tree made without a model
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
        "steps": [[int(step) + 1, as_number(history[step], 7)] for step in steps],
        "unit": summary.unit,
        "iterations": summary.n_iter,
        "ending": summary.ending,
    }


# ---- the rest -------------------------------------------------------------------------------------------------------


def _estimated(effects: Effects | str, tree: TopicTree, corpus: Corpus) -> Effects:
    if isinstance(effects, str):
        return estimated_effects(tree, corpus, effects)
    unknown = sorted(set(effects.topics) - set(tree.ids.tolist()))
    if unknown:
        raise InputError(f"the effects include topic {unknown[0]}, which is not on the page")
    return effects


def _first_shown(first: np.ndarray) -> np.ndarray:
    """The first document on the page that each one there is a copy of, from the first documents in the corpus."""
    _, places, group = np.unique(first, return_index=True, return_inverse=True)
    return np.asarray(places[group])


def _map_graph(alike: sp.csr_array, fitted_on: sp.csr_array | None, first: np.ndarray) -> sp.csr_array | None:
    """Neighbours by topic and, with half the total weight, those of the graph of the fit; None: the map finds its own.

    A copy is also a neighbour of the document that it is a copy of.
    With the graph alone, the documents of a topic would be scattered over the map.
    """
    if fitted_on is None and alike.shape[0] <= MOST_COMPARED:
        return None
    copies = np.flatnonzero(first != np.arange(len(first)))
    alike = alike + sp.csr_array((np.ones(len(copies), np.float32), (copies, first[copies])), alike.shape)
    near = sp.csr_array(alike.maximum(alike.T), dtype=np.float64)
    if fitted_on is None or not fitted_on.nnz:
        return near
    return sp.csr_array(near + (_GRAPH_ON_MAP * near.sum() / fitted_on.sum()) * fitted_on)


def _places(positions: np.ndarray) -> np.ndarray:
    """Places on the map as whole numbers; both axes have the same scale."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    scale = _PLACES / max(float((high - low).max()), 1e-12)
    return ((positions - low) * scale).round().astype(np.int64)


def _compared(tree: TopicTree, other: TopicTree, name: str | None) -> dict[str, Any]:
    return {"model": _model_facts(other, name), **comparison(tree, other)}
