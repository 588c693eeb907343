"""The explorer end to end in a browser: the text of a document, its words in the colours of its topics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from selenium.webdriver import ActionChains

from browser import WIDTHS
from topicfold import HLTA, PLSA, Corpus, build_report


def test_ldcc_names_the_topics_of_each_paragraph(page, reports, themes):
    page.open(reports["ldcc"], "document=d6")
    assert page.texts(".paragraph .text") == themes.texts[6].split("\n\n")
    assert page.count(".paragraph") == 3
    assert page.count(".paragraph .tag") == 6
    first, second, third = page.js(
        "return [...document.querySelectorAll('.paragraph')]"
        ".map((paragraph) => paragraph.querySelectorAll('.tag a')[1].textContent)"
    )
    assert first == second != third  # sky, sky, kitchen


def test_words_of_a_document_have_the_colours_of_its_topics(page, reports, themes):
    page.open(reports["plsa"], "document=d6")
    assert page.text("#text .text") == themes.texts[6]
    words = themes.texts[6].replace(".", "").split()
    assert page.texts("#text .word") == words
    rows = page.js("return [...document.querySelectorAll('#text .word')].map((word) => word.dataset.row)")
    assert len(set(rows[:16])) == len(set(rows[16:])) == 1
    assert rows[0] != rows[16]
    tints = (
        "return new Set([...document.querySelectorAll('.word')].map((w) => w.style.getPropertyValue('--tint'))).size"
    )
    assert page.js(tints) == 2
    ActionChains(page.driver).move_to_element(page.find(".chips a")).perform()
    assert page.texts("#text .word.faint") == words[16:]
    assert len(page.texts(".plain")[0]) > 0
    assert page.texts("main .two h3") == ["Text", "Nearest by topic", "Nearest by links"]


def test_marks_stand_where_characters_are_wide(page, tmp_path):
    """A browser counts a character such as 😀 twice."""
    texts = ["😀😀 Cats purr 𝒳 cats sleep", "sun moon sun star", "cats sleep purr", "moon star sun 🌙 moon"]
    corpus = Corpus.from_texts(texts, keep_texts=True)
    build_report(PLSA(2, random_state=0).fit(corpus), corpus).save(tmp_path / "wide.html")
    page.open(tmp_path / "wide.html", "document=0")
    assert page.text("#text .text") == texts[0]
    assert page.texts("#text .word") == ["Cats", "purr", "cats", "sleep"]
    page.go("document=3")
    assert page.texts("#text .word") == ["moon", "star", "sun", "moon"]
    assert page.count(".note") == 0


def test_a_document_without_text_shows_its_words(page, reports, themes):
    page.open(reports["counts"], "document=6")
    shown = {text.split(" ×")[0] for text in page.texts("#text .word")}
    assert shown == set(themes.texts[6].lower().replace(".", "").split())
    assert page.text("#text p.muted").endswith("The corpus was made from counts and has no texts.")


def test_a_page_without_texts_says_how_to_keep_them(page, tmp_path):
    corpus = Corpus.from_texts(["rose tulip", "tulip rose", "star moon", "moon star"])
    build_report(PLSA(2, random_state=0).fit(corpus), corpus).save(tmp_path / "textless.html")
    page.open(tmp_path / "textless.html", "document=0")
    assert "Corpus.read(..., keep_texts=True)" in page.text("#text p.muted")


def test_a_cut_text_says_how_much_is_missing(page, tmp_path):
    texts = ["é rose tulip " * 400, "star moon", "moon star"]
    corpus = Corpus.from_texts(texts, keep_texts=True)
    build_report(PLSA(2, random_state=0).fit(corpus), corpus, texts_mb=0.001).save(tmp_path / "cut.html")
    page.open(tmp_path / "cut.html", "document=0")
    shown = page.data()["documents"]["text"][0]
    assert 900 < len(shown.encode()) <= 1000
    assert page.text("#text .note") == (
        f"The text goes on for {len(texts[0]) - len(shown):,} characters. This page has only the first "
        f"{len(shown.encode()):,} bytes of it; make the page with a larger --texts-mb to keep more."
    )
    page.go("document=1")
    assert page.count("#text .note") == 0


def hierarchy(themes):
    """Twelve topics under three, of which each document has all but one: the later ones are rarer."""
    model = HLTA(2, 2, 3, random_state=0, verbose=False).fit(themes)
    tree = model.topic_tree(themes)
    rng = np.random.default_rng(0)
    n_words, n_topics = len(tree.vocabulary), 15
    topic_word = rng.dirichlet(np.ones(n_words), n_topics).astype(np.float32)
    doc_topic = np.ones((80, n_topics), np.float32)
    doc_topic[:, 14] = 0
    size = np.array([0.9, 0.8, 0.7, *np.linspace(0.6, 0.05, 12)])
    return replace(
        tree,
        ids=np.arange(n_topics),
        parent=np.array([-1, -1, -1, *(np.arange(12) % 3)]),
        level=np.array([2] * 3 + [1] * 12),
        size=size,
        topic_word=topic_word,
        doc_topic=doc_topic,
        word_score=None,
        word_presence=None,
        names={row: f"name {row}" for row in range(n_topics)},
    )


def test_the_place_of_a_document_in_a_hierarchy(page, themes, tmp_path):
    build_report(hierarchy(themes), themes).save(tmp_path / "paths.html")
    page.open(tmp_path / "paths.html", "document=d6")
    assert page.texts(".path-end a") == [f"name {row}" for row in range(13, 5, -1)]  # the rarest first
    assert page.texts(".path-end .muted") == [" 100%"] * 8
    assert page.texts(".crumbs a") == [f"name {(row - 3) % 3}" for row in range(13, 5, -1)]
    assert page.text("#mixture summary") == "3 more topics"
    assert page.texts("#mixture details a") == ["name 5", "name 4", "name 3"]
    assert not page.find("#mixture details a").is_displayed()
    page.find("#mixture summary").click()
    assert page.find("#mixture details a").is_displayed()
    page.follow(page.find(".crumbs a"))
    assert page.text("#topic-title") == "name 1"
    for width in WIDTHS.values():
        page.look(width)
        page.go("document=d7")
        assert not page.too_wide()
        page.go("overview")


def test_colours_of_a_hierarchy_are_among_its_paths(page, reports):
    page.open(reports["hlta"])
    tree = page.data()["topics"]
    above = {topic["id"]: topic["parent"] for topic in tree}
    for number in range(0, 80, 16):
        page.go(f"document=d{number}")
        ends = page.js("return [...document.querySelectorAll('.path-end a')].map((link) => Number(link.dataset.row))")
        assert 0 < len(ends) <= 8
        assert len(set(ends)) == len(ends)
        crumbs = page.js(
            "return [...document.querySelectorAll('.paths > li')].map((item) => "
            "[...item.querySelectorAll('.crumbs a')].map((link) => Number(link.dataset.row)))"
        )
        for end, path in zip(ends, crumbs, strict=True):
            ids = [tree[row]["id"] for row in [*path, end]]
            assert [above[topic] for topic in ids] == [-1, *ids[:-1]]  # from the top down
        tinted = page.js("return [...document.querySelectorAll('.word[class*=\" t\"]')].map((w) => w.dataset.row)")
        assert {int(row) for row in tinted} <= {*ends, *(row for path in crumbs for row in path)}


def test_pointing_at_a_topic_of_a_hierarchy_shows_its_words(page, reports):
    page.open(reports["hlta"], "document=d6")
    row = page.js("return document.querySelector('#text .word[class*=\" t\"]').dataset.row")
    page.js('document.querySelector(`#mixture a[data-row="${arguments[0]}"]`).focus()', row)
    bright = page.js("return [...document.querySelectorAll('.word:not(.faint)')].map((word) => word.dataset.row)")
    assert set(bright) == {row}
    assert page.count(".word.faint") > 0


def test_neighbours_in_the_graph_of_the_fit(page, reports):
    page.open(reports["ltm"], "document=d6")
    assert "Nearest by the graph of the fit" in page.texts("main .two h3")


def test_a_page_with_some_of_the_documents_says_how_they_were_chosen(page, reports):
    page.open(reports["part"])
    chosen = page.data()["corpus"]["sample"]
    best = chosen["in_best"]
    assert page.text(".note") == (
        "This page shows a sample: 20 of the 80 documents. "
        f"It has the 2 most typical documents of each topic ({best} documents), "
        f"and {20 - best} of the other {80 - best}, spread evenly over topics, labels and dates. "
        "Numbers are for the whole corpus, except on the map and with a filter."
    )
    page.go("map")
    assert "20 of the 80 documents" in page.text(".map-note")
