from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import PLSA, Corpus, topic_tree
from topicfold.topics import relevance, top_word_columns

TEXTS = ["cat dog cat", "dog cat", "sun moon", "moon star sun", "leaf tree", "tree root leaf tree"]


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(TEXTS, ids="abcdef", titles=[text.upper() for text in TEXTS])


@pytest.fixture(scope="module")
def model(corpus):
    return PLSA(3, random_state=0, verbose=False).fit(corpus)


@pytest.fixture
def tree(model, corpus):
    return topic_tree(model, corpus)


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


def test_json_and_frame(tree):
    values = json.loads(tree.rename({1: "one"}).to_json(2))
    assert [topic["id"] for topic in values["topics"]] == [0, 1, 2]
    assert values["topics"][1]["name"] == "one"
    assert set(values["topics"][0]["words"][0]) == {"word", "probability", "score"}
    frame = pytest.importorskip("pandas") and tree.to_frame()
    assert list(frame.columns) == ["name", "parent", "level", "size", "words"]


def test_frame_without_pandas_names_the_extra(tree, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match=r"topicfold\[frame\]"):
        tree.to_frame()


def test_another_corpus_with_the_same_ids_is_assigned_too(corpus):
    plain = Corpus.from_texts(TEXTS)
    other = Corpus.from_texts(TEXTS[::-1])
    model = PLSA(3, random_state=0, verbose=False).fit(plain)
    assert plain.ids == other.ids
    assert np.array_equal(topic_tree(model, other).doc_topic, model.transform(other))
    assert topic_tree(model, plain).doc_topic is model.doc_topic_


def test_other_documents_are_assigned(model, corpus):
    other = Corpus.from_texts(["cat", "sun star"], ids=["x", "y"])
    tree = topic_tree(model, other)
    assert tree.document_ids == ("x", "y")
    assert of(tree, "x") == of(topic_tree(model, corpus), "a")


def test_a_model_without_words_or_fit(blocks):
    bare = topic_tree(PLSA(3, random_state=0, verbose=False).fit(blocks[0]))
    assert bare.vocabulary[0] == "word 0"
    assert bare.document_ids[:2] == ("0", "1")
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        topic_tree(PLSA())
