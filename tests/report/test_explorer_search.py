"""The explorer end to end in a browser: what a search finds, in which order, what it leaves out, and the way back."""

from __future__ import annotations

from urllib.parse import quote

import numpy as np
import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from browser import WIDTHS
from topicfold import PLSA, Corpus, build_report
from topicfold.report import Report

QUIET = {"random_state": 0, "verbose": False}
ARTICLES = {
    "Launch day": "The space shuttle reached its orbit. Shuttle crews sleep in orbit, and the orbit is low.",
    "Notes": "An orbit without end;\n\n\tthe shuttle of a loom goes to and fro; a long text with little of either.",
    "Shuttle in orbit": "A report on nothing much.",
    "Orbital mechanics": "On planets, moons and the shuttles between them.",
    "Weaving": "The loom has a shuttle.",
    "Straße nach Łódź": "ΟΔΟΣ и улица: a road, a street, naïve and café.",
    "東京": "東京大学は日本の大学です。",
    "Literal": 'He said "C++ (and C#) cost 5% more", or a.*b.',
}


@pytest.fixture(scope="module")
def articles(tmp_path_factory):
    """Few documents of which it is plain what a query finds; topics are of the words of their texts."""
    corpus = Corpus.from_texts(list(ARTICLES.values()), titles=list(ARTICLES), keep_texts=True, min_df=1)
    file = tmp_path_factory.mktemp("search") / "articles.html"
    build_report(PLSA(2, **QUIET).fit(corpus), corpus).save(file)
    return file


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """130 documents with the word "common", in ever longer texts."""
    texts = [f"common {'other ' * d}" for d in range(130)] + ["rose tulip"] * 10
    corpus = Corpus.from_texts(
        texts, ids=[f"m{d}" for d in range(140)], titles=[f"Number {d}" for d in range(140)], keep_texts=True
    )
    file = tmp_path_factory.mktemp("search") / "many.html"
    build_report(PLSA(2, **QUIET).fit(corpus), corpus).save(file)
    return file


def search(page, wanted: str) -> None:
    page.find("#query").clear()
    page.find("#query").send_keys(wanted)


def found_links(page, group: str) -> list[list[str]]:
    """Address and text of each hit of a group below the box."""
    return page.js(
        """const headings = [...document.querySelectorAll('#found h2')];
        const heading = headings.find((h) => h.textContent.startsWith(arguments[0] + ' ('));
        const links = heading ? [...heading.nextElementSibling.querySelectorAll('a')] : [];
        return links.map((link) => [link.hash, link.textContent])""",
        group,
    )


def found(page, group: str) -> list[str]:
    return [text for _, text in found_links(page, group)]


def found_documents(page) -> set[str]:
    return set(page.texts("#found a[href^='#document']"))


def wait_for_way_back(page, view: str) -> None:
    page.driver.back()
    page.until(lambda: page.view() == view and page.find("#found").is_displayed())


# ---- what is found ---------------------------------------------------------------------------------------------------


def test_words_in_any_order(page, articles):
    page.open(articles)
    for wanted in ("orbit shuttle", "shuttle orbit", "  Shuttle   ORBIT", "orbit, shuttle"):
        search(page, wanted)
        assert found(page, "Documents") == ["Shuttle in orbit"]
        assert found(page, "Documents with the words in the text") == ["Launch day", "Notes"]
    search(page, "planets orbital")  # one is in the title, the other in the text
    assert found_documents(page) == {"Orbital mechanics"}


def test_topics_that_have_all_words(page, reports):
    page.open(reports["plsa"])
    search(page, "telescope comet")
    topics = page.texts("#found a[href^='#topic']")
    assert len(topics) == 1
    search(page, "comet telescope ")
    assert page.texts("#found a[href^='#topic']") == topics
    search(page, "comet nowhere")
    assert page.text("#found") == "Nothing found."
    assert page.text("#found-count") == "0 results"


def test_only_the_word_being_typed_is_a_beginning(page, articles):
    page.open(articles)
    search(page, "loom shutt")
    assert found_documents(page) == {"Notes", "Weaving"}
    search(page, "shutt loom")
    assert found_documents(page) == set()
    search(page, "orbit")
    assert "Orbital mechanics" in found_documents(page)
    search(page, "orbit ")  # typed to its end
    assert "Orbital mechanics" not in found_documents(page)
    search(page, "huttle")  # not the middle of a word
    assert found_documents(page) == set()


def test_a_phrase_in_quotes_is_found_as_it_stands(page, articles):
    page.open(articles)
    search(page, '"space shuttle"')
    assert found_documents(page) == {"Launch day"}
    search(page, '"shuttle space"')
    assert found_documents(page) == set()
    search(page, '"end; the shuttle"')  # the text goes on in another line
    assert found_documents(page) == {"Notes"}
    search(page, "“the shuttle of” loom")
    assert found_documents(page) == {"Notes"}
    search(page, '"orbit"')
    assert "Orbital mechanics" not in found_documents(page)
    search(page, '"the shutt')  # the phrase is being typed
    assert found_documents(page) == {"Notes", "Orbital mechanics"}


@pytest.mark.parametrize(
    ("wanted", "title"),
    [
        ("STRASSE", None),
        ("straße ŁÓDŹ", "Straße nach Łódź"),
        ("Улица", "Straße nach Łódź"),
        ("οδος", "Straße nach Łódź"),
        ("cafe\u0301", "Straße nach Łódź"),  # as two characters
        ("大学 東京", "東京"),  # no blanks between words
        ("c++", "Literal"),
        ("a.*b", "Literal"),
        ("5%", "Literal"),
        ("(and", "Literal"),
    ],
)
def test_letters_of_all_scripts_and_signs_as_they_are(page, articles, wanted, title):
    page.open(articles)
    page.js(
        "const box = document.getElementById('query'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))",
        wanted,
    )
    assert found_documents(page) == ({title} if title else set())


def test_quotes_alone_are_no_query(page, articles):
    page.open(articles)
    for wanted in ('"', '""', " ", '" "'):
        search(page, wanted)
        assert not page.find("#found").is_displayed()


# ---- in which order --------------------------------------------------------------------------------------------------


def test_topics_by_name_then_by_the_rank_of_their_words(page, tmp_path):
    names = {0: "Comets", 1: "First", 2: "Second", 3: "Third"}
    texts = ["comet star moon", "star star comet", "moon moon moon star comet", "rose tulip"] * 3
    corpus = Corpus.from_texts(texts, min_df=1)
    model = PLSA(4, **QUIET).fit(corpus)
    model.topic_word_ = np.array(
        [
            [0.02, 0.02, 0.02, 0.92, 0.02],
            [0.2, 0.3, 0.1, 0.3, 0.1],
            [0.6, 0.1, 0.1, 0.1, 0.1],
            [0.3, 0.3, 0.2, 0.1, 0.1],
        ]
    )
    assert corpus.vocabulary[0] == "comet"
    build_report(model, corpus, names=names).save(tmp_path / "named.html")
    page.open(tmp_path / "named.html")
    search(page, "comet")
    assert found(page, "Topics") == ["Comets"]
    others = found(page, "Topics with the word")
    assert sorted(others) == ["First", "Second", "Third"]
    places = []
    for address, _ in found_links(page, "Topics with the word"):
        page.go(address.removeprefix("#"))
        places.append(page.texts(".word-table tbody th").index("comet"))
    assert places == sorted(places)


def test_documents_with_more_of_the_word_come_first(page, articles, many):
    page.open(articles)
    search(page, "orbit")
    assert found(page, "Documents with the word in the text") == ["Launch day", "Notes"]
    page.open(many)
    search(page, "common")  # as often in each, and more of a short text
    assert found(page, "Documents with the word in the text") == [f"Number {d}" for d in range(8)]


def test_rare_words_count_for_more(page, tmp_path):
    texts = ["often often often rare", "often rare rare rare", *["often and on"] * 20, "on and on"]
    corpus = Corpus.from_texts(
        texts, titles=[f"T{d}" for d in range(23)], keep_texts=True, min_df=1, max_df=1.0, stop_words=None
    )
    build_report(PLSA(2, **QUIET).fit(corpus), corpus).save(tmp_path / "rare.html")
    page.open(tmp_path / "rare.html")
    search(page, "often rare")
    assert found(page, "Documents with the words in the text") == ["T1", "T0"]


# ---- what was searched -----------------------------------------------------------------------------------------------


def test_whole_texts_of_all_documents_need_no_word(page, reports):
    page.open(reports["plsa"])
    search(page, "rose")
    assert page.count(".unsearched") == 0


def test_a_sample_is_said(page, reports):
    page.open(reports["part"])
    search(page, "about")
    assert "Documents (20)" in page.texts("#found h2")
    assert page.text("#found .unsearched") == "Counts are among the 20 documents on this page, of 80 in the corpus."
    search(page, "nowhere")  # here, that is
    assert "20 documents on this page" in page.text("#found .unsearched")


def test_texts_that_are_cut_are_said(page, themes, tmp_path):
    data = build_report(PLSA(4, **QUIET).fit(themes), themes).data
    short = [text[:90] for text in data["documents"]["text"]]
    cut = data | {"corpus": data["corpus"] | {"cut": 90}, "documents": data["documents"] | {"text": short}}
    Report(cut).save(tmp_path / "cut.html")
    page.open(tmp_path / "cut.html")
    for wanted in ("rose", "nowhere"):
        search(page, wanted)
        assert page.text("#found .unsearched") == "Searched the first 90 bytes of each text."
    page.go("search=rose")
    assert page.text("main .unsearched") == "Searched the first 90 bytes of each text."


def test_documents_without_texts_by_their_words(page, tmp_path):
    counts = np.array([[3, 1, 0], [1, 9, 0], [0, 2, 2], [0, 0, 5]])
    corpus = Corpus.from_counts(counts, ["orbit", "shuttle", "loom"], titles=["A", "B", "C", "D"])
    build_report(PLSA(2, **QUIET).fit(corpus), corpus).save(tmp_path / "bags.html")
    page.open(tmp_path / "bags.html")
    search(page, "shuttle orbit")
    assert set(found(page, "Documents with the words")) == {"A", "B"}
    assert page.text("#found .unsearched").startswith("Searched the most frequent words of each document")
    search(page, "shuttle")
    assert found(page, "Documents with the word")[0] == "B"
    search(page, '"orbit shuttle"')  # words that were counted have no order
    assert found_documents(page) == set()


# ---- all hits --------------------------------------------------------------------------------------------------------


def test_all_hits_in_steps(page, many):
    page.open(many)
    search(page, "common")
    assert "Documents with the word in the text (130)" in page.texts("#found h2")
    page.follow(page.find("#all-hits"))
    assert page.js("return location.hash") == "#search=common"
    assert not page.find("#found").is_displayed()
    assert page.text("main h2") == "Search: common"
    documents = ".hits a[href^='#document']"
    assert page.texts(documents) == [f"Number {d}" for d in range(50)]
    page.find(".hits + .tools button:not([hidden])").click()
    assert page.count(documents) == 100
    assert page.focused() == "Number 50"
    more = page.find(".hits + .tools button:not([hidden])")
    assert more.text == "Show 30 more"
    more.click()
    assert page.count(documents) == 130
    assert page.count(".hits + .tools button:not([hidden])") == 0
    assert len(set(page.texts(documents))) == 130


def test_few_hits_need_no_page_of_their_own(page, articles):
    page.open(articles)
    search(page, "loom")
    assert page.count("#all-hits") == 0


def test_links_to_a_search(page, articles):
    page.open(articles, "search=" + quote('"space shuttle" orb'))
    assert page.text("main h2") == 'Search: "space shuttle" orb'
    assert page.find("#query").get_attribute("value") == '"space shuttle" orb'
    assert not page.find("#found").is_displayed()
    assert page.texts(".hits a[href^='#document']") == ["Launch day"]
    assert page.texts(".hits mark") == ["space shuttle", "orb", "orb", "orb"]
    assert page.driver.title.startswith('Search: "space shuttle" orb · ')
    assert "Search" not in page.texts("#views a")
    page.go("search=" + quote("<b>x</b>=1"))
    assert page.text("main h2") == "Search: <b>x</b>=1"
    assert "Nothing found." in page.text("main p.muted")
    for address in ("search", "search=", "search=%20", "search=%22"):
        page.go(address)
        assert page.text("main h2") == "Search"
        assert page.count(".hits") == 0


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_all_hits_fit_the_window(page, reports, width):
    page.look(width)
    for name in ("plsa", "hlta", "ldcc", "counts"):
        page.open(reports[name], "search=rose")
        assert page.count(".hits li")
        assert not page.too_wide()


# ---- the way back ----------------------------------------------------------------------------------------------------


def test_results_are_there_when_one_goes_back(page, reports):
    page.open(reports["plsa"], "topics")
    search(page, "sea")
    box = "document.getElementById('found')"
    page.js(f"{box}.style.maxHeight = '120px'; {box}.scrollTop = 90")
    place = page.js(f"return {box}.scrollTop")
    assert place > 0
    results = page.text("#found")
    hit = page.driver.find_elements("css selector", "#found a[href^='#document']")[2]
    title = hit.text
    page.js(f"{box}.scrollTop = arguments[0]", place)
    page.js("arguments[0].click()", hit)
    page.until(lambda: page.view() == "document")
    assert page.text("main h2") == title
    assert not page.find("#found").is_displayed()
    wait_for_way_back(page, "topics")
    assert page.find("#query").get_attribute("value") == "sea"
    assert page.text("#found") == results
    assert page.js(f"return {box}.scrollTop") == place
    assert page.focused() == title
    page.press(Keys.ARROW_DOWN)  # on to the next
    assert page.focused() == page.texts("#found a")[page.texts("#found a").index(title) + 1]
    page.press(Keys.ENTER)
    page.until(lambda: page.view() == "document")
    page.press("/")  # back to the box, not to the page
    assert page.find("#found").is_displayed()
    assert page.text("#found") == results


def test_each_step_back_has_its_own_query(page, reports):
    page.open(reports["plsa"], "topics")
    for wanted in ("sea", "kitchen"):
        search(page, wanted)
        page.follow(page.find("#found a[href^='#document']"))
    wait_for_way_back(page, "document")
    assert page.find("#query").get_attribute("value") == "kitchen"
    wait_for_way_back(page, "topics")
    assert page.find("#query").get_attribute("value") == "sea"


def test_results_that_were_put_away_stay_away(page, reports):
    page.open(reports["plsa"], "topics")
    search(page, "sea")
    page.follow(page.find("#found a[href^='#document']"))
    wait_for_way_back(page, "topics")
    page.js("document.getElementById('main').click()")
    assert not page.find("#found").is_displayed()
    page.go("overview")
    page.driver.back()
    page.until(lambda: page.view() == "topics")
    page.driver.execute_async_script("setTimeout(arguments[0], 50)")
    assert not page.find("#found").is_displayed()


def test_a_link_to_where_results_were_left_opens_none(page, reports):
    page.open(reports["plsa"], "topics")
    search(page, "sea")
    page.follow(page.find("#found a[href^='#document']"))
    page.follow(page.link("Topics"))
    page.driver.execute_async_script("setTimeout(arguments[0], 50)")
    assert page.view() == "topics"
    assert not page.find("#found").is_displayed()


def test_all_hits_are_as_they_were_when_one_comes_back(page, many):
    page.open(many, "search=common")
    page.find(".hits + .tools button:not([hidden])").click()
    page.driver.execute_async_script(
        "addEventListener('scroll', () => setTimeout(arguments[0]), { once: true }); scrollTo(0, 2500)"
    )
    page.js("document.querySelectorAll(\".hits a[href^='#document']\")[80].click()")
    page.until(lambda: page.view() == "document")
    page.driver.back()
    page.until(lambda: page.view() == "search" and page.js("return scrollY") == 2500)
    assert page.count(".hits a[href^='#document']") == 100
    assert page.find("#query").get_attribute("value") == "common"


def test_a_hit_in_a_new_tab_leaves_the_results_open(page, reports):
    page.open(reports["plsa"], "topics")
    search(page, "sea")
    window = page.driver.current_window_handle
    link = page.find("#found a[href^='#document']")
    ActionChains(page.driver).key_down(Keys.CONTROL).click(link).key_up(Keys.CONTROL).perform()
    page.until(lambda: len(page.driver.window_handles) == 2)
    (other,) = set(page.driver.window_handles) - {window}
    page.driver.switch_to.window(other)
    page.driver.close()
    page.driver.switch_to.window(window)
    assert page.view() == "topics"
    assert page.find("#found").is_displayed()
