"""The overview in a browser: the map beside the topics, and which topics belong together."""

from selenium.webdriver.common.keys import Keys


def test_the_map_and_the_topics_in_their_colours(page, reports):
    page.open(reports["plsa"])
    assert page.ink() > 500
    colours = page.js(
        "return [...document.querySelectorAll('.topic-table .swatch')].map((mark) => mark.style.background)"
    )
    page.go("map")
    legend = page.js("return [...document.querySelectorAll('.legend .swatch')].map((mark) => mark.style.background)")
    assert set(colours) == set(legend)
    assert len(set(colours)) == 4
    page.go("overview")
    assert page.count(".trend path") == 4


def test_topics_that_belong_together(page, reports):
    page.open(reports["plsa"])
    assert page.count(".dendrogram a") == 4
    assert page.count(".dendrogram .fork") == 3
    page.find("#cut").send_keys(Keys.HOME)
    page.until(lambda: page.text("#hierarchy output") == "4 groups")
    assert page.count("#cut-groups li") == 0
    page.find("#cut").send_keys(Keys.END)
    page.until(lambda: page.text("#hierarchy output") == "1 group")
    assert "all topics" in page.text("#cut-groups")
    page.point_at(".likeness", 3, 3)
    page.until(lambda: page.find("#tip").is_displayed())
    page.follow(page.find(".dendrogram a"))
    assert page.view() == "topic"


def test_trees_have_no_second_tree(page, reports):
    for name in ("hlta", "ldcc"):
        page.open(reports[name])
        assert page.count("#hierarchy") == 0
        assert page.ink() > 100
