"""Two models side by side in a browser: the drawing, its small flows, and the words of two topics."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys

from topicfold import PLSA, build_report

LINES = "svg.columns .link"


@pytest.fixture(scope="module")
def spread(themes, tmp_path_factory):
    """Two models that agree on little: many small flows."""
    file = tmp_path_factory.mktemp("spread") / "spread.html"
    rng = np.random.default_rng(0)
    models = [PLSA(7, random_state=0, verbose=False, max_iter=steps).fit(themes) for steps in (50, 2)]
    trees = [replace(model.topic_tree(themes), doc_topic=rng.dirichlet(np.ones(7), 80)) for model in models]
    build_report(trees[0], themes, compare=trees[1], compare_name="others").save(file)
    return file


def words_of(page, kind):
    line = page.text(f"#pair .{kind} .words")
    return set(line.split(", ") if ", " in line else line.split()) - {"–"}


def test_two_models_side_by_side(page, reports):
    page.open(reports["plsa"], "compare")
    assert (page.count("svg.columns a"), page.count("svg.columns .end")) == (4, 4 + 6)
    assert page.count("svg.columns path") >= 4
    listed = page.js("return [...document.querySelectorAll('.relations td div')].length")
    assert listed >= 4 + 6  # a topic that is part of another stands beside it
    page.follow(page.find(".relations a"))
    assert page.view() == "topic"


def test_small_flows_are_folded_away_but_no_topic_is_left_alone(page, spread):
    page.open(spread, "compare")
    links = page.data()["compare"]["links"]
    folded = page.count(LINES)
    assert folded < len(links)
    assert f"including {len(links) - folded} with less than 20%" in page.text(".tools")
    ends = page.js(
        f"return [...document.querySelectorAll('{LINES}')].map((line) => [line.__data__.a, line.__data__.b])"
    )
    assert {a for a, _ in ends} == {link[0] for link in links}
    assert {b for _, b in ends} == {link[1] for link in links}
    page.find("#small-flows").click()
    assert page.count(LINES) == len(links)
    page.go("overview")
    page.go("compare")
    assert page.count(LINES) == len(links)


def test_the_right_side_follows_the_left(page, reports):
    page.open(reports["plsa"], "compare")
    links = page.js(f"return [...document.querySelectorAll('{LINES}')].map((line) => line.__data__)")
    best = {}
    for link in sorted(links, key=lambda link: link["ofRight"]):
        best[link["right"]] = link["left"]
    places = [best[place] for place in sorted(best)]
    assert places == sorted(places)
    main = [link for link in links if best[link["right"]] == link["left"]]
    assert not any((s["left"] - t["left"]) * (s["right"] - t["right"]) < 0 for s, t in combinations(main, 2))


def test_words_of_each_line(page, spread):
    page.open(spread, "compare")
    assert not page.find("#pair").is_displayed()
    data = page.data()
    there = {topic["id"]: topic for topic in data["compare"]["topics"]}
    here = {topic["id"]: {data["words"][word[0]] for word in topic["words"]} for topic in data["topics"]}
    some_shared = False
    for place in range(page.count(LINES)):
        link = page.js(
            f"""const line = document.querySelectorAll('{LINES}')[arguments[0]];
            line.dispatchEvent(new PointerEvent('pointerenter'));
            return line.__data__""",
            place,
        )
        assert page.text("#pair h3").endswith(f" – {there[link['b']]['name']}")
        shared, left, right = (words_of(page, kind) for kind in ("shared", "only-left", "only-right"))
        assert shared | right == set(there[link["b"]]["words"])
        assert shared | left <= here[link["a"]]
        assert not left & (shared | right)
        assert not shared & right
        assert f"{100 * link['ofLeft']:.0f}% of the documents of the first" in page.text("#pair p.muted")
        assert page.count(f"{LINES}.strong") == 1
        some_shared |= bool(shared and right)
    assert some_shared


def test_words_by_keyboard(page, reports):
    page.open(reports["plsa"], "compare")
    page.js("document.querySelector('svg.columns g.end').focus()")
    assert page.find("#pair").is_displayed()
    page.press(Keys.ESCAPE)
    assert not page.find("#pair").is_displayed()
    page.press(Keys.ENTER)
    assert page.find("#pair").is_displayed()
    page.js("document.querySelector('.pair-words').focus()")
    page.press(Keys.SPACE)
    assert page.text("#pair h3").split(" – ")[0] == page.texts(".relations a")[0]
    page.find("#pair .remove").click()
    assert page.focused() == "Compare words"
    page.js("document.querySelector('svg.columns a').focus()")
    assert page.text("#pair h3").split(" – ")[0] == page.text("svg.columns a:first-child text")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_words_on_a_phone(page, reports, dark):
    page.look(400, dark=dark)
    page.open(reports["plsa"], "compare")
    assert not page.find("svg.columns").is_displayed()
    assert not page.find(".with-drawing").is_displayed()
    page.js("document.querySelector('.pair-words').click()")
    assert page.find("#pair").is_displayed()
    assert not page.too_wide()


def test_every_pair_of_the_lists_has_its_words(page, spread):
    page.open(spread, "compare")
    relations = page.data()["compare"]["relations"]
    pairs = sum(max(len(found["left"]), len(found["right"])) for found in relations if found["left"] and found["right"])
    assert page.count(".pair-words") == pairs
