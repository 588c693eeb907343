"""Marks of topics that a reader may skip."""

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import LDA, Corpus, TopicTree, load
from topicfold.models.junk import BOILERPLATE, BURSTY, LANGUAGE, MARKUP, REPEATED, VAGUE, even_words

SUBJECTS = ["cat dog fur paw tail bone", "sun moon star sky comet orbit", "tea cup milk sugar spoon cake"]
SUBJECTS += ["goal team ball coach match score", "court judge law trial jury appeal", "rain wind snow storm cloud fog"]
EVERYWHERE = [f"word{number}" for number in range(40)]
ENGLISH = [
    "the",
    "of",
    "and",
    "with",
    "that",
    "from",
    "which",
    "this",
    "have",
    "are",
    "was",
    "they",
    "been",
    "their",
    "would",
    "there",
    "what",
    "about",
    "who",
    "will",
    "more",
    "when",
    "said",
    "can",
]
GERMAN = LANGUAGE.format("German")


def texts_with(kind, rng):
    """Texts about six subjects, and some that make a topic of junk."""

    def about(words, n):
        return " ".join(rng.choice(words, n))

    texts = [f"{about(SUBJECTS[d % 6].split(), 8)} {about(EVERYWHERE, 3)}" for d in range(360)]
    if kind == BURSTY:
        texts += [" ".join(f"{letter}q{n}" for n in range(40) for _ in range(30)) for letter in "ab"]
    if kind == REPEATED:
        notice = "notice mailing list archive unsubscribe address footer"
        texts += [f"{notice} {about(EVERYWHERE, 1)}" for _ in range(60)]
    if kind == MARKUP:
        texts += [about(["lt", "gt", "href", "li", "ul", "class", "value", "item"], 11) for _ in range(60)]
    if kind == BOILERPLATE:
        footer = "unsubscribe newsletter imprint copyright contact sender"
        texts += [f"{footer} {about([f'topic{number}' for number in range(60)], 14)}" for _ in range(60)]
    if kind == GERMAN:
        words = (
            "der und nicht eine werden auch nach wird einer sich haben durch wurde über können aber noch wie mehr wenn"
        )
        texts = [f"{text} {about(ENGLISH, 8)}" for text in texts]
        texts += [about(words.split(), 25) for _ in range(60)]
    if kind == VAGUE:
        texts += [about(EVERYWHERE, 11) for _ in range(60)]
    return texts


@pytest.mark.parametrize("kind", [None, BURSTY, MARKUP, GERMAN, REPEATED, BOILERPLATE, VAGUE])
def test_a_topic_of_junk_is_marked_and_no_other(kind):
    corpus = Corpus.from_texts(texts_with(kind, np.random.default_rng(0)), stop_words=None, min_df=1, max_df=1.0)
    model = LDA(6 if kind is None else 7, random_state=0).fit(corpus)
    marked = [mark for mark in model.topic_marks_ if mark]
    assert marked == ([] if kind is None else [kind])


def test_marks_stay_with_their_topics(tmp_path):
    corpus = Corpus.from_texts(texts_with(REPEATED, np.random.default_rng(0)), stop_words=None, min_df=1, max_df=1.0)
    model = LDA(7, random_state=0).fit(corpus)
    tree = model.topic_tree(corpus)
    (junk,) = tree.marks
    assert f"({REPEATED})" in str(tree)
    assert REPEATED in tree._repr_html_()
    tree.save(tmp_path / "tree.safetensors")
    model.save(tmp_path / "model.safetensors")
    assert TopicTree.load(tmp_path / "tree.safetensors").marks == tree.marks
    assert load(tmp_path / "model.safetensors").topic_tree().marks == tree.marks
    other = next(int(topic) for topic in tree.ids if topic != junk)
    assert tree.drop([other]).marks == tree.marks
    assert tree.drop([junk]).marks == {}
    assert tree.merge([junk, other]).marks == {}  # of what the topic has become nothing is known


def test_few_documents_are_no_sign_in_a_small_corpus():
    model = LDA(3, random_state=0).fit(Corpus.from_texts([text for text in SUBJECTS[:3] for _ in range(2)]))
    assert BURSTY not in model.topic_marks_


def test_words_of_a_form_are_even_and_words_of_a_subject_are_not():
    rng = np.random.default_rng(0)
    form = np.ones((50, 5))  # once in each document
    subject = rng.poisson(3, (50, 5)) * (rng.random((50, 5)) < 0.6)
    counts = sp.csr_array(np.hstack([form, subject, rng.poisson(0.3, (50, 20))]))
    presence = (counts > 0).sum(axis=0)[None] / 50
    assert even_words(counts, np.ones((50, 1)), presence, [np.arange(10)]).tolist() == [5]
    short = sp.csr_array(form)
    assert even_words(short, np.ones((50, 1)), np.ones((1, 5)), [np.arange(5)]).tolist() == [0]


def test_a_corpus_of_two_languages_has_no_other_language():
    rng = np.random.default_rng(0)
    german = [
        "der",
        "und",
        "nicht",
        "eine",
        "werden",
        "auch",
        "nach",
        "wird",
        "einer",
        "sich",
        "haben",
        "durch",
        "wurde",
        "über",
        "können",
        "aber",
        "noch",
        "wie",
        "mehr",
    ]
    texts = [" ".join(rng.choice(words, 20)) for words in (ENGLISH, german) for _ in range(60)]
    corpus = Corpus.from_texts(texts, stop_words=None, min_df=1, max_df=1.0)
    assert not any(mark.startswith("another") for mark in LDA(2, random_state=0).fit(corpus).topic_marks_)
