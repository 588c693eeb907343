"""A report that shows a part of the documents, or a part of their texts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from inspect import signature

import numpy as np
import pytest
from report_cases import fitted, marked_words, marks_of, numbers, plsa, units

from topicfold import Corpus, build_report
from topicfold.graph.build import link_graph
from topicfold.models import MODELS
from topicfold.report import contents, document_table


def test_a_part_of_the_documents_with_the_figures_of_all(corpus):
    model = fitted(MODELS["LTM"], corpus)
    whole, part = (build_report(model, corpus, max_documents=most, compare=model).data for most in (36, 14))
    ids, tree = part["documents"]["id"], model.topic_tree(corpus)
    assert (part["corpus"]["documents"], part["corpus"]["shown"], len(ids)) == (36, 14, 14)
    rows = [corpus.ids.index(name) for name in ids]
    assert rows == sorted(rows)
    for topic in range(3):
        best = [name for name, _ in tree.documents(topic, 2)]
        assert set(best) <= set(ids)
        listed = [(ids[d], share) for d, share in part["topics"][topic]["documents"]]
        order = sorted(rows, key=lambda row: (-tree.doc_topic[row, topic] * tree.typicality[row], row))
        expected = [(corpus.ids[row], share) for row in order if (share := tree.doc_topic[row, topic]) > 0]
        assert [name for name, _ in listed] == [name for name, _ in expected]
        assert [share for _, share in listed] == pytest.approx([share for _, share in expected], rel=1e-2)
    for topics in zip(whole["topics"], part["topics"], strict=True):
        assert len({json.dumps({**topic, "documents": None}) for topic in topics}) == 1
    for same in ("labels", "share", "words", "time", "compare", "model"):
        assert whole[same] == part[same]
    graph = model.graph_.toarray()[np.ix_(rows, rows)]
    roots = np.sqrt(tree.doc_topic[rows].astype(np.float64))
    cosine = roots @ roots.T / np.outer(np.linalg.norm(roots, axis=1), np.linalg.norm(roots, axis=1))
    np.fill_diagonal(cosine, -1)
    for d in range(14):
        near, linked = (numbers(part["documents"][column][d]) for column in ("near", "linked"))
        assert cosine[d, near] == pytest.approx(np.sort(cosine[d])[::-1][:8], abs=1e-5)
        assert graph[d, linked] == pytest.approx(np.sort(graph[d][graph[d] > 0])[::-1][:8])
        assert part["documents"]["title"][d] == corpus.titles[rows[d]]
        assert part["documents"]["text"][d] == corpus.texts[rows[d]]


def test_of_many_documents_the_nearest_are_found_cell_by_cell(model, corpus, monkeypatch):
    few = build_report(model, corpus).data["documents"]
    for module in (contents, document_table):
        monkeypatch.setattr(module, "MOST_COMPARED", 20)
    many = build_report(model, corpus).data["documents"]
    assert many["text"] == few["text"]
    roots = np.sqrt(model.doc_topic_.astype(np.float64))
    roots /= np.linalg.norm(roots, axis=1, keepdims=True)
    cosine = roots @ roots.T
    np.fill_diagonal(cosine, -1)
    for d in range(36):  # a little noise tells documents apart that are just alike
        near = numbers(many["near"][d])
        assert cosine[d, near] == pytest.approx(np.sort(cosine[d])[::-1][:8], abs=0.02)
        assert d not in near
    places = np.array([many["x"], many["y"]]).T
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    main = model.doc_topic_.argmax(axis=1)
    same = main[:, None] == main
    assert apart[same].mean() < 0.7 * apart[~same].mean()


def test_documents_without_a_topic_have_no_nearest(monkeypatch):
    monkeypatch.setattr(document_table, "MOST_COMPARED", 3)
    doc_topic = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0], [0, 0]], np.float32)
    found = document_table.nearest_by_topic(doc_topic)
    assert [set(found.indices[a:b]) for a, b in zip(found.indptr, found.indptr[1:], strict=False)][4:] == [set(), set()]


def test_links_of_a_part(model, corpus):
    part = build_report(model, corpus, max_documents=14).data
    ids, graph = part["documents"]["id"], link_graph(corpus.links, 36).toarray()
    assert part["graph"] == "links"
    for d, name in enumerate(ids):
        linked = {ids[other] for other in numbers(part["documents"]["linked"][d])}
        assert linked == {other for other in ids if graph[corpus.ids.index(name), corpus.ids.index(other)]}


@pytest.mark.parametrize("most", [1, 2, 3, 5, 35, 36, 100])
def test_no_more_documents_than_asked_for(most, model, corpus):
    assert len(build_report(model, corpus, max_documents=most).data["documents"]["id"]) == min(most, 36)


@pytest.mark.parametrize("budget", [2500, 100])
def test_texts_are_cut_to_fit(budget):
    texts = ["cat dog " * 100, "😀" * 300, "cat\n" + "é" * 500, "short dog", "", "dogcat" * 100]
    with pytest.warns(UserWarning, match="1 of 6 texts are empty"):
        corpus = Corpus.from_texts(texts, keep_texts=True)
    model = plsa(corpus, 2)
    data = json.loads(build_report(model, corpus, texts_mb=budget / 1e6).to_json())
    shown, limit = data["documents"]["text"], data["corpus"]["cut"]
    sizes = [len(text.encode()) for text in shown]
    assert sum(sizes) <= max(budget, 6 * 200)
    assert max(sizes) <= limit
    assert limit >= 200
    for d, (text, whole) in enumerate(zip(shown, texts, strict=True)):
        assert whole.startswith(text)
        assert len(text.encode()) > limit // 2 - 4 or text == whole
        assert data["documents"]["length"][d] == len(units(whole)) // 2
        assert all(end <= len(units(text)) // 2 for _, end, _ in marks_of(data["documents"], d))
    assert shown[3] == "short dog"
    assert set(marked_words(data["documents"], 0)) == {
        ("cat", marks_of(data["documents"], 0)[0][2]),
        ("dog", marks_of(data["documents"], 0)[1][2]),
    }
    assert build_report(model, corpus).data["corpus"]["cut"] is None


def test_a_larger_limit_keeps_whole_texts():
    texts = ["cat dog " * 2000, "dog cow " * 2000, "sun moon"]
    corpus = Corpus.from_texts(texts, keep_texts=True)
    model = plsa(corpus, 2)
    sizes = []
    for megabytes in (0, 0.01, 0.02, 1):
        data = build_report(model, corpus, texts_mb=megabytes).data
        sizes.append(sum(map(len, data["documents"]["text"])))
        assert (data["corpus"]["cut"] is None) == (megabytes == 1)
    assert sizes == sorted(sizes)
    assert 300 < sizes[0] <= 408  # 200 bytes of a text, whatever the limit
    assert 9_900 < sizes[1] <= 10_000
    assert 19_900 < sizes[2] <= 20_000
    assert sizes[3] == sum(map(len, texts))


def test_of_as_many_documents_as_a_page_shows_each_keeps_the_start_of_its_text():
    default = signature(build_report).parameters
    n_documents, most = default["max_documents"].default, round(1e6 * default["texts_mb"].default)
    assert n_documents == 200_000
    assert document_table._cut_length([430] * n_documents, most) == 200
    assert document_table._cut_length([most // n_documents] * n_documents, most) is None


@pytest.mark.parametrize("wrong", [-1, float("nan"), float("inf"), "10", None])
def test_a_wrong_limit_of_texts(wrong, model, corpus):
    with pytest.raises(ValueError, match="texts_mb="):
        build_report(model, corpus, texts_mb=wrong)


@pytest.mark.parametrize(
    ("timestamps", "shown"),
    [
        (["1987-01-01", None, "1990-01-01", "1990-01-01"], ["1987", "", "1990", "1990"]),
        (["1987-01-01", "1987-04-01", None, "1990-01-01"], ["1987-01", "1987-04", "", "1990-01"]),
        (["1987-01-01", "1987-04-02", "1990-01-01", None], ["1987-01-01", "1987-04-02", "1990-01-01", ""]),
        (["1987-01-01T12:30:00", "1988-01-01", None, None], ["1987-01-01", "1988-01-01", "", ""]),
    ],
)
def test_dates_are_as_precise_as_those_of_the_corpus(timestamps, shown):
    corpus = Corpus.from_texts(["cat dog", "dog cat", "sun moon", "moon sun"], timestamps=timestamps)
    model = plsa(corpus, 2)
    assert build_report(model, corpus).data["documents"]["date"] == shown
    part = build_report(model, corpus, max_documents=2).data["documents"]  # the others still say what a date means
    assert part["date"] == [shown[int(name)] for name in part["id"]]


def test_why_there_are_no_texts(corpus, model):
    assert build_report(model, corpus).data["no_texts"] is None
    assert "keep_texts=True" in build_report(model, replace(corpus, texts=None)).data["no_texts"]
    counts = Corpus.from_counts(corpus.counts, corpus.vocabulary)
    assert build_report(plsa(counts), counts).data["no_texts"] == "The corpus was made from counts and has no texts."
    named = replace(corpus, preprocessing=replace(corpus.preprocessing, tokenizer="mine:cut"))
    assert "custom tokenizer" in build_report(model, named).data["no_texts"]


def test_of_many_memberships_the_rarest_topics_are_kept(monkeypatch, corpus):
    tree = fitted(MODELS["HLTA"], corpus).topic_tree(corpus)
    assert not tree.exclusive
    monkeypatch.setitem(document_table._SHARES, False, (0.1, 1))
    for d, text in enumerate(build_report(tree, corpus).data["documents"]["topics"]):
        rows = numbers(text)[::2]
        expected = {}  # by level
        for row in range(len(tree)):
            weight = tree.doc_topic[d, row] * np.log(1 / tree.size[row])
            if tree.doc_topic[d, row] >= 0.1 and weight > expected.get(tree.level[row], (0, -1))[0]:
                expected[tree.level[row]] = (weight, row)
        assert sorted(rows) == sorted(row for _, row in expected.values())


def test_a_title_that_begins_the_text_is_shown_once():
    bodies = ["cat dog 🐈 cow.\n\nsun moon star", "sun moon star comet", "", "Café cat dog"]
    titles = ["Horse fur", "Comet", "Horse", "Cafe\u0301"]
    texts = [f"{title}\n\n{body}" if body else title for title, body in zip(titles, bodies)]
    corpus = Corpus.from_texts(texts, titles=titles, keep_texts=True, segments="paragraphs")
    for model in (plsa(corpus, 2), fitted(MODELS["LDCC"], corpus, 2)):
        documents = build_report(model, corpus).data["documents"]
        assert documents["text"] == [bodies[0], bodies[1], "Horse", bodies[3]]
        assert documents["length"] == [len(units(text)) // 2 for text in documents["text"]]
        for d, body in enumerate(documents["text"]):
            words = [word.lower() for word, _ in marked_words(documents, d)]
            assert words == [word.lower() for word in re.findall(r"[^\W_]+", body)]
    starts = [[int(number) for number in parts.split()[::3]] for parts in documents["parts"]]
    assert starts[0] == [0, len(units(bodies[0].partition("sun")[0])) // 2]  # the title is a segment of its own
    assert starts[1] == [0]
