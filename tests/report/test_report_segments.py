"""Segments of texts in a report: found again in the text, each with the topics that LDCC gives it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from report_cases import (
    expected_marks,
    in_threes,
    ldcc,
    marked_words,
    marks_of,
    parts_of,
    plain_words,
    small_corpus,
    small_texts,
    units,
)

from topicfold import LDCC, Corpus, Preprocessing, build_report
from topicfold.corpus.preprocessing import split_segments
from topicfold.report import document_table

HEADED = "The and of\n\nCat dog cow. Sun moon!\n\nof the\n\nStar sun comet moon orbit? Paw fur dog cat."


def windows(text, size):
    words = Preprocessing().words(text)
    return [words[start : start + size] for start in range(0, len(words), size)]


@pytest.mark.parametrize("how", ["paragraphs", "sentences", 4, "given"])
def test_segments_are_found_again(how):
    texts = [*small_texts(24), HEADED, "", "the of and"]
    given = [split_segments(text, "paragraphs") for text in texts] if how == "given" else texts
    with pytest.warns(UserWarning, match="1 of 27 texts are empty"):
        corpus = small_corpus(given, segments=how, min_df=2)
    model = ldcc(corpus)
    tree, table = model.topic_tree(corpus), build_report(model, corpus).data["documents"]
    topics, above = model.segment_memberships(corpus)
    number = 0
    for d, text in enumerate(given):
        cut = windows(text, how) if how == 4 else [Preprocessing().words(part) for part in split_segments(text, how)]
        parts = iter(parts_of(table, d))
        for words in cut or [[]]:
            known = [word for word in words if word in corpus.vocabulary]
            assert corpus.segments.counts[[number]].sum() == len(known)
            assert corpus.segments.documents[number] == d
            if known:
                topic, upper, marked = next(parts)
                assert topic == topics[number].argmax()
                assert upper == 3 + above[number].argmax()
                shares = np.concatenate([topics[number], np.zeros(3)])
                assert [(word.lower(), row) for word, row in marked] == expected_marks(tree, known, shares)
            number += 1
        assert next(parts, None) is None
    assert number == len(topics)


def test_runs_of_words_fall_back_to_the_document(corpus):
    paired = small_corpus(segments="paragraphs", preprocessing=Preprocessing(ngrams=(1, 2)))
    model = ldcc(paired)
    tree, table = model.topic_tree(paired), build_report(model, paired).data["documents"]
    assert set(table["parts"]) == {""}
    for d, text in enumerate(paired.texts):
        assert marked_words(table, d) == expected_marks(tree, plain_words(text), tree.doc_topic[d])


def test_segments_of_a_merged_and_renamed_tree(corpus):
    model = ldcc(corpus)
    topics, above = model.segment_memberships(corpus)
    tree = model.topic_tree(corpus).merge([0, 2], "both").merge([3, 5])
    table = build_report(tree, corpus).data["documents"]
    assert tree.ids.tolist() == [0, 1, 3, 4]
    merged = np.stack([topics[:, 0] + topics[:, 2], topics[:, 1]], axis=1)
    merged_above = np.stack([above[:, 0] + above[:, 2], above[:, 1]], axis=1)
    for d in range(36):
        found = parts_of(table, d)
        assert len(found) == 2
        for number, (topic, upper, marked) in zip((2 * d, 2 * d + 1), found, strict=True):
            assert topic == merged[number].argmax()
            assert upper == 2 + merged_above[number].argmax()
            shares = np.concatenate([merged[number], np.zeros(2)])
            assert marked == expected_marks(tree, [word for word, _ in marked], shares)


def test_segments_without_the_topics_above_or_with_one_dropped(corpus):
    model = ldcc(corpus)
    whole = model.topic_tree(corpus)
    below = build_report(whole.select_levels([1]), corpus).data["documents"]
    assert {upper for d in range(36) for _, upper, _ in parts_of(below, d)} == {-1}
    without = build_report(whole.drop([0]), corpus).data["documents"]
    rows = {
        row for d in range(36) for topic, _, marked in parts_of(without, d) for row in [topic, *dict(marked).values()]
    }
    assert rows <= {-1, 0, 1}


@pytest.mark.parametrize("words", [None, ["cat", "sun", "gnu"], ["dog", "gnu", "moon", "zebra"]])
@pytest.mark.parametrize("text", ["Cat dog.\n\nSun gnu", "Cat dog gnu.\n\nSun gnu.\n\nGnu zebra.\n\nMoon dog star"])
def test_segments_of_a_corpus_with_other_words(words, text, corpus):
    """Words that the model or the corpus does not know must not move the rest into another paragraph."""
    other = Corpus.from_texts([text], segments="paragraphs", keep_texts=True, vocabulary=words)
    paragraphs = [set(Preprocessing().words(part)) for part in text.split("\n\n")]
    for *_, marked in parts_of(build_report(ldcc(corpus), other).data["documents"], 0):
        assert any({word.lower() for word, _ in marked} <= own for own in paragraphs)


def test_a_paragraph_begins_where_its_first_line_does():
    texts = ["Cat dog cow.\n\nAnd of\nit the sun moon star."] * 4 + ["Star sun moon. The dog, it is the cat."] * 4
    for how, begin in (("paragraphs", ["Cat", "And"]), ("sentences", ["Star", "The"])):
        corpus = small_corpus(texts, segments=how)
        table = build_report(ldcc(corpus), corpus).data["documents"]
        d = 0 if how == "paragraphs" else 7
        starts = [start for start, *_ in in_threes(table["parts"][d])]
        assert [re.match(r"\w+", table["text"][d][start:])[0] for start in starts] == begin


def test_segments_of_a_part_of_the_documents(corpus):
    model = ldcc(corpus)
    whole, part = (build_report(model, corpus, max_documents=most).data["documents"] for most in (36, 11))
    assert len(part["id"]) == 11
    for d, name in enumerate(part["id"]):
        assert part["parts"][d] == whole["parts"][corpus.ids.index(name)] != ""
        assert part["marks"][d] == whole["marks"][corpus.ids.index(name)]


def test_segments_of_texts_that_are_cut(corpus, monkeypatch):
    monkeypatch.setattr(document_table, "_SHORTEST_CUT", 10)
    model = ldcc(corpus)
    table = build_report(model, corpus, texts_mb=36 * 60e-6).data["documents"]
    assert sum(len(text.encode()) for text in table["text"]) <= 36 * 60
    for d in range(36):
        found = parts_of(table, d)
        assert 1 <= len(found) <= 2
        assert sum(len(marked) for *_, marked in found) == len(marks_of(table, d))
        words = [word for *_, marked in found for word, _ in marked]
        assert (
            words == [word for word in plain_words(corpus.texts[d]) if word.lower() in corpus.vocabulary][: len(words)]
        )
        assert all(start <= len(units(table["text"][d])) // 2 for start, *_ in in_threes(table["parts"][d]))


def test_a_tree_goes_with_its_own_documents_and_segments():
    texts = ["Cat dog cow. Fur paw.\n\nSun moon star. Comet orbit.", "Sun moon. Star comet.\n\nDog cat. Cow fur."] * 3
    paragraphs, sentences = (
        Corpus.from_texts(texts, segments=how, keep_texts=True) for how in ("paragraphs", "sentences")
    )
    model = LDCC(2, 2, n_sweeps=20, burn_in=10, random_state=0, verbose=False).fit(paragraphs)
    tree = model.topic_tree(paragraphs)
    with pytest.raises(ValueError, match="12 segments and the corpus 24"):
        build_report(tree, sentences)
    assert "parts" not in build_report(tree, replace(paragraphs, segments=None)).data["documents"]
    with pytest.raises(ValueError, match="same ids in the same order"):
        build_report(tree, paragraphs.subset([1, 0, 2, 3, 4, 5]))
