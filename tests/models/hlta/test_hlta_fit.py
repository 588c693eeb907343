"""How HLTA is fitted: EM, batches, a sample for the tree, threads and seeds."""

from __future__ import annotations

import numpy as np
import pytest
from hlta_cases import METHODS, check_model, same, small
from latent_tree_cases import EMISSIONS

from topicfold import HLTA
from topicfold.models.hlta import hlta


@METHODS
@EMISSIONS
def test_em_never_falls_without_smoothing(method, emission, multi_state):
    X = multi_state * (1 if emission == "presence" else 3)
    model = small(method=method, emission=emission, smoothing=0.0, n_levels=1, n_relocations=0, tol=0, max_iter=30)
    history = model.fit(X).history_
    assert (np.diff(history) > -1e-9 * abs(history[0])).all()
    assert history[-1] <= model.score(X) + 1e-9
    assert model.n_iter_ == len(history)


def test_history_is_the_likelihood_before_each_pass(known):
    model = small(max_iter=4, tol=0).fit(known[:400])
    more = small(max_iter=5, tol=0).fit(known[:400])
    assert more.n_iter_ == model.n_iter_ + 1
    assert more.history_[-1] == pytest.approx(model.score(known[:400]))
    counted = small(max_iter=4, tol=0, emission="counts").fit(known[:400])
    assert len(counted.history_) == 4
    more = small(max_iter=5, tol=0, emission="counts").fit(known[:400])
    assert more.history_[-1] == pytest.approx(counted.score(known[:400]))


@EMISSIONS
def test_stepwise_em_ends_near_em(known, emission):
    options = {"emission": emission, "max_iter": 15, "tol": 0}
    whole = small(batch_size=None, **options).fit(known)
    steps = small(batch_size=500, **options).fit(known)
    assert abs(steps.score(known) - whole.score(known)) < 0.01
    np.testing.assert_allclose(steps.topic_weight_, whole.topic_weight_, atol=0.03)
    assert np.array_equal(small(batch_size=3000, **options).fit(known).topic_word_, whole.topic_word_)


@pytest.mark.parametrize("batch_size", [2999, 1499, 1000])
def test_a_last_batch_of_a_few_documents_counts_for_a_few(known, batch_size):
    """One document must not weigh as much as the batches before it."""
    options = {"max_iter": 3, "tol": 0}
    whole = small(batch_size=None, **options).fit(known)
    steps = small(batch_size=batch_size, **options).fit(known)
    assert abs(steps.score(known) - whole.score(known)) < 0.03


@pytest.mark.parametrize("batch_size", [None, 500])
def test_em_goes_on_where_the_tree_was_built_on_a_sample(known, monkeypatch, batch_size):
    """The likelihoods of the sample and of all documents are not one history: the first pass over all of them may be
    lower than the last over the sample, and is no sign that EM has converged."""
    monkeypatch.setattr(hlta, "_STRUCTURE_DOCUMENTS", 300)
    model = small(batch_size=batch_size, tol=1e-6, max_iter=6).fit(known)
    grown = small(batch_size=batch_size, tol=1e-6, max_iter=1).fit(known)
    check_model(model)
    assert model.n_iter_ > grown.n_iter_, "EM on all documents stopped after one pass"
    assert model.score(known) > grown.score(known)


@METHODS
@pytest.mark.parametrize("options", [{}, {"emission": "counts"}, {"batch_size": 70}], ids=str)
def test_threads_give_the_same_bits(method, options, known):
    options = {"method": method, "n_levels": 2, "max_iter": 4, **options}
    counts = known[:300] * 2
    fits = [small(n_jobs=n_jobs, **options).fit(counts) for n_jobs in (1, 2, 4)]
    for other in fits[1:]:
        same(fits[0], other)
        assert np.array_equal(fits[0].log_likelihood(counts), other.log_likelihood(counts))
        assert np.array_equal(fits[0].word_probability(counts), other.word_probability(counts))


def test_seeds(known):
    one, again = small(random_state=3, max_iter=3).fit(known[:300]), small(random_state=3, max_iter=3).fit(known[:300])
    same(one, again)
    same(one, small(random_state=np.random.RandomState(3), max_iter=3).fit(known[:300]))


def test_without_a_seed_the_global_state_decides(known):
    assert HLTA().random_state is None
    fits = []
    for seed in (3, 3, 4):
        np.random.seed(seed)  # noqa: NPY002
        fits.append(HLTA(max_iter=1, verbose=False).fit(known[:300]))
    same(fits[0], fits[1])
    assert not np.array_equal(fits[0].word_table_, fits[2].word_table_)
