"""Names of topics that nobody has named."""

from dataclasses import replace

import numpy as np
import pytest

from topicfold import PLSA, Corpus
from topicfold.topics.terms import same_stem


@pytest.fixture
def tree():
    texts = ["game games gaming player team", "sun moon star"] * 3
    return PLSA(2, random_state=0).fit(Corpus.from_texts(texts)).topic_tree()


def scored(tree, *rows):
    """The tree with topics that have these words, in this order."""
    words = sorted({word for row in rows for word in row.split()})
    score = np.full((len(rows), len(words)), -np.inf)
    for number, row in enumerate(rows):
        for place, word in enumerate(row.split()):
            score[number, words.index(word)] = -place
    shape = len(rows), len(words)
    return replace(
        tree,
        ids=np.arange(len(rows)),
        parent=np.full(len(rows), -1),
        level=np.ones(len(rows), int),
        size=np.full(len(rows), 0.5),
        topic_word=np.ones(shape) / shape[1],
        word_frequency=np.ones(shape[1]),
        doc_topic=np.ones((6, len(rows))) / len(rows),
        vocabulary=tuple(words),
        word_score=score,
        word_presence=None,
        wording=None,
    )


def test_one_word_of_each_stem(tree):
    named = scored(tree, "game games gamers player players team teams coach")
    assert named.name(0) == "game, player, team"
    assert [word.word for word in named.words(0, 3)] == ["game", "games", "gamers"]  # no language is known


def test_names_of_a_level_differ(tree):
    same = scored(tree, "goal team ball coach", "team ball goal referee", "sun moon star sky")
    names = [same.name(topic) for topic in range(3)]
    assert names == ["goal, team, ball, coach", "team, ball, goal, referee", "sun, moon, star"]
    twins = scored(tree, "goal team ball", "goal team ball")
    assert [twins.name(0), twins.name(1)] == ["goal, team, ball (0)", "goal, team, ball (1)"]
    above = replace(twins, level=np.array([1, 2]), parent=np.array([1, -1]))
    assert above.name(0) == above.name(1) == "goal, team, ball"


def test_a_name_that_was_given_goes_first(tree):
    named = scored(tree, "goal team ball", "goal team ball").rename({1: "Football"})
    assert named.name(1) == "Football"
    with pytest.raises(ValueError, match="no topic 9"):
        named.name(9)


@pytest.mark.parametrize("pair", [("cat", "cats"), ("run", "run"), ("church", "churches"), ("Straße", "Straßen")])
def test_forms_of_a_word(pair):
    assert same_stem(*pair)
    assert same_stem(*pair[::-1])


@pytest.mark.parametrize("pair", [("cat", "car"), ("sun", "sunday"), ("network", "netscape"), ("mp3", "mp4")])
def test_other_words(pair):
    assert not same_stem(*pair)
