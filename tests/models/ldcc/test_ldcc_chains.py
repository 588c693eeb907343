"""LDCC's chains: alpha is learned in burn-in, topics are means of samples; killed and interrupted fits."""

from __future__ import annotations

import contextlib
import signal
import warnings

import numpy as np
import pytest
from ldcc_cases import assert_same, proper, small

from topicfold import LDCC
from topicfold.engine import loop
from topicfold.metrics.stability import effective_sample_size
from topicfold.models.ldcc import chains, sampler
from topicfold.models.ldcc.sampler import Sampler


def test_chains_give_the_same_bits_for_any_number_of_threads(fitted, segmented):
    counts, documents, _ = segmented
    for n_jobs in (1, 2, 4):
        other = small(n_chains=3, n_jobs=n_jobs).fit(counts, documents=documents)
        assert_same(other, fitted)
        assert other.score(counts, documents=documents) == fitted.score(counts, documents=documents)


@pytest.mark.parametrize("init", ["data", "random"])
def test_chains_differ_and_the_best_is_kept(segmented, init):
    counts, documents, _ = segmented
    model = small(n_chains=4, init=init).fit(counts, documents=documents)
    assert model.chain_history_.shape == (4, 30)
    assert len({tuple(trace) for trace in model.chain_history_}) == 4
    means = model.chain_history_[:, 20:].mean(axis=1)
    assert np.array_equal(model.history_, model.chain_history_[means.argmax()])
    assert model.effective_sample_size_.shape == (4,)
    assert model.effective_sample_size_[2] == effective_sample_size(model.chain_history_[2, 20:])
    assert model.other_topic_word_.shape == (3, 3, 12)
    for topic_word, alpha in zip(model.other_topic_word_, model.other_alpha_):
        assert not np.array_equal(topic_word, model.topic_word_)
        assert not np.array_equal(alpha, model.alpha_)


@pytest.mark.parametrize("init", ["data", "random"])
def test_chains_begin_with_segments_in_every_cluster(segmented, monkeypatch, init):
    counts, documents, _ = segmented
    begun = []
    state = Sampler.state
    monkeypatch.setattr(
        Sampler,
        "state",
        lambda self, topic, cluster, *rest: begun.append(cluster) or state(self, topic, cluster, *rest),
    )
    small(3, 3, init=init).fit(counts, documents=documents)
    assert len(begun) == 1
    assert set(begun[0]) == {0, 1, 2}


def test_the_first_chain_is_the_same_however_many_there_are(segmented):
    counts, documents, _ = segmented
    one, more = (small(n_chains=n).fit(counts, documents=documents) for n in (1, 3))
    assert np.array_equal(one.chain_history_[0], more.chain_history_[0])


def test_alpha_is_learned_in_burn_in_alone(segmented, monkeypatch):
    counts, documents, _ = segmented
    calls = []
    update = chains.maximised_alpha
    monkeypatch.setattr(chains, "maximised_alpha", lambda *arguments: calls.append(0) or update(*arguments))
    small(burn_in=10, n_sweeps=40).fit(counts, documents=documents)
    assert len(calls) == 2
    calls.clear()
    model = small(burn_in=0, n_sweeps=8).fit(counts, documents=documents)
    assert calls == []
    assert (model.alpha_ == 0.1).all()


def test_topics_are_the_mean_of_the_samples(segmented, monkeypatch):
    counts, documents, _ = segmented
    seen = []
    add_words = Sampler.add_words

    def note(self, state, total):
        before = total.copy()
        add_words(self, state, total)
        seen.append(total - before)

    monkeypatch.setattr(Sampler, "add_words", note)
    model = small(burn_in=20, n_sweeps=31, lag=5).fit(counts, documents=documents)
    assert len(seen) == 3  # after sweeps 21, 26 and 31
    mean = np.mean(seen, axis=0).T + model.beta
    assert np.allclose(model.topic_word_, mean / mean.sum(axis=1, keepdims=True), atol=1e-6)


def test_tokens_and_first_topics_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.7, (50, 12))

    def fit():
        return LDCC(3, 4, n_sweeps=6, burn_in=3, lag=1, random_state=0).fit(X, documents=np.arange(50) // 2)

    whole = fit()
    monkeypatch.setattr(chains, "_SEGMENTS_PER_BLOCK", 7)
    monkeypatch.setattr(chains, "_TOKENS_PER_BLOCK", 5)
    monkeypatch.setattr(sampler, "_SEGMENTS_PER_BLOCK", 9)
    again = fit()
    assert np.array_equal(whole.topic_word_, again.topic_word_)
    assert np.array_equal(whole.doc_topic_, again.doc_topic_)
    monkeypatch.setattr(chains, "_CLUSTERED_SEGMENTS", 20)  # clusters to begin with from a part of the segments
    assert fit().topic_word_.shape == whole.topic_word_.shape


# ---- killed and interrupted ------------------------------------------------------------------------------------------


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
