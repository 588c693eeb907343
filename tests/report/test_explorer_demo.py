"""The explorer end to end in a browser: the page that `topicfold demo` writes."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from topicfold.cli.app import cli


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The page that `topicfold demo` writes."""
    folder = tmp_path_factory.mktemp("demo")
    result = CliRunner().invoke(cli, ["demo", "--out", str(folder / "model"), "--report", str(folder / "demo.html")])
    assert result.exit_code == 0, result.output
    return folder / "demo.html"


def test_demo_overview(page, demo):
    page.open(demo)
    assert page.driver.title == "Debian packages: topics"
    assert page.texts("#views a") == ["Overview", "Topics", "Map", "Groups", "Compare"]
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
    titled = [text for text in page.texts("#found a") if "chess" in text.lower() and ": " in text]
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
    page.point_at("#map-canvas", *place)
    page.until(lambda: page.find("#tip").is_displayed())
    title = page.texts("#tip div")[0]
    data = page.data()["documents"]
    assert title == data["title"][data["id"].index(page.find("#map-canvas").get_attribute("data-hovered"))]
    ActionChains(page.driver).click().perform()
    page.until(lambda: page.view() == "document")
    assert page.text("main h2") == title
    assert not page.find("#tip").is_displayed()
