"""The map in a browser: moving, names, colours, regions, filters, pictures."""

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select


def test_map_zooms_pans_and_shows_all_again(page, reports):
    page.open(reports["plsa"], "map")
    whole = page.picture()
    ActionChains(page.driver).scroll_from_origin(ScrollOrigin.from_viewport(600, 500), 0, -400).perform()
    page.until(lambda: float(page.find("#map-canvas").get_attribute("data-zoom") or 1) > 1.2)
    assert page.js("return scrollY") == 0
    zoomed = page.until(lambda: page.picture() != whole and page.picture())
    ActionChains(page.driver).drag_and_drop_by_offset(page.find("#map-canvas"), 150, 90).perform()
    page.until(lambda: page.picture() != zoomed)
    assert page.view() == "map"  # a drag is no click
    page.find("#map-all").click()
    page.until(lambda: float(page.find("#map-canvas").get_attribute("data-zoom")) == 1)
    page.point_at("h2", 1, 1)
    page.until(lambda: page.picture() == whole)


def test_map_by_keyboard(page, reports):
    page.open(reports["plsa"], "map")
    page.js("document.querySelector('#map-canvas').focus()")
    page.press("+", "+")
    assert float(page.find("#map-canvas").get_attribute("data-zoom")) == pytest.approx(1.96, abs=0.01)
    page.press("-")
    assert float(page.find("#map-canvas").get_attribute("data-zoom")) == pytest.approx(1.4, abs=0.01)
    before = page.find("#map-canvas").get_attribute("data-hovered")
    page.press(*[Keys.ARROW_RIGHT] * 4)
    hovered = page.find("#map-canvas").get_attribute("data-hovered")
    assert hovered != before
    assert page.find("#tip").is_displayed()
    page.press("0")
    assert float(page.find("#map-canvas").get_attribute("data-zoom")) == 1
    hovered = page.find("#map-canvas").get_attribute("data-hovered")
    page.press(Keys.ENTER)
    page.until(lambda: page.view() == "document")
    assert f"Document {hovered} " in page.text("main > p.muted")


def test_map_draws_the_edges_of_one_document_and_colours_by_label(page, reports):
    page.open(reports["plsa"], "map")
    dots = page.ink()
    assert dots > 500
    page.js("document.querySelector('#map-canvas').focus()")
    page.press("+", "0")  # points at the document nearest the centre
    page.until(lambda: page.ink() > dots)
    page.point_at("h2", 1, 1)
    page.js("document.querySelector('#map-canvas').dispatchEvent(new PointerEvent('pointerleave'))")
    page.until(lambda: page.ink() == dots)
    by_topic = page.picture()
    Select(page.find("#colour-by")).select_by_value("label")
    page.until(lambda: page.picture() != by_topic)
    assert page.texts(".legend button") == ["garden 20", "kitchen 20", "sea 20", "sky 20"]
    assert page.count(".legend button[aria-pressed=true]") == 0
    coloured = page.picture()
    page.find(".legend button").click()
    assert page.count(".legend button[aria-pressed=true]") == 1
    page.point_at("h2", 1, 1)
    page.until(lambda: page.picture() != coloured)


def test_map_rings_the_document_of_its_address(page, reports):
    page.open(reports["plsa"], "map")
    plain = page.ink()
    page.open(reports["plsa"], "map=d7")
    assert page.ink() > plain


def test_every_topic_has_a_colour_and_every_cluster_a_name(page, reports):
    page.open(reports["plsa"], "map")
    assert page.find("#map-points").get_attribute("data-drawn-by") == "webgl"
    swatches = page.js("return [...document.querySelectorAll('.legend .swatch')].map((mark) => mark.style.background)")
    assert len(swatches) == len(set(swatches)) == 4
    assert int(page.find("#map-canvas").get_attribute("data-names")) == 4
    page.js("document.querySelector('#map-canvas').focus()")
    page.press("+", "+")
    page.until(lambda: int(page.find("#map-canvas").get_attribute("data-names")) < 4)  # drawn anew, some out of sight
    assert int(page.find("#map-canvas").get_attribute("data-names")) > 0


def test_without_webgl_the_map_is_drawn_all_the_same(page, reports):
    without = """const real = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
      return kind === 'webgl' ? null : real.call(this, kind, ...more);
    };"""
    added = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": without})
    try:
        page.open(reports["plsa"], "map")
        assert page.find("#map-points").get_attribute("data-drawn-by") == "canvas"
        assert page.ink() > 500
    finally:
        page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_a_box_and_a_lasso_ask_what_a_region_is_about(page, reports):
    for tool in ("box", "lasso"):
        page.open(reports["plsa"], "map")
        page.find(f"#tool-{tool}").click()
        canvas = page.find("#map-canvas")
        drag = ActionChains(page.driver).move_to_element_with_offset(canvas, -200, -200).click_and_hold()
        for x, y in ((300, 0), (0, 300), (-100, 0)):
            drag = drag.move_by_offset(x, y)
        drag.release().perform()
        page.until(lambda: page.view() == "region")
        assert "What is this region about?" in page.text("#region-title")
        assert page.count("#region .documents a") > 0
    address = page.js("return location.hash")
    documents = page.texts("#region .documents a")
    page.open(reports["plsa"], address[1:])
    assert page.texts("#region .documents a") == documents  # the address restores the region


def test_words_topics_and_labels_of_a_region(page, reports):
    page.open(reports["plsa"], "map")
    data = page.data()
    sky = [d for d, labels in enumerate(data["documents"]["labels"]) if data["labels"][int(labels.split()[0])] == "sky"]
    xs, ys = ([data["documents"][axis][d] for d in sky] for axis in "xy")
    left, right, top, bottom = min(xs) - 9, max(xs) + 9, min(ys) - 9, max(ys) + 9
    page.open(reports["plsa"], f"region={left},{top};{right},{top};{right},{bottom};{left},{bottom}")
    words = {"star", "moon", "comet", "orbit", "planet", "galaxy", "telescope", "cloud"}
    assert set(page.texts(".region-words .sized")[:3]) <= words
    assert page.count("#region .label-table") == 2  # topics and labels
    assert "sky" in page.texts("#region .label-table th")
    assert page.count("#region .years div") > 1


def test_filters_by_label_and_time(page, reports):
    page.open(reports["plsa"], "map")
    everything = page.picture()
    Select(page.find("#filter-label")).select_by_value("sky")
    page.until(lambda: page.picture() != everything)
    page.go("region=-9,-9;10009,-9;10009,10009;-9,10009&label=sky")
    assert "20 documents" in page.text("#region-title")
    page.find("#filter-from").send_keys("2004", Keys.ENTER)
    page.until(lambda: "10 documents" in page.text("#region-title"))
    page.find("#filter-to").send_keys("2005", Keys.ENTER)
    page.until(lambda: "5 documents" in page.text("#region-title"))


def test_a_region_that_is_none(page, reports):
    page.open(reports["plsa"], "region=nonsense")
    assert "does not describe a region" in page.text("main")
    page.open(reports["plsa"], "region=20000,20000;20001,20000;20001,20001")
    assert "There are no documents in this region." in page.text("main")


def test_a_region_as_csv_and_the_map_as_a_picture(page, reports, tmp_path):
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.open(reports["plsa"], "region=-9,-9;10009,-9;10009,10009;-9,10009")
    page.find("#map-picture").click()
    page.find("#region-csv").click()
    files = [tmp_path / "region.csv", tmp_path / "map.png"]
    page.until(lambda: all(file.exists() and file.stat().st_size for file in files))
    lines = (tmp_path / "region.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "id,title,topic,labels,date"
    assert len(lines) == 81
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
