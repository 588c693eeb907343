"""Files of trees and corpora whose checksums are right and whose contents do not fit: refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.small_models import small_corpus, small_model
from topicfold import Corpus, FileError, TopicTree
from topicfold.engine.store import read_file, write_file


@pytest.fixture(scope="module")
def corpus():
    return small_corpus(30)


@pytest.fixture(scope="module")
def content(corpus, tmp_path_factory):
    """Arrays and metadata of a tree with edges and of a corpus."""
    folder = tmp_path_factory.mktemp("files")
    small_model("LDCC").fit(corpus).topic_tree(corpus).save(folder / "tree")
    corpus.save(folder / "corpus")
    return {kind: read_file(folder / kind, kind=kind) for kind in ("tree", "corpus")}


def refused(load, path, arrays, metadata, message):
    """The file is refused in one line that names it."""
    write_file(path, arrays, {key: value for key, value in metadata.items() if key != "checksums"})
    with pytest.raises(FileError, match=message) as error:
        load(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def with_value(metadata, value, *way):
    """A copy of the metadata with another value at a place."""
    copied = json.loads(json.dumps(metadata))
    holder = copied
    for key in way[:-1]:
        holder = holder[key]
    holder[way[-1]] = value
    return copied


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("ids", lambda ids: ids - 1, "its ids contains -1"),
        ("ids", lambda ids: ids * 0, "an id occurs more than once"),
        ("ids", lambda ids: ids + 2**62, "its ids contains"),
        ("parent", lambda parent: parent * 0 + 99, "the parent of a topic is not in the tree"),
        ("parent", lambda parent: np.roll(np.arange(len(parent)), 1), "its own ancestor"),
        ("level", lambda level: level * 0, "its level contains 0"),
        ("size", lambda size: size * np.nan, "its size contains NaN or infinity"),
        ("doc_topic", lambda rows: rows[1:], "its document_ids has shape"),
        ("edges_above", lambda ids: ids + 50, "an edge refers to a topic that is not in the tree"),
        ("edges_below", lambda ids: ids.astype(float), "its edges_below is not an array of whole numbers"),
        ("edges_weight", lambda weight: weight[None], "its edges_weight has shape"),
    ],
)
def test_arrays_of_a_tree(content, tmp_path, name, change, message):
    arrays, metadata = content["tree"]
    refused(TopicTree.load, tmp_path / "t", {**arrays, name: change(arrays[name])}, metadata, message)


@pytest.mark.parametrize(
    ("way", "value", "message"),
    [
        (("names",), {"is": "mapping", "value": [[0, ["a"]]]}, "an entry of its names is invalid: 0 ->"),
        (("names",), {"is": "value", "value": 3}, "its names is 3: expected a mapping"),
        (("mapping",), {"is": "mapping", "value": [[10**30, 0]]}, "an entry of its mapping is invalid: 1000"),
        (("mapping",), {"is": "mapping", "value": [[0, "x"]]}, "an entry of its mapping is invalid: 0 -> 'x'"),
        (("level_names",), {"is": "mapping", "value": [["a", "b"]]}, "an entry of its level_names is invalid: 'a'"),
        (("exclusive",), {"is": "value", "value": 0.5}, "expected true or false"),
        (("summary", "value", "n_iter"), "much", "its n_iter is 'much'"),
        (("summary", "value", "history"), [[1, 2]], "its history has shape"),
        (("summary", "value", "settings"), {"a": 1}, "its settings are not all strings"),
        (("summary", "value", "settings"), [], "its settings is"),
    ],
)
def test_json_of_a_tree(content, tmp_path, way, value, message):
    arrays, metadata = content["tree"]
    refused(TopicTree.load, tmp_path / "t", arrays, with_value(metadata, value, "values", *way), message)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("segment_documents", lambda rows: rows + 1, "its segment_documents contains 30"),
        ("segment_documents", lambda rows: rows[1:], "its segment_documents has shape"),
        ("links", lambda links: links[:, :1], "its links has shape"),
        ("links", lambda links: links + 1, "its links contains 30"),
        ("label_counts", lambda counts: counts * 2, "it has 30 labels: expected 60"),
        ("counts.data", lambda data: -data, "its counts contains"),
        ("timestamps", lambda moments: moments.astype(float), "its timestamps is not an array of whole numbers"),
    ],
)
def test_arrays_of_a_corpus(content, tmp_path, name, change, message):
    arrays, metadata = content["corpus"]
    refused(Corpus.load, tmp_path / "c", {**arrays, name: change(arrays[name])}, metadata, message)


def test_json_of_a_corpus(content, tmp_path):
    arrays, metadata = content["corpus"]
    for field, value in (("stop_words", [1]), ("ngrams", [1, 1e300]), ("token_pattern", 5), ("stemmer", "x")):
        changed = with_value(metadata, value, "values", "preprocessing", "value", field)
        refused(Corpus.load, tmp_path / "c", arrays, changed, "damaged or not a topicfold file")
    changed = with_value(metadata, "value", "values", "preprocessing", "is")
    refused(Corpus.load, tmp_path / "c", arrays, changed, "its preprocessing is .*: expected an object")
