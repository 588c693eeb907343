"""Of too many documents a page shows a sample: the best of each topic, and the others evenly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_cases import plsa, small_corpus

from topicfold import Corpus, build_report
from topicfold.report import sample, topic_table
from topicfold.report.sample import chosen_documents, largest_topics


@pytest.fixture(scope="module")
def large_tree():
    """A tree of 9,000 documents whose memberships have many ties, and topics of very different sizes."""
    corpus = small_corpus()
    tree = plsa(corpus, 3).topic_tree(corpus)
    doc_topic = np.random.default_rng(0).dirichlet([0.9, 0.3, 0.05], 9000).round(2).astype(np.float32)
    return replace(tree, doc_topic=doc_topic, document_ids=tuple(map(str, range(9000))), titles=None, typicality=None)


def test_all_where_there_is_room(large_tree):
    for most in (9000, 9001, 10**9):
        chosen = chosen_documents(large_tree, most)
        assert chosen.rows.tolist() == list(range(9000))
        assert (chosen.best, chosen.over) == (0, ())


@pytest.mark.parametrize("most", [300, 1000, 8999])
def test_the_best_of_each_topic_and_of_the_others_an_even_part(most, large_tree, monkeypatch):
    monkeypatch.setattr(sample, "_ROWS", 1000)
    monkeypatch.setattr(sample, "_COLUMNS", 2)
    labels = np.random.default_rng(1).integers(0, 2, 9000)
    chosen = chosen_documents(large_tree, most, {"labels": labels})
    assert len(chosen.rows) == len(set(chosen.rows.tolist())) == most
    assert chosen.rows.tolist() == sorted(chosen.rows.tolist())
    best = {d for column in large_tree.doc_topic.T for d in np.argsort(-column, kind="stable")[:40].tolist()}
    assert best <= set(chosen.rows.tolist())
    assert (chosen.best, chosen.n_best, chosen.over) == (40, len(best), ("topics", "labels"))
    others = np.setdiff1d(np.arange(9000), list(best))
    drawn = np.setdiff1d(chosen.rows, list(best))
    main = large_tree.doc_topic.argmax(axis=1)
    rate = len(drawn) / len(others)
    for topic in range(3):
        assert (main[drawn] == topic).sum() == pytest.approx(rate * (main[others] == topic).sum(), abs=1.001)
        for label in range(2):
            here = (main == topic) & (labels == label)
            assert here[drawn].sum() == pytest.approx(rate * here[others].sum(), abs=1.001)


def test_the_same_documents_every_time(large_tree):
    days = np.random.default_rng(2).integers(0, 100, 9000).astype("datetime64[D]")
    first, second = (chosen_documents(large_tree, 500, {"dates": days}).rows for _ in range(2))
    assert np.array_equal(first, second)
    in_half = (days < days[np.argsort(days)[4500]])[first].mean()  # spread over time as well
    assert in_half == pytest.approx(0.5, abs=0.06)


def test_fewer_than_topics(large_tree):
    for most in (1, 2, 4):
        assert len(chosen_documents(large_tree, most).rows) == most


def test_the_largest_topic_of_the_lowest_level(large_tree, monkeypatch):
    monkeypatch.setattr(sample, "_ROWS", 7)
    tree = replace(large_tree, doc_topic=np.array([[0.2, 0.9, 0.3], [0, 0, 0], [0, 1, 0]]), level=np.array([1, 2, 1]))
    assert largest_topics(tree).tolist() == [2, -1, -1]


def test_the_page_says_how_it_was_chosen():
    corpus = small_corpus()
    facts = build_report(plsa(corpus), corpus, max_documents=20).data["corpus"]
    assert facts["sample"]["best"] == 3
    assert 3 <= facts["sample"]["in_best"] <= 9
    assert facts["sample"]["over"] == ["topics", "labels", "dates"]
    bare = Corpus.from_counts(corpus.counts, corpus.vocabulary)
    assert build_report(plsa(bare), bare, max_documents=20).data["corpus"]["sample"]["over"] == ["topics"]


def test_labels_as_runs():
    labels = [("b", "a", "b"), (), ("a",), (), ("c", "a")]
    corpus = Corpus.from_texts(["fish tree"] * 5, labels=labels)
    table = topic_table.label_table(corpus)
    assert table.names == ["a", "b", "c"]
    assert [table.of(row) for row in range(5)] == ["1 0", "", "0", "", "2 0"]
    assert table.first().tolist() == [1, -1, 0, -1, 2]
    none = topic_table.label_table(Corpus.from_texts(["fish", "tree"], labels=[(), ()]))
    assert (none.names, none.first().tolist()) == ([], [-1, -1])


def test_words_that_are_best_for_some_weight():
    rng = np.random.default_rng(0)
    for n_words in (1, 20, 31, 400):
        logs = np.log(rng.integers(1, 50, n_words) / 1000)  # with ties
        lifts = logs - np.log(rng.integers(1, 9, n_words) / 100)
        expected = {}
        for weight in topic_table._WEIGHTS:
            scores = weight * logs + (1 - weight) * lifts
            expected |= dict.fromkeys(np.argsort(-scores, kind="stable")[:30].tolist())
        assert topic_table._best_for_some_weight(logs, lifts).tolist() == list(expected)
    assert topic_table._best_for_some_weight(np.zeros(0), np.zeros(0)).tolist() == []


def test_labels_of_topics_in_parts(monkeypatch):
    corpus = small_corpus()
    model = plsa(corpus)
    whole = build_report(model, corpus).data["topics"]
    monkeypatch.setattr(topic_table, "_CELLS", 1)
    assert build_report(model, corpus).data["topics"] == whole
    tree, names = model.topic_tree(corpus), topic_table.label_table(corpus).names
    for row, topic in enumerate(whole):
        weight = tree.doc_topic[:, row].astype(float)
        for label, share, overall in topic["labels"]:
            has = np.array([names[label] in labels for labels in corpus.labels])
            assert share == pytest.approx(weight[has].sum() / weight.sum(), rel=1e-2)
            assert overall == pytest.approx(has.mean(), rel=1e-2)
