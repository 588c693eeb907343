"""Names by a function: what it sees, what becomes of its answers, and where names and descriptions go."""

from __future__ import annotations

import json

import numpy as np
import pytest

from topicfold import HLTA, LDCC, PLSA, Corpus, TopicToName, TopicTree, build_report

TEXTS = ["cat dog\n cat cow", "dog cat", "cow dog cat", "sun moon star", "moon star sun", "star sun moon"]


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(TEXTS, titles=[f"title {d}" for d in range(6)], keep_texts=True)


@pytest.fixture(scope="module")
def tree(corpus):
    return PLSA(2, random_state=0).fit(corpus).topic_tree(corpus)


def seen_by(tree, **how):
    seen = []
    with pytest.warns(UserWarning, match="got no name"):
        tree.name_topics(lambda topic: seen.append(topic), **how)
    return seen


def test_a_function_sees_words_documents_neighbours_and_the_topic_above(tree, corpus):
    animals = tree.topics_of(0)[0][0]
    found = {topic.topic: topic for topic in seen_by(tree, corpus=corpus, n_words=2, n_documents=1)}
    assert list(found) == [0, 1]
    best = int(tree.documents(animals, 1)[0][0])
    assert found[animals] == TopicToName(
        animals,
        tuple(word.word for word in tree.words(animals, 2)),
        ((f"title {best}", " ".join(TEXTS[best].split())),),
        (tree.name(1 - animals),),
        None,
    )
    assert [topic.documents[0][1] for topic in seen_by(tree)] == ["", ""]  # no corpus, no texts
    assert seen_by(tree, n_documents=0, topics=[1])[0].documents == ()


def test_documents_begin_with_no_more_than_a_few_lines():
    corpus = Corpus.from_texts(["cat " * 1000, "sun moon"], keep_texts=True)
    tree = PLSA(2, random_state=0).fit(corpus).topic_tree(corpus)
    texts = [text for topic in seen_by(tree, corpus=corpus) for _, text in topic.documents]
    assert max(map(len, texts)) <= 400
    assert any(text.startswith("cat cat") and text.endswith("…") for text in texts)


def test_names_and_descriptions_are_given_and_the_old_tree_stays(tree):
    named = tree.name_topics(lambda topic: ("  Big\n ignored ", " all\nabout it ") if topic.topic == 0 else "small")
    assert (named.names, named.descriptions) == ({0: "Big", 1: "small"}, {0: "all about it"})
    assert tree.names == tree.descriptions == {}
    again = named.name_topics(lambda topic: "new", topics=[0])
    assert (again.names, again.descriptions) == ({0: "new", 1: "small"}, {})  # a description goes with its name


def test_names_are_one_line_short_and_unique_within_a_level(tree):
    assert tree.name_topics(lambda topic: "Same" if topic.topic else "same").names == {0: "same", 1: "Same (1)"}
    assert tree.rename({1: "same"}).name_topics(lambda topic: "same", topics=[0]).names == {0: "same (0)", 1: "same"}
    assert tree.rename({1: "same"}).name_topics(lambda topic: "same", topics=[1]).names == {1: "same"}
    long = tree.name_topics(lambda topic: f"{topic.topic} " + 500 * "x").name(1)
    assert len(long) == 120
    assert tree.name_topics(lambda topic: f"\n \n a\x00\x1b[0m\ud800 {topic.topic}\u2028b").name(0) == "a[0m 0"


def test_an_empty_answer_leaves_a_topic_as_it_is_and_is_counted(tree):
    with pytest.warns(UserWarning, match=r"1 of the topics got no name and stay unchanged: 1"):
        named = tree.rename({1: "old"}).name_topics(lambda topic: "new" if topic.topic == 0 else "\n ")
    assert named.names == {0: "new", 1: "old"}


def test_an_exception_goes_through_with_the_topic_named(tree):
    def fails(topic):
        raise KeyError("quota")

    with pytest.raises(KeyError, match="quota") as caught:
        tree.name_topics(fails, topics=[1])
    assert caught.value.__notes__ == ["while naming topic 1"]


@pytest.mark.parametrize("answer", [5, ("a",), ("a", None), ("a", "b", "c"), {"name": "a"}])
def test_answers_that_are_no_names(tree, answer):
    with pytest.raises(ValueError, match=r"topic 0: got .* expected a string, or a tuple of a name and a description"):
        tree.name_topics(lambda topic: answer)


def test_wrong_topics_corpora_and_numbers(tree):
    with pytest.raises(ValueError, match="there is no topic 7"):
        tree.name_topics(lambda topic: "a", topics=[7])
    with pytest.raises(ValueError, match="other documents than the tree"):
        tree.name_topics(lambda topic: "a", corpus=Corpus.from_texts(["cat dog", "cow"]))
    with pytest.raises(ValueError, match="n_words=0"):
        tree.name_topics(lambda topic: "a", n_words=0)


def test_groups_are_named_first_and_their_names_are_seen_below(corpus):
    tree = PLSA(4, random_state=0).fit(corpus).topic_tree(corpus).group([2])
    seen = []

    def name(topic):
        seen.append(topic)
        return f"name {topic.topic}"

    tree.name_topics(name)
    assert [topic.topic for topic in seen[:2]] == tree.ids[tree.level == 2].tolist()
    for topic in seen[2:]:
        assert topic.parent == f"name {tree.parent[tree.row(topic.topic)]}"
    assert all(topic.parent is None for topic in seen[:2])


def test_trees_of_other_kinds(themes):
    quiet = {"random_state": 0, "verbose": False}
    for model in (HLTA(2, 2, 3, **quiet), LDCC(3, 4, n_sweeps=20, burn_in=10, **quiet)):
        tree = model.fit(themes).topic_tree(themes)
        assert tree.name_topics(lambda topic: "same", corpus=themes).to_text().count("[same") == len(tree)


def test_descriptions_are_kept_in_files_tables_json_and_reports(tree, corpus, tmp_path):
    named = tree.name_topics(lambda topic: (f"n{topic.topic}", "all <b>about</b> it")).name_topics(
        lambda topic: "plain", topics=[1]
    )
    named.save(tmp_path / "t.safetensors")
    loaded = TopicTree.load(tmp_path / "t.safetensors")
    assert loaded.descriptions == named.descriptions == {0: "all <b>about</b> it"}
    assert [topic["description"] for topic in json.loads(named.to_json())["topics"]] == ["all <b>about</b> it", None]
    assert named.topic_table()["description"].tolist() == ["all <b>about</b> it", ""]
    assert "description" not in tree.topic_table()
    first, second = build_report(named, corpus).data["topics"]
    assert first["description"] == "all <b>about</b> it"
    assert "description" not in second


def test_descriptions_leave_with_their_topics(tree):
    named = tree.name_topics(lambda topic: (f"n{topic.topic}", "about"))
    assert named.drop([0]).descriptions == {1: "about"}
    assert named.merge([0, 1]).descriptions == {}  # it says nothing of what has come to it
    assert named.group([1]).descriptions == named.descriptions
    assert np.array_equal(named.topic_word, tree.topic_word)


def test_the_explorer_shows_a_description_as_text(tree, corpus, tmp_path, page):
    named = tree.name_topics(lambda topic: ("a <i>name</i>", "all <b>about</b> it"), topics=[0])
    build_report(named, corpus).save(tmp_path / "r.html")
    page.open(tmp_path / "r.html", "topic=0")
    assert page.text("#topic-title") == "a <i>name</i>"
    assert page.text("#topic-description") == "all <b>about</b> it"
    page.go("topic=1")
    assert page.count("#topic-description") == 0
