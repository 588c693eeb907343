"""The words that are marked in the texts of a report, and the topic each of them is marked with."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from report_cases import best_topic, expected_marks, fitted, in_threes, marked_words, marks_of, plain_words, plsa, units

from topicfold import HLTA, Corpus, Preprocessing, build_report
from topicfold.models import MODELS


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
    assert lowered == Preprocessing().words(text)
