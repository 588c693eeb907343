"""From a fitted model to its TopicTree."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from ..corpus.corpus import Corpus
from ..engine.arrays import content_hash
from ..topics.tree import TopicTree
from .inputs import vocabulary_of

__all__ = ["flat_tree", "topic_tree", "transformed"]


def topic_tree(model: Any, corpus: Corpus | None = None) -> TopicTree:
    """The topics of a fitted model as a tree of arrays.

    With the corpus it was fitted on, or none, documents are those of the fit; another corpus is assigned first.
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if hasattr(model, "topic_tree"):  # a model with a hierarchy of its own
        return model.topic_tree(corpus)
    document_ids = model.document_ids_
    doc_topic, titles = model.doc_topic_, None
    if corpus is not None:
        if corpus.ids != document_ids or content_hash(corpus.counts) != model.corpus_hash_:
            doc_topic, document_ids = transformed(model, corpus), corpus.ids
        titles = corpus.titles
    return flat_tree(model, doc_topic, document_ids, titles)


def flat_tree(
    model: Any, doc_topic: np.ndarray, document_ids: tuple[str, ...] | None, titles: tuple[str, ...] | None
) -> TopicTree:
    """The topics of a model as a tree of one level, with these memberships of these documents."""
    n_topics, n_words = model.topic_word_.shape
    words = vocabulary_of(model) or [f"word {column}" for column in range(n_words)]
    ids = np.arange(n_topics)
    return TopicTree(
        ids=ids,
        parent=np.full(n_topics, -1),
        level=np.ones(n_topics, int),
        size=doc_topic.mean(axis=0, dtype=np.float64),
        topic_word=model.topic_word_,
        doc_topic=doc_topic,
        word_frequency=model.word_frequency_,
        vocabulary=tuple(words),
        document_ids=document_ids or tuple(map(str, range(len(doc_topic)))),
        titles=titles,
        mapping={int(topic): int(topic) for topic in ids},
    )


def transformed(model: Any, X: Any, features: str = "tokens") -> np.ndarray:
    """What a model's transform gives; of a model with several kinds of features (TTMM) these, whatever it is set to."""
    if hasattr(model, "features"):
        model = copy(model)
        model.features = features
    return np.asarray(model.transform(X))
