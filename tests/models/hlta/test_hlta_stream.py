"""Batches of a stream move the probabilities of the tree."""

from __future__ import annotations

import numpy as np

from topicfold import HLTA


def test_a_stream_of_batches_comes_close_to_one_fit():
    tree = HLTA(random_state=0).fit(np.repeat(np.eye(4, dtype=int), 30, axis=0).repeat(4, axis=1))
    counts = tree.sample(3_000, random_state=1)
    held_out = tree.sample(500, random_state=2)
    whole = HLTA(random_state=0).fit(counts)
    stream = HLTA(random_state=0)
    for first in range(0, 3_000, 500):
        stream.partial_fit(counts[first : first + 500])
    first = HLTA(random_state=0).fit(counts[:500])
    assert stream.n_batches_ == 6
    assert len(stream.doc_topic_) == 500
    assert stream.word_frequency_.tolist() == counts.sum(axis=0).tolist()
    assert stream.score(held_out) >= first.score(held_out) - 0.01
    assert abs(stream.score(held_out) - whole.score(held_out)) < 0.1


def test_a_batch_like_those_before_changes_little():
    model = HLTA(random_state=0, smoothing=0.0).fit(np.repeat(np.eye(4, dtype=int), 30, axis=0).repeat(4, axis=1))
    again = model.sample(20_000, random_state=3)
    before = model.topic_word_.copy()
    model.partial_fit(again)
    assert np.abs(model.topic_word_ - before).max() < 0.03
