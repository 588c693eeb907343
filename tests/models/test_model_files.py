"""Files of every model: what a file says is looked at before a kernel sees it, and damage is told by its checksum."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from safetensors.numpy import load_file

from topicfold import Corpus, FileError, TopicfoldError, load
from topicfold.engine.store import read_file, write_file
from topicfold.engine.stored import Stored, check_stored
from topicfold.models import MODELS

DAMAGED = r"damaged|not a topicfold file"
EVERY = pytest.mark.parametrize("name", [*MODELS, "LTM on embeddings", "TTMM of labels"])


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    words = np.array(["cat", "dog", "cow", "sun", "moon", "star", "bread", "cheese", "apple"]).reshape(3, 3)
    texts = [
        " ".join(rng.choice(words[number % 3], 8)) + "\n\n" + " ".join(rng.choice(words.ravel(), 3))
        for number in range(30)
    ]
    return Corpus.from_texts(texts, segments="paragraphs", titles=[f"Title {number}" for number in range(30)])


@pytest.fixture(scope="module")
def files(corpus, tmp_path_factory):
    """A file of each model, as it is written, by name."""
    folder, found = tmp_path_factory.mktemp("models"), {}
    embeddings = np.random.default_rng(0).normal(size=(30, 4))
    for name in [*MODELS, "LTM on embeddings", "TTMM of labels"]:
        info = MODELS[name.split()[0]]
        parameters = {"n_sweeps": 20, "burn_in": 10, "lag": 2, "n_chains": 2} if info.steps == "n_sweeps" else {}
        if info.name in ("LTM", "LapPLSI"):
            parameters["graph_weight"] = 1.0
        if name == "TTMM of labels":
            parameters["n_themes"] = "labels"
        model = info.make(3, **{"random_state": 0, "verbose": False, **parameters})
        more = {"embeddings": embeddings} if "embeddings" in name else {}
        labels = [["a", "b", "c"][number % 3] for number in range(30)]
        model.fit(corpus, **({"y": labels} if "labels" in name else more))
        found[name] = folder / f"{name}.safetensors"
        model.save(found[name])
    return found


def rewrite(path, arrays, metadata):
    """A file with right checksums."""
    write_file(path, arrays, {key: value for key, value in metadata.items() if key != "checksums"})


def without(key, arrays, metadata):
    """Arrays and metadata of a file without a value."""
    values = {other: entry for other, entry in metadata["values"].items() if other != key}
    parts = {name: array for name, array in arrays.items() if name.partition(".")[0] != key}
    return parts, {**metadata, "values": values}


def loaded_or_refused(path, corpus, embeddings=None):
    """Whether a file is loaded; then what it gives is finite. Else the error is a FileError that names the file."""
    try:
        model = load(path)
    except FileError as error:
        message = str(error)
    else:
        message = ""
    if message:
        assert str(path) in message
        assert "\n" not in message
        return False
    more = {} if embeddings is None else {"embeddings": embeddings}
    assert np.isfinite(model.transform(corpus.counts, **more)).all()
    return True


@EVERY
def test_everything_learned_is_declared(name, files):
    info = MODELS[name.split()[0]]
    model = load(files[name])
    learned = {key for key in vars(model) if key.endswith("_") and not key.startswith("_")}
    assert learned <= set(info.load().stored())


@EVERY
def test_a_value_that_is_missing_is_named(name, files, tmp_path):
    arrays, metadata = load_file(files[name]), read_file(files[name], kind="model")[1]
    stored = MODELS[name.split()[0]].load().stored()
    for key in metadata["values"]:
        if ":" in key or stored[key].may_be_missing:
            continue
        rewrite(tmp_path / "m", *without(key, arrays, metadata))
        with pytest.raises(ValueError, match=f"m is damaged or not a topicfold file: it has no {key}"):
            load(tmp_path / "m")


@EVERY
def test_arrays_of_another_type_shape_or_range_do_not_reach_a_kernel(name, files, corpus, tmp_path):
    arrays, metadata = load_file(files[name]), read_file(files[name], kind="model")[1]
    embeddings = np.random.default_rng(0).normal(size=(30, 4)) if "embeddings" in name else None
    refused = 0
    for key, array in arrays.items():
        wrong = [array[:-1], array.ravel()[:1], np.concatenate([array, array]), array[:0], array.T, array[::-1]]
        if array.dtype.kind == "f":
            wrong += [
                array * 0 - 1,
                array * 0 + array.dtype.type(1e30),
                array * np.nan,
                np.zeros(array.shape, np.int64),
            ]
        elif array.itemsize > 1:
            wrong += [array - 10, array + 10**6, array * 0 + np.iinfo(array.dtype).max, array.astype(np.float64)]
        for other in wrong:
            rewrite(tmp_path / "m", {**arrays, key: other}, metadata)
            refused += not loaded_or_refused(tmp_path / "m", corpus, embeddings)
    assert refused > 3 * len(arrays)


@EVERY
def test_unsigned_numbers_of_64_bits_are_refused(name, files, corpus, tmp_path):
    """A kernel would add them to signed ones as floats, which are no index."""
    arrays, metadata = read_file(files[name], kind="model")
    whole = [key for key, array in arrays.items() if array.dtype == np.int64 and key in vars(load(files[name]))]
    for key in whole:
        rewrite(tmp_path / "m.safetensors", {**arrays, key: arrays[key].astype(np.uint64)}, metadata)
        with pytest.raises(ValueError, match=f"its {key} is of type uint64: expected signed numbers"):
            load(tmp_path / "m.safetensors")


@EVERY
def test_a_file_may_lack_either_count_of_documents(name, files, corpus, tmp_path):
    arrays, metadata = read_file(files[name], kind="model")
    for key in ("word_documents_", "topic_documents_"):
        if key in arrays:
            rewrite(tmp_path / "m.safetensors", *without(key, arrays, metadata))
            assert load(tmp_path / "m.safetensors").topic_tree(corpus).word_presence is None


@EVERY
def test_single_values_are_checked(name, files, corpus, tmp_path):
    arrays, metadata = load_file(files[name]), read_file(files[name], kind="model")[1]
    embeddings = np.random.default_rng(0).normal(size=(30, 4)) if "embeddings" in name else None
    singles = [key for key, entry in metadata["values"].items() if entry["is"] == "value" and ":" not in key]
    for key in singles:
        for value in (-5, 10**9, 0.5, float("nan"), "much", [1], {"a": 1}, True):
            values = {**metadata["values"], key: {"is": "value", "value": value}}
            rewrite(tmp_path / "m", arrays, {**metadata, "values": values})
            loaded_or_refused(tmp_path / "m", corpus, embeddings)


@EVERY
def test_a_flipped_bit_is_noticed(name, files, tmp_path):
    whole, rng = files[name].read_bytes(), np.random.default_rng(0)
    for place in rng.integers(len(whole) * 8, size=150):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << (place % 8)
        (tmp_path / "m").write_bytes(damaged)
        with pytest.raises(ValueError, match=DAMAGED):
            load(tmp_path / "m")


@EVERY
def test_an_array_that_no_value_uses_is_refused(name, files, tmp_path):
    arrays, metadata = load_file(files[name]), read_file(files[name], kind="model")[1]
    rewrite(tmp_path / "m", {**arrays, "padding": np.zeros(9)}, metadata)
    with pytest.raises(FileError, match="it contains the array 'padding', which is unknown"):
        load(tmp_path / "m")


def test_the_sizes_of_arrays_have_to_agree():
    declared = {"a_": Stored(("x", "y")), "b_": Stored(("y",), "int", low=0, high="x"), "c_": Stored(("x",), "strings")}
    right = {"a_": np.zeros((2, 3)), "b_": np.array([0, 1, 1]), "c_": ("p", "q")}
    check_stored(right, declared)
    for key, value, message in (
        ("b_", np.zeros(3), "its b_ is not an array of whole numbers"),
        ("b_", np.array([0, 1]), r"its b_ has shape \(2,\): expected 3 \(y\)"),
        ("b_", np.array([0, 1, 2]), r"its b_ contains 2: expected less than 2 \(x\)"),
        ("b_", np.array([0, -1, 1]), "its b_ contains -1: expected at least 0"),
        ("a_", np.full((2, 3), np.inf), "its a_ contains NaN or infinity"),
        ("c_", ("p",), r"its c_ has shape \(1,\): expected 2 \(x\)"),
        ("c_", "pq", "its c_ is not a list of strings"),
        ("d_", 1, "it contains 'd_', which is unknown"),
        ("a_", None, "its a_ is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            check_stored({**right, key: value}, declared)


def test_exact_types_known_sizes_and_sizes_that_come_twice():
    declared = {"a_": Stored(("x", "x")), "b_": Stored(("x",), "int", dtype="int32"), "c_": Stored(kind="mapping")}
    right = {"a_": np.zeros((2, 2)), "b_": np.zeros(2, np.int32), "c_": {}}
    check_stored(right, declared, {"x": 2})
    with pytest.raises(ValueError, match=r"its a_ has shape \(2, 2\): expected 3 \(x\) x 3 \(x\)"):
        check_stored(right, declared, {"x": 3})
    for key, value, message in (
        ("a_", np.zeros((2, 3)), r"its a_ has shape \(2, 3\)"),
        ("a_", np.zeros((2, 2), np.float16), "its a_ is of type float16: expected float32 or float64"),
        ("b_", np.zeros(2, np.int64), "its b_ is of type int64: expected int32"),
        ("c_", [], r"its c_ is \[\]: expected a mapping"),
    ):
        with pytest.raises(ValueError, match=message):
            check_stored({**right, key: value}, declared)


def test_parameters_and_sums_of_a_file_are_checked(files, tmp_path):
    arrays, metadata = load_file(files["TTMM"]), read_file(files["TTMM"], kind="model")[1]
    values = {**metadata["values"], "parameter:beta": {"is": "value", "value": "much"}}
    rewrite(tmp_path / "m", arrays, {**metadata, "values": values})
    with pytest.raises(ValueError, match="m is damaged or not a topicfold file: beta='much'"):
        load(tmp_path / "m")
    rewrite(tmp_path / "m", {**arrays, "topic_word_": arrays["topic_word_"] * np.float32(1e-40)}, metadata)
    with pytest.raises(ValueError, match="its topic_word_ has probabilities that sum to"):
        load(tmp_path / "m")
    arrays, metadata = load_file(files["TTMM of labels"]), read_file(files["TTMM of labels"], kind="model")[1]
    rewrite(tmp_path / "m", *without("classes_", arrays, metadata))
    with pytest.raises(ValueError, match="it has no classes_"):
        load(tmp_path / "m")


@EVERY
@pytest.mark.parametrize("factor", [0.66, 2.0])
def test_distributions_that_do_not_sum_to_one_are_refused(name, factor, files, tmp_path):
    arrays, metadata = load_file(files[name]), read_file(files[name], kind="model")[1]
    declared = MODELS[name.split()[0]].load().stored()
    for key in [key for key, stored in declared.items() if stored.sum_to_one and key in arrays and arrays[key].size]:
        scaled = (arrays[key] * factor).astype(arrays[key].dtype)
        rewrite(tmp_path / "m", {**arrays, key: scaled}, metadata)
        with pytest.raises(FileError, match=f"its {key} (contains .*: expected at most|has probabilities that sum to)"):
            load(tmp_path / "m")


def test_ldcc_needs_an_alpha_above_zero(files, tmp_path):
    arrays, metadata = load_file(files["LDCC"]), read_file(files["LDCC"], kind="model")[1]
    rewrite(tmp_path / "m", {**arrays, "alpha_": np.zeros_like(arrays["alpha_"])}, metadata)
    with pytest.raises(FileError, match="document-topics without any alpha above zero"):
        load(tmp_path / "m")


@pytest.mark.parametrize("method", ["_prepare", "_check_learned", "check_parameters", "__init__"])
@pytest.mark.parametrize("bug", [TypeError, ValueError, KeyError])
def test_a_mistake_in_the_code_of_a_model_is_not_blamed_on_its_file(files, monkeypatch, method, bug):
    def mistake(self, **_):
        raise bug("a mistake of ours")

    monkeypatch.setattr(MODELS["PLSA"].load(), method, mistake)
    with pytest.raises(bug, match="a mistake of ours") as raised:
        load(files["PLSA"])
    assert not isinstance(raised.value, TopicfoldError)
    assert raised.traceback[-1].name == "mistake"


@EVERY
def test_a_parameter_of_any_kind_is_taken_or_refused_by_name(name, files, corpus, tmp_path):
    arrays, metadata = read_file(files[name], kind="model")
    for key in [key for key in metadata["values"] if key.startswith("parameter:")]:
        for value in (None, True, -5, 10**400, float("nan"), "much", [["a"]], {"a": 1}):
            values = {**metadata["values"], key: {"is": "value", "value": value}}
            rewrite(tmp_path / "m", arrays, {**metadata, "values": values})
            with contextlib.suppress(FileError):
                load(tmp_path / "m")
