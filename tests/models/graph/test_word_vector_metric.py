"""metric="word_vectors": neighbours by the vectors of English words that come with the package."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from topicfold import DTM, LTM, Corpus, InputError, LapPLSI, load
from topicfold.corpus.word_vectors import english_vectors
from topicfold.engine.store import from_arrays, read_file, to_arrays, write_file
from topicfold.topics.wording import Wording

ANIMALS = ["cat kitten", "dog puppy", "wolf fox", "horse pony", "cow sheep", "goat lamb", "lion tiger", "mouse rat"]
MONEY = [
    "bank loan",
    "stocks shares",
    "money cash",
    "price cost",
    "market trade",
    "tax budget",
    "profit loss",
    "debt credit",
]
TEXTS = ANIMALS + MONEY  # no two texts share a word


def fitted(model=LTM, texts=TEXTS, **parameters):
    weight = {} if model is DTM else {"graph_weight": 3.0}
    corpus = Corpus.from_texts(texts, min_df=1)
    return model(2, metric="word_vectors", n_neighbors=3, random_state=0, **weight, **parameters).fit(corpus)


@pytest.mark.parametrize("model", [LTM, LapPLSI])
def test_texts_without_a_common_word_are_neighbours(model):
    topics = fitted(model).doc_topic_.argmax(axis=1)
    assert len(set(topics[:8])) == len(set(topics[8:])) == 1
    assert topics[0] != topics[-1]


@pytest.mark.parametrize("model", [LTM, LapPLSI, DTM])
def test_new_documents_find_neighbours_by_vectors_however_they_are_given(model, tmp_path):
    first = fitted(model)
    new = ["dog cow", "cash debt", ""]
    shares = first.transform(new)
    topics = first.doc_topic_.argmax(axis=1)
    assert shares[:2].argmax(axis=1).tolist() == [topics[1], topics[10]]
    counts = first.word_counts(new)
    assert np.array_equal(first.transform(counts), shares)
    assert np.array_equal(first.transform(Corpus.from_texts(new[:2], min_df=1)), shares[:2])
    assert np.array_equal(first.predict(new)[:2], shares[:2].argmax(axis=1))
    first.save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").transform(new), shares)
    assert np.isfinite(first.score(["dog cow cat horse", "cash debt tax bank"]))


def test_the_graph_is_that_of_sums_of_vectors():
    model = fitted()
    table, words = english_vectors(), model.words()
    sums = np.array([sum(table.of_words([word])[0] for word in text.split()) for text in TEXTS])
    sums /= np.linalg.norm(sums, axis=1, keepdims=True)
    assert np.allclose(model.word_vectors_, table.of_words(words))
    alike = sums @ sums.T - 2 * np.eye(16)
    near = np.zeros((16, 16), bool)
    np.put_along_axis(near, np.argsort(-alike, axis=1)[:, :3], True, axis=1)
    near &= alike > 1e-6
    assert np.array_equal(model.graph_.toarray() > 0, near | near.T)


def test_a_text_of_which_the_vectors_know_no_word_has_no_neighbours():
    model = fitted(texts=[*TEXTS, "жж щщ", "жж щщ"])
    assert model.graph_.sum(axis=1)[-2:].tolist() == [0, 0]
    assert not model.word_vectors_[[model.words().index("жж")]].any()


@pytest.mark.filterwarnings("ignore:topic . is the largest topic")
def test_a_given_graph_or_vectors_go_first():
    corpus = Corpus.from_texts(TEXTS, min_df=1)
    graph = sp.csr_array(np.kron(np.eye(2), np.ones((8, 8))) - np.eye(16))
    model = LTM(2, metric="word_vectors", graph_weight=0.1, random_state=0).fit(corpus, graph=graph)
    assert np.array_equal(model.graph_.toarray(), graph.toarray())
    assert model.neighbors_by_ == "words"
    model.fit(corpus, embeddings=np.eye(16))
    assert model.neighbors_by_ == "embeddings"
    assert model.word_vectors_ is None
    model.set_params(graph_weight=0.0).fit(corpus)
    assert model.neighbors_by_ is None


def test_a_data_frame_has_words_and_a_matrix_has_none():
    corpus = Corpus.from_texts(TEXTS, min_df=1)
    frame = pd.DataFrame(corpus.counts.toarray(), columns=list(corpus.vocabulary))
    model = LTM(2, metric="word_vectors", graph_weight=3.0, n_neighbors=3, random_state=0).fit(frame)
    assert np.array_equal(model.graph_.toarray(), fitted().graph_.toarray())
    with pytest.raises(InputError, match="metric='word_vectors' needs words: fit a Corpus"):
        LTM(2, metric="word_vectors").fit(corpus.counts)
    with pytest.raises(InputError, match="none of the words, such as 'жжж', has a vector"):
        LTM(2, metric="word_vectors").fit(["жжж щщщ", "ыыы щщщ", "жжж щщщ"])
    with pytest.raises(InputError, match="expected one of cosine, intersection, euclidean, lsi, word_vectors"):
        LTM(2, metric="vectors").fit(corpus)


@pytest.mark.parametrize("change", [{"word_vectors_": None}, {"word_vectors_": np.ones((32, 5), np.float32)}])
def test_a_file_without_the_vectors_of_its_words_is_refused(tmp_path, change):
    fitted().save(tmp_path / "model")
    arrays, metadata = read_file(tmp_path / "model", kind="model")
    values = from_arrays(arrays, metadata["values"], preprocessing=lambda value: value, wording=Wording.from_json)
    arrays, plain = to_arrays({**values, **change, "preprocessing_": None})
    write_file(tmp_path / "other", arrays, {"kind": "model", "class": metadata["class"], "values": plain})
    with pytest.raises(ValueError, match="do not match"):
        load(tmp_path / "other")
