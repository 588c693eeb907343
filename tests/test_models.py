"""The contract every model keeps, over the table of models."""

from __future__ import annotations

import contextlib
import inspect
import signal
import subprocess
import sys
import textwrap
import warnings
from datetime import date

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from topicfold import Corpus, FileError, load
from topicfold.models import MODELS, info_of

ALL = pytest.mark.parametrize("info", MODELS.values(), ids=MODELS.keys())


MIXTURES = pytest.mark.parametrize(
    "info", [info for info in MODELS.values() if info.mixture], ids=[n for n, info in MODELS.items() if info.mixture]
)


def small(info, n_topics=3, **parameters):
    """A small model with the parameters it has: a tree has no start, a sampler no tolerance."""
    known = info.parameters()
    shared = ("init", "dtype", "tol")
    parameters = {name: value for name, value in parameters.items() if name in known or name not in shared}
    return info.make_small(n_topics, **parameters)


def expected_failures(model):
    info, failures = info_of(model), {}
    if info.score_unit == "nats per token":
        needs_counts = "score holds out tokens, so it needs whole counts, and the check passes fractions"
        failures |= dict.fromkeys(("check_fit_score_takes_y", "check_pipeline_consistency"), needs_counts)
    return failures


@parametrize_with_checks(
    [small(info, 2, n_steps=30, tol=0) for info in MODELS.values()],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("default::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("default:topic .* is the largest topic:UserWarning")  # the checks' data have no topics
@pytest.mark.filterwarnings("default:.*values are rounded up:UserWarning")  # nor tokens
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@ALL
def test_the_table_says_what_the_class_can_do(info):
    model, parameters = info.load(), info.parameters()
    assert info.takes_graph == ("graph" in inspect.signature(model.fit).parameters)
    assert info.takes_segments == hasattr(model, "transform_segments")
    assert info.streams == hasattr(model, "partial_fit")
    assert {*info.sizes, *info.quick, info.steps} <= set(parameters)
    settings = [*info.notes, *([info.labels] if info.labels else [])]
    assert {setting.partition("=")[0] for setting in settings} <= set(parameters)


@ALL
def test_rows_are_distributions_and_shapes_agree(info, sampled):
    model = small(info).fit(sampled)
    n_documents, n_words = sampled.shape
    n_topics = 3 if info.sizes else len(model.topic_word_)
    assert model.topic_word_.shape == (n_topics, n_words)
    assert model.doc_topic_.shape == (n_documents, n_topics)
    assert model.components_ is model.topic_word_
    if info.mixture:
        assert np.allclose(model.topic_word_.sum(axis=1), 1, atol=1e-5)
        assert np.allclose(model.doc_topic_.sum(axis=1), 1, atol=1e-5)
        assert np.allclose(model.transform(sampled).sum(axis=1), 1, atol=1e-5)
    for probabilities in (model.topic_word_, model.doc_topic_, model.transform(sampled)):
        assert ((probabilities >= 0) & (probabilities <= 1 + 1e-5)).all()
    assert len(model.history_) == model.n_iter_
    assert list(model.get_feature_names_out()) == [f"{type(model).__name__.lower()}{k}" for k in range(n_topics)]


@MIXTURES
def test_topics_of_many_words_sum_to_one_and_load(info, tmp_path):
    """In float32 alone, sums of so many words would be off in the fourth digit."""
    n_words, rng = 50_000, np.random.default_rng(0)
    words = (n_words * rng.random(60 * 300) ** 1.5).astype(int)
    counts = sp.csr_array((np.ones(words.size), (np.repeat(np.arange(60), 300), words)), (60, n_words))
    model = small(info, 2, n_steps=3, init="random").fit(counts)
    for rows in (model.topic_word_, model.doc_topic_, model.transform(counts[:3])):
        assert np.abs(rows.sum(axis=-1, dtype=np.float64) - 1).max() < 1e-5
    model.save(tmp_path / "model.safetensors")
    assert np.array_equal(load(tmp_path / "model.safetensors").topic_word_, model.topic_word_)


@ALL
@pytest.mark.parametrize("seed", range(10))
def test_blocks_are_recovered(info, blocks, seed):
    counts, block = blocks
    model = small(info, random_state=seed).fit(counts)
    assert adjusted_rand_score(block, model.doc_topic_.argmax(axis=1)) == 1
    assert adjusted_rand_score(block, model.transform(counts).argmax(axis=1)) == 1


@ALL
def test_fit_transform_is_doc_topic(info, sampled):
    model = small(info)
    assert model.fit_transform(sampled) is model.doc_topic_


@ALL
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_give_the_same_bits(info, sampled, dtype):
    fits = [small(info, n_jobs=n_jobs, dtype=dtype, n_steps=20).fit(sampled) for n_jobs in (1, 2, 4)]
    for other in fits[1:]:
        assert np.array_equal(fits[0].topic_word_, other.topic_word_)
        assert np.array_equal(fits[0].doc_topic_, other.doc_topic_)
        assert np.array_equal(fits[0].history_, other.history_)
        assert np.array_equal(fits[0].transform(sampled), other.transform(sampled))
        assert fits[0].score(sampled) == other.score(sampled)


@MIXTURES
def test_same_seed_same_result_and_another_seed_another(info, sampled):
    first, again = small(info, init="random").fit(sampled), small(info, init="random").fit(sampled)
    other = small(info, init="random", random_state=1).fit(sampled)
    assert np.array_equal(first.topic_word_, again.topic_word_)
    assert not np.array_equal(first.topic_word_, other.topic_word_)


@ALL
def test_a_document_does_not_depend_on_its_batch(info, sampled):
    model = small(info).fit(sampled)
    together = model.transform(sampled)
    assert np.array_equal(model.transform(sampled[[7]])[0], together[7])
    assert np.array_equal(model.transform(sampled[[399, 7, 3]])[1], together[7])


@ALL
def test_score_is_a_held_out_likelihood(info, sampled):
    train, test = sampled[:300], sampled[300:]
    model = small(info, 4).fit(train)
    if info.score_unit == "nats per document":
        share, present = (train > 0).mean(axis=0), (test > 0).toarray()
        independent = np.where(present, np.log(share + 1e-9), np.log(1 - share + 1e-9)).sum(axis=1).mean()
        assert independent < model.score(test) < 0
        return
    frequency = np.asarray(train.sum(axis=0)) / train.sum()
    unigram = float((test @ np.log(frequency + 1e-9)).sum() / test.sum())
    assert unigram < model.score(test) < 0
    with pytest.raises(ValueError, match="two or more tokens"):
        model.score(sp.csr_array(np.eye(1, 30, dtype=int)))


@ALL
def test_saved_and_loaded_in_a_new_process(info, sampled, tmp_path):
    model = small(info).fit(sampled)
    model.save(tmp_path / "model.safetensors")
    sp.save_npz(tmp_path / "counts.npz", sampled)
    code = """
        import sys, numpy, scipy.sparse, topicfold
        model = topicfold.load(sys.argv[1] + "/model.safetensors")
        numpy.save(sys.argv[1] + "/out.npy", model.transform(scipy.sparse.load_npz(sys.argv[1] + "/counts.npz")))
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], check=True)
    assert np.array_equal(np.load(tmp_path / "out.npy"), model.transform(sampled))
    loaded = load(tmp_path / "model.safetensors")
    assert loaded.get_params() == model.get_params()
    assert set(vars(loaded)) == set(vars(model))


@ALL
def test_killed_and_resumed_ends_in_the_same_bits(info, sampled, tmp_path):
    sp.save_npz(tmp_path / "counts.npz", sampled)
    code = f"""
        import os, signal, sys, scipy.sparse, topicfold.engine.loop
        from topicfold.models import MODELS, info_of
        topicfold.engine.loop.CHECKPOINT_SECONDS = 0
        written = topicfold.engine.loop.Checkpoint.write
        def write(self, *arguments, **options):
            written(self, *arguments, **options)
            write.calls += 1
            if write.calls == 7:
                os._exit(9)  # as a kill does, and on Windows too
        write.calls = 0
        topicfold.engine.loop.Checkpoint.write = write
        parameters = {small(info, n_steps=25, tol=0).get_params()!r}
        parameters["checkpoint"] = sys.argv[1] + "/checkpoint"
        MODELS[{info.name!r}].load()(**parameters).fit(scipy.sparse.load_npz(sys.argv[1] + "/counts.npz"))
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], check=False)
    assert killed.returncode == 9
    assert (tmp_path / "checkpoint").exists()
    options = {"n_steps": 25, "tol": 0}
    resumed = small(info, checkpoint=str(tmp_path / "checkpoint"), **options).fit(sampled)
    whole = small(info, **options).fit(sampled)
    assert np.array_equal(resumed.topic_word_, whole.topic_word_)
    assert np.array_equal(resumed.doc_topic_, whole.doc_topic_)
    assert np.array_equal(resumed.history_, whole.history_)
    assert not (tmp_path / "checkpoint").exists()


@ALL
def test_a_checkpoint_of_another_fit_is_refused(info, sampled, tmp_path, monkeypatch):
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr("topicfold.engine.loop.Checkpoint.remove", lambda self: None)
    path = tmp_path / "checkpoint"
    small(info, checkpoint=path, n_steps=5, tol=0).fit(sampled)
    with pytest.raises(ValueError, match="belongs to another fit"):
        small(info, n_topics=4, checkpoint=path, n_steps=6).fit(sampled)
    with pytest.raises(ValueError, match="belongs to another fit"):
        small(info, checkpoint=path, n_steps=5, tol=0).fit(sampled[:200])


@ALL
def test_a_checkpoint_that_cannot_be_written(info, sampled, tmp_path, monkeypatch):
    with pytest.raises(FileError, match=r"the folder .* does not exist"):
        small(info, checkpoint=tmp_path / "no" / "c").fit(sampled)
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)

    def full(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr("topicfold.engine.loop.write_file", full)
    with pytest.warns(UserWarning, match="the fit continues: no space left"):
        small(info, checkpoint=tmp_path / "c", n_steps=3, tol=0).fit(sampled)


@ALL
def test_ctrl_c_keeps_the_model(info, sampled, monkeypatch):
    from topicfold.engine import loop as fitting

    @contextlib.contextmanager
    def press_in_the_fourth_step(*_, **__):
        yield lambda to, note: signal.raise_signal(signal.SIGINT) if to == 4 else None

    monkeypatch.setattr(fitting, "progress", press_in_the_fourth_step)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = small(info, n_steps=50, tol=0).fit(sampled)
    assert any("the model so far is kept" in str(warning.message) for warning in caught)
    assert model.n_iter_ == 4
    assert model.interrupted_
    assert np.isfinite(model.transform(sampled)).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@MIXTURES
def test_empty_documents_and_unseen_words_get_the_corpus_mean(info, sampled):
    counts = sp.csr_array(sp.vstack([sampled, sp.csr_array((2, 30), dtype=int)]))
    counts = sp.csr_array(sp.hstack([counts, sp.csr_array((402, 1), dtype=int)]))  # a word no document has
    model = small(info).fit(counts)
    assert np.isfinite(model.doc_topic_).all()
    assert np.isfinite(model.topic_word_).all()
    assert np.allclose(model.doc_topic_[400:], model.topic_weight_)
    unseen = sp.csr_array(([3], ([0], [30])), (1, 31))
    assert np.allclose(model.transform(unseen), model.topic_weight_)
    assert np.allclose(model.transform(sp.csr_array((1, 31), dtype=int)), model.topic_weight_)


@MIXTURES
def test_one_document_and_one_word(info):
    one = small(info, 1, beta=1e-9).fit(np.array([[3, 1, 0]]))
    assert np.allclose(one.topic_word_, [[0.75, 0.25, 0]])
    single = small(info, 1).fit(np.array([[2], [5]]))
    assert np.allclose(single.doc_topic_, 1)


@ALL
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[1.0, np.nan], [1, 2]]), "NaN"),
        (np.array([[1.0, np.inf], [1, 2]]), "infinity"),
        (np.array([[1.0, -1.0], [1, 2]]), "Negative"),
        (np.zeros((4, 3)), "all 4 documents are empty"),
        (np.zeros((0, 3)), "0 sample"),
        (sp.csr_array(np.array([[1.0, -1.0], [1, 2]])), "Negative"),
        ([[date(2020, 1, 2), date(2021, 1, 2)]] * 3, "X holds values that are not numbers: .*date"),
    ],
)
def test_bad_input_is_a_clear_error(info, X, message):
    with pytest.raises(ValueError, match=message):
        small(info).fit(X)


@MIXTURES
@pytest.mark.parametrize("shape", [(2, 9), (9, 2)])
def test_more_topics_than_data_are_refused(info, shape):
    with pytest.raises(ValueError, match="n_topics=3 is more than"):
        small(info).fit(np.ones(shape))


@MIXTURES
def test_fractions_are_refused_where_tokens_are_needed(info, sampled):
    model = small(info).fit(sampled)
    with pytest.raises(ValueError, match=r"whole counts, but X contains 0\.5"):
        model.score(sampled * 0.5)


@ALL
def test_bad_parameters_are_named(info, sampled):
    bad = {**dict.fromkeys(info.sizes, 0), info.steps: 0, "tol": -1, "n_jobs": 0, "dtype": "int32", "init": "magic"}
    for name, value in bad.items():
        if name not in info.parameters():
            continue
        with pytest.raises(ValueError, match=name):
            small(info).set_params(**{name: value}).fit(sampled)


@ALL
def test_enormous_parameters_are_named(info, sampled):
    for name in ("smoothing", "focus", "alpha", "beta", "delta", "graph_weight", "seed_words"):
        if name in info.parameters():
            with pytest.raises(ValueError, match=name):
                small(info).set_params(**{name: 1e300}).fit(sampled)


@ALL
@pytest.mark.filterwarnings("default:topic .* is the largest topic:UserWarning")  # a target that no topic explains
def test_pipelines_clones_and_pandas_output(info, sampled):
    pandas = pytest.importorskip("pandas")
    from sklearn.linear_model import LogisticRegression

    target = np.asarray(sampled.sum(axis=1)) > 40
    pipeline = make_pipeline(small(info), LogisticRegression()).fit(sampled, target)
    assert pipeline.predict(sampled).shape == (400,)
    frame = small(info).set_output(transform="pandas").fit(sampled).transform(sampled)
    assert isinstance(frame, pandas.DataFrame)
    assert clone(small(info)).get_params() == small(info).get_params()


@ALL
def test_corpus_words_travel_with_the_model(info, tmp_path):
    texts = ["cat dog cat", "dog cat", "sun moon star", "moon star sun", "tree leaf", "leaf tree root"]
    corpus = Corpus.from_texts(texts, ids="abcdef")
    model = small(info).fit(corpus)
    model.save(tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    assert np.array_equal(loaded.transform(["the dog and the cat"]), model.transform(corpus.vectorize(["dog cat"])))
    assert loaded.document_ids_ == tuple("abcdef")
    other = Corpus.from_texts(["zebra cat dog", "cat"])
    assert np.allclose(loaded.transform(other), loaded.transform(["zebra cat dog", "cat"]))
    with pytest.raises(ValueError, match="no word in common"):
        loaded.transform(Corpus.from_texts(["zebra", "yak"]))
    with pytest.raises(ValueError, match="fitted on a matrix without words"):
        small(info, 2).fit(np.ones((3, 3))).transform(["cat"])
    with pytest.raises(ValueError, match="one string"):
        model.transform("cat")
    with pytest.raises(ValueError, match="one string"):
        small(info).fit("cat")
    assert np.array_equal(model.transform(np.array(["cat", "sun"])), model.transform(["cat", "sun"]))
    assert np.array_equal(model.transform(["cat", None])[1], model.transform([""])[0])
    assert model.transform([]).shape == (0, model.transform(["cat"]).shape[1])


TEXTS = ["cat dog cat", "the dog and a cat", "sun moon star", "moon star sun", "tree leaf", "leaf tree root"]


@ALL
@pytest.mark.parametrize("form", ["list", "tuple", "array", "pandas", "polars"])
def test_texts_are_fitted_as_a_corpus_of_them(info, form):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    forms = {"list": list, "tuple": tuple, "array": np.array, "pandas": pandas.Series, "polars": polars.Series}
    corpus = Corpus.from_texts(TEXTS)
    expected, found = small(info).fit(corpus), small(info).fit(forms[form](TEXTS))
    assert found.vocabulary_ == corpus.vocabulary
    assert found.document_ids_ == corpus.ids
    for name in ("topic_word_", "doc_topic_", "history_", "word_frequency_"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))
    assert np.array_equal(found.transform(["dog cat"]), expected.transform(["dog cat"]))
    assert np.array_equal(found.transform(forms[form](TEXTS)), expected.transform(corpus))


@ALL
@pytest.mark.filterwarnings("ignore:2 of 8 texts are empty:UserWarning")
def test_a_missing_text_is_an_empty_one(info):
    missing, empty = small(info).fit([*TEXTS, None, np.nan]), small(info).fit([*TEXTS, "", ""])
    assert np.array_equal(missing.topic_word_, empty.topic_word_)
    assert np.array_equal(missing.doc_topic_, empty.doc_topic_)


@ALL
@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_a_data_frame_with_text_is_told_how_to_become_a_corpus(info, form):
    frame = pytest.importorskip(form).DataFrame({"year": list(range(6)), "body": TEXTS})
    with pytest.raises(ValueError, match=r"""Corpus\.from_frame\(X, text="body"\)"""):
        small(info).fit(frame)
    with pytest.raises(ValueError, match=r"""Corpus\.from_frame\(X, text="body"\)"""):
        small(info).fit(TEXTS).transform(frame)


@ALL
def test_predict_gives_the_largest_topic_and_only_where_there_is_one(info, sampled):
    model = small(info)
    if not info.predicts:
        assert not hasattr(model, "predict")
        assert not hasattr(model, "fit_predict")
        loose, strict = (model.fit(sampled).memberships(sampled, threshold=least) for least in (0.1, 0.9))
        assert loose.dtype == strict.dtype == bool
        assert len(loose) == len(strict) == 400
        assert (strict <= loose).all()
        assert strict.sum() < loose.sum()
        return
    assert np.array_equal(model.fit_predict(sampled), model.doc_topic_.argmax(axis=1))
    found = model.predict(sampled)
    assert np.array_equal(found, model.transform(sampled).argmax(axis=1))
    assert found.shape == (400,)
    assert model.predict(sampled[[7]])[0] == found[7]


@ALL
@pytest.mark.filterwarnings("ignore:.*texts are empty:UserWarning")
def test_a_document_of_which_nothing_is_known_has_no_topic(info):
    if not info.predicts:
        pytest.skip("in several topics, or in none: see memberships")
    model = small(info).fit([*TEXTS, ""])
    assert model.fit_predict([*TEXTS, ""])[-1] == -1
    german = f"Die Nachbarn haben gestern Abend lange im Garten gesessen und geredet: {TEXTS[0].split()[0]}"
    predicted = model.predict(["", TEXTS[0], "xyzzy", german])
    assert predicted.tolist() == [-1, model.predict([TEXTS[0]])[0], -1, -1]  # in another language, and one known word
    assert predicted[1] >= 0
    assert model.rows_without_topics(["", TEXTS[0]]).tolist() == [0]
    counts = sp.csr_array(([2], ([1], [0])), (2, model.n_features_in_))
    assert (model.predict(counts) >= 0).tolist() == [False, True]


@ALL
def test_progress_is_shown_only_when_asked(info, sampled, capfd):
    small(info, verbose=None).fit(sampled)
    assert capfd.readouterr() == ("", "")
    small(info, verbose=True).fit(sampled)
    out, err = capfd.readouterr()
    assert out == ""
    assert "nats" in err


@pytest.mark.parametrize("info", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("scale", [5e-324, 1e-40, 1e-300, 1e30, 1e300])
def test_values_beyond_all_measure_are_refused(info, scale, blocks):
    """Denormal counts and weights of 1e300 are named; what is in range has a finite answer."""
    counts = blocks[0].toarray() * scale
    with pytest.raises(ValueError, match=r"X holds .*: expected counts or weights from 1e-09 to 1e\+12"):
        small(info).fit(counts)
    fitted = small(info).fit(blocks[0])
    with pytest.raises(ValueError, match="X holds"):
        fitted.transform(counts)
