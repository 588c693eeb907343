"""Models of LDCC as tests make and compare them, and corpora with segments."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from topicfold import LDCC, Corpus
from topicfold.corpus.corpus import Segments


def small(n_document_topics=2, n_word_topics=3, **parameters):
    options = {"n_sweeps": 30, "burn_in": 20, "lag": 3, "random_state": 0, "verbose": False, **parameters}
    return LDCC(n_document_topics, n_word_topics, **options)


def assert_same(one, other):
    for name in ("topic_word_", "alpha_", "doc_topic_", "doc_cluster_", "segment_topic_", "segment_cluster_"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for name in ("chain_history_", "other_topic_word_", "other_alpha_", "effective_sample_size_"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def as_corpus(counts, documents, n_documents, words=None, **options):
    """A corpus with segments; they are put in the order of their documents."""
    order = np.argsort(documents, kind="stable")
    counts, documents = sp.csr_array(counts)[order], documents[order]
    member = sp.csr_array(
        (np.ones(len(documents), int), (documents, np.arange(len(documents)))), (n_documents, len(documents))
    )
    words = tuple(words or [f"w{w:02d}" for w in range(counts.shape[1])])
    return Corpus(sp.csr_array(member @ counts), words, segments=Segments(counts, documents), **options)


def proper(model):
    assert np.isfinite(model.alpha_).all()
    assert (model.alpha_ > 0).all()
    for name in ("topic_word_", "doc_topic_", "doc_cluster_", "segment_topic_", "segment_cluster_", "history_"):
        assert np.isfinite(getattr(model, name)).all()
    return True
