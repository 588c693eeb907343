"""Editing topics in a browser: merge, drop, group, undo; and the page that `--edits` makes of the same edits."""

from __future__ import annotations

import json

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from browser import small_corpus
from topicfold import PLSA, build_report
from topicfold.topics.edits import read_edits


def ticked(page, *names):
    """Tick topics in the list of topics, which is in the state of editing."""
    for name in names:
        page.driver.find_element(By.CSS_SELECTOR, f'.edit-box[aria-label="Choose {name}"]').click()


def names_and_sizes(page):
    page.go("overview")
    names = page.texts("#main .topic-table a")
    return dict(zip(names, page.texts("#main .topic-table td.figure > span:last-child")))


@pytest.fixture
def editing(page, reports):
    page.open(reports["plsa"], "topics")
    page.find("#edit-topics").click()
    return page


def test_merged_topics_are_one_everywhere_and_undone(editing):
    page = editing
    before = page.texts("#side a")
    sizes = {topic["id"]: topic["size"] for topic in page.data()["topics"]}
    names = {topic["id"]: topic["called"] for topic in page.data()["topics"]}
    assert not page.find("#merge").is_enabled()
    ticked(page, names[0], names[1])
    page.find("#edit-name").send_keys("land & kitchen")
    page.find("#merge").click()
    assert page.texts("#side a").count("land & kitchen") == 1
    assert len(page.texts("#side a")) == 3
    _, gone = sorted((0, 1), key=lambda topic: -sizes[topic])
    shown = names_and_sizes(page)
    assert shown["land & kitchen"] == f"{100 * (sizes[0] + sizes[1]):.1f}%"
    page.go(f"topic={gone}")
    assert page.text("main h2") == f"Topic {gone} was merged"
    page.follow(page.find("#main p a"))
    assert page.text("#topic-title") == "land & kitchen"
    words = page.texts(".word-table th[scope=row]")
    assert {"rose", "oven"} <= set(words) or {"pan", "tulip"} <= set(words)
    for view in ("map", "time", "compare", "document=d0", "document=d1", "search=rose", "overview"):
        page.go(view)  # each is drawn without a complaint
    page.reload()
    assert len(page.texts("#side a")) == 3  # kept by the browser
    page.go("topics")
    page.find("#undo").click()
    assert page.texts("#side a") == before
    assert page.count("#undo") == 0


def test_dropped_topics_are_gone(editing):
    page = editing
    names = page.texts("#side a")
    ticked(page, names[0])
    page.find("#drop").click()
    assert page.texts("#side a") == names[1:]
    for view in ("map", "time", "compare", "document=d0", "document=d1", "document=d2", "document=d3", "overview"):
        page.go(view)
        assert names[0] not in page.texts("#main a")


def test_groups_are_a_level_above(editing):
    page = editing
    names = page.texts("#side a")
    ticked(page, names[0], names[1])
    page.find("#edit-name").send_keys("pair")
    page.find("#group").click()
    assert sorted(page.texts("#side a")) == ["other topics", "pair"]
    page.go("topics")
    assert page.count(".tree .tree > li") == 4
    page.go("document=d0")
    page.go("map")
    assert sorted(text.rsplit(" ", 1)[0] for text in page.texts(".legend button")) == ["other topics", "pair"]
    page.go("topics")
    group = page.driver.find_element(By.CSS_SELECTOR, "#side a").get_attribute("href").partition("#")[2]
    page.go(group)
    page.find("#ungroup").click()
    assert len(page.texts("#side a")) in (1, 2, 4)


def test_the_page_of_a_topic_merges_and_drops(page, reports):
    page.open(reports["plsa"], "topic=2")
    Select(page.find("#merge-with")).select_by_index(1)
    assert len(page.texts("#side a")) == 3
    page.find("#undo").click()
    assert len(page.texts("#side a")) == 4
    page.find("#drop-topic").click()
    page.until(lambda: page.view() == "topics")
    assert len(page.texts("#side a")) == 3


def test_edits_travel_to_a_new_page_whose_figures_are_those_shown(page, reports, tmp_path):
    page.open(reports["plsa"], "topics")
    page.find("#edit-topics").click()
    names = {topic["id"]: topic["called"] for topic in page.data()["topics"]}
    ticked(page, names[0], names[2])
    page.find("#merge").click()
    page.go("topic=1")
    page.find("#rename").click()
    page.find("#new-name").send_keys("first\n")
    shown = names_and_sizes(page)
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.go("topics")
    page.find("#download-edits").click()
    page.downloaded(tmp_path / "topic-edits.json")
    edits = read_edits(tmp_path / "topic-edits.json")
    assert [next(iter(edit)) for edit in edits] == ["merge", "rename"]
    corpus = small_corpus()
    model = PLSA(4, random_state=0, verbose=False).fit(corpus)
    build_report(model, corpus, name="Four themes", edits=tmp_path / "topic-edits.json").save(tmp_path / "exact.html")
    page.open(tmp_path / "exact.html")
    exact = names_and_sizes(page)
    assert exact["first"] == shown["first"]
    assert sorted(exact.values()) == sorted(shown.values())
    # further edits on that page are added to those it was made with
    page.go("topic=1")
    page.find("#rename").click()
    page.find("#new-name").clear()
    page.find("#new-name").send_keys("again\n")
    (tmp_path / "topic-edits.json").unlink()
    page.go("topics")
    page.find("#download-edits").click()
    page.downloaded(tmp_path / "topic-edits.json")
    assert read_edits(tmp_path / "topic-edits.json") == [*edits, {"rename": 1, "name": "again"}]
    # and such a file is loaded there, but not on a page of other topics
    page.find("#undo").click()
    page.find("input[type=file]").send_keys(str(tmp_path / "topic-edits.json"))
    page.until(lambda: "again" in page.texts("#side a"))
    (tmp_path / "other.json").write_text(json.dumps({"format": "topicfold edits 1", "edits": [{"drop": [1]}]}))
    page.find("input[type=file]").send_keys(str(tmp_path / "other.json"))
    page.until(lambda: "made for other topics" in page.text(".edit-tools [role=status]"))


@pytest.mark.parametrize("name", ["hlta", "ldcc", "ltm", "counts"])
def test_every_kind_of_model_can_be_edited(page, reports, name):
    page.open(reports[name], "topics")
    topics = page.data()["topics"]
    lowest = min(topic["level"] for topic in topics)
    ids = [topic["id"] for topic in topics if topic["level"] == lowest]
    if len(ids) > 2:
        page.go(f"topic={ids[0]}")
        Select(page.find("#merge-with")).select_by_index(1)
    page.go(f"topic={ids[-1]}")
    if page.count("#drop-topic"):
        page.find("#drop-topic").click()
        page.until(lambda: page.view() == "topics")
    for view in ("overview", "topics", "map", "document=d0" if name != "counts" else "document=0", "search=rose"):
        page.go(view)
