"""The explorer end to end in a browser: the views of many topics, print, keyboard, width, light and dark."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from browser import WIDTHS

VIEWS = {
    "plsa": ["overview", "topics", "topic=2", "document=d7", "map=d7", "time", "compare", "nowhere"],
    "hlta": ["overview", "topics", "topic=0", "topic=14", "document=d7", "map", "time"],
    "ldcc": ["overview", "topics", "topic=0", "topic=6", "document=d7", "map", "time"],
    "counts": ["overview", "topics", "topic=0", "document=3", "map"],
}


# ---- print -----------------------------------------------------------------------------------------------------------


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
    for _ in range(8):
        page.press(Keys.TAB)
        order.append(page.focused())
    assert order == ["corpus-name", "Overview", "Topics", "Map", "Over time", "Groups", "Compare", "query"]
    page.press(Keys.TAB)
    assert page.focused() == "Filter"
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
