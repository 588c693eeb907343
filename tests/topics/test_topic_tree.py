from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import PLSA, Corpus
from topicfold.topics.ranking import relevance, top_word_columns
from topicfold.topics.tree import TopicTree

TEXTS = ["cat dog cat", "dog cat", "sun moon", "moon star sun", "leaf tree", "tree root leaf tree"]


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(TEXTS, ids="abcdef", titles=[text.upper() for text in TEXTS])


@pytest.fixture(scope="module")
def model(corpus):
    return PLSA(3, alpha=0, beta=0, random_state=0, verbose=False).fit(corpus)


@pytest.fixture
def tree(model, corpus):
    return model.topic_tree(corpus)


def of(tree, document):
    return tree.topics_of(document)[0][0]


def test_words_documents_and_topics(tree):
    animals = of(tree, "a")
    assert {word.word for word in tree.words(animals, 2)} == {"cat", "dog"}
    assert {name for name, _ in tree.documents(animals, 2)} == {"a", "b"}
    assert of(tree, 0) == animals
    assert tree.size.sum() == pytest.approx(1)
    assert len(tree.words(animals, 100)) == 2  # words with P = 0 are not shown


def test_ranking_by_relevance_or_probability(tree):
    topic = of(tree, "f")
    scores = [word.score for word in tree.words(topic, 10)]
    assert scores == sorted(scores, reverse=True)
    chances = [word.probability for word in tree.words(topic, 10, by="probability")]
    assert chances == sorted(chances, reverse=True)


def test_relevance_is_its_formula():
    rng = np.random.default_rng(0)
    topic_word, frequency = rng.dirichlet(np.ones(6), 3), rng.integers(1, 50, 6)
    overall = frequency / frequency.sum()
    for weight in (0.0, 0.6, 1.0):
        expected = weight * np.log(topic_word) + (1 - weight) * np.log(topic_word / overall)
        assert np.allclose(relevance(topic_word, frequency, weight), expected)
    assert relevance(np.array([[0.0, 1.0]]), np.array([1, 1]))[0, 0] == -np.inf
    assert relevance(np.array([[0.1, 0.9]]), np.array([0, 1]))[0, 0] == -np.inf
    assert top_word_columns(np.array([1.0, 3, 3, -np.inf]), 3).tolist() == [1, 2, 0]


def test_print_is_a_table(tree):
    lines = str(tree).splitlines()
    assert lines[0] == "3 topics of 6 documents"
    assert lines[1].split() == ["id", "size", "words"]
    assert len(lines) == 5
    sizes = [float(line.split()[1].rstrip("%")) for line in lines[2:]]
    assert sizes == sorted(sizes, reverse=True)


def test_rename_merge_and_drop_keep_ids(tree, model):
    before = model.topic_word_.copy()
    animals, sky, plants = of(tree, "a"), of(tree, "c"), of(tree, "e")
    merged = tree.merge([animals, sky], "both").rename({plants: "plants"})
    assert merged.name(animals) == "both"
    assert "[both]" in str(merged)
    assert merged.mapping == {animals: animals, sky: animals, plants: plants}
    assert merged.size.sum() == pytest.approx(1)
    assert merged.doc_topic.sum(axis=1) == pytest.approx(np.ones(6))
    assert merged.topic_word.sum(axis=1) == pytest.approx(np.ones(2), abs=1e-5)
    dropped = merged.drop([animals])
    assert dropped.mapping == {animals: None, sky: None, plants: plants}
    assert dropped.ids.tolist() == [plants]
    assert dropped.rename({plants: ""}).name(plants) != "plants"
    assert len(tree) == 3
    assert np.array_equal(model.topic_word_, before)
    with pytest.raises(ValueError, match=f"no topic {sky} .merged into {animals}"):
        merged.words(sky)
    with pytest.raises(ValueError, match="it was dropped"):
        dropped.words(animals)
    with pytest.raises(ValueError, match="at least two different"):
        tree.merge([animals, animals])
    with pytest.raises(ValueError, match="no topic 99"):
        tree.rename({99: "x"})
    with pytest.raises(ValueError, match="no document 'zz'"):
        tree.topics_of("zz")
    assert tree.topics_of(np.int64(1)) == tree.topics_of("b")
    for bad in ({"n": -1}, {"by": "luck"}):
        with pytest.raises(ValueError, match="expected n of 0 or more"):
            tree.words(animals, **bad)


def two_levels(tree):
    """Topics 0 and 1 under a topic 7 of level 2; 2 on its own. Ranked by a score of its own."""
    score = sp.csr_array(np.vstack([tree.topic_word, tree.topic_word[:2].mean(axis=0)]))
    return replace(
        tree,
        ids=np.array([0, 1, 2, 7]),
        parent=np.array([7, 7, -1, -1]),
        level=np.array([1, 1, 1, 2]),
        size=np.append(tree.size, tree.size[:2].sum()),
        topic_word=np.vstack([tree.topic_word, tree.topic_word[:2].mean(axis=0)]),
        doc_topic=np.hstack([tree.doc_topic, tree.doc_topic[:, :2].sum(axis=1, keepdims=True)]),
        word_score=score,
        word_presence=None,
        exclusive=False,
        mapping={topic: topic for topic in (0, 1, 2, 7)},
    )


def test_hierarchies_are_indented_and_edited(tree):
    high = two_levels(tree)
    assert set(high.children()) == {2, 7}
    assert set(high.children(7)) == {0, 1}
    indented = [line for line in str(high).splitlines() if line[15:17] == "  "]
    assert len(indented) == 2
    assert set(high.drop([7]).children()) == {0, 1, 2}
    merged = high.merge([0, 2])
    assert set(merged.children(7)) == {0, 1}
    assert len(merged.words(0)) > len(high.words(0))
    assert (merged.doc_topic <= 1.0001).all()
    with pytest.raises(ValueError, match="different levels"):
        high.merge([0, 7])


def test_json(tree):
    values = json.loads(tree.rename({1: "one"}).to_json(2))
    assert [topic["id"] for topic in values["topics"]] == [0, 1, 2]
    assert values["topics"][1]["name"] == "one"
    assert set(values["topics"][0]["words"][0]) == {"word", "probability", "score"}


def test_another_corpus_with_the_same_ids_is_assigned_too(corpus):
    plain = Corpus.from_texts(TEXTS)
    other = Corpus.from_texts(TEXTS[::-1])
    model = PLSA(3, random_state=0, verbose=False).fit(plain)
    assert plain.ids == other.ids
    assert np.array_equal(model.topic_tree(other).doc_topic, model.transform(other))
    assert model.topic_tree(plain).doc_topic is model.doc_topic_


def test_other_documents_are_assigned(model, corpus):
    other = Corpus.from_texts(["cat", "sun star"], ids=["x", "y"])
    tree = model.topic_tree(other)
    assert tree.document_ids == ("x", "y")
    assert of(tree, "x") == of(model.topic_tree(corpus), "a")


def test_a_model_without_words_or_fit(blocks):
    bare = PLSA(3, random_state=0, verbose=False).fit(blocks[0]).topic_tree()
    assert bare.vocabulary[0] == "word 0"
    assert bare.document_ids[:2] == ("0", "1")
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        PLSA().topic_tree()


# ---- notebooks ------------------------------------------------------------------------------------------------------

HOSTILE = ("<script>alert(1)</script>", '"><img src=x>', "a&b", "it's")


def hostile_tree(n_topics=4, **changes):
    """Topics of one word each, the words and names of which are markup."""
    share = np.full(n_topics, 1 / n_topics)
    tree = TopicTree(
        ids=np.arange(n_topics),
        parent=np.full(n_topics, -1),
        level=np.ones(n_topics, int),
        size=share,
        topic_word=np.eye(4)[np.arange(n_topics) % 4],
        doc_topic=np.tile(share, (5, 1)),
        word_frequency=np.ones(4),
        vocabulary=HOSTILE,
        document_ids=tuple("abcde"),
        names={0: "<b onclick='x'>&amp;"},
    )
    return replace(tree, **changes)


class Cells(HTMLParser):
    """The tags with their attributes, the text of each cell, and all text of a table."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.cells, self.text = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data):
        self.text += data
        if self.cells:
            self.cells[-1] += data


def test_html_escapes_words_and_names():
    read = Cells(hostile_tree()._repr_html_())
    assert {tag for tag, _ in read.tags} == {"table", "caption", "thead", "tbody", "tr", "th", "td", "b"}
    assert {name for _, attributes in read.tags for name in attributes} <= {"style"}
    assert read.cells[2] == f"<b onclick='x'>&amp; {HOSTILE[0]}"
    assert read.cells[2::3][1:] == list(HOSTILE[1:])
    assert "4 topics of 5 documents" in read.text


def test_html_is_indented_in_the_order_of_the_text(tree):
    high = two_levels(tree)
    read = Cells(high._repr_html_())
    printed = [line.split() for line in str(high).splitlines()[2:]]
    assert read.cells[0::3] == [line[0] for line in printed]
    assert read.cells[1::3] == [line[1] for line in printed]
    looks = [attributes["style"] for tag, attributes in read.tags if tag == "td" and attributes]
    deep = [topic for topic, look in zip(read.cells[0::3], looks) if "padding-left:2.0em" in look]
    assert set(deep) == {"0", "1"}


def test_html_with_edges_shows_the_heaviest_parts():
    edges = (np.array([0] * 8), np.arange(1, 9), np.arange(8, 0, -1) / 36)
    tree = hostile_tree(9, parent=np.array([-1] + [0] * 8), edges=edges)
    read = Cells(tree._repr_html_())
    assert read.cells[0::3] == ["0", "1", "2", "3", "4", "5", "6"]
    assert read.cells[1::3][:3] == ["11.1%", "0.22", "0.19"]


def test_html_of_many_topics_says_how_many_more():
    read = Cells(hostile_tree(130)._repr_html_())
    assert len(read.cells) == 300
    assert read.text.endswith("and 40 more")  # of 130 topics in 10 groups


# ---- pyLDAvis -------------------------------------------------------------------------------------------------------


def check_pyldavis(values, n_documents):
    """What pyLDAvis asks of its arguments, and that it can take the logarithm of each probability."""
    topics, documents = values["topic_term_dists"], values["doc_topic_dists"]
    assert topics.dtype == documents.dtype == np.float64
    assert documents.shape == (n_documents, len(topics))
    assert len(values["doc_lengths"]) == n_documents
    assert topics.shape[1] == len(values["vocab"]) == len(values["term_frequency"])
    np.testing.assert_allclose(topics.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(documents.sum(axis=1), 1, atol=1e-5)
    assert topics.min() > 0
    assert documents.sum(axis=0).min() > 0
    assert min(values["doc_lengths"].min(), values["term_frequency"].min()) > 0


def test_pyldavis(tree, corpus):
    values = tree.to_pyldavis(corpus)
    check_pyldavis(values, 6)
    assert values["vocab"] == list(corpus.vocabulary)
    np.testing.assert_array_equal(values["doc_lengths"], corpus.counts.sum(axis=1))
    np.testing.assert_array_equal(values["term_frequency"], corpus.counts.sum(axis=0))
    np.testing.assert_allclose(values["topic_term_dists"], tree.topic_word, atol=1e-6)
    np.testing.assert_allclose(values["doc_topic_dists"], tree.doc_topic, atol=1e-6)


def test_pyldavis_without_words_documents_and_topics_that_are_not_there(model):
    other = Corpus.from_texts(["cat dog", "nothing known", "sun sun", "moon cat zebra"])
    tree = model.topic_tree(other)
    values = tree.to_pyldavis(other)
    assert set(values["vocab"]) == {"cat", "dog", "sun", "moon"}
    at = dict(zip(values["vocab"], values["term_frequency"].tolist()))
    assert at == {"cat": 2, "dog": 1, "sun": 2, "moon": 1}
    np.testing.assert_array_equal(values["doc_lengths"], [2, 2, 2])
    check_pyldavis(values, 3)
    nobody = replace(tree, doc_topic=np.where(tree.ids == of(tree, "0"), 0, tree.doc_topic))
    values = nobody.to_pyldavis(other)
    assert len(values["topic_term_dists"]) < 3
    check_pyldavis(values, len(values["doc_lengths"]))


def test_pyldavis_takes_the_lowest_level(tree, corpus):
    high = replace(two_levels(tree), exclusive=True)
    assert len(high.to_pyldavis(corpus)["topic_term_dists"]) == 3
    assert len(high.select_levels([2]).to_pyldavis(corpus)["topic_term_dists"]) == 1
    dropped = tree.drop([of(tree, "a")]).to_pyldavis(corpus)
    assert dropped["doc_topic_dists"].shape[1] == 2
    check_pyldavis(dropped, len(dropped["doc_lengths"]))


def test_pyldavis_says_what_it_cannot_show(tree, corpus):
    with pytest.raises(ValueError, match="pyLDAvis needs topics that sum to one in each document"):
        two_levels(tree).to_pyldavis(corpus)
    with pytest.raises(ValueError, match="other documents than the tree"):
        tree.to_pyldavis(Corpus.from_texts(TEXTS))
    with pytest.raises(ValueError, match="has 2 words: expected the 8"):
        tree.to_pyldavis(Corpus(sp.csr_array(np.ones((6, 2), int)), ids=tuple("abcdef")))
    with pytest.raises(ValueError, match="nothing to show"):
        tree.drop(tree.ids.tolist()).to_pyldavis(corpus)
