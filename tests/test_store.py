from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from corpus_cases import full
from topicfold import PLSA, Corpus, FileError, Preprocessing, TopicTree, load
from topicfold.engine.store import SCHEMA, check_writable, read_file, remove_left_over, write_file

# some texts are empty on purpose; that this is said is a test of its own
pytestmark = pytest.mark.filterwarnings("ignore:[0-9,]+ of [0-9,]+ texts are empty:UserWarning")


def fitted():
    corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon sun sun"], ids="abcd")
    return PLSA(2, random_state=0, verbose=False).fit(corpus)


def same(first, second):
    for name in vars(first):
        ours, theirs = getattr(first, name), getattr(second, name)
        if isinstance(ours, np.ndarray):
            assert ours.dtype == theirs.dtype
            assert np.array_equal(ours, theirs, equal_nan=ours.dtype.kind in "fM")
        elif name == "counts":
            assert (ours != theirs).nnz == 0
        elif name == "segments" and ours is not None:
            assert (ours.counts != theirs.counts).nnz == 0
            assert np.array_equal(ours.documents, theirs.documents)
        elif name == "wording_" and ours is not None:
            assert ours.to_json() == theirs.to_json()
        else:
            assert ours == theirs, name


def test_a_model_comes_back_whole(tmp_path):
    model = fitted()
    model.save(tmp_path / "m.safetensors")
    same(model, load(tmp_path / "m.safetensors"))
    frame = pytest.importorskip("pandas").DataFrame({"a": [1, 2, 0], "b": [0, 1, 3]})
    on_frame = PLSA(2, init=np.array([[1.0, 2], [2, 1]]), verbose=False).fit(frame)
    on_frame.save(tmp_path / "f.safetensors")
    loaded = load(tmp_path / "f.safetensors")
    assert loaded.feature_names_in_.tolist() == ["a", "b"]
    assert loaded.init.tolist() == [[1.0, 2], [2, 1]]
    assert np.array_equal(loaded.transform(frame), on_frame.transform(frame))


def test_a_corpus_comes_back_whole(tmp_path):
    for corpus in (full(), Corpus.from_counts([[1, 0], [0, 2]]), Corpus.from_texts(["cat"])):
        corpus.save(tmp_path / "c.safetensors")
        same(corpus, Corpus.load(tmp_path / "c.safetensors"))


def cut(text):
    return text.split("|")


def test_a_tokenizer_of_ones_own_is_asked_for_again(tmp_path):
    corpus = Corpus.from_texts(["cat|dog", "sun|moon", "dog|cat"], preprocessing=Preprocessing(tokenizer=cut))
    model = PLSA(2, random_state=0, verbose=False).fit(corpus)
    expected = model.transform(["dog|cat"])
    model.save(tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    assert np.array_equal(loaded.transform(corpus.counts), model.transform(corpus.counts))
    with pytest.raises(ValueError, match=r"tokenizer test_store:cut.*load\(path, tokenizer=cut\)"):
        loaded.transform(["dog|cat"])
    assert np.array_equal(load(tmp_path / "m.safetensors", tokenizer=cut).transform(["dog|cat"]), expected)
    corpus.save(tmp_path / "c.safetensors")
    with pytest.raises(ValueError, match="pass it again"):
        Corpus.load(tmp_path / "c.safetensors").vectorize(["dog"])
    assert Corpus.load(tmp_path / "c.safetensors", tokenizer=cut).vectorize(["dog|sun"]).sum() == 2


def test_metadata_says_what_made_it(tmp_path):
    fitted().save(tmp_path / "m.safetensors")
    _, metadata = read_file(tmp_path / "m.safetensors", kind="model")
    assert metadata["class"] == "PLSA"
    assert metadata["schema"] == SCHEMA
    assert metadata["version"]
    assert set(metadata["libraries"]) == {"python", "numpy", "scipy", "scikit-learn", "numba"}


def broken_files(folder):
    fitted().save(folder / "whole.safetensors")
    whole = (folder / "whole.safetensors").read_bytes()
    yield "truncated", whole[:-50], "damaged or not a topicfold file"
    yield "cut header", whole[:40], "damaged or not a topicfold file"
    yield "empty", b"", "damaged or not a topicfold file"
    yield "pickle", b"\x80\x04cos\nsystem\n.", "damaged or not a topicfold file"
    yield "header without meaning", whole.replace(b"schema", b"schemo", 1), "is damaged: .* its checksum"
    save_file({"x": np.zeros(2)}, folder / "foreign.safetensors")
    yield "foreign", (folder / "foreign.safetensors").read_bytes(), "not a topicfold file"
    header = json.dumps({"schema": SCHEMA, "version": "0.1.0", "kind": "model"})
    save_file({"x": np.zeros(2)}, folder / "unsigned.safetensors", {"topicfold": header})
    yield "no checksum", (folder / "unsigned.safetensors").read_bytes(), "its header does not match its checksum"
    write_file(folder / "newer.safetensors", {}, {"schema": SCHEMA + 1, "version": "9.9", "kind": "model"})
    yield "newer", (folder / "newer.safetensors").read_bytes(), r"topicfold 9\.9 .*upgrade topicfold"
    _, metadata = read_file(folder / "whole.safetensors", kind="model")
    arrays = load_file(folder / "whole.safetensors")
    values = metadata["values"]
    hostile = {
        "no values": {**metadata, "values": {}},
        "values of another kind": {**metadata, "values": 5},
        "a method replaced": {**metadata, "values": {**values, "transform": {"is": "value", "value": 1}}},
        "an array that is not there": {**metadata, "values": {**values, "history_": {"is": "sparse", "shape": [1, 1]}}},
        "an unknown parameter": {**metadata, "values": {**values, "parameter:magic": {"is": "value", "value": 1}}},
        "an entry without a kind": {**metadata, "values": {**values, "n_iter_": {}}},
    }
    for header in hostile.values():
        del header["checksums"]
    for name, header in hostile.items():
        write_file(folder / "hostile.safetensors", arrays, header)
        yield name, (folder / "hostile.safetensors").read_bytes(), "damaged or not a topicfold file"
    del metadata["checksums"]
    for name, key, array in (
        ("topics that are not numbers", "topic_word_", arrays["topic_word_"] * np.float32("nan")),
        ("topics of another shape", "topic_word_", arrays["topic_word_"][:, :2].copy()),
        ("strings beyond their bytes", "vocabulary_.ends", arrays["vocabulary_.ends"] + 1000),
        ("strings in disorder", "vocabulary_.ends", arrays["vocabulary_.ends"][::-1].copy()),
    ):
        write_file(folder / "hostile.safetensors", {**arrays, key: array}, metadata)
        yield name, (folder / "hostile.safetensors").read_bytes(), "damaged or not a topicfold file"
    write_file(folder / "alien.safetensors", {"x": np.zeros(2)}, {"kind": "model", "class": "os.system"})
    yield "unknown class", (folder / "alien.safetensors").read_bytes(), "os.system"
    Corpus.from_texts(["cat"]).save(folder / "corpus.safetensors")
    yield "corpus", (folder / "corpus.safetensors").read_bytes(), "contains a corpus: expected a model"


def test_broken_and_foreign_files_are_one_clear_error(tmp_path):
    for name, content, message in broken_files(tmp_path):
        path = tmp_path / f"{name}.bad"
        path.write_bytes(content)
        with pytest.raises(FileError, match=message):
            load(path)
    with pytest.raises(FileError, match="no such file"):
        load(tmp_path / "nothing")
    with pytest.raises(FileError, match="is a folder"):
        load(tmp_path)


def test_parameters_of_every_kind_come_back(tmp_path):
    corpus = Corpus.from_texts(["cat dog cat", "dog cat", "sun moon", "moon sun sun"])
    for seeds in ({0: ["cat"]}, {np.int64(0): np.array(["cat"])}, [["cat"], ["sun"]]):
        model = PLSA(2, seed_words=seeds, dtype=np.dtype("float32"), random_state=0, verbose=False).fit(corpus)
        model.save(tmp_path / "m")
        loaded = load(tmp_path / "m")
        assert (loaded.seed_words == {0: ["cat"]}) or (loaded.seed_words == [["cat"], ["sun"]])
        assert np.array_equal(loaded.fit(corpus).topic_word_, model.topic_word_)
    with pytest.raises(ValueError, match="cannot be written"):
        PLSA(2, verbose=object()).fit(corpus).save(tmp_path / "m")


def test_a_kill_while_a_folder_is_tried_leaves_what_the_next_save_removes(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("os.rmdir", lambda _: None)
        patched.setattr("os.getpid", lambda: 2**30)  # a process that has ended
        check_writable(tmp_path / "m")
    assert len(list(tmp_path.iterdir())) == 1
    remove_left_over(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_save_left_is_removed_by_the_next(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = [tmp_path / f".m.{ended.pid}.abc.tmp", tmp_path / ".m.abc.tmp"]
    kept = [tmp_path / f".m.{os.getpid()}.abc.tmp", tmp_path / ".other.abc.tmp", tmp_path / ".m.txt"]
    for folder in (*left, *kept):
        folder.mkdir()
    left.append(tmp_path / f".m.{ended.pid}.def.tmp")
    left[-1].mkdir()
    (left[-1] / ".tmpAbCdEf").write_text("as safetensors names what it writes")
    write_file(tmp_path / "m", {}, {"kind": "test"})
    assert not any(file.exists() for file in left)
    assert all(file.exists() for file in kept)
    assert sorted(tmp_path.iterdir()) == sorted([*kept, tmp_path / "m"])


def test_a_flipped_bit_in_a_corpus_or_checkpoint_is_noticed(tmp_path):
    full().save(tmp_path / "corpus")
    write_file(
        tmp_path / "checkpoint", {"state": np.arange(50.0)}, {"kind": "checkpoint", "fingerprint": "", "notes": {}}
    )
    rng = np.random.default_rng(0)
    for name in ("corpus", "checkpoint"):
        whole = (tmp_path / name).read_bytes()
        for place in rng.integers(len(whole) * 8, size=300):
            damaged = bytearray(whole)
            damaged[place // 8] ^= 1 << (place % 8)
            (tmp_path / "damaged").write_bytes(damaged)
            with pytest.raises(ValueError, match=r"damaged|not a topicfold file|contains a"):
                read_file(tmp_path / "damaged", kind=name)


def test_saving_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_file(tmp_path / "link", {}, {"kind": "test"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").exists()


def test_what_cannot_be_saved(tmp_path):
    from topicfold.baselines import NMF

    with pytest.raises(ValueError, match="not one of topicfold's models"):
        NMF().save(tmp_path / "m")
    with pytest.raises(ValueError, match="not fitted"):
        PLSA().save(tmp_path / "m")
    with pytest.raises(FileError, match="does not exist"):
        fitted().save(tmp_path / "no" / "folder" / "m")


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on file sizes there")
def test_a_full_disk_leaves_the_old_file(tmp_path):
    write_file(tmp_path / "m", {"x": np.arange(3)}, {"kind": "test"})
    code = """
        import resource, signal, sys, numpy
        from topicfold.engine.store import write_file
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            write_file(sys.argv[1] + "/m", {"x": numpy.zeros(10**6)}, {"kind": "test"})
        except OSError as error:
            print("refused:", error)
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], check=True, capture_output=True, text=True
    )
    assert "refused:" in ran.stdout
    arrays, _ = read_file(tmp_path / "m", kind="test")
    assert arrays["x"].tolist() == [0, 1, 2]
    assert os.listdir(tmp_path) == ["m"]


def test_scalars_strided_arrays_and_odd_strings_survive(tmp_path):
    strided = np.arange(12).reshape(3, 4).T[::2]
    write_file(tmp_path / "m", {"s": strided, "zero": np.array(1.5), "none": np.zeros((0, 3))}, {"kind": "test"})
    arrays, _ = read_file(tmp_path / "m", kind="test")
    assert np.array_equal(arrays["s"], strided)
    assert arrays["zero"].shape == ()
    assert arrays["none"].shape == (0, 3)
    corpus = Corpus.from_texts(["cat"], titles=["\ud800 lone \0 <script>"], keep_texts=True)
    corpus.save(tmp_path / "c")
    assert Corpus.load(tmp_path / "c").titles == corpus.titles


@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_only_a_regular_file_is_replaced(tmp_path, kind):
    place = tmp_path / "place"
    os.mkfifo(place) if kind == "fifo" else place.mkdir()
    with pytest.raises(FileError, match="name a file to write"):
        fitted().save(place)
    assert place.is_fifo() or place.is_dir()


@pytest.mark.parametrize("kind", ["model", "tree"])
def test_a_file_larger_than_the_memory_is_refused(kind, tmp_path, monkeypatch):
    model = PLSA(2, random_state=0).fit(["cat dog", "sun moon"])
    (model if kind == "model" else model.topic_tree()).save(tmp_path / "file")
    monkeypatch.setattr("topicfold.engine.store.machine_memory", lambda: 1000)
    with pytest.raises(FileError, match="this machine has a memory of"):
        (load if kind == "model" else TopicTree.load)(tmp_path / "file")


def test_a_mapped_array_between_values_is_refused(tmp_path):
    content = np.arange(4.0)
    write_file(tmp_path / "file", {"a": content}, {"kind": "corpus"})
    whole = (tmp_path / "file").read_bytes()
    room = int.from_bytes(whole[:8], "little")
    (tmp_path / "file").write_bytes(
        (room + 4).to_bytes(8, "little") + whole[8 : 8 + room] + b"    " + whole[8 + room :]
    )
    assert read_file(tmp_path / "file", kind="corpus")[0]["a"].tolist() == content.tolist()
    with pytest.raises(FileError, match=r"'a' is at byte .*, between values"):
        read_file(tmp_path / "file", kind="corpus", memory_map=True)
