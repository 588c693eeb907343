"""Texts in several columns: a title and a body, for example."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from topicfold import Corpus
from topicfold.corpus.readers import texts_with_ids
from topicfold.errors import InputError

ROWS = [
    {"id": "a", "title": "Fish", "lead": None, "body": "red and blue"},
    {"id": "b", "title": "", "lead": "Trees", "body": "green"},
    {"id": "c", "title": 1984, "lead": " ", "body": float("nan")},
    {"id": "d", "title": None, "lead": None, "body": "sun"},
]
JOINED = ("Fish\n\nred and blue", "Trees\n\ngreen", "1984", "sun")
NAMES = ["title", "lead", "body"]


def lines(rows):
    return "".join(
        json.dumps({key: None if value != value else value for key, value in row.items()}) + "\n" for row in rows
    )


def test_several_columns_are_joined_by_a_blank_line(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(lines(ROWS), encoding="utf-8")
    corpus = Corpus.read(path, text=NAMES, keep_texts=True)
    assert corpus.texts == JOINED
    assert Corpus.read(path, text=tuple(NAMES), keep_texts=True).texts == JOINED
    (batch,) = Corpus.batches(path, 10, text=NAMES, keep_texts=True)
    assert batch.texts == JOINED
    assert [text for _, text in texts_with_ids(ROWS, tuple(NAMES))] == list(JOINED)
    assert Corpus.read(path, text=NAMES, title="title").titles == ("Fish", "", "1984", "")
    on_disk = Corpus.read(path, text=NAMES, keep_texts=True, on_disk=tmp_path / "c.safetensors")
    assert tuple(on_disk.texts) == JOINED


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_a_frame(library):
    frame = pytest.importorskip(library).DataFrame({"title": ["Fish", None], "body": ["red", "green"]})
    assert Corpus.from_frame(frame, text=["title", "body"], keep_texts=True).texts == ("Fish\n\nred", "green")
    assert Corpus.from_frame(frame, text=["body"], keep_texts=True).texts == ("red", "green")
    with pytest.raises(InputError, match="the frame has no column 'lead'; its columns are: title, body"):
        Corpus.from_frame(frame, ["title", "lead"])


def test_columns_of_a_parquet_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"title": ["Fish", None], "body": ["red", "green"], "x": [1, 2]}).to_parquet(
        tmp_path / "t.parquet"
    )
    corpus = Corpus.read(tmp_path / "t.parquet", text=["title", "body"], keep_texts=True)
    assert corpus.texts == ("Fish\n\nred", "green")
    with pytest.raises(InputError, match="no column 'lead'"):
        Corpus.read(tmp_path / "t.parquet", text=["title", "lead"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ([], r"text=\[\]: expected the name of at least one column"),
        (["a", "a"], r"the column 'a' is named twice"),
        (["title", "nothing"], r"no column 'nothing'; its columns are: id, title, lead, body"),
        (["nothing", "title"], r"no column 'nothing'"),
        ([["title"], "body"], r"\['title'\] is not the name of a column"),
    ],
)
def test_columns_that_cannot_be_used(tmp_path, text, message):
    path = tmp_path / "t.jsonl"
    path.write_text(lines(ROWS), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        Corpus.read(path, text=text)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            ["red", "blue"],
            r"the column 'body' contains \['red', 'blue'\]: .* only a single text column may contain lists",
        ),
        ({"a": 1}, r"the column 'body' contains \{'a': 1\}: expected text"),
    ],
)
def test_cells_that_are_no_text(tmp_path, value, message):
    path = tmp_path / "t.jsonl"
    path.write_text(lines([*ROWS, {"id": "e", "title": "Fish", "lead": "", "body": value}]), encoding="utf-8")
    for options in ({}, {"segments": "given"}):
        with pytest.raises(InputError, match=message):
            Corpus.read(path, text=NAMES, **options)


def test_segments_of_several_columns(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(lines(ROWS[:1]), encoding="utf-8")
    corpus = Corpus.read(path, text=NAMES, segments="paragraphs")
    assert corpus.segments.counts.sum(axis=1).tolist() == [1, 2]


def test_names_with_a_comma(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(lines([{"title, body": "cat", "a, b": 1}, {"title, body": "dog", "a, b": 2}]), encoding="utf-8")
    corpus = Corpus.read(path, text="title, body", metadata=["a, b"])
    assert corpus.metadata["a, b"].tolist() == [1, 2]


def test_names_of_columns_may_be_numbers(tmp_path):
    frame = pd.DataFrame({0: ["red fish", "blue sea"], 1: ["a", "b"], 2: [3, 4]})
    corpus = Corpus.from_frame(frame, text=0, id=1, metadata=[2])
    corpus.save(tmp_path / "c")
    loaded = Corpus.load(tmp_path / "c")
    assert (loaded.ids, loaded.notes["columns"]) == (("a", "b"), {"text": "0", "id": "1", "metadata": ["2"]})


def test_limits_may_be_numbers_of_numpy(tmp_path):
    corpus = Corpus.from_texts(["red fish", "red sea"], min_df=np.int64(2), max_df=np.float32(1))
    corpus.save(tmp_path / "c")
    assert Corpus.load(tmp_path / "c").notes["min_df"] == 2


def test_batches_have_the_words_of_the_first_one(tmp_path):
    russian = "Новые законы о налогах приняты в городе и в стране этой весной, пишет газета номер"
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": f"{russian} {n}"}) + "\n" for n in range(63)), encoding="utf-8")
    batches = list(Corpus.batches(path, 30, max_df=1.0))
    assert [batch.preprocessing for batch in batches] == [batches[0].preprocessing] * 3
    assert batches[0].preprocessing.stemmer == "russian"
    assert len({batch.counts.sum() / len(batch) for batch in batches}) == 1
    for option in ({"language": "ru"}, {"unique": True}, {"on_disk": tmp_path / "c"}):
        with pytest.raises(InputError, match=next(iter(option))):
            next(Corpus.batches(path, 30, **option))
