"""LDCC killed or interrupted: what is kept, and that a resumed fit ends in the same bits."""

from __future__ import annotations

import contextlib
import signal
import warnings

import numpy as np
import pytest
from ldcc_cases import assert_same, proper, small

from topicfold.engine import loop


class Killed(BaseException):
    pass


@pytest.mark.parametrize("sweeps", [1, 7, 10, 11, 13, 16])
@pytest.mark.parametrize("n_chains", [1, 3])
def test_killed_and_resumed_ends_in_the_same_bits(segmented, tmp_path, monkeypatch, sweeps, n_chains):
    counts, documents, _ = segmented
    options = {"n_sweeps": 18, "burn_in": 10, "lag": 3, "n_chains": n_chains, "n_jobs": 2}
    whole = small(**options).fit(counts, documents=documents)
    path = tmp_path / "checkpoint"
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)
    write = loop.Checkpoint.write

    def write_and_die(self, state, notes, **options):
        write(self, state, notes, **options)
        if len(notes["history"]) == sweeps:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(loop.Checkpoint, "write", write_and_die)
        with pytest.raises(Killed):
            small(checkpoint=path, **options).fit(counts, documents=documents)
    resumed = small(checkpoint=path, **options).fit(counts, documents=documents)
    assert_same(resumed, whole)
    assert resumed.n_iter_ == 18
    assert not path.exists()


def test_a_checkpoint_of_other_documents_is_refused(segmented, tmp_path, monkeypatch):
    counts, documents, _ = segmented
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr(loop.Checkpoint, "remove", lambda self: None)
    small(checkpoint=tmp_path / "c").fit(counts, documents=documents)
    for other in (None, documents[::-1]):
        with pytest.raises(ValueError, match="belongs to another fit"):
            small(checkpoint=tmp_path / "c").fit(counts, documents=other)


def interrupted_at(sweep, monkeypatch, model, counts, documents):
    @contextlib.contextmanager
    def press(*_, **__):
        yield lambda to, note: signal.raise_signal(signal.SIGINT) if to == sweep else None

    with monkeypatch.context() as patched, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        patched.setattr("topicfold.engine.loop.progress", press)
        model.fit(counts, documents=documents)
    assert any("the model so far is kept" in str(warning.message) for warning in caught)
    return model


@pytest.mark.parametrize("sweep", [1, 6, 20, 21, 24])
def test_ctrl_c_keeps_a_model_and_resumes(segmented, tmp_path, monkeypatch, sweep):
    counts, documents, _ = segmented
    model = small(n_chains=2, checkpoint=tmp_path / "c")
    interrupted_at(sweep, monkeypatch, model, counts, documents)
    assert model.interrupted_
    assert not model.converged_
    assert model.n_iter_ == sweep == len(model.history_)
    assert proper(model)
    if sweep <= 21:  # one sample: topics are whole counts and beta
        n_tokens = model.topic_weight_.astype(float) * counts.sum()
        n_words = model.topic_word_ * (n_tokens + 12 * model.beta)[:, None] - model.beta
        assert np.allclose(n_words, n_words.round(), atol=1e-2)
        assert np.array_equal(n_words.round().sum(axis=0), counts.sum(axis=0))
    resumed = small(n_chains=2, checkpoint=tmp_path / "c").fit(counts, documents=documents)
    assert_same(resumed, small(n_chains=2).fit(counts, documents=documents))
    assert not resumed.interrupted_
