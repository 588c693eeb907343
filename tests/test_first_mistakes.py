"""What newcomers do: each mistake gets an answer, or an error of one line that says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from topicfold import LDA, PLSA, Corpus, build_report, contrast, effects, search, select, topics_over_time
from topicfold.baselines import LSI
from topicfold.metrics import coherence

TEXTS = ["cat dog cat", "dog cat cow", "sun moon", "moon star sun", "cow dog", "star sun sun"] * 2


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(TEXTS)


@pytest.fixture(scope="module")
def model(corpus):
    return LDA(2, random_state=0).fit(corpus)


@pytest.mark.parametrize(
    "call",
    [
        lambda model, texts: model.topic_tree(texts),
        lambda model, texts: build_report(model, texts),
        lambda model, texts: search(model, texts, "cat"),
        lambda model, texts: effects(model, texts, "~ 1"),
        lambda model, texts: contrast(model, texts, "labels"),
        lambda model, texts: topics_over_time(model, texts),
    ],
    ids=["topic_tree", "build_report", "search", "effects", "contrast", "topics_over_time"],
)
@pytest.mark.parametrize(
    ("texts", "kind"),
    [(TEXTS, "list"), (pd.Series(TEXTS), "Series"), (np.eye(12), "ndarray")],
    ids=lambda value: str(type(value)),
)
def test_texts_where_a_corpus_is_needed(model, call, texts, kind):
    with pytest.raises(ValueError, match=f"^corpus is of type {kind}: expected a Corpus; make one with Corpus.from_"):
        call(model, texts)


def test_arguments_in_the_wrong_order(model, corpus):
    with pytest.raises(ValueError, match="expected the model or tree first, then the corpus"):
        effects(corpus, model, "~ 1")


def test_select_takes_texts_and_refuses_a_class():
    assert select(PLSA(random_state=0), TEXTS, {"n_topics": [1, 2]}, n_splits=2, n_seeds=1).best["n_topics"] in (1, 2)
    with pytest.raises(ValueError, match=r"model is the class LDA: expected an instance, such as LDA\(\)"):
        select(LDA, TEXTS, {"n_topics": [1, 2]})


def test_lists_of_words_and_data_frames_say_how_to_make_a_corpus(model):
    with pytest.raises(ValueError, match=r"lists of words: make a corpus of it with Corpus.from_texts\(X\)"):
        LDA(2).fit([text.split() for text in TEXTS])
    with pytest.raises(ValueError, match="lists of words"):
        model.transform([["cat", "dog"]])
    frame = pd.DataFrame({"name": ["Ann", "Bob"] * 6, "review": TEXTS, "stars": 1})
    with pytest.raises(ValueError, match=r'text in column .review.: make a corpus .* text="review"'):
        LDA(2).fit(frame)


def test_a_column_of_texts_in_a_column_transformer():
    frame = pd.DataFrame({"review": TEXTS, "stars": range(12)})
    for model, name in [(LDA(2, random_state=0), "lda"), (LSI(2, random_state=0), "lsi")]:
        columns = ColumnTransformer([("topics", model, "review")], remainder="passthrough")
        columns.set_output(transform="pandas")
        names = columns.fit_transform(frame).columns.tolist()
        assert names == [f"topics__{name}0", f"topics__{name}1", "remainder__stars"]
    with pytest.raises(NotFittedError):
        LDA().get_feature_names_out()
    counts = CountVectorizer().fit_transform(TEXTS)
    with pytest.raises(ValueError, match="input_features"):
        LDA(2, random_state=0).fit(counts).get_feature_names_out(["review"])


def test_words_of_topics_as_lists_and_their_coherence(model, corpus):
    tree = model.topic_tree(corpus)
    words = tree.top_words(3)
    assert words == [[word.word for word in tree.words(topic, 3)] for topic in (0, 1)]
    column = {word: w for w, word in enumerate(corpus.vocabulary)}
    topics = [[column[word] for word in some] for some in words]
    for measure in ("c_npmi", "c_v", "u_mass"):
        expected = coherence(topics, counts=corpus.counts, measure=measure)
        assert tree.coherence(corpus, measure, n_words=3) == pytest.approx(expected)
    with pytest.raises(ValueError, match="expected a Corpus"):
        tree.coherence(TEXTS)


def test_one_topic_can_be_dropped_by_its_number(model, corpus):
    assert model.topic_tree(corpus).drop(0).ids.tolist() == [1]


def test_words_of_a_pipeline_come_from_its_vectorizer():
    pipeline = make_pipeline(CountVectorizer(), LDA(2, random_state=0)).fit(TEXTS)
    words = pipeline[0].get_feature_names_out()
    tree = pipeline[1].topic_tree(Corpus.from_counts(pipeline[0].transform(TEXTS), words))
    assert set(tree.top_words(1)[0]) <= set(words)
