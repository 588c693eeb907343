"""Topics over time: the shares and rises in a report, and the view in a browser."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from topicfold import PLSA, Corpus, build_report
from topicfold.report.time_table import largest_rises, rising_words

PLOT = ".multiples figure:first-child svg"


def dated_corpus():
    """1,200 documents from January to June 2001 on four themes; in April many are about comets."""
    rng = np.random.default_rng(0)
    themes = [
        ["rose", "tulip", "soil", "spade", "seed"],
        ["pan", "oven", "flour", "sugar", "knife"],
        ["star", "moon", "orbit", "planet", "sun"],
        ["wave", "sail", "tide", "gull", "rope"],
    ]
    texts, days = [], []
    for month in range(1, 7):
        for d in range(200):
            theme = 2 if month == 4 and d % 2 else d % 4
            words = list(rng.choice(themes[theme], 8))
            texts.append(" ".join(words + ["comet", "tail"] * (month == 4 and theme == 2)))
            days.append(f"2001-{month:02}-{1 + d % 28:02}")
    return Corpus.from_texts(texts, timestamps=days, ids=[f"n{d}" for d in range(1200)])


@pytest.fixture(scope="module")
def dated():
    corpus = dated_corpus()
    return corpus, PLSA(4, random_state=0, verbose=False).fit(corpus)


@pytest.fixture(scope="module")
def dated_page(dated, tmp_path_factory):
    file = tmp_path_factory.mktemp("dated") / "dated.html"
    build_report(dated[1], dated[0], max_documents=100).save(file)
    return file


# ---- what the report holds -------------------------------------------------------------------------------------------


def test_the_planted_rise_is_told_with_its_words(dated):
    corpus, model = dated
    time = build_report(model, corpus, max_documents=100).data["time"]
    assert (time["shown"], time["by"], len(time["periods"])) == ("month", "month", 6)  # too few documents for days
    first = time["rises"][0]
    tree = model.topic_tree(corpus)
    assert "star" in [word.word for word in tree.words(first["topic"], 10)]
    assert first["period"] == "2001-04"
    assert set(first["words"][:2]) == {"comet", "tail"}
    share = time["share"][tree.row(first["topic"])]
    assert first["rise"] == pytest.approx(share[3] - share[2], abs=2e-3)


def test_documents_enough_give_shorter_periods_on_the_page(dated):
    corpus, model = dated
    days = np.array([f"2001-{1 + d % 6:02}-{1 + d // 6 % 4:02}" for d in range(1200)], "datetime64[s]")
    time = build_report(model, replace(corpus, timestamps=days), max_documents=100).data["time"]
    assert (time["shown"], time["by"], len(time["periods"]), set(time["documents"])) == ("month", "day", 24, {50})


def test_periods_with_few_documents_win_no_rise():
    share = np.array([[0.1], [0.1], [1.0], [0.1], [0.3], [0.3]])
    period, rise, notable = largest_rises(share, np.array([500, 500, 2, 500, 500, 500]))
    assert (period.tolist(), rise.round(3).tolist(), notable.tolist()) == ([4], [0.2], [True])
    assert largest_rises(share, np.array([500, 500, 60, 500, 500, 500]))[0].tolist() == [2]
    assert not largest_rises(share / 2, np.full(6, 5))[2].any()  # five documents prove nothing


@pytest.mark.parametrize("share", [np.zeros((3, 2)), np.ones((3, 2)), np.full((3, 2), 0.5)])
def test_what_does_not_change_has_no_notable_rise(share):
    assert not largest_rises(share, np.array([10_000, 10_000, 10_000]))[2].any()


def test_rising_words_by_going_through_the_documents():
    rng = np.random.default_rng(1)
    present = (rng.random((60, 9)) < 0.4).astype(float)
    present[40:, 3] = 1
    membership, rows = rng.random(60), np.arange(40, 60)
    frequency = defaultdict(float)
    for word in range(9):
        for d in rows:
            frequency[word] += membership[d] * present[d, word] / membership[rows].sum()
    found = rising_words(sp.csr_array(present), membership, rows)
    assert found[0] == 3
    overall = membership @ present / membership.sum()
    assert all(frequency[word] > overall[word] for word in found)


# ---- the view --------------------------------------------------------------------------------------------------------


def test_topics_over_time(page, reports):
    page.open(reports["plsa"], "time")
    assert page.count(".multiples svg") == 4
    assert "2000 to 2007" in page.text("#about-time")
    assert page.count("#period") == 0  # years cannot be added up to anything longer
    ActionChains(page.driver).move_to_element(page.find(".multiples svg")).perform()
    page.until(lambda: page.find("#tip").is_displayed())
    assert "of 10 documents" in page.text("#tip")
    page.follow(page.find(".multiples a"))
    assert "By year" in page.texts("main h3")


def test_one_odd_period_sets_no_scale_and_gaps_stay_gaps(page, themes, tmp_path):
    dates = np.array(["1990-01-01"] + [f"{2000 + d // 12}-03-01" for d in range(79)], "datetime64[s]")
    model = PLSA(4, random_state=0, verbose=False).fit(themes)
    build_report(model, replace(themes, timestamps=dates)).save(tmp_path / "gap.html")
    page.open(tmp_path / "gap.html", "time")
    assert "set by the periods with enough documents" in page.text("#about-time")
    line = page.js("return document.querySelector('.multiples .line').getAttribute('d')")
    places = [float(point.split(",")[0]) for point in line.lstrip("M").split("L")]
    assert places[1] - places[0] > 4 * (places[2] - places[1])  # ten years against one


def test_rises_are_listed_and_marked(page, dated_page):
    page.open(dated_page, "time")
    rises = page.data()["time"]["rises"]
    assert page.count(".rises li") == len(rises) >= 1
    first = page.texts(".rises li")[0]
    assert first.startswith("2001-04: ")
    assert f"(+{100 * rises[0]['rise']:.1f} points): {', '.join(rises[0]['words'])}" in first
    assert page.count(".multiples .risen") == len(rises)
    page.follow(page.find(".rises a"))
    assert page.view() == "topic"
    assert page.count("svg.over-time .risen") == 1


def test_each_plot_has_its_own_scale_until_the_reader_asks_for_one(page, dated_page):
    page.open(dated_page, "time")

    def tops():
        return page.texts(".multiples svg text:nth-of-type(2)")

    assert len(set(tops())) > 1
    assert all(top.endswith("%") for top in tops())
    page.find("#same-scale").click()
    assert len(set(tops())) == 1
    assert "All plots have the same scale" in page.text("#about-time")
    page.go("overview")
    page.go("time")  # the choice is kept
    assert page.find("#same-scale").is_selected()


def test_values_by_arrow_keys(page, dated_page):
    page.open(dated_page, "time")
    page.js("document.querySelector(arguments[0]).focus()", PLOT)
    page.press(Keys.HOME)
    row = int(page.find(".multiples input").get_attribute("value"))
    share = page.data()["time"]["share"][row]
    for place in range(3):
        assert page.texts("#tip div") == [f"2001-{place + 1:02}: {100 * share[place]:.1f}%", "of 200 documents"]
        assert page.find(PLOT).get_attribute("aria-valuenow") == str(place)
        page.press(Keys.ARROW_RIGHT)
    assert page.find(PLOT).get_attribute("aria-valuetext").startswith("2001-04: ")
    page.press(Keys.END, Keys.ARROW_RIGHT)
    assert page.find(PLOT).get_attribute("aria-valuetext").startswith("2001-06: ")
    page.press(Keys.TAB)
    assert not page.find("#tip").is_displayed()


def test_longer_periods_are_means_weighted_by_documents(page, dated_page):
    page.open(dated_page, "time")
    assert page.texts("#period option") == ["month", "quarter"]  # all is in one year
    Select(page.find("#period")).select_by_value("quarter")
    assert "each quarter, 2001 Q1 to 2001 Q2" in page.text("#about-time")
    time = page.data()["time"]
    row = int(page.find(".multiples input").get_attribute("value"))
    mean = np.average(time["share"][row][3:], weights=time["documents"][3:])
    assert page.find(PLOT).get_attribute("aria-valuetext") == f"2001 Q2: {100 * mean:.1f}%, of 600 documents"


def test_days_weeks_months_and_quarters(page, dated, tmp_path):
    corpus, model = dated
    start = np.datetime64("2000-11-20", "s")
    days = start + (np.arange(1200) // 15).astype("timedelta64[D]")  # 80 days, 15 documents in each
    build_report(model, replace(corpus, timestamps=days), max_documents=100).save(tmp_path / "days.html")
    page.open(tmp_path / "days.html", "time")
    time = page.data()["time"]
    assert (time["by"], time["shown"]) == ("day", "week")
    assert page.texts("#period option") == ["day", "week", "month", "quarter"]  # years would be no fewer
    weeks, n_documents = np.unique(days.astype("datetime64[W]"), return_counts=True)
    assert f"each week, {weeks[0]} to {weeks[-1]}" in page.text("#about-time")
    last = page.find(PLOT).get_attribute("aria-valuetext")
    assert last.startswith(f"week of {weeks[-1]}: ")
    assert last.endswith(f"of {n_documents[-1]} documents")
    spans = {
        "day": ("2000-11-20", "2001-02-07"),
        "month": ("2000-11", "2001-02"),
        "quarter": ("2000 Q4", "2001 Q1"),
    }
    for by, (first, end) in spans.items():
        Select(page.find("#period")).select_by_value(by)
        assert f"each {by}, {first} to {end}." in page.text("#about-time")
        labels = page.texts(f"{PLOT} text")
        assert (labels[2], labels[-1]) == (first, end)


def test_chosen_topics_in_one_plot(page, dated_page):
    page.open(dated_page, "time")
    assert not page.find("#together").is_displayed()
    boxes = page.driver.find_elements("css selector", ".multiples input")
    boxes[0].click()
    boxes[2].click()
    names = [page.texts(".multiples a")[place] for place in (0, 2)]
    assert page.texts("#together .chips a") == names
    assert page.count("#together .line") == 2
    strokes = page.js("return [...document.querySelectorAll('#together .line')].map((line) => line.style.stroke)")
    assert strokes == ["var(--c0)", "var(--c1)"]
    before = page.js("return scrollY")
    page.js("document.querySelector('#together svg').focus()")
    page.press(Keys.END)
    assert page.js("return scrollY") == before
    told = page.texts("#tip div")
    assert told[0] == "2001-06, 200 documents"
    assert [line.split("% ")[1] for line in told[1:]] == names
    page.find("#together .remove").click()
    assert page.texts("#together .chips a") == names[1:]
    assert not boxes[0].is_selected()
    boxes[0].click()  # gets the colour that is free
    strokes = page.js("return [...document.querySelectorAll('#together .line')].map((line) => line.style.stroke)")
    assert strokes == ["var(--c1)", "var(--c0)"]


def test_no_more_topics_in_one_plot_than_colours(page, tmp_path):
    words = [f"word{d}" for d in range(80)]
    corpus = Corpus.from_texts([f"{w} {v}" for w, v in pairwise(words)] * 2, timestamps=["2001", "2002"] * 79)
    model = PLSA(60, random_state=0, verbose=False, max_iter=5).fit(corpus)
    build_report(model, corpus).save(tmp_path / "many.html")
    page.look(400, dark=True)
    page.open(tmp_path / "many.html", "time")
    assert page.count(".multiples figure") == 48
    page.find("#more-plots").click()
    assert page.count(".multiples figure") == 60
    assert not page.find("#more-plots").is_displayed()
    page.js("for (const box of [...document.querySelectorAll('.multiples input')].slice(0, 9)) box.click()")
    assert page.count("#together .line") == 7
    assert page.count(".multiples input:disabled") == 53
    assert not page.too_wide()
