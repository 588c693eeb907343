"""TTMM with classes as themes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import TTMM, Corpus, load


def test_themes_as_classes(themed):
    counts, theme = themed
    names = np.array(["sea", "land", "air"], dtype=object)[theme]
    few = names.copy()
    few[10:30] = None
    few[30:] = ""  # an empty name is no class
    model = TTMM("labels", 4, random_state=0, verbose=False).fit(counts, few)
    assert model.classes_.tolist() == ["air", "land", "sea"]
    assert (model.predict(counts) == names).mean() > 0.9
    assert np.allclose(model.predict_proba(counts).sum(axis=1), 1, atol=1e-5)
    numbers = np.where(np.arange(60) < 10, theme, -1)
    assert (TTMM("labels", 4, random_state=0, verbose=False).fit(counts, numbers).predict(counts) == theme).mean() > 0.9
    by_topic = TTMM(3, 4, random_state=0, verbose=False)
    assert np.array_equal(by_topic.fit_predict(counts), by_topic.doc_topic_.argmax(axis=1))
    assert np.array_equal(by_topic.predict(counts), by_topic.doc_topic_.argmax(axis=1))
    assert not hasattr(by_topic, "predict_proba")
    for y, message in ((None, "needs labels"), ([-1] * 60, "no document has a label"), ([0, 1], "expected one label")):
        with pytest.raises(ValueError, match=message):
            TTMM("labels", 4).fit(counts, y)


def test_labels_are_not_used_before_a_classifier(themed):
    counts, theme = themed
    with_labels = TTMM(5, 4, random_state=0, verbose=False).fit(counts, theme)
    without = TTMM(5, 4, random_state=0, verbose=False).fit(counts)
    assert np.array_equal(with_labels.topic_word_, without.topic_word_)


def test_a_stream_of_labelled_batches(themed):
    counts, theme = themed
    model = TTMM("labels", 4, random_state=0, verbose=False)
    model.partial_fit(counts[:30], theme[:30]).partial_fit(counts[30:], np.full(30, -1))
    assert (model.predict(counts) == theme).mean() > 0.9
    before = model.topic_word_.copy()
    model.partial_fit(sp.csr_array((2, 20), dtype=int), [0, -1])
    assert np.array_equal(model.topic_word_, before)
    assert (
        len(set(model.partial_fit(sp.csr_array((1, 20), dtype=int), [-1]).topic_tree().level.tolist())) == 2
    )  # no theme has a document
    with pytest.raises(ValueError, match="label 7 was not in the first batch"):
        model.partial_fit(counts[:2], [7, -1])


def test_trees_and_files_as_any_model(tmp_path):
    corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon sun sun"] * 3)
    model = TTMM("labels", 2, random_state=0, verbose=False).fit(corpus, ["a", "a", "b", "b"] * 3)
    model.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.predict(["cat", "moon"]).tolist() == ["a", "b"]
    tree = loaded.topic_tree(corpus)
    assert len(tree) == 4
    assert len(tree.select_levels([1])) == 2
