"""Benchmark corpora: each kind of folder, made small in a temporary place; the real data is never read here."""

import gzip
import json

import numpy as np
import pytest
import scipy.sparse as sp

from experiments.corpora import BENCHMARKS, count_words, data_folder, load_benchmark, strip_post

POST = """From: ann@example.org (Ann)
Subject: Re: boats

In article <1@example.org> bob@example.org (Bob) writes:
> I like boats
>> and so do I
The harbour is full of sails.
: quoted by another
Note: a line of my own.

--
Ann | sailor at large
"""


def write(folder, name, content):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if isinstance(content, list):
        content = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in content)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(content.encode()))
    else:
        path.write_text(content, encoding="utf-8")


def write_counts(folder, rows):
    folder.mkdir(parents=True, exist_ok=True)
    sp.save_npz(folder / "counts.npz", sp.csr_matrix(np.array(rows, dtype=np.int32)))


@pytest.fixture
def data(tmp_path):
    news = [
        {"id": "sea/1", "text": POST, "labels": ["sea"], "split": "train"},
        {"id": "sea/2", "text": "From: x\n\nsails again", "labels": ["sea"], "split": "test"},
    ]
    write(tmp_path / "20newsgroups_raw", "docs.jsonl.gz", news)

    cai = tmp_path / "reuters21578_cai"
    write_counts(cai, [[1, 2, 0], [0, 1, 0], [0, 0, 4]])
    write(cai, "vocab_recovered.txt", ["oil", "gas", "_c2"])
    write(cai, "labels.txt", ["1", "2", "3"])
    write(cai, "split.txt", ["train", "test", "train"])

    tdt = tmp_path / "tdt2_cai"
    write_counts(tdt, [[1, 0], [0, 1], [1, 1]])
    write(tdt, "labels.txt", ["1", "31", "2"])
    write(tdt, "dates_top30.txt", ["1998-01-10", "1998-02-01"])

    yahoo = tmp_path / "yahoo_kseries"
    write_counts(yahoo, [[1, 0], [0, 1]])
    write(yahoo, "labels_k1a.txt", ["7", "8"])
    write(yahoo, "labels_k1b.txt", ["2", "2"])

    nips = tmp_path / "nips12"
    write_counts(nips, [[1, 0], [0, 1], [1, 1]])
    write(nips, "vocab.txt", ["net", "prior"])
    write(nips, "labels.txt", ["Theory", "Uncategorised", "Theory"])
    write(nips, "citations.tsv", ["1\t0", "2\t1"])
    about = [{"id": row, "title": f"paper {row}", "year": 1987 + row, "text": f"abstract {row}"} for row in range(3)]
    write(nips, "docs_meta_abstracts.jsonl.gz", about)

    labelled = tmp_path / "nips_2001_2002_labelled"
    write_counts(labelled, [[1], [2]])
    write(labelled, "vocab.txt", ["net"])
    write(labelled, "labels.tsv", ["doc\tyear\tcategory\tcategory_id", "0\t2001\tAA\t1", "1\t2002\tVS\t9"])

    wiki = tmp_path / "wikipedia_schools2007"
    articles = [{"id": row, "title": f"t{row}", "text": f"word{row} sea", "labels": ["Art"]} for row in range(3)]
    write(wiki, "docs.jsonl.gz", articles)
    write(wiki, "links.tsv.gz", ["0\t1", "1\t2"])
    write(wiki, "ldcc_like_subset.tsv", ["id\tarticle\tlabels", "0\tt0\tArt,Music", "1\tt1\tArt"])

    reuters = [{"id": 5, "title": "COCOA", "text": "cocoa rose", "labels": [], "split": "unused", "date": None}]
    reuters += [
        {**reuters[0], "id": 6, "split": "train", "labels": ["cocoa", "oil"], "date": "26-FEB-1987 15:01:01.79"}
    ]
    write(tmp_path / "reuters21578_raw", "docs.jsonl.gz", reuters)

    citeseer = tmp_path / "citeseer"
    write_counts(citeseer, [[1, 0], [0, 1], [0, 0]])
    write(citeseer, "labels.txt", ["3", "1", "-1"])
    write(citeseer, "links.tsv", ["0\t1"])
    return tmp_path


def test_news_postings_by_split_with_and_without_headers(data):
    whole = load_benchmark("20newsgroups_raw", data, split="train", keep_texts=True)
    assert whole.texts == (POST,)
    assert whole.ids == ("sea/1",)
    assert whole.labels == (("sea",),)
    stripped = load_benchmark("20newsgroups_raw", data, headers="strip", keep_texts=True, stop_words=None)
    assert stripped.texts == ("The harbour is full of sails.\nNote: a line of my own.", "sails again")
    assert "the" in stripped.vocabulary
    assert "the" not in whole.vocabulary


def test_new_defaults_of_the_package_do_not_change_protocols(tmp_path):
    news = [
        {"id": row, "text": f"the sea &amp; word{'abc'[row % 3] * (row + 1)}", "labels": ["a"]} for row in range(30)
    ]
    write(tmp_path / "agnews", "docs.jsonl.gz", news)
    corpus = load_benchmark("agnews", tmp_path)
    assert {"sea", "amp", "worda"} <= set(corpus.vocabulary)  # too common, markup, too rare
    assert "the" not in corpus.vocabulary
    assert len(load_benchmark("agnews", tmp_path, min_df="auto", clean=True).vocabulary) < len(corpus.vocabulary)
    # one known word among many, in another language
    text = "der Hund und die Katze schlafen heute am Ufer, das man sea nennt"
    assert count_words(corpus, [text]).sum() == 1
    assert corpus.vectorize([text]).sum() == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no header at all", "no header at all"),
        ("A: b\n\n", ""),
        ("A: b\n\nfirst\n----\nsecond\n" + "line\n" * 20, "first\n----\nsecond\n" + "line\n" * 19 + "line"),
        ("A: b\n\n--\nonly a signature", "--\nonly a signature"),
        ("A: b\n\nText.\nJoe Smith wrote:\n| old\nMore.\n=====\nJoe", "Text.\nMore."),
    ],
)
def test_strip_post(text, expected):
    assert strip_post(text) == expected


def test_numbered_labels_cut_documents_and_their_words(data):
    corpus = load_benchmark("reuters21578_cai", data, max_label=2)
    assert corpus.vocabulary == ("oil", "gas")
    assert corpus.counts.toarray().tolist() == [[1, 2], [0, 1]]
    assert load_benchmark("reuters21578_cai", data, split="train").vocabulary == ("oil", "gas", "_c2")
    assert load_benchmark("reuters21578_cai", data).counts.shape == (3, 3)


def test_dates_of_the_large_classes_only(data):
    times = load_benchmark("tdt2_cai", data).timestamps.astype("datetime64[D]")
    assert str(times[0]) == "1998-01-10"
    assert np.isnat(times[1])
    assert str(times[2]) == "1998-02-01"


def test_one_of_several_label_files(data):
    assert load_benchmark("yahoo_kseries", data).labels == (("7",), ("8",))
    assert load_benchmark("yahoo_kseries", data, labels="k1b").labels == (("2",), ("2",))
    with pytest.raises(ValueError, match="k1a, k1b"):
        load_benchmark("yahoo_kseries", data, labels="k1c")


def test_counts_with_records_and_citations(data):
    corpus = load_benchmark("nips12", data, keep_texts=True)
    assert corpus.titles == ("paper 0", "paper 1", "paper 2")
    assert corpus.labels == (("Theory",), (), ("Theory",))
    assert corpus.links.tolist() == [[1, 0], [2, 1]]
    assert corpus.texts[2] == "abstract 2"
    assert corpus.timestamps.astype("datetime64[Y]").astype(str).tolist() == ["1987", "1988", "1989"]
    assert load_benchmark("nips12", data).texts is None


def test_labels_in_a_table(data):
    corpus = load_benchmark("nips_2001_2002_labelled", data)
    assert corpus.labels == (("AA",), ("VS",))


def test_a_subset_brings_its_labels_and_keeps_links_among_its_documents(data):
    assert len(load_benchmark("wikipedia_schools2007", data).links) == 2
    corpus = load_benchmark("wikipedia_schools2007", data, subset="ldcc")
    assert corpus.labels == (("Art", "Music"), ("Art",))
    assert corpus.links.tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="ldcc"):
        load_benchmark("wikipedia_schools2007", data, subset="other")


def test_newswire_dates_and_many_labels(data):
    corpus = load_benchmark("reuters21578_raw", data)
    assert corpus.labels == ((), ("cocoa", "oil"))
    assert str(corpus.timestamps[1].astype("datetime64[D]")) == "1987-02-26"
    assert np.isnat(corpus.timestamps[0])


def test_unlabelled_rows_and_links_without_words(data):
    corpus = load_benchmark("citeseer", data)
    assert corpus.labels == (("3",), ("1",), ())
    assert corpus.links.tolist() == [[0, 1]]
    assert corpus.vocabulary is None


def test_the_data_folder_is_the_argument_or_the_variable(data, monkeypatch):
    monkeypatch.delenv("TOPICFOLD_DATA", raising=False)
    with pytest.raises(ValueError, match=r"--data.*TOPICFOLD_DATA"):
        data_folder()
    monkeypatch.setenv("TOPICFOLD_DATA", str(data))
    assert data_folder() == data
    assert len(load_benchmark("tdt2_cai")) == 3
    with pytest.raises(FileNotFoundError, match="nowhere"):
        data_folder(data / "nowhere")


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_missing_file_is_named(tmp_path, name):
    declared = BENCHMARKS[name]
    first = tmp_path / name / (declared.counts or declared.records)
    with pytest.raises(FileNotFoundError) as problem:
        load_benchmark(name, tmp_path)
    assert str(first) in str(problem.value)


def test_a_missing_second_file_is_named(data):
    (data / "tdt2_cai" / "labels.txt").unlink()
    with pytest.raises(FileNotFoundError) as problem:
        load_benchmark("tdt2_cai", data)
    assert str(data / "tdt2_cai" / "labels.txt") in str(problem.value)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("nothing", {}, "there are: 20newsgroups_raw"),
        ("tdt2_cai", {"split": "train"}, "no split"),
        ("tdt2_cai", {"headers": "strip"}, "not news postings"),
        ("tdt2_cai", {"headers": "off"}, "'keep' or 'strip'"),
        ("tdt2_cai", {"labels": "k1a"}, "one kind"),
        ("tdt2_cai", {"max_label": 0}, "no document"),
        ("20newsgroups_raw", {"split": "unused"}, "test, train"),
        ("20newsgroups_raw", {"max_label": 2}, "not numbers"),
    ],
)
def test_what_cannot_be_had_is_said(data, name, options, message):
    with pytest.raises(ValueError, match=message):
        load_benchmark(name, data, **options)


def test_files_that_do_not_agree_are_an_error(data):
    write(data / "yahoo_kseries", "labels_k1a.txt", ["7"])
    with pytest.raises(ValueError, match="1 labels for 2 documents"):
        load_benchmark("yahoo_kseries", data)
