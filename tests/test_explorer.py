"""The explorer end to end in a browser: the demo report, addresses, topics, names and documents.

After each test the fixture `page` checks that the console said nothing and that nothing was asked of a network.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from topicfold import PLSA, Corpus, build_report
from topicfold.cli.commands import cli
from topicfold.report import read_names


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The page that `topicfold demo` writes."""
    folder = tmp_path_factory.mktemp("demo")
    result = CliRunner().invoke(cli, ["demo", "--out", str(folder / "model"), "--report", str(folder / "demo.html")])
    assert result.exit_code == 0, result.output
    return folder / "demo.html"


# ---- the demo report -------------------------------------------------------------------------------------------------


def test_demo_overview(page, demo):
    page.open(demo)
    assert page.driver.title == "Debian packages: topics"
    assert page.texts("#views a") == ["Overview", "Topics", "Map"]
    assert page.texts("#views a[aria-current]") == ["Overview"]
    data = page.data()
    assert f"{data['corpus']['documents']:,}" in page.texts(".facts dd")
    assert page.count(".topic-table tbody tr") == page.count("#side li") == len(data["topics"]) == 20
    page.find("th.coherence button").click()
    shown = [float(text.replace("−", "-")) for text in page.texts(".topic-table .number")]
    assert shown == sorted(shown, reverse=True)
    assert page.find("th.coherence").get_attribute("aria-sort") == "descending"
    assert page.find("svg.plot .line").get_attribute("d").count("L") > 3


def test_demo_from_search_to_document(page, demo):
    page.open(demo)
    page.find("#query").send_keys("chess")
    page.until(lambda: page.count("#found a"))
    titled = [text for text in page.texts("#found a") if "chess" in text.lower()]
    assert titled
    page.follow(page.link(titled[0]))
    assert page.view() == "document"
    assert page.text("main h2") == titled[0]
    assert page.count("#found:not([hidden])") == 0
    assert page.count("#text .word") > 5
    page.follow(page.find(".chips a"))
    assert page.view() == "topic"
    page.follow(page.find("#topic-documents a"))
    assert page.view() == "document"
    assert page.text("#text .text") in page.data()["documents"]["text"]


def test_demo_slider_trades_frequent_words_for_telling_ones(page, demo):
    page.open(demo, "topic=3")
    frequency = dict(zip(page.data()["words"], page.data()["share"]))

    def at(weight: float) -> list[str]:
        page.js(
            "const slider = document.getElementById('relevance'); slider.value = arguments[0];"
            "slider.dispatchEvent(new Event('input'))",
            weight,
        )
        assert page.text("#relevance-value") == f"{weight:.2f}"
        return page.texts(".word-table tbody th")

    only_here, frequent = at(0), at(1)
    assert len(only_here) == len(frequent) == 25
    assert np.mean([frequency[word] for word in only_here]) < np.mean([frequency[word] for word in frequent]) / 3
    page.find("#relevance").send_keys(Keys.ARROW_LEFT)
    assert page.text("#relevance-value") == "0.95"


def test_demo_map_shows_documents(page, demo):
    page.open(demo, "map")
    assert page.ink() > 10_000
    place = page.colourful_place()
    page.point_at("main canvas", *place)
    page.until(lambda: page.find("#tip").is_displayed())
    title = page.texts("#tip div")[0]
    data = page.data()["documents"]
    assert title == data["title"][data["id"].index(page.find("main canvas").get_attribute("data-hovered"))]
    ActionChains(page.driver).click().perform()
    page.until(lambda: page.view() == "document")
    assert page.text("main h2") == title
    assert not page.find("#tip").is_displayed()


# ---- addresses -------------------------------------------------------------------------------------------------------


def test_deep_links_survive_a_reload(page, reports):
    page.open(reports["plsa"], "topic=2")
    for address, heading in [
        ("topic=2", page.text("main h2")),
        ("document=d7", "About the sea, part 1"),
        ("map=d7", "Map"),
        ("compare", "PLSA, 4 topics and six topics"),
    ]:
        page.go(address)
        assert page.text("main h2") == heading
        page.reload()
        assert page.text("main h2") == heading
        assert page.driver.title == f"{heading} · Four themes"
    page.driver.back()
    page.until(lambda: page.view() == "map")


@pytest.mark.parametrize(
    "address", ["topic=99", "topic=", "topic=x", "topic", "document", "document=d99", "nowhere", "nowhere=1"]
)
def test_what_is_not_there_is_said(page, reports, address):
    page.open(reports["plsa"], address)
    assert page.text("main h2") == "Not here"
    page.follow(page.link("To the overview"))
    assert page.view() == "overview"


def test_a_page_of_some_documents_says_so(page, reports):
    page.open(reports["part"])
    assert "20 of the 80 documents" in page.text(".note")
    shown = page.data()["documents"]["id"]
    left_out = next(f"d{d}" for d in range(80) if f"d{d}" not in shown)
    page.go(f"document={left_out}")
    assert "only some" in page.text("main p:not(:has(a))")
    page.go(f"document={shown[0]}")
    assert page.count("#text .word") == 24


# ---- topics ----------------------------------------------------------------------------------------------------------


def test_hlta_tree_opens_and_closes(page, reports):
    page.open(reports["hlta"], "topics")
    assert page.count(".tree.top > li > .twisty[aria-expanded='true']") == 4
    assert page.find(".tree.top .leaf").is_displayed()
    page.find("#close-all").click()
    assert page.count(".twisty[aria-expanded='true']") == 0
    assert not page.find(".tree.top .leaf").is_displayed()
    page.find(".tree.top .twisty").click()
    assert page.count(".twisty[aria-expanded='true']") == 1
    page.find("#open-all").click()
    assert page.count(".twisty[aria-expanded='true']") == 4
    sizes = [float(size.removesuffix("em")) for size in page.js(
        "return [...document.querySelectorAll('.tree.top > li:first-child > .words .sized')]"
        ".map((word) => word.style.fontSize)"
    )]  # fmt: skip
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]
    page.follow(page.find(".tree.top .leaf a"))
    assert page.view() == "topic"
    assert page.texts(".relatives h3") == ["Above it"]


def test_hlta_words_by_score_or_by_relevance(page, reports):
    page.open(reports["hlta"], "topic=14")
    assert page.find("#by-score").is_selected()
    by_score = page.texts(".word-table tbody th")
    page.find("#relevance").send_keys(Keys.ARROW_LEFT)
    assert not page.find("#by-score").is_selected()
    assert page.texts(".word-table tbody th") != by_score
    page.find("#by-score").click()
    assert page.texts(".word-table tbody th") == by_score


def test_ldcc_has_two_levels_joined_by_weighted_lines(page, reports):
    page.open(reports["ldcc"], "topics")
    assert page.count(".tree.top > li") == 3
    assert page.count("svg.columns a") == 3 + 4
    widths = page.js(
        "return [...document.querySelectorAll('svg.columns path')]"
        ".map((line) => [line.querySelector('title').textContent.split(': ').pop(), line.getAttribute('stroke-width')])"
    )
    assert len(widths) >= 4
    heavy = [(float(weight), float(width)) for weight, width in widths if float(weight) > 0.1]
    assert all(width == pytest.approx(14 * weight, abs=0.08) for weight, width in heavy)
    ActionChains(page.driver).move_to_element(page.find("svg.columns a")).perform()
    assert 0 < page.count("svg.columns path.strong") < len(widths)
    page.go("topic=6")
    assert page.texts(".relatives h3") == ["Made of"]
    assert "document-topic" in page.text("main > div > p.muted")


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


def test_rename_in_place(page, reports):
    page.open(reports["plsa"], "topic=2")
    before = page.text("#topic-title")
    page.find("#rename").click()
    assert page.focused() == "new-name"
    page.press("Above <b>us</b>", Keys.ESCAPE)
    assert page.text("#topic-title") == before
    page.find("#rename").click()
    page.press("Above <b>us</b>", Keys.ENTER)
    assert page.text("#topic-title") == "Above <b>us</b>"
    assert page.focused() == "rename"
    assert "Above <b>us</b>" in page.texts("#side a")
    page.reload()
    assert page.text("#topic-title") == "Above <b>us</b>"
    page.go("topics")
    assert "Above <b>us</b>" in page.texts("#main .topic-name")
    page.find("#query").send_keys("above")
    page.until(lambda: page.texts("#found a")[:1] == ["Above <b>us</b>"])
    page.go("topic=2")
    page.find("#rename").click()
    page.find("#new-name").clear()
    page.find("#new-name").send_keys(Keys.ENTER)
    assert page.text("#topic-title") == before
    page.reload()
    assert page.text("#topic-title") == before


def test_a_name_the_report_came_with_can_be_taken_away(page, reports):
    page.open(reports["part"], "topic=1")
    assert page.text("#topic-title") == "given name"
    page.find("#rename").click()
    page.find("#new-name").clear()
    page.find("#new-name").send_keys(Keys.ENTER)
    own = page.text("#topic-title")
    assert own != "given name"
    page.reload()
    assert page.text("#topic-title") == own


def test_names_travel_as_a_file(page, reports, tmp_path):
    given = {1: "green", 3: "salt “water” 🌊"}
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(given), encoding="utf-8")
    page.open(reports["plsa"], "topics")
    page.find("input[type=file]").send_keys(str(file))
    page.until(lambda: page.text(".name-tools [role=status]") == "2 names loaded")
    assert {"green", "salt “water” 🌊"} < set(page.texts("#side a"))
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.find("#download-names").click()
    page.until((tmp_path / "topic-names.json").exists)
    assert read_names(tmp_path / "topic-names.json") == given


# ---- documents -------------------------------------------------------------------------------------------------------


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
