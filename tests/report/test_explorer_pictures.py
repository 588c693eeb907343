"""Pictures of charts and of the map, and the summary to print, in a browser."""

from __future__ import annotations

import struct
from xml.etree import ElementTree

import pytest

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def saving(page, reports, tmp_path):
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.open(reports["plsa"])
    return page


@pytest.mark.parametrize(
    ("view", "chart"),
    [
        ("overview", ".dendrogram"),
        ("overview", "section > .plot:not(.dendrogram)"),
        ("time", ".over-time"),
        ("compare", "svg.columns"),
        ("groups", ".dumbbells"),
    ],
)
def test_every_chart_can_be_saved_as_svg_and_png(saving, tmp_path, view, chart):
    page = saving
    page.go(view)
    buttons = page.until(lambda: page.driver.find_elements("css selector", f"{chart} + .save button"))[:2]
    for button in buttons:
        page.js("arguments[0].click()", button)
    svg, png = (page.until(lambda kind=kind: next(iter(tmp_path.glob(f"*.{kind}")), None)) for kind in ("svg", "png"))
    for file in (svg, png):
        page.downloaded(file)
    drawing = ElementTree.parse(svg).getroot()
    assert drawing.tag == f"{SVG}svg"
    assert "stroke:" in svg.read_text(encoding="utf-8")  # styles stand in the file
    width, height = struct.unpack(">II", png.read_bytes()[16:24])
    assert (width, height) == tuple(pytest.approx(2 * float(drawing.get(side)), abs=1) for side in ("width", "height"))


@pytest.mark.parametrize(("view", "table"), [("topic=0", ".word-table"), ("overview", ".topic-table")])
def test_tables_with_bars_can_be_saved(saving, tmp_path, view, table):
    page = saving
    page.go(view)
    buttons = page.until(lambda: page.driver.find_elements("css selector", f"{table} + .save button"))[:2]
    for button in buttons:
        page.js("arguments[0].click()", button)
    svg, png = (page.until(lambda kind=kind: next(iter(tmp_path.glob(f"*.{kind}")), None)) for kind in ("svg", "png"))
    for file in (svg, png):
        page.downloaded(file)
    drawing = ElementTree.parse(svg).getroot()
    texts = [text.text for text in drawing.findall(f"{SVG}text")]
    assert {" ".join(name.split()) for name in page.texts(f"{table} th[scope=row]")} <= set(texts)
    bars = page.js(f"return document.querySelectorAll('{table} .bar .fill').length")
    assert bars >= 2
    assert len(drawing.findall(f"{SVG}rect")) >= 1 + 2 * bars  # the ground, and of each bar its track and its length
    inside = all(0 <= float(bar.get("x", 0)) <= float(drawing.get("width")) for bar in drawing.findall(f"{SVG}rect"))
    assert inside
    assert png.read_bytes().startswith(b"\x89PNG")


def test_likeness_is_saved_as_png(saving, tmp_path):
    page = saving
    page.js("document.querySelector('canvas.likeness + .save .save-png').click()")
    file = page.until(lambda: next(iter(tmp_path.glob("*.png")), None))
    page.downloaded(file)
    assert file.read_bytes().startswith(b"\x89PNG")


def test_the_map_as_svg_has_the_documents_that_pass_and_the_names(saving, tmp_path):
    page = saving
    page.go("map&label=sky")
    page.find("#map-svg").click()
    page.downloaded(tmp_path / "map.svg")
    drawing = ElementTree.parse(tmp_path / "map.svg").getroot()
    assert len(drawing.findall(f"{SVG}circle")) == 20
    names = {text.text for text in drawing.findall(f"{SVG}text")}
    assert len(names & set(page.texts("#side a"))) >= 1


@pytest.mark.parametrize("name", ["plsa", "hlta", "ldcc", "counts", "part"])
def test_the_summary_has_every_topic_and_prints(page, reports, name):
    page.open(reports[name], "overview")
    page.follow(page.link("Summary to read or print"))
    topics = page.data()["topics"]
    top = max(topic["level"] for topic in topics)
    shown = page.texts(".summary-topic h4 a")
    assert len(shown) >= sum(topic["level"] == top for topic in topics)
    assert page.count("#map-canvas") == 1
    assert page.printed_text_runs() > 5 * len(shown)


def test_the_summary_follows_the_filter(page, reports):
    page.open(reports["plsa"], "summary&label=sea")
    assert "Of the 20 documents that pass the filter: Label sea." in page.text("main .note")
    assert all(title.startswith("About the sea") for title in page.texts(".summary-topic .plain a"))
