"""n_topics="auto": the planted number, few documents, given starts, files, checkpoints, streams."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from topicfold import DTM, LDA, LTM, PLSA, LapPLSI, load
from topicfold.models import MODELS
from topicfold.models.em import number_of_topics
from topicfold.models.em.number_of_topics import balances, mean_rand_index, untried_number

FLAT = [info.name for info in MODELS.values() if info.sizes == ("n_topics",)]


@pytest.fixture(scope="module")
def ten_subjects():
    """300 documents of about 12 tokens, each of one of ten subjects with eight words of their own."""
    rng = np.random.default_rng(0)
    words = np.full((10, 80), 0.1 / 80)
    for subject in range(10):
        words[subject, 8 * subject : 8 * subject + 8] += 0.9 / 8
    counts = sp.csr_array(np.stack([rng.multinomial(12, words[d % 10]) for d in range(300)]))
    return counts.astype(np.float64)


@pytest.fixture(scope="module")
def chosen(ten_subjects):
    return LDA("auto", random_state=0, max_iter=20, verbose=False).fit(ten_subjects)


def test_the_planted_number_is_chosen(chosen, ten_subjects):
    assert chosen.n_topics_ == 10
    assert chosen.topic_word_.shape == (10, 80)
    assert chosen.transform(ten_subjects[:3]).shape == (3, 10)
    assert chosen.summary().settings["n_topics"] == "auto"
    assert clone(chosen).n_topics == "auto"
    plain = LDA(10, random_state=0, max_iter=20, verbose=False).fit(ten_subjects)
    assert np.array_equal(plain.topic_word_, chosen.topic_word_)  # the choice does not change the fit
    assert plain.n_topics_ == 10


def test_twice_the_largest_number_is_tried_as_long_as_it_is_best(monkeypatch):
    tried = []

    def fit(sample, held_out, n_topics):
        tried.append(n_topics)
        return np.arange(len(held_out)) % n_topics, float(n_topics)

    monkeypatch.setattr(number_of_topics, "_fit_and_predict", fit)
    monkeypatch.setattr(number_of_topics, "_DISTANCE_WEIGHT", 0.0)
    for most, wanted in ((39, 20), (40, 40), (100, 80), (170, 160)):
        tried.clear()
        assert number_of_topics._best_balanced(None, np.arange(300) % 3, [5, 10, 20], most, None, False) == wanted
        assert sorted({*tried}) == [size for size in (5, 10, 20, 40, 80, 160) if size <= wanted]
    # if the agreement falls too much for the gain, the largest is not the best
    monkeypatch.setattr(number_of_topics, "mean_rand_index", lambda clusterings: 10 / clusterings[0].max())
    assert number_of_topics._best_balanced(None, np.arange(300) % 3, [5, 10, 20], 100, None, False) == 5


def test_it_depends_neither_on_the_seed_nor_on_threads(ten_subjects):
    fits = [
        LDA("auto", random_state=seed, n_jobs=n_jobs, max_iter=2).fit(ten_subjects) for seed, n_jobs in ((5, 1), (6, 3))
    ]
    assert [fit.n_topics_ for fit in fits] == [10, 10]


@pytest.mark.parametrize("name", FLAT)
def test_all_models_with_this_size_choose_it(name, ten_subjects, monkeypatch):
    monkeypatch.setattr(number_of_topics, "_best_balanced", lambda sample, fold_of, sizes, most, n_jobs, verbose: 7)
    model = MODELS[name].load()("auto", random_state=0, max_iter=2, verbose=False).fit(ten_subjects)
    assert (model.n_topics_, model.topic_word_.shape[0], model.doc_topic_.shape[1]) == (7, 7, 7)
    assert model.topic_tree().summary.settings["n_topics"] == "auto"
    assert np.isfinite(model.score(ten_subjects[:20]))


@pytest.mark.parametrize("model", [LDA, PLSA, LTM, LapPLSI, DTM])
def test_few_documents_are_not_tried(model, monkeypatch):
    monkeypatch.setattr(number_of_topics, "_best_balanced", None)
    for texts, n_topics in (
        (["cat dog cat"], 1),
        (["cat dog", "sun moon", "star sun moon"], 2),
        (["a b", "c d"] * 20, 4),
    ):
        fitted = model("auto", random_state=0, max_iter=3).fit(sp.csr_array(_counted(texts)))
        assert fitted.n_topics_ == n_topics
    with pytest.raises(ValueError, match=r"all 3 documents are empty"):
        model("auto").fit(sp.csr_array((3, 5)))


def _counted(texts):
    words = sorted({word for text in texts for word in text.split()})
    return np.array([[text.split().count(word) for word in words] for text in texts], float)


def test_untried_numbers():
    assert [untried_number(n, 500) for n in (0, 1, 2, 3, 12, 30, 59, 5000)] == [1, 1, 2, 2, 2, 6, 10, 10]
    assert untried_number(5000, 3) == 3


def test_weights_are_not_tried(ten_subjects):
    assert PLSA("auto", max_iter=2).fit(ten_subjects * 0.5).n_topics_ == 10


def test_given_topics_and_seed_words_count(ten_subjects):
    given = np.ones((3, 80)) + np.eye(3, 80)
    assert LDA("auto", init=given, max_iter=2).fit(ten_subjects).n_topics_ == 3
    assert LDA("auto", seed_words={14: [3]}, random_state=0, max_iter=2).fit(ten_subjects).n_topics_ == 15
    assert LDA("auto", seed_words=[[1], [2]], random_state=0, max_iter=2).fit(ten_subjects).n_topics_ == 10


def test_the_number_is_in_the_file(chosen, ten_subjects, tmp_path):
    chosen.save(tmp_path / "m.safetensors")
    read = load(tmp_path / "m.safetensors")
    assert (read.n_topics, read.n_topics_) == ("auto", 10)
    assert np.array_equal(read.transform(ten_subjects), chosen.transform(ten_subjects))
    assert read.partial_fit(ten_subjects[:50]).topic_word_.shape == (10, 80)


def test_a_killed_fit_resumes_with_its_number(ten_subjects, tmp_path, monkeypatch):
    path = tmp_path / "fit.ckpt"
    whole = LDA("auto", random_state=0, max_iter=8, tol=0).fit(ten_subjects)
    steps = []
    plain = LDA._step

    def failing(self, *arguments):
        step = plain(self, *arguments)

        def counted(state):
            steps.append(1)
            if self.n_topics == "auto" and len(steps) == 5:
                raise KeyError("killed")
            return step(state)

        return counted if self.n_topics == "auto" else step

    monkeypatch.setattr(LDA, "_step", failing)
    monkeypatch.setattr("topicfold.engine.loop.Checkpoint.is_due", lambda self: True)
    model = LDA("auto", random_state=0, max_iter=8, tol=0, checkpoint=path)
    with pytest.raises(KeyError):
        model.fit(ten_subjects)
    assert path.exists()
    resumed = clone(model).fit(ten_subjects)
    assert np.array_equal(resumed.topic_word_, whole.topic_word_)


@pytest.mark.parametrize("value", ["many", 0, 2.5, None])
def test_other_values_are_named(value, ten_subjects):
    with pytest.raises(ValueError, match=r"n_topics=.*: expected a whole number, at least 1, or 'auto'"):
        LDA(value).fit(ten_subjects)


def test_ctrl_c_ends_the_choice(ten_subjects, monkeypatch):
    def interrupted(self, X, y=None):
        self.interrupted_ = True
        return self

    monkeypatch.setattr(LDA, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PLSA("auto").fit(ten_subjects)


def test_balance_and_agreement():
    # the middle of 5 and 20 is 10
    assert balances([0.5, 0.4, 0.2], [0.1, 0.2, 0.4], [5, 10, 20]) == pytest.approx([0.535, 0.55, 0.46])
    assert balances([0.5, 0.4], [-0.1, -0.2], [7, 7]) == pytest.approx([0.5, 0.4])  # nothing is gained
    same, other, single = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.zeros(4, int)
    assert mean_rand_index([same, 1 - same]) == 1
    assert mean_rand_index([same, other]) < 0
    assert mean_rand_index([single, single]) == 0
    assert mean_rand_index([same]) == 0
