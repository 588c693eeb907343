"""The documents that a topic shows: typical ones, the same everywhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import LDA, LDCC, Corpus, TopicTree, build_report, load
from topicfold.models import MODELS
from topicfold.topics import typical
from topicfold.topics.typical import most_typical, typicality


def naive_typicality(counts, doc_topic):
    """The mean of the cosines of each document to the centres of its topics, document by document."""
    counts, doc_topic = counts.toarray().astype(float), doc_topic.astype(float)
    idf = np.log((1 + len(counts)) / (1 + (counts > 0).sum(axis=0))) + 1e-3
    vectors = [row * idf / max(np.linalg.norm(row * idf), 1e-300) for row in counts]
    centres = [sum(share[z] * vector for share, vector in zip(doc_topic, vectors)) for z in range(doc_topic.shape[1])]
    centres = [centre / max(np.linalg.norm(centre), 1e-300) for centre in centres]
    lengths = counts.sum(axis=1)
    enough = np.minimum(lengths / np.median(lengths[lengths > 0]), 1)
    cosines = [[vector @ centre for centre in centres] for vector in vectors]
    return enough * (doc_topic * cosines).sum(axis=1) / np.maximum(doc_topic.sum(axis=1), 1e-300)


def pets_and_sky():
    """Two topics; the first document has two words, the last none."""
    rng = np.random.default_rng(0)
    subjects = ["cat dog fur paw tail bone", "sun moon star sky comet orbit"]
    texts = ["cat dog"] + [" ".join(rng.choice(words.split(), 12)) for words in subjects for _ in range(20)]
    texts += ["whisker comet", texts[1], "the"]
    return Corpus.from_texts(texts, min_df=1, max_df=1.0, stop_words="english", keep_texts=True)


@pytest.mark.parametrize("at_once", [1, 2, 32])
def test_the_formula_in_blocks_of_topics_and_documents(at_once, monkeypatch):
    rng = np.random.default_rng(1)
    counts = sp.csr_array(rng.poisson(0.4, (40, 15)).astype(np.float32))
    doc_topic = rng.dirichlet([0.3] * 5, 40).astype(np.float32)
    doc_topic[3] = 0
    monkeypatch.setattr(typical, "_TOPICS_AT_ONCE", at_once)
    monkeypatch.setattr(typical, "_CELLS_AT_ONCE", 50)
    values = typicality(counts, doc_topic)
    assert values == pytest.approx(naive_typicality(counts, doc_topic), abs=1e-6)
    assert np.array_equal(values, typicality(counts, doc_topic, n_jobs=4))
    assert values[3] == 0


@pytest.mark.parametrize("info", MODELS.values(), ids=lambda info: info.name)
def test_every_model_knows_which_documents_are_typical(info, tmp_path):
    corpus = pets_and_sky()
    model = info.make_small(2).fit(corpus)
    tree = model.topic_tree(corpus)
    if not info.mixture:  # listed by membership alone
        assert tree.typicality is model.topic_tree(corpus.subset(np.arange(10))).typicality is None
        return
    assert tree.typicality.shape == (len(corpus),)
    assert 0 < tree.typicality.max() <= 1
    model.save(tmp_path / "model.safetensors")
    tree.save(tmp_path / "tree.safetensors")
    assert np.array_equal(load(tmp_path / "model.safetensors").topic_tree().typicality, tree.typicality)
    assert np.array_equal(TopicTree.load(tmp_path / "tree.safetensors").typicality, tree.typicality)
    others = model.topic_tree(corpus.subset(np.arange(10)))
    assert others.typicality.shape == (10,)
    assert np.array_equal(tree.replace_documents(others).typicality, others.typicality)


@pytest.fixture(scope="module")
def fitted():
    corpus = pets_and_sky()
    return corpus, LDA(2, random_state=0).fit(corpus).topic_tree(corpus)


def test_a_document_of_few_words_does_not_lead_its_topic(fitted):
    corpus, tree = fitted
    topic = tree.topics_of(1)[0][0]
    by_share = replace(tree, typicality=None)
    names = [name for name, _ in tree.documents(topic, 20, corpus)]
    assert "0" not in names[:15]
    assert "0" in [name for name, _ in by_share.documents(topic, 21, corpus)]
    shares = dict(tree.documents(topic, 50))
    assert shares["2"] == tree.doc_topic[2, tree.row(topic)]
    assert shares["43"] == 0  # without words: its membership is that of the corpus


def test_the_same_documents_everywhere_and_no_copies(fitted):
    corpus, tree = fitted
    report = build_report(tree, corpus)
    table = tree.topic_table(n_documents=5, corpus=corpus)
    seen = {}
    tree.name_topics(lambda topic: seen.update({topic.topic: topic.documents}) or "x", corpus=corpus, n_documents=5)
    for topic in tree.ids.tolist():
        names = [name for name, _ in tree.documents(topic, 5, corpus)]
        assert len({corpus.copies.first[int(name)] for name in names}) == 5
        assert table.loc[topic, "documents"] == names
        assert [title for title, _ in seen[topic]] == names
        shown = report.data["topics"][tree.row(topic)]["documents"][:5]
        assert [str(d) for d, _ in shown] == names
        assert shown[0][1] == pytest.approx(tree.doc_topic[shown[0][0], tree.row(topic)], rel=1e-2)


def test_merged_and_grouped_topics_keep_the_measure(fitted):
    corpus, tree = fitted
    for changed in (tree.merge([0, 1]), LDA(4, random_state=0).fit(corpus).topic_tree(corpus).group([2])):
        topic = changed.children()[0]
        best = [int(name) for name, _ in changed.documents(topic, 3)]
        scores = changed.doc_topic[:, changed.row(topic)] * changed.typicality
        assert scores[best].tolist() == sorted(scores.tolist(), reverse=True)[:3]


def test_of_a_model_with_segments_whole_documents_are_measured():
    corpus = Corpus.from_texts(
        ["cat dog fur. cat dog cat.", "sun moon. star moon sun.", "cat fur. dog dog."] * 4,
        segments="sentences",
        min_df=1,
        max_df=1.0,
    )
    model = LDCC(2, 2, n_sweeps=20, burn_in=2, lag=1, random_state=0).fit(corpus)
    assert model.typicality_ == pytest.approx(naive_typicality(corpus.counts, model.doc_topic_), abs=1e-5)
    assert model.topic_tree(corpus).use_segments().typicality is None


def test_without_words_membership_decides():
    assert most_typical(np.array([0.2, 0.9, 0.5]), np.zeros(3), 3, None).tolist() == [1, 2, 0]


def test_counts_on_disk_give_the_same_numbers(tmp_path):
    corpus = pets_and_sky()
    corpus.save(tmp_path / "corpus.safetensors")
    mapped = Corpus.load(tmp_path / "corpus.safetensors", memory_map=True)
    shares = np.random.default_rng(0).dirichlet([0.5] * 3, len(corpus))
    assert mapped.on_disk
    assert np.array_equal(typicality(mapped.counts, shares), typicality(corpus.counts, shares))
