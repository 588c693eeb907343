"""The HTML file of a report: hostile texts stay text, only its own scripts run, and it is written whole or not."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import string
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from report_cases import marked_words, plsa

from page_data import data_of, document_blocks
from topicfold import Corpus, FileError, Report, build_report
from topicfold.report import page as page_module

HOSTILE = [
    "</script><script>alert(1)</script> cat",
    "<!-- <script> --!> dog ]]> <![CDATA[ cat",
    "{{data}} {{policy}} {{scripts}} }} {{ cat",
    "&lt;b&gt; &amp; \u2028 \u2029 \x00 \x0c \x7f dog",
    "cat \ud83d half \udc08 dog",
    "<img src=x onerror=alert(1)> 😀 \\u003c \\ \" ' dog",
]


class Page(HTMLParser):
    """Scripts, data, styles, title and policy of a page, and whatever would be fetched or run otherwise."""

    def __init__(self, source):
        super().__init__()
        self.scripts, self.data, self.styles, self.title, self.policy = [], [], [], [], None
        self.suspicious, self.open = [], None
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        if known.get("http-equiv") == "Content-Security-Policy":
            self.policy = known["content"]
        places = {"style": self.styles, "title": self.title, "script": self.data if known.get("type") else self.scripts}
        self.open = places.get(tag)
        if self.open is not None:
            self.open.append("")
        fetched = [known[name] for name in ("src", "href") if name in known]
        self.suspicious += [address for address in fetched if not address.startswith(("#", "data:"))]
        self.suspicious += [name for name in known if name.startswith("on") or name == "style"]

    def handle_data(self, text):
        if self.open is not None:
            self.open[-1] += text

    def handle_endtag(self, tag):
        self.open = None


@pytest.fixture(scope="module")
def hostile():
    corpus = Corpus.from_texts(
        HOSTILE,
        ids=HOSTILE,
        titles=HOSTILE,
        labels=HOSTILE,
        keep_texts=True,
        links=[(HOSTILE[0], HOSTILE[1])],
        clean=False,
    )
    model = plsa(corpus, 2)
    return build_report(model, corpus, name=HOSTILE[0], names={0: HOSTILE[1]}, compare=model, compare_name=HOSTILE[2])


def as_written(data):
    """The report as a page holds it: half a surrogate pair cannot be written, and empty columns are not."""
    columns = {name: column for name, column in data["documents"].items() if column is not None}
    written = json.dumps(columns, ensure_ascii=False).encode("utf-8", "replace")
    return {**data, "documents": json.loads(written)}


def test_no_text_leaves_the_block_of_the_data(hostile):
    source = hostile.to_html()
    page = Page(source)
    block, packed = page.data
    assert len(page.scripts) == 2
    assert not set(block) & set("<>&")
    assert set(packed) <= set(string.ascii_letters + string.digits + "+/=")
    assert data_of(source) == as_written(hostile.data)
    assert page.title == [f"{HOSTILE[0]}: topics"]
    assert page.suspicious == []
    assert "alert(1)</script>" not in source
    assert source.count("{{") - "".join([*page.scripts, *page.styles]).count("{{") == block.count("{{")
    assert "{{policy}}" in block


def test_only_the_scripts_and_styles_of_the_page_may_run(hostile):
    page = Page(hostile.to_html())
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))

    def hashes(sources):
        digests = (base64.b64encode(hashlib.sha256(source.encode()).digest()).decode() for source in sources)
        return {f"'sha256-{digest}'" for digest in digests}

    assert set(rules["script-src"].split()) == hashes(page.scripts)
    assert set(rules["style-src"].split()) == hashes(page.styles)
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in page.policy


def test_half_a_surrogate_pair_can_be_saved(hostile, tmp_path):
    path = tmp_path / "page.html"
    hostile.save(path)
    table = data_of(path.read_text(encoding="utf-8"))["documents"]
    assert table["text"][4] == "cat ? half ? dog"
    assert [word for word, _ in marked_words(table, 4)] == ["cat", "half", "dog"]


def test_documents_come_in_blocks(hostile, monkeypatch):
    whole = data_of(hostile.to_html())
    monkeypatch.setattr(page_module, "_DOCUMENTS_PER_BLOCK", 4)
    source = hostile.to_html()
    assert len(document_blocks(source)) == 2
    assert data_of(source) == whole


def test_the_same_report_is_the_same_page(model, corpus):
    first, second = (build_report(model, corpus).to_html() for _ in range(2))
    assert first == second


def test_texts_are_compressed():
    texts = [f"cat dog {number} sun moon " * 400 for number in range(50)]
    corpus = Corpus.from_texts(texts, keep_texts=True)
    report = build_report(plsa(corpus, 2), corpus)
    assert report.data["documents"]["text"] == texts
    assert sum(map(len, document_blocks(report.to_html()))) < sum(map(len, texts)) / 20


def test_a_failed_save_leaves_what_was_there(hostile, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk is full"):
        hostile.save(path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("page.html", "old")]
    with pytest.raises(ValueError, match="not JSON compliant"):
        replace(hostile, data={**hostile.data, "share": [float("nan")]}).save(path)
    assert path.read_text() == "old"
    with pytest.raises(FileError, match="does not exist"):
        hostile.save(tmp_path / "no" / "page.html")


def test_a_report_says_what_it_is(model, corpus):
    assert repr(build_report(model, corpus, name="small")) == "Report on small: 3 topics, 36 documents"
    assert isinstance(build_report(model, corpus), Report)


def test_d3_is_the_published_file():
    """As in the package d3 7.9.0 of npm: dist/d3.min.js, unchanged."""
    source = page_module.web_file(page_module.D3).encode()
    assert hashlib.sha256(source).hexdigest() == "f2094bbf6141b359722c4fe454eb6c4b0f0e42cc10cc7af921fc158fceb86539"
