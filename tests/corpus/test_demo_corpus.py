"""The bundled demo corpus as it lies on disk, and the script that builds it."""

import gzip
import importlib.util
import json
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "src" / "topicfold" / "datasets" / "debian_packages.jsonl.gz"

PACKAGES = """\
Package: scribe
Source: scribe-suite (1.0)
Depends: libink1 (>= 2), paper | parchment:any, libc6
Suggests: quill
Description: editor for scribes
Description-md5: aaa
Tag: role::program, use::editing,
 works-with::text, use::TODO
Section: editors

Package: quill
Pre-Depends: scribe
Description: pen
Description-md5: bbb
Section: graphics
"""

TRANSLATION = """\
Package: scribe
Description-md5: aaa
Description-en: editor for scribes
 Writes and corrects
 long texts.
 .
 Features:
  * undo and
    redo
  * spelling
 And more.

Package: scribe
Description-md5: old
Description-en: an older description
 Not this one.

Package: quill
Description-md5: bbb
Description-en: pen
 - flush bullet
 - another one
   over two lines
"""


@pytest.fixture(scope="module")
def corpus():
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def builder():
    spec = importlib.util.spec_from_file_location("build_demo_corpus", ROOT / "scripts" / "build_demo_corpus.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package(name, text, **fields):
    record = {"id": name, "title": name, "text": text, "label": "editors", "tags": [], "links": [], "source": name}
    return record | fields


def test_corpus_is_large_and_balanced(corpus):
    sections = Counter(record["label"] for record in corpus)
    assert len(corpus) >= 3500
    assert len(sections) >= 15
    assert min(sections.values()) >= 40
    assert max(sections.values()) <= 0.05 * len(corpus)


def test_file_is_small_and_carries_no_time_or_name():
    packed = CORPUS.read_bytes()
    flags, mtime = packed[3], packed[4:8]
    assert len(packed) < 2_000_000
    assert flags == 0
    assert mtime == bytes(4)


def test_every_record_has_the_documented_fields(corpus):
    for record in corpus:
        assert list(record) == ["id", "title", "text", "label", "tags", "links"]
        assert record["title"].startswith(record["id"] + ": ")
        assert record["tags"] == sorted(set(record["tags"]))
        assert record["links"] == sorted(set(record["links"]))


def test_ids_and_texts_are_unique(corpus):
    assert len({record["id"] for record in corpus}) == len(corpus)
    assert len({record["text"] for record in corpus}) == len(corpus)


def test_links_stay_inside_and_reach_most_packages(corpus):
    ids = {record["id"] for record in corpus}
    targets = {link for record in corpus for link in record["links"]}
    linked = targets | {record["id"] for record in corpus if record["links"]}
    assert targets <= ids
    assert all(record["id"] not in record["links"] for record in corpus)
    assert len(linked) >= 0.6 * len(corpus)


def test_texts_are_rich(corpus):
    assert min(len(record["text"].split()) for record in corpus) >= 30
    assert sum("\n\n" in record["text"] for record in corpus) >= 0.6 * len(corpus)
    assert sum(bool(record["tags"]) for record in corpus) >= 0.6 * len(corpus)


def test_builder_reads_packages_and_descriptions(builder):
    scribe, quill = builder.read_packages(PACKAGES, TRANSLATION)
    assert scribe == {
        "id": "scribe",
        "title": "scribe: editor for scribes",
        "text": "Writes and corrects long texts.\n\nFeatures:\n* undo and redo\n* spelling\nAnd more.",
        "label": "editors",
        "tags": ["role::program", "use::editing", "works-with::text"],
        "links": ["libc6", "libink1", "paper", "parchment", "quill"],
        "source": "scribe-suite",
    }
    assert quill["text"] == "- flush bullet\n- another one over two lines"
    assert quill["tags"] == []
    assert quill["links"] == ["scribe"]
    assert quill["source"] == "quill"


def test_builder_keeps_verbatim_lines(builder):
    assert builder.format_description("Run:\n  scribe --new\n  scribe --old\nand wait\na bit.") == (
        "Run:\nscribe --new\nscribe --old\nand wait a bit."
    )


@pytest.mark.parametrize(
    ("name", "text", "label", "is_kept"),
    [
        ("scribe", "word " * 40, "editors", True),
        ("scribe", "word " * 39, "editors", False),
        ("scribe", "word " * 501, "editors", False),
        ("scribe", "word " * 40, "oldlibs", False),
        ("scribe-doc", "word " * 40, "editors", False),
        ("libscribe-dev", "word " * 40, "editors", False),
        ("scribe", "This is a transitional package. " + "word " * 40, "editors", False),
        ("scribe", "This dummy package can be removed. " + "word " * 40, "editors", False),
    ],
)
def test_builder_leaves_out_poor_packages(builder, name, text, label, is_kept):
    record = package(name, text, label=label)
    builder.add_own_words([record])
    assert builder.is_rich(record) is is_kept


def test_builder_does_not_count_shared_paragraphs(builder):
    records = [package(f"p{i}", f"own text {i}\n\nshared by all of them") for i in range(5)]
    builder.add_own_words(records)
    assert [record["own_words"] for record in records] == [3] * 5


def test_builder_keeps_one_package_a_source(builder):
    records = [
        package("scribe-gtk", "a much longer text", source="scribe"),
        package("scribe", "short"),
        package("quill-a", "text", source="quill"),
        package("quill-b", "longer text", source="quill"),
    ]
    assert [record["id"] for record in builder.keep_best(records, "source")] == ["quill-b", "scribe"]


def test_builder_prefers_linked_packages_and_drops_outside_links(builder, monkeypatch):
    monkeypatch.setattr(builder, "MAX_PER_SECTION", 2)
    monkeypatch.setattr(builder, "MIN_PER_SECTION", 1)
    names = ["ink", "paper", "pen", "scribe"]
    links = {"pen": ["ink", "libc6"]}
    packages = [package(name, f"{name} " + "word " * 40, links=links.get(name, [])) for name in names]
    corpus = builder.build_corpus(packages)
    assert [(record["id"], record["links"]) for record in corpus] == [("ink", []), ("pen", ["ink"])]


def test_builder_writes_the_same_bytes_again(builder, corpus, tmp_path):
    first, second = tmp_path / "first.jsonl.gz", tmp_path / "second.jsonl.gz"
    builder.write_corpus(corpus[:50], first)
    builder.write_corpus(corpus[:50], second)
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()).decode().splitlines() == [
        json.dumps(record, ensure_ascii=False) for record in corpus[:50]
    ]
