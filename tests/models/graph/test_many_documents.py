"""LTM and LapPLSI as they work on many documents, tried on few."""

from __future__ import annotations

import numpy as np
import pytest
from graph_cases import BOTH, DENSE, paper, quiet

from topicfold import LTM, LapPLSI
from topicfold.models.graph import graph_tables, linear_system

pytestmark = DENSE


def are_many(patch):
    """Sixty documents are many, and a block of rows holds 16."""
    patch.setattr(linear_system, "MANY_DOCUMENTS", 60)
    patch.setattr(graph_tables, "_ROWS_PER_BLOCK", 16)


@BOTH
@pytest.mark.parametrize("make", [quiet, paper])
def test_threads_change_nothing(model, make, sampled, monkeypatch):
    are_many(monkeypatch)
    fits = [make(model, 4, max_iter=6, n_jobs=n_jobs).fit(sampled[:200]) for n_jobs in (None, 2, 4)]
    for other in fits[1:]:
        assert np.array_equal(fits[0].doc_topic_, other.doc_topic_)
        assert np.array_equal(fits[0].topic_word_, other.topic_word_)
        assert np.array_equal(fits[0].history_, other.history_)


@pytest.mark.parametrize("solver", ["auto", "cg"])
@pytest.mark.parametrize("make", [quiet, paper])
def test_ltm_ends_where_exact_solutions_lead(make, solver, sampled):
    settings = {"max_iter": 60, "tol": 0, "solver": solver, "dtype": "float64"}
    exact = make(LTM, 4, **settings).fit(sampled[:200])
    with pytest.MonkeyPatch.context() as patch:
        are_many(patch)
        found = make(LTM, 4, **settings).fit(sampled[:200])
    assert np.abs(found.doc_topic_ - exact.doc_topic_).mean() < 2e-3
    assert (found.predict(sampled[:200]) == exact.predict(sampled[:200])).mean() > 0.98
    assert abs(found.history_[-1] - exact.history_[-1]) < 1e-4


def test_lapplsi_with_a_prior_comes_as_far_in_several_blocks(sampled):
    exact = quiet(LapPLSI, 4, max_iter=30).fit(sampled[:200])
    with pytest.MonkeyPatch.context() as patch:
        are_many(patch)
        found = quiet(LapPLSI, 4, max_iter=30).fit(sampled[:200])
    assert (found.predict(sampled[:200]) == exact.predict(sampled[:200])).mean() > 0.95
    assert abs(found.history_[-1] - exact.history_[-1]) < 5e-3


def test_lapplsi_without_a_prior_never_falls(sampled, monkeypatch):
    are_many(monkeypatch)
    history = paper(LapPLSI, 4, max_iter=20).fit(sampled[:200]).history_
    assert (np.diff(history) > -1e-6).all()
