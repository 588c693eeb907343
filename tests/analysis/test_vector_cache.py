"""The cache of `embed`: per text, after a kill, with damaged files, and used by two processes."""

import subprocess
import sys

import numpy as np
import pytest

from topicfold import FileError, InputError, embed
from topicfold.analysis import embedding

TEXTS = ["cat dog", "sun", "", "cat dog", "moon"]


class Lengths:
    """A model by name that counts the texts it is given."""

    def __init__(self, width=2):
        self.width, self.texts = width, []

    def __call__(self, texts):
        self.texts += texts
        return [[float(len(text))] * self.width for text in texts]


@pytest.fixture
def model(monkeypatch):
    lengths = Lengths()
    monkeypatch.setattr(embedding, "encoder_of", lambda name: lengths)
    return lengths


def files_in(folder):
    (place,) = folder.iterdir()
    return sorted(place.iterdir())


def test_a_new_text_costs_one_vector(model, tmp_path):
    first = embed(TEXTS, "some/model", cache=tmp_path)
    assert first[:, 0].tolist() == [7, 3, 0, 7, 4]
    assert model.texts == ["cat dog", "sun", "moon"]
    again = embed(["star", *TEXTS], "some/model", cache=tmp_path)
    assert model.texts[3:] == ["star"]
    assert np.array_equal(again[1:], first)
    assert len(files_in(tmp_path)) == 2
    embed(["sun"], "another/model", cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_nothing_is_loaded_if_all_vectors_are_there(model, tmp_path, monkeypatch):
    first = embed(TEXTS, "some/model", cache=tmp_path)
    monkeypatch.setattr(embedding, "encoder_of", lambda name: pytest.fail("the vectors were there"))
    assert np.array_equal(embed(TEXTS, "some/model", cache=tmp_path), first)


def test_a_kill_loses_one_batch_at_most(model, tmp_path, monkeypatch):
    monkeypatch.setattr(embedding, "_BATCH", 2)

    def dies(texts):
        if "star" in texts:
            raise KeyboardInterrupt
        return model(texts)

    with monkeypatch.context() as patch:
        patch.setattr(embedding, "encoder_of", lambda name: dies)
        with pytest.raises(KeyboardInterrupt):
            embed(["cat", "dog", "sun", "star"], "some/model", cache=tmp_path)
    embed(["cat", "dog", "sun", "star"], "some/model", cache=tmp_path)
    assert model.texts == ["cat", "dog", "sun", "star"]


@pytest.mark.parametrize(
    "damage", [lambda raw: raw[:-1], lambda raw: raw[:-9] + b"x" * 9, lambda raw: b"", bytes.upper]
)
def test_vectors_of_a_damaged_file_are_computed_again(model, tmp_path, damage):
    first = embed(TEXTS, "some/model", cache=tmp_path)
    (file,) = files_in(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.warns(
        UserWarning, match=r"its vectors are computed again; if you see this twice, delete the file$"
    ) as warned:
        assert np.array_equal(embed(TEXTS, "some/model", cache=tmp_path), first)
    assert str(file) in str(warned[0].message)
    assert len(model.texts) == 6
    assert np.array_equal(embed(TEXTS, "some/model", cache=tmp_path), first)  # the same name: written anew
    assert len(model.texts) == 6


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"vectors": np.full((1, 2), np.nan, np.float32)}, "contains NaN"),
        ({"vectors": np.ones((3, 2), np.float32)}, "has shape"),
        ({"vectors": np.ones((1, 2))}, "expected float32"),
        ({"vectors": np.ones((1, 0), np.float32)}, "without numbers"),
        ({"digests": np.ones((1, 5), np.uint8)}, "has shape"),
        ({"other": np.ones(2)}, "which is unknown"),
    ],
)
def test_files_with_other_contents(model, tmp_path, arrays, said):
    from topicfold.engine.store import write_file

    embed(["sun"], "some/model", cache=tmp_path)
    (file,) = files_in(tmp_path)
    whole = {"digests": np.ones((1, 16), np.uint8), "vectors": np.ones((1, 2), np.float32)}
    write_file(file.with_name("other.safetensors"), whole | arrays, {"kind": "embeddings"})
    with pytest.warns(UserWarning, match=said):
        assert embed(["sun"], "some/model", cache=tmp_path).tolist() == [[3, 3]]


def test_vectors_of_two_lengths(model, tmp_path):
    embed(["sun"], "some/model", cache=tmp_path)
    model.width = 3
    with pytest.raises(InputError, match="vectors of length 2 and 3: expected one length"):
        embed(["sun", "moon"], "some/model", cache=tmp_path)
    (place,) = tmp_path.iterdir()
    embed(["star"], "another/model", cache=tmp_path)
    (other,) = set(tmp_path.iterdir()) - {place}
    (file,) = other.iterdir()
    file.rename(place / file.name)
    with pytest.raises(FileError, match=r"has vectors of length 2 and 3: delete this folder"):
        embed(["sun"], "some/model", cache=tmp_path)


def test_a_file_where_the_folder_should_be(model, tmp_path):
    embed(["sun"], "some/model", cache=tmp_path)
    (place,) = tmp_path.iterdir()
    files_in(tmp_path)[0].unlink()
    place.rmdir()
    place.write_text("x")
    with pytest.raises(FileError, match="cannot be made"):
        embed(["sun"], "some/model", cache=tmp_path)


def test_two_processes_use_one_cache(tmp_path):
    code = (
        "import sys\nfrom topicfold import embed\nfrom topicfold.analysis import embedding\n"
        "embedding._BATCH = 1\nembedding.encoder_of = lambda name: lambda texts: [[float(len(t))] for t in texts]\n"
        "v = embed([str(n) * n for n in range(1, 40)], 'some/model', cache=sys.argv[1])\n"
        "assert v[:, 0].tolist() == list(range(1, 10)) + [2 * n for n in range(10, 40)]\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert len(files_in(tmp_path)) == 39
