"""What holds for ITCC, MOC and MOCC alike."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from coclustering_cases import random_counts
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from topicfold import Corpus
from topicfold.baselines import ITCC, MOC, MOCC

MODELS = [ITCC(2, 2), MOC(2), MOC(2, loss="gaussian"), MOCC(2, 2), MOCC(2, 2, loss="gaussian")]
NAMES = [f"{type(model).__name__}-{getattr(model, 'loss', 'information')}" for model in MODELS]


def clusters_of(model):
    """Whatever says which document and which word is where."""
    if isinstance(model, MOC):
        return model.memberships_, model.prototypes_
    return model.rows_, model.columns_


@parametrize_with_checks([ITCC(2, 2, n_init=1), MOC(2, n_init=1), MOCC(2, 2, n_init=1)])
@pytest.mark.filterwarnings("default::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
@pytest.mark.parametrize("seed", range(6))
def test_the_objective_never_rises(model, seed):
    fitted = clone(model).set_params(random_state=seed).fit(random_counts(seed=seed))
    assert fitted.n_iter_ == len(fitted.history_) > 0
    assert (np.diff(fitted.history_) <= 1e-9 * fitted.history_[0]).all()


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_same_seed_same_result_whatever_the_form_of_the_counts(model):
    counts = random_counts()
    first = clone(model).set_params(random_state=3).fit(counts)
    words = [f"w{j}" for j in range(counts.shape[1])]
    for form in (sp.csr_array(counts), sp.csc_array(counts), Corpus.from_counts(sp.csr_array(counts), words)):
        again = clone(first).fit(form)
        assert again.history_ == first.history_
        for ours, theirs in zip(clusters_of(again), clusters_of(first)):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_more_starts_are_no_worse(model):
    counts = random_counts(20, 15, seed=4)
    one, many = (clone(model).set_params(random_state=0, n_init=n).fit(counts).history_[-1] for n in (1, 20))
    assert many <= one


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_empty_documents_and_words_change_nothing(model):
    counts = random_counts()
    wide = np.zeros((15, 11), int)
    kept = np.array([0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13]), np.array([0, 2, 3, 4, 5, 6, 8, 9, 10])
    wide[np.ix_(*kept)] = counts
    without = clone(model).set_params(random_state=0).fit(counts)
    fitted = clone(model).set_params(random_state=0).fit(wide)
    np.testing.assert_allclose(fitted.history_, without.history_)
    if isinstance(model, MOC):
        parts = [(fitted.memberships_.T, without.memberships_.T, kept[0])]
    else:
        parts = [(fitted.rows_, without.rows_, kept[0]), (fitted.columns_, without.columns_, kept[1])]
    for ours, theirs, where in parts:
        np.testing.assert_array_equal(ours[:, where], theirs)
        empty = np.setdiff1d(np.arange(ours.shape[1]), where)
        largest = theirs.sum(axis=1) == theirs.sum(axis=1).max()
        assert (ours[:, empty].any(axis=1) <= largest).all()
        assert ours[:, empty].any(axis=0).all()


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_nothing_at_all_is_an_error(model):
    with pytest.raises(ValueError, match="all 5 documents are empty"):
        clone(model).fit(np.zeros((5, 4)))
    with pytest.raises(ValueError, match="Negative values"):
        clone(model).fit(-random_counts())


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ITCC(7, 2), r"n_row_clusters=7 is more than there are documents that are not empty \(n_samples=6\)"),
        (ITCC(2, 5), r"n_column_clusters=5 is more than there are words that are not empty \(n_features=4\)"),
        (MOC(7), r"n_clusters=7 is more than there are documents .*: choose at most 6"),
        (MOCC(7, 2), r"n_row_clusters=7 is more than"),
        (MOCC(2, 5), r"n_column_clusters=5 is more than"),
        (ITCC(0, 2), r"n_row_clusters=0: expected a whole number, at least 1"),
        (ITCC(2, 1.5), r"n_column_clusters=1.5: expected a whole number"),
        (MOC(True), r"n_clusters=True: expected a whole number"),
        (MOCC(2, "3"), r"n_column_clusters='3': expected a whole number"),
        (ITCC(2, 2, n_init=0), r"n_init=0: expected a whole number, at least 1"),
        (MOC(2, max_iter=0), r"max_iter=0: expected a whole number, at least 1"),
        (MOC(2, loss="cosine"), r"loss='cosine': expected one of poisson, gaussian"),
        (MOCC(2, 2, tol=-1), r"tol=-1: expected a number, zero or more"),
        (MOC(2, tol=float("nan")), r"tol=nan: expected a number"),
    ],
)
def test_bad_parameters_are_named(model, message):
    counts = random_counts(7, 5) + 1
    counts[2] = counts[:, 1] = 0
    with pytest.raises(ValueError, match=message):
        model.fit(counts)
