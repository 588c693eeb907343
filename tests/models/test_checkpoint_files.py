"""Checkpoints whose checksums are right and whose contents are not: refused by name before a kernel sees them."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from harness.small_models import VARIANTS, fit_options, small_corpus, small_model
from topicfold import PLSA
from topicfold.engine.loop import Checkpoint
from topicfold.engine.store import read_file, write_file

REFUSED = "is not a state of this fit|belongs to another fit"
EVERY = pytest.mark.parametrize("variant", VARIANTS)


@pytest.fixture(scope="module")
def corpus():
    return small_corpus(30)


@pytest.fixture(scope="module")
def checkpoints(corpus, tmp_path_factory):
    """What the checkpoint of each model holds after a few steps, by its name."""
    folder = tmp_path_factory.mktemp("checkpoints")
    models = {variant: small_model(variant, checkpoint=folder / variant) for variant in VARIANTS}
    return {variant: left_by(model, variant, corpus) for variant, model in models.items()}


def left_by(model, variant, corpus):
    """Arrays and metadata of the last checkpoint of a fit."""
    now = mock.patch("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)
    with now, mock.patch.object(Checkpoint, "remove"):
        model.fit(corpus, **fit_options(variant, len(corpus)))
    arrays, metadata = read_file(model.checkpoint, kind="checkpoint")
    del metadata["checksums"]  # they are made anew
    return arrays, metadata


def resumed(variant, corpus, path, arrays, metadata, **parameters):
    write_file(path, arrays, metadata)
    model = small_model(variant, checkpoint=path, **parameters)
    return model.fit(corpus, **fit_options(variant, len(corpus)))


def wrong(array):
    """The array with another type, another shape, or numbers that cannot be right."""
    yield "type", array.astype(np.int8 if array.dtype.kind == "f" else np.float32)
    yield "shape", np.stack([array, array])
    if array.size:
        yield "negative", np.full_like(array, -7 if array.dtype.kind != "u" else 0).astype(np.int64)
        most = np.iinfo(array.dtype).max if array.dtype.kind in "iu" else 2**31 - 1
        yield "large", np.full_like(array, min(most, 2**31 - 1))
        if array.dtype.kind == "f":
            yield "not a number", np.full_like(array, np.nan)


@EVERY
def test_a_checkpoint_that_is_whole_is_taken_up(variant, corpus, checkpoints, tmp_path):
    model = resumed(variant, corpus, tmp_path / "c", *checkpoints[variant])
    assert np.array_equal(model.topic_word_, small_model(variant).fit(corpus, **fit_options(variant, 30)).topic_word_)
    assert not (tmp_path / "c").exists()


@pytest.mark.filterwarnings("ignore:.*left out of the likelihood")
@EVERY
def test_an_array_that_does_not_fit_is_refused_or_harmless(variant, corpus, checkpoints, tmp_path):
    arrays, metadata = checkpoints[variant]
    for name, array in arrays.items():
        for how, changed in wrong(array):
            try:
                model = resumed(variant, corpus, tmp_path / "c", {**arrays, name: changed}, metadata)
            except ValueError:
                continue
            assert how not in ("type", "shape"), f"{name} of another {how}"
            assert np.isfinite(model.topic_word_).all(), name
            assert np.isfinite(model.doc_topic_).all(), name


@EVERY
def test_an_array_that_is_missing_or_unknown_is_named(variant, corpus, checkpoints, tmp_path):
    arrays, metadata = checkpoints[variant]
    with pytest.raises(ValueError, match=r"it contains 'more', which is unknown; delete it"):
        resumed(variant, corpus, tmp_path / "c", {**arrays, "more": np.zeros(2)}, metadata)
    for name in arrays:
        if name in ("batches", "topic_share"):  # a state may do without
            continue
        with pytest.raises(ValueError, match=f"is not a state of this fit: it has no {name};"):
            resumed(variant, corpus, tmp_path / "c", {key: arrays[key] for key in arrays if key != name}, metadata)


@EVERY
def test_notes_are_looked_at_too(variant, corpus, checkpoints, tmp_path):
    arrays, metadata = checkpoints[variant]
    bad_notes = [None, 5, [], {}, {"history": "much"}, {"history": [[1.0], 2.0]}, {"history": [float("nan")]}]
    for notes in bad_notes:
        with pytest.raises(ValueError, match=REFUSED):
            resumed(variant, corpus, tmp_path / "c", arrays, {**metadata, "notes": notes})
    for name in metadata["notes"]:
        for value in ("much", -1, [float("inf")]):
            with pytest.raises(ValueError, match=REFUSED):
                resumed(
                    variant, corpus, tmp_path / "c", arrays, {**metadata, "notes": {**metadata["notes"], name: value}}
                )
    del (without := dict(metadata))["fingerprint"]
    with pytest.raises(ValueError, match=REFUSED):
        resumed(variant, corpus, tmp_path / "c", arrays, without)


def test_the_best_of_several_starts_is_looked_at_too(corpus, tmp_path):
    parameters = {"n_init": 2, "random_state": 0, "max_iter": 5, "tol": 0.0, "verbose": False}
    arrays, metadata = left_by(PLSA(3, checkpoint=tmp_path / "c", **parameters), "PLSA", corpus)
    assert metadata["notes"]["start"] == 1
    for name in ("best.doc_topic", "best.word_topic"):
        for changed in (None, arrays[name][1:], np.full_like(arrays[name], np.nan)):
            some = {key: value for key, value in arrays.items() if key != name}
            write_file(tmp_path / "c", some if changed is None else {**some, name: changed}, metadata)
            with pytest.raises(ValueError, match=f"is not a state of this fit: .*{name}"):
                PLSA(3, checkpoint=tmp_path / "c", **parameters).fit(corpus)
    write_file(tmp_path / "c", arrays, {**metadata, "notes": {**metadata["notes"], "best_history": []}})
    with pytest.raises(ValueError, match="best_history is empty"):
        PLSA(3, checkpoint=tmp_path / "c", **parameters).fit(corpus)


def test_the_state_of_tempered_em(corpus, tmp_path):
    model = PLSA(3, tempered=True, checkpoint=tmp_path / "c", random_state=0, max_iter=5, tol=0.0, verbose=False)
    arrays, metadata = left_by(model, "PLSA", corpus)
    for name, changed in (("exponent", np.array(7.0)), ("best_doc_topic", arrays["doc_topic"][:3])):
        write_file(tmp_path / "c", {**arrays, name: changed}, metadata)
        with pytest.raises(ValueError, match=f"is not a state of this fit: its {name}"):
            model.fit(corpus)
    write_file(tmp_path / "c", arrays, metadata)
    assert np.isfinite(model.fit(corpus).topic_word_).all()


def test_counts_of_a_chain_are_those_of_its_topics(corpus, checkpoints, tmp_path):
    arrays, metadata = checkpoints["LDCC"]
    wrong_counts = {"0:topic_total": 1, "1:in_document": 1, "0:listed_count": 1, "1:listed": 0, "0:size": 1}
    wrong_counts["1:word_topic"] = 2**40
    for name, value in wrong_counts.items():
        with pytest.raises(
            ValueError, match=r"is not a state of this fit: its (lists|topic|in_document|size|word_topic)"
        ):
            resumed("LDCC", corpus, tmp_path / "c", {**arrays, name: np.full_like(arrays[name], value)}, metadata)


def test_what_a_kill_left_beside_a_checkpoint_goes_with_it(corpus, tmp_path):
    (tmp_path / ".c.abc.tmp").mkdir()
    small_model("PLSA", checkpoint=tmp_path / "c").fit(corpus)
    assert list(tmp_path.iterdir()) == []
