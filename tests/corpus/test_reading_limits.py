"""Files that ask for too much, end early, or are no files at all: an answer, or one line that says why not."""

from __future__ import annotations

import gzip
import os
import time

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import Corpus, ReadLimits
from topicfold.engine.store import read_file
from topicfold.graph.files import read_graph


def refused(path, **options):
    """The one line with which a file is refused."""
    with pytest.raises((ValueError, OSError)) as error:
        Corpus.read(path, **options)
    message = str(error.value)
    assert path.name in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.csv.gz", "a.tsv"])
def test_a_line_that_never_ends(tmp_path, name):
    content = (b"text\n" if "jsonl" not in name else b"") + b"a" * 2_000_000
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    number = 1 if "jsonl" in name else 2
    assert f"line {number} is longer than 1,000,000 bytes; the limit 'line'" in refused(
        tmp_path / name, limits=ReadLimits(line=1_000_000)
    )


def test_a_cell_over_many_lines_has_the_limit_of_a_line(tmp_path):
    (tmp_path / "a.csv").write_text('text\n"' + "cat dog\n" * 1000 + '"\n')
    assert len(Corpus.read(tmp_path / "a.csv")) == 1
    assert "field larger than field limit" in refused(tmp_path / "a.csv", limits=ReadLimits(line=5000))


def test_a_file_that_grows_without_end_on_unpacking(tmp_path):
    line = b'{"text": "' + b"ab " * 3333 + b'"}\n'
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(line * 8000))  # 80 MB
    assert "more than 50 times as large uncompressed" in refused(
        tmp_path / "a.jsonl.gz", limits=ReadLimits(expansion=50)
    )
    assert len(Corpus.read(tmp_path / "a.jsonl.gz", limits=ReadLimits(expansion=5000))) == 8000


def test_many_columns_are_no_trouble_and_too_many_are_said(tmp_path):
    names = [f"c{number}" for number in range(100_000)]
    (tmp_path / "a.csv").write_text(",".join(["text", *names]) + "\n" + ",".join(["cat dog"] * 100_001) + "\n")
    before = time.process_time()
    assert len(Corpus.read(tmp_path / "a.csv")) == 1
    assert time.process_time() - before < 30  # it was quadratic: minutes
    assert "100,001 columns" in refused(tmp_path / "a.csv", limits=ReadLimits(columns=1000))
    (tmp_path / "b.csv").write_text(",".join(["text", *names, "c5"]) + "\n")
    assert "more than one column 'c5'" in refused(tmp_path / "b.csv")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_encodings_and_ends_of_lines(tmp_path, encoding, end):
    text = end.join(["id,text", 'a,"café dog"', "b,sun moon", ""])
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    corpus = Corpus.read(tmp_path / "a.csv", encoding="utf-8" if encoding == "utf-8-sig" else encoding)
    assert corpus.ids == ("a", "b")
    assert corpus.vocabulary == ("café", "dog", "moon", "sun")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode(encoding)))
    assert Corpus.read(tmp_path / "a.csv.gz", encoding=encoding).ids == ("a", "b")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_long_lines_across_blocks_come_back_whole(tmp_path, encoding):
    words = [f"word{number} " * 60_000 for number in range(5)]
    (tmp_path / "a.csv").write_text("text\n" + "\n".join(words) + "\n", encoding=encoding)
    corpus = Corpus.read(tmp_path / "a.csv", encoding=encoding)
    assert corpus.counts.sum() == 300_000
    assert len(corpus) == 5


def test_bytes_that_are_not_in_a_wide_encoding(tmp_path):
    (tmp_path / "a.csv").write_bytes("text\ncat\n".encode("utf-16") + b"\x00\xd8\x00")
    assert "is not utf-16" in refused(tmp_path / "a.csv", encoding="utf-16")
    (tmp_path / "b.csv").write_bytes(b"text\ncat\n")
    assert refused(tmp_path / "b.csv", encoding="utf-32")
    with pytest.raises(ValueError, match="rot13"):
        Corpus.read(tmp_path / "b.csv", encoding="rot13")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz", "docword.a.txt.gz", "a.ldac.gz", "a.mtx.gz", "a.svm.gz"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_compressed_files_that_end_early(tmp_path, name, encoding):
    packed = gzip.compress(os.urandom(20_000))
    for damaged in (packed[:-9], packed[:100], b"\x1f\x8b", b"no gzip"):
        (tmp_path / name).write_bytes(damaged)
        assert "not a complete gzip file" in refused(tmp_path / name, encoding=encoding)


def test_sizes_that_a_header_promises(tmp_path):
    (tmp_path / "docword.a.txt").write_text("2147483647\n5\n0\n")
    assert "the limit 'size'" in refused(tmp_path / "docword.a.txt")
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n2147483647 9 1\n1 1 1\n")
    assert "the limit 'size'" in refused(tmp_path / "a.mtx")
    (tmp_path / "b.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n9 9 99999999999999\n1 1 1\n")
    assert "the limit 'memory'" in refused(tmp_path / "b.mtx")
    (tmp_path / "a.svm").write_text("1 2147483646:1\n")
    assert "the limit 'size'" in refused(tmp_path / "a.svm")
    (tmp_path / "a.ldac").write_text("1 99999999999999999999:1\n")
    assert refused(tmp_path / "a.ldac")


def test_matrix_market_files_that_are_none(tmp_path):
    for content, message in (
        ("a,b\n" * 50, "does not begin with %%MatrixMarket"),
        ("", "does not begin with"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", "of type 'coordinate complex general'"),
        ("%%MatrixMarket matrix coordinate integer general\n", "does not give its size"),
        ("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n", "a decimal point"),
        ("%%MatrixMarket matrix coordinate integer general\n2 2 1\n5 5 1\n", "not a Matrix Market file"),
        ("%%MatrixMarket matrix coordinate integer general\n2 2 9\n1 1 1\n", "not a Matrix Market file"),
    ):
        (tmp_path / "a.mtx").write_text(content)
        assert message in refused(tmp_path / "a.mtx")
        (tmp_path / "a.mtx.gz").write_bytes(gzip.compress(content.encode()))
        assert message in refused(tmp_path / "a.mtx.gz")
    good = "%%MatrixMarket matrix coordinate integer general\n% a comment\n2 3 2\n1 1 4\n2 3 1\n"
    (tmp_path / "a.mtx.gz").write_bytes(gzip.compress(good.encode()))
    assert Corpus.read(tmp_path / "a.mtx.gz").counts.toarray().tolist() == [[4, 0, 0], [0, 0, 1]]


def test_crafted_npz_files(tmp_path):
    def npz(**parts):
        whole = {"format": np.array(b"csr"), "shape": np.array([2, 3]), "data": np.ones(1), "indices": np.zeros(1, int)}
        np.savez(tmp_path / "a.npz", **{**whole, "indptr": np.array([0, 1, 1]), **parts})

    npz()
    assert Corpus.read(tmp_path / "a.npz").counts.sum() == 1
    for parts in (
        {"indptr": np.array([0, 10**9, 0])},
        {"indices": np.array([99])},
        {"indices": np.array([-1])},
        {"data": np.ones(1, complex)},
        {"data": np.array(["2001-01-01"], "datetime64[D]")},
        {"shape": np.array([2**40, 3])},
        {"format": np.array(b"csc"), "indices": np.array([7]), "indptr": np.array([0, 1, 1, 1])},
        {"format": np.array(b"magic")},
        {"data": np.full(1, np.nan)},
        {"data": np.full(1, 0.5)},
        {"data": np.full(1, -1.0)},
    ):
        npz(**parts)
        with pytest.raises(ValueError):
            Corpus.read(tmp_path / "a.npz")
        with pytest.raises(ValueError):
            read_graph(tmp_path / "a.npz", ["a", "b"])
    sp.save_npz(tmp_path / "b.npz", sp.csr_array(np.eye(3)))
    whole = (tmp_path / "b.npz").read_bytes()
    (tmp_path / "b.npz").write_bytes(whole[:-40])
    assert refused(tmp_path / "b.npz")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
def test_special_files_are_not_waited_on(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    assert "is a FIFO" in refused(tmp_path / "a.csv")
    for name in ("a.mtx", "a.npz", "docword.a.txt", "a.parquet", "m.safetensors"):
        os.mkfifo(tmp_path / name)
        assert refused(tmp_path / name)
    with pytest.raises(ValueError, match="not a regular file"):
        read_file(tmp_path / "m.safetensors", kind="model")
    with pytest.raises(ValueError, match="is a FIFO"):
        read_graph(tmp_path / "a.csv", ["a"])
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(folder / "b.txt")
    with pytest.raises(ValueError, match=r"b\.txt is a FIFO"):
        Corpus.read(folder)
    with pytest.raises(ValueError, match="device or socket"):
        Corpus.read("/dev/null", format="csv")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
def test_a_fifo_whose_format_is_named_is_read(tmp_path):
    import threading

    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_text("text\ncat dog\nsun\n"))
    writer.start()
    assert len(Corpus.read(tmp_path / "pipe", format="csv")) == 2
    writer.join()


def test_a_text_that_is_too_long(tmp_path):
    (tmp_path / "a.txt").write_text("cat " * 1000)
    with pytest.raises(ValueError, match=r"a\.txt is longer than 100 bytes"):
        Corpus.read(tmp_path, limits=ReadLimits(line=100))


@pytest.mark.parametrize(
    ("name", "value"), [("line", 0), ("line", 1.5), ("expansion", 0), ("memory", -1), ("size", "1")]
)
def test_bad_limits_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        ReadLimits(**{name: value})


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
def test_every_form_of_sparse_matrix_is_read_the_same(form):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.7, (6, 4))
    assert np.array_equal(Corpus.from_counts(sp.csr_array(counts).asformat(form)).counts.toarray(), counts)


def test_sparse_matrices_whose_parts_do_not_fit():
    diagonals = sp.dia_array((np.ones((13, 40)), np.arange(13)), shape=(40, 40))
    diagonals.offsets = diagonals.offsets[:12]
    with pytest.raises(ValueError, match="diagonals and offsets"):
        Corpus.from_counts(diagonals)
    rows = sp.lil_array((2, 3))
    rows.rows[0], rows.data[0] = [5], [1.0]
    with pytest.raises(ValueError, match="indices from 5 to 5"):
        Corpus.from_counts(rows)
    rows.rows[0] = [0, 1]
    with pytest.raises(ValueError, match="different numbers of columns and values"):
        Corpus.from_counts(rows)


def test_blocks_of_no_columns_are_refused():
    matrix = sp.bsr_array(np.eye(4), blocksize=(2, 2))
    matrix.data = np.zeros((len(matrix.indices), 2, 0))
    with pytest.raises(ValueError, match=r"blocks of shape \(2, 0\): expected at least one row and column"):
        Corpus.from_counts(matrix)


def test_names_of_columns_with_line_breaks_are_said_in_one_line(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('id,"a\n\nname"\n1,2\n')
    with pytest.raises(ValueError, match=r"has no column 'text'; its columns are: id, a name$"):
        Corpus.read(path)
