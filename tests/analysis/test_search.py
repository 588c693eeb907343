from __future__ import annotations

import pytest

from topicfold import HLTA, LDCC, PLSA, TTMM, Corpus, search

TEXTS = ["cat dog cow", "dog cow", "cow cat dog", "sun moon star", "moon star", "star sun moon"]


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(TEXTS, ids="abcdef", titles=[text.upper() for text in TEXTS[:5]] + [""])


@pytest.fixture(scope="module")
def model(corpus):
    return PLSA(2, random_state=0, verbose=False).fit(corpus)


def test_documents_with_the_words_come_first_and_others_are_found(model, corpus):
    hits = search(model, corpus, "sun", n=3)
    assert [hit.id for hit in hits] == ["d", "f", "e"]  # e has no sun
    assert [hit.words for hit in hits] == [("sun",), ("sun",), ()]
    assert [hit.title for hit in hits] == ["SUN MOON STAR", "f", "MOON STAR"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[1].score > 0.75 > hits[2].score > 0.2


def test_topics_alone_do_not_make_a_hit_of_one():
    texts = ["battery life of a phone", "phone battery charger"] * 5 + ["coffee beans and milk", "milk coffee cup"] * 5
    corpus = Corpus.from_texts(texts, titles=range(len(texts)))  # so that they are not copies of each other
    model = PLSA(1, random_state=0).fit(corpus)  # one topic: by topics all documents are the same
    hits = search(model, corpus, "battery life", n=20)
    assert [hit.row for hit in hits[:5]] == [0, 2, 4, 6, 8]
    assert all("battery" in hit.words for hit in hits[:10])
    assert all(hit.score <= 0.25 for hit in hits[10:])


def test_documents_with_all_words_come_before_any_other():
    texts = ["rare common"] + ["rare topic topic topic"] * 3 + ["other common thing"] * 5
    corpus = Corpus.from_texts(texts)
    for seed in range(5):
        hits = search(PLSA(3, random_state=seed, init="random").fit(corpus), corpus, "rare common topic", n=9)
        full = [len(hit.words) == 3 for hit in hits]
        assert full == sorted(full, reverse=True)
        hits = search(PLSA(3, random_state=seed, init="random").fit(corpus), corpus, "rare common", n=1)
        assert hits[0].row == 0


def test_other_documents_are_searched(model):
    other = Corpus.from_texts(["zebra moon", "zebra dog"])
    assert [hit.row for hit in search(model, other, "moon")] == [0, 1]


def test_queries_as_counts(model, corpus):
    row = [[int(word == "cat") for word in model.vocabulary_]]
    assert {hit.id for hit in search(model, corpus, row, n=3)} == {"a", "b", "c"}


@pytest.mark.parametrize("features", ["tokens", "paper", "log", "themes"])
def test_what_transform_gives_does_not_matter(corpus, features):
    model = TTMM(2, 2, features=features, random_state=0).fit(corpus)
    hits = search(model, corpus, "moon", n=6)
    assert {hit.id for hit in hits[:3]} == {"d", "e", "f"}
    assert all(0 <= hit.score <= 1 for hit in hits)


@pytest.mark.parametrize(
    "other", [LDCC(2, 2, n_sweeps=20, burn_in=10, lag=2, random_state=0), HLTA(random_state=0)], ids=["LDCC", "HLTA"]
)
def test_models_with_several_levels(corpus, other):
    assert {hit.id for hit in search(other.fit(corpus), corpus, "moon", n=3)} == {"d", "e", "f"}


def test_bad_queries(model, corpus):
    with pytest.raises(ValueError, match="no word of the query 'zebra'"):
        search(model, corpus, "zebra")
    with pytest.raises(ValueError, match="n=0"):
        search(model, corpus, "cat", n=0)
    with pytest.raises(ValueError, match="one query, got 2"):
        search(model, corpus, ["cat", "sun"])


def test_a_tree_in_place_of_the_model_is_refused(model, corpus):
    with pytest.raises(ValueError, match="model is of type TopicTree: expected a fitted model"):
        search(model.topic_tree(corpus), corpus, "sun")
    with pytest.raises(ValueError, match="corpus is of type list: expected a Corpus"):
        search(model, TEXTS, "sun")


def test_copies_are_found_once():
    texts = ["battery of a phone"] * 8 + ["phone battery charger", "coffee beans", "coffee cup"]
    corpus = Corpus.from_texts(texts, keep_texts=True)
    hits = search(PLSA(2, random_state=0).fit(corpus), corpus, "battery", n=3)
    assert {hit.row for hit in hits[:2]} == {0, 8}
    assert len({corpus.copies.first[hit.row] for hit in hits}) == 3
