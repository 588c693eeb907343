"""LDCC's tree of topics: document-topics over word-topics, and the edges between them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from ldcc_cases import as_corpus, assert_same, small

from topicfold import Corpus, load


@pytest.fixture(scope="module")
def tree(corpus):
    """Three document-topics, 4 to 6, over four word-topics."""
    return small(3, 4, n_sweeps=40).fit(corpus).topic_tree()


def edges_of(tree):
    return {(int(a), int(b)): float(w) for a, b, w in zip(*tree.edges)}


def test_edges_are_the_shares_of_alpha_above_chance(corpus):
    model = small(3, 4).fit(corpus)
    tree = model.topic_tree()
    share = model.alpha_ / model.alpha_.sum(axis=1, keepdims=True)
    edges = edges_of(tree)
    for k in range(3):
        for l in range(4):
            assert (4 + k, l) in edges or share[k, l] < 0.25 + 1e-9
            assert edges.get((4 + k, l), share[k, l]) == pytest.approx(share[k, l])
        below = tree.parts(4 + k)
        assert [weight for _, weight in below] == sorted((weight for _, weight in below), reverse=True)
        assert dict(below) == {l: weight for (above, l), weight in edges.items() if above == 4 + k}
        assert tree.parts(4 + k, 1) == below[:1]
        assert np.allclose(tree.topic_word[4 + k], share[k] @ model.topic_word_, atol=1e-6)
    assert tree.level.tolist() == [1] * 4 + [2] * 3
    assert tree.parts(0) == []
    assert np.allclose(tree.doc_topic, np.hstack([model.doc_topic_, model.doc_cluster_]))
    assert set(tree.parent[:4]) <= {4, 5, 6}
    assert (tree.parent[4:] == -1).all()


def test_a_word_topic_has_an_edge_from_its_parent(corpus):
    model = small(2, 4).fit(corpus)
    model.alpha_ = np.array([[1.0, 1.0, 0.1, 0.1], [0.1, 1.0, 1.0, 0.1]])  # the last is nowhere above chance
    tree = model.topic_tree()
    assert [(int(tree.parent[l]), l) in edges_of(tree) for l in range(4)] == [True] * 4


def check_edges(tree):
    ids = set(tree.ids.tolist())
    level = dict(zip(tree.ids.tolist(), tree.level.tolist()))
    edges = edges_of(tree)
    assert len(edges) == len(tree.edges[0])
    for above, below in edges:
        assert {above, below} <= ids
        assert (level[above], level[below]) == (2, 1)
    for topic in ids:
        assert 0 <= sum(weight for _, weight in tree.parts(topic)) <= 1 + 1e-6  # shares of a document-topic
    return True


def test_rename_keeps_the_edges(tree):
    renamed = tree.rename({4: "first", 0: "words"})
    assert check_edges(renamed)
    assert edges_of(renamed) == edges_of(tree)
    assert "[first]" in renamed.to_text()


def test_merged_word_topics_have_the_sum_of_their_edges(tree):
    merged, before = tree.merge([1, 3]), edges_of(tree)
    assert check_edges(merged)
    for k in (4, 5, 6):
        expected = before.get((k, 1), 0) + before.get((k, 3), 0)
        assert edges_of(merged).get((k, 1), 0) == pytest.approx(expected)
        assert edges_of(merged).get((k, 0)) == before.get((k, 0))
    assert merged.mapping[3] == 1


def test_merged_word_topics_have_the_sum_of_their_memberships(tree):
    merged = tree.merge([1, 3])
    assert np.allclose(merged.doc_topic[:, merged.level == 1].sum(axis=1), 1, atol=1e-5)


def test_merged_document_topics_have_shares_again(corpus):
    model = small(2, 3).fit(corpus)
    model.alpha_ = np.array([[8.0, 1.0, 1.0], [6.0, 4.0, 0.0001]])
    merged = model.topic_tree().merge([3, 4])
    assert check_edges(merged)
    assert 0.6 <= edges_of(merged)[3, 0] <= 0.8


def test_dropped_topics_take_their_edges_along(tree):
    for gone in (2, 5):
        dropped = tree.drop([gone])
        assert check_edges(dropped)
        assert edges_of(dropped) == {pair: weight for pair, weight in edges_of(tree).items() if gone not in pair}


def test_word_topics_of_a_dropped_document_topic_that_are_below_others_are_not_at_the_top(corpus):
    model = small(2, 2).fit(corpus)
    model.alpha_, model.cluster_weight_ = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([0.9, 0.1])
    dropped = model.topic_tree().drop([2])
    assert dict(dropped.parts(3)) == {0: 0.5, 1: 0.5}
    assert dropped.children() == [3]


def test_levels_alone(tree):
    words, documents = tree.select_levels([1]), tree.select_levels([2])
    assert (len(words), len(documents)) == (4, 3)
    for level in (words, documents):  # a level alone is a flat list
        assert level.edges is None
        assert [level.parts(topic) for topic in level.ids.tolist()] == [[]] * len(level)
    assert words.children() == sorted(range(4), key=lambda l: -tree.size[l])
    assert len(words.to_text().splitlines()) == 6
    assert edges_of(tree.select_levels([1, 2])) == edges_of(tree)


def test_text_shows_document_topics_with_their_word_topics(tree):
    lines = tree.to_text().splitlines()[2:]
    expected = []
    for k in tree.children():
        expected.append((k, f"{tree.size[k]:.1%}"))
        expected += [(l, f"{weight:.2f}") for l, weight in tree.parts(k, 6)]
    assert [(int(line.split()[0]), line.split()[1]) for line in lines] == expected
    assert set(tree.children()) == {4, 5, 6}
    best = tree.words(tree.parts(4)[0][0])[0].word
    assert best in tree.to_text()


def test_json_has_the_parts(tree):
    written = json.loads(tree.to_json())
    assert [topic["id"] for topic in written["topics"]] == list(range(7))
    for topic in written["topics"]:
        assert [tuple(part) for part in topic["parts"]] == tree.parts(topic["id"])
    assert json.loads(tree.merge([0, 1]).drop([4]).select_levels([1]).to_json())["topics"]


def test_saved_and_loaded_with_the_same_tree(corpus, tmp_path):
    model = small(3, 4, n_chains=2).fit(corpus)
    model.save(tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    assert_same(loaded, model)
    one, other = model.topic_tree(), loaded.topic_tree()
    assert one.to_json() == other.to_json()
    assert edges_of(one) == edges_of(other)
    assert np.array_equal(one.doc_topic, other.doc_topic)
    assert loaded.score(corpus) == model.score(corpus)
    assert np.array_equal(loaded.memberships(corpus), model.memberships(corpus))


def test_the_tree_of_another_corpus_has_its_documents(corpus):
    model = small().fit(corpus)
    part = corpus.subset([5, 2, 9])
    tree = model.topic_tree(part)
    assert tree.document_ids == part.ids == ("5", "2", "9")
    assert np.array_equal(tree.doc_topic[:, :3], model.doc_topic_[[5, 2, 9]])
    assert np.array_equal(model.topic_tree(corpus).doc_topic, model.topic_tree().doc_topic)


def test_the_tree_of_a_model_of_rows_and_documents_has_an_id_per_document(segmented):
    counts, documents, _ = segmented
    words = [f"w{w}" for w in range(12)]
    for X in (counts, Corpus.from_counts(counts, words)):  # its ids are those of segments
        tree = small().fit(X, documents=documents).topic_tree()
        assert len(tree.document_ids) == len(tree.doc_topic) == 30
    tree = small().fit(counts, documents=documents).topic_tree()
    typical = np.argsort(-tree.doc_topic[:, 0] * tree.typicality, kind="stable")[:3]
    assert [name for name, _ in tree.documents(0, 3)] == [str(d) for d in typical]


def test_the_tree_of_a_corpus_with_segments_has_their_topics(corpus, segmented):
    counts, documents, _ = segmented
    model = small().fit(corpus)
    tree = model.topic_tree(corpus)
    assert np.array_equal(tree.segment_topic, np.hstack([model.segment_topic_, model.segment_cluster_]))
    assert np.array_equal(tree.doc_topic, np.hstack([model.doc_topic_, model.doc_cluster_]))
    longer = model.topic_tree(as_corpus(counts, documents, 31))  # the last document has no segment
    assert len(longer.doc_topic) == 31
    assert np.array_equal(longer.segment_topic, tree.segment_topic)
    assert model.topic_tree().segment_topic is None
    assert model.topic_tree(Corpus.from_counts(corpus.counts, corpus.vocabulary)).segment_topic is None
