"""Documents of topics that have a word: what words are ranked by."""

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import LDA, LDCC, LTM, PLSA, TTMM, Corpus
from topicfold.models.word_ranking import presence_of_words, word_documents
from topicfold.topics.ranking import keyness


def slow_word_documents(counts, doc_topic):
    found = np.zeros((doc_topic.shape[1], counts.shape[1]))
    for document, row in enumerate(counts.toarray()):
        for word in np.flatnonzero(row):
            without = max(0.0, 1 - 100 / row.sum()) ** row[word]
            found[:, word] += (1 - without) * doc_topic[document]
    return found


@pytest.mark.parametrize("n_topics", [1, 5, 70])
def test_the_same_as_the_slow_version_whatever_the_threads(n_topics):
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(np.where(np.arange(200) % 3, 0.3, 8.0)[:, None], (200, 30)))
    doc_topic = rng.dirichlet(np.ones(n_topics), 200).astype(np.float32)
    found = word_documents(counts, doc_topic, n_jobs=1)
    assert found == pytest.approx(slow_word_documents(counts, doc_topic), rel=1e-5)
    assert np.array_equal(found, word_documents(counts, doc_topic, n_jobs=3))


def test_blocks_of_documents_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    counts = sp.csr_array(rng.poisson(0.3, (50, 8)))
    doc_topic = rng.dirichlet(np.ones(3), 50)
    whole = word_documents(counts, doc_topic)
    monkeypatch.setattr("topicfold.models.word_ranking._CELLS_AT_ONCE", 7)
    assert np.array_equal(word_documents(counts, doc_topic), whole)
    assert word_documents(counts[:0], doc_topic[:0]).tolist() == np.zeros((3, 8)).tolist()


@pytest.mark.parametrize(
    "model",
    [
        PLSA(3, max_iter=5, random_state=0),
        LDA(3, max_iter=5, random_state=0),
        LTM(3, max_iter=3, graph_weight=1.0, random_state=0),
        TTMM(n_themes=2, n_topics=3, max_iter=5, random_state=0),
        LDCC(n_document_topics=2, n_word_topics=3, n_sweeps=30, burn_in=10, lag=4, random_state=0, verbose=False),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_mixture_knows_the_documents_of_its_words(model):
    counts = sp.csr_array(np.random.default_rng(2).poisson(1.0, (60, 12)))
    model.fit(counts)
    assert model.word_documents_ == pytest.approx(slow_word_documents(counts, model.doc_topic_), rel=1e-4)
    assert model.topic_documents_ == pytest.approx(model.doc_topic_.sum(axis=0))
    _, overall = presence_of_words(model)
    assert overall == pytest.approx((counts.toarray() > 0).mean(axis=0), rel=1e-5)


@pytest.mark.parametrize("model", [PLSA(2, random_state=0), LDA(2, random_state=0), TTMM(n_themes=2, n_topics=2)])
def test_batches_add_up(model):
    counts = sp.csr_array(np.random.default_rng(3).poisson(1.0, (60, 6)))
    model.partial_fit(counts[:40])
    first = model.word_documents_.copy()
    model.partial_fit(counts[40:])
    assert model.topic_documents_.sum() == pytest.approx(60)
    assert model.topic_marks_ == ("", "")
    more = slow_word_documents(counts[40:], model.doc_topic_)
    assert model.word_documents_ == pytest.approx(first + more, rel=1e-4)


def test_a_word_that_one_document_repeats_is_not_the_best_word():
    texts = ["cat dog fur"] * 20 + ["cat dog fur " + "zzz " * 30] + ["sun moon star"] * 20
    corpus = Corpus.from_texts(texts, min_df=1, max_df=1.0)
    given = np.array([[0.2, 0.2, 0.2, 0.0, 0.0, 0.0, 0.4], [0.0, 0.0, 0.0, 1 / 3, 1 / 3, 1 / 3, 0.0]])
    tree = PLSA(2, init=given).fit(corpus).topic_tree()
    animals = tree.topics_of(0)[0][0]
    assert tree.words(animals, 1, by="probability")[0].word == "zzz"
    assert {word.word for word in tree.words(animals, 3)} == {"cat", "dog", "fur"}
    assert tree.score_name == "keyness"


def test_the_words_of_books_that_all_have_every_word():
    rng = np.random.default_rng(4)
    about = np.ones((20, 60))
    about[:10, 0] = about[10:, 59] = 3
    counts = sp.csr_array(rng.poisson(20 * about))
    shares = np.repeat(np.eye(2), 10, axis=0)
    words, n_documents = word_documents(counts, shares), shares.sum(axis=0)
    scores = keyness(words / n_documents[:, None], words.sum(axis=0) / n_documents.sum())
    assert [row.argmax() for row in scores] == [0, 59]
    present = word_documents(counts > 0, shares)
    assert (present == 10).all()  # as documents they tie
