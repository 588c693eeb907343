"""Starts and seed words."""

from __future__ import annotations

import numpy as np
import pytest

from topicfold import PLSA, Corpus
from topicfold.datasets import load_demo
from topicfold.models.em.starts import STARTS, start


@pytest.mark.parametrize("init", STARTS)
def test_starts_are_distributions_and_follow_the_seed(sampled, init):
    draws = [start(sampled, 6, init, np.random.RandomState(seed), {}) for seed in (0, 0)]
    for doc_topic, topic_word in draws:
        assert np.allclose(doc_topic.sum(axis=1), 1)
        assert np.allclose(topic_word.sum(axis=1), 1)
        assert (topic_word > 0).all()
    assert np.array_equal(draws[0][1], draws[1][1])


def test_seed_words_guide_a_topic():
    animals, sky = ["cat dog cow", "dog cow cat cat", "cow dog"], ["sun moon star", "moon star", "sun sun moon"]
    corpus = Corpus.from_texts((animals + sky) * 5)
    for seed in range(5):
        model = PLSA(2, seed_words={1: ["cat"], 0: ["moon"]}, random_state=seed, verbose=False).fit(corpus)
        assert model.topic_word_[1, corpus.vocabulary.index("cow")] > 0.1
        assert model.topic_word_[0, corpus.vocabulary.index("star")] > 0.1
    as_lists = PLSA(2, seed_words=[["moon"], ["cat"]], random_state=0, verbose=False).fit(corpus)
    assert as_lists.topic_word_[1, corpus.vocabulary.index("cow")] > 0.1


@pytest.mark.parametrize(
    ("seed_words", "message"),
    [
        ({5: ["cat"]}, "topic 5"),
        ({0: ["unicorn"]}, "'unicorn' of topic 0 is not in the vocabulary"),
        ({0: "cat"}, "one string"),
        ({0: [99]}, "99"),
    ],
)
def test_bad_seed_words_are_named(seed_words, message):
    corpus = Corpus.from_texts(["cat dog", "sun moon", "cat sun"])
    with pytest.raises(ValueError, match=message):
        PLSA(2, seed_words=seed_words).fit(corpus)
    with pytest.raises(ValueError, match="X has no words; fit on a Corpus or texts"):
        PLSA(2, seed_words={0: ["cat"]}).fit(corpus.counts)


SEEDS = [
    ({0: ["chess", "puzzle", "arcade"], 1: ["spam", "mailbox"]}, 15),
    ({3: ["font", "fonts"], 7: ["mp3", "ogg"]}, 10),
]


@pytest.mark.parametrize(("seeds", "n_topics"), SEEDS)
def test_a_guided_topic_keeps_its_words_and_a_sensible_size(seeds, n_topics):
    corpus = load_demo()
    model = PLSA(n_topics, seed_words=seeds, beta=0.01, random_state=0).fit(corpus)
    for topic, words in seeds.items():
        first = [corpus.vocabulary[word] for word in model.topic_word_[topic].argsort()[-5:]]
        assert set(words) <= set(first)
        assert model.topic_tree(corpus).size_of(topic) > 0.3 / n_topics


@pytest.mark.parametrize("init", ["nmf", "kmeans", "random"])
@pytest.mark.parametrize("topic", [0, 1, 2])
def test_seeded_topics_stand_where_they_were_asked_for(init, topic, blocks):
    counts, block = blocks
    doc_topic, topic_word = start(counts, 3, init, np.random.RandomState(0), {topic: np.array([4])})
    assert doc_topic.sum(axis=1) == pytest.approx(np.ones(30))
    assert topic_word.sum(axis=1) == pytest.approx(np.ones(3))
    assert topic_word[topic, 3:6].sum() == topic_word[:, 3:6].sum(axis=1).max()  # the words of its block
    assert (doc_topic.argmax(axis=1)[block == 1] == topic).all()
