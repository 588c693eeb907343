"""The explorer end to end in a browser: hierarchies and levels of topics, and the names a reader gives them."""

from __future__ import annotations

import json

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from topicfold.topics.edits import read_edits


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
    page.until(lambda: page.text(".edit-tools [role=status]") == "2 edits loaded")
    assert {"green", "salt “water” 🌊"} < set(page.texts("#side a"))
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.find("#download-edits").click()
    page.downloaded(tmp_path / "topic-edits.json")
    assert read_edits(tmp_path / "topic-edits.json") == [{"rename": id, "name": name} for id, name in given.items()]


def test_what_tells_a_topic_from_the_nearest(page, reports):
    page.open(reports["plsa"], "topic=0")
    here, there = (set(text.split()) for text in page.texts(".telling dd"))
    assert here
    assert there
    assert not here & there
    words = set(page.texts(".word-table th[scope=row]"))
    assert here <= words
