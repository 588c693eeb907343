from __future__ import annotations

import csv
import gzip
import json
import os
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import mmwrite
from sklearn.datasets import dump_svmlight_file

from topicfold import Corpus, FileError, InputError
from topicfold.corpus.columns import Columns
from topicfold.corpus.readers import FileOptions, frame_records, records

ROWS = [
    {"id": "a", "text": "cat dog, cat", "head": "A", "kind": "x;y", "to": "b", "when": "2001-01-01"},
    {"id": "b", "text": 'sun "moon"\n\ncat', "head": "B", "kind": "x", "to": "", "when": ""},
]
COLUMNS = {"title": "head", "labels": "kind", "links": "to", "timestamp": "when", "separator": ";"}
DENSE = np.array([[2, 0, 1], [0, 3, 0]])
# some texts are empty on purpose; that this is said is a test of its own
pytestmark = pytest.mark.filterwarnings("ignore:[0-9,]+ of [0-9,]+ texts are empty:UserWarning")


def check(corpus):
    assert corpus.ids == ("a", "b")
    assert corpus.vocabulary == ("cat", "dog", "moon", "sun")
    assert corpus.counts.toarray().tolist() == [[2, 1, 0, 0], [1, 0, 1, 1]]
    assert corpus.titles == ("A", "B")
    assert corpus.labels == (("x", "y"), ("x",))
    assert corpus.links.tolist() == [[0, 1]]
    assert str(corpus.timestamps[0]).startswith("2001")
    assert np.isnat(corpus.timestamps[1])


def write_csv(path, rows=ROWS, opener=open, delimiter=",", **options):
    with opener(path, "wt", encoding="utf-8", newline="", **options) as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_jsonl(path, rows=ROWS, opener=open):
    with opener(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return path


def test_csv_tsv_jsonl_plain_and_gzipped(tmp_path):
    check(Corpus.read(write_csv(tmp_path / "a.csv"), **COLUMNS))
    check(Corpus.read(write_csv(tmp_path / "a.tsv", delimiter="\t"), **COLUMNS))
    for delimiter in (";", "\t", "|"):
        check(Corpus.read(write_csv(tmp_path / "spreadsheet.csv", delimiter=delimiter), **COLUMNS))
    check(Corpus.read(write_jsonl(tmp_path / "a.jsonl"), **COLUMNS))
    check(Corpus.read(write_csv(tmp_path / "a.csv.gz", opener=gzip.open), **COLUMNS))
    check(Corpus.read(write_jsonl(tmp_path / "a.jsonl.gz", opener=gzip.open), **COLUMNS))
    check(Corpus.read(write_jsonl(tmp_path / "odd.name"), format="jsonl", **COLUMNS))


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    check(Corpus.read(tmp_path / "a.parquet", **COLUMNS))
    (tmp_path / "b.parquet").write_text("not parquet")
    with pytest.raises(ValueError, match="not a Parquet file"):
        Corpus.read(tmp_path / "b.parquet")


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").touch()
    with pytest.raises(ImportError, match=r"topicfold\[parquet\]"):
        Corpus.read(tmp_path / "a.parquet")


def test_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for frame in (pandas.DataFrame(ROWS), polars.DataFrame(ROWS)):
        check(Corpus.from_frame(frame, **{**COLUMNS, "id": "id"}))
    missing = pandas.DataFrame({"text": ["cat", None], "label": ["x", float("nan")]})
    corpus = Corpus.from_frame(missing, labels="label")
    assert corpus.labels == (("x",), ())
    with pytest.raises(ValueError, match="not a data frame"):
        list(frame_records([1, 2], Columns()))


def test_a_folder_of_files(tmp_path):
    for name, text in (("x/one.txt", "cat dog"), ("y/two.txt", "sun"), ("y/readme.md", "no")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    corpus = Corpus.read(tmp_path, labels="folder")
    assert corpus.ids == ("x/one.txt", "y/two.txt")
    assert corpus.labels == (("x",), ("y",))
    assert len(Corpus.read(tmp_path, pattern="*")) == 3
    with pytest.raises(ValueError, match="no file that matches"):
        Corpus.read(tmp_path, pattern="*.rst")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_may_not_be_read(tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(PermissionError, match="closed"):
        Corpus.read(tmp_path)


def test_a_folder_that_fails_is_not_passed_over(tmp_path, monkeypatch):
    def scandir(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(PermissionError, match="Permission denied"):
        Corpus.read(tmp_path)


def check_counts(corpus, words=("w1", "w2", "w3")):
    assert corpus.counts.toarray().tolist() == DENSE.tolist()
    assert corpus.vocabulary == words


def test_matrix_formats(tmp_path):
    (tmp_path / "vocab.txt").write_text("w1\nw2\nw3\n")
    mmwrite(tmp_path / "m.mtx", sp.coo_array(DENSE))
    check_counts(Corpus.read(tmp_path / "m.mtx"))
    (tmp_path / "m.mtx.gz").write_bytes(gzip.compress((tmp_path / "m.mtx").read_bytes()))
    check_counts(Corpus.read(tmp_path / "m.mtx.gz"))
    sp.save_npz(tmp_path / "m.npz", sp.csr_matrix(DENSE))
    check_counts(Corpus.read(tmp_path / "m.npz"))
    (tmp_path / "m.ldac").write_text("2 0:2 2:1\n1 1:3\n")
    check_counts(Corpus.read(tmp_path / "m.ldac"))
    (tmp_path / "docword.m.txt").write_text("2\n3\n3\n1 1 2\n1 3 1\n2 2 3\n")
    check_counts(Corpus.read(tmp_path / "docword.m.txt"))
    (tmp_path / "vocab.m.txt").write_text("u1\nu2\nu3\n")
    check_counts(Corpus.read(tmp_path / "docword.m.txt"), ("u1", "u2", "u3"))
    dump_svmlight_file(sp.csr_matrix(DENSE), [1, -1], str(tmp_path / "m.svm"))
    corpus = Corpus.read(tmp_path / "m.svm")
    check_counts(corpus)
    assert corpus.labels == (("1",), ("-1",))
    (tmp_path / "vocab.txt").unlink()
    check_counts(Corpus.read(tmp_path / "m.npz", vocabulary=["a", "b", "c"]), ("a", "b", "c"))
    assert Corpus.read(tmp_path / "m.npz").vocabulary is None


def test_words_no_document_uses_widen_the_matrix(tmp_path):
    (tmp_path / "m.ldac").write_text("1 0:2\n")
    (tmp_path / "m.vocab").write_text("a\nb\n")
    assert Corpus.read(tmp_path / "m.ldac").counts.toarray().tolist() == [[2, 0]]


def test_a_saved_corpus_is_an_input_too(tmp_path):
    Corpus.from_texts(["cat dog"]).save(tmp_path / "c.safetensors")
    assert Corpus.read(tmp_path / "c.safetensors").vocabulary == ("cat", "dog")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "empty: expected a first line"),
        ("a.csv", b"\nhi,1\n", "empty: expected a first line"),
        ("a.dta", b"x", "read it with pandas, and pass the data frame to Corpus.from_frame"),
        ("a.csv", b"body,id\nhi,1\n", r"no column 'text'; its columns are: body, id"),
        ("a.csv", b"body;id\nhi, you;1\n", r"no column 'text'; its columns are: body, id"),
        ("a.csv", b'"body, all";id\nhi, you;1\n', r"no column 'text'; its columns are: body, all, id"),
        ("a.csv", b"body;a,id\nhi,1\n", r"no column 'text'; its columns are: body;a, id"),
        ("a.csv", b"body\nhi;1\n", r"no column 'text'; its columns are: body"),
        ("a.csv", b"what; and why\nhi\n", r"no column 'text'; its columns are: what; and why"),
        ("a.csv", b"id,text\n1,cat\n2\n", "line 3 has 1 cells: expected 2"),
        ("a.csv", b'id,text\n1,"cat\n2,dog\n', "a quote that is not closed"),
        ("a.csv", b"text,text\ncat,dog\n", "more than one column 'text'"),
        ("a.csv", b"id,text\r1,cat\r", "is not CSV"),
        ("a.jsonl", b'{"id": 1, "text": "cat"}\n{"text": "dog"}\n', "no column 'id'"),
        ("a.jsonl", b'{"id": null, "text": "cat"}\n', "document 0 has no id"),
        ("a.jsonl", b'{"text": 5}\n', "text 0 is 5: expected a string"),
        ("a.jsonl", b"[" * 100_000, "line 1 is not JSON"),
        ("a.jsonl.gz", gzip.compress(b'{"text": "cat"}\n' * 999, mtime=0)[:20] + b"xxxx", "not a complete gzip file"),
        ("a.ldac", b"1 -5:3\n", "a term is not a number from 0"),
        ("a.csv", b"id,text\n1,cat\n2,caf\xe9\n", "line 3 is not utf-8: byte 0xe9"),
        ("a.jsonl", b'{"text": "cat"}\n{"text": \n', "line 2 is not JSON"),
        ("a.jsonl", b'{"text": "cat"}\n{"txt": "dog"}\n', "no column 'text'; its columns are: txt"),
        ("a.jsonl", b'["cat"]\n', "line 1 is not a JSON object"),
        ("a.jsonl", b'{"text": "\xff"}\n', "line 1 is not utf-8"),
        ("a.jsonl", b"", "the corpus is empty"),
        ("a.jsonl.gz", b"plain", "not a complete gzip file"),
        ("a.jsonl.gz", gzip.compress(b'{"text": "cat"}\n' * 999, mtime=0)[:-9], "not a complete gzip file"),
        ("a.mtx", b"rubbish", "not a Matrix Market file"),
        ("a.npz", b"rubbish", "not a scipy sparse .npz file"),
        ("a.svm", b"1 a:b\n", "not a SVMlight file"),
        ("a.ldac", b"2 0:1\n", "line 1 is not LDA-C.*declares 2 terms and has 1"),
        ("a.ldac", b"1 x\n", "line 1 is not LDA-C"),
        ("docword.a.txt", b"1\n1\n5\n1 1 1\n", "declares 5 lines"),
        ("docword.a.txt", b"1\n1\n1\n2 1 1\n", "outside 1..1"),
        ("a.unknown", b"", "cannot infer the format"),
        ("a.safetensors", b"rubbish", "damaged or not a topicfold file"),
    ],
)
def test_bad_files_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        Corpus.read(tmp_path / name)


def test_broken_bytes_can_be_replaced_or_decoded(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbftext\ncaf\xe9 cat\n")
    assert "cat" in Corpus.read(tmp_path / "a.csv", errors="replace").vocabulary
    (tmp_path / "b.csv").write_bytes(b"text\ncaf\xe9 cat\n")
    assert Corpus.read(tmp_path / "b.csv", encoding="latin-1").vocabulary == ("café", "cat")


def test_wide_encodings_and_unknown_ones(tmp_path):
    (tmp_path / "a.csv").write_bytes("text\ncat dog\nsun\n".encode("utf-16"))
    assert Corpus.read(tmp_path / "a.csv", encoding="utf-16").vocabulary == ("cat", "dog", "sun")
    with pytest.raises(InputError, match="klingon"):
        Corpus.read(tmp_path / "a.csv", encoding="klingon")


def test_a_saved_corpus_takes_no_options(tmp_path):
    Corpus.from_texts(["cat dog"]).save(tmp_path / "c.safetensors")
    with pytest.raises(ValueError, match="leave out min_df"):
        Corpus.read(tmp_path / "c.safetensors", min_df=2)


def test_only_the_named_columns_of_a_frame_are_touched():
    pandas = pytest.importorskip("pandas")

    class Costly:
        def __iter__(self):
            raise AssertionError("not named")

    frame = pandas.DataFrame({"text": ["cat", "dog"], "label": [1, 2], "other": [Costly(), Costly()]})
    assert Corpus.from_frame(frame, labels="label").labels == (("1",), ("2",))
    with pytest.raises(ValueError, match="no column 'x'; its columns are: text, label, other"):
        Corpus.from_frame(frame, title="x")


def test_gaps_in_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "text": pandas.array(["cat", pandas.NA, "dog"], dtype="string"),
            "number": [1.0, 2.0, 3.0],
            "label": [1.0, float("nan"), 2.0],
            "to": [2.0, float("nan"), 1.0],
            "when": pandas.to_datetime(["2001-01-02", None, "2003-01-01"]),
        }
    )
    names = {"id": "number", "labels": "label", "links": "to", "timestamp": "when"}
    corpus = Corpus.from_frame(frame, **names)
    assert corpus.ids == ("1", "2", "3")
    assert corpus.labels == (("1",), (), ("2",))
    assert corpus.links.tolist() == [[0, 1], [2, 0]]
    assert np.isnat(corpus.timestamps).tolist() == [False, True, False]


def test_missing_files_and_unknown_options(tmp_path):
    with pytest.raises(FileError, match="no such file or folder"):
        Corpus.read(tmp_path / "nothing.csv")
    path = write_csv(tmp_path / "a.csv")
    with pytest.raises(TypeError, match="unexpected keyword argument 'stopwords'"):
        Corpus.read(path, stopwords="english")
    with pytest.raises(ValueError, match="no column 'author'"):
        Corpus.read(path, labels="author")
    with pytest.raises(ValueError, match="format='word'"):
        Corpus.read(path, format="word")
    (tmp_path / "x.npz").touch()
    with pytest.raises(ValueError, match="contains counts, not texts"):
        records(tmp_path / "x.npz", FileOptions())


def test_options_of_preprocessing_may_be_given_one_by_one(tmp_path):
    path = write_csv(tmp_path / "a.csv")
    corpus = Corpus.read(path, stemmer="english", ngrams=(1, 2), stop_words=None)
    assert corpus.preprocessing.stemmer == "english"
    with pytest.raises(ValueError, match="not both"):
        Corpus.read(path, stemmer="english", preprocessing=corpus.preprocessing)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40), min_size=1))
def test_any_text_reads_the_same_from_every_format(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("any")
    rows = [{"id": str(number), "text": text} for number, text in enumerate([*texts, "anchor"])]
    expected = Corpus.from_texts([row["text"] for row in rows])
    for path in (write_csv(folder / "a.csv", rows), write_jsonl(folder / "a.jsonl", rows)):
        corpus = Corpus.read(path)
        assert corpus.vocabulary == expected.vocabulary
        assert corpus.counts.toarray().tolist() == expected.counts.toarray().tolist()
