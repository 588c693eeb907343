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


def ttmm_step(counts, theme_weight, theme_topic, topic_word, smoothing=0.0):
    """One EM step of TTMM by its sums over documents, words, themes and topics; and the log-likelihood before it."""
    n_themes, n_topics = theme_topic.shape
    word_theme = theme_topic @ topic_word  # P(w|h)
    logs = np.log(theme_weight) + counts @ np.log(word_theme).T
    log_likelihood = np.log(np.exp(logs - logs.max(axis=1, keepdims=True)).sum(axis=1)) + logs.max(axis=1)
    doc_theme = np.exp(logs - log_likelihood[:, None])
    new_theme, new_word = np.zeros_like(theme_topic), np.full_like(topic_word, smoothing)
    for d in range(counts.shape[0]):
        for w in range(counts.shape[1]):
            for j in range(n_themes):
                for k in range(n_topics):
                    posterior = theme_topic[j, k] * topic_word[k, w] / word_theme[j, w]
                    new_theme[j, k] += doc_theme[d, j] * counts[d, w] * posterior
                    new_word[k, w] += doc_theme[d, j] * counts[d, w] * posterior
    return (
        doc_theme.mean(axis=0),
        new_theme / new_theme.sum(axis=1, keepdims=True),
        new_word / new_word.sum(axis=1, keepdims=True),
        log_likelihood,
    )


def ttmm_token_topics(counts, doc_theme, theme_topic, topic_word):
    """The share of each document's tokens that each topic made."""
    shares = np.zeros((counts.shape[0], len(topic_word)))
    for d in range(counts.shape[0]):
        for w in range(counts.shape[1]):
            for j in range(len(theme_topic)):
                joint = theme_topic[j] * topic_word[:, w]
                shares[d] += counts[d, w] * doc_theme[d, j] * joint / joint.sum()
    return shares / counts.sum(axis=1, keepdims=True)


def ltm_step(counts, doc_topic, topic_word, graph, weight):
    """One step of LTM: PLSA's, then eq. 15 as dense systems, a topic at a time; and the objective before it."""
    laplacian = np.diag(graph.sum(axis=1)) - graph
    new_doc, new_word, log_likelihood = plsa_step(counts, doc_topic, topic_word)
    objective = log_likelihood - weight / 2 * (doc_topic * (laplacian @ np.log(doc_topic))).sum()
    lengths = counts.sum(axis=1)
    solved = np.zeros_like(new_doc)
    for k in range(doc_topic.shape[1]):
        solved[:, k] = np.linalg.solve(np.diag(lengths) + weight * laplacian, lengths * new_doc[:, k])
    solved = np.maximum(solved, 1e-12)
    return solved / solved.sum(axis=1, keepdims=True), new_word, objective


def lapplsi_objective(counts, doc_topic, topic_word, graph, weight):
    """Log-likelihood less weight times the squared distances of neighbours, each edge counted once."""
    total = 0.0
    for d in range(counts.shape[0]):
        for w in range(counts.shape[1]):
            if counts[d, w]:
                total += counts[d, w] * np.log(doc_topic[d] @ topic_word[:, w])
        for j in range(d):
            total -= weight * graph[d, j] * ((doc_topic[d] - doc_topic[j]) ** 2).sum()
    return total


def fold_in_near(counts, topic_word, toward, pull, start, n_iter=20_000):
    """P(z|d) of one document drawn to its neighbours: y = (c(y) + toward) / (sum c + pull), until it stands still."""
    y = start
    for _ in range(n_iter):
        c = y * (topic_word @ (counts / np.maximum(y @ topic_word, 1e-300)))
        new = (c + toward) / (c.sum() + pull)
        if np.abs(new - y).sum() < 1e-14:
            break
        y = new
    return y


def separation(doc_topic, graph):
    """(A, B) of DTM: squared distances of all ordered pairs of documents, and times the weight of their edge."""
    pairs = near = 0.0
    for i in range(len(doc_topic)):
        for j in range(len(doc_topic)):
            distance = ((doc_topic[i] - doc_topic[j]) ** 2).sum()
            pairs += distance
            near += graph[i, j] * distance
    return pairs, near


def dtm_update(doc_topic, graph, alpha, i, p, floor=1e-12):
    """Eq. 18 and 19 of DTM for topic p of document i: the table after it, the value kept in floor .. 1 - floor."""
    result = doc_topic.copy()
    value = doc_topic[i, p]
    if value >= 1 - floor:
        return result
    near = graph[i] @ doc_topic[:, p]
    beta = (len(doc_topic) * value + alpha * near) / (doc_topic[:, p].sum() + alpha * graph[i].sum() * value)
    new = min(max(beta * value, floor), 1 - floor)
    result[i] *= (1 - new) / (1 - value)
    result[i, p] = new
    return result


def dtm_sweep(doc_topic, graph, alpha):
    """All topics of all documents once, topic by topic."""
    for p in range(doc_topic.shape[1]):
        for i in range(len(doc_topic)):
            doc_topic = dtm_update(doc_topic, graph, alpha, i, p)
    return doc_topic
