"""The explorer end to end in a browser: the map, the views of many topics, print, keyboard, width, light and dark."""

from __future__ import annotations

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.action_chains import ScrollOrigin
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from browser import WIDTHS

VIEWS = {
    "plsa": ["overview", "topics", "topic=2", "document=d7", "map=d7", "time", "compare", "nowhere"],
    "hlta": ["overview", "topics", "topic=0", "topic=14", "document=d7", "map", "time"],
    "ldcc": ["overview", "topics", "topic=0", "topic=6", "document=d7", "map", "time"],
    "counts": ["overview", "topics", "topic=0", "document=3", "map"],
}


# ---- the map ---------------------------------------------------------------------------------------------------------


def test_map_zooms_pans_and_shows_all_again(page, reports):
    page.open(reports["plsa"], "map")
    whole = page.picture()
    ActionChains(page.driver).scroll_from_origin(ScrollOrigin.from_viewport(600, 500), 0, -400).perform()
    page.until(lambda: float(page.find("main canvas").get_attribute("data-zoom") or 1) > 1.2)
    assert page.js("return scrollY") == 0
    zoomed = page.until(lambda: page.picture() != whole and page.picture())
    ActionChains(page.driver).drag_and_drop_by_offset(page.find("main canvas"), 150, 90).perform()
    page.until(lambda: page.picture() != zoomed)
    assert page.view() == "map"  # a drag is no click
    page.find(".tools button").click()
    page.until(lambda: float(page.find("main canvas").get_attribute("data-zoom")) == 1)
    page.point_at("h2", 1, 1)
    page.until(lambda: page.picture() == whole)


def test_map_by_keyboard(page, reports):
    page.open(reports["plsa"], "map")
    page.js("document.querySelector('main canvas').focus()")
    page.press("+", "+")
    assert float(page.find("main canvas").get_attribute("data-zoom")) == pytest.approx(1.96, abs=0.01)
    page.press("-")
    assert float(page.find("main canvas").get_attribute("data-zoom")) == pytest.approx(1.4, abs=0.01)
    before = page.find("main canvas").get_attribute("data-hovered")
    page.press(*[Keys.ARROW_RIGHT] * 4)
    hovered = page.find("main canvas").get_attribute("data-hovered")
    assert hovered != before
    assert page.find("#tip").is_displayed()
    page.press("0")
    assert float(page.find("main canvas").get_attribute("data-zoom")) == 1
    hovered = page.find("main canvas").get_attribute("data-hovered")
    page.press(Keys.ENTER)
    page.until(lambda: page.view() == "document")
    assert f"Document {hovered} " in page.text("main > p.muted")


def test_map_draws_edges_and_colours_by_label(page, reports):
    page.open(reports["plsa"], "map")
    dots = page.ink()
    assert dots > 500
    page.find("#edges").click()
    page.until(lambda: page.ink() > 2 * dots)
    page.find("#edges").click()
    page.until(lambda: page.ink() == dots)
    by_topic = page.picture()
    Select(page.find("#colour-by")).select_by_value("label")
    page.until(lambda: page.picture() != by_topic)
    assert page.texts(".legend button") == ["garden 20", "kitchen 20", "sea 20", "sky 20"]
    coloured = page.picture()
    page.find(".legend button[aria-pressed=true]").click()
    assert page.count(".legend button[aria-pressed=true]") == 3
    page.until(lambda: page.picture() != coloured)


def test_map_rings_the_document_of_its_address(page, reports):
    page.open(reports["plsa"], "map")
    plain = page.ink()
    page.open(reports["plsa"], "map=d7")
    assert page.ink() > plain


# ---- over time, compare, print ---------------------------------------------------------------------------------------


def test_topics_over_time(page, reports):
    page.open(reports["plsa"], "time")
    assert page.count(".multiples svg") == 4
    assert "2000 to 2007" in page.text("main > p.muted")
    ActionChains(page.driver).move_to_element(page.find(".multiples svg")).perform()
    page.until(lambda: page.find("#tip").is_displayed())
    assert "of 10 documents" in page.text("#tip")
    page.follow(page.find(".multiples a"))
    assert "By year" in page.texts("main h3")


def test_two_models_side_by_side(page, reports):
    page.open(reports["plsa"], "compare")
    assert (page.count("svg.columns a"), page.count("svg.columns .end")) == (4, 4 + 6)
    assert page.count("svg.columns path") >= 4
    listed = page.js("return [...document.querySelectorAll('.relations td div')].length")
    assert listed >= 4 + 6  # a topic that is part of another stands beside it
    page.follow(page.find(".relations a"))
    assert page.view() == "topic"


def test_every_view_can_be_printed(page, reports):
    for address in VIEWS["plsa"]:
        page.open(reports["plsa"], address)
        assert page.printed_text_runs() > (4 if address in ("nowhere", "map=d7") else 15), address


# ---- keyboard, width, light and dark ---------------------------------------------------------------------------------


def test_tab_goes_from_the_skip_button_through_the_views_to_the_content(page, reports):
    page.open(reports["plsa"])
    page.press(Keys.TAB)
    assert page.focused() == "skip"
    order = []
    for _ in range(7):
        page.press(Keys.TAB)
        order.append(page.focused())
    assert order == ["corpus-name", "Overview", "Topics", "Map", "Over time", "Compare", "query"]
    page.press(Keys.TAB)
    assert page.focused() == page.texts("#side a")[0]
    page.js("document.getElementById('skip').focus()")
    page.press(Keys.ENTER)
    assert page.focused() == "main"
    page.press(Keys.TAB)
    assert page.js("return document.getElementById('main').contains(document.activeElement)")


def test_search_by_keyboard(page, reports):
    page.open(reports["plsa"])
    page.press("/")
    assert page.focused() == "query"
    page.press("sea/")
    assert page.find("#query").get_attribute("value") == "sea/"
    assert page.text("#found") == "Nothing found."
    page.press(Keys.BACKSPACE, ", part")
    hits = page.texts("#found a")
    assert hits[0].startswith("About the sea, part")
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert page.focused() == hits[1]
    page.press(Keys.ARROW_UP, Keys.ARROW_UP)
    assert page.focused() == "query"
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    page.until(lambda: page.view() == "document")
    assert page.text("main h2") == hits[1]
    page.press("/")
    page.press(Keys.ESCAPE)
    assert page.find("#query").get_attribute("value") == ""
    assert not page.find("#found").is_displayed()
    page.press("harbour", Keys.ENTER)
    page.until(lambda: page.view() == "topic")
    assert "harbour" in page.texts(".word-table tbody th")[:8]  # of the topics with the word the one it tells most of


def test_tree_by_keyboard(page, reports):
    page.open(reports["hlta"], "topics")
    page.js("document.querySelector('.tree.top .twisty').focus()")
    page.press(Keys.SPACE)
    assert page.count(".twisty[aria-expanded='true']") == 3
    page.press(Keys.ENTER)
    assert page.count(".twisty[aria-expanded='true']") == 4
    page.press(Keys.TAB, Keys.TAB)
    assert page.js("return document.activeElement.closest('.leaf') !== null")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_every_view_fits_the_window_in_its_colours(page, reports, width, dark):
    page.look(width, dark=dark)
    for name, addresses in VIEWS.items():
        page.open(reports[name])
        ground, ink = page.js(
            "const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]"
            ".map((colour) => Math.max(...colour.match(/\\d+/g).slice(0, 3)))"
        )
        assert (ground < 60 and ink > 200) if dark else (ground > 200 and ink < 60)
        for address in addresses:
            page.go(address)
            assert not page.too_wide(), (name, address)
            assert page.text("main h2")


def test_search_results_fit_a_phone(page, reports):
    page.look(WIDTHS["phone"])
    page.open(reports["plsa"])
    page.find("#query").send_keys("a")
    box = page.js(
        "const { left, right } = document.getElementById('found').getBoundingClientRect(); return [left, right]"
    )
    assert 0 <= box[0] < box[1] <= WIDTHS["phone"]
    assert not page.too_wide()
