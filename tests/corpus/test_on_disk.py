from __future__ import annotations

import csv
import subprocess
import sys
import textwrap
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from topicfold import HLTA, LDA, PLSA, TTMM, Corpus, FileError, load
from topicfold.corpus import counted_chunks
from topicfold.corpus.corpus import Segments
from topicfold.engine.store import written_by_one

COLUMNS = {"id": "id", "title": "title", "labels": "label", "timestamp": "day", "metadata": ["size"]}


def rows_of(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    words = [f"word{number}" for number in range(60)]
    for number in range(n_rows):
        first = 30 * int(rng.integers(2))
        text = " ".join(rng.choice(words[first : first + 30], size=int(rng.integers(0, 25))))
        label = ["", "red", "blue"][int(rng.integers(3))]
        yield [f"d{number}", text, f"Title {number}", label, f"2020-01-{1 + number % 28:02d}", number % 7]


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "text", "title", "label", "day", "size"])
        table.writerows(rows)
    return path


@pytest.fixture
def table(tmp_path):
    return write(tmp_path / "table.csv", rows_of(400))


def same(one, two):
    assert (one.counts != two.counts).nnz == 0
    assert one.vocabulary == two.vocabulary
    for name in ("ids", "titles", "texts"):
        left, right = getattr(one, name), getattr(two, name)
        assert (left is None) == (right is None)
        assert left is None or list(left) == list(right)
    assert list(one.labels) == list(two.labels)
    assert np.array_equal(one.timestamps, two.timestamps)
    assert {name: list(values) for name, values in one.metadata.items()} == {
        name: list(values) for name, values in two.metadata.items()
    }


@pytest.mark.filterwarnings("ignore:.*texts are empty")
@pytest.mark.parametrize("options", [{}, {"keep_texts": True, "min_df": 3, "max_df": 0.2}, {"vocabulary": ["word3"]}])
def test_a_corpus_on_disk_is_the_one_in_memory(table, tmp_path, options):
    in_memory = Corpus.read(table, **COLUMNS, **options)
    on_disk = Corpus.read(table, **COLUMNS, **options, on_disk=tmp_path / "big.safetensors")
    assert on_disk.on_disk
    assert not in_memory.on_disk
    same(in_memory, on_disk)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.safetensors", "table.csv"]
    (tmp_path / "big.safetensors").rename(tmp_path / "moved.safetensors")
    same(in_memory, Corpus.load(tmp_path / "moved.safetensors", memory_map=True))
    same(in_memory, Corpus.load(tmp_path / "moved.safetensors", memory_map=False))
    assert Corpus.load(tmp_path / "moved.safetensors").counts.dtype == np.int32  # small: in memory


@pytest.mark.filterwarnings("ignore:.*texts are empty")
@pytest.mark.parametrize("model", [PLSA, LDA, partial(TTMM, 4)])
def test_a_fit_on_disk_has_the_same_bits(table, tmp_path, model):
    in_memory = Corpus.read(table, **COLUMNS)
    on_disk = Corpus.read(table, **COLUMNS, on_disk=tmp_path / "big.safetensors")
    one, two = (model(3, random_state=0, max_iter=20).fit(corpus) for corpus in (in_memory, on_disk))
    for name in ("topic_word_", "doc_topic_", "topic_weight_", "history_"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    assert one.score(in_memory) == two.score(on_disk)
    assert np.array_equal(one.transform(in_memory), two.transform(on_disk))
    assert one._is_fitted_on(on_disk)
    assert two._is_fitted_on(in_memory)
    two.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert np.array_equal(again.doc_topic_, two.doc_topic_)
    assert again.document_ids_ == in_memory.ids
    assert two.topic_tree(on_disk).titles[3] == "Title 3"


@pytest.mark.filterwarnings("ignore:.*texts are empty")
def test_a_killed_fit_on_disk_resumes_to_the_same_bits(table, tmp_path, monkeypatch):
    corpus = Corpus.read(table, **COLUMNS, on_disk=tmp_path / "big.safetensors")
    options = {"random_state": 0, "max_iter": 12, "tol": 0}
    whole = PLSA(3, **options).fit(corpus)
    monkeypatch.setattr("topicfold.engine.loop.CHECKPOINT_SECONDS", 0)
    from topicfold.models.em import plsa_kernels

    calls = []

    class Fragile(plsa_kernels.EMStep):
        def __call__(self, *arguments):
            calls.append(1)
            if len(calls) == 7:
                raise ZeroDivisionError
            return super().__call__(*arguments)

    monkeypatch.setattr(plsa_kernels, "EMStep", Fragile)
    with pytest.raises(ZeroDivisionError):
        PLSA(3, checkpoint=tmp_path / "point", **options).fit(corpus)
    resumed = PLSA(3, checkpoint=tmp_path / "point", **options).fit(corpus)
    assert np.array_equal(whole.doc_topic_, resumed.doc_topic_)
    assert len(calls) == 13


@pytest.mark.filterwarnings("ignore:.*texts are empty")
def test_several_files_are_one_corpus(table, tmp_path):
    rows = list(rows_of(400))
    parts = [write(tmp_path / f"part-{number}.csv", rows[100 * number : 100 * number + 100]) for number in range(4)]
    whole = Corpus.read(table, **COLUMNS, keep_texts=True)
    same(whole, Corpus.read(parts, **COLUMNS, keep_texts=True))
    same(whole, Corpus.read(str(tmp_path / "part-*.csv"), **COLUMNS, keep_texts=True))
    with pytest.raises(FileError, match=r"no file matches .*other-\*\.csv"):
        Corpus.read(str(tmp_path / "other-*.csv"))
    with pytest.raises(ValueError, match="the list of files is empty"):
        Corpus.read([])
    whole.save(tmp_path / "saved.safetensors")
    with pytest.raises(ValueError, match="2 files with format 'safetensors': expected texts"):
        Corpus.read([tmp_path / "saved.safetensors", tmp_path / "saved.safetensors"])
    parts[2].write_text("id,other\n1,2\n")
    with pytest.raises(ValueError, match="has no column 'text'"):
        Corpus.read(parts)


@pytest.mark.filterwarnings("ignore:.*texts are empty")
@pytest.mark.parametrize("options", [{"keep_texts": True}, {"segments": 5}, {"vocabulary": ["word3", "word40"]}])
def test_processes_count_what_one_process_counts(table, monkeypatch, options):
    alone = Corpus.read(table, **COLUMNS, **options)
    monkeypatch.setattr(counted_chunks, "_CHUNK", 500)
    monkeypatch.setattr(counted_chunks, "_ALONE", 2)
    together = Corpus.read(table, **COLUMNS, **options, n_jobs=2)
    same(alone, together)
    if alone.segments is not None:
        assert (alone.segments.counts != together.segments.counts).nnz == 0
        assert np.array_equal(alone.segments.documents, together.segments.documents)


def test_a_text_that_is_none_is_named_whoever_counts(table, monkeypatch):
    monkeypatch.setattr(counted_chunks, "_CHUNK", 10)
    monkeypatch.setattr(counted_chunks, "_ALONE", 2)
    with pytest.raises(ValueError, match="text 9 is 5: expected a string"):
        Corpus.from_texts([*["a few words"] * 9, 5])


def test_what_cannot_be_on_disk_is_said(table, tmp_path):
    with pytest.raises(ValueError, match="segments are kept in memory"):
        Corpus.read(table, segments=5, on_disk=tmp_path / "big.safetensors")
    with pytest.raises(FileError, match="does not exist"):
        Corpus.read(table, on_disk=tmp_path / "no" / "big.safetensors")
    np.savez(tmp_path / "counts.npz")
    with pytest.raises(ValueError, match="on_disk with format 'npz': expected texts"):
        Corpus.read(tmp_path / "counts.npz", on_disk=tmp_path / "big.safetensors")
    assert not (tmp_path / "big.safetensors").exists()


@pytest.mark.filterwarnings("ignore:.*texts are empty")
def test_a_damaged_corpus_on_disk_is_refused(table, tmp_path):
    path = tmp_path / "big.safetensors"
    Corpus.read(table, **COLUMNS, on_disk=path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(ValueError, match=r"big\.safetensors is damaged"):
        Corpus.load(path, memory_map=True)
    path.write_bytes(whole[:-100] + bytes(100))
    with pytest.raises(ValueError, match="does not match its checksum"):
        Corpus.load(path, memory_map=True)


def falling(ends, place):
    """Ends as unsigned numbers, one of them far too large: the difference to the next one is not negative."""
    ends = ends.astype(np.uint64)
    ends[place] = 2**40
    return ends


def overflowing(ends):
    """Ends that rise by 2**63 - 1 three times: all differences of 64 bits are positive."""
    ends = ends.astype(np.int64)
    ends[1:4] = 2**63 - 1, -(2**63), -1
    return ends


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("counts.indices", lambda values: values + 1000, "a matrix with columns"),
        ("counts.indices", lambda values: values[::-1].copy(), "not in order"),
        ("counts.data", lambda values: -values, "not whole numbers above zero"),
        ("counts.data", lambda values: values + 0.5, "not whole numbers above zero"),
        ("counts.data", lambda values: values[:-1].copy(), "do not fit each other"),
        ("counts.indptr", lambda values: values[::-1].copy(), "do not fit each other"),
        ("counts.indptr", lambda values: falling(values, 1), "do not fit each other"),
        ("counts.indptr", lambda values: overflowing(values), "do not fit each other"),
        ("titles.ends", lambda values: overflowing(values), "strings do not fit"),
        ("titles.ends", lambda values: values[::-1].copy(), "strings do not fit"),
        ("label_counts", lambda values: values + 1, "it has 276 labels: expected 676"),
        ("ids.bytes", lambda values: np.where(values == ord("2"), ord("1"), values), "occurs more than once"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*texts are empty")
def test_crafted_contents_are_refused(table, tmp_path, name, change, message):
    from topicfold.engine.store import read_file, write_file

    path = tmp_path / "big.safetensors"
    Corpus.read(table, **COLUMNS, on_disk=path)
    arrays, metadata = read_file(path, kind="corpus")
    arrays[name] = change(arrays[name])
    about = {key: metadata[key] for key in ("kind", "values", "dates", "notes")}
    write_file(path, arrays, about)
    with pytest.raises(ValueError, match=message):
        Corpus.load(path, memory_map=True)


def test_two_processes_do_not_write_one_corpus(table, tmp_path):
    path = tmp_path / "big.safetensors"
    with written_by_one(path), pytest.raises(FileError, match="is being written by another process"):
        Corpus.read(table, on_disk=path)
    assert not (tmp_path / ".big.safetensors.lock").exists()


@pytest.mark.parametrize("content", ["", "1", "999999999", "nonsense"])
def test_a_lock_that_its_owner_has_left_does_not_block(content, tmp_path):
    (tmp_path / ".big.safetensors.lock").write_text(content)
    with written_by_one(tmp_path / "big.safetensors"):
        pass
    assert not (tmp_path / ".big.safetensors.lock").exists()


def test_a_lock_dies_with_its_owner(tmp_path):
    path = tmp_path / "big.safetensors"
    code = """
        import sys, time
        from topicfold.engine.store import written_by_one
        with written_by_one(sys.argv[1]):
            print("locked", flush=True)
            time.sleep(60)
    """
    owner = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), str(path)], stdout=subprocess.PIPE)
    assert owner.stdout.readline().strip() == b"locked"
    with pytest.raises(FileError, match="is being written by another process"), written_by_one(path):
        pass
    owner.kill()
    owner.wait()
    owner.stdout.close()
    with written_by_one(path):
        pass
    assert not (tmp_path / ".big.safetensors.lock").exists()


def test_counts_beyond_float32_stay_whole(tmp_path):
    corpus = Corpus.from_counts([[2**24 + 1, 0], [1, 3]], ["a", "b"])
    corpus.save(tmp_path / "corpus.safetensors")
    for memory_map in (False, True):
        found = Corpus.load(tmp_path / "corpus.safetensors", memory_map=memory_map)
        assert found.counts.toarray().tolist() == [[2**24 + 1, 0], [1, 3]]


@pytest.mark.filterwarnings("ignore:.*texts are empty")
def test_a_tree_of_a_corpus_on_disk_has_the_same_bits(table, tmp_path):
    in_memory = Corpus.read(table, **COLUMNS)
    on_disk = Corpus.read(table, **COLUMNS, on_disk=tmp_path / "big.safetensors")
    one, two = (HLTA(max_words=30, random_state=0).fit(corpus) for corpus in (in_memory, on_disk))
    for name in ("topic_word_", "doc_topic_", "topic_weight_", "history_"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


def test_a_corpus_with_wide_indices_is_saved_and_mapped(tmp_path):
    counts = sp.csr_array(np.array([[1, 0, 2], [0, 3, 0]]))
    counts.indices, counts.indptr = counts.indices.astype(np.int64), counts.indptr.astype(np.int64)
    corpus = Corpus.from_counts(counts)
    assert corpus.counts.indices.dtype == np.int32
    wide = sp.csr_array((counts.data, counts.indices, counts.indptr), counts.shape)
    segments = Segments(wide, np.arange(2))
    for one in (corpus, replace(corpus, counts=wide), replace(corpus, segments=segments)):
        one.save(tmp_path / "c")
        for memory_map in (True, False):
            loaded = Corpus.load(tmp_path / "c", memory_map=memory_map)
            assert loaded.counts.indices.dtype == loaded.counts.indptr.dtype == np.int32  # 64 bits would be a copy
            assert loaded.counts.toarray().tolist() == [[1, 0, 2], [0, 3, 0]]
