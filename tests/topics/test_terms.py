"""Topics in words that are read: forms of a word, phrases, n-grams, and names made of them."""

from dataclasses import replace

import numpy as np
import pytest

from topicfold import LDA, Corpus, TopicTree, load
from topicfold.errors import InputError
from topicfold.topics.terms import in_one_line
from topicfold.topics.wording import Wording

SKY = "The Hubble telescope and the space station saw a comet. A star, many stars, a comet. {n}"
LAW = "The prime minister and the NATO summit spoke about taxes. A tax, a budget, a minister. {n}"


@pytest.fixture(scope="module")
def corpus():
    texts = [text.format(n="!" * n) for n in range(20) for text in (SKY, LAW)]
    return Corpus.from_texts(texts, stop_words="english", keep_texts=True, min_df=1, max_df=1.0)


@pytest.fixture(scope="module")
def model(corpus):
    return LDA(2, random_state=0).fit(corpus)


@pytest.fixture(scope="module")
def tree(model, corpus):
    return model.topic_tree(corpus)


def topic_with(tree, word):
    return max(tree.ids.tolist(), key=lambda topic: tree.topic_word[tree.row(topic), tree.vocabulary.index(word)])


def test_forms_of_a_word_are_one_entry(tree):
    for by in ("score", "probability"):
        words = [word.word for word in tree.words(topic_with(tree, "taxes"), 50, by)]
        assert len({"tax", "taxes"} & set(words)) == 1
        words = [word.word for word in tree.words(topic_with(tree, "star"), 50, by)]
        assert len({"star", "stars"} & set(words)) == 1
    assert len(tree.words(0, 4)) == 4


def test_an_entry_has_its_own_probability(tree):
    for word in tree.words(0, 9):
        assert word.probability == tree.topic_word[0, tree.vocabulary.index(word.word)]


def test_phrases_are_one_term_and_their_words_do_not_come_again(tree):
    terms = tree.terms(topic_with(tree, "minister"), 20)
    assert "prime minister" in terms
    assert not {"prime", "minister"} & set(terms)
    listed = " ".join(terms).split(" ")
    assert len(listed) == len(set(listed))
    assert tree.terms(0, 3) == tree.terms(0, 20)[:3]
    assert tree.terms(0, 0) == []


def test_names_are_written_as_in_the_texts(tree):
    names = [tree.name(topic) for topic in tree.ids.tolist()]
    assert (
        "Hubble" in names[tree.row(topic_with(tree, "telescope"))]
        or "comet" in names[tree.row(topic_with(tree, "comet"))]
    )
    units = [name.split(", ") for name in names]
    assert all(1 <= len(of_topic) <= 3 for of_topic in units)
    written = {*tree.wording.phrases, *tree.wording.written.values(), *tree.vocabulary}
    assert all(unit in written for of_topic in units for unit in of_topic)


def test_the_table_and_json_show_them(tree):
    line = next(line for line in str(tree).splitlines() if "prime minister" in line)
    assert ", " in line
    assert "prime minister" in tree.topic_table()["words"].loc[topic_with(tree, "minister")]


def test_the_files_of_model_and_tree_keep_them(model, tree, corpus, tmp_path):
    tree.save(tmp_path / "tree")
    model.save(tmp_path / "model")
    for same in (TopicTree.load(tmp_path / "tree"), load(tmp_path / "model").topic_tree()):
        assert [same.name(topic) for topic in same.ids.tolist()] == [tree.name(topic) for topic in tree.ids.tolist()]
        assert [same.terms(topic) for topic in same.ids.tolist()] == [tree.terms(topic) for topic in tree.ids.tolist()]
    other = load(tmp_path / "model").topic_tree(Corpus.from_texts(["A comet, a star", "The prime minister"]))
    assert other.name(0) == tree.name(0)


def test_changed_trees_have_names_too(tree):
    merged = tree.merge([0, 1])
    assert set(merged.terms(0, 30)) <= {term for topic in (0, 1) for term in [*tree.terms(topic, 60), *tree.vocabulary]}
    assert merged.name(0)
    assert tree.drop(0).name(1) == tree.name(1)


def test_without_texts_names_have_the_words_of_the_vocabulary(corpus):
    tree = LDA(2, random_state=0).fit(replace(corpus, texts=None)).topic_tree()
    assert tree.wording.phrases == ()
    assert all(part in tree.vocabulary for topic in (0, 1) for part in tree.name(topic).split(", "))
    assert not any(" " in term for topic in (0, 1) for term in tree.terms(topic, 50))
    matrix = LDA(2, random_state=0).fit(corpus.counts).topic_tree()
    assert matrix.wording is None
    assert matrix.name(0).startswith("word ")


def test_ngrams_of_the_vocabulary():
    texts = ["weight loss with acai berry", "acai berry weight loss now", "stock market crash", "the stock market"] * 9
    corpus = Corpus.from_texts([f"{t} {'!' * n}" for n, t in enumerate(texts)], ngrams=(1, 2), stop_words="english")
    tree = LDA(2, random_state=0).fit(corpus).topic_tree(corpus)
    for topic in (0, 1):
        terms = tree.terms(topic, 20)
        words = " ".join(terms).split(" ")
        assert len(words) == len(set(words))
        assert any(" " in term for term in terms)
    assert {"weight loss", "acai berry"} <= set(tree.terms(topic_with(tree, "acai"), 9))
    only_pairs = Corpus.from_texts(texts, ngrams=(2, 2), stop_words="english")
    terms = LDA(2, random_state=0).fit(only_pairs).topic_tree().terms(0, 9)
    assert all(" " in term for term in terms)
    assert len(terms) == len(set(terms))


def test_a_separator_shows_where_a_term_ends():
    assert in_one_line(["a", "b"]) == "a b"
    assert in_one_line(["a b", "c"]) == "a b, c"
    assert in_one_line([]) == ""


def wording_with(**values):
    plain = Wording(phrases=("a b",), columns=((0, 1),), presence=np.ones((2, 1)), overall=np.ones(1)).to_json()
    return Wording.from_json({**plain, **values})


def test_a_wording_from_json():
    wording_with().check(2, 2)
    forms = wording_with(forms=[[1, 0]], written=[[0, "A"]], in_titles=[0, 1, 0.5])
    assert (forms.forms, forms.written, forms.in_titles.tolist()) == ({1: 0}, {0: "A"}, [0, 1, 0.5])


@pytest.mark.parametrize(
    "damaged",
    [
        {"forms": [[1]]},
        {"forms": [[1, "a"]]},
        {"forms": [[1, 7]]},
        {"written": {"a": 1}},
        {"written": [[0, 3]]},
        {"phrases": ["a", 3]},
        {"phrases": []},
        {"columns": [[0, 9]]},
        {"columns": [[]]},
        {"columns": 3},
        {"columns": [[-1, 0]]},
        {"presence": [[2.0], [0.5]]},
        {"presence": [[0.5]]},
        {"presence": [[0.5], [0.5, 0.5]]},
        {"presence": None},
        {"overall": [float("nan")]},
        {"overall": []},
        {"in_titles": [1]},
        {"unknown": 1},
    ],
)
def test_a_damaged_wording_is_refused(damaged):
    with pytest.raises(InputError, match="its "):
        wording_with(**damaged).check(2, 2)
