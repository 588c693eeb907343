"""Tempered PLSA: better on held-out documents, and resumed in the same bits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import PLSA
from topicfold.models.plsa import tempering


def overfitting_corpus():
    rng = np.random.default_rng(5)
    topics = rng.dirichlet(np.full(300, 0.05), 5)
    mixes = rng.dirichlet(np.full(5, 0.3), 300)
    return sp.csr_array(np.array([rng.multinomial(30, mix @ topics) for mix in mixes]))


def test_tempering_helps_held_out_documents():
    counts = overfitting_corpus()
    options = {"n_topics": 20, "random_state": 0, "verbose": False}
    plain = PLSA(**options).fit(counts[:240])
    tempered = PLSA(tempered=True, **options).fit(counts[:240])
    assert tempered.score(counts[240:]) > plain.score(counts[240:]) + 0.05
    assert 0 < tempered.exponent_ <= 1
    assert (np.diff(tempered.history_) >= 0).all()
    with pytest.raises(ValueError, match="whole counts"):
        PLSA(2, tempered=True).fit(counts * 0.5)


def test_tempering_with_documents_too_short_to_split():
    counts = sp.csr_array(sp.vstack([overfitting_corpus()[:60], sp.csr_array((2, 300), dtype=int)]))
    model = PLSA(10, tempered=True, random_state=0, verbose=False).fit(counts)
    assert np.allclose(model.doc_topic_.sum(axis=1), 1, atol=1e-5)
    with pytest.raises(ValueError, match="no document has ten"):
        PLSA(2, tempered=True).fit(np.ones((5, 4)))


def test_tempering_resumes_in_the_same_bits(tmp_path, monkeypatch):
    counts = overfitting_corpus()
    options = {"n_topics": 20, "random_state": 0, "tempered": True, "max_iter": 12, "verbose": False}
    whole = PLSA(**options).fit(counts)
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)

    class Killed(Exception):
        pass

    real, calls = tempering.completion_log_likelihood, []

    def fragile(*arguments):
        calls.append(1)
        if len(calls) == 7:
            raise Killed
        return real(*arguments)

    monkeypatch.setattr(tempering, "completion_log_likelihood", fragile)
    with pytest.raises(Killed):
        PLSA(checkpoint=tmp_path / "c", **options).fit(counts)
    resumed = PLSA(checkpoint=tmp_path / "c", **options).fit(counts)
    assert np.array_equal(resumed.topic_word_, whole.topic_word_)
    assert resumed.exponent_ == whole.exponent_
