"""A slow, obvious twin of each kernel: the formula, with dense arrays and loops."""

from __future__ import annotations

import numpy as np


def plsa_step(counts, doc_topic, topic_word, smoothing=0.0, prior=None, exponent=1.0):
    """One EM step of (tempered) PLSA on dense arrays: new doc_topic, new topic_word, log-likelihood before."""
    log_likelihood = 0.0
    new_doc = np.zeros_like(doc_topic)
    new_word = np.full_like(topic_word, smoothing) + (0 if prior is None else prior)
    for d in range(counts.shape[0]):
        for w in range(counts.shape[1]):
            n = counts[d, w]
            if n == 0:
                continue
            log_likelihood += n * np.log(doc_topic[d] @ topic_word[:, w])
            joint = (doc_topic[d] * topic_word[:, w]) ** exponent
            posterior = joint / joint.sum()
            new_doc[d] += n * posterior
            new_word[:, w] += n * posterior
        new_doc[d] = new_doc[d] / new_doc[d].sum() if new_doc[d].sum() > 0 else doc_topic[d]
    return new_doc, new_word / np.maximum(new_word.sum(axis=1, keepdims=True), 1e-300), log_likelihood


def fold_in(counts, topic_word, n_iter=2000, exponent=1.0):
    """P(z|d) with topics fixed, from an even start, EM until it stands still."""
    doc_topic = np.full((counts.shape[0], len(topic_word)), 1 / len(topic_word))
    for _ in range(n_iter):
        doc_topic = plsa_step(counts, doc_topic, topic_word, exponent=exponent)[0]
    return doc_topic


def count_words(texts, preprocessing):
    """Counts by word, one dictionary a text."""
    rows = []
    for text in texts:
        row: dict[str, int] = {}
        for word in preprocessing.words(text):
            row[word] = row.get(word, 0) + 1
        rows.append(row)
    return rows
