"""Which topics belong together, for the explorer."""

import numpy as np
import pytest
from report_cases import small_corpus

from topicfold import HLTA, LDA, PLSA, TTMM, Corpus
from topicfold.report.topic_hierarchy import topic_hierarchy


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    subjects = [
        "cat dog fur paw",
        "dog cat bone tail",
        "sun moon star sky",
        "moon star orbit comet",
        "tea cup milk cake",
    ]
    return [" ".join(rng.choice(subjects[d % 5].split(), 12)) for d in range(100)]


def test_forks_join_all_topics_the_most_alike_first(texts):
    tree = LDA(5, random_state=0).fit(Corpus.from_texts(texts)).topic_tree()
    found = topic_hierarchy(tree)
    assert sorted(found["order"]) == list(range(5))
    assert len(found["forks"]) == 4
    heights = [fork[2] for fork in found["forks"]]
    assert heights == sorted(heights)
    joined = {fork[0] for fork in found["forks"]} | {fork[1] for fork in found["forks"]}
    assert joined == set(range(8))  # all but the last, which is above all
    assert found["forks"][-1][3] == ""
    assert found["groups"] == 0  # five topics are read without groups
    words = [{word.word for word in tree.words(int(topic), 4)} for topic in tree.ids]
    one, other, _, named = found["forks"][0]
    assert set(named.split(", ")) <= words[one] | words[other]
    likeness = np.array(found["likeness"])
    assert (likeness == likeness.T).all()
    assert (likeness.diagonal() == 100).all()


def test_many_topics_have_groups(texts):
    tree = LDA(14, random_state=0, max_iter=2).fit(Corpus.from_texts(texts)).topic_tree()
    assert topic_hierarchy(tree)["groups"] == 5


def test_trees_have_their_own_hierarchy(texts):
    corpus = small_corpus()
    quiet = {"random_state": 0, "verbose": False}
    assert topic_hierarchy(HLTA(2, 2, 3, **quiet).fit(corpus).topic_tree()) is None
    assert topic_hierarchy(TTMM(n_themes=2, n_topics=4, **quiet).fit(corpus).topic_tree()) is None
    assert topic_hierarchy(PLSA(2, **quiet).fit(corpus).topic_tree()) is None  # two topics are one fork
