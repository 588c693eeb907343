"""HLTA killed or interrupted: what is kept, and that a resumed fit ends in the same bits."""

from __future__ import annotations

import contextlib
import signal
import warnings

import numpy as np
import pytest
from hlta_cases import METHODS, check_model, same, small
from latent_tree_cases import EMISSIONS

from topicfold.engine import loop
from topicfold.models.hlta.latent_tree import state_marginals


class Killed(Exception):
    pass


def killed_after(monkeypatch, n_writes):
    """Every step writes a checkpoint, and the fit dies after so many."""
    written, calls = loop.Checkpoint.write, []

    def write(self, *arguments, **options):
        written(self, *arguments, **options)
        calls.append(1)
        if len(calls) == n_writes:
            raise Killed

    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr(loop.Checkpoint, "write", write)


@METHODS
@pytest.mark.parametrize(
    "options", [{}, {"emission": "counts"}, {"batch_size": 70}, {"emission": "counts", "batch_size": 70}], ids=str
)
def test_killed_anywhere_and_resumed_ends_in_the_same_bits(method, options, known, tmp_path, monkeypatch):
    counts = known[:300].copy()
    counts.data = 1 + np.arange(len(counts.data)) % 3
    options = {"method": method, "n_levels": 2, "max_iter": 6, "tol": 0, **options}
    whole = small(**options).fit(counts)
    with monkeypatch.context() as patch:
        killed_after(patch, 10_000)
        same(whole, small(checkpoint=tmp_path / "all", **options).fit(counts))
    grown = len(small(**{**options, "emission": "presence"}).fit(counts).history_) - 6
    for n_writes in (1, 5, 6, 9, grown, grown + 2, grown + 4):
        path = tmp_path / f"checkpoint{n_writes}"
        with monkeypatch.context() as patch:
            killed_after(patch, n_writes)
            with pytest.raises(Killed):
                small(checkpoint=path, **options).fit(counts)
        assert path.exists()
        same(whole, small(checkpoint=path, **options).fit(counts))
        assert not path.exists()


@contextlib.contextmanager
def press(step):
    """Ctrl-C in a step of the loop."""
    before = loop.progress

    @contextlib.contextmanager
    def progress(*_, **__):
        yield lambda to, note: signal.raise_signal(signal.SIGINT) if to == step else None

    loop.progress = progress
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    finally:
        loop.progress = before
    assert any("the model so far is kept" in str(warning.message) for warning in caught)


@METHODS
@EMISSIONS
@pytest.mark.parametrize("step", [1, 5, 7])
def test_ctrl_c_while_growing_keeps_a_usable_model(method, emission, step, known, tmp_path):
    counts = known[:400] * 4
    options = {"method": method, "emission": emission, "n_levels": 2, "max_iter": 20}
    with press(step):
        model = small(checkpoint=tmp_path / "c", **options).fit(counts)
    assert model.interrupted_
    check_model(model)
    assert (tmp_path / "c").exists()
    # the tables are those of the emission: what the model expects of a word is about what the documents have
    tree = model._tree()
    expected = (state_marginals(tree)[tree.word_parent] * tree.word_table).sum(axis=1)
    mean = counts.mean(axis=0) if emission == "counts" else (counts > 0).mean(axis=0)
    np.testing.assert_allclose(expected, mean[model.word_columns_], rtol=0.2)
    assert len(model.topic_tree()) == len(model.topic_word_)
    resumed = small(checkpoint=tmp_path / "c", **options).fit(counts)
    same(resumed, small(**options).fit(counts))
    assert not resumed.interrupted_


def test_ctrl_c_in_the_last_step_of_growing_leaves_a_checkpoint(known, tmp_path):
    options = {"n_levels": 1, "n_relocations": 0, "max_iter": 5, "tol": 0}
    whole = small(**options).fit(known[:300])
    with press(whole.n_iter_ - 5):
        model = small(checkpoint=tmp_path / "c", **options).fit(known[:300])
    assert model.interrupted_
    assert (tmp_path / "c").exists(), "the tree that was grown is lost"
    same(small(checkpoint=tmp_path / "c", **options).fit(known[:300]), whole)


def test_ctrl_c_in_the_polish_and_resume(known, tmp_path):
    options = {"emission": "counts", "n_levels": 1, "max_iter": 12, "tol": 0}
    with press(9):
        model = small(checkpoint=tmp_path / "c", **options).fit(known[:300])
    assert model.interrupted_
    same(small(checkpoint=tmp_path / "c", **options).fit(known[:300]), small(**options).fit(known[:300]))
