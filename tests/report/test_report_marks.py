"""The words that are marked in the texts of a report, and the topic each of them is marked with."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from report_cases import (
    WORD,
    best_topic,
    expected_marks,
    fitted,
    in_threes,
    marked_words,
    marks_of,
    plain_words,
    plsa,
    units,
)

from topicfold import HLTA, Corpus, Preprocessing, build_report
from topicfold.models import MODELS
from topicfold.report import document_table


@pytest.mark.parametrize("name", [name for name in MODELS if name != "LDCC"])
def test_each_mark_is_a_word_in_its_most_probable_topic(name, corpus):
    model = fitted(MODELS[name], corpus, **({} if name == "HLTA" else {"dtype": "float64"}))
    tree, table = model.topic_tree(corpus), build_report(model, corpus).data["documents"]
    for d, text in enumerate(corpus.texts):
        expected = expected_marks(tree, plain_words(text), tree.doc_topic[d])
        assert marked_words(table, d) == expected
        assert table["length"][d] == len(units(text)) // 2
    assert sum(len(marks_of(table, d)) for d in range(36)) > 300


def test_topics_of_a_hierarchy_colour_words_by_their_own_score(corpus):
    model = HLTA(random_state=0, verbose=False).fit(corpus)
    tree = model.topic_tree(corpus)
    assert tree.word_score is not None
    assert not tree.exclusive
    data = build_report(model, corpus).data
    assert data["score"] == "discerning index"
    for topic, row in zip(data["topics"], range(len(tree)), strict=True):
        own = {data["words"][word]: score for word, _, score in topic["words"] if score is not None}
        assert own == pytest.approx({word.word: word.score for word in tree.words(row, 30)}, rel=1e-3)


def test_a_word_that_speaks_against_a_topic_is_not_coloured_by_it(model, corpus):
    tree = model.topic_tree(corpus)
    scores = np.random.default_rng(0).normal(size=tree.topic_word.shape)
    for word_score in (scores, sp.csr_array(np.where(scores > 1, scores, 0))):
        scored = replace(tree, word_score=word_score, exclusive=False)
        table = build_report(scored, corpus).data["documents"]
        for d, text in enumerate(corpus.texts):
            assert marked_words(table, d) == expected_marks(scored, plain_words(text), tree.doc_topic[d])


def test_documents_without_texts_show_their_words(corpus):
    counted = Corpus.from_counts(corpus.counts, corpus.vocabulary, ids=corpus.ids)
    model = plsa(counted, dtype="float64")
    tree, data = model.topic_tree(counted), build_report(model, counted).data
    assert "text" not in data["documents"]
    for d in range(36):
        shown = {data["words"][word]: (count, topic) for word, count, topic in in_threes(data["documents"]["words"][d])}
        row = counted.counts[[d]].toarray()[0]
        topics = {word: best_topic(tree, word, tree.doc_topic[d]) for word in shown}
        expected = {
            word: (row[w], -1 if topics[word] is None else topics[word])
            for w, word in enumerate(tree.vocabulary)
            if row[w]
        }
        assert shown == expected
        counts = [count for _, count, _ in in_threes(data["documents"]["words"][d])]
        assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize(
    "text",
    [
        "हिन्दी भाषा, हिन्दी",
        "re\u0301sume\u0301 Café 😀 CAFÉ",
        "İstanbul I\u0307stanbul",
        "ΟΔΟΣ οδος 𝒳 οδος.",
        "ที่นี่ ภาษา",
        "😀😀 dog 🐈‍⬛ dog",
    ],
)
def test_marks_in_every_script(text):
    corpus = Corpus.from_texts([text, "other words"], keep_texts=True)
    data = build_report(plsa(corpus, 2), corpus).data
    shown = unicodedata.normalize("NFC", text)
    assert data["documents"]["text"][0] == shown
    lowered = [word.replace("İ", "i").lower() for word, _ in marked_words(data["documents"], 0)]
    assert lowered == Preprocessing(tokenizer="characters").words(text)  # without pairs of characters


@pytest.mark.parametrize(
    ("text", "marked", "short"),
    [
        ("The cat_2, the “dog” and 😀 Zürich’s cat.", {"cat_2": 7, "dog": 3, "Zürich": 7, "cat": 7}, True),
        ("cat", {"cat": 0}, True),
        ("the and", {}, None),
        ("", {}, None),
        ("half \ud83d of a cat", {"cat": 1}, True),
        ("東京都に cat", {"東京": 4, "cat": 1}, False),  # no blanks between words
        ("😀😀 full-time cat", {"full-time": 2, "cat": 1}, False),
    ],
)
def test_marks_come_by_word_or_by_place(text, marked, short):
    marks = []
    for word, row in sorted(marked.items(), key=lambda mark: text.rindex(mark[0])):
        start = text.rindex(word)
        marks.append((start, start + len(word), row))
    given = document_table._marks_as_text(text, marks, document_table._utf16_places(text))
    assert (":" in given) is bool(short)
    table = {"text": [text], "marks": [given]}
    assert marks_of(table, 0) == [(*(len(units(text[:at])) // 2 for at in mark[:2]), mark[2]) for mark in marks]


def test_marks_of_very_many_topics():
    text = " ".join(f"w{row}" for row in range(300))
    places = [text.index(f"w{row} " if row < 299 else "w299") for row in range(300)]
    marks = [(at, at + len(f"w{row}"), row) for row, at in enumerate(places)]
    given = document_table._marks_as_text(text, marks, lambda place: place)
    assert marks_of({"text": [text], "marks": [given]}, 0) == marks


def test_what_a_page_takes_for_a_word():
    every = "".join(map(chr, range(0x110000)))
    assert document_table._WORD.findall(every) == re.findall(WORD, every)
