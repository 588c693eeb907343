"""Stability of topics: topics that the documents have come back on half of them, others do not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import LDA, Corpus, InputError, TopicTree, build_report, load
from topicfold.models import MODELS
from topicfold.models.resampling import shared_documents


def naive_shared_documents(one, other):
    """Of the documents that either topic has, the share that both have, pair by pair."""
    return [[np.minimum(a, b).sum() / np.maximum(a, b).sum() for b in other.T] for a in one.T]


def planted(n_documents=240, n_words=12, seed=0):
    """Counts of three subjects with words of their own, and documents of words drawn from all of them."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((n_documents, 3 * n_words), np.float32)
    for d in range(n_documents):
        subject = d % 4
        words = rng.integers(0, 3 * n_words, 15) if subject == 3 else subject * n_words + rng.integers(0, n_words, 15)
        np.add.at(counts[d], words, 1)
    return sp.csr_array(counts)


def test_the_share_of_documents_in_common():
    rng = np.random.default_rng(0)
    one, other = rng.dirichlet([0.5] * 4, 30), rng.dirichlet([0.5] * 5, 30)
    assert shared_documents(one, other) == pytest.approx(np.array(naive_shared_documents(one, other)))


def test_subjects_come_back_and_parts_of_noise_do_not():
    counts = planted()
    model = LDA(6, random_state=0).fit(counts).measure_stability(counts, n_refits=6)

    subjects = np.argsort(model.topic_stability_)[-3:]
    assert model.topic_returns_[subjects].tolist() == [1.0] * 3
    assert sorted(model.topic_word_[subjects].argmax(axis=1) // 12) == [0, 1, 2]
    others = np.setdiff1d(np.arange(6), subjects)
    assert model.topic_stability_[others].max() < model.topic_stability_[subjects].min() - 0.15


@pytest.mark.parametrize("info", MODELS.values(), ids=lambda info: info.name)
def test_every_model(info, tmp_path):
    corpus = Corpus.from_counts(planted(80))
    model = info.make_small(2).fit(corpus).measure_stability(corpus, n_refits=2)
    n_topics = len(model.topic_word_)
    assert model.topic_stability_.shape == model.topic_returns_.shape == (n_topics,)
    assert ((model.topic_stability_ >= 0) & (model.topic_stability_ <= 1)).all()
    again = info.make_small(2).fit(corpus).measure_stability(corpus, n_refits=2, n_jobs=2)
    assert np.array_equal(again.topic_stability_, model.topic_stability_)
    model.save(tmp_path / "model.safetensors")
    tree = load(tmp_path / "model.safetensors").topic_tree(corpus)
    assert tree.stability == dict(enumerate(model.topic_stability_.tolist()))
    assert not hasattr(model.fit(corpus), "topic_stability_")


def test_it_is_shown_and_stays_with_its_topics(tmp_path):
    counts = planted()
    corpus = Corpus.from_counts(counts)
    tree = LDA(4, random_state=0).fit(corpus).measure_stability(corpus, n_refits=2).topic_tree(corpus)
    table = tree.topic_table()
    assert table["stability"].to_dict() == tree.stability
    assert table["returns"].to_dict() == tree.returns
    assert f"{tree.stability[0]:.2f}" in str(tree)
    shown = build_report(tree, corpus).data["topics"][0]["stability"]
    assert shown == pytest.approx([tree.stability[0], tree.returns[0]], abs=1e-3)
    tree.save(tmp_path / "tree.safetensors")
    assert TopicTree.load(tmp_path / "tree.safetensors").stability == tree.stability
    assert set(tree.merge([0, 1]).stability) == {2, 3}
    assert set(tree.drop(2).returns) == {0, 1, 3}
    grouped = tree.group([2])
    assert grouped.stability == tree.stability
    assert grouped.topic_table()["stability"].isna().sum() == 2


def test_a_graph_is_cut_to_the_half():
    counts = planted(80)
    same = np.arange(80) % 4
    graph = sp.csr_array((same[:, None] == same) & ~np.eye(80, dtype=bool), dtype=np.float64)
    model = MODELS["LTM"].make_small(3).fit(counts, graph=graph).measure_stability(counts, n_refits=1, graph=graph)
    assert model.topic_returns_.tolist() == [1.0] * 3


def test_other_documents_and_too_few_are_refused():
    counts = planted(40)
    model = LDA(2, random_state=0).fit(counts)
    with pytest.raises(InputError, match="expected the 40 training documents"):
        model.measure_stability(counts[:10])
    with pytest.raises(InputError, match="n_refits=0"):
        model.measure_stability(counts, n_refits=0)
    with pytest.raises(InputError, match="at least 4 documents"):
        LDA(1, random_state=0).fit(counts[:3]).measure_stability(counts[:3])
