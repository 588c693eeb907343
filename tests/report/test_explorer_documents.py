"""The explorer end to end in a browser: the text of a document, its words in the colours of its topics."""

from __future__ import annotations

from selenium.webdriver import ActionChains

from topicfold import PLSA, Corpus, build_report


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
    assert page.js("return new Set([...document.querySelectorAll('.word')].map((w) => w.className)).size") == 2
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


def test_neighbours_in_the_graph_of_the_fit(page, reports):
    page.open(reports["ltm"], "document=d6")
    assert "Nearest by the graph of the fit" in page.texts("main .two h3")


def test_a_page_with_some_of_the_documents_says_how_they_were_chosen(page, reports):
    page.open(reports["part"])
    chosen = page.data()["corpus"]["sample"]
    best = chosen["in_best"]
    assert page.text(".note") == (
        "This page shows a sample: 20 of the 80 documents. "
        f"It has the 2 best documents of each topic ({best} documents), "
        f"and {20 - best} of the other {80 - best}, spread evenly over topics, labels and dates. "
        "Figures are of the whole corpus, but for those on the map."
    )
    page.go("map")
    assert "20 of the 80 documents" in page.text(".map-note")
