"""For reference: PLSA beside tomotopy's LDA, CPU time and how well half a document foretells its other half."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import SEED, Row, Setting, cpu, installed, missing, seconds

_TOPICS, _STEPS = 100, 30
_NAME = f"PLSA against tomotopy's LDA, K={_TOPICS}, {_STEPS} iterations"


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    from topicfold import PLSA
    from topicfold.metrics.completion import completion_log_likelihood, perplexity, split_tokens

    if not installed("tomotopy"):
        yield missing(_NAME, "tomotopy")
        return
    counts = setting.corpus.counts
    order = np.random.RandomState(SEED).permutation(counts.shape[0])
    n_test = counts.shape[0] // 10
    test, train = counts[np.sort(order[:n_test])], counts[np.sort(order[n_test:])]
    seen, held_out = split_tokens(test)
    frequency = train.sum(axis=0)

    def measure(doc_topic: Any, topic_word: Any) -> str:
        return f"{perplexity(completion_log_likelihood(held_out, doc_topic, topic_word, frequency)):.0f}"

    PLSA(3, max_iter=1, random_state=SEED, verbose=False).fit(train[:200])  # compiled, or read from the cache
    ours = PLSA(_TOPICS, max_iter=_STEPS, tol=0, random_state=SEED, verbose=False)
    mine = cpu(lambda: ours.fit(train))
    peer = _tomotopy(train)
    theirs = cpu(lambda: peer.train(_STEPS, workers=1))
    ratio = f"{theirs / mine:.2f}x"
    yield Row(f"{_NAME}: CPU time of training (1 run)", seconds(mine), seconds(theirs), ratio, "for reference")
    name = f"{_NAME}: completion perplexity, {n_test:,} test documents"
    words = np.array(peer.used_vocabs).astype(int)
    topic_word = np.zeros((_TOPICS, counts.shape[1]))
    topic_word[:, words] = [peer.get_topic_word_dist(topic) for topic in range(_TOPICS)]
    yield Row(
        name,
        measure(ours.transform(seen), ours.topic_word_),
        measure(_inferred(peer, seen), topic_word),
        goal="for reference",
    )


def _tomotopy(counts: Any) -> Any:
    import tomotopy

    model = tomotopy.LDAModel(k=_TOPICS, seed=SEED)
    for document in _documents(counts):
        model.add_doc(document)
    model.train(0, workers=1)
    return model


def _inferred(model: Any, counts: Any) -> np.ndarray:
    """P(z|d) of new documents; one without a word the model knows gets an even row."""
    known = set(model.used_vocabs)
    made = [model.make_doc(words) if known.intersection(words) else None for words in _documents(counts)]
    found, _ = model.infer([document for document in made if document is not None], workers=1)
    result = np.full((len(made), _TOPICS), 1 / _TOPICS)
    result[[document is not None for document in made]] = found
    return result


def _documents(counts: Any) -> Iterator[list[str]]:
    """Documents as lists of words, which are column numbers written out."""
    for begin, stop in zip(counts.indptr[:-1], counts.indptr[1:]):
        yield np.repeat(counts.indices[begin:stop], counts.data[begin:stop]).astype(str).tolist()
