"""TopicClassifier: unlabelled rows train the model only, in pipelines and grid searches too."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from topicfold import PLSA, TTMM, Corpus
from topicfold.analysis.classify import TopicClassifier
from topicfold.graph.partial_labels import known_labels
from topicfold.models import MODELS

NAMES = np.array(["animals", "machines", "plants"])
ON_GRAPH = ("LTM", "LapPLSI", "DTM")
QUIET = {"random_state": 0, "verbose": False}


def plsa(n_topics=3, **parameters):
    return PLSA(n_topics, **QUIET, **parameters)


def few(block, each=2, blank=None):
    """Names for the first `each` documents of every block, `blank` for the rest."""
    y = np.full(len(block), blank, dtype=object)
    for number in np.unique(block):
        y[np.flatnonzero(block == number)[:each]] = NAMES[number]
    return y


def expected_failures(classifier):
    return {
        "check_classifiers_classes": "the check has -1 for a class, which is no label here",
        "check_classifiers_train": "the check has two words, and two topics do not tell three classes apart",
        "check_classifiers_regression_target": "fractions are refused, in words of our own",
        "check_supervised_y_2d": "a column for y is taken without a warning",
        "check_transformer_general": "there is a transform, but no fit_transform: it is a classifier",
        "check_transformer_data_not_an_array": "the same",
    }


@parametrize_with_checks(
    [TopicClassifier(plsa(2, max_iter=30), LinearSVC(dual=False))],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("default::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---- labels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        ["b", None, "a"],
        ["b", "", "a"],
        np.array(["b", "", "a"]),
        ["b", float("nan"), "a"],
        ["b", -1, "a"],
        np.array(["b", None, "a"], dtype=object),
    ],
)
def test_what_is_no_label_among_names(y):
    labelled, labels = known_labels(y, 3)
    assert labelled.tolist() == [True, False, True]
    assert labels.tolist() == ["b", "a"]


@pytest.mark.parametrize("y", [[1, None, 0], [1, -1, 0], np.array([1, -1, 0]), np.array([1, np.nan, 0])])
def test_what_is_no_label_among_numbers(y):
    labelled, labels = known_labels(y, 3)
    assert labelled.tolist() == [True, False, True]
    assert labels.tolist() == [1, 0]


def test_names_and_numbers_together_are_names():
    labelled, labels = known_labels(np.array(["b", 1, -1, None], dtype=object), 4)
    assert labelled.tolist() == [True, True, False, False]
    assert labels.tolist() == ["b", "1"]


def test_labels_of_data_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    series = [pandas.Series(["b", None, "a"]), pandas.Series(["b", pandas.NA, "a"], dtype="category")]
    for y in [*series, polars.Series(["b", None, "a"])]:
        labelled, labels = known_labels(y, 3)
        assert labelled.tolist() == [True, False, True]
        assert labels.tolist() == ["b", "a"]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y"),
        (["a"] * 15 + ["b"] * 14, "one label for each"),
        (np.full((30, 2), "a"), "one label for each"),
        ([None] * 30, "no labels"),
        ([-1] * 30, "no labels"),
        (["a"] + [None] * 29, "only one class, 'a'"),
        ([3] + [-1] * 29, "only one class, 3"),
    ],
)
def test_bad_labels_are_refused(blocks, y, message):
    with pytest.raises(ValueError, match=message):
        TopicClassifier(plsa()).fit(blocks[0], y)


# ---- fit and predict ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [plsa(), TTMM(3, 3, **QUIET), TTMM("labels", 3, **QUIET)], ids=["PLSA", "TTMM", "y"])
@pytest.mark.parametrize("each", [1, 2, 10])
def test_blocks_from_few_labels(blocks, model, each):
    counts, block = blocks
    clf = TopicClassifier(model).fit(counts[::2], few(block[::2], each))
    assert clf.classes_.tolist() == NAMES.tolist()
    assert clf.transduction_.tolist() == NAMES[block[::2]].tolist()
    assert clf.predict(counts[1::2]).tolist() == NAMES[block[1::2]].tolist()
    assert clf.score(counts, NAMES[block]) == 1


@pytest.mark.parametrize("name", ON_GRAPH)
@pytest.mark.parametrize("how", ["words", "embeddings", "graph"])
def test_blocks_from_few_labels_on_graphs(blocks, name, how):
    counts, block = blocks
    near = sp.csr_array(np.equal.outer(block, block).astype(float) - np.eye(30))
    corners = np.eye(3)[block] + np.random.default_rng(0).normal(0, 0.1, (30, 3))
    train, new = np.arange(0, 30, 2), np.arange(1, 30, 2)
    at_fit = {"words": {}, "embeddings": {"embeddings": corners[train]}, "graph": {"graph": near[train][:, train]}}
    later = {"words": {}, "embeddings": {"embeddings": corners[new]}, "graph": {"graph": near[new][:, train]}}
    model = MODELS[name].make(3, n_neighbors=3, **QUIET)  # of five in a block
    clf = TopicClassifier(model).fit(counts[train], few(block[train]), **at_fit[how])
    assert clf.transduction_.tolist() == NAMES[block[train]].tolist()
    assert clf.predict(counts[new], **later[how]).tolist() == NAMES[block[new]].tolist()
    assert clf.score(counts[new], NAMES[block[new]], **later[how]) == 1
    assert clf.transform(counts[new], **later[how]).shape == (15, 3)


@pytest.mark.parametrize("name", ON_GRAPH)
def test_graph_models_are_given_the_labels(sampled, name):
    y = np.where(np.arange(400) % 5 == 0, np.arange(400) % 2, -1)
    model = MODELS[name].make(4, max_iter=10, **QUIET)
    clf = TopicClassifier(model).fit(sampled, y)
    with_labels, without = clone(model).fit(sampled, y), clone(model).fit(sampled)
    assert np.array_equal(clf.model_.doc_topic_, with_labels.doc_topic_)
    assert not np.array_equal(clf.model_.doc_topic_, without.doc_topic_)


def test_other_models_pass_labels_by_unless_asked(sampled):
    y = np.where(np.arange(400) % 5 == 0, np.arange(400) % 2, -1)
    for model in (plsa(4, max_iter=10), TTMM(8, 4, max_iter=10, **QUIET)):
        clf = TopicClassifier(model).fit(sampled, y)
        assert np.array_equal(clf.model_.doc_topic_, clone(model).fit(sampled).doc_topic_)
    clf = TopicClassifier(TTMM("labels", 4, max_iter=10, **QUIET)).fit(sampled, y)
    assert clf.model_.n_themes_ == 2
    assert clf.model_.doc_theme_[y >= 0].shape == (80, 2)


def test_all_rows_train_the_model_and_labelled_rows_the_classifier(sampled):
    y = np.array(["even", "odd"])[np.arange(400) % 2].astype(object)
    y[40:] = None
    clf = TopicClassifier(plsa(4), LinearSVC(dual=False)).fit(sampled, y)
    topics = plsa(4).fit(sampled).doc_topic_
    features = topics / np.linalg.norm(topics, axis=1, keepdims=True)
    classifier = LinearSVC(dual=False).fit(features[:40], y[:40].astype(str))
    np.testing.assert_allclose(clf.classifier_.coef_, classifier.coef_, rtol=1e-4)
    assert clf.transduction_.tolist() == classifier.predict(features).tolist()


def test_features_are_the_models_own_scaled(sampled):
    y = np.arange(400) % 2
    clf = TopicClassifier(TTMM(8, 4, features="themes", max_iter=10, **QUIET)).fit(sampled, y)
    assert np.array_equal(clf.transform(sampled), normalize(clf.model_.transform(sampled)))
    assert np.allclose(np.linalg.norm(clf.transform(sampled), axis=1), 1)
    assert clf.transform(sampled).shape == (400, 8)
    assert clf.classifier_.coef_.shape[1] == 8
    assert clf.transduction_.tolist() == clf.predict(sampled).tolist()


def test_what_was_passed_stays_untouched(blocks):
    counts, block = blocks
    model, classifier = plsa(), LinearSVC(dual=False)
    clf = TopicClassifier(model, classifier).fit(counts, block)
    assert clf.model is model
    assert clf.classifier is classifier
    assert not hasattr(model, "doc_topic_")
    assert not hasattr(classifier, "coef_")
    assert clf.classes_.dtype.kind == "i"
    assert clf.predict(counts).tolist() == block.tolist()


def test_the_default_machine_has_the_same_penalty_whatever_the_labels(blocks):
    counts, block = blocks
    for each in (1, 2, 9):
        clf = TopicClassifier(plsa()).fit(counts, few(block, each))
        labelled = known_labels(few(block, each), 30)[0]
        machine = LinearSVC(C=1.0, dual=False).fit(clf.transform(counts)[labelled], NAMES[block[labelled]])
        assert np.allclose(clf.classifier_.coef_, machine.coef_, atol=1e-3)


def test_methods_are_those_of_the_classifier(blocks):
    counts, block = blocks
    y = few(block)
    machine, logistic = TopicClassifier(plsa()), TopicClassifier(plsa(), LogisticRegression())
    for clf in (machine, clone(machine).fit(counts, y)):
        assert not hasattr(clf, "predict_proba")
        assert hasattr(clf, "decision_function")
    assert hasattr(logistic, "predict_proba")
    logistic.fit(counts, y)
    assert np.allclose(logistic.predict_proba(counts).sum(axis=1), 1)
    assert np.array_equal(logistic.classes_[logistic.predict_proba(counts).argmax(axis=1)], logistic.predict(counts))
    assert machine.fit(counts, y).decision_function(counts).shape == (30, 3)


def test_score_counts_labelled_rows_only(blocks):
    counts, block = blocks
    clf = TopicClassifier(plsa()).fit(counts, few(block))
    y = np.full(30, None, dtype=object)
    y[[0, 1, 10, 29]] = ["animals", "animals", "animals", "no such class"]
    assert clf.score(counts, y) == 0.5
    assert clf.score(counts, [7] * 30) == 0
    with pytest.raises(ValueError, match="nothing to score"):
        clf.score(counts, [None] * 30)
    with pytest.raises(ValueError, match="one label for each"):
        clf.score(counts, ["animals"])


def test_a_corpus_and_raw_texts(blocks):
    texts = ["cat dog cat", "dog cat", "cat dog dog", "sun moon", "moon star sun", "star moon"]
    corpus = Corpus.from_texts(texts, labels=["pet", None, None, "sky", None, None])
    clf = TopicClassifier(plsa(2)).fit(corpus, corpus.label_array())
    assert clf.transduction_.tolist() == ["pet"] * 3 + ["sky"] * 3
    assert clf.predict(["star sun", "dog"]).tolist() == ["sky", "pet"]
    assert clf.n_features_in_ == 5


@pytest.mark.parametrize(("classes", "none"), [(["pet", "sky"], ""), ([1, 2], -1)])
@pytest.mark.filterwarnings("ignore:.*texts are empty:UserWarning")
def test_a_text_of_which_too_little_is_known_has_no_class(classes, none):
    texts = ["cat dog cat", "dog cat", "sun moon", "moon star sun", ""]
    clf = TopicClassifier(PLSA(2, random_state=0)).fit(texts, [classes[0], None, classes[1], None, None])
    assert clf.transduction_.tolist() == [classes[0]] * 2 + [classes[1]] * 2 + [none]
    german = "Die Katze schläft heute auf dem warmen Dach und träumt von der sun"
    assert clf.predict(["dog", "", german]).tolist() == [classes[0], none, none]


@pytest.mark.parametrize("name", ["graph", "embeddings"])
def test_models_without_a_graph_say_which_have_one(blocks, name):
    counts, block = blocks
    extra = {name: sp.csr_array((30, 30)) if name == "graph" else np.zeros((30, 2))}
    with pytest.raises(ValueError, match=f"PLSA takes no {name}: .*LTM.* do"):
        TopicClassifier(plsa()).fit(counts, few(block), **extra)
    clf = TopicClassifier(plsa()).fit(counts, few(block))
    with pytest.raises(ValueError, match=f"PLSA takes no {name}"):
        clf.predict(counts, **extra)


# ---- inside scikit-learn --------------------------------------------------------------------------------------------


def test_in_a_pipeline():
    texts = ["cat dog cat", "dog cat", "cat dog dog", "sun moon", "moon star sun", "star moon"]
    pipeline = make_pipeline(CountVectorizer(), TopicClassifier(plsa(2)))
    pipeline.fit(texts, ["pet", None, None, "sky", None, None])
    assert pipeline.predict(["star sun", "dog"]).tolist() == ["sky", "pet"]
    assert pipeline.score(["star sun", "dog", "cat"], ["sky", "pet", None]) == 1


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("PLSA", "numbers"),
        ("PLSA", "names"),
        ("PLSA", "array of names"),
        ("TTMM", "names"),
        ("LTM", "numbers"),
        ("LTM", "names"),
        ("LapPLSI", "names"),
        ("DTM", "names"),
    ],
)
def test_grid_search_with_unlabelled_rows(blocks, model, kind):
    counts, block = blocks
    y = few(block, 6, blank="")
    if kind == "numbers":
        y = np.where(y == "", -1, block)
    elif kind == "array of names":
        y = y.astype(str)
    search = GridSearchCV(
        TopicClassifier(MODELS[model].make(3, **QUIET)), {"model__n_topics": [1, 3]}, cv=3, error_score="raise"
    )
    search.fit(counts, y)
    assert search.best_params_ == {"model__n_topics": 3}
    assert search.best_score_ == 1
    assert search.best_estimator_.classes_.tolist() == (NAMES if kind != "numbers" else np.arange(3)).tolist()
    assert cross_val_score(search.best_estimator_, counts, y, cv=3).tolist() == [1, 1, 1]


def test_none_needs_folds_that_do_not_look_at_labels(blocks):
    """What the docstring says of None; when scikit-learn learns to sort it, that advice can go."""
    counts, block = blocks
    search = GridSearchCV(TopicClassifier(plsa()), {"model__n_topics": [3]}, cv=3)
    with pytest.raises(TypeError, match="not supported between"):
        search.fit(counts, few(block, 6))
    shuffled = KFold(3, shuffle=True, random_state=0)
    assert search.set_params(cv=shuffled).fit(counts, few(block, 6)).best_score_ == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_graph_cannot_be_cut_into_folds(blocks):
    counts, block = blocks
    graph = sp.csr_array(np.equal.outer(block, block).astype(float) - np.eye(30))
    search = GridSearchCV(TopicClassifier(MODELS["LTM"].make(3, **QUIET)), {"model__n_topics": [2, 3]}, cv=3)
    with pytest.raises(ValueError, match=r"(?s)All the 6 fits failed.*cannot split a graph"):
        search.fit(counts, few(block, 6, blank=""), graph=graph)


def test_embeddings_are_cut_into_folds(blocks):
    counts, block = blocks
    corners = np.eye(3)[block] + np.random.default_rng(0).normal(0, 0.1, (30, 3))
    clf = TopicClassifier(MODELS["LTM"].make(3, **QUIET))
    with config_context(enable_metadata_routing=True):
        clf.set_fit_request(embeddings=True).set_score_request(embeddings=True)
        search = GridSearchCV(clf, {"model__n_topics": [1, 3]}, cv=3, error_score="raise")
        search.fit(counts, few(block, 6, blank=""), embeddings=corners)
    assert search.best_params_ == {"model__n_topics": 3}
    assert search.best_score_ == 1
