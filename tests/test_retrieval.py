from __future__ import annotations

import pytest

from topicfold import PLSA, Corpus, search

TEXTS = ["cat dog cow", "dog cow", "cow cat dog", "sun moon star", "moon star", "star sun moon"]


@pytest.fixture(scope="module")
def model():
    return PLSA(2, random_state=0, verbose=False).fit(Corpus.from_texts(TEXTS, ids="abcdef"))


def test_a_document_without_the_word_is_found(model):
    hits = search(model, "sun", n=3)
    assert {hit.id for hit in hits} == {"d", "e", "f"}  # e has no sun
    assert all(hit.similarity > 0.99 for hit in hits)
    assert [hit.similarity for hit in hits] == sorted((hit.similarity for hit in hits), reverse=True)
    assert TEXTS[hits[0].row]


def test_queries_as_counts(model):
    row = [[int(word == "cat") for word in model.vocabulary_]]
    assert {hit.id for hit in search(model, row, n=3)} == {"a", "b", "c"}


def test_bad_queries(model):
    with pytest.raises(ValueError, match="no word of the query 'zebra'"):
        search(model, "zebra")
    with pytest.raises(ValueError, match="n=0"):
        search(model, "cat", n=0)
    with pytest.raises(ValueError, match="one query, got 2"):
        search(model, ["cat", "sun"])
