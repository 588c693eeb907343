"""Themes over topics as a tree of two levels."""

from __future__ import annotations

import numpy as np
import pytest

from topicfold import TTMM, Corpus


def test_themes_over_topics_as_a_tree():
    texts = ["cat dog cat", "dog cat fur", "sun moon", "moon star sun", "sun cat star dog"] * 6
    corpus = Corpus.from_texts(texts, max_df=1.0)
    model = TTMM(n_themes=5, n_topics=3, random_state=0).fit(corpus)
    tree = model.topic_tree(corpus)
    used = np.flatnonzero(model.doc_theme_.sum(axis=0) >= 0.5)
    assert len(used) == model.n_themes_used_
    assert tree.ids.tolist() == [0, 1, 2, *(3 + used).tolist()]
    assert set(tree.children()) == set((3 + used).tolist())
    np.testing.assert_allclose(
        tree.size, np.r_[model.doc_topic_.mean(axis=0), model.doc_theme_[:, used].mean(axis=0)], rtol=1e-5
    )
    for theme in used:
        parts = dict(tree.parts(3 + int(theme)))
        expected = {k: share for k, share in enumerate(model.theme_topic_[theme]) if share > 1 / 3}
        assert expected.items() <= parts.items()
        row = tree.ids.tolist().index(3 + theme)
        np.testing.assert_allclose(tree.topic_word[row], model.theme_topic_[theme] @ model.topic_word_, rtol=1e-5)
    for topic in range(3):  # each hangs from the theme that most of it is in
        weight = model.theme_weight_[used] * model.theme_topic_[used, topic]
        assert tree.parent[topic] == 3 + used[weight.argmax()]
    assert tree.level.tolist() == [1, 1, 1, *[2] * len(used)]
    topics = model.topic_tree(corpus).select_levels([1])
    assert topics.ids.tolist() == [0, 1, 2]
    np.testing.assert_allclose(topics.doc_topic, model.doc_topic_)


@pytest.mark.parametrize("features", ["tokens", "themes", "log"])
def test_trees_of_other_documents_hold_topics_whatever_transform_gives(features):
    corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    model = TTMM(n_themes=3, n_topics=2, random_state=0, features=features).fit(corpus)
    other = corpus.subset([2, 0])
    tree = model.topic_tree(other)
    np.testing.assert_allclose(tree.select_levels([1]).doc_topic, model.doc_topic_[[2, 0]], rtol=1e-5)
    used = tree.ids[2:] - 2
    np.testing.assert_allclose(tree.doc_topic[:, 2:], model.doc_theme_[[2, 0]][:, used], rtol=1e-4, atol=1e-6)


def test_themes_that_are_classes_have_their_names():
    corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon star sun"])
    model = TTMM(n_themes="labels", n_topics=2, random_state=0).fit(corpus, ["pets", "pets", "sky", "sky"])
    assert dict(model.topic_tree(corpus).names) == {2: "pets", 3: "sky"}
