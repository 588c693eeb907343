"""Our LDA and PLSA against tomotopy's LDA: CPU time, and how well half of a document predicts the other half."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .common import SEED, Row, Setting, alternating, at_least, at_most, cpu, installed, missing, seconds

_TOPICS, _STEPS = 100, 30
_SWEEPS = 1000
_NAME = f"PLSA against tomotopy's LDA, K={_TOPICS}, {_STEPS} iterations"
_LDA = f"LDA at its defaults against tomotopy's LDA, K={_TOPICS}, {_SWEEPS:,} sweeps"


def rows(setting: Setting) -> Iterator[Row]:
    """The rows of this subject."""
    from topicfold import LDA, PLSA
    from topicfold.metrics.completion import completion_log_likelihood, perplexity, split_tokens

    yield from _steps(setting)
    if not installed("tomotopy"):
        yield missing(_NAME, "tomotopy")
        return
    counts = setting.corpus.counts
    order = np.random.RandomState(SEED).permutation(counts.shape[0])
    n_test = counts.shape[0] // 10
    test, train = counts[np.sort(order[:n_test])], counts[np.sort(order[n_test:])]
    observed, held_out = split_tokens(test)
    frequency = train.sum(axis=0)

    def measure(doc_topic: Any, topic_word: Any) -> float:
        return perplexity(completion_log_likelihood(held_out, doc_topic, topic_word, frequency))

    PLSA(3, max_iter=1, random_state=SEED, verbose=False).fit(train[:200])  # compiles, or loads from the cache
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
    mine, theirs_found = (
        measure(ours.transform(observed), ours.topic_word_),
        measure(_inferred(peer, observed), topic_word),
    )
    yield Row(name, f"{mine:.0f}", f"{theirs_found:.0f}", goal="for reference")
    LDA(3, max_iter=1, random_state=SEED, verbose=False).fit(train[:200])
    ours_lda = LDA(_TOPICS, random_state=SEED, verbose=False)
    mine = cpu(lambda: ours_lda.fit(train))
    theirs += cpu(lambda: peer.train(_SWEEPS - _STEPS, workers=1))
    yield at_least(f"{_LDA}: CPU time of training (1 run)", mine, theirs, 8, seconds)
    topic_word[:, words] = [peer.get_topic_word_dist(topic) for topic in range(_TOPICS)]
    mine, theirs = (
        measure(ours_lda.transform(observed), ours_lda.topic_word_),
        measure(_inferred(peer, observed), topic_word),
    )
    yield at_most(f"{_LDA}: completion perplexity, {n_test:,} test documents", mine, theirs, 1, "{:.0f}".format)


def _steps(setting: Setting) -> Iterator[Row]:
    """One step of leave-one-out EM against one step of PLSA, early and late in a fit."""
    from topicfold.models.em.leave_one_out import leave_one_out_step, state_from
    from topicfold.models.em.plsa_kernels import counts_of_seeds, padded, plain_step
    from topicfold.models.em.starts import start

    counts = setting.corpus.counts.astype(np.float32)
    doc_topic, topic_word = start(counts, _TOPICS, "kmeans", np.random.RandomState(SEED), {})
    none = counts_of_seeds({}, 0.0, counts.dtype)
    plain = {"doc_topic": padded(doc_topic, counts.dtype), "word_topic": padded(topic_word.T, counts.dtype)}
    left_out = state_from(counts, doc_topic, topic_word)
    ours = leave_one_out_step(counts, _TOPICS, None, 1.0, 0.03, 3.0, none)
    theirs = plain_step(counts, _TOPICS, None, 0.01, none)

    def on(step: Callable[[Any], Any], state: Any) -> Callable[[], float]:
        return lambda: cpu(lambda: step(state))

    for when, before in (("early", 1), ("late", 40)):
        for _ in range(before):
            ours(left_out)
            theirs(plain)
        mine, peer = alternating(on(ours, left_out), on(theirs, plain), repeats=5)
        name = f"A step of leave-one-out EM against a step of PLSA, K={_TOPICS}, {when} in a fit"
        yield at_most(name, mine, peer, 2.2, seconds)


def _tomotopy(counts: Any) -> Any:
    import tomotopy

    model = tomotopy.LDAModel(k=_TOPICS, seed=SEED)
    for document in _documents(counts):
        model.add_doc(document)
    model.train(0, workers=1)
    return model


def _inferred(model: Any, counts: Any) -> np.ndarray:
    """P(z|d) of new documents; a document without a known word gets a uniform row."""
    known = set(model.used_vocabs)
    documents = [model.make_doc(words) if known.intersection(words) else None for words in _documents(counts)]
    shares, _ = model.infer([document for document in documents if document is not None], workers=1)
    result = np.full((len(documents), _TOPICS), 1 / _TOPICS)
    result[[document is not None for document in documents]] = shares
    return result


def _documents(counts: Any) -> Iterator[list[str]]:
    """Documents as lists of words, which are column numbers written out."""
    for begin, stop in zip(counts.indptr[:-1], counts.indptr[1:]):
        yield np.repeat(counts.indices[begin:stop], counts.data[begin:stop]).astype(str).tolist()
