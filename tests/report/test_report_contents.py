"""What goes into the explorer as a whole: every model, the same bytes again, names, time and other corpora."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from report_cases import (
    expected_marks,
    fitted,
    marked_words,
    marks_of,
    numbers,
    plain_words,
    plsa,
    refuse,
    small_corpus,
    small_texts,
)

from topicfold import LDCC, Corpus, TopicTree, build_report, load
from topicfold.models import MODELS
from topicfold.report.document_table import LONGEST_NAME


def test_every_model_has_a_report(any_model, corpus):
    report = build_report(any_model, corpus, name="small", compare=any_model)
    data = json.loads(report.to_json(), parse_constant=refuse)
    tree, table = any_model.topic_tree(corpus), data["documents"]
    assert data == report.data
    assert [topic["id"] for topic in data["topics"]] == tree.ids.tolist()
    assert [topic["size"] for topic in data["topics"]] == pytest.approx(tree.size, rel=1e-3)
    assert data["corpus"] == {
        "documents": 36,
        "shown": 36,
        "sample": None,
        "words": corpus.counts.shape[1],
        "tokens": corpus.counts.sum(),
        "segments": 72,
        "links": 36,
        "cut": None,
        "copies": 0,
        "check": [
            ["documents", "36, no copies"],
            ["tokens per document", "18 to 18, median 18"],
            ["languages", "english 100.0%"],
            ["dates", "28 read, 8 missing"],
        ],
    }
    assert {len(column) for column in table.values() if column is not None} == {36}
    assert table["text"] == list(corpus.texts)
    assert table["title"] == list(corpus.titles)
    assert table["date"][:2] == ["", "2001-03"]
    assert ("parts" in table) == isinstance(any_model, LDCC)
    for d in range(36):
        for column in ("near", "linked"):
            assert d not in numbers(table[column][d])
            assert set(numbers(table[column][d])) <= set(range(36))
        assert 0 <= table["x"][d] <= 10_000
        assert 0 <= table["y"][d] <= 10_000
        flat = numbers(table["topics"][d])
        for row, share in zip(flat[::2], flat[1::2], strict=True):
            assert share == round(1000 * float(tree.doc_topic[d, row]))
    assert data["model"]["name"] == type(any_model).__name__
    assert data["model"]["unit"] == MODELS[type(any_model).__name__].score_unit
    assert data["graph"] == ("the graph of the fit" if MODELS[type(any_model).__name__].takes_graph else "links")


@pytest.mark.parametrize("name", MODELS)
def test_the_same_bytes_from_the_same_seed_and_any_number_of_threads(name, corpus):
    once, again, threaded = (
        build_report(fitted(MODELS[name], corpus, n_jobs=n_jobs), corpus).to_html() for n_jobs in (1, 1, 2)
    )
    assert once == again
    assert once == threaded


def test_the_same_bytes_from_files(any_model, corpus, tmp_path):
    any_model.save(tmp_path / "m.safetensors")
    corpus.save(tmp_path / "c.safetensors")
    again = build_report(load(tmp_path / "m.safetensors"), Corpus.load(tmp_path / "c.safetensors"))
    assert again.to_json() == build_report(any_model, corpus).to_json()


def test_the_tree_of_a_model_says_all_that_the_model_does(any_model, corpus, tmp_path):
    from_model = build_report(any_model, corpus, compare=any_model, names={0: "first"}, max_documents=20).to_json()
    tree = any_model.topic_tree(corpus)
    tree.save(tmp_path / "t.safetensors")
    for same in (tree, TopicTree.load(tmp_path / "t.safetensors")):
        report = build_report(same, corpus, compare=same, names={0: "first"}, max_documents=20)
        assert report.to_json() == from_model


def test_topics_alone_and_with_the_level_above(corpus):
    model = fitted(MODELS["TTMM"], corpus)
    tree = model.topic_tree(corpus)
    both, alone = build_report(tree, corpus).data, build_report(tree.select_levels([1]), corpus).data
    assert {topic["level"] for topic in both["topics"]} == {1, 2}
    assert {topic["level"] for topic in alone["topics"]} == {1}
    assert all("parts" in topic for topic in both["topics"])
    assert not any("parts" in topic for topic in alone["topics"])
    assert alone["documents"]["marks"] == both["documents"]["marks"]
    assert alone["model"] == both["model"]


def test_a_changed_tree_of_other_documents(any_model, corpus):
    """Topics merged on the documents of the fit, shown with documents that come later."""
    other = small_corpus(small_texts(12)[::-1], segments="paragraphs", vocabulary=corpus.vocabulary)
    tree = any_model.topic_tree(corpus)
    lowest = tree.ids[tree.level == 1].tolist()[:2]
    changed = tree.merge(lowest, "both").replace_documents(any_model.topic_tree(other))
    data = build_report(changed, other).data
    assert data["documents"]["text"] == list(other.texts)
    assert data["graph"] == "links"
    assert {topic["id"]: topic["name"] for topic in data["topics"]}[lowest[0]] == "both"
    assert [topic["size"] for topic in data["topics"]] == pytest.approx(changed.doc_topic.mean(axis=0), rel=1e-3)
    assert ("parts" in data["documents"]) == isinstance(any_model, LDCC)


def test_bad_input_is_named(model, corpus):
    with pytest.raises(ValueError, match="no topics"):
        build_report(model.topic_tree(corpus).drop([0, 1, 2]), corpus)
    with pytest.raises(ValueError, match="max_documents=0"):
        build_report(model, corpus, max_documents=0)
    with pytest.raises(ValueError, match="36 documents and the corpus 4"):
        build_report(model.topic_tree(corpus), corpus.subset(range(4)))
    with pytest.raises(ValueError, match="36 documents and the corpus 4"):
        build_report(model, corpus.subset(range(4)), compare=model.topic_tree(corpus))
    with pytest.raises(ValueError, match="no topic 7"):
        build_report(model, corpus, names={7: "seventh"})
    with pytest.raises(ValueError, match="method='magic'"):
        build_report(model, corpus, layout="magic")


def test_names_and_changed_trees(model, corpus):
    tree = model.topic_tree(corpus).merge([0, 2])
    data = build_report(tree, corpus, names={1: "one"}).data
    assert [(topic["id"], topic["name"]) for topic in data["topics"]] == [(0, None), (1, "one")]
    assert all(topic in (0, 1) for d in range(36) for *_, topic in marks_of(data["documents"], d))


def test_a_model_without_steps_or_with_many(model, corpus):
    changed = plsa(corpus)
    changed.history_ = np.linspace(-9, -1, 1000)
    steps = build_report(changed, corpus).data["model"]["steps"]
    assert len(steps) == 200
    assert (steps[0], steps[-1]) == ([1, -9.0], [1000, -1.0])
    changed.history_ = np.empty(0)
    assert build_report(changed, corpus).data["model"]["steps"] == []
    settings = dict(build_report(model, corpus).data["model"]["settings"])
    assert settings["n_topics"] == "3"
    assert not {"n_jobs", "verbose", "checkpoint"} & set(settings)


def test_how_the_fit_went(any_model, corpus):
    name = type(any_model).__name__
    data = build_report(any_model, corpus, compare=any_model, compare_name="again").data
    facts, again = data["model"], data["compare"]["model"]
    n_topics = sum(any_model.topic_tree(corpus).level == 1)
    assert facts["title"] == f"{name}, {n_topics} topics"
    assert again == {**facts, "title": "again"}
    assert facts["unit"] == ("nats per document" if name == "HLTA" else "nats per token")
    assert facts["iterations"] == any_model.n_iter_
    assert facts["ending"] == ("sampling finished" if name == "LDCC" else "converged")
    assert [step for step, _ in facts["steps"]] == list(range(1, len(any_model.history_) + 1))
    assert [value for _, value in facts["steps"]] == pytest.approx(any_model.history_, rel=1e-6)
    assert facts["settings"] == [[key, value] for key, value in any_model.summary().settings.items()]
    assert {"random_state", *MODELS[name].sizes} < set(dict(facts["settings"]))


def test_a_fit_that_did_not_converge(corpus):
    assert build_report(plsa(corpus, max_iter=2), corpus).data["model"]["ending"] == "stopped at max_iter"
    interrupted = plsa(corpus)
    interrupted.interrupted_ = True
    assert build_report(interrupted, corpus).data["model"]["ending"] == "interrupted"


def test_a_tree_made_without_a_model(model, corpus):
    tree = replace(model.topic_tree(corpus), summary=None)
    data = json.loads(build_report(tree, corpus, compare=tree).to_json(), parse_constant=refuse)
    facts = data["model"]
    assert (facts["name"], facts["title"], facts["ending"]) == ("", "3 topics", "")
    assert facts["settings"] == facts["steps"] == []
    assert facts == data["compare"]["model"]
    assert {**data, "model": None, "compare": None} == {**build_report(model, corpus).data, "model": None}


# ---- over time -------------------------------------------------------------------------------------------------------


def test_topics_over_time_by_going_through_the_documents(any_model, corpus):
    tree, time = any_model.topic_tree(corpus), build_report(any_model, corpus).data["time"]
    assert time["by"] == "year"
    assert time["periods"] == [str(year) for year in range(2001, 2010)]
    for place, year in enumerate(time["periods"]):
        own = [d for d in range(36) if str(corpus.timestamps[d])[:4] == year]
        assert time["documents"][place] == len(own)
        for row in range(len(tree)):
            mean = sum(float(tree.doc_topic[d, row]) for d in own) / len(own)
            assert time["share"][row][place] == pytest.approx(mean, rel=1e-2, abs=1e-6)


@pytest.mark.parametrize(
    ("dates", "by"),
    [
        ([None], None),
        (["2001-02-03"], None),
        (["2001-02-03", None, None], None),
        (["2001-02-03", "2001-02-04"], "day"),
        (["2001", "2002", "2003"], "year"),
        (["2001-02", "2001-03", "2001-04"], "month"),
    ],
)
def test_the_period_that_dates_are_told_by(dates, by, model):
    dated = small_corpus(timestamps=[dates[d % len(dates)] for d in range(36)])
    time = build_report(model, dated).data["time"]
    assert (time and time["by"]) == by


# ---- other corpora ---------------------------------------------------------------------------------------------------


def test_another_corpus_is_assigned(any_model, corpus):
    texts = ["Cat and dog.\n\nSun moon", "", "zebra", "Bread, 😀 cheese"]
    with pytest.warns(UserWarning, match="1 of 4 texts are empty"):
        other = small_corpus(texts, segments="paragraphs", vocabulary=corpus.vocabulary, timestamps=None)
    data = json.loads(build_report(any_model, other, compare=any_model).to_json(), parse_constant=refuse)
    tree = any_model.topic_tree(other)
    assert data["documents"]["id"] == ["d0", "d1", "d2", "d3"]
    assert [topic["size"] for topic in data["topics"]] == pytest.approx(tree.size, rel=1e-3)
    assert data["graph"] == "links"
    assert data["documents"]["marks"][1] == data["documents"]["marks"][2] == ""
    assert {word for word, _ in marked_words(data["documents"], 3)} <= {"Bread", "cheese"}


def test_words_in_another_order_and_words_the_model_has_not(model, corpus):
    texts = [*corpus.texts[:5], "zebra gnu cat"]
    other = Corpus.from_texts(texts, keep_texts=True, labels=list("aabbcc"))
    assert other.vocabulary != corpus.vocabulary
    tree, data = model.topic_tree(other), build_report(model, other).data
    for d, text in enumerate(texts):
        assert marked_words(data["documents"], d) == expected_marks(tree, plain_words(text), tree.doc_topic[d])
    assert [word for word, _ in marked_words(data["documents"], 5)] == ["cat"]


@pytest.mark.parametrize("texts", [["cat dog"], [""], ["zebra"], ["", ""]])
def test_corpora_of_next_to_nothing(any_model, corpus, texts):
    with pytest.warns(UserWarning, match="texts are empty") if "" in texts else nullcontext():
        other = Corpus.from_texts(texts, keep_texts=True, vocabulary=corpus.vocabulary)
    data = json.loads(build_report(any_model, other).to_json(), parse_constant=refuse)
    assert data["documents"]["text"] == texts


def test_links_alone_draw_no_map(corpus):
    """Where documents stand is told by the graph of the fit, not by links of other documents."""
    model = fitted(MODELS["LTM"], corpus)
    texts = small_texts(20)[::-1]
    linked, unlinked = (
        build_report(model, small_corpus(texts, vocabulary=corpus.vocabulary, links=links)).data
        for links in ([(f"d{i}", f"d{(i + 7) % 20}") for i in range(20)], None)
    )
    assert (linked["graph"], unlinked["graph"]) == ("links", None)
    assert linked["documents"]["x"] == unlinked["documents"]["x"]


def test_long_names_are_shortened_everywhere():
    """A title of a megabyte would freeze the page; ids that differ at their end alone stay different."""
    long = "x" * 10**6
    texts = [f"cat dog {long}" for _ in range(6)] + ["sun moon star"] * 6
    known = {
        "titles": [f"{long} {number}" for number in range(12)],
        "labels": [f"{long} {number % 2}" for number in range(12)],
        "ids": [f"{long}{number}" for number in range(12)],
        "timestamps": None,
        "links": None,
    }
    corpus = small_corpus(texts, **known)
    tree = plsa(corpus, 2).topic_tree(corpus).rename({0: long})
    data = build_report(tree, corpus, name=long, names={1: long}).data
    assert len(set(data["documents"]["id"])) == 12

    def longest(value):
        if isinstance(value, str):
            return len(value)
        values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return max((longest(item) for item in values), default=0)

    texts = data["documents"].pop("text", None)
    assert texts is not None
    assert longest(data) <= LONGEST_NAME
