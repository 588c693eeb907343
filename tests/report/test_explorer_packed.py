"""Documents are compressed in the page: what Python packs, a browser unpacks, whatever the texts hold."""

from __future__ import annotations

import pytest
from report_cases import marks_of, piece, plsa

from topicfold import PLSA, Corpus, build_report
from topicfold.report import page as page_module

TEXTS = [
    "</script><script>window.hacked=1</script> rose tulip",
    "tulip rose \x00 \x07 \u2028 \u2029 \ufeff star",
    "moon 😀 star “comet” 東京都 rose’s naïve",
    "star half \ud800 of \udfff a pair moon",
    "\\u003c \\ \" ' ` ${rose} {{documents}} tulip",
    "full-time rose, tulip_2; star.moon\r\n\tcomet",
]


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """The report of hostile texts, and its page with four documents in a block."""
    corpus = Corpus.from_texts(TEXTS * 3, ids=[f"{d}" for d in range(18)], keep_texts=True, min_df=1, titles=TEXTS * 3)
    report = build_report(plsa(corpus, 2), corpus)
    monkeypatch.setattr(page_module, "_DOCUMENTS_PER_BLOCK", 4)
    path = tmp_path / "packed.html"
    report.save(path)
    return report.data["documents"], path


def test_texts_and_their_marks_reach_the_reader(page, packed):
    table, path = packed
    for d in (0, 1, 2, 3, 4, 5, 9, 17):
        page.open(path, f"document={d}")
        text = table["text"][d].encode("utf-8", "replace").decode()
        # a page of HTML has no NUL and no CR, but a text node has
        assert page.js("return document.querySelector('#text .text').textContent") == text
        marked = page.texts("#text .word")
        assert marked == [piece(text, start, end) for start, end, _ in marks_of({**table, "text": [text] * 18}, d)]
        assert len(marked) >= 2
    assert page.js("return window.hacked") is None


@pytest.mark.parametrize("text", ["東京 京都 大阪", "full-time part-time", "😀😀 rose 東京"])
def test_words_that_a_custom_tokenizer_finds(page, tmp_path, text):
    corpus = Corpus.from_texts([text, text, "rose 東京 full-time"], keep_texts=True, tokenizer=str.split, min_df=1)
    build_report(PLSA(2, random_state=0).fit(corpus), corpus).save(tmp_path / "page.html")
    page.open(tmp_path / "page.html", "document=0")
    assert page.texts("#text .word") == [word for word in text.split() if word in corpus.vocabulary]


def test_the_page_lets_go_of_what_it_has_unpacked(page, packed):
    page.open(packed[1])
    assert page.count("script.documents") == 0


def test_a_browser_without_decompression_is_told(page, packed):
    path = packed[1]
    source = "delete window.DecompressionStream"
    script = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    try:
        page.driver.get("about:blank")
        page.opened.add(path.as_uri())
        page.driver.get(path.as_uri())
        assert page.text("#main").startswith("This page needs a newer browser")
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_a_browser_without_base64_of_its_own(page, packed):
    table, path = packed
    source = "delete Uint8Array.fromBase64"
    script = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    try:
        page.open(path, "document=2")
        assert page.js("return 'fromBase64' in Uint8Array") is False
        assert page.text("#text .text") == table["text"][2]
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_a_damaged_block_is_said_aloud(page, packed):
    path = packed[1]
    source = path.read_text(encoding="utf-8")
    start = source.index('class="documents">') + len('class="documents">')
    path.write_text(source[: start + 40] + "AAAA" + source[start + 44 :], encoding="utf-8")
    page.driver.get("about:blank")
    page.opened.add(path.as_uri())
    page.driver.get(path.as_uri())
    (said,) = page.until(page.complaints)
    assert "Uncaught" in said
