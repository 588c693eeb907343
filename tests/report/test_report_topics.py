"""What the report says of each topic, beside a slow and obvious twin: words, coherence, labels, parts, likeness."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from report_cases import ldcc, numbers, plsa, small_corpus

from topicfold import Corpus, build_report
from topicfold.metrics.coherence import coherence
from topicfold.topics.ranking import relevance

SLIDER = np.arange(21) / 20

SHOWN_WORDS = 25  # of a topic on the page


@pytest.fixture(scope="module")
def wide():
    """Documents of 3,000 words, most of them rare."""
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(3 / np.arange(1, 3001) ** 0.8, 4)
    mixes = rng.dirichlet(np.full(4, 0.2), 150)
    counts = sp.csr_array(np.array([rng.multinomial(120, mix @ topics) for mix in mixes]))
    return Corpus.from_counts(counts, [f"word{w}" for w in range(3000)], min_df=1)


@pytest.mark.parametrize("smoothing", [0.0, 0.01])
def test_words_for_every_place_of_the_slider(wide, smoothing):
    model = plsa(wide, 4, beta=smoothing, max_iter=30)
    tree, data = model.topic_tree(wide), build_report(model, wide).data
    column = {word: w for w, word in enumerate(tree.vocabulary)}
    for row, topic in enumerate(data["topics"]):
        for weight in SLIDER:
            exact = relevance(tree.topic_word[[row]], tree.word_frequency, weight)[0]
            # as the page does it: relevance of the rounded numbers it holds
            held = [
                (np.log(probability) - (1 - weight) * np.log(data["share"][word]), column[data["words"][word]])
                for word, probability, _ in topic["words"]
                if probability > 0 and data["share"][word] > 0
            ]
            shown = [w for _, w in sorted(held, key=lambda pair: -pair[0])[:SHOWN_WORDS]]
            assert len(set(shown)) == SHOWN_WORDS
            assert exact[shown] == pytest.approx(np.sort(exact)[::-1][:SHOWN_WORDS], abs=2e-3), (row, weight)


def test_coherence_is_that_of_the_package(any_model, corpus):
    tree, data = any_model.topic_tree(corpus), build_report(any_model, corpus).data
    best = [[tree.vocabulary.index(word.word) for word in tree.words(int(topic), 10)] for topic in tree.ids]
    expected = coherence(best, counts=corpus.counts, measure="c_npmi")
    for topic, value in zip(data["topics"], expected, strict=True):
        assert topic["coherence"] == (None if np.isnan(value) else pytest.approx(value, rel=1e-2, abs=1e-3))


def test_labels_of_topics_by_going_through_the_documents(any_model, corpus):
    tree, data = any_model.topic_tree(corpus), build_report(any_model, corpus).data
    assert sorted(data["labels"]) == ["food", "odd", "pets", "sky"]
    how_many = [sum(label in own for own in corpus.labels) for label in data["labels"]]
    assert how_many == sorted(how_many, reverse=True)
    for d, own in enumerate(corpus.labels):
        assert sorted(data["labels"][label] for label in numbers(data["documents"]["labels"][d])) == sorted(own)
    for row, topic in enumerate(data["topics"]):
        total = sum(float(share) for share in tree.doc_topic[:, row])
        for label, here, overall in topic["labels"]:
            members = [d for d in range(36) if data["labels"][label] in corpus.labels[d]]
            assert here == pytest.approx(sum(float(tree.doc_topic[d, row]) for d in members) / total, rel=1e-2)
            assert overall == pytest.approx(len(members) / 36, rel=1e-2)
        shares = [here for _, here, _ in topic["labels"]]
        assert shares == sorted(shares, reverse=True)


def test_labels_that_no_document_has(model):
    unlabelled = small_corpus(labels=[None] * 36)
    data = build_report(model, unlabelled).data
    assert data["labels"] == []
    assert set(data["documents"]["labels"]) == {""}
    assert all(topic["labels"] == [] for topic in data["topics"])


def affinity(tree, a, b):
    """Of topics that are a mixture by their words, of others by the documents they are in."""
    if tree.exclusive:
        p, q = (tree.topic_word[row] / tree.topic_word[row].sum(dtype=np.float64) for row in (a, b))
        return sum(float(x * y) ** 0.5 for x, y in zip(p, q, strict=True))
    return np.corrcoef(tree.doc_topic[:, a], tree.doc_topic[:, b])[0, 1]


def test_similar_topics_by_going_through_pairs(any_model, corpus):
    tree, data = any_model.topic_tree(corpus), build_report(any_model, corpus).data
    for row, topic in enumerate(data["topics"]):
        others = [k for k in range(len(tree)) if k != row and tree.level[k] == tree.level[row]]
        found = {int(tree.ids[k]): affinity(tree, row, k) for k in others}
        best = sorted(found.values(), reverse=True)[:6]
        assert [value for _, value in topic["similar"]] == pytest.approx(best, rel=1e-2, abs=1e-3)
        assert all(value == pytest.approx(found[other], rel=1e-2, abs=1e-3) for other, value in topic["similar"])


def test_parts_of_document_topics(corpus):
    model = ldcc(corpus)
    tree, data = model.topic_tree(corpus), build_report(model, corpus).data
    for topic in data["topics"]:
        assert [part for part, _ in topic["parts"]] == [part for part, _ in tree.parts(topic["id"])]
    assert {topic["level"] for topic in data["topics"]} == {1, 2}
