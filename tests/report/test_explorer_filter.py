"""The filter in a browser: by topic, label, date and metadata; every view is about the documents that pass."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from browser import small_corpus
from topicfold import PLSA, build_report
from topicfold.corpus.metadata import as_metadata


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """A page whose documents have metadata: a number, a category with a missing value, a date, and texts."""
    corpus = small_corpus()
    metadata = {
        "stars": [1 + d % 5 for d in range(80)],
        "place": ["" if d == 0 else "<b>north</b>" if d % 2 else "south & east" for d in range(80)],
        "seen": [f"20{10 + d // 8}-06-01" for d in range(80)],
        "note": [f"note {d}" for d in range(80)],
    }
    corpus = replace(corpus, metadata=as_metadata(metadata))
    model = PLSA(4, random_state=0, verbose=False).fit(corpus)
    report = build_report(model, corpus, name="Known")
    file = tmp_path_factory.mktemp("known") / "known.html"
    report.save(file)
    return file, corpus, model.topic_tree(corpus)


def shown(page):
    return page.text("#filter summary")


def test_every_column_has_its_control(page, known):
    page.open(known[0], "map")
    assert page.texts("#filter label") != []
    assert [text.split(" ")[0] for text in page.texts("#filter label")] == ["Topic", "Label", "place"]
    assert page.texts(".span-filter > span:first-child") == ["Date", "stars", "seen"]
    assert page.texts("#filter-m\\.place option") == ["all", "<b>north</b> (40)", "south & east (39)"]
    page.go("document=d1")
    assert "stars: 2 · place: <b>north</b> · seen: 2010-06-01 · note: note 1" in page.text("main > p.muted")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ("m.stars=2..3", lambda d: d % 5 in (1, 2)),
        ("m.stars=4", lambda d: d % 5 == 3),
        ("m.stars=..2", lambda d: d % 5 < 2),
        ("m.place=south%20%26%20east", lambda d: d % 2 == 0 and d > 0),
        ("m.seen=2012..2013", lambda d: 16 <= d < 32),
        ("label=sky&m.stars=5", lambda d: d % 4 == 2 and d % 5 == 4),
        ("date=2003..", lambda d: d >= 30),
        ("label=nothing&m.unknown=3&m.stars=many", lambda d: True),  # what makes no sense is left out
    ],
)
def test_the_documents_that_pass(page, known, filters, expected):
    page.open(known[0], f"region=-9,-9;10009,-9;10009,10009;-9,10009&{filters}")
    n = sum(map(expected, range(80)))
    assert f"{n} documents" in page.text("#region-title")
    assert shown(page) in (f"Filter: {n} of 80 documents", "Filter")


def test_a_brush_and_fields_set_a_span(page, known):
    page.open(known[0], "map")
    width = page.js("return document.querySelectorAll('.brush')[1].getBoundingClientRect().width")
    brush = page.driver.find_elements("css selector", ".brush")[1]
    drag = ActionChains(page.driver).move_to_element_with_offset(brush, -int(width / 2) + 2, 0).click_and_hold()
    drag.move_by_offset(int(width / 2), 0).release().perform()
    page.until(lambda: "m.stars=1" in page.js("return location.hash"))
    page.until(lambda: shown(page).startswith("Filter: "))
    low, high = page.js("return decodeURIComponent(location.hash).split('m.stars=')[1]").split("..")
    assert 1 <= float(low) < float(high) <= 3.2
    # all at once: to clear a field is a change, too, which draws the panel anew
    page.js("const field = document.querySelector('#filter-m\\\\.stars-from'); field.focus(); field.select()")
    page.press("2", Keys.ENTER)
    page.until(lambda: "m.stars=2.." in page.js("return location.hash"))
    page.js("document.querySelector('.filter-chips .remove').click()")
    page.until(lambda: shown(page) == "Filter")


def test_all_views_follow_the_filter(page, known, tmp_path):
    file, corpus, tree = known
    page.open(file, "map")
    Select(page.find("#filter-label")).select_by_value("sea")
    page.until(lambda: shown(page) == "Filter: 20 of 80 documents")
    sea = np.array([labels == ("sea",) for labels in corpus.labels])
    expected = tree.doc_topic[sea].mean(axis=0)
    page.follow(page.link("Overview"))  # links keep the filter
    assert page.js("return location.hash") == "#overview&label=sea"
    for name, figure in zip(page.texts("#main .topic-table a"), page.texts(".topic-table td.figure > span:last-child")):
        row = next(row for row in range(4) if tree.name(row) == name)
        assert float(figure.strip("<%")) == pytest.approx(100 * expected[row], abs=0.6)
    page.follow(page.driver.find_element("css selector", "#side a"))
    titles = page.texts("#topic-documents .documents > li > a")
    assert titles
    assert all(title.startswith("About the sea") for title in titles)
    assert page.texts(".label-table th") == ["sea"]
    page.go("time&label=sea")
    assert "that pass the filter" in page.text("#about-time")
    page.go("search=part&label=sea")
    assert all(title.startswith("About the sea") for title in page.texts("#main .hits a"))
    assert "Searched only the 20 documents that pass the filter." in page.text("#main .unsearched")
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.find("#filter-csv").click()
    page.downloaded(tmp_path / "documents.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "documents.csv").read_text(encoding="utf-8"))))
    assert len(rows) == 21
    assert {row[3] for row in rows[1:]} == {"sea"}
    assert rows[0][-4:] == ["stars", "place", "seen", "note"]


def test_time_is_that_of_the_documents_that_pass(page, known):
    file, corpus, tree = known
    page.open(file, "time&label=sky")
    sky = np.array([labels == ("sky",) for labels in corpus.labels])
    years = corpus.timestamps.astype("datetime64[Y]")
    first = tree.doc_topic[sky & (years == years[0])].mean(axis=0)
    page.find(".multiples svg").click()
    page.js("document.querySelector('.multiples svg').focus()")
    page.press(Keys.HOME)
    name = page.texts(".multiples figcaption a")[0]
    row = next(row for row in range(4) if tree.name(row) == name)
    told = page.js("return document.querySelector('.multiples svg').getAttribute('aria-valuetext')")
    assert float(told.split(": ")[1].split("%")[0].strip("<")) == pytest.approx(100 * first[row], abs=0.6)


def test_the_filter_of_a_topic(page, known):
    file, _, tree = known
    main = tree.doc_topic.argmax(axis=1)
    page.open(file, "map&topic=2")
    assert shown(page) == f"Filter: {(main == 2).sum()} of 80 documents"
    assert f"Topic: {tree.name(2)}" in page.text(".filter-chips li:first-child")


def test_a_filter_that_nothing_passes(page, known):
    for view in ("overview", "topics", "map", "time", "topic=1", "search=rose", "region=0,0;9,0;9,9", "document=d3"):
        page.open(known[0], f"{view}&m.stars=9..10")
        assert shown(page) == "Filter: 0 of 80 documents"
